r"""The decision between two formulas as they stand (semantics Z).

Solve once per formula, cross-evaluate per pair: points are drawn on the zero set of each formula, and a pair
agrees iff each one's points are zeros of the other, up to a relative tolerance in every variable. Agreement at
ten points from each side is strong evidence, not proof; one disagreement is proof, and is kept as a witness.

Refused: solving both sides with a CAS (0.2 to 31 s a pair) and comparing simplified forms (no form is canonical
once roots, logarithms and trigonometry meet).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from types import ModuleType
from typing import Any

from prism.context import Context
from prism.expr import Expr, Formula, canonical, canonical_zero, formula, number, symbol, symbols, walk
from prism.kernels import kernels, source
from prism.points import (
    ORDINARY,
    Crossing,
    Points,
    Sampling,
    cross,
    draws,
    tape_of,
    workspace,
    zero_points,
)
from prism.tape import Tape, TapeTooLarge

MIN_POINTS = 10  # agreeing points from each side; five let no machine-made near-miss through, ten is twice that
_SPARE = 1.6  # points drawn for each that must agree: some are skipped by the other formula
_SECOND_HELPING = 4  # times as many if that was not enough: `sqrt(1 - v^2/c^2)` and `tanh` turn most draws away
_ASIDE = 0.1  # how far from its boundary an inequality is tested, relative
FORMULAS_KEPT = 4096  # formulas whose canonical form is remembered in a process
_MAX_SIGN_TRIALS = 3  # symbols tried with the other sign where a target has no root (`E = -m/2n^2` solved for n)

REASONS = {
    "same_form": "the same by commutation, exact arithmetic and laws of powers",
    "same_zero_set": "each holds exactly where the other does",
    "same_value": "the expressions have the same value everywhere",
    "same_number": "the stated number is the reference's, within its tolerance",
    "opaque_atoms": "as `same_zero_set`, with constructs that are not evaluated taken as unknowns",
    "witness": "a point that satisfies one does not satisfy the other",
    "live_variables": "they depend on different variables",
    "identity": "one is true or false whatever the variables are, so it says nothing about them",
    "kind": "they are of different kinds, as an inequality and an equation",
    "other_factor": "a factor of one product is zero where the other formula is not",
    "opposite_side": "the same boundary, but the other side of it",
    "parse_error": "one of them cannot be read",
    "unsupported": "a construct that is not evaluated stands on one side only",
    "too_few_points": "not enough points on the zero set could be found",
    "below_rounding": "a variable's effect is below rounding error everywhere",
    "borderline": "too close to the threshold to call",
    "too_large": "beyond the limits on size",
}
"""Every reason a verdict can have, in words. Closed: a test refuses any other."""

RANK = {"equivalent": 0, "undecided": 1, "different": 2}
"""Statuses from the best: of several claims the best counts, of several that are needed the worst."""

_VALUE = r"\value"  # stands for the value of a bare expression; no LaTeX spells a symbol like this
_UNDEFINED = "undefined"
_NOTHING_KNOWN = Context()


@dataclass(frozen=True, slots=True)
class Witness:
    """Where two formulas differ.

    Attributes:
        point: names and values, six significant digits, of a point that satisfies one of them.
        satisfies: `a` (the reference) or `b` (the claim).
        left, right: values of the other's two sides there, or `undefined`.
    """

    point: tuple[tuple[str, str], ...]
    satisfies: str
    left: str
    right: str

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {value}" for name, value in self.point)
        one, other = ("reference", "claim") if self.satisfies == "a" else ("claim", "reference")
        return f"{place} satisfies the {one}; the {other} has {self.left} on its left and {self.right} on its right"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about two formulas, and why.

    Attributes:
        status: `equivalent`, `different` or `undecided`.
        reason: a key of `REASONS`.
        proof: `proved` or `tested` for `equivalent`, else None.
        domain: of the sampled variables: `positive`, or `real` if a symbol is declared signed.
        readings: what was used of constants, units, values and definitions, in order.
        approximate: decided within the precision of written decimals.
        witness: where they differ.
        cost: kernel operations.
        detail: for a person: the construct, the fault of the LaTeX.
    """

    status: str
    reason: str
    proof: str | None = None
    domain: str = "positive"
    readings: tuple[str, ...] = ()
    approximate: bool = False
    witness: Witness | None = None
    cost: int = 0
    detail: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason; reasons are {', '.join(REASONS)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        witness = self.witness and {
            "point": dict(self.witness.point),
            "satisfies": self.witness.satisfies,
            "left": self.witness.left,
            "right": self.witness.right,
        }
        return {
            "status": self.status, "reason": self.reason, "proof": self.proof, "domain": self.domain,
            "readings": list(self.readings), "approximate": self.approximate, "witness": witness,
            "cost": self.cost, "detail": self.detail,
        }  # fmt: skip


# The decision. --------------------------------------------------------------------------------------------------


def compare(a: Formula, b: Formula, context: Context = _NOTHING_KNOWN) -> Verdict:
    """Decide whether two formulas say the same thing as they stand: no constant is read, no value put in.

    Args:
        a, b: the reference and the claim, units already resolved.
        context: kinds of symbols; which symbols the problem speaks of (an `i` among them is no imaginary unit); its
            digest keys the random generator.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1, turned round: solved once per formula, cross-evaluated
    per pair. Twin: tests/reference.py::equivalent
    """
    a, b = _with_ordered_products(a), _with_ordered_products(b)
    if a.kind == "expression" and b.kind == "equation":
        return _any_member(a, b, context)
    if a.kind != b.kind:
        return Verdict("different", "kind")
    if a.kind == "chain":
        return Verdict("undecided", "unsupported", detail="a chain against a chain")
    if a.parts:
        return Verdict("undecided", "unsupported", detail="several formulas in one")
    if a.kind == "statement":
        return _compare_statements(a, b, context)
    try:
        verdict = _compare_zero_sets(a, b, context)
    except TapeTooLarge as error:
        return Verdict("undecided", "too_large", detail=str(error))
    if a.kind == "inequality" and verdict.status == "equivalent":
        return _compare_sides(a, b, context, verdict)
    return verdict


_OPERATOR = re.compile(r"\\hat\{|\^\{\\dagger\}|^\\sigma_|^\\gamma\^\{")  # hats, adjoints, Pauli and Dirac matrices
_NO_OPERATORS: frozenset[str] = frozenset()
_SCALARS_OF_OPERATORS = ("abs", "bracket")  # a mean or a matrix element of operators is a number


@lru_cache(maxsize=FORMULAS_KEPT)
def _with_ordered_products(f: Formula) -> Formula:
    """The formula with each product of different operators, matrices or states as one opaque atom: order counts."""
    names = symbols(*f.members)
    # a letter is an operator where its adjoint is beside it
    operators = frozenset(name for name in names if _OPERATOR.search(name) or name + r"^{\dagger}" in names)
    if not any(_own_operators(node, operators) for member in f.members for node in walk(member)):
        return f
    return replace(f, members=tuple(_ordered(member, operators)[0] for member in f.members))


def _own_operators(node: Expr, operators: frozenset[str]) -> frozenset[str]:
    """The operator, matrix or state that this node itself is, as a set of one or none."""
    if node.op == "sym":
        return operators & {node.name}
    if node.op in ("matrix", "tensor") or (node.op == "bracket" and node.name in ("ket", "bra")):
        return frozenset((str(node),))
    return _NO_OPERATORS


def _ordered(node: Expr, operators: frozenset[str]) -> tuple[Expr, frozenset[str]]:
    """The expression with its products of operators kept in order, and the operators that its value is made of."""
    if (own := _own_operators(node, operators)) or not node.args:
        return node, own
    pairs = [_ordered(arg, operators) for arg in (_factors_in_order(node) if node.op == "mul" else node.args)]
    args = tuple(arg for arg, _ in pairs)
    made_of = _NO_OPERATORS.union(*(inside for _, inside in pairs))
    if node.op in _SCALARS_OF_OPERATORS or (node.op == "dot" and not all(inside for _, inside in pairs)):
        made_of = _NO_OPERATORS  # also `m . \hat r`, a vector upon a direction
    in_order = tuple(arg for arg, inside in pairs if inside)
    if len(made_of) > 1 and node.op == "mul" and len(in_order) > 1:
        atom = Expr("opaque", in_order, name="ordered product")
        rest = tuple(arg for arg, inside in pairs if not inside)
        return (Expr("mul", (*rest, atom)) if rest else atom), made_of
    if len(made_of) > 1 and node.op == "pow":
        return Expr("opaque", args, name="ordered power"), made_of
    return (node if args == node.args else Expr(node.op, args, node.name, node.value)), made_of


def _factors_in_order(product: Expr) -> tuple[Expr, ...]:
    """The factors of a product and of the products that stand in it: `a (b c)` is `a b c` for operators too."""
    inner = (_factors_in_order(factor) if factor.op == "mul" else (factor,) for factor in product.args)
    return tuple(chain.from_iterable(inner))


def _any_member(a: Formula, b: Formula, context: Context) -> Verdict:
    """A bare reference against an equation: it matches any whole member (semantics Z.8)."""
    verdicts = [compare(a, formula((member,), ()), context) for member in b.members]
    return min(verdicts, key=lambda verdict: RANK[verdict.status])


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
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
def _facts(f: Formula) -> _Facts:
    names = symbols(*f.members)
    if len(f.members) == 1:
        residual = Expr("sub", (symbol(_VALUE), f.members[0]))
        return _Facts(residual, canonical_zero(residual), names, (), False)
    left, right = f.members[:2]
    factors: tuple[Expr, ...] = ()
    if f.kind == "equation" and number(0) in (left, right):
        left = right if left == number(0) else left
        factors, right = tuple(dict.fromkeys(_factors(left))), number(0)
        left = factors[0] if len(factors) == 1 else Expr("mul", factors) if factors else left
    residual = Expr("sub", (left, right))
    form = canonical_zero(residual)
    values = {node.name for member in f.members for node in walk(member) if node.op == "apply"}
    is_trivial = not any(name in form for name in names | values)
    return _Facts(residual, form, names, factors if len(factors) > 1 else (), is_trivial)


def _factors(node: Expr) -> tuple[Expr, ...]:
    """What a product is zero by: powers, roots, signs and denominators stripped (semantics Z.6)."""
    if node.op in ("sqrt", "abs", "neg", "div") or (node.op == "pow" and (node.args[1].value or 0) > 0):
        return _factors(node.args[0])
    if node.op == "mul":
        return tuple(factor for arg in node.args for factor in _factors(arg) if not factor.value)
    return (node,)


def _is_positive(node: Expr, samplings: Mapping[str, Sampling]) -> bool:
    """Whether an expression is positive by its form, wherever it is drawn."""
    if node.op == "sym":
        return samplings.get(node.name, ORDINARY).kind in ("", "positive", "angle", "integer")
    if node.op == "num":
        return node.value is not None and node.value > 0
    if node.op in ("add", "mul", "div", "sqrt"):
        return all(_is_positive(arg, samplings) for arg in node.args)
    if node.op == "pow":
        return _is_positive(node.args[0], samplings)
    return node.op in ("const", "exp", "cosh")


def _is_complex(tape: Tape, context: Context) -> bool:
    """True if an `i` occurs that the problem does not speak of (an index of a sum is none), or a complex symbol."""
    undeclared = "i" in tape.names and "i" not in context.declared
    return undeclared or any(context.kinds.get(name) == "complex" for name in tape.names)


def _compare_statements(a: Formula, b: Formula, context: Context) -> Verdict:
    """Relations other than equality and order: `a != b` has the boundary `a = b`; the rest only word for word."""
    if a.relations != b.relations:
        return Verdict("different", "kind")
    if a.relations == ("!=",):
        return compare(formula(a.members, ("=",)), formula(b.members, ("=",)), context)
    if [canonical(member) for member in a.members] == [canonical(member) for member in b.members]:
        return Verdict("equivalent", "same_form", "proved")
    return Verdict("undecided", "unsupported", detail=f"the relation {a.relations[0]}")


def _compare_zero_sets(a: Formula, b: Formula, context: Context) -> Verdict:
    facts = _facts(a), _facts(b)
    if facts[0].is_trivial or facts[1].is_trivial:
        return _compare_identities(a, b)
    same_form = facts[0].form == facts[1].form
    tapes = tape_of(facts[0].residual), tape_of(facts[1].residual)
    if _is_complex(tapes[0], context) or _is_complex(tapes[1], context):
        if same_form and a.kind != "inequality":
            return Verdict("equivalent", "same_form", "proved", "complex")
        return Verdict("undecided", "unsupported", detail="complex numbers")
    if same_form and a.kind != "inequality":
        return Verdict("equivalent", "same_form", "proved", _domain(tapes, context))
    only = set(tapes[0].atoms) ^ set(tapes[1].atoms)
    if only:
        construct = min(tapes[name in tapes[1].atoms].atoms[name] for name in only)
        return Verdict("undecided", "unsupported", detail=construct)
    return _cross_evaluate(a, b, tapes, context)


def _domain(tapes: tuple[Tape, Tape], context: Context) -> str:
    names = set(tapes[0].names) | set(tapes[1].names)
    return "real" if any(context.kinds.get(name) == "real" for name in names) else "positive"


def _compare_identities(a: Formula, b: Formula) -> Verdict:
    """A formula that says nothing about its variables matches only one whose sides correspond (semantics Z.7)."""
    sides = [sorted(canonical_zero(member) for member in f.members) for f in (a, b)]
    if sides[0] == sides[1] and len(set(sides[0])) > 1 and _holds(a):
        return Verdict("equivalent", "same_form", "proved")
    return Verdict("different", "identity")


def _holds(f: Formula) -> bool:
    """Whether a formula is true whatever its symbols are; false for `2 = 3` and `x = x + 1`."""
    return zero_points(_facts(f).residual, (), frozenset(), "", MIN_POINTS, kernels()).is_identity


def _cross_evaluate(a: Formula, b: Formula, tapes: tuple[Tape, Tape], context: Context) -> Verdict:
    """Each one's points in the other: the heart of the decision."""
    samplings = _samplings(tapes, context)
    trial = _trial(a, b, context, len(samplings))
    one, two = _points(trial, samplings)
    if one.is_identity or two.is_identity:
        return _compare_identities(a, b)
    verdict = _weigh(one, two, samplings, trial.module)
    if verdict.reason == "too_few_points":
        verdict = _try_harder(trial, samplings, one, two, verdict)
    if verdict.status == "equivalent":
        verdict = _weigh_factors(a, b, trial, samplings, verdict)
    if verdict.status == "equivalent":
        reason = "opaque_atoms" if tapes[0].atoms else "same_value" if a.kind == "expression" else "same_zero_set"
        verdict = replace(verdict, reason=reason)
    return replace(verdict, domain=_domain(tapes, context))


def _weigh_factors(
    a: Formula, b: Formula, trial: _Trial, samplings: Mapping[str, Sampling], verdict: Verdict
) -> Verdict:
    """Each factor of a product that is set to zero has zeros of its own, and the other formula must know them.

    A factor that may be zero and whose zeros are not found leaves the pair undecided: `F = ma` against
    `(F - ma)(e^{(F - 2ma)^2} - 1) = 0` (semantics Z.6).
    """
    for f, other in ((a, _facts(b).residual), (b, _facts(a).residual)):
        for factor in _facts(f).factors:
            if _is_positive(factor, samplings):
                continue
            own = _draw(Expr("sub", (factor, number(0))), samplings, trial)
            if not own.n_point:
                return replace(verdict, status="undecided", reason="too_few_points", proof=None, detail=str(factor))
            crossing = cross(_draw(other, samplings, trial), own, trial.module)
            if crossing.out[source.MISMATCH] >= 0:
                return replace(verdict, status="different", reason="other_factor", proof=None, detail=str(factor))
    return verdict


def _draw(
    residual: Expr, samplings: Mapping[str, Sampling], trial: _Trial, spectators: frozenset[str] = frozenset()
) -> Points:
    names = tape_of(residual).names
    special = sorted((name, samplings[name]) for name in names if samplings[name] != ORDINARY)
    return zero_points(residual, tuple(special), spectators, trial.digest, trial.want, trial.module)


def _try_harder(
    trial: _Trial, samplings: Mapping[str, Sampling], one: Points, two: Points, verdict: Verdict
) -> Verdict:
    """More draws, then draws in which a symbol that always came out negative is negative."""
    fallen = sorted(name for name in _negative_roots(one) & _negative_roots(two) if samplings[name] == ORDINARY)
    more = replace(trial, want=_SECOND_HELPING * trial.want)
    attempts = [(more, samplings)]
    attempts += [(trial, {**samplings, name: Sampling("negative")}) for name in fallen[:_MAX_SIGN_TRIALS]]
    for attempt, how in attempts:
        again = _weigh(*_points(attempt, how), how, trial.module)
        verdict = replace(again, cost=again.cost + verdict.cost)
        if verdict.reason != "too_few_points":
            break
    return verdict


def _samplings(tapes: tuple[Tape, Tape], context: Context) -> dict[str, Sampling]:
    """How each symbol of a pair is drawn: as declared; else as an angle if either formula takes its sine."""
    angles = tapes[0].angles | tapes[1].angles
    samplings = {}
    for name in sorted({*tapes[0].names, *tapes[1].names}):
        declared = context.symbols.get(name)
        if declared is not None:
            samplings[name] = Sampling(declared.kind, declared.domain)
        else:
            samplings[name] = Sampling("angle") if name in angles else ORDINARY
    return samplings


@dataclass(frozen=True, slots=True)
class _Trial:
    """What stays the same while samplings are tried.

    Attributes:
        residuals: of both formulas. digest: the generator's key. want: points.
        module: the kernels; a process may switch to compiled ones, but not within a pair.
    """

    residuals: tuple[Expr, Expr]
    digest: str
    want: int
    module: ModuleType


def _trial(a: Formula, b: Formula, context: Context, n_symbol: int) -> _Trial:
    residuals = _facts(a).residual, _facts(b).residual
    return _Trial(residuals, context.digest, int(_SPARE * max(MIN_POINTS, n_symbol)), kernels())


def _points(trial: _Trial, samplings: Mapping[str, Sampling]) -> tuple[Points, Points]:
    """Points of both formulas.

    Where one formula has symbols more than the other, and its zeros in each of those are 0 only (`ma = 0` against
    `a = 0`), those symbols are spectators: what is sampled is not zero (semantics Z.1).
    """
    pair = [_draw(residual, samplings, trial) for residual in trial.residuals]
    for which in (0, 1):
        mine, others = frozenset(pair[which].tape.names), frozenset(pair[1 - which].tape.names)
        roots = [root for name, root in pair[which].targets() if name not in others]
        if others < mine and roots and not any(roots):
            pair[which] = _draw(trial.residuals[which], samplings, trial, mine - others)
    return pair[0], pair[1]


def _negative_roots(points: Points) -> set[str]:
    """Symbols that came out negative whenever they were solved for."""
    targets = points.targets()
    return {name for name, root in targets if root < 0} - {name for name, root in targets if root >= 0}


def _weigh(one: Points, two: Points, samplings: Mapping[str, Sampling], module: ModuleType) -> Verdict:
    """The verdict on two formulas with points; reason `same_zero_set` where they agree."""
    there, back = cross(two, one, module), cross(one, two, module)
    cost = 3 * (two.tape.n_op * one.n_point + one.tape.n_op * two.n_point)
    verdict = Verdict("undecided", "too_few_points", cost=cost + one.cost + two.cost)
    for crossing, here, other, satisfies in ((there, two, one, "a"), (back, one, two, "b")):
        if crossing.out[source.MISMATCH] >= 0:
            witness = _witness(crossing, here, other, satisfies)
            return replace(verdict, status="different", reason="witness", witness=witness)
    if there.out[source.BORDERLINE] or back.out[source.BORDERLINE]:
        return replace(verdict, reason="borderline")
    if one.faint or two.faint:
        return replace(verdict, reason="below_rounding")
    if min(one.n_point, two.n_point) < MIN_POINTS:
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


def _witness(crossing: Crossing, here: Points, other: Points, satisfies: str) -> Witness:
    """The point where `here` was seen not to hold, in the variables of both."""
    i = crossing.out[source.MISMATCH]
    d, target = int(other.spot[3 * i]), int(other.spot[3 * i + 1])
    point = {name: float(other.draws[v * other.n_draw + d]) for v, name in enumerate(other.tape.names)}
    point[other.tape.names[target]] = float(other.root[2 * i])
    point |= {name: crossing.x[v] for v, name in enumerate(here.tape.names)}
    point.pop(_VALUE, None)
    undefined = crossing.out[source.POLED] != 0
    shown = tuple((name, f"{value:.6g}") for name, value in sorted(point.items()))
    left = _UNDEFINED if undefined else f"{crossing.left:.6g}"
    return Witness(shown, satisfies, left, _UNDEFINED if undefined else f"{crossing.right:.6g}")


def _compare_sides(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Two inequalities with one boundary: do they hold on the same side of it?

    Tested on both sides: a symbol is moved a tenth up and down from its value on the boundary; and at the free draws,
    where the two may part although they share it (semantics Z.8).
    """
    tapes = tape_of(_facts(a).residual), tape_of(_facts(b).residual)
    upward = [1 if f.relations[0] in (">", ">=") else -1 for f in (a, b)]
    samplings = _samplings(tapes, context)
    trial = _trial(a, b, context, len(samplings))
    pair = _points(trial, samplings)
    seen = set()
    for point in _around(pair[0], samplings, context.digest):
        signs = [_sign(points, point, trial.module) * side for points, side in zip(pair, upward, strict=True)]
        if 0 in signs:
            continue
        if signs[0] != signs[1]:
            return replace(verdict, status="different", reason="opposite_side", proof=None)
        seen.add(signs[0])
    if seen != {1, -1}:
        return replace(verdict, status="undecided", reason="too_few_points", proof=None)
    return verdict


def _around(boundary: Points, samplings: Mapping[str, Sampling], digest: str) -> Iterator[dict[str, float]]:
    """Points to both sides of a boundary, close to it, and wherever the draws fall."""
    table = {name: draws(name, sampling, digest, boundary.n_draw) for name, sampling in samplings.items()}
    for d in range(boundary.n_draw):
        yield {name: values[d] for name, values in table.items()}
    for i, (target, root) in enumerate(boundary.targets()):
        point = {name: values[int(boundary.spot[3 * i])] for name, values in table.items()}
        room = abs(root) or 1.0
        if samplings[target].kind == "angle" and samplings[target].domain is None:
            room = min(room, source.HALF_PI - root)
        for step in (-_ASIDE, _ASIDE):
            yield {**point, target: root + step * room}


def _sign(points: Points, point: Mapping[str, float], module: ModuleType) -> int:
    """Sign of the residual at a point; 0 where it is undefined or lost in rounding."""
    tape = points.tape
    x, value, bound, _, _ = workspace(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = point[name]
    flag = module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)
    if flag or abs(value[-1]) <= source.INFORMATIVE * bound[-1]:
        return 0
    return 1 if value[-1] > 0 else -1
