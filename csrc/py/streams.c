/* Random generators as arguments.
 *
 *     f(rng, n)        bound   rng's view   n   view._pcg64_words  ..._half
 *
 * An object of NumPy's with a stream of numbers is replaced by what compiled
 * code sees of it: an object of a class in Python, whose attributes are the
 * arrays that its state is in, and whose methods are loops over them
 * (vizgen.library.streams).  From there on it is an object like others
 * (records.c); only the locks of the generators are taken while the kernel
 * runs, and no view is ever handed to the user.
 */
#include "csrc/py/records.h"

bool
is_stream(PyObject *object)
{
    const char *name = Py_TYPE(object)->tp_name;
    return strncmp(name, "numpy.random.", 13) == 0
           && (strcmp(name + 13, "_generator.Generator") == 0
               || strcmp(name + 13, "mtrand.RandomState") == 0);
}

/* The same view as long as there are not too many; -1 with an exception. */
int
stream_view(PyObject **object, PyObject **held)
{
    PyObject *ask = helper("vizgen.library.streams", "view");
    PyObject *view = ask ? PyObject_CallOneArg(ask, *object) : NULL;
    Py_XDECREF(ask);
    int status = view == NULL ? -1 : 0;
    if (view != NULL && view != Py_None) {
        *held = *held ? *held : PyList_New(0);
        status = *held ? PyList_Append(*held, view) : -1;
        *object = view;
    }
    Py_XDECREF(view); /* '*held' has it */
    return status;
}

/* Is the class one of vizgen.library, whose objects stand for others? */
bool
is_library_class(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("__module__");
    PyObject *module = name ? class_value(type, name) : NULL;
    const char *text = module && PyUnicode_Check(module)
                           ? PyUnicode_AsUTF8(module)
                           : NULL;
    PyErr_Clear();
    Py_XDECREF(name);
    return text != NULL && strncmp(text, "vizgen.library.", 15) == 0;
}

/* The views among the arguments, new; NULL: there are none, or an exception. */
static PyObject *
views_of(PyObject *const *bound, int n)
{
    PyObject *out = NULL;
    for (int i = 0; i < n; i++) {
        if (PyType_Check(bound[i]) || !is_record(bound[i])
            || !is_library_class(Py_TYPE(bound[i]))) {
            continue;
        }
        out = out ? out : PyList_New(0);
        if (out == NULL || PyList_Append(out, bound[i]) < 0) {
            Py_CLEAR(out);
            break;
        }
    }
    return out;
}

/* What vizgen.library.streams does with its locks before and after. */
static PyObject *
tell_streams(const char *what, PyObject *arg)
{
    PyObject *function = helper("vizgen.library.streams", what);
    PyObject *answer = function ? PyObject_CallOneArg(function, arg) : NULL;
    Py_XDECREF(function);
    return answer;
}

/* As run_native, with the streams among the arguments held. */
Outcome
run_streams(Accel *f, Loaded *l, Spec *spec, PyObject *const *args, int n,
            PyObject **result)
{
    PyObject *views = views_of(args, n);
    if (views == NULL) {
        return PyErr_Occurred() ? OUT_ERROR
                                : run_native(f, l, spec, args, result);
    }
    PyObject *taken = tell_streams("enter", views);
    Py_DECREF(views);
    if (taken == NULL || taken == Py_None) {
        Py_XDECREF(taken);
        return taken ? OUT_PYTHON : OUT_ERROR;
    }
    Outcome out = run_native(f, l, spec, args, result);
    PyObject *class;
    PyObject *error;
    PyObject *traceback;
    PyErr_Fetch(&class, &error, &traceback);
    PyObject *left = tell_streams("leave", taken);
    Py_DECREF(taken);
    if (left == NULL && class == NULL && out == OUT_DONE) {
        Py_CLEAR(*result);
        return OUT_ERROR;
    }
    Py_XDECREF(left);
    PyErr_Restore(class, error, traceback);
    return out;
}
