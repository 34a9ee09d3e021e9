"""EngTrace: instances of symbolic templates with a worked solution in plain text, whose answer follows `**Answer:**`.

Rows are read as they were written; the templates themselves are code, which is never run. What a template and a seed
are called stays in `metadata.template`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from prism.authoring.importers.entries import DatasetEntry, Finding, RecordedAnswer, RefusedError, SourceRow
from prism.authoring.importers.layouts import described, entry_of, metadata_of
from prism.authoring.importers.worked_answers import WorkedAnswer, worked_answers
from prism.authoring.plain_answers import first_number, numbers_of, tagged_answer, without_tagged_answer

_STEP = re.compile(r"^\s*(?:\*\*)?(?:Step\s+\d+|\d+\.)", re.MULTILINE | re.IGNORECASE)
_COMMA = re.compile(r"\d,\d{3}")
_LEAST_SEEDS = 3  # instances of a template from which on one number for all of them tells something


def _id_of(row: SourceRow) -> str:
    """Return template and seed, which together name an instance."""
    seed = row.data.get("seed")
    return f"{row.text('id')}-{seed}" if row.text("id") and seed is not None else row.text("id")


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of one instance; its answers are the equations and quantities that stand after the tag.

    Raises RefusedError without that tag.
    """
    solution = row.text("solution")
    tagged = tagged_answer(solution)
    if tagged is None:
        raise RefusedError("no-answer", "no `**Answer:**` in its solution")
    found = worked_answers(solution, row.text("question")) or (WorkedAnswer(tagged),)
    n = len(numbers_of(tagged))
    remarks = (f"of {n} numbers after the tag the answer is {'; '.join(e.latex for e in found)}",) if n > 1 else ()
    template = {"template": {"id": row.text("id"), "seed": row.data.get("seed")}}
    yield entry_of(
        ENGTRACE, row, (RecordedAnswer(e.latex, label=e.label, options=e.options) for e in found),
        metadata={**template, **metadata_of(ENGTRACE, row)}, remarks=remarks,
    )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield what only these rows can have: a tag that is missing or ambiguous, steps without numbers, constant keys."""
    by_template: dict[str, list[SourceRow]] = defaultdict(list)
    seen: dict[tuple[str, str], SourceRow] = {}
    for row in rows:
        by_template[row.text("id")].append(row)
        yield from _check_tag(row)
        yield from _check_steps(row)
        key = row.text("id"), str(row.data.get("seed"))
        if key in seen and row.data.get("question") == seen[key].data.get("question"):
            yield Finding("repeated-instance", row, _id_of(row), f"the same instance as {seen[key].place}")
        seen.setdefault(key, row)
    for template, own in sorted(by_template.items()):
        yield from _check_constant(template, own)


def _check_tag(row: SourceRow) -> Iterator[Finding]:
    """Yield what is wrong behind the tag of one solution."""
    tagged = tagged_answer(row.text("solution"))
    if tagged is None:
        yield Finding("no-answer-tag", row, _id_of(row), "the solution has no `**Answer:**`")
        return
    if len(numbers_of(tagged)) > 1:
        yield Finding("several-numbers", row, _id_of(row), "several numbers stand after the tag", tagged)
    if _COMMA.search(tagged):
        message = "a comma of thousands, at which its own reader stops"
        yield Finding("thousands-comma", row, _id_of(row), message, tagged)


def _check_steps(row: SourceRow) -> Iterator[Finding]:
    """Yield the steps of a solution that hold no number, which verify nothing in its own protocol."""
    text = without_tagged_answer(row.text("solution"))
    marks = list(_STEP.finditer(text))
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        if not numbers_of(text[mark.end() : end]):
            step = " ".join(text[mark.start() : end].split())
            yield Finding("step-without-number", row, _id_of(row), f"step {number + 1} has no number", step)


def _check_constant(template: str, rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield a template whose first number after the tag is the same for all seeds, though the questions differ."""
    found = [tagged_answer(row.text("solution")) for row in rows]
    first = [first_number(each) if each else "" for each in found]
    questions = {row.text("question") for row in rows}
    if len(questions) >= _LEAST_SEEDS and len(set(first)) == 1 and first[0]:
        message = f"the first number after the tag is {first[0]} for all {len(rows)} instances of template {template}"
        yield Finding("constant-key", rows[0], template, message, found[0] or "")


ENGTRACE = described("engtrace", _read, id_of=_id_of, check=_check)
