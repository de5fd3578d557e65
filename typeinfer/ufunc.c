/* Types of NumPy's functions of floats: np.exp(x), np.hypot(a, b) ...
 *
 * The loop that NumPy takes is the first of its list, float16, float32,
 * float64, to which all operands can be cast: so np.sin of an int16 is a
 * float32.  Small integers would be computed in float16, which is not
 * translated; nor are two different integer dtypes, for which the common dtype
 * is not what decides.
 *
 * Only loops that have passed their test (csrc/py/loops.c) are used.
 */
#include "typeinfer/state.h"

/* Is the operand a Python number? */
static bool
is_weak(const Type *type)
{
    return type->kind == TY_NUM && type->weak;
}

/* The dtype of the loop for one strong operand. */
static DType
loop_for(DType dtype)
{
    if (dtype_is_float(dtype)) {
        return dtype;
    }
    if (dtype == DT_BOOL || dtype_size(dtype) == 1) {
        return DT_COUNT;
    }
    return dtype_size(dtype) == 2 ? DT_F32 : DT_F64;
}

/* Of two operands: the wider loop, if it is clear which that is. */
static DType
loop_for_two(const Type *lhs, const Type *rhs)
{
    if (is_weak(lhs) && is_weak(rhs)) {
        return DT_F64;
    }
    if (is_weak(lhs) || is_weak(rhs)) {
        const Type *strong = is_weak(lhs) ? rhs : lhs;
        return dtype_is_float(strong->dtype) || dtype_size(strong->dtype) >= 4
                   ? loop_for(strong->dtype)
                   : DT_COUNT;
    }
    if (lhs->dtype == rhs->dtype) {
        return loop_for(lhs->dtype);
    }
    DType both = dtype_promote(lhs->dtype, rhs->dtype);
    return dtype_is_float(both) ? both : DT_COUNT;
}

/* np.power and np.fmod of integers are other functions. */
DType
loop_dtype(BuiltinId id, const Type *const *ops, int n)
{
    DType dtype = n == 1 ? (is_weak(ops[0]) ? DT_F64 : loop_for(ops[0]->dtype))
                         : loop_for_two(ops[0], ops[1]);
    bool floats = dtype_is_float(ops[0]->dtype) ||
                  (n > 1 && dtype_is_float(ops[1]->dtype));
    bool of_ints = id == BUILTIN_NP_POWER || id == BUILTIN_NP_FMOD;
    if (dtype == DT_COUNT || (of_ints && !floats) ||
        !numpy_loop_known(builtin_row(id)->fn, dtype)) {
        return DT_COUNT;
    }
    return dtype;
}

/* A call of BK_LOOP. */
const Type *
type_of_loop(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *ops[2] = {NULL, NULL};
    int n = call->items.n;
    int lanes = 0;
    const Type *odd = NULL;
    for (int i = 0; i < n; i++) {
        ops[i] = need_operand(I, call->items.at[i], AO_MUL);
        int own = ops[i]->kind == TY_ARRAY ? type_lanes(ops[i]) : 0;
        odd = ops[i]->alt != ALT_NEVER || (own && lanes && own != lanes)
                  ? ops[i]
                  : odd;
        lanes = own ? own : lanes;
    }
    DType dtype = odd ? DT_COUNT : loop_dtype(id, ops, n);
    if (dtype == DT_COUNT) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "`%s` is not translated for %s", builtin_row(id)->name,
                     type_text(I->arena, odd ? odd : ops[0]));
    }
    return lanes ? fresh_vector(I, call, dtype, lanes)
                 : type_num(I->arena, dtype, false);
}
