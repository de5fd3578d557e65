#ifndef VZ_IR_TYPE_H
#define VZ_IR_TYPE_H
/* Element types, and the types of Python expressions.
 *
 * The IR itself speaks only of DType.  'Type' belongs to the typed Ast and to
 * what crosses the boundary to Python: arguments and results.
 */
#include <stdbool.h>
#include <stdint.h>

#include "csrc/base/str.h"

/* MAX_RANK bounds the axes of an array; NumPy allows more, and calls with such
 * arrays stay in Python.  MAX_LANES bounds small arrays that are held as
 * values: every lane becomes a C variable of its own, so it is a matter of code
 * size. */
enum { MAX_RANK = 8, MAX_LANES = 30 };

/* The element types: NumPy's bool, fixed-size integers, floats and complex
 * numbers, native byte order.  float16, longdouble, strings and objects stay in
 * Python.  Generated code passes the numbers to the host (VzHost.result), so
 * the order may not change without a new VZ_ABI.
 *
 * The IR itself has no complex numbers: an element is two lanes of its part
 * type, and an array of them has one more axis, of two, behind the others. */
typedef enum DType {
    DT_BOOL,
    DT_I8,
    DT_I16,
    DT_I32,
    DT_I64,
    DT_U8,
    DT_U16,
    DT_U32,
    DT_U64,
    DT_F32,
    DT_F64,
    DT_C64,
    DT_C128,
    DT_COUNT
} DType;

/* Facts of one dtype.  A bool is neither integer nor float; bytes are the size
 * in memory, where a bool takes one. */
int dtype_size(DType dt);
bool dtype_is_int(DType dt);    /* without bool */
bool dtype_is_signed(DType dt); /* integers */
bool dtype_is_float(DType dt);
bool dtype_is_complex(DType dt);
/* Of which a complex number has two; of other types the type itself. */
DType dtype_part(DType dt);
/* The complex type that has parts of this float type. */
DType dtype_of_parts(DType part);
const char *dtype_name(DType dt); /* "bool" "int8" ... as NumPy has them */
const char *dtype_short(DType dt); /* "b1" "i8" "u16" "f64": the IR's text */
/* False, and '*out' as it was, if 'text' is no dtype_short of any. */
bool dtype_from_short(const char *text, DType *out);
/* The least and greatest value of an integer or bool dtype. */
int64_t dtype_min(DType dt);
uint64_t dtype_max(DType dt);
/* NumPy's promotion of two array or NumPy-scalar dtypes, as np.result_type. */
DType dtype_promote(DType lhs, DType rhs);

/* What sort of Python value an expression has.  Only those up to LIST
 * exist at run time; the others are known wholly at compile time and leave no
 * code: 'np' in np.zeros(3) is a MODULE, 'np.zeros' a FUNC. */
typedef enum TypeKind {
    TY_POISON, /* an error was reported; says nothing further */
    TY_NONE,
    TY_NUM,    /* 1, 1.5, True, np.float32(1): "dtype", "weak" */
    TY_ARRAY,
    TY_COMPLEX, /* two floats in "items"; weak, or a scalar of NumPy's */
    TY_TUPLE,  /* tuples and list displays of fixed length */
    TY_LIST,   /* lists whose length is known at run time only */
    TY_DICT,   /* with constant keys: "ival" numbers it in inference */
    TY_STR,
    TY_FUNC,   /* a user function, a builtin or a NumPy function */
    TY_MODULE,
    TY_DTYPE,  /* np.float32, float, 'uint8' used as a dtype */
    TY_RANGE,
    TY_SLICE,  /* lo:hi:step: three "items", of which NONE is left out */
    TY_RECORD, /* an object with attributes; "ival": which, see Signature */
    TY_EITHER, /* a number with an alternative ("items"), or None or unbound */
    TY_MAPPING, /* a dict as a result: "items" are its keys and values, LISTs */
    TY_OBJECT, /* an object made here: its attributes are "items" */
} TypeKind;

/* What a maybe-type may be instead, decided at run time by a flag that is
 * carried beside the value (design: "joins").  A weak alternative of a NUM
 * is the same number as a Python bool, int or float. */
typedef enum Alt {
    ALT_NEVER,
    ALT_NONE,
    ALT_UNBOUND,
    ALT_BOOL,
    ALT_INT,
    ALT_FLOAT,
    ALT_COMPLEX, /* of a complex128 scalar: Python's */
} Alt;

/* What is known of an array's strides.  LAYOUT_C lets an element be found by
 * its number, so that the address needs extents only.  LAYOUT_ROWS is for
 * inference: what NumPy computes from such an array has LAYOUT_C; so is
 * LAYOUT_F: what NumPy computes from it is in Fortran's order, if no axis has
 * less than two elements. */
typedef enum Layout {
    LAYOUT_ANY,  /* any strides */
    LAYOUT_C,    /* C-contiguous */
    LAYOUT_ROWS, /* the axes in the order of C, with steps and gaps */
    LAYOUT_F,    /* the axes in the reverse order, with steps and gaps */
} Layout;

/* "weak" NUMs are Python's bool, int, float (dtype DT_BOOL, DT_I64, DT_F64);
 * strong ones are NumPy scalars.  "known" says that the value is "ival" (bool
 * and int) or "fval" (float).  ARRAY: "size" per axis is a constant or -1.
 * TUPLE: "items" of "rank" types; "is_list" for a list display.  LIST: "items"
 * has the one type of all items, and "rank" is 1, or 0 if nothing is ever put
 * in; "object" says which list it is; a deque has a "name"; a "ref" is one of
 * the heap of number "ival".  STR, FUNC,
 * MODULE, DTYPE: "name" is the text or the canonical name ("numpy.zeros");
 * a user function is "func" (index into Unit.funcs), else -1, and "ival" the
 * number of its closure, if it has one.
 *
 * Only inference fills the next: "object" numbers the array that an ARRAY is
 * or is a part of ("view"); "memory" says that it lives in a buffer and not
 * in registers, "ref" that it is one of several such arrays, by the run.
 * "origin" of an int: the argument's axis or value that it is, 0 when unknown;
 * a "size" of an axis with an origin is -1 - origin.
 *
 * Of an argument with gaps, 0 where nothing is known: "step" counts elements
 * from one to the next on the last axis, "pixel" on the one before, in extents
 * of the last; in Fortran's order these are the first axis and the second. */
typedef struct Type {
    TypeKind kind;
    DType dtype;
    bool weak;
    bool known;
    bool is_list;
    Alt alt;
    Layout layout;
    int rank;
    int func;
    int64_t ival;
    double fval;
    Sym name;
    int class; /* TUPLE, OBJECT: one more than its number in Unit.classes */
    int object;
    int origin;
    bool memory;
    bool view;
    bool ref;
    bool packed; /* an argument of LAYOUT_F without gaps */
    int8_t step;
    int8_t pixel;
    int64_t size[MAX_RANK];
    const struct Type **items;
} Type;

/* 'int', 'float64 scalar', 'float32[:, :, 3]', '(int, float)': for people. */
void type_add(Str *out, const Type *type);
bool type_equal(const Type *lhs, const Type *rhs);
/* TUPLE, EITHER, MAPPING or OBJECT, whose values are those of their items. */
bool type_is_pack(const Type *type);
#endif
