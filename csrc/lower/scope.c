/* Scopes: the bodies of functions, and loops that are written out.
 *
 *     scope {                       set left = false
 *         scope {                   scope {
 *             ... leave outer ...       scope { ... set left = true; leave ...
 *             }
 *         }                  -->        if left { leave }
 *         rest                          rest
 *     }                             }
 *
 * The IR's LEAVE ends the innermost scope.  To leave one further out, a flag of
 * that one is set, and after each scope on the way there is a test whether to
 * go on leaving.  A scope that nobody leaves from afar has no flag. */
#include "csrc/lower/state.h"

/* Statements from here to scope_end are the scope's; NULL: a function's body.
 */
void
scope_begin(Lower *L, LowerScope *scope, const AStmt *s, Loc loc)
{
    *scope = (LowerScope){.outer = L->scope, .s = s};
    scope->stmt = ir_stmt(L->arena, S_SCOPE, loc);
    scope->block = L->out;
    L->out = &scope->stmt->body;
    L->scope = scope;
}

/* The flag is cleared before the scope, which may stand in a loop. */
void
scope_end(Lower *L, LowerScope *scope)
{
    Loc loc = scope->stmt->loc;
    L->scope = scope->outer;
    L->out = scope->block;
    if (scope->left != NULL) {
        emit_set(L, scope->left, ir_bool(L->arena, false), loc);
    }
    emit(L, scope->stmt);
    for (int i = 0; i < scope->passed.n; i++) {
        Stmt *s = ir_stmt(L->arena, S_IF, loc);
        s->value = ir_ref(L->arena, scope->passed.at[i]->left);
        vec_push(L->arena, &s->body, ir_stmt(L->arena, S_LEAVE, loc));
        emit(L, s);
    }
}

/* 'target' is left through 'scope'. */
static void
pass_through(Lower *L, LowerScope *scope, LowerScope *target)
{
    for (int i = 0; i < scope->passed.n; i++) {
        if (scope->passed.at[i] == target) {
            return;
        }
    }
    vec_push(L->arena, &scope->passed, target);
}

/* Leaves the scope of 's', NULL: the function. */
void
scope_leave(Lower *L, const AStmt *s, Loc loc)
{
    LowerScope *target = L->scope;
    while (target != NULL && target->s != s) {
        target = target->outer;
    }
    if (target == NULL) {
        fatal("lower: a way out of no scope in line %u", (unsigned)loc.line);
    }
    if (target != L->scope) {
        if (target->left == NULL) {
            target->left = set_var(L, "left", DT_BOOL, 0);
        }
        emit_set(L, target->left, ir_bool(L->arena, true), loc);
    }
    for (LowerScope *at = L->scope; at != target; at = at->outer) {
        pass_through(L, at, target);
    }
    emit(L, ir_stmt(L->arena, S_LEAVE, loc));
}
