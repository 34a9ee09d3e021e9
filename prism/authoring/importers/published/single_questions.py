r"""Data sets whose rows are one question each: what is asked, answered and solved stands in columns of its own.

ABench-Physics: the unit of a number and its figures stand in brackets at the end of the text. Of the dynamic part each
`mid` has several `subid`, the same question with other numbers. Its own script compares a number in a box, within 1 %,
and knows no unit.

PhoPile: a row is one question of a problem, and those that belong together share `question_number`; no row says what
its answer is. Refused: the rows of one problem as parts of one file; many ask for what an earlier one gave, and their
solutions are separate.

PHYBench: one formula as the answer; most rows are published without solution and answer. PHYSICS: several recorded
answers each, and figures as data URLs. PRISM-Physics: the published shape is that of a problem file, which `convert`
reads as it is. SciBench: a power of ten often stands in the unit. TheoremQA: the repository has the answers as JSON
values, the table form as text; both are read. TPBench: the reference implementation of an answer is code, which is kept
and never run.

EngVQA (arXiv 2606.10833): its files were not seen. Fields are read under the names that such rows have elsewhere, the
first that is there; a data set that has others is read with `--map`. Names of topics come from a model, so that one
topic is spelled in several ways: two that are alike by 0.85 or more are one, the one that more rows have.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from prism.authoring.drafting import question_parts
from prism.authoring.importers.entries import (
    MARK,
    AnswerKind,
    DatasetEntry,
    EntryImage,
    Finding,
    RecordedAnswer,
    RefusedError,
    SourceRow,
)
from prism.authoring.importers.entry_images import named_images
from prism.authoring.importers.entry_problems import unknown_answers
from prism.authoring.importers.layouts import described, domain_of, entry_of, first_filled, metadata_of, unknown_types
from prism.authoring.importers.recorded_answers import are_apart, bare_answer
from prism.errors import count_of
from prism.latex import extract
from prism.problem.answers.worded import boxes_of
from prism.problem.images import ProblemImage, is_beside
from prism.problem.source import NODE_LISTS

Entries = Iterable[DatasetEntry]
Rows = Sequence[SourceRow]
Findings = Iterator[Finding]

# ABench-Physics -----------------------------------------------------------------------------------------------------

_UNIT = re.compile(r"(?:结果[^()（）]*?以|units?\s+of)\s*\$(?P<unit>[^$]*)\$")
_FIGURES = re.compile(r"保留\s*(?P<zh>\d+)\s*位有效数字|to\s+(?P<en>\d+)\s+significant")
_SIGN_APART = re.compile(r"^([-+])\s+(?=\d)")  # `- 50`


def _abench_id(row: SourceRow) -> str:
    """Return the number of the problem, and of its variant where it has several: `65-0`."""
    number, variant = row.text("mid"), row.text("subid")
    return f"{number}-{variant}" if number and variant else number


def _read_abench(row: SourceRow) -> Entries:
    """Yield the problem of a row: its number in the unit that the question asks for."""
    question = row.text("standard_question")
    answer = _SIGN_APART.sub(r"\1", row.text("standard_answer"))
    unit, figures = _UNIT.search(question), _FIGURES.search(question)
    asked = {"asked_figures": int(figures["zh"] or figures["en"])} if figures else {}
    recorded = RecordedAnswer(answer, AnswerKind.NUMBER, unit["unit"].strip() if unit else "")
    yield entry_of(ABENCH, row, [recorded], metadata={**metadata_of(ABENCH, row), **asked})


ABENCH = described("abench", _read_abench, id_of=_abench_id)

# EngVQA -------------------------------------------------------------------------------------------------------------

ALIKE = 0.85  # ratio of `difflib.SequenceMatcher` from which on two names are one topic
_ANSWERS = ("final_answer", "answer", "answers", "ground_truth")


def _engvqa_id(row: SourceRow) -> str:
    """Return the row's own id."""
    return str(first_filled(row, ("id", "problem_id", "question_id")) or "")


def _read_engvqa(row: SourceRow) -> Entries:
    """Yield the problem of a row; without its picture it can hardly be answered."""
    recorded = first_filled(row, _ANSWERS)
    texts = [str(each) for each in (recorded if isinstance(recorded, list) else [recorded])]
    yield entry_of(ENGVQA, row, unknown_answers(texts, row.text("unit")), id=_engvqa_id(row))


def topics_of(names: Iterable[str]) -> Mapping[str, str]:
    """Map each spelling of a topic to the one that more rows have, if they are alike by `ALIKE` or more.

    >>> topics_of(["Pipe flow", "Pipe flow", "pipe flows", "Fins"])["pipe flows"]
    'Pipe flow'
    """
    counts = Counter(name for name in names if name.strip())
    found: dict[str, str] = {}
    for name, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        found[name] = next((one for one in dict.fromkeys(found.values()) if likeness(one, name) >= ALIKE), name)
    return found


def likeness(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1, whatever their case and blanks."""
    first, second = (" ".join(name.casefold().split()) for name in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _check_engvqa(rows: Rows) -> Findings:
    """Yield topics that are another spelling of one that more rows have."""
    topics = topics_of(row.text("topic") for row in rows)
    for row in rows:
        name = row.text("topic")
        if name and topics[name] != name:
            yield Finding("near-topic", row, _engvqa_id(row), f"more rows have the topic {topics[name]}", name)


ENGVQA = described("engvqa", _read_engvqa, id_of=_engvqa_id, check=_check_engvqa)

# PhoPile ------------------------------------------------------------------------------------------------------------


def _read_phopile(row: SourceRow) -> Entries:
    """Yield the problem of a row; its finals are those of a draft of its solution.

    Its pictures are called `/pic/2011Q/Fig.1.png`, or `###Image1.png###` as a text names them.
    """
    listed = row.data.get("imgQ")
    names = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    images = named_images([name.replace("###", "").strip().lstrip("/") for name in names], row.file)
    yield entry_of(PHOPILE, row, images=images)


PHOPILE = described("phopile", _read_phopile)

# PHYBench -----------------------------------------------------------------------------------------------------------

_RELATION = re.compile(r"=|\\approx|\\sim|[<>]|\\leq?|\\geq?")


def _read_phybench(row: SourceRow) -> Entries:
    """Yield the problem of a row that has its answer; raises RefusedError for one that has none."""
    if not (answer := row.text("answer")):
        raise RefusedError("no-answer", "" if row.text("solution") else "nor a solution: questions only")
    yield entry_of(PHYBENCH, row, [RecordedAnswer(answer, AnswerKind.FORMULA)])


def _check_phybench(rows: Rows) -> Findings:
    """Yield answers that name no quantity, so that it has to be found in the question."""
    for row in rows:
        answer = bare_answer(row.text("answer"))
        if answer and not _RELATION.search(answer):
            message = "the answer has no `=`: the question has to say what it is of"
            yield Finding("answer-without-subject", row, row.number_or_text("id"), message, answer)


PHYBENCH = described("phybench", _read_phybench, check=_check_phybench)

# PHYSICS ------------------------------------------------------------------------------------------------------------


def _graphs_of(row: SourceRow) -> tuple[EntryImage, ...]:
    """Return the graphs of a row: data URLs."""
    graphs = row.data.get("graphs")
    found = []
    for each in graphs if isinstance(graphs, list) else ():
        address = each.get("image_url") if isinstance(each, Mapping) else None
        url = address.get("url") if isinstance(address, Mapping) else address
        if isinstance(url, str) and url:
            found.append(EntryImage(url=url))
    return tuple(found)


def _read_physics(row: SourceRow) -> Entries:
    """Yield the problem of a row, a part for each of its answers; raises RefusedError without a list of answers."""
    answers = row.data.get("final_answers")
    if isinstance(answers, str):
        answers = [answers]
    if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
        raise RefusedError("no-answer", "`final_answers` is no list of texts")
    images, graphs = _graphs_of(row), row.data.get("graphs")
    n_lost = (len(graphs) if isinstance(graphs, list) else graphs is not None) - len(images)
    yield entry_of(
        PHYSICS, row, unknown_answers(answers), images=images, needs_image=bool(images) or n_lost > 0,
        domain=domain_of(PHYSICS, row.text("id").split("/")[0]),
        remarks=(f"{count_of(n_lost, 'graph')} cannot be read",) if n_lost else (),
    )  # fmt: skip


def _check_physics(rows: Rows) -> Findings:
    """Yield questions with more lettered parts than answers, and texts that begin with a byte order mark."""
    for row in rows:
        answers = row.data.get("final_answers")
        n = len(answers) if isinstance(answers, list) else 0
        asked = question_parts(row.text("questions"))
        if len(asked) > n:
            message = f"{n} answers for the parts {', '.join(part.letter for part in asked)}"
            yield Finding("fewer-answers", row, row.text("id"), message)
        if str(row.data.get("questions", "")).startswith(MARK):
            yield Finding("byte-order-mark", row, row.text("id"), "its question begins with a byte order mark")


PHYSICS = described("physics", _read_physics, check=_check_physics)

# PRISM-Physics ------------------------------------------------------------------------------------------------------


def _published_image(entry: dict[str, Any], row: SourceRow) -> EntryImage:
    """Return an image of a problem, which keeps its location if that lies in the folder of the problem file."""
    location, caption = str(entry.get("location", "")), str(entry.get("caption", ""))
    found = named_images(location, row.file)
    own = location if is_beside(ProblemImage(location)) else ""
    return replace(found[0] if found else EntryImage(name=location), caption=caption, location=own)


def _read_prism_physics(row: SourceRow) -> Entries:
    """Yield the problem of a row, as it stands; raises RefusedError without a list of nodes."""
    if not any(row.data.get(key) is not None for key in NODE_LISTS):
        raise RefusedError("no-formula", f"it has no list of nodes ({', '.join(NODE_LISTS)})")
    listed = row.data.get("images")
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    published = {key: value for key, value in row.data.items() if key != "images"}
    images = tuple(_published_image(each, row) for each in entries)
    yield entry_of(PRISM_PHYSICS, row, published=published, images=images)


PRISM_PHYSICS = described("prism-physics", _read_prism_physics)

# SciBench -----------------------------------------------------------------------------------------------------------


def _scibench_id(row: SourceRow) -> str:
    """Return book and number of the problem, as a number stands in several books."""
    number = row.text("problemid")
    return f"{row.text('source')}-{number}" if number and row.text("source") else number


def _read_scibench(row: SourceRow) -> Entries:
    """Yield the problem of a row."""
    number = row.text("answer_number") or row.text("answer_latex")
    yield entry_of(SCIBENCH, row, [RecordedAnswer(number, AnswerKind.NUMBER, row.text("unit"))])


def _check_scibench(rows: Rows) -> Findings:
    """Yield answers whose LaTeX is another number than the recorded one."""
    for row in rows:
        if are_apart(row.text("answer_latex"), row.text("answer_number")):
            message = f"`answer_latex` is over 2 % from `answer_number`, {row.text('answer_number')}"
            yield Finding("answers-disagree", row, _scibench_id(row), message, row.text("answer_latex"))


SCIBENCH = described("scibench", _read_scibench, id_of=_scibench_id, check=_check_scibench)

# TheoremQA ----------------------------------------------------------------------------------------------------------


def _theoremqa_id(row: SourceRow) -> str:
    """Return the name of the row's file without its ending, `tonyxia/wave3`; empty in the table form."""
    return row.text("id").removesuffix(".json")


def _read_theoremqa(row: SourceRow) -> Entries:
    """Yield the problem of a row; raises RefusedError for an empty answer."""
    kind = THEOREMQA.kinds.get(row.text("Answer_type"), AnswerKind.UNKNOWN)
    answer = _written(row.data.get("Answer"), kind)
    if not answer:
        raise RefusedError("no-answer")
    picture = row.data.get("Picture")
    images = named_images([picture] if isinstance(picture, str) and picture != "NONE" else [], row.file)
    needs_image = picture not in (None, "", "NONE")
    yield entry_of(THEOREMQA, row, [RecordedAnswer(answer, kind)], images=images, needs_image=needs_image)


def _written(value: Any, kind: AnswerKind) -> str:
    """Return an answer as text: a list in brackets, a number without a point that says nothing."""
    if isinstance(value, str) and kind is not AnswerKind.CHOICE:
        try:
            value = json.loads(value.strip().replace("True", "true").replace("False", "false"))
        except ValueError:
            return str(value).strip()
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, list):
        return f"[{', '.join(_written(each, kind) for each in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _check_theoremqa(rows: Rows) -> Findings:
    """Yield types of answers that the data set does not define."""
    for row in rows:
        if named := row.text("Answer_type"):
            yield from unknown_types(THEOREMQA, row, _theoremqa_id(row), "Answer_type", [named])


THEOREMQA = described("theoremqa", _read_theoremqa, id_of=_theoremqa_id, check=_check_theoremqa)

# TPBench ------------------------------------------------------------------------------------------------------------


def _only_formula(text: str) -> str:
    """Return the answer of a cell: its only box, else its only formula, else all of it."""
    boxes = boxes_of(text)
    items = boxes if len(boxes) == 1 else [item.latex for item in extract(text) if item.kind == "display"]
    return items[0] if len(items) == 1 else text


def _read_tpbench(row: SourceRow) -> Entries:
    """Yield the problem of a row."""
    yield entry_of(TPBENCH, row, [RecordedAnswer(_only_formula(row.text("answer")))])


TPBENCH = described("tpbench", _read_tpbench)
