/* Element types: their tables, NumPy's promotion, and types as people read
 * them.
 *
 * Promotion needs no table of pairs.  Among the types here it follows from
 * three facts: bool gives way to everything; an integer of b bits fits in a
 * signed one of 2b; float32 holds integers of at most 16 bits, float64 is
 * taken for all others.  int64 with uint64 has no integer to go to, so it
 * becomes float64.  tests/test_ir.py compares all pairs with np.result_type.
 */
#include "csrc/ir/type.h"

#include <string.h>

/* What there is to know of an element type.
 *
 *   "name"  NumPy's, for messages and dtype objects.
 *   "text"  the IR's, in the text form and in names of the prelude: vz_mod_i32.
 *   "size"  bytes of an element.
 *   "kind"  one letter, see there. */
typedef struct DTypeRow {
    const char *name;
    const char *text;
    int size;
    char kind; /* b bool, i signed, u unsigned, f float, c complex */
} DTypeRow;

static const DTypeRow rows[DT_COUNT] = {
    [DT_BOOL] = {"bool", "b1", 1, 'b'},
    [DT_I8] = {"int8", "i8", 1, 'i'},
    [DT_I16] = {"int16", "i16", 2, 'i'},
    [DT_I32] = {"int32", "i32", 4, 'i'},
    [DT_I64] = {"int64", "i64", 8, 'i'},
    [DT_U8] = {"uint8", "u8", 1, 'u'},
    [DT_U16] = {"uint16", "u16", 2, 'u'},
    [DT_U32] = {"uint32", "u32", 4, 'u'},
    [DT_U64] = {"uint64", "u64", 8, 'u'},
    [DT_F32] = {"float32", "f32", 4, 'f'},
    [DT_F64] = {"float64", "f64", 8, 'f'},
    [DT_C64] = {"complex64", "c64", 8, 'c'},
    [DT_C128] = {"complex128", "c128", 16, 'c'},
};

int
dtype_size(DType dt)
{
    return rows[dt].size;
}

bool
dtype_is_int(DType dt)
{
    return rows[dt].kind == 'i' || rows[dt].kind == 'u';
}

bool
dtype_is_signed(DType dt)
{
    return rows[dt].kind == 'i';
}

bool
dtype_is_float(DType dt)
{
    return rows[dt].kind == 'f';
}

bool
dtype_is_complex(DType dt)
{
    return rows[dt].kind == 'c';
}

DType
dtype_part(DType dt)
{
    return dt == DT_C64 ? DT_F32 : dt == DT_C128 ? DT_F64 : dt;
}

DType
dtype_of_parts(DType part)
{
    return part == DT_F32 ? DT_C64 : DT_C128;
}

const char *
dtype_name(DType dt)
{
    return rows[dt].name;
}

const char *
dtype_short(DType dt)
{
    return rows[dt].text;
}

/* A linear search: only the reader of texts asks. */
bool
dtype_from_short(const char *text, DType *out)
{
    for (int i = 0; i <= DT_F64; i++) { /* the IR has no complex numbers */
        if (strcmp(rows[i].text, text) == 0) {
            *out = (DType)i;
            return true;
        }
    }
    return false;
}

/* In two's complement: one further from 0 than the greatest. 0 for bool and
 * unsigned types. */
int64_t
dtype_min(DType dt)
{
    if (rows[dt].kind != 'i') {
        return 0;
    }
    return -(int64_t)(dtype_max(dt)) - 1;
}

/* All bits of the type set, without the sign. Of a float there is none; nobody
 * asks. */
uint64_t
dtype_max(DType dt)
{
    int bits = rows[dt].size * 8;
    if (rows[dt].kind == 'b') {
        return 1;
    }
    return UINT64_MAX >> (64 - bits + (rows[dt].kind == 'i'));
}

/* A float and any other: float32 only if it holds the other exactly. Two bytes
 * are 16 bits at most, which the 24 bits of a float32 hold. */
static DType
promote_float(DType real, DType other)
{
    if (real == DT_F32 && (other == DT_F32 || rows[other].size <= 2)) {
        return DT_F32;
    }
    return DT_F64;
}

/* The parts of a complex number and any other that meets it. */
static DType
promote_parts(DType lhs, DType rhs)
{
    return dtype_is_float(lhs) ? promote_float(lhs, rhs)
                               : promote_float(rhs, lhs);
}

/* The signed type of 'size' bytes; float64 when there is none. Sizes other than
 * these come from doubling 8: int64 with uint64. */
static DType
signed_of_size(int size)
{
    switch (size) {
    case 1:
        return DT_I8;
    case 2:
        return DT_I16;
    case 4:
        return DT_I32;
    case 8:
        return DT_I64;
    default:
        return DT_F64;
    }
}

/* Symmetric: each rule looks at both sides.  The signed type wins if it is the
 * larger; else the next larger signed one must hold both. Examples: bool, x ->
 * x; int8, int32 -> int32; int8, uint8 -> int16; int32, uint32 -> int64; int64,
 * uint64 -> float64; int16, float32 -> float32; int32, float32 -> float64.
 * Python's weak numbers don't come here: they give way to a NumPy operand by
 * other rules (typeinfer/rules.c). */
DType
dtype_promote(DType lhs, DType rhs)
{
    if (lhs == rhs || rhs == DT_BOOL) {
        return lhs;
    }
    if (lhs == DT_BOOL) {
        return rhs;
    }
    if (dtype_is_complex(lhs) || dtype_is_complex(rhs)) {
        return dtype_of_parts(
            promote_parts(dtype_part(lhs), dtype_part(rhs)));
    }
    if (dtype_is_float(lhs)) {
        return promote_float(lhs, rhs);
    }
    if (dtype_is_float(rhs)) {
        return promote_float(rhs, lhs);
    }
    if (rows[lhs].kind == rows[rhs].kind) {
        return rows[lhs].size > rows[rhs].size ? lhs : rhs;
    }
    DType with_sign = dtype_is_signed(lhs) ? lhs : rhs;
    DType without = dtype_is_signed(lhs) ? rhs : lhs;
    if (rows[with_sign].size > rows[without].size) {
        return with_sign;
    }
    return signed_of_size(2 * rows[without].size);
}

/* --- Type --------------------------------------------------------------- */

/* Python's own numbers by Python's names, NumPy's scalars by their dtype's. So
 * 'int' is a Python number and 'int64 scalar' one of NumPy's, which a message
 * must keep apart: they divide and overflow differently. */
static void
add_num(Str *out, const Type *type)
{
    if (!type->weak) {
        str_addf(out, "%s scalar", dtype_name(type->dtype));
        return;
    }
    str_add(out, type->dtype == DT_BOOL        ? "bool"
                 : dtype_is_float(type->dtype) ? "float"
                                               : "int");
}

/* 'float32[:, :, 3]': an axis of unknown extent is ':'. */
static void
add_array(Str *out, const Type *type)
{
    str_addf(out, "%s[", dtype_name(type->dtype));
    for (int i = 0; i < type->rank; i++) {
        str_add(out, i ? ", " : "");
        if (type->size[i] >= 0) {
            str_addf(out, "%lld", (long long)type->size[i]);
        } else {
            str_add(out, ":");
        }
    }
    str_add(out, "]");
}

/* As Python writes them: '(int,)' for one item, '[int]' for a list. */
static void
add_tuple(Str *out, const Type *type)
{
    str_add(out, type->class ? type->name : "");
    str_add(out, type->is_list ? "[" : "(");
    for (int i = 0; i < type->rank; i++) {
        str_add(out, i ? ", " : "");
        type_add(out, type->items[i]);
    }
    if (type->is_list) {
        str_add(out, "]");
    } else {
        str_add(out, type->rank == 1 ? ",)" : ")");
    }
}

/* 'list of int'; an empty one has nothing to say. */
static void
add_list(Str *out, const Type *type)
{
    str_add(out, type->is_list ? "list" : "tuple");
    if (type->rank > 0) {
        str_add(out, " of ");
        type_add(out, type->items[0]);
    }
}

/* Kinds that are told by a word and perhaps a name. */
static void
add_named(Str *out, const char *word, const Type *type)
{
    str_add(out, word);
    if (type->name) {
        str_addf(out, " %s", type->name);
    }
}

/* The type without its alternative. */
static void
add_kind(Str *out, const Type *type)
{
    switch (type->kind) {
    case TY_POISON:
        str_add(out, "unknown");
        break;
    case TY_NONE:
        str_add(out, "None");
        break;
    case TY_NUM:
        add_num(out, type);
        break;
    case TY_ARRAY:
        add_array(out, type);
        break;
    case TY_COMPLEX:
        if (type->weak) {
            str_add(out, "complex");
        } else {
            str_addf(out, "%s scalar", dtype_name(type->dtype));
        }
        break;
    case TY_TUPLE:
    case TY_OBJECT:
        add_tuple(out, type);
        break;
    case TY_EITHER:
        type_add(out, type->items[0]);
        break;
    case TY_LIST:
        add_list(out, type);
        break;
    case TY_DICT:
    case TY_MAPPING:
        str_add(out, "dict");
        break;
    case TY_STR:
        str_add(out, "str");
        break;
    case TY_FUNC:
        add_named(out, "function", type);
        break;
    case TY_MODULE:
        add_named(out, "module", type);
        break;
    case TY_DTYPE:
        str_addf(out, "dtype %s", dtype_name(type->dtype));
        break;
    case TY_SLICE:
        str_add(out, "slice");
        break;
    case TY_RANGE:
        str_add(out, "range");
        break;
    case TY_RECORD:
        str_add(out, type->name ? type->name : "object");
        break;
    }
}

/* A maybe-type reads 'float64 scalar or int'. */
void
type_add(Str *out, const Type *type)
{
    static const char *const alts[] = {
        [ALT_NEVER] = "",
        [ALT_NONE] = " or None",
        [ALT_UNBOUND] = " or unbound",
        [ALT_BOOL] = " or bool",
        [ALT_INT] = " or int",
        [ALT_FLOAT] = " or float",
        [ALT_COMPLEX] = " or complex",
    };
    add_kind(out, type);
    str_add(out, alts[type->alt]);
}

/* Known values are equal as bits: 0.0 and -0.0 are two types, nan is one. That
 * is what a compiled branch may depend on: 1 / -0.0 differs from 1 / 0.0. */
static bool
equal_known(const Type *lhs, const Type *rhs)
{
    if (lhs->known != rhs->known) {
        return false;
    }
    if (!lhs->known) {
        return true;
    }
    if (dtype_is_float(lhs->dtype)) {
        return memcmp(&lhs->fval, &rhs->fval, sizeof(double)) == 0;
    }
    return lhs->ival == rhs->ival;
}

/* Item by item; the lengths are equal already. */
static bool
equal_items(const Type *lhs, const Type *rhs)
{
    for (int i = 0; i < lhs->rank; i++) {
        if (!type_equal(lhs->items[i], rhs->items[i])) {
            return false;
        }
    }
    return lhs->is_list == rhs->is_list && lhs->class == rhs->class;
}

/* Sizes are part of the type: a known extent is what makes a vector. "object",
 * "memory", "view" and "origin" say where a value comes from and not what it
 * is. */
static bool
equal_array(const Type *lhs, const Type *rhs)
{
    size_t bytes = sizeof(int64_t) * (size_t)lhs->rank;
    return lhs->dtype == rhs->dtype && lhs->layout == rhs->layout &&
           memcmp(lhs->size, rhs->size, bytes) == 0;
}

bool
type_is_pack(const Type *type)
{
    return type->kind == TY_TUPLE || type->kind == TY_OBJECT ||
           type->kind == TY_EITHER || type->kind == TY_MAPPING;
}

/* Compares what its kind uses of a Type and nothing else: the other fields may
 * hold anything. Interned names compare by address.  Kinds that are not listed
 * have nothing but their kind. */
bool
type_equal(const Type *lhs, const Type *rhs)
{
    if (lhs == rhs) {
        return true;
    }
    if (lhs->kind != rhs->kind || lhs->alt != rhs->alt ||
        lhs->rank != rhs->rank) {
        return false;
    }
    switch (lhs->kind) {
    case TY_NUM:
        return lhs->dtype == rhs->dtype && lhs->weak == rhs->weak &&
               equal_known(lhs, rhs);
    case TY_ARRAY:
        return equal_array(lhs, rhs);
    case TY_OBJECT:
        return lhs->object == rhs->object && equal_items(lhs, rhs);
    case TY_TUPLE:
    case TY_EITHER:
    case TY_MAPPING:
    case TY_SLICE:
        return equal_items(lhs, rhs);
    case TY_LIST:
        return lhs->object == rhs->object && equal_items(lhs, rhs);
    case TY_DTYPE:
        return lhs->dtype == rhs->dtype && lhs->weak == rhs->weak &&
               lhs->rank == rhs->rank;
    case TY_COMPLEX:
        return lhs->dtype == rhs->dtype && lhs->weak == rhs->weak;
    case TY_DICT:
    case TY_RECORD:
        return lhs->ival == rhs->ival;
    case TY_STR:
    case TY_MODULE:
        return lhs->name == rhs->name;
    case TY_FUNC:
        return lhs->name == rhs->name && lhs->func == rhs->func &&
               lhs->ival == rhs->ival;
    default:
        return true;
    }
}
