r"""Infer which formulas of a worked solution were derived from which, as far as the formulas show it.

Nobody writes "from (3) and (5)" beside each step, so an edge is drawn where a rule applies, each with its reason in
`RULES`. The first rule is the strongest: a formula that holds wherever some earlier ones hold, and no fewer of them,
follows from them. A law that merely uses a symbol (`T = P/\omega` after `\omega = 2\pi N`) was not derived from what
that symbol is solved for, so a shared symbol alone draws no edge: a false edge credits a step that nobody has shown, a
missing one costs at most the credit of a right step. Doubtful edges are kept apart, for a person to decide.

The loader requires that every node leads to an answer. A formula that leads to none is connected to one soon after it
that shares a symbol, else to the next answer: laws are stated where they are used. An answer that no rule leads to is
connected to the last formula before it with two of its unknown symbols, other answers aside. These rules are the
weakest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from prism.algebra.expr import Expr, Formula, plain_parts, spell, symbols, symbols_of, walk
from prism.authoring.entailment import is_entailed
from prism.budget import ORIGINS, share
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.numbers.stated import is_subject
from prism.physics.context import Context, given_values
from prism.resources import meanings

RULES: Mapping[str, str] = meanings("authoring.rules")
"""Why an edge was drawn, in words."""

ELIMINATED, SHARED = "eliminated", "shared"
"""What the symbols are that stand behind the reason of an edge."""

QUESTIONS: Mapping[str, str] = meanings("authoring.questions")
"""Why a person is asked about an edge that is not drawn."""

MAX_PREMISES = 3  # of one step; four or more are rarely one step, and there are too many combinations
MAX_TRIED = 40  # sets of premises that are tested for one formula: each costs a Newton iteration
MAX_CHOICES = 4000  # sets of premises that are considered; a solution of 30 formulas has 4000 of three
# Formulas after a loose one in which its symbols are looked for. With 0 all go to the answer: ancestors are then right
# a little oftener, and of those that people drew in `dags/` 0.60 are found instead of 0.68.
AHEAD = 2
_SHOWN = 4  # symbols that are named as the reason of an edge
_KEPT = 0.7  # share of the unknowns of a formula that its derivative or integral has too
_MIN_SHARED = 2  # symbols that a special case shares with the general one; one may be shared by chance


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a formula to the earlier formula (`origin`) that it was derived from.

    Attributes:
        origin: index of the earlier formula in the sequence.
        rule: key of `RULES`.
        is_implied: another edge of the formula leads there too, so that the file does not list it.
        eliminated: symbols of the formulas that it follows from together, and not its own.
        shared: its symbols that the earlier formula has too.
    """

    origin: int
    rule: str
    is_implied: bool = False
    eliminated: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reason in words, with the symbols that show it."""
        if self.eliminated:
            return f"{RULES[self.rule]}; {ELIMINATED}: {', '.join(self.eliminated)}"
        return f"{RULES[self.rule]}; {SHARED}: {', '.join(self.shared)}" if self.shared else RULES[self.rule]


@dataclass(frozen=True, slots=True)
class Question:
    """An edge that is not drawn, and that a person has to decide on; `rule` is a key of `QUESTIONS`."""

    origin: int
    rule: str


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The inferred edges of a sequence of formulas, and the edges that a person has to decide on.

    Attributes:
        edges: of each formula, in order.
        doubtful: of each formula, the earlier ones that it may depend on; a person has to decide.
        is_cut: it costs too much to test all that a formula may follow from, and other rules drew its edges.
    """

    edges: tuple[tuple[Edge, ...], ...]
    doubtful: tuple[tuple[Question, ...], ...]
    is_cut: bool = False


def infer_dependencies(
    formulas: Sequence[Formula], finals: Collection[int], context: Context, *, operations: float = ORIGINS
) -> Dependencies:
    r"""Infer from which earlier formulas each formula of a solution was derived.

    Args:
        formulas: at least one.
        finals: indices of the final answers; the last formula is one.
        context: of the problem; symbols that it gives a value are no unknowns.
        operations: that the tests at points may cost; beyond, the other rules decide.

    >>> from prism.latex import parse
    >>> formulas = [parse(text) for text in ("v = g t", "h = g t^2/2", r"v = \sqrt{2 g h}")]
    >>> [[edge.origin for edge in edges] for edges in infer_dependencies(formulas, {2}, Context()).edges]
    [[], [], [0, 1]]
    """
    steps = tuple(_describe_step(f) for f in formulas)
    given = frozenset(given_values(context))
    found: list[dict[int, str]] = []
    with share(operations) as account:
        found += (dict(_find_origins(steps, place, given, context)) for place in range(len(steps)))
    found += (dict(_find_origins(steps, place, given, None)) for place in range(len(found), len(steps)))
    _connect_loose_answers(steps, found, finals, given)
    doubtful = [{} if found[place] else _questions(steps, place, given) for place in range(len(steps))]
    _connect_loose_steps(steps, found, doubtful, finals, given)
    edges = tuple(
        tuple(
            Edge(origin, own[origin], _is_implied(origin, own, found), *_symbols_behind(steps, place, origin, own))
            for origin in sorted(own)
        )
        for place, own in enumerate(found)
    )
    asked = tuple(
        tuple(Question(origin, own[origin]) for origin in sorted(own) if origin not in found[place])
        for place, own in enumerate(doubtful)
    )
    return Dependencies(edges, asked, account.is_exhausted)


@dataclass(frozen=True, slots=True)
class _Step:
    """One formula of the sequence, with the symbols and the subject by which its origins are found.

    Attributes:
        names: its symbols. subject: what it is solved for, spelled; empty if nothing.
        is_number: it states a number. rates: symbols that it has derivatives of.
    """

    formula: Formula
    names: frozenset[str]
    subject: str
    is_number: bool
    rates: frozenset[str]

    @property
    def is_equation(self) -> bool:
        """True for an equation that does more than state a number."""
        return self.formula.kind == "equation" and not self.is_number


def _describe_step(f: Formula) -> _Step:
    """Return a formula as a `_Step`, with its symbols, its subject and the symbols it has derivatives of."""
    number = numeric_of(f)
    subject = number.subject if number is not None else _solved_for(f)
    nodes = (node for part in plain_parts(f) for member in part.members for node in walk(member))
    rates = frozenset[str]().union(*(symbols(node.args[0]) for node in nodes if node.op in ("derivative", "partial")))
    name = "" if subject is None else subject.name if subject.op == "sym" else spell(subject)
    return _Step(f, symbols_of(f), name, number is not None, rates)


def _solved_for(f: Formula) -> Expr | None:
    """Return the side of an equation that is a lone symbol, else a lone construct such as `dv/dt`; else None."""
    if f.kind != "equation":
        return None
    return subject_of(f) or next((member for member in f.members if is_subject(member)), None)


_Steps = Sequence[_Step]


def _symbols_behind(
    steps: _Steps, place: int, origin: int, own_edges: Mapping[int, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the symbols that show why an edge was drawn: those eliminated, of a set of premises, and those shared."""
    step, rule = steps[place], own_edges[origin]
    premises = [k for k, other in own_edges.items() if other == rule]
    if rule in ("follows", "eliminated") and len(premises) > 1:
        gone = frozenset().union(*(steps[k].names for k in premises)) - step.names
        return tuple(sorted(gone))[:_SHOWN], ()
    if rule == "value":
        return (), (steps[origin].subject,)
    return (), tuple(sorted(step.names & steps[origin].names))[:_SHOWN]


def _find_origins(
    steps: _Steps, place: int, given: frozenset[str], context: Context | None
) -> Iterator[tuple[int, str]]:
    """Yield (index, rule) of the earlier formulas that formula number `place` was derived from; one rule at most.

    Without a context the first rule, which has to be tested at points, is left out.
    """
    step = steps[place]
    if step.is_number:
        yield from _origins_of_number(steps, place, given)
        return
    before = [k for k in range(place) if not steps[k].is_number]
    if not step.is_equation:  # an inequality, a proportionality: of what its symbols stand in
        yield from (
            (k, "special") for k in _last_matching(before, lambda k: bool(step.names) and step.names <= steps[k].names)
        )
        return
    before = [k for k in before if steps[k].is_equation]
    choices = list(_premise_choices(steps, before, step.names))
    for choice in choices[:MAX_TRIED]:
        if context is not None and is_entailed(step.formula, [steps[k].formula for k in choice], context):
            yield from ((k, "follows") for k in choice)
            return
    rules = (
        ("calculus", lambda k: _is_rate_of(step, steps[k]) and _keeps_unknowns(step, steps[k], given)),
        ("instance", lambda k: _is_instance(steps, place, k, given)),
        ("rewritten", lambda k: step.names == steps[k].names),
        (
            "rewritten",
            lambda k: bool(step.subject) and step.subject == steps[k].subject and step.names <= steps[k].names,
        ),
    )
    for rule, holds in rules:
        if found := _last_matching(before, holds):
            yield from ((k, rule) for k in found)
            return
    if fitting := next((choice for choice in choices if _eliminates(steps, choice, step.names)), ()):
        yield from ((k, "eliminated") for k in fitting)
        return
    shared = _last_matching(before, lambda k: len(step.names) >= _MIN_SHARED and step.names <= steps[k].names)
    yield from ((k, "special") for k in shared)


def _premise_choices(steps: _Steps, before: Sequence[int], names: frozenset[str]) -> Iterator[tuple[int, ...]]:
    """Yield sets of earlier formulas that may together give a formula with the symbols `names`, smallest sets first.

    A set contains all of these symbols; any further symbol has to be eliminated, so it occurs in at least two formulas
    of the set, except one that may divide out, as the mass does in `m v^2/2 = m g h`.
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
    """Return True if the n chosen equations share n - 1 symbols not in `names`, each in at least two of them."""
    own = [steps[k].names for k in choice]
    gone = frozenset().union(*own) - names
    return 0 < len(gone) == len(choice) - 1 and all(sum(name in each for each in own) > 1 for name in gone)


def _last_matching(places: Sequence[int], holds: Callable[[int], bool]) -> list[int]:
    """Return the last of the indices for which `holds` is True, in a list; an empty list if there is none."""
    return next(([k] for k in reversed(places) if holds(k)), [])


def _origins_of_number(steps: _Steps, place: int, given: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield (index, rule) of the formula that a stated number is computed from and of the values inserted into it."""
    name = steps[place].subject
    before = [k for k in range(place) if not steps[k].is_number]
    solved = [k for k in before if name and steps[k].subject == name]
    sources = solved or [k for k in before if name in steps[k].names]
    if not sources:
        return
    settled = [
        k for k in sources if all(_steps_giving_value(steps, place, each) for each in steps[k].names - given - {name})
    ]
    source = (settled or sources)[-1]
    yield source, "number"
    for each in sorted(steps[source].names - given - {name}):
        yield from ((k, "value") for k in _steps_giving_value(steps, place, each, given | {name}) if k != source)


def _steps_giving_value(steps: _Steps, place: int, name: str, known: frozenset[str] = frozenset()) -> frozenset[int]:
    """Return earlier steps that give a symbol its value: its number, or its formula and what gives that one's symbols.

    Args:
        place: index of the step that needs the value.
        known: symbols whose value needs no step, such as givens.
    """
    found: set[int] = set()
    waiting, passed = [name], set(known)
    while waiting:
        wanted = waiting.pop()
        if wanted in passed:
            continue
        passed.add(wanted)
        own_edges = [k for k in range(place) if steps[k].subject == wanted]
        numbers = [k for k in own_edges if steps[k].is_number]
        found.update((numbers or own_edges)[-1:])
        if own_edges and not numbers:
            waiting += sorted(steps[own_edges[-1]].names)
    return frozenset(found)


def _is_rate_of(step: _Step, earlier: _Step) -> bool:
    """Return True if a formula has a derivative of the earlier one's subject, or gives what the earlier one derives."""
    if earlier.subject in step.rates:
        return True
    return not step.rates and bool(step.subject) and step.subject in earlier.rates


def _keeps_unknowns(step: _Step, earlier: _Step, given: frozenset[str]) -> bool:
    """Return True if most unknowns of a formula stand in another; all the same where it is solved for nothing."""
    unknown = earlier.names - given
    return not earlier.subject or len(unknown & step.names) >= _KEPT * len(unknown)


def _is_instance(steps: _Steps, place: int, earlier: int, given: frozenset[str]) -> bool:
    """Return True if a formula is an earlier one with subscripts added to its symbols: `v_f = g t_f` of `v = g t`.

    Args:
        place, earlier: indices of the formula and of the earlier one.
        given: symbols that the problem gives a value; the formula may have them besides.
    """
    names, general = steps[place].names, steps[earlier].names
    new = names.difference(*(steps[k].names for k in range(place)))
    meant: dict[str, str] = {}
    for name in sorted(new):
        plain = name.partition("_")[0]
        if plain != name and plain in general - names and plain not in meant.values():
            meant[name] = plain
    return bool(meant) and {meant.get(name, name) for name in names} - given <= general


def _questions(steps: _Steps, place: int, given: frozenset[str]) -> dict[int, str]:
    """Return what a person has to say of a formula for which no edge is found: earlier formulas, with the question.

    It is the last one with all of its symbols but the one that it is solved for; of a number whose quantity stands in
    no formula, and of an answer in words, the formula before it.
    """
    step = steps[place]
    before = [k for k in range(place) if steps[k].is_equation]
    is_new = all(step.subject not in steps[k].names for k in before)
    if step.is_number or not step.formula.members:
        return {place - 1: "step"} if place and is_new else {}
    rest = step.names - {step.subject}
    if not (step.is_equation and step.subject and is_new) or len(rest) < _MIN_SHARED or not rest - given:
        return {}
    return dict.fromkeys(_last_matching(before, lambda k: rest <= steps[k].names), "solved")


def _connect_loose_answers(
    steps: _Steps, found: Sequence[dict[int, str]], finals: Collection[int], given: frozenset[str]
) -> None:
    """Add an edge to `found` for each answer without one: from the last formula with two of its unknown symbols.

    Answers share symbols with each other as answers to one problem; so no edge comes from another answer.
    """
    for place in finals:
        unknown = steps[place].names - given
        if not found[place] and steps[place].is_equation:
            before = [k for k in range(place) if k not in finals and steps[k].is_equation]
            near = [k for k in before if len(unknown & steps[k].names) >= _MIN_SHARED]
            found[place].update((k, "last") for k in near[-1:])


def _connect_loose_steps(
    steps: _Steps, found: Sequence[dict[int, str]], doubtful: Sequence[dict[int, str]], finals: Collection[int],
    given: frozenset[str],
) -> None:  # fmt: skip
    r"""Add edges to `found` for each formula that no answer depends on: from a formula soon after, or the next answer.

    Where the formula soon after may be a law beside it, the edge is a question, in `doubtful`. A number is inserted
    into numbers only: `v = g t` does not depend on `v = 9.9\,m/s`.
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
        answer = next(k for k in later if k in finals)
        if near not in (None, answer) and _is_law_beside(steps, place, near, found):
            doubtful[near].setdefault(place, "beside")
            near = None
        if near is None:
            found[answer][place] = "answer"
        else:
            found[near][place] = "next"
        reached.add(place)
        reached.update(found[place])


def _is_law_beside(steps: _Steps, place: int, near: int, found: Sequence[Mapping[int, str]]) -> bool:
    """Return True if a formula may be stated beside a loose one before it, and not be derived from it.

    So it may be where it merely uses what that one is solved for, to give a quantity of its own; and where it was
    derived from others and its quantity is an old one.
    """
    one, other = steps[place], steps[near]
    if one.is_number or other.is_number:
        return False
    is_new = bool(other.subject) and all(other.subject not in steps[k].names for k in range(near))
    if one.subject and one.subject in other.names:
        return is_new
    return bool(found[near]) and not is_new


def _is_implied(origin: int, own_edges: Mapping[int, str], found: Sequence[Mapping[int, str]]) -> bool:
    """Return True if the origin of an edge is also reached through another edge of the same formula."""
    waiting = [other for other in own_edges if other > origin]
    seen = set(waiting)
    while waiting:
        for earlier in found[waiting.pop()]:
            if earlier == origin:
                return True
            if earlier > origin and earlier not in seen:
                seen.add(earlier)
                waiting.append(earlier)
    return False
