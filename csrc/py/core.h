#ifndef VZ_PY_CORE_H
#define VZ_PY_CORE_H
/* vizgen._core: the compiler as a CPython extension module.
 *
 *     guards.c    do the globals still mean what they meant?
 *     args.c      argument objects -> keys, signatures, kernel slots
 *     plan.c      which argument goes to which parameter of a kernel
 *     unit.c      a function and all it calls -> Unit
 *     load.c      Python's ast -> Ast          names.c, value.c  its globals
 *     syntax.c    nested functions and the like      frozen.c   lists, dicts
 *     specs.c     one compiled version per signature, made on demand
 *     dispatch.c  a call, from vectorcall to the specialisation
 *     bounded.c   approx="psnr>=50", measured
 *     attempt.c   running its kernels
 *     trial.c     giving up signatures that lose against Python
 *     host.c      what a running kernel asks of Python
 *     pool.c      recycled memory for large results
 *     warn.c      floating-point warnings
 *     result.c    returned slots -> objects
 *     call.c      native, in parts or in Python
 *     part.c      a loop of a function that can't be compiled as a whole
 *     records.c   objects, listed.c   classes.c, makers.c, attr.c   of classes
 *     accel.c     the type Accelerated          info.c  what tools may ask
 *
 * This folder is the only one that includes Python.h and NumPy's headers.
 * Everything here runs with the GIL held unless a comment says otherwise.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL vizgen_numpy_api
#ifndef VZ_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "csrc/base/approx.h"
#include "csrc/base/clock.h"
#include "csrc/driver/driver.h"

#ifndef VIZGEN_VERSION
#define VIZGEN_VERSION "0"
#endif

/* More arguments, slots or results than these are refused (VZ-2001). */
enum { MAX_ARGS = 96, MAX_IN = 320, MAX_OUT = 512, MAX_RESULTS = 64 };

/* After this many signatures layouts are generalised, but for arrays in C's
 * order only the last SPARE; after as many again calls run in Python (VZ-4003).
 * After MAX_ALIKE that differ by nothing but sizes of small axes and values,
 * these are left open; after MAX_STEPS by layouts, the steps of gaps are. */
enum { MAX_SPECS = 8, SPARE = 4, MAX_STEPS = 3, MAX_ALIKE = 4 };

typedef struct Accel Accel;
typedef struct Loaded Loaded;

/* np.errstate as kinds (tell.h): what is ignored, and what only Python does
 * right. */
typedef struct Errstate {
    unsigned ignored;
    unsigned python;
} Errstate;

/* State of the module.  The runtime below it (threads, cache, interned names,
 * NumPy's API table) is one per process, so a second interpreter is refused. */
typedef struct Core {
    PyTypeObject *accel_type;
    PyTypeObject *part_type;
    PyObject *stats_type;    /* vizgen.errors.Stats */
    PyObject *compile_error; /* vizgen.errors */
    PyObject *fallback_warning;
    PyObject *known;         /* id -> (object, canonical name); NULL at first */
    PyObject *errstate;      /* NumPy's context variable; NULL: none */
    PyObject *errstate_seen; /* its value when last looked at, which says */
    Errstate errstate_is;
    PyObject *warnings;      /* the dict of the module warnings */
    PyObject *filters;       /* the key there */
    PyObject *pool;          /* NumPy's data handler for large results */
    PyObject *environment;   /* text for cache keys */
    char *dump;              /* VIZGEN_DUMP */
    const char *solver;      /* path of Z3's library; NULL: not looked for,
                                "": none */
    bool disabled;           /* VIZGEN_DISABLE */
    bool checking;           /* VIZGEN_CHECK */
    bool strict;             /* VIZGEN_STRICT */
} Core;

/* --- routines.c: NumPy's linear algebra and sorting ---------------------- */

int routines_setup(void);
int routines_run(int which, void *out, const VzBox *in);

/* --- dots.c: the order of np.dot ----------------------------------------- */

void dots_setup(void);

/* --- guards.c: what a compiled function assumes of its surroundings ------ */

typedef enum GuardKind {
    GUARD_SAME,   /* this very object */
    GUARD_VALUE,  /* this number, string or tuple, or an equal one */
    GUARD_ARRAY,  /* any exact ndarray: hidden argument "arg" */
    GUARD_RECORD, /* this very object: hidden argument "arg" */
    GUARD_ABSENT, /* no such name */
} GuardKind;

/* One name of a dict, or the content of a cell (then "key" is NULL). */
typedef struct Guard {
    GuardKind kind;
    int arg;
    PyObject *key;
    PyObject *expected; /* NULL for ABSENT */
} Guard;

/* All guards over one dict.  While the dict's version "tag" stays, none of
 * them needs to be looked at. */
typedef struct GuardSet {
    PyObject *dict;
    uint64_t tag;
    int n;
    int cap;
    Guard *at;
} GuardSet;

typedef struct CellGuard {
    PyObject *cell;
    Guard guard;
} CellGuard;

/* A user function: rebinding is seen by another guard, this one sees new
 * code or defaults of the same object. */
typedef struct FuncGuard {
    PyObject *func;
    PyObject *code;
    PyObject *defaults;
    PyObject *kwdefaults;
} FuncGuard;

/* A list or dict that was compiled in, and what it held then. */
typedef struct FrozenGuard {
    PyObject *object;
    PyObject *copy;
} FrozenGuard;

typedef struct Guards {
    int nsets;
    GuardSet *sets;
    int nfrozen;
    FrozenGuard *frozen;
    int ncells;
    CellGuard *cells;
    int nfuncs;
    FuncGuard *funcs;
    int nhidden;
    PyObject **hidden; /* the arrays that hidden arguments are now */
} Guards;

/* Adds a guard (once) and returns the hidden argument's number for ARRAY,
 * else 0; -1 with an exception when memory is out. */
int guards_add(Guards *g, PyObject *dict, PyObject *key, GuardKind kind,
               PyObject *expected);
int guards_add_cell(Guards *g, PyObject *cell, GuardKind kind,
                    PyObject *expected);
int guards_add_func(Guards *g, PyObject *func);
int guards_add_frozen(Guards *g, PyObject *object);
/* A copy of a list or dict to compare with it later (frozen.c). */
PyObject *frozen_copy(PyObject *object);
bool same_frozen(PyObject *lhs, PyObject *rhs);
/* Does everything still hold?  Renews "hidden"; sets no exception. */
bool guards_hold(Guards *g);
int guards_traverse(const Guards *g, visitproc visit, void *arg);
void guards_clear(Guards *g);
/* Same type and equal, for numbers, strings and tuples of them; a float equals
 * only the same bits. */
bool same_value(PyObject *lhs, PyObject *rhs);

/* --- Kernels and specialisations ----------------------------------------- */

/* How one parameter of a kernel is read from the arguments: "arg" and, inside
 * tuples, the "path" to the item.  A "list" (its type) is its length; the
 * parameters after it are its columns, which are filled together with it. */
typedef struct Fill {
    const Type *list;
    bool is_column;
    bool is_array;
    bool writes;
    DType dtype;
    int arg;
    int depth;
    int path[3];
    int part; /* of a complex number: 1 real, 2 imaginary */
    int rank; /* of the buffer: an array of complex numbers has one more */
    bool turned; /* the axes of the parameter are those of the array reversed */
} Fill;

/* One translation of a specialisation, by its mode: fast or general, counting
 * the warnings of float arithmetic or not. */
typedef struct Kernel {
    VzKernel *run;
    const CompileResult *result;
    Fill *fills;
    int nfills;
    int *out_at;     /* per ret: its first slot in VzCtx.out, -1 for a buffer */
    bool *pairs;     /* per ret: a buffer of complex numbers */
    bool floats;   /* has NumPy's float arithmetic */
    bool by_flags; /* and the FPU's flags say whether it warns */
    const Stmt **warns; /* WARNs by their number, or the bit that they share
                           in ctx.warn; may be NULL */
    int nwarns;         /* elements of "warns", which are more than
                           IR_WARN_BITS where some share a bit */
    bool logs;    /* puts back what it wrote when it gives up */
    bool writes;  /* some argument may be written */
    bool rereads; /* and what is written is also read: can't be run twice */
} Kernel;

typedef enum KernelMode {
    FAST,
    CAREFUL, /* as FAST, but raises no flag of the FPU in vain */
    GENERAL,
    COUNTING,
    COUNTING_GENERAL,
    KERNEL_MODES
} KernelMode;

/* A pinned axis size ("axis" >= 0) or value of argument "arg". */
typedef struct Pin {
    int arg;
    int axis;
    bool is_float;
    int64_t ival;
    double fval;
} Pin;

/* A string or tuple that is part of the signature. */
typedef struct Const {
    int arg;
    PyObject *value;
} Const;

/* What a signature leaves open that it could have fixed. */
typedef struct Width {
    bool layout; /* any strides of arrays */
    bool plain;  /* and also where all lie in C's order without gaps */
    bool steps;  /* the steps of arrays with gaps */
    bool tuples; /* the numbers in tuples */
    bool sizes;  /* small axes, and flags: inference may not ask for them */
    bool values;
} Width;

/* How a signature's calls compare with Python's, see trial.c.
 *
 *   "recent"  the last calls, a bit each: a check failed, and Python repeated
 *       it; "failed" is the last such check, "same" if it was always that.
 *   "elements"  of the arrays in the calls that were timed; the least "native"
 *       and "python" nanoseconds, and how many calls of each.
 *   "lost"  trials in a row.  "given_up"  that, or too many repeated calls.
 *   "python_seen"  what Python took in an earlier trial. */
typedef struct Record {
    uint8_t recent;
    bool same;
    const Stmt *failed;
    double elements;
    double native;
    double python;
    int natives;
    int pythons;
    int lost;
    bool given_up;
    double python_seen;
} Record;

/* What a signature's first call has found to keep the bound of approx=: bits of
 * Relax, and a text for people, or NULL. */
typedef struct Choice {
    unsigned relax;
    PyObject *note;
} Choice;

/* What became of one signature. */
typedef struct Spec {
    int nargs;
    uint32_t *keys;
    Width width;
    int nconsts;
    Const *consts;
    bool has_lists;
    bool no_singles;    /* axes of one element have signatures of their own */
    bool *ignored;      /* attributes that are not used; NULL: no objects */
    int npins;
    Pin *pins;
    const Signature *sig; /* with the pins; in the unit's arena */
    Kernel *kernels[KERNEL_MODES];
    bool tried[KERNEL_MODES];
    char *text;         /* "float64[:, :], int" */
    Diag *diags;        /* of the fast kernel, in the unit's arena */
    int ndiags;
    PyObject *refusal;  /* text why it stays in Python, else NULL */
    DiagId code;
    bool told;          /* the FallbackWarning was given */
    double seconds;     /* of compiling */
    bool from_cache;
    double cost;        /* nanoseconds of a call, per element */
    unsigned calls;
    int bails;
    int warned;         /* calls whose flags were set */
    int vain;           /* of these, those without a warning */
    int calm;           /* counting calls since, without a warning */
    bool errstate;      /* np.errstate or a filter has led to Python */
    Choice choice;      /* what need not be exact */
    Record record;
} Spec;

/* A function as it was when it was loaded.  Dropped as a whole when a guard
 * fails; a running call keeps its own reference. */
struct Loaded {
    long refs;
    Arena *arena;
    Diags diags;
    Unit *unit;        /* NULL: refused when loading */
    Guards guards;
    int nparams;       /* of the entry; nargs = nparams + hidden */
    int npositional;
    int npositional_only;
    PyObject **names;  /* of the parameters, interned */
    PyObject *refusal; /* why the function can't be loaded */
    DiagId code;
    bool told;
    int nspecs;
    Spec *specs[2 * MAX_SPECS]; /* most recently used first */
    bool full_told;
    bool tight;        /* numbers in tuples must be known */
    bool pinned;       /* small axes or flags must be known: "why" */
    PyObject *why;
    bool busy;         /* a compilation uses "arena" */
    Core *core;
    PyObject *functions; /* of the unit, None for nested ones */
    struct RecordClass *classes; /* as many as the unit has */
    unsigned epoch;    /* changes with what is known of classes */
    bool stale;        /* a class has changed: to be loaded again */
};

/* The counters of f.stats. */
typedef struct Counters {
    unsigned long long native;
    unsigned long long mixed;
    unsigned long long python;
    unsigned long long replays;
    unsigned long long compiles;
    unsigned long long cache_hits;
    double compile_seconds;
} Counters;

/* What a function that is refused is split into: see vizgen.parts. */
typedef struct Split {
    bool tried;
    PyObject *code;      /* of the function when it was split */
    PyObject *function;  /* the rest, which calls the parts; NULL: none */
    PyObject *parts;     /* tuple of Part */
    int alive;           /* parts that are not off for good */
    unsigned long long runs; /* native runs of parts */
    PyObject *note;      /* a reason that is told when the call has run */
} Split;

/* The decorated function. */
struct Accel {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Core *core;
    PyObject *dict;
    PyObject *weakrefs;
    PyObject *py_func;
    PyObject *options; /* dict of accelerate's keywords */
    PyObject *reasons; /* set of reasons already told */
    bool strict;
    int threads;
    Approx approx;     /* what need not be exact */
    bool exact;        /* whatever the environment says */
    unsigned relax;    /* of the signature that is being compiled */
    Loaded *loaded;
    bool trials;       /* VIZGEN_TRIALS is not 0 */
    int until_trial;   /* calls until the next one that is timed */
    int trial_left;    /* calls of the trial under way */
    int trial_apart;   /* calls between trials */
    int reloads;
    bool gave_up;      /* the globals change too often */
    bool silent;       /* part of another: no warnings */
    bool timed;        /* measure each kernel */
    int64_t kernel_time; /* nanoseconds of the last measured one */
    const void *told;  /* the type of the argument last told of, */
    int told_index;    /* which argument, and what was said */
    DiagId told_code;
    PyObject *told_text;
    Split split;
    Counters count;
    char *opts_text;   /* a variant's options, or NULL */
    char *compiler;
    bool looked_up;    /* a tuned choice was asked for */
    PyThread_type_lock lock; /* held while loading and compiling */
    unsigned long owner;
    unsigned lock_forks;
};

/* --- A call -------------------------------------------------------------- */

/* A call that is timed: left to Python if "python". */
typedef struct Trial {
    bool python;
    double start;
    Loaded *loaded;
    Spec *spec;
    double elements;
} Trial;

typedef struct Scratch Scratch;

/* What a call does about warnings, see attempt.c. */
typedef enum Policy {
    WARNS_LATER,    /* nothing, until flags or bits are set */
    WARNS_NEVER,    /* nobody wants them */
    WARNS_SHADOWED, /* as LATER, and what is written is copied beforehand */
    WARNS_RAISE,    /* counted on shadowed memory; one, and it is Python's */
} Policy;

/* What became of a native attempt. */
typedef enum Outcome {
    OUT_DONE,    /* the result is there */
    OUT_PYTHON,  /* it could not begin: run Python */
    OUT_REFUSED, /* nor will it ever: run Python, or natively in parts */
    OUT_REPLAY,  /* it was given up: run Python */
    OUT_ERROR,   /* an exception is set */
} Outcome;

/* Everything a running kernel needs.  Lives on the stack and is never cleared
 * as a whole. */
typedef struct Call {
    VzCtx ctx; /* ctx.self points to the Call */
    uint64_t more[VZ_MORE / 64]; /* ctx.more, where the kernel has such */
    Accel *f;
    Loaded *loaded;
    Spec *spec;
    const Kernel *kernel;
    PyObject *const *args;    /* the entry's, then hidden arrays */
    double elements;          /* of all array arguments */
    double written;           /* bytes of the arrays that may be written */
    bool overlaps_itself;     /* a written array has elements that coincide */
    Policy policy;
    unsigned raising; /* kinds of warnings that end the call (tell.h) */
    PyThreadState *saved;     /* while the GIL is released */
    unsigned long thread;     /* the one that holds or released the GIL */
    bool interrupted;         /* an exception of a signal handler is set */
    int64_t started;          /* in nanoseconds; 0: not known */
    int64_t polled;           /* when signals were last looked at */
    int64_t fuelled;          /* when fuel was last given */
    unsigned flags;           /* FE_ bits after the call */
    int nresults;
    PyObject *results[MAX_RESULTS];
    int nkept;
    PyObject *kept[MAX_ARGS]; /* the arguments, with a reference */
    Scratch *_Atomic scratch;
    Undo undo;
    UndoArray undo_arrays[MAX_ARGS];
    VzSlot in[MAX_IN];
    VzSlot out[MAX_OUT];
} Call;

/* --- steps.c ------------------------------------------------------------- */

/* The bits of a key that tell the steps of an array with gaps. */
uint32_t steps_key(PyArrayObject *array, bool fortran);
/* Sets "step" and "pixel". */
void steps_of_key(uint32_t key, Type *type);

/* --- args.c -------------------------------------------------------------- */

/* A key holds all of an argument's type that the dispatcher looks at: kind,
 * dtype, rank, layout.  KEY_PYTHON: not for native code. */
enum { KEY_PYTHON = 0, KEY_LAYOUT = 1u << 24, KEY_ROWS = 1u << 25,
       KEY_FORTRAN = 1u << 26, KEY_STEP = 27, KEY_PIXEL = 29 };
#define KEY_ANY_STEPS (3u << KEY_STEP | 3u << KEY_PIXEL)
#define KEY_ANY_LAYOUT ((uint32_t)(KEY_LAYOUT | KEY_ROWS | KEY_FORTRAN) |\
                        KEY_ANY_STEPS)

uint32_t arg_key(PyObject *object);
/* Of one for any layout: are these arrays to have one as they are? */
bool spec_is_too_wide(const Spec *spec, const uint32_t *keys);
/* Does 'spec' accept these arguments? */
bool spec_accepts(const Spec *spec, const uint32_t *keys,
                  PyObject *const *args);
/* Has an array an axis of one element that is not pinned? */
bool spec_sees_single(const Spec *spec, PyObject *const *args);
bool key_has_const(uint32_t key);
bool args_fit(PyObject *const *args, int nargs); /* ints within 64 bits */
/* The signature of 'args' in 'arena'; false when some argument has no Type. */
bool signature_make(Arena *arena, PyObject *const *args, const uint32_t *keys,
                    int nargs, Width width, Signature *out);
/* Do the arguments have the sizes and values that it knows? */
bool spec_pins_hold(const Spec *spec, PyObject *const *args);
/* Would 'spec' accept these arguments if layouts, pins and numbers in tuples
 * were left open? */
bool spec_almost_accepts(const Spec *spec, const uint32_t *keys,
                         PyObject *const *args);
/* Why 'object' is not for native code: its code and a few words. */
DiagId arg_refusal(PyObject *object, char *out, size_t size);

typedef enum FillStatus { FILL_OK, FILL_PYTHON, FILL_READONLY } FillStatus;
/* Kernel slots from arguments. */
FillStatus call_fill(Call *call);

/* --- plan.c -------------------------------------------------------------- */

/* How the parameters of 'result' are read from arguments of 'sig'; false when
 * they don't fit together. */
bool kernel_plan(Arena *arena, const CompileResult *result,
                 const Signature *sig, Kernel *out);

/* --- lists.c ------------------------------------------------------------- */

/* Lists, and long tuples of one kind of item, whose length is left open. */
bool is_list_arg(PyObject *object);
bool is_long_tuple(PyObject *object);
/* The type of a list argument; NULL: its items have no common type. */
const Type *list_arg_type(Arena *arena, PyObject *object);
/* The number of a list argument without a type; -1: all have one. */
int lists_check(PyObject *const *args, int n);
/* Does a kernel for lists of 'type' take this one? */
bool list_fits(const Type *type, PyObject *object);
/* How many lists are in one another; the columns and their dtypes. */
int list_rank(const Type *type);
int list_layout(const Type *type, DType *dtypes);
/* Length and columns of a list, in the slots of its parameters. */
FillStatus fill_list(Call *call, const Type *type, PyObject *object,
                     VzSlot *slot);

/* --- value.c ------------------------------------------------------------- */

/* Types of constant objects: None, bool, int, float, NumPy scalars, strings
 * and tuples of these.  is_plain says whether an object is one of them; big
 * integers and all else are not, and have no Type (NULL, no exception). */
bool is_plain(PyObject *object);
const Type *type_of_value(Arena *arena, PyObject *object);
/* The value of a NumPy scalar as an int64 (uint64 by bits) or double. */
VzSlot scalar_slot(PyObject *object, DType dt);
bool scalar_dtype(PyTypeObject *type, DType *out); /* of NumPy scalar types */
bool array_dtype(int type_num, DType *out);
int dtype_type_num(DType dt);
const char *sym_of(PyObject *text); /* interned; NULL: not encodable */

/* --- unit.c ----------------------------------------------------- */

/* Loads the function and all it calls; NULL with an exception only when
 * memory is out.  What can't be loaded gives a Loaded with "refusal". */
Loaded *load_function(Accel *f);
Loaded *loaded_keep(Loaded *l);
void loaded_drop(Loaded *l);

/* --- specs.c ------------------------------------------------------------- */

/* The current Loaded of 'f' (borrowed), loading if needed; NULL with an
 * exception, or without one when another load of 'f' is under way in this
 * thread. */
Loaded *accel_loaded(Accel *f);
/* The specialisation that takes these arguments, or NULL. */
Spec *spec_find(const Loaded *l, const uint32_t *keys, PyObject *const *args);
/* Makes the specialisation for these arguments.  NULL with an exception, or
 * without one: run Python. */
Spec *spec_make(Accel *f, Loaded *l, PyObject *const *args,
                const uint32_t *keys, int nargs);
/* The kernel in another mode, compiled when first asked for; NULL: there is
 * none, no exception. */
const Kernel *spec_kernel(Accel *f, Loaded *l, Spec *spec, KernelMode mode);
void spec_free(Spec *spec);
int spec_traverse(const Spec *spec, visitproc visit, void *arg);
/* Throws all that was loaded and compiled away. */
void accel_forget(Accel *f);
void specs_init(void); /* fork handler */
/* The compiled and planned kernel, or NULL with a refusal in l->diags. */
Kernel *spec_compile(Accel *f, Loaded *l, Signature *sig, KernelMode mode);
Opts accel_opts(const Accel *f, KernelMode mode);
/* bounded.c: what a call like this one may be; false with an exception. */
bool bounded_choose(Accel *f, Loaded *l, PyObject *const *bound, Choice *out);
void accel_solver(const Accel *f, Opts *opts);
/* The options' text is good; false with ValueError. */
bool opts_check(const char *text);

/* Held while something is made for 'f'; false: see specs.c. */
bool accel_lock(Accel *f);
void accel_unlock(Accel *f);

/* --- call.c -------------------------------------------------------------- */

PyObject *accel_vectorcall(PyObject *self, PyObject *const *args,
                           size_t nargsf, PyObject *kwnames);
PyObject *disabled_vectorcall(PyObject *self, PyObject *const *args,
                              size_t nargsf, PyObject *kwnames);
PyObject *checked_vectorcall(PyObject *self, PyObject *const *args,
                             size_t nargsf, PyObject *kwnames);
/* A call that is native or is not at all; counted. */
Outcome accel_try(Accel *f, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject **result);

/* --- part.c -------------------------------------------------------------- */

PyTypeObject *part_type_make(PyObject *module);
PyObject *part_heat(PyObject *module, PyObject *value);
/* Adds what the parts of 'f' have compiled; the counters of calls stay. */
void parts_count(const Accel *f, Counters *out);
/* The rest of the function in parts, new; NULL, mostly without an exception:
 * there is none. */
PyObject *split_function(Accel *f);
void split_clear(Accel *f);
/* Gives the reason that was kept for after the call. */
int split_tell(Accel *f);

/* --- dispatch.c ---------------------------------------------------------- */

/* From the arguments to the result, or to what else must be done. */
Outcome call_dispatch(Accel *f, Loaded *l, PyObject *const *args,
                      Py_ssize_t nargs, PyObject *kwnames, Trial *trial,
                      PyObject **result);
/* Arguments in the order of the parameters, defaults filled in, hidden arrays
 * appended.  'bound' has room for MAX_ARGS.  The number of arguments, or -1:
 * Python must see to it. */
int call_bind(const Accel *f, const Loaded *l, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames, PyObject **bound);
int call_keys(PyObject *const *bound, int n, uint32_t *keys);
PyObject *argument_text(const Accel *f, const Loaded *l, PyObject *object,
                        int index, DiagId *code);
/* Finds or makes the specialisation for a call without running it; the caller
 * drops '*l'. */
Spec *call_spec(Accel *f, Loaded **l, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames, PyObject **bound, int *nbound,
                PyObject **held);

/* --- attempt.c ----------------------------------------------------------- */

/* Runs the kernels of 'spec' on the bound arguments. */
Outcome run_native(Accel *f, Loaded *l, Spec *spec, PyObject *const *args,
                   PyObject **result);

/* --- trial.c ------------------------------------------------------------- */

/* Sets 'f->until_trial', and begins to time this call; false: it isn't one of
 * a trial. */
bool trial_begin(Accel *f, Trial *trial);
/* The call turns out to be of this signature.  Is it Python's? */
bool trial_takes(Trial *trial, Loaded *l, Spec *spec, PyObject *const *bound,
                 int n);
/* Both: -1 with an exception when the warning that the signature is given up
 * became one. */
int trial_end(Accel *f, Trial *trial, Outcome out);
int trial_repeated(Call *call); /* a check has failed: Python repeats it */

/* --- host.c -------------------------------------------------------------- */

void host_setup(void);
/* Memory until the end of the call; NULL: there is none. */
void *call_scratch(Call *call, int64_t bytes, bool zero);
/* Runs the kernel, on shadow copies of written arrays if 'shadow';
 * floating-point flags are as before afterwards. */
int call_run(Call *call, const Kernel *kernel, bool shadow);
void call_drop_results(Call *call);
/* Has result array 'ret' the axes of the kernel's in reverse? */
bool result_is_fortran(const Call *call, int ret);
void call_finish(Call *call); /* frees scratch and undo memory */

/* --- result.c ------------------------------------------------------------ */

/* Objects of what kernels give: Python's numbers, NumPy's, the alternative of a
 * type (Python's), NumPy's complex numbers of two parts. */
PyObject *weak_number(DType dt, VzSlot slot);
PyObject *strong_number(DType dt, VzSlot slot);
PyObject *alternative(const Type *type, VzSlot slot);
PyObject *strong_complex(DType dt, const VzSlot *parts);
PyObject *list_leaf(Call *call, const Leaf *leaf); /* listout.c */
PyObject *row_leaf(Call *call, const Leaf *leaf);

/* The Python value of the call's outcome. */
PyObject *call_result(Call *call);

/* --- accel.c, info.c ----------------------------------------------------- */

/* Takes over what tuning chose. */
void accel_tuned(Accel *f, const char *opts, const char *compiler);
/* An accelerated 'function' with the options of 'owner', for a part of it. */
Accel *accel_part(const Accel *owner, PyObject *function);
PyTypeObject *accel_type_make(PyObject *module);
bool is_accel(const Core *core, PyObject *object);
/* Imported in a way that forks know of, see vizgen/lazy.py. */
PyObject *load_module(const char *module);
/* A function of a module of ours, imported when first used. */
PyObject *helper(const char *module, const char *name);
extern PyMethodDef info_methods[];
PyObject *accel_describe(Accel *f);
/* What would become of a call: a dict as those of accel_describe. */
PyObject *call_describe(Accel *f, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames);
PyObject *spec_describe(Loaded *l, Spec *spec);
#endif
