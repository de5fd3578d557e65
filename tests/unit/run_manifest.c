/* The strict reader of manifests: takes what the writer wrote and nothing
 * that differs from it in a bit, a byte or its end; never reads outside.
 *
 * usage: run_manifest ROUNDS SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/run/parts.h"

static uint64_t seed;

static unsigned
random_below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static int failures;

/* A copy of exactly 'n' bytes, so that the sanitizer sees a read beyond. */
static void
expect(const char *text, size_t n, bool want, const char *what)
{
    Manifest m;
    char *copy = malloc(n ? n : 1);
    if (!copy) {
        exit(2);
    }
    memcpy(copy, text, n);
    if (manifest_read(copy, n, &m) != want) {
        printf("%s: %s\n", what, want ? "refused" : "taken");
        failures++;
    }
    free(copy);
}

static Blob
sample(const char *compiler)
{
    Manifest m = {.size = 15312, .abi = 1};
    Blob out = {0};
    sha256_hex("key", 3, m.key);
    sha256_hex("so", 2, m.sha);
    snprintf(m.version, sizeof(m.version), "0.1");
    snprintf(m.compiler, sizeof(m.compiler), "%s", compiler);
    snprintf(m.features, sizeof(m.features), "-mavx -mavx2");
    snprintf(m.libm, sizeof(m.libm), "glibc 2.36");
    manifest_write(&m, &out);
    return out;
}

static void
check_flips(const Blob *good)
{
    for (size_t i = 0; i < good->n * 8; i++) {
        char flip = (char)(1 << (i % 8));
        good->at[i / 8] = (char)(good->at[i / 8] ^ flip);
        expect(good->at, good->n, false, "flipped bit");
        good->at[i / 8] = (char)(good->at[i / 8] ^ flip);
    }
    for (size_t n = 0; n < good->n; n++) {
        expect(good->at, n, false, "cut");
    }
    expect(good->at, good->n + 1, false, "longer by a zero byte");
    expect(good->at, good->n, true, "the original");
}

/* Copy, drop, repeat and exchange pieces. */
static void
mutate(const Blob *good)
{
    char text[8192];
    size_t n = good->n;
    memcpy(text, good->at, n);
    for (unsigned i = random_below(6) + 1; i > 0; i--) {
        size_t at = random_below((unsigned)n);
        size_t size = random_below((unsigned)(n - at));
        size_t to = random_below((unsigned)n);
        switch (random_below(4)) {
        case 0:
            text[at] = (char)random_below(256);
            break;
        case 1:
            memmove(text + at, text + at + size, n - at - size);
            n -= size;
            break;
        case 2:
            if (n + size < sizeof(text)) {
                memmove(text + at + size, text + at, n - at);
                n += size;
            }
            break;
        default:
            size = size < n - to ? size : n - to;
            memmove(text + to, text + at, size);
        }
        n = n > 0 ? n : 1;
    }
    bool same = n == good->n && memcmp(text, good->at, n) == 0;
    expect(text, n, same, "mutation");
}

int
main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    Blob good = sample("gcc (Debian 12.2.0-14) 12.2.0");
    check_flips(&good);
    for (int i = 0; i < rounds; i++) {
        mutate(&good);
    }
    Blob odd = sample("gcc\n\xff\x1b[31m \"key 00\"");
    expect(odd.at, odd.n, true, "a compiler with an odd name");
    blob_free(&good);
    blob_free(&odd);
    printf("failures %d\n", failures);
    return failures != 0;
}
