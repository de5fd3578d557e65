/* Lists, dicts and complex numbers among the globals and defaults, compiled in
 * by content.
 *
 *     TAPS = [1, 4, 6, 4, 1]            LIST of constants
 *     MODES = {"near": 0, "cubic": 3}   DICT of constants
 *
 * They can be changed by anybody, so each call compares them with a copy that
 * was made when they were compiled in.  That is why only small ones are.
 */
#include "csrc/py/load.h"

/* Items in all, of what one name means. */
enum { MOST_FROZEN = 1024, MOST_DEPTH = 8 };

/* --- what can be compiled in --------------------------------------------- */

/* Counts the items down; false: too many, or something else among them. */
static bool
is_small(PyObject *object, int *left, int depth)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;
    bool small = --*left > 0 && depth < MOST_DEPTH;
    if (PyDict_CheckExact(object)) {
        while (small && PyDict_Next(object, &at, &key, &value)) {
            small = is_plain(key) && is_small(value, left, depth + 1);
        }
        return small;
    }
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
        return small && (is_plain(object) || PyComplex_CheckExact(object));
    }
    for (Py_ssize_t i = 0; small && i < PySequence_Fast_GET_SIZE(object); i++) {
        small = is_small(PySequence_Fast_GET_ITEM(object, i), left, depth + 1);
    }
    return small;
}

bool
is_frozen(PyObject *object)
{
    int left = MOST_FROZEN;
    return is_small(object, &left, 0);
}

/* The items one by one; plain values as load_value has them. */
AExpr *
load_frozen(Loader *L, PyObject *object, Loc loc)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;
    if (PyDict_CheckExact(object)) {
        AExpr *e = ast_expr(L->arena, A_DICT, loc);
        e->outside = true;
        while (PyDict_Next(object, &at, &key, &value)) {
            vec_push(L->arena, &e->items, load_value(L, key, loc));
            vec_push(L->arena, &e->items, load_frozen(L, value, loc));
        }
        return e;
    }
    bool list = PyList_CheckExact(object);
    if (!list && !PyTuple_CheckExact(object)) {
        return load_value(L, object, loc);
    }
    AExpr *e = ast_expr(L->arena, list ? A_LIST : A_TUPLE, loc);
    e->outside = list;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++) {
        value = PySequence_Fast_GET_ITEM(object, i);
        vec_push(L->arena, &e->items, load_frozen(L, value, loc));
    }
    return e;
}

/* --- copies -------------------------------------------------------------- */

/* A copy whose lists and dicts are its own; NULL with an exception. */
PyObject *
frozen_copy(PyObject *object)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;
    if (PyDict_CheckExact(object)) {
        PyObject *out = PyDict_New();
        while (out && PyDict_Next(object, &at, &key, &value)) {
            PyObject *copy = frozen_copy(value);
            if (copy == NULL || PyDict_SetItem(out, key, copy) < 0) {
                Py_CLEAR(out);
            }
            Py_XDECREF(copy);
        }
        return out;
    }
    bool list = PyList_CheckExact(object);
    if (!list && !PyTuple_CheckExact(object)) {
        return Py_NewRef(object);
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
    PyObject *out = list ? PyList_New(n) : PyTuple_New(n);
    for (Py_ssize_t i = 0; out && i < n; i++) {
        PyObject *copy = frozen_copy(PySequence_Fast_GET_ITEM(object, i));
        if (copy == NULL) {
            Py_CLEAR(out);
        } else if (list) {
            PyList_SET_ITEM(out, i, copy);
        } else {
            PyTuple_SET_ITEM(out, i, copy);
        }
    }
    return out;
}

/* The same items in the same order; keys are plain, so comparing them runs no
 * code of the user's. */
static bool
same_dict(PyObject *lhs, PyObject *rhs)
{
    PyObject *keys[2];
    PyObject *values[2];
    Py_ssize_t at[2] = {0, 0};
    if (PyDict_GET_SIZE(lhs) != PyDict_GET_SIZE(rhs)) {
        return false;
    }
    while (PyDict_Next(lhs, &at[0], &keys[0], &values[0])) {
        if (!PyDict_Next(rhs, &at[1], &keys[1], &values[1])
            || !same_value(keys[0], keys[1])
            || !same_frozen(values[0], values[1])) {
            return false;
        }
    }
    return true;
}

bool
same_frozen(PyObject *lhs, PyObject *rhs)
{
    if (Py_TYPE(lhs) != Py_TYPE(rhs)) {
        return false;
    }
    if (PyDict_CheckExact(lhs)) {
        return same_dict(lhs, rhs);
    }
    if (!PyList_CheckExact(lhs) && !PyTuple_CheckExact(lhs)) {
        return same_value(lhs, rhs);
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(lhs);
    bool same = n == PySequence_Fast_GET_SIZE(rhs);
    for (Py_ssize_t i = 0; same && i < n; i++) {
        same = same_frozen(PySequence_Fast_GET_ITEM(lhs, i),
                           PySequence_Fast_GET_ITEM(rhs, i));
    }
    return same;
}
