/* The log of a tuning: JSON lines, appended, on disk before the next step.
 *
 * One line per measured variant.  Whatever ends the tuning (a second Ctrl-C,
 * a kill, the power), all lines but perhaps the last are whole; a reader
 * skips a line that does not parse, and a torn last line is closed before
 * the next one is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotune/tune.h"

static int
write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Close a line that an earlier writer left torn. */
static int
mend(int fd, const struct stat *st)
{
    char last = '\n';
    if (st->st_size > 0 && pread(fd, &last, 1, st->st_size - 1) != 1) {
        return errno ? errno : EIO;
    }
    return last == '\n' ? 0 : write_all(fd, "\n", 1);
}

static int
append(int fd, const char *text, size_t size)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        return EPERM;
    }
    int error = mend(fd, &st);
    if (!error) {
        error = write_all(fd, text, size);
    }
    if (!error) {
        error = write_all(fd, "\n", 1);
    }
    return !error && fsync(fd) != 0 ? errno : error;
}

/* Append the line 'text' (without its newline) to the file 'name' of the
 * private folder 'dir_fd', and wait until it is on disk.  Returns 0 or an
 * errno. */
int
log_append(int dir_fd, const char *name, const char *text, size_t size)
{
    int flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags, 0600);
    if (fd < 0) {
        return errno;
    }
    int error = append(fd, text, size);
    if (close(fd) != 0 && !error) {
        error = errno;
    }
    return error;
}
