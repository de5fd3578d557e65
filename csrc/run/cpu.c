/* What this CPU can do, in the compilers' words.
 *
 *     0x...7f  <->  "-msse3 -mssse3 -msse4.1 -msse4.2 -mpopcnt -mavx -mavx2"
 *
 * A kernel is compiled for a list of features, never for "native", and the
 * list is part of its key and of its cache entry.  Before an entry is loaded
 * the list is compared with what CPUID says here and now, because caches
 * travel: shared homes, container images, CI.
 *
 * A feature is usable only if the operating system also saves the registers
 * it needs, which XGETBV tells.  The table has what matters to kernels; a
 * feature that isn't a row is never switched on.  On other architectures the
 * table is empty and kernels use the compiler's baseline.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "csrc/run/parts.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Registers that must be saved: bits of XCR0. */
enum { NO_STATE = 0, YMM = 0x6, ZMM = 0xe6 };
enum { EAX, EBX, ECX, EDX };

/* Where CPUID tells of a feature. */
typedef struct Feature {
    const char *name; /* as in -mNAME, for gcc and clang alike */
    unsigned leaf;
    unsigned sub;     /* leaf */
    int reg;
    int bit;
    unsigned state;   /* registers the system must save */
} Feature;

/* Rows may be added at the end only: bits are remembered in the cache.  What
 * is missing on purpose: features of one generation that were given up again
 * (fma4, xop, avx512er, avx512pf), those no loop uses, and AMX. */
static const Feature table[] = {
    {"cx16", 1, 0, ECX, 13, NO_STATE},
    {"sahf", 0x80000001, 0, ECX, 0, NO_STATE},
    {"sse3", 1, 0, ECX, 0, NO_STATE},
    {"ssse3", 1, 0, ECX, 9, NO_STATE},
    {"sse4.1", 1, 0, ECX, 19, NO_STATE},
    {"sse4.2", 1, 0, ECX, 20, NO_STATE},
    {"popcnt", 1, 0, ECX, 23, NO_STATE},
    {"movbe", 1, 0, ECX, 22, NO_STATE},
    {"lzcnt", 0x80000001, 0, ECX, 5, NO_STATE},
    {"bmi", 7, 0, EBX, 3, NO_STATE},
    {"bmi2", 7, 0, EBX, 8, NO_STATE},
    {"avx", 1, 0, ECX, 28, YMM},
    {"f16c", 1, 0, ECX, 29, YMM},
    {"fma", 1, 0, ECX, 12, YMM},
    {"avx2", 7, 0, EBX, 5, YMM},
    {"avxvnni", 7, 1, EAX, 4, YMM},
    {"gfni", 7, 0, ECX, 8, NO_STATE},
    {"avx512f", 7, 0, EBX, 16, ZMM},
    {"avx512cd", 7, 0, EBX, 28, ZMM},
    {"avx512dq", 7, 0, EBX, 17, ZMM},
    {"avx512bw", 7, 0, EBX, 30, ZMM},
    {"avx512vl", 7, 0, EBX, 31, ZMM},
    {"avx512ifma", 7, 0, EBX, 21, ZMM},
    {"avx512vbmi", 7, 0, ECX, 1, ZMM},
    {"avx512vbmi2", 7, 0, ECX, 6, ZMM},
    {"avx512vnni", 7, 0, ECX, 11, ZMM},
    {"avx512bitalg", 7, 0, ECX, 12, ZMM},
    {"avx512vpopcntdq", 7, 0, ECX, 14, ZMM},
    {"avx512bf16", 7, 1, EAX, 5, ZMM},
    {"avx512fp16", 7, 0, EDX, 23, ZMM},
};
enum { FEATURES = sizeof(table) / sizeof(table[0]) };
_Static_assert(FEATURES <= 64, "one bit per feature");

/* XCR0; 0 when the system saves no extended registers. */
static unsigned
saved_state(void)
{
    unsigned r[4];
    if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) ||
        !(r[ECX] & bit_OSXSAVE)) {
        return 0;
    }
    unsigned low;
    unsigned high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Leaves that the CPU doesn't have answer "no". */
static bool
has_feature(const Feature *f, unsigned state)
{
    unsigned r[4];
    return (state & f->state) == f->state &&
           __get_cpuid_count(f->leaf, f->sub, &r[EAX], &r[EBX], &r[ECX],
                             &r[EDX]) &&
           (r[f->reg] >> f->bit & 1);
}

/* Row 'i', for the part of this file that is the same for all CPUs. */
static const char *
name_of(int i)
{
    return table[i].name;
}

static uint64_t found;

/* Sets "found"; once, by cpu_features. */
static void
find_features(void)
{
    unsigned state = saved_state();
    for (int i = 0; i < FEATURES; i++) {
        found |= (uint64_t)has_feature(&table[i], state) << i;
    }
}

/* Asked once per process: in a virtual machine each CPUID is a trap, and all
 * of them take 0.2 ms. */
uint64_t
cpu_features(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_features);
    return found;
}
#else
enum { FEATURES = 0 };

static const char *
name_of(int i)
{
    (void)i;
    return "";
}

uint64_t
cpu_features(void)
{
    return 0;
}
#endif

/* Linear search: a probe looks up some two hundred names. */
uint64_t
cpu_bit(const char *name, size_t n)
{
    for (int i = 0; i < FEATURES; i++) {
        if (strlen(name_of(i)) == n && memcmp(name_of(i), name, n) == 0) {
            return (uint64_t)1 << i;
        }
    }
    return 0;
}

/* The inverse of cpu_parse. */
void
cpu_flags(uint64_t features, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < FEATURES; i++) {
        if ((features >> i & 1) && at < size) {
            int n = snprintf(out + at, size - at, "%s-m%s", at ? " " : "",
                             name_of(i));
            at += (size_t)n;
        }
    }
}

/* Single spaces between words; "" is no features. */
bool
cpu_parse(const char *flags, uint64_t *out)
{
    *out = 0;
    while (*flags) {
        size_t n = strcspn(flags, " ");
        uint64_t bit = n > 2 && strncmp(flags, "-m", 2) == 0
                           ? cpu_bit(flags + 2, n - 2)
                           : 0;
        if (!bit) {
            return false;
        }
        *out |= bit;
        flags += n + (flags[n] == ' ');
    }
    return true;
}
