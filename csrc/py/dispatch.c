/* A call of an accelerated function.
 *
 *     f(img, r=2)
 *       guards    f and what it uses are as they were          guards.c
 *       bind      arguments in order, defaults, hidden arrays
 *       keys      one word per argument                        args.c
 *       spec      most recently used first, else compile       specs.c
 *       run       fill slots, run kernels, settle warnings     attempt.c
 *         REPLAY  undo, the Python function
 *       result                                                 result.c
 *
 * Nothing is allocated on this way but the results.  Whenever something is
 * out of the ordinary the answer is the Python function itself with the
 * arguments as they came, so exceptions, warnings and tracebacks are its own.
 */
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

/* Times that new classes are looked at in one call. */
enum { MOST_LEARNED = 8 };

/* --- binding ------------------------------------------------------------- */

/* The order of the arguments is that of the function's parameters:
 *
 *     def f(a, b=2, *, c=3)      f(x, c=5)  ->  x, 2, 5
 *
 * The commonest call gives all parameters by position; then binding copies
 * pointers and nothing is compared.  Whatever doesn't fit is not an error here:
 * the Python function is called with what was given and raises its own. */

/* Names are interned on both sides, so the first loop nearly always finds
 * it. */
static int
param_named(const Loaded *l, PyObject *name)
{
    for (int i = l->npositional_only; i < l->nparams; i++) {
        if (l->names[i] == name) {
            return i;
        }
    }
    for (int i = l->npositional_only; i < l->nparams; i++) {
        if (PyUnicode_Compare(l->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* False: unknown or given twice, so Python will raise. */
static bool
bind_keywords(const Loaded *l, PyObject *const *values, PyObject *kwnames,
              PyObject **bound)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        int at = param_named(l, PyTuple_GET_ITEM(kwnames, i));
        if (at < 0 || bound[at] != NULL) {
            return false;
        }
        bound[at] = values[i];
    }
    return true;
}

/* Borrowed from the function, as of this call. */
static bool
bind_defaults(const Accel *f, const Loaded *l, PyObject **bound)
{
    const PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    PyObject *defaults = func->func_defaults;
    int n = defaults ? (int)PyTuple_GET_SIZE(defaults) : 0;
    for (int i = 0; i < l->nparams; i++) {
        if (bound[i] != NULL) {
            continue;
        }
        if (i >= l->npositional) {
            PyObject *dict = func->func_kwdefaults;
            bound[i] = dict ? PyDict_GetItemWithError(dict, l->names[i]) : NULL;
        } else if (i >= l->npositional - n) {
            bound[i] = PyTuple_GET_ITEM(defaults, i - (l->npositional - n));
        }
        if (bound[i] == NULL) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

/* Everything is borrowed: the caller holds arguments, the function its
 * defaults, the Loaded its hidden arrays. */
int
call_bind(const Accel *f, const Loaded *l, PyObject *const *args,
          Py_ssize_t nargs, PyObject *kwnames, PyObject **bound)
{
    if (nargs > l->npositional) {
        return -1;
    }
    for (int i = 0; i < l->nparams; i++) {
        bound[i] = i < nargs ? args[i] : NULL;
    }
    if (kwnames != NULL && !bind_keywords(l, args + nargs, kwnames, bound)) {
        return -1;
    }
    if (nargs < l->nparams && !bind_defaults(f, l, bound)) {
        return -1;
    }
    for (int i = 0; i < l->guards.nhidden; i++) {
        bound[l->nparams + i] = l->guards.hidden[i];
    }
    return l->nparams + l->guards.nhidden;
}

/* --- finding the specialisation ------------------------------------------ */

/* Why argument 'index' keeps the call in Python. */
PyObject *
argument_text(const Accel *f, const Loaded *l, PyObject *object, int index,
              DiagId *code)
{
    char words[200];
    char text[400];
    *code = arg_refusal(object, words, sizeof(words));
    const char *name = "a global array";
    if (index < l->nparams) {
        name = PyUnicode_AsUTF8(l->names[index]);
    }
    snprintf(text, sizeof(text), "`%.100s` %s", name ? name : "?", words);
    return function_text(f, l, *code, text);
}

/* Leaves an exception if strict.  The text isn't made twice in a row for the
 * same kind of argument. */
static void
tell_argument(Accel *f, const Loaded *l, PyObject *object, int index)
{
    DiagId code;
    if (f->told == Py_TYPE(object) && f->told_index == index && !f->strict
        && !f->core->strict) {
        return;
    }
    f->told = Py_TYPE(object);
    f->told_index = index;
    PyObject *text = argument_text(f, l, object, index, &code);
    if (text != NULL) {
        fallback_note(f, code, text, NULL, NULL, 0);
        f->told_code = code;
        Py_XSETREF(f->told_text, text);
    }
}

/* Every time when strict, else once per specialisation. */
static int
tell_refusal(Accel *f, const Loaded *l, Spec *spec)
{
    if (spec->told && !f->strict && !f->core->strict) {
        return 0;
    }
    spec->told = true;
    return fallback_note(f, spec->code, spec->refusal, &l->diags, spec->diags,
                         spec->ndiags);
}

/* Programs that alternate between two signatures pay one more comparison. */
static void
move_to_front(Loaded *l, int at)
{
    Spec *spec = l->specs[at];
    memmove(l->specs + 1, l->specs, sizeof(Spec *) * (size_t)at);
    l->specs[0] = spec;
}

/* The keys of all arguments; the number of one that Python must see to, -1
 * when there is none. */
int
call_keys(PyObject *const *bound, int n, uint32_t *keys)
{
    for (int i = 0; i < n; i++) {
        keys[i] = arg_key(bound[i]);
        if (keys[i] == KEY_PYTHON) {
            return i;
        }
    }
    return -1;
}

/* A part of a function that has attributes under names of their own, with a dot
 * (vizgen.hoist), may not see the objects that they are of. */
static bool
has_attributes(const Loaded *l)
{
    bool any = false;
    for (int i = 0; i < l->nparams; i++) {
        any |= PyUnicode_FindChar(l->names[i], '.', 0,
                                  PyUnicode_GET_LENGTH(l->names[i]), 1)
               >= 0;
    }
    return any;
}

/* The first argument with attributes that may be others' names, -1: none.  No
 * attribute of a generator is. */
static int
shared_object(PyObject *const *bound, int n)
{
    for (int i = 0; i < n; i++) {
        PyTypeObject *type = PyType_Check(bound[i])
                                 ? (PyTypeObject *)bound[i]
                                 : Py_TYPE(bound[i]);
        if (arg_key(bound[i]) == KEY_PYTHON && !is_stream(bound[i])
            && !is_library_class(type)) {
            return i;
        }
    }
    return -1;
}

/* As call_keys.  The attributes of objects follow the '*n' arguments in 'bound'
 * and are owned by '*held'; -3: an exception. */
int
call_keys_of(Accel *f, Loaded *l, PyObject **bound, int *n, uint32_t *keys,
             PyObject **held)
{
    int bad = call_keys(bound, *n, keys);
    int nhidden = *n - l->nparams;
    if (bad < 0
        || !(is_record(bound[bad]) || is_listed(bound[bad])
             || is_stream(bound[bad]))) {
        return bad;
    }
    int shared = has_attributes(l) ? shared_object(bound, *n) : -1;
    if (shared >= 0) {
        return shared;
    }
    int found = records_keys(l, bound, n, keys, held);
    for (int round = 0; found == -2 && round < MOST_LEARNED; round++) {
        Py_CLEAR(*held);
        if (!records_learn(f, l, bound, l->nparams + nhidden)) {
            return PyErr_Occurred() ? -3 : bad;
        }
        nhidden = l->guards.nhidden; /* methods may use other globals */
        for (int i = 0; i < nhidden; i++) {
            bound[l->nparams + i] = l->guards.hidden[i];
        }
        *n = l->nparams + nhidden;
        found = records_keys(l, bound, n, keys, held);
    }
    return found == -2 ? bad : found;
}

/* NULL: run Python, or an exception is set.  '*bad' is the argument that no
 * native code takes, or -1. */
static Spec *
find_or_make(Accel *f, Loaded *l, PyObject **bound, int *nbound,
             PyObject **held, int *bad)
{
    uint32_t keys[MAX_ARGS];
    int plain = *nbound;
    *bad = call_keys_of(f, l, bound, nbound, keys, held);
    int n = *nbound;
    if (*bad == -3) {
        *bad = -1;
        return NULL;
    }
    if (*bad >= 0) {
        tell_argument(f, l, bound[*bad], *bad);
        return NULL;
    }
    for (int i = 0; i < l->nspecs; i++) {
        if (spec_accepts(l->specs[i], keys, bound)) {
            if (i > 0) {
                move_to_front(l, i);
            }
            return l->specs[0];
        }
    }
    *bad = lists_check(bound, n);
    while (*bad >= plain) { /* an attribute, which may not be needed */
        keys[*bad] = K_OPAQUE;
        int next = lists_check(bound + *bad + 1, n - *bad - 1);
        *bad = next < 0 ? -1 : *bad + 1 + next;
    }
    if (*bad >= 0) {
        tell_argument(f, l, bound[*bad], *bad);
        return NULL;
    }
    return spec_make(f, l, bound, keys, n);
}

/* --- the calls ----------------------------------------------------------- */

/* What a call costs before the kernel's first instruction, one array and three
 * globals, on the machine that this was written on:
 *
 *     vectorcall, binding, reference counts    10 ns
 *     guards                                   10 ns, 12 more per changed dict
 *     keys and specialisation                   5 ns per array
 *     slots                                     5 ns per array
 *     flags, thread, clock                     15 ns
 *
 * A Python function with one argument takes about 40 ns. */

static Outcome
dispatch_bound(Accel *f, Loaded *l, PyObject **bound, int n, Trial *trial,
               PyObject **held, PyObject **result)
{
    int bad;
    Spec *spec = find_or_make(f, l, bound, &n, held, &bad);
    if (spec == NULL) {
        return PyErr_Occurred() ? OUT_ERROR
               : bad >= 0       ? OUT_REFUSED
                                : OUT_PYTHON;
    }
    if (spec->record.given_up) { /* parts may do without what failed */
        return spec->code == DIAG_REPEATED ? OUT_REFUSED : OUT_PYTHON;
    }
    if (spec->refusal != NULL) {
        return tell_refusal(f, l, spec) < 0 ? OUT_ERROR : OUT_REFUSED;
    }
    if (trial != NULL && trial_takes(trial, l, spec, bound, n)) {
        return OUT_PYTHON;
    }
    return *held ? run_streams(f, l, spec, bound, n, result)
                 : run_native(f, l, spec, bound, result);
}

/* OUT_PYTHON and OUT_REFUSED have had no effect.  Global arrays and defaults
 * are borrowed from places that another thread may change while this one
 * compiles without the GIL, so all arguments are held from here on. */
Outcome
call_dispatch(Accel *f, Loaded *l, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, Trial *trial, PyObject **result)
{
    PyObject *bound[MAX_ARGS];
    if (l->refusal != NULL) {
        if (l->told && !f->strict && !f->core->strict) {
            return OUT_REFUSED;
        }
        l->told = true;
        int told = fallback_note(f, l->code, l->refusal, NULL, NULL, 0);
        return told < 0 ? OUT_ERROR : OUT_REFUSED;
    }
    int n = call_bind(f, l, args, nargs, kwnames, bound);
    if (n < 0) {
        return OUT_PYTHON;
    }
    for (int i = 0; i < n; i++) {
        Py_INCREF(bound[i]);
    }
    PyObject *args_held[MAX_ARGS];
    PyObject *held = NULL;
    memcpy(args_held, bound, sizeof(*bound) * (size_t)n);
    Outcome out = dispatch_bound(f, l, bound, n, trial, &held, result);
    for (int i = 0; i < n; i++) {
        Py_DECREF(args_held[i]);
    }
    Py_XDECREF(held);
    return out;
}

/* For compile() and explain(). */
Spec *
call_spec(Accel *f, Loaded **l, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, PyObject **bound, int *nbound, PyObject **held)
{
    *l = accel_loaded(f);
    if (*l == NULL || loaded_keep(*l)->refusal != NULL) {
        return NULL;
    }
    *nbound = call_bind(f, *l, args, nargs, kwnames, bound);
    if (*nbound < 0) {
        PyErr_SetString(PyExc_TypeError,
                        "the arguments don't fit the function");
        return NULL;
    }
    int bad;
    return find_or_make(f, *l, bound, nbound, held, &bad);
}
