/* Loops: a fixed point over the names that they carry.
 *
 *     total = 0                    round 1: total is int
 *     for v in a:                  its end: float64 scalar
 *         total += v               round 2: float64 scalar or int; the same
 *     return total                          at its end: done
 *
 * A carried name has one version at the loop's head (Carried.head); entry and
 * every way back convert to it.  Values that are known before the loop are
 * forgotten if the name is assigned in it, which saves a round.
 *
 * The ways out: a loop that ends by its test or range leaves with the
 * versions of the head, and 'break' converts to those too.  Where that says
 * too little -- `else`, `while True`, a range that surely has a round -- what
 * holds after the loop gets versions of its own.
 *
 * Types only grow from round to round (the lattice of types.c has no more than
 * four steps), so a handful of rounds is enough, and loops nested five deep
 * stay cheap because what an inner loop does not carry costs it no second
 * round.  The typed copy of the last round is the result; those before it are
 * thrown away.
 *
 * Reading a name that is unbound at the head raises in the first round.  So the
 * statement counts as raising while the first round is inferred, and is typed
 * in the second, when the name may have been bound by the one before.
 */
#include <string.h>

#include "typeinfer/list.h"

enum { MOST_ROUNDS = 12, MOST_WRITTEN = 64, MOST_PINNED_ROUNDS = 33 };

typedef struct Carried {
    int number;
    Sym name;
    Ver *entry;
    Ver *head;
    const Type *type; /* at the head; NULL: unbound */
    const Conflict *conflict;
    Loc loc;
} Carried;

/* A loop under inference. */
typedef struct Loop {
    const AStmt *s;
    AStmt *copy;
    Env entry;
    ABlock *entry_converts;
    VEC(Carried) carried;
    Map assigned; /* names assigned in the loop */
    LoopFrame frame;
    const AExpr *key; /* of LoopFrame */
    int pin; /* an argument that decides how many rounds there are; or 0 */
    bool never_ends; /* while True */
    bool has_round;  /* surely runs at least once */
} Loop;

/* --- what the loop assigns ------------------------------------------------ */

/* Widens what is known where a loop may change it. */
static const Type *
entry_type(Infer *I, const Ver *ver)
{
    if (ver == NULL) {
        return NULL;
    }
    const Type *type = ver->base.type;
    bool plain = type->kind == TY_NUM && type->alt == ALT_NEVER;
    return plain ? type_forget(I->arena, type) : type;
}

/* A name that the loop assigns is carried if it is live at the head; otherwise
 * it is written before it is read in every round. */
static void
add_carried(Infer *I, Loop *loop, Sym name)
{
    int number = name_number(I->frame, name);
    if (!live_at_head(I->frame->live, loop->s, number)) {
        return;
    }
    Ver *ver = loop->entry.at[number];
    Carried c = {
        .number = number,
        .name = name,
        .entry = ver,
        .type = entry_type(I, ver),
        .conflict = ver ? ver->conflict : NULL,
        .loc = ver ? ver->base.loc : loop->s->loc,
    };
    vec_push(I->arena, &loop->carried, c);
}

/* Begins the typed loop: a place for the conversions of the way in, then the
 * loop itself. */
static void
loop_init(Infer *I, const AStmt *s, ABlock *out, Loop *loop)
{
    *loop = (Loop){.s = s};
    loop->entry_converts = add_converts(I, out, s->loc);
    loop->copy = ast_stmt(I->arena, s->kind, s->loc);
    vec_push(I->arena, out, loop->copy);
    loop->assigned = names_of_loop(I, s);
    loop->entry = env_copy(I, &I->frame->env);
    for (int i = 0; i < loop->assigned.n; i++) {
        add_carried(I, loop, loop->assigned.entries[i].key);
    }
}

/* --- one round ------------------------------------------------------------ */

/* The environment at the head, with fresh versions. */
static void
open_head(Infer *I, Loop *loop)
{
    Env env = env_copy(I, &loop->entry);
    for (int i = 0; i < loop->assigned.n; i++) {
        Sym name = loop->assigned.entries[i].key;
        env.at[name_number(I->frame, name)] = NULL; /* dead, or set below */
    }
    for (int i = 0; i < loop->carried.n; i++) {
        Carried *c = &loop->carried.at[i];
        c->head = NULL;
        if (c->type != NULL) {
            c->head = ver_new(I, c->name, c->type, c->loc);
            c->head->conflict = c->conflict;
        }
        env.at[c->number] = c->head;
    }
    I->frame->env = env;
    loop->frame = (LoopFrame){.outer = I->frame->loop, .key = loop->key};
    loop->frame.inner = loop->s->inner;
    I->frame->loop = &loop->frame;
    loop->copy->targets = (AExprVec){0};
    loop->copy->body = (ABlock){0};
}

/* The end of the body is one more way back to the head. */
static void
close_body(Infer *I, Loop *loop)
{
    if (!I->frame->env.dead) {
        ABlock *converts = add_converts(I, &loop->copy->body, loop->s->loc);
        add_exit(I, &loop->frame.continues, I->frame->env, converts);
    }
    I->frame->loop = loop->frame.outer;
}

/* Types of arrays in memory (alone or in tuples) say which array. */
static bool
same_memory(const Type *lhs, const Type *rhs)
{
    bool same = !type_is_memory(lhs) || (lhs->object == rhs->object &&
                                         lhs->ref == rhs->ref &&
                                         lhs->view == rhs->view);
    for (int i = 0; type_is_pack(lhs) && i < lhs->rank; i++) {
        same &= same_memory(lhs->items[i], rhs->items[i]);
    }
    return same;
}

/* Joins one way back into the carried type; true if that changes it. No type
 * for both is a conflict, which is told only if the name is read: then the loop
 * may be written out, if its rounds are few, so that each has types of its own.
 */
static bool
widen(Infer *I, const Loop *loop, Carried *c, const Ver *back)
{
    if (back == c->head || c->conflict != NULL) {
        return false;
    }
    if (back != NULL && back->conflict != NULL) {
        c->conflict = back->conflict;
        c->type = type_kind(I->arena, TY_POISON);
        return true;
    }
    const Type *rhs = back ? back->base.type : NULL;
    const Type *entry = c->entry ? c->entry->base.type : NULL;
    const Type *lhs = carried_type(I, c->type, entry, rhs);
    const Type *joined = list_join(I, lhs, rhs, true);
    if (!type_keeps(entry, joined) || !type_keeps(rhs, joined)) {
        joined = NULL;
    }
    if (joined == NULL && (c->type != NULL || rhs != NULL)) {
        Conflict *conflict = ARENA_NEW(I->arena, Conflict);
        conflict->lhs = c->type;
        conflict->rhs = rhs;
        conflict->lhs_loc = c->loc;
        conflict->rhs_loc = back ? back->base.loc : c->loc;
        conflict->loop = loop->key;
        bool tuples = c->type != NULL && c->type->kind == TY_TUPLE;
        bool few = origin_below(I, loop->pin, MOST_PINNED_ROUNDS);
        conflict->pin = tuples && few ? loop->pin : 0;
        c->conflict = conflict;
        c->type = type_kind(I->arena, TY_POISON);
        return true;
    }
    joined = join_objects(I, joined, c->type, rhs);
    bool same = c->type == joined || (c->type != NULL && joined != NULL &&
                                      type_equal(c->type, joined) &&
                                      same_memory(c->type, joined) &&
                                      c->type->origin == joined->origin);
    c->type = joined;
    return !same;
}

/* Joins all ways back, name by name; true if any type grew. */
static bool
widen_all(Infer *I, Loop *loop, const ExitVec *exits)
{
    bool changed = false;
    for (int i = 0; i < loop->carried.n; i++) {
        for (int k = 0; k < exits->n; k++) {
            Carried *c = &loop->carried.at[i];
            changed |= widen(I, loop, c, exits->at[k].env.at[c->number]);
        }
    }
    return changed;
}

/* --- leaving -------------------------------------------------------------- */

/* Once the types stand: every way to the head ends in conversions to the
 * versions there. */
static void
convert_all(Infer *I, Loop *loop, const ExitVec *exits)
{
    for (int i = 0; i < loop->carried.n; i++) {
        const Carried *c = &loop->carried.at[i];
        for (int k = 0; c->head != NULL && k < exits->n; k++) {
            const Exit *exit = &exits->at[k];
            add_convert(I, exit->converts, c->head, exit->env.at[c->number]);
        }
    }
}

/* Does a maybe-type at the head come from the way in only? */
static bool
head_is_vague(const Loop *loop)
{
    for (int i = 0; i < loop->carried.n; i++) {
        const Carried *c = &loop->carried.at[i];
        if (c->conflict != NULL ||
            (c->type != NULL && c->type->alt != ALT_NEVER)) {
            return true;
        }
    }
    return false;
}

/* Versions made in the loop must not be named after it: what would keep such
 * a version gets a new one. */
void
rename_assigned(Infer *I, const Map *assigned, const ExitVec *exits, Env *env)
{
    for (int i = 0; !env->dead && i < assigned->n; i++) {
        Sym name = assigned->entries[i].key;
        int number = name_number(I->frame, name);
        Ver *ver = env->at[number];
        bool all_same = ver != NULL && ver->conflict == NULL;
        for (int k = 0; k < exits->n; k++) {
            all_same &=
                exits->at[k].env.dead || exits->at[k].env.at[number] == ver;
        }
        if (!all_same) {
            continue;
        }
        const Type *type = carry_out(I, ver->base.type);
        Ver *fresh = ver_new(I, name, type, ver->base.loc);
        for (int k = 0; k < exits->n; k++) {
            if (!exits->at[k].env.dead) {
                add_convert(I, exits->at[k].converts, fresh, ver);
            }
        }
        env->at[number] = fresh;
    }
}

/* The exits get versions of their own. */
static void
leave_apart(Infer *I, Loop *loop, ExitVec *exits)
{
    Env env = exits_join(I, exits, 0);
    rename_assigned(I, &loop->assigned, exits, &env);
    I->frame->env = env;
}

/* Appends 'from' to 'to'. */
static void
add_exits(Infer *I, ExitVec *to, const ExitVec *from)
{
    for (int i = 0; i < from->n; i++) {
        vec_push(I->arena, to, from->at[i]);
    }
}

/* Runs the 'else' block from the head and makes its end an exit. */
static void
leave_through_else(Infer *I, Loop *loop, const Env *head)
{
    ExitVec exits = {0};
    add_exits(I, &exits, &loop->frame.breaks);
    if (!loop->never_ends) {
        I->frame->env = env_copy(I, head);
        int outer = I->scope;
        block_enter(I);
        infer_block(I, &loop->s->orelse, &loop->copy->orelse);
        I->scope = outer;
        if (!I->frame->env.dead) {
            ABlock *converts =
                add_converts(I, &loop->copy->orelse, loop->s->loc);
            add_exit(I, &exits, I->frame->env, converts);
        }
    }
    leave_apart(I, loop, &exits);
}

/* Is what holds after the loop not what holds at its head? */
static bool
has_own_exits(const Loop *loop)
{
    return loop->never_ends || loop->s->orelse.n > 0;
}

/* Refuses lists that the loop exchanges while they have other names. */
static void
check_lists(Infer *I, const Loop *loop, const ExitVec *ways, const Env *head)
{
    for (int i = 0; i < loop->carried.n; i++) {
        const Carried *c = &loop->carried.at[i];
        list_need_alone(I, ways, head, c->number, loop->s->loc);
    }
}

/* Sets the environment after the loop and adds all conversions. */
static void
leave(Infer *I, Loop *loop, const Env *head)
{
    Exit entry = {loop->entry, loop->entry_converts};
    ExitVec ways = {0};
    vec_push(I->arena, &ways, entry);
    add_exits(I, &ways, &loop->frame.continues);
    if (has_own_exits(loop)) {
        check_lists(I, loop, &ways, head);
        convert_all(I, loop, &ways);
        leave_through_else(I, loop, head);
        return;
    }
    add_exits(I, &ways, &loop->frame.breaks);
    check_lists(I, loop, &ways, head);
    convert_all(I, loop, &ways);
    ExitVec rounds = {0};
    add_exits(I, &rounds, &loop->frame.continues);
    add_exits(I, &rounds, &loop->frame.breaks);
    if (loop->has_round && rounds.n > 0 && head_is_vague(loop)) {
        leave_apart(I, loop, &rounds);
    } else {
        I->frame->env = env_copy(I, head);
    }
}

/* Repeats 'round' until the carried types stand.  It runs the head and the
 * body from the environment that open_head made. */
static void
fix_point(Infer *I, Loop *loop, void (*round)(Infer *I, Loop *loop))
{
    int outer = I->scope;
    int turn = I->turn;
    int nreturns = I->frame->returns.n;
    bool changed = true;
    vec_push(I->arena, &I->turns, turn);
    I->turn = I->turns.n - 1;
    for (int i = 0; changed; i++) {
        if (i == MOST_ROUNDS) {
            fatal("infer: the types of a loop do not settle");
        }
        I->frame->returns.n = nreturns; /* of rounds thrown away */
        open_head(I, loop);
        Env head = env_copy(I, &I->frame->env);
        block_enter(I);
        round(I, loop);
        close_body(I, loop);
        I->scope = outer;
        changed = widen_all(I, loop, &loop->frame.continues);
        if (!has_own_exits(loop)) {
            changed |= widen_all(I, loop, &loop->frame.breaks);
        }
        if (!changed) {
            leave(I, loop, &head);
        }
    }
    I->turn = turn;
}

/* --- while ---------------------------------------------------------------- */

/* The test is part of the round: it reads the head's versions. A test that is
 * known to fail makes the body dead. */
static void
while_round(Infer *I, Loop *loop)
{
    Env before = env_copy(I, &I->frame->env);
    AExpr *cond = infer_cond(I, loop->s->value);
    loop->copy->value = cond;
    if (cells_changed(I, &before)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loop->s->value->loc,
                     "Write `while True:`, and `break` after the call.",
                     "a test of a `while` that assigns attributes is not "
                     "translated");
    }
    bool truth = true;
    bool known = type_truth(cond->type, &truth);
    loop->never_ends = known && truth;
    if (known && !truth) {
        I->frame->env.dead = true;
        return;
    }
    infer_block(I, &loop->s->body, &loop->copy->body);
}

/* The place of a ':=' in 'e', NULL: there is none. */
static const AExpr *
named_in(const AExpr *e)
{
    if (e == NULL || e->kind == A_NAMED) {
        return e;
    }
    const AExpr *found = named_in(e->lhs);
    found = found ? found : named_in(e->rhs);
    for (int i = 0; found == NULL && i < e->items.n; i++) {
        found = named_in(e->items.at[i]);
    }
    return found;
}

/* while test: body, else: orelse.  What a test binds would have to be carried
 * out of the loop by the test that fails, which no loop of the IR does; the
 * loader has moved such tests into the body where it could. */
void
infer_while(Infer *I, const AStmt *s, ABlock *out)
{
    const AExpr *named = named_in(s->value);
    if (named != NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, named->loc,
                     "Write `while True:`, and `break` after the assignment.",
                     "`:=` in the test of a `while` whose `else` leaves a loop "
                     "around is not translated");
    }
    Loop loop;
    if (map_get(&I->unroll, s->value) != NULL) {
        infer_unrolled_while(I, s, out);
        return;
    }
    loop_init(I, s, out, &loop);
    loop.key = may_unroll(I, s, 0) ? s->value : NULL;
    fix_point(I, &loop, while_round);
}

/* --- for ------------------------------------------------------------------ */

/* The type of what the iterable gives in each round; NULL: it differs from one
 * round to another. */
static const Type *
round_type(Infer *I, const AExpr *e)
{
    const Type *items[MAX_LANES];
    BuiltinId id = iter_builtin(e);
    bool count = id == BUILTIN_ENUMERATE;
    int n = id == BUILTIN_ZIP ? e->items.n : 1;
    switch ((int)id) {
    case BUILTIN_RANGE:
        return type_int(I->arena);
    case BUILTIN_REVERSED:
        return round_type(I, e->items.at[0]);
    case BUILTIN_ENUMERATE:
    case BUILTIN_ZIP:
        items[0] = type_int(I->arena);
        for (int i = 0; i < n && i + count < MAX_LANES; i++) {
            items[i + count] = round_type(I, e->items.at[i]);
            if (items[i + count] == NULL) {
                return NULL;
            }
        }
        return type_tuple(I->arena, items, n + count, false);
    default:
        break;
    }
    return e->type->kind == TY_TUPLE ? uniform_item(I, e->type)
                                     : item_type(I, e->type, e->loc);
}

/* The arguments of range must be integers; a step that is known to be zero
 * raises ValueError. */
static void
check_range(Infer *I, const AExpr *e)
{
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *arg = e->items.at[i];
        if (arg == NULL) {
            continue;
        }
        bool maybe = arg->type->kind == TY_NUM && arg->type->alt == ALT_INT;
        if (!type_is_integer(arg->type, true) && !maybe) {
            infer_refuse(I, DIAG_ALWAYS_FAILS, arg->loc,
                         "Convert it with `int(...)`.",
                         "`range` of %s raises TypeError",
                         type_text(I->arena, arg->type));
        }
        int64_t step = 1;
        if (i == 2 && type_is_known_int(arg->type, &step) && step == 0) {
            infer_refuse(I, DIAG_ALWAYS_FAILS, arg->loc, NULL,
                         "`range` with step 0 raises ValueError");
        }
    }
}

/* The first number of enumerate. */
static void
check_start(Infer *I, const AExpr *start)
{
    if (start != NULL && !type_is_integer(start->type, false)) {
        need_num(I, start, "the start");
        infer_refuse(I, DIAG_ALWAYS_FAILS, start->loc, NULL,
                     "`enumerate` can't start at %s",
                     type_text(I->arena, start->type));
    }
}

/* reversed() takes what can be indexed. */
static void
check_reversible(Infer *I, const AExpr *e)
{
    BuiltinId id = iter_builtin(e);
    if (id != BUILTIN_NONE && id != BUILTIN_RANGE) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, e->loc, NULL,
                     "`reversed` of `%s` raises TypeError",
                     builtin_row(id)->name);
    }
}

/* Refuses arguments of range that are no ints, and iterables of the others that
 * aren't one. */
void
check_iterable(Infer *I, const AExpr *e)
{
    BuiltinId id = iter_builtin(e);
    switch ((int)id) {
    case BUILTIN_RANGE:
        check_range(I, e);
        return;
    case BUILTIN_ENUMERATE:
        check_iterable(I, e->items.at[0]);
        check_start(I, e->items.at[1]);
        return;
    case BUILTIN_REVERSED:
        check_reversible(I, e->items.at[0]);
        check_iterable(I, e->items.at[0]);
        return;
    case BUILTIN_ZIP:
    case BUILTIN_PRODUCT:
        for (int i = 0; i < e->items.n; i++) {
            check_iterable(I, e->items.at[i]);
        }
        return;
    case BUILTIN_NDINDEX:
    case BUILTIN_NDENUMERATE:
        return;
    default:
        break;
    }
    if (e->type->kind != TY_TUPLE || e->type->alt != ALT_NEVER) {
        item_type(I, e->type, e->loc);
    }
}

/* The target is bound anew in every round, before the body. */
static void
for_round(Infer *I, Loop *loop)
{
    const Type *type = round_type(I, loop->copy->value);
    AExpr *target = infer_target(I, loop->s->targets.at[0], NULL, type);
    vec_push(I->arena, &loop->copy->targets, target);
    infer_block(I, &loop->s->body, &loop->copy->body);
}

/* No loop goes through this: what it gives has no common type. */
static void
refuse_loop(Infer *I, const AExpr *iter)
{
    bool call = iter->kind == A_CALL;
    list_instead(I, iter->type);
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, iter->loc,
                 "Give all items the same kind of number.",
                 call ? "what this gives has no common type"
                      : "a loop over %s is not translated",
                 type_text(I->arena, iter->type));
}

const Type *
common_type(Infer *I, const AExpr *iter)
{
    const Type *type = round_type(I, iter);
    if (type == NULL) {
        refuse_loop(I, iter);
    }
    return type;
}

/* Can the iterable be gone through by a loop?  It is written out if its items
 * have no common type, or if the types of the body demand it. */
static bool
is_loop(Infer *I, const AStmt *s, const AExpr *iter, int64_t rounds)
{
    bool demanded = map_get(&I->unroll, loop_key(s)) && rounds >= 0;
    if (!demanded && rounds != 0 && round_type(I, iter) != NULL) {
        return true;
    }
    if (rounds < 0 || rounds > MOST_WRITTEN) {
        refuse_loop(I, iter);
    }
    return false;
}

/* Lists that the loop holds while it runs, whatever becomes of their names. */
static void
note_iterated(Infer *I, const AExpr *iter)
{
    if (iter->type->kind == TY_LIST) {
        vec_push(I->arena, &I->iterated, iter->type);
    }
    for (int i = 0; iter->kind == A_CALL && i < iter->items.n; i++) {
        if (iter->items.at[i] != NULL) {
            note_iterated(I, iter->items.at[i]);
        }
    }
}

/* The argument of range on which the number of rounds depends; NULL. */
static const AExpr *
range_end(const AExpr *iter)
{
    if (iter_builtin(iter) != BUILTIN_RANGE) {
        return NULL;
    }
    return iter->items.at[1] ? iter->items.at[1] : iter->items.at[0];
}

/* What assigns attributes must be run before they enter the loop. */
static AExpr *
hold_iterable(Infer *I, AExpr *iter, ABlock *out)
{
    if (iter_builtin(iter) == BUILTIN_NONE) {
        return hold_typed(I, iter, out);
    }
    for (int i = 0; i < iter->items.n; i++) {
        if (iter->items.at[i] != NULL) {
            iter->items.at[i] = hold_iterable(I, iter->items.at[i], out);
        }
    }
    return iter;
}

/* The iterable is evaluated once, before the loop. */
void
infer_for(Infer *I, const AStmt *s, ABlock *out)
{
    Env before = env_copy(I, &I->frame->env);
    AExpr *iter = take_seq(I, infer_iterable(I, s->value), out);
    if (cells_changed(I, &before)) {
        iter = hold_iterable(I, iter, out);
    }
    iter = iter->type->alt == ALT_NONE ? need_some(I, iter) : iter;
    iter = dict_keys(I, iter);
    if (list_iterates_none(iter)) {
        infer_block(I, &s->orelse, out);
        return;
    }
    check_iterable(I, iter);
    if (infer_nest(I, s, iter, out)) {
        return;
    }
    int64_t rounds = iter_count(I, iter);
    if (!is_loop(I, s, iter, rounds)) {
        alias_iterated(I, iter, 1);
        infer_unrolled_for(I, s, iter, out);
        alias_iterated(I, iter, -1);
        return;
    }
    Loop loop;
    loop_init(I, s, out, &loop);
    loop.copy->value = iter;
    loop.has_round = rounds > 0;
    loop.key = may_unroll(I, s, rounds) ? loop_key(s) : NULL;
    loop.pin = rounds < 0 ? cond_origin(range_end(iter)) : 0;
    int n = I->iterated.n;
    note_iterated(I, iter);
    alias_iterated(I, iter, 1);
    fix_point(I, &loop, for_round);
    alias_iterated(I, iter, -1);
    I->iterated.n = n;
}
