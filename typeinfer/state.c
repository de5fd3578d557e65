/* Environments, versions and joins.
 *
 *     if c:                 if c.1:
 *         x = 1                 x.2 = 1;    x.4 := x.2
 *     else:          -->    else:
 *         x = 2.5               x.3 = 2.5;  x.4 := x.3
 *     use(x)                use(x.4)        x.4 is float or int
 *
 * An environment maps each local name to its present version.  Paths are run
 * one after the other, each from a copy; where they meet, a name that has one
 * version on all of them keeps it, and any other gets a new one, to which each
 * path converts at its end.
 *
 * A join makes versions for all names that differ, whether they are used or
 * not: lower leaves out the conversions to those that nobody reads.  Types that
 * can't be joined make a version that may not be read.
 *
 * Conflicts are no errors here: a temporary may well be an array on one path
 * and a number on the other, as long as it is set again before it is read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "csrc/base/approx.h"
#include "typeinfer/list.h"

/* Larger values are data rather than choices. */
enum { MAX_PINNED = 16 };

/* --- types ---------------------------------------------------------------- */

bool
floats_meet(const Infer *I)
{
    return (I->unit->approx & RELAX_F32) != 0;
}

const Type *
join_types(Infer *I, const Type *lhs, const Type *rhs)
{
    return type_join(I->arena, lhs, rhs, floats_meet(I));
}

const Type *
carried_type(Infer *I, const Type *type, const Type *entry, const Type *rhs)
{
    bool single = rhs != NULL && rhs->kind == TY_NUM && !rhs->weak &&
                  rhs->dtype == DT_F32;
    bool known = single && type != NULL && entry != NULL &&
                 entry->kind == TY_NUM && entry->known;
    return known && type_equal(type_forget(I->arena, entry), type) ? entry
                                                                   : type;
}

/* --- ends ----------------------------------------------------------------- */

/* Is the place in a function of vizgen.library? */
static bool
in_library(const Infer *I, Loc loc)
{
    const Diags *diags = I->unit->diags;
    const char *path = loc.line > 0 && loc.file < diags->sources.n
                           ? diags->sources.at[loc.file].path
                           : NULL;
    return path != NULL && strstr(path, "/vizgen/library/") != NULL;
}

/* What is refused in a function of the library is told at the user's call. */
static void
refuse_at(Infer *I, DiagId id, Loc loc, const char *message)
{
    const Frame *f = I->frame;
    while (f != NULL && f->caller != NULL && in_library(I, f->call)) {
        f = f->caller;
    }
    if (!in_library(I, loc) || f == NULL || f->caller == NULL) {
        diag_refuse(I->unit->diags, id, loc, "%s", message);
        return;
    }
    const char *path = I->unit->diags->sources.at[loc.file].path;
    diag_refuse(I->unit->diags, id, f->call,
                "`%s` is not translated for these arguments: %s (%s:%u)",
                f->func->name, message, strstr(path, "vizgen/library/"),
                (unsigned)loc.line);
}

/* The first refusal ends inference: later ones would often follow from it.
 * Three things come before: what lists hold may not be known yet, what always
 * fails is Python's to raise, and a loop that is written out may do without
 * what can't be translated. */
void
infer_refuse(Infer *I, DiagId id, Loc loc, const char *help, const char *format,
             ...)
{
    char message[512];
    va_list args;
    if (I->lists_grew) {
        infer_again(I); /* the reason may be what was not known yet */
    }
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (id == DIAG_ALWAYS_FAILS && I->raise != NULL) {
        I->raised = arena_copy(I->arena, message, strlen(message) + 1);
        I->raised_loc = loc;
        longjmp(*I->raise, 1);
    }
    unroll_instead(I);
    refuse_at(I, id, loc, message);
    if (help != NULL) {
        diag_help(I->unit->diags, "%s", help);
    }
    I->again = false;
    longjmp(I->stop, 1);
}

/* The demands are kept in I->sig and I->demoted. */
void
infer_again(Infer *I)
{
    I->again = true;
    longjmp(I->stop, 1);
}

/* --- origins: axes and values of arguments -------------------------------- */

/* Origins number the axes of each argument and, after them, its value. */
int
origin_of_size(int arg, int axis)
{
    return 1 + arg * (MAX_RANK + 1) + axis;
}

/* The origin of the value of argument 'arg'. */
int
origin_of_value(int arg)
{
    return 1 + arg * (MAX_RANK + 1) + MAX_RANK;
}

/* 0 for known sizes and for those of which nothing is known. */
int
size_origin(int64_t size)
{
    return size < -1 ? (int)(-1 - size) : 0;
}

/* The Type.size of an axis of unknown size with an origin. */
int64_t
size_with_origin(int origin)
{
    return -1 - (int64_t)origin;
}

/* Axes are pinned if they are small enough for a vector; values if they are
 * flags, modes and the like. */
void
infer_pin(Infer *I, int origin)
{
    bool value = origin > 0 && (origin - 1) % (MAX_RANK + 1) == MAX_RANK;
    if (!(value ? I->sig->open_values : I->sig->open_sizes)) {
        infer_pin_anyhow(I, origin);
    }
}

/* The fact becomes part of the signature, if it is small enough to be a choice
 * of the program rather than data; the dispatcher will test it at each call. */
void
infer_pin_anyhow(Infer *I, int origin)
{
    if (origin <= 0) {
        return;
    }
    SigArg *arg = &I->sig->args[(origin - 1) / (MAX_RANK + 1)];
    int axis = (origin - 1) % (MAX_RANK + 1);
    if (axis == MAX_RANK) {
        bool small = arg->ival >= -MAX_PINNED && arg->ival <= MAX_PINNED;
        if (arg->pin_value || !small) {
            return;
        }
        arg->pin_value = true;
    } else {
        bool small = arg->sizes[axis] >= 1 && arg->sizes[axis] <= MAX_LANES;
        if (arg->pin_size[axis] || !small) {
            return;
        }
        arg->pin_size[axis] = true;
    }
    I->lists = map_new(I->arena); /* types are narrower now */
    infer_again(I);
}

bool
origin_below(const Infer *I, int origin, int64_t limit)
{
    if (origin <= 0) {
        return false;
    }
    const SigArg *arg = &I->sig->args[(origin - 1) / (MAX_RANK + 1)];
    int axis = (origin - 1) % (MAX_RANK + 1);
    return (axis == MAX_RANK ? arg->ival : arg->sizes[axis]) < limit;
}

/* --- versions ------------------------------------------------------------- */

/* A version that nothing binds yet. */
Ver *
ver_new(Infer *I, Sym name, const Type *type, Loc loc)
{
    Ver *ver = ARENA_NEW(I->arena, Ver);
    ver->base.name = name;
    ver->base.id = I->next_version++;
    ver->base.type = type;
    ver->base.loc = loc;
    return ver;
}

/* A copy whose names can be bound without changing 'env'. */
Env
env_copy(Infer *I, const Env *env)
{
    Env copy = *env;
    copy.at = arena_copy(I->arena, env->at,
                         sizeof(Ver *) * (size_t)(I->frame->n + 1));
    return copy;
}

/* -1: not a local name. */
int
name_number(const Frame *frame, Sym name)
{
    return (int)(intptr_t)map_get(&frame->numbers, name) - 1;
}

/* Binding a name never touches the old version, which others may hold. */
Ver *
env_bind(Infer *I, Sym name, const Type *type, Loc loc)
{
    int number = name_number(I->frame, name);
    if (number < 0) {
        fatal("infer: `%s` is not a local name", name);
    }
    Ver *ver = ver_new(I, name, type, loc);
    I->frame->env.at[number] = ver;
    return ver;
}

/* --- joins ---------------------------------------------------------------- */

/* Notes a way to a join as it is now. */
void
add_exit(Infer *I, ExitVec *exits, Env env, ABlock *converts)
{
    Exit exit = {env_copy(I, &env), converts};
    vec_push(I->arena, exits, exit);
}

/* Conversions are added when all ways to the join are known; until then the
 * statement is empty. */
ABlock *
add_converts(Infer *I, ABlock *out, Loc loc)
{
    AStmt *s = ast_stmt(I->arena, AS_PASS, loc);
    vec_push(I->arena, out, s);
    return &s->body;
}

/* 'to' := 'from', or unbound when 'from' is NULL. Conflicts take nothing:
 * nobody may read them. */
void
add_convert(Infer *I, ABlock *out, Ver *to, Ver *from)
{
    if (to == from || to->conflict != NULL) {
        return;
    }
    AStmt *s = ast_stmt(I->arena, AS_CONVERT, to->base.loc);
    s->to = &to->base;
    s->from = from ? &from->base : NULL;
    vec_push(I->arena, out, s);
}

/* The first two versions that have no common type. */
static const Conflict *
new_conflict(Infer *I, const Ver *lhs, const Ver *rhs, int pin)
{
    Conflict *c = ARENA_NEW(I->arena, Conflict);
    c->lhs = lhs ? lhs->base.type : NULL;
    c->rhs = rhs ? rhs->base.type : NULL;
    c->lhs_loc = lhs ? lhs->base.loc : rhs->base.loc;
    c->rhs_loc = rhs ? rhs->base.loc : lhs->base.loc;
    c->pin = pin;
    c->loop = I->joining;
    return c;
}

/* Should a reference turn out to be a hindrance, the argument on which it
 * depends is pinned. */
static void
note_pin(Infer *I, const Type *type, int pin)
{
    if (type != NULL && type_is_memory(type) && type->ref && pin > 0) {
        I->objects.at[type->object].pin = pin;
    }
}

/* Adds what 'ver' holds to the join 'so_far', which began with 'first'. A known
 * value must fit the joined type: 300 is no uint8. */
static void
join_one(Infer *I, Ver *so_far, const Ver *first, const Ver *ver, int pin)
{
    const Type *lhs = so_far->base.type;
    const Type *rhs = ver ? ver->base.type : NULL;
    if (so_far->conflict != NULL) {
        return;
    }
    if (ver != NULL && ver->conflict != NULL) {
        so_far->conflict = ver->conflict;
    } else if (lhs != NULL || rhs != NULL) {
        const Type *joined = list_join(I, lhs, rhs, false);
        if (!type_keeps(lhs, joined) || !type_keeps(rhs, joined)) {
            joined = NULL;
        }
        so_far->base.type = join_objects(I, joined, lhs, rhs);
        note_pin(I, so_far->base.type, pin);
        if (joined == NULL) {
            so_far->conflict = new_conflict(I, first, ver, pin);
        }
    }
    if (so_far->conflict != NULL) {
        so_far->base.type = type_kind(I->arena, TY_POISON);
    }
}

/* If the name has one version on all ways, that is the answer and nothing is
 * converted. Unbound on all ways: NULL. Unbound on some: a maybe-type, which is
 * tested where the name is read. */
Ver *
exits_join_name(Infer *I, const ExitVec *exits, int number, Sym name, int pin)
{
    const Exit *first = NULL;
    Ver *ver = NULL;
    bool same = true;
    for (int i = 0; i < exits->n; i++) {
        const Exit *exit = &exits->at[i];
        if (exit->env.dead) {
            continue;
        }
        same &= first == NULL || first->env.at[number] == exit->env.at[number];
        first = first ? first : exit;
    }
    if (first == NULL || same) {
        return first ? first->env.at[number] : NULL;
    }
    Ver *begin = first->env.at[number];
    ver = ver_new(I, name, begin ? begin->base.type : NULL,
                  begin ? begin->base.loc : (Loc){.line = 0});
    ver->conflict = begin ? begin->conflict : NULL;
    ver->branch = begin && begin->branch ? begin->branch : I->joining;
    for (int i = 0; i < exits->n; i++) {
        const Exit *exit = &exits->at[i];
        if (!exit->env.dead && exit != first) {
            join_one(I, ver, begin, exit->env.at[number], pin);
        }
    }
    if (ver->base.type == NULL) {
        return NULL;
    }
    ver->base.type = carry_out(I, ver->base.type);
    for (int i = 0; i < exits->n; i++) {
        const Exit *exit = &exits->at[i];
        if (!exit->env.dead) {
            add_convert(I, exit->converts, ver, exit->env.at[number]);
        }
    }
    return ver;
}

/* All names, dead ways left out. */
Env
exits_join(Infer *I, const ExitVec *exits, int pin)
{
    Env out = {.dead = true};
    for (int i = 0; i < exits->n; i++) {
        if (!exits->at[i].env.dead) {
            out = out.dead ? env_copy(I, &exits->at[i].env) : out;
        }
    }
    if (out.dead) {
        out.at = ARENA_ARRAY(I->arena, Ver *, I->frame->n + 1);
        return out;
    }
    const Map *numbers = &I->frame->numbers;
    I->taken.n = 0;
    for (int i = 0; i < I->frame->n; i++) {
        Sym name = numbers->entries[i].key;
        out.at[i] = exits_join_name(I, exits, i, name, pin);
        list_take(I, exits, out.at[i], i);
    }
    for (int i = 0; i < I->frame->n; i++) {
        if (!list_alone(I, exits, &out, i)) {
            const Type *other = list_other(exits, out.at[i], i);
            Ver *apart = ver_new(I, out.at[i]->base.name, other,
                                 out.at[i]->base.loc);
            out.at[i]->conflict = new_conflict(I, out.at[i], apart, 0);
            out.at[i]->base.type = type_kind(I->arena, TY_POISON);
        }
    }
    return out;
}

/* Begins again with both arrays in memory if one of them is in registers; item
 * by item for tuples. */
void
settle_vectors(Infer *I, const Type *lhs, const Type *rhs)
{
    bool tuples = lhs != NULL && rhs != NULL && lhs->kind == TY_TUPLE &&
                  rhs->kind == TY_TUPLE && lhs->rank == rhs->rank;
    for (int i = 0; tuples && i < lhs->rank; i++) {
        settle_vectors(I, lhs->items[i], rhs->items[i]);
    }
    bool arrays = lhs != NULL && rhs != NULL && lhs->kind == TY_ARRAY &&
                  rhs->kind == TY_ARRAY && lhs->dtype == rhs->dtype &&
                  lhs->rank == rhs->rank && lhs->memory != rhs->memory;
    if (arrays) {
        demote_object(I, lhs->memory ? rhs->object : lhs->object);
    }
}

/* Pins the argument that decides between the two, if that is known; else
 * refuses (VZ-2006), naming both places. */
void
report_conflict(Infer *I, Sym name, const Ver *ver, Loc use)
{
    const Conflict *c = ver->conflict;
    infer_pin(I, c->pin);
    demand_unroll(I, c->loop);
    list_settle(I, c->lhs, c->rhs);
    settle_vectors(I, c->lhs, c->rhs);
    if (c->lhs && c->lhs->kind == TY_LIST && c->rhs &&
        c->rhs->kind == TY_LIST) {
        list_refuse_shared(I, name, use);
    }
    infer_refuse(I, DIAG_TYPE_CONFLICT, use,
                 "Use two names, or give it the same kind of value on both "
                 "paths.",
                 "`%s` may be %s (line %u) or %s (line %u) here, and no type "
                 "holds both", name,
                 type_text(I->arena, c->lhs), (unsigned)c->lhs_loc.line,
                 type_text(I->arena, c->rhs), (unsigned)c->rhs_loc.line);
}

/* --- blocks --------------------------------------------------------------- */

/* Opens a block inside the present one; the caller restores I->scope. */
int
block_enter(Infer *I)
{
    BlockScope scope = {.up = I->scope};
    vec_push(I->arena, &I->scopes, scope);
    I->scope = I->scopes.n - 1;
    return I->scope;
}

/* The block in which the statements of 'scope' stand after merging: a branch
 * whose other side returns is no block of its own any more. */
static int
scope_real(const Infer *I, int scope)
{
    while (scope > 0 && I->scopes.at[scope].merged) {
        scope = I->scopes.at[scope].up;
    }
    return scope;
}

/* Is the block open here, or a part of one that is? */
bool
block_reaches(const Infer *I, int scope)
{
    scope = scope_real(I, scope);
    for (int at = I->scope; at > 0; at = I->scopes.at[at].up) {
        if (scope_real(I, at) == scope) {
            return true;
        }
    }
    return scope == 0;
}
