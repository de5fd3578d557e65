#ifndef VZ_DRIVER_VZ_OPT_H
#define VZ_DRIVER_VZ_OPT_H
/* What the two files of the command vz-opt share. */
#include "csrc/ir/ir.h"

/* The text behind 'name' if 'word' begins with it, else NULL. */
const char *after(const char *word, const char *name);

/* What --eval is given: the texts of --arg, "nargs" of them, and where what it
 * prints goes. */
typedef struct EvalTool {
    Arena *arena;
    Str *out;
    const char *const *args;
    int nargs;
} EvalTool;

/* The arguments that are given, then made-up ones; prints status, results and
 * arguments. */
void run_eval(const EvalTool *tool, const Func *func);
#endif
