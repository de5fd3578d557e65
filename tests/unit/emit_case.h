#ifndef VZ_TESTS_EMIT_CASE_H
#define VZ_TESTS_EMIT_CASE_H
/* A call of a function under test: its arguments, made from a number. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csrc/ir/ir.h"

enum { MOST_PARAMS = 32 };

/* An array argument: memory "block" of "size" bytes, the elements in it. */
typedef struct Array {
    char *block;
    size_t size;
    EvalArray view;
} Array;

/* Call number "seed" of a function. */
typedef struct Case {
    Arena *arena;
    const Func *func;
    unsigned seed;
    uint64_t random;
    Array arrays[MOST_PARAMS];
    Slot scalars[MOST_PARAMS];
} Case;

void make_case(Case *test);
/* The same arguments in other memory. */
Case copy_case(const Case *test);
/* Bit for bit, but NaNs are alike. */
bool same_element(DType dt, const char *lhs, const char *rhs);
bool same_block(DType dt, const char *lhs, const char *rhs, size_t size);
bool same_arguments(const Case *lhs, const Case *rhs);
#endif
