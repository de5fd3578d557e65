/* The keys of a dict that grows: a list with a table of hashes.
 *
 *     find x    i = hash(x);  while table[i] > 0:
 *                   if key table[i] - 1 is x: found
 *                   i = i + 1, round at the end
 *     put x     if the table is half full: make it larger, enter all keys
 *               append x;  enter it at the first 0 from hash(x) on
 *
 * An entry is the number of a key plus 1, so that 0 is free.  The table's size
 * is a power of 2 and at least twice the number of keys.  Nothing is ever taken
 * out; an empty list has a table of size 0.
 */
#include "csrc/lower/list.h"

enum { LEAST_SIZE = 16 };

/* An integer for a float, the same one for equal floats: what is in front of
 * the point and 52 bits behind it.  A nan is the key that it is as an object,
 * so Python repeats the call. */
static Expr *
bits_of(Lower *L, Expr *e)
{
    Loc loc = L->func->loc;
    Expr *x = reuse(L, cast_to(L, DT_F64, e), loc);
    Expr *nan = call_fn(L, FN_ISNAN, DT_BOOL, x, NULL);
    emit_check(L, not_(L, nan), X_SPECULATE, loc);
    double most = 9223372036854774784.0; /* the last one below 2 ** 63 */
    Expr *low = ir_float(L->arena, DT_F64, -most);
    Expr *high = ir_float(L->arena, DT_F64, most);
    Expr *cut = ir_select(L->arena, op2(L, E_LT, x, low), low, x);
    cut = reuse(L, cut, loc);
    cut = ir_select(L->arena, op2(L, E_LT, high, cut), high, cut);
    cut = reuse(L, cut, loc);
    Expr *whole = reuse(L, cast_to(L, DT_I64, cut), loc);
    Expr *rest = op2(L, E_SUB, cut, cast_to(L, DT_F64, whole));
    double scale = (double)(INT64_C(1) << 52);
    rest = op2(L, E_MUL, rest, ir_float(L->arena, DT_F64, scale));
    return op2(L, E_XOR, whole, cast_to(L, DT_I64, rest));
}

/* Mixes the numbers of a key. */
static Expr *
hash_of(Lower *L, Value v, Expr *before)
{
    if (v.type->kind == TY_TUPLE) {
        for (int i = 0; i < v.type->rank; i++) {
            before = hash_of(L, v.items[i], before);
        }
        return before;
    }
    const int64_t odd = INT64_C(0x1e3779b97f4a7c15);
    Expr *x = dtype_is_float(v.expr->dtype) ? bits_of(L, v.expr)
                                            : cast_to(L, DT_I64, v.expr);
    x = before ? op2(L, E_XOR, x, before) : x;
    Expr *h = reuse(L, op2(L, E_MUL, x, int_const(L, odd)), L->func->loc);
    return op2(L, E_XOR, h, op2(L, E_SHR, h, int_const(L, 29)));
}

/* 'i' within the table. */
static Expr *
round_off(Lower *L, const List *list, Expr *i)
{
    Expr *size = ir_ref(L->arena, list->size);
    return op2(L, E_AND, i, op2(L, E_SUB, size, int_const(L, 1)));
}

/* if cond { break } */
static void
break_if(Lower *L, Expr *cond, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = cond;
    vec_push(L->arena, &s->body, ir_stmt(L->arena, S_BREAK, loc));
    emit(L, s);
}

/* Goes on from the hash of 'x' until the caller, who puts L->out back, or a
 * free place ends it; '*entry' is what stands there, '*slot' where. */
static void
open_search(Lower *L, const List *list, Value x, Var *slot, Expr **entry,
            Loc loc)
{
    Expr *first = round_off(L, list, hash_of(L, x, NULL));
    emit_set(L, slot, first, loc);
    Stmt *s = ir_stmt(L->arena, S_WHILE, loc);
    s->id = L->func->next_id++;
    s->value = ir_bool(L->arena, true);
    emit(L, s);
    L->out = &s->body;
    Expr *at = hold(L, ir_ref(L->arena, slot), loc);
    *entry = hold(L, ir_load(L->arena, list->table, &at, 1, 0), loc);
    break_if(L, op2(L, E_EQ, *entry, int_const(L, 0)), loc);
}

/* One place further on. */
static void
step_on(Lower *L, const List *list, Var *slot, Loc loc)
{
    Expr *next = op2(L, E_ADD, ir_ref(L->arena, slot), int_const(L, 1));
    emit_set(L, slot, round_off(L, list, next), loc);
}

/* Key number 'k', which is in the list, gets its place in the table. */
static void
enter(Lower *L, const List *list, Expr *k, Loc loc)
{
    Expr *entry;
    Block *outer = L->out;
    Var *slot = set_var(L, "slot", DT_I64, 0);
    Value x = hold_value(L, list_load(L, list, k), loc);
    open_search(L, list, x, slot, &entry, loc);
    step_on(L, list, slot, loc);
    L->out = outer;
    Expr *at = hold(L, ir_ref(L->arena, slot), loc);
    Expr *number = op2(L, E_ADD, k, int_const(L, 1));
    emit(L, ir_store(L->arena, list->table, &at, 1, number, loc));
}

/* A larger table with all 'n' keys. */
static void
enlarge(Lower *L, List *list, Expr *n, Loc loc)
{
    Block *outer = L->out;
    Expr *zero = int_const(L, 0);
    Expr *more = op2(L, E_MUL, ir_ref(L->arena, list->size), int_const(L, 4));
    more = reuse(L, op2(L, E_MAX, more, int_const(L, LEAST_SIZE)), loc);
    emit_set(L, list->size, more, loc);
    Stmt *s = ir_stmt(L->arena, S_GROW, loc);
    s->buf = list->table;
    s->value = more;
    emit(L, s);
    Expr *i = list_loop(L, zero, more, loc);
    emit(L, ir_store(L->arena, list->table, &i, 1, zero, loc));
    L->out = outer;
    Expr *k = list_loop(L, zero, n, loc);
    enter(L, list, k, loc);
    L->out = outer;
}

Expr *
hash_find(Lower *L, const List *list, Value x, Loc loc)
{
    Expr *entry;
    Block *outer = L->out;
    Var *slot = set_var(L, "slot", DT_I64, 0);
    Var *found = set_var(L, "found", DT_I64, 0);
    x = hold_value(L, x, loc);
    emit_set(L, found, int_const(L, -1), loc);
    Stmt *some = ir_stmt(L->arena, S_IF, loc);
    some->value = op2(L, E_LT, int_const(L, 0), ir_ref(L->arena, list->size));
    emit(L, some);
    L->out = &some->body;
    open_search(L, list, x, slot, &entry, loc);
    Block *body = L->out;
    Expr *k = reuse(L, op2(L, E_SUB, entry, int_const(L, 1)), loc);
    Value v = hold_value(L, list_load(L, list, k), loc);
    Stmt *same = ir_stmt(L->arena, S_IF, loc);
    same->value = list_equal(L, v, x, loc);
    vec_push(L->arena, &same->body, ir_set(L->arena, found, k, loc));
    vec_push(L->arena, &same->body, ir_stmt(L->arena, S_BREAK, loc));
    emit(L, same);
    L->out = body;
    step_on(L, list, slot, loc);
    L->out = outer;
    return hold(L, ir_ref(L->arena, found), loc);
}

void
hash_put(Lower *L, List *list, Value x, Loc loc)
{
    Block *outer = L->out;
    Expr *n = list_length(L, list, loc);
    Expr *twice = op2(L, E_MUL, op2(L, E_ADD, n, int_const(L, 1)),
                      int_const(L, 2));
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = op2(L, E_LT, ir_ref(L->arena, list->size), twice);
    x = hold_value(L, x, loc);
    emit(L, s);
    L->out = &s->body;
    enlarge(L, list, n, loc);
    L->out = outer;
    list_push(L, list, x, loc);
    enter(L, list, n, loc);
}
