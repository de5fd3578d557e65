/* List arguments: their types, and their items in the form of kernels.
 *
 *     [(0, 1.5), (2, 3)]     list of (int, float or int)
 *                            length 2; columns {0, 2} {1.5, 3} and flags {0, 1}
 *     [[1, 2], [3, 4]]       list of list of int: one column of rank 2
 *
 * The length is no part of the type; the kinds of the items are.  So whether a
 * specialisation takes a list is known only after a look at every item, which
 * costs less than the conversion that follows.
 *
 * The columns lie in scratch memory of the call and are read only.  Items may
 * change while the kernel runs, by another thread; then the call has seen them
 * as they were at its beginning.
 */
#include "csrc/py/pairs.h"

#include "typeinfer/rules.h"

/* Tuples up to this length are part of the signature, with their values. */
enum { LONG_TUPLE = 16, MOST_ITEMS = 16 };

/* Rounding starts above: ints up to here are floats. */
#define EXACT_F64 ((int64_t)1 << 53)
#define EXACT_F32 ((int64_t)1 << 24)

#define LENGTH_LIMIT ((Py_ssize_t)1 << 31)

/* --- keys ---------------------------------------------------------------- */

static bool
is_number(PyObject *object)
{
    DType dt;
    return PyLong_CheckExact(object) || PyFloat_CheckExact(object)
           || PyBool_Check(object) || scalar_dtype(Py_TYPE(object), &dt)
           || PyComplex_CheckExact(object)
           || complex_dtype(Py_TYPE(object), &dt);
}

static Py_ssize_t
size_of(PyObject *sequence)
{
    return PyList_CheckExact(sequence) ? PyList_GET_SIZE(sequence)
                                       : PyTuple_GET_SIZE(sequence);
}

static PyObject *
item_of(PyObject *sequence, Py_ssize_t k)
{
    return PyList_CheckExact(sequence) ? PyList_GET_ITEM(sequence, k)
                                       : PyTuple_GET_ITEM(sequence, k);
}

static bool
is_sequence(PyObject *object)
{
    return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/* A list whose first item is a number, None or a sequence of such; what the
 * others are is looked at later. */
bool
is_list_arg(PyObject *object)
{
    if (!PyList_CheckExact(object)) {
        return false;
    }
    while (is_sequence(object) && size_of(object) > 0) {
        object = item_of(object, 0);
    }
    return is_sequence(object) || is_number(object) || object == Py_None;
}

/* A long tuple of numbers of one type, or of equally long tuples of numbers. */
bool
is_long_tuple(PyObject *object)
{
    if (!PyTuple_CheckExact(object) || PyTuple_GET_SIZE(object) <= LONG_TUPLE) {
        return false;
    }
    PyObject *first = PyTuple_GET_ITEM(object, 0);
    bool tuples = PyTuple_CheckExact(first);
    if (!tuples && !is_number(first)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) {
        PyObject *item = PyTuple_GET_ITEM(object, i);
        if (Py_TYPE(item) != Py_TYPE(first)
            || (tuples && PyTuple_GET_SIZE(item) != PyTuple_GET_SIZE(first))) {
            return false;
        }
    }
    return true;
}

/* --- items --------------------------------------------------------------- */

/* Where an item is kept: the columns of its numbers, in the order of the type;
 * NULL when only asked whether it fits. */
typedef struct Put {
    char **columns;
    int next;
} Put;

/* Writes a slot as element 'at' of the next column. */
static void
put_slot(Put *put, DType dt, VzSlot slot, Py_ssize_t at)
{
    if (put->columns == NULL) {
        return;
    }
    char *to = put->columns[put->next++] + at * dtype_size(dt);
    if (dt == DT_F32) {
        float value = (float)slot.f;
        memcpy(to, &value, sizeof(value));
    } else {
        memcpy(to, &slot, (size_t)dtype_size(dt));
    }
}

/* Is the number the alternative of the type?  Its value in '*slot', as the
 * type's own kind holds it. */
static bool
is_alternative(const Type *type, PyObject *object, VzSlot *slot)
{
    bool is_float = dtype_is_float(type->dtype);
    int overflow = 0;
    slot->i = 0;
    if (type->alt == ALT_NONE) {
        return object == Py_None;
    }
    if (type->alt == ALT_FLOAT && PyFloat_CheckExact(object)) {
        slot->f = PyFloat_AS_DOUBLE(object);
        return type->dtype == DT_F64
               || (type->dtype == DT_F32 && (double)(float)slot->f == slot->f);
    }
    if (type->alt == ALT_INT && PyLong_CheckExact(object)) {
        int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (!is_float) {
            slot->i = value;
            return !overflow && value >= dtype_min(type->dtype)
                   && (value < 0 || (uint64_t)value <= dtype_max(type->dtype));
        }
        int64_t most = type->dtype == DT_F64 ? EXACT_F64 : EXACT_F32;
        slot->f = (double)value;
        return !overflow && value >= -most && value <= most;
    }
    if (type->alt == ALT_BOOL && PyBool_Check(object)) {
        bool truth = object == Py_True;
        if (is_float) {
            slot->f = truth;
        } else {
            slot->i = truth;
        }
        return true;
    }
    return false;
}

/* Is the number of the type's own kind? */
static bool
is_main(const Type *type, PyObject *object, VzSlot *slot)
{
    DType dt;
    int overflow = 0;
    if (!type->weak) {
        bool same = scalar_dtype(Py_TYPE(object), &dt) && dt == type->dtype;
        if (same) {
            *slot = scalar_slot(object, dt);
        }
        return same;
    }
    switch (type->dtype) {
    case DT_F64:
        if (!PyFloat_CheckExact(object)) {
            return false;
        }
        slot->f = PyFloat_AS_DOUBLE(object);
        return true;
    case DT_BOOL:
        slot->i = object == Py_True;
        return PyBool_Check(object);
    default:
        if (!PyLong_CheckExact(object)) {
            return false;
        }
        slot->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        return !overflow;
    }
}

static bool
put_number(Put *put, const Type *type, PyObject *object, Py_ssize_t at)
{
    VzSlot slot;
    VzSlot flag = {.i = 0};
    if (!is_main(type, object, &slot)) {
        flag.i = 1;
        if (!is_alternative(type, object, &slot)) {
            return false;
        }
    }
    put_slot(put, type->dtype, slot, at);
    if (type->alt != ALT_NEVER) {
        put_slot(put, DT_BOOL, flag, at);
    }
    return true;
}

/* Its two parts. */
static bool
put_complex(Put *put, const Type *type, PyObject *object, Py_ssize_t at)
{
    DType dt;
    bool own = type->weak ? PyComplex_CheckExact(object)
                          : complex_dtype(Py_TYPE(object), &dt)
                                && dt == type->dtype;
    for (int i = 0; own && i < 2; i++) {
        put_slot(put, dtype_part(type->dtype), complex_slot(object, i), at);
    }
    return own;
}

/* "size" per level of lists in lists: all rows must have that many items. */
static bool
put_item(Put *put, const Type *type, PyObject *object, Py_ssize_t at,
         Py_ssize_t *size)
{
    if (type->kind == TY_NUM) {
        return put_number(put, type, object, at);
    }
    if (type->kind == TY_COMPLEX) {
        return put_complex(put, type, object, at);
    }
    if (type->kind == TY_NONE) {
        return object == Py_None;
    }
    bool list = type->is_list;
    if (list ? !PyList_CheckExact(object) : !PyTuple_CheckExact(object)) {
        return false;
    }
    Py_ssize_t n = size_of(object);
    if (type_is_pack(type)) {
        bool fits = n == type->rank;
        for (int i = 0; fits && i < type->rank; i++) {
            fits = put_item(put, type->items[i], item_of(object, i), at, size);
        }
        return fits;
    }
    int next = put->next;
    if (n != *size || (n > 0 && type->rank == 0)) {
        return false;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        put->next = next;
        if (!put_item(put, type->items[0], item_of(object, k), at * n + k,
                      size + 1)) {
            return false;
        }
    }
    return true;
}

/* The number of lists in one another. */
int
list_rank(const Type *type)
{
    int rank = 0;
    for (; type->kind == TY_LIST; rank++) {
        if (type->rank == 0) {
            return rank + 1;
        }
        type = type->items[0];
    }
    return rank;
}

/* The list's length and that of its first row, and so on; false: it isn't as
 * deep as its type, or too deep. */
static bool
list_sizes(const Type *type, PyObject *object, Py_ssize_t *sizes)
{
    int rank = list_rank(type);
    if (rank > MAX_RANK) {
        return false;
    }
    for (int i = 0; i < rank; i++) {
        bool some = object != NULL && is_sequence(object);
        if (object != NULL && !some) {
            return false;
        }
        sizes[i] = some ? size_of(object) : 0;
        object = sizes[i] > 0 ? item_of(object, 0) : NULL;
    }
    return true;
}

/* Is the list, or any other item, of this type? */
bool
list_fits(const Type *type, PyObject *object)
{
    Py_ssize_t sizes[MAX_RANK];
    Put put = {.columns = NULL};
    return list_sizes(type, object, sizes)
           && put_item(&put, type, object, 0, sizes);
}

/* --- types --------------------------------------------------------------- */

static const Type *sequence_type(Arena *arena, PyObject *object);

static const Type *
list_type(Arena *arena, const Type *item, bool is_list)
{
    Type *type = arena_copy(arena, type_kind(arena, TY_LIST), sizeof(*type));
    type->is_list = is_list;
    type->rank = item != NULL;
    type->items = ARENA_ARRAY(arena, const Type *, 1);
    type->items[0] = item;
    return type;
}

/* An item's type without its value; NULL: it has none here. */
static const Type *
item_type(Arena *arena, PyObject *object)
{
    DType dt;
    int overflow = 0;
    if (PyLong_CheckExact(object)) {
        (void)PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow ? NULL : type_int(arena);
    }
    if (PyFloat_CheckExact(object)) {
        return type_float(arena);
    }
    if (PyBool_Check(object)) {
        return type_bool(arena);
    }
    if (object == Py_None) {
        return type_kind(arena, TY_NONE);
    }
    if (scalar_dtype(Py_TYPE(object), &dt)
        || complex_dtype(Py_TYPE(object), &dt)) {
        return type_num(arena, dt, false);
    }
    if (PyComplex_CheckExact(object)) {
        return type_complex(arena);
    }
    return is_sequence(object) ? sequence_type(arena, object) : NULL;
}

/* The type of both; lists join by their items. */
static const Type *
join(Arena *arena, const Type *lhs, const Type *rhs)
{
    if (lhs == NULL || rhs == NULL) {
        return lhs ? lhs : rhs;
    }
    if (lhs->kind != TY_LIST || rhs->kind != TY_LIST) {
        return type_join(arena, lhs, rhs, false);
    }
    if (lhs->rank == 0 || rhs->rank == 0) {
        return lhs->rank ? lhs : rhs;
    }
    const Type *item = join(arena, lhs->items[0], rhs->items[0]);
    return item ? list_type(arena, item, true) : NULL;
}

/* What all items are; false: they have no common type. */
static bool
common_type(Arena *arena, PyObject *object, const Type **out)
{
    *out = NULL;
    for (Py_ssize_t i = 0; i < size_of(object); i++) {
        PyObject *item = item_of(object, i);
        if (*out != NULL && list_fits(*out, item)) {
            continue;
        }
        const Type *type = item_type(arena, item);
        *out = type ? join(arena, *out, type) : NULL;
        if (*out == NULL
            || ((*out)->kind == TY_COMPLEX && (*out)->alt != ALT_NEVER)) {
            return false;
        }
    }
    return true;
}

/* A tuple, or a list whose items differ, item by item. */
static const Type *
fixed_type(Arena *arena, PyObject *object)
{
    const Type *items[MOST_ITEMS];
    Py_ssize_t n = size_of(object);
    if (n > MOST_ITEMS) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = item_of(object, i);
        items[i] = is_sequence(item) ? fixed_type(arena, item)
                                     : item_type(arena, item);
        if (items[i] == NULL) {
            return NULL;
        }
    }
    return type_tuple(arena, items, (int)n, PyList_CheckExact(object));
}

/* An item that is a sequence: lists of numbers of one kind are LISTs. */
static const Type *
sequence_type(Arena *arena, PyObject *object)
{
    const Type *item;
    bool list = PyList_CheckExact(object);
    if (list && common_type(arena, object, &item)) {
        return list_type(arena, item, true);
    }
    return fixed_type(arena, object);
}

/* The type of a list argument; NULL: its items have no common type. */
const Type *
list_arg_type(Arena *arena, PyObject *object)
{
    const Type *item;
    if (!common_type(arena, object, &item)) {
        return NULL;
    }
    return list_type(arena, item, PyList_CheckExact(object));
}

int
lists_check(PyObject *const *args, int n)
{
    int bad = -1;
    Arena *arena = NULL;
    for (int i = 0; i < n && bad < 0; i++) {
        if (PyList_CheckExact(args[i])) {
            arena = arena ? arena : arena_new();
            const Type *type = list_arg_type(arena, args[i]);
            bad = type != NULL && list_fits(type, args[i]) ? -1 : i;
        }
    }
    if (arena != NULL) {
        arena_free(arena);
    }
    return bad;
}

/* --- slots --------------------------------------------------------------- */

/* The columns that the items of 'type' take, from 'at' on. */
static int
list_columns(const Type *type, DType *dtypes, int at)
{
    if (type->kind == TY_NUM) {
        dtypes[at++] = type->dtype;
        if (type->alt != ALT_NEVER) {
            dtypes[at++] = DT_BOOL;
        }
        return at;
    }
    for (int i = 0; type->kind != TY_NONE && i < type->rank; i++) {
        at = list_columns(type->items[i], dtypes, at);
    }
    return at;
}

/* How many columns a list has; their dtypes. */
int
list_layout(const Type *type, DType *dtypes)
{
    DType all[MAX_IN];
    int n = list_columns(type, all, 0);
    if (dtypes != NULL) {
        memcpy(dtypes, all, sizeof(*all) * (size_t)n);
    }
    return n;
}

/* Length and columns of a list, in the slots of its parameters. */
FillStatus
fill_list(Call *call, const Type *type, PyObject *object, VzSlot *slot)
{
    Py_ssize_t sizes[MAX_RANK];
    DType dtypes[MAX_IN];
    char *columns[MAX_IN];
    int n = list_layout(type, dtypes);
    int rank = list_rank(type);
    int64_t count = 1;
    if (!list_sizes(type, object, sizes)) {
        return FILL_PYTHON;
    }
    for (int i = 0; i < rank; i++) {
        if (sizes[i] >= LENGTH_LIMIT
            || __builtin_mul_overflow(count, sizes[i], &count)) {
            return FILL_PYTHON;
        }
    }
    slot->i = sizes[0];
    slot++;
    for (int i = 0; i < n; i++, slot += 1 + 2 * rank) {
        int64_t step = dtype_size(dtypes[i]);
        columns[i] = call_scratch(call, count * step + 1, false);
        if (columns[i] == NULL) {
            return FILL_PYTHON;
        }
        slot[0].p = columns[i];
        for (int k = rank - 1; k >= 0; k--) {
            slot[1 + k].i = sizes[k];
            slot[1 + rank + k].i = step;
            step *= sizes[k];
        }
    }
    call->elements += (double)count;
    Put put = {.columns = columns};
    return put_item(&put, type, object, 0, sizes) ? FILL_OK : FILL_PYTHON;
}
