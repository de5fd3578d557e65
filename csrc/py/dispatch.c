/* A call of an accelerated function.
 *
 *     f(img, r=2)
 *       guards    f and what it uses are as they were          guards.c
 *       bind      arguments in order, defaults, hidden arrays
 *       keys      one word per argument                        args.c
 *       spec      most recently used first, else compile       specs.c
 *       fill      slots on the C stack                         args.c
 *       run       fast kernel                                  host.c
 *         BAIL    undo, general kernel
 *         REPLAY  undo, the Python function
 *       result                                                 result.c
 *
 * Nothing is allocated on this way but the results.  Whenever something is
 * out of the ordinary the answer is the Python function itself with the
 * arguments as they came, so exceptions, warnings and tracebacks are its own.
 */
#include "csrc/py/core.h"

#include <fenv.h>
#include <pthread.h>

/* After this many bails the general kernel is run at once, after this many
 * calls that warned the counting one. */
enum { PATIENCE_BAILS = 8, PATIENCE_WARNED = 8 };

/* So many calls that warn are repeated in Python for its exact texts. */
enum { EXACT_TIMES = 1 };

/* What became of a native attempt. */
typedef enum Outcome {
    OUT_DONE,   /* the result is there */
    OUT_PYTHON, /* it could not begin: run Python */
    OUT_REPLAY, /* it was given up: run Python */
    OUT_ERROR,  /* an exception is set */
} Outcome;

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

/* Leaves an exception if the warning became one, or if strict. */
static void
tell_argument(Accel *f, const Loaded *l, PyObject *object, int index)
{
    DiagId code;
    PyObject *text = argument_text(f, l, object, index, &code);
    if (text != NULL) {
        fallback_tell(f, code, text, NULL, NULL, 0);
        Py_DECREF(text);
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
    return fallback_tell(f, spec->code, spec->refusal, &l->diags, spec->diags,
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

/* NULL: run Python, or an exception is set. */
static Spec *
find_or_make(Accel *f, Loaded *l, PyObject *const *bound, int n)
{
    uint32_t keys[MAX_ARGS];
    int bad = call_keys(bound, n, keys);
    if (bad >= 0) {
        tell_argument(f, l, bound[bad], bad);
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
    return spec_make(f, l, bound, keys, n);
}

/* --- running ------------------------------------------------------------- */

/* One attempt per kernel.  State that an attempt leaves behind belongs to the
 * Call and is taken back by call_undo before the next one: logged or shadowed
 * memory of the caller, and results that were made.  Scratch memory stays until
 * the end; it is only a matter of bytes. */

/* Only what is read before it is written; a Call is large.  References to the
 * arguments are taken, since the GIL may be released: other threads can then
 * rebind globals and defaults, and arrays can't be resized. */
static void
call_init(Call *call, Accel *f, Loaded *l, Spec *spec, PyObject *const *args)
{
    call->f = f;
    call->loaded = l;
    call->spec = spec;
    call->args = args;
    call->nkept = spec->nargs;
    for (int i = 0; i < spec->nargs; i++) {
        call->kept[i] = Py_NewRef(args[i]);
    }
    call->nresults = 0;
    call->saved = NULL;
    call->interrupted = false;
    call->quiet = false;
    call->settling = false;
    call->bold = false;
    call->scratch = NULL;
    call->undo = (Undo){.arrays = call->undo_arrays};
}

/* Takes back what a kernel has done, so that another may be run. */
static void
call_undo(Call *call)
{
    undo_rollback(&call->undo);
    call_drop_results(call);
}

/* Once per kernel that is tried: their plans may differ. */
static FillStatus
prepare(Call *call, const Kernel *kernel)
{
    call->kernel = kernel;
    call->overlaps_itself = false;
    call->elements = 0;
    call->written = 0;
    if (call->undo.narrays > 0) {
        undo_free(&call->undo);
        call->undo.narrays = 0;
    }
    return call_fill(call);
}

/* --- warnings and what they need ----------------------------------------- */

/* NumPy looks at the flags after each scalar operation, a kernel only at its
 * end, and the flags can't tell a warning of a NumPy number from an infinity of
 * Python's floats, or from a division in a lane that was then thrown away.
 *
 *     flags clear                    nothing to do: nearly always
 *     flags set, nobody listens      nothing to do (quiet, or OUTLOOK_IGNORE)
 *     flags set                      take back, run the counting kernel
 *
 * Taking back needs either that no visible memory was written, or that running
 * again writes the same values, or a log.  Kernels with none of these are
 * *fragile*, as  a[i] = a[i] * 0.5  is.  Before one of them is run it is looked
 * up whether anybody listens; if so, either the array is copied beforehand or,
 * where that would take longer than the work itself, the counting kernel is run
 * at once. */

/* A kernel that may warn and changes what it reads can't be run again to see
 * which warnings are due, unless it can be undone.  A log doesn't suffice: it
 * ends with the last check that may fail, and stores may follow. */
static bool
is_fragile(const Kernel *kernel)
{
    bool warns = kernel->may_warn || kernel->int_warns;
    return warns && kernel->rereads;
}

/* The kernel that sets ctx.warn by conditions of its own. */
static bool
is_counting(const Call *call, const Kernel *kernel)
{
    return kernel == call->spec->kernels[COUNTING];
}

/* Are shadow copies of the written arrays cheap beside the call?  Copying
 * costs about 0.3 ns a byte, and four times that in fresh memory. */
static bool
shadow_is_cheap(const Call *call)
{
    double copying = call->written * (call->written < 16e6 ? 0.3 : 1.3);
    double running = call->spec->cost * (call->elements + 1);
    return call->spec->calls == 0 || copying < 0.5 * running;
}

/* Shadows let a fragile kernel be taken back if it warns. */
static int
run_filled(Call *call, const Kernel *kernel)
{
    bool shadow = is_fragile(kernel) && !call->quiet
                  && (!call->bold || call->settling);
    return call_run(call, kernel, shadow);
}

/* Fills and runs 'kernel'; a VzStatus, VZ_REPLAY also when it can't be. */
static int
attempt(Call *call, const Kernel *kernel)
{
    if (kernel == NULL || prepare(call, kernel) != FILL_OK) {
        return VZ_REPLAY;
    }
    return run_filled(call, kernel);
}

/* In program order, for arguments that overlap or indices that a quick test
 * of the bounds did not prove. */
static int
run_general(Call *call)
{
    const Kernel *general =
        spec_kernel(call->f, call->loaded, call->spec, GENERAL);
    return attempt(call, general);
}

/* Compiled when flags are first seen set. */
static const Kernel *
counting_kernel(Call *call)
{
    return spec_kernel(call->f, call->loaded, call->spec, COUNTING);
}

/* The kinds of warnings that the flags may mean. */
static unsigned
bits_of_flags(unsigned flags)
{
    return (flags & FE_DIVBYZERO ? 1u << WARN_DIVIDE : 0)
           | (flags & FE_OVERFLOW ? 1u << WARN_OVERFLOW : 0)
           | (flags & FE_INVALID ? 1u << WARN_INVALID : 0);
}

/* The flags say too much: speculated operations set them, and so does the
 * arithmetic of Python's floats.  The counting kernel, run after the other
 * was taken back, knows.  VZ_REPLAY: Python must do the call. */
static int
settle_warnings(Call *call)
{
    bool floats = call->kernel->may_warn && !is_counting(call, call->kernel);
    unsigned bits = call->ctx.warn | (floats ? bits_of_flags(call->flags) : 0);
    if (bits == 0 || call->quiet) {
        return VZ_OK;
    }
    Outlook outlook = warn_outlook(call->f->core, &bits);
    if (outlook == OUTLOOK_PYTHON) {
        call->spec->errstate = true;
        return VZ_REPLAY;
    }
    if (outlook == OUTLOOK_IGNORE) {
        return VZ_OK;
    }
    if (floats && bits_of_flags(call->flags) != 0) {
        const Kernel *counting = counting_kernel(call);
        call_undo(call);
        call->settling = true;
        int status = attempt(call, counting);
        if (status != VZ_OK) {
            return status == VZ_INTERRUPT ? status : VZ_REPLAY;
        }
    }
    bits &= call->ctx.warn;
    if (bits == 0) {
        return VZ_OK;
    }
    bool final = is_fragile(call->kernel) && !call->undo.shadowed;
    bool exact = call->spec->warned++ < EXACT_TIMES && !final;
    return (!exact && warn_tell(call->f, bits)) || final ? VZ_OK : VZ_REPLAY;
}

/* What was begun is either completed here or has never happened. */
static Outcome
finish(Call *call, int status, PyObject **result)
{
    if (status == VZ_OK) {
        status = settle_warnings(call);
    }
    if (status == VZ_OK) {
        *result = call_result(call);
        return *result ? OUT_DONE : OUT_ERROR;
    }
    call_undo(call);
    return status == VZ_INTERRUPT && PyErr_Occurred() ? OUT_ERROR : OUT_REPLAY;
}

/* Which kernel to begin with: the general one after many bails, the counting
 * one when flags are set again and again. */
static const Kernel *
first_kernel(const Spec *spec)
{
    if (spec->bails > PATIENCE_BAILS && spec->kernels[GENERAL]) {
        return spec->kernels[GENERAL];
    }
    if (spec->warned > PATIENCE_WARNED && spec->kernels[COUNTING]) {
        return spec->kernels[COUNTING];
    }
    return spec->kernels[FAST];
}

/* Python raises its ValueError where the store is. */
static Outcome
tell_readonly(Accel *f, const Loaded *l)
{
    PyObject *text = function_text(f, l, DIAG_ARGUMENT_LAYOUT,
                                   "an array that it writes is read-only");
    int status = text ? fallback_tell(f, DIAG_ARGUMENT_LAYOUT, text, NULL,
                                      NULL, 0)
                      : -1;
    Py_XDECREF(text);
    return status < 0 ? OUT_ERROR : OUT_PYTHON;
}

/* For a fragile kernel: may it run, and is a counting one the better choice?
 * False: Python must do the call. */
static bool
choose_cautiously(Call *call)
{
    unsigned bits = ALL_WARNINGS;
    Outlook outlook = warn_outlook(call->f->core, &bits);
    call->quiet = outlook == OUTLOOK_IGNORE;
    call->spec->errstate |= outlook == OUTLOOK_PYTHON;
    call->bold = outlook == OUTLOOK_SHOW && !shadow_is_cheap(call);
    if (call->bold && call->kernel->may_warn) {
        const Kernel *counting = counting_kernel(call);
        call->bold = counting != NULL;
        return counting == NULL || prepare(call, counting) == FILL_OK;
    }
    return outlook != OUTLOOK_PYTHON;
}

/* A warning that is to be an error stops Python between two stores; a kernel
 * has done them all by then.  Where it can only write, running it twice does
 * no harm, but Python's stopping half-way can't be had afterwards. */
static bool
stops_half_way(Call *call)
{
    const Kernel *kernel = call->kernel;
    unsigned bits = ALL_WARNINGS;
    if (!kernel->writes || !(kernel->may_warn || kernel->int_warns) ||
        warn_outlook(call->f->core, &bits) != OUTLOOK_PYTHON) {
        return false;
    }
    call->spec->errstate = true;
    return true;
}

/* An array with coinciding elements is not for parallel loops. */
static Outcome
run_prepared(Call *call, PyObject **result)
{
    if (is_fragile(call->kernel) ? !choose_cautiously(call)
                                 : stops_half_way(call)) {
        return OUT_PYTHON;
    }
    int status = VZ_BAIL;
    if (!call->overlaps_itself) {
        status = run_filled(call, call->kernel);
    }
    if (status == VZ_BAIL) {
        call_undo(call);
        call->spec->bails++;
        status = run_general(call);
    }
    return finish(call, status, result);
}

/* Nothing that was allocated outlives this but the result. */
static Outcome
run_native(Accel *f, Loaded *l, Spec *spec, PyObject *const *args,
           PyObject **result)
{
    Call call;
    call_init(&call, f, l, spec, args);
    FillStatus filled = prepare(&call, first_kernel(spec));
    Outcome out = filled == FILL_OK         ? run_prepared(&call, result)
                  : filled == FILL_READONLY ? tell_readonly(f, l)
                                            : OUT_PYTHON;
    call_finish(&call);
    return out;
}

/* np.random's global state is partly kept where kernels can't see it:
 * vizgen.library.random fetches it ("enter") and gives it back ("leave").
 * False: it isn't what was compiled for, or an exception is set. */
static bool
random_state(const char *what)
{
    PyObject *function = helper("vizgen.library.random", what);
    PyObject *answer = function ? PyObject_CallNoArgs(function) : NULL;
    bool yes = answer != NULL && answer != Py_False;
    Py_XDECREF(function);
    Py_XDECREF(answer);
    return yes;
}

/* Also when the call failed: then the kept state is as it was. */
static Outcome
run_random(Accel *f, Loaded *l, Spec *spec, PyObject *const *args,
           PyObject **result)
{
    if (!random_state("enter")) {
        return PyErr_Occurred() ? OUT_ERROR : OUT_PYTHON;
    }
    Outcome out = run_native(f, l, spec, args, result);
    PyObject *class;
    PyObject *error;
    PyObject *traceback;
    PyErr_Fetch(&class, &error, &traceback);
    bool left = random_state("leave");
    if (error != NULL || class != NULL) {
        PyErr_Restore(class, error, traceback);
    } else if (!left && out == OUT_DONE) {
        Py_CLEAR(*result);
        return OUT_ERROR;
    }
    return out;
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
dispatch_bound(Accel *f, Loaded *l, PyObject *const *bound, int n,
               PyObject **result)
{
    Spec *spec = find_or_make(f, l, bound, n);
    if (spec == NULL) {
        return PyErr_Occurred() ? OUT_ERROR : OUT_PYTHON;
    }
    if (spec->refusal != NULL) {
        return tell_refusal(f, l, spec) < 0 ? OUT_ERROR : OUT_PYTHON;
    }
    return l->guards.random ? run_random(f, l, spec, bound, result)
                            : run_native(f, l, spec, bound, result);
}

/* OUT_PYTHON has had no effect beyond telling why.  Global arrays and defaults
 * are borrowed from places that another thread may change while this one
 * compiles without the GIL, so all arguments are held from here on. */
static Outcome
dispatch(Accel *f, Loaded *l, PyObject *const *args, Py_ssize_t nargs,
         PyObject *kwnames, PyObject **result)
{
    PyObject *bound[MAX_ARGS];
    if (l->refusal != NULL) {
        if (l->told && !f->strict && !f->core->strict) {
            return OUT_PYTHON;
        }
        l->told = true;
        int told = fallback_tell(f, l->code, l->refusal, NULL, NULL, 0);
        return told < 0 ? OUT_ERROR : OUT_PYTHON;
    }
    int n = call_bind(f, l, args, nargs, kwnames, bound);
    if (n < 0) {
        return OUT_PYTHON;
    }
    for (int i = 0; i < n; i++) {
        Py_INCREF(bound[i]);
    }
    Outcome out = dispatch_bound(f, l, bound, n, result);
    for (int i = 0; i < n; i++) {
        Py_DECREF(bound[i]);
    }
    return out;
}

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

/* Replays are counted apart from calls that never were native. */
PyObject *
accel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames)
{
    Accel *f = (Accel *)self;
    PyObject *result = NULL;
    Outcome out = OUT_PYTHON;
    Loaded *l = accel_loaded(f);
    if (l != NULL) {
        loaded_keep(l);
        out = dispatch(f, l, args, PyVectorcall_NARGS(nargsf), kwnames,
                       &result);
        loaded_drop(l);
    } else if (PyErr_Occurred()) {
        return NULL;
    }
    if (out == OUT_DONE) {
        f->count.native++;
        return result;
    }
    if (out == OUT_ERROR) {
        return NULL;
    }
    if (out == OUT_REPLAY) {
        f->count.replays++;
    } else {
        f->count.python++;
    }
    return call_python(f, args, nargsf, kwnames);
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

/* For compile() and explain(). */
Spec *
call_spec(Accel *f, Loaded **l, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, PyObject **bound, int *nbound)
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
    return find_or_make(f, *l, bound, *nbound);
}
