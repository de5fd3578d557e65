/* with np.errstate(...='ignore'): warnings of NumPy's that nobody hears.
 *
 * All warnings are WARN statements, in the fast kernel those of integers and in
 * the counting one those of floats, too; they are left out here (emit).  Where
 * nothing at all is heard, float arithmetic doesn't count as such for which the
 * host must look at the FPU's flags; but underflow may be heard all the same.
 *
 * A function that is called inside of the 'with' is inlined there, so that the
 * state that is dynamic in NumPy is one of the text here.
 */
#include "csrc/lower/state.h"

enum { ALL_KINDS = (1 << (WARN_INVALID + 1)) - 1 };

/* The body with more kinds ignored; inference has found which. */
void
lower_with(Lower *L, const AStmt *s)
{
    unsigned outer = L->ignored;
    bool heard = L->result->may_warn;
    L->ignored |= s->kinds;
    lower_block(L, &s->body);
    L->result->floats |= L->result->may_warn;
    if (L->ignored == ALL_KINDS) {
        L->result->may_warn = heard;
    }
    L->ignored = outer;
}
