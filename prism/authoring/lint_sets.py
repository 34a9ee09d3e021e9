"""Lint the problems of a file that holds any number of them, each by itself, and the ids of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prism.authoring.lint_findings import LintFinding
from prism.authoring.linting import lint
from prism.errors import DataFileError, PrismError
from prism.inputs import parse_json
from prism.problem.collection import SetEntry
from prism.problem.vocabulary import Vocabulary


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
