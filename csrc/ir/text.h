#ifndef VZ_IR_TEXT_H
#define VZ_IR_TEXT_H
#include "csrc/ir/ir.h"

/* The text form of the IR, as print.c writes and read.c reads it.
 *
 *     func blur loops general @1:0 {
 *       param img &img.0:f64[:, :, 3] c           ':' is the array's own extent
 *       param k %k.1:f64
 *       alloc &out.2:f64[(dim &img.0 0), 3] result number=0 @3:4
 *       let %h.3:i64 = (sub (dim &img.0 0) 1) @4:4
 *       for %i.4:i64 in 0, %h.3 #5 parallel poll @5:4 {
 *         carry %s.6:f64 = 0.0
 *         check (lt %i.4 7) index replay @6:8-20
 *         store &out.2[%i.4, 0] = (add %s.6 &img.0[%i.4, 0, 1]) logged @7:8
 *         if (eq %i.4 2) @8:8 {
 *         } else {
 *         }
 *         join %t.7:f64 = %s.6, 1.5
 *         next %s.6 = %t.7 -> %s.8:f64
 *         until (le %h.3 %i.4)
 *       }
 *       while #9 { carry ...  pre { ... }  test EXPR  ...  next ... }
 *       fill &out.2 = 0.0 keep [1, %h.3, 0, 3]
 *       warn EXPR divide of scalar_divide
 *       set %x.1 = EXPR       scope { leave }
 *       break   continue   shadow
 *       alloc &l.9:i64[8] grows    grow &l.9 to EXPR
 *       view &v.10:f64[%h.3] ref = &img.0 at [0, %j.4] over [0: %h.3 by 1]
 *       bind &b.11:f64[:] ref = &v.10
 *       ret %s.8
 *       ret &out.2
 *     }
 *
 * A Var or Buf is its name and id; the first mention of a Var carries its type
 * (f64, or f64x3 for three lanes), that of another name for memory all that it
 * is.  'join', 'carry' and 'next' take buffers as well: 'carry &a.7:f64[:] ref
 * = &b.1'.  Constants: 5 is i64, 5:u8, 1.5, 1.5:f32,
 * true, nan (nan#BITS when it is not the usual one).  A load of a vector is
 * &img.0[i, j]<3>.  Other nodes are '(op operands)', with (cast f32 E),
 * (call sin:f64 E), (splat 3 E), (dim &b.0 1), (disjoint &a.0 &b.1).
 *
 * '@line:col' ends a statement: '@5:4-9' with the end column, '@5:4-6:2' with
 * line and column of the end, '/1' with the file.  Blanks and newlines are
 * alike; ';' starts a comment.
 */

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

/* --- read_expr.c -------------------------------------------------------- */
Expr *read_expr(Reader *r);
/* Operands up to 'close', apart by 'comma'. */
ExprVec read_list(Reader *r, const char *comma, const char *close);
/* A buffer that is declared before, or here; and the declaration alone, with
 * the kind and number it has if no word says otherwise. */
Buf *read_buf(Reader *r);
Fn read_fn(Reader *r);
Buf *read_buf_whole(Reader *r, BufKind kind, int number);
#endif
