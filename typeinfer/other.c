/* What has no row in the Ast, in the words of whoever reads the message.
 *
 * The loader keeps the name of what it can't read: the class of a node of
 * Python's `ast` ("Match", "JoinedStr"), the type of a constant ("int": one
 * that is too large, since the others have a Type) or words of its own.
 *
 *     x & 0xFFFFFFFFFFFFFFFFFF    an integer of more than 63 bits
 *     f"{x:.2f}"                  an f-string
 *
 * Such a node is refused only where it is reached: a function may contain what
 * has no translation as long as this specialisation does not run it.
 */
#include <ctype.h>
#include <string.h>

#include "typeinfer/state.h"

/* "name" is what the loader kept; "help" says what to do instead. */
typedef struct Other {
    const char *name;
    const char *words;
    const char *help;
} Other;

static const char texts[] =
    "Make the text outside of the function with the hot loops.";
static const char sets[] =
    "Use an array of flags, or a list: `x in [...]` is translated.";
static const char dicts[] =
    "Use a dict with constant keys, or arrays that are indexed by numbers.";
static const char imports[] =
    "Import it at the top of the file, or of the function.";

static const Other others[] = {
    {"Match", "a `match` statement", "Write it with `if` and `elif`."},
    {"TryStar", "`except*`", NULL},
    {"ClassDef", "a class inside a function",
     "Define it outside of the function."},
    {"Import", "an import inside a function", imports},
    {"ImportFrom", "an import inside a function", imports},
    {"AsyncFunctionDef", "an async function", NULL},
    {"FunctionDef", "this function inside of another",
     "Move it to the module; generators and functions with decorators are "
     "translated there only."},
    {"Yield", "`yield`", "Append to a list, and return that."},
    {"YieldFrom", "`yield from`", "Append to a list, and return that."},
    {"JoinedStr", "an f-string", texts},
    {"Set", "a set", sets},
    {"SetComp", "a set", sets},
    {"DictComp", "a dict that is made by a loop", dicts},
    {"bytes", "a bytes object", "Use an array of uint8."},
    {"ellipsis", "`...` as a value", NULL},
    {"int", "an integer of more than 63 bits",
     "Make it a NumPy scalar, `np.uint64(...)`, or write it as a float."},
};

/* A name of the loader's that has no row: words are taken as they are. */
static const char *
other_words(Infer *I, const char *name)
{
    bool class_of_node = isupper((unsigned char)name[0]);
    if (strchr(name, ' ') != NULL || name[0] == '`') {
        return name;
    }
    return str_printf(I->arena, class_of_node ? "`%s`" : "a value of type `%s`",
                      name);
}

void
refuse_other(Infer *I, Sym name, Loc loc)
{
    const char *words = NULL;
    const char *help = NULL;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].name, name) == 0) {
            words = others[i].words;
            help = others[i].help;
        }
    }
    infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, loc, help, "%s is not translated",
                 words ? words : other_words(I, name));
}
