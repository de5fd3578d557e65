/* Functions that only approx= allows: what they stand for, and their values.
 *
 *     exp(x), np_exp(x)   ->  vm_exp(x)           vector code, within 4 ulp
 *     pow(x, 50)          ->  powi(x, 50)         seven products
 *     pow(x, 0.5)         ->  powhalf(x)          sqrt
 *
 * The reference interpreter takes the exact value for what is only near it in
 * a kernel: tests of such functions compare with a tolerance.
 */
#include <math.h>

#include "csrc/ir/relaxed.h"

/* A "vm_" function, the rows of fn.def that it may stand for, and its value. */
typedef struct VmRow {
    Fn fn;
    Fn libm;
    int numpy; /* -1: none */
    double (*one)(double);
    double (*two)(double, double);
} VmRow;

#define ONE(id, np, value) {FN_VM_##id, FN_##id, FN_NP_##np, value, NULL}
#define TWO(id, np, value) {FN_VM_##id, FN_##id, FN_NP_##np, NULL, value}

static const VmRow rows[] = {
    ONE(EXP, EXP, exp),        ONE(EXP2, EXP2, exp2),
    ONE(EXPM1, EXPM1, expm1),  ONE(LOG, LOG, log),
    ONE(LOG2, LOG2, log2),     ONE(LOG10, LOG10, log10),
    ONE(LOG1P, LOG1P, log1p),  ONE(SIN, SIN, sin),
    ONE(COS, COS, cos),        ONE(TAN, TAN, tan),
    ONE(ASIN, ARCSIN, asin),   ONE(ACOS, ARCCOS, acos),
    ONE(ATAN, ARCTAN, atan),   ONE(SINH, SINH, sinh),
    ONE(COSH, COSH, cosh),     ONE(TANH, TANH, tanh),
    ONE(ASINH, ARCSINH, asinh), ONE(ACOSH, ARCCOSH, acosh),
    ONE(ATANH, ARCTANH, atanh), ONE(CBRT, CBRT, cbrt),
    {FN_VM_ERF, FN_ERF, -1, erf, NULL},
    {FN_VM_ERFC, FN_ERFC, -1, erfc, NULL},
    TWO(ATAN2, ARCTAN2, atan2), TWO(HYPOT, HYPOT, hypot),
    TWO(POW, POWER, pow),
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

int
ir_fn_relaxed(Fn fn)
{
    bool pow = fn == FN_POWF || fn == FN_NP_POWER_BY;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].libm == fn || rows[i].numpy == (int)fn) {
            return (int)rows[i].fn;
        }
    }
    return pow ? (int)FN_VM_POW : -1;
}

/* One operation, in its dtype. */
static double
rounded(bool single, double value)
{
    return single ? (double)(float)value : value;
}

/* The products of relaxed.h in their order. */
static double
power(bool single, double x, int n)
{
    double result = 1.0;
    for (int k = n < 0 ? -n : n; k > 0; k >>= 1) {
        if (k & 1) {
            result = rounded(single, result * x);
        }
        x = rounded(single, x * x);
    }
    return n < 0 ? rounded(single, 1.0 / result) : result;
}

double
ir_relaxed_value(Fn fn, DType dtype, const double *args)
{
    bool single = dtype == DT_F32;
    if (fn == FN_MULADD) {
        return single ? (double)fmaf((float)args[0], (float)args[1],
                                     (float)args[2])
                      : fma(args[0], args[1], args[2]);
    }
    if (fn == FN_POWI) {
        return power(single, args[0], (int)args[1]);
    }
    if (fn == FN_POWHALF) {
        return rounded(single, pow(args[0], 0.5));
    }
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].fn == fn) {
            return rounded(single, rows[i].one ? rows[i].one(args[0])
                                               : rows[i].two(args[0], args[1]));
        }
    }
    fatal("no value of '%s'", ir_fn_name(fn));
}
