#ifndef VZ_ANALYSIS_INDUCT_H
#define VZ_ANALYSIS_INDUCT_H
/* What induct.c and steps.c share; nobody else includes it. */
#include "csrc/analysis/bounds.h"

/* A Var that the loop defines: by a LET, a join or an inner loop's carry.
 * "tested": additions whose overflow was tested before the LET. */
typedef struct Local {
    const Var *var;
    Expr *value;         /* LET; select of the values of a join */
    const Stmt *loop;    /* carry's out */
    const Carry *carry;
} Local;

typedef struct Induct {
    Bounds *b;
    const Stmt *loop;
    const Var *var;      /* the carry looked at */
    VEC(Local) locals;
    VEC(const Expr *) tested;   /* ADDs whose overflow test stands before */
    VEC(const Expr *) untested; /* ADDs met without; a node may be both */
    VEC(const Expr *) checks;   /* ADDO tests passed so far */
    int seq;             /* what was defined before the loop has less */
    bool below;          /* choices are not above the FOR's last round */
    bool above;          /* nor below its first */
    Wide most;           /* a WHILE's condition keeps the carry below this */
    int fuel;
} Induct;

/* next - var: its interval, forms that it is not below and not above
 * ("has_forms"), and whether some addition might wrap. */
typedef struct Step {
    bool ok;
    bool may_wrap;
    bool has_forms;
    Range range;
    Linear least;
    Linear most;
} Step;

/* --- steps.c */
/* Note what the loop defines and which additions are tested. */
void steps_scan(Induct *in);
/* The definition of a Var in the loop; NULL: it comes from outside. */
const Local *steps_local(const Induct *in, const Var *var);
/* The range of 'e' if it does not depend on the carry looked at. */
bool steps_value_range(Induct *in, Expr *e, Range *out);
/* next - var for the carry looked at, 'e' being its next. */
Step steps_of(Induct *in, Expr *e);
/* At most how many rounds 'loop' runs; WIDE_INF: not bounded. */
Wide steps_most_rounds(Induct *in, const Stmt *loop);
/* A form that is not below the number of rounds of 'loop', nor below 0: the
 * rounds, a little more, or max(rounds, 0). */
bool steps_rounds_form(Induct *in, const Stmt *loop, Linear *out);
/* A step's upper ("positive") or lower bound over 'rounds' rounds; 0 where
 * the step does not go that way. */
bool steps_times_rounds(Induct *in, const Linear *step, bool positive,
                        const Linear *rounds, Linear *out);
/* The forms of 'step' over all rounds of 'loop'. */
void steps_repeat(Induct *in, Step *step, const Stmt *loop);
#endif
