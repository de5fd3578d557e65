/* vz-opt: the middle of the compiler as a command.
 *
 *     vz-opt [options] file.ir        ('-' reads standard input)
 *
 * Reads a function, runs passes, prints it.  Passes are tested this way, one
 * at a time and without Python (tests/ir), and a dump of VIZGEN_DUMP can be
 * fed back.
 *
 *   --passes=a,b        run these passes, in this order
 *   --all               run the whole table of passes.def
 *   --general           compile the general kernel
 *   --opts='TEXT'       further options, see opts.h
 *   --sched='TEXT'      directives, see transforms.h; ';' ends a line too
 *   --verify            judge the function and print the verdict alone
 *   --print-after=a,b   also print after these passes ('*': after all)
 *   --remarks, --print-sched  print what the passes say, and propose
 *   --clone, --clone-body  go on with a clone of the function, of its body
 *   --count             print how many statements of each kind there are
 *   --eval              run it by the reference interpreter and print results
 *   --arg=TYPE=VALUE    the next argument of --eval:
 *                         i64=5   f32=nan   b1=1
 *                         f64[3,4]=ramp     0, 1, 2 ... in index order
 *                         f64[3,4]=mod:7    the same modulo 7
 *                         f64[3,4]=rand:3   small whole numbers by a generator
 *                         f64[3]=list:1,2,3
 *                         f64[3]=same:0:8   memory of argument 0, 8 bytes on
 *                       '@t' '@r' '@s' at the end: stored transposed,
 *                       reversed, with gaps
 *                       What is not given is made up from the parameter.
 *   --fail-at=N         let the Nth allocation fail
 *   --promote           print NumPy's promotion of every two dtypes
 *
 * Exit status: 0; 1 when the text can't be read or is broken; 2 for a wrong
 * command or an internal error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/driver/vz_opt.h"
#include "transforms/transforms.h"

enum { MAX_ARGS = 32 };

typedef struct Tool {
    Arena *arena;
    Arena *scratch;
    Str out;
    Diags diags;
    Opts opts;
    Sched sched;
    const char *passes; /* NULL: none */
    const char *print_after;
    const char *file;
    const char *args[MAX_ARGS];
    int nargs;
    bool all;
    bool verify_only;
    bool remarks;
    bool print_sched;
    bool clone;
    bool clone_body;
    bool count;
    bool eval;
    bool promote;
} Tool;

/* A line on standard error; the exit status. */
static int
fail(const char *what, const char *which)
{
    fputs("vz-opt: ", stderr);
    fputs(what, stderr);
    fputs(which, stderr);
    fputs("\n", stderr);
    return 2;
}

/* --- the command line --------------------------------------------------- */

const char *
after(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 ? word + n : NULL;
}

/* The flag that 'word' switches on, or NULL. */
static bool *
switch_named(Tool *tool, const char *word)
{
    const struct {
        const char *name;
        bool *on;
    } table[] = {
        {"--all", &tool->all},
        {"--general", &tool->opts.general},
        {"--verify", &tool->verify_only},
        {"--remarks", &tool->remarks},
        {"--print-sched", &tool->print_sched},
        {"--clone", &tool->clone},
        {"--clone-body", &tool->clone_body},
        {"--count", &tool->count},
        {"--eval", &tool->eval},
        {"--promote", &tool->promote},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(word, table[i].name) == 0) {
            return table[i].on;
        }
    }
    return NULL;
}

/* On the command line ';' ends a directive as well as a newline. */
static bool
read_directives(Tool *tool, const char *text)
{
    char *lines = arena_copy(tool->arena, text, strlen(text) + 1);
    const char *bad = NULL;
    for (char *p = lines; *p; p++) {
        *p = *p == ';' ? '\n' : *p;
    }
    return sched_read(tool->arena, lines, &tool->sched, &bad);
}

/* One word; false when it is not understood. */
static bool
read_option(Tool *tool, const char *word)
{
    bool *on = switch_named(tool, word);
    const char *text = NULL;
    const char *bad = NULL;
    if (on) {
        *on = true;
    } else if ((text = after(word, "--passes="))) {
        tool->passes = text;
    } else if ((text = after(word, "--print-after="))) {
        tool->print_after = text;
    } else if ((text = after(word, "--opts="))) {
        return opts_parse(&tool->opts, text, &bad);
    } else if ((text = after(word, "--fail-at="))) {
        arena_fail_at(strtol(text, NULL, 10));
    } else if ((text = after(word, "--sched="))) {
        return read_directives(tool, text);
    } else if ((text = after(word, "--arg="))) {
        if (tool->nargs == MAX_ARGS) {
            return false;
        }
        tool->args[tool->nargs++] = text;
    } else if (word[0] == '-' && word[1]) {
        return false;
    } else {
        tool->file = word;
    }
    return true;
}

/* The whole of a file; NULL when it can't be read. */
static char *
read_file(Arena *arena, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char part[4096];
    if (!file) {
        return NULL;
    }
    Str text = str_new(arena);
    size_t n = 0;
    do {
        n = fread(part, 1, sizeof(part), file);
        str_add_n(&text, part, n);
    } while (n > 0);
    if (file != stdin) {
        fclose(file);
    }
    return text.at;
}

/* --- passes ------------------------------------------------------------- */

/* Is 'name' one of the words of 'list', which commas separate? */
static bool
listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if ((word == n && strncmp(list, name, n) == 0) || *list == '*') {
            return true;
        }
        list += word + (list[word] == ',');
    }
    return false;
}

/* The row of passes.def named by 'n' bytes. */
static const PassInfo *
find_pass(const char *name, size_t n)
{
    for (int i = 0; i < pass_count; i++) {
        const PassInfo *info = &pass_table[i];
        if (strlen(info->name) == n && strncmp(info->name, name, n) == 0) {
            return info;
        }
    }
    return NULL;
}

/* Runs one pass; a function that it leaves broken is printed and fatal. */
static Func *
run_pass(Tool *tool, Pass *pass, const PassInfo *info, Func *func)
{
    if (func->level != info->from) {
        fatal("pass %s wants another level", info->name);
    }
    func = info->run(pass, func);
    arena_reset(pass->scratch);
    const char *error = ir_verify(tool->arena, func);
    if (error) {
        ir_print(func, &tool->out);
        fputs(tool->out.at, stdout);
        fatal("after pass %s: %s", info->name, error);
    }
    if (listed(tool->print_after, info->name)) {
        str_addf(&tool->out, "; after %s\n", info->name);
        ir_print(func, &tool->out);
    }
    return func;
}

/* The passes asked for, one by one. */
static Func *
run_listed(Tool *tool, Pass *pass, Func *func)
{
    for (const char *list = tool->passes; list && *list;) {
        size_t n = strcspn(list, ",");
        const PassInfo *info = find_pass(list, n);
        if (!info) {
            fatal("there is no pass '%.*s'", (int)n, list);
        }
        func = run_pass(tool, pass, info, func);
        list += n + (list[n] == ',');
    }
    return func;
}

/* The table in its order, as the driver runs it, but verified always. */
static Func *
run_table(Tool *tool, Pass *pass, Func *func)
{
    const char *last = tool->opts.stop_after;
    for (int i = 0; i < pass_count; i++) {
        const PassInfo *info = &pass_table[i];
        if (pass_applies(info, pass, func)) {
            func = run_pass(tool, pass, info, func);
        }
        if (last && strcmp(last, info->name) == 0) {
            break;
        }
    }
    return func;
}

static Func *
run_passes(Tool *tool, Func *func)
{
    Pass pass = {
        .arena = tool->arena,
        .scratch = tool->scratch,
        .diags = &tool->diags,
        .opts = &tool->opts,
        .sched = &tool->sched,
    };
    func->general = func->general || tool->opts.general;
    tool->opts.general = func->general;
    return tool->all ? run_table(tool, &pass, func)
                     : run_listed(tool, &pass, func);
}

/* --- the tool ----------------------------------------------------------- */

/* A line for each kind of statement. */
static void
add_counts(Tool *tool, const Func *func)
{
    static const char *const words[S_COUNT] = {
        "Let",   "Store", "Check", "Warn",     "If",
        "For",   "While", "Alloc", "Fill",     "Routine",
        "View",  "Grow",  "Set",   "Bind",  "Scope",    "Leave",
        "Break", "Continue", "Shadow",
    };
    for (int kind = 0; kind < S_COUNT; kind++) {
        str_addf(&tool->out, "%s %d\n", words[kind],
                 ir_count(func, (StmtKind)kind));
    }
}

static void
add_promotions(Str *out)
{
    for (int lhs = 0; lhs < DT_COUNT; lhs++) {
        for (int rhs = 0; rhs < DT_COUNT; rhs++) {
            str_addf(out, "%s %s %s\n", dtype_name((DType)lhs),
                     dtype_name((DType)rhs),
                     dtype_name(dtype_promote((DType)lhs, (DType)rhs)));
        }
    }
}

/* What is then verified, printed or run is the clone. */
static Func *
make_clones(Tool *tool, Func *func)
{
    if (tool->clone) {
        func = ir_clone_func(tool->arena, func);
    }
    if (tool->clone_body) {
        Map map = map_new(tool->arena);
        func->body = ir_clone(func, &func->body, &map);
        for (int i = 0; i < func->rets.n; i++) {
            Ret *ret = &func->rets.at[i];
            if (ret->value) {
                ret->value = ir_subst(tool->arena, ret->value, &map);
            }
        }
    }
    return func;
}

/* What is printed in place of the function, or the function. */
static void
print_result(Tool *tool, Func *func)
{
    if (tool->remarks) {
        for (int i = 0; i < tool->diags.list.n; i++) {
            const Diag *d = &tool->diags.list.at[i];
            str_addf(&tool->out, "%u %s %s\n", (unsigned)d->loc.line,
                     diag_code(d->id), d->message);
        }
    }
    if (tool->print_sched) {
        sched_print(&tool->sched, &tool->out);
    }
    if (tool->count) {
        add_counts(tool, func);
    }
    if (tool->eval) {
        run_eval(&(EvalTool){tool->arena, &tool->out, tool->args, tool->nargs},
                 func);
    }
    if (!tool->remarks && !tool->print_sched && !tool->count && !tool->eval) {
        ir_print(func, &tool->out);
    }
}

/* Read, judge, run, print; the exit status. */
static int
process(Tool *tool)
{
    if (tool->promote) {
        add_promotions(&tool->out);
        return 0;
    }
    const char *text = tool->file ? read_file(tool->arena, tool->file) : NULL;
    if (!text) {
        return fail("can't read ", tool->file ? tool->file : "no file");
    }
    const char *error = NULL;
    Func *func = ir_read(tool->arena, text, &error);
    error = func ? ir_verify(tool->arena, func) : error;
    if (error || tool->verify_only) {
        str_addf(&tool->out, "%s\n", error ? error : "ok");
        return error ? 1 : 0;
    }
    func = make_clones(tool, run_passes(tool, func));
    error = ir_verify(tool->arena, func);
    if (error) {
        fatal("after cloning: %s", error);
    }
    print_result(tool, func);
    return 0;
}

/* Everything after the arenas exist; a fatal error ends it. */
static int
run(Tool *tool, int argc, char **argv)
{
    Fatal handler;
    fatal_enter(&handler);
    if (setjmp(handler.env)) {
        return fail(handler.message, "");
    }
    tool->out = str_new(tool->arena);
    diags_init(&tool->diags, tool->arena);
    diags_source(&tool->diags, "file.ir", NULL);
    for (int i = 1; i < argc; i++) {
        if (!read_option(tool, argv[i])) {
            return fail("what is ", argv[i]);
        }
    }
    int status = process(tool);
    fputs(tool->out.at, stdout);
    fatal_leave(&handler);
    return status;
}

int
main(int argc, char **argv)
{
    Tool tool = {
        .arena = arena_new(),
        .scratch = arena_new(),
        .opts = opts_default(),
    };
    int status = run(&tool, argc, argv);
    arena_free(tool.arena);
    arena_free(tool.scratch);
    return status;
}
