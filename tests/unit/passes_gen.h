#ifndef VZ_TESTS_UNIT_PASSES_GEN_H
#define VZ_TESTS_UNIT_PASSES_GEN_H
/* Random functions for passes_fuzz.c. */
#include "csrc/ir/ir.h"

/* The function of 'seed': arrays a (f64, two axes), b (u8, one axis) and out
 * (i64, one axis), scalars k and x; results: an array, an i64, a f64. */
Func *passes_gen(Arena *arena, uint64_t seed, bool general);
#endif
