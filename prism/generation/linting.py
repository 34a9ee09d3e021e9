"""Check a template by what it makes: the original and 200 seeds are generated, checked and graded.

A *fault* spoils a grade for certain, or makes no problem at all. A *warning* is what a careful author would look at.
Every finding names seeds, so that it can be made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from prism.authoring.linting import lint
from prism.errors import DataFileError
from prism.generation.exact_values import as_fraction, full_precision, in_unit, read_digits
from prism.generation.instances import Instance, Unsatisfiable, make_instance, solve_original, solve_seed
from prism.generation.loading import TemplateSource, load_template
from prism.generation.preparing import PreparedCase, PreparedTemplate, Solved, prepare_template, solved_values
from prism.generation.solving import Unsolved
from prism.generation.template import ABSTRACT, CASE_BLANK, KNOWLEDGE, ORIGINAL, PERTURBED, Template
from prism.generation.values import values_in_si
from prism.generation.wording import blanks_of
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.problem.plain_values import named, plain
from prism.problem.schema import load_problem
from prism.resources import meanings

N_SEEDS = 200  # that are made and graded
OTHER_VARIANTS_EVERY = 10  # seeds, of which one is made in the variants `knowledge` and `abstract` too
LEAST_ACCEPTANCE = 0.2  # of attempts that meet the conditions
LEAST_CASE = 0.1  # share of the seeds
MOST_NUMBERS = 0.1  # of pairs in which one number meets that of a sibling
MOST_FINALS = 0.01  # of pairs of one case in which all final numbers do
_SHOWN_SEEDS = 20  # of a finding, beside their number
_CHANGE = 1.37  # factor on a parameter whose effect on the final numbers is looked at
_DIGITS = 6  # of the acceptance in JSON
_LOOKED_AT = 20  # seeds at which it is

CODES: Mapping[str, str] = meanings("lint.template")
"""What a finding is about."""


@dataclass(frozen=True, slots=True)
class TemplateFinding:
    """One fault or warning about a template.

    Attributes:
        kind: `fault` or `warning`.
        code: a key of `CODES`.
        entry: where in the file, or which instance; may be empty.
        text: what is wrong.
        seeds: at which it shows; empty for what does not depend on one.
    """

    kind: Literal["fault", "warning"]
    code: str
    entry: str
    text: str
    seeds: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return `student slip: what is wrong (seeds 3, 17)`."""
        shown = ", ".join(map(str, self.seeds[:_SHOWN_SEEDS]))
        more = f" and {len(self.seeds) - _SHOWN_SEEDS} more" if len(self.seeds) > _SHOWN_SEEDS else ""
        seeds = f" (seed{'s' * (len(self.seeds) > 1)} {shown}{more})" if self.seeds else ""
        return f"{self.entry + ': ' if self.entry else ''}{self.text}{seeds}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
        found: dict[str, Any] = plain(self)
        return found


@dataclass(frozen=True, slots=True)
class TemplateReport:
    """What the linter found in a template.

    Attributes:
        template: its id; the source after a fault of loading.
        findings: in the order of the checks.
        n_seeds: seeds that were made.
        n_attempts: draws that they took in all.
        cases: seeds of each case, by name.
        n_students: solutions that were graded, gold ones included.
        n_pairs, n_shared: pairs of siblings of one case; those whose final numbers all meet.
    """

    template: str
    findings: tuple[TemplateFinding, ...]
    n_seeds: int = field(default=0, metadata=named("seeds"))
    n_attempts: int = field(default=0, metadata=named("attempts"))
    cases: tuple[tuple[str, int], ...] = ()
    n_students: int = field(default=0, metadata=named("students"))
    n_pairs: int = field(default=0, metadata=named("pairs"))
    n_shared: int = field(default=0, metadata=named("shared_finals"))

    @property
    def acceptance(self) -> float | None:
        """Return the share of draws that met all conditions; None without a draw."""
        return self.n_seeds / self.n_attempts if self.n_attempts else None

    @property
    def n_faults(self) -> int:
        """Return the number of faults."""
        return sum(each.kind == "fault" for each in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**plain(self), "acceptance": plain(self.acceptance, _DIGITS), "cases": dict(self.cases)}


def lint_template(
    source: TemplateSource | PreparedTemplate,
    *,
    n_seeds: int = N_SEEDS,
    advance: Callable[[int], None] = lambda _: None,
) -> TemplateReport:
    """Return what is wrong with a template: of its file, of its seeds, and of the grades of what it makes.

    Args:
        source: id of a shipped one, path, table, or a prepared one.
        n_seeds: from 0 on.
        advance: called after each seed with 1.
    """
    try:
        prepared = prepare_template(source)
    except DataFileError as error:
        return _unmade_report(source, error)
    template = prepared.template
    found = [*_check_blanks(template), *_check_usual(template), *_check_abstract(prepared)]
    graded = _Graded(prepared)
    with full_precision():
        found += graded.add_original()
        solved, unsolved = _solved_seeds(prepared, n_seeds, advance, graded)
    found += unsolved
    found += graded.findings()
    with full_precision():
        found += _check_draws(template, solved)
        n_pairs, n_shared, siblings = _check_siblings(solved)
        found += siblings
        found += _check_parameters(prepared, solved)
    counts = Counter(each.case.name for each in solved)
    return TemplateReport(
        template.id, tuple(found), len(solved), sum(each.attempt for each in solved),
        tuple((name, counts[name]) for name in template.case_names), graded.n_students, n_pairs, n_shared,
    )  # fmt: skip


def _unmade_report(source: TemplateSource | PreparedTemplate, error: DataFileError) -> TemplateReport:
    """Return the report on a template that makes no instance, with what its texts and tables show all the same."""
    name = "<dict>" if isinstance(source, Mapping) else str(source)
    found = [TemplateFinding("fault", "file", "", each) for each in error.faults]
    if not isinstance(source, PreparedTemplate):
        with suppress(DataFileError):
            template = load_template(source)
            found += [*_check_blanks(template), *_check_usual(template)]
    return TemplateReport(name, tuple(found))


# The file. -------------------------------------------------------------------------------------------------------


def _check_blanks(template: Template) -> Iterator[TemplateFinding]:
    """Yield a fault for each wording and case in which a parameter is not told once."""
    for place, wording in enumerate(template.wordings, start=1):
        for name in template.case_names:
            case = template.case(name)
            parts = [str(part.get("subproblem", "")) for part in template.subquestions if part["case"] in ("", name)]
            texts = [wording, *parts, *([case.text] if case else [])]
            told = Counter(key for text in texts for key, _ in blanks_of(text))
            where = f"wording {place}" + (f", case {name}" if name else "")
            for key in template.parameters:
                if told[key] != 1:
                    how = "is not told" if not told[key] else f"is told {told[key]} times"
                    yield TemplateFinding("fault", "blank", where, f"{key} {how}; write @{{{key}}} once")
            if case and case.text and told[CASE_BLANK] != 1:
                yield TemplateFinding("fault", "blank", where, f"the text of the case stands {told[CASE_BLANK]} times")


def _check_usual(template: Template) -> Iterator[TemplateFinding]:
    """Yield a warning for each value of a table outside the range that it calls usual."""
    for table in template.tables.values():
        for column, (low, high) in table.usual.items():
            at = table.columns.index(column)
            for row in table.rows:
                number = read_digits(row[at])
                if number is None or not low <= number <= high:
                    text = f"{row[0]}: {column} = {row[at]} is outside of {float(low):g} to {float(high):g}"
                    yield TemplateFinding("warning", "usual", f"tables, {table.name}", text)


def _check_abstract(prepared: PreparedTemplate) -> Iterator[TemplateFinding]:
    """Yield a warning for each case whose variant `abstract` cannot be solved from what it tells."""
    for name, case in prepared.cases.items():
        if case.abstract_nodes is None and not prepared.template.abstract:
            text = "the final answers do not follow from the formulas that are none; write a text of your own"
            yield TemplateFinding("warning", "abstract", f"abstract{f', case {name}' if name else ''}", text)


# Instances, graded. ----------------------------------------------------------------------------------------------


class _Graded:
    """The instances of a template, each checked and graded as it is made; findings of many seeds become one."""

    def __init__(self, prepared: PreparedTemplate) -> None:
        """Begin with none."""
        self.n_students = 0
        self._prepared = prepared
        self._found: dict[TemplateFinding, list[int]] = {}
        self._places: set[str] = set()  # variants and cases of the instances so far
        self._last: dict[str, tuple[int, PreparedProblem, str]] = {}  # by case: seed, problem and gold solution

    def add_original(self) -> list[TemplateFinding]:
        """Check the author's own values; return what is wrong with them, if they make no instance."""
        if self._prepared.template.original is None:
            return []
        try:
            solved = solve_original(self._prepared)
        except DataFileError as error:
            return [TemplateFinding("fault", "original", "", each.removeprefix("original: ")) for each in error.faults]
        self._check(make_instance(self._prepared, solved, ORIGINAL), solved.case)
        return []

    def add(self, solved: Solved) -> None:
        """Check the instance of a seed, and of each tenth seed its other variants."""
        instance = make_instance(self._prepared, solved, PERTURBED)
        problem = self._check(instance, solved.case)
        if solved.seed % OTHER_VARIANTS_EVERY == 0:
            for variant in (KNOWLEDGE, ABSTRACT):
                self._check(make_instance(self._prepared, solved, variant), solved.case)
        if problem is not None:
            self._check_other_gold(solved, problem, str(instance.data["students"][0]["solution"]))

    def findings(self) -> list[TemplateFinding]:
        """Return what was found, each with its seeds; what is the same in all variants and cases is told once."""
        by_text: dict[TemplateFinding, list[TemplateFinding]] = {}
        for finding in self._found:
            by_text.setdefault(replace(finding, entry=""), []).append(finding)
        merged: dict[TemplateFinding, list[int]] = {}
        for finding, seeds in self._found.items():
            several = by_text[replace(finding, entry="")]
            is_everywhere = len(several) > 1 and {each.entry for each in several} == self._places
            merged.setdefault(replace(finding, entry="") if is_everywhere else finding, []).extend(seeds)
        return [replace(finding, seeds=tuple(sorted(set(seeds)))) for finding, seeds in merged.items()]

    def _note(self, seed: int, kind: Literal["fault", "warning"], code: str, entry: str, text: str) -> None:
        """Add a finding at a seed."""
        self._found.setdefault(TemplateFinding(kind, code, entry, text), []).append(seed)

    def _check(self, instance: Instance, case: PreparedCase) -> PreparedProblem | None:
        """Check and grade one instance; None if it does not load."""
        where = instance.variant if instance.variant != PERTURBED else ""
        place = f"{where}, case {case.name}" if where and case.name else where or case.name
        self._places.add(place)
        try:
            problem = load_problem(dict(instance.data))
        except DataFileError as error:
            for fault in error.faults:
                self._note(instance.seed, "fault", "instance", place, fault)
            return None
        for finding in lint(problem):
            if finding.kind == "note" or (finding.code == "given" and instance.variant in (KNOWLEDGE, ABSTRACT)):
                continue
            self._note(instance.seed, finding.kind, "instance", place, str(finding))
        prepared = prepare(problem)
        for student in problem.students:
            self.n_students += 1
            result, label = grade(prepared, student.solution), student.expected
            assert label is not None
            differs = set(result.matched).symmetric_difference(label.matched) - set(label.debatable)
            if not differs and result.final_correct == label.final_correct:
                continue
            code = "gold" if student.name == "gold" else "label"
            says = f"matched {_indices(result.matched)}, the label says {_indices(label.matched)}"
            self._note(instance.seed, "fault", code, f"{place + ', ' if place else ''}student {student.name}", says)
        return prepared

    def _check_other_gold(self, solved: Solved, problem: PreparedProblem, gold: str) -> None:
        """Grade the solution of the last seed of the same case as one of this seed: no final answer may be right."""
        last, name = self._last.get(solved.case.name), solved.case.name
        self._last[name] = solved.seed, problem, gold
        if last is None or not any(node.is_final for node in solved.case.numbers):
            return
        self.n_students += 1
        if grade(problem, last[2]).final_correct:
            text = f"the solution of seed {last[0]} has all final answers right"
            self._note(solved.seed, "fault", "sibling", name, text)


def _indices(indices: Sequence[int]) -> str:
    """Return indices for a message."""
    return ", ".join(map(str, indices)) or "none"


def _solved_seeds(
    prepared: PreparedTemplate, n_seeds: int, advance: Callable[[int], None], graded: _Graded
) -> tuple[list[Solved], list[TemplateFinding]]:
    """Return the values of all seeds, graded on the way, and a fault for those that have none."""
    solved, failed = [], {}
    for seed in range(n_seeds):
        try:
            values = solve_seed(prepared, seed)
        except Unsatisfiable as error:
            failed[seed] = str(error)
        else:
            solved.append(values)
            graded.add(values)
        advance(1)
    if not failed:
        return solved, []
    return solved, [TemplateFinding("fault", "unsatisfiable", "", next(iter(failed.values())), tuple(failed))]


# Seeds beside each other. ----------------------------------------------------------------------------------------


def _check_draws(template: Template, solved: Sequence[Solved]) -> Iterator[TemplateFinding]:
    """Yield findings about attempts and cases."""
    attempts = sum(each.attempt for each in solved)
    if attempts and len(solved) / attempts < LEAST_ACCEPTANCE:
        share = f"{len(solved) / attempts:.2f}"
        text = f"{attempts} attempts for {len(solved)} seeds, {share}; narrow the ranges, or loosen the conditions"
        yield TemplateFinding("warning", "acceptance", "", text)
    counts = Counter(each.case.name for each in solved)
    for case in template.cases:
        where = f"case {case.name}"
        if not counts[case.name]:
            yield TemplateFinding("fault", "case", where, "no seed reaches it")
        elif counts[case.name] < LEAST_CASE * len(solved):
            yield TemplateFinding("warning", "case", where, f"{counts[case.name]} of {len(solved)} seeds reach it")


def _check_siblings(solved: Sequence[Solved]) -> tuple[int, int, list[TemplateFinding]]:
    """Return the pairs of one case, those whose final numbers all meet, and warnings about numbers that do not vary."""
    n_pairs = n_shared = 0
    found = []
    for name in dict.fromkeys(each.case.name for each in solved):
        own = [each for each in solved if each.case.name == name]
        nodes = own[0].case.numbers
        columns = {
            node.index: [
                float(as_fraction(in_unit(each.values[node.required_number.name], node.required_number.unit)))
                for each in own
            ]
            for node in nodes
        }
        finals = [node for node in nodes if node.is_final]
        met: Counter[int] = Counter()
        pairs = shared = 0
        for a, b in combinations(range(len(own)), 2):
            pairs += 1
            near = ((node, columns[node.index][a], columns[node.index][b]) for node in nodes)
            same = [node.index for node, one, other in near if abs(one - other) <= float(node.tolerance) * abs(one)]
            met.update(same)
            shared += bool(finals) and all(node.index in same for node in finals)
        where = f"case {name}" if name else ""
        for node in nodes:
            if pairs and met[node.index] > MOST_NUMBERS * pairs:
                shown = f"{node.required_number.latex} meets that of a sibling in {met[node.index]} of {pairs} pairs"
                text = f"node {node.own_index}: {shown}"
                found.append(TemplateFinding("warning", "sibling", where, text))
        if pairs and shared > MOST_FINALS * pairs:
            text = f"all final numbers meet those of a sibling in {shared} of {pairs} pairs"
            found.append(TemplateFinding("warning", "sibling", where, text))
        n_pairs, n_shared = n_pairs + pairs, n_shared + shared
    return n_pairs, n_shared, found


def _check_parameters(prepared: PreparedTemplate, solved: Sequence[Solved]) -> Iterator[TemplateFinding]:
    """Yield a warning for each number that is drawn and, if it is changed, changes no final answer of any seed."""
    template = prepared.template
    open_names = {
        each.name: key for key, each in template.parameters.items() if each.name and each.way not in ("value",)
    }
    if not any(node.is_final for each in solved for node in each.case.numbers):
        return
    for each in solved[:_LOOKED_AT]:
        given = values_in_si(template, each.drawn)
        for name in list(open_names):
            if _changes_finals(each, given, name):
                del open_names[name]
    for key in open_names.values():
        yield TemplateFinding("warning", "unused", f"parameters, {key}", "changes no final number")


def _changes_finals(solved: Solved, given: Mapping[str, Any], name: str) -> bool:
    """Return True if another value of a parameter changes a final number, or breaks a condition."""
    factor = read_digits(str(_CHANGE))
    assert factor is not None
    try:
        values = solved_values(solved.case, {**given, name: given[name] * factor.numerator / factor.denominator})
    except Unsolved:
        return True
    if values is None:
        return True
    return any(
        abs(as_fraction(values[node.required_number.name]) - as_fraction(solved.values[node.required_number.name]))
        > as_fraction(abs(solved.values[node.required_number.name])) / 10**9
        for node in solved.case.numbers
        if node.is_final
    )
