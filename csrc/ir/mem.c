/* Elements of arrays for the reference interpreter: where they are, what they
 * hold, and whether two arrays share memory.
 *
 * The latter is answered exactly, byte by byte, since it is what the
 * cleverer tests of the run time and of generated code are compared with.
 */
#include <string.h>

#include "csrc/base/sum.h"
#include "csrc/ir/mem.h"

/* memcpy and not a pointer cast: elements of a view need not be aligned, and a
 * char buffer may not be read as another type. */
#define READ(type, field)                                                      \
    do {                                                                       \
        type value;                                                            \
        memcpy(&value, at, sizeof(value));                                     \
        slot.field = value;                                                    \
    } while (0)

/* Sign- or zero-extends to the 64 bits of a Slot by way of the C type; 64-bit
 * types fill it whole, by bits, in the default case (float64 lands in "f",
 * which shares the bytes of "i"). */
Slot
mem_read(DType dtype, const char *at)
{
    Slot slot = {0};
    switch (dtype) {
    case DT_BOOL:
        slot.i = *at != 0;
        break;
    case DT_I8:
        READ(int8_t, i);
        break;
    case DT_I16:
        READ(int16_t, i);
        break;
    case DT_I32:
        READ(int32_t, i);
        break;
    case DT_U8:
        READ(uint8_t, i);
        break;
    case DT_U16:
        READ(uint16_t, i);
        break;
    case DT_U32:
        READ(uint32_t, i);
        break;
    case DT_F32: {
        float value;
        memcpy(&value, at, sizeof(value));
        slot.f = (double)value;
        break;
    }
    default:
        memcpy(&slot, at, sizeof(slot));
        break;
    }
    return slot;
}
#undef READ

/* Integers are stored by their low bytes (little-endian, as all targets). The
 * value is in its dtype's range by ir_wrap, so cutting loses nothing. */
void
mem_write(DType dtype, char *at, Slot slot)
{
    if (dtype == DT_F32) {
        float value = (float)slot.f;
        memcpy(at, &value, sizeof(value));
    } else {
        memcpy(at, &slot, (size_t)dtype_size(dtype));
    }
}

/* Of validated extents: their product fits. 1 for rank 0; 0 as soon as one
 * extent is. */
int64_t
mem_count(const EvalArray *array, int rank)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= array->dims[i];
    }
    return n;
}

/* Is 'index' inside?  At L_SCHED the last index of a contiguous buffer may
 * leave its axis, while the address may not leave the buffer. The linear number
 * is then what must be inside; the leading indices are tested as ever.  A rank
 * of 0 has no last index and is always inside. */
bool
mem_inside(Level level, const Buf *buf, const EvalArray *array,
           const int64_t *index)
{
    bool flat = level == L_SCHED && buf->layout == LAYOUT_C;
    int64_t linear = 0;
    for (int i = 0; i < buf->rank; i++) {
        bool free = flat && i == buf->rank - 1;
        if (!free && (index[i] < 0 || index[i] >= array->dims[i])) {
            return false;
        }
        linear = linear * array->dims[i] + index[i];
    }
    return !flat || (linear >= 0 && linear < mem_count(array, buf->rank));
}

/* Strides are in bytes and may be zero or negative. */
char *
mem_address(const Buf *buf, const EvalArray *array, const int64_t *index)
{
    char *at = array->data;
    for (int i = 0; i < buf->rank; i++) {
        at += index[i] * array->strides[i];
    }
    return at;
}

/* --- do two arrays share a byte? ---------------------------------------- */

/* Counts like an odometer, the last axis fastest. 'index' begins at zeros; the
 * array must not be empty, so there is a first element.  After the last all are
 * zero again. */
bool
mem_step(const EvalArray *array, int rank, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < array->dims[i]) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

/* The bytes from the lowest to behind the highest of the elements. Each axis
 * moves one end only, by its first or last index, so the ends are sums over the
 * axes.  Exact as bounds; the bytes between need not all be used. */
static void
byte_range(const Buf *buf, const EvalArray *array, intptr_t *lo, intptr_t *hi)
{
    *lo = *hi = (intptr_t)array->data;
    for (int i = 0; i < buf->rank; i++) {
        int64_t reach = (array->dims[i] - 1) * array->strides[i];
        *(reach < 0 ? lo : hi) += reach;
    }
    *hi += dtype_size(buf->dtype);
}

/* Marks the bytes of all elements in 'map', which begins at 'lo'; or, with
 * 'ask', tells whether one is marked. */
static bool
mark_bytes(const Buf *buf, const EvalArray *array, intptr_t lo, intptr_t hi,
           char *map, bool ask)
{
    int64_t index[MAX_RANK] = {0};
    do {
        intptr_t at = (intptr_t)mem_address(buf, array, index);
        for (int i = 0; i < dtype_size(buf->dtype); i++, at++) {
            if (at < lo || at >= hi) {
                continue;
            }
            if (ask && map[at - lo]) {
                return true;
            }
            if (!ask) {
                map[at - lo] = 1;
            }
        }
    } while (mem_step(array, buf->rank, index));
    return false;
}

/* Ranges of bytes first; where they overlap, all bytes of one are marked and
 * those of the other looked up, which settles interleaved arrays too. */
bool
mem_disjoint(Arena *arena, const Buf *lhs, const EvalArray *a, const Buf *rhs,
             const EvalArray *b)
{
    if (mem_count(a, lhs->rank) == 0 || mem_count(b, rhs->rank) == 0) {
        return true;
    }
    intptr_t lo_a;
    intptr_t hi_a;
    intptr_t lo_b;
    intptr_t hi_b;
    byte_range(lhs, a, &lo_a, &hi_a);
    byte_range(rhs, b, &lo_b, &hi_b);
    intptr_t lo = lo_a > lo_b ? lo_a : lo_b;
    intptr_t hi = hi_a < hi_b ? hi_a : hi_b;
    if (lo >= hi) {
        return true;
    }
    /* no test comes near this; "may overlap" is the answer that is safe */
    if (hi - lo > LARGEST_ARRAY) {
        return false;
    }
    char *map = arena_alloc(arena, (size_t)(hi - lo));
    mark_bytes(lhs, a, lo, hi, map, false);
    return !mark_bytes(rhs, b, lo, hi, map, true);
}

/* NumPy's characters of the dtypes, for SumBox. */
static const char kind_of[DT_COUNT] = {'?', 'b', 'h', 'i', 'l', 'B',
                                       'H', 'I', 'L', 'f', 'd'};

/* The corners decide: all else lies between them.  An empty box is not looked
 * at, wherever it begins. */
bool
mem_sum(Level level, const Expr *e, const EvalArray *array, const Slot *args,
        double *out)
{
    int rank = e->buf->rank;
    int64_t first[MAX_RANK] = {0};
    int64_t last[MAX_RANK] = {0};
    int64_t shape[2 * MAX_RANK] = {0};
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        first[i] = last[i] = args[i].i;
    }
    for (int k = 0; k < ir_sum_axes(e); k++) {
        const Slot *part = &args[rank + 3 * k];
        shape[2 * k] = part[1].i;
        shape[2 * k + 1] = part[2].i * array->strides[part[0].i];
        last[part[0].i] += (part[1].i - 1) * part[2].i;
        empty |= part[1].i == 0;
    }
    if (!empty && (!mem_inside(level, e->buf, array, first) ||
                   !mem_inside(level, e->buf, array, last))) {
        return false;
    }
    SumBox box = {mem_address(e->buf, array, first), kind_of[e->buf->dtype],
                  ir_sum_axes(e), shape};
    int single = e->dtype == DT_F32;
    *out = e->axis == SUM_SQUARES
               ? sum_squares(&box, single, args[e->nargs - 1].f)
               : sum_all(&box, single, e->axis == SUM_PARTS);
    return true;
}
