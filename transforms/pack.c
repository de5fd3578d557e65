/* Pass pack: channels that are written one by one are written as one pixel.
 *
 *     for x in 0..w {                          for x in 0..w {
 *         store out[y, x, 0] = a[y, x, 0] * k      let v <3> = a[y, x] * k
 *         store out[y, x, 1] = a[y, x, 1] * k  ->  store out[y, x] <3> = v
 *         store out[y, x, 2] = a[y, x, 2] * k  }
 *     }
 *
 * Such a loop steps over its elements, and has no SIMD; as one over pixels it
 * can be flattened (flatten.c) to a loop over the elements of the row.  It is
 * left as it is where that would be refused, since only then it is faster.
 *
 * The loop's body is straight-line code (branches that only compute have become
 * selects), each of its stores one of a group that
 * writes all channels of one pixel, and the values of a group are made in one
 * way, lane by lane: the same operations of channels of pixels and of numbers.
 * All loads and stores move to the end of the round.  So a load may be of what
 * the round stores only where lane and pixel are those of the store; a lane
 * then meets itself alone, as before.
 */
#include "transforms/transforms.h"

enum { MAX_CHANNELS = 8, MAX_GROUPS = 4 };

/* Stores that write all channels of one pixel.
 *   "store"  the first of them
 *   "value"  by channel; NULL: not found yet
 *   "found"  how many there are */
typedef struct Group {
    const Stmt *store;
    Expr *value[MAX_CHANNELS];
    int found;
} Group;

/* Values that were packed before, under a name. */
typedef struct Packed {
    Expr *lane[MAX_CHANNELS];
    Expr *whole;
} Packed;

/* One loop while it is rewritten.
 *   "lets"    Var * -> value: of the body
 *   "groups"  of its stores, "n" of them
 *   "group"   whose values are packed now
 *   "lanes"   channels of a pixel
 *   "done"    values that have a name
 *   "body"    the new one */
typedef struct Pack {
    Pass *pass;
    Func *func;
    const Stmt *loop;
    Map lets;
    Group groups[MAX_GROUPS];
    int n;
    const Group *group;
    int lanes;
    VEC(Packed) done;
    Block body;
} Pack;

static Expr *pack_lanes(Pack *p, Expr *const *lane);

/* --- groups of stores ---------------------------------------------------- */

/* The channel that the last index names, if the buffer's pixels have 'lanes' of
 * them (0: a few); else -1. */
static int
channel_of(const Buf *buf, Expr *const *index, int n, int lanes)
{
    int64_t size = 0;
    int64_t channel = -1;
    bool pixel = buf->rank >= 2 && n == buf->rank &&
                 ir_const_int(buf->dims[buf->rank - 1], &size) && size > 1 &&
                 size <= MAX_CHANNELS && (lanes == 0 || size == lanes) &&
                 ir_const_int(index[n - 1], &channel);
    return pixel && channel >= 0 && channel < size ? (int)channel : -1;
}

/* Do the first 'n' indices agree? */
static bool
same_pixel(Expr *const *lhs, Expr *const *rhs, int n)
{
    bool same = true;
    for (int i = 0; i < n; i++) {
        same = same && ir_equal(lhs[i], rhs[i]);
    }
    return same;
}

/* A further channel of a group, or the first one of another; false: not of
 * this kind, or written twice. */
static bool
add_store(Pack *p, const Stmt *s)
{
    int channel = channel_of(s->buf, s->index, s->nindex, p->lanes);
    if (channel < 0 || s->value->lanes != 0) {
        return false;
    }
    int64_t size = 0;
    ir_const_int(s->buf->dims[s->buf->rank - 1], &size);
    p->lanes = (int)size;
    int i = 0;
    while (i < p->n && p->groups[i].store->buf != s->buf) {
        i++;
    }
    if (i == MAX_GROUPS) {
        return false;
    }
    Group *group = &p->groups[i];
    if (i == p->n) {
        *group = (Group){.store = s};
        p->n++;
    }
    bool fits = group->value[channel] == NULL &&
                same_pixel(group->store->index, s->index, s->nindex - 1);
    group->value[channel] = s->value;
    group->found++;
    return fits;
}

/* Finds LETs and groups; false: there is something else, a group is not
 * complete, or two of them may meet. */
static bool
find_groups(Pack *p)
{
    bool ok = p->loop->ncarries == 0 && p->loop->until == NULL;
    for (int i = 0; i < p->loop->body.n && ok; i++) {
        Stmt *s = p->loop->body.at[i];
        ok = s->kind == S_LET || (s->kind == S_STORE && add_store(p, s));
        if (s->kind == S_LET) {
            map_set(&p->lets, s->var, s->value);
        }
    }
    for (int i = 0; i < p->n && ok; i++) {
        ok = p->groups[i].found == p->lanes;
        for (int j = 0; j < i; j++) {
            ok = ok && !effects_may_alias(p->func, p->groups[i].store->buf,
                                          p->groups[j].store->buf);
        }
    }
    return ok && p->n > 0;
}

/* --- values -------------------------------------------------------------- */

/* May the loop's stores change what is in 'buf'? */
static bool
is_stored(const Pack *p, const Buf *buf)
{
    bool found = false;
    for (int i = 0; i < p->n; i++) {
        found |= effects_may_alias(p->func, p->groups[i].store->buf, buf);
    }
    return found;
}

/* Does 'e', seen through the LETs of the body, read what the round stores? */
static bool
reads_stored(const Pack *p, const Expr *e)
{
    Expr *def = e->op == E_VAR ? map_get(&p->lets, e->var) : NULL;
    if ((def != NULL && reads_stored(p, def)) ||
        (ir_reads(e) && is_stored(p, e->buf))) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (reads_stored(p, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* The channels of one pixel, in order; NULL: they are not. */
static Expr *
pack_loads(Pack *p, Expr *const *lane)
{
    Buf *buf = lane[0]->buf;
    int n = lane[0]->nargs;
    for (int i = 0; i < p->lanes; i++) {
        if (lane[i]->buf != buf ||
            channel_of(buf, lane[i]->args, lane[i]->nargs, p->lanes) != i ||
            !same_pixel(lane[0]->args, lane[i]->args, n - 1)) {
            return NULL;
        }
    }
    const Stmt *store = p->group->store;
    bool own = buf == store->buf &&
               same_pixel(lane[0]->args, store->index, n - 1);
    for (int i = 0; i < n - 1; i++) {
        own = own && !reads_stored(p, lane[0]->args[i]);
    }
    return own || !reads_stored(p, lane[0])
               ? ir_load(p->pass->arena, buf, lane[0]->args, n - 1, p->lanes)
               : NULL;
}

/* Numbers that no round changes, one for each channel. */
static Expr *
pack_numbers(Pack *p, Expr *const *lane)
{
    Arena *arena = p->pass->arena;
    Expr *whole = ir_splat(arena, lane[0], p->lanes);
    for (int i = 0; i < p->lanes; i++) {
        bool fixed = lane[i]->op == E_CONST ||
                     (lane[i]->op == E_VAR && lane[i]->var != p->loop->var &&
                      !map_has(&p->lets, lane[i]->var));
        if (!fixed || lane[i]->lanes != 0) {
            return NULL;
        }
        whole = i == 0 ? whole
                       : ir_insert(arena, whole, ir_int(arena, DT_I64, i),
                                   lane[i]);
    }
    return whole;
}

/* May lanes go through the operation at once? */
static bool
is_lanewise(const Expr *e)
{
    char kind = ir_op_kind(e->op);
    return e->lanes == 0 && e->op != E_IDIV && e->op != E_MOD &&
           (kind == 'U' || kind == 'B' || kind == 'C' || e->op == E_SELECT ||
            e->op == E_CAST || (e->op == E_CALL && fn_has_lanes(e->fn)));
}

/* The same operation of the operands' lanes; NULL: they differ. */
static Expr *
pack_operation(Pack *p, Expr *const *lane)
{
    Arena *arena = p->pass->arena;
    const Expr *e = lane[0];
    bool same = is_lanewise(e);
    for (int i = 1; i < p->lanes; i++) {
        same = same && lane[i]->op == e->op && lane[i]->dtype == e->dtype &&
               lane[i]->nargs == e->nargs &&
               (e->op != E_CALL || lane[i]->fn == e->fn);
    }
    Expr **args = ARENA_ARRAY(arena, Expr *, e->nargs + 1);
    for (int k = 0; k < e->nargs && same; k++) {
        Expr *part[MAX_CHANNELS];
        for (int i = 0; i < p->lanes; i++) {
            part[i] = lane[i]->args[k];
        }
        args[k] = pack_lanes(p, part);
        same = args[k] != NULL;
    }
    return same ? ir_with_args(arena, e, args) : NULL;
}

/* Have these values a name, that is, were they packed before? */
static Expr *
find_packed(const Pack *p, Expr *const *lane)
{
    for (int k = 0; k < p->done.n; k++) {
        const Packed *packed = &p->done.at[k];
        bool same = true;
        for (int i = 0; i < p->lanes; i++) {
            same = same && ir_equal(packed->lane[i], lane[i]);
        }
        if (same) {
            return packed->whole;
        }
    }
    return NULL;
}

/* The packed value gets a name, as its lanes had names. */
static Expr *
name_packed(Pack *p, Expr *const *lane, Expr *value)
{
    const Var *old = lane[0]->var;
    Var *var = ir_var(p->func, old->name, value->dtype, p->lanes);
    Packed packed = {.whole = ir_ref(p->pass->arena, var)};
    for (int i = 0; i < p->lanes; i++) {
        packed.lane[i] = lane[i];
    }
    vec_push(p->pass->arena, &p->done, packed);
    vec_push(p->pass->arena, &p->body,
             ir_let(p->pass->arena, var, value, p->loop->loc));
    return packed.whole;
}

/* 'lane' by lane as one value; a scalar where all are the same; NULL: they are
 * not made in one way. */
static Expr *
pack_lanes(Pack *p, Expr *const *lane)
{
    bool equal = true;
    bool loads = true;
    bool named = true;
    for (int i = 0; i < p->lanes; i++) {
        equal = equal && ir_equal(lane[i], lane[0]);
        loads = loads && lane[i]->op == E_LOAD;
        named = named && lane[i]->op == E_VAR &&
                map_has(&p->lets, lane[i]->var);
    }
    if (equal) {
        return reads_stored(p, lane[0]) ? NULL : lane[0];
    }
    if (!named) {
        Expr *numbers = pack_numbers(p, lane);
        return numbers != NULL ? numbers
               : loads         ? pack_loads(p, lane)
                               : pack_operation(p, lane);
    }
    Expr *found = find_packed(p, lane);
    if (found != NULL) {
        return found;
    }
    Expr *value[MAX_CHANNELS];
    for (int i = 0; i < p->lanes; i++) {
        value[i] = map_get(&p->lets, lane[i]->var);
    }
    Expr *whole = pack_lanes(p, value);
    return whole != NULL && whole->lanes > 0 ? name_packed(p, lane, whole)
                                             : whole;
}

/* --- the loop ------------------------------------------------------------ */

/* One store of the group's pixel at the end of the new body. */
static bool
pack_group(Pack *p, const Group *group)
{
    Arena *arena = p->pass->arena;
    const Stmt *store = group->store;
    p->group = group;
    for (int i = 0; i < store->nindex; i++) {
        if (reads_stored(p, store->index[i])) {
            return false;
        }
    }
    Expr *value = pack_lanes(p, group->value);
    if (value == NULL) {
        return false;
    }
    if (value->lanes == 0) {
        value = ir_splat(arena, value, p->lanes);
    }
    vec_push(arena, &p->body,
             ir_store(arena, store->buf, store->index, store->nindex - 1,
                      value, store->loc));
    return true;
}

/* The loop over pixels that 'loop' is; NULL: it is none that could be
 * flattened. */
static Stmt *
pack_loop(Pass *pass, Func *func, Bounds *b, const Stmt *branched)
{
    const Stmt *loop = vector_form(pass->arena, branched);
    Pack p = {.pass = pass, .func = func, .loop = loop};
    p.lets = map_new(pass->scratch);
    if (!find_groups(&p)) {
        return NULL;
    }
    for (int i = 0; i < loop->body.n; i++) {
        if (loop->body.at[i]->kind == S_LET) {
            vec_push(pass->arena, &p.body, loop->body.at[i]);
        }
    }
    for (int i = 0; i < p.n; i++) {
        if (!pack_group(&p, &p.groups[i])) {
            return NULL;
        }
    }
    Stmt *copy = ir_copy_stmt(pass->arena, loop);
    copy->body = p.body;
    return flatten_why_not(pass->scratch, func, b, copy) == NULL ? copy : NULL;
}

/* The visitor's state: "packed" holds by id the loops over pixels. */
typedef struct Visit {
    Pass *pass;
    Func *func;
    Map packed;
} Visit;

/* For bounds_visit: innermost loops. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Visit *v = data;
    if (s->kind == S_FOR && !block_has_loop(&s->body)) {
        Stmt *packed = pack_loop(v->pass, v->func, b, s);
        if (packed != NULL) {
            map_set(&v->packed, s->var, packed);
        }
    }
    return true;
}

/* For ir_map_block. */
static void
replace(void *data, Block *out, Stmt *s)
{
    Visit *v = data;
    Stmt *packed = s->kind == S_FOR ? map_get(&v->packed, s->var) : NULL;
    vec_push(v->pass->arena, out, packed != NULL ? packed : s);
}

/* What the scalars were packed from is dropped by simplify. */
Func *
pass_pack(Pass *pass, Func *func)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Visit v = {pass, copy, map_new(pass->scratch)};
    if (!pass->opts->flatten) {
        return func;
    }
    bounds_visit(pass->arena, copy, visit, &v);
    if (v.packed.n == 0) {
        return func;
    }
    copy->body = ir_map_block(pass->arena, &copy->body, replace, &v);
    return simplify(pass, copy);
}
