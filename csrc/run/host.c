/* The part of VzHost that needs no Python: threads and the process's libm.
 *
 * CPython's math functions and NumPy's scalar ones end in the libm of this
 * process.  A kernel calls the same functions through a table of pointers, so
 * that the C compiler can neither fold nor replace them.  The table's order
 * is that of the 'L' rows of fn.def; POWF, which has another type, keeps an
 * empty slot.
 *
 * pow_slack says how well libm's pow(x, 2) is known to be rounded, so that it
 * may be computed as x*x (FN_SQUARE, csrc/emit/prelude_pow.h).  The errors of
 * glibc's pow since 2.28 are documented (sysdeps/ieee754/dbl-64/e_pow.c); they
 * are smaller where it is compiled with fma, as it mostly is.  There the kernel
 * calls pow where x^2 lies close to the middle between two doubles.  Versions
 * are listed one by one: a new glibc may come with a new pow.
 */
#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "csrc/base/sum.h"
#include "csrc/run/parts.h"

typedef double Fn1(double);
typedef double Fn2(double, double);

/* A libm function by its name in fn.def; Row1 of one argument, Row2 of two. */
typedef struct Row1 {
    const char *name;
    Fn1 *fn;
} Row1;

typedef struct Row2 {
    const char *name;
    Fn2 *fn;
} Row2;

/* Names of fn.def to functions, in any order. */
static const Row1 known1[] = {
    {"exp", exp},     {"exp2", exp2},   {"expm1", expm1}, {"log", log},
    {"log2", log2},   {"log10", log10}, {"log1p", log1p}, {"sin", sin},
    {"cos", cos},     {"tan", tan},     {"asin", asin},   {"acos", acos},
    {"atan", atan},   {"sinh", sinh},   {"cosh", cosh},   {"tanh", tanh},
    {"asinh", asinh}, {"acosh", acosh}, {"atanh", atanh}, {"cbrt", cbrt},
    {"erf", erf},     {"erfc", erfc},
};
static const Row2 known2[] = {
    {"atan2", atan2},
    {"hypot", hypot},
    {"fmod", fmod},
    {"pow", pow},
};

/* The rows of fn.def by their place in it. */
typedef struct FnRow {
    const char *text;
    int arity;
    char origin;
} FnRow;

static const FnRow rows[] = {
#define FN(id, text, arity, origin) {text, arity, origin},
#include "csrc/ir/fn.def"
#undef FN
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static Fn1 *libm1[ROWS];
static Fn2 *libm2[ROWS];
static double pow_slack;
static char libm_name[64];

/* NULL for a name this file doesn't know. */
static Fn1 *
find1(const char *name)
{
    for (size_t i = 0; i < sizeof(known1) / sizeof(known1[0]); i++) {
        if (strcmp(known1[i].name, name) == 0) {
            return known1[i].fn;
        }
    }
    return NULL;
}

/* NULL for powf, which takes floats and is passed on its own. */
static Fn2 *
find2(const char *name)
{
    for (size_t i = 0; i < sizeof(known2) / sizeof(known2[0]); i++) {
        if (strcmp(known2[i].name, name) == 0) {
            return known2[i].fn;
        }
    }
    return NULL;
}

/* One slot per 'L' row of each arity, in the order of the rows. */
static void
fill_tables(void)
{
    int n1 = 0;
    int n2 = 0;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].origin != 'L') {
            continue;
        }
        if (rows[i].arity == 1) {
            libm1[n1++] = find1(rows[i].text);
            assert(libm1[n1 - 1]);
        } else {
            libm2[n2++] = find2(rows[i].text);
            assert(libm2[n2 - 1] || strcmp(rows[i].text, "powf") == 0);
        }
    }
}

/* Is 'pow' that of the C library?  Another libm may have been put in front,
 * by LD_PRELOAD or by linking, and nothing is known of its errors. */
static bool
is_libm_of_libc(void)
{
    Dl_info info;
    Fn2 *fn = pow;
    void *at = NULL;
    memcpy(&at, &fn, sizeof(at));
    if (!dladdr(at, &info) || !info.dli_fname) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *base = slash ? slash + 1 : info.dli_fname;
    return strncmp(base, "libm.so.6", 9) == 0 ||
           strncmp(base, "libm-2.", 7) == 0;
}

#ifdef __GLIBC__
/* Does the documented bound hold for glibc 'version', "2.36"? */
static bool
is_listed(const char *version)
{
    static const char *const listed[] = {
        "2.28", "2.29", "2.30", "2.31", "2.32", "2.33", "2.34", "2.35",
        "2.36", "2.37", "2.38", "2.39", "2.40", "2.41", "2.42",
    };
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
        if (strcmp(listed[i], version) == 0) {
            return true;
        }
    }
    return false;
}

/* Is 'pow' compiled with fma?  Without, its arithmetic is IEEE's, the same from
 * every compiler: the second number is its answer to the first one. */
static bool
is_fused(void)
{
    static const double plain[][2] = {
        {0x1.f89f7f50a0c3cp+0, 0x1.f15a34566f3dcp+1},
        {0x1.cad71ab71a81ep-1, 0x1.9b33302a86988p-1},
        {0x1.39583b493f177p+1, 0x1.7f88df61ec5d8p+2},
        {0x1.337c4869b05eep-2, 0x1.71535203b7e2p-4},
        {0x1.6b82f8cd91c28p-1, 0x1.0216584c4efa4p-1},
        {0x1.33fd2c74de61dp+2, 0x1.7289330134168p+4},
        {0x1.1022dd4b01aap-1, 0x1.214a1afeeac04p-2},
        {0x1.4115b81cd5cp+1, 0x1.92b77990093p+2},
    };
    Fn2 *volatile fn = pow; /* not folded by the compiler */
    bool fused = false;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        fused |= fn(plain[i][0], 2.0) != plain[i][1];
    }
    return fused;
}
#endif

/* The name goes into every key and manifest. */
static void
identify_libm(void)
{
    const char *kind = is_libm_of_libc() ? "" : " with another libm";
#ifdef __GLIBC__
    const char *version = gnu_get_libc_version();
    snprintf(libm_name, sizeof(libm_name), "glibc %.32s%s", version, kind);
    bool listed = !*kind && is_listed(version);
    pow_slack = !listed ? NAN : is_fused() ? 1.0235 : 1.029;
#else
    snprintf(libm_name, sizeof(libm_name), "unknown%s", kind);
    pow_slack = NAN;
#endif
}

/* See base/sum.c. */
static double
sum(int what, const void *data, int kind, int rank, const int64_t *shape,
    double mean)
{
    const SumBox box = {data, kind, rank, shape};
    int single = (what & VZ_SUM_SINGLE) != 0;
    return what & VZ_SUM_SQUARES ? sum_squares(&box, single, mean)
                                 : sum_all(&box, single,
                                           (what & VZ_SUM_PARTS) != 0);
}

/* Once per process, by whichever caller is the first. */
static void
prepare(void)
{
    fill_tables();
    identify_libm();
}

/* Sets what is listed in run.h and leaves the rest to the caller. */
void
host_init(VzHost *host)
{
    pthread_once(&once, prepare);
    host->abi = VZ_ABI;
    host->parallel_for = threads_parallel_for;
    host->libm1 = libm1;
    host->libm2 = libm2;
    host->powf = powf;
    host->pow_slack = pow_slack;
    host->range_alloc = blocks_alloc;
    host->range_free = blocks_free;
    host->range_extend = blocks_extend;
    host->sum = sum;
}

/* Valid for the life of the process. */
const char *
host_libm(void)
{
    pthread_once(&once, prepare);
    return libm_name;
}
