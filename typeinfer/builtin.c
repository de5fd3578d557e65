/* Types of calls of library functions, by the kinds of builtins.def.
 *
 * Two worlds meet here.  Functions of math and the builtins take anything that
 * has __float__ or __index__ and give Python's numbers; those of NumPy give
 * NumPy's, and their dtype follows NEP 50 with the peculiarity that a function
 * made of several ufuncs (np.clip) has already turned its first argument into
 * an array.  Where NumPy would compute in float16, or by a loop whose bits are
 * not known, the call is refused.
 *
 * Known arguments give known results where the program's types may depend on
 * them: `int(h / 2)` of constants, `max(1, 3)`, `len((1, 2))`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/list.h"

/* The name as the user knows it: `abs`, `math.sin`. */
static const char *
short_name(BuiltinId id)
{
    const char *name = builtin_row(id)->name;
    return strncmp(name, "builtins.", 9) == 0 ? name + 9 : name;
}

/* Refuses a call (VZ-2003) for the type of one of its arguments. */
static _Noreturn void
refuse_types(Infer *I, const AExpr *call, BuiltinId id, const Type *type)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` is not translated for %s", short_name(id),
                 type_text(I->arena, type));
}

/* --- dtypes --------------------------------------------------------------- */

static const struct {
    const char *name;
    DType dtype;
} dtype_words[] = {
    {"float", DT_F64},  {"int", DT_I64},    {"d", DT_F64},   {"f", DT_F32},
    {"f8", DT_F64},     {"f4", DT_F32},     {"<f8", DT_F64}, {"<f4", DT_F32},
    {"double", DT_F64}, {"single", DT_F32}, {"?", DT_BOOL},  {"i1", DT_I8},
    {"i2", DT_I16},     {"i4", DT_I32},     {"i8", DT_I64},  {"u1", DT_U8},
    {"u2", DT_U16},     {"u4", DT_U32},     {"u8", DT_U64},  {"B", DT_U8},
    {"complex", DT_C128}, {"D", DT_C128},   {"c16", DT_C128},
    {"csingle", DT_C64},  {"F", DT_C64},    {"c8", DT_C64},
};

/* DT_COUNT: another thing than a dtype or a word for one. */
DType
dtype_named(const Type *type)
{
    if (type->kind == TY_DTYPE) {
        bool limits = type->rank == DTYPE_IINFO || type->rank == DTYPE_FINFO;
        return limits ? DT_COUNT : type->dtype;
    }
    if (type->kind == TY_FUNC && type->name == sym("builtins.complex")) {
        return DT_C128;
    }
    const char *name = type->kind == TY_STR ? type->name : "";
    for (int dt = 0; dt < DT_COUNT; dt++) {
        if (strcmp(name, dtype_name((DType)dt)) == 0) {
            return (DType)dt;
        }
    }
    for (size_t i = 0; i < sizeof(dtype_words) / sizeof(dtype_words[0]); i++) {
        if (strcmp(name, dtype_words[i].name) == 0) {
            return dtype_words[i].dtype;
        }
    }
    return DT_COUNT;
}

/* The dtype that an argument `dtype=...` names: a type, or one of NumPy's
 * words for it. */
DType
need_dtype(Infer *I, const AExpr *e)
{
    DType dtype = dtype_named(e->type);
    if (dtype != DT_COUNT) {
        return dtype;
    }
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                 "Arrays of bool, integers, float32, float64 and complex "
                 "numbers are translated.",
                 "this is not a dtype that is translated");
}

/* `a.dtype == np.uint8`, or == "uint8".  Of two classes, one Python's, NumPy
 * has nothing to say: np.float64 is not float. */
const Type *
type_of_dtype_equal(Infer *I, AOp op, const AExpr *lhs, const AExpr *rhs)
{
    bool own = lhs->type->kind == TY_DTYPE;
    bool other = rhs->type->kind == TY_DTYPE;
    bool attr = (own && lhs->type->view) || (other && rhs->type->view);
    bool weak = (own && lhs->type->weak) || (other && rhs->type->weak);
    DType a = dtype_named(lhs->type);
    DType b = dtype_named(rhs->type);
    if ((op != AO_EQ && op != AO_NE) || (!own && !other) || a == DT_COUNT ||
        b == DT_COUNT || (!attr && (weak || own != other))) {
        return NULL;
    }
    return type_known_bool(I->arena, (a == b) == (op == AO_EQ));
}

/* `float(3)` and `int(2.7)` of known numbers; NULL if the result isn't known.
 * Values near the end of int64 are left to the run. */
static const Type *
fold_convert(Infer *I, const Type *arg, const Type *to)
{
    if (!arg->known || !arg->weak || !to->weak) {
        return NULL;
    }
    bool is_float = dtype_is_float(arg->dtype);
    if (to->dtype == DT_F64) {
        return type_known_float(I->arena,
                                is_float ? arg->fval : (double)arg->ival);
    }
    bool inside = !is_float || fabs(arg->fval) < 0x1p62;
    if (to->dtype == DT_I64 && inside) {
        return type_known_int(I->arena,
                              is_float ? (int64_t)arg->fval : arg->ival);
    }
    return NULL;
}

/* float("inf"), float("-nan"), float("2.5"): what Python and C write alike.
 * NULL for all else: C knows hexadecimal and nan(...), Python underscores and
 * digits of other scripts. */
static const Type *
fold_text(Infer *I, const Type *arg, const Type *to)
{
    bool is_float = to->weak && to->dtype == DT_F64;
    if (arg->kind != TY_STR || !is_float || strpbrk(arg->name, "xXpP(_") ||
        strlen(arg->name) == 0 || strspn(arg->name, " \t\n") > 0) {
        return NULL;
    }
    char *end;
    double value = strtod(arg->name, &end);
    return *end == '\0' ? type_known_float(I->arena, value) : NULL;
}

/* int(x), float(x), np.uint8(x) ... of numbers; bool(x) of anything whose truth
 * is known. */
static const Type *
type_of_convert(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *to = call->lhs->type;
    AExpr *arg = call->items.at[0];
    const Type *plain = type_num(I->arena, to->dtype, to->weak);
    if (arg == NULL) {
        refuse_types(I, call, id, type_kind(I->arena, TY_NONE));
    }
    if (to->weak && to->dtype == DT_BOOL) {
        bool truth;
        if (type_truth(arg->type, &truth)) {
            return type_known_bool(I->arena, truth);
        }
        if (arg->type->kind != TY_NUM) {
            refuse_types(I, call, id, arg->type);
        }
        return plain;
    }
    const Type *text = fold_text(I, arg->type, to);
    if (text != NULL) {
        return text;
    }
    if (arg->type->kind == TY_ARRAY && !to->weak && arg->type->rank > 0) {
        if (arg->type->dtype == to->dtype) { /* as asarray */
            alias_value(I, arg);
            return arg->type;
        }
        check_reach(I, arg->type, call->loc); /* as astype */
        return type_elementwise(I, call, to->dtype, &arg->type, 1, false);
    }
    if (arg->type->kind != TY_NUM) {
        refuse_types(I, call, id, arg->type);
    }
    const Type *num = need_num(I, arg, "the argument");
    const Type *known = fold_convert(I, num, to);
    return known ? known : plain;
}

/* --- math ----------------------------------------------------------------- */

void
need_numbers(Infer *I, const AExpr *call)
{
    for (int i = 0; i < call->items.n; i++) {
        if (call->items.at[i] != NULL) {
            need_num(I, call->items.at[i], "the argument");
        }
    }
}

/* `math.floor`, `round` and the like give Python ints. Which NumPy scalars
 * have the method differs: math.trunc of a float32 raises TypeError. */
static const Type *
type_of_round(Infer *I, const AExpr *call, BuiltinId id)
{
    const Type *arg = need_num(I, call->items.at[0], "the argument");
    bool strong = !arg->weak && arg->dtype != DT_F64;
    if ((id == BUILTIN_MATH_TRUNC && strong) ||
        (id == BUILTIN_ROUND && !arg->weak && arg->dtype == DT_BOOL) ||
        arg->dtype == DT_U64) {
        refuse_types(I, call, id, arg);
    }
    if (arg->known && arg->weak && arg->dtype == DT_F64 &&
        fabs(arg->fval) < 0x1p62) {
        double value = id == BUILTIN_MATH_FLOOR  ? floor(arg->fval)
                       : id == BUILTIN_MATH_CEIL ? ceil(arg->fval)
                       : id == BUILTIN_ROUND     ? rint(arg->fval)
                                                 : trunc(arg->fval);
        return type_known_int(I->arena, (int64_t)value);
    }
    if (arg->known && arg->weak && arg->dtype != DT_F64) {
        return type_known_int(I->arena, arg->ival);
    }
    return type_int(I->arena);
}

/* As the argument, but abs(True) is 1. A float64 that may be an int or float
 * stays such a maybe-type. */
static const Type *
type_of_abs(Infer *I, const AExpr *call, const AExpr *e)
{
    const Type *arg = need_operand(I, e, AO_SUB);
    if (arg->kind == TY_ARRAY) {
        return type_elementwise(I, call, arg->dtype, &arg, 1, false);
    }
    if (arg->known && arg->weak && dtype_is_float(arg->dtype)) {
        return type_known_float(I->arena, fabs(arg->fval));
    }
    if (arg->known && arg->weak && arg->ival > INT64_MIN) {
        return type_known_int(I->arena, arg->ival < 0 ? -arg->ival : arg->ival);
    }
    bool is_bool = arg->weak && arg->dtype == DT_BOOL;
    const Type *type =
        type_num(I->arena, is_bool ? DT_I64 : arg->dtype, arg->weak);
    bool is_int = arg->alt == ALT_INT && dtype_is_int(arg->dtype);
    bool keeps = is_int || (arg->dtype == DT_F64 &&
                            (arg->alt == ALT_INT || arg->alt == ALT_FLOAT));
    return keeps ? type_with_alt(I->arena, type, arg->alt) : type;
}

/* --- min, max ------------------------------------------------------------- */

/* Known values: the first item that no later one beats, as in CPython. */
static const Type *
fold_minmax(Infer *I, AOp op, const Type *const *types, int n)
{
    const Type *best = types[0];
    for (int i = 1; i < n; i++) {
        const Type *beats = fold_binop(I->arena, op, types[i], best);
        if (beats == NULL) {
            return NULL;
        }
        best = beats->ival ? types[i] : best;
    }
    return best;
}

/* One of the operands, with its own type: max(0, a[i]) may be an int or a
 * float64 scalar, which is a maybe-type. With equal operands the first one is
 * returned, so what has been typed first is the main one. */
static const Type *
type_of_minmax(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *types[MAX_LANES];
    int n = call->items.n;
    if (n == 1 && call->items.at[0]->type->kind == TY_TUPLE) {
        const Type *tuple = call->items.at[0]->type;
        n = tuple->rank <= MAX_LANES ? tuple->rank : 0;
        memcpy(types, tuple->items, sizeof(*types) * (size_t)n);
    } else if (n >= 2 && n <= MAX_LANES) {
        for (int i = 0; i < n; i++) {
            types[i] = need_num(I, call->items.at[i], "the argument");
        }
    } else {
        n = 0;
    }
    if (n == 0) {
        refuse_types(I, call, id,
                     call->items.n ? call->items.at[0]->type
                                   : type_kind(I->arena, TY_NONE));
    }
    AOp op = id == BUILTIN_MIN ? AO_LT : AO_GT;
    const Type *known = fold_minmax(I, op, types, n);
    if (known != NULL) {
        return known;
    }
    const Type *type = type_forget(I->arena, types[0]);
    type = type_with_alt(I->arena, type, types[0]->alt);
    for (int i = 0; i < n; i++) {
        type = types[i]->kind == TY_NUM ? join_types(I, type, types[i])
                                        : NULL;
        if (type == NULL) {
            infer_refuse(I, DIAG_TYPE_CONFLICT, call->loc,
                         "Convert the arguments to one type.",
                         "`%s` of %s and %s may return either", short_name(id),
                         type_text(I->arena, types[0]),
                         type_text(I->arena, types[i]));
        }
    }
    return type_with_alt(I->arena, type, type->alt);
}

/* --- others --------------------------------------------------------------- */

/* A known int for tuples, text and axes of known size; else an int that knows
 * which axis it is: should the program need its value, that can be pinned. */
static const Type *
type_of_len(Infer *I, AExpr *call)
{
    call->items.at[0] = dict_sized(I, call->items.at[0]);
    const Type *arg = call->items.at[0]->type;
    if (arg->kind == TY_TUPLE || arg->kind == TY_DICT) {
        return type_known_int(I->arena, arg->rank);
    }
    if (arg->kind == TY_LIST) {
        list_reach(I, arg);
        return arg->rank ? type_int(I->arena) : type_known_int(I->arena, 0);
    }
    if (arg->kind == TY_STR) {
        return type_known_int(I->arena, (int64_t)strlen(arg->name));
    }
    if (arg->kind != TY_ARRAY) {
        refuse_types(I, call, BUILTIN_LEN, arg);
    }
    check_reach(I, arg, call->loc);
    if (arg->size[0] >= 0) {
        return type_known_int(I->arena, arg->size[0]);
    }
    Type *type = arena_copy(I->arena, type_int(I->arena), sizeof(*type));
    type->origin = size_origin(arg->size[0]);
    return type;
}

/* divmod(a, b) is (a // b, a % b), for NumPy's scalars too. */
static const Type *
type_of_divmod(Infer *I, const AExpr *call)
{
    const AExpr *lhs = call->items.at[0];
    const AExpr *rhs = call->items.at[1];
    const Type *items[] = {
        type_of_binop(I, call, AO_FLOORDIV, lhs, rhs),
        type_of_binop(I, call, AO_MOD, lhs, rhs),
    };
    return type_tuple(I->arena, items, 2, false);
}

/* np.asarray of an array that has the dtype already: the array itself. */
static bool
is_as_it_is(Infer *I, const AExpr *call)
{
    const Type *type = call->items.at[0]->type;
    const AExpr *dtype = call->items.at[1];
    return type->kind == TY_ARRAY &&
           (dtype == NULL || dtype->type->kind == TY_NONE ||
            need_dtype(I, dtype) == type->dtype);
}

/* The depth of nested sequences, of which the first tells, and the axes of an
 * array in them: a number that is known. */
static const Type *
type_of_ndim(Infer *I, const AExpr *call, BuiltinId id)
{
    const Type *arg = call->items.at[0]->type;
    int depth = 0;
    for (; arg->kind == TY_TUPLE && arg->rank > 0; depth++) {
        arg = arg->items[0];
    }
    if (arg->kind != TY_ARRAY && arg->kind != TY_NUM) {
        refuse_types(I, call, id, arg);
    }
    depth += arg->kind == TY_NUM ? 0 : arg->rank;
    return type_known_int(I->arena, depth);
}

/* Functions with rules of their own: range, enumerate and zip are typed by the
 * loop that they are for. */
static const Type *
type_of_special(Infer *I, AExpr *call, BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_LEN:
        return type_of_len(I, call);
    case BUILTIN_ISINSTANCE:
        return type_of_isinstance(I, call);
    case BUILTIN_NP_NDIM:
        return type_of_ndim(I, call, id);
    case BUILTIN_COMPLEX:
        return type_of_complex(I, call);
    case BUILTIN_ABS:
        return type_of_abs(I, call, call->items.at[0]);
    case BUILTIN_ROUND:
        return call->items.at[1] && call->items.at[1]->type->kind != TY_NONE
                   ? type_of_pymath(I, call, id)
                   : type_of_round(I, call, id);
    case BUILTIN_POW:
        return type_of_binop(I, call, AO_POW, call->items.at[0],
                             call->items.at[1]);
    case BUILTIN_DIVMOD:
        return type_of_divmod(I, call);
    case BUILTIN_SLICE: { /* slice(b) is slice(None, b) */
        AExpr **at = call->items.at;
        AExpr *end[] = {NULL, at[0], NULL};
        return type_of_slice(I, call, at[1] != NULL ? at : end);
    }
    case BUILTIN_NP_ASARRAY:
        if (is_as_it_is(I, call)) {
            alias_value(I, call->items.at[0]);
            return call->items.at[0]->type;
        }
        return type_of_array(I, call);
    case BUILTIN_STR:
    case BUILTIN_NP_DTYPE:
    case BUILTIN_NP_RESULT_TYPE:
    case BUILTIN_NP_IINFO:
    case BUILTIN_NP_FINFO:
        return type_of_dtype_call(I, call, id);
    case BUILTIN_NP_ARANGE:
        return type_of_arange(I, call);
    case BUILTIN_FILL:
        return type_of_fill(I, call);
    case BUILTIN_NP_NONZERO:
    case BUILTIN_NONZERO_OF:
    case BUILTIN_NP_ARGWHERE:
    case BUILTIN_NP_FLATNONZERO:
        return type_of_nonzero(I, call, id);
    case BUILTIN_NP_ARRAY:
        return type_of_array(I, call);
    case BUILTIN_NP_DOT:
    case BUILTIN_NP_INNER:
    case BUILTIN_DOT_OF:
        return type_of_dot(I, call, id);
    case BUILTIN_ITEM:
        return type_of_item(I, call);
    case BUILTIN_COPY:
    case BUILTIN_ASTYPE:
        return type_of_copy(I, call, id);
    default: /* range, enumerate, zip: typed by the loop they are for */
        return type_kind(I->arena, TY_RANGE);
    }
}

/* math.* gives a float. The logarithms of an int are computed from all its
 * digits by Python, which for 64 bits are those of the float next to it. */
static const Type *
type_of_math(Infer *I, const AExpr *call)
{
    need_numbers(I, call);
    return type_float(I->arena);
}

/* The type of a call whose arguments stand in their slots. */
const Type *
type_of_builtin(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *pairs = type_of_pairs(I, call, id);
    if (pairs != NULL) {
        return pairs;
    }
    switch (builtin_row(id)->kind) {
    case BK_PAIRS:
        refuse_types(I, call, id, call->items.at[0]->type);
    case BK_DTYPE:
        return type_of_convert(I, call, id);
    case BK_MATH:
        return type_of_math(I, call);
    case BK_ROUND:
        return type_of_round(I, call, id);
    case BK_TEST:
        need_numbers(I, call);
        return type_bool(I->arena);
    case BK_UFUNC:
        return type_of_ufunc(I, call, id);
    case BK_MINMAX:
        return type_of_minmax(I, call, id);
    case BK_PYMATH:
        return type_of_pymath(I, call, id);
    case BK_MAKE:
        return type_of_make(I, call, id);
    case BK_LIST:
        return type_of_list(I, call, id);
    case BK_LINALG:
        return type_of_linalg(I, call, id);
    case BK_REDUCE:
        return type_of_reduce(I, call, id);
    case BK_CONCAT:
        return type_of_joined(I, call, id);
    case BK_VIEW:
        return type_of_view(I, call, id);
    case BK_RESHAPE:
        return type_of_reshape(I, call, id);
    default:
        return type_of_special(I, call, id);
    }
}
