/* Lists of run-time length where paths meet.
 *
 *     front = [start]          in a loop `front` is always the list made first;
 *     while front:             at the end of a round the items of the other
 *         found = []           one are copied into it
 *         ...
 *         front = found
 *
 * Two different lists under one name would need storage that is found at run
 * time, which only lists in lists have (listheap.c).  Others are copied, one
 * into the other.  That is the same thing only if no other name is left for
 * either of the two, which is looked for among all names that live on
 * (list_alone).
 */
#include "typeinfer/list.h"

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

/* In a loop with `rows = [[k, 4] for k in r]` the new rows are of fixed length
 * as yet, where those that take them are lists of a heap: must they be such? */
static bool
must_hold_lists(const ListSite *source, const ListSite *site)
{
    return source->item != NULL && source->item->kind == TY_TUPLE &&
           site->item->kind == TY_LIST;
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
    int other = target == lhs->object ? rhs->object : lhs->object;
    const ListSite *source = I->objects.at[other].list;
    ListSite *site = I->objects.at[target].list;
    if (source->kind != site->kind) {
        return NULL;
    }
    if (source->item != NULL && !list_widen(I, site, source->item)) {
        return NULL;
    }
    if (must_hold_lists(source, site)) {
        heap_demand_items(I, other == lhs->object ? lhs : rhs);
        return NULL; /* they can't */
    }
    list_escapes(I, lhs);
    list_escapes(I, rhs);
    Type joined = {.object = target, .alt = lhs->alt ? lhs->alt : rhs->alt};
    return list_type(I, &joined);
}

/* What a name is where two paths meet, of which one has a list at least. */
const Type *
list_join(Infer *I, const Type *lhs, const Type *rhs, bool loop)
{
    bool left = lhs != NULL && lhs->kind == TY_LIST;
    bool right = rhs != NULL && rhs->kind == TY_LIST;
    if (left && right && lhs->object != rhs->object && (lhs->ref || rhs->ref)) {
        return heap_join(I, lhs, rhs);
    }
    if (left && right && lhs->object != rhs->object) {
        return join_lists(I, lhs, rhs, loop);
    }
    if (left != right) {
        list_escapes(I, left ? lhs : rhs); /* unbound or None on one way */
    }
    return join_types(I, lhs, rhs);
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

const Type *
list_other(const ExitVec *exits, const Ver *joined, int number)
{
    for (int i = 0; i < exits->n; i++) {
        if (brings_other(&exits->at[i], joined, number)) {
            return exits->at[i].env.at[number]->base.type;
        }
    }
    return NULL;
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

void
list_need_alone(Infer *I, const ExitVec *exits, const Env *joined, int number,
                Loc loc)
{
    const Ver *ver = joined->at[number];
    if (!list_alone(I, exits, joined, number)) {
        heap_share(I, ver->base.type, list_other(exits, ver, number));
        list_refuse_shared(I, ver->base.name, loc);
    }
}

/* Would a list of run-time length hold all items of this one? */
static bool
all_held(Infer *I, const Type *list)
{
    const Type *joined = NULL;
    for (int i = 0; list != NULL && list->kind == TY_TUPLE && i < list->rank;
         i++) {
        const Type *kept = list_kept(I, list->items[i]);
        if (kept != NULL && joined != NULL &&
            !(list_like(joined) && list_like(kept))) {
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
    bool tuples = lhs != NULL && rhs != NULL && lhs->kind == TY_TUPLE &&
                  rhs->kind == TY_TUPLE && lhs->rank == rhs->rank &&
                  !lhs->is_list && !rhs->is_list;
    for (int i = 0; tuples && i < lhs->rank; i++) {
        if (join_types(I, lhs->items[i], rhs->items[i]) == NULL) {
            list_settle(I, lhs->items[i], rhs->items[i]);
        }
    }
    heap_share(I, lhs, rhs);
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
