/* Runs the pass table.
 *
 *     for each row of passes.def:  run, verify, dump if the text changed
 *
 * This is the one place that knows which rows a kernel's mode and the options
 * leave out, what level each row needs, and what happens between two passes:
 * the verifier (a broken function is a bug of the pass before it, and fatal),
 * the dump, and the reset of the scratch arena.  A pass itself is a plain map
 * Func * -> Func * and calls none of these.
 */
#include <string.h>

#include "transforms/transforms.h"

const PassInfo pass_table[] = {
#define PASS(letter, name, from, to, mode, purpose) \
    {letter, #name, from, to, mode, purpose, pass_##name},
#include "transforms/passes.def"
#undef PASS
};

const int pass_count = (int)(sizeof(pass_table) / sizeof(pass_table[0]));

/* Is 'info' the pass of that name? */
static bool
is_named(const PassInfo *info, const char *name)
{
    return name != NULL && strcmp(info->name, name) == 0;
}

/* A pass that has a switch of its name among the options may be off; the others
 * are needed.  A function that was read at a higher level than L_ARRAY leaves
 * out the passes that lead there. */
bool
pass_applies(const PassInfo *info, const Pass *pass, const Func *func)
{
    char mode = func->general ? 'G' : 'F';
    bool relaxed = info->mode == 'A' && pass->opts->approx != 0;
    return (info->mode == '*' || info->mode == mode || relaxed) &&
           info->from >= func->level && !opts_off(pass->opts, info->name);
}

/* A broken function is a bug of the pass before; going on would only hide
 * it. */
static void
verify(Pass *pass, const Func *func, const char *when)
{
    if (!pass->opts->verify) {
        return;
    }
    const char *broken = ir_verify(pass->scratch, func);
    if (broken != NULL) {
        fatal("%s: %s", when, broken);
    }
}

/* By the row's letter, or '*' for all. */
static bool
wants_dump(const PassInfo *info, const Opts *opts)
{
    return opts->dump != NULL && (strchr(opts->dump, info->letter) != NULL ||
                                  strchr(opts->dump, '*') != NULL);
}

/* The text of 'func' in the scratch arena. */
static const char *
text_of(Pass *pass, const Func *func)
{
    Str text = str_new(pass->scratch);
    ir_print(func, &text);
    return text.at;
}

/* The level before and after is the row's promise; text is made only if it
 * is asked for. */
static Func *
run_one(Pass *pass, const PassInfo *info, Func *func, Str *dump)
{
    bool dumps = dump != NULL && wants_dump(info, pass->opts);
    const char *before = dumps ? text_of(pass, func) : NULL;
    if (func->level != info->from) {
        fatal("pass %s: the function is at level %d", info->name,
              (int)func->level);
    }
    func = info->run(pass, func);
    if (func->level != info->to) {
        fatal("pass %s: left the function at level %d", info->name,
              (int)func->level);
    }
    if (!dumps) {
        arena_reset(pass->scratch); /* what was left there is verified away */
    }
    verify(pass, func, str_printf(pass->scratch, "pass %s", info->name));
    if (dumps) {
        const char *after = text_of(pass, func);
        bool same = strcmp(before, after) == 0;
        str_addf(dump, "; after %s%s\n", info->name,
                 same ? " (unchanged)" : "");
        str_add(dump, same ? "" : after);
    }
    return func;
}

/* The scratch arena is reset after each pass, so no pass may keep anything
 * there. */
Func *
pass_run_all(Pass *pass, Func *func, Str *dump)
{
    bool logs = pass->opts->dump != NULL && strchr(pass->opts->dump, '?');
    solver_begin(pass->opts->solver, logs ? dump : NULL);
    verify(pass, func, "before the first pass");
    arena_reset(pass->scratch);
    for (int i = 0; i < pass_count; i++) {
        const PassInfo *info = &pass_table[i];
        if (pass_applies(info, pass, func)) {
            func = run_one(pass, info, func, dump);
            arena_reset(pass->scratch);
        }
        if (is_named(info, pass->opts->stop_after)) {
            break;
        }
    }
    solver_end();
    return func;
}
