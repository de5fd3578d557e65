/* Undo: whatever a call wrote is put back, byte for byte.
 *
 * Every small shape and stride, then random programs on one to three views of
 * one base, which may overlap one another and themselves.  A program stores
 * 1 to 8 bytes at random elements, sometimes asks for the shadow, and is then
 * rolled back; the base must be what it was, and the shadow must not have
 * changed what was written.
 *
 * usage: run_undo ROUNDS SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/run/run.h"

enum { BASE = 4096, MIDDLE = BASE / 2, MOST_AXES = 3 };

typedef struct Shape {
    int64_t dims[MOST_AXES];
    int64_t strides[MOST_AXES];
} Shape;

static uint64_t seed;
static char base[BASE];
static char before[BASE];
static int failures;

static int
random_below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (unsigned)n);
}

static void
fill_base(void)
{
    for (int i = 0; i < BASE; i++) {
        base[i] = (char)random_below(256);
    }
    memcpy(before, base, BASE);
}

static void
expect(bool ok, const char *what)
{
    if (!ok) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

/* The address of a random element; NULL when there is none. */
static char *
element(const UndoArray *array)
{
    char *at = array->data;
    for (int i = 0; i < array->rank; i++) {
        if (array->dims[i] == 0) {
            return NULL;
        }
        at += array->strides[i] * random_below((int)array->dims[i]);
    }
    return at;
}

static void
store(Undo *undo, VzCtx *ctx, const UndoArray *array)
{
    char *at = element(array);
    if (!at) {
        return;
    }
    if (ctx->logging) {
        expect(undo_note(undo, ctx, at, array->itemsize) == VZ_OK, "note");
    }
    for (int i = 0; i < array->itemsize; i++) {
        at[i] = (char)random_below(256);
    }
}

static void
take_shadow(Undo *undo, VzCtx *ctx)
{
    char now[BASE];
    memcpy(now, base, BASE);
    expect(undo_shadow(undo, ctx) == VZ_OK, "shadow");
    expect(memcmp(now, base, BASE) == 0, "the shadow left memory alone");
    expect(!ctx->logging, "no logging beside a shadow");
}

/* 'stores' stores, the shadow before number 'shadow_at'. */
static void
run_program(UndoArray *arrays, int n, int stores, int shadow_at)
{
    Undo undo = {.arrays = arrays, .narrays = n};
    VzCtx ctx = {.logging = 1};
    fill_base();
    for (int i = 0; i < stores; i++) {
        if (i == shadow_at) {
            take_shadow(&undo, &ctx);
        }
        store(&undo, &ctx, &arrays[random_below(n)]);
    }
    undo_rollback(&undo);
    expect(memcmp(before, base, BASE) == 0, "rollback");
    undo_free(&undo);
}

static void
check_small_shapes(void)
{
    static const int64_t dims[] = {0, 1, 2, 3};
    static const int64_t strides[] = {-8, -3, 0, 1, 2, 4, 12, 24};
    static const int sizes[] = {1, 2, 4, 8};
    for (int i = 0; i < 4 * 4 * 8 * 8 * 4; i++) {
        Shape shape = {{dims[i % 4], dims[i / 4 % 4]},
                       {strides[i / 16 % 8], strides[i / 128 % 8]}};
        UndoArray array = {.data = base + MIDDLE,
                           .itemsize = sizes[i / 1024],
                           .rank = 2,
                           .dims = shape.dims,
                           .strides = shape.strides};
        run_program(&array, 1, 6, i % 7);
    }
}

static void
check_random(void)
{
    Shape shapes[3];
    UndoArray arrays[3] = {0};
    int n = 1 + random_below(3);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < MOST_AXES; k++) {
            shapes[i].dims[k] = random_below(6);
            shapes[i].strides[k] = random_below(81) - 40;
        }
        arrays[i].data = base + MIDDLE + random_below(200);
        arrays[i].itemsize = 1 << random_below(4);
        arrays[i].rank = random_below(MOST_AXES + 1);
        arrays[i].dims = shapes[i].dims;
        arrays[i].strides = shapes[i].strides;
    }
    int stores = random_below(10) ? random_below(60) : random_below(3000);
    run_program(arrays, n, stores, random_below(2 * stores + 1));
}

/* A log larger than the array becomes a shadow by itself. */
static void
check_growth(void)
{
    int64_t dims[1] = {100};
    int64_t strides[1] = {8};
    UndoArray array = {base, 8, 1, dims, strides, NULL};
    Undo undo = {.arrays = &array, .narrays = 1};
    VzCtx ctx = {.logging = 1};
    fill_base();
    int noted = 0;
    for (; noted < 100000 && ctx.logging; noted++) {
        store(&undo, &ctx, &array);
    }
    expect(noted < 2000 && undo.shadowed, "the log became a shadow");
    expect(undo_note(&undo, &ctx, base, 8) == VZ_OK, "note after a shadow");
    memset(base, 0, 800);
    undo_rollback(&undo);
    expect(memcmp(before, base, BASE) == 0, "rollback after growth");
    undo_free(&undo);
}

/* A view too large to copy: the log goes on and still serves. */
static void
check_too_large(void)
{
    int64_t dims[2] = {(int64_t)1 << 40, (int64_t)1 << 40};
    int64_t strides[2] = {1, 2};
    UndoArray array = {base, 8, 2, dims, strides, NULL};
    Undo undo = {.arrays = &array, .narrays = 1};
    VzCtx ctx = {.logging = 1};
    fill_base();
    for (int i = 0; i < 5000; i++) {
        expect(undo_note(&undo, &ctx, base + i % 100, 8) == VZ_OK, "note");
        base[i % 100] = (char)i;
    }
    char now[BASE];
    memcpy(now, base, BASE);
    expect(undo_shadow(&undo, &ctx) == VZ_NOMEM, "no shadow");
    expect(ctx.logging && !undo.shadowed, "the log goes on");
    expect(memcmp(now, base, BASE) == 0, "a failed shadow changes nothing");
    undo_rollback(&undo);
    expect(memcmp(before, base, BASE) == 0, "rollback of the log");
    undo_free(&undo);
}

int
main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    check_small_shapes();
    check_growth();
    check_too_large();
    for (int i = 0; i < rounds; i++) {
        check_random();
    }
    printf("failures %d\n", failures);
    return failures != 0;
}
