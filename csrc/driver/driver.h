#ifndef VZ_DRIVER_DRIVER_H
#define VZ_DRIVER_DRIVER_H
/* vz_compile: from a loaded Unit to a kernel.  The table of contents of the
 * compiler.
 *
 *   request   Unit (loaded Ast), Signature (types of a call), Opts
 *   result    Lowered (how arguments map to parameters), Func@SCHED,
 *             C text, dumps, and the loaded kernel
 */
#include "csrc/ast/ast.h"
#include "csrc/base/opts.h"
#include "csrc/lower/lower.h"
#include "csrc/run/run.h"
#include "typeinfer/infer.h"

/* What to compile, and how.
 *
 *   "unit"  the loaded functions; its arena also holds the result.
 *   "sig"  types of the arguments; pins (values and sizes that inference made
 *       part of the signature) are set on return.
 *   "opts"  see csrc/base/opts.h.
 *   "compiler"  name or path; NULL: the default.
 *   "environment"  versions of Python, NumPy and so on, for the cache's key.
 *   "front_only"  stop before the C compiler, for inspect_c and tests. */
typedef struct CompileRequest {
    Unit *unit;
    Signature *sig;   /* pins are set on return */
    Opts opts;
    const char *compiler;    /* name or path; NULL: the default */
    const char *environment; /* Python, NumPy ... versions for the key */
    bool front_only;         /* stop before the C compiler */
} CompileRequest;

/* What came of it.  Everything lives in the arena of the request's Unit; but
 * "lib", which lives as long as the process.  Fields of stages that were not
 * reached are zero. */
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
