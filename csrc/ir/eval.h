#ifndef VZ_IR_EVAL_H
#define VZ_IR_EVAL_H
/* What the two files of the reference interpreter share: eval.c runs values and
 * control, eval_mem.c what makes, names and fills memory. */
#include "csrc/ir/mem.h"

/* How running a statement ended: with the next one, or by a jump that some
 * statement around it catches.  Loops catch the first two, a scope the third,
 * and nobody FLOW_END. */
typedef enum Flow {
    FLOW_ON,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_LEAVE,
    FLOW_END, /* "status" says why */
} Flow;

/* One call in progress.
 *
 *   "arena"  for the values of Vars and fresh arrays.
 *   "func", "state"  what runs, on what.
 *   "vars"  by id, a Slot per lane; NULL: not defined yet.
 *   "bufs"  by id; NULL: not made yet.
 *   "rooms"  by id, of growable ones: elements for which there is memory; the
 *       array's extent is what was asked for.
 *   "status"  valid once an eval gave false or a run FLOW_END. */
typedef struct Machine {
    Arena *arena;
    const Func *func;
    Eval *state;
    Slot **vars;      /* by id; NULL: not defined yet */
    EvalArray **bufs; /* by id; NULL: not made yet */
    int64_t *rooms;   /* by id, of growable ones */
    EvalStatus status;
} Machine;

/* Ends the call; the flow and the status always go together. */
Flow eval_end(Machine *m, EvalStatus status);
/* Puts the value of 'e' in 'out', which has room for its lanes; false when
 * the run has ended. */
bool eval_expr(Machine *m, const Expr *e, Slot *out);
/* The value of a scalar of bool or integer dtype. */
bool eval_int(Machine *m, const Expr *e, int64_t *out);

/* --- eval_mem.c */
Flow run_alloc(Machine *m, const Buf *buf);
Flow run_grow(Machine *m, const Stmt *s);
Flow run_fill(Machine *m, const Stmt *s);
Flow run_view(Machine *m, const Stmt *s);
Flow run_routine(Machine *m, const Stmt *s);
/* 'ref' names 'array' (NULL: none) from now on; false when that can't be. */
bool eval_name(Machine *m, const Buf *ref, EvalArray *array);
#endif
