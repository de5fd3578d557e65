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
 *
 * Names that are bound to arrays (BIND) are treated as variables whose values
 * are buffers; where these differ, an IF or loop gets a Bind, and its BUF_REF
 * has joins or carries of its own as extents.  A name without an array counts
 * as an array without elements.
 */
#include "transforms/transforms.h"

/* The walk's state.
 *   "env"  what each SET variable and bound name holds where the walk stands:
 *          Var * -> Expr *, Buf * -> Buf *
 *   "names"  the Buf * that are bound anywhere
 *   "start"  what stands before all else: arrays for names that have none */
typedef struct Ssa {
    Pass *pass;
    Func *func;
    Map env;
    Map names;
    Block start;
} Ssa;

typedef VEC(Join) JoinVec;
typedef VEC(Bind) BindVec;
typedef VEC(Carry) CarryVec;

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

/* The array that 'name' holds in 'env'. */
static Buf *
array_of(const Map *env, Buf *name)
{
    Buf *array = name != NULL ? map_get(env, name) : NULL;
    return array != NULL ? array : name;
}

/* What a name stands for that has no array: every name its own, else all of
 * them would seem to be tied together. Names that always have one before they
 * are used leave nothing of it behind ('simplify'). */
static void
give_nowhere(Ssa *ssa, Buf *name)
{
    Arena *a = ssa->pass->arena;
    Buf *none =
        ir_buf(ssa->func, name->name, name->dtype, name->rank, BUF_LOCAL);
    for (int i = 0; i < name->rank; i++) {
        bool fixed = ir_is_const(name->dims[i]);
        none->dims[i] = fixed ? name->dims[i] : ir_int(a, DT_I64, 0);
    }
    Stmt *alloc = ir_stmt(a, S_ALLOC, name->loc);
    none->loc = name->loc;
    alloc->buf = none;
    vec_push(a, &ssa->start, alloc);
    map_set(&ssa->env, name, none);
    map_set(&ssa->names, name, name);
}

/* For ir_each_stmt: names that are bound anywhere. */
static void
note_name(void *data, Stmt *s)
{
    Ssa *ssa = data;
    if (s->kind == S_BIND && !map_has(&ssa->names, s->buf)) {
        give_nowhere(ssa, s->buf);
    }
}

/* A name for what 'name' is at a join or in a loop; its extents are still to be
 * set where they are no constants. */
static Buf *
fresh_name(Ssa *ssa, const Buf *name)
{
    Buf *ref = ir_buf(ssa->func, name->name, name->dtype, name->rank, BUF_REF);
    ref->loc = name->loc;
    for (int i = 0; i < name->rank; i++) {
        if (ir_is_const(name->dims[i])) {
            ref->dims[i] = name->dims[i];
        }
    }
    return ref;
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
    if (s->kind == S_BIND) {
        map_set(data, s->buf, s->buf);
    }
}

/* The variables that 'block' sets and the names that it binds, in order of
 * first appearance. */
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

/* Where the environments of two branches meet: what differs so far. */
typedef struct Meet {
    const Map *then;
    const Map *els;
    JoinVec joins;
    BindVec binds;
} Meet;

/* A name for one of two arrays, with a join for each extent that differs. */
static Buf *
join_arrays(Ssa *ssa, Meet *meet, const Buf *name, Buf *yes, Buf *no)
{
    Arena *a = ssa->pass->arena;
    Buf *out = fresh_name(ssa, name);
    for (int i = 0; i < out->rank; i++) {
        if (ir_is_const(out->dims[i])) {
            continue;
        }
        Var *dim = ir_var(ssa->func, name->name, DT_I64, 0);
        Join join = {dim, ir_dim(a, yes, i), ir_dim(a, no, i)};
        vec_push(a, &meet->joins, join);
        out->dims[i] = ir_ref(a, dim);
    }
    vec_push(a, &meet->binds, ((Bind){NULL, yes, no, out}));
    return out;
}

/* What the bound name 'name' is behind an IF. */
static void
meet_name(Ssa *ssa, Meet *meet, Buf *name)
{
    Buf *yes = array_of(meet->then, name);
    Buf *no = array_of(meet->els, name);
    Buf *out = yes == no ? yes : join_arrays(ssa, meet, name, yes, no);
    map_set(&ssa->env, name, out);
}

/* What the SET variable 'var' is behind an IF. */
static void
meet_var(Ssa *ssa, Meet *meet, const Var *var)
{
    Arena *a = ssa->pass->arena;
    Expr *yes = value_of(ssa, meet->then, var);
    Expr *no = value_of(ssa, meet->els, var);
    if (yes == no || ir_equal(yes, no)) {
        map_set(&ssa->env, var, yes);
        return;
    }
    Var *out = ir_var(ssa->func, var->name, var->dtype, var->lanes);
    vec_push(a, &meet->joins, ((Join){out, yes, no}));
    map_set(&ssa->env, var, ir_ref(a, out));
}

/* Joins of an IF: every variable whose value differs between the ends of the
 * branches. Both environments grew from 'before', so a variable is missing in
 * one only if the other side set it for the first time; names are in all. */
static void
join_branches(Ssa *ssa, Stmt *s, const Map *before, const Map *then,
              const Map *els)
{
    Meet meet = {.then = then, .els = els};
    ssa->env = map_copy(before);
    for (int side = 0; side < 2; side++) {
        const Map *map = side == 0 ? then : els;
        for (int i = 0; i < map->n; i++) {
            const void *key = map->entries[i].key;
            if (side == 1 && map_has(then, key)) {
                continue; /* seen from the other side */
            }
            Buf *name = map_get(&ssa->names, key);
            if (name != NULL) {
                meet_name(ssa, &meet, name);
            } else {
                meet_var(ssa, &meet, key);
            }
        }
    }
    s->joins = meet.joins.at;
    s->njoins = meet.joins.n;
    s->binds = meet.binds.at;
    s->nbinds = meet.binds.n;
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

/* A carry of a fresh Var; its "next" comes with the end of the body. */
static Expr *
add_carry(Ssa *ssa, CarryVec *carries, const Var *like, Expr *init)
{
    Carry c = {.init = init};
    c.var = ir_var(ssa->func, like->name, like->dtype, like->lanes);
    c.out = ir_var(ssa->func, like->name, like->dtype, like->lanes);
    vec_push(ssa->pass->arena, carries, c);
    return ir_ref(ssa->pass->arena, c.var);
}

/* A Bind for 'name' and a carry for each of its extents; the present array is
 * 'init'. */
static void
add_bind(Ssa *ssa, BindVec *binds, CarryVec *carries, const Buf *name,
         Buf *init)
{
    Arena *a = ssa->pass->arena;
    Bind bind = {.var = fresh_name(ssa, name), .init = init};
    bind.out = fresh_name(ssa, name);
    for (int i = 0; i < name->rank; i++) {
        if (ir_is_const(name->dims[i])) {
            continue;
        }
        Var like = {name->name, 0, DT_I64, 0};
        bind.var->dims[i] =
            add_carry(ssa, carries, &like, ir_dim(a, init, i));
        bind.out->dims[i] = ir_ref(a, vec_last(carries).out);
    }
    vec_push(a, binds, bind);
}

/* Puts fresh carried Vars and names for all of 'sets' into the environment: in
 * any round but the first they are what the round before left. */
static void
open_carries(Ssa *ssa, Stmt *s, const Map *sets)
{
    CarryVec carries = {0};
    BindVec binds = {0};
    Map before = ssa->env;
    ssa->env = map_copy(&before);
    for (int i = 0; i < sets->n; i++) {
        const void *key = sets->entries[i].key;
        Buf *name = map_get(&ssa->names, key);
        if (name != NULL) {
            add_bind(ssa, &binds, &carries, name, array_of(&before, name));
            map_set(&ssa->env, name, vec_last(&binds).var);
        } else {
            Expr *init = value_of(ssa, &before, key);
            map_set(&ssa->env, key, add_carry(ssa, &carries, key, init));
        }
    }
    s->carries = carries.at;
    s->ncarries = carries.n;
    s->binds = binds.at;
    s->nbinds = binds.n;
}

/* What the round hands on, in the order of open_carries. */
static void
close_carries(Ssa *ssa, Stmt *s, const Map *sets)
{
    Arena *a = ssa->pass->arena;
    Carry *carry = s->carries;
    Bind *bind = s->binds;
    for (int i = 0; i < sets->n; i++) {
        const void *key = sets->entries[i].key;
        Buf *name = map_get(&ssa->names, key);
        if (name == NULL) {
            carry++->next = value_of(ssa, &ssa->env, key);
            continue;
        }
        bind->next = array_of(&ssa->env, name);
        for (int k = 0; k < name->rank; k++) {
            if (!ir_is_const(name->dims[k])) {
                carry++->next = ir_dim(a, bind->next, k);
            }
        }
        bind++;
    }
}

/* The environment behind the loop: that of before, with the outs. */
static void
leave_loop(Ssa *ssa, const Stmt *s, const Map *before, const Map *sets)
{
    Arena *a = ssa->pass->arena;
    const Carry *carry = s->carries;
    const Bind *bind = s->binds;
    ssa->env = map_copy(before);
    for (int i = 0; i < sets->n; i++) {
        const void *key = sets->entries[i].key;
        Buf *name = map_get(&ssa->names, key);
        if (name == NULL) {
            map_set(&ssa->env, key, ir_ref(a, carry++->out));
            continue;
        }
        for (int k = 0; k < name->rank; k++) {
            carry += !ir_is_const(name->dims[k]);
        }
        map_set(&ssa->env, name, bind++->out);
    }
}

/* A loop carries all that its body sets. "pre", the test and the body see the
 * carried Vars, "next" and "until" the values at the end of the round. */
static void
ssa_loop(Ssa *ssa, Stmt *s, Block *out)
{
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
    close_carries(ssa, s, &sets);
    if (s->until != NULL) {
        subst_slot(ssa, &s->until);
    }
    leave_loop(ssa, s, &before, &sets);
    vec_push(ssa->pass->arena, out, s);
}

/* Dimensions may be given by variables: they are values from here on. */
static void
ssa_alloc(Ssa *ssa, Stmt *s)
{
    for (int i = 0; i < s->buf->rank; i++) {
        subst_slot(ssa, &s->buf->dims[i]);
    }
}

/* The extents of a view get names where they are no leaves: what it is a part
 * of may be changed before they are asked for. */
static void
ssa_view(Ssa *ssa, Stmt *s, Block *out)
{
    Arena *a = ssa->pass->arena;
    s->src = array_of(&ssa->env, s->src);
    s->index = arena_copy(a, s->index, sizeof(Expr *) * (size_t)s->nindex);
    for (int i = 0; i < s->nindex; i++) {
        subst_slot(ssa, &s->index[i]);
    }
    for (int k = 0; k < s->buf->rank; k++) {
        Expr **extent = &s->index[s->src->rank + 2 * k];
        if ((*extent)->nargs > 0) {
            Var *var = ir_var(ssa->func, s->buf->name, DT_I64, 0);
            vec_push(a, out, ir_let(a, var, *extent, s->loc));
            *extent = ir_ref(a, var);
        }
        s->buf->dims[k] = *extent;
    }
    vec_push(a, out, s);
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
        case S_BIND:
            map_set(&ssa->env, s->buf, array_of(&ssa->env, s->src));
            break;
        case S_VIEW:
            ssa_view(ssa, s, out);
            break;
        default:
            s->buf = array_of(&ssa->env, s->buf);
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
    ssa.names = map_new(pass->scratch);
    ir_each_stmt(&func->body, note_name, &ssa);
    Block body = ssa.start;
    ssa_block(&ssa, &func->body, &body);
    func->body = body;
    func->level = L_LOOPS;
    names_refine(func);
    for (int i = 0; i < func->rets.n; i++) {
        Ret *ret = &func->rets.at[i];
        if (ret->value != NULL) {
            ret->value = ir_subst(pass->arena, ret->value, &ssa.env);
        }
    }
    return func;
}
