/* Floating-point warnings as NumPy's scalars give them.
 *
 * A call that divided by zero, overflowed or made a NaN has a bit for each
 * such kind.  What is to be done is looked up where NumPy looks:
 *
 *     np.errstate   ignore                     nothing
 *                   raise, call, print, log    the call is repeated in Python
 *                   warn                       see below
 *     filters       ignore                     nothing
 *                   error                      the call is repeated in Python
 *                   else                       a warning
 *
 * NumPy's text names the operator, and one call may warn at several lines.
 * So the first such call is repeated in Python, which does it exactly;
 * later ones give one warning of each kind, on the function's line.  That is
 * the one documented deviation.
 */
#include "csrc/py/core.h"

typedef struct WarnRow {
    unsigned bit;
    const char *key; /* in np.geterr() */
    const char *text;
} WarnRow;

static const WarnRow rows[] = {
    {1u << WARN_DIVIDE, "divide", "divide by zero encountered in `%U`"},
    {1u << WARN_OVERFLOW, "over", "overflow encountered in `%U`"},
    {1u << WARN_INVALID, "invalid", "invalid value encountered in `%U`"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- np.errstate --------------------------------------------------------- */

/* NumPy's modes: ignore, warn, raise, call, print, log.  Whoever wants more
 * than a warning gets it from NumPy itself. */

/* One look at a context variable instead of a call of np.geterr. */
static bool
is_default_errstate(const Core *core)
{
    PyObject *value = NULL;
    if (core->errstate == NULL
        || PyContextVar_Get(core->errstate, NULL, &value) < 0) {
        PyErr_Clear();
        return false;
    }
    bool same = value != NULL && value == core->errstate_default;
    Py_XDECREF(value);
    return same;
}

/* Drops from 'bits' what is ignored; false when Python must do the call. */
static bool
apply_errstate(const Core *core, unsigned *bits)
{
    if (is_default_errstate(core)) {
        return true;
    }
    PyObject *ask = helper("numpy", "geterr");
    PyObject *state = ask ? PyObject_CallNoArgs(ask) : NULL;
    Py_XDECREF(ask);
    bool native = state != NULL;
    for (int i = 0; native && i < ROWS; i++) {
        PyObject *mode = PyDict_GetItemString(state, rows[i].key);
        if (!(*bits & rows[i].bit) || mode == NULL) {
            continue;
        }
        if (PyUnicode_CompareWithASCIIString(mode, "ignore") == 0) {
            *bits &= ~rows[i].bit;
        } else {
            native = PyUnicode_CompareWithASCIIString(mode, "warn") == 0;
        }
    }
    Py_XDECREF(state);
    PyErr_Clear();
    return native;
}

/* --- warnings.filters ---------------------------------------------------- */

/* Looking at the filters beforehand saves repeating a call in Python, or
 * copying arrays, for a warning that nobody will see. */

typedef enum Filter { FILTER_SHOW, FILTER_IGNORE, FILTER_ERROR } Filter;

/* What the filter does with a RuntimeWarning; SHOW when that depends on its
 * text or place. */
static Filter
filter_of(PyObject *row)
{
    PyObject *action = PyTuple_GET_ITEM(row, 0);
    bool all = PyTuple_GET_ITEM(row, 1) == Py_None
               && PyTuple_GET_ITEM(row, 3) == Py_None;
    if (!PyUnicode_Check(action)) {
        return FILTER_SHOW;
    }
    if (PyUnicode_CompareWithASCIIString(action, "error") == 0) {
        return FILTER_ERROR;
    }
    bool ignore = PyUnicode_CompareWithASCIIString(action, "ignore") == 0;
    return all && ignore ? FILTER_IGNORE : FILTER_SHOW;
}

/* Is the filter for RuntimeWarning among others? */
static bool
is_ours(PyObject *row)
{
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != 5) {
        return false;
    }
    PyObject *category = PyTuple_GET_ITEM(row, 2);
    return PyType_Check(category)
           && PyType_IsSubtype((PyTypeObject *)PyExc_RuntimeWarning,
                               (PyTypeObject *)category);
}

/* Does the filter fit whatever the warning says, and wherever it is given? */
static bool
fits_always(PyObject *row)
{
    long line = PyLong_AsLong(PyTuple_GET_ITEM(row, 4));
    PyErr_Clear();
    return PyTuple_GET_ITEM(row, 1) == Py_None &&
           PyTuple_GET_ITEM(row, 3) == Py_None && line == 0;
}

/* Python's own order: the first filter that fits decides.  One with a message
 * or a module may fit or not, so those behind it count too; any that makes an
 * error makes it possible.  The list is looked up anew, since catch_warnings
 * exchanges it. */
static Filter
runtime_filter(const Core *core)
{
    PyObject *filters = PyDict_GetItemString(core->warnings, "filters");
    bool is_list = filters != NULL && PyList_Check(filters);
    Py_ssize_t n = is_list ? PyList_GET_SIZE(filters) : 0;
    bool maybe = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *row = PyList_GET_ITEM(filters, i);
        if (!is_ours(row)) {
            continue;
        }
        Filter filter = filter_of(row);
        if (filter == FILTER_ERROR) {
            return FILTER_ERROR;
        }
        if (fits_always(row)) {
            return maybe ? FILTER_SHOW : filter;
        }
        maybe = true;
    }
    return FILTER_SHOW;
}

/* errstate first, as NumPy does: what it ignores no filter sees. */
Outlook
warn_outlook(const Core *core, unsigned *bits)
{
    if (!apply_errstate(core, bits)) {
        return OUTLOOK_PYTHON;
    }
    if (*bits == 0) {
        return OUTLOOK_IGNORE;
    }
    Filter filter = runtime_filter(core);
    return filter == FILTER_ERROR    ? OUTLOOK_PYTHON
           : filter == FILTER_IGNORE ? OUTLOOK_IGNORE
                                     : OUTLOOK_SHOW;
}

/* --- warning ------------------------------------------------------------- */

/* Of the module of the function, as for a warning in its code. */
static PyObject *
warning_registry(const PyFunctionObject *func)
{
    PyObject *key = PyUnicode_FromString("__warningregistry__");
    PyObject *fresh = PyDict_New();
    PyObject *registry = NULL;
    if (key != NULL && fresh != NULL) {
        registry = PyDict_SetDefault(func->func_globals, key, fresh);
    }
    Py_XINCREF(registry);
    Py_XDECREF(key);
    Py_XDECREF(fresh);
    return registry;
}

/* 0, or -1 with an exception when a filter turned the warning into one. */
static int
warn_once(const Accel *f, const char *format)
{
    const PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    const PyCodeObject *code = (PyCodeObject *)func->func_code;
    PyObject *registry = warning_registry(func);
    PyObject *text = PyUnicode_FromFormat(format, func->func_name);
    PyObject *module = func->func_module;
    int status = -1;
    if (registry != NULL && text != NULL) {
        status = PyErr_WarnExplicitObject(
            PyExc_RuntimeWarning, text, code->co_filename,
            code->co_firstlineno, module == Py_None ? NULL : module, registry);
    }
    Py_XDECREF(text);
    Py_XDECREF(registry);
    return status;
}

/* In NumPy's order of kinds. */
bool
warn_tell(const Accel *f, unsigned bits)
{
    for (int i = 0; i < ROWS; i++) {
        if ((bits & rows[i].bit) && warn_once(f, rows[i].text) < 0) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}
