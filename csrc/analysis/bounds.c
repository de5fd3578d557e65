/* What is known where one stands in the program.
 *
 *     for i in 0 .. dim(a, 0) - 1 {
 *         let j: i64 = add(i, 1)
 *         check lt(j, dim(a, 0))        -> always true: j = i + 1, and
 *     }                                    i <= dim(a, 0) - 2
 *
 * Every integer expression is turned into a linear form over atoms, through
 * the definitions of Vars.  Forms are exact integers while the IR wraps, so
 * an operation is taken apart only if its exact result fits the dtype: by the
 * ranges of its atoms, or because an overflow test (ADDO, SUBO, MULO) is known
 * to be false.  Otherwise the operation is an atom of its own.
 *
 * Three kinds of knowledge:
 *   definitions   a Var's value, or the range of a loop's variable.  A Var is
 *                 assigned once, so these hold wherever it is visible and are
 *                 never taken back.
 *   facts         forms known to be >= 0, from conditions; scoped.
 *   conditions    known as a whole ("known"), overflow tests ("exact"), and
 *                 alternatives ("pending") that turn into facts once one side
 *                 is refuted; scoped.
 *
 * Memory: a load names a value at one moment, so nothing that outlives the
 * moment may speak of a load.  Definitions are stored with every load
 * replaced by a "frozen" Var of its own; conditions with loads are not kept.
 */
#include "csrc/analysis/bounds.h"

/* Bools are integers 0 and 1 here. */
bool
bounds_is_number(const Expr *e)
{
    return e->lanes == 0 && (dtype_is_int(e->dtype) || e->dtype == DT_BOOL);
}

/* All that a value of 'dtype' can be; floats are not integers and have no
 * range. */
Range
bounds_dtype_range(DType dtype)
{
    if (dtype_is_float(dtype)) {
        return range_of(-WIDE_INF, WIDE_INF);
    }
    return range_of(dtype_min(dtype), (Wide)dtype_max(dtype));
}

/* A cast that could change the value (u64 to i64) hides the Var. */
Var *
bounds_atom_var(const Expr *atom)
{
    const Expr *inner = atom->op == E_CAST ? atom->args[0] : atom;
    if (inner->op != E_VAR || !bounds_is_number(inner) ||
        !range_inside(bounds_dtype_range(inner->dtype),
                      bounds_dtype_range(atom->dtype))) {
        return NULL;
    }
    return inner->var;
}

/* A Var of which nothing is known but its dtype. "seq" 0 and not "defined":
 * only what is shown by a definition counts as later or earlier. */
static VarInfo *
new_info(Bounds *b, const Var *var)
{
    VarInfo *info = ARENA_NEW(b->arena, VarInfo);
    info->var = var;
    info->range = bounds_dtype_range(var->dtype);
    return info;
}

/* Two Vars of one id can't be in one function; a slot that holds another
 * Var is stale, from a function whose ids were reused. */
VarInfo *
bounds_info(Bounds *b, const Var *var)
{
    if (var->id < 0) {
        return b->frozen.at[-1 - var->id];
    }
    while (b->vars.n <= var->id) {
        vec_push(b->arena, &b->vars, NULL);
    }
    VarInfo **slot = &b->vars.at[var->id];
    if (*slot == NULL || (*slot)->var != var) {
        *slot = new_info(b, var);
    }
    return *slot;
}

Expr *
bounds_definition(Bounds *b, Expr *e)
{
    Expr *value = e;
    while (value != NULL && value->op == E_VAR) {
        e = value;
        value = bounds_info(b, e->var)->value;
    }
    return value != NULL ? value : e;
}

/* Parameters count as defined before everything else (seq 0). */
Bounds *
bounds_new(Arena *arena, const Func *func)
{
    Bounds *b = ARENA_NEW(arena, Bounds);
    b->arena = arena;
    b->func = func;
    b->memos = map_new(arena);
    for (int i = 0; i < func->params.n; i++) {
        if (func->params.at[i].var != NULL) {
            bounds_info(b, func->params.at[i].var)->defined = true;
        }
    }
    return b;
}

/* The frame remembers how long each list was; nothing is copied. */
int
bounds_push(Bounds *b)
{
    Frame frame = {b->facts.n,   b->known.n, b->exact.n,
                   b->pending.n, b->saved.n, b->woken.n};
    vec_push(b->arena, &b->frames, frame);
    return b->frames.n - 1;
}

/* Everything learned since 'mark' is forgotten, but for definitions. Ranges
 * are restored newest first, so that the oldest saved one wins: a Var narrowed
 * three times in a scope is back at what it was before the first. */
void
bounds_pop(Bounds *b, int mark)
{
    Frame frame = b->frames.at[mark];
    bounds_forget(b);
    while (b->saved.n > frame.saved) {
        Saved *saved = &b->saved.at[--b->saved.n];
        saved->info->range = saved->range;
    }
    while (b->woken.n > frame.woken) {
        b->pending.at[b->woken.at[--b->woken.n]].done = false;
    }
    b->facts.n = frame.facts;
    b->known.n = frame.known;
    b->exact.n = frame.exact;
    b->pending.n = frame.pending;
    b->frames.n = mark;
}

/* --- loads --------------------------------------------------------------- */

/* A load becomes a fresh Var with the range of its dtype. Equal loads
 * become different Vars: they may be of different moments. */
static Expr *
freeze_node(void *data, Expr *e)
{
    Bounds *b = data;
    if (!ir_reads(e)) {
        return e;
    }
    Var *var = ARENA_NEW(b->arena, Var);
    var->name = sym("load");
    var->id = -1 - b->frozen.n;
    var->dtype = e->dtype;
    var->lanes = e->lanes;
    VarInfo *info = new_info(b, var);
    info->seq = ++b->seq;
    vec_push(b->arena, &b->frozen, info);
    return ir_ref(b->arena, var);
}

/* 'e' itself when it reads no memory. */
Expr *
bounds_freeze(Bounds *b, Expr *e)
{
    return ir_has_load(e) ? ir_map(b->arena, e, freeze_node, b) : e;
}

/* --- ranges -------------------------------------------------------------- */

static Range range_node(Bounds *b, Expr *e);

/* Interval arithmetic over the atoms: constant + sum of coef * [lo, hi]. Equal
 * atoms are merged in a form, so i - i is gone already; what is correlated
 * otherwise (x and x mod 4) is not seen, and the range is only wider for it.
 * Ends beyond WIDE_INF absorb. */
Range
bounds_form_range(Bounds *b, const Linear *form)
{
    Range sum = range_of(form->constant, form->constant);
    for (int i = 0; i < form->terms.n; i++) {
        const Term *term = &form->terms.at[i];
        Range coef = range_of(term->coef, term->coef);
        Range atom = range_node(b, term->atom);
        sum = range_add(sum, range_mul(atom, coef));
    }
    return sum;
}

/* The range of a sum or product from those of its operands, where the exact
 * one fits; a square is not negative.  Of a Var, what is known of itself. */
Range
bounds_node_range(Bounds *b, Expr *e)
{
    Range dtype = bounds_dtype_range(e->dtype);
    bool sum = e->op == E_ADD || e->op == E_SUB;
    if (e->op == E_VAR) {
        return bounds_info(b, e->var)->range;
    }
    if ((!sum && e->op != E_MUL) || b->fuel-- <= 0) {
        return dtype;
    }
    Range lhs = bounds_range(b, e->args[0]);
    Range rhs = bounds_range(b, e->args[1]);
    Range exact = e->op == E_ADD ? range_add(lhs, rhs)
                  : sum ? range_add(lhs, range_of(-rhs.hi, -rhs.lo))
                        : range_mul(lhs, rhs);
    if (e->op == E_MUL && ir_equal(e->args[0], e->args[1])) {
        exact.lo = wide_max(exact.lo, 0);
    }
    return range_inside(exact, dtype) ? exact : dtype;
}

/* The value of the IR expression, so never outside its dtype. The form may
 * know more than the node: add(sub(x, y), y) has the range of x; and the node
 * more than the form, in which factors are multiplied out. */
Range
bounds_range(Bounds *b, Expr *e)
{
    Range dtype = bounds_dtype_range(e->dtype);
    if (!bounds_is_number(e) || b->fuel <= 0) {
        return dtype;
    }
    const Memo *known = bounds_recall(b, e);
    if (known != NULL && known->has_range) {
        return known->range;
    }
    Linear form = bounds_form(b, e);
    Range range = range_meet(dtype, bounds_form_range(b, &form));
    range = range_meet(range, bounds_node_range(b, e));
    if (e->nargs > 0 && b->fuel > 0) {
        Memo *memo = bounds_memo(b, e);
        memo->has_range = true;
        memo->range = range;
    }
    return range;
}

/* What facts narrowed and what the definition says, both: a fact about the Var
 * itself narrows its range, one about what it was computed from narrows the
 * atoms of its form. */
static Range
range_var(Bounds *b, const Var *var)
{
    VarInfo *info = bounds_info(b, var);
    if (!info->has_form) {
        return info->range;
    }
    return range_meet(info->range, bounds_form_range(b, &info->form));
}

/* An argument's extent is below 2^31 (the dispatcher tests that), a fresh
 * buffer's is what it was made with. */
static Range
range_dim(Bounds *b, const Expr *e)
{
    Expr *dim = ir_extent(e->buf, e->axis);
    Range entry = range_of(0, INT32_MAX);
    if (dim == NULL || dim->op == E_DIM) {
        return entry;
    }
    return range_meet(range_of(0, INT64_MAX), bounds_range(b, dim));
}

/* Floor division; the divisor's range has no zero in it. x / d is monotonic in
 * x for a fixed d and, on one side of zero, in d for a fixed x, so the ends
 * are among the four corners. INT64_MIN / -1 comes out as 2^63, which fits no
 * i64 and makes the caller fall back on the dtype. */
static Range
range_idiv(Range lhs, Range rhs)
{
    Wide a = wide_floor_div(lhs.lo, rhs.lo);
    Wide b = wide_floor_div(lhs.lo, rhs.hi);
    Wide c = wide_floor_div(lhs.hi, rhs.lo);
    Wide d = wide_floor_div(lhs.hi, rhs.hi);
    return range_of(wide_min(wide_min(a, b), wide_min(c, d)),
                    wide_max(wide_max(a, b), wide_max(c, d)));
}

/* 0 <= x mod d < d for d > 0; x >= 0 is not exceeded either. Other signs
 * are not looked into. */
static Range
range_mod(Range lhs, Range rhs)
{
    if (rhs.lo <= 0) {
        return range_of(-WIDE_INF, WIDE_INF);
    }
    Wide most = lhs.lo >= 0 ? wide_min(rhs.hi - 1, lhs.hi) : rhs.hi - 1;
    return range_of(0, most);
}

/* The least 2^k - 1 that is not below 'value' >= 0: all bits that a number up
 * to 'value' can have. */
static Wide
fill_bits(Wide value)
{
    Wide bits = 0;
    while (bits < value) {
        bits = 2 * bits + 1;
    }
    return bits;
}

/* x & y is between 0 and either operand that is not negative: it has no bit
 * that such an operand lacks, the sign bit among them. x | y and x ^ y of such
 * operands set no bit above the highest of both. Nothing is said of two
 * negative ones. */
static Range
range_bits(Op op, Range lhs, Range rhs)
{
    if (op == E_AND && (lhs.lo >= 0 || rhs.lo >= 0)) {
        Wide hi = lhs.lo < 0 ? rhs.hi : rhs.lo < 0 ? lhs.hi
            : wide_min(lhs.hi, rhs.hi);
        return range_of(0, hi);
    }
    if (op != E_AND && lhs.lo >= 0 && rhs.lo >= 0) {
        return range_of(0, fill_bits(wide_max(lhs.hi, rhs.hi)));
    }
    return range_of(-WIDE_INF, WIDE_INF);
}

/* Shifts: a sign-preserving floor division or a product by a power of two.
 * Counts out of 0 .. 63 are for the IR to define; a product that leaves the
 * dtype has lost bits and is dropped by the caller. */
static Range
range_shift(Op op, Range lhs, Range rhs)
{
    if (rhs.lo < 0 || rhs.hi > 63) {
        return range_of(-WIDE_INF, WIDE_INF);
    }
    Range factor = range_of((Wide)1 << (int)rhs.lo, (Wide)1 << (int)rhs.hi);
    return op == E_SHL ? range_mul(lhs, factor) : range_idiv(lhs, factor);
}

/* x / d for a d that may be anything: not further from 0 than x; by 0 it is 0.
 */
static Range
range_quotient(Range lhs, Range rhs)
{
    Wide most = wide_max(wide_max(-lhs.lo, lhs.hi), 0);
    return range_of(lhs.lo >= 0 && rhs.lo >= 0 ? 0 : -most, most);
}

/* The exact result from the ranges of the operands, as if integers had no end;
 * unbounded where the operation has none worth telling. Whoever calls compares
 * it with the dtype: an exact result that does not fit has wrapped to
 * anything. */
static Range
range_binary(Op op, Range lhs, Range rhs)
{
    switch (op) {
    case E_MUL:
        return range_mul(lhs, rhs);
    case E_IDIV:
        return rhs.lo > 0 || rhs.hi < 0 ? range_idiv(lhs, rhs)
                                        : range_quotient(lhs, rhs);
    case E_MOD:
        return range_mod(lhs, rhs);
    case E_MIN:
        return range_of(wide_min(lhs.lo, rhs.lo), wide_min(lhs.hi, rhs.hi));
    case E_MAX:
        return range_of(wide_max(lhs.lo, rhs.lo), wide_max(lhs.hi, rhs.hi));
    case E_AND:
    case E_OR:
    case E_XOR:
        return range_bits(op, lhs, rhs);
    case E_SHL:
    case E_SHR:
        return range_shift(op, lhs, rhs);
    default:
        return range_of(-WIDE_INF, WIDE_INF);
    }
}

/* A CAST that is an atom: of a bool, of a float, of a Var or operation of a
 * narrower dtype, or of one dtype to itself (an operation that may wrap).
 *
 * The operand's own range counts only if range_node says the truth about it:
 * sums and products here stand for their exact value there, so an operand that
 * wraps has the range of its dtype. A cast whose operand need not fit has the
 * range of the new dtype. */
static Range
range_cast(Bounds *b, Expr *e)
{
    Expr *arg = e->args[0];
    Range dtype = bounds_dtype_range(e->dtype);
    Range whole;
    if (!bounds_is_number(arg)) {
        bool known = e->dtype != DT_BOOL && floats_to_int(b, arg, &whole);
        whole = known && range_inside(whole, dtype) ? whole : dtype;
        bool share = arg->dtype == DT_F64 && e->dtype == DT_I64;
        return share ? range_meet(whole, share_range(b, arg)) : whole;
    }
    Range from = bounds_dtype_range(arg->dtype);
    bool wraps = arg->op == E_ADD || arg->op == E_SUB || arg->op == E_MUL ||
                 arg->op == E_NEG ||
                 (arg->op == E_CAST && bounds_is_number(arg->args[0]));
    if (!wraps) {
        from = range_meet(from, range_node(b, arg));
    }
    return range_inside(from, dtype) ? from : dtype;
}

/* |x| for lo <= x <= hi: the greater of both ends' sizes, and 0 if the range
 * holds it. |INT64_MIN| is 2^63, which the caller sees does not fit. */
static Range
range_abs(Range arg)
{
    Wide most = wide_max(-arg.lo, arg.hi);
    Wide least = arg.lo > 0 ? arg.lo : arg.hi < 0 ? -arg.hi : 0;
    return range_of(least, most);
}

/* The range of an atom, or of a node that is taken as one. A SELECT is in the
 * hull of its arms, whatever its condition; all other operators are unbounded,
 * which the caller cuts to the dtype. */
static Range
range_special(Bounds *b, Expr *e)
{
    switch (e->op) {
    case E_CONST:
        return e->dtype == DT_U64
            ? range_of((uint64_t)e->ival, (uint64_t)e->ival)
            : range_of(e->ival, e->ival);
    case E_VAR:
        return range_var(b, e->var);
    case E_DIM:
        return range_dim(b, e);
    case E_CAST:
        return range_cast(b, e);
    case E_ABS:
        return range_abs(bounds_range(b, e->args[0]));
    case E_CALL:
        return share_power(b, e);
    case E_SELECT:
        return range_join(bounds_range(b, e->args[1]),
                          bounds_range(b, e->args[2]));
    default:
        return range_of(-WIDE_INF, WIDE_INF);
    }
}

/* Is 'op' an integer operation of two operands with a range of its own? */
static bool
has_binary_range(Op op)
{
    return op == E_MUL || op == E_IDIV || op == E_MOD || op == E_MIN ||
           op == E_MAX || op == E_AND || op == E_OR || op == E_XOR ||
           op == E_SHL || op == E_SHR;
}

/* The range of a node with what is left of the fuel.
 *
 * An E_MUL here is an exact product (see linear.c) and may exceed its dtype;
 * any other node whose exact result does not fit has wrapped and can be all
 * that its dtype holds. */
static Range
range_operation(Bounds *b, Expr *e)
{
    Range dtype = bounds_dtype_range(e->dtype);
    Range exact;
    if (e->op == E_MUL) {
        return range_mul(range_node(b, e->args[0]), range_node(b, e->args[1]));
    }
    if (has_binary_range(e->op)) {
        exact = range_binary(e->op, bounds_range(b, e->args[0]),
                             bounds_range(b, e->args[1]));
    } else {
        exact = range_special(b, e);
    }
    return range_inside(exact, dtype) ? exact : dtype;
}

/* The range of one node, taken as an atom.  Without fuel the answer is the
 * widest: for a product that is unbounded, not its dtype. */
static Range
range_node(Bounds *b, Expr *e)
{
    if (!bounds_is_number(e) || b->fuel-- <= 0) {
        return e->op == E_MUL ? range_of(-WIDE_INF, WIDE_INF)
                              : bounds_dtype_range(e->dtype);
    }
    const Memo *known = bounds_recall(b, e);
    if (known != NULL && known->has_atom) {
        return known->atom;
    }
    Range range = range_operation(b, e);
    if (e->nargs > 0 && b->fuel > 0) {
        Memo *memo = bounds_memo(b, e);
        memo->has_atom = true;
        memo->atom = range;
    }
    return range;
}
