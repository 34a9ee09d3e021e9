r"""The decision between two formulas as they stand (semantics Z).

Solve once per formula, cross-evaluate per pair: points are drawn on the zero set of each formula, and a pair
agrees iff each one's points are zeros of the other, up to a relative tolerance in every variable. Agreement at
ten points from each side is strong evidence, not proof; one disagreement is proof, and is kept as a witness.

Refused: solving both sides with a CAS (0.2 to 31 s a pair) and comparing simplified forms (no form is canonical
once roots, logarithms and trigonometry meet).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import ModuleType

from prism.algebra.expr import Expr, Formula, canonical_zero, number, ops_of, symbol, symbols, walk
from prism.engine.exact import Proof, factors_of, prove
from prism.engine.intervals import refined, residual_ball
from prism.engine.kernels import kernels, source
from prism.engine.lowering import PLAIN, Mismatch, Notation, places_of, shape_of
from prism.engine.systems import SystemPoints, system_cross, system_points, unsolved_system
from prism.engine.tape import CHOICE, Tape, TapeTooLarge
from prism.engine.zero_set import (
    ORDINARY,
    Crossing,
    Points,
    Sampling,
    cross,
    draws,
    gradient_at,
    special_of,
    tape_of,
    unsolved,
    vanishes,
    without_negative_roots,
    workspace,
    zero_points,
)
from prism.equivalence.notation import holds_matrix, looser_readings, notation_of, without_vectors
from prism.equivalence.verdict import Verdict, Witness
from prism.physics.context import Context, kind_of

MIN_POINTS = 10  # agreeing points from each side; five let no machine-made near-miss through, ten is twice that
_SPARE = 1.6  # points drawn for each that must agree: some are skipped by the other formula
_SECOND_HELPING = 4  # times as many if that was not enough: `sqrt(1 - v^2/c^2)` and `tanh` turn most draws away
_ASIDE = 0.1  # how far from its boundary an inequality is tested, relative
FORMULAS_KEPT = 4096  # formulas whose canonical form is remembered in a process
_MAX_SIGN_TRIALS = 3  # symbols tried with the other sign where a target has no root (`E = -m/2n^2` solved for n)


_VALUE = r"\value"  # stands for the value of a bare expression; no LaTeX spells a symbol like this
_UNEVALUATED = frozenset(("nabla", "opaque", "partial", "integral", "apply", "bracket", "commutator"))  # beside vectors
_LENGTHS = frozenset(("abs", "dot", "pow", "sqrt"))
_APART = 1e-6  # a component below is 0: what is drawn is at least 0.1
_Points = Points | SystemPoints
_NOTHING_KNOWN = Context()


# The decision. --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two formulas of one or two members, and all that is settled before a point is drawn.

    Attributes:
        a, b: the reference and the claim.
        context: of the problem.
        notation: how their letters are read.
        tapes: of both.
        samplings: how each variable of both is drawn.
    """

    a: Formula
    b: Formula
    context: Context
    notation: Notation
    tapes: tuple[Tape, Tape]
    samplings: Mapping[str, Sampling]


def compare_zero_sets(
    a: Formula, b: Formula, context: Context = _NOTHING_KNOWN, *, approximate: bool = False
) -> Verdict:
    """Decide whether two formulas hold at the same points: equations, boundaries of inequalities, bare expressions.

    Args:
        a, b: the reference and the claim: of one kind, with one or two members.
        context: kinds of symbols; which symbols the problem speaks of (an `i` among them is no imaginary unit); its
            digest keys the random generator.
        approximate: measured decimals are equal within their own precision (semantics N.1).

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1, turned round: solved once per formula, cross-evaluated
    per pair. Twin: tests/reference.py::equivalent
    """
    one, two = facts_of(a), facts_of(b)
    if one.is_trivial or two.is_trivial:
        return _compare_identities(a, b, context)
    notation = notation_of(a, b, context)
    if one.form == two.form and a.kind != "inequality":
        return Verdict("equivalent", "same_form", "proved", _domain(notation, one.names, context))
    try:
        pair = read_pair(a, b, context, notation)
    except TapeTooLarge as error:
        return Verdict("undecided", "too_large", detail=str(error))
    if pair is None:
        left = sorted(_UNEVALUATED & ops_of(*a.members, *b.members))
        if left:
            return Verdict("undecided", "unsupported", detail=left[0])
        return Verdict("different", "kind", detail="a number and a vector, or tables of different shape")
    only = pair.tapes[0].atoms.keys() ^ pair.tapes[1].atoms.keys()
    if only:
        construct = min(pair.tapes[name in pair.tapes[1].atoms].atoms[name] for name in only)
        return Verdict("undecided", "unsupported", detail=construct)
    verdict = _cross_evaluate(pair, approximate=approximate)
    if verdict.status == "equivalent" and _is_at_zero_only(pair):
        verdict = replace(verdict, status="undecided", reason="too_few_points", proof=None)
    elif verdict.reason != "identity":
        return verdict
    cost = verdict.cost
    for reading in looser_readings(notation):
        if (pair := read_pair(a, b, context, reading)) is not None:
            again = _cross_evaluate(pair, approximate=approximate)
            cost += again.cost
            if again.status == "equivalent" and not _is_at_zero_only(pair):
                return replace(again, cost=cost)
    return replace(verdict, cost=cost)


def compare_with_itself(f: Formula, context: Context = _NOTHING_KNOWN) -> Verdict:
    """Decide it by points alone, which is how a formula of another form meets this one.

    Of one form two formulas are the same without a look at any point. So a copy is equivalent even where no points are
    found, and nothing else is.
    """
    if facts_of(f).is_trivial:
        return _compare_identities(f, f, context)
    try:
        pair = read_pair(f, f, context, notation_of(f, f, context))
    except TapeTooLarge as error:
        return Verdict("undecided", "too_large", detail=str(error))
    return Verdict("undecided", "unsupported") if pair is None else _cross_evaluate(pair, approximate=False)


def _is_at_zero_only(pair: Pair) -> bool:
    r"""Whether a vector of which a length is taken was 0 at all points of a formula: there all directions agree.

    `\vec F = F\hat x` is not `\vec F = F\hat y`, though Newton's method finds hardly more of either than `\vec F = 0`.
    """
    notation = pair.notation
    vectors = notation.vectors - {name for name, _ in (*notation.basis, *notation.directions)}
    if not vectors:
        return False
    nodes = [node for f in (pair.a, pair.b) for member in f.members for node in walk(member)]
    tied = symbols(*pair.a.members, *pair.b.members) & {name for name, _ in (*notation.lengths, *notation.directions)}
    if not tied and not any(node.op in _LENGTHS for node in nodes):
        return False
    for points in _points(_trial(pair), pair.samplings):
        found = [points.point(i) for i in range(points.n_point)]
        for places in (places_of(vector, notation) for vector in vectors):
            apart = sum(any(abs(point.get(place, 1.0)) > _APART for place in places) for point in found)
            if apart < min(MIN_POINTS, len(found)):
                return True
    return False


def read_pair(a: Formula, b: Formula, context: Context, notation: Notation) -> Pair | None:
    r"""Both formulas on tapes, with vectors as tables of components, or else as numbers; None if they are unlike.

    As numbers only where the reference itself makes no sense with vectors: a claim that divides by a vector, or has
    an exponential of one, says nothing (`\frac{\vec F}{\vec a} = m`).

    Errors:
        TapeTooLarge: see `tape`.
    """
    readings = (notation,) if notation is PLAIN else _readings(notation)
    for reading in readings:
        if reading is not readings[0] and _is_read(a, notation):
            return None
        try:
            full = _with_shapes(a, b, reading)
            tapes = tape_of(facts_of(a).residual, full), tape_of(facts_of(b).residual, full)
        except Mismatch:
            continue
        return Pair(a, b, context, full, tapes, samplings_of(tapes, context))
    return None


@lru_cache(maxsize=FORMULAS_KEPT)
def _readings(notation: Notation) -> tuple[Notation, ...]:
    return tuple(dict.fromkeys((notation, without_vectors(notation))))


def _is_read(f: Formula, notation: Notation) -> bool:
    """Whether a formula alone has numbers where numbers belong and vectors where vectors do."""
    try:
        tape_of(facts_of(f).residual, _with_shapes(f, f, notation))
    except Mismatch:
        return False
    return True


def _with_shapes(a: Formula, b: Formula, notation: Notation) -> Notation:
    """A bare expression is read as y_0 = expression: y_0 has its shape."""
    if len(a.members) != 1 or (notation == PLAIN and not holds_matrix((*a.members, *b.members))):
        return notation
    shapes = {shape_of(f.members[0], notation) for f in (a, b)}
    if len(shapes) > 1:
        raise Mismatch("tables of different shape")
    (shape,) = shapes
    if shape is not None:
        notation = replace(notation, matrices=(*notation.matrices, (_VALUE, shape)))
    return replace(notation, complexes=notation.complexes | {_VALUE}) if notation.is_complex else notation


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known of one formula before it meets another.

    Attributes:
        residual: what is zero where the formula holds; a bare expression is read as y_0 = expression.
        form: the residual's one spelling.
        names: symbols that occur.
        factors: of a product that is set to zero, two or more; else empty.
        is_trivial: true or false whatever they are, as `2 = 3`, `x = x`, `x = x + 1`.
    """

    residual: Expr
    form: str
    names: frozenset[str]
    factors: tuple[Expr, ...]
    is_trivial: bool


@lru_cache(maxsize=FORMULAS_KEPT)
def facts_of(f: Formula) -> Facts:
    """Residual and factors of a formula, found once."""
    names = symbols(*f.members)
    if len(f.members) == 1:
        residual = Expr("sub", (symbol(_VALUE), f.members[0]))
        return Facts(residual, canonical_zero(residual), names, (), False)
    left, right = f.members[:2]
    factors: tuple[Expr, ...] = ()
    if f.kind == "equation" and number(0) in (left, right):
        left = right if left == number(0) else left
        factors, right = tuple(dict.fromkeys(_factors(left))), number(0)
        left = factors[0] if len(factors) == 1 else Expr("mul", factors) if factors else left
    residual = Expr("sub", (left, right))
    form = canonical_zero(residual)
    values = {node.name for member in f.members for node in walk(member) if node.op == "apply"}
    is_trivial = not any(name.partition("_")[0] in form for name in names | values)  # without an index that is bound
    return Facts(residual, form, names, factors if len(factors) > 1 else (), is_trivial)


def _factors(node: Expr) -> tuple[Expr, ...]:
    """What a product is zero by: powers, roots, signs and denominators stripped (semantics Z.6)."""
    if node.op in ("sqrt", "abs", "neg", "div") or (node.op == "pow" and (node.args[1].value or 0) > 0):
        return _factors(node.args[0])
    if node.op == "mul":
        return tuple(factor for arg in node.args for factor in _factors(arg) if not factor.value)
    return (node,)


def _domain(notation: Notation, names: Iterable[str], context: Context) -> str:
    if notation.is_complex:
        return "complex"
    signed = context.symbols and any(kind_of(context, name) == "real" for name in names)
    return "real" if signed or notation.vectors else "positive"


def _compare_identities(a: Formula, b: Formula, context: Context) -> Verdict:
    """A formula that says nothing about its variables matches only one whose sides correspond (semantics Z.7)."""
    sides = [sorted(canonical_zero(member) for member in f.members) for f in (a, b)]
    if sides[0] == sides[1] and len(set(sides[0])) > 1 and is_identity(a, context) and is_identity(b, context):
        return Verdict("equivalent", "same_form", "proved")
    return Verdict("different", "identity")


def is_identity(f: Formula, context: Context) -> bool:
    """Whether a formula is true whatever its symbols are; false for `2 = 3` and `x = x + 1`."""
    pair = read_pair(f, f, context, notation_of(f, f, context))
    if pair is None:
        return False
    tape, special = pair.tapes[0], special_of(pair.tapes[0], pair.samplings)
    if len(tape.roots) > 1:
        return system_points(tape, special, context.digest, MIN_POINTS, kernels()).is_identity
    return vanishes(tape, special, context.digest, kernels())


def _cross_evaluate(pair: Pair, *, approximate: bool) -> Verdict:
    """Each one's points in the other: the heart of the decision.

    An inverse function has values in its principal range only: where the formulas do not agree everywhere, points
    whose angles leave that range are no difference (semantics Z.4).
    """
    trial = _trial(pair, _precision(pair.tapes, approximate=approximate))
    verdict = _decided(pair, trial, approximate=approximate)
    if verdict.status != "equivalent" and any(tape.has_inverse for tape in pair.tapes):
        ranged = _decided(pair, replace(trial, rules=trial.rules | source.IN_RANGE), approximate=approximate)
        verdict = replace(ranged, cost=ranged.cost + verdict.cost)
    domain = _domain(pair.notation, pair.samplings, pair.context)
    return verdict if verdict.domain == domain else replace(verdict, domain=domain)


def _decided(pair: Pair, trial: _Trial, *, approximate: bool) -> Verdict:
    """The verdict under one set of rules: draw, weigh, and what follows from the first verdict."""
    if (refuted := _refuted(trial, pair.samplings)) is not None:
        return refuted
    one, two = _points(trial, pair.samplings)
    if one.is_identity or two.is_identity:
        return _compare_identities(pair.a, pair.b, pair.context)
    verdict = _weigh(one, two, pair.samplings, trial)
    if verdict.reason == "too_few_points":
        verdict = _try_harder(trial, pair.samplings, one, two, verdict)
    if verdict.reason == "borderline":
        verdict = _decided_in_balls(one, two, trial, verdict)
    if verdict.reason in ("too_few_points", "below_rounding"):
        verdict = _try_without_double_roots(trial, pair, verdict)
    if verdict.status == "equivalent" and (unseen := _unseen_choice(one, two, trial.module)):
        verdict = replace(verdict, status="undecided", reason="too_few_points", proof=None, detail=unseen)
    if verdict.status == "equivalent":
        verdict = _weigh_factors(pair, trial, verdict)
    if verdict.status == "equivalent" and not approximate:
        verdict = _with_proof(pair, verdict)
    if verdict.status == "equivalent":
        plain = "same_value" if pair.a.kind == "expression" else "same_zero_set"
        reason = "opaque_atoms" if pair.tapes[0].atoms else plain
        verdict = replace(verdict, reason=reason, approximate=approximate)
    return verdict


def _unseen_choice(one: _Points, two: _Points, module: ModuleType) -> str:
    """What is said where a case, a sign or a whole part came out the same at all points: the rest was not seen."""
    if not (one.tape.chooses or two.tape.chooses):
        return ""
    if _thresholds(one.tape) != _thresholds(two.tape):
        return "cases that part at other values"
    for here in (one, two):
        if not here.tape.chooses:
            continue
        code, names = here.tape.code, here.tape.names
        choices = [k for k in range(here.tape.n_op) if code[3 * k] == source.FLOOR
                   or (code[3 * k] == source.STEP and code[3 * k + 2] == CHOICE)]  # fmt: skip
        seen: dict[int, set[float]] = {k: set() for k in choices}
        places = [points.point(i) for points in (one, two) for i in range(points.n_point)]
        drawn = [{name: float(here.draws[v * here.n_draw + d]) for v, name in enumerate(names)}
                 for d in range(here.n_draw)]  # fmt: skip
        for place, counts in [*((place, 0) for place in places), *((place, source.NOWHERE) for place in drawn)]:
            if not place.keys() >= set(names):
                continue
            x, value, bound, _, _ = workspace(module, here.tape)
            for v, name in enumerate(names):
                x[v] = place[name]
            flag = module.evaluate(here.code, here.consts, here.dep, here.tape.n_op, x, 0, value, bound)
            if flag == counts:  # where no case applies there is nothing to be seen
                for k in choices:
                    seen[k].add(float(value[k]))
        if any(len(values) < 2 for values in seen.values()):
            return "a case that no point falls into"
    return ""


def _thresholds(tape: Tape) -> frozenset[tuple[str, float]]:
    """Variables that are compared with a number other than 0, and the number."""
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


def _decided_in_balls(one: _Points, two: _Points, trial: _Trial, verdict: Verdict) -> Verdict:
    """A pair within a decade of the threshold, again without rounding; as it was where that settles nothing."""
    if not isinstance(one, Points) or not isinstance(two, Points):
        return verdict
    sides = [_agreement_in_balls(here, other, trial) for here, other in ((two, one), (one, two))]
    if any(side is False for side in sides):
        return replace(verdict, status="different", reason="exact")
    if all(side is True for side in sides) and not (one.faint or two.faint) and one.live == two.live:
        return replace(verdict, status="equivalent", reason="same_zero_set", proof="tested")
    return verdict


def _agreement_in_balls(here: Points, other: Points, trial: _Trial) -> bool | None:
    """Whether this formula is zero at the other's points, all of them, in root space; None if that stays open."""
    found: bool | None = None
    seen = 0
    for i, (target, _) in enumerate(other.solved):
        slope = dict(zip(other.tape.names, gradient_at(other, other.point(i), trial.module), strict=True)).get(target)
        place = refined(other.tape, other.point(i), target, slope) if slope else None
        grad = gradient_at(here, {**dict.fromkeys(here.tape.names, 1.0), **other.point(i)}, trial.module)
        if place is None or not grad or not set(here.tape.names) <= set(place):
            continue
        value = residual_ball(here.tape, place)
        effects = [abs(g) * abs(float(place[name])) for name, g in zip(here.tape.names, grad, strict=True) if g]
        if value is None or not effects:
            continue
        threshold = source.TOLERANCE * min(effects)
        if abs(value) > threshold:
            return False
        seen += bool(abs(value) < threshold)
        found = seen >= MIN_POINTS or None
    return found


def _with_proof(pair: Pair, verdict: Verdict) -> Verdict:
    """Exact arithmetic where both sides are rational: it proves, and it sees what is below the tolerance."""
    found = prove(facts_of(pair.a).residual, facts_of(pair.b).residual, pair.notation, _positive(pair))
    if found is Proof.SAME:
        return replace(verdict, proof="proved")
    if found is Proof.CLOSE:
        return replace(verdict, status="different", reason="exact", proof=None)
    return verdict


def _positive(pair: Pair) -> frozenset[str]:
    return frozenset(name for name, sampling in pair.samplings.items() if sampling.is_positive and name != _VALUE)


def _try_without_double_roots(trial: _Trial, pair: Pair, verdict: Verdict) -> Verdict:
    """`(x + 1)^2 = 0` written out has no root where the sign changes: each factor is asked once."""
    if any(len(tape.roots) > 1 for tape in trial.tapes):
        return verdict
    tapes = []
    for f in (pair.a, pair.b):
        factors = factors_of(facts_of(f).residual, pair.notation)
        if not factors:
            return verdict
        product = factors[0] if len(factors) == 1 else Expr("mul", factors)
        tapes.append(tape_of(Expr("sub", (product, number(0))), pair.notation))
    simple = replace(trial, tapes=(tapes[0], tapes[1]))
    again = _weigh(*_points(simple, pair.samplings), pair.samplings, simple)
    return replace(again, cost=again.cost + verdict.cost)


def _weigh_factors(pair: Pair, trial: _Trial, verdict: Verdict) -> Verdict:
    """Each factor of a product that is set to zero has zeros of its own, and the other formula must know them.

    A factor that may be zero and whose zeros are not found leaves the pair undecided: `F = ma` against
    `(F - ma)(e^{(F - 2ma)^2} - 1) = 0` (semantics Z.6).
    """
    for f, other in ((pair.a, trial.tapes[1]), (pair.b, trial.tapes[0])):
        for factor in facts_of(f).factors:
            if is_positive(factor, pair.samplings):
                continue
            own = _draw(tape_of(Expr("sub", (factor, number(0))), pair.notation), pair.samplings, trial)
            if not own.n_point:
                return replace(verdict, status="undecided", reason="too_few_points", proof=None, detail=str(factor))
            crossing = _cross(_draw(other, pair.samplings, trial), own, trial)
            if crossing.out[source.MISMATCH] >= 0:
                return replace(verdict, status="different", reason="other_factor", proof=None, detail=str(factor))
    return verdict


def is_positive(node: Expr, samplings: Mapping[str, Sampling]) -> bool:
    """Whether an expression is positive by its form, wherever it is drawn."""
    if node.op == "sym":
        return samplings.get(node.name, ORDINARY).is_positive
    if node.op == "num":
        return node.value is not None and node.value > 0
    if node.op in ("add", "mul", "div", "sqrt"):
        return all(is_positive(arg, samplings) for arg in node.args)
    if node.op == "pow":
        return is_positive(node.args[0], samplings)
    return node.op in ("const", "exp", "cosh")


def _draw(
    tape: Tape, samplings: Mapping[str, Sampling], trial: _Trial, spectators: frozenset[str] = frozenset()
) -> _Points:
    special = special_of(tape, samplings)
    if len(trial.tapes[0].roots) > 1 or len(trial.tapes[1].roots) > 1:
        return system_points(tape, special, trial.digest, trial.want, trial.module)
    return zero_points(tape, special, spectators, trial.digest, trial.want, trial.module)


def _cross(here: _Points, other: _Points, trial: _Trial) -> Crossing:
    if isinstance(here, SystemPoints) and isinstance(other, SystemPoints):
        return system_cross(here, other, trial.module, trial.rules)
    assert isinstance(here, Points)
    assert isinstance(other, Points)
    return cross(here, other, trial.module, trial.rules)


def _try_harder(
    trial: _Trial, samplings: Mapping[str, Sampling], one: _Points, two: _Points, verdict: Verdict
) -> Verdict:
    """More draws, then draws in which a symbol that always came out negative is negative."""
    fallen: list[str] = []
    if isinstance(one, Points) and isinstance(two, Points):
        fallen = sorted(name for name in _negative_roots(one) & _negative_roots(two) if samplings[name] == ORDINARY)
    more = replace(trial, want=_SECOND_HELPING * trial.want)
    attempts = [(more, samplings)]
    attempts += [(trial, {**samplings, name: Sampling("negative")}) for name in fallen[:_MAX_SIGN_TRIALS]]
    for attempt, how in attempts:
        again = _weigh(*_points(attempt, how), how, attempt)
        verdict = replace(again, cost=again.cost + verdict.cost)
        if verdict.reason != "too_few_points":
            break
    return verdict


_sampling = lru_cache(maxsize=FORMULAS_KEPT)(Sampling)


def samplings_of(tapes: tuple[Tape, ...], context: Context) -> dict[str, Sampling]:
    """How each variable of formulas that meet is drawn.

    As declared; else as one of them settles (an angle, a whole number). The one unknown of them is
    to be solved for: it has either sign (`x^2 = 4` has two solutions), where a quantity among others is positive.
    """
    names = dict.fromkeys(name for tape in tapes for name in tape.names)
    samplings = dict.fromkeys(names, ORDINARY)
    if len(names) > 2 and not context.symbols and not any(tape.kinds for tape in tapes):
        return samplings
    kinds = {name: kind for tape in tapes for name, kind in tape.kinds.items()}
    kinds |= {name: "integer" for tape in tapes for name, kind in tape.kinds.items() if kind == "integer"}
    unknown = names.keys() - {_VALUE}
    for name in names:
        declared = context.symbols.get(name)
        if declared is not None:
            samplings[name] = _sampling(declared.kind, declared.domain)
        elif name in kinds:
            samplings[name] = _sampling(kinds[name])
        elif {name} == unknown:
            samplings[name] = _sampling("real")
    return samplings


@dataclass(frozen=True, slots=True)
class _Trial:
    """What stays the same while samplings are tried.

    Attributes:
        tapes: of both formulas. digest: the generator's key. want: points.
        module: the kernels; a process may switch to compiled ones, but not within a pair.
        rules: of the crossings: EXACT or MEASURED where decimals are written, IN_RANGE.
    """

    tapes: tuple[Tape, Tape]
    digest: str
    want: int
    module: ModuleType
    rules: int = 0


def _precision(tapes: tuple[Tape, Tape], *, approximate: bool) -> int:
    """How decimals are taken that are known to their last digit only."""
    if not any(tape.is_measured for tape in tapes):
        return 0
    return source.MEASURED if approximate else source.EXACT


def _trial(pair: Pair, rules: int = 0) -> _Trial:
    want = int(_SPARE * max(MIN_POINTS, len(pair.samplings)))
    return _Trial(pair.tapes, pair.context.digest, want, kernels(), rules)


def _refuted(trial: _Trial, samplings: Mapping[str, Sampling]) -> Verdict | None:
    """`different` where a point of the reference does not satisfy the claim: nobody has to look for the claim's points.

    It is what `_weigh` would say, only sooner, and most pairs end here. None where only points of the claim can tell
    which of the reference count (see `_with_onesign_at`).
    """
    one, two = _own_points(0, samplings, trial), _unsolved(trial.tapes[1], samplings, trial)
    if one.is_identity or two.is_identity:
        return None
    if isinstance(one, Points) and isinstance(two, Points):
        fallen = [name for name in one.fallen - one.subjects - two.subjects if samplings[name] is ORDINARY]
        if any(name not in one.risen and name in two.tape.names for name in fallen):
            return None
        if risen := one.risen.intersection(fallen):
            one = without_negative_roots(one, risen, trial.module)
    there = _cross(two, one, trial)
    if there.out[source.MISMATCH] < 0:
        return None
    cost = one.cost + 3 * two.tape.n_op * one.n_point
    return Verdict("different", "witness", witness=_witness(there, two, one, "a"), cost=cost)


def _unsolved(tape: Tape, samplings: Mapping[str, Sampling], trial: _Trial) -> _Points:
    """As `_draw`, without looking for points."""
    special = special_of(tape, samplings)
    if len(trial.tapes[0].roots) > 1 or len(trial.tapes[1].roots) > 1:
        return unsolved_system(tape, special, trial.digest, trial.want, trial.module)
    return unsolved(tape, special, trial.digest, trial.want, trial.module)


def _own_points(which: int, samplings: Mapping[str, Sampling], trial: _Trial) -> _Points:
    """Points of one formula of two.

    Where it has symbols more than the other, and its zeros in each of those are 0 only (`ma = 0` against `a = 0`),
    those symbols are spectators: what is sampled is not zero (semantics Z.1).
    """
    tape, others = trial.tapes[which], trial.tapes[1 - which].names
    points = _draw(tape, samplings, trial)
    if len(others) >= len(tape.names) or not isinstance(points, Points) or not set(others) < set(tape.names):
        return points
    roots = [root for name, root in points.solved if name not in others]
    if roots and not any(roots):
        return _draw(tape, samplings, trial, frozenset(tape.names) - frozenset(others))
    return points


def _points(trial: _Trial, samplings: Mapping[str, Sampling]) -> tuple[_Points, _Points]:
    """Points of both formulas; which of them count is settled by both."""
    one, two = (_own_points(which, samplings, trial) for which in (0, 1))
    if isinstance(one, Points) and isinstance(two, Points):
        return _with_onesign_at(one, two, samplings, trial.module)
    return one, two


def _with_onesign_at(
    one: Points, two: Points, samplings: Mapping[str, Sampling], module: ModuleType
) -> tuple[Points, Points]:
    """A quantity that is positive at some points is taken as positive; `E = -E_0` never is, and keeps its sign.

    So does what a formula is solved for: `f = 1 - x/a` says that f is negative for large x.
    """
    fallen = frozenset(name for name in one.fallen | two.fallen if samplings[name] is ORDINARY)
    risen = (one.risen | two.risen) & (fallen - one.subjects - two.subjects)
    if not risen:
        return one, two
    return without_negative_roots(one, risen & one.fallen, module), without_negative_roots(
        two, risen & two.fallen, module
    )


def _negative_roots(points: Points) -> frozenset[str]:
    """Symbols that came out negative whenever they were solved for."""
    return points.fallen - {name for name, root in points.solved if root >= 0}


def _weigh(one: _Points, two: _Points, samplings: Mapping[str, Sampling], trial: _Trial) -> Verdict:
    """The verdict on two formulas with points; reason `same_zero_set` where they agree."""
    cost = one.cost + two.cost + 3 * two.tape.n_op * one.n_point
    there = _cross(two, one, trial)
    if there.out[source.MISMATCH] >= 0:
        return Verdict("different", "witness", witness=_witness(there, two, one, "a"), cost=cost)
    cost += 3 * one.tape.n_op * two.n_point
    back = _cross(one, two, trial)
    if back.out[source.MISMATCH] >= 0:
        return Verdict("different", "witness", witness=_witness(back, one, two, "b"), cost=cost)
    verdict = Verdict("undecided", "too_few_points", cost=cost)
    if there.out[source.BORDERLINE] or back.out[source.BORDERLINE]:
        return replace(verdict, reason="borderline")
    if there.out[source.IMPRECISE] or back.out[source.IMPRECISE]:
        return replace(verdict, reason="imprecise")
    if one.faint or two.faint:
        return replace(verdict, reason="below_rounding")
    if min(one.n_point, two.n_point) < MIN_POINTS or not (there.out[source.AGREED] and back.out[source.AGREED]):
        return verdict
    if one.live != two.live:
        return replace(verdict, status="different", reason="live_variables")
    served = one.names(there.out[source.SERVED]) | two.names(back.out[source.SERVED])
    # a symbol that cannot be solved for is enough if both sides see it
    served |= two.names(there.out[source.LIVE]) & one.names(back.out[source.LIVE])
    unserved = {name for name in one.live if samplings[name].kind != "integer"} - served
    agreed = min(there.out[source.AGREED], back.out[source.AGREED])
    if unserved or agreed < max(MIN_POINTS, len(one.live)):
        return verdict
    return replace(verdict, status="equivalent", reason="same_zero_set", proof="tested")


def _witness(crossing: Crossing, here: _Points, other: _Points, satisfies: str) -> Witness:
    """The point where `here` was seen not to hold, in the variables of both."""
    point = other.point(crossing.out[source.MISMATCH])
    point.update(zip(here.tape.names, crossing.x, strict=False))
    point.pop(_VALUE, None)
    sides = (None, None) if crossing.out[source.POLED] else (crossing.left, crossing.right)
    return Witness(tuple(sorted(point.items())), satisfies, *sides)


# Sides of a boundary. -------------------------------------------------------------------------------------------


def compare_sides(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Two inequalities with one boundary: do they hold on the same side of it?

    Tested on both sides: a symbol is moved a tenth up and down from its value on the boundary; and at the free draws,
    where the two may part although they share it (semantics Z.8).
    """
    pair = read_pair(a, b, context, notation_of(a, b, context))
    if pair is None or len(pair.tapes[0].roots) > 1:
        return replace(verdict, status="undecided", reason="unsupported", proof=None)
    upward = [1 if f.relations[0] in (">", ">=") else -1 for f in (a, b)]
    trial = _trial(pair)
    both = _points(trial, pair.samplings)
    seen = set()
    for point in around(both[0], pair.samplings, context.digest):
        signs = [sign_at(points, point, trial.module) * side for points, side in zip(both, upward, strict=True)]
        if 0 in signs:
            continue
        if signs[0] != signs[1]:
            return replace(verdict, status="different", reason="opposite_side", proof=None)
        seen.add(signs[0])
    if seen != {1, -1}:
        return replace(verdict, status="undecided", reason="too_few_points", proof=None)
    return verdict


def around(boundary: _Points, samplings: Mapping[str, Sampling], digest: str) -> Iterator[dict[str, float]]:
    """Points to both sides of a boundary, close to it, and wherever the draws fall."""
    assert isinstance(boundary, Points)
    table = {name: draws(name, sampling, digest, boundary.n_draw) for name, sampling in samplings.items()}
    for d in range(boundary.n_draw):
        yield {name: values[d] for name, values in table.items()}
    for i, (target, root) in enumerate(boundary.solved):
        point = {name: values[int(boundary.spot[3 * i])] for name, values in table.items()}
        room = abs(root) or 1.0
        if samplings[target].kind == "angle" and samplings[target].domain is None:
            room = min(room, source.HALF_PI - root)
        for step in (-_ASIDE, _ASIDE):
            yield {**point, target: root + step * room}


def sign_at(points: _Points, point: Mapping[str, float], module: ModuleType) -> int:
    """Sign of the residual at a point; 0 where it is undefined or lost in rounding."""
    tape = points.tape
    x, value, bound, _, _ = workspace(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = point[name]
    flag = module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)
    if flag or abs(value[-1]) <= source.INFORMATIVE * bound[-1]:
        return 0
    return 1 if value[-1] > 0 else -1
