/* NumPy's inner loops, taken from its ufuncs.
 *
 *     np.exp.functions[k]     where the types are 'd->d'
 *
 * A kernel calls such a loop for single elements, so their bits must not depend
 * on how many are computed at once, nor on where they lie.  Vectorised loops
 * keep that (a rest is computed by the same instructions under a mask), but
 * nobody promises it: every loop is tried here with a few dozen numbers, and
 * one that fails is not offered to the compiler.
 *
 * Loops run without the GIL: they are plain C on memory.
 */
#include "csrc/py/pairs.h"

#include <fenv.h>
#include <math.h>
#include <numpy/ufuncobject.h>

#include "typeinfer/rules.h"

typedef struct LoopRow {
    const char *name; /* "np_exp" */
    int nin;
    char origin;
} LoopRow;

static const LoopRow rows[FN_COUNT] = {
#define FN(id, text, arity, origin) {text, arity, origin},
#include "csrc/ir/fn.def"
#undef FN
};

static VzLoop table[2 * FN_COUNT];

/* Numbers that a loop is tried with, and how it is called. */
enum { TRIALS = 48, SPACING = 3 };

/* --- finding -------------------------------------------------------------- */

/* The ufunc's loop from operands of one type to one. */
static bool
find_loop(const PyUFuncObject *ufunc, int type_num, int to_num, int nin,
          VzLoop *out)
{
    if (ufunc->nin != nin || ufunc->nout != 1 || ufunc->functions == NULL) {
        return false;
    }
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        bool same = true;
        for (int k = 0; k < ufunc->nargs; k++) {
            same &= types[k] == (k < nin ? type_num : to_num);
        }
        if (same) {
            out->run = (void (*)(char **, const int64_t *, const int64_t *,
                                 void *))ufunc->functions[i];
            out->data = ufunc->data ? ufunc->data[i] : NULL;
            return true;
        }
    }
    return false;
}

/* Of the ufunc 'name'; the pointer lives as long as its module. */
bool
loops_find(PyObject *module, const char *name, int type_num, int nin,
           VzLoop *out)
{
    return loops_find_to(module, name, type_num, type_num, nin, out);
}

bool
loops_find_to(PyObject *module, const char *name, int type_num, int to_num,
              int nin, VzLoop *out)
{
    PyObject *ufunc = PyObject_GetAttrString(module, name);
    PyErr_Clear();
    bool found =
        ufunc != NULL &&
        strcmp(Py_TYPE(ufunc)->tp_name, "numpy.ufunc") == 0 &&
        find_loop((const PyUFuncObject *)ufunc, type_num, to_num, nin, out);
    Py_XDECREF(ufunc);
    return found;
}

/* --- trying --------------------------------------------------------------- */

/* Of many sizes and both signs; outside of a domain there is nan. */
static double
trial(int i)
{
    static const double base[] = {0.3, 1.7, 0.011, 42.5, 0.93, 3.1, 1e-6, 650};
    double x = base[i % 8] * (1 + i / 8 * 0.137);
    return i % 3 == 2 ? -x : x;
}

/* Element 'i' of an array of either float type. */
static void
put(void *array, int i, bool single, double x)
{
    if (single) {
        ((float *)array)[i] = (float)x;
    } else {
        ((double *)array)[i] = x;
    }
}

/* Are element i of 'a' and element k of 'b' the same? */
static bool
same(const void *a, int i, const void *b, int k, bool single)
{
    if (single) {
        float x = ((const float *)a)[i];
        float y = ((const float *)b)[k];
        return memcmp(&x, &y, sizeof(x)) == 0 || (isnan(x) && isnan(y));
    }
    double x = ((const double *)a)[i];
    double y = ((const double *)b)[k];
    return memcmp(&x, &y, sizeof(x)) == 0 || (isnan(x) && isnan(y));
}

/* Calls the loop for 'n' elements, 'spacing' apart. */
static void
call_loop(const VzLoop *loop, int nin, bool single, double *const *arrays,
          int at, int64_t n, int spacing)
{
    int64_t size = single ? sizeof(float) : sizeof(double);
    int64_t steps[3] = {size * spacing, size * spacing, size * spacing};
    char *args[3] = {NULL};
    for (int k = 0; k <= nin; k++) {
        args[k] = (char *)arrays[k == nin ? 2 : k] + at * size;
    }
    loop->run(args, &n, steps, loop->data);
}

/* All at once, one by one, and apart from each other. */
static bool
try_loop(const VzLoop *loop, int nin, bool single)
{
    double x[TRIALS];
    double y[TRIALS];
    double whole[TRIALS];
    double one[TRIALS];
    double wide[3][TRIALS * SPACING];
    for (int i = 0; i < TRIALS; i++) {
        put(x, i, single, trial(i));
        put(y, i, single, trial(TRIALS - i));
        put(wide[0], i * SPACING, single, trial(i));
        put(wide[1], i * SPACING, single, trial(TRIALS - i));
    }
    call_loop(loop, nin, single, (double *[]){x, y, whole}, 0, TRIALS, 1);
    for (int i = 0; i < TRIALS; i++) {
        call_loop(loop, nin, single, (double *[]){x, y, one}, i, 1, 1);
    }
    double *apart[] = {wide[0], wide[1], wide[2]};
    call_loop(loop, nin, single, apart, 0, TRIALS, SPACING);
    bool ok = true;
    for (int i = 0; i < TRIALS; i++) {
        ok &= same(whole, i, one, i, single);
        ok &= same(whole, i, wide[2], i * SPACING, single);
    }
    return ok;
}

/* --- flags ---------------------------------------------------------------- */

enum { WARNED = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

/* Some loops (tanh) clear the flags when they are done, which NumPy has read
 * before.  In a kernel the flags are those of the whole call: what other
 * operations have raised must stay. */
static void
keep_flags(char **args, const int64_t *n, const int64_t *steps, void *data)
{
    const VzLoop *loop = data;
    int before = fetestexcept(WARNED);
    loop->run(args, n, steps, loop->data);
    if (before != 0) {
        feraiseexcept(before);
    }
}

/* Does the loop clear a flag that it can't have raised? */
static bool
clears_flags(const VzLoop *loop, int nin, bool single)
{
    double in[TRIALS];
    double out[TRIALS];
    bool clears = false;
    for (int i = 0; i < TRIALS; i++) {
        put(in, i, single, 0.3);
    }
    for (int n = 1; n <= TRIALS; n += TRIALS - 1) {
        feraiseexcept(FE_DIVBYZERO);
        call_loop(loop, nin, single, (double *[]){in, in, out}, 0, n, 1);
        clears |= !fetestexcept(FE_DIVBYZERO);
    }
    return clears;
}

/* --- the table ------------------------------------------------------------ */

/* The loops inside of keep_flags. */
static VzLoop kept[2 * FN_COUNT];
static int nkept;

/* Both loops of one row. */
static void
add_row(PyObject *numpy, int fn, VzLoop *out)
{
    const char *name = fn == FN_NP_POWER_BY ? "power" : rows[fn].name + 3;
    for (int single = 0; single < 2; single++) {
        int type_num = single ? NPY_FLOAT : NPY_DOUBLE;
        bool ok = loops_find(numpy, name, type_num, rows[fn].nin,
                             &out[single]) &&
                  try_loop(&out[single], rows[fn].nin, single);
        numpy_set_loop(fn, single, ok);
        if (ok && clears_flags(&out[single], rows[fn].nin, single)) {
            kept[nkept] = out[single];
            out[single] = (VzLoop){keep_flags, &kept[nkept++]};
        }
    }
}

/* Rows keep their place whether they are found or not. */
int
loops_setup(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        return -1;
    }
    fenv_t before;
    feholdexcept(&before);
    int n = 0;
    for (int fn = 0; fn < FN_COUNT; fn++) {
        if (rows[fn].origin == 'N') {
            add_row(numpy, fn, &table[n]);
        } else if (rows[fn].origin == 'C') {
            pairs_add_row(numpy, fn, rows[fn].name + strlen("npc_"),
                          rows[fn].nin, &table[n]);
        } else {
            continue;
        }
        n += 2;
    }
    fesetenv(&before);
    Py_DECREF(numpy);
    return 0;
}

const VzLoop *
loops_table(void)
{
    return table;
}
