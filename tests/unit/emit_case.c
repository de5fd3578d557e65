/* Arguments for emit_run: sizes from none to some thousand elements, arrays
 * packed, spread, reversed and transposed, numbers tame and wild. */
#include "tests/unit/emit_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 64 /* bytes around every array that must stay as they are */ };

/* --- numbers ------------------------------------------------------------- */

static uint64_t
next_random(Case *test)
{
    test->random = test->random * UINT64_C(6364136223846793005) +
                   UINT64_C(1442695040888963407);
    return test->random >> 20;
}

static double
some_float(Case *test)
{
    static const double wild[] = {
        0.0,      -0.0,    INFINITY, -INFINITY, NAN,   1e308,   -1e308,
        5e-324,   1e-310,  2147483647.5, -2147483649.0, 3e9, 9.3e18, -9.4e18,
        1.9e19,   255.5,   300.0,    -1.0,      0.5,   -0.5,    1e16,
        65536.25, 1e-200,  3.4e38,   2.5,       1e155, -1e-160, 4294967301.0,
    };
    uint64_t r = next_random(test);
    if (test->seed % 3 == 2 && r % 3 == 0) {
        return wild[(r >> 8) % (sizeof(wild) / sizeof(wild[0]))];
    }
    double whole = (double)((int64_t)(r >> 4) % 64 - (r % 4 == 0 ? 32 : 0));
    return r % 2 == 0 ? whole : whole * 0.37 + 0.1;
}

static int64_t
some_int(Case *test, DType dt)
{
    uint64_t r = next_random(test) * 4 + next_random(test) % 4;
    if (test->seed % 3 == 2 && r % 5 == 0) {
        return (int64_t)(r % 2 ? (uint64_t)dtype_min(dt) : dtype_max(dt));
    }
    if (test->seed % 3 == 2 && r % 5 == 1) {
        return (int64_t)(r * UINT64_C(0x9E3779B97F4A7C15));
    }
    bool sign = dtype_is_signed(dt) && r % 7 == 0;
    return sign ? -(int64_t)(r / 7 % 9) : (int64_t)(r / 7 % 9);
}

static Slot
some_value(Case *test, DType dt)
{
    Slot slot = {0};
    if (dtype_is_float(dt)) {
        double value = some_float(test);
        slot.f = dt == DT_F32 ? (double)(float)value : value;
        return slot;
    }
    if (dt == DT_BOOL) {
        slot.i = (int64_t)(next_random(test) & 1);
        return slot;
    }
    int unused = 64 - 8 * dtype_size(dt);
    uint64_t bits = (uint64_t)some_int(test, dt) << unused;
    slot.i = dtype_is_signed(dt) ? (int64_t)bits >> unused
                                 : (int64_t)(bits >> unused);
    return slot;
}

static void
put_value(DType dt, char *at, Slot slot)
{
    float narrow = (float)slot.f;
    memcpy(at, dt == DT_F32 ? (void *)&narrow : (void *)&slot,
           (size_t)dtype_size(dt));
}

/* --- arguments ----------------------------------------------------------- */

static int64_t
some_extent(Case *test, int axis)
{
    static const int64_t sizes[][3] = {
        {7, 9, 3}, {0, 5, 2}, {1, 1, 1}, {5, 0, 3}, {2, 3, 4}, {33, 70, 3},
        {3, 2, 5}, {16, 16, 4}, {1, 40, 2}, {40, 1, 3}, {64, 3, 0}, {4, 4, 4},
    };
    size_t which = test->seed % (sizeof(sizes) / sizeof(sizes[0]));
    return sizes[which][axis < 3 ? axis : 2];
}

/* Strides for the element order 'how': 0 packed, 1 every second element,
 * 2 reversed, 3 transposed; returns the size in bytes. */
static int64_t
lay_out(EvalArray *view, int rank, int item, int how, int64_t *first)
{
    int64_t bytes = item;
    *first = 0;
    for (int i = rank - 1; i >= 0; i--) {
        int k = how == 3 ? rank - 1 - i : i;
        bytes *= how == 1 ? 2 : 1;
        view->strides[k] = bytes;
        bytes *= view->dims[k] > 0 ? view->dims[k] : 1;
        if (how == 2 && view->dims[k] > 0) {
            *first += view->strides[k] * (view->dims[k] - 1);
            view->strides[k] = -view->strides[k];
        }
    }
    return bytes;
}

static void
fill_array(Case *test, const Buf *buf, const EvalArray *view)
{
    int64_t index[MAX_RANK] = {0};
    int64_t count = 1;
    for (int k = 0; k < buf->rank; k++) {
        count *= view->dims[k];
    }
    for (; count > 0; count--) {
        char *at = view->data;
        for (int k = 0; k < buf->rank; k++) {
            at += index[k] * view->strides[k];
        }
        put_value(buf->dtype, at, some_value(test, buf->dtype));
        for (int k = buf->rank - 1; k >= 0; k--) {
            index[k]++;
            if (index[k] < view->dims[k]) {
                break;
            }
            index[k] = 0;
        }
    }
}

static void
make_array(Case *test, const Buf *buf, Array *out)
{
    int64_t first = 0;
    for (int k = 0; k < buf->rank; k++) {
        int64_t known;
        out->view.dims[k] = ir_const_int(buf->dims[k], &known)
                                ? known
                                : some_extent(test, k);
    }
    int how = buf->layout == LAYOUT_C ? 0 : (int)(test->seed / 3 % 4);
    int64_t bytes = lay_out(&out->view, buf->rank, dtype_size(buf->dtype),
                            how, &first);
    out->size = (size_t)bytes + 2 * MARGIN;
    out->block = arena_alloc(test->arena, out->size);
    memset(out->block, 0x5A, out->size);
    out->view.data = out->block + MARGIN + first;
    fill_array(test, buf, &out->view);
}

void
make_case(Case *test)
{
    test->random = test->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < test->func->params.n; i++) {
        const Param *param = &test->func->params.at[i];
        if (param->buf) {
            make_array(test, param->buf, &test->arrays[i]);
        } else {
            test->scalars[i] = some_value(test, param->var->dtype);
        }
    }
}

Case
copy_case(const Case *test)
{
    Case copy = *test;
    for (int i = 0; i < test->func->params.n; i++) {
        Array *array = &copy.arrays[i];
        if (test->func->params.at[i].buf) {
            const Array *from = &test->arrays[i];
            array->block = arena_copy(test->arena, from->block, from->size);
            array->view.data = array->block + (from->view.data - from->block);
        }
    }
    return copy;
}

/* --- comparing ----------------------------------------------------------- */

bool
same_element(DType dt, const char *lhs, const char *rhs)
{
    double a = 0;
    double b = 1;
    float x;
    float y;
    if (dt == DT_F64) {
        memcpy(&a, lhs, 8);
        memcpy(&b, rhs, 8);
    } else if (dt == DT_F32) {
        memcpy(&x, lhs, 4);
        memcpy(&y, rhs, 4);
        a = (double)x;
        b = (double)y;
    }
    return (isnan(a) && isnan(b)) ||
           memcmp(lhs, rhs, (size_t)dtype_size(dt)) == 0;
}

/* Whole blocks: what is not an element must be as it was, too. */
bool
same_block(DType dt, const char *lhs, const char *rhs, size_t size)
{
    size_t item = (size_t)dtype_size(dt);
    for (size_t i = 0; i + item <= size; i += item) {
        if (!same_element(dt, lhs + i, rhs + i)) {
            printf("  differs at byte %zu of %zu\n", i, size);
            return false;
        }
    }
    return true;
}

bool
same_arguments(const Case *lhs, const Case *rhs)
{
    bool same = true;
    for (int i = 0; i < lhs->func->params.n; i++) {
        const Buf *buf = lhs->func->params.at[i].buf;
        if (buf && !same_block(buf->dtype, lhs->arrays[i].block,
                               rhs->arrays[i].block, lhs->arrays[i].size)) {
            printf("  argument %d\n", i);
            same = false;
        }
    }
    return same;
}
