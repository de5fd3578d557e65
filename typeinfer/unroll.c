/* Loops that are written out, and loops that stand for several.
 *
 *     for k, v in enumerate((a, 2.5)):      k = 0; v = a;    body
 *         body                         -->  k = 1; v = 2.5;  body
 *
 *     for y, x in product(A, B):            for h in A:
 *         body                         -->      for g in B:
 *                                                   y, x = h, g; body
 *
 * A loop over things of different types can't be one loop: in each round its
 * names are of other types.  The same holds for a loop in which a list grows or
 * the rank of an array changes; that is known only when the types of two rounds
 * have been found not to join, so inference then begins again with the loop on
 * the list of those to be written out (Infer.unroll).
 *
 * 'break' and 'continue' of a loop that is written out leave a SCOPE: one for
 * the whole and one for each round.  Where they meet, names are joined as after
 * an 'if'.  What is made in a scope may not exist after it.
 */
#include <string.h>

#include "typeinfer/state.h"

/* A loop is written out on demand if it has so many rounds at most, and so many
 * nodes in all of them together. */
enum { MOST_ROUNDS = 16, MOST_NODES = 4000, MOST_PARTS = 64 };

/* --- scopes --------------------------------------------------------------- */

/* Does a 'kind' of the loop whose body this is stand in it? */
static bool
has_jump(const ABlock *block, ASKind kind)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        bool inner = s->kind == AS_FOR || s->kind == AS_WHILE;
        if (s->kind == kind || (!inner && has_jump(&s->body, kind)) ||
            has_jump(&s->orelse, kind)) {
            return true;
        }
    }
    return false;
}

/* Begins a scope in 'out' if it is 'needed'; NULL: the statements go to 'out'
 * itself. */
static AStmt *
open_scope(Infer *I, bool needed, Loc loc, ABlock *out)
{
    if (!needed) {
        return NULL;
    }
    AStmt *s = ast_stmt(I->arena, AS_SCOPE, loc);
    vec_push(I->arena, out, s);
    block_enter(I);
    return s;
}

/* All ways out of the scope meet.  No version made inside may be named after
 * it, because a part of the scope may have been left out: each name gets a
 * version of its own there. */
static void
close_scope(Infer *I, const AStmt *loop, AStmt *scope, ExitVec *exits)
{
    if (!I->frame->env.dead) {
        ABlock *converts = add_converts(I, &scope->body, loop->loc);
        add_exit(I, exits, I->frame->env, converts);
    }
    Map assigned = names_of_loop(I, loop);
    Env env = exits_join(I, exits, 0);
    rename_assigned(I, &assigned, exits, &env);
    I->frame->env = env;
}

/* --- loops that are written out ------------------------------------------- */

/* A loop being written out: where its jumps go. */
typedef struct Unrolled {
    const AStmt *s;
    bool breaks;
    bool continues;
    LoopFrame frame;
    ABlock *out; /* of the whole: the outer scope's body, if there is one */
} Unrolled;

/* One round; 'item' is what a FOR binds, NULL in a WHILE. Every round is typed
 * by itself, so a name may be an int in the first and an array in the second.
 */
static void
unrolled_round(Infer *I, Unrolled *u, AExpr *item)
{
    int outer = I->scope;
    AStmt *scope = open_scope(I, u->continues, u->s->loc, u->out);
    ABlock *out = scope ? &scope->body : u->out;
    u->frame.skip = scope;
    u->frame.continues = (ExitVec){0};
    if (item != NULL) {
        AExpr *target = infer_target(I, u->s->targets.at[0], item, item->type);
        push_assign(I, target, item, out);
    }
    infer_block(I, &u->s->body, out);
    I->scope = outer;
    if (scope != NULL) {
        close_scope(I, u->s, scope, &u->frame.continues);
    }
}

/* Opens the loop for its jumps. */
static AStmt *
unrolled_begin(Infer *I, const AStmt *s, ABlock *out, Unrolled *u)
{
    *u = (Unrolled){.s = s};
    u->breaks = has_jump(&s->body, AS_BREAK);
    u->continues = has_jump(&s->body, AS_CONTINUE);
    AStmt *scope = open_scope(I, u->breaks, s->loc, out);
    u->out = scope ? &scope->body : out;
    u->frame.outer = I->frame->loop;
    u->frame.leave = scope;
    I->frame->loop = &u->frame;
    return scope;
}

/* Runs the 'else' and closes the loop. */
static void
unrolled_end(Infer *I, Unrolled *u, AStmt *scope, int outer)
{
    I->frame->loop = u->frame.outer;
    if (!I->frame->env.dead) {
        infer_block(I, &u->s->orelse, u->out);
    }
    I->scope = outer;
    if (scope != NULL) {
        close_scope(I, u->s, scope, &u->frame.breaks);
    }
}

/* The typed iterable has few rounds, known in number. */
void
infer_unrolled_for(Infer *I, const AStmt *s, AExpr *iter, ABlock *out)
{
    AExprVec items = {0};
    Unrolled u;
    iter_items(I, iter, MOST_PARTS, out, &items);
    int outer = I->scope;
    AStmt *scope = unrolled_begin(I, s, out, &u);
    for (int i = 0; i < items.n && !I->frame->env.dead; i++) {
        unrolled_round(I, &u, items.at[i]);
    }
    unrolled_end(I, &u, scope, outer);
}

/* Round by round while the test is known to hold; a test that isn't known makes
 * inference begin again with the loop as a loop. */
void
infer_unrolled_while(Infer *I, const AStmt *s, ABlock *out)
{
    Unrolled u;
    int outer = I->scope;
    AStmt *scope = unrolled_begin(I, s, out, &u);
    for (int i = 0; !I->frame->env.dead; i++) {
        AExpr *cond = infer_cond(I, s->value);
        bool truth;
        bool known = type_truth(cond->type, &truth);
        if (!known || i > MOST_ROUNDS) {
            map_set(&I->unroll, s->value, NULL);
            infer_again(I);
        }
        keep_effects(I, cond, u.out);
        if (!truth) {
            break;
        }
        unrolled_round(I, &u, NULL);
    }
    unrolled_end(I, &u, scope, outer);
}

/* --- on demand ------------------------------------------------------------ */

/* Nodes of a block, roughly. */
static int
expr_size(const AExpr *e)
{
    int n = e != NULL;
    for (int i = 0; e != NULL && i < e->items.n; i++) {
        n += expr_size(e->items.at[i]);
    }
    return e ? n + expr_size(e->lhs) + expr_size(e->rhs) : 0;
}

/* Nodes of a block, roughly: what is written out many times must be small. */
int
block_size(const ABlock *block)
{
    int n = block->n;
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        for (int k = 0; k < s->targets.n; k++) {
            n += expr_size(s->targets.at[k]);
        }
        n += expr_size(s->value) + block_size(&s->body);
        n += block_size(&s->orelse);
    }
    return n;
}

/* What the loop is called from one beginning to the next. */
const AExpr *
loop_key(const AStmt *s)
{
    return s->key ? s->key : s->value;
}

/* The key of the loop inside of the one with this key, where both stand for
 * one of the source. */
static const AExpr *
inner_key(Infer *I, const AExpr *key)
{
    AExpr *inner = map_get(&I->nests, key);
    if (inner == NULL) {
        inner = ast_expr(I->arena, A_OTHER, key->loc);
        map_set(&I->nests, key, inner);
    }
    return inner;
}

/* May the loop be written out if its types demand it?  "trips" of a WHILE are
 * not known before it is tried. */
bool
may_unroll(Infer *I, const AStmt *s, int64_t trips)
{
    bool tried = map_has(&I->unroll, loop_key(s));
    int64_t rounds = s->kind == AS_WHILE ? MOST_ROUNDS : trips;
    return !tried && rounds >= 1 && rounds <= MOST_ROUNDS &&
           block_size(&s->body) * rounds <= MOST_NODES;
}

/* Begins again with the loop of this key (its test or iterable) written out. */
void
demand_unroll(Infer *I, const AExpr *key)
{
    if (key != NULL && !map_has(&I->unroll, key)) {
        map_set(&I->unroll, key, I);
        infer_again(I);
    }
}

/* Something in a loop can't be translated: does writing it out help? It may,
 * since then loop variables and lengths of lists are known in each round. */
void
unroll_instead(Infer *I)
{
    for (const Frame *f = I->frame; f != NULL; f = f->caller) {
        for (const LoopFrame *loop = f->loop; loop; loop = loop->outer) {
            demand_unroll(I, loop->key);
        }
    }
}

/* --- loops that stand for several ----------------------------------------- */

/* The untyped range(...) of the given arguments. */
static AExpr *
range_of(Infer *I, const AExprVec *args, Loc loc)
{
    AExpr *e = ast_expr(I->arena, A_CALL, loc);
    Binding *binding = ARENA_NEW(I->arena, Binding);
    binding->name = sym("range");
    binding->kind = BIND_KNOWN;
    binding->known = sym(builtin_row(BUILTIN_RANGE)->name);
    e->lhs = ast_expr(I->arena, A_GLOBAL, loc);
    e->lhs->binding = binding;
    for (int i = 0; i < args->n; i++) {
        vec_push(I->arena, &e->items, args->at[i]);
        vec_push(I->arena, &e->keys, NULL);
    }
    return e;
}

/* range(e) */
static AExpr *
range_to(Infer *I, AExpr *e, ABlock *out)
{
    AExprVec args = {0};
    vec_push(I->arena, &args, as_untyped(I, e, out));
    return range_of(I, &args, e->loc);
}

/* One iterable of product(...), evaluated in 'out'. */
static AExpr *
part_of_product(Infer *I, AExpr *e, ABlock *out)
{
    BuiltinId id = iter_builtin(e);
    if (id == BUILTIN_NONE && type_is_memory(e->type) && e->type->rank == 1) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, "Loop over its indices.",
                     "`product` copies the elements of an array, which is not "
                     "translated");
    }
    if (id == BUILTIN_NONE) {
        return as_untyped(I, e, out);
    }
    if (id != BUILTIN_RANGE) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`product` of `%s` is not translated",
                     builtin_row(id)->name);
    }
    AExprVec args = {0};
    for (int i = 0; i < e->items.n; i++) {
        if (e->items.at[i] != NULL) {
            vec_push(I->arena, &args, as_untyped(I, e->items.at[i], out));
        }
    }
    return range_of(I, &args, e->loc);
}

/* The known argument `repeat` of product(...), 1 if there is none. */
static int
repeat_of(Infer *I, const AExpr *e, ABlock *out)
{
    enum { MOST = 8 };
    int64_t n = 1;
    for (int i = 0; i < e->items.n; i++) {
        if (e->keys.at[i] == NULL) {
            continue;
        }
        AExpr *arg = take_seq(I, infer_expr(I, e->items.at[i]), out);
        if (strcmp(e->keys.at[i], "repeat") != 0) {
            refuse_call(I, e, "product", "has an argument that it lacks");
        }
        if (!type_is_known_int(arg->type, &n) || n < 1 || n > MOST) {
            infer_pin(I, cond_origin(arg));
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, arg->loc, NULL,
                         "`repeat` of `product` must be known, and from 1 "
                         "to %d",
                         MOST);
        }
    }
    return (int)n;
}

/* product(a, b, repeat=n) is product(a, b, a, b, ...): each is evaluated once.
 */
AExpr *
call_product(Infer *I, const AExpr *e, AExpr *out)
{
    ABlock block = {0};
    AExprVec once = {0};
    for (int i = 0; i < e->items.n; i++) {
        if (e->keys.at[i] == NULL) {
            AExpr *part = take_seq(I, infer_expr(I, e->items.at[i]), &block);
            vec_push(I->arena, &once, iter_hold(I, part, &block));
        }
    }
    int n = repeat_of(I, e, &block);
    for (int i = 0; i < n * once.n; i++) {
        vec_push(I->arena, &out->items, once.at[i % once.n]);
        vec_push(I->arena, &out->keys, NULL);
    }
    out->type = type_of_builtin(I, out, BUILTIN_PRODUCT);
    return typed_seq(I, block, out);
}

/* The iterables of the loops for which 'iter' stands; false: it is one of its
 * own.  "array" is what is looked into besides. */
static bool
nest_parts(Infer *I, AExpr *iter, ABlock *out, AExprVec *parts, AExpr **array)
{
    BuiltinId id = iter_builtin(iter);
    const AExprVec *items = &iter->items;
    *array = NULL;
    if (id == BUILTIN_PRODUCT) {
        for (int i = 0; i < items->n; i++) {
            AExpr *part = part_of_product(I, items->at[i], out);
            vec_push(I->arena, parts, part);
        }
        return true;
    }
    if (id != BUILTIN_NDINDEX && id != BUILTIN_NDENUMERATE) {
        return false;
    }
    AExpr *shape = items->n == 1 ? hold_typed(I, items->at[0], out) : NULL;
    if (id == BUILTIN_NDENUMERATE) {
        *array = as_untyped(I, shape, out);
        AExpr *attr = ast_expr(I->arena, A_ATTR, iter->loc);
        attr->lhs = *array;
        attr->name = sym("shape");
        shape = hold_typed(I, infer_expr(I, attr), out);
    }
    bool tuple = shape != NULL && shape->type->kind == TY_TUPLE;
    int n = tuple ? shape->type->rank : items->n;
    for (int i = 0; i < n; i++) {
        AExpr *size = tuple ? typed_item(I, shape, i) : items->at[i];
        vec_push(I->arena, parts, range_to(I, size, out));
    }
    return true;
}

/* What the target is bound to: the tuple of 'names', with the element of
 * 'array' there, if there is one. */
static AExpr *
nest_item(Infer *I, const AExprVec *names, AExpr *array, Loc loc)
{
    AExpr *index = ast_expr(I->arena, A_TUPLE, loc);
    index->items = *names;
    if (array == NULL) {
        return index;
    }
    AExpr *element = ast_expr(I->arena, A_SUBSCRIPT, loc);
    element->lhs = array;
    element->items = *names;
    AExpr *pair = ast_expr(I->arena, A_TUPLE, loc);
    vec_push(I->arena, &pair->items, index);
    vec_push(I->arena, &pair->items, element);
    return pair;
}

/* The untyped nest for 's'; its innermost body binds the target and goes on
 * with the body of 's'. */
static AStmt *
make_nest(Infer *I, const AStmt *s, const AExprVec *parts, AExpr *array)
{
    AStmt *top = NULL;
    ABlock *at = NULL;
    const AExpr *key = loop_key(s);
    AExprVec names = {0};
    for (int i = 0; i < parts->n; i++) {
        AStmt *loop = ast_stmt(I->arena, AS_FOR, s->loc);
        loop->inner = true;
        loop->key = key;
        key = inner_key(I, key);
        vec_push(I->arena, &names, hidden_new(I, s->loc));
        vec_push(I->arena, &loop->targets, names.at[i]);
        loop->value = parts->at[i];
        if (top == NULL) {
            top = loop;
        } else {
            vec_push(I->arena, at, loop);
        }
        at = &loop->body;
    }
    AStmt *bind = ast_stmt(I->arena, AS_ASSIGN, s->loc);
    bind->value = nest_item(I, &names, array, s->loc);
    bind->targets = s->targets;
    vec_push(I->arena, at, bind);
    for (int i = 0; i < s->body.n; i++) {
        vec_push(I->arena, at, s->body.at[i]);
    }
    return top;
}

/* product, ndindex and ndenumerate as loops in each other, in one scope if the
 * body has a break; false: 'iter' is none of these. */
bool
infer_nest(Infer *I, const AStmt *s, AExpr *iter, ABlock *out)
{
    AExprVec parts = {0};
    AExpr *array;
    if (!nest_parts(I, iter, out, &parts, &array)) {
        return false;
    }
    if (parts.n == 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, iter->loc, NULL,
                     "a product of nothing is not translated");
    }
    int outer = I->scope;
    LoopFrame frame = {.outer = I->frame->loop};
    bool breaks = has_jump(&s->body, AS_BREAK);
    AStmt *scope = open_scope(I, breaks, s->loc, out);
    ABlock *body = scope ? &scope->body : out;
    frame.leave = scope;
    I->frame->loop = &frame;
    infer_for(I, make_nest(I, s, &parts, array), body);
    I->frame->loop = frame.outer;
    if (!I->frame->env.dead) {
        infer_block(I, &s->orelse, body);
    }
    I->scope = outer;
    if (scope != NULL) {
        close_scope(I, s, scope, &frame.breaks);
    }
    return true;
}
