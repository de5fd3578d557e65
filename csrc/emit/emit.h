#ifndef VZ_EMIT_EMIT_H
#define VZ_EMIT_EMIT_H
/* Func@SCHED -> C text.
 *
 * The text is self-contained: prelude.h (with csrc/run/abi.h in it) first,
 * then the kernel 'vz_kernel'.  #line names the user's file.
 */
#include "csrc/ir/ir.h"

/* Appends the whole translation unit for 'func'.  'diags' gives the file
 * names of Locs. */
void emit_c(const Func *func, const Diags *diags, Str *out);
/* Without the prelude, for people to read (inspect_c). */
void emit_c_body(const Func *func, const Diags *diags, Str *out);
#endif
