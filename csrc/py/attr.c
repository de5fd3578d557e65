/* Attributes whose reading and writing runs no code of the user's.
 *
 *     self.gain      in the instance's dict, or a plain value of its class
 *     self.gain      a __slots__ member
 *     Config.GAIN    a plain value of a class
 *
 * A loop that only reads such attributes may read them once, before it begins;
 * what it writes may be written once, after its end.  Properties, __getattr__
 * and the like could do anything, so they are not plain, and neither is an
 * attribute that doesn't exist.
 */
#include "csrc/py/records.h"

/* Of the type or one of its bases; borrowed, NULL without an exception. */
PyObject *
class_value(PyTypeObject *type, PyObject *name)
{
    PyObject *bases = type->tp_mro;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);
        PyObject *dict = base->tp_dict;
        PyObject *value = dict ? PyDict_GetItemWithError(dict, name) : NULL;
        if (value != NULL || PyErr_Occurred()) {
            PyErr_Clear();
            return value;
        }
    }
    return NULL;
}

/* Would reading 'value' from an instance run something? */
bool
is_descriptor(PyObject *value)
{
    return Py_TYPE(value)->tp_descr_get != NULL;
}

/* Is 'name' read by looking into dicts and slots, and nothing else? */
static bool
reads_plainly(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyType_Type) {
        PyObject *value = class_value((PyTypeObject *)object, name);
        return value != NULL && !is_descriptor(value)
               && class_value(type, name) == NULL;
    }
    if (type->tp_getattro != PyObject_GenericGetAttr) {
        return false;
    }
    PyObject *value = class_value(type, name);
    if (value == NULL || !is_descriptor(value)) {
        return true;
    }
    return Py_IS_TYPE(value, &PyMemberDescr_Type);
}

/* And written as plainly: into the instance's dict or a slot. */
static bool
writes_plainly(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type->tp_setattro != PyObject_GenericSetAttr) {
        return false;
    }
    PyObject *value = class_value(type, name);
    return value == NULL || Py_IS_TYPE(value, &PyMemberDescr_Type);
}

/* plain_attr(object, name, written): the value, or NotImplemented. */
PyObject *
plain_attr(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 3 || !PyUnicode_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "plain_attr(object, name, written)");
        return NULL;
    }
    bool written = args[2] == Py_True;
    if (!reads_plainly(args[0], args[1])
        || (written && !writes_plainly(args[0], args[1]))) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    PyObject *value = PyObject_GetAttr(args[0], args[1]);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    return value;
}
