/* Lists of objects as arguments: lists of tuples of their attributes.
 *
 *     [Ball(0, 1.5), Ball(2, 3.0)]      [(0, 1.5), (2, 3.0)]
 *
 * Kernels read the columns of such a list (lists.c).  All items must be of one
 * class; which of its attributes are taken is found out from the first item:
 * those that the source names and nothing assigns, if they are numbers, None,
 * tuples of such or objects of that kind.  In the type an item is an OBJECT, so
 * the code asks for attributes; a named tuple stays one.
 *
 * What the call has is a copy, so neither the list nor an item of it can be
 * handed back: inference sees to that ("view").
 */
#include "csrc/py/records.h"
#include "typeinfer/rules.h"

/* Objects in objects, and attributes of one. */
enum { MOST_DEPTH = 3, MOST_FIELDS = 16 };

/* Has native code always been refused?  Then converting is in vain. */
static bool
is_refused(const Loaded *l)
{
    bool refused = l->nspecs > 0;
    for (int i = 0; i < l->nspecs; i++) {
        refused &= l->specs[i]->refusal != NULL;
    }
    return refused;
}

/* A list whose first item is an instance. */
bool
is_listed(PyObject *object)
{
    PyObject *first = PyList_CheckExact(object) && PyList_GET_SIZE(object) > 0
                          ? PyList_GET_ITEM(object, 0)
                          : NULL;
    return first != NULL && !PyType_Check(first) && is_record(first);
}

/* --- converting ----------------------------------------------------------- */

/* New; NULL without an exception: the item is not like the first one. */
static PyObject *
converted(const Loaded *l, int number, PyObject *object)
{
    const RecordClass *class = &l->classes[number];
    if (Py_TYPE(object) != class->type || classes_shadowed(class, object)) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(class->fields);
    if (class->is_tuple && PyTuple_GET_SIZE(object) != n) {
        return NULL;
    }
    PyObject *fields = Py_NewRef(class->fields);
    PyObject *out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(fields, i);
        PyObject *value = class->is_tuple
                              ? Py_NewRef(PyTuple_GET_ITEM(object, i))
                              : PyObject_GenericGetAttr(object, name);
        if (value != NULL && class->nested[i] >= 0) {
            Py_SETREF(value, converted(l, class->nested[i], value));
        }
        if (value == NULL) {
            Py_CLEAR(out);
        } else {
            PyTuple_SET_ITEM(out, i, value);
        }
    }
    Py_DECREF(fields);
    if (out == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    return out;
}

/* The class and those in its fields are as they were. */
static int
check_class(Loaded *l, int number)
{
    if (number < 0 || l->classes[number].nested == NULL
        || !classes_known(l, number)) {
        return -2;
    }
    if (l->classes[number].unfit
        || !classes_hold(l, &l->classes[number])) {
        return 0;
    }
    int status = -1;
    Py_ssize_t n = PyTuple_GET_SIZE(l->classes[number].fields);
    for (Py_ssize_t i = 0; i < n && status == -1; i++) {
        int nested = l->classes[number].nested[i];
        status = nested >= 0 ? check_class(l, nested) : -1;
    }
    return status;
}

bool
listed_known(const Loaded *l, PyObject *list)
{
    const PyTypeObject *type = Py_TYPE(PyList_GET_ITEM(list, 0));
    int number = classes_listed(l, type);
    bool known = number >= 0 && l->classes[number].nested != NULL
                 && classes_known(l, number);
    Py_ssize_t n = known ? PyTuple_GET_SIZE(l->classes[number].fields) : 0;
    for (Py_ssize_t i = 0; i < n && known; i++) {
        int nested = l->classes[number].nested[i];
        known = nested < 0 || classes_known(l, nested);
    }
    return known;
}

int
listed_key(Loaded *l, PyObject **bound, int at, uint32_t *keys, PyObject *held)
{
    PyObject *list = bound[at];
    int number = classes_listed(l, Py_TYPE(PyList_GET_ITEM(list, 0)));
    int status = is_refused(l) ? 0 : check_class(l, number);
    if (status != -1) {
        return status == 0 ? at : status;
    }
    PyObject *rows = PyList_New(0);
    bool fits = rows != NULL;
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(list); i++) {
        PyObject *row = converted(l, number, PyList_GET_ITEM(list, i));
        fits = row != NULL && PyList_Append(rows, row) == 0;
        Py_XDECREF(row);
    }
    fits = fits && PyList_Append(held, rows) == 0;
    keys[at] = fits ? arg_key(rows) : KEY_PYTHON;
    if (keys[at] != KEY_PYTHON) {
        keys[at] |= (uint32_t)(number + 1) << 16 | (l->epoch & 0x3F) << 26;
        bound[at] = rows; /* which 'held' has */
    }
    Py_XDECREF(rows);
    return PyErr_Occurred() ? -3 : keys[at] != KEY_PYTHON ? -1 : at;
}

/* --- learning ------------------------------------------------------------- */

static int learn_item(Accel *f, Loaded *l, PyObject *object, int depth);

/* A number, None, or a tuple of such. */
static bool
is_column(PyObject *value)
{
    bool tuple = PyTuple_CheckExact(value);
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(value); i++) {
        tuple = is_column(PyTuple_GET_ITEM(value, i));
    }
    DType dt;
    return tuple || value == Py_None || PyLong_CheckExact(value)
           || PyFloat_CheckExact(value) || PyBool_Check(value)
           || scalar_dtype(Py_TYPE(value), &dt);
}

/* What is to become of an attribute that holds 'value'. */
static int
nested_of(Accel *f, Loaded *l, PyObject *value, int depth)
{
    if (is_column(value)) {
        return NESTED_PLAIN;
    }
    bool object = !PyType_Check(value) && is_record(value);
    int nested = object && depth < MOST_DEPTH
                     ? learn_item(f, l, value, depth + 1)
                     : -1;
    return nested >= 0 ? nested : NESTED_OPAQUE;
}

/* Adds a field, with what it holds in the first object. */
static bool
add_field(Accel *f, Loaded *l, int number, PyObject *names, PyObject *name,
          PyObject *value, int depth)
{
    int at = (int)PyList_GET_SIZE(names);
    bool plain = !map_has(&l->unit->stores, sym_of(name));
    int nested =
        plain ? nested_of(f, l, value, depth) : NESTED_OPAQUE;
    RecordClass *class = &l->classes[number];
    if (nested == NESTED_OPAQUE) {
        class->unfit |= class->is_tuple; /* all of it may be asked for */
        return true;
    }
    vec_push(l->arena, &l->unit->classes.at[number].fields, sym_of(name));
    class->nested[at] = nested;
    return PyList_Append(names, name) == 0;
}

/* The fields of a class, by its first object. */
static bool
learn_fields(Accel *f, Loaded *l, int number, PyObject *object, int depth)
{
    PyObject *names = PyList_New(0);
    bool ok = names != NULL;
    int n = l->classes[number].n;
    bool tuple = l->classes[number].is_tuple;
    PyObject *items = tuple ? PyObject_GetAttrString(object, "_fields") : NULL;
    n = tuple && items ? (int)PyTuple_GET_SIZE(items) : n;
    for (int i = 0; ok && i < n && PyList_GET_SIZE(names) < MOST_FIELDS; i++) {
        const Member *member = tuple ? NULL : &l->classes[number].members[i];
        if (member != NULL && member->kind != MEMBER_FIELD) {
            continue;
        }
        PyObject *name = tuple ? PyTuple_GET_ITEM(items, i) : member->name;
        PyObject *value = tuple ? Py_NewRef(PyTuple_GET_ITEM(object, i))
                                : PyObject_GenericGetAttr(object, name);
        if (value == NULL) {
            PyErr_Clear();
            continue;
        }
        ok = add_field(f, l, number, names, name, value, depth);
        Py_DECREF(value);
    }
    PyObject *all = ok ? PyList_AsTuple(names) : NULL;
    Py_XSETREF(l->classes[number].fields, all);
    Py_XDECREF(items);
    Py_XDECREF(names);
    return all != NULL;
}

/* The number of the object's class; -1: there is none. */
static int
learn_item(Accel *f, Loaded *l, PyObject *object, int depth)
{
    int number = classes_list(f, l, object);
    if (number < 0) {
        return -1;
    }
    if (l->classes[number].nested == NULL) {
        l->classes[number].nested = PyMem_Calloc(MOST_FIELDS, sizeof(int));
    }
    AClass *known = &l->unit->classes.at[number];
    known->fields.n = 0;
    bool ok = l->classes[number].nested != NULL
              && learn_fields(f, l, number, object, depth);
    bool some = ok && PyTuple_GET_SIZE(l->classes[number].fields) > 0;
    l->classes[number].unfit |= !some;
    return ok ? number : -1;
}

bool
listed_learn(Accel *f, Loaded *l, PyObject *list)
{
    l->epoch++;
    return learn_item(f, l, PyList_GET_ITEM(list, 0), 0) >= 0;
}

/* --- signatures ----------------------------------------------------------- */

/* The type of a converted object. */
static const Type *
named_type(const Loaded *l, const Type *type, int number)
{
    const RecordClass *class = &l->classes[number];
    if (type->kind != TY_TUPLE) {
        return type;
    }
    Type *out = arena_copy(l->arena, type, sizeof(*type));
    out->items = ARENA_ARRAY(l->arena, const Type *, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        int nested = class->nested[i];
        out->items[i] = nested >= 0 ? named_type(l, type->items[i], nested)
                                    : type->items[i];
    }
    int made = class->is_tuple ? classes_made(l, class->type) : -1;
    out->kind = class->is_tuple ? TY_TUPLE : TY_OBJECT;
    out->class = 1 + (made >= 0 ? made : number);
    out->name = l->unit->classes.at[number].name;
    out->view = !class->is_tuple;
    return out;
}

void
listed_sign(const Loaded *l, uint32_t key, SigArg *arg)
{
    int number = (int)(key >> 16 & 0xFF) - 1;
    if (KEY_KIND(key) != K_LIST || number < 0 || arg->type->rank == 0) {
        return;
    }
    Type *list = arena_copy(l->arena, arg->type, sizeof(*list));
    list->items = ARENA_ARRAY(l->arena, const Type *, 1);
    list->items[0] = named_type(l, arg->type->items[0], number);
    list->view = true;
    arg->type = list;
}
