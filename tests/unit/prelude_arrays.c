/* The helpers of prelude.h on whole arrays, for tests/test_emit.py: built as a
 * shared object, called through ctypes, compared with Python and NumPy. */
#include "csrc/emit/prelude.h"

#define PAIRS(NAME, T, R)                                                     \
    void arrays_##NAME(const T *a, const T *b, R *out, long n)                \
    {                                                                         \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = (R)vz_##NAME(a[i], b[i]);                                \
        }                                                                     \
    }

#define INTEGERS(S, T)                                                        \
    PAIRS(idiv_##S, T, T)                                                     \
    PAIRS(mod_##S, T, T)                                                      \
    PAIRS(min_##S, T, T)                                                      \
    PAIRS(max_##S, T, T)                                                      \
    PAIRS(shl_##S, T, T)                                                      \
    PAIRS(shr_##S, T, T)                                                      \
    PAIRS(addo_##S, T, uint8_t)                                               \
    PAIRS(subo_##S, T, uint8_t)                                               \
    PAIRS(mulo_##S, T, uint8_t)                                               \
    void arrays_abs_##S(const T *a, const T *b, T *out, long n)               \
    {                                                                         \
        (void)b;                                                              \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = vz_abs_##S(a[i]);                                        \
        }                                                                     \
    }

INTEGERS(i8, int8_t)
INTEGERS(i16, int16_t)
INTEGERS(i32, int32_t)
INTEGERS(i64, int64_t)
INTEGERS(u8, uint8_t)
INTEGERS(u16, uint16_t)
INTEGERS(u32, uint32_t)
INTEGERS(u64, uint64_t)
PAIRS(ipow, int64_t, int64_t)
PAIRS(ipowo, int64_t, uint8_t)
PAIRS(vaddo_i64, int64_t, uint8_t)
PAIRS(vsubo_i64, int64_t, uint8_t)

#define CASTS(S, T)                                                           \
    void arrays_i32_##S(const T *a, int32_t *out, long n)                     \
    {                                                                         \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = vz_i32_##S(a[i]);                                        \
        }                                                                     \
    }                                                                         \
    void arrays_i64_##S(const T *a, int64_t *out, long n)                     \
    {                                                                         \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = vz_i64_##S(a[i]);                                        \
        }                                                                     \
    }                                                                         \
    void arrays_u64_##S(const T *a, uint64_t *out, long n)                    \
    {                                                                         \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = vz_u64_##S(a[i]);                                        \
        }                                                                     \
    }

#define QUOTIENTS(NAME, T)                                                    \
    void arrays_##NAME(VzLibm2 *fmod, const T *a, const T *b, T *out, long n) \
    {                                                                         \
        for (long i = 0; i < n; i++) {                                        \
            out[i] = vz_##NAME(fmod, a[i], b[i]);                             \
        }                                                                     \
    }

CASTS(f64, double)
CASTS(f32, float)
QUOTIENTS(npmod_f64, double)
QUOTIENTS(npmod_f32, float)
QUOTIENTS(npfloordiv_f64, double)
QUOTIENTS(npfloordiv_f32, float)
QUOTIENTS(pyfloordiv_f64, double)

/* vz_disjoint on argument tables. */
int
arrays_disjoint(const VzSlot *a, int arank, int aitem, const VzSlot *b,
                int brank, int bitem)
{
    return vz_disjoint(a, arank, aitem, b, brank, bitem);
}
