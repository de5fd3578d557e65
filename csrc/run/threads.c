/* Parallel loops: the only place that knows of threads.
 *
 *     host->parallel_for(ctx, range7, &env, 0, h, 250.0)
 *
 * runs range7(ctx', &env, lo, hi) for disjoint pieces of [0, h) on several
 * threads and returns when all are done.  A kernel contains no call of a
 * threading library, so this file decides, for all of them:
 *
 *   how many     VzCtx.threads, threads_set, VIZGEN_THREADS, OpenMP's own
 *                setting, the cgroup's quota; and never more in the whole
 *                process, however many Python threads call at once;
 *   whether      not where the system refuses threads (OpenMP would end us),
 *                not inside another parallel region, not in a forked child
 *                (whose OpenMP team doesn't exist any more: it would wait for
 *                ever), not for little work;
 *   which piece  every thread owns a contiguous block, which it takes from
 *                the front in chunks; a thread that is done helps the others.
 *                Uniform work keeps its place in the caches, uneven work is
 *                balanced, and no result depends on who did what;
 *   failing      the status of the failed range with the lowest number is
 *                returned.  Ranges above it aren't started any more, those
 *                below it are finished, so the answer is the same for any
 *                number of threads.
 *
 * Each thread works on its own copy of the VzCtx, whose "host" is a copy of
 * the table with another 'poll': in a worker it only looks whether a lower
 * range has failed.  The copies' warn bits, and the workers' floating-point
 * flags, are gathered when a thread is done; of the failed check's numbers that
 * of the lowest range is kept.
 *
 * OpenMP's implicit barrier is all that is used of it.  ThreadSanitizer can't
 * see that barrier, so the build for it (make tsan) starts threads of its own.
 */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "csrc/run/parts.h"

enum {
    MAX_THREADS = 256,
    CHUNKS = 8,         /* of a block, when the work is worth it */
};

/* Nanoseconds of work below which a loop stays serial: a team that has just
 * run starts within 2 us, one that sleeps takes 10 to 50 (measured).  On a
 * machine with other work it may take milliseconds until a thread gets its
 * turn, and the estimates are bounds from above, so there is a margin.  A
 * thread is worth SHARE_NS of work; chunks are at least CHUNK_NS long, against
 * 0.1 us to fetch one. */
static const double hot_ns = 50e3;
static const double cold_ns = 100e3;
static const double share_ns = 10e3;
static const double chunk_ns = 10e3;
static const int64_t hot_for_ns = 1000000;

/* One thread's share, on a cache line of its own. */
typedef struct Block {
    _Alignas(64) int64_t next; /* atomic: the first round nobody has taken */
    int64_t end;
} Block;

/* One parallel loop while it runs, on its caller's stack. */
typedef struct Region {
    VzCtx *ctx;    /* the caller's own, for what is gathered */
    VzCtx start;   /* as it was before the loop: what the copies are made of,
                      since a thread may start when another is done */
    VzRange *body;
    void *env;
    VzHost host;   /* the table of the copies */
    fenv_t fenv;   /* the caller's rounding and flush-to-zero modes */
    int64_t chunk; /* rounds taken at a time */
    int nblocks;   /* as many as threads were asked for */
    int64_t failed; /* atomic: start of the lowest failed range */
    pthread_mutex_t lock;
    int status; /* of that range, and its check; under "lock" */
    int check;
    Block *blocks;
#ifdef VIZGEN_TSAN
    pthread_barrier_t *gate; /* NULL: nobody waits */
#endif
} Region;

/* What the current thread is doing: the loop, the start of its range, and
 * whether it is the thread that called (thread 0 of the team), the only one
 * that may poll the host, since signals and locks of the host are its. */
static _Thread_local Region *inside;
static _Thread_local int64_t inside_from;
static _Thread_local bool inside_caller;
static _Thread_local int64_t inside_fuelled; /* when a worker got fuel */

static bool forked;
static int chosen;      /* by threads_set; 0: the default */
static int active;      /* atomic: threads in parallel loops, process-wide */
static int64_t last_ns; /* atomic: when a team was last in use */

/* --- Forks ---------------------------------------------------------------- */

/* In the child only the forking thread is left.  It may have been inside a
 * team, which is gone as well. */
static void
after_fork(void)
{
    forked = true;
    active = 0;
}

/* Where the parent never used OpenMP there is no dead team to wait for. */
void
threads_trust_fork(void)
{
    forked = false;
}

/* When the library is loaded, since other libraries may start OpenMP's team
 * before our first loop. */
__attribute__((constructor)) static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* --- Can the threads be had? ---------------------------------------------- */

/* A thread that only shows that it exists, and waits until all do. */
static void *
stand_in_line(void *data)
{
    pthread_mutex_t *gate = data;
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many of 'n' threads can be alive at once, this one included.  OpenMP
 * ends the process when the system refuses it a thread, as it does where
 * processes or memory are limited; so try before it does. */
static int
count_possible(int n)
{
    pthread_t threads[MAX_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    pthread_mutex_lock(&gate);
    while (made < n - 1 && pthread_create(&threads[made], NULL, stand_in_line,
                                          &gate) == 0) {
        made++;
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&gate);
    return made + 1;
}

/* The largest team, up to 'n', that this thread may ask for.  OpenMP keeps a
 * team per calling thread, so the trial is made once per calling thread and
 * size: some 30 us for each member. */
static int
possible_threads(int n)
{
    static _Thread_local int tried;
    static _Thread_local int possible;
    if (n > tried) {
        tried = n;
        possible = count_possible(n);
    }
    return n < possible ? n : possible;
}

/* --- What the machine says ------------------------------------------------ */

/* "max 100000" or "150000 100000": quota and period of a cgroup. */
static double
quota_of(const char *path)
{
    char text[64] = "";
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    bool got = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    char *end = text;
    double quota = got ? strtod(text, &end) : 0;
    double period = strtod(end, NULL);
    return period > 0 ? quota / period : quota;
}

/* The least quota of our cgroup and those above it, in CPUs; 0: none. */
static double
quota_v2(void)
{
    char line[512];
    char path[640];
    double least = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) {
        return 0;
    }
    bool found = false;
    while (!found && fgets(line, sizeof(line), file)) {
        found = strncmp(line, "0::/", 4) == 0;
    }
    fclose(file);
    char *group = line + 3;
    group[found ? strcspn(group, "\n") : 0] = '\0';
    for (;;) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
        double quota = quota_of(path);
        if (quota > 0 && (least == 0 || quota < least)) {
            least = quota;
        }
        char *slash = strrchr(group, '/');
        if (!slash) {
            return least;
        }
        *slash = '\0';
    }
}

/* Version 2 of control groups, else version 1 as containers see it. */
static double
cgroup_quota(void)
{
    double quota = quota_v2();
    if (quota > 0) {
        return quota;
    }
    double us = quota_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    double period = quota_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    return us > 0 && period > 0 ? us / period : 0;
}

/* How many CPUs we may use: those of our affinity mask, at most as many as
 * the quota pays for. */
static int
usable_cpus(void)
{
    cpu_set_t set;
    int n = 1;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        n = CPU_COUNT(&set);
    }
    double quota = cgroup_quota();
    if (quota > 0 && quota < n) {
        n = (int)quota + (quota > (int)quota);
    }
    return n > 0 ? n : 1;
}

static pthread_once_t settings_once = PTHREAD_ONCE_INIT;
static int from_environment; /* VIZGEN_THREADS; 0 without */
static int cpus_cap;         /* MAX_THREADS when OMP_NUM_THREADS is set */
static double least_ns = -1; /* VIZGEN_PARALLEL_NS; below 0 without */

bool
threads_read(const char *text, int *n)
{
    char *end;
    long value = strtol(text, &end, 10);
    *n = (int)(value < MAX_THREADS ? value : MAX_THREADS);
    return end != text && *end == '\0' && value > 0;
}

bool
number_read(const char *text, double least, double *out)
{
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    if (text == NULL || end == text || *end != '\0' || !(value >= least)) {
        return false;
    }
    *out = value;
    return true;
}

/* What is no number counts as not set; csrc/py/env.c warns of it. */
static void
read_settings(void)
{
    const char *own = getenv("VIZGEN_THREADS");
    const char *omp = getenv("OMP_NUM_THREADS");
    if (own != NULL && !threads_read(own, &from_environment)) {
        from_environment = 0;
    }
    number_read(getenv("VIZGEN_PARALLEL_NS"), 0, &least_ns);
    cpus_cap = omp && atoi(omp) > 0 ? MAX_THREADS : usable_cpus();
}

/* OpenMP's number also follows omp_set_num_threads, by which tools limit the
 * threads of all libraries in a process. */
static int
default_threads(void)
{
    pthread_once(&settings_once, read_settings);
    if (from_environment > 0) {
        return from_environment;
    }
#ifdef _OPENMP
    int n = omp_get_max_threads();
    return n < cpus_cap ? n : cpus_cap;
#else
    return 1;
#endif
}

/* Takes effect with the next loop. */
void
threads_set(int n)
{
    __atomic_store_n(&chosen, n > 0 ? n : 0, __ATOMIC_RELAXED);
}

/* At most MAX_THREADS, the size of a Region's table. */
int
threads_get(void)
{
    int n = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    n = n > 0 ? n : default_threads();
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* What the call itself asked for goes before what holds for the process. */
static int
threads_of(const VzCtx *ctx)
{
    int n = ctx->threads > 0 ? ctx->threads : threads_get();
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* Undo asks: a log has no place for two writers. */
bool
threads_inside(void)
{
    return inside != NULL;
}

/* --- Whether -------------------------------------------------------------- */

/* Ours, or OpenMP's of whoever called us (a loop of another library). */
static bool
in_parallel(void)
{
#ifdef _OPENMP
    return inside || omp_in_parallel();
#else
    return true;
#endif
}

/* Below so much work a loop stays serial, whatever the team does. */
static double
least_work(void)
{
    pthread_once(&settings_once, read_settings);
    return least_ns >= 0 ? least_ns : hot_ns;
}

/* May the loop run in parallel, and is it worth it even if the team is hot?
 * The product may raise FE_INEXACT, which everything does; the arithmetic
 * further on is done with the caller's flags put aside. */
static bool
is_worth_it(int64_t n, double cost)
{
    return n > 1 && (double)n * cost >= least_work() && !forked &&
           !in_parallel();
}

/* Threads worth using for 'n' rounds of 'cost' nanoseconds. */
static int
threads_for(const VzCtx *ctx, int64_t n, double cost)
{
    double work = (double)n * cost;
    int threads = threads_of(ctx);
    bool any = least_ns >= 0; /* the environment says what is worth it */
    if (threads > 1 && work < cold_ns && !any) {
        int64_t last = __atomic_load_n(&last_ns, __ATOMIC_RELAXED);
        if (clock_ns() - last > hot_for_ns) {
            return 1;
        }
    }
    double most = work / share_ns;
    threads = most < threads && !any ? (int)most : threads;
    threads = n < threads ? (int)n : threads;
    return threads > 1 ? possible_threads(threads) : 1;
}

/* Enter the process-wide count with up to 'want' threads; how many.  Who
 * comes when all are busy runs alone, and doesn't wait. */
static int
join_active(int want, int cap)
{
    int before = __atomic_load_n(&active, __ATOMIC_RELAXED);
    int got;
    do {
        int room = cap - before;
        got = want < room ? want : room;
        got = got > 1 ? got : 1;
    } while (!__atomic_compare_exchange_n(&active, &before, before + got, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return got;
}

/* The inverse of join_active. */
static void
leave_active(int got)
{
    __atomic_fetch_sub(&active, got, __ATOMIC_RELAXED);
}

/* --- Running -------------------------------------------------------------- */

/* Note that the range from 'from' failed, unless a lower one did. */
static void
set_failed(Region *region, int64_t from, int status, int check)
{
    pthread_mutex_lock(&region->lock);
    if (from < region->failed) {
        __atomic_store_n(&region->failed, from, __ATOMIC_SEQ_CST);
        region->status = status;
        region->check = check;
    }
    pthread_mutex_unlock(&region->lock);
}

/* Is the range that starts at 'from' of no interest any more? */
static bool
is_above_failed(const Region *region, int64_t from)
{
    return from > __atomic_load_n(&region->failed, __ATOMIC_RELAXED);
}

/* The 'poll' of the copies.  A range above a failed one is told to stop; what
 * it then returns is not looked at.  An interrupt counts as a failure below
 * all ranges, so that everybody stops. */
static int
poll_inside(VzCtx *ctx)
{
    Region *region = inside;
    if (is_above_failed(region, inside_from)) {
        return VZ_INTERRUPT;
    }
    int status = VZ_OK;
    if (inside_caller && region->ctx->host->poll) {
        status = region->ctx->host->poll(ctx);
        if (status != VZ_OK) {
            set_failed(region, INT64_MIN, status, ctx->failed);
        }
    }
    if (ctx->fuel <= 0) {
        fuel_refill(ctx, &inside_fuelled, clock_ns());
    }
    return status;
}

/* Take chunks of 'block' until it is empty or the loop has failed below.
 *
 * A chunk that is taken and lies above a failed one is dropped, and with it
 * the rest of the block, which lies higher still.  Below a failed one all are
 * run: one of them may fail as well, and then counts instead.  Hence the
 * answer depends on the loop alone, not on who was faster. */
static void
run_block(Region *region, Block *block, VzCtx *ctx)
{
    int64_t end = block->end;
    while (__atomic_load_n(&block->next, __ATOMIC_RELAXED) < end) {
        int64_t lo = __atomic_fetch_add(&block->next, region->chunk,
                                        __ATOMIC_RELAXED);
        if (lo >= end || is_above_failed(region, lo)) {
            return;
        }
        int64_t hi = end - lo > region->chunk ? lo + region->chunk : end;
        inside_from = lo;
        int status = region->body(ctx, region->env, lo, hi);
        if (status == VZ_OK && inside_caller) {
            status = poll_inside(ctx);
        }
        if (status != VZ_OK) {
            set_failed(region, lo, status, ctx->failed);
        }
    }
}

#ifdef VIZGEN_TSAN
/* So that each thread does a part of even the shortest loop, or it would never
 * be seen that two of them meet; nothing orders their parts.  In every other
 * loop, for helping others is to be seen too. */
static void
done_with_own(Region *region)
{
    if (region->gate != NULL) {
        pthread_barrier_wait(region->gate);
    }
}
#else
static void
done_with_own(const Region *region)
{
    (void)region;
}
#endif

/* The part of thread 'me': its own block, then what others have left.  The
 * copy of the context is made here, on the thread's own stack, so that what
 * ranges write to it shares no cache line with other threads. */
static void
run_thread(Region *region, int me)
{
    VzCtx ctx = region->start;
    ctx.host = &region->host;
    ctx.warn = 0;
    ctx.fpflags = 0;
    inside = region;
    inside_caller = me == 0;
    ctx.fuel = ctx.given = VZ_FUEL_FIRST;
    inside_fuelled = 0;
    for (int i = 0; i < region->nblocks; i++) {
        run_block(region, &region->blocks[(me + i) % region->nblocks], &ctx);
        if (i == 0) {
            done_with_own(region);
        }
    }
    inside = NULL;
    __atomic_fetch_or(&region->ctx->warn, ctx.warn, __ATOMIC_RELAXED);
    __atomic_fetch_or(&region->ctx->fpflags, ctx.fpflags, __ATOMIC_RELAXED);
    if (me == 0) {
        region->ctx->fuel = ctx.fuel;
        region->ctx->given = ctx.given;
    }
}

/* A worker calculates in the caller's modes, starts with clear flags, hands
 * over those it raised, and leaves its own state as it was. */
static void
run_worker(Region *region, int me)
{
    fenv_t own;
    fegetenv(&own);
    fesetenv(&region->fenv);
    feclearexcept(FE_ALL_EXCEPT);
    run_thread(region, me);
    int flags = fetestexcept(FE_ALL_EXCEPT);
    fesetenv(&own);
    __atomic_fetch_or(&region->ctx->fpflags, (uint32_t)flags,
                      __ATOMIC_RELAXED);
}

/* Even blocks; chunks that divide a block by CHUNKS if they are long enough.
 *
 * Contiguous blocks suit loops bound by memory, and a loop that runs again
 * finds its rows in the caches of the same core.  Eight chunks leave at most
 * an eighth of a block to wait for, where one row of a picture costs many
 * times another's (a Mandelbrot set). */
static void
divide(Region *region, int64_t lo, int64_t hi, double cost)
{
    int64_t n = hi - lo;
    int64_t each = n / region->nblocks;
    int64_t rest = n % region->nblocks;
    for (int i = 0; i < region->nblocks; i++) {
        int64_t size = each + (i < rest);
        region->blocks[i].next = lo;
        region->blocks[i].end = lo + size;
        lo += size;
    }
    double least = chunk_ns / cost;
    int64_t chunk = (each + CHUNKS - 1) / CHUNKS;
    if ((double)chunk < least) {
        chunk = least < (double)each ? (int64_t)least : each;
    }
    region->chunk = chunk > 0 ? chunk : 1;
}

#ifdef VIZGEN_TSAN
/* A thread of a team other than the caller's. */
typedef struct Member {
    Region *region;
    int me;
    pthread_t thread;
} Member;

static void *
run_member(void *data)
{
    Member *member = data;
    run_worker(member->region, member->me);
    return NULL;
}

/* As OpenMP does, but where every start and end of a thread is seen. */
static void
run_own_team(Region *region, int threads)
{
    static int loops;
    Member members[MAX_THREADS];
    pthread_barrier_t gate;
    bool gated = __atomic_fetch_add(&loops, 1, __ATOMIC_RELAXED) % 2 == 0;
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    region->gate = gated ? &gate : NULL;
    for (int me = 1; me < threads; me++) {
        members[me] = (Member){.region = region, .me = me};
        if (pthread_create(&members[me].thread, NULL, run_member,
                           &members[me]) != 0) {
            abort(); /* the others would wait for it */
        }
    }
    run_thread(region, 0);
    for (int me = 1; me < threads; me++) {
        pthread_join(members[me].thread, NULL);
    }
    pthread_barrier_destroy(&gate);
}
#endif

/* OpenMP may give fewer threads than asked for; those there are then take
 * the blocks of the others. */
static int
run_team(Region *region, int threads)
{
#ifdef VIZGEN_TSAN
    run_own_team(region, threads);
#elif defined(_OPENMP)
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num();
        if (me == 0) {
            run_thread(region, 0);
        } else {
            run_worker(region, me);
        }
    }
#else
    (void)threads;
    (void)run_worker;
    run_thread(region, 0);
#endif
    __atomic_store_n(&last_ns, clock_ns(), __ATOMIC_RELAXED);
    region->ctx->failed = region->check;
    return region->status;
}

/* Run 'region', whose loop is [lo, hi), by as many threads as there are. */
static int
run_region(Region *region, int64_t lo, int64_t hi, double cost)
{
    Block blocks[MAX_THREADS];
    fegetenv(&region->fenv);
    int want = threads_for(region->ctx, hi - lo, cost);
    int cap = threads_get();
    cap = want > cap ? want : cap;
    int threads = want > 1 ? join_active(want, cap) : 1;
    int status;
    if (threads > 1) {
        region->nblocks = threads;
        region->blocks = blocks;
        divide(region, lo, hi, cost);
        pthread_mutex_init(&region->lock, NULL);
    }
    fesetenv(&region->fenv);
    if (threads > 1) {
        status = run_team(region, threads);
        pthread_mutex_destroy(&region->lock);
    } else {
        status = region->body(region->ctx, region->env, lo, hi);
    }
    if (want > 1) {
        leave_active(threads);
    }
    return status;
}

/* A serial loop runs on the caller's own VzCtx, with nothing in between. */
int
threads_parallel_for(VzCtx *ctx, VzRange *body, void *env, int64_t lo,
                     int64_t hi, double cost)
{
    if (hi <= lo) {
        return VZ_OK;
    }
    if (!is_worth_it(hi - lo, cost)) {
        return body(ctx, env, lo, hi);
    }
    Region region = {.ctx = ctx, .start = *ctx, .body = body, .env = env};
    region.host = *ctx->host;
    region.host.poll = poll_inside;
    region.failed = INT64_MAX;
    return run_region(&region, lo, hi, cost);
}
