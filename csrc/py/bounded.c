/* approx="psnr>=50": what may be relaxed is found out by the first call of each
 * signature.
 *
 *     first call   vizgen.approx runs exact and relaxed versions on copies of
 *                  the arguments and says which words keep the bound
 *     Spec         compiled with these; "relax" and "note" keep them
 *
 * Global arrays can't be copied for a trial, so such functions stay exact.
 */
#include "csrc/py/tell.h"

/* The parameters as a call would give them: (args, kwargs). */
static PyObject *
arguments_of(const Loaded *l, PyObject *const *bound)
{
    PyObject *args = PyTuple_New(l->npositional);
    PyObject *kwargs = PyDict_New();
    for (int i = 0; args && kwargs && i < l->npositional; i++) {
        PyTuple_SET_ITEM(args, i, Py_NewRef(bound[i]));
    }
    for (int i = l->npositional; args && kwargs && i < l->nparams; i++) {
        PyDict_SetItem(kwargs, l->names[i], bound[i]);
    }
    if (args == NULL || kwargs == NULL || PyErr_Occurred()) {
        Py_XDECREF(args);
        Py_XDECREF(kwargs);
        return NULL;
    }
    return Py_BuildValue("(NN)", args, kwargs);
}

/* Takes what vizgen.approx answered: (words, note). */
static bool
take_choice(PyObject *answer, Choice *out)
{
    const char *words;
    PyObject *note;
    Approx approx;
    char why[APPROX_WHY];
    if (!PyArg_ParseTuple(answer, "sO", &words, &note)) {
        return false;
    }
    out->relax = approx_parse(words, &approx, why) ? approx.relax : 0;
    out->note = Py_NewRef(note);
    return true;
}

bool
bounded_choose(Accel *f, Loaded *l, PyObject *const *bound, Choice *out)
{
    *out = (Choice){.relax = f->approx.relax};
    if (f->approx.measure == MEASURE_NONE) {
        return true;
    }
    char words[APPROX_WORDS];
    approx_words(f->approx.relax, words);
    PyObject *choose = helper("vizgen.approx", "choose");
    PyObject *call = choose ? arguments_of(l, bound) : NULL;
    PyObject *answer = NULL;
    if (call != NULL) {
        answer = PyObject_CallFunction(
            choose, "OOsssdO", f->py_func, f->options,
            l->guards.nhidden > 0 ? "global arrays" : "", words,
            approx_measure(f->approx.measure), f->approx.limit, call);
    }
    bool ok = answer != NULL && take_choice(answer, out);
    Py_XDECREF(answer);
    Py_XDECREF(call);
    Py_XDECREF(choose);
    if (!ok && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear(); /* no measurement: exact */
        out->relax = 0;
        ok = true;
    }
    return ok;
}
