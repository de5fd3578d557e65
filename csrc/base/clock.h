#ifndef VZ_BASE_CLOCK_H
#define VZ_BASE_CLOCK_H
/* A clock that setting the time neither stops nor moves. */
#include <stdint.h>

int64_t clock_ns(void);
double clock_seconds(void);
#endif
