"""What build systems read: JUnit XML, a job summary in Markdown, annotations, SARIF.

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
from prism.authoring.linting import CODES, Finding
from prism.reports.gates import (
    Comparison,
    Judged,
    Key,
    Pair,
    decimal,
    signed,
    told,
    told_judged,
    told_pair,
    worst_first,
)

SUMMARY_LIMIT = 1 << 20  # bytes that GitHub takes from one step; with more it shows none of them
MAX_ANNOTATIONS = 10  # that GitHub shows of one kind and step

_SHOWN_ITEMS = 200  # rows of a summary; nobody reads more
_CELL = 200  # characters of a cell, and of a title
_MESSAGE = 2000  # characters of an annotation
_PER_ITEM = (
    "any-drop",
    "any-lost-node",
    "any-missing",
    "item",
    "min-item",
)  # gates that say of each item whether it fired them
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CUT = "\n\n… the rest is left out: a job summary holds 1 MiB.\n"
_LEVELS = {"fault": "error", "warning": "warning", "note": "note"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def junit(result: Comparison, gates: Sequence[Judged]) -> str:
    """JUnit XML: a test for each gate, and one for each item, which fails where a gate names this very item.

    An item of which the grader has no score is an error, not a failure. A mean names no culprit: with gates of means
    alone no item fails.
    """
    root = Element("testsuites", name="prism compare")
    by_gate = SubElement(root, "testsuite", name="gates")
    for one in gates:
        case = SubElement(by_gate, "testcase", classname="gates", name=_xml(one.gate.text))
        if one.has_fired:
            lines = "\n".join(told(key) for key in one.keys)
            SubElement(case, "failure", message=_xml(told_judged(one)), type="gate").text = _xml(lines)
    by_item = SubElement(root, "testsuite", name="items")
    fired = _fired_by(gates)
    for pair in result.pairs:
        problem, sample = pair.key
        case = SubElement(by_item, "testcase", classname=_xml(problem), name=_xml(sample or problem))
        said = _xml(told_pair(pair))
        if pair.new is not None and pair.new.score is None:
            SubElement(case, "error", message=said, type="grader").text = said
        elif pair.key in fired:
            SubElement(case, "failure", message=said, type="gate").text = _xml("\n".join(fired[pair.key]))
    for suite in (by_gate, by_item):
        for name, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error")):
            suite.set(name, str(len(suite.findall(tag))))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _fired_by(gates: Iterable[Judged]) -> dict[Key, list[str]]:
    """Of each item the gates that it fired by itself."""
    fired: dict[Key, list[str]] = {}
    for one in gates:
        if one.gate.measure in _PER_ITEM:
            for key in one.keys:
                fired.setdefault(key, []).append(one.gate.text)
    return fired


def _xml(text: str) -> str:
    """Text without what XML cannot hold: ids are a caller's, and may be anything."""
    return _NO_XML.sub("\ufffd", text)


# GitHub. --------------------------------------------------------------------------------------------------------


def job_summary(result: Comparison, gates: Sequence[Judged], *, room: int = SUMMARY_LIMIT - 1) -> str:
    """Markdown of a comparison: the gates, the means, and the items that changed, the worst first.

    Args:
        room: bytes of UTF-8 that it may take; whole lines are left out at the end.
    """
    fired = [one for one in gates if one.has_fired]
    verdict = f"{len(fired)} of {len(gates)} gates fired" if fired else f"{len(gates)} gates, none fired"
    lines = [f"## PRISM: {verdict if gates else 'no gate was set'}", ""]
    if gates:
        lines += ["| gate | | |", "|---|---|---|"]
        lines += [
            f"| `{one.gate.text}` | {'fired' if one.has_fired else 'held'} | {told_judged(one)} |" for one in gates
        ]
        lines.append("")
    lines += [line for line in overview(result) if line]
    changed = [pair for pair in worst_first(result.pairs) if pair.has_changed]
    if changed:
        lines += ["", "| item | what became of it |", "|---|---|"]
        lines += [f"| {_cell(told(pair.key))} | {_cell(told_pair(pair))} |" for pair in changed[:_SHOWN_ITEMS]]
    if len(changed) > _SHOWN_ITEMS:
        lines += ["", f"and {len(changed) - _SHOWN_ITEMS} more items"]
    return cut("\n".join(lines) + "\n", room)


def overview(result: Comparison) -> list[str]:
    """The two files in a few sentences; what is missing or has no score is always said."""
    base, new = result.base, result.new
    n = len(result.compared)
    change = "" if result.mean_change is None else f", change {signed(result.mean_change)} over {n} compared"
    final = "" if result.final_change is None else f"; share of right final answers {signed(result.final_change)}"
    counts = ", ".join(f"{len(result.of_kind(kind))} {kind}" for kind in ("fell", "rose", "same"))
    missing = [(len(result.of_kind("only_in_base")), "base"), (len(result.of_kind("only_in_new")), "new file")]
    unscored = [(len(each.items) - len(each.scored), where) for each, where in ((base, "base"), (new, "new file"))]
    return [
        f"Mean score {decimal(base.mean)} -> {decimal(new.mean)}{change}{final}.",
        f"Items: {counts}; {result.n_changed_solution} solutions differ.",
        *(f"{count} in the {where} only." for count, where in missing if count),
        *(f"{count} without a score in the {where}; they enter no mean." for count, where in unscored if count),
        *([f"Changed problem files: {', '.join(result.changed_problems)}."] if result.changed_problems else []),
    ]


def cut(text: str, room: int) -> str:
    """The first whole lines that take so many bytes, with a line that says so; nothing where even that has no room."""
    data = text.encode("utf-8", "replace")
    if len(data) <= room:
        return data.decode()
    left = room - len(_CUT.encode())
    if left < 0:
        return ""
    head = data[:left].decode("utf-8", "ignore")
    return head[: head.rfind("\n") + 1].rstrip("\n") + _CUT


def _cell(text: str) -> str:
    """Text that neither ends a cell of a table nor starts markup: ids and problems are a caller's."""
    plain = "".join(f"&#{ord(char)};" if char in "|`<>&*_[]\\~" else char for char in " ".join(text[:_CELL].split()))
    return plain + ("…" if len(text) > _CELL else "")


def workflow_commands(result: Comparison, gates: Sequence[Judged]) -> list[str]:
    """Workflow commands, at most ten: the items that fired a gate by themselves, else the gates.

    They point at the item's row in the base, which is the file that is kept in the repository.
    """
    fired = _fired_by(one for one in gates if one.has_fired)
    named = [pair for pair in worst_first(result.pairs) if pair.key in fired]
    told_items = [_annotation(result, pair, fired[pair.key]) for pair in named]
    means = [one for one in gates if one.has_fired and one.gate.measure not in _PER_ITEM]
    told_means = [_command(result.base.file, 1, one.gate.text, told_judged(one)) for one in means]
    every = [*told_means, *told_items]
    if len(every) <= MAX_ANNOTATIONS:
        return every
    more = f"and {len(every) - MAX_ANNOTATIONS + 1} more; the job summary lists them"
    return [*every[: MAX_ANNOTATIONS - 1], _command(result.base.file, 1, "PRISM", more)]


def _annotation(result: Comparison, pair: Pair, gates: list[str]) -> str:
    where = result.new if pair.base is None else result.base
    item = pair.base or pair.new
    assert item is not None
    return _command(where.file, item.place, f"{told(pair.key)}: {', '.join(gates)}", told_pair(pair))


def _command(file: str, line: int, title: str, message: str) -> str:
    """One workflow command on one line: percent signs, ends of lines and what separates are escaped."""

    def data(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def value(text: str) -> str:
        return data(text).replace(":", "%3A").replace(",", "%2C")

    return f"::error file={value(file)},line={line},title={value(title[:_CELL])}::{data(message[:_MESSAGE])}"


# SARIF. ---------------------------------------------------------------------------------------------------------


def sarif(findings: Iterable[tuple[str, Finding]], texts: Mapping[str, str]) -> str:
    """SARIF 2.1.0 of what `lint` finds, for code scanning.

    Args:
        findings: with the file of each.
        texts: what these files hold, where it could be read; a node is looked for in it, to name a line.
    """
    results = [_sarif_result(file, finding, texts.get(file, "")) for file, finding in findings]
    texts_of = {code: {"text": text} for code, text in CODES.items()}
    rules = [  # GitHub asks for all three
        {"id": code, "shortDescription": said, "fullDescription": said, "help": said} for code, said in texts_of.items()
    ]
    driver = {"name": "PRISM", "version": prism.__version__, "rules": rules}
    log = {
        "$schema": _SARIF, "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }  # fmt: skip
    return json.dumps(log, indent=1, ensure_ascii=True) + "\n"


def _sarif_result(file: str, finding: Finding, text: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line_of(finding, text)}}
    return {
        "ruleId": finding.code, "ruleIndex": list(CODES).index(finding.code), "level": _LEVELS[finding.kind],
        "message": {"text": str(finding)}, "locations": [{"physicalLocation": place}],
    }  # fmt: skip


def _uri(file: str) -> str:
    """A relative name as a relative reference, with slashes; an absolute one as a file URI."""
    from urllib.parse import quote

    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def line_of(finding: Finding, text: str) -> int:
    r"""The line of a finding's node or part in a problem file, as its author laid it out; 1 where it is not found.

    >>> line_of(Finding("fault", "same", "node 3", "", ""), 'id = "p"\n[[grading_standard]]\nindex = 3\n')
    3
    """
    kind, _, name = finding.entry.partition(" ")
    key = {"node": "index", "subquestion": "letter"}.get(kind)
    if key is None or not name:
        return 1
    says = re.compile(rf'(?:^|[{{,\s])"?{key}"?\s*[:=]\s*"?{re.escape(name)}"?\s*(?:$|[,}}#])')
    return next((n for n, line in enumerate(text.splitlines(), start=1) if says.search(line)), 1)
