/* Constant objects -> Types, and the correspondence of NumPy's type numbers
 * and ours.
 *
 *     3         int, known 3            weak
 *     2.5       float, known 2.5        weak
 *     np.float32(1)  float32 scalar     strong, known 1
 *     (1, "a")  tuple of the Types of its items
 *
 * longlong and ulonglong are types of their own in NumPy, with the values of
 * int64 and uint64 but other identities; they are left to Python.
 */
#include "csrc/py/pairs.h"

static const int type_nums[DT_COUNT] = {
    [DT_BOOL] = NPY_BOOL,  [DT_I8] = NPY_BYTE,    [DT_I16] = NPY_SHORT,
    [DT_I32] = NPY_INT,    [DT_I64] = NPY_LONG,   [DT_U8] = NPY_UBYTE,
    [DT_U16] = NPY_USHORT, [DT_U32] = NPY_UINT,   [DT_U64] = NPY_ULONG,
    [DT_F32] = NPY_FLOAT,  [DT_F64] = NPY_DOUBLE, [DT_C64] = NPY_CFLOAT,
    [DT_C128] = NPY_CDOUBLE,
};

_Static_assert(sizeof(npy_long) == 8, "64-bit Linux is assumed");

/* The one type number per dtype; see the head about longlong. */
int
dtype_type_num(DType dt)
{
    return type_nums[dt];
}

/* False for every other type number. */
bool
array_dtype(int type_num, DType *out)
{
    for (int dt = 0; dt < DT_COUNT; dt++) {
        if (type_nums[dt] == type_num) {
            *out = (DType)dt;
            return true;
        }
    }
    return false;
}

/* Exact types only: a subclass may do anything.  Complex numbers take two slots
 * and have a test of their own. */
bool
scalar_dtype(PyTypeObject *type, DType *out)
{
    PyTypeObject *const types[DT_COUNT] = {
        [DT_BOOL] = &PyBoolArrType_Type,  [DT_I8] = &PyByteArrType_Type,
        [DT_I16] = &PyShortArrType_Type,  [DT_I32] = &PyIntArrType_Type,
        [DT_I64] = &PyLongArrType_Type,   [DT_U8] = &PyUByteArrType_Type,
        [DT_U16] = &PyUShortArrType_Type, [DT_U32] = &PyUIntArrType_Type,
        [DT_U64] = &PyULongArrType_Type,  [DT_F32] = &PyFloatArrType_Type,
        [DT_F64] = &PyDoubleArrType_Type,
    };
    for (int dt = 0; dt <= DT_F64; dt++) {
        if (types[dt] == type) {
            *out = (DType)dt;
            return true;
        }
    }
    return false;
}

bool
complex_dtype(PyTypeObject *type, DType *out)
{
    *out = type == &PyCFloatArrType_Type ? DT_C64 : DT_C128;
    return type == &PyCFloatArrType_Type || type == &PyCDoubleArrType_Type;
}

VzSlot
complex_slot(PyObject *object, int part)
{
    DType dt;
    if (!complex_dtype(Py_TYPE(object), &dt)) {
        double x = part == 0 ? PyComplex_RealAsDouble(object)
                             : PyComplex_ImagAsDouble(object);
        return (VzSlot){.f = x};
    }
    if (dt == DT_C64) {
        float parts[2];
        PyArray_ScalarAsCtype(object, parts);
        return (VzSlot){.f = (double)parts[part]};
    }
    double parts[2];
    PyArray_ScalarAsCtype(object, parts);
    return (VzSlot){.f = parts[part]};
}

/* By dtype, because a slot holds integers as int64 and floats as double. */
VzSlot
scalar_slot(PyObject *object, DType dt)
{
    union {
        npy_bool b;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        float f32;
        double f64;
    } raw = {.i64 = 0};
    PyArray_ScalarAsCtype(object, &raw);
    switch (dt) {
    case DT_BOOL: return (VzSlot){.i = raw.b};
    case DT_I8: return (VzSlot){.i = raw.i8};
    case DT_I16: return (VzSlot){.i = raw.i16};
    case DT_I32: return (VzSlot){.i = raw.i32};
    case DT_U8: return (VzSlot){.i = raw.u8};
    case DT_U16: return (VzSlot){.i = raw.u16};
    case DT_U32: return (VzSlot){.i = raw.u32};
    case DT_F32: return (VzSlot){.f = raw.f32};
    case DT_F64: return (VzSlot){.f = raw.f64};
    default: return (VzSlot){.i = raw.i64};
    }
}

/* A lone surrogate or a zero byte has no C string; such names are left to
 * Python. */
const char *
sym_of(PyObject *text)
{
    Py_ssize_t n;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &n);
    if (utf8 == NULL || strlen(utf8) != (size_t)n) {
        PyErr_Clear();
        return NULL;
    }
    return sym_n(utf8, (size_t)n);
}

/* Beyond it a Python int has no native form. */
static bool
fits_int64(PyObject *object, int64_t *out)
{
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* Exact types again; True and False are bools, not ints. */
bool
is_plain(PyObject *object)
{
    DType dt;
    int64_t value;
    if (PyTuple_CheckExact(object)) {
        bool plain = true;
        for (Py_ssize_t i = 0; plain && i < PyTuple_GET_SIZE(object); i++) {
            plain = is_plain(PyTuple_GET_ITEM(object, i));
        }
        return plain;
    }
    if (PyLong_CheckExact(object)) {
        return fits_int64(object, &value);
    }
    if (PyUnicode_CheckExact(object)) {
        return sym_of(object) != NULL;
    }
    return object == Py_None || PyBool_Check(object)
           || PyFloat_CheckExact(object)
           || scalar_dtype(Py_TYPE(object), &dt);
}

/* A known number. */
static Type *
number(Arena *arena, DType dt, bool weak, VzSlot value)
{
    Type *type = ARENA_NEW(arena, Type);
    type->kind = TY_NUM;
    type->dtype = dt;
    type->weak = weak;
    type->known = true;
    if (dtype_is_float(dt)) {
        type->fval = value.f;
    } else {
        type->ival = value.i;
    }
    return type;
}

/* The items are part of the type, with their values. */
static const Type *
tuple_type(Arena *arena, PyObject *object)
{
    int n = (int)PyTuple_GET_SIZE(object);
    Type *type = ARENA_NEW(arena, Type);
    type->kind = TY_TUPLE;
    type->rank = n;
    type->items = ARENA_ARRAY(arena, const Type *, n + 1);
    for (int i = 0; i < n; i++) {
        type->items[i] = type_of_value(arena, PyTuple_GET_ITEM(object, i));
        if (type->items[i] == NULL) {
            return NULL;
        }
    }
    return type;
}

/* None of these can change, so the value may be compiled in. */
const Type *
type_of_value(Arena *arena, PyObject *object)
{
    DType dt;
    VzSlot slot = {.i = 0};
    if (!is_plain(object)) {
        return NULL;
    }
    if (PyBool_Check(object)) {
        slot.i = object == Py_True;
        return number(arena, DT_BOOL, true, slot);
    }
    if (PyLong_CheckExact(object)) {
        fits_int64(object, &slot.i);
        return number(arena, DT_I64, true, slot);
    }
    if (PyFloat_CheckExact(object)) {
        slot.f = PyFloat_AS_DOUBLE(object);
        return number(arena, DT_F64, true, slot);
    }
    if (scalar_dtype(Py_TYPE(object), &dt)) {
        return number(arena, dt, false, scalar_slot(object, dt));
    }
    if (PyTuple_CheckExact(object)) {
        return tuple_type(arena, object);
    }
    Type *type = ARENA_NEW(arena, Type);
    type->kind = object == Py_None ? TY_NONE : TY_STR;
    if (type->kind == TY_STR) {
        type->name = sym_of(object);
    }
    return type;
}
