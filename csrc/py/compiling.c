/* Compiling one kernel of a function: its options, the solver, the compiler.
 *
 *     options      those of the decorator or of tuning, over them the mode's
 *     compiler     runs without the GIL; Ctrl-C ends it early
 *     kernel       planned against the signature, or a refusal in Loaded.diags
 *
 * Called by specs.c, under the function's lock.
 */
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

/* --- options ------------------------------------------------------------- */

/* Asked where options come in, so that later parsing can't fail. */
bool
opts_check(const char *text)
{
    Opts opts = opts_default();
    const char *bad;
    if (!opts_parse(&opts, text, &bad)) {
        PyErr_Format(PyExc_ValueError, "unknown option '%.100s'", bad);
        return false;
    }
    return true;
}

/* For "solver=auto"; NULL: there is none. What goes wrong is no reason to
 * fail. */
static const char *
solver_path(Core *core)
{
    if (core->solver == NULL) {
        PyObject *find = helper("vizgen.decorator", "_solver");
        PyObject *path = find ? PyObject_CallNoArgs(find) : NULL;
        const char *text = path ? PyUnicode_AsUTF8(path) : NULL;
        core->solver = sym(text ? text : "");
        PyErr_Clear();
        Py_XDECREF(path);
        Py_XDECREF(find);
    }
    return core->solver[0] ? core->solver : NULL;
}

/* "auto" is the path that it stands for. */
void
accel_solver(const Accel *f, Opts *opts)
{
    if (opts->solver != NULL && strcmp(opts->solver, "auto") == 0) {
        opts->solver = solver_path(f->core);
    }
}

static bool
is_counting(KernelMode mode)
{
    return mode == COUNTING || mode == COUNTING_GENERAL;
}

/* Options by hand or by tuning over the defaults, the mode over both. */
Opts
accel_opts(const Accel *f, KernelMode mode)
{
    Opts opts = opts_default();
    const char *bad;
    if (f->opts_text != NULL) {
        opts_parse(&opts, f->opts_text, &bad);
    }
    opts.general |= mode == GENERAL || mode == COUNTING_GENERAL;
    opts.count_warnings |= is_counting(mode);
    opts.careful |= mode == CAREFUL;
    opts.threads = f->threads;
    opts.approx |= f->approx.measure ? f->relax : f->approx.relax;
    if (f->core->dump != NULL) {
        opts.dump = f->core->dump;
    }
    accel_solver(f, &opts);
    return opts;
}

/* --- compiling ----------------------------------------------------------- */

/* The unit's arena and list of diagnostics belong to whoever holds the lock.
 * The list is emptied before each compilation, since the compiler takes any
 * refusal in it for its own; what it left there is kept by the Spec. */

/* Through sys.stderr, so that tests and notebooks can catch it. */
static void
write_stderr(const char *text)
{
    PyObject *file = PySys_GetObject("stderr");
    if (text != NULL && *text && file != NULL && file != Py_None) {
        if (PyFile_WriteString(text, file) < 0) {
            PyErr_Clear();
        }
    }
}

/* The refusal of a compilation whose front was fine but not its back; it names
 * the variable that chose the compiler. */
static void
refuse_back(Loaded *l, const CompileRequest *request,
            const CompileResult *result)
{
    bool found = cc_find(request->compiler)->ok;
    const char *own = getenv("VIZGEN_CC");
    bool chosen = own != NULL && request->compiler != NULL
                  && strcmp(own, request->compiler) == 0;
    diag_refuse(&l->diags, found ? DIAG_COMPILER_FAILED : DIAG_NO_COMPILER,
                l->unit->funcs.at[0]->loc, "%s%s",
                chosen ? "VIZGEN_CC: " : "",
                result->cc_error ? result->cc_error : "nothing was built");
}

/* Has a signal's handler raised?  Asked while the C compiler runs, without the
 * GIL; the exception stays set. */
static bool
is_stopped(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool stopped = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return stopped;
}

/* Compiles for 'sig' without the GIL; diagnostics are in l->diags. The first
 * compilation of a Spec can be stopped; others have their call to fall back
 * on. */
static CompileResult *
run_compiler(Accel *f, Loaded *l, Signature *sig, KernelMode mode)
{
    CompileRequest request = {
        .unit = l->unit,
        .sig = sig,
        .opts = accel_opts(f, mode),
        .compiler = f->compiler,
        .environment = PyUnicode_AsUTF8(f->core->environment),
    };
    l->diags.list.n = l->diags.list.cap = 0;
    l->diags.list.at = NULL;
    l->diags.refusals = 0;
    double start = clock_seconds();
    l->busy = true;
    CompileResult *result;
    run_stop_by(mode == FAST ? is_stopped : NULL);
    Py_BEGIN_ALLOW_THREADS
    result = vz_compile(&request);
    Py_END_ALLOW_THREADS
    run_stop_by(NULL);
    l->busy = false;
    f->count.compile_seconds += clock_seconds() - start;
    if (result->ok) {
        f->count.cache_hits += result->lib->from_cache;
        f->count.compiles += !result->lib->from_cache;
    } else if (l->diags.refusals == 0) {
        refuse_back(l, &request, result);
    }
    write_stderr(result->dump);
    return result;
}

/* Too many results, or numbers in small arrays, to be handed over; else a fault
 * of ours. */
static void
refuse_plan(Loaded *l, const Func *func)
{
    Loc loc = l->unit->funcs.at[0]->loc;
    int n = 0;
    for (int i = 0; i < func->rets.n; i++) {
        const Ret *ret = &func->rets.at[i];
        n += ret->buf || ret->value->lanes == 0 ? 1 : ret->value->lanes;
    }
    if (func->rets.n > MAX_RESULTS || n > MAX_OUT) {
        diag_refuse(&l->diags, DIAG_TOO_LARGE, loc,
                    "%d numbers and arrays are returned, more than the %d "
                    "(small arrays: %d elements) that can be; return them in "
                    "one array", func->rets.n, MAX_RESULTS, MAX_OUT);
        return;
    }
    diag_refuse(&l->diags, DIAG_INTERNAL, loc,
                "the kernel's parameters don't fit the arguments");
}

/* The compiled and planned kernel, or NULL with a refusal in l->diags. */
Kernel *
spec_compile(Accel *f, Loaded *l, Signature *sig, KernelMode mode)
{
    const CompileResult *result = run_compiler(f, l, sig, mode);
    if (!result->ok) {
        return NULL;
    }
    Kernel *kernel = ARENA_NEW(l->arena, Kernel);
    if (!kernel_plan(l->arena, result, sig, kernel)) {
        refuse_plan(l, result->func);
        return NULL;
    }
    kernel->by_flags &= !is_counting(mode);
    return kernel;
}
