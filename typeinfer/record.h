#ifndef VZ_TYPEINFER_RECORD_H
#define VZ_TYPEINFER_RECORD_H
/* Part of state.h: objects with attributes (record.c, cells.c). */
#include "typeinfer/state.h"

/* --- cells.c --- */
void cells_begin(Infer *I);
void cells_name(Infer *I, NameFn fn, void *data);
void cells_open(Infer *I, ABlock *out);
void cells_enter(Infer *I, Frame *frame);
void cells_leave(Infer *I, Frame *frame, Loc loc);
bool cells_changed(const Infer *I, const Env *before);
void cells_of_loop(Infer *I, const AStmt *s, NameFn fn, void *data);
void cells_commit(Infer *I, const Frame *frame, AFunc *typed);
/* The cell of argument 'arg'; NULL: it is never assigned. */
Cell *cell_of(Infer *I, int arg);
/* Was every version of a cell that is read made in 'typed'?  Trees that were
 * typed and thrown away may have made some. */
void cells_check(Infer *I, const AFunc *typed);

/* --- record.c --- */
/* e.name, e(...) and e.name = ... where 'base' is the typed object. */
AExpr *record_attr(Infer *I, const AExpr *e, AExpr *base);
AExpr *record_call(Infer *I, const AExpr *e, AExpr *self);
AExpr *record_target(Infer *I, const AExpr *target);
/* 'is' of two objects; NULL: another comparison. */
AExpr *record_is(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out);
/* Refuses other comparisons of an object than those with None by 'is'. */
void record_compare(Infer *I, const AExpr *e, bool is, const Type *lhs,
                    const Type *rhs);
/* Arguments that nothing was made of become objects of which nothing is known.
 */
void records_prune(Signature *sig, Arena *arena);
#endif
