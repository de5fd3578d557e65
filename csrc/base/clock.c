/* The monotonic clock, in nanoseconds and in seconds. */
#include "csrc/base/clock.h"

#include <time.h>

int64_t
clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double
clock_seconds(void)
{
    return 1e-9 * (double)clock_ns();
}
