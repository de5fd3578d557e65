/* Pass spill: vectors whose elements are found by data lie in memory.
 *
 *     let h = zeros(16)                       alloc m[16] on the stack
 *     for y {                                 store m[] = zeros(16)
 *         carry g = h                         for y {
 *         let t = elem(g, i)         ->           let t = m[i]
 *         let s = add(t, 1)                       let s = add(t, 1)
 *         let k = insert(g, i, s)                 store m[i] = s
 *         next g = k -> out                   }
 *     }                                       let out = m[]
 *
 * A small array is a vector in registers: a value, of which 'insert' makes
 * another one.  That is good for pixels, whose lanes are known.  Where data
 * says which lane it is, the C compiler writes all lanes to memory, changes one
 * and reads all of them back, each time.  (Where a loop counts the lanes, they
 * are the same for all pixels that run side by side, by SIMD: such vectors
 * stay.)
 *
 * A value may be kept in one place if no older one is asked for once there is a
 * newer.  So a walk through what follows goes by the newest name of the vector,
 *
 *     a LET that inserts into it             the next name
 *     an IF                                  the join of what both end with
 *     a loop that carries it                 its carry, inside; its out, behind
 *
 * and gives up where another one is used, or where what a side or a round ends
 * with isn't the newest.  Then the names are one place; what reads the whole
 * vector loads it.
 */
#include "transforms/transforms.h"

/* The pass's state, and that of one vector.
 *   "uses"    by Var.id: how often it is read
 *   "defs"    Var * -> Stmt * that defines it
 *   "asked"   Var * -> itself: it was asked whether data decides of it
 *   "names"   Var * -> itself: the names that the vector has
 *   "newest"  the one that holds where the walk stands
 *   "found"   some element is found by data
 *   "stale"   a name was used that isn't the newest
 *   "reads"   a count of uses
 *   "memory"  where it lies */
typedef struct Spill {
    Pass *pass;
    Func *func;
    const int *uses;
    Map defs;
    Map asked;
    Map names;
    Var *newest;
    bool found;
    bool stale;
    int reads;
    Buf *memory;
} Spill;

/* --- what data decides ---------------------------------------------------- */

static bool is_of_data(Spill *sp, const Expr *e);

/* What a loop carries: does data say what it begins with, or what is next? */
static bool
carry_is_of_data(Spill *sp, const Stmt *loop, const Var *var)
{
    bool data = loop->kind == S_WHILE || loop->until != NULL;
    for (int i = 0; i < loop->ncarries && !data; i++) {
        const Carry *carry = &loop->carries[i];
        if (carry->var == var || carry->out == var) {
            data = is_of_data(sp, carry->init) || is_of_data(sp, carry->next);
        }
    }
    return data;
}

/* A name is asked once: what it is made of by itself says nothing new. */
static bool
var_is_of_data(Spill *sp, Var *var)
{
    const Stmt *def = map_get(&sp->defs, var);
    if (def == NULL || map_has(&sp->asked, var)) {
        return false;
    }
    map_set(&sp->asked, var, var);
    if (def->kind == S_LET) {
        return is_of_data(sp, def->value);
    }
    bool loop = def->kind == S_FOR || def->kind == S_WHILE;
    return !loop || (def->var != var && carry_is_of_data(sp, def, var));
}

/* Does it depend on what is in arrays, or on which way the program went? */
static bool
is_of_data(Spill *sp, const Expr *e)
{
    bool data = ir_reads(e) || e->op == E_ELEM ||
                (e->op == E_VAR && var_is_of_data(sp, e->var));
    for (int i = 0; i < e->nargs && !data; i++) {
        data = is_of_data(sp, e->args[i]);
    }
    return data;
}

static bool
is_found(Spill *sp, const Expr *index)
{
    sp->asked = map_new(sp->pass->scratch);
    return is_of_data(sp, index);
}

/* --- following the newest name -------------------------------------------- */

static bool
is_name(const Spill *sp, const Expr *e)
{
    return e->op == E_VAR && map_has(&sp->names, e->var);
}

static bool
is_newest(const Spill *sp, const Expr *e)
{
    return ir_is_var(e, sp->newest);
}

/* From here on 'var' is it. */
static void
rename_to(Spill *sp, Var *var)
{
    map_set(&sp->names, var, var);
    sp->newest = var;
}

/* For ir_each_node. */
static void
note_use(void *data, const Expr *e)
{
    Spill *sp = data;
    sp->stale |= is_name(sp, e) && e->var != sp->newest;
    sp->found = sp->found || (e->op == E_INSERT &&
                              is_newest(sp, e->args[0]) &&
                              is_found(sp, e->args[1]));
}

static bool
uses_newest(Spill *sp, const Expr *e)
{
    if (e != NULL) {
        ir_each_node_of(e, note_use, sp);
    }
    return !sp->stale;
}

/* Is it a LET of the vector with another element? */
static bool
is_insert(const Spill *sp, const Stmt *s)
{
    return s->kind == S_LET && s->value->op == E_INSERT &&
           is_newest(sp, s->value->args[0]);
}

static bool follow_block(Spill *sp, const Block *block, int from);

/* Both sides begin with the newest; if one changes it, a join takes what they
 * end with. */
static bool
follow_if(Spill *sp, const Stmt *s)
{
    Var *before = sp->newest;
    bool ok = uses_newest(sp, s->value) && follow_block(sp, &s->body, 0);
    const Var *then = sp->newest;
    for (int i = 0; i < s->njoins && ok; i++) {
        ok = uses_newest(sp, s->joins[i].then_val);
    }
    sp->newest = before;
    ok = ok && follow_block(sp, &s->els, 0);
    for (int i = 0; i < s->njoins && ok; i++) {
        ok = uses_newest(sp, s->joins[i].else_val);
    }
    bool changed = then != before || sp->newest != before;
    for (int i = 0; i < s->njoins && changed && ok; i++) {
        const Join *join = &s->joins[i];
        if (ir_is_var(join->then_val, then) && is_newest(sp, join->else_val)) {
            rename_to(sp, join->out);
            return true;
        }
    }
    return ok && !changed;
}

/* The carry of the loop that begins with the newest; NULL. */
static Carry *
carry_of(const Spill *sp, const Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        if (is_newest(sp, loop->carries[i].init)) {
            return &loop->carries[i];
        }
    }
    return NULL;
}

/* What is evaluated at the end of a round sees the newest.  A test that fails
 * leaves the carries as they were before it, so it must not change any. */
static bool
follow_rounds(Spill *sp, const Stmt *loop)
{
    const Var *first = sp->newest;
    bool ok = follow_block(sp, &loop->pre, 0) && sp->newest == first &&
              (loop->kind == S_FOR || uses_newest(sp, loop->value)) &&
              follow_block(sp, &loop->body, 0) && uses_newest(sp, loop->until);
    for (int i = 0; i < loop->ncarries && ok; i++) {
        ok = uses_newest(sp, loop->carries[i].next);
    }
    return ok;
}

/* 'carry' is the vector inside of the loop, NULL: it is not changed there. */
static bool
follow_loop(Spill *sp, const Stmt *loop, Carry *carry)
{
    const Var *before = sp->newest;
    if (carry != NULL) {
        rename_to(sp, carry->var);
    }
    if (!follow_rounds(sp, loop)) {
        return false;
    }
    if (carry == NULL) {
        return sp->newest == before;
    }
    bool ok = is_newest(sp, carry->next);
    rename_to(sp, carry->out);
    return ok;
}

/* The ends of the loop are evaluated before it. */
static bool
follow_inner(Spill *sp, const Stmt *loop)
{
    bool ok = loop->kind == S_WHILE ||
              (uses_newest(sp, loop->lo) && uses_newest(sp, loop->hi));
    for (int i = 0; i < loop->ncarries && ok; i++) {
        ok = uses_newest(sp, loop->carries[i].init);
    }
    return ok && follow_loop(sp, loop, carry_of(sp, loop));
}

/* The statements from number 'from' on. */
static bool
follow_block(Spill *sp, const Block *block, int from)
{
    for (int i = from; i < block->n; i++) {
        Stmt *s = block->at[i];
        bool ok = true;
        if (s->kind == S_IF) {
            ok = follow_if(sp, s);
        } else if (s->kind == S_FOR || s->kind == S_WHILE) {
            ok = follow_inner(sp, s);
        } else {
            ir_each_node(s, note_use, sp);
            ok = !sp->stale;
        }
        if (!ok) {
            return false;
        }
        if (is_insert(sp, s)) {
            rename_to(sp, s->var);
        }
    }
    return true;
}

/* A name for a vector with which the walk begins; NULL: the loop's carry is. */
static void
begin(Spill *sp, Var *var)
{
    sp->names = map_new(sp->pass->scratch);
    sp->newest = NULL;
    sp->found = false;
    sp->stale = false;
    if (var != NULL) {
        rename_to(sp, var);
    }
}

/* May the vector that 'loop' carries lie in one place, and should it? */
static bool
may_lie(Spill *sp, const Stmt *loop, Carry *carry)
{
    begin(sp, NULL);
    return carry->var->lanes > 0 && follow_loop(sp, loop, carry) && sp->found;
}

/* For ir_each_node: how often names but the newest are read. */
static void
count_old(void *data, const Expr *e)
{
    Spill *sp = data;
    sp->reads += is_name(sp, e) && e->var != sp->newest;
}

/* For ir_each_stmt. */
static void
count_old_in(void *data, Stmt *s)
{
    ir_each_node(s, count_old, data);
}

/* May the vector of the LET block->at[at] do so up to the end of the block?
 * Behind that only the newest name may be used. */
static bool
may_lie_from(Spill *sp, const Block *block, int at)
{
    begin(sp, block->at[at]->var);
    if (!follow_block(sp, block, at + 1) || !sp->found) {
        return false;
    }
    Block rest = {.at = block->at + at, .n = block->n - at};
    int uses = 0;
    for (int i = 0; i < sp->names.n; i++) {
        const Var *name = sp->names.entries[i].key;
        uses += name != sp->newest ? sp->uses[name->id] : 0;
    }
    sp->reads = 0;
    ir_each_stmt(&rest, count_old_in, sp);
    int inside = sp->reads;
    for (int i = 0; i < sp->func->rets.n; i++) {
        if (sp->func->rets.at[i].value != NULL) {
            ir_each_node_of(sp->func->rets.at[i].value, count_old, sp);
        }
    }
    return inside == uses && sp->reads == inside;
}

/* --- one place instead of names ------------------------------------------ */

/* For ir_map: an element, or the whole vector. */
static Expr *
load_node(void *data, Expr *e)
{
    Spill *sp = data;
    Arena *arena = sp->func->arena;
    if (e->op == E_ELEM && e->args[0]->op == E_LOAD &&
        e->args[0]->buf == sp->memory) {
        return ir_load(arena, sp->memory, &e->args[1], 1, 0);
    }
    return is_name(sp, e)
               ? ir_load(arena, sp->memory, NULL, 0, e->var->lanes)
               : e;
}

/* For ir_each_expr. */
static void
load_slot(void *data, Expr **slot)
{
    const Spill *sp = data;
    *slot = ir_map(sp->func->arena, *slot, load_node, data);
}

/* 's' without the joins and carries of the vector. */
static void
drop_names(const Spill *sp, Stmt *s)
{
    int kept = 0;
    for (int i = 0; i < s->njoins; i++) {
        if (!map_has(&sp->names, s->joins[i].out)) {
            s->joins[kept++] = s->joins[i];
        }
    }
    s->njoins = kept;
    kept = 0;
    for (int i = 0; i < s->ncarries; i++) {
        if (!map_has(&sp->names, s->carries[i].out)) {
            s->carries[kept++] = s->carries[i];
        }
    }
    s->ncarries = kept;
}

/* For ir_map_block. */
static void
spill_stmt(void *data, Block *out, Stmt *s)
{
    Spill *sp = data;
    Arena *arena = sp->func->arena;
    drop_names(sp, s);
    if (s->kind == S_LET && map_has(&sp->names, s->var)) {
        Expr *at = s->value->args[1];
        Stmt *store = ir_store(arena, sp->memory, &at, 1, s->value->args[2],
                               s->loc);
        ir_each_expr(store, load_slot, sp);
        vec_push(arena, out, store);
        return;
    }
    ir_each_expr(s, load_slot, sp);
    vec_push(arena, out, s);
}

/* Memory for the vector, which is 'value' at first, at the end of 'out'. */
static void
put_in_memory(Spill *sp, const Var *var, Expr *value, Loc loc, Block *out)
{
    Arena *arena = sp->func->arena;
    sp->memory = ir_stack_row(sp->func, var->name, var->dtype, var->lanes, loc);
    Stmt *alloc = ir_stmt(arena, S_ALLOC, loc);
    alloc->buf = sp->memory;
    vec_push(arena, out, alloc);
    vec_push(arena, out, ir_store(arena, sp->memory, NULL, 0, value, loc));
}

/* Its newest name has what is there now. */
static void
take_out(Spill *sp, Loc loc, Block *out)
{
    Arena *arena = sp->func->arena;
    Expr *all = ir_load(arena, sp->memory, NULL, 0, sp->newest->lanes);
    vec_push(arena, out, ir_let(arena, sp->newest, all, loc));
}

static void
push_all(const Spill *sp, Block *out, const Block *from)
{
    for (int i = 0; i < from->n; i++) {
        vec_push(sp->func->arena, out, from->at[i]);
    }
}

static void spill_from(Spill *sp, const Block *block, int at, Block *out);

/* Vectors of the loop itself first: what they are in loops inside goes with
 * them. */
static void
spill_loop(Spill *sp, Stmt *loop, Block *out)
{
    Arena *arena = sp->func->arena;
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        if (may_lie(sp, loop, carry)) {
            Block one = {0};
            Block done = {0};
            put_in_memory(sp, carry->var, carry->init, loop->loc, &done);
            vec_push(arena, &one, loop);
            one = ir_map_block(arena, &one, spill_stmt, sp);
            push_all(sp, &done, &one);
            take_out(sp, loop->loc, &done);
            spill_from(sp, &done, 0, out);
            return;
        }
    }
    loop = ir_copy_stmt(arena, loop); /* what a test computes it computes */
    Block body = {0};
    spill_from(sp, &loop->body, 0, &body);
    loop->body = body;
    vec_push(arena, out, loop);
}

/* The rest of the block with the vector of the LET there in memory. */
static void
spill_let(Spill *sp, const Block *block, int at, Block *out)
{
    const Stmt *let = block->at[at];
    Block rest = {.at = block->at + at + 1, .n = block->n - at - 1};
    Block done = {0};
    put_in_memory(sp, let->var, let->value, let->loc, &done);
    rest = ir_map_block(sp->func->arena, &rest, spill_stmt, sp);
    push_all(sp, &done, &rest);
    take_out(sp, let->loc, &done);
    spill_from(sp, &done, 0, out);
}

/* The statements of 'block' from number 'at' on, with what can be in memory. */
static void
spill_from(Spill *sp, const Block *block, int at, Block *out)
{
    for (int i = at; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_LET && s->var->lanes > 0 &&
            may_lie_from(sp, block, i)) {
            spill_let(sp, block, i, out);
            return;
        }
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            spill_loop(sp, s, out);
            continue;
        }
        if (s->kind == S_IF) {
            Block body = {0};
            Block els = {0};
            spill_from(sp, &s->body, 0, &body);
            spill_from(sp, &s->els, 0, &els);
            s = ir_copy_stmt(sp->func->arena, s);
            s->body = body;
            s->els = els;
        }
        vec_push(sp->func->arena, out, s);
    }
}

Func *
pass_spill(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Spill sp = {.pass = pass, .func = out};
    sp.uses = ir_count_uses(pass->scratch, func);
    sp.defs = loop_defs(pass->scratch, &func->body);
    out->body = (Block){0};
    spill_from(&sp, &func->body, 0, &out->body);
    return out;
}
