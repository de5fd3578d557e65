/* Rare calls keep what the caller has in registers (vz_far, vz_refuel_far),
 * for tests/test_far.py: the function that is called leaves garbage in all
 * that a function may, and the caller carries more numbers, vectors and masks
 * than there are other places for.
 */
#include "csrc/emit/prelude.h"

#define EACH(N) for (int i = 0; i < N; i++)

/* Nothing of what a callee need not keep is as it was. */
static void
spoil(void)
{
#ifdef VZ_FAR
    __asm__ volatile(
        ".irp r,rax,rcx,rdx,rsi,rdi,r8,r9,r10,r11\nmov $-3,%%\\r\n.endr\n"
        "vpcmpeqd %%ymm0,%%ymm0,%%ymm0\n"
        ".irp r,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "vmovaps %%ymm0,%%ymm\\r\n.endr\n"
#ifdef __AVX512F__
        ".irp r,0,1,2,3,4,5,6,7\nkxnorw %%k0,%%k0,%%k\\r\n.endr\n"
        ".irp r,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
        "vpternlogd $255,%%zmm\\r,%%zmm\\r,%%zmm\\r\n.endr\n"
#endif
        :
        :
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
          "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
          "xmm15", VZ_FAR_CLOBBERS);
#endif
}

static double
spoiling(double x, double y)
{
    double sum = x + y;
    __asm__ volatile("" : "+m"(sum));
    spoil();
    return sum;
}

/* In a loop, so that they are in registers where the call is. */
__attribute__((noinline)) static int64_t
numbers(VzLibm2 *fn, int64_t n, int64_t *whole, double *parts)
{
    int64_t a[14];
    double b[20];
    EACH(14) { a[i] = whole[i]; }
    EACH(20) { b[i] = parts[i]; }
    for (int64_t k = 0; k < n; k++) {
        double r = fn ? vz_far(fn, (double)k, b[0]) : (double)k + b[0];
        EACH(14) { a[i] = a[i] * 3 + a[(i + 1) % 14]; }
        EACH(20) { b[i] = b[i] * 0.5 + b[(i + 1) % 20] + r; }
    }
    EACH(14) { whole[i] = a[i]; }
    EACH(20) { parts[i] = b[i]; }
    return n;
}

/* A mask may be in a register of its own kind. */
__attribute__((noinline)) static uint64_t
masks(VzLibm2 *fn, int64_t n, uint64_t first)
{
    uint64_t m = 0;
    double sum = 0;
#ifdef __AVX512BW__
    for (int64_t k = 0; k < n; k++) {
        m = __builtin_ia32_knotdi(__builtin_ia32_kxordi(first, m));
        sum += fn ? vz_far(fn, 1.0, (double)k) : 1.0 + (double)k;
        m = __builtin_ia32_kanddi(m, first);
    }
#else
    (void)fn;
    (void)n;
    (void)first;
#endif
    return m + (uint64_t)sum;
}

/* How many numbers differ when the call is a rare one. */
VZ_EXPORT int
far_differs(int64_t n)
{
    int64_t whole[2][14];
    double parts[2][20];
    VzLibm2 *volatile fns[2] = {0, spoiling};
    int bad = 0;
    for (int way = 0; way < 2; way++) {
        EACH(14) { whole[way][i] = i + 1; }
        EACH(20) { parts[way][i] = i + 1; }
        numbers(fns[way], n, whole[way], parts[way]);
    }
    EACH(14) { bad += whole[0][i] != whole[1][i]; }
    EACH(20) { bad += parts[0][i] != parts[1][i]; }
    return bad + (masks(fns[0], n, 0x123456789) !=
                  masks(fns[1], n, 0x123456789));
}
