#ifndef VZ_TYPEINFER_INFER_H
#define VZ_TYPEINFER_INFER_H
/* S1: types that depend on values (design 4).
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
 * test it. */
typedef struct SigArg {
    const Type *type;
    int64_t sizes[MAX_RANK];
    int64_t ival; /* actual value of a bool or int argument */
    double fval;
    bool pin_size[MAX_RANK];
    bool pin_value;
} SigArg;

/* "open_sizes" and "open_values": no pins of these, since too many have come
 * already.  Inference then does with types that are general, or refuses. */
typedef struct Signature {
    int nargs; /* the entry's parameters in order, then hidden arrays */
    SigArg *args;
    bool open_sizes;
    bool open_values;
} Signature;

/* The typed entry, or NULL with a refusal in unit->diags. */
AFunc *infer_unit(Unit *unit, Signature *sig);
#endif
