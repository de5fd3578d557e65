/* The decisions of autotune/ as functions of vizgen._core.
 *
 *     tune_size(compilers) -> int
 *     tune_variant(compilers, index) -> (opts, compiler)
 *     tune_next(compilers, [(index, gain), ...]) -> int or None
 *     tune_ratio(base, candidate) -> (median, low, high)
 *     tune_log(dir_fd, name, line)
 *     tune_trust_fork()
 *
 * All short and called a few times a second at most, so they convert through
 * ordinary sequences.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "autotune/tune.h"
#include "csrc/py/tune_py.h"
#include "csrc/run/run.h"

/* The compilers' names from a sequence of str; the pointers live as long as
 * 'sequence', which must be a tuple. */
static bool
read_space(Arena *arena, PyObject *sequence, Space *out)
{
    if (!PyTuple_Check(sequence)) {
        PyErr_SetString(PyExc_TypeError, "compilers must be a tuple");
        return false;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(sequence);
    const char **names = ARENA_ARRAY(arena, const char *, n + 1);
    for (Py_ssize_t i = 0; i < n; i++) {
        names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(sequence, i));
        if (!names[i]) {
            return false;
        }
    }
    *out = (Space){.ncompilers = (int)n, .compilers = names};
    return true;
}

static PyObject *
size_of(Arena *arena, PyObject *args)
{
    PyObject *compilers;
    Space space;
    if (!PyArg_ParseTuple(args, "O", &compilers) ||
        !read_space(arena, compilers, &space)) {
        return NULL;
    }
    return PyLong_FromLong(space_size(&space));
}

static PyObject *
variant_of(Arena *arena, PyObject *args)
{
    PyObject *compilers;
    int index;
    Space space;
    if (!PyArg_ParseTuple(args, "Oi", &compilers, &index) ||
        !read_space(arena, compilers, &space)) {
        return NULL;
    }
    if (index < 0 || index >= space_size(&space)) {
        return PyErr_Format(PyExc_IndexError, "no variant %d", index);
    }
    Variant variant;
    space_variant(arena, &space, index, &variant);
    return Py_BuildValue("ss", variant.opts, variant.compiler);
}

static PyObject *
next_of(Arena *arena, PyObject *args)
{
    PyObject *compilers;
    PyObject *list;
    Space space;
    if (!PyArg_ParseTuple(args, "OO!", &compilers, &PyList_Type, &list) ||
        !read_space(arena, compilers, &space)) {
        return NULL;
    }
    Py_ssize_t n = PyList_GET_SIZE(list);
    Trial *trials = ARENA_ARRAY(arena, Trial, n + 1);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyList_GET_ITEM(list, i);
        if (!PyTuple_Check(pair) ||
            !PyArg_ParseTuple(pair, "id", &trials[i].index,
                              &trials[i].gain)) {
            return NULL;
        }
    }
    int index = search_next(arena, &space, trials, (int)n);
    if (index < 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLong(index);
}

/* The floats of 'sequence' in 'arena'; NULL with an exception. */
static double *
read_doubles(Arena *arena, PyObject *sequence, Py_ssize_t *n)
{
    PyObject *fast = PySequence_Fast(sequence, "a sequence of numbers");
    if (!fast) {
        return NULL;
    }
    *n = PySequence_Fast_GET_SIZE(fast);
    double *values = ARENA_ARRAY(arena, double, *n + 1);
    for (Py_ssize_t i = 0; i < *n; i++) {
        values[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(fast, i));
    }
    Py_DECREF(fast);
    return PyErr_Occurred() ? NULL : values;
}

static PyObject *
ratio_of(Arena *arena, PyObject *args)
{
    PyObject *lhs;
    PyObject *rhs;
    if (!PyArg_ParseTuple(args, "OO", &lhs, &rhs)) {
        return NULL;
    }
    Py_ssize_t n;
    Py_ssize_t m;
    double *base = read_doubles(arena, lhs, &n);
    double *candidate = base ? read_doubles(arena, rhs, &m) : NULL;
    if (!candidate) {
        return NULL;
    }
    if (n != m || n == 0) {
        PyErr_SetString(PyExc_ValueError, "two equally long sequences");
        return NULL;
    }
    Interval ratio;
    stats_ratio(arena, base, candidate, (int)n, &ratio);
    return Py_BuildValue("ddd", ratio.median, ratio.low, ratio.high);
}

static PyObject *
log_to(Arena *arena, PyObject *args)
{
    (void)arena;
    int dir_fd;
    const char *name;
    const char *line;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "iss#", &dir_fd, &name, &line, &size)) {
        return NULL;
    }
    int error;
    Py_BEGIN_ALLOW_THREADS
    error = log_append(dir_fd, name, line, (size_t)size);
    Py_END_ALLOW_THREADS
    if (error) {
        errno = error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    Py_RETURN_NONE;
}

static PyObject *
tune_trust_fork(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    threads_trust_fork();
    Py_RETURN_NONE;
}

/* Run 'body' with an arena of its own; memory running out is MemoryError. */
static PyObject *
with_arena(PyObject *(*body)(Arena *, PyObject *), PyObject *args)
{
    Arena *arena = arena_new();
    PyObject *result = NULL;
    Fatal handler;
    fatal_enter(&handler);
    if (setjmp(handler.env)) {
        arena_free(arena);
        return PyErr_NoMemory();
    }
    result = body(arena, args);
    fatal_leave(&handler);
    arena_free(arena);
    return result;
}

static PyObject *
tune_size(PyObject *Py_UNUSED(module), PyObject *args)
{
    return with_arena(size_of, args);
}

static PyObject *
tune_variant(PyObject *Py_UNUSED(module), PyObject *args)
{
    return with_arena(variant_of, args);
}

static PyObject *
tune_next(PyObject *Py_UNUSED(module), PyObject *args)
{
    return with_arena(next_of, args);
}

static PyObject *
tune_ratio(PyObject *Py_UNUSED(module), PyObject *args)
{
    return with_arena(ratio_of, args);
}

static PyObject *
tune_log(PyObject *Py_UNUSED(module), PyObject *args)
{
    return with_arena(log_to, args);
}

static PyMethodDef METHODS[] = {
    {"tune_size", tune_size, METH_VARARGS, "How many variants there are."},
    {"tune_variant", tune_variant, METH_VARARGS, "(opts, compiler)."},
    {"tune_next", tune_next, METH_VARARGS, "The variant to try next."},
    {"tune_ratio", tune_ratio, METH_VARARGS, "(median, low, high)."},
    {"tune_log", tune_log, METH_VARARGS, "Append one line, on disk."},
    {"tune_trust_fork", tune_trust_fork, METH_NOARGS,
     "Threads may be used in this forked process."},
    {NULL, NULL, 0, NULL},
};

int
tune_add_functions(PyObject *module)
{
    return PyModule_AddFunctions(module, METHODS);
}
