/* approx="fma,reassoc" and the like, as text.
 *
 *     fma,reassoc,vecmath,f32    these relaxations; all of them: "all"
 *     exact                      none
 *     psnr>=50                   those of all four that keep 50 dB
 *     fma,vecmath,ulp<=4         those of the two that keep 4 ulp
 *
 * Words are apart by commas and blanks; at most one is a bound.
 */
#include "csrc/base/approx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned relax;
} words[] = {
    {"fma", RELAX_FMA},         {"reassoc", RELAX_REASSOC},
    {"vecmath", RELAX_VECMATH}, {"f32", RELAX_F32},
    {"all", RELAX_ALL},         {"exact", 0},
};

/* "sign": the direction in which an error is better. */
static const struct {
    const char *name;
    const char *sign;
} measures[] = {
    [MEASURE_NONE] = {"", ""},
    [MEASURE_PSNR] = {"psnr", ">="},
    [MEASURE_MAXERR] = {"maxerr", "<="},
    [MEASURE_ULP] = {"ulp", "<="},
};

enum {
    WORDS = sizeof(words) / sizeof(words[0]),
    MEASURES = sizeof(measures) / sizeof(measures[0]),
    LONGEST = 40, /* bytes of a word */
};

const char *
approx_measure(Measure measure)
{
    return measures[measure].name;
}

void
approx_words(unsigned relax, char *out)
{
    size_t n = 0;
    *out = '\0';
    for (int i = 0; words[i].relax != RELAX_ALL; i++) {
        if (relax & words[i].relax) {
            n += (size_t)snprintf(out + n, APPROX_WORDS - n, "%s%s",
                                  n ? "," : "", words[i].name);
        }
    }
}

/* 'word' is "psnr>=50" or the like.  The number is read as C writes it: the
 * locale of a Python process has a point. */
static bool
take_bound(const char *word, Approx *out)
{
    for (int i = 1; i < MEASURES; i++) {
        size_t n = strlen(measures[i].name);
        if (strncmp(word, measures[i].name, n) != 0 ||
            strncmp(word + n, measures[i].sign, 2) != 0) {
            continue;
        }
        char *end = NULL;
        double limit = strtod(word + n + 2, &end);
        out->measure = (Measure)i;
        out->limit = limit;
        return end != word + n + 2 && !*end && isfinite(limit) && limit >= 0;
    }
    return false;
}

/* One word; 'bounds' counts those that are bounds. */
static bool
take_word(const char *word, Approx *out, int *bounds)
{
    for (int i = 0; i < WORDS; i++) {
        if (strcmp(word, words[i].name) == 0) {
            out->relax |= words[i].relax;
            return true;
        }
    }
    ++*bounds;
    return take_bound(word, out);
}

/* A bound alone tries everything. */
bool
approx_parse(const char *text, Approx *out, char *why)
{
    static const char apart[] = ", \t\n";
    int bounds = 0;
    int n = 0;
    *out = (Approx){0};
    for (text += strspn(text, apart); *text; text += strspn(text, apart)) {
        char word[LONGEST + 1] = "";
        size_t length = strcspn(text, apart);
        memcpy(word, text, length < LONGEST ? length : LONGEST);
        text += length;
        if (!take_word(word, out, &bounds)) {
            snprintf(why, APPROX_WHY,
                     "has the word '%s'; it takes fma, reassoc, vecmath, f32, "
                     "all, exact, and one of psnr>=DB, maxerr<=X, ulp<=N",
                     word);
            return false;
        }
        n++;
    }
    if (n == 0 || bounds > 1) {
        snprintf(why, APPROX_WHY, n ? "has two bounds" : "is empty");
        return false;
    }
    if (bounds && n == bounds) {
        out->relax = RELAX_ALL;
    }
    return true;
}
