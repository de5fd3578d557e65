#ifndef VZ_ANALYSIS_ANALYSIS_H
#define VZ_ANALYSIS_ANALYSIS_H
/* Facts about functions at L_LOOPS; nothing here rewrites.
 *
 * linear.c   arithmetic on linear forms
 * bounds.c   definitions, facts, intervals: what is known where one stands
 *            (with forms.c, facts.c, floats.c, induct.c, share.c, memo.c)
 * prove.c    a prover for  form >= 0, and for conditions (conditions.c)
 * solver.c   Z3 for what these do not prove (smt.c writes the questions)
 * weaken.c   what must hold before a loop so that a form is >= 0 inside
 * depend.c   dependences between iterations
 * effects.c  what a statement reads, writes and may end
 * loops.c    definitions of Vars, nests, invariance, scopes
 */
#include "csrc/ir/ir.h"

/* --- linear forms: c0 + sum of c_i * atom_i, atoms are i64 expressions that
 * no further rule takes apart (Vars without a linear definition, E_DIM,
 * products ...), equal atoms merged by ir_equal. */
typedef struct Term {
    Expr *atom;
    int64_t coef;
} Term;

typedef struct Linear {
    int64_t constant;
    VEC(Term) terms; /* sorted by a stable order; no zero coefficients */
} Linear;

Linear linear_const(int64_t value);
Linear linear_atom(Arena *arena, Expr *atom);
/* 'out' = lhs_factor * lhs + rhs_factor * rhs; false when a coefficient
 * overflows.  'out' may be 'lhs' or 'rhs'. */
bool linear_sum(Arena *arena, const Linear *lhs, int64_t lhs_factor,
                const Linear *rhs, int64_t rhs_factor, Linear *out);
/* The product; atoms that are products are E_MULs with sorted factors. */
bool linear_product(Arena *arena, const Linear *lhs, const Linear *rhs,
                    Linear *out);
bool linear_is_const(const Linear *form, int64_t *out);
bool linear_equal(const Linear *lhs, const Linear *rhs);
int64_t linear_coef(const Linear *form, const Expr *atom);
/* The i64 expression that computes 'form'. */
Expr *linear_expr(Arena *arena, const Linear *form);

/* What is known where one stands in the program: definitions of Vars, ranges
 * of loop variables, conditions of the branches taken, entry guards
 * (0 <= E_DIM < 2^31).  Scopes nest: bounds_push / bounds_pop. */
typedef struct Bounds Bounds;

/* Forms and what is made of them (linear_expr) share atoms with "arena": a pass
 * that puts them into the function gives its own, not the scratch one. */
Bounds *bounds_new(Arena *arena, const Func *func);
int bounds_push(Bounds *b);
void bounds_pop(Bounds *b, int mark);
/* Note a LET, a loop's variable (lo <= var < hi), or that 'cond' holds
 * (does not hold). */
void bounds_define(Bounds *b, Var *var, Expr *value);
void bounds_loop(Bounds *b, const Stmt *loop);
void bounds_assume(Bounds *b, Expr *cond, bool holds);
/* What holds once 's' is behind: the definition of a LET, the condition of a
 * CHECK, the joins of an IF, what a loop hands out. */
void bounds_after(Bounds *b, const Stmt *s);

/* 'e' as a linear form through definitions; true unless it overflows the
 * analysis's own arithmetic. */
bool bounds_linear(Bounds *b, Expr *e, Linear *out);
/* Is 'cond' always true / always false here?  Never wrong, may not know. */
bool bounds_proves(Bounds *b, Expr *cond);
bool bounds_refutes(Bounds *b, Expr *cond);
/* Is the element of 'buf' at 'index', one for each of 'n' axes, surely there?
 * Of lists that grow, never. */
bool bounds_in_range(Bounds *b, const Buf *buf, Expr *const *index, int n);
/* Is 'form' >= 0 wherever all that is known holds? */
bool bounds_nonneg(Bounds *b, const Linear *form);
/* From here on, or no longer, questions without an answer are put to Z3, if a
 * compilation has it: solver_begin ('path' of the library, NULL: none; 'log'
 * receives the queries, NULL: nothing) to solver_end, on one thread. */
void bounds_hard(Bounds *b, bool hard);
void solver_begin(const char *path, Str *log);
void solver_end(void);
/* Conditions in terms of 'allowed' atoms alone, each a form that must be >= 0,
 * which together with all that is known imply 'form' >= 0; appended to 'out'.
 * 'by_range': a value from memory may count as the worst of its dtype.
 * False: none were found.  weaken.c */
typedef VEC(Linear) LinearVec;
typedef bool (*AtomFn)(void *data, const Expr *atom);
bool bounds_weaken(Bounds *b, const Linear *form, AtomFn allowed, void *data,
                   bool by_range, LinearVec *out);
/* An interval that holds 'e' (INT64_MIN / INT64_MAX where unknown). */
void bounds_interval(Bounds *b, Expr *e, int64_t *lo, int64_t *hi);
/* A condition that is false of nan only, asked of what the nan comes from:
 * -2^63 <= z and z < 2^63 of a z that was cut to 0..255, as x <= inf.  NULL: it
 * is false of a number, too, or not of floats. */
Expr *bounds_ask_nan(Bounds *b, const Expr *cond);
/* The i of a cast int(i / 2^k) from f64 to i64 that is i >> k, and k; NULL: 'e'
 * is none, or they may differ. */
Var *bounds_halved(Bounds *b, const Expr *e, int *shift);
/* Can a loop's lo + k and hi - k, k small, not wrap where it matters?  Splits
 * and strips compute such ends, and a wrapped one runs 2^63 rounds. */
bool bounds_may_shift(Bounds *b, const Stmt *loop);

/* Calls 'fn' for every statement of 'func', outer before inner, with the
 * Bounds as they are just before it; 'fn' says whether to go into the
 * statement's own blocks.  visit.c */
typedef bool (*VisitFn)(void *data, Bounds *b, Stmt *s);
void bounds_visit(Arena *arena, const Func *func, VisitFn fn, void *data);
void bounds_visit_block(Bounds *b, const Block *block, VisitFn fn, void *data);
bool block_has_loop(const Block *block);

/* --- effects */
typedef struct Effects {
    bool visible_store; /* writes an argument's memory */
    bool store;         /* writes any buffer */
    bool load;
    bool check;         /* may end the call */
    bool warn;
    bool alloc;
    bool loop_forever;  /* contains a WHILE */
} Effects;

Effects effects_of(const Stmt *s);
Effects effects_of_block(const Block *block);
/* Could a store to one be seen by a load of the other?  Names of one group may
 * share memory (ir_may_share), else fresh buffers do with nobody; arguments may
 * in a general kernel, while a fast one has tested at its entry that what it
 * writes is disjoint from all else. */
bool effects_may_alias(const Func *func, const Buf *lhs, const Buf *rhs);
/* Does 's' itself, not what is in it, make 'buf' or give the name its memory?
 */
bool effects_makes(const Stmt *s, const Buf *buf);
bool effects_writes(const Block *block, const Buf *buf);
bool effects_reads(const Block *block, const Buf *buf);

/* --- loops */
/* Is 'e' the same in every round of 'loop' (its Vars defined outside, no load
 * that the loop may overwrite)? */
bool loop_invariant(const Func *func, const Stmt *loop, const Expr *e);
/* Is 'buf' made, or given its memory, by 'loop' or in it? */
bool loop_makes(const Stmt *loop, const Buf *buf);
/* hi - lo when both are constants; -1 otherwise. */
int64_t loop_trips(const Stmt *loop);
/* Var * -> Stmt * that defines it, for all that 'block' and below define. */
Map loop_defs(Arena *arena, const Block *block);

/* 'e' without the names that LETs among 'defs' define; with them still, if it
 * would grow long. */
Expr *loop_spelled_out(Arena *arena, const Map *defs, Expr *e);

/* Which Vars are visible where a walk stands: shown as they are defined,
 * hidden again ("visible.n" set back) where their block ends.  "rank": Var *
 * -> position in "visible" + 1. */
typedef struct Scope {
    Arena *arena;
    VarVec visible;
    Map rank;
} Scope;

Scope scope_new(Arena *arena, const Func *func); /* the scalar parameters */
void scope_show(Scope *scope, Var *var);
void scope_show_after(Scope *scope, const Stmt *s); /* what 's' leaves */
void scope_show_inside(Scope *scope, const Stmt *loop);
/* Are all Vars of 'e' among the first 'n' visible ones? */
bool scope_sees(const Scope *scope, int n, const Expr *e);
/* May 'e' be computed right before 'loop'? */
bool loop_sees(Arena *arena, const Func *func, const Stmt *loop,
               const Expr *e);

/* --- dependences */
typedef struct DependWhy {
    Loc first;        /* the two accesses that conflict, or the place where the
                         carry is changed; line 0: none */
    Loc second;
    const char *text; /* in words, in the given arena */
} DependWhy;

/* Are the rounds of 'loop' independent: no carry, no until, no check that
 * can't be a sticky flag, no two accesses of different rounds to one element
 * of which one writes?  'b' stands just outside the loop. */
bool depend_independent(Arena *arena, const Func *func, Bounds *b,
                        const Stmt *loop, DependWhy *why);
#endif
