#ifndef VZ_IR_VERIFY_H
#define VZ_IR_VERIFY_H
/* What the two files of the verifier share: verify.c has the statements and
 * the scopes, verify_expr.c the expressions. */
#include "csrc/ir/ir.h"

/* The state of one run over a function.
 *
 *   "arena"  for the tables and the message.  "func"  what is judged.
 *   "error"  the first broken rule, or NULL; later ones are consequences of it
 *       as often as not, so nothing is judged after it.
 *   "stmt"  where we are; NULL in head and rets.
 *   "visible"  Var *, Buf * -> itself, or NULL when out of scope again.
 *   "assigned"  Var *, Buf * that have a definition anywhere before.
 *   "sets"  Var * with a SET, collected before the run: at L_ARRAY they are
 *       visible everywhere.
 *   "ids"  id + 1 -> the Var, Buf or loop that has it (so that id 0 is not the
 *       key NULL).
 *   "scope"  what became visible, in order; closing a block pops from it.
 *   "loops", "scopes", "parallels"  how many are open around "stmt". */
typedef struct Verify {
    Arena *arena;
    const Func *func;
    const char *error; /* the first one */
    const Stmt *stmt;  /* where we are; NULL in head and rets */
    Map visible;       /* Var *, Buf * -> itself, or NULL when out of scope */
    Map assigned;      /* Var *, Buf * that have a definition */
    Map sets;          /* Var * with a SET */
    Map ids;           /* id + 1 -> the Var, Buf or loop that has it */
    VEC(const void *) scope;
    int loops;
    int scopes;
    int parallels;
} Verify;

/* Keeps the first error: 'rule: what; at 3:4: statement'. */
void verify_broken(Verify *v, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* 'buf' exists and is in scope where we are. */
void verify_use_buf(Verify *v, const Buf *buf);

/* --- verify_expr.c ------------------------------------------------------ */
/* 'e' keeps every rule, and so does all below it. */
void verify_expr(Verify *v, const Expr *e);
/* 'e' has type 'dtype' and no lanes. */
void verify_is_scalar(Verify *v, const Expr *e, DType dtype, const char *what);
void verify_scalar(Verify *v, const Expr *e, DType dtype, const char *what);
/* 'e' can be the value of 'var'. */
void verify_value(Verify *v, const Var *var, const Expr *e, const char *what);
/* The indices of a load or store of 'lanes' lanes. */
void verify_access(Verify *v, const Buf *buf, Expr *const *index, int n,
                   int lanes);
#endif
