/* Specialisations: loading a function and compiling it for a signature.
 *
 *     first call with (uint8[:, :], int)
 *       load_function      once, and again when a guard fails
 *       vz_compile         without the GIL, one thread per function
 *       Spec               a kernel, or the reason to stay in Python
 *
 * The lock of a function is held while it is loaded or compiled.  It is only
 * waited for with the GIL released, and by a thread that already holds it not
 * at all (that call runs in Python), so neither can wait for the other.
 * After a fork the child makes new locks: the thread that held the old one
 * does not exist there, and what it was building is left behind unfinished.
 */
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

#include <pthread.h>
#include <unistd.h>

/* Changes of globals after which a function is left in Python. */
enum { MAX_RELOADS = 20 };

/* Seconds of compiling from which on it is mentioned on a terminal. */
#define SLOW 0.5

/* Microseconds between looks at pending signals while waiting for a lock. */
enum { LOCK_PATIENCE = 50000 };

static unsigned forks; /* how many forks lie between this process and ... */

/* Runs in the child. */
static void
count_fork(void)
{
    forks++;
}

/* Once per process. */
void
specs_init(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

/* --- the lock ------------------------------------------------------------ */

/* Who may wait for whom.  A thread that waits for a lock holds neither the GIL
 * nor another function's lock, except where loading or compiling one function
 * calls another accelerated one from Python code (an import hook, a finaliser).
 * Two threads could then wait for each other only if each loads what the other
 * one calls that way; loading imports nothing of the user's, so it doesn't
 * happen.  The same function is recognised by its owner. */

/* In the child of a fork: a fresh lock, and nothing half-built. */
static bool
lock_ready(Accel *f)
{
    if (f->lock != NULL && f->lock_forks != forks) {
        f->lock = NULL;
        f->owner = 0;
        if (f->loaded != NULL && f->loaded->busy) {
            f->loaded = NULL;
        }
    }
    if (f->lock == NULL) {
        f->lock = PyThread_allocate_lock();
        f->lock_forks = forks;
    }
    return f->lock != NULL || PyErr_NoMemory() != NULL;
}

/* False: with an exception (a signal handler's), or without one when this
 * thread holds the lock already. */
bool
accel_lock(Accel *f)
{
    unsigned long me = PyThread_get_thread_ident();
    if (!lock_ready(f) || f->owner == me) {
        return false;
    }
    PyLockStatus status = PyThread_acquire_lock_timed(f->lock, 0, 0);
    while (status != PY_LOCK_ACQUIRED) {
        PyThread_type_lock lock = f->lock;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(lock, LOCK_PATIENCE, 1);
        Py_END_ALLOW_THREADS
        if (status != PY_LOCK_ACQUIRED && PyErr_CheckSignals() < 0) {
            return false;
        }
    }
    f->owner = me;
    return true;
}

/* By the thread that took it, with the GIL held. */
void
accel_unlock(Accel *f)
{
    f->owner = 0;
    PyThread_release_lock(f->lock);
}

/* --- loading ------------------------------------------------------------- */

/* A Loaded is never changed back: when a guard fails the whole of it is
 * dropped and made anew from the file as it is now.  That is rare in a program
 * that runs (constants are set before the kernels are called), so it may cost
 * a millisecond and, if the code comes out the same, a look into the cache. */

/* Running calls keep the old one alive by their own reference. */
static void
set_loaded(Accel *f, Loaded *fresh)
{
    Loaded *old = f->loaded;
    f->loaded = fresh;
    loaded_drop(old);
}

/* The next call begins as the first one did. */
void
accel_forget(Accel *f)
{
    set_loaded(f, NULL);
    f->reloads = 0;
    f->gave_up = false;
    split_clear(f);
}

/* For good: recompiling at every call is slower than Python. */
static Loaded *
give_up(Accel *f)
{
    f->gave_up = true;
    set_loaded(f, NULL);
    function_tell(f, NULL, DIAG_TOO_MANY_SIGNATURES,
                  "a global that the function uses is changed again and "
                  "again; pass it as an argument");
    return NULL;
}

/* Two threads that find the same guard broken load once: the second finds
 * the work done when it has the lock. */
Loaded *
accel_loaded(Accel *f)
{
    Loaded *stale = f->loaded;
    if (stale != NULL && !stale->stale && guards_hold(&stale->guards)) {
        return stale;
    }
    if (f->gave_up || !accel_lock(f)) {
        return NULL;
    }
    Loaded *fresh = f->loaded;
    if (f->gave_up) { /* meanwhile, in another thread */
        accel_unlock(f);
        return NULL;
    }
    if (fresh == NULL || fresh == stale || fresh->stale
        || !guards_hold(&fresh->guards)) {
        if (stale != NULL && ++f->reloads > MAX_RELOADS) {
            accel_unlock(f);
            return give_up(f);
        }
        fresh = load_function(f);
        if (fresh != NULL) {
            set_loaded(f, fresh);
        } else if (PyErr_ExceptionMatches(PyExc_RecursionError)
                   || PyErr_ExceptionMatches(PyExc_OSError)) {
            PyErr_Clear(); /* may pass: only this call runs in Python */
        }
    }
    accel_unlock(f);
    return fresh;
}

/* --- what was tuned ------------------------------------------------------- */

/* What tuning chose, unless options were given by hand. */
static void
look_up_tuned(Accel *f)
{
    if (f->looked_up || f->opts_text != NULL) {
        return;
    }
    f->looked_up = true;
    PyObject *ask = helper("vizgen.decorator", "_tuned");
    PyObject *choice = ask ? PyObject_CallOneArg(ask, f->py_func) : NULL;
    Py_XDECREF(ask);
    const char *opts;
    const char *compiler;
    if (choice != NULL && PyTuple_Check(choice)
        && PyArg_ParseTuple(choice, "zz", &opts, &compiler)
        && opts_check(opts ? opts : "")) {
        accel_tuned(f, opts, compiler);
    }
    Py_XDECREF(choice);
    PyErr_Clear();
}

/* --- making a specialisation --------------------------------------------- */

/* keys      uint8 rank 3 C, int          compared on every call
 *     pins      size of axis 2 is 3          what inference asked for
 *     consts    mode == "wrap"               strings and tuples
 *     kernels   fast; general and counting when they are first needed
 *
 * A Spec that was refused stays in the list like any other: it answers at once
 * that such calls run in Python, and has said why. */

/* Also of a refused signature: with other values it may be accepted. */
static void
take_pins(Spec *spec, Arena *arena, const Signature *sig)
{
    VEC(Pin) pins = {0};
    for (int i = 0; i < sig->nargs; i++) {
        const SigArg *arg = &sig->args[i];
        for (int axis = 0; axis < MAX_RANK; axis++) {
            if (arg->pin_size[axis]) {
                Pin pin = {.arg = i, .axis = axis, .ival = arg->sizes[axis]};
                vec_push(arena, &pins, pin);
            }
        }
        if (arg->pin_value) {
            Pin pin = {
                .arg = i,
                .axis = -1,
                .is_float = dtype_is_float(arg->type->dtype),
                .ival = arg->ival,
                .fval = arg->fval,
            };
            vec_push(arena, &pins, pin);
        }
    }
    spec->pins = pins.at;
    spec->npins = pins.n;
}

/* After inference, so pinned sizes show.  Hidden arrays are left out. */
static void
take_text(Spec *spec, Arena *arena, const Signature *sig, int nparams)
{
    Str text = str_new(arena);
    for (int i = 0; i < nparams; i++) {
        str_add(&text, i ? ", " : "");
        type_add(&text, sig->args[i].type);
    }
    spec->text = text.at;
}

/* Strings and tuples decide by value; None has a key of its own. */
static void
take_consts(Spec *spec, Arena *arena, PyObject *const *args, int nargs)
{
    spec->consts = ARENA_ARRAY(arena, Const, nargs + 1);
    for (int i = 0; i < nargs; i++) {
        if (key_has_const(spec->keys[i])) {
            spec->consts[spec->nconsts++] = (Const){i, Py_NewRef(args[i])};
        }
    }
}

/* Why the specialisation stays in Python: the first refusal. */
static bool
take_refusal(Spec *spec, const Diags *diags)
{
    for (int i = 0; i < diags->list.n; i++) {
        const Diag *diag = &diags->list.at[i];
        if (diag->severity == SEV_REFUSAL) {
            spec->code = diag->id;
            spec->refusal = diag_text(diags, diag);
            return spec->refusal != NULL;
        }
    }
    return false;
}

/* Silence at a first call is read as a hang. */
static void
tell_slow(const Accel *f, const Spec *spec)
{
    if (spec->seconds < SLOW || !isatty(STDERR_FILENO)) {
        return;
    }
    PySys_FormatStderr("vizgen: compiled %U for (%s) in %d.%d s\n",
                       ((PyFunctionObject *)f->py_func)->func_name, spec->text,
                       (int)spec->seconds, (int)(spec->seconds * 10) % 10);
}

/* Without a kernel there must be a reason, else the Spec is not kept; nor is it
 * after a signal whose handler raised. */
static bool
fill_spec(Accel *f, Loaded *l, Spec *spec, PyObject *const *args)
{
    Signature *sig = ARENA_NEW(l->arena, Signature);
    take_consts(spec, l->arena, args, spec->nargs);
    signature_make(l->arena, args, spec->keys, spec->nargs, spec->width, sig);
    records_sign(l, spec->keys, sig);
    spec->sig = sig;
    double start = clock_seconds();
    spec->tried[FAST] = true;
    spec->kernels[FAST] = spec_compile(f, l, sig, FAST);
    if (PyErr_Occurred() || PyErr_CheckSignals() < 0) {
        return false;
    }
    spec->seconds = clock_seconds() - start;
    records_settle(spec, l->arena, sig);
    for (int i = 0; i < spec->nargs; i++) {
        spec->has_lists |= sig->args[i].type->kind == TY_LIST;
    }
    take_pins(spec, l->arena, sig);
    take_text(spec, l->arena, sig, l->nparams);
    tell_slow(f, spec);
    spec->diags = l->diags.list.at;
    spec->ndiags = l->diags.list.n;
    const Kernel *kernel = spec->kernels[FAST];
    spec->from_cache = kernel && kernel->result->lib->from_cache;
    return kernel != NULL || take_refusal(spec, &l->diags);
}

/* Under a handler of fatal errors (memory), which frees the new Spec. */
static Spec *
try_spec(Accel *f, Loaded *l, PyObject *const *args, const uint32_t *keys,
         int nargs, Width width)
{
    Spec *spec = PyMem_Calloc(1, sizeof(*spec));
    if (spec == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Fatal trap;
    fatal_enter(&trap);
    volatile bool ok = false;
    if (setjmp(trap.env) == 0) {
        spec->nargs = nargs;
        spec->keys = arena_copy(l->arena, keys,
                                sizeof(*keys) * (size_t)nargs + 1);
        spec->width = width;
        ok = fill_spec(f, l, spec, args);
    } else {
        PyErr_NoMemory();
    }
    fatal_leave(&trap);
    if (!ok) {
        spec_free(spec);
        return NULL;
    }
    return spec;
}

/* Is a step of an array with gaps part of the signature? */
static bool
has_steps(const Spec *spec)
{
    uint32_t bits = 0;
    for (int i = 0; i < spec->nargs; i++) {
        bool array = KEY_KIND(spec->keys[i]) == K_ARRAY;
        bits |= array ? spec->keys[i] & KEY_ANY_STEPS : 0;
    }
    return bits != 0 && !spec->width.steps && !spec->width.layout;
}

/* Are there arrays, and do all lie in C's order without gaps? */
static bool
are_plain(const uint32_t *keys, int nargs)
{
    bool any = false;
    bool plain = true;
    for (int i = 0; i < nargs; i++) {
        if (KEY_KIND(keys[i]) == K_ARRAY) {
            any = true;
            plain &= (keys[i] & KEY_ANY_LAYOUT) == (KEY_LAYOUT | KEY_ROWS);
        }
    }
    return any && plain;
}

bool
spec_is_too_wide(const Spec *spec, const uint32_t *keys)
{
    return !spec->width.plain && are_plain(keys, spec->nargs);
}

/* Numbers in tuples are compiled in the first time; when another tuple of the
 * same kind comes they are left open.  Small axes and flags are left open after
 * a few of them, and so are steps. */
static Width
width_for(const Loaded *l, PyObject *const *args, const uint32_t *keys,
          int nargs)
{
    Width width = {.plain = are_plain(keys, nargs)};
    width.layout =
        l->nspecs >= (width.plain ? 2 * MAX_SPECS - SPARE : MAX_SPECS);
    int alike = 0;
    int steps = 0;
    for (int i = 0; i < l->nspecs; i++) {
        const Spec *spec = l->specs[i];
        if (spec_almost_accepts(spec, keys, args)) {
            width.tuples |= spec->nconsts > 0 && !l->tight;
            alike += !spec_pins_hold(spec, args);
            steps += has_steps(spec);
        }
    }
    width.steps = steps >= MAX_STEPS;
    width.sizes = width.values = alike >= MAX_ALIKE && !l->pinned;
    return width;
}

/* Inference could not do with what was left open: something less is the next
 * attempt.  False: there is none. */
static bool
narrow(Loaded *l, const Spec *spec, Width *width)
{
    if (width->tuples) {
        l->tight = true;
        width->tuples = false;
    } else if (width->values) {
        width->values = false;
        Py_XSETREF(l->why, Py_NewRef(spec->refusal));
    } else if (width->sizes) {
        l->pinned = true;
        width->sizes = false;
    } else {
        return false;
    }
    return true;
}

static Spec *
new_spec(Accel *f, Loaded *l, PyObject *const *args, const uint32_t *keys,
         int nargs)
{
    Width width = width_for(l, args, keys, nargs);
    Spec *spec = try_spec(f, l, args, keys, nargs, width);
    while (spec != NULL && spec->refusal != NULL && narrow(l, spec, &width)) {
        spec_free(spec);
        spec = try_spec(f, l, args, keys, nargs, width);
    }
    if (spec == NULL) {
        return NULL;
    }
    memmove(l->specs + 1, l->specs, sizeof(Spec *) * (size_t)l->nspecs);
    l->specs[0] = spec;
    l->nspecs++;
    for (int i = 0; i < l->nspecs && l->nspecs == 2 * MAX_SPECS; i++) {
        l->specs[i]->width.plain = true; /* better than Python */
    }
    return spec;
}

/* Once more under the lock: another thread may have compiled it. */
Spec *
spec_find(const Loaded *l, const uint32_t *keys, PyObject *const *args)
{
    for (int i = 0; i < l->nspecs; i++) {
        if (spec_accepts(l->specs[i], keys, args)) {
            return l->specs[i];
        }
    }
    return NULL;
}

/* Once per load; the call itself runs in Python. */
static void
tell_full(Accel *f, Loaded *l)
{
    if (l->full_told) {
        return;
    }
    l->full_told = true;
    char message[500];
    const char *why = l->why ? PyUnicode_AsUTF8(l->why) : NULL;
    if (why == NULL) {
        PyErr_Clear();
        snprintf(message, sizeof(message),
                 "%d signatures came, and this is another one: the types, "
                 "layouts or strings of the arguments differ from call to call",
                 l->nspecs);
    } else {
        snprintf(message, sizeof(message),
                 "%d signatures came, and this is another one; without the "
                 "sizes of small axes and the values of flags: %.*s",
                 l->nspecs, (int)strcspn(why, "\n"), why);
    }
    function_tell(f, l, DIAG_TOO_MANY_SIGNATURES, message);
}

/* Eight signatures as they come, then eight for any layout of arrays, so
 * that strange strides don't use them all up; then Python.  Arrays in C's order
 * are compiled as they come for longer: what comes most is fastest then, and
 * what other strides need copied is not copied there (np.ravel).
 *
 * While this thread waited for the lock, or compiled without the GIL, another
 * may have changed what the function is made of.  Then this one call runs in
 * Python, which sees things as they are. */
Spec *
spec_make(Accel *f, Loaded *l, PyObject *const *args, const uint32_t *keys,
          int nargs)
{
    if (!args_fit(args, nargs)) {
        function_tell(f, l, DIAG_UNSUPPORTED_ARGUMENT, UNFIT);
        return NULL;
    }
    if (l->nspecs == 2 * MAX_SPECS) {
        tell_full(f, l);
        return NULL;
    }
    Choice choice;
    if (!bounded_choose(f, l, args, &choice)) {
        return NULL;
    }
    if (!accel_lock(f)) {
        Py_XDECREF(choice.note);
        return NULL;
    }
    Spec *spec = NULL;
    f->relax = choice.relax;
    if (l == f->loaded) {
        look_up_tuned(f);
        spec = spec_find(l, keys, args);
    }
    if (l == f->loaded && spec == NULL && l->nspecs < 2 * MAX_SPECS) {
        spec = new_spec(f, l, args, keys, nargs);
        if (spec != NULL) {
            spec->choice = choice;
            choice.note = NULL;
        }
    }
    accel_unlock(f);
    Py_XDECREF(choice.note);
    return spec != NULL && guards_hold(&l->guards) ? spec : NULL;
}

/* The pinned signature again, for the same specialisation in another mode. */
static Signature *
copy_signature(Arena *arena, const Signature *sig)
{
    Signature *out = arena_copy(arena, sig, sizeof(*sig));
    out->args = arena_copy(arena, sig->args,
                           sizeof(*sig->args) * (size_t)sig->nargs + 1);
    return out;
}

/* A mode that failed once is not tried again. */
const Kernel *
spec_kernel(Accel *f, Loaded *l, Spec *spec, KernelMode mode)
{
    if (spec->tried[mode] || !accel_lock(f)) {
        PyErr_Clear();
        return spec->kernels[mode];
    }
    Fatal trap;
    fatal_enter(&trap);
    if (!spec->tried[mode] && setjmp(trap.env) == 0) {
        Signature *sig = copy_signature(l->arena, spec->sig);
        f->relax = spec->choice.relax;
        spec->kernels[mode] = spec_compile(f, l, sig, mode);
    }
    spec->tried[mode] = true;
    fatal_leave(&trap);
    accel_unlock(f);
    return spec->kernels[mode];
}

/* --- the end ------------------------------------------------------------- */

/* Kernels and texts lie in the arena of the Loaded. */
void
spec_free(Spec *spec)
{
    for (int i = 0; i < spec->nconsts; i++) {
        Py_DECREF(spec->consts[i].value);
    }
    Py_XDECREF(spec->refusal);
    Py_XDECREF(spec->choice.note);
    PyMem_Free(spec);
}

/* Strings and tuples of plain values could be left out; tuples are visited
 * for the sake of the counts. */
int
spec_traverse(const Spec *spec, visitproc visit, void *arg)
{
    for (int i = 0; i < spec->nconsts; i++) {
        Py_VISIT(spec->consts[i].value);
    }
    return 0;
}
