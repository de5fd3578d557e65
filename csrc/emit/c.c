/* The C translation unit of a kernel.
 *
 *     static int k_blur_loop4(VzCtx *ctx, const double *restrict img_1, ...,
 *                             int64_t lo, int64_t hi)      rows lo up to hi
 *     static int k_blur_range4(VzCtx *ctx, void *env, ...) unpacks env
 *     static int k_blur(VzCtx *ctx, const double *restrict img_1, ...)
 *     int vz_kernel(VzCtx *ctx)                            unpacks ctx->in
 *
 * Whatever a function needs comes in as parameters, since gcc and clang heed
 * 'restrict' only there.  In a fast kernel buffers that are written are
 * disjoint from all others (an entry check has seen to that), so all pointers
 * are restrict but those of memory that has several names; in a general kernel
 * none is.
 *
 * A function's statements are written first; they tell which locals its head
 * has to declare.
 */
#include <string.h>

#include "csrc/base/marks.h"
#include "csrc/emit/cgen.h"

static const char vz_prelude[] =
#include "prelude_text.inc"
    ;
static const char vz_relaxed[] =
#include "csrc/emit/relaxed_text.inc"
    ;

/* --- what functions are given -------------------------------------------- */

/* Const for scalars, and for the elements of what is only read. LAYOUT_ANY
 * buffers are pointers to char, since their strides count bytes. */
static const char *
need_type(const Gen *g, const Need *need)
{
    if (need->kind == NEED_VAR) {
        return str_printf(g->arena, "const %s ", c_var_type(need->var));
    }
    if (need->kind != NEED_DATA) {
        return "const int64_t ";
    }
    return str_printf(g->arena, "%s%s *%s",
                      g->stored[need->buf->id] ? "" : "const ",
                      c_packed(need->buf) ? c_type(need->buf->dtype) : "char",
                      g->func->general || need->buf->group ? "" : "restrict ");
}

/* The same name in every function, so that statements read alike wherever they
 * end up. 'img_3', 'img_3n1', 'img_3s0', 'v_7v0': the scheme of cgen.h. */
static const char *
need_name(Gen *g, const Need *need, int lane)
{
    switch (need->kind) {
    case NEED_VAR:
        return c_var(g, need->var, lane);
    case NEED_DATA:
        return c_buf(g, need->buf);
    case NEED_EXTENT:
        return str_printf(g->arena, "%sn%d", c_buf(g, need->buf), need->axis);
    default:
        return str_printf(g->arena, "%ss%d", c_buf(g, need->buf), need->axis);
    }
}

/* How many C parameters it is. */
static int
need_lanes(const Need *need)
{
    return need->kind == NEED_VAR ? c_lanes(need->var) : 1;
}

/* Each need between 'before' and 'after', with its type if 'typed'. One
 * function for parameter lists, struct members and arguments, so that the three
 * always agree in order and number. */
static const char *
list_needs(Gen *g, const NeedVec *needs, bool typed, const char *before,
           const char *after)
{
    Str text = str_new(g->arena);
    for (int i = 0; i < needs->n; i++) {
        const Need *need = &needs->at[i];
        for (int lane = 0; lane < need_lanes(need); lane++) {
            str_addf(&text, "%s%s%s%s", before,
                     typed ? need_type(g, need) : "", need_name(g, need, lane),
                     after);
        }
    }
    return text.at;
}

/* Entries of 'param' in VzCtx.in: see there. A buffer takes its pointer, then
 * an extent and a stride per axis. */
static int
param_slots(const Param *param)
{
    return param->buf ? 1 + 2 * param->buf->rank : c_lanes(param->var);
}

int
c_slot(const Gen *g, const Buf *buf)
{
    int slot = 0;
    for (int i = 0; i < g->func->params.n; i++) {
        const Param *param = &g->func->params.at[i];
        if (param->buf == buf) {
            break;
        }
        slot += param_slots(param);
    }
    return slot;
}

/* Where in VzCtx.in the parameter 'var' begins.  Fatal if it is none: then some
 * pass has used a name out of its scope. */
static int
var_slot(const Gen *g, const Var *var)
{
    int slot = 0;
    for (int i = 0; i < g->func->params.n; i++) {
        if (g->func->params.at[i].var == var) {
            return slot;
        }
        slot += param_slots(&g->func->params.at[i]);
    }
    fatal("'%s' is used but nowhere defined", var->name);
}

/* The C text that fetches 'need' from the call's argument table. The order
 * within a buffer is data, extents, strides, as param_slots counts.  A bool or
 * narrow integer was widened to 64 bits by the dispatcher, and the parameter's
 * type narrows it again. */
static const char *
from_slot(Gen *g, const Need *need, int lane)
{
    int slot;
    switch (need->kind) {
    case NEED_VAR:
        slot = var_slot(g, need->var) + lane;
        return str_printf(g->arena, "ctx->in[%d].%s", slot,
                          dtype_is_float(need->var->dtype) ? "f" : "i");
    case NEED_DATA:
        return str_printf(g->arena, "ctx->in[%d].p", c_slot(g, need->buf));
    case NEED_EXTENT:
        slot = c_slot(g, need->buf) + 1 + need->axis;
        return str_printf(g->arena, "ctx->in[%d].i", slot);
    default:
        slot = c_slot(g, need->buf) + 1 + need->buf->rank + need->axis;
        return str_printf(g->arena, "ctx->in[%d].i", slot);
    }
}

/* --- functions ----------------------------------------------------------- */

/* What the statements turned out to use. They come before the statements and
 * are all set, so 'goto done' jumps over no initialisation that is used
 * there. */
static void
write_locals(Gen *g, Str *out)
{
    const Frame *frame = g->frame;
    if (frame->warns) {
        str_line(out, "uint64_t warn = 0;");
    }
    if (frame->polls) {
        str_line(out, "int64_t fuel = ctx->fuel;");
    }
    if (frame->unwinds) {
        str_line(out, "int status = VZ_OK;");
    }
    for (int i = 0; i < frame->reused.n; i++) {
        const Buf *buf = frame->reused.at[i];
        str_line(out, buf->group ? "VzBlock *%spool = 0;"
                                 : "VzMem %smem = {0, 0};",
                 c_buf(g, buf));
    }
    if (frame->none) {
        str_line(out, "const double none_f64 = vz_none();");
        str_line(out, "const float none_f32 = (float)none_f64;");
    }
    c_fn_locals(g, out);
}

/* The way out when all went well, and where the others meet.  The label may be
 * unused: no statement need have left early.  Warnings and fuel of a call that
 * ends otherwise don't matter. */
static void
write_end(Gen *g, Str *out)
{
    const Frame *frame = g->frame;
    if (frame->warns) {
        str_line(out, "ctx->warn |= warn;");
    }
    if (frame->polls) {
        str_line(out, "ctx->fuel = fuel;");
    }
    if (!frame->unwinds) {
        str_line(out, "return VZ_OK;");
        return;
    }
    str_add(out, "done: __attribute__((unused));\n");
    for (int i = 0; i < frame->reused.n; i++) {
        const Buf *buf = frame->reused.at[i];
        str_line(out, buf->group ? "vz_drain(ctx, %spool);"
                                 : "vz_drop(ctx, &%smem);",
                 c_buf(g, buf));
    }
    str_line(out, "return status;");
}

/* Scalars and vectors; fresh arrays the host has already. One slot of VzCtx.out
 * per lane, as ir_ret_slot counts. */
static void
write_results(Gen *g)
{
    int slot = 0;
    for (int i = 0; i < g->func->rets.n; i++) {
        const Expr *value = g->func->rets.at[i].value;
        int lanes = value && value->lanes ? value->lanes : 1;
        for (int lane = 0; value && lane < lanes; lane++) {
            LINE(g, "ctx->out[%d].%s = %s;", slot++,
                 dtype_is_float(value->dtype) ? "f" : "i",
                 c_expr(g, value, lane, P_ANY));
        }
    }
}

/* A function's head belongs to the line of its loop, or of 'def'. It is written
 * in a Frame of its own, because the frame at hand counts the lines of its own
 * text. */
static void
write_line_of(Gen *g, Loc loc)
{
    Frame head = {.text = str_new(g->arena)};
    Frame *frame = g->frame;
    g->frame = &head;
    if (!g->people) {
        c_line(g, loc);
    }
    g->frame = frame;
    str_add(&g->units, head.text.at);
}

/* The function 'name': the kernel's body, or a range of 'loop'. Functions nest:
 * a parallel loop inside is a whole function of its own, added to "units"
 * before this one, and so declared before it is called. */
static void
write_function(Gen *g, const char *name, const NeedVec *needs,
               const Stmt *loop)
{
    Frame frame = {.text = str_new(g->arena), .parallel = loop};
    Frame *outer = g->frame;
    /* has to be known before the first exit is written */
    frame.unwinds = c_reuses(g->func, loop);
    frame.text.indent = C_INDENT;
    g->frame = &frame;
    if (loop) {
        c_rounds(g, loop, "lo", "hi");
    } else {
        c_block(g, &g->func->body);
        write_results(g);
    }
    write_line_of(g, loop ? loop->loc : g->func->loc);
    str_addf(&g->units, "static int\n%s(VzCtx *ctx%s%s)\n{\n", name,
             list_needs(g, needs, true, ",\n    ", ""),
             loop ? ",\n    int64_t lo, int64_t hi" : "");
    g->units.indent = C_INDENT;
    write_locals(g, &g->units);
    str_add(&g->units, frame.text.at);
    write_end(g, &g->units);
    g->units.indent = 0;
    str_add(&g->units, "}\n\n");
    g->frame = outer;
}

/* What parallel_for calls: takes the environment apart. The environment lives
 * on the stack of the function that started the loop, which waits for all
 * ranges.
 *
 *   struct k_f_env4 { const double a_1; ... };
 *   static int k_f_range4(VzCtx *ctx, void *env, int64_t lo, int64_t hi)
 *   {
 *       const struct k_f_env4 *e = env;
 *       return k_f_loop4(ctx, e->a_1, ..., lo, hi);
 *   } */
static void
write_range(Gen *g, const NeedVec *needs, int id)
{
    Str *out = &g->units;
    const char *env = str_printf(g->arena, "struct %s_env%d", g->prefix, id);
    if (needs->n > 0) {
        str_addf(out, "%s {\n%s};\n\n", env,
                 list_needs(g, needs, true, "    ", ";\n"));
    }
    str_addf(out, "static int\n%s_range%d(VzCtx *ctx, void *env, "
                  "int64_t lo, int64_t hi)\n{\n", g->prefix, id);
    if (needs->n > 0) {
        str_addf(out, "    const %s *e = env;\n", env);
    }
    str_addf(out, "    return %s_loop%d(ctx%s, lo, hi);\n}\n\n", g->prefix, id,
             list_needs(g, needs, false, ", e->", ""));
}

/* The statements of the loop go into a function of their own. What they
 * need is passed by value, so the loop can't disturb its surroundings. */
void
c_parallel(Gen *g, const Stmt *loop)
{
    int id = loop->id;
    NeedVec needs = c_needs(g, &loop->body, loop);
    const char *name = str_printf(g->arena, "%s_loop%d", g->prefix, id);
    write_function(g, name, &needs, loop);
    write_range(g, &needs, id);
    if (needs.n > 0) {
        LINE(g, "struct %s_env%d loop%d_env = {%s};", g->prefix, id, id,
             /* the first of the separators is left out */
             list_needs(g, &needs, false, ", ", "") + 2);
    }
    LINE(g, "const int loop%d_status = ctx->host->parallel_for(", id);
    LINE(g, "    ctx, %s_range%d, %s, %s, %s,", g->prefix, id,
         needs.n > 0 ? str_printf(g->arena, "&loop%d_env", id) : "0",
         c_expr(g, loop->lo, 0, P_ANY), c_expr(g, loop->hi, 0, P_ANY));
    LINE(g, "    %s);", c_cost(g, loop));
    const char *status = str_printf(g->arena, "loop%d_status", id);
    c_exit_if(g, status, status);
}

/* The one symbol that is called, and the number that is looked at before.
 * vz_abi is read before vz_kernel is ever called: a file of another layout of
 * VzCtx in the cache must not run. */
static void
write_entry(Gen *g, const NeedVec *needs)
{
    Str *out = &g->units;
    write_line_of(g, g->func->loc);
    str_addf(out, "VZ_EXPORT int\nvz_kernel(VzCtx *ctx)\n{\n    return %s(ctx",
             g->prefix);
    for (int i = 0; i < needs->n; i++) {
        for (int lane = 0; lane < need_lanes(&needs->at[i]); lane++) {
            str_addf(out, ", %s", from_slot(g, &needs->at[i], lane));
        }
    }
    str_add(out, ");\n}\n\nVZ_EXPORT const unsigned vz_abi = VZ_ABI;\n");
}

/* --- entry --------------------------------------------------------------- */

/* What of relaxed.h is used: 'VZ_VM1_f64(exp)'. */
static void
add_relaxed(const Gen *g, Str *out)
{
    str_add(out, vz_relaxed);
    for (int fn = 0; fn < FN_COUNT; fn++) {
        const char *name = ir_fn_name((Fn)fn);
        for (int single = 0; single < 2; single++) {
            if (g->vm[fn] >> single & 1 && strncmp(name, "vm_", 3) == 0) {
                str_addf(out, "VZ_VM%d_%s(%s)\n", ir_fn_arity((Fn)fn),
                         single ? "f32" : "f64", name + 3);
            }
        }
    }
}

/* Everything but the prelude, of which 'before' gets what depends on the
 * function.  Names have room beyond the ids for the index variables of
 * c_fill. */
static void
write_unit(const Func *func, const Diags *diags, bool people, Str *before,
           Str *out)
{
    Arena *arena = out->arena;
    func = c_spelled(arena, func);
    Gen gen = {.arena = arena, .func = func, .diags = diags};
    gen.people = people;
    gen.live = c_live(arena, func);
    gen.stored = c_stored(arena, func);
    gen.chained = c_chained(arena, func);
    gen.truncated = c_truncated(arena, func);
    gen.products = c_alternates(arena, func);
    gen.fuses = c_fuses(func);
    gen.names = ARENA_ARRAY(arena, const char *,
                            func->next_id + 1 + MAX_RANK);
    gen.units = str_new(arena);
    gen.prefix = c_function_name(arena, func->name);
    NeedVec needs = c_needs(&gen, &func->body, NULL);
    write_function(&gen, gen.prefix, &needs, NULL);
    write_entry(&gen, &needs);
    str_add(out, gen.units.at);
    if (!people && gen.narrows && gen.widens) {
        str_add(out, "/* " VZ_NO_SLP " */\n");
    }
    str_add(before, gen.lanes ? "#define VZ_LANES\n" : "");
    str_add(before, people ? "" : vz_prelude);
    if (!people && gen.relaxed) {
        add_relaxed(&gen, before);
    }
}

void
emit_c(const Func *func, const Diags *diags, Str *out)
{
    Str unit = str_new(out->arena);
    write_unit(func, diags, false, out, &unit);
    str_add(out, "\n");
    str_add(out, unit.at);
}

void
emit_c_body(const Func *func, const Diags *diags, Str *out)
{
    Str before = str_new(out->arena);
    write_unit(func, diags, true, &before, out);
}
