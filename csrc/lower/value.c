/* Building blocks: statements, small expressions, names for values.
 *
 * The constructors of ir.h fold nothing, so a few folds are done here, those
 * that keep the lowered text readable: constants cast, flags that are absent,
 * conjunctions with true.
 *
 * Names matter for speed of compilation, too: passes walk trees, so whatever is
 * used twice gets a LET (reuse).  And they matter for meaning: a tree that
 * reads memory or a SET variable means something else after the next store, so
 * what must keep its value is held.
 *
 *     t = a[i]; a[i] = a[j]; a[j] = t
 *
 * Without hold, `t` would be the tree `a[i]`, and the last store would load
 * what the first one wrote.
 *
 * Checks are not placed with care: one stands wherever Python would look.  To
 * find out which can't fail, or can be made once before a loop, is the business
 * of pass 'checks'.
 */
#include "csrc/lower/state.h"

/* Appends a statement to the block being written. */
void
emit(Lower *L, Stmt *s)
{
    if (s->kind == S_WARN && (L->ignored >> s->warn & 1)) {
        return;
    }
    vec_push(L->arena, L->out, s);
}

/* A check that replays the call when 'cond' fails: the host undoes all stores
 * and calls the Python function.  NULL and conditions that are constantly true
 * need none. */
void
emit_check(Lower *L, Expr *cond, Exc exc, Loc loc)
{
    int64_t value;
    if (cond == NULL || (ir_const_int(cond, &value) && value)) {
        return;
    }
    emit(L, ir_check(L->arena, cond, exc, ACT_REPLAY, loc));
}

/* An operator of one operand, in L's arena. */
Expr *
op1(Lower *L, Op op, Expr *arg)
{
    return ir_unary(L->arena, op, arg);
}

/* An operator of two operands of one dtype. */
Expr *
op2(Lower *L, Op op, Expr *lhs, Expr *rhs)
{
    return ir_binary(L->arena, op, lhs, rhs);
}

/* An i64. */
Expr *
int_const(Lower *L, int64_t value)
{
    return ir_int(L->arena, DT_I64, value);
}

/* Only for values that every number type has exactly. */
Expr *
num_const(Lower *L, DType dtype, double value)
{
    return dtype_is_float(dtype) ? ir_float(L->arena, dtype, value)
                                 : ir_int(L->arena, dtype, (int64_t)value);
}

/* 'e' in another dtype, itself if it has that one. To bool it is the test for
 * zero, as nan is true. Constants are cast where that is exact or what C's
 * cast does. */
Expr *
cast_to(Lower *L, DType dtype, Expr *e)
{
    if (e->dtype == dtype) {
        return e;
    }
    if (e->op == E_CONST && dtype != DT_BOOL) {
        if (!dtype_is_float(e->dtype) && e->dtype != DT_U64) {
            return dtype == DT_F64 ? ir_float(L->arena, DT_F64, (double)e->ival)
                   : dtype == DT_F32
                       ? ir_float(L->arena, DT_F32, (float)e->ival)
                       : ir_int(L->arena, dtype, e->ival);
        }
        if (dtype == DT_F64 && e->dtype == DT_F32) {
            return ir_float(L->arena, DT_F64, e->fval);
        }
        if (dtype == DT_F32 && e->dtype == DT_F64) {
            return ir_float(L->arena, DT_F32, e->fval);
        }
    }
    if (dtype == DT_BOOL) {
        Expr *zero = num_const(L, e->dtype, 0);
        return op2(L, E_NE, e, zero);
    }
    return ir_cast(L->arena, dtype, e);
}

/* A function of fn.def with one operand, or two if 'y' is there. */
Expr *
call_fn(Lower *L, Fn fn, DType dtype, Expr *x, Expr *y)
{
    Expr *args[] = {x, y};
    return ir_call(L->arena, fn, dtype, args, y ? 2 : 1);
}

/* Negation, folded where it meets a constant or another negation. */
Expr *
not_(Lower *L, Expr *e)
{
    int64_t value;
    if (ir_const_int(e, &value)) {
        return ir_bool(L->arena, !value);
    }
    return e->op == E_NOT ? e->args[0] : op1(L, E_NOT, e);
}

/* lhs && rhs, both evaluated. */
Expr *
both(Lower *L, Expr *lhs, Expr *rhs)
{
    int64_t value;
    if (lhs == NULL || rhs == NULL) {
        return lhs ? lhs : rhs;
    }
    if (ir_const_int(lhs, &value)) {
        return value ? rhs : lhs;
    }
    if (ir_const_int(rhs, &value)) {
        return value ? lhs : rhs;
    }
    return op2(L, E_AND, lhs, rhs);
}

/* lhs || rhs, both evaluated. */
Expr *
either(Lower *L, Expr *lhs, Expr *rhs)
{
    int64_t value;
    if (lhs == NULL || rhs == NULL) {
        return lhs ? lhs : rhs;
    }
    if (ir_const_int(lhs, &value)) {
        return value ? lhs : rhs;
    }
    if (ir_const_int(rhs, &value)) {
        return value ? rhs : lhs;
    }
    return op2(L, E_OR, lhs, rhs);
}

/* --- names ---------------------------------------------------------------- */

/* Does 'e' read a variable that may be SET again, or the extent of a name that
 * may be bound again? */
static bool
is_changeable(const Lower *L, const Expr *e)
{
    if (e->op == E_VAR) {
        return map_has(&L->changeable, e->var);
    }
    if (e->op == E_DIM) {
        return e->buf->kind == BUF_REF;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (is_changeable(L, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* A fresh name for 'e'. What is known of its sign is kept. */
static Expr *
let(Lower *L, Expr *e, Loc loc)
{
    Var *var = ir_var(L->func, "t", e->dtype, e->lanes);
    emit(L, ir_let(L->arena, var, e, loc));
    if (e->lanes == 0 && is_nonnegative(L, e)) {
        map_set(&L->nonnegative, var, var);
    }
    return ir_ref(L->arena, var);
}

/* Trees are shared only through names: walking a tree takes time by its size,
 * and one that is its own operand twice would grow with 2 ** depth. */
Expr *
reuse(Lower *L, Expr *e, Loc loc)
{
    return e->nargs == 0 && e->op != E_LOAD ? e : let(L, e, loc);
}

/* Loads and changeable variables are read now; other expressions mean the same
 * later. */
Expr *
hold(Lower *L, Expr *e, Loc loc)
{
    if (e == NULL || (!ir_has_load(e) && !is_changeable(L, e))) {
        return e;
    }
    return let(L, e, loc);
}

/* The same for all parts of a value. Views stay views: they are names of
 * memory, and must see what is stored later. */
Value
hold_value(Lower *L, Value v, Loc loc)
{
    v = settle(L, v, loc);
    v.expr = hold(L, v.expr, loc);
    v.flag = hold(L, v.flag, loc);
    if (v.items != NULL) {
        Value *items = ARENA_ARRAY(L->arena, Value, v.type->rank + 1);
        for (int i = 0; i < v.type->rank; i++) {
            items[i] = hold_value(L, v.items[i], loc);
        }
        v.items = items;
    }
    return v;
}

/* A variable that may be SET more than once. */
Var *
set_var(Lower *L, const char *name, DType dtype, int lanes)
{
    Var *var = ir_var(L->func, name, dtype, lanes);
    map_set(&L->changeable, var, var);
    return var;
}

/* 'var' is 'e' from here on. */
void
emit_set(Lower *L, Var *var, Expr *e, Loc loc)
{
    emit(L, ir_set(L->arena, var, e, loc));
}

/* Is the integer surely not below 0, by its form or by what was noted? Sums and
 * products of Python's ints are noted where their overflow is checked; those of
 * NumPy's wrap. */
bool
is_nonnegative(const Lower *L, const Expr *e)
{
    if (!dtype_is_int(e->dtype)) {
        return false;
    }
    if (map_has(&L->nonnegative, e)) {
        return true;
    }
    if (!dtype_is_signed(e->dtype)) {
        return true;
    }
    switch ((int)e->op) {
    case E_CONST:
        return e->ival >= 0;
    case E_DIM:
        return true;
    case E_VAR:
        return map_has(&L->nonnegative, e->var);
    case E_MAX:
        return is_nonnegative(L, e->args[0]) || is_nonnegative(L, e->args[1]);
    case E_MIN:
    case E_IDIV:
        return is_nonnegative(L, e->args[0]) && is_nonnegative(L, e->args[1]);
    case E_MOD:
        return is_nonnegative(L, e->args[1]);
    case E_CAST:
        return dtype_is_int(e->args[0]->dtype) &&
               dtype_size(e->args[0]->dtype) < dtype_size(e->dtype) &&
               is_nonnegative(L, e->args[0]);
    default:
        return false;
    }
}

/* --- values --------------------------------------------------------------- */

/* The constant that a type knows. */
static Expr *
known_expr(Lower *L, const Type *type)
{
    return dtype_is_float(type->dtype)
               ? ir_float(L->arena, type->dtype, type->fval)
               : ir_int(L->arena, type->dtype, type->ival);
}

/* The value of what its type says all about; the items of a tuple likewise.
 * Unknown numbers get no expression. */
Value
value_of_type(Lower *L, const Type *type)
{
    Value v = {.type = type};
    if (type->kind == TY_NUM && type->known) {
        v.expr = known_expr(L, type);
    }
    bool items = type_is_pack(type) || type->kind == TY_COMPLEX ||
                 type->kind == TY_SLICE;
    if (items) {
        v.items = ARENA_ARRAY(L->arena, Value, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            v.items[i] = value_of_type(L, type->items[i]);
        }
    }
    return v;
}

/* A number or vector without a flag. */
Value
num_value(const Type *type, Expr *e)
{
    return (Value){.type = type, .expr = e};
}

/* The flag as an expression: absent means never. */
Expr *
flag_or_false(Lower *L, Expr *flag)
{
    return flag ? flag : ir_bool(L->arena, false);
}
