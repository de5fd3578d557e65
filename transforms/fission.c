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
 * Worth while where there is much to compute beside what is handed over.  What
 * a branch computes may then be made ahead as well: see fisbranch.c.
 */
#include "transforms/fission.h"

enum {
    LEAST = 12,     /* operations that are worth a loop */
    PER_PART = 6,   /* and for each row handed over */
    SLOW = 4,       /* operations that a quotient or a root counts for */
};

Fission
fission_of(Pass *pass, Func *func, const Stmt *loop)
{
    return (Fission){.pass = pass,
                     .func = func,
                     .loop = loop,
                     .roles = map_new(pass->scratch)};
}

Role
fission_role(const Fission *f, const Var *var)
{
    return (Role)(intptr_t)map_get(&f->roles, var);
}

void
fission_set_role(Fission *f, const Var *var, Role role)
{
    map_set(&f->roles, var, (void *)(intptr_t)role);
}

/* --- who does what ------------------------------------------------------- */

bool
fission_for_both(const Fission *f, const Expr *e)
{
    bool ok = e->lanes == 0 && e->dtype != DT_F32 && e->dtype != DT_F64 &&
              !ir_reads(e) && e->op != E_CALL;
    if (e->op == E_VAR) {
        Role role = fission_role(f, e->var);
        ok = ok && (role == ROLE_NONE || role == ROLE_BOTH);
    }
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = fission_for_both(f, e->args[i]);
    }
    return ok;
}

/* May a load move ahead of the loop's stores, at a place that is known? */
static bool
is_early_load(const Fission *f, const Expr *e)
{
    bool ok = e->op == E_LOAD && !flatten_fills(e->dtype, e->lanes) &&
              !f->guarded && !effects_writes(&f->loop->body, e->buf);
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = fission_for_both(f, e->args[i]);
    }
    return ok;
}

/* Casts of floats to integers stay behind: not every processor has them for
 * lanes. */
bool
fission_for_first(const Fission *f, const Expr *e)
{
    if (ir_reads(e)) {
        return is_early_load(f, e);
    }
    bool ok = !flatten_fills(e->dtype, e->lanes) && e->op != E_IDIV &&
              e->op != E_MOD && (e->op != E_CALL || fn_has_lanes(e->fn)) &&
              (e->op != E_CAST || dtype_is_float(e->dtype));
    if (e->op == E_VAR) {
        ok = ok && fission_role(f, e->var) != ROLE_SECOND;
    }
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = fission_for_first(f, e->args[i]);
    }
    return ok;
}

Role
fission_role_of(const Fission *f, const Expr *value)
{
    bool first = dtype_is_float(value->dtype) && fission_for_first(f, value);
    return fission_for_both(f, value) ? ROLE_BOTH
           : first                    ? ROLE_FIRST
                                      : ROLE_SECOND;
}

void
fission_count(void *data, const Expr *e)
{
    Fission *f = data;
    bool moves = e->op == E_LOAD || e->op == E_ELEM || e->op == E_INSERT ||
                 e->op == E_SPLAT;
    bool slow = e->op == E_DIV || e->op == E_CALL;
    if (e->nargs > 0 && !moves && dtype_is_float(e->args[0]->dtype)) {
        f->ops += (slow ? SLOW : 1) * (e->lanes > 0 ? e->lanes : 1);
    }
}

/* Which loop does 's' belong to?  For LETs, once that is decided. */
static Role
role_of_stmt(const Fission *f, const Stmt *s)
{
    bool ahead = s->kind == S_CHECK && is_float_check(s) &&
                 !ir_has_load(s->value) && fission_for_first(f, s->value);
    return s->kind == S_LET ? fission_role(f, s->var)
           : ahead          ? ROLE_FIRST
                            : ROLE_SECOND;
}

void
fission_leave(void *data, Stmt *s)
{
    Fission *f = data;
    f->guarded |= s->kind == S_CHECK;
    if (s->kind == S_LET) {
        fission_set_role(f, s->var, ROLE_SECOND);
    }
    for (int i = 0; i < s->njoins; i++) {
        fission_set_role(f, s->joins[i].out, ROLE_SECOND);
    }
}

/* Gives every LET its loop. */
static void
assign_roles(Fission *f)
{
    const Block *body = &f->loop->body;
    for (int i = 0; i < body->n; i++) {
        Stmt *s = body->at[i];
        if (s->kind == S_LET) {
            fission_set_role(f, s->var, fission_role_of(f, s->value));
        } else if (role_of_stmt(f, s) == ROLE_SECOND) {
            ir_each_stmt_of(s, fission_leave, f);
        }
        if (role_of_stmt(f, s) == ROLE_FIRST) {
            ir_each_node(s, fission_count, f);
        }
    }
}

/* For ir_each_node. */
static void
find_part(void *data, const Expr *e)
{
    Fission *f = data;
    if (e->op != E_VAR || fission_role(f, e->var) != ROLE_FIRST) {
        return;
    }
    for (int i = 0; i < f->parts.n; i++) {
        if (f->parts.at[i].var == e->var) {
            return;
        }
    }
    vec_push(f->pass->arena, &f->parts, (Part){.var = e->var});
}

void
fission_find_parts(void *data, Stmt *s)
{
    ir_each_node(s, find_part, data);
}

/* How many rows hold 'var'. */
static int
rows_of(const Var *var)
{
    return var->lanes > 0 ? var->lanes : 1;
}

bool
fission_is_worth(const Fission *f)
{
    int rows = 0;
    for (int i = 0; i < f->parts.n; i++) {
        rows += rows_of(f->parts.at[i].var);
    }
    return rows > 0 && rows <= FISSION_PARTS && f->ops >= LEAST &&
           f->ops >= PER_PART * rows;
}

/* Finds what the second loop takes over: is it worth it? */
static bool
is_worth(Fission *f)
{
    for (int i = 0; i < f->loop->body.n; i++) {
        Stmt *s = f->loop->body.at[i];
        if (role_of_stmt(f, s) == ROLE_SECOND) {
            ir_each_stmt_of(s, fission_find_parts, f);
        }
    }
    return fission_is_worth(f);
}

/* --- two loops ----------------------------------------------------------- */

void
fission_name_rows(Fission *f)
{
    int64_t trips = loop_trips(f->loop);
    int64_t size =
        trips >= 0 && trips <= FISSION_BLOCK ? trips : FISSION_BLOCK;
    for (int i = 0; i < f->parts.n; i++) {
        Part *part = &f->parts.at[i];
        for (int k = 0; k < rows_of(part->var); k++) {
            part->rows[k] = ir_stack_row(f->func, part->var->name,
                                         part->var->dtype, size, f->loop->loc);
        }
    }
}

void
fission_make_rows(Fission *f, Block *out)
{
    fission_name_rows(f);
    for (int i = 0; i < f->parts.n; i++) {
        const Part *part = &f->parts.at[i];
        for (int k = 0; k < rows_of(part->var); k++) {
            Stmt *alloc = ir_stmt(f->pass->arena, S_ALLOC, f->loop->loc);
            alloc->buf = part->rows[k];
            vec_push(f->pass->arena, out, alloc);
        }
    }
}

/* x - first */
static Expr *
place_of(const Fission *f, const Stmt *loop)
{
    Expr *x = ir_ref(f->pass->arena, loop->var);
    return ir_binary(f->pass->arena, E_SUB, x, loop->lo);
}

/* An element of 'var', or all of it. */
static Expr *
element(const Fission *f, Var *var, int k)
{
    Expr *value = ir_ref(f->pass->arena, var);
    Expr *index = ir_int(f->pass->arena, DT_I64, k);
    return var->lanes > 0 ? ir_elem(f->pass->arena, value, index) : value;
}

void
fission_hand_over(const Fission *f, const Stmt *loop, Block *out)
{
    Arena *arena = f->pass->arena;
    Expr *at = place_of(f, loop);
    for (int i = 0; i < f->parts.n; i++) {
        const Part *part = &f->parts.at[i];
        for (int k = 0; k < rows_of(part->var); k++) {
            Expr *value = element(f, part->var, k);
            vec_push(arena, out,
                     ir_store(arena, part->rows[k], &at, 1, value, loop->loc));
        }
    }
}

void
fission_take_over(const Fission *f, const Stmt *loop, Block *out)
{
    Arena *arena = f->pass->arena;
    Expr *at = place_of(f, loop);
    for (int i = 0; i < f->parts.n; i++) {
        const Part *part = &f->parts.at[i];
        Expr *value = ir_load(arena, part->rows[0], &at, 1, 0);
        if (part->var->lanes > 0) {
            value = ir_splat(arena, value, part->var->lanes);
        }
        for (int k = 1; k < part->var->lanes; k++) {
            value = ir_insert(arena, value, ir_int(arena, DT_I64, k),
                              ir_load(arena, part->rows[k], &at, 1, 0));
        }
        vec_push(arena, out, ir_let(arena, part->var, value, loop->loc));
    }
}

Block
fission_first_body(const Fission *f, const Block *body, Map *needed)
{
    Arena *arena = f->pass->arena;
    Block back = {0};
    Block out = {0};
    for (int i = body->n - 1; i >= 0; i--) {
        Stmt *s = body->at[i];
        Role role = role_of_stmt(f, s);
        if (role == ROLE_FIRST ||
            (role == ROLE_BOTH && map_has(needed, s->var))) {
            ir_each_node(s, ir_note_var, needed);
            vec_push(arena, &back, s);
        }
    }
    for (int i = back.n - 1; i >= 0; i--) {
        vec_push(arena, &out, back.at[i]);
    }
    return out;
}

Stmt *
fission_loop(const Fission *f, const Stmt *loop)
{
    Map map = map_new(f->pass->arena);
    Stmt *copy = ir_copy_stmt(f->pass->arena, loop);
    Block one = {.at = &copy, .n = 1, .cap = 1};
    return ir_clone(f->func, &one, &map).at[0];
}

/* The loop that computes, under names of its own. */
static Stmt *
first_loop(const Fission *f, const Stmt *loop)
{
    Map needed = map_new(f->pass->scratch);
    Stmt first = *loop;
    first.body = fission_first_body(f, &loop->body, &needed);
    fission_hand_over(f, loop, &first.body);
    return fission_loop(f, &first);
}

/* The loop that does the rest, under the old names. */
static Stmt *
second_loop(const Fission *f, const Stmt *loop)
{
    Arena *arena = f->pass->arena;
    Stmt *second = ir_copy_stmt(arena, loop);
    Block body = {0};
    fission_take_over(f, loop, &body);
    for (int i = 0; i < loop->body.n; i++) {
        if (role_of_stmt(f, loop->body.at[i]) != ROLE_FIRST) {
            vec_push(arena, &body, loop->body.at[i]);
        }
    }
    second->body = body;
    return second;
}

/* --- blocks -------------------------------------------------------------- */

/* What is to be done with a loop: it is taken "apart", and a branch of it, or
 * of its second loop, is computed "ahead". */
typedef struct Plan {
    Fission f;
    Side side;
    bool apart;
    bool ahead;
} Plan;

/* Appends what becomes of 'loop', a block of rounds. */
static void
push_loops(Plan *plan, const Stmt *loop, Block *out)
{
    Arena *arena = plan->f.pass->arena;
    const Stmt *rest = loop;
    if (plan->apart) {
        fission_make_rows(&plan->f, out);
        vec_push(arena, out, first_loop(&plan->f, loop));
        rest = second_loop(&plan->f, loop);
    }
    if (plan->ahead) {
        fission_branch(&plan->side, rest, out);
    } else {
        vec_push(arena, out, ir_copy_stmt(arena, rest));
    }
}

static bool
has_few_rounds(const Stmt *loop)
{
    int64_t trips = loop_trips(loop);
    return trips >= 0 && trips <= FISSION_BLOCK;
}

/* What the loop becomes, in blocks unless it has few rounds. */
static Block
take_apart(Plan *plan)
{
    Block out = {0};
    if (has_few_rounds(plan->f.loop)) {
        push_loops(plan, plan->f.loop, &out);
        return out;
    }
    out = split_strips(plan->f.func, plan->f.loop, FISSION_BLOCK);
    Stmt *strips = vec_last(&out);
    const Stmt *inner = vec_last(&strips->body);
    Block body = strips->body;
    body.n--;
    push_loops(plan, inner, &body);
    strips->body = body;
    return out;
}

/* --- the pass ------------------------------------------------------------ */

/* The visitor's state: "instead" holds what takes the place of a loop by its
 * variable, "nested" the loops that are in others. */
typedef struct Visit {
    Pass *pass;
    Func *func;
    Map instead;
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

/* For ir_each_stmt: of anything else the loops would have to share more. */
static void
note_other(void *data, Stmt *s)
{
    bool *plain = data;
    bool known = s->kind == S_LET || s->kind == S_STORE ||
                 s->kind == S_CHECK || s->kind == S_IF;
    *plain = *plain && known && s->nbinds == 0;
}

/* Is there a branch at all? */
static bool
has_branch(const Stmt *loop)
{
    bool found = false;
    for (int i = 0; i < loop->body.n; i++) {
        found |= loop->body.at[i]->kind == S_IF;
    }
    return found;
}

/* Could it be taken apart at all?  A short loop by itself isn't worth it. */
static bool
is_candidate(const Visit *v, const Stmt *loop)
{
    bool plain = loop->ncarries == 0 && loop->until == NULL &&
                 loop->nbinds == 0 &&
                 (!has_few_rounds(loop) || map_has(&v->nested, loop->var));
    if (plain) {
        ir_each_stmt(&loop->body, note_other, &plain);
    }
    return plain;
}

/* Does 'loop' run in lanes or as rows as it is? */
static bool
has_lanes(Visit *v, Bounds *b, const Stmt *loop)
{
    DependWhy why;
    Arena *scratch = v->pass->scratch;
    return vector_body(scratch, v->func, b, loop, &why) != NULL ||
           flatten_why_not(scratch, v->func, b, loop) == NULL;
}

/* May the first loop run ahead, and does it run in lanes? */
static bool
may_take_apart(Fission *f, Bounds *b)
{
    DependWhy why;
    Stmt rounds = *f->loop;
    fission_name_rows(f);
    return depend_independent(f->pass->scratch, f->func, b, &rounds, &why) &&
           vector_allowed(f->pass->scratch, f->func, b,
                          first_loop(f, f->loop), &why);
}

/* Finds what to do with 'form', a loop with selects; false: nothing. What takes
 * longest to ask comes last. */
static bool
make_plan(Visit *v, Bounds *b, const Stmt *loop, const Stmt *form, Plan *plan)
{
    plan->f = fission_of(v->pass, v->func, form);
    assign_roles(&plan->f);
    plan->apart = is_worth(&plan->f);
    if ((!plan->apart && !has_branch(form)) || !bounds_may_shift(b, loop) ||
        has_lanes(v, b, loop)) {
        return false;
    }
    plan->apart = plan->apart && may_take_apart(&plan->f, b);
    const Stmt *rest = plan->apart ? second_loop(&plan->f, form) : form;
    plan->ahead = fission_find_branch(v->pass, v->func, b, rest, &plan->side);
    return plan->apart || plan->ahead;
}

/* For bounds_visit: innermost loops. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Visit *v = data;
    Plan plan = {0};
    if (s->kind != S_FOR || block_has_loop(&s->body)) {
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            ir_each_stmt(&s->body, note_nested, v);
        }
        return true;
    }
    if (is_candidate(v, s) &&
        make_plan(v, b, s, vector_form(v->pass->arena, s), &plan)) {
        Block *out = ARENA_NEW(v->pass->arena, Block);
        *out = take_apart(&plan);
        map_set(&v->instead, s->var, out);
    }
    return true;
}

/* What a vector loop can't be gets a part that can. */
Func *
pass_fission(Pass *pass, Func *func)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Visit v = {.pass = pass, .func = copy};
    v.instead = map_new(pass->scratch);
    v.nested = map_new(pass->scratch);
    bounds_visit(pass->arena, copy, visit, &v);
    if (v.instead.n == 0) {
        return func;
    }
    split_replace(copy, &v.instead);
    return simplify(pass, copy);
}
