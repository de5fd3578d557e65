#ifndef VZ_RUN_PARTS_H
#define VZ_RUN_PARTS_H
/* What the files of csrc/run share among themselves.
 *
 * Everything here returns normally: no arena is used and nothing jumps, since
 * locks, open files and child processes are held.  Reasons go into buffers of
 * WHY bytes; memory comes from malloc and is freed by blob_free.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csrc/base/clock.h"
#include "csrc/run/run.h"

#ifndef VIZGEN_VERSION
#define VIZGEN_VERSION "0"
#endif

enum { WHY = 512, KEY_SIZE = 65 };

/* Bytes owned by whoever holds the Blob; always followed by a zero byte. */
typedef struct Blob {
    char *at;
    size_t n;
    size_t cap;
} Blob;

/* Appends bytes, or text made as printf does; false, and nothing appended, when
 * memory is out.  blob_free leaves an empty Blob, which may be used again. */
bool blob_add(Blob *blob, const void *bytes, size_t n);
bool blob_addf(Blob *blob, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void blob_free(Blob *blob);

/* --- dir.c: files and directories that nobody else can have prepared ------ */
/* Open directory 'path', absolute, making missing parts if 'create'.  -1 and
 * 'why' unless it is ours alone; see the head of dir.c for the rules. */
int dir_open(const char *path, bool create, char *why);
/* Open (or make) the directory 'name' of 'parent' by the same rules. */
int dir_open_at(int parent, const char *name, bool create, char *why);
/* Make a fresh directory 'prefix' + random digits; its name in 'name'. */
int dir_temp(int parent, const char *prefix, char name[64]);
/* Remove 'name' and all below it, following no symlink. */
void dir_remove(int parent, const char *name);
/* Remove what is ours, starts with 'prefix', and is older than an hour. */
void dir_collect(int parent, const char *prefix);
/* Call 'visit' for each entry but "." and "..". */
void dir_each(int dir, void (*visit)(void *data, int dir, const char *name),
              void *data);
/* The whole of a regular file of ours with one link, not writable by others
 * and not larger than 'limit'. */
bool file_read(int dir, const char *name, size_t limit, Blob *out);
/* The same of anybody's file, which is not trusted. */
bool file_load(const char *path, size_t limit, Blob *out);
/* A new file, 0600; false, and none left, when it can't be written. */
bool file_write(int dir, const char *name, const void *bytes, size_t n,
                bool sync);

/* --- child.c -------------------------------------------------------------- */
typedef struct ChildEnd {
    bool ok;       /* ran and exited with 0 */
    bool lost;     /* someone else took its exit status */
    double seconds;
    double cpu;    /* seconds of processors, of all that it waited for */
    Blob output;   /* stdout and stderr, the first OUTPUT_LIMIT bytes */
    char why[WHY]; /* when not ok */
} ChildEnd;

/* Seconds of a processor beyond those of waiting. */
enum { OUTPUT_LIMIT = 1 << 20, CPU_SPARE = 2 };

/* Run argv[0], an absolute path, in directory 'cwd', to its end, or until
 * 'stop', asked every 10 ms if it isn't NULL, is true; see child.c.  Each of
 * its processes may take 'cpu' seconds of a processor. */
void child_run(const char *const *argv, int cwd, double timeout, double cpu,
               StopTest *stop, ChildEnd *out);
double cc_timeout(void);   /* VIZGEN_CC_TIMEOUT, seconds */
double cc_deadline(void);  /* VIZGEN_CC_DEADLINE, seconds of a processor */

/* --- cpu.c ---------------------------------------------------------------- */
/* Bit i: row i of the table of features is there, and usable. */
uint64_t cpu_features(void);
/* The bit of feature 'name' ("avx2", n bytes); 0 when it isn't a row. */
uint64_t cpu_bit(const char *name, size_t n);
/* "-mavx -mavx2 ..." in the order of the table. */
void cpu_flags(uint64_t features, char *out, size_t size);
/* The bits of such a text; false when it has any other word in it. */
bool cpu_parse(const char *flags, uint64_t *out);

/* --- cc.c ----------------------------------------------------------------- */
/* The words of the command line that decide what code comes out. */
bool cc_flags(const Compiler *cc, Blob *out);
/* --- build.c -------------------------------------------------------------- */
/* Compile 'text' and hand back the shared object; a malloced message when it
 * failed.  'soon': more simply where all of the flags take too long. */
bool cc_build(const Compiler *cc, const char *text, const char *extra_flags,
              bool soon, Blob *so, char **message, double *seconds);

void cc_after_fork(void);

/* --- manifest.c ----------------------------------------------------------- */
/* What an entry says of itself; see manifest.c for the text form. */
typedef struct Manifest {
    char key[KEY_SIZE];
    char sha[KEY_SIZE]; /* of the shared object */
    uint64_t size;
    unsigned abi;
    char version[64];
    char compiler[256];
    char features[2048];
    char libm[64];
} Manifest;

bool manifest_write(const Manifest *manifest, Blob *out);
/* Strict: every byte of 'text' is accounted for, or false. */
bool manifest_read(const char *text, size_t n, Manifest *out);

/* --- cache.c -------------------------------------------------------------- */
/* The open cache; "root" is -1 when there is none ("why"). */
typedef struct Cache {
    int root;
    char dir[4096];
    char why[WHY];
} Cache;

void cache_open(Cache *cache);
void cache_close(Cache *cache);
/* The verified shared object of 'key'; a bad entry is removed. */
bool cache_get(const Cache *cache, const char *key, Blob *so);
void cache_drop(const Cache *cache, const char *key);
/* Publish; false when it could not be kept, which is nobody's business. */
bool cache_put(const Cache *cache, const Manifest *manifest, const Blob *so);
/* Hold the lock of 'key' for at most 'seconds' of waiting; -1 without. */
int cache_lock(const Cache *cache, const char *key, double seconds);
void cache_unlock(const Cache *cache, const char *key, int lock);
/* A small text kept beside the entries under 'name' ("cc-..."). */
bool cache_get_note(const Cache *cache, const char *name, Blob *out);
void cache_put_note(const Cache *cache, const char *name, const Blob *text);

/* --- load.c --------------------------------------------------------------- */
/* The lock of everything in csrc/run that lives as long as the process, and
 * one condition for all who wait for such things.  Free in a forked child. */
void run_lock(void);
void run_unlock(void);
void run_wait(void); /* lets go of the lock meanwhile */
void run_wake(void);

/* --- blocks.c ------------------------------------------------------------ */
/* VzHost's range_alloc, range_free and range_extend. */
void *blocks_alloc(int64_t bytes);
void blocks_free(void *at);
void *blocks_extend(void *at, int64_t bytes);

/* --- threads.c ------------------------------------------------------------ */
/* Is this thread running a range of a parallel loop? */
bool threads_inside(void);
#endif
