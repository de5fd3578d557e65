/* Run loops over small-vector pixels over their elements instead.
 *
 *     for x in lo..hi {                       for j in 3*lo .. 3*hi {
 *         let v <3> = load in[y, x + 1]   ->      let v = load in[y, 0, j + 3]
 *         store out[y, x] = v * 0.5               store out[y, 0, j] = v * 0.5
 *     }                                       }
 *
 * The pixels of a row of a C-contiguous array lie side by side, so the row is
 * one run of elements that any SIMD width divides well.  The last index then
 * runs past its axis into the next pixel, which the emitter's addressing
 * (row * width + last index) makes the right element.
 *
 * A scalar that differs from pixel to pixel (the alpha of an RGB blend) is
 * first spread over the elements of a block of pixels, in a small array on
 * the stack:
 *
 *     for k in blocks of BLOCK pixels {
 *         for x in block { spread[x - first] = splat(alpha[y, x]) }
 *         for j in 3*first .. 3*end { ... spread[0, j - 3*first] ... }
 *     }
 *
 * Where a pixel is as wide as a register (4 or 8 doubles), that is not worth
 * it: the C compiler makes one vector of the lanes of a pixel, into which a
 * scalar is spread by one instruction.
 *
 * Arithmetic on such scalars is done anew on the elements: that is cheaper
 * than to spread several values.  Whole pixels are loaded and stored at x plus
 * something no round changes; anything else is refused, and the loop stays
 * one over pixels.
 */
#include "transforms/transforms.h"

enum {
    BLOCK_ELEMENTS = 384, /* of a spread array */
    MAX_SPREAD = 2,       /* spread arrays that still pay */
};

/* A value that is spread, and the stack array that holds it. */
typedef struct Spread {
    Expr *value;
    Buf *buf;
} Spread;

/* One loop over pixels, while it is tested or rewritten. The same walk does
 * both: with "func" NULL it builds nothing and only finds a refusal.
 *   "arena"    of what is built
 *   "func"     that gets the new Vars; NULL while only testing
 *   "old"      the function, for questions of overlap
 *   "b"        what is known inside the loop
 *   "loop"     over pixels
 *   "lanes"    elements of a pixel
 *   "defs"     Var * -> Expr *: LETs of the body
 *   "fresh"    Var * -> Expr *: their flat versions
 *   "spread"   scalars that go through a stack array
 *   "element"  j
 *   "first"    first element of the block of pixels
 *   "why"      first refusal; NULL: none */
typedef struct Flat {
    Arena *arena;
    Func *func; /* NULL while only testing */
    const Func *old;
    Bounds *b;
    const Stmt *loop;
    int lanes;
    Map defs;  /* Var * -> Expr *: LETs of the body */
    Map fresh; /* Var * -> Expr *: their flat versions */
    VEC(Spread) spread;
    Var *element;    /* j */
    Expr *first;     /* first element of the block of pixels */
    const char *why; /* first refusal */
} Flat;

/* Notes why not; the value returned is never used. */
static Expr *
refuse(Flat *flat, const char *why)
{
    if (flat->why == NULL) {
        flat->why = why;
    }
    return ir_int(flat->arena, DT_I64, 0);
}

/* Does 'e' change with the loop's variable? Seen through the LETs of the body.
 * A load varies if the body writes the buffer. Vars with a negative id are the
 * prover's names for values of loads and can't be written down, so they count
 * as varying too. */
static bool
varies(Flat *flat, const Expr *e)
{
    if (e->op == E_VAR) {
        Expr *def = map_get(&flat->defs, e->var);
        return e->var == flat->loop->var || e->var->id < 0 ||
               (def != NULL && varies(flat, def));
    }
    if (ir_reads(e) && effects_writes(&flat->loop->body, e->buf)) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (varies(flat, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* --- addresses ----------------------------------------------------------- */

/* 'e' - x, where 'form' is that as a linear form: written as 'e' with 0 in
 * place of x if e's own Vars allow it, which keeps to the program's terms. */
static Expr *
without_x(Flat *flat, Expr *e, const Linear *form)
{
    Map map = map_new(flat->arena);
    map_set(&map, flat->loop->var, ir_int(flat->arena, DT_I64, 0));
    Expr *offset = ir_subst(flat->arena, e, &map);
    return varies(flat, offset) ? linear_expr(flat->arena, form) : offset;
}

/* How far the pixel index 'e' is from x; false: not x plus a constant of the
 * loop. */
static bool
pixel_offset(Flat *flat, Expr *e, Expr **out)
{
    Linear form;
    Expr *x = ir_ref(flat->arena, flat->loop->var);
    Linear atom = linear_atom(flat->arena, x);
    if (!bounds_linear(flat->b, e, &form) || linear_coef(&form, x) != 1 ||
        !linear_sum(flat->arena, &form, 1, &atom, -1, &form)) {
        return false;
    }
    Expr *offset = without_x(flat, e, &form);
    *out = ir_subst(flat->arena, offset, &flat->fresh);
    return !varies(flat, offset);
}

/* Are the last axis's 'lanes' elements the row's continuation? Only then is
 * element l of pixel x the element lanes*x + l of the row. */
static bool
is_packed(const Flat *flat, const Buf *buf)
{
    int64_t size;
    return buf->layout == LAYOUT_C && buf->rank >= 2 &&
           ir_const_int(buf->dims[buf->rank - 1], &size) && size == flat->lanes;
}

/* The flat indices for the pixel at 'index' of 'buf', rank of them; NULL:
 * refused. The pixel axis becomes 0 and the last axis counts elements:
 *
 *     a[y, x + k]  ->  a[y, 0, j + lanes*k]      j = lanes*x + lane */
static Expr **
flat_index(Flat *flat, Buf *buf, Expr *const *index)
{
    Arena *arena = flat->arena;
    int last = buf->rank - 1;
    Expr **out = ARENA_ARRAY(arena, Expr *, buf->rank);
    Expr *offset;
    if (!is_packed(flat, buf) ||
        !pixel_offset(flat, index[last - 1], &offset)) {
        refuse(flat, str_printf(arena, "`%s` is not walked pixel by pixel",
                                buf->name));
        return NULL;
    }
    for (int i = 0; i < last - 1; i++) {
        out[i] = ir_subst(arena, index[i], &flat->fresh);
        if (varies(flat, index[i])) {
            refuse(flat, str_printf(arena, "`%s` is not walked along its rows",
                                    buf->name));
        }
    }
    out[last - 1] = ir_int(arena, DT_I64, 0);
    Expr *scale = ir_int(arena, DT_I64, flat->lanes);
    Expr *shift = ir_binary(arena, E_MUL, offset, scale);
    out[last] = shift;
    if (flat->element != NULL) {
        out[last] =
            ir_binary(arena, E_ADD, ir_ref(arena, flat->element), shift);
    }
    return out;
}

/* --- spreading ----------------------------------------------------------- */

/* Does 'e' read what the loop stores? Values are spread for a whole block of
 * pixels before any store of that block, so they must not. */
static bool
reads_stored(Flat *flat, const Expr *e)
{
    if (e->op == E_VAR) {
        Expr *def = map_get(&flat->defs, e->var);
        return def != NULL && reads_stored(flat, def);
    }
    const Block *body = &flat->loop->body;
    for (int i = 0; ir_reads(e) && i < body->n; i++) {
        const Stmt *s = body->at[i];
        if (s->kind == S_STORE &&
            effects_may_alias(flat->old, s->buf, e->buf)) {
            return true;
        }
    }
    for (int i = 0; i < e->nargs; i++) {
        if (reads_stored(flat, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* The array for one value of a block of pixels; NULL while testing. Constant
 * size, so it lies on the stack and each thread has its own. */
static Buf *
spread_buf(Flat *flat, DType dtype)
{
    if (flat->func == NULL) {
        return NULL;
    }
    Buf *buf = ir_buf(flat->func, "spread", dtype, 2, BUF_LOCAL);
    buf->space = SPACE_STACK;
    buf->layout = LAYOUT_C;
    buf->dims[0] = ir_int(flat->arena, DT_I64, BLOCK_ELEMENTS / flat->lanes);
    buf->dims[1] = ir_int(flat->arena, DT_I64, flat->lanes);
    buf->loc = flat->loop->loc;
    return buf;
}

/* The element of 'e' (a scalar, or a vector that is no plain pixel) that
 * belongs to element j. Equal values share an array; a third array is refused,
 * for filling them would cost more than is won. */
static Expr *
spread_value(Flat *flat, Expr *e)
{
    Arena *arena = flat->arena;
    int found = 0;
    while (found < flat->spread.n &&
           !ir_equal(flat->spread.at[found].value, e)) {
        found++;
    }
    if (found == flat->spread.n) {
        if (reads_stored(flat, e)) {
            return refuse(flat, "a scalar of the pixel depends on what the "
                                "loop stores");
        }
        Spread fresh = {e, spread_buf(flat, e->dtype)};
        vec_push(arena, &flat->spread, fresh);
    }
    if (flat->spread.n > MAX_SPREAD) {
        return refuse(flat, "several scalars differ from pixel to pixel");
    }
    if (flat->func == NULL) {
        return e;
    }
    Expr *index[2] = {
        ir_int(arena, DT_I64, 0),
        ir_binary(arena, E_SUB, ir_ref(arena, flat->element), flat->first)};
    return ir_load(arena, flat->spread.at[found].buf, index, 2, 0);
}

/* --- expressions --------------------------------------------------------- */

static Expr *flat_expr(Flat *flat, Expr *e);

/* Arithmetic that is cheap enough to be done anew on every element. */
static bool
is_cheap(const Expr *e)
{
    return dtype_is_float(e->dtype) &&
           (e->op == E_ADD || e->op == E_SUB || e->op == E_MUL ||
            e->op == E_NEG || e->op == E_ABS);
}

/* The same operation on elements. While only testing, operands are looked at
 * and nothing is built. */
static Expr *
flat_args(Flat *flat, Expr *e)
{
    Arena *arena = flat->arena;
    Expr **args = ARENA_ARRAY(arena, Expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = flat_expr(flat, e->args[i]);
    }
    if (flat->why != NULL || flat->func == NULL) {
        return e;
    }
    switch (e->op) {
    case E_SPLAT:
        return args[0];
    case E_CAST:
        return ir_cast(arena, e->dtype, args[0]);
    case E_SELECT:
        return ir_select(arena, args[0], args[1], args[2]);
    case E_CALL:
        return ir_call(arena, e->fn, e->dtype, args, e->nargs);
    default:
        return e->nargs == 1 ? ir_unary(arena, e->op, args[0])
                             : ir_binary(arena, e->op, args[0], args[1]);
    }
}

/* A scalar operand of element j: the same for all pixels, cheap to redo, or
 * spread. */
static Expr *
flat_scalar(Flat *flat, Expr *e)
{
    if (!varies(flat, e)) {
        return ir_subst(flat->arena, e, &flat->fresh);
    }
    Expr *def = e->op == E_VAR ? map_get(&flat->defs, e->var) : NULL;
    if (def != NULL) {
        return flat_scalar(flat, def);
    }
    return is_cheap(e) ? flat_args(flat, e) : spread_value(flat, e);
}

/* A vector operand: the element of a pixel, of a value computed before, or of
 * anything else through a spread array. */
static Expr *
flat_vector(Flat *flat, Expr *e)
{
    if (e->lanes != flat->lanes) {
        return refuse(flat, "it mixes vectors of different lengths");
    }
    if (e->op == E_VAR) {
        Expr *fresh = map_get(&flat->fresh, e->var);
        return fresh != NULL ? fresh : spread_value(flat, e);
    }
    if (e->op == E_LOAD) {
        if (!varies(flat, e)) {
            return spread_value(flat, e);
        }
        Expr **index = flat_index(flat, e->buf, e->args);
        return index == NULL || flat->func == NULL
                   ? e
                   : ir_load(flat->arena, e->buf, index, e->buf->rank, 0);
    }
    if (e->op == E_INSERT) {
        return spread_value(flat, e);
    }
    return flat_args(flat, e);
}

/* 'e' as one element of it; anything once there was a refusal. */
static Expr *
flat_expr(Flat *flat, Expr *e)
{
    if (flat->why != NULL) {
        return e;
    }
    return e->lanes > 0 ? flat_vector(flat, e) : flat_scalar(flat, e);
}

/* --- statements ---------------------------------------------------------- */

/* A LET of a vector becomes one of its element. LETs of scalars that no round
 * changes are kept, those that differ are done where they are used, from their
 * definition. */
static void
flat_let(Flat *flat, Stmt *s, Block *out)
{
    Arena *arena = flat->arena;
    map_set(&flat->defs, s->var, s->value);
    if (s->var->lanes == 0 && varies(flat, s->value)) {
        return;
    }
    Expr *value = s->var->lanes > 0 ? flat_vector(flat, s->value)
                                    : flat_scalar(flat, s->value);
    Expr *fresh = value;
    if (flat->func != NULL) {
        Var *var = ir_var(flat->func, s->var->name, s->var->dtype, 0);
        vec_push(arena, out, ir_let(arena, var, value, s->loc));
        fresh = ir_ref(arena, var);
    }
    map_set(&flat->fresh, s->var, fresh);
}

/* Element by element in place of pixel by pixel: legal since rounds are
 * independent and, within one, a lane only ever meets itself. */
static void
flat_store(Flat *flat, Stmt *s, Block *out)
{
    if (s->value->lanes != flat->lanes) {
        refuse(flat, "it stores more than whole pixels");
        return;
    }
    Expr *value = flat_vector(flat, s->value);
    Expr **index = flat_index(flat, s->buf, s->index);
    if (flat->why == NULL && flat->func != NULL) {
        vec_push(
            flat->arena, out,
            ir_store(flat->arena, s->buf, index, s->buf->rank, value, s->loc));
    }
}

/* Appends the element loop's body to 'out', or finds why not. */
static void
flat_body(Flat *flat, Block *out)
{
    const Block *body = &flat->loop->body;
    for (int i = 0; i < body->n && flat->why == NULL; i++) {
        Stmt *s = body->at[i];
        if (s->kind == S_LET) {
            flat_let(flat, s, out);
        } else if (s->kind == S_STORE) {
            flat_store(flat, s, out);
        } else {
            refuse(flat, "its body is not straight-line code");
        }
    }
}

/* The lanes of what the loop stores; 0: no vectors. */
static int
stored_lanes(const Stmt *loop)
{
    for (int i = 0; i < loop->body.n; i++) {
        const Stmt *s = loop->body.at[i];
        if (s->kind == S_STORE && s->value->lanes > 1) {
            return s->value->lanes;
        }
    }
    return 0;
}

/* A fresh state for 'loop'; "func" is left for the caller to set. */
static Flat
flat_new(Arena *arena, const Func *old, Bounds *b, const Stmt *loop)
{
    Flat flat = {.arena = arena, .old = old, .b = b, .loop = loop};
    flat.lanes = stored_lanes(loop);
    flat.defs = map_new(arena);
    flat.fresh = map_new(arena);
    return flat;
}

/* Notes what the LETs of the body say, for linear forms. */
static void
define_body(Flat *flat)
{
    bounds_loop(flat->b, flat->loop);
    for (int i = 0; i < flat->loop->body.n; i++) {
        bounds_after(flat->b, flat->loop->body.at[i]);
    }
}

bool
flatten_fills(DType dtype, int64_t lanes)
{
    int64_t bytes = lanes * dtype_size(dtype);
    return bytes == 32 || bytes == 64;
}

bool
flatten_is_wide(const Stmt *store)
{
    const Buf *buf = store->buf;
    int64_t lanes = 0;
    if (store->kind != S_STORE || store->nindex != buf->rank - 1 ||
        !ir_const_int(buf->dims[buf->rank - 1], &lanes)) {
        return false;
    }
    return flatten_fills(buf->dtype, lanes);
}

/* Does the loop store pixels that are as wide as a register? */
static bool
stores_wide(const Stmt *loop)
{
    bool wide = false;
    for (int i = 0; i < loop->body.n; i++) {
        wide = wide || flatten_is_wide(loop->body.at[i]);
    }
    return wide;
}

/* Runs the rewrite without building anything; the words are those of its first
 * refusal. */
const char *
flatten_why_not(Arena *arena, const Func *func, Bounds *b, const Stmt *loop)
{
    Flat flat = flat_new(arena, func, b, loop);
    DependWhy why;
    if (flat.lanes == 0) {
        return "it stores no small vectors";
    }
    if (!bounds_may_shift(b, loop)) {
        return "its ends are not known to be moderate";
    }
    if (!depend_independent(arena, func, b, loop, &why)) {
        return why.text;
    }
    Block none = {0};
    int mark = bounds_push(b);
    define_body(&flat);
    flat_body(&flat, &none);
    bounds_pop(b, mark);
    if (flat.why == NULL && flat.spread.n > 0 && stores_wide(loop)) {
        return "a pixel fills a register, and a scalar would be spread";
    }
    return flat.why;
}

/* for x in first..end: the scalars that differ from pixel to pixel, and the
 * LETs that they are computed from, under fresh names since the pixel loop's
 * own go to the element loop. */
static Stmt *
spread_loop(Flat *flat, const Stmt *pixels)
{
    Arena *arena = flat->arena;
    Stmt *loop = ir_copy_stmt(arena, pixels);
    Block kept = {0};
    for (int i = 0; i < pixels->body.n; i++) {
        if (pixels->body.at[i]->kind == S_LET) {
            vec_push(arena, &kept, pixels->body.at[i]);
        }
    }
    Map map = map_new(arena);
    loop->var = ir_var(flat->func, pixels->var->name, DT_I64, 0);
    loop->id = flat->func->next_id++;
    map_set(&map, pixels->var, ir_ref(arena, loop->var));
    loop->body = ir_clone(flat->func, &kept, &map);
    Expr *at = ir_binary(arena, E_SUB, ir_ref(arena, loop->var), pixels->lo);
    for (int i = 0; i < flat->spread.n; i++) {
        Expr *value = ir_subst(arena, flat->spread.at[i].value, &map);
        if (value->lanes == 0) {
            value = ir_splat(arena, value, flat->lanes);
        }
        vec_push(
            arena, &loop->body,
            ir_store(arena, flat->spread.at[i].buf, &at, 1, value, loop->loc));
    }
    return loop;
}

/* The loop over elements that replaces the pixels [lo, hi) of 'pixels'. It
 * keeps the id, so that directives for the pixel loop mean it. */
static Stmt *
element_loop(Flat *flat, const Stmt *pixels, Expr *lo)
{
    Arena *arena = flat->arena;
    Stmt *loop = ir_copy_stmt(arena, pixels);
    Expr *lanes = ir_int(arena, DT_I64, flat->lanes);
    flat->element = ir_var(flat->func, "element", DT_I64, 0);
    flat->first = lo;
    Block body = {0};
    flat_body(flat, &body);
    loop->var = flat->element;
    loop->lo = lo;
    loop->hi = ir_binary(arena, E_MUL, pixels->hi, lanes);
    loop->body = body;
    return loop;
}

/* Where the elements of the pixels start, under a name. */
static Expr *
first_element(Flat *flat, Block *out, const Stmt *pixels)
{
    Arena *arena = flat->arena;
    Var *var = ir_var(flat->func, "first", DT_I64, 0);
    Expr *lanes = ir_int(arena, DT_I64, flat->lanes);
    Expr *value = ir_binary(arena, E_MUL, pixels->lo, lanes);
    vec_push(arena, out, ir_let(arena, var, value, pixels->loc));
    return ir_ref(arena, var);
}

/* One block of pixels: allocate, spread, then the elements. */
static Block
flat_block(Flat *flat, const Stmt *pixels)
{
    Arena *arena = flat->arena;
    Block out = {0};
    Expr *first = first_element(flat, &out, pixels);
    Stmt *elements = element_loop(flat, pixels, first);
    for (int i = 0; i < flat->spread.n; i++) {
        Stmt *alloc = ir_stmt(arena, S_ALLOC, pixels->loc);
        alloc->buf = flat->spread.at[i].buf;
        vec_push(arena, &out, alloc);
    }
    if (flat->spread.n > 0) {
        vec_push(arena, &out, spread_loop(flat, pixels));
    }
    vec_push(arena, &out, elements);
    return out;
}

/* 'loop' must have passed flatten_why_not. A first run finds what is to be
 * spread, since that decides whether there are blocks. */
Block
flatten_loop(Func *func, Bounds *b, const Stmt *loop)
{
    Arena *arena = func->arena;
    Flat flat = flat_new(arena, func, b, loop);
    Block none = {0};
    int mark = bounds_push(b);
    define_body(&flat);
    flat_body(&flat, &none);
    bool spreads = flat.spread.n > 0;
    flat = flat_new(arena, func, b, loop);
    flat.func = func;
    Block out;
    if (spreads) {
        out = split_strips(func, loop, BLOCK_ELEMENTS / flat.lanes);
        Stmt *strips = vec_last(&out);
        Stmt *pixels = vec_last(&strips->body);
        Block inner = strips->body;
        inner.n--;
        Block flat_part = flat_block(&flat, pixels);
        for (int i = 0; i < flat_part.n; i++) {
            vec_push(arena, &inner, flat_part.at[i]);
        }
        strips->body = inner;
    } else {
        out = flat_block(&flat, loop);
    }
    bounds_pop(b, mark);
    return out;
}
