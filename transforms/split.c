/* Split loops at their boundaries, and into strips.
 *
 * Around other loops, one loop with a condition remains, so that it can run
 * over threads as a whole:
 *
 *     for y in lo..hi { A }      for y in lo..hi {
 *                           ->     if lo+1 <= y and y < hi-1 { A, decided }
 *                                  else { copy of A }
 *                                }
 *
 * An innermost loop becomes three:
 *
 *     for x in lo..hi { A }      m1 = min(lo + head, hi)
 *                                m2 = max(m1, hi - tail)
 *                           ->   for x in lo..m1 { copy of A }
 *                                for x in m1..m2 { A, decided }
 *                                for x in m2..hi { copy of A }
 *
 * Every round runs exactly once and in order, also when hi - lo is less than
 * head + tail or negative.  The interior keeps Vars and loop ids, so that
 * directives for inner loops go on to mean it; the copies get fresh ones and
 * stay as they are, which bounds the growth: one copy a loop, not 3^depth.
 * In the interior every comparison that its range decides becomes a constant;
 * 'simplify' then drops the branches.
 */
#include "transforms/transforms.h"

/* The walk's state.
 *   "pass"       arenas
 *   "func"       the new function
 *   "sched"      where the REGIONS stand
 *   "b"          what is known where the walk stands
 *   "interiors"  how many interiors one stands in */
typedef struct Split {
    Pass *pass;
    Func *func;
    const Sched *sched;
    Bounds *b;
    int interiors; /* how many interiors one stands in */
} Split;

/* --- deciding what an interior knows ------------------------------------- */

/* 'e' (min or max) as the one of its sides that is known to be the answer. */
static Expr *
decide_extreme(Split *split, Expr *e)
{
    Expr *order = ir_binary(split->pass->arena, E_LE, e->args[0], e->args[1]);
    if (bounds_proves(split->b, order)) {
        return e->args[e->op == E_MAX];
    }
    order = ir_binary(split->pass->arena, E_LE, e->args[1], e->args[0]);
    return bounds_proves(split->b, order) ? e->args[e->op == E_MIN] : e;
}

/* An index that wraps only at the border is itself in the interior. */
static Expr *
decide_mod(Split *split, Expr *e)
{
    Arena *arena = split->pass->arena;
    Expr *zero = ir_int(arena, e->dtype, 0);
    bool inside =
        bounds_proves(split->b, ir_binary(arena, E_LE, zero, e->args[0])) &&
        bounds_proves(split->b, ir_binary(arena, E_LT, e->args[0], e->args[1]));
    return inside ? e->args[0] : e;
}

/* A comparison, min, max or mod whose answer the range of the interior fixes.
 * Operands are done already. */
static Expr *
decide_node(void *data, Expr *e)
{
    Split *split = data;
    if (e->lanes > 0 || e->nargs != 2 || !dtype_is_int(e->args[0]->dtype)) {
        return e;
    }
    switch (e->op) {
    case E_LT:
    case E_LE:
    case E_EQ:
    case E_NE:
        if (bounds_proves(split->b, e)) {
            return ir_bool(split->pass->arena, true);
        }
        return bounds_refutes(split->b, e) ? ir_bool(split->pass->arena, false)
                                           : e;
    case E_MIN:
    case E_MAX:
        return decide_extreme(split, e);
    case E_MOD:
        return decide_mod(split, e);
    default:
        return e;
    }
}

/* Outside interiors nothing is asked: simplify has done it before. */
static Expr *
decide(Split *split, Expr *e)
{
    if (e == NULL || split->interiors == 0) {
        return e;
    }
    return ir_map(split->pass->arena, e, decide_node, split);
}

/* --- rewriting ----------------------------------------------------------- */

static Block split_block(Split *split, const Block *block);

/* Appends 's'; from here on the Bounds know what it leaves behind. */
static void
push(Split *split, Block *out, Stmt *s)
{
    vec_push(split->pass->arena, out, s);
    bounds_after(split->b, s);
}

/* 'e' + 'by', without a sum for 0. */
static Expr *
offset(Split *split, Expr *e, int64_t by)
{
    Arena *arena = split->pass->arena;
    return by == 0 ? e : ir_binary(arena, E_ADD, e, ir_int(arena, DT_I64, by));
}

/* 'e' under a name, evaluated once before what follows in 'out'. */
static Expr *
bind(Split *split, Block *out, const char *name, Expr *e, Loc loc)
{
    if (e->op == E_CONST || e->op == E_VAR || e->op == E_DIM) {
        return e;
    }
    Var *var = ir_var(split->func, name, e->dtype, 0);
    push(split, out, ir_let(split->pass->arena, var, e, loc));
    return ir_ref(split->pass->arena, var);
}

/* Where the interior begins and ends.
 *   "first"        its first round; NULL: it begins with the loop
 *   "end"          the round behind its last; NULL: it ends with the loop
 *   "strip_first"  "first" counts from an origin and may lie below lo
 *   "strip_end"    "end" does and may lie above hi */
typedef struct Cut {
    Expr *first;
    Expr *end;
    bool strip_first; /* "first" may lie below lo ... */
    bool strip_end;   /* ... "end" above hi */
} Cut;

/* A strip counts from where its conditions say (regions_origin); its cut may
 * then lie outside its own range and is clipped to it. */
static Cut
cut_of(Split *split, const Stmt *loop, const Directive *dir)
{
    Cut cut = {0};
    Expr *lo;
    Expr *hi;
    regions_origin(split->pass, split->b, loop, &lo, &hi);
    if (dir->head > 0) {
        cut.strip_first = lo != NULL;
        cut.first = offset(split, lo != NULL ? lo : loop->lo, dir->head);
    }
    if (dir->tail > 0) {
        cut.strip_end = hi != NULL;
        cut.end = offset(split, hi != NULL ? hi : loop->hi, -dir->tail);
    }
    return cut;
}

/* What the interior of 'loop' knows: first <= x and x < end, the two in
 * 'cond' (NULL where an end is not cut). */
static void
interior_conds(Split *split, const Stmt *loop, const Cut *cut, Expr **cond)
{
    Arena *arena = split->pass->arena;
    Expr *x = ir_ref(arena, loop->var);
    cond[0] = cut->first ? ir_binary(arena, E_LE, cut->first, x) : NULL;
    cond[1] = cut->end ? ir_binary(arena, E_LT, x, cut->end) : NULL;
}

/* The body of 'loop' and what it hands to the next round, where 'cond' holds;
 * 'loop' is a copy and is changed. The copy of the body that goes to the
 * border has been taken before. */
static void
fill_interior(Split *split, Stmt *loop, Expr *const *cond)
{
    int mark = bounds_push(split->b);
    for (int i = 0; i < 2; i++) {
        if (cond[i] != NULL) {
            bounds_assume(split->b, cond[i], true);
        }
    }
    split->interiors++;
    loop->body = split_block(split, &loop->body);
    for (int i = 0; i < loop->ncarries; i++) {
        loop->carries[i].next = decide(split, loop->carries[i].next);
    }
    split->interiors--;
    bounds_pop(split->b, mark);
}

/* What a round hands on is chosen by the IF that ran it; 'map' leads from
 * the Vars of 'old' to those of the copy. */
static void
join_carries(Split *split, Stmt *loop, const Stmt *old, const Map *map,
             Stmt *branch)
{
    Arena *arena = split->pass->arena;
    branch->njoins = loop->ncarries;
    branch->joins = ARENA_ARRAY(arena, Join, loop->ncarries + 1);
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        Join *join = &branch->joins[i];
        join->out = ir_var(split->func, carry->var->name, carry->var->dtype,
                           carry->var->lanes);
        join->then_val = carry->next;
        carry->next = ir_ref(arena, join->out);
        join->else_val = ir_subst(arena, old->carries[i].next, map);
    }
}

/* One loop whose rounds choose between the interior and a copy of the body by
 * an IF; joins choose what a round hands on. The condition is that of the
 * interior and nothing else, so no round is lost, wherever the cuts lie. The
 * copy is taken before the interior is rewritten. */
static Stmt *
split_by_if(Split *split, const Stmt *old, const Directive *dir)
{
    Arena *arena = split->pass->arena;
    Stmt *loop = ir_copy_stmt(arena, old);
    Map map = map_new(arena);
    Block copy = ir_clone(split->func, &old->body, &map);
    Cut cut = cut_of(split, loop, dir);
    Expr *cond[2];
    interior_conds(split, loop, &cut, cond);
    int mark = bounds_push(split->b);
    bounds_loop(split->b, loop);
    fill_interior(split, loop, cond);
    bounds_pop(split->b, mark);
    Stmt *branch = ir_stmt(arena, S_IF, loop->loc);
    branch->value = cond[0] != NULL ? cond[0] : cond[1];
    if (cond[0] != NULL && cond[1] != NULL) {
        branch->value = ir_binary(arena, E_AND, cond[0], cond[1]);
    }
    branch->body = loop->body;
    branch->els = copy;
    join_carries(split, loop, old, &map, branch);
    Block body = {0};
    vec_push(arena, &body, branch);
    loop->body = body;
    return loop;
}

/* A copy of 'old' for the rounds from 'lo' to 'hi', with Vars and ids of its
 * own. */
static Stmt *
copy_rounds(Split *split, Stmt *old, Expr *lo, Expr *hi)
{
    Map map = map_new(split->pass->arena);
    Block one = {0};
    vec_push(split->pass->arena, &one, old);
    Stmt *loop = ir_clone(split->func, &one, &map).at[0];
    loop->lo = lo;
    loop->hi = hi;
    return loop;
}

/* Fresh names for what 'loop' hands out, since 'after' now does so. */
static void
hand_over(Split *split, Stmt *loop, Stmt *after)
{
    for (int i = 0; i < loop->ncarries; i++) {
        Var *out = loop->carries[i].out;
        after->carries[i].out = out;
        loop->carries[i].out =
            ir_var(split->func, out->name, out->dtype, out->lanes);
        after->carries[i].init =
            ir_ref(split->pass->arena, loop->carries[i].out);
    }
}

/* Head, interior and tail, one after another, appended to 'out'. With first
 * clipped to hi, and end to no less than first, the three cover lo..hi without
 * gap or overlap: a short loop is all head, then all tail.
 *
 * Each part starts from what the part before hands out; the last one hands out
 * under the old names, so nothing after the loop changes. */
static void
split_in_three(Split *split, Stmt *old, const Directive *dir, Block *out)
{
    Arena *arena = split->pass->arena;
    Stmt *middle = ir_copy_stmt(arena, old);
    Stmt *head = NULL;
    Cut cut = cut_of(split, old, dir);
    Expr *cond[2];
    interior_conds(split, old, &cut, cond);
    if (cut.first != NULL) {
        Expr *first = cut.first;
        if (cut.strip_first) {
            first = ir_binary(arena, E_MAX, first, old->lo);
        }
        first = ir_binary(arena, E_MIN, first, old->hi);
        middle->lo = bind(split, out, "first", first, old->loc);
        head = copy_rounds(split, old, old->lo, middle->lo);
        push(split, out, head);
    }
    if (cut.end != NULL) {
        Expr *end = cut.end;
        if (cut.strip_end) {
            end = ir_binary(arena, E_MIN, end, old->hi);
        }
        end = ir_binary(arena, E_MAX, middle->lo, end);
        middle->hi = bind(split, out, "end", end, old->loc);
    }
    for (int i = 0; head != NULL && i < middle->ncarries; i++) {
        middle->carries[i].init = ir_ref(arena, head->carries[i].out);
    }
    int mark = bounds_push(split->b);
    bounds_loop(split->b, middle);
    fill_interior(split, middle, cond);
    bounds_pop(split->b, mark);
    if (cut.end != NULL) {
        Stmt *tail = copy_rounds(split, old, middle->hi, old->hi);
        hand_over(split, middle, tail);
        push(split, out, middle);
        push(split, out, tail);
    } else {
        push(split, out, middle);
    }
}

/* The ends are evaluated once, before the parts: the program might change what
 * they depend on while the first part runs. */
static void
split_loop(Split *split, const Stmt *old, Block *out)
{
    Arena *arena = split->pass->arena;
    Stmt *loop = ir_copy_stmt(arena, old);
    loop->lo = decide(split, loop->lo);
    loop->hi = decide(split, loop->hi);
    for (int i = 0; i < loop->ncarries; i++) {
        loop->carries[i].init = decide(split, loop->carries[i].init);
    }
    Directive dir;
    bool cut = loop->kind == S_FOR && loop->until == NULL &&
               loop->nbinds == 0 &&
               sched_has(split->sched, DIR_REGIONS, loop->id, &dir) &&
               bounds_may_shift(split->b, loop) &&
               dir.head + dir.tail > 0;
    if (cut) {
        loop->lo = bind(split, out, "lo", loop->lo, loop->loc);
        loop->hi = bind(split, out, "hi", loop->hi, loop->loc);
        if (block_has_loop(&loop->body)) {
            push(split, out, split_by_if(split, loop, &dir));
        } else {
            split_in_three(split, loop, &dir, out);
        }
        return;
    }
    int mark = bounds_push(split->b);
    bounds_loop(split->b, loop);
    loop->pre = split_block(split, &loop->pre);
    loop->value = decide(split, loop->value);
    loop->body = split_block(split, &loop->body);
    for (int i = 0; i < loop->ncarries; i++) {
        loop->carries[i].next = decide(split, loop->carries[i].next);
    }
    loop->until = decide(split, loop->until);
    bounds_pop(split->b, mark);
    push(split, out, loop);
}

/* A branch and what it hands out, under its condition. */
static Block
split_branch(Split *split, const Stmt *s, Expr *cond, bool taken)
{
    int mark = bounds_push(split->b);
    bounds_assume(split->b, cond, taken);
    Block out = split_block(split, taken ? &s->body : &s->els);
    for (int i = 0; i < s->njoins; i++) {
        Expr **value = taken ? &s->joins[i].then_val : &s->joins[i].else_val;
        *value = decide(split, *value);
    }
    bounds_pop(split->b, mark);
    return out;
}

/* An IF: its condition, then each side under it. */
static Stmt *
split_if(Split *split, const Stmt *old)
{
    Stmt *s = ir_copy_stmt(split->pass->arena, old);
    Expr *cond = s->value;
    s->value = decide(split, cond);
    s->body = split_branch(split, s, cond, true);
    s->els = split_branch(split, s, cond, false);
    return s;
}

/* A statement without blocks; ends of axes and sizes are left alone. */
static Stmt *
split_simple(Split *split, const Stmt *old)
{
    Stmt *s = ir_copy_stmt(split->pass->arena, old);
    s->value = decide(split, s->value);
    for (int i = 0; i < s->nindex; i++) {
        s->index[i] = decide(split, s->index[i]);
    }
    return s;
}

/* What 'block' becomes, in order, while the Bounds go along with the new
 * statements. */
static Block
split_block(Split *split, const Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            split_loop(split, s, &out);
        } else if (s->kind == S_IF) {
            push(split, &out, split_if(split, s));
        } else {
            push(split, &out, split_simple(split, s));
        }
    }
    return out;
}

/* Directives of loops that don't exist are without effect; any head and tail
 * are legal, since every round runs once, in order. */
Func *
split_regions(Pass *pass, Func *func, const Sched *sched)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Split split = {.pass = pass, .func = out, .sched = sched};
    split.b = bounds_new(pass->arena, func);
    out->body = split_block(&split, &func->body);
    return out;
}

/* --- strips -------------------------------------------------------------- */

/* As 'bind', for a block that no Bounds follow. */
static Expr *
bind_end(Func *func, Block *out, const char *name, Expr *e, Loc loc)
{
    if (e->op == E_CONST || e->op == E_VAR) {
        return e;
    }
    return ir_named(func, out, name, e, loc);
}

/* Carries go from strip to strip. */
static void
carry_strips(Func *func, Stmt *strips, Stmt *rounds)
{
    Arena *arena = func->arena;
    strips->ncarries = rounds->ncarries;
    strips->carries = ARENA_ARRAY(arena, Carry, rounds->ncarries + 1);
    for (int i = 0; i < rounds->ncarries; i++) {
        Carry *inner = &rounds->carries[i];
        const Var *old = inner->var;
        Var *var = ir_var(func, old->name, old->dtype, old->lanes);
        Var *out = ir_var(func, old->name, old->dtype, old->lanes);
        strips->carries[i] =
            (Carry){var, inner->init, ir_ref(arena, out), inner->out};
        inner->init = ir_ref(arena, var);
        inner->out = out;
    }
}

/* for x in lo..hi    ->    for k in 0 .. ceil((hi - lo) / size)
 *                            for x in lo + k*size .. min(that + size, hi)   */
Block
split_strips(Func *func, const Stmt *loop, int64_t size)
{
    Arena *arena = func->arena;
    Block out = {0};
    Block body = {0};
    Loc loc = loop->loc;
    Expr *width = ir_int(arena, DT_I64, size);
    Expr *lo = bind_end(func, &out, "lo", loop->lo, loc);
    Expr *hi = bind_end(func, &out, "hi", loop->hi, loc);
    Expr *span = ir_binary(arena, E_SUB, hi, lo);
    span = ir_binary(arena, E_ADD, span, ir_int(arena, DT_I64, size - 1));
    Stmt *outer = ir_stmt(arena, S_FOR, loc);
    outer->var = ir_var(func, loop->var->name, DT_I64, 0);
    outer->id = func->next_id++;
    outer->lo = ir_int(arena, DT_I64, 0);
    outer->hi = ir_binary(arena, E_IDIV, span, width);
    Expr *first = ir_ref(arena, outer->var);
    first = ir_binary(arena, E_ADD, lo, ir_binary(arena, E_MUL, first, width));
    first = bind_end(func, &body, "first", first, loc);
    Stmt *inner = ir_copy_stmt(arena, loop);
    inner->lo = first;
    inner->hi = bind_end(
        func, &body, "end",
        ir_binary(arena, E_MIN, ir_binary(arena, E_ADD, first, width), hi),
        loc);
    vec_push(arena, &body, inner);
    outer->body = body;
    carry_strips(func, outer, inner);
    vec_push(arena, &out, outer);
    return out;
}

/* What takes the place of loops; the statements are of "arena". */
typedef struct Replace {
    Arena *arena;
    const Map *instead;
} Replace;

/* For ir_map_block. */
static void
replace_loop(void *data, Block *out, Stmt *s)
{
    const Replace *r = data;
    const Block *instead =
        s->kind == S_FOR ? map_get(r->instead, s->var) : NULL;
    if (instead == NULL) {
        vec_push(r->arena, out, s);
        return;
    }
    for (int k = 0; k < instead->n; k++) {
        vec_push(r->arena, out, instead->at[k]);
    }
}

void
split_replace(Func *func, const Map *instead)
{
    Replace r = {func->arena, instead};
    if (instead->n > 0) {
        func->body = ir_map_block(func->arena, &func->body, replace_loop, &r);
    }
}
