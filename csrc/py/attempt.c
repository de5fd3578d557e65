/* Running a call natively, which is given up as a whole or not at all.
 *
 *     fill      slots on the C stack                           args.c
 *     run       fast kernel                                    host.c
 *       BAIL    undo, general kernel
 *       REPLAY  undo, Python does the call
 *     settle    which warnings are due?                        warn.c
 *     result                                                   result.c
 *
 * State that an attempt leaves behind belongs to the Call and is taken back by
 * call_undo before the next one: logged or shadowed memory of the caller, and
 * results that were made.  Scratch memory stays until the end; it is only a
 * matter of bytes.
 *
 * The one end that takes nothing back is an exception of a signal handler
 * (Ctrl-C).  Python would leave what had been stored so far, and so do we:
 * stores behind the last check are in no log, so taking back could only be
 * half done.
 */
#include "csrc/py/tell.h"

#include <fenv.h>

/* After this many bails the general kernel is run at once; after this many
 * calls whose flags were set in vain the careful one; after this many whose
 * flags were set at all the counting one, and that until so many of its calls
 * in a row had nothing to warn of. */
enum {
    PATIENCE_BAILS = 8,
    PATIENCE_VAIN = 2,
    PATIENCE_WARNED = 8,
    PATIENCE_CALM = 64
};

/* An exception is set: a status beside those of VzStatus. */
enum { RAISED = -1 };

/* --- one kernel ---------------------------------------------------------- */

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
    call->policy = WARNS_LATER;
    call->raising = 0;
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

/* Runs the kernel that is prepared; a VzStatus. */
static int
run_filled(Call *call)
{
    bool shadow =
        call->policy == WARNS_SHADOWED || call->policy == WARNS_RAISE;
    return call_run(call, call->kernel, shadow);
}

/* Fills and runs 'kernel'; a VzStatus, VZ_REPLAY also when it can't be. */
static int
attempt(Call *call, const Kernel *kernel)
{
    if (kernel == NULL || prepare(call, kernel) != FILL_OK) {
        return VZ_REPLAY;
    }
    return run_filled(call);
}

/* --- warnings and what they need ----------------------------------------- */

/* NumPy looks at the flags after each scalar operation, a kernel only at its
 * end, and the flags can't tell a warning of a NumPy number from an infinity of
 * Python's floats, or from a division in a lane that was then thrown away.
 *
 *     flags clear                  nothing to do: nearly always
 *     flags set, nobody listens    nothing to do
 *     flags set                    take back, run the counting kernel, whose
 *                                  WARNs say which warnings are due, and where
 *
 * Taking back needs either that no visible memory was written, or that running
 * again writes the same values, or shadows; a log doesn't suffice, since it
 * ends with the last check that may fail, and stores may follow.  Kernels with
 * none of these are *fragile*, as  a[i] = a[i] * 0.5  is.  If anybody listens,
 * either the array is copied before one of them is run or, where that would
 * take longer than the work itself, the counting kernel is run at once.  That
 * is the call's Policy.
 *
 * Where a warning is to be an error the counting kernel is run at once, on
 * shadowed memory (raise_by_python).  Integers have no flags: all kernels count
 * their warnings. */

/* May its flags ask for another run, which it can't have just so? */
static bool
is_fragile(const Kernel *kernel)
{
    return kernel->by_flags && kernel->rereads;
}

/* May the call be repeated from the start, by another kernel or in Python? */
static bool
can_repeat(const Call *call)
{
    return !call->kernel->rereads || call->undo.shadowed;
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

/* The kernel at hand in the mode that counts; compiled when first needed. */
static const Kernel *
counting_kernel(Call *call)
{
    const Kernel *general = call->spec->kernels[GENERAL];
    bool is_general = call->kernel == general && general != NULL;
    return !call->kernel->by_flags
               ? call->kernel
               : spec_kernel(call->f, call->loaded, call->spec,
                             is_general ? COUNTING_GENERAL : COUNTING);
}

/* From now on the call is one of the kernel that counts. */
static bool
use_counting(Call *call)
{
    const Kernel *counting = counting_kernel(call);
    return counting != NULL && prepare(call, counting) == FILL_OK;
}

/* Only Python does what np.errstate or a filter asks for. */
static bool
leave_to_python(Call *call)
{
    call->spec->errstate = true;
    return false;
}

/* Where a warning is to be an error, or to call something.  Python stops
 * between two stores, and a kernel has done them all by then, so what it writes
 * is shadowed.  It is the kernel that counts: flags say nothing of an operation
 * whose value nobody uses, which raises all the same.  It ends at the next poll
 * after one of 'kinds': the program may rely on that to end at all. */
static bool
raise_by_python(Call *call, unsigned kinds)
{
    call->policy = WARNS_RAISE;
    call->raising = kinds;
    return use_counting(call) || leave_to_python(call);
}

/* Sets the policy of a call that may warn, and perhaps another kernel.  False:
 * Python must do it.  For kernels that never warn nothing is looked up. */
static bool
choose_policy(Call *call)
{
    const Kernel *kernel = call->kernel;
    unsigned kinds = ALL_WARNINGS | (kernel->floats ? UNDERFLOW : 0);
    if (!kernel->floats && kernel->warns == NULL) {
        return true;
    }
    Outlook outlook = warn_outlook(call->f->core, &kinds);
    if (PyErr_Occurred() || (kinds & UNDERFLOW) != 0) {
        return leave_to_python(call);
    }
    if (outlook == OUTLOOK_PYTHON) {
        return raise_by_python(call, kinds);
    }
    if (outlook == OUTLOOK_IGNORE) {
        call->policy = WARNS_NEVER;
    } else if (is_fragile(kernel) && shadow_is_cheap(call)) {
        call->policy = WARNS_SHADOWED;
    } else if (is_fragile(kernel)) {
        return use_counting(call);
    }
    return true;
}

/* The kinds of warnings that the flags may mean. */
static unsigned
kinds_of_flags(const Call *call)
{
    unsigned flags = call->kernel->by_flags ? call->flags : 0;
    return (flags & FE_DIVBYZERO ? 1u << WARN_DIVIDE : 0)
           | (flags & FE_OVERFLOW ? 1u << WARN_OVERFLOW : 0)
           | (flags & FE_INVALID ? 1u << WARN_INVALID : 0);
}

/* The counting kernel again and again without need is slower than the fast
 * one. */
static void
note_calm(Call *call)
{
    Spec *spec = call->spec;
    if (call->ctx.warn != 0 || spec->warned <= PATIENCE_WARNED) {
        spec->calm = 0;
    } else if (++spec->calm > PATIENCE_CALM) {
        spec->warned = 0;
    }
}

/* The fast kernel raises flags that nobody asked for.  Those of what the C
 * compiler computes ahead the careful one doesn't raise; if it does, the flags
 * are those of Python's floats. */
static void
note_vain(Call *call, const Kernel *raised)
{
    Spec *spec = call->spec;
    if (raised == spec->kernels[FAST] && ++spec->vain == PATIENCE_VAIN) {
        spec_kernel(call->f, call->loaded, spec, CAREFUL);
    }
}

/* The flags say too much: speculated operations set them, and so does the
 * arithmetic of Python's floats.  The counting kernel, run after the other
 * was taken back, knows. */
static int
count_warnings(Call *call)
{
    call->spec->warned++;
    const Kernel *raised = call->kernel;
    const Kernel *counting = counting_kernel(call);
    call_undo(call);
    int status = attempt(call, counting);
    if (status == VZ_OK && call->ctx.warn == 0) {
        note_vain(call, raised);
    }
    return status == VZ_OK || status == VZ_INTERRUPT ? status : VZ_REPLAY;
}

/* What is to become of the kinds of warnings that a kernel may have seen; those
 * that are ignored are dropped. */
static Outlook
outlook_now(Call *call, unsigned *kinds)
{
    *kinds = kinds_of_flags(call) | warn_kinds(call->kernel, call->ctx.warn);
    if (*kinds == 0 || call->policy == WARNS_NEVER) {
        return OUTLOOK_IGNORE;
    }
    Outlook outlook = warn_outlook(call->f->core, kinds);
    return outlook == OUTLOOK_PYTHON && !can_repeat(call) ? OUTLOOK_SHOW
                                                          : outlook;
}

/* Gives the warnings that are due.  VZ_REPLAY: Python must do the call; RAISED:
 * it is done, and a warning became an exception. */
static int
settle_warnings(Call *call)
{
    unsigned kinds;
    note_calm(call);
    Outlook outlook = outlook_now(call, &kinds);
    if (PyErr_Occurred()) {
        return RAISED; /* by a signal's handler, after the last store */
    }
    if (outlook == OUTLOOK_SHOW && kinds_of_flags(call) != 0) {
        int status = count_warnings(call);
        if (status != VZ_OK) {
            return status;
        }
        outlook = outlook_now(call, &kinds);
    }
    if (outlook == OUTLOOK_IGNORE) {
        return VZ_OK;
    }
    if (outlook == OUTLOOK_SHOW && warn_tell(call, kinds)) {
        return VZ_OK;
    }
    if (outlook == OUTLOOK_SHOW && !can_repeat(call)) {
        return RAISED;
    }
    PyErr_Clear();
    call->spec->errstate |= outlook == OUTLOOK_PYTHON;
    return VZ_REPLAY;
}

/* --- the call ------------------------------------------------------------ */

/* In program order, for arguments that overlap or indices that a quick test of
 * the bounds did not prove.  It may be fragile where the fast one was not, and
 * counts where that one did. */
static int
run_general(Call *call)
{
    bool counting = call->kernel->floats && !call->kernel->by_flags;
    const Kernel *general = spec_kernel(call->f, call->loaded, call->spec,
                                        counting ? COUNTING_GENERAL : GENERAL);
    bool listened = call->policy == WARNS_LATER;
    if (general != NULL && is_fragile(general) && listened) {
        call->policy = WARNS_SHADOWED;
    }
    return attempt(call, general);
}

/* What was begun is either completed here or has never happened, unless the
 * user stopped it. */
static Outcome
finish(Call *call, int status, PyObject **result)
{
    if (status == VZ_OK) {
        status = settle_warnings(call);
    }
    if (status == VZ_OK) {
        Record *record = &call->spec->record;
        record->recent = (uint8_t)(record->recent << 1);
        *result = call_result(call);
        return *result ? OUT_DONE : OUT_ERROR;
    }
    if (status == RAISED || (status == VZ_INTERRUPT && PyErr_Occurred())) {
        return OUT_ERROR;
    }
    call_undo(call);
    bool checked = status == VZ_REPLAY && call->ctx.failed > 0 &&
                   call->policy != WARNS_RAISE;
    return checked && trial_repeated(call) < 0 ? OUT_ERROR : OUT_REPLAY;
}

/* Which kernel to begin with: the general one after many bails, the counting
 * or the careful one when flags are set again and again. */
static const Kernel *
first_kernel(const Spec *spec)
{
    if (spec->bails > PATIENCE_BAILS && spec->kernels[GENERAL]) {
        return spec->kernels[GENERAL];
    }
    if (spec->warned > PATIENCE_WARNED && spec->kernels[COUNTING]) {
        return spec->kernels[COUNTING];
    }
    if (spec->vain >= PATIENCE_VAIN && spec->kernels[CAREFUL]) {
        return spec->kernels[CAREFUL];
    }
    return spec->kernels[FAST];
}

/* Arguments of the right types, which no slot can hold or no kernel may write:
 * Python raises its ValueError where the store is. */
static Outcome
tell_filled(Accel *f, const Loaded *l, FillStatus filled)
{
    bool readonly = filled == FILL_READONLY;
    DiagId code = readonly ? DIAG_ARGUMENT_LAYOUT : DIAG_UNSUPPORTED_ARGUMENT;
    int status = function_tell(f, l, code,
                               readonly ? "an array that it writes is read-only"
                                        : UNFIT);
    return status < 0 ? OUT_ERROR : OUT_PYTHON;
}

/* Once, unless calls in Python are errors. */
static int
tell_overlap(Call *call)
{
    Accel *f = call->f;
    if (call->spec->told && !f->strict && !f->core->strict) {
        return 0;
    }
    call->spec->told = true;
    return function_tell(f, call->loaded, DIAG_ARGUMENT_LAYOUT,
                         "elements of an array that it writes overlap");
}

/* An array whose elements coincide is Python's: kernels take stores to one
 * element for stores to no other. */
static Outcome
run_prepared(Call *call, PyObject **result)
{
    if (!choose_policy(call)) {
        return PyErr_Occurred() ? OUT_ERROR : OUT_PYTHON;
    }
    if (call->overlaps_itself) {
        return tell_overlap(call) < 0 ? OUT_ERROR : OUT_PYTHON;
    }
    int status = run_filled(call);
    if (status == VZ_BAIL) {
        call_undo(call);
        call->spec->bails++;
        status = run_general(call);
    }
    return finish(call, status, result);
}

/* Nothing that was allocated outlives this but the result. */
Outcome
run_native(Accel *f, Loaded *l, Spec *spec, PyObject *const *args,
           PyObject **result)
{
    Call call;
    call_init(&call, f, l, spec, args);
    FillStatus filled = prepare(&call, first_kernel(spec));
    Outcome out = filled == FILL_OK ? run_prepared(&call, result)
                                    : tell_filled(f, l, filled);
    call_finish(&call);
    return out;
}
