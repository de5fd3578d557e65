#ifndef VZ_TRANSFORMS_TALLIES_H
#define VZ_TRANSFORMS_TALLIES_H
/* tallied.c: what a loop only adds to; tallies.c, the pass, makes blocks. */
#include "transforms/transforms.h"

enum { MOST_ARRAYS = 4 };

/* An array that rounds add to.
 *   "buf"     itself
 *   "copies"  what is added to instead, by block
 *   "places"  where the loop does so
 *   "rounds"  f64: so many additions at most
 *   "added"   f64: so much at most */
typedef struct Tallied {
    Buf *buf;
    Buf *copies;
    int places;
    Expr *rounds;
    Expr *added;
} Tallied;

/* The pass's state, and that of one loop.
 *   "uses"     by Var.id: how often it is read
 *   "instead"  Var * that a loop counts -> Block * that takes its place
 *   "defs"     Var * -> Stmt * that defines it in the loop
 *   "list"     the arrays, "n" of them
 *   "before"   LETs before the loop: how many rounds loops have
 *   "span"     f64: the loop's
 *   "block"    the number of the block, where the loop is rewritten */
typedef struct Tallies {
    Pass *pass;
    Func *func;
    const int *uses;
    Map instead;
    const Stmt *loop;
    Map defs;
    Tallied list[MOST_ARRAYS];
    int n;
    Block before;
    Expr *span;
    Expr *block;
} Tallies;

/* Finds the arrays that w->loop does nothing with but add integers to elements
 * of; 'b' stands before it. */
void tally_find(Tallies *w, Bounds *b);
/* The entry of 'buf'; NULL: it is none of them. */
Tallied *tally_array(Tallies *w, const Buf *buf);
/* The value of the LET of a name; NULL: 'e' is no such name. */
Expr *tally_value(const Tallies *w, const Expr *e);

/* Constants, f64 and i64; a name for 'e' at the end of 'out', unless it is as
 * short as one; sums and products, of which 'lhs' may be NULL for none. */
Expr *tally_number(const Tallies *w, double value);
Expr *tally_int(const Tallies *w, int64_t value);
Expr *tally_named(const Tallies *w, Block *out, const char *name, Expr *e);
Expr *tally_plus(const Tallies *w, Expr *lhs, Expr *rhs);
Expr *tally_times(const Tallies *w, Expr *lhs, Expr *rhs);
#endif
