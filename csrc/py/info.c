/* What the command line, the tuner and tests may ask of the core.
 *
 *     compile_info(f, args, kwargs, ...)  a compilation by itself, as a dict
 *     f._describe()                       what f has compiled, a list of dicts
 *     doctor()  cache_info()  cache_clear()  cache_verify()
 *     codes()  page(code)                 the diagnostics' help pages
 *     settings()  transforms()  threads(n)  is_translated(name)
 */
#include "csrc/py/records.h"
#include "csrc/py/tell.h"

#include "typeinfer/rules.h"

/* Puts 'value' (stolen, may be NULL) into 'dict'; false with an exception. */
static bool
put(PyObject *dict, const char *key, PyObject *value)
{
    bool ok = value != NULL && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* A str, None for NULL; what isn't UTF-8 is replaced. */
static PyObject *
text_or_none(const char *text)
{
    if (text == NULL) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Borrowed in, a new reference out. */
static PyObject *
own_or_none(PyObject *object)
{
    return Py_NewRef(object ? object : Py_None);
}

/* --- what a function has compiled ---------------------------------------- */

/* Keys of the dicts: signature, native, refusal (text or None), diagnostics,
 * remarks (dicts with code, message, file, line, col, end_line, help), c,
 * c_general, sched (the directives applied), key (in the cache), seconds,
 * from_cache, calls, bails. */

/* None until that mode was needed. */
static PyObject *
kernel_text(const Spec *spec, KernelMode mode)
{
    const Kernel *kernel = spec->kernels[mode];
    return text_or_none(kernel ? kernel->result->c_text : NULL);
}

/* Adds a remark about the function as a whole, with the row's own title. */
static bool
add_remark(const Loaded *l, PyObject *list, DiagId id, const char *message)
{
    Diag diag = {
        .id = id,
        .severity = SEV_REMARK,
        .loc = l->unit->funcs.at[0]->loc,
        .message = message ? message : diag_title(id),
    };
    PyObject *dicts = diag_dicts(&l->diags, &diag, 1, SEV_REMARK);
    PyObject *sum = dicts ? PySequence_InPlaceConcat(list, dicts) : NULL;
    Py_XDECREF(dicts);
    Py_XDECREF(sum);
    return sum != NULL;
}

/* What the compiler remarked, and what was found out when it ran. */
static PyObject *
all_remarks(const Loaded *l, const Spec *spec)
{
    PyObject *list =
        diag_dicts(&l->diags, spec->diags, spec->ndiags, SEV_REMARK);
    CacheInfo cache;
    cache_info(&cache);
    bool ok = list != NULL
              && (!spec->errstate || add_remark(l, list, DIAG_ERRSTATE, NULL))
              && (cache.dir[0]
                  || add_remark(l, list, DIAG_CACHE_UNUSABLE, cache.why));
    if (!ok) {
        Py_CLEAR(list);
    }
    return list;
}

/* All values are plain Python objects, ready for JSON. */
PyObject *
spec_describe(Loaded *l, Spec *spec)
{
    const Kernel *fast = spec->kernels[FAST];
    PyObject *out = PyDict_New();
    bool ok =
        out != NULL && put(out, "signature", text_or_none(spec->text))
        && put(out, "native", PyBool_FromLong(spec->refusal == NULL))
        && put(out, "refusal", own_or_none(spec->refusal))
        && put(out, "approx", own_or_none(spec->choice.note))
        && put(out, "diagnostics", diag_dicts(&l->diags, spec->diags,
                                              spec->ndiags, SEV_REFUSAL))
        && put(out, "remarks", all_remarks(l, spec))
        && put(out, "c", kernel_text(spec, FAST))
        && put(out, "c_general", kernel_text(spec, GENERAL))
        && put(out, "sched", text_or_none(fast ? fast->result->sched : NULL))
        && put(out, "key", text_or_none(fast ? fast->result->lib->key : NULL))
        && put(out, "seconds", PyFloat_FromDouble(spec->seconds))
        && put(out, "from_cache", PyBool_FromLong(spec->from_cache))
        && put(out, "calls", PyLong_FromUnsignedLong(spec->calls))
        && put(out, "bails", PyLong_FromLong(spec->bails));
    if (!ok) {
        Py_CLEAR(out);
    }
    return out;
}

/* What never got as far as a signature. */
static PyObject *
describe_refused(DiagId code, PyObject *text)
{
    return Py_BuildValue("{s:O, s:O, s:O, s:[{s:s, s:O}], s:[], s:O, s:O}",
                         "signature", Py_None, "native", Py_False, "refusal",
                         text, "diagnostics", "code", diag_code(code),
                         "message", text, "remarks", "c", Py_None, "sched",
                         Py_None);
}

/* 'item' is stolen and may be NULL; both are gone if it can't be done. */
static PyObject *
append(PyObject *list, PyObject *item)
{
    if (item == NULL || PyList_Append(list, item) < 0) {
        Py_CLEAR(list);
    }
    Py_XDECREF(item);
    return list;
}

/* Most recently used first, then what was said of an argument. */
PyObject *
accel_describe(Accel *f)
{
    Loaded *l = accel_loaded(f);
    PyObject *out = PyErr_Occurred() ? NULL : PyList_New(0);
    bool refused = l != NULL && l->refusal != NULL;
    int n = l == NULL ? 0 : refused ? 1 : l->nspecs;
    for (int i = 0; out != NULL && i < n; i++) {
        out = append(out, refused ? describe_refused(l->code, l->refusal)
                                  : spec_describe(l, l->specs[i]));
    }
    if (out != NULL && f->told_text != NULL) {
        out = append(out, describe_refused(f->told_code, f->told_text));
    }
    return out;
}

static PyObject *
describe_bound(Accel *f, Loaded *l, PyObject **bound, int n, PyObject **held)
{
    uint32_t keys[MAX_ARGS];
    int bad = call_keys_of(f, l, bound, &n, keys, held);
    DiagId code = DIAG_TOO_MANY_SIGNATURES;
    Spec *spec = NULL;
    if (bad == -3) {
        return NULL;
    }
    if (bad < 0) {
        spec = spec_find(l, keys, bound);
        spec = spec ? spec : spec_make(f, l, bound, keys, n);
    }
    if (spec != NULL || PyErr_Occurred()) {
        return spec ? spec_describe(l, spec) : NULL;
    }
    PyObject *text = bad < 0 ? function_text(f, l, code, diag_title(code))
                             : argument_text(f, l, bound[bad], bad, &code);
    PyObject *out = text ? describe_refused(code, text) : NULL;
    Py_XDECREF(text);
    return out;
}

PyObject *
call_describe(Accel *f, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    Loaded *l = accel_loaded(f);
    if (l == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    loaded_keep(l);
    PyObject *bound[MAX_ARGS];
    PyObject *out = NULL;
    if (l->refusal != NULL) {
        out = describe_refused(l->code, l->refusal);
    } else {
        int n = call_bind(f, l, args, nargs, kwnames, bound);
        if (n >= 0) {
            PyObject *held = NULL;
            out = describe_bound(f, l, bound, n, &held);
            Py_XDECREF(held);
        } else {
            PyErr_SetString(PyExc_TypeError,
                            "the arguments don't fit the function");
        }
    }
    loaded_drop(l);
    return out;
}

/* --- a compilation by itself --------------------------------------------- */

/* Keys: ok, diagnostics, remarks, texts (refusals for people), c, dump, sched,
 * cc_error, key, from_cache, seconds. */

/* The keywords of compile_info. */
typedef struct Wish {
    const char *opts;
    const char *compiler;
    int general;
    int count_warnings;
    int front_only;
} Wish;

/* 'texts' are the refusals as people read them. */
static PyObject *
result_dict(const Loaded *l, const CompileResult *result, double seconds)
{
    const Diags *diags = &l->diags;
    const Diag *list = diags->list.at;
    int n = diags->list.n;
    PyObject *out = PyDict_New();
    const Library *lib = result->ok ? result->lib : NULL;
    bool ok =
        out != NULL && put(out, "ok", PyBool_FromLong(result->ok))
        && put(out, "diagnostics", diag_dicts(diags, list, n, SEV_REFUSAL))
        && put(out, "remarks", diag_dicts(diags, list, n, SEV_REMARK))
        && put(out, "c", text_or_none(result->c_text))
        && put(out, "dump", text_or_none(result->dump))
        && put(out, "sched", text_or_none(result->sched))
        && put(out, "cc_error", text_or_none(result->cc_error))
        && put(out, "key", text_or_none(lib ? lib->key : NULL))
        && put(out, "from_cache", PyBool_FromLong(lib && lib->from_cache))
        && put(out, "seconds", PyFloat_FromDouble(seconds));
    PyObject *texts = ok ? PyList_New(0) : NULL;
    for (int i = 0; texts != NULL && i < n; i++) {
        PyObject *text = diag_text(diags, &list[i]);
        if (list[i].severity == SEV_REFUSAL && text != NULL) {
            PyList_Append(texts, text);
        }
        Py_XDECREF(text);
    }
    if (!ok || !put(out, "texts", texts)) {
        Py_CLEAR(out);
    }
    return out;
}

/* Into a fresh Loaded that nothing else uses. */
static PyObject *
compile_keyed(Accel *f, Loaded *l, PyObject *const *bound, int n,
              const uint32_t *keys, const Wish *wish)
{
    if (!args_fit(bound, n)) {
        PyErr_SetString(PyExc_TypeError,
                        "an int argument does not fit 64 bits");
        return NULL;
    }
    Signature sig;
    signature_make(l->arena, bound, keys, n, (Width){0}, &sig);
    records_sign(l, keys, &sig);
    CompileRequest request = {
        .unit = l->unit,
        .sig = &sig,
        .opts = accel_opts(f, wish->general          ? GENERAL
                              : wish->count_warnings ? COUNTING
                                                     : FAST),
        .compiler = wish->compiler ? wish->compiler : f->compiler,
        .environment = PyUnicode_AsUTF8(f->core->environment),
        .front_only = wish->front_only,
    };
    const char *bad;
    opts_parse(&request.opts, wish->opts, &bad);
    accel_solver(f, &request.opts);
    double start = clock_seconds();
    CompileResult *result;
    Py_BEGIN_ALLOW_THREADS
    result = vz_compile(&request);
    Py_END_ALLOW_THREADS
    return result_dict(l, result, clock_seconds() - start);
}

/* An argument that no kernel takes is an exception here. */
static PyObject *
compile_once(Accel *f, Loaded *l, PyObject **bound, int n, const Wish *wish)
{
    uint32_t keys[MAX_ARGS];
    PyObject *held = NULL;
    PyObject *out = NULL;
    int bad = call_keys_of(f, l, bound, &n, keys, &held);
    if (bad >= 0) {
        char words[200];
        DiagId code = arg_refusal(bound[bad], words, sizeof(words));
        PyErr_Format(PyExc_TypeError, "%s argument %d %s", diag_code(code),
                     bad, words);
    } else if (bad == -1) {
        out = compile_keyed(f, l, bound, n, keys, wish);
    }
    Py_XDECREF(held);
    return out;
}

/* Binds as a call does; the keywords come in a dict here. */
static PyObject *
compile_for(Accel *f, Loaded *l, PyObject *args, PyObject *keywords,
            const Wish *wish)
{
    if (l->refusal != NULL) {
        return Py_BuildValue("{s:O, s:[{s:s, s:O}], s:[], s:[O]}", "ok",
                             Py_False, "diagnostics", "code",
                             diag_code(l->code), "message", l->refusal,
                             "remarks", "texts", l->refusal);
    }
    PyObject *bound[MAX_ARGS];
    PyObject *values[MAX_ARGS];
    Py_ssize_t nargs = PyTuple_GET_SIZE(args);
    Py_ssize_t named = keywords ? PyDict_GET_SIZE(keywords) : 0;
    PyObject *kwnames = named ? PyTuple_New(named) : NULL;
    int n = -1;
    if (nargs + named <= MAX_ARGS && !PyErr_Occurred()) {
        Py_ssize_t at = 0;
        PyObject *key;
        PyObject *value;
        for (Py_ssize_t i = 0; i < nargs; i++) {
            values[i] = PyTuple_GET_ITEM(args, i);
        }
        for (Py_ssize_t i = 0; i < named
                               && PyDict_Next(keywords, &at, &key, &value);
             i++) {
            PyTuple_SET_ITEM(kwnames, i, Py_NewRef(key));
            values[nargs + i] = value;
        }
        n = call_bind(f, l, values, nargs, kwnames, bound);
    }
    PyObject *out = NULL;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError,
                        "the arguments don't fit the function");
    } else {
        out = compile_once(f, l, bound, n, wish);
    }
    Py_XDECREF(kwnames);
    return out;
}

/* Nothing of f is changed: not its versions, counters or messages. */
static PyObject *
info_compile(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", "opts", "compiler", "general",
                            "count_warnings", "front_only", NULL};
    const Core *core = PyModule_GetState(module);
    Accel *f;
    PyObject *call_args;
    PyObject *call_keywords = NULL;
    Wish wish = {.opts = ""};
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O!O!|O!$szppp:compile_info", names,
            core->accel_type, &f, &PyTuple_Type, &call_args, &PyDict_Type,
            &call_keywords, &wish.opts, &wish.compiler, &wish.general,
            &wish.count_warnings, &wish.front_only)
        || !opts_check(wish.opts)) {
        return NULL;
    }
    Loaded *l = load_function(f);
    if (l == NULL) {
        return NULL;
    }
    PyObject *volatile out = NULL;
    Fatal trap;
    fatal_enter(&trap);
    if (setjmp(trap.env) == 0) {
        out = compile_for(f, l, call_args, call_keywords, &wish);
    } else {
        PyErr_NoMemory();
    }
    fatal_leave(&trap);
    loaded_drop(l);
    return out;
}

/* --- the tool chain ------------------------------------------------------ */

/* Probing runs the compiler once per process and is kept in the cache. */
static PyObject *
compiler_dict(const char *name)
{
    const Compiler *cc = cc_find(name);
    return Py_BuildValue("{s:O, s:s, s:s, s:s, s:O, s:s}", "ok",
                         cc->ok ? Py_True : Py_False, "path", cc->path, "id",
                         cc->id, "features", cc->features, "is_clang",
                         cc->is_clang ? Py_True : Py_False, "why", cc->why);
}

/* 'dir' is empty and 'why' says so when nothing can be kept on disk. */
static PyObject *
info_cache(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    CacheInfo info;
    cache_info(&info);
    return Py_BuildValue("{s:s, s:s, s:l, s:L}", "dir", info.dir, "why",
                         info.why, "entries", info.entries, "bytes",
                         info.bytes);
}

/* What `vizgen doctor` shows and bug reports need. */
static PyObject *
info_doctor(PyObject *module, PyObject *args)
{
    const char *compiler = NULL;
    if (!PyArg_ParseTuple(args, "|z:doctor", &compiler)) {
        return NULL;
    }
    const Core *core = PyModule_GetState(module);
    return Py_BuildValue("{s:N, s:N, s:i, s:s, s:s, s:i, s:O}", "compiler",
                         compiler_dict(compiler), "cache",
                         info_cache(module, NULL), "threads", threads_get(),
                         "libm", host_libm(), "version", VIZGEN_VERSION, "abi",
                         VZ_ABI, "environment", core->environment);
}

/* Kernels that are loaded stay usable. */
static PyObject *
info_cache_clear(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromLong(cache_clear());
}

/* Bad entries are removed by the next look-up, not here. */
static PyObject *
info_cache_verify(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    Arena *arena = arena_new();
    Str report = str_new(arena);
    int bad = cache_verify(&report);
    PyObject *out = Py_BuildValue("(iN)", bad, text_or_none(report.at));
    arena_free(arena);
    return out;
}

/* 0: as many as the machine and OMP_NUM_THREADS say. */
static PyObject *
info_threads(PyObject *module, PyObject *args)
{
    (void)module;
    int n = -1;
    if (!PyArg_ParseTuple(args, "|i:threads", &n)) {
        return NULL;
    }
    if (n >= 0) {
        threads_set(n);
    }
    return PyLong_FromLong(threads_get());
}

/* --- settings and help pages --------------------------------------------- */

/* As read when the module was imported. */
static PyObject *
info_settings(PyObject *module, PyObject *unused)
{
    (void)unused;
    const Core *core = PyModule_GetState(module);
    return Py_BuildValue("{s:O, s:O, s:O}", "disabled",
                         core->disabled ? Py_True : Py_False, "checking",
                         core->checking ? Py_True : Py_False, "strict",
                         core->strict ? Py_True : Py_False);
}

/* (words of relaxations, measure, limit); ValueError for a bad text. */
static PyObject *
info_approx(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text;
    Approx approx;
    char why[APPROX_WHY];
    char words[APPROX_WORDS];
    if (!PyArg_ParseTuple(args, "s:approx", &text)) {
        return NULL;
    }
    if (!approx_parse(text, &approx, why)) {
        PyErr_Format(PyExc_ValueError, "approx='%.100s' %s", text, why);
        return NULL;
    }
    approx_words(approx.relax, words);
    return Py_BuildValue("(ssd)", words, approx_measure(approx.measure),
                         approx.limit);
}

/* Words for VIZGEN_OPTS and _set_variant, with "=0". */
static PyObject *
info_transforms(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *out = PyList_New(0);
    for (int i = 0; out != NULL && opts_transform(i) != NULL; i++) {
        out = append(out, PyUnicode_FromString(opts_transform(i)));
    }
    return out;
}

/* In the order of diag.def, which is that of the codes. */
static PyObject *
info_codes(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *out = PyList_New(DIAG_COUNT);
    for (int id = 0; out != NULL && id < DIAG_COUNT; id++) {
        PyObject *code = PyUnicode_FromString(diag_code((DiagId)id));
        if (code == NULL) {
            Py_CLEAR(out);
        } else {
            PyList_SET_ITEM(out, id, code);
        }
    }
    return out;
}

/* KeyError for a code that doesn't exist. */
static PyObject *
info_page(PyObject *module, PyObject *args)
{
    (void)module;
    const char *code;
    if (!PyArg_ParseTuple(args, "s:page", &code)) {
        return NULL;
    }
    DiagId id = diag_find(code);
    if (id == DIAG_COUNT) {
        PyErr_Format(PyExc_KeyError, "there is no diagnostic '%s'", code);
        return NULL;
    }
    return Py_BuildValue("(sss)", diag_code(id), diag_title(id),
                         diag_page(id));
}

/* "numpy.sqrt": has the compiler a row for the function, or is it a constant
 * or a module?  Nothing is said about the arguments it accepts. */
static PyObject *
info_is_translated(PyObject *module, PyObject *name)
{
    (void)module;
    PyObject *find = helper("vizgen.source", "canonical");
    PyObject *found = find ? PyObject_CallOneArg(find, name) : NULL;
    Py_XDECREF(find);
    if (found == NULL) {
        return NULL;
    }
    bool yes = found == Py_True;
    if (PyUnicode_Check(found)) {
        const char *known = sym_of(found);
        yes = known != NULL && builtin_find(known) != BUILTIN_NONE;
    }
    Py_DECREF(found);
    return PyBool_FromLong(yes);
}

/* Called where the package is imported: that is what the warning points at. */
static PyObject *
info_environment(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return environment_check(NULL) < 0 ? NULL : Py_NewRef(Py_None);
}

PyMethodDef info_methods[] = {
    {"compile_info", (PyCFunction)(void (*)(void))info_compile,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("compile_info(f, args, kwargs={}, /, *, opts='', compiler=None,"
               " general=False, count_warnings=False, front_only=False)\n\n"
               "Compile by itself and tell all about it in a dict.")},
    {"doctor", info_doctor, METH_VARARGS,
     PyDoc_STR("doctor(compiler=None, /)\n\nCompiler, cache, threads, libm.")},
    {"cache_info", info_cache, METH_NOARGS, NULL},
    {"cache_clear", info_cache_clear, METH_NOARGS,
     PyDoc_STR("Remove all entries; their number.")},
    {"cache_verify", info_cache_verify, METH_NOARGS,
     PyDoc_STR("(number of bad entries, report)")},
    {"threads", info_threads, METH_VARARGS,
     PyDoc_STR("threads(n=-1, /)\n\nSet (0: default) and get the threads.")},
    {"is_translated", info_is_translated, METH_O,
     PyDoc_STR("is_translated(name, /)\n\n"
               "Is 'numpy.sqrt' a known function, constant or module?")},
    {"settings", info_settings, METH_NOARGS, NULL},
    {"approx", info_approx, METH_VARARGS,
     PyDoc_STR("approx(text, /)\n\n(relaxations, measure, limit) of approx=.")},
    {"transforms", info_transforms, METH_NOARGS,
     PyDoc_STR("transforms()\n\nThe compiler's options that switch one off.")},
    {"check_environment", info_environment, METH_NOARGS,
     PyDoc_STR("check_environment()\n\n"
               "Warn of variables of the environment without a good value.")},
    {"plain_attr", (PyCFunction)(void (*)(void))plain_attr, METH_FASTCALL,
     PyDoc_STR("plain_attr(object, name, written, /)\n\n"
               "The attribute, or NotImplemented if code might be run.")},
    {"part_heat", part_heat, METH_O,
     PyDoc_STR("part_heat(nanoseconds, /)\n\n"
               "Set the time in Python after which an inner loop is compiled;"
               " the old one.")},
    {"codes", info_codes, METH_NOARGS, NULL},
    {"page", info_page, METH_VARARGS,
     PyDoc_STR("page(code, /)\n\n(code, title, help page)")},
    {NULL, NULL, 0, NULL},
};
