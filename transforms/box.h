#ifndef VZ_TRANSFORMS_BOX_H
#define VZ_TRANSFORMS_BOX_H
/* Which box of a buffer does a nest write, or touch?  What passes ask that
 * clear memory.
 *
 *     for y in 1..h-1 for x in 0..w { out[y, x] = ... }    written:
 *                                                          [1, h-1) x [0, w)
 */
#include "csrc/analysis/analysis.h"
#include "csrc/ir/ir.h"

/* [lo, hi) of one axis of a box, in terms of what is known before the nest. */
typedef struct Side {
    Linear lo;
    Linear hi;
} Side;

/* A place just before a statement: what is known and which Vars are visible
 * there; "arena" of what is made. */
typedef struct Place {
    Arena *arena;
    Bounds *bounds;
    const Scope *scope;
} Place;

/* The box of 'buf' that 'nest', a FOR, surely writes, one Side per axis; false
 * where there is none.  The nest must not read 'buf'. */
bool box_written(const Place *at, const Stmt *nest, Buf *buf, Side *box);
/* Is it [0, dim) on axis 'axis', literally? */
bool box_is_whole(const Place *at, const Buf *buf, const Side *box, int axis);

/* ends.c: an expression that 'index', which is computed somewhere inside the
 * statement that follows, is never above ('upper') or below, whatever round it
 * is computed in; NULL where none is found.  'defs' are the Vars that the
 * statement defines (loop_defs). */
Expr *box_end(const Place *at, const Map *defs, Expr *index, bool upper);

/* uses.c: how a buffer is used: "touches", loads and stores of single elements
 * or vectors of them; "fills"; "extent" of it asked for; "other" uses. */
typedef struct Uses {
    const Buf *buf;
    int touches;
    int fills;
    bool extent;
    bool other;
} Uses;

/* By 's' and all in it; by the whole body. */
Uses uses_of(const Stmt *s, const Buf *buf);
Uses uses_in(const Func *func, const Buf *buf);
/* By what the function returns. */
bool uses_at_end(const Func *func, const Buf *buf);
/* Does 'e' ask for an extent of what is no argument?  Such a buffer may be made
 * or bound later than where 'e' is to be computed. */
bool uses_made_extent(const Expr *e);
#endif
