/* Statements: assignments, branches, returns; loops are in loop.c.
 *
 * A statement that surely raises ends its block.  A branch that never falls
 * through is followed by the other one, so that what that one makes stays
 * visible:
 *
 *     if c: return 0          if c.1:
 *     else: out = f()   -->       return
 *     use(out)                out.2 = f();  use(out.2)
 *
 * An assignment to a name always makes a version, even of the same type, so
 * that lower can give each its own variable and single assignment is nearly
 * there already.  `n += 1` is an assignment; `a += 1` of an array is not, since
 * it changes the object that other names may hold too.
 *
 * Paths are followed one after the other.  The environment says at each point
 * what the names are; a path that ended (return, break, raise) has a dead one.
 */
#include "typeinfer/list.h"

/* --- assignments ---------------------------------------------------------- */

/* A copy of the statement without its parts, pushed on 'out'. */
static AStmt *
stmt_like(Infer *I, const AStmt *s, ABlock *out)
{
    AStmt *copy = ast_stmt(I->arena, s->kind, s->loc);
    copy->op = s->op;
    copy->name = s->name;
    vec_push(I->arena, out, copy);
    return copy;
}

/* Names may hold what is no array on some paths; elements can't. */
static AExpr *
infer_value(Infer *I, const AStmt *s)
{
    bool names = true;
    for (int i = 0; i < s->targets.n; i++) {
        AKind kind = s->targets.at[i]->kind;
        names &= kind == A_NAME || kind == A_ATTR;
    }
    bool display = s->value->kind == A_TUPLE || s->value->kind == A_LIST;
    return names || display ? infer_maybe(I, s->value)
                            : infer_expr(I, s->value);
}

/* a = b = value: one value, targets from left to right. */
static void
infer_assign(Infer *I, const AStmt *s, ABlock *out)
{
    if (assign_entry(I, s, out) || assign_item(I, s, out)) {
        return;
    }
    AExpr *value = infer_value(I, s);
    AStmt *copy = stmt_like(I, s, out);
    copy->value = value;
    for (int i = 0; i < s->targets.n; i++) {
        AExpr *target = infer_target(I, s->targets.at[i], value, value->type);
        vec_push(I->arena, &copy->targets, target);
        if (s->targets.n > 1 && type_is_vector(value->type)) {
            int root = object_root(I, value->type->object);
            I->objects.at[root].aliased = true; /* a = b = zeros(3) */
        }
    }
}

/* a op= b where `a` is an array: in place, with NumPy's casting rule. A float
 * result does not go into integers: `a /= 2` of an int array raises. */
static void
check_in_place(Infer *I, const AStmt *s, const AExpr *target,
               const AExpr *value)
{
    const Type *to = need_operand(I, target, s->op);
    const Type *by = need_operand(I, value, s->op);
    BinRule rule = rule_array(I->arena, s->op, to, by);
    bool power = s->op == AO_POW && dtype_is_complex(to->dtype);
    if (rule.type == NULL || power) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, s->loc, NULL,
                     "`%s=` is not translated for %s and %s", op_text(s->op),
                     type_text(I->arena, to), type_text(I->arena, by));
    }
    if (!rule_same_kind(rule.type->dtype, to->dtype)) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, s->loc,
                     "Make a new array: `a = a / b`.",
                     "`%s=` can't store %s into %s: this raises TypeError",
                     op_text(s->op), dtype_name(rule.type->dtype),
                     type_text(I->arena, to));
    }
    if (by->kind == TY_ARRAY) {
        check_fits(I, target, by, to);
    }
    if (rule_vector(I->arena, s->op, to, by).type == NULL) {
        demote_vector(I, to);
    }
    alias_mutate(I, to, s->loc);
}

/* n += 1 of a number is n = n + 1. */
static void
aug_name(Infer *I, const AStmt *s, AExpr *old, AExpr *value, ABlock *out)
{
    AExpr *sum = ast_expr(I->arena, A_BINOP, s->loc);
    sum->op = s->op;
    sum->lhs = old;
    sum->rhs = value;
    sum->type = type_of_binop(I, sum, s->op, old, value);
    AStmt *copy = stmt_like(I, s, out);
    copy->kind = AS_ASSIGN;
    copy->value = sum;
    AExpr *target = infer_target(I, s->targets.at[0], sum, sum->type);
    vec_push(I->arena, &copy->targets, target);
}

/* `total += img[r, c]` where `total` is a number before the first round: a new
 * vector, which nobody can tell from the old one unless that has two names. */
static bool
adds_to_number(Infer *I, AOp op, AExpr *target, AExpr *value)
{
    const Type *old = target->type;
    Plain alt;
    if (target->kind != A_NAME || !type_is_vector(old) ||
        !type_plain_alt(old, &alt)) {
        return false;
    }
    AExpr *trial = arena_copy(I->arena, target, sizeof(*target));
    settle_numbers(I, op, trial, value);
    BinRule rule = rule_vector(I->arena, op, old, value->type);
    if (trial->type->alt == ALT_NEVER || rule.type == NULL ||
        rule.type->dtype != old->dtype) {
        return false;
    }
    alias_mutate(I, old, target->loc);
    return true;
}

/* a op= value as a = a op value. */
static void
aug_as_assign(Infer *I, const AStmt *s, AExpr *value, ABlock *out)
{
    AStmt *copy = arena_copy(I->arena, s, sizeof(*s));
    copy->kind = AS_ASSIGN;
    copy->value = ast_expr(I->arena, A_BINOP, s->loc);
    copy->value->op = s->op;
    copy->value->lhs = s->targets.at[0];
    copy->value->rhs = as_untyped(I, value, out);
    infer_assign(I, copy, out);
}

/* Numbers and tuples are rebound, arrays and elements are changed in place. */
static void
infer_aug(Infer *I, const AStmt *s, ABlock *out)
{
    if (assign_entry(I, s, out)) {
        return;
    }
    if (s->targets.at[0]->kind == A_ATTR) {
        AExpr *part = part_target(I, s->targets.at[0], NULL);
        AExpr *cell = part ? part : record_target(I, s->targets.at[0]);
        AStmt *copy = arena_copy(I->arena, s, sizeof(*s));
        copy->targets = (AExprVec){0};
        vec_push(I->arena, &copy->targets, cell);
        infer_aug(I, copy, out);
        return;
    }
    AExpr *target = infer_maybe(I, s->targets.at[0]);
    bool either = s->targets.at[0]->kind == A_NAME &&
                  (target->kind == A_SOME || target->type->kind == TY_EITHER);
    if (!either) {
        check_target(I, s->targets.at[0], target);
    }
    AExpr *value = infer_expr(I, s->value);
    if (either || (target->kind == A_NAME && class_aug(I, s, target, value))) {
        aug_as_assign(I, s, value, out);
        return;
    }
    AExpr *extend = list_extend(I, s, target, value);
    if (extend != NULL) {
        AStmt *call = stmt_like(I, s, out);
        call->kind = AS_EXPR;
        call->value = extend;
        return;
    }
    bool mixed = adds_to_number(I, s->op, target, value);
    if (!mixed) {
        settle_some(I, target);
    }
    if (target->kind == A_NAME && (target->type->kind != TY_ARRAY || mixed)) {
        aug_name(I, s, target, value, out);
        return;
    }
    bool list = target->kind == A_SUBSCRIPT && list_like(target->lhs->type);
    if (target->kind == A_SUBSCRIPT && !list) {
        check_vector_target(I, target);
    }
    if (list) {
        if (target->type->kind == TY_ARRAY) {
            alias_mutate(I, target->type, s->loc);
        }
        list_target(I, target,
                    type_of_binop(I, target, s->op, target, value));
    } else if (target->type->kind == TY_ARRAY) {
        check_in_place(I, s, target, value);
    } else {
        check_store(I, target, type_of_binop(I, target, s->op, target, value));
    }
    AStmt *copy = stmt_like(I, s, out);
    copy->value = value;
    vec_push(I->arena, &copy->targets, target);
}

/* --- branches ------------------------------------------------------------- */

/* Pushes all of 'block' on 'out'. */
static void
append(Infer *I, ABlock *out, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        vec_push(I->arena, out, block->at[i]);
    }
}

/* The condition's own effects, where its value is known. */
void
keep_effects(Infer *I, AExpr *e, ABlock *out)
{
    if (!is_simple(e)) {
        AStmt *s = ast_stmt(I->arena, AS_EXPR, e->loc);
        s->value = e;
        vec_push(I->arena, out, s);
    }
}

/* Runs 'block' as a block of its own from 'env'; what it leaves is an exit,
 * with a place for the conversions that the join will ask of it. */
static int
infer_branch(Infer *I, const ABlock *block, const Env *env, ABlock *out,
             Loc loc, ExitVec *exits)
{
    int outer = I->scope;
    int scope = block_enter(I);
    I->frame->env = env_copy(I, env);
    infer_block(I, block, out);
    I->scope = outer;
    ABlock *converts = I->frame->env.dead ? NULL : add_converts(I, out, loc);
    add_exit(I, exits, I->frame->env, converts);
    return scope;
}

/* not cond */
static AExpr *
negated(Infer *I, AExpr *cond)
{
    AExpr *out = ast_expr(I->arena, A_UNARY, cond->loc);
    out->op = AO_NOT;
    out->lhs = cond;
    out->type = type_bool(I->arena);
    return out;
}

/* A known condition leaves one branch, which takes the place of the statement
 * and needs no join. Else both are run from the same environment, and what is
 * left of the two is joined; a path that ended (return) brings nothing, and
 * what follows belongs to the other branch alone. */
static void
infer_if(Infer *I, const AStmt *s, ABlock *out)
{
    const AExpr *tail = I->tail;
    I->tail = NULL;
    AExpr *cond = infer_cond(I, s->value);
    bool truth;
    if (type_truth(cond->type, &truth)) {
        keep_effects(I, cond, out);
        I->tail = tail;
        infer_block(I, truth ? &s->body : &s->orelse, out);
        return;
    }
    Env before = I->frame->env;
    ExitVec exits = {0};
    AStmt *copy = stmt_like(I, s, out);
    copy->value = cond;
    I->tail = tail;
    int then = infer_branch(I, &s->body, &before, &copy->body, s->loc, &exits);
    I->tail = tail;
    int els =
        infer_branch(I, &s->orelse, &before, &copy->orelse, s->loc, &exits);
    bool then_dead = exits.at[0].env.dead;
    bool else_dead = exits.at[1].env.dead;
    if (then_dead || else_dead) {
        vec_push(I->arena, &I->frame->ends, cond_origin(cond));
    }
    I->joining = tail;
    I->frame->env = exits_join(I, &exits, cond_origin(cond));
    I->joining = NULL;
    if (then_dead && !else_dead) {
        append(I, out, &copy->orelse);
        copy->orelse = (ABlock){0};
        I->scopes.at[els].merged = true;
    } else if (else_dead && !then_dead) {
        append(I, out, &copy->body);
        copy->body = copy->orelse;
        copy->orelse = (ABlock){0};
        copy->value = negated(I, cond);
        I->scopes.at[then].merged = true;
    }
}

/* --- ends ----------------------------------------------------------------- */

/* Could both be the same array in registers? */
static bool
same_vector(const Infer *I, const AExpr *lhs, const AExpr *rhs)
{
    return type_is_vector(lhs->type) && type_is_vector(rhs->type) &&
           object_root(I, lhs->type->object) ==
               object_root(I, rhs->type->object);
}

/* The names in `return a, b` end here, so they are no further names. */
static AExpr *
infer_returned(Infer *I, const AExpr *e)
{
    if (e->kind != A_TUPLE) {
        return grown_result(I, made_returned(I, infer_maybe(I, e)));
    }
    AExpr *out = node_like(I, e);
    int n = e->items.n;
    const Type **items = ARENA_ARRAY(I->arena, const Type *, n + 1);
    for (int i = 0; i < n; i++) {
        AExpr *item = made_returned(I, infer_maybe(I, e->items.at[i]));
        item = grown_result(I, item);
        vec_push(I->arena, &out->items, item);
        items[i] = item->type;
        for (int k = 0; k < i; k++) {
            if (same_vector(I, item, out->items.at[k])) {
                alias_value(I, item);
            }
        }
    }
    out->type = type_tuple(I->arena, items, n, false);
    return out;
}

/* The result is bound like a name and joined with those of other returns. */
static void
infer_return(Infer *I, const AStmt *s, ABlock *out)
{
    AExpr *value;
    if (s->value != NULL) {
        value = infer_returned(I, s->value);
    } else {
        value = ast_expr(I->arena, A_CONST, s->loc);
        value->type = type_kind(I->arena, TY_NONE);
    }
    AStmt *copy = stmt_like(I, s, out);
    copy->value = value;
    Loc loc = s->value ? value->loc : s->loc;
    copy->to = &env_bind(I, sym("<result>"), value->type, loc)->base;
    add_exit(I, &I->frame->returns, I->frame->env, &copy->body);
    I->frame->env.dead = true;
}

/* break and continue: a way to the loop's end or head. */
static void
infer_leave_loop(Infer *I, const AStmt *s, ABlock *out)
{
    LoopFrame *loop = I->frame->loop;
    bool is_break = s->kind == AS_BREAK;
    while (is_break && loop->inner) {
        loop = loop->outer;
    }
    ExitVec *exits = is_break ? &loop->breaks : &loop->continues;
    AStmt *scope = is_break ? loop->leave : loop->skip;
    ABlock *converts = add_converts(I, out, s->loc);
    add_exit(I, exits, I->frame->env, converts);
    AStmt *copy = stmt_like(I, s, out);
    if (scope != NULL) {
        copy->kind = AS_LEAVE;
        copy->scope = scope;
    }
    I->frame->env.dead = true;
}

/* Decided assertions vanish, or end the path. */
static void
infer_assert(Infer *I, const AStmt *s, ABlock *out)
{
    AExpr *cond = infer_cond(I, s->value);
    bool truth;
    bool known = type_truth(cond->type, &truth);
    if (known && truth) {
        keep_effects(I, cond, out);
        return;
    }
    stmt_like(I, s, out)->value = cond;
    I->frame->env.dead |= known;
}

/* A docstring does nothing. */
static void
infer_expr_stmt(Infer *I, const AStmt *s, ABlock *out)
{
    if (s->value->kind == A_CONST) {
        return;
    }
    AExpr *value = infer_expr(I, s->value);
    stmt_like(I, s, out)->value = value;
}

/* A statement by its kind. */
static void
infer_plain(Infer *I, const AStmt *s, ABlock *out)
{
    const AStmt *choice = choice_as_if(I, s);
    s = choice ? choice : s;
    switch ((int)s->kind) {
    case AS_EXPR:
        infer_expr_stmt(I, s, out);
        break;
    case AS_ASSIGN:
        infer_assign(I, s, out);
        break;
    case AS_AUG:
        infer_aug(I, s, out);
        break;
    case AS_IF:
        infer_if(I, s, out);
        break;
    case AS_FOR:
        infer_for(I, s, out);
        break;
    case AS_WHILE:
        infer_while(I, s, out);
        break;
    case AS_RETURN:
        infer_return(I, s, out);
        break;
    case AS_BREAK:
    case AS_CONTINUE:
        infer_leave_loop(I, s, out);
        break;
    case AS_ASSERT:
        infer_assert(I, s, out);
        break;
    case AS_RAISE:
        stmt_like(I, s, out);
        I->frame->env.dead = true;
        break;
    case AS_PASS:
        break;
    case AS_BLOCK:
        infer_block(I, &s->body, out);
        break;
    case AS_WITH:
        infer_with(I, s, out);
        break;
    case AS_DELETE:
        infer_delete(I, s, out);
        break;
    default:
        refuse_other(I, s->name, s->loc);
    }
}

/* A statement that reads an unbound name, or whose types say that it fails,
 * raises, and nothing after it runs: Python says what it raises, should it ever
 * be reached.  In the first rounds of a loop's inference this also stands for
 * what is not known yet. */
static void
infer_stmt(Infer *I, const AStmt *s, ABlock *out)
{
    jmp_buf here;
    jmp_buf *outer = I->raise;
    Frame *frame = I->frame;
    LoopFrame *loop = frame->loop;
    int scope = I->scope;
    int turn = I->turn;
    int conditional = I->conditional;
    int aside = I->aside;
    int n = out->n;
    int iterated = I->iterated.n;
    I->raise = &here;
    if (setjmp(here) == 0) {
        infer_plain(I, s, out);
    } else {
        I->frame = frame;
        I->scope = scope;
        I->turn = turn;
        I->conditional = conditional;
        I->aside = aside;
        I->iterated.n = iterated;
        frame->loop = loop;
        out->n = n;
        Loc loc = I->raised ? I->raised_loc : s->loc;
        AStmt *raise = ast_stmt(I->arena, AS_RAISE, loc);
        raise->name = I->raised ? sym(I->raised) : NULL;
        I->raised = NULL;
        vec_push(I->arena, out, raise);
        frame->env.dead = true;
    }
    I->raise = outer;
}

/* Statements after the end of all paths are dropped, so they are never typed.
 */
void
infer_block(Infer *I, const ABlock *block, ABlock *out)
{
    const AExpr *tail = I->tail;
    I->tail = NULL;
    for (int i = 0; i < block->n && !I->frame->env.dead; i++) {
        const AStmt *s = block->at[i];
        AStmt *both = split_branch(I, block, i);
        bool last = both != NULL || i + 1 == block->n;
        I->tail = s->kind != AS_IF ? NULL : last ? tail : s->value;
        infer_stmt(I, both ? both : s, out);
        if (both != NULL) {
            return;
        }
    }
}
