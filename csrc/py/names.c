/* Global names -> Bindings, each with the guard that keeps it true.
 *
 *     range        builtins["range"], absent in the globals   KNOWN
 *     np.zeros     globals["np"] this module, its "zeros"     KNOWN
 *     RADIUS       globals["RADIUS"] equal to 3               VALUE
 *     LUT          globals["LUT"] an array                    ARRAY 0
 *     helper       globals["helper"] this function            USER 1
 *     scale        closure cell                               VALUE
 *
 * Library objects are known by identity, never by name: vizgen.source gives
 * a table of what builtins, math and NumPy themselves made.
 */
#include "csrc/py/load.h"
#include "csrc/py/records.h"
#include "typeinfer/rules.h"

/* Where a name was found: in "dict" under "key", or in "cell".  "value" is
 * NULL when it is unbound. */
typedef struct Place {
    PyObject *dict;
    PyObject *key;
    PyObject *cell;
    PyObject *value;
} Place;

/* --- finding ------------------------------------------------------------- */

/* Only modules are looked into.  The attribute of any other object may be
 * computed by code of the user's, so it stays an A_ATTR, which is refused
 * unless inference knows the object. */

/* An error counts as local, so that nothing more is looked up. */
bool
name_is_local(Loader *L, PyObject *name)
{
    Sym text = sym_of(name);
    for (const NameScope *s = L->scope; s != NULL; s = s->outer) {
        int found = s->names ? PySet_Contains(s->names, name)
                             : text && map_has(&s->renamed, text);
        L->failed |= found < 0;
        if (found != 0) {
            return true;
        }
    }
    return false;
}

/* Borrowed; NULL without an exception when the key is missing. */
static PyObject *
look_up(Loader *L, PyObject *dict, PyObject *key)
{
    PyObject *value = PyDict_GetItemWithError(dict, key);
    L->failed |= value == NULL && PyErr_Occurred();
    return value;
}

/* Guards are made for what was found, found by the same way. */
static void
guard_place(Loader *L, const Place *at, GuardKind kind, int *arg)
{
    int got = at->cell
                  ? guards_add_cell(L->guards, at->cell, kind, at->value)
                  : guards_add(L->guards, at->dict, at->key, kind, at->value);
    L->failed |= got < 0;
    *arg = got;
}

/* The closure's cell of 'name'; NULL when it isn't a free variable. */
static PyObject *
cell_of(Loader *L, PyObject *name)
{
    PyObject *closure = L->func->func_closure;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(L->freevars); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(L->freevars, i), name) == 0) {
            return PyTuple_GET_ITEM(closure, i);
        }
    }
    return NULL;
}

/* What the function's own import has bound: a module, or an attribute of one,
 * as (module, None) or (module, attribute) tells. */
static Place
find_imported(Loader *L, PyObject *row)
{
    PyObject *attr = PyTuple_GET_ITEM(row, 1);
    Place out = {.dict = PyImport_GetModuleDict(),
                 .key = PyTuple_GET_ITEM(row, 0)};
    out.value = look_up(L, out.dict, out.key);
    if (attr != Py_None && out.value && PyModule_Check(out.value)) {
        int unused;
        guard_place(L, &out, GUARD_SAME, &unused);
        out = (Place){.dict = PyModule_GetDict(out.value), .key = attr};
        out.value = look_up(L, out.dict, attr);
    }
    return out;
}

/* Python's order: the function's imports, closure, globals, builtins.  A name
 * found in the builtins is also guarded to stay out of the globals. */
static Place
find_name(Loader *L, PyObject *name)
{
    PyObject *row = L->imports ? look_up(L, L->imports, name) : NULL;
    if (row) {
        return find_imported(L, row);
    }
    PyObject *cell = cell_of(L, name);
    if (cell) {
        return (Place){.cell = cell, .value = PyCell_GET(cell)};
    }
    PyObject *globals = L->func->func_globals;
    Place out = {.dict = globals, .key = name};
    out.value = look_up(L, globals, name);
    PyObject *builtins = L->func->func_builtins;
    if (out.value == NULL && PyDict_Check(builtins)) {
        int unused;
        guard_place(L, &out, GUARD_ABSENT, &unused);
        out.dict = builtins;
        out.value = look_up(L, builtins, name);
    }
    return out;
}

/* NumPy and SciPy import numpy.random, scipy.ndimage and others when they are
 * first named; such a module is imported here if it is what is missing. */
static bool
is_lazy(PyObject *dict, PyObject *attr)
{
    PyObject *name = PyDict_GetItemString(dict, "__name__");
    bool lazy = name && PyUnicode_Check(name)
                && (PyUnicode_CompareWithASCIIString(name, "numpy") == 0
                    || PyUnicode_CompareWithASCIIString(name, "scipy") == 0);
    PyObject *path = lazy ? PyUnicode_FromFormat("%U.%U", name, attr) : NULL;
    const char *text = path ? PyUnicode_AsUTF8(path) : NULL;
    PyObject *module = text ? load_module(text) : NULL;
    if (lazy && module == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(path);
    Py_XDECREF(module);
    return module != NULL;
}

/* 'node' as a chain of module attributes that starts at a global name; its
 * text is appended to 'text'.  False when it is something else. */
static bool
find_chain(Loader *L, PyObject *node, Place *out, Str *text)
{
    if (strcmp(node_class(node), "Name") == 0) {
        PyObject *name = node_field(L, node, "id");
        if (L->failed || name_is_local(L, name)) {
            return false;
        }
        *out = find_name(L, name);
        str_add(text, sym_of(name) ? sym_of(name) : "?");
        return true;
    }
    if (strcmp(node_class(node), "Attribute") != 0
        || !find_chain(L, node_field(L, node, "value"), out, text)
        || out->value == NULL || !PyModule_CheckExact(out->value)) {
        return false;
    }
    int unused;
    guard_place(L, out, GUARD_SAME, &unused);
    PyObject *attr = node_field(L, node, "attr");
    *out = (Place){.dict = PyModule_GetDict(out->value), .key = attr};
    out->value = look_up(L, out->dict, attr);
    if (out->value == NULL && !L->failed && is_lazy(out->dict, attr)) {
        out->value = look_up(L, out->dict, attr);
    }
    str_addf(text, ".%s", sym_of(attr) ? sym_of(attr) : "?");
    return !L->failed;
}

/* In a class, `self.__x` is `self._Class__x`.  The code object has the names
 * that are used, but those of nested functions have other ones. */
Sym
private_name(Loader *L, Sym name)
{
    size_t length = strlen(name);
    bool plain = strncmp(name, "__", 2) != 0
                 || strcmp(name + length - 2, "__") == 0;
    PyObject *names =
        plain ? NULL : PyObject_GetAttrString(L->func->func_code, "co_names");
    L->failed |= !plain && names == NULL;
    Sym found = plain ? name : NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        Sym one = sym_of(PyTuple_GET_ITEM(names, i));
        size_t size = one ? strlen(one) : 0;
        bool ends = size >= length
                    && strcmp(one + size - length, name) == 0;
        if (ends && (size == length || one[0] == '_')) {
            bool another = found != NULL && found != one;
            found = another ? NULL : one;
            if (another) {
                break;
            }
        }
    }
    Py_XDECREF(names);
    return found;
}

/* --- user functions ------------------------------------------------------ */

/* A helper is read like the function itself, whether it is decorated or not.
 * Generators and coroutines would do something else than run when they are
 * called, so they are not read. */

/* By identity. */
static int
index_of(PyObject *list, PyObject *object)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (PyList_GET_ITEM(list, i) == object) {
            return (int)i;
        }
    }
    return -1;
}

/* Functions of big libraries would pull in half of the library. */
static bool
is_opaque(Loader *L, PyObject *function)
{
    PyObject *test = helper("vizgen.source", "is_opaque");
    PyObject *answer = test ? PyObject_CallOneArg(test, function) : NULL;
    Py_XDECREF(test);
    int yes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (yes < 0 && PyErr_ExceptionMatches(PyExc_Exception)
        && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* an odd module: only refused where it is called */
    }
    L->failed |= PyErr_Occurred() != NULL;
    return yes != 0;
}

/* Sources of helpers are optional: without one the call of it is refused
 * where inference meets it, with its place. */
int
load_user(Loader *L, PyObject *function)
{
    int index = index_of(L->functions, function);
    if (index >= 0) {
        return index;
    }
    index = L->unit->funcs.n;
    PyCodeObject *code =
        (PyCodeObject *)((PyFunctionObject *)function)->func_code;
    int lazy = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
               | CO_ITERABLE_COROUTINE;
    bool entry = index == 0;
    if (!entry && (index >= MAX_FUNCS || (code->co_flags & lazy) != 0
                   || is_opaque(L, function))) {
        return -1;
    }
    PyObject *find = helper("vizgen.source", "find");
    PyObject *source = find ? PyObject_CallOneArg(find, function) : NULL;
    Py_XDECREF(find);
    if (source == NULL) {
        if (!entry && PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear(); /* only refused where it is called */
        }
        L->failed |= PyErr_Occurred() != NULL;
        return -1;
    }
    L->failed |= PyList_Append(L->functions, function) < 0
                 || PyList_Append(L->sources, source) < 0
                 || guards_add_func(L->guards, function) < 0;
    Py_DECREF(source);
    vec_push(L->arena, &L->unit->funcs, ARENA_NEW(L->arena, AFunc));
    return L->failed ? -1 : index;
}

/* --- bindings ------------------------------------------------------------ */

/* What a name is bound to decides how it is guarded:
 *
 *     number, string, tuple     equal value       the code holds the value
 *     small list, dict          the same, equal   the code holds the items
 *     array                     any array         it is an argument
 *     function, module, other   the same object   the code holds its meaning */

/* np.dtype('float32') itself, not a subtype or another byte order. */
static bool
is_builtin_descr(PyObject *object, DType *out)
{
    int type_num = ((PyArray_Descr *)object)->type_num;
    if (!array_dtype(type_num, out)) {
        return false;
    }
    PyArray_Descr *builtin = PyArray_DescrFromType(type_num);
    Py_XDECREF(builtin);
    return (PyObject *)builtin == object;
}

/* A new row of core->known, borrowed; NULL: 'value' is no library object, at
 * least none of a module that is loaded already. */
static PyObject *
find_known(Loader *L, PyObject *id, PyObject *value)
{
    PyObject *find = helper("vizgen.source", "known_name");
    PyObject *name = find ? PyObject_CallOneArg(find, value) : NULL;
    PyObject *row = NULL;
    if (name != NULL && name != Py_None) {
        row = PyTuple_Pack(2, value, name);
        L->failed |= row == NULL
                     || PyDict_SetItem(L->core->known, id, row) < 0;
    }
    if (name == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear(); /* an odd object is no library object */
    } else {
        L->failed |= name == NULL;
    }
    Py_XDECREF(row);
    Py_XDECREF(name);
    Py_XDECREF(find);
    return L->failed ? NULL : row;
}

/* The canonical name of a library object; NULL when it isn't one. */
static Sym
known_name(Loader *L, PyObject *value)
{
    if (L->core->known == NULL) {
        L->core->known = PyDict_New();
    }
    PyObject *id = L->core->known ? PyLong_FromVoidPtr(value) : NULL;
    PyObject *row = id ? look_up(L, L->core->known, id) : NULL;
    L->failed |= id == NULL;
    if (id && (row == NULL || PyTuple_GET_ITEM(row, 0) != value)) {
        row = find_known(L, id, value);
    }
    Py_XDECREF(id);
    if (row != NULL) {
        return sym_of(PyTuple_GET_ITEM(row, 1));
    }
    DType dt;
    if (PyArray_DescrCheck(value) && is_builtin_descr(value, &dt)) {
        return sym(str_printf(L->arena, "numpy.%s", dtype_name(dt)));
    }
    return NULL;
}

/* What "other" objects are called in messages. */
static Sym
other_name(PyObject *value)
{
    return sym(value ? Py_TYPE(value)->tp_name : "undefined name");
}

/* 'known' is for the message if it can't be loaded. */
static void
bind_user(Loader *L, Binding *out, PyObject *function)
{
    out->func = load_user(L, function);
    out->kind = out->func >= 0 ? BIND_USER : BIND_OTHER;
    out->known = other_name(function);
}

/* A function of NumPy's or heapq's that vizgen.library has in Python, if there
 * is no rule for it in the compiler.  False: there is none. */
static bool
bind_library(Loader *L, Binding *out, Sym known)
{
    if ((strncmp(known, "numpy.", 6) != 0 && strncmp(known, "heapq.", 6) != 0)
        || builtin_find(known) != BUILTIN_NONE) {
        return false;
    }
    PyObject *find = helper("vizgen.library", "find");
    PyObject *function = find ? PyObject_CallFunction(find, "s", known) : NULL;
    Py_XDECREF(find);
    L->failed |= function == NULL;
    bool found = function != NULL && PyFunction_Check(function);
    if (found) {
        bind_user(L, out, function);
    }
    Py_XDECREF(function);
    return found && out->kind == BIND_USER;
}

/* Methods of arrays have no name that could be bound to something else, so
 * there is no guard. */
const Binding *
load_method(Loader *L, Sym name)
{
    if (name == NULL || builtin_find(name) != BUILTIN_NONE) {
        return NULL;
    }
    Binding *out = ARENA_NEW(L->arena, Binding);
    Sym known = sym(str_printf(L->arena, "numpy.ndarray.%s", name));
    out->name = name;
    return bind_library(L, out, known) ? out : NULL;
}

/* Constants first, then arrays, then objects known by identity. */
static GuardKind
bind_value(Loader *L, Binding *out, PyObject *value, Loc loc)
{
    out->kind = BIND_OTHER;
    out->known = other_name(value);
    if (value == NULL) {
        return GUARD_ABSENT;
    }
    if (is_plain(value)) {
        out->kind = BIND_VALUE;
        out->value = load_value(L, value, loc);
        return GUARD_VALUE;
    }
    if (PyArray_CheckExact(value)) {
        out->kind = BIND_ARRAY;
        return GUARD_ARRAY;
    }
    if (is_frozen(value)) {
        out->kind = BIND_VALUE;
        out->value = load_frozen(L, value, loc);
        L->failed |= guards_add_frozen(L->guards, value) < 0;
        return GUARD_SAME;
    }
    Sym known = known_name(L, value);
    if (known && !bind_library(L, out, known)) {
        out->kind = BIND_KNOWN;
        out->known = known;
    } else if (known) {
        return GUARD_SAME;
    } else if (PyFunction_Check(value)) {
        bind_user(L, out, value);
    } else if (is_accel(L->core, value)) {
        bind_user(L, out, ((Accel *)value)->py_func);
    } else if (is_record(value) || is_stream(value)) {
        out->kind = BIND_ARRAY;
        return GUARD_RECORD;
    }
    return GUARD_SAME;
}

/* The guard is added last: only then the kind of object is known. */
AExpr *
load_global(Loader *L, PyObject *node)
{
    Str text = str_new(L->arena);
    Place at;
    if (!find_chain(L, node, &at, &text) || L->failed) {
        return NULL;
    }
    AExpr *e = ast_expr(L->arena, A_GLOBAL, node_loc(L, node));
    Binding *binding = ARENA_NEW(L->arena, Binding);
    binding->name = sym(text.at);
    binding->func = -1;
    GuardKind kind = bind_value(L, binding, at.value, e->loc);
    guard_place(L, &at, kind, &binding->arg);
    e->name = binding->name;
    e->binding = binding;
    return e;
}

/* A default of a parameter.  A function among the defaults is what it is as
 * long as they are the same tuple, which the guard of the function sees. */
AExpr *
load_default(Loader *L, PyObject *value, Loc loc)
{
    bool library = !is_plain(value) && known_name(L, value) != NULL;
    bool user = PyFunction_Check(value) || is_accel(L->core, value);
    bool frozen = !is_plain(value) && is_frozen(value);
    if (!library && !user && !frozen) {
        return load_value(L, value, loc);
    }
    AExpr *e = ast_expr(L->arena, A_GLOBAL, loc);
    Binding *binding = ARENA_NEW(L->arena, Binding);
    binding->name = other_name(value);
    binding->func = -1;
    bind_value(L, binding, value, loc);
    e->name = binding->name;
    e->binding = binding;
    return e;
}
