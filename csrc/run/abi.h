#ifndef VZ_RUN_ABI_H
#define VZ_RUN_ABI_H
/* What a kernel and its host share.  Included by both sides; the emitter
 * pastes it into every generated file, so it stands alone.
 */
#include <stdint.h>

#define VZ_ABI 8

/* A kernel's file exports two names:
 *     VZ_EXPORT const unsigned vz_abi = VZ_ABI;
 *     VZ_EXPORT int vz_kernel(VzCtx *ctx) ...
 * and a third one where it is compiled by simple flags. */
#define VZ_EXPORT __attribute__((visibility("default")))
#ifdef VZ_SIMPLE
VZ_EXPORT const unsigned vz_simple = 1;
#endif

typedef union VzSlot {
    int64_t i;
    double f;
    void *p;
} VzSlot;

typedef struct VzCtx VzCtx;

/* A range of a parallel loop; 0 or a VzStatus other than VZ_OK.  "ctx" is a
 * copy that belongs to the thread, so warn, failed and fuel are written
 * plainly. */
typedef int VzRange(VzCtx *ctx, void *env, int64_t lo, int64_t hi);

typedef enum VzStatus {
    VZ_OK,
    VZ_BAIL,      /* run the general kernel (after undo) */
    VZ_REPLAY,    /* run the call in Python (after undo) */
    VZ_NOMEM,     /* as REPLAY */
    VZ_INTERRUPT, /* a signal handler wants to run */
} VzStatus;

/* An inner loop of a NumPy ufunc: "n" elements at addresses "args" (inputs,
 * then the output), "steps" bytes apart. */
typedef struct VzLoop {
    void (*run)(char **args, const int64_t *n, const int64_t *steps,
                void *data);
    void *data;
} VzLoop;

/* A part of an array: "shape" has the extent and the step in bytes of each
 * axis, "kind" is NumPy's character of the dtype. */
typedef struct VzBox {
    const void *data;
    int kind;
    int rank;
    const int64_t *shape;
} VzBox;

/* Functions of the host.  "libm1" and "libm2" are the process's own libm in
 * the order of fn.def's 'L' rows with 1 and 2 arguments. */
typedef struct VzHost {
    uint32_t abi;
    /* Runs 'body' over disjoint parts of [lo, hi) by threads; 'cost'
     * estimates nanoseconds of one round; serial when the whole is too small.
     * Returns the status of the lowest range that failed.  Ranges must not
     * call 'undo': a loop that may fail takes the 'shadow' before it. */
    int (*parallel_for)(VzCtx *ctx, VzRange *body, void *env, int64_t lo,
                        int64_t hi, double cost);
    /* Fresh array for result number 'ret': data pointer, NULL when out of
     * memory.  C-contiguous, not cleared unless 'zero'. */
    void *(*result)(VzCtx *ctx, int ret, int dtype, int rank,
                    const int64_t *dims, int zero);
    /* Scratch memory of this call, freed at its end; may be called by several
     * ranges at once. */
    void *(*scratch)(VzCtx *ctx, int64_t bytes, int zero);
    /* Keep 'size' (<= 8) bytes at 'at' so that they can be put back. */
    int (*undo)(VzCtx *ctx, void *at, int size);
    /* Keep a copy of every written argument at once. */
    int (*shadow)(VzCtx *ctx);
    /* May run Python signal handlers; VZ_INTERRUPT when they raised, or when
     * this range needn't go on because a lower one failed.  Refills fuel. */
    int (*poll)(VzCtx *ctx);
    double (*const *libm1)(double);
    double (*const *libm2)(double, double);
    float (*powf)(float, float);
    double pow_slack; /* see prelude_pow.h; nan: not known of this libm */
    /* Memory for one range of a parallel loop, which frees it itself; any
     * thread may call.  NULL when out of memory. */
    void *(*range_alloc)(int64_t bytes);
    void (*range_free)(void *at);
    /* The same memory, perhaps elsewhere, of a larger size; NULL, and the old
     * block stays, when out of memory. */
    void *(*range_extend)(void *at, int64_t bytes);
    /* The sum of floats in NumPy's order: "shape" has extent and step in bytes
     * of each axis, "kind" is NumPy's character of the dtype, "what" a set of
     * VZ_SUM bits. */
    double (*sum)(int what, const void *data, int kind, int rank,
                  const int64_t *shape, double mean);
    /* Of fn.def's 'N' rows in their order, two each: float64 and float32. */
    const VzLoop *loops;
    /* Fills 'out', in C order, by a routine of NumPy's (IR's Routine); not 0
     * when out of memory. */
    int (*routine)(int which, void *out, const VzBox *in);
} VzHost;

/* VZ_SUM_SINGLE: in float32; VZ_SUM_SQUARES: of (x - mean) ** 2; VZ_SUM_PARTS:
 * of parts of complex numbers. */
enum { VZ_SUM_SINGLE = 1, VZ_SUM_SQUARES = 2, VZ_SUM_PARTS = 4 };

/* Fuel of a loop of which nobody knows what a round costs. */
enum { VZ_FUEL_FIRST = 16 };

/* WARNs that have no bit of their own in VzCtx.warn, which has few. */
enum { VZ_MORE = 2048 };

/* One call.  "in": per parameter of the kernel a scalar, or for an array its
 * data, then "rank" dims, then "rank" strides in bytes.  "out": per returned
 * scalar its value (vectors: one slot per lane). */
struct VzCtx {
    const VzHost *host;
    const VzSlot *in;
    VzSlot *out;
    int64_t fuel;      /* decremented by loops that poll */
    int64_t given;     /* what fuel was when that began */
    int logging;       /* undo wants to know of stores */
    int threads;       /* the host's own: at most so many; 0: its default */
    uint64_t warn;     /* bit per WARN, by its number, or its kind */
    uint64_t *more;    /* bit per WARN beyond those: VZ_MORE of them */
    uint64_t raising;  /* those that end the call at the next poll */
    uint32_t fpflags;  /* FE_ flags gathered from other threads */
    int failed;        /* number of the CHECK that ended the call */
    void *self;        /* the host's own */
};

typedef int VzKernel(VzCtx *ctx);
#endif
