/* Arrays in lists of run-time length.
 *
 *     snapshots.append(u.copy())     the list keeps the elements, not the array
 *     last = snapshots[-1]           a copy of them
 *     return snapshots               arrays of its own
 *
 * A list of Python's holds the arrays themselves.  Here it holds what was in
 * them, which is the same as long as nobody changes an array that is in a list,
 * by whatever name, and nobody can ask whether two arrays are one.  So all
 * changes of arrays are noted, and all that is put into lists, with their order
 * and the loop in which that happens:
 *
 *     row = np.zeros(n)              made, changed, put: fine, for each round
 *     row[0] = k                     has a `row` of its own
 *     rows.append(row)
 *
 * is no harm; a change after the array was put is, and so is one before, if a
 * loop around both goes on with the same array.  What comes out of a list is
 * never changed.
 *
 * A list is an object of which its arrays are sources, and an array that comes
 * out of it has the list as source (Infer.sources), so that those who ask which
 * arrays two names may be (infer.c) find a way through lists as well.
 */
#include <string.h>

#include "typeinfer/list.h"

/* --- types ---------------------------------------------------------------- */

/* How an array is kept: small ones as numbers, others in memory, in C order and
 * part of nothing.  NULL: it can't be. */
const Type *
list_kept_array(Infer *I, const Type *type)
{
    if (type->alt != ALT_NEVER || type->rank == 0 ||
        dtype_is_complex(type->dtype)) {
        return NULL;
    }
    Type *kept = ARENA_NEW(I->arena, Type);
    kept->kind = TY_ARRAY;
    kept->dtype = type->dtype;
    kept->rank = type->rank;
    kept->layout = LAYOUT_C;
    kept->memory = kept->ref = type->memory;
    for (int i = 0; i < type->rank; i++) {
        kept->size[i] = type->size[i] >= 0 ? type->size[i] : -1;
    }
    return kept;
}

bool
list_has_arrays(const Type *item)
{
    bool any = item != NULL && item->kind == TY_ARRAY;
    for (int i = 0; item != NULL && item->kind == TY_TUPLE && i < item->rank;
         i++) {
        any |= list_has_arrays(item->items[i]);
    }
    return any;
}

/* ... of any size? */
bool
list_has_memory(const Type *item)
{
    bool any = type_is_memory(item);
    for (int i = 0; item->kind == TY_TUPLE && i < item->rank; i++) {
        any |= list_has_memory(item->items[i]);
    }
    return any;
}

/* Equal types, held in the same way. */
bool
list_same_items(const Type *lhs, const Type *rhs)
{
    bool same = type_equal(lhs, rhs) &&
                (lhs->kind != TY_ARRAY || lhs->memory == rhs->memory) &&
                (lhs->kind != TY_LIST || lhs->ival == rhs->ival);
    for (int i = 0; same && lhs->kind == TY_TUPLE && i < lhs->rank; i++) {
        same = list_same_items(lhs->items[i], rhs->items[i]);
    }
    return same;
}

/* Arrays of one dtype and rank; what differs in size has no known size. */
static const Type *
join_arrays(Infer *I, const Type *lhs, const Type *rhs)
{
    if (lhs->dtype != rhs->dtype || lhs->rank != rhs->rank) {
        return NULL;
    }
    Type *joined = arena_copy(I->arena, lhs, sizeof(*lhs));
    bool memory = lhs->memory || rhs->memory;
    for (int i = 0; i < lhs->rank; i++) {
        if (lhs->size[i] != rhs->size[i]) {
            joined->size[i] = -1;
            memory = true;
        }
    }
    joined->memory = joined->ref = memory;
    return joined;
}

/* The type of both items; NULL: there is none. */
const Type *
list_join_items(Infer *I, const Type *lhs, const Type *rhs)
{
    bool arrays = list_has_arrays(lhs);
    if (arrays != list_has_arrays(rhs)) {
        return NULL;
    }
    if (lhs->kind == TY_LIST || rhs->kind == TY_LIST) {
        return heap_join_items(I, lhs, rhs);
    }
    if (!arrays) {
        return join_types(I, lhs, rhs);
    }
    if (lhs->kind == TY_ARRAY && rhs->kind == TY_ARRAY) {
        return join_arrays(I, lhs, rhs);
    }
    if (lhs->kind != rhs->kind || lhs->rank != rhs->rank ||
        lhs->is_list != rhs->is_list) {
        return NULL;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, lhs->rank + 1);
    for (int i = 0; i < lhs->rank; i++) {
        items[i] = list_join_items(I, lhs->items[i], rhs->items[i]);
        if (items[i] == NULL) {
            return NULL;
        }
    }
    return type_tuple(I->arena, items, lhs->rank, lhs->is_list);
}

/* --- what happens to arrays ----------------------------------------------- */

static void
add_source(Infer *I, int ref, int source)
{
    RefSource edge = {ref, source};
    vec_push(I->arena, &I->sources, edge);
}

/* An event of array 'type', here and now. */
static ArrayEvent
event_of(const Infer *I, const Type *type, Loc loc)
{
    return (ArrayEvent){.object = type->object, .turn = I->turn, .loc = loc,
                        .time = I->puts.n + I->changes.n, .view = type->view};
}

void
list_note_change(Infer *I, const Type *type, Loc loc)
{
    vec_push(I->arena, &I->changes, event_of(I, type, loc));
}

/* Notes that the arrays in a value of 'type' are in the list from now on. */
void
list_note_put(Infer *I, const Type *list, const Type *type, Loc loc)
{
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        list_note_put(I, list, type->items[i], loc);
    }
    if (type->kind == TY_ARRAY) {
        check_reach(I, type, loc);
        ArrayEvent put = event_of(I, type, loc);
        put.list = list->object;
        vec_push(I->arena, &I->puts, put);
        add_source(I, list->object, type->object);
    }
}

/* An array of 'list' as a value: nobody knows which it is. */
const Type *
list_array_item(Infer *I, const Type *list, const Type *item)
{
    Loc loc = I->objects.at[list->object].loc;
    int object = object_new(I, NULL, loc, item->memory);
    Type *type = arena_copy(I->arena, item, sizeof(*item));
    type->object = object;
    I->objects.at[object].ref = item->memory;
    I->objects.at[object].holder = list->object;
    add_source(I, object, list->object);
    return type;
}

/* The arrays of the list from which 'object' comes must live in memory; false:
 * it comes from none, or they do. */
bool
list_demote_items(Infer *I, int object)
{
    int holder = I->objects.at[object].holder;
    ListSite *site = holder > 0 ? I->objects.at[holder].list : NULL;
    bool change = site != NULL && !site->in_memory;
    if (change) {
        site->in_memory = true;
        I->lists_grew = true;
    }
    return change;
}

/* The item with all its arrays in memory. */
const Type *
list_in_memory(Infer *I, const Type *item)
{
    if (!list_has_arrays(item)) {
        return item;
    }
    Type *copy = arena_copy(I->arena, item, sizeof(*item));
    copy->memory = copy->ref = item->kind == TY_ARRAY;
    if (item->kind == TY_TUPLE) {
        copy->items = ARENA_ARRAY(I->arena, const Type *, item->rank + 1);
        for (int i = 0; i < item->rank; i++) {
            copy->items[i] = list_in_memory(I, item->items[i]);
        }
    }
    return copy;
}

/* --- which arrays --------------------------------------------------------- */

/* Objects that 'object' may be, through references, lists, parameters and
 * joins, by number. */
static bool *
reached(Infer *I, int object)
{
    bool *set = ARENA_ARRAY(I->arena, bool, I->objects.n + 1);
    bool changed = true;
    set[object] = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < I->sources.n; i++) {
            const RefSource *at = &I->sources.at[i];
            changed |= set[at->ref] && !set[at->source];
            set[at->source] |= set[at->ref];
        }
        for (int i = 1; i < I->objects.n; i++) {
            int next[] = {object_root(I, i), I->objects.at[i].lender};
            for (int k = 0; k < 2; k++) {
                changed |= set[i] && next[k] > 0 && !set[next[k]];
                set[next[k]] |= set[i] && next[k] > 0;
            }
        }
    }
    set[0] = false;
    return set;
}

/* Do the sets have an object in common? */
static bool
meet(const Infer *I, const bool *lhs, const bool *rhs)
{
    bool any = false;
    for (int i = 1; i < I->objects.n; i++) {
        any |= lhs[i] && rhs[i];
    }
    return any;
}

/* May it be an argument?  Those may overlap. */
static bool
any_argument(const Infer *I, const bool *set)
{
    bool any = false;
    for (int i = 1; i < I->objects.n; i++) {
        any |= set[i] && I->objects.at[i].arg >= 0;
    }
    return any;
}

/* Does it come out of a list? */
static bool
any_list(const Infer *I, const bool *set)
{
    bool any = false;
    for (int i = 1; i < I->objects.n; i++) {
        any |= set[i] && I->objects.at[i].list != NULL;
    }
    return any;
}

/* --- harm ----------------------------------------------------------------- */

/* Is 'outer' one of the loops around 'turn', or itself? */
static bool
turn_within(const Infer *I, int turn, int outer)
{
    while (turn > 0 && turn != outer) {
        turn = I->turns.at[turn];
    }
    return turn == outer;
}

/* Is there a loop around both, inside of which the array is not made anew?
 * 'made' is where it is made; -1: not known. */
static bool
share_loop(const Infer *I, int lhs, int rhs, int made)
{
    while (lhs > 0 && !turn_within(I, rhs, lhs)) {
        lhs = I->turns.at[lhs];
    }
    return lhs > 0 && !(made >= 0 && turn_within(I, made, lhs));
}

/* May the change be seen in what the list has kept?  'kept' and 'changed' are
 * the objects that the two arrays may be. */
static bool
is_harm(const Infer *I, const ArrayEvent *put, const ArrayEvent *change,
        const bool *kept, const bool *changed)
{
    const Object *object = &I->objects.at[put->object];
    bool same = put->object == change->object && !object->ref;
    int made = same ? object->turn : -1;
    bool after = change->time > put->time;
    if (!after && !share_loop(I, put->turn, change->turn, made)) {
        return false;
    }
    return same || meet(I, kept, changed) ||
           (any_argument(I, kept) && any_argument(I, changed));
}

static _Noreturn void
refuse_change(Infer *I, const ArrayEvent *change, Loc put)
{
    infer_refuse(I, DIAG_TYPE_CONFLICT, change->loc,
                 "Put a copy into the list, `rows.append(row.copy())`, or "
                 "make a new array instead of changing it in place.",
                 "an array that is in a list (line %u) is changed here",
                 (unsigned)put.line);
}

/* Refuses changes of arrays that lists hold. */
void
list_check_changes(Infer *I)
{
    int n = I->puts.n;
    const bool **kept = ARENA_ARRAY(I->arena, const bool *, n + 1);
    for (int k = 0; k < n; k++) {
        kept[k] = reached(I, I->puts.at[k].object);
    }
    for (int i = 0; i < I->changes.n && n > 0; i++) {
        const ArrayEvent *change = &I->changes.at[i];
        const bool *changed = reached(I, change->object);
        if (any_list(I, changed)) {
            refuse_change(I, change, I->objects.at[change->object].loc);
        }
        for (int k = 0; k < n; k++) {
            const ArrayEvent *put = &I->puts.at[k];
            if (is_harm(I, put, change, kept[k], changed)) {
                refuse_change(I, change, put->loc);
            }
        }
    }
}

/* --- results -------------------------------------------------------------- */

/* Is an array that is put here no item of any list yet, nor known by another
 * name that gets it into one? */
static bool
is_put_once(const Infer *I, const ArrayEvent *put)
{
    const Object *object = &I->objects.at[put->object];
    int puts = 0;
    for (int i = 0; i < I->puts.n; i++) {
        puts += I->puts.at[i].object == put->object;
    }
    return puts == 1 && !object->ref && !put->view && object->arg < 0 &&
           object->turn == put->turn && object->lender == 0 &&
           object_root(I, put->object) == put->object &&
           object->order == LAYOUT_C;
}

/* The list from which 'put' copies all items; 0: it is another kind. */
static int
copied_list(const Infer *I, const ArrayEvent *put)
{
    for (int i = 0; put->all && i < I->sources.n; i++) {
        const RefSource *at = &I->sources.at[i];
        if (at->ref == put->object && I->objects.at[at->source].list) {
            return at->source;
        }
    }
    return 0;
}

/* Are all arrays in list number 'object' different ones, which were made by
 * this call and are whole? */
static bool
all_distinct(const Infer *I, int object, int depth)
{
    int puts = 0;
    bool copy = false;
    for (int i = 0; i < I->puts.n; i++) {
        const ArrayEvent *put = &I->puts.at[i];
        if (put->list != object) {
            continue;
        }
        puts++;
        if (is_put_once(I, put)) {
            continue;
        }
        int from = copied_list(I, put);
        bool here = put->turn == I->objects.at[object].turn;
        copy = true;
        if (from == 0 || depth == 8 || !here ||
            !all_distinct(I, from, depth + 1)) {
            return false;
        }
    }
    return !copy || puts == 1;
}

/* Why a list of arrays can't be handed to Python; NULL: it can. */
const char *
list_arrays_result(const Infer *I, const Type *list)
{
    return all_distinct(I, list->object, 0)
               ? NULL
               : "in which arrays may be that have other names";
}

/* Does the array come out of a list into which an argument or a part of an
 * array may have been put?  It would be returned as that. */
bool
list_hides_owner(Infer *I, int object)
{
    const bool *set = I->puts.n > 0 ? reached(I, object) : NULL;
    if (set == NULL || !any_list(I, set)) {
        return false;
    }
    bool hides = any_argument(I, set);
    for (int i = 0; i < I->puts.n; i++) {
        hides |= set[I->puts.at[i].list] && I->puts.at[i].view;
    }
    return hides;
}

/* Gathers the objects of arrays, and of lists of arrays, in a result. */
static int
result_objects(const Type *type, int *out, int n, int most)
{
    bool list = type->kind == TY_LIST && type->rank > 0 &&
                list_has_arrays(type->items[0]);
    if ((list || type->kind == TY_ARRAY) && n < most) {
        out[n++] = type->object;
    }
    for (int i = 0; type->kind == TY_TUPLE && i < type->rank; i++) {
        n = result_objects(type->items[i], out, n, most);
    }
    return n;
}

/* May an array be in the result twice, by way of lists?  It would be copied
 * twice. */
bool
list_results_meet(Infer *I, const Type *result)
{
    enum { MOST = 64 };
    int objects[MOST];
    int n = I->puts.n > 0 ? result_objects(result, objects, 0, MOST) : 0;
    bool any = n == MOST;
    for (int i = 0; i < n && !any; i++) {
        const bool *one = reached(I, objects[i]);
        for (int k = 0; k < n && any_list(I, one) && !any; k++) {
            any = objects[k] != objects[i] &&
                  meet(I, one, reached(I, objects[k]));
        }
    }
    return any;
}
