/* Which variant to measure next.
 *
 * Hill climbing that ends as an exhaustive search: the neighbours (one
 * choice changed) of the best variant so far come first, in the order of the
 * axes; when all of them are known, the lowest number not yet tried.  So an
 * early stop has seen the most promising part of the space, and a search
 * that runs to its end has seen all of it.
 *
 * The answer depends on the trials alone, not on their order beyond ties:
 * a log that is read back continues the same search.
 */
#include "autotune/tune.h"

static int
best_trial(const Trial *trials, int n)
{
    int index = 0;
    double gain = 0;
    for (int i = 0; i < n; i++) {
        if (trials[i].gain > gain) {
            gain = trials[i].gain;
            index = trials[i].index;
        }
    }
    return index;
}

int
search_next(Arena *arena, const Space *space, const Trial *trials, int n)
{
    int size = space_size(space);
    bool *tried = ARENA_ARRAY(arena, bool, size);
    for (int i = 0; i < n; i++) {
        if (trials[i].index >= 0 && trials[i].index < size) {
            tried[trials[i].index] = true;
        }
    }

    int best = best_trial(trials, n);
    for (int axis = 0; axis < space_axes(space); axis++) {
        for (int d = 0; d < space_choices(space, axis); d++) {
            int neighbour = space_replace(space, best, axis, d);
            if (!tried[neighbour]) {
                return neighbour;
            }
        }
    }

    for (int index = 0; index < size; index++) {
        if (!tried[index]) {
            return index;
        }
    }
    return -1;
}
