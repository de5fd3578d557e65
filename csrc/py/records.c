/* Objects as arguments: their attributes are read before the call and set after
 * it.
 *
 *     f(camera, img)     bound   camera  img  camera.zoom  camera.pos  ...
 *                        keys    RECORD  ARRAY  FLOAT      TUPLE
 *
 * The attributes that the source names follow the arguments, those of an object
 * that is itself an attribute follow later, and so on.  An object that has come
 * before has a key that says where ("SAME"), so a signature knows which
 * arguments are one object.  What no kernel takes is OPAQUE, what is not there
 * ABSENT; neither is a reason to refuse, unless the code reads it.
 *
 * Reading runs no code of the user's (classes.c), and nothing is set before
 * everything else has gone well.
 */
#include "csrc/py/records.h"
#include "typeinfer/rules.h"

/* Stands for an attribute that isn't there; never seen by anybody else. */
static struct {
    PyObject_HEAD
} no_attribute = {PyObject_HEAD_INIT(&PyBaseObject_Type)};

#define absent ((PyObject *)&no_attribute)

/* --- which objects -------------------------------------------------------- */

/* types.SimpleNamespace is the one static type whose instances are like those
 * of Python classes. */
static bool
is_namespace(const PyTypeObject *type)
{
    return strcmp(type->tp_name, "types.SimpleNamespace") == 0;
}

/* Made by Python code, down to 'object': no subclass of list or int, whose
 * instances are more than their attributes. */
static bool
is_python_class(const PyTypeObject *type)
{
    PyObject *bases = type->tp_mro;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);
        if (base != &PyBaseObject_Type && !is_namespace(base)
            && !(base->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
            return false;
        }
    }
    return bases != NULL && type != &PyBaseObject_Type;
}

/* An object that has a truth value or attributes of its own making is none. */
bool
is_record(PyObject *object)
{
    if (PyType_Check(object)) {
        PyTypeObject *type = (PyTypeObject *)object;
        return Py_IS_TYPE(object, &PyType_Type)
               && (is_python_class(type) || is_named_tuple(type));
    }
    PyTypeObject *type = Py_TYPE(object);
    if (PyTuple_Check(object)) {
        return is_named_tuple(type);
    }
    return type->tp_getattro == PyObject_GenericGetAttr
           && !(type->tp_as_number && type->tp_as_number->nb_bool)
           && !(type->tp_as_sequence && type->tp_as_sequence->sq_length)
           && !(type->tp_as_mapping && type->tp_as_mapping->mp_length)
           && is_python_class(type);
}

/* --- reading -------------------------------------------------------------- */

/* New; NULL with an exception. */
static PyObject *
read_member(const RecordClass *class, PyObject *object, const Member *member)
{
    if (class->itself) {
        PyObject *value = class_value(class->type, member->name);
        return Py_NewRef(value ? value : absent);
    }
    PyObject *value = PyObject_GenericGetAttr(object, member->name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = Py_NewRef(absent);
    }
    return value;
}

/* Appends the attributes of an object; the same answers as records_keys. */
static int
append_members(const RecordClass *class, PyObject *object, PyObject **bound,
               int *n, PyObject *held)
{
    if (classes_shadowed(class, object)) {
        return 0;
    }
    for (int i = 0; class->is_tuple && i < PyTuple_GET_SIZE(object); i++) {
        if (*n == MAX_ARGS) {
            return 0;
        }
        bound[(*n)++] = PyTuple_GET_ITEM(object, i); /* 'object' is held */
    }
    for (int i = 0; i < class->n; i++) {
        const Member *member = &class->members[i];
        if (member->kind != MEMBER_FIELD) {
            continue;
        }
        if (*n == MAX_ARGS) {
            return 0;
        }
        PyObject *value = read_member(class, object, member);
        int status = value ? PyList_Append(held, value) : -1;
        Py_XDECREF(value);
        if (status < 0) {
            return -3;
        }
        bound[(*n)++] = value;
    }
    return -1;
}

/* The number of the first argument that is the same object; -1. */
static int
seen_before(PyObject *const *bound, const uint32_t *keys, int at)
{
    for (int i = 0; i < at; i++) {
        if (bound[i] == bound[at] && KEY_KIND(keys[i]) == K_RECORD) {
            return i;
        }
    }
    return -1;
}

/* The key of an object, whose attributes are appended. */
static int
expand(Loaded *l, PyObject **bound, int *n, int at, uint32_t *keys,
       PyObject *held)
{
    int before = seen_before(bound, keys, at);
    if (before >= 0) {
        keys[at] = K_SAME | (uint32_t)before << 8;
        return -1;
    }
    int number = classes_find(l, bound[at]);
    if (number < 0 || !classes_known(l, number)) {
        return -2;
    }
    bool tuple = l->classes[number].is_tuple;
    if (tuple && PyTuple_GET_SIZE(bound[at])
                     != PyTuple_GET_SIZE(l->classes[number].fields)) {
        return at; /* made by tuple.__new__ */
    }
    if (!classes_hold(l, &l->classes[number])) {
        return at;
    }
    keys[at] = K_RECORD | (uint32_t)number << 8 | (l->epoch & 0xFFFF) << 16;
    int bad = append_members(&l->classes[number], bound[at], bound, n, held);
    return bad == 0 ? at : bad;
}

int
records_keys(Loaded *l, PyObject **bound, int *n, uint32_t *keys,
             PyObject **held)
{
    int plain = *n;
    for (int i = 0; i < *n; i++) {
        if (bound[i] != absent && is_stream(bound[i])
            && stream_view(&bound[i], held) < 0) {
            return -3;
        }
        keys[i] = bound[i] == absent ? K_ABSENT : arg_key(bound[i]);
        if (keys[i] != KEY_PYTHON) {
            continue;
        }
        if (!is_record(bound[i]) && is_listed(bound[i])) {
            *held = *held ? *held : PyList_New(0);
            int bad = *held ? listed_key(l, bound, i, keys, *held) : -3;
            if (bad == -1 || bad < -1) {
                if (bad == -1) {
                    continue;
                }
                return bad;
            }
        }
        if (!is_record(bound[i])) {
            if (i < plain) {
                return i;
            }
            keys[i] = K_OPAQUE;
            continue;
        }
        *held = *held ? *held : PyList_New(0);
        int bad = *held ? expand(l, bound, n, i, keys, *held) : -3;
        if (bad != -1) {
            return bad;
        }
    }
    return -1;
}

/* Looks at all objects that can be reached, until nothing new is found. */
static bool
learn(Accel *f, Loaded *l, PyObject *const *bound, int n)
{
    for (int round = 0; round < MAX_ARGS; round++) {
        PyObject *objects[MAX_ARGS];
        uint32_t keys[MAX_ARGS];
        PyObject *held = NULL;
        int count = n;
        memcpy(objects, bound, sizeof(*bound) * (size_t)n);
        int bad = records_keys(l, objects, &count, keys, &held);
        int at = 0;
        while (bad == -2 && at < count) {
            int class = classes_find(l, objects[at]);
            bool known = class >= 0 && classes_known(l, class);
            bool listed = !is_record(objects[at]) && is_listed(objects[at]);
            known = listed ? listed_known(l, objects[at])
                           : known || !is_record(objects[at]);
            if (!known) {
                break;
            }
            at++;
        }
        bool more = bad == -2 && at < count;
        bool ok = !more || (is_record(objects[at])
                                ? classes_add(f, l, objects[at])
                                : listed_learn(f, l, objects[at]));
        Py_XDECREF(held);
        if (!more || !ok) {
            return ok && bad != -3;
        }
    }
    return false;
}

/* The unit's arena belongs to whoever holds the lock. */
bool
records_learn(Accel *f, Loaded *l, PyObject *const *bound, int n)
{
    if (!accel_lock(f)) {
        return false;
    }
    Fatal trap;
    fatal_enter(&trap);
    volatile bool ok = false;
    if (setjmp(trap.env) == 0) {
        ok = l == f->loaded && learn(f, l, bound, n) && !l->stale;
    } else {
        l->stale = true;
        PyErr_NoMemory();
    }
    fatal_leave(&trap);
    accel_unlock(f);
    return ok && l->unit->nhidden + l->nparams <= MAX_ARGS;
}

/* --- signatures ----------------------------------------------------------- */

/* The type of argument 'at', an object. */
static Type *
record_type(const Loaded *l, const uint32_t *keys, int at)
{
    Type *type = ARENA_NEW(l->arena, Type);
    type->kind = TY_RECORD;
    switch ((int)KEY_KIND(keys[at])) {
    case K_SAME:
        at = (int)(keys[at] >> 8);
        /* fall through */
    case K_RECORD:
        type->func = (int)(keys[at] >> 8 & 0xFF);
        type->name = l->unit->classes.at[type->func].name;
        type->ival = at + 1;
        break;
    case K_ABSENT:
        type->ival = -1;
        break;
    default:
        break;
    }
    return type;
}

/* Objects that are globals, and what they hold, are not assigned to, as global
 * names aren't. */
static bool
is_global(const Loaded *l, const Signature *sig, int at)
{
    while (sig->args[at].parent > 0) {
        at = sig->args[at].parent - 1;
    }
    return at >= l->nparams;
}

void
records_sign(const Loaded *l, const uint32_t *keys, Signature *sig)
{
    int next = l->nparams + l->guards.nhidden;
    for (int i = 0; i < sig->nargs; i++) {
        if (KEY_KIND(keys[i]) >= K_RECORD) {
            sig->args[i].type = record_type(l, keys, i);
        }
        listed_sign(l, keys[i], &sig->args[i]);
        if (KEY_KIND(keys[i]) != K_RECORD) {
            continue;
        }
        const RecordClass *class = &l->classes[keys[i] >> 8 & 0xFF];
        bool global = is_global(l, sig, i);
        int nfields = class->is_tuple ? (int)PyTuple_GET_SIZE(class->fields)
                                      : 0;
        for (int k = 0; k < nfields; k++, next++) {
            sig->args[next].parent = i + 1;
            sig->args[next].attr = sym_of(PyTuple_GET_ITEM(class->fields, k));
        }
        for (int k = 0; k < class->n; k++) {
            const Member *member = &class->members[k];
            if (member->kind == MEMBER_FIELD) {
                sig->args[next].parent = i + 1;
                sig->args[next].attr = sym_of(member->name);
                sig->args[next].writable = member->writable && !global;
                next++;
            }
        }
    }
}

/* Structure first: what follows depends on it. */
bool
records_same(const Spec *spec, const uint32_t *keys, uint32_t mask)
{
    for (int i = 0; i < spec->nargs; i++) {
        uint32_t kind = KEY_KIND(keys[i]);
        bool object = kind == K_RECORD || kind == K_SAME;
        uint32_t used = object ? UINT32_MAX : mask;
        bool differs = ((keys[i] ^ spec->keys[i]) & used) != 0;
        if (differs && (object || !spec->ignored[i])) {
            return false;
        }
    }
    return true;
}

/* Is one of the arguments an object? */
static bool
has_objects(const Spec *spec)
{
    bool any = false;
    for (int i = 0; i < spec->nargs; i++) {
        any |= KEY_KIND(spec->keys[i]) >= K_RECORD;
    }
    return any;
}

void
records_settle(Spec *spec, Arena *arena, const Signature *sig)
{
    if (!has_objects(spec)) {
        return;
    }
    spec->ignored = ARENA_ARRAY(arena, bool, spec->nargs + 1);
    for (int i = 0; i < spec->nargs; i++) {
        uint32_t kind = KEY_KIND(spec->keys[i]);
        bool object = kind == K_RECORD || kind == K_SAME;
        if (sig->args[i].parent > 0 && !sig->args[i].used && !object) {
            spec->ignored[i] = true;
            spec->keys[i] = K_OPAQUE;
        }
    }
    int n = 0;
    for (int i = 0; i < spec->nconsts; i++) {
        Const at = spec->consts[i];
        if (spec->ignored[at.arg]) {
            Py_DECREF(at.value);
        } else {
            spec->consts[n++] = at;
        }
    }
    spec->nconsts = n;
}

/* --- setting -------------------------------------------------------------- */

/* The object and the name of an attribute that is an argument. */
static bool
place_of(const Call *call, int arg, PyObject **object, PyObject **name)
{
    const SigArg *at = &call->spec->sig->args[arg];
    *object = call->args[at->parent - 1];
    *name = PyUnicode_InternFromString(at->attr);
    return *name != NULL;
}

int
records_commit(Call *call, PyObject *const *values, int n)
{
    const Lowered *lowered = call->kernel->result->lowered;
    int status = 0;
    for (int i = 0; i < n && status == 0; i++) {
        PyObject *object;
        PyObject *name;
        if (values[i] == NULL) {
            continue;
        }
        if (!place_of(call, lowered->commits.at[i].arg, &object, &name)) {
            return -1;
        }
        status = PyObject_GenericSetAttr(object, name, values[i]);
        Py_DECREF(name);
    }
    return status;
}
