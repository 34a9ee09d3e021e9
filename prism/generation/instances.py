"""Make problem files from templates: drawn by a seed, or of the author's own values, in up to four variants.

The variant `abstract`: the same numbers and relations, with symbols x and y and without units and physics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from prism.errors import DataFileError, PrismError
from prism.generation.exact_values import Value, as_fraction, digits, full_precision
from prism.generation.loading import TemplateSource
from prism.generation.preparing import (
    MAX_ATTEMPTS,
    PreparedCase,
    PreparedTemplate,
    Solved,
    broken_conditions,
    known_values,
    parse_in,
    prepare_template,
    problem_data,
    renamed_latex,
    si_text,
    solved_values,
)
from prism.generation.solving import Unsolved
from prism.generation.students import Spelling, labelled_students, node_texts
from prism.generation.template import ABSTRACT, KNOWLEDGE, ORIGINAL, PERTURBED, VARIANTS, Template
from prism.generation.values import draw_case, draw_values, draw_wording, original_values, values_in_si
from prism.generation.wording import fill_blanks
from prism.inputs import did_you_mean
from prism.problem.toml_writer import problem_toml

_DROPPED = ("title", "subtopic", "kind", "definitions", "final_answer_instructions", "symbols", "source", "macros")
_FIGURES_OF_CONSTANT = 10


# The variant abstract. --------------------------------------------------------------------------------------------


def abstract_spelling(case: PreparedCase) -> Spelling:
    """Return how formulas and numbers of a case are written with renamed symbols."""
    return Spelling(
        {node.index: renamed_latex(case, node.formula) for node in case.nodes if node.formula is not None},
        {node.index: case.renamed[node.required_number.name] for node in case.nodes if node.number is not None},
        has_units=False,
    )


def abstract_data(
    template: Template, solved: Solved, data: Mapping[str, Any], texts: Mapping[int, str]
) -> dict[str, Any]:
    """Return the table of a problem file with renamed symbols.

    Args:
        data: of the same instance with its own symbols, its nodes renamed already.
        texts: LaTeX of the nodes, renamed.
    """
    case = solved.case
    new = {key: value for key, value in data.items() if key not in _DROPPED}
    new["context"] = _own_text(template, solved) if template.abstract else _made_text(template, solved, texts)
    if "symbols" in data:
        new["symbols"] = _renamed_keys(case, data["symbols"])
    if "definitions" in data:
        new["definitions"] = [renamed_latex(case, parse_in(case, each)) for each in data["definitions"]]
    if "subquestions" in data:
        parts = [_renamed_part(case, part, texts) for part in data["subquestions"]]
        new["subquestions"] = [part for part in parts if part is not None]
    new["grading_standard"] = [
        {**node, "accept": [renamed_latex(case, parse_in(case, each)) for each in node["accept"]]}
        if "accept" in node
        else node
        for node in data["grading_standard"]
    ]
    return new


def _values(template: Template, solved: Solved) -> dict[str, str]:
    """Return the LaTeX of each given value, `x_1 = 24.0`, by the key of its parameter or the constant's own name."""
    case = solved.case
    found = {
        key: f"{case.renamed[each.name]} = {si_text(solved.drawn[key], solved.values[each.name])}"
        for key, each in template.parameters.items()
        if each.name
    }
    for name, value in sorted(case.constants.items()):
        found[name] = f"{case.renamed[name]} = {digits(value, _FIGURES_OF_CONSTANT)}"
    return found


def _own_text(template: Template, solved: Solved) -> str:
    """Return the author's text of the abstraction, its blanks filled."""
    values = _values(template, solved)

    def filled(key: str, is_value_only: bool) -> str:
        if key not in values:
            raise PrismError(f"{template.file}: abstract: no value {key}")
        return f"${values[key].partition(' = ')[2] if is_value_only else values[key]}$"

    return fill_blanks(template.abstract, filled)


def _made_text(template: Template, solved: Solved, texts: Mapping[int, str]) -> str:
    """Return the text that is made up: the values, and the relations from which the final numbers follow."""
    values = ", ".join(f"${each}$" for each in _values(template, solved).values())
    case = solved.case
    laws = "; ".join(
        f"${texts[index]}$" for index in (case.told_nodes if case.abstract_nodes is None else case.abstract_nodes)
    )
    relations = f" These relations hold: {laws}." if laws else ""
    return f"All quantities are numbers. Given are {values}.{relations}"


def _renamed_part(case: PreparedCase, part: Mapping[str, Any], texts: Mapping[int, str]) -> dict[str, Any] | None:
    """Return a subquestion that asks for the final answers of its part by their renamed symbols.

    A part without a final answer asks for its last formula, and None stands for one without any.
    """
    kept = {key: value for key, value in part.items() if key not in _DROPPED}
    if part.get("final_answer_form") == "text-based":
        return {**kept, **({"final_answer_instructions": part["final_answer_instructions"]}
                           if "final_answer_instructions" in part else {})}  # fmt: skip
    own = [node for node in case.nodes if node.part == part.get("letter")]
    finals = [node for node in own if node.is_final] or own[-1:]
    if not finals:
        return None
    names = [f"${texts[node.index].partition('=')[0].strip()}$" for node in finals]
    noun = "number" if all(node.number is not None for node in finals) else "formula for"
    kept["subproblem"] = f"Find the {noun} {' and '.join(names)}."
    return kept


def _renamed_keys(case: PreparedCase, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of symbols with its keys renamed; what no formula has is left out."""
    found = {}
    for key, value in table.items():
        name = parse_in(case, key).members[0].name
        if name in case.renamed:
            found[case.renamed[name]] = value
    return found


# What an instance is. ---------------------------------------------------------------------------------------------


MAX_MEMORISED = 60  # further seeds that are looked at for numbers that are all wrong in an instance
_SKIPPED_FOR_ONE = 20  # seeds in a row that repeat an earlier one's numbers, after which a template has no more
_WIDTH = 0.05  # of a class of final numbers, in natural logarithms; wider than any tolerance
_LEAST = 1e-300  # size of a number below which all are one class


class Unsatisfiable(PrismError):
    """Raised for a seed whose conditions no attempt fulfils, or whose numbers cannot be worked out."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem made from a template.

    Attributes:
        template: id of it.
        variant: one of `VARIANTS`.
        seed: 0 for the original.
        data: the problem file as a table, students and metadata included.
    """

    template: str
    variant: str
    seed: int
    data: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """Return the path of its file below the folder of all templates, without ending."""
        return f"{self.template}/{self.variant}-{self.seed}"

    @cached_property
    def question(self) -> str:
        """Return the statement with its subquestions."""
        parts = [f"({part['letter']}) {part.get('subproblem', '')}" for part in self.data.get("subquestions", ())]
        return "\n\n".join((str(self.data["context"]), *parts))

    @cached_property
    def answer(self) -> str:
        """Return the final answers, each in a box."""
        finals = [node["formula"] for node in self.data["grading_standard"] if node.get("is_final_answer")]
        last = self.data["grading_standard"][-1]["formula"]
        return "\n".join(rf"$\boxed{{{formula}}}$" for formula in finals or [last])

    def toml(self) -> str:
        """Return the text of its problem file."""
        return problem_toml(self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return its row of JSONL."""
        return {
            "id": self.data["id"],
            "question": self.question,
            "answer": self.answer,
            "problem": self.data,
            "metadata": self.data["metadata"]["template"],
        }


# Values of a seed. -----------------------------------------------------------------------------------------------


def solve_seed(prepared: PreparedTemplate, seed: int, *, level: int | None = None, case: str | None = None) -> Solved:
    """Return the values that a seed has; within `full_precision`.

    Args:
        level: of a curriculum, as of `generate`.
        case: its name; None for the one that the seed draws.

    Errors:
        Unsatisfiable: no attempt fulfils the conditions, or a number cannot be worked out.
    """
    template = prepared.template
    own = prepared.cases[draw_case(template, seed) if case is None else case]
    for attempt in range(1, MAX_ATTEMPTS + 1):
        drawn = draw_values(template, seed, attempt, level)
        try:
            values = solved_values(own, values_in_si(template, drawn))
        except Unsolved as error:
            raise Unsatisfiable(f"{template.id}: seed {seed}, attempt {attempt}: {error}") from error
        if values is not None:
            return Solved(own, seed, attempt, draw_wording(template, seed), drawn, values)
    raise Unsatisfiable(f"{template.id}: seed {seed}: unsatisfiable; {MAX_ATTEMPTS} attempts meet not all conditions")


def solve_original(prepared: PreparedTemplate) -> Solved:
    """Return the author's own values, in the one case whose condition they fulfil; within `full_precision`.

    Errors:
        DataFileError: the template has none, or they break a condition.
    """
    template = prepared.template
    if template.original is None:
        raise DataFileError(template.file, ("original: is missing; the variant original has the author's own values",))
    drawn = original_values(template, template.original)
    given = values_in_si(template, drawn)
    faults: list[str] = []
    for case in prepared.cases.values():
        try:
            values = solved_values(case, given)
        except Unsolved as error:
            faults.append(f"original: {error}")
            continue
        if values is not None:
            return Solved(case, 0, 0, template.original.wording, drawn, values)
        broken = broken_conditions(case, known_values(case, given))
        faults += [f"original: breaks {each.where} `{each.formula.latex}`" for each in broken]
    raise DataFileError(template.file, tuple(dict.fromkeys(faults)))


def _others(prepared: PreparedTemplate, solved: Solved, level: int | None) -> Iterator[Mapping[str, Value]]:
    """Yield the values of further seeds in the case of an instance."""
    for seed in range(solved.seed + 1, solved.seed + 1 + MAX_MEMORISED):
        if draw_case(prepared.template, seed) == solved.case.name:
            try:
                yield solve_seed(prepared, seed, level=level).values
            except Unsatisfiable:
                continue


# Instances. ------------------------------------------------------------------------------------------------------


def own_spelling(case: PreparedCase) -> Spelling:
    """Return how formulas and numbers are written in the template itself."""
    return Spelling(
        {node.index: node.latex for node in case.nodes if node.number is None},
        {node.index: node.required_number.latex for node in case.nodes if node.number is not None},
    )


def make_instance(
    prepared: PreparedTemplate, solved: Solved, variant: str, *, level: int | None = None, with_students: bool = True
) -> Instance:
    """Return one variant of an instance; within `full_precision`."""
    template, case = prepared.template, solved.case
    spelling = abstract_spelling(case) if variant == ABSTRACT else own_spelling(case)
    texts = node_texts(solved, spelling)
    by_own_index = {node.own_index: texts[node.index] for node in case.nodes}
    data = problem_data(template, case.name, by_own_index, solved.drawn, solved.wording)
    if variant == KNOWLEDGE and case.told_nodes:
        laws = "; ".join(f"${texts[index]}$" for index in case.told_nodes)
        data["context"] = f"{data['context']}\n\nThese relations hold: {laws}."
    elif variant == ABSTRACT:
        data = abstract_data(template, solved, data, texts)
    data["id"] = f"{template.id}-{variant}-{solved.seed}"
    if with_students:
        data["students"] = labelled_students(template.id, solved, spelling, _others(prepared, solved, level))
    data["metadata"] = {**template.shared.get("metadata", {}), "template": _metadata(prepared, solved, variant)}
    return Instance(template.id, variant, solved.seed, data)


def _metadata(prepared: PreparedTemplate, solved: Solved, variant: str) -> dict[str, Any]:
    """Return what an instance keeps of its origin."""
    template = prepared.template
    return {
        "id": template.id,
        "seed": solved.seed,
        "attempt": solved.attempt,
        "variant": variant,
        "case": solved.case.name,
        "wording": solved.wording + 1,
        "values": {key: value.text for key, value in solved.drawn.items()},
        "sha256": template.sha256,
        "pair": f"{template.id}-{solved.seed}",
    }


def checked_variants(variants: Sequence[str]) -> tuple[str, ...]:
    """Return variants in their usual order, without repeats.

    Errors:
        PrismError: one is unknown, or there are none.
    """
    unknown = [each for each in variants if each not in VARIANTS]
    if unknown or not variants:
        hint = did_you_mean(unknown[0], VARIANTS) if unknown else ""
        raise PrismError(f"variants: found {', '.join(unknown) or 'none'}; known are {', '.join(VARIANTS)}{hint}")
    return tuple(each for each in VARIANTS if each in variants)


def generate(
    *templates: TemplateSource | PreparedTemplate,
    n: int = 1,
    seed: int = 0,
    variants: Sequence[str] = (PERTURBED,),
    level: int | None = None,
    on_skip: Callable[[str, int, int], None] | None = None,
) -> Iterator[Instance]:
    """Yield instances of templates: of each the original, then n seeds in their variants.

    Args:
        templates: ids of shipped ones, paths, tables, or prepared ones.
        n: seeds of each template. One whose final numbers all meet those of an earlier one is skipped for the next.
        seed: the first.
        variants: of `VARIANTS`.
        level: place from 0 among the levels of parameters that have some, for a curriculum; None for whole ranges.
        on_skip: called with id, skipped seed and the earlier one.

    Errors:
        DataFileError: a template has faults, all of them told.
        Unsatisfiable: no values of a seed fulfil the conditions.
        PrismError: an unknown variant, or fewer than n instances that differ.

    >>> [each.name for each in generate("braking", n=2, variants=("original", "perturbed"))]
    ['braking/original-0', 'braking/perturbed-0', 'braking/perturbed-1']
    """
    kinds = checked_variants(variants)
    every = [prepare_template(each) for each in templates]
    return (instance for prepared in every for instance in _of_template(prepared, n, seed, kinds, level, on_skip))


def _of_template(
    prepared: PreparedTemplate,
    n: int,
    first: int,
    variants: tuple[str, ...],
    level: int | None,
    on_skip: Callable[[str, int, int], None] | None,
) -> Iterator[Instance]:
    """Yield the instances of one template; arguments as of `generate`; raises PrismError if too few of them differ."""
    if ORIGINAL in variants:
        with full_precision():
            instance = make_instance(prepared, solve_original(prepared), ORIGINAL)
        yield instance
    drawn = [each for each in variants if each != ORIGINAL]
    earlier_instances = _EarlierInstances()
    seed, made, in_a_row = first, 0, 0
    while drawn and made < n:
        with full_precision():
            solved = solve_seed(prepared, seed, level=level)
            earlier = earlier_instances.earlier(solved)
            ready = (
                [] if earlier is not None else [make_instance(prepared, solved, each, level=level) for each in drawn]
            )
        if earlier is not None:
            in_a_row += 1
            if on_skip is not None:
                on_skip(prepared.template.id, seed, earlier)
            if in_a_row > _SKIPPED_FOR_ONE + n:
                raise PrismError(f"{prepared.template.id}: only {made} of {n} instances differ in their final numbers")
        else:
            yield from ready
            made, in_a_row = made + 1, 0
        seed += 1


class _EarlierInstances:
    """The final numbers of the instances so far, so that one that repeats them is seen."""

    def __init__(self) -> None:
        """Begin with none."""
        self._classes: dict[tuple[str, int], list[tuple[int, tuple[float, ...]]]] = {}

    def earlier(self, solved: Solved) -> int | None:
        """Return the seed of an earlier instance whose final numbers all meet these; None, and keep these, if none."""
        finals = [node for node in solved.case.numbers if node.is_final and node.number is not None]
        if not finals:
            return None
        values = tuple(float(as_fraction(solved.values[node.required_number.name])) for node in finals)
        place = math.floor(math.log(max(abs(values[0]), _LEAST)) / _WIDTH)
        for near in (place - 1, place, place + 1):
            for seed, others in self._classes.get((solved.case.name, near), ()):
                pairs = zip(finals, values, others, strict=True)
                if all(abs(a - b) <= float(node.tolerance) * abs(b) for node, a, b in pairs):
                    return seed
        self._classes.setdefault((solved.case.name, place), []).append((solved.seed, values))
        return None
