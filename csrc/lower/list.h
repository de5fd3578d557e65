#ifndef VZ_LOWER_LIST_H
#define VZ_LOWER_LIST_H
/* Storage of lists of run-time length, and what iterates them.
 *
 * A list of (int, float) is a variable with its length and two growable
 * buffers, one per number of an item; an item that may be None or of a second
 * type has one more, for its flags.
 */
#include "csrc/lower/state.h"

/* A buffer per number of "type"; "items" of a tuple or of a small array.  Of
 * other arrays "buf" has the elements of all items: each begins at "start" and
 * has the extents "extent" (NULL: known); "used" is the end of the last. */
typedef struct Column {
    const Type *type;
    Buf *buf;
    Buf *flag; /* of a maybe-type; NULL: none */
    struct Column *items;
    int nitems;
    Buf *start;
    Buf *extent[MAX_RANK];
    Var *used;
} Column;

/* "length" is the SET variable "var", or for arguments a parameter or extent.
 * The items of a deque begin at the SET variable "head" of the buffers; the
 * keys of a dict have a "table" of hashes of the SET "size".
 * The buffers of lists in lists have an axis for each: a row is told by its
 * "depth" first indices "at".  List number "id" of a "heap" has its place and
 * its length there. */
typedef struct Heap Heap;

struct List {
    const Type *type;
    Column column;
    Expr *length;
    Var *var;
    Var *head;
    Buf *table;
    Var *size;
    int ret; /* of the result that it is; -1: none */
    int arg; /* of the signature, of the whole argument; -1: none */
    int depth;
    Expr *at[MAX_RANK];
    Heap *heap;
    Expr *id;
};

/* Storage of lists that are items of lists: for each of its "lists" the "start"
 * and "length" of its items among all "items", of which "used" are taken, and
 * its "room".  "ret": of the result that it is; -1: none. */
struct Heap {
    List items;
    Buf *start;
    Buf *length;
    Buf *room;
    Var *lists;
    Var *used;
    int ret;
};

/* --- listheap.c --- */
Heap *heap_find(Lower *L, const Type *type);
/* List number 'id' of the heap of its type; a new one. */
List *heap_list(Lower *L, const Type *type, Expr *id, Loc loc);
List *heap_begin(Lower *L, const Type *type, Loc loc);
/* Where its item 'k' is among all. */
Expr *heap_place(Lower *L, const List *list, Expr *k);
void heap_set_length(Lower *L, const List *list, Expr *n, Loc loc);
void heap_room(Lower *L, const List *list, Expr *n, Loc loc);

/* --- listout.c --- */
/* What a list is as a result. */
Leaf lower_list_result(Lower *L, Value v);

/* --- list.c --- */
/* Buffers for items of 'type', made where L->out is. */
Column list_column(Lower *L, const Type *type, const char *name, Loc loc);
/* The storage of the list that 'type' is, made at the first call. */
List *list_of(Lower *L, const Type *type);
/* The storage of the list that a call or operator of this type makes here, and
 * empties it. */
List *list_begin(Lower *L, const Type *type, Loc loc);
/* Other storage for items of the same type. */
List *list_scratch(Lower *L, const Type *type, Loc loc);
/* 'v' known not to be None; its storage. */
List *list_some(Lower *L, Value v, Loc loc);
Value list_value(const Type *type, List *list);
Value list_load(Lower *L, const List *list, Expr *k);
/* Item 'k', which is in range, becomes 'v', of any type that the list takes. */
void list_store(Lower *L, const List *list, Expr *k, Value v, Loc loc);
/* ... in place of the one that is there. */
void list_replace(Lower *L, const List *list, Expr *k, Value v, Loc loc);
/* Item 'k' of the same list, whatever it is, as numbers only: for changes of
 * places. */
Value list_load_raw(Lower *L, const List *list, Expr *k);
void list_store_raw(Lower *L, const List *list, Expr *k, Value v, Loc loc);
/* From now on there is room for 'n' items. */
void list_room(Lower *L, const List *list, Expr *n, Loc loc);
void list_push(Lower *L, List *list, Value v, Loc loc);
/* 'count' items, one after the other. */
void list_push_all(Lower *L, List *list, const Value *items, int count,
                   Loc loc);
void list_set_length(Lower *L, List *list, Expr *n, Loc loc);
/* Its length as it is now. */
Expr *list_length(Lower *L, const List *list, Loc loc);
/* Items [lo, hi) of 'from' become those of 'to' from 'at' on. */
void list_move(Lower *L, const List *to, Expr *at, const List *from, Expr *lo,
               Expr *hi, Loc loc);
void list_shift(Lower *L, const List *list, Expr *to, Expr *from, Expr *n,
                Loc loc);
/* Takes out the last item, which is number 'last'. */
void list_drop_last(Lower *L, List *list, Expr *last, Loc loc);
/* --- listhash.c --- */
/* The number of a key, -1: it isn't there; one that isn't is put in. */
Expr *hash_find(Lower *L, const List *list, Value x, Loc loc);
void hash_put(Lower *L, List *list, Value x, Loc loc);

/* --- deque.c --- */
/* Before an item is put behind the last one: moves all to the front if there
 * is more room before them than they take. */
void deque_pack(Lower *L, List *list, Loc loc);
Value lower_popleft(Lower *L, List *list, Loc loc);
void lower_appendleft(Lower *L, List *list, Value v, Loc loc);

/* --- list.c --- */
/* A loop over [lo, hi), whose body is emitted until the caller puts L->out
 * back; its variable. */
Expr *list_loop(Lower *L, Expr *lo, Expr *hi, Loc loc);
/* The conversions of a join; lists that change places keep their items. */
void list_converts(Lower *L, const ABlock *block);
/* Makes the joined list 'to' what 'from' is. */
void list_convert(Lower *L, List *to, const List *from, Loc loc);

/* The parameters of an argument, and its storage. */
List *list_parameter(Lower *L, const Type *type, const char *name, int sig);
/* A row whose indices can be read anywhere. */
List *list_pinned(Lower *L, List *list, Loc loc);

/* --- listitem.c --- */
/* A growable buffer; its allocation goes where L->out is. */
Buf *list_buffer(Lower *L, const char *name, DType dtype, Loc loc);
void array_column(Lower *L, Column *column, const char *name, Loc loc);
/* A tree for the array at 'k'. */
Value array_column_load(Lower *L, const Column *column, Expr *k);
/* The array becomes item 'k', of which nothing is known, or ('over') in place
 * of the one that is there. */
void array_column_store(Lower *L, const Column *column, Expr *k, Value v,
                        bool over, Loc loc);
Value array_column_raw(Lower *L, const Column *column, Expr *k);
void array_column_put(Lower *L, const Column *column, Expr *k, Value v,
                      Loc loc);
/* 'n' items are left in the list; or the last one, 'last', is taken out. */
void array_column_clear(Lower *L, const Column *column, Expr *n, Loc loc);
void array_column_drop(Lower *L, const Column *column, Expr *last, Loc loc);
/* The arrays in 'v' are taken out of their list. */
Value list_settle_items(Lower *L, Value v, Loc loc);
/* Is the expression an array of a list? */
bool is_list_item(const AExpr *e);
/* An element of one, without a copy of it; false: not that case. */
bool list_item_element(Lower *L, const AExpr *e, Value *out);

/* --- listcall.c --- */
Value lower_list_call(Lower *L, const AExpr *e, BuiltinId id);
/* a + b, a * n: an operator of lists, one of them perhaps a TUPLE? */
bool list_operator(const AExpr *e);
Value lower_list_binop(Lower *L, const AExpr *e);
Value lower_list_subscript(Lower *L, Value base, const AExpr *e);
void lower_list_store(Lower *L, const AExpr *target, Value v);
void lower_list_aug(Lower *L, const AStmt *s, const AExpr *target);
/* a, b = list */
void lower_list_unpack(Lower *L, const AExpr *target, Value v);
/* An integer as an index: of which kind makes no difference. */
Value list_index_value(Lower *L, const AExpr *e);

/* --- listslice.c --- */
Value lower_list_slice(Lower *L, const List *from, const AExpr *e);

/* --- listarray.c --- */
/* np.array of a list or tuple of any shape. */
Value lower_list_array(Lower *L, const AExpr *e, Value v);

/* --- listsort.c --- */
void list_sort(Lower *L, List *list, bool down, bool by_key, Loc loc);
Expr *list_find(Lower *L, List *list, Value x, Loc loc);
Expr *list_equal(Lower *L, Value lhs, Value rhs, Loc loc);
Expr *list_count(Lower *L, List *list, Value x, Loc loc);

/* --- loop.c --- */
/* What is iterated: evaluated when it is opened. */
typedef struct Iter Iter;
Iter *open_iter(Lower *L, const AExpr *e);
/* How many rounds there are, with the lengths that lists have now. */
Expr *iter_rounds(Lower *L, const Iter *it, Loc loc);
Value iter_item(Lower *L, const Iter *it, Expr *k);
#endif
