/* Iterables of known length, as lists of typed expressions.
 *
 *     zip(range(3), (a, b, c))      (0, a) (1, b) (2, c)
 *     enumerate(pair, 1)            (1, pair[0]) (2, pair[1])
 *     reversed(v)                   v[2] v[1] v[0]
 *
 * This is how a comprehension becomes a display, and a loop over things of
 * different types one statement after the other.  All parts of the iterable are
 * held first, because Python evaluates them once; its items are then read when
 * their round comes, as Python's iterators do.
 */
#include "typeinfer/state.h"

/* More items than this are never written out. */
enum { MOST_ITEMS = 1024 };

void
refuse_iteration(Infer *I, const Type *type, Loc loc)
{
    bool named = type->kind == TY_RANGE;
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                 named ? "Call `enumerate`, `zip` and the like in the `for` "
                         "itself." : NULL,
                 named ? "an iterator that has a name is not translated"
                       : "iteration over %s is not translated",
                 type_text(I->arena, type));
}

/* What is iterated, if it is one of the builtins that make iterators. */
BuiltinId
iter_builtin(const AExpr *e)
{
    bool call =
        e->kind == A_CALL && e->callee == NULL && e->type->kind == TY_RANGE;
    return call ? builtin_of(e->lhs) : BUILTIN_NONE;
}

/* The typed iterable with all that it evaluates held in 'out': the parts of zip
 * and enumerate each for itself. */
AExpr *
iter_hold(Infer *I, AExpr *e, ABlock *out)
{
    BuiltinId id = iter_builtin(e);
    if (id == BUILTIN_NONE) {
        return hold_typed(I, e, out);
    }
    AExpr *copy = arena_copy(I->arena, e, sizeof(*e));
    copy->items = (AExprVec){0};
    for (int i = 0; i < e->items.n; i++) {
        AExpr *item = e->items.at[i];
        vec_push(I->arena, &copy->items, item ? iter_hold(I, item, out) : NULL);
    }
    return copy;
}

/* The value of an argument of range, 'dflt' where it is left out; false when
 * it isn't known. */
static bool
known_arg(const AExpr *e, int64_t dflt, int64_t *out)
{
    *out = dflt;
    return e == NULL || type_is_known_int(e->type, out);
}

/* range(lo, hi, step) with known arguments. */
static bool
known_range(const AExpr *e, int64_t *lo, int64_t *hi, int64_t *step)
{
    bool one = e->items.at[1] == NULL;
    return known_arg(one ? NULL : e->items.at[0], 0, lo) &&
           known_arg(e->items.at[one ? 0 : 1], 0, hi) &&
           known_arg(e->items.at[2], 1, step) && *step != 0;
}

/* Rounds of range, without overflow: the distance of two int64s fits a uint64.
 */
static int64_t
range_count(int64_t lo, int64_t hi, int64_t step)
{
    if (step > 0 ? lo >= hi : lo <= hi) {
        return 0;
    }
    uint64_t span =
        step > 0 ? (uint64_t)hi - (uint64_t)lo : (uint64_t)lo - (uint64_t)hi;
    uint64_t by = step > 0 ? (uint64_t)step : -(uint64_t)step;
    uint64_t n = (span - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* The least count of the parts of zip, the product of those of product. */
static int64_t
parts_count(Infer *I, const AExpr *e, bool product)
{
    int64_t n = product ? 1 : 0;
    for (int i = 0; i < e->items.n; i++) {
        int64_t one = iter_count(I, e->items.at[i]);
        if (one < 0) {
            return -1;
        }
        n = product ? (n > MOST_ITEMS ? n : n * one)
            : i     ? (one < n ? one : n)
                    : one;
    }
    return n;
}

/* How many rounds the typed iterable gives; -1: that is not known. */
int64_t
iter_count(Infer *I, const AExpr *e)
{
    int64_t lo;
    int64_t hi;
    int64_t step;
    switch ((int)iter_builtin(e)) {
    case BUILTIN_NONE:
        break;
    case BUILTIN_RANGE:
        return known_range(e, &lo, &hi, &step) ? range_count(lo, hi, step) : -1;
    case BUILTIN_ENUMERATE:
    case BUILTIN_REVERSED:
        return iter_count(I, e->items.at[0]);
    case BUILTIN_ZIP:
        return parts_count(I, e, false);
    case BUILTIN_PRODUCT:
        return parts_count(I, e, true);
    default:
        return -1;
    }
    if (e->type->kind == TY_TUPLE && e->type->alt == ALT_NEVER) {
        return e->type->rank;
    }
    bool array = e->type->kind == TY_ARRAY && e->type->rank > 0;
    return array && e->type->size[0] >= 0 ? e->type->size[0] : -1;
}

/* Item 'k' of a held iterable with a known count. product counts like digits,
 * the last one fastest: its item k has digits k % n, k / n % m, ... */
static AExpr *
iter_at(Infer *I, AExpr *e, int64_t k)
{
    int64_t lo;
    int64_t hi;
    int64_t step;
    AExprVec parts = {0};
    switch ((int)iter_builtin(e)) {
    case BUILTIN_RANGE:
        known_range(e, &lo, &hi, &step);
        return const_int(I, lo + k * step, e->loc);
    case BUILTIN_REVERSED:
        return iter_at(I, e->items.at[0],
                       iter_count(I, e->items.at[0]) - 1 - k);
    case BUILTIN_ENUMERATE:
        vec_push(I->arena, &parts, const_int(I, k, e->loc));
        if (e->items.at[1] != NULL) {
            parts.at[0] =
                typed_binop(I, AO_ADD, e->items.at[1], parts.at[0], e->loc);
        }
        vec_push(I->arena, &parts, iter_at(I, e->items.at[0], k));
        break;
    case BUILTIN_ZIP:
        for (int i = 0; i < e->items.n; i++) {
            vec_push(I->arena, &parts, iter_at(I, e->items.at[i], k));
        }
        break;
    case BUILTIN_PRODUCT:
        for (int i = e->items.n - 1; i >= 0; i--) {
            int64_t n = iter_count(I, e->items.at[i]);
            vec_push(I->arena, &parts, iter_at(I, e->items.at[i], k % n));
            k /= n;
        }
        for (int i = 0; i < parts.n / 2; i++) {
            AExpr *other = parts.at[parts.n - 1 - i];
            parts.at[parts.n - 1 - i] = parts.at[i];
            parts.at[i] = other;
        }
        break;
    default:
        return typed_item(I, e, k);
    }
    return typed_display(I, &parts, false, e->loc);
}

/* All items of the typed iterable, whose parts are held in 'block'; false, and
 * nothing done, when there are more than 'most' or it isn't known how many. */
bool
iter_items(Infer *I, AExpr *e, int most, ABlock *block, AExprVec *out)
{
    int64_t n = iter_count(I, e);
    if (n < 0 || n > most || n > MOST_ITEMS) {
        return false;
    }
    AExpr *held = iter_hold(I, e, block);
    for (int64_t k = 0; k < n; k++) {
        vec_push(I->arena, out, iter_at(I, held, k));
    }
    return true;
}
