/* The slots that a kernel returned -> Python objects.
 *
 *     return total / n, out     (float, array)
 *       leaf NUM    float64 weak  -> PyFloat; strong -> np.float64
 *       leaf FRESH  the array that host_result made
 *
 * Leaves stand in the order in which the result type's tuples are read.  A
 * number that may be something else ("alt") has a flag in the slot after it.
 */
#include "csrc/py/records.h"

typedef struct Reader {
    Call *call;
    const Lowered *lowered;
    int next; /* leaf */
} Reader;

/* --- numbers ------------------------------------------------------------- */

/* A returned number needs one slot, its flag, if it may be something else, the
 * next.  Weak and strong numbers with equal values are different objects to
 * Python: 1.5 and np.float64(1.5) divide by zero differently. */

/* What Python's own arithmetic would have made. */
PyObject *
weak_number(DType dt, VzSlot slot)
{
    if (dt == DT_BOOL) {
        return PyBool_FromLong(slot.i != 0);
    }
    return dtype_is_float(dt) ? PyFloat_FromDouble(slot.f)
                              : PyLong_FromLongLong(slot.i);
}

/* Writes the slot as an element of 'dt'. */
static void
store_slot(void *at, DType dt, VzSlot slot)
{
    switch (dt) {
    case DT_F64:
        memcpy(at, &slot.f, sizeof(slot.f));
        break;
    case DT_F32: {
        float value = (float)slot.f;
        memcpy(at, &value, sizeof(value));
        break;
    }
    case DT_BOOL:
        *(npy_bool *)at = slot.i != 0;
        break;
    default: /* the low bytes come first: little endian is assumed */
        memcpy(at, &slot.i, (size_t)dtype_size(dt));
        break;
    }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "store_slot");

/* What NumPy's scalar arithmetic would have made; float64, the commonest,
 * without a detour. */
PyObject *
strong_number(DType dt, VzSlot slot)
{
    if (dt == DT_BOOL) {
        return Py_NewRef(slot.i ? PyArrayScalar_True : PyArrayScalar_False);
    }
    if (dt == DT_F64) {
        PyObject *out = PyArrayScalar_New(Double);
        if (out != NULL) {
            PyArrayScalar_ASSIGN(out, Double, slot.f);
        }
        return out;
    }
    int64_t raw = 0;
    store_slot(&raw, dt, slot);
    PyArray_Descr *descr = PyArray_DescrFromType(dtype_type_num(dt));
    PyObject *out = descr ? PyArray_Scalar(&raw, descr, NULL) : NULL;
    Py_XDECREF(descr);
    return out;
}

/* The alternative of a number whose flag is set: the same number as a Python
 * object, or None. */
PyObject *
alternative(const Type *type, VzSlot slot)
{
    bool is_float = dtype_is_float(dtype_part(type->dtype));
    switch (type->alt) {
    case ALT_NONE:
        Py_RETURN_NONE;
    case ALT_BOOL:
        return PyBool_FromLong(is_float ? slot.f != 0 : slot.i != 0);
    case ALT_INT:
        return is_float ? PyLong_FromDouble(slot.f)
                        : PyLong_FromLongLong(slot.i);
    default:
        return PyFloat_FromDouble(is_float ? slot.f : (double)slot.i);
    }
}

/* A number that is not its alternative. */
static PyObject *
number(const Call *call, const Leaf *leaf)
{
    const Type *type = leaf->type;
    VzSlot slot = call->out[call->kernel->out_at[leaf->ret]];
    return type->weak ? weak_number(type->dtype, slot)
                      : strong_number(type->dtype, slot);
}

/* The two parts of a complex number as Python's. */
static PyObject *
pythons_complex(const Call *call, const Leaf *leaf)
{
    const int *out_at = call->kernel->out_at;
    return PyComplex_FromDoubles(call->out[out_at[leaf->ret]].f,
                                 call->out[out_at[leaf->ret + 1]].f);
}

/* A scalar of NumPy's from its parts. */
PyObject *
strong_complex(DType dt, const VzSlot *parts)
{
    char raw[2 * sizeof(double)];
    for (int i = 0; i < 2; i++) {
        store_slot(raw + i * dtype_size(dt) / 2, dtype_part(dt), parts[i]);
    }
    PyArray_Descr *descr = PyArray_DescrFromType(dtype_type_num(dt));
    PyObject *out = descr ? PyArray_Scalar(raw, descr, NULL) : NULL;
    Py_XDECREF(descr);
    return out;
}

/* The same, or as a scalar of NumPy's. */
static PyObject *
complex_number(const Call *call, const Leaf *leaf)
{
    VzSlot parts[2];
    for (int i = 0; i < 2; i++) {
        parts[i] = call->out[call->kernel->out_at[leaf->ret + i]];
    }
    return leaf->type->weak ? pythons_complex(call, leaf)
                            : strong_complex(leaf->type->dtype, parts);
}

/* --- arrays and constants ------------------------------------------------ */

/* Arrays that the kernel made are results already.  Small ones that it kept in
 * registers come in slots, one per element, and become arrays here. */

/* C order, however many axes the type has. */
static PyObject *
vector(const Call *call, const Leaf *leaf)
{
    const Expr *value = call->kernel->result->func->rets.at[leaf->ret].value;
    npy_intp dims[MAX_RANK] = {value->lanes};
    int rank = leaf->type->rank > 0 ? leaf->type->rank : 1;
    npy_intp count = 1;
    for (int i = 0; i < rank && leaf->type->rank > 0; i++) {
        dims[i] = leaf->type->size[i] < 0 ? value->lanes : leaf->type->size[i];
        count *= dims[i];
    }
    DType dt = value->dtype;
    PyObject *array = PyArray_SimpleNew(rank, dims, dtype_type_num(dt));
    if (array == NULL) {
        return NULL;
    }
    char *at = PyArray_BYTES((PyArrayObject *)array);
    const VzSlot *slots = &call->out[call->kernel->out_at[leaf->ret]];
    for (int i = 0; i < value->lanes && i < count; i++) {
        store_slot(at + i * dtype_size(dt), dt, slots[i]);
    }
    return array;
}

/* --- views ---------------------------------------------------------------- */

/* Parts of arguments and results are made by NumPy itself, so that strides,
 * base and flags are those that the program would have got. */

/* Number 'i' of a step. */
static npy_intp
number_of(const Call *call, const LeafStep *step, int i)
{
    const LeafNumber *number = &step->numbers[i];
    return number->ret < 0
               ? (npy_intp)number->value
               : (npy_intp)call->out[call->kernel->out_at[number->ret]].i;
}

/* slice(start, ..., step) of 'n' elements. */
static PyObject *
slice_of(npy_intp start, npy_intp n, npy_intp step)
{
    npy_intp stop = start + n * step;
    if (n == 0) {
        start = stop = 0;
    }
    PyObject *first = PyLong_FromSsize_t(start);
    PyObject *by = PyLong_FromSsize_t(step);
    PyObject *end =
        stop < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(stop);
    PyObject *slice = first && by && end ? PySlice_New(first, end, by) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(by);
    Py_XDECREF(end);
    return slice;
}

/* The index that fixes and slices the axes of the array; `...` behind them
 * makes an array even of an element. */
static PyObject *
step_index(const Call *call, const LeafStep *step)
{
    PyObject *index = PyTuple_New(step->nbase + 1);
    int at = 0;
    for (int i = 0; index != NULL && i < step->nbase; i++) {
        PyObject *item;
        if (step->fixed[i]) {
            item = PyLong_FromSsize_t(number_of(call, step, at));
            at++;
        } else {
            item = slice_of(number_of(call, step, at),
                            number_of(call, step, at + 1),
                            number_of(call, step, at + 2));
            at += 3;
        }
        if (item == NULL) {
            Py_CLEAR(index);
        } else {
            PyTuple_SET_ITEM(index, i, item);
        }
    }
    if (index != NULL) {
        PyTuple_SET_ITEM(index, step->nbase, Py_NewRef(Py_Ellipsis));
    }
    return index;
}

/* The axes in the order of the view; takes 'array'. */
static PyObject *
ordered(PyObject *array, const LeafStep *step)
{
    npy_intp order[MAX_RANK];
    bool same = true;
    int n = 0;
    for (int k = 0; k < step->rank; k++) {
        if (step->axis[k] >= 0) {
            int place = 0;
            for (int i = 0; i < step->axis[k]; i++) {
                place += !step->fixed[i];
            }
            same &= place == n;
            order[n++] = place;
        }
    }
    /* axes of one element that are dropped have been fixed, so all are here */
    if (same) {
        return array;
    }
    PyArray_Dims dims = {order, n};
    PyObject *out = PyArray_Transpose((PyArrayObject *)array, &dims);
    Py_DECREF(array);
    return out;
}

/* New axes where the view has them; takes 'array'. */
static PyObject *
widened(PyObject *array, const LeafStep *step)
{
    bool any = false;
    PyObject *index = PyTuple_New(step->rank);
    for (int k = 0; index != NULL && k < step->rank; k++) {
        bool fresh = step->axis[k] < 0;
        PyObject *item = fresh ? Py_NewRef(Py_None)
                               : PySlice_New(NULL, NULL, NULL);
        any |= fresh;
        if (item == NULL) {
            Py_CLEAR(index);
        } else {
            PyTuple_SET_ITEM(index, k, item);
        }
    }
    PyObject *out = index == NULL ? NULL
                    : any         ? PyObject_GetItem(array, index)
                                  : Py_NewRef(array);
    Py_XDECREF(index);
    Py_DECREF(array);
    return out;
}

/* One step further; takes 'array'. */
static PyObject *
take_step(const Call *call, PyObject *array, const LeafStep *step)
{
    PyObject *out;
    if (step->packed) {
        npy_intp sizes[MAX_RANK];
        for (int k = 0; k < step->rank; k++) {
            sizes[k] = number_of(call, step, k);
        }
        PyArray_Dims dims = {sizes, step->rank};
        out = PyArray_Newshape((PyArrayObject *)array, &dims, NPY_CORDER);
        Py_DECREF(array);
        return out;
    }
    PyObject *index = step_index(call, step);
    out = index ? PyObject_GetItem(array, index) : NULL;
    Py_XDECREF(index);
    Py_DECREF(array);
    out = out ? ordered(out, step) : NULL;
    out = out ? widened(out, step) : NULL;
    if (out != NULL && step->part > 0) {
        PyObject *whole = out;
        out = PyObject_GetAttrString(whole, step->part == 1 ? "real" : "imag");
        Py_DECREF(whole);
    }
    return out;
}

/* Is the argument a parameter of the kernel with its axes reversed? */
static bool
arg_is_turned(const Call *call, int arg)
{
    for (int i = 0; i < call->kernel->nfills; i++) {
        const Fill *fill = &call->kernel->fills[i];
        if (fill->is_array && fill->arg == arg) {
            return fill->turned;
        }
    }
    return false;
}

/* A part of an argument or of an array that the kernel made. */
static PyObject *
view(const Call *call, const Leaf *leaf)
{
    PyObject *array =
        leaf->arg >= 0                 ? call->args[leaf->arg]
        : leaf->ret < call->nresults ? (PyObject *)call->results[leaf->ret]
                                       : NULL;
    if (array == NULL) {
        PyErr_SetString(PyExc_SystemError, "vizgen: a result was not made");
        return NULL;
    }
    bool turned = leaf->arg < 0 ? result_is_fortran(call, leaf->ret)
                                : arg_is_turned(call, leaf->arg);
    array = turned ? PyArray_Transpose((PyArrayObject *)array, NULL)
                   : Py_NewRef(array);
    for (int i = 0; array != NULL && i < leaf->steps.n; i++) {
        array = take_step(call, array, &leaf->steps.at[i]);
    }
    return array;
}

/* Compiled in, so nothing is read from the call. */
static PyObject *
constant(const Type *type)
{
    VzSlot slot = {.i = type->ival};
    if (dtype_is_float(type->dtype)) {
        slot.f = type->fval;
    }
    switch (type->kind) {
    case TY_NUM:
        return type->weak ? weak_number(type->dtype, slot)
                          : strong_number(type->dtype, slot);
    case TY_STR:
        return PyUnicode_FromString(type->name);
    default:
        Py_RETURN_NONE;
    }
}

/* Is the value the alternative of its type? */
static bool
is_alternative(const Call *call, const Leaf *leaf)
{
    return leaf->flag >= 0 && call->out[call->kernel->out_at[leaf->flag]].i;
}

/* Of a vector, any lane holds the number; arrays in memory have None only. */
static VzSlot
first_slot(const Call *call, const Leaf *leaf)
{
    bool slots = leaf->kind == LEAF_NUM || leaf->kind == LEAF_VECTOR ||
                 leaf->kind == LEAF_COMPLEX;
    return slots ? call->out[call->kernel->out_at[leaf->ret]]
                 : (VzSlot){.i = 0};
}

/* The number of the array of a leaf; 0: it is none that has one. */
static int64_t
which_array(const Call *call, const Leaf *leaf)
{
    if (is_alternative(call, leaf)) {
        return 0;
    }
    return leaf->kind == LEAF_FRESH ? leaf->which
           : leaf->kind == LEAF_REF
               ? call->out[call->kernel->out_at[leaf->which]].i
               : 0;
}

/* An argument, or the first result that is the same array: one that the kernel
 * made as a result if there is one. */
static PyObject *
referred(const Call *call, const Leaf *leaf)
{
    const Lowered *lowered = call->kernel->result->lowered;
    int64_t which = which_array(call, leaf);
    if (which > 0 && which < WHICH_RESULT) {
        return Py_NewRef(call->args[which - 1]);
    }
    const Leaf *first = leaf;
    for (int i = lowered->leaves.n - 1; i >= 0; i--) {
        const Leaf *other = &lowered->leaves.at[i];
        bool same = which_array(call, other) == which;
        if (same && (other->kind == LEAF_FRESH || first->kind == LEAF_REF)) {
            first = other;
        }
    }
    return Py_NewRef(call->results[first->ret]);
}

/* A fresh array that is returned twice is the same object twice, as in
 * Python. */
static PyObject *
leaf_object(Call *call, const Leaf *leaf)
{
    if (is_alternative(call, leaf)) {
        return leaf->type->alt == ALT_COMPLEX
                   ? pythons_complex(call, leaf)
                   : alternative(leaf->type, first_slot(call, leaf));
    }
    switch (leaf->kind) {
    case LEAF_NUM:
        return number(call, leaf);
    case LEAF_VECTOR:
        return vector(call, leaf);
    case LEAF_LIST:
        return list_leaf(call, leaf);
    case LEAF_ROW:
        return row_leaf(call, leaf);
    case LEAF_COMPLEX:
        return complex_number(call, leaf);
    case LEAF_ARG:
        return Py_NewRef(call->args[leaf->arg]);
    case LEAF_VIEW:
        return view(call, leaf);
    case LEAF_REF:
        return referred(call, leaf);
    case LEAF_FRESH:
        if (leaf->ret < call->nresults && call->results[leaf->ret]) {
            return Py_NewRef(call->results[leaf->ret]);
        }
        PyErr_SetString(PyExc_SystemError, "vizgen: a result was not made");
        return NULL;
    default:
        return constant(leaf->type);
    }
}

/* Leaves of a result of this type. */
static int
count_leaves(const Type *type)
{
    int n = !type_is_pack(type) || type->alt == ALT_NONE;
    for (int i = 0; type_is_pack(type) && i < type->rank; i++) {
        n += count_leaves(type->items[i]);
    }
    return n;
}

static PyObject *build(Reader *reader, const Type *type);

/* A dict of the keys and values, in their order. */
static PyObject *
mapping(Reader *reader, const Type *type)
{
    PyObject *keys = build(reader, type->items[0]);
    PyObject *values = keys ? build(reader, type->items[1]) : NULL;
    PyObject *out = values ? PyDict_New() : NULL;
    Py_ssize_t n = out ? PyList_GET_SIZE(keys) : 0;
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *value = PyList_GetItem(values, i);
        if (value == NULL
            || PyDict_SetItem(out, PyList_GET_ITEM(keys, i), value) < 0) {
            Py_CLEAR(out);
        }
    }
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return out;
}

/* Leaves are consumed in the order in which the tuples are written. */
static PyObject *
build(Reader *reader, const Type *type)
{
    if (!type_is_pack(type)) {
        const Leaf *leaf = &reader->lowered->leaves.at[reader->next++];
        return leaf_object(reader->call, leaf);
    }
    if (type->alt == ALT_NONE) {
        const Leaf *leaf = &reader->lowered->leaves.at[reader->next++];
        if (is_alternative(reader->call, leaf)) {
            for (int i = 0; i < type->rank; i++) {
                reader->next += count_leaves(type->items[i]);
            }
            Py_RETURN_NONE;
        }
    }
    if (type->kind == TY_EITHER) {
        return build(reader, type->items[0]);
    }
    if (type->kind == TY_MAPPING) {
        return mapping(reader, type);
    }
    PyObject *out = type->is_list ? PyList_New(type->rank)
                                  : PyTuple_New(type->rank);
    for (int i = 0; out != NULL && i < type->rank; i++) {
        PyObject *item = build(reader, type->items[i]);
        if (item == NULL) {
            Py_CLEAR(out);
        } else if (type->is_list) {
            PyList_SET_ITEM(out, i, item);
        } else {
            PyTuple_SET_ITEM(out, i, item);
        }
    }
    return type->class ? maker_call(reader->call, type, out) : out;
}

/* Sets attributes of arguments, once all values are there. */
static bool
commit(Call *call)
{
    const Lowered *lowered = call->kernel->result->lowered;
    PyObject *values[MAX_RESULTS] = {NULL};
    int n = lowered->commits.n;
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        const Commit *at = &lowered->commits.at[i];
        Reader reader = {.call = call, .lowered = lowered, .next = at->leaf};
        if (at->flag < 0 || call->out[call->kernel->out_at[at->flag]].i) {
            values[i] = build(&reader, at->type);
            ok = values[i] != NULL;
        }
    }
    ok = ok && records_commit(call, values, n) == 0;
    for (int i = 0; i < n; i++) {
        Py_XDECREF(values[i]);
    }
    return ok;
}

/* NULL with an exception only when memory is out. */
PyObject *
call_result(Call *call)
{
    Reader reader = {.call = call,
                     .lowered = call->kernel->result->lowered};
    PyObject *out = build(&reader, reader.lowered->result);
    if (out != NULL && reader.lowered->commits.n > 0 && !commit(call)) {
        Py_CLEAR(out);
    }
    return out;
}
