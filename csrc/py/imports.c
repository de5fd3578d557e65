/* Imports inside a function.
 *
 *     def f(a):
 *         import math                 `math` is a name of the function, but
 *         from numpy import sqrt      what it is bound to is a module's
 *
 * Such a name is bound once, among the function's own statements, so from there
 * on it means what a global of that name would: it leaves the function's set of
 * locals when the statement is read, and names.c finds it in sys.modules, with
 * guards that keep it true.  What stands before is still a use of an unbound
 * local.  Only modules that are loaded already count: then the statement has no
 * effect but the binding.  vizgen.source.imports_of tells which these are.
 */
#include "csrc/py/load.h"

static bool
is_import(PyObject *node)
{
    return is_node(node, "Import") || is_node(node, "ImportFrom");
}

/* Asks only where there is an import at all. */
void
imports_enter(Loader *L, PyObject *node)
{
    PyObject *body = node_field(L, node, "body");
    Py_CLEAR(L->imports);
    for (Py_ssize_t i = 0; i < list_size(body) && !L->imports; i++) {
        if (!is_import(PyList_GET_ITEM(body, i))) {
            continue;
        }
        PyObject *find = helper("vizgen.source", "imports_of");
        L->imports = find ? PyObject_CallOneArg(find, node) : NULL;
        Py_XDECREF(find);
        if (L->imports == NULL) {
            L->failed = true;
            return;
        }
    }
}

/* The name that an alias binds; a new reference. */
static PyObject *
bound_name(Loader *L, PyObject *alias)
{
    PyObject *as = node_field(L, alias, "asname");
    PyObject *name = node_field(L, alias, "name");
    if (as != Py_None || L->failed) {
        return Py_NewRef(as);
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, length, 1);
    return PyUnicode_Substring(name, 0, dot < 0 ? length : dot);
}

/* Nothing to do at run time, or a statement without a translation. */
void
load_import(Loader *L, PyObject *node, AStmt *s)
{
    PyObject *aliases = node_field(L, node, "names");
    bool own = L->imports != NULL && L->scope->names == L->locals;
    for (Py_ssize_t i = 0; i < list_size(aliases) && own; i++) {
        PyObject *name = bound_name(L, PyList_GET_ITEM(aliases, i));
        int found = name ? PyDict_Contains(L->imports, name) : -1;
        own = found > 0 && PySet_Discard(L->locals, name) >= 0;
        L->failed |= found < 0;
        Py_XDECREF(name);
    }
    s->kind = own ? AS_PASS : AS_OTHER;
}
