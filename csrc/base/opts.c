/* Options of a compilation, from text.
 *
 * The text is what VIZGEN_OPTS, vz-opt and the tests give: words NAME=VALUE
 * apart by blanks.  Switches take 0 or 1.  "directives=" takes all the rest of
 * the text, because directives hold blanks and newlines themselves.
 * Strings are interned, so an Opts never owns memory.
 */
#include "csrc/base/opts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/base/approx.h"
#include "csrc/base/str.h"

/* An option that is on or off, by its name in the text.  The transforms come
 * first, the last of them is "invariant". */
typedef struct Switch {
    const char *name;
    size_t at; /* offset of the bool in Opts */
} Switch;

static const Switch switches[] = {
    {"simplify", offsetof(Opts, simplify)},
    {"once", offsetof(Opts, once)},
    {"unroll", offsetof(Opts, unroll)},
    {"spill", offsetof(Opts, spill)},
    {"scout", offsetof(Opts, scout)},
    {"axes", offsetof(Opts, axes)},
    {"prealloc", offsetof(Opts, prealloc)},
    {"interchange", offsetof(Opts, interchange)},
    {"pipes", offsetof(Opts, pipes)},
    {"turn", offsetof(Opts, turn)},
    {"fuse", offsetof(Opts, fuse)},
    {"digest", offsetof(Opts, digest)},
    {"pack", offsetof(Opts, pack)},
    {"fission", offsetof(Opts, fission)},
    {"bands", offsetof(Opts, bands)},
    {"tallies", offsetof(Opts, tallies)},
    {"sieve", offsetof(Opts, sieve)},
    {"regions", offsetof(Opts, regions)},
    {"vectorize", offsetof(Opts, vectorize)},
    {"flatten", offsetof(Opts, flatten)},
    {"parallel", offsetof(Opts, parallel)},
    {"clear", offsetof(Opts, clear)},
    {"rows", offsetof(Opts, rows)},
    {"recur", offsetof(Opts, recur)},
    {"invariant", offsetof(Opts, invariant)},
    {"general", offsetof(Opts, general)},
    {"careful", offsetof(Opts, careful)},
    {"count_warnings", offsetof(Opts, count_warnings)},
    {"verify", offsetof(Opts, verify)},
};

enum { SWITCHES = sizeof(switches) / sizeof(switches[0]), MAX_THREADS = 4096 };

/* The state in which users' functions are compiled: fast kernel, all passes. */
Opts
opts_default(void)
{
    return (Opts){
        .simplify = true,
        .once = true,
        .unroll = true,
        .spill = true,
        .scout = true,
        .axes = true,
        .prealloc = true,
        .interchange = true,
        .pipes = true,
        .turn = true,
        .fuse = true,
        .digest = true,
        .pack = true,
        .fission = true,
        .bands = true,
        .tallies = true,
        .sieve = true,
        .regions = true,
        .vectorize = true,
        .flatten = true,
        .parallel = true,
        .clear = true,
        .rows = true,
        .recur = true,
        .invariant = true,
#ifndef NDEBUG
        .verify = true,
#endif
    };
}

/* The row of that name; NULL: there is none. */
static const Switch *
find_switch(const char *name)
{
    for (int i = 0; i < SWITCHES; i++) {
        if (strcmp(switches[i].name, name) == 0) {
            return &switches[i];
        }
    }
    return NULL;
}

/* Switches are written through their offset, so that a new one is one row of
 * the table. */
static bool
set_switch(Opts *opts, const char *name, const char *value)
{
    const Switch *row = find_switch(name);
    if (row == NULL || (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)) {
        return false;
    }
    bool on = *value == '1';
    memcpy((char *)opts + row->at, &on, sizeof(on));
    return true;
}

const char *
opts_transform(int i)
{
    bool is_last = i > 0 && strcmp(switches[i - 1].name, "invariant") == 0;
    return is_last ? NULL : switches[i].name;
}

/* For those who know a switch by its name only, as the pass table does. */
bool
opts_off(const Opts *opts, const char *name)
{
    const Switch *row = find_switch(name);
    bool on = true;
    if (row != NULL) {
        memcpy(&on, (const char *)opts + row->at, sizeof(on));
    }
    return !on;
}

/* '0' is the machine's number of threads. */
static bool
set_threads(Opts *opts, const char *value)
{
    char *end = NULL;
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < 0 || n > MAX_THREADS) {
        return false;
    }
    opts->threads = (int)n;
    return true;
}

/* Words only: what a bound allows is found out by those who run kernels. */
static bool
set_approx(Opts *opts, const char *value)
{
    Approx approx;
    char why[APPROX_WHY];
    bool ok = approx_parse(value, &approx, why) &&
              approx.measure == MEASURE_NONE;
    opts->approx = ok ? approx.relax : 0;
    return ok;
}

/* Applies one option; 'name' and 'value' are interned. */
static bool
set_option(Opts *opts, const char *name, const char *value)
{
    if (strcmp(name, "threads") == 0) {
        return set_threads(opts, value);
    }
    if (strcmp(name, "approx") == 0) {
        return set_approx(opts, value);
    }
    if (strcmp(name, "dump") == 0) {
        opts->dump = *value ? value : NULL;
        return true;
    }
    if (strcmp(name, "stop_after") == 0) {
        opts->stop_after = *value ? value : NULL;
        return true;
    }
    if (strcmp(name, "solver") == 0) {
        opts->solver = *value ? value : NULL;
        return true;
    }
    if (strcmp(name, "directives") == 0) {
        opts->directives = value;
        return true;
    }
    return set_switch(opts, name, value);
}

/* Options before a bad word have been applied: the caller reports the word
 * and gives up anyway. */
bool
opts_parse(Opts *opts, const char *text, const char **bad)
{
    static const char blanks[] = " \t\n";
    static const char whole[] = "directives=";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t n = strcspn(text, blanks);
        if (strncmp(text, whole, sizeof(whole) - 1) == 0) {
            n = strlen(text);
        }
        const char *equals = memchr(text, '=', n);
        size_t name = equals ? (size_t)(equals - text) : n;
        size_t skip = equals ? name + 1 : n;
        if (!equals || !set_option(opts, sym_n(text, name),
                                   sym_n(text + skip, n - skip))) {
            *bad = sym_n(text, n);
            return false;
        }
        text += n;
    }
    return true;
}
