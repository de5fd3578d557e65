#ifndef VZ_EMIT_PRELUDE_H
#define VZ_EMIT_PRELUDE_H
/* Helpers of generated kernels, pasted in front of every one of them.
 *
 * What C has as an operator and means the same as Python or NumPy is emitted
 * as that operator; here is the rest, free of undefined behaviour: floor
 * division, shifts, overflow predicates, casts of floats as x86 NumPy does
 * them, Python's and NumPy's float % and //.  prelude_pow.h follows it.
 *
 * It is parsed with every kernel, so it is kept short and includes nothing
 * but <stdint.h>.  Functions are named vz_OPERATION_DTYPE; names of the
 * user's program never begin with 'vz_' (they end in '_NUMBER').
 */
#include "csrc/run/abi.h"

/* What a program's own text may be warned of, or a lane that nobody reads. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winteger-overflow"
#pragma clang diagnostic ignored "-Wxor-used-as-pow"
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#else
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/* What reduces floats to the least or greatest.  Each lane begins with what the
 * loop does: clang would begin with the largest finite number, and never find
 * that the least is an infinity. */
#ifdef __clang__
#pragma omp declare reduction(vz_min : double, float : omp_out =              \
                              omp_in < omp_out ? omp_in : omp_out)             \
    initializer(omp_priv = omp_orig)
#pragma omp declare reduction(vz_max : double, float : omp_out =              \
                              omp_in > omp_out ? omp_in : omp_out)             \
    initializer(omp_priv = omp_orig)
#else
#define vz_min min
#define vz_max max
#endif

#define VZ_INLINE static inline __attribute__((always_inline))
#define VZ_COLD static __attribute__((noinline, cold))
#define VZ_EXPORT __attribute__((visibility("default")))
/* Forget how x was computed.  It may be a restrict pointer to what is reached
 * in other ways, too: what an asm has seen is taken for shared. */
#define VZ_KEEP(x) __asm__("" : "+r"(x))
#define vz_rare(cond) __builtin_expect((cond), 0)
#define vz_lt(a, b) __builtin_isless(a, b)
#define vz_le(a, b) __builtin_islessequal(a, b)
#ifdef __clang__
#define VZ_BRANCH ((void)0)
#else
#define VZ_BRANCH __asm__ volatile("") /* keeps a branch: see the emitter */
#endif

/* l < r ? yes : no, and l <= r, without a branch: a mispredicted one costs five
 * times as much.  The comparison is a quiet one. */
#if defined(__AVX__) && !defined(__clang__)
typedef double VzPair __attribute__((vector_size(16)));
typedef float VzQuad __attribute__((vector_size(16)));
#define VZ_PICK(NAME, T, V, CMP, BLEND, HOW)                                  \
    VZ_INLINE T NAME(T l, T r, T yes, T no)                                   \
    {                                                                         \
        V left = {l}, right = {r}, a = {yes}, b = {no};                       \
        return BLEND(b, a, CMP(left, right, HOW))[0];                         \
    }
VZ_PICK(vz_pick_lt_f64, double, VzPair, __builtin_ia32_cmpsd,
        __builtin_ia32_blendvpd, 17)
VZ_PICK(vz_pick_le_f64, double, VzPair, __builtin_ia32_cmpsd,
        __builtin_ia32_blendvpd, 18)
VZ_PICK(vz_pick_lt_f32, float, VzQuad, __builtin_ia32_cmpss,
        __builtin_ia32_blendvps, 17)
VZ_PICK(vz_pick_le_f32, float, VzQuad, __builtin_ia32_cmpss,
        __builtin_ia32_blendvps, 18)
#else
#define vz_pick_lt_f64(l, r, yes, no) (vz_lt(l, r) ? (yes) : (no))
#define vz_pick_le_f64(l, r, yes, no) (vz_le(l, r) ? (yes) : (no))
#define vz_pick_lt_f32 vz_pick_lt_f64
#define vz_pick_le_f32 vz_pick_le_f64
#endif

/* --- integers ------------------------------------------------------------ */

/* For every width.  idiv and mod round towards -inf; by zero they give 0, and
 * MIN // -1 wraps.  Shifts by the width or more leave only the sign. */
#define VZ_COMMON(S, T, U, BITS)                                              \
    VZ_INLINE T vz_min_##S(T a, T b) { return a < b ? a : b; }                \
    VZ_INLINE T vz_max_##S(T a, T b) { return a > b ? a : b; }                \
    VZ_INLINE T vz_shl_##S(T a, T b)                                          \
    {                                                                         \
        return (U)b < BITS ? (T)((uint64_t)a << (U)b) : (T)0;                 \
    }                                                                         \
    VZ_INLINE T vz_shr_##S(T a, T b)                                          \
    {                                                                         \
        return (U)b < BITS ? (T)(a >> (U)b) : (T)(a < 0 ? -1 : 0);            \
    }                                                                         \
    VZ_INLINE int vz_addo_##S(T a, T b)                                       \
    {                                                                         \
        T r;                                                                  \
        return __builtin_add_overflow(a, b, &r);                              \
    }                                                                         \
    VZ_INLINE int vz_subo_##S(T a, T b)                                       \
    {                                                                         \
        T r;                                                                  \
        return __builtin_sub_overflow(a, b, &r);                              \
    }                                                                         \
    VZ_INLINE int vz_mulo_##S(T a, T b)                                       \
    {                                                                         \
        T r;                                                                  \
        return __builtin_mul_overflow(a, b, &r);                              \
    }

#define VZ_SIGNED(S, T, U, BITS)                                              \
    VZ_COMMON(S, T, U, BITS)                                                  \
    VZ_INLINE T vz_abs_##S(T a) { return (T)(a < 0 ? (U)0 - (U)a : (U)a); }   \
    VZ_INLINE T vz_idiv_##S(T a, T b)                                         \
    {                                                                         \
        if (vz_rare((U)((U)b + 1) <= 1)) {                                    \
            return (T)(b ? (U)0 - (U)a : 0);                                  \
        }                                                                     \
        return (T)(a / b - ((a % b != 0) & ((a ^ b) < 0)));                   \
    }                                                                         \
    VZ_INLINE T vz_mod_##S(T a, T b)                                          \
    {                                                                         \
        if (vz_rare((U)((U)b + 1) <= 1)) {                                    \
            return 0;                                                         \
        }                                                                     \
        T r = (T)(a % b);                                                     \
        return (T)(r != 0 && (r ^ b) < 0 ? r + b : r);                        \
    }

#define VZ_UNSIGNED(S, T, BITS)                                               \
    VZ_COMMON(S, T, T, BITS)                                                  \
    VZ_INLINE T vz_abs_##S(T a) { return a; }                                 \
    VZ_INLINE T vz_idiv_##S(T a, T b) { return b ? (T)(a / b) : (T)0; }       \
    VZ_INLINE T vz_mod_##S(T a, T b) { return b ? (T)(a % b) : (T)0; }

VZ_SIGNED(i8, int8_t, uint8_t, 8)
VZ_SIGNED(i16, int16_t, uint16_t, 16)
VZ_SIGNED(i32, int32_t, uint32_t, 32)
VZ_SIGNED(i64, int64_t, uint64_t, 64)
VZ_UNSIGNED(u8, uint8_t, 8)
VZ_UNSIGNED(u16, uint16_t, 16)
VZ_UNSIGNED(u32, uint32_t, 32)
VZ_UNSIGNED(u64, uint64_t, 64)

/* The overflow of i64 sums as vector code can find it: the result's sign
 * differs from that of both operands. */
VZ_INLINE int
vz_vaddo_i64(int64_t a, int64_t b)
{
    int64_t r = (int64_t)((uint64_t)a + (uint64_t)b);
    return ((a ^ r) & (b ^ r)) < 0;
}

VZ_INLINE int
vz_vsubo_i64(int64_t a, int64_t b)
{
    int64_t r = (int64_t)((uint64_t)a - (uint64_t)b);
    return ((a ^ b) & (a ^ r)) < 0;
}

/* base ** exp; '*over' is set when the true value needs more than 64 bits, and
 * the low 64 bits are given.  exp >= 0, or the bits of a uint64. */
static inline int64_t
vz_power(int64_t base, int64_t bits, int *over)
{
    int64_t result = 1;
    for (uint64_t exp = (uint64_t)bits; exp != 0; exp >>= 1) {
        if (exp & 1) {
            *over |= __builtin_mul_overflow(result, base, &result);
        }
        if (exp > 1) {
            int square = __builtin_mul_overflow(base, base, &base);
            *over |= square;
        }
    }
    return result;
}

VZ_INLINE int64_t
vz_ipow(int64_t base, int64_t exp)
{
    int over = 0;
    return vz_power(base, exp, &over);
}

VZ_INLINE int
vz_ipowo(int64_t base, int64_t exp)
{
    int over = 0;
    (void)vz_power(base, exp, &over);
    return over;
}

/* 'i', of which gcc doesn't know that it comes from a float: it would make
 * trunc of a conversion there and back, which keeps the sign of -0.5. */
VZ_INLINE int64_t
vz_hide(int64_t i)
{
#ifndef __clang__
    __asm__("" : "+r"(i));
#endif
    return i;
}

/* --- calls ---------------------------------------------------------------- */

typedef double VzLibm1(double);
typedef double VzLibm2(double, double);

/* Calls that cost the caller few registers, for what a loop does rarely: with
 * an ordinary one, what it carries would lie in memory all the time.  The
 * function that saves them is given the other one in rax, and the arguments
 * where that has them: rdi, xmm0 and xmm1.  What is left to it is said to be
 * clobbered.  The caller may use the 128 bytes below its stack. */
#if defined(__AVX__) && defined(__x86_64__)
#define VZ_FAR                                                                \
    "lea -128(%%rsp),%%rsp\n\tcall vz_far_call\n\tlea 128(%%rsp),%%rsp"
#ifdef __AVX512F__
#define VZ_FAR_CLOBBERS                                                       \
    "cc", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "xmm16", "xmm17",   \
    "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
    "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
#define VZ_FAR_REG "%zmm\\r"
#else
#define VZ_FAR_CLOBBERS "cc"
#define VZ_FAR_REG "%ymm\\r"
#endif
#define VZ_FAR_EACH ".irp r,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nvmovups "
__asm__(".text\n.p2align 4\n.type vz_far_call,@function\nvz_far_call:\n"
        "push %rbp\nmov %rsp,%rbp\n"
        ".irp r,rcx,rdx,rsi,rdi,r8,r9,r10,r11\npush %\\r\n"
        ".endr\nsub $1024,%rsp\nand $-64,%rsp\n"
        VZ_FAR_EACH VZ_FAR_REG ",64*\\r(%rsp)\n.endr\nvzeroupper\ncall *%rax\n"
        VZ_FAR_EACH "64*\\r(%rsp)," VZ_FAR_REG "\n.endr\n"
        "lea -64(%rbp),%rsp\n.irp r,r11,r10,r9,r8,rdi,rsi,rdx,rcx\npop %\\r\n"
        ".endr\npop %rbp\nret\n.size vz_far_call,.-vz_far_call\n");
VZ_INLINE double
vz_far(VzLibm2 *fn, double x, double y)
{
    register double a __asm__("xmm0") = x;
    register double b __asm__("xmm1") = y;
    __asm__(VZ_FAR : "+x"(a), "+x"(b), "+a"(fn) : : VZ_FAR_CLOBBERS);
    return a;
}
#else
#define vz_far(fn, x, y) (fn)(x, y)
#endif

/* Notes warning number n of those beyond the bits of VzCtx.warn. */
VZ_COLD void
vz_more(VzCtx *ctx, int n)
{
    __atomic_fetch_or(ctx->more + n / 64, (uint64_t)1 << n % 64,
                      __ATOMIC_RELAXED);
}

/* A loop's fuel is used up: new fuel, or -1 when the call must end. */
VZ_COLD int64_t
vz_refuel(VzCtx *ctx)
{
    ctx->fuel = 0;
    return (ctx->warn & ctx->raising) || ctx->host->poll(ctx) ? -1 : ctx->fuel;
}
VZ_INLINE int64_t
vz_refuel_far(VzCtx *ctx)
{
#ifdef VZ_FAR
    int64_t (*fn)(VzCtx *) = vz_refuel;
    __asm__ volatile(VZ_FAR : "+a"(fn) : "D"(ctx)
                     : "memory", "xmm0", "xmm1", VZ_FAR_CLOBBERS);
    return (int64_t)fn;
#else
    return vz_refuel(ctx);
#endif
}

/* --- floats -------------------------------------------------------------- */

/* -0.0, which adds nothing: what the compiler doesn't know. */
VZ_INLINE double
vz_none(void)
{
    volatile double none = -0.0;
    return none;
}

/* To integers: x86's conversion, which gives MIN for what it can't represent
 * (u64: in two halves).  Narrower types take the low bits of the i32, u32
 * those of the i64, as NumPy's scalars do.  What does not fit must leave a flag
 * of the FPU behind, as it would there: it overflows when it is multiplied, or
 * is an infinity, of which the difference is invalid.
 *
 * npmod and npfloordiv are NumPy's scalar % and //, pyfloordiv is CPython's
 * (b != 0; its % is npmod): C's fmod, put right where the signs differ. */
#define VZ_FLOAT(S, T, X, B32, B64)                                           \
    VZ_INLINE int32_t vz_i32_##S(T x)                                         \
    {                                                                         \
        T big = x * 0x1p##B32##X;                                             \
        return (int32_t)(big - big < 1 ? x : -0x1p31##X);                     \
    }                                                                         \
    VZ_INLINE int64_t vz_i64_##S(T x)                                         \
    {                                                                         \
        T big = x * 0x1p##B64##X;                                             \
        return (int64_t)(big - big < 1 ? x : -0x1p63##X);                     \
    }                                                                         \
    VZ_INLINE uint64_t vz_u64_##S(T x)                                        \
    {                                                                         \
        uint64_t top = (uint64_t)(x >= 0x1p63##X) << 63;                      \
        return (uint64_t)vz_i64_##S(top ? x - 0x1p63##X : x) ^ top;           \
    }                                                                         \
    VZ_INLINE T vz_from0_##S(T x) { return (T)0 - x; }                        \
    static inline T vz_npmod_##S(VzLibm2 *fmod, T a, T b)                     \
    {                                                                         \
        T rest = (T)fmod(a, b);                                               \
        if (rest == 0 && b != 0) {                                            \
            return __builtin_copysign##X(0, b);                               \
        }                                                                     \
        return b != 0 && (b < 0) != (rest < 0) ? rest + b : rest;             \
    }                                                                         \
    static inline T vz_pyfloordiv_##S(VzLibm2 *fmod, T a, T b)                \
    {                                                                         \
        T rest = (T)fmod(a, b);                                               \
        T div = (a - rest) / b;                                               \
        div -= rest != 0 && (b < 0) != (rest < 0) ? (T)1 : (T)0;              \
        T down = __builtin_floor##X(div);                                     \
        down += div - down > (T)0.5 ? (T)1 : (T)0;                            \
        return div == 0 ? __builtin_copysign##X(0, a / b) : down;             \
    }                                                                         \
    static inline T vz_npfloordiv_##S(VzLibm2 *fmod, T a, T b)                \
    {                                                                         \
        return b == 0 ? a / b : vz_pyfloordiv_##S(fmod, a, b);                \
    }

/* round(x, digits), scale = 10 ** digits: the product is p + e exactly, so that
 * a tie of p is none where e is not 0. */
static inline double
vz_pyround(double x, double scale)
{
    double p = x * scale;
    double e = __builtin_fma(x, scale, -p);
    double k = __builtin_rint(p);
    double d = p - k;
    k += d == 0.5 && e > 0 ? 1.0 : d == -0.5 && e < 0 ? -1.0 : 0.0;
    return __builtin_copysign(k / scale, x);
}

/* 2 ** -e for x = m * 2 ** e with 0.5 <= m < 1. */
static inline double
vz_normscale(double x)
{
    int e;
    __builtin_frexp(x, &e);
    return __builtin_ldexp(1.0, -e);
}

static inline int64_t
vz_gcd(int64_t a, int64_t b)
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

VZ_FLOAT(f64, double, , 993, 961)
VZ_FLOAT(f32, float, f, 97, 65)

/* One element by an inner loop of NumPy's; "step" of the second operand is 0
 * where it is one number for a whole array. */
#define VZ_LOOPS(S, T)                                                        \
    VZ_INLINE T vz_np1_##S(const VzLoop *loop, T x)                           \
    {                                                                         \
        T r;                                                                  \
        char *args[] = {(char *)&x, (char *)&r};                              \
        const int64_t n = 1, steps[] = {sizeof(T), sizeof(T)};                \
        loop->run(args, &n, steps, loop->data);                               \
        return r;                                                             \
    }                                                                         \
    VZ_INLINE T vz_np2_##S(const VzLoop *loop, int step, T x, T y)            \
    {                                                                         \
        T r;                                                                  \
        char *args[] = {(char *)&x, (char *)&y, (char *)&r};                  \
        const int64_t n = 1, steps[] = {sizeof(T), step, sizeof(T)};          \
        loop->run(args, &n, steps, loop->data);                               \
        return r;                                                             \
    }

VZ_LOOPS(f64, double)
VZ_LOOPS(f32, float)

/* The same for 'n' elements. */
VZ_INLINE void
vz_row1(const VzLoop *loop, int64_t n, void *out, int size, const void *a,
        int64_t step)
{
    char *args[] = {(char *)a, (char *)out};
    const int64_t steps[] = {step, size};
    loop->run(args, &n, steps, loop->data);
}

VZ_INLINE void
vz_row2(const VzLoop *loop, int64_t n, void *out, int size, const void *a,
        int64_t a_step, const void *b, int64_t b_step)
{
    char *args[] = {(char *)a, (char *)b, (char *)out};
    const int64_t steps[] = {a_step, b_step, size};
    loop->run(args, &n, steps, loop->data);
}

/* --- memory and control -------------------------------------------------- */

VZ_INLINE int64_t
vz_clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Zeros elements [from, to), 'size' bytes each. */
VZ_INLINE void
vz_clear(void *at, int64_t from, int64_t to, int size)
{
    __builtin_memset((char *)at + from * size, 0, (uint64_t)(to - from) * size);
}

/* Rounds of a loop, for estimates. */
VZ_INLINE double
vz_trips(int64_t lo, int64_t hi)
{
    return lo < hi ? (double)hi - (double)lo : 0;
}

/* Memory that an allocation inside a loop uses again in every round. */
typedef struct VzMem {
    void *at;
    int64_t size;
} VzMem;

/* Bytes of an array; -1 if negative or too many. */
static int64_t
vz_bytes(int item, int rank, const int64_t *dims)
{
    int64_t bytes = item;
    int bad = 0;
    for (int k = 0; k < rank; k++) {
        bad |= dims[k] < 0;
        bad |= __builtin_mul_overflow(bytes, dims[k], &bytes);
    }
    return bad ? -1 : bytes;
}

VZ_INLINE void
vz_drop(VzCtx *ctx, VzMem *mem)
{
    if (mem->at) {
        ctx->host->range_free(mem->at);
    }
}

VZ_COLD void *
vz_grow(VzCtx *ctx, VzMem *mem, int64_t bytes)
{
    vz_drop(ctx, mem);
    mem->at = 0;
    mem->size = bytes + (bytes >> 1) + 64;
    if (bytes >= 0 && bytes < (int64_t)1 << 62) {
        mem->at = ctx->host->range_alloc(mem->size);
    }
    return mem->at;
}

VZ_INLINE void *
vz_reuse(VzCtx *ctx, VzMem *mem, int64_t bytes)
{
    int have = mem->at && bytes >= 0 && bytes <= mem->size;
    return vz_rare(!have) ? vz_grow(ctx, mem, bytes) : mem->at;
}

/* Room for 'n' elements of 'item' bytes in 'mem', whose contents stay; half as
 * much again, so that elements that come one by one are moved seldom. */
VZ_COLD void *
vz_extend(VzCtx *ctx, VzMem *mem, int64_t n, int item)
{
    int64_t bytes = 0;
    if (n < 0 || __builtin_mul_overflow(n, (int64_t)item, &bytes) ||
        bytes >= (int64_t)1 << 62) {
        return 0;
    }
    bytes += (bytes >> 1) + 64;
    void *at = ctx->host->range_extend(mem->at, bytes);
    if (at) {
        mem->at = at;
        mem->size = bytes;
    }
    return at;
}

/* A block of a pool: what follows its first cache line is an array. */
typedef struct VzBlock {
    struct VzBlock *next;
    int64_t size;
} VzBlock;

/* Memory for an array that may outlive the round of the loop which makes it:
 * the first block of the pool to which none of the 'n' addresses points that
 * are alive.  Dead blocks that are too small go, so a pool has no more blocks
 * than there are names for its arrays, and one. */
static void *
vz_renew(VzCtx *ctx, VzBlock **pool, int64_t bytes, int n,
         const void *const *live)
{
    while (*pool && bytes >= 0) {
        VzBlock *block = *pool;
        uint64_t at = (uint64_t)block + 64;
        int dead = 1;
        for (int i = 0; i < n; i++) {
            dead &= (uint64_t)live[i] - at > (uint64_t)block->size;
        }
        if (dead && bytes <= block->size) {
            return (char *)block + 64;
        }
        if (dead) {
            *pool = block->next;
            ctx->host->range_free(block);
        } else {
            pool = &block->next;
        }
    }
    int ok = bytes >= 0 && bytes < (int64_t)1 << 62;
    int64_t size = ok ? bytes + (bytes >> 3) + 64 : 0;
    VzBlock *made = ok ? ctx->host->range_alloc(size + 64) : 0;
    if (!made) {
        return 0;
    }
    made->next = 0;
    made->size = size;
    *pool = made;
    return (char *)made + 64;
}

VZ_COLD void
vz_drain(VzCtx *ctx, VzBlock *pool)
{
    while (pool) {
        VzBlock *next = pool->next;
        ctx->host->range_free(pool);
        pool = next;
    }
}

static inline void *
vz_scratch(VzCtx *ctx, int64_t bytes, int zero)
{
    return bytes < 0 ? 0 : ctx->host->scratch(ctx, bytes, zero);
}

/* An array argument as it lies in VzCtx.in: data, dims, strides. */
typedef struct VzSpan {
    int64_t first; /* offset of the lowest byte from data */
    int64_t count; /* bytes from the lowest to the highest */
} VzSpan;

/* What the axes cover whose stride is no multiple of 'mod' (0: all axes). */
static VzSpan
vz_span(const VzSlot *in, int rank, int item, int64_t mod)
{
    VzSpan span = {0, item};
    for (int k = 1; k <= rank; k++) {
        int64_t stride = in[rank + k].i;
        int64_t reach = stride * (in[k].i - 1);
        if (mod == 0 || stride % mod != 0) {
            span.first += reach < 0 ? reach : 0;
            span.count += reach < 0 ? -reach : reach;
        }
    }
    return span;
}

/* Do the residues of all addresses modulo 'mod' stay apart? */
static int
vz_apart(const VzSlot *a, int arank, int aitem, const VzSlot *b, int brank,
         int bitem, int64_t mod)
{
    VzSpan one = vz_span(a, arank, aitem, mod);
    VzSpan two = vz_span(b, brank, bitem, mod);
    int64_t gap = (int64_t)((uint64_t)b->i + (uint64_t)two.first -
                            (uint64_t)a->i - (uint64_t)one.first);
    if (mod == 0) {
        return gap >= one.count || gap <= -two.count;
    }
    gap = vz_mod_i64(gap, mod);
    return gap >= one.count && mod - gap >= two.count;
}

/* Do two array arguments share no byte?  No for an answer is always safe.  (Not
 * marked cold: what always calls a cold function is cold to gcc as well.) */
static __attribute__((noinline)) int
vz_disjoint(const VzSlot *a, int arank, int aitem, const VzSlot *b, int brank,
            int bitem)
{
    int apart = vz_apart(a, arank, aitem, b, brank, bitem, 0);
    for (int k = 1; k <= arank + brank; k++) {
        apart |= (k <= arank ? a[k] : b[k - arank]).i == 0;
    }
    for (int k = 1; k <= arank + brank && !apart; k++) {
        int64_t mod = (k <= arank ? a[arank + k] : b[brank + k - arank]).i;
        mod = mod < 0 ? -mod : mod;
        apart = mod > 0 && vz_apart(a, arank, aitem, b, brank, bitem, mod);
    }
    return apart;
}
#endif
