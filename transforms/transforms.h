#ifndef VZ_TRANSFORMS_TRANSFORMS_H
#define VZ_TRANSFORMS_TRANSFORMS_H
/* Passes over the IR, and the directives that some of them propose. */
#include "csrc/analysis/analysis.h"
#include "csrc/base/opts.h"
#include "csrc/ir/ir.h"

/* --- Directives: how a nest is to run --------------------------------------
 * Passes propose, the tuner or the user may replace the proposal, pass
 * 'schedule' tests legality once more and applies.  Text form, one a line:
 *
 *   parallel 3            loop 3 over threads
 *   vectorize 4           loop 4 by SIMD
 *   unroll 5              loop 5 written out
 *   flatten 4             loop 4 over small-vector pixels runs over elements
 *   lockstep 4            rounds of loop 4 go together through loops inside
 *                         from which each leaves in its own time
 *   regions 3 1 1         loop 3 split at lo+1 and hi-1: the middle is the
 *                         interior, where conditions are decided
 */
typedef enum DirKind {
    DIR_PARALLEL,
    DIR_VECTORIZE,
    DIR_UNROLL,
    DIR_FLATTEN,
    DIR_LOCKSTEP,
    DIR_REGIONS,
} DirKind;

/* One wish for one loop.
 *   "kind"  what is to be done
 *   "loop"  Stmt.id
 *   "head"  REGIONS: rounds before the interior; else 0
 *   "tail"  REGIONS: rounds after it; else 0 */
typedef struct Directive {
    DirKind kind;
    int loop;     /* Stmt.id */
    int64_t head; /* REGIONS: rounds before the interior */
    int64_t tail; /* REGIONS: rounds after it */
} Directive;

typedef struct Sched {
    VEC(Directive) list;
} Sched;

const char *sched_word(DirKind kind);
void sched_print(const Sched *sched, Str *out);
/* False and 'bad' set to the first line that can't be read. */
bool sched_read(Arena *arena, const char *text, Sched *out, const char **bad);
/* Is there a directive of 'kind' for 'loop'?  '*out' (may be NULL) gets it. */
bool sched_has(const Sched *sched, DirKind kind, int loop, Directive *out);
/* Adds a directive unless the loop has one of that kind. */
void sched_add(Arena *arena, Sched *sched, DirKind kind, int loop, int64_t head,
               int64_t tail);

/* What a pass works with.
 *   "arena"    lives as long as the function
 *   "scratch"  is reset after the pass
 *   "diags"    remarks
 *   "opts"     switches and limits
 *   "sched"    directives proposed so far
 *   "hard"     checks are put to the solver as well */
typedef struct Pass {
    Arena *arena;
    Arena *scratch;
    Diags *diags;
    const Opts *opts;
    Sched *sched;
    bool hard;
} Pass;

/* One row of passes.def.
 *   "letter"   for dumps
 *   "name"     as in pass_NAME
 *   "from" "to"  the level that it needs, and that it leaves
 *   "mode"     'F' fast kernels only, 'G' general ones, '*' both, 'A' both
 *              where opts->approx is not 0
 *   "purpose"  in one line
 *   "run"      returns the new function */
typedef struct PassInfo {
    char letter;
    const char *name;
    Level from;
    Level to;
    char mode;
    const char *purpose;
    Func *(*run)(Pass *pass, Func *func);
} PassInfo;

extern const PassInfo pass_table[];
extern const int pass_count;

/* Does the pass take part, by its mode, its level and its switch? */
bool pass_applies(const PassInfo *info, const Pass *pass, const Func *func);

/* Runs the table on 'func', verifying after each pass when opts->verify and
 * appending dumps to 'dump' (only where the text changed). */
Func *pass_run_all(Pass *pass, Func *func, Str *dump);

/* The same simplifications as pass 'simplify', for use by other passes after
 * they have moved code. */
Func *simplify(Pass *pass, Func *func);

/* names.c: which buffers share memory, and which names stand for packed arrays
 * only, as the code says now. */
void names_refine(Func *func);

/* --- Parts of pass 'schedule', also used by passes that propose ----------- */

/* regions.c: from where REGIONS counts head and tail of 'loop'; NULL: from its
 * own lo and hi.  A strip of a larger loop counts from the ends that its
 * conditions name. */
void regions_origin(Pass *pass, Bounds *b, const Stmt *loop, Expr **lo,
                    Expr **hi);
/* split.c: 'func' with the REGIONS of 'sched' applied and the conditions of
 * interiors decided. */
Func *split_regions(Pass *pass, Func *func, const Sched *sched);
/* A loop over blocks of 'size' rounds around 'loop', which runs to its end and
 * binds nothing: the inner loop keeps the id, the outer one is the last
 * statement, and carries what 'loop' does. */
Block split_strips(Func *func, const Stmt *loop, int64_t size);
/* 'func', in place, with other statements instead of some loops: 'instead' is
 * Var * that a loop counts -> Block *. */
void split_replace(Func *func, const Map *instead);

/* flatten.c: can 'loop' over small-vector pixels run over their elements?
 * NULL, or in words why not. */
const char *flatten_why_not(Arena *arena, const Func *func, Bounds *b,
                            const Stmt *loop);
/* The statements that do so, instead of 'loop'. */
Block flatten_loop(Func *func, Bounds *b, const Stmt *loop);
/* Do so many elements fill a register?  Then the C compiler makes a vector of
 * them. */
bool flatten_fills(DType dtype, int64_t lanes);
/* Does 'store' store a pixel that is as wide as a register of common machines?
 */
bool flatten_is_wide(const Stmt *store);

/* vectorize.c: is there a form of the function for SIMD lanes? */
bool fn_has_lanes(Fn fn);
/* Is it a check of floats that guards no index but one computed from them? */
bool is_float_check(const Stmt *s);
/* Of 'e', but not its operands: may it be computed where nobody asks for it? */
bool select_is_free(const Expr *e, bool deaf);
/* 'block' with branches that only compute made selects; 'deaf': nobody listens
 * to the floating-point flags that they may set then. */
Block select_form(Arena *arena, const Block *block, bool deaf);
/* A copy of 'loop' in which branches that only compute have become selects;
 * then, for that, as above. */
Stmt *vector_form(Arena *arena, const Stmt *loop);
bool vector_allowed(Arena *arena, const Func *func, Bounds *b,
                    const Stmt *loop, DependWhy *why);
/* The form of 'loop' in which it may run in lanes, with Vars of 'func'; NULL:
 * 'why' says why not. */
Stmt *vector_body(Arena *arena, Func *func, Bounds *b, const Stmt *loop,
                  DependWhy *why);

/* masks.c: 'loop' with branches that store made stores with conditions, or
 * NULL. */
Stmt *mask_form(Arena *arena, Func *func, Bounds *b, const Stmt *loop);

/* lockstep.c: has 'loop' loops inside that its rounds could go through side by
 * side?  If it has: NULL, or in words why they may not; the statements that do
 * so. */
bool lockstep_fits(const Stmt *loop);
const char *lockstep_why_not(Arena *arena, const Func *func, Bounds *b,
                             const Stmt *loop);
Block lockstep_loop(Func *func, Bounds *b, const Stmt *loop);

/* abreast.c: the same for loops inside that have as many rounds for all rounds
 * of 'loop', and carry.  The statements that do so; none, and '*why' set in
 * words, if they may not. */
bool abreast_fits(const Stmt *loop);
Block abreast_loop(Func *func, Bounds *b, const Stmt *loop, const char **why);

/* invariant.c: a copy of 'check', which is the same in all rounds of 'loop', to
 * stand before it: a loop without rounds doesn't make it. */
Stmt *check_before(Arena *a, const Stmt *check, const Stmt *loop);

/* commit.c: a copy of 'block' in which the stores are "logged" that must be
 * undone if what follows them ends the call. */
Block commit_mark(Arena *arena, const Block *block);

/* gather.c: is all that 'loop' carries gathered, so that blocks of its rounds
 * may gather for themselves? */
bool gathers_only(Arena *arena, const Stmt *loop);
/* depend_independent, of a loop that may gather as well. */
bool rounds_independent(Arena *arena, const Func *func, Bounds *b,
                        const Stmt *loop, DependWhy *why);
/* What takes the place of 'loop', which carries: '*blocks', a loop over blocks
 * of its rounds with 'loop' in it, and what puts together what they found. */
Block gather_blocks(Func *func, const Stmt *loop, Stmt **blocks);

/* --- prototypes of the passes; each file opens with before -> after ------- */
#define PASS(letter, name, from, to, mode, purpose) \
    Func *pass_##name(Pass *pass, Func *func);
#include "transforms/passes.def"
#undef PASS
#endif
