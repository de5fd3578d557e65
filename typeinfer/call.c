/* Global names and calls.
 *
 * A call of a library function gets its arguments sorted into the slots of its
 * row in builtins.def, absent ones NULL:
 *
 *     BUILTIN(ROUND, "builtins.round", ..., "x ndigits?")
 *     round(v, ndigits=2)     items = {v, 2}
 *     round(v)                items = {v, NULL}
 *
 * so that no rule for a type looks at names of arguments again.  Calls of user
 * functions are in user.c, those of builtins that go through a sequence in
 * sequence.c, methods of arrays are rows with "self" as the first argument.
 */
#include <string.h>

#include "typeinfer/list.h"

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
 * function of that name. Functions are values: they may be given names, passed
 * and returned by functions that are inlined. */
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

/* Reads one parameter of a row's list into 'out' and returns what follows, NULL
 * at the end: a name, '?' behind it if it may be left out, '-' before it if it
 * is known but not translated. */
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
void
refuse_call(Infer *I, const AExpr *e, const char *name, const char *why)
{
    infer_refuse(I, DIAG_BAD_CALL, e->loc, NULL, "the call of `%s` %s", name,
                 why);
}

/* The argument given for parameter 'word', the 'nth' by position; NULL. "used"
 * counts, so that what no parameter takes is found at the end. */
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

/* Does 'arg', one of the call's, stand behind number '*last'?  Then it is the
 * last one; NULL is left out. */
static bool
stands_behind(const AExpr *call, const AExpr *arg, int *last)
{
    int at = 0;
    if (arg == NULL) {
        return true;
    }
    while (call->items.at[at] != arg) {
        at++;
    }
    bool behind = at > *last;
    *last = at;
    return behind;
}

/* Arguments are evaluated in the order of their slots. They may be given in
 * another one, unless a call may tell the difference. */
static void
refuse_disorder(Infer *I, const AExpr *call, const char *name)
{
    for (int i = 0; i < call->items.n; i++) {
        if (has_user_call(call->items.at[i])) {
            refuse_call(I, call, name,
                        "has a call among keyword arguments that do not stand "
                        "in the order of the parameters");
        }
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
    int last = -1;
    bool sorted = true;
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
            sorted &= stands_behind(e, arg, &last);
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
    if (!sorted) {
        refuse_disorder(I, out, name);
    }
}

/* Does the type tell the value, so that nobody evaluates it? */
static bool
type_tells(const Type *type)
{
    if (type->alt != ALT_NEVER) {
        return false;
    }
    bool all = type->kind == TY_TUPLE || type->kind == TY_SLICE;
    for (int i = 0; all && i < type->rank; i++) {
        all = type_tells(type->items[i]);
    }
    return all || type->kind == TY_NONE || type->kind == TY_STR ||
           type->kind == TY_DTYPE || type->kind == TY_FUNC ||
           (type->kind == TY_NUM && type->known);
}

AExpr *
hold_told(Infer *I, AExpr *call)
{
    ABlock block = {0};
    int last = -1;
    for (int i = 0; i < call->items.n; i++) {
        const AExpr *item = call->items.at[i];
        bool told = has_user_call(item) && type_tells(item->type);
        last = told ? i : last;
    }
    for (int i = 0; i <= last; i++) {
        call->items.at[i] = hold_typed(I, call->items.at[i], &block);
    }
    return typed_seq(I, block, call);
}

/* A library function: "items" may hold the self of a method already. What loops
 * go over, they evaluate. */
AExpr *
call_builtin(Infer *I, const AExpr *e, AExpr *out, BuiltinId id)
{
    sort_arguments(I, e, out, id, out->items.n);
    out->type = type_of_builtin(I, out, id);
    return out->type->kind == TY_RANGE ? out : hold_told(I, out);
}

/* May `x.id()` be a call of the row 'id'?  NumPy's scalars have the methods of
 * arrays; those that give a scalar are translated.  Python's complex numbers
 * have one. */
static bool
has_methods(const Type *self, BuiltinId id)
{
    bool scalar = self->kind == TY_NUM && !self->weak &&
                  self->alt == ALT_NEVER &&
                  (id == BUILTIN_ASTYPE || id == BUILTIN_ROUND_OF ||
                   id == BUILTIN_CLIP_OF || id == BUILTIN_ITEM);
    bool pair = self->kind == TY_COMPLEX &&
                (id == BUILTIN_CONJUGATE_OF ||
                 (id == BUILTIN_CONJ_OF && !self->weak &&
                  self->alt == ALT_NEVER));
    return scalar || pair || self->kind == TY_ARRAY;
}

/* `a.copy()`: the array is the first argument. Tried in this order: sequences
 * of known length, dicts, functions of the library in Python, ufuncs' own
 * methods (np.add.reduce), lists, arrays. */
static AExpr *
call_method(Infer *I, const AExpr *e, AExpr *out)
{
    AExpr *self = infer_object(I, e->lhs->lhs);
    AExpr *done = class_call(I, e, self);
    if (done != NULL) {
        return done;
    }
    BuiltinId id = builtin_find(e->lhs->name);
    AExpr *value = self->type->kind == TY_TUPLE ? sequence_method(I, e, self)
                                                : NULL;
    if (self->type->kind == TY_DICT) {
        value = dict_method(I, e, self);
    }
    value = value ? value : infer_library_method(I, e, self);
    value = value ? value : infer_ufunc_method(I, e, self);
    if (value != NULL) {
        return value;
    }
    if (list_like(self->type)) {
        done = list_method(I, e, out, self, &id);
        if (done != NULL) {
            return done;
        }
        if (id == BUILTIN_LIST_SORT && has_key(e)) {
            return list_sort_by_key(I, e, self);
        }
    } else if (id == BUILTIN_NONE || !has_methods(self->type, id)) {
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

/* Calls of what nothing is known of are told of as calls: outside of hot loops
 * they are well in Python. */
static void
refuse_unknown(Infer *I, const AExpr *e)
{
    const Binding *binding =
        e->lhs->kind == A_GLOBAL ? e->lhs->binding : NULL;
    if (binding != NULL && binding->kind == BIND_OTHER
        && strcmp(binding->known, "undefined name") != 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`%s` is not translated", binding->name);
    }
}

/* A call by what is called: a user function, or a row of builtins.def; what a
 * call returned is held in 'block'. */
static AExpr *
call_value(Infer *I, const AExpr *e, AExpr *out, ABlock *block)
{
    refuse_unknown(I, e);
    out->lhs = infer_expr(I, e->lhs);
    if (has_user_call(out->lhs)) {
        out->lhs = hold_typed(I, out->lhs, block);
    }
    const Type *callee = out->lhs->type;
    if (callee->kind == TY_FUNC && callee->func >= 0) {
        return call_user(I, e, out, callee);
    }
    if (callee->kind == TY_RECORD) {
        return class_make(I, e, out, callee);
    }
    BuiltinId id = builtin_of(out->lhs);
    if (id == BUILTIN_NONE) {
        const char *name =
            e->lhs->kind == A_GLOBAL ? e->lhs->binding->name : "this object";
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`%s` is not translated", name);
    }
    if (id == BUILTIN_DICT) {
        return call_dict(I, e);
    }
    if (id == BUILTIN_DEQUE) {
        return call_deque(I, e);
    }
    if (id == BUILTIN_PRODUCT) {
        return call_product(I, e, out);
    }
    BuiltinKind kind = builtin_row(id)->kind;
    AExpr *value = kind == BK_SEQUENCE || kind == BK_MINMAX
                       ? call_on_sequence(I, e, id)
                       : NULL;
    return value ? value : call_builtin(I, e, out, id);
}

AExpr *
infer_call(Infer *I, const AExpr *e)
{
    if (has_stars(&e->items)) {
        return call_with_stars(I, e);
    }
    AExpr *out = node_like(I, e);
    if (e->lhs->kind == A_ATTR) {
        return call_method(I, e, out);
    }
    ABlock block = {0};
    AExpr *value = call_value(I, e, out, &block);
    return typed_seq(I, block, value);
}
