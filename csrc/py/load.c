/* Python's ast -> Ast, one handler per class of node.
 *
 *     ast.BinOp(left=Name('a'), op=Add(), right=Constant(2))
 *       ->  BINOP add (NAME a) (CONST 2)
 *
 * The nodes come from vizgen.source, which has made sure that they are what
 * Python runs.  Attributes of a node stay alive with the tree, so references
 * to them are borrowed.  Errors (memory, in practice) set L->failed and let
 * loading run on with None in place of what is missing; the caller throws the
 * result away.  What has no handler becomes A_OTHER or AS_OTHER and is
 * refused only where inference reaches it.
 */
#include "csrc/py/load.h"
#include "typeinfer/rules.h"

typedef struct OpRow {
    const char *name;
    AOp op;
} OpRow;

static const OpRow op_rows[] = {
    {"Add", AO_ADD},       {"Sub", AO_SUB},           {"Mult", AO_MUL},
    {"Div", AO_DIV},       {"FloorDiv", AO_FLOORDIV}, {"Mod", AO_MOD},
    {"Pow", AO_POW},       {"MatMult", AO_MATMUL},    {"LShift", AO_LSHIFT},
    {"RShift", AO_RSHIFT}, {"BitOr", AO_BITOR},       {"BitXor", AO_BITXOR},
    {"BitAnd", AO_BITAND}, {"USub", AO_NEG},          {"UAdd", AO_POS},
    {"Invert", AO_INVERT}, {"Not", AO_NOT},           {"And", AO_AND},
    {"Or", AO_OR},         {"Eq", AO_EQ},             {"NotEq", AO_NE},
    {"Lt", AO_LT},         {"LtE", AO_LE},            {"Gt", AO_GT},
    {"GtE", AO_GE},        {"Is", AO_IS},             {"IsNot", AO_ISNOT},
    {"In", AO_IN},         {"NotIn", AO_NOTIN},
};

/* --- nodes --------------------------------------------------------------- */

/* The tree holds what is returned; it is not changed while it is read. */
PyObject *
node_field(Loader *L, PyObject *node, const char *name)
{
    PyObject *value = PyObject_GetAttrString(node, name);
    if (value == NULL) {
        L->failed = true;
        return Py_None;
    }
    Py_DECREF(value);
    return value;
}

/* Class names are unique in the module ast, so nothing more is compared. */
const char *
node_class(PyObject *node)
{
    const char *name = Py_TYPE(node)->tp_name;
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* For nodes that are not expressions or statements of their own. */
bool
is_node(PyObject *node, const char *name)
{
    return strcmp(node_class(node), name) == 0;
}

/* A list field; an empty one when it is missing. */
Py_ssize_t
list_size(PyObject *list)
{
    return PyList_CheckExact(list) ? PyList_GET_SIZE(list) : 0;
}

/* 0 for None, which ast gives for missing ends. */
long
node_int(Loader *L, PyObject *node, const char *name)
{
    PyObject *value = node_field(L, node, name);
    return PyLong_CheckExact(value) ? PyLong_AsLong(value) : 0;
}

/* Columns beyond 65535 only make a caret point too far left. */
uint16_t
node_column(long value)
{
    return (uint16_t)(value > UINT16_MAX ? UINT16_MAX : value);
}

/* The whole span, so that a caret run can be drawn under it. */
Loc
node_loc(Loader *L, PyObject *node)
{
    return (Loc){
        .line = (uint32_t)node_int(L, node, "lineno"),
        .end_line = (uint32_t)node_int(L, node, "end_lineno"),
        .col = node_column(node_int(L, node, "col_offset")),
        .end_col = node_column(node_int(L, node, "end_col_offset")),
        .file = (uint16_t)L->file,
    };
}

/* '?' for a name that is no valid UTF-8, which no program has. */
Sym
sym_field(Loader *L, PyObject *node, const char *name)
{
    PyObject *text = node_field(L, node, name);
    Sym found = PyUnicode_Check(text) ? sym_of(text) : NULL;
    return found ? found : sym("?");
}

/* Binary, unary, boolean and comparison operators have distinct names, so
 * one table serves them all. */
static AOp
load_op(Loader *L, PyObject *node)
{
    const char *name = node_class(node);
    for (size_t i = 0; i < sizeof(op_rows) / sizeof(op_rows[0]); i++) {
        if (strcmp(op_rows[i].name, name) == 0) {
            return op_rows[i].op;
        }
    }
    PyErr_Format(PyExc_SystemError, "unknown operator %s", name);
    L->failed = true;
    return AO_ADD;
}

/* --- expressions --------------------------------------------------------- */

/* The name is what a message calls it; the place is the whole expression. */
AExpr *
other_expr(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_OTHER, node_loc(L, node));
    e->name = sym(node_class(node));
    return e;
}

/* In order of evaluation. */
void
load_items(Loader *L, PyObject *list, AExprVec *out)
{
    for (Py_ssize_t i = 0; i < list_size(list); i++) {
        vec_push(L->arena, out, load_expr(L, PyList_GET_ITEM(list, i)));
    }
}

/* 2j as the call complex(0.0, 2.0). */
static AExpr *
load_complex(Loader *L, PyObject *value, Loc loc)
{
    AExpr *callee = ast_expr(L->arena, A_GLOBAL, loc);
    Binding *binding = ARENA_NEW(L->arena, Binding);
    binding->name = sym("complex");
    binding->kind = BIND_KNOWN;
    binding->known = sym("builtins.complex");
    binding->func = -1;
    callee->name = binding->name;
    callee->binding = binding;
    AExpr *e = ast_expr(L->arena, A_CALL, loc);
    e->lhs = callee;
    double parts[] = {PyComplex_RealAsDouble(value),
                      PyComplex_ImagAsDouble(value)};
    for (int i = 0; i < 2; i++) {
        PyObject *part = PyFloat_FromDouble(parts[i]);
        L->failed |= part == NULL;
        if (part != NULL) {
            AExpr *arg = load_value(L, part, loc);
            vec_push(L->arena, &e->items, arg);
            vec_push(L->arena, &e->keys, NULL);
        }
        Py_XDECREF(part);
    }
    return e;
}

/* An integer of 64 bits, as the np.uint64 that it is beside others; else
 * NULL. */
static const Type *
type_of_big(Arena *arena, PyObject *value)
{
    if (!PyLong_CheckExact(value)) {
        return NULL;
    }
    unsigned long long bits = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return NULL;
    }
    Type *type = ARENA_NEW(arena, Type);
    type->kind = TY_NUM;
    type->dtype = DT_U64;
    type->known = true;
    type->ival = (int64_t)bits;
    return type;
}

/* Also for defaults and for globals with constant values; the place is then
 * that of the use. */
AExpr *
load_value(Loader *L, PyObject *value, Loc loc)
{
    if (PyComplex_CheckExact(value)) {
        return load_complex(L, value, loc);
    }
    if (!is_plain(value)) {
        AExpr *e = ast_expr(L->arena, A_OTHER, loc);
        e->name = sym(Py_TYPE(value)->tp_name);
        e->type = type_of_big(L->arena, value);
        return e;
    }
    if (!PyTuple_CheckExact(value)) {
        AExpr *e = ast_expr(L->arena, A_CONST, loc);
        e->type = type_of_value(L->arena, value);
        return e;
    }
    AExpr *e = ast_expr(L->arena, A_TUPLE, loc);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        AExpr *item = load_value(L, PyTuple_GET_ITEM(value, i), loc);
        vec_push(L->arena, &e->items, item);
    }
    return e;
}

/* Big integers, bytes, complex numbers and ... have no Type and are
 * A_OTHER. */
static AExpr *
load_constant(Loader *L, PyObject *node)
{
    return load_value(L, node_field(L, node, "value"), node_loc(L, node));
}

/* Parameters and locals are A_NAME even where a global of that name exists:
 * Python decides that for the whole function. */
static AExpr *
load_name(Loader *L, PyObject *node)
{
    AExpr *global = load_global(L, node);
    if (global) {
        return global;
    }
    AExpr *e = ast_expr(L->arena, A_NAME, node_loc(L, node));
    e->name = local_name(L, sym_field(L, node, "id"));
    return e;
}

/* np.pi is one global; img.shape an attribute of a value. */
static AExpr *
load_attribute(Loader *L, PyObject *node)
{
    AExpr *global = load_global(L, node);
    if (global) {
        return global;
    }
    AExpr *e = ast_expr(L->arena, A_ATTR, node_loc(L, node));
    e->lhs = load_expr(L, node_field(L, node, "value"));
    e->name = private_name(L, sym_field(L, node, "attr"));
    if (e->name == NULL) {
        return other_expr(L, node);
    }
    map_set(&L->unit->attrs, e->name, e);
    if (!is_node(node_field(L, node, "ctx"), "Load")) {
        map_set(&L->unit->stores, e->name, e);
    }
    return e;
}

/* Attributes that a class of one's own may have for the operator. */
static void
name_special(Loader *L, AOp op, bool binary)
{
    static const char *const prefixes[] = {"", "r", "i"};
    for (int i = 0; i < (binary ? 3 : 1); i++) {
        const char *name =
            str_printf(L->arena, "__%s%s__", prefixes[i], op_special(op));
        map_set(&L->unit->attrs, sym(name), L);
    }
}

/* a + b */
static AExpr *
load_binop(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_BINOP, node_loc(L, node));
    e->op = load_op(L, node_field(L, node, "op"));
    name_special(L, e->op, true);
    e->lhs = load_expr(L, node_field(L, node, "left"));
    e->rhs = load_expr(L, node_field(L, node, "right"));
    return e;
}

/* -a, not a */
static AExpr *
load_unary(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_UNARY, node_loc(L, node));
    e->op = load_op(L, node_field(L, node, "op"));
    name_special(L, e->op, false);
    e->lhs = load_expr(L, node_field(L, node, "operand"));
    return e;
}

/* a and b and c is one node with three items, as in Python's ast. */
static AExpr *
load_boolop(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_BOOLOP, node_loc(L, node));
    e->op = load_op(L, node_field(L, node, "op"));
    load_items(L, node_field(L, node, "values"), &e->items);
    return e;
}

/* a < b <= c: operators and items after the first are as many. */
static AExpr *
load_compare(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_COMPARE, node_loc(L, node));
    PyObject *ops = node_field(L, node, "ops");
    e->lhs = load_expr(L, node_field(L, node, "left"));
    for (Py_ssize_t i = 0; i < list_size(ops); i++) {
        vec_push(L->arena, &e->ops, load_op(L, PyList_GET_ITEM(ops, i)));
    }
    load_items(L, node_field(L, node, "comparators"), &e->items);
    return e;
}

/* Functions that go through what they are given, element by element. */
static bool
gathers(const AExpr *call)
{
    static const char *const names[] = {"builtins.sum", "builtins.any",
                                        "builtins.all", "builtins.min",
                                        "builtins.max", "math.prod",
                                        "builtins.sorted"};
    const Binding *binding = call->lhs->binding;
    bool found = false;
    int n = 0;
    if (call->lhs->kind != A_GLOBAL || binding->kind != BIND_KNOWN) {
        return false;
    }
    while (n < call->items.n && call->keys.at[n] == NULL) {
        n++;
    }
    if (n != 1) {
        return n == 2 && strcmp(binding->known, names[0]) == 0;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        found |= strcmp(binding->known, names[i]) == 0;
    }
    return found;
}

/* np.uint64(0x9E3779B97F4A7C15): an int that 63 bits don't hold, of which the
 * call makes a number that NumPy has.  It is made here; NULL: another call. */
static AExpr *
load_large(Loader *L, const AExpr *call, PyObject *node)
{
    const AExpr *arg = call->items.n == 1 ? call->items.at[0] : NULL;
    if (L->failed || arg == NULL || arg->kind != A_OTHER || call->keys.at[0]
        || arg->name != sym("int") || call->lhs->kind != A_GLOBAL
        || call->lhs->binding->kind != BIND_KNOWN
        || call->lhs->binding->known != sym("numpy.uint64")) {
        return NULL;
    }
    PyObject *constant = PyList_GET_ITEM(node_field(L, node, "args"), 0);
    PyObject *class = helper("numpy", "uint64");
    PyObject *value =
        class ? PyObject_CallOneArg(class, node_field(L, constant, "value"))
              : NULL;
    AExpr *e = value ? load_value(L, value, call->loc) : NULL;
    PyErr_Clear(); /* OverflowError, if the call is ever reached */
    Py_XDECREF(class);
    Py_XDECREF(value);
    return e;
}

/* Arguments by place, then those by name; '**d' is a starred one. */
static AExpr *
load_call(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_CALL, node_loc(L, node));
    PyObject *keywords = node_field(L, node, "keywords");
    e->lhs = load_expr(L, node_field(L, node, "func"));
    if (e->lhs->kind == A_ATTR && !L->failed) {
        e->lhs->binding = load_method(L, e->lhs->name);
    }
    load_items(L, node_field(L, node, "args"), &e->items);
    for (int i = 0; i < e->items.n; i++) {
        vec_push(L->arena, &e->keys, NULL);
    }
    for (Py_ssize_t i = 0; i < list_size(keywords); i++) {
        PyObject *keyword = PyList_GET_ITEM(keywords, i);
        bool spread = node_field(L, keyword, "arg") == Py_None;
        AExpr *value = load_expr(L, node_field(L, keyword, "value"));
        if (spread) {
            AExpr *star = ast_expr(L->arena, A_STARRED, value->loc);
            star->op = AO_POW;
            star->lhs = value;
            value = star;
        }
        Sym key = spread ? NULL : sym_field(L, keyword, "arg");
        vec_push(L->arena, &e->items, value);
        vec_push(L->arena, &e->keys, key);
    }
    bool sorts = e->lhs->kind == A_ATTR && strcmp(e->lhs->name, "sort") == 0;
    if (sorts || gathers(e)) {
        e->name = fresh_name(L, "call");
    }
    AExpr *large = load_large(L, e, node);
    return large ? large : e;
}

/* a[i, j] has two items; so has a[(i, j)], which means the same. */
static AExpr *
load_subscript(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_SUBSCRIPT, node_loc(L, node));
    PyObject *index = node_field(L, node, "slice");
    e->lhs = load_expr(L, node_field(L, node, "value"));
    if (is_node(index, "Tuple")) {
        load_items(L, node_field(L, index, "elts"), &e->items);
    } else {
        vec_push(L->arena, &e->items, load_expr(L, index));
    }
    if (e->items.n == 0) {
        e->kind = A_OTHER;
        e->name = sym("`()` as an index");
    }
    return e;
}

/* Only inside a subscript; missing parts are NULL. */
static AExpr *
load_slice(Loader *L, PyObject *node)
{
    static const char *const parts[] = {"lower", "upper", "step"};
    AExpr *e = ast_expr(L->arena, A_SLICE, node_loc(L, node));
    for (int i = 0; i < 3; i++) {
        PyObject *part = node_field(L, node, parts[i]);
        AExpr *value = part == Py_None ? NULL : load_expr(L, part);
        vec_push(L->arena, &e->items, value);
    }
    return e;
}

/* (a, b), and the left side of  a, b = pair. */
static AExpr *
load_tuple(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_TUPLE, node_loc(L, node));
    load_items(L, node_field(L, node, "elts"), &e->items);
    return e;
}

/* [a, b] */
static AExpr *
load_list(Loader *L, PyObject *node)
{
    AExpr *e = load_tuple(L, node);
    e->kind = A_LIST;
    return e;
}

/* yes if test else no: test, yes, no. */
static AExpr *
load_ifexp(Loader *L, PyObject *node)
{
    static const char *const parts[] = {"test", "body", "orelse"};
    AExpr *e = ast_expr(L->arena, A_IFEXP, node_loc(L, node));
    for (int i = 0; i < 3; i++) {
        AExpr *part = load_expr(L, node_field(L, node, parts[i]));
        vec_push(L->arena, &e->items, part);
    }
    return e;
}

/* *rest */
static AExpr *
load_starred(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_STARRED, node_loc(L, node));
    e->lhs = load_expr(L, node_field(L, node, "value"));
    return e;
}

typedef struct ExprRow {
    const char *name;
    AExpr *(*load)(Loader *L, PyObject *node);
} ExprRow;

static const ExprRow expr_rows[] = {
    {"Name", load_name},           {"Constant", load_constant},
    {"BinOp", load_binop},         {"Subscript", load_subscript},
    {"Attribute", load_attribute}, {"Call", load_call},
    {"Compare", load_compare},     {"UnaryOp", load_unary},
    {"BoolOp", load_boolop},       {"Tuple", load_tuple},
    {"List", load_list},           {"Slice", load_slice},
    {"IfExp", load_ifexp},         {"Starred", load_starred},
    {"ListComp", load_comp},       {"GeneratorExp", load_comp},
    {"Lambda", load_lambda},       {"NamedExpr", load_named},
    {"Dict", load_dict},
};

/* The commonest classes stand first in the table. */
AExpr *
load_expr(Loader *L, PyObject *node)
{
    const char *name = node_class(node);
    for (size_t i = 0; i < sizeof(expr_rows) / sizeof(expr_rows[0]); i++) {
        if (strcmp(expr_rows[i].name, name) == 0) {
            return expr_rows[i].load(L, node);
        }
    }
    return other_expr(L, node);
}

/* --- statements ---------------------------------------------------------- */

/* NULL for a part that isn't there: the value of a bare return. */
static AExpr *
load_optional(Loader *L, PyObject *node)
{
    return node == Py_None ? NULL : load_expr(L, node);
}

/* Shared by every statement with a field 'value'. */
static void
load_value_of(Loader *L, PyObject *node, AStmt *s)
{
    s->value = load_optional(L, node_field(L, node, "value"));
}

/* a = b = value has two targets, assigned from left to right. */
static void
load_assign(Loader *L, PyObject *node, AStmt *s)
{
    load_items(L, node_field(L, node, "targets"), &s->targets);
    load_value_of(L, node, s);
}

/* Of statements with one target. */
static void
load_target(Loader *L, PyObject *node, AStmt *s)
{
    AExpr *target = load_expr(L, node_field(L, node, "target"));
    vec_push(L->arena, &s->targets, target);
}

/* a += b evaluates the target's parts once; that is lower's business. */
static void
load_aug(Loader *L, PyObject *node, AStmt *s)
{
    load_target(L, node, s);
    s->op = load_op(L, node_field(L, node, "op"));
    name_special(L, s->op, true);
    load_value_of(L, node, s);
}

/* 'x: int = 1' assigns; 'x: int' alone does nothing. */
static void
load_annotated(Loader *L, PyObject *node, AStmt *s)
{
    load_value_of(L, node, s);
    if (s->value == NULL) {
        s->kind = AS_PASS;
    } else {
        load_target(L, node, s);
    }
}

/* Both branches, or a loop's body and its else. */
static void
load_bodies(Loader *L, PyObject *node, AStmt *s)
{
    load_block(L, node_field(L, node, "body"), &s->body);
    load_block(L, node_field(L, node, "orelse"), &s->orelse);
}

/* for target in iter */
static void
load_for(Loader *L, PyObject *node, AStmt *s)
{
    load_target(L, node, s);
    s->value = load_expr(L, node_field(L, node, "iter"));
    load_bodies(L, node, s);
}

void
load_test(Loader *L, PyObject *node, AStmt *s)
{
    s->value = load_expr(L, node_field(L, node, "test"));
    load_bodies(L, node, s);
}

/* The message is evaluated by Python, when the call is repeated there. */
static void
load_assert(Loader *L, PyObject *node, AStmt *s)
{
    s->value = load_expr(L, node_field(L, node, "test"));
}

/* Statements of which the kind says all. */
static void
load_nothing(Loader *L, PyObject *node, AStmt *s)
{
    (void)L;
    (void)node;
    (void)s;
}

typedef struct StmtRow {
    const char *name;
    ASKind kind;
    void (*load)(Loader *L, PyObject *node, AStmt *s);
} StmtRow;

static const StmtRow stmt_rows[] = {
    {"Assign", AS_ASSIGN, load_assign},
    {"AugAssign", AS_AUG, load_aug},
    {"AnnAssign", AS_ASSIGN, load_annotated},
    {"Expr", AS_EXPR, load_value_of},
    {"For", AS_FOR, load_for},
    {"While", AS_WHILE, load_while},
    {"If", AS_IF, load_test},
    {"Return", AS_RETURN, load_value_of},
    {"Break", AS_BREAK, load_nothing},
    {"Continue", AS_CONTINUE, load_nothing},
    {"Pass", AS_PASS, load_nothing},
    {"Assert", AS_ASSERT, load_assert},
    {"Raise", AS_RAISE, load_nothing},
    {"FunctionDef", AS_ASSIGN, load_def},
    {"Try", AS_BLOCK, load_try},
    {"With", AS_WITH, load_with},
    {"Delete", AS_DELETE, load_delete},
    {"Global", AS_PASS, load_nothing},
    {"Nonlocal", AS_PASS, load_nonlocal},
    {"Import", AS_PASS, load_import},
    {"ImportFrom", AS_PASS, load_import},
};

/* AS_OTHER keeps the class name for the message. */
static AStmt *
load_stmt(Loader *L, PyObject *node)
{
    const char *name = node_class(node);
    AStmt *s = ast_stmt(L->arena, AS_OTHER, node_loc(L, node));
    s->name = sym(name);
    for (size_t i = 0; i < sizeof(stmt_rows) / sizeof(stmt_rows[0]); i++) {
        if (strcmp(stmt_rows[i].name, name) == 0) {
            s->kind = stmt_rows[i].kind;
            stmt_rows[i].load(L, node, s);
            break;
        }
    }
    return s;
}

/* Suites are lists of statements. */
void
load_block(Loader *L, PyObject *list, ABlock *out)
{
    for (Py_ssize_t i = 0; i < list_size(list); i++) {
        vec_push(L->arena, out, load_stmt(L, PyList_GET_ITEM(list, i)));
    }
}
