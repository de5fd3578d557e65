/* Rounds of a loop that go side by side through loops with an exit.
 *
 *     for x in 0..w {                for each strip x in first..end of 32 {
 *         let c = f(x)                   for each lane x { c[], z[] = 0 }
 *         while test {                   while more than a few lanes are in {
 *             carry z = 0                    for all 32 lanes, by SIMD {
 *             ...                   ->           z[] = alive ? next : z[]
 *             until u                            alive &= test & !u
 *         }                                      count += alive } }
 *         store out[x] = g(z)            finish the few one by one
 *     }                                  for each lane x { out[x] = g(z[]) } }
 *
 * How many rounds the inner loop takes differs from lane to lane, so that SIMD
 * over x needs masks: a lane that has left computes on, and what it computes is
 * not used.  The body is cut at its inner loops; what one part computes and
 * another one uses lies in arrays of an element per lane, on the stack.  When
 * few lanes are left, they finish in the loop as it was: a straggler costs no
 * more than it did.
 *
 * A name that is not used behind the inner loop needs no mask: in lanes that
 * have left it may become whatever it likes.  Where the host looks at the
 * floating-point flags it is masked all the same, since it could overflow.
 *
 * Side by side is another order than one after the other: rounds of x must be
 * independent, and the inner loops may only compute.
 */
#include "transforms/lockstep.h"

bool
lockstep_uneven(const Stmt *s)
{
    return s->kind == S_WHILE || (s->kind == S_FOR && s->until != NULL);
}

/* Straight parts and at least one such loop, nothing else. */
bool
lockstep_fits(const Stmt *loop)
{
    bool found = false;
    if (loop->ncarries > 0 || loop->nbinds > 0 || loop->until != NULL) {
        return false;
    }
    for (int i = 0; i < loop->body.n; i++) {
        const Stmt *s = loop->body.at[i];
        found |= lockstep_uneven(s);
        if (!lockstep_uneven(s) &&
            (s->kind == S_FOR || block_has_loop(&s->body) ||
             block_has_loop(&s->els))) {
            return false;
        }
    }
    return found;
}

/* --- may the inner loops run in lanes? ----------------------------------- */

/* In words, why 'e' has no form for lanes. */
static const char *
expr_why_not(const Expr *e)
{
    if (ir_reads(e)) {
        return "the loop inside reads memory";
    }
    if (e->op == E_CALL && !fn_has_lanes(e->fn)) {
        return "the loop inside calls a function";
    }
    if (e->op == E_IDIV || e->op == E_MOD) {
        return "the loop inside divides integers";
    }
    if (e->lanes > 0) {
        return "the loop inside works with small arrays";
    }
    const char *why = NULL;
    for (int i = 0; i < e->nargs && why == NULL; i++) {
        why = expr_why_not(e->args[i]);
    }
    return why;
}

/* For ir_each_expr. */
static void
look_expr(void *data, Expr **slot)
{
    const char **why = data;
    if (*why == NULL) {
        *why = expr_why_not(*slot);
    }
}

/* A straight block with selects in place of branches. */
static const char *
block_why_not(const Block *block)
{
    const char *why = NULL;
    for (int i = 0; i < block->n && why == NULL; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_IF) {
            return "a branch is left in the loop inside";
        }
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            return "the loop inside has another one in it";
        }
        if (s->kind != S_LET && (s->kind != S_CHECK || s->exc == X_INDEX)) {
            return "the loop inside does more than compute";
        }
        ir_each_expr(s, look_expr, &why);
    }
    return why;
}

/* The body and test of an inner loop, as they will be written. */
static const char *
inner_why_not(Arena *arena, const Func *func, Bounds *b, const Stmt *loop)
{
    if (loop->nbinds > 0) {
        return "arrays change places in the loop inside";
    }
    Stmt *s = lockstep_hoist(arena, NULL, b, loop, NULL);
    Block pre = select_form(arena, &s->pre, func->deaf);
    Block body = select_form(arena, &s->body, func->deaf);
    const char *why = block_why_not(&pre);
    if (why == NULL) {
        why = block_why_not(&body);
    }
    if (why == NULL) {
        ir_each_expr(s, look_expr, &why);
    }
    return why;
}

/* What the parts between the inner loops may do: branches are left as they
 * are.  Small arrays stay within one part, which is tested by their uses. */
static const char *
part_why_not(const Stmt *s)
{
    bool plain = s->kind == S_LET || s->kind == S_STORE || s->kind == S_CHECK ||
                 (s->kind == S_IF && s->nbinds == 0);
    const char *why = plain ? NULL : "it does more than compute and store";
    for (int i = 0; i < s->body.n && why == NULL; i++) {
        why = part_why_not(s->body.at[i]);
    }
    for (int i = 0; i < s->els.n && why == NULL; i++) {
        why = part_why_not(s->els.at[i]);
    }
    return why;
}

/* --- the parts of the body ----------------------------------------------- */

/* Defines 'var' in the part at hand. */
static void
define(Lockstep *m, const Var *var)
{
    if (var != NULL) {
        map_set(&m->defined, var, m->parts + m->part);
    }
}

/* For ir_each_stmt: everything that 's' defines by itself. */
static void
note_defs(void *data, Stmt *s)
{
    Lockstep *m = data;
    define(m, s->var);
    for (int i = 0; i < s->njoins; i++) {
        define(m, s->joins[i].out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        define(m, s->carries[i].var);
        define(m, s->carries[i].out);
    }
}

/* A use of 'var' in the part at hand. */
static void
note_use(Lockstep *m, Var *var)
{
    const Block *at = map_get(&m->defined, var);
    if (at == NULL || at == m->parts + m->part) {
        return;
    }
    VarVec *needs = &m->needs[m->part];
    for (int i = 0; i < needs->n; i++) {
        if (needs->at[i] == var) {
            return;
        }
    }
    m->vectors |= var->lanes > 0;
    vec_push(m->arena, needs, var);
    for (int i = 0; i < m->cross.n; i++) {
        if (m->cross.at[i].var == var) {
            return;
        }
    }
    Cross cross = {.var = var, .part = (int)(at - m->parts)};
    vec_push(m->arena, &m->cross, cross);
}

static void
use_expr(Lockstep *m, const Expr *e)
{
    if (e->op == E_VAR) {
        note_use(m, e->var);
    }
    for (int i = 0; i < e->nargs; i++) {
        use_expr(m, e->args[i]);
    }
}

static void
use_slot(void *data, Expr **slot)
{
    use_expr(data, *slot);
}

static void
note_uses(void *data, Stmt *s)
{
    ir_each_expr(s, use_slot, data);
}

Stmt *
lockstep_inner(const Lockstep *m, int part)
{
    return part % 2 == 1 ? m->parts[part].at[0] : NULL;
}

/* What an inner loop starts from is a use of the part before it, which stores
 * it. */
Lockstep
lockstep_cut(Arena *arena, const Stmt *loop)
{
    Lockstep m = {.arena = arena, .loop = loop, .nparts = 1};
    m.parts = ARENA_ARRAY(arena, Block, 2 * loop->body.n + 1);
    m.needs = ARENA_ARRAY(arena, VarVec, 2 * loop->body.n + 1);
    m.defined = map_new(arena);
    m.bufs = map_new(arena);
    for (int i = 0; i < loop->body.n; i++) {
        bool inner = lockstep_uneven(loop->body.at[i]);
        vec_push(arena, &m.parts[m.nparts - 1 + inner], loop->body.at[i]);
        m.nparts += inner ? 2 : 0;
    }
    for (m.part = 0; m.part < m.nparts; m.part++) {
        ir_each_stmt(&m.parts[m.part], note_defs, &m);
    }
    for (m.part = 0; m.part < m.nparts; m.part++) {
        ir_each_stmt(&m.parts[m.part], note_uses, &m);
        const Stmt *next =
            m.part + 1 < m.nparts ? lockstep_inner(&m, m.part + 1) : NULL;
        for (int i = 0; next != NULL && i < next->ncarries; i++) {
            use_expr(&m, next->carries[i].init);
        }
        if (next != NULL && next->kind == S_FOR) {
            use_expr(&m, next->lo);
        }
    }
    return m;
}

/* What the parts do, each where it stands. */
static const char *
parts_why_not(Arena *arena, const Func *func, Bounds *b, const Stmt *loop)
{
    const char *why = NULL;
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    for (int i = 0; i < loop->body.n && why == NULL; i++) {
        Stmt *s = loop->body.at[i];
        why = lockstep_uneven(s) ? inner_why_not(arena, func, b, s)
                                 : part_why_not(s);
        bounds_after(b, s);
    }
    bounds_pop(b, mark);
    return why;
}

const char *
lockstep_why_not(Arena *arena, const Func *func, Bounds *b, const Stmt *loop)
{
    int64_t lo;
    DependWhy depend;
    const char *why = parts_why_not(arena, func, b, loop);
    if (why == NULL && lockstep_cut(arena, loop).vectors) {
        why = "small arrays live across the loop inside";
    }
    if (why == NULL && !bounds_may_shift(b, loop) &&
        !(ir_const_int(loop->lo, &lo) && lo == 0)) {
        why = "its bounds may be huge";
    }
    if (why == NULL && !depend_independent(arena, func, b, loop, &depend)) {
        why = depend.text;
    }
    return why;
}
