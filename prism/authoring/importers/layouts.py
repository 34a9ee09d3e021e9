"""What `published.toml` says of a data set, and the problem of a row whose columns it names.

Refused: a language for how answers are read. What is more than the name of a column is a function of the data set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from prism.authoring.importers.entries import (
    AnswerKind,
    Dataset,
    DatasetEntry,
    FieldRule,
    Finding,
    ReadRow,
    RecordedAnswer,
    SourceRow,
    kept,
    language_of,
)
from prism.authoring.importers.entry_images import named_images
from prism.inputs import parse_toml

TYPES: Mapping[str, type] = {
    "text": str, "whole number": int, "number": float, "true or false": bool, "list": list, "table": dict,
    "null": type(None),
}  # fmt: skip
_ABSENT, _EMPTY = "may be absent", "may be empty"


@cache
def layout(name: str) -> Mapping[str, Any]:
    """Return the table of `published.toml` on a data set."""
    found: dict[str, Any] = parse_toml(Path(__file__).with_name("published.toml").read_text("utf-8"))[name]
    return found


def described(name: str, read: ReadRow, **functions: Any) -> Dataset:
    """Return a data set of the table with its functions, which are fields of `Dataset` too."""
    table = {key: value for key, value in layout(name).items() if key != "open_variants"}
    id_of = functions.pop("id_of", partial(column_text, name=table.pop("id", "id")))
    table["fields"] = {column: _rule(said) for said, columns in table["fields"].items() for column in columns}
    table["kinds"] = {word: AnswerKind(kind) for word, kind in table.get("kinds", {}).items()}
    table["domains"] = {word.lower(): domain for word, domain in table.get("domains", {}).items()}
    return Dataset(name=name, read=read, id_of=id_of, **table, **functions)


def _rule(said: str) -> FieldRule:
    """Return the rule of a field: `text | null, may be absent, may be empty`."""
    types, *more = said.split(", ")
    return FieldRule(tuple(TYPES[each] for each in types.split(" | ")), _ABSENT not in more, _EMPTY in more)


def column_text(row: SourceRow, name: str) -> str:
    """Return a column that holds a text or a number, as text; empty if it is absent or null."""
    return row.text(name) or row.number_or_text(name)


def first_filled(row: SourceRow, names: Iterable[str]) -> Any:
    """Return the first of some columns that holds anything; an empty list if none does."""
    return next((row.data[name] for name in names if row.data.get(name)), [])


def entry_of(dataset: Dataset, row: SourceRow, answers: Iterable[RecordedAnswer] = (), **others: Any) -> DatasetEntry:
    """Return the problem of a row.

    Args:
        answers: those without a text are left out.
        others: fields of the entry that are not, or not only, what the named columns hold.
    """
    texts = [row.text(name) for name in dataset.question]
    if "images" not in others:
        others["images"] = named_images(first_filled(row, dataset.images), row.file)
    found: dict[str, Any] = {
        "question": "\n\n".join(filter(None, texts)) if texts and texts[-1] else "",
        "solution": row.text(dataset.solution),
        "domain": domain_of(dataset, *(row.text(name) for name in dataset.domain)),
        "needs_image": bool(others["images"]),
        "metadata": metadata_of(dataset, row),
    }
    return DatasetEntry(answers=tuple(each for each in answers if each.text), **(found | others))


def domain_of(dataset: Dataset, *words: str) -> str:
    """Return the domain of the first word that the data set is known to use for one; empty for none."""
    return next((dataset.domains[word.lower()] for word in words if word.lower() in dataset.domains), "")


def metadata_of(dataset: Dataset, row: SourceRow) -> dict[str, Any]:
    """Return what is kept of a row: its language, columns as they are, and texts under other names."""
    language = {"language": language_of(row.text(dataset.question[-1]))} if dataset.tells_language else {}
    named = {name: text for name, column in dataset.named.items() if (text := row.text(column))}
    return {**language, **kept(row.data, *dataset.kept), **named}


def types_of(row: SourceRow, column: str = "answer_type") -> list[str]:
    """Return the types of a row's answers, which stand between commas."""
    return [each.strip() for each in row.text(column).split(",") if each.strip()]


def unknown_types(dataset: Dataset, row: SourceRow, name: str, column: str, types: Iterable[str]) -> Iterator[Finding]:
    """Yield the first type of an answer that the data set does not define."""
    if unknown := [each for each in types if each not in dataset.kinds]:
        yield Finding("unknown-type", row, name, f"`{column}` is none of {', '.join(dataset.kinds)}", unknown[0])
