#ifndef VZ_IR_TEXT_H
#define VZ_IR_TEXT_H
#include "csrc/ir/ir.h"

/* Limits of the reader, so that a text from anywhere (the fuzzer's, too) is
 * refused and does not exhaust the stack or memory.  A table by id takes at
 * most 8 MiB. */
enum { MAX_TEXT_DEPTH = 2000, MAX_ID = 1 << 20 };

/* Words of the enums Level, Action, Exc, Warn, LoopMode and BufKind, in their
 * order; NULL ends each.  Defined in print.c, which thus can't write a word
 * that read.c does not know. */
extern const char *const text_levels[];
extern const char *const text_actions[];
extern const char *const text_excs[];
extern const char *const text_warns[];
extern const char *const text_modes[];
extern const char *const text_kinds[];

/* --- token.c: the reader's position and its steps over words ------------ */
/* The state of reading one text.
 *
 *   "arena"  for nodes, names and the message.
 *   "func"  what has been read so far; its next_id stays above every id seen.
 *   "text", "at"  the whole, ended by a zero byte, and the next character.
 *   "error"  the first one, or NULL.  While it is set no step takes anything.
 *   "vars", "bufs"  by id; NULL, or beyond the end: not yet seen.
 *   "depth"  blocks and expressions that are open, up to MAX_TEXT_DEPTH. */
typedef struct Reader {
    Arena *arena;
    Func *func;
    const char *text;
    const char *at;
    const char *error; /* the first one, or NULL */
    VEC(Var *) vars;   /* by id; NULL: not yet seen */
    VEC(Buf *) bufs;
    int depth;
} Reader;

void token_fail(Reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Steps over the text.  'take' gives false and moves nothing when something
 * else comes; 'expect' makes that an error.  A number or name must come where
 * its function is called. */
void token_skip(Reader *r); /* blanks and comments */
bool token_take(Reader *r, const char *text);
void token_expect(Reader *r, const char *text);
bool token_take_word(Reader *r, const char *word);
/* Bytes of the word at 'at', 0 if none begins there. */
size_t token_word_length(const char *at);
int token_take_any(Reader *r, const char *const *words);
int token_any(Reader *r, const char *const *words, const char *what);
/* The parts of which statements consist; each skips blanks before it. */
Sym token_name(Reader *r);
long token_int(Reader *r, long lo, long hi);
Loc token_loc(Reader *r);
DType token_type(Reader *r, int *lanes);
int token_id(Reader *r, Sym *name);
Var *token_var(Reader *r);
Buf *token_buf(Reader *r);
#endif
