/* The list of diagnostics, and their form for people:
 *
 *     app.py:17:13  VZ-2003  left in Python: `np.percentile` is not translated
 *        16 |     for y in range(h):
 *        17 |         t = np.percentile(win, 50)
 *           |             ^^^^^^^^^^^^^
 *        help: np.median(win) is translated; or hoist the call out of the loop
 *        more: vizgen explain VZ-2003
 *
 * Loc counts columns in UTF-8 bytes; the header counts characters from 1 and
 * the carets count columns of the screen, where a tab reaches the next
 * multiple of 8, East Asian characters take two columns and combining marks
 * none.  Control characters, bidi controls and broken UTF-8 of the user's
 * text are shown as U+FFFD: a message must not steer the terminal.
 */
#include "csrc/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAB = 8 };

#define BAD_CHAR 0xFFFDu

/* A row of diag.def: "code" and "title" in one line each, "page" is the help
 * that 'vizgen explain' prints. */
typedef struct Row {
    const char *code;
    const char *title;
    const char *page;
} Row;

static const Row rows[] = {
#define DIAG(id, code, title, help) {code, title, help},
#include "csrc/base/diag.def"
#undef DIAG
};

void
diags_init(Diags *diags, Arena *arena)
{
    *diags = (Diags){.arena = arena};
}

/* The number that Loc.file has for this file.  Both texts must outlive
 * 'diags'. */
int
diags_source(Diags *diags, const char *path, const char *text)
{
    Source source = {path, text};
    vec_push(diags->arena, &diags->sources, source);
    return diags->sources.n - 1;
}

/* Both passes over the arguments see the same values, so the text fits
 * exactly. */
__attribute__((format(printf, 5, 0))) static void
add(Diags *diags, DiagId id, Severity severity, Loc loc, const char *format,
    va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *message = arena_alloc(diags->arena, size);
    vsnprintf(message, size, format, args);
    Diag diag = {
        .id = id, .severity = severity, .loc = loc, .message = message};
    vec_push(diags->arena, &diags->list, diag);
}

/* Refusals are counted, because the driver asks after every stage whether
 * there were any. */
void
diag_refuse(Diags *diags, DiagId id, Loc loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, id, SEV_REFUSAL, loc, format, args);
    va_end(args);
    diags->refusals++;
}

/* Remarks don't stop anything: they say what became of a loop, and why. */
void
diag_remark(Diags *diags, DiagId id, Loc loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, id, SEV_REMARK, loc, format, args);
    va_end(args);
}

void
diag_sites(Diags *diags, Loc first, Loc second)
{
    if (diags->list.n) {
        vec_last(&diags->list).sites[0] = first;
        vec_last(&diags->list).sites[1] = second;
    }
}

/* Help is short: a longer text is cut and not refused. */
void
diag_help(Diags *diags, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (diags->list.n) {
        vec_last(&diags->list).help =
            arena_copy(diags->arena, text, strlen(text) + 1);
    }
}

const char *
diag_code(DiagId id)
{
    return rows[id].code;
}

const char *
diag_title(DiagId id)
{
    return rows[id].title;
}

const char *
diag_page(DiagId id)
{
    return rows[id].page;
}

/* A linear search: it serves 'vizgen explain', once per process. */
DiagId
diag_find(const char *code)
{
    int id = 0;
    while (id < DIAG_COUNT && strcmp(rows[id].code, code) != 0) {
        id++;
    }
    return (DiagId)id;
}

/* --- characters --------------------------------------------------------- */

/* Decodes the character at '*at' and steps over it; a broken sequence is one
 * BAD_CHAR per byte. */
static uint32_t
next_char(const char **at, const char *end)
{
    const unsigned char *p = (const unsigned char *)*at;
    int more = p[0] >= 0xF0 ? 3 : p[0] >= 0xE0 ? 2 : p[0] >= 0xC0 ? 1 : 0;
    *at += 1;
    if (p[0] < 0x80) {
        return p[0];
    }
    if (!more || p[0] > 0xF4 || end - (const char *)p <= more) {
        return BAD_CHAR;
    }
    uint32_t c = p[0] & (0x3Fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return BAD_CHAR;
        }
        c = c << 6 | (p[i] & 0x3Fu);
    }
    *at += more;
    return c;
}

/* Code points from "lo" to "hi", both included. */
typedef struct Range {
    uint32_t lo;
    uint32_t hi;
} Range;

/* Combining marks, joiners and variation selectors of the scripts that are
 * likely in comments and strings; not a whole Unicode table. */
static const Range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

/* East Asian Wide and Fullwidth, and emoji. */
static const Range double_width[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

/* Characters that move the cursor or turn the writing direction. */
static const Range unsafe[] = {
    {0x00, 0x08},     {0x0A, 0x1F},     {0x7F, 0x9F},     {0x200E, 0x200F},
    {0x2028, 0x202E}, {0x2066, 0x2069}, {0xD800, 0xDFFF},
};

#define IN(table, c) in_ranges((table), sizeof(table) / sizeof(Range), (c))

/* Is 'c' in one of the 'n' ranges? */
static bool
in_ranges(const Range *table, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++) {
        if (c >= table[i].lo && c <= table[i].hi) {
            return true;
        }
    }
    return false;
}

/* Columns that 'c' takes when it starts at 'column' of the line. */
static int
width_at(uint32_t c, int column)
{
    if (c == '\t') {
        return TAB - column % TAB;
    }
    if (IN(unsafe, c)) {
        return 1;
    }
    return IN(zero_width, c) ? 0 : IN(double_width, c) ? 2 : 1;
}

/* 'n' may be 0. */
static void
add_spaces(Str *out, int n)
{
    for (int i = 0; i < n; i++) {
        str_add_n(out, " ", 1);
    }
}

/* The text from 'at' to 'end' as it may be shown: tabs as blanks, what is
 * unsafe replaced. */
static void
add_shown(Str *out, const char *at, const char *end)
{
    for (int column = 0; at < end;) {
        const char *from = at;
        uint32_t c = next_char(&at, end);
        int width = width_at(c, column);
        if (c == '\t') {
            add_spaces(out, width);
        } else if (c == BAD_CHAR || IN(unsafe, c)) {
            str_add(out, "\xEF\xBF\xBD");
        } else {
            str_add_n(out, from, (size_t)(at - from));
        }
        column += width;
    }
}

/* --- lines -------------------------------------------------------------- */

/* A line without its end; "at" is NULL when there is no such line. */
typedef struct Line {
    const char *at;
    const char *end;
} Line;

/* Line 'number' of 'text'.  Blanks at its end are left out, so that a caret
 * run over several lines ends where the text does. */
static Line
find_line(const char *text, uint32_t number)
{
    if (!text || number == 0) {
        return (Line){NULL, NULL};
    }
    for (uint32_t i = 1; i < number; i++) {
        const char *newline = strchr(text, '\n');
        if (!newline) {
            return (Line){NULL, NULL};
        }
        text = newline + 1;
    }
    const char *end = text + strcspn(text, "\n");
    while (end > text && strchr(" \t\r\f", end[-1])) {
        end--;
    }
    return (Line){text, end};
}

/* The place 'bytes' behind the start of the line, but not behind its end: a
 * Loc may be stale when the file was edited. */
static const char *
clip(Line line, size_t bytes)
{
    size_t length = (size_t)(line.end - line.at);
    return line.at + (bytes < length ? bytes : length);
}

/* Columns on the screen, or with 'count' characters, of line.at..'to'. */
static int
columns(Line line, const char *to, bool count)
{
    int n = 0;
    for (const char *at = line.at; at < to;) {
        uint32_t c = next_char(&at, line.end);
        n += count ? 1 : width_at(c, n);
    }
    return n;
}

/* '   17 | text', the number in five columns as in Python's tracebacks. */
static void
add_source_line(Str *out, uint32_t number, Line line)
{
    str_addf(out, "%5u |", (unsigned)number);
    if (line.at < line.end) {
        str_add(out, " ");
        add_shown(out, line.at, line.end);
    }
    str_add(out, "\n");
}

/* The source line, the one before it, and carets; a span over several lines
 * is marked to the end of its first. */
static void
add_excerpt(Str *out, const Source *source, Loc loc)
{
    Line line = find_line(source->text, loc.line);
    if (!line.at) {
        return;
    }
    Line before = find_line(source->text, loc.line - 1);
    if (before.at) {
        add_source_line(out, loc.line - 1, before);
    }
    add_source_line(out, loc.line, line);

    const char *from = clip(line, loc.col);
    const char *to =
        loc.end_line > loc.line ? line.end : clip(line, loc.end_col);
    int start = columns(line, from, false);
    int width = to > from ? columns(line, to, false) - start : 0;
    str_add(out, "      | ");
    add_spaces(out, start);
    for (int i = 0; i < (width > 0 ? width : 1); i++) {
        str_add_n(out, "^", 1);
    }
    str_add(out, "\n");
}

/* 'path:line:col  ', with what is known. */
static void
add_place(Str *out, const Source *source, Loc loc)
{
    if (!source) {
        return;
    }
    str_add(out, source->path ? source->path : "?");
    if (loc.line) {
        Line line = find_line(source->text, loc.line);
        int col = line.at ? columns(line, clip(line, loc.col), true) : loc.col;
        str_addf(out, ":%u:%d", (unsigned)loc.line, col + 1);
    }
    str_add(out, "  ");
}

/* 'help: ' and the text, its further lines below the first. */
static void
add_help(Str *out, const char *text)
{
    if (!*text) {
        return;
    }
    str_add(out, "   help: ");
    for (;;) {
        size_t n = strcspn(text, "\n");
        str_add_n(out, text, n);
        str_add(out, "\n");
        if (!text[n] || !text[n + 1]) {
            return;
        }
        text += n + 1;
        str_add(out, "         ");
    }
}

/* At most 12 lines: the place and message, two lines of source, carets, help
 * and where to read more. */
void
diag_print(const Diags *diags, const Diag *diag, Str *out)
{
    const Source *source = NULL;
    if (diag->loc.file < diags->sources.n) {
        source = &diags->sources.at[diag->loc.file];
    }
    add_place(out, source, diag->loc);
    str_addf(out, "%s  %s\n", diag_code(diag->id), diag->message);
    if (source) {
        add_excerpt(out, source, diag->loc);
    }
    add_help(out, diag->help ? diag->help : diag_page(diag->id));
    str_addf(out, "   more: vizgen explain %s\n", diag_code(diag->id));
}
