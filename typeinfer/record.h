#ifndef VZ_TYPEINFER_RECORD_H
#define VZ_TYPEINFER_RECORD_H
/* Part of state.h: objects with attributes (record.c, cells.c). */
#include "typeinfer/state.h"

/* --- cells.c --- */
void cells_begin(Infer *I);
void cells_name(Infer *I, NameFn fn, void *data);
void cells_open(Infer *I, ABlock *out);
/* Parameters that are named tuples and assigned become tuples. */
void cells_params(Infer *I, const AFunc *func, ABlock *out);
void cells_enter(Infer *I, Frame *frame);
void cells_leave(Infer *I, Frame *frame, Loc loc);
bool cells_changed(const Infer *I, const Env *before);
void cells_of_loop(Infer *I, const AStmt *s, NameFn fn, void *data);
void cells_commit(Infer *I, const Frame *frame, AFunc *typed);
/* The cell of argument 'arg'; NULL: it is never assigned. */
Cell *cell_of(Infer *I, int arg);
Cell *cell_of_made(Infer *I, int made, Sym attr);
/* Was every version of a cell that is read made in 'typed'?  Trees that were
 * typed and thrown away may have made some. */
void cells_check(Infer *I, const AFunc *typed);

/* --- made.c --- */
/* The number of a made object that is a RECORD; -1: it is an argument. */
int made_number(const Infer *I, const Type *record);
/* The object that 'call', typed as a tuple of its fields, makes, if it may be
 * assigned to and is no part of a loop; NULL: else. */
AExpr *made_object(Infer *I, AExpr *call, int class);
/* A made object that the entry returns, as the value that it is. */
AExpr *made_returned(Infer *I, AExpr *e);

/* --- record.c --- */
/* A named tuple that is an argument as a tuple of its items; else 'e'. */
AExpr *record_value(Infer *I, AExpr *e);
/* Is it a named tuple, all of whose items are known? */
bool record_is_tuple(const Infer *I, const Type *type);
/* The attribute 'e' of the argument; NULL: it has none of that name. */
AExpr *record_field(Infer *I, const AExpr *e, const Type *record);
/* The name to assign in place of 'target'. */
AExpr *record_target(Infer *I, const AExpr *target);
/* 'is' of two objects; NULL: another comparison. */
AExpr *record_is(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out);
/* Refuses other comparisons of an object than those with None by 'is'. */
void record_compare(Infer *I, const AExpr *e, bool is, const Type *lhs,
                    const Type *rhs);
/* Arguments that nothing was made of become objects of which nothing is known.
 */
void records_prune(Signature *sig, Arena *arena);

/* --- class.c --- */
/* The class of a value of one's own; NULL: it has none. */
const AClass *class_of(const Infer *I, const Type *type);
/* e.name of the typed 'base'. */
AExpr *class_attr(Infer *I, const AExpr *e, AExpr *base);
/* A method of 'self'; NULL: its class has none that is not NumPy's or Python's.
 */
AExpr *class_call(Infer *I, const AExpr *e, AExpr *self);
/* 'callee' is called to make an object. */
AExpr *class_make(Infer *I, const AExpr *e, AExpr *out, const Type *callee);
/* An operator that the class of an operand defines; NULL: it is Python's. */
AExpr *class_binop(Infer *I, const AExpr *e, AExpr *lhs, AExpr *rhs);
bool class_aug(Infer *I, const AStmt *s, const AExpr *lhs, const AExpr *rhs);
AExpr *class_unary(Infer *I, const AExpr *e, AExpr *arg);
#endif
