#ifndef VZ_BASE_OPTS_H
#define VZ_BASE_OPTS_H
/* Options of one compilation.  They are part of what decides the C text, and
 * reach the cache's key only through it.
 */
#include <stdbool.h>

/* Switches are named after what they allow, most of them a pass of
 * transforms/passes.def; turning one off never changes a result, only how it is
 * reached.  "approx" alone may.  Texts are interned. */
typedef struct Opts {
    bool general;        /* program order, nothing assumed of the arguments */
    bool careful;        /* no flag of the FPU is raised in vain */
    bool count_warnings; /* instrument arithmetic that may warn */
    bool simplify;
    bool once;
    bool unroll;
    bool spill;
    bool scout;
    bool axes;
    bool prealloc;
    bool interchange;
    bool pipes;
    bool turn;
    bool fuse;
    bool digest;
    bool pack;
    bool fission;
    bool bands;
    bool tallies;
    bool sieve;
    bool regions;
    bool vectorize;
    bool flatten;        /* the directive, which 'vectorize' proposes */
    bool parallel;
    bool clear;
    bool rows;
    bool recur;
    bool invariant;
    bool verify;         /* run ir_verify after every pass */
    const char *dump;    /* letters of passes.def, '*' all; NULL none */
    const char *stop_after; /* name of a pass; NULL none */
    const char *directives; /* text of a Sched that overrides proposals */
    const char *solver;     /* path of Z3's library, "auto" in Python: that of
                               the z3-solver wheel; NULL: it is not asked */
    int threads;         /* at run time; 0: the machine's */
    unsigned approx;     /* bits of Relax: what need not be exact */
} Opts;

/* Everything on, verify in development builds. */
Opts opts_default(void);

/* Apply 'text', words such as "parallel=0 regions=1 dump=SC"; false and
 * 'bad' set to the offending word when one is unknown. */
bool opts_parse(Opts *opts, const char *text, const char **bad);

/* Is the switch 'name' off?  Of a name that is no switch: false. */
bool opts_off(const Opts *opts, const char *name);

/* The switches that stand for a transform, from number 0; NULL at the end. */
const char *opts_transform(int i);
#endif
