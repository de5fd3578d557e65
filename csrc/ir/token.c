/* Words, names and types of the IR's text, for read.c.
 *
 * The first error is kept, with line and column, and makes every further step
 * return at once; callers test it only where they would loop.
 *
 *   token_take      '->'      these very characters, if they are next
 *   token_take_word 'carry'   a whole word: not the start of 'carry_on'
 *   token_any       a word out of a list, by its number
 *   token_id        'img.0'   a name and an id
 *   token_loc       '@3:4-9'  a place, or nothing
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/ir/text.h"

/* No type is longer than this; a longer word is refused as none. */
enum { WORD = 64 };

/* --- errors and tokens -------------------------------------------------- */

/* Keeps the first error, with the place that has been reached. Lines are
 * counted only now: a text is read once and fails at most once. */
__attribute__((format(printf, 2, 3))) void
token_fail(Reader *r, const char *format, ...)
{
    if (r->error) {
        return;
    }
    char message[200];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    int line = 1;
    const char *start = r->text;
    for (const char *p = r->text; p < r->at; p++) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    }
    r->error = str_printf(r->arena, "line %d, column %d: %s", line,
                          (int)(r->at - start) + 1, message);
}

/* Blanks, newlines and comments. A ';' runs to the end of its line, as in
 * assemblers; '#' is taken by loop ids. */
void
token_skip(Reader *r)
{
    for (;;) {
        r->at += strspn(r->at, " \t\r\n");
        if (*r->at != ';') {
            return;
        }
        r->at += strcspn(r->at, "\n");
    }
}

/* Steps over 'text' if it comes next. Nothing is taken after an error, so loops
 * that wait for a closing mark must look at "error" too. */
bool
token_take(Reader *r, const char *text)
{
    token_skip(r);
    size_t n = strlen(text);
    if (r->error || strncmp(r->at, text, n) != 0) {
        return false;
    }
    r->at += n;
    return true;
}

/* Steps over 'text', which must come next. */
void
token_expect(Reader *r, const char *text)
{
    if (!token_take(r, text)) {
        token_fail(r, "'%s' expected", text);
    }
}

/* Names are Python's: any byte from 0x80 on belongs to one. So a name in any
 * script, in UTF-8, passes through unchanged. */
static bool
is_word_char(char c)
{
    return c == '_' || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

size_t
token_word_length(const char *at)
{
    size_t n = 0;
    while (is_word_char(at[n])) {
        n++;
    }
    return n;
}

/* Steps over 'word' if it comes next as a whole word. 'in' does not match the
 * start of 'index'. */
bool
token_take_word(Reader *r, const char *word)
{
    token_skip(r);
    size_t n = token_word_length(r->at);
    if (r->error || n != strlen(word) || strncmp(r->at, word, n) != 0) {
        return false;
    }
    r->at += n;
    return true;
}

/* Interned, so names compare by address. The empty name after an error is a
 * name too, so that callers need not test for NULL. */
Sym
token_name(Reader *r)
{
    token_skip(r);
    size_t n = token_word_length(r->at);
    if (n == 0) {
        token_fail(r, "a name expected");
    }
    r->at += n;
    return sym_n(r->at - n, n);
}

/* The number in 'words' of the word that comes next; -1, and nothing taken,
 * when it is none of them. Words are compared whole, so one may be the
 * beginning of another. */
int
token_take_any(Reader *r, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (token_take_word(r, words[i])) {
            return i;
        }
    }
    return -1;
}

/* As token_take_any, but one of the words must come. 0 after an error: a valid
 * member of every enum. */
int
token_any(Reader *r, const char *const *words, const char *what)
{
    int i = token_take_any(r, words);
    if (i < 0) {
        token_fail(r, "%s expected", what);
    }
    return i < 0 ? 0 : i;
}

/* A decimal number within bounds; the bounds are part of the message. strtol
 * stops at its own limits, which lie outside of all that is asked for here, so
 * a number of any length is refused and never wrapped. */
long
token_int(Reader *r, long lo, long hi)
{
    token_skip(r);
    char *end = NULL;
    long value = strtol(r->at, &end, 10);
    if (end == r->at || value < lo || value > hi) {
        token_fail(r, "a number from %ld to %ld expected", lo, hi);
        return lo;
    }
    r->at = end;
    return value;
}

/* '@line:col-line:col/file', or nothing. Loc's fields are narrow, hence the
 * bounds.  A number after '-' is the end column, unless a ':' follows: then it
 * was the end line. */
Loc
token_loc(Reader *r)
{
    Loc loc = {0};
    if (!token_take(r, "@")) {
        return loc;
    }
    loc.line = (uint32_t)token_int(r, 0, UINT32_MAX);
    token_expect(r, ":");
    loc.col = (uint16_t)token_int(r, 0, UINT16_MAX);
    if (*r->at == '-') {
        r->at++;
        long first = token_int(r, 0, UINT32_MAX);
        bool whole = *r->at == ':';
        loc.end_line = whole ? (uint32_t)first : loc.line;
        if (whole) {
            r->at++;
            first = token_int(r, 0, UINT16_MAX);
        }
        loc.end_col = (uint16_t)first;
    }
    if (*r->at == '/') {
        r->at++;
        loc.file = (uint16_t)token_int(r, 0, UINT16_MAX);
    }
    return loc;
}

/* 'f64' or, if 'lanes' is not NULL, 'f64x3'. No dtype's text contains an 'x',
 * so the first one begins the lanes; how many are allowed is ir_verify's
 * affair. */
DType
token_type(Reader *r, int *lanes)
{
    token_skip(r);
    char word[WORD] = "";
    size_t n = token_word_length(r->at);
    if (n < sizeof(word)) {
        memcpy(word, r->at, n);
    }
    char *x = lanes ? strchr(word, 'x') : NULL;
    if (lanes) {
        *lanes = 0;
    }
    if (x) {
        *x = '\0';
        *lanes = atoi(x + 1);
    }
    DType dtype = DT_I64;
    if (!dtype_from_short(word, &dtype)) {
        token_fail(r, "a type expected");
    }
    r->at += n;
    return dtype;
}

/* --- Vars and Bufs ------------------------------------------------------ */

/* 'name.id' Keeps next_id above every id of the text, so that passes can make
 * new ones at once. */
int
token_id(Reader *r, Sym *name)
{
    *name = token_name(r);
    token_expect(r, ".");
    int id = (int)token_int(r, 0, MAX_ID);
    if (id >= r->func->next_id) {
        r->func->next_id = id + 1;
    }
    return id;
}

/* Registers a Var under its id. The table grows by as many empty places as the
 * id asks for; MAX_ID bounds that. */
static Var *
new_var(Reader *r, Sym name, int id, DType dtype, int lanes)
{
    Var *var = ARENA_NEW(r->arena, Var);
    *var = (Var){name, id, dtype, lanes};
    while (r->vars.n <= id) {
        vec_push(r->arena, &r->vars, NULL);
    }
    r->vars.at[id] = var;
    return var;
}

/* '%name.id' with or without ':type'.  A type that differs from that of the
 * first mention makes another Var of the same id, which ir_verify rejects. */
Var *
token_var(Reader *r)
{
    Sym name = NULL;
    token_expect(r, "%");
    int id = token_id(r, &name);
    Var *known = id < r->vars.n ? r->vars.at[id] : NULL;
    if (r->error) {
        return NULL;
    }
    if (*r->at == ':') {
        int lanes = 0;
        r->at++;
        DType dtype = token_type(r, &lanes);
        if (!known || known->dtype != dtype || known->lanes != lanes) {
            return new_var(r, name, id, dtype, lanes);
        }
    }
    if (!known || known->name != name) {
        token_fail(r, "%%%s.%d was not mentioned with its type before", name,
                   id);
    }
    return known;
}

/* A buffer that was declared before, by name and id. Unlike a Var it must have
 * been declared: its rank and dtype can't be seen from a use. */
Buf *
token_buf(Reader *r)
{
    Sym name = NULL;
    token_expect(r, "&");
    int id = token_id(r, &name);
    Buf *buf = !r->error && id < r->bufs.n ? r->bufs.at[id] : NULL;
    if (!buf || buf->name != name) {
        token_fail(r, "there is no buffer &%s.%d", name ? name : "", id);
        return NULL;
    }
    return buf;
}
