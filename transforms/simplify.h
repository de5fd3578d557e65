#ifndef VZ_TRANSFORMS_SIMPLIFY_H
#define VZ_TRANSFORMS_SIMPLIFY_H
/* What the files of pass 'simplify' share: fold.c, rules.c, avail.c, dead.c,
 * simp_if.c, simp_loop.c and simplify.c. */
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

/* --- lanes.c: rules for small vectors */
Expr *elem_of_named(Rules *r, Expr *e);
Expr *elem_of(Rules *r, Expr *e);
Expr *elem_of_load(Rules *r, Expr *e);
Expr *insert_twice(Rules *r, Expr *e);
Expr *insert_all(Rules *r, Expr *e);

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

/* --- simplify.c, simp_if.c, simp_loop.c: the walk */
/* Where the walk stands; see the head of simplify.c.
 *   "arena"    of the new function
 *   "scratch"  of the tables
 *   "subst"    Var * -> Expr *, Buf * -> Buf * that stand for it
 *   "loaded"   Buf * that is loaded from anywhere
 *   "changes"  how much was changed so far */
typedef struct Simp {
    Pass *pass;
    Arena *arena;   /* of the new function */
    Arena *scratch;
    Func *func;
    Rules rules;
    Map subst;      /* Var * -> Expr *, Buf * -> Buf * */
    Map loaded;     /* Buf * that is loaded from anywhere */
    Avail avail;
    int changes;
} Simp;

/* NULL stays NULL. */
Expr *simp_expr(Simp *s, Expr *e);
Buf *simp_buf(const Simp *s, Buf *buf);
/* For ir_map: 'e' with operands done. */
Expr *simp_node(void *data, Expr *e);
/* Worth no name of its own: a constant, a Var, an extent. */
bool simp_is_leaf(const Expr *e);
/* Is 'e' the constant 'value'?  NULL is not. */
bool simp_is_bool(const Expr *e, bool value);
/* 'var' is from now on 'e', a leaf; the name 'ref' stands for 'buf' alone. */
void simp_replace_var(Simp *s, Var *var, Expr *e);
void simp_replace_buf(Simp *s, Buf *ref, Buf *buf);
/* The extents of a name, after what they may speak of was simplified. */
void simp_extents(Simp *s, Buf *ref);
/* let var = value, or a substitution where that is possible. */
void simp_define(Simp *s, Block *out, Var *var, Expr *value, Loc loc);
/* 'e' as a leaf; a LET names it where it is none. */
Expr *simp_named(Simp *s, Block *out, Expr *e, const char *name, Loc loc);
/* Appends what 'in' becomes to 'out'. */
void simp_block(Simp *s, const Block *in, Block *out);
/* Append what the statement becomes; it is a copy and may be changed. */
void simp_if(Simp *s, Stmt *branch, Block *out);
void simp_for(Simp *s, Stmt *loop, Block *out);
void simp_while(Simp *s, Stmt *loop, Block *out);

/* --- dead.c: drops what nothing visible depends on; the number of things
 * dropped. */
int dead_code(Arena *arena, Arena *scratch, Func *func);
#endif
