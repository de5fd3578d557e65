/* What a branch computes is made ahead of it, where many rounds take it.
 *
 *     for x in block {                         for x in block {
 *         let d = part[x - first]                  n += d[x - first] > 0 }
 *         if d > 0 {                           if 4 * n >= rounds {
 *             let v = sqrt(d) * k + 1              for x in block {
 *             store out[3 * x] = pow(v, g) ->          part[x - first] =
 *         }                                                sqrt(d) * k + 1 }
 *     }                                            for x in block {
 *                                                      if d > 0 { let v = part
 *                                                          store ... } }
 *                                              } else { as before }
 *
 * Stores far apart, or a call, keep the branch from SIMD; its arithmetic need
 * not wait for them.  Rounds that don't take the branch compute in vain then,
 * so they are counted first: most pictures have regions, blocks in which all
 * rounds take it or none.
 *
 * Rounds that don't take it compute with what the last one that does starts
 * from, so that nothing traps or warns that wouldn't anyway:
 *
 *     part[x - first] = sqrt(d > 0 ? d : d of that round) * k + 1
 *
 * Where nobody listens to warnings, they compute with what is theirs, and may
 * load what is in range in every round and not stored to by the loop.  The
 * rounds need not be independent: the second loop keeps their order, and the
 * first one reads nothing that it stores.
 * A branch that depends on the loop's variable only is left to pass regions,
 * which has no need to ask.
 */
#include "transforms/fission.h"

enum { SHARE = 4 }; /* one round in as many must take the branch */

static const Stmt *
branch_of(const Side *side)
{
    return side->f.loop->body.at[side->at];
}

static const Block *
block_of(const Side *side)
{
    const Stmt *branch = branch_of(side);
    return side->other ? &branch->els : &branch->body;
}

/* Is the side taken?  By a name, at the end of 'out'. */
static Expr *
name_taken(const Side *side, Block *out)
{
    const Stmt *branch = branch_of(side);
    Expr *cond = branch->value;
    cond = side->other ? ir_unary(side->f.pass->arena, E_NOT, cond) : cond;
    return ir_named(side->f.func, out, "taken", cond, branch->loc);
}

/* --- what may be computed ahead ------------------------------------------ */

/* May 'e' be computed in rounds that don't take the branch? */
static bool
is_free(const Side *side, Bounds *b, const Expr *e)
{
    bool deaf = side->f.func->deaf;
    bool load = deaf && e->op == E_LOAD && e->lanes == 0 &&
                e->nargs == e->buf->rank;
    bool ok = ir_reads(e)
                  ? load && bounds_in_range(b, e->buf, e->args, e->nargs)
                  : select_is_free(e, true);
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_free(side, b, e->args[i]);
    }
    return ok;
}

/* What stands before the branch: for both loops, where lanes can compute it. */
static void
assign_before(Side *side, Bounds *b)
{
    Fission *f = &side->f;
    for (int i = 0; i < side->at; i++) {
        Stmt *s = f->loop->body.at[i];
        if (s->kind == S_LET) {
            bool both = fission_for_both(f, s->value) ||
                        fission_for_first(f, s->value);
            fission_set_role(f, s->var, both ? ROLE_BOTH : ROLE_SECOND);
        } else {
            ir_each_stmt_of(s, fission_leave, f);
        }
        bounds_after(b, s);
    }
}

static void
assign_inside(Side *side, Bounds *b)
{
    Fission *f = &side->f;
    const Block *block = block_of(side);
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_LET && is_free(side, b, s->value)) {
            fission_set_role(f, s->var, fission_role_of(f, s->value));
        } else {
            ir_each_stmt_of(s, fission_leave, f);
        }
        if (s->kind == S_LET && fission_role(f, s->var) == ROLE_FIRST) {
            ir_each_node(s, fission_count, f);
        }
    }
}

/* What is left in the branch, and what it hands out, takes over. */
static void
assign_parts(Side *side)
{
    const Block *block = block_of(side);
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind != S_LET || fission_role(&side->f, s->var) != ROLE_FIRST) {
            ir_each_stmt_of(s, fission_find_parts, &side->f);
        }
    }
    fission_find_parts(&side->f, side->f.loop->body.at[side->at]);
}

/* Looks at both sides of the branch; names of one don't matter to the other. */
static bool
side_fits(Side *side, Bounds *b)
{
    const Expr *cond = branch_of(side)->value;
    bool fits = false;
    int mark = bounds_push(b);
    bounds_loop(b, side->f.loop);
    assign_before(side, b);
    bool guarded = side->f.guarded;
    bool asks = !fission_for_both(&side->f, cond) &&
                fission_for_first(&side->f, cond);
    for (int i = 0; i < 2 && asks && !fits; i++) {
        side->other = i > 0;
        side->f.guarded = guarded;
        side->f.parts.n = 0;
        side->f.ops = 0;
        assign_inside(side, b);
        assign_parts(side);
        fits = fission_is_worth(&side->f);
    }
    bounds_pop(b, mark);
    return fits;
}

/* --- the loops ------------------------------------------------------------ */

/* The LETs of 'block', but for the last ones from number 'n' on. */
static Block
lets_of(const Side *side, const Block *block, int n)
{
    Block out = {0};
    for (int i = 0; i < n; i++) {
        if (block->at[i]->kind == S_LET) {
            vec_push(side->f.pass->arena, &out, block->at[i]);
        }
    }
    return out;
}

/* What stands before the branch and computes what is in "needed". */
static Block
before(const Side *side, Map *needed)
{
    Block lets = lets_of(side, &side->f.loop->body, side->at);
    return fission_first_body(&side->f, &lets, needed);
}

static Carry
gathered(Func *func, const char *name, Op op, Expr *init, Expr *value)
{
    Var *var = ir_var(func, name, DT_I64, 0);
    Expr *now = ir_ref(func->arena, var);
    return (Carry){var, init, ir_binary(func->arena, op, now, value),
                   ir_var(func, name, DT_I64, 0)};
}

/* for x in block { n += is the branch taken?; last max= x if it is } */
static Stmt *
counting(const Side *side)
{
    Func *func = side->f.func;
    Arena *arena = func->arena;
    Stmt count = *side->f.loop;
    Map needed = map_new(side->f.pass->scratch);
    ir_each_node_of(branch_of(side)->value, ir_note_var, &needed);
    count.body = before(side, &needed);
    Expr *cond = name_taken(side, &count.body);
    Expr *one = ir_named(func, &count.body, "one",
                         ir_cast(arena, DT_I64, cond), count.loc);
    count.carries = ARENA_ARRAY(arena, Carry, 2);
    count.carries[count.ncarries++] =
        gathered(func, "n", E_ADD, ir_int(arena, DT_I64, 0), one);
    if (!func->deaf) {
        Expr *none = ir_int(arena, DT_I64, INT64_MIN);
        Expr *here = ir_select(arena, cond, ir_ref(arena, count.var), none);
        here = ir_named(func, &count.body, "here", here, count.loc);
        count.carries[count.ncarries++] =
            gathered(func, "last", E_MAX, none, here);
    }
    return fission_loop(&side->f, &count);
}

/* In rounds that don't take the branch, names that are "needed" in it become
 * what they are in round 'last': 'map' gets those that 'body' defines, and the
 * loop's variable, as chosen at its end.  'out' computes the values of 'last'.
 */
static void
choose(const Side *side, Expr *last, const Map *needed, Map *map, Block *body,
       Block *out)
{
    Arena *arena = side->f.pass->arena;
    Func *func = side->f.func;
    Map there = map_new(side->f.pass->scratch);
    Var *x = side->f.loop->var;
    map_set(&there, x, last);
    Block copy = ir_clone(func, body, &there);
    Expr *taken = name_taken(side, body);
    for (int i = 0; i < copy.n; i++) {
        vec_push(arena, out, copy.at[i]);
    }
    for (int i = -1; i < copy.n; i++) {
        Var *var = i < 0 ? x : body->at[i]->var;
        if (map_has(needed, var)) {
            Expr *value = ir_select(arena, taken, ir_ref(arena, var),
                                    map_get(&there, var));
            map_set(map, var, ir_named(func, body, var->name, value,
                                       branch_of(side)->loc));
        }
    }
}

/* The loop that computes for all rounds what the branch does; what it needs to
 * be computed before it is appended to 'out'. */
static Stmt *
ahead(const Side *side, Expr *last, Block *out)
{
    Arena *arena = side->f.pass->arena;
    const Block *block = block_of(side);
    Stmt loop = *side->f.loop;
    Map used = map_new(side->f.pass->scratch);
    Map needed = map_new(side->f.pass->scratch);
    Map map = map_new(side->f.pass->scratch);
    Block lets = lets_of(side, block, block->n);
    Block inside = fission_first_body(&side->f, &lets, &used);
    for (int i = 0; i < inside.n; i++) {
        ir_each_node(inside.at[i], ir_note_var, &needed);
    }
    ir_each_node_of(branch_of(side)->value, ir_note_var, &needed);
    loop.body = before(side, &needed);
    if (last != NULL) {
        choose(side, last, &used, &map, &loop.body, out);
    }
    for (int i = 0; i < inside.n; i++) {
        const Stmt *s = inside.at[i];
        vec_push(arena, &loop.body,
                 ir_let(arena, s->var, ir_subst(arena, s->value, &map),
                        s->loc));
    }
    fission_hand_over(&side->f, &loop, &loop.body);
    return fission_loop(&side->f, &loop);
}

/* The loop without that, under the old names. */
static Stmt *
behind(const Side *side)
{
    Arena *arena = side->f.pass->arena;
    const Block *block = block_of(side);
    Stmt *loop = ir_copy_stmt(arena, side->f.loop);
    Stmt *branch = ir_copy_stmt(arena, branch_of(side));
    Block rest = {0};
    fission_take_over(&side->f, loop, &rest);
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind != S_LET || fission_role(&side->f, s->var) != ROLE_FIRST) {
            vec_push(arena, &rest, s);
        }
    }
    *(side->other ? &branch->els : &branch->body) = rest;
    loop->body = ir_copy_block(arena, &loop->body);
    loop->body.at[side->at] = branch;
    return loop;
}

bool
fission_find_branch(Pass *pass, Func *func, Bounds *b, const Stmt *loop,
                    Side *out)
{
    DependWhy why;
    bool found = false;
    for (int i = 0; i < loop->body.n && !found; i++) {
        *out = (Side){fission_of(pass, func, loop), i, false};
        found = loop->body.at[i]->kind == S_IF && side_fits(out, b);
    }
    if (!found) {
        return false;
    }
    Block first = {0};
    Expr *last = func->deaf ? NULL : loop->lo;
    fission_name_rows(&out->f);
    return vector_allowed(pass->scratch, func, b, ahead(out, last, &first),
                          &why) &&
           vector_allowed(pass->scratch, func, b, counting(out), &why);
}

void
fission_branch(Side *side, const Stmt *loop, Block *out)
{
    Arena *arena = side->f.pass->arena;
    side->f.loop = loop;
    fission_make_rows(&side->f, out);
    Stmt *count = counting(side);
    vec_push(arena, out, count);
    Stmt *many = ir_stmt(arena, S_IF, (Loc){0}); /* nobody wrote it */
    Expr *n = ir_ref(arena, count->carries[0].out);
    Expr *last =
        side->f.func->deaf ? NULL : ir_ref(arena, count->carries[1].out);
    Expr *rounds = ir_binary(arena, E_SUB, loop->hi, loop->lo);
    Expr *share = ir_binary(arena, E_MUL, n, ir_int(arena, DT_I64, SHARE));
    many->value =
        ir_binary(arena, E_AND,
                  ir_binary(arena, E_LT, ir_int(arena, DT_I64, 0), n),
                  ir_binary(arena, E_LE, rounds, share));
    Stmt *first = ahead(side, last, &many->body);
    vec_push(arena, &many->body, first);
    vec_push(arena, &many->body, behind(side));
    vec_push(arena, &many->els, fission_loop(&side->f, loop));
    vec_push(arena, out, many);
}
