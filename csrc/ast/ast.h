#ifndef VZ_AST_AST_H
#define VZ_AST_AST_H
/* Mirror of the Python subset.
 *
 * csrc/py/load.c builds it from Python's own ast; typeinfer copies it into a
 * typed tree (the same nodes with "type" set, names resolved to versions,
 * dead branches gone, loops peeled where joins need it); csrc/lower reads the
 * typed tree.  What has no row here is loaded as A_OTHER or AS_OTHER and
 * refused only where inference reaches it.
 */
#include "csrc/base/diag.h"
#include "csrc/base/map.h"
#include "csrc/base/vec.h"
#include "csrc/ir/type.h"

typedef struct AExpr AExpr;
typedef struct AStmt AStmt;
/* Lists in the order of the source; an ABlock is the body of a compound
 * statement, empty ({0}) where there is none. */
typedef VEC(AExpr *) AExprVec;
typedef VEC(AStmt *) ABlock;

typedef enum AKind {
    A_CONST,     /* 1  2.5  True  None  "text"; big ints are A_OTHER */
    A_NAME,      /* a parameter or local */
    A_GLOBAL,    /* a global, closure or builtin name, or 'module.attr' */
    A_BINOP,     /* a + b */
    A_UNARY,     /* -a  +a  ~a  not a */
    A_BOOLOP,    /* a and b and c */
    A_COMPARE,   /* a < b <= c */
    A_CALL,      /* f(a, k=b) */
    A_ATTR,      /* a.shape */
    A_SUBSCRIPT, /* a[i, j] */
    A_SLICE,     /* lo:hi:step inside a subscript */
    A_TUPLE,     /* (a, b) */
    A_LIST,      /* [a, b] */
    A_IFEXP,     /* a if c else b */
    A_STARRED,   /* *a */
    A_COMP,      /* [a for x in xs if c]  (a for x in xs if c) */
    A_LAMBDA,    /* lambda x: a; what a nested 'def' binds to its name */
    A_NAMED,     /* (x := a) */
    A_DICT,      /* {k: a} */
    /* only in typed trees: */
    A_SEQ,       /* statements, then a value */
    A_SOME,      /* a value that is tested not to be None */
    A_OTHER,     /* anything else; "name" is Python's class name */
} AKind;

/* Operators, in the order of ast.c's words.  The comparisons of one COMPARE are
 * a list: a < b <= c has AO_LT and AO_LE.  MATMUL, IS and IN are loaded like
 * the others and refused, where they can't be decided, by inference. */
typedef enum AOp {
    AO_ADD, AO_SUB, AO_MUL, AO_DIV, AO_FLOORDIV, AO_MOD, AO_POW, AO_MATMUL,
    AO_LSHIFT, AO_RSHIFT, AO_BITOR, AO_BITXOR, AO_BITAND,
    AO_NEG, AO_POS, AO_INVERT, AO_NOT,
    AO_AND, AO_OR,
    AO_EQ, AO_NE, AO_LT, AO_LE, AO_GT, AO_GE, AO_IS, AO_ISNOT, AO_IN, AO_NOTIN,
} AOp;

/* What a global name means.  Resolved when the function is loaded; the
 * dispatcher guards that it still means this on every call. */
typedef enum BindKind {
    BIND_KNOWN,  /* a builtin, math or NumPy object; "known": "numpy.zeros" */
    BIND_USER,   /* a user function: Unit.funcs["func"] */
    BIND_VALUE,  /* a number, None, string or tuple: "value" (A_CONST or
                    A_TUPLE of such) */
    BIND_ARRAY,  /* an array: hidden argument number "arg" of the unit */
    BIND_OTHER,  /* "known" holds the name of its Python type */
} BindKind;

/* What a global name of a function is bound to.
 *
 *   "name"  as written: "np.zeros".
 *   "kind"  which of the next it has.
 *   "known"  KNOWN: the canonical name; OTHER: the name of its Python type.
 *   "func"  USER: index in Unit.funcs.
 *   "arg"  ARRAY: number of the hidden argument.
 *   "value"  VALUE: as if it stood in the source. */
typedef struct Binding {
    Sym name; /* as written: "np.zeros" */
    BindKind kind;
    Sym known;
    int func;
    int arg;
    AExpr *value;
} Binding;

/* A version of a local name: what one definition (or join) of it is.  Made by
 * typeinfer; lower gives each version variables of its own.
 *
 *   color = 0              color.1: int
 *   if wide:
 *       color = a * 0.5    color.2: float64[:, :]
 *
 *   "name"  the local's; "id"  unique in the unit.
 *   "type"  of every value it has; a join may make it a maybe-type.
 *   "loc"  of the definition, for messages. */
typedef struct Version {
    Sym name;
    int id;
    const Type *type;
    Loc loc;
} Version;

/* One part of a comprehension with its conditions.  Names that the target
 * binds have been given names of their own ("x'3"), so they are locals of the
 * function like others. */
typedef struct AFor {
    AExpr *target;
    AExpr *iter;
    AExprVec ifs;
} AFor;

/* Which fields a kind uses:
 *   CONST      "type" (TY_NUM weak and known, TY_STR, TY_NONE)
 *   NAME       "name"; "version" after inference
 *   GLOBAL     "binding"
 *   BINOP      "op" "lhs" "rhs"          UNARY  "op" "lhs"
 *   BOOLOP     "op" "items"
 *   COMPARE    "lhs", "ops" and "items" of equal length
 *   CALL       "lhs" (callee) "items" "keys" (NULL: positional) ; after
 *              inference of a user function "callee" is its typed body;
 *              "name": as a COMP's, of calls that may need it, else NULL
 *   ATTR       "lhs" "name"; "binding" of a method that vizgen.library has
 *   SUBSCRIPT  "lhs" "items" (the index tuple, flattened)
 *   SLICE      "items": lo, hi, step (NULL where absent)
 *   TUPLE LIST "items"                   IFEXP "items": test, yes, no
 *   STARRED    "lhs"; "op" POW: '**'     OTHER "name"
 *   COMP       "lhs" (the element) "fors" "is_list"; "items": all parts of
 *              "fors" in their order, for those who look at every name; "op"
 *              LT, GT: of pairs, the one with the least or greatest first part;
 *              "name": a local that the source does not have, to gather in
 *   LAMBDA     "func" (index in Unit.funcs) "items": the defaults of its last
 *              parameters, evaluated here; "keys": those parameters
 *   NAMED      "lhs" (a NAME) "rhs"
 *   DICT       "items": keys and values by turns
 *   SEQ        "block", then "lhs"       SOME  "lhs" */
struct AExpr {
    AKind kind;
    AOp op;
    Loc loc;
    const Type *type; /* NULL before inference, but for CONST; OTHER: np.uint64
                         for integers from 2**63 up to 2**64 */
    Sym name;
    AExpr *lhs;
    AExpr *rhs;
    AExprVec items;
    VEC(AOp) ops;
    VEC(Sym) keys;
    const Binding *binding;
    const Version *version;
    struct AFunc *callee;
    VEC(AFor) fors;
    bool is_list;
    bool outside; /* LIST, DICT: made by Python, compiled in by content */
    int func;
    ABlock block;
};

/* Statements, as Python's ast has them; each line names the fields of AStmt
 * that it uses.  Typed trees have no dead branches, and CONVERTs where the
 * versions of a name meet. */
typedef enum ASKind {
    AS_EXPR,   /* "value" */
    AS_ASSIGN, /* "targets" = "value" */
    AS_AUG,    /* "targets"[0] "op"= "value" */
    AS_FOR,    /* for "targets"[0] in "value": "body"; else: "orelse" */
    AS_WHILE,  /* while "value": "body"; else: "orelse" */
    AS_IF,     /* if "value": "body"; else: "orelse" */
    AS_RETURN, /* "value" or NULL; typed trees: it becomes "to", and "body"
                  holds the CONVERTs of a join */
    AS_BREAK,
    AS_CONTINUE,
    AS_PASS, /* typed trees: "body" holds the CONVERTs of a join */
    AS_ASSERT, /* "value"; the message is never evaluated natively */
    AS_RAISE, /* typed trees: "name" says why a statement always raises */
    AS_BLOCK,  /* "body", as if it stood there: 'try' without its handlers,
                  which Python runs when a failed check repeats the call */
    AS_WITH,   /* with "value" as "targets"[0], if any: "body" */
    AS_DELETE, /* del "targets" */
    AS_OTHER, /* "name" is Python's class name */
    /* only in typed trees: */
    AS_CONVERT, /* "to" = "from", converted at a join */
    AS_SCOPE,   /* "body", which LEAVEs in it may leave early */
    AS_LEAVE,   /* leaves the SCOPE "scope" */
} ASKind;

/* A statement; the comment of ASKind says which fields it uses, all others are
 * zero.  "name" is Python's class name of an OTHER, "op" that of 'a += b'.
 * "key" of a FOR that inference makes tells it from other loops, like "value"
 * of one in the source, however often it is made. */
struct AStmt {
    ASKind kind;
    AOp op;
    Loc loc;
    Sym name;
    AExprVec targets;
    AExpr *value;
    ABlock body;
    ABlock orelse;
    const Version *to;
    const Version *from; /* NULL: "to" becomes unbound */
    struct AStmt *scope;
    unsigned kinds; /* WITH in typed trees: a bit per Warn that is ignored */
    const AExpr *key;
    bool inner; /* FOR made by inference: a break leaves the loop around too */
};

/* A parameter of a Python function: "dflt" is evaluated when the function is
 * defined, so its value is known here. */
typedef struct AParam {
    Sym name;
    AExpr *dflt; /* NULL, or the default's value as A_CONST or A_TUPLE */
    bool keyword_only;
    const Version *version; /* after inference */
} AParam;

/* An attribute of an argument that the function sets, after inference: argument
 * "arg" of the signature gets what "value" holds in the end, if "flag" says so;
 * NULL: it does. */
typedef struct ACommit {
    int arg;
    const Version *value;
    const Version *flag;
} ACommit;

/* A Python function, as written or as typed for one signature.
 *
 *   "name", "qualname"  as Python has them; "loc"  of the 'def'.
 *   "params", "npositional_only"  the first so many take no keyword.
 *   "varargs", "kwargs"  the names after '*' and '**', NULL: none.
 *   "outer"  the function in whose body it is defined, NULL: none; names that
 *       are neither its own nor global are those of "outer".
 *   "captured"  its names that functions inside of it read; "nonlocals"  the
 *       names that it assigns in "outer".
 *   "body"  its statements.
 *   "result", "returned"  after inference: the type, and the version to which
 *       every 'return' converts.
 *   "commits"  of the entry after inference, in the order of the first
 *       assignments. */
typedef struct AFunc {
    Sym name;
    Sym qualname;
    Loc loc;
    int npositional_only;
    VEC(AParam) params;
    Sym varargs;
    Sym kwargs;
    struct AFunc *outer;
    VEC(Sym) captured;
    VEC(Sym) nonlocals;
    ABlock body;
    const Type *result;      /* after inference */
    const Version *returned; /* after inference: what is returned */
    VEC(ACommit) commits;
} AFunc;

/* What a class says of an attribute that the unit's source names: "func" of a
 * method, which gets the object as first argument if it "binds" it; -1: a value
 * of the class, or none. */
typedef struct AClassAttr {
    Sym name;
    int func;
    bool binds;
    bool is_property;
    bool own; /* of a class in Python, and not what 'object' or 'tuple' has */
} AClassAttr;

/* A class of which an object was an argument, or which was one itself.
 *
 *   "is_tuple"  a named tuple; "fields"  its items, or what an object that is
 *       made here has.
 *   "inner"  of the library: the user must not get its objects.
 *   "makes"  of a class that may be called: the number of that whose objects it
 *       makes; -1: it may not.  "maker"  of the latter: the function that gives
 *       the fields for the arguments; -1: there is none. */
typedef struct AClass {
    Sym name;
    VEC(AClassAttr) attrs;
    bool is_tuple;
    bool inner;
    VEC(Sym) fields;
    int makes;
    int maker;
} AClass;

/* A function and all user functions it reaches; funcs.at[0] is the entry.
 * Hidden arguments ("nhidden" arrays among the globals) follow the entry's own.
 * "attrs" are the names of all attributes in the source, "stores" those that
 * are assigned; "classes" are in the order in which they were met.  "approx":
 * bits of Relax.  "arena" and "diags" are those of the whole compilation. */
typedef struct Unit {
    Arena *arena;
    Diags *diags;
    VEC(AFunc *) funcs;
    int nhidden;
    int minor; /* of Python 3 */
    unsigned approx;
    Map attrs;
    Map stores;
    VEC(AClass) classes;
} Unit;

/* Nodes of which all but these fields are zero; the builder sets the rest. */
AExpr *ast_expr(Arena *arena, AKind kind, Loc loc);
AStmt *ast_stmt(Arena *arena, ASKind kind, Loc loc);
/* Makes names of the entries of local dicts that are only used by known keys
 * (fields.c). */
void ast_split_dicts(Arena *arena, AFunc *func);
void ast_print(const AFunc *func, Str *out); /* the dump 'A', types too */
#endif
