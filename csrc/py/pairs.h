#ifndef VZ_PY_PAIRS_H
#define VZ_PY_PAIRS_H
/* NumPy's inner loops, and those of complex numbers; complex scalars.
 */
#include "csrc/py/core.h"

/* --- loops.c: NumPy's inner loops --- */
/* Finds and tests the loops of fn.def's 'N' and 'C' rows; -1 with an exception.
 */
int loops_setup(void);
const VzLoop *loops_table(void);
/* The ufunc's loop for operands that are all of 'type_num', and NULL or 'name'
 * in 'module'. */
bool loops_find(PyObject *module, const char *name, int type_num, int nin,
                VzLoop *out);
/* The same, if the result is of type 'to_num'. */
bool loops_find_to(PyObject *module, const char *name, int type_num, int to_num,
                   int nin, VzLoop *out);

/* --- pairs.c --- */
/* Tries NumPy's products of complex numbers; -1 with an exception. */
int pairs_setup(void);
/* Finds and tries the loops of a 'C' row. */
void pairs_add_row(PyObject *numpy, int fn, const char *name, int nin,
                   VzLoop *out);

/* --- value.c --- */
/* Exact types of NumPy's complex scalars. */
bool complex_dtype(PyTypeObject *type, DType *out);
/* The real (0) or imaginary (1) part of any complex scalar. */
VzSlot complex_slot(PyObject *object, int part);
#endif
