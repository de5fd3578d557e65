/* Classes of objects that are arguments: what the attributes are that the
 * source names.
 *
 *     class Camera:
 *         ZOOM = 2                 FIELD     read from the object at each call
 *         def scale(self): ...     METHOD    a function of the unit
 *         @property ...            OTHER     code of the user's: not for us
 *
 * A class is looked at when the first object of it comes.  Its methods are then
 * loaded like any other function, and may name further attributes; so all
 * classes are looked at again until nothing new is found, and signatures that
 * were made before count no more ("epoch").
 *
 * Python numbers the versions of a class.  When the number has changed, what
 * was found is looked up again, and the function is loaded anew if it differs.
 */
#include "csrc/py/load.h"
#include "csrc/py/records.h"

#include <structmember.h>

/* Attributes of one class that are looked at. */
enum { MAX_MEMBERS = 64, MAX_CLASSES = 16 };

/* None before the unit is there. */
static int
classes_count(const Loaded *l)
{
    return l->unit ? l->unit->classes.n : 0;
}

/* --- what an attribute is ------------------------------------------------- */

/* A plain Python function that the class has as a method; borrowed. */
static PyObject *
function_of(const Core *core, PyObject *value)
{
    if (PyFunction_Check(value)) {
        return value;
    }
    return is_accel(core, value) ? ((Accel *)value)->py_func : NULL;
}

/* The function of a staticmethod or classmethod of Python's, new. */
static PyObject *
wrapped(PyObject *value)
{
    bool wraps = Py_IS_TYPE(value, &PyStaticMethod_Type)
                 || Py_IS_TYPE(value, &PyClassMethod_Type);
    PyObject *out = wraps ? PyObject_GetAttrString(value, "__func__") : NULL;
    if (out == NULL) {
        PyErr_Clear();
    }
    return out;
}

/* `_replace` and the like, as collections.namedtuple makes them. */
static bool
is_of_collections(PyObject *value)
{
    PyObject *globals = PyFunction_Check(value)
                            ? PyFunction_GET_GLOBALS(value)
                            : NULL;
    PyObject *name = globals ? PyDict_GetItemString(globals, "__name__") : NULL;
    return name != NULL && PyUnicode_Check(name)
           && PyUnicode_CompareWithASCIIString(name, "collections") == 0;
}

/* Of a property, borrowed from it. */
static PyObject *
getter_of(PyObject *property)
{
    PyObject *getter = PyObject_GetAttrString(property, "fget");
    if (getter == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(getter); /* the property has it */
    return getter;
}

/* Assigning puts a value into the object's dict or a slot, and nothing else. */
static bool
is_writable(const RecordClass *class, PyObject *value)
{
    PyTypeObject *type = class->type;
    if (class->itself || type->tp_setattro != PyObject_GenericSetAttr) {
        return false;
    }
    if (value != NULL && Py_IS_TYPE(value, &PyMemberDescr_Type)) {
        const PyMemberDef *def = ((PyMemberDescrObject *)value)->d_member;
        return def->type == T_OBJECT_EX && !(def->flags & READONLY);
    }
    return type->tp_dictoffset != 0
           && (value == NULL || Py_TYPE(value)->tp_descr_set == NULL);
}

/* What 'name' is; "func" is not known yet. */
static Member
member_of(const Core *core, const RecordClass *class, PyObject *name)
{
    PyObject *value = class_value(class->type, name);
    Member out = {.name = name, .kind = MEMBER_OTHER, .func = -1};
    PyTypeObject *base = class->is_tuple ? &PyTuple_Type : &PyBaseObject_Type;
    out.target = value;
    out.own = value != NULL && class_value(base, name) != value;
    if (class->itself && class_value(&PyType_Type, name) != NULL) {
        return out;
    }
    if (value == NULL || !is_descriptor(value)) {
        out.kind = class->is_tuple ? MEMBER_OTHER : MEMBER_FIELD;
    } else if (Py_IS_TYPE(value, &PyProperty_Type) && !class->itself) {
        out.inner = getter_of(value);
        bool plain = out.inner != NULL && function_of(core, out.inner);
        out.kind = plain ? MEMBER_METHOD : MEMBER_OTHER;
        out.binds = out.is_property = plain;
    } else if (Py_IS_TYPE(value, &PyMemberDescr_Type)) {
        out.kind = class->itself ? MEMBER_OTHER : MEMBER_FIELD;
    } else if (class->is_tuple && is_of_collections(value)) {
        out.own = false;
    } else if (function_of(core, value) != NULL) {
        out.kind = MEMBER_METHOD;
        out.binds = !class->itself;
    } else {
        PyObject *inner = wrapped(value);
        bool is_static = Py_IS_TYPE(value, &PyStaticMethod_Type);
        bool plain = inner != NULL && function_of(core, inner) != NULL;
        if (plain && (is_static || class->itself)) {
            out.kind = MEMBER_METHOD;
            out.binds = !is_static;
            out.inner = inner;
        }
        Py_XDECREF(inner); /* 'value' has it */
    }
    out.writable = out.kind == MEMBER_FIELD && is_writable(class, value);
    return out;
}

/* Changes whenever the class or one of its bases does; 0: not known. */
static unsigned
type_version(const PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030D0000
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return 0;
    }
#endif
    return type->tp_version_tag;
}

/* Is the attribute what it was? */
static bool
same_member(const Loaded *l, const RecordClass *class, const Member *old)
{
    Member now = member_of(l->core, class, old->name);
    if (old->kind == MEMBER_FIELD) {
        return now.kind == MEMBER_FIELD && now.writable == old->writable;
    }
    return now.target == old->target;
}

bool
classes_hold(Loaded *l, const RecordClass *class)
{
    RecordClass *at = &l->classes[class - l->classes];
    int makes = l->unit->classes.at[class - l->classes].makes;
    if (makes >= 0 && !classes_hold(l, &l->classes[makes])) {
        return false;
    }
    unsigned tag = type_version(at->type);
    if (tag != 0 && tag == at->tag) {
        return true;
    }
    bool same = maker_holds(at);
    for (int i = 0; same && i < at->n; i++) {
        same = same_member(l, at, &at->members[i]);
    }
    at->tag = same ? tag : 0;
    l->stale |= !same;
    return same;
}

/* Has the instance an attribute in place of the method? */
static bool
is_shadowed(PyObject *object, const RecordClass *class, const Member *member)
{
    if (class->itself || class->type->tp_dictoffset == 0) {
        return false;
    }
    PyObject *value = PyObject_GenericGetAttr(object, member->name);
    bool method = value != NULL && PyMethod_Check(value)
                  && PyMethod_GET_SELF(value) == object;
    bool same = member->inner ? value == member->inner : method;
    PyErr_Clear();
    Py_XDECREF(value);
    return !same;
}

bool
classes_shadowed(const RecordClass *class, PyObject *object)
{
    for (int i = 0; i < class->n; i++) {
        const Member *member = &class->members[i];
        if (member->kind == MEMBER_METHOD && !member->is_property
            && is_shadowed(object, class, member)) {
            return true;
        }
    }
    return false;
}

/* --- learning ------------------------------------------------------------- */

/* Its number in the unit; -1: it can't be loaded. */
static int
load_member(Accel *f, Loaded *l, const Member *member)
{
    PyObject *inner = member->inner ? member->inner : member->target;
    return unit_extend(f, l, function_of(f->core, inner));
}

/* One more attribute of the class; false with an exception. */
static bool
add_member(Accel *f, Loaded *l, int class, PyObject *name)
{
    RecordClass *at = &l->classes[class];
    Member member = member_of(f->core, at, name);
    if (member.kind == MEMBER_METHOD) {
        member.func = load_member(f, l, &member);
        if (PyErr_Occurred()) {
            return false;
        }
        member.kind = member.func >= 0 ? MEMBER_METHOD : MEMBER_OTHER;
    }
    Py_INCREF(member.name);
    Py_XINCREF(member.target);
    at->members[at->n++] = member;
    AClassAttr attr = {
        .name = sym_of(name),
        .binds = member.binds,
        .own = member.own,
        .is_property = member.is_property,
    };
    attr.func = member.kind == MEMBER_METHOD ? member.func : -1;
    vec_push(l->arena, &l->unit->classes.at[class].attrs, attr);
    return true;
}

/* Is the name among those of the class? */
static bool
has_member(const RecordClass *class, PyObject *name)
{
    for (int i = 0; i < class->n; i++) {
        if (PyUnicode_Compare(class->members[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Does the object have the attribute, or could the source give it one? */
static bool
is_wanted(const Loaded *l, const RecordClass *class, PyObject *object, Sym name,
          PyObject *text)
{
    if (class_value(class->type, text) != NULL
        || map_has(&l->unit->stores, name)) {
        return true;
    }
    PyObject *value = class->itself || object == NULL
                          ? NULL
                          : PyObject_GenericGetAttr(object, text);
    if (value == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(value);
    return value != NULL;
}

/* How much there is to look for. */
static int
names_seen(const Loaded *l)
{
    return l->unit->attrs.n + l->unit->stores.n;
}

/* Looks at all names that the source has by now. */
static bool
look(Accel *f, Loaded *l, int class, PyObject *object)
{
    for (int i = 0; i < l->unit->attrs.n; i++) {
        Sym name = l->unit->attrs.entries[i].key;
        PyObject *text = PyUnicode_InternFromString(name);
        if (text == NULL) {
            return false;
        }
        RecordClass *at = &l->classes[class];
        bool fresh = at->n < MAX_MEMBERS && !has_member(at, text)
                     && is_wanted(l, at, object, name, text);
        bool ok = !fresh || add_member(f, l, class, text);
        Py_DECREF(text);
        if (!ok) {
            return false;
        }
    }
    l->classes[class].seen = names_seen(l);
    return true;
}

/* The number of a class; -1: it has not been met. */
static int
find_class(const Loaded *l, const PyTypeObject *type, bool itself, bool listed)
{
    for (int i = 0; i < classes_count(l); i++) {
        const RecordClass *class = &l->classes[i];
        if (class->type == type && class->itself == itself
            && class->listed == listed) {
            return i;
        }
    }
    return -1;
}

int
classes_find(const Loaded *l, PyObject *object)
{
    bool itself = PyType_Check(object);
    const PyTypeObject *type =
        itself ? (PyTypeObject *)object : Py_TYPE(object);
    return find_class(l, type, itself, false);
}

/* A class that has not been met; -1: there are too many. */
static int
new_class(Loaded *l, PyTypeObject *type, bool itself)
{
    int number = l->unit->classes.n;
    if (l->classes == NULL) { /* never moved: a finaliser may come here */
        l->classes = PyMem_Calloc(MAX_CLASSES, sizeof(*l->classes));
    }
    Member *members =
        number < MAX_CLASSES && l->classes
            ? PyMem_Calloc(MAX_MEMBERS, sizeof(*members))
            : NULL;
    if (members == NULL) {
        return -1;
    }
    Py_INCREF(type);
    l->classes[number] = (RecordClass){
        .type = type,
        .itself = itself,
        .members = members,
        .is_tuple = !itself && is_named_tuple(type),
    };
    AClass known = {.name = sym(type->tp_name), .makes = -1, .maker = -1};
    known.is_tuple = l->classes[number].is_tuple;
    known.inner = is_library_class(type);
    vec_push(l->arena, &l->unit->classes, known);
    return number;
}

/* What calling the class makes. */
static bool
add_made(Accel *f, Loaded *l, int class)
{
    PyTypeObject *type = l->classes[class].type;
    int made = find_class(l, type, false, false);
    made = made >= 0 ? made : new_class(l, type, false);
    if (made >= 0 && l->unit->classes.at[class].makes < 0) {
        l->unit->classes.at[class].makes = made;
        return maker_find(f, l, made) && look(f, l, made, NULL);
    }
    return made < 0 || look(f, l, made, NULL);
}

int
classes_listed(const Loaded *l, const PyTypeObject *type)
{
    return find_class(l, type, false, true);
}

int
classes_made(const Loaded *l, const PyTypeObject *type)
{
    return find_class(l, type, false, false);
}

int
classes_list(Accel *f, Loaded *l, PyObject *object)
{
    int class = classes_listed(l, Py_TYPE(object));
    if (class < 0) {
        class = new_class(l, Py_TYPE(object), false);
    }
    if (class >= 0) {
        l->classes[class].listed = l->classes[class].met = true;
    }
    return class >= 0 && look(f, l, class, object) ? class : -1;
}

bool
classes_known(const Loaded *l, int class)
{
    return l->classes[class].met && l->classes[class].seen == names_seen(l);
}

/* Under the lock of 'f'.  False: there are too many, or an exception. */
bool
classes_add(Accel *f, Loaded *l, PyObject *object)
{
    bool itself = PyType_Check(object);
    PyTypeObject *type = itself ? (PyTypeObject *)object : Py_TYPE(object);
    int class = find_class(l, type, itself, false);
    class = class >= 0 ? class : new_class(l, type, itself);
    l->epoch++;
    if (class < 0) {
        return false;
    }
    l->classes[class].met = true;
    if (l->classes[class].is_tuple && !maker_find(f, l, class)) {
        return false;
    }
    return (!itself || add_made(f, l, class)) && look(f, l, class, object);
}

/* --- the end -------------------------------------------------------------- */

int
classes_traverse(const Loaded *l, visitproc visit, void *arg)
{
    Py_VISIT(l->functions);
    for (int i = 0; i < classes_count(l); i++) {
        Py_VISIT(l->classes[i].type);
        Py_VISIT(l->classes[i].init);
        Py_VISIT(l->classes[i].new);
        for (int k = 0; k < l->classes[i].n; k++) {
            Py_VISIT(l->classes[i].members[k].target);
        }
    }
    return 0;
}

void
classes_clear(Loaded *l)
{
    for (int i = 0; i < classes_count(l); i++) {
        RecordClass *class = &l->classes[i];
        for (int k = 0; k < class->n; k++) {
            Py_DECREF(class->members[k].name);
            Py_XDECREF(class->members[k].target);
        }
        PyMem_Free(class->members);
        Py_XDECREF(class->fields);
        PyMem_Free(class->nested);
        Py_XDECREF(class->init);
        Py_XDECREF(class->new);
        Py_DECREF(class->type);
    }
    PyMem_Free(l->classes);
    Py_CLEAR(l->functions);
}
