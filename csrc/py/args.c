/* Arguments: objects -> keys, signatures and the slots of a kernel.
 *
 *     f(img, 3, mode="wrap")
 *     keys        array uint8 rank 2 C-contiguous | int | str
 *     signature   uint8[:, :], int, 'wrap'           what inference sees
 *     slots       data, h, w, stride, stride, 3      what the kernel gets
 *
 * A key is one word, so finding the specialisation is a comparison of words;
 * strings, tuples and what inference has pinned are compared after that.
 * Whatever native code does not handle exactly as Python does has KEY_PYTHON.
 */
#include "csrc/py/pairs.h"
#include "csrc/py/records.h"
#include "typeinfer/rules.h"

/* Limits under which index arithmetic can't overflow. */
#define EXTENT_LIMIT ((npy_intp)1 << 31)
#define ELEMENT_LIMIT ((npy_intp)1 << 47)

/* NumPy's own flag of arrays that warn when they are first written. */
#define WARN_ON_WRITE INT_MIN

#define KIND(key) KEY_KIND(key)
#define DTYPE(key) ((DType)((key) >> 8 & 0xFFu))
#define RANK(key) ((int)((key) >> 16 & 0xFFu))

/* --- keys ---------------------------------------------------------------- */

/* bits  0..7    kind (K_ARRAY ...)
 *           8..15   dtype
 *          16..23   rank
 *          24       KEY_LAYOUT: without gaps, in the order of bit 25 or 26
 *          25       KEY_ROWS: the axes in the order of C
 *          26       KEY_FORTRAN: the axes in the reverse order
 *          27..30   KEY_STEP, KEY_PIXEL: see steps.c
 *
 * Keys are only compared with each other.  Their difference is masked, so a
 * specialisation for any layout ignores bits 24 to 30, one for any steps
 * 27 to 30. */

/* A table: this is on the way of every call. */
static inline bool
num_dtype(int type_num, uint32_t *out)
{
    /* NPY_BOOL .. NPY_CDOUBLE; 0 is for those that are not ours. */
    static const uint8_t dtypes[] = {
        [NPY_BOOL] = 1 + DT_BOOL, [NPY_BYTE] = 1 + DT_I8,
        [NPY_UBYTE] = 1 + DT_U8,  [NPY_SHORT] = 1 + DT_I16,
        [NPY_USHORT] = 1 + DT_U16, [NPY_INT] = 1 + DT_I32,
        [NPY_UINT] = 1 + DT_U32,  [NPY_LONG] = 1 + DT_I64,
        [NPY_ULONG] = 1 + DT_U64, [NPY_FLOAT] = 1 + DT_F32,
        [NPY_DOUBLE] = 1 + DT_F64, [NPY_CFLOAT] = 1 + DT_C64,
        [NPY_CDOUBLE] = 1 + DT_C128,
    };
    if ((unsigned)type_num >= sizeof(dtypes) || dtypes[type_num] == 0) {
        return false;
    }
    *out = dtypes[type_num] - 1u;
    return true;
}

/* Do the strides fall from axis to axis, as NumPy sorts them for results?  An
 * axis that is broadcast (stride 0) has no place in that order. */
static bool
in_rows(PyArrayObject *array)
{
    npy_intp before = NPY_MAX_INTP;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp stride = PyArray_STRIDE(array, i);
        stride = stride < 0 ? -stride : stride;
        if (PyArray_DIM(array, i) == 1) {
            continue;
        }
        if (stride == 0 || stride >= before) {
            return false;
        }
        before = stride;
    }
    return true;
}

/* An array of one element is contiguous, whatever its strides are; but NumPy's
 * loops for complex numbers look at them. */
static bool
runs_back(PyArrayObject *array)
{
    bool back = false;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        back |= PyArray_STRIDE(array, i) < 0;
    }
    return back;
}

/* Do the strides rise from axis to axis?  Axes of one element would have a
 * place of their own in what NumPy makes of it. */
static bool
in_columns(PyArrayObject *array)
{
    npy_intp before = 0;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp stride = PyArray_STRIDE(array, i);
        stride = stride < 0 ? -stride : stride;
        if (PyArray_DIM(array, i) < 2 || stride <= before) {
            return false;
        }
        before = stride;
    }
    return PyArray_NDIM(array) > 1;
}

/* Subclasses never get here.  0-d arrays turn into scalars in NumPy's
 * arithmetic and are left to Python. */
static inline uint32_t
array_key(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    int flags = PyArray_FLAGS(array);
    int rank = PyArray_NDIM(array);
    uint32_t dt;
    if (!num_dtype(PyArray_TYPE(array), &dt) || rank < 1
        || rank > MAX_RANK - dtype_is_complex((DType)dt)
        || !(flags & NPY_ARRAY_ALIGNED) || PyArray_ISBYTESWAPPED(array)) {
        return KEY_PYTHON;
    }
    bool pairs = dtype_is_complex((DType)dt);
    bool packed = (flags & NPY_ARRAY_C_CONTIGUOUS) != 0
                  && !(pairs && runs_back(array));
    uint32_t layout = packed                        ? KEY_LAYOUT | KEY_ROWS
                      : in_rows(array)              ? KEY_ROWS
                      : pairs || !in_columns(array) ? 0
                      : flags & NPY_ARRAY_F_CONTIGUOUS
                          ? KEY_LAYOUT | KEY_FORTRAN
                          : KEY_FORTRAN;
    if (!(layout & KEY_LAYOUT) && !pairs) {
        layout |= steps_key(array, (layout & KEY_FORTRAN) != 0);
    }
    return K_ARRAY | dt << 8 | (uint32_t)rank << 16 | layout;
}

/* What the fast tests of arg_key have not recognised. */
static uint32_t
rare_key(PyObject *object)
{
    DType dt;
    if (object == Py_None) {
        return K_NONE;
    }
    if (scalar_dtype(Py_TYPE(object), &dt)) {
        return K_SCALAR | (uint32_t)dt << 8;
    }
    if (is_list_arg(object) || is_long_tuple(object)) {
        return K_LIST | (uint32_t)PyList_CheckExact(object) << 8;
    }
    if (PyComplex_CheckExact(object)) {
        return K_COMPLEX;
    }
    if (complex_dtype(Py_TYPE(object), &dt)) {
        return K_COMPLEX | (uint32_t)dt << 8;
    }
    if (!is_plain(object)) {
        return KEY_PYTHON;
    }
    return PyUnicode_CheckExact(object) ? K_STR : K_TUPLE;
}

/* In the order of frequency.  The types are compared exactly. */
uint32_t
arg_key(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyArray_Type) {
        return array_key(object);
    }
    if (type == &PyFloat_Type) {
        return K_FLOAT | (uint32_t)DT_F64 << 8;
    }
    if (type == &PyLong_Type) {
        return K_INT | (uint32_t)DT_I64 << 8;
    }
    if (type == &PyBool_Type) {
        return K_BOOL | (uint32_t)DT_BOOL << 8;
    }
    return rare_key(object);
}

/* Which item of a tuple is not taken, and what it is. */
static DiagId
tuple_refusal(PyObject *tuple, char *out, size_t size)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        uint32_t key = arg_key(item);
        bool array = (key & 0xff) == K_ARRAY;
        if (key == KEY_PYTHON || array) {
            char words[160] = "is an array; give arrays as arguments of their "
                              "own";
            if (!array) {
                arg_refusal(item, words, sizeof(words));
            }
            snprintf(out, size, "is a tuple whose item %d %s", (int)i, words);
            return DIAG_UNSUPPORTED_ARGUMENT;
        }
    }
    snprintf(out, size, "is a tuple whose items are not all of kinds that are "
                        "taken in a tuple");
    return DIAG_UNSUPPORTED_ARGUMENT;
}

/* For the message; not on any fast way. */
DiagId
arg_refusal(PyObject *object, char *out, size_t size)
{
    if (PyTuple_CheckExact(object)) {
        return tuple_refusal(object, out, size);
    }
    if (PyList_CheckExact(object)) {
        snprintf(out, size, "is a list whose items are no numbers, or tuples "
                            "and lists of numbers, of one kind and length");
        return DIAG_UNSUPPORTED_ARGUMENT;
    }
    if (!PyArray_Check(object)) {
        snprintf(out, size, "is of type `%.80s`", Py_TYPE(object)->tp_name);
        return DIAG_UNSUPPORTED_ARGUMENT;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    uint32_t dt;
    DiagId code = DIAG_ARGUMENT_LAYOUT;
    if (!PyArray_CheckExact(object)) {
        snprintf(out, size, "is an array of the subclass `%.80s`",
                 Py_TYPE(object)->tp_name);
    } else if (!num_dtype(PyArray_TYPE(array), &dt)) {
        char kind = PyArray_DESCR(array)->kind;
        bool twin = kind == 'i' || kind == 'u';
        snprintf(out, size, "is an array of the dtype kind '%c%d'%s", kind,
                 (int)PyArray_ITEMSIZE(array),
                 twin ? ", C's long long, which NumPy tells from its int64: "
                        "convert it with .astype(np.int64) or np.uint64"
                      : "");
        code = DIAG_UNSUPPORTED_ARGUMENT;
    } else if (PyArray_ISBYTESWAPPED(array)) {
        snprintf(out, size, "is a byte-swapped array");
    } else if (!PyArray_CHKFLAGS(array, NPY_ARRAY_ALIGNED)) {
        snprintf(out, size, "is a misaligned array");
    } else {
        snprintf(out, size, "is an array of %d axes", PyArray_NDIM(array));
        code = DIAG_UNSUPPORTED_ARGUMENT;
    }
    return code;
}

/* --- matching ------------------------------------------------------------ */

/* A pinned value is compared by bits: 0.0 and -0.0 may lead to different code,
 * and a NaN is equal to itself here. */

/* The keys have been compared, so the object is of the pinned kind. */
static bool
pin_holds(const Pin *pin, PyObject *object)
{
    if (pin->axis >= 0) {
        return PyArray_DIM((PyArrayObject *)object, pin->axis) == pin->ival;
    }
    VzSlot value = {.i = 0};
    DType dt;
    if (PyFloat_CheckExact(object)) {
        value.f = PyFloat_AS_DOUBLE(object);
    } else if (scalar_dtype(Py_TYPE(object), &dt)) {
        value = scalar_slot(object, dt);
    } else {
        int overflow;
        value.i = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            return false;
        }
    }
    return pin->is_float ? memcmp(&pin->fval, &value.f, sizeof(value.f)) == 0
                         : pin->ival == value.i;
}

/* Tuples of equal shape with numbers of equal types; all else by value. */
static bool
same_structure(PyObject *lhs, PyObject *rhs)
{
    if (Py_TYPE(lhs) != Py_TYPE(rhs)) {
        return false;
    }
    if (!PyTuple_CheckExact(lhs)) {
        DType dt;
        bool number = PyLong_CheckExact(lhs) || PyFloat_CheckExact(lhs)
                      || PyBool_Check(lhs) || scalar_dtype(Py_TYPE(lhs), &dt);
        return number || same_value(lhs, rhs);
    }
    Py_ssize_t n = PyTuple_GET_SIZE(lhs);
    bool same = n == PyTuple_GET_SIZE(rhs);
    for (Py_ssize_t i = 0; same && i < n; i++) {
        same = same_structure(PyTuple_GET_ITEM(lhs, i),
                              PyTuple_GET_ITEM(rhs, i));
    }
    return same;
}

/* The bits of a key that count. */
static inline uint32_t
mask_of(Width width)
{
    return width.layout  ? ~KEY_ANY_LAYOUT
           : width.steps ? ~KEY_ANY_STEPS
                         : UINT32_MAX;
}

/* Keys of all arguments are compared without a branch in between. */
static inline bool
keys_fit(const Spec *spec, const uint32_t *keys, uint32_t mask)
{
    uint32_t differ = 0;
    int n = spec->ignored != NULL ? 0 : spec->nargs;
    for (int i = 0; i < n; i++) {
        differ |= (keys[i] ^ spec->keys[i]) & mask;
    }
    return differ == 0;
}

static bool
consts_fit(const Spec *spec, PyObject *const *args, bool open)
{
    for (int i = 0; i < spec->nconsts; i++) {
        PyObject *value = spec->consts[i].value;
        PyObject *got = args[spec->consts[i].arg];
        if (open ? !same_structure(got, value) : !same_value(got, value)) {
            return false;
        }
    }
    return true;
}

/* Every item is looked at. */
static bool
lists_fit(const Spec *spec, PyObject *const *args)
{
    for (int i = 0; i < spec->nargs; i++) {
        const Type *type = spec->sig->args[i].type;
        if (type->kind == TY_LIST && !list_fits(type, args[i])) {
            return false;
        }
    }
    return true;
}

/* Is the size of the axis part of the signature? */
static bool
is_pinned(const Spec *spec, int arg, int axis)
{
    bool pinned = false;
    for (int i = 0; i < spec->npins && !pinned; i++) {
        pinned = spec->pins[i].arg == arg && spec->pins[i].axis == axis;
    }
    return pinned;
}

bool
spec_sees_single(const Spec *spec, PyObject *const *args)
{
    for (int i = 0; i < spec->nargs; i++) {
        PyArrayObject *array = (PyArrayObject *)args[i];
        int rank = KIND(spec->keys[i]) == K_ARRAY ? RANK(spec->keys[i]) : 0;
        for (int axis = 0; axis < rank; axis++) {
            if (PyArray_DIM(array, axis) == 1 && !is_pinned(spec, i, axis)) {
                return true;
            }
        }
    }
    return false;
}

bool
spec_pins_hold(const Spec *spec, PyObject *const *args)
{
    bool hold = true;
    for (int i = 0; i < spec->npins && hold; i++) {
        hold = pin_holds(&spec->pins[i], args[spec->pins[i].arg]);
    }
    return hold;
}

bool
spec_accepts(const Spec *spec, const uint32_t *keys, PyObject *const *args)
{
    uint32_t mask = mask_of(spec->width);
    return keys_fit(spec, keys, mask)
           && (spec->ignored == NULL || records_same(spec, keys, mask))
           && !(spec->width.layout && spec_is_too_wide(spec, keys))
           && spec_pins_hold(spec, args)
           && consts_fit(spec, args, spec->width.tuples)
           && (!spec->has_lists || lists_fit(spec, args))
           && !(spec->no_singles && spec_sees_single(spec, args));
}

bool
spec_almost_accepts(const Spec *spec, const uint32_t *keys,
                    PyObject *const *args)
{
    uint32_t mask = ~KEY_ANY_LAYOUT;
    return keys_fit(spec, keys, mask)
           && (spec->ignored == NULL || records_same(spec, keys, mask))
           && consts_fit(spec, args, true);
}

/* --- signatures ---------------------------------------------------------- */

/* The types of a signature are general: float32[:, :], int.  Actual sizes and
 * values stand beside them, and inference makes those part of the type that it
 * can't do without, a few channels or a flag that decides on a type. */

/* Sizes are not part of the type until inference asks for them. */
static void
array_arg(Arena *arena, PyArrayObject *array, uint32_t key, SigArg *out)
{
    Type *type = ARENA_NEW(arena, Type);
    type->kind = TY_ARRAY;
    type->dtype = DTYPE(key);
    type->rank = RANK(key);
    type->packed = (key & KEY_LAYOUT) != 0;
    type->layout = key & KEY_FORTRAN ? LAYOUT_F
                   : type->packed    ? LAYOUT_C
                   : key & KEY_ROWS  ? LAYOUT_ROWS
                                     : LAYOUT_ANY;
    steps_of_key(key, type);
    for (int i = 0; i < MAX_RANK; i++) {
        type->size[i] = -1;
        out->sizes[i] = i < type->rank ? PyArray_DIM(array, i) : 0;
    }
    out->type = type;
}

/* A number's general type has no known value; the actual one stands beside
 * it for inference to pin. */
static void
number_arg(Arena *arena, const Type *known, SigArg *out)
{
    Type *type = arena_copy(arena, known, sizeof(*known));
    out->ival = type->ival;
    out->fval = type->fval;
    type->known = false;
    type->ival = 0;
    type->fval = 0;
    out->type = type;
}

/* Python's number has no dtype in its key. */
static const Type *
complex_arg(Arena *arena, uint32_t key)
{
    DType dt = DTYPE(key);
    return dt == DT_BOOL ? type_complex(arena) : type_pair(arena, dt, false);
}

/* The tuple with numbers of unknown values, which become parameters. */
static const Type *
open_tuple(Arena *arena, const Type *type)
{
    Type *out = arena_copy(arena, type, sizeof(*type));
    if (type->kind == TY_NUM) {
        out->known = false;
        out->ival = 0;
        out->fval = 0;
    }
    if (type->kind == TY_TUPLE) {
        out->items = ARENA_ARRAY(arena, const Type *, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            out->items[i] = open_tuple(arena, type->items[i]);
        }
    }
    return out;
}

/* Ints beyond 64 bits have the key of an int, but no native value: the call is
 * Python's. */
bool
args_fit(PyObject *const *args, int nargs)
{
    for (int i = 0; i < nargs; i++) {
        int overflow = 0;
        if (PyLong_CheckExact(args[i])) {
            (void)PyLong_AsLongLongAndOverflow(args[i], &overflow);
        }
        if (overflow != 0) {
            return false;
        }
    }
    return true;
}

/* Keys were made from the same arguments, which fit (args_fit). */
bool
signature_make(Arena *arena, PyObject *const *args, const uint32_t *keys,
               int nargs, Width width, Signature *out)
{
    out->nargs = nargs;
    out->open_sizes = width.sizes;
    out->open_values = width.values;
    out->args = ARENA_ARRAY(arena, SigArg, nargs + 1);
    for (int i = 0; i < nargs; i++) {
        uint32_t key =
            KIND(keys[i]) == K_ARRAY ? keys[i] & mask_of(width) : keys[i];
        if (KIND(key) == K_ARRAY) {
            array_arg(arena, (PyArrayObject *)args[i], key, &out->args[i]);
            continue;
        }
        bool list = KIND(key) == K_LIST;
        if (KIND(key) >= K_RECORD) {
            out->args[i].type = type_kind(arena, TY_RECORD);
            continue;
        }
        const Type *type = list ? list_arg_type(arena, args[i])
                           : KIND(key) == K_COMPLEX
                               ? complex_arg(arena, key)
                               : type_of_value(arena, args[i]);
        if (type == NULL) {
            return false;
        }
        if (type->kind == TY_NUM) {
            number_arg(arena, type, &out->args[i]);
        } else {
            bool open = width.tuples && type->kind == TY_TUPLE;
            out->args[i].type = open ? open_tuple(arena, type) : type;
        }
    }
    return true;
}

/* Then the argument's value is part of the signature. */
bool
key_has_const(uint32_t key)
{
    return KIND(key) == K_STR || KIND(key) == K_TUPLE;
}

/* --- filling ------------------------------------------------------------- */

/* Here and only here is looked at what a signature leaves open: the sizes, and
 * whether an array that is written may be. */

/* Axes are taken by growing stride.  'reach' is the number of bytes from the
 * first byte of the part seen so far to just after its last one; if the next
 * stride is no smaller, shifted copies of that part are disjoint.  By
 * induction all elements are.  May two elements share bytes?  True is always
 * safe to say. */
static bool
overlaps_itself(PyArrayObject *array)
{
    int rank = PyArray_NDIM(array);
    npy_intp reach = PyArray_ITEMSIZE(array);
    bool done[MAX_RANK] = {false};
    for (int round = 0; round < rank; round++) {
        int least = -1;
        npy_intp stride = 0;
        for (int i = 0; i < rank; i++) {
            npy_intp size = PyArray_STRIDE(array, i);
            size = size < 0 ? -size : size;
            if (!done[i] && (least < 0 || size < stride)) {
                least = i;
                stride = size;
            }
        }
        done[least] = true;
        npy_intp dim = PyArray_DIM(array, least);
        if (dim > 1 && stride < reach) {
            return true;
        }
        reach += dim > 1 ? (dim - 1) * stride : 0;
    }
    return false;
}

_Static_assert(sizeof(VzSlot) == sizeof(int64_t), "slots are read as dims");

/* The last axis of an array of complex numbers: real and imaginary part. */
static void
fill_pairs(PyArrayObject *array, int rank, VzSlot *slot)
{
    slot[rank].i = 2;
    slot[2 * rank].i = PyArray_ITEMSIZE(array) / 2;
}

/* The slots' dims and strides are referred to, not the array's own: another
 * thread may give it a new shape while the kernel runs. */
static void
keep_undo(Call *call, const Fill *fill, PyArrayObject *array,
          const VzSlot *slot)
{
    bool pairs = dtype_is_complex(fill->dtype);
    int rank = fill->rank;
    UndoArray *undo = &call->undo_arrays[call->undo.narrays++];
    *undo = (UndoArray){
        .data = PyArray_BYTES(array),
        .itemsize = (int)PyArray_ITEMSIZE(array) / (1 + pairs),
        .rank = rank,
        .dims = &slot[1].i,
        .strides = &slot[1 + rank].i,
    };
}

/* All that the kernel will touch is tested here; see EXTENT_LIMIT. */
static FillStatus
fill_array(Call *call, const Fill *fill, PyObject *object, VzSlot *slot)
{
    PyArrayObject *array = (PyArrayObject *)object;
    const npy_intp *dims = PyArray_DIMS(array);
    const npy_intp *strides = PyArray_STRIDES(array);
    npy_intp elements = 1;
    bool large = false;
    slot[0].p = PyArray_DATA(array);
    bool pairs = dtype_is_complex(fill->dtype);
    for (int i = 0; i < fill->rank - pairs; i++) {
        int at = fill->turned ? fill->rank - 1 - i : i;
        slot[1 + at].i = dims[i];
        slot[1 + fill->rank + at].i = strides[i];
        large |= dims[i] >= EXTENT_LIMIT;
        large |= __builtin_mul_overflow(elements, dims[i], &elements);
    }
    if (pairs) {
        fill_pairs(array, fill->rank, slot);
    }
    if (large || elements > ELEMENT_LIMIT) {
        return FILL_PYTHON;
    }
    if (fill->writes) {
        int flags = PyArray_FLAGS(array);
        if (!(flags & NPY_ARRAY_WRITEABLE) || (flags & WARN_ON_WRITE)) {
            return FILL_READONLY;
        }
        bool packed = (flags & NPY_ARRAY_C_CONTIGUOUS) != 0;
        call->overlaps_itself |= !packed && overlaps_itself(array);
        call->written += (double)PyArray_NBYTES(array);
        keep_undo(call, fill, array, slot);
    }
    call->elements += (double)elements;
    return FILL_OK;
}

/* Types have been compared by keys, but items of tuples haven't. */
static FillStatus
fill_scalar(const Fill *fill, PyObject *object, VzSlot *slot)
{
    DType dt;
    if (PyFloat_CheckExact(object)) {
        slot->f = PyFloat_AS_DOUBLE(object);
    } else if (PyLong_CheckExact(object)) {
        int overflow;
        slot->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            return FILL_PYTHON;
        }
    } else if (PyBool_Check(object)) {
        slot->i = object == Py_True;
    } else if (scalar_dtype(Py_TYPE(object), &dt) && dt == fill->dtype) {
        *slot = scalar_slot(object, dt);
    } else {
        return FILL_PYTHON;
    }
    return FILL_OK;
}

/* The real or imaginary part of a complex number. */
static FillStatus
fill_part(const Fill *fill, PyObject *object, VzSlot *slot)
{
    *slot = complex_slot(object, fill->part - 1);
    return FILL_OK;
}

/* In the order of the kernel's parameters. */
FillStatus
call_fill(Call *call)
{
    const Kernel *kernel = call->kernel;
    VzSlot *slot = call->in;
    for (int i = 0; i < kernel->nfills; i++) {
        const Fill *fill = &kernel->fills[i];
        PyObject *object = call->args[fill->arg];
        if (fill->is_column) {
            slot += 1 + 2 * fill->rank;
            continue;
        }
        for (int k = 0; k < fill->depth; k++) {
            object = PyTuple_GET_ITEM(object, fill->path[k]);
        }
        FillStatus status =
            fill->list != NULL ? fill_list(call, fill->list, object, slot)
            : fill->is_array   ? fill_array(call, fill, object, slot)
            : fill->part       ? fill_part(fill, object, slot)
                               : fill_scalar(fill, object, slot);
        if (status != FILL_OK) {
            return status;
        }
        slot += 1 + 2 * fill->rank;
    }
    return FILL_OK;
}
