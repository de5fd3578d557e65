#ifndef VZ_IR_PRINT_H
#define VZ_IR_PRINT_H
/* What print.c (statements) and print_expr.c (what they are made of) share. */
#include "csrc/ir/ir.h"

/*   "out"  receives the text.
 *   "seen"  holds the Vars whose type was printed; NULL when only an expression
 *       or statement is printed, for a message, and types would be noise.
 *   "depth"  blocks that are open; two columns each. */
typedef struct Printer {
    Str *out;
    Map *seen;
    int depth;
} Printer;

void print_name(Printer *p, const char *name);
/* '%name.id' and '&name.id', with what they are at the first mention. */
void print_var(Printer *p, const Var *var);
void print_buf(Printer *p, const Buf *buf);
/* All that a buffer is; 'number' is what "arg" is expected to be. */
void print_buf_whole(Printer *p, const Buf *buf, int number);
/* ' @line:col'; nothing for no place. */
void print_loc(Printer *p, Loc loc);
void print_some_loc(Printer *p, Loc loc);
bool print_same_loc(Loc lhs, Loc rhs);
void print_expr(Printer *p, const Expr *e);
void print_list(Printer *p, Expr *const *list, int n); /* 'a, b, c' */
#endif
