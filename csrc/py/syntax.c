/* Forms that have names of their own, and forms that are made of others.
 *
 *     [v * k for v in a]       COMP; `v` becomes the local `v'1`
 *     lambda x: x + k          LAMBDA of a function of the unit whose "outer"
 *     def g(x, n=h): ...       the same, assigned to `g`, with `h` as it is now
 *     try: ... except: ...     the statements of the body
 *     with np.errstate(...):   WITH
 *
 * The body of a nested function is read at once, in the scopes in which it
 * stands.  A name of an enclosing function stays a plain name there: only the
 * function that owns it is told that it is captured, since what it holds is
 * asked at each call.
 *
 * Handlers of exceptions are not read.  Natively nothing is ever raised: a
 * check fails, and the whole call is repeated by Python, handlers and all.
 */
#include "csrc/py/load.h"

/* --- names --------------------------------------------------------------- */

/* Comprehensions belong to the function around them; any other scope than the
 * present function's own makes the name a captured one of its owner. */
Sym
local_name(Loader *L, Sym name)
{
    for (const NameScope *s = L->scope; s != NULL; s = s->outer) {
        Sym found = name;
        if (s->names == NULL) {
            found = map_get(&s->renamed, name);
        } else {
            PyObject *text = PyUnicode_FromString(name);
            int in = text ? PySet_Contains(s->names, text) : -1;
            Py_XDECREF(text);
            L->failed |= in < 0;
            found = in > 0 ? name : NULL;
        }
        if (found == NULL) {
            continue;
        }
        if (s->func != L->out) {
            vec_push(L->arena, &s->func->captured, found);
        }
        return found;
    }
    return name;
}

/* For 'name', or for nothing in the source. */
Sym
fresh_name(Loader *L, const char *name)
{
    return sym(str_printf(L->arena, "%s'%d", name, ++L->serial));
}

/* The names that the target of a comprehension binds. */
static void
rename_target(Loader *L, PyObject *target, NameScope *scope)
{
    if (is_node(target, "Name")) {
        Sym name = sym_field(L, target, "id");
        if (!map_has(&scope->renamed, name)) {
            Sym fresh = fresh_name(L, name);
            map_set(&scope->renamed, name, (void *)(uintptr_t)fresh);
        }
    } else if (is_node(target, "Starred")) {
        rename_target(L, node_field(L, target, "value"), scope);
    } else if (is_node(target, "Tuple") || is_node(target, "List")) {
        PyObject *items = node_field(L, target, "elts");
        for (Py_ssize_t i = 0; i < list_size(items); i++) {
            rename_target(L, PyList_GET_ITEM(items, i), scope);
        }
    }
}

/* --- comprehensions ------------------------------------------------------ */

/* One 'for'; the first iterable has been loaded, in the scope around. */
static void
load_for_part(Loader *L, PyObject *node, AExpr *iter, AExpr *out)
{
    AFor part = {.iter = iter};
    PyObject *ifs = node_field(L, node, "ifs");
    if (iter == NULL) {
        part.iter = load_expr(L, node_field(L, node, "iter"));
    }
    part.target = load_expr(L, node_field(L, node, "target"));
    load_items(L, ifs, &part.ifs);
    vec_push(L->arena, &out->items, part.target);
    vec_push(L->arena, &out->items, part.iter);
    for (int i = 0; i < part.ifs.n; i++) {
        vec_push(L->arena, &out->items, part.ifs.at[i]);
    }
    vec_push(L->arena, &out->fors, part);
}

/* All targets share one scope, as they do in Python. */
AExpr *
load_comp(Loader *L, PyObject *node)
{
    PyObject *parts = node_field(L, node, "generators");
    NameScope scope = {.outer = L->scope, .func = L->out};
    if (list_size(parts) == 0) {
        return other_expr(L, node);
    }
    AExpr *e = ast_expr(L->arena, A_COMP, node_loc(L, node));
    e->is_list = is_node(node, "ListComp");
    e->name = fresh_name(L, "comp");
    PyObject *first = PyList_GET_ITEM(parts, 0);
    AExpr *iter = load_expr(L, node_field(L, first, "iter"));
    scope.renamed = map_new(L->arena);
    for (Py_ssize_t i = 0; i < list_size(parts); i++) {
        PyObject *part = PyList_GET_ITEM(parts, i);
        rename_target(L, node_field(L, part, "target"), &scope);
    }
    L->scope = &scope;
    for (Py_ssize_t i = 0; i < list_size(parts); i++) {
        PyObject *part = PyList_GET_ITEM(parts, i);
        if (node_int(L, part, "is_async")) {
            e->kind = A_OTHER;
            e->name = sym("an asynchronous comprehension");
        }
        load_for_part(L, part, i == 0 ? iter : NULL, e);
    }
    e->lhs = load_expr(L, node_field(L, node, "elt"));
    L->scope = scope.outer;
    return e;
}

/* The name is one of the function, even in a comprehension. */
AExpr *
load_named(Loader *L, PyObject *node)
{
    AExpr *e = ast_expr(L->arena, A_NAMED, node_loc(L, node));
    e->lhs = load_expr(L, node_field(L, node, "target"));
    e->rhs = load_expr(L, node_field(L, node, "value"));
    return e;
}

/* {**other} has no form in the Ast. */
AExpr *
load_dict(Loader *L, PyObject *node)
{
    PyObject *keys = node_field(L, node, "keys");
    PyObject *values = node_field(L, node, "values");
    AExpr *e = ast_expr(L->arena, A_DICT, node_loc(L, node));
    for (Py_ssize_t i = 0; i < list_size(keys); i++) {
        if (PyList_GET_ITEM(keys, i) == Py_None) {
            return other_expr(L, node);
        }
        AExpr *key = load_expr(L, PyList_GET_ITEM(keys, i));
        AExpr *value = load_expr(L, PyList_GET_ITEM(values, i));
        vec_push(L->arena, &e->items, key);
        vec_push(L->arena, &e->items, value);
    }
    return e;
}

/* --- nested functions ---------------------------------------------------- */

/* The names that the function binds; NULL without an exception: calling it does
 * something else than running its body. */
static PyObject *
names_of(Loader *L, PyObject *node)
{
    PyObject *find = helper("vizgen.source", "names_bound");
    PyObject *names = find ? PyObject_CallOneArg(find, node) : NULL;
    Py_XDECREF(find);
    L->failed |= names == NULL;
    if (names == Py_None) {
        Py_CLEAR(names);
    }
    return names;
}

/* Adds the parameters of one kind. */
static void
add_params(Loader *L, PyObject *list, bool keyword_only, AFunc *out)
{
    for (Py_ssize_t i = 0; i < list_size(list); i++) {
        AParam param = {
            .name = sym_field(L, PyList_GET_ITEM(list, i), "arg"),
            .keyword_only = keyword_only,
        };
        vec_push(L->arena, &out->params, param);
    }
}

/* A default that is evaluated where the function is defined. */
static void
add_default(Loader *L, PyObject *value, Sym param, AExpr *out)
{
    if (value != Py_None) {
        vec_push(L->arena, &out->items, load_expr(L, value));
        vec_push(L->arena, &out->keys, param);
    }
}

/* Parameters, and the defaults on 'lambda' in the order of evaluation. */
static void
nested_params(Loader *L, PyObject *args, AFunc *out, AExpr *lambda)
{
    PyObject *first = node_field(L, args, "posonlyargs");
    PyObject *named = node_field(L, args, "kwonlyargs");
    PyObject *dflts = node_field(L, args, "defaults");
    PyObject *kw_dflts = node_field(L, args, "kw_defaults");
    PyObject *rest = node_field(L, args, "vararg");
    add_params(L, first, false, out);
    add_params(L, node_field(L, args, "args"), false, out);
    int n = out->params.n;
    add_params(L, named, true, out);
    out->npositional_only = (int)list_size(first);
    out->varargs = rest == Py_None ? NULL : sym_field(L, rest, "arg");
    PyObject *words = node_field(L, args, "kwarg");
    out->kwargs = words == Py_None ? NULL : sym_field(L, words, "arg");
    int without = n - (int)list_size(dflts);
    for (int i = without; i < n; i++) {
        PyObject *value = PyList_GET_ITEM(dflts, i - without);
        add_default(L, value, out->params.at[i].name, lambda);
    }
    for (Py_ssize_t i = 0; i < list_size(kw_dflts); i++) {
        PyObject *value = PyList_GET_ITEM(kw_dflts, i);
        add_default(L, value, out->params.at[n + i].name, lambda);
    }
}

/* The body in a scope of its own; a lambda's is what it returns. */
static void
nested_body(Loader *L, PyObject *node, PyObject *names, AFunc *out)
{
    NameScope scope = {.outer = L->scope, .names = names, .func = out};
    PyObject *body = node_field(L, node, "body");
    AFunc *outer = L->out;
    L->scope = &scope;
    L->out = out;
    if (PyList_CheckExact(body)) {
        load_block(L, body, &out->body);
    } else {
        AStmt *s = ast_stmt(L->arena, AS_RETURN, node_loc(L, body));
        s->value = load_expr(L, body);
        vec_push(L->arena, &out->body, s);
    }
    L->scope = scope.outer;
    L->out = outer;
}

/* A function of the unit for 'node', which has no object of its own yet. */
static AExpr *
nested(Loader *L, PyObject *node, Sym name)
{
    PyObject *names = names_of(L, node);
    if (names == NULL || L->unit->funcs.n >= MAX_FUNCS) {
        Py_XDECREF(names);
        return other_expr(L, node);
    }
    AExpr *e = ast_expr(L->arena, A_LAMBDA, node_loc(L, node));
    AFunc *out = ARENA_NEW(L->arena, AFunc);
    e->name = name;
    e->func = L->unit->funcs.n;
    out->name = name;
    out->qualname = sym(str_printf(L->arena, "%s.<locals>.%s",
                                   L->out->qualname, name));
    out->loc = e->loc;
    out->loc.end_line = out->loc.line;
    out->loc.end_col = node_column(out->loc.col + 3);
    out->outer = L->out;
    vec_push(L->arena, &L->unit->funcs, out);
    L->failed |= PyList_Append(L->functions, Py_None) < 0
                 || PyList_Append(L->sources, Py_None) < 0;
    nested_params(L, node_field(L, node, "args"), out, e);
    nested_body(L, node, names, out);
    Py_DECREF(names);
    return e;
}

AExpr *
load_lambda(Loader *L, PyObject *node)
{
    return nested(L, node, sym("<lambda>"));
}

/* A decorator may do anything with the function. */
void
load_def(Loader *L, PyObject *node, AStmt *s)
{
    if (list_size(node_field(L, node, "decorator_list")) > 0) {
        s->kind = AS_OTHER;
        s->name = sym("a decorator inside a function");
        return;
    }
    Sym name = sym_field(L, node, "name");
    AExpr *target = ast_expr(L->arena, A_NAME, node_loc(L, node));
    target->name = local_name(L, name);
    vec_push(L->arena, &s->targets, target);
    s->value = nested(L, node, name);
}

/* --- statements ---------------------------------------------------------- */

/* Does the block leave the statement around it, by return, or by break or
 * continue of a loop outside? */
static bool
may_leave(const ABlock *block, bool in_loop)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        bool loop = s->kind == AS_FOR || s->kind == AS_WHILE;
        bool jump = s->kind == AS_BREAK || s->kind == AS_CONTINUE;
        if (s->kind == AS_RETURN || (jump && !in_loop)
            || may_leave(&s->body, in_loop || loop)
            || may_leave(&s->orelse, in_loop)) {
            return true;
        }
    }
    return false;
}

/* Does the expression bind a name? */
static bool
binds_name(const AExpr *e)
{
    if (e == NULL || e->kind == A_NAMED) {
        return e != NULL;
    }
    bool binds = binds_name(e->lhs) || binds_name(e->rhs);
    for (int i = 0; i < e->items.n && !binds; i++) {
        binds = binds_name(e->items.at[i]);
    }
    return binds;
}

/* A test that binds a name moves into the body, so that the name leaves the
 * loop by a `break`:
 *
 *     while (b := read(k)) > 0:      while True:
 *         use(b)                         if not (b := read(k)) > 0:
 *     else:                                  done()
 *         done()                             break
 *                                        use(b)
 *
 * A `continue` comes by the test all the same, and a `break` passes over the
 * `else`.  One that leaves a loop around keeps its form: inference refuses. */
void
load_while(Loader *L, PyObject *node, AStmt *s)
{
    load_test(L, node, s);
    if (L->failed || !binds_name(s->value) || may_leave(&s->orelse, false)) {
        return;
    }
    AExpr *fails = ast_expr(L->arena, A_UNARY, s->value->loc);
    fails->op = AO_NOT;
    fails->lhs = s->value;
    AStmt *leave = ast_stmt(L->arena, AS_IF, s->value->loc);
    leave->value = fails;
    leave->body = s->orelse;
    vec_push(L->arena, &leave->body,
             ast_stmt(L->arena, AS_BREAK, s->value->loc));
    ABlock body = {0};
    vec_push(L->arena, &body, leave);
    for (int i = 0; i < s->body.n; i++) {
        vec_push(L->arena, &body, s->body.at[i]);
    }
    s->value = load_value(L, Py_True, s->value->loc);
    s->body = body;
    s->orelse = (ABlock){0};
}

/* Body, else and finally, one after the other.  A 'finally' that is run on the
 * way out of the body would stand in several places. */
void
load_try(Loader *L, PyObject *node, AStmt *s)
{
    PyObject *last = node_field(L, node, "finalbody");
    load_block(L, node_field(L, node, "body"), &s->body);
    load_block(L, node_field(L, node, "orelse"), &s->body);
    if (list_size(last) > 0 && may_leave(&s->body, false)) {
        s->kind = AS_OTHER;
        s->name = sym("`finally` after a body that is left early");
        s->body = (ABlock){0};
        return;
    }
    load_block(L, last, &s->body);
}

/* with a, b: body  is  with a: with b: body */
void
load_with(Loader *L, PyObject *node, AStmt *s)
{
    PyObject *items = node_field(L, node, "items");
    AStmt *at = s;
    for (Py_ssize_t i = 0; i < list_size(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        PyObject *target = node_field(L, item, "optional_vars");
        if (i > 0) {
            AStmt *inner = ast_stmt(L->arena, AS_WITH, s->loc);
            vec_push(L->arena, &at->body, inner);
            at = inner;
        }
        at->value = load_expr(L, node_field(L, item, "context_expr"));
        if (target != Py_None) {
            vec_push(L->arena, &at->targets, load_expr(L, target));
        }
    }
    load_block(L, node_field(L, node, "body"), &at->body);
}

/* Of an entry that is nested itself the names are cells, like globals. */
void
load_nonlocal(Loader *L, PyObject *node, AStmt *s)
{
    PyObject *names = node_field(L, node, "names");
    for (Py_ssize_t i = 0; i < list_size(names); i++) {
        Sym name = sym_of(PyList_GET_ITEM(names, i));
        name = local_name(L, name ? name : sym("?"));
        vec_push(L->arena, &L->out->nonlocals, name);
    }
    (void)s;
}

/* del a, b */
void
load_delete(Loader *L, PyObject *node, AStmt *s)
{
    load_items(L, node_field(L, node, "targets"), &s->targets);
}
