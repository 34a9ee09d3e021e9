r"""ABench-Physics: questions with one number each; its unit and its figures stand in brackets at the end of the text.

Of the dynamic part each `mid` has several `subid`, the same question with other numbers. Its own script compares a
number in a box, within 1 %, and knows no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from prism.authoring.importers.entries import (
    OPTIONAL,
    AnswerKind,
    Dataset,
    DatasetEntry,
    RecordedAnswer,
    SourceRow,
    fields_of,
    kept,
)

_UNIT = re.compile(r"(?:结果[^()（）]*?以|units?\s+of)\s*\$(?P<unit>[^$]*)\$")
_FIGURES = re.compile(r"保留\s*(?P<zh>\d+)\s*位有效数字|to\s+(?P<en>\d+)\s+significant")
_SIGN_APART = re.compile(r"^([-+])\s+(?=\d)")  # `- 50`


def _id_of(row: SourceRow) -> str:
    """Return the number of the problem, and of its variant where it has several: `65-0`."""
    number, variant = row.text("mid"), row.text("subid")
    return f"{number}-{variant}" if number and variant else number


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row: its number in the unit that the question asks for."""
    question = row.text("standard_question")
    answer = _SIGN_APART.sub(r"\1", row.text("standard_answer"))
    unit, figures = _UNIT.search(question), _FIGURES.search(question)
    asked = unit["unit"].strip() if unit else ""
    yield DatasetEntry(
        question=question,
        answers=(RecordedAnswer(answer, AnswerKind.NUMBER, asked),) if answer else (),
        metadata={
            **kept(row.data, "mid", "subid"),
            **({"asked_figures": int(figures["zh"] or figures["en"])} if figures else {}),
        },
    )


ABENCH = Dataset(
    name="abench",
    published="inclusionAI/ABench (Physics)",
    licence="Apache-2.0",
    globs=("Physics/data/Phy_*.csv", "Phy_*.csv"),
    fields={
        **fields_of("mid", "standard_question", "standard_answer"),
        **fields_of("subid", rule=OPTIONAL),
    },
    id_of=_id_of,
    read=_read,
    has_languages=True,
)
