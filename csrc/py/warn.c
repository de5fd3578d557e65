/* Warnings as NumPy's arithmetic gives them.
 *
 * A kernel's WARNs say what a call divided by zero, made too large or made a
 * NaN of, and where (VzCtx.warn and .more).  What is to be done is looked up
 * where NumPy looks:
 *
 *     np.errstate   ignore                     nothing
 *                   raise, call, print, log    the call is repeated in Python
 *                   warn                       see below
 *     filters       ignore                     nothing
 *                   error                      the call is repeated in Python
 *                   else                       a warning
 *
 * A warning has NumPy's text and the place of the operation.  The one deviation
 * from Python, and a documented one: an operation that warns more than once in
 * a call gives one warning, which only the filter "always" can tell.
 */
#include "csrc/py/tell.h"

typedef struct WarnRow {
    const char *key; /* in np.geterr() */
    const char *text;
} WarnRow;

/* By Warn. */
static const WarnRow rows[] = {
    {"divide", "divide by zero encountered"},
    {"over", "overflow encountered"},
    {"invalid", "invalid value encountered"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- np.errstate --------------------------------------------------------- */

/* NumPy's modes: ignore, warn, raise, call, print, log.  Whoever wants more
 * than a warning gets it from NumPy itself. */

/* Is what np.geterr() gave for 'key' this mode? */
static bool
is_mode(PyObject *state, const char *key, const char *mode)
{
    PyObject *value = state ? PyDict_GetItemString(state, key) : NULL;
    return value != NULL && PyUnicode_CompareWithASCIIString(value, mode) == 0;
}

/* What can't be found out is Python's, with an exception set: that of a
 * signal's handler. */
static Errstate
ask_errstate(void)
{
    PyObject *ask = helper("numpy", "geterr");
    PyObject *state = ask ? PyObject_CallNoArgs(ask) : NULL;
    bool under = !is_mode(state, "under", "ignore");
    Errstate out = {.ignored = under ? 0 : UNDERFLOW,
                    .python = under ? UNDERFLOW : 0};
    for (int i = 0; i < ROWS; i++) {
        bool ignored = is_mode(state, rows[i].key, "ignore");
        bool warned = is_mode(state, rows[i].key, "warn");
        out.ignored |= ignored ? 1u << i : 0;
        out.python |= !ignored && !warned ? 1u << i : 0;
    }
    Py_XDECREF(ask);
    Py_XDECREF(state);
    return out;
}

/* One look at a context variable, as long as it is the same. */
static Errstate
errstate_now(Core *core)
{
    PyObject *value = NULL;
    if (core->errstate == NULL
        || PyContextVar_Get(core->errstate, NULL, &value) < 0) {
        PyErr_Clear();
    }
    if (value == NULL || value != core->errstate_seen) {
        Errstate is = ask_errstate();
        if (PyErr_Occurred()) {
            Py_XDECREF(value);
            return is;
        }
        Py_XSETREF(core->errstate_seen, value);
        core->errstate_is = is;
        return is;
    }
    Py_DECREF(value);
    return core->errstate_is;
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

/* Is the filter for RuntimeWarning among others?  These are all its bases; the
 * question is asked of each filter in each call. */
static bool
is_ours(PyObject *row)
{
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != 5) {
        return false;
    }
    PyObject *category = PyTuple_GET_ITEM(row, 2);
    return category == PyExc_RuntimeWarning || category == PyExc_Warning
           || category == PyExc_Exception || category == PyExc_BaseException
           || category == (PyObject *)&PyBaseObject_Type;
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
    PyObject *filters = PyDict_GetItem(core->warnings, core->filters);
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

/* errstate first, as NumPy does: what it ignores no filter sees.  Of PYTHON it
 * leaves in '*kinds' what makes it so. */
Outlook
warn_outlook(Core *core, unsigned *kinds)
{
    Errstate errstate = errstate_now(core);
    *kinds &= ~errstate.ignored;
    if ((*kinds & errstate.python) != 0) {
        *kinds &= errstate.python;
        return OUTLOOK_PYTHON;
    }
    if (*kinds == 0) {
        return OUTLOOK_IGNORE;
    }
    Filter filter = runtime_filter(core);
    return filter == FILTER_ERROR    ? OUTLOOK_PYTHON
           : filter == FILTER_IGNORE ? OUTLOOK_IGNORE
                                     : OUTLOOK_SHOW;
}

/* --- warning ------------------------------------------------------------- */

/* Python asks the frame that warns for file, line, module and registry.  A
 * kernel has no frame, but the WARN has a place, and the function there the
 * rest. */

/* The function of the user's in which the place lies, or another of the same
 * file: all have the same globals.  NULL: none, as in the body of a library
 * function. */
static const PyFunctionObject *
function_at(const Loaded *l, Loc loc)
{
    const char *path = l->diags.sources.at[loc.file].path;
    const PyFunctionObject *best = NULL;
    int best_line = 0;
    for (int i = 0; i < l->guards.nfuncs; i++) {
        const PyFunctionObject *func =
            (PyFunctionObject *)l->guards.funcs[i].func;
        const PyCodeObject *code = (PyCodeObject *)func->func_code;
        const char *file = PyUnicode_AsUTF8(code->co_filename);
        bool later = code->co_firstlineno > best_line
                     && code->co_firstlineno <= (int)loc.line;
        if (file == NULL) {
            PyErr_Clear();
        } else if (strcmp(file, path) == 0 && (best == NULL || later)) {
            best = func;
            best_line = code->co_firstlineno;
        }
    }
    return best;
}

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

/* "overflow encountered in scalar add": the first word is set apart. */
static PyObject *
warning_text(const Stmt *warn)
{
    const char *text = rows[warn->warn].text;
    if (warn->what == NULL) {
        return PyUnicode_FromString(text);
    }
    bool scalar = strncmp(warn->what, "scalar_", 7) == 0;
    return PyUnicode_FromFormat("%s in %s%s", text, scalar ? "scalar " : "",
                                warn->what + (scalar ? 7 : 0));
}

/* 0, or -1 with an exception when a filter turned the warning into one. */
static int
warn_once(const Call *call, const Stmt *warn)
{
    const PyFunctionObject *func = function_at(call->loaded, warn->loc);
    int line = (int)warn->loc.line;
    if (func == NULL) {
        func = (PyFunctionObject *)call->f->py_func;
        line = ((PyCodeObject *)func->func_code)->co_firstlineno;
    }
    PyObject *file = ((PyCodeObject *)func->func_code)->co_filename;
    PyObject *module = PyDict_GetItemString(func->func_globals, "__name__");
    PyObject *registry = warning_registry(func);
    PyObject *text = warning_text(warn);
    int status = -1;
    if (registry != NULL && text != NULL) {
        status = PyErr_WarnExplicitObject(PyExc_RuntimeWarning, text, file,
                                          line, module, registry);
    }
    Py_XDECREF(text);
    Py_XDECREF(registry);
    return status;
}

unsigned
warn_kinds(const Kernel *kernel, uint64_t bits)
{
    unsigned kinds = 0;
    for (int i = 0; bits != 0; i++, bits >>= 1) {
        kinds |= bits & 1 ? 1u << kernel->warns[i]->warn : 0;
    }
    return kinds;
}

/* Has the call seen WARN number 'n'? */
static bool
has_warned(const Call *call, int n)
{
    int k = n - IR_WARN_BITS;
    bool own = n < IR_WARN_OWN && call->ctx.warn >> n & 1;
    return own || (k >= 0 && call->more[k / 64] >> k % 64 & 1);
}

/* In the order of the program. */
bool
warn_tell(const Call *call, unsigned kinds)
{
    for (int i = 0; i < call->kernel->nwarns; i++) {
        const Stmt *warn =
            has_warned(call, i) ? call->kernel->warns[i] : NULL;
        if (warn != NULL && (kinds >> warn->warn & 1)
            && warn_once(call, warn) < 0) {
            return false;
        }
    }
    return true;
}
