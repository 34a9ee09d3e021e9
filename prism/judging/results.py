"""What a run has come to: the findings, and what has none, with the reason.

Findings from the replies about an item: the lines that the task's template makes, each with what made it.

A finding says under `judged` which task, model, temperature and seed it comes from, and how many calls and tokens. Ids
are those of the item, never of the reply. A problem that a task has written says it in its `metadata`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism.errors import PrismError
from prism.grading.row import json_line
from prism.inputs import parse_json, refuse_constant, shown
from prism.judging.conversations import Item, Judge, Look
from prism.judging.running import Board
from prism.judging.tasks import FINDINGS_FILE, Task, protocol_schema, value_misfits
from prism.protocols.entry_files import JUDGED
from prism.runs.score_files import written_whole


def findings_of(task: Task, judge: Judge, item: Item, found: Look) -> list[dict[str, Any]]:
    """Return the findings about an item; none where a reply is lacking that the task needs.

    Errors:
        PrismError: the template makes something else than JSON objects, or findings that the protocol does not read.
    """
    if not found.values or (found.failures and not task.is_partial):
        return []
    judged = _judged(task, judge, found)
    values = {
        **item.values, "replies": found.values, "judge": judge.name, "failures": list(found.failures), JUDGED: judged
    }  # fmt: skip
    if len(task.calls) == 1:
        values["reply"] = next(iter(found.values.values()))
    lines = task.templates.render(FINDINGS_FILE, values).splitlines()
    return [_finding(task, line, judged, item) for line in lines if line.strip()]


def _finding(task: Task, line: str, judged: Mapping[str, Any], item: Item) -> dict[str, Any]:
    """Return a line of the template as a finding; raises PrismError for a line that is no finding of the protocol."""
    where = f"{task.name}/{FINDINGS_FILE}, {item.place}"
    try:
        made = parse_json(line, constant=refuse_constant)
    except PrismError as error:
        raise PrismError(f"{where}: a line is no JSON: {error}: {shown(line, 100)}") from error
    if not isinstance(made, dict):
        raise PrismError(f"{where}: a line is no JSON object: {shown(line, 100)}")
    if task.findings and (faults := value_misfits(made, protocol_schema(task.findings))):
        raise PrismError(f"{where}: a finding that the protocol does not read: {'; '.join(faults)}")
    metadata = made.get("metadata")
    if isinstance(metadata, dict):  # a problem, which has its own place for what its reader need not know
        return {**made, "metadata": {JUDGED: dict(judged), **metadata}}
    return {JUDGED: dict(judged), **made}


def _judged(task: Task, judge: Judge, found: Look) -> dict[str, Any]:
    """Return what made a finding."""
    replies = list(found.used.values())
    told = {
        "task": task.name, "task_sha256": task.sha256, "model": judge.model, "sample": judge.sample,
        "temperature": judge.temperature, "seed": judge.own_seed, "calls": len(replies),
        "tokens_in": _sum([reply.tokens_in for reply in replies]),
        "tokens_out": _sum([reply.tokens_out for reply in replies]),
    }  # fmt: skip
    if found.remarks:
        told["mended"] = list(found.remarks)
    if found.failures:
        told["failed"] = list(found.failures)
    return told


def _sum(counts: list[int | None]) -> int | None:
    """Return a sum; None where a part of it is not known."""
    return None if None in counts else sum(count or 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Results:
    """The findings of a run.

    Attributes:
        rows: in the order of the input, those of one judge behind those of another for each item.
        failures: `place, call: why` of each call that has no reply which can be used.
        n_items, n_judges: of the run; each judge is asked about each item.
        n_open: items of which a call of some judge has not been made.
        n_mended: calls whose reply was read only after repair.
        n_calls: replies that findings were made from.
    """

    rows: tuple[dict[str, Any], ...]
    failures: tuple[str, ...]
    n_items: int
    n_judges: int
    n_open: int
    n_mended: int
    n_calls: int


def collect(board: Board) -> Results:
    """Return the findings of all items whose calls are made.

    Errors:
        PrismError: a template of findings that makes none.
    """
    rows: list[dict[str, Any]] = []
    failures: list[str] = []
    n_mended = 0
    is_open: set[int] = set()
    used: set[str] = set()
    for one in board.conversations:
        if one.end is None:
            is_open.add(id(one.item))
            continue
        rows += findings_of(board.task, one.judge, one.item, one.end)
        failures += [f"{one.item.place}, {failure}" for failure in one.end.failures]
        n_mended += len(one.end.remarks)
        used |= one.end.used.keys()
    return Results(tuple(rows), tuple(failures), board.n_items, len(board.judges), len(is_open), n_mended, len(used))


def lost_findings(out: Path, board: Board) -> str:
    """Return what a findings file holds that a run, which was checked, would not write again; empty if there is none.

    Findings of a task that has changed are made again where nothing is to be asked: then only their template is new.

    Errors:
        OSError: the file cannot be read.
    """
    asked = [(each.model, each.sample, each.temperature, each.own_seed) for each in board.judges]
    with out.open(encoding="utf-8", errors="replace") if out.exists() else nullcontext(()) as lines:
        for line in filter(str.strip, lines):
            made = _made_by(line)
            if made is None:
                return "lines that are no findings of `prism judge`"
            if made.get("task") != board.task.name:
                return f"findings of another task ({shown(made.get('task'))})"
            if (made.get("model"), made.get("sample"), made.get("temperature"), made.get("seed")) not in asked:
                return f"findings of another judge or other settings ({shown(made.get('model'))})"
            if board.is_open and made.get("task_sha256") != board.task.sha256:
                return "findings of another prompt, schema or template of this task"
    return ""


def _made_by(line: str) -> Mapping[str, Any] | None:
    """Return what a finding says of what made it; None for a line that is no finding."""
    try:
        row = parse_json(line)
    except PrismError:
        return None
    for holder in (row, row.get("metadata") if isinstance(row, Mapping) else None):
        if isinstance(holder, Mapping) and isinstance(made := holder.get(JUDGED), Mapping):
            return made
    return None


def write_findings(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write findings in one step: the file is complete, or as it was.

    Errors:
        PrismError: it cannot be written.
    """
    with written_whole(out) as part:
        part.write_bytes(b"".join(json_line(row) + b"\n" for row in rows))
