/* Deques: lists of run-time length with room in front.
 *
 *     d.popleft()       check 0 < n;  item 0;  set head = head + 1;  n = n - 1
 *     d.append(x)       if head is large and not less than n: all items move
 *                       to the front of the buffers
 *     d.appendleft(x)   if head is 0: they move n + 16 places up
 *
 * So every item moves a constant number of times on the average, and the
 * buffers stay below three times the largest length.
 */
#include "csrc/lower/list.h"

/* Room in front that is never too much. */
enum { GAP = 16 };

/* Opens 'if cond {'; the caller puts L->out back. */
static void
open_if(Lower *L, Expr *cond, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = cond;
    emit(L, s);
    L->out = &s->body;
}

/* The item at 'k' of the list goes 'by' places further up; negative: down. */
static void
move_item(Lower *L, List *list, Expr *k, Expr *by, Loc loc)
{
    Value v = list_load_raw(L, list, k);
    list_store_raw(L, list, reuse(L, op2(L, E_ADD, k, by), loc), v, loc);
}

void
deque_pack(Lower *L, List *list, Loc loc)
{
    Block *outer = L->out;
    Expr *zero = int_const(L, 0);
    Expr *n = list_length(L, list, loc);
    Expr *head = hold(L, ir_ref(L->arena, list->head), loc);
    Expr *much = op2(L, E_AND, op2(L, E_LT, int_const(L, GAP), head),
                     op2(L, E_LE, n, head));
    open_if(L, much, loc);
    Block *body = L->out;
    Expr *k = list_loop(L, zero, n, loc);
    move_item(L, list, k, op2(L, E_SUB, zero, head), loc);
    L->out = body;
    emit_set(L, list->head, zero, loc);
    L->out = outer;
}

/* The item that is taken out in front. */
Value
lower_popleft(Lower *L, List *list, Loc loc)
{
    Expr *zero = int_const(L, 0);
    Expr *one = int_const(L, 1);
    Expr *n = list_length(L, list, loc);
    Expr *last = reuse(L, op2(L, E_SUB, n, one), loc);
    emit_check(L, op2(L, E_LT, zero, n), X_INDEX, loc);
    Value v = hold_value(L, list_load(L, list, zero), loc);
    Expr *next = op2(L, E_ADD, ir_ref(L->arena, list->head), one);
    Expr *empty = op2(L, E_EQ, last, zero);
    emit_set(L, list->head, ir_select(L->arena, empty, zero, next), loc);
    if (last->op == E_VAR) {
        map_set(&L->nonnegative, last->var, L);
    }
    list_set_length(L, list, last, loc);
    return v;
}

/* 'v' becomes the first item. */
void
lower_appendleft(Lower *L, List *list, Value v, Loc loc)
{
    Block *outer = L->out;
    Expr *zero = int_const(L, 0);
    Expr *one = int_const(L, 1);
    v = hold_value(L, v, loc);
    Expr *n = list_length(L, list, loc);
    Expr *head = ir_ref(L->arena, list->head);
    open_if(L, op2(L, E_EQ, head, zero), loc);
    Block *body = L->out;
    Expr *gap = reuse(L, op2(L, E_ADD, n, int_const(L, GAP)), loc);
    list_room(L, list, reuse(L, op2(L, E_ADD, n, gap), loc), loc);
    Expr *k = list_loop(L, zero, n, loc);
    Expr *from = op2(L, E_SUB, op2(L, E_SUB, n, one), k);
    move_item(L, list, reuse(L, from, loc), gap, loc);
    L->out = body;
    emit_set(L, list->head, gap, loc);
    L->out = outer;
    emit_set(L, list->head, op2(L, E_SUB, head, one), loc);
    list_store(L, list, zero, v, loc);
    emit_set(L, list->var, op2(L, E_ADD, n, one), loc);
}
