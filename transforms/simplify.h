#ifndef VZ_TRANSFORMS_SIMPLIFY_H
#define VZ_TRANSFORMS_SIMPLIFY_H
/* What fold.c, rules.c, avail.c, dead.c and simplify.c share. */
#include "transforms/transforms.h"

/* --- fold.c: an operation on constants, exactly as the kernel would do it;
 * NULL where that is undefined or would raise a floating-point flag. */
Expr *fold_constants(Arena *arena, const Expr *e);

/* --- rules.c */
/* What rules may ask.
 *   "arena"    of new nodes
 *   "bounds"   what is known here; NULL: nothing
 *   "vectors"  Var * -> the SPLAT or INSERT that it is
 *   "changes"  how often a rule applied */
typedef struct Rules {
    Arena *arena;
    Bounds *bounds; /* what is known here; NULL: nothing */
    Map vectors;    /* Var * -> the SPLAT or INSERT that it is */
    int changes;    /* how often a rule applied */
} Rules;

/* 'e', whose operands are simplified, by the rules of rules.def. */
Expr *rules_apply(Rules *rules, Expr *e);

/* --- avail.c: expressions whose value a Var holds already */
/* A value that is at hand.
 *   "e"      the expression
 *   "to"     a leaf that holds its value: a Var, a constant, an extent
 *   "next"   entry of the same hash bucket, -1: none
 *   "stamp"  when the value was read */
typedef struct AvailEntry {
    Expr *e;
    Expr *to;
    int next;  /* of the same hash bucket, -1: none */
    int stamp; /* when the value was read */
} AvailEntry;

enum { AVAIL_BUCKETS = 256 };

/* The table: entries in the order in which they were made, chained by hash.
 *   "entries"  a stack, cut back at the end of a scope
 *   "heads"    entry number + 1
 *   "killed"   Buf * -> stamp of the last write to it or its group
 *   "stamp"    now; every write raises it */
typedef struct Avail {
    Arena *arena;
    const Func *func;
    VEC(AvailEntry) entries;
    int heads[AVAIL_BUCKETS]; /* entry number + 1 */
    Map killed;               /* Buf * -> stamp of the last write to it */
    int stamp;
} Avail;

void avail_init(Avail *avail, Arena *arena, const Func *func);
int avail_push(const Avail *avail);
void avail_pop(Avail *avail, int mark);
void avail_add(Avail *avail, Expr *e, Expr *to);
Expr *avail_find(const Avail *avail, const Expr *e); /* NULL: none */
/* "buf"["index"] was written: loads that may see it are forgotten; 'b' tells
 * other elements of the same buffer apart (NULL index: all were written). */
void avail_store(Avail *avail, Bounds *b, Buf *buf, Expr *const *index,
                 int n);
/* Everything that 'block' may write is forgotten. */
void avail_forget(Avail *avail, const Block *block);
/* Buf * -> itself, for every buffer that 'block' and below load from. */
Map avail_loaded(Arena *arena, const Block *block);

/* --- dead.c: drops what nothing visible depends on; the number of things
 * dropped. */
int dead_code(Arena *arena, Arena *scratch, Func *func);
#endif
