/* NumPy's linear algebra and sorting, called from kernels.
 *
 * Which bits a product of matrices has is the business of the BLAS that NumPy
 * was built with, of this processor's kernels for it, and of how NumPy calls
 * it.  So it is NumPy's own code that is called: the dot function of the dtype,
 * the inner loops of np.matmul and of numpy.linalg's ufuncs, the sorting
 * functions of the dtype.  None of them needs the GIL.
 *
 * What NumPy does before (copies of operands that BLAS can't walk) is done here
 * too.  What these functions leave in the FPU's flags does not count, but for
 * np.matmul, which is a ufunc and warns (and np.vdot, which shares its code).
 */
#include "csrc/base/sum.h"
#include "csrc/py/pairs.h"

#include <fenv.h>

#include "typeinfer/rules.h"

/* Both float types: [0] float64, [1] float32. */
static VzLoop matmul[2];
static VzLoop inverse[2];
static VzLoop solve_one[2];
static VzLoop solve_many[2];
static VzLoop determinant[2];
static PyArray_ArrFuncs *functions[NPY_NTYPES_LEGACY];

/* --- setting up ----------------------------------------------------------- */

/* Dtypes by NumPy's character, as SumBox has it. */
static int
type_num_of(int kind)
{
    static const struct {
        char kind;
        int type_num;
    } rows[] = {
        {'?', NPY_BOOL},   {'b', NPY_INT8},   {'h', NPY_INT16},
        {'i', NPY_INT32},  {'l', NPY_INT64},  {'B', NPY_UINT8},
        {'H', NPY_UINT16}, {'I', NPY_UINT32}, {'L', NPY_UINT64},
        {'f', NPY_FLOAT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == kind) {
            return rows[i].type_num;
        }
    }
    return NPY_DOUBLE;
}

/* The functions of one dtype, which live as long as NumPy. */
static void
find_functions(int kind)
{
    int type_num = type_num_of(kind);
    PyArray_Descr *descr = PyArray_DescrFromType(type_num);
    if (descr != NULL) {
        functions[type_num] = PyDataType_GetArrFuncs(descr);
        Py_DECREF(descr);
    }
}

/* What is missing is NULL, and inference is told. */
int
routines_setup(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *linalg = numpy ? PyImport_ImportModule(
                                   "numpy.linalg._umath_linalg")
                             : NULL;
    if (numpy == NULL) {
        return -1;
    }
    PyErr_Clear();
    bool all = linalg != NULL;
    for (int single = 0; single < 2 && all; single++) {
        int type_num = single ? NPY_FLOAT : NPY_DOUBLE;
        all = loops_find(numpy, "matmul", type_num, 2, &matmul[single]) &&
              loops_find(linalg, "inv", type_num, 1, &inverse[single]) &&
              loops_find(linalg, "solve1", type_num, 2, &solve_one[single]) &&
              loops_find(linalg, "solve", type_num, 2, &solve_many[single]) &&
              loops_find(linalg, "det", type_num, 1, &determinant[single]);
    }
    for (const char *kind = "?bhilBHILfd"; *kind; kind++) {
        find_functions(*kind);
    }
    numpy_set_routines(all);
    Py_XDECREF(linalg);
    Py_DECREF(numpy);
    return 0;
}

/* --- boxes ---------------------------------------------------------------- */

/* The extent and the step in bytes of axis 'k'. */
static int64_t
extent(const VzBox *box, int k)
{
    return box->shape[2 * k];
}

static int64_t
step(const VzBox *box, int k)
{
    return box->shape[2 * k + 1];
}

/* Bytes of an element. */
static int64_t
size_of(const VzBox *box)
{
    return sum_kind_size(box->kind);
}

/* A vector without gaps, in 'to'. */
static void
pack(const VzBox *box, void *to)
{
    int64_t size = size_of(box);
    const char *from = box->data;
    for (int64_t i = 0; i < extent(box, 0); i++) {
        memcpy((char *)to + i * size, from + i * step(box, 0), (size_t)size);
    }
}

/* --- dot ------------------------------------------------------------------ */

/* A vector as NumPy gives it to its dot function: a copy if it runs backwards
 * or stands still.  "memory" is to be freed. */
typedef struct Vector {
    const void *data;
    int64_t step;
    void *memory;
} Vector;

/* False when out of memory. */
static bool
vector_open(Vector *v, const VzBox *box)
{
    int64_t size = size_of(box);
    int64_t n = extent(box, 0);
    *v = (Vector){box->data, step(box, 0), NULL};
    bool fits = n <= 1 || v->step > 0;
    if (!fits) {
        v->memory = PyMem_RawMalloc((size_t)(n * size));
        if (v->memory == NULL) {
            return false;
        }
        pack(box, v->memory);
        v->data = v->memory;
        v->step = size;
    }
    return true;
}

/* One element each: np.dot multiplies, without adding to 0. */
static void
multiply_one(const VzBox *in, void *out)
{
    if (in[0].kind == 'f') {
        *(float *)out = *(const float *)in[0].data *
                        *(const float *)in[1].data;
    } else {
        *(double *)out = *(const double *)in[0].data *
                         *(const double *)in[1].data;
    }
}

/* a . b of two vectors. */
static int
run_dot(Routine which, void *out, const VzBox *in)
{
    int64_t n = extent(&in[0], 0);
    Vector a = {in[0].data, step(&in[0], 0), NULL};
    Vector b = {in[1].data, step(&in[1], 0), NULL};
    if (which == ROUTINE_DOT && n == 1) {
        multiply_one(in, out);
        return 0;
    }
    bool copies = which != ROUTINE_VECMUL;
    int failed = copies && (!vector_open(&a, &in[0]) ||
                            !vector_open(&b, &in[1]));
    if (!failed) {
        PyArray_DotFunc *dot = functions[type_num_of(in[0].kind)]->dotfunc;
        dot((void *)(uintptr_t)a.data, a.step, (void *)(uintptr_t)b.data,
            b.step, out, n, NULL);
    }
    PyMem_RawFree(a.memory);
    PyMem_RawFree(b.memory);
    return failed;
}

/* --- loops with cores ----------------------------------------------------- */

/* Calls a generalised ufunc's loop once. */
static void
call_core(const VzLoop *loop, const VzBox *in, int nin, void *out,
          const int64_t *dims, const int64_t *steps)
{
    char *args[3];
    for (int i = 0; i < nin; i++) {
        args[i] = (char *)(uintptr_t)in[i].data;
    }
    args[nin] = out;
    loop->run(args, dims, steps, loop->data);
}

/* a @ b; a vector is a matrix of one row or column. */
static void
run_matmul(void *out, const VzBox *in)
{
    const VzBox *a = &in[0];
    const VzBox *b = &in[1];
    int64_t size = size_of(a);
    bool row = a->rank == 1;
    bool column = b->rank == 1;
    int64_t m = row ? 1 : extent(a, 0);
    int64_t n = extent(a, row ? 0 : 1);
    int64_t p = column ? 1 : extent(b, 1);
    const int64_t dims[] = {1, m, n, p};
    const int64_t steps[] = {
        0, 0, 0,
        row ? 0 : step(a, 0), step(a, row ? 0 : 1),
        step(b, 0), column ? 0 : step(b, 1),
        row ? 0 : column ? size : p * size, column ? 0 : size,
    };
    call_core(&matmul[a->kind == 'f'], in, 2, out, dims, steps);
}

/* inv(a), det(a) */
static void
run_square(const VzLoop *loops, void *out, const VzBox *in)
{
    int64_t n = extent(in, 0);
    int64_t size = size_of(in);
    const int64_t dims[] = {1, n};
    const int64_t steps[] = {0, 0, step(in, 0), step(in, 1), n * size, size};
    call_core(&loops[in->kind == 'f'], in, 1, out, dims, steps);
}

/* solve(a, b) for one or several right sides. */
static void
run_solve(void *out, const VzBox *in)
{
    const VzBox *b = &in[1];
    int64_t n = extent(in, 0);
    int64_t size = size_of(in);
    bool single = in->kind == 'f';
    if (b->rank == 1) {
        const int64_t dims[] = {1, n};
        const int64_t steps[] = {0, 0, 0, step(in, 0), step(in, 1), step(b, 0),
                                 size};
        call_core(&solve_one[single], in, 2, out, dims, steps);
        return;
    }
    int64_t m = extent(b, 1);
    const int64_t dims[] = {1, n, m};
    const int64_t steps[] = {0, 0, 0, step(in, 0), step(in, 1), step(b, 0),
                             step(b, 1), m * size, size};
    call_core(&solve_many[single], in, 2, out, dims, steps);
}

/* --- sorting -------------------------------------------------------------- */

/* Numbers have sorting functions of their own, which work in place. */
static int
run_sort(Routine which, void *out, const VzBox *in)
{
    int64_t n = extent(in, 0);
    const PyArray_ArrFuncs *own = functions[type_num_of(in->kind)];
    if (which == ROUTINE_SORT) {
        pack(in, out);
        return own->sort[NPY_QUICKSORT](out, n, NULL) < 0;
    }
    void *copy = PyMem_RawMalloc((size_t)(n * size_of(in)) + 1);
    if (copy == NULL) {
        return 1;
    }
    pack(in, copy);
    int64_t *order = out;
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    NPY_SORTKIND kind = which == ROUTINE_ARGSORT ? NPY_QUICKSORT
                                                 : NPY_STABLESORT;
    int failed = own->argsort[kind](copy, order, n, NULL) < 0;
    PyMem_RawFree(copy);
    return failed;
}

/* --- all together --------------------------------------------------------- */

/* The flags of np.matmul stay. */
int
routines_run(int which, void *out, const VzBox *in)
{
    fexcept_t before;
    int failed = 0;
    if (which == ROUTINE_MATMUL) {
        run_matmul(out, in);
        return 0;
    }
    fegetexceptflag(&before, FE_ALL_EXCEPT);
    switch (which) {
    case ROUTINE_INV:
        run_square(inverse, out, in);
        break;
    case ROUTINE_DET:
        run_square(determinant, out, in);
        break;
    case ROUTINE_SOLVE:
        run_solve(out, in);
        break;
    case ROUTINE_DOT:
    case ROUTINE_VECMUL:
        failed = run_dot((Routine)which, out, in);
        break;
    default:
        failed = run_sort((Routine)which, out, in);
        break;
    }
    if (which != ROUTINE_VECMUL) {
        fesetexceptflag(&before, FE_ALL_EXCEPT);
    }
    return failed;
}
