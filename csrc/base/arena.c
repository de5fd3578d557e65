/* Arenas, and the stack of handlers for fatal errors.
 *
 * An arena is a list of chunks, newest first; an allocation takes the next
 * aligned bytes of the newest chunk or starts another one, at least twice as
 * large as the last, so a compilation makes a handful of malloc calls.
 * arena_reset keeps the newest (largest) chunk, so that a scratch arena which
 * is reset after every pass soon stops calling malloc at all.
 *
 * Memory is cleared when it is handed out and not when a chunk is made,
 * because a reset chunk is dirty.
 */
#include "csrc/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 1 << 14, LARGEST_STEP = 1 << 22 };

/* A piece of memory from malloc.
 *
 *   "older"  the one filled before, or NULL.
 *   "size"  bytes at "data"; "used"  of them are handed out.
 *   "data"  aligned for any type, and so is every allocation in it, because
 *       sizes are rounded up to that alignment. */
typedef struct Chunk {
    struct Chunk *older;
    size_t size; /* bytes at "data" */
    size_t used;
    max_align_t data[];
} Chunk;

struct Arena {
    Chunk *newest;
};

/* Per thread: a compilation in one thread may not jump into another one.
 * "fail_countdown" is that of arena_fail_at. */
static _Thread_local Fatal *innermost;
static _Thread_local long fail_countdown;

/* The handlers of a thread form a list through "outer", so they may stand on
 * the stack of whoever installs them. */
void
fatal_enter(Fatal *handler)
{
    handler->message[0] = '\0';
    handler->outer = innermost;
    innermost = handler;
}

/* Does nothing after a jump, which has left the handler already. */
void
fatal_leave(Fatal *handler)
{
    if (innermost == handler) {
        innermost = handler->outer;
    }
}

/* The message is formatted apart first: an argument may be the handler's own
 * message, when an inner handler passes it on. */
_Noreturn void
fatal(const char *format, ...)
{
    char text[sizeof(innermost->message)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    Fatal *handler = innermost;
    if (!handler) {
        fprintf(stderr, "vizgen: %s\n", text);
        abort();
    }
    innermost = handler->outer;
    memcpy(handler->message, text, sizeof(text));
    longjmp(handler->env, 1);
}

/* Tests walk through all allocations of a compilation with it: nth = 1, 2, ...
 * until it succeeds, and find every place that can't stand an error. */
void
arena_fail_at(long nth)
{
    fail_countdown = nth;
}

/* The first chunk comes with the first allocation, so that an arena which is
 * never used costs a few bytes. */
Arena *
arena_new(void)
{
    Arena *arena = malloc(sizeof(Arena));
    if (!arena) {
        fatal("out of memory");
    }
    arena->newest = NULL;
    return arena;
}

/* Frees 'chunk' and all older ones. */
static void
free_chunks(Chunk *chunk)
{
    while (chunk) {
        Chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

/* NULL is allowed. */
void
arena_free(Arena *arena)
{
    if (arena) {
        free_chunks(arena->newest);
        free(arena);
    }
}

/* All that was handed out may be handed out again: nobody may hold on to it.
 * The newest chunk is the largest but for single huge allocations. */
void
arena_reset(Arena *arena)
{
    Chunk *kept = arena->newest;
    if (kept) {
        free_chunks(kept->older);
        kept->older = NULL;
#ifdef VIZGEN_DEV
        /* Whoever kept a pointer into scratch memory shall notice. */
        memset(kept->data, 0xDD, kept->used);
#endif
        kept->used = 0;
    }
}

/* A chunk of at least 'size' bytes becomes the newest.  What is left of the
 * one before stays unused: at most half of all memory. */
static Chunk *
add_chunk(Arena *arena, size_t size)
{
    size_t room = FIRST_CHUNK;
    if (arena->newest) {
        room = arena->newest->size;
        room = room < LARGEST_STEP ? room * 2 : LARGEST_STEP;
    }
    if (room < size) {
        room = size;
    }
    Chunk *chunk = malloc(sizeof(Chunk) + room);
    if (!chunk) {
        fatal("out of memory");
    }
    chunk->older = arena->newest;
    chunk->size = room;
    chunk->used = 0;
    arena->newest = chunk;
    return chunk;
}

/* The limit keeps the rounding below from wrapping, whatever a caller
 * computed as 'size'. */
void *
arena_alloc(Arena *arena, size_t size)
{
    if (fail_countdown > 0 && --fail_countdown == 0) {
        fatal("out of memory (asked for by arena_fail_at)");
    }
    if (size > PTRDIFF_MAX / 2) {
        fatal("allocation of %zu bytes", size);
    }
    const size_t align = sizeof(max_align_t);
    size = (size + align - 1) / align * align;

    Chunk *chunk = arena->newest;
    if (!chunk || chunk->size - chunk->used < size) {
        chunk = add_chunk(arena, size);
    }
    char *at = (char *)chunk->data + chunk->used;
    chunk->used += size;
    return memset(at, 0, size);
}

/* 'from' may be NULL when 'size' is 0, which memcpy does not allow. */
void *
arena_copy(Arena *arena, const void *from, size_t size)
{
    void *to = arena_alloc(arena, size);
    if (size) {
        memcpy(to, from, size);
    }
    return to;
}
