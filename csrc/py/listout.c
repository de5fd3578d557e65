/* Lists of run-time length as results.
 *
 *     [(3, 0.5), (4, None)]     results: 3 4 | 0.5 0.0 | false true
 *
 * A kernel keeps a list as columns: one growable array for each number of an
 * item, one more for each flag that says that it is the alternative.  Arrays
 * in a list have their elements in one column, then where each begins, then its
 * extents.  The columns are read here in the order in which they were made.
 *
 * Lists in lists are numbers of a heap (csrc/lower/listheap.c).  Each is made
 * when it is first asked for, and kept as long as the call is: a list that is
 * in two places is one object.
 */
#include "csrc/py/records.h"

/* Columns of a list: result arrays, one after the other from number "ret". */
typedef struct Columns {
    Call *call;
    int ret;
} Columns;

/* Element 'k' of the next column. */
static VzSlot
column_slot(Columns *columns, DType dt, Py_ssize_t k)
{
    PyArrayObject *array =
        (PyArrayObject *)columns->call->results[columns->ret++];
    const char *at = PyArray_BYTES(array) + k * dtype_size(dt);
    VzSlot slot = {.i = 0};
    if (dt == DT_F32) {
        float value;
        memcpy(&value, at, sizeof(value));
        slot.f = value;
        return slot;
    }
    memcpy(&slot, at, (size_t)dtype_size(dt));
    if (dtype_is_int(dt) && dtype_is_signed(dt)) {
        int shift = 64 - 8 * dtype_size(dt);
        slot.i = (int64_t)((uint64_t)slot.i << shift) >> shift;
    }
    return slot;
}

/* A complex number: its flag, if it has one, then its parts. */
static PyObject *
complex_item(Columns *columns, const Type *type, Py_ssize_t k)
{
    VzSlot parts[2];
    bool alt = type->alt != ALT_NEVER && column_slot(columns, DT_BOOL, k).i;
    for (int i = 0; i < 2; i++) {
        parts[i] = column_slot(columns, dtype_part(type->dtype), k);
    }
    if (alt && type->alt != ALT_COMPLEX) {
        return alternative(type, parts[0]);
    }
    return type->weak || alt ? PyComplex_FromDoubles(parts[0].f, parts[1].f)
                             : strong_complex(type->dtype, parts);
}

/* A small array: a number from each of the next columns. */
static PyObject *
vector_item(Columns *columns, const Type *type, Py_ssize_t k)
{
    npy_intp n = type->size[0];
    int number = dtype_type_num(type->dtype);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(1, &n, number);
    int size = dtype_size(type->dtype);
    for (npy_intp i = 0; out != NULL && i < n; i++) {
        PyArrayObject *column =
            (PyArrayObject *)columns->call->results[columns->ret + i];
        memcpy(PyArray_BYTES(out) + i * size, PyArray_BYTES(column) + k * size,
               (size_t)size);
    }
    columns->ret += (int)n;
    return (PyObject *)out;
}

/* An array: a copy of its elements among those of all. */
static PyObject *
array_item(Columns *columns, const Type *type, Py_ssize_t k)
{
    npy_intp dims[MAX_RANK];
    PyArrayObject *data =
        (PyArrayObject *)columns->call->results[columns->ret++];
    int64_t start = column_slot(columns, DT_I64, k).i;
    for (int i = 0; i < type->rank; i++) {
        dims[i] = type->size[i] >= 0 ? type->size[i]
                                     : column_slot(columns, DT_I64, k).i;
    }
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(
        type->rank, dims, dtype_type_num(type->dtype));
    if (out != NULL) {
        memcpy(PyArray_BYTES(out),
               PyArray_BYTES(data) + start * dtype_size(type->dtype),
               (size_t)PyArray_NBYTES(out));
    }
    return (PyObject *)out;
}

static PyObject *list_item(Columns *columns, const Type *type, Py_ssize_t k);

/* Items [from, from + n) of the columns from number 'ret' on. */
static PyObject *
items_object(Call *call, const Type *item, int ret, Py_ssize_t from,
             Py_ssize_t n)
{
    PyObject *out = PyList_New(n);
    for (Py_ssize_t k = 0; out != NULL && k < n; k++) {
        Columns columns = {.call = call, .ret = ret};
        PyObject *value = list_item(&columns, item, from + k);
        if (value == NULL) {
            Py_CLEAR(out);
        } else {
            PyList_SET_ITEM(out, k, value);
        }
    }
    return out;
}

/* Results up to number 'ret' have a place. */
static void
reach_result(Call *call, int ret)
{
    while (call->nresults <= ret) {
        call->results[call->nresults++] = NULL;
    }
}

/* The lists of the heap of 'type' that were made so far, None for others; they
 * are kept as the result that says how many there are. */
static PyObject *
heap_lists(Call *call, int ret)
{
    reach_result(call, ret);
    if (call->results[ret] == NULL) {
        Py_ssize_t n = (Py_ssize_t)call->out[call->kernel->out_at[ret]].i;
        PyObject *lists = PyList_New(n);
        for (Py_ssize_t i = 0; lists != NULL && i < n; i++) {
            PyList_SET_ITEM(lists, i, Py_NewRef(Py_None));
        }
        call->results[ret] = lists;
    }
    return call->results[ret];
}

/* List number 'id' of the heap of its type. */
static PyObject *
heap_list(Call *call, const Type *type, Py_ssize_t id)
{
    const Lowered *lowered = call->kernel->result->lowered;
    int ret = -1;
    for (int i = 0; i < lowered->heaps.n; i++) {
        const HeapLeaf *heap = &lowered->heaps.at[i];
        ret = heap->object == type->object ? heap->ret : ret;
    }
    PyObject *lists = ret < 0 ? NULL : heap_lists(call, ret);
    if (lists == NULL || id < 0 || id >= PyList_GET_SIZE(lists)) {
        PyErr_SetString(PyExc_SystemError, "vizgen: a list was not made");
        return NULL;
    }
    PyObject *out = PyList_GET_ITEM(lists, id);
    if (out == Py_None) {
        Columns columns = {.call = call, .ret = ret + 1};
        Py_ssize_t from = (Py_ssize_t)column_slot(&columns, DT_I64, id).i;
        Py_ssize_t n = (Py_ssize_t)column_slot(&columns, DT_I64, id).i;
        const Type *item = type->rank > 0 ? type->items[0] : type;
        out = items_object(call, item, columns.ret, from, n);
        if (out == NULL) {
            return NULL;
        }
        PyList_SetItem(lists, id, out); /* which takes it */
    }
    return Py_NewRef(out);
}

PyObject *
row_leaf(Call *call, const Leaf *leaf)
{
    int64_t id = call->out[call->kernel->out_at[leaf->ret]].i;
    return heap_list(call, leaf->type, (Py_ssize_t)id);
}

/* Item 'k'; the columns are read in the order in which they were made. */
static PyObject *
list_item(Columns *columns, const Type *type, Py_ssize_t k)
{
    if (type->kind == TY_NUM) {
        VzSlot slot = column_slot(columns, type->dtype, k);
        if (type->alt != ALT_NEVER && column_slot(columns, DT_BOOL, k).i) {
            return alternative(type, slot);
        }
        return type->weak ? weak_number(type->dtype, slot)
                          : strong_number(type->dtype, slot);
    }
    if (type->kind == TY_COMPLEX) {
        return complex_item(columns, type, k);
    }
    if (type->kind == TY_ARRAY) {
        return type->memory ? array_item(columns, type, k)
                            : vector_item(columns, type, k);
    }
    if (type->kind == TY_LIST) {
        int64_t id = column_slot(columns, DT_I64, k).i;
        return heap_list(columns->call, type, (Py_ssize_t)id);
    }
    if (type->kind != TY_TUPLE) {
        Py_RETURN_NONE;
    }
    PyObject *out = type->is_list ? PyList_New(type->rank)
                                  : PyTuple_New(type->rank);
    for (int i = 0; out != NULL && i < type->rank; i++) {
        PyObject *item = list_item(columns, type->items[i], k);
        if (item == NULL) {
            Py_CLEAR(out);
        } else if (type->is_list) {
            PyList_SET_ITEM(out, i, item);
        } else {
            PyTuple_SET_ITEM(out, i, item);
        }
    }
    return type->class ? maker_call(columns->call, type, out) : out;
}

/* A list of run-time length from its columns. */
static PyObject *
list_object(Call *call, const Leaf *leaf)
{
    const Type *type = leaf->type;
    const int *out_at = call->kernel->out_at;
    Py_ssize_t n = (Py_ssize_t)call->out[out_at[leaf->ret]].i;
    return items_object(call, type->items[0], leaf->ret + 1, 0, n);
}

/* The list is a result already if it is returned twice. */
PyObject *
list_leaf(Call *call, const Leaf *leaf)
{
    const Lowered *lowered = call->kernel->result->lowered;
    reach_result(call, leaf->ret);
    if (call->results[leaf->ret] != NULL) {
        return Py_NewRef(call->results[leaf->ret]);
    }
    PyObject *out = list_object(call, leaf);
    int uses = 0;
    for (int i = 0; i < lowered->leaves.n; i++) {
        const Leaf *other = &lowered->leaves.at[i];
        uses += other->kind == LEAF_LIST && other->ret == leaf->ret;
    }
    if (uses > 1) {
        call->results[leaf->ret] = Py_XNewRef(out);
    }
    return out;
}
