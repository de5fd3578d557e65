/* Files and directories that nobody else can have prepared for us.
 *
 * The cache holds native code, so whoever can write to it owns the user.  Its
 * directory is therefore reached from "/" one name at a time, each opened
 * relative to the one before, and
 *
 *   - the last directory must be a directory, not a symlink, owned by us,
 *     and not writable by group or others;
 *   - a directory above it may belong to anyone, but must not be writable by
 *     everyone unless it is sticky (as /tmp), or others could exchange ours;
 *   - a symlink above it is followed only if it belongs to us or to root
 *     (homes often live behind one).
 *
 * All later work is relative to that open directory and never follows a
 * symlink, so a path that is exchanged afterwards changes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "csrc/run/parts.h"

enum { MAX_LINKS = 16, MAX_DEPTH = 8, STALE_SECONDS = 3600 };
enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* --- Bytes ---------------------------------------------------------------- */

/* Room for 'n' more bytes and the closing zero. */
static bool
blob_room(Blob *blob, size_t n)
{
    if (blob->cap - blob->n > n) {
        return true;
    }
    size_t cap = blob->cap * 2 > blob->n + n + 1 ? blob->cap * 2
                                                 : blob->n + n + 1;
    char *at = realloc(blob->at, cap);
    if (!at) {
        return false;
    }
    blob->at = at;
    blob->cap = cap;
    return true;
}

bool
blob_add(Blob *blob, const void *bytes, size_t n)
{
    if (!blob_room(blob, n)) {
        return false;
    }
    if (n > 0) {
        memcpy(blob->at + blob->n, bytes, n);
    }
    blob->n += n;
    blob->at[blob->n] = '\0';
    return true;
}

bool
blob_addf(Blob *blob, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        return false;
    }
    bool ok = blob_add(blob, text, (size_t)n);
    free(text);
    return ok;
}

void
blob_free(Blob *blob)
{
    free(blob->at);
    *blob = (Blob){0};
}

/* --- Walking -------------------------------------------------------------- */

/* Where a walk is: the directory reached, and the way still to go. */
typedef struct Walk {
    int at;                  /* open with O_PATH */
    int links;               /* symlinks followed so far */
    char rest[2 * PATH_MAX]; /* grows by the targets of symlinks */
    char name[NAME_MAX + 1]; /* the next step, taken off "rest" */
} Walk;

/* Take the next name off "rest"; false at the end. */
static bool
next_name(Walk *walk)
{
    char *from = walk->rest + strspn(walk->rest, "/");
    size_t n = strcspn(from, "/");
    if (n == 0) {
        return false;
    }
    if (n > NAME_MAX) {
        n = NAME_MAX; /* such a name doesn't exist, and can't be made */
    }
    memcpy(walk->name, from, n);
    walk->name[n] = '\0';
    memmove(walk->rest, from + n, strlen(from + n) + 1);
    return true;
}

/* Is walk->name the last one? */
static bool
at_end(const Walk *walk)
{
    return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* Go on from 'fd', which may be -1: the next openat then fails. */
static void
step_to(Walk *walk, int fd)
{
    close(walk->at);
    walk->at = fd;
}

/* A reason that names the part of the path at fault. */
static const char *
refuse(char *why, const char *name, const char *reason)
{
    snprintf(why, WHY, "'%.200s' %s", name, reason);
    return why;
}

/* Put the target of the symlink walk->name in front of the rest:
 *
 *     /home/u/.cache, "home" -> "data/h"    =>   data/h/u/.cache
 *
 * Who owns a symlink decided where it points, so it must be root or us. */
static bool
follow(Walk *walk, char *why)
{
    struct stat st;
    char target[PATH_MAX];
    char rest[2 * PATH_MAX];
    ssize_t n = -1;
    if (fstatat(walk->at, walk->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(st.st_mode)) {
        n = readlinkat(walk->at, walk->name, target, sizeof(target) - 1);
    }
    if (n <= 0) {
        refuse(why, walk->name, "is not a directory");
        return false;
    }
    if (st.st_uid != 0 && st.st_uid != geteuid()) {
        refuse(why, walk->name, "is a symlink of another user");
        return false;
    }
    target[n] = '\0';
    int length = snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest);
    if (++walk->links > MAX_LINKS || length >= (int)sizeof(rest)) {
        refuse(why, walk->name, "leads through too many symlinks");
        return false;
    }
    memcpy(walk->rest, rest, (size_t)length + 1);
    if (target[0] == '/') {
        step_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    return true;
}

/* Enter walk->name, a directory above the last one.  That another user owns
 * it is normal (homes lie in root's or an administrator's directories); that
 * anyone may rename in it is not. */
static bool
step(Walk *walk, bool create, char *why)
{
    int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(walk->at, walk->name, flags);
    if (fd < 0 && errno == ENOENT && create) {
        mkdirat(walk->at, walk->name, 0700);
        fd = openat(walk->at, walk->name, flags);
    }
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
        return follow(walk, why);
    }
    if (fd < 0) {
        refuse(why, walk->name, strerror(errno));
        return false;
    }
    step_to(walk, fd);

    struct stat st;
    if (fstat(fd, &st) != 0 ||
        ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))) {
        refuse(why, walk->name, "is writable by everyone");
        return false;
    }
    return true;
}

/* Intermediate directories are opened with O_PATH: one may pass through a
 * directory (a parent of many homes) without being allowed to list it. */
int
dir_open(const char *path, bool create, char *why)
{
    Walk walk = {.at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    int fd = -1;
    why[0] = '\0';
    if (path[0] != '/' || strlen(path) >= PATH_MAX) {
        refuse(why, path, "is not an absolute path");
    } else {
        memcpy(walk.rest, path, strlen(path) + 1);
        bool more = next_name(&walk);
        while (more && !at_end(&walk)) {
            more = step(&walk, create, why) && next_name(&walk);
        }
        if (more) {
            fd = dir_open_at(walk.at, walk.name, create, why);
        } else if (!why[0]) {
            refuse(why, path, "is not a place for files");
        }
    }
    if (walk.at >= 0) {
        close(walk.at);
    }
    return fd;
}

/* Why the open directory 'fd' is not ours alone; NULL when it is.  Others may
 * read it: kernels are no secret, and the modes we make forbid it anyway. */
static const char *
fault_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return strerror(errno);
    }
    if (st.st_uid != geteuid()) {
        return "belongs to another user";
    }
    if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        return "is writable by others";
    }
    return NULL;
}

/* A directory made here is 0700 from the start, whatever the umask.  If
 * somebody else makes one of the same name first, it is judged like any
 * other. */
int
dir_open_at(int parent, const char *name, bool create, char *why)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        refuse(why, name, "is not a place for files");
        return -1;
    }
    int fd = openat(parent, name, OPEN_DIR);
    if (fd < 0 && errno == ENOENT && create) {
        if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
            refuse(why, name, strerror(errno));
            return -1;
        }
        fd = openat(parent, name, OPEN_DIR);
    }
    if (fd < 0) {
        bool link = errno == ELOOP || errno == ENOTDIR;
        refuse(why, name, link ? "is not a directory, or is a symlink"
                               : strerror(errno));
        return -1;
    }
    const char *fault = fault_of(fd);
    if (fault) {
        refuse(why, name, fault);
        close(fd);
        return -1;
    }
    return fd;
}

/* --- Temporary directories ------------------------------------------------ */

/* 64 random bits in the name: nobody can have made it beforehand, and
 * EEXIST only means to try again. */
int
dir_temp(int parent, const char *prefix, char name[64])
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
            return -1;
        }
        snprintf(name, 64, "%.40s%016llx", prefix, (unsigned long long)random);
        if (mkdirat(parent, name, 0700) == 0) {
            char why[WHY];
            return dir_open_at(parent, name, false, why);
        }
        if (errno != EEXIST) {
            return -1;
        }
    }
    return -1;
}

/* Through a descriptor of its own, so that 'visit' may open and remove what
 * it likes. */
void
dir_each(int dir, void (*visit)(void *data, int dir, const char *name),
         void *data)
{
    int fd = openat(dir, ".", OPEN_DIR);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (struct dirent *e = readdir(stream); e; e = readdir(stream)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            visit(data, dir, e->d_name);
        }
    }
    closedir(stream);
}

/* Remove 'name', and first what is in it if it is a directory; 'data' is the
 * depth.  A symlink can't be opened as a directory here, so it is unlinked. */
static void
remove_below(void *data, int dir, const char *name)
{
    int depth = *(int *)data + 1;
    int fd = depth <= MAX_DEPTH ? openat(dir, name, OPEN_DIR) : -1;
    if (fd < 0) {
        unlinkat(dir, name, 0);
        return;
    }
    dir_each(fd, remove_below, &depth);
    close(fd);
    unlinkat(dir, name, AT_REMOVEDIR);
}

/* Errors are ignored: what stays is collected later. */
void
dir_remove(int parent, const char *name)
{
    int depth = 0;
    remove_below(&depth, parent, name);
}

/* An hour is far above what a compile may take.  A clock that was set back
 * keeps leftovers longer, nothing worse. */
static void
remove_stale(void *data, int dir, const char *name)
{
    const char *prefix = data;
    struct stat st;
    if (strncmp(name, prefix, strlen(prefix)) == 0 &&
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_uid == geteuid() && time(NULL) - st.st_mtime > STALE_SECONDS) {
        dir_remove(dir, name);
    }
}

void
dir_collect(int parent, const char *prefix)
{
    char copy[64];
    snprintf(copy, sizeof(copy), "%s", prefix);
    dir_each(parent, remove_stale, copy);
}

/* --- Whole files ---------------------------------------------------------- */

/* Exactly 'size' bytes; fewer mean that the file shrank meanwhile. */
static bool
read_all(int fd, size_t size, Blob *out)
{
    if (!blob_room(out, size)) {
        return false;
    }
    while (out->n < size) {
        ssize_t got = read(fd, out->at + out->n, size - out->n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        out->n += (size_t)got;
    }
    out->at[out->n] = '\0';
    return true;
}

/* O_NONBLOCK: a FIFO put in the file's place must not stop us.  One link: a
 * second name could be in a directory where others may write through it.  All
 * is asked of the open file, so it holds for the bytes that are read. */
bool
file_read(int dir, const char *name, size_t limit, Blob *out)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = openat(dir, name, flags);
    if (fd < 0) {
        return false;
    }
    struct stat st;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              st.st_uid == geteuid() && st.st_nlink == 1 &&
              !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size >= 0 &&
              (uint64_t)st.st_size <= limit &&
              read_all(fd, (size_t)st.st_size, out);
    close(fd);
    return ok;
}

/* A FIFO is not waited for. */
bool
file_load(const char *path, size_t limit, Blob *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return false;
    }
    struct stat st;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 &&
              (uint64_t)st.st_size <= limit &&
              read_all(fd, (size_t)st.st_size, out);
    close(fd);
    return ok;
}

/* A disk that is full shows as a short or failed write. */
static bool
write_all(int fd, const char *at, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        at += put;
        n -= (size_t)put;
    }
    return true;
}

/* O_EXCL: it must be a new file.  One that could not be written whole is
 * removed again. */
bool
file_write(int dir, const char *name, const void *bytes, size_t n, bool sync)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags, 0600);
    if (fd < 0) {
        return false;
    }
    bool ok = write_all(fd, bytes, n) && (!sync || fsync(fd) == 0);
    ok = close(fd) == 0 && ok;
    if (!ok) {
        unlinkat(dir, name, 0);
    }
    return ok;
}
