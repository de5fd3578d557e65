/* Guards: do the names that a compiled function uses still mean the same?
 *
 * A function that reads np.zeros, RADIUS and helper is compiled for what these
 * were.  On every call the dispatcher makes sure:
 *
 *     globals  {"np": same module, "RADIUS": equal value, "helper": same}
 *     builtins {"range": same}        numpy.__dict__ {"zeros": same}
 *     helper   same __code__, __defaults__, __kwdefaults__
 *
 * Up to Python 3.13 a dict carries a version number that changes whenever the
 * dict does; while it stays the same nothing is looked up at all.  A program
 * that assigns globals between calls pays about 10 ns per guard instead.
 *
 * Values that are rebound to an equal value keep their guard.  Arrays may be
 * rebound freely: they are arguments, the signature looks at them.
 */
#include "csrc/py/core.h"

#define HAVE_DICT_VERSION (PY_VERSION_HEX < 0x030E0000)

/* 0 where dicts have no version: then every guard is looked up. */
static inline uint64_t
dict_version(PyObject *dict)
{
#if HAVE_DICT_VERSION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return ((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
#else
    (void)dict;
    return 0;
#endif
}

/* --- values -------------------------------------------------------------- */

/* Item by item, so (1, 2) and (1, 2.0) differ although they are equal. */
static bool
same_items(PyObject *lhs, PyObject *rhs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(lhs);
    if (n != PyTuple_GET_SIZE(rhs)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!same_value(PyTuple_GET_ITEM(lhs, i), PyTuple_GET_ITEM(rhs, i))) {
            return false;
        }
    }
    return true;
}

/* 0.0 and -0.0 differ, a NaN equals itself. */
static bool
same_bits(double lhs, double rhs)
{
    return memcmp(&lhs, &rhs, sizeof(lhs)) == 0;
}

/* Only types whose comparison runs no code of the user's get as far as
 * RichCompare. */
bool
same_value(PyObject *lhs, PyObject *rhs)
{
    if (lhs == rhs) {
        return true;
    }
    if (Py_TYPE(lhs) != Py_TYPE(rhs)) {
        return false;
    }
    if (PyTuple_CheckExact(lhs)) {
        return same_items(lhs, rhs);
    }
    if (PyFloat_CheckExact(lhs)) {
        return same_bits(PyFloat_AS_DOUBLE(lhs), PyFloat_AS_DOUBLE(rhs));
    }
    if (PyComplex_CheckExact(lhs)) {
        return same_bits(PyComplex_RealAsDouble(lhs),
                         PyComplex_RealAsDouble(rhs))
               && same_bits(PyComplex_ImagAsDouble(lhs),
                            PyComplex_ImagAsDouble(rhs));
    }
    DType dt;
    bool plain = PyLong_CheckExact(lhs) || PyUnicode_CheckExact(lhs)
                 || scalar_dtype(Py_TYPE(lhs), &dt);
    if (!plain) {
        return false;
    }
    int equal = PyObject_RichCompareBool(lhs, rhs, Py_EQ);
    if (equal < 0) {
        PyErr_Clear();
    }
    return equal == 1;
}

/* --- checking ------------------------------------------------------------ */

/* A guard that fails says nothing but that the function must be loaded again.
 * Looking never runs code of the user's: dicts of modules have strings as keys,
 * and values are compared only where they are of Python's or NumPy's own plain
 * types. */

/* 'value' is what the guard's name is bound to now, NULL: unbound. */
static bool
holds(Guards *g, Guard *guard, PyObject *value)
{
    if (value == guard->expected) {
        return true;
    }
    if (value == NULL || guard->expected == NULL) {
        return false;
    }
    if (guard->kind == GUARD_VALUE) {
        return same_value(value, guard->expected);
    }
    if (guard->kind != GUARD_ARRAY || !PyArray_CheckExact(value)) {
        return false;
    }
    Py_SETREF(guard->expected, Py_NewRef(value));
    Py_SETREF(g->hidden[guard->arg], Py_NewRef(value));
    return true;
}

/* The tag is read first: a change while guards are being looked at is then
 * seen by the next call. */
static bool
set_holds(Guards *g, GuardSet *set)
{
    uint64_t tag = dict_version(set->dict);
    for (int i = 0; i < set->n; i++) {
        Guard *guard = &set->at[i];
        PyObject *value = PyDict_GetItemWithError(set->dict, guard->key);
        if (!holds(g, guard, value)) {
            PyErr_Clear();
            return false;
        }
    }
    set->tag = tag;
    return true;
}

/* On the way of every call.  The usual case is one comparison per dict and
 * three per user function. */
bool
guards_hold(Guards *g)
{
    for (int i = 0; i < g->nsets; i++) {
        GuardSet *set = &g->sets[i];
        bool seen = HAVE_DICT_VERSION && set->tag == dict_version(set->dict);
        if (!seen && !set_holds(g, set)) {
            return false;
        }
    }
    for (int i = 0; i < g->nfuncs; i++) {
        const FuncGuard *guard = &g->funcs[i];
        const PyFunctionObject *func = (PyFunctionObject *)guard->func;
        if (func->func_code != guard->code
            || func->func_defaults != guard->defaults
            || func->func_kwdefaults != guard->kwdefaults) {
            return false;
        }
    }
    for (int i = 0; i < g->nfrozen; i++) {
        if (!same_frozen(g->frozen[i].object, g->frozen[i].copy)) {
            return false;
        }
    }
    for (int i = 0; i < g->ncells; i++) {
        CellGuard *guard = &g->cells[i];
        if (!holds(g, &guard->guard, PyCell_GET(guard->cell))) {
            return false;
        }
    }
    return true;
}

/* --- building ------------------------------------------------------------ */

/* Tables grow by one element at a time; a function rarely has more than ten of
 * anything here, and they are built once. */

/* Room for one more element of 'size' bytes in the table at 'table'. */
static bool
grow(void *table, int n, size_t size)
{
    void *old;
    memcpy(&old, table, sizeof(old));
    void *at = PyMem_Realloc(old, (size_t)(n + 1) * size);
    if (at == NULL) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(table, &at, sizeof(at));
    return true;
}

/* Few dicts are involved (globals, builtins, numpy, math), so a search
 * through them is fast enough. */
static GuardSet *
set_of(Guards *g, PyObject *dict)
{
    for (int i = 0; i < g->nsets; i++) {
        if (g->sets[i].dict == dict) {
            return &g->sets[i];
        }
    }
    if (!grow(&g->sets, g->nsets, sizeof(*g->sets))) {
        return NULL;
    }
    GuardSet *set = &g->sets[g->nsets++];
    *set = (GuardSet){.dict = Py_NewRef(dict)};
    return set;
}

/* The number of a new hidden argument, now 'array'; -1 without memory. */
static int
hide(Guards *g, PyObject *array)
{
    if (!grow(&g->hidden, g->nhidden, sizeof(*g->hidden))) {
        return -1;
    }
    g->hidden[g->nhidden] = Py_NewRef(array);
    return g->nhidden++;
}

/* All references are the guard's own. */
static bool
guard_init(Guards *g, Guard *guard, PyObject *key, GuardKind kind,
           PyObject *expected)
{
    bool hidden = kind == GUARD_ARRAY || kind == GUARD_RECORD;
    int arg = hidden ? hide(g, expected) : 0;
    if (arg < 0) {
        return false;
    }
    *guard = (Guard){
        .kind = kind,
        .arg = arg,
        .key = Py_XNewRef(key),
        .expected = kind == GUARD_ABSENT ? NULL : Py_NewRef(expected),
    };
    return true;
}

/* A name has one guard however often the function reads it. */
int
guards_add(Guards *g, PyObject *dict, PyObject *key, GuardKind kind,
           PyObject *expected)
{
    GuardSet *set = set_of(g, dict);
    if (set == NULL) {
        return -1;
    }
    for (int i = 0; i < set->n; i++) {
        if (PyUnicode_Compare(set->at[i].key, key) == 0) {
            return set->at[i].arg;
        }
    }
    if (!grow(&set->at, set->n, sizeof(*set->at))
        || !guard_init(g, &set->at[set->n], key, kind, expected)) {
        return -1;
    }
    return set->at[set->n++].arg;
}

/* As guards_add, for a variable of an enclosing function. */
int
guards_add_cell(Guards *g, PyObject *cell, GuardKind kind, PyObject *expected)
{
    for (int i = 0; i < g->ncells; i++) {
        if (g->cells[i].cell == cell) {
            return g->cells[i].guard.arg;
        }
    }
    if (!grow(&g->cells, g->ncells, sizeof(*g->cells))
        || !guard_init(g, &g->cells[g->ncells].guard, NULL, kind, expected)) {
        return -1;
    }
    g->cells[g->ncells].cell = Py_NewRef(cell);
    return g->cells[g->ncells++].guard.arg;
}

/* The caller adds each function once. */
int
guards_add_func(Guards *g, PyObject *func)
{
    if (!grow(&g->funcs, g->nfuncs, sizeof(*g->funcs))) {
        return -1;
    }
    const PyFunctionObject *f = (PyFunctionObject *)func;
    g->funcs[g->nfuncs++] = (FuncGuard){
        .func = Py_NewRef(func),
        .code = Py_NewRef(f->func_code),
        .defaults = Py_XNewRef(f->func_defaults),
        .kwdefaults = Py_XNewRef(f->func_kwdefaults),
    };
    return 0;
}

/* Each object once. */
int
guards_add_frozen(Guards *g, PyObject *object)
{
    for (int i = 0; i < g->nfrozen; i++) {
        if (g->frozen[i].object == object) {
            return 0;
        }
    }
    PyObject *copy = frozen_copy(object);
    if (copy == NULL || !grow(&g->frozen, g->nfrozen, sizeof(*g->frozen))) {
        Py_XDECREF(copy);
        return -1;
    }
    g->frozen[g->nfrozen++] =
        (FrozenGuard){.object = Py_NewRef(object), .copy = copy};
    return 0;
}

/* --- garbage collection -------------------------------------------------- */

/* Keys are strings and can't be part of a cycle. */
int
guards_traverse(const Guards *g, visitproc visit, void *arg)
{
    for (int i = 0; i < g->nsets; i++) {
        Py_VISIT(g->sets[i].dict);
        for (int k = 0; k < g->sets[i].n; k++) {
            Py_VISIT(g->sets[i].at[k].expected);
        }
    }
    for (int i = 0; i < g->ncells; i++) {
        Py_VISIT(g->cells[i].cell);
        Py_VISIT(g->cells[i].guard.expected);
    }
    for (int i = 0; i < g->nfuncs; i++) {
        Py_VISIT(g->funcs[i].func);
        Py_VISIT(g->funcs[i].code);
        Py_VISIT(g->funcs[i].defaults);
        Py_VISIT(g->funcs[i].kwdefaults);
    }
    for (int i = 0; i < g->nhidden; i++) {
        Py_VISIT(g->hidden[i]);
    }
    for (int i = 0; i < g->nfrozen; i++) {
        Py_VISIT(g->frozen[i].object);
        Py_VISIT(g->frozen[i].copy);
    }
    return 0;
}

/* Leaves an empty set of guards, which hold. */
void
guards_clear(Guards *g)
{
    for (int i = 0; i < g->nsets; i++) {
        for (int k = 0; k < g->sets[i].n; k++) {
            Py_DECREF(g->sets[i].at[k].key);
            Py_XDECREF(g->sets[i].at[k].expected);
        }
        PyMem_Free(g->sets[i].at);
        Py_DECREF(g->sets[i].dict);
    }
    for (int i = 0; i < g->ncells; i++) {
        Py_XDECREF(g->cells[i].guard.expected);
        Py_DECREF(g->cells[i].cell);
    }
    for (int i = 0; i < g->nfuncs; i++) {
        Py_DECREF(g->funcs[i].func);
        Py_DECREF(g->funcs[i].code);
        Py_XDECREF(g->funcs[i].defaults);
        Py_XDECREF(g->funcs[i].kwdefaults);
    }
    for (int i = 0; i < g->nhidden; i++) {
        Py_DECREF(g->hidden[i]);
    }
    for (int i = 0; i < g->nfrozen; i++) {
        Py_DECREF(g->frozen[i].object);
        Py_DECREF(g->frozen[i].copy);
    }
    PyMem_Free(g->frozen);
    PyMem_Free(g->sets);
    PyMem_Free(g->cells);
    PyMem_Free(g->funcs);
    PyMem_Free(g->hidden);
    *g = (Guards){0};
}
