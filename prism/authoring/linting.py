"""What is wrong with a problem, by entry and field, in words that say what to do (semantics C.8).

A *fault* makes the grader wrong for certain: a node that not even a copy of it matches, two nodes that are one formula.
A *warning* is what a careful author would look at: a number that its parents do not give, a node that repeats the
statement. A *note* is a fact that may be meant so. Loading runs none of this, since it takes a grade.

The nodes are held against each other by the grader itself: a solution that copies the reference is graded, and every
node has to match its own formula and no other. So what passes here is what a grade can match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from prism.algebra.expr import OPS, Expr, Formula, plain_parts, spell, symbols, symbols_of, walk
from prism.authoring.lint_names import lonely_names, unused_names
from prism.authoring.lint_numbers import Derived, derived_numbers, number_of
from prism.equivalence.numbers import MIN_INTEGER_FIGURES, Asked, Numeric, numeric_of
from prism.equivalence.substitutions import STAGES, resolved, subject_of
from prism.equivalence.verdict import REASONS, Verdict
from prism.equivalence.zero_sets import compare_with_itself
from prism.errors import DataFileError, PrismError
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import GradedFormula, Match, why
from prism.grading.selection import REFUSALS, is_guessable
from prism.latex import one_line
from prism.physics.context import values_of
from prism.physics.dimensions import dimension_text, inconsistency
from prism.physics.units import Dimension, read_quantity, with_italic_units
from prism.problem.dag import ancestor_closure
from prism.problem.expected_numbers import Asking, agrees, asking_of
from prism.problem.given_nodes import given_nodes
from prism.problem.schema import Problem, ProblemNode, Subquestion, formulas_of, load_problem

CODES = {
    "file": "what the loader says: faults that stop the load, unknown keys, implied edges, formulas that are not read",
    "unmatched": "a node, or a formula accepted in its place, that a copy of it does not match",
    "same": "two nodes are one formula, or one number",
    "equal": "two nodes hold for the same values: a step of algebra between them is not seen",
    "contained": "who states one node has stated another, which is not credited with it anyway",
    "values": "two nodes are one formula once values of the problem are put in",
    "copies": "a node that only formulas of its own form match",
    "number": "a number that the formulas before it do not give",
    "dimension": "units that do not fit",
    "unit": "letters behind a number that are read as symbols",
    "given": "a node that the problem says itself",
    "guessable": "a node that can be guessed, and rests on nothing",
    "answers": "two final answers with one name",
    "unanswered": "parts and final answers that do not belong to each other",
    "form": "an answer of another form than its part asks for",
    "figures": "significant figures that are missing, or more than the answer shows",
    "undefined": "a symbol that stands in one node only, and nowhere in the problem",
}
"""What a finding is about. Closed: a test refuses any other."""

ONE_FORMULA = 3  # the last stage that puts in no value of the problem (index of `attempts.STAGES`)
_BETWEEN = "We write "  # words between two formulas, so that neither goes on with the other
_BY_FORM = ("same_form", "same_number")  # reasons of a match that no work separates


Kind = Literal["fault", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or may be.

    Attributes:
        kind: `fault`, `warning` or `note`.
        code: a key of `CODES`.
        entry: `node 3`, `subquestion a`; empty for the whole problem.
        field: key of the entry: `formula`, `dependency`; may be empty.
        text: what is wrong, and what to do.
    """

    kind: Kind
    code: str
    entry: str
    field: str
    text: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is not a code; codes are {', '.join(CODES)}")

    def __str__(self) -> str:
        return ": ".join(
            part for part in (", ".join(part for part in (self.entry, self.field) if part), self.text) if part
        )

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {"kind": self.kind, "code": self.code, "entry": self.entry, "field": self.field, "text": self.text}


def lint(problem: Problem | Path | str | Mapping[str, object]) -> tuple[Finding, ...]:
    """Everything that is wrong with a problem: all faults of the load, or what a grade would get wrong.

    Args:
        problem: a loaded problem, a path, a JSON string or a dictionary.

    Returns:
        Findings: those of the load first, then by node, then about the parts.
    """
    try:
        loaded = problem if isinstance(problem, Problem) else load_problem(problem)
    except DataFileError as error:
        return tuple(_of_the_load("fault", text) for text in error.faults)
    asking = asking_of(loaded)
    found = [_of_the_load("warning", text) for text in loaded.warnings]
    copied = tuple(_copied(loaded))
    by_node = [
        *copied,
        *_worded(loaded),
        *_found_by_form_only(loaded, frozenset(finding.entry for finding in copied if finding.code == "unmatched")),
        *_numbers(loaded, asking),
        *_dimensions(loaded),
        *_italic_units(loaded),
        *_repeated(loaded, asking),
        *_undefined(loaded),
        *_guessable(loaded),
    ]
    place = {f"node {node.index}": node.index for node in loaded.nodes}
    found += sorted(by_node, key=lambda finding: place.get(finding.entry, 0))
    return (*found, *_answers(loaded), *_parts(loaded), *_figures(loaded, asking))


def _of_the_load(kind: Kind, text: str) -> Finding:
    """A line of the loader, `node 3, dependency: what is wrong`."""
    where, _, what = text.partition(": ")
    if not what or len(where) > 80:
        return Finding(kind, "file", "", "", text)
    entry, _, key = where.rpartition(", ")
    return Finding(kind, "file", entry, key, what)


def _warning(code: str, entry: str, key: str, text: str) -> Finding:
    return Finding("warning", code, entry, key, text)


# The grader on a copy of the reference. -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Copy:
    """A solution that copies one formula of every node, graded.

    Attributes:
        formulas: what became of each node's formula, by index; several pieces if it was taken apart, none if it was
            not found in the text.
        failed: what the grader failed at.
    """

    formulas: Mapping[int, tuple[GradedFormula, ...]]
    failed: tuple[str, ...]


def _copy(problem: PreparedProblem, texts: Mapping[int, str]) -> _Copy:
    """The grade of a solution that states these formulas, by node, in order."""
    solution = ""
    spans: dict[int, tuple[int, int]] = {}
    for index, latex in texts.items():
        start = len(solution)
        solution += f"{_BETWEEN}{_displayed(latex)}\n\n"
        spans[index] = (start, len(solution))
    result = grade(problem, solution)
    formulas = {
        index: tuple(item for item in result.formulas if start <= item.span[0] < end and item.kind != "text")
        for index, (start, end) in spans.items()
    }
    failed = tuple(f"{incident.where}: {incident.detail}" for incident in result.incidents)
    return _Copy(formulas, failed)


def _displayed(latex: str) -> str:
    inner = latex.strip()
    return inner if inner.startswith(("$", r"\[", r"\(")) else f"$$ {inner} $$"


def _copied(problem: Problem) -> Iterator[Finding]:
    """Nodes that their own formula does not match, and nodes that the formula of another matches."""
    texts = {node.index: node.latex for node in problem.nodes if not node.is_text}
    prepared = prepare(problem)
    copy = _copy(prepared, texts)
    yield from (
        Finding("fault", "unmatched", "", "", f"the grader fails: {text}; please report it") for text in copy.failed
    )
    for index in texts:
        if why := _why_unmatched(index, copy.formulas[index]):
            yield Finding("fault", "unmatched", f"node {index}", "formula", why)
    edges = {
        (said, match.node): match
        for said, items in copy.formulas.items()
        for item in items
        for match in item.matches
        if match.node != said
    }
    yield from _accepted(prepared, texts, edges)
    yield from _alike(problem, edges)


def _why_unmatched(index: int, items: tuple[GradedFormula, ...]) -> str:
    """Why a copy of a formula does not match its node, and what to do about it; empty if it does."""
    refusals = [reason for item in items for node, reason in item.withheld if node == index]
    if any(index in item.nodes for item in items) or "guessed" in refusals:
        return ""  # what was only guessed waits for a node before it, which has a finding of its own
    if refusals:
        is_chain = refusals[0] == "broken_chain"
        advice = (
            "correct the chain, or give its links their own nodes" if is_chain else "give each quantity its own name"
        )
        return f"a copy of the whole reference does not match it ({REFUSALS[refusals[0]]}); {advice}"
    if not items:
        return "it is not found as a formula in a text, so no solution matches it; write it as one equation in LaTeX"
    item = items[0]
    if item.status == "mention":
        return (
            "a lone symbol or number states nothing: a copy earns nothing, any equation with it does; write an equation"
        )
    if item.reason == "identity":
        return "it says nothing about any variable, so no formula matches it; write what it follows from"
    return f"a copy of it does not match it ({one_line(why(item))}); write it in another form, or as several nodes"


def _accepted(
    prepared: PreparedProblem, texts: Mapping[int, str], edges: dict[tuple[int, int], Match]
) -> Iterator[Finding]:
    """Formulas that are accepted in place of a node and that a copy does not match; what else they match is added."""
    for node in prepared.problem.nodes:
        for place, other in enumerate(node.accept, start=1):
            copy = _copy(prepared, {**texts, node.index: other.latex})
            where = f"node {node.index}", f"accept, entry {place}"
            items = copy.formulas.get(node.index, ())
            found = {match.node: match for item in items for match in item.matches}
            if why := _why_unmatched(node.index, items):
                yield Finding("fault", "unmatched", *where, why)
            for index in found.keys() - {node.index}:
                edges.setdefault((node.index, index), found[index])


def _alike(problem: Problem, edges: Mapping[tuple[int, int], Match]) -> Iterator[Finding]:
    """Nodes that one formula matches: one formula twice, one within another, or one for the values of the problem."""
    plain = {pair for pair, match in edges.items() if match.stage <= ONE_FORMULA}
    both = {pair for pair in plain if pair[::-1] in plain}
    twice = _groups(pair for pair in both if edges[pair].reason in _BY_FORM and edges[pair[::-1]].reason in _BY_FORM)
    for group in twice:
        readings = next(_with_readings(edges[pair]) for pair in sorted(both) if group.issuperset(pair))
        text = f"nodes {_listed(group)} are one formula{readings}; whoever writes one is credited with all: keep one"
        yield Finding("fault", "same", f"node {max(group)}", "formula", text)
    for group in _groups(both):
        if group not in twice:
            text = (
                f"nodes {_listed(group)} hold for the same values, so the grader takes them for one formula and credits"
                " whoever writes one with all; the steps between them cannot be asked for: keep the one that matters"
            )
            yield _warning("equal", f"node {max(group)}", "formula", text)
    for wrote, index in sorted(edges):
        if (wrote, index) not in both and index not in ancestor_closure(problem.dag, {wrote}):
            yield from _overheard(problem, wrote, index, edges)


def _overheard(problem: Problem, wrote: int, index: int, edges: Mapping[tuple[int, int], Match]) -> Iterator[Finding]:
    """A node that the formula of another matches, which does not rest on it."""
    match = edges[wrote, index]
    what = (
        f"drop one, or take out of node {wrote} what this one says"
        if wrote in ancestor_closure(problem.dag, {index})
        else f"let node {wrote} depend on it, or tell them apart"
    )
    earns = f"whoever writes that one is credited with both: {what}"
    if match.stage <= ONE_FORMULA:
        text = f"node {wrote} states it too{_with_readings(match)}, so {earns}"
        yield _warning("contained", f"node {index}", "formula", text)
    elif (index, wrote) not in edges or wrote < index:
        put_in = "; ".join((STAGES[match.stage], *match.readings))
        yield _warning("values", f"node {index}", "formula", f"node {wrote} says it too ({put_in}), so {earns}")


def _groups(pairs: Iterable[tuple[int, int]]) -> list[frozenset[int]]:
    """Nodes that are joined by pairs, directly or not."""
    groups: list[frozenset[int]] = []
    for pair in sorted(pairs):
        touched = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(frozenset(pair).union(*touched))
    return sorted(groups, key=min)


def _with_readings(match: Match) -> str:
    return f" (with {'; '.join(match.readings)})" if match.readings else ""


def _worded(problem: Problem) -> Iterator[Finding]:
    """Answers in words that not even their own words match."""
    for node in problem.nodes:
        if not node.is_text:
            continue
        result = grade(problem, f"Answer: {node.latex}")
        items = [item for item in result.formulas if item.kind == "text"]
        if not any(node.index in (*item.nodes, *(other for other, _ in item.withheld)) for item in items):
            told = next((item.detail for item in items), "")
            text = (
                f"its own words do not match it ({told}); list the options in final_answer_instructions, as in "
                "\"should be 'stable/unstable'\", and state one of them"
            )
            yield Finding("fault", "unmatched", f"node {node.index}", "formula", text)


def _found_by_form_only(problem: Problem, unmatched: frozenset[str]) -> Iterator[Finding]:
    """Nodes of which the engine finds no points: a copy matches by its form, a rewritten formula does not."""
    for node in problem.nodes:
        if f"node {node.index}" in unmatched:
            continue
        for part in plain_parts(node.formula):
            if part.kind not in ("equation", "expression") or numeric_of(part) is not None:
                continue
            verdict = compare_with_itself(resolved(part), problem.context)
            if verdict.status != "equivalent" and verdict.reason != "identity":
                kind: Kind = "warning" if _is_algebra(part) else "note"  # an integral that stays open is no slip
                yield Finding(kind, "copies", f"node {node.index}", "formula", _why_by_form_only(verdict))
                break


def _is_algebra(f: Formula) -> bool:
    """Whether all of a formula is evaluated: no integral, no state, no field."""
    return all(OPS[node.op].opcode is not None or node.op == "unit" for member in f.members for node in walk(member))


def _why_by_form_only(verdict: Verdict) -> str:
    """Why nothing but its own form matches a node, and what to do about it."""
    only, accept = "only formulas of its own form match it", "list other forms in `accept`"
    if verdict.reason == "unsupported":
        return f"{only} (a construct in it is not evaluated); {accept}"
    if verdict.reason == "too_large":
        return f"{only} ({verdict.detail}); {accept}"
    kinds = "say in `symbols` what its symbols are (real, complex, angle, a domain)"
    return f"{only} ({REASONS['too_few_points']}); {kinds}, or {accept}"


# Numbers and units. ---------------------------------------------------------------------------------------------


def _numbers(problem: Problem, asking: Asking) -> Iterator[Finding]:
    """Numbers that no formula before them gives, though one settles them."""
    for node in problem.nodes:
        wanted = number_of(node.formula)
        if wanted is None:
            continue
        derived = derived_numbers(node, problem, asking)
        values = [each for each in derived if each.value is not None]
        where = f"node {node.index}", "formula"
        faulty = next((each for each in derived if each.fault), None)
        if faulty is not None and not values:
            yield _warning("dimension", *where, f"its unit does not fit {_origin(faulty)}: {faulty.fault}")
        asked = asking.nodes[node.index]
        if values and not any(_is_near(each, wanted, asked) for each in values):
            text = (
                f"{_shown(wanted)} is stated, but {_origin(values[0])} makes it {float(values[0].value or 0):.4g} with"
                " unrounded numbers, in the same unit; correct the number, the formula, or the values it rests on"
            )
            yield _warning("number", *where, text)


def _is_near(derived: Derived, wanted: Numeric, asked: Asked) -> bool:
    """Whether a number follows: within its tolerance; a count may be rounded up or down."""
    value, number = derived.value, wanted.number
    if value is None:
        return False
    if number.is_exact and number.unit is None and number.value.denominator == 1:
        return abs(value - number.value) < 1
    return agrees(value, replace(number, figures=number.figures or MIN_INTEGER_FIGURES), asked)


def _origin(derived: Derived) -> str:
    return f"node {derived.origin}" if derived.origin else "the value that the problem gives"


def _dimensions(problem: Problem) -> Iterator[Finding]:
    """Formulas whose sides cannot be equal for their units, as far as the problem says those."""
    given = {name: value.quantity.dimension for name, value in values_of(problem.context).items()}
    stated = {node.index: number for node in problem.nodes if (number := numeric_of(node.formula)) is not None}
    for node in problem.nodes:
        if node.index in stated:
            continue
        before = ancestor_closure(problem.dag, {node.index})
        known = {
            number.subject.name: number.number.dimension
            for index, number in stated.items()
            if index in before and number.number.unit is not None and number.subject.op == "sym"
        }
        known |= given
        for place, f in enumerate(formulas_of(node)):
            fault = next((said for part in plain_parts(f) if (said := inconsistency(_with_units(part), known))), "")
            if fault:
                key = f"accept, entry {place}" if place else "formula"
                yield _warning("dimension", f"node {node.index}", key, f"its units do not fit: {fault}")


def _with_units(f: Formula) -> Formula:
    """A formula without members that are numbers put in without their units: `E = 2 * 9.8 = 19.6 J` is let pass."""
    members = [
        (member, relation)
        for member, relation in zip(f.members, ("", *f.relations), strict=True)
        if symbols(member) or any(inner.op == "unit" for inner in walk(member))
    ]
    if len(members) < 2:
        return replace(f, members=f.members[:1], relations=())
    kept = resolved(f).members
    places = [f.members.index(member) for member, _ in members]
    return replace(f, members=tuple(kept[k] for k in places), relations=tuple(r for _, r in members[1:]))


def _italic_units(problem: Problem) -> Iterator[Finding]:
    """Letters behind a number that are read as symbols and may be units: such a node states no number."""
    for node in problem.nodes:
        others = (f for other in problem.nodes if other is not node for f in formulas_of(other))
        taken = problem.context.declared.union(*(symbols_of(f) for f in others))
        for place, f in enumerate(formulas_of(node)):
            members = tuple(with_italic_units(member, taken) or member for member in f.members)
            if members != f.members and f.kind == "equation" and numeric_of(replace(f, members=members)) is not None:
                key = f"accept, entry {place}" if place else "formula"
                text = (
                    r"the letters behind the number are read as symbols; if they are a unit, write it as `\unit{...}`"
                )
                yield _warning("unit", f"node {node.index}", key, text)


# What a solver can have without work, and names. --------------------------------------------------------------


def _repeated(problem: Problem, asking: Asking) -> Iterator[Finding]:
    for given in given_nodes(problem, asking):
        text = (
            f"the problem says it itself ({given.where}: `{one_line(given.latex)}`), so a copy earns its points; drop"
            " the node, or leave the formula out of the text"
        )
        yield _warning("given", f"node {given.index}", "formula", text)


def _guessable(problem: Problem) -> Iterator[Finding]:
    for node, edges in zip(problem.nodes, problem.dag.nodes, strict=True):
        if is_guessable(node) and not edges.prerequisites:
            text = "it is soon guessed, and rests on no node that would have to be earned first; let it depend on one"
            yield Finding("note", "guessable", f"node {node.index}", "dependency", text)


def _undefined(problem: Problem) -> Iterator[Finding]:
    """Names that nothing introduces: a slip of the pen is a warning, any other a note."""
    for lonely in lonely_names(problem):
        entry = f"node {lonely.node}"
        for name, near in lonely.slips:
            text = f"`{name}` stands in no other node and nowhere in the problem; is it `{near}`?"
            yield _warning("undefined", entry, "formula", text)
        if lonely.names:
            names = " and ".join(f"`{name}`" for name in lonely.names)
            verb = "stands" if len(lonely.names) == 1 else "stand"
            text = f"{names} {verb} in no other node and nowhere in the problem: a solution may call it otherwise"
            yield Finding("note", "undefined", entry, "formula", text)
    for unused in unused_names(problem):
        text = "stands in no node and nowhere in the text"
        if unused.near:
            yield _warning("undefined", unused.table, unused.name, f"{text}; is it `{unused.near}`?")
        else:
            yield Finding("note", "undefined", unused.table, unused.name, text)


# Parts and answers. ---------------------------------------------------------------------------------------------


def _answers(problem: Problem) -> Iterator[Finding]:
    """Final answers with one name, of which a solution can commit itself to the last only (semantics C.2)."""
    finals = [node for node in problem.nodes if node.is_final and not node.is_text]
    named: dict[tuple[Expr, bool, str], int] = {}
    for node in finals:
        subject = subject_of(node.formula)
        if subject is None:
            continue
        key = subject, numeric_of(node.formula) is not None, node.subquestion
        if key in named:
            text = (
                f"it answers `{spell(subject)}` as node {named[key]} does, and the last of two answers on one quantity"
                " counts; give them names of their own, or the letters of two parts in `subquestion`"
            )
            yield _warning("answers", f"node {node.index}", "formula", text)
        named[key] = node.index


def _parts(problem: Problem) -> Iterator[Finding]:
    """Parts and final answers that do not belong to each other, or are of another form."""
    finals = [node for node in problem.nodes if node.is_final]
    lettered = {node.subquestion for node in finals if node.subquestion}
    parts = [part for part in problem.subquestions if part.letter]
    if parts and not lettered and len(finals) != len(parts):
        kind: Kind = "warning" if len(finals) < len(parts) or any(map(_asks_for_more, parts)) else "note"
        text = (
            f"there are {len(parts)} parts and {len(finals)} final answers without a letter, so none belongs to a part;"
            " write `subquestion` on each final node"
        )
        yield Finding(kind, "unanswered", "", "subquestions", text)
    for part in parts:
        if lettered and part.letter not in lettered:
            text = "no final node answers it; write its letter in `subquestion` of the node that does"
            yield _warning("unanswered", f"subquestion {part.letter}", "", text)
    for part in problem.subquestions:
        own = [node for node in finals if node.subquestion == part.letter or len(problem.subquestions) == 1]
        yield from _form(part, own)


def _asks_for_more(part: Subquestion) -> bool:
    """Whether something of a part governs how its answer is graded."""
    return part.significant_figures is not None or part.final_answer_form == "text-based"


def _form(part: Subquestion, finals: list[ProblemNode]) -> Iterator[Finding]:
    entry = f"subquestion {part.letter}" if part.letter else ""
    if not finals:
        return
    numbers = [number for node in finals if (number := numeric_of(node.formula)) is not None]
    if part.final_answer_form == "numerical" and not numbers:
        text = "is numerical, and no final node of it states a number; add the node, or write algebraic"
        yield _warning("form", entry, "final_answer_form", text)
    if part.final_answer_form == "text-based" and not any(node.is_text for node in finals):
        text = r"is text-based, and no final node of it is in words; write one as `\text{...}`"
        yield Finding("note", "form", entry, "final_answer_form", text)
    wanted = _unit_asked_for(part.final_answer_instructions)
    if wanted is None or len(numbers) != 1:
        return
    stated = numbers[0].number
    if stated.value and stated.dimension != wanted:
        text = (
            f"asks for an answer in {dimension_text(wanted)}, and the final node states one in"
            f" {dimension_text(stated.dimension)}; write its unit"
        )
        yield _warning("dimension", entry, "final_answer_instructions", text)


def _unit_asked_for(instructions: str) -> Dimension | None:
    """The dimension of instructions such as `in N/m`; None if they say anything else."""
    words = instructions.strip().rstrip(".").replace("$", "").removeprefix("in ")
    if words == instructions.strip().rstrip("."):
        return None
    try:
        return read_quantity(f"1 {words}").dimension
    except PrismError:
        return None


def _figures(problem: Problem, asking: Asking) -> Iterator[Finding]:
    """Significant figures of numerical answers."""
    for node in problem.nodes:
        number = numeric_of(node.formula)
        if not node.is_final or number is None or number.number.is_exact:
            continue
        declared = asking.nodes[node.index].figures
        entry = f"subquestion {node.subquestion}" if node.subquestion else ""
        shown = number.number.figures
        if declared is None:
            text = f"is missing; the answer of node {node.index} is held to the {shown} figures that it shows"
            yield Finding("note", "figures", entry, "significant_figures", text)
        elif declared > shown and asking.nodes[node.index].recomputed is None:
            text = f"is {declared}, and the answer of node {node.index} shows {shown}; write it with {declared}"
            yield _warning("figures", entry, "significant_figures", text)


# Words. ---------------------------------------------------------------------------------------------------------


def _shown(number: Numeric) -> str:
    return f"{spell(number.subject)} = {float(number.number.value):.6g}"


def _listed(nodes: Iterable[int]) -> str:
    *most, last = sorted(nodes)
    return f"{', '.join(map(str, most))} and {last}"
