/* Questions to csrc/base and csrc/ir that the text of the IR can't put.
 *
 *     core_tool rules     breaks the rules of ir_verify that need wrong fields
 *     core_tool walk      comparing, substituting, cloning
 *     core_tool base      arenas, maps, strings, options
 *     core_tool numbers   doubles from standard input, as str_add_double
 *     core_tool diag FILE LINE COL END_LINE END_COL
 *                         a diagnostic on a span of FILE
 *
 * Prints "what answer" lines for tests/test_ir.py to read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/base/opts.h"
#include "csrc/ir/mem.h"

static Arena *arena;

static void
say(const char *what, const char *answer)
{
    fputs(str_printf(arena, "%s %s\n", what, answer), stdout);
}

static void
say_if(const char *what, bool answer)
{
    say(what, answer ? "yes" : "no");
}

/* --- rules ----------------------------------------------------------- */

static Func *
with_value(Expr *value)
{
    Func *func = ir_func(arena, sym("f"), L_LOOPS);
    Ret ret = {value, NULL};
    vec_push(arena, &func->rets, ret);
    return func;
}

static void
say_rule(const Func *func)
{
    const char *error = ir_verify(arena, func);
    Str rule = str_new(arena);
    str_add_n(&rule, error ? error : "ok", error ? strcspn(error, ":") : 2);
    say("rule", rule.at);
}

static void
rules(void)
{
    Loc loc = {.line = 1};
    Expr *sum = ir_binary(arena, E_ADD, ir_int(arena, DT_I64, 1),
                          ir_int(arena, DT_I64, 2));
    Expr *wrong = arena_copy(arena, sum, sizeof(*sum));
    wrong->dtype = DT_F64;
    say_rule(with_value(wrong));

    wrong = arena_copy(arena, sum, sizeof(*sum));
    wrong->lanes = 3;
    say_rule(with_value(wrong));

    Func *func = ir_func(arena, sym("f"), L_LOOPS);
    Var *var = ir_var(func, "x", DT_I64, 0);
    vec_push(arena, &func->body,
             ir_let(arena, var, ir_int(arena, DT_I64, 1), loc));
    wrong = ir_ref(arena, var);
    wrong->dtype = DT_F32;
    Ret ret = {wrong, NULL};
    vec_push(arena, &func->rets, ret);
    say_rule(func);

    func->rets.n = 0;
    var->id = 7;
    say_rule(func);

    func = ir_func(arena, sym("f"), L_LOOPS);
    vec_push(arena, &func->body,
             ir_store(arena, NULL, NULL, 0, ir_int(arena, DT_I64, 1), loc));
    say_rule(func);
}

/* --- walk ------------------------------------------------------------ */

/* x + 1 */
static Expr *
plus_one(Var *var)
{
    return ir_binary(arena, E_ADD, ir_ref(arena, var),
                     ir_int(arena, DT_I64, 1));
}

static void
compare(Func *func)
{
    Var *x = ir_var(func, "x", DT_I64, 0);
    Var *y = ir_var(func, "x", DT_I64, 0);
    Expr *one = plus_one(x);
    Expr *other = plus_one(y);
    say_if("equal", ir_equal(one, plus_one(x)));
    say_if("same_hash", one->hash == plus_one(x)->hash);
    say_if("equal_of_others", ir_equal(one, other));

    Expr *forged = arena_copy(arena, other, sizeof(*other));
    forged->hash = one->hash;
    forged->args[0]->hash = one->args[0]->hash;
    say_if("equal_after_collision", ir_equal(one, forged));

    Expr *zero = ir_float(arena, DT_F64, 0.0);
    Expr *minus = ir_float(arena, DT_F64, -0.0);
    say_if("zeros_equal", ir_equal(zero, minus));
    say_if("wraps",
           ir_equal(ir_int(arena, DT_U8, 256 + 3), ir_int(arena, DT_U8, 3)));
}

static void
substitute(Func *func)
{
    Var *x = ir_var(func, "x", DT_I64, 0);
    Var *y = ir_var(func, "y", DT_I64, 0);
    Map map = map_new(arena);
    map_set(&map, x, plus_one(y));
    Expr *untouched = plus_one(y);
    say_if("subst_keeps", ir_subst(arena, untouched, &map) == untouched);
    Expr *done = ir_subst(arena, plus_one(x), &map);
    Str text = str_new(arena);
    ir_print_expr(done, &text);
    say("subst", text.at);
    Expr *args[] = {plus_one(y), ir_int(arena, DT_I64, 1)};
    say_if("subst_hash",
           ir_equal(done, ir_with_args(arena, plus_one(x), args)));
}

/* The same block cloned twice with one map makes two of everything. */
static void
clone_twice(Func *func)
{
    Loc loc = {.line = 1};
    Block block = {0};
    Buf *buf = ir_buf(func, "b", DT_F64, 1, BUF_LOCAL);
    buf->dims[0] = ir_int(arena, DT_I64, 3);
    Stmt *made = ir_stmt(arena, S_ALLOC, loc);
    made->buf = buf;
    Expr *index = ir_int(arena, DT_I64, 0);
    vec_push(arena, &block, made);
    vec_push(
        arena, &block,
        ir_store(arena, buf, &index, 1, ir_float(arena, DT_F64, 1.0), loc));
    Map map = map_new(arena);
    for (int round = 0; round < 2; round++) {
        Block copy = ir_clone(func, &block, &map);
        for (int i = 0; i < copy.n; i++) {
            vec_push(arena, &func->body, copy.at[i]);
        }
    }
    Str text = str_new(arena);
    ir_print(func, &text);
    const char *error = ir_verify(arena, func);
    say("clone_twice", error ? error : "ok");
}

/* A clone of a function survives the arena of the original. */
static void
clone_apart(void)
{
    const char *error = NULL;
    const char *text = "func f array {\n"
                       "  param a &a.0:f64[:, 3]\n"
                       "  if (lt (dim &a.0 0) 4) {\n"
                       "    store &a.0[%k.1:i64] = (mul &a.0[0]<3> 2.0) @3:1\n"
                       "  }\n"
                       "  set %k.1 = 1\n"
                       "  ret %k.1\n"
                       "}\n";
    Arena *gone = arena_new();
    Func *func = ir_read(gone, text, &error);
    Func *copy = ir_clone_func(arena, func);
    arena_free(gone);
    Str out = str_new(arena);
    ir_print(copy, &out);
    say_if("clone_apart", strcmp(out.at, text) == 0);
    say_if("clone_valid", ir_verify(arena, copy) == NULL);
}

static void
drop_stores(void *data, Block *out, Stmt *s)
{
    (void)data;
    if (s->kind != S_STORE) {
        vec_push(arena, out, s);
    }
}

/* Every second element, and all of them the same: that one is repeated makes
 * it no more shared. */
static void
overlap(void)
{
    double memory[8] = {0};
    Func *func = ir_func(arena, sym("f"), L_LOOPS);
    Buf *a = ir_buf(func, "a", DT_F64, 1, BUF_ARG);
    Buf *b = ir_buf(func, "b", DT_F64, 1, BUF_ARG);
    EvalArray even = {.data = (char *)memory, .dims = {4}, .strides = {16}};
    EvalArray same = {.data = (char *)(memory + 3), .dims = {5}};
    say_if("disjoint_repeated", mem_disjoint(arena, a, &even, b, &same));
    same.data = (char *)(memory + 4);
    say_if("shared_repeated", !mem_disjoint(arena, a, &even, b, &same));
}

static void
walk(void)
{
    Func *func = ir_func(arena, sym("f"), L_LOOPS);
    compare(func);
    substitute(func);
    clone_twice(func);
    clone_apart();
    overlap();
    int before = ir_count(func, S_STORE);
    Block fewer = ir_map_block(arena, &func->body, drop_stores, NULL);
    say_if("map_block_copies", ir_count(func, S_STORE) == before);
    func->body = fewer;
    say_if("map_block_drops", before == 2 && ir_count(func, S_STORE) == 0);
}

/* --- base ------------------------------------------------------------ */

static void
maps(void)
{
    char keys[1000];
    Map map = map_new(arena);
    bool good = !map_has(&map, keys) && !map_get(&map, keys);
    for (int i = 0; i < 1000; i++) {
        map_set(&map, &keys[i], &keys[999 - i]);
    }
    Map copy = map_copy(&map);
    map_set(&map, &keys[5], NULL);
    for (int i = 0; i < 1000; i++) {
        good &= map_get(&copy, &keys[i]) == &keys[999 - i] &&
                map.entries[i].key == &keys[i];
    }
    good &=
        map.n == 1000 && map_has(&map, &keys[5]) && !map_get(&map, &keys[5]);
    map_clear(&map);
    good &= map.n == 0 && !map_has(&map, &keys[7]);
    map_set(&map, &keys[7], keys);
    good &= map.n == 1 && map_get(&map, &keys[7]) == keys &&
            !map_has(&map, &keys[8]);
    say_if("map", good);
}

static void
strings(void)
{
    Str str = str_new(arena);
    str_add_c_literal(&str, "a\"\n?\?/\\\xC3\xA9");
    say("literal", str.at);
    str = str_new(arena);
    str.indent = 2;
    str_line(&str, "%d %s", 3, "x");
    say_if("line", strcmp(str.at, "  3 x\n") == 0);
    say_if("intern", sym("abc") == sym_n("abcd", 3) && sym("a") != sym("b"));
    for (int i = 0; i < 5000; i++) {
        sym(str_printf(arena, "name%d", i));
    }
    say_if("intern_many", sym("name77") == sym("name77"));
}

static void
options(void)
{
    const char *bad = NULL;
    Opts opts = opts_default();
    bool good = opts_parse(&opts,
                           " parallel=0 general=1\tdump=SC threads=3 "
                           "directives=parallel 3\nunroll 4",
                           &bad);
    good &= !opts.parallel && opts.general && opts.regions &&
            opts.threads == 3 && strcmp(opts.dump, "SC") == 0 &&
            strcmp(opts.directives, "parallel 3\nunroll 4") == 0;
    say_if("opts", good);
    opts_parse(&opts, "general=1 paralel=0", &bad);
    say("opts_bad", bad);
    opts_parse(&opts, "parallel=2", &bad);
    say("opts_value", bad);
}

/* Nested handlers: the inner one passes its message on to the outer. */
static void
fatals(void)
{
    Fatal outer;
    Fatal inner;
    fatal_enter(&outer);
    if (setjmp(outer.env)) {
        say("fatal", outer.message);
        return;
    }
    fatal_enter(&inner);
    if (setjmp(inner.env)) {
        fatal("outer of %s", inner.message);
    }
    arena_fail_at(3);
    for (;;) {
        arena_alloc(arena, 1);
    }
}

static void
base(void)
{
    maps();
    strings();
    options();
    fatals();
    char *big = arena_alloc(arena, 1 << 20);
    bool zero = true;
    memset(big, 1, 1 << 20);
    arena_reset(arena);
    big = arena_alloc(arena, 1 << 16);
    for (int i = 0; i < 1 << 16; i++) {
        zero &= big[i] == 0;
    }
    say_if("cleared", zero);
}

static void
numbers(void)
{
    double value = 0.0;
    while (fread(&value, sizeof(value), 1, stdin) == 1) {
        Str str = str_new(arena);
        str_add_double(&str, value);
        str_add(&str, "\n");
        fputs(str.at, stdout);
        arena_reset(arena);
    }
}

static char *
read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = arena_alloc(arena, 1 << 16);
    if (file) {
        fread(text, 1, (1 << 16) - 1, file);
        fclose(file);
    }
    return text;
}

static void
diag(char **words)
{
    Diags diags;
    Str out = str_new(arena);
    Loc loc = {
        .line = (uint32_t)atoi(words[1]),
        .col = (uint16_t)atoi(words[2]),
        .end_line = (uint32_t)atoi(words[3]),
        .end_col = (uint16_t)atoi(words[4]),
    };
    diags_init(&diags, arena);
    diags_source(&diags, "app.py", read_text(words[0]));
    diag_refuse(&diags, DIAG_UNSUPPORTED_CALL, loc, "left in Python: `%s`",
                "f");
    diag_help(&diags, "do it\nanother way");
    diag_print(&diags, &diags.list.at[0], &out);
    fputs(out.at, stdout);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    arena = arena_new();
    if (strcmp(what, "rules") == 0) {
        rules();
    } else if (strcmp(what, "walk") == 0) {
        walk();
    } else if (strcmp(what, "base") == 0) {
        base();
    } else if (strcmp(what, "numbers") == 0) {
        numbers();
    } else if (strcmp(what, "diag") == 0 && argc == 7) {
        diag(argv + 2);
    } else {
        return 2;
    }
    arena_free(arena);
    return 0;
}
