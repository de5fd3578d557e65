/* Random functions through the passes: ir_eval must say the same before and
 * after.
 *
 *     passes_fuzz [FIRST [COUNT [PASS]]]      seeds FIRST .. FIRST + COUNT - 1
 *
 * A function has two arrays a (f64, two axes) and b (u8, one axis), an array
 * out (i64, one axis) that it writes, a fresh result, a fresh scratch buffer
 * and scalars k and x.  Every index is checked as lowered Python checks it
 * (wrapped when negative), so the original never faults.  What a pass may do:
 * end with BAIL where its mode is fast.  What it may not: change a result, a
 * byte of an array or a warning of a call that ends well, end well where the
 * original does not, or fault.  A mismatch prints the seed and both texts and
 * ends with status 1; the last line says how much was run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/passes_gen.h"
#include "transforms/transforms.h"

enum { DIM = 6, OUT = 8, STEPS = 200000, INPUTS = 7 };

/* --- running ------------------------------------------------------------- */

/* The memory of a call and what came of it. */
typedef struct Call {
    double a[DIM * DIM];
    uint8_t b[DIM];
    int64_t out[OUT];
    Slot rets[8];
    EvalArray ret_arrays[3];
    EvalStatus status;
    unsigned warnings;
} Call;

static EvalArray
describe(void *data, int64_t rows, int64_t columns, int64_t size)
{
    EvalArray array = {0};
    array.data = data;
    array.dims[0] = rows;
    array.dims[1] = columns;
    array.strides[0] = columns * size;
    array.strides[1] = size;
    return array;
}

static void
run(Arena *arena, const Func *func, int input, Call *call)
{
    static const int64_t rows[INPUTS] = {6, 5, 1, 0, 3, 5, 6};
    static const int64_t columns[INPUTS] = {6, 5, 3, 2, 0, 6, 4};
    static const int64_t outs[INPUTS] = {8, 7, 2, 3, 4, 8, 6};
    static const int64_t bs[INPUTS] = {6, 6, 1, 2, 0, 6, 5};
    static const int64_t ks[INPUTS] = {1, 2, 0, -1, INT64_MAX, INT64_MIN, 3};
    static const double xs[INPUTS] = {0.5, -0.0, 1e308, 0.0, 2.0, -1.0, 3.0};
    EvalArray arrays[5] = {0};
    Slot scalars[5] = {0};
    memset(call, 0, sizeof(*call));
    for (int i = 0; i < DIM * DIM; i++) {
        call->a[i] = i % 5 == 0 ? -0.0 : 0.25 * i - 1;
    }
    for (int i = 0; i < OUT; i++) {
        call->out[i] = i - 2;
        call->b[i % DIM] = (uint8_t)(i % 4);
    }
    arrays[0] = describe(call->a, rows[input], columns[input], 8);
    arrays[1] = describe(call->b, bs[input], 1, 1);
    arrays[2] = describe(call->out, outs[input], 1, 8);
    scalars[3].i = ks[input];
    scalars[4].f = xs[input];
    Eval eval = {.arrays = arrays, .scalars = scalars, .steps = STEPS};
    eval.rets = call->rets;
    eval.ret_arrays = call->ret_arrays;
    call->status = ir_eval(arena, func, &eval);
    call->warnings = eval.warnings;
}

static bool
same_floats(const double *lhs, const double *rhs, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool nans = lhs[i] != lhs[i] && rhs[i] != rhs[i];
        if (!nans && memcmp(&lhs[i], &rhs[i], sizeof(double)) != 0) {
            return false;
        }
    }
    return true;
}

static bool
same_call(const Call *lhs, const Call *rhs)
{
    const EvalArray *left = &lhs->ret_arrays[0];
    const EvalArray *right = &rhs->ret_arrays[0];
    return memcmp(lhs->out, rhs->out, sizeof(lhs->out)) == 0 &&
           lhs->warnings == rhs->warnings &&
           memcmp(left->dims, right->dims, sizeof(left->dims)) == 0 &&
           same_floats((const double *)(const void *)left->data,
                       (const double *)(const void *)right->data,
                       left->dims[0] * left->dims[1]) &&
           lhs->rets[1].i == rhs->rets[1].i &&
           same_floats(&lhs->rets[2].f, &rhs->rets[2].f, 1);
}

/* Is 'after' what may come of a call that was 'before'? */
static bool
is_right(const Call *before, const Call *after, bool may_bail)
{
    if (before->status == EVAL_STEPS || before->status == EVAL_FAULT) {
        return true;
    }
    if (after->status == EVAL_BAIL) {
        return may_bail;
    }
    if (before->status != EVAL_OK) {
        return after->status == before->status;
    }
    return after->status == EVAL_OK && same_call(before, after);
}

/* --- the passes ---------------------------------------------------------- */

typedef struct Counts {
    long calls;
    long ended_well;
    long faults; /* of the original: the generator's mistake */
    long bailed;
    long shrunk; /* statements that passes dropped */
} Counts;

static void
show(const char *title, const Func *func)
{
    Arena *arena = arena_new();
    Str text = str_new(arena);
    ir_print(func, &text);
    printf("; %s\n%s", title, text.at);
    arena_free(arena);
}

static void
wrong(const Func *before, const Func *after, const char *pass, uint64_t seed,
      int input, const char *what)
{
    printf("seed %llu pass %s input %d: %s\n", (unsigned long long)seed, pass,
           input, what);
    show("before", before);
    show("after", after);
    exit(1);
}

static int
statements(const Func *func)
{
    int n = 0;
    for (int kind = 0; kind < S_COUNT; kind++) {
        n += ir_count(func, (StmtKind)kind);
    }
    return n;
}

static void
compare(Arena *arena, const Func *before, const Func *after, const char *name,
        uint64_t seed, Counts *counts)
{
    Call first;
    Call second;
    const char *broken = ir_verify(arena, after);
    if (broken != NULL) {
        wrong(before, after, name, seed, -1, broken);
    }
    for (int input = 0; input < INPUTS; input++) {
        run(arena, before, input, &first);
        run(arena, after, input, &second);
        if (!is_right(&first, &second, !after->general)) {
            wrong(before, after, name, seed, input, "another result");
        }
        counts->calls++;
        counts->ended_well += second.status == EVAL_OK;
        counts->faults += first.status == EVAL_FAULT;
        counts->bailed += second.status == EVAL_BAIL;
    }
    counts->shrunk += statements(before) - statements(after);
}

static char *
text_of(Arena *arena, const Func *func)
{
    Str text = str_new(arena);
    ir_print(func, &text);
    return text.at;
}

typedef struct Step {
    const char *name;
    Func *(*run)(Pass *pass, Func *func);
} Step;

static const Step steps[] = {
    {"simplify", pass_simplify}, {"unroll", pass_unroll},
    {"checks", pass_checks},     {"prealloc", pass_prealloc},
};

/* Each pass alone on the original, then all in a row, then the whole table of
 * passes.def. */
static void
one_seed(uint64_t seed, const char *only, Counts *counts)
{
    Arena *arena = arena_new();
    Arena *scratch = arena_new();
    Diags diags;
    Opts opts = opts_default();
    Sched sched = {0};
    Pass pass = {arena, scratch, &diags, &opts, &sched};
    diags_init(&diags, arena);
    Func *func = passes_gen(arena, seed, seed % 3 == 0);
    Func *original = ir_clone_func(arena, func);
    Func *row = ir_clone_func(arena, func);
    for (int i = 0; i < 4; i++) {
        if (only == NULL || strcmp(only, steps[i].name) == 0) {
            Func *after = steps[i].run(&pass, ir_clone_func(arena, func));
            compare(arena, original, after, steps[i].name, seed, counts);
        }
        row = steps[i].run(&pass, row);
        arena_reset(scratch);
    }
    compare(arena, original, row, "row", seed, counts);
    Func *all = pass_run_all(&pass, ir_clone_func(arena, func), NULL);
    compare(arena, original, all, "table", seed, counts);
    char *once = text_of(arena, simplify(&pass, row));
    char *twice = text_of(arena, simplify(&pass, simplify(&pass, row)));
    if (strcmp(once, twice) != 0) {
        wrong(row, simplify(&pass, row), "simplify", seed, -1,
              "simplify is not idempotent");
    }
    arena_free(scratch);
    arena_free(arena);
}

/* As one_seed; a pass that gives up is a mismatch too. */
static void
guarded_seed(uint64_t seed, const char *only, Counts *counts)
{
    Fatal handler;
    fatal_enter(&handler);
    if (setjmp(handler.env) != 0) {
        printf("seed %llu fatal: %s\n", (unsigned long long)seed,
               handler.message);
        exit(1);
    }
    one_seed(seed, only, counts);
    fatal_leave(&handler);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
    Counts counts = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        guarded_seed(seed, argc > 3 ? argv[3] : NULL, &counts);
    }
    printf("calls %ld ended well %ld faults %ld bailed %ld dropped %ld\n",
           counts.calls, counts.ended_well, counts.faults, counts.bailed,
           counts.shrunk);
    return 0;
}
