#ifndef VZ_TRANSFORMS_LOCKSTEP_H
#define VZ_TRANSFORMS_LOCKSTEP_H
/* What the files of lockstep share: lockstep.c decides and cuts the body into
 * parts, lockpart.c writes the parts for many lanes. */
#include "transforms/transforms.h"

/* A name that a later part uses, its array, and the part that defines it. */
typedef struct Cross {
    Var *var;
    Buf *buf;
    int part;
} Cross;

/* The transformation at work.  Parts with odd numbers are inner loops, those
 * with even ones are what stands before, between and behind them.
 *   "loop"    the loop over x
 *   "first" "end"  the strip at hand
 *   "part"    the part that is looked at
 *   "parts" "nparts"  the body, cut
 *   "defined"  Var * -> Block *, the one of "parts" that defines it
 *   "cross"   what goes from part to part; "needs": by part, what it uses
 *   "bufs"    Var * -> Buf *, the array of what crosses, carries and counters
 *   "made"    these arrays, and "alive", which is 1 in lanes that are in
 *   "vectors"  a small array would go from part to part */
typedef struct Lockstep {
    Arena *arena;
    Func *func;
    const Stmt *loop;
    Expr *first;
    Expr *end;
    int part;
    int nparts;
    Block *parts;
    Map defined;
    VEC(Cross) cross;
    VarVec *needs;
    Map bufs;
    VEC(Buf *) made;
    Buf *alive;
    bool vectors;
} Lockstep;

/* A loop that some rounds leave before others. */
bool lockstep_uneven(const Stmt *s);
/* lockhoist.c: a copy of 'inner' in which names stand for what has no form for
 * lanes and is the same in all rounds; LETs that define them are appended to
 * 'out'.  'b' knows what holds before 'inner'.  To ask only, 'func' is NULL. */
Stmt *lockstep_hoist(Arena *arena, Func *func, Bounds *b, const Stmt *inner,
                     Block *out);
/* The join of the IF 'branch' that 'name' is; NULL: none. */
Join *lockstep_join(const Stmt *branch, const Expr *name);
/* lockcount.c: adds 'carry' a constant, in each round of 's' that is made, or
 * only in those that don't end it ("unless_last")?  Then that; else NULL. */
Expr *lockstep_tally(Arena *arena, const Stmt *s, const Carry *carry,
                     bool *unless_last);
/* How many rounds the inner loop 's' makes in all lanes unless they leave it
 * earlier; NULL: not the same number in all, or not known before it. */
Expr *lockstep_left(const Lockstep *m, const Stmt *s);
/* The inner loop of part 'part'; NULL of even ones. */
Stmt *lockstep_inner(const Lockstep *m, int part);
/* Cuts the body of 'loop', and finds what goes from part to part. */
Lockstep lockstep_cut(Arena *arena, const Stmt *loop);

#endif
