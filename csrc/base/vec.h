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

#define VEC(type)  \
    struct {       \
        type *at;  \
        int n;     \
        int cap;   \
    }

/* Room for one more element of 'size' bytes in the vector at 'vec'. */
void vec_grow(Arena *arena, void *vec, size_t size);

#define vec_push(arena, vec, value)                          \
    do {                                                     \
        if ((vec)->n == (vec)->cap) {                        \
            vec_grow((arena), (vec), sizeof(*(vec)->at));    \
        }                                                    \
        (vec)->at[(vec)->n++] = (value);                     \
    } while (0)
#define vec_last(vec) ((vec)->at[(vec)->n - 1])
#endif
