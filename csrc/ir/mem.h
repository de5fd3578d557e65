#ifndef VZ_IR_MEM_H
#define VZ_IR_MEM_H
/* Arrays as the reference interpreter sees them: an EvalArray says where the
 * elements are, the Buf beside it says of which dtype and rank they are.
 * Nothing here checks an index but mem_inside, which the interpreter asks
 * before every access.
 */
#include "csrc/ir/ir.h"

enum { LARGEST_ARRAY = 1 << 28 }; /* bytes */

/* One element at 'at', which need not be aligned: views of packed records are
 * legal arrays.  A bool is any byte but 0. */
Slot mem_read(DType dtype, const char *at);
void mem_write(DType dtype, char *at, Slot slot);
int64_t mem_count(const EvalArray *array, int rank); /* of elements */
/* May element 'index' of 'array' be read or written at 'level'? */
bool mem_inside(Level level, const Buf *buf, const EvalArray *array,
                const int64_t *index);
/* Where element 'index' lies; inside by the caller's word. */
char *mem_address(const Buf *buf, const EvalArray *array,
                  const int64_t *index);
/* Steps 'index' to the next element; false after the last. */
bool mem_step(const EvalArray *array, int rank, int64_t *index);
/* Does no element of one share a byte with one of the other? */
bool mem_disjoint(Arena *arena, const Buf *lhs, const EvalArray *a,
                  const Buf *rhs, const EvalArray *b);
/* The value of the SUM 'e' over 'array'; 'args' are its operands' values.
 * False if an element lies outside. */
bool mem_sum(Level level, const Expr *e, const EvalArray *array,
             const Slot *args, double *out);
#endif
