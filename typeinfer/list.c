/* Lists of run-time length as objects: what they hold, where they meet.
 *
 *     out = []                 list of int, as that is what is appended below
 *     for v in a:
 *         if v > 0:
 *             out.append(1)
 *     front = [start]          in a loop `front` is always the list made here:
 *     while front:             at the end of a round the items of the other
 *         found = []           one are copied into it
 *         ...
 *         front = found
 *
 * A list is an object of its own with storage of its own; two names for it are
 * two names of one storage, so whatever is done by one is seen by the other.
 * Two different lists under one name would need storage that is found at run
 * time.  Instead, where such paths meet, one of them is copied into the other.
 * That is the same thing only if no other name is left for either of the two,
 * which is looked for among all names that live on (list_alone).
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
    type->items[0] = site->item;
    type->rank = site->item != NULL;
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
    int object = object_new(I, key, e->loc, true);
    ListSite *site = site_at(I, key);
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
static const Type *
kept_type(Infer *I, const Type *type)
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
    if (type->kind != TY_TUPLE || type->alt != ALT_NEVER) {
        return NULL;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        items[i] = kept_type(I, type->items[i]);
        if (items[i] == NULL) {
            return NULL;
        }
    }
    return type_like(I->arena, items, type);
}

/* Can a LIST hold values of the type? */
bool
list_holds(Infer *I, const Type *type)
{
    return kept_type(I, type) != NULL;
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

/* Widens what the site holds; false: there is no type for both. Whoever has
 * read the narrower type is inferred again. */
static bool
widen_site(Infer *I, ListSite *site, const Type *item)
{
    const Type *joined =
        site->item ? list_join_items(I, site->item, item) : item;
    if (joined == NULL) {
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
        return site->kind ? "a deque or dict, which native code can't make"
                          : "which is part of another list";
    }
    if (list_has_arrays(site->item)) {
        return list_arrays_result(I, list);
    }
    bool shared = site->shared && site->item != NULL && holds_list(site->item);
    return shared ? "in which lists may be that have other names" : NULL;
}

/* A value is put into the list: what it holds gets wider, or is refused if no
 * type has both. */
void
list_put(Infer *I, const Type *list, const Type *type, const AExpr *value,
         Loc loc)
{
    ListSite *site = site_of(I, list);
    const Type *item = kept_type(I, type);
    if (item == NULL) {
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
    if (!widen_site(I, site, item) || !keeps_all(type, site->item)) {
        infer_refuse(I, DIAG_TYPE_CONFLICT, loc,
                     "Give all items of the list the same type.",
                     "the list holds %s, and %s is put in here",
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
    return item->kind == TY_LIST ? row_type(I, list, item)
                                 : part_type(I, list, item);
}

/* --- blocks --------------------------------------------------------------- */

/* Storage is made where the list is, unless it must live longer; that of an
 * argument is there from the beginning. */
static void
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

/* --- joins ---------------------------------------------------------------- */

/* Is it one of the lists into which others are copied at this join? */
static bool
is_taken(const Infer *I, int object)
{
    for (int i = 0; i < I->taken.n; i++) {
        if (I->taken.at[i] == object) {
            return true;
        }
    }
    return I->objects.at[object].arg >= 0;
}

/* Which of the two lists takes the other's items; 0: neither can.  The older
 * one is the one that may have many. */
static int
choose_target(Infer *I, int lhs, int rhs, bool loop)
{
    int first = loop || lhs < rhs ? lhs : rhs;
    int other = first == lhs ? rhs : lhs;
    if (!is_taken(I, first)) {
        return first;
    }
    return loop || is_taken(I, other) ? 0 : other;
}

/* Both lists, of which one takes what the other holds. */
static const Type *
join_lists(Infer *I, const Type *lhs, const Type *rhs, bool loop)
{
    bool alts = lhs->alt == ALT_NEVER || rhs->alt == ALT_NEVER ||
                lhs->alt == rhs->alt;
    int target = choose_target(I, lhs->object, rhs->object, loop);
    if (!alts || target == 0) {
        return NULL;
    }
    const ListSite *source = site_of(I, target == lhs->object ? rhs : lhs);
    ListSite *site = I->objects.at[target].list;
    if (source->kind != site->kind) {
        return NULL;
    }
    if (source->item != NULL && !widen_site(I, site, source->item)) {
        return NULL;
    }
    list_escapes(I, lhs);
    list_escapes(I, rhs);
    return type_of_list_object(I, target, lhs->alt ? lhs->alt : rhs->alt);
}

/* What a name is where two paths meet, of which one has a list at least. */
const Type *
list_join(Infer *I, const Type *lhs, const Type *rhs, bool loop)
{
    bool left = lhs != NULL && lhs->kind == TY_LIST;
    bool right = rhs != NULL && rhs->kind == TY_LIST;
    if (left && right && lhs->object != rhs->object) {
        return join_lists(I, lhs, rhs, loop);
    }
    if (left != right) {
        list_escapes(I, left ? lhs : rhs); /* unbound or None on one way */
    }
    return type_join(I->arena, lhs, rhs);
}

/* Does a value of 'type' hold list number 'object'? */
static bool
holds_object(const Type *type, int object)
{
    if (type->kind == TY_LIST) {
        return type->object == object;
    }
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        if (holds_object(type->items[i], object)) {
            return true;
        }
    }
    return false;
}

/* Does the version hold the list, itself or in a tuple? */
static bool
ver_holds(const Ver *ver, int object)
{
    return ver != NULL && ver->conflict == NULL &&
           holds_object(ver->base.type, object);
}

/* Do a caller's names, Python's or a loop that is running hold the list? */
static bool
held_outside(const Infer *I, int object)
{
    for (const Frame *f = I->frame->caller; f != NULL; f = f->caller) {
        for (int i = 0; i < f->n; i++) {
            if (ver_holds(f->env.at[i], object)) {
                return true;
            }
        }
    }
    for (int i = 0; i < I->iterated.n; i++) {
        if (holds_object(I->iterated.at[i], object)) {
            return true;
        }
    }
    return I->objects.at[object].arg >= 0;
}

/* What another name than 'number' has to do with the copy from list 'from' to
 * list 'to' at this exit: it goes on naming one of the two. Then a change by
 * one name would have to be seen by the other, and a copy would not show it. */
static bool
name_shares(const Infer *I, const Exit *exit, const Env *joined, int number,
            int from, int to)
{
    for (int i = 0; i < I->frame->n; i++) {
        const Ver *after = joined->at[i];
        if (i == number || after == NULL || after->conflict != NULL) {
            continue;
        }
        if (ver_holds(after, to) || ver_holds(exit->env.at[i], from)) {
            return true;
        }
    }
    return held_outside(I, from) || held_outside(I, to);
}

/* Does the exit bring another list than the joined version is? */
static bool
brings_other(const Exit *exit, const Ver *joined, int number)
{
    const Ver *from = exit->env.dead ? NULL : exit->env.at[number];
    return from != NULL && from->conflict == NULL &&
           from->base.type->kind == TY_LIST &&
           from->base.type->object != joined->base.type->object;
}

/* Notes the list into which others are copied at this join, so that it is not
 * copied into another one itself. */
void
list_take(Infer *I, const ExitVec *exits, const Ver *joined, int number)
{
    bool list = joined != NULL && joined->conflict == NULL &&
                joined->base.type->kind == TY_LIST;
    for (int i = 0; list && i < exits->n; i++) {
        if (brings_other(&exits->at[i], joined, number)) {
            vec_push(I->arena, &I->taken, joined->base.type->object);
            return;
        }
    }
}

/* Has no other name to do with the copies that the join of 'number' needs? */
bool
list_alone(Infer *I, const ExitVec *exits, const Env *joined, int number)
{
    const Ver *to = joined->at[number];
    if (to == NULL || to->conflict != NULL || to->base.type->kind != TY_LIST) {
        return true;
    }
    for (int i = 0; i < exits->n; i++) {
        const Exit *exit = &exits->at[i];
        if (brings_other(exit, to, number) &&
            name_shares(I, exit, joined, number,
                        exit->env.at[number]->base.type->object,
                        to->base.type->object)) {
            return false;
        }
    }
    return true;
}

void
list_refuse_shared(Infer *I, Sym name, Loc loc)
{
    infer_refuse(I, DIAG_TYPE_CONFLICT, loc,
                 "Copy it where it gets the second name: `b = list(a)`.",
                 "`%s` is one list or another here, and one of the two has "
                 "another name as well",
                 name);
}

/* Would a list of run-time length hold all items of this one? */
static bool
all_held(Infer *I, const Type *list)
{
    const Type *joined = NULL;
    for (int i = 0; list != NULL && list->kind == TY_TUPLE && i < list->rank;
         i++) {
        const Type *kept = kept_type(I, list->items[i]);
        if (kept != NULL && joined != NULL) {
            kept = list_join_items(I, joined, kept);
        }
        if (kept == NULL) {
            return false;
        }
        joined = kept;
    }
    return true;
}

/* Two types that conflict, of which one is a list of fixed length: if all items
 * fit a LIST, its place becomes one, and inference begins again. */
void
list_instead(Infer *I, const Type *list)
{
    if (list_like(list) && all_held(I, list) && list_demote(I, list)) {
        infer_again(I);
    }
}

void
list_settle(Infer *I, const Type *lhs, const Type *rhs)
{
    bool left = lhs == NULL || lhs->kind == TY_NONE || list_like(lhs);
    bool right = rhs == NULL || rhs->kind == TY_NONE || list_like(rhs);
    if (!left || !right || !all_held(I, lhs) || !all_held(I, rhs)) {
        return;
    }
    bool any = list_demote(I, lhs);
    any |= list_demote(I, rhs);
    if (any) {
        infer_again(I);
    }
}
