/* Rounds of a loop that go side by side through loops of equally many rounds.
 *
 *     for x in 0..w {                    for each strip of 32 x {
 *         s = 0.0                            for each lane { s[lane] = 0.0 }
 *         for j in 0..n {          ->        for j in 0..n {
 *             s = s + k[j] * a[x + j] }          for each lane, by SIMD {
 *         store out[x] = s / 2                       s[lane] = s[lane] +
 *     }                                                  k[j] * a[x + j] } }
 *                                            for each lane {
 *                                                store out[x] = s[lane] / 2 } }
 *                                        the loop as it was, for the last x
 *
 * A sum of floats must be taken in order, so that j can't run in lanes and each
 * addition waits for the one before; but the sums of 32 x are independent.  So
 * windows, filters and products of matrices of any size run in lanes, with the
 * bits that they had.  (Loops from which rounds leave in their own time:
 * lockstep.c.)
 *
 * What the inner loops carry lies in arrays of an element per lane, on the
 * stack, which the C compiler keeps in registers.  What else differs from lane
 * to lane is computed anew where it is used, so it must be pure: it loads
 * nothing that the loop writes.  Ends of inner loops are the same in all lanes.
 * A carry that only hands on what a loop inside carries shares its array.
 */
#include "transforms/transforms.h"

enum { LANES = 32 }; /* enough to hide the latency of arithmetic */

/* The loop at work.
 *   "arrays"   Var * -> Buf *, of carries and what they are in the end
 *   "varies"   Var * -> itself: may differ from lane to lane
 *   "lets"     definitions of such Vars that are in scope, in order
 *   "made"     the arrays
 *   "around"   the inner loop that is looked at; NULL: none
 *   "first"    x of lane 0
 *   "why"      in words, what stands in the way; NULL: nothing */
typedef struct Abreast {
    Arena *arena;
    Func *func;
    const Stmt *loop;
    Map arrays;
    Map varies;
    Block lets;
    VEC(Buf *) made;
    const Stmt *around;
    Expr *first;
    const char *why;
} Abreast;

/* --- what differs from lane to lane --------------------------------------- */

static void
refuse(Abreast *m, const char *why)
{
    m->why = m->why ? m->why : why;
}

static void
set_varies(Abreast *m, const Var *var)
{
    map_set(&m->varies, var, m);
}

static bool
varies(const Abreast *m, const Expr *e)
{
    bool found = e->op == E_VAR && map_has(&m->varies, e->var);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = varies(m, e->args[i]);
    }
    return found;
}

/* For ir_each_node: what is computed anew must not have been written since. */
static void
refuse_own_load(void *data, const Expr *e)
{
    Abreast *m = data;
    if (ir_reads(e) && effects_writes(&m->loop->body, e->buf)) {
        refuse(m, "it reads what it writes");
    }
}

/* For ir_each_stmt. */
static void
refuse_own_loads(void *data, Stmt *s)
{
    ir_each_node(s, refuse_own_load, data);
}

/* --- what is the same in all lanes ---------------------------------------- */

static Expr *
let(const Abreast *m, const char *name, Expr *value, Block *out)
{
    return ir_named(m->func, out, name, value, m->loop->loc);
}

/* For ir_map: quotients of integers, which have no form for lanes, are named
 * where they are the same in all. */
typedef struct Fixed {
    Abreast *m;
    Block *out;
} Fixed;

static Expr *
name_fixed(void *data, Expr *e)
{
    Fixed *fixed = data;
    bool quotient = (e->op == E_IDIV || e->op == E_MOD) && e->lanes == 0;
    return quotient && !varies(fixed->m, e)
               ? let(fixed->m, "fixed", e, fixed->out) : e;
}

static Expr *
named(Abreast *m, Expr *e, Block *out)
{
    Fixed fixed = {m, out};
    return ir_map(m->arena, e, name_fixed, &fixed);
}

/* 's', a LET, a store or a loop's head, with names for these; they are appended
 * to 'out'. */
static Stmt *
with_names(Abreast *m, const Stmt *s, Block *out)
{
    Stmt *copy = ir_copy_stmt(m->arena, s);
    for (int i = 0; i < s->nindex; i++) {
        copy->index[i] = named(m, s->index[i], out);
    }
    if (s->value != NULL) {
        copy->value = named(m, s->value, out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        copy->carries[i].init = named(m, s->carries[i].init, out);
    }
    return copy;
}

/* --- loops over the lanes ------------------------------------------------- */

static Expr *
number(const Abreast *m, int64_t value)
{
    return ir_int(m->arena, DT_I64, value);
}

/* Which of "lets" the statements 'own' need, from the last one on; 'wanted'
 * gets all Vars that these use. */
static void
find_wanted(const Abreast *m, const Block *own, Map *wanted, bool *needed)
{
    for (int i = 0; i < own->n; i++) {
        ir_each_node(own->at[i], ir_note_var, wanted);
    }
    for (int i = m->lets.n - 1; i >= 0; i--) {
        Stmt *s = m->lets.at[i];
        needed[i] = map_has(wanted, s->var);
        if (needed[i]) {
            ir_each_node(s, ir_note_var, wanted);
        }
    }
}

/* For ir_each_node, in a LET or store: Vars that lie in arrays are taken. */
typedef struct Take {
    Abreast *m;
    Expr *lane;
    Map taken;
    Block *out;
} Take;

static void
take_var(void *data, const Expr *e)
{
    Take *take = data;
    Arena *arena = take->m->arena;
    Buf *buf = e->op == E_VAR ? map_get(&take->m->arrays, e->var) : NULL;
    if (buf != NULL && !map_has(&take->taken, e->var)) {
        map_set(&take->taken, e->var, buf);
        vec_push(arena, take->out,
                 ir_let(arena, e->var, ir_load(arena, buf, &take->lane, 1, 0),
                        take->m->loop->loc));
    }
}

/* Appends 'own' for each lane, with all that it needs.  Vars keep their names:
 * what is written in several places is cloned in the end. */
static void
each_lane(Abreast *m, const Block *own, Expr *lane, Block *out)
{
    Arena *arena = m->arena;
    Loc loc = m->loop->loc;
    Map wanted = map_new(arena);
    bool *needed = ARENA_ARRAY(arena, bool, m->lets.n + 1);
    Stmt *loop = ir_stmt(arena, S_FOR, loc);
    find_wanted(m, own, &wanted, needed);
    loop->var = lane->var;
    loop->id = m->func->next_id++;
    loop->lo = number(m, 0);
    loop->hi = number(m, LANES);
    loop->mode = LOOP_VECTOR;
    Expr *x = ir_binary(arena, E_ADD, m->first, lane);
    vec_push(arena, &loop->body, ir_let(arena, m->loop->var, x, loc));
    Take take = {m, lane, map_new(arena), &loop->body};
    for (int i = 0; i < m->lets.n; i++) {
        if (needed[i]) {
            ir_each_node(m->lets.at[i], take_var, &take);
            vec_push(arena, &loop->body, m->lets.at[i]);
        }
    }
    for (int i = 0; i < own->n; i++) {
        ir_each_node(own->at[i], take_var, &take);
    }
    for (int i = 0; i < own->n; i++) {
        vec_push(arena, &loop->body, own->at[i]);
    }
    vec_push(arena, out, loop);
}

static Expr *
new_lane(const Abreast *m)
{
    return ir_ref(m->arena, ir_var(m->func, "lane", DT_I64, 0));
}

/* --- carries -------------------------------------------------------------- */

static Buf *
lane_array(Abreast *m, const Var *var)
{
    Buf *buf =
        ir_stack_row(m->func, var->name, var->dtype, LANES, m->loop->loc);
    if (var->dtype == DT_BOOL || var->lanes > 0) {
        refuse(m, "the loop inside carries what has no lanes");
    }
    vec_push(m->arena, &m->made, buf);
    return buf;
}

/* A count of uses of "var". */
typedef struct Uses {
    const Var *var;
    int n;
} Uses;

/* For ir_each_node. */
static void
count_var(void *data, const Expr *e)
{
    Uses *uses = data;
    uses->n += ir_is_var(e, uses->var);
}

/* For ir_each_stmt. */
static void
count_in(void *data, Stmt *s)
{
    ir_each_node(s, count_var, data);
}

/* The carry of the loop around that is handed to 'carry' and gets what becomes
 * of it, and is used for nothing else; NULL: there is none. */
static const Carry *
shared(const Abreast *m, const Carry *carry)
{
    const Stmt *around = m->around;
    for (int i = 0; around != NULL && i < around->ncarries; i++) {
        const Carry *outer = &around->carries[i];
        if (ir_is_var(carry->init, outer->var) &&
            ir_is_var(outer->next, carry->out)) {
            Uses uses = {outer->var, 0};
            ir_each_stmt(&around->body, count_in, &uses);
            for (int k = 0; k < around->ncarries; k++) {
                ir_each_node_of(around->carries[k].next, count_var, &uses);
            }
            return uses.n == 1 ? outer : NULL;
        }
    }
    return NULL;
}

/* Does 'carry' of 's' get its value from a carry of a loop inside that shares
 * its array? */
static bool
is_handed_up(const Abreast *m, const Carry *carry)
{
    return carry->next->op == E_VAR &&
           map_get(&m->arrays, carry->next->var) ==
               map_get(&m->arrays, carry->var);
}

static Stmt *
write_lane(const Abreast *m, const Var *var, Expr *lane, Expr *value)
{
    Buf *buf = map_get(&m->arrays, var);
    return ir_store(m->arena, buf, &lane, 1, value, m->loop->loc);
}

/* What 's' carries begins. */
static void
begin_carries(Abreast *m, const Stmt *s, Block *out)
{
    Expr *lane = new_lane(m);
    Block own = {0};
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        const Carry *outer = shared(m, carry);
        map_set(&m->arrays, carry->var,
                outer ? map_get(&m->arrays, outer->var)
                      : lane_array(m, carry->var));
        if (outer == NULL) {
            vec_push(m->arena, &own,
                     write_lane(m, carry->var, lane, carry->init));
        }
    }
    if (own.n > 0) {
        each_lane(m, &own, lane, out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        set_varies(m, s->carries[i].var);
        set_varies(m, s->carries[i].out);
    }
}

/* What a round of 's' hands on: all is computed before the first is written. */
static void
step_carries(Abreast *m, const Stmt *s, Block *out)
{
    Expr *lane = new_lane(m);
    Block own = {0};
    Block writes = {0};
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        if (!is_handed_up(m, carry)) {
            Expr *next = let(m, carry->var->name,
                             named(m, carry->next, out), &own);
            vec_push(m->arena, &writes,
                     write_lane(m, carry->var, lane, next));
        }
    }
    for (int i = 0; i < writes.n; i++) {
        vec_push(m->arena, &own, writes.at[i]);
    }
    if (own.n > 0) {
        each_lane(m, &own, lane, out);
    }
}

/* --- the body ------------------------------------------------------------- */

static void write_block(Abreast *m, const Block *block, Block *out);

static void
write_inner(Abreast *m, const Stmt *s, Block *out)
{
    const Stmt *around = m->around;
    int lets = m->lets.n;
    if (varies(m, s->lo) || varies(m, s->hi)) {
        refuse(m, "rounds of the loop inside differ");
    }
    Stmt *copy = with_names(m, s, out);
    begin_carries(m, copy, out);
    copy->ncarries = 0;
    copy->body = (Block){0};
    m->around = s;
    write_block(m, &s->body, &copy->body);
    m->around = around;
    step_carries(m, s, &copy->body);
    m->lets.n = lets;
    vec_push(m->arena, out, copy);
    for (int i = 0; i < s->ncarries; i++) {
        map_set(&m->arrays, s->carries[i].out,
                map_get(&m->arrays, s->carries[i].var));
    }
}

/* What is stored, for all lanes. */
static void
flush(Abreast *m, Block *stores, Block *out)
{
    if (stores->n > 0) {
        each_lane(m, stores, new_lane(m), out);
        *stores = (Block){0};
    }
}

static void
write_block(Abreast *m, const Block *block, Block *out)
{
    Block straight = select_form(m->arena, block, m->func->deaf);
    Block stores = {0};
    for (int i = 0; i < straight.n && m->why == NULL; i++) {
        Stmt *s = straight.at[i];
        bool plain = s->kind == S_LET || s->kind == S_STORE;
        s = plain ? with_names(m, s, out) : s;
        if (s->kind == S_LET && varies(m, s->value)) {
            set_varies(m, s->var);
            vec_push(m->arena, &m->lets, s);
        } else if (s->kind == S_LET) {
            vec_push(m->arena, out, s);
        } else if (s->kind == S_STORE) {
            vec_push(m->arena, &stores, s);
        } else if (s->kind == S_FOR) {
            flush(m, &stores, out);
            write_inner(m, s, out);
        } else {
            refuse(m, s->kind == S_IF      ? "a branch is left in it"
                      : s->kind == S_CHECK ? "a check is left in it"
                                           : "it does more than compute and "
                                             "store");
        }
    }
    flush(m, &stores, out);
}

/* --- may it, and is it worth it? ------------------------------------------ */

/* Are all loops in 'block' FORs that carry, and run to their end? */
static bool
all_carry(const Block *block)
{
    bool ok = true;
    for (int i = 0; i < block->n && ok; i++) {
        const Stmt *s = block->at[i];
        bool loop = s->kind == S_FOR || s->kind == S_WHILE;
        ok = (!loop || (s->kind == S_FOR && s->ncarries > 0 &&
                        s->nbinds == 0 && s->until == NULL)) &&
             all_carry(&s->body) && all_carry(&s->els);
    }
    return ok;
}

bool
abreast_fits(const Stmt *loop)
{
    return loop->kind == S_FOR && loop->ncarries == 0 && loop->nbinds == 0 &&
           loop->until == NULL && block_has_loop(&loop->body) &&
           all_carry(&loop->body);
}

/* Appends to 'out' all that 'block' computes, without its loops, and with or
 * without what it stores. */
static void
spread(Abreast *m, const Block *block, bool stores, Block *out)
{
    Block straight = select_form(m->arena, block, m->func->deaf);
    Block names = {0};
    for (int i = 0; i < straight.n; i++) {
        Stmt *s = straight.at[i];
        if (s->kind == S_FOR) {
            for (int k = 0; k < s->ncarries; k++) {
                let(m, "first", named(m, s->carries[k].init, &names), out);
            }
            spread(m, &s->body, stores, out);
            for (int k = 0; k < s->ncarries; k++) {
                let(m, "next", named(m, s->carries[k].next, &names), out);
            }
        } else if (s->kind != S_STORE || stores) {
            s = s->kind == S_IF ? s : with_names(m, s, &names);
            vec_push(m->arena, out, s);
        }
    }
}

/* For ir_each_stmt. */
static void
note_varying(void *data, Stmt *s)
{
    Abreast *m = data;
    if (s->kind == S_LET && varies(m, s->value)) {
        set_varies(m, s->var);
    }
    for (int i = 0; i < s->njoins; i++) {
        set_varies(m, s->joins[i].out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        set_varies(m, s->carries[i].var);
        set_varies(m, s->carries[i].out);
    }
}

/* Is there a form for lanes of all that it computes?  Neighbouring rounds must
 * be neighbours in memory, of what is loaded alone as of all together. */
static void
look_at_lanes(Abreast *m, Bounds *b)
{
    DependWhy why = {0};
    set_varies(m, m->loop->var);
    ir_each_stmt(&m->loop->body, note_varying, m);
    ir_each_stmt(&m->loop->body, refuse_own_loads, m);
    for (int stores = 0; stores < 2 && m->why == NULL; stores++) {
        Stmt *straight = ir_copy_stmt(m->arena, m->loop);
        straight->body = (Block){0};
        spread(m, &m->loop->body, stores, &straight->body);
        if (!vector_allowed(m->arena, m->func, b, straight, &why)) {
            refuse(m, why.text);
        }
    }
    if (!depend_independent(m->arena, m->func, b, m->loop, &why)) {
        refuse(m, why.text);
    } else if (!bounds_may_shift(b, m->loop)) {
        refuse(m, "its bounds may be huge");
    }
}

/* --- strips --------------------------------------------------------------- */

/* The whole strips, with fresh names; 'n' is how many. */
static Stmt *
write_strips(Abreast *m, Expr *lo, Expr *n)
{
    Arena *arena = m->arena;
    Stmt *outer = ir_stmt(arena, S_FOR, m->loop->loc);
    outer->var = ir_var(m->func, m->loop->var->name, DT_I64, 0);
    outer->lo = number(m, 0);
    outer->hi = n;
    Expr *done = ir_binary(arena, E_MUL, ir_ref(arena, outer->var),
                           number(m, LANES));
    m->first = let(m, "first", ir_binary(arena, E_ADD, lo, done), &outer->body);
    write_block(m, &m->loop->body, &outer->body);
    Block one = {0};
    Map map = map_new(arena);
    vec_push(arena, &one, outer);
    outer = ir_clone(m->func, &one, &map).at[0];
    outer->id = m->loop->id;
    return outer;
}

/* The rounds behind the strips, in the loop as it was. */
static Stmt *
write_rest(const Abreast *m, Expr *lo, Expr *n)
{
    Arena *arena = m->arena;
    Stmt *rest = ir_copy_stmt(arena, m->loop);
    Expr *done = ir_binary(arena, E_MAX, n, number(m, 0));
    done = ir_binary(arena, E_MUL, done, number(m, LANES));
    rest->lo = ir_binary(arena, E_ADD, lo, done);
    rest->id = m->func->next_id++;
    return rest;
}

Block
abreast_loop(Func *func, Bounds *b, const Stmt *loop, const char **why)
{
    Arena *arena = func->arena;
    Abreast m = {.arena = arena, .func = func, .loop = loop};
    m.arrays = map_new(arena);
    m.varies = map_new(arena);
    Block out = {0};
    Block head = {0};
    Expr *lo = let(&m, "lo", loop->lo, &head);
    Expr *span = ir_binary(arena, E_SUB, loop->hi, lo);
    span = ir_binary(arena, E_IDIV, span, number(&m, LANES));
    Expr *n = let(&m, "strips", span, &head);
    look_at_lanes(&m, b);
    Stmt *strips = m.why == NULL ? write_strips(&m, lo, n) : NULL;
    *why = m.why;
    if (m.why != NULL) {
        return out;
    }
    for (int i = 0; i < m.made.n; i++) {
        Stmt *alloc = ir_stmt(arena, S_ALLOC, loop->loc);
        alloc->buf = m.made.at[i];
        vec_push(arena, &out, alloc);
    }
    for (int i = 0; i < head.n; i++) {
        vec_push(arena, &out, head.at[i]);
    }
    vec_push(arena, &out, strips);
    vec_push(arena, &out, write_rest(&m, lo, n));
    return out;
}
