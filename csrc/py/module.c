/* The module vizgen._core: state, types, functions.
 *
 * Multi-phase initialisation with all Python objects in the module's state.
 * The run time below (threads, cache, NumPy's function table) is one per
 * process, so from Python 3.12 on subinterpreters are refused.
 */
#define VZ_IMPORTS_NUMPY
#include "csrc/py/pairs.h"
#include "csrc/py/pool.h"
#include "csrc/py/tune_py.h"
#include "typeinfer/rules.h"

/* Unset, empty and 0 mean no. */
static bool
is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value && strcmp(value, "0") != 0;
}

/* How NumPy's dot of such vectors adds, as a number: negative if fused. */
static int
dot_key(DType dtype, bool strided)
{
    DotOrder order = numpy_dot_order(dtype, strided);
    return order.fused ? -order.longest : order.longest;
}

/* What decides what compiled code may be, as text for cache keys. */
static PyObject *
environment(void)
{
    PyObject *version = helper("numpy", "__version__");
    int major = 0;
    int minor = 0;
    const char *text = version ? PyUnicode_AsUTF8(version) : NULL;
    if (text != NULL && sscanf(text, "%d.%d", &major, &minor) == 2) {
        numpy_set(major, minor);
    }
    PyObject *out =
        version ? PyUnicode_FromFormat(
                      "python %d.%d; numpy %U; dot %d %d %d %d",
                      PY_MAJOR_VERSION, PY_MINOR_VERSION, version,
                      dot_key(DT_F64, false), dot_key(DT_F64, true),
                      dot_key(DT_F32, false), dot_key(DT_F32, true))
                : NULL;
    Py_XDECREF(version);
    return out;
}

/* NumPy keeps np.errstate in a context variable, as an object that is never
 * changed.  Where that isn't so np.geterr() is asked each time. */
static void
find_errstate(Core *core)
{
    core->errstate = helper("numpy._core.umath", "_extobj_contextvar");
    if (core->errstate != NULL && !PyContextVar_CheckExact(core->errstate)) {
        Py_CLEAR(core->errstate);
    }
    PyErr_Clear();
}

/* vizgen.errors is imported before; nothing else of the package is. */
static int
exec_module(PyObject *module)
{
    Core *core = PyModule_GetState(module);
    if (PyArray_ImportNumPyAPI() < 0) {
        return -1;
    }
    if (loops_setup() < 0 || pairs_setup() < 0 || routines_setup() < 0) {
        return -1;
    }
    dots_setup(); /* may overrule routines_setup */
    host_setup();
    specs_init();
    core->disabled = is_set("VIZGEN_DISABLE");
    core->checking = is_set("VIZGEN_CHECK");
    core->strict = is_set("VIZGEN_STRICT");
    core->dump = getenv("VIZGEN_DUMP");
    core->compile_error = helper("vizgen.errors", "CompileError");
    core->fallback_warning = helper("vizgen.errors", "FallbackWarning");
    core->stats_type = helper("vizgen.errors", "Stats");
    core->environment = environment();
    core->pool = pool_handler();
    core->warnings = helper("warnings", "__dict__");
    core->filters = PyUnicode_InternFromString("filters");
    core->accel_type = accel_type_make(module);
    core->part_type = part_type_make(module);
    if (!core->compile_error || !core->fallback_warning || !core->stats_type
        || !core->environment || !core->pool || !core->warnings
        || !core->filters || !core->accel_type || !core->part_type) {
        return -1;
    }
    find_errstate(core);
    if (PyModule_AddFunctions(module, info_methods) < 0
        || tune_add_functions(module) < 0
        || PyModule_AddStringConstant(module, "__version__", VIZGEN_VERSION)) {
        return -1;
    }
    return PyModule_AddType(module, core->accel_type) < 0
                   || PyModule_AddType(module, core->part_type) < 0
               ? -1
               : 0;
}

/* The type's instances refer to the state through their type. */
static int
traverse_module(PyObject *module, visitproc visit, void *arg)
{
    const Core *core = PyModule_GetState(module);
    Py_VISIT(core->accel_type);
    Py_VISIT(core->part_type);
    Py_VISIT(core->stats_type);
    Py_VISIT(core->compile_error);
    Py_VISIT(core->fallback_warning);
    Py_VISIT(core->known);
    Py_VISIT(core->errstate);
    Py_VISIT(core->errstate_seen);
    Py_VISIT(core->warnings);
    return 0;
}

/* 'known' owns library objects only as long as the module lives. */
static int
clear_module(PyObject *module)
{
    Core *core = PyModule_GetState(module);
    Py_CLEAR(core->accel_type);
    Py_CLEAR(core->part_type);
    Py_CLEAR(core->stats_type);
    Py_CLEAR(core->compile_error);
    Py_CLEAR(core->fallback_warning);
    Py_CLEAR(core->known);
    Py_CLEAR(core->errstate);
    Py_CLEAR(core->errstate_seen);
    Py_CLEAR(core->environment);
    Py_CLEAR(core->pool);
    Py_CLEAR(core->warnings);
    Py_CLEAR(core->filters);
    return 0;
}

/* The state goes with the module. */
static void
free_module(void *module)
{
    clear_module(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec_module},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "vizgen._core",
    .m_doc = "The compiler of vizgen; use the package vizgen.",
    .m_size = sizeof(Core),
    .m_slots = slots,
    .m_traverse = traverse_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void);

/* The one symbol that is exported. */
PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
