#ifndef VZ_LOWER_REDUCE_H
#define VZ_LOWER_REDUCE_H
/* What the files that reduce arrays share: the elements of an array, wherever
 * it lives.
 */
#include "csrc/lower/state.h"

/* Part of a buffer, or ("view" NULL) the lanes of a vector that has a name. */
typedef struct Elements {
    const View *view;
    Expr *vec;
    Loc loc;
} Elements;

/* What is done with an element. */
typedef void Visit(Lower *L, Expr *e, void *data);

void each_element(Lower *L, const Elements *in, Visit *visit, void *data);
Expr *count_elements(Lower *L, const Elements *in);
#endif
