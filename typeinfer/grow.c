/* Slices and methods of tuples and of lists of known length.
 *
 *     t[::-1]              (t[2], t[1], t[0])
 *     levels.append(half)  levels = [levels[0], levels[1], half]
 *     levels[k] = half     the same with another item
 *
 * A list of numbers that changes becomes a list of run-time length (list.c).
 * What such a list can't hold -- arrays, items of different kinds -- stays a
 * list of known length: its name is bound to a longer one, which is the same
 * object as long as nobody else names it.  So it must have been made in this
 * call, have one name, and not be gone through meanwhile.  Loops in which it
 * grows are written out (unroll.c), because its type is another one in every
 * round: a pyramid of four levels is a loop of four rounds that appends.
 */
#include <string.h>

#include "typeinfer/list.h"

/* --- slices --------------------------------------------------------------- */

/* A bound as PySlice_AdjustIndices has it; false if it depends on the run.
 * 'least' and 'most' are -1 and n - 1 for a step downwards. */
static bool
known_bound(const AExpr *e, int64_t dflt, int64_t least, int64_t most,
            int64_t size, int64_t *out)
{
    int64_t value = dflt;
    if (e == NULL) {
        *out = dflt;
        return true;
    }
    if (!type_is_known_int(e->type, &value)) {
        return false;
    }
    value += value < 0 ? size : 0;
    *out = value < least ? least : value > most ? most : value;
    return true;
}

/* 'base' is typed and so is the slice; the result is a list or tuple like it.
 */
AExpr *
slice_sequence(Infer *I, AExpr *base, AExpr *slice)
{
    int64_t n = base->type->rank;
    int64_t step = 1;
    int64_t lo;
    int64_t hi;
    if (slice->items.at[2] != NULL) {
        type_is_known_int(slice->items.at[2]->type, &step);
    }
    int64_t least = step > 0 ? 0 : -1;
    int64_t most = step > 0 ? n : n - 1;
    if (!known_bound(slice->items.at[0], step > 0 ? least : most, least, most,
                     n, &lo) ||
        !known_bound(slice->items.at[1], step > 0 ? most : least, least, most,
                     n, &hi)) {
        infer_pin(I, cond_origin(slice->items.at[0]));
        infer_pin(I, cond_origin(slice->items.at[1]));
        AExpr *list = slice_at_run_time(I, base, slice);
        if (list != NULL) {
            return list;
        }
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, slice->loc, NULL,
                     "the bounds of a slice of a tuple must be constants");
    }
    ABlock block = {0};
    AExprVec picked = {0};
    AExprVec items = held_items(I, base, &block);
    for (int64_t k = lo; step > 0 ? k < hi : k > hi; k += step) {
        vec_push(I->arena, &picked, items.at[k]);
    }
    bool is_list = base->type->is_list;
    AExpr *display = typed_display(I, &picked, is_list, base->loc);
    alias_value(I, display);
    return typed_seq(I, block, display);
}

/* --- changes -------------------------------------------------------------- */

/* Is this a list that only a list of known length can be, with 'item' in it?
 * NULL: nothing is put in. */
static bool
is_mixed(Infer *I, const Type *list, const Type *item)
{
    const Type *joined = NULL;
    for (int i = 0; i <= list->rank; i++) {
        const Type *type = i < list->rank ? list->items[i] : item;
        if (type == NULL) {
            continue;
        }
        if (!list_holds_numbers(I, type)) {
            return true;
        }
        joined = joined ? join_types(I, joined, type) : type;
        if (joined == NULL) {
            return true;
        }
    }
    return false;
}

/* Refuses a change that another name or a caller would have to see. */
static void
check_owned(Infer *I, const AExpr *name, const Type *list, Loc loc)
{
    Object *object = &I->objects.at[list->object];
    bool local = name->kind == A_NAME && name->name != NULL &&
                 name_number(I->frame, name->name) >= 0;
    if (!local || list->object == 0 || object->run != I->frame->run ||
        I->conditional > 0 || object->busy > 0) {
        list_instead(I, list);
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Change the list in the function that makes it, under "
                     "its own name, and not while a loop goes through it.",
                     "a change of this list is not translated here");
    }
    object->grown = list;
    object->mutated_loc = loc;
}

/* 'name' is the list with these items from now on. */
static void
rebind(Infer *I, const AExpr *name, const Type *list, const AExprVec *items,
       ABlock *out)
{
    AExpr *display = typed_display(I, items, true, name->loc);
    Type *type = arena_copy(I->arena, display->type, sizeof(*type));
    type->object = list->object;
    display->type = type;
    AExpr *target = node_like(I, name);
    target->version = &env_bind(I, name->name, type, name->loc)->base;
    target->type = type;
    push_assign(I, target, display, out);
}

/* Position of a known index in a list of 'n' items; refused if it is not known,
 * and an exception out of range. */
static int
position(Infer *I, const AExpr *e, const Type *list, int n)
{
    int64_t k;
    if (!type_is_known_int(e->type, &k)) {
        infer_pin(I, cond_origin(e));
        list_instead(I, list);
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, e->loc, NULL,
                     "an index of this list must be known when the program "
                     "is compiled");
    }
    k += k < 0 ? n : 0;
    if (k < 0 || k >= n) {
        read_unbound(I); /* IndexError */
    }
    return (int)k;
}

/* Puts 'item' before position 'at'. */
static void
put_before(Infer *I, AExprVec *items, int at, AExpr *item)
{
    vec_push(I->arena, items, item);
    for (int i = items->n - 1; i > at; i--) {
        items->at[i] = items->at[i - 1];
    }
    items->at[at] = item;
}

/* Takes the item at position 'at' out. */
static AExpr *
take_out(AExprVec *items, int at)
{
    AExpr *item = items->at[at];
    for (int i = at; i + 1 < items->n; i++) {
        items->at[i] = items->at[i + 1];
    }
    items->n--;
    return item;
}

/* list.insert clamps where others raise. */
static int
insert_position(Infer *I, const AExpr *e, const Type *list, int n)
{
    int64_t k;
    if (!type_is_known_int(e->type, &k)) {
        return position(I, e, list, n);
    }
    k += k < 0 ? n : 0;
    return k < 0 ? 0 : k > n ? n : (int)k;
}

/* What the method does to the items; its value, NULL for None. */
static AExpr *
apply(Infer *I, const char *method, const Type *list, AExprVec *items,
      const AExprVec *args)
{
    if (strcmp(method, "append") == 0) {
        vec_push(I->arena, items, args->at[0]);
    } else if (strcmp(method, "insert") == 0) {
        int at = insert_position(I, args->at[0], list, items->n);
        put_before(I, items, at, args->at[1]);
    } else if (strcmp(method, "pop") == 0) {
        if (items->n == 0) {
            read_unbound(I); /* IndexError */
        }
        int at = items->n - 1;
        at = args->n ? position(I, args->at[0], list, items->n) : at;
        return take_out(items, at);
    } else if (strcmp(method, "reverse") == 0) {
        for (int i = 0; i < items->n / 2; i++) {
            AExpr *other = items->at[items->n - 1 - i];
            items->at[items->n - 1 - i] = items->at[i];
            items->at[i] = other;
        }
    } else {
        items->n = 0;
    }
    return NULL;
}

/* How many arguments the method takes here: "least" and "most"; false: it is
 * another one. */
static bool
is_change(const char *method, int nargs)
{
    static const struct {
        const char *name;
        int least;
        int most;
    } rows[] = {{"append", 1, 1}, {"insert", 2, 2},  {"pop", 0, 1},
                {"clear", 0, 0},  {"reverse", 0, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, method) == 0) {
            return nargs >= rows[i].least && nargs <= rows[i].most;
        }
    }
    return false;
}

/* A method that changes a list of known length which must stay one; NULL: it is
 * not that case. */
static AExpr *
change_method(Infer *I, const AExpr *e, AExpr *self)
{
    ABlock block = {0};
    AExprVec args = {0};
    const char *method = e->lhs->name;
    if (!self->type->is_list || !is_change(method, e->items.n)) {
        return NULL;
    }
    for (int i = 0; i < e->items.n; i++) {
        AExpr *arg = infer_expr(I, e->items.at[i]);
        vec_push(I->arena, &args, arg);
    }
    bool adds = strcmp(method, "append") == 0 || strcmp(method, "insert") == 0;
    AExpr *added = adds ? args.at[args.n - 1] : NULL;
    if (!is_mixed(I, self->type, added ? added->type : NULL)) {
        return NULL;
    }
    check_owned(I, e->lhs->lhs, self->type, e->loc);
    for (int i = 0; i < args.n; i++) {
        alias_value(I, args.at[i]);
        args.at[i] = hold_typed(I, args.at[i], &block);
    }
    AExprVec items = held_items(I, self, &block);
    AExpr *value = apply(I, method, self->type, &items, &args);
    rebind(I, e->lhs->lhs, self->type, &items, &block);
    if (value == NULL) {
        value = ast_expr(I->arena, A_CONST, e->loc);
        value->type = type_kind(I->arena, TY_NONE);
    }
    return typed_seq(I, block, value);
}

/* --- looking -------------------------------------------------------------- */

/* t.count(x): how many items are x or equal to it. */
static AExpr *
count_items(Infer *I, const AExprVec *items, AExpr *x, ABlock *out)
{
    AExpr *sum = const_int(I, 0, x->loc);
    for (int i = 0; i < items->n; i++) {
        AExpr *same = same_item(I, items->at[i], x, out);
        AExpr *more = typed_ifexp(I, same, const_int(I, 1, x->loc),
                                  const_int(I, 0, x->loc));
        sum = typed_binop(I, AO_ADD, sum, more, x->loc);
    }
    return sum;
}

/* t.index(x): the first such item's number; if there is none Python raises. */
static AExpr *
index_item(Infer *I, const AExprVec *items, AExpr *x, ABlock *out)
{
    AExpr *found = none_at(I, x->loc);
    for (int i = items->n - 1; i >= 0; i--) {
        AExpr *here = const_int(I, i, x->loc);
        AExpr *same = same_item(I, items->at[i], x, out);
        found = typed_ifexp(I, same, here, found);
    }
    return need_some(I, found);
}

/* count, index and copy; NULL: another method. */
static AExpr *
look_method(Infer *I, const AExpr *e, AExpr *self)
{
    ABlock block = {0};
    const char *method = e->lhs->name;
    bool counts = strcmp(method, "count") == 0;
    bool finds = strcmp(method, "index") == 0;
    bool copies = strcmp(method, "copy") == 0 && self->type->is_list;
    if (e->items.n != (counts || finds) || !(counts || finds || copies)) {
        return NULL;
    }
    AExprVec items = held_items(I, self, &block);
    if (copies) {
        AExpr *display = typed_display(I, &items, true, e->loc);
        alias_value(I, display);
        return typed_seq(I, block, display);
    }
    AExpr *x = hold_typed(I, infer_expr(I, e->items.at[0]), &block);
    AExpr *value = counts ? count_items(I, &items, x, &block)
                          : index_item(I, &items, x, &block);
    return typed_seq(I, block, value);
}

/* A method of a tuple, or of a list that is one so far; NULL: it is not one of
 * these. */
AExpr *
sequence_method(Infer *I, const AExpr *e, AExpr *self)
{
    AExpr *value = look_method(I, e, self);
    return value ? value : change_method(I, e, self);
}

/* --- stores --------------------------------------------------------------- */

/* levels[k] = value, the only target; false: it is not that case, and nothing
 * has been done. */
bool
assign_item(Infer *I, const AStmt *s, ABlock *out)
{
    const AExpr *target = s->targets.at[0];
    if (s->targets.n != 1 || target->kind != A_SUBSCRIPT ||
        target->items.n != 1 || target->lhs->kind != A_NAME ||
        target->items.at[0]->kind == A_SLICE) {
        return false;
    }
    AExpr *self = infer_maybe(I, target->lhs);
    if (self->type->kind != TY_TUPLE || !self->type->is_list ||
        self->type->alt != ALT_NEVER) {
        return false;
    }
    AExpr *value = infer_expr(I, s->value);
    if (!is_mixed(I, self->type, value->type)) {
        return false;
    }
    check_owned(I, target->lhs, self->type, s->loc);
    alias_value(I, value);
    value = hold_typed(I, value, out);
    AExpr *index = hold_typed(I, infer_expr(I, target->items.at[0]), out);
    self = infer_maybe(I, target->lhs);
    AExprVec items = held_items(I, self, out);
    items.at[position(I, index, self->type, items.n)] = value;
    rebind(I, target->lhs, self->type, &items, out);
    return true;
}
