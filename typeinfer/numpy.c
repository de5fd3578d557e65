/* Which NumPy is installed, and what that decides.
 *
 * Most rules hold for every NumPy 2.  What changed between releases is asked
 * here, by version, and what only a test can tell is a table: in which order a
 * release adds floats (tests/test_reduce.py compares it with NumPy itself over
 * thousands of shapes and layouts).  Releases that are not listed keep those
 * functions in Python, which is slower and never wrong.
 */
#include "csrc/ir/ir.h"
#include "typeinfer/rules.h"

/* Releases whose sums have the order of csrc/run/sum.c. */
static const int known_sums[] = {NUMPY(2, 3), NUMPY(2, 4), NUMPY(2, 5)};

static int version = NUMPY(2, 4);
static bool loops[FN_COUNT][2];
static DotOrder dots[2][2];
static bool routines;
static MulForm products[2];
static bool reversible[2];
static bool absolutes[2];

/* Once, when the module is made. */
void
numpy_set(int major, int minor)
{
    version = NUMPY(major, minor);
}

/* As NUMPY(2, 4). */
int
numpy_version(void)
{
    return version;
}

/* Is the order of float additions known? */
bool
numpy_sums_known(void)
{
    for (size_t i = 0; i < sizeof(known_sums) / sizeof(known_sums[0]); i++) {
        if (known_sums[i] == version) {
            return true;
        }
    }
    return false;
}

/* By csrc/py/loops.c, which tries them. */
void
numpy_set_loop(int fn, bool single, bool ok)
{
    loops[fn][single] = ok;
}

/* By csrc/py/dots.c, which tries it. */
void
numpy_set_dot(DType dtype, bool strided, DotOrder order)
{
    dots[dtype == DT_F32][strided] = order;
}

DotOrder
numpy_dot_order(DType dtype, bool strided)
{
    return dots[dtype == DT_F32][strided];
}

bool
numpy_loop_known(int fn, DType dtype)
{
    return dtype_is_float(dtype) && loops[fn][dtype == DT_F32];
}

/* By csrc/py/pairs.c, which tries them. */
void
numpy_set_pairs(DType dtype, MulForm mul, bool backwards, bool absolute)
{
    reversible[dtype == DT_C64] = backwards;
    products[dtype == DT_C64] = mul;
    absolutes[dtype == DT_C64] = absolute;
}

MulForm
numpy_mul_form(DType dtype)
{
    return products[dtype == DT_C64];
}

bool
numpy_mul_known(DType dtype)
{
    return products[dtype == DT_C64] != MUL_UNKNOWN;
}

bool
numpy_mul_backwards(DType dtype)
{
    return reversible[dtype == DT_C64];
}

bool
numpy_abs_known(DType dtype)
{
    return absolutes[dtype == DT_C64];
}

/* By csrc/py/routines.c. */
void
numpy_set_routines(bool found)
{
    routines = found;
}

bool
numpy_has_routines(void)
{
    return routines;
}
