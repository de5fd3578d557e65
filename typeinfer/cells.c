/* Cells: attributes that are assigned, as names that all functions share.
 *
 *     def step(self, x):            cell `self.n`, an int at the beginning
 *         self.n += 1               self.n.2 = self.n.1 + 1
 *         if x > 0: self.n = 0      self.n.4 := self.n.2 or self.n.3
 *         return self.n             commit: self.n = self.n.4
 *
 * A cell is one more name of every function that is run: a call begins with the
 * versions that it has in the caller, and the caller goes on with those at the
 * call's ends.  So branches and loops join cells like any other name, and an
 * attribute in a hot loop is a variable.
 *
 * Beside each cell stands its flag, a name that is true once the attribute was
 * assigned.  What is not assigned on any path to the end is not written back:
 * an attribute of the class, or one that isn't there, stays what it is.
 *
 * Objects that are made in the call have cells, too, if their attributes may be
 * assigned: those that are not made in a loop, so that one place makes one
 * object (class.c).
 *
 * A loop must know what it may assign before it is run: attributes that stand
 * in it as targets, and those that are targets in what it may call. */
#include <string.h>

#include "typeinfer/list.h"

/* --- the cells ------------------------------------------------------------ */

/* The argument as the source has it: `self.camera.zoom`. */
static const char *
path_of(Infer *I, int arg)
{
    const AFunc *entry = I->unit->funcs.at[0];
    const SigArg *at = &I->sig->args[arg];
    if (at->parent > 0) {
        const char *base = path_of(I, at->parent - 1);
        return str_printf(I->arena, "%s.%s", base, at->attr);
    }
    return arg < entry->params.n ? entry->params.at[arg].name
                                 : str_printf(I->arena, "<%d>", arg);
}

/* All attributes whose name is a target somewhere in the source. */
void
cells_begin(Infer *I)
{
    for (int i = 0; i < I->sig->nargs; i++) {
        const SigArg *arg = &I->sig->args[i];
        if (arg->parent == 0 || !arg->writable ||
            !map_has(&I->unit->stores, arg->attr)) {
            continue;
        }
        const char *path = path_of(I, i);
        Cell cell = {.arg = i, .attr = arg->attr, .name = sym(path)};
        cell.flag = sym(str_printf(I->arena, "%s is set", path));
        vec_push(I->arena, &I->cells, cell);
    }
    for (int i = 0; i < I->made.n; i++) {
        const AClass *class = &I->unit->classes.at[I->made.at[i]];
        for (int k = 0; k < class->fields.n; k++) {
            Cell cell = {.arg = -1, .made = i + 1};
            cell.attr = class->fields.at[k];
            const char *path = str_printf(I->arena, "%s %d.%s", class->name,
                                          i + 1, cell.attr);
            cell.name = sym(path);
            cell.flag = sym(str_printf(I->arena, "%s is set", path));
            vec_push(I->arena, &I->cells, cell);
        }
    }
}

Cell *
cell_of_made(Infer *I, int made, Sym attr)
{
    for (int i = 0; i < I->cells.n; i++) {
        Cell *cell = &I->cells.at[i];
        if (cell->made == made + 1 && cell->attr == attr) {
            return cell;
        }
    }
    return NULL;
}

Cell *
cell_of(Infer *I, int arg)
{
    for (int i = 0; i < I->cells.n; i++) {
        if (arg >= 0 && I->cells.at[i].arg == arg) {
            return &I->cells.at[i];
        }
    }
    return NULL;
}

/* Calls 'fn' for the names of all cells. */
void
cells_name(Infer *I, NameFn fn, void *data)
{
    for (int i = 0; i < I->cells.n; i++) {
        fn(data, I->cells.at[i].name);
        fn(data, I->cells.at[i].flag);
    }
}

/* A flag that is bound once, before anything runs. */
static Ver *
open_flag(Infer *I, bool value, ABlock *out)
{
    Loc loc = I->unit->funcs.at[0]->loc;
    AExpr *target = ast_expr(I->arena, A_NAME, loc);
    AExpr *e = ast_expr(I->arena, A_CONST, loc);
    e->type = target->type = type_known_bool(I->arena, value);
    target->name = sym(value ? "set" : "unset");
    Ver *ver = ver_new(I, target->name, e->type, loc);
    target->version = &ver->base;
    push_assign(I, target, e, out);
    return ver;
}

/* A named tuple becomes the tuple that it is, so that it can be joined with
 * others. */
static Ver *
open_value(Infer *I, Sym name, Ver *ver, ABlock *out)
{
    if (!record_is_tuple(I, ver->base.type)) {
        return ver;
    }
    Loc loc = I->unit->funcs.at[0]->loc;
    AExpr *from = ast_expr(I->arena, A_NAME, loc);
    from->version = &ver->base;
    from->type = ver->base.type;
    AExpr *value = take_seq(I, record_value(I, from), out);
    AExpr *target = ast_expr(I->arena, A_NAME, loc);
    Ver *made = ver_new(I, name, value->type, loc);
    target->name = name;
    target->version = &made->base;
    target->type = value->type;
    push_assign(I, target, value, out);
    return made;
}

/* Binds the cells of the entry to what the attributes hold. */
void
cells_open(Infer *I, ABlock *out)
{
    int first = I->unit->funcs.at[0]->params.n;
    if (I->cells.n == 0) {
        return;
    }
    I->yes = open_flag(I, true, out);
    I->no = open_flag(I, false, out);
    for (int i = 0; i < I->cells.n; i++) {
        const Cell *cell = &I->cells.at[i];
        I->frame->env.at[name_number(I->frame, cell->flag)] = I->no;
        if (cell->arg < 0) {
            continue; /* nothing was made yet */
        }
        const Type *type = I->sig->args[cell->arg].type;
        Ver *ver = (Ver *)I->hidden[cell->arg - first]; /* its first member */
        bool absent = type->kind == TY_RECORD && type->ival < 0;
        Ver **at = I->frame->env.at;
        ver = absent ? NULL : open_value(I, cell->name, ver, out);
        at[name_number(I->frame, cell->name)] = ver;
    }
}

/* Names of parameters that are assigned. */
typedef struct Assigned {
    Sym name;
    bool found;
} Assigned;

/* For names_of_block. */
static void
note_assigned(void *data, Sym name)
{
    Assigned *at = data;
    at->found |= at->name == name;
}

void
cells_params(Infer *I, const AFunc *func, ABlock *out)
{
    for (int i = 0; i < func->params.n; i++) {
        Assigned at = {.name = func->params.at[i].name};
        names_of_block(&func->body, note_assigned, &at);
        if (at.found) {
            Ver **ver = &I->frame->env.at[name_number(I->frame, at.name)];
            *ver = open_value(I, at.name, *ver, out);
        }
    }
}

/* --- calls ---------------------------------------------------------------- */

/* For each name of a cell: from one frame to another. */
typedef struct CellMove {
    Infer *I;
    const Frame *from;
    Frame *to;
    bool changed;
} CellMove;

/* For cells_name. */
static void
enter_cell(void *data, Sym name)
{
    const CellMove *move = data;
    move->to->env.at[name_number(move->to, name)] =
        move->from->env.at[name_number(move->from, name)];
}

/* The function of 'frame' begins, called by the present one. */
void
cells_enter(Infer *I, Frame *frame)
{
    CellMove move = {.I = I, .from = I->frame, .to = frame};
    cells_name(I, enter_cell, &move);
}

/* What a cell is where all returns of 'frame' meet.  It may have been made in a
 * loop, whose versions have no name outside, so it is made anew. */
static Ver *
ends_of_cell(Infer *I, Frame *frame, Sym name, Ver *entry)
{
    int number = name_number(frame, name);
    I->taken.n = 0;
    Ver *ver = exits_join_name(I, &frame->returns, number, name, 0);
    bool joined = false;
    for (int i = 0; i < frame->returns.n; i++) {
        const Exit *exit = &frame->returns.at[i];
        joined |= !exit->env.dead && exit->env.at[number] != ver;
    }
    if (ver == NULL || ver == entry || joined || ver->conflict != NULL
        || ver == I->yes || ver == I->no) {
        return ver;
    }
    Ver *own = ver_new(I, name, ver->base.type, ver->base.loc);
    for (int i = 0; i < frame->returns.n; i++) {
        if (!frame->returns.at[i].env.dead) {
            add_convert(I, frame->returns.at[i].converts, own, ver);
        }
    }
    return own;
}

/* For cells_name. */
static void
leave_cell(void *data, Sym name)
{
    CellMove *move = data;
    Frame *frame = (Frame *)(uintptr_t)move->from;
    Ver **at = &move->to->env.at[name_number(move->to, name)];
    Ver *ver = ends_of_cell(move->I, frame, name, *at);
    move->changed |= ver != *at;
    *at = ver;
}

/* Does the function return at all? */
static bool
returns(const Frame *frame)
{
    bool any = false;
    for (int i = 0; i < frame->returns.n; i++) {
        any |= !frame->returns.at[i].env.dead;
    }
    return any;
}

/* The call of the function of 'frame' is over, and the present one goes on. */
void
cells_leave(Infer *I, Frame *frame, Loc loc)
{
    CellMove move = {.I = I, .from = frame, .to = I->frame};
    if (!returns(frame)) {
        return;
    }
    cells_name(I, leave_cell, &move);
    if (move.changed && I->conditional > 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Call it in a statement of its own.",
                     "a call that assigns attributes, in a part of an "
                     "expression that is not always evaluated, is not "
                     "translated");
    }
}

/* Has a cell another version than in 'before', of the present frame? */
bool
cells_changed(const Infer *I, const Env *before)
{
    bool changed = false;
    for (int i = 0; i < I->cells.n; i++) {
        int number = name_number(I->frame, I->cells.at[i].name);
        int flag = name_number(I->frame, I->cells.at[i].flag);
        changed |= before->at[number] != I->frame->env.at[number]
                   || before->at[flag] != I->frame->env.at[flag];
    }
    return changed;
}

/* --- what loops may assign ------------------------------------------------ */

/* Attributes that a piece of source may assign, itself or by calls. */
typedef struct Stores {
    Infer *I;
    Map *names;
    bool all; /* it may call anything */
} Stores;

static void stores_of_func(Stores *s, int func);
static void stores_of_block(Stores *s, const ABlock *block);

/* Attributes among targets. */
static void
stores_of_target(Stores *s, const AExpr *target)
{
    if (target->kind == A_ATTR) {
        map_set(s->names, target->name, s);
    }
    if (target->kind == A_STARRED) {
        stores_of_target(s, target->lhs);
    }
    bool display = target->kind == A_TUPLE || target->kind == A_LIST;
    for (int i = 0; display && i < target->items.n; i++) {
        stores_of_target(s, target->items.at[i]);
    }
}

/* Whatever may be run by this name in any class. */
static void
stores_of_attr(Stores *s, Sym name)
{
    const Unit *unit = s->I->unit;
    for (int i = 0; i < unit->classes.n; i++) {
        const AClass *class = &unit->classes.at[i];
        for (int k = 0; k < class->attrs.n; k++) {
            const AClassAttr *attr = &class->attrs.at[k];
            if (attr->name == name && attr->func >= 0) {
                stores_of_func(s, attr->func);
            }
        }
    }
}

/* A function by its name at the top is known, a local one is not. */
static void
stores_of_callee(Stores *s, const AExpr *callee)
{
    const Binding *binding = callee->binding;
    if (callee->kind == A_ATTR) {
        return; /* its name is looked at as that of any attribute */
    }
    bool known = callee->kind == A_GLOBAL && binding->kind != BIND_USER;
    if (callee->kind == A_GLOBAL && binding->kind == BIND_USER) {
        stores_of_func(s, binding->func);
    } else if (!known) {
        s->all = true;
    }
}

/* The parts of comprehensions are among their items, targets too. */
static void
stores_of_expr(Stores *s, const AExpr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == A_CALL) {
        stores_of_callee(s, e->lhs);
        if (e->lhs->kind == A_ATTR && e->lhs->binding != NULL) {
            stores_of_func(s, e->lhs->binding->func);
        }
    }
    if (e->kind == A_ATTR) {
        stores_of_attr(s, e->name);
    }
    for (int i = 0; i < e->fors.n; i++) {
        stores_of_target(s, e->fors.at[i].target);
    }
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        stores_of_expr(s, item);
        bool passed = item != NULL && item->kind == A_GLOBAL
                      && item->binding->kind == BIND_USER;
        if (passed) {
            stores_of_func(s, item->binding->func); /* it may be called */
        }
    }
    stores_of_expr(s, e->lhs);
    stores_of_expr(s, e->rhs);
}

/* One statement and what is in it. */
static void
stores_of_stmt(Stores *s, const AStmt *stmt)
{
    for (int i = 0; i < stmt->targets.n; i++) {
        stores_of_target(s, stmt->targets.at[i]);
        stores_of_expr(s, stmt->targets.at[i]);
    }
    stores_of_expr(s, stmt->value);
    stores_of_block(s, &stmt->body);
    stores_of_block(s, &stmt->orelse);
}

static void
stores_of_block(Stores *s, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        stores_of_stmt(s, block->at[i]);
    }
}

/* Each function once: 'names' remembers it. */
static void
stores_of_func(Stores *s, int func)
{
    const AFunc *body = s->I->unit->funcs.at[func];
    if (!map_has(s->names, body)) {
        map_set(s->names, body, s);
        stores_of_block(s, &body->body);
    }
}

/* Calls 'fn' for the names of cells that the loop may assign. */
void
cells_of_loop(Infer *I, const AStmt *loop, NameFn fn, void *data)
{
    if (I->cells.n == 0) {
        return;
    }
    Map *names = map_get(&I->stores, loop);
    if (names == NULL) {
        names = ARENA_NEW(I->arena, Map);
        *names = map_new(I->arena);
        Stores s = {.I = I, .names = names};
        stores_of_stmt(&s, loop);
        for (int i = 0; s.all && i < I->unit->stores.n; i++) {
            map_set(names, I->unit->stores.entries[i].key, names);
        }
        map_set(&I->stores, loop, names);
    }
    for (int i = 0; i < I->cells.n; i++) {
        const Cell *cell = &I->cells.at[i];
        if (map_has(names, cell->attr)) {
            fn(data, cell->name);
            fn(data, cell->flag);
        }
    }
}

/* --- the end -------------------------------------------------------------- */

/* The attributes to be set, in the order of their first assignment. */
void
cells_commit(Infer *I, const Frame *frame, AFunc *typed)
{
    if (!returns(frame)) {
        return;
    }
    Frame *ends = (Frame *)(uintptr_t)frame;
    for (int order = 1; order <= I->stored; order++) {
        for (int i = 0; i < I->cells.n; i++) {
            const Cell *cell = &I->cells.at[i];
            if (cell->order != order || cell->arg < 0) {
                continue;
            }
            Ver *flag = ends_of_cell(I, ends, cell->flag, I->no);
            Ver *ver = ends_of_cell(I, ends, cell->name, NULL);
            if (flag == NULL || flag == I->no || ver == NULL) {
                continue;
            }
            if (ver->conflict != NULL) {
                report_conflict(I, cell->name, ver, typed->loc);
            }
            ACommit commit = {.arg = cell->arg, .value = &ver->base};
            commit.flag = flag == I->yes ? NULL : &flag->base;
            vec_push(I->arena, &typed->commits, commit);
        }
    }
}

/* --- a check -------------------------------------------------------------- */

/* What the typed tree binds and reads. */
typedef struct Bound {
    Map made;
    Map read;
} Bound;

static void bound_block(Bound *b, const ABlock *block);

static void
bound_expr(Bound *b, const AExpr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == A_NAME && e->version != NULL) {
        map_set(&b->read, e->version, b);
    }
    bound_expr(b, e->lhs);
    bound_expr(b, e->rhs);
    for (int i = 0; i < e->items.n; i++) {
        bound_expr(b, e->items.at[i]);
    }
    if (e->callee != NULL) {
        bound_block(b, &e->callee->body);
    }
    bound_block(b, &e->block);
}

static void
bound_target(Bound *b, const AExpr *e)
{
    if (e->kind == A_NAME && e->version != NULL) {
        map_set(&b->made, e->version, b);
    } else if (e->kind == A_TUPLE || e->kind == A_LIST) {
        for (int i = 0; i < e->items.n; i++) {
            bound_target(b, e->items.at[i]);
        }
    } else if (e->kind == A_STARRED) {
        bound_target(b, e->lhs);
    } else {
        bound_expr(b, e);
    }
}

static void
bound_block(Bound *b, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        for (int k = 0; k < s->targets.n; k++) {
            bound_target(b, s->targets.at[k]);
        }
        bound_expr(b, s->value);
        if (s->kind == AS_CONVERT) {
            map_set(&b->made, s->to, b);
            if (s->from != NULL) {
                map_set(&b->read, s->from, b);
            }
        }
        bound_block(b, &s->body);
        bound_block(b, &s->orelse);
    }
}

/* Is the version one of a cell? */
static bool
is_cell_version(const Infer *I, const Version *version)
{
    bool found = false;
    for (int i = 0; i < I->cells.n; i++) {
        found |= I->cells.at[i].name == version->name
                 || I->cells.at[i].flag == version->name;
    }
    return found;
}

void
cells_check(Infer *I, const AFunc *typed)
{
    if (I->cells.n == 0) {
        return;
    }
    Bound b = {.made = map_new(I->arena), .read = map_new(I->arena)};
    bound_block(&b, &typed->body);
    for (int i = 0; i < typed->commits.n; i++) {
        const ACommit *commit = &typed->commits.at[i];
        map_set(&b.read, commit->value, &b);
        if (commit->flag != NULL) {
            map_set(&b.read, commit->flag, &b);
        }
    }
    for (int i = 0; i < b.read.n; i++) {
        const Version *version = b.read.entries[i].key;
        if (is_cell_version(I, version) && !map_has(&b.made, version)) {
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, version->loc,
                         "Call it in a statement of its own.",
                         "a call that assigns attributes is not translated "
                         "in this expression");
        }
    }
}
