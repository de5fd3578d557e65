"""Faults of the compiler, for tests/test_planted.py to plant.

Each is a line of a source, what stands in its place, and tests of which one
must fail with it.  They stand for what compilers of numeric code get wrong;
whoever changes such a line changes it here too.
"""
import dataclasses

TABLES = "tests/test_tables.py::"
FOUND = "tests/test_found.py::"
SOUND = "tests/test_soundness.py::"


@dataclasses.dataclass(frozen=True)
class Fault:
    """'via' names the C file that includes 'file' where this is no C file."""

    name: str
    file: str
    right: str
    wrong: str
    tests: tuple
    via: str = ""

    @property
    def source(self):
        return self.via or self.file


FAULTS = []


def fault(name, file, right, wrong, *tests, via=""):
    FAULTS.append(Fault(name, file, right, wrong, tests, via))


def prelude(name, right, wrong, *tests):
    """In the text that every generated file begins with."""
    fault(name, "csrc/emit/prelude_text.inc", right, wrong, *tests,
          via="csrc/emit/c.c")


# --- integers ---

prelude("quotients round towards zero",
        "return (T)(a / b - ((a % b != 0) & ((a ^ b) < 0)));",
        "return (T)(a / b);",
        TABLES + "test_integers_of_numpy[int8-int8]")
prelude("remainders have the sign of the dividend",
        "return (T)(r != 0 && (r ^ b) < 0 ? r + b : r);", "return r;",
        TABLES + "test_integers_of_python")
prelude("sums that wrap are not seen",
        "return __builtin_add_overflow(a, b, &r);", "r = 0; return r;",
        SOUND + "test_overflow_of_a_sum")
fault("masks for remainders by powers of two", "csrc/emit/cexpr.c",
      "        amount = k - 1;", "        amount = k;",
      TABLES + "test_constant_divisors")
fault("Python's ints wrap", "csrc/lower/num.c",
      "        emit_check(L, not_(L, over), X_OVERFLOW, o->loc);", "        ;",
      TABLES + "test_integers_beyond_64_bits[+]")
fault("division by zero is not checked", "csrc/lower/num.c",
      "    emit_check(L, either(L, unless, cond), X_ZERO_DIVISION, o->loc);",
      "    (void)unless; (void)cond;",
      TABLES + "test_integers_beyond_64_bits[//]")
fault("the smallest number by -1", "csrc/lower/num.c",
      "        emit_check(L, ok, X_OVERFLOW, o->loc);", "        (void)ok;",
      TABLES + "test_the_smallest_by_minus_one",
      TABLES + "test_integers_beyond_64_bits[//]")
fault("bits that a shift loses", "csrc/lower/num.c",
      "    emit_check(L, op2(L, E_EQ, back, o->x), X_OVERFLOW, o->loc);",
      "    (void)back;",
      TABLES + "test_integers_beyond_64_bits[<<]")
fault("stores of Python ints that don't fit", "csrc/lower/range.c",
      "    if (inside != NULL) {\n        emit_check(L, unless",
      "    if (false) {\n        emit_check(L, unless",
      TABLES + "test_stores_of_python_ints")

# --- floats ---

fault("products are contracted", "csrc/run/cc.c",
      '"-ffp-contract=off "', '"-ffp-contract=fast "',
      TABLES + "test_products_are_rounded")
fault("halves of negative numbers are shifts", "csrc/analysis/floats.c",
      "    bool exact = range.lo >= 0 && range.hi <= (Wide)two_53;",
      "    bool exact = range.hi <= (Wide)two_53;",
      "tests/test_quotients.py::test_cells[doubled]")
fault("x + 0.0 is x", "transforms/rules.c",
      "e->fval == value && !signbit(e->fval) == !signbit(value);",
      "e->fval == value;", TABLES + "test_floats_that_look_neutral")
fault("min and max prefer the later", "csrc/lower/math.c",
      "num_binop(L, min ? AO_LT : AO_GT, item, best, loc);",
      "num_binop(L, min ? AO_LE : AO_GE, item, best, loc);",
      TABLES + "test_python_extremes_of_zeros")
fault("a float of Python's kept in float32", "csrc/lower/num.c",
      "    emit_check(L, either(L, not_(L, o->flag), same), X_SPECULATE, o->loc);",
      "    (void)same;",
      SOUND + "test_python_floats_beside_float32")
fault("sums in the order of the elements", "csrc/base/sum.c",
      "        if (n < lanes) {", "        if (n < 64) {",
      TABLES + "test_sums_of_all_lengths")
fault("floats below the range of an integer", "csrc/lower/range.c",
      "    return both(L, low, high);\n}\n\n/* Is every value",
      "    (void)low;\n    return high;\n}\n\n/* Is every value",
      TABLES + "test_floats_to_integers")

# --- indices and slices ---

fault("negative indices are not wrapped", "csrc/lower/index.c",
      "Expr *wrapped = at < 0 ? op2(L, E_ADD, n, i) : i;",
      "Expr *wrapped = i;", "tests/test_indexing.py", FOUND + "test_found")
fault("the last index is out of range", "csrc/lower/index.c",
      "    emit_check(L, op2(L, E_LT, i, n), X_INDEX, loc);\n    return i;",
      "    emit_check(L, op2(L, E_LE, i, n), X_INDEX, loc);\n    return i;",
      "tests/test_checks.py::test_failing_check", "tests/test_indexing.py")
fault("bounds of slices are not cut off", "csrc/lower/index.c",
      "lo = lo == NULL ? zero : low ? op2(L, E_MAX, lo, zero) : lo;",
      "lo = lo == NULL ? zero : lo;", TABLES + "test_slices_of_arrays")
fault("downward slices begin one too far", "csrc/lower/index.c",
      "    lo = lo == NULL ? last : op2(L, E_MIN, lo, last);",
      "    lo = lo == NULL ? last : op2(L, E_MIN, lo, n);",
      TABLES + "test_slices_of_arrays")
fault("a slice's end below zero", "csrc/lower/index.c",
      "    hi = hi == NULL ? minus : end_low ? op2(L, E_MAX, hi, minus) : hi;",
      "    hi = hi == NULL ? minus : hi;",
      TABLES + "test_slices_of_arrays")
fault("an extent of one row less than nothing", "csrc/lower/index.c",
      "    return reuse(L, op2(L, E_MAX, count, int_const(L, 0)), loc);",
      "    return count;", TABLES + "test_slices_of_arrays")

# --- memory ---

fault("arguments never overlap", "transforms/checks.c",
      "    vec_push(h->arena, &h->places.at[0].checks, check);\n}\n\n/* A test",
      "    (void)check;\n}\n\n/* A test",
      "tests/test_checks.py::test_overlap",
      "tests/test_arrays.py::test_arguments_that_overlap")
fault("what is assigned is read too late", "csrc/lower/assign.c",
      "        return !other && !same;", "        return false;",
      "tests/test_arrays.py::test_program[stencil_in_place]")
fault("coinciding elements go to a kernel", "csrc/py/attempt.c",
      "    if (call->overlaps_itself) {",
      "    if (call->overlaps_itself && call->spec->told) {",
      "tests/test_dispatch.py::test_written_array_that_overlaps_itself")
fault("stores of old values are not undone", "transforms/commit.c",
      "        s->logged = after;", "        s->logged = false;",
      SOUND + "test_what_was_stored_before_a_check")
fault("a loop's later rounds don't count", "transforms/commit.c",
      "bool ends = after || block_may_end(&s->pre) || block_may_end(&s->body);",
      "bool ends = after;",
      SOUND + "test_what_was_stored_before_a_check")
fault("the newest value is put back", "csrc/run/undo.c",
      "    while (undo->n > 0) {\n        swap_entry(&undo->log[--undo->n]);",
      "    for (int64_t i = 0; i < (int64_t)undo->n; i++) {\n"
      "        swap_entry(&undo->log[i]);",
      SOUND + "test_what_was_stored_before_a_check")
fault("recycled memory is not cleared", "csrc/py/pool.c",
      "    return dirty && zero ? memset(data, 0, bytes) : data;",
      "    return data;",
      SOUND + "test_zeros_in_recycled_memory")

fault("loads see no stores", "transforms/avail.c",
      "    avail->stamp++;\n    kill_aliases(avail, buf);",
      "    avail->stamp++;",
      SOUND + "test_carried")

# --- transformations ---

fault("borders are one too narrow", "transforms/split.c",
      'middle->hi = bind(split, out, "end", end, old->loc);',
      'middle->hi = bind(split, out, "end", offset(split, end, 1), old->loc);',
      FOUND + "test_found", "tests/test_apps.py", "tests/test_split.py")
fault("carried values are no obstacle", "csrc/analysis/depend.c",
      "    if (loop->ncarries > 0 || loop->nbinds > 0) {", "    if (false) {",
      SOUND + "test_carried")
fault("rounds that write what others read", "csrc/analysis/depend.c",
      "if ((lhs->store || rhs->store) && !accesses_apart(c, lhs, rhs) &&",
      "if (lhs->store && rhs->store && !accesses_apart(c, lhs, rhs) &&",
      SOUND + "test_rows_that_threads_share",
      SOUND + "test_distances")
fault("quotients are one too large", "csrc/analysis/prove.c",
      "term->coef < 0 ? divisor - 1 : 0,", "term->coef < 0 ? divisor : 0,",
      "tests/test_proofs.py::test_what_is_not_so")
fault("no choice differs from 0", "csrc/analysis/conditions.c",
      "        for (int arm = 0; arm < 2 && ok; arm++) {",
      "        for (int arm = 0; arm < 1 && ok; arm++) {",
      "tests/test_proofs.py::test_what_is_not_so")
fault("a distance of one is none", "csrc/analysis/apart.c",
      "(least == 0 && most == 0)) {", "(least >= -1 && most <= 1)) {",
      SOUND + "test_rows_that_threads_share")
fault("any carry may be gathered in blocks", "csrc/pipe/levels.c",
      "ir_gathers(arena, loop, i) == TALLY_NONE", "false",
      "tests/test_pipe_gather.py")
fault("inner loops need not hand on what is gathered", "csrc/pipe/levels.c",
      "    bool same = inner->ncarries == outer->ncarries;",
      "    bool same = inner->ncarries == outer->ncarries;\n"
      "    if (same) {\n        return true;\n    }",
      "tests/test_pipe_gather.py::test_same_results[-rows_too]")
fault("stages read outside of what was made", "csrc/pipe/reads.c",
      "    below.constant += producer->shift[d] - 1;",
      "    below.constant += producer->shift[d];",
      SOUND + "test_stages_that_reach_the_border")
fault("branches not taken excuse nothing", "transforms/hoist.c",
      "                ? ir_unary(h->arena, E_NOT, taken.cond) : taken.cond;",
      "                ? taken.cond : taken.cond;",
      SOUND + "test_conditions_around_checks")
fault("stores that only others see are dead", "transforms/dead.c",
      "        return !is_local(s->buf);\n    case S_ALLOC:",
      "        return false;\n    case S_ALLOC:",
      "tests/test_checks.py", FOUND + "test_found")
fault("what a round has stored is loaded before", "transforms/rows.c",
      "        ahead->ok &= apart || later;", "        (void)(apart || later);",
      "tests/test_square_rows.py::test_rows[chain_of_sums-]")
fault("every block begins its count with the loop's", "transforms/gather.c",
      "    return what == TALLY_ADD\n", "    return what == TALLY_NONE\n",
      "tests/test_gather.py::test_gathered")

# --- types ---

fault("bools are returned as ints", "csrc/py/result.c",
      "    if (dt == DT_BOOL) {\n        return PyBool_FromLong(slot.i != 0);",
      "    if (dt == DT_BOOL) {\n        return PyLong_FromLongLong(slot.i);",
      "tests/test_infer.py::test_program[chosen_values]")
fault("results that may be of another kind", "typeinfer/rules.c",
      "        out->flagged |= 1u << combo;", "        ;",
      "tests/test_joins.py", "tests/test_maybe_int.py",
      "tests/test_infer.py")
fault("unbound names are read", "csrc/lower/version.c",
      "        emit_check(L, not_(L, v.flag), X_UNBOUND, loc);", "        ;",
      "tests/test_infer.py", FOUND + "test_found")

# --- warnings and guards ---

fault("integers wrap without a warning", "csrc/lower/num.c",
      "        emit_warn(L, over, WARN_OVERFLOW, o->what, o->loc);\n    }\n"
      "    return r;\n}\n\n/* A constant divisor",
      "        (void)over;\n    }\n    return r;\n}\n\n/* A constant divisor",
      "tests/test_warnings.py::test_scalars",
      "tests/test_warnings.py::test_integers")
fault("helpers may be exchanged", "csrc/py/guards.c",
      "        if (func->func_code != guard->code",
      "        if (false",
      "tests/test_guards.py::test_helper_code_replaced")
fault("0.0 and -0.0 are the same constant", "csrc/py/guards.c",
      "    return memcmp(&lhs, &rhs, sizeof(lhs)) == 0;",
      "    return lhs == rhs;",
      "tests/test_guards.py::test_signed_zero_is_a_change")
fault("changed globals go unnoticed", "csrc/py/guards.c",
      "        if (!seen && !set_holds(g, set)) {",
      "        if (false && !set_holds(g, set)) {",
      "tests/test_guards.py::test_number")
fault("keys without the code", "csrc/run/load.c",
      ": add_code(&all, text));", ": true);", SOUND + "test_carried")
fault("a weak number beside a strong one is strong", "typeinfer/jointype.c",
      "    return type_with_alt(arena, type_num(arena, main.dtype, main.weak),\n"
      "                         alt_of(other));",
      "    return type_num(arena, main.dtype, main.weak || alt_of(other) < 0);",
      "tests/test_infer.py::test_program", "tests/test_joins.py")

# --- what the prover remembers ---

fault("what a branch taught is known behind it", "csrc/analysis/memo.c",
      "{\n    map_clear(&b->memos);",
      "{\n    if (b->memos.n == MEMOS) {\n        map_clear(&b->memos);\n    }",
      "tests/test_proofs.py::test_behind_a_branch")

fault("zero times infinity is no nan", "csrc/analysis/floats.c",
      "return right && e->args[1]->fval != 0.0 ? e->args[0] : NULL;",
      "return right ? e->args[0] : NULL;",
      "tests/test_clipped.py::test_special_values")
fault("a constant counts for one axis only", "csrc/emit/cplace.c",
      "            far *= size;", "            ;",
      "tests/test_places.py::test_places")
fault("names of the analysis are the program's", "csrc/analysis/floats.c",
      "    return e->op == E_VAR && e->var->id >= 0;",
      "    return e->op == E_VAR;", "tests/test_clipped.py::test_special_values")
fault("a nest hands on what an IF hides", "transforms/scout.c",
      "s->kind == S_FOR && s->ncarries == 0 && s->nbinds == 0",
      "s->kind == S_FOR", "tests/test_scout.py::test_few_values_handed_on")
fault("what is read is no signalling nan", "csrc/emit/cpick.c",
      "        return e->op == E_CAST && !dtype_is_float(e->args[0]->dtype);",
      "        return true;",
      "tests/test_clipped.py::test_choices_keep_all_bits")

# --- loops side by side, split and joined ---

fault("lanes that leave count their last round", "transforms/lockpart.c",
      "unless_last ? on : go", "go",
      "tests/test_lockstep.py::test_lockstep[escape-]")
fault("rounds that are counted go on", "transforms/lockpart.c",
      "ir_binary(arena, E_LE, size, now)",
      "ir_binary(arena, E_LE, number(m, 1), now)",
      "tests/test_lockstep.py::test_lockstep[escape-]")

# --- one for each pass that has none above ---

EACH = "tests/test_each_pass.py::test_program"

fault("continue is for all rounds to come", "transforms/exits.c",
      "        vec_push(a, &copy->body, set_flag(w, skip.flag, false, s->loc));",
      "        ;", EACH + "[continue_in_a_branch]")
fault("what follows a branch that leaves", "transforms/exits.c",
      "        els = joined(w, &s->els, rest, nrest);",
      "        els = joined(w, &s->els, rest, 0);",
      EACH + "[continue_in_a_branch]")
fault("branches start from what the other set", "transforms/ssa.c",
      "    ssa->env = map_copy(&before);\n    ssa_block(ssa, &els, &s->els);",
      "    ssa_block(ssa, &els, &s->els);",
      "tests/test_forms.py::test_program[compared_tuples]")
fault("rounds after one that ends the loop", "transforms/unroll.c",
      "    if (loop->until == NULL) {",
      "    if (loop->until == NULL || from > 0) {",
      EACH + "[first_of_three]")
fault("carries that change places never change", "transforms/simp_loop.c",
      "        found = same[j] && ir_is_var(carry->next, other->var) &&\n"
      "                ir_equal(carry->init, other->init);",
      "        found = same[j] && ir_is_var(carry->next, other->var);",
      "tests/test_forms.py::test_program[reversals]")
fault("a constant is handed on to the first round", "transforms/simp_loop.c",
      "            rules_apply(&s->rules,\n"
      "                        ir_select(arena, first, init, carry->next)));",
      "            carry->next);\n    (void)first;",
      EACH + "[constant_from_the_second_round_on]")
fault("what is cut may be one too low", "transforms/scout.c",
      "between(cuts->arena, E_LT, (double)(least - 1), *t,",
      "between(cuts->arena, E_LT, (double)(least - 2), *t,",
      "tests/test_scout.py::test_what_floats_are_cut_to[cut-uint8]")
fault("a table may be one too short", "transforms/scout.c",
      "Op op = cond->op == E_LT ? E_LE : E_LT;", "Op op = E_LT;",
      "tests/test_scout.py::test_few_values")
fault("a scout may read what is written", "transforms/scout.c",
      "        look->ok &= !effects_writes(&look->func->body, e->buf);",
      "        ;", "tests/test_scout.py::test_old_values_are_kept")
fault("arrays that others see lie as one likes", "transforms/axes.c",
      "    return !uses.other && !uses.extent &&",
      "    return !uses.extent &&", EACH + "[planes_in_a_product]")
fault("nothing is filled behind what is written", "transforms/prealloc.c",
      "        Expr *hi = clamp(p, linear_expr(p->arena, &box[i].hi), lo, dim);",
      "        Expr *hi = dim;", EACH + "[border_of_zeros]")
fault("a loop that changes places may carry", "transforms/interchange.c",
      "        ok = i < first ||", "        ok = i <= first ||",
      EACH + "[diagonal_neighbours]")
fault("nests feed each other by any row", "transforms/fuse.c",
      "    if (!depend_independent(fuse->pass->scratch, fuse->old, b, one, "
      "&why)) {", "    if (false) {",
      "tests/test_fuse.py::test_same_as_python[-other_rows]")
fault("rows are passed on from round to round", "transforms/fuse.c",
      "    return !narrow.apart && !all.other", "    return !all.other",
      "tests/test_fuse.py::test_same_as_python[-looked_up]")
fault("stores of one group are of one pixel", "transforms/pack.c",
      "                same_pixel(group->store->index, s->index, "
      "s->nindex - 1);", "                true;",
      EACH + "[channels_of_two_pixels]")
fault("parts of a block are counted with the loop", "transforms/fission.c",
      "    return ir_binary(f->pass->arena, E_SUB, x, loop->lo);",
      "    (void)loop;\n    return x;",
      "tests/test_fission.py::test_programs[toned]")
fault("rounds in vain start from what is theirs", "transforms/fisbranch.c",
      "            Expr *value = ir_select(arena, taken, ir_ref(arena, var),\n"
      "                                    map_get(&there, var));",
      "            Expr *value = ir_ref(arena, var);",
      "tests/test_fission.py::test_rounds_in_vain_do_not_warn")
fault("a round in vain is in its own place", "transforms/fisbranch.c",
      "    for (int i = -1; i < copy.n; i++) {",
      "    for (int i = 0; i < copy.n; i++) {",
      "tests/test_fission.py::test_rounds_in_vain_do_not_warn")
fault("views of a round are everywhere", "transforms/fission.c",
      "        ir_each_stmt(&loop->body, note_other, &plain);", "        ;",
      "tests/test_fission.py::test_branches[viewed]")
fault("a branch is computed ahead of stores it reads", "transforms/fission.c",
      "              !f->guarded && !effects_writes(&f->loop->body, e->buf);",
      "              !f->guarded;",
      "tests/test_fission.py::test_branches[looked_up]")
fault("a band begins a round late", "transforms/bands.c",
      "        k = ir_binary(arena, e->op == E_ADD ? E_SUB : E_ADD, k, "
      "e->args[fixed]);", "        k = ir_binary(arena, E_SUB, k, "
      "e->args[fixed]);", "tests/test_bands.py::test_equal[shifted]")
fault("any index makes bands", "transforms/bands.c",
      "        if (outer != NULL && is_gain(&s, &out, outer)) {",
      "        if (outer != NULL) {", "tests/test_bands.py::test_refused[before]")
fault("what a loop changes is asked for before it", "transforms/once.c",
      "                 !(e->op == E_VAR && map_has(&o->defs, e->var)) &&",
      "                 !(e->op == E_VAR && e->var == o->loop->var) &&",
      "tests/test_once.py::test_stays[changed]")
fault("a check of no round fails", "transforms/once.c",
      "    vec_push(a, o->out, check_before(a, check, o->loop));",
      "    vec_push(a, o->out, check);",
      "tests/test_once.py::test_no_round_makes_a_check")
fault("a vector begins with what lies on the stack", "transforms/spill.c",
      "    vec_push(arena, out, ir_store(arena, sp->memory, NULL, 0, value, "
      "loc));", "    (void)value;",
      "tests/test_spill.py::test_same[histogram]")
fault("lanes that a loop counts are found by data", "transforms/spill.c",
      "    return is_of_data(sp, index);",
      "    return is_of_data(sp, index) || index->op == E_VAR;",
      "tests/test_spill.py::test_lanes_that_a_loop_counts_stay")
fault("sums that may wrap are made in copies", "transforms/tallies.c",
      "    return tally_named(w, out, \"small\", small);",
      "    return tally_named(w, out, \"small\", ir_bool(arena, small != 0));",
      "tests/test_tallies.py::test_sums_that_wrap_warn[int32]")
fault("any warning of an element is that its sum wraps", "transforms/tallied.c",
      "    return turned || (ir_equal(lhs[0], rhs[0]) && "
      "ir_equal(lhs[1], rhs[1]));",
      "    return turned || ir_equal(lhs[0], rhs[0]);",
      "tests/test_tallies.py::test_other_warnings_stay[unused_sum-k0]")
fault("a branch asks for what its loop needs", "csrc/analysis/weaken.c",
      "           linear_is_const(&gap, &by) && by > 0;",
      "           linear_is_const(&gap, &by) && by > 1000;",
      "tests/test_entry_tests.py::test_the_fast_kernel_runs[guarded-]")
fault("an array that is also read is only added to", "transforms/tallied.c",
      "    return t.reads == tallied->places && t.writes == tallied->places;",
      "    return t.writes == tallied->places;",
      "tests/test_tallies.py::test_refused[looked_at]")
fault("what an element was may be used again", "transforms/tallied.c",
      "            return w->uses[var->id] == uses;",
      "            return w->uses[var->id] >= uses;",
      "tests/test_tallies.py::test_same[kept]")
fault("small integers end before their limit", "transforms/invariant.c",
      "    Expr *above = ir_int(a, DT_I64, (int64_t)1 << (bits - sign));",
      "    Expr *above = ir_int(a, DT_I64, ((int64_t)1 << (bits - sign)) - 1);",
      "tests/test_small_compares.py::test_same[uint8-compared]")
fault("squares are one at least", "csrc/analysis/floats.c",
      "    return reals_of(around ? 0 : fmin(lo, hi), fmax(lo, hi), arg.nan);",
      "    return reals_of(around ? 1 : fmin(lo, hi), fmax(lo, hi), arg.nan);",
      "tests/test_float_ranges.py::test_roots")
fault("any float goes by way of an int32", "transforms/checks.c",
      "    if (lo < INT32_MIN || hi > INT32_MAX) {", "    if (lo > hi) {",
      "tests/test_float_ranges.py::test_tables[wholes-float64]")
fault("arrays are asked together that are not stored together",
      "transforms/digest.c", "        ok = found == 0 || stores[k] != NULL;",
      "        ok = true;", "tests/test_digest.py::test_same[stored_again]")
fault("a question may be asked at two places", "transforms/digest.c",
      "                      ir_equal(e->args[i], look->load->args[i])));",
      "                      true));", "tests/test_digest.py::test_same[elsewhere]")
fault("what is not a question keeps no array", "transforms/digest.c",
      "    if (ir_reads(e) && is_candidate(d, e->buf)) {\n        spoil(d, e->buf);",
      "    if (false) {\n        spoil(d, e->buf);",
      "tests/test_digest.py::test_refused[used_too]")
fault("conditions know what is found later", "transforms/sieve.c",
      "        map_set(&map, loop->carries[i].var, loop->carries[i].init);",
      "        map_set(&map, loop->carries[i].var,\n"
      "                ir_float(arena, DT_F64, 9.0));",
      "tests/test_sieve.py::test_what_is_found_is_known_to_the_next_block")
fault("a branch that isn't taken changes nothing", "transforms/sieve.c",
      "            return ir_is_var(branch->joins[i].else_val, carry->var);",
      "            return true;", "tests/test_sieve.py::test_same[passed]")
fault("the last block is passed over", "transforms/sieve.c",
      "ask->carries[0].out), ir_bool(arena, true)};",
      "ask->carries[0].out), ir_bool(arena, false)};",
      "tests/test_sieve.py::test_same[listed]")
fault("a mask holds on the other side as well", "transforms/masks.c",
      "    Expr *no = ir_unary(arena, E_NOT, here);", "    Expr *no = here;",
      "tests/test_masks.py::test_same[two_arrays]")
fault("any two carries share an array", "transforms/abreast.c",
      "            return uses.n == 1 ? outer : NULL;",
      "            return outer;", "tests/test_abreast.py::test_same[used_twice]")
fault("stores of any array are handed on", "transforms/recur.c",
      "    bool ok = load->buf == store->buf && store->sure &&",
      "    bool ok = store->sure &&", "tests/test_recur.py::test_same[two_arrays]")
fault("places are compared by what differs each round", "transforms/recur.c",
      "           (rounds == 0 || (lhs->fixed && rhs->fixed));", "           true;",
      "tests/test_recur.py::test_same[places_that_go_round]")
fault("a store later in the round is not looked at", "transforms/recur.c",
      "        ok = (other <= store || other_place(r, load, other, 1)) &&",
      "        ok =", "tests/test_recur.py::test_same[overwritten]")
fault("any loop has lanes", "transforms/vectorize.c",
      "        return depend_independent(arena, func, b, &rounds, why);",
      "        return true;", SOUND + "test_carried")
fault("a row too many counts as written", "transforms/clear.c",
      "                        ir_binary(arena, E_LT, index[i], hi));",
      "                        ir_binary(arena, E_LE, index[i], hi));",
      "tests/test_clear.py::test_parts_are_cleared")
fault("columns that come into use are as they were", "transforms/clear.c",
      "    vec_push(arena, body, clear_columns(clear, index, begin, need));",
      "    vec_push(arena, body, clear_columns(clear, index, begin, from));",
      EACH + "[a_level_reads_itself]")
fault("what a loop reads doesn't change", "transforms/invariant.c",
      "    bool fixed = !ir_reads(e) && e->op", "    bool fixed = e->op",
      SOUND + "test_carried")
fault("sums are products plus something", "transforms/contract.c",
      "        addend = minus ? ir_unary(c->pass->arena, E_NEG, addend) : "
      "addend;", "        ;", "tests/test_approx.py::test_near[10-fma]")
fault("float64 becomes float32 where they meet", "typeinfer/jointype.c",
      "        plain.dtype = fine && plain.dtype == DT_F32 ? DT_F64 : "
      "plain.dtype;",
      "        plain.dtype = plain.dtype == DT_F64 ? DT_F32 : plain.dtype;",
      "tests/test_approx.py::test_where_floats_meet[huge_meets-f32-False]")
fault("what is no float32 is checked in float32", "typeinfer/rules.c",
      "    if (meet && alt == ALT_FLOAT && base.type.dtype == DT_F32) {",
      "    if (false) {",
      "tests/test_approx.py::test_where_floats_meet[counted-f32-False]")
fault("a sum that leads to an index is float32", "transforms/narrow.c",
      "    if (n->exact[var->id]) {",
      "    if (n->exact[var->id] && !is_added(n, var)) {",
      "tests/test_approx.py::test_where_floats_meet[index_meets-f32-False]")
fault("partial sums that are read change", "transforms/regroup.c",
      "r->uses[e->var->id] == 1 && find_way(", "find_way(",
      "tests/test_approx.py::test_near[11-reassoc]")
fault("memory that has a dtype becomes float32", "transforms/narrow.c",
      "        !buf->growable && buf->group == NULL && !n->bound[buf->id]) {",
      "        !buf->growable && buf->group == NULL) {",
      "tests/test_approx.py::test_float32_inside[4-f32]")
fault("differences are reordered as sums", "transforms/relax.c",
      "        other = ir_unary(a, E_NEG, other);", "        ;",
      "tests/test_approx.py::test_near[1-fma,reassoc,vecmath]")

# --- names, warnings ---

fault("stores by other names are none", "csrc/lower/lower.c",
      "        if (buf != NULL && !other && ir_may_share(s->buf, buf)) {",
      "        if (buf != NULL && s->buf == buf) {",
      "tests/test_readonly.py::test_read_only_arguments[raveled]")
fault("errors of what nobody uses", "csrc/py/attempt.c",
      "    return use_counting(call) || leave_to_python(call);",
      "    return true;", "tests/test_raised.py::test_errors[never_used-7-error]")
fault("loops that only an error ends", "csrc/py/attempt.c",
      "    call->raising = kinds;", "    (void)kinds;",
      "tests/test_raised.py::test_loops_that_an_error_ends"
      "[error-ends_by_error-2]")
