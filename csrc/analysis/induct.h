#ifndef VZ_ANALYSIS_INDUCT_H
#define VZ_ANALYSIS_INDUCT_H
/* What induct.c and steps.c share; nobody else includes it. */
#include "csrc/analysis/bounds.h"

/* A Var that the loop's body defines: by a LET, a join or an inner loop's
 * carry. Either "value" or "loop" and "carry" are set.
 *   "value"   of a LET; for a join, a select of its two values
 *   "loop"    the inner loop that hands it out
 *   "carry"   which of its carries */
typedef struct Local {
    Expr *value;         /* LET; select of the values of a join */
    const Stmt *loop;    /* carry's out */
    const Carry *carry;
} Local;

/* One loop whose carries are looked at, one after another.
 *   "b"         what is known inside it; learns the body's LETs as needed
 *   "loop"      the FOR or WHILE
 *   "var"       the carry looked at, or that of an inner loop for a while
 *   "locals"    Vars that the body defines, to their Local
 *   "tested"    ADDs whose overflow test stands before them
 *   "untested"  ADDs met without; a node may be both
 *   "checks"    ADDO tests passed so far, while scanning
 *   "seq"       what was defined before the loop has less
 *   "below"     no choice is above the FOR's last round
 *   "above"     none is below its first
 *   "most"      a WHILE's condition keeps the carry at or below this
 *   "fuel"      nodes of the body that may still be visited */
typedef struct Induct {
    Bounds *b;
    const Stmt *loop;
    const Var *var;      /* the carry looked at */
    Map locals;          /* Var to Local */
    Map tested;          /* ADDs whose overflow test stands before */
    Map untested;        /* ADDs met without; a node may be both */
    VEC(const Expr *) checks;   /* ADDO tests passed so far */
    int seq;             /* what was defined before the loop has less */
    bool below;          /* choices are not above the FOR's last round */
    bool above;          /* nor below its first */
    Wide most;           /* a WHILE's condition keeps the carry below this */
    int fuel;
} Induct;

/* What one round adds to a carry: next - var.
 *   "ok"        next is var plus something; else nothing else counts
 *   "may_wrap"  some addition on the way is neither tested nor has room
 *   "has_forms" "least" and "most" hold
 *   "range"     the interval of the sum, as of integers without end
 *   "least" "most"  forms that it is not below, not above */
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
