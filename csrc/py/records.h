#ifndef VZ_PY_RECORDS_H
#define VZ_PY_RECORDS_H
/* Objects as arguments: records.c, and what is known of their classes,
 * classes.c. */
#include "csrc/py/core.h"

/* How an attribute is read that the source names: see classes.c.  "func" of a
 * method is its number in the unit, and "target" what the class has. */
typedef enum MemberKind {
    MEMBER_FIELD,
    MEMBER_METHOD,
    MEMBER_OTHER,
} MemberKind;

typedef struct Member {
    PyObject *name;
    MemberKind kind;
    bool writable;
    bool binds;
    int func;
    PyObject *target;
    PyObject *inner; /* of a staticmethod or classmethod; borrowed from it */
} Member;

/* A class of which an object was an argument, or a class that was one itself
 * ("itself").  "tag" is the class's version when it was last looked at. */
struct RecordClass {
    PyTypeObject *type;
    bool itself;
    unsigned tag;
    int seen; /* so many names of the source */
    int n;
    Member *members;
};

/* Kinds of keys: see args.c. */
enum { K_ARRAY = 1, K_BOOL, K_INT, K_FLOAT, K_SCALAR, K_NONE, K_STR, K_TUPLE,
       K_LIST, K_COMPLEX, K_RECORD, K_SAME, K_ABSENT, K_OPAQUE };
#define KEY_KIND(key) ((key) & 0xFFu)

/* Keys of arguments among which are objects, whose attributes are appended to
 * 'bound'; '*held' owns them.  As call_keys; -2: a class is new, and after
 * 'records_learn' the call is to be bound again; -3: an exception. */
int records_keys(Loaded *l, PyObject **bound, int *n, uint32_t *keys,
                 PyObject **held);
/* False: leave the call to Python. */
bool records_learn(Accel *f, Loaded *l, PyObject *const *bound, int n);
/* Objects whose attributes are read without running code of the user's. */
bool is_record(PyObject *object);
/* Adds to the signature which arguments are objects, and which attributes. */
void records_sign(const Loaded *l, const uint32_t *keys, Signature *sig);
/* Do the keys fit, but for attributes that are not used? */
bool records_same(const Spec *spec, const uint32_t *keys, bool any_layout);
/* Ignores the attributes that inference had no use for. */
void records_settle(Spec *spec, const Signature *sig);
/* Sets the attributes after the call; -1 with an exception. */
int records_commit(Call *call, PyObject *const *values, int n);
/* attr.c: of the type or one of its bases, borrowed; NULL, no exception. */
PyObject *class_value(PyTypeObject *type, PyObject *name);
bool is_descriptor(PyObject *value);
/* False: what is known of the class is out of date, and 'l' is stale. */
bool classes_hold(Loaded *l, const RecordClass *class);
/* The number of the object's class; -1: it has not been met. */
int classes_find(const Loaded *l, PyObject *object);
/* Looks at the class, anew if need be; false: not possible. */
bool classes_add(Accel *f, Loaded *l, PyObject *object);
void classes_clear(Loaded *l);
int classes_traverse(const Loaded *l, visitproc visit, void *arg);
/* plain_attr of vizgen._core: attr.c. */
PyObject *plain_attr(PyObject *module, PyObject *const *args,
                     Py_ssize_t nargs);
/* Adds a method's function to the unit, with all that it calls. */
int unit_extend(Accel *f, Loaded *l, PyObject *function);

#endif
