#ifndef VZ_BASE_STR_H
#define VZ_BASE_STR_H
/* Interned names and a string builder. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csrc/base/arena.h"

/* An interned string: equal text, equal pointer, for the life of the process
 * (the table is behind a mutex, so any thread may intern). */
typedef const char *Sym;

/* The Sym of a text that ends with a zero byte, or of 'length' bytes of one. */
Sym sym(const char *text);
Sym sym_n(const char *text, size_t length);

/* Text under construction, in an arena.
 *
 *   "at"  always zero-terminated ("" when empty); moves when it grows.
 *   "n"  bytes without the zero; "cap"  room with it.
 *   "indent"  columns put in front of every str_line. */
typedef struct Str {
    Arena *arena;
    char *at;
    size_t n;
    size_t cap;
    int indent; /* columns put in front of every str_line */
} Str;

/* str_add appends text, str_add_n 'n' bytes of it, str_addf what printf would
 * write.  None of them may be given the Str's own text. */
Str str_new(Arena *arena);
void str_add(Str *str, const char *text);
void str_add_n(Str *str, const char *text, size_t n);
void str_addf(Str *str, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Indentation, the formatted text, a newline. */
void str_line(Str *str, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The shortest decimal text that reads back as 'value' (inf, -inf, nan), as
 * Python's repr in that it always shows a point or an exponent. */
void str_add_double(Str *str, double value);
/* strtod without regard to the locale; 'end' is where the number ends. */
double str_to_double(const char *text, const char **end);
/* 'text' as a C string literal, quotes included; everything outside
 * [A-Za-z0-9 _./-] becomes a three-digit octal escape (so neither a quote, a
 * newline, a trigraph nor a bidi control of the user's text reaches C). */
void str_add_c_literal(Str *str, const char *text);
/* A text of its own in 'arena', as printf would write it. */
char *str_printf(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
