/* The table of library functions, made of builtins.def. */
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/rules.h"

static const Builtin table[BUILTIN_COUNT] = {
    [BUILTIN_NONE] = {"", BK_SPECIAL, -1, ""},
#define BUILTIN(id, name, kind, fn, params) {name, kind, (int)(fn), params},
#include "typeinfer/builtins.def"
#undef BUILTIN
};

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

BuiltinId
builtin_of(const AExpr *callee)
{
    const Type *type = callee->type;
    if (type == NULL || (type->kind != TY_FUNC && type->kind != TY_DTYPE)
        || type->name == NULL) {
        return BUILTIN_NONE;
    }
    return builtin_find(type->name);
}
