/* Lists that are items of lists.
 *
 *     grid = [[0] * w for _ in range(h)]     h lists, in a heap of lists of int
 *     row = grid[y]                          one of them, by its number
 *     row[x] += 1                            seen by grid[y], too
 *
 * A list that has storage of its own is told by the place where it is made.  An
 * item of a list is one of many, of which only the run knows which: it is kept
 * in a heap, and its value is its number there.  So two names may be one list
 * or two, and a change by one of them is seen by the other if it must be.
 *
 * All lists that may meet under one name or in one list are in one heap, which
 * is therefore found as what lists hold is (list.c): a place whose lists are
 * put into a list remembers its heap from one beginning to the next, two heaps
 * that meet become one, and inference begins again until no place learns more.
 * To the rest of inference a heap is one object, which everybody may change.
 *
 * A list display of known length is a tuple at first, and as an item of a list
 * it stays one, until it is changed or meets a longer one (heap_demand).
 */
#include "typeinfer/list.h"

/* --- heaps ---------------------------------------------------------------- */

/* Heaps are numbers, maps take pointers. */
static const void *
key_of(int number)
{
    return (const void *)(intptr_t)number;
}

/* The number of the heap that heap 'number' has become a part of. */
static int
heap_root(const Infer *I, int number)
{
    const ListSite *site = map_get(&I->heaps, key_of(number));
    return site->heap == number ? number : heap_root(I, site->heap);
}

/* What is known of the lists of a heap. */
static ListSite *
heap_site(const Infer *I, int number)
{
    return map_get(&I->heaps, key_of(heap_root(I, number)));
}

static int
heap_new(Infer *I)
{
    ListSite *site = ARENA_NEW(I->arena, ListSite);
    site->heap = I->heaps.n + 1;
    map_set(&I->heaps, key_of(site->heap), site);
    I->lists_grew = true;
    return site->heap;
}

/* A list of the heap, as a list remembers its items. */
static const Type *
heap_item(Infer *I, int number)
{
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_LIST),
                            sizeof(*type));
    type->is_list = true;
    type->ref = true;
    type->ival = number;
    return type;
}

/* The object that the lists of a heap are in this beginning. */
static int
heap_object(Infer *I, int number)
{
    number = heap_root(I, number);
    int object = (int)(intptr_t)map_get(&I->heap_objects, key_of(number));
    if (object == 0) {
        object = object_new(I, NULL, I->unit->funcs.at[0]->loc, true);
        I->objects.at[object].scope = 0;
        I->objects.at[object].turn = 0;
        I->objects.at[object].list = heap_site(I, number);
        map_set(&I->heap_objects, key_of(number), (void *)(intptr_t)object);
    }
    return object;
}

const Type *
heap_type(Infer *I, int number)
{
    Type list = {.object = heap_object(I, number)};
    return list_type(I, &list);
}

int
heap_of(const Infer *I, const ListSite *site)
{
    bool heap = site->heap > 0 && heap_site(I, site->heap) == site;
    return heap ? site->heap : 0;
}

/* An item that a list remembers, as the value that it is in this beginning. */
const Type *
heap_expand(Infer *I, const Type *item)
{
    bool list = item != NULL && item->kind == TY_LIST && item->ref;
    return list ? heap_type(I, (int)item->ival) : item;
}

/* A list of known length that is an item of another. */
static bool
is_fixed(const Type *type)
{
    return type->kind == TY_TUPLE && type->is_list && type->alt == ALT_NEVER;
}

/* --- joining -------------------------------------------------------------- */

/* Is heap 'to' the heap 'from', or does that hold lists of it, perhaps in lists
 * of others? */
static bool
heap_reaches(const Infer *I, int from, int to)
{
    from = heap_root(I, from);
    if (from == heap_root(I, to)) {
        return true;
    }
    const Type *item = heap_site(I, from)->item;
    bool list = item != NULL && item->kind == TY_LIST && item->ref;
    return list && heap_reaches(I, (int)item->ival, to);
}

/* Both heaps are one from now on; false: they can't be. */
static bool
heap_unite(Infer *I, int lhs, int rhs)
{
    lhs = heap_root(I, lhs);
    rhs = heap_root(I, rhs);
    if (lhs == rhs) {
        return true;
    }
    if (heap_reaches(I, lhs, rhs) || heap_reaches(I, rhs, lhs)) {
        return false;
    }
    ListSite *from = heap_site(I, rhs);
    from->heap = lhs;
    I->lists_grew = true;
    return from->item == NULL ||
           list_widen(I, heap_site(I, lhs), from->item);
}

/* May the list be kept in a heap? */
bool
heap_fits(const Infer *I, const Type *list)
{
    const Object *object = &I->objects.at[list->object];
    bool plain = object->list->kind == NULL && list->is_list && !list->view;
    return list->alt == ALT_NEVER &&
           (list->ref || (object->arg < 0 && plain));
}

/* The list, which heap_fits, is one of the heap from the next beginning on;
 * false: it can't be. */
static bool
heap_enter(Infer *I, const Type *list, int number)
{
    if (list->ref) {
        return heap_unite(I, number, (int)list->ival);
    }
    ListSite *site = I->objects.at[list->object].list;
    if (site->heap > 0) {
        return heap_unite(I, number, site->heap);
    }
    site->heap = number;
    I->lists_grew = true;
    return true;
}

/* Two items of one list are lists. */
const Type *
heap_join_items(Infer *I, const Type *lhs, const Type *rhs)
{
    if (is_fixed(lhs) || is_fixed(rhs)) {
        return is_fixed(lhs) ? rhs : lhs; /* heap_demand sees to the other */
    }
    bool both = lhs->kind == TY_LIST && rhs->kind == TY_LIST && lhs->ref &&
                rhs->ref;
    if (!both || lhs->ival == 0 || rhs->ival == 0) {
        return both ? lhs : NULL;
    }
    return heap_unite(I, (int)lhs->ival, (int)rhs->ival) ? lhs : NULL;
}

/* Two lists, one of which is in a heap at least, under one name. */
const Type *
heap_join(Infer *I, const Type *lhs, const Type *rhs)
{
    const Type *heaped = lhs->ref ? lhs : rhs;
    const Type *other = lhs->ref ? rhs : lhs;
    const Type *plain = type_with_alt(I->arena, other, ALT_NEVER);
    bool alts = lhs->alt == ALT_NEVER || rhs->alt == ALT_NEVER ||
                lhs->alt == rhs->alt;
    if (!alts || !heap_fits(I, plain) ||
        !heap_enter(I, plain, (int)heaped->ival)) {
        return NULL;
    }
    return heaped->alt || !other->alt
               ? heaped
               : type_with_alt(I->arena, heaped, other->alt);
}

/* May the list be one of a heap, whatever it is where it is not bound? */
static bool
may_enter(Infer *I, const Type *list)
{
    const ListSite *site = I->objects.at[list->object].list;
    bool arrays = site->item != NULL && list_has_memory(site->item);
    return !arrays && heap_fits(I, type_with_alt(I->arena, list, ALT_NEVER));
}

void
heap_share(Infer *I, const Type *lhs, const Type *rhs)
{
    bool lists = lhs != NULL && rhs != NULL && lhs->kind == TY_LIST &&
                 rhs->kind == TY_LIST && lhs->object != rhs->object;
    if (!lists || !may_enter(I, lhs) || !may_enter(I, rhs)) {
        return;
    }
    int number = lhs->ref   ? (int)lhs->ival
                 : rhs->ref ? (int)rhs->ival
                            : heap_new(I);
    if (heap_enter(I, lhs, number) && heap_enter(I, rhs, number)) {
        infer_again(I);
    }
}

/* --- putting -------------------------------------------------------------- */

const Type *
list_held_in(Infer *I, const Type *item, int holder)
{
    if (item == NULL || !is_fixed(item) || item->object != 0 || holder == 0) {
        return item;
    }
    Type *copy = arena_copy(I->arena, item, sizeof(*copy));
    copy->ival = holder;
    return copy;
}

/* Makes a site's items lists of a heap; false: they are something else.  What
 * they held as lists of fixed length they hold still: a list of which nothing
 * is known would be taken to be empty, and reading it to raise. */
static bool
hold_lists(Infer *I, ListSite *site)
{
    if (site->item != NULL && site->item->kind == TY_LIST) {
        return site->item->ref;
    }
    if (site->item != NULL && !is_fixed(site->item)) {
        return false;
    }
    const Type *fixed = site->item;
    int number = heap_new(I);
    site->item = heap_item(I, number);
    bool fits = true;
    for (int i = 0; fixed != NULL && i < fixed->rank; i++) {
        fits &= list_widen(I, heap_site(I, number), fixed->items[i]);
    }
    return fits;
}

/* What comes out of a list as one of fixed length must be a list: begins again,
 * or returns if it is not known where it was made. */
void
heap_demand(Infer *I, const Type *type)
{
    if (!is_fixed(type) || list_demote(I, type)) {
        if (is_fixed(type)) {
            infer_again(I);
        }
        return;
    }
    Object *holder = &I->objects.at[type->ival];
    if (type->ival <= 0 || holder->arg >= 0) {
        return;
    }
    if (holder->list != NULL ? hold_lists(I, holder->list)
                             : holder->site != NULL) {
        if (holder->list == NULL) {
            list_mark(I, holder->site);
        }
        I->lists_grew = true;
        infer_again(I);
    }
}

/* The items of the list, of fixed length so far, must be lists. */
void
heap_demand_items(Infer *I, const Type *list)
{
    if (list->rank > 0) {
        heap_demand(I, list_held_in(I, list->items[0], list->object));
    }
}

/* Lists of fixed length have no type in common as items of a list; returns if
 * they can't be lists of a heap. */
void
heap_instead(Infer *I, const Type *list, const Type *type)
{
    ListSite *site = I->objects.at[list->object].list;
    if (is_fixed(type) && site->item != NULL && is_fixed(site->item)) {
        hold_lists(I, site);
        heap_demand(I, type);
    }
}

/* A list becomes an item of 'list'; false: it is no list, or can't. */
bool
heap_put(Infer *I, const Type *list, const Type *type, Loc loc)
{
    ListSite *site = I->objects.at[list->object].list;
    bool lists = site->item != NULL && site->item->kind == TY_LIST &&
                 site->item->ref;
    if (lists) {
        heap_demand(I, type);
    }
    if (type->kind != TY_LIST || !heap_fits(I, type) ||
        !hold_lists(I, site)) {
        return false;
    }
    int number = (int)site->item->ival;
    bool entered = heap_enter(I, type, number);
    if (!entered || (list->ref && heap_reaches(I, number, (int)list->ival))) {
        infer_refuse(I, DIAG_TYPE_CONFLICT, loc, NULL,
                     "a list becomes an item of itself here, or of one that "
                     "it holds");
    }
    return true;
}
