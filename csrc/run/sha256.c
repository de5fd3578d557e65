/* SHA-256 (FIPS 180-4), one shot.
 *
 *     sha256_hex("abc", 3, out)   out = "ba7816bf8f01cfea414140de5dae2223..."
 *
 * Used as the name of a cache entry and to tell a whole shared object from a
 * cut or altered one before it is loaded.  The message is read in place, 64
 * bytes at a time; the last one or two blocks are completed in a buffer by a
 * one bit, zeros, and the length in bits as 64 big-endian bits.
 *
 * Plain C on purpose: a kernel has some 20 kB, which takes about 0.1 ms, and
 * the dependency on a cryptographic library would cost more than it gives.
 */
#include <string.h>

#include "csrc/run/run.h"

/* The first 32 bits of the fractional parts of the cube roots of the first
 * 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* 'x' turned right by 'n' bits, 0 < n < 32. */
static uint32_t
rotate(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

/* Four bytes as a number, most significant first. */
static uint32_t
load_be(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

/* The inverse of load_be. */
static void
store_be(unsigned char *at, uint32_t x)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(x >> (24 - 8 * i));
    }
}

/* The message schedule: 16 words of the block, 48 mixed from them. */
static void
expand(const unsigned char block[64], uint32_t w[64])
{
    for (int i = 0; i < 16; i++) {
        w[i] = load_be(block + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3);
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* One round.  Instead of moving the eight words by one place after each, as the
 * standard has it, the next round is told their new names. The two nonlinear
 * functions are "choose" (f where e is 1, else g) and "majority" of a, b, c. */
static inline void
mix(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
    uint32_t g, uint32_t *h, uint32_t word)
{
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + word;
    *d += t1;
    *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

/* One block into the state. */
static void
compress(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64];
    expand(block, w);
    for (int i = 0; i < 64; i++) {
        w[i] += round_constants[i];
    }
    uint32_t a = state[0];
    uint32_t b = state[1];
    uint32_t c = state[2];
    uint32_t d = state[3];
    uint32_t e = state[4];
    uint32_t f = state[5];
    uint32_t g = state[6];
    uint32_t h = state[7];
    for (int i = 0; i < 64; i += 8) {
        mix(a, b, c, &d, e, f, g, &h, w[i]);
        mix(h, a, b, &c, d, e, f, &g, w[i + 1]);
        mix(g, h, a, &b, c, d, e, &f, w[i + 2]);
        mix(f, g, h, &a, b, c, d, &e, w[i + 3]);
        mix(e, f, g, &h, a, b, c, &d, w[i + 4]);
        mix(d, e, f, &g, h, a, b, &c, w[i + 5]);
        mix(c, d, e, &f, g, h, a, &b, w[i + 6]);
        mix(b, c, d, &e, f, g, h, &a, w[i + 7]);
    }
    uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) {
        state[i] += after[i];
    }
}

/* The tail has room for the one bit and the length: one block if fewer than
 * 56 bytes are left, else two. */
void
sha256(const void *data, size_t size, unsigned char out[32])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = data;
    size_t left = size;
    for (; left >= 64; at += 64, left -= 64) {
        compress(state, at);
    }

    unsigned char tail[128] = {0};
    if (left > 0) {
        memcpy(tail, at, left);
    }
    tail[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)size * 8;
    store_be(tail + end - 8, (uint32_t)(bits >> 32));
    store_be(tail + end - 4, (uint32_t)bits);
    compress(state, tail);
    if (end == 128) {
        compress(state, tail + 64);
    }
    for (int i = 0; i < 8; i++) {
        store_be(out + 4 * i, state[i]);
    }
}

/* In lower case, as names of files and in manifests. */
void
sha256_hex(const void *data, size_t size, char out[65])
{
    unsigned char sum[32];
    sha256(data, size, sum);
    for (int i = 0; i < 32; i++) {
        out[2 * i] = "0123456789abcdef"[sum[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[sum[i] & 15];
    }
    out[64] = '\0';
}
