/* What each operator computes, on one lane.
 *
 * This is the meaning of node.def and fn.def in the plainest C: the reference
 * interpreter runs on it and constant folding uses it, so a folded constant is
 * what the kernel would have computed.  Nothing here traps or is undefined:
 * integers wrap, division by zero and shifts out of range give what NumPy
 * gives, float to integer out of range gives what x86 gives.
 *
 * float32 arithmetic is done in float: operands and result of every step are
 * floats held in a double, which loses nothing.
 *
 * What a kernel needs at run time is written a second time, as C text in
 * csrc/emit; the tests compare the two.
 */
#include <math.h>

#include "csrc/ir/relaxed.h"

/* Every integer result passes here and comes out in its dtype's range. Two's
 * complement makes this right for sums, products and shifts alike: their low
 * bits depend on the low bits of the operands only. */
static Slot
of_int(DType dtype, int64_t value)
{
    return (Slot){.i = ir_wrap(dtype, value)};
}

/* float32 results are rounded once more; for what was computed in float that
 * changes nothing. That needs no proof: a float held in a double is exact, and
 * rounding what is exact gives itself. */
static Slot
of_float(DType dtype, double value)
{
    return (Slot){.f = dtype == DT_F32 ? (double)(float)value : value};
}

/* --- integers ----------------------------------------------------------- */

/* Towards minus infinity; 0 for a zero divisor; the least value over -1 wraps
 * to itself. C truncates towards zero: where the remainder is not 0 and the
 * signs differ, the quotient is one too large.
 *
 *    7 // 2 = 3    -7 // 2 = -4    7 // -2 = -4    -7 // -2 = 3
 *
 * MIN / -1 traps on x86, so -1 is negated in unsigned arithmetic; the caller
 * wraps the result to narrower types. */
static int64_t
floor_div(DType dtype, int64_t a, int64_t b)
{
    if (b == 0) {
        return 0;
    }
    if (!dtype_is_signed(dtype)) {
        return (int64_t)((uint64_t)a / (uint64_t)b);
    }
    if (b == -1) {
        return (int64_t)(0 - (uint64_t)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* By its definition a - floor(a / b) * b, in wrapping arithmetic, so it agrees
 * with floor_div for every pair. The result has the sign of the divisor: -7 % 2
 * is 1, 7 % -2 is -1. */
static int64_t
floor_mod(DType dtype, int64_t a, int64_t b)
{
    int64_t q = floor_div(dtype, a, b);
    return b == 0 ? 0 : (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b);
}

/* A shift by the width or more leaves nothing, as in NumPy; in C it would be
 * undefined. On the unsigned value, since shifting a negative one is undefined
 * too. */
static int64_t
shift_left(DType dtype, int64_t a, int64_t b)
{
    bool inside = b >= 0 && b < dtype_size(dtype) * 8;
    return inside ? (int64_t)((uint64_t)a << b) : 0;
}

/* A shift by the width or more leaves the sign. As an arithmetic shift without
 * end would: -1 or 0. */
static int64_t
shift_right(DType dtype, int64_t a, int64_t b)
{
    if (b < 0 || b >= dtype_size(dtype) * 8) {
        return dtype_is_signed(dtype) && a < 0 ? -1 : 0;
    }
    return dtype_is_signed(dtype) ? a >> b : (int64_t)((uint64_t)a >> b);
}

/* Values of uint64 are held as bits; those of narrower types compare alike
 * either way. */
static bool
int_less(DType dtype, int64_t a, int64_t b)
{
    return dtype == DT_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Would ADD, SUB or MUL of 'dtype' wrap?
 *
 * In 64 bits gcc's builtins tell, which compute without limit; for unsigned
 * types a difference below 0 counts as well.  Narrower types can't leave 64
 * bits in one step (a product of two uint32 is below 2^64), so their result is
 * compared with its wrapped self or with the greatest value. */
static bool
overflows(Op op, DType dtype, int64_t a, int64_t b)
{
    if (dtype_is_signed(dtype)) {
        int64_t r = 0;
        bool wide = op == E_ADDO   ? __builtin_add_overflow(a, b, &r)
                    : op == E_SUBO ? __builtin_sub_overflow(a, b, &r)
                                   : __builtin_mul_overflow(a, b, &r);
        return wide || r != ir_wrap(dtype, r);
    }
    uint64_t x = (uint64_t)a;
    uint64_t y = (uint64_t)b;
    uint64_t r = 0;
    bool wide = op == E_ADDO   ? __builtin_add_overflow(x, y, &r)
                : op == E_SUBO ? __builtin_sub_overflow(x, y, &r)
                               : __builtin_mul_overflow(x, y, &r);
    return wide || r > dtype_max(dtype);
}

/* The result before it is wrapped to 'dtype'; all in 64-bit unsigned
 * arithmetic, where wrapping is defined. The low 64 bits of a product are the
 * same for signed and unsigned operands.  bool passes here for AND, OR and
 * XOR. */
static int64_t
int_binary(Op op, DType dtype, int64_t a, int64_t b)
{
    switch ((int)op) {
    case E_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case E_SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case E_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case E_IDIV:
        return floor_div(dtype, a, b);
    case E_MOD:
        return floor_mod(dtype, a, b);
    case E_MIN:
        return int_less(dtype, b, a) ? b : a;
    case E_MAX:
        return int_less(dtype, a, b) ? b : a;
    case E_AND:
        return a & b;
    case E_OR:
        return a | b;
    case E_XOR:
        return a ^ b;
    case E_SHL:
        return shift_left(dtype, a, b);
    case E_SHR:
        return shift_right(dtype, a, b);
    default:
        return 0;
    }
}

/* NEG and ABS of the least value wrap to itself. For the dtypes below 64 bits
 * too: -(-128) is 128, which the caller wraps to -128, as NumPy has it.  NOT is
 * of bool only and stays 0 or 1. */
static int64_t
int_unary(Op op, DType dtype, int64_t a)
{
    switch ((int)op) {
    case E_NEG:
        return (int64_t)(0 - (uint64_t)a);
    case E_ABS:
        return dtype_is_signed(dtype) && a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
    case E_INV:
        return ~a;
    case E_NOT:
        return !a;
    default:
        return 0;
    }
}

/* Comparisons, and the predicates ADDO, SUBO, MULO. a <= b is written as not b
 * < a, which holds for integers but would not for floats with a nan. */
static bool
int_compare(Op op, DType dtype, int64_t a, int64_t b)
{
    switch ((int)op) {
    case E_EQ:
        return a == b;
    case E_NE:
        return a != b;
    case E_LT:
        return int_less(dtype, a, b);
    case E_LE:
        return !int_less(dtype, b, a);
    default:
        return overflows(op, dtype, a, b);
    }
}

/* --- floats ------------------------------------------------------------- */

/* Plain C: one operation, one rounding.  This file is compiled without
 * contraction or any other licence. Division by zero gives an infinity or a
 * nan, as NumPy; where Python would raise, a check stands before. */
static double
float_binary64(Op op, double a, double b)
{
    switch ((int)op) {
    case E_ADD:
    case E_PLUS:
        return a + b;
    case E_SUB:
        return a - b;
    case E_MUL:
        return a * b;
    case E_DIV:
        return a / b;
    default:
        return 0.0;
    }
}

/* The casts to float keep a compiler from computing in double. By a theorem of
 * Figueroa the double result rounded to float would be the same for these four,
 * since 53 >= 2 * 24 + 2; but then it would depend on that, and this does
 * not. */
static double
float_binary32(Op op, float a, float b)
{
    switch ((int)op) {
    case E_ADD:
    case E_PLUS:
        return (double)(a + b);
    case E_SUB:
        return (double)(a - b);
    case E_MUL:
        return (double)(a * b);
    case E_DIV:
        return (double)(a / b);
    default:
        return 0.0;
    }
}

/* IEEE: everything but NE is false for a nan. */
static bool
float_compare(Op op, double a, double b)
{
    switch ((int)op) {
    case E_EQ:
        return a == b;
    case E_NE:
        return a != b;
    case E_LT:
        return a < b;
    default:
        return a <= b;
    }
}

/* --- casts -------------------------------------------------------------- */

/* cvttsd2si: the least int64 for everything that does not fit. The limit 2^63
 * is a double, INT64_MAX is not, hence the half-open interval; a nan fails both
 * comparisons and takes the same way. */
static int64_t
truncate64(double value)
{
    const double limit = 9223372036854775808.0;
    return value >= -limit && value < limit ? (int64_t)value : INT64_MIN;
}

/* As gcc compiles it and as NumPy has it on x86: through int32 up to 32 bits
 * signed and up to 16 bits unsigned, through int64 for uint32, and for uint64
 * in two halves. What is out of range of the type passed through becomes
 * INT32_MIN or INT64_MIN, of which the caller keeps the low bits: uint8(300.7)
 * is 44, uint8(1e10) is 0. */
static int64_t
float_to_int(DType dtype, double value)
{
    if (dtype == DT_I64 || dtype == DT_U32) {
        return truncate64(value);
    }
    if (dtype == DT_U64) {
        const double half = 9223372036854775808.0;
        return value >= half ? truncate64(value - half) ^ INT64_MIN
                             : truncate64(value);
    }
    int64_t wide = truncate64(value);
    return wide == (int32_t)wide ? wide : INT32_MIN;
}

/* One rounding from the integer to the target; going through double would round
 * twice for float32. The hardware rounds to nearest even, as Python and NumPy
 * do. */
static double
int_to_float(DType to, DType from, int64_t value)
{
    if (from == DT_U64) {
        return to == DT_F32 ? (double)(float)(uint64_t)value
                            : (double)(uint64_t)value;
    }
    return to == DT_F32 ? (double)(float)value : (double)value;
}

/* Any dtype to any other; to bool is 'not zero', so a nan is true. Between
 * integers only the width changes, and bool gives 0 or 1. */
static Slot
cast(DType to, DType from, Slot arg)
{
    if (dtype_is_float(from)) {
        if (dtype_is_float(to)) {
            return of_float(to, arg.f);
        }
        if (to == DT_BOOL) {
            return (Slot){.i = arg.f != 0.0};
        }
        return of_int(to, float_to_int(to, arg.f));
    }
    if (dtype_is_float(to)) {
        return (Slot){.f = int_to_float(to, from, arg.i)};
    }
    return of_int(to, arg.i);
}

/* --- functions ---------------------------------------------------------- */

/* Read through volatile, so that the C compiler can't replace pow(x, 2.0) by
 * x * x, which it otherwise does. */
static double (*volatile libm_pow)(double, double) = pow;

/* libm's functions of one argument.  Those of fn.def that are missing here have
 * two arguments, another type or a port of their own. */
typedef double Fn1(double);

static Fn1 *const functions1[FN_COUNT] = {
    [FN_SQRT] = sqrt,   [FN_FLOOR] = floor, [FN_CEIL] = ceil,
    [FN_TRUNC] = trunc, [FN_RINT] = rint,   [FN_EXP] = exp,
    [FN_EXP2] = exp2,   [FN_EXPM1] = expm1, [FN_LOG] = log,
    [FN_LOG2] = log2,   [FN_LOG10] = log10, [FN_LOG1P] = log1p,
    [FN_SIN] = sin,     [FN_COS] = cos,     [FN_TAN] = tan,
    [FN_ASIN] = asin,   [FN_ACOS] = acos,   [FN_ATAN] = atan,
    [FN_SINH] = sinh,   [FN_COSH] = cosh,   [FN_TANH] = tanh,
    [FN_ASINH] = asinh, [FN_ACOSH] = acosh, [FN_ATANH] = atanh,
    [FN_CBRT] = cbrt,   [FN_ERF] = erf,     [FN_ERFC] = erfc,
    /* NumPy's loops are not at hand; these differ in the last bits. */
    [FN_NP_EXP] = exp,     [FN_NP_LOG] = log,   [FN_NP_SIN] = sin,
    [FN_NP_COS] = cos,     [FN_NP_TAN] = tan,   [FN_NP_TANH] = tanh,
    [FN_NP_ARCTAN] = atan, [FN_NP_CBRT] = cbrt,
};

/* CPython's float divmod (Objects/floatobject.c, _float_div_mod), which is
 * NumPy's npy_divmod too: the quotient is rounded from (a - mod) / b so that it
 * is whole and agrees with the remainder, the remainder has the sign of the
 * divisor. 'b' is not 0.  A result of 0 takes a sign: the remainder that of the
 * divisor, the quotient that of a / b.
 *
 *    divmod(-7.0, 2.0) = -4.0, 1.0        divmod(6.0, -2.0) = -3.0, -0.0 */
static double
divmod64(double a, double b, double *mod)
{
    double rest = fmod(a, b);
    double div = (a - rest) / b;
    if (rest != 0.0) {
        if ((b < 0) != (rest < 0)) {
            rest += b;
            div -= 1.0;
        }
    } else {
        rest = copysign(0.0, b);
    }
    *mod = rest;
    if (div == 0.0) {
        return copysign(0.0, a / b);
    }
    double whole = floor(div);
    return div - whole > 0.5 ? whole + 1.0 : whole;
}

/* The same in float: NumPy computes float32 scalars in their own precision. The
 * operations round to float one by one, so the result may differ in the last
 * bit from that of divmod64 rounded. */
static float
divmod32(float a, float b, float *mod)
{
    float rest = fmodf(a, b);
    float div = (a - rest) / b;
    if (rest != 0.0f) {
        if ((b < 0) != (rest < 0)) {
            rest += b;
            div -= 1.0f;
        }
    } else {
        rest = copysignf(0.0f, b);
    }
    *mod = rest;
    if (div == 0.0f) {
        return copysignf(0.0f, a / b);
    }
    float whole = floorf(div);
    return div - whole > 0.5f ? whole + 1.0f : whole;
}

/* NumPy's % and //: a zero divisor gives fmod(a, 0) and a / 0.  For any other
 * they agree with Python's, before which a check for 0 stands. */
static double
numpy_divmod(Fn fn, DType dtype, double a, double b)
{
    bool want_mod = fn == FN_NPMOD;
    if (dtype == DT_F32) {
        float x = (float)a;
        float y = (float)b;
        float mod = fmodf(x, y);
        float div = y == 0.0f ? x / y : divmod32(x, y, &mod);
        return (double)(want_mod ? mod : div);
    }
    double mod = fmod(a, b);
    double div = b == 0.0 ? a / b : divmod64(a, b, &mod);
    return want_mod ? mod : div;
}

/* Wrapping power by squaring; "overflow" says whether anything wrapped on the
 * way to the result.  The exponent is 64 bits without a sign, as uint64 has it.
 *
 * Every square that is multiplied in is a factor of the true value, so when one
 * has wrapped, which takes |base| >= 2, the value has no room in 64 bits
 * either.  The square after the last bit may wrap unnoticed: nobody reads
 * it. */
static int64_t
int_power(int64_t base, int64_t exponent, bool *overflow)
{
    int64_t result = 1;
    bool base_wrapped = false;
    *overflow = false;
    for (uint64_t left = (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1) {
            *overflow |=
                base_wrapped || overflows(E_MULO, DT_I64, result, base);
            result = int_binary(E_MUL, DT_I64, result, base);
        }
        base_wrapped |= overflows(E_MULO, DT_I64, base, base);
        base = int_binary(E_MUL, DT_I64, base, base);
    }
    return result;
}

/* x to the nearest decimal with 'scale' = 10 ** digits.  The product is p + e
 * exactly; a tie of p is none where e is not 0. */
static double
round_decimal(double x, double scale)
{
    double p = x * scale;
    double e = fma(x, scale, -p);
    double k = rint(p);
    double d = p - k;
    k += d == 0.5 && e > 0 ? 1.0 : d == -0.5 && e < 0 ? -1.0 : 0.0;
    return copysign(k / scale, x);
}

/* Euclid's, of absolute values. */
static int64_t
common_divisor(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}

/* Functions of floats that give floats; 'b' is 0 for those of one argument.
 * FN_SQUARE and FN_ROOT are defined by what they stand for: the kernel's
 * shorter ways must agree with libm's pow to the last bit. */
static double
call_float(const Expr *e, double a, double b)
{
    double mod = 0.0;
    double div;
    int exponent;
    switch ((int)e->fn) {
    case FN_COPYSIGN:
        return copysign(a, b);
    case FN_ATAN2:
        return atan2(a, b);
    case FN_HYPOT:
        return hypot(a, b);
    case FN_FMOD:
        return fmod(a, b);
    case FN_POW:
        return libm_pow(a, b);
    case FN_POWF:
        return (double)powf((float)a, (float)b);
    case FN_SQUARE:
        return libm_pow(a, 2.0);
    case FN_ROOT:
        return libm_pow(a, 0.5);
    case FN_PYMOD:
        divmod64(a, b, &mod);
        return mod;
    case FN_PYFLOORDIV:
        div = divmod64(a, b, &mod);
        return div;
    case FN_NPMOD:
    case FN_NPFLOORDIV:
        return numpy_divmod(e->fn, e->dtype, a, b);
    case FN_PYROUND:
        return round_decimal(a, b);
    case FN_NORMSCALE:
        frexp(a, &exponent);
        return ldexp(1.0, -exponent);
    default:
        return functions1[e->fn] ? functions1[e->fn](a) : 0.0;
    }
}

/* What only approx= allows. */
static Slot
call_relaxed(const Expr *e, const Slot *args)
{
    double values[3] = {0};
    for (int i = 0; i < e->nargs && i < 3; i++) {
        values[i] = args[i].f;
    }
    return of_float(e->dtype, ir_relaxed_value(e->fn, e->dtype, values));
}

/* Predicates and integer powers first, the rest are floats. IPOW takes i64
 * only, so its power needs no wrapping. */
static Slot
call(const Expr *e, const Slot *args)
{
    bool overflow = false;
    int64_t power = 0;
    if (ir_fn_origin(e->fn) == 'A') {
        return call_relaxed(e, args);
    }
    switch ((int)e->fn) {
    case FN_FINITE:
        return (Slot){.i = isfinite(args[0].f)};
    case FN_ISINF:
        return (Slot){.i = isinf(args[0].f) != 0};
    case FN_ISNAN:
        return (Slot){.i = isnan(args[0].f)};
    case FN_FMA:
        return (Slot){.f = e->dtype == DT_F32
                               ? (double)fmaf((float)args[0].f,
                                              (float)args[1].f,
                                              (float)args[2].f)
                               : fma(args[0].f, args[1].f, args[2].f)};
    case FN_GCD:
        return (Slot){.i = common_divisor(args[0].i, args[1].i)};
    case FN_IPOW:
    case FN_IPOWO:
        power = int_power(args[0].i, args[1].i, &overflow);
        return (Slot){.i = e->fn == FN_IPOW ? power : overflow};
    default:
        return of_float(
            e->dtype, call_float(e, args[0].f, e->nargs > 1 ? args[1].f : 0.0));
    }
}

/* --- nodes -------------------------------------------------------------- */

/* Operators on floats; a comparison gives bool. */
static Slot
compute_float(const Expr *e, DType from, const Slot *args)
{
    switch (ir_op_kind(e->op)) {
    case 'C':
        return (Slot){.i = float_compare(e->op, args[0].f, args[1].f)};
    case 'U':
        return (Slot){.f = e->op == E_NEG ? -args[0].f : fabs(args[0].f)};
    default:
        break;
    }
    if (from == DT_F32) {
        return (Slot){
            .f = float_binary32(e->op, (float)args[0].f, (float)args[1].f)};
    }
    return (Slot){.f = float_binary64(e->op, args[0].f, args[1].f)};
}

/* Operators on integers and bool. */
static Slot
compute_int(const Expr *e, DType from, const Slot *args)
{
    switch (ir_op_kind(e->op)) {
    case 'C':
    case 'P':
        return (Slot){.i = int_compare(e->op, from, args[0].i, args[1].i)};
    case 'U':
        return of_int(from, int_unary(e->op, from, args[0].i));
    default:
        return of_int(from, int_binary(e->op, from, args[0].i, args[1].i));
    }
}

/* For E_LOAD, E_ELEM and other nodes that need memory or all lanes the caller
 * has its own way; 'e' has at least one operand.  The dtype that decides is
 * that of the operands: of a comparison the result is bool. */
Slot
ir_compute(const Expr *e, const Slot *args)
{
    DType from = e->args[0]->dtype;
    switch ((int)e->op) {
    case E_SELECT:
        return args[0].i ? args[1] : args[2];
    case E_CAST:
        return cast(e->dtype, from, args[0]);
    case E_CALL:
        return call(e, args);
    case E_SPLAT:
        return args[0];
    default:
        return dtype_is_float(from) ? compute_float(e, from, args)
                                    : compute_int(e, from, args);
    }
}
