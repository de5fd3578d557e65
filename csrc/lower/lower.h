#ifndef VZ_LOWER_LOWER_H
#define VZ_LOWER_LOWER_H
/* Typed Ast -> Func at L_ARRAY.
 *
 * Parameters of the Func follow the entry's parameters that exist at run
 * time: NUM that are not known constants (a scalar Var of the dtype) and
 * ARRAYs (a Buf); None, strings and constants vanish, tuples are flattened.
 * Results are flattened in the same way, described by 'result' (a Type whose
 * ARRAYs are either fresh or arguments: see LowerResult).
 */
#include "csrc/ast/ast.h"
#include "csrc/ir/ir.h"

/* The first of the numbers that arrays have which are made once (which.c). */
enum { WHICH_RESULT = 1 << 20 };

/* How a value crosses to Python, one per leaf of the result type:
 *   LEAF_NUM     Func.rets[ret] holds the number of type "type"
 *   LEAF_FRESH   Func.rets[ret] is a BUF_RESULT, made by the kernel
 *   LEAF_REF     an argument or a fresh array: Func.rets["which"] holds the
 *                number + 1 of the argument, else what a LEAF_FRESH or another
 *                LEAF_REF has if it is the same array; Func.rets[ret] has the
 *                elements of a fresh one
 *   LEAF_VECTOR  Func.rets[ret] is a vector: a fresh 1-D (or "type"-shaped)
 *                array of its lanes
 *   LEAF_LIST    a list: Func.rets[ret] is its length, those after it the
 *                numbers of an item, a BUF_RESULT each, before its flags; for
 *                an array in memory the elements of all arrays, then where
 *                each begins, then each extent that is not known
 *   LEAF_ROW     list number Func.rets[ret] of a heap (Lowered.heaps)
 *   LEAF_ARG     the very object passed as argument "arg"
 *   LEAF_COMPLEX Func.rets[ret] and the next hold its real and imaginary part
 *   LEAF_VIEW    a part of argument "arg" or, if that is -1, of the BUF_RESULT
 *                Func.rets[ret], found by "steps"
 *   LEAF_CONST   None, a string, a number known at compile time ("type") */
typedef enum LeafKind {
    LEAF_NUM,
    LEAF_FRESH,
    LEAF_REF,
    LEAF_VECTOR,
    LEAF_LIST,
    LEAF_ROW,
    LEAF_ARG,
    LEAF_COMPLEX,
    LEAF_VIEW,
    LEAF_CONST,
} LeafKind;

/* A constant, or ("ret" >= 0) what Func.rets[ret] holds. */
typedef struct LeafNumber {
    int ret;
    int64_t value;
} LeafNumber;

/* One step from an array to a view of it. For each of the "nbase" axes of the
 * array there is one number if it is "fixed", else three: start, extent and
 * step; "axis" lists those of the view, -1 is a new one. A "packed" step has
 * the elements in another shape, of "rank" extents.  "part" 1 takes the real
 * and 2 the imaginary parts after that. */
typedef struct LeafStep {
    bool packed;
    int part;
    int nbase;
    bool fixed[MAX_RANK];
    int rank;
    int axis[MAX_RANK];
    int n;
    LeafNumber numbers[3 * MAX_RANK];
} LeafStep;

/* "flag" is the ret that says that the number or array is its alternative
 * (None, a Python number) instead; -1 where there is none.  A tuple that may be
 * None has a LEAF_CONST with a flag before the leaves of its items. */
typedef struct Leaf {
    LeafKind kind;
    const Type *type;
    int ret;
    int flag;
    int arg; /* index into Signature.args */
    int which; /* LEAF_FRESH: its number; LEAF_REF: the ret with it */
    VEC(LeafStep) steps;
} Leaf;

/* Argument "arg" of the signature is an attribute that is set in the end, to a
 * "type" whose leaves begin at number "leaf"; only if Func.rets["flag"] is
 * true, unless that is -1. */
typedef struct Commit {
    int arg;
    const Type *type;
    int leaf;
    int flag;
} Commit;

/* The heap of lists whose types have this object: Func.rets[ret] is how many
 * there are, the next are where each begins, its length, and the columns of all
 * items. */
typedef struct HeapLeaf {
    int object;
    int ret;
} HeapLeaf;

typedef struct Lowered {
    Func *func;
    const Type *result;  /* tuples of leaves, in order of "leaves" */
    VEC(Leaf) leaves;
    VEC(Commit) commits;
    VEC(HeapLeaf) heaps;
    bool *writes;        /* per Signature arg: the array may be written */
    bool *pairs; /* per Func.rets: a buffer of complex numbers */
    VEC(int) fortran;    /* rets whose array has the axes of the BUF_RESULT in
                            reverse, and so Fortran's order */
    bool may_warn;       /* the FPU's flags may stand for a warning */
    bool floats;         /* that or NumPy's underflow */
} Lowered;

/* NULL with a refusal in 'diags'.  In a 'general' kernel arguments may overlap;
 * in one that counts every warning of float arithmetic has a WARN of its own,
 * and the FPU's flags need not be looked at.  'approx' has bits of Relax: what
 * is going to be vector code is left where it is. */
Lowered *lower_func(Arena *arena, Diags *diags, const AFunc *entry,
                    bool general, bool count, unsigned approx);
#endif
