#ifndef VZ_LOWER_REDUCE_H
#define VZ_LOWER_REDUCE_H
/* What the files that reduce arrays share: the elements of an array, wherever
 * it lives.
 */
#include "csrc/lower/state.h"

/* Part of a buffer, or ("view" NULL) the lanes of a vector that has a name. */
typedef struct Elements {
    const View *view;
    Expr *vec;
    Loc loc;
    bool parts; /* of complex numbers */
} Elements;

/* What is done with an element. */
typedef void Visit(Lower *L, Expr *e, void *data);

/* How often a reduction happens, and of what. */
typedef struct Reduction {
    ReduceKind kind;
    DType from; /* of the elements */
    DType to;   /* of the result */
    int64_t ddof;
    bool parts; /* of complex numbers, one after the other */
} Reduction;

/* --- reduce.c --- */
void check_some(Lower *L, const Elements *in);
/* The exact sum of integers as a float64. */
Expr *sum_of_ints(Lower *L, const Elements *in, DType from, Expr *n);
void each_element(Lower *L, const Elements *in, Visit *visit, void *data);
Expr *count_elements(Lower *L, const Elements *in);

/* A loop over [0, n) that is emitted and whose body is written next. */
Expr *open_loop(Lower *L, Expr *n, Loc loc);
/* acc op e, for reductions with one accumulator that any order fits. */
Expr *fold_step(Lower *L, ReduceKind kind, DType dtype, Expr *acc, Expr *e);
/* The reduction over all elements that 'in' has. */
Expr *fold_all(Lower *L, const Elements *in, const Reduction *r);

/* --- axes.c --- */
Value fold_axes(Lower *L, const AExpr *e, BuiltinId id, Value a, unsigned axes,
                const Reduction *r);
/* A fresh array for what is left when the 'axes' are gone. */
Value rest_array(Lower *L, const AExpr *e, BuiltinId id, Value a,
                 unsigned axes);
/* Sums of floats into 'out'. */
void sum_into(Lower *L, const View *view, unsigned axes, bool keeps,
              const Reduction *r, const View *out, Loc loc);

/* --- pairsum.c --- */
/* Sums and means of complex numbers. */
Value lower_pair_reduce(Lower *L, const AExpr *e, BuiltinId id);
/* Which elements of a complex array are not 0. */
Value pair_truths(Lower *L, const AExpr *e);

/* --- sum.c --- */
/* All elements of 'view', as an operand of a routine. */
Expr *box_of_view(Lower *L, const View *view, Loc loc);
/* 'sum' / 'n', as np.mean divides. */
Expr *divide_sum(Lower *L, Expr *sum, Expr *n);
Expr *fold_sum(Lower *L, const Elements *in, DType dtype);
Expr *fold_mean(Lower *L, const Elements *in, const Reduction *r);
Expr *fold_variance(Lower *L, const Elements *in, const Reduction *r);
#endif
