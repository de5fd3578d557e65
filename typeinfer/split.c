/* Branches after which the program is two.
 *
 *     if grayscale:               if grayscale:
 *         c = np.max(c)               c = np.max(c);  use(c)
 *     use(c)                -->   else:
 *                                     use(c)
 *
 * A name that has one type on one path and another on the other can be no one
 * variable.  If it is read after the paths have met, inference begins again
 * with what follows the 'if' in its block written out in both branches
 * (Infer.unroll has the condition as key).  At the end of that block the paths
 * meet after all; if the name is still read, the next 'if' outwards that has
 * statements after it is next ("tail").
 *
 * A choice between values of no common type is such an 'if' as well, if it is
 * all that is assigned:
 *
 *     order += line if odd else line[::-1]
 *       -->  if odd: order += line
 *            else:   order += line[::-1]
 *
 * What is written out twice is small, and so is the number of times: nobody
 * should wait for a program that is larger than what was written.
 */
#include "typeinfer/list.h"

enum { MOST_REST = 1500, MOST_SPLITS = 12 };

/* 'block' with the statements of 'rest' from 'first' after it. */
static ABlock
with_rest(Infer *I, const ABlock *block, const ABlock *rest, int first)
{
    ABlock out = {0};
    for (int i = 0; i < block->n; i++) {
        vec_push(I->arena, &out, block->at[i]);
    }
    for (int i = first; i < rest->n; i++) {
        vec_push(I->arena, &out, rest->at[i]);
    }
    return out;
}

/* Has the 'if' at 'i' to take what follows it into its branches?  Then that
 * statement is the answer, with which 'block' ends; else NULL. */
AStmt *
split_branch(Infer *I, const ABlock *block, int i)
{
    const AStmt *s = block->at[i];
    if (s->kind != AS_IF || i + 1 == block->n ||
        map_get(&I->unroll, s->value) == NULL || I->splits >= MOST_SPLITS) {
        return NULL;
    }
    ABlock rest = with_rest(I, &(ABlock){0}, block, i + 1);
    if (block_size(&rest) > MOST_REST) {
        return NULL;
    }
    I->splits++;
    AStmt *copy = arena_copy(I->arena, s, sizeof(*s));
    copy->body = with_rest(I, &s->body, &rest, 0);
    copy->orelse = with_rest(I, &s->orelse, &rest, 0);
    return copy;
}

/* The sides of the choice 'e' have no common type: does it help if it is an
 * 'if'?  Returns if that was tried. */
void
demand_choice(Infer *I, const AExpr *e, const AExpr *cond, const Type *yes,
              const Type *no)
{
    if (join_types(I, yes, no) == NULL) {
        infer_pin(I, cond_origin(cond));
        list_settle(I, yes, no);
        demand_unroll(I, e);
    }
}

/* One branch of 'a = x if c else y'. */
static void
add_side(Infer *I, const AStmt *s, AExpr *value, ABlock *out)
{
    AStmt *copy = arena_copy(I->arena, s, sizeof(*s));
    copy->value = value;
    vec_push(I->arena, out, copy);
}

/* 'a = x if c else y' as an 'if' with two assignments; NULL: it need not be. */
AStmt *
choice_as_if(Infer *I, const AStmt *s)
{
    bool name = s->kind == AS_AUG && s->targets.at[0]->kind == A_NAME;
    if ((s->kind != AS_ASSIGN && s->kind != AS_RETURN && !name) ||
        s->value == NULL || s->value->kind != A_IFEXP ||
        map_get(&I->unroll, s->value) == NULL) {
        return NULL;
    }
    AExpr *const *items = s->value->items.at;
    AStmt *choice = ast_stmt(I->arena, AS_IF, s->loc);
    choice->value = items[0];
    add_side(I, s, items[1], &choice->body);
    add_side(I, s, items[2], &choice->orelse);
    return choice;
}

/* The name may be an array or, which is as good, a number, where it has to be
 * one of them. */
void
demand_split(Infer *I, const AExpr *name)
{
    Plain number;
    const Ver *ver = (const Ver *)name->version; /* its first member */
    if (type_plain_alt(name->type, &number)) {
        demand_unroll(I, ver->branch);
    }
}
