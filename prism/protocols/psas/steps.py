r"""The reference of PSAS-S: parts of a problem with their final answers and steps, each step with equations and values.

Of a problem file each node is a step, in index order. A node that states a number is a value, any other an equation; a
number that follows directly from one formula, the only one among its prerequisites, shares the step of that formula. A
step belongs to the part that its node names, else to the first part with a final answer that rests on it.

Problems in the published shape of PhysReason, as PRISM problems with the steps that PSAS-S scores.

    {"id": "...", "question_structure": {"context": "...", "sub_question_1": "..."}, "answer": ["..."],
     "difficulty": "...",
     "explanation_steps": {"sub_question_1": {"step_1": "..."}, "sub_question_2": {"step_2": "..."}},
     "steps_analysis": {"step_1": {"result_quantity": [{"name": "v", "value": "3 m/s", "equation": "v = a t"}]}}}

Each equation and each value becomes a node, in order; of "N/A" there is none. A value is written with the name of its
quantity, if that is a symbol, or with the quantity that its equation is solved for: `v = 3\unit{m/s}`. The answer of a
part is the value of its last step if it says the same, else a node of its own. What PRISM cannot read is undecided.
Steps depend on nothing here; the nodes form one chain, which no score looks at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.numbers.stated import stated_number
from prism.errors import DataFileError, LatexSyntaxError, PrismError
from prism.inputs import decode, parse_json, read_bytes, refuse_constant
from prism.latex import write
from prism.physics.context import parse
from prism.physics.quantities import read_quantity
from prism.problem.dag import ancestor_closure
from prism.problem.schema import Problem, ProblemNode, in_alternative, load_problem
from prism.problem.shapes import PASSES_UNKNOWN, Id, LoadReport, Reader, Text, read_shape
from prism.protocols.entry_files import ENTRY, Table, read_entries
from prism.runs.records import MAX_RECORD, Faults

_SHAPE = ("question_structure", "explanation_steps", "steps_analysis")
_NOTHING = frozenset(("", "n/a", "na", "none", "null", "-"))
_KEY = re.compile(r"(sub_question|step)_(\d{1,4})")
_NUMBER = r"[-+]?\d[\d.,]*(?:\s*(?:[eE][-+]?\d+|(?:\\times|×)\s*10\^\{?[-+]?\d+\}?))?"
_NUMBER_AND_UNIT = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>\S.*)?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def is_published_shape(source: Path) -> bool:
    """Return True if the first problem of a `.json` or `.jsonl` file, or of a folder of such files, has this shape."""
    try:
        for path in _files(source):
            text = decode(read_bytes(path, MAX_RECORD)).strip()
            whole = parse_json(
                text.splitlines()[0] if path.suffix == ".jsonl" else text, table=dict, constant=refuse_constant
            )
            first = whole[0] if isinstance(whole, list) and whole else whole
            return isinstance(first, dict) and any(key in first for key in _SHAPE)
    except (PrismError, IndexError, OSError):  # who loads it says why it cannot be read
        return False
    return False


def load_published(source: Path) -> dict[str, PsasReference]:
    """Load the problems of a file, or of all `.json` and `.jsonl` files below a folder, by id.

    Errors:
        DataFileError: all faults of the first file that has any; two problems of one id.
    """
    found: dict[str, PsasReference] = {}
    faults = Faults()
    for path in _files(source):
        for entry in read_entries(path, _read_problem).entries:
            reference = _reference(entry.value, path)
            if reference.problem.id in found:
                faults.add(f"{path.name}, {entry.place}: the id {reference.problem.id} is that of another problem too")
            found[reference.problem.id] = reference
    faults.check(source)
    return found


def _files(source: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder in the order of their names."""
    if source.is_dir():
        yield from sorted(path for path in source.rglob("*") if path.suffix in (".json", ".jsonl"))
    elif source.suffix in (".json", ".jsonl"):
        yield source


# Reading. -------------------------------------------------------------------------------------------------------


def _text_of(value: Any) -> str:
    """Return a text without the dollars around it; empty for N/A."""
    text = "" if value is None else str(value).strip().rstrip(".").strip("$").strip()
    return "" if text.casefold() in _NOTHING else text


_Cell = Annotated[str, Reader(_text_of)]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """One quantity of a step as written; an empty text where the reference has N/A."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    name: _Cell = ""
    value: _Cell = ""
    equation: _Cell = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """What is said of a step."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    result_quantity: tuple[_Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    """A problem as the file has it."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    id: Id
    question_structure: dict[str, Text] = field(default_factory=dict)
    explanation_steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    steps_analysis: dict[str, _Step] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Published:
    """A problem as written.

    Attributes:
        questions: one text a part.
        steps: for each part its steps, by number, in order.
        answers: one text a part, where there is one.
    """

    id: str
    context: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    steps: tuple[Mapping[int, tuple[_Quantity, ...]], ...]


def _read_problem(table: Table, report: LoadReport) -> _Published:
    """Read one problem."""
    name = "id" if table.get("id") is not None else "problem_id"
    row = read_shape(_Row, {**table, "id": table.get(name)}, report, ENTRY)
    asked = row.question_structure
    numbers = sorted(int(found[2]) for key in asked if (found := _KEY.fullmatch(key)) and found[1] != "step")
    if not numbers:
        report.faults.append("question_structure: has no sub_question_1")
    if len(numbers) > len(_LETTERS):
        report.faults.append(f"question_structure: {len(numbers)} questions; at most {len(_LETTERS)} are read")
    answers = table.get("answer")
    texts = answers if isinstance(answers, list) else [answers]
    if len(texts) < len(numbers):
        report.faults.append(f"answer: {len(texts)} answers to {len(numbers)} questions")
    return _Published(
        row.id, asked.get("context", ""), tuple(asked[f"sub_question_{n}"] for n in numbers),
        tuple(map(_text_of, texts)), tuple(_steps(row, n, report) for n in numbers),
    )  # fmt: skip


def _steps(row: _Row, part: int, report: LoadReport) -> Mapping[int, tuple[_Quantity, ...]]:
    """Return the quantities of each step of a part, by the step's number."""
    name = f"sub_question_{part}"
    if name not in row.explanation_steps:
        report.faults.append(f"explanation_steps, {name}: is missing")
    listed = row.explanation_steps.get(name, ())
    numbers = sorted(int(found[2]) for key in listed if (found := _KEY.fullmatch(key)) and found[1] == "step")
    return {n: row.steps_analysis.get(f"step_{n}", _Step()).result_quantity for n in numbers}


# Nodes. ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Nodes:
    """The nodes of a problem as they are made, and what could not be read."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    n_unreadable: int = 0

    def add(self, latex: str | None, letter: str) -> int:
        """Append a node and return its index; `UNREADABLE` for None."""
        if latex is None:
            self.n_unreadable += 1
            return UNREADABLE
        index = len(self.entries) + 1
        self.entries.append(
            {"index": index, "formula": latex, "dependency": [index - 1] if index > 1 else [], "subquestion": letter}
        )
        return index

    def value_that_says(self, latex: str | None, steps: Sequence[ReferenceStep]) -> int:
        """Return the last value of some steps that is written as a formula; `UNREADABLE` if none is."""
        values = [index for step in steps for index in step.values if index != UNREADABLE]
        written = {_without_spaces(self.entries[index - 1]["formula"]): index for index in values}
        return UNREADABLE if latex is None else written.get(_without_spaces(latex), UNREADABLE)


def _without_spaces(latex: str) -> str:
    """Return a formula without its blanks."""
    return "".join(latex.split())


def _reference(published: _Published, path: Path) -> PsasReference:
    """Return a problem with its steps.

    Errors:
        DataFileError: nothing of it can be read; what `load_problem` refuses.
    """
    nodes = _Nodes()
    letters = _LETTERS[: len(published.questions)]
    parts = [
        _part(letter, steps, published.answers[place], nodes)
        for place, (letter, steps) in enumerate(zip(letters, published.steps, strict=True))
    ]
    if not nodes.entries:
        raise DataFileError(str(path), (f"{published.id}: no value, equation or answer can be read",))
    for part in parts:
        for index in part.finals:
            if index != UNREADABLE:
                nodes.entries[index - 1]["is_final_answer"] = True
    nodes.entries[-1]["is_final_answer"] = True  # a chain that leads nowhere is refused; parts say what counts
    problem = load_problem({
        "id": published.id, "context": published.context, "grading_standard": nodes.entries,
        "subquestions": [
            {"letter": letter, "subproblem": text} for letter, text in zip(letters, published.questions, strict=True)
        ],
    })  # fmt: skip
    return PsasReference(problem, tuple(parts), nodes.n_unreadable)


def _part(letter: str, steps: Mapping[int, tuple[_Quantity, ...]], answer: str, nodes: _Nodes) -> ReferencePart:
    """Return one part, its nodes added to those of the problem."""
    made = []
    for n, quantities in steps.items():
        equations, values = [], []
        for each in quantities:
            if each.equation:
                equations.append(nodes.add(_readable(each.equation), letter))
            if each.value:
                values.append(nodes.add(_value(each), letter))
        made.append(ReferenceStep(step_name(letter, n), tuple(equations), tuple(values)))
    if not answer:
        return ReferencePart(letter, (), tuple(made))
    formula = _readable(_with_unit(answer))
    final = nodes.value_that_says(formula, made) or nodes.add(formula, letter)
    return ReferencePart(letter, (final,), tuple(made))


def _readable(latex: str) -> str | None:
    """Return a formula if PRISM reads it, else None."""
    try:
        parse(latex)
    except LatexSyntaxError:
        return None
    return latex


def _value(quantity: _Quantity) -> str | None:
    r"""Return a value as a formula: `v = 3\unit{m/s}`, or without a symbol the value alone; None if unreadable."""
    text = _with_unit(quantity.value)
    if "=" in text:
        return _readable(text)
    subject = _subject(quantity)
    return (_readable(f"{subject} = {text}") if subject else None) or _readable(text)


def _subject(quantity: _Quantity) -> str:
    """Return the symbol of a quantity: its name, else what its equation is solved for; empty if neither is one."""
    try:
        name = parse(quantity.name)
        if name.kind == "expression" and name.members[0].op in ("sym", "apply"):
            return quantity.name
    except LatexSyntaxError:
        pass
    try:
        subject = subject_of(parse(quantity.equation))
    except LatexSyntaxError:
        return ""
    return "" if subject is None else write(subject)


def _with_unit(text: str) -> str:
    r"""Return `3 m/s`, alone or behind the last equals sign, as `3\unit{m/s}`; any other text as it is."""
    head, sign, tail = text.rpartition("=")
    found = _NUMBER_AND_UNIT.fullmatch(tail.strip())
    if found is None or not found["unit"] or "\\" in found["unit"]:
        return text
    try:
        read_quantity(f"1 {found['unit']}")
    except PrismError:
        return text
    return f"{head}{sign} {found['number']}\\unit{{{found['unit']}}}".strip()


UNREADABLE = 0
"""In place of a node's index: a value, equation or answer that the reference states and PRISM cannot read."""


@dataclass(frozen=True, slots=True)
class ReferenceStep:
    """One step: indices of the nodes that are its equations and its values; neither where the reference has N/A."""

    name: str
    equations: tuple[int, ...] = ()
    values: tuple[int, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes of the step."""
        return (*self.equations, *self.values)


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """One part of a problem.

    Attributes:
        letter: as the problem names it; empty of a problem without parts.
        finals: nodes that are its final answer.
        steps: in order.
    """

    letter: str
    finals: tuple[int, ...]
    steps: tuple[ReferenceStep, ...]

    @property
    def name(self) -> str:
        """The letter, or `answer` of a problem without parts."""
        return self.letter or "answer"


@dataclass(frozen=True, slots=True)
class PsasReference:
    """A problem with its parts and steps.

    Attributes:
        parts: those of its own reference DAG.
        n_unreadable: values, equations and answers of the reference that PRISM cannot read.
    """

    problem: Problem
    parts: tuple[ReferencePart, ...]
    n_unreadable: int = 0

    def parts_by(self, alternative: str) -> tuple[ReferencePart, ...]:
        """Return the parts and steps of one of the problem's reference DAGs; an empty name is its own."""
        return parts_of(in_alternative(self.problem, alternative)) if alternative else self.parts


def parts_of(problem: Problem) -> tuple[ReferencePart, ...]:
    """Return the parts of a problem with their steps, those with a final answer or a step."""
    letters = _letters_of_nodes(problem)
    names = dict.fromkeys((*(each.letter for each in problem.subquestions), *letters.values()))
    found = []
    for letter in names:
        nodes = [node for node in problem.nodes if letters[node.index] == letter]
        if nodes:
            finals = tuple(node.index for node in nodes if node.is_final)
            found.append(ReferencePart(letter, finals, _steps_of(problem, nodes, letter)))
    return tuple(found)


def states_number(node: ProblemNode) -> bool:
    """Return True if a node states a number: `v = 3 m/s`, or the number alone."""
    if node.is_text:
        return False
    if numeric_of(node.formula) is not None:
        return True
    return node.formula.kind == "expression" and stated_number(node.formula.members[0]) is not None


def _letters_of_nodes(problem: Problem) -> dict[int, str]:
    """Return the part of each node by its index; a final answer without a letter is of the part without one."""
    own = {node.index: node.subquestion for node in problem.nodes if node.subquestion or node.is_final}
    order = {each.letter: place for place, each in enumerate(problem.subquestions)}
    finals = [node.index for node in problem.nodes if node.is_final]
    finals.sort(key=lambda index: (order.get(own[index], -1), index))
    rests_on = {index: ancestor_closure(problem.dag, {index}) for index in finals}
    for node in problem.nodes:
        if node.index not in own:
            own[node.index] = next(own[final] for final in finals if node.index in rests_on[final])
    return own


def _steps_of(problem: Problem, nodes: Sequence[ProblemNode], letter: str) -> tuple[ReferenceStep, ...]:
    """Return the steps that the nodes of one part make."""
    numbers = {node.index for node in problem.nodes if states_number(node)}
    own = {node.index for node in nodes}
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes}
    members: dict[int, list[int]] = {}  # of each step, behind the node that began it
    for node in nodes:
        formulas = [index for index in prerequisites[node.index] if index not in numbers]
        shares = node.index in numbers and len(formulas) == 1 and formulas[0] in own
        members.setdefault(formulas[0] if shares else node.index, []).append(node.index)
    return tuple(
        ReferenceStep(
            step_name(letter, place),
            equations=tuple(index for index in indices if index not in numbers),
            values=tuple(index for index in indices if index in numbers),
        )
        for place, indices in enumerate(members.values(), start=1)
    )


def step_name(letter: str, number: int) -> str:
    """Return `a/2`, or `2` of a problem without parts."""
    return f"{letter}/{number}" if letter else str(number)
