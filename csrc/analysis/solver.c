/* Z3, asked where the affine prover has no answer, if the options name it.
 *
 *     a check that would stay in a loop          proved: it goes
 *     two accesses that may meet                 proved apart: parallel, SIMD
 *
 * The library is that of the z3-solver wheel, loaded when first asked and never
 * needed: without it, or if it can't be used, the answer is "not proved", as it
 * is for whatever ends in an error or "unknown".  Nothing is asked but whether
 * a script of linear integer arithmetic (smt.c) is unsatisfiable, through the
 * text interface, so no handle of Z3's is held but the context.
 *
 * Effort is counted in Z3's own steps and in queries per compilation, never in
 * time, so that a program compiles to the same code on a slow machine.  Only
 * scripts with an alternative in them are sent; all else is affine, and a "no"
 * of the affine prover is nearly always right about it.  In practice it proves
 * next to nothing more, for half a second of compile time, so it is off unless
 * asked for ("solver=auto").  Its other use is to judge the affine prover: with
 * dump letter '?' every question is written out with its verdict.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "csrc/analysis/bounds.h"

enum {
    MAX_QUERIES = 48,   /* of one compilation */
    MAX_LOGGED = 5000,  /* questions in a dump */
    MAX_SCRIPT = 20000, /* bytes */
    STEPS = 200000,     /* Z3's "rlimit" of one query: about 0.1 s */
};

/* The functions of z3_api.h that are used; its handles are pointers. */
typedef struct Z3 {
    void *(*mk_config)(void);
    void (*del_config)(void *config);
    void *(*mk_context)(void *config);
    void (*set_error_handler)(void *context, void (*fn)(void *, int));
    const char *(*eval)(void *context, const char *script);
} Z3;

/* A script that was asked, by its hash, and the answer. */
typedef struct Asked {
    uint64_t hash;
    bool proved;
} Asked;

/* One compilation.
 *   "path"   of the library; NULL: nothing is asked
 *   "log"    receives scripts and verdicts; NULL: nothing
 *   "asked"  the answers so far, "n" of them
 *   "logged" how many questions of all kinds the log has */
typedef struct Session {
    const char *path;
    Str *log;
    Asked asked[MAX_QUERIES];
    int n;
    int logged;
} Session;

static _Thread_local Session session;

/* --- the library, one for the process ------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *loaded; /* its path; "" once it proved useless */
static Z3 z3;
static void *context;
static bool failed; /* the query at hand called the error handler */

/* Z3's own handler ends the process. */
static void
on_error(void *from, int code)
{
    (void)from;
    (void)code;
    failed = true;
}

/* A child may have been forked while another thread was in Z3. */
static void
in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    context = NULL;
    loaded = "";
}

/* ISO C has no conversion from an object pointer to a function's. */
static bool
resolve(void *handle, const char *name, void *to)
{
    void *address = dlsym(handle, name);
    memcpy(to, &address, sizeof(address));
    return address != NULL;
}

/* The library stays loaded: it has threads' data of its own. */
static bool
load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL || !resolve(handle, "Z3_mk_config", &z3.mk_config) ||
        !resolve(handle, "Z3_del_config", &z3.del_config) ||
        !resolve(handle, "Z3_mk_context", &z3.mk_context) ||
        !resolve(handle, "Z3_set_error_handler", &z3.set_error_handler) ||
        !resolve(handle, "Z3_eval_smtlib2_string", &z3.eval)) {
        return false;
    }
    void *config = z3.mk_config();
    context = z3.mk_context(config);
    z3.del_config(config);
    if (context != NULL) {
        z3.set_error_handler(context, on_error);
    }
    return context != NULL;
}

/* One library a process: the first that is asked for. */
static bool
is_ready(const char *path)
{
    if (loaded == NULL) {
        pthread_atfork(NULL, NULL, in_child);
        loaded = load(path) ? path : "";
    }
    return context != NULL && strcmp(loaded, path) == 0;
}

/* Z3's answer, in 'arena'; NULL: none. The "reset" at the end leaves nothing
 * to the next query, and the limit is set in each. */
static const char *
answer(Arena *arena, const char *path, const char *script)
{
    const char *whole =
        str_printf(arena,
                   "(set-option :rlimit %d)\n%s(check-sat)\n"
                   "(get-info :rlimit)\n(reset)\n",
                   STEPS, script);
    const char *out = NULL;
    pthread_mutex_lock(&lock);
    if (is_ready(path)) {
        failed = false;
        const char *text = z3.eval(context, whole);
        size_t n = failed || text == NULL ? 0 : strlen(text) + 1;
        out = n > 0 ? arena_copy(arena, text, n) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return out;
}

/* --- a compilation ------------------------------------------------------- */

void
solver_begin(const char *path, Str *log)
{
    session = (Session){.path = path, .log = log};
}

void
solver_end(void)
{
    session = (Session){0};
}

/* FNV-1a. */
static uint64_t
hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *text; text++) {
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3U;
    }
    return hash;
}

/* The answer to the same script, asked before; NULL: none. */
static const Asked *
find_asked(uint64_t hash)
{
    for (int i = 0; i < session.n; i++) {
        if (session.asked[i].hash == hash) {
            return &session.asked[i];
        }
    }
    return NULL;
}

/* Z3's answer has several lines. */
static const char *
one_line(Arena *arena, const char *text)
{
    char *copy = arena_copy(arena, text, strlen(text) + 1);
    for (char *at = copy; *at; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    return copy;
}

/* "unsat" and nothing that looks like an error. */
static bool
says_unsat(const char *text)
{
    return text != NULL && strncmp(text, "unsat\n", 6) == 0 &&
           strstr(text, "error") == NULL;
}

/* Is there more in it than bounds? */
static bool
has_alternative(const char *script)
{
    return strstr(script, "(ite ") != NULL ||
           strstr(script, "(assert (not (= ") != NULL;
}

/* Asks, unless the same was asked before. */
static bool
refutes(Arena *arena, const char *script, const char **verdict)
{
    uint64_t hash = hash_text(script);
    const Asked *before = find_asked(hash);
    if (before != NULL || session.n == MAX_QUERIES ||
        strlen(script) > MAX_SCRIPT || !has_alternative(script)) {
        return before != NULL && before->proved;
    }
    const char *text = answer(arena, session.path, script);
    Asked asked = {hash, says_unsat(text)};
    session.asked[session.n++] = asked;
    *verdict = text ? text : "no answer";
    return asked.proved;
}

bool
solver_wants(bool proved, bool hard)
{
    bool asks = !proved && hard && session.path != NULL;
    return asks || (session.log != NULL && session.logged < MAX_LOGGED);
}

/* The verdict stands behind the script: Z3's own words, "unsat" and its steps,
 * or the affine prover's. */
bool
solver_settle(Arena *arena, const char *script, bool proved, bool hard,
              int effort)
{
    const char *verdict = NULL;
    if (!proved && hard && session.path != NULL) {
        proved = refutes(arena, script, &verdict);
    }
    if (session.log != NULL && session.logged < MAX_LOGGED &&
        strlen(script) <= MAX_SCRIPT) {
        session.logged++;
        str_addf(session.log, "; query\n%s(check-sat)\n", script);
        if (verdict != NULL) {
            str_addf(session.log, "; Z3: %s\n", one_line(arena, verdict));
        } else {
            str_addf(session.log, "; affine: %s, %d steps\n",
                     proved ? "proved" : "not proved", effort);
        }
    }
    return proved;
}
