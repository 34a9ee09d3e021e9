"""Convert files of others into problem files: the published shape of the dataset, marking schemes, lists of formulas.

*A problem* (its list of nodes says so) is kept as it is: nodes, edges, answers, what its parts ask for. Keys that a
problem file does not have go into `metadata`; images keep their names, and their files stay where they are.

*A marking scheme* is an entry with `marking`, or a plain list or CSV of `formula`, `points`, `dependency`; see
`marking_schemes`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prism.authoring.conversions import (
    Conversion,
    ConvertedProblem,
    EntryFault,
    entry_fault,
    published_solution,
    solution_gold,
)
from prism.authoring.marking_schemes import CRITERION_KEYS, DELIMITERS, convert_scheme
from prism.errors import DataFileError, PrismError, in_file, noted, raise_faults
from prism.inputs import decode, parse_json, parse_toml, read_bytes, refuse_constant, value_faults
from prism.problem.dag import implied_edges
from prism.problem.schema import load_problem
from prism.problem.source import NODE_LISTS, first_and_count

_MAX_FILE = 1 << 28  # bytes of a file, which is read as a whole
_SHOWN = 200  # characters of the names of fields
SUFFIXES = (".json", ".jsonl", ".toml", ".csv")
_KEPT = (
    "id", "context", "title", "domain", "subtopic", "kind", "origin", "source", "difficulty", "givens", "symbols",
    "definitions", "subquestions", "students", "final_answer_form", "final_answer_instructions",
    "significant_figures", "images",
)  # fmt: skip


def convert(path: Path) -> Conversion:
    """Convert each problem of a file (`.json`, `.jsonl`, `.toml`, `.csv`): one with nodes, or a marking scheme.

    Errors:
        DataFileError: the file cannot be read, or holds nothing to convert.
    """
    problems: list[ConvertedProblem] = []
    faults: list[EntryFault] = []
    is_table = path.suffix == ".csv"  # an author of one knows rows
    for where, entry in _read_entries(path):
        try:
            problems.append(_with_own_gold(convert_entry(entry, path.stem), entry))
            found = problems[-1].faults
        except DataFileError as error:
            found = error.faults
        faults += [
            EntryFault(where, fault.replace("marking, entry", "row", 1) if is_table else fault) for fault in found
        ]
    return Conversion(tuple(problems), tuple(faults))


def _with_own_gold(made: ConvertedProblem, entry: Mapping[str, Any]) -> ConvertedProblem:
    """Return a problem with the grade of its own solutions, if it brings any; one below 1 is a remark."""
    text = published_solution(entry)
    if not text:
        return made
    gold = solution_gold(made.data, text)
    if gold.score == 1:
        return replace(made, gold=gold)
    remarks = (*made.remarks, gold.remark(made.data))
    metadata = {**made.data.get("metadata", {}), "remarks": list(remarks)}
    return replace(made, gold=gold, remarks=remarks, data={**made.data, "metadata": metadata})


# The file ---------------------------------------------------------------------------------------------------------


def _read_entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (`line 3`, table) for each problem of a file; the text names its place and is empty for a single one.

    Raises DataFileError for another ending, and for a file without a problem.
    """
    if path.suffix not in SUFFIXES:
        raise DataFileError(str(path), (f"is named {path.suffix or 'without an ending'}; give {', '.join(SUFFIXES)}",))
    with in_file(str(path)):
        text = decode(read_bytes(path, _MAX_FILE))
    if path.suffix == ".toml":
        yield "", _decode(text, parse_toml, str(path))
        return
    if path.suffix == ".csv":
        try:
            yield "", {"marking": list(csv.DictReader(io.StringIO(text)))}
        except csv.Error as error:
            raise DataFileError(str(path), (f"cannot be read: {error}",)) from error
        return
    if path.suffix == ".jsonl":
        listed = _json_lines(text, path)
    else:
        found = _decode(text, _parse_json, str(path))
        listed = [("", found)] if isinstance(found, Mapping) else []
        if isinstance(found, list):
            plain = found and all(isinstance(each, Mapping) and _is_criterion(each) for each in found)
            listed = [("", {"marking": found})] if plain else [(f"entry {n}", e) for n, e in enumerate(found, start=1)]
    if not listed:
        raise DataFileError(str(path), ("holds no problem: give a table, a list of them, or one a line",))
    if faults := [
        f"{where}, {str(entry)[:60]!r} is no table" for where, entry in listed if not isinstance(entry, Mapping)
    ]:
        raise DataFileError(str(path), first_and_count(faults))
    for where, entry in listed:
        named = entry.get("id")
        yield f"{where}, {named}" if named and where else str(named or where), entry


def _json_lines(text: str, path: Path) -> list[tuple[str, Any]]:
    """Return place and value of each line that is not blank; DataFileError for all lines that cannot be read."""
    listed: list[tuple[str, Any]] = []
    faults: list[str] = []
    for n, line in enumerate(text.split("\n"), start=1):
        with noted(faults, f"line {n}: cannot be read: "):
            listed += [(f"line {n}", _parse_json(line))] if line.strip() else []
    raise_faults(first_and_count(faults), str(path))
    return listed


def _decode(text: str, reader: Callable[[str], Any], name: str) -> Any:
    """Return `reader(text)`; raise DataFileError for the file `name` if the text cannot be decoded."""
    with in_file(name, "cannot be read: "):
        return reader(text)


def _parse_json(text: str) -> Any:
    """Parse JSON; PrismError for what is none, NaN and infinities among it."""
    parsed = parse_json(text, constant=refuse_constant)
    if faults := value_faults(parsed):
        raise PrismError("; ".join(faults))
    return parsed


def _is_criterion(entry: Mapping[str, Any]) -> bool:
    """Return True if a table is one criterion of a marking scheme, not a problem or a whole scheme."""
    return any(key in entry for key in CRITERION_KEYS) and not any(key in entry for key in (*NODE_LISTS, "marking"))


def convert_entry(entry: Mapping[str, Any], stem: str) -> ConvertedProblem:
    """Convert one entry by its keys: a problem with a list of nodes, or a marking scheme; DataFileError for others."""
    if any(entry.get(key) is not None for key in NODE_LISTS):
        return _convert_problem(entry)
    if isinstance(entry.get("marking"), list):
        return convert_scheme(entry, stem)
    fields = ", ".join(map(str, entry))[:_SHOWN] or "none"
    raise entry_fault(
        f"has neither nodes ({', '.join(NODE_LISTS)}), nor a list `marking`, nor a question with its answer; "
        f"its fields are {fields}: --map question=FIELD,answer=FIELD,solution=FIELD says which these are, "
        "--from NAME which published data set it is of"
    )


# Problems in the published shape ----------------------------------------------------------------------------------


def _convert_problem(entry: Mapping[str, Any]) -> ConvertedProblem:
    """Return the problem with its nodes under one key, direct edges only, and unknown keys in `metadata`."""
    loaded = load_problem(entry)
    remarks: list[str] = []
    data: dict[str, Any] = {key: entry[key] for key in _KEPT if entry.get(key) is not None}
    data["id"] = loaded.id
    name = next(key for key in NODE_LISTS if entry.get(key) is not None)
    implied = set(implied_edges(loaded.dag))
    standard = []
    for node in sorted(entry[name], key=lambda node: int(node["index"])):
        copied = dict(node)
        copied["formula"] = _strip_delimiters(copied["formula"])
        drop = {origin for origin, index in implied if index == node["index"]}
        if drop:
            copied["dependency"] = [origin for origin in node["dependency"] if origin not in drop]
            dropped = " and ".join(map(str, sorted(drop)))
            remarks.append(f"node {node['index']}: dependency on {dropped} is implied by the others and left out")
        standard.append(copied)
    data["grading_standard"] = standard
    own = entry.get("metadata")
    metadata: dict[str, Any] = dict(own) if isinstance(own, Mapping) else {} if own is None else {"metadata": own}
    unknown = {key: value for key, value in entry.items() if key not in (*_KEPT, name, "metadata", "$schema")}
    metadata |= {key: value for key, value in unknown.items() if value is not None}
    if loaded.images:
        names = ", ".join(image.location for image in loaded.images)
        remarks.append(f"images are not copied; put beside the file: {names}")
    if unknown:
        remarks.append(f"no keys of a problem file, kept in metadata: {', '.join(unknown)}")
    if metadata:
        data["metadata"] = metadata
    _check_loads(data, loaded.sha256)
    return ConvertedProblem(data, tuple(remarks))


def _check_loads(data: Mapping[str, Any], digest: str) -> None:
    """Raise DataFileError if the converted problem does not load, which would be an error of the conversion."""
    try:
        load_problem(data)
    except DataFileError as error:
        raise entry_fault(f"is lost in the conversion ({digest[:8]}): {error}") from error


def _strip_delimiters(latex: object) -> object:
    """Return `E = mc^2` for `$$E = mc^2$$`; any other value, or text with more delimiters inside, unchanged."""
    if not isinstance(latex, str):
        return latex
    text = latex.strip()
    for left, right in (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)")):
        inner = text[len(left) : -len(right)]
        if text.startswith(left) and text.endswith(right) and len(text) > len(left + right):
            return inner.strip() if not DELIMITERS.search(inner) else latex
    return latex


# Marking schemes --------------------------------------------------------------------------------------------------
