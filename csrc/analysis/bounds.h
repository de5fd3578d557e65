#ifndef VZ_ANALYSIS_BOUNDS_H
#define VZ_ANALYSIS_BOUNDS_H
/* What bounds.c, forms.c, facts.c, floats.c, induct.c, steps.c, prove.c,
 * conditions.c, memo.c, share.c, smt.c, solver.c and weaken.c share; nobody
 * else includes it.
 *
 * Ranges are kept in 128 bits, so that every value of every integer dtype,
 * sums and products of two of them are exact.  WIDE_INF stands for "more than
 * any of these".
 */
#include "csrc/analysis/analysis.h"
#include "csrc/base/map.h"

typedef __int128 Wide;

#define WIDE_INF ((Wide)1 << 120)

/* lo <= value <= hi. */
typedef struct Range {
    Wide lo;
    Wide hi;
} Range;

/* lo <= value <= hi; or, if "nan", it is none.  floats.c */
typedef struct Reals {
    double lo;
    double hi;
    bool nan;
} Reals;

/* What is known of a Var for as long as it is in scope.
 *   "seq"     order of definition, inner after outer; 0: a parameter
 *   "form"    its exact value
 *   "lo" "hi" linear forms that it is not below, not above
 *   "range"   narrowed by facts while these hold
 *   "value"   the definition, loads replaced by frozen Vars */
typedef struct VarInfo {
    const Var *var;
    int seq;
    bool defined;
    bool has_form;
    bool has_lo;
    bool has_hi;
    Linear form;
    Linear lo;
    Linear hi;
    Range range;
    Expr *value;
} VarInfo;

/* A condition that is known to be true ("holds") or false. */
typedef struct Known {
    Expr *cond;
    bool holds;
} Known;

/* "lhs" == "lhs_holds" or "rhs" == "rhs_holds"; "done" once one of them was
 * refuted and the other assumed. */
typedef struct Pending {
    Known lhs;
    Known rhs;
    bool done;
} Pending;

/* A range that a fact narrowed, to be put back when the fact's scope ends.
 *   "info"    whose range it is
 *   "range"   what it was before */
typedef struct Saved {
    VarInfo *info;
    Range range;
} Saved;

/* What bounds_push remembers: how long each list of Bounds was. Popping cuts
 * the lists back to that, so a scope costs nothing until something is learned.
 *   "facts" "known" "exact" "pending"   lengths of what was learned
 *   "saved"                             ranges from here on are put back
 *   "woken"                             alternatives from here on are open
 * again */
typedef struct Frame {
    int facts;
    int known;
    int exact;
    int pending;
    int saved;
    int woken;
} Frame;

/* What is known of an expression: each of three answers, or not yet.
 *   "form"   of bounds_form
 *   "range"  of bounds_range
 *   "atom"   its range as an atom of a form */
typedef struct Memo {
    bool has_form;
    bool has_range;
    bool has_atom;
    Linear form;
    Range range;
    Range atom;
} Memo;

/* The state of the analysis; see the head of bounds.c for what is scoped and
 * what lasts. */
struct Bounds {
    Arena *arena;
    const Func *func;
    VEC(VarInfo *) vars;    /* by Var.id */
    VEC(VarInfo *) frozen;  /* by -1 - Var.id */
    VEC(Linear) facts;      /* each >= 0 */
    VEC(Known) known;
    VEC(Expr *) exact;      /* ADDO, SUBO, MULO known to be false */
    VEC(Pending) pending;
    VEC(Saved) saved;       /* ranges to restore */
    VEC(int) woken;         /* pendings to restore */
    VEC(Frame) frames;
    Map memos;              /* from Expr to Memo, in "memory" */
    Memo *memory;
    int seq;
    bool waking;            /* in bounds_wake, which does not nest */
    bool hard;              /* what is not proved is put to the solver */
    int fuel;               /* what is left of the effort of one query */
};

/* The effort of one query in visited nodes and proof steps; the longest chain
 * of eliminations; the facts that are kept at a time. They bound the time of a
 * query, never its truth: what runs out ends in "not proved", and is the same
 * in every run. */
enum { FUEL = 1000, MAX_DEPTH = 12, MAX_FACTS = 200 };

/* --- bounds.c */
VarInfo *bounds_info(Bounds *b, const Var *var);
/* What the Var 'e' is defined to be, as far as known; others as they are. */
Expr *bounds_definition(Bounds *b, Expr *e);
Range bounds_dtype_range(DType dtype);
Range bounds_range(Bounds *b, Expr *e);
Range bounds_node_range(Bounds *b, Expr *e); /* not through its form */
Range bounds_form_range(Bounds *b, const Linear *form);
/* 'e' as a form; falls back to an opaque atom. */
Linear bounds_form(Bounds *b, Expr *e);
void bounds_add_fact(Bounds *b, const Linear *form);
void bounds_assume_in(Bounds *b, Expr *cond, bool holds);
/* 'cond' is known, as a whole. */
void bounds_know(Bounds *b, Expr *cond, bool holds);
/* Assume the other side of every alternative of which one is refuted by now;
 * the caller's fuel is left as it is. */
void bounds_wake(Bounds *b);
/* A copy of 'e' in which every load is a Var that names the value loaded. */
Expr *bounds_freeze(Bounds *b, Expr *e);
bool bounds_is_number(const Expr *e); /* a scalar bool or integer */
/* The Var whose value 'atom' is, as it stands or cast; NULL: none. */
Var *bounds_atom_var(const Expr *atom);

/* --- memo.c */
/* What was found out of 'e'; NULL: nothing. */
const Memo *bounds_recall(const Bounds *b, const Expr *e);
/* The same to be written to at once: it is gone when more is asked. */
Memo *bounds_memo(Bounds *b, const Expr *e);
/* What was found out may hold no longer, or be less than could be. */
void bounds_forget(Bounds *b);

/* --- prove.c: as the public ones, but spend the caller's fuel */
bool prove_nonneg(Bounds *b, const Linear *form, int depth);
/* False: 'term', which stands beside 'rest', is no quotient to be taken out. */
bool prove_quotient(Bounds *b, const Linear *rest, const Term *term,
                    Linear *form);
/* --- conditions.c */
bool prove_cond(Bounds *b, Expr *cond, bool holds);
/* Is just this condition among those that are known? */
bool prove_known(const Bounds *b, const Expr *cond, bool holds);

/* mult * atom >= form (a lower bound) or <= form (an upper one), mult > 0. */
typedef struct Candidate {
    Linear form;
    int64_t mult;
} Candidate;

enum { MAX_CANDIDATES = 24 };

typedef struct Candidates {
    Candidate at[MAX_CANDIDATES];
    int n;
} Candidates;

/* Everything known of 'atom' from above ('upper') or below; its range. */
void prove_collect(Bounds *b, Expr *atom, bool upper, Candidates *list);
void prove_collect_range(Bounds *b, Expr *atom, bool upper,
                         Candidates *list);
/* How late the newest Var in 'e' was defined. */
int prove_rank(Bounds *b, const Expr *e);
/* The same condition with smaller numbers: g*F + c >= 0 is F + floor(c / g)
 * >= 0 for integer F. */
void prove_tighten(Bounds *b, Linear *form);
/* form - its term 'i'. */
Linear prove_without(Bounds *b, const Linear *form, int i);

/* --- smt.c: scripts that are unsatisfiable if 'form' >= 0, or if 'cond' is
 * true ('holds') or false, wherever all that is known holds */
const char *smt_form(Bounds *b, const Linear *form);
const char *smt_cond(Bounds *b, Expr *cond, bool holds);

/* --- solver.c: what the affine prover found is final ('proved', after
 * 'effort' steps), or put to the solver where that is wanted ('hard').  The
 * script is needed only if solver_wants says so. */
bool solver_wants(bool proved, bool hard);
bool solver_settle(Arena *arena, const char *script, bool proved, bool hard,
                   int effort);

/* --- floats.c */
/* Does a comparison of floats surely hold, or surely not? */
bool floats_prove(Bounds *b, const Expr *cond, bool holds);
/* The same of isnan, isinf, isfinite. */
bool floats_prove_class(Bounds *b, const Expr *call, bool holds);
/* A comparison of an i64, made f64, with a constant as one of integers; NULL:
 * 'cond' is none. */
Expr *floats_as_ints(Bounds *b, const Expr *cond);
/* The integers that 'e', a float, is cut to; false where that isn't known. */
bool floats_to_int(Bounds *b, Expr *e, Range *out);

/* --- share.c: where a float lies that is cast to an integer; a power of two */
Range share_range(Bounds *b, Expr *e);
Expr *share_of(Bounds *b, Expr *e, int *shift);
bool share_proves(Bounds *b, const Expr *cond);
Range share_power(Bounds *b, Expr *e);

/* --- induct.c */
void induct_carries(Bounds *b, const Stmt *loop);

/* --- ranges */
static inline Wide
wide_clip(Wide value)
{
    return value > WIDE_INF ? WIDE_INF : value < -WIDE_INF ? -WIDE_INF : value;
}

/* WIDE_INF and -WIDE_INF mean "unbounded" and so absorb what is added. */
static inline Wide
wide_add(Wide lhs, Wide rhs)
{
    if (lhs >= WIDE_INF || lhs <= -WIDE_INF) {
        return lhs;
    }
    return rhs >= WIDE_INF || rhs <= -WIDE_INF ? rhs : wide_clip(lhs + rhs);
}

static inline Wide
wide_mul(Wide lhs, Wide rhs)
{
    Wide out = 0;
    if (__builtin_mul_overflow(lhs, rhs, &out)) {
        return (lhs < 0) == (rhs < 0) ? WIDE_INF : -WIDE_INF;
    }
    return wide_clip(out);
}

static inline Wide
wide_min(Wide lhs, Wide rhs)
{
    return lhs < rhs ? lhs : rhs;
}

static inline Wide
wide_max(Wide lhs, Wide rhs)
{
    return lhs > rhs ? lhs : rhs;
}

static inline Wide
wide_floor_div(Wide lhs, Wide rhs)
{
    if (lhs >= WIDE_INF || lhs <= -WIDE_INF) {
        return rhs < 0 ? -lhs : lhs;
    }
    Wide quotient = lhs / rhs;
    bool inexact = quotient * rhs != lhs;
    return inexact && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

static inline Range
range_of(Wide lo, Wide hi)
{
    Range out = {lo, hi};
    return out;
}

static inline bool
range_inside(Range inner, Range outer)
{
    return inner.lo >= outer.lo && inner.hi <= outer.hi;
}

/* Both hold; an empty meet (unreachable code) leaves 'lhs'. */
static inline Range
range_meet(Range lhs, Range rhs)
{
    Range out = {wide_max(lhs.lo, rhs.lo), wide_min(lhs.hi, rhs.hi)};
    return out.lo <= out.hi ? out : lhs;
}

static inline Range
range_join(Range lhs, Range rhs)
{
    return range_of(wide_min(lhs.lo, rhs.lo), wide_max(lhs.hi, rhs.hi));
}

static inline Range
range_add(Range lhs, Range rhs)
{
    return range_of(wide_add(lhs.lo, rhs.lo), wide_add(lhs.hi, rhs.hi));
}

static inline Range
range_mul(Range lhs, Range rhs)
{
    Wide a = wide_mul(lhs.lo, rhs.lo);
    Wide b = wide_mul(lhs.lo, rhs.hi);
    Wide c = wide_mul(lhs.hi, rhs.lo);
    Wide d = wide_mul(lhs.hi, rhs.hi);
    return range_of(wide_min(wide_min(a, b), wide_min(c, d)),
                    wide_max(wide_max(a, b), wide_max(c, d)));
}
#endif
