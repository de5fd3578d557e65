#ifndef VZ_PY_LOAD_H
#define VZ_PY_LOAD_H
/* What unit.c, load.c and names.c share: the state of loading one Unit. */
#include "csrc/py/core.h"

/* Functions that one unit may reach by name; more are left as unknown. */
enum { MAX_FUNCS = 64 };

typedef struct Loader Loader;

/* Names that are not global at a place: the locals of a function ("names", a
 * set), or those that a comprehension binds ("renamed": Sym -> Sym), which are
 * names of "func" with names of their own. */
typedef struct NameScope {
    struct NameScope *outer;
    PyObject *names;
    Map renamed;
    AFunc *func;
} NameScope;

/* "functions" and "sources" (path, text, node) run parallel to Unit.funcs;
 * both lists own what they hold, so nodes and names are borrowed from them.
 * The members below "file" belong to the function being loaded. */
struct Loader {
    Core *core;
    Arena *arena;
    Unit *unit;
    Guards *guards;
    PyObject *functions;
    PyObject *sources;
    bool failed; /* an exception is set; whatever is built is thrown away */
    int file;
    PyFunctionObject *func;
    PyObject *locals; /* set of the names that are local */
    PyObject *freevars;
    PyObject *imports; /* names bound by its imports; NULL: it has none */
    NameScope *scope; /* innermost; the function's own is the last */
    AFunc *out;       /* the function, perhaps a nested one, being loaded */
    int serial;       /* for names that the source does not have */
};

/* --- load.c -------------------------------------------------------------- */
/* Attribute 'name' of an ast node, borrowed; None when it is missing. */
PyObject *node_field(Loader *L, PyObject *node, const char *name);
long node_int(Loader *L, PyObject *node, const char *name);
/* "BinOp" for an ast.BinOp. */
const char *node_class(PyObject *node);
bool is_node(PyObject *node, const char *name);
/* A column as Loc can hold it. */
uint16_t node_column(long value);
Loc node_loc(Loader *L, PyObject *node);
AExpr *load_expr(Loader *L, PyObject *node);
void load_block(Loader *L, PyObject *list, ABlock *out);
/* A constant object as A_CONST or A_TUPLE; A_OTHER when it has no Type. */
AExpr *load_value(Loader *L, PyObject *value, Loc loc);

/* Attribute 'name' as an interned name. */
Sym sym_field(Loader *L, PyObject *node, const char *name);
AExpr *other_expr(Loader *L, PyObject *node);
Py_ssize_t list_size(PyObject *list);
void load_items(Loader *L, PyObject *list, AExprVec *out);
/* The test, body and else of an `if` or `while`. */
void load_test(Loader *L, PyObject *node, AStmt *s);

/* --- frozen.c ------------------------------------------------------------ */
/* A small list, dict or tuple of plain values and of such. */
bool is_frozen(PyObject *object);
AExpr *load_frozen(Loader *L, PyObject *object, Loc loc);

/* --- syntax.c: forms with names of their own, and those made of others ---- */
AExpr *load_comp(Loader *L, PyObject *node);
AExpr *load_lambda(Loader *L, PyObject *node);
AExpr *load_named(Loader *L, PyObject *node);
AExpr *load_dict(Loader *L, PyObject *node);
void load_def(Loader *L, PyObject *node, AStmt *s);
void load_while(Loader *L, PyObject *node, AStmt *s);
void load_try(Loader *L, PyObject *node, AStmt *s);
void load_with(Loader *L, PyObject *node, AStmt *s);
void load_nonlocal(Loader *L, PyObject *node, AStmt *s);
void load_delete(Loader *L, PyObject *node, AStmt *s);
/* A name that no source can have. */
Sym fresh_name(Loader *L, const char *name);
/* The name of a local as the Ast has it; notes that it is captured. */
Sym local_name(Loader *L, Sym name);

/* --- imports.c ----------------------------------------------------------- */
/* Finds what the imports of the function 'node' bind. */
void imports_enter(Loader *L, PyObject *node);
void load_import(Loader *L, PyObject *node, AStmt *s);

/* --- names.c ------------------------------------------------------------- */
bool name_is_local(Loader *L, PyObject *name);
/* A_GLOBAL when 'node' is a global name or module attribute, else NULL. */
AExpr *load_global(Loader *L, PyObject *node);
/* The name of attribute 'name' at run time; NULL: it can't be told. */
Sym private_name(Loader *L, Sym name);
/* What stands for the method 'name' of arrays in vizgen.library; NULL: none. */
const Binding *load_method(Loader *L, Sym name);
/* A default: a constant as load_value has it, or a function as A_GLOBAL. */
AExpr *load_default(Loader *L, PyObject *value, Loc loc);
/* The number of a user function in the unit, which is loaded if it is new;
 * -1: it can't be, with 'exception' set only if L->failed. */
int load_user(Loader *L, PyObject *function);
#endif
