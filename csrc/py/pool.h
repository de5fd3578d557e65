#ifndef VZ_PY_POOL_H
#define VZ_PY_POOL_H
/* Blocks of memory for large results, which are kept when they are given
 * back: fresh pages cost more than the work on them.
 */
#include "csrc/py/core.h"

/* Memory of many bytes, which is kept when it is given back. */
void *pool_take(size_t bytes, bool zero);
void pool_give(void *data);
/* NumPy's handler of recycled blocks, for pool_array; NULL: exception. */
PyObject *pool_handler(void);
/* np.empty or np.zeros, with recycled memory if the array is large. */
PyObject *pool_array(PyObject *pool, int rank, npy_intp *dims, int type_num,
                     bool zero, bool fortran);
#endif
