/* Interned names, and text under construction.
 *
 * The table of names lives as long as the process, in an arena of its own
 * behind a mutex.  An allocation that fails while the mutex is held must not
 * jump past the unlock, so sym_n catches the jump, unlocks, and fails again.
 *
 * Numbers are written and read in the "C" locale whatever the host program
 * has set: a decimal comma would otherwise reach generated C.
 */
#include "csrc/base/str.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NAMES = 256, FIRST_TEXT = 64 };

/* The table of names: "slots", of which "cap" (a power of two) exist and "n"
 * are in use; open addressing, at most half full, so a search ends. */
typedef struct Names {
    Arena *arena;
    Sym *slots; /* open addressing, at most half full */
    size_t cap;
    size_t n;
} Names;

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

/* Also for fork: see guard_forks. */
static void
lock_names(void)
{
    pthread_mutex_lock(&names_lock);
}

static void
unlock_names(void)
{
    pthread_mutex_unlock(&names_lock);
}

/* A fork happens with the table at rest, so the child can go on using it
 * whatever the other threads were doing. */
static void
guard_forks(void)
{
    pthread_atfork(lock_names, unlock_names, unlock_names);
}
static Names names;

/* FNV-1a. */
static uint64_t
hash_text(const char *text, size_t length)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    }
    return h ^ (h >> 32);
}

/* The slot that holds 'text', or the empty one where it belongs. The text of a
 * Sym ends with a zero byte, so strncmp reads no further than that. */
static Sym *
find_slot(const char *text, size_t length)
{
    size_t at = (size_t)hash_text(text, length) & (names.cap - 1);
    for (; names.slots[at]; at = (at + 1) & (names.cap - 1)) {
        Sym have = names.slots[at];
        if (strncmp(have, text, length) == 0 && have[length] == '\0') {
            break;
        }
    }
    return &names.slots[at];
}

/* Makes or doubles the table; the old one stays behind in the arena. */
static void
grow_names(void)
{
    if (!names.arena) {
        names.arena = arena_new();
    }
    Names old = names;
    size_t cap = old.cap ? old.cap * 2 : FIRST_NAMES;
    names.slots = ARENA_ARRAY(names.arena, Sym, cap);
    names.cap = cap;
    for (size_t i = 0; i < old.cap; i++) {
        if (old.slots[i]) {
            *find_slot(old.slots[i], strlen(old.slots[i])) = old.slots[i];
        }
    }
}

/* The part of sym_n that may fail for want of memory. */
static Sym
intern_locked(const char *text, size_t length)
{
    if (names.n * 2 >= names.cap) {
        grow_names();
    }
    Sym *slot = find_slot(text, length);
    if (!*slot) {
        char *copy = arena_alloc(names.arena, length + 1);
        memcpy(copy, text, length);
        *slot = copy;
        names.n++;
    }
    return *slot;
}

/* 'text' must hold no zero byte within 'length'. */
Sym
sym_n(const char *text, size_t length)
{
    Fatal handler;
    pthread_once(&names_once, guard_forks);
    pthread_mutex_lock(&names_lock);
    fatal_enter(&handler);
    if (setjmp(handler.env)) {
        pthread_mutex_unlock(&names_lock);
        fatal("%s", handler.message);
    }
    Sym name = intern_locked(text, length);
    fatal_leave(&handler);
    pthread_mutex_unlock(&names_lock);
    return name;
}

Sym
sym(const char *text)
{
    return sym_n(text, strlen(text));
}

/* Begins with a little room, so that "at" is never NULL. */
Str
str_new(Arena *arena)
{
    Str str = {.arena = arena, .cap = FIRST_TEXT};
    str.at = arena_alloc(arena, str.cap);
    return str;
}

/* Room for 'n' more bytes and the final zero. Doubling copies every byte twice
 * at most on average. */
static void
str_reserve(Str *str, size_t n)
{
    if (str->n + n < str->cap) {
        return;
    }
    size_t cap = str->cap * 2;
    while (str->n + n >= cap) {
        cap *= 2;
    }
    char *at = arena_alloc(str->arena, cap);
    memcpy(at, str->at, str->n);
    str->at = at;
    str->cap = cap;
}

void
str_add_n(Str *str, const char *text, size_t n)
{
    str_reserve(str, n);
    memcpy(str->at + str->n, text, n);
    str->n += n;
    str->at[str->n] = '\0';
}

void
str_add(Str *str, const char *text)
{
    str_add_n(str, text, strlen(text));
}

/* Measures first, then formats into the room made: the arguments are read
 * twice through two lists. */
__attribute__((format(printf, 2, 0))) static void
str_addv(Str *str, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) {
        fatal("bad format '%s'", format);
    }
    str_reserve(str, (size_t)n);
    vsnprintf(str->at + str->n, (size_t)n + 1, format, args);
    str->n += (size_t)n;
}

void
str_addf(Str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str_addv(str, format, args);
    va_end(args);
}

/* The whole line is one call, so a line is never left half indented. */
void
str_line(Str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (int i = 0; i < str->indent; i++) {
        str_add_n(str, " ", 1);
    }
    str_addv(str, format, args);
    str_add_n(str, "\n", 1);
    va_end(args);
}

static locale_t c_locale;

/* Made once per process and never freed, as the names are not. */
static void
make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Switches this thread to the "C" locale; the result goes to uselocale. */
static locale_t
enter_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return uselocale(c_locale);
}

double
str_to_double(const char *text, const char **end)
{
    char *stop = NULL;
    locale_t before = enter_c_locale();
    double value = strtod(text, &stop);
    uselocale(before);
    *end = stop;
    return value;
}

/* Tries 1 to 17 digits; 17 always read back.  As Python's repr, an exponent
 * is shown only for numbers that are very small or from 1e16 on. */
static void
shortest(double value, char *out, size_t size)
{
    int digits = 1;
    do {
        snprintf(out, size, "%.*e", digits - 1, value);
    } while (strtod(out, NULL) != value && ++digits <= 17);

    int exponent = atoi(strchr(out, 'e') + 1);
    if (exponent >= -4 && exponent < 16) {
        int decimals = digits - 1 - exponent;
        snprintf(out, size, "%.*f", decimals > 0 ? decimals : 0, value);
    }
}

/* Always with a point or exponent: '1' would be an integer in C and turn
 * '1/3' into 0. */
void
str_add_double(Str *str, double value)
{
    char text[40];
    if (isnan(value)) {
        str_add(str, "nan");
        return;
    }
    if (isinf(value)) {
        str_add(str, value < 0 ? "-inf" : "inf");
        return;
    }
    locale_t before = enter_c_locale();
    shortest(value, text, sizeof(text));
    uselocale(before);
    str_add(str, text);
    if (!strpbrk(text, ".e")) {
        str_add(str, ".0");
    }
}

/* Characters that mean themselves in a C string literal, whatever stands
 * beside them. */
static bool
is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr(" _./-", c));
}

void
str_add_c_literal(Str *str, const char *text)
{
    str_add(str, "\"");
    for (; *text; text++) {
        if (is_plain(*text)) {
            str_add_n(str, text, 1);
        } else {
            str_addf(str, "\\%03o", (unsigned)(unsigned char)*text);
        }
    }
    str_add(str, "\"");
}

char *
str_printf(Arena *arena, const char *format, ...)
{
    Str str = str_new(arena);
    va_list args;
    va_start(args, format);
    str_addv(&str, format, args);
    va_end(args);
    return str.at;
}
