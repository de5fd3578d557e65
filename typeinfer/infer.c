/* Inference of one specialisation.
 *
 * An abstract run of the entry from the types of its arguments.  It ends in
 * one of three ways: a typed copy of the program; a refusal; or the demand
 * for more knowledge -- the size of an axis, the value of an argument, an
 * array that must live in memory -- with which it begins again.  Every new
 * beginning adds a fact, and there are few, so this ends.
 *
 * Files: types, rules, table     what a type is and what operators do to it
 *        state, alias, live      environments, joins, objects
 *        stmt, loop              control flow
 *        expr, subscript, call, builtin, make
 *
 * Why begin again rather than repair?  A pinned axis turns a view into a vector
 * and a scalar store into a row store, all through the program; there is
 * nothing that could be patched.  A beginning takes well under a millisecond,
 * and a program needs as many as it has axes and flags that matter: usually one
 * or two.
 *
 * The result of inference is a tree that lower can follow without a decision of
 * its own: every name is a version, every join is spelled out as conversions,
 * every call of a user function carries its typed body.
 */
#include "typeinfer/infer.h"

#include "typeinfer/list.h"

enum { MOST_BEGINNINGS = 1000 };

/* The type of an argument with all that was pinned, kept in the signature, so
 * that the dispatcher's guard can be made of it. */
static const Type *
pinned_type(Arena *arena, SigArg *arg)
{
    const Type *type = arg->type;
    Type *copy = arena_copy(arena, type, sizeof(*type));
    if (type->kind == TY_NUM && arg->pin_value) {
        copy->known = true;
        copy->ival = arg->ival;
        copy->fval = arg->fval;
    }
    for (int i = 0; type->kind == TY_ARRAY && i < type->rank; i++) {
        if (arg->pin_size[i]) {
            copy->size[i] = arg->sizes[i];
        }
    }
    arg->type = copy;
    return copy;
}

/* The same with objects and origins, as the program sees it. */
static const Type *
argument_type(Infer *I, int number, Loc loc)
{
    Type *type = arena_copy(
        I->arena, pinned_type(I->arena, &I->sig->args[number]), sizeof(*type));
    if (type->kind == TY_ARRAY) {
        type->object = object_new(I, NULL, loc, true);
        I->objects.at[type->object].arg = number;
        type->memory = true;
        for (int i = 0; i < type->rank; i++) {
            if (type->size[i] < 0) {
                type->size[i] = size_with_origin(origin_of_size(number, i));
            }
        }
    } else if (type->kind == TY_LIST) {
        list_argument(I, type, number, loc);
    } else if (type->kind == TY_NUM && !type->known &&
               !dtype_is_float(type->dtype)) {
        type->origin = origin_of_value(number);
    }
    return type;
}

/* Versions for the arrays among the globals, which follow the entry's own
 * arguments. */
static void
bind_hidden(Infer *I, int first)
{
    int n = I->sig->nargs - first;
    I->hidden = ARENA_ARRAY(I->arena, Version *, n + 1);
    for (int i = 0; i < n; i++) {
        Loc loc = I->unit->funcs.at[0]->loc;
        const Type *type = argument_type(I, first + i, loc);
        I->hidden[i] = &ver_new(I, sym("global"), type, loc)->base;
    }
}

/* They follow the entry's own; what nothing was made of is a constant. */
static void
push_hidden(Infer *I, AFunc *typed, int first)
{
    for (int i = first; i < I->sig->nargs; i++) {
        const SigArg *arg = &I->sig->args[i];
        AParam param = {.name = sym("global")};
        param.version = I->hidden[i - first];
        if (arg->parent > 0 && !arg->used) {
            const Type *none = type_kind(I->arena, TY_NONE);
            param.version =
                &ver_new(I, param.name, none, typed->loc)->base;
        }
        vec_push(I->arena, &typed->params, param);
    }
}

/* --- results -------------------------------------------------------------- */

static const char return_copy[] =
    "Return a copy: `x.copy()` of an array, `list(x)` of a list.";

/* Refuses (VZ-2010) to hand over a result: 'why' completes the sentence. */
static _Noreturn void
refuse_result(Infer *I, const AFunc *func, const Type *type, const char *why,
              const char *help)
{
    infer_refuse(I, DIAG_UNSUPPORTED_RETURN, func->returned->loc, help,
                 "the result holds %s, %s", type_text(I->arena, type), why);
}

/* Objects that are returned already: a vector has no identity to be returned
 * twice. */
typedef struct Returned {
    int objects[64];
    int n;
    const Type *made[64]; /* OBJECTs */
    int nmade;
    int lists[64]; /* objects of lists of fixed length */
    int nlists;
} Returned;

/* Which arrays may 'object' be?  By number. Followed from reference to source
 * until nothing is added. */
static bool *
may_be(Infer *I, int object)
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
    }
    return set;
}

/* The order in which NumPy would have made the array, or all that it may be;
 * LAYOUT_ANY: that is not known. */
static Layout
order_of(Infer *I, int object, const Type *type)
{
    const bool *set = may_be(I, object);
    Layout order = LAYOUT_ROWS;
    for (int i = 1; i < I->objects.n; i++) {
        const Object *o = &I->objects.at[i];
        if (set[i] && !o->ref && o->arg < 0) {
            bool same = order == LAYOUT_ROWS || order == o->order;
            order = same ? o->order : LAYOUT_ANY;
        }
    }
    bool told = type->view || type->layout == LAYOUT_F;
    return order == LAYOUT_F && !told ? LAYOUT_ANY : order;
}

/* A fresh array may be returned whole, as often as one likes, if its buffer is
 * made outside of loops and branches; an argument always; a part like the
 * array that it is of. */
static void
check_array_result(Infer *I, const AFunc *func, const Type *type,
                   Returned *seen)
{
    int object = type->memory ? type->object : object_root(I, type->object);
    const Object *o = &I->objects.at[object];
    if (type->memory && type->view && type->ref) {
        refuse_result(I, func, type, "which is part of one array or another",
                      return_copy);
    }
    if (type->alt == ALT_UNBOUND) {
        refuse_result(I, func, type, "which may be unbound",
                      "Give the name a value on all paths.");
    }
    if (order_of(I, object, type) == LAYOUT_ANY) {
        refuse_result(I, func, type,
                      "whose memory order follows another array",
                      "Make it by its shape, np.zeros(a.shape) or\n"
                      "np.empty(a.shape), which is always in C order.");
    }
    if (list_hides_owner(I, object)) {
        refuse_result(I, func, type,
                      "which may be an argument or a part of an array, put "
                      "into a list",
                      return_copy);
    }
    if (type->memory && o->arg >= 0) {
        return;
    }
    for (int i = 0; i < seen->n && !type->memory; i++) {
        if (seen->objects[i] == object) {
            demote_object(I, object);
            refuse_result(I, func, type, "the same array twice",
                          return_copy);
        }
    }
    if (seen->n == 64) {
        refuse_result(I, func, type, "one array of too many",
                      "Return one array that holds them all.");
    }
    seen->objects[seen->n++] = object;
    if (type->memory && !block_reaches(I, o->scope)) {
        refuse_result(I, func, type, "which was made in a loop or a branch",
                      "Make the array before the loop or the branch.");
    }
}

/* An object that was made here must be known not to be another of the result,
 * because each will be made anew. */
static void
check_object_result(Infer *I, const AFunc *func, const Type *type,
                    Returned *seen)
{
    bool again = false;
    if (type->view) {
        refuse_result(I, func, type, "which is in a list that is an argument",
                      "Return its place in the list.");
    }
    for (int i = 0; i < seen->nmade; i++) {
        const Type *other = seen->made[i];
        again |= other->class == type->class &&
                 (other->object == 0 || type->object == 0 ||
                  other->object == type->object);
    }
    if (again || seen->nmade == 64) {
        refuse_result(I, func, type, "perhaps the same object twice", NULL);
    }
    seen->made[seen->nmade++] = type;
}

/* A list of fixed length that is in the result once is made anew; one that may
 * be there twice must be a LIST, which is known by its storage. */
static void
check_fixed_list(Infer *I, const AFunc *func, const Type *type, Returned *seen)
{
    bool again = type->view || type->ival > 0 || seen->nlists == 64;
    for (int i = 0; i < seen->nlists; i++) {
        again |= type->object != 0 && seen->lists[i] == type->object;
    }
    if (again) {
        heap_demand(I, type);
        refuse_result(I, func, type, "which is part of another list",
                      return_copy);
    }
    seen->lists[seen->nlists++] = type->object;
}

/* A dict is made anew, and so must be in the result once. */
static void
check_mapping(Infer *I, const AFunc *func, const Type *type, Returned *seen)
{
    int object = type->items[0]->object;
    bool again = seen->nlists == 64;
    for (int i = 0; i < seen->nlists; i++) {
        again |= seen->lists[i] == object;
    }
    const char *why = again ? "a dict twice" : NULL;
    for (int i = 0; i < 2 && why == NULL; i++) {
        list_reach(I, type->items[i]);
        why = list_parts_result(I, type->items[i]);
        if (why != NULL) {
            heap_demand_items(I, type->items[i]);
        }
    }
    if (why != NULL) {
        refuse_result(I, func, type, why, "Return `dict(d)`.");
    }
    seen->lists[seen->nlists++] = object;
}

/* Every part of a result must be something that csrc/py can make an object of.
 * A tuple in it is made anew, as in Python; a part of a list has a place in
 * that. */
static void
check_result(Infer *I, const AFunc *func, const Type *type, Returned *seen)
{
    const char *why;
    const AClass *class = class_of(I, type);
    if (class != NULL && class->inner) {
        refuse_result(I, func, type, "which can't be handed over", NULL);
    }
    switch ((int)type->kind) {
    case TY_NONE:
    case TY_STR:
        return;
    case TY_RECORD:
        if (type->ival <= 0 || made_number(I, type) >= 0) {
            refuse_result(I, func, type, "which can't be handed over", NULL);
        }
        return;
    case TY_OBJECT:
        check_object_result(I, func, type, seen);
        for (int i = 0; i < type->rank; i++) {
            check_result(I, func, type->items[i], seen);
        }
        return;
    case TY_NUM:
    case TY_EITHER:
    case TY_COMPLEX:
        return;
    case TY_MAPPING:
        check_mapping(I, func, type, seen);
        return;
    case TY_LIST:
        list_reach(I, type);
        why = list_result(I, type);
        if (why != NULL) {
            heap_demand_items(I, type);
            refuse_result(I, func, type, why, return_copy);
        }
        return;
    case TY_ARRAY:
        check_array_result(I, func, type, seen);
        return;
    case TY_TUPLE:
        if (type->is_list) {
            check_fixed_list(I, func, type, seen);
        }
        for (int i = 0; i < type->rank; i++) {
            check_result(I, func, type->items[i], seen);
        }
        return;
    default:
        refuse_result(I, func, type, "which native code can't make", NULL);
    }
}

/* Refuses an array that leaves the function twice, by way of lists. */
static void
check_lists(Infer *I, const AFunc *typed)
{
    int n = typed->commits.n;
    const Type **all = ARENA_ARRAY(I->arena, const Type *, n + 1);
    all[0] = typed->result;
    for (int i = 0; i < n; i++) {
        all[i + 1] = typed->commits.at[i].value->type;
    }
    if (list_results_meet(I, type_tuple(I->arena, all, n + 1, false))) {
        refuse_result(I, typed, typed->result, "perhaps an array twice",
                      return_copy);
    }
}

/* --- the entry ------------------------------------------------------------ */

/* The abstract run: parameters, body, result, aliases. What lists hold must
 * have been known from the beginning of this run, or it begins again. */
static AFunc *
run_entry(Infer *I)
{
    const AFunc *func = I->unit->funcs.at[0];
    if (func->varargs || func->kwargs || I->sig->nargs < func->params.n) {
        infer_refuse(I, DIAG_UNSUPPORTED_ARGUMENT, func->loc, NULL,
                     "`%s` has `*args` or `**kwargs`", func->name);
    }
    AFunc *typed = ARENA_NEW(I->arena, AFunc);
    typed->name = func->name;
    typed->qualname = func->qualname;
    typed->loc = func->loc;
    Frame frame;
    cells_begin(I);
    frame_init(I, &frame, func);
    I->frame = &frame;
    for (int i = 0; i < func->params.n; i++) {
        AParam param = func->params.at[i];
        const Type *type = argument_type(I, i, func->loc);
        param.version = &env_bind(I, param.name, type, func->loc)->base;
        param.dflt = NULL;
        vec_push(I->arena, &typed->params, param);
    }
    bind_hidden(I, func->params.n);
    cells_open(I, &typed->body);
    cells_params(I, func, &typed->body);
    infer_body(I, &frame, typed);
    push_hidden(I, typed, func->params.n);
    Returned seen = {.n = 0};
    check_result(I, typed, typed->result, &seen);
    cells_commit(I, &frame, typed);
    for (int i = 0; i < typed->commits.n; i++) {
        AFunc as = {.returned = typed->commits.at[i].value};
        check_result(I, &as, as.returned->type, &seen);
    }
    cells_check(I, typed);
    check_lists(I, typed);
    alias_settle(I);
    if (I->lists_grew) {
        infer_again(I);
    }
    return typed;
}

/* Everything of one beginning is made anew but the facts demanded so far. */
static AFunc *
begin(Unit *unit, Signature *sig, const Infer *facts, Infer *I)
{
    Map demoted = facts->demoted;
    Map unroll = facts->unroll;
    Map nests = facts->nests;
    Map lists = facts->lists;
    Map heaps = facts->heaps;
    int nmade = facts->made.n;
    int *made = facts->made.at;
    int cap = facts->made.cap;
    *I = (Infer){.arena = unit->arena, .unit = unit, .sig = sig};
    I->demoted = demoted;
    I->unroll = unroll;
    I->nests = nests;
    I->lists = lists;
    I->heaps = heaps;
    I->heap_objects = map_new(I->arena);
    I->made.n = nmade;
    I->made.at = made;
    I->made.cap = cap;
    I->lives = map_new(I->arena);
    I->flats = map_new(I->arena);
    I->bound = map_new(I->arena);
    I->stores = map_new(I->arena);
    for (int i = 0; i < sig->nargs; i++) {
        sig->args[i].used = false;
    }
    BlockScope top = {.up = 0};
    vec_push(I->arena, &I->scopes, top);
    vec_push(I->arena, &I->turns, 0);
    object_new(I, NULL, unit->funcs.at[0]->loc, false);
    if (setjmp(I->stop) != 0) {
        return NULL;
    }
    return run_entry(I);
}

/* Begins until nothing new is demanded. Nothing is kept from one beginning to
 * the next but pins, demoted sites and what lists hold. */
AFunc *
infer_unit(Unit *unit, Signature *sig)
{
    Infer *I = ARENA_NEW(unit->arena, Infer);
    I->demoted = map_new(unit->arena);
    I->unroll = map_new(unit->arena);
    I->nests = map_new(unit->arena);
    I->lists = map_new(unit->arena);
    I->heaps = map_new(unit->arena);
    for (int i = 0; i < MOST_BEGINNINGS; i++) {
        AFunc *typed = begin(unit, sig, I, I);
        if (typed != NULL || !I->again) {
            records_prune(sig, unit->arena);
            return typed;
        }
    }
    fatal("infer: no end of new demands");
}
