#ifndef VZ_BASE_DIAG_H
#define VZ_BASE_DIAG_H
/* Positions in the user's source, and what the compiler has to say of them.
 *
 * Diagnostics are collected, never printed by the core.  Each has a stable
 * code 'VZ-xxxx', a row of diag.def, which also holds the help text that
 * 'vizgen explain VZ-xxxx' prints.
 */
#include <stdbool.h>
#include <stdint.h>

#include "csrc/base/str.h"
#include "csrc/base/vec.h"

/* A span of source: lines count from 1, columns from 0 in UTF-8 bytes, as
 * Python's ast has them; "file" indexes Diags.sources.  Line 0: no place. */
typedef struct Loc {
    uint32_t line;
    uint32_t end_line;
    uint16_t col;
    uint16_t end_col;
    uint16_t file;
} Loc;

/* A file of the user's program, for excerpts. */
typedef struct Source {
    const char *path; /* as the user wrote it, UTF-8 */
    const char *text; /* the whole file; NULL when it can't be had */
} Source;

/* One constant per row of diag.def.  The codes are stable, these numbers
 * not. */
typedef enum DiagId {
#define DIAG(id, code, title, help) DIAG_##id,
#include "csrc/base/diag.def"
#undef DIAG
    DIAG_COUNT
} DiagId;

typedef enum Severity {
    SEV_REFUSAL, /* the function stays in Python */
    SEV_REMARK,  /* an optimisation decision or refusal, for explain */
} Severity;

/* One thing to say: which row of diag.def, how grave, where, and the text of
 * this very case.  "sites" are the places that stand in the way, such as two
 * accesses to one element; line 0: none. */
typedef struct Diag {
    DiagId id;
    Severity severity;
    Loc loc;
    const char *message;
    const char *help; /* what to do; NULL: the row's text */
    Loc sites[2];
} Diag;

/* All that was said in one compilation, in the order in which it was found.
 * "arena" holds the texts, "sources" what Loc.file counts. */
typedef struct Diags {
    Arena *arena;
    VEC(Source) sources;
    VEC(Diag) list;
    int refusals; /* how many of "list" are SEV_REFUSAL */
} Diags;

void diags_init(Diags *diags, Arena *arena);
int diags_source(Diags *diags, const char *path, const char *text);
/* Add a diagnostic; the text is printf's, in the user's words and without a
 * final point.  A refusal means that the function stays in Python. */
void diag_refuse(Diags *diags, DiagId id, Loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_remark(Diags *diags, DiagId id, Loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The help of the diagnostic added last. */
void diag_help(Diags *diags, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The sites of the diagnostic added last. */
void diag_sites(Diags *diags, Loc first, Loc second);

const char *diag_code(DiagId id);  /* "VZ-2003" */
const char *diag_title(DiagId id); /* one line */
const char *diag_page(DiagId id);  /* the row's help text */
DiagId diag_find(const char *code); /* DIAG_COUNT when there is none */

/* Append 'file:line:col  VZ-code  message', the source line with its
 * neighbour, a caret run under the span, 'help:' and 'more:' lines. */
void diag_print(const Diags *diags, const Diag *diag, Str *out);
#endif
