#ifndef VZ_ANALYSIS_DEPEND_H
#define VZ_ANALYSIS_DEPEND_H
/* What depend.c and apart.c share; nobody else includes it. */
#include "csrc/analysis/analysis.h"

/* One index of one access in round i:  coef*i + rest + [low, high], where no
 * round changes "coef", "rest", "low" and "high".
 *   "ok"      the index has this form; else the axis tells nothing
 *   "runs"    forms that are >= 0 where the access is reached at all
 *   "coef"    what one round adds, a form: w for a[i*w + x]
 *   "rest"    what all rounds share
 *   "low" "high"  what inner loops add at least, at most */
typedef struct DependAxis {
    bool ok;
    VEC(Linear) runs;
    Linear coef;
    Linear rest;
    Linear low;
    Linear high;
} DependAxis;

/* Has the question "does it change from round to round" been answered, and
 * how? Answers are kept, for definitions form long chains that share parts. */
typedef enum Steady { ST_UNKNOWN, ST_VARIES, ST_STEADY } Steady;

/* What is known of a Var that some round defines: by an inner loop that counts
 * it, or by its definition, or neither.
 *   "loop"    the inner FOR whose variable it is; NULL: it is none
 *   "bounded" it counts from "lo" and by at most "last"
 *   "lo"      its first value, as a form
 *   "last"    its last value less the first
 *   "value"   its definition by a LET; NULL: a join, a carry, a variable
 *   "state"   does "value" vary, once asked */
typedef struct Inside {
    const Stmt *loop;
    bool bounded;
    Linear lo;
    Linear last;
    Expr *value;
    Steady state;
} Inside;

/* The loop in question; "b" has what holds inside it while its body is looked
 * at, and what holds outside afterwards. */
typedef struct Depend {
    Arena *arena;
    const Func *func;
    Bounds *b;
    const Stmt *loop;
    Map inside; /* Var * -> Inside * */
    Map own;    /* Buf * -> itself: made or named inside */
} Depend;

/* Notes a Var that the body defines ('value' NULL: by a join or a carry). */
Inside *depend_inside(Depend *d, Var *var, Expr *value);
/* Notes the variable of the inner loop 's', before its own facts are known. */
void depend_loop(Depend *d, const Stmt *s);
DependAxis depend_axis(Depend *d, Expr *index);
/* Does this axis keep round i of 'lhs' and round i' != i of 'rhs' apart? */
bool depend_apart(Depend *d, const DependAxis *lhs, const DependAxis *rhs);
#endif
