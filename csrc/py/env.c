/* The environment's variables, judged when vizgen is imported.
 *
 *     $ VIZGEN_THREADS=many python app.py
 *     app.py:2: UserWarning: VZ-5005  VIZGEN_THREADS='many' is not a whole
 *     number from 1 on; as many threads as the machine has are used
 *
 * A slip in a variable must neither end the program, which would run without
 * it, nor pass unnoticed.  So there is one warning, which names the variable,
 * its value and what is used instead.  Each variable has a row that says what a
 * good value is.  Those who read the variables (csrc/run, accel.c) take the
 * default for all others by themselves: most of them are below Python.
 *
 * A compiler that can't be used (VIZGEN_CC) is found out by running it, which
 * an import should not do: VZ-5001 tells of it at the first compilation.
 */
#include "csrc/py/tell.h"
#include "csrc/run/run.h"
#include "transforms/transforms.h"

enum { WHY_SIZE = 600 };

/* "judge" writes into 'why' what is wrong with the value and returns false.
 * "told" is the value that was warned of. */
typedef struct Variable {
    const char *name;
    bool (*judge)(const char *value, char *why);
    const char *instead;
    char *told;
} Variable;

static bool
judge_switch(const char *value, char *why)
{
    snprintf(why, WHY_SIZE, "is neither 0 nor 1");
    return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
}

static bool
judge_count(const char *value, char *why)
{
    int n;
    snprintf(why, WHY_SIZE, "is not a whole number from 1 on");
    return threads_read(value, &n);
}

/* Any number from 'least' on, with a point too. */
static bool
judge_number(const char *value, double least, char *why)
{
    double number;
    snprintf(why, WHY_SIZE, "is not a number from %g on", least);
    return number_read(value, least, &number);
}

static bool
judge_amount(const char *value, char *why)
{
    return judge_number(value, 0, why);
}

static bool
judge_positive(const char *value, char *why)
{
    return judge_number(value, 0.001, why);
}

static bool
judge_opts(const char *value, char *why)
{
    Opts opts = opts_default();
    const char *bad;
    if (opts_parse(&opts, value, &bad)) {
        return true;
    }
    snprintf(why, WHY_SIZE, "has the unknown option '%.100s'", bad);
    return false;
}

/* Is there a pass with this letter? */
static bool
is_letter(char letter)
{
    bool found = letter == '*';
    for (int i = 0; i < pass_count; i++) {
        found |= pass_table[i].letter == letter;
    }
    return found;
}

static bool
judge_dump(const char *value, char *why)
{
    char letters[100] = "";
    int n = 0;
    for (int i = 0; i < pass_count && n < (int)sizeof(letters) - 1; i++) {
        letters[n++] = pass_table[i].letter;
    }
    for (; *value; value++) {
        if (!is_letter(*value) && *value != '?') {
            snprintf(why, WHY_SIZE, "has the letter '%c'; passes have %s",
                     *value, letters);
            return false;
        }
    }
    return true;
}

/* The folder is made if there is none. */
static bool
judge_cache(const char *value, char *why)
{
    char reason[512];
    (void)value;
    if (cache_usable(reason)) {
        return true;
    }
    snprintf(why, WHY_SIZE, "can't be used (%s)", reason);
    return false;
}

static bool
judge_approx(const char *value, char *why)
{
    Approx approx;
    return approx_parse(value, &approx, why);
}

static Variable variables[] = {
    {"VIZGEN_DISABLE", judge_switch, "it counts as 1", NULL},
    {"VIZGEN_CHECK", judge_switch, "it counts as 1", NULL},
    {"VIZGEN_STRICT", judge_switch, "it counts as 1", NULL},
    {"VIZGEN_TRIALS", judge_switch, "it counts as 1", NULL},
    {"VIZGEN_THREADS", judge_count,
     "as many threads as the machine has are used", NULL},
    {"VIZGEN_PARALLEL_NS", judge_amount, "the default is used", NULL},
    {"VIZGEN_CC_TIMEOUT", judge_positive, "60 seconds are used", NULL},
    {"VIZGEN_CC_DEADLINE", judge_positive, "5 seconds are used", NULL},
    {"VIZGEN_CACHE_MB", judge_positive, "the default is used", NULL},
    {"VIZGEN_APPROX", judge_approx, "results are exact", NULL},
    {"VIZGEN_OPTS", judge_opts, "all options have their defaults", NULL},
    {"VIZGEN_DUMP", judge_dump, "the other letters are used", NULL},
    {"VIZGEN_CACHE_DIR", judge_cache,
     "compiled code is kept for this process only", NULL},
};

/* Warns of the value, once. */
static int
tell(Variable *variable, const char *value, const char *why)
{
    if (variable->told != NULL && strcmp(variable->told, value) == 0) {
        return 0;
    }
    PyObject *text = PyUnicode_DecodeFSDefault(value);
    if (text == NULL) {
        return -1;
    }
    free(variable->told);
    variable->told = strdup(value);
    int status = PyErr_WarnFormat(PyExc_UserWarning, 2, "%s  %s=%.200R %s; %s",
                                  diag_code(DIAG_ENVIRONMENT), variable->name,
                                  text, why, variable->instead);
    Py_DECREF(text);
    return status;
}

int
environment_check(const char *name)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        Variable *variable = &variables[i];
        const char *value = getenv(variable->name);
        char why[WHY_SIZE];
        if ((name != NULL && strcmp(name, variable->name) != 0)
            || value == NULL || *value == '\0'
            || variable->judge(value, why)) {
            continue;
        }
        bad++;
        if (tell(variable, value, why) < 0) {
            return -1;
        }
    }
    return bad;
}
