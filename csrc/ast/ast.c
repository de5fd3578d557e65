/* Nodes of the Ast, and the dump 'A' / 'T': the program as Python-like text.
 *
 *     def blur(img.0: float64[:, :], k.1: float):  # -> float64[:, :]
 *         h.2: int = img.0.shape[0]
 *         for y.3: int in range(1, (h.2 - 1)):
 *             out.4[y.3, 0] = (img.0[y.3, 0] * k.1)  # float64 scalar
 *
 * A name is followed by the number of its version once inference has given it
 * one, and at an assignment by its type; a value's type stands at the end of
 * the line.  Operators are in parentheses throughout: the dump shows the tree,
 * not the user's style.  The typed bodies of called user functions follow
 * their caller, each with the line of its call.
 */
#include "csrc/ast/ast.h"

/*   "out"  receives the text; its "indent" is the depth of blocks.
 *   "pending"  calls whose typed bodies are still to be printed. */
typedef struct Printer {
    Str *out;
    VEC(const AExpr *) pending;
} Printer;

static void print_expr(Printer *p, const AExpr *e);

/* The words of AOp, in its order. */
static const char *const op_words[] = {
    "+",  "-", "*",  "/", "//", "%",  "**",     "@",   "<<",     ">>",
    "|",  "^", "&",  "-", "+",  "~",  "not ",   "and", "or",     "==",
    "!=", "<", "<=", ">", ">=", "is", "is not", "in",  "not in",
};

_Static_assert(sizeof(op_words) / sizeof(op_words[0]) == AO_NOTIN + 1,
               "words of AOp");

AExpr *
ast_expr(Arena *arena, AKind kind, Loc loc)
{
    AExpr *e = ARENA_NEW(arena, AExpr);
    e->kind = kind;
    e->loc = loc;
    return e;
}

AStmt *
ast_stmt(Arena *arena, ASKind kind, Loc loc)
{
    AStmt *s = ARENA_NEW(arena, AStmt);
    s->kind = kind;
    s->loc = loc;
    return s;
}

/* --- expressions -------------------------------------------------------- */

/* The value is part of the type, which is known. */
static void
print_const(Printer *p, const Type *type)
{
    if (!type || type->kind == TY_NONE) {
        str_add(p->out, "None");
    } else if (type->kind == TY_STR) {
        str_add_c_literal(p->out, type->name);
    } else if (type->dtype == DT_BOOL) {
        str_add(p->out, type->ival ? "True" : "False");
    } else if (dtype_is_float(type->dtype)) {
        str_add_double(p->out, type->fval);
    } else {
        str_addf(p->out, "%lld", (long long)type->ival);
    }
}

/* 'h.2' */
static void
print_version(Printer *p, const Version *version)
{
    str_addf(p->out, "%s.%d", version->name, version->id);
}

/* A name where it is defined: with its type. Before inference there is no
 * version, and the name stands alone. */
static void
print_definition(Printer *p, Sym name, const Version *version)
{
    if (!version) {
        str_add(p->out, name);
        return;
    }
    print_version(p, version);
    if (version->type) {
        str_add(p->out, ": ");
        type_add(p->out, version->type);
    }
}

/* 'a, b, c' with 'word' between; NULL items print as nothing. */
static void
print_items(Printer *p, const AExprVec *items, const char *word)
{
    for (int i = 0; i < items->n; i++) {
        str_add(p->out, i ? word : "");
        if (items->at[i]) {
            print_expr(p, items->at[i]);
        }
    }
}

/* A call of a user function is remembered: its body follows later. Callees come
 * from inference, so the dump 'A' of a loaded tree has none. */
static void
print_call(Printer *p, const AExpr *e)
{
    print_expr(p, e->lhs);
    str_add(p->out, "(");
    for (int i = 0; i < e->items.n; i++) {
        str_add(p->out, i ? ", " : "");
        if (i < e->keys.n && e->keys.at[i]) {
            str_addf(p->out, "%s=", e->keys.at[i]);
        }
        print_expr(p, e->items.at[i]);
    }
    str_add(p->out, ")");
    if (e->callee) {
        vec_push(p->out->arena, &p->pending, e);
    }
}

/* 'a < b <= c' is one node, as in Python. */
static void
print_compare(Printer *p, const AExpr *e)
{
    str_add(p->out, "(");
    print_expr(p, e->lhs);
    for (int i = 0; i < e->items.n; i++) {
        str_addf(p->out, " %s ", op_words[e->ops.at[i]]);
        print_expr(p, e->items.at[i]);
    }
    str_add(p->out, ")");
}

/* BINOP, UNARY and BOOLOP. */
static void
print_operator(Printer *p, const AExpr *e)
{
    str_add(p->out, "(");
    if (e->kind == A_UNARY) {
        str_add(p->out, op_words[e->op]);
        print_expr(p, e->lhs);
    } else if (e->kind == A_BOOLOP) {
        print_items(p, &e->items, e->op == AO_AND ? " and " : " or ");
    } else {
        print_expr(p, e->lhs);
        str_addf(p->out, " %s ", op_words[e->op]);
        print_expr(p, e->rhs);
    }
    str_add(p->out, ")");
}

/* Tuples, lists and the index of a subscript. */
static void
print_display(Printer *p, const AExpr *e, const char *open, const char *close)
{
    str_add(p->out, open);
    print_items(p, &e->items, ", ");
    str_add(p->out, e->kind == A_TUPLE && e->items.n == 1 ? "," : "");
    str_add(p->out, close);
}

/* The items are test, yes, no; Python writes yes first. */
static void
print_ifexp(Printer *p, const AExpr *e)
{
    str_add(p->out, "(");
    print_expr(p, e->items.at[1]);
    str_add(p->out, " if ");
    print_expr(p, e->items.at[0]);
    str_add(p->out, " else ");
    print_expr(p, e->items.at[2]);
    str_add(p->out, ")");
}

/* [a for x in xs if c] */
static void
print_comp(Printer *p, const AExpr *e)
{
    str_add(p->out, e->is_list ? "[" : "(");
    print_expr(p, e->lhs);
    for (int i = 0; i < e->fors.n; i++) {
        const AFor *part = &e->fors.at[i];
        str_add(p->out, " for ");
        print_expr(p, part->target);
        str_add(p->out, " in ");
        print_expr(p, part->iter);
        for (int k = 0; k < part->ifs.n; k++) {
            str_add(p->out, " if ");
            print_expr(p, part->ifs.at[k]);
        }
    }
    str_add(p->out, e->is_list ? "]" : ")");
}

/* LAMBDA, NAMED, DICT and SEQ; the function of a LAMBDA is printed apart. */
static void
print_form(Printer *p, const AExpr *e)
{
    switch ((int)e->kind) {
    case A_LAMBDA:
        str_addf(p->out, "<%s %d>", e->name, e->func);
        break;
    case A_NAMED:
        str_add(p->out, "(");
        print_expr(p, e->lhs);
        str_add(p->out, " := ");
        print_expr(p, e->rhs);
        str_add(p->out, ")");
        break;
    case A_DICT:
        print_display(p, e, "{", "}");
        break;
    default:
        if (e->kind == A_SEQ) {
            str_addf(p->out, "<%d statements> ", e->block.n);
        }
        print_expr(p, e->lhs);
        break;
    }
}

/* NAME, GLOBAL, ATTR, SUBSCRIPT, STARRED and OTHER. */
static void
print_place(Printer *p, const AExpr *e)
{
    switch ((int)e->kind) {
    case A_NAME:
        if (e->version) {
            print_version(p, e->version);
        } else {
            str_add(p->out, e->name);
        }
        break;
    case A_GLOBAL:
        str_add(p->out, e->binding ? e->binding->name : "?");
        break;
    case A_ATTR:
        print_expr(p, e->lhs);
        str_addf(p->out, ".%s", e->name);
        break;
    case A_SUBSCRIPT:
        print_expr(p, e->lhs);
        print_display(p, e, "[", "]");
        break;
    case A_STARRED:
        str_add(p->out, "*");
        print_expr(p, e->lhs);
        break;
    default:
        str_addf(p->out, "<%s>", e->name ? e->name : "?");
        break;
    }
}

/* Any expression; NULL is printed too, since one dumps what is broken. */
static void
print_expr(Printer *p, const AExpr *e)
{
    if (!e) {
        str_add(p->out, "<null>");
        return;
    }
    switch (e->kind) {
    case A_CONST:
        print_const(p, e->type);
        break;
    case A_BINOP:
    case A_UNARY:
    case A_BOOLOP:
        print_operator(p, e);
        break;
    case A_COMPARE:
        print_compare(p, e);
        break;
    case A_CALL:
        print_call(p, e);
        break;
    case A_SLICE:
        print_items(p, &e->items, ":");
        break;
    case A_TUPLE:
        print_display(p, e, "(", ")");
        break;
    case A_LIST:
        print_display(p, e, "[", "]");
        break;
    case A_IFEXP:
        print_ifexp(p, e);
        break;
    case A_COMP:
        print_comp(p, e);
        break;
    case A_LAMBDA:
    case A_NAMED:
    case A_DICT:
    case A_SEQ:
    case A_SOME:
        print_form(p, e);
        break;
    default:
        print_place(p, e);
        break;
    }
}

/* --- statements --------------------------------------------------------- */

static void print_block(Printer *p, const ABlock *block);

/* Indentation and the first word of a line. */
static void
start(Printer *p, const char *word)
{
    for (int i = 0; i < p->out->indent; i++) {
        str_add(p->out, " ");
    }
    str_add(p->out, word);
}

/* '  # type' and the end of the line. A constant's type is seen from its
 * text. */
static void
end(Printer *p, const AExpr *value)
{
    if (value && value->type && value->kind != A_CONST) {
        str_add(p->out, "  # ");
        type_add(p->out, value->type);
    }
    str_add(p->out, "\n");
}

/* A target with its type if it is a name, or a tuple of names. */
static void
print_target(Printer *p, const AExpr *target)
{
    if (target->kind == A_NAME) {
        print_definition(p, target->name, target->version);
    } else {
        print_expr(p, target);
    }
}

/* Targets from left to right, 'a = b = value'; 'a += value'. */
static void
print_assign(Printer *p, const AStmt *s)
{
    start(p, "");
    for (int i = 0; i < s->targets.n; i++) {
        print_target(p, s->targets.at[i]);
        if (s->kind == AS_AUG) {
            str_addf(p->out, " %s= ", op_words[s->op]);
        } else {
            str_add(p->out, " = ");
        }
    }
    print_expr(p, s->value);
    end(p, s->value);
}

/* ':' and the block of a compound statement, then its 'else'. An 'elif' is an
 * IF in the 'else', as in Python's ast, and is shown so. */
static void
print_bodies(Printer *p, const AStmt *s)
{
    str_add(p->out, ":\n");
    print_block(p, &s->body);
    if (s->orelse.n) {
        start(p, "else:\n");
        print_block(p, &s->orelse);
    }
}

/* FOR, WHILE and IF. */
static void
print_compound(Printer *p, const AStmt *s)
{
    if (s->kind == AS_FOR) {
        start(p, "for ");
        print_target(p, s->targets.at[0]);
        str_add(p->out, " in ");
    } else {
        start(p, s->kind == AS_IF ? "if " : "while ");
    }
    print_expr(p, s->value);
    print_bodies(p, s);
}

/* 'word' and the value, if there is one. */
static void
print_simple(Printer *p, const char *word, const AExpr *value)
{
    start(p, word);
    if (value) {
        str_add(p->out, *word ? " " : "");
        print_expr(p, value);
    }
    end(p, value);
}

/* A join: the version "to" takes the value of "from". */
static void
print_convert(Printer *p, const AStmt *s)
{
    start(p, "");
    print_definition(p, s->to->name, s->to);
    str_add(p->out, " := ");
    if (s->from) {
        print_version(p, s->from);
    } else {
        str_add(p->out, "<unbound>");
    }
    str_add(p->out, "\n");
}

/* All kinds of both trees; a PASS that stands for the CONVERTs of a join is
 * printed as these. */
static void
print_stmt(Printer *p, const AStmt *s)
{
    switch (s->kind) {
    case AS_EXPR:
        print_simple(p, "", s->value);
        break;
    case AS_ASSIGN:
    case AS_AUG:
        print_assign(p, s);
        break;
    case AS_FOR:
    case AS_WHILE:
    case AS_IF:
        print_compound(p, s);
        break;
    case AS_RETURN:
        print_simple(p, "return", s->value);
        break;
    case AS_BREAK:
        print_simple(p, "break", NULL);
        break;
    case AS_CONTINUE:
        print_simple(p, "continue", NULL);
        break;
    case AS_PASS:
        for (int i = 0; i < s->body.n; i++) {
            print_stmt(p, s->body.at[i]);
        }
        if (s->body.n == 0) {
            print_simple(p, "pass", NULL);
        }
        break;
    case AS_ASSERT:
        print_simple(p, "assert", s->value);
        break;
    case AS_RAISE:
        print_simple(p, "raise", NULL);
        break;
    case AS_CONVERT:
        print_convert(p, s);
        break;
    case AS_SCOPE:
        start(p, "scope");
        print_bodies(p, s);
        break;
    case AS_LEAVE:
        print_simple(p, "leave", NULL);
        break;
    case AS_BLOCK:
        start(p, "block");
        print_bodies(p, s);
        break;
    case AS_WITH:
        start(p, "with ");
        print_expr(p, s->value);
        print_bodies(p, s);
        break;
    case AS_DELETE:
        start(p, "del ");
        print_items(p, &s->targets, ", ");
        str_add(p->out, "\n");
        break;
    case AS_OTHER:
        start(p, "");
        str_addf(p->out, "<%s>\n", s->name ? s->name : "?");
        break;
    }
}

/* Deeper by Python's four columns; an empty block reads 'pass'. */
static void
print_block(Printer *p, const ABlock *block)
{
    p->out->indent += 4;
    for (int i = 0; i < block->n; i++) {
        print_stmt(p, block->at[i]);
    }
    if (block->n == 0) {
        start(p, "pass\n");
    }
    p->out->indent -= 4;
}

/* The head with types of parameters and result, then the body. */
static void
print_func(Printer *p, const AFunc *func)
{
    start(p, "def ");
    str_addf(p->out, "%s(", func->name);
    for (int i = 0; i < func->params.n; i++) {
        const AParam *param = &func->params.at[i];
        str_add(p->out, i ? ", " : "");
        print_definition(p, param->name, param->version);
        if (param->dflt) {
            str_add(p->out, "=");
            print_expr(p, param->dflt);
        }
    }
    str_add(p->out, "):");
    if (func->result) {
        str_add(p->out, "  # -> ");
        type_add(p->out, func->result);
    }
    str_add(p->out, "\n");
    print_block(p, &func->body);
}

/* Callees are appended while the list is walked, so theirs come too. */
void
ast_print(const AFunc *func, Str *out)
{
    Printer p = {.out = out};
    print_func(&p, func);
    for (int i = 0; i < p.pending.n; i++) {
        const AExpr *call = p.pending.at[i];
        str_addf(out, "\n# called in line %u\n", (unsigned)call->loc.line);
        print_func(&p, call->callee);
    }
}
