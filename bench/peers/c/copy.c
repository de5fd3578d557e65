/* The copy limit: the time in which the machine moves the bytes that a row
 * must at least move, by memcpy and with non-temporal stores. */
#include "real.h"

void
copy_memcpy(const char *in, char *out, idx bytes)
{
    #pragma omp parallel
    {
        idx lo, hi;
        share(bytes / 64, &lo, &hi);
        memcpy(out + lo * 64, in + lo * 64, (hi - lo) * 64);
    }
}

typedef long long line __attribute__((vector_size(32)));

/* Both pointers are multiples of 32. */
void
copy_nontemporal(const char *in, char *out, idx bytes)
{
    #pragma omp parallel
    {
        idx lo, hi;
        share(bytes / 32, &lo, &hi);
        const line *from = (const line *)in;
        line *to = (line *)out;
        for (idx i = lo; i < hi; i++) {
#if defined(__clang__)
            __builtin_nontemporal_store(from[i], to + i);
#elif defined(__AVX__)
            __builtin_ia32_movntdq256(to + i, from[i]);
#else
            to[i] = from[i];
#endif
        }
#if defined(__SSE2__)
        __builtin_ia32_sfence();
#endif
    }
}
