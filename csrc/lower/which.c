/* Which array a name stands for at the end, where only the run knows it.
 *
 *     for k in range(n):          which = 1             board is argument 0
 *         board = step(board)     while ...:
 *     return board                    made = made - 1   a fresh array
 *                                     which = made
 *
 * Python hands back the very object: the argument if the loop had no rounds, or
 * the same array twice.  So every BUF_REF has a number beside it, that is set
 * where it is bound: the argument's, or that of the array made.  Arrays that
 * are results themselves are made once and have a constant; others count down.
 * The host finds the object by the number.
 *
 * A fresh array that a BUF_REF stands for is copied into a result, since only
 * those have an object.
 */
#include "csrc/lower/state.h"

/* 'e' is the number of the array in 'buf'. */
static void
set_which(Lower *L, const Buf *buf, Expr *e)
{
    map_set(&L->which, buf, e);
}

/* NULL: nobody asks. */
static Expr *
which_of(Lower *L, const Buf *buf)
{
    Expr *e = map_get(&L->which, buf);
    intptr_t sig = (intptr_t)map_get(&L->arg_of, buf);
    return e != NULL ? e : int_const(L, sig);
}

bool
which_asked(const Type *result)
{
    bool asked = type_is_memory(result) && result->ref && !result->view;
    for (int i = 0; result->kind == TY_TUPLE && i < result->rank; i++) {
        asked |= which_asked(result->items[i]);
    }
    return asked;
}

void
which_made(Lower *L, const Buf *buf, int object, Loc loc)
{
    if (!L->tells) {
        return;
    }
    if (buf->kind == BUF_RESULT) {
        set_which(L, buf, int_const(L, WHICH_RESULT + object));
        return;
    }
    if (L->made == NULL) {
        Block *outer = L->out;
        L->made = set_var(L, "made", DT_I64, 0);
        L->out = &L->prologue;
        emit_set(L, L->made, int_const(L, 0), loc);
        L->out = outer;
    }
    Expr *made = ir_ref(L->arena, L->made);
    emit_set(L, L->made, op2(L, E_SUB, made, int_const(L, 1)), loc);
    set_which(L, buf, hold(L, ir_ref(L->arena, L->made), loc));
}

void
which_named(Lower *L, const Buf *ref)
{
    if (L->tells) {
        Var *var = set_var(L, "which", DT_I64, 0);
        set_which(L, ref, ir_ref(L->arena, var));
    }
}

void
which_bound(Lower *L, const Buf *ref, const Buf *to, Loc loc)
{
    Expr *own = L->tells ? map_get(&L->which, ref) : NULL;
    if (own != NULL) {
        emit_set(L, own->var, which_of(L, to), loc);
    }
}

void
which_same(Lower *L, const Buf *copy, const Buf *ref, Loc loc)
{
    if (L->tells) {
        set_which(L, copy, hold(L, which_of(L, ref), loc));
    }
}

/* What a BUF_REF stands for is copied if it is fresh. */
static Buf *
copy_of(Lower *L, Value v, Expr *which, Loc loc)
{
    const View *view = v.view;
    Buf *from = view->buf;
    Buf *buf = ir_buf(L->func, from->name, from->dtype, from->rank, BUF_RESULT);
    Expr *none = int_const(L, 0);
    Expr *fresh = reuse(L, op2(L, E_LT, which, none), loc);
    Expr *once = op2(L, E_LE, int_const(L, WHICH_RESULT), which);
    fresh = reuse(L, either(L, fresh, once), loc);
    buf->loc = loc;
    for (int i = 0; i < from->rank; i++) {
        Expr *n = reuse(L, hold(L, view_extent(L, view, i), loc), loc);
        n = ir_select(L->arena, fresh, n, none);
        buf->dims[i] = reuse(L, n, loc);
        map_set(&L->nonnegative, buf->dims[i], L);
    }
    bool turned = v.type->layout == LAYOUT_F;
    View *to = turned ? order_reversed(L, buf, not_(L, fresh), loc)
                      : view_whole(L, buf);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    copy_elements(L, to, view, loc);
    return buf;
}

Expr *
which_result(Lower *L, Value v, Buf **out, Loc loc)
{
    Expr *which = reuse(L, hold(L, which_of(L, v.view->buf), loc), loc);
    *out = copy_of(L, v, which, loc);
    return which;
}
