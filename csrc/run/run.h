#ifndef VZ_RUN_RUN_H
#define VZ_RUN_RUN_H
/* From C text to a loaded kernel, and the services a running kernel needs.
 * Nothing here knows of Python.
 *
 *   cc_find --> run_build --> Library.kernel(ctx)        built once per key
 *                             |  ctx->host->parallel_for  threads.c
 *                             |  ctx->host->undo, shadow  undo.c
 *                             v
 *                           VZ_OK, or why not (abi.h)
 *
 * Any thread may call what is here; an Undo belongs to one call.  What lives as
 * long as the process (compilers probed, libraries loaded) is behind one lock,
 * see parts.h.
 */
#include <stdbool.h>
#include <stddef.h>

#include "csrc/base/str.h"
#include "csrc/run/abi.h"

/* --- sha256.c ------------------------------------------------------------- */
/* The SHA-256 of 'size' bytes, as bytes or as 64 lower-case digits and a
 * zero. */
void sha256(const void *data, size_t size, unsigned char out[32]);
void sha256_hex(const void *data, size_t size, char out[65]);

/* --- cc.c, build.c: finding and running the C compiler -------------------- */
typedef struct Compiler {
    char path[4096];     /* absolute */
    char id[256];        /* first line of --version */
    char digest[65];     /* sha256 of all of it */
    char features[2048]; /* resolved CPU flags, e.g. "-mavx2 -mfma ..." */
    bool is_clang;
    bool ok;
    char why[512];       /* why not ok; or why CC was passed over */
} Compiler;

/* The compiler of 'name' (NULL: VIZGEN_CC, CC, cc, gcc, clang in that order),
 * probed once per process. */
const Compiler *cc_find(const char *name);

/* How a compilation ended: "ok", else "message"; "seconds" of waiting for
 * it. */
typedef struct CcResult {
    bool ok;
    char *message; /* the start of its error output, in the caller's arena */
    double seconds;
} CcResult;

/* Compiles 'text' to the shared object 'so_path' through a private temporary
 * directory; VIZGEN_CC_TIMEOUT (default 60 s) is all the time it has.
 * 'extra_flags' is split at spaces; NULL: none. */
CcResult cc_compile(Arena *arena, const Compiler *cc, const char *text,
                    const char *extra_flags, const char *so_path);

/* --- cache.c -------------------------------------------------------------- */
/* The cache as people ask for it: where it is, and what is in it. */
typedef struct CacheInfo {
    char dir[4096]; /* "" : memory only */
    char why[512];  /* why it is memory only */
    long entries;
    long long bytes;
} CacheInfo;

void cache_info(CacheInfo *out);
/* Can it be used?  Makes its folder; else 'why' of 512 bytes tells. */
bool cache_usable(char *why);
int cache_clear(void); /* number of entries removed */
int cache_verify(Str *report); /* number of bad entries */

/* --- load.c --------------------------------------------------------------- */
/* A loaded kernel.
 *
 *   "kernel"  what to call.
 *   "handle"  dlopen's; never closed, since "kernel" is handed out.
 *   "from_cache"  no compiler ran for it in this process.
 *   "simple"  all of the flags would have taken too long.
 *   "compile_seconds"  0 from the cache.
 *   "key"  its name in the cache, 64 digits. */
typedef struct Library {
    VzKernel *kernel;
    void *handle;
    bool from_cache;
    bool simple;
    double compile_seconds;
    char key[65];
} Library;

/* Should the wait for a compiler end? */
typedef bool StopTest(void);

/* Builds of this thread fail as soon as 'stop' is true; NULL: they go on to
 * their end. */
void run_stop_by(StopTest *stop);

/* The kernel for 'text' (a whole translation unit that exports vz_kernel and
 * vz_abi) compiled by 'cc': from memory, from the cache, else by the
 * compiler.  The key is made of 'text' without its #line lines, compiler,
 * flags, CPU features, libm, ABI, vizgen's version and 'environment' (NULL:
 * none).  One thread or process compiles a key, the others wait.  The result
 * lives as long as the process and says how it was first made.  NULL and
 * '*why' set in 'arena' on failure. */
const Library *run_build(Arena *arena, const Compiler *cc, const char *text,
                         const char *environment, const char **why);

/* --- fuel.c --------------------------------------------------------------- */

/* Gives a loop that has none left fuel for about a millisecond.  'since': when
 * it got the last; 0: not known, then as much again. */
void fuel_refill(VzCtx *ctx, int64_t *since, int64_t now);

/* --- threads.c ------------------------------------------------------------ */
/* A whole number from 1 on, as VIZGEN_THREADS has it. */
bool threads_read(const char *text, int *n);
/* A number from 'least' on, as the other variables have it; false, and '*out'
 * untouched, for any other text and for NULL. */
bool number_read(const char *text, double least, double *out);
/* 0: as many as VIZGEN_THREADS, else OpenMP and the machine say. */
void threads_set(int n);
int threads_get(void);
/* In a forked child: its parent never started OpenMP's team, so this process
 * may start its own. */
void threads_trust_fork(void);
/* VzHost.parallel_for; serial inside another parallel loop, in a forked
 * child, and for little work (VIZGEN_PARALLEL_NS says how many nanoseconds
 * that is, for tests). */
int threads_parallel_for(VzCtx *ctx, VzRange *body, void *env, int64_t lo,
                         int64_t hi, double cost);

/* --- undo.c: commit or replay --------------------------------------------- */
/* An array that a kernel may write, as NumPy describes it: "data" is its first
 * element; "dims" and "strides" (in bytes, any sign) have "rank" entries and
 * belong to the caller. */
typedef struct UndoArray {
    char *data;
    int itemsize;
    int rank;
    const int64_t *dims;
    const int64_t *strides;
    char *shadow; /* a packed copy once taken */
} UndoArray;

/* One store: the "size" (at most 8) bytes "old" that were "at" before it. */
typedef struct UndoEntry {
    void *at;
    uint64_t old;
    int size;
} UndoEntry;

/* "arrays" are those the kernel may write, "log" to "shadowed" start zero.
 * The log grows to about their size, then becomes shadows. */
typedef struct Undo {
    UndoArray *arrays;
    int narrays;
    UndoEntry *log;
    size_t n;
    size_t cap;
    bool shadowed;
} Undo;

/* VZ_OK or VZ_NOMEM, with nothing changed.  Not inside a parallel loop. */
int undo_note(Undo *undo, VzCtx *ctx, void *at, int size);
int undo_shadow(Undo *undo, VzCtx *ctx);
void undo_rollback(Undo *undo);
void undo_free(Undo *undo);

/* --- host.c: the VzHost table without what needs Python ------------------- */
/* parallel_for, libm1, libm2, powf, pow_slack, range_alloc, range_free,
 * range_extend. */
void host_init(VzHost *host);
const char *host_libm(void);  /* "glibc 2.36" ... */
#endif
