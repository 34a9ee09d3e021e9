"""Check a problem for faults, by entry and field, in words that say what to do (semantics C.8).

A *fault* makes the grader wrong for certain: a node that not even a copy of it matches, two nodes that are one formula.
A *warning* is what a careful author would look at: a number that its parents do not give, a node that repeats the
statement. A *note* is a fact that may be intended. Loading runs none of these checks, since they take a grade.

The grader itself compares the nodes: a solution that copies the reference is graded, and every node has to match its
own formula and no other. So what passes here is what a grade can match.

Each check has operations of its own. One that they do not suffice for ends with a warning, and the others go on.

Lint the problems of a file that holds any number of them, each by itself, and the ids of all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from prism.algebra.expr import Formula, plain_parts, spell, symbols, symbols_of, walk
from prism.algebra.operators import OPS
from prism.authoring.graded_copies import accepted_text, as_answer, find_unmatched_words, grade_copy, reason_unmatched
from prism.authoring.lint_details import DerivedNumber, check_alternative, check_names, derive_numbers, node_number
from prism.authoring.lint_entries import (
    check_figures,
    check_final_names,
    check_images,
    check_parts,
    check_review,
    check_vocabulary,
)
from prism.authoring.lint_findings import Kind, LintFinding, find_line, plain_lines, warning
from prism.budget import CHECK, LINT, LINTED_NODE, NODE, Account, share
from prism.equivalence.facts import in_base_units, numeric_of
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.numbers.stated import MIN_INTEGER_FIGURES, Numeric
from prism.equivalence.points.zero_sets import compare_with_itself
from prism.equivalence.verdict import REASONS, STAGES, Stage, Verdict
from prism.errors import DataFileError, PrismError
from prism.grading.prepared import PreparedProblem, prepare_without
from prism.grading.references import find_dear_formulas, is_guessable
from prism.grading.result import Match
from prism.inputs import decode, parse_json, read_bytes
from prism.latex import one_line
from prism.physics.context import given_values
from prism.physics.dimensions import inconsistency
from prism.physics.italic_units import with_italic_units
from prism.physics.units import find_unit
from prism.problem.answers.numbers import ExpectedNumbers, derive_expected_numbers, is_within_tolerance
from prism.problem.collection import SetEntry
from prism.problem.dag import ancestor_closure
from prism.problem.given_nodes import find_given_answers, find_given_nodes
from prism.problem.schema import Problem, ProblemNode, ProblemSource, formulas_of, load_problem
from prism.problem.source import MAX_BYTES, problem_path
from prism.problem.vocabulary import Vocabulary, shipped_vocabulary

LAST_VALUE_FREE_STAGE = Stage.DEFINITIONS  # the last stage that substitutes no value of the problem
_BY_FORM = ("same_form", "same_number")  # reasons of a match between formulas with no step between them


def lint(
    problem: ProblemSource,
    *,
    macros: Mapping[str, object] | None = None,
    vocabulary: Vocabulary | None = None,
    folder: Path | None = None,
) -> tuple[LintFinding, ...]:
    """Return everything that is wrong with a problem: faults of loading, or if it loads, what would spoil a grade.

    Args:
        problem: whatever `load_problem` takes.
        macros: for a problem that is loaded here, as of `load_problem`.
        vocabulary: of domains and subtopics; None for the shipped one.
        folder: of the images of a table or a string, as of `load_problem`.

    Returns:
        Findings: those of loading first, then by node, then about the parts; with their lines if it is a path.
    """
    found = _findings_of(problem, macros, vocabulary or shipped_vocabulary(), folder)
    if not found or not isinstance(problem, PathLike | str) or folder is not None:
        return found
    try:
        lines = plain_lines(decode(read_bytes(problem_path(problem), max(MAX_BYTES.values()))))
    except PrismError:  # no file, or none that is text: a finding says so
        return found
    return tuple(replace(each, line=find_line(lines, each.entry, each.field, each.text)) for each in found)


def _findings_of(
    problem: ProblemSource, macros: Mapping[str, object] | None, vocabulary: Vocabulary, folder: Path | None
) -> tuple[LintFinding, ...]:
    """Return what `lint` does, without lines."""
    try:
        loaded = load_problem(problem, macros=macros, folder=folder)
    except DataFileError as error:
        return tuple(_loader_finding("fault", text) for text in error.faults)
    found = [_loader_finding("warning", text) for text in loaded.warnings]
    found += check_vocabulary(loaded, vocabulary)
    found += check_images(loaded)
    found += check_review(loaded)
    found += _findings_on_reference(loaded)
    for other in loaded.alternatives:
        own = [each for each in _findings_on_reference(other) if not _is_on_table(each)]
        with share(CHECK) as account:
            own += check_alternative(loaded, other, CHECK)
        if account.is_exhausted:
            own.append(_unfinished("the answers beside those of the first reference"))
        where = f"alternative {other.alternative}"
        found += [replace(each, entry=f"{where}, {each.entry}" if each.entry else where) for each in own]
    return tuple(found)


def _is_on_table(finding: LintFinding) -> bool:
    """Return True for a finding on a given or symbol of the problem, which its first reference has as well."""
    return finding.code == "undefined" and not finding.entry.startswith("node ")


def _findings_on_reference(loaded: Problem) -> list[LintFinding]:
    """Return what is wrong with one reference DAG of a problem, by node, and then about the parts."""
    expected = derive_expected_numbers(loaded)
    with share(math.inf) as account:  # each check has a limit of its own
        account.allow(LINT + LINTED_NODE * len(loaded.nodes))
        by_node = _find_faults_within(loaded, account)
        unmatched = frozenset(finding.entry for finding in by_node if finding.code in ("unmatched", "too_large"))
        for what, check in (
            ("the forms in which nodes may be written", _check_rewritten_forms(loaded, unmatched)),
            ("the numbers", _check_numbers(loaded, expected)),
            ("the units", _check_dimensions(loaded)),
            ("letters that may be units", _check_italic_units(loaded)),
            ("what the problem says itself", _check_given_nodes(loaded, expected)),
            ("the names", check_names(loaded)),
            ("what can be guessed", _check_guessable(loaded)),
        ):
            by_node += _findings_within(account, what, check)
        last = [*check_final_names(loaded), *check_parts(loaded), *check_figures(loaded, expected)]
    place = {f"node {node.index}": node.index for node in loaded.nodes}
    return [*sorted(by_node, key=lambda finding: place.get(finding.entry, 0)), *last]


def find_faults(problem: Problem, operations: float) -> list[LintFinding]:
    """Return the findings of the checks that find faults; a warning `too_large` says that one was not finished.

    Args:
        operations: that they may spend.
    """
    with share(math.inf) as account:
        account.allow(operations)
        found = _find_faults_within(problem, account)
    return found  # noqa: RET504 - a share may end its block


def _find_faults_within(problem: Problem, account: Account) -> list[LintFinding]:
    """Return the findings of the checks that find faults, within the allowance of an account."""
    dear = find_dear_formulas(problem)
    left_out = frozenset(each.index for each in dear)
    return [
        *(LintFinding("fault", "too_large", each.entry, each.field, each.why) for each in dear),
        *_check_copies(problem, left_out, account),
        *_check_worded_answers(problem, left_out, account),
    ]


def _findings_within(account: Account, what: str, check: Iterable[LintFinding]) -> list[LintFinding]:
    """Return what a check finds within its operations and the allowance of an account; a warning if it is cut."""
    found: list[LintFinding] = []
    with share(min(CHECK, _left(account))) as own:
        found += check
    return [*found, _unfinished(what)] if own.is_exhausted else found


def _left(account: Account) -> float:
    """Return what is left of the allowance of an account."""
    return max(account.allowance - account.spent, 0)


def _unfinished(what: str) -> LintFinding:
    """Return the warning that a check was cut."""
    text = f"this was not checked to the end, for it costs too much: {what}; write shorter formulas, or fewer"
    return warning("too_large", "", "", text)


def _loader_finding(kind: Kind, text: str) -> LintFinding:
    """Turn a line of the loader, `node 3, dependency: text`, into a finding."""
    where, _, what = text.partition(": ")
    if not what or len(where) > 80:
        return LintFinding(kind, "file", "", "", text)
    entry, _, key = where.rpartition(", ")
    return LintFinding(kind, "file", entry, key, what)


# The grader on a copy of the reference. -------------------------------------------------------------------------


def _check_copies(problem: Problem, left_out: Collection[int], account: Account) -> Iterator[LintFinding]:
    """Grade a made-up solution that copies the formula of every node, and yield what is wrong with the result.

    Findings: a node that its own copy does not match; two nodes that one copy matches.

    Args:
        left_out: indices of nodes that cost too much.
        account: whose allowance the grades may spend.
    """
    texts = {node.index: as_answer(node) for node in problem.nodes if not node.is_text and node.index not in left_out}
    prepared = prepare_without(problem, left_out)
    copy = grade_copy(prepared, texts, _left(account))
    if copy.is_cut:
        yield _unfinished("copies of the nodes")
    yield from (
        LintFinding("fault", "unmatched", "", "", f"the grader fails: {text}; please report it") for text in copy.failed
    )
    for index in texts:
        if why := reason_unmatched(index, copy):
            yield LintFinding("fault", "unmatched", f"node {index}", "formula", why)
    edges = {
        (index, match.node): match
        for index, items in copy.formulas.items()
        for item in items
        for match in item.matches
        if match.node != index
    }
    yield from _check_accepted_forms(prepared, texts, edges, account)
    yield from _check_duplicates(problem, edges)


def _check_accepted_forms(
    prepared: PreparedProblem, texts: Mapping[int, str], edges: dict[tuple[int, int], Match], account: Account
) -> Iterator[LintFinding]:
    """Yield faults for `accept` formulas whose copy does not match; other nodes that a copy matches go to `edges`."""
    for node in prepared.problem.nodes:
        for place, other in enumerate(node.accept if node.index in texts else (), start=1):
            copy = grade_copy(prepared, {**texts, node.index: accepted_text(other)}, _left(account))
            if copy.is_cut:
                yield _unfinished(f"a copy of node {node.index}, accept, entry {place}")
            where = f"node {node.index}", f"accept, entry {place}"
            items = copy.formulas.get(node.index, ())
            found = {match.node: match for item in items for match in item.matches}
            if why := reason_unmatched(node.index, copy):
                yield LintFinding("fault", "unmatched", *where, why)
            for index in found.keys() - {node.index}:
                edges.setdefault((node.index, index), found[index])


def _check_duplicates(problem: Problem, edges: Mapping[tuple[int, int], Match]) -> Iterator[LintFinding]:
    """Yield findings for nodes that one formula matches: duplicates, contained nodes, and nodes of equal value.

    Args:
        edges: the match, by (node whose formula was copied, other node that the copy matches).
    """
    plain = {pair for pair, match in edges.items() if match.stage <= LAST_VALUE_FREE_STAGE}
    both = {pair for pair in plain if pair[::-1] in plain}
    twice = _connected_groups(
        pair for pair in both if edges[pair].reason in _BY_FORM and edges[pair[::-1]].reason in _BY_FORM
    )
    for group in twice:
        readings = next(_with_readings(edges[pair]) for pair in sorted(both) if group.issuperset(pair))
        text = f"nodes {_and_list(group)} are one formula{readings}; whoever writes one is credited with all: keep one"
        yield LintFinding("fault", "same", f"node {max(group)}", "formula", text)
    for group in _connected_groups(both):
        if group not in twice:
            text = (
                f"nodes {_and_list(group)} hold for the same values, so the grader takes them for one formula and"
                " credits whoever writes one with all; the steps between them cannot be asked for: keep the one that"
                " matters"
            )
            yield warning("equal", f"node {max(group)}", "formula", text)
    for wrote, index in sorted(edges):
        if (wrote, index) not in both and index not in ancestor_closure(problem.dag, {wrote}):
            yield from _check_contained(problem, wrote, index, edges)


def _check_contained(
    problem: Problem, wrote: int, index: int, edges: Mapping[tuple[int, int], Match]
) -> Iterator[LintFinding]:
    """Yield the warning that a copy of node `wrote` also matches node `index`, on which it does not depend.

    Args:
        edges: the match, by (node whose formula was copied, other node that the copy matches).
    """
    match = edges[wrote, index]
    what = (
        f"drop one, or take out of node {wrote} what this one says"
        if wrote in ancestor_closure(problem.dag, {index})
        else f"let node {wrote} depend on it, or tell them apart"
    )
    earns = f"whoever writes that one is credited with both: {what}"
    if match.stage <= LAST_VALUE_FREE_STAGE:
        text = f"node {wrote} states it too{_with_readings(match)}, so {earns}"
        yield warning("contained", f"node {index}", "formula", text)
    elif (index, wrote) not in edges or wrote < index:
        put_in = "; ".join((STAGES[match.stage], *match.readings))
        yield warning("values", f"node {index}", "formula", f"node {wrote} says it too ({put_in}), so {earns}")


def _connected_groups(pairs: Iterable[tuple[int, int]]) -> list[frozenset[int]]:
    """Return the sets of nodes that the pairs connect, directly or through others, sorted by smallest node."""
    groups: list[frozenset[int]] = []
    for pair in sorted(pairs):
        touched = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(frozenset(pair).union(*touched))
    return sorted(groups, key=min)


def _with_readings(match: Match) -> str:
    """Return the readings of a match as ` (with ...)`; empty if it needed none."""
    return f" (with {'; '.join(match.readings)})" if match.readings else ""


def _check_worded_answers(problem: Problem, left_out: Collection[int], account: Account) -> Iterator[LintFinding]:
    """Yield a fault for each answer in words that a solution made of the same words does not match.

    Arguments as of `_check_copies`.
    """
    if not any(node.is_text for node in problem.nodes):
        return
    prepared = prepare_without(problem, left_out)
    for node in problem.nodes:
        if not node.is_text:
            continue
        if (left := _left(account)) < 1:
            yield _unfinished(f"node {node.index}, an answer in words")
            return
        yield from find_unmatched_words(prepared, node, left)


def _check_rewritten_forms(problem: Problem, unmatched: frozenset[str]) -> Iterator[LintFinding]:
    """Yield findings for nodes that only formulas of the same form match, since the engine finds no test points.

    Args:
        unmatched: entries such as `node 3` that are skipped, since not even a copy matches them.
    """
    for node in problem.nodes:
        if f"node {node.index}" in unmatched:
            continue
        for part in plain_parts(node.formula):
            if part.kind not in ("equation", "expression") or numeric_of(part) is not None:
                continue
            verdict = None
            with share(NODE):
                verdict = compare_with_itself(in_base_units(part), problem.context)
            if verdict is None:  # a finding of its own
                continue
            if verdict.status != "equivalent" and verdict.reason != "identity":
                kind: Kind = "warning" if _is_algebra(part) else "note"  # an integral that stays open is no slip
                yield LintFinding(kind, "copies", f"node {node.index}", "formula", _reason_by_form_only(verdict))
                break


def _is_algebra(f: Formula) -> bool:
    """Return True if the engine can evaluate every operation of a formula: no integral, no quantum state, no field."""
    return all(OPS[node.op].opcode is not None or node.op == "unit" for member in f.members for node in walk(member))


def _reason_by_form_only(verdict: Verdict) -> str:
    """Return why only formulas of the same form match a node, and what its author can do."""
    only, accept = "only formulas of its own form match it", "list other forms in `accept`"
    if verdict.reason == "unsupported":
        return f"{only} (a construct in it is not evaluated); {accept}"
    if verdict.reason == "too_large":
        return f"{only} ({verdict.detail}); {accept}"
    kinds = "say in `symbols` what its symbols are (real, complex, angle, a domain)"
    return f"{only} ({REASONS['too_few_points']}); {kinds}, or {accept}"


# Numbers and units. ---------------------------------------------------------------------------------------------


def _check_numbers(problem: Problem, expected: ExpectedNumbers) -> Iterator[LintFinding]:
    """Yield warnings for numbers that differ from what the formulas before them give, or whose unit does not fit."""
    for node in problem.nodes:
        wanted = node_number(node.formula)
        if wanted is None:
            continue
        derived = derive_numbers(node, problem, expected)
        values = [each for each in derived if each.value is not None]
        where = f"node {node.index}", "formula"
        faulty = next((each for each in derived if each.fault), None)
        if faulty is not None and not values:
            yield warning("dimension", *where, f"its unit does not fit {_origin_text(faulty)}: {faulty.fault}")
        spec = expected.specs[node.index]
        if values and not any(_is_within_rounding(each, wanted, spec) for each in values):
            text = (
                f"{_equation_text(wanted)} is stated, but {_origin_text(values[0])} makes it"
                f" {float(values[0].value or 0):.4g} with unrounded numbers, in the same unit; correct the number, the"
                " formula, or the values it rests on"
            )
            yield warning("number", *where, text)


def _is_within_rounding(derived: DerivedNumber, wanted: Numeric, spec: NumberSpec) -> bool:
    """Return True if a derived value is within tolerance of the stated number; a count may be rounded up or down."""
    value, number = derived.value, wanted.number
    if value is None:
        return False
    if number.is_exact and number.unit is None and number.value.denominator == 1:
        return abs(value - number.value) < 1
    return is_within_tolerance(value, replace(number, figures=number.figures or MIN_INTEGER_FIGURES), spec)


def _origin_text(derived: DerivedNumber) -> str:
    """Return `node 3`, or `the value that the problem gives`: where a derived number comes from."""
    return f"node {derived.origin}" if derived.origin else "the value that the problem gives"


def _check_dimensions(problem: Problem) -> Iterator[LintFinding]:
    """Yield warnings for formulas whose sides cannot be equal because of their units, as far as units are known."""
    given = {name: value.quantity.dimension for name, value in given_values(problem.context).items()}
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
            fault = next(
                (text for part in plain_parts(f) if (text := inconsistency(_members_with_units(part), known))), ""
            )
            if fault:
                key = f"accept, entry {place}" if place else "formula"
                yield warning("dimension", f"node {node.index}", key, f"its units do not fit: {fault}")


def _members_with_units(f: Formula) -> Formula:
    """Return a formula without members that are numbers without units: `E = 19.6 J` for `E = 2 * 9.8 = 19.6 J`."""
    members = [
        (member, relation)
        for member, relation in zip(f.members, ("", *f.relations), strict=True)
        if symbols(member) or any(inner.op == "unit" for inner in walk(member))
    ]
    if len(members) < 2:
        return replace(f, members=f.members[:1], relations=())
    kept = in_base_units(f).members
    places = [f.members.index(member) for member, _ in members]
    return replace(f, members=tuple(kept[k] for k in places), relations=tuple(r for _, r in members[1:]))


def _check_italic_units(problem: Problem) -> Iterator[LintFinding]:
    """Yield warnings for unknown units, and for letters that are read as symbols and may be a unit: `v = 5 m`."""
    for node in problem.nodes:
        yield from _check_unknown_units(node)
        others = (f for other in problem.nodes if other is not node for f in formulas_of(other))
        taken = problem.context.declared.union(*(symbols_of(f) for f in others))
        for place, f in enumerate(formulas_of(node)):
            read = with_italic_units(f, taken)
            if read != f and f.kind == "equation" and numeric_of(read) is not None:
                key = f"accept, entry {place}" if place else "formula"
                text = (
                    r"the letters behind the number are read as symbols; if they are a unit, write it as `\unit{...}`"
                )
                yield warning("unit", f"node {node.index}", key, text)


def _check_unknown_units(node: ProblemNode) -> Iterator[LintFinding]:
    r"""Yield a warning for each formula of a node with a unit that the table lacks: `\unit{mss}`."""
    for place, f in enumerate(formulas_of(node)):
        units = dict.fromkeys(each.name for member in f.members for each in walk(member) if each.op == "unit")
        if unknown := [name for name in units if find_unit(name) is None]:
            names = " and ".join(f"'{name}'" for name in unknown)
            key = f"accept, entry {place}" if place else "formula"
            text = f"{names} {'is no unit' if len(unknown) == 1 else 'are no units'} that the table knows"
            yield warning("unit", f"node {node.index}", key, text)


# What a solver can have without work, and names. --------------------------------------------------------------


def _check_given_nodes(problem: Problem, expected: ExpectedNumbers) -> Iterator[LintFinding]:
    """Yield warnings for nodes whose formula the problem text states itself."""
    answers = find_given_answers(problem, problem.dag.indices)
    for given in find_given_nodes(problem, expected):
        earned = "it is earned in solved form only" if given.index in answers else "a copy earns its points"
        text = (
            f"the problem says it itself ({given.where}: `{one_line(given.latex)}`), so {earned}; drop"
            " the node, or leave the formula out of the text"
        )
        yield warning("given", f"node {given.index}", "formula", text)


def _check_guessable(problem: Problem) -> Iterator[LintFinding]:
    """Yield notes for nodes that are easily guessed (`F = 0`) and have no prerequisite."""
    for node, edges in zip(problem.nodes, problem.dag.nodes, strict=True):
        if is_guessable(node) and not edges.prerequisites:
            text = "it is soon guessed, and rests on no node that would have to be earned first; let it depend on one"
            yield LintFinding("note", "guessable", f"node {node.index}", "dependency", text)
        elif not edges.prerequisites and not node.is_final and _is_general_law(node, problem):
            names = ", ".join(sorted(symbols_of(node.formula) - problem.context.declared))
            text = f"a sheet of formulas may hold it: the problem does not name {names}; write it for this problem"
            yield LintFinding("note", "law", f"node {node.index}", "formula", text)


def _is_general_law(node: ProblemNode, problem: Problem) -> bool:
    """Return True for a node of which the statement names no letter at all: `F = ma`."""
    if not problem.statement.strip() or node.is_text or node.formula.kind != "equation":
        return False
    names = symbols_of(node.formula)
    return len(names) > 2 and names.isdisjoint(problem.context.declared)


# Words. ---------------------------------------------------------------------------------------------------------


def _equation_text(number: Numeric) -> str:
    """Return a stated number as text, `v = 3.5`, without its unit."""
    return f"{spell(number.subject)} = {float(number.number.value):.6g}"


def _and_list(nodes: Iterable[int]) -> str:
    """Join node indices as `1, 2 and 3`."""
    *most, last = sorted(nodes)
    return f"{', '.join(map(str, most))} and {last}"


# Sets of problems. ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding and the place of its problem, `set.jsonl:3`."""

    place: str
    finding: LintFinding


def lint_entries(
    entries: Sequence[SetEntry], *, macros: Mapping[str, object] | None = None, vocabulary: Vocabulary | None = None
) -> Iterator[PlacedFinding]:
    """Yield what is wrong with the problems of one file, in order; an id that an earlier one has is a fault."""
    places: dict[str, str] = {}
    for each in entries:
        if isinstance(each.source, DataFileError):
            yield from (PlacedFinding(each.place, LintFinding("fault", "file", "", "", t)) for t in each.source.faults)
            continue
        for found in lint(each.source, macros=macros, vocabulary=vocabulary, folder=each.folder):
            yield PlacedFinding(each.place, found)
        name = _id_of(each.source)
        if name and places.setdefault(name, each.place) != each.place:
            told = f'the id "{name}" is that of {places[name]} too'
            yield PlacedFinding(each.place, LintFinding("fault", "file", "", "id", told))


def _id_of(source: Any) -> str:
    """Return the id of an unread problem; empty if it has none that can be read."""
    try:
        data = parse_json(source) if isinstance(source, str) else source
    except PrismError:
        return ""
    return str(data.get("id", "")) if isinstance(data, Mapping) else ""
