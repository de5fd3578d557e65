/* Pass fission: what a loop computes is made apart from what it does with it.
 *
 *     for x in 0..w {                          alloc part[128] on the stack
 *         let v = a[x] * k + b[x]              for x in block { check, v
 *         check lt(v, 2 ** 63)                     store part[x - first] = v }
 *         let i = cast i64 v           ->      for x in block {
 *         store out[2 * x] = lut[i]                let v = part[x - first]
 *     }                                            let i = cast i64 v
 *                                                  store out[2 * x] = lut[i] }
 *
 * A table that is read at a computed place, or elements that are stored far
 * apart, keep a loop from SIMD, and a check that stands before a table is read
 * does so in any case: a lane whose check fails must not read.  Once arithmetic
 * and checks have a loop of their own, that one runs in lanes; it ends the call
 * before anything is read at a place that was not checked.
 *
 * The rounds are independent, and the first loop reads nothing that the loop
 * stores, so it may run ahead.  It takes what computes floats, and the checks
 * of floats.  Any other check is left to the second loop, and with it all loads
 * that follow: it may be what keeps them in range.  Arithmetic of integers on
 * the loop's variable is done in both.
 *
 * Worth while where there is much to compute beside what is handed over.
 */
#include "transforms/transforms.h"

enum {
    BLOCK = 128,    /* rounds at a time */
    MAX_PARTS = 6,  /* values that are handed over */
    LEAST = 12,     /* operations that are worth a loop */
    PER_PART = 6,   /* and for each value handed over */
};

/* What becomes of a Var of the body, and where. */
typedef enum Role { ROLE_NONE, ROLE_BOTH, ROLE_FIRST, ROLE_SECOND } Role;

/* One loop while it is looked at and taken apart.
 *   "loop"   its branches that only compute are selects
 *   "roles"  Var * -> Role of the LETs of the body
 *   "parts"  Vars of the first loop that the second one needs
 *   "ops"    operations of the first loop
 *   "guarded"  a check of the second loop stands before what comes now */
typedef struct Fission {
    Pass *pass;
    Func *func;
    const Stmt *loop;
    Map roles;
    VarVec parts;
    int ops;
    bool guarded;
} Fission;

/* ROLE_NONE for the loop's variable and all that is defined outside. */
static Role
role_of(const Fission *f, const Var *var)
{
    return (Role)(intptr_t)map_get(&f->roles, var);
}

/* --- who does what ------------------------------------------------------- */

/* Is 'e' arithmetic of integers on what both loops have? */
static bool
is_for_both(const Fission *f, const Expr *e)
{
    bool ok = e->lanes == 0 && e->dtype != DT_F32 && e->dtype != DT_F64 &&
              !ir_reads(e) && e->op != E_CALL;
    if (e->op == E_VAR) {
        Role role = role_of(f, e->var);
        ok = ok && (role == ROLE_NONE || role == ROLE_BOTH);
    }
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_for_both(f, e->args[i]);
    }
    return ok;
}

/* May a load move ahead of the loop's stores, at a place that is known? */
static bool
is_early_load(const Fission *f, const Expr *e)
{
    bool ok = e->op == E_LOAD && e->lanes == 0 && !f->guarded &&
              !effects_writes(&f->loop->body, e->buf);
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_for_both(f, e->args[i]);
    }
    return ok;
}

/* Can the first loop compute 'e' in lanes?  Casts of floats to integers stay
 * behind: not every processor has them for lanes. */
static bool
is_for_first(const Fission *f, const Expr *e)
{
    if (ir_reads(e)) {
        return is_early_load(f, e);
    }
    bool ok = e->lanes == 0 && e->op != E_IDIV && e->op != E_MOD &&
              (e->op != E_CALL || fn_has_lanes(e->fn)) &&
              (e->op != E_CAST || dtype_is_float(e->dtype));
    if (e->op == E_VAR) {
        ok = ok && role_of(f, e->var) != ROLE_SECOND;
    }
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_for_first(f, e->args[i]);
    }
    return ok;
}

/* For ir_each_node: what costs something. */
static void
count_op(void *data, const Expr *e)
{
    Fission *f = data;
    bool counts = e->nargs > 0 && e->op != E_LOAD;
    f->ops += counts && dtype_is_float(e->args[0]->dtype);
}

/* Which loop does 's' belong to?  For LETs, once that is decided. */
static Role
role_of_stmt(const Fission *f, const Stmt *s)
{
    bool ahead = s->kind == S_CHECK && is_float_check(s) &&
                 !ir_has_load(s->value) && is_for_first(f, s->value);
    return s->kind == S_LET ? role_of(f, s->var)
           : ahead          ? ROLE_FIRST
                            : ROLE_SECOND;
}

/* Gives every LET its loop; false: the loop must stay whole. */
static bool
assign_roles(Fission *f)
{
    const Block *body = &f->loop->body;
    for (int i = 0; i < body->n; i++) {
        Stmt *s = body->at[i];
        if (s->kind == S_LET) {
            bool first = dtype_is_float(s->value->dtype) &&
                         is_for_first(f, s->value);
            Role role = is_for_both(f, s->value) ? ROLE_BOTH
                        : first                  ? ROLE_FIRST
                                                 : ROLE_SECOND;
            map_set(&f->roles, s->var, (void *)(intptr_t)role);
        } else if (s->kind != S_STORE && s->kind != S_CHECK) {
            return false;
        }
        if (role_of_stmt(f, s) == ROLE_FIRST) {
            ir_each_node(s, count_op, f);
        }
        f->guarded |= s->kind == S_CHECK && role_of_stmt(f, s) == ROLE_SECOND;
    }
    return true;
}

/* For ir_each_node, in what is done second. */
static void
find_part(void *data, const Expr *e)
{
    Fission *f = data;
    if (e->op != E_VAR || role_of(f, e->var) != ROLE_FIRST) {
        return;
    }
    for (int i = 0; i < f->parts.n; i++) {
        if (f->parts.at[i] == e->var) {
            return;
        }
    }
    vec_push(f->pass->arena, &f->parts, e->var);
}

/* Is enough computed for what is handed over? */
static bool
is_worth(Fission *f)
{
    for (int i = 0; i < f->loop->body.n; i++) {
        Stmt *s = f->loop->body.at[i];
        if (role_of_stmt(f, s) == ROLE_SECOND) {
            ir_each_node(s, find_part, f);
        }
    }
    return f->parts.n > 0 && f->parts.n <= MAX_PARTS && f->ops >= LEAST &&
           f->ops >= PER_PART * f->parts.n;
}

/* --- two loops ----------------------------------------------------------- */

/* The array by which 'var' is handed over. */
static Buf *
part_buf(Fission *f, const Var *var, int64_t size)
{
    Buf *buf = ir_buf(f->func, var->name, var->dtype, 1, BUF_LOCAL);
    buf->space = SPACE_STACK;
    buf->layout = LAYOUT_C;
    buf->dims[0] = ir_int(f->pass->arena, DT_I64, size);
    buf->loc = f->loop->loc;
    return buf;
}

/* x - first */
static Expr *
place_of(Fission *f, const Stmt *loop)
{
    Expr *x = ir_ref(f->pass->arena, loop->var);
    return ir_binary(f->pass->arena, E_SUB, x, loop->lo);
}

/* The statements of the first loop, and of what both have those it needs. */
static Block
first_body(Fission *f, const Block *body)
{
    Arena *arena = f->pass->arena;
    Map needed = map_new(f->pass->scratch);
    Block back = {0};
    Block out = {0};
    for (int i = body->n - 1; i >= 0; i--) {
        Stmt *s = body->at[i];
        Role role = role_of_stmt(f, s);
        if (role == ROLE_FIRST ||
            (role == ROLE_BOTH && map_has(&needed, s->var))) {
            ir_each_node(s, ir_note_var, &needed);
            vec_push(arena, &back, s);
        }
    }
    for (int i = back.n - 1; i >= 0; i--) {
        vec_push(arena, &out, back.at[i]);
    }
    return out;
}

/* The loop that computes, under names of its own. */
static Stmt *
first_loop(Fission *f, const Stmt *loop, Buf *const *bufs)
{
    Arena *arena = f->pass->arena;
    Block body = first_body(f, &loop->body);
    Expr *at = place_of(f, loop);
    for (int i = 0; i < f->parts.n; i++) {
        Expr *value = ir_ref(arena, f->parts.at[i]);
        vec_push(arena, &body,
                 ir_store(arena, bufs[i], &at, 1, value, loop->loc));
    }
    Stmt *first = ir_copy_stmt(arena, loop);
    Map map = map_new(arena);
    first->var = ir_var(f->func, loop->var->name, DT_I64, 0);
    first->id = f->func->next_id++;
    map_set(&map, loop->var, ir_ref(arena, first->var));
    first->body = ir_clone(f->func, &body, &map);
    return first;
}

/* The loop that does the rest, under the old names. */
static Stmt *
second_loop(Fission *f, const Stmt *loop, Buf *const *bufs)
{
    Arena *arena = f->pass->arena;
    Stmt *second = ir_copy_stmt(arena, loop);
    Block body = {0};
    Expr *at = place_of(f, loop);
    for (int i = 0; i < f->parts.n; i++) {
        Expr *value = ir_load(arena, bufs[i], &at, 1, 0);
        vec_push(arena, &body,
                 ir_let(arena, f->parts.at[i], value, loop->loc));
    }
    for (int i = 0; i < loop->body.n; i++) {
        if (role_of_stmt(f, loop->body.at[i]) != ROLE_FIRST) {
            vec_push(arena, &body, loop->body.at[i]);
        }
    }
    second->body = body;
    return second;
}

/* Appends both loops for at most 'size' rounds of 'loop'. */
static void
push_loops(Fission *f, const Stmt *loop, int64_t size, Block *out)
{
    Arena *arena = f->pass->arena;
    Buf *bufs[MAX_PARTS];
    for (int i = 0; i < f->parts.n; i++) {
        bufs[i] = part_buf(f, f->parts.at[i], size);
        Stmt *alloc = ir_stmt(arena, S_ALLOC, loop->loc);
        alloc->buf = bufs[i];
        vec_push(arena, out, alloc);
    }
    vec_push(arena, out, first_loop(f, loop, bufs));
    vec_push(arena, out, second_loop(f, loop, bufs));
}

/* What 'loop' becomes: two loops where it has few rounds, else blocks. */
static Block
take_apart(Fission *f)
{
    Block out = {0};
    int64_t trips = loop_trips(f->loop);
    if (trips >= 0 && trips <= BLOCK) {
        push_loops(f, f->loop, trips, &out);
        return out;
    }
    out = split_strips(f->func, f->loop, BLOCK);
    Stmt *strips = vec_last(&out);
    const Stmt *inner = vec_last(&strips->body);
    Block body = strips->body;
    body.n--;
    push_loops(f, inner, BLOCK, &body);
    strips->body = body;
    return out;
}

/* --- the pass ------------------------------------------------------------ */

/* The visitor's state: "apart" holds what takes the place of a loop by its
 * variable, "nested" the loops that are in others. */
typedef struct Visit {
    Pass *pass;
    Func *func;
    Map apart;
    Map nested;
} Visit;

/* For ir_each_stmt. */
static void
note_nested(void *data, Stmt *s)
{
    Visit *v = data;
    if (s->kind == S_FOR) {
        map_set(&v->nested, s->var, s);
    }
}

/* Would the first loop run in lanes? */
static bool
first_has_lanes(Fission *f, Bounds *b)
{
    Buf *bufs[MAX_PARTS];
    DependWhy why;
    for (int i = 0; i < f->parts.n; i++) {
        bufs[i] = part_buf(f, f->parts.at[i], BLOCK);
    }
    return vector_allowed(f->pass->scratch, f->func, b,
                          first_loop(f, f->loop, bufs), &why);
}

/* Does the loop gain?  It may not run in lanes as it is, and its first part may
 * do so. */
static bool
may_take_apart(Fission *f, Bounds *b)
{
    Arena *scratch = f->pass->scratch;
    DependWhy why;
    Stmt rounds = *f->loop;
    return f->loop->ncarries == 0 && f->loop->until == NULL &&
           f->loop->nbinds == 0 && bounds_may_shift(b, f->loop) &&
           assign_roles(f) && is_worth(f) &&
           !vector_allowed(scratch, f->func, b, f->loop, &why) &&
           depend_independent(scratch, f->func, b, &rounds, &why) &&
           first_has_lanes(f, b);
}

/* For bounds_visit: innermost loops. A short one by itself is not worth it. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Visit *v = data;
    if (s->kind != S_FOR || block_has_loop(&s->body)) {
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            ir_each_stmt(&s->body, note_nested, v);
        }
        return true;
    }
    int64_t trips = loop_trips(s);
    bool few = trips >= 0 && trips <= BLOCK;
    Fission f = {.pass = v->pass, .func = v->func};
    f.loop = vector_form(v->pass->arena, s);
    f.roles = map_new(v->pass->scratch);
    if ((!few || map_has(&v->nested, s->var)) && may_take_apart(&f, b)) {
        Block *out = ARENA_NEW(v->pass->arena, Block);
        *out = take_apart(&f);
        map_set(&v->apart, s->var, out);
    }
    return true;
}

/* For ir_map_block. */
static void
replace(void *data, Block *out, Stmt *s)
{
    Visit *v = data;
    Block *apart = s->kind == S_FOR ? map_get(&v->apart, s->var) : NULL;
    for (int i = 0; apart != NULL && i < apart->n; i++) {
        vec_push(v->pass->arena, out, apart->at[i]);
    }
    if (apart == NULL) {
        vec_push(v->pass->arena, out, s);
    }
}

/* What a vector loop can't be gets a part that can. */
Func *
pass_fission(Pass *pass, Func *func)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Visit v = {.pass = pass, .func = copy};
    v.apart = map_new(pass->scratch);
    v.nested = map_new(pass->scratch);
    bounds_visit(pass->arena, copy, visit, &v);
    if (v.apart.n == 0) {
        return func;
    }
    copy->body = ir_map_block(pass->arena, &copy->body, replace, &v);
    return simplify(pass, copy);
}
