/* Sites: the CHECKs and WARNs of a finished function, by number.
 *
 *     check (lt %i.4 %n.1) index replay @6:8       number 1
 *     warn (addo %a.2 %b.3) overflow @7:8          number 0: bit 0
 *
 * A kernel that ends early leaves the number of the check that failed in
 * VzCtx.failed, and sets the bit of each warning in VzCtx.warn; the host asks
 * here which statement that was, so a message can name its line.
 *
 * Passes copy statements (unrolled rounds, regions).  Warnings that are the
 * same to a reader share a number.  When the bits are used up, what is left
 * over shares one bit per kind, and notes its number in VzCtx.more besides.
 */
#include "csrc/ir/ir.h"

_Static_assert(IR_WARN_OWN + WARN_INVALID + 1 == IR_WARN_BITS,
               "a bit for each kind");

/* While a function is walked: how many checks, and the warnings found by their
 * numbers, of which those from IR_WARN_OWN to IR_WARN_BITS are not given. */
typedef struct Sites {
    int nchecks;
    int nwarns;
    const Stmt *warns[IR_WARNS];
} Sites;

/* Would NumPy give the two as one warning?  By kind, text and place. */
static bool
is_same_warning(const Stmt *lhs, const Stmt *rhs)
{
    return lhs->warn == rhs->warn && lhs->what == rhs->what &&
           lhs->loc.file == rhs->loc.file && lhs->loc.line == rhs->loc.line;
}

int
ir_warn_bit(const Stmt *warn)
{
    return warn->id < IR_WARN_OWN ? warn->id : IR_WARN_OWN + (int)warn->warn;
}

/* The number of 's': that of an equal one, or a new one; the last ones are for
 * all the rest, by kind. */
static int
warn_number(Sites *sites, const Stmt *s)
{
    for (int i = 0; i < sites->nwarns; i++) {
        if (sites->warns[i] != NULL && is_same_warning(sites->warns[i], s)) {
            return i;
        }
    }
    if (sites->nwarns == IR_WARN_OWN) {
        sites->nwarns = IR_WARN_BITS;
    }
    if (sites->nwarns >= IR_WARNS - (IR_WARN_BITS - IR_WARN_OWN)) {
        return IR_WARNS - 1 - (int)s->warn;
    }
    sites->warns[sites->nwarns] = s;
    return sites->nwarns++;
}

/* For ir_each_stmt. */
static void
number_stmt(void *data, Stmt *s)
{
    Sites *sites = data;
    if (s->kind == S_CHECK) {
        s->id = ++sites->nchecks;
    } else if (s->kind == S_WARN) {
        s->id = warn_number(sites, s);
    }
}

void
ir_number_sites(Func *func)
{
    Sites sites = {0};
    ir_each_stmt(&func->body, number_stmt, &sites);
}

/* A search for the first statement of "kind" with the number "id". */
typedef struct SiteSearch {
    StmtKind kind;
    int id;
    const Stmt *found;
} SiteSearch;

/* For ir_each_stmt. */
static void
search_site(void *data, Stmt *s)
{
    SiteSearch *search = data;
    if (search->found == NULL && s->kind == search->kind &&
        s->id == search->id) {
        search->found = s;
    }
}

const Stmt *
ir_site(const Func *func, StmtKind kind, int id)
{
    SiteSearch search = {.kind = kind, .id = id};
    ir_each_stmt(&func->body, search_site, &search);
    return search.found;
}
