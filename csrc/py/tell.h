#ifndef VZ_PY_TELL_H
#define VZ_PY_TELL_H
/* What the user is told: the warnings of NumPy, which native code repeats;
 * refusals; environment variables that have no good value. */
#include "csrc/py/core.h"

/* --- warn.c -------------------------------------------------------------- */

/* What is to become of warnings of the given kinds. */
typedef enum Outlook {
    OUTLOOK_IGNORE,
    OUTLOOK_SHOW,   /* those left in "bits" */
    OUTLOOK_PYTHON, /* only Python does it right: exceptions, callbacks */
} Outlook;

/* Kinds are bits of Warn, and UNDERFLOW, which no kernel looks for. */
enum { UNDERFLOW = 1 << (WARN_INVALID + 1), ALL_WARNINGS = UNDERFLOW - 1 };

/* np.errstate and the filters of warnings; drops what is ignored, and where
 * Python does it what is not why. */
Outlook warn_outlook(Core *core, unsigned *kinds);
/* The kinds of the WARNs with these bits. */
unsigned warn_kinds(const Kernel *kernel, uint64_t bits);
/* One warning for each bit of ctx.warn whose kind is among 'kinds'; false with
 * an exception when one became an exception. */
bool warn_tell(const Call *call, unsigned kinds);

/* --- errors.c ------------------------------------------------------------ */

/* Says once why a call runs in Python; -1 with an exception when strict or
 * when warnings are errors. */
int fallback_tell(Accel *f, DiagId code, PyObject *text, const Diags *diags,
                  const Diag *list, int n);
/* The same, but the warning waits for the end of the call: only then it is
 * known what ran native.  The parts of a function keep theirs. */
int fallback_note(Accel *f, DiagId code, PyObject *text, const Diags *diags,
                  const Diag *list, int n);
PyObject *diag_text(const Diags *diags, const Diag *diag);
PyObject *diag_dicts(const Diags *diags, const Diag *list, int n,
                     Severity severity);
/* A refusal of the function as a whole, as text; 'l' may be NULL. */
PyObject *function_text(const Accel *f, const Loaded *l, DiagId code,
                        const char *message);
/* The same, told. */
int function_tell(Accel *f, const Loaded *l, DiagId code, const char *message);
/* Of arguments whose values no kernel takes. */
#define UNFIT "an integer among the arguments is beyond 64 bits, or an array " \
              "has 2**31 elements along an axis"

/* --- env.c --------------------------------------------------------------- */

/* Warns of each variable that has no good value (NULL: of all variables), once
 * for each value; their number, or -1 with an exception. */
int environment_check(const char *name);

#endif
