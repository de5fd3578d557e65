#ifndef VZ_LOWER_INDEX_H
#define VZ_LOWER_INDEX_H
/* What the files that take subscripts apart share.
 */
#include "csrc/lower/state.h"

/* One item of a subscript, evaluated: an index, `...`, None, or a slice with
 * its bounds, of which the type of one that is left out is NULL. */
typedef struct Item {
    Value value;
    Value lo;
    Value hi;
    bool slice;
    bool dots;
    int64_t step; /* known, and not 0 */
    Loc loc;
} Item;

/* The items of a subscript, evaluated from left to right. */
Item *subscript_items(Lower *L, const AExpr *subscript, int *n);
/* How many axes of the array the items take; `...` and None take none. */
int axes_taken(const Item *items, int n);
/* Restricts free axis 'k' to a slice; 'size' is what is known of the result. */
void slice_axis(Lower *L, View *view, int k, const Item *s, int64_t size);

/* --- gather.c --- */
/* Does the subscript have arrays as indices? */
bool has_index_arrays(const AExpr *subscript);
/* Index arrays in place: elements of "base", axis axes[i] of which is indexed
 * by arrays[i]; the axes of the arrays stand at "place" in the result. */
typedef struct Gather {
    View *base;
    int n;
    int axes[MAX_GATHER];
    const Lazy *arrays[MAX_GATHER];
    int lead;
    int place;
} Gather;

/* The subscript of 'base' taken apart; a mask alone is left to mask.c. */
void gather_open(Lower *L, const View *base, const AExpr *subscript, Gather *g);
/* The mask that is the only index, or NULL. */
const AExpr *only_mask(const AExpr *subscript);
const Lazy *gather_lazy(Lower *L, const Gather *g, Loc loc);
Value gather_read(Lower *L, const View *base, const AExpr *e);
void gather_store(Lower *L, const View *base, const AExpr *target, Value v);
void gather_augment(Lower *L, const View *base, const AStmt *s);

/* --- mask.c --- */
/* The positions where 'mask' is true: an index array per axis in 'out'. */
void mask_positions(Lower *L, Value mask, const Lazy **out, Loc loc);
Value mask_read(Lower *L, const View *base, const AExpr *e);
void mask_store(Lower *L, const View *base, const AExpr *target, Value v);
void mask_augment(Lower *L, const View *base, const AStmt *s);
#endif
