#ifndef VZ_TYPEINFER_STATE_H
#define VZ_TYPEINFER_STATE_H
/* What the files of inference share.
 *
 * Inference is an abstract run of the program.  Env says which version each
 * local name has at this point; statements are copied to a typed block as
 * they are met.  Where paths meet, names whose versions differ get a new one,
 * and every path ends in CONVERTs to it (Exit.converts).
 */
#include <setjmp.h>

#include "csrc/base/map.h"
#include "typeinfer/infer.h"
#include "typeinfer/rules.h"

/* Two types that could not be joined; reported if the name is ever read.
 * "pin" is the origin of an argument whose value would decide the branch. */
typedef struct Conflict {
    const Type *lhs;
    const Type *rhs;
    Loc lhs_loc;
    Loc rhs_loc;
    int pin;
    const AExpr *loop; /* key of a loop or branch that may help if it is
                          written out; else NULL */
} Conflict;

/* A Version as inference sees it.  Its type is TY_POISON with a conflict.
 * "branch" is the key of one (split.c) that may have made it two things. */
typedef struct Ver {
    Version base;
    const Conflict *conflict;
    const AExpr *branch;
} Ver;

/* Versions by number of the name, NULL: unbound.  "dead": control never gets
 * here. */
typedef struct Env {
    Ver **at;
    bool dead;
} Env;

/* A way to a join: what it brings, and where its conversions go. */
typedef struct Exit {
    Env env;
    ABlock *converts;
} Exit;

typedef VEC(Exit) ExitVec;

/* An array that the program makes or is given.
 *
 * Arrays in registers have no address, so two names for one of them are
 * harmless only while nobody changes it in place.  "aliased" and "mutated"
 * are gathered over the whole program, without regard to order; an object
 * with both must live in memory ("site" is then put on Infer.demoted).
 * Objects that meet in a join are united ("up") if they are in registers; in
 * memory the join is an object of its own ("ref"), whose sources are on
 * Infer.sources.  A parameter's object has
 * the argument's as "lender": it is another name only if it is changed or
 * handed back. */
typedef struct ListSite ListSite;

typedef struct Object {
    Sym site; /* place of np.zeros(...) and the like; NULL: arithmetic */
    Loc loc;
    int up;
    int lender;
    int scope;
    int arg; /* of the signature; -1: made here */
    bool memory;
    bool aliased;
    bool mutated;
    const Type *grown; /* a list of known length that is changed (grow.c) */
    int run;    /* of the function whose list it is */
    int busy;   /* loops that go through it now */
    bool ref;
    bool from_arg;  /* ref: may be an argument */
    int pin; /* ref: origin of an argument that decides which it is; or 0 */
    Layout order; /* made so; LAYOUT_ANY: as its model is */
    Loc mutated_loc;
    ListSite *list; /* of a list of run-time length */
    int turn;       /* the loop in which it is made */
    int holder;     /* the list that it comes out of; or 0 */
} Object;

/* An array is changed in place, or (in "list") put into a list: see listitem.c.
 * "turn" is the innermost loop around that, "time" orders the events. */
typedef struct ArrayEvent {
    int object;
    int list;
    int turn;
    int time;
    bool view;
    bool all; /* with all other items of another list */
    Loc loc;
} ArrayEvent;

/* Blocks of the typed tree, to see whether a buffer made in one can still be
 * named in another.  A merged block's statements are in its parent. */
typedef struct BlockScope {
    int up;
    bool merged;
} BlockScope;

/* The array "ref" may be the array "source". */
typedef struct RefSource {
    int ref;
    int source;
} RefSource;

/* A loop that is being run, innermost first.  'break' and 'continue' of one
 * that is written out leave the scopes "leave" and "skip"; "inner": break is
 * the next one's.  "key" tells which loop to write out if its types demand it;
 * NULL: it can't be. */
typedef struct LoopFrame {
    struct LoopFrame *outer;
    AStmt *leave;
    AStmt *skip;
    bool inner;
    const AExpr *key;
    ExitVec breaks;
    ExitVec continues;
} LoopFrame;

typedef struct Live Live;

/* What a nested function was defined with: the run of the function around it,
 * and its defaults, held, of the parameters "keys". */
typedef struct Closure {
    int run;
    int scope; /* the block in which the defaults were held */
    Sym const *keys;
    AExprVec defaults;
} Closure;

/* A dict (dict.c): known keys and held values.  "scope" is the block that makes
 * it; "constant" dicts are everywhere.  One that "grows" (growdict.c) has held
 * lists instead; "site" is its place. */
typedef struct Record {
    VEC(const Type *) keys;
    AExprVec values;
    int scope;
    bool constant;
    bool grows;
    Sym site;
    AExpr *list_of_keys;
    AExpr *list_of_values;
} Record;

/* An attribute of an argument that may be assigned: a name of every function
 * that is run, and another that says whether it was. */
typedef struct Cell {
    int arg; /* of the signature; -1: of an object that is made */
    int made; /* then one more than its number */
    Sym attr;
    Sym name;
    Sym flag;
    int order; /* of its first assignment, from 1; 0: there is none */
} Cell;

/* One function being run.  "run" numbers the runs of a program; "outer" is that
 * in which a nested function was defined. */
typedef struct Frame {
    const AFunc *func;
    struct Frame *caller;
    struct Frame *outer;
    int run;
    Loc call;
    Map numbers; /* Sym -> number + 1 */
    int n;       /* names; the last one is the result */
    Env env;
    LoopFrame *loop;
    ExitVec returns;
    VEC(int) ends; /* origins of conditions under which a path ends */
    Live *live;
} Frame;

typedef struct Infer {
    Arena *arena;
    Unit *unit;
    Signature *sig;
    Frame *frame;
    VEC(Object) objects; /* number 0 is none */
    VEC(RefSource) sources;
    VEC(ArrayEvent) puts;
    VEC(ArrayEvent) changes;
    VEC(int) turns; /* loops by number: the loop around; number 0 is none */
    int turn;
    VEC(BlockScope) scopes;
    int scope;
    int next_version;
    VEC(Closure) closures;
    VEC(Record) records;
    int runs;
    int recursive; /* recursive calls so far */
    int nodes;
    Map demoted; /* sites whose arrays must live in memory */
    Map unroll;  /* keys of loops to write out; NULL: it was tried in vain */
    Map flats;   /* see views.c */
    Map nests;   /* key of a loop that inference made -> that inside of it */
    const AExpr *tail; /* of the next 'if' or block: the branch to be split
                          (split.c) if types conflict at its end */
    const AExpr *joining; /* the same for the join that is being made */
    int splits;
    Map lists;   /* sites of lists of run-time length -> ListSite */
    Map heaps;   /* of lists that are items of lists (listheap.c), by number */
    Map heap_objects; /* what they are in this beginning */
    bool lists_grew; /* what they hold was not all known before */
    int aside; /* calls that are not always evaluated, as "conditional" */
    VEC(int) taken; /* lists that others are copied into, at a join */
    VEC(const Type *) iterated; /* by loops that are running */
    Map lives;   /* AFunc -> Live */
    Version **hidden; /* arguments after the entry's own */
    VEC(Cell) cells;
    VEC(int) made; /* classes of objects that are made and assigned to */
    int nmade;     /* so far in this beginning */
    Ver *yes; /* flags of cells */
    Ver *no;
    int stored; /* cells that were assigned */
    Map stores; /* AFunc -> Map of attributes that it may assign */
    Map bound;   /* hidden names (build.c) -> Version */
    jmp_buf stop; /* refused, or to be begun again */
    bool again;
    jmp_buf *raise; /* to the statement, which surely raises */
    const char *raised; /* why, if it isn't an unbound name; and where */
    Loc raised_loc;
    int conditional; /* conditions under which what is typed is evaluated */
} Infer;

/* Ends inference with a refusal; 'help' may be NULL.  What always fails
 * (VZ-2014) ends the statement only: if it is ever reached, Python raises. */
_Noreturn void infer_refuse(Infer *I, DiagId id, Loc loc, const char *help,
                            const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Begins again. */
_Noreturn void infer_again(Infer *I);
/* Makes the axis or value with this origin part of the specialisation and
 * begins again; returns if that is impossible or already so. */
void infer_pin(Infer *I, int origin);
/* Also where the signature is to stay open. */
void infer_pin_anyhow(Infer *I, int origin);
/* Is the value or size with this origin below 'limit' in this call? */
bool origin_below(const Infer *I, int origin, int64_t limit);
int origin_of_size(int arg, int axis);
int origin_of_value(int arg);
int size_origin(int64_t size); /* of an entry of Type.size */
int64_t size_with_origin(int origin);

/* --- state.c --- */
/* Have float32 and float64 a type in common? */
bool floats_meet(const Infer *I);
/* The type that holds values of both, as far as approx= allows; NULL. */
const Type *join_types(Infer *I, const Type *lhs, const Type *rhs);
/* What a loop carries, 'type', as it is to be joined with 'rhs': the value that
 * the name has at its 'entry' is forgotten inside, but that 0.0 is a float32's
 * matters to a float32. */
const Type *carried_type(Infer *I, const Type *type, const Type *entry,
                         const Type *rhs);
Ver *ver_new(Infer *I, Sym name, const Type *type, Loc loc);
Env env_copy(Infer *I, const Env *env);
int name_number(const Frame *frame, Sym name);
/* Binds 'name' here to a new version. */
Ver *env_bind(Infer *I, Sym name, const Type *type, Loc loc);
/* What the name is where the 'exits' meet; CONVERTs are added to them. */
Ver *exits_join_name(Infer *I, const ExitVec *exits, int number, Sym name,
                     int pin);
/* The environment where the exits that are not dead meet. */
Env exits_join(Infer *I, const ExitVec *exits, int pin);
void add_exit(Infer *I, ExitVec *exits, Env env, ABlock *converts);
void add_convert(Infer *I, ABlock *out, Ver *to, Ver *from);
/* A statement for the conversions of an exit, pushed on 'out'. */
ABlock *add_converts(Infer *I, ABlock *out, Loc loc);
void settle_vectors(Infer *I, const Type *lhs, const Type *rhs);
_Noreturn void report_conflict(Infer *I, Sym name, const Ver *ver, Loc use);
int block_enter(Infer *I);
bool block_reaches(const Infer *I, int scope);

/* --- alias.c --- */
int object_new(Infer *I, Sym site, Loc loc, bool memory);
int object_root(const Infer *I, int object);
int object_unite(Infer *I, int lhs, int rhs);
/* 'type' as an array of the given object. */
const Type *type_of_object(Infer *I, const Type *type, int object);
/* 'joined', the join of the other two, as an array of the object that it is
 * then; item by item for tuples. */
const Type *join_objects(Infer *I, const Type *joined, const Type *lhs,
                         const Type *rhs);
/* 'type' as it can be named here, where a block in which it was made ends. */
const Type *carry_out(Infer *I, const Type *type);
/* The value of 'e' gets one more name. */
void alias_value(Infer *I, const AExpr *e);
void alias_mutate(Infer *I, const Type *type, Loc loc);
/* A loop begins (by 1) or ends (by -1) to go through the iterable. */
void alias_iterated(Infer *I, const AExpr *iter, int by);
/* The type of a parameter that is given 'type', and back. */
const Type *alias_lend(Infer *I, const Type *type, Loc loc);
const Type *alias_return(Infer *I, const Type *type);
/* The object's arrays go to memory and inference begins again; returns if a
 * place is not known. */
void demote_object(Infer *I, int object);
/* Begins again with more arrays in memory, or refuses. */
void alias_settle(Infer *I);
/* Refuses a memory array whose buffer can't be named here. */
void check_reach(Infer *I, const Type *type, Loc loc);

/* --- names.c --- */
/* Calls 'fn' for every name that a target, an expression (by ':=' and in
 * comprehensions) or the statements of a block bind, some more than once. */
typedef void (*NameFn)(void *data, Sym name);
void names_of_target(const AExpr *target, NameFn fn, void *data);
void names_of_expr(const AExpr *e, NameFn fn, void *data);
void names_of_block(const ABlock *block, NameFn fn, void *data);
/* All names that a loop may give a new version, with lists that it changes. */
Map names_of_loop(Infer *I, const AStmt *s);

/* --- live.c --- */
/* Which names may be read before they are written again, at the head of each
 * loop of 'func'. */
Live *live_make(Infer *I, const Frame *frame);
bool live_at_head(const Live *live, const AStmt *loop, int number);

/* --- elementwise.c --- */
/* Rank and sizes of 'n' operands broadcast together. */
void broadcast_sizes(Infer *I, const AExpr *e, const Type *const *ops, int n,
                     Type *out);
/* The fresh array of element-wise arithmetic: a vector if all operands are
 * ('in_memory': not even then). */
const Type *type_elementwise(Infer *I, const AExpr *e, DType dtype,
                             const Type *const *ops, int n, bool in_memory);
/* The size that an axis has in this call; -1: not known. */
int64_t actual_size(const Infer *I, int64_t size);
/* Could the strides have another order than C's? */
bool has_any_order(const Type *type);
/* The order in which NumPy makes what is computed from the operands: it sorts
 * the axes by the strides of all, and where those differ C wins; an axis that
 * an operand broadcasts has no stride. */
Layout layout_of_result(const Type *const *ops, int n, const Type *result);
/* Refuses `to[...] = from` for sizes that surely don't fit. */
void check_fits(Infer *I, const AExpr *e, const Type *from, const Type *to);
void demote_vector(Infer *I, const Type *type);

/* --- pointwise.c --- */
/* Refuses (VZ-2003) a call for the type of an argument. */
_Noreturn void refuse_type(Infer *I, const AExpr *call, BuiltinId id,
                           const Type *type);
const Type *type_of_ufunc(Infer *I, AExpr *call, BuiltinId id);

/* --- dtypes.c --- */
const Type *dtype_object(Infer *I, DType dtype);
const Type *dtype_attr(Infer *I, const Type *base, const char *name);
const Type *type_of_dtype_call(Infer *I, AExpr *call, BuiltinId id);

/* --- concat.c --- */
const Type *type_of_joined(Infer *I, AExpr *call, BuiltinId id);

/* --- gather.c --- */
bool is_gather(const Type *const *items, int n);
/* base[items], of which one is an array at least. */
const Type *type_of_gather(Infer *I, const AExpr *out, const Type *base,
                           const Type *const *items, int n);
const Type *type_of_nonzero(Infer *I, AExpr *call, BuiltinId id);

/* --- views.c --- */
/* Pins how many channels the pixel has of which 'out' names an element. */
void pin_channels(Infer *I, const AExpr *out);
const Type *type_of_view(Infer *I, AExpr *call, BuiltinId id);
const Type *type_of_reshape(Infer *I, AExpr *call, BuiltinId id);
const Type *type_of_transposed(Infer *I, const AExpr *e, const AExpr *array);
const Type *type_of_flat(Infer *I, const AExpr *e, const AExpr *array);
/* What is indexed, and what a loop goes through, may be `a.flat`; 'out' is 'e'
 * with what it is indexed by. */
AExpr *infer_indexed(Infer *I, const AExpr *e);
AExpr *infer_iterable(Infer *I, const AExpr *e);
void check_flat_index(Infer *I, const AExpr *e, const AExpr *out);

/* --- expr.c --- */
/* Ends the statement: it surely raises here. */
_Noreturn void read_unbound(Infer *I);
AExpr *node_like(Infer *I, const AExpr *e);
AExpr *infer_expr(Infer *I, const AExpr *e);
/* The same where what may be an array or None, or a vector or a number, is
 * allowed to be: where it is only given another name, handed over or compared
 * with None.  Elsewhere it must be the array, or the call is repeated in
 * Python ("settle_some"). */
AExpr *infer_maybe(Infer *I, const AExpr *e);
/* Of an operator, which sees to None itself, but for an EITHER. */
AExpr *infer_operand(Infer *I, const AExpr *e);
/* Can evaluating the typed 'e' be left out?  (No effect, no check.) */
bool is_simple(const AExpr *e);
/* An argument whose value decides the condition; 0: none is known. */
int cond_origin(const AExpr *e);

/* --- operator.c --- */
/* 'e', which may be None, where None would raise. */
AExpr *need_some(Infer *I, AExpr *e);
/* How to refuse an operation on 'type': one on None always fails. */
DiagId unsupported(const Type *type);
/* 'e' as a number; refuses other types. */
const Type *need_num(Infer *I, const AExpr *e, const char *what);
/* 'e' as an operand that is a number or an array. */
const Type *need_operand(Infer *I, const AExpr *e, AOp op);
/* As infer_expr, of what an attribute is wanted: a named tuple that is an
 * argument stays an object. */
AExpr *infer_object(Infer *I, const AExpr *e);
void settle_some(Infer *I, AExpr *e);
void settle_numbers(Infer *I, AOp op, AExpr *lhs, AExpr *rhs);
const Type *type_of_binop(Infer *I, const AExpr *e, AOp op, const AExpr *lhs,
                          const AExpr *rhs);
const Type *type_of_compare(Infer *I, const AExpr *e, AOp op, const AExpr *lhs,
                            const AExpr *rhs);
AExpr *infer_binop(Infer *I, const AExpr *e);
AExpr *infer_unary(Infer *I, const AExpr *e);
AExpr *infer_compare(Infer *I, const AExpr *e);

/* --- logic.c --- */
const Type *join_values(Infer *I, const AExpr *e, const AExpr *cond,
                        const AExpr *lhs, const AExpr *rhs);
/* As a condition: only the truth of 'e' matters. */
AExpr *infer_cond(Infer *I, const AExpr *e);
AExpr *infer_boolop(Infer *I, const AExpr *e);
AExpr *infer_ifexp(Infer *I, const AExpr *e);

/* --- isinstance.c --- */
const Type *type_of_isinstance(Infer *I, const AExpr *call);

/* --- complex.c --- */
/* NULL: it is no matter of complex numbers. */
const Type *complex_binop(Infer *I, const AExpr *e, AOp op, const Type *lhs,
                          const Type *rhs);
const Type *complex_unary(Infer *I, const AExpr *e, const Type *arg);
const Type *complex_attr(Infer *I, const Type *base, const char *name);
/* A float that is made of a complex number. */
const Type *complex_float(Infer *I, const Type *type);
/* a.real, a.imag of a complex array; NULL: not that. */
const Type *complex_part_type(Infer *I, const Type *base, const char *name);
const Type *type_of_complex(Infer *I, const AExpr *call);

/* --- pairs.c --- */
/* A library function of complex numbers; NULL: there are none among its
 * arguments, or it is typed as for others. */
const Type *type_of_pairs(Infer *I, AExpr *call, BuiltinId id);
/* `z.real` as a target of a complex array: z.real[...], untyped; NULL: it is
 * another attribute.  NumPy converts a value by itself before it stores it so:
 * only floats are let through ('type' NULL: it is changed in place). */
AExpr *part_target(Infer *I, const AExpr *target, const Type *type);
/* Refuses a call of a function of vizgen.library that was written for reals. */
void check_library(Infer *I, const AExpr *call, const AFunc *func);
/* Refuses to make real numbers of complex ones, which warns or raises. */
void check_keeps(Infer *I, const AExpr *e, DType from, DType to);
/* Refuses arrays of complex numbers that leave no axis for the parts. */
void check_axes(Infer *I, const AExpr *e, const Type *type);

/* --- slice.c --- */
/* lo:hi:step, any of them NULL. */
const Type *type_of_slice(Infer *I, const AExpr *e, AExpr *const *parts);
AExpr *infer_slice(Infer *I, const AExpr *e, const Type *base);

/* --- subscript.c --- */
AExpr *infer_subscript(Infer *I, const AExpr *e);
/* Refuses what is no integer, nor a float that may be one. */
void check_index(Infer *I, const AExpr *e, const Type *type, bool or_bool);
AExpr *infer_attr(Infer *I, const AExpr *e);
/* The type of element or part 'k' when 'type' is iterated. */
const Type *item_type(Infer *I, const Type *type, Loc loc);
const Type *uniform_item(Infer *I, const Type *type);

/* --- call.c --- */
AExpr *infer_call(Infer *I, const AExpr *e);
AExpr *infer_global(Infer *I, const AExpr *e);
_Noreturn void refuse_call(Infer *I, const AExpr *e, const char *name,
                           const char *why);

void infer_body(Infer *I, Frame *frame, AFunc *out);
void frame_init(Infer *I, Frame *frame, const AFunc *func);

/* --- builtin.c --- */
/* Each argument is a number, as float(x) takes them. */
void need_numbers(Infer *I, const AExpr *call);
const Type *type_of_builtin(Infer *I, AExpr *call, BuiltinId id);
DType need_dtype(Infer *I, const AExpr *e);
/* == and != where a dtype is on a side; NULL: not that case. */
const Type *type_of_dtype_equal(Infer *I, AOp op, const AExpr *lhs,
                                const AExpr *rhs);

/* --- make.c --- */
const Type *type_of_make(Infer *I, AExpr *call, BuiltinId id);
const Type *type_of_array(Infer *I, AExpr *call);
const Type *type_of_arange(Infer *I, AExpr *call);
const Type *type_of_item(Infer *I, AExpr *call);
const Type *type_of_fill(Infer *I, AExpr *call);
const Type *type_of_copy(Infer *I, AExpr *call, BuiltinId id);
/* The array that 'call' makes: small ones in registers unless their site is
 * demoted. 'order' is that of its axes in memory. */
const Type *type_new_array(Infer *I, const AExpr *call, const Type *type,
                           Layout order);

/* --- method.c --- */
AExpr *infer_library_method(Infer *I, const AExpr *e, const AExpr *self);
AExpr *infer_ufunc_method(Infer *I, const AExpr *e, const AExpr *self);
/* A library function: "items" of 'out' may hold the self of a method. */
AExpr *call_builtin(Infer *I, const AExpr *e, AExpr *out, BuiltinId id);
/* `a.sum(axis=f(a))`: f is called although its type says all, which is None or
 * a constant, and before it all that stands in front of it is evaluated. */
AExpr *hold_told(Infer *I, AExpr *call);

/* --- linalg.c --- */
const Type *type_of_linalg(Infer *I, AExpr *call, BuiltinId id);
AExpr *infer_matmul(Infer *I, const AExpr *e);
AExpr *array_of(Infer *I, AExpr *e);
AExpr *infer_power(Infer *I, const AExpr *e, AExpr *lhs, AExpr *rhs);

/* --- reduce.c --- */
const Type *type_of_reduce(Infer *I, AExpr *call, BuiltinId id);

/* --- dot.c --- */
const Type *type_of_dot(Infer *I, AExpr *call, BuiltinId id);

/* --- stmt.c --- */
void keep_effects(Infer *I, AExpr *e, ABlock *out);
void infer_block(Infer *I, const ABlock *block, ABlock *out);

/* --- target.c --- */
AExpr *infer_target(Infer *I, const AExpr *target, const AExpr *value,
                    const Type *type);
/* 'out' is what 'target' became when it was read: can it be assigned to? */
void check_target(Infer *I, const AExpr *target, const AExpr *out);
/* a[i] = value, where `a` may be a vector; a value of this type. */
void check_vector_target(Infer *I, const AExpr *target);
void check_store(Infer *I, const AExpr *target, const Type *value);

/* --- loop.c --- */
/* Refuses what can't be iterated. */
void check_iterable(Infer *I, const AExpr *e);
/* The type of all that 'iter' gives; refuses what has none. */
const Type *common_type(Infer *I, const AExpr *iter);
/* Versions of the 'assigned' names that all exits share get new ones. */
void rename_assigned(Infer *I, const Map *assigned, const ExitVec *exits,
                     Env *env);

#include "typeinfer/forms.h"
#include "typeinfer/record.h"
#endif
