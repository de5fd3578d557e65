/* The cache of compiled kernels on disk.
 *
 *     ~/.cache/vizgen/            0700, ours, reached without symlinks
 *         5c/0d91.../kernel.so    one directory per key, never changed
 *         5c/0d91.../manifest
 *         tmp-a83f...             being written; renamed into place
 *         lock-5c0d...            held by who compiles that key
 *         cc-77ab...              what a compiler said of this CPU
 *
 * Place: VIZGEN_CACHE_DIR, else XDG_CACHE_HOME/vizgen, else ~/.cache/vizgen.
 * Where that isn't ours alone, can't be written or doesn't exist, there is no
 * cache and a reason; nothing ever fails because of it.
 *
 * An entry appears by one rename of a complete directory, so a reader sees
 * all of it or nothing, and two writers can't mix: the second rename fails
 * and its work is dropped.  Locks are only there to save work.  A reader
 * checks everything again (manifest.c, then the hash of the object), since
 * disks and people make errors; a bad entry is removed and made anew.
 *
 * What others may not do is a matter of ownership and modes (dir.c), not of
 * the hash, which whoever can write here could compute as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "csrc/run/parts.h"

enum { SO_LIMIT = 64 << 20, NOTE_LIMIT = 1 << 14 };
enum { DEFAULT_MB = 512, LARGEST_MB = 1000000 };
enum { PUBLISHES_PER_SCAN = 256, SECONDS_PER_DAY = 86400, SHARD_DIGITS = 2 };
enum { BYTES_PER_DOT = 64 << 10 }; /* more than most kernels take */
#define COUNT_NAME "published"

/* --- Place ---------------------------------------------------------------- */

/* Our home: HOME, or what the password file says; NULL without either, as in
 * containers that run under a number nobody knows. */
static const char *
home_of(char *buffer, size_t size)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/') {
        return home;
    }
    struct passwd entry;
    struct passwd *found = NULL;
    char *text = malloc(16384);
    if (text && getpwuid_r(geteuid(), &entry, text, 16384, &found) == 0 &&
        found && found->pw_dir && found->pw_dir[0] == '/') {
        snprintf(buffer, size, "%s", found->pw_dir);
    }
    free(text);
    return buffer[0] ? buffer : NULL;
}

/* The path of the cache, which needn't exist yet.  XDG says that a relative
 * XDG_CACHE_HOME is to be ignored; a relative VIZGEN_CACHE_DIR is refused,
 * since it would mean another place after every chdir. */
static bool
choose_place(char *out, size_t size, char *why)
{
    const char *own = getenv("VIZGEN_CACHE_DIR");
    const char *xdg = getenv("XDG_CACHE_HOME");
    char buffer[4096] = "";
    int n;
    if (own && *own) {
        n = snprintf(out, size, "%s", own);
    } else if (xdg && xdg[0] == '/') {
        n = snprintf(out, size, "%s/vizgen", xdg);
    } else {
        const char *home = home_of(buffer, sizeof(buffer));
        if (!home) {
            snprintf(why, WHY, "there is no home directory");
            return false;
        }
        n = snprintf(out, size, "%s/.cache/vizgen", home);
    }
    while (n > 1 && n < (int)size && out[n - 1] == '/') {
        out[--n] = '\0';
    }
    if (n >= (int)size || out[0] != '/') {
        snprintf(why, WHY, "'%.200s' is not an absolute path", out);
        return false;
    }
    return true;
}

/* Opened anew for every use: it costs some ten system calls beside a compile
 * or a load, and so a cache that is removed, mounted or repaired while the
 * process runs is seen as it is. */
void
cache_open(Cache *cache)
{
    char place[4096];
    char why[WHY] = "";
    *cache = (Cache){.root = -1};
    if (choose_place(place, sizeof(place), why)) {
        cache->root = dir_open(place, true, why);
    }
    if (cache->root >= 0) {
        memcpy(cache->dir, place, sizeof(place));
    } else {
        snprintf(cache->why, WHY, "%.500s", why);
    }
}

void
cache_close(Cache *cache)
{
    if (cache->root >= 0) {
        close(cache->root);
        cache->root = -1;
    }
}

/* --- Entries -------------------------------------------------------------- */

/* Open the directory of the keys that begin like 'key'.  256 of them keep
 * directories small where a file system searches them line by line. */
static int
open_shard(const Cache *cache, const char *key, bool create)
{
    char name[SHARD_DIGITS + 1];
    char why[WHY];
    snprintf(name, sizeof(name), "%.2s", key);
    return cache->root < 0 ? -1
                           : dir_open_at(cache->root, name, create, why);
}

/* Read and check the entry in the open directory 'entry'.  The object's size
 * is limited before it is read and compared after; the manifest must be of
 * this very key, or two entries could be exchanged. */
static bool
read_entry(int entry, const char *key, Blob *so)
{
    Blob text = {0};
    Manifest m;
    char sum[KEY_SIZE];
    uint64_t features = 0;
    bool ok = file_read(entry, "manifest", NOTE_LIMIT, &text) &&
              manifest_read(text.at, text.n, &m) &&
              strcmp(m.key, key) == 0 && m.abi == VZ_ABI &&
              cpu_parse(m.features, &features) &&
              !(features & ~cpu_features()) &&
              file_read(entry, "kernel.so", SO_LIMIT, so) && so->n == m.size;
    if (ok) {
        sha256_hex(so->at, so->n, sum);
        ok = strcmp(sum, m.sha) == 0;
    }
    if (!ok) {
        blob_free(so);
    }
    blob_free(&text);
    return ok;
}

/* Entries used lately are the last to be removed; a day's precision will do. */
static void
mark_used(int entry)
{
    struct stat st;
    if (fstat(entry, &st) == 0 &&
        time(NULL) - st.st_mtime > SECONDS_PER_DAY) {
        futimens(entry, NULL);
    }
}

/* Remove the entry 'name' of 'shard': first out of sight, then for good, so
 * that no reader finds half of it. */
static void
remove_entry(int root, int shard, const char *name)
{
    char temp[64];
    int fd = dir_temp(root, "tmp-", temp);
    if (fd < 0) {
        dir_remove(shard, name); /* full disk: not in one step, then */
        return;
    }
    renameat(shard, name, fd, "entry");
    close(fd);
    dir_remove(root, temp);
}

/* Whatever is wrong with an entry, it is removed, or it would stay wrong: a
 * complete directory in its place keeps better ones from being renamed there.
 * One that we may not even enter (a symlink, another owner) is left alone. */
bool
cache_get(const Cache *cache, const char *key, Blob *so)
{
    char why[WHY];
    int shard = open_shard(cache, key, false);
    if (shard < 0) {
        return false;
    }
    bool ok = false;
    int entry = dir_open_at(shard, key + SHARD_DIGITS, false, why);
    if (entry >= 0) {
        ok = read_entry(entry, key, so);
        if (ok) {
            mark_used(entry);
        } else {
            remove_entry(cache->root, shard, key + SHARD_DIGITS);
        }
        close(entry);
    }
    close(shard);
    return ok;
}

/* Also used for an object that is what it should be but can't be loaded. */
void
cache_drop(const Cache *cache, const char *key)
{
    int shard = open_shard(cache, key, false);
    if (shard >= 0) {
        remove_entry(cache->root, shard, key + SHARD_DIGITS);
        close(shard);
    }
}

/* --- All entries ---------------------------------------------------------- */

/* Called with the open root and shard, the entry's name there, and its key. */
typedef void EntryVisitor(void *data, int root, int shard, const char *name,
                          const char *key);

/* A walk over all entries. */
typedef struct Tour {
    EntryVisitor *visit;
    void *data;
    int root;
    const char *shard; /* the two digits we are in */
} Tour;

/* Does 'name' have exactly 'n' lower-case hexadecimal digits?  Other names in
 * the cache are not ours, and no business of ours. */
static bool
is_hex(const char *name, size_t n)
{
    return strlen(name) == n && strspn(name, "0123456789abcdef") == n;
}

/* One name in a shard. */
static void
tour_entry(void *data, int dir, const char *name)
{
    const Tour *tour = data;
    char key[KEY_SIZE];
    if (is_hex(name, KEY_SIZE - 1 - SHARD_DIGITS)) {
        snprintf(key, sizeof(key), "%.2s%s", tour->shard, name);
        tour->visit(tour->data, tour->root, dir, name, key);
    }
}

/* One name in the cache: its entries, if it is a shard. */
static void
tour_shard(void *data, int dir, const char *name)
{
    Tour tour = *(Tour *)data;
    char why[WHY];
    int shard = is_hex(name, SHARD_DIGITS)
                    ? dir_open_at(dir, name, false, why)
                    : -1;
    if (shard >= 0) {
        tour.shard = name;
        dir_each(shard, tour_entry, &tour);
        close(shard);
    }
}

/* Call 'visit' for every entry, sound or not, in no particular order. */
static void
each_entry(int root, EntryVisitor *visit, void *data)
{
    Tour tour = {visit, data, root, NULL};
    dir_each(root, tour_shard, &tour);
}

/* Bytes of an entry's object and when it was made or used, in ns. */
static bool
measure(int shard, const char *name, long long *bytes, long long *when)
{
    char path[128];
    struct stat st;
    if (fstatat(shard, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    *when = (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    snprintf(path, sizeof(path), "%s/kernel.so", name);
    *bytes = fstatat(shard, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_size
                                                                 : 0;
    return true;
}

/* --- The limit on the size ------------------------------------------------ */

/* An entry, for sorting by age. */
typedef struct Measured {
    long long when;
    long long bytes;
    char key[KEY_SIZE];
} Measured;

/* An EntryVisitor: append a Measured to the Blob 'data'. */
static void
collect_entry(void *data, int root, int shard, const char *name,
              const char *key)
{
    Measured m = {0};
    (void)root;
    if (measure(shard, name, &m.bytes, &m.when)) {
        snprintf(m.key, sizeof(m.key), "%s", key);
        blob_add(data, &m, sizeof(m));
    }
}

/* For qsort: the one used longest ago first. */
static int
by_age(const void *lhs, const void *rhs)
{
    long long a = ((const Measured *)lhs)->when;
    long long b = ((const Measured *)rhs)->when;
    return (a > b) - (a < b);
}

/* VIZGEN_CACHE_MB in bytes.  A kernel takes some 20 kB, so the default holds
 * tens of thousands. */
static long long
size_limit(void)
{
    double mb = DEFAULT_MB;
    number_read(getenv("VIZGEN_CACHE_MB"), 0.001, &mb);
    return (long long)((mb < LARGEST_MB ? mb : LARGEST_MB) * (1 << 20));
}

/* Remove the oldest entries until the rest is within three quarters of the
 * limit, so that this isn't done at every publish. */
static void
prune(const Cache *cache)
{
    Blob list = {0};
    long long total = 0;
    long long limit = size_limit();
    each_entry(cache->root, collect_entry, &list);
    Measured *m = (Measured *)(void *)list.at;
    size_t n = list.n / sizeof(*m);
    for (size_t i = 0; i < n; i++) {
        total += m[i].bytes;
    }
    if (total > limit) {
        qsort(m, n, sizeof(*m), by_age);
        for (size_t i = 0; i < n && total > limit / 4 * 3; i++) {
            cache_drop(cache, m[i].key);
            total -= m[i].bytes;
        }
    }
    blob_free(&list);
}

/* Is it time to look at all entries?  Where the disk is cold, a scan of some
 * thousand takes seconds, so it is made once in so many publishes of all
 * processes, sooner under a small limit: each adds a dot to a file, a large
 * entry more, and a scan empties it.  Two scans at once do no harm; what can't
 * count scans. */
static bool
scan_is_due(const Cache *cache, size_t bytes)
{
    char dots[PUBLISHES_PER_SCAN];
    struct stat st;
    int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(cache->root, COUNT_NAME, flags, 0600);
    if (fd < 0) {
        return true;
    }
    size_t add = bytes / BYTES_PER_DOT + 1;
    add = add < sizeof(dots) ? add : sizeof(dots);
    memset(dots, '.', add);
    bool counted = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                   write(fd, dots, add) == (ssize_t)add;
    long long n = counted ? st.st_size + (long long)add : PUBLISHES_PER_SCAN;
    bool due = n >= PUBLISHES_PER_SCAN || n >= size_limit() / BYTES_PER_DOT;
    bool emptied = due && ftruncate(fd, 0) == 0;
    (void)emptied; /* else the next publish scans too */
    close(fd);
    return due;
}

/* After a publish of so many bytes.  Processes that only load never pay for
 * it. */
static void
tidy(const Cache *cache, size_t bytes)
{
    static unsigned publishes;
    unsigned n = __atomic_fetch_add(&publishes, 1, __ATOMIC_RELAXED);
    if (n % PUBLISHES_PER_SCAN == 0) {
        dir_collect(cache->root, "tmp-");
        dir_collect(cache->root, "lock-");
    }
    if (scan_is_due(cache, bytes)) {
        prune(cache);
    }
}

/* --- Publishing ----------------------------------------------------------- */

/* Write the two files into the fresh directory 'entry', down to the disk. */
static bool
fill_entry(int entry, const Manifest *manifest, const Blob *so)
{
    Blob text = {0};
    bool ok = manifest_write(manifest, &text) &&
              file_write(entry, "kernel.so", so->at, so->n, true) &&
              file_write(entry, "manifest", text.at, text.n, true) &&
              fsync(entry) == 0;
    blob_free(&text);
    return ok;
}

/* Two may publish the same key: the second rename finds a directory that
 * isn't empty and fails, and what it wrote is dropped.  Entries of one key
 * are interchangeable, whoever wins. */
bool
cache_put(const Cache *cache, const Manifest *manifest, const Blob *so)
{
    char temp[64];
    int shard = open_shard(cache, manifest->key, true);
    int entry = shard >= 0 ? dir_temp(cache->root, "tmp-", temp) : -1;
    bool ok = false;
    if (entry >= 0) {
        ok = fill_entry(entry, manifest, so) &&
             renameat(cache->root, temp, shard,
                      manifest->key + SHARD_DIGITS) == 0;
        close(entry);
        if (!ok) {
            dir_remove(cache->root, temp);
        }
    }
    if (shard >= 0) {
        close(shard);
    }
    if (ok) {
        tidy(cache, so->n);
    }
    return ok;
}

/* --- Locks ---------------------------------------------------------------- */

/* One file per key, in the root: its shard may not exist yet. */
static void
lock_name(const char *key, char name[64])
{
    snprintf(name, 64, "lock-%.40s", key);
}

/* flock's lock goes with the process that holds it, so none is ever stale.
 * File systems without it, and a wait that is too long, give -1: the work is
 * then done twice, with the same result. */
int
cache_lock(const Cache *cache, const char *key, double seconds)
{
    char name[64];
    struct stat st;
    lock_name(key, name);
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = cache->root < 0 ? -1 : openat(cache->root, name, flags, 0600);
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return -1;
    }
    double deadline = clock_seconds() + seconds;
    double pause = 0.001;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (!held || clock_seconds() > deadline) {
            close(fd);
            return -1;
        }
        struct timespec nap = {0, (long)(pause * 1e9)};
        nanosleep(&nap, NULL);
        pause = pause < 0.02 ? pause * 1.5 : pause;
    }
    return fd;
}

/* The name goes first: who waits has the old file open, gets the lock, and
 * finds the entry. */
void
cache_unlock(const Cache *cache, const char *key, int held)
{
    char name[64];
    if (held >= 0) {
        lock_name(key, name);
        unlinkat(cache->root, name, 0);
        flock(held, LOCK_UN);
        close(held);
    }
}

/* --- Notes ---------------------------------------------------------------- */

/* A note is only a hint: who reads it checks it. */
bool
cache_get_note(const Cache *cache, const char *name, Blob *out)
{
    return cache->root >= 0 && file_read(cache->root, name, NOTE_LIMIT, out);
}

/* By one rename as well, but not down to the disk: a lost note is found out
 * again. */
void
cache_put_note(const Cache *cache, const char *name, const Blob *text)
{
    char temp[64];
    int fd = cache->root >= 0 ? dir_temp(cache->root, "tmp-", temp) : -1;
    if (fd >= 0) {
        if (file_write(fd, "note", text->at, text->n, false)) {
            renameat(fd, "note", cache->root, name);
        }
        close(fd);
        dir_remove(cache->root, temp);
    }
}

/* --- For people ----------------------------------------------------------- */

/* An EntryVisitor: add to the CacheInfo 'data'. */
static void
count_entry(void *data, int root, int shard, const char *name,
            const char *key)
{
    CacheInfo *info = data;
    long long bytes = 0;
    long long when;
    (void)root;
    (void)key;
    if (measure(shard, name, &bytes, &when)) {
        info->entries++;
        info->bytes += bytes;
    }
}

/* Sizes are those of the objects alone. */
void
cache_info(CacheInfo *out)
{
    Cache cache;
    cache_open(&cache);
    memset(out, 0, sizeof(*out));
    memcpy(out->dir, cache.dir, sizeof(out->dir));
    memcpy(out->why, cache.why, sizeof(out->why));
    if (cache.root >= 0) {
        each_entry(cache.root, count_entry, out);
    }
    cache_close(&cache);
}

bool
cache_usable(char *why)
{
    Cache cache;
    cache_open(&cache);
    bool usable = cache.root >= 0;
    memcpy(why, cache.why, WHY);
    cache_close(&cache);
    return usable;
}

/* An EntryVisitor: remove, and count in the int 'data'. */
static void
clear_entry(void *data, int root, int shard, const char *name,
            const char *key)
{
    (void)key;
    remove_entry(root, shard, name);
    ++*(int *)data;
}

/* Notes and what killed processes left; a "tmp-" or "lock-" younger than an
 * hour may be in use. */
static void
clear_note(void *data, int dir, const char *name)
{
    (void)data;
    if (strncmp(name, "cc-", 3) == 0 || strcmp(name, COUNT_NAME) == 0) {
        unlinkat(dir, name, 0);
    }
}

/* Only what is recognised as ours goes; the directories stay. */
int
cache_clear(void)
{
    Cache cache;
    int removed = 0;
    cache_open(&cache);
    if (cache.root >= 0) {
        each_entry(cache.root, clear_entry, &removed);
        dir_each(cache.root, clear_note, NULL);
        dir_collect(cache.root, "tmp-");
        dir_collect(cache.root, "lock-");
    }
    cache_close(&cache);
    return removed;
}

/* An EntryVisitor: append the key of a bad entry and a newline to the Blob
 * 'data'.  Unlike cache_get it removes nothing. */
static void
verify_entry(void *data, int root, int shard, const char *name,
             const char *key)
{
    char why[WHY];
    Blob so = {0};
    Blob *bad = data;
    (void)root;
    int entry = dir_open_at(shard, name, false, why);
    if (entry < 0 || !read_entry(entry, key, &so)) {
        blob_add(bad, key, KEY_SIZE - 1);
        blob_add(bad, "\n", 1);
    }
    if (entry >= 0) {
        close(entry);
    }
    blob_free(&so);
}

/* Appends the keys of bad entries to 'report', one a line. */
int
cache_verify(Str *report)
{
    Cache cache;
    Blob bad = {0};
    cache_open(&cache);
    if (cache.root >= 0) {
        each_entry(cache.root, verify_entry, &bad);
    }
    cache_close(&cache);
    int n = (int)(bad.n / KEY_SIZE);
    if (n > 0) {
        str_add_n(report, bad.at, bad.n);
    }
    blob_free(&bad);
    return n;
}
