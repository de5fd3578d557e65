/* Recycled memory for large results and large scratch arrays.
 *
 *     out = f(photo)      block of 33 MB from the kernel, zeroed page by page
 *     del out             the block is kept
 *     out = f(photo)      the same block again, twice as fast to write
 *
 * malloc recycles blocks up to about 32 MB; beyond that every array is fresh
 * memory, and touching a fresh page costs more than a kernel spends on it.
 * Results above LEAST bytes are therefore made under a data handler of NumPy
 * (NEP 49).  The array owns its data as ever: when it dies, wherever it went,
 * NumPy gives the memory back here.  Scratch memory (host.c) comes from here
 * above a megabyte: to clear a block again costs less than fresh pages do.
 *
 * A block is a mapping of its own with a head in front.  At most SLOTS blocks
 * and a share of the machine's memory are kept.  The list is only ever tried
 * to be locked: who doesn't get it maps or unmaps, so there is nothing to wait
 * for, not even in the child of a fork.
 */
#include "csrc/py/pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 16, HEAD = 64, HUGE_PAGE = 2 << 20, PART = 1 << 16, SHARE = 32 };

#define LEAST ((size_t)16 << 20)
#define MOST ((size_t)512 << 20)

/* In front of the data; "size" is that of the mapping. */
typedef struct Chunk {
    size_t size;
} Chunk;

_Static_assert(sizeof(Chunk) <= HEAD, "data stays aligned");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Chunk *kept[SLOTS]; /* oldest first */
static int nkept;
static size_t kept_size;

/* --- blocks -------------------------------------------------------------- */

/* What may be kept in all: a share of the memory there is. */
static size_t
pool_limit(void)
{
    static size_t limit;
    if (limit == 0) {
        long pages = sysconf(_SC_PHYS_PAGES);
        size_t all = pages > 0 ? (size_t)pages * (size_t)getpagesize() : 0;
        limit = all / SHARE < MOST ? all / SHARE : MOST;
    }
    return limit;
}

/* Takes block 'at' out of the list. */
static Chunk *
unlist(int at)
{
    Chunk *block = kept[at];
    nkept--;
    memmove(kept + at, kept + at + 1, sizeof(*kept) * (size_t)(nkept - at));
    kept_size -= block->size;
    return block;
}

/* The smallest kept block that has 'size' bytes and wastes at most a
 * quarter; NULL when there is none. */
static Chunk *
find_kept(size_t size)
{
    Chunk *block = NULL;
    if (pthread_mutex_trylock(&lock) != 0) {
        return NULL;
    }
    int best = -1;
    for (int i = 0; i < nkept; i++) {
        bool fits = kept[i]->size >= size && kept[i]->size / 5 <= size / 4;
        if (fits && (best < 0 || kept[i]->size < kept[best]->size)) {
            best = i;
        }
    }
    if (best >= 0) {
        block = unlist(best);
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static Chunk *
map_chunk(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    madvise(at, size, MADV_HUGEPAGE);
    Chunk *block = at;
    block->size = size;
    return block;
}

/* 'bytes' of memory, cleared if 'zero'; NULL when there is none. */
static void *
take(size_t bytes, bool zero)
{
    if (bytes > PTRDIFF_MAX - HUGE_PAGE - HEAD) {
        return NULL;
    }
    size_t unit = bytes < LEAST ? PART : HUGE_PAGE;
    size_t size = (bytes + HEAD + unit - 1) / unit * unit;
    Chunk *block = find_kept(size);
    bool dirty = block != NULL;
    if (block == NULL) {
        block = map_chunk(size);
    }
    if (block == NULL) {
        return NULL;
    }
    char *data = (char *)block + HEAD;
    return dirty && zero ? memset(data, 0, bytes) : data;
}

static Chunk *
chunk_of(void *data)
{
    return (Chunk *)(void *)((char *)data - HEAD);
}

/* Keeps the block if there is room, dropping older ones for it. */
static void
give(void *data)
{
    Chunk *block = chunk_of(data);
    Chunk *dropped[SLOTS + 1];
    int ndropped = 0;
    if (block->size > pool_limit() || pthread_mutex_trylock(&lock) != 0) {
        munmap(block, block->size);
        return;
    }
    while (nkept == SLOTS
           || (nkept > 0 && kept_size + block->size > pool_limit())) {
        dropped[ndropped++] = unlist(0);
    }
    kept[nkept++] = block;
    kept_size += block->size;
    pthread_mutex_unlock(&lock);
    while (ndropped > 0) {
        ndropped--;
        munmap(dropped[ndropped], dropped[ndropped]->size);
    }
}

/* For scratch memory. */
void *
pool_take(size_t bytes, bool zero)
{
    return take(bytes, zero);
}

void
pool_give(void *data)
{
    give(data);
}

/* --- NumPy's data handler ------------------------------------------------ */

static void *
handler_malloc(void *context, size_t size)
{
    (void)context;
    return take(size, false);
}

static void *
handler_calloc(void *context, size_t n, size_t size)
{
    (void)context;
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : take(bytes, true);
}

static void
handler_free(void *context, void *data, size_t size)
{
    (void)context;
    (void)size;
    if (data != NULL) {
        give(data);
    }
}

/* For ndarray.resize. */
static void *
handler_realloc(void *context, void *data, size_t size)
{
    (void)context;
    void *fresh = take(size, false);
    if (fresh != NULL && data != NULL) {
        size_t old = chunk_of(data)->size - HEAD;
        memcpy(fresh, data, old < size ? old : size);
        give(data);
    }
    return fresh;
}

static PyDataMem_Handler handler = {
    "vizgen_pool",
    1,
    {
        NULL,
        handler_malloc,
        handler_calloc,
        handler_realloc,
        handler_free,
    },
};

/* The capsule lives as long as any array made under it. */
PyObject *
pool_handler(void)
{
    return PyCapsule_New(&handler, "mem_handler", NULL);
}

/* Small arrays come from NumPy's own allocator. */
PyObject *
pool_array(PyObject *pool, int rank, npy_intp *dims, int type_num, bool zero,
           bool fortran)
{
    double bytes = 8;
    for (int i = 0; i < rank; i++) {
        bytes *= (double)dims[i];
    }
    PyObject *before = NULL;
    if (pool != NULL && bytes >= (double)LEAST) {
        before = PyDataMem_SetHandler(pool);
        PyErr_Clear();
    }
    PyObject *array = zero ? PyArray_ZEROS(rank, dims, type_num, fortran)
                           : PyArray_EMPTY(rank, dims, type_num, fortran);
    if (before != NULL) {
        PyObject *ours = PyDataMem_SetHandler(before);
        Py_XDECREF(ours);
        Py_DECREF(before);
    }
    return array;
}
