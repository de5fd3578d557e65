/* Dicts that grow.
 *
 *     final = {}                  keys = [];  values = []
 *     if root not in final:       if find(keys, root) < 0:
 *         final[root] = n             append to both
 *     final[root] += 1            k = find(keys, root);  values[k] += 1
 *     for k, v in final.items():  for k, v in zip(keys, values):
 *
 * A dict into which something is stored is two lists of run-time length, the
 * first of which csrc/lower looks into by a table of hashes; a dict keeps its
 * keys in the order in which they came, and so do they.  The keys are numbers
 * of one kind, or tuples of such, so that equal keys are the same object but
 * for what nobody can see: of 0.0 and -0.0 the first one stays, as in Python.
 * What a list can do and the views of a dict can't is refused; a loop over a
 * dict must not store into it.  As a result it is handed over as its two lists.
 */
#include <string.h>

#include "typeinfer/list.h"

/* --- making --------------------------------------------------------------- */

/* An empty list, held; 'part' 0 has the keys and 1 the values. */
static AExpr *
new_part(Infer *I, Loc loc, int part, ABlock *out)
{
    AExprVec none = {0};
    AExpr *at = ast_expr(I->arena, A_DICT, loc);
    at->loc.end_col = (uint16_t)part; /* no other expression ends there */
    AExpr *empty = typed_display(I, &none, true, loc);
    AExpr *call = list_call(I, loc, BUILTIN_LIST_OF, empty);
    const Type *made = list_new(I, at);
    I->objects.at[made->object].list->kind = sym(part ? "values" : "dict");
    call->type = list_type(I, made);
    return hold_typed(I, call, out);
}

/* One of the lists as it is now. */
static AExpr *
part_of(Infer *I, const AExpr *held)
{
    AExpr *e = arena_copy(I->arena, held, sizeof(*held));
    e->type = list_type(I, held->type);
    list_reach(I, e->type);
    return e;
}

/* Makes the record that of a dict that grows; its entries are stored. */
void
dict_grow(Infer *I, Record *record, Loc loc, ABlock *out)
{
    Record entries = *record;
    *record = (Record){.grows = true, .site = record->site};
    record->list_of_keys = new_part(I, loc, 0, out);
    record->list_of_values = new_part(I, loc, 1, out);
    for (int i = 0; i < entries.keys.n; i++) {
        AExpr *key = ast_expr(I->arena, A_CONST, loc);
        key->type = entries.keys.at[i];
        dict_put(I, record, key, entries.values.at[i], out);
    }
}

/* --- looking -------------------------------------------------------------- */

/* Integers but uint64, or tuples of such. */
bool
is_grown_key(const Type *type)
{
    bool all = type->kind == TY_TUPLE && !type->is_list && type->rank > 0 &&
               type->alt == ALT_NEVER;
    for (int i = 0; all && i < type->rank; i++) {
        all = is_grown_key(type->items[i]);
    }
    bool number = type_is_integer(type, true) ||
                  (type->kind == TY_NUM && dtype_is_float(type->dtype));
    return all || (number && type->alt == ALT_NEVER && type->dtype != DT_U64);
}

static void
need_key(Infer *I, const AExpr *key)
{
    if (!is_grown_key(key->type)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, key->loc,
                     "Use numbers or tuples of numbers, all of one kind.",
                     "a dict that grows has no keys like %s here",
                     type_text(I->arena, key->type));
    }
}

/* Is a float compared with floats of its dtype only?  With others NumPy would
 * round before it compares, and Python has compared the hashes before. */
static bool
same_floats(const Type *key, const Type *keys)
{
    if (key->kind != TY_TUPLE || keys->kind != TY_TUPLE) {
        bool floats = dtype_is_float(key->dtype) || dtype_is_float(keys->dtype);
        return !floats || key->dtype == keys->dtype;
    }
    bool same = key->rank == keys->rank;
    for (int i = 0; same && i < key->rank; i++) {
        same = same_floats(key->items[i], keys->items[i]);
    }
    return same;
}

/* The number of the entry with the held key, -1: there is none; held. */
static AExpr *
find_entry(Infer *I, const Record *record, AExpr *key, ABlock *out)
{
    AExpr *keys = part_of(I, record->list_of_keys);
    need_key(I, key);
    if (keys->type->rank == 0) {
        return const_int(I, -1, key->loc);
    }
    list_need_equal(I, key, keys->type);
    if (!same_floats(key->type, keys->type->items[0])) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, key->loc,
                     "Use keys of one kind, `float(x)`.",
                     "a dict with keys like %s is asked for one like %s",
                     type_text(I->arena, keys->type->items[0]),
                     type_text(I->arena, key->type));
    }
    AExpr *call = list_call(I, key->loc, BUILTIN_DICT_FIND, keys);
    vec_push(I->arena, &call->items, key);
    vec_push(I->arena, &call->keys, NULL);
    call->type = type_int(I->arena);
    return hold_typed(I, call, out);
}

/* Is there such an entry? */
static AExpr *
is_there(Infer *I, AExpr *at)
{
    return typed_compare(I, AO_LE, const_int(I, 0, at->loc), at, at->loc);
}

/* The value of entry 'at'. */
static AExpr *
value_at(Infer *I, const Record *record, AExpr *at)
{
    AExpr *e = ast_expr(I->arena, A_SUBSCRIPT, at->loc);
    e->lhs = part_of(I, record->list_of_values);
    vec_push(I->arena, &e->items, at);
    e->type = list_item(I, e->lhs->type);
    return e;
}

/* Python raises KeyError unless the entry is there. */
static void
assert_there(Infer *I, AExpr *at, ABlock *out)
{
    if (at->kind == A_CONST) {
        read_unbound(I);
    }
    AStmt *s = ast_stmt(I->arena, AS_ASSERT, at->loc);
    s->value = is_there(I, at);
    vec_push(I->arena, out, s);
}

/* d[key] */
AExpr *
grown_item(Infer *I, const Record *record, AExpr *key, ABlock *out)
{
    AExpr *at = find_entry(I, record, hold_typed(I, key, out), out);
    assert_there(I, at, out);
    return value_at(I, record, at);
}

/* key in d */
AExpr *
grown_has(Infer *I, const Record *record, AExpr *key, ABlock *out)
{
    return is_there(I, find_entry(I, record, key, out));
}

/* d.get(key, other) of held arguments */
AExpr *
grown_get(Infer *I, const Record *record, AExpr *key, AExpr *other,
          ABlock *out)
{
    AExpr *at = find_entry(I, record, key, out);
    return at->kind == A_CONST ? other
                               : typed_ifexp(I, is_there(I, at),
                                             value_at(I, record, at), other);
}

AExpr *
grown_result(Infer *I, AExpr *dict)
{
    const Type *type = dict->type;
    bool entry = I->frame->caller == NULL;
    if (!entry || type->kind != TY_DICT || type->alt != ALT_NEVER) {
        return dict;
    }
    const Record *record = dict_record(I, type, dict->loc);
    if (!record->grows) {
        return dict;
    }
    AExprVec parts = {0};
    AExpr *keys = part_of(I, record->list_of_keys);
    AExpr *values = part_of(I, record->list_of_values);
    vec_push(I->arena, &parts, keys);
    vec_push(I->arena, &parts, values);
    AExpr *out = typed_display(I, &parts, false, dict->loc);
    Type *made = arena_copy(I->arena, out->type, sizeof(*made));
    made->kind = TY_MAPPING;
    out->type = made;
    ABlock block = {0};
    keep_effects(I, dict, &block);
    return typed_seq(I, block, out);
}

/* keys (part 0), values (1) or pairs (2), to be iterated. */
AExpr *
grown_parts(Infer *I, const Record *record, int part, Loc loc)
{
    AExpr *keys = part_of(I, record->list_of_keys);
    AExpr *values = part_of(I, record->list_of_values);
    if (part < 2) {
        return part ? values : keys;
    }
    AExpr *zip = list_call(I, loc, BUILTIN_ZIP, keys);
    vec_push(I->arena, &zip->items, values);
    vec_push(I->arena, &zip->keys, NULL);
    zip->type = type_kind(I->arena, TY_RANGE);
    return zip;
}

/* --- storing -------------------------------------------------------------- */

/* A statement that evaluates the call. */
static void
push_call(Infer *I, BuiltinId id, AExpr *list, AExpr *arg, ABlock *out)
{
    AExpr *call = list_call(I, arg->loc, id, list);
    vec_push(I->arena, &call->items, arg);
    vec_push(I->arena, &call->keys, NULL);
    call->type = type_of_list(I, call, id);
    AStmt *s = ast_stmt(I->arena, AS_EXPR, arg->loc);
    s->value = call;
    vec_push(I->arena, out, s);
}

/* The value of entry 'at' becomes 'value'. */
static void
push_value(Infer *I, const Record *record, AExpr *at, AExpr *value,
           ABlock *out)
{
    AExpr *target = value_at(I, record, at);
    list_target(I, target, value->type);
    push_assign(I, target, value, out);
}

/* d[key] = value, both held: a new entry, or an old one. */
void
dict_put(Infer *I, const Record *record, AExpr *key, AExpr *value,
         ABlock *out)
{
    AStmt *s = ast_stmt(I->arena, AS_IF, key->loc);
    AExpr *keys = part_of(I, record->list_of_keys);
    AExpr *values = part_of(I, record->list_of_values);
    need_key(I, key);
    push_call(I, BUILTIN_DICT_PUT, keys, key, &s->orelse);
    push_call(I, BUILTIN_LIST_APPEND, values, value, &s->orelse);
    AExpr *at = find_entry(I, record, key, out);
    s->value = is_there(I, at);
    push_value(I, record, at, value, &s->body);
    vec_push(I->arena, out, s);
}

/* The dict of a target d[key], which grows from now on; NULL: it is another
 * target. */
static const Record *
stored_dict(Infer *I, const AStmt *s)
{
    const AExpr *target = s->targets.at[0];
    if (s->targets.n != 1 || target->kind != A_SUBSCRIPT ||
        target->lhs->kind != A_NAME) {
        return NULL;
    }
    for (int i = 0; i < target->items.n; i++) {
        if (target->items.at[i]->kind == A_SLICE) {
            return NULL;
        }
    }
    AExpr *dict = infer_maybe(I, target->lhs);
    if (dict->type->kind != TY_DICT || dict->type->alt != ALT_NEVER) {
        return NULL;
    }
    const Record *record = dict_record(I, dict->type, s->loc);
    if (!record->grows && record->site != NULL) {
        list_mark(I, record->site);
        infer_again(I);
    }
    return record->grows ? record : NULL;
}

/* The typed key of d[key], held; d[i, j] has a tuple. */
static AExpr *
stored_key(Infer *I, const AExpr *target, ABlock *out)
{
    if (target->items.n == 1) {
        return hold_typed(I, infer_expr(I, target->items.at[0]), out);
    }
    AExpr *tuple = ast_expr(I->arena, A_TUPLE, target->loc);
    tuple->items = target->items;
    return hold_typed(I, infer_expr(I, tuple), out);
}

/* d[key] = value and d[key] op= value; false: another statement, and nothing
 * has been done. */
bool
assign_entry(Infer *I, const AStmt *s, ABlock *out)
{
    const Record *found = stored_dict(I, s);
    if (found == NULL) {
        return false;
    }
    const Record record = *found;
    const AExpr *target = s->targets.at[0];
    if (s->kind == AS_ASSIGN) {
        AExpr *value = hold_typed(I, infer_expr(I, s->value), out);
        AExpr *key = stored_key(I, target, out);
        dict_put(I, &record, key, value, out);
        return true;
    }
    AExpr *key = stored_key(I, target, out);
    AExpr *at = find_entry(I, &record, key, out);
    assert_there(I, at, out);
    AExpr *old = hold_typed(I, value_at(I, &record, at), out);
    AExpr *by = hold_typed(I, infer_expr(I, s->value), out);
    if (old->type->kind != TY_NUM) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, s->loc,
                     "Store a new value: `d[k] = d[k] + x`.",
                     "this is not translated for a dict of %s",
                     type_text(I->arena, old->type));
    }
    AExpr *sum = hold_typed(I, typed_binop(I, s->op, old, by, s->loc), out);
    push_value(I, &record, at, sum, out);
    return true;
}
