/* np.concatenate and its kin: every operand is stored into its part.
 *
 *     np.concatenate((a, b))      out = new array of len(a) + len(b)
 *                                 out[:len(a)] = a
 *                                 out[len(a):] = b
 *
 * Operands that lack the axis fill one place of it.  All other sizes must be
 * the same, which is checked where they are not known.
 */
#include "csrc/lower/state.h"

/* The call under way. "at" is where the next operand begins on the axis. */
typedef struct Concat {
    ConcatPlan plan;
    const Lazy *const *parts;
    int n;
    Expr *dims[MAX_RANK];
    Expr *at;
    Loc loc;
} Concat;

/* The size of 'part' along the axis. */
static Expr *
length(Lower *L, const Concat *c, const Lazy *part)
{
    return part->rank == c->plan.rank ? part->extent[c->plan.axis]
                                      : int_const(L, 1);
}

/* The shape of the result; the operands are checked to have it. */
static void
measure(Lower *L, Concat *c)
{
    Expr *total = NULL;
    for (int i = 0; i < c->n; i++) {
        const Lazy *part = c->parts[i];
        bool full = part->rank == c->plan.rank;
        Expr *own = length(L, c, part);
        total = total ? op2(L, E_ADD, total, own) : own;
        for (int k = 0; k < part->rank; k++) {
            int to = k + (!full && k >= c->plan.axis);
            if (to == c->plan.axis) {
                continue;
            }
            if (i == 0) {
                c->dims[to] = part->extent[k];
            } else if (!ir_equal(c->dims[to], part->extent[k])) {
                emit_check(L, op2(L, E_EQ, c->dims[to], part->extent[k]),
                           X_VALUE, c->loc);
            }
        }
    }
    total = reuse(L, total, c->loc);
    map_set(&L->nonnegative, total, L);
    c->dims[c->plan.axis] = total;
}

/* Stores the next operand. */
static void
store_part(Lower *L, Concat *c, const View *out, const Lazy *part)
{
    View *to = arena_copy(L->arena, out, sizeof(*out));
    Expr *n = length(L, c, part);
    if (part->rank < c->plan.rank) {
        view_fix(L, to, c->plan.axis, c->at);
    } else {
        int axis = to->axis[c->plan.axis];
        to->offset[axis] = c->at;
        to->extent[axis] = n;
    }
    lazy_store(L, to, part, c->loc);
    c->at = reuse(L, op2(L, E_ADD, c->at, n), c->loc);
    map_set(&L->nonnegative, c->at, L);
}

Value
lower_joined(Lower *L, const AExpr *e, BuiltinId id)
{
    Value list = lower_expr(L, e->items.at[0]);
    Concat c = {.n = list.type->rank, .loc = e->loc};
    concat_plan(e, id, &c.plan);
    const Lazy **parts = ARENA_ARRAY(L->arena, const Lazy *, c.n + 1);
    for (int i = 0; i < c.n; i++) {
        parts[i] = lazy_of(L, list.items[i], e->loc);
    }
    c.parts = parts;
    measure(L, &c);
    Value out = make_array(L, e, c.dims);
    c.at = int_const(L, 0);
    for (int i = 0; i < c.n; i++) {
        store_part(L, &c, out.view, parts[i]);
        order_follows_lazy(L, out.view->buf, parts[i]);
    }
    return out;
}
