/* What was found out of an expression since something was last learned.
 *
 *     min(max(min(max(y, 0), h), 1), w)
 *
 * The form of a min asks for the range of its sides' difference, which asks
 * for the forms and ranges of both sides again, and so on down: without a memo
 * each level multiplies the work, and a query of such a clamp spends all its
 * fuel.  An expression is never changed once it is made, so its answers hold
 * for as long as what they were found from does.
 *
 * Whatever takes knowledge back, or describes a Var anew, must forget them.
 * They are forgotten, too, where a range is narrowed or a condition becomes
 * known: less was found before than can be found now.  A mere fact is no
 * reason: the prover looks at facts, forms and ranges hardly do.
 *
 * Found or not must not depend on addresses, or else fuel, proofs and code
 * would: nothing is ever displaced; a full memo is forgotten as a whole.
 */
#include <string.h>

#include "csrc/analysis/bounds.h"

enum { MEMOS = 256 };

void
bounds_forget(Bounds *b)
{
    map_clear(&b->memos);
}

const Memo *
bounds_recall(const Bounds *b, const Expr *e)
{
    return map_get(&b->memos, e);
}

Memo *
bounds_memo(Bounds *b, const Expr *e)
{
    Memo *memo = map_get(&b->memos, e);
    if (memo == NULL) {
        if (b->memory == NULL) {
            b->memory = ARENA_ARRAY(b->arena, Memo, MEMOS);
        } else if (b->memos.n == MEMOS) {
            bounds_forget(b);
        }
        memo = &b->memory[b->memos.n];
        memset(memo, 0, sizeof(*memo));
        map_set(&b->memos, e, memo);
    }
    return memo;
}
