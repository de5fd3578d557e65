#ifndef VZ_EMIT_PRELUDE_POW_H
#define VZ_EMIT_PRELUDE_POW_H
/* Helpers of generated kernels, pasted behind those of prelude.h: libm's
 * pow(x, 2.0) and pow(x, 0.5) without the call.
 *
 * With p = x*x rounded and e the rounding error (exact by FMA), the true
 * square is p + e.  glibc >= 2.28 computes pow to within 0.511 ulp plus
 * |log(x^2)| * 1.5 * 2^-15 ulp of the true value, or 0.509 and 1.3 where it is
 * itself compiled with fma (see its e_pow.c, and host.c): below 0.5131 or
 * 0.5108 ulp while p is in [2^-64, 2^64].  So the rounded result is p whenever
 * |e| is below 0.4869 or 0.4892 ulp.  That p + slack * e is p again says that
 * |e| is at most 0.5 / slack ulp, measured with the smaller ulp where p is a
 * power of two: 0.4859 or 0.4885 for the two values of VzHost.pow_slack, which
 * leaves 0.0005 for the last digit of the bounds.  Otherwise, for about one x
 * in 40, pow is called.  (In 10^8 numbers p and pow were never seen to differ
 * for an |e| below 0.4918 ulp.)  Of a libm that is not known the slack is nan,
 * and nothing is sure.
 *
 * For the root p = sqrt(x), x - p*p is a double (exact by FMA), and the true
 * root is p + e with e = (x - p*p) / 2p, but for a 2^-50th of e. */
#include "csrc/emit/prelude.h"

#define VZ_ROUNDED(p, e) (__builtin_fma(slack, e, p) == (p))


/* 2^-n <= x < 2^n, by the exponent */
VZ_INLINE int
vz_within(double x, unsigned n)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return (unsigned)(bits >> 52) - (1023 - n) < 2 * n;
}

#define VZ_SQUARE_SURE(x, p, e)                                               \
    ((VZ_ROUNDED(p, e) && vz_within(p, 64)) || (x) == 0)

VZ_INLINE double
vz_square(VzLibm2 *pow, double slack, double x)
{
#ifdef __FMA__
    double p = x * x;
    double e = __builtin_fma(x, x, -p);
    if (__builtin_expect(VZ_SQUARE_SURE(x, p, e), 1)) {
        return p;
    }
#endif
    (void)slack;
    return vz_far(pow, x, 2.0);
}

VZ_INLINE double
vz_root(VzLibm2 *pow, double slack, double x)
{
#ifdef __FMA__
    if (__builtin_expect(vz_within(x, 128), 1)) {
        double p = __builtin_sqrt(x);
        double e = __builtin_fma(-p, p, x) * (0.5 / p);
        if (__builtin_expect(VZ_ROUNDED(p, e), 1)) {
            return p;
        }
    }
#endif
    (void)slack;
    return vz_far(pow, x, 0.5);
}

/* The same for SIMD loops: to gcc vz_lanes_square is a function elsewhere of
 * which there is a form for four lanes, which it calls by a name that begins
 * with _ZGV.  That form is here.  Its names are asm labels, so that gcc makes
 * no form of its own out of the scalar one. */
#if !defined(VZ_LANES)
#elif defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)
typedef double VzF64x4 __attribute__((vector_size(32)));
typedef int64_t VzI64x4 __attribute__((vector_size(32)));

/* Lane k of p is pow(x, y) where bit k of "calls" is set. */
VZ_COLD VzF64x4
vz_lanes_call(VzLibm2 *pow, int calls, VzF64x4 x, double y, VzF64x4 p)
{
    for (int k = 0; k < 4; k++) {
        p[k] = calls >> k & 1 ? pow(x[k], y) : p[k];
    }
    return p;
}

/* The scalar form of NAME, and that for four lanes: the statements make p of
 * x, and "sure" where p is pow(x, Y). */
#define VZ_LANES_OF(NAME, Y, ...)                                             \
    double vz_one_##NAME(VzLibm2 *pow, double slack, double x)                \
        __asm__("vz_lanes_" #NAME);                                           \
    __attribute__((used, visibility("hidden"))) double                        \
    vz_one_##NAME(VzLibm2 *pow, double slack, double x)                       \
    {                                                                         \
        return vz_##NAME(pow, slack, x);                                      \
    }                                                                         \
    VzF64x4 vz_four_##NAME(VzLibm2 *pow, double slack, VzF64x4 x)             \
        __asm__("_ZGVdN4uuv_vz_lanes_" #NAME);                                \
    __attribute__((used, visibility("hidden"))) VzF64x4                       \
    vz_four_##NAME(VzLibm2 *pow, double slack, VzF64x4 x)                     \
    {                                                                         \
        VzF64x4 p;                                                            \
        VzI64x4 sure;                                                         \
        VzF64x4 slacks = {slack, slack, slack, slack};                        \
        __VA_ARGS__                                                           \
        int calls = __builtin_ia32_movmskpd256((VzF64x4)sure) ^ 15;           \
        return vz_rare(calls) ? vz_lanes_call(pow, calls, x, Y, p) : p;       \
    }                                                                         \
    __asm__(".globl _ZGVeN4uuv_vz_lanes_" #NAME "\n"                          \
            ".hidden _ZGVeN4uuv_vz_lanes_" #NAME "\n"                         \
            ".set _ZGVeN4uuv_vz_lanes_" #NAME                                 \
            ", _ZGVdN4uuv_vz_lanes_" #NAME);

VZ_LANES_OF(square, 2.0,
    p = x * x;
    VzF64x4 e = __builtin_ia32_vfmaddpd256(x, x, -p);
    VzF64x4 near = __builtin_ia32_vfmaddpd256(slacks, e, p);
    sure = ((near == p) & (p >= 0x1p-64) & (p <= 0x1p64)) | (x == 0);)
VZ_LANES_OF(root, 0.5,
    VzI64x4 in = (x >= 0x1p-128) & (x <= 0x1p128);
    VzF64x4 one = {1, 1, 1, 1};
    VzF64x4 safe = __builtin_ia32_blendvpd256(one, x, (VzF64x4)in);
    p = __builtin_ia32_sqrtpd256(safe);
    VzF64x4 e = __builtin_ia32_vfmaddpd256(-p, p, safe) * (0.5 / p);
    sure = (__builtin_ia32_vfmaddpd256(slacks, e, p) == p) & in;)
#pragma omp declare simd uniform(pow, slack) notinbranch simdlen(4)
__attribute__((const, nothrow, visibility("hidden"))) double
vz_lanes_square(VzLibm2 *pow, double slack, double x);
#pragma omp declare simd uniform(pow, slack) notinbranch simdlen(4)
__attribute__((const, nothrow, visibility("hidden"))) double
vz_lanes_root(VzLibm2 *pow, double slack, double x);
#else
#define vz_lanes_square vz_square
#define vz_lanes_root vz_root
#endif

/* The same for n elements of a row, VZ_ROW at a time: first without a call,
 * then lanes for which "sure" is 0 are repaired, which are found by eights. */
enum { VZ_ROW = 256 };
#ifdef __FMA__
#define VZ_ROW_OF(NAME, Y, ...)                                               \
    static __attribute__((noinline)) void vz_part_##NAME(                     \
        VzLibm2 *pow, double slack, int64_t n, double *restrict out,          \
        const double *restrict in)                                            \
    {                                                                         \
        uint8_t calls[VZ_ROW + 8];                                            \
        __builtin_memset(calls + n, 0, 8);                                    \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++)                   \
        {                                                                     \
            double x = in[i];                                                 \
            double p;                                                         \
            int sure;                                                         \
            __VA_ARGS__                                                       \
            out[i] = p;                                                       \
            calls[i] = !sure;                                                 \
        }                                                                     \
        for (int64_t i = 0; i < n; i += 8) {                                  \
            uint64_t left;                                                    \
            __builtin_memcpy(&left, calls + i, 8);                            \
            for (; left != 0; left &= left - 1) {                             \
                int64_t at = i + (__builtin_ctzll(left) >> 3);                \
                out[at] = pow(in[at], Y);                                     \
            }                                                                 \
        }                                                                     \
    }
#else
#define VZ_ROW_OF(NAME, Y, ...)                                               \
    VZ_INLINE void vz_part_##NAME(VzLibm2 *pow, double slack, int64_t n,      \
                                  double *restrict out,                       \
                                  const double *restrict in)                  \
    {                                                                         \
        for (int64_t i = 0; i < n; i++) {                                     \
            out[i] = pow(in[i], Y);                                           \
        }                                                                     \
    }
#endif
#define VZ_ROWS_OF(NAME, Y, ...)                                              \
    VZ_ROW_OF(NAME, Y, __VA_ARGS__)                                           \
    VZ_INLINE void vz_row_##NAME(VzLibm2 *pow, double slack, int64_t n,       \
                                 double *restrict out,                        \
                                 const double *restrict in)                   \
    {                                                                         \
        for (int64_t i = 0; i < n; i += VZ_ROW) {                             \
            vz_part_##NAME(pow, slack, n - i < VZ_ROW ? n - i : VZ_ROW,       \
                           out + i, in + i);                                  \
        }                                                                     \
    }

VZ_ROWS_OF(square, 2.0,
    p = x * x;
    double e = __builtin_fma(x, x, -p);
    sure = (VZ_ROUNDED(p, e) & (p >= 0x1p-64) & (p <= 0x1p64)) | (x == 0);)
VZ_ROWS_OF(root, 0.5,
    int inside = (x >= 0x1p-128) & (x <= 0x1p128);
    double safe = inside ? x : 1.0;
    p = __builtin_sqrt(safe);
    double e = __builtin_fma(-p, p, safe) * (0.5 / p);
    sure = VZ_ROUNDED(p, e) & inside;)
#endif
