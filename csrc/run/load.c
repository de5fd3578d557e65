/* run_build: from C text to a kernel that can be called.
 *
 *     text --key--> in this process? --> in the cache? --> compiler --> load
 *
 * Three circles keep work from being done twice: a table in this process (a
 * thread that needs a key which another one is building waits for it), the
 * cache on disk, and a file lock per key between processes.
 *
 * A shared object is read into memory once, compared with its hash there, and
 * loaded from a sealed memfd filled from that same memory: nothing can change
 * between check and use, a cache on a remote or noexec file system does no
 * harm, and deleting or overwriting the cache doesn't touch running code.
 *
 * dlopen recognises a library by its path text before it looks at the file,
 * and returns the old library for an old path: "/proc/self/fd/7" twice is the
 * same library, whatever descriptor 7 is by then.  So every load spells the
 * path differently and the descriptor needn't stay open.
 *
 * With VIZGEN_DEBUG the file in the cache is loaded by its name, for gdb and
 * perf, which want to read it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "csrc/run/parts.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* --- The lock ------------------------------------------------------------- */

typedef enum SlotState { BUILDING, READY, FAILED } SlotState;

/* One key of this process.  A slot that is READY stays for good, and "lib" is
 * what run_build returns; a failed one is unlinked at once and freed by the
 * last of those who wait for it. */
typedef struct Slot {
    struct Slot *next; /* in its bucket */
    SlotState state;
    int waiters; /* including the builder */
    char *why;   /* when FAILED */
    Library lib; /* its key is set from the start */
} Slot;

enum { BUCKETS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Slot *buckets[BUCKETS]; /* by the first two digits of the key */

void
run_lock(void)
{
    pthread_mutex_lock(&lock);
}

void
run_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void
run_wait(void)
{
    pthread_cond_wait(&changed, &lock);
}

void
run_wake(void)
{
    pthread_cond_broadcast(&changed);
}

/* In a forked child the threads that were building are gone: forget what
 * they began.  The lock was taken before the fork, so the table is whole. */
static void
start_child(void)
{
    pthread_cond_init(&changed, NULL);
    for (int i = 0; i < BUCKETS; i++) {
        for (Slot **at = &buckets[i]; *at;) {
            if ((*at)->state == BUILDING) {
                *at = (*at)->next;
            } else {
                at = &(*at)->next;
            }
        }
    }
    cc_after_fork();
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void
watch_forks(void)
{
    pthread_atfork(run_lock, run_unlock, start_child);
}

/* --- Keys ----------------------------------------------------------------- */

/* Add a part of the key with its length, so that no two lists of parts give
 * the same text:
 *
 *     flags 213
 *     -x c -std=gnu11 -O3 ...
 */
static bool
add_part(Blob *out, const char *name, const char *value, size_t n)
{
    return blob_addf(out, "%s %zu\n", name, n) && blob_add(out, value, n) &&
           blob_add(out, "\n", 1);
}

/* A part that is a string. */
static bool
add_string(Blob *out, const char *name, const char *value)
{
    return add_part(out, name, value, strlen(value));
}

/* 'text' without the lines that only name places in the user's file: a
 * function that moved, or the same one in another file, is the same code.  No
 * generated code uses __LINE__ or __FILE__. */
static bool
add_code(Blob *out, const char *text)
{
    Blob code = {0};
    bool ok = true;
    while (ok && *text) {
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        if (strncmp(text, "#line ", 6) != 0) {
            ok = blob_add(&code, text, n);
        }
        text += n;
    }
    ok = ok && add_part(out, "code", code.at ? code.at : "", code.n);
    blob_free(&code);
    return ok;
}

/* With debug information, places are part of what is built, and the key has
 * the whole text. */
static bool
has_debug_info(void)
{
    const char *debug = getenv("VIZGEN_DEBUG");
    return debug && *debug;
}

/* Everything that decides what code comes out of the compiler, and what that
 * code may rely on.  The features are among the flags. */
static bool
make_key(const Compiler *cc, const char *text, const char *environment,
         char key[KEY_SIZE])
{
    Blob all = {0};
    Blob flags = {0};
    char abi[16];
    snprintf(abi, sizeof(abi), "%d", VZ_ABI);
    bool ok = cc_flags(cc, &flags) &&
              add_string(&all, "vizgen", VIZGEN_VERSION) &&
              add_string(&all, "abi", abi) &&
              add_string(&all, "compiler", cc->path) &&
              add_string(&all, "version", cc->digest) &&
              add_string(&all, "flags", flags.at) &&
              add_string(&all, "libm", host_libm()) &&
              add_string(&all, "environment", environment) &&
              (has_debug_info() ? add_string(&all, "code", text)
                                : add_code(&all, text));
    if (ok) {
        sha256_hex(all.at, all.n, key);
    }
    blob_free(&all);
    blob_free(&flags);
    return ok;
}

/* --- Loading -------------------------------------------------------------- */

/* Are 'size' bytes from 'from' inside the file?  Without overflow. */
static bool
in_file(const Blob *so, uint64_t from, uint64_t size)
{
    return from <= so->n && size <= so->n - from;
}

/* Is 'so' a whole shared object?  The dynamic loader trusts the tables: of
 * files cut at random places, half kill the process with SIGBUS when they are
 * loaded, and some load.  So each part must lie inside the file, also the
 * section table, which comes last and isn't needed for anything else. */
static bool
is_whole_elf(const Blob *so)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (so->n < sizeof(head)) {
        return false;
    }
    memcpy(&head, so->at, sizeof(head));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN ||
        head.e_phentsize != sizeof(part) ||
        !in_file(so, head.e_phoff, (uint64_t)head.e_phnum * sizeof(part)) ||
        !in_file(so, head.e_shoff,
                 (uint64_t)head.e_shnum * head.e_shentsize)) {
        return false;
    }
    bool dynamic = false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        memcpy(&part, so->at + head.e_phoff + i * sizeof(part), sizeof(part));
        if (!in_file(so, part.p_offset, part.p_filesz)) {
            return false;
        }
        dynamic |= part.p_type == PT_DYNAMIC;
    }
    return dynamic;
}

/* A sealed memfd with the bytes of 'so'; -1 where there is none.  Sealed, so
 * that not even this process can change code that was verified.  The "no
 * exec" seal only forbids to start it as a program; systems that allow no
 * other memfds accept it. */
static int
open_memory(const Blob *so)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("vizgen", flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create("vizgen", flags); /* before Linux 6.3 */
    }
    size_t done = 0;
    while (fd >= 0 && done < so->n) {
        ssize_t put = write(fd, so->at + done, so->n - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)put;
    }
    if (fd >= 0) {
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    return fd;
}

/* "/proc/self/fd/N" in a spelling of its own for each call: the bits of a
 * counter decide between "/" and "/." before "/fd". */
static void
spell_path(int fd, char *out, size_t size)
{
    static unsigned counter;
    unsigned n = __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    size_t at = (size_t)snprintf(out, size, "/proc/self");
    for (int bit = 0; bit < 32; bit++) {
        at += (size_t)snprintf(out + at, size - at, "%s",
                               n >> bit & 1 ? "/." : "/");
    }
    snprintf(out + at, size - at, "/fd/%d", fd);
}

/* The descriptor isn't needed once the library is mapped. */
static void *
open_from_memory(const Blob *so)
{
    char path[128];
    int fd = open_memory(so);
    if (fd < 0) {
        return NULL;
    }
    spell_path(fd, path, sizeof(path));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(fd);
    return handle;
}

/* Where memfds are forbidden: a file in a fresh directory, gone right after
 * it was loaded. */
static void *
open_from_file(const Blob *so)
{
    char dir[] = "/tmp/vizgen-so-XXXXXX";
    char path[sizeof(dir) + 8];
    if (!mkdtemp(dir)) {
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/k.so", dir);
    void *handle = NULL;
    if (file_write(AT_FDCWD, path, so->at, so->n, false)) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        unlink(path);
    }
    rmdir(dir);
    return handle;
}

/* For debuggers.  The entry was verified a moment ago; whoever sets
 * VIZGEN_DEBUG accepts the gap. */
static void *
open_from_cache(const char *dir, const char *key)
{
    char path[4096 + 128];
    snprintf(path, sizeof(path), "%s/%.2s/%s/kernel.so", dir, key, key + 2);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Check the library and take its kernel.  Before the ABI number is known to
 * be ours nothing in it may be called. */
static bool
take_symbols(Library *lib, char *why)
{
    const unsigned *abi = dlsym(lib->handle, "vz_abi");
    void *kernel = dlsym(lib->handle, "vz_kernel");
    if (!abi || !kernel) {
        snprintf(why, WHY, "the shared object has no %s",
                 kernel ? "vz_abi" : "vz_kernel");
        return false;
    }
    if (*abi != VZ_ABI) {
        snprintf(why, WHY, "the shared object has ABI %u instead of %d", *abi,
                 VZ_ABI);
        return false;
    }
    memcpy(&lib->kernel, &kernel, sizeof(kernel));
    lib->simple = dlsym(lib->handle, "vz_simple") != NULL;
    return true;
}

/* Load the verified bytes 'so'.  'dir' is the cache's if they are in it.  A
 * library is never unloaded again: dispatchers keep its kernel. */
static bool
load(const Blob *so, const char *dir, Library *lib, char *why)
{
    if (!is_whole_elf(so)) {
        snprintf(why, WHY, "the compiler wrote no whole shared object");
        return false;
    }
    if (dir[0] && has_debug_info()) {
        lib->handle = open_from_cache(dir, lib->key);
    }
    if (!lib->handle) {
        lib->handle = open_from_memory(so);
    }
    if (!lib->handle) {
        const char *text = dlerror();
        snprintf(why, WHY, "the shared object can't be loaded: %.400s",
                 text ? text : strerror(errno));
        lib->handle = open_from_file(so);
    }
    if (!lib->handle) {
        return false;
    }
    if (!take_symbols(lib, why)) {
        dlclose(lib->handle);
        lib->handle = NULL;
        return false;
    }
    return true;
}

/* --- Building ------------------------------------------------------------- */

/* From the cache, if it has a sound entry that loads. */
static bool
load_cached(const Cache *cache, Library *lib)
{
    char why[WHY];
    Blob so = {0};
    bool ok = cache_get(cache, lib->key, &so);
    if (ok && !load(&so, cache->dir, lib, why)) {
        cache_drop(cache, lib->key);
        ok = false;
    }
    lib->from_cache = ok;
    blob_free(&so);
    return ok;
}

/* The manifest's features are the flags before the tuning; they are what the
 * CPU is asked for on loading. */
static void
publish(const Cache *cache, const Compiler *cc, const char *key,
        const Blob *so)
{
    Manifest m = {.size = so->n, .abi = VZ_ABI};
    uint64_t bits = 0;
    snprintf(m.key, sizeof(m.key), "%s", key);
    sha256_hex(so->at, so->n, m.sha);
    snprintf(m.version, sizeof(m.version), "%s", VIZGEN_VERSION);
    snprintf(m.compiler, sizeof(m.compiler), "%s", cc->id);
    snprintf(m.libm, sizeof(m.libm), "%s", host_libm());
    const char *tune = strstr(cc->features, "-mtune=");
    size_t n = tune ? (size_t)(tune - cc->features) : strlen(cc->features);
    n -= n > 0 && tune ? 1 : 0;
    snprintf(m.features, sizeof(m.features), "%.*s", (int)n, cc->features);
    if (cpu_parse(m.features, &bits)) {
        cache_put(cache, &m, so);
    }
}

/* Compile, load, then publish: what can't be loaded here is never kept.  A
 * debug build is loaded by its path in the cache, hence published before. */
static bool
compile(const Cache *cache, const Compiler *cc, const char *text,
        Library *lib, char **message)
{
    Blob so = {0};
    char why[WHY] = "";
    bool ok = cc_build(cc, text, "", true, &so, message,
                       &lib->compile_seconds);
    if (ok && has_debug_info()) {
        publish(cache, cc, lib->key, &so);
    }
    if (ok && !load(&so, cache->dir, lib, why)) {
        *message = strdup(why);
        cache_drop(cache, lib->key);
        ok = false;
    }
    if (ok && !has_debug_info()) {
        publish(cache, cc, lib->key, &so);
    }
    blob_free(&so);
    return ok;
}

/* Fill 'lib', whose key is set.  Looked up twice, without and with the lock:
 * a hit needs none, and who had to wait for it most likely finds an entry. */
static bool
build(const Compiler *cc, const char *text, Library *lib, char **message)
{
    Cache cache;
    cache_open(&cache);
    bool ok = load_cached(&cache, lib);
    if (!ok) {
        int held = cache_lock(&cache, lib->key, cc_timeout());
        ok = load_cached(&cache, lib) ||
             compile(&cache, cc, text, lib, message);
        cache_unlock(&cache, lib->key, held);
    }
    cache_close(&cache);
    return ok;
}

/* --- The table ------------------------------------------------------------ */

static Slot **
bucket_of(const char *key)
{
    char digits[3] = {key[0], key[1], '\0'};
    return &buckets[strtoul(digits, NULL, 16) % BUCKETS];
}

/* Under the lock. */
static Slot *
find_slot(const char *key)
{
    for (Slot *slot = *bucket_of(key); slot; slot = slot->next) {
        if (strcmp(slot->lib.key, key) == 0) {
            return slot;
        }
    }
    return NULL;
}

/* The slot of 'key' and whether it is ours to build; NULL without memory.
 * Waits while another thread builds it.  If that fails, so do we, with the
 * same reason, instead of trying one after the other. */
static Slot *
claim(const char *key, bool *ours)
{
    *ours = false;
    run_lock();
    Slot *slot = find_slot(key);
    if (slot) {
        slot->waiters++;
        while (slot->state == BUILDING) {
            run_wait();
        }
    } else {
        slot = calloc(1, sizeof(Slot));
        if (slot) {
            *ours = true;
            slot->waiters = 1;
            memcpy(slot->lib.key, key, KEY_SIZE);
            slot->next = *bucket_of(key);
            *bucket_of(key) = slot;
        }
    }
    run_unlock();
    return slot;
}

/* Tell the waiters how it went.  A failed key leaves the table, so the next
 * call tries again: the reason may have been a full disk. */
static void
settle(Slot *slot, bool ok, char *message)
{
    run_lock();
    slot->state = ok ? READY : FAILED;
    slot->why = message;
    if (!ok) {
        Slot **at = bucket_of(slot->lib.key);
        while (*at && *at != slot) {
            at = &(*at)->next;
        }
        if (*at) {
            *at = slot->next;
        }
    }
    run_wake();
    run_unlock();
}

/* Let go of a slot; its reason, the caller's to free, if it failed. */
static char *
release(Slot *slot)
{
    run_lock();
    char *why = NULL;
    bool last = --slot->waiters == 0;
    if (slot->state == FAILED) {
        why = strdup(slot->why ? slot->why : "out of memory");
        if (last) {
            free(slot->why);
            free(slot);
        }
    }
    run_unlock();
    return why;
}

/* 'text', from malloc, moved into 'arena'; the arena may jump, so this comes
 * last, when nothing is held. */
static const char *
copy_text(Arena *arena, char *text)
{
    const char *from = text ? text : "out of memory";
    char *copy = arena_copy(arena, from, strlen(from) + 1);
    free(text);
    return copy;
}

/* All waiting, compiling and loading happens with no lock held but that of
 * the key on disk.  The process may fork meanwhile (watch_forks). */
const Library *
run_build(Arena *arena, const Compiler *cc, const char *text,
          const char *environment, const char **why)
{
    char key[KEY_SIZE];
    bool ours;
    Slot *slot = NULL;
    if (!cc->ok) {
        *why = copy_text(arena, strdup(cc->why));
        return NULL;
    }
    if (make_key(cc, text, environment ? environment : "", key)) {
        slot = claim(key, &ours);
    }
    if (!slot) {
        *why = copy_text(arena, NULL);
        return NULL;
    }
    if (ours) {
        char *message = NULL;
        bool ok = build(cc, text, &slot->lib, &message);
        settle(slot, ok, message);
    }
    bool ok = slot->state == READY;
    char *reason = release(slot);
    if (!ok) {
        *why = copy_text(arena, reason);
        return NULL;
    }
    return &slot->lib;
}
