/* A small program over csrc/run, driven by tests/test_run.py.
 *
 *     run_tool find [NAME]       what cc_find says
 *     run_tool build FILE [ENV]  run_build, then call the kernel
 *     run_tool limited FILE N    the same with N file descriptors at most
 *     run_tool again FILE        the same twice in one process
 *     run_tool at-once FILE      the same by 8 threads at once
 *     run_tool many N            N different kernels, each tells its number
 *     run_tool forked FILE       fork while another thread builds
 *     run_tool compile FILE SO   cc_compile
 *     run_tool info | clear | verify | threads
 *
 * Prints "name value" lines.  A test kernel writes out[0].i.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "csrc/run/run.h"

enum { THREADS = 8 };

static char *
read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        exit(2);
    }
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static long long
call(const Library *lib)
{
    VzHost host = {0};
    VzSlot out[1] = {{0}};
    VzCtx ctx = {.host = &host, .out = out};
    host_init(&host);
    return lib->kernel(&ctx) == VZ_OK ? out[0].i : -1;
}

static const Library *
build(const char *text, const char *environment, const char **why)
{
    Arena *arena = arena_new();
    const Library *lib =
        run_build(arena, cc_find(NULL), text, environment, why);
    *why = lib ? "" : strdup(*why);
    arena_free(arena);
    return lib;
}

static int
do_find(const char *name)
{
    const Compiler *cc = cc_find(name);
    printf("ok %d\npath %s\nid %s\nclang %d\nfeatures %s\nwhy %s\n", cc->ok,
           cc->path, cc->id, cc->is_clang, cc->features, cc->why);
    return 0;
}

static int
do_build(const char *path, const char *environment)
{
    const char *why = "";
    const Library *lib = build(read_text(path), environment, &why);
    if (!lib) {
        printf("error %s\n", why);
        return 0;
    }
    printf("key %s\nvalue %lld\nfrom_cache %d\nseconds %g\n", lib->key,
           call(lib), lib->from_cache, lib->compile_seconds);
    return 0;
}

static int
do_limited(const char *path, rlim_t most)
{
    char *text = read_text(path);
    struct rlimit limit = {most, most};
    const char *why = "";
    setrlimit(RLIMIT_NOFILE, &limit);
    const Library *lib = build(text, NULL, &why);
    printf("%s %lld%s\n", lib ? "value" : "error", lib ? call(lib) : 0, why);
    return 0;
}

static int
do_again(const char *path)
{
    const char *why = "";
    char *text = read_text(path);
    const Library *first = build(text, NULL, &why);
    const Library *second = build(text, NULL, &why);
    printf("same %d\n", first && first == second);
    return 0;
}

typedef struct Job {
    const char *text;
    const Library *lib;
    const char *why;
} Job;

static void *
run_job(void *data)
{
    Job *job = data;
    job->lib = build(job->text, NULL, &job->why);
    return NULL;
}

static int
do_at_once(const char *path)
{
    pthread_t threads[THREADS];
    Job jobs[THREADS];
    char *text = read_text(path);
    int same = 0;
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (Job){.text = text};
        pthread_create(&threads[i], NULL, run_job, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        same += jobs[i].lib == jobs[0].lib;
    }
    printf("same %d\n", same);
    printf("%s\n", jobs[0].lib ? "loaded 1" : jobs[0].why);
    return 0;
}

static int
open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

static int
do_many(int n)
{
    int good = 0;
    int before = open_files();
    for (int i = 0; i < n; i++) {
        char text[1024];
        const char *why = "";
        snprintf(text, sizeof(text),
                 "typedef struct { const void *a, *b; long *out; } C;\n"
                 "__attribute__((visibility(\"default\")))\n"
                 "const unsigned vz_abi = %d;\n"
                 "__attribute__((visibility(\"default\")))\n"
                 "int vz_kernel(C *c) { c->out[0] = %d; return 0; }\n",
                 VZ_ABI, i);
        const Library *lib = build(text, NULL, &why);
        good += lib && call(lib) == i;
    }
    printf("good %d\nleaked %d\n", good, open_files() - before);
    return 0;
}

/* The child must be able to build what the parent's thread had begun. */
static int
do_forked(const char *path)
{
    pthread_t thread;
    Job job = {.text = read_text(path)};
    pthread_create(&thread, NULL, run_job, &job);
    usleep(30000);
    pid_t pid = fork();
    if (pid == 0) {
        Job mine = {.text = job.text};
        run_job(&mine);
        _exit(mine.lib && call(mine.lib) >= 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    pthread_join(thread, NULL);
    printf("child %d\nparent %d\n", status, job.lib != NULL);
    return 0;
}

static int
do_compile(const char *path, const char *so_path)
{
    Arena *arena = arena_new();
    CcResult result = cc_compile(arena, cc_find(NULL), read_text(path), NULL,
                                 so_path);
    printf("ok %d\nerror %s\n", result.ok,
           result.message ? result.message : "");
    arena_free(arena);
    return 0;
}

static int
do_info(void)
{
    CacheInfo info;
    cache_info(&info);
    printf("dir %s\nwhy %s\nentries %ld\nbytes %lld\n", info.dir, info.why,
           info.entries, info.bytes);
    return 0;
}

static int
do_verify(void)
{
    Arena *arena = arena_new();
    Str report = str_new(arena);
    printf("bad %d\n", cache_verify(&report));
    printf("%s", report.n ? report.at : "");
    arena_free(arena);
    return 0;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *first = argc > 2 ? argv[2] : NULL;
    const char *second = argc > 3 ? argv[3] : NULL;
    if (strcmp(what, "find") == 0) {
        return do_find(first);
    }
    if (strcmp(what, "info") == 0) {
        return do_info();
    }
    if (strcmp(what, "clear") == 0) {
        printf("removed %d\n", cache_clear());
        return 0;
    }
    if (strcmp(what, "verify") == 0) {
        return do_verify();
    }
    if (strcmp(what, "threads") == 0) {
        printf("threads %d\n", threads_get());
        return 0;
    }
    if (strcmp(what, "build") == 0 && first) {
        return do_build(first, second);
    }
    if (strcmp(what, "again") == 0 && first) {
        return do_again(first);
    }
    if (strcmp(what, "at-once") == 0 && first) {
        return do_at_once(first);
    }
    if (strcmp(what, "limited") == 0 && second) {
        return do_limited(first, (rlim_t)atoi(second));
    }
    if (strcmp(what, "forked") == 0 && first) {
        return do_forked(first);
    }
    if (strcmp(what, "compile") == 0 && second) {
        return do_compile(first, second);
    }
    if (strcmp(what, "many") == 0 && first) {
        return do_many(atoi(first));
    }
    return 2;
}
