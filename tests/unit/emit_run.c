/* Runs functions in IR text through ir_eval and through generated C, and
 * compares every bit that comes out.
 *
 *     emit_run [--cc gcc] [--flags "..."] [--seeds N] [--show]
 *              [--keep DIR] FILE.ir ...
 *     emit_run --text [--path APP.py] FILE.ir
 *
 * A FILE holds one function at L_SCHED whose arguments may be anything: it is
 * called on arrays of many sizes (0, 1 ...), on packed, spread, reversed and
 * transposed ones where the parameter allows, with tame and wild numbers.
 * Calls on which ir_eval faults or runs out of steps say nothing of the
 * emitter and are skipped.  When a call fails, the arguments must be as before
 * once the log of old values is played back, if the function logs at all.
 *
 * Prints a line per file; the exit status is 1 if any differs.  The parallel
 * loops of the host here run in three parts, the last part first.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csrc/emit/emit.h"
#include "csrc/run/abi.h"
#include "tests/unit/emit_case.h"

enum {
    MOST_SLOTS = MOST_PARAMS * (1 + 2 * MAX_RANK),
    MOST_RETS = 16,
    MOST_LOG = 1 << 16,
    STEPS = 2000000,
};

typedef struct Config {
    const char *cc;
    const char *flags;
    const char *keep;
    int seeds;
    const char *path; /* of the source that the text names */
    bool show;
    bool text;
} Config;

/* What the host of a running kernel keeps. */
typedef struct Log {
    char *at;
    uint64_t old;
    int size;
} Log;

typedef struct Run {
    Case *test;
    EvalArray results[MOST_RETS];
    void *scratch[4096];
    int nscratch;
    int live; /* range_alloc minus range_free */
    Log *log;
    int nlog;
    bool shadowed;
} Run;

static Run run; /* range_alloc has no ctx */

/* --- the host ------------------------------------------------------------ */

static int
host_parallel_for(VzCtx *ctx, VzRange *body, void *env, int64_t lo,
                  int64_t hi, double cost)
{
    int status = VZ_OK;
    int64_t third = (hi - lo) / 3;
    int64_t cuts[] = {lo, lo + third, lo + 2 * third, hi};
    if (!(cost >= 0)) {
        abort();
    }
    for (int part = 2; part >= 0 && lo < hi; part--) {
        int got = body(ctx, env, cuts[part], cuts[part + 1]);
        status = got != VZ_OK ? got : status;
    }
    return status;
}

static void *
fresh_memory(int64_t bytes, int zero)
{
    void *at = malloc((size_t)bytes + 1);
    memset(at, zero ? 0 : 0xA5, (size_t)bytes);
    run.scratch[run.nscratch++] = at;
    return at;
}

static void *
host_result(VzCtx *ctx, int ret, int dtype, int rank, const int64_t *dims,
            int zero)
{
    (void)ctx;
    int64_t bytes = dtype_size((DType)dtype);
    EvalArray *array = &run.results[ret];
    for (int k = rank - 1; k >= 0; k--) {
        array->dims[k] = dims[k];
        array->strides[k] = bytes;
        bytes *= dims[k];
    }
    array->data = fresh_memory(bytes, zero);
    return array->data;
}

static void *
host_scratch(VzCtx *ctx, int64_t bytes, int zero)
{
    (void)ctx;
    return fresh_memory(bytes, zero);
}

static void *
host_range_alloc(int64_t bytes)
{
    run.live++;
    void *at = malloc((size_t)bytes + 1);
    memset(at, 0xA5, (size_t)bytes);
    return at;
}

static void
host_range_free(void *at)
{
    run.live--;
    free(at);
}

static void *
host_range_extend(void *at, int64_t bytes)
{
    return realloc(at, (size_t)bytes + 1);
}

static int
host_undo(VzCtx *ctx, void *at, int size)
{
    (void)ctx;
    Log *entry = &run.log[run.nlog++];
    *entry = (Log){.at = at, .size = size};
    memcpy(&entry->old, at, (size_t)size);
    return run.nlog == MOST_LOG;
}

static int
host_shadow(VzCtx *ctx)
{
    (void)ctx;
    run.shadowed = true;
    return 0;
}

static int
host_poll(VzCtx *ctx)
{
    ctx->fuel = 3;
    return 0;
}

static double (*const libm1[])(double) = {
    exp,  exp2, expm1, log,  log2, log10, log1p, sin,   cos,   tan,
    asin, acos, atan,  sinh, cosh, tanh,  asinh, acosh, atanh,
};
static double (*const libm2[])(double, double) = {atan2, hypot, fmod,
                                                       pow};

static const VzHost host = {
    .abi = VZ_ABI,
    .parallel_for = host_parallel_for,
    .result = host_result,
    .scratch = host_scratch,
    .undo = host_undo,
    .shadow = host_shadow,
    .poll = host_poll,
    .libm1 = libm1,
    .libm2 = libm2,
    .powf = powf,
    .pow_slack = 1.029,
    .range_alloc = host_range_alloc,
    .range_free = host_range_free,
    .range_extend = host_range_extend,
};

/* --- running ------------------------------------------------------------- */

static EvalStatus
run_eval(Case *test, Slot *rets, EvalArray *results, unsigned *warnings)
{
    EvalArray views[MOST_PARAMS];
    for (int i = 0; i < test->func->params.n; i++) {
        views[i] = test->arrays[i].view;
    }
    Eval state = {.arrays = views, .scalars = test->scalars, .rets = rets,
                  .ret_arrays = results, .steps = STEPS};
    EvalStatus status = ir_eval(test->arena, test->func, &state);
    *warnings = state.warnings;
    return status;
}

static int
run_kernel(Case *test, VzKernel *kernel, Slot *rets, unsigned *warnings)
{
    VzSlot in[MOST_SLOTS];
    int n = 0;
    for (int i = 0; i < test->func->params.n; i++) {
        const Buf *buf = test->func->params.at[i].buf;
        if (!buf) {
            memcpy(&in[n++], &test->scalars[i], sizeof(VzSlot));
            continue;
        }
        const EvalArray *view = &test->arrays[i].view;
        in[n++].p = view->data;
        for (int k = 0; k < 2 * buf->rank; k++) {
            in[n++].i = k < buf->rank ? view->dims[k]
                                      : view->strides[k - buf->rank];
        }
    }
    VzSlot out[MOST_RETS * MAX_LANES];
    VzCtx ctx = {.host = &host, .in = in, .out = out, .fuel = 3, .logging = 1};
    run.nlog = run.nscratch = run.live = 0;
    run.shadowed = false;
    int status = kernel(&ctx);
    int slots = ir_ret_slot(test->func, test->func->rets.n);
    memcpy(rets, out, sizeof(Slot) * (size_t)slots);
    for (int i = 0; i < 64; i++) {
        const Stmt *warn = ctx.warn >> i & 1
            ? ir_site(test->func, S_WARN, i) : NULL;
        *warnings |= warn ? 1u << warn->warn : 0;
    }
    return status;
}

/* --- comparing --------------------------------------------------------- */

static bool
same_results(const Case *test, const EvalArray *results, const Slot *expected,
             const Slot *got)
{
    bool same = true;
    for (int i = 0; i < test->func->rets.n; i++) {
        const Ret *ret = &test->func->rets.at[i];
        int slot = ir_ret_slot(test->func, i);
        int end = ir_ret_slot(test->func, i + 1);
        for (; slot < end; slot++) {
            DType dt = dtype_is_float(ret->value->dtype) ? DT_F64 : DT_I64;
            if (!same_element(dt, (const char *)&expected[slot],
                              (const char *)&got[slot])) {
                printf("  result %d: %lld (%g), C gives %lld (%g)\n", i,
                       (long long)expected[slot].i, expected[slot].f,
                       (long long)got[slot].i, got[slot].f);
                same = false;
            }
        }
        if (ret->buf && ret->buf->kind == BUF_RESULT) {
            size_t size = (size_t)dtype_size(ret->buf->dtype);
            for (int k = 0; k < ret->buf->rank; k++) {
                size *= (size_t)results[i].dims[k];
            }
            same &= same_block(ret->buf->dtype, results[i].data,
                               run.results[i].data, size);
        }
    }
    return same;
}

static void
roll_back(void)
{
    while (run.nlog > 0) {
        const Log *entry = &run.log[--run.nlog];
        memcpy(entry->at, &entry->old, (size_t)entry->size);
    }
}

static void
note_vector(void *data, Stmt *s)
{
    bool *loose = data;
    *loose |= s->mode != LOOP_SERIAL;
}

static void
note_unlogged(void *data, Stmt *s)
{
    bool *unlogged = data;
    bool visible = (s->kind == S_STORE || s->kind == S_FILL) &&
                   ir_is_visible(s->buf);
    *unlogged |= visible && !s->logged;
}

static bool
logs_all(const Func *func)
{
    bool unlogged = false;
    ir_each_stmt(&func->body, note_unlogged, &unlogged);
    return !unlogged;
}

/* The first failing check decides, unless loops run in another order. */
static bool
same_status(const Case *test, EvalStatus expected, int got)
{
    static const int statuses[] = {VZ_OK, VZ_BAIL, VZ_REPLAY};
    bool loose = false;
    ir_each_stmt(&test->func->body, note_vector, &loose);
    bool same = loose ? (expected == EVAL_OK) == (got == VZ_OK)
                      : statuses[expected] == got;
    if (!same) {
        printf("  status %d, C gives %d\n", (int)expected, got);
    }
    return same;
}

/* 1: equal, 0: different, -1: the interpreter can't say. */
static int
check_case(Case *test, VzKernel *kernel, const Config *config)
{
    Slot rets[2][MOST_RETS * MAX_LANES] = {{{0}}};
    EvalArray results[MOST_RETS] = {{0}};
    unsigned warnings[2] = {0};
    Case original = copy_case(test);
    Case native = copy_case(test);
    EvalStatus status = run_eval(test, rets[0], results, &warnings[0]);
    if (status == EVAL_FAULT || status == EVAL_STEPS) {
        return -1;
    }
    int got = run_kernel(&native, kernel, rets[1], &warnings[1]);
    bool same = same_status(test, status, got) && run.live == 0;
    if (run.live != 0) {
        printf("  %d blocks not freed\n", run.live);
    }
    if (same && got == VZ_OK) {
        same = same_arguments(test, &native) &&
               same_results(test, results, rets[0], rets[1]) &&
               warnings[0] == warnings[1];
    } else if (same && logs_all(test->func)) {
        roll_back();
        same = same_arguments(&original, &native);
    }
    for (int i = 0; i < run.nscratch; i++) {
        free(run.scratch[i]);
    }
    return same;
}

/* --- files --------------------------------------------------------------- */

static char *
read_file(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fatal("can't read it");
    }
    size_t cap = 1 << 20;
    char *text = arena_alloc(arena, cap);
    size_t n = fread(text, 1, cap - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static Func *
read_func(Arena *arena, const char *path)
{
    const char *error = NULL;
    Func *func = ir_read(arena, read_file(arena, path), &error);
    if (!func) {
        fatal("%s", error);
    }
    error = ir_verify(arena, func);
    if (error) {
        fatal("%s", error);
    }
    ir_number_sites(func);
    if (func->params.n > MOST_PARAMS || func->rets.n > MOST_RETS) {
        fatal("too many parameters or results");
    }
    for (int i = 0; i < func->params.n; i++) {
        if (func->params.at[i].var && func->params.at[i].var->lanes > 0) {
            fatal("a parameter that is a vector");
        }
    }
    return func;
}

static VzKernel *
compile(Arena *arena, const char *text, const Config *config, const char *dir,
        int number)
{
    char *c_path = str_printf(arena, "%s/k%d.c", dir, number);
    char *so_path = str_printf(arena, "%s/k%d.so", dir, number);
    FILE *file = fopen(c_path, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) == EOF) {
        fatal("can't write %s", c_path);
    }
    if (system(str_printf(arena, "%s -x c -std=gnu11 %s -fPIC -shared "
                          "-fvisibility=hidden -o %s %s",
                          config->cc, config->flags, so_path, c_path)) != 0) {
        fatal("%s refuses %s", config->cc, c_path);
    }
    void *handle = dlopen(so_path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "vz_kernel") : NULL;
    if (!symbol) {
        fatal("%s", dlerror());
    }
    VzKernel *kernel;
    memcpy(&kernel, &symbol, sizeof(kernel));
    return kernel;
}

static char *
c_text(Arena *arena, const Func *func, const Config *config)
{
    Diags diags;
    diags_init(&diags, arena);
    diags_source(&diags, config->path, NULL);
    Str whole = str_new(arena);
    Str body = str_new(arena);
    emit_c(func, &diags, &whole);
    emit_c_body(func, &diags, &body);
    if (config->show) {
        fputs(body.at, stdout);
    }
    return whole.at;
}

/* The number of cases that differ. */
static int
check_file(Arena *arena, const char *path, const Config *config,
           const char *dir, int number)
{
    const Func *func = read_func(arena, path);
    const char *text = c_text(arena, func, config);
    if (config->text) {
        fputs(text, stdout);
        return 0;
    }
    VzKernel *kernel = compile(arena, text, config, dir, number);
    int counts[3] = {0};
    for (int seed = 0; seed < config->seeds; seed++) {
        Case *test = ARENA_NEW(arena, Case);
        *test = (Case){.arena = arena, .func = func, .seed = (unsigned)seed};
        make_case(test);
        int verdict = check_case(test, kernel, config);
        counts[verdict + 1]++;
        if (verdict == 0) {
            printf("  in case %d\n", seed);
        }
    }
    printf("%s %s: %d equal, %d skipped, %d different\n",
           counts[1] ? "FAIL" : "ok", path, counts[2], counts[0], counts[1]);
    return counts[1];
}

static bool
check_guarded(const char *path, const Config *config, const char *dir,
              int number)
{
    Arena *arena = arena_new();
    Fatal trap;
    volatile bool good = false;
    fatal_enter(&trap);
    if (setjmp(trap.env) == 0) {
        good = check_file(arena, path, config, dir, number) == 0;
    } else {
        printf("FAIL %s: %s\n", path, trap.message);
    }
    fatal_leave(&trap);
    arena_free(arena);
    return good;
}

static int
read_options(int argc, char **argv, Config *config)
{
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--show") == 0) {
            config->show = true;
        } else if (strcmp(argv[i], "--text") == 0) {
            config->text = true;
        } else if (strcmp(argv[i], "--path") == 0) {
            config->path = value;
            i++;
        } else if (strcmp(argv[i], "--cc") == 0) {
            config->cc = value;
            i++;
        } else if (strcmp(argv[i], "--flags") == 0) {
            config->flags = value;
            i++;
        } else if (strcmp(argv[i], "--keep") == 0) {
            config->keep = value;
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            config->seeds = atoi(value);
            i++;
        }
    }
    return i;
}

int
main(int argc, char **argv)
{
    Config config = {
        .cc = "gcc",
        .flags = "-O2 -march=native -ffp-contract=off -fno-math-errno "
                 "-fno-trapping-math -fwrapv -fno-strict-aliasing "
                 "-fopenmp-simd -Wall -Wextra -Werror",
        .seeds = 36,
        .path = "app.py",
    };
    int first = read_options(argc, argv, &config);
    char dir[] = "/tmp/emit_run_XXXXXX";
    const char *work = config.keep ? config.keep : mkdtemp(dir);
    run.log = calloc(MOST_LOG, sizeof(Log));
    bool good = first < argc && work && run.log;
    for (int i = first; i < argc; i++) {
        good &= check_guarded(argv[i], &config, work, i);
        char path[64];
        for (int k = 0; k < 2 && !config.keep; k++) {
            snprintf(path, sizeof(path), "%s/k%d.%s", dir, i, k ? "so" : "c");
            unlink(path);
        }
    }
    if (!config.keep) {
        rmdir(dir);
    }
    free(run.log);
    return good ? 0 : 1;
}
