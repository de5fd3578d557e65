/* Pass 'ssa': every name is assigned once.
 *
 *     set s = 0                        for i in 0..n carry %s1 = 0 {
 *     for i in 0..n {          -->         let %s2 = s1 + a[i]
 *         set s = s + a[i]                 next %s1 = %s2
 *     }                                } -> %s3
 *     ret s                            ret %s3
 *
 * Structured single assignment, as in MLIR's scf: since 'exits' left nothing
 * but nested IFs and loops, no dominance frontier is needed.  One walk keeps
 * an environment 'SET variable -> its present value'.  At an IF both branches
 * start from the same environment, and each variable whose values differ at
 * the end becomes a join.  A loop carries every variable that its body sets;
 * those that turn out never to be read across rounds are dropped by
 * 'simplify', which knows uses, and not here.
 *
 * A variable that has no value yet (set on one path only, and by construction
 * read only under a flag) counts as zero.
 *
 * Variables set in a WHILE's test are temporaries of the test: lower never
 * reads them after the loop.
 */
#include "transforms/transforms.h"

/* The walk's state: "env" is what each SET variable holds where the walk
 * stands; "func" gets the new Vars. */
typedef struct Ssa {
    Pass *pass;
    Func *func;
    Map env; /* Var * that is SET -> Expr * */
} Ssa;

static void ssa_block(Ssa *ssa, const Block *in, Block *out);

/* The value of a variable that has none yet; its paths never read it. */
static Expr *
zero_of(Ssa *ssa, const Var *var)
{
    Arena *a = ssa->pass->arena;
    Expr *zero = var->dtype == DT_BOOL ? ir_bool(a, false)
                 : dtype_is_float(var->dtype)
                     ? ir_float(a, var->dtype, 0.0)
                     : ir_int(a, var->dtype, 0);
    return var->lanes > 0 ? ir_splat(a, zero, var->lanes) : zero;
}

/* What 'var' holds in 'env'. */
static Expr *
value_of(Ssa *ssa, const Map *env, const Var *var)
{
    Expr *value = map_get(env, var);
    return value != NULL ? value : zero_of(ssa, var);
}

/* Puts present values in place of SET variables. For ir_each_expr. */
static void
subst_slot(void *data, Expr **slot)
{
    Ssa *ssa = data;
    *slot = ir_subst(ssa->pass->arena, *slot, &ssa->env);
}

/* For ir_each_stmt: 'data' is the Map of sets_of. */
static void
note_set(void *data, Stmt *s)
{
    if (s->kind == S_SET) {
        map_set(data, s->var, s->var);
    }
}

/* The variables that 'block' sets, in order of first appearance. */
static Map
sets_of(Ssa *ssa, const Block *block)
{
    Map sets = map_new(ssa->pass->scratch);
    ir_each_stmt(block, note_set, &sets);
    return sets;
}

/* From here on the variable is this value. A constant or a name goes into the
 * environment as it is, anything else by a LET, so that no expression is
 * copied to where the variable is read. */
static void
ssa_set(Ssa *ssa, const Stmt *s, Block *out)
{
    Arena *a = ssa->pass->arena;
    Expr *value = ir_subst(a, s->value, &ssa->env);
    if (!ir_is_const(value) && value->op != E_VAR) {
        Var *var =
            ir_var(ssa->func, s->var->name, s->var->dtype, s->var->lanes);
        vec_push(a, out, ir_let(a, var, value, s->loc));
        value = ir_ref(a, var);
    }
    map_set(&ssa->env, s->var, value);
}

/* Joins of an IF: every variable whose value differs between the ends of the
 * branches. Both environments grew from 'before', so a variable is missing in
 * one only if the other side set it for the first time. */
static void
join_branches(Ssa *ssa, Stmt *s, const Map *before, const Map *then,
              const Map *els)
{
    Arena *a = ssa->pass->arena;
    VEC(Join) joins = {0};
    ssa->env = map_copy(before);
    for (int side = 0; side < 2; side++) {
        const Map *map = side == 0 ? then : els;
        for (int i = 0; i < map->n; i++) {
            const Var *key = map->entries[i].key;
            if (side == 1 && map_has(then, key)) {
                continue; /* seen from the other side */
            }
            Expr *yes = value_of(ssa, then, key);
            Expr *no = value_of(ssa, els, key);
            if (yes == no || ir_equal(yes, no)) {
                map_set(&ssa->env, key, yes);
                continue;
            }
            Var *out = ir_var(ssa->func, key->name, key->dtype, key->lanes);
            vec_push(a, &joins, ((Join){out, yes, no}));
            map_set(&ssa->env, key, ir_ref(a, out));
        }
    }
    s->joins = joins.at;
    s->njoins = joins.n;
}

/* Both branches from the present environment; then the joins are it. */
static void
ssa_if(Ssa *ssa, Stmt *s, Block *out)
{
    Block then = s->body;
    Block els = s->els;
    Map before = ssa->env;
    s->body = (Block){0};
    s->els = (Block){0};
    ssa->env = map_copy(&before);
    ssa_block(ssa, &then, &s->body);
    Map after_then = ssa->env;
    ssa->env = map_copy(&before);
    ssa_block(ssa, &els, &s->els);
    Map after_else = ssa->env;
    join_branches(ssa, s, &before, &after_then, &after_else);
    vec_push(ssa->pass->arena, out, s);
}

/* Puts fresh carried Vars for all of 'sets' into the environment: in any round
 * but the first they are what the round before left. */
static void
open_carries(Ssa *ssa, Stmt *s, const Map *sets)
{
    Arena *a = ssa->pass->arena;
    s->ncarries = sets->n;
    s->carries = ARENA_ARRAY(a, Carry, sets->n);
    Map before = ssa->env;
    ssa->env = map_copy(&before);
    for (int i = 0; i < sets->n; i++) {
        const Var *key = sets->entries[i].key;
        Carry *c = &s->carries[i];
        c->init = value_of(ssa, &before, key);
        c->var = ir_var(ssa->func, key->name, key->dtype, key->lanes);
        c->out = ir_var(ssa->func, key->name, key->dtype, key->lanes);
        map_set(&ssa->env, key, ir_ref(a, c->var));
    }
}

/* A loop carries all that its body sets. "pre", the test and the body see the
 * carried Vars, "next" and "until" the values at the end of the round;
 * afterwards the environment is that of before, with the outs. */
static void
ssa_loop(Ssa *ssa, Stmt *s, Block *out)
{
    Arena *a = ssa->pass->arena;
    Block body = s->body;
    Block pre = s->pre;
    Map before = ssa->env;
    Map sets = sets_of(ssa, &body);
    open_carries(ssa, s, &sets);
    s->pre = (Block){0};
    ssa_block(ssa, &pre, &s->pre);
    if (s->kind == S_WHILE) {
        subst_slot(ssa, &s->value);
    }
    s->body = (Block){0};
    ssa_block(ssa, &body, &s->body);
    for (int i = 0; i < sets.n; i++) {
        s->carries[i].next = value_of(ssa, &ssa->env, sets.entries[i].key);
    }
    if (s->until != NULL) {
        subst_slot(ssa, &s->until);
    }
    ssa->env = map_copy(&before);
    for (int i = 0; i < sets.n; i++) {
        map_set(&ssa->env, sets.entries[i].key, ir_ref(a, s->carries[i].out));
    }
    vec_push(a, out, s);
}

/* Dimensions may be given by variables: they are values from here on. */
static void
ssa_alloc(Ssa *ssa, Stmt *s)
{
    for (int i = 0; i < s->buf->rank; i++) {
        subst_slot(ssa, &s->buf->dims[i]);
    }
}

/* Statements in order, each copied: 'in' stays as it is. */
static void
ssa_block(Ssa *ssa, const Block *in, Block *out)
{
    Arena *a = ssa->pass->arena;
    for (int i = 0; i < in->n; i++) {
        Stmt *s = arena_copy(a, in->at[i], sizeof(Stmt));
        switch ((int)s->kind) {
        case S_SET:
            ssa_set(ssa, s, out);
            break;
        case S_IF:
            subst_slot(ssa, &s->value);
            ssa_if(ssa, s, out);
            break;
        case S_FOR:
            subst_slot(ssa, &s->lo);
            subst_slot(ssa, &s->hi);
            ssa_loop(ssa, s, out);
            break;
        case S_WHILE:
            ssa_loop(ssa, s, out);
            break;
        case S_ALLOC:
            ssa_alloc(ssa, s);
            vec_push(a, out, s);
            break;
        default:
            if (s->nindex > 0) {
                s->index = arena_copy(a, s->index,
                                      sizeof(Expr *) * (size_t)s->nindex);
            }
            ir_each_expr(s, subst_slot, ssa);
            vec_push(a, out, s);
        }
    }
}

/* Changes 'func' in place and raises it to L_LOOPS. Results are read in the
 * environment at the end. */
Func *
pass_ssa(Pass *pass, Func *func)
{
    Ssa ssa = {.pass = pass, .func = func, .env = map_new(pass->scratch)};
    Block body = {0};
    ssa_block(&ssa, &func->body, &body);
    func->body = body;
    func->level = L_LOOPS;
    for (int i = 0; i < func->rets.n; i++) {
        Ret *ret = &func->rets.at[i];
        if (ret->value != NULL) {
            ret->value = ir_subst(pass->arena, ret->value, &ssa.env);
        }
    }
    return func;
}
