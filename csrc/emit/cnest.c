/* Loops as C text.
 *
 *     for %x.5 in 1, %w.3 { carry %s.6 = 0.0 ... next %s.6 = (add %s.6 %v.7) }
 *
 *     double s_6 = 0.0;
 *     for (int64_t x_5 = 1; x_5 < w_3; x_5++) {
 *         ...
 *         s_6 = s_6 + v_7;
 *     }
 *
 * A carried value and the name it has after the loop share one C variable.
 * Where 'until' is decided in a branch of the body's last IF, the updates and
 * the 'break' are written into that branch, so that the C compiler sees the
 * loop that the user wrote.
 *
 * In a LOOP_VECTOR loop checks set flags that are tested behind it.
 */
#include "csrc/emit/cgen.h"

/* --- the end of a round -------------------------------------------------- */

/* What is left to do at the end of a round, with the values that hold on the
 * path taken.
 *
 *   "loop"  whose round it is.
 *   "next"  per carry, its value in the next round.
 *   "arrays"  per Bind, what it names in the next round.
 *   "until"  whether the loop ends; NULL: never. */
typedef struct Tail {
    const Stmt *loop;
    Expr **next;  /* per carry */
    Buf **arrays; /* per Bind */
    Expr *until;  /* NULL: never */
} Tail;

/* Is something to be written for carry number 'i'? Not if its value is not
 * used, nor if the round leaves it as it is. For the C variable holds the old
 * value anyway. */
static bool
is_update(Gen *g, const Tail *tail, int i)
{
    const Var *var = tail->loop->carries[i].var;
    const Expr *next = tail->next[i];
    return g->live[var->id] && !ir_is_var(next, var);
}

/* Would 'e' be evaluated after a variable of it was updated?  "n": how many
 * carries come before. Swaps are what this is for: of 'a, b = b, a' the second
 * reads what the first has overwritten. */
static bool
is_late(Gen *g, const Tail *tail, const Expr *e, int n)
{
    bool late = false;
    for (int i = 0; i < n; i++) {
        late |= is_update(g, tail, i) && ir_uses(e, tail->loop->carries[i].var);
    }
    return late;
}

/* 'save' writes the new values that must be computed first into variables of
 * their own, else all new values go to their places. Called with 'save' first.
 * A vector that reads itself is always saved, since its lanes are written one
 * after the other: hence the count of one more. */
static void
write_updates(Gen *g, const Tail *tail, bool save)
{
    for (int i = 0; i < tail->loop->ncarries; i++) {
        const Var *var = tail->loop->carries[i].var;
        if (!is_update(g, tail, i)) {
            continue;
        }
        bool saved = is_late(g, tail, tail->next[i], i + (var->lanes > 0));
        for (int lane = 0; lane < c_lanes(var); lane++) {
            const char *name = c_var(g, var, lane);
            if (save && saved) {
                LINE(g, "const %s %snext = %s;", c_var_type(var), name,
                     c_expr(g, tail->next[i], lane, P_ANY));
            } else if (!save && saved) {
                LINE(g, "%s = %snext;", name, name);
            } else if (!save) {
                LINE(g, "%s = %s;", name,
                     c_expr(g, tail->next[i], lane, P_ANY));
            }
        }
    }
}

/* The updates, all as if at once, then the end of the loop. 'until' speaks of
 * the values before the update, so it may have to be saved as well. Values of
 * carries may be loaded from what the names were, so these change last. A
 * constant 'until' comes out of a branch of a deciding IF, see below. */
static void
write_tail(Gen *g, const Tail *tail)
{
    int64_t known = 0;
    const Expr *until = tail->until;
    bool decided = until == NULL || ir_const_int(until, &known);
    bool late = !decided && (is_late(g, tail, until, tail->loop->ncarries) ||
                             (tail->loop->nbinds > 0 && ir_has_load(until)));
    if (late) {
        LINE(g, "const _Bool loop%d_ends = %s;", tail->loop->id,
             c_expr(g, until, 0, P_ANY));
    }
    c_binds_save(g, tail->loop, tail->arrays);
    write_updates(g, tail, true);
    write_updates(g, tail, false);
    c_binds_update(g, tail->loop, tail->arrays);
    if (decided && known == 0) {
        return;
    }
    if (decided) {
        LINE(g, "break;");
        return;
    }
    LINE(g, "if (%s) {",
         late ? str_printf(g->arena, "loop%d_ends", tail->loop->id)
              : c_expr(g, until, 0, P_ANY));
    c_open(g);
    LINE(g, "break;");
    c_close(g);
}

/* 'tail' at the end of one branch of 's', where the joins are known.
 * Substituting the branch's values for the joins spares their variables:
 * 'until' becomes the constant true in the branch that ends the loop. */
static Tail
tail_in_branch(Gen *g, const Tail *tail, const Stmt *s, bool then)
{
    Map map = map_new(g->arena);
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        map_set(&map, join->out, then ? join->then_val : join->else_val);
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        map_set(&map, bind->out, then ? bind->init : bind->next);
    }
    Tail inner = {.loop = tail->loop};
    inner.until = ir_subst(g->arena, tail->until, &map);
    inner.next = ARENA_ARRAY(g->arena, Expr *, tail->loop->ncarries + 1);
    for (int i = 0; i < tail->loop->ncarries; i++) {
        inner.next[i] = ir_subst(g->arena, tail->next[i], &map);
    }
    inner.arrays = ARENA_ARRAY(g->arena, Buf *, tail->loop->nbinds + 1);
    for (int i = 0; i < tail->loop->nbinds; i++) {
        Buf *other = map_get(&map, tail->arrays[i]);
        inner.arrays[i] = other ? other : tail->arrays[i];
    }
    return inner;
}

/* The IF at the end of 'block' in a branch of which 'until' is decided. This is
 * what a 'break' or 'return' in the user's loop looks like once the exits have
 * been made into flags:
 *
 *   if (eq %v.3 0) { ... } else { ... }
 *   join %stop.5 = true, false
 *   until %stop.5 */
static const Stmt *
deciding_if(const Block *block, const Tail *tail)
{
    const Stmt *last = block->n > 0 ? vec_last(block) : NULL;
    if (!last || last->kind != S_IF || !tail->until ||
        tail->until->op != E_VAR) {
        return NULL;
    }
    for (int i = 0; i < last->njoins; i++) {
        const Join *join = &last->joins[i];
        if (join->out == tail->until->var &&
            (ir_is_const(join->then_val) || ir_is_const(join->else_val))) {
            return last;
        }
    }
    return NULL;
}

/* Does the path on which 'tail' stands leave the loop for sure? */
static bool
ends_loop(const Tail *tail)
{
    int64_t known = 0;
    return ir_const_int(tail->until, &known) && known != 0;
}

static void write_round(Gen *g, const Block *block, const Tail *tail);

/* The branch that ends the loop goes first, the other one needs no 'else'.
 * 'flat' because behind a 'break' the code of the other branch needs no braces:
 * it is reached by no one else. */
static void
write_deciding(Gen *g, const Stmt *s, const Tail *tail)
{
    Tail then = tail_in_branch(g, tail, s, true);
    Tail els = tail_in_branch(g, tail, s, false);
    bool swap = !ends_loop(&then) && ends_loop(&els);
    c_line(g, s->loc);
    LINE(g, "if (%s) {",
         swap ? c_not(g, s->value) : c_expr(g, s->value, 0, P_ANY));
    c_open(g);
    write_round(g, swap ? &s->els : &s->body, swap ? &els : &then);
    bool flat = ends_loop(swap ? &els : &then);
    if (!flat) {
        g->frame->text.indent -= C_INDENT;
        LINE(g, "} else {");
        c_open(g);
    } else {
        c_close(g);
    }
    write_round(g, swap ? &s->body : &s->els, swap ? &then : &els);
    if (!flat) {
        c_close(g);
    }
}

/* The statements of 'block', then what 'tail' says. Recursive by way of
 * write_deciding: an 'elif' chain of exits decides several times. */
static void
write_round(Gen *g, const Block *block, const Tail *tail)
{
    const Stmt *last = deciding_if(block, tail);
    int names = g->frame->refs.n;
    if (last) {
        c_statements(g, block, block->n - 1);
        write_deciding(g, last, tail);
    } else {
        c_block(g, block);
        write_tail(g, tail);
    }
    g->frame->refs.n = names;
}

/* --- loops --------------------------------------------------------------- */

/* The size of the widest number that 'e' is computed from, not counting
 * indices; 'least' if that is more. */
static int
widest(const Expr *e, int least)
{
    bool leaf = e->nargs == 0 || e->op == E_LOAD || e->op == E_CAST;
    int size = leaf && e->op != E_CONST ? dtype_size(e->dtype) : 1;
    size = size > least ? size : least;
    for (int i = 0; i < e->nargs && e->op != E_LOAD; i++) {
        size = widest(e->args[i], size);
    }
    return size;
}

/* For what a SIMD loop gathers of bools, of which gcc has no lanes: bytes,
 * where the conditions are made of bytes. */
static const char *
bool_lanes(const Stmt *s)
{
    int size = 1;
    for (int i = 0; i < s->ncarries; i++) {
        size = widest(s->carries[i].next, size);
    }
    for (int i = 0; i < s->body.n; i++) {
        if (s->body.at[i]->kind == S_LET) {
            size = widest(s->body.at[i]->value, size);
        }
    }
    return size == 1 ? "int8_t" : "int";
}

/* The name a carry has behind the loop becomes another name of the C variable
 * that is updated in it: nothing in the loop can see the one, nothing behind it
 * the other. A carry that nobody reads has no variable; an initial value is
 * evaluated outside the loop and may not name one of its carries. */
static void
write_inits(Gen *g, const Stmt *s)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        bool lanes = s->mode == LOOP_VECTOR && carry->var->dtype == DT_BOOL;
        g->names[carry->out->id] = c_name(g, carry->var);
        for (int lane = 0;
             g->live[carry->var->id] && lane < c_lanes(carry->var); lane++) {
            LINE(g, "%s %s = %s;",
                 lanes ? bool_lanes(s) : c_var_type(carry->var),
                 c_var(g, carry->var, lane),
                 c_expr(g, carry->init, lane, P_ANY));
        }
    }
    c_binds_open(g, s);
}

/* Burns fuel; in a range of a parallel loop 'ctx' is the thread's own. Counting
 * down a local costs a cycle; vz_refuel asks the host whether a signal is
 * pending, and whether a warning ends the call.  What the loop carries shall
 * stay in registers meanwhile. */
static void
write_poll(Gen *g, const Stmt *s)
{
    bool warns = ir_warns(&s->pre) || ir_warns(&s->body);
    g->frame->polls = true;
    g->frame->warns |= warns;
    c_exit_if(g,
              str_printf(g->arena,
                         "vz_rare(--fuel < 0) && "
                         "(%sfuel = vz_refuel%s(ctx)) < 0",
                         warns ? "ctx->warn |= warn, " : "",
                         s->ncarries > 0 ? "_far" : ""),
              "VZ_INTERRUPT");
}

/* One round: poll, statements, updates. In the braces of the loop. */
static void
write_body(Gen *g, const Stmt *s)
{
    Tail tail = {.loop = s, .until = s->until};
    tail.next = ARENA_ARRAY(g->arena, Expr *, s->ncarries + 1);
    for (int i = 0; i < s->ncarries; i++) {
        tail.next[i] = s->carries[i].next;
    }
    tail.arrays = ARENA_ARRAY(g->arena, Buf *, s->nbinds + 1);
    for (int i = 0; i < s->nbinds; i++) {
        tail.arrays[i] = s->binds[i].next;
    }
    if (s->poll) {
        write_poll(g, s);
    }
    write_round(g, &s->body, &tail);
}

/* The bound as it is tested in every round. A constant, a variable, or a sum of
 * two such stays as the user wrote it: gcc hoists it.  A bound that is longer,
 * or reads memory that the loop may change, is computed once. */
static const char *
bound_text(Gen *g, const Stmt *s)
{
    const Expr *hi = s->hi;
    bool sum = hi->op == E_ADD || hi->op == E_SUB;
    bool simple = hi->nargs == 0 ||
                  (sum && hi->args[0]->nargs == 0 && hi->args[1]->nargs == 0);
    if (simple && !ir_has_load(hi)) {
        return c_expr(g, hi, 0, hi->op == E_CONST ? P_ANY : P_ADD);
    }
    LINE(g, "const int64_t loop%d_end = %s;", s->id, c_expr(g, hi, 0, P_ANY));
    return str_printf(g->arena, "loop%d_end", s->id);
}

/* Does it carry more than what lanes can gather for themselves? */
static bool
is_serial(const Gen *g, const Stmt *s)
{
    bool serial = false;
    for (int i = 0; i < s->ncarries && !serial; i++) {
        serial = ir_tally(g->arena, s, i) == TALLY_NONE;
    }
    return serial;
}

/* The variable is declared in the 'for' and never assigned elsewhere, so gcc
 * can count the rounds before the first. */
void
c_rounds(Gen *g, const Stmt *s, const char *lo, const char *hi)
{
    const char *var = c_var(g, s->var, 0);
    LINE(g, "for (%s %s = %s; %s < %s; %s++) {", c_var_type(s->var), var, lo,
         var, hi, var);
    c_open(g);
    bool outer = g->frame->serial;
    g->frame->serial = is_serial(g, s);
    g->frame->loops++;
    write_body(g, s);
    g->frame->loops--;
    g->frame->serial = outer;
    c_close(g);
}

/* Which flags the checks of a vector loop set: "bails" and "fails" by the
 * Action of a check, "warns" for WARN statements.  Which of several checks it
 * was a flag can't say: the first one is named. */
typedef struct Flags {
    bool bails;
    bool fails;
    bool warns;
    int bail; /* the first check of each kind */
    int fail;
    int lanes; /* see even_lanes */
} Flags;

/* Of a vector loop's statements, nested ones included. */
static void
note_flags(void *data, Stmt *s)
{
    Flags *flags = data;
    bool check = s->kind == S_CHECK;
    bool bail = check && s->action == ACT_BAIL;
    bool fail = check && s->action == ACT_REPLAY;
    flags->bail = bail && !flags->bails ? s->id : flags->bail;
    flags->fail = fail && !flags->fails ? s->id : flags->fail;
    flags->bails |= bail;
    flags->fails |= fail;
    flags->warns |= s->kind == S_WARN;
}

/* For ir_each_node: the bytes of the widest float. */
static void
note_width(void *data, const Expr *e)
{
    int *width = data;
    int size = dtype_is_float(e->dtype) ? dtype_size(e->dtype) : 0;
    *width = size > *width ? size : *width;
}

/* gcc goes through what is left over of a loop's rounds one by one where the
 * loop gathers flags: of 20 rounds of doubles 4, with 512 bits.  So many lanes
 * leave nothing over in a loop of few rounds, half as many as it would take; 0:
 * it may take what it likes. */
static int
even_lanes(const Stmt *s)
{
    enum { HALF = 32, MOST = 64 }; /* bytes; rounds */
    int width = 0;
    int64_t lo = 0;
    int64_t hi = 0;
    bool known = ir_const_int(s->lo, &lo) && ir_const_int(s->hi, &hi);
    for (int i = 0; i < s->body.n; i++) {
        ir_each_node(s->body.at[i], note_width, &width);
    }
    int lanes = width > 0 ? HALF / width : 0;
    bool even = known && lanes > 0 && lo < hi && hi <= MOST && lo >= 0 &&
                (hi - lo) % (2 * lanes) == lanes;
    return even ? lanes : 0;
}

/* A flag starts cleared; 'list' collects what the simd pragma reduces by or.
 * The reduction gives each lane a copy of its own, which is as wide as a double
 * where there shall be as many; a check does no more than '|=' to it. */
static void
declare_flag(Gen *g, const Stmt *s, bool used, const char *name, int lanes,
             Str *list)
{
    if (used) {
        LINE(g, "%s loop%d_%s = 0;", lanes == 4 ? "int64_t" : "int", s->id,
             name);
        str_addf(list, "%sloop%d_%s", list->n > 0 ? ", " : "", s->id, name);
    }
}

/* Behind the loop, when its stores are done: they are undone, or were to
 * fresh memory. */
static void
test_flag(Gen *g, const Stmt *s, bool used, const char *name,
          const char *status, int check)
{
    if (used) {
        c_fail_if(g, str_printf(g->arena, "loop%d_%s", s->id, name), status,
                  check);
    }
}

/* What the pragma calls it; of floats, see prelude.h. */
static const char *
tally_sign(Tally what, const Var *var)
{
    static const char *const signs[] = {
        [TALLY_NONE] = "", [TALLY_ADD] = "+",   [TALLY_OR] = "|",
        [TALLY_AND] = "&", [TALLY_MIN] = "min", [TALLY_MAX] = "max",
    };
    if (dtype_is_float(var->dtype) && what == TALLY_MIN) {
        return "vz_min";
    }
    if (dtype_is_float(var->dtype) && what == TALLY_MAX) {
        return "vz_max";
    }
    return signs[what];
}

/* The carries that are read: each lane gathers for itself. */
static void
write_tallies(Gen *g, const Stmt *s)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Var *var = s->carries[i].var;
        if (g->live[var->id]) {
            str_addf(&g->frame->text, " reduction(%s: %s)",
                     tally_sign(ir_tally(g->arena, s, i), var),
                     c_var(g, var, 0));
        }
    }
}

/* The sign of a zero is that of the first one, and a nan to begin with stays:
 * then the rounds are gone through again, in order. */
static void
write_again(Gen *g, const Stmt *s, const char *hi)
{
    Str odd = str_new(g->arena);
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        if (dtype_is_float(carry->var->dtype) && g->live[carry->var->id] &&
            ir_tally(g->arena, s, i) != TALLY_ADD) {
            const char *init = c_expr(g, carry->init, 0, P_EQUAL);
            str_addf(&odd, "%s(%s == 0) | (%s != %s)", odd.n ? " | " : "",
                     c_var(g, carry->var, 0), init, init);
        }
    }
    if (odd.n == 0) {
        return;
    }
    LINE(g, "if (vz_rare(%s)) {", odd.at);
    c_open(g);
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        if (g->live[carry->var->id]) {
            LINE(g, "%s = %s;", c_var(g, carry->var, 0),
                 c_expr(g, carry->init, 0, P_ANY));
        }
    }
    c_rounds(g, s, c_expr(g, s->lo, 0, P_ANY), hi);
    c_close(g);
}

/* Does it only gather integers, and set no flags?  Every C compiler makes lanes
 * of that by itself, and gcc better so: with the pragma, each lane's variable
 * begins as an array in memory, which it clears each time. */
static bool
is_plain_tally(const Gen *g, const Stmt *s)
{
    bool plain = s->ncarries > 0;
    for (int i = 0; i < s->body.n; i++) {
        plain &= s->body.at[i]->kind == S_LET;
    }
    for (int i = 0; i < s->ncarries; i++) {
        const Var *var = s->carries[i].var;
        plain &= !g->live[var->id] || !dtype_is_float(var->dtype);
    }
    return plain;
}

/* The general kernel can always tell, so BAIL goes first. Checks set no way out
 * of the loop, which is what allows SIMD at all. */
static void
write_vector(Gen *g, const Stmt *s, const char *hi)
{
    Flags flags = {0};
    ir_each_stmt(&s->body, note_flags, &flags);
    Str list = str_new(g->arena);
    c_rows_open(g, s, true);
    flags.lanes = even_lanes(s);
    declare_flag(g, s, flags.bails, "bails", flags.lanes, &list);
    declare_flag(g, s, flags.fails, "fails", flags.lanes, &list);
    if (flags.warns) {
        g->frame->warns = true;
        str_addf(&list, "%swarn", list.n > 0 ? ", " : "");
    }
    if (list.n > 0 || !is_plain_tally(g, s)) {
        str_add(&g->frame->text, "#pragma omp simd");
        if (list.n > 0) {
            str_addf(&g->frame->text, " reduction(|: %s)", list.at);
        }
        if (list.n > 0 && flags.lanes > 0) {
            str_addf(&g->frame->text, " simdlen(%d)", flags.lanes);
        }
        write_tallies(g, s);
        str_add(&g->frame->text, "\n");
    }
    g->frame->vector = s;
    c_rounds(g, s, c_expr(g, s->lo, 0, P_ANY), hi);
    write_again(g, s, hi);
    g->frame->vector = NULL;
    c_rows_close(g);
    test_flag(g, s, flags.bails, "bails", "VZ_BAIL", flags.bail);
    test_flag(g, s, flags.fails, "fails", "VZ_REPLAY", flags.fail);
}

/* The bounds are computed once, before the carries get their first values;
 * LOOP_VECTOR that can't be is an ordinary loop, and so is one inside another:
 * 'g->frame->vector' is the one whose flags checks set. */
static void
write_for(Gen *g, const Stmt *s)
{
    const char *hi = bound_text(g, s);
    write_inits(g, s);
    bool vector = s->mode == LOOP_VECTOR && !g->frame->vector &&
                  c_vectorises(g->arena, g->func, s);
    if (vector) {
        write_vector(g, s, hi);
    } else if (g->frame->vector == NULL) {
        c_rows_open(g, s, false);
        c_rounds(g, s, c_expr(g, s->lo, 0, P_ANY), hi);
        c_rows_close(g);
    } else {
        c_rounds(g, s, c_expr(g, s->lo, 0, P_ANY), hi);
    }
    if (s->charged) {
        g->frame->polls = true;
        LINE(g, "fuel -= vz_max_i64(%s - %s, 0)%s;", hi,
             c_expr(g, s->lo, 0, P_MUL), vector ? " >> 3" : "");
    }
}

/* What stands before the test runs in every round, so with statements there the
 * loop is an endless one with a break. The carries' names are those of the
 * round in 'pre', test and body alike. */
static void
write_while(Gen *g, const Stmt *s)
{
    write_inits(g, s);
    bool outer = g->frame->serial;
    g->frame->serial = true;
    g->frame->loops++;
    if (s->pre.n == 0) {
        LINE(g, "while (%s) {", c_expr(g, s->value, 0, P_ANY));
        c_open(g);
    } else {
        LINE(g, "for (;;) {");
        c_open(g);
        c_block(g, &s->pre);
        LINE(g, "if (%s) {", c_not(g, s->value));
        c_open(g);
        LINE(g, "break;");
        c_close(g);
    }
    write_body(g, s);
    c_close(g);
    g->frame->loops--;
    g->frame->serial = outer;
}

void
c_loop(Gen *g, const Stmt *s)
{
    int names = g->frame->refs.n;
    if (s->poll && g->frame->polls && g->frame->loops == 0) {
        /* its rounds may cost a thousand times as much as those before */
        LINE(g, "ctx->given = fuel = VZ_FUEL_FIRST;");
    }
    if (s->kind == S_WHILE) {
        write_while(g, s);
    } else if (s->mode == LOOP_PARALLEL && !g->frame->parallel) {
        c_parallel(g, s);
    } else {
        write_for(g, s);
    }
    g->frame->refs.n = names;
    c_binds_show(g, s);
}
