/* Python's complex numbers.
 *
 *     z = 0j
 *     while abs(z) < 2: z = z * z + c
 *
 * A complex number is a pair of floats (TY_COMPLEX), never in memory.  Its
 * other operand may be complex or one of Python's own numbers, which counts as
 * a complex number without imaginary part.  NumPy's scalars make complex128,
 * whose quotients and warnings are others, so they are refused; so are arrays,
 * whose products NumPy computes with fused operations where the processor has
 * them.
 *
 * A name that is 0 before a loop and complex in it is complex with an
 * alternative, as for other numbers.  Sums and products of two such keep the
 * flag; everything else needs the complex number.
 */
#include <string.h>

#include "typeinfer/state.h"

/* Exponents beyond this would make long code. */
enum { MOST_POWER = 16 };

const Type *
type_complex(Arena *arena)
{
    Type *type =
        arena_copy(arena, type_kind(arena, TY_COMPLEX), sizeof(*type));
    type->rank = 2;
    type->weak = true;
    type->dtype = DT_F64;
    type->items = ARENA_ARRAY(arena, const Type *, 3);
    type->items[0] = type_float(arena);
    type->items[1] = type_float(arena);
    return type;
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

/* Complex, or a Python number without alternative. */
static bool
is_operand(const Type *type)
{
    return type->kind == TY_COMPLEX ||
           (type->kind == TY_NUM && type->weak && type->alt == ALT_NEVER);
}

/* The alternative that a result keeps: both operands may be numbers. */
static Alt
common_alt(AOp op, const Type *lhs, const Type *rhs)
{
    bool keeps = op == AO_ADD || op == AO_SUB || op == AO_MUL;
    bool both = lhs->kind == TY_COMPLEX && rhs->kind == TY_COMPLEX &&
                lhs->alt == rhs->alt;
    return keeps && both ? lhs->alt : ALT_NEVER;
}

/* NULL: neither operand is complex. */
const Type *
complex_binop(Infer *I, const AExpr *e, AOp op, const Type *lhs,
              const Type *rhs)
{
    if (lhs->kind != TY_COMPLEX && rhs->kind != TY_COMPLEX) {
        return NULL;
    }
    if (!is_operand(lhs) || !is_operand(rhs)) {
        refuse(I, e, op, lhs, rhs, false);
    }
    int64_t power;
    switch ((int)op) {
    case AO_ADD:
    case AO_SUB:
    case AO_MUL:
    case AO_DIV: {
        Alt alt = common_alt(op, lhs, rhs);
        const Type *type = type_complex(I->arena);
        return alt == ALT_NEVER ? type : type_with_alt(I->arena, type, alt);
    }
    case AO_POW:
        if (!type_is_known_int(rhs, &power) || power < 1 ||
            power > MOST_POWER) {
            refuse(I, e, op, lhs, rhs, false);
        }
        return type_complex(I->arena);
    case AO_EQ:
    case AO_NE:
        return type_bool(I->arena);
    default:
        refuse(I, e, op, lhs, rhs, true);
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
    return type_complex(I->arena);
}

/* z.real, z.imag; NULL: no such attribute. */
const Type *
complex_attr(Infer *I, const Type *base, const char *name)
{
    bool part = strcmp(name, "real") == 0 || strcmp(name, "imag") == 0;
    return base->kind == TY_COMPLEX && part ? type_float(I->arena) : NULL;
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
