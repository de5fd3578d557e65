/* What a running kernel asks of Python: memory for results, scratch memory,
 * undo, and a look at pending signals.
 *
 * The GIL is released around kernels that are expected to take more than a
 * few microseconds, by what calls before took per element.  A kernel that
 * turns out to be long gives it up when it first polls.  Only the thread that
 * called the kernel ever takes the GIL back; requests of other threads of a
 * parallel loop for anything of Python's are refused or do nothing.
 *
 * The sticky floating-point flags are cleared before and read after the call;
 * the caller finds them as they were.
 */
#include "csrc/py/pairs.h"
#include "csrc/py/pool.h"

#include <fenv.h>
#include <stdatomic.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Nanoseconds: from which expected time on the GIL is released beforehand,
 * after which time it is released by a poll, and how often signal handlers may
 * run. */
enum {
    LONG_CALL = 5000,
    LONG_KERNEL = 20000,
    POLL_EVERY = 50000000,
};

enum { FLAGS = FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID };

static VzHost host;

/* --- floating-point flags ------------------------------------------------ */

/* Two readings and at most two writings of a register.  Writing it is the slow
 * part (it drains the pipeline), so it is only done when a bit must change.
 * Flags that were set before the call are set again afterwards: they are the
 * caller's business, as they would be after Python code. */

#if defined(__x86_64__)
/* The bits of MXCSR are those of fenv.h. */
static inline unsigned
flags_clear(void)
{
    unsigned before = _mm_getcsr();
    if (before & FLAGS) {
        _mm_setcsr(before & ~(unsigned)FLAGS);
    }
    return before;
}

static inline unsigned
flags_restore(unsigned before)
{
    unsigned after = _mm_getcsr();
    if (after != before) {
        _mm_setcsr(before);
    }
    return after & FLAGS;
}
#else
static inline unsigned
flags_clear(void)
{
    unsigned before = (unsigned)fetestexcept(FLAGS);
    feclearexcept(FLAGS);
    return before;
}

static inline unsigned
flags_restore(unsigned before)
{
    unsigned after = (unsigned)fetestexcept(FLAGS);
    feclearexcept(FLAGS);
    feraiseexcept((int)before);
    return after;
}
#endif

/* NumPy's loops raise some flags by feraiseexcept, which may use the x87's
 * status word.  Gives what is set there, and clears it. */
static unsigned
take_x87_flags(void)
{
#if defined(__x86_64__)
    uint16_t word;
    __asm__ volatile("fnstsw %0" : "=am"(word));
    if (word & FLAGS) {
        __asm__ volatile("fnclex");
    }
    return word & FLAGS;
#else
    return 0;
#endif
}

/* --- the GIL ------------------------------------------------------------- */

/* call->saved   NULL: this thread holds the GIL
 *                   else: released, and this is what restores it
 *
 * It is released before the kernel when that is expected to be long, or by the
 * first poll, and taken again after the kernel.  In between, results and signal
 * handlers take it for a moment.  Other Python threads may do anything
 * meanwhile, so whatever the call needs afterwards it holds references to. */

/* The thread that called the kernel is the only one that may touch Python. */
static inline bool
is_caller(const Call *call)
{
    return call->thread == PyThread_get_thread_ident();
}

/* Runs with the GIL what the kernel asked for: take it if it was released. */
static PyThreadState *
gil_take(Call *call)
{
    PyThreadState *saved = call->saved;
    if (saved != NULL) {
        PyEval_RestoreThread(saved);
    }
    return saved;
}

/* Releases the GIL again if gil_take had to take it. */
static void
gil_give(Call *call, PyThreadState *saved)
{
    if (saved != NULL) {
        call->saved = PyEval_SaveThread();
    }
}

/* --- results ------------------------------------------------------------- */

bool
result_is_fortran(const Call *call, int ret)
{
    const Lowered *lowered = call->kernel->result->lowered;
    for (int i = 0; i < lowered->fortran.n; i++) {
        if (lowered->fortran.at[i] == ret) {
            return true;
        }
    }
    return false;
}

/* Results between these sizes mostly lie in memory that malloc has kept, which
 * calloc clears by one thread.  Smaller ones are cleared as fast, larger ones
 * are pages that are zero already (pool.c). */
enum { LEAST_SHARED = 1 << 18, MOST_SHARED = 16 << 20, CLEARED = 1 << 15 };

/* A piece of memory that is cleared in parts of CLEARED bytes. */
typedef struct Clear {
    char *data;
    size_t bytes;
} Clear;

/* A VzRange over the parts. */
static int
clear_parts(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
{
    const Clear *clear = env;
    size_t first = (size_t)lo * CLEARED;
    size_t end = (size_t)hi * CLEARED;
    (void)ctx;
    end = end < clear->bytes ? end : clear->bytes;
    memset(clear->data + first, 0, end - first);
    return VZ_OK;
}

/* By the threads of the call, without the GIL if it has been released.  Nobody
 * polls meanwhile: a signal would leave it half done. */
static void
clear_shared(const VzCtx *ctx, void *data, size_t bytes)
{
    enum { PART_NS = 1500 }; /* for one part */
    Clear clear = {data, bytes};
    VzHost deaf = *ctx->host;
    VzCtx own = *ctx;
    int64_t parts = (int64_t)((bytes + CLEARED - 1) / CLEARED);
    deaf.poll = NULL;
    own.host = &deaf;
    (void)deaf.parallel_for(&own, clear_parts, &clear, 0, parts, PART_NS);
}

/* A loop may ask for the same result again: the last array counts.  A size
 * that NumPy refuses, or no memory, is NULL: the kernel ends with VZ_NOMEM
 * and Python raises what is due. */
static void *
host_result(VzCtx *ctx, int ret, int dtype, int rank, const int64_t *dims,
            int zero)
{
    Call *call = ctx->self;
    if (ret < 0 || ret >= MAX_RESULTS || !is_caller(call)) {
        return NULL;
    }
    PyThreadState *saved = gil_take(call);
    DType dt = (DType)dtype;
    if (call->kernel->pairs[ret]) { /* the last axis has the two parts */
        dt = dtype_of_parts(dt);
        rank--;
    }
    int type_num = dtype_type_num(dt);
    npy_intp shape[MAX_RANK];
    bool negative = false;
    bool fortran = result_is_fortran(call, ret);
    for (int i = 0; i < rank; i++) {
        shape[fortran ? rank - 1 - i : i] = dims[i];
        negative |= dims[i] < 0;
    }
    double bytes = dtype_size(dt);
    for (int i = 0; i < rank; i++) {
        bytes *= (double)shape[i];
    }
    bool shared = zero && bytes >= LEAST_SHARED && bytes < MOST_SHARED;
    PyObject *array = NULL;
    if (!negative) {
        array = pool_array(call->f->core->pool, rank, shape, type_num,
                           zero && !shared, fortran);
    }
    while (call->nresults <= ret) {
        call->results[call->nresults++] = NULL;
    }
    Py_XSETREF(call->results[ret], array);
    void *data = NULL;
    if (array == NULL) {
        PyErr_Clear();
    } else {
        data = PyArray_DATA((PyArrayObject *)array);
    }
    gil_give(call, saved);
    if (data != NULL && shared) {
        clear_shared(ctx, data, (size_t)bytes);
    }
    return data;
}

/* After a call that was given up, before another kernel makes its own. */
void
call_drop_results(Call *call)
{
    while (call->nresults > 0) {
        call->nresults--;
        Py_CLEAR(call->results[call->nresults]);
    }
}

/* --- scratch ------------------------------------------------------------- */

enum { SCRATCH_ALIGN = 64, LEAST_POOLED = 1 << 20 };

/* Head of a block; blocks are pushed by any thread, so without a lock. */
struct Scratch {
    Scratch *next;
    bool pooled;
};

/* Aligned for the widest vectors.  May be called by several threads of a
 * parallel loop at once. */
void *
call_scratch(Call *call, int64_t bytes, bool zero)
{
    size_t extra = sizeof(Scratch) + SCRATCH_ALIGN;
    if (bytes < 0 || (uint64_t)bytes > PY_SSIZE_T_MAX - extra) {
        return NULL;
    }
    size_t size = (size_t)bytes + extra;
    bool pooled = size >= LEAST_POOLED;
    Scratch *block = pooled ? pool_take(size, zero)
                     : zero ? PyMem_RawCalloc(1, size)
                            : PyMem_RawMalloc(size);
    if (block == NULL) {
        return NULL;
    }
    block->pooled = pooled;
    block->next = atomic_load(&call->scratch);
    while (
        !atomic_compare_exchange_weak(&call->scratch, &block->next, block)) {
    }
    uintptr_t at = (uintptr_t)(block + 1) + SCRATCH_ALIGN - 1;
    return (void *)(at - at % SCRATCH_ALIGN);
}

/* For VzHost. */
static void *
host_scratch(VzCtx *ctx, int64_t bytes, int zero)
{
    return call_scratch(ctx->self, bytes, zero != 0);
}

/* No kernel is running any more. */
static void
free_scratch(Call *call)
{
    Scratch *block = atomic_exchange(&call->scratch, NULL);
    while (block != NULL) {
        Scratch *next = block->next;
        if (block->pooled) {
            pool_give(block);
        } else {
            PyMem_RawFree(block);
        }
        block = next;
    }
}

/* Ends everything that belongs to the call but its result. */
void
call_finish(Call *call)
{
    free_scratch(call);
    undo_free(&call->undo);
    call_drop_results(call);
    while (call->nkept > 0) {
        call->nkept--;
        Py_DECREF(call->kept[call->nkept]);
    }
}

/* --- undo and signals ---------------------------------------------------- */

/* Kernels with loops of unknown length count fuel down and poll when it is
 * used up, about every millisecond.  Python's signal handlers are run every 50
 * milliseconds: often enough for Ctrl-C, seldom enough that two threads don't
 * fight for the GIL. */

/* See undo.c; only serial code logs. */
static int
host_undo(VzCtx *ctx, void *at, int size)
{
    Call *call = ctx->self;
    return undo_note(&call->undo, ctx, at, size);
}

/* See undo.c. */
static int
host_shadow(VzCtx *ctx)
{
    Call *call = ctx->self;
    return undo_shadow(&call->undo, ctx);
}

/* The GIL is given up by the first poll that finds the kernel to be long. */
static int
host_poll(VzCtx *ctx)
{
    Call *call = ctx->self;
    if (!is_caller(call)) {
        ctx->fuel = VZ_FUEL_FIRST;
        return VZ_OK;
    }
    int64_t time = clock_ns();
    if (ctx->fuel <= 0) {
        if (call->started == 0) {
            call->started = call->polled = time;
        }
        fuel_refill(ctx, &call->fuelled, time);
    }
    int64_t wait = call->saved != NULL ? POLL_EVERY : LONG_KERNEL;
    if (call->interrupted || time - call->polled < wait) {
        return call->interrupted ? VZ_INTERRUPT : VZ_OK;
    }
    call->polled = time;
    gil_take(call);
    if (PyErr_CheckSignals() < 0) {
        call->interrupted = true;
    }
    call->saved = PyEval_SaveThread();
    return call->interrupted ? VZ_INTERRUPT : VZ_OK;
}

/* Once, when the module is made: the table is the same for all calls. */
void
host_setup(void)
{
    host_init(&host);
    host.abi = VZ_ABI;
    host.result = host_result;
    host.scratch = host_scratch;
    host.undo = host_undo;
    host.shadow = host_shadow;
    host.poll = host_poll;
    host.loops = loops_table();
    host.routine = routines_run;
}

/* --- the call ------------------------------------------------------------ */

/* What a call will cost is foretold from what earlier ones have cost per
 * element of their arrays.  That is wrong for a function whose work depends on
 * a number, as an iteration count; then the first poll mends it. */

/* Learns what an element costs, more from later calls than from earlier. */
static void
learn_cost(Call *call, int64_t start)
{
    Spec *spec = call->spec;
    call->f->kernel_time = clock_ns() - start;
    double cost = (double)call->f->kernel_time / (call->elements + 1);
    spec->cost = spec->calls > 1 ? 0.5 * (spec->cost + cost) : cost;
}

/* An exception that a signal handler raised meanwhile stays set in the
 * thread state. */
static int
run_kernel(Call *call, const Kernel *kernel, bool release)
{
    unsigned before = flags_clear();
    unsigned raised = 0;
    if (kernel->by_flags) {
        (void)take_x87_flags();
    }
    if (release) {
        call->saved = PyEval_SaveThread();
    }
    int status = kernel->run(&call->ctx);
    if (call->saved != NULL) {
        PyEval_RestoreThread(call->saved);
        call->saved = NULL;
    }
    if (kernel->by_flags) {
        raised = take_x87_flags();
    }
    raised |= flags_restore(before) | call->ctx.fpflags;
    call->flags = raised & FLAGS;
    return status;
}

/* The WARNs that end the call. */
static uint64_t
raising_bits(const Call *call, const Kernel *kernel)
{
    uint64_t bits = 0;
    for (int i = 0; call->raising != 0 && i < 64; i++) {
        bool raises = kernel->warns != NULL && kernel->warns[i] != NULL &&
                      (call->raising >> kernel->warns[i]->warn & 1);
        bits |= (uint64_t)raises << i;
    }
    return bits;
}

/* The clock is read only for every sixteenth call as long as calls are
 * short: two readings cost as much as the rest of the dispatch. */
int
call_run(Call *call, const Kernel *kernel, bool shadow)
{
    Spec *spec = call->spec;
    call->ctx = (VzCtx){
        .host = &host,
        .in = call->in,
        .out = call->out,
        .fuel = VZ_FUEL_FIRST,
        .given = VZ_FUEL_FIRST,
        .logging = kernel->logs,
        .threads = call->f->threads,
        .raising = raising_bits(call, kernel),
        .more = call->more,
        .self = call,
    };
    if (kernel->nwarns > IR_WARN_BITS) {
        memset(call->more, 0, sizeof(call->more));
    }
    if (shadow && undo_shadow(&call->undo, &call->ctx) != VZ_OK) {
        return VZ_REPLAY;
    }
    bool release = spec->cost * (call->elements + 1) > LONG_CALL;
    bool measure = release || (spec->calls & 15) == 0 || call->f->timed;
    spec->calls++;
    call->thread = PyThread_get_thread_ident();
    int64_t start = measure ? clock_ns() : 0;
    call->started = call->polled = call->fuelled = start;
    int status = run_kernel(call, kernel, release);
    if (measure) {
        learn_cost(call, start);
    }
    return status;
}
