#ifndef VZ_BASE_ARENA_H
#define VZ_BASE_ARENA_H
/* Bump arenas by lifetime, and the one way out of a fatal error.
 *
 * Nothing is freed singly: a compilation owns one arena for everything that
 * outlives a pass and one 'scratch' arena that is reset after every pass.
 * Memory comes zeroed.  arena.c holds the only malloc of the compiler.
 */
#include <setjmp.h>
#include <stddef.h>

typedef struct Arena Arena;

/* An empty arena; its end; and back to empty, keeping a chunk for reuse. */
Arena *arena_new(void);
void arena_free(Arena *arena);
void arena_reset(Arena *arena);

/* 'size' zeroed bytes aligned for any type; fatal() when memory is out. */
void *arena_alloc(Arena *arena, size_t size);

/* The 'size' bytes at 'from' copied into 'arena'. */
void *arena_copy(Arena *arena, const void *from, size_t size);

/* Make the 'nth' allocation from now fail (0: never), for tests. */
void arena_fail_at(long nth);

/* A zeroed object, and an array of 'n' of them: all pointers NULL, all counts
 * 0, which most structs of the compiler take for their empty value. */
#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n) \
    ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))

/* A fatal error (memory out, a broken invariant) jumps to the innermost
 * handler of this thread, which vz_compile and the tools install, and takes it
 * off the stack.  "message" says what happened.  Without a handler it is
 * printed and the program aborts.
 *
 *     Fatal handler;
 *     fatal_enter(&handler);
 *     if (setjmp(handler.env)) { ... handler.message ...; return; }
 *     ...
 *     fatal_leave(&handler);
 */
typedef struct Fatal {
    jmp_buf env;
    char message[256];
    struct Fatal *outer;
} Fatal;

/* Locals that are changed between setjmp and the jump must be volatile; what is
 * held (a lock, a file) is not released by the jump, so nothing may be held
 * across a call that can fail. */
void fatal_enter(Fatal *handler);
void fatal_leave(Fatal *handler);
_Noreturn void fatal(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
#endif
