#ifndef VZ_EMIT_RELAXED_H
#define VZ_EMIT_RELAXED_H
/* Helpers of kernels that need not be exact (approx=), pasted behind prelude.h
 * where one of them is used.
 *
 * Whatever is not exact here gives the same bits in a SIMD loop, in the rounds
 * that are left over, and outside of loops: results depend neither on the
 * number of threads nor on where in an array an element lies.
 */
#include "csrc/emit/prelude.h"

/* One rounding where the machine has the instruction, else two. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define VZ_MULADD(X, a, b, c) __builtin_fma##X(a, b, c)
#else
#define VZ_MULADD(X, a, b, c) ((a) * (b) + (c))
#endif

/* powi: 'n' is a constant, so that all that is left are products.  powhalf:
 * pow(-0.0, 0.5) is 0.0, and that of -inf is inf. */
#define VZ_RELAXED(S, T, X)                                                   \
    VZ_INLINE T vz_muladd_##S(T a, T b, T c)                                  \
    {                                                                         \
        return VZ_MULADD(X, a, b, c);                                         \
    }                                                                         \
    VZ_INLINE T vz_powi_##S(T x, T n)                                         \
    {                                                                         \
        const int k = (int)(n < 0 ? -n : n);                                  \
        T x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8;              \
        T p = k & 1 ? x : 1;                                                  \
        p = k & 2 ? p * x2 : p;                                               \
        p = k & 4 ? p * x4 : p;                                               \
        p = k & 8 ? p * x8 : p;                                               \
        p = k & 16 ? p * x16 : p;                                             \
        p = k & 32 ? p * (x16 * x16) : p;                                     \
        return n < 0 ? 1 / p : p;                                             \
    }                                                                         \
    VZ_INLINE T vz_powhalf_##S(T x)                                           \
    {                                                                         \
        T root = __builtin_sqrt##X(x) + 0;                                    \
        return x == -__builtin_inf##X() ? __builtin_inf##X() : root;          \
    }

VZ_RELAXED(f64, double, )
VZ_RELAXED(f32, float, f)

/* Functions by glibc's vector library, of at most 4 ulp.  To gcc vz_vm_NAME is
 * a function elsewhere of which there is a form for N lanes, as in prelude.h;
 * the scalar one computes N equal lanes.  Without that library: libm. */
#if defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)             \
    && defined(__GLIBC__)
#if __GLIBC__ > 2 || __GLIBC_MINOR__ >= 35
#define VZ_LIBMVEC
#endif
#endif

#ifdef VZ_LIBMVEC
typedef double VzVm_f64 __attribute__((vector_size(32)));
typedef float VzVm_f32 __attribute__((vector_size(32)));

#define VZ_VM(NAME, S, T, X, LANES, V, FORMS, LANED, HAND, SPREAD)            \
    VzVm_##S vz_lib_##NAME##_##S FORMS __asm__(                               \
        "_ZGVdN" LANES V "_" #NAME #X);                                       \
    T vz_one_##NAME##_##S LANED __asm__("vz_vm_" #NAME "_" #S);               \
    __attribute__((used, visibility("hidden"))) T vz_one_##NAME##_##S LANED   \
    {                                                                         \
        return vz_lib_##NAME##_##S SPREAD[0];                                 \
    }                                                                         \
    VzVm_##S vz_all_##NAME##_##S FORMS __asm__(                               \
        "_ZGVdN" LANES V "_vz_vm_" #NAME "_" #S);                             \
    __attribute__((used, visibility("hidden")))                               \
    VzVm_##S vz_all_##NAME##_##S FORMS                                        \
    {                                                                         \
        return vz_lib_##NAME##_##S HAND;                                      \
    }                                                                         \
    __asm__(".globl _ZGVeN" LANES V "_vz_vm_" #NAME "_" #S "\n"               \
            ".hidden _ZGVeN" LANES V "_vz_vm_" #NAME "_" #S "\n"              \
            ".set _ZGVeN" LANES V "_vz_vm_" #NAME "_" #S ", "                 \
            "_ZGVdN" LANES V "_vz_vm_" #NAME "_" #S);
#define VZ_VM1(NAME, S, T, X, LANES)                                          \
    VZ_VM(NAME, S, T, X, LANES, "v", (VzVm_##S x), (T x), (x),                \
          ((VzVm_##S){0} + x))
#define VZ_VM2(NAME, S, T, X, LANES)                                          \
    VZ_VM(NAME, S, T, X, LANES, "vv", (VzVm_##S x, VzVm_##S y), (T x, T y),   \
          (x, y), ((VzVm_##S){0} + x, (VzVm_##S){0} + y))
#define VZ_VM1_f64(NAME)                                                      \
    VZ_VM1(NAME, f64, double, , "4")                                          \
    _Pragma("omp declare simd notinbranch simdlen(4)")                        \
    __attribute__((const, nothrow, visibility("hidden")))                     \
    double vz_vm_##NAME##_f64(double x);
#define VZ_VM2_f64(NAME)                                                      \
    VZ_VM2(NAME, f64, double, , "4")                                          \
    _Pragma("omp declare simd notinbranch simdlen(4)")                        \
    __attribute__((const, nothrow, visibility("hidden")))                     \
    double vz_vm_##NAME##_f64(double x, double y);
#define VZ_VM1_f32(NAME)                                                      \
    VZ_VM1(NAME, f32, float, f, "8")                                          \
    _Pragma("omp declare simd notinbranch simdlen(8)")                        \
    __attribute__((const, nothrow, visibility("hidden")))                     \
    float vz_vm_##NAME##_f32(float x);
#define VZ_VM2_f32(NAME)                                                      \
    VZ_VM2(NAME, f32, float, f, "8")                                          \
    _Pragma("omp declare simd notinbranch simdlen(8)")                        \
    __attribute__((const, nothrow, visibility("hidden")))                     \
    float vz_vm_##NAME##_f32(float x, float y);
#else
#define VZ_VM1_f64(NAME)                                                      \
    VZ_INLINE double vz_vm_##NAME##_f64(double x)                             \
    {                                                                         \
        return __builtin_##NAME(x);                                           \
    }
#define VZ_VM2_f64(NAME)                                                      \
    VZ_INLINE double vz_vm_##NAME##_f64(double x, double y)                   \
    {                                                                         \
        return __builtin_##NAME(x, y);                                        \
    }
#define VZ_VM1_f32(NAME)                                                      \
    VZ_INLINE float vz_vm_##NAME##_f32(float x)                               \
    {                                                                         \
        return __builtin_##NAME##f(x);                                        \
    }
#define VZ_VM2_f32(NAME)                                                      \
    VZ_INLINE float vz_vm_##NAME##_f32(float x, float y)                      \
    {                                                                         \
        return __builtin_##NAME##f(x, y);                                     \
    }
#endif
#endif
