/* Pass 'relax': single operations for which approx= allows a cheaper one.
 *
 *     let p = pow(x, 50)               let p = powi(x, 50)        REASSOC
 *     let d = pow(x, 2)                let d = mul(x, x)
 *     let q = div(a, 10)         ->    let q = mul(a, 0.1)
 *     next s = add(s, e)               next s = plus(s, e)
 *     let r = exp(v)                   let r = vm_exp(v)          VECMATH
 *
 * No assumption is made on nans and infinities: a quotient by a constant is
 * only replaced where the reciprocal is a normal number, powers by products
 * where they are those of the same whole number.
 *
 * PLUS is a permission, not an order: where a loop's carry only gathers,
 * 'vectorize' may let each lane gather for itself (csrc/ir/reduction.c); all
 * others who see it add.
 */
#include <math.h>

#include "csrc/base/approx.h"
#include "csrc/ir/relaxed.h"
#include "transforms/sums.h"
#include "transforms/transforms.h"

enum { MOST_POWER = 63 };

/* The pass's state.
 *   "pass"     arenas and remarks; "func"  the new one
 *   "allowed"  bits of Relax
 *   "sums"     what loops add up
 *   "loc"      of the statement at hand
 *   "out"      what stands before it; NULL: a value can't get a name there */
typedef struct Relaxer {
    Pass *pass;
    Func *func;
    unsigned allowed;
    Sums sums;
    Loc loc;
    Block *out;
} Relaxer;

static void
remark(const Relaxer *r, const Expr *e, const char *text)
{
    diag_remark(r->pass->diags, DIAG_RELAXED, e->loc.line ? e->loc : r->loc,
                "%s", text);
}

/* A difference is the sum with the opposite. */
static Expr *
relax_sum(Relaxer *r, Expr *e)
{
    Arena *a = r->pass->arena;
    Expr *other = e->args[1];
    if (!dtype_is_float(e->dtype) || sums_level(&r->sums, e) == SUM_NOT) {
        return e;
    }
    if (e->op == E_SUB) {
        other = ir_unary(a, E_NEG, other);
    }
    return ir_at(ir_binary(a, E_PLUS, e->args[0], other), e->loc);
}

/* --- single operations ------------------------------------------------- */

/* A constant, perhaps for all lanes; NULL: it is none. */
static const Expr *
constant(const Expr *e)
{
    e = e->op == E_SPLAT ? e->args[0] : e;
    return e->op == E_CONST ? e : NULL;
}

static Expr *
relax_quotient(Relaxer *r, Expr *e)
{
    const Expr *by = constant(e->args[1]);
    bool single = e->dtype == DT_F32;
    double factor = by ? 1.0 / by->fval : 0;
    factor = single ? (double)(float)factor : factor;
    double least = single ? 0x1p-126 : 0x1p-1022;
    if (!by || !isfinite(factor) || fabs(factor) < least) {
        return e;
    }
    Arena *a = r->pass->arena;
    remark(r, e, "the quotient by a constant is a product");
    return ir_at(ir_binary(a, E_MUL, e->args[0], ir_float(a, e->dtype, factor)),
                 e->loc);
}

/* Is the second argument of the power 'e' a whole number for which products
 * are worth it? */
static bool
is_whole_power(const Expr *e)
{
    const Expr *y = e->nargs == 2 ? constant(e->args[1]) : NULL;
    bool power = e->fn == FN_POW || e->fn == FN_POWF || e->fn == FN_NP_POWER ||
                 e->fn == FN_NP_POWER_BY;
    return power && y && fabs(y->fval) <= MOST_POWER && y->fval != 0 &&
           y->fval == floor(y->fval);
}

/* A call of a function with origin 'A'. */
static Expr *
call_relaxed(Relaxer *r, const Expr *e, Fn fn, Expr *const *args, int n)
{
    return ir_at(ir_call(r->pass->arena, fn, e->dtype, args, n), e->loc);
}

/* Is the power 'e' a square? */
static bool
is_square(const Expr *e)
{
    const Expr *y = e->nargs == 2 ? constant(e->args[1]) : NULL;
    return e->fn == FN_SQUARE || (e->fn != FN_ROOT && y && y->fval == 2.0);
}

/* Both REASSOC and VECMATH make products of squares. */
static Expr *
relax_power(Relaxer *r, Expr *e)
{
    if (r->out != NULL && is_square(e)) {
        Expr *x = e->args[0];
        if (x->op != E_VAR) {
            x = ir_named(r->func, r->out, "squared", x, r->loc);
        }
        remark(r, e, "the power is computed by products");
        return ir_at(ir_binary(r->pass->arena, E_MUL, x, x), e->loc);
    }
    Expr *two = ir_float(r->pass->arena, e->dtype, 2.0);
    Expr *args[] = {e->args[0], e->fn == FN_SQUARE ? two : e->args[1]};
    if (e->fn == FN_ROOT) {
        remark(r, e, "the power is a root");
        return call_relaxed(r, e, FN_POWHALF, args, 1);
    }
    remark(r, e, "the power is computed by products");
    return call_relaxed(r, e, FN_POWI, args, 2);
}

static Expr *
relax_call(Relaxer *r, Expr *e)
{
    bool root = e->fn == FN_SQUARE || e->fn == FN_ROOT;
    if ((r->allowed & (RELAX_REASSOC | RELAX_VECMATH)) &&
        (root || is_whole_power(e))) {
        return relax_power(r, e);
    }
    int fn = ir_fn_relaxed(e->fn);
    if (!(r->allowed & RELAX_VECMATH) || fn < 0) {
        return e;
    }
    remark(r, e,
           str_printf(r->pass->arena,
                      "`%s` is computed within 4 units in the last place",
                      ir_fn_name((Fn)fn) + 3));
    return call_relaxed(r, e, (Fn)fn, e->args, e->nargs);
}

/* --- the walk ------------------------------------------------------------ */

/* For ir_map. */
static Expr *
relax_node(void *data, Expr *e)
{
    Relaxer *r = data;
    bool reorders = r->allowed & RELAX_REASSOC;
    switch (e->op) {
    case E_CALL:
        return relax_call(r, e);
    case E_DIV:
        return reorders ? relax_quotient(r, e) : e;
    case E_ADD:
    case E_SUB:
        return reorders ? relax_sum(r, e) : e;
    default:
        return e;
    }
}

/* For ir_each_expr. */
static void
relax_slot(void *data, Expr **slot)
{
    Relaxer *r = data;
    *slot = ir_map(r->pass->arena, *slot, relax_node, r);
}

/* For ir_map_block. */
static void
relax_stmt(void *data, Block *out, Stmt *s)
{
    Relaxer *r = data;
    r->loc = s->loc;
    r->out = s->kind == S_LET || s->kind == S_STORE ? out : NULL;
    ir_each_expr(s, relax_slot, r);
    r->out = NULL;
    vec_push(r->pass->arena, out, s);
}

Func *
pass_relax(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Relaxer r = {.pass = pass, .func = out, .allowed = pass->opts->approx};
    sums_find(pass->scratch, func, &r.sums);
    out->body = ir_map_block(pass->arena, &func->body, relax_stmt, &r);
    r.loc = func->loc;
    for (int i = 0; i < out->rets.n; i++) {
        if (out->rets.at[i].value != NULL) {
            relax_slot(&r, &out->rets.at[i].value);
        }
    }
    return out;
}
