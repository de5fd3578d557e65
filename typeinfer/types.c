/* Types: making them and asking them; jointype.c joins them.
 *
 * A Type is never changed once it is made, so types are shared freely.  A maybe
 * type has a main part and an alternative ("alt"): `float64 scalar or int`.
 */
#include <string.h>

#include "typeinfer/rules.h"

/* --- making --------------------------------------------------------------- */

/* Everything unknown, no object, no user function. */
static Type *
new_type(Arena *arena, TypeKind kind)
{
    Type *type = ARENA_NEW(arena, Type);
    type->kind = kind;
    type->func = -1;
    return type;
}

/* A type that its kind says all about: None, a range. */
const Type *
type_kind(Arena *arena, TypeKind kind)
{
    return new_type(arena, kind);
}

/* A number of which nothing else is known. */
static Type *
new_num(Arena *arena, DType dtype, bool weak)
{
    Type *type = new_type(arena, TY_NUM);
    type->dtype = dtype;
    type->weak = weak;
    return type;
}

/* A Python number (weak: bool, int64, float64) or a NumPy scalar. */
const Type *
type_num(Arena *arena, DType dtype, bool weak)
{
    return dtype_is_complex(dtype) ? type_pair(arena, dtype, weak)
                                   : new_num(arena, dtype, weak);
}

/* Python's bool. */
const Type *
type_bool(Arena *arena)
{
    return new_num(arena, DT_BOOL, true);
}

/* Python's int, kept in 64 bits. */
const Type *
type_int(Arena *arena)
{
    return new_num(arena, DT_I64, true);
}

/* Python's float. */
const Type *
type_float(Arena *arena)
{
    return new_num(arena, DT_F64, true);
}

/* True or False. */
const Type *
type_known_bool(Arena *arena, bool value)
{
    Type *type = new_num(arena, DT_BOOL, true);
    type->known = true;
    type->ival = value;
    return type;
}

/* An int with its value. */
const Type *
type_known_int(Arena *arena, int64_t value)
{
    Type *type = new_num(arena, DT_I64, true);
    type->known = true;
    type->ival = value;
    return type;
}

/* A float with its value, by bits. */
const Type *
type_known_float(Arena *arena, double value)
{
    Type *type = new_num(arena, DT_F64, true);
    type->known = true;
    type->fval = value;
    return type;
}

/* The items are copied. */
const Type *
type_tuple(Arena *arena, const Type *const *items, int n, bool is_list)
{
    Type *type = new_type(arena, TY_TUPLE);
    type->rank = n;
    type->is_list = is_list;
    type->items = ARENA_ARRAY(arena, const Type *, n + 1);
    for (int i = 0; i < n; i++) {
        type->items[i] = items[i];
    }
    return type;
}

const Type *
type_like(Arena *arena, const Type *const *items, const Type *like)
{
    const Type *type = type_tuple(arena, items, like->rank, like->is_list);
    if (like->class == 0 && like->kind == TY_TUPLE) {
        return type;
    }
    Type *named = arena_copy(arena, type, sizeof(*type));
    named->kind = like->kind;
    named->class = like->class;
    named->name = like->name;
    named->view = like->view;
    return named;
}

const Type *
type_vector(Arena *arena, DType dtype, int lanes)
{
    Type *type = new_type(arena, TY_ARRAY);
    type->dtype = dtype;
    type->rank = 1;
    type->layout = LAYOUT_C;
    type->size[0] = lanes;
    return type;
}

/* For what a loop may change, and for results of arithmetic. */
const Type *
type_forget(Arena *arena, const Type *type)
{
    if (type->kind != TY_NUM) {
        return type;
    }
    return new_num(arena, type->dtype, type->weak);
}

/* The same with another alternative. A maybe-type has neither a known value
 * nor an origin. */
const Type *
type_with_alt(Arena *arena, const Type *type, Alt alt)
{
    Type *copy = arena_copy(arena, type, sizeof(*type));
    copy->alt = alt;
    if (alt != ALT_NEVER) {
        copy->known = false;
        copy->origin = 0;
    }
    return copy;
}

const char *
type_text(Arena *arena, const Type *type)
{
    if (type == NULL) {
        return "unbound";
    }
    Str text = str_new(arena);
    type_add(&text, type);
    return text.at;
}

/* --- asking --------------------------------------------------------------- */

/* The main part of a maybe-type. */
Plain
type_plain(const Type *num)
{
    return (Plain){num->dtype, num->weak};
}

/* The alternative is always a Python number. */
bool
type_plain_alt(const Type *num, Plain *out)
{
    switch ((int)num->alt) {
    case ALT_BOOL:
        *out = (Plain){DT_BOOL, true};
        return true;
    case ALT_INT:
        *out = (Plain){DT_I64, true};
        return true;
    case ALT_FLOAT:
        *out = (Plain){DT_F64, true};
        return true;
    default:
        return false;
    }
}

/* In registers; a small part of a buffer is none until it is loaded. */
bool
type_is_vector(const Type *type)
{
    return type->kind == TY_ARRAY && !type->memory;
}

/* A buffer or a view of one. */
bool
type_is_memory(const Type *type)
{
    return type->kind == TY_ARRAY && type->memory;
}

/* Sizes that are not known are negative. */
int
type_lanes(const Type *type)
{
    bool small = type->kind == TY_ARRAY && type->rank == 1 &&
                 type->size[0] >= 1 && type->size[0] <= MAX_LANES &&
                 !dtype_is_complex(type->dtype);
    return small ? (int)type->size[0] : 0;
}

/* Also of bools: True is 1. */
bool
type_is_known_int(const Type *type, int64_t *out)
{
    bool is = type->kind == TY_NUM && type->known && type->alt == ALT_NEVER &&
              !dtype_is_float(type->dtype);
    if (is) {
        *out = type->ival;
    }
    return is;
}

/* What may be an index: NumPy's integers have __index__, its bools don't. */
bool
type_is_integer(const Type *type, bool or_bool)
{
    if (type->kind != TY_NUM) {
        return false;
    }
    return dtype_is_int(type->dtype) ||
           (or_bool && type->dtype == DT_BOOL && type->weak);
}

bool
type_is_size(const Type *type)
{
    return type_is_integer(type, false) &&
           (type->alt == ALT_NEVER || type->alt == ALT_INT);
}

bool
type_is_one_dtype(const Type *num)
{
    Plain alt;
    return num->alt == ALT_NEVER ||
           (type_plain_alt(num, &alt) && alt.dtype == num->dtype);
}

/* nan is true. */
static bool
known_truth(const Type *num)
{
    return dtype_is_float(num->dtype) ? num->fval != 0 : num->ival != 0;
}

bool
type_truth(const Type *type, bool *out)
{
    if (type->alt != ALT_NEVER) {
        return false;
    }
    switch ((int)type->kind) {
    case TY_NONE:
        *out = false;
        return true;
    case TY_NUM:
        *out = type->known && known_truth(type);
        return type->known;
    case TY_TUPLE:
    case TY_DICT:
        *out = type->rank > 0;
        return type->rank >= 0; /* -1: a dict that grows */
    case TY_LIST:
        *out = false;
        return type->rank == 0; /* nothing is ever put in */
    case TY_STR:
        *out = type->name[0] != '\0';
        return true;
    case TY_FUNC:
    case TY_MODULE:
    case TY_OBJECT:
        *out = true;
        return true;
    case TY_RECORD:
        *out = true;
        return type->ival > 0;
    default:
        return false;
    }
}
