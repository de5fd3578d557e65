/* The text form of a schedule: one directive a line, '#' starts a comment.
 *
 *     parallel 3
 *     regions 3 1 1        # head and tail of loop 3
 *
 * Printing and reading are inverse, so that a person, the tuner and a test
 * can all say what a nest is to do.
 */
#include <stdlib.h>
#include <string.h>

#include "transforms/transforms.h"

/* The words of the text form, by DirKind. */
static const char *const dir_names[] = {
    [DIR_PARALLEL] = "parallel", [DIR_VECTORIZE] = "vectorize",
    [DIR_UNROLL] = "unroll",     [DIR_FLATTEN] = "flatten",
    [DIR_LOCKSTEP] = "lockstep", [DIR_REGIONS] = "regions",
};

enum { DIR_KINDS = sizeof(dir_names) / sizeof(dir_names[0]) };

/* As it is written in the text form. */
const char *
sched_word(DirKind kind)
{
    return dir_names[kind];
}

/* One line per directive, in the order of the list. */
void
sched_print(const Sched *sched, Str *out)
{
    for (int i = 0; i < sched->list.n; i++) {
        const Directive *dir = &sched->list.at[i];
        if (dir->kind == DIR_REGIONS) {
            str_line(out, "regions %d %lld %lld", dir->loop,
                     (long long)dir->head, (long long)dir->tail);
        } else {
            str_line(out, "%s %d", dir_names[dir->kind], dir->loop);
        }
    }
}

/* The first directive of that kind for that loop, if there is one. */
bool
sched_has(const Sched *sched, DirKind kind, int loop, Directive *out)
{
    for (int i = 0; i < sched->list.n; i++) {
        const Directive *dir = &sched->list.at[i];
        if (dir->kind == kind && dir->loop == loop) {
            if (out != NULL) {
                *out = *dir;
            }
            return true;
        }
    }
    return false;
}

/* The first directive of a kind wins: a pass never overrides another. */
void
sched_add(Arena *arena, Sched *sched, DirKind kind, int loop, int64_t head,
          int64_t tail)
{
    Directive dir = {kind, loop, head, tail};
    if (!sched_has(sched, kind, loop, NULL)) {
        vec_push(arena, &sched->list, dir);
    }
}

/* Takes one number from 0 to 'most' off '*text', leading blanks included;
 * false: none stands there, or it is out of range. */
static bool
take_number(char **text, int64_t most, int64_t *out)
{
    char *end;
    long long value = strtoll(*text, &end, 10);
    if (end == *text || value < 0 || value > most) {
        return false;
    }
    *text = end;
    *out = value;
    return true;
}

/* 'parallel 3' and the like; an empty line is none. Trailing words make the
 * line bad, a negative or huge number too. */
static bool
read_line(Arena *arena, char *line, Sched *out)
{
    line += strspn(line, " \t\r");
    size_t length = strcspn(line, " \t\r");
    if (length == 0) {
        return true;
    }
    int kind = 0;
    while (kind < DIR_KINDS && (strlen(dir_names[kind]) != length ||
                                memcmp(dir_names[kind], line, length) != 0)) {
        kind++;
    }
    Directive dir = {0};
    int64_t loop = 0;
    char *rest = line + length;
    if (kind == DIR_KINDS || !take_number(&rest, INT32_MAX, &loop)) {
        return false;
    }
    dir.kind = (DirKind)kind;
    dir.loop = (int)loop;
    if (dir.kind == DIR_REGIONS &&
        (!take_number(&rest, INT32_MAX, &dir.head) ||
         !take_number(&rest, INT32_MAX, &dir.tail))) {
        return false;
    }
    vec_push(arena, &out->list, dir);
    return rest[strspn(rest, " \t\r")] == '\0';
}

/* Adds the directives of 'text' to 'out'; those before a bad line stay. '*bad'
 * is the line as it was written, comment and all. The last line need not end
 * in a newline. */
bool
sched_read(Arena *arena, const char *text, Sched *out, const char **bad)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = arena_alloc(arena, length + 1);
        memcpy(line, text, length);
        char *comment = strchr(line, '#');
        const char *kept = str_printf(arena, "%s", line);
        if (comment != NULL) {
            *comment = '\0';
        }
        if (!read_line(arena, line, out)) {
            *bad = kept;
            return false;
        }
        text += length + (text[length] == '\n');
    }
    return true;
}
