#ifndef VZ_TESTS_UNIT_PASSES_EXPR_H
#define VZ_TESTS_UNIT_PASSES_EXPR_H
/* What passes_gen.c (statements) and passes_expr.c (expressions) share. */
#include "csrc/ir/ir.h"

enum { MAX_VARS = 64 };

static const Loc PLACE = {.line = 1};

/* An element that was read or written: worth touching again. */
typedef struct Element {
    Buf *buf;
    Expr *index[2];
} Element;

/* "ints" and "floats" are the Vars in scope, "rounds" the loops' Vars,
 * "recent" elements whose indices are in scope. */
typedef struct Gen {
    Arena *arena;
    Func *func;
    Buf *a;
    Buf *b;
    Buf *out;
    Buf *fresh;
    Buf *scratch;
    Var *ints[MAX_VARS];
    Var *floats[MAX_VARS];
    Var *rounds[MAX_VARS];
    Element recent[MAX_VARS];
    int nrecent;
    int nrounds;
    int nints;
    int nfloats;
    int depth;
    int budget;
} Gen;

/* How much is in scope. */
typedef struct Names {
    int ints;
    int floats;
    int recent;
} Names;

void gen_seed(uint64_t seed);
unsigned gen_pick(unsigned n);
bool gen_chance(unsigned percent);
Expr *gen_num(Gen *g, int64_t value);
void gen_push(Gen *g, Block *out, Stmt *s);
void gen_show_int(Gen *g, Var *var);
void gen_show_float(Gen *g, Var *var);
void gen_check(Gen *g, Block *out, Expr *cond, Exc exc);
Expr *gen_int_expr(Gen *g, Block *out, int depth);
Expr *gen_float_expr(Gen *g, Block *out, int depth);
Expr *gen_bool_expr(Gen *g, Block *out, int depth);
Expr *gen_let_int(Gen *g, Block *out, Expr *value);
Expr *gen_checked_index(Gen *g, Block *out, Buf *buf, int axis, Expr *index);
void gen_element(Gen *g, Block *out, Buf *buf, Expr **index);
Expr *gen_load(Gen *g, Block *out, Buf *buf);
Expr *gen_int_leaf(Gen *g, Block *out);
Names gen_names_of(const Gen *g);
void gen_restore(Gen *g, Names names);
#endif
