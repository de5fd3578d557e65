/* Pass 'exits': break, continue and early returns become flags.
 *
 *     for i in 0..n {                  for i in 0..n until %broke {
 *         if (c) { break }                 set broke = false
 *         body                   -->       if (c) { set broke = true }
 *     }                                    else   { body }
 *                                      }
 *
 * After this pass control flow is nested IFs and loops only, which is what
 * 'ssa' needs and what every analysis likes.  Three rules do it all:
 *
 *  1. An exit ends its block; what follows it in the block is dropped.
 *  2. If one branch of an IF always exits, what follows the IF moves to the
 *     end of the other branch.  This covers nearly all code and costs no
 *     test.
 *  3. If a branch may or may not have exited, what follows is guarded by
 *     'no exit has been taken'.
 *
 * Each exit has a target: the round of a loop (continue), a loop (break) or a
 * scope (leave).  The target owns a flag, a SET variable that is true once
 * the exit was taken; a loop's "until" is the disjunction of the flags of
 * break and of all targets outside it that were used inside.  A flag can be
 * true at the head of a round only if "until" had already ended the loop, so
 * every round starts by setting the flags of its loop to false: a fact that
 * the C compiler would otherwise have to find.
 */
#include "transforms/transforms.h"

/* Where an exit leads: the rest of a loop, of a round, or of a scope.
 *   "exit"   S_BREAK, S_CONTINUE or S_LEAVE
 *   "flag"   made when the first exit needs it; NULL: none yet
 *   "depth"  number of targets outside this one, its bit in Exits
 *   "outer"  the next target outside */
typedef struct Target {
    StmtKind exit; /* S_BREAK, S_CONTINUE or S_LEAVE */
    Var *flag;     /* made when the first exit needs it */
    int depth;     /* number of targets outside this one */
    struct Target *outer;
} Target;

/* Which targets a block may exit to, as a bit per depth (exits nest far less
 * deeply than 64; beyond that the program is refused by its size). */
typedef uint64_t Exits;

/* The walk's state: "top" is the innermost target one is in. */
typedef struct Walk {
    Pass *pass;
    Func *func;
    Target *top;
} Walk;

/* What is known of a rewritten block: "may" exit where to, "always" exits. */
typedef struct Flow {
    Exits may;
    bool always;
} Flow;

static Flow walk_block(Walk *w, Stmt *const *at, int n, Block *out);

/* The flag of 't', made at its first use, so that a loop that is never left
 * early gets none. */
static Var *
target_flag(Walk *w, Target *t)
{
    if (t->flag == NULL) {
        const char *name = t->exit == S_BREAK      ? "broke"
                           : t->exit == S_CONTINUE ? "skip"
                                                   : "left";
        t->flag = ir_var(w->func, name, DT_BOOL, 0);
    }
    return t->flag;
}

/* The innermost target of the exit's kind: break and continue of the nearest
 * loop, leave of the nearest scope. */
static Target *
target_of(Walk *w, const Stmt *exit)
{
    for (Target *t = w->top; t != NULL; t = t->outer) {
        if (t->exit == exit->kind) {
            return t;
        }
    }
    fatal("exits: an exit without a target at line %u", exit->loc.line);
}

/* '*t', in the caller's frame, becomes the innermost target. */
static void
push_target(Walk *w, Target *t, StmtKind exit)
{
    *t = (Target){.exit = exit, .outer = w->top};
    t->depth = w->top != NULL ? w->top->depth + 1 : 0;
    if (t->depth >= 64) {
        fatal("exits: loops and calls nest too deeply");
    }
    w->top = t;
}

/* The statement set 'flag' = 'value'. */
static Stmt *
set_flag(Walk *w, Var *flag, bool value, Loc loc)
{
    Arena *a = w->pass->arena;
    return ir_set(a, flag, ir_bool(a, value), loc);
}

/* The disjunction of the flags of the targets in 'exits'; NULL for none. */
static Expr *
any_flag(Walk *w, Exits exits)
{
    Arena *a = w->pass->arena;
    Expr *any = NULL;
    for (Target *t = w->top; t != NULL; t = t->outer) {
        if ((exits >> t->depth & 1) == 0) {
            continue;
        }
        Expr *flag = ir_ref(a, target_flag(w, t));
        any = any == NULL ? flag : ir_binary(a, E_OR, any, flag);
    }
    return any;
}

/* 'first' followed by the statements at 'rest' as one list. */
static Block
joined(Walk *w, const Block *first, Stmt *const *rest, int n)
{
    Block all = {0};
    for (int i = 0; i < first->n; i++) {
        vec_push(w->pass->scratch, &all, first->at[i]);
    }
    for (int i = 0; i < n; i++) {
        vec_push(w->pass->scratch, &all, rest[i]);
    }
    return all;
}

/* Does 'block' end in an exit on every path? An exit, or an IF both of whose
 * sides always exit, decides it wherever it stands: what follows it in the
 * block is dropped (rule 1). Exits out of a loop inside don't count, since the
 * loop may run no round. */
static bool
always_exits(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_BREAK || s->kind == S_CONTINUE || s->kind == S_LEAVE) {
            return true;
        }
        if (s->kind == S_IF && always_exits(&s->body) &&
            always_exits(&s->els)) {
            return true;
        }
    }
    return false;
}

/* Is there an exit, or a scope to dissolve? */
static bool
has_work(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_BREAK || s->kind == S_CONTINUE ||
            s->kind == S_LEAVE || s->kind == S_SCOPE ||
            has_work(&s->body) || has_work(&s->els)) {
            return true;
        }
    }
    return false;
}

/* An IF with what follows it; rule 2 where it applies.  True in '*took' when
 * 'rest' was consumed. */
static Flow
walk_if(Walk *w, const Stmt *s, Stmt *const *rest, int nrest, Block *out,
        bool *took)
{
    Block then = s->body;
    Block els = s->els;
    *took = false;
    if (nrest > 0 && always_exits(&s->body)) {
        els = joined(w, &s->els, rest, nrest);
        *took = true;
    } else if (nrest > 0 && always_exits(&s->els)) {
        then = joined(w, &s->body, rest, nrest);
        *took = true;
    }
    Stmt *copy = arena_copy(w->pass->arena, s, sizeof(*s));
    copy->body = (Block){0};
    copy->els = (Block){0};
    Flow f1 = walk_block(w, then.at, then.n, &copy->body);
    Flow f2 = walk_block(w, els.at, els.n, &copy->els);
    vec_push(w->pass->arena, out, copy);
    return (Flow){f1.may | f2.may, f1.always && f2.always};
}

/* A loop: break and continue are its own, exits to targets outside stay.
 * "until" is the disjunction of all flags that were set to leave it. Every
 * round starts by clearing them; those of outer targets are clear then as
 * well, for the loop would have ended. */
static Flow
walk_loop(Walk *w, const Stmt *s, Block *out)
{
    Arena *a = w->pass->arena;
    Target broke;
    Target skip;
    push_target(w, &broke, S_BREAK);
    push_target(w, &skip, S_CONTINUE);
    Stmt *copy = arena_copy(a, s, sizeof(*s));
    Block body = {0};
    Flow f = walk_block(w, s->body.at, s->body.n, &body);
    w->top = broke.outer;
    Exits outside = f.may & (((Exits)1 << broke.depth) - 1);
    copy->until = any_flag(w, outside);
    copy->body = (Block){0};
    if (broke.flag != NULL) {
        Expr *flag = ir_ref(a, broke.flag);
        copy->until = copy->until == NULL
                          ? flag
                          : ir_binary(a, E_OR, copy->until, flag);
        vec_push(a, &copy->body, set_flag(w, broke.flag, false, s->loc));
    }
    if (skip.flag != NULL) {
        vec_push(a, &copy->body, set_flag(w, skip.flag, false, s->loc));
    }
    for (Target *t = w->top; t != NULL; t = t->outer) {
        if (outside >> t->depth & 1) {
            Stmt *clear = set_flag(w, target_flag(w, t), false, s->loc);
            vec_push(a, &copy->body, clear);
        }
    }
    for (int i = 0; i < body.n; i++) {
        vec_push(a, &copy->body, body.at[i]);
    }
    vec_push(a, out, copy);
    return (Flow){outside, false};
}

/* A scope dissolves into its block; its flag is false to begin with. Whoever
 * follows the scope runs whether it was left or not, unless every exit went
 * further out. */
static Flow
walk_scope(Walk *w, const Stmt *s, Block *out)
{
    Arena *a = w->pass->arena;
    Target left;
    push_target(w, &left, S_LEAVE);
    Block body = {0};
    Flow f = walk_block(w, s->body.at, s->body.n, &body);
    w->top = left.outer;
    if (left.flag != NULL) {
        vec_push(a, out, set_flag(w, left.flag, false, s->loc));
    }
    for (int i = 0; i < body.n; i++) {
        vec_push(a, out, body.at[i]);
    }
    Exits outside = f.may & (((Exits)1 << left.depth) - 1);
    return (Flow){outside, f.always && outside == f.may};
}

/* The statements at 'at', guarded by 'no exit in "exits" was taken'. */
static Flow
walk_guarded(Walk *w, Exits exits, Stmt *const *at, int n, Block *out)
{
    Arena *a = w->pass->arena;
    Stmt *guard = ir_stmt(a, S_IF, at[0]->loc);
    guard->value = ir_unary(a, E_NOT, any_flag(w, exits));
    Flow f = walk_block(w, at, n, &guard->body);
    vec_push(a, out, guard);
    return f;
}

/* Rewrites the 'n' statements at 'at', appending to 'out', and says how the
 * block may end. An IF may take in all that follows it, and a guard does, so
 * either ends the walk. */
static Flow
walk_block(Walk *w, Stmt *const *at, int n, Block *out)
{
    Flow flow = {0, false};
    for (int i = 0; i < n; i++) {
        Stmt *s = at[i];
        Flow f = {0, false};
        bool took = false;
        switch ((int)s->kind) {
        case S_BREAK:
        case S_CONTINUE:
        case S_LEAVE: {
            Target *t = target_of(w, s);
            Stmt *set = set_flag(w, target_flag(w, t), true, s->loc);
            vec_push(w->pass->arena, out, set);
            flow.may |= (Exits)1 << t->depth;
            flow.always = true;
            return flow;
        }
        case S_IF:
            f = walk_if(w, s, at + i + 1, n - i - 1, out, &took);
            break;
        case S_FOR:
        case S_WHILE:
            f = walk_loop(w, s, out);
            break;
        case S_SCOPE:
            f = walk_scope(w, s, out);
            break;
        default:
            vec_push(w->pass->arena, out, s);
        }
        flow.may |= f.may;
        if (took || f.always) {
            flow.always = f.always;
            return flow;
        }
        if (f.may != 0 && i + 1 < n) {
            f = walk_guarded(w, f.may, at + i + 1, n - i - 1, out);
            flow.may |= f.may;
            return flow;
        }
    }
    return flow;
}

/* A function without exits and scopes is returned as it came. */
Func *
pass_exits(Pass *pass, Func *func)
{
    if (!has_work(&func->body)) {
        return func;
    }
    Walk w = {.pass = pass, .func = func};
    Block body = {0};
    walk_block(&w, func->body.at, func->body.n, &body);
    func->body = body;
    return func;
}
