/* Dicts that are used like the fields of an object.
 *
 *     s = {"low": 9.0, "n": 0}          s["low"], s["n"] = 9.0, 0
 *     for v in a:                       for v in a:
 *         s["n"] += 1             -->       s["n"] += 1      (names so called)
 *         if v < s["low"]:                  if v < s["low"]:
 *             s["low"] = v                      s["low"] = v
 *
 * If all that a function ever does with a name is to bind it to one display
 * whose keys are strings, and to read and assign entries under these keys, then
 * nobody else sees the dict, and its entries are local names.  Each has a type
 * of its own, and lives in a register.
 *
 * An entry that is read before the display was run raises another exception
 * than the name does, but neither is ever seen: Python repeats the call.
 */
#include <string.h>

#include "csrc/ast/ast.h"

/* A name that may be split.  "keys" are those of the display, with the names
 * that entries get; "plain" says that nothing else was found so far. */
typedef struct Fields {
    Arena *arena;
    Sym name;
    Map keys;
    int displays;
    bool plain;
    bool stored;
    bool rewrite; /* else it is only looked */
} Fields;

static void visit_block(Fields *f, const ABlock *block);

/* A string as a key; NULL: it is something else. */
static Sym
text_of(const AExpr *e)
{
    bool text = e != NULL && e->kind == A_CONST && e->type != NULL &&
                e->type->kind == TY_STR;
    return text ? e->type->name : NULL;
}

/* Is it a read or a store of an entry of the dict? */
static bool
is_entry(const Fields *f, const AExpr *e)
{
    return e->kind == A_SUBSCRIPT && e->lhs->kind == A_NAME &&
           e->lhs->name == f->name && e->items.n == 1 &&
           text_of(e->items.at[0]) != NULL &&
           map_has(&f->keys, text_of(e->items.at[0]));
}

/* Everything in 'e' that names the dict is an entry, or it isn't plain. */
static void
visit(Fields *f, AExpr *e)
{
    if (e == NULL) {
        return;
    }
    if (is_entry(f, e)) {
        if (f->rewrite) {
            Sym entry = map_get(&f->keys, text_of(e->items.at[0]));
            *e = (AExpr){.kind = A_NAME, .loc = e->loc, .name = entry};
        }
        return;
    }
    f->plain &= e->kind != A_NAME || e->name != f->name;
    visit(f, e->lhs);
    visit(f, e->rhs);
    for (int i = 0; i < e->items.n; i++) {
        visit(f, e->items.at[i]);
    }
    for (int i = 0; i < e->fors.n; i++) {
        visit(f, e->fors.at[i].target);
    }
    visit_block(f, &e->block);
}

/* name = {...}, and nothing else is assigned? */
static bool
is_display(const AStmt *s)
{
    return s->kind == AS_ASSIGN && s->targets.n == 1 &&
           s->targets.at[0]->kind == A_NAME && s->value->kind == A_DICT &&
           !s->value->outside && s->value->items.n > 0;
}

/* The entries are bound at once, when all values have been evaluated. */
static void
split_display(Fields *f, AStmt *s)
{
    AExpr *names = ast_expr(f->arena, A_TUPLE, s->targets.at[0]->loc);
    AExpr *values = ast_expr(f->arena, A_TUPLE, s->value->loc);
    for (int i = 0; i < s->value->items.n; i += 2) {
        AExpr *name = ast_expr(f->arena, A_NAME, s->value->items.at[i]->loc);
        name->name = map_get(&f->keys, text_of(s->value->items.at[i]));
        vec_push(f->arena, &names->items, name);
        vec_push(f->arena, &values->items, s->value->items.at[i + 1]);
    }
    bool one = names->items.n == 1;
    s->targets.at[0] = one ? names->items.at[0] : names;
    s->value = one ? values->items.at[0] : values;
}

/* A statement with what it holds. */
static void
visit_stmt(Fields *f, AStmt *s)
{
    bool display = is_display(s) && s->targets.at[0]->name == f->name;
    bool target = s->kind == AS_ASSIGN || s->kind == AS_AUG;
    for (int i = 0; i < s->targets.n && !display; i++) {
        f->stored |= target && is_entry(f, s->targets.at[i]);
        f->plain &= s->kind != AS_DELETE || !is_entry(f, s->targets.at[i]);
        visit(f, s->targets.at[i]);
    }
    visit(f, s->value);
    if (display) {
        f->displays++;
        if (f->rewrite) {
            split_display(f, s);
        }
    }
    visit_block(f, &s->body);
    visit_block(f, &s->orelse);
}

static void
visit_block(Fields *f, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        visit_stmt(f, block->at[i]);
    }
}

/* Notes the keys of a display; false: they aren't strings, each another. */
static bool
note_keys(Fields *f, const AExpr *dict)
{
    f->keys = map_new(f->arena);
    for (int i = 0; i < dict->items.n; i += 2) {
        Sym key = text_of(dict->items.at[i]);
        if (key == NULL || map_has(&f->keys, key)) {
            return false;
        }
        Sym entry = sym(str_printf(f->arena, "%s[\"%s\"]", f->name, key));
        map_set(&f->keys, key, (void *)(uintptr_t)entry);
    }
    return true;
}

/* Is the name the function's own, and seen by no other? */
static bool
is_private(const AFunc *func, Sym name)
{
    bool is = func->varargs != name && func->kwargs != name;
    for (int i = 0; i < func->params.n; i++) {
        is &= func->params.at[i].name != name;
    }
    for (int i = 0; i < func->captured.n; i++) {
        is &= func->captured.at[i] != name;
    }
    for (int i = 0; i < func->nonlocals.n; i++) {
        is &= func->nonlocals.at[i] != name;
    }
    return is;
}

/* Splits the dict of a display if it can be. */
static void
try_display(Arena *arena, AFunc *func, const AStmt *s)
{
    Fields f = {.arena = arena, .name = s->targets.at[0]->name, .plain = true};
    if (!is_private(func, f.name) || !note_keys(&f, s->value)) {
        return;
    }
    visit_block(&f, &func->body);
    if (f.plain && f.stored && f.displays == 1) {
        f.rewrite = true;
        visit_block(&f, &func->body);
    }
}

/* Looks for displays in a block and those inside. */
static void
try_block(Arena *arena, AFunc *func, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        if (is_display(s)) {
            try_display(arena, func, s);
        }
        try_block(arena, func, &s->body);
        try_block(arena, func, &s->orelse);
    }
}

void
ast_split_dicts(Arena *arena, AFunc *func)
{
    try_block(arena, func, &func->body);
}
