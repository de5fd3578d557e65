#ifndef VZ_TYPEINFER_LIST_H
#define VZ_TYPEINFER_LIST_H
/* Lists whose length is known at run time only: TY_LIST.
 *
 * A list display begins as a TUPLE.  What a tuple can't be -- something that is
 * appended to in a loop, or is of one length here and of another there -- makes
 * its place in the program a place of LISTs, and inference begins again.
 */
#include "typeinfer/state.h"

/* What is known of the lists that one place makes, reached by one chain of
 * calls.  Kept from one beginning to the next; "item" only grows.
 *
 *   "item"  the join of all that is ever put in; NULL: nothing.
 *   "escapes"  it is named outside of the block in which it is made.
 *   "shared"  lists that were put in may have other names.
 *   "kind"  "deque"; "dict" and "values": what growdict.c makes; NULL: lists.
 *   "in_memory"  small arrays in it are no numbers in registers.
 *   "heap"  the number of the heap in which they are kept (listheap.c), or of
 *       the one that this is; 0: none. */
struct ListSite {
    const Type *item;
    bool escapes;
    bool shared;
    bool in_memory;
    int heap;
    Sym kind;
};

/* --- list.c --- */
/* A LIST or a TUPLE that is a list. */
bool list_like(const Type *type);
/* Marks the place of a list TUPLE as one of LISTs: this beginning is in vain.
 * False: it isn't known where the tuple was made. */
bool list_demote(Infer *I, const Type *type);
/* The place of an expression, and a mark that LISTs are made there. */
Sym list_place(Infer *I, Loc loc);
void list_mark(Infer *I, Sym place);
/* 'out', the typed copy of 'e', with its place if it makes a list; if the place
 * is one of LISTs, a call that makes a LIST of it. */
AExpr *list_made(Infer *I, const AExpr *e, AExpr *out);
/* The list that the place of 'e' makes, which holds nothing yet. */
const Type *list_new(Infer *I, const AExpr *e);
/* Makes the type of argument 'number' that of an object. */
void list_argument(Infer *I, Type *type, int number, Loc loc);
/* 'list' with the type of its items as it is now. */
const Type *list_type(Infer *I, const Type *list);
/* Widens what the site holds; false: there is no type for both. */
bool list_widen(Infer *I, ListSite *site, const Type *item);
/* Notes that a value of 'type' is put into the list: that of 'value', if it is
 * one expression. */
void list_put(Infer *I, const Type *list, const Type *type,
              const AExpr *value, Loc loc);
/* Puts all that 'iter' gives into the list. */
void list_put_all(Infer *I, const Type *list, const AExpr *iter);
/* Why the list can't be handed to Python; NULL: it can. */
const char *list_result(const Infer *I, const Type *list);
const char *list_parts_result(const Infer *I, const Type *list);
/* Does a value of 'type' hold a list? */
bool holds_list(const Type *type);
/* Can a list hold a value of 'type', or as one of numbers only? */
bool list_holds(Infer *I, const Type *type);
bool list_holds_numbers(Infer *I, const Type *type);
/* Notes a change in place; refuses one of an argument. */
void list_mutate(Infer *I, const Type *list, Loc loc);
/* The type of an item; where there never is one, reading it raises. */
const Type *list_item(Infer *I, const Type *list);
/* The names in 'type' are used here: may be outside of the block in which the
 * list is made. */
void list_reach(Infer *I, const Type *type);
/* The join of the types that a name has on two paths; in a 'loop' the list of
 * 'lhs' takes what the other has. */
const Type *list_join(Infer *I, const Type *lhs, const Type *rhs, bool loop);
/* Notes the list into which the exits' lists are copied where they meet. */
void list_take(Infer *I, const ExitVec *exits, const Ver *joined, int number);
/* Is copying one list to the other where the exits meet as good as one name for
 * both? */
bool list_alone(Infer *I, const ExitVec *exits, const Env *joined, int number);
/* ... it isn't, and the name is read. */
_Noreturn void list_refuse_shared(Infer *I, Sym name, Loc loc);
/* Begins again if lists of run-time length would settle the conflict. */
void list_settle(Infer *I, const Type *lhs, const Type *rhs);

/* A list of fixed length won't do: begins again with LISTs in its place, if
 * these can hold what it holds. */
void list_instead(Infer *I, const Type *list);

/* Is the place of 'e' one of LISTs? */
bool list_is_site(Infer *I, const AExpr *e);
/* A typed call of a row "list...." with one argument. */
AExpr *list_call(Infer *I, Loc loc, BuiltinId id, AExpr *arg);

/* --- listitem.c --- */
const Type *list_kept_array(Infer *I, const Type *type);
bool list_has_arrays(const Type *item);
bool list_has_memory(const Type *item);
bool list_same_items(const Type *lhs, const Type *rhs);
const Type *list_join_items(Infer *I, const Type *lhs, const Type *rhs);
/* An array is changed in place. */
void list_note_change(Infer *I, const Type *type, Loc loc);
void list_note_put(Infer *I, const Type *list, const Type *type, Loc loc);
bool list_demote_items(Infer *I, int object);
const Type *list_in_memory(Infer *I, const Type *item);
bool list_hides_owner(Infer *I, int object);
bool list_results_meet(Infer *I, const Type *result);
const Type *list_array_item(Infer *I, const Type *list, const Type *item);
void list_check_changes(Infer *I);
const char *list_arrays_result(const Infer *I, const Type *list);

/* The list, or a value that holds it, lives longer than the block in which it
 * is made. */
void list_escapes(Infer *I, const Type *list);
/* What a list keeps of a value of 'type'; NULL: no list holds it. */
const Type *list_kept(Infer *I, const Type *type);

/* --- listjoin.c --- */
/* The other list that an exit brings where 'joined' is the version; NULL. */
/* Begins again, or refuses, if copying is not as good as one name for both. */
void list_need_alone(Infer *I, const ExitVec *exits, const Env *joined,
                     int number, Loc loc);
const Type *list_other(const ExitVec *exits, const Ver *joined, int number);

/* --- listheap.c --- */
/* Begins again with both lists in one heap; returns if they can't be. */
void heap_share(Infer *I, const Type *lhs, const Type *rhs);
/* A list of the heap of this number; the heap that the site is, or 0. */
const Type *heap_type(Infer *I, int number);
int heap_of(const Infer *I, const ListSite *site);
const Type *heap_expand(Infer *I, const Type *item);
bool heap_fits(const Infer *I, const Type *list);
const Type *heap_join_items(Infer *I, const Type *lhs, const Type *rhs);
const Type *heap_join(Infer *I, const Type *lhs, const Type *rhs);
/* An item of fixed length that comes out of the list 'holder'. */
const Type *list_held_in(Infer *I, const Type *item, int holder);
void heap_instead(Infer *I, const Type *list, const Type *type);
void heap_demand(Infer *I, const Type *type);
void heap_demand_items(Infer *I, const Type *list);
bool heap_put(Infer *I, const Type *list, const Type *type, Loc loc);

/* --- listkey.c --- */
bool has_key(const AExpr *e);
AExpr *list_sort_by_key(Infer *I, const AExpr *e, AExpr *self);
AExpr *call_with_key(Infer *I, const AExpr *e, BuiltinId id);

/* --- deque.c --- */
bool is_deque(const Type *type);  /* or a part of a dict */
AExpr *call_deque(Infer *I, const AExpr *e);
/* Refuses what a list can do and a deque can't, and the other way round. */
void deque_check_method(Infer *I, const AExpr *e, const Type *self);
void deque_check_change(Infer *I, const Type *list, Loc loc);
_Noreturn void deque_refuse(Infer *I, const AExpr *e, const char *what);

/* --- listslice.c --- */
const Type *list_slice(Infer *I, const AExpr *out);
AExpr *slice_at_run_time(Infer *I, AExpr *base, AExpr *slice);
AExpr *index_of_list(Infer *I, AExpr *e);

/* --- listarray.c --- */
/* Is np.array of a value of 'type' not just a small vector? */
bool list_is_array(const Type *type);
const Type *type_of_list_array(Infer *I, const AExpr *call);

/* --- listcall.c --- */
AExpr *list_method(Infer *I, const AExpr *e, AExpr *out, AExpr *self,
                   BuiltinId *id);
/* A new LIST of what the iterable gives; sorted: of the call sorted(...). */
AExpr *list_gather(Infer *I, const AExpr *e, BuiltinId id);
/* The LIST that a comprehension makes. */
AExpr *list_comp(Infer *I, const AExpr *e);
/* Refuses 'x' if it can't be compared with the items of the LIST. */
void list_need_equal(Infer *I, const AExpr *x, const Type *list);
/* 'x' in the LIST, both typed. */
AExpr *list_has(Infer *I, AExpr *x, AExpr *list);
const Type *type_of_list(Infer *I, AExpr *call, BuiltinId id);
/* del list[k]; false: it is another target. */
bool list_delete(Infer *I, const AExpr *target, ABlock *out);
/* NULL: not an operator of lists. */
const Type *list_binop(Infer *I, const AExpr *e, const AExpr *lhs,
                       const AExpr *rhs);
const Type *list_subscript(Infer *I, AExpr *out);
AExpr *list_target(Infer *I, AExpr *target, const Type *type);
/* a += b of a list: a typed call of its 'extend'; NULL: not that case. */
AExpr *list_extend(Infer *I, const AStmt *s, AExpr *target, AExpr *value);
#endif
