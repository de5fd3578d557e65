#ifndef VZ_DRIVER_DRIVER_H
#define VZ_DRIVER_DRIVER_H
/* vz_compile: from a loaded Unit to a kernel.  The table of contents of the
 * compiler.
 */
#include "csrc/ast/ast.h"
#include "csrc/base/opts.h"
#include "csrc/lower/lower.h"
#include "csrc/run/run.h"
#include "typeinfer/infer.h"

typedef struct CompileRequest {
    Unit *unit;
    Signature *sig;   /* pins are set on return */
    Opts opts;
    const char *compiler;    /* name or path; NULL: the default */
    const char *environment; /* Python, NumPy ... versions for the key */
    bool front_only;         /* stop before the C compiler */
} CompileRequest;

/* Everything lives in the arena of the request's Unit. */
typedef struct CompileResult {
    bool ok;             /* false: unit->diags has the refusal */
    Lowered *lowered;    /* params, leaves, writes */
    const Func *func;    /* at L_SCHED */
    bool needs_undo;     /* some store is logged or shadowed */
    char *c_text;        /* readable, without the prelude */
    char *dump;          /* as asked by opts.dump */
    char *sched;         /* the directives applied, as text */
    const Library *lib;  /* NULL with front_only */
    const char *cc_error; /* compiler missing or failed: VZ-5001/5002 */
} CompileResult;

/* Calls no Python; may be called without the GIL by any thread, one at a
 * time per Unit.  Fatal errors become a VZ-5004 refusal. */
CompileResult *vz_compile(CompileRequest *request);
#endif
