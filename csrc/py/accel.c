/* The type Accelerated.  In Python it would read
 *
 *     class Accelerated:
 *         def __init__(self, py_func, options): ...
 *         def __call__(self, *args, **kwargs): ...    # see call.c
 *         def __get__(self, instance, owner=None):
 *             return types.MethodType(self, instance) if instance else self
 *         stats, signatures, py_func, options           # properties
 *         def compile(self, *args, **kwargs): ...
 *         def explain / inspect_c (self, *args, **kwargs)
 *
 * vizgen.decorator makes the objects and gives them the function's metadata.
 * What is asked for rarely is written in Python, in vizgen.describe.
 */
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

#include <stddef.h>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_READONLY READONLY
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#endif

/* Has the module been imported to its end, or is it 'now'?  Another thread may
 * be about to. */
static bool
is_imported(const char *module, bool now)
{
    static const char *known[64];
    static int n;
    for (int i = 0; i < n; i++) {
        if (known[i] == module) { /* all are literals */
            return true;
        }
    }
    if (now && n < 64) {
        known[n++] = module;
    }
    return false;
}

/* By the way that forks know of. */
PyObject *
load_module(const char *module)
{
    PyObject *lazy = PyImport_ImportModule("vizgen.lazy");
    PyObject *found = lazy ? PyObject_CallMethod(lazy, "load", "s", module)
                           : NULL;
    Py_XDECREF(lazy);
    return found;
}

/* Importing what is imported takes a microsecond; after the first time this is
 * a dict look-up. */
static PyObject *
find_module(const char *module)
{
    PyObject *found = NULL;
    if (is_imported(module, false)) {
        PyObject *text = PyUnicode_InternFromString(module);
        found = text ? PyImport_GetModule(text) : NULL;
        Py_XDECREF(text);
    }
    if (found == NULL && !PyErr_Occurred()) {
        found = load_module(module);
        is_imported(module, found != NULL);
    }
    return found;
}

PyObject *
helper(const char *module, const char *name)
{
    PyObject *found = find_module(module);
    PyObject *value = found ? PyObject_GetAttrString(found, name) : NULL;
    Py_XDECREF(found);
    return value;
}

/* The type can't be subclassed. */
bool
is_accel(const Core *core, PyObject *object)
{
    return Py_TYPE(object) == core->accel_type;
}

/* --- life ---------------------------------------------------------------- */

/* An Accelerated refers to its function, and what it has loaded to the module's
 * globals, which refer to it: a cycle, so the type takes part in collection. */

/* NULL for no text. */
static char *
copy_text(const char *text)
{
    if (text == NULL || *text == '\0') {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = PyMem_Malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Replaces the options and compiler of a variant. */
static void
set_variant(Accel *f, const char *opts, const char *compiler)
{
    PyMem_Free(f->opts_text);
    PyMem_Free(f->compiler);
    f->opts_text = copy_text(opts);
    f->compiler = copy_text(compiler);
    f->looked_up = true;
}

/* A compiler that the user named stays. */
void
accel_tuned(Accel *f, const char *opts, const char *compiler)
{
    char *mine = copy_text(f->compiler);
    set_variant(f, opts, mine ? mine : compiler);
    PyMem_Free(mine);
}

/* A part looks for no choice of its own. */
Accel *
accel_part(const Accel *owner, PyObject *function)
{
    PyObject *made = PyObject_CallFunctionObjArgs(
        (PyObject *)owner->core->accel_type, function, owner->options, NULL);
    Accel *f = (Accel *)made;
    if (f != NULL) {
        f->silent = true;
        if (f->approx.measure != MEASURE_NONE) {
            f->approx = (Approx){0}; /* a bound is of the whole */
        }
        set_variant(f, owner->opts_text, owner->compiler);
    }
    return f;
}

/* vizgen.decorator has checked the values. */
static bool
take_options(Accel *f, PyObject *options)
{
    PyObject *strict = PyDict_GetItemString(options, "strict");
    PyObject *threads = PyDict_GetItemString(options, "threads");
    PyObject *approx = PyDict_GetItemString(options, "approx");
    char why[APPROX_WHY];
    if (approx != NULL && PyUnicode_Check(approx)) {
        const char *text = PyUnicode_AsUTF8(approx);
        f->exact = text == NULL || !approx_parse(text, &f->approx, why)
                   || f->approx.relax == 0;
    }
    f->strict = strict != NULL && PyObject_IsTrue(strict) > 0;
    if (threads != NULL && PyLong_Check(threads)) {
        f->threads = (int)PyLong_AsLong(threads);
    }
    return !PyErr_Occurred();
}

/* VIZGEN_APPROX is for functions that say nothing themselves.  Calls that are
 * compared with Python's are exact. */
static bool
take_approx(Accel *f)
{
    const char *text = getenv("VIZGEN_APPROX");
    char why[APPROX_WHY];
    int bad = 0;
    if (f->approx.relax == 0 && !f->exact && text != NULL && *text
        && !approx_parse(text, &f->approx, why)) {
        f->approx = (Approx){0};
        bad = environment_check("VIZGEN_APPROX");
    }
    if (f->core->checking) {
        f->approx = (Approx){0};
    }
    return bad >= 0;
}

/* The environment is read when a function is decorated, so a program may set
 * it before it imports its kernels. */
static bool
take_environment(Accel *f)
{
    const char *opts = getenv("VIZGEN_OPTS");
    const char *compiler = getenv("VIZGEN_CC");
    const char *trials = getenv("VIZGEN_TRIALS");
    f->trials = trials == NULL || strcmp(trials, "0") != 0;
    if (opts != NULL && *opts) {
        int bad = environment_check("VIZGEN_OPTS");
        if (bad < 0) {
            return false;
        }
        f->opts_text = bad ? NULL : copy_text(opts);
    }
    f->compiler = copy_text(compiler);
    return take_approx(f);
}

/* The call is chosen here once, so that VIZGEN_DISABLE and VIZGEN_CHECK
 * cost ordinary calls nothing. */
static PyObject *
accel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *func;
    PyObject *options;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Accelerated takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O!:Accelerated", &PyFunction_Type, &func,
                          &PyDict_Type, &options)) {
        return NULL;
    }
    Accel *f = (Accel *)type->tp_alloc(type, 0);
    if (f == NULL) {
        return NULL;
    }
    f->core = PyType_GetModuleState(type);
    f->vectorcall = f->core->disabled   ? disabled_vectorcall
                    : f->core->checking ? checked_vectorcall
                                        : accel_vectorcall;
    f->py_func = Py_NewRef(func);
    f->options = Py_NewRef(options);
    if (!take_options(f, options) || !take_environment(f)) {
        Py_DECREF(f);
        return NULL;
    }
    return (PyObject *)f;
}

/* While a call runs it holds what was loaded too; then these references are
 * left out of the count, which only delays a collection. */
static int
accel_traverse(PyObject *self, visitproc visit, void *arg)
{
    Accel *f = (Accel *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(f->dict);
    Py_VISIT(f->py_func);
    Py_VISIT(f->options);
    Py_VISIT(f->reasons);
    Py_VISIT(f->split.code);
    Py_VISIT(f->split.function);
    Py_VISIT(f->split.parts);
    if (f->loaded != NULL && f->loaded->refs == 1) {
        for (int i = 0; i < f->loaded->nspecs; i++) {
            spec_traverse(f->loaded->specs[i], visit, arg);
        }
        int stop = classes_traverse(f->loaded, visit, arg);
        return stop ? stop
                    : guards_traverse(&f->loaded->guards, visit, arg);
    }
    return 0;
}

/* py_func stays: a call in a finaliser must still find it. */
static int
accel_clear(PyObject *self)
{
    Accel *f = (Accel *)self;
    Py_CLEAR(f->dict);
    Py_CLEAR(f->options);
    Py_CLEAR(f->reasons);
    Py_CLEAR(f->told_text);
    accel_forget(f);
    return 0;
}

/* py_func goes last: until the object is gone calls must find it. */
static void
accel_dealloc(PyObject *self)
{
    Accel *f = (Accel *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (f->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    accel_clear(self);
    Py_CLEAR(f->py_func);
    PyMem_Free(f->opts_text);
    PyMem_Free(f->compiler);
    if (f->lock != NULL && f->owner == 0) {
        PyThread_free_lock(f->lock);
    }
    type->tp_free(self);
    Py_DECREF(type);
}

/* --- behaviour ----------------------------------------------------------- */

/* What Python code expects of a function and gets here too: binding as a
 * method, a name to be pickled by, copies that are the function itself.  The
 * rest of that is in the properties below and in vizgen.decorator. */

/* As functions do, so methods work, and pickle by name. */
static PyObject *
accel_get(PyObject *self, PyObject *instance, PyObject *owner)
{
    (void)owner;
    if (instance == NULL || instance == Py_None) {
        return Py_NewRef(self);
    }
    return PyMethod_New(self, instance);
}

/* Kernels that are thrown away by a guard don't count. */
static int
count_native(const Accel *f)
{
    int n = 0;
    for (int i = 0; f->loaded != NULL && i < f->loaded->nspecs; i++) {
        n += f->loaded->specs[i]->refusal == NULL;
    }
    return n;
}

/* Replays count as calls and as fallbacks. */
static PyObject *
accel_repr(PyObject *self)
{
    Accel *f = (Accel *)self;
    const Counters *count = &f->count;
    unsigned long long calls =
        count->native + count->mixed + count->python + count->replays;
    unsigned long long fallbacks = count->python + count->replays;
    int native = count_native(f);
    return PyUnicode_FromFormat(
        "<accelerated %U: %d native version%s, %llu call%s, %llu fallback%s>",
        ((PyFunctionObject *)f->py_func)->func_name, native,
        native == 1 ? "" : "s", calls, calls == 1 ? "" : "s", fallbacks,
        fallbacks == 1 ? "" : "s");
}

/* By name where that finds the object, else by value. */
static PyObject *
accel_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *reduce = helper("vizgen.decorator", "_reduce");
    PyObject *out = reduce ? PyObject_CallOneArg(reduce, self) : NULL;
    Py_XDECREF(reduce);
    return out;
}

/* copy and deepcopy of functions give the function. */
static PyObject *
accel_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* --- what the user may ask ----------------------------------------------- */

/* Will such a call run native?  Reasons to stay in Python are told as by a
 * call. */
static PyObject *
method_compile(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    Accel *f = (Accel *)self;
    Loaded *l;
    PyObject *bound[MAX_ARGS];
    int n;
    PyObject *held = NULL;
    Spec *spec = call_spec(f, &l, args, nargs, kwnames, bound, &n, &held);
    Py_XDECREF(held);
    int status = PyErr_Occurred() ? -1 : 0;
    if (status == 0 && l != NULL && l->refusal != NULL) {
        status = fallback_tell(f, l->code, l->refusal, NULL, NULL, 0);
    } else if (status == 0 && spec != NULL && spec->refusal != NULL) {
        status = fallback_tell(f, spec->code, spec->refusal, &l->diags,
                               spec->diags, spec->ndiags);
    }
    if (status == 0 && f->split.note != NULL && !f->silent) {
        status = split_tell(f); /* of an argument that has no signature */
    }
    bool native = spec != NULL && spec->refusal == NULL;
    loaded_drop(l);
    return status < 0 ? NULL : PyBool_FromLong(native);
}

/* explain and inspect_c: vizgen.describe makes the text. */
static PyObject *
described(const char *name, PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *make = helper("vizgen.describe", name);
    PyObject *empty = keywords ? Py_NewRef(keywords) : PyDict_New();
    PyObject *out = NULL;
    if (make != NULL && empty != NULL) {
        out = PyObject_CallFunctionObjArgs(make, self, args, empty, NULL);
    }
    Py_XDECREF(make);
    Py_XDECREF(empty);
    return out;
}

/* See vizgen.describe. */
static PyObject *
method_explain(PyObject *self, PyObject *args, PyObject *keywords)
{
    return described("explain", self, args, keywords);
}

/* See vizgen.describe. */
static PyObject *
method_inspect_c(PyObject *self, PyObject *args, PyObject *keywords)
{
    return described("inspect_c", self, args, keywords);
}

/* For the tuner and for tests; None means the defaults. */
static PyObject *
method_set_variant(PyObject *self, PyObject *args)
{
    const char *opts = NULL;
    const char *compiler = NULL;
    if (!PyArg_ParseTuple(args, "|zz:_set_variant", &opts, &compiler)
        || !opts_check(opts ? opts : "")) {
        return NULL;
    }
    set_variant((Accel *)self, opts, compiler);
    accel_forget((Accel *)self);
    Py_RETURN_NONE;
}

/* The ordinary call, whatever VIZGEN_CHECK says. */
static PyObject *
method_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames)
{
    return accel_vectorcall(self, args, (size_t)nargs, kwnames);
}

/* The hidden arguments, with the attributes of those that are objects; how
 * many, -1 with an exception. */
static int
hidden_bound(Accel *f, Loaded *l, PyObject **bound, PyObject **held)
{
    uint32_t keys[MAX_ARGS];
    int found = -2;
    int n = 0;
    for (int round = 0; found == -2 && round < MAX_ARGS; round++) {
        Py_CLEAR(*held);
        n = l->guards.nhidden;
        memcpy(bound, n ? l->guards.hidden : bound,
               sizeof(*bound) * (size_t)n);
        if (round > 0 && !records_learn(f, l, bound, n)) {
            break;
        }
        found = records_keys(l, bound, &n, keys, held);
    }
    return PyErr_Occurred() ? -1 : n;
}

/* The global arrays that the function was loaded with, and those that global
 * objects hold. */
static PyObject *
method_hidden(PyObject *self, PyObject *unused)
{
    (void)unused;
    Accel *f = (Accel *)self;
    Loaded *l = accel_loaded(f);
    if (l == NULL && PyErr_Occurred()) {
        return NULL;
    }
    PyObject *bound[MAX_ARGS];
    PyObject *held = NULL;
    int n = l ? hidden_bound(f, l, bound, &held) : 0;
    PyObject *out = n < 0 ? NULL : PyList_New(0);
    for (int i = 0; out != NULL && i < n; i++) {
        if (PyArray_CheckExact(bound[i]) && PyList_Append(out, bound[i]) < 0) {
            Py_CLEAR(out);
        }
    }
    Py_XDECREF(held);
    Py_XSETREF(out, out ? PyList_AsTuple(out) : NULL);
    return out;
}

/* What the function is split into, a tuple; None: by no call so far.  With an
 * argument it is split now. */
static PyObject *
method_parts(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    (void)args;
    Accel *f = (Accel *)self;
    if (nargs > 0) {
        PyObject *rest = split_function(f);
        Py_XDECREF(rest);
        if (rest == NULL && PyErr_Occurred()) {
            return NULL;
        }
    }
    if (!f->split.tried) {
        Py_RETURN_NONE;
    }
    return f->split.parts ? Py_NewRef(f->split.parts) : PyTuple_New(0);
}

/* The raw material of explain and of reports. */
static PyObject *
method_describe(PyObject *self, PyObject *unused)
{
    (void)unused;
    return accel_describe((Accel *)self);
}

static PyObject *
method_describe_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    return call_describe((Accel *)self, args, nargs, kwnames);
}

static PyMethodDef methods[] = {
    {"compile", (PyCFunction)(void (*)(void))method_compile,
     METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("compile($self, /, *args, **kwargs)\n--\n\n"
               "Compile for arguments like these, without calling the function."
               "\n\nTrue: such calls run native.  False: they stay in Python, "
               "or only their\nloops run native; a FallbackWarning says why.")},
    {"explain", (PyCFunction)(void (*)(void))method_explain,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("explain($self, /, *args, **kwargs)\n--\n\n"
               "What was compiled, what was not and why, as text: of each loop "
               "whether it\nruns in parallel and with SIMD, which checks and "
               "allocations are left.\nWith arguments, of the version for such "
               "arguments, which is compiled if\nneed be.")},
    {"inspect_c", (PyCFunction)(void (*)(void))method_inspect_c,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("inspect_c($self, /, *args, **kwargs)\n--\n\n"
               "The C text of the function.")},
    {"_call", (PyCFunction)(void (*)(void))method_call,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_set_variant", method_set_variant, METH_VARARGS,
     PyDoc_STR("_set_variant($self, opts=None, compiler=None, /)\n--\n\n"
               "Compile anew with these options.")},
    {"_hidden", method_hidden, METH_NOARGS, NULL},
    {"_parts", (PyCFunction)(void (*)(void))method_parts, METH_FASTCALL, NULL},
    {"_describe", method_describe, METH_NOARGS, NULL},
    {"_describe_call", (PyCFunction)(void (*)(void))method_describe_call,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__reduce__", accel_reduce, METH_NOARGS, NULL},
    {"__copy__", accel_copy, METH_NOARGS, NULL},
    {"__deepcopy__", accel_copy, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

/* --- properties ---------------------------------------------------------- */

/* __code__ and its like belong to py_func; setting them there is what a
 * debugger, a reloader or a test would do, and the guards notice. */

/* Forwards to the attribute of py_func that 'closure' names. */
static PyObject *
get_forwarded(PyObject *self, void *closure)
{
    return PyObject_GetAttrString(((Accel *)self)->py_func, closure);
}

/* Guards see the change at the next call. */
static int
set_forwarded(PyObject *self, PyObject *value, void *closure)
{
    return PyObject_SetAttrString(((Accel *)self)->py_func, closure, value);
}

/* A snapshot. */
static PyObject *
get_stats(PyObject *self, void *unused)
{
    (void)unused;
    const Accel *f = (Accel *)self;
    Counters c = f->count;
    parts_count(f, &c);
    return PyObject_CallFunction(f->core->stats_type, "KKKKKKd", c.native,
                                 c.mixed, c.python, c.replays, c.compiles,
                                 c.cache_hits, c.compile_seconds);
}

/* As the parameters' types are written in messages. */
static PyObject *
get_signatures(PyObject *self, void *unused)
{
    (void)unused;
    const Loaded *l = ((Accel *)self)->loaded;
    PyObject *out = PyList_New(0);
    for (int i = 0; out != NULL && l != NULL && i < l->nspecs; i++) {
        if (l->specs[i]->refusal != NULL) {
            continue;
        }
        PyObject *text = PyUnicode_FromString(l->specs[i]->text);
        if (text == NULL || PyList_Append(out, text) < 0) {
            Py_CLEAR(out);
        }
        Py_XDECREF(text);
    }
    return out;
}

static char code_name[] = "__code__";
static char defaults_name[] = "__defaults__";
static char kwdefaults_name[] = "__kwdefaults__";
static char closure_name[] = "__closure__";
static char globals_name[] = "__globals__";
static char builtins_name[] = "__builtins__";

static PyGetSetDef getset[] = {
    {"__code__", get_forwarded, set_forwarded, NULL, code_name},
    {"__defaults__", get_forwarded, set_forwarded, NULL, defaults_name},
    {"__kwdefaults__", get_forwarded, set_forwarded, NULL, kwdefaults_name},
    {"__closure__", get_forwarded, NULL, NULL, closure_name},
    {"__globals__", get_forwarded, NULL, NULL, globals_name},
    {"__builtins__", get_forwarded, NULL, NULL, builtins_name},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"stats", get_stats, NULL, PyDoc_STR("Counters of calls and compilations."),
     NULL},
    {"signatures", get_signatures, NULL,
     PyDoc_STR("Texts of the signatures that run native."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Accel, vectorcall),
     Py_READONLY, NULL},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(Accel, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(Accel, weakrefs),
     Py_READONLY, NULL},
    {"py_func", Py_T_OBJECT_EX, offsetof(Accel, py_func), Py_READONLY,
     PyDoc_STR("The Python function.")},
    {"options", Py_T_OBJECT_EX, offsetof(Accel, options), Py_READONLY,
     PyDoc_STR("The keywords that accelerate() was given.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, accel_new},
    {Py_tp_dealloc, accel_dealloc},
    {Py_tp_traverse, accel_traverse},
    {Py_tp_clear, accel_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, accel_get},
    {Py_tp_repr, accel_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {Py_tp_doc, "A function with native versions; see vizgen.accelerate."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "vizgen._core.Accelerated",
    .basicsize = sizeof(Accel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC
             | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

/* Types are made per module, without static objects. */
PyTypeObject *
accel_type_make(PyObject *module)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
