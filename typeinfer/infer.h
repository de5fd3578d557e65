#ifndef VZ_TYPEINFER_INFER_H
#define VZ_TYPEINFER_INFER_H
/* Types that depend on values.
 *
 * infer_unit specialises the entry for one signature and returns a typed
 * copy of it.  Callees are specialised per call, each call owning its typed
 * copy (so everything is inlined by csrc/lower).
 */
#include "csrc/ast/ast.h"

/* One argument of the entry as the dispatcher sees it: "type" is the general
 * type (no known sizes or values), "value" the actual constant for
 * None, strings, tuples (part of "type" already) and numbers, "sizes" the
 * actual axis sizes of an array.
 *
 * Inference may demand that an axis size (<= MAX_LANES) or a value becomes
 * part of the specialisation; it then sets "pin_size[axis]" or "pin_value",
 * starts again with the constant in "type", and the dispatcher's guard must
 * test it.
 *
 * A RECORD's "func" is its class in Unit.classes, and its "ival" one more than
 * the number of the argument that it is: of the first, if one object is several
 * arguments.  0: an object of which nothing is known; -1: there is none.  Its
 * attributes are arguments, too: "parent" is one more than the number of the
 * object's; "attr" is the name, "writable" says that assigning runs no code.
 * Inference sets "used", and makes objects of those that it had no use for. */
typedef struct SigArg {
    const Type *type;
    int64_t sizes[MAX_RANK];
    int64_t ival; /* actual value of a bool or int argument */
    double fval;
    bool pin_size[MAX_RANK];
    bool pin_value;
    int parent;
    Sym attr;
    bool writable;
    bool used;
} SigArg;

/* "open_sizes" and "open_values": no pins of these, since too many have come
 * already.  Inference then does with types that are general, or refuses. */
typedef struct Signature {
    int nargs; /* the entry's parameters, hidden ones, attributes of records */
    SigArg *args;
    bool open_sizes;
    bool open_values;
} Signature;

/* The typed entry, or NULL with a refusal in unit->diags. */
AFunc *infer_unit(Unit *unit, Signature *sig);
#endif
