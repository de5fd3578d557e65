/* Arrays as objects: which names may mean the same one.
 *
 *     a = 4.0 * img[r, c]     object 1, in registers
 *     b = a                   object 1 is aliased
 *     b += 1.0                object 1 is mutated: `a` must change too
 *
 * In registers `a` and `b` would be two values.  So the array, wherever it was
 * made, is moved to memory, where both names mean one buffer, and inference
 * begins again.  An array that is only aliased, or only mutated, stays where it
 * is: then values can't be told from objects.
 *
 * Memory objects need no analysis: views and names of them go to one buffer.
 *
 * The analysis has no order: a name given long after the last change counts as
 * much as one given before.  That is coarse, and harmless: what it costs is an
 * array in memory where a register would have done.  Two things keep it from
 * being too coarse.  A parameter is an object of its own that is only lent, so
 * that passing an array to a function that reads it is no alias.  And the names
 * in `return a, b` end with the return, so they are none either.
 */
#include "typeinfer/list.h"

/* A new object: the array that an expression makes, or (memory) an argument. It
 * belongs to the block that is being inferred. Number 0 is none. */
int
object_new(Infer *I, Sym site, Loc loc, bool memory)
{
    if (I->objects.n == 0) {
        vec_push(I->arena, &I->objects, ((Object){.arg = -1}));
    }
    Object object = {
        .site = site,
        .loc = loc,
        .up = I->objects.n,
        .scope = I->scope,
        .arg = -1,
        .memory = memory,
        .order = LAYOUT_C,
        .run = I->frame ? I->frame->run : 0,
        .turn = I->turn,
    };
    vec_push(I->arena, &I->objects, object);
    return I->objects.n - 1;
}

/* The object that stands for all those that 'object' was united with. */
int
object_root(const Infer *I, int object)
{
    while (I->objects.at[object].up != object) {
        object = I->objects.at[object].up;
    }
    return object;
}

/* Two objects of which one stands for both from now on: a disjoint-set forest
 * without ranks, as classes are small. What is known of one holds for both; the
 * place is known only if both have one, for both would have to move to memory.
 */
int
object_unite(Infer *I, int lhs, int rhs)
{
    lhs = object_root(I, lhs);
    rhs = object_root(I, rhs);
    if (lhs == rhs) {
        return lhs;
    }
    Object *into = &I->objects.at[lhs];
    Object *from = &I->objects.at[rhs];
    from->up = lhs;
    if (from->mutated && !into->mutated) {
        into->mutated_loc = from->mutated_loc;
    }
    into->aliased |= from->aliased;
    into->mutated |= from->mutated;
    into->site = into->site && from->site ? into->site : NULL;
    if (into->lender && from->lender) {
        object_unite(I, into->lender, from->lender);
    } else if (from->lender) {
        into->lender = from->lender;
    }
    return lhs;
}

/* 'type' as an array of 'object'; whether it lives in memory is decided by the
 * object. */
const Type *
type_of_object(Infer *I, const Type *type, int object)
{
    Type *copy = arena_copy(I->arena, type, sizeof(*type));
    copy->object = object;
    copy->memory = I->objects.at[object].memory;
    return copy;
}

/* 'ref' may be the array of 'type', if that is one. */
static void
add_source(Infer *I, int ref, const Type *type)
{
    if (type != NULL && type_is_memory(type) && type->object != ref) {
        RefSource source = {ref, type->object};
        vec_push(I->arena, &I->sources, source);
    }
}

/* A reference keeps its object while its type stays what it is, so that a
 * loop's fixed point is reached; but one that was joined in an inner block does
 * not exist out here. */
static const Type *
join_references(Infer *I, const Type *joined, const Type *lhs, const Type *rhs)
{
    int object = joined->object;
    bool here = object != 0 && block_reaches(I, I->objects.at[object].scope);
    if (!here) {
        object = object_new(I, NULL, I->frame->func->loc, true);
        I->objects.at[object].ref = true;
    }
    add_source(I, object, lhs);
    add_source(I, object, rhs);
    return type_of_object(I, joined, object);
}

/* The same tuple or list, with other types of its items. */
static const Type *
with_items(Infer *I, const Type *tuple, const Type **items)
{
    Type *copy = arena_copy(I->arena, tuple, sizeof(*tuple));
    copy->items = items;
    return copy;
}

/* What is made in a block ends with it.  A name that leaves the block takes it
 * along as a reference, which exists where the paths meet. */
const Type *
carry_out(Infer *I, const Type *type)
{
    if (type == NULL) {
        return NULL;
    }
    if (type_is_memory(type)) {
        const Object *object = &I->objects.at[type->object];
        bool here = object->arg >= 0 || block_reaches(I, object->scope);
        return here ? type
                    : join_references(I, type_ref(I->arena, type), type, type);
    }
    if (!type_is_pack(type)) {
        return type;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, type->rank + 1);
    bool same = true;
    for (int i = 0; i < type->rank; i++) {
        items[i] = carry_out(I, type->items[i]);
        same &= items[i] == type->items[i];
    }
    return same ? type : with_items(I, type, items);
}

/* 'joined' as the object that it is after the join: vectors are united, arrays
 * in memory become a reference that may be either. */
const Type *
join_objects(Infer *I, const Type *joined, const Type *lhs, const Type *rhs)
{
    if (joined == NULL) {
        return NULL;
    }
    if (type_is_pack(joined) && joined != lhs && joined != rhs) {
        const Type **items =
            ARENA_ARRAY(I->arena, const Type *, joined->rank + 1);
        bool left = lhs != NULL && type_is_pack(lhs);
        bool right = rhs != NULL && type_is_pack(rhs);
        for (int i = 0; i < joined->rank; i++) {
            items[i] = join_objects(I, joined->items[i],
                                    left ? lhs->items[i] : NULL,
                                    right ? rhs->items[i] : NULL);
        }
        Type *copy = arena_copy(I->arena, joined, sizeof(*joined));
        copy->items = items;
        return copy;
    }
    if (joined->kind == TY_ARRAY && joined->ref) {
        return joined == lhs && lhs == rhs
                   ? joined
                   : join_references(I, joined, lhs, rhs);
    }
    bool vectors = type_is_vector(joined) && lhs != NULL && rhs != NULL &&
                   lhs->kind == TY_ARRAY && rhs->kind == TY_ARRAY;
    if (!vectors) {
        return joined;
    }
    int object = object_unite(I, lhs->object, rhs->object);
    return type_of_object(I, joined, object);
}

/* Arguments reach references through other references, in any order, so this
 * is repeated until nothing is added. */
static void
spread_args(Infer *I)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < I->sources.n; i++) {
            Object *ref = &I->objects.at[I->sources.at[i].ref];
            const Object *from = &I->objects.at[I->sources.at[i].source];
            bool arg = from->arg >= 0 || from->from_arg;
            changed |= arg && !ref->from_arg;
            ref->from_arg |= arg;
        }
    }
}

/* Is the value that of a name, rather than just made? An array that was just
 * made has no other name that could see a change. */
static bool
is_reference(const AExpr *e)
{
    switch ((int)e->kind) {
    case A_NAME:
    case A_SUBSCRIPT:
        return true;
    case A_IFEXP:
    case A_BOOLOP:
        return true;
    default:
        return false;
    }
}

/* Marks every vector in 'type' as having one name more. */
static void
alias_type(Infer *I, const Type *type)
{
    if (type_is_pack(type)) {
        I->objects.at[type->object].aliased |= type->object != 0;
        for (int i = 0; i < type->rank; i++) {
            alias_type(I, type->items[i]);
        }
    } else if (type_is_vector(type)) {
        I->objects.at[object_root(I, type->object)].aliased = true;
    }
}

/* Displays are gone through item by item: in `(a, b * 2)` only `a` is a
 * further name of anything. */
void
alias_value(Infer *I, const AExpr *e)
{
    while (e->kind == A_SEQ || e->kind == A_SOME) {
        e = e->lhs;
    }
    if (e->kind == A_TUPLE || e->kind == A_LIST) {
        for (int i = 0; i < e->items.n; i++) {
            alias_value(I, e->items.at[i]);
        }
    } else if (is_reference(e)) {
        alias_type(I, e->type);
    }
}

/* Lists of known length may not change while a loop goes through them; arrays
 * in registers that do must be in memory, for the loop has its own copy. */
void
alias_iterated(Infer *I, const AExpr *iter, int by)
{
    bool held = iter->type->kind == TY_TUPLE || type_is_vector(iter->type);
    if (held && iter->type->object != 0) {
        I->objects.at[iter->type->object].busy += by;
    }
    for (int i = 0; iter->kind == A_CALL && i < iter->items.n; i++) {
        if (iter->items.at[i] != NULL) {
            alias_iterated(I, iter->items.at[i], by);
        }
    }
}

/* Does a loop go through the array now? It is one more name. */
static bool
is_iterated(const Infer *I, int root)
{
    for (int i = 1; i < I->objects.n; i++) {
        if (I->objects.at[i].busy > 0 && object_root(I, i) == root) {
            return true;
        }
    }
    return false;
}

/* Notes that the array is changed in place here. Its lenders change too, and
 * they have another name than the parameter by which it happens. */
void
alias_mutate(Infer *I, const Type *type, Loc loc)
{
    list_note_change(I, type, loc);
    if (type_is_memory(type) && I->objects.at[type->object].ref) {
        I->objects.at[type->object].mutated = true;
        I->objects.at[type->object].mutated_loc = loc;
    }
    if (!type_is_vector(type)) {
        return;
    }
    int at = object_root(I, type->object);
    I->objects.at[at].mutated = true;
    I->objects.at[at].mutated_loc = loc;
    I->objects.at[at].aliased |= is_iterated(I, at);
    while (I->objects.at[at].lender) {
        at = object_root(I, I->objects.at[at].lender);
        Object *lender = &I->objects.at[at];
        lender->mutated = true;
        lender->aliased = true;
        lender->mutated_loc = loc;
    }
}

/* The type of a parameter: an object of its own, which remembers whose it is.
 * So a callee that only reads `v` does not make the caller's array an aliased
 * one. */
const Type *
alias_lend(Infer *I, const Type *type, Loc loc)
{
    if (type_is_pack(type)) {
        const Type **items =
            ARENA_ARRAY(I->arena, const Type *, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            items[i] = alias_lend(I, type->items[i], loc);
        }
        return with_items(I, type, items);
    }
    if (!type_is_vector(type)) {
        return type;
    }
    int object = object_new(I, I->objects.at[type->object].site, loc, false);
    I->objects.at[object].lender = type->object;
    return type_of_object(I, type, object);
}

/* A result that may be a lent object is the caller's again, and has one name
 * more. */
const Type *
alias_return(Infer *I, const Type *type)
{
    if (type_is_pack(type)) {
        const Type **items =
            ARENA_ARRAY(I->arena, const Type *, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            items[i] = alias_return(I, type->items[i]);
        }
        return with_items(I, type, items);
    }
    if (!type_is_vector(type)) {
        return type;
    }
    int root = object_root(I, type->object);
    int lender = I->objects.at[root].lender;
    if (lender == 0) {
        return type;
    }
    I->objects.at[root].lender = 0;
    int object = object_unite(I, lender, root);
    I->objects.at[object].aliased = true;
    return type_of_object(I, type, object);
}

/* Every site of the class 'root' goes to memory; false when one can't. */
static bool
demote_class(Infer *I, int root)
{
    bool any = false;
    for (int i = 1; i < I->objects.n; i++) {
        const Object *object = &I->objects.at[i];
        if (object_root(I, i) != root) {
            continue;
        }
        if (object->holder > 0) {
            any |= list_demote_items(I, i);
            continue;
        }
        if (object->site == NULL) {
            return false;
        }
        any |= !map_has(&I->demoted, object->site);
        map_set(&I->demoted, object->site, I);
    }
    return any;
}

void
demote_object(Infer *I, int object)
{
    if (demote_class(I, object_root(I, object))) {
        infer_again(I);
    }
}

/* Looks at every class of united objects once the program has been run: what is
 * changed and has two names must be in memory. Demanding a move to memory
 * begins again, with one more site in I->demoted; so this comes to an end. */
void
alias_settle(Infer *I)
{
    spread_args(I);
    list_check_changes(I);
    for (int i = 1; i < I->objects.n; i++) {
        const Object *object = &I->objects.at[i];
        if (object->ref && object->from_arg && object->mutated) {
            infer_pin(I, object->pin);
            infer_refuse(I, DIAG_TYPE_CONFLICT, object->mutated_loc,
                         "Copy the argument first (`a = a.copy()`), or use "
                         "two names.",
                         "the array that is changed here is an argument on "
                         "one path and another array on the other");
        }
        if (object->grown && object->aliased) {
            list_instead(I, object->grown);
            infer_refuse(I, DIAG_TYPE_CONFLICT, object->mutated_loc,
                         "Copy it where it gets the second name: "
                         "`b = list(a)`.",
                         "a list that has two names is changed here");
        }
        if (object_root(I, i) != i || !object->mutated || !object->aliased ||
            object->memory) {
            continue;
        }
        if (demote_class(I, i)) {
            infer_again(I);
        }
        infer_refuse(I, DIAG_TYPE_CONFLICT, object->mutated_loc,
                     "Copy it first (`b = a + 0`), or make a new array "
                     "instead of changing it in place.",
                     "a small array that has two names is changed here");
    }
}

/* A buffer exists from its ALLOC to the end of the block in which that stands.
 * Names may outlive it: `if c: a = zeros(3)` and `a` is read after the if. */
void
check_reach(Infer *I, const Type *type, Loc loc)
{
    if (!type_is_memory(type)) {
        list_reach(I, type);
        return;
    }
    const Object *object = &I->objects.at[type->object];
    if (object->arg < 0 && !block_reaches(I, object->scope)) {
        infer_refuse(I, DIAG_TYPE_CONFLICT, loc,
                     "Make the array before the loop or branch.",
                     "the array made in line %u may not exist here",
                     (unsigned)object->loc.line);
    }
}
