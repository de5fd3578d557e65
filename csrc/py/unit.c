/* Loading a function and all it calls: source, parameters, guards.
 *
 *     @accelerate                  Unit.funcs   0 blur   1 clamp
 *     def blur(img): ...clamp(x)   guards       "clamp" is this function,
 *     def clamp(v): ...                         both have their code and
 *                                               defaults
 *
 * The bodies are read one after the other while names found in them append
 * further functions.  A function that can't be loaded (no source, *args) is a
 * Loaded too, one with a reason, so that the next call need not try again.
 */
#include "csrc/py/load.h"
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

/* --- functions ----------------------------------------------------------- */

/* The code object knows the parameters, the syntax tree the statements; both
 * are of the same function, which vizgen.source has made sure of. */

/* Of a code object, borrowed or an int: attributes are not in the C API. */
static int
code_int(Loader *L, const char *name)
{
    return (int)node_int(L, L->func->func_code, name);
}

/* The default of positional parameter 'at' or keyword-only 'name'. */
static PyObject *
default_of(Loader *L, int at, int npositional, PyObject *name)
{
    if (at >= npositional) {
        PyObject *dict = L->func->func_kwdefaults;
        return dict ? PyDict_GetItemWithError(dict, name) : NULL;
    }
    PyObject *defaults = L->func->func_defaults;
    int n = defaults ? (int)PyTuple_GET_SIZE(defaults) : 0;
    int index = at - (npositional - n);
    return index >= 0 ? PyTuple_GET_ITEM(defaults, index) : NULL;
}

/* Where the text has that default; the whole 'def' if defaults were changed
 * since, so that there may be none. */
static Loc
default_loc(Loader *L, PyObject *node, int at, int npositional, Loc whole)
{
    bool named = at >= npositional;
    PyObject *args = node_field(L, node, "args");
    PyObject *list = node_field(L, args, named ? "kw_defaults" : "defaults");
    Py_ssize_t n = list_size(list);
    Py_ssize_t index = named ? at - npositional : at - (npositional - n);
    if (index < 0 || index >= n || PyList_GET_ITEM(list, index) == Py_None) {
        return whole;
    }
    return node_loc(L, PyList_GET_ITEM(list, index));
}

/* From the code object, which has them in the order of binding. */
static void
load_params(Loader *L, PyObject *node, AFunc *out)
{
    PyObject *code = L->func->func_code;
    PyObject *names = PyObject_GetAttrString(code, "co_varnames");
    if (names == NULL) {
        L->failed = true;
        return;
    }
    int npositional = code_int(L, "co_argcount");
    int n = npositional + code_int(L, "co_kwonlyargcount");
    for (int i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *dflt = default_of(L, i, npositional, name);
        Loc loc = default_loc(L, node, i, npositional, out->loc);
        AParam param = {
            .name = sym_of(name),
            .dflt = dflt ? load_default(L, dflt, loc) : NULL,
            .keyword_only = i >= npositional,
        };
        vec_push(L->arena, &out->params, param);
    }
    int flags = code_int(L, "co_flags");
    out->npositional_only = code_int(L, "co_posonlyargcount");
    out->varargs =
        flags & CO_VARARGS ? sym_of(PyTuple_GET_ITEM(names, n)) : NULL;
    n += out->varargs != NULL;
    out->kwargs =
        flags & CO_VARKEYWORDS ? sym_of(PyTuple_GET_ITEM(names, n)) : NULL;
    Py_DECREF(names);
}

/* 'def name' rather than the whole body, which no message should mark. */
static Loc
header_loc(Loader *L, PyObject *node)
{
    Loc loc = node_loc(L, node);
    PyObject *name = L->func->func_name;
    if (is_node(node, "FunctionDef")) {
        loc.end_line = loc.line;
        loc.end_col = node_column(loc.col + 4 + PyUnicode_GET_LENGTH(name));
    }
    return loc;
}

/* The file's number among the sources of the unit. */
static int
source_file(Loader *L, PyObject *path, PyObject *text)
{
    Diags *diags = L->unit->diags;
    const char *name = sym_of(path);
    for (int i = 0; i < diags->sources.n; i++) {
        if (strcmp(diags->sources.at[i].path, name ? name : "?") == 0) {
            return i;
        }
    }
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    char *copy = NULL;
    if (utf8 == NULL) {
        PyErr_Clear();
    } else {
        copy = arena_copy(L->arena, utf8, (size_t)size + 1);
    }
    return diags_source(diags, name ? name : "?", copy);
}

/* Names that are local to the current function: parameters, assigned names
 * and those that inner functions share. */
static PyObject *
local_names(PyObject *code)
{
    static const char *const attrs[] = {"co_varnames", "co_cellvars"};
    PyObject *out = PySet_New(NULL);
    for (int i = 0; i < 2 && out; i++) {
        PyObject *names = PyObject_GetAttrString(code, attrs[i]);
        Py_ssize_t n = names ? PyTuple_GET_SIZE(names) : -1;
        for (Py_ssize_t k = 0; k < n; k++) {
            PySet_Add(out, PyTuple_GET_ITEM(names, k));
        }
        Py_XDECREF(names);
    }
    if (PyErr_Occurred()) {
        Py_CLEAR(out);
    }
    return out;
}

/* Makes function 'index' the current one. */
static bool
enter_function(Loader *L, int index)
{
    PyObject *source = PyList_GET_ITEM(L->sources, index);
    L->func = (PyFunctionObject *)PyList_GET_ITEM(L->functions, index);
    L->file = source_file(L, PyTuple_GET_ITEM(source, 0),
                          PyTuple_GET_ITEM(source, 1));
    Py_XSETREF(L->locals, local_names(L->func->func_code));
    Py_XSETREF(L->freevars,
               PyObject_GetAttrString(L->func->func_code, "co_freevars"));
    L->failed |= !L->locals || !L->freevars;
    if (!L->failed) {
        imports_enter(L, PyTuple_GET_ITEM(source, 2));
    }
    return !L->failed;
}

/* A lambda's body is an expression, as if it were returned. */
static void
load_body(Loader *L, int index)
{
    if (!enter_function(L, index)) {
        return;
    }
    PyObject *node = PyTuple_GET_ITEM(PyList_GET_ITEM(L->sources, index), 2);
    AFunc *out = L->unit->funcs.at[index];
    out->name = sym_of(L->func->func_name);
    out->qualname = sym_of(L->func->func_qualname);
    out->loc = header_loc(L, node);
    NameScope scope = {.names = L->locals, .func = out};
    L->scope = &scope;
    L->out = out;
    load_params(L, node, out);
    PyObject *body = node_field(L, node, "body");
    if (PyList_CheckExact(body)) {
        load_block(L, body, &out->body);
        ast_split_dicts(L->arena, out);
        return;
    }
    AStmt *s = ast_stmt(L->arena, AS_RETURN, node_loc(L, body));
    s->value = load_expr(L, body);
    vec_push(L->arena, &out->body, s);
}

/* Functions are appended while bodies are read, entry first. */
static void
load_all(Loader *L, PyObject *entry)
{
    if (load_user(L, entry) != 0) {
        L->failed = true;
        return;
    }
    for (int i = 0; i < L->unit->funcs.n && !L->failed; i++) {
        if (PyList_GET_ITEM(L->functions, i) != Py_None) {
            load_body(L, i); /* nested ones are part of another's body */
        }
    }
    L->unit->nhidden = L->guards->nhidden;
}

/* The lists own sources and functions until all bodies are read. */
static bool
load_unit(Accel *f, Loaded *out)
{
    Loader L = {
        .core = f->core,
        .arena = out->arena,
        .unit = out->unit,
        .guards = &out->guards,
        .functions = PyList_New(0),
        .sources = PyList_New(0),
    };
    out->functions = L.functions;
    L.failed = !L.functions || !L.sources;
    if (!L.failed) {
        load_all(&L, f->py_func);
    }
    Py_XDECREF(L.sources);
    Py_XDECREF(L.locals);
    Py_XDECREF(L.freevars);
    Py_XDECREF(L.imports);
    return !L.failed;
}

/* Names that the source does not have begin anew at a number that no other
 * function has used. */
enum { SERIALS = 1000 };

/* Adds 'function' as if the unit had named it; its number, or -1, with an
 * exception only if 'l' is of no more use. */
int
unit_extend(Accel *f, Loaded *l, PyObject *function)
{
    int n = l->unit->funcs.n;
    Loader L = {
        .core = f->core,
        .arena = l->arena,
        .unit = l->unit,
        .guards = &l->guards,
        .functions = l->functions,
        .sources = PyList_New(n),
        .serial = SERIALS * n,
    };
    for (int i = 0; L.sources && i < n; i++) {
        PyList_SET_ITEM(L.sources, i, Py_NewRef(Py_None));
    }
    L.failed = !L.sources;
    int index = L.failed ? -1 : load_user(&L, function);
    for (int i = n; i < l->unit->funcs.n && !L.failed; i++) {
        if (PyList_GET_ITEM(L.functions, i) != Py_None) {
            load_body(&L, i);
        }
    }
    l->unit->nhidden = l->guards.nhidden;
    l->stale |= L.failed;
    Py_XDECREF(L.sources);
    Py_XDECREF(L.locals);
    Py_XDECREF(L.freevars);
    Py_XDECREF(L.imports);
    return L.failed ? -1 : index;
}

/* --- the loaded function ------------------------------------------------- */

/* Refusals that can be told from the function alone are made here, with a guard
 * on the function itself, so that they are forgotten when its code changes. */

/* The code and message of a SourceError; DIAG_COUNT: 'error' is none. */
static DiagId
source_error(PyObject *error, PyObject **message)
{
    PyObject *class = helper("vizgen.source", "SourceError");
    if (class == NULL || !PyErr_GivenExceptionMatches(error, class)) {
        Py_XDECREF(class);
        return DIAG_COUNT;
    }
    Py_DECREF(class);
    PyObject *args = PyObject_GetAttrString(error, "args");
    const char *code = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0));
    *message = Py_NewRef(PyTuple_GET_ITEM(args, 1));
    Py_DECREF(args);
    return code ? diag_find(code) : DIAG_COUNT;
}

/* Odd objects among the function's globals may raise anything when they are
 * asked what they are, even an exception that has no text.  A lack of something
 * may pass, so it is no reason for good. */
static DiagId
odd_error(PyObject *error, PyObject **message)
{
    PyObject *passing[] = {PyExc_MemoryError, PyExc_OSError,
                           PyExc_RecursionError};
    bool odd = PyErr_GivenExceptionMatches(error, PyExc_Exception);
    for (int i = 0; i < 3 && odd; i++) {
        odd = !PyErr_GivenExceptionMatches(error, passing[i]);
    }
    if (!odd) {
        return DIAG_COUNT;
    }
    const char *name = Py_TYPE(error)->tp_name;
    PyObject *text = PyObject_Str(error);
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        Py_XDECREF(text);
        return DIAG_COUNT;
    }
    PyErr_Clear();
    *message = utf8 ? PyUnicode_FromFormat("reading the function raised %s: %s",
                                           name, utf8)
                    : PyUnicode_FromFormat("reading the function raised %s",
                                           name);
    Py_XDECREF(text);
    return DIAG_NO_SOURCE;
}

/* Turns an exception into the reason to stay in Python; what ends the program,
 * and a lack of memory, stay. */
static bool
take_refusal(Accel *f, Loaded *out)
{
    PyObject *class;
    PyObject *error;
    PyObject *traceback;
    PyErr_Fetch(&class, &error, &traceback);
    PyErr_NormalizeException(&class, &error, &traceback);
    PyObject *message = NULL;
    out->code = source_error(error, &message);
    if (out->code == DIAG_COUNT) {
        PyErr_Clear();
        out->code = odd_error(error, &message);
    }
    const char *text = message ? PyUnicode_AsUTF8(message) : NULL;
    if (text && out->code != DIAG_COUNT) {
        out->refusal = function_text(f, NULL, out->code, text);
    }
    Py_XDECREF(message);
    if (out->refusal == NULL) {
        PyErr_Restore(class, error, traceback);
        return false;
    }
    Py_XDECREF(class);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return true;
}

/* The entry's parameters as binding of a call needs them. */
static bool
take_params(Accel *f, Loaded *out)
{
    PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    PyCodeObject *code = (PyCodeObject *)func->func_code;
    out->npositional = code->co_argcount;
    out->npositional_only = code->co_posonlyargcount;
    out->nparams = code->co_argcount + code->co_kwonlyargcount;
    PyObject *names = PyObject_GetAttrString(func->func_code, "co_varnames");
    if (names == NULL) {
        return false;
    }
    out->names = PyMem_Calloc((size_t)out->nparams + 1, sizeof(PyObject *));
    for (int i = 0; out->names && i < out->nparams; i++) {
        out->names[i] = Py_NewRef(PyTuple_GET_ITEM(names, i));
    }
    Py_DECREF(names);
    return out->names != NULL || PyErr_NoMemory() != NULL;
}

/* A reason, and no exception. */
static bool
refuse(Accel *f, Loaded *out, DiagId code, const char *message)
{
    out->code = code;
    out->refusal = function_text(f, NULL, code, message);
    return out->refusal != NULL;
}

/* False with an exception; a refusal is a success. */
static bool
load_into(Accel *f, Loaded *out)
{
    PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    int flags = ((PyCodeObject *)func->func_code)->co_flags;
    if (!take_params(f, out)) {
        return false;
    }
    if (flags & (CO_VARARGS | CO_VARKEYWORDS)) {
        return refuse(f, out, DIAG_UNSUPPORTED_ARGUMENT,
                      "a function with `*args` or `**kwargs` is left in Python")
               && guards_add_func(&out->guards, f->py_func) == 0;
    }
    if (!load_unit(f, out)) {
        guards_clear(&out->guards);
        return take_refusal(f, out)
               && guards_add_func(&out->guards, f->py_func) == 0;
    }
    if (out->nparams + out->guards.nhidden > MAX_ARGS) {
        return refuse(f, out, DIAG_UNSUPPORTED_ARGUMENT,
                      "the function has too many arguments");
    }
    return true;
}

/* Out of memory is the only jump that can arrive here; Python objects that the
 * loader held then are leaked. */
Loaded *
load_function(Accel *f)
{
    Loaded *out = PyMem_Calloc(1, sizeof(*out));
    if (out == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    out->refs = 1;
    Fatal trap;
    fatal_enter(&trap);
    volatile bool ok = false;
    if (setjmp(trap.env) == 0) {
        out->arena = arena_new();
        diags_init(&out->diags, out->arena);
        out->unit = ARENA_NEW(out->arena, Unit);
        out->unit->arena = out->arena;
        out->unit->diags = &out->diags;
        out->unit->minor = PY_MINOR_VERSION;
        out->unit->attrs = map_new(out->arena);
        out->unit->stores = map_new(out->arena);
        out->core = f->core;
        ok = load_into(f, out);
    } else {
        PyErr_NoMemory();
    }
    fatal_leave(&trap);
    if (!ok) {
        loaded_drop(out);
        return NULL;
    }
    return out;
}

/* Counted under the GIL. */
Loaded *
loaded_keep(Loaded *l)
{
    l->refs++;
    return l;
}

/* NULL is nothing to drop. */
void
loaded_drop(Loaded *l)
{
    if (l == NULL || --l->refs > 0) {
        return;
    }
    for (int i = 0; i < l->nspecs; i++) {
        spec_free(l->specs[i]);
    }
    for (int i = 0; l->names && i < l->nparams; i++) {
        Py_DECREF(l->names[i]);
    }
    PyMem_Free(l->names);
    guards_clear(&l->guards);
    classes_clear(l);
    Py_XDECREF(l->refusal);
    Py_XDECREF(l->why);
    if (l->arena != NULL) {
        arena_free(l->arena);
    }
    PyMem_Free(l);
}
