/* vz_compile: the compiler as a list of stages.
 *
 *     Unit --infer--> typed AFunc --lower--> Func@ARRAY --passes--> Func@SCHED
 *          --emit--> C text --run_build--> Library
 *
 * A stage that refuses has left a diagnostic in unit->diags; the next one is
 * then not entered.  Fatal errors (memory, a broken invariant) jump here from
 * anywhere below and become the refusal VZ-5004: nothing below holds a lock,
 * an open file or a child process while it can jump, except csrc/run, which
 * never does.
 */
#include "csrc/driver/driver.h"

#include "csrc/emit/emit.h"
#include "transforms/transforms.h"

/* Budget on the size of what is emitted; more is refused (VZ-2012). */
enum { MAX_NODES = 200000 };

static void
note_commit(void *data, Stmt *s)
{
    bool *needs = data;
    *needs |= s->kind == S_SHADOW || (s->kind == S_STORE && s->logged);
}

static bool
run_front(CompileRequest *request, CompileResult *out)
{
    Unit *unit = request->unit;
    AFunc *entry = infer_unit(unit, request->sig);
    if (entry == NULL || unit->diags->refusals > 0) {
        return false;
    }
    out->lowered = lower_func(unit->arena, unit->diags, entry);
    if (out->lowered == NULL || unit->diags->refusals > 0) {
        return false;
    }
    out->lowered->func->general = request->opts.general;
    return true;
}

static bool
run_middle(CompileRequest *request, CompileResult *out, Arena *scratch)
{
    Unit *unit = request->unit;
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
    Str text = str_new(unit->arena);
    sched_print(&sched, &text);
    out->func = func;
    out->sched = text.at;
    out->dump = dump.at;
    ir_each_stmt(&func->body, note_commit, &out->needs_undo);
    return true;
}

static void
run_back(CompileRequest *request, CompileResult *out)
{
    Unit *unit = request->unit;
    Str body = str_new(unit->arena);
    emit_c_body(out->func, unit->diags, &request->opts, &body);
    out->c_text = body.at;
    if (request->front_only) {
        out->ok = true;
        return;
    }
    const Compiler *cc = cc_find(request->compiler);
    if (!cc->ok) {
        out->cc_error = cc->why;
        return;
    }
    Str whole = str_new(unit->arena);
    emit_c(out->func, unit->diags, &request->opts, &whole);
    out->lib = run_build(unit->arena, cc, whole.at, request->environment,
                         &out->cc_error);
    out->ok = out->lib != NULL;
}

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
    fatal_leave(&trap);
    arena_free(scratch);
    return out;
}
