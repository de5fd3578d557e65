/* isinstance(x, classes): decided by the type of `x`.
 *
 *     def f(a, scale):
 *         if isinstance(scale, (int, float)):     known: one branch is typed
 *             ...
 *
 * np.float64 is a float of Python's, too, and a bool is an int; NumPy's other
 * scalars are instances of their own class only.  What may be one thing or
 * another, and classes that are not listed here, are refused: a subclass hook
 * (__instancecheck__) could say anything.
 */
#include <string.h>

#include "typeinfer/state.h"

/* Is a number of this kind an instance of the class called 'name'? */
static bool
number_is(const Type *num, const char *name)
{
    if (!num->weak) {
        const char *own = strncmp(name, "numpy.", 6) == 0 ? name + 6 : "";
        return strcmp(own, dtype_name(num->dtype)) == 0 ||
               (num->dtype == DT_F64 && strcmp(name, "builtins.float") == 0);
    }
    switch ((int)num->dtype) {
    case DT_BOOL:
        return strcmp(name, "builtins.bool") == 0 ||
               strcmp(name, "builtins.int") == 0;
    case DT_I64:
        return strcmp(name, "builtins.int") == 0;
    default:
        return strcmp(name, "builtins.float") == 0;
    }
}

/* Of values that are no numbers. */
static bool
object_is(const Type *type, const char *name)
{
    const char *own = NULL;
    switch ((int)type->kind) {
    case TY_ARRAY:
        own = "numpy.ndarray";
        break;
    case TY_COMPLEX:
        own = "builtins.complex";
        if (!type->weak && strncmp(name, "numpy.", 6) == 0) {
            return strcmp(name + 6, dtype_name(type->dtype)) == 0;
        }
        if (!type->weak && type->dtype == DT_C64) {
            return false; /* complex128 alone is a complex, too */
        }
        break;
    case TY_TUPLE:
        own = type->is_list ? "builtins.list" : "builtins.tuple";
        break;
    case TY_LIST:
        own = type->name      ? type->name
              : type->is_list ? "builtins.list"
                              : "builtins.tuple";
        break;
    case TY_STR:
        own = "builtins.str";
        break;
    default:
        break;
    }
    return own != NULL && strcmp(name, own) == 0;
}

/* Classes about which the above knows all. */
static bool
is_known_class(const char *name)
{
    static const char *const names[] = {
        "builtins.bool",  "builtins.int",   "builtins.float",
        "builtins.str",   "builtins.tuple", "builtins.list",
        "builtins.complex", "numpy.ndarray"};
    DType dt;
    for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    for (dt = 0; dt < DT_COUNT; dt++) {
        if (strncmp(name, "numpy.", 6) == 0 &&
            strcmp(name + 6, dtype_name(dt)) == 0) {
            return true;
        }
    }
    return false;
}

/* A known bool. The argument must have no effect, since it vanishes. */
const Type *
type_of_isinstance(Infer *I, const AExpr *call)
{
    const AExpr *arg = call->items.at[0];
    const Type *classes = call->items.at[1]->type;
    int n = classes->kind == TY_TUPLE ? classes->rank : 1;
    bool yes = false;
    for (int i = 0; i < n; i++) {
        const Type *one = classes->kind == TY_TUPLE ? classes->items[i]
                                                    : classes;
        bool known = (one->kind == TY_FUNC || one->kind == TY_DTYPE) &&
                     one->name != NULL && is_known_class(one->name);
        if (!known || arg->type->alt != ALT_NEVER || !is_simple(arg)) {
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                         "`isinstance` of %s is not decided here",
                         type_text(I->arena, arg->type));
        }
        yes |= arg->type->kind == TY_NUM ? number_is(arg->type, one->name)
                                         : object_is(arg->type, one->name);
    }
    return type_known_bool(I->arena, yes);
}
