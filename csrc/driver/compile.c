/* vz_compile: the compiler as a list of stages.
 *
 *     Unit --infer--> typed AFunc --lower--> Func@ARRAY --passes--> Func@SCHED
 *          --emit--> C text --run_build--> Library
 *
 * A stage that refuses has left a diagnostic in unit->diags; the next one is
 * then not entered.  Fatal errors (memory, a broken invariant) jump here from
 * anywhere below and become the refusal VZ-5004: nothing below holds a lock, an
 * open file or a child process while it can jump, except csrc/run, which never
 * does.
 *
 * What each stage hands on:
 *
 *   run_front    request.unit, request.sig   ->  out.lowered (Func@ARRAY, how
 *                                                arguments map to parameters)
 *   run_middle   out.lowered.func, opts      ->  out.func (Func@SCHED),
 *                                                out.sched, out.dump
 *   run_back     out.func                    ->  out.c_text, out.lib
 *
 * The result is complete up to the stage that refused, so 'inspect' can show
 * the IR of a function that the C compiler did not like.
 */
#include "csrc/driver/driver.h"

#include "csrc/base/approx.h"
#include "csrc/base/marks.h"
#include "csrc/emit/emit.h"
#include "transforms/transforms.h"

/* Budget on the size of what is emitted, in nodes as ir_size counts them; more
 * is refused (VZ-2012) and left to Python. */
enum { MAX_NODES = 200000 };

/* For ir_each_stmt: does 's' need the host's undo log or shadows?  Then the
 * dispatcher prepares them before a call, which costs a list of the arrays. */
static void
note_commit(void *data, Stmt *s)
{
    bool *needs = data;
    *needs |= s->kind == S_SHADOW || (s->kind == S_STORE && s->logged);
}

/* Remarks on the memory that is left after all passes: what pipes have put in
 * place, or keep as a few rows, is none any more. */
static void
remark_allocs(Diags *diags, const Block *block, bool in_loop)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool loop = in_loop || s->kind == S_FOR || s->kind == S_WHILE;
        remark_allocs(diags, &s->body, loop);
        remark_allocs(diags, &s->els, in_loop);
        const Buf *buf = s->buf;
        if (s->kind != S_ALLOC || buf->space == SPACE_STACK) {
            continue;
        }
        const char *how = buf->kind == BUF_RESULT ? "allocated and returned"
                          : buf->growable ? "a list, whose memory grows"
                          : in_loop ? "memory that every round uses again"
                                    : "allocated in every call";
        diag_remark(diags, DIAG_ALLOCATED, s->loc, "`%s` (%s, %d %s) is %s",
                    buf->name, dtype_name(buf->dtype), buf->rank,
                    buf->rank == 1 ? "axis" : "axes", how);
    }
}

/* From Python's tree to IR.  False after a refusal: they are counted, and not
 * only looked for in the result, because a stage may go on after one in order
 * to find more.
 *
 * "general" is set on the Func before any pass runs: passes that assume
 * anything of the arguments leave a general kernel alone. */
static bool
run_front(CompileRequest *request, CompileResult *out)
{
    Unit *unit = request->unit;
    unit->approx = request->opts.approx;
    AFunc *entry = infer_unit(unit, request->sig);
    /* there may be an entry although a part of it was refused */
    if (entry == NULL || unit->diags->refusals > 0) {
        return false;
    }
    out->lowered = lower_func(unit->arena, unit->diags, entry,
                              request->opts.general,
                              request->opts.count_warnings,
                              request->opts.approx);
    if (out->lowered == NULL || unit->diags->refusals > 0) {
        return false;
    }
    out->lowered->func->general = request->opts.general;
    return true;
}

/* All passes of passes.def, to L_SCHED.  False when the result is too large.
 *
 * The budget is tested after the passes, since code grows by inlining,
 * unrolling and region splitting.  Passes have limits of their own, but the
 * product may still be too much for the C compiler, whose time grows faster
 * than the text. */
static bool
run_middle(CompileRequest *request, CompileResult *out, Arena *scratch)
{
    Unit *unit = request->unit;
    /* the passes that propose add to it, 'schedule' reads it */
    Sched sched = {0};
    Pass pass = {
        .arena = unit->arena,
        .scratch = scratch,
        .diags = unit->diags,
        .opts = &request->opts,
        .sched = &sched,
    };
    Str dump = str_new(unit->arena);
    Func *func = pass_run_all(&pass, out->lowered->func, &dump);
    if (ir_size(&func->body) > MAX_NODES) {
        diag_refuse(unit->diags, DIAG_TOO_LARGE, func->loc,
                    "`%s` grows beyond the compiler's budget", func->name);
        return false;
    }
    ir_number_sites(func);
    Str text = str_new(unit->arena);
    sched_print(&sched, &text);
    out->func = func;
    out->sched = text.at;
    out->dump = dump.at;
    ir_each_stmt(&func->body, note_commit, &out->needs_undo);
    remark_allocs(unit->diags, &func->body, false);
    return true;
}

/* For the cache's key: what need not be exact is part of it, whether or not it
 * has changed the text. */
static const char *
environment_of(const CompileRequest *request)
{
    unsigned approx = request->opts.approx;
    char words[APPROX_WORDS];
    const char *text = request->environment;
    approx_words(approx, words);
    return approx == 0 ? text
                       : str_printf(request->unit->arena, "%s approx=%s",
                                    text ? text : "", words);
}

/* From IR to a kernel.  The readable text is made first, and always: it is what
 * inspect_c shows, also where there is no compiler.
 *
 * The text for the compiler is written a second time because it differs in more
 * than the prelude: #line directives in place of comments.
 *
 * "ok" is set here alone.  A compiler that is missing or fails is no refusal of
 * the function's: "cc_error" says why, and the IR and the text stay valid. */
static void
run_back(CompileRequest *request, CompileResult *out)
{
    Unit *unit = request->unit;
    Str body = str_new(unit->arena);
    emit_c_body(out->func, unit->diags, &body);
    out->c_text = body.at;
    if (request->front_only) {
        out->ok = true;
        return;
    }
    /* probed once per process; the caller makes a diagnostic of "cc_error" */
    const Compiler *cc = cc_find(request->compiler);
    if (!cc->ok) {
        out->cc_error = cc->why;
        return;
    }
    Str whole = str_new(unit->arena);
    emit_c(out->func, unit->diags, &whole);
    str_add(&whole, request->opts.careful ? "/* " VZ_MAY_TRAP " */\n" : "");
    /* the only step that may take seconds, and wait for another thread or
     * process */
    out->lib = run_build(unit->arena, cc, whole.at,
                         environment_of(request), &out->cc_error);
    out->ok = out->lib != NULL;
    if (out->ok && out->lib->simple) {
        diag_remark(unit->diags, DIAG_SIMPLE, out->func->loc,
                    "`%s` takes the C compiler too long with all optimisation",
                    out->func->name);
    }
}

/* A fatal error of any stage ends the whole compilation: below there is no
 * handler but that of sym_n, which unlocks its table and passes the error on.
 *
 * 'scratch' and 'out' are set before setjmp and not changed behind it, so they
 * hold after the jump; volatile keeps gcc from fearing otherwise (-Wclobbered).
 * The refusal takes memory of the unit's arena: should that fail as well, the
 * handler around this one has it, since the jump took this one off the
 * stack. */
CompileResult *
vz_compile(CompileRequest *request)
{
    Unit *unit = request->unit;
    CompileResult *out = ARENA_NEW(unit->arena, CompileResult);
    Arena *volatile scratch = arena_new();
    Fatal trap;
    fatal_enter(&trap);
    if (setjmp(trap.env) == 0) {
        if (run_front(request, out) && run_middle(request, out, scratch)) {
            run_back(request, out);
        }
    } else {
        out->ok = false;
        diag_refuse(unit->diags, DIAG_INTERNAL, unit->funcs.at[0]->loc, "%s",
                    trap.message);
    }
    /* does nothing after a jump: the handler has been taken off by it */
    fatal_leave(&trap);
    arena_free(scratch);
    return out;
}
