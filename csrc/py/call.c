/* The three ways of a call.
 *
 *     native    the whole function is a kernel           dispatch.c
 *     mixed     the function can't be compiled as it is; its loops are, and
 *               the rest runs in Python                  part.c, vizgen.parts
 *     Python    the function as the user wrote it
 *
 * A call that was begun natively and given up (a *replay*) is repeated by the
 * function as it is.  VIZGEN_DISABLE and VIZGEN_CHECK have calls of their own.
 */
#include "csrc/py/core.h"

#include <pthread.h>

/* --- the C stack --------------------------------------------------------- */

/* The C stack below this address is not to be used; NULL: not known yet. */
static _Thread_local char *stack_limit;

/* Kept free for what runs above us: the interpreter needs about 1 KiB a call,
 * libraries that it calls more. */
enum { STACK_RESERVE = 512 * 1024 };

static void
find_stack_limit(char *here)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    stack_limit = here - STACK_RESERVE;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &low, &size) == 0) {
            size_t quarter = size / 4;
            stack_limit = (char *)low
                          + (quarter < STACK_RESERVE ? quarter : STACK_RESERVE);
        }
        pthread_attr_destroy(&attr);
    }
}

/* Python functions that call each other don't use the C stack, but they do
 * through us; with a high recursion limit it would run out first. */
static bool
stack_is_low(void)
{
    char here;
    char *at = &here;
    if (stack_limit == NULL) {
        find_stack_limit(at);
    }
    return at < stack_limit;
}

/* The function as it is, with the arguments as they came. */
static PyObject *
call_python(Accel *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (stack_is_low()) {
        PyErr_SetString(PyExc_RecursionError,
                        "maximum recursion depth exceeded (C stack)");
        return NULL;
    }
    return PyObject_Vectorcall(f->py_func, args, nargsf, kwnames);
}

/* --- the calls ----------------------------------------------------------- */

static Outcome
try_native(Accel *f, PyObject *const *args, Py_ssize_t nargs,
           PyObject *kwnames, Trial *trial, PyObject **result)
{
    Loaded *l = accel_loaded(f);
    if (l == NULL) {
        return PyErr_Occurred() ? OUT_ERROR : OUT_PYTHON;
    }
    loaded_keep(l);
    Outcome out = call_dispatch(f, l, args, nargs, kwnames, trial, result);
    loaded_drop(l);
    f->count.native += out == OUT_DONE;
    f->count.replays += out == OUT_REPLAY;
    return out;
}

Outcome
accel_try(Accel *f, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, PyObject **result)
{
    return try_native(f, args, nargs, kwnames, NULL, result);
}

/* The reason why is told at the end, with an exception that the call may have
 * raised put aside. */
static PyObject *
tell_after(Accel *f, PyObject *result)
{
    if (result != NULL) {
        if (split_tell(f) < 0) {
            Py_CLEAR(result);
        }
        return result;
    }
    PyObject *class;
    PyObject *error;
    PyObject *traceback;
    PyErr_Fetch(&class, &error, &traceback);
    if (split_tell(f) < 0) {
        PyErr_Clear();
    }
    PyErr_Restore(class, error, traceback);
    return NULL;
}

/* A call of which no loop ran native, whatever the reason, counts as one in
 * Python. */
static PyObject *
call_parts(Accel *f, PyObject *rest, PyObject *const *args, size_t nargsf,
           PyObject *kwnames)
{
    if (stack_is_low()) {
        return call_python(f, args, nargsf, kwnames);
    }
    unsigned long long runs = f->split.runs;
    PyObject *result = PyObject_Vectorcall(rest, args, nargsf, kwnames);
    if (f->split.runs != runs) {
        f->count.mixed++;
    } else {
        f->count.python++;
    }
    return f->split.note && !f->silent ? tell_after(f, result) : result;
}

/* The function will never be native for such arguments. */
static PyObject *
call_refused(Accel *f, PyObject *const *args, size_t nargsf,
             PyObject *kwnames)
{
    PyObject *rest = split_function(f);
    if (rest != NULL) {
        PyObject *result = call_parts(f, rest, args, nargsf, kwnames);
        Py_DECREF(rest);
        return result;
    }
    bool tells = f->split.note && !f->silent;
    if (PyErr_Occurred() || (tells && split_tell(f) < 0)) {
        return NULL;
    }
    f->count.python++;
    return call_python(f, args, nargsf, kwnames);
}

/* '*out' says what became of the native attempt.  Replays are counted apart
 * from calls that never were native. */
static PyObject *
call_any(Accel *f, PyObject *const *args, size_t nargsf, PyObject *kwnames,
         Trial *trial, Outcome *out)
{
    PyObject *result = NULL;
    *out = try_native(f, args, PyVectorcall_NARGS(nargsf), kwnames, trial,
                      &result);
    if (*out == OUT_DONE) {
        return result;
    }
    if (*out == OUT_ERROR) {
        return NULL;
    }
    if (*out == OUT_REFUSED) {
        return call_refused(f, args, nargsf, kwnames);
    }
    f->count.python += *out == OUT_PYTHON;
    return call_python(f, args, nargsf, kwnames);
}

/* A call of a trial, from end to end. */
static PyObject *
call_timed(Accel *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Trial trial;
    Outcome out;
    if (!trial_begin(f, &trial)) {
        return call_any(f, args, nargsf, kwnames, NULL, &out);
    }
    PyObject *result = call_any(f, args, nargsf, kwnames, &trial, &out);
    if (trial_end(f, &trial, result ? out : OUT_ERROR) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

PyObject *
accel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames)
{
    Accel *f = (Accel *)self;
    Outcome out;
    if (--f->until_trial <= 0) {
        return call_timed(f, args, nargsf, kwnames);
    }
    return call_any(f, args, nargsf, kwnames, NULL, &out);
}

/* VIZGEN_DISABLE: nothing is read or compiled. */
PyObject *
disabled_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *kwnames)
{
    Accel *f = (Accel *)self;
    f->count.python++;
    return call_python(f, args, nargsf, kwnames);
}

/* VIZGEN_CHECK: vizgen.checking runs the call twice and compares. */
PyObject *
checked_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                   PyObject *kwnames)
{
    PyObject *call = helper("vizgen.checking", "call");
    if (call == NULL) {
        return NULL;
    }
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *all = PyTuple_New(n);
    PyObject *keywords = PyDict_New();
    for (Py_ssize_t i = 0; all && keywords && i < n; i++) {
        PyTuple_SET_ITEM(all, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t i = 0; all && keywords && i < named; i++) {
        PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), args[n + i]);
    }
    PyObject *result = NULL;
    if (all && keywords && !PyErr_Occurred()) {
        result = PyObject_CallFunctionObjArgs(call, self, all, keywords, NULL);
    }
    Py_XDECREF(all);
    Py_XDECREF(keywords);
    Py_DECREF(call);
    return result;
}
