#ifndef VZ_TRANSFORMS_HOIST_H
#define VZ_TRANSFORMS_HOIST_H
/* What checks.c (the walk) and hoist.c (one check) share. */
#include "transforms/transforms.h"

/* A place where hoisted checks can stand: the entry (loop NULL) or just
 * before a loop.  "visible": how many Vars of Hoist.scope are defined there.
 * "conds": how many of Hoist.conds were decided there.  "known": what holds
 * there because of the checks; NULL: nothing yet. */
typedef struct Place {
    const Stmt *loop;
    int visible;
    int conds;
    Bounds *known;
    Block checks;
} Place;

/* A condition of an IF around the place where one stands. */
typedef struct Taken {
    Expr *cond;
    bool holds;
} Taken;

/* The walk's state.
 *   "here"    what is known where the walk stands
 *   "places"  the entry, then the loops one is in, outermost first
 *   "scope"   Vars that are visible
 *   "lets"    Var * -> value, of LETs without loads */
typedef struct Hoist {
    Pass *pass;
    Arena *arena;
    Func *func;
    Bounds *here;
    VEC(Place) places;
    VEC(Taken) conds;
    Scope scope;
    Map lets;
    bool by_name;   /* the ends of loops are compared by their names */
    bool stored;    /* visible memory may have been written by now */
    int hoisted;    /* conditions taken out of loops */
} Hoist;

/* Parameters of loops and indices stay within this of 0: products of two such,
 * and sums of a few, are far from the ends of i64. */
#define MODERATE ((int64_t)1 << 30)

/* What is left of 'check' after its conditions were hoisted as far as they
 * can be; NULL: nothing. */
Stmt *hoist_check(Hoist *h, Stmt *check);
#endif
