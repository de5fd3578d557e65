/* Comprehensions, and ':='.
 *
 *     [w[k] * k for k in range(3)]
 *       -->  (k'1.4 = 0; h.5 = w[k'1.4] * k'1.4; k'1.6 = 1; ...; [h.5 h.7 h.9])
 *
 * Where the number of rounds is known, a comprehension is a display of its
 * elements, each with a type of its own.  Functions that only look at the
 * elements of a generator one after the other become loops, so that the number
 * need not be known and what Python does not evaluate any more is not
 * evaluated:
 *
 *     any(v < 0 for v in a)
 *       -->  (c'2 = False
 *             for v'1 in a:
 *                 if v'1 < 0: c'2 = True; break
 *             c'2)
 *
 * A list is made as a whole, so there nothing is left out.
 *
 * The names of the targets are locals like others while it runs, and unbound
 * again after it. */
#include "typeinfer/list.h"

/* Elements of a list that are written out. */
enum { MOST_ELEMENTS = 256 };

/* The rounds of a comprehension as they are written out. */
typedef struct Rounds {
    const AExpr *e;
    ABlock block;
    AExprVec elements;
    int most;
} Rounds;

/* --- displays ------------------------------------------------------------- */

/* Names that the comprehension binds end with it. */
static void
unbind(void *data, Sym name)
{
    Infer *I = data;
    int number = name_number(I->frame, name);
    if (number >= 0) {
        I->frame->env.at[number] = NULL;
    }
}

/* Ends the names of all targets. */
static void
unbind_targets(Infer *I, const AExpr *e)
{
    for (int i = 0; i < e->fors.n; i++) {
        names_of_target(e->fors.at[i].target, unbind, I);
    }
}

/* Are the conditions of 'part' known here?  '*holds' is whether they are all
 * true; their effects go to 'block'. */
static bool
known_ifs(Infer *I, const AFor *part, ABlock *block, bool *holds)
{
    *holds = true;
    for (int i = 0; i < part->ifs.n && *holds; i++) {
        AExpr *cond = infer_cond(I, part->ifs.at[i]);
        if (!type_truth(cond->type, holds)) {
            return false;
        }
        keep_effects(I, cond, block);
    }
    return true;
}

/* The rounds of 'for' number 'at' and of those inside it; false: not known, or
 * too many. The items of an inner `for` may depend on those of the outer one,
 * so it is looked at anew in each round. */
static bool
unroll(Infer *I, Rounds *r, int at)
{
    if (at == r->e->fors.n) {
        AExpr *element = infer_expr(I, r->e->lhs);
        element = hold_typed(I, element, &r->block);
        vec_push(I->arena, &r->elements, element);
        return r->elements.n <= r->most;
    }
    const AFor *part = &r->e->fors.at[at];
    AExprVec items = {0};
    AExpr *iter = take_seq(I, infer_iterable(I, part->iter), &r->block);
    iter = iter->type->alt == ALT_NONE ? need_some(I, iter) : iter;
    iter = dict_keys(I, iter);
    if (list_iterates_none(iter)) {
        return true;
    }
    check_iterable(I, iter);
    if (!iter_items(I, iter, r->most, &r->block, &items)) {
        return false;
    }
    for (int i = 0; i < items.n; i++) {
        AExpr *item = items.at[i];
        AExpr *target = infer_target(I, part->target, item, item->type);
        push_assign(I, target, item, &r->block);
        bool holds;
        if (!known_ifs(I, part, &r->block, &holds) ||
            (holds && !unroll(I, r, at + 1))) {
            return false;
        }
    }
    return true;
}

/* The comprehension as a display; NULL, and nothing done, when the number of
 * its elements depends on the run, or is more than 'most'. The names of the
 * targets are bound like any others meanwhile, and unbound after it. */
AExpr *
comp_display(Infer *I, const AExpr *e, bool is_list, int most)
{
    Env before = env_copy(I, &I->frame->env);
    Rounds r = {.e = e, .most = most};
    if (!unroll(I, &r, 0)) {
        I->frame->env = before;
        return NULL;
    }
    unbind_targets(I, e);
    for (int i = 0; i < r.elements.n; i++) {
        alias_value(I, r.elements.at[i]);
    }
    AExpr *display = typed_display(I, &r.elements, is_list, e->loc);
    return typed_seq(I, r.block, display);
}

/* A list of unknown length, or a generator that is no argument of a function
 * that uses it up. */
AExpr *
infer_comp(Infer *I, const AExpr *e)
{
    if (!e->is_list) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, e->loc,
                     "Write a loop, or a list.",
                     "a generator is translated only as the argument of a "
                     "function like `sum`");
    }
    AExpr *display =
        list_is_site(I, e) ? NULL : comp_display(I, e, true, MOST_ELEMENTS);
    return display ? display : list_comp(I, e);
}

/* --- reductions ----------------------------------------------------------- */

/* The local in which the comprehension gathers. */
static AExpr *
gathered(Infer *I, const AExpr *e)
{
    AExpr *name = ast_expr(I->arena, A_NAME, e->loc);
    name->name = e->name;
    return name;
}

/* A statement 'target' = 'value', untyped like all that follow. */
static AStmt *
assign(Infer *I, AExpr *target, AExpr *value)
{
    AStmt *s = ast_stmt(I->arena, AS_ASSIGN, value->loc);
    s->value = value;
    vec_push(I->arena, &s->targets, target);
    return s;
}

static AExpr *
binop(Infer *I, AKind kind, AOp op, AExpr *lhs, AExpr *rhs)
{
    AExpr *e = ast_expr(I->arena, kind, rhs->loc);
    e->op = op;
    e->lhs = lhs;
    if (kind == A_COMPARE) {
        vec_push(I->arena, &e->ops, op);
        vec_push(I->arena, &e->items, rhs);
    } else {
        e->rhs = rhs;
    }
    return e;
}

/* if 'cond': body */
static AStmt *
if_stmt(Infer *I, AExpr *cond, AStmt *body)
{
    AStmt *s = ast_stmt(I->arena, AS_IF, cond->loc);
    s->value = cond;
    vec_push(I->arena, &s->body, body);
    return s;
}

/* What decides: the first part of a pair. */
static AExpr *
key_of(Infer *I, AExpr *element, bool pair)
{
    if (!pair) {
        return element;
    }
    AExpr *key = ast_expr(I->arena, A_SUBSCRIPT, element->loc);
    key->lhs = element;
    vec_push(I->arena, &key->items, const_int(I, 0, element->loc));
    return key;
}

/* What is done with the element in each round:
 *
 *     sum      c = c + x              any      if x: c = True; break
 *     list     c.append(x)            all      if not x: c = False; break
 *     min      if c is None or x < c: c = x
 *
 * A list is made as a whole by Python before `any` sees it, so there is no
 * break. */
static void
push_gather(Infer *I, const AExpr *e, BuiltinId id, ABlock *out)
{
    AExpr *so_far = gathered(I, e);
    if (id == BUILTIN_SUM || id == BUILTIN_MATH_PROD) {
        AOp op = id == BUILTIN_SUM ? AO_ADD : AO_MUL;
        AExpr *sum = binop(I, A_BINOP, op, so_far, e->lhs);
        vec_push(I->arena, out, assign(I, gathered(I, e), sum));
        return;
    }
    if (id == BUILTIN_ANY || id == BUILTIN_ALL) {
        AExpr *cond = e->lhs;
        if (id == BUILTIN_ALL) {
            cond = ast_expr(I->arena, A_UNARY, e->lhs->loc);
            cond->op = AO_NOT;
            cond->lhs = e->lhs;
        }
        AExpr *found = ast_expr(I->arena, A_CONST, e->loc);
        found->type = type_known_bool(I->arena, id == BUILTIN_ANY);
        AStmt *s = if_stmt(I, cond, assign(I, gathered(I, e), found));
        if (!e->is_list) {
            AStmt *leave = ast_stmt(I->arena, AS_BREAK, e->loc);
            vec_push(I->arena, &s->body, leave);
        }
        vec_push(I->arena, out, s);
        return;
    }
    if (id == BUILTIN_LIST) {
        AStmt *s = ast_stmt(I->arena, AS_EXPR, e->loc);
        s->value = ast_expr(I->arena, A_CALL, e->loc);
        s->value->lhs = ast_expr(I->arena, A_ATTR, e->loc);
        s->value->lhs->lhs = so_far;
        s->value->lhs->name = sym("append");
        vec_push(I->arena, &s->value->items, e->lhs);
        vec_push(I->arena, &s->value->keys, NULL);
        vec_push(I->arena, out, s);
        return;
    }
    AExpr *element = hidden_new(I, e->lhs->loc);
    AOp op = id == BUILTIN_MIN ? AO_LT : AO_GT;
    AExpr *none = ast_expr(I->arena, A_CONST, e->loc);
    none->type = type_kind(I->arena, TY_NONE);
    AExpr *either = ast_expr(I->arena, A_BOOLOP, e->loc);
    either->op = AO_OR;
    AExpr *first = binop(I, A_COMPARE, AO_IS, gathered(I, e), none);
    bool pairs = e->op == AO_LT || e->op == AO_GT;
    AExpr *beats = binop(I, A_COMPARE, op, key_of(I, element, pairs),
                         key_of(I, gathered(I, e), pairs));
    vec_push(I->arena, &either->items, first);
    vec_push(I->arena, &either->items, beats);
    vec_push(I->arena, out, assign(I, element, e->lhs));
    AStmt *taken = assign(I, gathered(I, e), element);
    vec_push(I->arena, out, if_stmt(I, either, taken));
}

/* The loops from number 'at' inwards.  A break leaves the innermost one, so
 * that the others ask whether the search is over. */
static void
push_loops(Infer *I, const AExpr *e, BuiltinId id, int at, ABlock *out)
{
    if (at == e->fors.n) {
        push_gather(I, e, id, out);
        return;
    }
    const AFor *part = &e->fors.at[at];
    AStmt *loop = ast_stmt(I->arena, AS_FOR, e->loc);
    vec_push(I->arena, &loop->targets, part->target);
    loop->value = part->iter;
    vec_push(I->arena, out, loop);
    ABlock *body = &loop->body;
    for (int i = 0; i < part->ifs.n; i++) {
        AStmt *s = ast_stmt(I->arena, AS_IF, part->ifs.at[i]->loc);
        s->value = part->ifs.at[i];
        vec_push(I->arena, body, s);
        body = &s->body;
    }
    push_loops(I, e, id, at + 1, body);
    bool search = !e->is_list && (id == BUILTIN_ANY || id == BUILTIN_ALL);
    if (search && at + 1 < e->fors.n) {
        AExpr *over = gathered(I, e);
        if (id == BUILTIN_ALL) {
            AExpr *no = ast_expr(I->arena, A_UNARY, e->loc);
            no->op = AO_NOT;
            no->lhs = over;
            over = no;
        }
        AStmt *leave = ast_stmt(I->arena, AS_BREAK, e->loc);
        vec_push(I->arena, &loop->body, if_stmt(I, over, leave));
    }
}

/* The gathered value, which is None if there was no element: ValueError, or the
 * default that min and max were given. */
static AExpr *
or_default(Infer *I, AExpr *value, AExpr *dflt)
{
    if (dflt == NULL) {
        return need_some(I, value); /* ValueError in truth */
    }
    if (value->type->kind == TY_NONE) {
        return dflt;
    }
    AExpr *none = ast_expr(I->arena, A_CONST, value->loc);
    none->type = type_kind(I->arena, TY_NONE);
    AExpr *test = ast_expr(I->arena, A_COMPARE, value->loc);
    test->lhs = value;
    vec_push(I->arena, &test->items, none);
    vec_push(I->arena, &test->ops, AO_IS);
    test->type = type_of_compare(I, test, AO_IS, value, none);
    AExpr *out = ast_expr(I->arena, A_IFEXP, value->loc);
    AExpr *some = need_some(I, value);
    vec_push(I->arena, &out->items, test);
    vec_push(I->arena, &out->items, dflt);
    vec_push(I->arena, &out->items, some);
    out->type = join_values(I, out, test, dflt, some);
    return out;
}

/* name = []; for ...: name.append(element), for a list of run-time length. */
AExpr *
list_comp(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    AExprVec none = {0};
    AExpr *empty = typed_display(I, &none, true, e->loc);
    AExpr *list = list_call(I, e->loc, BUILTIN_LIST_OF, empty);
    list->type = list_new(I, e);
    AExpr *target = infer_target(I, gathered(I, e), list, list->type);
    push_assign(I, target, list, &block);
    ABlock loops = {0};
    push_loops(I, e, BUILTIN_LIST, 0, &loops);
    infer_block(I, &loops, &block);
    if (I->frame->env.dead) {
        read_unbound(I);
    }
    AExpr *value = infer_expr(I, gathered(I, e));
    Type *type = arena_copy(I->arena, list_type(I, value->type), sizeof(*type));
    value->type = type;
    unbind_targets(I, e);
    unbind(I, e->name);
    return typed_seq(I, block, value);
}

/* sum, any, all, min or max of a generator or list, element by element.
 * 'start' and 'dflt' are typed; NULL: there is none. */
AExpr *
comp_reduce(Infer *I, const AExpr *e, BuiltinId id, AExpr *start, AExpr *dflt)
{
    ABlock block = {0};
    dflt = hold_typed(I, dflt, &block);
    AExpr *first = start;
    if (first == NULL) {
        first = ast_expr(I->arena, A_CONST, e->loc);
        first->type = id == BUILTIN_SUM   ? type_known_int(I->arena, 0)
                      : id == BUILTIN_MATH_PROD
                          ? type_known_int(I->arena, 1)
                      : id == BUILTIN_ANY ? type_known_bool(I->arena, false)
                      : id == BUILTIN_ALL ? type_known_bool(I->arena, true)
                                          : type_kind(I->arena, TY_NONE);
    }
    AExpr *target = infer_target(I, gathered(I, e), first, first->type);
    push_assign(I, target, first, &block);
    ABlock loops = {0};
    push_loops(I, e, id, 0, &loops);
    infer_block(I, &loops, &block);
    if (I->frame->env.dead) {
        read_unbound(I);
    }
    AExpr *value = infer_expr(I, gathered(I, e));
    if (id == BUILTIN_SUM) {
        check_sum(I, value->type, e->loc);
    }
    unbind_targets(I, e);
    unbind(I, e->name);
    bool maybe = value->type->alt == ALT_NONE || value->type->kind == TY_NONE;
    return typed_seq(I, block, maybe ? or_default(I, value, dflt) : value);
}

/* --- walrus --------------------------------------------------------------- */

/* Binds the name wherever the value is evaluated; under a condition that would
 * need a join for which there is no place. */
AExpr *
infer_named(Infer *I, const AExpr *e)
{
    if (I->conditional > 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, e->loc,
                     "Assign the name in a statement of its own.",
                     "`:=` where it is not always evaluated is not translated");
    }
    ABlock block = {0};
    AExpr *value = infer_expr(I, e->rhs);
    AExpr *target = infer_target(I, e->lhs, value, value->type);
    push_assign(I, target, value, &block);
    return typed_seq(I, block, infer_expr(I, e->lhs));
}
