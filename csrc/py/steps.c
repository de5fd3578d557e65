/* Steps of arrays with gaps: those that are part of an argument's type.
 *
 *     img[1:-1, 1:-1]     1        rows of a part of a picture
 *     gray[:, ::-1]      -1        rows backwards
 *     gray[::2, ::2]      2        every second
 *     rgb[::2, ::2]       1, pixels 2 * 3 apart
 *     img[::3, ::3]       0        known at run time only
 *
 * Numbers in two bits each, so that they find room in an argument's key.
 */
#include "csrc/py/core.h"

/* The steps for which it pays to have kernels of their own: SIMD code for a
 * step that is a constant takes half to a quarter of the time.  0: any other.
 */
static const int8_t known_steps[] = {0, 1, -1, 2};

enum { KNOWN_STEPS = sizeof(known_steps), MOST_CHANNELS = 4 };

/* The number of the step 'stride' / 'unit' in known_steps. */
static uint32_t
step_number(npy_intp stride, npy_intp unit)
{
    for (uint32_t i = 1; i < KNOWN_STEPS; i++) {
        if (stride == known_steps[i] * unit) {
            return i;
        }
    }
    return 0;
}

/* Of an array with gaps: the step of its last axis (in Fortran's order, the
 * first), and where that is a few channels the step from pixel to pixel. */
uint32_t
steps_key(PyArrayObject *array, bool fortran)
{
    int rank = PyArray_NDIM(array);
    int last = fortran ? 0 : rank - 1;
    int before = fortran ? 1 : rank - 2;
    npy_intp size = PyArray_ITEMSIZE(array);
    npy_intp channels = PyArray_DIM(array, last);
    uint32_t step = step_number(PyArray_STRIDE(array, last), size);
    uint32_t pixel = 0;
    if (rank > 1 && channels > 1 && channels <= MOST_CHANNELS) {
        pixel = step_number(PyArray_STRIDE(array, before), channels * size);
    }
    return step << KEY_STEP | pixel << KEY_PIXEL;
}

void
steps_of_key(uint32_t key, Type *type)
{
    type->step = known_steps[key >> KEY_STEP & 3u];
    type->pixel = known_steps[key >> KEY_PIXEL & 3u];
}
