r"""The decision between two formulas as they stand (semantics Z.1 to Z.7).

Solve once per formula, cross-evaluate per pair: points are drawn on the zero set of each formula, and a pair
agrees iff each one's points are zeros of the other, up to a relative tolerance in every variable. Agreement at
ten points from each side is strong evidence, not proof; one disagreement is proof, and is kept as a witness.

Refused: solving both sides with a CAS (0.2 to 31 s a pair) and comparing simplified forms (no form is canonical
once roots, logarithms and trigonometry meet).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import ModuleType

from prism.algebra.expr import Expr, Formula, canonical_zero, formula, number, ops_of, symbols, walk
from prism.engine.exact import Proof, factors_of, prove
from prism.engine.intervals import refine_root, residual_interval
from prism.engine.kernels import active_kernels, source, spend
from prism.engine.lowering import Notation, component_names
from prism.engine.systems import sample_system
from prism.engine.tape import CHOICE, Floats, Tape, TapeTooLarge
from prism.engine.zero_set import (
    ORDINARY,
    Crossing,
    Sampling,
    ZeroSet,
    gradient_at,
    is_zero_everywhere,
    scratch_arrays,
    special_samplings,
    tape_of,
    value_at,
    without_negative_roots,
)
from prism.equivalence.facts import VALUE_NAME, facts_of, zero_factors
from prism.equivalence.notation.choice import looser_readings, notation_of
from prism.equivalence.points.far_points import look_far
from prism.equivalence.points.pairs import FormulaPair, prepare_pair
from prism.equivalence.points.trials import (
    MIN_POINTS,
    AnyPoints,
    Trial,
    always_negative_symbols,
    cross_points,
    decimal_rule,
    draw_both,
    draw_one_side,
    draw_points,
    prepare_crossing,
    trial_for,
)
from prism.equivalence.verdict import Status, Verdict, Witness
from prism.physics.context import EMPTY_CONTEXT, Context, kind_of

_MORE_POINTS = 4  # times as many if that was not enough: `sqrt(1 - v^2/c^2)` and `tanh` turn most draws away
_FEW = 3  # points that show where a formula has no value
_TURNING = frozenset(("sin", "cos", "tan"))
_INVERSES = frozenset(("asin", "acos", "atan"))
_MAX_SIGN_TRIALS = 3  # symbols tried with the other sign where a target has no root (`E = -m/2n^2` solved for n)


# one-to-one functions: a value, and the argument with that value; a power only of what is positive
_NEUTRAL = {
    "exp": (1, 0), "ln": (0, 1), "log10": (0, 1), "sqrt": (1, 1), "sinh": (0, 0), "tanh": (0, 0), "asinh": (0, 0),
    "atanh": (0, 0), "asin": (0, 0), "atan": (0, 0), "root": (1, 1), "pow": (1, 1),
}  # fmt: skip
_UNEVALUATED = frozenset(("nabla", "opaque", "partial", "integral", "apply", "bracket", "commutator"))  # beside vectors
_LENGTH_OPS = frozenset(("abs", "dot", "pow", "sqrt"))  # that take the length of a vector
_NEAR_ZERO = 1e-6  # a vector's component below is 0: what is drawn is at least 0.1


def compare_zero_sets(
    a: Formula, b: Formula, context: Context = EMPTY_CONTEXT, *, approximate: bool = False
) -> Verdict:
    """Decide if two formulas hold at the same points: equations, bare expressions, the boundaries of inequalities.

    Args:
        a, b: the reference and the claim: of one kind, with one or two members.
        context: kinds of symbols, and names that the problem uses (an `i` among them is no imaginary unit); its digest
            is the key of the random generator.
        approximate: decimals count as equal within their own precision (semantics N.1).

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1, turned round: solved once per formula, cross-evaluated
    per pair. Twin: tests/reference.py::equivalent
    """
    one, two = facts_of(a), facts_of(b)
    if one.is_trivial or two.is_trivial:
        return _compare_identities(a, b, context)
    notation = notation_of(a, b, context)
    if one.may_have_form_of(two) and one.form == two.form and a.kind != "inequality":
        return Verdict(Status.EQUIVALENT, "same_form", "proved", _sampled_domain(notation, one.names, context))
    try:
        pair = prepare_pair(a, b, context, notation)
    except TapeTooLarge as error:
        return Verdict(Status.UNDECIDED, "too_large", detail=str(error))
    if pair is None:
        left = sorted(_UNEVALUATED & ops_of(*a.members, *b.members))
        if left:
            return Verdict(Status.UNDECIDED, "unsupported", detail=left[0])
        return Verdict(Status.DIFFERENT, "kind", detail="a number and a vector, or tables of different shape")
    only = pair.tapes[0].atoms.keys() ^ pair.tapes[1].atoms.keys()
    if only:
        construct = min(pair.tapes[name in pair.tapes[1].atoms].atoms[name] for name in only)
        return Verdict(Status.UNDECIDED, "unsupported", detail=construct)
    verdict = _compare_by_points(pair, approximate=approximate)
    if verdict.status == Status.EQUIVALENT and _is_vector_always_zero(pair):
        verdict = replace(verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None)
    elif verdict.reason != "identity":
        return verdict
    for reading in looser_readings(notation):
        if (pair := prepare_pair(a, b, context, reading)) is not None:
            again = _compare_by_points(pair, approximate=approximate)
            if again.status == Status.EQUIVALENT and not _is_vector_always_zero(pair):
                return again
    return verdict


def compare_with_itself(f: Formula, context: Context = EMPTY_CONTEXT, *, exactly: bool = True) -> Verdict:
    """Compare a formula with a copy of itself by points, though their equal forms would settle it.

    Formulas of the same form are equivalent without a look at any point. If this comparison is undecided, because no
    points are found, nothing but a copy of the formula will ever match it.

    Args:
        exactly: with exact arithmetic too; without it the cost is that of the points, which no limit of their own ends.
    """
    if facts_of(f).is_trivial:
        return _compare_identities(f, f, context)
    try:
        pair = prepare_pair(f, f, context, notation_of(f, f, context))
    except TapeTooLarge as error:
        return Verdict(Status.UNDECIDED, "too_large", detail=str(error))
    if pair is None:
        return Verdict(Status.UNDECIDED, "unsupported")
    return _compare_by_points(pair, approximate=False, exactly=exactly)


def _is_vector_always_zero(pair: FormulaPair) -> bool:
    r"""Return True if a vector whose length matters is 0 at nearly all points drawn, so that these show little.

    `\vec F = F\hat x` is not `\vec F = F\hat y`, though Newton's method finds hardly more of either than `\vec F = 0`.
    """
    notation = pair.notation
    vectors = notation.vectors - {name for name, _ in (*notation.basis, *notation.directions)}
    if not vectors:
        return False
    nodes = [node for f in (pair.a, pair.b) for member in f.members for node in walk(member)]
    tied = symbols(*pair.a.members, *pair.b.members) & {name for name, _ in (*notation.lengths, *notation.directions)}
    if not tied and not any(node.op in _LENGTH_OPS for node in nodes):
        return False
    for points in draw_both(trial_for(pair), pair.samplings):
        found = [points.point(i) for i in range(points.n_point)]
        for places in (component_names(vector, notation) for vector in vectors):
            apart = sum(any(abs(point.get(place, 1.0)) > _NEAR_ZERO for place in places) for point in found)
            if apart < min(MIN_POINTS, len(found)):
                return True
    return False


def _sampled_domain(notation: Notation, names: Iterable[str], context: Context) -> str:
    """Return which numbers were drawn for the symbols `names`: `complex`, `real` or `positive`."""
    if notation.is_complex:
        return "complex"
    signed = context.symbols and any(kind_of(context, name) == "real" for name in names)
    return "real" if signed or notation.vectors else "positive"


def _compare_identities(a: Formula, b: Formula, context: Context) -> Verdict:
    """Compare formulas of which one holds always or never, and so says nothing about its symbols.

    Equivalent if both are identities with canonically the same sides, else different.
    """
    sides = [sorted(canonical_zero(member) for member in f.members) for f in (a, b)]
    if sides[0] == sides[1] and len(set(sides[0])) > 1 and is_identity(a, context) and is_identity(b, context):
        return Verdict(Status.EQUIVALENT, "same_form", "proved")
    return Verdict(Status.DIFFERENT, "identity")


def is_identity(f: Formula, context: Context) -> bool:
    """Return True if a formula holds for all values of its symbols; False for `F = ma`, `2 = 3` and `x = x + 1`."""
    pair = prepare_pair(f, f, context, notation_of(f, f, context))
    if pair is None:
        return False
    tape, special = pair.tapes[0], special_samplings(pair.tapes[0], pair.samplings)
    if len(tape.roots) > 1:
        return sample_system(tape, special, context.digest, MIN_POINTS, active_kernels()).is_identity
    return is_zero_everywhere(tape, special, context.digest, active_kernels())


def has_zero(member: Expr, context: Context) -> bool:
    """Return True unless an expression was found to be 0 nowhere within the domains of its symbols, as `2gh`.

    A root at 0 is at the end of a domain, and counts for no symbol that is positive.
    """
    f = formula((member, number(0)), ("=",))
    pair = prepare_pair(f, f, context, notation_of(f, f, context))
    if pair is None or len(pair.tapes[0].roots) > 1:
        return True
    points = draw_one_side(0, pair.samplings, trial_for(pair))
    if not isinstance(points, ZeroSet):
        return True
    return any(
        root > 0 or (root < 0 and not pair.samplings.get(name, ORDINARY).is_positive) for name, root in points.solved
    )


def _compare_by_points(pair: FormulaPair, *, approximate: bool, exactly: bool = True) -> Verdict:
    """Compare a prepared pair by points drawn on the zero set of each formula, and `exactly` by exact arithmetic too.

    If it differs and has inverse functions, compare again without points whose angles leave their principal range.
    """
    trial = trial_for(pair, decimal_rule(pair.tapes, approximate=approximate))
    trial = trial if exactly else replace(trial, is_exact=False)
    verdict = _compare_under_rules(pair, trial, approximate=approximate)
    if (
        verdict.status != Status.EQUIVALENT
        and any(tape.has_inverse for tape in pair.tapes)
        and not _inverts_signed(pair)
    ):
        trial = replace(trial, rules=trial.rules | source.IN_RANGE)
        verdict = _compare_under_rules(pair, trial, approximate=approximate)
    domain = _sampled_domain(pair.notation, pair.samplings, pair.context)
    return verdict if verdict.domain == domain else replace(verdict, domain=domain)


def _inverts_signed(pair: FormulaPair) -> bool:
    r"""Return True for `\arcsin(\sin x)` of a letter that is declared real, and so goes beyond the principal range."""
    real = {name for name, how in pair.samplings.items() if how.kind == "real"}
    inverted = (
        node.args[0] for f in (pair.a, pair.b) for member in f.members for node in walk(member) if node.op in _INVERSES
    )
    turning = (node for inner in inverted for node in walk(inner) if node.op in _TURNING)
    return bool(real) and any(not real.isdisjoint(symbols(node)) for node in turning)


def _compare_under_rules(pair: FormulaPair, trial: Trial, *, approximate: bool) -> Verdict:
    """Compare a pair by points with the flags of `trial`, and look again in other ways where the verdict stays open."""
    if (refuted := _first_difference(trial, pair.samplings)) is not None:
        return refuted
    one, two = draw_both(trial, pair.samplings)
    if one.is_identity or two.is_identity:
        return _compare_identities(pair.a, pair.b, pair.context)
    verdict = _compare_points(one, two, pair.samplings, trial)
    if verdict.witness is not None and (names := _may_be_positive(verdict.witness, one, two, pair.samplings)):
        verdict = _compare_where_positive(names, trial, pair.samplings, verdict)
    if verdict.reason == "too_few_points":
        verdict = _try_more_points(trial, pair.samplings, one, two, verdict)
    if verdict.reason == "borderline":
        verdict = _decide_without_rounding(one, two, trial, verdict)
    if verdict.reason in ("too_few_points", "below_rounding"):
        verdict = _try_without_double_roots(trial, pair, verdict)
    if verdict.status == Status.EQUIVALENT and (unseen := _unseen_alternative(one, two, trial.module)):
        verdict = replace(verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None, detail=unseen)
    if verdict.status == Status.EQUIVALENT and (name := _negative_on_one_side(one, two, pair.samplings, trial.module)):
        detail = f"only one of them has a value where {name} is negative"
        verdict = replace(verdict, status=Status.UNDECIDED, reason="unsupported", proof=None, detail=detail)
    if verdict.status == Status.EQUIVALENT:
        verdict = _check_factors(pair, trial, verdict)
    if verdict.status == Status.EQUIVALENT and not approximate and trial.is_exact:
        verdict = _with_exact_proof(pair, verdict)
    if verdict.status == Status.EQUIVALENT and verdict.proof != "proved":
        verdict = _with_far_points(one, two, pair.samplings, trial, verdict)
    if verdict.status == Status.EQUIVALENT:
        plain = "same_value" if pair.a.kind == "expression" else "same_zero_set"
        reason = "opaque_atoms" if pair.tapes[0].atoms else plain
        verdict = replace(verdict, reason=reason, approximate=approximate)
    return verdict


def _with_far_points(
    a: AnyPoints, b: AnyPoints, samplings: Mapping[str, Sampling], trial: Trial, verdict: Verdict
) -> Verdict:
    """Return an equivalent verdict as it is, or made different or undecided by points beyond the usual draws."""
    far = look_far(a, b, samplings, trial)
    if far.tested is not None and far.sampled is not None:
        crossing = cross_points(far.tested, far.sampled, trial)
        witness = witness_of(crossing, far.tested, far.sampled, far.satisfies)
        return replace(verdict, status=Status.DIFFERENT, reason="witness", proof=None, witness=witness)
    if far.unseen:
        detail = "large whole numbers"
        return replace(verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None, detail=detail)
    return verdict


def _unseen_alternative(a: AnyPoints, b: AnyPoints, module: ModuleType) -> str:
    """Return in words why the points miss a branch of a case, sign or floor in two formulas; "" if none."""
    if not (a.tape.chooses or b.tape.chooses):
        return ""
    if _thresholds(a.tape) != _thresholds(b.tape):
        return "cases that part at other values"
    for here in (a, b):
        if not here.tape.chooses:
            continue
        code, names = here.tape.code, here.tape.names
        choices = [k for k in range(here.tape.n_op) if code[3 * k] == source.FLOOR
                   or (code[3 * k] == source.STEP and code[3 * k + 2] == CHOICE)]  # fmt: skip
        seen: dict[int, set[float]] = {k: set() for k in choices}
        places = [points.point(i) for points in (a, b) for i in range(points.n_point)]
        drawn = [{name: float(here.draws[v * here.n_draw + d]) for v, name in enumerate(names)}
                 for d in range(here.n_draw)]  # fmt: skip
        for place, counts in [*((place, 0) for place in places), *((place, source.NOWHERE) for place in drawn)]:
            flag, value = _evaluated_at(here, place, module)
            if flag == counts:  # where no case applies there is nothing to be seen
                for k in choices:
                    seen[k].add(float(value[k]))
        if any(len(values) < 2 for values in seen.values()):
            return "a case that no point falls into"
    return ""


def _negative_on_one_side(a: AnyPoints, b: AnyPoints, samplings: Mapping[str, Sampling], module: ModuleType) -> str:
    """Return the letter declared real that is negative at points of one formula, where the other never has a value.

    Empty if there is none.
    """
    for name in sorted(name for name, how in samplings.items() if how.kind == "real"):
        for here, there in ((a, b), (b, a)):
            places = [place for place in map(here.point, range(here.n_point)) if place.get(name, 0) < 0]
            if len(places) >= _FEW and all(_evaluated_at(there, place, module)[0] for place in places):
                return name
    return ""


def _evaluated_at(points: AnyPoints, place: Mapping[str, float], module: ModuleType) -> tuple[int | None, Floats]:
    """Return the flag of a formula evaluated at a place, 0 where it has a value, and the values of all its nodes.

    The flag is None where the place lacks a letter of the formula.
    """
    tape = points.tape
    x, value, bound, _, _ = scratch_arrays(module, tape)
    if not place.keys() >= set(tape.names):
        return None, value
    for v, name in enumerate(tape.names):
        x[v] = place[name]
    spend(tape.n_op)
    return int(module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)), value


def _thresholds(tape: Tape) -> frozenset[tuple[str, float]]:
    """Return the (variable, number) pairs that cases and moduli in a compiled formula compare: x and 2 in `|x - 2|`."""
    found = set()
    code = tape.code.tolist()
    for k in range(tape.n_op):
        is_choice = code[3 * k] == source.ABS or (code[3 * k] == source.STEP and code[3 * k + 2] == CHOICE)
        if not is_choice or code[3 * code[3 * k + 1]] != source.SUB:
            continue
        ends = code[3 * code[3 * k + 1] + 1 : 3 * code[3 * k + 1] + 3]
        kinds = {code[3 * end]: code[3 * end + 1] for end in ends}
        if kinds.keys() == {source.SYM, source.NUM} and (value := float(tape.consts[3 * kinds[source.NUM]])):
            found.add((tape.names[kinds[source.SYM]], value))
    return frozenset(found)


def _decide_without_rounding(a: AnyPoints, b: AnyPoints, trial: Trial, verdict: Verdict) -> Verdict:
    """Decide two formulas whose residuals are near the tolerance, by interval arithmetic; `verdict` if that fails."""
    if not isinstance(a, ZeroSet) or not isinstance(b, ZeroSet):
        return verdict
    sides = [_agree_without_rounding(here, other, trial) for here, other in ((b, a), (a, b))]
    if any(side is False for side in sides):
        return replace(verdict, status=Status.DIFFERENT, reason="exact")
    if all(side is True for side in sides) and not (a.below_rounding or b.below_rounding) and a.live == b.live:
        return replace(verdict, status=Status.EQUIVALENT, reason="same_zero_set", proof="tested")
    return verdict


def _agree_without_rounding(tested: ZeroSet, points: ZeroSet, trial: Trial) -> bool | None:
    """Return True if a formula is zero at all points of another one by interval arithmetic, False if not.

    None if open.

    Args:
        tested: the formula; `points`: those of the other one.
    """
    found: bool | None = None
    seen = 0
    for i, (target, _) in enumerate(points.solved):
        slope = dict(zip(points.tape.names, gradient_at(points, points.point(i), trial.module), strict=True)).get(
            target
        )
        place = refine_root(points.tape, points.point(i), target, slope) if slope else None
        grad = gradient_at(tested, {**dict.fromkeys(tested.tape.names, 1.0), **points.point(i)}, trial.module)
        if place is None or not grad or not set(tested.tape.names) <= set(place):
            continue
        value = residual_interval(tested.tape, place)
        effects = [abs(g) * abs(float(place[name])) for name, g in zip(tested.tape.names, grad, strict=True) if g]
        if value is None or not effects:
            continue
        threshold = source.TOLERANCE * min(effects)
        if abs(value) > threshold:
            return False
        seen += bool(abs(value) < threshold)
        found = seen >= MIN_POINTS or None
    return found


def _with_exact_proof(pair: FormulaPair, verdict: Verdict) -> Verdict:
    """Return an equivalent verdict as proved, or made different, if exact arithmetic settles it; else unchanged."""
    found = prove(facts_of(pair.a).residual, facts_of(pair.b).residual, pair.notation, _positive_names(pair))
    if found is Proof.SAME:
        return replace(verdict, proof="proved")
    if found is Proof.CLOSE:
        return replace(verdict, status=Status.DIFFERENT, reason="exact", proof=None)
    return verdict


def _positive_names(pair: FormulaPair) -> frozenset[str]:
    """Return the variables of a pair that are drawn positive."""
    return frozenset(name for name, sampling in pair.samplings.items() if sampling.is_positive and name != VALUE_NAME)


def _try_without_double_roots(trial: Trial, pair: FormulaPair, verdict: Verdict) -> Verdict:
    """Compare a pair again without powers of factors: `(x + 1)^2 = 0`, written out, has no change of sign to find.

    Returns `verdict` if the formulas cannot be factored.
    """
    if not trial.is_exact or any(len(tape.roots) > 1 for tape in trial.tapes):
        return verdict
    tapes = []
    for f in (pair.a, pair.b):
        factors = factors_of(facts_of(f).residual, pair.notation)
        if not factors:
            return verdict
        product = factors[0] if len(factors) == 1 else Expr("mul", factors)
        tapes.append(tape_of(Expr("sub", (product, number(0))), pair.notation))
    simple = replace(trial, tapes=(tapes[0], tapes[1]))
    return _compare_points(*draw_both(simple, pair.samplings), pair.samplings, simple)


def _check_factors(pair: FormulaPair, trial: Trial, verdict: Verdict) -> Verdict:
    """Return `different` if a factor of what is set to zero has zeros that the other formula lacks.

    Undecided if no zeros of a factor are found that may have some; else `verdict`.
    """
    for f, other in ((pair.a, trial.tapes[1]), (pair.b, trial.tapes[0])):
        for factor in facts_of(f).factors or (_hidden_factors(f, pair.notation) if trial.is_exact else ()):
            if is_positive(factor, pair.samplings) or has_no_zero(factor, pair.samplings):
                continue
            own = draw_points(tape_of(Expr("sub", (factor, number(0))), pair.notation), pair.samplings, trial)
            if not own.n_point:
                return replace(
                    verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None, detail=str(factor)
                )
            there = draw_points(other, pair.samplings, trial)
            is_square = not facts_of(f).factors  # not `x = +- a`, which names both roots
            if is_square and isinstance(own, ZeroSet) and isinstance(there, ZeroSet):
                own = without_negative_roots(own, there.positive_roots & own.negative_roots, trial.module)
            crossing = cross_points(there, own, trial)
            if crossing.out[source.MISMATCH] >= 0:
                return replace(verdict, status=Status.DIFFERENT, reason="other_factor", proof=None, detail=str(factor))
    return verdict


def _hidden_factors(f: Formula, notation: Notation) -> tuple[Expr, ...]:
    """Return the factors of an equation that is not written as a product set to zero; empty if it has fewer than two.

    Of `e^h = 1`, `ln h = 0` and the like those of what h says: `e^{(v - u)(v - 2u)^2} = 1` is two alternatives.
    """
    residual = facts_of(f).residual
    if f.kind != "equation" or residual.op != "sub":
        return ()
    bare = without_functions(residual)
    factors = factors_of(bare, notation)
    return factors if len(factors) > 1 else _shared_factors(bare)


def _shared_factors(residual: Expr) -> tuple[Expr, ...]:
    """Return the factors of `1 + P Q - 1` and `P Q - P R` as written: where factoring is too dear."""
    if residual.op != "sub":
        return ()
    left, right = residual.args
    kept = [arg for arg in left.args if arg != right] if left.op == "add" else [left]
    if not right.value and left.op != "add" and left.op == right.op == "mul":
        shared = [arg for arg in left.args if arg in right.args]
        rest = [[arg for arg in side.args if arg not in shared] for side in (left, right)]
        difference = Expr("sub", tuple(_product(args) for args in rest))
        return (*zero_factors(_product(shared)), difference) if shared else ()
    is_zero = right.value == 0 or (left.op == "add" and len(kept) < len(left.args))
    factors = tuple(dict.fromkeys(zero_factors(kept[0]))) if is_zero and len(kept) == 1 else ()
    return factors if len(factors) > 1 else ()


def _product(factors: list[Expr]) -> Expr:
    """Return the product of expressions; 1 of none."""
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors)) if factors else number(1)


def without_functions(residual: Expr) -> Expr:
    """Return a residual without one-to-one functions whose value is known: `h - 0` of `e^h - 1`."""
    while residual.op == "sub":
        left, right = residual.args
        if left.op not in _NEUTRAL:
            left, right = right, left
        value, argument = _NEUTRAL.get(left.op, (None, 0))
        if left.op == right.op and value is not None and left.args[1:] == right.args[1:]:
            residual = Expr("sub", (left.args[0], right.args[0]))
        elif value is not None and (value_at(right, {}) == value or (value == 1 and _is_power_of_zero(right))):
            is_exponential = left.op == "pow" and left.args[0].op in ("num", "const")
            residual = Expr("sub", (left.args[is_exponential], number(0 if is_exponential else argument)))
        else:
            break
    return residual


def _is_power_of_zero(node: Expr) -> bool:
    """Return True for `x^0`, which is 1 whatever x is."""
    return node.op == "pow" and node.args[1].value == 0


def has_no_zero(node: Expr, samplings: Mapping[str, Sampling]) -> bool:
    """Return True for `sin(theta)`, `1 - cos(theta)`, `e^x - 1` and `cosh(x) - 1`: zero at the domain's end only."""
    if node.op == "mul":
        return all(bool(arg.value) or has_no_zero(arg, samplings) for arg in node.args)
    if node.op in ("sin", "cos", "tan"):
        return _is_angle(node.args[0], samplings)
    if node.op != "sub" or sorted(arg.value == 1 for arg in node.args) != [False, True]:
        return False
    (function,) = (arg for arg in node.args if arg.value != 1)
    if function.op not in ("cos", "exp", "cosh"):
        return False
    argument = function.args[0].args[0] if function.args[0].op == "neg" else function.args[0]
    if function.op == "cos":
        return _is_angle(argument, samplings)
    return is_positive(argument, samplings)


def _is_angle(node: Expr, samplings: Mapping[str, Sampling]) -> bool:
    """Return True for a symbol that is an angle between 0 and a right one."""
    return node.op == "sym" and samplings.get(node.name, ORDINARY) == Sampling("angle")


def is_positive(node: Expr, samplings: Mapping[str, Sampling]) -> bool:
    """Return True if an expression is positive by its form, for variables drawn as `samplings` says."""
    if node.op == "sym":
        return samplings.get(node.name, ORDINARY).is_positive
    if node.op == "num":
        return node.value is not None and node.value > 0
    if node.op in ("add", "mul", "div", "sqrt"):
        return all(is_positive(arg, samplings) for arg in node.args)
    if node.op == "pow":
        return is_positive(node.args[0], samplings)
    return node.op in ("const", "exp", "cosh")


def _may_be_positive(witness: Witness, a: AnyPoints, b: AnyPoints, samplings: Mapping[str, Sampling]) -> frozenset[str]:
    """Return the quantities that only a witness has negative: drawn positive, another letter has positive roots."""
    names = {name for name, value in witness.point if value < 0 and samplings.get(name) is ORDINARY}
    if not names or not (isinstance(a, ZeroSet) and isinstance(b, ZeroSet)):
        return frozenset()
    return frozenset(names - a.subjects - b.subjects) if a.positive_roots and b.positive_roots else frozenset()


def _compare_where_positive(
    names: frozenset[str], trial: Trial, samplings: Mapping[str, Sampling], verdict: Verdict
) -> Verdict:
    """Compare again with more points, without the negative roots of quantities; `verdict` if these do not suffice."""
    more = replace(trial, want=_MORE_POINTS * trial.want)
    one, two = draw_both(more, samplings)
    if not (isinstance(one, ZeroSet) and isinstance(two, ZeroSet)):
        return verdict
    one, two = (without_negative_roots(each, names & each.negative_roots, trial.module) for each in (one, two))
    found = _compare_points(one, two, samplings, more)
    return found if found.status == Status.EQUIVALENT else verdict


def _try_more_points(
    trial: Trial, samplings: Mapping[str, Sampling], a: AnyPoints, b: AnyPoints, verdict: Verdict
) -> Verdict:
    r"""Compare again with more points, then with variables drawn negative that had negative roots only.

    Where neither formula had any point, each variable that they share is drawn negative: `\ln(\sqrt{1-x} - 1)`.

    Returns the first verdict with a reason other than `too_few_points`, or the last one.
    """
    negative_roots: list[str] = []
    if isinstance(a, ZeroSet) and isinstance(b, ZeroSet):
        negative_roots = sorted(
            name for name in always_negative_symbols(a) & always_negative_symbols(b) if samplings[name] == ORDINARY
        )
        if not (a.n_point or b.n_point):
            shared = (set(a.tape.names) & set(b.tape.names)) - a.subjects - b.subjects
            negative_roots = sorted(name for name in shared if samplings[name] == ORDINARY)
    more = replace(trial, want=_MORE_POINTS * trial.want)
    attempts = [(more, samplings)]
    attempts += [(trial, {**samplings, name: Sampling("negative")}) for name in negative_roots[:_MAX_SIGN_TRIALS]]
    for attempt, how in attempts:
        verdict = _compare_points(*draw_both(attempt, how), how, attempt)
        if verdict.reason != "too_few_points":
            break
    return verdict


def _first_difference(trial: Trial, samplings: Mapping[str, Sampling]) -> Verdict | None:
    """Return `different` if a point of the reference does not satisfy the claim, which need not be solved for this.

    None if there is no such point, or if points of the claim are needed to tell (see `with_positive_roots`).
    """
    one, two = draw_one_side(0, samplings, trial), prepare_crossing(trial.tapes[1], samplings, trial)
    if one.is_identity or two.is_identity:
        return None
    if isinstance(one, ZeroSet) and isinstance(two, ZeroSet):
        negative_roots = [
            name for name in one.negative_roots - one.subjects - two.subjects if samplings[name] is ORDINARY
        ]
        if any(name not in one.positive_roots and name in two.tape.names for name in negative_roots):
            return None
        if positive_roots := one.positive_roots.intersection(negative_roots):
            one = without_negative_roots(one, positive_roots, trial.module)
    there = cross_points(two, one, trial)
    if there.out[source.MISMATCH] < 0:
        return None
    return Verdict(Status.DIFFERENT, "witness", witness=witness_of(there, two, one, "a"))


def _compare_points(a: AnyPoints, b: AnyPoints, samplings: Mapping[str, Sampling], trial: Trial) -> Verdict:
    """Evaluate each of two formulas at the points of the other.

    Returns:
        Verdict: equivalent with the reason `same_zero_set` if all points agree, else different or undecided.
    """
    there = cross_points(b, a, trial)
    if there.out[source.MISMATCH] >= 0:
        return Verdict(Status.DIFFERENT, "witness", witness=witness_of(there, b, a, "a"))
    back = cross_points(a, b, trial)
    if back.out[source.MISMATCH] >= 0:
        return Verdict(Status.DIFFERENT, "witness", witness=witness_of(back, a, b, "b"))
    verdict = Verdict(Status.UNDECIDED, "too_few_points")
    if there.out[source.BORDERLINE] or back.out[source.BORDERLINE]:
        return replace(verdict, reason="borderline")
    if there.out[source.IMPRECISE] or back.out[source.IMPRECISE]:
        return replace(verdict, reason="imprecise")
    if a.below_rounding or b.below_rounding:
        return replace(verdict, reason="below_rounding")
    if min(a.n_point, b.n_point) < MIN_POINTS or not (there.out[source.AGREED] and back.out[source.AGREED]):
        return verdict
    if a.live != b.live:
        return replace(verdict, status=Status.DIFFERENT, reason="live_variables")
    served = a.names(there.out[source.SERVED]) | b.names(back.out[source.SERVED])
    # a symbol that cannot be solved for is enough if both sides see it
    served |= b.names(there.out[source.LIVE]) & a.names(back.out[source.LIVE])
    unserved = {name for name in a.live if samplings[name].kind != "integer"} - served
    agreed = min(there.out[source.AGREED], back.out[source.AGREED])
    if unserved or agreed < max(MIN_POINTS, len(a.live)):
        return verdict
    return replace(verdict, status=Status.EQUIVALENT, reason="same_zero_set", proof="tested")


def witness_of(crossing: Crossing, tested: AnyPoints, points: AnyPoints, satisfies: str) -> Witness:
    """Return the point at which a formula does not hold although another one does, put together when it is asked for.

    Args:
        crossing: result of evaluating `tested`, the formula that does not hold, at `points` of the other one.
        satisfies: `a` if the point satisfies the reference, `b` if the claim.
    """
    return Witness.pending(partial(_read_witness, crossing, tested, points, satisfies))


def _read_witness(crossing: Crossing, tested: AnyPoints, points: AnyPoints, satisfies: str) -> Witness:
    """Return the witness of a crossing; arguments as of `witness_of`."""
    point = points.point(crossing.out[source.MISMATCH])
    point.update(zip(tested.tape.names, crossing.x, strict=False))
    point.pop(VALUE_NAME, None)
    sides = (None, None) if crossing.out[source.POLED] else (crossing.left, crossing.right)
    return Witness(tuple(sorted(point.items())), satisfies, *sides)
