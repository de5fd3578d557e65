/* Running the C compiler on the text of a kernel or module.
 *
 *     k.c in a private folder  ->  cc -O3 ... -o k.so ./k.c  ->  bytes of k.so
 *                 late:            cc -O3 ... -O1 -DVZ_SIMPLE ...
 *
 * A kernel is waited for, so the compiler has a deadline: where optimising
 * takes too long it is run again with little of it.  Modules that are built
 * for others get all the time there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csrc/base/marks.h"
#include "csrc/run/parts.h"

enum { MAX_WORDS = 128, SO_LIMIT = 64 << 20, MESSAGE_LIMIT = 4000 };
static const char temp_prefix[] = "vizgen-cc-";

/* Split 'text' at spaces, in place, after the 'n' words that are there.  Our
 * own tables have no spaces inside words. */
static int
add_words(const char **words, int n, char *text)
{
    char *state = NULL;
    for (char *word = strtok_r(text, " ", &state); word && n < MAX_WORDS - 8;
         word = strtok_r(NULL, " ", &state)) {
        words[n++] = word;
    }
    return n;
}

/* A directory of our own for the compiler's files, in TMPDIR or where there
 * is room.  What earlier processes left there when they were killed is
 * removed once per process. */
static int
open_work(int *base, char name[64])
{
    const char *own = getenv("TMPDIR");
    const char *const places[] = {own && own[0] == '/' ? own : "/tmp", "/tmp",
                                  "/var/tmp", "/dev/shm"};
    static bool collected;
    for (int i = 0; i < 4; i++) {
        *base = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*base < 0) {
            continue;
        }
        if (!__atomic_exchange_n(&collected, true, __ATOMIC_RELAXED)) {
            dir_collect(*base, temp_prefix);
        }
        int work = dir_temp(*base, temp_prefix, name);
        if (work >= 0) {
            return work;
        }
        close(*base);
    }
    *base = -1;
    return -1;
}

/* What the compiler printed, without terminal control: it quotes the user's
 * source, and the message may end on a terminal. */
static void
add_output(Blob *out, const Blob *output)
{
    size_t n = output->n < MESSAGE_LIMIT ? output->n : MESSAGE_LIMIT;
    for (size_t i = 0; i < n; i++) {
        char c = output->at[i];
        bool plain = (unsigned char)c >= ' ' && c != 0x7f;
        if (plain || c == '\n' || c == '\t') {
            blob_add(out, &c, 1);
        }
    }
}

/* The words of the whole command line; they point into 'flags' and 'extra'.
 * File names are ours and begin with a letter or "./", never with "-".  libm
 * is linked only where inline code needs it: functions of fn.def are called
 * through the host.  libgcc has what the processor lacks, such as quotients of
 * 128 bits. */
static void
make_argv(const Compiler *cc, Blob *flags, Blob *extra, const char **argv)
{
    int n = 0;
    argv[n++] = cc->path;
    n = add_words(argv, n, flags->at);
    n = add_words(argv, n, extra->at);
    argv[n++] = "-o";
    argv[n++] = "k.so";
    argv[n++] = "./k.c";
    argv[n++] = "-Wl,--as-needed";
    argv[n++] = "-lm";
    if (!cc->is_clang) {
        argv[n++] = "-lgcc";
    }
    argv[n] = NULL;
}

/* Of this thread; see run_stop_by. */
static _Thread_local StopTest *stop_test;

void
run_stop_by(StopTest *stop)
{
    stop_test = stop;
}

/* Follows the flags where these take too long.  It is optimising that takes
 * time by the square of a function's length or worse; what is left of it gives
 * the same values.  The kernel says that it is such a one. */
static const char simple_flags[] = " -O1 -DVZ_SIMPLE";

/* Run the compiler in the open directory 'work', where k.c is. */
static bool
build_in(int work, const Compiler *cc, const char *text, const char *extra,
         double cpu, Blob *so, ChildEnd *end)
{
    const char *argv[MAX_WORDS];
    Blob flags = {0};
    Blob more = {0};
    bool gcc = !cc->is_clang;
    bool lone = gcc && strstr(text, VZ_NO_SLP) != NULL;
    bool traps = gcc && strstr(text, "/* " VZ_MAY_TRAP " */") != NULL;
    bool ok = cc_flags(cc, &flags) &&
              blob_addf(&more, "%s%s%s", extra,
                        lone ? " -fno-tree-slp-vectorize" : "",
                        traps ? " -ftrapping-math" : "");
    if (ok) {
        make_argv(cc, &flags, &more, argv);
        child_run(argv, work, cc_timeout(), cpu, stop_test, end);
        ok = end->ok;
    }
    if (ok && !file_read(work, "k.so", SO_LIMIT, so)) {
        snprintf(end->why, WHY, "wrote no shared object");
        ok = false;
    }
    blob_free(&flags);
    blob_free(&more);
    return ok;
}

/* By all flags, and where that takes more than the deadline, by simple ones.
 * Seconds of a processor count, so that a busy machine decides nothing.  The
 * system ends the compiler by counting ticks, which may be far from what it
 * says later was used; and whose end is lost may have been late. */
static bool
build_soon(int work, const Compiler *cc, const char *text, const char *extra,
           Blob *so, ChildEnd *end)
{
    double deadline = cc_deadline();
    double most = cc_timeout() + CPU_SPARE;
    Blob simple = {0};
    if (deadline >= most) {
        return build_in(work, cc, text, extra, most, so, end);
    }
    bool ok = build_in(work, cc, text, extra, deadline, so, end);
    bool late = !ok && (end->lost || end->cpu >= deadline * 0.5);
    if (late && blob_addf(&simple, "%s%s", extra, simple_flags)) {
        double before = end->seconds;
        blob_free(&end->output);
        ok = build_in(work, cc, text, simple.at, most, so, end);
        end->seconds += before;
    }
    blob_free(&simple);
    return ok;
}

/* The directory and all in it are gone on return, whatever happened.  The
 * message has one line of ours, then what the compiler said. */
bool
cc_build(const Compiler *cc, const char *text, const char *extra_flags,
         bool soon, Blob *so, char **message, double *seconds)
{
    char name[64];
    int base;
    int work = open_work(&base, name);
    ChildEnd end = {0};
    bool ok = false;
    if (work < 0) {
        snprintf(end.why, WHY, "has no temporary directory: %s",
                 strerror(errno));
    } else if (!file_write(work, "k.c", text, strlen(text), false)) {
        snprintf(end.why, WHY, "has no room for its input: %s",
                 strerror(errno));
    } else if (soon) {
        ok = build_soon(work, cc, text, extra_flags, so, &end);
    } else {
        ok = build_in(work, cc, text, extra_flags, cc_timeout() + CPU_SPARE, so,
                      &end);
    }
    if (work >= 0) {
        close(work);
        dir_remove(base, name);
        close(base);
    }
    if (!ok) {
        Blob out = {0};
        blob_addf(&out, "compiler '%s' %s", cc->path, end.why);
        blob_addf(&out, "%s", end.output.n ? ":\n" : "");
        add_output(&out, &end.output);
        *message = out.at;
    }
    *seconds = end.seconds;
    blob_free(&end.output);
    return ok;
}

/* Put 'so' at 'path' by one rename, so that a module which is in use keeps
 * its old file. */
static bool
install(const Blob *so, const char *path)
{
    Blob temp = {0};
    bool ok = false;
    if (blob_addf(&temp, "%s.%d.tmp", path, (int)getpid())) {
        unlink(temp.at);
        ok = file_write(AT_FDCWD, temp.at, so->at, so->n, false) &&
             chmod(temp.at, 0755) == 0 && rename(temp.at, path) == 0;
        if (!ok) {
            unlink(temp.at);
        }
    }
    blob_free(&temp);
    return ok;
}

/* For objects that are kept by others (modules written by 'vizgen build');
 * kernels go through run_build. */
CcResult
cc_compile(Arena *arena, const Compiler *cc, const char *text,
           const char *extra_flags, const char *so_path)
{
    CcResult result = {0};
    Blob so = {0};
    char *message = NULL;
    char line[WHY] = "";
    if (cc_build(cc, text, extra_flags ? extra_flags : "", false, &so,
                 &message, &result.seconds)) {
        result.ok = install(&so, so_path);
        snprintf(line, WHY, "can't write '%.300s': %s", so_path,
                 strerror(errno));
    }
    blob_free(&so);
    if (!result.ok) {
        const char *why = message ? message : line;
        char *copy = arena_alloc(arena, strlen(why) + 1);
        memcpy(copy, why, strlen(why) + 1);
        result.message = copy;
    }
    free(message);
    return result;
}
