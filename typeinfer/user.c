/* Calls of user functions, and functions as values.
 *
 * A call is an abstract run of the body with the types of this call: "callee"
 * is the typed body, "items" stay in the order in which Python evaluates them.
 *
 * Each call owns its typed body, so a helper may be called with ints here and
 * with small arrays there, and everything is inlined by csrc/lower.  Depth is
 * bounded by refusing recursion that known arguments don't end, size by the
 * number of typed nodes.
 *
 * Parameters of the callee are versions like any others.  What is known of an
 * argument -- its value, the axis that it is -- is known of the parameter, so
 * `scale(img, mode="mean")` is decided inside of `scale`.
 *
 * A nested function or lambda is a value of type FUNC that names its closure:
 * the run of the function in which it was defined, and what its defaults were.
 * Its free names are looked up in that run, which must not be over: what they
 * hold when it is called is what Python would find in the cells. */
#include <string.h>

#include "typeinfer/list.h"

/* Recursive calls that are inlined: in each other, and in one program. */
enum { MOST_DEPTH = 16, MOST_RECURSIVE = 200 };

/* --- frames --------------------------------------------------------------- */

/* Gives 'name' a number in the frame, once. */
static void
add_name(void *data, Sym name)
{
    Frame *frame = data;
    for (int i = 0; i < frame->func->nonlocals.n; i++) {
        if (frame->func->nonlocals.at[i] == name) {
            return;
        }
    }
    if (!map_has(&frame->numbers, name)) {
        frame->n++;
        map_set(&frame->numbers, name, (void *)(intptr_t)frame->n);
    }
}

/* A frame in which nothing is bound yet. All names that are assigned anywhere
 * are local, as in Python. The last name is the result, so that returns join
 * like any other name: `return 0` on one path and `return 1.5` on another make
 * a maybe-type. */
void
frame_init(Infer *I, Frame *frame, const AFunc *func)
{
    *frame = (Frame){.func = func, .caller = I->frame, .run = ++I->runs};
    frame->numbers = map_new(I->arena);
    for (int i = 0; i < func->params.n; i++) {
        add_name(frame, func->params.at[i].name);
    }
    if (func->varargs != NULL) {
        add_name(frame, func->varargs);
    }
    if (func->kwargs != NULL) {
        add_name(frame, func->kwargs);
    }
    names_of_block(&func->body, add_name, frame);
    cells_name(I, add_name, frame);
    add_name(frame, sym("<result>"));
    frame->env.at = ARENA_ARRAY(I->arena, Ver *, frame->n + 1);
    frame->live = live_make(I, frame);
}

/* Only the result lives on: refuses different lists that somebody else names,
 * too. */
static void
check_lists(Infer *I, const Frame *frame, Ver *result, int number)
{
    Env env = {.at = ARENA_ARRAY(I->arena, Ver *, frame->n + 1)};
    env.at[number] = result;
    if (!list_alone(I, &frame->returns, &env, number)) {
        list_refuse_shared(I, frame->func->name, result->base.loc);
    }
}

/* The result gets a version of its own: a return may stand in a loop, whose
 * versions can't be named outside. */
static Ver *
join_returns(Infer *I, Frame *frame, Sym result)
{
    int number = name_number(frame, result);
    I->taken.n = 0;
    Ver *ver = exits_join_name(I, &frame->returns, number, result, 0);
    check_lists(I, frame, ver, number);
    if (ver == NULL) { /* it never returns */
        return ver_new(I, result, type_kind(I->arena, TY_NONE),
                       frame->func->loc);
    }
    bool joined = false;
    for (int i = 0; i < frame->returns.n; i++) {
        joined |= frame->returns.at[i].env.at[number] != ver;
    }
    if (joined) {
        return ver;
    }
    Ver *own = ver_new(I, result, ver->base.type, ver->base.loc);
    for (int i = 0; i < frame->returns.n; i++) {
        add_convert(I, frame->returns.at[i].converts, own, ver);
    }
    return own;
}

/* Runs the body of 'frame', whose parameters are bound, into 'out'. Falling off
 * the end returns None. */
void
infer_body(Infer *I, Frame *frame, AFunc *out)
{
    Sym result = sym("<result>");
    infer_block(I, &frame->func->body, &out->body);
    if (!frame->env.dead) {
        env_bind(I, result, type_kind(I->arena, TY_NONE), frame->func->loc);
        ABlock *converts = add_converts(I, &out->body, frame->func->loc);
        add_exit(I, &frame->returns, frame->env, converts);
    }
    Ver *ver = join_returns(I, frame, result);
    out->returned = &ver->base;
    out->result = ver->base.type;
    if (ver->conflict != NULL) {
        const Conflict *c = ver->conflict;
        list_settle(I, c->lhs, c->rhs);
        for (int i = 0; i < frame->ends.n; i++) {
            infer_pin(I, frame->ends.at[i]);
        }
        settle_vectors(I, c->lhs, c->rhs);
        const char *lhs = type_text(I->arena, c->lhs);
        const char *rhs = type_text(I->arena, c->rhs);
        bool texts = strcmp(lhs, rhs) == 0; /* which differ in what they say */
        infer_refuse(I, DIAG_TYPE_CONFLICT, frame->func->loc,
                     texts ? "Return the same text on all paths, or a number "
                             "that stands for it."
                           : "Return the same kind of value on all paths.",
                     "`%s` returns %s (line %u) or %s (line %u)",
                     frame->func->name, lhs, (unsigned)c->lhs_loc.line, rhs,
                     (unsigned)c->rhs_loc.line);
    }
}

/* --- closures ------------------------------------------------------------- */

/* The function as a value: its closure is numbered from 1 in "ival" of the
 * type. Defaults are evaluated here and held. */
AExpr *
infer_lambda(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    Closure closure = {
        .run = I->frame->run, .keys = e->keys.at, .scope = I->scope};
    for (int i = 0; i < e->items.n; i++) {
        AExpr *value = infer_expr(I, e->items.at[i]);
        alias_value(I, value);
        vec_push(I->arena, &closure.defaults, hold_typed(I, value, &block));
    }
    vec_push(I->arena, &I->closures, closure);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->func = e->func;
    type->ival = I->closures.n;
    type->name = I->unit->funcs.at[e->func]->qualname;
    AExpr *out = node_like(I, e);
    out->type = type;
    return typed_seq(I, block, out);
}

/* The run in which the closure was made, if it is not over; else refuses. Its
 * names are looked up when the function is called, as Python reads cells then.
 */
static Frame *
frame_of_closure(Infer *I, const AExpr *e, const Closure *closure)
{
    bool here = closure->defaults.n == 0 || block_reaches(I, closure->scope);
    for (Frame *f = I->frame; here && f != NULL; f = f->caller) {
        if (f->run == closure->run) {
            return f;
        }
    }
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc,
                 "Define the function where it is called, and pass it what it "
                 "needs.",
                 "a nested function that outlives the call or block that "
                 "defined it is not translated");
}

/* What a name that is not the function's own means in those around it; NULL:
 * nothing yet. */
Ver *
free_name(Infer *I, Sym name)
{
    for (const Frame *f = I->frame->outer; f != NULL; f = f->outer) {
        int number = name_number(f, name);
        if (number >= 0) {
            return f->env.at[number];
        }
    }
    return NULL;
}

/* --- arguments ------------------------------------------------------------ */

/* A call of a function that is being run: calls are inlined, so that it must be
 * seen to end.  It is if known ints are among the arguments and no call is
 * left after a few. */
static void
check_recursion(Infer *I, const AExpr *e, const AFunc *func,
                AExpr *const *given)
{
    int depth = 0;
    for (const Frame *f = I->frame; f != NULL; f = f->caller) {
        depth += f->func == func;
    }
    if (depth == 0) {
        return;
    }
    bool known = false;
    for (int i = 0; i < func->params.n; i++) {
        const Type *type = given[i] ? given[i]->type : NULL;
        known |= type != NULL && type->kind == TY_NUM && type->known &&
                 !dtype_is_float(type->dtype);
    }
    if (known && depth <= MOST_DEPTH && ++I->recursive <= MOST_RECURSIVE) {
        return;
    }
    for (int i = 0; i < func->params.n; i++) {
        infer_pin(I, given[i] ? cond_origin(given[i]) : 0);
    }
    infer_refuse(I, DIAG_RECURSION, e->loc, NULL, "`%s` calls itself here",
                 func->name);
}

/* The number of the parameter that argument 'nth' of the call is for; -1: it is
 * one for '**'. By its name, unless the parameter is positional only; by its
 * place, unless it is keyword only. */
static int
parameter_of(Infer *I, const AExpr *e, const AFunc *func, int nth)
{
    Sym key = e->keys.at[nth];
    for (int i = 0; i < func->params.n; i++) {
        const AParam *param = &func->params.at[i];
        bool by_name =
            key != NULL && param->name == key && i >= func->npositional_only;
        bool by_place = key == NULL && i == nth && !param->keyword_only;
        if (by_name || by_place) {
            return i;
        }
    }
    if (key != NULL && func->kwargs != NULL) {
        return -1;
    }
    refuse_call(I, e, func->name, "does not fit its parameters");
}

/* The parameter that an argument by name gets which is for '**'. */
static Sym
keyword_name(Infer *I, Sym key)
{
    return sym(str_printf(I->arena, "**%s", key));
}

/* Parameters that take an argument by its place. */
static int
count_places(const AFunc *func)
{
    int n = 0;
    while (n < func->params.n && !func->params.at[n].keyword_only) {
        n++;
    }
    return n;
}

/* The arguments of a call: "at" is that of each parameter, NULL: not given;
 * "rest" the tuple for '*args'; "names" and "named" what is left for '**'. */
typedef struct Given {
    AExpr **at;
    AExpr *rest;
    VEC(Sym) names;
    AExprVec named;
} Given;

/* One more argument of the typed call, for the parameter 'name'. */
static void
push_argument(Infer *I, AExpr *out, AExpr *arg, Sym name)
{
    vec_push(I->arena, &out->items, arg);
    vec_push(I->arena, &out->keys, name);
}

/* One more item of the tuple for '*args', which stands where the first does. */
static void
push_rest(Infer *I, AExpr *out, const AFunc *func, AExpr *arg, Given *given)
{
    if (given->rest == NULL) {
        given->rest = ast_expr(I->arena, A_TUPLE, out->loc);
        push_argument(I, out, given->rest, func->varargs);
    }
    if (arg != NULL) {
        vec_push(I->arena, &given->rest->items, arg);
        alias_value(I, arg);
    }
}

/* Types the arguments in the caller's frame, in the order of the text. */
static void
infer_arguments(Infer *I, const AExpr *e, AExpr *out, const AFunc *func,
                Given *given)
{
    int places = count_places(func);
    for (int i = 0; i < e->items.n; i++) {
        AExpr *arg = infer_maybe(I, e->items.at[i]);
        Sym key = e->keys.at[i];
        if (func->varargs && key == NULL && i >= places) {
            push_rest(I, out, func, arg, given);
            continue;
        }
        int at = parameter_of(I, e, func, i);
        if (at < 0) {
            vec_push(I->arena, &given->names, key);
            vec_push(I->arena, &given->named, arg);
            push_argument(I, out, arg, keyword_name(I, key));
            alias_value(I, arg);
            continue;
        }
        if (given->at[at] != NULL) {
            refuse_call(I, e, func->name, "gives an argument twice");
        }
        given->at[at] = arg;
        push_argument(I, out, arg, func->params.at[at].name);
    }
    if (func->varargs != NULL) {
        push_rest(I, out, func, NULL, given);
        AExpr *rest = given->rest;
        rest->type = typed_display(I, &rest->items, false, e->loc)->type;
    }
}

/* A default value: what the closure holds, a constant, a tuple of such or a
 * function. */
static AExpr *
infer_default(Infer *I, const AExpr *call, const AFunc *func,
              const AParam *param, const Closure *closure)
{
    for (int i = 0; closure != NULL && i < closure->defaults.n; i++) {
        if (closure->keys[i] == param->name) {
            return closure->defaults.at[i];
        }
    }
    if (param->dflt == NULL) {
        refuse_call(I, call, func->name, "lacks an argument");
    }
    AKind kind = param->dflt->kind;
    if (kind == A_OTHER) {
        infer_refuse(I, DIAG_UNSUPPORTED_DEFAULT, param->dflt->loc, NULL,
                     "the default of parameter `%s` of `%s`, of type `%s`, is "
                     "not handled",
                     param->name, func->name, param->dflt->name);
    }
    return infer_expr(I, param->dflt);
}

/* Is the value that of a name of the caller? */
static bool
is_lent(const AExpr *e)
{
    while (e->kind == A_SEQ || e->kind == A_SOME) {
        e = e->lhs;
    }
    return e->kind == A_NAME || e->kind == A_SUBSCRIPT;
}

/* Binds one parameter. Arguments that are names lend their arrays: the
 * parameter is an object of its own, which counts as another name only if it is
 * changed or handed back. */
static void
bind_parameter(Infer *I, AParam param, AExpr *value, AFunc *typed)
{
    const Type *type = value->type;
    if (is_lent(value)) {
        type = alias_lend(I, type, value->loc);
    }
    param.version = &env_bind(I, param.name, type, value->loc)->base;
    vec_push(I->arena, &typed->params, param);
}

/* Binds what is left for '**': each argument has a hidden parameter, of which
 * the dict is made. */
static void
bind_keywords(Infer *I, const AExpr *call, const AFunc *func,
              const Given *given, AFunc *typed)
{
    AExprVec values = {0};
    for (int i = 0; i < given->named.n; i++) {
        const AExpr *arg = given->named.at[i];
        AExpr *hidden = hidden_target(I, hidden_new(I, arg->loc), arg->type);
        AParam param = {.name = keyword_name(I, given->names.at[i])};
        param.version = hidden->version;
        vec_push(I->arena, &typed->params, param);
        vec_push(I->arena, &values, hidden);
    }
    AParam words = {.name = func->kwargs};
    words.dflt = dict_of_keywords(I, given->names.at, &values, call->loc);
    bind_parameter(I, words, words.dflt, typed);
}

/* Binds each parameter to its argument or default. A default is evaluated by
 * lower after the arguments; it is constant or held, so that makes no
 * difference. */
static void
bind_parameters(Infer *I, const AExpr *call, const AFunc *func,
                const Given *given, const Closure *closure, AFunc *typed)
{
    for (int i = 0; i < func->params.n; i++) {
        AParam param = func->params.at[i];
        AExpr *value = given->at[i];
        if (value == NULL) {
            value = infer_default(I, call, func, &param, closure);
            param.dflt = value;
        } else {
            param.dflt = NULL;
        }
        bind_parameter(I, param, value, typed);
    }
    if (func->varargs != NULL) {
        AParam rest = {.name = func->varargs};
        bind_parameter(I, rest, given->rest, typed);
    }
    if (func->kwargs != NULL) {
        bind_keywords(I, call, func, given, typed);
    }
}

/* Lists of known length in the result of run 'from' are the caller's; those
 * that it was given have one name more. */
static void
own_lists(Infer *I, const Type *type, int from)
{
    for (int i = 0; type_is_pack(type) && i < type->rank; i++) {
        own_lists(I, type->items[i], from);
    }
    if (type->kind != TY_TUPLE || type->object == 0) {
        return;
    }
    Object *object = &I->objects.at[type->object];
    if (object->run == from) {
        object->run = I->frame->run;
    } else {
        object->aliased = true;
    }
}

/* Runs a user function's body with the types of this call. The frame lives on
 * the C stack: nothing keeps it. */
AExpr *
call_user(Infer *I, const AExpr *e, AExpr *out, const Type *callee)
{
    const AFunc *func = I->unit->funcs.at[callee->func];
    const Closure *closure = NULL;
    Given given = {.at = ARENA_ARRAY(I->arena, AExpr *, func->params.n + 1)};
    infer_arguments(I, e, out, func, &given);
    check_library(I, out, func);
    check_recursion(I, e, func, given.at);
    Frame *outer = NULL;
    if (callee->ival > 0) {
        closure = &I->closures.at[callee->ival - 1];
        outer = frame_of_closure(I, e, closure);
    }
    AFunc *typed = ARENA_NEW(I->arena, AFunc);
    typed->name = func->name;
    typed->qualname = func->qualname;
    typed->loc = func->loc;
    Frame frame;
    frame_init(I, &frame, func);
    frame.call = e->loc;
    frame.outer = outer;
    cells_enter(I, &frame);
    I->frame = &frame;
    bind_parameters(I, e, func, &given, closure, typed);
    int conditional = I->conditional;
    I->conditional = 0;
    I->aside += conditional;
    infer_body(I, &frame, typed);
    I->conditional = conditional;
    I->aside -= conditional;
    I->frame = frame.caller;
    cells_leave(I, &frame, e->loc);
    check_reach(I, typed->result, e->loc);
    out->callee = typed;
    out->type = alias_return(I, typed->result);
    own_lists(I, out->type, frame.run);
    return out;
}
