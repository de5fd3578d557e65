/* The table of library functions, made of builtins.def.
 *
 * Adding a function takes a row there and, unless its kind says all about it, a
 * case in builtin.c for its type and one in csrc/lower for its code.  The row's
 * parameters are checked against the call before either is asked, so those may
 * rely on the arguments that are not optional.
 */
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/rules.h"

static const Builtin table[BUILTIN_COUNT] = {
    [BUILTIN_NONE] = {"", BK_SPECIAL, -1, ""},
#define BUILTIN(id, name, kind, fn, params) {name, kind, (int)(fn), params},
#include "typeinfer/builtins.def"
#undef BUILTIN
};

/* BUILTIN_NONE has a row too, without a name. */
const Builtin *
builtin_row(BuiltinId id)
{
    return &table[id];
}

/* A linear search: it runs once per call in the source. */
BuiltinId
builtin_find(Sym name)
{
    for (int i = 1; i < BUILTIN_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return (BuiltinId)i;
        }
    }
    return BUILTIN_NONE;
}

/* Callees carry the canonical name in their type, so a name that the program
 * has bound to something else is never taken for it. */
BuiltinId
builtin_of(const AExpr *callee)
{
    const Type *type = callee->type;
    if (type == NULL || (type->kind != TY_FUNC && type->kind != TY_DTYPE) ||
        type->name == NULL) {
        return BUILTIN_NONE;
    }
    return builtin_find(type->name);
}

/* Does the call change its list, which must then not be left out? All methods
 * do but those that make a list or look for an item. */
bool
list_changes(const AExpr *call)
{
    if (call->kind != A_CALL || call->callee != NULL || call->items.n == 0 ||
        call->items.at[0] == NULL || call->items.at[0]->type == NULL ||
        call->items.at[0]->type->kind != TY_LIST) {
        return false;
    }
    BuiltinId id = builtin_of(call->lhs);
    return table[id].kind == BK_LIST && id != BUILTIN_LIST_OF &&
           id != BUILTIN_LIST_SORTED && id != BUILTIN_LIST_HAS &&
           id != BUILTIN_LIST_COPY && id != BUILTIN_LIST_INDEX &&
           id != BUILTIN_LIST_COUNT && id != BUILTIN_DICT_FIND;
}

/* The number of the argument 'word'; -1: the function has none. Refused
 * parameters take no slot; what follows '/' and '*' are marks. */
int
builtin_slot(BuiltinId id, const char *word)
{
    int slot = 0;
    const char *at = table[id].params;
    while (*at != '\0') {
        size_t n = strcspn(at, " ?");
        if (n == strlen(word) && strncmp(at, word, n) == 0) {
            return slot;
        }
        slot += *at != '-' && *at != '/';
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return -1;
}

const AExpr *
ufunc_out(const AExpr *call, BuiltinId id)
{
    int slot = builtin_slot(id, "out");
    const AExpr *out = slot >= 0 ? call->items.at[slot] : NULL;
    return out == NULL || out->type->kind == TY_NONE ? NULL : out;
}

/* Does the call write an array that it is given? */
static bool
ufunc_stores(const AExpr *call)
{
    BuiltinId id = builtin_of(call->lhs);
    return id == BUILTIN_FILL ||
           (table[id].kind == BK_UFUNC && ufunc_out(call, id) != NULL);
}

bool
has_user_call(const AExpr *e)
{
    if (e == NULL) {
        return false;
    }
    bool stores = e->kind == A_CALL && (e->callee != NULL || ufunc_stores(e) ||
                                        list_changes(e));
    if (stores || e->kind == A_SEQ) {
        return true;
    }
    bool found = has_user_call(e->lhs) || has_user_call(e->rhs);
    for (int i = 0; i < e->items.n && !found; i++) {
        found = has_user_call(e->items.at[i]);
    }
    return found;
}
