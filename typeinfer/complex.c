/* Complex numbers: Python's and NumPy's scalars, and the parts of arrays.
 *
 *     z = 0j
 *     while abs(z) < 2: z = z * z + c
 *
 * A complex number is a pair of floats (TY_COMPLEX): Python's is weak, one of
 * NumPy's strong, as other numbers are, and NEP 50 says what comes of two.  An
 * array of them has a complex dtype; its real and imaginary parts are views of
 * floats.  What NumPy's functions make of complex numbers is in pairs.c.
 *
 * A name that is 0 before a loop and complex in it is complex with an
 * alternative, as for other numbers; `z = 0j` and then `z * z + c[i]` is a
 * complex128 that may be Python's.  Sums and products with a NumPy scalar are
 * the same for both.  Sums and products of two maybe-types keep the flag;
 * everything else needs the complex number.
 */
#include <string.h>

#include "typeinfer/state.h"

/* Exponents beyond this would make long code. */
enum { MOST_POWER = 16 };

const Type *
type_pair(Arena *arena, DType dtype, bool weak)
{
    Type *type =
        arena_copy(arena, type_kind(arena, TY_COMPLEX), sizeof(*type));
    type->rank = 2;
    type->weak = weak;
    type->dtype = dtype;
    type->items = ARENA_ARRAY(arena, const Type *, 3);
    type->items[0] = type_num(arena, dtype_part(dtype), weak);
    type->items[1] = type->items[0];
    return type;
}

const Type *
type_complex(Arena *arena)
{
    return type_pair(arena, DT_C128, true);
}

/* Refuses the operator for these operands. */
static _Noreturn void
refuse(Infer *I, const AExpr *e, AOp op, const Type *lhs, const Type *rhs,
       bool fails)
{
    infer_refuse(I, fails ? DIAG_ALWAYS_FAILS : DIAG_UNSUPPORTED_OPERATION,
                 e->loc, NULL, "`%s` %s for %s and %s", op_text(op),
                 fails ? "raises TypeError" : "is not translated",
                 type_text(I->arena, lhs), type_text(I->arena, rhs));
}

/* Complex, or a number without alternative. */
static bool
is_operand(const Type *type)
{
    return type->kind == TY_COMPLEX ||
           (type->kind == TY_NUM && type->alt == ALT_NEVER);
}

/* Python's number, or one that may be. */
static bool
may_be_pythons(const Type *type)
{
    return type->alt == ALT_COMPLEX || (type->weak && type->alt == ALT_NEVER);
}

/* The alternative that a result keeps: both operands may be numbers. */
static Alt
common_alt(AOp op, const Type *lhs, const Type *rhs)
{
    bool keeps = op == AO_ADD || op == AO_SUB || op == AO_MUL;
    if (may_be_pythons(lhs) && may_be_pythons(rhs) &&
        (lhs->alt == ALT_COMPLEX || rhs->alt == ALT_COMPLEX)) {
        return keeps ? ALT_COMPLEX : ALT_NEVER;
    }
    bool both = lhs->kind == TY_COMPLEX && rhs->kind == TY_COMPLEX &&
                lhs->alt == rhs->alt && lhs->dtype == rhs->dtype;
    return keeps && both ? lhs->alt : ALT_NEVER;
}

/* np.float64 is a float, so Python's complex numbers know what to do with one
 * on the right. */
const Type *
complex_common(Arena *arena, const Type *lhs, const Type *rhs)
{
    bool is_float = rhs->kind == TY_NUM && rhs->dtype == DT_F64;
    if (lhs->kind == TY_COMPLEX && lhs->weak && is_float) {
        return type_complex(arena);
    }
    Plain common = plain_common((Plain){lhs->dtype, lhs->weak},
                                (Plain){rhs->dtype, rhs->weak});
    return type_pair(arena, common.dtype, common.weak);
}

/* A power that is a chain of products, or a constant. */
static const Type *
power_type(Infer *I, const AExpr *e, const Type *lhs, const Type *rhs)
{
    int64_t power;
    if (lhs->kind != TY_COMPLEX || !rhs->weak ||
        !type_is_known_int(rhs, &power) || power < 1 || power > MOST_POWER) {
        refuse(I, e, AO_POW, lhs, rhs, false);
    }
    return type_pair(I->arena, lhs->dtype, lhs->weak);
}

/* NULL: no matter of complex scalars. */
const Type *
complex_binop(Infer *I, const AExpr *e, AOp op, const Type *lhs,
              const Type *rhs)
{
    if ((lhs->kind != TY_COMPLEX && rhs->kind != TY_COMPLEX) ||
        lhs->kind == TY_ARRAY || rhs->kind == TY_ARRAY) {
        return NULL;
    }
    if (!is_operand(lhs) || !is_operand(rhs)) {
        refuse(I, e, op, lhs, rhs, false);
    }
    const Type *type = complex_common(I->arena, lhs, rhs);
    bool strong = !type->weak;
    switch ((int)op) {
    case AO_ADD:
    case AO_SUB:
    case AO_MUL:
    case AO_DIV: {
        Alt alt = common_alt(op, lhs, rhs);
        return alt == ALT_NEVER ? type : type_with_alt(I->arena, type, alt);
    }
    case AO_POW:
        return power_type(I, e, lhs, rhs);
    case AO_EQ:
    case AO_NE:
    case AO_LT:
    case AO_LE:
    case AO_GT:
    case AO_GE:
        if (strong) {
            return type_num(I->arena, DT_BOOL, false);
        }
        if (op == AO_EQ || op == AO_NE) {
            return type_bool(I->arena);
        }
        refuse(I, e, op, lhs, rhs, lhs->weak && rhs->weak);
    default:
        refuse(I, e, op, lhs, rhs, !strong);
    }
}

/* -z and +z; NULL: not complex. */
const Type *
complex_unary(Infer *I, const AExpr *e, const Type *arg)
{
    if (arg->kind != TY_COMPLEX) {
        return NULL;
    }
    if (e->op == AO_INVERT) {
        refuse(I, e, e->op, arg, arg, true);
    }
    return type_pair(I->arena, arg->dtype, arg->weak);
}

const Type *
complex_float(Infer *I, const Type *type)
{
    return type->alt == ALT_COMPLEX
               ? type_with_alt(I->arena, type->items[0], ALT_FLOAT)
               : type->items[0];
}

/* z.real, z.imag; NULL: no such attribute. */
const Type *
complex_attr(Infer *I, const Type *base, const char *name)
{
    bool part = strcmp(name, "real") == 0 || strcmp(name, "imag") == 0;
    if (base->kind != TY_COMPLEX || !part) {
        return NULL;
    }
    return complex_float(I, base);
}

/* a.real and a.imag of a complex array: every other float of its memory. */
const Type *
complex_part_type(Infer *I, const Type *base, const char *name)
{
    bool part = strcmp(name, "real") == 0 || strcmp(name, "imag") == 0;
    if (!part || !dtype_is_complex(base->dtype)) {
        return NULL;
    }
    Type *type = arena_copy(I->arena, base, sizeof(*type));
    type->dtype = dtype_part(base->dtype);
    type->view = true;
    type->layout = base->layout == LAYOUT_ANY ? LAYOUT_ANY : LAYOUT_ROWS;
    return type;
}

/* complex(x, y) of numbers, complex(z). */
const Type *
type_of_complex(Infer *I, const AExpr *call)
{
    for (int i = 0; i < call->items.n; i++) {
        const AExpr *arg = call->items.at[i];
        bool alone =
            i == 0 && (call->items.n == 1 || call->items.at[1] == NULL);
        if (arg != NULL && !(alone && arg->type->kind == TY_COMPLEX)) {
            need_num(I, arg, "an argument of `complex`");
        }
    }
    return type_complex(I->arena);
}
