#ifndef VZ_TRANSFORMS_FISSION_H
#define VZ_TRANSFORMS_FISSION_H
/* What the files of fission share: fission.c makes what a loop computes apart
 * from what it does with it, fisbranch.c the same of a branch. */
#include "transforms/transforms.h"

enum {
    FISSION_BLOCK = 128, /* rounds at a time */
    FISSION_PARTS = 6,   /* rows that are handed over */
};

/* What becomes of a Var of the body, and where. */
typedef enum Role { ROLE_NONE, ROLE_BOTH, ROLE_FIRST, ROLE_SECOND } Role;

/* A Var that is handed over, and the row for each of its elements. */
typedef struct Part {
    Var *var;
    Buf *rows[FISSION_PARTS];
} Part;

/* One loop while it is looked at and taken apart.
 *   "loop"   its branches that only compute are selects
 *   "roles"  Var * -> Role of the LETs of the body
 *   "parts"  Vars of the first loop that the second one needs
 *   "ops"    operations of the first loop
 *   "guarded"  a check of the second loop may stand before what comes now */
typedef struct Fission {
    Pass *pass;
    Func *func;
    const Stmt *loop;
    Map roles;
    VEC(Part) parts;
    int ops;
    bool guarded;
} Fission;

/* One side of a branch of the loop.
 *   "f"       roles: LETs before it that lanes can compute are for both loops
 *   "at"      the branch's number in the loop's body
 *   "other"   it is the side where the condition doesn't hold */
typedef struct Side {
    Fission f;
    int at;
    bool other;
} Side;

Fission fission_of(Pass *pass, Func *func, const Stmt *loop);
/* ROLE_NONE for the loop's variable and all that is defined outside. */
Role fission_role(const Fission *f, const Var *var);
void fission_set_role(Fission *f, const Var *var, Role role);
/* Is 'e' arithmetic of integers on what both loops have? */
bool fission_for_both(const Fission *f, const Expr *e);
/* Can the first loop compute 'e' in lanes? */
bool fission_for_first(const Fission *f, const Expr *e);
/* The role of a LET that is made in every round. */
Role fission_role_of(const Fission *f, const Expr *value);
/* For ir_each_node: what costs something, in what is done first. */
void fission_count(void *data, const Expr *e);
/* For ir_each_stmt: all that it defines is the second loop's. */
void fission_leave(void *data, Stmt *s);
/* For ir_each_stmt: what is handed over, in what is done second. */
void fission_find_parts(void *data, Stmt *s);
/* Is enough computed for what is handed over? */
bool fission_is_worth(const Fission *f);
/* Rows for the parts: so that loops with them can be asked about; and such that
 * are made at the end of 'out'. */
void fission_name_rows(Fission *f);
void fission_make_rows(Fission *f, Block *out);
/* Appends the stores of a round's parts; the LETs that take them. */
void fission_hand_over(const Fission *f, const Stmt *loop, Block *out);
void fission_take_over(const Fission *f, const Stmt *loop, Block *out);
/* Those of 'body' that go first, and of what both loops have what these, and
 * what "needed" has in it, need; in order. */
Block fission_first_body(const Fission *f, const Block *body, Map *needed);
/* A copy of 'loop' under names of its own. */
Stmt *fission_loop(const Fission *f, const Stmt *loop);
/* fisbranch.c: what 'loop' computes in a branch may be computed ahead, and that
 * is worth it; of which, if so.  False: it has no such branch. */
bool fission_find_branch(Pass *pass, Func *func, Bounds *b, const Stmt *loop,
                         Side *out);
/* Appends what 'loop', a block of rounds with the names of the one for which
 * 'side' was found, becomes. */
void fission_branch(Side *side, const Stmt *loop, Block *out);

#endif
