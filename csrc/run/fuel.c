/* Fuel: how many rounds a loop makes between two polls.
 *
 * A poll should come about every millisecond.  Nobody knows beforehand what a
 * round costs: it may be one addition or the sum of a whole image.  So little
 * is given at first, and from then on what the last amount lasted decides.
 */
#include "csrc/run/run.h"

enum {
    TARGET_NS = 1000000,
    FUEL_MOST = 1 << 24,
    GROWTH = 16, /* at most so many times the last amount */
};

/* The next amount, where 'fuel' lasted so many nanoseconds. */
static int64_t
fuel_after(int64_t fuel, int64_t lasted)
{
    int64_t most = fuel < FUEL_MOST / GROWTH ? fuel * GROWTH : FUEL_MOST;
    double wanted = (double)fuel * TARGET_NS / (double)(lasted + 1);
    return wanted < 1 ? 1 : wanted > (double)most ? most : (int64_t)wanted;
}

void
fuel_refill(VzCtx *ctx, int64_t *since, int64_t now)
{
    if (*since != 0) {
        ctx->given = fuel_after(ctx->given, now - *since);
    }
    *since = now;
    ctx->fuel = ctx->given;
}
