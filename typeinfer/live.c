/* Live names: which may be read before they are written, at a loop's head.
 *
 *     for r in range(h):       live here: img h (total is written first)
 *         total = 0
 *         for c in range(w):   live here: img h w r total
 *             total += img[r, c]
 *
 * Only live names need a version for the loop to carry, so temporaries cost
 * nothing.  The classical backward analysis on the tree: what is live before a
 * statement is what it reads, and what is live after it and not written by
 * it.  Loops are repeated until nothing is added.
 *
 * It also keeps conflicts away: `row = img[r]` in a loop makes a version that
 * no other could be joined with, and none has to be, since `row` is written
 * before it is read in every round.
 *
 * Erring on the side of "live" costs a useless carry; erring on the other side
 * would be wrong code, so whatever is not understood counts as read.
 */
#include <string.h>

#include "typeinfer/state.h"

typedef uint64_t *Bits;

struct Live {
    Infer *I;
    const Frame *frame;
    int words;
    Map heads; /* AStmt of a loop -> Bits */
};

/* Where 'break' and 'continue' go. */
typedef struct LiveLoop {
    Bits at_break;
    Bits at_continue;
} LiveLoop;

static void live_block(Live *live, const ABlock *block, Bits bits,
                       const LiveLoop *loop);
static void read_expr(Live *live, const AExpr *e, Bits bits);
static void write_target(Live *live, const AExpr *e, Bits bits);

/* A set without names. */
static Bits
new_bits(Live *live)
{
    return ARENA_ARRAY(live->I->arena, uint64_t, live->words);
}

/* A copy of a set. */
static Bits
copy_bits(Live *live, const uint64_t *bits)
{
    return arena_copy(live->I->arena, bits,
                      sizeof(uint64_t) * (size_t)live->words);
}

/* Adds a set; true if that adds names. */
static bool
add_bits(Live *live, Bits into, const uint64_t *from)
{
    bool changed = false;
    for (int i = 0; i < live->words; i++) {
        changed |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return changed;
}

/* A name that is read is live before. Names of other functions have no number.
 */
static void
read_name(Live *live, Sym name, Bits bits)
{
    int number = name_number(live->frame, name);
    if (number >= 0) {
        bits[number / 64] |= UINT64_C(1) << (number % 64);
    }
}

/* Backwards: the element, then each 'for' from the last to the first: its
 * conditions, its target, which is written, and its iterable. */
static void
read_comp(Live *live, const AExpr *e, Bits bits)
{
    read_expr(live, e->lhs, bits);
    for (int i = e->fors.n - 1; i >= 0; i--) {
        const AFor *part = &e->fors.at[i];
        for (int k = part->ifs.n - 1; k >= 0; k--) {
            read_expr(live, part->ifs.at[k], bits);
        }
        write_target(live, part->target, bits);
        read_expr(live, part->iter, bits);
    }
}

/* Every name in 'e' is read, but for those that it binds first. What ':='
 * binds may be read before, in a condition that is not evaluated. */
static void
read_expr(Live *live, const AExpr *e, Bits bits)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == A_NAME) {
        read_name(live, e->name, bits);
    }
    if (e->kind == A_COMP) {
        read_comp(live, e, bits);
        return;
    }
    read_expr(live, e->lhs, bits);
    read_expr(live, e->rhs, bits);
    for (int i = 0; i < e->items.n; i++) {
        read_expr(live, e->items.at[i], bits);
    }
}

/* Names that are targets are dead before; a subscript is read. */
static void
write_target(Live *live, const AExpr *e, Bits bits)
{
    if (e->kind == A_NAME) {
        int number = name_number(live->frame, e->name);
        if (number >= 0) {
            bits[number / 64] &= ~(UINT64_C(1) << (number % 64));
        }
    } else if (e->kind == A_STARRED) {
        write_target(live, e->lhs, bits);
    } else if (e->kind == A_TUPLE || e->kind == A_LIST) {
        for (int i = 0; i < e->items.n; i++) {
            write_target(live, e->items.at[i], bits);
        }
    }
}

/* What a target reads: the base and the indices of a subscript. */
static void
read_target(Live *live, const AExpr *e, Bits bits)
{
    if (e->kind == A_TUPLE || e->kind == A_LIST) {
        for (int i = 0; i < e->items.n; i++) {
            read_target(live, e->items.at[i], bits);
        }
    } else if (e->kind == A_STARRED) {
        read_target(live, e->lhs, bits);
    } else if (e->kind != A_NAME) {
        read_expr(live, e, bits);
    }
}

/* Backwards: the targets are written last and the value is read first. */
static void
live_assign(Live *live, const AStmt *s, Bits bits)
{
    for (int i = 0; i < s->targets.n; i++) {
        write_target(live, s->targets.at[i], bits);
    }
    for (int i = 0; i < s->targets.n; i++) {
        if (s->kind == AS_AUG) {
            read_expr(live, s->targets.at[i], bits);
        } else {
            read_target(live, s->targets.at[i], bits);
        }
    }
    read_expr(live, s->value, bits);
}

/* What either branch needs, and the condition. */
static void
live_if(Live *live, const AStmt *s, Bits bits, const LiveLoop *loop)
{
    Bits other = copy_bits(live, bits);
    live_block(live, &s->body, bits, loop);
    live_block(live, &s->orelse, other, loop);
    add_bits(live, bits, other);
    read_expr(live, s->value, bits);
}

/* 'bits' is what is live after the loop, then what is live at its head: what
 * the body needs, and what is live after it, since it may run no round.  What
 * is live at the head is live at the end of the body, so this is repeated until
 * nothing is added, at most once per nested loop and name. */
static void
live_loop(Live *live, const AStmt *s, Bits bits, const LiveLoop *outer)
{
    LiveLoop loop = {.at_break = copy_bits(live, bits)};
    live_block(live, &s->orelse, bits, outer);
    if (s->kind == AS_WHILE) {
        read_expr(live, s->value, bits);
    }
    bool changed = true;
    while (changed) {
        Bits body = copy_bits(live, bits);
        loop.at_continue = bits;
        live_block(live, &s->body, body, &loop);
        if (s->kind == AS_FOR) {
            write_target(live, s->targets.at[0], body);
            read_target(live, s->targets.at[0], body);
        }
        changed = add_bits(live, bits, body);
    }
    Bits head = map_get(&live->heads, s);
    if (head == NULL) {
        map_set(&live->heads, s, copy_bits(live, bits));
    } else {
        add_bits(live, head, bits);
    }
    if (s->kind == AS_FOR) {
        read_expr(live, s->value, bits);
    }
}

/* One statement backwards. After a return nothing of the function is live;
 * after a raise neither, for the call ends. */
static void
live_stmt(Live *live, const AStmt *s, Bits bits, const LiveLoop *loop)
{
    size_t size = sizeof(uint64_t) * (size_t)live->words;
    switch ((int)s->kind) {
    case AS_ASSIGN:
    case AS_AUG:
        live_assign(live, s, bits);
        break;
    case AS_IF:
        live_if(live, s, bits, loop);
        break;
    case AS_FOR:
    case AS_WHILE:
        live_loop(live, s, bits, loop);
        break;
    case AS_RETURN:
    case AS_RAISE:
        memset(bits, 0, size);
        read_expr(live, s->value, bits);
        break;
    case AS_BLOCK:
    case AS_WITH:
        live_block(live, &s->body, bits, loop);
        read_expr(live, s->value, bits);
        break;
    case AS_DELETE:
        for (int i = 0; i < s->targets.n; i++) {
            read_target(live, s->targets.at[i], bits);
        }
        break;
    case AS_BREAK:
        if (loop != NULL) {
            memcpy(bits, loop->at_break, size);
        }
        break;
    case AS_CONTINUE:
        if (loop != NULL) {
            memcpy(bits, loop->at_continue, size);
        }
        break;
    default:
        read_expr(live, s->value, bits);
        break;
    }
}

/* Changes 'bits' from what is live after 'block' to what is live before. */
static void
live_block(Live *live, const ABlock *block, Bits bits, const LiveLoop *loop)
{
    for (int i = block->n - 1; i >= 0; i--) {
        live_stmt(live, block->at[i], bits, loop);
    }
}

/* What a nested function reads is read wherever that is called. */
static void
keep_captured(Live *live, const AFunc *func)
{
    for (int i = 0; i < live->heads.n; i++) {
        for (int k = 0; k < func->captured.n; k++) {
            read_name(live, func->captured.at[k], live->heads.entries[i].value);
        }
    }
}

/* For cells_name. */
typedef struct CellReader {
    Live *live;
    Bits bits;
} CellReader;

/* Attributes are read by whoever holds the object. */
static void
read_cell(void *data, Sym name)
{
    const CellReader *reader = data;
    read_name(reader->live, name, reader->bits);
}

/* Made once per function of the unit: it depends on the text only. */
Live *
live_make(Infer *I, const Frame *frame)
{
    Live *live = map_get(&I->lives, frame->func);
    if (live != NULL) {
        return live;
    }
    live = ARENA_NEW(I->arena, Live);
    live->I = I;
    live->frame = frame;
    live->words = (frame->n + 63) / 64;
    live->heads = map_new(I->arena);
    live_block(live, &frame->func->body, new_bits(live), NULL);
    keep_captured(live, frame->func);
    for (int i = 0; i < live->heads.n; i++) {
        CellReader reader = {live, live->heads.entries[i].value};
        cells_name(I, read_cell, &reader);
    }
    live->frame = NULL;
    map_set(&I->lives, frame->func, live);
    return live;
}

/* Is the name live at the head of the loop? A loop that the analysis has not
 * seen, one that inference made itself, carries everything. */
bool
live_at_head(const Live *live, const AStmt *loop, int number)
{
    const uint64_t *head = map_get(&live->heads, loop);
    return head == NULL || (head[number / 64] >> (number % 64) & 1) != 0;
}
