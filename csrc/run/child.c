/* Running the C compiler as a child that can't hurt us.
 *
 * No shell is involved: argv[0] is an absolute path and the words are passed
 * as they are.  The child gets
 *
 *   - an environment of PATH (absolute parts only), HOME, TMPDIR=. and LANG=C:
 *     CPATH, LD_PRELOAD, GCC_EXEC_PREFIX and the like don't reach it;
 *   - the given directory as its own, /dev/null to read, one pipe for both
 *     outputs, and no other open file;
 *   - limits on time, memory and file size, and no core dump;
 *   - a process group of its own, which is killed as a whole at the end, so
 *     that what it left in the background goes too.
 *
 * vfork rather than posix_spawn, because limits must be in place before the
 * program starts and its own children with it; rather than fork, because it
 * copies no page tables of a large process and runs no atfork handlers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "csrc/run/parts.h"

/* A compiler needs less than 1 GiB and writes less than 1 MiB. */
enum {
    DEFAULT_TIMEOUT = 60,
    DEFAULT_DEADLINE = 5,
    LARGEST_TIMEOUT = 86400,
    READS_AT_ONCE = 64,
};
static const rlim_t memory_limit = (rlim_t)8 << 30;
static const rlim_t file_limit = (rlim_t)256 << 20;

/* What the child needs, prepared before the fork. */
typedef struct Start {
    const char *const *argv;
    char *const *environment;
    int cwd;        /* a directory */
    int null;       /* its stdin */
    int output;     /* its stdout and stderr */
    double timeout; /* seconds */
    double cpu;     /* of a processor, for each process */
    StopTest *stop; /* or NULL */
} Start;

/* Anything that isn't a positive number means the default. */
static double
read_seconds(const char *name, double seconds)
{
    number_read(getenv(name), 0.001, &seconds);
    return seconds < LARGEST_TIMEOUT ? seconds : LARGEST_TIMEOUT;
}

double
cc_timeout(void)
{
    return read_seconds("VIZGEN_CC_TIMEOUT", DEFAULT_TIMEOUT);
}

/* The system counts whole seconds. */
double
cc_deadline(void)
{
    double seconds = read_seconds("VIZGEN_CC_DEADLINE", DEFAULT_DEADLINE);
    double whole = (double)(int64_t)seconds;
    return whole < seconds ? whole + 1 : whole;
}

/* --- In the child, between vfork and exec: system calls only -------------- */

/* Lower a limit, hard and soft, to 'most'; one that is lower stays. */
static void
limit(unsigned what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now) == 0) {
        rlim_t hard = now.rlim_max < most ? now.rlim_max : most;
        struct rlimit set = {hard, hard};
        setrlimit(what, &set);
    }
}

/* The program starts with what a shell would give it: no signal ignored (a
 * Python parent ignores SIGPIPE) and none held back. */
static void
reset_signals(void)
{
    struct sigaction act = {.sa_handler = SIG_DFL};
    for (int i = 1; i < NSIG; i++) {
        sigaction(i, &act, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Linux before 5.9 has no close_range; there, close one by one. */
static void
close_from(unsigned first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) {
        return;
    }
#endif
    struct rlimit files = {65536, 65536};
    getrlimit(RLIMIT_NOFILE, &files);
    unsigned end = files.rlim_cur < 65536 ? (unsigned)files.rlim_cur : 65536;
    for (unsigned fd = first; fd < end; fd++) {
        close((int)fd);
    }
}

/* Returns only when the program could not be started.  The order matters:
 * the limits come last but for the signals, since a CPU limit of a second
 * must not hit us; and the child dies with the thread that waits for it, so
 * that a killed process leaves no compiler behind. */
static void
become(const Start *start)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fchdir(start->cwd) != 0 || dup2(start->null, 0) < 0 ||
        dup2(start->output, 1) < 0 || dup2(start->output, 2) < 0) {
        return;
    }
    close_from(3);
    limit(RLIMIT_CPU, (rlim_t)start->cpu);
    limit(RLIMIT_AS, memory_limit);
    limit(RLIMIT_FSIZE, file_limit);
    limit(RLIMIT_CORE, 0);
    umask(077);
    reset_signals();
    char *const *argv = (char *const *)(uintptr_t)start->argv;
    execve(argv[0], argv, start->environment);
}

/* All signals are held back while parent and child share their memory, or a
 * handler of ours would run in the child.  '*error' is the child's errno: it
 * comes through the shared memory, which is why the variable is volatile.
 * The parent goes on when the child has started its program or given up. */
static pid_t
start_child(const Start *start, int *error)
{
    sigset_t all;
    sigset_t before;
    volatile int failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork();
    if (pid == 0) {
        become(start);
        failed = errno;
        _exit(127);
    }
    int fork_errno = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *error = pid < 0 ? fork_errno : failed;
    if (pid > 0 && failed) {
        waitpid(pid, NULL, 0);
    }
    return failed ? -1 : pid;
}

/* --- The environment ------------------------------------------------------ */

/* Add 'from' (a PATH) to 'out' without empty and relative parts, which mean
 * "wherever one happens to be". */
static bool
add_path(Blob *out, const char *from)
{
    bool ok = blob_addf(out, "PATH=");
    const char *colon = "";
    while (ok && *from) {
        size_t n = strcspn(from, ":");
        if (n > 0 && from[0] == '/') {
            ok = blob_addf(out, "%s%.*s", colon, (int)n, from);
            colon = ":";
        }
        from += n + (from[n] == ':');
    }
    return ok;
}

typedef struct Environment {
    Blob path;
    Blob home;
    char *list[6];
} Environment;

/* All the compiler gets to know.  A TMPDIR of "." is its working directory,
 * which is removed afterwards. */
static bool
make_environment(Environment *env)
{
    static char tmpdir[] = "TMPDIR=.";
    static char lang[] = "LANG=C";
    static char all[] = "LC_ALL=C";
    const char *path = getenv("PATH");
    const char *home = getenv("HOME");
    if (!add_path(&env->path, path ? path : "/usr/local/bin:/usr/bin:/bin") ||
        !blob_addf(&env->home, "HOME=%s", home ? home : "/")) {
        return false;
    }
    char *list[] = {env->path.at, env->home.at, tmpdir, lang, all, NULL};
    memcpy(env->list, list, sizeof(list));
    return true;
}

/* --- In the parent -------------------------------------------------------- */

/* Read what there is, but not for ever from a child that never stops; beyond
 * OUTPUT_LIMIT it is dropped, so that the child isn't stopped by a full pipe.
 * False at the end of the stream. */
static bool
drain(int fd, Blob *output)
{
    char part[16384];
    for (int i = 0; i < READS_AT_ONCE; i++) {
        ssize_t got = read(fd, part, sizeof(part));
        if (got > 0 && output->n < OUTPUT_LIMIT) {
            size_t room = OUTPUT_LIMIT - output->n;
            blob_add(output, part, (size_t)got < room ? (size_t)got : room);
        }
        if (got == 0) {
            return false;
        }
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
    }
    return true;
}

/* 1: it ended (and is not reaped yet), 0: not yet, -1: no such child. */
static int
has_ended(pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == EINTR ? 0 : -1;
    }
    return info.si_pid == pid;
}

/* Less than a second. */
static void
nap(double seconds)
{
    struct timespec ts = {0, (long)(seconds * 1e9)};
    nanosleep(&ts, NULL);
}

/* Collect output until the child has ended, 'deadline' or 'stop'; as has_ended,
 * and 0 if it has not.  Its background children may keep the pipe open, and it
 * may close the pipe and live on, so neither alone decides.  Usually the pipe
 * closes with the compiler's end, which wakes the poll, and the first short
 * naps catch the rest: an end is seen within 0.2 ms. */
static int
watch(pid_t pid, int fd, double deadline, StopTest *stop, Blob *output)
{
    bool open = true;
    double pause = 0.0001;
    for (;;) {
        if (open) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            poll(&wait, 1, 10);
            open = drain(fd, output);
        } else {
            nap(pause);
            pause = pause < 0.005 ? pause * 1.5 : pause;
        }
        int ended = has_ended(pid);
        if (ended != 0) {
            drain(fd, output);
            return ended;
        }
        if (clock_seconds() > deadline || (stop != NULL && stop())) {
            return 0;
        }
    }
}

/* Kill the group, then reap: until then its number can't be taken.
 *
 * Where SIGCHLD is ignored, or another part of the process waits for any
 * child, the status is lost.  The run then counts as good, and what it wrote
 * must stand the test of load.c. */
static void
finish(pid_t pid, int ended, double timeout, ChildEnd *out)
{
    int status = 0;
    if (ended < 0) {
        out->lost = true; /* SIGCHLD is ignored, or another waiter got it */
        out->ok = true;
        return;
    }
    struct rusage used = {0};
    kill(-pid, SIGKILL);
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
    }
    out->cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    if (ended == 0) {
        snprintf(out->why, WHY, "no end after %g s (VIZGEN_CC_TIMEOUT)",
                 timeout);
    } else if (WIFSIGNALED(status)) {
        snprintf(out->why, WHY, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(out->why, WHY, "exit status %d", WEXITSTATUS(status));
    } else {
        out->ok = true;
    }
}

/* Move '*fd' above the three standard files, whose numbers it takes when the
 * host has closed them. */
static bool
lift(int *fd)
{
    if (*fd >= 0 && *fd < 3) {
        int high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
        close(*fd);
        *fd = high;
    }
    return *fd >= 0;
}

/* Our own writing end of the pipe is closed at once, or its end would never
 * be seen. */
static void
run_with(Start *start, int pipe_fd[2], ChildEnd *out)
{
    int error = 0;
    fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK);
    double begin = clock_seconds();
    pid_t pid = start_child(start, &error);
    close(pipe_fd[1]);
    pipe_fd[1] = -1;
    if (pid < 0) {
        snprintf(out->why, WHY, "can't be started: %s", strerror(error));
        return;
    }
    int ended = watch(pid, pipe_fd[0], begin + start->timeout, start->stop,
                      &out->output);
    finish(pid, ended, start->timeout, out);
    out->seconds = clock_seconds() - begin;
}

/* Never fails otherwise than by !out->ok and a reason.  A signal that comes
 * meanwhile is handled by its handler and the wait goes on, unless 'stop' says
 * otherwise; the child is in another process group, so Ctrl-C at a terminal
 * doesn't reach it. */
void
child_run(const char *const *argv, int cwd, double timeout, double cpu,
          StopTest *stop, ChildEnd *out)
{
    Environment env = {0};
    int pipe_fd[2] = {-1, -1};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int dir = fcntl(cwd, F_DUPFD_CLOEXEC, 3);
    *out = (ChildEnd){0};
    if (pipe2(pipe_fd, O_CLOEXEC) == 0 && dir >= 0 && lift(&null) &&
        lift(&pipe_fd[0]) && lift(&pipe_fd[1]) && make_environment(&env)) {
        Start start = {argv,       env.list, dir, null,
                       pipe_fd[1], timeout,  cpu, stop};
        run_with(&start, pipe_fd, out);
    } else {
        snprintf(out->why, WHY, "can't be started: %s", strerror(errno));
    }
    int fds[] = {null, dir, pipe_fd[0], pipe_fd[1]};
    for (int i = 0; i < 4; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    blob_free(&env.path);
    blob_free(&env.home);
}
