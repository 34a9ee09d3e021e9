"""What a row of a published data set becomes before it is a problem: entries, refusals, and what describes a data set.

Each module of a data set turns a `SourceRow` into `DatasetEntry` values, with the answers as they are recorded. What
cannot be one is a `Refusal`, with a code from `REFUSALS`, so that refused rows can be counted by reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from prism.errors import PrismError
from prism.resources import meanings

REFUSALS: Mapping[str, str] = meanings("lint.refusal")
MARK = "\ufeff"  # byte order mark, which some rows begin with
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CHINESE_SHARE = 0.05  # of the letters of a text; an English one may hold a name
_LETTER = re.compile(r"[^\W\d_]")


class AnswerKind(StrEnum):
    """What a data set says that an answer is; `UNKNOWN` where it does not say."""

    NUMBER = "number"
    FORMULA = "formula"
    CHOICE = "choice"
    TRUTH = "truth"
    INTERVAL = "interval"
    WORDS = "words"
    UNKNOWN = "unknown"


class RefusedError(PrismError):
    """Raised where a row cannot become a problem.

    Attributes:
        code: a key of `REFUSALS`.
        why: what was found, in words.
    """

    def __init__(self, code: str, why: str = "") -> None:
        """Store code and reason; the message is both in words."""
        self.code = code
        self.why = why
        super().__init__(f"{REFUSALS[code]}{f': {why}' if why else ''}")

    def __reduce__(self) -> tuple[type[RefusedError], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.code, self.why)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row of a file as it was read.

    Attributes:
        file: where it stands.
        number: counts from 1 in its file; of JSON Lines the line.
        place: `line 3` or `entry 3`, for messages.
        data: its fields; anything but a mapping if the row is no table.
        fault: why the row itself could not be read; empty if it could.
    """

    file: Path
    number: int
    place: str
    data: Any
    fault: str = ""

    def text(self, name: str) -> str:
        """Return a field as text without a byte order mark and outer blanks; empty if it is absent, null or no text."""
        value = self.data.get(name)
        return value.replace(MARK, "").strip() if isinstance(value, str) else ""

    def number_or_text(self, name: str) -> str:
        """Return a field that counts or names, such as an id, as text; empty if it is absent or null."""
        value = self.data.get(name)
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer as a row records it.

    Attributes:
        text: LaTeX or plain text, with delimiters and box if it has them.
        kind: what the data set says that it is.
        unit: as recorded beside the number; empty if none.
        letter: of the part that it answers; empty if the row does not say.
        label: what the row calls it in words, `H2O(g)`; empty if it does not.
        options: of an answer in words, what it is one of; empty for any other.
    """

    text: str
    kind: AnswerKind = AnswerKind.UNKNOWN
    unit: str = ""
    letter: str = ""
    label: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One part of a question: its letter and its text."""

    letter: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class EntryImage:
    """An image of a row: a data URL, or the name of a file that the data set brings; `path` if it is there.

    One of a published problem keeps its own `location` beside the problem file, whether it is there or not.
    """

    url: str = ""
    name: str = ""
    path: Path | None = None
    caption: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class StatedStep:
    """A formula that a published step states, as LaTeX, with the letter of its part."""

    latex: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One problem that a row asks.

    Attributes:
        question: the text, all of it; `parts` hold the lettered ones where the data set keeps them apart.
        answers: in order.
        id: empty where it is that of the row.
        solution: worked, as text; empty if there is none.
        parts: of the question, if the data set tells them apart.
        marking: schemes with points as `convert` takes them; empty if there is none.
        steps: formulas of published steps; empty if there are none.
        published: a problem file in the shape of PRISM-Physics; None for any other.
        domain: a name, or empty.
        images: in order.
        needs_image: the question cannot be answered without one.
        metadata: what else is kept.
        remarks: what a person should know of this entry.
        variant: of the question, where a row has several.
    """

    question: str
    answers: tuple[RecordedAnswer, ...] = ()
    id: str = ""
    solution: str = ""
    parts: tuple[QuestionPart, ...] = ()
    marking: tuple[Any, ...] = ()
    steps: tuple[StatedStep, ...] = ()
    published: Mapping[str, Any] | None = None
    domain: str = ""
    images: tuple[EntryImage, ...] = ()
    needs_image: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that cannot be a problem: its id, a key of `REFUSALS`, what was found, and which variant it is."""

    id: str
    code: str
    why: str = ""
    variant: str = ""

    def __str__(self) -> str:
        """Return the reason in words."""
        return f"{REFUSALS[self.code]}{f': {self.why}' if self.why else ''}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a data set is wanted: a variant and a language, each empty for all."""

    variant: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class FieldRule:
    """What a field of a row must be: its types, whether it must be there, and whether it may be empty."""

    types: tuple[type, ...] = (str,)
    is_required: bool = True
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with, or worth knowing of, a row of a data set.

    Attributes:
        code: stable name, a key of `dataset_lint.CODES`.
        row: the row, None for one of the set as a whole.
        id: the row's own id.
        text: what is found, in words.
        read: what was read, shortened.
    """

    code: str
    row: SourceRow | None
    id: str
    text: str
    read: str = ""


ReadRow = Callable[[SourceRow], Iterable[DatasetEntry | Refusal]]
CheckRows = Callable[[Sequence[SourceRow]], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published data set: how its files are found and read. What is no function stands in `published.toml`.

    Attributes:
        name: of `--from`.
        read: a row to its entries; may raise `RefusedError` for all of the row.
        id_of: the row's own id, as text; empty if it has none.
        fields: of a row.
        check: findings that only this data set can have.
        variants: by the names of `--variant`, the columns of question and answer; empty if there are none.
        domains: the domain for a word of a row, the words in small letters.
    """

    name: str
    read: ReadRow
    id_of: Callable[[SourceRow], str]
    fields: Mapping[str, FieldRule]
    published: str = ""
    licence: str = ""
    is_non_commercial: bool = False
    has_languages: bool = False
    globs: Sequence[str] = ()
    check: CheckRows | None = None
    variants: Mapping[str, Sequence[str]] = field(default_factory=dict)
    question: Sequence[str] = ()
    solution: str = ""
    images: Sequence[str] = ()
    domain: Sequence[str] = ()
    domains: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, AnswerKind] = field(default_factory=dict)
    kept: Sequence[str] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    tells_language: bool = False


def language_of(text: str) -> str:
    """Return `zh` for a text with Chinese among its letters, else `en`."""
    n_chinese = len(_CHINESE.findall(text))
    return "zh" if n_chinese > _CHINESE_SHARE * max(len(_LETTER.findall(text)), 1) else "en"


def longest_text(data: Mapping[str, Any]) -> str:
    """Return the longest text among the fields of a row."""
    return max((value for value in data.values() if isinstance(value, str)), key=len, default="")


def kept(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the named fields of a row that are there and not empty, for the metadata of a problem."""
    return {name: data[name] for name in names if data.get(name) not in (None, "", [], {})}
