/* Global names and calls.
 *
 * A call of a library function gets its arguments sorted into the slots of
 * its row in builtins.def, absent ones NULL.  A call of a user function is an
 * abstract run of its body with the types of this call: "callee" is the typed
 * body, "items" stay in the order in which Python evaluates them.
 *
 * Each call owns its typed body, so a helper may be called with ints here and
 * with small arrays there, and everything is inlined by csrc/lower.  Depth is
 * bounded by refusing recursion, size by the number of typed nodes.
 *
 * Parameters of the callee are versions like any others.  What is known of an
 * argument -- its value, the axis that it is -- is known of the parameter, so
 * `scale(img, mode="mean")` is decided inside of `scale`.
 */
#include <string.h>

#include "typeinfer/state.h"

/* --- global names --------------------------------------------------------- */

/* The dtype that NumPy calls 'name'; DT_COUNT when there is none. */
static DType
dtype_of_name(const char *name)
{
    for (int dt = 0; dt < DT_COUNT; dt++) {
        if (strcmp(name, dtype_name((DType)dt)) == 0) {
            return (DType)dt;
        }
    }
    return DT_COUNT;
}

/* 'float', 'np.float32' ...: what they are as a dtype. */
static const Type *
type_of_dtype_name(Infer *I, Sym known)
{
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_DTYPE), sizeof(*type));
    const char *name = strchr(known, '.') + 1;
    type->name = known;
    type->weak = strncmp(known, "builtins.", 9) == 0;
    type->dtype = !type->weak                  ? dtype_of_name(name)
                  : strcmp(name, "float") == 0 ? DT_F64
                  : strcmp(name, "int") == 0   ? DT_I64
                                               : DT_BOOL;
    return type;
}

/* The type of a library object: a dtype for np.float32, int ..., else a
 * function of that name. */
static const Type *
type_of_known(Infer *I, Sym known)
{
    BuiltinId id = builtin_find(known);
    if (id != BUILTIN_NONE && builtin_row(id)->kind == BK_DTYPE) {
        return type_of_dtype_name(I, known);
    }
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = known;
    return type;
}

/* A global array is an argument that the user does not see. */
static AExpr *
global_array(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    out->kind = A_NAME;
    out->version = I->hidden[e->binding->arg];
    out->type = out->version->type;
    return out;
}

/* A global name means what it meant when the function was loaded; the
 * dispatcher guards that. Values are put in as constants. */
AExpr *
infer_global(Infer *I, const AExpr *e)
{
    const Binding *binding = e->binding;
    AExpr *out = node_like(I, e);
    Type *type;
    switch (binding->kind) {
    case BIND_KNOWN:
        out->type = type_of_known(I, binding->known);
        return out;
    case BIND_USER:
        type =
            arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
        type->func = binding->func;
        type->name = I->unit->funcs.at[binding->func]->qualname;
        out->type = type;
        return out;
    case BIND_VALUE:
        out = infer_expr(I, binding->value);
        out->loc = e->loc;
        return out;
    case BIND_ARRAY:
        return global_array(I, e);
    default:
        infer_refuse(I, DIAG_UNSUPPORTED_GLOBAL, e->loc, NULL,
                     "`%s` (%s) has no translation", binding->name,
                     binding->known ? binding->known : "unknown");
    }
}

/* --- library functions ---------------------------------------------------- */

/* The word at 'at' of a parameter list: its length, and what follows. */
typedef struct Word {
    const char *text;
    int length;
    bool optional;
    bool refused;
} Word;

/* Reads one parameter of a row's list into 'out' and returns what follows,
 * NULL at the end. */
static const char *
next_word(const char *at, Word *out)
{
    while (*at == ' ') {
        at++;
    }
    if (*at == '\0') {
        return NULL;
    }
    size_t n = strcspn(at, " ");
    *out = (Word){.text = at, .length = (int)n};
    out->optional = at[n - 1] == '?';
    out->length -= out->optional;
    if (*at == '-') {
        out->refused = true;
        out->text++;
        out->length--;
    }
    return at + n;
}

/* Refuses a call (VZ-2004) that Python would refuse too, or that uses what is
 * not translated. */
static _Noreturn void
refuse_call(Infer *I, const AExpr *e, const char *name, const char *why)
{
    infer_refuse(I, DIAG_BAD_CALL, e->loc, NULL, "the call of `%s` %s", name,
                 why);
}

/* The argument given for parameter 'word', the 'nth' by position; NULL. */
static const AExpr *
find_argument(const AExpr *call, const Word *word, int nth, bool positional,
              int *used)
{
    if (positional && nth < call->items.n && call->keys.at[nth] == NULL) {
        (*used)++;
        return call->items.at[nth];
    }
    for (int i = 0; i < call->items.n; i++) {
        Sym key = call->keys.at[i];
        if (key != NULL && strlen(key) == (size_t)word->length &&
            strncmp(key, word->text, (size_t)word->length) == 0) {
            (*used)++;
            return call->items.at[i];
        }
    }
    return NULL;
}

/* Types the argument of one parameter and puts it into its slot. */
static void
add_argument(Infer *I, AExpr *out, const AExpr *arg, const Word *word,
             const char *name)
{
    if (arg == NULL && !word->optional) {
        refuse_call(I, out, name, "lacks an argument");
    }
    if (arg != NULL && word->refused) {
        infer_refuse(I, DIAG_BAD_CALL, arg->loc, NULL,
                     "argument `%.*s` of `%s` is not translated", word->length,
                     word->text, name);
    }
    if (!word->refused) {
        vec_push(I->arena, &out->items, arg ? infer_expr(I, arg) : NULL);
        vec_push(I->arena, &out->keys, NULL);
    }
}

/* Sorts the arguments into slots; "self" of a method is the first. */
static void
sort_arguments(Infer *I, const AExpr *e, AExpr *out, BuiltinId id, int skip)
{
    const Builtin *row = builtin_row(id);
    const char *name = row->name;
    const char *dot = strrchr(name, '.');
    name = dot && strncmp(name, "builtins.", 9) == 0 ? dot + 1 : name;
    int used = 0;
    int nth = 0;
    Word word;
    for (const char *at = next_word(row->params, &word); at != NULL;
         at = next_word(at, &word)) {
        if (skip > 0) {
            skip--;
            continue;
        }
        if (word.text[0] == '/') {
            break;
        }
        if (word.text[0] != '*') {
            const AExpr *arg = find_argument(e, &word, nth, true, &used);
            add_argument(I, out, arg, &word, name);
            nth++;
            continue;
        }
        for (; nth < e->items.n && e->keys.at[nth] == NULL; nth++, used++) {
            vec_push(I->arena, &out->items, infer_expr(I, e->items.at[nth]));
            vec_push(I->arena, &out->keys, NULL);
        }
    }
    if (used != e->items.n) {
        refuse_call(I, out, name, "has arguments that it does not take");
    }
}

/* A library function: "items" may hold the self of a method already. */
static AExpr *
call_builtin(Infer *I, const AExpr *e, AExpr *out, BuiltinId id)
{
    sort_arguments(I, e, out, id, out->items.n);
    out->type = type_of_builtin(I, out, id);
    return out;
}

/* `a.copy()`: the array is the first argument. */
static AExpr *
call_method(Infer *I, const AExpr *e, AExpr *out)
{
    AExpr *self = infer_expr(I, e->lhs->lhs);
    BuiltinId id = builtin_find(e->lhs->name);
    if (id == BUILTIN_NONE || self->type->kind != TY_ARRAY) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "method `%s` of %s is not translated", e->lhs->name,
                     type_text(I->arena, self->type));
    }
    AExpr *callee = node_like(I, e->lhs);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = sym(builtin_row(id)->name);
    callee->lhs = self;
    callee->type = type;
    out->lhs = callee;
    vec_push(I->arena, &out->items, self);
    vec_push(I->arena, &out->keys, NULL);
    return call_builtin(I, e, out, id);
}

/* --- user functions ------------------------------------------------------- */

/* Gives 'name' a number in the frame, once. */
static void
add_name(void *data, Sym name)
{
    Frame *frame = data;
    if (!map_has(&frame->numbers, name)) {
        frame->n++;
        map_set(&frame->numbers, name, (void *)(intptr_t)frame->n);
    }
}

/* A frame in which nothing is bound yet. All names that are assigned anywhere
 * are local, as in Python. The last name is the result, so that
 * returns join like any other name. */
void
frame_init(Infer *I, Frame *frame, const AFunc *func)
{
    *frame = (Frame){.func = func, .caller = I->frame};
    frame->numbers = map_new(I->arena);
    for (int i = 0; i < func->params.n; i++) {
        add_name(frame, func->params.at[i].name);
    }
    if (func->varargs != NULL) {
        add_name(frame, func->varargs);
    }
    names_of_block(&func->body, add_name, frame);
    add_name(frame, sym("<result>"));
    frame->env.at = ARENA_ARRAY(I->arena, Ver *, frame->n + 1);
    frame->live = live_make(I, frame);
}

/* The result gets a version of its own: a return may stand in a loop, whose
 * versions can't be named outside. */
static Ver *
join_returns(Infer *I, Frame *frame, Sym result)
{
    int number = name_number(frame, result);
    Ver *ver = exits_join_name(I, &frame->returns, number, result, 0);
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

/* Runs the body of 'frame', whose parameters are bound, into 'out'. */
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
        infer_refuse(I, DIAG_TYPE_CONFLICT, frame->func->loc,
                     "Return the same kind of value on all paths.",
                     "`%s` returns %s (line %u) or %s (line %u)",
                     frame->func->name, type_text(I->arena, c->lhs),
                     (unsigned)c->lhs_loc.line, type_text(I->arena, c->rhs),
                     (unsigned)c->rhs_loc.line);
    }
}

/* A call of a function that is being run would never end: calls are inlined. */
static void
check_recursion(Infer *I, const AExpr *e, const AFunc *func)
{
    int depth = 0;
    for (const Frame *f = I->frame; f != NULL; f = f->caller, depth++) {
        if (f->func == func) {
            infer_refuse(I, DIAG_RECURSION, e->loc, NULL,
                         "`%s` calls itself here", func->name);
        }
    }
}

/* The number of the parameter that argument 'nth' of the call is for. */
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
    refuse_call(I, e, func->name, "does not fit its parameters");
}

/* Types the arguments in the caller's frame; 'given' is the argument of each
 * parameter. */
static void
infer_arguments(Infer *I, const AExpr *e, AExpr *out, const AFunc *func,
                AExpr **given)
{
    for (int i = 0; i < e->items.n; i++) {
        AExpr *arg = infer_maybe(I, e->items.at[i]);
        int at = parameter_of(I, e, func, i);
        if (given[at] != NULL) {
            refuse_call(I, e, func->name, "gives an argument twice");
        }
        given[at] = arg;
        vec_push(I->arena, &out->items, arg);
        vec_push(I->arena, &out->keys, func->params.at[at].name);
    }
}

/* A default value: a constant or a tuple of such. */
static AExpr *
infer_default(Infer *I, const AExpr *call, const AFunc *func,
              const AParam *param)
{
    if (param->dflt == NULL) {
        refuse_call(I, call, func->name, "lacks an argument");
    }
    if (param->dflt->kind != A_CONST && param->dflt->kind != A_TUPLE) {
        infer_refuse(I, DIAG_UNSUPPORTED_DEFAULT, param->dflt->loc, NULL,
                     "the default of parameter `%s` of `%s` is not handled",
                     param->name, func->name);
    }
    return infer_expr(I, param->dflt);
}

/* Binds each parameter to its argument or default. Arguments that are names
 * lend their arrays. */
static void
bind_parameters(Infer *I, const AExpr *call, const AFunc *func,
                AExpr *const *given, AFunc *typed)
{
    for (int i = 0; i < func->params.n; i++) {
        AParam param = func->params.at[i];
        AExpr *value = given[i];
        if (value == NULL) {
            value = infer_default(I, call, func, &param);
            param.dflt = value;
        } else {
            param.dflt = NULL;
        }
        const Type *type = value->type;
        if (value->kind == A_NAME || value->kind == A_SUBSCRIPT) {
            type = alias_lend(I, type, value->loc);
        }
        param.version = &env_bind(I, param.name, type, value->loc)->base;
        vec_push(I->arena, &typed->params, param);
    }
}

/* Runs a user function's body with the types of this call. The frame lives on
 * the C stack: nothing keeps it. */
static AExpr *
call_user(Infer *I, const AExpr *e, AExpr *out, const AFunc *func)
{
    check_recursion(I, e, func);
    if ((func->varargs || func->has_kwargs)) {
        refuse_call(I, e, func->name, "has `*args` or `**kwargs`");
    }
    AExpr **given = ARENA_ARRAY(I->arena, AExpr *, func->params.n + 1);
    infer_arguments(I, e, out, func, given);
    AFunc *typed = ARENA_NEW(I->arena, AFunc);
    typed->name = func->name;
    typed->qualname = func->qualname;
    typed->loc = func->loc;
    Frame frame;
    frame_init(I, &frame, func);
    frame.call = e->loc;
    I->frame = &frame;
    bind_parameters(I, e, func, given, typed);
    infer_body(I, &frame, typed);
    I->frame = frame.caller;
    check_reach(I, typed->result, e->loc);
    out->callee = typed;
    out->type = alias_return(I, typed->result);
    return out;
}

/* A call by what is called: a method, a user function, or a row of
 * builtins.def. */
AExpr *
infer_call(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    if (e->lhs->kind == A_ATTR) {
        return call_method(I, e, out);
    }
    out->lhs = infer_expr(I, e->lhs);
    const Type *callee = out->lhs->type;
    if (callee->kind == TY_FUNC && callee->func >= 0) {
        return call_user(I, e, out, I->unit->funcs.at[callee->func]);
    }
    BuiltinId id = builtin_of(out->lhs);
    if (id == BUILTIN_NONE) {
        const char *name =
            e->lhs->kind == A_GLOBAL ? e->lhs->binding->name : "this object";
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`%s` is not translated", name);
    }
    return call_builtin(I, e, out, id);
}
