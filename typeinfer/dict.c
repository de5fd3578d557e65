/* Dicts whose keys are known: options, tables by name.
 *
 *     steps = {"near": 1, "far": n * 2}     record 1: "near" -> 1, "far" -> h.7
 *     steps["far"]                          h.7
 *     for name, k in steps.items(): ...     written out
 *
 * A dict is not a value at run time: its type is a number, by which its keys
 * and its values, held in hidden versions, are found again.  So it can be given
 * names, handed to functions and looked into, but not changed, nor joined with
 * another.  The versions live in the block in which it was made.  Dicts into
 * which something is stored are in growdict.c. */
#include <string.h>

#include "typeinfer/list.h"

/* Entries of one dict. */
enum { MOST_ENTRIES = 256 };

/* --- making --------------------------------------------------------------- */

/* A typed dict of the record. */
static AExpr *
dict_of(Infer *I, const Record *record, Loc loc)
{
    Record copy = *record;
    copy.scope = I->scope;
    vec_push(I->arena, &I->records, copy);
    AExpr *out = ast_expr(I->arena, A_DICT, loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_DICT), sizeof(*type));
    type->ival = I->records.n;
    type->rank = record->grows ? -1 : record->values.n;
    out->type = type;
    return out;
}

/* The record of a dict; refuses one that is used where its values, held in
 * hidden versions, may not have been made. */
const Record *
dict_record(Infer *I, const Type *type, Loc loc)
{
    const Record *record = &I->records.at[type->ival - 1];
    if (!record->constant && !block_reaches(I, record->scope)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Make it before the loop or branch.",
                     "a dict is used outside of the block that makes it");
    }
    return record;
}

/* Is it a key that is known here? */
static bool
is_known_key(const Type *type)
{
    if (type->alt != ALT_NEVER) {
        return false;
    }
    return type->kind == TY_STR || type->kind == TY_NONE ||
           (type->kind == TY_NUM && type->known);
}

/* Equal as Python's dicts have it: 1, 1.0 and True are one key. */
static bool
same_key(Infer *I, const Type *lhs, const Type *rhs)
{
    if (lhs->kind == TY_NUM && rhs->kind == TY_NUM) {
        const Type *equal = fold_binop(I->arena, AO_EQ, lhs, rhs);
        return equal ? equal->ival != 0 : type_equal(lhs, rhs);
    }
    return lhs->kind == rhs->kind && lhs->name == rhs->name;
}

/* The entry of a known key; -1. */
static int
find_key(Infer *I, const Record *record, const Type *key)
{
    for (int i = 0; i < record->keys.n; i++) {
        if (same_key(I, record->keys.at[i], key)) {
            return i;
        }
    }
    return -1;
}

/* Sets an entry: the first key stays, the last value counts, as in {1: a, 1.0:
 * b}. */
static void
set_entry(Infer *I, Record *record, const AExpr *key, AExpr *value)
{
    if (!is_known_key(key->type) || record->keys.n >= MOST_ENTRIES) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, key->loc,
                     "Use an array, or keys that are constants.",
                     "a dict is translated if its keys are constants, and not "
                     "more than %d",
                     MOST_ENTRIES);
    }
    int at = find_key(I, record, key->type);
    record->constant &= value->kind == A_CONST;
    if (at >= 0) {
        record->values.at[at] = value;
        return;
    }
    vec_push(I->arena, &record->keys, key->type);
    vec_push(I->arena, &record->values, value);
}

/* {k: v}: keys and values in the order of the text. */
AExpr *
infer_dict(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    Record record = {.constant = true};
    record.site = e->outside ? NULL : list_place(I, e->loc);
    if (record.site != NULL && list_is_site(I, e)) {
        dict_grow(I, &record, e->loc, &block);
    }
    for (int i = 0; i + 1 < e->items.n; i += 2) {
        AExpr *key = infer_expr(I, e->items.at[i]);
        AExpr *value = infer_expr(I, e->items.at[i + 1]);
        key = hold_typed(I, key, &block);
        if (record.grows) {
            value = hold_typed(I, value, &block);
            dict_put(I, &record, key, value, &block);
            continue;
        }
        if (!is_known_key(key->type) && is_grown_key(key->type) &&
            record.site != NULL) {
            list_mark(I, record.site);
            infer_again(I);
        }
        alias_value(I, value);
        set_entry(I, &record, key, hold_typed(I, value, &block));
    }
    return typed_seq(I, block, dict_of(I, &record, e->loc));
}

/* A constant string. */
static AExpr *
text_key(Infer *I, Sym name, Loc loc)
{
    AExpr *key = ast_expr(I->arena, A_CONST, loc);
    Type *text =
        arena_copy(I->arena, type_kind(I->arena, TY_STR), sizeof(*text));
    text->name = name;
    key->type = text;
    return key;
}

/* dict(a=1, b=2), dict(d), dict(d, a=1) */
AExpr *
call_dict(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    Record record = {.constant = true};
    for (int i = 0; i < e->items.n; i++) {
        AExpr *value = infer_expr(I, e->items.at[i]);
        value = hold_typed(I, take_seq(I, value, &block), &block);
        if (e->keys.at[i] != NULL) {
            alias_value(I, value);
            set_entry(I, &record, text_key(I, e->keys.at[i], e->loc), value);
            continue;
        }
        if (value->type->kind != TY_DICT) {
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                         "`dict` is not translated for %s",
                         type_text(I->arena, value->type));
        }
        const Record *from = dict_record(I, value->type, e->loc);
        if (from->grows) {
            deque_refuse(I, e, "`dict`");
        }
        AExpr *key = ast_expr(I->arena, A_CONST, e->loc);
        for (int k = 0; k < from->keys.n; k++) {
            key->type = from->keys.at[k];
            set_entry(I, &record, key, from->values.at[k]);
        }
    }
    record.site = list_place(I, e->loc);
    if (list_is_site(I, e)) {
        dict_grow(I, &record, e->loc, &block);
    }
    return typed_seq(I, block, dict_of(I, &record, e->loc));
}

/* A dict of what was given by name, for '**'. */
AExpr *
dict_of_keywords(Infer *I, const Sym *keys, const AExprVec *values, Loc loc)
{
    Record record = {.constant = true};
    for (int i = 0; i < values->n; i++) {
        set_entry(I, &record, text_key(I, keys[i], loc), values->at[i]);
    }
    return dict_of(I, &record, loc);
}

/* --- looking -------------------------------------------------------------- */

/* The value of a key that only the run knows: the first that is equal, by a
 * chain of choices from the last entry to the first; so all values need a
 * common type. */
static AExpr *
choose_value(Infer *I, const Record *record, AExpr *key, AExpr *none,
             ABlock *out)
{
    AExpr *found = none;
    key = hold_typed(I, key, out);
    for (int i = record->keys.n - 1; i >= 0; i--) {
        AExpr *one = ast_expr(I->arena, A_CONST, key->loc);
        one->type = record->keys.at[i];
        AExpr *same = same_item(I, one, key, out);
        found = typed_ifexp(I, same, record->values.at[i], found);
    }
    return found;
}

/* d[key] with the typed dict and key; a key that isn't there raises. */
AExpr *
dict_item(Infer *I, AExpr *dict, AExpr *key)
{
    ABlock block = {0};
    dict = take_seq(I, dict, &block);
    const Record *record = dict_record(I, dict->type, key->loc);
    if (record->grows) {
        AExpr *value = grown_item(I, record, key, &block);
        return typed_seq(I, block, value);
    }
    if (!is_known_key(key->type)) {
        infer_pin(I, cond_origin(key));
        AExpr *none = none_at(I, key->loc);
        AExpr *value = choose_value(I, record, key, none, &block);
        return typed_seq(I, block, need_some(I, value));
    }
    int at = find_key(I, record, key->type);
    if (at < 0) {
        read_unbound(I); /* KeyError */
    }
    hold_typed(I, key, &block);
    return typed_seq(I, block, record->values.at[at]);
}

/* key in d: a comparison with each key. */
AExpr *
dict_has(Infer *I, AExpr *key, const AExpr *dict, ABlock *out)
{
    const Record *record = dict_record(I, dict->type, key->loc);
    AExprVec keys = {0};
    if (record->grows) {
        return grown_has(I, record, key, out);
    }
    for (int i = 0; i < record->keys.n; i++) {
        AExpr *one = ast_expr(I->arena, A_CONST, key->loc);
        one->type = record->keys.at[i];
        vec_push(I->arena, &keys, one);
    }
    AExpr *all = typed_display(I, &keys, false, key->loc);
    AExpr *has = compare_sequences(I, AO_IN, key, all);
    return take_seq(I, has, out);
}

/* keys (part 0), values (1) or pairs (2) as a tuple. */
static AExpr *
dict_parts(Infer *I, const Type *type, int part, Loc loc)
{
    const Record *record = dict_record(I, type, loc);
    AExprVec items = {0};
    if (record->grows) {
        return grown_parts(I, record, part, loc);
    }
    for (int i = 0; i < record->keys.n; i++) {
        AExpr *key = ast_expr(I->arena, A_CONST, loc);
        AExprVec pair = {0};
        key->type = record->keys.at[i];
        vec_push(I->arena, &pair, key);
        vec_push(I->arena, &pair, record->values.at[i]);
        AExpr *item = part == 2 ? typed_display(I, &pair, false, loc)
                                : pair.at[part];
        vec_push(I->arena, &items, item);
    }
    return typed_display(I, &items, false, loc);
}

/* A typed iterable: of a dict its keys, of anything else itself. */
AExpr *
dict_keys(Infer *I, AExpr *e)
{
    return e->type->kind == TY_DICT ? dict_parts(I, e->type, 0, e->loc) : e;
}

/* What len() is asked of: the keys of a dict that grows, after the call that
 * gives it was run. */
AExpr *
dict_sized(Infer *I, AExpr *e)
{
    bool grows = e->type->kind == TY_DICT &&
                 dict_record(I, e->type, e->loc)->grows;
    if (!grows) {
        return e;
    }
    ABlock block = {0};
    keep_effects(I, e, &block);
    return typed_seq(I, block, dict_parts(I, e->type, 0, e->loc));
}

/* d.get(key), d.get(key, other) */
static AExpr *
dict_get(Infer *I, const AExpr *e, const AExpr *dict, ABlock *out)
{
    const Record *record = dict_record(I, dict->type, e->loc);
    AExpr *key = hold_typed(I, infer_expr(I, e->items.at[0]), out);
    AExpr *other = e->items.n > 1
                       ? hold_typed(I, infer_maybe(I, e->items.at[1]), out)
                       : none_at(I, e->loc);
    if (record->grows) {
        return grown_get(I, record, key, other, out);
    }
    if (!is_known_key(key->type)) {
        infer_pin(I, cond_origin(key));
        return choose_value(I, record, key, other, out);
    }
    int at = find_key(I, record, key->type);
    return at < 0 ? other : record->values.at[at];
}

/* get, keys, values, items and copy. */
AExpr *
dict_method(Infer *I, const AExpr *e, AExpr *self)
{
    ABlock block = {0};
    const char *name = e->lhs->name;
    AExpr *dict = take_seq(I, self, &block);
    int n = e->items.n;
    AExpr *value = NULL;
    if (strcmp(name, "get") == 0 && (n == 1 || n == 2)) {
        value = dict_get(I, e, dict, &block);
    } else if (strcmp(name, "keys") == 0 && n == 0) {
        value = dict_parts(I, dict->type, 0, e->loc);
    } else if (strcmp(name, "values") == 0 && n == 0) {
        value = dict_parts(I, dict->type, 1, e->loc);
    } else if (strcmp(name, "items") == 0 && n == 0) {
        value = dict_parts(I, dict->type, 2, e->loc);
    } else if (strcmp(name, "copy") == 0 && n == 0 &&
               !dict_record(I, dict->type, e->loc)->grows) {
        value = dict;
    } else {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc,
                     "Dicts can be looked into, but not changed.",
                     "method `%s` of a dict is not translated", name);
    }
    return typed_seq(I, block, value);
}

/* The arguments that '**d' stands for: names and held values. */
const Record *
dict_entries(Infer *I, const AExpr *dict)
{
    const Record *record = dict_record(I, dict->type, dict->loc);
    if (record->grows) {
        read_unbound(I); /* TypeError: keys are no strings */
    }
    for (int i = 0; i < record->keys.n; i++) {
        if (record->keys.at[i]->kind != TY_STR) {
            read_unbound(I); /* TypeError */
        }
    }
    return record;
}
