r"""Which formulas of a worked solution were derived from which, as far as the formulas themselves show it.

Nobody writes "from (3) and (5)" beside each step, so an edge is drawn where a rule sees one, each with its reason in
`RULES`. The first is the strongest: a formula that holds wherever some earlier ones do, and none fewer, follows from
them. A law that merely uses a symbol (`T = P/\omega` after `\omega = 2\pi N`) was not derived from what that symbol is
solved for, so a shared symbol alone draws no edge: a false edge pays for a step that nobody has shown, a missing one
costs at most the credit of a step that is right. What is doubtful is kept apart, for a person to decide.

The loader wants every node to reach an answer. One that nothing is seen to rest on goes to a formula soon after it
that has a symbol of it, else to the next answer: laws are stated where they are used. These two rules are the weakest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from prism.algebra.expr import Expr, Formula, plain_parts, spell, symbols, symbols_of, walk
from prism.authoring.entailment import follows
from prism.equivalence.numbers import is_subject, numeric_of
from prism.equivalence.substitutions import subject_of
from prism.physics.context import Context, values_of

RULES = {
    "follows": "it holds wherever they do",
    "number": "what the number is worked out from",
    "value": "a value that goes into the number",
    "calculus": "its derivative or its integral",
    "rewritten": "the same symbols",
    "eliminated": "their symbols but for those that they share",
    "instance": "the same quantities at an instant or a place",
    "special": "a case of it: all its symbols stand there",
    "next": "nothing else rests on that one, and a symbol of it stands here next",
    "answer": "nothing else rests on that one, so it is kept for the answer",
}
"""Why an edge was drawn, in words. Closed."""

MAX_PREMISES = 3  # of one step; four and more are rarely one step, and there are too many choices of them
MAX_TRIED = 40  # choices of premises that are tried for one formula: each costs a Newton iteration
MAX_CHOICES = 4000  # choices that are looked at; a solution of 30 formulas has 4000 of three
# Formulas behind a loose one in which its symbols are looked for. With 0 all of them go to the answer: over the two
# collections of `benchmarks/accuracy/drafting.py` ancestors are then right in 0.98 and 0.92 instead of 0.94 and 0.87 of
# the cases, and 0.89 and 0.60 of those that people drew are found instead of 0.94 and 0.71.
AHEAD = 2
_MIN_SHARED = 2  # symbols that a special case shares with the general one: one symbol is shared by chance


@dataclass(frozen=True, slots=True)
class Edge:
    """One formula that another was derived from.

    Attributes:
        origin: place of the earlier one in the sequence.
        rule: key of `RULES`.
        is_implied: another edge of the formula leads there too, so that the file does not list it.
    """

    origin: int
    rule: str
    is_implied: bool = False


@dataclass(frozen=True, slots=True)
class Derivation:
    """The edges of a sequence of formulas.

    Attributes:
        edges: of each formula, in order.
        doubtful: of each formula places that it may rest on; a person has to decide.
    """

    edges: tuple[tuple[Edge, ...], ...]
    doubtful: tuple[tuple[int, ...], ...]


def derivation_of(formulas: Sequence[Formula], finals: Collection[int], context: Context) -> Derivation:
    r"""The edges between formulas that stand in the order of a solution.

    Args:
        formulas: at least one.
        finals: places of the final answers; the last formula is one.
        context: of the problem; what it gives a value to is no unknown.

    >>> from prism.latex import parse
    >>> said = [parse(text) for text in ("v = g t", "h = g t^2/2", r"v = \sqrt{2 g h}")]
    >>> [[edge.origin for edge in edges] for edges in derivation_of(said, {2}, Context()).edges]
    [[], [], [0, 1]]
    """
    steps = tuple(_step(f) for f in formulas)
    given = frozenset(values_of(context))
    found = [dict(_origins(steps, place, given, context)) for place in range(len(steps))]
    doubtful = [_doubtful(steps, place, given) if not found[place] else () for place in range(len(steps))]
    _join_loose(steps, found, finals, given)
    edges = tuple(
        tuple(Edge(origin, mine[origin], _is_implied(origin, mine, found)) for origin in sorted(mine)) for mine in found
    )
    return Derivation(edges, tuple(doubtful))


@dataclass(frozen=True, slots=True)
class _Step:
    """One formula; names are its symbols, rates of how many derivatives of which symbols it has."""

    formula: Formula
    names: frozenset[str]
    subject: str
    is_number: bool
    rates: Mapping[str, int]

    @property
    def is_equation(self) -> bool:
        return self.formula.kind == "equation" and not self.is_number


def _step(f: Formula) -> _Step:
    number = numeric_of(f)
    subject = number.subject if number is not None else _solved_for(f)
    rates: dict[str, int] = {}
    for part in plain_parts(f):
        for node in (inner for member in part.members for inner in walk(member)):
            if node.op in ("derivative", "partial"):
                for name in symbols(node.args[0]):
                    rates[name] = rates.get(name, 0) + 1
    name = "" if subject is None else subject.name if subject.op == "sym" else spell(subject)
    return _Step(f, symbols_of(f), name, number is not None, rates)


def _solved_for(f: Formula) -> Expr | None:
    """What an equation is solved for: a symbol, else a side that is one construct, such as a derivative."""
    if f.kind != "equation":
        return None
    return subject_of(f) or next((member for member in f.members if is_subject(member)), None)


_Steps = Sequence[_Step]


def _origins(steps: _Steps, place: int, given: frozenset[str], context: Context) -> Iterator[tuple[int, str]]:
    """What a formula was derived from, by the first rule that says anything."""
    step = steps[place]
    if step.is_number:
        yield from _of_number(steps, place, given)
        return
    before = [k for k in range(place) if not steps[k].is_number]
    if not step.is_equation:  # an inequality, a proportionality: of what its symbols stand in
        yield from ((k, "special") for k in _last(before, lambda k: bool(step.names) and step.names <= steps[k].names))
        return
    before = [k for k in before if steps[k].is_equation]
    choices = list(_choices(steps, before, step.names))
    for choice in choices[:MAX_TRIED]:
        if follows(step.formula, [steps[k].formula for k in choice], context):
            yield from ((k, "follows") for k in choice)
            return
    rules = (
        ("calculus", lambda k: _is_rate_of(step, steps[k])),
        ("instance", lambda k: _is_instance(steps, place, k, given)),
        ("rewritten", lambda k: step.names == steps[k].names),
        (
            "rewritten",
            lambda k: bool(step.subject) and step.subject == steps[k].subject and step.names <= steps[k].names,
        ),
    )
    for rule, holds in rules:
        if found := _last(before, holds):
            yield from ((k, rule) for k in found)
            return
    if fitting := next((choice for choice in choices if _eliminates(steps, choice, step.names)), ()):
        yield from ((k, "eliminated") for k in fitting)
        return
    shared = _last(before, lambda k: len(step.names) >= _MIN_SHARED and step.names <= steps[k].names)
    yield from ((k, "special") for k in shared)


def _choices(steps: _Steps, before: Sequence[int], names: frozenset[str]) -> Iterator[tuple[int, ...]]:
    """Premises that may give a formula by elimination, fewest and latest first.

    They have all its symbols, and each symbol that is gone stands in two of them at least, but for one that may divide
    out, as the mass does in `m v^2/2 = m g h`.
    """
    seen = 0
    for size in range(1, MAX_PREMISES + 1):
        fitting: list[tuple[tuple[int, int], tuple[int, ...]]] = []
        for choice in combinations(reversed(before), size):
            seen += 1
            if seen > MAX_CHOICES:
                break
            own = [steps[k].names for k in choice]
            gone = frozenset().union(*own) - names
            if not names <= frozenset().union(*own):
                continue
            n_single = sum(sum(name in each for each in own) < 2 for name in gone)
            if n_single <= 1 and (size == 1 or len(gone) > n_single):
                fitting.append(((n_single, len(gone)), choice))
        yield from (choice for _, choice in sorted(fitting, key=lambda each: each[0]))


def _eliminates(steps: _Steps, choice: Sequence[int], names: frozenset[str]) -> bool:
    """Whether as many symbols are gone as so many equations can do without, each of them shared."""
    own = [steps[k].names for k in choice]
    gone = frozenset().union(*own) - names
    return 0 < len(gone) == len(choice) - 1 and all(sum(name in each for each in own) > 1 for name in gone)


def _last(places: Sequence[int], holds: Callable[[int], bool]) -> list[int]:
    """The last place of which something holds, or nothing."""
    return next(([k] for k in reversed(places) if holds(k)), [])


def _of_number(steps: _Steps, place: int, given: frozenset[str]) -> Iterator[tuple[int, str]]:
    """The formula that a number is worked out from, and the values that go into it."""
    name = steps[place].subject
    before = [k for k in range(place) if not steps[k].is_number]
    solved = [k for k in before if name and steps[k].subject == name]
    sources = solved or [k for k in before if name in steps[k].names]
    if not sources:
        return
    settled = [k for k in sources if all(_settling(steps, place, each) for each in steps[k].names - given - {name})]
    source = (settled or sources)[-1]
    yield source, "number"
    for each in sorted(steps[source].names - given - {name}):
        yield from ((k, "value") for k in _settling(steps, place, each, given | {name}) if k != source)


def _settling(steps: _Steps, place: int, name: str, known: frozenset[str] = frozenset()) -> frozenset[int]:
    """The formulas before a place that give a symbol its value: its number, or what it is solved for and theirs."""
    found: set[int] = set()
    waiting, passed = [name], set(known)
    while waiting:
        wanted = waiting.pop()
        if wanted in passed:
            continue
        passed.add(wanted)
        mine = [k for k in range(place) if steps[k].subject == wanted]
        numbers = [k for k in mine if steps[k].is_number]
        found.update((numbers or mine)[-1:])
        if mine and not numbers:
            waiting += sorted(steps[mine[-1]].names)
    return frozenset(found)


def _is_rate_of(step: _Step, earlier: _Step) -> bool:
    """Whether a formula is solved for what an earlier one has a derivative of, or the other way round."""
    if any(name == earlier.subject for name in step.rates):
        return True
    left, right = (symbols(member) for member in step.formula.members[:2])
    return not step.rates and any(name in left - right for name in earlier.rates)


def _is_instance(steps: _Steps, place: int, earlier: int, given: frozenset[str]) -> bool:
    """Whether an earlier formula becomes one by indices on its symbols: `v_f = g t_f` beside `v = g t`."""
    names, general = steps[place].names, steps[earlier].names
    new = names.difference(*(steps[k].names for k in range(place)))
    meant: dict[str, str] = {}
    for name in sorted(new):
        plain = name.partition("_")[0]
        if plain != name and plain in general - names and plain not in meant.values():
            meant[name] = plain
    return bool(meant) and {meant.get(name, name) for name in names} - given <= general


def _doubtful(steps: _Steps, place: int, given: frozenset[str]) -> tuple[int, ...]:
    """An earlier formula that has all symbols of one but the new symbol that it is solved for: law or consequence."""
    step = steps[place]
    rest = step.names - {step.subject}
    if not step.is_equation or not step.subject or len(rest) < _MIN_SHARED or not rest - given:
        return ()
    before = [k for k in range(place) if steps[k].is_equation]
    if any(step.subject in steps[k].names for k in before):
        return ()
    return tuple(_last(before, lambda k: rest <= steps[k].names))


def _join_loose(steps: _Steps, found: Sequence[dict[int, str]], finals: Collection[int], given: frozenset[str]) -> None:
    r"""Give each formula that leads to no answer to one soon after it, or to the next answer.

    A number goes into numbers only: `v = g t` does not rest on `v = 9.9\\,m/s`.
    """
    reached = set(finals)
    for place in range(len(steps) - 1, -1, -1):
        if place in reached:
            reached.update(found[place])
            continue
        later = [k for k in range(place + 1, len(steps)) if k in reached]
        unknown = steps[place].names - given
        near = next(
            (
                k
                for k in later
                if k <= place + AHEAD and unknown & steps[k].names and steps[k].is_number >= steps[place].is_number
            ),
            None,
        )
        if near is None:
            found[next(k for k in later if k in finals)][place] = "answer"
        else:
            found[near][place] = "next"
        reached.add(place)
        reached.update(found[place])


def _is_implied(origin: int, mine: Mapping[int, str], found: Sequence[Mapping[int, str]]) -> bool:
    """Whether an edge follows from the others of a formula."""
    waiting = [other for other in mine if other > origin]
    seen = set(waiting)
    while waiting:
        for earlier in found[waiting.pop()]:
            if earlier == origin:
                return True
            if earlier > origin and earlier not in seen:
                seen.add(earlier)
                waiting.append(earlier)
    return False
