/* Saying why a call runs in Python, once.
 *
 * A FallbackWarning carries the text of the diagnostic and points at the
 * caller's line.  Under strict=True or VIZGEN_STRICT=1 the same text is raised
 * as CompileError, on every such call.
 */
#include "csrc/py/tell.h"

/* As a str, without the newline at its end.  diag_print has already made
 * terminal controls of the user's text harmless; bytes that are not UTF-8
 * are replaced. */
PyObject *
diag_text(const Diags *diags, const Diag *diag)
{
    Arena *arena = arena_new();
    Str out = str_new(arena);
    diag_print(diags, diag, &out);
    while (out.n > 0 && out.at[out.n - 1] == '\n') {
        out.at[--out.n] = '\0';
    }
    PyObject *text = PyUnicode_DecodeUTF8(out.at, (Py_ssize_t)out.n, "replace");
    arena_free(arena);
    return text;
}

/* With the line of the 'def' where the source is known. */
PyObject *
function_text(const Accel *f, const Loaded *l, DiagId code,
              const char *message)
{
    const PyFunctionObject *func = (PyFunctionObject *)f->py_func;
    const PyCodeObject *at = (PyCodeObject *)func->func_code;
    if (l != NULL && l->unit->funcs.n > 0) {
        char whole[600];
        snprintf(whole, sizeof(whole), "left in Python: %s", message);
        Diag diag = {
            .id = code,
            .severity = SEV_REFUSAL,
            .loc = l->unit->funcs.at[0]->loc,
            .message = whole,
        };
        return diag_text(&l->diags, &diag);
    }
    return PyUnicode_FromFormat(
        "%U:%d:1  %s  left in Python: %s\n   more: vizgen explain %s",
        at->co_filename, at->co_firstlineno, diag_code(code), message,
        diag_code(code));
}

int
function_tell(Accel *f, const Loaded *l, DiagId code, const char *message)
{
    PyObject *text = function_text(f, l, code, message);
    int status = text ? fallback_tell(f, code, text, NULL, NULL, 0) : -1;
    Py_XDECREF(text);
    return status;
}

/* (file, line, col, end_line, end_col) of each site. */
static PyObject *
site_tuples(const Diags *diags, const Diag *diag)
{
    PyObject *out = PyList_New(0);
    for (int i = 0; out != NULL && i < 2 && diag->sites[i].line; i++) {
        const Loc *at = &diag->sites[i];
        const char *path = at->file < diags->sources.n
                               ? diags->sources.at[at->file].path
                               : NULL;
        PyObject *item = Py_BuildValue("(sIIII)", path, at->line,
                                       (unsigned)at->col, at->end_line,
                                       (unsigned)at->end_col);
        if (item == NULL || PyList_Append(out, item) < 0) {
            Py_CLEAR(out);
        }
        Py_XDECREF(item);
    }
    return out;
}

/* {"code": ..., "message": ..., "file": ..., "line": ..., "col": ...} */
static PyObject *
diag_dict(const Diags *diags, const Diag *diag)
{
    const char *path = NULL;
    if (diag->loc.file < diags->sources.n) {
        path = diags->sources.at[diag->loc.file].path;
    }
    return Py_BuildValue(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:N}", "code", diag_code(diag->id),
        "message", diag->message, "file", path, "line", diag->loc.line, "col",
        (unsigned)diag->loc.col, "end_line", diag->loc.end_line, "help",
        diag->help ? diag->help : diag_page(diag->id), "sites",
        site_tuples(diags, diag));
}

/* For tools and for CompileError.diagnostics; the order is that in which
 * the compiler found things, so the root cause is the first. */
PyObject *
diag_dicts(const Diags *diags, const Diag *list, int n, Severity severity)
{
    PyObject *out = PyList_New(0);
    for (int i = 0; out != NULL && i < n; i++) {
        if (list[i].severity != severity) {
            continue;
        }
        PyObject *item = diag_dict(diags, &list[i]);
        if (item == NULL || PyList_Append(out, item) < 0) {
            Py_CLEAR(out);
        }
        Py_XDECREF(item);
    }
    return out;
}

/* The class is vizgen.errors.CompileError(text, code, diagnostics). */
static int
raise_compile_error(Accel *f, DiagId code, PyObject *text, const Diags *diags,
                    const Diag *list, int n)
{
    PyObject *dicts = diags ? diag_dicts(diags, list, n, SEV_REFUSAL)
                            : PyList_New(0);
    PyObject *error = dicts ? PyObject_CallFunction(f->core->compile_error,
                                                    "OsO", text,
                                                    diag_code(code), dicts)
                            : NULL;
    if (error != NULL) {
        PyErr_SetObject(f->core->compile_error, error);
    }
    Py_XDECREF(error);
    Py_XDECREF(dicts);
    return -1;
}

/* Is the text new to this function?  -1 with an exception. */
static int
is_new(Accel *f, PyObject *text)
{
    if (f->reasons == NULL) {
        f->reasons = PySet_New(NULL);
    }
    int known = f->reasons ? PySet_Contains(f->reasons, text) : -1;
    if (known == 0 && PySet_Add(f->reasons, text) < 0) {
        return -1;
    }
    return known < 0 ? -1 : !known;
}

/* The caller's line is where the warning points, since no frame of ours
 * stands between: a C function has none. */
int
fallback_tell(Accel *f, DiagId code, PyObject *text, const Diags *diags,
              const Diag *list, int n)
{
    if (f->strict || f->core->strict) {
        return raise_compile_error(f, code, text, diags, list, n);
    }
    int new = f->silent ? 0 : is_new(f, text);
    if (new <= 0) {
        return new;
    }
    const char *utf8 = PyUnicode_AsUTF8(text);
    return utf8 ? PyErr_WarnEx(f->core->fallback_warning, utf8, 1) : -1;
}

/* Once it is known that a function can't be split its warnings come before
 * the call again: a program may not return. */
int
fallback_note(Accel *f, DiagId code, PyObject *text, const Diags *diags,
              const Diag *list, int n)
{
    bool later = f->silent || !f->split.tried || f->split.function != NULL;
    if (!later || f->strict || f->core->strict) {
        return fallback_tell(f, code, text, diags, list, n);
    }
    int new = is_new(f, text);
    if (new > 0) {
        Py_XSETREF(f->split.note, Py_NewRef(text));
    }
    return new < 0 ? -1 : 0;
}
