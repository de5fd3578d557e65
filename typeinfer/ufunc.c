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
#include "csrc/ir/ir.h"
#include "typeinfer/rules.h"

/* Is the operand a Python number that takes the dtype of others? A bool has a
 * dtype. */
static bool
is_weak(const Type *type)
{
    return type->kind == TY_NUM && type->weak && type->dtype != DT_BOOL;
}

/* The dtype of the loop for one strong operand. */
static DType
loop_for(DType dtype)
{
    if (dtype_is_float(dtype)) {
        return dtype;
    }
    if (dtype == DT_BOOL || dtype_size(dtype) == 1 ||
        dtype_is_complex(dtype)) {
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

/* Others are machine instructions or made of them. */
bool
runs_loop(BuiltinId id)
{
    const Builtin *row = builtin_row(id);
    return row->kind == BK_UFUNC && row->fn >= 0 &&
           ir_fn_origin((Fn)row->fn) == 'N';
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
