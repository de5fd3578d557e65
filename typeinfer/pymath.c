/* Types of functions of Python's math with rules of their own, and round to
 * digits.
 *
 *     math.hypot(x, y, z)   float      math.modf(x)      (float, float)
 *     math.isclose(a, b)    bool       math.gcd(a, b)    int
 *     math.log(x, base)     float      math.isqrt(n)     int
 *     round(x, 2)           as x; a Python bool gives an int
 *
 * How they are computed is CPython's, version by version: csrc/lower/pymath.c.
 */
#include "typeinfer/state.h"

/* Coordinates of one vector. */
enum { MOST_COORDINATES = 8, MOST_DIGITS = 22 };

/* Refuses (VZ-2003) a call for its arguments. */
static _Noreturn void
refuse(Infer *I, const AExpr *call, BuiltinId id, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` is not translated %s", builtin_row(id)->name, why);
}

/* The ported algorithm is that of CPython 3.10 and 3.11; others have other
 * bits. */
static const Type *
type_of_hypot(Infer *I, const AExpr *call, BuiltinId id)
{
    if (I->unit->minor < 10 || I->unit->minor > 11) {
        refuse(I, call, id, "for this version of Python");
    }
    if (call->items.n > MOST_COORDINATES) {
        refuse(I, call, id, "for so many coordinates");
    }
    need_numbers(I, call);
    return type_float(I->arena);
}

/* Two tuples of one length. */
static const Type *
type_of_dist(Infer *I, const AExpr *call, BuiltinId id)
{
    const Type *p = call->items.at[0]->type;
    const Type *q = call->items.at[1]->type;
    if (I->unit->minor < 10 || I->unit->minor > 11) {
        refuse(I, call, id, "for this version of Python");
    }
    bool tuples = p->kind == TY_TUPLE && q->kind == TY_TUPLE &&
                  p->rank == q->rank && p->rank <= MOST_COORDINATES;
    for (int i = 0; tuples && i < p->rank; i++) {
        tuples = p->items[i]->kind == TY_NUM && q->items[i]->kind == TY_NUM &&
                 p->items[i]->alt == ALT_NEVER && q->items[i]->alt == ALT_NEVER;
    }
    if (!tuples) {
        refuse(I, call, id, "for anything but two tuples of numbers");
    }
    return type_float(I->arena);
}

/* Python's ints; NumPy's are counted among them by __index__. */
static const Type *
type_of_integers(Infer *I, const AExpr *call, BuiltinId id)
{
    for (int i = 0; i < call->items.n; i++) {
        const Type *type = call->items.at[i]->type;
        if (!type_is_integer(type, true) || type->alt != ALT_NEVER) {
            refuse(I, call, id, "for this");
        }
    }
    if (id == BUILTIN_MATH_GCD && call->items.n != 2) {
        refuse(I, call, id, "for other than two numbers");
    }
    return type_int(I->arena);
}

/* round(x, n): n must be known, and not negative. 10 ** 22 is the largest power
 * of ten that is a double. */
static const Type *
type_of_digits(Infer *I, const AExpr *call, BuiltinId id)
{
    const Type *arg = need_num(I, call->items.at[0], "the argument");
    const Type *by = call->items.at[1]->type;
    int64_t digits = 0;
    if (!type_is_known_int(by, &digits)) {
        infer_pin(I, cond_origin(call->items.at[1]));
        refuse(I, call, id, "for a number of digits that is not known");
    }
    if (digits < 0 || digits > MOST_DIGITS || arg->alt != ALT_NEVER ||
        (!arg->weak && arg->dtype == DT_BOOL)) {
        refuse(I, call, id, "for this number of digits");
    }
    bool boolean = arg->dtype == DT_BOOL;
    return type_num(I->arena, boolean ? DT_I64 : arg->dtype, arg->weak);
}

/* (fraction, whole) */
static const Type *
type_of_modf(Infer *I, const AExpr *call)
{
    need_numbers(I, call);
    const Type *items[] = {type_float(I->arena), type_float(I->arena)};
    return type_tuple(I->arena, items, 2, false);
}

/* The type of a call of BK_PYMATH, and of round with digits. */
const Type *
type_of_pymath(Infer *I, AExpr *call, BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_MATH_HYPOT:
        return type_of_hypot(I, call, id);
    case BUILTIN_MATH_DIST:
        return type_of_dist(I, call, id);
    case BUILTIN_MATH_ISCLOSE:
        need_numbers(I, call);
        return type_bool(I->arena);
    case BUILTIN_MATH_MODF:
        return type_of_modf(I, call);
    case BUILTIN_ROUND:
        return type_of_digits(I, call, id);
    default:
        return type_of_integers(I, call, id);
    }
}
