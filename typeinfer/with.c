/* with np.errstate(...), and del.
 *
 *     with np.errstate(divide="ignore"):      kinds: WARN_DIVIDE
 *         q = a / b                           no WARN statements of that kind
 *
 * Only the mode 'ignore' has a native form: the kinds of warnings that are
 * ignored are noted on the statement, and its body is run as it stands.  The
 * other modes raise, call or print at the very operation, which is Python's.
 *
 * After `del x` the name is unbound, so reading it raises as for any other name
 * that has no value on this path.
 */
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/list.h"

/* Refuses (VZ-1003) another context. */
static _Noreturn void
refuse_with(Infer *I, const AExpr *e, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, e->loc,
                 "Translated is `np.errstate` with constant modes that are all "
                 "'ignore'.",
                 "this `with` is not translated: %s", why);
}

/* The kinds that a keyword of np.errstate speaks of. */
static unsigned
kinds_of(Infer *I, const AExpr *call, Sym key)
{
    static const struct {
        const char *name;
        unsigned bits;
    } rows[] = {
        {"divide", 1u << WARN_DIVIDE},   {"over", 1u << WARN_OVERFLOW},
        {"invalid", 1u << WARN_INVALID}, {"under", 0},
        {"all", 1u << WARN_DIVIDE | 1u << WARN_OVERFLOW | 1u << WARN_INVALID},
    };
    for (size_t i = 0; key != NULL && i < sizeof(rows) / sizeof(*rows); i++) {
        if (strcmp(rows[i].name, key) == 0) {
            return rows[i].bits;
        }
    }
    refuse_with(I, call, "an argument of `np.errstate` is not known");
}

/* Is the expression a call of np.errstate? */
static bool
is_errstate(const AExpr *e)
{
    if (e->kind != A_CALL || e->lhs->kind != A_GLOBAL) {
        return false;
    }
    const Binding *binding = e->lhs->binding;
    return binding->kind == BIND_KNOWN &&
           strcmp(binding->known, "numpy.errstate") == 0;
}

/* The body as it stands, under the state. */
void
infer_with(Infer *I, const AStmt *s, ABlock *out)
{
    const AExpr *e = s->value;
    if (!is_errstate(e) || s->targets.n > 0) {
        refuse_with(I, e, "its context is not `np.errstate`");
    }
    AStmt *copy = ast_stmt(I->arena, AS_WITH, s->loc);
    for (int i = 0; i < e->items.n; i++) {
        AExpr *mode = infer_expr(I, e->items.at[i]);
        if (mode->type->kind != TY_STR ||
            strcmp(mode->type->name, "ignore") != 0) {
            refuse_with(I, e, "a mode is not 'ignore'");
        }
        copy->kinds |= kinds_of(I, e, e->keys.at[i]);
    }
    vec_push(I->arena, out, copy);
    infer_block(I, &s->body, &copy->body);
}

/* Names become unbound; items of lists and dicts would change. */
void
infer_delete(Infer *I, const AStmt *s, ABlock *out)
{
    for (int i = 0; i < s->targets.n; i++) {
        const AExpr *target = s->targets.at[i];
        if (list_delete(I, target, out)) {
            continue;
        }
        int number = target->kind == A_NAME
                         ? name_number(I->frame, target->name)
                         : -1;
        if (number < 0) {
            infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, s->loc, NULL,
                         "`del` of anything but a local name or an item of a "
                         "list is not translated");
        }
        keep_effects(I, infer_maybe(I, target), out);
        I->frame->env.at[number] = NULL;
    }
}
