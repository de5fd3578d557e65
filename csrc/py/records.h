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
    bool own; /* not what 'object' or 'tuple' has */
    bool is_property;
    int func;
    PyObject *target;
    PyObject *inner; /* of a staticmethod or classmethod; borrowed from it */
} Member;

/* A class of which an object was an argument, or a class that was one itself
 * ("itself").  "tag" is the class's version when it was last looked at. */
typedef struct RecordClass {
    PyTypeObject *type;
    bool itself;
    bool listed;   /* of the items of lists: see listed.c */
    bool is_tuple; /* a named tuple: its items are arguments, as "fields" */
    bool met;      /* an object of it was looked at */
    unsigned tag;
    int seen; /* so many names of the source */
    int n;
    Member *members;
    PyObject *fields; /* a tuple of names; NULL: none */
    PyObject *init;   /* by which its objects are made */
    PyObject *new;
    int *nested; /* listed: per field its class, or a NESTED number */
    bool unfit;  /* for lists */
} RecordClass;

/* A field of an object in a list that is no object. */
enum { NESTED_PLAIN = -1, NESTED_OPAQUE = -2 };

/* Kinds of keys: see args.c. */
enum { K_ARRAY = 1, K_BOOL, K_INT, K_FLOAT, K_SCALAR, K_NONE, K_STR, K_TUPLE,
       K_LIST, K_COMPLEX, K_RECORD, K_SAME, K_ABSENT, K_OPAQUE };
#define KEY_KIND(key) ((key) & 0xFFu)

/* Keys of arguments among which are objects, whose attributes are appended to
 * 'bound'; '*held' owns them.  As call_keys; -2: a class is new, and after
 * 'records_learn' the call is to be bound again; -3: an exception. */
int records_keys(Loaded *l, PyObject **bound, int *n, uint32_t *keys,
                 PyObject **held);
/* As call_keys, for any arguments; -3: an exception. */
int call_keys_of(Accel *f, Loaded *l, PyObject **bound, int *n,
                 uint32_t *keys, PyObject **held);
/* False: leave the call to Python. */
bool records_learn(Accel *f, Loaded *l, PyObject *const *bound, int n);
/* Objects whose attributes are read without running code of the user's. */
bool is_record(PyObject *object);
/* Adds to the signature which arguments are objects, and which attributes. */
void records_sign(const Loaded *l, const uint32_t *keys, Signature *sig);
/* Do the keys fit, but for attributes that are not used? */
bool records_same(const Spec *spec, const uint32_t *keys, uint32_t mask);
/* Ignores the attributes that inference had no use for. */
void records_settle(Spec *spec, Arena *arena, const Signature *sig);
/* Sets the attributes after the call; -1 with an exception. */
int records_commit(Call *call, PyObject *const *values, int n);
/* --- listed.c --- */
/* The key of argument 'at', a list of objects, which becomes one of tuples;
 * the same answers as records_keys. */
int listed_key(Loaded *l, PyObject **bound, int at, uint32_t *keys,
               PyObject *held);
bool is_listed(PyObject *object);
bool listed_known(const Loaded *l, PyObject *list);
bool listed_learn(Accel *f, Loaded *l, PyObject *list);
/* Says which classes the items of the list are of. */
void listed_sign(const Loaded *l, uint32_t key, SigArg *arg);

/* --- streams.c --- */
/* A random generator of NumPy's; '*object' becomes what native code sees of
 * it, if there is such a thing.  -1 with an exception. */
bool is_stream(PyObject *object);
int stream_view(PyObject **object, PyObject **held);
bool is_library_class(PyTypeObject *type);
Outcome run_streams(Accel *f, Loaded *l, Spec *spec, PyObject *const *args,
                    int n, PyObject **result);

/* --- makers.c --- */
bool is_named_tuple(PyTypeObject *type);
/* Looks for how objects of the class are made, and says so in the unit; false
 * with an exception. */
bool maker_find(Accel *f, Loaded *l, int class);
/* Are objects still made as they were? */
bool maker_holds(const RecordClass *class);
/* An object of the class with these fields, new. */
PyObject *maker_call(const Call *call, const Type *type, PyObject *items);

/* attr.c: of the type or one of its bases, borrowed; NULL, no exception. */
PyObject *class_value(PyTypeObject *type, PyObject *name);
bool is_descriptor(PyObject *value);
/* False: what is known of the class is out of date, and 'l' is stale. */
bool classes_hold(Loaded *l, const RecordClass *class);
/* The number of the object's class; -1: it has not been met. */
int classes_find(const Loaded *l, PyObject *object);
/* Looks at the class, anew if need be; false: not possible. */
bool classes_add(Accel *f, Loaded *l, PyObject *object);
/* The class of objects in lists; -1: it has not been met.  Looking at it gives
 * its number, or -1. */
int classes_listed(const Loaded *l, const PyTypeObject *type);
int classes_made(const Loaded *l, const PyTypeObject *type);
int classes_list(Accel *f, Loaded *l, PyObject *object);
/* Has all been looked at that the source names by now? */
bool classes_known(const Loaded *l, int class);
/* Has the instance an attribute in place of a method? */
bool classes_shadowed(const RecordClass *class, PyObject *object);
void classes_clear(Loaded *l);
int classes_traverse(const Loaded *l, visitproc visit, void *arg);
/* plain_attr of vizgen._core: attr.c. */
PyObject *plain_attr(PyObject *module, PyObject *const *args,
                     Py_ssize_t nargs);
/* Adds a method's function to the unit, with all that it calls. */
int unit_extend(Accel *f, Loaded *l, PyObject *function);

#endif
