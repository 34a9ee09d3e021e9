"""What a task is asked about: items from the files that the protocols read, as the templates of a task see them.

| input | PROBLEMS | ROLLOUTS | an item is |
|---|---|---|---|
| `rollouts` | problem files | rollouts, as of `prism run` | a solution |
| `parts` | the same, or the published shape of PhysReason | the same | a part of a solution, with the steps of PSAS |
| `traces` | gold traces of EngTrace | predictions | a gold step beside the steps of a prediction |
| `answers` | the table of EngiBench, Levels 1 and 2 | answers | an answer |
| `rubrics` | the table of Level 3 | answers | an answer and a dimension |
| `questions` | the table, of any level; of Level 3 without rubrics too | none | a row |
| `problems` | problem files | none | a problem |
| `templates` | template files | none | a template, with the instance of its author's values |
| `records` | JSON Lines with an `id` | none | a record |

The readers are those of the protocols, so that a file that they take is one here too. Thinking blocks are not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prism.errors import PrismError
from prism.inputs import shown
from prism.judging.conversations import Item
from prism.judging.tasks import WITH_ROLLOUTS, Input, Task
from prism.latex import Solution, solution_text
from prism.latex.extraction.blocks import blank_spans
from prism.latex.extraction.masking import thinking_spans
from prism.problem.collection import load_problems
from prism.problem.prompts import make_prompt, question_text
from prism.problem.schema import Problem, ProblemNode, load_problem
from prism.problem.source import problem_path
from prism.protocols.engibench.input import VARIANTS, read_answers, read_questions
from prism.protocols.engibench.rubrics import DIMENSIONS, read_rubric
from prism.protocols.engjudge.topology import find_stages
from prism.protocols.engtrace.files import read_traces
from prism.protocols.engtrace.steps import Variant, read_trace
from prism.protocols.entry_files import JUDGED
from prism.protocols.psas.rules import load_references
from prism.protocols.psas.steps import ReferencePart
from prism.runs.records import Faults, id_of, read_records
from prism.runs.rollouts import Rollout, Scanned, read, scan

ID_FIELDS = ("id", "problem_id")  # of a record


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a run, and how they are read.

    Attributes:
        problems: PROBLEMS, a path or a shipped id.
        rollouts: ROLLOUTS; None where the task has none.
        mapping, keep, skip_unknown: as of `prism run`.
        has_images: the task shows figures.
        on_scanned: is handed what was found in a file of rollouts, before any is read.
    """

    problems: str
    rollouts: Path | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    keep: Sequence[str] = ()
    skip_unknown: bool = False
    has_images: bool = False
    on_scanned: Callable[[Scanned], object] = lambda _: None


def read_items(task: Task, source: Source) -> list[Item]:
    """Return the items of a task, in the order of its files.

    Errors:
        PrismError: ROLLOUTS lacking, or given where the task has none.
        DataFileError: all faults of a file.
    """
    needs = task.input in WITH_ROLLOUTS
    if needs and source.rollouts is None:
        raise PrismError(f"task {task.name} is about {task.input}: name ROLLOUTS too")
    if not needs and source.rollouts is not None:
        raise PrismError(f"task {task.name} is about {task.input}, and reads no ROLLOUTS")
    items = list(_READERS[task.input](replace(source, has_images=task.has_images)))
    if not items:
        raise PrismError(f"{source.rollouts or source.problems}: nothing of it is for the task {task.name}")
    return items


def _problems_of(source: Source) -> dict[str, Problem]:
    """Load the problems of a run."""
    name = source.problems
    return load_problems(name if name.lstrip().startswith("{") else problem_path(name))


def _rollouts(source: Source, known: Mapping[str, Any]) -> Iterator[Rollout]:
    """Yield the rollouts of a run; all faults of the file are told first."""
    assert source.rollouts is not None
    scanned = scan(source.rollouts, known, mapping=source.mapping, keep=source.keep, skip_unknown=source.skip_unknown)
    source.on_scanned(scanned)
    yield from read(source.rollouts, scanned.fields, known)


def _text_of(solution: Solution) -> str:
    """Return the text of a solution without its thinking blocks."""
    found = solution_text(solution)
    return blank_spans(found.text, sorted([*thinking_spans(found.text), *found.thinking])).strip()


def _images_of(source: Source, problem: Problem) -> tuple[str, ...]:
    """Return the figures of a problem as `data:` URLs, if the task shows them."""
    if not (source.has_images and problem.images):
        return ()
    content = make_prompt(problem).messages()[0]["content"]
    return tuple(part["image_url"]["url"] for part in content if part["type"] == "image_url")


def problem_values(problem: Problem) -> dict[str, Any]:
    """Return a problem as templates see it: its text, its parts, the nodes of the reference, its own solutions."""
    after = {node.index: list(node.prerequisites) for node in problem.dag.nodes}
    return {
        "id": problem.id, "title": problem.title, "domain": problem.domain, "text": question_text(problem),
        "parts": [{"letter": each.letter, "text": each.text} for each in problem.subquestions],
        "nodes": [_node_values(node, after[node.index]) for node in problem.nodes],
        "answers": [{"part": node.subquestion, "formula": node.latex} for node in problem.nodes if node.is_final],
        "solutions": [{"name": each.name, "text": _text_of(each.solution)} for each in problem.students],
    }  # fmt: skip


def _node_values(node: ProblemNode, after: list[int]) -> dict[str, Any]:
    """Return a node of the reference as templates see it."""
    return {
        "index": node.index, "formula": node.latex, "after": after, "part": node.subquestion,
        "is_final": node.is_final, "accept": [each.latex for each in node.accept],
    }  # fmt: skip


def _of_rollouts(source: Source) -> Iterator[Item]:
    """Yield the solutions of a file of rollouts."""
    known = _problems_of(source)
    shown_of = {name: (problem_values(problem), _images_of(source, problem)) for name, problem in known.items()}
    for rollout in _rollouts(source, known):
        problem, images = shown_of[rollout.problem_id]
        yield Item(_place(rollout), {**_rollout_values(rollout), "problem": problem}, images)


def _place(rollout: Rollout) -> str:
    """Return where a rollout stands, for messages."""
    return f"{rollout.problem_id}, sample {rollout.sample_id}"


def _rollout_values(rollout: Rollout) -> dict[str, Any]:
    """Return a rollout as templates see it, with its stages by the tags of EngJudge."""
    text = _text_of(rollout.solution)
    tagged = find_stages(text).spans
    stages = {name: "\n".join(text[a:b].strip() for a, b in spans) for name, spans in tagged.items()}
    return {
        "problem_id": rollout.problem_id, "sample_id": rollout.sample_id, "response": text, "stages": stages,
        "meta": dict(rollout.meta),
    }  # fmt: skip


def _of_parts(source: Source) -> Iterator[Item]:
    """Yield the parts of solutions, each with the steps that PSAS has of its reference."""
    references = load_references(source.problems)
    values = {name: problem_values(one.problem) for name, one in references.items()}
    for rollout in _rollouts(source, references):
        reference = references[rollout.problem_id]
        latex = {node.index: node.latex for node in reference.problem.nodes}
        images = _images_of(source, reference.problem)
        for part in reference.parts:
            seen = {**_rollout_values(rollout), "problem": values[rollout.problem_id], "part": _part(part, latex)}
            yield Item(f"{_place(rollout)}, part {part.name}", seen, images)


def _part(part: ReferencePart, latex: Mapping[int, str]) -> dict[str, Any]:
    """Return a part as templates see it; a formula that PRISM cannot read is not shown."""

    def shown_of(indices: Sequence[int]) -> list[str]:
        return [latex[index] for index in indices if index in latex]

    steps = [
        {"number": number, "name": step.name, "equations": shown_of(step.equations), "values": shown_of(step.values)}
        for number, step in enumerate(part.steps, start=1)
    ]
    return {"letter": part.letter, "name": part.name, "answers": shown_of(part.finals), "steps": steps}


def _of_traces(source: Source) -> Iterator[Item]:
    """Yield each gold step beside the steps of a prediction."""
    for pair in read_traces(Path(source.problems), source.rollouts, keep=source.keep).pairs:
        gold, predicted = (
            [{"number": n, "text": step.text} for n, step in enumerate(read_trace(text, Variant.PAPER).steps, start=1)]
            for text in (pair.gold.solution, pair.prediction.generation)
        )
        if not predicted:
            continue
        name, seed = pair.gold.name
        for step in gold:
            values = {
                "id": name, "seed": seed, "sample_id": pair.sample_id, "problem_id": pair.problem_id,
                "question": pair.gold.question, "gold": gold, "predicted": predicted, "step": step,
            }  # fmt: skip
            yield Item(f"{pair.problem_id}, sample {pair.sample_id}, gold step {step['number']}", values)


def _of_answers(source: Source) -> Iterator[Item]:
    """Yield the answers to Levels 1 and 2."""
    for answer, question in _engibench(source):
        if not question.is_open:
            asked, key = (question.text(column) for column in VARIANTS[answer.variant])
            yield Item(*_answer(answer, {"question": asked, "key": key, "level": question.level}))


def _of_rubrics(source: Source) -> Iterator[Item]:
    """Yield the answers to Level 3, once for each dimension that has a rubric."""
    for answer, question in _engibench(source):
        if not question.is_open:
            continue
        for dimension, columns in DIMENSIONS.items():
            cell = next((text for column in columns if (text := question.text(column))), "")
            if not cell:
                continue
            heads = [
                {"number": head.number, "name": head.name, "points": float(head.points), "levels": head.levels_text}
                for head in read_rubric(cell).heads
            ]
            more = {"question": question.asked(answer.variant), "dimension": dimension, "rubric": cell, "heads": heads}
            place, values = _answer(answer, more)
            yield Item(f"{place}, {dimension}", values)


def _engibench(source: Source) -> Iterator[tuple[Any, Any]]:
    """Yield the answers that are there, with their questions."""
    assert source.rollouts is not None
    questions = read_questions(Path(source.problems))
    for answer in read_answers(source.rollouts, questions, mapping=source.mapping, keep=source.keep):
        if answer.response is not None:
            yield answer, questions[answer.row]


def _answer(answer: Any, more: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the place of an answer, and what templates see of it."""
    values = {
        "row": answer.row, "variant": answer.variant, "sample_id": answer.sample_id, "response": answer.response,
        "meta": dict(answer.meta), **more,
    }  # fmt: skip
    return f"row {answer.row}, {answer.variant}, sample {answer.sample_id}", values


def _of_questions(source: Source) -> Iterator[Item]:
    """Yield the rows of a table of EngiBench, without what an earlier run says of itself in them."""
    for row in read_questions(Path(source.problems), needs_rubric=False).values():
        record = {name: value for name, value in row.data.items() if name != JUDGED}
        values = {"row": row.number, "level": row.level, "question": row.asked("original"), "key": row.text("answer")}
        yield Item(f"row {row.number}", {**values, "record": record})


def _of_problems(source: Source) -> Iterator[Item]:
    """Yield problems."""
    for name, problem in _problems_of(source).items():
        yield Item(name, {"problem_id": name, "problem": problem_values(problem)}, _images_of(source, problem))


def _of_templates(source: Source) -> Iterator[Item]:
    """Yield templates, each with the instance of its author's values."""
    from prism.generation.instances import generate
    from prism.generation.loading import is_template

    path = Path(source.problems)
    names = [str(each) for each in sorted(path.glob("*.toml")) if is_template(each)] if path.is_dir() else [str(path)]
    for made in generate(*names, variants=("original",)):
        problem = load_problem(dict(made.data))
        values = {"template_id": made.template, "problem": problem_values(problem), "metadata": made.data["metadata"]}
        yield Item(made.template, values)


def _of_records(source: Source) -> Iterator[Item]:
    """Yield the records of a file, once all of them are read.

    Raises DataFileError, with all faults, for a record without an id and for an id that stands twice.
    """
    path = Path(source.problems)
    faults = Faults()
    seen: dict[str, str] = {}
    items = []
    for record in read_records(path, faults):
        name = next((found for key in ID_FIELDS if (found := id_of(record.data.get(key)))), None)
        if name is None:
            faults.add("id: is missing", record.place)
        elif (earlier := seen.setdefault(name, record.place)) != record.place:
            faults.add(f"id {shown(name)} stands in {earlier} too", record.place)
        else:
            items.append(Item(name, {"id": name, "record": dict(record.data)}))
    faults.check(path)
    yield from items


_READERS: Mapping[Input, Callable[[Source], Iterator[Item]]] = {
    Input.ROLLOUTS: _of_rollouts, Input.PARTS: _of_parts, Input.TRACES: _of_traces, Input.ANSWERS: _of_answers,
    Input.RUBRICS: _of_rubrics, Input.QUESTIONS: _of_questions, Input.PROBLEMS: _of_problems,
    Input.TEMPLATES: _of_templates, Input.RECORDS: _of_records,
}  # fmt: skip
