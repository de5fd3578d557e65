/* Lists of run-time length as objects: what they hold.
 *
 *     out = []                 list of int, as that is what is appended below
 *     for v in a:
 *         if v > 0:
 *             out.append(1)
 *
 * A list is an object of its own with storage of its own; two names for it are
 * two names of one storage, so whatever is done by one is seen by the other.
 * Two different lists under one name are listjoin.c's, and lists that hold
 * lists listheap.c's.
 *
 * What a list holds depends on all that is put in, by any name, before or after
 * in the text.  So a place remembers it from one beginning to the next, and the
 * first beginning in which no place has learnt anything is the true one.  A
 * list into which nothing was put so far is taken to be always empty.
 */
#include "typeinfer/list.h"

#include <string.h>

/* --- places --------------------------------------------------------------- */

/* The place and the calls that lead to it: a helper that is called twice makes
 * two lists. */
static Sym
key_of(Infer *I, Loc loc)
{
    Str key = str_new(I->arena);
    str_addf(&key, "%u:%u:%u:%u", loc.file, (unsigned)loc.line, loc.col,
             loc.end_col);
    for (const Frame *f = I->frame; f->caller != NULL; f = f->caller) {
        str_addf(&key, " %u:%u:%u", f->call.file, (unsigned)f->call.line,
                 f->call.col);
    }
    return sym(key.at);
}

/* The site of a place, made if it has none. */
static ListSite *
site_at(Infer *I, Sym key)
{
    ListSite *site = map_get(&I->lists, key);
    if (site == NULL) {
        site = ARENA_NEW(I->arena, ListSite);
        map_set(&I->lists, key, site);
        I->lists_grew = true;
    }
    return site;
}

/* The place in which the list object was made. */
static ListSite *
site_of(const Infer *I, const Type *list)
{
    return I->objects.at[list->object].list;
}

/* The type of list number 'object' as far as it is known. */
static const Type *
type_of_list_object(Infer *I, int object, Alt alt)
{
    const ListSite *site = I->objects.at[object].list;
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_LIST),
                            sizeof(*type));
    type->object = object;
    type->is_list = true;
    type->memory = site->escapes;
    type->alt = alt;
    type->name = site->kind;
    type->items = ARENA_ARRAY(I->arena, const Type *, 1);
    type->items[0] = heap_expand(I, site->item);
    type->rank = site->item != NULL;
    type->ival = heap_of(I, site);
    type->ref = type->ival > 0;
    return type;
}

const Type *
list_type(Infer *I, const Type *list)
{
    return type_of_list_object(I, list->object, list->alt);
}

/* A list that is made here. One that is made under a condition, or in an
 * expression of which only a part may be run, has its storage at the beginning
 * of the function. Only a LIST's object has a site of its own. */
const Type *
list_new(Infer *I, const AExpr *e)
{
    Sym key = key_of(I, e->loc);
    ListSite *site = site_at(I, key);
    if (site->heap > 0) {
        return heap_type(I, site->heap);
    }
    int object = object_new(I, key, e->loc, true);
    I->objects.at[object].list = site;
    if (I->conditional + I->aside > 0 && !site->escapes) {
        site->escapes = true;
        I->lists_grew = true;
    }
    return type_of_list_object(I, object, ALT_NEVER);
}

/* Its items are known from the beginning, and nothing is put in. */
void
list_argument(Infer *I, Type *type, int number, Loc loc)
{
    ListSite *site = ARENA_NEW(I->arena, ListSite);
    site->item = type->rank > 0 ? type->items[0] : NULL;
    type->object = object_new(I, NULL, loc, true);
    I->objects.at[type->object].arg = number;
    I->objects.at[type->object].list = site;
}

/* A list inside of a list is told from others by an object of its own, as it
 * has other items; it belongs to the same argument. */
static const Type *
row_type(Infer *I, const Type *list, const Type *row)
{
    Type *copy = arena_copy(I->arena, row, sizeof(*copy));
    const Object *outer = &I->objects.at[list->object];
    list_argument(I, copy, outer->arg, outer->loc);
    copy->view = true;
    return copy;
}

bool
list_like(const Type *type)
{
    return type != NULL && (type->kind == TY_LIST ||
                            (type->kind == TY_TUPLE && type->is_list));
}

Sym
list_place(Infer *I, Loc loc)
{
    return key_of(I, loc);
}

void
list_mark(Infer *I, Sym place)
{
    site_at(I, place);
    I->lists_grew = true;
}

/* The place makes a LIST from the next beginning on; false: it is no list. */
bool
list_demote(Infer *I, const Type *type)
{
    if (type == NULL || type->kind != TY_TUPLE || type->object == 0) {
        return false;
    }
    site_at(I, I->objects.at[type->object].site);
    I->lists_grew = true;
    return true;
}

/* Does the expression make an object, rather than name one?  'e' was written,
 * and 'out' is what became of it. */
static bool
makes_object(const AExpr *e, const AExpr *out)
{
    while (out->kind == A_SEQ) {
        out = out->lhs;
    }
    switch ((int)e->kind) {
    case A_LIST:
    case A_BINOP:
    case A_COMP:
        return true;
    case A_CALL:
        return out->kind == A_LIST ||
               (out->kind == A_CALL && out->callee == NULL);
    case A_SUBSCRIPT:
        return e->items.n == 1 && e->items.at[0]->kind == A_SLICE;
    default:
        return false;
    }
}

/* A call of a row of builtins.def, with its first argument. */
AExpr *
list_call(Infer *I, Loc loc, BuiltinId id, AExpr *arg)
{
    AExpr *call = ast_expr(I->arena, A_CALL, loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = sym(builtin_row(id)->name);
    call->lhs = ast_expr(I->arena, A_GLOBAL, loc);
    call->lhs->type = type;
    vec_push(I->arena, &call->items, arg);
    vec_push(I->arena, &call->keys, NULL);
    return call;
}

bool
list_is_site(Infer *I, const AExpr *e)
{
    return map_has(&I->lists, key_of(I, e->loc));
}

/* What became of an expression that makes a list: of fixed length with an
 * object of its own, by which its place is found if it must become a LIST; or a
 * LIST that takes the items. */
AExpr *
list_made(Infer *I, const AExpr *e, AExpr *out)
{
    const Type *type = out->type;
    if (type->kind != TY_TUPLE || !type->is_list || type->object != 0 ||
        !makes_object(e, out)) {
        return out;
    }
    if (e->outside) {
        Type *copy = arena_copy(I->arena, type, sizeof(*copy));
        copy->view = true;
        out->type = copy;
        return out;
    }
    if (!list_is_site(I, e)) {
        Type *copy = arena_copy(I->arena, type, sizeof(*copy));
        copy->object = object_new(I, key_of(I, e->loc), e->loc, true);
        out->type = copy;
        return out;
    }
    AExpr *call = list_call(I, e->loc, BUILTIN_LIST_OF, out);
    const Type *list = list_new(I, e);
    for (int i = 0; i < type->rank; i++) {
        bool display = out->kind == A_LIST;
        list_put(I, list, type->items[i], display ? out->items.at[i] : NULL,
                 e->loc);
    }
    call->type = list_type(I, list);
    return call;
}

/* --- items ---------------------------------------------------------------- */

/* What a list keeps of a value of 'type': no value is known, and a list inside
 * is a value.  NULL: no list holds it. */
const Type *
list_kept(Infer *I, const Type *type)
{
    if (type->kind == TY_NONE && type->alt == ALT_NEVER) {
        return type;
    }
    if (type->kind == TY_NUM) {
        return type_with_alt(I->arena, type_forget(I->arena, type), type->alt);
    }
    if (type->kind == TY_COMPLEX) {
        return type;
    }
    if (type->kind == TY_ARRAY) {
        return list_kept_array(I, type);
    }
    if (type->kind == TY_LIST && heap_fits(I, type)) {
        Type *kept = arena_copy(I->arena, type_kind(I->arena, TY_LIST),
                                sizeof(*kept));
        kept->is_list = kept->ref = true;
        kept->ival = type->ival; /* 0: not known yet */
        return kept;
    }
    if (type->kind != TY_TUPLE || type->alt != ALT_NEVER) {
        return NULL;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        items[i] = list_kept(I, type->items[i]);
        if (items[i] == NULL || items[i]->kind == TY_LIST) {
            return NULL;
        }
    }
    return type_like(I->arena, items, type);
}

/* Can a LIST hold values of the type? */
bool
list_holds(Infer *I, const Type *type)
{
    return list_kept(I, type) != NULL;
}

bool
list_holds_numbers(Infer *I, const Type *type)
{
    return !list_has_arrays(type) && list_holds(I, type);
}

/* Can all numbers of known value in 'type' be kept where 'joined' is held? */
static bool
keeps_all(const Type *type, const Type *joined)
{
    if (type->kind != TY_TUPLE) {
        return type_keeps(type, joined);
    }
    for (int i = 0; i < type->rank; i++) {
        if (!keeps_all(type->items[i], joined->items[i])) {
            return false;
        }
    }
    return true;
}

/* Is a number of two kinds or None, which no column has room for? */
static bool
is_either(const Type *type)
{
    bool found = type->kind == TY_EITHER;
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        found |= is_either(type->items[i]);
    }
    return found;
}

/* Whoever has read the narrower type is inferred again. */
bool
list_widen(Infer *I, ListSite *site, const Type *item)
{
    const Type *joined =
        site->item ? list_join_items(I, site->item, item) : item;
    if (joined == NULL || is_either(joined)) {
        return false;
    }
    joined = site->in_memory ? list_in_memory(I, joined) : joined;
    if (site->item == NULL || !list_same_items(joined, site->item)) {
        site->item = joined;
        I->lists_grew = true;
    }
    return true;
}

/* Is the value a list, or a tuple with one in it? */
bool
holds_list(const Type *type)
{
    if (type->kind == TY_LIST || (type->kind == TY_TUPLE && type->is_list)) {
        return true;
    }
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        if (holds_list(type->items[i])) {
            return true;
        }
    }
    return false;
}

/* Has the value no other name? Only then may it be kept as a value inside of a
 * list, for a copy is the same thing if nobody holds the original. */
static bool
is_fresh(const AExpr *value)
{
    if (value == NULL) {
        return false;
    }
    bool display = value->kind == A_LIST || value->kind == A_TUPLE;
    for (int i = 0; display && i < value->items.n; i++) {
        const AExpr *item = value->items.at[i];
        if (holds_list(item->type) && !is_fresh(item)) {
            return false;
        }
    }
    return display;
}

const char *
list_result(const Infer *I, const Type *list)
{
    const ListSite *site = site_of(I, list);
    if (list->view || site->kind) {
        return site->kind ? "a deque, which native code can't make"
                          : "which is part of another list";
    }
    return list_parts_result(I, list);
}

/* The same for the keys or values of a dict, which are handed over as those. */
const char *
list_parts_result(const Infer *I, const Type *list)
{
    const ListSite *site = site_of(I, list);
    if (list_has_arrays(site->item)) {
        return list_arrays_result(I, list);
    }
    bool shared = site->shared && site->item != NULL &&
                  site->item->kind == TY_TUPLE && holds_list(site->item);
    return shared ? "in which lists may be that have other names" : NULL;
}

/* A value is put into the list: what it holds gets wider, or is refused if no
 * type has both. */
void
list_put(Infer *I, const Type *list, const Type *type, const AExpr *value,
         Loc loc)
{
    if (heap_put(I, list, type, loc)) {
        return;
    }
    ListSite *site = site_of(I, list);
    const Type *item = list_kept(I, type);
    bool arrays = list->ref && list_has_memory(type);
    if (item == NULL || item->kind == TY_LIST || arrays) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Lists of numbers, of arrays and of tuples of these are "
                     "translated.",
                     "a list whose length is not known holds %s",
                     type_text(I->arena, type));
    }
    if (holds_list(type) && !is_fresh(value)) {
        site->shared = true;
    }
    list_note_put(I, list, type, loc);
    const Type *before = site->item;
    if (!list_widen(I, site, item) || !keeps_all(type, site->item)) {
        heap_instead(I, list, type);
        infer_refuse(I, DIAG_TYPE_CONFLICT, loc,
                     "Give all items of a list, or keys of a dict, one type.",
                     "the items so far are %s, and %s is put in here",
                     type_text(I->arena, before), type_text(I->arena, type));
    }
}

/* Lists among the arguments are copies of the caller's, so they are only read.
 */
void
list_mutate(Infer *I, const Type *list, Loc loc)
{
    if (I->objects.at[list->object].arg >= 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Copy it first: `items = list(items)`.",
                     "a list that is an argument is changed here");
    }
    deque_check_change(I, list, loc);
}

/* The lists in an item are parts of the list it comes from. */
static const Type *
part_type(Infer *I, const Type *list, const Type *item)
{
    if (item->kind == TY_ARRAY) {
        return list_array_item(I, list, item);
    }
    if (item->kind != TY_TUPLE ||
        (!holds_list(item) && !list_has_arrays(item))) {
        return item;
    }
    Type *copy = arena_copy(I->arena, item, sizeof(*copy));
    copy->items = ARENA_ARRAY(I->arena, const Type *, item->rank + 1);
    for (int i = 0; i < item->rank; i++) {
        copy->items[i] = part_type(I, list, item->items[i]);
    }
    copy->view = item->is_list;
    copy->ival = list->object;
    return copy;
}

/* The type of an item; a list that surely is empty has none. */
const Type *
list_item(Infer *I, const Type *list)
{
    if (list->rank == 0) {
        longjmp(*I->raise, 1); /* IndexError, or no round at all */
    }
    const Type *item = list->items[0];
    return item->kind != TY_LIST ? part_type(I, list, item)
           : item->ref           ? item
                                 : row_type(I, list, item);
}

/* --- blocks --------------------------------------------------------------- */

/* Storage is made where the list is, unless it must live longer; that of an
 * argument is there from the beginning. */
void
list_escapes(Infer *I, const Type *list)
{
    const Object *object = &I->objects.at[list->object];
    if (object->arg < 0) {
        I->lists_grew |= !object->list->escapes;
        object->list->escapes = true;
    }
}

/* A list that is named outside of the block in which it is made, or that is in
 * a tuple there, lives longer than the block. */
void
list_reach(Infer *I, const Type *type)
{
    if (type->kind == TY_LIST) {
        const Object *object = &I->objects.at[type->object];
        if (object->arg < 0 && !block_reaches(I, object->scope)) {
            list_escapes(I, type);
        }
    }
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        list_reach(I, type->items[i]);
    }
}
