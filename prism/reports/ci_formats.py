"""A comparison of results as files for build systems: JUnit XML, a job summary in Markdown, annotations, SARIF.

Text out: no file is written here and no environment read. Nothing holds a time or the name of a machine, so the same
results give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import prism
from prism.authoring.lint_findings import CODES, LintFinding
from prism.errors import count_of
from prism.reports.agreement import LEVEL, REASONS
from prism.reports.comparison.paired_tests import PairedTest, interval_text, method_text, p_text
from prism.reports.gates import (
    PER_ITEM,
    Comparison,
    GateOutcome,
    ItemPair,
    Key,
    decimal,
    describe,
    describe_outcome,
    describe_pair,
    signed,
    worst_first,
)

SUMMARY_LIMIT = 1 << 20  # bytes that GitHub takes from one step; with more it shows none of them
MAX_ANNOTATIONS = 10  # that GitHub shows of one kind and step

_SHOWN_ITEMS = 200  # rows of a summary; nobody reads more
_CELL = 200  # characters of a cell, and of a title
_MESSAGE = 2000  # characters of an annotation
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CUT = "\n\n… the rest is left out: a job summary holds 1 MiB.\n"
_LEVELS = {"fault": "error", "warning": "warning", "note": "note"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def junit(result: Comparison, gates: Sequence[GateOutcome]) -> str:
    """Write a comparison as JUnit XML: one test for each gate, and one for each item, failed if a gate names the item.

    An item of which the grader has no score is an error, not a failure. A mean names no culprit: with gates of means
    alone no item fails.
    """
    root = Element("testsuites", name="prism compare")
    by_gate = SubElement(root, "testsuite", name="gates")
    for one in gates:
        case = SubElement(by_gate, "testcase", classname="gates", name=_xml_text(one.gate.text))
        if one.has_fired:
            lines = "\n".join(describe(key) for key in one.keys)
            SubElement(case, "failure", message=_xml_text(describe_outcome(one)), type="gate").text = _xml_text(lines)
    by_item = SubElement(root, "testsuite", name="items")
    fired = _gates_fired_by_item(gates)
    for pair in result.pairs:
        problem, sample = pair.key
        case = SubElement(by_item, "testcase", classname=_xml_text(problem), name=_xml_text(sample or problem))
        change = _xml_text(describe_pair(pair))
        if pair.new is not None and pair.new.score is None:
            SubElement(case, "error", message=change, type="grader").text = change
        elif pair.key in fired:
            SubElement(case, "failure", message=change, type="gate").text = _xml_text("\n".join(fired[pair.key]))
    for suite in (by_gate, by_item):
        for name, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error")):
            suite.set(name, str(len(suite.findall(tag))))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _gates_fired_by_item(gates: Iterable[GateOutcome]) -> dict[Key, list[str]]:
    """Map each item key to the texts of the gates that the item fired, without gates of means such as `mean<-0.01`."""
    fired: dict[Key, list[str]] = {}
    for one in gates:
        if one.gate.measure in PER_ITEM:
            for key in one.keys:
                fired.setdefault(key, []).append(one.gate.text)
    return fired


def _xml_text(text: str) -> str:
    """Replace characters that XML 1.0 forbids, such as control characters, by U+FFFD."""
    return _NO_XML.sub("\ufffd", text)


# GitHub. --------------------------------------------------------------------------------------------------------


def job_summary(result: Comparison, gates: Sequence[GateOutcome], *, room: int = SUMMARY_LIMIT - 1) -> str:
    """Write a comparison as a GitHub job summary in Markdown: gates, means, and changed items, the worst first.

    Args:
        room: bytes of UTF-8 that it may take; whole lines are left out at the end.
    """
    fired = [one for one in gates if one.has_fired]
    n_gates = count_of(len(gates), "gate")
    verdict = f"{len(fired)} of {n_gates} fired" if fired else f"{n_gates}, none fired"
    lines = [f"## PRISM: {verdict if gates else 'no gate was set'}", ""]
    if gates:
        lines += ["| gate | | |", "|---|---|---|"]
        lines += [
            f"| `{one.gate.text}` | {'fired' if one.has_fired else 'held'} | {describe_outcome(one)} |" for one in gates
        ]
        lines.append("")
    lines += [line for line in overview(result) if line]
    changed = [pair for pair in worst_first(result.pairs) if pair.has_changed]
    if changed:
        lines += ["", "| item | what became of it |", "|---|---|"]
        lines += [
            f"| {_markdown_cell(describe(pair.key))} | {_markdown_cell(describe_pair(pair))} |"
            for pair in changed[:_SHOWN_ITEMS]
        ]
    if len(changed) > _SHOWN_ITEMS:
        lines += ["", f"and {count_of(len(changed) - _SHOWN_ITEMS, 'more item')}"]
    return cut("\n".join(lines) + "\n", room)


def overview(result: Comparison) -> list[str]:
    """Describe a comparison as sentences: mean scores, changes, missing items, items without a score."""
    base, new = result.base, result.new
    n = len(result.compared)
    change = "" if result.mean_change is None else f", change {signed(result.mean_change)} over {n} compared"
    final = "" if result.final_change is None else f"; share of right final answers {signed(result.final_change)}"
    counts = ", ".join(f"{len(result.of_kind(kind))} {kind}" for kind in ("fell", "rose", "same"))
    missing = [(len(result.of_kind("only_in_base")), "base"), (len(result.of_kind("only_in_new")), "new file")]
    unscored = [(len(each.items) - len(each.scored), where) for each, where in ((base, "base"), (new, "new file"))]
    return [
        f"Mean score {decimal(base.mean)} -> {decimal(new.mean)}{change}{final}.",
        *significance_lines(result.tests),
        f"Items: {counts}; {count_of(result.n_changed_solution, 'solution')} changed.",
        *(f"{count} in the {where} only." for count, where in missing if count),
        *(f"{count} without a score in the {where}; they enter no mean." for count, where in unscored if count),
        *([f"Changed problem files: {', '.join(result.changed_problems)}."] if result.changed_problems else []),
    ]


def significance_lines(tests: Mapping[str, PairedTest]) -> list[str]:
    """Say interval and p-value of the changes in a sentence, or why there is none; nothing without compared items."""
    known = {name: one for name, one in tests.items() if one.difference.value is not None}
    if not known:
        return []
    if reasons := {one.difference.reason for one in known.values() if one.p is None}:
        return [f"No interval and no p-value of a change: {REASONS[min(reasons)]}."]
    words = {"score": "score", "final": "final answers"}
    parts = [f"{words[name]} {interval_text(one)}, p {p_text(one.p)}" for name, one in known.items()]
    how = f"{count_of(next(iter(known.values())).n_problem, 'problem')}; {method_text(known.values())}"
    return [f"Changes, intervals of {LEVEL:.0%}: {'; '.join(parts)} ({how})."]


def cut(text: str, room: int) -> str:
    """Cut a text to whole lines of at most `room` bytes, with a notice at the end; empty if the notice does not fit."""
    data = text.encode("utf-8", "replace")
    if len(data) <= room:
        return data.decode()
    left = room - len(_CUT.encode())
    if left < 0:
        return ""
    head = data[:left].decode("utf-8", "ignore")
    return head[: head.rfind("\n") + 1].rstrip("\n") + _CUT


def _markdown_cell(text: str) -> str:
    """Write text as a Markdown table cell: one line of at most 200 characters, markup characters as entities."""
    plain = "".join(f"&#{ord(char)};" if char in "|`<>&*_[]\\~" else char for char in " ".join(text[:_CELL].split()))
    return plain + ("…" if len(text) > _CELL else "")


def workflow_commands(result: Comparison, gates: Sequence[GateOutcome]) -> list[str]:
    """Write GitHub workflow commands, at most ten: fired gates of means first, then each item that fired a gate.

    They point at the item's row in the base, which is the file that is kept in the repository.
    """
    fired = _gates_fired_by_item(one for one in gates if one.has_fired)
    named = [pair for pair in worst_first(result.pairs) if pair.key in fired]
    items = [_annotation(result, pair, fired[pair.key]) for pair in named]
    means = [one for one in gates if one.has_fired and one.gate.measure not in PER_ITEM]
    means_fired = [_error_command(result.base.file, 1, one.gate.text, describe_outcome(one)) for one in means]
    every = [*means_fired, *items]
    if len(every) <= MAX_ANNOTATIONS:
        return every
    more = f"and {len(every) - MAX_ANNOTATIONS + 1} more; the job summary lists them"
    return [*every[: MAX_ANNOTATIONS - 1], _error_command(result.base.file, 1, "PRISM", more)]


def _annotation(result: Comparison, pair: ItemPair, gates: list[str]) -> str:
    """Write the workflow command for an item: at its row in the base, or in the new file if the base lacks the item.

    Args:
        gates: texts of the gates that the item fired.
    """
    where = result.new if pair.base is None else result.base
    item = pair.base or pair.new
    assert item is not None
    return _error_command(where.file, item.place, f"{describe(pair.key)}: {', '.join(gates)}", describe_pair(pair))


def _error_command(file: str, line: int, title: str, message: str) -> str:
    """Write one GitHub workflow command `::error file=...::MESSAGE`, on one line, with special characters escaped."""

    def data(text: str) -> str:
        """Escape percent signs and line ends, as the message of a command needs."""
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def value(text: str) -> str:
        """Escape percent signs, line ends, colons and commas, as a property of a command needs."""
        return data(text).replace(":", "%3A").replace(",", "%2C")

    return f"::error file={value(file)},line={line},title={value(title[:_CELL])}::{data(message[:_MESSAGE])}"


# SARIF. ---------------------------------------------------------------------------------------------------------


def sarif(findings: Iterable[tuple[str, LintFinding]]) -> str:
    """Write the findings of `prism lint`, pairs of file name and finding, as SARIF 2.1.0 for code scanning."""
    results = [_sarif_result(file, finding) for file, finding in findings]
    texts_of = {code: {"text": text} for code, text in CODES.items()}
    rules = [  # GitHub asks for all three
        {"id": code, "shortDescription": text, "fullDescription": text, "help": text} for code, text in texts_of.items()
    ]
    driver = {"name": "PRISM", "version": prism.__version__, "rules": rules}
    log = {
        "$schema": _SARIF, "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }  # fmt: skip
    return json.dumps(log, indent=1, ensure_ascii=True) + "\n"


def _sarif_result(file: str, finding: LintFinding) -> dict[str, Any]:
    """Return a lint finding in `file` as a SARIF result object; without a line it points at the first one."""
    place = {"artifactLocation": {"uri": _file_uri(file)}, "region": {"startLine": finding.line or 1}}
    return {
        "ruleId": finding.code, "ruleIndex": list(CODES).index(finding.code), "level": _LEVELS[finding.kind],
        "message": {"text": str(finding)}, "locations": [{"physicalLocation": place}],
    }  # fmt: skip


def _file_uri(file: str) -> str:
    """Write a file name as a URI: a relative path as a relative reference, an absolute path as `file:///...`."""
    from urllib.parse import quote

    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
