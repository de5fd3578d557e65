#ifndef VZ_PY_TUNE_PY_H
#define VZ_PY_TUNE_PY_H
/* The functions tune_* of vizgen._core; called once by its exec slot. */
#include <Python.h>

int tune_add_functions(PyObject *module);
#endif
