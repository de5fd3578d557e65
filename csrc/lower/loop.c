/* Loops.
 *
 *     for i in range(lo, hi):        for i in [lo, hi)
 *     for i in range(lo, hi, step):  for k in [0, count)  let i = lo + k*step
 *     for row in img:                for k in [0, dim(img, 0))
 *     for dy, dx in OFFSETS:         for k in [0, 8)      elements of tables
 *     enumerate, zip, reversed       counts and items put together
 *
 * A 'while' whose test needs a loop or a call is 'while true' with a break. The
 * 'else' of a loop asks a flag that every break sets.
 *
 * Counts are computed so that nothing overflows: the distance of the bounds is
 * checked unless both are known to be small, and the number of rounds is found
 * by a division that rounds towards minus infinity.  With a < b that is
 *
 *     count = (b - a - 1) // by + 1        0, by, 2 by ... below b - a
 *
 * Inside the loop lo + k * step needs no check, as it lies between the bounds.
 *
 * All parts of a `for` -- bounds, arrays, tuples -- are evaluated once, before
 * the first round, and held: the body may assign the names they came from.
 * Only the length of a list is looked at in every round if the body may change
 * it, as Python's iterators do.
 */
#include "csrc/lower/list.h"

/* What is iterated: "n" rounds, and how to make the item of round k. */
struct Iter {
    BuiltinId id;
    const AExpr *e;
    Value value; /* an array or a tuple */
    Expr *lo;    /* range */
    Expr *hi;
    Expr *step; /* NULL: 1 */
    Expr *n;
    struct Iter *inner; /* enumerate, zip */
    int ninner;
    bool nonnegative;
};

/* --- range ---------------------------------------------------------------- */

/* An argument of range as an i64 that stays what it is while the loop runs,
 * even if the loop assigns the names in it. What may be a float must be the
 * int. */
static Expr *
range_arg(Lower *L, Value v, Loc loc)
{
    v = some(L, v, loc);
    Expr *e;
    if (dtype_is_float(v.expr->dtype)) {
        emit_check(L, flag_or_false(L, v.flag), X_SPECULATE, loc);
        e = cast_to(L, DT_I64, v.expr);
    } else if (v.expr->dtype == DT_U64) {
        e = reuse(L, v.expr, loc);
        check_range_of(L, e, DT_U64, DT_I64, NULL, loc);
        e = cast_to(L, DT_I64, e);
    } else {
        e = cast_to(L, DT_I64, v.expr);
    }
    return reuse(L, hold(L, e, loc), loc);
}

/* Rounds from 'a' up to 'b' in steps of 'by' > 0. The difference can't overflow
 * if both are known not to be negative, or if one is -1, 0 or 1: then the other
 * one's range is moved by at most 1, which only the select's unused side sees.
 */
static Expr *
count_up(Lower *L, Expr *a, Expr *b, Expr *by, Loc loc)
{
    int64_t size;
    bool safe = is_nonnegative(L, a) && is_nonnegative(L, b);
    bool small = ir_const_int(a, &size) && size >= -1 && size <= 1;
    small |= ir_const_int(b, &size) && size >= -1 && size <= 1;
    if (!safe && !small) {
        emit_check(L, not_(L, op2(L, E_SUBO, b, a)), X_OVERFLOW, loc);
    }
    Expr *one = int_const(L, 1);
    Expr *span = op2(L, E_SUB, op2(L, E_SUB, b, a), one);
    Expr *rounds = op2(L, E_ADD, op2(L, E_IDIV, span, by), one);
    return ir_select(L->arena, op2(L, E_LT, a, b), rounds, int_const(L, 0));
}

/* A step whose sign is not known: the bounds change places for a negative one,
 * for as many steps lead from lo down to hi as from hi up to lo. */
static Expr *
count_any(Lower *L, const Iter *it, Loc loc)
{
    Expr *zero = int_const(L, 0);
    emit_check(L, op2(L, E_NE, it->step, zero), X_VALUE, loc);
    Expr *least = int_const(L, INT64_MIN);
    emit_check(L, op2(L, E_NE, it->step, least), X_SPECULATE, loc);
    Expr *up = reuse(L, op2(L, E_LT, zero, it->step), loc);
    Expr *a = reuse(L, ir_select(L->arena, up, it->lo, it->hi), loc);
    Expr *b = reuse(L, ir_select(L->arena, up, it->hi, it->lo), loc);
    Expr *by = op1(L, E_ABS, it->step);
    return count_up(L, a, b, reuse(L, by, loc), loc);
}

/* Bounds, step and number of rounds. Steps of a known sign need no test;
 * range(n) and range(lo, hi) are counted by the FOR itself. "nonnegative": all
 * items are surely not below 0, as those of range(n - 1, -1, -1). */
static void
open_range(Lower *L, Iter *it)
{
    const AExpr *e = it->e;
    Value args[3] = {{.type = NULL}};
    lower_items(L, &e->items, args);
    bool one = e->items.at[1] == NULL;
    it->lo = one ? int_const(L, 0) : range_arg(L, args[0], e->loc);
    it->hi = range_arg(L, args[one ? 0 : 1], e->loc);
    it->step = e->items.at[2] ? range_arg(L, args[2], e->loc) : NULL;
    int64_t step = 1;
    bool known = it->step == NULL || ir_const_int(it->step, &step);
    if (known && step == 1) {
        it->step = NULL;
        int64_t first;
        bool zero = ir_const_int(it->lo, &first) && first == 0;
        it->n = zero ? it->hi : op2(L, E_SUB, it->hi, it->lo);
    } else if (known && step > 0) {
        it->n = count_up(L, it->lo, it->hi, it->step, e->loc);
    } else if (known && step > INT64_MIN) {
        it->n = count_up(L, it->hi, it->lo, int_const(L, -step), e->loc);
    } else {
        it->n = count_any(L, it, e->loc);
    }
    int64_t last;
    bool down = known && step < 0 && ir_const_int(it->hi, &last) && last >= -1;
    it->nonnegative = down || (known && step > 0 && is_nonnegative(L, it->lo));
}

/* --- iterables ------------------------------------------------------------ */

/* Evaluates an iterable and says how many rounds it gives. zip ends with the
 * shortest of its parts, enumerate counts beside its one. */
Iter *
open_iter(Lower *L, const AExpr *e)
{
    Iter *it = ARENA_NEW(L->arena, Iter);
    it->e = e;
    it->id = e->kind == A_CALL && e->callee == NULL ? builtin_of(e->lhs)
                                                    : BUILTIN_NONE;
    switch ((int)it->id) {
    case BUILTIN_RANGE:
        open_range(L, it);
        return it;
    case BUILTIN_ENUMERATE:
        it->ninner = 1;
        it->inner = open_iter(L, e->items.at[0]);
        it->n = reuse(L, it->inner->n, e->loc);
        it->lo = int_const(L, 0);
        if (e->items.at[1] != NULL) {
            it->lo = range_arg(L, lower_expr(L, e->items.at[1]), e->loc);
        }
        return it;
    case BUILTIN_REVERSED:
        it->ninner = 1;
        it->inner = open_iter(L, e->items.at[0]);
        it->n = reuse(L, it->inner->n, e->loc);
        return it;
    case BUILTIN_ZIP:
        it->ninner = e->items.n;
        it->inner = ARENA_ARRAY(L->arena, Iter, e->items.n + 1);
        it->n = int_const(L, 0);
        for (int i = 0; i < e->items.n; i++) {
            it->inner[i] = *open_iter(L, e->items.at[i]);
            Expr *n = reuse(L, it->inner[i].n, e->loc);
            it->n = i ? op2(L, E_MIN, it->n, n) : n;
        }
        it->n = reuse(L, it->n, e->loc);
        return it;
    default:
        break;
    }
    it->value = hold_value(L, lower_expr(L, e), e->loc);
    const Type *type = it->value.type;
    if (type->kind == TY_LIST) {
        it->value.list = list_some(L, it->value, e->loc);
        it->n = list_length(L, it->value.list, e->loc);
        return it;
    }
    it->n = type->kind == TY_TUPLE   ? int_const(L, type->rank)
            : it->value.view != NULL ? view_extent(L, it->value.view, 0)
                                     : int_const(L, it->value.expr->lanes);
    return it;
}

/* The type of the items, as inference has it: of tuples the first item's (all
 * are alike), of arrays an element or a view. Item k of a tuple of constants is
 * one of them, so its value is not known. */
const Type *
item_type_of(Lower *L, const Type *type)
{
    if (type->kind == TY_LIST) {
        return type->items[0];
    }
    if (type->kind == TY_TUPLE) {
        const Type *item = type->items[0];
        if (item->kind == TY_NUM) {
            return type_forget(L->arena, item);
        }
        return item;
    }
    if (type->rank == 1) {
        return type_num(L->arena, type->dtype, false);
    }
    Type *part = arena_copy(L->arena, type, sizeof(*part));
    part->rank--;
    for (int i = 0; i < part->rank; i++) {
        part->size[i] = type->size[i + 1];
    }
    part->view = true;
    return part;
}

/* A tuple of numbers whose values are not known any more: item k of a tuple of
 * constants is one of them, but not a certain one. */
static const Type *
forget_items(Lower *L, const Type *type)
{
    if (type->kind != TY_TUPLE) {
        return type_with_alt(L->arena, type_forget(L->arena, type), type->alt);
    }
    const Type **items = ARENA_ARRAY(L->arena, const Type *, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        items[i] = forget_items(L, type->items[i]);
    }
    return type_like(L->arena, items, type);
}

/* lo + k: small, as the range and the count are. No check: it lies between the
 * bounds, which are int64. */
static Value
counted(Lower *L, Expr *lo, Expr *k, bool nonnegative)
{
    int64_t from;
    bool zero = ir_const_int(lo, &from) && from == 0;
    Expr *i = zero ? k : op2(L, E_ADD, lo, k);
    if (nonnegative) {
        map_set(&L->nonnegative, i, L);
    }
    return num_value(type_int(L->arena), i);
}

/* The item of round 'k'. Nothing is checked: k is below the count, and arrays
 * can't shrink. reversed asks its one for n - 1 - k, zip and enumerate make
 * tuples. */
Value
iter_item(Lower *L, const Iter *it, Expr *k)
{
    Loc loc = it->e->loc;
    if (it->id == BUILTIN_RANGE) {
        Expr *by = it->step ? op2(L, E_MUL, k, it->step) : k;
        return counted(L, it->lo, by, it->nonnegative);
    }
    if (it->id == BUILTIN_REVERSED) {
        Expr *last = op2(L, E_SUB, it->n, int_const(L, 1));
        return iter_item(L, it->inner, reuse(L, op2(L, E_SUB, last, k), loc));
    }
    if (it->id != BUILTIN_ENUMERATE && it->id != BUILTIN_ZIP) {
        const Type *type = forget_items(L, item_type_of(L, it->value.type));
        return item_at(L, it->value, type, k, loc);
    }
    bool count = it->id == BUILTIN_ENUMERATE;
    int n = it->ninner + count;
    Value out = {.type = NULL};
    const Type **types = ARENA_ARRAY(L->arena, const Type *, n + 1);
    out.items = ARENA_ARRAY(L->arena, Value, n + 1);
    if (count) {
        bool nonnegative = is_nonnegative(L, it->lo);
        out.items[0] = counted(L, it->lo, k, nonnegative);
    }
    for (int i = 0; i < it->ninner; i++) {
        out.items[i + count] = iter_item(L, &it->inner[i], k);
    }
    for (int i = 0; i < n; i++) {
        types[i] = out.items[i].type;
    }
    out.type = type_tuple(L->arena, types, n, false);
    return out;
}

/* What is counted but for the lists does not change. */
Expr *
iter_rounds(Lower *L, const Iter *it, Loc loc)
{
    if (it->value.list != NULL) {
        return list_length(L, it->value.list, loc);
    }
    if (it->ninner == 0) {
        return it->n;
    }
    Expr *least = NULL;
    for (int i = 0; i < it->ninner; i++) {
        Expr *n = iter_rounds(L, &it->inner[i], loc);
        least = least ? op2(L, E_MIN, least, n) : n;
    }
    return least;
}

/* --- loops ---------------------------------------------------------------- */

/* Does a break of this very loop stand in the block? Those of inner loops are
 * theirs; those in the `else` of an inner loop are not: they leave this one. */
static bool
has_break(const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        bool inner = s->kind == AS_FOR || s->kind == AS_WHILE;
        if (s->kind == AS_BREAK || (!inner && has_break(&s->body)) ||
            has_break(&s->orelse)) {
            return true;
        }
    }
    return false;
}

/* Opens the loop for break and continue, with a flag if somebody asks whether
 * it was left by break. */
static void
begin_loop(Lower *L, LowerLoop *loop, const AStmt *s)
{
    *loop = (LowerLoop){.outer = L->loop};
    if (s->orelse.n > 0 && has_break(&s->body)) {
        loop->broke = set_var(L, "broke", DT_BOOL, 0);
        emit_set(L, loop->broke, ir_bool(L->arena, false), s->loc);
    }
    L->loop = loop;
}

/* Closes the loop and emits its `else`, which also holds the conversions of the
 * normal way out: without a break there is no other, so it needs no test. */
static void
end_loop(Lower *L, const LowerLoop *loop, const AStmt *s)
{
    L->loop = loop->outer;
    if (loop->broke == NULL) {
        lower_block(L, &s->orelse);
        return;
    }
    Stmt *out = ir_stmt(L->arena, S_IF, s->loc);
    out->value = not_(L, ir_ref(L->arena, loop->broke));
    Block *outer = L->out;
    L->out = &out->body;
    lower_block(L, &s->orelse);
    L->out = outer;
    emit(L, out);
}

/* A loop with the next stable number. */
static Stmt *
loop_stmt(Lower *L, StmtKind kind, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, kind, loc);
    s->id = L->func->next_id++;
    return s;
}

static bool changes_in_block(const ABlock *block, int object);

/* Does 'e' call a method that changes the length of the list, itself or in the
 * body of a function that it calls? */
static bool
changes_in_expr(const AExpr *e, int object)
{
    if (e == NULL) {
        return false;
    }
    if (list_changes(e) && e->items.at[0]->type->object == object) {
        return true;
    }
    bool any = changes_in_expr(e->lhs, object) ||
               changes_in_expr(e->rhs, object) ||
               changes_in_block(&e->block, object) ||
               (e->callee && changes_in_block(&e->callee->body, object));
    for (int i = 0; !any && i < e->items.n; i++) {
        any = changes_in_expr(e->items.at[i], object);
    }
    return any;
}

/* May the length of the list change in the block? */
static bool
changes_in_block(const ABlock *block, int object)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        bool any = changes_in_expr(s->value, object) ||
                   changes_in_block(&s->body, object) ||
                   changes_in_block(&s->orelse, object);
        for (int k = 0; !any && k < s->targets.n; k++) {
            any = changes_in_expr(s->targets.at[k], object);
        }
        if (any) {
            return true;
        }
    }
    return false;
}

/* Is a list that is iterated changed in the body? */
static bool
changes_while_running(const Iter *it, const ABlock *body)
{
    bool any = it->value.list != NULL &&
               changes_in_block(body, it->value.type->object);
    for (int i = 0; i < it->ninner && !any; i++) {
        any = changes_while_running(&it->inner[i], body);
    }
    return any;
}

/* while k < n: item k; k += 1; the body: the length is looked at in every
 * round, as Python's iterators do. The counter is moved on before the body, so
 * that `continue` needs no care. */
static void
for_changing(Lower *L, const AStmt *s, const Iter *it)
{
    Var *next = set_var(L, "k", DT_I64, 0);
    map_set(&L->nonnegative, next, next);
    emit_set(L, next, int_const(L, 0), s->loc);
    Stmt *out = loop_stmt(L, S_WHILE, s->loc);
    Block *outer = L->out;
    L->out = &out->pre;
    Expr *n = iter_rounds(L, it, s->loc);
    out->value = op2(L, E_LT, ir_ref(L->arena, next), n);
    L->out = &out->body;
    Expr *k = hold(L, ir_ref(L->arena, next), s->loc);
    emit_set(L, next, op2(L, E_ADD, k, int_const(L, 1)), s->loc);
    assign_target(L, s->targets.at[0], iter_item(L, it, k));
    lower_block(L, &s->body);
    L->out = outer;
    emit(L, out);
}

/* The target is bound at the head of the body. With a step of 1 the loop's own
 * variable is the item; nothing assigns it, since assignments to the name make
 * new versions. */
void
lower_for(Lower *L, const AStmt *s)
{
    LowerLoop loop;
    Iter *it = open_iter(L, s->value);
    begin_loop(L, &loop, s);
    if (changes_while_running(it, &s->body)) {
        for_changing(L, s, it);
        end_loop(L, &loop, s);
        return;
    }
    Stmt *out = loop_stmt(L, S_FOR, s->loc);
    const AExpr *target = s->targets.at[0];
    bool plain = it->id == BUILTIN_RANGE && it->step == NULL;
    const char *name = plain && target->kind == A_NAME ? target->name : "k";
    out->var = ir_var(L->func, name, DT_I64, 0);
    out->lo = plain ? it->lo : int_const(L, 0);
    out->hi = plain ? it->hi : reuse(L, it->n, s->loc);
    if (!plain || it->nonnegative) {
        map_set(&L->nonnegative, out->var, out->var);
    }
    Block *outer = L->out;
    L->out = &out->body;
    Expr *k = ir_ref(L->arena, out->var);
    Value item = plain ? num_value(type_int(L->arena), k) : iter_item(L, it, k);
    assign_target(L, target, item);
    lower_block(L, &s->body);
    L->out = outer;
    emit(L, out);
    end_loop(L, &loop, s);
}

/* Does the test need statements that a WHILE's test can't have? It may load,
 * compute and check, but neither loop nor store. */
static bool
is_heavy(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_SCOPE || s->kind == S_FOR || s->kind == S_WHILE ||
            s->kind == S_ALLOC || s->kind == S_GROW || s->kind == S_STORE ||
            is_heavy(&s->body) || is_heavy(&s->els)) {
            return true;
        }
    }
    return false;
}

/* while true { pre; if not test { break }; ... }: the `continue` of such a loop
 * goes to the test all the same, for it is at the head of the body. */
static void
move_test(Lower *L, Stmt *out, Expr *test, Loc loc)
{
    for (int i = 0; i < out->pre.n; i++) {
        vec_push(L->arena, &out->body, out->pre.at[i]);
    }
    out->pre = (Block){0};
    out->value = ir_bool(L->arena, true);
    Stmt *leave = ir_stmt(L->arena, S_IF, loc);
    leave->value = not_(L, test);
    vec_push(L->arena, &leave->body, ir_stmt(L->arena, S_BREAK, loc));
    vec_push(L->arena, &out->body, leave);
}

/* What the test needs as statements goes into the WHILE's "pre", which runs
 * before each test. */
void
lower_while(Lower *L, const AStmt *s)
{
    LowerLoop loop;
    begin_loop(L, &loop, s);
    Stmt *out = loop_stmt(L, S_WHILE, s->loc);
    Block *outer = L->out;
    L->out = &out->pre;
    Expr *test = lower_cond(L, s->value);
    L->out = &out->body;
    out->value = test;
    if (is_heavy(&out->pre)) {
        move_test(L, out, test, s->loc);
    }
    lower_block(L, &s->body);
    L->out = outer;
    emit(L, out);
    end_loop(L, &loop, s);
}
