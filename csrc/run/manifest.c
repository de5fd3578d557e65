/* What a cache entry says of itself.
 *
 *     vizgen-entry 1
 *     key 5c0d...            64 hexadecimal digits
 *     sha256 91ab...         of kernel.so
 *     size 15312             of kernel.so, in bytes
 *     abi 1
 *     version 0.1
 *     compiler gcc (Debian 12.2.0-14) 12.2.0
 *     features -msse3 -mavx2
 *     libm glibc 2.36
 *     check 77aa...          sha256 of all lines above
 *
 * The reader takes exactly this text and nothing else: these lines in this
 * order, single spaces, printable ASCII, numbers without leading zeros, no
 * byte after the last line.  Every byte is covered by "check", so a flipped
 * bit anywhere makes the entry bad.  An unknown first line (an older or newer
 * format) makes it bad too; it is then replaced.
 *
 * Nothing in a manifest is ever executed, opened or used as a size before it
 * has been compared with the file itself.
 */
#include <stdio.h>
#include <string.h>

#include "csrc/run/parts.h"

static const char first_line[] = "vizgen-entry 1\n";

static bool
is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* 'name', a space, 'value' with other characters than printable ones
 * replaced, a newline. */
static bool
add_text(Blob *out, const char *name, const char *value, size_t most)
{
    char clean[2048];
    size_t n = 0;
    for (; value[n] && n < most - 1; n++) {
        clean[n] = is_printable(value[n]) ? value[n] : '?';
    }
    clean[n] = '\0';
    return blob_addf(out, "%s %s\n", name, clean);
}

/* The inverse of manifest_read, except for characters it can't write. */
bool
manifest_write(const Manifest *m, Blob *out)
{
    char check[KEY_SIZE];
    if (!blob_addf(out, "%skey %s\nsha256 %s\nsize %llu\nabi %u\n", first_line,
                   m->key, m->sha, (unsigned long long)m->size, m->abi) ||
        !add_text(out, "version", m->version, sizeof(m->version)) ||
        !add_text(out, "compiler", m->compiler, sizeof(m->compiler)) ||
        !add_text(out, "features", m->features, sizeof(m->features)) ||
        !add_text(out, "libm", m->libm, sizeof(m->libm))) {
        return false;
    }
    sha256_hex(out->at, out->n, check);
    return blob_addf(out, "check %s\n", check);
}

/* The text not read yet; "at" is NULL once something was wrong, and every
 * later read does nothing. */
typedef struct Reader {
    const char *at;
    size_t left;
} Reader;

/* Take exactly 'text'. */
static void
expect(Reader *in, const char *text)
{
    size_t n = strlen(text);
    if (!in->at || in->left < n || memcmp(in->at, text, n) != 0) {
        in->at = NULL;
        return;
    }
    in->at += n;
    in->left -= n;
}

/* 'name', a space, up to 'size' - 1 printable characters, a newline. */
static void
read_text(Reader *in, const char *name, char *out, size_t size)
{
    expect(in, name);
    expect(in, " ");
    size_t n = 0;
    while (in->at && n < in->left && is_printable(in->at[n])) {
        n++;
    }
    if (!in->at || n >= size) {
        in->at = NULL;
        return;
    }
    memcpy(out, in->at, n);
    out[n] = '\0';
    in->at += n;
    in->left -= n;
    expect(in, "\n");
}

/* A line with a SHA-256 sum in lower case. */
static void
read_hex(Reader *in, const char *name, char out[KEY_SIZE])
{
    read_text(in, name, out, KEY_SIZE);
    if (in->at && strspn(out, "0123456789abcdef") != KEY_SIZE - 1) {
        in->at = NULL;
    }
}

/* A line with a number of up to 15 digits. */
static uint64_t
read_number(Reader *in, const char *name)
{
    char digits[16] = "";
    uint64_t value = 0;
    read_text(in, name, digits, sizeof(digits));
    size_t n = strlen(digits);
    if (n == 0 || strspn(digits, "0123456789") != n ||
        (n > 1 && digits[0] == '0')) {
        in->at = NULL;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        value = value * 10 + (uint64_t)(digits[i] - '0');
    }
    return value;
}

/* "check" comes last but is the first thing that matters: whatever the other
 * lines say is only believed if the sum over them is right. */
bool
manifest_read(const char *text, size_t n, Manifest *out)
{
    Reader in = {text, n};
    char check[KEY_SIZE] = "";
    char sum[KEY_SIZE];
    memset(out, 0, sizeof(*out));
    expect(&in, first_line);
    read_hex(&in, "key", out->key);
    read_hex(&in, "sha256", out->sha);
    out->size = read_number(&in, "size");
    out->abi = (unsigned)read_number(&in, "abi");
    read_text(&in, "version", out->version, sizeof(out->version));
    read_text(&in, "compiler", out->compiler, sizeof(out->compiler));
    read_text(&in, "features", out->features, sizeof(out->features));
    read_text(&in, "libm", out->libm, sizeof(out->libm));
    size_t covered = n - in.left;
    read_hex(&in, "check", check);
    if (!in.at || in.left != 0) {
        return false;
    }
    sha256_hex(text, covered, sum);
    return strcmp(sum, check) == 0;
}
