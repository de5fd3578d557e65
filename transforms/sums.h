#ifndef VZ_TRANSFORMS_SUMS_H
#define VZ_TRANSFORMS_SUMS_H
/* sums.c: what loops add up. */
#include "csrc/ir/ir.h"

/* What a value has to do with a float that a loop carries: nothing; it is one;
 * it is one to which something was added. */
typedef enum SumLevel { SUM_NOT, SUM_BASE, SUM_ADDED } SumLevel;

/* "levels": by Var *, a mark that is SUM_BASE's or SUM_ADDED's; "grown": the
 * table has. */
typedef struct Sums {
    Map levels;
    bool grown;
} Sums;

/* All of 'func'; its tables are in 'arena'. */
void sums_find(Arena *arena, const Func *func, Sums *out);
SumLevel sums_level(const Sums *sums, const Expr *e);
#endif
