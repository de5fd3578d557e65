/* Growth of the typed arrays of vec.h.
 *
 * A vector is seen here as the three fields that VEC declares, whatever the
 * element type; they are copied in and out with memcpy, so that no object is
 * accessed under a type that it does not have.  The old elements stay behind
 * in the arena: doubling bounds the waste by the final size.
 */
#include "csrc/base/vec.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_ROOM = 4 };

typedef VEC(void) AnyVec;

_Static_assert(offsetof(AnyVec, n) == sizeof(void *), "VEC has padding");

void
vec_grow(Arena *arena, void *vec, size_t size)
{
    AnyVec any;
    memcpy(&any, vec, sizeof(any));
    if (any.cap > INT_MAX / 2) {
        fatal("a vector of more than %d elements", any.cap);
    }
    int room = any.cap ? any.cap * 2 : FIRST_ROOM;
    void *at = arena_alloc(arena, (size_t)room * size);
    if (any.n) {
        memcpy(at, any.at, (size_t)any.n * size);
    }
    any.at = at;
    any.cap = room;
    memcpy(vec, &any, sizeof(any));
}
