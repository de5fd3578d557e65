/* NumPy's functions of complex numbers, and of arrays of them.
 *
 *     np.abs(z)         floats          np.conj(z), z.conj()   complex
 *     np.isfinite(z)    bools           np.real(z)             z.real
 *
 * Every function that takes complex numbers is listed here; all others are
 * refused, since their rules for floats would say something, but not what NumPy
 * does.  Functions that only move elements are typed as for floats.
 *
 * What a listed function computes is to be NumPy's to the last bit: products of
 * arrays are computed with fused operations where NumPy does so, and absolute
 * values by the steps of its loop.  Whether it does is tried when vizgen is
 * imported (csrc/py/pairs.c); where neither form fits, it is refused.
 */
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/state.h"

/* What comes of a function. */
typedef enum Gives {
    GIVES_AS_EVER, /* typed as for other numbers */
    GIVES_COMPLEX,
    GIVES_FLOAT,
    GIVES_BOOL,
    GIVES_OPERATOR,
    GIVES_PART,
} Gives;

static const struct {
    BuiltinId id;
    Gives gives;
} rows[] = {
    {BUILTIN_LEN, GIVES_AS_EVER},
    {BUILTIN_NP_NDIM, GIVES_AS_EVER},
    {BUILTIN_ISINSTANCE, GIVES_AS_EVER},
    {BUILTIN_COMPLEX, GIVES_AS_EVER},
    {BUILTIN_POW, GIVES_AS_EVER},
    {BUILTIN_NP_ARRAY, GIVES_AS_EVER},
    {BUILTIN_NP_ASARRAY, GIVES_AS_EVER},
    {BUILTIN_COPY, GIVES_AS_EVER},
    {BUILTIN_ASTYPE, GIVES_AS_EVER},
    {BUILTIN_ENUMERATE, GIVES_AS_EVER},
    {BUILTIN_ZIP, GIVES_AS_EVER},
    {BUILTIN_REVERSED, GIVES_AS_EVER},
    {BUILTIN_PRODUCT, GIVES_AS_EVER},
    {BUILTIN_NDENUMERATE, GIVES_AS_EVER},
    {BUILTIN_NP_ANY, GIVES_AS_EVER},
    {BUILTIN_ANY_OF, GIVES_AS_EVER},
    {BUILTIN_NP_ALL, GIVES_AS_EVER},
    {BUILTIN_ALL_OF, GIVES_AS_EVER},
    {BUILTIN_NP_COUNT, GIVES_AS_EVER},
    {BUILTIN_NP_SUM, GIVES_AS_EVER},
    {BUILTIN_SUM_OF, GIVES_AS_EVER},
    {BUILTIN_NP_MEAN, GIVES_AS_EVER},
    {BUILTIN_MEAN_OF, GIVES_AS_EVER},
    {BUILTIN_ABS, GIVES_FLOAT},
    {BUILTIN_NP_ABS, GIVES_FLOAT},
    {BUILTIN_NP_CONJ, GIVES_COMPLEX},
    {BUILTIN_CONJ_OF, GIVES_COMPLEX},
    {BUILTIN_CONJUGATE_OF, GIVES_COMPLEX},
    {BUILTIN_NP_SQUARE, GIVES_COMPLEX},
    {BUILTIN_NP_NEGATIVE, GIVES_COMPLEX},
    {BUILTIN_NP_POSITIVE, GIVES_COMPLEX},
    {BUILTIN_NP_WHERE, GIVES_COMPLEX},
    {BUILTIN_NP_ISNAN, GIVES_BOOL},
    {BUILTIN_NP_ISINF, GIVES_BOOL},
    {BUILTIN_NP_ISFINITE, GIVES_BOOL},
    {BUILTIN_NP_ADD, GIVES_OPERATOR},
    {BUILTIN_NP_SUBTRACT, GIVES_OPERATOR},
    {BUILTIN_NP_MULTIPLY, GIVES_OPERATOR},
    {BUILTIN_NP_DIVIDE, GIVES_OPERATOR},
    {BUILTIN_NP_EQUAL, GIVES_OPERATOR},
    {BUILTIN_NP_NOT_EQUAL, GIVES_OPERATOR},
    {BUILTIN_NP_LESS, GIVES_OPERATOR},
    {BUILTIN_NP_LESS_EQUAL, GIVES_OPERATOR},
    {BUILTIN_NP_GREATER, GIVES_OPERATOR},
    {BUILTIN_NP_GREATER_EQUAL, GIVES_OPERATOR},
    {BUILTIN_NP_SQRT, GIVES_COMPLEX},
    {BUILTIN_NP_EXP, GIVES_COMPLEX},
    {BUILTIN_NP_LOG, GIVES_COMPLEX},
    {BUILTIN_NP_LOG2, GIVES_COMPLEX},
    {BUILTIN_NP_LOG10, GIVES_COMPLEX},
    {BUILTIN_NP_SIN, GIVES_COMPLEX},
    {BUILTIN_NP_COS, GIVES_COMPLEX},
    {BUILTIN_NP_TAN, GIVES_COMPLEX},
    {BUILTIN_NP_ARCSIN, GIVES_COMPLEX},
    {BUILTIN_NP_ARCCOS, GIVES_COMPLEX},
    {BUILTIN_NP_ARCTAN, GIVES_COMPLEX},
    {BUILTIN_NP_SINH, GIVES_COMPLEX},
    {BUILTIN_NP_COSH, GIVES_COMPLEX},
    {BUILTIN_NP_TANH, GIVES_COMPLEX},
    {BUILTIN_NP_REAL, GIVES_PART},
    {BUILTIN_NP_IMAG, GIVES_PART},
};

/* Refuses (VZ-2003) the call for the type of an argument. */
static _Noreturn void
refuse(Infer *I, const AExpr *call, BuiltinId id, const Type *type)
{
    const char *name = builtin_row(id)->name;
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` is not translated for %s",
                 strncmp(name, "builtins.", 9) == 0 ? name + 9 : name,
                 type_text(I->arena, type));
}

/* Is there a complex number in it?  Lists and tuples count by their items. */
static bool
has_pairs(const Type *type)
{
    bool found = type->kind == TY_COMPLEX ||
                 (type->kind == TY_ARRAY && dtype_is_complex(type->dtype));
    bool items = type->kind == TY_TUPLE || type->kind == TY_LIST;
    for (int i = 0; items && i < type->rank && !found; i++) {
        found = has_pairs(type->items[i]);
    }
    return found;
}

/* The first argument with complex numbers, or NULL. */
static const Type *
first_pairs(const AExpr *call)
{
    for (int i = 0; i < call->items.n; i++) {
        const AExpr *arg = call->items.at[i];
        if (arg != NULL && has_pairs(arg->type)) {
            return arg->type;
        }
    }
    return NULL;
}

void
check_keeps(Infer *I, const AExpr *e, DType from, DType to)
{
    if (dtype_is_complex(from) && !dtype_is_complex(to)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Take `.real` of it.",
                     "a conversion of %s to %s is not translated",
                     dtype_name(from), dtype_name(to));
    }
}

void
check_axes(Infer *I, const AExpr *e, const Type *type)
{
    if (type->rank + dtype_is_complex(type->dtype) > MAX_RANK) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "an array of %d axes of complex numbers is not translated",
                     type->rank);
    }
}

/* --- targets -------------------------------------------------------------- */

AExpr *
part_target(Infer *I, const AExpr *target, const Type *type)
{
    const Type *base = infer_expr(I, target->lhs)->type;
    if (base->kind != TY_ARRAY ||
        complex_part_type(I, base, target->name) == NULL) {
        return NULL;
    }
    if (type != NULL && !dtype_is_float(type->dtype)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                     "`%s` of a complex array is not set to %s", target->name,
                     type_text(I->arena, type));
    }
    AExpr *dots = ast_expr(I->arena, A_OTHER, target->loc);
    dots->name = sym("ellipsis");
    AExpr *all = ast_expr(I->arena, A_SUBSCRIPT, target->loc);
    all->lhs = arena_copy(I->arena, target, sizeof(*target));
    vec_push(I->arena, &all->items, dots);
    return all;
}

/* --- vizgen.library ------------------------------------------------------- */

/* Is the function one of NumPy's that is written in Python? */
static bool
is_library(const Infer *I, const AFunc *func)
{
    const char *path = I->unit->diags->sources.at[func->loc.file].path;
    return strstr(path, "/vizgen/library/") != NULL;
}

void
check_library(Infer *I, const AExpr *call, const AFunc *func)
{
    static const char *const moves[] = {
        "angle", "diff", "flip", "flipud",
        "fliplr", "pad", "roll", "array_equal",
    };
    const Type *pairs = first_pairs(call);
    if (pairs == NULL || !is_library(I, func) ||
        is_library(I, I->frame->func)) {
        return;
    }
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if (strcmp(func->name, moves[i]) == 0) {
            return;
        }
    }
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` is not translated for %s", func->name,
                 type_text(I->arena, pairs));
}

/* --- elements ------------------------------------------------------------- */

/* The arguments that are computed with, all without alternative; an 'out' is
 * none. */
static int
operands(Infer *I, const AExpr *call, BuiltinId id, const Type **ops)
{
    int n = 0;
    int slot = builtin_slot(id, "out");
    for (int i = 0; i < call->items.n && i < MOST_UFUNC_ARGS; i++) {
        const AExpr *arg = call->items.at[i];
        if (arg == NULL || arg->type->kind == TY_NONE) {
            continue;
        }
        ops[n] = i == slot ? NULL : need_operand(I, arg, AO_MUL);
        if (ops[n] == NULL || ops[n]->alt != ALT_NEVER) {
            refuse(I, call, id, arg->type);
        }
        n++;
    }
    return n;
}

/* An array if one of the operands is, else a scalar of NumPy's. */
static const Type *
spread(Infer *I, const AExpr *call, DType dtype, const Type *const *ops, int n)
{
    for (int i = 0; i < n; i++) {
        if (ops[i]->kind == TY_ARRAY) {
            return type_elementwise(I, call, dtype, ops, n, true);
        }
    }
    return type_num(I->arena, dtype, false);
}

DType
pairs_common(const Type *const *ops, int n)
{
    Plain common = {DT_BOOL, true};
    for (int weak = 0; weak < 2; weak++) {
        for (int i = 0; i < n; i++) {
            bool own = ops[i]->kind != TY_ARRAY && ops[i]->weak;
            if (own == (weak != 0)) {
                common = plain_common(common, (Plain){ops[i]->dtype, own});
            }
        }
    }
    return common.dtype;
}

int
pairs_loop(BuiltinId id)
{
    static const struct {
        BuiltinId id;
        Fn fn;
    } loops[] = {
        {BUILTIN_NP_EXP, FN_NPC_EXP},
        {BUILTIN_NP_LOG, FN_NPC_LOG},
        {BUILTIN_NP_LOG2, FN_NPC_LOG2},
        {BUILTIN_NP_LOG10, FN_NPC_LOG10},
        {BUILTIN_NP_SQRT, FN_NPC_SQRT},
        {BUILTIN_NP_SIN, FN_NPC_SIN},
        {BUILTIN_NP_COS, FN_NPC_COS},
        {BUILTIN_NP_TAN, FN_NPC_TAN},
        {BUILTIN_NP_ARCSIN, FN_NPC_ARCSIN},
        {BUILTIN_NP_ARCCOS, FN_NPC_ARCCOS},
        {BUILTIN_NP_ARCTAN, FN_NPC_ARCTAN},
        {BUILTIN_NP_SINH, FN_NPC_SINH},
        {BUILTIN_NP_COSH, FN_NPC_COSH},
        {BUILTIN_NP_TANH, FN_NPC_TANH},
    };
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        if (loops[i].id == id) {
            return (int)loops[i].fn;
        }
    }
    return -1;
}

bool
pairs_power_known(DType dtype)
{
    return numpy_loop_known(FN_NPC_POWER, dtype_part(dtype));
}

/* Python's own `abs` and `conjugate` of Python's number; those of complex128
 * are the same functions. */
static bool
is_pythons(const Type *type, BuiltinId id)
{
    return type->kind == TY_COMPLEX && type->dtype == DT_C128 &&
           (id == BUILTIN_ABS || id == BUILTIN_CONJUGATE_OF ||
            (id == BUILTIN_CONJ_OF && !type->weak &&
             type->alt == ALT_NEVER));
}

/* |z|, conj(z), isnan(z) and their kin. */
static const Type *
type_of_map(Infer *I, AExpr *call, BuiltinId id, Gives gives)
{
    const Type *arg = call->items.at[0]->type;
    if (is_pythons(arg, id)) {
        return gives == GIVES_FLOAT
                   ? complex_float(I, arg)
                   : type_with_alt(I->arena, arg, arg->alt);
    }
    const Type *ops[MOST_UFUNC_ARGS + 1];
    int n = operands(I, call, id, ops);
    bool where = id == BUILTIN_NP_WHERE;
    bool array = false;
    for (int i = 0; i < n; i++) {
        array |= ops[i]->kind == TY_ARRAY;
    }
    if (where && (n != 3 || has_pairs(ops[0]) || !array)) {
        refuse(I, call, id, ops[0]); /* or the result has no axes */
    }
    DType dtype = where ? pairs_common(ops + 1, 2) : ops[0]->dtype;
    bool absolute = id == BUILTIN_ABS && arg->kind == TY_COMPLEX;
    bool loop = gives == GIVES_FLOAT && !numpy_abs_known(dtype);
    bool product = id == BUILTIN_NP_SQUARE && !numpy_mul_known(dtype);
    int fn = pairs_loop(id);
    loop |= fn >= 0 && !numpy_loop_known(fn, dtype_part(dtype));
    if (absolute || loop || product) {
        refuse(I, call, id, arg);
    }
    dtype = gives == GIVES_FLOAT  ? dtype_part(dtype)
            : gives == GIVES_BOOL ? DT_BOOL
                                  : dtype;
    return spread(I, call, dtype, ops, n);
}

/* np.add(z, w): of two scalars, too, it is the loop of arrays. */
static const Type *
type_of_operator(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *ops[MOST_UFUNC_ARGS + 1];
    int n = operands(I, call, id, ops);
    BinRule rule = rule_array(I->arena, ufunc_op(id), ops[0], ops[1]);
    bool arrays = ops[0]->kind == TY_ARRAY || ops[1]->kind == TY_ARRAY;
    if (n != 2 || !arrays || rule.type == NULL) {
        refuse(I, call, id, first_pairs(call));
    }
    return spread(I, call, rule.type->dtype, ops, n);
}

/* np.real(z) is z.real. */
static const Type *
type_of_part(Infer *I, AExpr *call, BuiltinId id)
{
    AExpr *arg = call->items.at[0];
    const char *name = id == BUILTIN_NP_REAL ? "real" : "imag";
    const Type *type = complex_part_type(I, arg->type, name);
    call->kind = A_ATTR;
    call->name = sym(name);
    call->lhs = arg;
    call->items.n = 0;
    return type ? type : complex_attr(I, arg->type, name);
}

/* --- conversions ---------------------------------------------------------- */

/* np.complex64(x), np.complex128(x) of a number. */
static const Type *
type_of_convert(Infer *I, AExpr *call, BuiltinId id)
{
    const AExpr *arg = call->items.at[0];
    const Type *type = arg ? arg->type : type_kind(I->arena, TY_NONE);
    bool number = type->kind == TY_NUM || type->kind == TY_COMPLEX;
    if (!number || type->alt != ALT_NEVER) {
        refuse(I, call, id, type);
    }
    return type_num(I->arena, call->lhs->type->dtype, false);
}

bool
is_cmath(BuiltinId id)
{
    return id >= BUILTIN_CMATH_EXP && id <= BUILTIN_CMATH_RECT;
}

/* cmath's functions take what has __complex__ or __float__. */
static const Type *
type_of_cmath(Infer *I, const AExpr *call, BuiltinId id)
{
    for (int i = 0; i < call->items.n; i++) {
        const Type *type = call->items.at[i]->type;
        bool number = type->kind == TY_NUM || type->kind == TY_COMPLEX;
        bool known = type->alt == ALT_NEVER ||
                     (id != BUILTIN_CMATH_RECT && type->alt == ALT_COMPLEX);
        if (!number || !known ||
            (id == BUILTIN_CMATH_RECT && type->kind != TY_NUM)) {
            refuse(I, call, id, type);
        }
    }
    const Type *floats[] = {type_float(I->arena), type_float(I->arena)};
    return id == BUILTIN_CMATH_PHASE   ? floats[0]
           : id == BUILTIN_CMATH_POLAR ? type_tuple(I->arena, floats, 2, false)
                                       : type_complex(I->arena);
}

const Type *
type_of_pairs(Infer *I, AExpr *call, BuiltinId id)
{
    if (is_cmath(id)) {
        return type_of_cmath(I, call, id);
    }
    if (id == BUILTIN_NP_COMPLEX64 || id == BUILTIN_NP_COMPLEX128) {
        return type_of_convert(I, call, id);
    }
    const Type *first = first_pairs(call);
    BuiltinKind kind = builtin_row(id)->kind;
    if (first == NULL || kind == BK_MAKE || kind == BK_VIEW ||
        kind == BK_RESHAPE || kind == BK_LIST) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].id != id) {
            continue;
        }
        switch (rows[i].gives) {
        case GIVES_AS_EVER:
            return NULL;
        case GIVES_OPERATOR:
            return type_of_operator(I, call, id);
        case GIVES_PART:
            return type_of_part(I, call, id);
        default:
            return type_of_map(I, call, id, rows[i].gives);
        }
    }
    refuse(I, call, id, first);
}
