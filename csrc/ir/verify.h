#ifndef VZ_IR_VERIFY_H
#define VZ_IR_VERIFY_H
/* What the files of the verifier share: verify.c has the statements and the
 * scopes, verify_expr.c the expressions, verify_name.c other names for
 * memory. */
#include "csrc/ir/ir.h"

/* The state of one run over a function.
 *
 *   "arena"  for the tables and the message.  "func"  what is judged.
 *   "error"  the first broken rule, or NULL; later ones are consequences of it
 *       as often as not, so nothing is judged after it.
 *   "stmt"  where we are; NULL in head and rets.
 *   "visible"  Var *, Buf * -> itself, or NULL when out of scope again.
 *   "assigned"  Var *, Buf * that have a definition anywhere before.
 *   "sets"  Var * with a SET, Buf * with a BIND, collected before the run: at
 *       L_ARRAY they are visible everywhere.
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
    Map sets;          /* Var * with a SET, Buf * with a BIND */
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

/* 'id' belongs to 'owner' alone; 'thing' is visible until its block ends. */
void verify_id(Verify *v, int id, const void *owner);
void verify_show(Verify *v, const void *thing);

/* --- verify_name.c ------------------------------------------------------ */
/* 'ref' gets its memory here, and is visible from here on. */
void verify_name(Verify *v, const Buf *ref);
/* 'src', visible here, can be what 'ref' names. */
void verify_source(Verify *v, const Buf *ref, const Buf *src);
void verify_view(Verify *v, const Stmt *s);
void verify_bind(Verify *v, const Stmt *s);

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
