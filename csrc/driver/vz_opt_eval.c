/* vz-opt --eval: runs a function by the reference interpreter of csrc/ir.
 *
 *     --arg='f64[2,3]=mod:7@t'
 *            ----------- head: dtype and sizes, which must be the parameter's
 *                        ----- elements, one after the other in index order
 *                             -- how memory holds them: transposed, reversed,
 *                                with gaps
 *
 * The result is text that reads back exactly, so two runs (before and after a
 * pass, here and in compiled C) are compared as text: the status, the warnings,
 * what was returned, and all arguments, which the function may have changed.
 */
#include <stdlib.h>
#include <string.h>

#include "csrc/driver/vz_opt.h"
#include "csrc/ir/mem.h"

/* Statements that a run may take, and the size of an axis that nobody gave. */
enum { STEPS = 20000000, MADE_UP = 6 };

/* --- arguments of --eval ------------------------------------------------ */

/* An argument as it is made: "head" is the type's text before '='. */
typedef struct Making {
    Arena *arena;
    Eval *state;
    DType dtype;
    int rank;
    EvalArray array;
    int64_t seed;
} Making;

/* 'value' as 'dtype' holds it. */
static Slot
slot_of(DType dtype, int64_t value)
{
    if (dtype_is_float(dtype)) {
        return (Slot){.f = (double)value};
    }
    return (Slot){.i = ir_wrap(dtype, value)};
}

/* The number at 'text', in the arithmetic of 'dtype'. */
static Slot
read_slot(DType dtype, const char *text, const char **end)
{
    if (dtype_is_float(dtype)) {
        double value = str_to_double(text, end);
        return (Slot){.f = dtype == DT_F32 ? (double)(float)value : value};
    }
    char *stop = NULL;
    int64_t value = *text == '-' ? strtoll(text, &stop, 10)
                                 : (int64_t)strtoull(text, &stop, 10);
    *end = stop;
    return slot_of(dtype, value);
}

/* The next of a row of whole numbers from -50 to 49. */
static int64_t
next_random(Making *m)
{
    m->seed = (m->seed * 1103515245 + 12345) & 0x7fffffff;
    return (m->seed >> 8) % 100 - 50;
}

/* Element 'number' in index order; a list moves 'text' on. */
static Slot
element(Making *m, const char **text, int64_t number)
{
    const char *rest = NULL;
    if ((rest = after(*text, "list:")) || (rest = after(*text, ","))) {
        return read_slot(m->dtype, rest, text);
    }
    if ((rest = after(*text, "mod:"))) {
        number %= strtoll(rest, NULL, 10);
    } else if (after(*text, "rand")) {
        number = next_random(m);
    }
    return slot_of(m->dtype, number);
}

/* Memory for the array, strided as 'order' says: c t r s. */
static void
make_memory(Making *m, char order)
{
    EvalArray *a = &m->array;
    int64_t step = dtype_size(m->dtype) * (order == 's' ? 2 : 1);
    int64_t start = 0;
    for (int k = 0; k < m->rank; k++) {
        int axis = order == 't' ? k : m->rank - 1 - k;
        a->strides[axis] = order == 'r' ? -step : step;
        start += order == 'r' && a->dims[axis] ? step * (a->dims[axis] - 1) : 0;
        step *= a->dims[axis];
    }
    a->data = (char *)arena_alloc(m->arena, (size_t)step + 8) + start;
}

/* In index order, whatever the memory's order. */
static void
fill_array(Making *m, const Buf *buf, const char *text)
{
    const EvalArray *a = &m->array;
    int64_t index[MAX_RANK] = {0};
    const char *seed = after(text, "rand:");
    m->seed = seed ? strtoll(seed, NULL, 10) : 1;
    for (int64_t number = 0; number < mem_count(a, m->rank); number++) {
        Slot slot = element(m, &text, number);
        mem_write(m->dtype, mem_address(buf, a, index), slot);
        mem_step(a, m->rank, index);
    }
}

/* 'f64[3,4]=...' for an array, 'f64=...' for a scalar; gives the text behind
 * '='. */
static const char *
make_head(Making *m, const char *text)
{
    char type[8] = "";
    size_t n = strcspn(text, "[=");
    memcpy(type, text, n < sizeof(type) - 1 ? n : sizeof(type) - 1);
    if (!dtype_from_short(type, &m->dtype)) {
        fatal("argument '%s' has no type", text);
    }
    text += n;
    if (*text == '[') {
        for (text++; *text && *text != ']' && m->rank < MAX_RANK;) {
            char *stop = NULL;
            m->array.dims[m->rank++] = strtoll(text, &stop, 10);
            text = stop + (*stop == ',');
        }
        text += *text == ']';
    }
    if (*text != '=') {
        fatal("argument without '='");
    }
    return text + 1;
}

/* An array of its own, or one over the memory of an earlier argument. */
static void
make_array(Making *m, const Buf *buf, const char *text, int number)
{
    const char *order = strchr(text, '@');
    const char *same = after(text, "same:");
    make_memory(m, order ? order[1] : 'c');
    if (same) {
        char *colon = NULL;
        long other = strtol(same, &colon, 10);
        long shift = *colon ? strtol(colon + 1, NULL, 10) : 0;
        if (other < 0 || other >= number) {
            fatal("argument %d has no memory of another", number);
        }
        m->array.data = m->state->arrays[other].data + shift;
    } else {
        fill_array(m, buf, text);
    }
    m->state->arrays[number] = m->array;
}

/* The text of an argument that was not given. */
static const char *
made_up(Arena *arena, const Param *param)
{
    Str text = str_new(arena);
    if (param->var) {
        str_addf(&text, "%s=3", dtype_short(param->var->dtype));
        return text.at;
    }
    str_addf(&text, "%s[", dtype_short(param->buf->dtype));
    for (int i = 0; i < param->buf->rank; i++) {
        int64_t size = MADE_UP;
        ir_const_int(param->buf->dims[i], &size);
        str_addf(&text, "%s%lld", i ? "," : "", (long long)size);
    }
    str_add(&text, "]=rand:1");
    return text.at;
}

/* The arguments given, then made-up ones. */
static void
make_args(const EvalTool *tool, const Func *func, Eval *state)
{
    for (int i = 0; i < func->params.n; i++) {
        const Param *param = &func->params.at[i];
        Making m = {.arena = tool->arena, .state = state};
        const char *text =
            i < tool->nargs ? tool->args[i] : made_up(tool->arena, param);
        text = make_head(&m, text);
        DType dtype = param->var ? param->var->dtype : param->buf->dtype;
        if (m.dtype != dtype || m.rank != (param->buf ? param->buf->rank : 0)) {
            fatal("argument %d is not of the parameter's type", i);
        }
        if (param->var) {
            state->scalars[i] = read_slot(dtype, text, &text);
        } else {
            make_array(&m, param->buf, text, i);
        }
    }
}

/* --- results of --eval -------------------------------------------------- */

/* A number as text that reads back exactly. */
static void
add_slot(Str *out, DType dtype, Slot slot)
{
    str_add(out, " ");
    if (dtype_is_float(dtype)) {
        str_add_double(out, slot.f);
    } else if (dtype == DT_U64) {
        str_addf(out, "%llu", (unsigned long long)slot.i);
    } else {
        str_addf(out, "%lld", (long long)slot.i);
    }
}

/* In index order from axis 'axis' on. */
static void
add_elements(Str *out, const Buf *buf, const EvalArray *a, int axis,
             const char *at)
{
    if (axis == buf->rank) {
        add_slot(out, buf->dtype, mem_read(buf->dtype, at));
        return;
    }
    for (int64_t i = 0; i < a->dims[axis]; i++) {
        add_elements(out, buf, a, axis + 1, at + i * a->strides[axis]);
    }
}

/* 'ret 0 f64[2,3] 1.0 ...' */
static void
add_array(Str *out, const char *what, int number, const Buf *buf,
          const EvalArray *a)
{
    str_addf(out, "%s %d %s[", what, number, dtype_short(buf->dtype));
    for (int i = 0; i < buf->rank; i++) {
        str_addf(out, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    }
    str_add(out, "]");
    add_elements(out, buf, a, 0, a->data);
    str_add(out, "\n");
}

/* One line for each result. */
static void
add_rets(Str *out, const Func *func, const Eval *state)
{
    for (int i = 0; i < func->rets.n; i++) {
        const Ret *ret = &func->rets.at[i];
        if (ret->buf) {
            add_array(out, "ret", i, ret->buf, &state->ret_arrays[i]);
            continue;
        }
        str_addf(out, "ret %d %s", i, dtype_short(ret->value->dtype));
        int last = ir_ret_slot(func, i + 1);
        for (int slot = ir_ret_slot(func, i); slot < last; slot++) {
            add_slot(out, ret->value->dtype, state->rets[slot]);
        }
        str_add(out, "\n");
    }
}

/* Results only of a run that ended well; the arrays always. */
void
run_eval(const EvalTool *tool, const Func *func)
{
    static const char *const words[] = {"ok", "bail", "replay", "steps",
                                        "fault"};
    Arena *a = tool->arena;
    Eval state = {
        .arrays = ARENA_ARRAY(a, EvalArray, func->params.n),
        .scalars = ARENA_ARRAY(a, Slot, func->params.n),
        .rets = ARENA_ARRAY(a, Slot, ir_ret_slot(func, func->rets.n)),
        .ret_arrays = ARENA_ARRAY(a, EvalArray, func->rets.n),
        .steps = STEPS,
    };
    make_args(tool, func, &state);
    EvalStatus status = ir_eval(a, func, &state);
    str_addf(tool->out, "status %s\n", words[status]);
    str_addf(tool->out, "warnings %u\n", state.warnings);
    if (status == EVAL_OK) {
        add_rets(tool->out, func, &state);
    }
    for (int i = 0; i < func->params.n; i++) {
        if (func->params.at[i].buf) {
            add_array(tool->out, "arg", i, func->params.at[i].buf,
                      &state.arrays[i]);
        }
    }
}
