/* dtypes as values, and what is known of them.
 *
 *     a.dtype == np.uint8       decided when the program is compiled
 *     a.dtype.name              a string
 *     np.iinfo(a.dtype).max     a number
 *     np.result_type(a, b)      a dtype
 *
 * All of it is known with the types, so none leaves code.  Attributes exist of
 * dtype objects (a.dtype, np.dtype(x)), not of the classes np.float32, float.
 */
#include <float.h>
#include <string.h>

#include "typeinfer/state.h"

/* A dtype of the given sort. */
static const Type *
new_dtype(Infer *I, DType dtype, int sort)
{
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_DTYPE), sizeof(*type));
    type->dtype = dtype;
    type->rank = sort;
    type->view = sort == DTYPE_OBJECT;
    type->name = sym(str_printf(I->arena, "numpy.%s", dtype_name(dtype)));
    return type;
}

/* a.dtype */
const Type *
dtype_object(Infer *I, DType dtype)
{
    return new_dtype(I, dtype, DTYPE_OBJECT);
}

/* A string that is known. */
static const Type *
text_type(Infer *I, const char *text)
{
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_STR), sizeof(*type));
    type->name = sym(text);
    return type;
}

/* 'b', 'i', 'u', 'f' or 'c' */
static const char *
kind_word(DType dtype)
{
    return dtype == DT_BOOL           ? "b"
           : dtype_is_complex(dtype) ? "c"
           : dtype_is_float(dtype)    ? "f"
           : dtype_is_signed(dtype) ? "i"
                                      : "u";
}

/* a.dtype.name and the like. */
static const Type *
object_attr(Infer *I, DType dtype, const char *name)
{
    static const char codes[] = "?bhilBHILfdFD";
    int size = dtype_size(dtype);
    if (strcmp(name, "name") == 0) {
        return text_type(I, dtype_name(dtype));
    }
    if (strcmp(name, "itemsize") == 0) {
        return type_known_int(I->arena, size);
    }
    if (strcmp(name, "kind") == 0) {
        return text_type(I, kind_word(dtype));
    }
    if (strcmp(name, "char") == 0) {
        char code[] = {codes[dtype], '\0'};
        return text_type(I, code);
    }
    if (strcmp(name, "str") == 0) {
        return text_type(I, str_printf(I->arena, "%s%s%d",
                                       size == 1 ? "|" : "<", kind_word(dtype),
                                       size));
    }
    return NULL;
}

/* np.iinfo(dtype).max: Python ints. */
static const Type *
iinfo_attr(Infer *I, DType dtype, const char *name)
{
    if (strcmp(name, "min") == 0) {
        return type_known_int(I->arena, dtype_min(dtype));
    }
    if (strcmp(name, "max") == 0 && dtype != DT_U64) {
        return type_known_int(I->arena, (int64_t)dtype_max(dtype));
    }
    if (strcmp(name, "bits") == 0) {
        return type_known_int(I->arena, 8 * dtype_size(dtype));
    }
    return NULL;
}

/* np.finfo(dtype).eps: scalars of the dtype. */
static const Type *
finfo_attr(Infer *I, DType dtype, const char *name)
{
    bool single = dtype == DT_F32;
    double value;
    if (strcmp(name, "eps") == 0) {
        value = single ? (double)FLT_EPSILON : DBL_EPSILON;
    } else if (strcmp(name, "max") == 0) {
        value = single ? (double)FLT_MAX : DBL_MAX;
    } else if (strcmp(name, "min") == 0) {
        value = single ? -(double)FLT_MAX : -DBL_MAX;
    } else if (strcmp(name, "tiny") == 0 ||
               strcmp(name, "smallest_normal") == 0) {
        value = single ? (double)FLT_MIN : DBL_MIN;
    } else {
        return strcmp(name, "bits") == 0
                   ? type_known_int(I->arena, 8 * dtype_size(dtype))
                   : NULL;
    }
    Type *type = arena_copy(I->arena, type_num(I->arena, dtype, false),
                            sizeof(*type));
    type->known = true;
    type->fval = value;
    return type;
}

/* NULL: an attribute that is not translated. */
const Type *
dtype_attr(Infer *I, const Type *base, const char *name)
{
    switch (base->rank) {
    case DTYPE_OBJECT:
        return object_attr(I, base->dtype, name);
    case DTYPE_IINFO:
        return iinfo_attr(I, base->dtype, name);
    case DTYPE_FINFO:
        return finfo_attr(I, base->dtype, name);
    default:
        return NULL;
    }
}

/* --- calls ---------------------------------------------------------------- */

/* The dtype that an argument has or names. */
static DType
dtype_of(Infer *I, const AExpr *e)
{
    bool has = e->type->kind == TY_ARRAY ||
               (e->type->kind == TY_NUM && !e->type->weak);
    return has ? e->type->dtype : need_dtype(I, e);
}

/* Arrays and dtypes meet first, then Python's numbers. */
static DType
common_dtype(Infer *I, const AExpr *call)
{
    Plain common = {DT_BOOL, true};
    bool any = false;
    for (int weak = 0; weak < 2; weak++) {
        for (int i = 0; i < call->items.n; i++) {
            const AExpr *e = call->items.at[i];
            bool number = e->type->kind == TY_NUM && e->type->weak;
            if (number != (weak != 0)) {
                continue;
            }
            Plain plain = {number ? e->type->dtype : dtype_of(I, e), number};
            common = any ? plain_common(common, plain) : plain;
            any = true;
        }
    }
    return common.dtype;
}

/* str(x) of what is known. */
static const Type *
text_of(Infer *I, const AExpr *call)
{
    const Type *type = call->items.at[0]->type;
    int64_t value;
    if (type->kind == TY_STR) {
        return type;
    }
    if (type->kind == TY_DTYPE && type->rank == DTYPE_OBJECT) {
        return text_type(I, dtype_name(type->dtype));
    }
    if (type_is_known_int(type, &value) && type->weak &&
        type->dtype == DT_I64) {
        return text_type(I, str_printf(I->arena, "%lld", (long long)value));
    }
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`str` of %s is not translated", type_text(I->arena, type));
}

/* np.dtype(x), np.result_type(...), np.iinfo(x), np.finfo(x) */
const Type *
type_of_dtype_call(Infer *I, AExpr *call, BuiltinId id)
{
    if (id == BUILTIN_STR) {
        return text_of(I, call);
    }
    if (id == BUILTIN_NP_RESULT_TYPE) {
        if (call->items.n == 0) {
            infer_refuse(I, DIAG_BAD_CALL, call->loc, NULL,
                         "`numpy.result_type` lacks an argument");
        }
        return dtype_object(I, common_dtype(I, call));
    }
    const AExpr *arg = call->items.at[0];
    if (id == BUILTIN_NP_DTYPE) {
        return dtype_object(I, need_dtype(I, arg));
    }
    DType dtype = dtype_of(I, arg);
    bool ints = id == BUILTIN_NP_IINFO;
    dtype = ints ? dtype : dtype_part(dtype);
    bool fits = ints ? dtype_is_int(dtype) : dtype_is_float(dtype);
    if (!fits) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, call->loc, NULL,
                     "`%s` of %s raises ValueError", builtin_row(id)->name,
                     dtype_name(dtype));
    }
    return new_dtype(I, dtype, ints ? DTYPE_IINFO : DTYPE_FINFO);
}
