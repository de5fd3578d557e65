/* The space of variants as mixed-radix numbers.
 *
 * A variant is a number whose digits are its choices, one per axis: first
 * the binary choices, then the compiler.
 *
 *     index 0   parallel regions vectorize gcc      "" with gcc
 *     index 1   serial   regions vectorize gcc      "parallel=0" with gcc
 *     index 8   parallel regions vectorize clang    "" with clang
 *
 * Numbers can be logged, compared and stepped through; the words of opts.h
 * appear only in CHOICES.  Every variant is legal: options can forbid a
 * transformation, the compiler alone proves where one applies.
 */
#include "autotune/tune.h"
#include "csrc/base/str.h"

/* What each binary choice writes when it deviates from the default. */
static const char *const CHOICES[] = {
    "parallel=0",
    "regions=0",
    "vectorize=0",
};

enum { NCHOICES = sizeof CHOICES / sizeof CHOICES[0] };

int
space_axes(const Space *space)
{
    return NCHOICES + (space->ncompilers > 0);
}

int
space_choices(const Space *space, int axis)
{
    return axis < NCHOICES ? 2 : space->ncompilers;
}

int
space_size(const Space *space)
{
    int size = 1;
    for (int axis = 0; axis < space_axes(space); axis++) {
        size *= space_choices(space, axis);
    }
    return size;
}

/* By how much 'index' grows with one step along 'axis'. */
static int
weight(const Space *space, int axis)
{
    int product = 1;
    for (int before = 0; before < axis; before++) {
        product *= space_choices(space, before);
    }
    return product;
}

int
space_digit(const Space *space, int index, int axis)
{
    return index / weight(space, axis) % space_choices(space, axis);
}

int
space_replace(const Space *space, int index, int axis, int digit)
{
    int own = space_digit(space, index, axis);
    return index + (digit - own) * weight(space, axis);
}

void
space_variant(Arena *arena, const Space *space, int index, Variant *out)
{
    Str opts = str_new(arena);
    for (int axis = 0; axis < NCHOICES; axis++) {
        if (space_digit(space, index, axis)) {
            str_add(&opts, opts.n ? " " : "");
            str_add(&opts, CHOICES[axis]);
        }
    }
    out->opts = opts.at;
    out->compiler = "";
    if (space->ncompilers > 0) {
        int digit = space_digit(space, index, NCHOICES);
        out->compiler = space->compilers[digit];
    }
}
