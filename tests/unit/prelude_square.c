/* vz_square and vz_root against the libm's pow(x, 2.0) and pow(x, 0.5), for
 * tests/test_powers.py; both also as a SIMD loop calls them, and by rows.
 *
 * Built as a shared object with the flags of a kernel.  Numbers come in
 * kinds: random bits (everything there is), ordinary sizes, squares close to a
 * midpoint of two doubles, and squares whose distance from the midpoint is
 * where vz_square changes over to calling pow; a fifth kind has roots near a
 * midpoint.
 */
#define VZ_LANES
#include "csrc/emit/prelude_pow.h"

enum { KIND_BITS, KIND_ORDINARY, KIND_MIDPOINT, KIND_MARGIN, KIND_ROOT };

typedef union Bits {
    double f;
    uint64_t u;
} Bits;

static uint64_t
random_bits(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* An odd m with m * m = target modulo 2^bits; target = 1 modulo 8. */
static uint64_t
square_root(uint64_t target, int bits)
{
    uint64_t m = 1;
    for (int k = 3; k < bits; k++) {
        if (((m * m - target) >> k) & 1) {
            m += UINT64_C(1) << (k - 1);
        }
    }
    return m;
}

/* A significand whose square ends 'off' units from the middle of the bits
 * that rounding cuts off; 'off' = 1 modulo 8. */
static double
near_midpoint(uint64_t off, int bits, int exponent)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t m = square_root((UINT64_C(1) << (bits - 1)) + off, bits) & mask;
    m |= UINT64_C(1) << 52; /* with 'bits' 52 or 53 the square's end stays */
    m &= (UINT64_C(1) << 53) - 1;
    return __builtin_ldexp((double)m, exponent);
}

static double
number(int kind, uint64_t *state)
{
    uint64_t r = random_bits(state);
    Bits bits = {.u = r};
    switch (kind) {
    case KIND_BITS:
        return bits.f;
    case KIND_ORDINARY:
        bits.u = (r & UINT64_C(0x800FFFFFFFFFFFFF)) |
                 ((1023 - 12 + (random_bits(state) % 24)) << 52);
        return bits.f;
    case KIND_MIDPOINT:
        return near_midpoint((r >> 44) * 8 + 1 - ((r & 4) << 20), 52 + (r & 1),
                             (int)(random_bits(state) % 120) - 110);
    case KIND_ROOT:
        /* (k + 1/2)^2 is (k + k^2) + 1/4, so its root is close to a midpoint */
        bits.u = (r >> 12) | (UINT64_C(1023) << 52);
        bits.f += 0x1p-53;
        bits.f *= bits.f + 0x1p-52;
        return __builtin_ldexp(bits.f, (int)(random_bits(&r) % 160) - 80);
    default:
        /* 0.008 to 0.023 of an ulp below the middle, or twice that */
        return near_midpoint(((r >> 16) % (UINT64_C(1) << 47) +
                              (UINT64_C(2) << 45)) / 8 * 8 + 1,
                             52 + (r & 1),
                             (int)(random_bits(state) % 120) - 110);
    }
}

static int
differs(double a, double b)
{
    Bits x = {.f = a};
    Bits y = {.f = b};
    return x.u != y.u && !(a != a && b != b);
}

/* How many of 'n' numbers have another vz_square than pow; "called" counts
 * those for which pow was needed, "worst" is the least |x*x - x^2| in units
 * of the last place of x*x for which x*x is not pow. */
long
check_square(VzLibm2 *pow, double slack, int kind, uint64_t seed, long n,
             long *called, double *worst)
{
    long bad = 0;
    for (long i = 0; i < n; i++) {
        double x = number(kind, &seed);
        double p = x * x;
        double e = __builtin_fma(x, x, -p);
        double expected = pow(x, 2.0);
        bad += differs(vz_square(pow, slack, x), expected);
        *called += !VZ_SQUARE_SURE(x, p, e);
        Bits next = {.f = p};
        next.u++;
        double distance = __builtin_fabs(e) / (next.f - p);
        if (p > 0x1p-100 && p < 0x1p100 && differs(p, expected) &&
            distance < *worst) {
            *worst = distance;
        }
    }
    return bad;
}

/* The same decision as vector code makes it. */
long
check_vector(VzLibm2 *pow, double slack, const double *x, double *out,
             uint8_t *sure, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++) {
        double p = x[i] * x[i];
        double e = __builtin_fma(x[i], x[i], -p);
        out[i] = p;
        sure[i] = VZ_SQUARE_SURE(x[i], p, e);
    }
    long bad = 0;
    for (long i = 0; i < n; i++) {
        bad += sure[i] && differs(out[i], pow(x[i], 2.0));
    }
    return bad;
}

/* How many of 'n' results of the forms for lanes are not pow's. */
long
check_lanes(VzLibm2 *pow, double slack, const double *x, double *out, long n)
{
    long bad = 0;
#pragma omp simd
    for (long i = 0; i < n; i++) {
        out[i] = vz_lanes_square(pow, slack, x[i]);
    }
    for (long i = 0; i < n; i++) {
        bad += differs(out[i], pow(x[i], 2.0));
    }
#pragma omp simd
    for (long i = 0; i < n; i++) {
        out[i] = vz_lanes_root(pow, slack, x[i]);
    }
    for (long i = 0; i < n; i++) {
        bad += differs(out[i], pow(x[i], 0.5));
        bad += differs(vz_root(pow, slack, x[i]), out[i]);
    }
    return bad;
}

/* How many of 'n' results of the forms for rows are not pow's. */
long
check_rows(VzLibm2 *pow, double slack, const double *x, double *out, long n)
{
    long bad = 0;
    vz_row_square(pow, slack, n, out, x);
    for (long i = 0; i < n; i++) {
        bad += differs(out[i], pow(x[i], 2.0));
    }
    vz_row_root(pow, slack, n, out, x);
    for (long i = 0; i < n; i++) {
        bad += differs(out[i], pow(x[i], 0.5));
    }
    return bad;
}

void
fill_numbers(int kind, uint64_t seed, double *out, long n)
{
    for (long i = 0; i < n; i++) {
        out[i] = number(kind, &seed);
    }
}

double
one_square(VzLibm2 *pow, double slack, double x)
{
    return vz_square(pow, slack, x);
}

int
has_fma(void)
{
#ifdef __FMA__
    return 1;
#else
    return 0;
#endif
}
