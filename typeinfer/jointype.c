/* The join of types: what a name may be after two paths have met.
 *
 * The join is a small lattice: the set of plain types that a value may have,
 * plus "None" and "unbound".  What a NUM can say is sets of one or two of
 * these; an EITHER is a NUM of two with a flag of its own for the third.  So
 *
 *     {int, float64 scalar}   ->  float64 scalar or int
 *     {int, None}             ->  int or None
 *     {int, float, None}      ->  (float or int) or None
 *     {int, float, float32}   ->  no join: a conflict
 *     {float32, float64}      ->  no join; if they "meet", float64 scalar
 *     {float32, float 0.1}    ->  float32 or float; if they "meet", float64
 *                                 scalar or float
 *
 * Of two numbers the one with more values is the main one, because the value
 * is kept in its dtype.
 *
 * The alternative of a number is always one of Python's: two NumPy types behave
 * differently in every operation, so a flag between them would not help.  And
 * the value must be the same number in both, which is what the conversion at a
 * join checks when the program runs: 0 and 1.5 are float32 values, 0.1 is not.
 *
 * They "meet" where approx="f32" leaves the precision open: the name is float64
 * then, which holds all values, and pass 'narrow' decides as of any other what
 * becomes float32.  Python's 0.0 and 1.0, which start sums and products, are
 * float32 all the same.
 */
#include <string.h>

#include "typeinfer/rules.h"

/* What a value may be; "plain" holds the kinds of number. */
typedef struct Set {
    Plain plain[4];
    int nplain;
    bool none;
    bool unbound;
} Set;

/* Adds a kind of number to the set, once. */
static void
add_plain(Set *set, Plain plain)
{
    for (int i = 0; i < set->nplain; i++) {
        if (set->plain[i].dtype == plain.dtype &&
            set->plain[i].weak == plain.weak) {
            return;
        }
    }
    set->plain[set->nplain++] = plain;
}

/* False when 'type' is no number, None or unbound name. */
static bool
add_to_set(Set *set, const Type *type)
{
    if (type == NULL) {
        set->unbound = true;
        return true;
    }
    if (type->kind == TY_NONE) {
        set->none = true;
        set->unbound |= type->alt == ALT_UNBOUND;
        return true;
    }
    bool either = type->kind == TY_EITHER;
    if (either ? !add_to_set(set, type->items[0]) : type->kind != TY_NUM) {
        return false;
    }
    set->none |= type->alt == ALT_NONE;
    set->unbound |= type->alt == ALT_UNBOUND;
    if (either) {
        return true;
    }
    add_plain(set, type_plain(type));
    Plain alt;
    if (type_plain_alt(type, &alt)) {
        add_plain(set, alt);
    }
    return true;
}

/* A weak kind of number as an alternative. */
static Alt
alt_of(Plain weak)
{
    return weak.dtype == DT_BOOL  ? ALT_BOOL
           : weak.dtype == DT_I64 ? ALT_INT
                                  : ALT_FLOAT;
}

/* The main type and the alternative of two kinds of number: NumPy's before
 * Python's, float before int before bool. */
static const Type *
join_two(Arena *arena, Plain main, Plain other)
{
    if (main.weak && !other.weak) {
        return join_two(arena, other, main);
    }
    if (!other.weak) {
        return NULL;
    }
    if (main.weak && main.dtype < other.dtype) {
        return join_two(arena, other, main); /* bool < int < float */
    }
    if (main.dtype == DT_BOOL && other.dtype != DT_BOOL) {
        return NULL;
    }
    return type_with_alt(arena, type_num(arena, main.dtype, main.weak),
                         alt_of(other));
}

/* Two kinds of number, or None or nothing yet. */
static const Type *
join_three(Arena *arena, const Set *set)
{
    const Type *num = join_two(arena, set->plain[0], set->plain[1]);
    if (num == NULL || (set->none && set->unbound)) {
        return NULL;
    }
    Type *either = arena_copy(arena, type_tuple(arena, &num, 1, false),
                              sizeof(*either));
    either->kind = TY_EITHER;
    either->alt = set->none ? ALT_NONE : ALT_UNBOUND;
    return either;
}

/* A set of one or two is a type with one flag; of more it is none, but for one
 * of three with two flags. */
static const Type *
join_set(Arena *arena, const Set *set)
{
    int size = set->nplain + set->none + set->unbound;
    if (size > 2) {
        return set->nplain == 2 ? join_three(arena, set) : NULL;
    }
    if (set->nplain == 0) {
        const Type *none = set->none ? type_kind(arena, TY_NONE) : NULL;
        return set->none && set->unbound
                   ? type_with_alt(arena, none, ALT_UNBOUND)
                   : none;
    }
    if (set->nplain == 2) {
        return join_two(arena, set->plain[0], set->plain[1]);
    }
    const Type *num = type_num(arena, set->plain[0].dtype, set->plain[0].weak);
    if (size == 1) {
        return num;
    }
    return type_with_alt(arena, num, set->none ? ALT_NONE : ALT_UNBOUND);
}

/* Tuples of one length join item by item. */
static const Type *
join_items(Arena *arena, const Type *lhs, const Type *rhs, bool meet)
{
    bool alts = lhs->alt == rhs->alt || lhs->alt == ALT_NEVER ||
                rhs->alt == ALT_NEVER;
    if (lhs->rank != rhs->rank || lhs->is_list != rhs->is_list || !alts ||
        lhs->class != rhs->class) {
        return NULL;
    }
    const Type **items = ARENA_ARRAY(arena, const Type *, lhs->rank + 1);
    for (int i = 0; i < lhs->rank; i++) {
        items[i] = type_join(arena, lhs->items[i], rhs->items[i], meet);
        if (items[i] == NULL) {
            return NULL;
        }
    }
    const Type *joined = type_like(arena, items, rhs->view ? rhs : lhs);
    Alt alt = lhs->alt != ALT_NEVER ? lhs->alt : rhs->alt;
    return alt == ALT_NEVER ? joined : type_with_alt(arena, joined, alt);
}

/* What is known of the strides of one or the other; a part of an array is not
 * told to be without gaps. */
static Layout
join_layouts(const Type *lhs, const Type *rhs)
{
    Layout layouts[] = {lhs->layout, rhs->layout};
    bool parts = lhs->view || rhs->view;
    for (int i = 0; i < 2; i++) {
        bool rows = layouts[i] == LAYOUT_C && (parts || lhs->layout !=
                                                            rhs->layout);
        layouts[i] = rows ? LAYOUT_ROWS : layouts[i];
    }
    return layouts[0] == layouts[1] ? layouts[0] : LAYOUT_ANY;
}

/* An array of which only the run knows which it is: another type than that of
 * each.  The caller gives it an object. */
Type *
type_ref(Arena *arena, const Type *type)
{
    Type *ref = arena_copy(arena, type, sizeof(*type));
    ref->ref = true;
    ref->object = 0;
    ref->layout = join_layouts(type, type);
    return ref;
}

/* Arrays in memory: the very same one, or a reference to either, of which the
 * run knows which it is.  An axis whose size differs has no known size. */
static const Type *
join_memory(Arena *arena, const Type *lhs, const Type *rhs)
{
    bool alike = lhs->dtype == rhs->dtype && lhs->rank == rhs->rank;
    bool alts = lhs->alt == rhs->alt || lhs->alt == ALT_NEVER ||
                rhs->alt == ALT_NEVER;
    if (!alike || !alts) {
        return NULL;
    }
    if (lhs->object == rhs->object && !lhs->view && !rhs->view &&
        !lhs->ref && !rhs->ref && lhs->alt == rhs->alt) {
        return lhs;
    }
    Type *ref = type_ref(arena, lhs);
    ref->alt = lhs->alt != ALT_NEVER ? lhs->alt : rhs->alt;
    ref->view |= rhs->view;
    ref->layout = join_layouts(lhs, rhs);
    for (int i = 0; i < lhs->rank; i++) {
        ref->size[i] = lhs->size[i] == rhs->size[i] ? lhs->size[i] : -1;
    }
    bool same = lhs->ref && lhs->object != 0 && lhs->view == ref->view &&
                type_equal(lhs, ref);
    return same ? lhs : ref;
}

/* Vectors of one form, or arrays in memory.  Which objects the joined array
 * may be is kept by the caller. */
static const Type *
join_arrays(Arena *arena, const Type *lhs, const Type *rhs)
{
    if (lhs->memory && rhs->memory) {
        return join_memory(arena, lhs, rhs);
    }
    bool same = lhs->memory == rhs->memory && lhs->dtype == rhs->dtype &&
                lhs->rank == rhs->rank && lhs->size[0] == rhs->size[0];
    return !same ? NULL : lhs->alt != ALT_NEVER ? lhs : rhs;
}

/* `total = 0; for ...: total = total + img[r, c]`: a vector, or a Python number
 * that stands in all lanes. */
static const Type *
join_number(Arena *arena, const Type *array, const Type *num)
{
    bool fits = type_is_vector(array) && num->weak && num->alt == ALT_NEVER &&
                array->dtype != DT_BOOL &&
                (num->dtype != DT_F64 || dtype_is_float(array->dtype));
    Alt alt = alt_of(type_plain(num));
    if (!fits || (array->alt != ALT_NEVER && array->alt != alt)) {
        return NULL;
    }
    return type_with_alt(arena, array, alt);
}

/* An array, or None, or nothing yet. */
static const Type *
join_absent(Arena *arena, const Type *array, Alt alt)
{
    if (array->alt != ALT_NEVER && array->alt != alt) {
        return NULL;
    }
    if (type_is_vector(array)) {
        return type_with_alt(arena, array, alt);
    }
    bool same = array->ref && array->object != 0 && array->alt == alt;
    return same ? array : type_with_alt(arena, type_ref(arena, array), alt);
}

/* An item of a tuple that may not be there. */
static const Type *
absent_item(Arena *arena, const Type *type)
{
    if (type_is_pack(type)) {
        const Type **items = ARENA_ARRAY(arena, const Type *, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            items[i] = absent_item(arena, type->items[i]);
        }
        const Type *pack = type_like(arena, items, type);
        return type->alt == ALT_NEVER ? pack
                                      : type_with_alt(arena, pack, type->alt);
    }
    bool memory = type_is_memory(type) && !type->ref;
    return memory ? type_ref(arena, type) : type;
}

/* A tuple, or None, or nothing yet. */
static const Type *
join_absent_tuple(Arena *arena, const Type *tuple, Alt alt)
{
    if (tuple->alt == alt) {
        return tuple;
    }
    return tuple->alt != ALT_NEVER
               ? NULL
               : type_with_alt(arena, absent_item(arena, tuple), alt);
}

/* Can the number that is known be kept in the dtype of 'joined'? */
static bool
keeps_exactly(const Type *known, DType dtype)
{
    if (dtype_is_float(known->dtype)) {
        double value = known->fval;
        if (dtype == DT_F32) {
            return value != value || (double)(float)value == value;
        }
        return dtype == DT_F64 || (value >= (double)dtype_min(dtype) &&
                                   value <= (double)dtype_max(dtype) &&
                                   value == (double)(int64_t)value);
    }
    int64_t value = known->ival;
    if (dtype_is_float(dtype)) {
        int64_t limit = INT64_C(1) << (dtype == DT_F32 ? 24 : 53);
        return value >= -limit && value <= limit;
    }
    return value >= dtype_min(dtype) &&
           (value < 0 || (uint64_t)value <= dtype_max(dtype));
}

bool
type_keeps(const Type *known, const Type *joined)
{
    if (joined != NULL && joined->kind == TY_EITHER) {
        return type_keeps(known, joined->items[0]);
    }
    bool numbers = known != NULL && joined != NULL && known->kind == TY_NUM &&
                   joined->kind == TY_NUM && known->known &&
                   known->alt == ALT_NEVER;
    return !numbers || known->dtype == joined->dtype ||
           known->dtype == DT_BOOL || keeps_exactly(known, joined->dtype);
}

/* Types of arrays also say which array. */
static bool
has_array(const Type *type)
{
    bool found = type->kind == TY_ARRAY || type->kind == TY_LIST;
    for (int i = 0; type_is_pack(type) && i < type->rank && !found; i++) {
        found = has_array(type->items[i]);
    }
    return found;
}

/* Equal types need no join, unless they come from different axes. */
static bool
known_alike(const Type *lhs, const Type *rhs)
{
    return type_equal(lhs, rhs) && (lhs->known || lhs->origin == rhs->origin);
}

/* A list that may be something else: unbound (NULL) or None. Other lists are
 * joined by list.c. */
static const Type *
join_list(Arena *arena, const Type *list, const Type *other)
{
    Alt alt = other == NULL ? ALT_UNBOUND : ALT_NONE;
    if (other != NULL && other->kind == TY_LIST) {
        bool same = list->object == other->object;
        bool alts = list->alt == ALT_NEVER || other->alt == ALT_NEVER ||
                    list->alt == other->alt;
        return !same || !alts ? NULL : list->alt ? list : other;
    }
    bool fits = (other == NULL || other->kind == TY_NONE) &&
                (list->alt == ALT_NEVER || list->alt == alt) &&
                (other == NULL || other->alt == ALT_NEVER);
    return fits ? type_with_alt(arena, list, alt) : NULL;
}

/* What a side of a join is besides complex of 'main': false, if it is neither
 * that nor a Python number. */
static bool
complex_side(const Type *type, const Type *main, Alt *own)
{
    if (type->kind == TY_NUM) {
        *own = alt_of(type_plain(type));
        return type->weak && type->alt == ALT_NEVER && type->dtype != DT_BOOL;
    }
    bool same = type->weak == main->weak && type->dtype == main->dtype;
    *own = same ? type->alt : ALT_COMPLEX;
    return type->kind == TY_COMPLEX &&
           (same || (type->weak && type->alt == ALT_NEVER));
}

/* Complex, or one of Python's numbers instead. */
static const Type *
join_complex(Arena *arena, const Type *lhs, const Type *rhs)
{
    const Type *sides[] = {lhs, rhs};
    bool left = lhs->kind == TY_COMPLEX &&
                (rhs->kind != TY_COMPLEX || !lhs->weak);
    const Type *main = left ? lhs : rhs;
    Alt alt = ALT_NEVER;
    for (int i = 0; i < 2; i++) {
        Alt own;
        if (!complex_side(sides[i], main, &own) ||
            (own != ALT_NEVER && alt != ALT_NEVER && own != alt)) {
            return NULL;
        }
        alt = own != ALT_NEVER ? own : alt;
    }
    const Type *type = type_pair(arena, main->dtype, main->weak);
    return alt == ALT_NEVER ? type : type_with_alt(arena, type, alt);
}

/* May 'type' be a float of Python's of which it is not known that it is a
 * float32's? */
static bool
is_fine_float(const Type *type)
{
    if (type == NULL || type->kind == TY_EITHER) {
        return type != NULL && is_fine_float(type->items[0]);
    }
    return type->kind == TY_NUM && type->weak && type->dtype == DT_F64 &&
           !(type->known && keeps_exactly(type, DT_F32));
}

/* float32 becomes float64 where a float64 of either kind is in the set. */
static void
meet_floats(Set *set, bool fine)
{
    Set met = {.none = set->none, .unbound = set->unbound};
    for (int i = 0; i < set->nplain; i++) {
        fine |= set->plain[i].dtype == DT_F64 && !set->plain[i].weak;
    }
    for (int i = 0; i < set->nplain; i++) {
        Plain plain = set->plain[i];
        plain.dtype = fine && plain.dtype == DT_F32 ? DT_F64 : plain.dtype;
        add_plain(&met, plain);
    }
    *set = met;
}

/* The join of two types; symmetric but for the order in which a conflict is
 * told. */
const Type *
type_join(Arena *arena, const Type *lhs, const Type *rhs, bool meet)
{
    if (lhs == rhs) {
        return lhs;
    }
    if (lhs != NULL && rhs != NULL && known_alike(lhs, rhs) &&
        !has_array(lhs)) {
        return lhs;
    }
    if ((lhs != NULL && lhs->kind == TY_LIST) ||
        (rhs != NULL && rhs->kind == TY_LIST)) {
        bool left = lhs != NULL && lhs->kind == TY_LIST;
        return join_list(arena, left ? lhs : rhs, left ? rhs : lhs);
    }
    Set set = {.nplain = 0};
    if (add_to_set(&set, lhs) && add_to_set(&set, rhs)) {
        if (meet) {
            meet_floats(&set, is_fine_float(lhs) || is_fine_float(rhs));
        }
        return join_set(arena, &set);
    }
    bool none = (lhs == NULL || (lhs->kind == TY_NONE && !lhs->alt)) ||
                (rhs == NULL || (rhs->kind == TY_NONE && !rhs->alt));
    const Type *tuple = lhs != NULL && type_is_pack(lhs)   ? lhs
                        : rhs != NULL && type_is_pack(rhs) ? rhs
                                                           : NULL;
    if (none && tuple != NULL && !tuple->is_list) {
        bool unbound = lhs == NULL || rhs == NULL;
        return join_absent_tuple(arena, tuple,
                                 unbound ? ALT_UNBOUND : ALT_NONE);
    }
    if (lhs == NULL || rhs == NULL) {
        const Type *other = lhs ? lhs : rhs;
        return other->kind == TY_ARRAY
                   ? join_absent(arena, other, ALT_UNBOUND)
                   : NULL;
    }
    if (lhs->kind == TY_NONE && rhs->kind == TY_ARRAY &&
        lhs->alt == ALT_NEVER) {
        return join_absent(arena, rhs, ALT_NONE);
    }
    if (rhs->kind == TY_NONE && lhs->kind == TY_ARRAY &&
        rhs->alt == ALT_NEVER) {
        return join_absent(arena, lhs, ALT_NONE);
    }
    if (lhs->kind == TY_COMPLEX || rhs->kind == TY_COMPLEX) {
        return join_complex(arena, lhs, rhs);
    }
    if (lhs->kind == TY_NUM && rhs->kind == TY_ARRAY) {
        return join_number(arena, rhs, lhs);
    }
    if (rhs->kind == TY_NUM && lhs->kind == TY_ARRAY) {
        return join_number(arena, lhs, rhs);
    }
    if (lhs->kind != rhs->kind) {
        return NULL;
    }
    switch ((int)lhs->kind) {
    case TY_TUPLE:
    case TY_OBJECT:
    case TY_MAPPING:
        return join_items(arena, lhs, rhs, meet);
    case TY_ARRAY:
        return join_arrays(arena, lhs, rhs);
    default:
        return NULL;
    }
}
