/* Memory of one range of a parallel loop, and of arrays that grow.
 *
 * The pages of a large block can cost more than what is done with it: the
 * system clears each when it is first touched, call after call.  So a few
 * blocks that were given back wait here for the next call.
 *
 *     stack.append(p)    a block of 12 MB at its end; the next call of the
 *                        function begins with 64 bytes, and when these are
 *                        full takes that block
 *
 * Any thread may take a block out of its slot, by an exchange.  There is no
 * lock, which a fork could leave held.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/run/parts.h"

/* Smaller blocks are malloc's business, larger ones are given back. */
enum { SLOTS = 4, ALIGN = 64 };
#define LEAST_KEPT ((size_t)1 << 15)
#define MOST_KEPT ((size_t)1 << 25)

static void *_Atomic kept[SLOTS];

/* Puts a block into a free slot, if there is one. */
static void
keep(void *at)
{
    size_t size = malloc_usable_size(at);
    for (int i = 0; size >= LEAST_KEPT && size <= MOST_KEPT && i < SLOTS; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&kept[i], &none, at)) {
            return;
        }
    }
    free(at);
}

/* A kept block of at least so many bytes; NULL: there is none. */
static void *
take(size_t bytes, uintptr_t align)
{
    for (int i = 0; bytes >= LEAST_KEPT && i < SLOTS; i++) {
        void *at = atomic_exchange(&kept[i], NULL);
        if (at == NULL) {
            continue;
        }
        if (malloc_usable_size(at) >= bytes && (uintptr_t)at % align == 0) {
            return at;
        }
        keep(at);
    }
    return NULL;
}

/* On a cache line of its own, since threads write side by side, and aligned for
 * the widest vector. */
void *
blocks_alloc(int64_t bytes)
{
    if (bytes < 0) {
        return NULL;
    }
    void *at = take((size_t)bytes + 1, ALIGN);
    if (at == NULL && posix_memalign(&at, ALIGN, (size_t)bytes + 1) != 0) {
        return NULL;
    }
    return at;
}

/* NULL is allowed, as for free. */
void
blocks_free(void *at)
{
    if (at != NULL) {
        keep(at);
    }
}

/* What grows is read and written element by element, so that it needs no more
 * than malloc's alignment. */
void *
blocks_extend(void *at, int64_t bytes)
{
    if (bytes < 0) {
        return NULL;
    }
    size_t size = (size_t)bytes + 1;
    size_t old = at ? malloc_usable_size(at) : 0;
    if (old >= size) {
        return at;
    }
    void *block = take(size, 1);
    if (block == NULL) {
        return realloc(at, size);
    }
    if (at != NULL) {
        memcpy(block, at, old);
        keep(at);
    }
    return block;
}
