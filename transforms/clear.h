#ifndef VZ_TRANSFORMS_CLEAR_H
#define VZ_TRANSFORMS_CLEAR_H
/* What the files of pass clear share: clear.c, and clearcopy.c for copies. */
#include "transforms/box.h"
#include "transforms/transforms.h"

/* What is asked of one buffer.
 *   "fill" "buf"  the statement that goes, and what it fills
 *   "column"      the axis of columns
 *   "done"        the buffer that replaces the fill
 *   "nests"       how many touch it
 *   "slab"        one of them touches a single slab */
typedef struct Target {
    const Stmt *fill;
    Buf *buf;
    int column;
    Buf *done;
    int nests;
    bool slab;
} Target;

/* A loop that stores what an array was filled with behind the columns that a
 * copy of it has.
 *   "loop"   its id
 *   "valid"  its first column, an i64
 *   "buf"    what it stores to
 *   "value"  and what */
typedef struct Tail {
    int loop;
    Expr *valid;
    const Buf *buf;
    const Expr *value;
} Tail;

typedef VEC(Tail) Tails;

/* The pass's state; "at" is the place where the walk stands, "tails" are those
 * of all targets so far. */
typedef struct Clear {
    Pass *pass;
    Func *func;
    Arena *arena;
    Place at;
    Scope scope;
    Target *target;
    Tails *tails;
    Block *out; /* NULL while it is only asked whether all can be done */
    bool apart; /* only what clears goes there, and definitions */
} Clear;

enum {
    MAX_ENDS = 8,   /* different ends on one axis; more: the whole axis */
    MAX_GROUPS = 4, /* slabs of one nest; more: what is left is one box */
};

/* Ends of indices on one axis, each once: the least of "lo" and the greatest of
 * "hi" bound the axis.  Unknown: the whole of it. */
typedef struct Ends {
    Expr *at[MAX_ENDS];
    int n;
} Ends;

typedef struct Reach {
    Ends lo;
    Ends hi;
    bool unknown;
} Reach;

/* Accesses to one slab, index "slab" of "axis" (-1: to no single one); "reads":
 * there are loads among them. */
typedef struct Group {
    int axis;
    Expr *slab;
    bool reads;
    Reach reach[MAX_RANK];
} Group;

typedef struct Groups {
    Group at[MAX_GROUPS];
    int n;
} Groups;

/* clearreach.c: what 's' touches, up to the column axis.  Is it one index that
 * all accesses have? */
void reach_collect(Clear *clear, Stmt *s, Groups *groups);
bool reach_is_one(const Reach *reach);

/* clear.c: a constant; 'value' under a name of its own; a loop over lo..hi with
 * an empty body; the wish that a loop over columns runs over elements, by SIMD.
 */
Expr *clear_number(const Clear *clear, int64_t value);
Expr *clear_named(Clear *clear, Block *out, const char *name, Expr *value);
Stmt *clear_loop(Clear *clear, const char *name, Expr *lo, Expr *hi);
void clear_propose(Clear *clear, const Stmt *columns);
/* The axis of columns of target->buf; false: it has no rows of columns. */
bool clear_column(Target *target);

/* clearcopy.c: instead of 's' and what clears before it; NULL: 's' copies
 * nothing from or to the target that could be spared. */
Stmt *clear_copy(Clear *clear, const Stmt *s);
#endif
