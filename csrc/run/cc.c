/* Finding and asking the C compiler; build.c runs it.
 *
 *     cc_find(NULL)   ->  /usr/bin/cc, "cc (Debian 12.2.0-14) 12.2.0",
 *                         "-msse3 ... -mavx2 -mtune=znver3"
 *
 * A compiler is named by the caller, by VIZGEN_CC or by CC, or is cc, gcc or
 * clang of PATH.  A name is never split into words nor given to a shell, and
 * parts of PATH that are not absolute are passed over, so neither "gcc; rm x"
 * nor a 'gcc' in the current directory is run.
 *
 * It is asked two things: its --version text, which is part of every key, and
 * which CPU features "native" means to it.  Each costs a start of the compiler,
 * so the answers are kept in the cache: bits of the table of cpu.c and one
 * checked word, never text for a command line.  A compiler that is the same
 * file as then is not asked again, if that file has its version in it; others,
 * which may run another one, tell it once per process.
 *
 * Flags are one table per compiler.  Nothing in it changes values: no
 * contraction, no reassociation, no assumption on NaNs, integers wrap; and
 * none of the "fast" flags may be there at linking, where they would switch
 * the whole process to flushing subnormals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csrc/run/parts.h"

static const double probe_timeout = 20;

enum { MOST_SCANNED = 1 << 25 }; /* bytes of a compiler's file */

/* --- Flags ---------------------------------------------------------------- */

/* What both compilers take. */
static const char common_flags[] =
    "-x c -std=gnu11 -O3 "
    /* a*b + c is rounded twice, as in Python and NumPy. */
    "-ffp-contract=off "
    /* Nobody reads errno, and sqrt becomes one instruction.  Traps are off
     * in every process we run in, so comparisons may be if-converted; a flag
     * that is raised in vain costs a second look (csrc/py/attempt.c). */
    "-fno-math-errno -fno-trapping-math "
    /* Arithmetic of NumPy's integers wraps; views of any type may overlap. */
    "-fwrapv -fno-strict-aliasing "
    /* The pragmas of OpenMP's simd part only; threads are the host's. */
    "-fopenmp-simd "
    "-fPIC -fvisibility=hidden -shared "
    /* The same text gives the same bytes. */
    "-fno-ident -Wl,--build-id=none "
    /* No start files: in them "fast math" would hide, which makes loading a
     * library change the process. */
    "-nostartfiles "
    "-Wl,-z,relro,-z,now,-z,noexecstack -Wl,--hash-style=gnu";

/* What only one of them takes, or spells so.  A frame beyond 64 KiB is an
 * error, since the threads of a team may have small stacks; arrays of such
 * size belong into scratch memory. */
static const char gcc_flags[] =
    "-Werror=frame-larger-than=65536 "
    /* Not the usual libraries: those that are needed are named behind the file
     * (see make_argv), and the C library is the process's own.  Linking takes
     * a third of the time that way.  Which library has its helpers, only clang
     * knows. */
    "-nodefaultlibs";
static const char clang_flags[] = "-Wframe-larger-than=65536 "
                                  "-Werror=frame-larger-than= "
                                  "-Wno-unused-command-line-argument";

/* VIZGEN_DEBUG adds what gdb and perf want; it changes the key, not the
 * code. */
bool
cc_flags(const Compiler *cc, Blob *out)
{
    const char *debug = getenv("VIZGEN_DEBUG");
    return blob_addf(out, "%s %s %s%s", common_flags,
                     cc->is_clang ? clang_flags : gcc_flags, cc->features,
                     debug && *debug ? " -g" : "");
}

/* --- Finding -------------------------------------------------------------- */

/* Can 'path' be run?  A directory, for one, is "executable" as well. */
static bool
is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

/* Look 'name' up in PATH, absolute parts only. */
static bool
search_path(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        int n = (int)strcspn(path, ":");
        int length = snprintf(out, size, "%.*s/%s", n, path, name);
        if (path[0] == '/' && length < (int)size && is_program(out)) {
            return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

/* The absolute path of the compiler 'name'; a reason in 'why' without.  A
 * name with a slash is a path, relative to the current directory if need be;
 * any other is looked up.  Resolved once: the path is what is run later. */
static bool
resolve(const char *name, char *out, size_t size, char *why)
{
    char cwd[4096] = "";
    const char *reason = "is not in PATH";
    bool found;
    if (strchr(name, '/')) {
        bool relative = name[0] != '/';
        if (relative && !getcwd(cwd, sizeof(cwd))) {
            cwd[0] = '\0';
        }
        int n = snprintf(out, size, "%s%s%s", cwd, relative ? "/" : "", name);
        found = n < (int)size && is_program(out);
        reason = "is not a program";
    } else {
        found = name[0] != '-' && search_path(name, out, size);
    }
    if (!found && strpbrk(name, " \t")) {
        reason = "names no file: it must be one path, options are not taken";
    }
    if (!found) {
        snprintf(why, WHY, "compiler '%.200s' %s", name, reason);
    }
    return found;
}

/* --- Asking --------------------------------------------------------------- */

/* Run the compiler with 'words' in the root directory. */
static bool
ask(const Compiler *cc, const char *const *words, ChildEnd *end, char *why)
{
    const char *argv[16] = {cc->path};
    for (int i = 0; words[i] && i < 14; i++) {
        argv[i + 1] = words[i];
    }
    double timeout = cc_timeout();
    timeout = timeout < probe_timeout ? timeout : probe_timeout;
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    child_run(argv, root, timeout, timeout + CPU_SPARE, NULL, end);
    if (root >= 0) {
        close(root);
    }
    if (!end->ok || !end->output.at) {
        snprintf(why, WHY, "compiler '%.200s' %s: %.200s", cc->path, words[0],
                 end->ok ? "says nothing" : end->why);
        return false;
    }
    return true;
}

/* Take "id", "digest" and "is_clang" from the --version text; false when it
 * is another compiler's. */
static bool
read_version(Compiler *cc, const char *text, size_t n)
{
    size_t line = strcspn(text, "\n");
    snprintf(cc->id, sizeof(cc->id), "%.*s", (int)(line < 255 ? line : 255),
             text);
    sha256_hex(text, n, cc->digest);
    cc->is_clang = strstr(text, "clang") != NULL;
    return cc->is_clang || strstr(text, "gcc") || strstr(text, "GCC") ||
           strstr(text, "Free Software Foundation");
}

/* Only gcc and clang are taken: exactness rests on flags that others ignore
 * or read differently. */
static bool
ask_version(Compiler *cc)
{
    static const char *const words[] = {"--version", NULL};
    ChildEnd end;
    bool ok = ask(cc, words, &end, cc->why);
    if (ok && end.output.at && !read_version(cc, end.output.at, end.output.n)) {
        snprintf(cc->why, WHY, "'%.200s' is neither gcc nor clang", cc->path);
        ok = false;
    }
    blob_free(&end.output);
    return ok;
}

/* What "native" means: bits of cpu.c and a name for -mtune ("" none).  The
 * word "native" itself is never compiled with: it would mean something else
 * on the next machine, under the same key. */
typedef struct Native {
    uint64_t features;
    char tune[32];
} Native;

/* May the 'n' bytes at 'text' follow "-mtune=" on a command line? */
static bool
is_word(const char *text, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    return n > 0 && n < sizeof(((Native *)0)->tune) &&
           strspn(text, allowed) >= n && text[0] != '-';
}

/* Anything but a plain word leaves the compiler's default tuning. */
static void
set_tune(Native *native, const char *text, size_t n)
{
    if (is_word(text, n)) {
        memcpy(native->tune, text, n);
        native->tune[n] = '\0';
    }
}

/* Lines such as "  -mavx2    [enabled]" and "  -mtune=   znver3". */
static void
read_gcc_native(Native *native, const char *text)
{
    while (*text) {
        const char *name = text + strspn(text, " ");
        size_t n = strcspn(name, " \t\n");
        const char *value = name + n + strspn(name + n, " \t");
        size_t length = strcspn(value, " \t\n");
        if (n == 7 && strncmp(name, "-mtune=", n) == 0) {
            set_tune(native, value, length);
        } else if (n > 2 && strncmp(name, "-m", 2) == 0 &&
                   strncmp(value, "[enabled]", 9) == 0) {
            native->features |= cpu_bit(name + 2, n - 2);
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* Words such as "+avx2" after "-target-feature", in quotes. */
static void
read_clang_native(Native *native, const char *text)
{
    static const char cpu[] = "\"-target-cpu\" \"";
    const char *at = strstr(text, cpu);
    if (at) {
        at += sizeof(cpu) - 1;
        set_tune(native, at, strcspn(at, "\""));
    }
    for (at = strstr(text, "\"+"); at; at = strstr(at, "\"+")) {
        at += 2;
        native->features |= cpu_bit(at, strcspn(at, "\""));
    }
}

/* Without an answer kernels are compiled for the baseline. */
static void
ask_native(const Compiler *cc, Native *native)
{
    static const char *const gcc[] = {"-march=native", "-Q", "--help=target",
                                      NULL};
    static const char *const clang[] = {"-march=native", "-###", "-x", "c",
                                        "-c", "/dev/null", NULL};
    ChildEnd end;
    char why[WHY];
    *native = (Native){0};
    if (ask(cc, cc->is_clang ? clang : gcc, &end, why)) {
        if (cc->is_clang) {
            read_clang_native(native, end.output.at);
        } else {
            read_gcc_native(native, end.output.at);
        }
    }
    native->features &= cpu_features();
    blob_free(&end.output);
}

/* --- Remembering the answers ---------------------------------------------- */

/* Is the version that was told written in the file, with what else a gcc has
 * in it?  Then the file tells the same for as long as it is the same.  What
 * runs another program, such as a script or a copy of ccache, has no specs, and
 * clang's version is in a library. */
static bool
says_it_itself(const Compiler *cc)
{
    char told[sizeof(cc->id)];
    snprintf(told, sizeof(told), "%s", cc->id);
    char *package = strchr(told, ' ');
    char *version = strrchr(told, ' ');
    if (!package || version <= package) {
        return false;
    }
    *version = '\0';
    const char *const texts[] = {"%(cc1_options)", package + 1, version + 1};
    Blob file = {0};
    bool found = !cc->is_clang && package[1] && version[1] &&
                 file_load(cc->path, MOST_SCANNED, &file);
    for (int i = 0; i < 3 && found; i++) {
        found = memmem(file.at, file.n, texts[i], strlen(texts[i])) != NULL;
    }
    blob_free(&file);
    return found;
}

/* What the answers depend on: the file, this CPU; unless it says it "itself",
 * what it has told just now. */
static bool
describe(const Compiler *cc, bool itself, char name[64], Blob *out)
{
    struct stat st;
    char sum[KEY_SIZE];
    if (stat(cc->path, &st) != 0) {
        return false;
    }
    sha256_hex(cc->path, strlen(cc->path), sum);
    snprintf(name, 64, "cc-%.32s", sum);
    return blob_addf(out, "vizgen-cc 2\n%lld %lld.%ld %lld.%ld ",
                     (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                     st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
                     st.st_ctim.tv_nsec) &&
           blob_addf(out, "%llu %s %llx\n", (unsigned long long)st.st_ino,
                     itself ? "itself" : cc->digest,
                     (unsigned long long)cpu_features());
}

/* The whole note: the description "about", the answers, a sum of both.  "none":
 * no tuning. */
static bool
make_note(Blob *out, const Blob *about, const Compiler *cc,
          const Native *native)
{
    char sum[KEY_SIZE];
    if (!blob_addf(out, "%snative %llx %s\nversion %d %s %s\n", about->at,
                   (unsigned long long)native->features,
                   native->tune[0] ? native->tune : "none", cc->is_clang,
                   cc->digest, cc->id)) {
        return false;
    }
    sha256_hex(out->at, out->n, sum);
    return blob_addf(out, "sum %s\n", sum);
}

/* Takes the answers from behind the description; the note must be just what
 * would be made of them. */
static bool
recall(const Blob *note, const Blob *about, Compiler *cc, Native *native)
{
    unsigned long long bits = 0;
    int clang = 0;
    Blob again = {0};
    Compiler said = {0};
    Native meant = {0};
    bool same = note->n > about->n &&
                memcmp(note->at, about->at, about->n) == 0 &&
                sscanf(note->at + about->n,
                       "native %llx %31s version %d %64[0-9a-f] %255[^\n]",
                       &bits, meant.tune, &clang, said.digest, said.id) == 5 &&
                is_word(meant.tune, strlen(meant.tune)) &&
                !(bits & ~cpu_features());
    meant.features = bits;
    said.is_clang = clang != 0;
    same = same && make_note(&again, about, &said, &meant) &&
           note->n == again.n && memcmp(note->at, again.at, note->n) == 0;
    blob_free(&again);
    if (same) {
        *native = meant;
        cc->is_clang = said.is_clang;
        memcpy(cc->digest, said.digest, sizeof(cc->digest));
        memcpy(cc->id, said.id, sizeof(cc->id));
    }
    return same;
}

/* Asks for the version, and for the rest if 'note' doesn't have it for what was
 * told; then there is a new note. */
static bool
ask_anew(Compiler *cc, Cache *cache, const Blob *note, Native *native)
{
    char name[64];
    Blob about = {0};
    Blob fresh = {0};
    if (!ask_version(cc)) {
        return false;
    }
    bool described = describe(cc, false, name, &about);
    if (!described || !recall(note, &about, cc, native)) {
        ask_native(cc, native);
        if (described && says_it_itself(cc)) {
            blob_free(&about);
            described = describe(cc, true, name, &about);
        }
        if (described && make_note(&fresh, &about, cc, native)) {
            cache_put_note(cache, name, &fresh);
        }
    }
    blob_free(&about);
    blob_free(&fresh);
    return true;
}

/* Recalls the answers of an earlier process, or asks.  What is recalled is
 * checked against today's description of compiler and CPU, so an upgrade or
 * another machine with the same home asks again.  False: it is no compiler. */
static bool
find_answers(Compiler *cc, Native *native)
{
    Cache cache;
    Blob about = {0};
    Blob note = {0};
    char name[64];
    cache_open(&cache);
    bool noted = describe(cc, true, name, &about) &&
                 cache_get_note(&cache, name, &note);
    bool ok = (noted && recall(&note, &about, cc, native)) ||
              ask_anew(cc, &cache, &note, native);
    blob_free(&about);
    blob_free(&note);
    cache_close(&cache);
    return ok;
}

/* The list in the table's order, then the tuning: the same text for the same
 * answer, since it is part of the key. */
static void
set_features(Compiler *cc, const Native *native)
{
    cpu_flags(native->features, cc->features, sizeof(cc->features));
    size_t n = strlen(cc->features);
    if (native->tune[0] && strcmp(native->tune, "none") != 0 &&
        strcmp(native->tune, "x86-64") != 0) {
        snprintf(cc->features + n, sizeof(cc->features) - n, "%s-mtune=%s",
                 n ? " " : "", native->tune);
    }
}

/* --- The compilers known so far ------------------------------------------- */

/* One per choice: what was asked for and the variables that decide it.  They
 * are few, so a list will do; none is ever removed, since run_build's callers
 * keep pointers to "cc". */
typedef struct Known {
    struct Known *next;
    Compiler cc;
    char choice[];
} Known;

static Known *known; /* under run_lock */
static bool asking;  /* some thread is at it; the others wait */

void
cc_after_fork(void)
{
    asking = false;
}

/* Fill 'cc' for the name or path 'name'; on failure "why" tells. */
static void
probe(Compiler *cc, const char *name)
{
    Native native;
    if (resolve(name, cc->path, sizeof(cc->path), cc->why) &&
        find_answers(cc, &native)) {
        set_features(cc, &native);
        cc->ok = true;
    }
}

/* Try the names in their order.  VIZGEN_CC binds; a CC that can't be used is
 * often written for other tools ("ccache gcc"), so it is passed over and
 * named in "why". */
static void
probe_default(Compiler *cc)
{
    const char *own = getenv("VIZGEN_CC");
    const char *shared = getenv("CC");
    static const char *const usual[] = {"cc", "gcc", "clang"};
    char passed[WHY] = "";
    if (own && *own) {
        probe(cc, own);
        return;
    }
    if (shared && *shared) {
        probe(cc, shared);
        snprintf(passed, WHY, "CC: %.400s", cc->why);
    }
    for (int i = 0; i < 3 && !cc->ok; i++) {
        *cc = (Compiler){0};
        probe(cc, usual[i]);
    }
    if (passed[0] && strcmp(cc->why, "") == 0 && cc->ok) {
        snprintf(cc->why, WHY, "%.500s", passed);
    }
    if (!cc->ok) {
        snprintf(cc->why, WHY, "no C compiler: neither cc, gcc nor clang is "
                               "in PATH, and VIZGEN_CC is not set");
    }
}

/* All that decides which compiler is meant, as one text. */
static bool
describe_choice(const char *name, Blob *out)
{
    static const char *const variables[] = {"VIZGEN_CC", "CC", "PATH",
                                            "VIZGEN_CACHE_DIR"};
    bool ok = blob_addf(out, "%s", name ? name : "");
    for (int i = 0; i < 4; i++) {
        const char *value = getenv(variables[i]);
        ok = ok && blob_addf(out, "\n%s", value ? value : "");
    }
    return ok;
}

/* Under run_lock. */
static Known *
find_known(const char *choice)
{
    for (Known *k = known; k; k = k->next) {
        if (strcmp(k->choice, choice) == 0) {
            return k;
        }
    }
    return NULL;
}

/* A new Known for 'choice', not linked yet. */
static Known *
ask_new(const char *name, const char *choice)
{
    size_t n = strlen(choice) + 1;
    Known *k = calloc(1, sizeof(Known) + n);
    if (!k) {
        return NULL;
    }
    memcpy(k->choice, choice, n);
    if (name && *name) {
        probe(&k->cc, name);
    } else {
        probe_default(&k->cc);
    }
    return k;
}

/* Known already, or by asking without holding the lock.  Who comes meanwhile
 * waits, even for another compiler: that saves asking the same one twice. */
static Known *
find_or_ask(const char *name, const char *choice)
{
    run_lock();
    Known *found = find_known(choice);
    while (!found && asking) {
        run_wait();
        found = find_known(choice);
    }
    if (!found) {
        asking = true;
        run_unlock();
        found = ask_new(name, choice);
        run_lock();
        if (found) {
            found->next = known;
            known = found;
        }
        asking = false;
        run_wake();
    }
    run_unlock();
    return found;
}

/* The result lives as long as the process.  A compiler that fails is known
 * as well, and not asked again until one of the variables changes. */
const Compiler *
cc_find(const char *name)
{
    static const Compiler none = {.why = "out of memory"};
    Blob choice = {0};
    Known *found = NULL;
    if (describe_choice(name, &choice)) {
        found = find_or_ask(name, choice.at);
    }
    blob_free(&choice);
    return found ? &found->cc : &none;
}
