#ifndef VZ_TYPEINFER_FORMS_H
#define VZ_TYPEINFER_FORMS_H
/* Part of state.h: forms of the language that are written out as others.
 *
 * Most of these take typed trees and give typed trees.  What has to be run
 * first is pushed on a block, which a SEQ puts before its value (typed_seq). */
#include "typeinfer/state.h"

/* --- build.c --- */
AExpr *hidden_new(Infer *I, Loc loc);
AExpr *as_untyped(Infer *I, AExpr *e, ABlock *out);
AExpr *take_seq(Infer *I, AExpr *e, ABlock *out);
AExpr *hidden_target(Infer *I, const AExpr *hidden, const Type *type);
AExpr *hidden_value(Infer *I, const AExpr *hidden);
AExpr *const_int(Infer *I, int64_t value, Loc loc);
void push_assign(Infer *I, AExpr *target, AExpr *value, ABlock *out);
AExpr *hold_typed(Infer *I, AExpr *e, ABlock *out);
AExpr *typed_seq(Infer *I, ABlock block, AExpr *value);
AExpr *typed_display(Infer *I, const AExprVec *items, bool is_list, Loc loc);
AExpr *typed_item(Infer *I, AExpr *base, int64_t k);
AExpr *typed_binop(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, Loc loc);

/* --- items.c --- */
BuiltinId iter_builtin(const AExpr *e);
void refuse_iteration(Infer *I, const Type *type, Loc loc);
AExpr *iter_hold(Infer *I, AExpr *e, ABlock *out);
int64_t iter_count(Infer *I, const AExpr *e);
bool iter_items(Infer *I, AExpr *e, int most, ABlock *block, AExprVec *out);

/* --- comp.c --- */
AExpr *infer_comp(Infer *I, const AExpr *e);
AExpr *comp_display(Infer *I, const AExpr *e, bool is_list, int most);
AExpr *comp_reduce(Infer *I, const AExpr *e, BuiltinId id, AExpr *start,
                   AExpr *dflt);
AExpr *infer_named(Infer *I, const AExpr *e);

/* --- stars.c --- */
enum { MAX_STARRED = 64 };
bool has_stars(const AExprVec *items);
AExpr *call_with_stars(Infer *I, const AExpr *e);
AExpr *display_with_stars(Infer *I, const AExpr *e);
AExpr *target_with_star(Infer *I, const AExpr *target, const Type *type);

/* --- with.c --- */
void infer_with(Infer *I, const AStmt *s, ABlock *out);
void infer_delete(Infer *I, const AStmt *s, ABlock *out);

/* --- pymath.c --- */
const Type *type_of_pymath(Infer *I, AExpr *call, BuiltinId id);

/* --- choose.c --- */
AExpr *none_at(Infer *I, Loc loc);
AExpr *typed_ifexp(Infer *I, AExpr *cond, AExpr *yes, AExpr *no);
AExpr *choose_item(Infer *I, AExpr *base, AExpr *index);

/* --- dict.c --- */
AExpr *infer_dict(Infer *I, const AExpr *e);
AExpr *call_dict(Infer *I, const AExpr *e);
AExpr *dict_of_keywords(Infer *I, const Sym *keys, const AExprVec *values,
                        Loc loc);
AExpr *dict_item(Infer *I, AExpr *dict, AExpr *key);
AExpr *dict_has(Infer *I, AExpr *key, const AExpr *dict, ABlock *out);
AExpr *dict_keys(Infer *I, AExpr *e);
AExpr *dict_method(Infer *I, const AExpr *e, AExpr *self);
const Record *dict_record(Infer *I, const Type *type, Loc loc);
const Record *dict_entries(Infer *I, const AExpr *dict);

/* --- growdict.c --- */
void dict_grow(Infer *I, Record *record, Loc loc, ABlock *out);
AExpr *grown_item(Infer *I, const Record *record, AExpr *key, ABlock *out);
AExpr *grown_has(Infer *I, const Record *record, AExpr *key, ABlock *out);
AExpr *grown_get(Infer *I, const Record *record, AExpr *key, AExpr *other,
                 ABlock *out);
/* What the entry returns of a dict that grows: its keys and values. */
AExpr *grown_result(Infer *I, AExpr *dict);
AExpr *grown_parts(Infer *I, const Record *record, int part, Loc loc);
void dict_put(Infer *I, const Record *record, AExpr *key, AExpr *value,
              ABlock *out);
bool assign_entry(Infer *I, const AStmt *s, ABlock *out);
bool is_grown_key(const Type *type);
AExpr *dict_sized(Infer *I, AExpr *e);

/* --- grow.c --- */
AExpr *slice_sequence(Infer *I, AExpr *base, AExpr *slice);
AExpr *sequence_method(Infer *I, const AExpr *e, AExpr *self);
bool assign_item(Infer *I, const AStmt *s, ABlock *out);

/* --- sequence.c --- */
void check_sum(Infer *I, const Type *sum, Loc loc);
AExprVec held_items(Infer *I, AExpr *e, ABlock *out);
AExpr *repeat_tuple(Infer *I, AExpr *lhs, AExpr *rhs, Loc loc);
AExpr *call_on_sequence(Infer *I, const AExpr *e, BuiltinId id);

/* --- seqcompare.c --- */
AExpr *typed_compare(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, Loc loc);
AExpr *same_item(Infer *I, AExpr *lhs, AExpr *rhs, ABlock *out);
AExpr *compare_tuples(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out);
AExpr *compare_sequences(Infer *I, AOp op, AExpr *lhs, AExpr *rhs);
AExpr *combined(Infer *I, AOp op, const AExprVec *conds, Loc loc);
bool may_be_nan(const Type *type);

/* --- bigint.c --- */
/* An operator on literals whose value is an int64, else NULL. */
AExpr *small_constant(Infer *I, const AExpr *e);
/* Types the operands if one is a constant of 64 bits, which is an np.uint64
 * beside another one; false: none is. */
bool big_operands(Infer *I, AOp op, const AExpr *left, const AExpr *right,
                  AExpr **lhs, AExpr **rhs);
/* The comparison of 'lhs', an integer, with a constant that is no int64; NULL:
 * it is none. */
AExpr *big_compare(Infer *I, const AExpr *e, AExpr *lhs);

/* --- unroll.c --- */
void infer_unrolled_for(Infer *I, const AStmt *s, AExpr *iter, ABlock *out);
void infer_unrolled_while(Infer *I, const AStmt *s, ABlock *out);
bool infer_nest(Infer *I, const AStmt *s, AExpr *iter, ABlock *out);
AExpr *call_product(Infer *I, const AExpr *e, AExpr *out);
int block_size(const ABlock *block);
const AExpr *loop_key(const AStmt *s);
bool may_unroll(Infer *I, const AStmt *s, int64_t trips);
void demand_unroll(Infer *I, const AExpr *key);
void unroll_instead(Infer *I);
void infer_for(Infer *I, const AStmt *s, ABlock *out);
void infer_while(Infer *I, const AStmt *s, ABlock *out);

/* --- other.c --- */
/* Refuses (VZ-1003) what the loader couldn't read and called 'name'. */
_Noreturn void refuse_other(Infer *I, Sym name, Loc loc);

/* --- split.c --- */
void demand_split(Infer *I, const AExpr *name);
void demand_choice(Infer *I, const AExpr *e, const AExpr *cond, const Type *yes,
                   const Type *no);
AStmt *choice_as_if(Infer *I, const AStmt *s);
AStmt *split_branch(Infer *I, const ABlock *block, int i);

/* --- user.c --- */
AExpr *call_user(Infer *I, const AExpr *e, AExpr *out, const Type *callee);
AExpr *infer_lambda(Infer *I, const AExpr *e);
Ver *free_name(Infer *I, Sym name);
#endif
