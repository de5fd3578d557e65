/* Parallel loops: every round once, the lowest failure wins, flags, warnings
 * and modes travel, and nothing hangs: nested, forked, many callers at once.
 */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "csrc/run/parts.h"

enum { MOST = 5000, CALLERS = 8 };
static const int counts[] = {1, 2, 5};
static const double worth_it = 1e6; /* ns a round: always parallel */

static int failures;
static VzHost host;
static unsigned char seen[MOST];

static void
expect(bool ok, const char *what, long detail)
{
    if (!ok) {
        printf("wrong: %s (%ld)\n", what, detail);
        failures++;
    }
}

static VzCtx
fresh(void)
{
    return (VzCtx){.host = &host, .fuel = 1000};
}

static int
mark(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)ctx;
    (void)env;
    for (int64_t i = lo; i < hi; i++) {
        __atomic_fetch_add(&seen[i], 1, __ATOMIC_RELAXED);
    }
    return VZ_OK;
}

static void
check_coverage(int64_t n, double cost)
{
    VzCtx ctx = fresh();
    memset(seen, 0, sizeof(seen));
    int status = threads_parallel_for(&ctx, mark, NULL, 3, n, cost);
    expect(status == VZ_OK, "status", status);
    for (int64_t i = 0; i < MOST; i++) {
        expect(seen[i] == (i >= 3 && i < n), "rounds", (long)i);
    }
}

/* Fails at rounds of a list; the status tells which one it was. */
typedef struct Faults {
    const int64_t *at;
    int n;
} Faults;

static int
fail_at(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const Faults *faults = env;
    (void)ctx;
    for (int64_t i = lo; i < hi; i++) {
        for (int k = 0; k < faults->n; k++) {
            if (faults->at[k] == i) {
                return i % 2 ? VZ_BAIL : VZ_REPLAY;
            }
        }
    }
    return VZ_OK;
}

static void
check_first_failure(void)
{
    static const int64_t lists[][3] = {{0, 999, 500}, {999, 998, 997},
                                       {1, 2, 0},     {501, 500, 502},
                                       {333, 777, 1}, {499, 500, 998}};
    for (int i = 0; i < 6; i++) {
        Faults faults = {lists[i], 3};
        int64_t least = lists[i][0];
        for (int k = 1; k < 3; k++) {
            least = lists[i][k] < least ? lists[i][k] : least;
        }
        for (int round = 0; round < 20; round++) {
            VzCtx ctx = fresh();
            int got = threads_parallel_for(&ctx, fail_at, &faults, 0, 1000,
                                           worth_it);
            int want = least % 2 ? VZ_BAIL : VZ_REPLAY;
            expect(got == want, "the lowest failure", (long)least);
        }
    }
}

/* A long range must end soon after a lower one has failed. */
static int
wait_for_stop(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)env;
    (void)hi;
    if (lo == 0) {
        usleep(2000);
        return VZ_REPLAY;
    }
    while (ctx->host->poll(ctx) == VZ_OK) {
        usleep(100);
    }
    return VZ_BAIL;
}

static void
check_stop(void)
{
    VzCtx ctx = fresh();
    int status =
        threads_parallel_for(&ctx, wait_for_stop, NULL, 0, 2, worth_it);
    expect(status == VZ_REPLAY, "stopped ranges don't count", status);
}

static int polls;
static _Thread_local bool is_caller;

static int
interrupt(VzCtx *ctx)
{
    ctx->fuel = 77;
    int n = __atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED);
    return n >= 3 ? VZ_INTERRUPT : VZ_OK;
}

/* Only the caller polls; on a busy machine it may be the last to get a
 * processor, so the others leave it time. */
static int
count_rounds(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)ctx;
    __atomic_fetch_add((int *)env, (int)(hi - lo), __ATOMIC_RELAXED);
    usleep(200);
    for (int k = 0; k < 1000 && !is_caller; k++) {
        if (__atomic_load_n(&polls, __ATOMIC_RELAXED) >= 3) {
            break;
        }
        usleep(200);
    }
    return VZ_OK;
}

static void
check_interrupt(void)
{
    int rounds = 0;
    VzCtx ctx = fresh();
    polls = 0;
    is_caller = true;
    host.poll = interrupt;
    int status = threads_parallel_for(&ctx, count_rounds, &rounds, 0, 2000,
                                      worth_it);
    host.poll = NULL;
    expect(status == VZ_INTERRUPT, "interrupt", status);
    expect(rounds < 2000, "the rest was left out", rounds);
    expect(ctx.fuel == 77, "fuel comes back", (long)ctx.fuel);
}

static int
divide(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    volatile double *values = env;
    for (int64_t i = lo; i < hi; i++) {
        values[i] = 1.0 / values[i];
        ctx->warn |= i == 90 ? 4u : i == 10 ? 1u : 0;
    }
    usleep(500);
    return VZ_OK;
}

static void
check_flags(void)
{
    double values[100];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) {
            values[i] = round == 0 && i == 90 ? 0 : 2;
        }
        VzCtx ctx = fresh();
        feclearexcept(FE_ALL_EXCEPT);
        threads_parallel_for(&ctx, divide, values, 0, 100, worth_it);
        int flags = (int)ctx.fpflags | fetestexcept(FE_ALL_EXCEPT);
        expect(flags == (round == 0 ? FE_DIVBYZERO : 0), "flags", flags);
        expect(ctx.warn == 5, "warn bits", (long)ctx.warn);
    }
}

static int
look_at_mode(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)ctx;
    (void)lo;
    (void)hi;
    usleep(300);
    if (fegetround() != FE_UPWARD) {
        *(int *)env = 1;
    }
    return VZ_OK;
}

static void
check_mode(void)
{
    int wrong = 0;
    VzCtx ctx = fresh();
    fesetround(FE_UPWARD);
    threads_parallel_for(&ctx, look_at_mode, &wrong, 0, 50, worth_it);
    fesetround(FE_TONEAREST);
    expect(!wrong, "rounding mode in workers", 0);
}

static int
same_thread(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)ctx;
    (void)lo;
    (void)hi;
    return pthread_equal(*(pthread_t *)env, pthread_self()) ? VZ_OK
                                                            : VZ_BAIL;
}

static int
nested(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)env;
    (void)lo;
    (void)hi;
    pthread_t self = pthread_self();
    if (!threads_inside()) {
        return VZ_NOMEM;
    }
    return threads_parallel_for(ctx, same_thread, &self, 0, 100, worth_it);
}

/* What must run on the calling thread alone. */
static void
check_serial(void)
{
    VzCtx ctx = fresh();
    pthread_t self = pthread_self();
    expect(threads_parallel_for(&ctx, same_thread, &self, 0, 1000, 1) == VZ_OK,
           "little work is serial", 0);
    expect(!threads_inside(), "outside", 0);
}

static void
check_nested(void)
{
    threads_set(2);
    VzCtx ctx = fresh();
    int status = threads_parallel_for(&ctx, nested, NULL, 0, 20, worth_it);
    expect(status == VZ_OK, "nested loops are serial", status);
}

static void
check_fork(void)
{
    threads_set(2);
    check_coverage(MOST, worth_it);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        failures = 0;
        check_coverage(MOST, worth_it);
        check_serial();
        _exit(failures != 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    expect(status == 0, "loops in a forked child", status);
    check_coverage(MOST, worth_it);
}

static int running;
static int peak;

static int
count_running(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    (void)ctx;
    int64_t *sum = env;
    int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    int before = __atomic_load_n(&peak, __ATOMIC_SEQ_CST);
    while (now > before &&
           !__atomic_compare_exchange_n(&peak, &before, now, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    usleep(50);
    __atomic_fetch_add(sum, (lo + hi - 1) * (hi - lo) / 2, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    return VZ_OK;
}

static void *
call_often(void *data)
{
    (void)data;
    for (int i = 0; i < 20; i++) {
        int64_t sum = 0;
        VzCtx ctx = fresh();
        threads_parallel_for(&ctx, count_running, &sum, 0, 100, worth_it);
        expect(sum == 4950, "sums of callers at once", (long)sum);
    }
    return NULL;
}

/* No more threads than callers, or than threads_get() where that is more. */
static void
check_many_callers(void)
{
    pthread_t callers[CALLERS];
    threads_set(5);
    for (int i = 0; i < CALLERS; i++) {
        pthread_create(&callers[i], NULL, call_often, NULL);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
    }
    expect(peak <= CALLERS + 4, "threads at once", peak);
}

/* Where the system refuses threads, loops run with fewer, or serially. */
static void
check_starved(void)
{
    char line[256];
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fgets(line, sizeof(line), file)) {
        pages = atol(line);
    }
    if (file) {
        fclose(file);
    }
    rlim_t bytes = (rlim_t)pages * 4096 + (20 << 20);
    struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    threads_set(50);
    check_coverage(MOST, worth_it);
    check_coverage(MOST, worth_it);
}

static void
check_with(int threads)
{
    static const double costs[] = {0, 0.5, 100, 3000, 1e9, -1};
    threads_set(threads);
    expect(threads_get() == threads, "threads_get", threads_get());
    for (int64_t n = 0; n < 40; n++) {
        check_coverage(n, worth_it);
    }
    for (int k = 0; k < 6; k++) {
        check_coverage(MOST, costs[k]);
    }
    check_first_failure();
    check_flags();
    check_serial();
    if (threads > 1) {
        check_stop();
        check_interrupt();
        check_mode();
    }
}

int
main(int argc, char **argv)
{
    alarm(60);
    host_init(&host);
    if (argc > 1 && strcmp(argv[1], "starved") == 0) {
        check_starved();
        printf("failures %d\n", failures);
        return failures != 0;
    }
    for (int i = 0; i < 3; i++) {
        check_with(counts[i]);
    }
    check_nested();
    check_many_callers();
    check_fork();
    printf("failures %d\n", failures);
    return failures != 0;
}
