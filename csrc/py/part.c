/* A loop of a function that can't be compiled as a whole, or a function that
 * it calls.
 *
 *     .r0 = .on0 and .part0(img, out)      a Part: native, or
 *     if not .r0:                            None    run the loop in Python
 *         for y in range(...): ...           False   and say when it is over
 *         if .r0 is False: .part0.done()
 *
 *     (.part1 if .on1 and f is .fun1 else f)(img)    a *whole* Part is called
 *                                                    as the function is
 *
 * A part must pay: crossing into native code costs as much as a few steps of
 * Python, converting a list or copying an array may cost more than the loop.
 *
 *     COLD    an inner loop: not compiled before it has taken some time
 *     TRIAL   native, unless the kernel is a small share of the call: then
 *             calls are native and in Python by turns, and both are timed
 *     ON      native; tried again from time to time
 *     OFF     in Python; tried again ever more seldom, at last never
 *
 * VIZGEN_TRIALS=0 makes all native that can be.  trial.c does the same for
 * functions as a whole.
 * vizgen.parts makes the functions.  A part is silent: what it refuses and why
 * is only seen in explain().
 */
#include "csrc/py/core.h"

#include <stddef.h>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_READONLY READONLY
#define Py_T_BOOL T_BOOL
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_T_ULONGLONG T_ULONGLONG
#endif

/* Nanoseconds in Python after which an inner loop is worth compiling. */
enum { HEAT = 3000000 };

/* What the rest of the function does around a native call, in nanoseconds. */
enum { AROUND = 60 };

/* Kernels that take longer than this are not tried in Python, which may take a
 * hundred times as long. */
enum { LONG_RUN = 2000000 };

/* Every so many calls of a part that is on one is timed, to see whether what
 * surrounds the kernel has grown, as the conversion of a growing list. */
enum { WATCH = 16 };

/* So many turns of either kind decide; as often in a row may a call be
 * refused or repeated in Python before the part is off. */
enum { TURNS = 4, PATIENCE = 16 };

/* Calls until the next trial, how they grow, and after how many lost trials
 * the part is off for good, sooner if it never was native. */
enum { REST_FIRST = 64, REST_GROWTH = 6, LOST_MOST = 6, LOST_NEVER = 2 };

typedef enum Phase { PART_COLD, PART_TRIAL, PART_ON, PART_OFF } Phase;

static const char *const phase_names[] = {"cold", "trial", "on", "off"};

typedef struct Part {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Accel *accel;
    Accel *owner;
    PyObject *on;          /* the cell that the rest looks at */
    Phase phase;
    bool whole;            /* a function; else a loop */
    bool costly;           /* calls what NumPy may do faster */
    bool warm;             /* this trial's first native call is over */
    int turns[2];          /* of this trial: in Python, native */
    int64_t spent[2];
    int64_t started;       /* a run in Python that is timed; 0: none */
    unsigned long thread;  /* that runs it */
    int64_t heat;
    int64_t usual;         /* a native call of the last trial */
    int failures;          /* in a row */
    int lost;              /* trials in a row */
    unsigned rest;         /* calls until the next trial */
    unsigned next_rest;
    bool gone;             /* off for good */
    unsigned long long runs;
} Part;

static int64_t heat_needed = HEAT;

/* --- does it pay? -------------------------------------------------------- */

static void
begin_trial(Part *part)
{
    part->phase = PART_TRIAL;
    part->warm = false;
    for (int i = 0; i < 2; i++) {
        part->turns[i] = 0;
        part->spent[i] = 0;
    }
}

/* How many parts of 'f' may still run. */
static int
count_alive(const Accel *f)
{
    PyObject *parts = f->split.parts;
    int n = 0;
    for (Py_ssize_t i = 0; parts && i < PyTuple_GET_SIZE(parts); i++) {
        n += !((Part *)PyTuple_GET_ITEM(parts, i))->gone;
    }
    return n;
}

/* Trials get rarer whatever they find. */
static void
end_trial(Part *part, bool won)
{
    part->phase = won ? PART_ON : PART_OFF;
    part->usual = part->turns[1] ? part->spent[1] / part->turns[1] : 0;
    part->lost = won ? 0 : part->lost + 1;
    part->failures = 0;
    part->rest = part->next_rest;
    if (part->next_rest < UINT_MAX / REST_GROWTH) {
        part->next_rest *= REST_GROWTH;
    }
    if (part->lost > (part->runs ? LOST_MOST : LOST_NEVER)) {
        part->gone = true;
        part->owner->split.alive = count_alive(part->owner);
        PyCell_Set(part->on, Py_False);
    }
}

/* A loop in Python that has been timed; one side twice as fast decides at
 * once. */
static void
judge(Part *part)
{
    int64_t python = part->spent[0];
    int64_t native = part->spent[1];
    if (part->turns[0] != part->turns[1]) {
        return;
    }
    if (part->turns[0] >= TURNS || python > 2 * native) {
        end_trial(part, python > native);
    }
}

/* Where the kernel is most of a call, Python's turn would only take long; but
 * NumPy's own loops may be faster than ours. */
static bool
is_sure(const Part *part, int64_t time)
{
    int64_t kernel = part->accel->kernel_time;
    return (3 * kernel > time && !part->costly)
           || (kernel > 0 ? kernel : time) > LONG_RUN;
}

/* A native call that was timed. */
static void
weigh(Part *part, int64_t time)
{
    if (part->phase == PART_ON) {
        if (!is_sure(part, time) && time > 2 * part->usual) {
            begin_trial(part);
        }
        return;
    }
    if (part->phase != PART_TRIAL) {
        return; /* decided by another call meanwhile */
    }
    if (!part->warm) {
        part->warm = true; /* it has compiled */
        return;
    }
    part->turns[1]++;
    part->spent[1] += time + AROUND;
    if (is_sure(part, time) || !part->owner->trials) {
        end_trial(part, true);
    }
}

/* Refused or repeated in Python again and again. */
static void
note_failure(Part *part, Outcome out)
{
    int weight = out == OUT_REPLAY ? 2 : 1;
    part->failures += weight;
    if (part->failures >= PATIENCE) {
        end_trial(part, false);
    }
}

/* Another call: is it time for a trial? */
static void
tick(Part *part)
{
    bool settled = part->phase == PART_ON || part->phase == PART_OFF;
    if (settled && --part->rest == 0) {
        begin_trial(part);
    }
}

/* A run in Python took so long. */
static void
note_python(Part *part, int64_t time)
{
    if (part->phase == PART_COLD) {
        part->heat += time;
        if (part->heat >= heat_needed) {
            begin_trial(part);
        }
    } else if (part->phase == PART_TRIAL && part->warm) {
        part->turns[0]++;
        part->spent[0] += time;
        judge(part);
    }
}

/* Is it Python's turn? */
static bool
turn_of_python(const Part *part)
{
    return part->phase == PART_COLD
           || (part->phase == PART_TRIAL && part->warm
               && part->turns[0] < part->turns[1]);
}

/* The comparison with Python belongs to the native calls. */
static void
note_turn(Part *part, bool turn)
{
    part->owner->split.runs += turn && part->runs > 0;
}

/* --- the call ------------------------------------------------------------ */

static PyObject *
run_timed(Part *part)
{
    part->thread = PyThread_get_thread_ident();
    part->started = clock_ns();
    Py_RETURN_FALSE;
}

/* When it began, if it is to be timed, else 0.  A call that is mixed leaves no
 * time of a kernel. */
static int64_t
begin_native(Part *part)
{
    bool timed = part->phase == PART_TRIAL || part->rest % WATCH == 0;
    part->accel->timed = timed;
    part->accel->kernel_time = 0;
    return timed ? clock_ns() : 0;
}

/* A loop that binds nothing that is read later has no results. */
static PyObject *
run_part(Part *part, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *result = NULL;
    int64_t start = begin_native(part);
    Outcome out = accel_try(part->accel, args, nargs, NULL, &result);
    if (out == OUT_ERROR) {
        return NULL;
    }
    if (out != OUT_DONE) {
        note_failure(part, out);
        Py_RETURN_NONE;
    }
    part->runs++;
    part->owner->split.runs++;
    part->failures = 0;
    if (start != 0) {
        weigh(part, clock_ns() - start);
    }
    if (result == Py_None) {
        Py_DECREF(result);
        Py_RETURN_TRUE;
    }
    return result;
}

/* How many calls of a function were native at least in part. */
static unsigned long long
count_native(const Part *part)
{
    return part->accel->count.native + part->accel->count.mixed;
}

/* A function as the accelerated one would be called. */
static PyObject *
run_whole(Part *part, PyObject *const *args, size_t nargsf,
          PyObject *kwnames)
{
    unsigned long long before = count_native(part);
    int64_t start = begin_native(part);
    PyObject *result =
        accel_vectorcall((PyObject *)part->accel, args, nargsf, kwnames);
    bool native = count_native(part) != before;
    part->runs += native;
    part->owner->split.runs += native;
    if (result != NULL && start != 0) {
        weigh(part, clock_ns() - start);
    }
    return result;
}

/* The function itself, timed if that is wanted. */
static PyObject *
run_itself(Part *part, PyObject *const *args, size_t nargsf,
           PyObject *kwnames, bool timed)
{
    int64_t start = timed ? clock_ns() : 0;
    PyObject *result = PyObject_Vectorcall(part->accel->py_func, args, nargsf,
                                           kwnames);
    if (timed && result != NULL) {
        note_python(part, clock_ns() - start);
    }
    return result;
}

static PyObject *
whole_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                 PyObject *kwnames)
{
    Part *part = (Part *)self;
    tick(part);
    bool turn = turn_of_python(part);
    note_turn(part, turn);
    return turn || part->phase == PART_OFF
               ? run_itself(part, args, nargsf, kwnames, turn)
               : run_whole(part, args, nargsf, kwnames);
}

static PyObject *
part_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                PyObject *kwnames)
{
    (void)kwnames;
    Part *part = (Part *)self;
    tick(part);
    if (part->phase == PART_OFF) {
        Py_RETURN_NONE;
    }
    if (turn_of_python(part)) {
        note_turn(part, true);
        return run_timed(part);
    }
    return run_part(part, args, PyVectorcall_NARGS(nargsf));
}

/* A loop that was left by a return or an exception never gets here. */
static PyObject *
part_done(PyObject *self, PyObject *unused)
{
    (void)unused;
    Part *part = (Part *)self;
    if (part->started == 0
        || part->thread != PyThread_get_thread_ident()) {
        Py_RETURN_NONE;
    }
    int64_t time = clock_ns() - part->started;
    part->started = 0;
    note_python(part, time);
    Py_RETURN_NONE;
}

/* For tests: 0 compiles inner loops at once. */
PyObject *
part_heat(PyObject *module, PyObject *value)
{
    (void)module;
    int64_t old = heat_needed;
    long long fresh = PyLong_AsLongLong(value);
    if (fresh == -1 && PyErr_Occurred()) {
        return NULL;
    }
    heat_needed = fresh;
    return PyLong_FromLongLong(old);
}

/* --- the type ------------------------------------------------------------ */

/* Part(owner, function, on, cold, costly, whole) */
static PyObject *
part_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const Core *core = PyType_GetModuleState(type);
    PyObject *owner;
    PyObject *function;
    PyObject *on;
    int cold;
    int costly;
    int whole;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Part takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O!O!ppp:Part", core->accel_type, &owner,
                          &PyFunction_Type, &function, &PyCell_Type, &on,
                          &cold, &costly, &whole)) {
        return NULL;
    }
    Part *part = (Part *)type->tp_alloc(type, 0);
    if (part == NULL) {
        return NULL;
    }
    part->vectorcall = whole ? whole_vectorcall : part_vectorcall;
    part->owner = (Accel *)Py_NewRef(owner);
    part->on = Py_NewRef(on);
    part->next_rest = REST_FIRST;
    part->costly = costly;
    part->whole = whole;
    bool wait = part->owner->trials && heat_needed > 0;
    part->phase = cold && wait ? PART_COLD : PART_TRIAL;
    part->accel = accel_part(part->owner, function);
    if (part->accel == NULL) {
        Py_DECREF(part);
        return NULL;
    }
    return (PyObject *)part;
}

static int
part_traverse(PyObject *self, visitproc visit, void *arg)
{
    Part *part = (Part *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(part->accel);
    Py_VISIT(part->owner);
    Py_VISIT(part->on);
    return 0;
}

/* Calls need all three, and only the rest of the function calls. */
static int
part_clear(PyObject *self)
{
    Part *part = (Part *)self;
    part->vectorcall = NULL;
    Py_CLEAR(part->accel);
    Py_CLEAR(part->owner);
    Py_CLEAR(part->on);
    return 0;
}

static void
part_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    part_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* In words, for explain() and tests. */
static PyObject *
part_phase(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(phase_names[((Part *)self)->phase]);
}

/* Why it last stayed in Python, as text or None. */
static PyObject *
part_reason(PyObject *self, void *unused)
{
    (void)unused;
    const Accel *f = ((Part *)self)->accel;
    return Py_NewRef(f->split.note ? f->split.note : Py_None);
}

static PyMethodDef methods[] = {
    {"done", part_done, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"phase", part_phase, NULL, NULL, NULL},
    {"reason", part_reason, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Part, vectorcall),
     Py_READONLY, NULL},
    {"accelerated", Py_T_OBJECT_EX, offsetof(Part, accel), Py_READONLY, NULL},
    {"whole", Py_T_BOOL, offsetof(Part, whole), Py_READONLY, NULL},
    {"runs", Py_T_ULONGLONG, offsetof(Part, runs), Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, part_new},
    {Py_tp_dealloc, part_dealloc},
    {Py_tp_traverse, part_traverse},
    {Py_tp_clear, part_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "vizgen._core.Part",
    .basicsize = sizeof(Part),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC
             | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = slots,
};

PyTypeObject *
part_type_make(PyObject *module)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

/* --- the function that has parts ----------------------------------------- */

/* Splitting needs nothing but the function, so what came of it holds until
 * the function's code is replaced.  Threads wait for the one that splits. */

void
parts_count(const Accel *f, Counters *out)
{
    PyObject *parts = f->split.parts;
    for (Py_ssize_t i = 0; parts && i < PyTuple_GET_SIZE(parts); i++) {
        const Part *part = (Part *)PyTuple_GET_ITEM(parts, i);
        const Counters *count = &part->accel->count;
        out->compiles += count->compiles;
        out->cache_hits += count->cache_hits;
        out->compile_seconds += count->compile_seconds;
        parts_count(part->accel, out);
    }
}

void
split_clear(Accel *f)
{
    Split old = f->split;
    f->split = (Split){.runs = old.runs};
    Py_XDECREF(old.code);
    Py_XDECREF(old.function);
    Py_XDECREF(old.parts);
    Py_XDECREF(old.note);
}

/* Whatever goes wrong, the function itself is still there. */
static void
make_split(Accel *f)
{
    PyObject *note = Py_XNewRef(f->split.note);
    split_clear(f);
    Py_XSETREF(f->split.note, note);
    f->split.code = Py_NewRef(((PyFunctionObject *)f->py_func)->func_code);
    PyObject *split = helper("vizgen.parts", "split");
    PyObject *made = split ? PyObject_CallOneArg(split, (PyObject *)f) : NULL;
    Py_XDECREF(split);
    if (made == NULL && PyErr_ExceptionMatches(PyExc_Exception)
        && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
    }
    if (made != NULL && PyTuple_Check(made)) {
        f->split.function = Py_NewRef(PyTuple_GET_ITEM(made, 0));
        f->split.parts = Py_NewRef(PyTuple_GET_ITEM(made, 1));
        f->split.alive = count_alive(f);
    }
    Py_XDECREF(made);
    f->split.tried = true;
}

/* The rest is called with the arguments as they came, so it needs the
 * defaults of today. */
static bool
renew_defaults(const Accel *f)
{
    const PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    PyFunctionObject *rest = (PyFunctionObject *)f->split.function;
    PyObject *defaults = func->func_defaults;
    PyObject *kwdefaults = func->func_kwdefaults;
    return (rest->func_defaults == defaults
            || PyFunction_SetDefaults((PyObject *)rest,
                                      defaults ? defaults : Py_None) == 0)
           && (rest->func_kwdefaults == kwdefaults
               || PyFunction_SetKwDefaults(
                      (PyObject *)rest, kwdefaults ? kwdefaults : Py_None)
                      == 0);
}

PyObject *
split_function(Accel *f)
{
    PyObject *code = ((PyFunctionObject *)f->py_func)->func_code;
    if (!f->split.tried || f->split.code != code) {
        if (!accel_lock(f)) {
            return NULL;
        }
        if (!f->split.tried || f->split.code != code) {
            make_split(f);
        }
        accel_unlock(f);
    }
    if (f->split.function == NULL || f->split.alive <= 0
        || !renew_defaults(f)) {
        return NULL;
    }
    return Py_NewRef(f->split.function);
}

int
split_tell(Accel *f)
{
    PyObject *text = f->split.note;
    PyObject *parts = f->split.parts;
    f->split.note = NULL;
    if (text != NULL && parts != NULL) {
        PyObject *told = helper("vizgen.parts", "told");
        PyObject *whole =
            told ? PyObject_CallFunctionObjArgs(told, text, parts, NULL)
                 : NULL;
        Py_XDECREF(told);
        Py_SETREF(text, whole);
    }
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    int status = utf8 ? PyErr_WarnEx(f->core->fallback_warning, utf8, 1) : -1;
    Py_XDECREF(text);
    return status;
}
