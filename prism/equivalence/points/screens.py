"""Screens: what settles most pairs of formulas, worked out once for each formula.

Nearly all pairs that a grade compares differ, and a single point shows it. What shows it - tapes, points, samplings,
names - is the same in every pair that a formula stands in, as long as no letter of the pair has more than one number.
`refute` decides pairs by what their screens hold. It gives the verdict that `prism.equivalence.dispatch.compare` would
give, and leaves to that what needs a look at both formulas together, and every pair that may be equivalent.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from prism.algebra.alternatives import as_product
from prism.algebra.calculus import evaluate_operations
from prism.algebra.expr import Formula, canonical_zero, formula
from prism.algebra.noncommutative import shows_operators
from prism.budget import charge_steps, free_property, remembered, remembered_property
from prism.engine.kernels import active_kernels, source
from prism.engine.lowering import PLAIN, Mismatch
from prism.engine.tape import Tape, TapeTooLarge
from prism.engine.zero_set import (
    Sampling,
    ZeroSet,
    cross_evaluate,
    sample_zero_set,
    unsolved_zero_set,
    without_negative_roots,
)
from prism.equivalence.facts import FORMULAS_KEPT, VALUE_NAME, facts_of
from prism.equivalence.notation.choice import notation_of, with_matching_calls
from prism.equivalence.points.trials import points_wanted
from prism.equivalence.points.zero_sets import witness_of
from prism.equivalence.verdict import OTHER_KIND, RANK, Status, Verdict
from prism.physics.context import Context, kind_of

STEPS, STEPS_PER_NODE = 40, 1  # of Python that a comparison takes beside tapes and points
_KINDS = frozenset(("equation", "inequality", "expression"))
_COLLECTIONS = frozenset(("set", "tuple", "interval", "union", "list"))
_SEVERAL_NUMBERS = frozenset(("complex", "vector"))
_IDENTITY = Verdict(Status.DIFFERENT, "identity")


@dataclass(frozen=True)
class Screen:
    """What a formula in base units brings to the comparison with any other; get the record from `screen_of`.

    Attributes:
        formula: with derivatives, limits and alternatives worked out, as it is compared beside a formula without any.
        context: what the problem knows.
        tape: of the residual, with one real number for each symbol.
        is_as_written: nothing had to be worked out.
        has_plain_letters: every letter surely is one real number.
        is_trivial: it is true or false whatever its symbols are.
        has_real: the problem declares a variable as a number of either sign.
        names: the variables of the tape.
        samplings: (name, sampling) of those that the formula or the problem says more of, sorted by name.
        special: their names.
        n_nodes: nodes of its members as they were before.
    """

    formula: Formula
    context: Context
    tape: Tape
    is_as_written: bool
    has_plain_letters: bool
    is_trivial: bool
    has_real: bool
    names: frozenset[str]
    samplings: tuple[tuple[str, Sampling], ...]
    special: frozenset[str]
    n_nodes: int

    def __hash__(self) -> int:
        """Return a hash of formula and context."""
        return hash((self.formula, self.context))

    @free_property
    def parameters(self) -> frozenset[str]:
        """Return the names without the symbol for the value of an expression."""
        return self.names - {VALUE_NAME}

    @remembered_property
    def sides(self) -> list[str]:
        """Return the canonical members, sorted: two identities with the same ones may state the same."""
        return sorted(canonical_zero(member) for member in self.formula.members)

    @remembered_property
    def members(self) -> tuple[Screen | None, ...]:
        """Return the screens of the members, each as a formula of its own."""
        f = self.formula
        return tuple([screen_of(formula((member,), (), "", f.depends), self.context) for member in f.members])

    def solved(self, want: int, module: ModuleType) -> ZeroSet:
        """Return the formula with `want` points on its zero set."""
        return sample_zero_set(self.tape, self.samplings, frozenset(), self.context.digest, want, module)

    def unsolved(self, want: int, module: ModuleType) -> ZeroSet:
        """Return the formula as it is evaluated at `want` points of another one."""
        return unsolved_zero_set(self.tape, self.samplings, self.context.digest, want, module)


@remembered(FORMULAS_KEPT)
def screen_of(written: Formula, context: Context) -> Screen | None:
    """Return the screen of a formula in base units; None where only both formulas of a pair say how it is read."""
    facts = facts_of(written)
    if written.kind not in _KINDS or written.parts or notation_of(written, written, context) is not PLAIN:
        return None
    if shows_operators(written):
        return None
    f = written
    if not facts.is_plain:
        try:
            f = as_product(evaluate_operations(*with_matching_calls(f, f))[0])
        except (TapeTooLarge, Mismatch):
            return None
    tape = facts_of(f).plain_tape
    is_collection = f.kind == "expression" and f.members[0].op in _COLLECTIONS
    if f.kind not in _KINDS or is_collection or not isinstance(tape, Tape) or len(tape.roots) > 1:
        return None
    declared = context.symbols
    samplings = {name: Sampling(kind) for name, kind in tape.kinds.items()}
    samplings |= {name: Sampling(declared[name].kind, declared[name].domain) for name in tape.names if name in declared}
    return Screen(
        formula=f,
        context=context,
        tape=tape,
        is_as_written=facts.is_plain,
        has_plain_letters=facts_of(f).has_one_reading and _SEVERAL_NUMBERS.isdisjoint(context.kinds.values()),
        is_trivial=facts_of(f).is_trivial,
        has_real=any(kind_of(context, name) == "real" for name in tape.names),
        names=frozenset(tape.names),
        samplings=tuple(sorted(samplings.items())),
        special=frozenset(samplings),
        n_nodes=facts.n_nodes,
    )


def refute(a: Screen | None, b: Screen | None, *, approximate: bool = False) -> Verdict | None:
    """Return the verdict of `compare` on two formulas that differ, or that cannot be compared, by their screens.

    None where these do not settle it.

    Args:
        a, b: the reference and the claim.
        approximate: decimals count as equal within their own precision.
    """
    if a is None or b is None or not (a.is_as_written or b.is_as_written):
        return None
    if a.formula.kind != b.formula.kind:
        if a.formula.kind == "expression" and b.formula.kind == "equation":
            return _refute_members(a, b)
        return OTHER_KIND
    charge_steps(STEPS + STEPS_PER_NODE * (a.n_nodes + b.n_nodes))
    if a.is_trivial or b.is_trivial:
        return _IDENTITY if a.names and a.sides != b.sides else None
    if not (a.has_plain_letters and b.has_plain_letters) and notation_of(a.formula, b.formula, a.context) is not PLAIN:
        return None
    if a.tape.atoms != b.tape.atoms and (only := a.tape.atoms.keys() ^ b.tape.atoms.keys()):
        one, two = facts_of(a.formula), facts_of(b.formula)
        if one.may_have_form_of(two) and one.form == two.form:
            return None
        construct = min(b.tape.atoms.get(name) or a.tape.atoms[name] for name in only)
        return Verdict(Status.UNDECIDED, "unsupported", detail=construct)
    return _refute_by_points(a, b, approximate=approximate)


def _refute_members(a: Screen, b: Screen) -> Verdict | None:
    """Return the best verdict on an expression beside each side of an equation; None if one of them is left open."""
    found = [refute(a, member) for member in b.members]
    settled = [verdict for verdict in found if verdict is not None]
    return min(settled, key=lambda verdict: RANK[verdict.status]) if len(settled) == len(found) else None


def _refute_by_points(a: Screen, b: Screen, *, approximate: bool) -> Verdict | None:
    """Return `different` if a point of the reference does not satisfy the claim; None if none does, or more is asked.

    More is asked where what is drawn for a variable, or which points count, depends on both formulas.
    """
    one, two = a.tape, b.tape
    if one.kinds != two.kinds and any(one.kinds.get(name) != two.kinds.get(name) for name in a.names & b.names):
        return None
    n_names = len(a.names | b.names)
    if n_names < 3 and len(a.parameters | b.parameters) < 2:
        return None
    want, module = points_wanted(n_names), active_kernels()
    points, tested = a.solved(want, module), b.unsolved(want, module)
    if points.is_identity or tested.is_identity:
        return None
    if b.names < a.names:
        roots = [root for name, root in points.solved if name not in b.names]
        if roots and not any(roots):
            return None
    if points.negative_roots:
        negative = points.negative_roots.difference(points.subjects, tested.subjects, a.special)
        positive = points.positive_roots & negative
        if not b.names.isdisjoint(negative - positive):
            return None
        if positive:
            points = without_negative_roots(points, positive, module)
    rules = 0
    if one.is_measured or two.is_measured:
        rules = source.MEASURED if approximate else source.EXACT
    if one.has_inverse or two.has_inverse:
        rules |= source.IN_RANGE
    crossing = cross_evaluate(tested, points, module, rules)
    if crossing.out[source.MISMATCH] < 0:
        return None
    domain = "real" if a.has_real or b.has_real else "positive"
    return Verdict(Status.DIFFERENT, "witness", domain=domain, witness=witness_of(crossing, tested, points, "a"))
