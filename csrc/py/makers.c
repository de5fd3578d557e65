/* How objects of a class of one's own are made: as a function of the unit.
 *
 *     Point(1, y=2)    def Point(x, y=0):    return (x, y)
 *     Vec(3, 4)        def Vec(x, y):        return (x, y)     a dataclass
 *     Ray(o, d)        def Ray(origin, d):   __init__ with names in place of
 *                          self.o = origin   attributes, and
 *                          self.d = d        return (self.o, self.d)
 *
 * The function gives what the object's fields hold, in the order in which they
 * are first assigned.  It is made only for classes of which that is all there
 * is to making an object: `__new__` is object's or a named tuple's, and
 * `__init__` does nothing with `self` but to assign and read its attributes.
 */
#include "csrc/py/load.h"
#include "csrc/py/records.h"

/* --- named tuples --------------------------------------------------------- */

/* Has nothing of 'type' that a tuple does been redefined, but for operators,
 * which inference looks up? */
static bool
acts_as_tuple(const PyTypeObject *type)
{
    const PyTypeObject *base = &PyTuple_Type;
    const PySequenceMethods *seq = type->tp_as_sequence;
    const PyMappingMethods *map = type->tp_as_mapping;
    return type->tp_getattro == PyObject_GenericGetAttr
           && type->tp_iter == base->tp_iter
           && type->tp_richcompare == base->tp_richcompare
           && type->tp_init == base->tp_init && type->tp_finalize == NULL
           && seq != NULL && seq->sq_length == base->tp_as_sequence->sq_length
           && seq->sq_contains == base->tp_as_sequence->sq_contains
           && map != NULL
           && map->mp_subscript == base->tp_as_mapping->mp_subscript
           && map->mp_length == base->tp_as_mapping->mp_length
           && !(type->tp_as_number && type->tp_as_number->nb_bool);
}

/* The `__new__` that collections.namedtuple made; borrowed, NULL: another. */
static PyFunctionObject *
tuple_new(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("__new__");
    PyObject *value = name ? class_value(type, name) : NULL;
    PyErr_Clear();
    Py_XDECREF(name);
    if (value != NULL && Py_IS_TYPE(value, &PyStaticMethod_Type)) {
        PyObject *inner = PyObject_GetAttrString(value, "__func__");
        Py_XDECREF(inner); /* 'value' has it */
        value = inner;
    }
    if (value == NULL || !PyFunction_Check(value)) {
        return NULL;
    }
    PyFunctionObject *function = (PyFunctionObject *)value;
    PyObject *module =
        PyDict_GetItemString(function->func_globals, "__name__");
    const char *text = module && PyUnicode_Check(module)
                           ? PyUnicode_AsUTF8(module)
                           : NULL;
    return text && strncmp(text, "namedtuple_", 11) == 0 ? function : NULL;
}

/* The names of the items, borrowed; NULL: they are not read as namedtuple
 * reads them. */
static PyObject *
tuple_fields(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("_fields");
    PyObject *fields = name ? class_value(type, name) : NULL;
    PyErr_Clear();
    Py_XDECREF(name);
    if (fields == NULL || !PyTuple_CheckExact(fields)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); i++) {
        PyObject *field = PyTuple_GET_ITEM(fields, i);
        PyObject *getter = PyUnicode_CheckExact(field)
                               ? class_value(type, field)
                               : NULL;
        if (getter == NULL
            || strcmp(Py_TYPE(getter)->tp_name, "_collections._tuplegetter")) {
            return NULL;
        }
    }
    return fields;
}

bool
is_named_tuple(PyTypeObject *type)
{
    return PyType_IsSubtype(type, &PyTuple_Type) && type != &PyTuple_Type
           && (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
           && Py_IS_TYPE((PyObject *)type, &PyType_Type)
           && acts_as_tuple(type) && tuple_new(type) != NULL
           && tuple_fields(type) != NULL;
}

/* --- functions ------------------------------------------------------------ */

/* What a maker is made of. */
typedef struct Maker {
    Loader L;
    Loaded *l;
    AFunc *out;
    Sym self;        /* in '__init__' */
    VEC(Sym) fields; /* in the order of assignment */
    bool failed;
} Maker;

static Loc
no_loc(const Maker *m)
{
    return m->l->unit->funcs.at[0]->loc;
}

/* A parameter; 'dflt' is borrowed or NULL. */
static void
add_param(Maker *m, Sym name, PyObject *dflt, bool keyword_only)
{
    AParam param = {.name = name, .keyword_only = keyword_only};
    param.dflt = dflt ? load_value(&m->L, dflt, no_loc(m)) : NULL;
    vec_push(m->l->arena, &m->out->params, param);
}

/* return (a, b) */
static void
add_return(Maker *m, const char *prefix)
{
    AStmt *s = ast_stmt(m->l->arena, AS_RETURN, no_loc(m));
    s->value = ast_expr(m->l->arena, A_TUPLE, no_loc(m));
    for (int i = 0; i < m->fields.n; i++) {
        AExpr *name = ast_expr(m->l->arena, A_NAME, no_loc(m));
        name->name =
            sym(str_printf(m->l->arena, "%s%s", prefix, m->fields.at[i]));
        vec_push(m->l->arena, &s->value->items, name);
    }
    vec_push(m->l->arena, &m->out->body, s);
}

/* The items by name, with the defaults of `__new__`. */
static void
make_tuple(Maker *m, PyTypeObject *type)
{
    PyObject *fields = tuple_fields(type);
    PyFunctionObject *new = tuple_new(type);
    PyObject *dflts = new->func_defaults;
    Py_ssize_t n = PyTuple_GET_SIZE(fields);
    Py_ssize_t without = n - (dflts ? PyTuple_GET_SIZE(dflts) : 0);
    for (Py_ssize_t i = 0; i < n; i++) {
        Sym name = sym_of(PyTuple_GET_ITEM(fields, i));
        PyObject *dflt =
            i < without ? NULL : PyTuple_GET_ITEM(dflts, i - without);
        add_param(m, name, dflt, false);
        vec_push(m->l->arena, &m->fields, name);
    }
    m->failed |= guards_add_func(&m->l->guards, (PyObject *)new) < 0;
    add_return(m, "");
}

/* --- copies of __init__ --------------------------------------------------- */

static AExpr *copy_expr(Maker *m, const AExpr *e);

/* An attribute of self as a name. */
static AExpr *
copy_attr(Maker *m, const AExpr *e)
{
    AExpr *out = ast_expr(m->l->arena, A_NAME, e->loc);
    out->name = sym(str_printf(m->l->arena, "self.%s", e->name));
    return out;
}

/* 'self' may stand nowhere else. */
static AExpr *
copy_expr(Maker *m, const AExpr *e)
{
    if (e == NULL) {
        return NULL;
    }
    bool self = e->kind == A_ATTR && e->lhs->kind == A_NAME
                && e->lhs->name == m->self;
    if (self) {
        bool set = false;
        for (int i = 0; i < m->fields.n; i++) {
            set |= m->fields.at[i] == e->name;
        }
        m->failed |= !set; /* of the class, or a method */
        return copy_attr(m, e);
    }
    m->failed |= e->kind == A_LAMBDA || e->fors.n > 0
                 || (e->kind == A_NAME && e->name == m->self);
    AExpr *out = arena_copy(m->l->arena, e, sizeof(*e));
    out->items = (AExprVec){0};
    out->lhs = copy_expr(m, e->lhs);
    out->rhs = copy_expr(m, e->rhs);
    for (int i = 0; i < e->items.n; i++) {
        vec_push(m->l->arena, &out->items, copy_expr(m, e->items.at[i]));
    }
    return out;
}

/* Notes the attributes among targets. */
static void
note_fields(Maker *m, const AExpr *target)
{
    bool display = target->kind == A_TUPLE || target->kind == A_LIST;
    for (int i = 0; display && i < target->items.n; i++) {
        note_fields(m, target->items.at[i]);
    }
    bool self = target->kind == A_ATTR && target->lhs->kind == A_NAME
                && target->lhs->name == m->self;
    for (int i = 0; self && i < m->fields.n; i++) {
        self = m->fields.at[i] != target->name;
    }
    if (self) {
        vec_push(m->l->arena, &m->fields, target->name);
    }
}

/* Returns would leave before the end. */
static void
copy_block(Maker *m, const ABlock *block, ABlock *to)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        AStmt *out = arena_copy(m->l->arena, s, sizeof(*s));
        m->failed |= s->kind == AS_RETURN || s->kind == AS_OTHER;
        out->targets = (AExprVec){0};
        out->body = out->orelse = (ABlock){0};
        out->value = copy_expr(m, s->value);
        for (int k = 0; k < s->targets.n; k++) {
            note_fields(m, s->targets.at[k]);
            vec_push(m->l->arena, &out->targets,
                     copy_expr(m, s->targets.at[k]));
        }
        copy_block(m, &s->body, &out->body);
        copy_block(m, &s->orelse, &out->orelse);
        vec_push(m->l->arena, to, out);
    }
}

/* The class's `__init__`, if it is written in Python; borrowed. */
static PyObject *
init_of(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("__init__");
    PyObject *value = name ? class_value(type, name) : NULL;
    PyErr_Clear();
    Py_XDECREF(name);
    return value != NULL && PyFunction_Check(value) ? value : NULL;
}

/* A copy of 'init' without 'self'; by inference nothing is done twice. */
static void
make_by_init(Maker *m, Accel *f, PyObject *init)
{
    Map stores = m->l->unit->stores;
    m->l->unit->stores = map_new(m->l->arena); /* its own don't count */
    int index = unit_extend(f, m->l, init);
    m->l->unit->stores = stores;
    const AFunc *from = index >= 0 ? m->l->unit->funcs.at[index] : NULL;
    if (from == NULL || from->params.n == 0 || from->params.at[0].keyword_only
        || from->nonlocals.n > 0 || from->captured.n > 0) {
        m->failed = true;
        return;
    }
    m->self = from->params.at[0].name;
    m->out->loc = from->loc;
    m->out->varargs = from->varargs;
    m->out->kwargs = from->kwargs;
    m->out->npositional_only =
        from->npositional_only > 0 ? from->npositional_only - 1 : 0;
    for (int i = 1; i < from->params.n; i++) {
        vec_push(m->l->arena, &m->out->params, from->params.at[i]);
    }
    copy_block(m, &from->body, &m->out->body);
    add_return(m, "self.");
}

/* --- dataclasses ---------------------------------------------------------- */

/* Is it the `__init__` that dataclasses wrote? */
static bool
is_written(PyTypeObject *type, PyObject *init)
{
    PyObject *name = PyUnicode_InternFromString("__dataclass_fields__");
    PyObject *fields = name ? class_value(type, name) : NULL;
    PyObject *code = ((PyFunctionObject *)init)->func_code;
    PyObject *file = PyObject_GetAttrString(code, "co_filename");
    bool written = fields != NULL && file != NULL
                   && PyUnicode_CompareWithASCIIString(file, "<string>") == 0;
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(file);
    return written;
}

/* What vizgen.source says of the fields: (name, has a default, default, only by
 * keyword), and None if there is more to it. */
static void
make_dataclass(Maker *m, PyTypeObject *type, PyObject *init)
{
    PyObject *ask = helper("vizgen.source", "dataclass_fields");
    PyObject *rows = ask ? PyObject_CallOneArg(ask, (PyObject *)type) : NULL;
    Py_XDECREF(ask);
    m->failed |= rows == NULL || rows == Py_None;
    Py_ssize_t n = m->failed ? 0 : PyList_GET_SIZE(rows);
    for (Py_ssize_t i = 0; i < 2 * n; i++) {
        PyObject *row = PyList_GET_ITEM(rows, i % n);
        Sym name = sym_of(PyTuple_GET_ITEM(row, 0));
        bool has = PyTuple_GET_ITEM(row, 1) == Py_True;
        bool by_keyword = PyTuple_GET_ITEM(row, 3) == Py_True;
        if (by_keyword == (i >= n)) { /* these come last */
            add_param(m, name, has ? PyTuple_GET_ITEM(row, 2) : NULL,
                      by_keyword);
        }
        if (i < n) {
            vec_push(m->l->arena, &m->fields, name);
        }
    }
    Py_XDECREF(rows);
    m->failed |= guards_add_func(&m->l->guards, init) < 0;
    add_return(m, "");
}

/* --- finding -------------------------------------------------------------- */

/* Is there no more to making an object than to set its attributes? */
static bool
is_simple_class(PyTypeObject *type)
{
    return type->tp_new == PyBaseObject_Type.tp_new
           && Py_IS_TYPE((PyObject *)type, &PyType_Type)
           && type->tp_finalize == NULL && type->tp_del == NULL
           && type->tp_getattro == PyObject_GenericGetAttr
           && !(type->tp_as_number && type->tp_as_number->nb_bool)
           && !(type->tp_as_sequence && type->tp_as_sequence->sq_length)
           && !(type->tp_as_mapping && type->tp_as_mapping->mp_length);
}

/* Would setting the attribute run something, or fail? */
static bool
is_settable(PyTypeObject *type, Sym name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *value = text ? class_value(type, text) : NULL;
    PyErr_Clear();
    Py_XDECREF(text);
    bool slot = value != NULL && Py_IS_TYPE(value, &PyMemberDescr_Type);
    return slot
           || (type->tp_dictoffset != 0
               && (value == NULL || !is_descriptor(value)));
}

/* Attributes that are assigned elsewhere, too, are no matter of values. */
static bool
are_settable(const Maker *m, PyTypeObject *type, PyObject *init)
{
    bool ok = is_written(type, init)
              || type->tp_setattro == PyObject_GenericSetAttr;
    for (int i = 0; ok && i < m->fields.n; i++) {
        ok = is_settable(type, m->fields.at[i]);
    }
    return ok;
}

/* The maker's function, in the unit if it is good. */
static void
make(Maker *m, Accel *f, PyTypeObject *type)
{
    PyObject *init = init_of(type);
    if (is_named_tuple(type)) {
        make_tuple(m, type);
    } else if (!is_simple_class(type) || init == NULL) {
        m->failed = true;
    } else {
        if (is_written(type, init)) {
            make_dataclass(m, type, init);
        } else {
            make_by_init(m, f, init);
        }
        m->failed |= m->fields.n == 0 || !are_settable(m, type, init);
    }
}

/* The names as Python has them, for the objects to come. */
static PyObject *
names_of(const Maker *m)
{
    PyObject *out = PyTuple_New(m->fields.n);
    for (int i = 0; out != NULL && i < m->fields.n; i++) {
        PyObject *name = PyUnicode_InternFromString(m->fields.at[i]);
        if (name == NULL) {
            Py_CLEAR(out);
        } else {
            PyTuple_SET_ITEM(out, i, name);
        }
    }
    return out;
}

bool
maker_find(Accel *f, Loaded *l, int class)
{
    PyTypeObject *type = l->classes[class].type;
    if (l->classes[class].fields != NULL) {
        return true;
    }
    Maker m = {.l = l, .out = ARENA_NEW(l->arena, AFunc)};
    m.L = (Loader){.core = f->core, .arena = l->arena, .unit = l->unit,
                   .guards = &l->guards, .functions = l->functions};
    m.L.sources = PyList_New(0);
    m.out->name = m.out->qualname = sym(type->tp_name);
    m.out->loc = no_loc(&m);
    make(&m, f, type);
    Py_XDECREF(m.L.sources);
    if (m.L.failed || m.failed) {
        l->stale |= m.L.failed;
        if (!m.L.failed) {
            PyErr_Clear();
        }
        return !m.L.failed;
    }
    l->classes[class].fields = names_of(&m);
    l->classes[class].init = Py_XNewRef(init_of(type));
    l->classes[class].new = Py_XNewRef(tuple_new(type));
    AClass *known = &l->unit->classes.at[class];
    known->fields.n = 0;
    for (int i = 0; i < m.fields.n; i++) {
        vec_push(l->arena, &known->fields, m.fields.at[i]);
    }
    known->maker = l->unit->funcs.n;
    vec_push(l->arena, &l->unit->funcs, m.out);
    return l->classes[class].fields != NULL
           && PyList_Append(l->functions, Py_None) == 0;
}

bool
maker_holds(const RecordClass *class)
{
    if (class->fields == NULL || class->listed) {
        return !class->is_tuple || is_named_tuple(class->type);
    }
    PyTypeObject *type = class->type;
    bool same = class->is_tuple
                    ? is_named_tuple(type)
                          && (PyObject *)tuple_new(type) == class->new
                    : is_simple_class(type) && init_of(type) == class->init;
    for (Py_ssize_t i = 0; same && !class->is_tuple
                           && i < PyTuple_GET_SIZE(class->fields);
         i++) {
        Sym name = sym_of(PyTuple_GET_ITEM(class->fields, i));
        same = name != NULL && is_settable(type, name);
    }
    return same
           && (class->init == NULL || is_written(type, class->init)
               || type->tp_setattro == PyObject_GenericSetAttr);
}

/* --- making --------------------------------------------------------------- */

/* An object of another class than a tuple's. */
static PyObject *
object_of(const RecordClass *class, PyObject *items)
{
    PyObject *none = PyTuple_New(0);
    PyObject *out =
        none ? PyBaseObject_Type.tp_new(class->type, none, NULL) : NULL;
    Py_XDECREF(none);
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(items); i++) {
        if (PyObject_GenericSetAttr(out, PyTuple_GET_ITEM(class->fields, i),
                                    PyTuple_GET_ITEM(items, i))
            < 0) {
            Py_CLEAR(out);
        }
    }
    return out;
}

/* Takes 'items'; NULL with an exception, also if 'items' is NULL. */
PyObject *
maker_call(const Call *call, const Type *type, PyObject *items)
{
    const RecordClass *class = &call->loaded->classes[type->class - 1];
    PyObject *out = NULL;
    if (items != NULL && class->is_tuple) {
        PyObject *args = PyTuple_Pack(1, items);
        out = args ? PyTuple_Type.tp_new(class->type, args, NULL) : NULL;
        Py_XDECREF(args);
    } else if (items != NULL) {
        out = object_of(class, items);
    }
    Py_XDECREF(items);
    return out;
}
