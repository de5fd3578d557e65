/* The verifier's rules for expressions; see verify.c for the whole.
 *
 * The dtype and lanes of a node follow from its operator and operands, so they
 * are worked out once more and compared.  A node is judged only after its
 * operands, and the first error ends it all.
 *
 *   (add %i.1:i64 1.0)                operand-types: add of i64 and f64
 *   (splat 0 1.0)                     splat-lanes: splat to 0 lanes
 *   &img.0[1.5, 2]                    scalar-type: an index is f64 x0 ...
 */
#include <string.h>

#include "csrc/ir/verify.h"

/* Which dtypes an operator takes: b bool, i integers, f floats. The default is
 * the rest of node.def: IDIV, MOD, MIN, MAX, INV, shifts and the overflow
 * predicates.  MIN of floats is missing on purpose: NumPy and Python disagree
 * about nan and -0.0, so lowering writes comparisons. */
static const char *
operands_of(Op op)
{
    switch ((int)op) {
    case E_ADD:
    case E_SUB:
    case E_MUL:
    case E_NEG:
    case E_ABS:
        return "if";
    case E_DIV:
    case E_PLUS:
        return "f";
    case E_AND:
    case E_OR:
    case E_XOR:
        return "bi";
    case E_NOT:
        return "b";
    case E_EQ:
    case E_NE:
    case E_LT:
    case E_LE:
        return "bif";
    default:
        return "i";
    }
}

/* The letter of operands_of for 'dt'. */
static char
dtype_class(DType dt)
{
    return dt == DT_BOOL ? 'b' : dtype_is_float(dt) ? 'f' : 'i';
}

/* 'e' has type 'dtype' and no lanes; 'what' names it in the message.  A missing
 * 'e' is left to verify_expr, which has said so. */
void
verify_is_scalar(Verify *v, const Expr *e, DType dtype, const char *what)
{
    if (e && (e->dtype != dtype || e->lanes)) {
        verify_broken(v, "scalar-type", "%s is %s x%d instead of a scalar %s",
                      what, dtype_short(e->dtype), e->lanes,
                      dtype_short(dtype));
    }
}

/* The operands' lanes are equal or 0, and the result has the larger. A scalar
 * operand is broadcast, so any number of them fits. */
static void
verify_lanes(Verify *v, const Expr *e)
{
    int lanes = 0;
    for (int i = 0; i < e->nargs; i++) {
        int n = e->args[i]->lanes;
        if (lanes && n && n != lanes) {
            verify_broken(v, "lanes-fit", "%s of %d and %d lanes",
                          ir_op_name(e->op), lanes, n);
        }
        lanes = n ? n : lanes;
    }
    if (e->lanes != lanes) {
        verify_broken(v, "lanes-result", "%s gives %d lanes from %d",
                      ir_op_name(e->op), e->lanes, lanes);
    }
}

/* 'U', 'B', 'C' and 'P' nodes. Their arity is right by now. */
static void
verify_operator(Verify *v, const Expr *e)
{
    char kind = ir_op_kind(e->op);
    DType dtype = e->args[0]->dtype;
    if (!strchr(operands_of(e->op), dtype_class(dtype))) {
        verify_broken(v, "operand-class", "%s of %s", ir_op_name(e->op),
                      dtype_short(dtype));
    }
    if (e->nargs == 2 && e->args[1]->dtype != dtype) {
        verify_broken(v, "operand-types", "%s of %s and %s", ir_op_name(e->op),
                      dtype_short(dtype), dtype_short(e->args[1]->dtype));
    }
    if (e->dtype != (kind == 'C' || kind == 'P' ? DT_BOOL : dtype)) {
        verify_broken(v, "result-type", "%s gives %s", ir_op_name(e->op),
                      dtype_short(e->dtype));
    }
    verify_lanes(v, e);
}

/* The condition's lanes count as the values' do. So a vector condition may
 * choose between two scalars, lane by lane. */
static void
verify_select(Verify *v, const Expr *e)
{
    if (e->args[0]->dtype != DT_BOOL) {
        verify_broken(v, "select-condition", "select on %s",
                      dtype_short(e->args[0]->dtype));
    }
    if (e->args[1]->dtype != e->args[2]->dtype ||
        e->dtype != e->args[1]->dtype) {
        verify_broken(v, "select-types", "select of %s and %s",
                      dtype_short(e->args[1]->dtype),
                      dtype_short(e->args[2]->dtype));
    }
    verify_lanes(v, e);
}

/* A vector of a buffer is its whole last axis, of constant extent. 'index' is
 * already judged as expressions; here their number and type are. That they are
 * within the axes no verifier can see. */
void
verify_access(Verify *v, const Buf *buf, Expr *const *index, int n, int lanes)
{
    verify_use_buf(v, buf);
    if (v->error) {
        return;
    }
    int64_t last = -1;
    if (n != buf->rank - (lanes > 0)) {
        verify_broken(v, "index-count", "%d indices for rank %d and %d lanes",
                      n, buf->rank, lanes);
    } else if (lanes && (!ir_const_int(buf->dims[buf->rank - 1], &last) ||
                         last != lanes)) {
        verify_broken(v, "vector-axis", "%d lanes of an axis that is not %d",
                      lanes, lanes);
    }
    for (int i = 0; i < n; i++) {
        verify_is_scalar(v, index[i], DT_I64, "an index");
    }
}

/* What fn.def says of arguments and result. The default is the rest: functions
 * of float64 alone, of libm or ports. */
static bool
call_fits(Fn fn, DType result, DType arg)
{
    if (ir_fn_origin(fn) == 'N' || ir_fn_origin(fn) == 'A') {
        return dtype_is_float(arg) && result == arg;
    }
    switch ((int)fn) {
    case FN_SQRT:
    case FN_FLOOR:
    case FN_CEIL:
    case FN_TRUNC:
    case FN_RINT:
    case FN_COPYSIGN:
    case FN_FMA:
    case FN_NPMOD:
    case FN_NPFLOORDIV:
        return dtype_is_float(arg) && result == arg;
    case FN_FINITE:
    case FN_ISINF:
    case FN_ISNAN:
        return dtype_is_float(arg) && result == DT_BOOL;
    case FN_POWF:
        return arg == DT_F32 && result == DT_F32;
    case FN_IPOW:
    case FN_GCD:
        return arg == DT_I64 && result == DT_I64;
    case FN_IPOWO:
        return arg == DT_I64 && result == DT_BOOL;
    default:
        return arg == DT_F64 && result == DT_F64;
    }
}

/* All arguments have one dtype. Every one is compared with the result's dtype
 * as well, which by call_fits decides all. */
static void
verify_call(Verify *v, const Expr *e)
{
    if (e->nargs != ir_fn_arity(e->fn)) {
        verify_broken(v, "call-arity", "%s with %d arguments",
                      ir_fn_name(e->fn), e->nargs);
        return;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!call_fits(e->fn, e->dtype, e->args[i]->dtype)) {
            verify_broken(v, "call-types", "%s of %s giving %s",
                          ir_fn_name(e->fn), dtype_short(e->args[i]->dtype),
                          dtype_short(e->dtype));
        }
    }
    verify_lanes(v, e);
}

/* ELEM, INSERT and SPLAT. That an index of ELEM is a lane is the caller's word,
 * as for arrays. */
static void
verify_vector_op(Verify *v, const Expr *e)
{
    const Expr *arg = e->args[0];
    bool splat = e->op == E_SPLAT;
    if ((arg->lanes == 0) != splat) {
        verify_broken(v, "vector-operand", "%s of %d lanes", ir_op_name(e->op),
                      arg->lanes);
    }
    if (splat && (e->lanes < 1 || e->lanes > MAX_LANES)) {
        verify_broken(v, "splat-lanes", "splat to %d lanes", e->lanes);
    }
    if (!splat) {
        verify_is_scalar(v, e->args[1], DT_I64, "an index of lanes");
    }
    if (e->op == E_INSERT) {
        verify_is_scalar(v, e->args[2], arg->dtype, "what is inserted");
    }
}

/* SET variables are visible everywhere at L_ARRAY; elsewhere there are none.
 * The reference's own dtype and lanes are a copy of the Var's, made when it was
 * built; a pass that changes a Var in place would be found here. */
static void
verify_ref(Verify *v, const Expr *e)
{
    const Var *var = e->var;
    if (e->dtype != var->dtype || e->lanes != var->lanes) {
        verify_broken(v, "reference-type", "%%%s.%d is read as %s x%d",
                      var->name, var->id, dtype_short(e->dtype), e->lanes);
    } else if (!map_get(&v->visible, var) && !map_has(&v->sets, var)) {
        verify_broken(v, "dominance", "%%%s.%d is used where it is not defined",
                      var->name, var->id);
    }
}

/* Nodes that name a Var or Buf; constants are right by construction. DIM names
 * an axis of the buffer, in scope like an access. */
static void
verify_leaf(Verify *v, const Expr *e)
{
    switch ((int)e->op) {
    case E_VAR:
        verify_ref(v, e);
        break;
    case E_DIM:
    case E_STRIDE:
        verify_use_buf(v, e->buf);
        if (!v->error && (e->axis < 0 || e->axis >= e->buf->rank)) {
            verify_broken(v, "dim-axis", "axis %d of rank %d", e->axis,
                          e->buf->rank);
        }
        if (!v->error && e->buf->growable) {
            verify_broken(v, "dim-growable", "&%s.%d has no extent",
                          e->buf->name, e->buf->id);
        }
        break;
    case E_DISJOINT:
        verify_use_buf(v, e->buf);
        verify_use_buf(v, e->buf2);
        if (!v->error &&
            (e->buf->kind == BUF_REF || e->buf2->kind == BUF_REF)) {
            verify_broken(v, "disjoint-name", "only whole arrays are compared");
        }
        break;
    default:
        break;
    }
}

/* SUM: the first element, then (axis, extent, step) for each axis. */
static void
verify_sum(Verify *v, const Expr *e)
{
    verify_use_buf(v, e->buf);
    int rank = e->buf->rank;
    bool squares = e->axis == SUM_SQUARES;
    int n = e->nargs - squares;
    bool box = e->axis == SUM_BOX;
    bool dtype_ok = box ? e->dtype == e->buf->dtype : dtype_is_float(e->dtype);
    if (!dtype_ok || n < rank || (n - rank) % 3 != 0 ||
        (n - rank) / 3 > MAX_RANK) {
        verify_broken(v, "sum-operands", "%d operands for rank %d", e->nargs,
                      rank);
        return;
    }
    for (int i = 0; i < n; i++) {
        verify_is_scalar(v, e->args[i], DT_I64, "an operand of a sum");
        int64_t axis = 0;
        bool is_axis = i >= rank && (i - rank) % 3 == 0;
        if (is_axis && (!ir_const_int(e->args[i], &axis) || axis < 0 ||
                        axis >= rank)) {
            verify_broken(v, "sum-axis", "operand %d is no axis", i);
        }
    }
    if (squares) {
        verify_is_scalar(v, e->args[n], e->dtype, "the mean of a sum");
    }
}

/* Nodes with operands, all of which are well-formed. CAST is free to go from
 * any dtype to any. */
static void
verify_node(Verify *v, const Expr *e)
{
    switch ((int)e->op) {
    case E_LOAD:
        verify_access(v, e->buf, e->args, e->nargs, e->lanes);
        break;
    case E_SUM:
        verify_sum(v, e);
        break;
    case E_SELECT:
        verify_select(v, e);
        break;
    case E_CAST:
        verify_lanes(v, e);
        break;
    case E_CALL:
        verify_call(v, e);
        break;
    case E_ELEM:
    case E_INSERT:
    case E_SPLAT:
        verify_vector_op(v, e);
        break;
    default:
        verify_operator(v, e);
        break;
    }
}

/* Operands first: a node's rules may then trust them. */
void
verify_expr(Verify *v, const Expr *e)
{
    if (!e) {
        verify_broken(v, "operand-null", "an expression is missing");
        return;
    }
    for (int i = 0; i < e->nargs && !v->error; i++) {
        verify_expr(v, e->args[i]);
    }
    int arity = ir_op_arity(e->op);
    if (arity >= 0 && e->nargs != arity) {
        verify_broken(v, "arity", "%s of %d operands", ir_op_name(e->op),
                      e->nargs);
    }
    if (v->error) {
        return;
    }
    if (arity == 0) {
        verify_leaf(v, e);
    } else {
        verify_node(v, e);
    }
}

/* 'e' keeps every rule and is a scalar of 'dtype'. */
void
verify_scalar(Verify *v, const Expr *e, DType dtype, const char *what)
{
    verify_expr(v, e);
    verify_is_scalar(v, e, dtype, what);
}

/* 'e' can be the value of 'var'. The message is about 'var' where its type and
 * that of the value differ; a missing Var is reported by who defines it. */
void
verify_value(Verify *v, const Var *var, const Expr *e, const char *what)
{
    verify_expr(v, e);
    if (var && e && (e->dtype != var->dtype || e->lanes != var->lanes)) {
        verify_broken(v, "value-type", "%s of %%%s.%d is %s x%d, not %s x%d",
                      what, var->name, var->id, dtype_short(e->dtype), e->lanes,
                      dtype_short(var->dtype), var->lanes);
    }
}
