"""Findings from the replies about an item: the lines that the task's template makes, each with what made it.

A finding says under `judged` which task, model, temperature and seed it comes from, and how many calls and tokens. Ids
are those of the item, never of the reply. A problem that a task has written says it in its `metadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism.errors import PrismError
from prism.inputs import parse_json, refuse_constant, shown
from prism.judging.conversations import Item, Judge, Look
from prism.judging.tasks import FINDINGS_FILE, Task, protocol_schema, value_misfits
from prism.protocols.entry_files import JUDGED


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
