/* Functions that work element by element: np.sqrt, np.minimum, np.where ...
 *
 *     np.sqrt(img)              an array like `img`, float
 *     np.minimum(a, 255)        NEP 50: the dtype of `a`
 *     np.isnan(x)               of a number: a NumPy bool
 *     np.add(a, b, out=c)       `c`, which is written
 *
 * Results of numbers are NumPy scalars, those of arrays are broadcast.  The
 * functions that stand for an operator follow its rule for arrays; numbers are
 * no exception, so that np.add of two uint8 scalars wraps in silence.
 *
 * A ufunc of NumPy's has a list of loops, each for certain dtypes, and takes
 * the first one to which all operands can be cast safely.  For functions of
 * floats the loops are those of float16, float32, float64:
 *
 *     bool, int8, uint8     float16, which is not translated
 *     int16, uint16         float32
 *     larger integers       float64
 */
#include <string.h>

#include "csrc/ir/ir.h"
#include "typeinfer/state.h"

static const struct {
    BuiltinId id;
    AOp op;
} operators[] = {
    {BUILTIN_NP_ADD, AO_ADD},          {BUILTIN_NP_SUBTRACT, AO_SUB},
    {BUILTIN_NP_MULTIPLY, AO_MUL},     {BUILTIN_NP_DIVIDE, AO_DIV},
    {BUILTIN_NP_FLOOR_DIVIDE, AO_FLOORDIV},
    {BUILTIN_NP_REMAINDER, AO_MOD},    {BUILTIN_NP_BITAND, AO_BITAND},
    {BUILTIN_NP_BITOR, AO_BITOR},      {BUILTIN_NP_BITXOR, AO_BITXOR},
    {BUILTIN_NP_LSHIFT, AO_LSHIFT},    {BUILTIN_NP_RSHIFT, AO_RSHIFT},
    {BUILTIN_NP_EQUAL, AO_EQ},         {BUILTIN_NP_NOT_EQUAL, AO_NE},
    {BUILTIN_NP_LESS, AO_LT},          {BUILTIN_NP_LESS_EQUAL, AO_LE},
    {BUILTIN_NP_GREATER, AO_GT},       {BUILTIN_NP_GREATER_EQUAL, AO_GE},
    {BUILTIN_NP_NEGATIVE, AO_NEG},     {BUILTIN_NP_POSITIVE, AO_POS},
    {BUILTIN_NP_INVERT, AO_INVERT},
};

/* The operator that a function is by another name; AO_IS: none. */
AOp
ufunc_op(BuiltinId id)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (operators[i].id == id) {
            return operators[i].op;
        }
    }
    return AO_IS;
}

/* What stands before 'out', or all there is. */
int
ufunc_arity(BuiltinId id)
{
    int out = builtin_slot(id, "out");
    return out >= 0 ? out : MOST_UFUNC_ARGS;
}

/* --- dtypes --------------------------------------------------------------- */

/* Arrays count as strong. */
static Plain
plain_of(const Type *type)
{
    return (Plain){type->dtype, type->kind != TY_ARRAY && type->weak};
}

/* NumPy's result type: strong operands meet first, then the weak ones. In the
 * other order np.where(c, 1, x) of a float32 x would be float64. */
static Plain
common_of(const Type *const *args, int n)
{
    Plain common = {DT_BOOL, true};
    bool any = false;
    for (int weak = 0; weak < 2; weak++) {
        for (int i = 0; i < n; i++) {
            if (args[i] != NULL && plain_of(args[i]).weak == (weak != 0)) {
                Plain plain = plain_of(args[i]);
                common = any ? plain_common(common, plain) : plain;
                any = true;
            }
        }
    }
    return common;
}

/* The dtype in which NumPy computes a function of floats; DT_COUNT: float16. */
static DType
float_of(DType dtype)
{
    if (dtype_is_float(dtype)) {
        return dtype;
    }
    if (dtype_size(dtype) == 1) {
        return DT_COUNT;
    }
    return dtype_size(dtype) == 2 ? DT_F32 : DT_F64;
}

/* The same for two operands: the narrowest that both can be cast to, which is
 * not that of their common dtype.  Weak ones take what the other one has. */
static DType
float_of_two(const Type *const *args)
{
    DType lhs = float_of(args[0]->dtype);
    DType rhs = float_of(args[1]->dtype);
    if (plain_of(args[0]).weak || plain_of(args[1]).weak) {
        return float_of(common_of(args, 2).dtype);
    }
    return lhs == DT_COUNT || (rhs != DT_COUNT && rhs > lhs) ? rhs : lhs;
}

/* One dtype for arguments and result. */
static UfuncRule
same(DType dtype)
{
    return (UfuncRule){.dtype = dtype, .compute = dtype};
}

/* A function of one argument. */
static UfuncRule
unary_rule(BuiltinId id, DType dt)
{
    bool is_float = dtype_is_float(dt);
    switch ((int)id) {
    case BUILTIN_NP_SQRT:
    case BUILTIN_NP_FABS:
    case BUILTIN_NP_RINT:
        return same(float_of(dt));
    case BUILTIN_NP_SIGN:
    case BUILTIN_NP_SQUARE:
        return same(dt == DT_BOOL ? DT_COUNT : dt);
    case BUILTIN_NP_RECIPROCAL:
        return same(is_float ? dt : DT_COUNT);
    case BUILTIN_NP_SIGNBIT:
        return (UfuncRule){is_float ? DT_BOOL : DT_COUNT, dt, 0};
    case BUILTIN_NP_ISNAN:
    case BUILTIN_NP_ISINF:
    case BUILTIN_NP_ISFINITE:
    case BUILTIN_NP_NOT:
        return (UfuncRule){DT_BOOL, dt, 0};
    case BUILTIN_NP_ROUND:
    case BUILTIN_NP_AROUND:
    case BUILTIN_ROUND_OF:
        return same(dt == DT_BOOL ? DT_COUNT : dt);
    default: /* floor ceil trunc fix abs */
        return same(dt);
    }
}

/* A function that is an operator: as the operator for arrays, but a Python bool
 * is left out, which the function turns into an array of bool first. */
static UfuncRule
operator_rule(Arena *arena, AOp op, const Type *const *args)
{
    UfuncRule none = same(DT_COUNT);
    bool weak_bool = false;
    for (int i = 0; i < 2 && args[i] != NULL; i++) {
        weak_bool |= args[i]->kind == TY_NUM && args[i]->weak &&
                     args[i]->dtype == DT_BOOL;
    }
    if (weak_bool) {
        return none;
    }
    if (op >= AO_NEG && op <= AO_INVERT) {
        bool only_main;
        const Type *type = rule_unary(arena, op, args[0], &only_main);
        return type == NULL ? none : same(type->dtype);
    }
    BinRule rule = rule_array(arena, op, args[0], args[1]);
    if (rule.type == NULL) {
        return none;
    }
    return (UfuncRule){rule.type->dtype, rule.compute, rule.mixed ? 3u : 0u};
}

/* np.clip makes an array of its first argument. */
static UfuncRule
clip_rule(Arena *arena, const Type *const *args)
{
    const Type *all[] = {args[0], args[1], args[2]};
    if (args[0]->kind == TY_NUM) {
        all[0] = type_num(arena, args[0]->dtype, false);
    }
    bool bounded = args[1] != NULL || args[2] != NULL;
    DType dtype = common_of(all, 3).dtype;
    return same(args[0]->dtype == DT_BOOL || !bounded ? DT_COUNT : dtype);
}

/* What a function computes for these operands, or that it isn't translated. */
UfuncRule
rule_ufunc(Arena *arena, BuiltinId id, const Type *const *args)
{
    AOp op = ufunc_op(id);
    if (op != AO_IS) {
        return operator_rule(arena, op, args);
    }
    if (runs_loop(id)) {
        return same(loop_dtype(id, args, ir_fn_arity((Fn)builtin_row(id)->fn)));
    }
    switch ((int)id) {
    case BUILTIN_NP_CLIP:
    case BUILTIN_CLIP_OF:
        return clip_rule(arena, args);
    case BUILTIN_NP_WHERE: {
        UfuncRule rule = same(common_of(args + 1, 2).dtype);
        rule.own = 1;
        return rule;
    }
    case BUILTIN_NP_AND:
    case BUILTIN_NP_OR:
    case BUILTIN_NP_XOR:
        return (UfuncRule){DT_BOOL, DT_BOOL, 3};
    case BUILTIN_NP_MINIMUM:
    case BUILTIN_NP_MAXIMUM:
    case BUILTIN_NP_FMIN:
    case BUILTIN_NP_FMAX:
        return same(common_of(args, 2).dtype);
    case BUILTIN_NP_COPYSIGN:
        return same(float_of_two(args));
    default:
        return unary_rule(id, args[0]->dtype);
    }
}

/* The arguments with the alternatives of those whose bit is set in 'combo';
 * false: one of them has none. */
static bool
take_alts(Arena *arena, const Type *const *args, unsigned combo,
          const Type **out)
{
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        Plain alt;
        out[i] = args[i];
        if (!(combo >> i & 1)) {
            continue;
        }
        if (args[i] == NULL || args[i]->kind != TY_NUM ||
            !type_plain_alt(args[i], &alt)) {
            return false;
        }
        out[i] = type_num(arena, alt.dtype, alt.weak);
    }
    return true;
}

/* Is a part of the combination refused already, and so all of it? */
static bool
part_refused(unsigned refused, unsigned combo)
{
    for (unsigned part = 1; part < combo; part++) {
        if ((part & combo) == part && (refused >> part & 1)) {
            return true;
        }
    }
    return false;
}

/* Both give one dtype, computed alike, if NumPy turns the number into one of
 * its own first.  np.add(v, w) of two that are an int16 or Python's is an int16
 * while one of them is, and else an int64: so all combinations are tried. */
unsigned
ufunc_refused(Arena *arena, BuiltinId id, const Type *const *args)
{
    UfuncRule one = rule_ufunc(arena, id, args);
    unsigned refused = 0;
    for (unsigned combo = 1; combo < 1u << MOST_UFUNC_ARGS; combo++) {
        const Type *other[MOST_UFUNC_ARGS];
        if (part_refused(refused, combo) ||
            !take_alts(arena, args, combo, other)) {
            continue;
        }
        UfuncRule two = rule_ufunc(arena, id, other);
        bool same = one.dtype == two.dtype && one.compute == two.compute &&
                    one.own == two.own;
        refused |= (unsigned)!same << combo;
    }
    return refused;
}

/* --- types ---------------------------------------------------------------- */

_Noreturn void
refuse_type(Infer *I, const AExpr *call, BuiltinId id, const Type *type)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` is not translated for %s", builtin_row(id)->name,
                 type_text(I->arena, type));
}

/* Could the lanes of vectors be used?  Operators on them know less (no division
 * of integers by what may be 0), and bounds that are arrays need checks. */
static bool
fits_vectors(Infer *I, BuiltinId id, const Type *const *args)
{
    bool clips = id == BUILTIN_NP_CLIP || id == BUILTIN_CLIP_OF;
    for (int i = 1; clips && i < 3; i++) {
        if (args[i] != NULL && args[i]->kind == TY_ARRAY) {
            return false;
        }
    }
    AOp op = ufunc_op(id);
    bool binary = op != AO_IS && !(op >= AO_NEG && op <= AO_INVERT);
    return !binary || rule_vector(I->arena, op, args[0], args[1]).type != NULL;
}

/* An array that is written must be one in memory, of the very shape, and hold
 * the result after a cast within a kind. */
static const Type *
out_type(Infer *I, const AExpr *call, const AExpr *out, DType dtype,
         const Type *const *ops, int n)
{
    const Type *to = out->type;
    Type shape = {.kind = TY_ARRAY};
    broadcast_sizes(I, call, ops, n, &shape);
    if (to->kind != TY_ARRAY || shape.rank > to->rank ||
        !rule_same_kind(dtype, to->dtype)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, out->loc, NULL,
                     "%s as `out` is not translated here",
                     type_text(I->arena, to));
    }
    demote_vector(I, to);
    check_reach(I, to, out->loc);
    alias_mutate(I, to, out->loc);
    if (shape.rank > 0) {
        shape.dtype = dtype;
        check_fits(I, call, &shape, to);
    }
    return to;
}

/* The arguments but 'out' as operands; returns how many there are. */
static int
gather(Infer *I, const AExpr *call, BuiltinId id, const Type **args,
       const Type **ops)
{
    int n = 0;
    for (int i = 0; i < ufunc_arity(id); i++) {
        const AExpr *arg = call->items.at[i];
        args[i] = NULL;
        if (arg == NULL || arg->type->kind == TY_NONE) {
            continue;
        }
        args[i] = need_operand(I, arg, AO_MUL);
        if (args[i]->alt != ALT_NEVER && args[i]->kind != TY_NUM) {
            refuse_type(I, call, id, args[i]);
        }
        ops[n++] = args[i];
    }
    return n;
}

/* The number of decimals must be known. */
static void
check_decimals(Infer *I, const AExpr *call, BuiltinId id)
{
    const AExpr *decimals = call->items.at[1];
    int64_t n;
    bool known = decimals == NULL || type_is_known_int(decimals->type, &n);
    if (!known || (decimals != NULL && (n < -20 || n > 20))) {
        refuse_type(I, call, id, decimals->type);
    }
}

/* np.clip has two bounds, which may be None, or none; the method may have one.
 */
static void
check_bounds(Infer *I, const AExpr *call, BuiltinId id)
{
    const AExpr *const *bounds = (const AExpr *const *)call->items.at + 1;
    if (id == BUILTIN_NP_CLIP && (bounds[0] == NULL) != (bounds[1] == NULL)) {
        refuse_call(I, call, "clip", "lacks an argument");
    }
}

/* A call of BK_UFUNC: a number, an array that is broadcast, or its `out`. */
const Type *
type_of_ufunc(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *args[MOST_UFUNC_ARGS + 1] = {NULL};
    const Type *ops[MOST_UFUNC_ARGS + 1];
    if (id == BUILTIN_NP_WHERE && call->items.at[1] == NULL) {
        return type_of_nonzero(I, call, id);
    }
    check_bounds(I, call, id);
    int n = gather(I, call, id, args, ops);
    bool rounds = id == BUILTIN_NP_ROUND || id == BUILTIN_NP_AROUND ||
                  id == BUILTIN_ROUND_OF;
    bool clips = id == BUILTIN_NP_CLIP || id == BUILTIN_CLIP_OF;
    int needed = rounds || clips ? 1 : ufunc_arity(id);
    for (int i = 0; i < needed; i++) {
        if (args[i] == NULL) { /* None */
            refuse_type(I, call, id, call->items.at[i]->type);
        }
    }
    if (rounds) {
        check_decimals(I, call, id);
        n = 1;
    }
    UfuncRule rule = rule_ufunc(I->arena, id, args);
    if (rule.dtype == DT_COUNT) {
        refuse_type(I, call, id, args[0]);
    }
    const AExpr *out = ufunc_out(call, id);
    if (out != NULL) {
        return out_type(I, call, out, rule.dtype, ops, n);
    }
    bool array = false;
    for (int i = 0; i < n; i++) {
        array |= ops[i]->kind == TY_ARRAY;
    }
    if (!array && id == BUILTIN_NP_WHERE) {
        refuse_type(I, call, id, args[0]); /* an array without axes */
    }
    if (!array) {
        return type_num(I->arena, rule.dtype, false);
    }
    bool memory = !fits_vectors(I, id, args);
    return type_elementwise(I, call, rule.dtype, ops, n, memory);
}
