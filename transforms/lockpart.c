/* The parts of a loop in lockstep, each for all lanes of a strip.
 *
 *     straight part      for each lane x { take; ...; leave }     by SIMD
 *     inner loop         while more than FEW lanes are in { some rounds for
 *                                                           all LANES }
 *                        for the rest, one by one { the loop as it was }
 *
 * A part takes what it uses of other parts from arrays of an element per lane,
 * and leaves there what others use.  The carries of an inner loop lie in such
 * arrays too: the straight part before it stores what they start from, and
 * what they are in the end is found there by the part behind it.
 */
#include "transforms/lockstep.h"

enum {
    LANES = 32,  /* enough to hide the latency of arithmetic */
    FEW = 3,     /* lanes that are better finished one by one */
    ROUNDS = 4,  /* at most so many between two looks who is still in */
    SHORT = 100, /* nodes of an inner loop of which as many are made */
};

/* --- arrays of an element per lane --------------------------------------- */

static Expr *
number(const Lockstep *m, int64_t value)
{
    return ir_int(m->arena, DT_I64, value);
}

/* An array for 'var'; gcc has no lanes for _Bool. */
static Buf *
lane_array(Lockstep *m, const char *name, DType dtype)
{
    Buf *buf = ir_stack_row(m->func, name, dtype == DT_BOOL ? DT_I64 : dtype,
                            LANES, m->loop->loc);
    vec_push(m->arena, &m->made, buf);
    return buf;
}

/* That of 'var', made when it is first asked for. */
static Buf *
array_of(Lockstep *m, const Var *var)
{
    Buf *buf = map_get(&m->bufs, var);
    if (buf == NULL) {
        buf = lane_array(m, var->name, var->dtype);
        map_set(&m->bufs, var, buf);
    }
    return buf;
}

/* The lane's element, as a value of 'dtype'. */
static Expr *
read_lane(const Lockstep *m, Buf *buf, Expr *lane, DType dtype)
{
    Expr *load = ir_load(m->arena, buf, &lane, 1, 0);
    return dtype == DT_BOOL ? ir_binary(m->arena, E_NE, load, number(m, 0))
                            : load;
}

static void
write_lane(const Lockstep *m, Buf *buf, Expr *lane, Expr *value, Block *out)
{
    if (value->dtype == DT_BOOL) {
        value = ir_cast(m->arena, DT_I64, value);
    }
    vec_push(m->arena, out,
             ir_store(m->arena, buf, &lane, 1, value, m->loop->loc));
}

static Expr *
let(const Lockstep *m, const char *name, Expr *value, Block *out)
{
    return ir_named(m->func, out, name, value, m->loop->loc);
}

/* 'var' is what lies in its array. */
static void
take(Lockstep *m, Var *var, Expr *lane, Map *map, Block *out)
{
    Expr *value = read_lane(m, array_of(m, var), lane, var->dtype);
    map_set(map, var, let(m, var->name, value, out));
}

/* What part 'part' uses of others. */
static void
take_needs(Lockstep *m, int part, Expr *lane, Map *map, Block *out)
{
    for (int i = 0; i < m->needs[part].n; i++) {
        take(m, m->needs[part].at[i], lane, map, out);
    }
}

/* What the copy of part 'part' has for later ones. */
static void
leave_lanes(Lockstep *m, int part, Expr *lane, Map *map, Block *out)
{
    for (int i = 0; i < m->cross.n; i++) {
        const Cross *cross = &m->cross.at[i];
        if (cross->part == part) {
            write_lane(m, array_of(m, cross->var), lane,
                       map_get(map, cross->var), out);
        }
    }
}

static bool
is_used_later(const Lockstep *m, const Var *var)
{
    for (int i = 0; i < m->cross.n; i++) {
        if (m->cross.at[i].var == var) {
            return true;
        }
    }
    return false;
}

/* --- the parts between --------------------------------------------------- */

/* for x in first..end { let lane = x - first ... }, its body empty so far */
static Stmt *
lane_loop(Lockstep *m, Expr *lo, Expr *hi, Map *map, Expr **lane)
{
    Stmt *loop = ir_stmt(m->arena, S_FOR, m->loop->loc);
    loop->var = ir_var(m->func, m->loop->var->name, DT_I64, 0);
    loop->id = m->func->next_id++;
    loop->lo = lo;
    loop->hi = hi;
    Expr *x = ir_ref(m->arena, loop->var);
    *lane = x;
    if (lo == m->first) {
        *lane = let(m, "lane", ir_binary(m->arena, E_SUB, x, m->first),
                    &loop->body);
    } else {
        x = let(m, loop->var->name, ir_binary(m->arena, E_ADD, m->first, x),
                &loop->body);
    }
    map_set(map, m->loop->var, x);
    return loop;
}

/* The inner loop 's' starts: its carries, its counter, and all lanes are in. */
static void
enter(Lockstep *m, const Stmt *s, Expr *lane, Map *map, Block *out)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        write_lane(m, array_of(m, carry->var), lane,
                   ir_subst(m->arena, carry->init, map), out);
    }
    if (s->kind == S_FOR) {
        write_lane(m, array_of(m, s->var), lane, ir_subst(m->arena, s->lo, map),
                   out);
    }
    write_lane(m, m->alive, lane, number(m, 1), out);
}

/* May it run by SIMD?  Whether it then does is up to the emitter. */
static bool
is_plain(const Block *block)
{
    bool plain = true;
    for (int i = 0; i < block->n; i++) {
        plain &= block->at[i]->kind != S_IF;
    }
    return plain;
}

/* Part 'part', which is no loop, for all lanes of the strip. */
static void
write_straight(Lockstep *m, int part, Block *out)
{
    const Stmt *next =
        part + 1 < m->nparts ? lockstep_inner(m, part + 1) : NULL;
    Map map = map_new(m->arena);
    Expr *lane;
    Stmt *loop = lane_loop(m, m->first, m->end, &map, &lane);
    take_needs(m, part, lane, &map, &loop->body);
    Block straight = select_form(m->arena, &m->parts[part], m->func->deaf);
    Block copy = ir_clone(m->func, &straight, &map);
    for (int i = 0; i < copy.n; i++) {
        vec_push(m->arena, &loop->body, copy.at[i]);
    }
    leave_lanes(m, part, lane, &map, &loop->body);
    if (next != NULL) {
        Stmt *none = ir_stmt(m->arena, S_FILL, m->loop->loc);
        none->buf = m->alive;
        none->value = number(m, 0);
        vec_push(m->arena, out, none);
        enter(m, next, lane, &map, &loop->body);
    }
    if (m->parts[part].n > 0 || next != NULL) {
        loop->mode = is_plain(&copy) ? LOOP_VECTOR : LOOP_SERIAL;
        vec_push(m->arena, out, loop);
    }
}

/* --- the inner loops ----------------------------------------------------- */

/* A lane in which the branch that ends the loop is taken is never looked at
 * again: what a name without use behind the loop is there, is up to us.
 *
 *     if go { let z1 = ... }                       if go { let z1 = ... }
 *     join z2 = z1, z    join stop = false, true   join z2 = z1, z1
 *     until stop                                   until stop             */
static void
free_joins(const Lockstep *m, const Stmt *s, Stmt *last)
{
    int64_t ends[2] = {0, 0};
    const Join *stop = lockstep_join(last, s->until);
    if (stop != NULL) {
        (void)ir_const_int(stop->then_val, &ends[0]);
        (void)ir_const_int(stop->else_val, &ends[1]);
    }
    for (int i = 0; i < s->ncarries && ends[0] + ends[1] == 1; i++) {
        const Carry *carry = &s->carries[i];
        Join *join = lockstep_join(last, carry->next);
        if (join != NULL && join != stop && !is_used_later(m, carry->out)) {
            join->then_val = ends[0] ? join->else_val : join->then_val;
            join->else_val = ends[1] ? join->then_val : join->else_val;
        }
    }
}

/* Is 'var' named by "until", the test, or more than one "next"?  Then its joins
 * are left alone. */
static bool
is_shared(const Stmt *s, const Var *var)
{
    int uses = 0;
    for (int i = 0; i < s->ncarries; i++) {
        uses += ir_uses(s->carries[i].next, var);
    }
    return uses > 1;
}

/* The body with selects. */
static Block
inner_body(const Lockstep *m, const Stmt *s)
{
    Block body = s->body;
    Stmt *last = body.n > 0 ? vec_last(&body) : NULL;
    bool shared = false;
    for (int i = 0; last != NULL && i < last->njoins; i++) {
        shared |= is_shared(s, last->joins[i].out);
    }
    if (m->func->deaf && s->until != NULL && last != NULL && !shared &&
        last->kind == S_IF) {
        last = ir_copy_stmt(m->arena, last);
        free_joins(m, s, last);
        body = (Block){0};
        for (int i = 0; i + 1 < s->body.n; i++) {
            vec_push(m->arena, &body, s->body.at[i]);
        }
        vec_push(m->arena, &body, last);
    }
    return select_form(m->arena, &body, m->func->deaf);
}

/* Appends 'from' to 'out'; a check counts in lanes that are in. */
static void
push_masked(const Lockstep *m, const Block *from, Expr *in, Block *out)
{
    for (int i = 0; i < from->n; i++) {
        Stmt *s = from->at[i];
        if (s->kind == S_CHECK) {
            Expr *gone = ir_unary(m->arena, E_NOT, in);
            s->value = ir_binary(m->arena, E_OR, s->value, gone);
        }
        vec_push(m->arena, out, s);
    }
}

/* The test of a round: of a FOR, that its counter has not come to the end. */
static Expr *
round_test(const Lockstep *m, const Stmt *s, Map *map)
{
    if (s->kind == S_WHILE) {
        return ir_subst(m->arena, s->value, map);
    }
    return ir_binary(m->arena, E_LT, map_get(map, s->var),
                     ir_subst(m->arena, s->hi, map));
}

/* Is the carry used behind the inner loop, or are the processor's flags?  Then
 * it must stay what it is in lanes that have left. */
static bool
is_kept(const Lockstep *m, const Carry *carry)
{
    return is_used_later(m, carry->out) || !m->func->deaf;
}

/* What the round hands on takes the place of what it was given: in lanes that
 * made it ("go"), counts in those that go "on". */
static void
hand_on(Lockstep *m, const Stmt *s, Expr *go, Expr *on, Map *map, Block *out)
{
    Expr **nexts = ARENA_ARRAY(m->arena, Expr *, s->ncarries + 1);
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        Expr *given = map_get(map, carry->var);
        Expr *next = ir_subst(m->arena, carry->next, map);
        bool kept = is_kept(m, carry);
        bool unless_last;
        Expr *step =
            kept ? lockstep_tally(m->arena, s, carry, &unless_last) : NULL;
        if (step != NULL) {
            Expr *once =
                ir_cast(m->arena, step->dtype, unless_last ? on : go);
            once = ir_binary(m->arena, E_MUL, once, step);
            next = ir_binary(m->arena, E_ADD, given, once);
        } else if (kept) {
            next = ir_select(m->arena, go, next, given);
        }
        nexts[i] = let(m, carry->var->name, next, out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        map_set(map, s->carries[i].var, nexts[i]);
    }
    if (s->kind == S_FOR) {
        Expr *next =
            ir_binary(m->arena, E_ADD, map_get(map, s->var), number(m, 1));
        map_set(map, s->var, let(m, s->var->name, next, out));
    }
}

/* Which of the lanes that are "in" make another round. */
static Expr *
write_test(Lockstep *m, const Stmt *s, Expr *in, Map *map, Block *out)
{
    Block pre = select_form(m->arena, &s->pre, m->func->deaf);
    pre = ir_clone(m->func, &pre, map);
    push_masked(m, &pre, in, out);
    return let(m, "go", ir_binary(m->arena, E_AND, in, round_test(m, s, map)),
               out);
}

/* One round of 's' in the lanes that are "in", all of which make it where the
 * rounds are "counted"; the value is which of them go on.  'map' has what the
 * round is given, then what it hands on. */
static Expr *
write_round(Lockstep *m, const Stmt *s, bool counted, Expr *in, Map *map,
            Block *out)
{
    Expr *go = counted ? in : write_test(m, s, in, map, out);
    Block body = inner_body(m, s);
    body = ir_clone(m->func, &body, map);
    push_masked(m, &body, go, out);
    Expr *on = go;
    if (s->until != NULL) {
        Expr *stop = ir_subst(m->arena, s->until, map);
        on = ir_binary(m->arena, E_AND, go, ir_unary(m->arena, E_NOT, stop));
        on = let(m, "on", on, out);
    }
    hand_on(m, s, go, on, map, out);
    return on;
}

/* How many rounds are made between taking the lanes' values from their arrays
 * and leaving them there: more in short ones, for which that, and asking who
 * is still in, is most of the work.  A lane that leaves in between computes on
 * for nothing.  Not where a round would choose what it hands on, see
 * lockcount.c. */
static int
rounds_at_once(const Lockstep *m, const Stmt *s)
{
    int size = ir_size(&s->pre) + ir_size(&s->body);
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        bool unless_last;
        if (is_kept(m, carry) &&
            !lockstep_tally(m->arena, s, carry, &unless_last)) {
            return 1;
        }
    }
    return size <= SHORT ? ROUNDS : 1;
}

/* "rounds" rounds of 's' in all lanes: the value is how many go on. */
static Stmt *
write_rounds(Lockstep *m, int part, bool counted, int rounds)
{
    const Stmt *s = lockstep_inner(m, part);
    Map map = map_new(m->arena);
    Expr *lane;
    Stmt *loop = lane_loop(m, number(m, 0), number(m, LANES), &map, &lane);
    Block *out = &loop->body;
    take_needs(m, part, lane, &map, out);
    for (int i = 0; i < s->ncarries; i++) {
        take(m, s->carries[i].var, lane, &map, out);
    }
    if (s->kind == S_FOR) {
        take(m, s->var, lane, &map, out);
    }
    Expr *in = let(m, "in", read_lane(m, m->alive, lane, DT_BOOL), out);
    for (int i = 0; i < rounds; i++) {
        in = write_round(m, s, counted, in, &map, out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        const Var *var = s->carries[i].var;
        write_lane(m, array_of(m, var), lane, map_get(&map, var), out);
    }
    if (s->kind == S_FOR) {
        write_lane(m, array_of(m, s->var), lane, map_get(&map, s->var), out);
    }
    Expr *one = let(m, "on", ir_cast(m->arena, DT_I64, in), out);
    write_lane(m, m->alive, lane, one, out);
    Carry *count = ARENA_NEW(m->arena, Carry);
    count->var = ir_var(m->func, "count", DT_I64, 0);
    count->init = number(m, 0);
    count->next = ir_binary(m->arena, E_ADD, ir_ref(m->arena, count->var), one);
    count->out = ir_var(m->func, "count", DT_I64, 0);
    loop->carries = count;
    loop->ncarries = 1;
    loop->mode = LOOP_VECTOR;
    return loop;
}

/* The lanes that are still in, one by one, through the loop as it was. */
static Stmt *
write_rest(Lockstep *m, int part, const Stmt *s)
{
    Map map = map_new(m->arena);
    Expr *lane;
    Stmt *loop = lane_loop(m, m->first, m->end, &map, &lane);
    Stmt *branch = ir_stmt(m->arena, S_IF, m->loop->loc);
    branch->value = read_lane(m, m->alive, lane, DT_BOOL);
    take_needs(m, part, lane, &map, &branch->body);
    Stmt *copy = ir_copy_stmt(m->arena, s);
    for (int i = 0; i < copy->ncarries; i++) {
        Carry *carry = &copy->carries[i];
        carry->init =
            read_lane(m, array_of(m, carry->var), lane, carry->var->dtype);
    }
    if (copy->kind == S_FOR) {
        copy->lo = read_lane(m, array_of(m, copy->var), lane, DT_I64);
    }
    Block block = {0};
    vec_push(m->arena, &block, copy);
    block = ir_clone(m->func, &block, &map);
    vec_push(m->arena, &branch->body, block.at[0]);
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        if (is_used_later(m, carry->out)) {
            write_lane(m, array_of(m, carry->var), lane,
                       map_get(&map, carry->out), &branch->body);
        }
    }
    vec_push(m->arena, &loop->body, branch);
    return loop;
}

/* A name that a loop hands on. */
static Carry
carried(const Lockstep *m, const char *name, Expr *init)
{
    return (Carry){.var = ir_var(m->func, name, DT_I64, 0),
                   .init = init,
                   .out = ir_var(m->func, name, DT_I64, 0)};
}

/* Some rounds again and again while many lanes are in, and while so many are
 * "left", unless that is NULL: both become what they are behind the loop. */
static void
write_many(Lockstep *m, int part, int rounds, Expr **live, Expr **left,
           Block *out)
{
    Arena *arena = m->arena;
    bool counted = *left != NULL;
    Stmt *all = ir_stmt(arena, S_WHILE, lockstep_inner(m, part)->loc);
    Carry *carries = ARENA_ARRAY(arena, Carry, 2);
    Stmt *lanes = write_rounds(m, part, counted, rounds);
    all->id = m->func->next_id++;
    carries[0] = carried(m, "live", *live);
    carries[0].next = ir_ref(arena, lanes->carries[0].out);
    all->value =
        ir_binary(arena, E_LT, number(m, FEW), ir_ref(arena, carries[0].var));
    if (counted) {
        carries[1] = carried(m, "left", *left);
        Expr *now = ir_ref(arena, carries[1].var);
        Expr *size = number(m, rounds);
        carries[1].next = ir_binary(arena, E_SUB, now, size);
        all->value = ir_binary(arena, E_AND, all->value,
                               ir_binary(arena, E_LE, size, now));
        *left = ir_ref(arena, carries[1].out);
    }
    vec_push(arena, &all->body, lanes);
    all->carries = carries;
    all->ncarries = counted ? 2 : 1;
    vec_push(arena, out, all);
    *live = ir_ref(arena, carries[0].out);
}

/* The inner loop of 'part': by SIMD while many lanes are in it.  What is left
 * of rounds that are counted goes by one at a time, and when none is, all lanes
 * are through. */
static void
write_inner(Lockstep *m, int part, Block *out)
{
    const Stmt *s = lockstep_inner(m, part);
    Arena *arena = m->arena;
    Expr *live = ir_binary(arena, E_SUB, m->end, m->first);
    Expr *left = lockstep_left(m, s);
    int rounds = rounds_at_once(m, s);
    write_many(m, part, rounds, &live, &left, out);
    if (left != NULL && rounds > 1) {
        write_many(m, part, 1, &live, &left, out);
    }
    Stmt *any = ir_stmt(arena, S_IF, s->loc);
    any->value = ir_binary(arena, E_LT, number(m, 0), live);
    if (left != NULL) {
        any->value = ir_binary(arena, E_AND, any->value,
                               ir_binary(arena, E_LT, number(m, 0), left));
    }
    vec_push(arena, &any->body, write_rest(m, part, s));
    vec_push(arena, out, any);
}

/* --- strips -------------------------------------------------------------- */

/* What a carry is behind its loop lies where the carry did. */
static void
share_arrays(Lockstep *m)
{
    for (int part = 1; part < m->nparts; part += 2) {
        const Stmt *s = lockstep_inner(m, part);
        for (int i = 0; i < s->ncarries; i++) {
            map_set(&m->bufs, s->carries[i].out,
                    array_of(m, s->carries[i].var));
        }
    }
}

/* for k in 0..ceil((hi - lo) / LANES), with first and end of strip k. No sum
 * overflows where hi - lo doesn't. */
static Stmt *
strips(Lockstep *m, Block *out)
{
    Arena *arena = m->arena;
    const Stmt *loop = m->loop;
    Expr *lo = let(m, "lo", loop->lo, out);
    Expr *hi = let(m, "hi", loop->hi, out);
    Expr *span = let(m, "span", ir_binary(arena, E_SUB, hi, lo), out);
    Expr *size = number(m, LANES);
    Expr *rest = ir_binary(arena, E_MIN, ir_binary(arena, E_MOD, span, size),
                           number(m, 1));
    Stmt *outer = ir_stmt(arena, S_FOR, loop->loc);
    outer->var = ir_var(m->func, loop->var->name, DT_I64, 0);
    outer->id = loop->id;
    outer->lo = number(m, 0);
    outer->hi =
        ir_binary(arena, E_ADD, ir_binary(arena, E_IDIV, span, size), rest);
    Expr *done = ir_binary(arena, E_MUL, ir_ref(arena, outer->var), size);
    m->first = let(m, "first", ir_binary(arena, E_ADD, lo, done), &outer->body);
    Expr *left = ir_binary(arena, E_SUB, hi, m->first);
    left = ir_binary(arena, E_MIN, left, size);
    m->end =
        let(m, "end", ir_binary(arena, E_ADD, m->first, left), &outer->body);
    return outer;
}

/* Makes the arrays; elements of no lane are zeros, to be computed with. */
static void
allocate(Lockstep *m, Block *out)
{
    for (int i = 0; i < m->made.n; i++) {
        Buf *buf = m->made.at[i];
        Stmt *alloc = ir_stmt(m->arena, S_ALLOC, m->loop->loc);
        alloc->buf = buf;
        vec_push(m->arena, out, alloc);
        Stmt *fill = ir_stmt(m->arena, S_FILL, m->loop->loc);
        fill->buf = buf;
        fill->value = ir_zero(m->arena, buf->dtype);
        vec_push(m->arena, out, fill);
    }
}

/* 'loop' with what its inner loops need computed before them. */
static Stmt *
hoisted(Func *func, Bounds *b, const Stmt *loop)
{
    Stmt *copy = ir_copy_stmt(func->arena, loop);
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    copy->body = (Block){0};
    for (int i = 0; i < loop->body.n; i++) {
        Stmt *s = loop->body.at[i];
        Stmt *done = lockstep_uneven(s)
                         ? lockstep_hoist(func->arena, func, b, s, &copy->body)
                         : s;
        vec_push(func->arena, &copy->body, done);
        bounds_after(b, s);
    }
    bounds_pop(b, mark);
    return copy;
}

Block
lockstep_loop(Func *func, Bounds *b, const Stmt *loop)
{
    loop = hoisted(func, b, loop);
    Lockstep m = lockstep_cut(func->arena, loop);
    m.func = func;
    m.alive = lane_array(&m, "alive", DT_I64);
    share_arrays(&m);
    Block head = {0};
    Stmt *outer = strips(&m, &head);
    for (int part = 0; part < m.nparts; part++) {
        if (part % 2 == 1) {
            write_inner(&m, part, &outer->body);
        } else {
            write_straight(&m, part, &outer->body);
        }
    }
    allocate(&m, &head);
    vec_push(m.arena, &head, outer);
    return head;
}
