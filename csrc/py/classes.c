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
    out.target = value;
    if (class->itself && class_value(&PyType_Type, name) != NULL) {
        return out;
    }
    if (value == NULL || !is_descriptor(value)) {
        out.kind = MEMBER_FIELD;
    } else if (Py_IS_TYPE(value, &PyMemberDescr_Type)) {
        out.kind = class->itself ? MEMBER_OTHER : MEMBER_FIELD;
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

/* The class is as it was when it was looked at, or 'l' is stale. */
bool
classes_hold(Loaded *l, const RecordClass *class)
{
    RecordClass *at = &l->classes[class - l->classes];
    unsigned tag = at->type->tp_version_tag;
    if (tag != 0 && tag == at->tag) {
        return true;
    }
    for (int i = 0; i < at->n; i++) {
        const Member *old = &at->members[i];
        Member now = member_of(l->core, at, old->name);
        bool same = old->kind == MEMBER_FIELD
                        ? now.kind == MEMBER_FIELD
                              && now.writable == old->writable
                        : now.target == old->target;
        if (!same) {
            l->stale = true;
            return false;
        }
    }
    at->tag = tag;
    return true;
}

/* --- learning ------------------------------------------------------------- */

/* Its number in the unit; -1: it can't be loaded. */
static int
load_member(Accel *f, Loaded *l, const Member *member)
{
    PyObject *inner = wrapped(member->target);
    PyObject *function =
        function_of(f->core, inner ? inner : member->target);
    int func = unit_extend(f, l, function);
    Py_XDECREF(inner);
    return func;
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
    Member *members = PyMem_Realloc(
        at->members, sizeof(*members) * (size_t)(at->n + 1));
    if (members == NULL) {
        PyErr_NoMemory();
        return false;
    }
    Py_INCREF(member.name);
    Py_XINCREF(member.target);
    at->members = members;
    at->members[at->n++] = member;
    AClassAttr attr = {.name = sym_of(name), .binds = member.binds};
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
    PyObject *value =
        class->itself ? NULL : PyObject_GenericGetAttr(object, text);
    if (value == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(value);
    return value != NULL;
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
    l->classes[class].seen = l->unit->attrs.n;
    return true;
}

/* The number of the object's class; -1: it has not been met. */
int
classes_find(const Loaded *l, PyObject *object)
{
    bool itself = PyType_Check(object);
    PyTypeObject *type = itself ? (PyTypeObject *)object : Py_TYPE(object);
    for (int i = 0; i < l->nclasses; i++) {
        if (l->classes[i].type == type && l->classes[i].itself == itself) {
            return i;
        }
    }
    return -1;
}

/* Under the lock of 'f'.  False: there are too many, or an exception. */
bool
classes_add(Accel *f, Loaded *l, PyObject *object)
{
    int class = classes_find(l, object);
    if (class < 0) {
        RecordClass *classes = PyMem_Realloc(
            l->classes, sizeof(*classes) * (size_t)(l->nclasses + 1));
        if (classes == NULL || l->nclasses >= MAX_CLASSES) {
            return classes == NULL && PyErr_NoMemory() != NULL;
        }
        bool itself = PyType_Check(object);
        PyObject *type = itself ? object : (PyObject *)Py_TYPE(object);
        l->classes = classes;
        class = l->nclasses++;
        l->classes[class] = (RecordClass){
            .type = (PyTypeObject *)Py_NewRef(type), .itself = itself};
        AClass known = {.name = sym(((PyTypeObject *)type)->tp_name)};
        vec_push(l->arena, &l->unit->classes, known);
    }
    l->epoch++;
    return look(f, l, class, object);
}

/* --- the end -------------------------------------------------------------- */

int
classes_traverse(const Loaded *l, visitproc visit, void *arg)
{
    Py_VISIT(l->functions);
    for (int i = 0; i < l->nclasses; i++) {
        Py_VISIT(l->classes[i].type);
        for (int k = 0; k < l->classes[i].n; k++) {
            Py_VISIT(l->classes[i].members[k].target);
        }
    }
    return 0;
}

void
classes_clear(Loaded *l)
{
    for (int i = 0; i < l->nclasses; i++) {
        RecordClass *class = &l->classes[i];
        for (int k = 0; k < class->n; k++) {
            Py_DECREF(class->members[k].name);
            Py_XDECREF(class->members[k].target);
        }
        PyMem_Free(class->members);
        Py_DECREF(class->type);
    }
    PyMem_Free(l->classes);
    Py_CLEAR(l->functions);
}
