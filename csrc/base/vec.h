#ifndef VZ_BASE_VEC_H
#define VZ_BASE_VEC_H
/* Typed growable arrays that live in an arena.
 *
 *     typedef VEC(Stmt *) StmtVec;
 *     StmtVec v = {0};
 *     vec_push(arena, &v, stmt);
 *     for (int i = 0; i < v.n; i++) use(v.at[i]);
 */
#include "csrc/base/arena.h"

/* "at" is NULL while the vector is empty; "n" elements are in use of the "cap"
 * there is room for.  Two VECs of one element type are two types: give it a
 * name where it is passed on. */
#define VEC(type)  \
    struct {       \
        type *at;  \
        int n;     \
        int cap;   \
    }

/* Room for one more element of 'size' bytes in the vector at 'vec'. */
void vec_grow(Arena *arena, void *vec, size_t size);

/* Appends 'value'; 'vec' is evaluated several times, and pointers to elements
 * are void afterwards, for the array may have moved. */
#define vec_push(arena, vec, value)                          \
    do {                                                     \
        if ((vec)->n == (vec)->cap) {                        \
            vec_grow((arena), (vec), sizeof(*(vec)->at));    \
        }                                                    \
        (vec)->at[(vec)->n++] = (value);                     \
    } while (0)
/* The last element, as an lvalue; there must be one. */
#define vec_last(vec) ((vec)->at[(vec)->n - 1])
#endif
