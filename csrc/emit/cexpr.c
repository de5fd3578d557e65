/* Expressions as C text.
 *
 *     add(load(img, y, sub(x, 1)), mul(2.0, v))
 *     img_1[y_4 * img_1n1 + x_5 - 1] + 2.0 * v_6
 *
 * The C text of an expression has the C type of its dtype, or int for what is
 * narrower, with the same value; so arithmetic on 8 and 16 bits is cast back,
 * and an i64 constant gets its 'L' unless the other operand is 64 bits wide
 * anyhow.  Sums keep the shape of the tree: float arithmetic is not
 * associative.  Vectors are written lane by lane; the C compiler joins what
 * the lanes have in common.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csrc/emit/cgen.h"

/* --- constants ----------------------------------------------------------- */

/* Infinities and NaNs as the compilers' builtins, since nothing of <math.h>
 * is included. A NaN's payload is lost. */
static const char *
special_float(Gen *g, double size, const char *suffix)
{
    return isnan(size)
               ? str_printf(g->arena, "__builtin_nan%s(\"\")", suffix)
               : str_printf(g->arena, "__builtin_inf%s()", suffix);
}

/* Built from the bits: printf's %a would follow the locale. 'size' is finite
 * and not negative.  A subnormal has exponent field 0, no hidden bit, and the
 * exponent of the least normal number. */
static const char *
hex_float(Gen *g, double size, const char *suffix)
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    return str_printf(g->arena, "0x%d.%013llxp%d%s", exponent > 0,
                      (unsigned long long)fraction,
                      exponent > 0 ? exponent - 1023 : -1022, suffix);
}

/* Decimal where that is short and surely exact, else hexadecimal. A multiple of
 * 1/64 has at most six decimals; below 1e9 the rest fits too. */
static const char *
finite_float(Gen *g, double size, const char *suffix)
{
    if (size >= 1e9 || size * 64 != floor(size * 64)) {
        return hex_float(g, size, suffix);
    }
    char digits[40];
    int n = snprintf(digits, sizeof digits, "%lld.%06d", (long long)size,
                     (int)((size - floor(size)) * 1e6));
    while (digits[n - 1] == '0' && digits[n - 2] != '.') {
        digits[--n] = '\0';
    }
    return str_printf(g->arena, "%s%s", digits, suffix);
}

/* A sign makes a unary expression of it, so that 'x - -1.0' and '-(-1.0)'
 * come out right. */
static Piece
float_const(Gen *g, double value, DType dt)
{
    const char *suffix = dt == DT_F32 ? "f" : "";
    double size = fabs(value);
    const char *text = isfinite(value) ? finite_float(g, size, suffix)
                                       : special_float(g, size, suffix);
    if (!signbit(value)) {
        return (Piece){text, P_ATOM};
    }
    return (Piece){str_printf(g->arena, "-%s", text), P_UNARY};
}

/* Suffix always: the arithmetic must not become signed. */
static Piece
unsigned_const(Gen *g, const Expr *e)
{
    return (Piece){str_printf(g->arena, "%llu%s", (unsigned long long)e->ival,
                              e->dtype == DT_U64 ? "UL" : "U"),
                   P_ATOM};
}

/* 'plain': what stands beside it makes it 64 bits wide if it must be. The least
 * values have no literal in C: the minus is an operator, and what stands behind
 * it would be too large. */
static Piece
int_const(Gen *g, const Expr *e, bool plain)
{
    if (e->dtype == DT_U64 || e->dtype == DT_U32) {
        return unsigned_const(g, e);
    }
    int64_t value = e->dtype == DT_BOOL ? e->ival != 0 : e->ival;
    bool small = value > INT32_MIN && value <= INT32_MAX;
    const char *suffix = e->dtype == DT_I64 && !(plain && small) ? "L" : "";
    if (value == INT64_MIN || (value == INT32_MIN && e->dtype == DT_I32)) {
        return (Piece){str_printf(g->arena, "(%lld%s - 1)",
                                  (long long)(value + 1), suffix),
                       P_ATOM};
    }
    return (Piece){str_printf(g->arena, "%lld%s", (long long)value, suffix),
                   value < 0 ? P_UNARY : P_ATOM};
}

/* Has the C text of 'e' the width of its dtype even if constants in it are
 * written plain? Constants lose their suffix beside a wide operand, so that
 * people can read 'i_4 + 1'; two constants keep it. */
static bool
is_wide(const Expr *e)
{
    switch (e->op) {
    case E_CONST:
        return false;
    case E_ADD:
    case E_SUB:
    case E_MUL:
    case E_AND:
    case E_OR:
    case E_XOR:
        return is_wide(e->args[0]) || is_wide(e->args[1]);
    case E_NEG:
    case E_INV:
        return is_wide(e->args[0]);
    case E_SELECT:
        return is_wide(e->args[1]) || is_wide(e->args[2]);
    default:
        return true;
    }
}

/* A bool in memory may hold any byte if another program wrote it; what is
 * not zero is true, as for NumPy. */
static Piece
load_piece(Gen *g, const Expr *e, int lane)
{
    const char *place = c_place(g, e->buf, e->args, e->nargs, lane);
    int prec = c_packed(e->buf) ? P_ATOM : P_UNARY;
    if (e->dtype == DT_BOOL) {
        return (Piece){str_printf(g->arena, "%s != 0", place), P_EQUAL};
    }
    return (Piece){place, prec};
}

/* --- operators ----------------------------------------------------------- */

/* How a binary operator of C is written. */
typedef struct Infix {
    const char *text; /* NULL: not an infix operator in C */
    int prec;
    int operand; /* least precedence of the left operand; right: one more */
} Infix;

static const Infix infix[E_COUNT] = {
    [E_ADD] = {"+", P_ADD, P_ADD},     [E_SUB] = {"-", P_ADD, P_ADD},
    [E_PLUS] = {"+", P_ADD, P_ADD},
    [E_MUL] = {"*", P_MUL, P_MUL},     [E_DIV] = {"/", P_MUL, P_MUL},
    [E_AND] = {"&", P_BITS, P_MUL},    [E_OR] = {"|", P_BITS, P_MUL},
    [E_XOR] = {"^", P_BITS, P_MUL},    [E_EQ] = {"==", P_EQUAL, P_ADD},
    [E_NE] = {"!=", P_EQUAL, P_ADD},   [E_LT] = {"<", P_LESS, P_ADD},
    [E_LE] = {"<=", P_LESS, P_ADD},
};

static const char *const helpers[E_COUNT] = {
    [E_IDIV] = "idiv", [E_MOD] = "mod",   [E_MIN] = "min",   [E_MAX] = "max",
    [E_SHL] = "shl",   [E_SHR] = "shr",   [E_ADDO] = "addo", [E_SUBO] = "subo",
    [E_MULO] = "mulo", [E_ABS] = "abs",
};

/* 'e' where it meets a 64-bit operand, or is converted by what is around. */
static const char *
plain_expr(Gen *g, const Expr *e, int lane, int prec)
{
    if (e->op == E_CONST && !dtype_is_float(e->dtype)) {
        Piece piece = int_const(g, e, true);
        return piece.prec < prec ? str_printf(g->arena, "(%s)", piece.text)
                                 : piece.text;
    }
    return c_expr(g, e, lane, prec);
}

const char *
c_beside(Gen *g, const Expr *e, const Expr *other, int lane, int prec)
{
    return is_wide(other) ? plain_expr(g, e, lane, prec)
                          : c_expr(g, e, lane, prec);
}

/* Casts back what C computed in int. The cast is modulo 2^n in gcc and clang,
 * which is how NumPy wraps. */
static Piece
narrowed(Gen *g, DType dt, Piece piece)
{
    if (dtype_size(dt) >= 4 || dt == DT_BOOL) {
        return piece;
    }
    return (Piece){piece.prec < P_UNARY
                       ? str_printf(g->arena, "(%s)(%s)", c_type(dt),
                                    piece.text)
                       : str_printf(g->arena, "(%s)%s", c_type(dt),
                                    piece.text),
                   P_UNARY};
}

/* Is 'e' the constant 0.0, not -0.0, perhaps for all lanes? */
static bool
is_plain_zero(const Expr *e)
{
    e = e->op == E_SPLAT ? e->args[0] : e;
    return e->op == E_CONST && dtype_is_float(e->dtype) && e->fval == 0 &&
           !signbit(e->fval);
}

/* 0.0 - x, which gcc takes for -x where it sees that x is never -0.0 (up to 12
 * at least, in one expression): then 0.0 - 0.0 would be -0.0. */
static Piece
from_zero(Gen *g, const Expr *e, int lane)
{
    return (Piece){str_printf(g->arena, "vz_from0_%s(%s)",
                              dtype_short(e->dtype),
                              c_expr(g, e->args[1], lane, P_ANY)),
                   P_ATOM};
}

/* A constant, or 0.0 and 1.0 out of a bool. */
static bool
is_few_values(const Expr *e)
{
    e = e->op == E_SPLAT ? e->args[0] : e;
    return e->op == E_CONST ||
           (e->op == E_CAST && e->args[0]->dtype == DT_BOOL);
}

/* Could the C compiler know a quotient beforehand, and leave out the flag of a
 * division by zero?  1.0 / (c ? 1.0 : 0.0) is a choice of two constants. */
static bool
hides_flags(const Gen *g, const Expr *e)
{
    return e->op == E_DIV && dtype_is_float(e->dtype) && !g->func->deaf &&
           is_few_values(e->args[0]) && e->args[1]->op != E_CONST;
}

/* Floats are compared without raising a flag for NaN, which Python and NumPy
 * don't do either; the compilers may then make selects of branches. */
static Piece
quiet_compare(Gen *g, const Expr *e, int lane)
{
    const char *left = c_beside(g, e->args[0], e->args[1], lane, P_ANY);
    const char *right = c_beside(g, e->args[1], e->args[0], lane, P_ANY);
    return (Piece){str_printf(g->arena, "vz_%s(%s, %s)",
                              e->op == E_LT ? "lt" : "le", left, right),
                   P_ATOM};
}

/* Both operands of arithmetic bind tighter than the operator, the right one
 * strictly: the tree's shape is the order of evaluation. Comparisons never
 * stand beside each other without parentheses. */
static Piece
infix_piece(Gen *g, const Expr *e, int lane)
{
    const Infix *op = &infix[e->op];
    const Expr *lhs = e->args[0];
    const Expr *rhs = e->args[1];
    if ((e->op == E_LT || e->op == E_LE) && dtype_is_float(lhs->dtype)) {
        return quiet_compare(g, e, lane);
    }
    if (e->op == E_SUB && is_plain_zero(lhs)) {
        return from_zero(g, e, lane);
    }
    const char *left = c_beside(g, lhs, rhs, lane, op->operand);
    if (hides_flags(g, e) || (g->products != NULL && e->op == E_SUB &&
                              c_is_product(g->products, lhs))) {
        g->frame->none = true;
        left = str_printf(g->arena, "(%s + none_%s)", left,
                          dtype_short(e->dtype));
    }
    bool compares = op->prec < op->operand && op->prec != P_BITS;
    const char *right = c_beside(g, rhs, lhs, lane, op->operand + !compares);
    Piece piece = {str_printf(g->arena, "%s %s %s", left, op->text, right),
                   op->prec};
    return compares ? piece : narrowed(g, e->dtype, piece);
}

/* floor division, modulo and shifts of integers by a suitable constant as the
 * operator that C has; false: the helper does it. A power of two makes floor
 * division a shift and modulo a mask, for negative values as well, since >> is
 * arithmetic: -7 >> 1 is -4, -7 & 3 is 1. */
static bool
by_constant(Gen *g, const Expr *e, int lane, Piece *out)
{
    int64_t k = 0;
    bool known = ir_const_int(e->args[1], &k) && k >= 0;
    bool power = known && k > 0 && (k & (k - 1)) == 0;
    bool shift = e->op == E_SHL || e->op == E_SHR;
    if (e->op == E_SHL && dtype_is_signed(e->dtype)) {
        return false;
    }
    if (!(shift ? known && k < 8 * dtype_size(e->dtype) : power)) {
        return false;
    }
    const char *lhs = c_expr(g, e->args[0], lane, P_UNARY);
    const char *op = e->op == E_SHL ? "<<" : ">>";
    long long amount = e->op == E_IDIV ? __builtin_ctzll((uint64_t)k) : k;
    if (e->op == E_MOD) {
        op = "&";
        amount = k - 1;
    }
    Piece piece = {str_printf(g->arena, "%s %s %lld", lhs, op, amount),
                   P_BITS};
    *out = narrowed(g, e->dtype, piece);
    return true;
}

/* A function of the prelude. Overflow of i64 sums is found by the CPU's
 * flag, in a vector loop from the signs. */
static Piece
helper_piece(Gen *g, const Expr *e, int lane)
{
    Piece piece;
    bool divides = e->op == E_IDIV || e->op == E_MOD || e->op == E_SHL ||
                   e->op == E_SHR;
    if (divides && by_constant(g, e, lane, &piece)) {
        return piece;
    }
    DType dt = e->args[0]->dtype;
    bool vector = g->frame->vector && dt == DT_I64 &&
                  (e->op == E_ADDO || e->op == E_SUBO);
    Str text = str_new(g->arena);
    str_addf(&text, "vz_%s%s_%s(", vector ? "v" : "", helpers[e->op],
             dtype_short(dt));
    for (int i = 0; i < e->nargs; i++) {
        str_addf(&text, "%s%s", i ? ", " : "",
                 plain_expr(g, e->args[i], lane, P_ANY));
    }
    str_add(&text, ")");
    return (Piece){text.at, P_ATOM};
}

/* Operators in front; on 8 and 16 bits the result is cut back. */
static Piece
prefix_piece(Gen *g, const Expr *e, int lane, const char *op)
{
    const char *arg = c_expr(g, e->args[0], lane, P_ATOM);
    Piece piece = {str_printf(g->arena, "%s%s", op, arg), P_UNARY};
    if (e->op == E_NOT) {
        piece.prec = P_EQUAL; /* compilers want '(!a) & b' */
        return piece;
    }
    return narrowed(g, e->dtype, piece);
}

/* fabs for floats, which only clears the sign. */
static Piece
abs_piece(Gen *g, const Expr *e, int lane)
{
    if (!dtype_is_float(e->dtype)) {
        return helper_piece(g, e, lane);
    }
    return (Piece){str_printf(g->arena, "__builtin_fabs%s(%s)",
                              e->dtype == DT_F32 ? "f" : "",
                              c_expr(g, e->args[0], lane, P_ANY)),
                   P_ATOM};
}

/* --- casts --------------------------------------------------------------- */

/* The integer that x86 converts floats to before 'dt' takes its low bits. */
static const char *
landing(DType dt)
{
    if (dt == DT_U64) {
        return "u64";
    }
    return dt == DT_I64 || dt == DT_U32 ? "i64" : "i32";
}

/* A plain C cast, modulo 2^n between integers as for NumPy. */
static Piece
cast_text(Gen *g, DType to, const char *text)
{
    return (Piece){str_printf(g->arena, "(%s)%s", c_type(to), text), P_UNARY};
}

/* Through the helpers, since a C cast of what does not fit is undefined. */
static Piece
float_to_int(Gen *g, const Expr *e, int lane)
{
    const Expr *arg = e->args[0];
    const char *from = dtype_short(arg->dtype);
    const char *land = landing(e->dtype);
    const char *text = str_printf(g->arena, "vz_%s_%s(%s)", land, from,
                                  c_expr(g, arg, lane, P_ANY));
    if (strcmp(land, dtype_short(e->dtype)) == 0) {
        return (Piece){text, P_ATOM};
    }
    return cast_text(g, e->dtype, text);
}

/* To bool is a comparison with zero (a NaN is true); between floats
 * rounding to nearest. */
static Piece
cast_piece(Gen *g, const Expr *e, int lane)
{
    const Expr *arg = e->args[0];
    if (e->dtype == DT_BOOL) {
        return (Piece){str_printf(g->arena, "%s != 0",
                                  c_expr(g, arg, lane, P_ADD)),
                       P_EQUAL};
    }
    g->narrows |= arg->dtype == DT_F64 && e->dtype == DT_F32;
    g->widens |= arg->dtype == DT_F32 && e->dtype == DT_F64;
    if (dtype_is_float(arg->dtype) && !dtype_is_float(e->dtype)) {
        return float_to_int(g, e, lane);
    }
    if (dtype_is_float(e->dtype) && c_comes_from_float(g->truncated, arg)) {
        const char *text = c_expr(g, arg, lane, P_ANY);
        bool whole = arg->dtype == DT_U64;
        return cast_text(g, e->dtype,
                         str_printf(g->arena, "%svz_hide(%s)",
                                    whole ? "(uint64_t)" : "", text));
    }
    return cast_text(g, e->dtype, plain_expr(g, arg, lane, P_UNARY));
}

/* --- calls --------------------------------------------------------------- */

typedef struct FnInfo {
    const char *text;
    int arity;
    char origin;
} FnInfo;

static const FnInfo fns[FN_COUNT] = {
#define FN(id, text, arity, origin) {text, arity, origin},
#include "csrc/ir/fn.def"
#undef FN
};

/* The places in the tables are the numbers of the 'L' rows with one and two
 * arguments; POWF takes one without using it, as the host has it. */
void
c_fn_locals(Gen *g, Str *out)
{
    int next[3] = {0};
    int loop = 0;
    for (int fn = 0; fn < FN_COUNT; fn++) {
        const FnInfo *info = &fns[fn];
        if (info->origin == 'N' || info->origin == 'C') {
            if (g->frame->fns[fn]) {
                str_line(out, "const VzLoop *const %s = ctx->host->loops + %d;",
                         info->text, loop);
            }
            loop += 2;
            continue;
        }
        int place = info->origin == 'L' ? next[info->arity]++ : 0;
        if (g->frame->fns[fn] && fn == FN_POWF) {
            str_line(out, "float (*const libm_powf)(float, float) = "
                          "ctx->host->powf;");
        } else if (fn == FN_ROOT) {
            /* FN_SQUARE declares what both need */
        } else if (g->frame->fns[fn] && fn == FN_SQUARE) {
            str_line(out, "const double pow_slack = ctx->host->pow_slack;");
        } else if (g->frame->fns[fn]) {
            str_line(out, "VzLibm%d *const libm_%s = ctx->host->libm%d[%d];",
                     info->arity, info->text, info->arity, place);
        }
    }
}

/* The name before the arguments, and what of the host it needs. */
static const char *
fn_name(Gen *g, const Expr *e)
{
    bool *used = g->frame->fns;
    const char *f32 = e->args[0]->dtype == DT_F32 ? "f" : "";
    switch (e->fn) {
    case FN_FINITE:
        return "__builtin_isfinite(";
    case FN_ISINF:
        return "__builtin_isinf(";
    case FN_ISNAN:
        return "__builtin_isnan(";
    case FN_SQUARE:
    case FN_ROOT:
        used[FN_SQUARE] = used[FN_POW] = true;
        g->lanes |= g->frame->vector != NULL;
        return str_printf(g->arena, "vz_%s%s(libm_pow, pow_slack, ",
                          g->frame->vector ? "lanes_" : "", fns[e->fn].text);
    case FN_PYMOD:
    case FN_NPMOD:
        used[FN_FMOD] = true;
        return str_printf(g->arena, "vz_npmod_%s(libm_fmod, ",
                          dtype_short(e->args[0]->dtype));
    case FN_PYFLOORDIV:
    case FN_NPFLOORDIV:
        used[FN_FMOD] = true;
        return str_printf(g->arena, "vz_%s_%s(libm_fmod, ", fns[e->fn].text,
                          dtype_short(e->args[0]->dtype));
    case FN_PYROUND:
    case FN_NORMSCALE:
    case FN_GCD:
    case FN_IPOW:
    case FN_IPOWO:
        return str_printf(g->arena, "vz_%s(", fns[e->fn].text);
    default:
        break;
    }
    if (fns[e->fn].origin == 'N') {
        return c_loop_name(g, e);
    }
    if (fns[e->fn].origin == 'A') {
        bool single = e->args[0]->dtype == DT_F32;
        g->relaxed = true;
        g->vm[e->fn] |= single ? 2 : 1;
        return str_printf(g->arena, "vz_%s_%s(", fns[e->fn].text,
                          single ? "f32" : "f64");
    }
    if (fns[e->fn].origin == 'M') {
        return str_printf(g->arena, "__builtin_%s%s(", fns[e->fn].text, f32);
    }
    used[e->fn] = true;
    return str_printf(g->arena, "libm_%s(", fns[e->fn].text);
}

/* FINITE and its like give int, which may be other than 1. */
static Piece
call_piece(Gen *g, const Expr *e, int lane)
{
    Str text = str_new(g->arena);
    str_add(&text, fn_name(g, e));
    for (int i = 0; i < e->nargs; i++) {
        str_addf(&text, "%s%s", i ? ", " : "",
                 plain_expr(g, e->args[i], lane, P_ANY));
    }
    str_add(&text, ")");
    if (e->dtype == DT_BOOL && e->fn != FN_IPOWO) {
        str_add(&text, " != 0");
        return (Piece){text.at, P_EQUAL};
    }
    return (Piece){text.at, P_ATOM};
}

/* --- vectors ------------------------------------------------------------- */

/* An element at an index known at run time: a chain of selections. */
static Piece
elem_piece(Gen *g, const Expr *e)
{
    int64_t k;
    const Expr *vec = e->args[0];
    if (ir_const_int(e->args[1], &k)) {
        int lane = k >= 0 && k < vec->lanes ? (int)k : 0;
        return c_piece(g, vec, lane);
    }
    const char *index = c_expr(g, e->args[1], 0, P_ADD);
    Str text = str_new(g->arena);
    for (int lane = 0; lane + 1 < vec->lanes; lane++) {
        str_addf(&text, "%s == %d ? %s : ", index, lane,
                 c_expr(g, vec, lane, P_BITS));
    }
    str_add(&text, c_expr(g, vec, vec->lanes - 1, P_BITS));
    return (Piece){text.at, P_COND};
}

/* Lane 'lane' of the vector after the insertion. */
static Piece
insert_piece(Gen *g, const Expr *e, int lane)
{
    int64_t k;
    if (ir_const_int(e->args[1], &k)) {
        const Expr *from = e->args[k == lane ? 2 : 0];
        return c_piece(g, from, lane);
    }
    return (Piece){str_printf(g->arena, "%s == %d ? %s : %s",
                              c_expr(g, e->args[1], 0, P_ADD), lane,
                              c_expr(g, e->args[2], 0, P_BITS),
                              c_expr(g, e->args[0], lane, P_COND)),
                   P_COND};
}

/* --- all together -------------------------------------------------------- */

/* Both are arguments, so dims and strides lie in the call's table. */
static Piece
disjoint_piece(Gen *g, const Expr *e)
{
    return (Piece){str_printf(g->arena,
                              "vz_disjoint(ctx->in + %d, %d, %d, "
                              "ctx->in + %d, %d, %d)",
                              c_slot(g, e->buf), e->buf->rank,
                              dtype_size(e->buf->dtype), c_slot(g, e->buf2),
                              e->buf2->rank, dtype_size(e->buf2->dtype)),
                   P_ATOM};
}

/* A negation that gcc does not draw into a fused operation (calternate.c). */
static Piece
hidden_neg(Gen *g, const Expr *e, int lane)
{
    g->frame->none = true;
    return (Piece){str_printf(g->arena, "-(%s + none_%s)",
                              c_expr(g, e->args[0], lane, P_ADD),
                              dtype_short(e->dtype)),
                   P_UNARY};
}

/* What has no operands, and LOAD. Fresh memory is disjoint from all other. */
static Piece
leaf_piece(Gen *g, const Expr *e, int lane)
{
    switch (e->op) {
    case E_CONST:
        return dtype_is_float(e->dtype) ? float_const(g, e->fval, e->dtype)
                                        : int_const(g, e, false);
    case E_VAR:
        return (Piece){c_var(g, e->var, lane), P_ATOM};
    case E_LOAD:
        return load_piece(g, e, lane);
    case E_STRIDE:
        return (Piece){c_stride(g, e->buf, e->axis), P_MUL};
    case E_DIM:
        return (Piece){c_extent(g, e->buf, e->axis), P_ATOM};
    case E_DISJOINT:
        return e->buf->kind == BUF_ARG && e->buf2->kind == BUF_ARG
                   ? disjoint_piece(g, e)
                   : (Piece){e->buf == e->buf2 ? "0" : "1", P_ATOM};
    default:
        fatal("no C for '%d'", (int)e->op);
    }
}

/* The one place that knows how every node is written. */
Piece
c_piece(Gen *g, const Expr *e, int lane)
{
    if (infix[e->op].text) {
        return infix_piece(g, e, lane);
    }
    switch (e->op) {
    case E_NEG:
        return g->fuses && dtype_is_float(e->dtype) &&
                       e->args[0]->op != E_MUL
                   ? hidden_neg(g, e, lane)
                   : prefix_piece(g, e, lane, "-");
    case E_INV:
        return prefix_piece(g, e, lane, "~");
    case E_NOT:
        return prefix_piece(g, e, lane, "!");
    case E_ABS:
        return abs_piece(g, e, lane);
    case E_SELECT:
        return c_select(g, e, lane);
    case E_CAST:
        return cast_piece(g, e, lane);
    case E_CALL:
        return call_piece(g, e, lane);
    case E_ELEM:
        return elem_piece(g, e);
    case E_INSERT:
        return insert_piece(g, e, lane);
    case E_SPLAT:
        return c_piece(g, e->args[0], 0);
    case E_SUM:
        return c_sum(g, e);
    default:
        return helpers[e->op] ? helper_piece(g, e, lane)
                              : leaf_piece(g, e, lane);
    }
}

/* A scalar operand of a vector is the same in every lane. */
const char *
c_expr(Gen *g, const Expr *e, int lane, int prec)
{
    if (prec == P_ANY && e->op == E_CONST && !dtype_is_float(e->dtype)) {
        return int_const(g, e, true).text;
    }
    Piece piece = c_piece(g, e, lane);
    return piece.prec < prec ? str_printf(g->arena, "(%s)", piece.text)
                             : piece.text;
}
