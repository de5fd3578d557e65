#ifndef VZ_IR_RELAXED_H
#define VZ_IR_RELAXED_H
/* relaxed.c: the rows of fn.def with origin 'A'. */
#include "csrc/ir/ir.h"

/* The function that may stand for 'fn' where VECMATH is allowed; -1: none. */
int ir_fn_relaxed(Fn fn);
/* The value of a function of origin 'A'. */
double ir_relaxed_value(Fn fn, DType dtype, const double *args);
#endif
