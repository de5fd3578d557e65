/* Pass recur: what a round has stored the next one need not load.
 *
 *     for i in 1..n {                       let c0 = y[0], if there is a round
 *         let t = y[i - 1]                  for i in 1..n {
 *         store y[i] = t * k + a[i]   ->        carry c = c0
 *     }                                         let v = c * k + a[i]
 *                                               store y[i] = v
 *                                               next c = v }
 *
 * In a recurrence the load waits for the store to reach memory, or the buffer
 * in front of it: some five cycles in each round, often more than all else it
 * does.  Filters, running sums, dynamic programming and error diffusion are of
 * this kind.
 *
 * A load L of round i is what store S put there in round i - 1 if S is made in
 * every round, its place in round i - 1 is that of L in round i on every axis,
 * and no store in between meets it: neither those behind S in the round before
 * nor those in front of L in its own.  Places are compared as linear forms;
 * they surely differ where they do so by a constant on some axis.
 */
#include "transforms/transforms.h"

enum { MOST_ACCESSES = 40, MOST_CARRIES = 6 };

/* An access to memory.
 *   "e" "stmt"  the load and where it is; of a store, "e" is NULL
 *   "at"        how many statements of the body come before
 *   "sure"      made in every round
 *   "form"      of its indices; "known": they have one, which no store changes
 *   "fixed"     and nothing but the loop's variable changes it from round to
 *               round */
typedef struct Access {
    const Expr *e;
    Stmt *stmt;
    Buf *buf;
    Expr *const *index;
    int n;
    int at;
    bool sure;
    bool known;
    bool fixed;
    Linear form[MAX_RANK];
} Access;

/* A store whose value is handed on, by name, and the first load that it is for.
 */
typedef struct Hand {
    const Access *store;
    const Access *load;
    Var *var;
} Hand;

/* One loop.
 *   "b"        inside it, at the statement at hand
 *   "all"      its accesses, in the order of the program
 *   "at" "sure"  of the statement that is looked at */
typedef struct Recur {
    Pass *pass;
    Func *func;
    Bounds *b;
    Stmt *loop;
    VEC(Access) all;
    int at;
    bool sure;
    Stmt *stmt;
    Hand hands[MOST_CARRIES];
    int n;
} Recur;

/* --- accesses ------------------------------------------------------------ */

/* Takes away from what is known of 'access' what 'form' doesn't allow. */
static void
look_at_form(const Recur *r, Access *access, const Linear *form)
{
    for (int i = 0; i < form->terms.n; i++) {
        const Expr *atom = form->terms.at[i].atom;
        access->known &= !ir_has_load(atom);
        access->fixed &= ir_is_var(atom, r->loop->var) ||
                         loop_invariant(r->func, r->loop, atom);
    }
}

static void
note_access(Recur *r, const Expr *e, Buf *buf, Expr *const *index, int n)
{
    Access access = {.e = e, .stmt = r->stmt, .buf = buf, .index = index,
                     .n = n, .at = r->at, .sure = r->sure, .fixed = true};
    access.known = n == buf->rank;
    for (int i = 0; i < n && access.known; i++) {
        access.known = bounds_linear(r->b, index[i], &access.form[i]);
        if (access.known) {
            look_at_form(r, &access, &access.form[i]);
        }
    }
    vec_push(r->pass->scratch, &r->all, access);
}

/* For ir_each_node. */
static void
note_load(void *data, const Expr *e)
{
    Recur *r = data;
    if (ir_reads(e)) {
        note_access(r, e, e->buf, e->args, e->op == E_LOAD ? e->nargs : 0);
    }
}

static bool note_block(Recur *r, const Block *block, bool sure);

/* The joins are evaluated behind the branches: loads there would be noted too
 * early. */
static bool
joins_load(const Stmt *s)
{
    bool found = false;
    for (int i = 0; i < s->njoins && !found; i++) {
        found = ir_has_load(s->joins[i].then_val) ||
                ir_has_load(s->joins[i].else_val);
    }
    return found;
}

/* One side of the IF 's', with what is known there. */
static bool
note_side(Recur *r, const Stmt *s, bool taken)
{
    int mark = bounds_push(r->b);
    bounds_assume(r->b, s->value, taken);
    bool ok = note_block(r, taken ? &s->body : &s->els, false);
    bounds_pop(r->b, mark);
    return ok;
}

/* False: there is something that this doesn't understand. */
static bool
note_stmt(Recur *r, Stmt *s, bool sure)
{
    r->stmt = s;
    r->sure = sure;
    ir_each_node(s, note_load, r);
    if (s->kind == S_IF) {
        return !joins_load(s) && s->nbinds == 0 && note_side(r, s, true) &&
               note_side(r, s, false);
    }
    if (s->kind == S_STORE) {
        note_access(r, NULL, s->buf, s->index, s->nindex);
    }
    return s->kind == S_LET || s->kind == S_STORE || s->kind == S_CHECK ||
           s->kind == S_WARN;
}

static bool
note_block(Recur *r, const Block *block, bool sure)
{
    bool ok = true;
    for (int i = 0; i < block->n && ok; i++) {
        ok = note_stmt(r, block->at[i], sure);
        bounds_after(r->b, block->at[i]);
        r->at += sure;
    }
    return ok && r->all.n <= MOST_ACCESSES;
}

/* --- does a load meet a store? -------------------------------------------- */

/* What 'lhs' is on 'axis' less what 'rhs' was so many rounds before; false:
 * not a constant. */
static bool
distance(const Recur *r, const Access *lhs, const Access *rhs, int rounds,
         int axis, int64_t *out)
{
    Linear gap;
    Expr *x = ir_ref(r->pass->scratch, r->loop->var);
    if (!linear_sum(r->pass->scratch, &lhs->form[axis], 1, &rhs->form[axis], -1,
                    &gap) ||
        !linear_is_const(&gap, out)) {
        return false;
    }
    int64_t step = linear_coef(&rhs->form[axis], x);
    return !__builtin_mul_overflow(step, (int64_t)rounds, &step) &&
           !__builtin_add_overflow(*out, step, out);
}

/* Of other rounds only what is fixed can be compared. */
static bool
comparable(const Access *lhs, const Access *rhs, int rounds)
{
    return lhs->known && rhs->known &&
           (rounds == 0 || (lhs->fixed && rhs->fixed));
}

/* Surely one place / surely two places. */
static bool
same_place(const Recur *r, const Access *load, const Access *store, int rounds)
{
    bool same = comparable(load, store, rounds);
    int64_t gap;
    for (int i = 0; i < load->n && same; i++) {
        same = distance(r, load, store, rounds, i, &gap) && gap == 0;
    }
    return same;
}

static bool
other_place(const Recur *r, const Access *load, const Access *store, int rounds)
{
    bool other = false;
    int64_t gap;
    for (int i = 0; comparable(load, store, rounds) && i < load->n && !other;
         i++) {
        other = distance(r, load, store, rounds, i, &gap) && gap != 0;
    }
    return other;
}

/* Is 'load' what 'store' put there in the round before?  "all" is in the order
 * of the program. */
static bool
hands_on(const Recur *r, const Access *store, const Access *load)
{
    bool ok = load->buf == store->buf && store->sure &&
              !loop_makes(r->loop, load->buf) && same_place(r, load, store, 1);
    for (int i = 0; i < r->all.n && ok; i++) {
        const Access *other = &r->all.at[i];
        if (other->e != NULL) {
            continue;
        }
        if (other->buf != load->buf) {
            ok = !ir_may_share(other->buf, load->buf);
            continue;
        }
        ok = (other <= store || other_place(r, load, other, 1)) &&
             (other > load || other_place(r, load, other, 0));
    }
    return ok;
}

/* --- the first round ------------------------------------------------------ */

/* The index of 'load' in the first round, computed before the loop; NULL. */
static Expr *
first_index(const Recur *r, const Map *defs, Expr *index)
{
    Arena *arena = r->pass->arena;
    Map map = map_new(r->pass->scratch);
    map_set(&map, r->loop->var, r->loop->lo);
    Expr *e = loop_spelled_out(arena, defs, index);
    e = ir_subst(arena, e, &map);
    return !ir_has_load(e) && loop_invariant(r->func, r->loop, e) &&
                   loop_sees(r->pass->scratch, r->func, r->loop, e)
               ? e : NULL;
}

/* Is 'load' made in the first round whatever happens, or its place known to be
 * there?  "b" is before the loop. */
static bool
is_there(const Recur *r, const Access *load, Expr *const *index)
{
    Arena *arena = r->pass->scratch;
    bool sure = load->sure;
    for (int i = 0; i < load->at && sure; i++) {
        sure = !effects_of(r->loop->body.at[i]).check;
    }
    int mark = bounds_push(r->b);
    bounds_assume(r->b, ir_binary(arena, E_LT, r->loop->lo, r->loop->hi), true);
    bool there = sure || bounds_in_range(r->b, load->buf, index, load->n);
    bounds_pop(r->b, mark);
    return there;
}

/* What 'hand' begins with: an IF that loads it where there is a round, at the
 * end of 'out'; NULL: it can't be. */
static Expr *
first_value(const Recur *r, const Hand *hand, Block *out)
{
    Arena *arena = r->pass->arena;
    const Access *load = hand->load;
    Map defs = loop_defs(r->pass->scratch, &r->loop->body);
    Expr *index[MAX_RANK];
    for (int i = 0; i < load->n; i++) {
        index[i] = first_index(r, &defs, load->index[i]);
        if (index[i] == NULL) {
            return NULL;
        }
    }
    if (!is_there(r, load, index)) {
        return NULL;
    }
    DType dtype = load->buf->dtype;
    Stmt *branch = ir_stmt(arena, S_IF, r->loop->loc);
    Var *first = ir_var(r->func, load->buf->name, dtype, 0);
    Var *loaded = ir_var(r->func, load->buf->name, dtype, 0);
    branch->value = ir_binary(arena, E_LT, r->loop->lo, r->loop->hi);
    vec_push(arena, &branch->body,
             ir_let(arena, loaded, ir_load(arena, load->buf, index, load->n, 0),
                    r->loop->loc));
    branch->njoins = 1;
    branch->joins = ARENA_ARRAY(arena, Join, 1);
    branch->joins[0] = (Join){first, ir_ref(arena, loaded),
                              ir_zero(arena, dtype)};
    vec_push(arena, out, branch);
    return ir_ref(arena, first);
}

/* --- the change ----------------------------------------------------------- */

/* For ir_map: loads become the carries. */
static Expr *
use_carry(void *data, Expr *e)
{
    const Recur *r = data;
    for (int i = 0; i < r->all.n && e->op == E_LOAD; i++) {
        const Access *load = &r->all.at[i];
        for (int k = 0; k < r->n && load->e != NULL &&
                        load->stmt == r->stmt && ir_equal(load->e, e); k++) {
            if (hands_on(r, r->hands[k].store, load)) {
                return ir_ref(r->pass->arena, r->hands[k].var);
            }
        }
    }
    return e;
}

/* For ir_each_expr. */
static void
use_slot(void *data, Expr **slot)
{
    Recur *r = data;
    *slot = ir_map(r->pass->arena, *slot, use_carry, r);
}

/* For ir_each_stmt. */
static void
use_stmt(void *data, Stmt *s)
{
    Recur *r = data;
    r->stmt = s;
    ir_each_expr(s, use_slot, r);
}

/* The value of each store that is handed on gets a name in front of it. */
static void
name_values(Recur *r, Expr **values)
{
    Arena *arena = r->pass->arena;
    Block body = {0};
    for (int i = 0; i < r->loop->body.n; i++) {
        Stmt *s = r->loop->body.at[i];
        for (int k = 0; k < r->n; k++) {
            if (r->hands[k].store->stmt == s && values[k] == NULL) {
                Var *var = ir_var(r->func, s->buf->name, s->value->dtype, 0);
                vec_push(arena, &body, ir_let(arena, var, s->value, s->loc));
                s->value = ir_ref(arena, var);
                values[k] = s->value;
            }
        }
        vec_push(arena, &body, s);
    }
    r->loop->body = body;
}

/* Adds the carries to the loop; what they begin with is at the end of 'out'. */
static void
add_carries(Recur *r, Expr **firsts)
{
    Arena *arena = r->pass->arena;
    Stmt *loop = r->loop;
    Expr *values[MOST_CARRIES] = {NULL};
    ir_each_stmt(&loop->body, use_stmt, r);
    name_values(r, values);
    Carry *carries = ARENA_ARRAY(arena, Carry, loop->ncarries + r->n);
    for (int i = 0; i < loop->ncarries; i++) {
        carries[i] = loop->carries[i];
    }
    for (int k = 0; k < r->n; k++) {
        const Var *var = r->hands[k].var;
        Var *last = ir_var(r->func, var->name, var->dtype, 0);
        carries[loop->ncarries + k] =
            (Carry){r->hands[k].var, firsts[k], values[k], last};
    }
    loop->carries = carries;
    loop->ncarries += r->n;
}

/* Stores that hand on something, each with the first load of it. */
static void
find_hands(Recur *r)
{
    for (int s = 0; s < r->all.n; s++) {
        const Access *store = &r->all.at[s];
        for (int l = 0; l < r->all.n && store->e == NULL; l++) {
            const Access *load = &r->all.at[l];
            if (load->e != NULL && load->e->lanes == 0 &&
                r->n < MOST_CARRIES && hands_on(r, store, load)) {
                Var *var = ir_var(r->func, store->buf->name,
                                  store->buf->dtype, 0);
                r->hands[r->n++] = (Hand){store, load, var};
                break;
            }
        }
    }
}

/* 'loop', rewritten; what must come before it is appended to 'out'. */
static void
change_loop(Pass *pass, Func *func, Bounds *b, Stmt *loop, Block *out)
{
    Recur r = {.pass = pass, .func = func, .b = b, .loop = loop};
    Expr *firsts[MOST_CARRIES];
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    bool ok = note_block(&r, &loop->body, true);
    bounds_pop(b, mark);
    if (ok) {
        find_hands(&r);
    }
    int n = 0;
    for (int k = 0; k < r.n; k++) {
        Expr *first = first_value(&r, &r.hands[k], out);
        if (first != NULL) {
            firsts[n] = first;
            r.hands[n++] = r.hands[k];
        }
    }
    r.n = n;
    if (n > 0) {
        add_carries(&r, firsts);
    }
}

/* --- the walk ------------------------------------------------------------- */

/* Innermost loops that run in order; "before": Var * -> Block *, what is to
 * stand in front of the loop that counts it. */
typedef struct Walk {
    Pass *pass;
    Func *func;
    Map before;
} Walk;

/* For bounds_visit. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Walk *w = data;
    if (s->kind == S_FOR && s->mode == LOOP_SERIAL && s->until == NULL &&
        s->nbinds == 0 && !block_has_loop(&s->body)) {
        Block *out = ARENA_NEW(w->pass->scratch, Block);
        change_loop(w->pass, w->func, b, s, out);
        if (out->n > 0) {
            map_set(&w->before, s->var, out);
        }
    }
    return true;
}

/* For ir_map_block. */
static void
place(void *data, Block *out, Stmt *s)
{
    Walk *w = data;
    const Block *before = s->kind == S_FOR ? map_get(&w->before, s->var) : NULL;
    for (int k = 0; before != NULL && k < before->n; k++) {
        vec_push(w->pass->arena, out, before->at[k]);
    }
    vec_push(w->pass->arena, out, s);
}

/* Changes 'func' in place. */
Func *
pass_recur(Pass *pass, Func *func)
{
    Walk w = {.pass = pass, .func = func};
    w.before = map_new(pass->scratch);
    bounds_visit(pass->scratch, func, visit, &w);
    if (w.before.n > 0) {
        func->body = ir_map_block(pass->arena, &func->body, place, &w);
    }
    return func;
}
