"""Marking sheets: a stratified sample of rollouts for people to mark, and what comes back.

A sheet shows statement and solution, and nothing that the rules, a judge or a name could suggest: rows have ids of
their own, in random order. What the ids stand for, the strata and the vocabulary are in the key, which stays with who
drew the sample; a `check` in each row of the sheet ties it to its solution, so that a row that was mixed up on its way
is a fault and no label of another solution.

A filled sheet is read against the key and the results: all faults at once. An empty label is no fault, but no label.

Refused: weights in the sheet. A row that stands for few others is one on which rules and judges differ, and a marker
who sees that is no longer blind.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from prism.errors import DataFileError, PrismError, raise_faults
from prism.inputs import decode, did_you_mean, parse_json, read_bytes, shown
from prism.problem.plain_values import SPREAD, plain
from prism.problem.schema import Problem
from prism.reports import table_formats
from prism.reports.cross_tables import kept_names
from prism.reports.html.markup import visible
from prism.reports.judgements import Judgement, read_score
from prism.reports.label_agreement import LabelScheme, LabelTable, SampleDesign, label_table, labelled_table
from prism.reports.rating_sets import Stratum, allocate, draw
from prism.reports.ratings import RULES, Items, RatingTable, Reading, gather_judgements
from prism.reports.report_rows import NOT_SAID, UNFIT, ReportRow
from prism.reports.summary import build_report
from prism.runs.records import ABSENT, MAX_RECORD, Faults, at_path
from prism.runs.score_files import score_rows

COLUMNS = ("sheet", "id", "problem_id", "check", "marker", "label", "comment")
"""Of a sheet that comes back; one that goes out as CSV has also `problem` and `solution`, to read."""

STRATA = ("score", "judges", "problem", "model", "domain", "level")
"""Fields of strata that are no fields of the rollouts."""

DEFAULT_LABELS = ("wrong", "partial", "correct")
OVERSAMPLING = 3.0  # where rules and judges differ

_NEEDED = ("sheet", "id", "problem_id", "check", "label")
_KEY_FORMAT = 1
_MAX_FILE = 1 << 28  # bytes of a sheet or a key
_HEAD = 1 << 16  # bytes in which the head of a sheet is looked for


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row of a sheet: its id there, the rollout that it is, and the number of its stratum."""

    id: str
    problem_id: str
    sample_id: str
    stratum: int
    solution_sha256: str


@dataclass(frozen=True, slots=True)
class SheetKey:
    """What the rows of a sheet stand for, and how they were drawn.

    Attributes:
        sheet: name of the sheet, made of all the rest.
        scheme: the vocabulary.
        fields: by which the strata were made.
        seed: of the drawing.
        strata: in the order of their numbers.
        rows: in the order of the sheet.
        n_result: rows of the results; those without a score were not drawn from.
        results_digest: sha256 of which rollouts the results hold.
    """

    sheet: str
    scheme: LabelScheme = field(metadata=SPREAD)
    fields: tuple[str, ...]
    seed: int
    strata: tuple[Stratum, ...]
    rows: tuple[SheetRow, ...]
    n_result: int
    results_digest: str

    def to_dict(self) -> dict[str, Any]:
        """Return the key as plain values for JSON."""
        return {"format": _KEY_FORMAT, **plain(self)}

    @property
    def design(self) -> SampleDesign:
        """Return the strata and the stratum of each row."""
        return SampleDesign(self.sheet, self.strata, np.array([row.stratum for row in self.rows], dtype=np.int64))

    def check_of(self, row: SheetRow) -> str:
        """Return what ties a row of the sheet to its solution: `c` and ten hexadecimal digits."""
        said = (self.sheet, row.id, row.problem_id, row.sample_id, row.solution_sha256)
        return f"c{_digest(said)[:10]}"


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One row of a sheet with what a marker reads: the problem, and the text of the solution."""

    row: SheetRow
    check: str
    problem: Problem
    text: str


@dataclass(frozen=True, slots=True)
class MarkingSheet:
    """A sheet to be marked: its key, and its items in the same order."""

    key: SheetKey
    items: tuple[SheetItem, ...]


def _digest(value: Any) -> str:
    """Return the sha256 of a value as JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


# Drawing. -------------------------------------------------------------------------------------------------------


def draw_sheet(
    results: Path, n: int, scheme: LabelScheme, *, problems: str, rollouts: Path, judges: Sequence[Path] = (),
    fields: Mapping[str, str] | None = None, strata: Sequence[str] = (), oversampling: float = OVERSAMPLING,
    seed: int = 0, **reading: Unpack[Reading],
) -> MarkingSheet:  # fmt: skip
    """Draw a stratified sample of the rollouts that have a score.

    Args:
        n: rows of the sheet; all are taken if there are not more.
        scheme: the vocabulary of the markers.
        problems, rollouts, fields, judges: as in `summary.build_report`.
        strata: fields: some of `STRATA`, or kept fields of the rollouts; without any `score`. With judges also
            `judges`: whether one of them gives another label than the rules.
        oversampling: how much more of those where rules and judges differ are drawn than of others.
        seed: another one draws other rows.

    Errors:
        DataFileError: rows without their problem, their text or the score, all of them at once.
        PrismError: unknown fields of strata, more strata than rows, no rollout with a score; faults of the judges.
    """
    score = reading.get("score", "score")
    names = tuple(dict.fromkeys([*(strata or ("score",)), *(["judges"] if judges else [])]))
    judged = _judged(label_table(results, judges, scheme, **reading)) if judges else {}
    rows = build_report(results, problems=problems, rollouts=rollouts, fields=fields, replicates=0).rows
    raw = list(score_rows(results))
    faults = Faults()
    able = []
    for row, one in zip(rows, raw, strict=True):
        ids = (str(one["problem_id"]), str(one["sample_id"]))
        place = f"row {row.place} ({', '.join(map(shown, ids))})"
        for key in row.unfit:
            faults.add(UNFIT[key], place)
        if (number := at_path(one, tuple(score.split(".")))) is ABSENT:
            faults.add(f"no score {shown(score)}", place)
        if row.grade.score is not None:
            known = {"judges": judged.get(ids, "say nothing"), "score": _score_bin(read_score(number).score)}
            able.append((ids, row, str(one["solution_sha256"]), known))
    faults.check(results)
    able.sort(key=lambda each: each[0])
    if not able:
        raise PrismError(f"{results}: no row has a score; there is nothing to draw from")
    _require_fields(names, [row for _, row, _, _ in able], has_judges=bool(judges))
    values = [tuple(_stratum_value(name, row, known) for name in names) for _, row, _, known in able]
    try:
        sampled, drawn = _drawn(names, values, n, oversampling, seed)
    except PrismError as error:
        raise PrismError(f"{results}: {error} (now {', '.join(names)})") from error
    chosen = [(stratum, *able[place]) for place, stratum in drawn]
    digits = len(str(len(chosen)))
    sheet_rows = tuple(
        SheetRow(f"r{number:0{digits}}", *ids, stratum, sha256)
        for number, (stratum, ids, _, sha256, _) in enumerate(chosen, start=1)
    )
    unnamed = SheetKey("", scheme, names, seed, sampled, sheet_rows, len(raw), _results_digest(raw))
    made = replace(unnamed, sheet=_name_of(unnamed))
    items = [
        SheetItem(row, made.check_of(row), source.problem, source.text)  # type: ignore[arg-type]
        for row, (_, _, source, _, _) in zip(sheet_rows, chosen, strict=True)
    ]
    return MarkingSheet(made, tuple(items))


def _drawn(
    names: Sequence[str], values: Sequence[tuple[str, ...]], n: int, oversampling: float, seed: int
) -> tuple[tuple[Stratum, ...], list[tuple[int, int]]]:
    """Draw from rollouts by the values of their fields; return the strata, and place and stratum of each in order."""
    kinds = sorted(set(values))
    of_item = np.array([kinds.index(value) for value in values], dtype=np.int64)
    populations = np.bincount(of_item, minlength=len(kinds)).tolist()
    factors = [oversampling if ("judges", "differ") in zip(names, kind, strict=True) else 1.0 for kind in kinds]
    sizes = allocate(populations, factors, n)
    sampled = tuple(
        Stratum(", ".join(f"{name} {value}" for name, value in zip(names, kind, strict=True)), whole, part)
        for kind, whole, part in zip(kinds, populations, sizes, strict=True)
    )
    return sampled, [(place, int(of_item[place])) for place in draw(of_item, sizes, seed)]


def _results_digest(raw: Iterable[Mapping[str, Any]]) -> str:
    """Return the sha256 of which rollouts some score rows are of, in any order and with any scores."""
    return _digest(
        sorted([str(one["problem_id"]), str(one["sample_id"]), str(one.get("solution_sha256"))] for one in raw)
    )


def _judged(found: LabelTable) -> dict[tuple[str, str], str]:
    """Say of each item whether the labels of its judges `agree` with the rules' or `differ`; others `say nothing`."""
    rules = found.table.raters.index(RULES)
    told = {}
    for item, row in zip(found.table.items, found.table.ratings, strict=True):
        others = [value for at, value in enumerate(row) if at != rules and not np.isnan(value)]
        if others and not np.isnan(row[rules]):
            told[item] = "differ" if any(value != row[rules] for value in others) else "agree"
    return told


def _require_fields(names: Sequence[str], rows: Sequence[ReportRow], *, has_judges: bool) -> None:
    """Raise a PrismError with all fields of strata that no rollout has, or that need judges."""
    faults = []
    for name in names:
        if name == "judges" and not has_judges:
            faults.append("judges: no judge is named behind the results")
        elif name not in STRATA and all(at_path(row.fields, tuple(name.split("."))) is ABSENT for row in rows):
            there = list(dict.fromkeys([*STRATA, *kept_names(rows)]))
            fault = f"no row has this field{did_you_mean(name, there)}; there are {', '.join(there)}"
            faults.append(f"{name}: {fault} (`prism run --keep` keeps more)")
    raise_faults(f"--strata: {fault}" for fault in faults)


def _stratum_value(name: str, row: ReportRow, known: Mapping[str, str]) -> str:
    """Return the value of one field of strata for a rollout; `known` are those that its problem does not say."""
    if name not in STRATA:
        value = at_path(row.fields, tuple(name.split(".")))
        return NOT_SAID if value is ABSENT else value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    problem = row.problem
    assert problem is not None
    level = problem.difficulty.level
    values = {"problem": problem.id, "model": row.model, "domain": problem.domain, "level": level, **known}
    return values[name] or NOT_SAID


def _score_bin(score: float | None) -> str:
    """Return the interval of a score: none, all, and the halves between."""
    if score is None:
        return NOT_SAID
    return "0" if score <= 0 else "1" if score >= 1 else "0 to 0.5" if score < 0.5 else "0.5 to 1"


# Writing. -------------------------------------------------------------------------------------------------------


def key_text(key: SheetKey) -> str:
    """Return the text of a key file."""
    return json.dumps(key.to_dict(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def csv_text(sheet: MarkingSheet) -> str:
    """Return a sheet to be marked as CSV, with a mark in front by which spreadsheets know UTF-8."""
    rows = (
        (sheet.key.sheet, item.row.id, item.row.problem_id, item.check, "", "", "", problem_text(item.problem),
         item.text)
        for item in sheet.items
    )  # fmt: skip
    return "\ufeff" + table_formats.csv_text([(*COLUMNS, "problem", "solution"), *rows])


def settled_text(
    table: RatingTable, scheme: LabelScheme | None, settled_by: Sequence[str], key: SheetKey | None
) -> str:
    """Return what was settled as CSV: of a sheet one that is filled in, else a table of judgements.

    Args:
        table: with what was settled as the last rater.
        scheme: the vocabulary; None for ratings that are numbers.
        settled_by: of each item, as of `label_agreement.Settlement`; those that are open are left out.
        key: of the sheet whose rows the items are, in its order; None without a sheet.
    """
    last = len(table.raters) - 1
    heads = ("problem_id", "sample_id", "rater", "label" if scheme else "score", "settled_by")
    rows: list[tuple[str, ...]] = [(*COLUMNS, "sample_id", "settled_by") if key else heads]
    for at, (item, by) in enumerate(zip(table.items, settled_by, strict=True)):
        if not by:
            continue
        rating = float(table.ratings[at, last])
        said = scheme.labels[int(rating)] if scheme else f"{rating:.12g}"
        if key is None:
            rows.append((*item, table.raters[last], said, by))
        else:
            comment = table.reasons.get((at, last), "")
            row = key.rows[at]
            ids = (key.sheet, row.id, row.problem_id, key.check_of(row))
            rows.append((*ids, table.raters[last], said, comment, row.sample_id, by))
    return table_formats.csv_text(rows)


def problem_text(problem: Problem) -> str:
    """Return the statement of a problem with its questions, as LaTeX prose."""
    parts = [f"({part.letter}) {part.text}" for part in problem.subquestions if part.text]
    return "\n\n".join([problem.statement.strip(), *parts])


# Reading. -------------------------------------------------------------------------------------------------------


def is_marking_sheet(path: Path) -> bool:
    """Return True if the head of a CSV file is that of a marking sheet."""
    if path.suffix.lower() != ".csv":
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    except (OSError, ValueError):
        return False  # whoever reads it says why it cannot be read
    return {"sheet", "id", "check"} <= set(_heads(head))


def _heads(line: str) -> list[str]:
    """Return the names in the head of a sheet, whichever delimiter a spreadsheet has put between them."""
    return [each.strip().strip('"').lower() for each in line.strip().split(_delimiter(line))]


def _delimiter(head: str) -> str:
    """Return the delimiter of a CSV file by its head: spreadsheets write the one of their language."""
    return max(",;\t", key=head.count)


def find_key(sheets: Sequence[Path], beside: Path) -> Path:
    """Find the key of some sheets: a file `*key.json` in the folder of one of them, or of the results.

    Errors:
        PrismError: there is none with the name that the first sheet has; that sheet cannot be read.
    """
    wanted = _sheet_name(sheets[0])
    folders = dict.fromkeys(path.absolute().parent for path in (*sheets, beside))
    for folder in folders:
        for path in sorted(folder.glob("*key.json")):
            try:
                if read_key(path).sheet == wanted:
                    return path
            except PrismError:
                continue  # another file of that name
    looked = ", ".join(map(str, folders))
    raise PrismError(
        f"{sheets[0]}: no key of sheet {shown(wanted)} (looked for *key.json in {looked}); put the sheet where "
        "--sample wrote it, or name the key with --key"
    )


def _sheet_name(path: Path) -> str:
    """Return the name of the sheet that the first row of a file gives; empty if it has none.

    Errors:
        DataFileError: the file cannot be read.
    """
    faults = Faults()
    rows = _read_cells(path, faults)
    if not rows:
        faults.check(path)
    return next((cells["sheet"] for _, cells in rows if cells.get("sheet")), "")


def read_key(path: Path) -> SheetKey:
    """Read a key file.

    Errors:
        DataFileError: it cannot be read, or is no key.
    """
    try:
        data = parse_json(decode(read_bytes(path, _MAX_FILE)))
        if not isinstance(data, Mapping) or data.get("format") != _KEY_FORMAT:
            raise PrismError("is no key of a marking sheet, as `prism agree --sample` writes it")
        scheme = LabelScheme(tuple(data["labels"]), data["ordered"], tuple(data["cuts"]), tuple(data["ranks"]))
        key = SheetKey(
            data["sheet"], scheme, tuple(data["fields"]), data["seed"],
            tuple(Stratum(one["name"], one["population"], one["sampled"]) for one in data["strata"]),
            tuple(SheetRow(**one) for one in data["rows"]), data["n_result"], data["results_digest"],
        )  # fmt: skip
        own_name = _name_of(key)
    except PrismError as error:
        raise DataFileError(str(path), (str(error),)) from error
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DataFileError(str(path), (f"is no key of a marking sheet: {type(error).__name__}: {error}",)) from error
    if own_name != key.sheet:  # so that what stands in the file has the types that were written
        raise DataFileError(str(path), ("was changed after it was written: its rows and strata have another name",))
    return key


def _name_of(key: SheetKey) -> str:
    """Return the name of a sheet, which its key decides."""
    return f"m{_digest(replace(key, sheet='').to_dict())[:10]}"


@dataclass(frozen=True, slots=True)
class MarkedSheets:
    """What came back: the labels of all markers, and the key of their sheet."""

    key: SheetKey
    table: LabelTable


def read_marked(
    results: Path, others: Sequence[Path], *, key: Path | None = None, scheme: LabelScheme | None = None,
    **reading: Unpack[Reading],
) -> MarkedSheets:  # fmt: skip
    """Read filled sheets, with the results and judges beside them, into one table of the rows of the sheet.

    Args:
        results: score rows that the sample was drawn from; or a filled sheet, for markers among themselves.
        others: filled sheets, and files of judges.
        key: of the sheets; None looks for it.
        scheme: another order of the labels, or other cuts; None takes those of the key.

    Errors:
        PrismError: all faults of sheets and results at once, each with its file and line.
    """
    judges = [path for path in others if not is_marking_sheet(path)]
    sheets = [path for path in (results, *others) if is_marking_sheet(path)]
    found = read_key(key if key is not None else find_key(sheets, results))
    if scheme is not None and sorted(scheme.labels) != sorted(found.scheme.labels):
        raise PrismError(f"labels {', '.join(scheme.labels)}: the sheet has {', '.join(found.scheme.labels)}")
    scheme = scheme or found.scheme
    faults: list[str] = []
    marked: dict[str, list[Judgement]] = {}
    for path in sheets:
        try:
            marker, listed = _read_sheet(path, found)
        except DataFileError as error:
            faults += str(error).splitlines()
            continue
        if marker in marked:
            faults.append(f"{path}: another sheet has the marker {shown(marker)} too; name the files after the markers")
        marked[marker] = listed
    items: Items = {(row.problem_id, row.sample_id): None for row in found.rows}
    gathered: dict[str, list[Judgement]] = {}
    if results not in sheets:
        faults += _results_faults(results, found)
        if not faults:
            items, gathered = gather_judgements(results, judges, **reading)
    elif judges and not faults:
        faults += [f"{path}: judges need the results that they judge, in front of the sheets" for path in judges]
    raise_faults(faults)
    for marker, listed in marked.items():
        name = marker
        while name in gathered:
            name += "'"
        gathered[name] = listed
    table = _of_sample(labelled_table(items, gathered, scheme, reading.get("scale")), found)
    return MarkedSheets(found, LabelTable(scheme, table, found.design))


def _of_sample(table: RatingTable, key: SheetKey) -> RatingTable:
    """Return the rows of a table that are those of a sheet, in its order, with the counts of its raters."""
    places = {item: at for at, item in enumerate(table.items)}
    chosen = [places[row.problem_id, row.sample_id] for row in key.rows]
    new = {old: at for at, old in enumerate(chosen)}
    ratings = table.ratings[chosen]
    alignment = []
    for column, each in enumerate(table.alignment):
        rated = int((~np.isnan(ratings[:, column])).sum())
        outside = each.aligned - rated
        dropped = {**each.dropped, **({"not_in_sample": outside} if outside else {})}
        alignment.append(replace(each, aligned=rated, dropped=dropped, unrated=len(chosen) - rated))
    return replace(
        table, items=tuple(table.items[at] for at in chosen), ratings=ratings, alignment=tuple(alignment),
        reasons={(new[at], column): text for (at, column), text in table.reasons.items() if at in new},
    )  # fmt: skip


def _results_faults(results: Path, key: SheetKey) -> list[str]:
    """Return how the rollouts of the results differ from those that the sample was drawn from."""
    raw = list(score_rows(results))
    if _results_digest(raw) == key.results_digest:
        return []
    digests = {(str(one["problem_id"]), str(one["sample_id"])): str(one.get("solution_sha256")) for one in raw}
    faults = Faults()
    for row in key.rows:
        own = digests.get((row.problem_id, row.sample_id))
        place = f"{row.id} of the sheet ({shown(row.problem_id)}, {shown(row.sample_id)})"
        if own is None:
            faults.add("has no row", place)
        elif own != row.solution_sha256:
            faults.add("has another solution than was marked", place)
    counts = f"{len(raw)} rows; the sample was drawn from {key.n_result}"
    faults.add(f"holds other rollouts than the sample was drawn from, so that no weight fits: {counts}")
    try:
        faults.check(results)
    except DataFileError as error:
        return str(error).splitlines()
    return []


def _read_cells(path: Path, faults: Faults) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a sheet with their places, by the names in its head; faults of its form are added."""
    try:
        text = decode(read_bytes(path, _MAX_FILE))
    except PrismError as error:
        hint = "; save it as CSV in UTF-8" if "UTF-8" in str(error) else ""
        faults.add(f"{error}{hint}")
        return []
    csv.field_size_limit(MAX_RECORD)  # Python's own is 128 KiB, and solutions are longer
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.split("\n", 1)[0]))
    found = []
    try:
        head = [name.strip().lower() for name in next(rows, [])]
        if missing := [name for name in _NEEDED if name not in head]:
            faults.add(f"the head lacks {', '.join(missing)}", "line 1")
            return []
        first = rows.line_num + 1
        for row in rows:
            place, first = f"line {first}", rows.line_num + 1
            if any(cell.strip() for cell in row[len(head) :]):
                faults.add(f"{len(row)} fields, and the head names {len(head)}", place)
            elif any(cell.strip() for cell in row):
                found.append((place, dict(zip_longest(head, row[: len(head)], fillvalue=""))))
    except csv.Error as error:
        faults.add(str(error))
    return found


def _read_sheet(path: Path, key: SheetKey) -> tuple[str, list[Judgement]]:
    """Read one filled sheet: its marker, and the labels as judgements; rows without a label are dropped ones.

    Errors:
        DataFileError: all faults of the sheet at once.
    """
    faults = Faults()
    rows = {row.id: row for row in key.rows}
    seen: dict[str, str] = {}
    markers: dict[str, None] = {}
    listed = []
    for place, cells in _read_cells(path, faults):
        own = {name: table_formats.plain_cell(cells.get(name, "").strip()) for name in COLUMNS}
        if own["marker"]:
            markers[own["marker"]] = None
        if own["sheet"] != key.sheet:
            faults.add(f"is of sheet {shown(own['sheet'])}, and the key is of {shown(key.sheet)}", place)
            continue
        row = rows.get(own["id"])
        if row is None:
            faults.add(f"the sheet has no id {shown(own['id'])}{did_you_mean(own['id'], rows)}", place)
            continue
        if row.id in seen:
            faults.add(f"id {row.id} stands in {seen[row.id]} too", place)
        seen.setdefault(row.id, place)
        named = own["problem_id"] in (row.problem_id, visible(row.problem_id))  # a page writes hidden signs out
        if not named or own["check"] != key.check_of(row):
            faults.add(f"id {row.id}: problem_id or check is not what was written; the row was mixed up", place)
        if own["label"] and key.scheme.code_of_text(own["label"]) is None:
            labels = key.scheme.labels
            near = did_you_mean(own["label"].casefold(), labels)
            faults.add(f"id {row.id}: label {shown(own['label'])} is none of {', '.join(labels)}{near}", place)
        listed.append(Judgement(
            row.problem_id, row.sample_id, None, reason=own["comment"], dropped="no_score", label=own["label"],
        ))  # fmt: skip
    if len(markers) > 1:
        faults.add(f"has several markers: {', '.join(map(shown, markers))}; one sheet is one marker's")
    faults.check(path)
    return next(iter(markers), path.name.split(".")[0]), listed
