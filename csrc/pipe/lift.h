#ifndef VZ_PIPE_LIFT_H
#define VZ_PIPE_LIFT_H
/* What lift.c, levels.c and reads.c share; nobody else includes it. */
#include "csrc/pipe/pipe.h"

/* What lifting works with.
 *   "arena"  of the Pipe and of copies of levels
 *   "func"   for questions of overlap and of who uses a buffer
 *   "b"      what is known just before the last stage
 *   "block"  in which the nests stand side by side
 *   "diags"  why a nest did not join
 *   "pipe"   the stages so far; the last one is the reader of all */
typedef struct Lift {
    Arena *arena;
    const Func *func;
    Bounds *b;
    const Block *block;
    Diags *diags;
    Pipe *pipe;
} Lift;

/* --- levels.c */

/* The nest at block->at[position] as a stage, as deep as it goes.  NULL when
 * the statement is no nest, or its outer loop carries something but what it
 * gathers. */
Stage *stage_take(Arena *arena, const Block *block, int position);
/* Makes 'stage' one of 'depth' levels; what is below belongs to its body. */
void stage_trim(Stage *stage, int depth);

/* --- reads.c */

/* Does 'e' use one of the loop variables of 'stage'? */
bool stage_uses_vars(const Stage *stage, const Expr *e);
/* A block of the nest alone. */
Block stage_block(Arena *arena, const Stage *stage);
/* 'index' minus the variable of axis 'd' as an interval of constants; false
 * where that is unknown or far. */
bool stage_offset(Arena *arena, Bounds *b, const Stage *stage, Expr *index,
                  int d, int64_t *min, int64_t *max);
/* Do all stages that have joined read of 'producer' what it wrote?  Widens its
 * "min" and "max" to what they need; false: '*why' says what fails. */
bool reads_proved(Lift *lift, Stage *producer, const char **why);
#endif
