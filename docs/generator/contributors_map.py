"""The contributor's map as a page: reason, rule, modules, and the rows of `tests/cases/` that show it.

`python docs/generator/contributors_map.py` prints it; the site of the documentation shows it. All of it
comes from `prism.diagnosis.rule_map`, the closed lists of reasons, and the case files of the checkout.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prism.diagnosis.rule_map import (
    FLAG_ORIGINS,
    LINK_ORIGINS,
    STAGE_ORIGINS,
    VERDICT_ORIGINS,
    WITHHELD_ORIGINS,
    Origin,
)
from prism.equivalence.chains.links import REASONS as LINK_REASONS
from prism.equivalence.verdict import REASONS, STAGES
from prism.grading.result import FLAGS
from prism.grading.selection import WITHHELD_REASONS

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
SHOWN = 6  # ids of rows in a cell; the rest is counted
SECTIONS = "zonucfsx"  # letters of the semantics, in the order of the page

_RULE = re.compile(r"\b([ZONUCFSX])\.(\d+)")
_INTRODUCTION = """\
# From a reason to its rule, its code and its cases

`prism explain --trace` names rule and files for each decision that it tells. This page, which is generated, lists them
all: each reason that a verdict, a match or a grade can have, the rule that it follows, the modules that give it (look
into the first one first), and rows of `tests/cases/` with that reason. A row is run by `.venv/bin/pytest -k its-id`.
"""


def contributors_map(*, page: str = "docs/explanation/semantics.md") -> str:
    """Return the page as Markdown.

    Args:
        page: the semantics, as links of the page name it.
    """
    rows = _rows()
    by_reason = _ids(rows, "reason")
    by_rule: dict[str, list[str]] = defaultdict(list)
    for folder, row in rows:
        for letter, number in _RULE.findall(str(row.get("source", ""))):
            by_rule[f"{letter}.{number}"].append(f"{folder}/{row['id']}")
    stages = {str(int(stage)): origin for stage, origin in STAGE_ORIGINS.items()}
    in_words = {str(int(stage)): STAGES[stage] for stage in STAGE_ORIGINS}
    parts = [
        _INTRODUCTION,
        _table("Reasons of a verdict", VERDICT_ORIGINS, REASONS, by_reason["equivalence"], by_rule, page),
        _table("Stages of a match", stages, in_words, {}, by_rule, page),
        _table("Why a match earns nothing", WITHHELD_ORIGINS, WITHHELD_REASONS, {}, by_rule, page),
        _table("Flags of a grade", FLAG_ORIGINS, FLAGS, _ids(rows, "flags")["grading"], by_rule, page),
        _table("Reasons of a link of a chain", LINK_ORIGINS, LINK_REASONS, by_reason["links"], by_rule, page),
        _rules_table(by_rule, page),
    ]
    return "\n".join(parts)


def _rows() -> list[tuple[str, Mapping[str, Any]]]:
    """Return the rows of all case files with the folder of each, in the order of their names."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for path in sorted(CASES.rglob("*.toml")):
        if path.parent.name != "problems":  # files with faults, for the tests of the loader
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            found += [(path.parent.name, row) for row in table.get("case", []) if "id" in row]
    return found


def _ids(rows: Iterable[tuple[str, Mapping[str, Any]]], key: str) -> dict[str, dict[str, list[str]]]:
    """Return ids of rows by folder and by each value that a row has under a key: a text, or a list of texts."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for folder, row in rows:
        value = row.get(key, ())
        for each in (value,) if isinstance(value, str) else value:
            found[folder][each].append(row["id"])
    return found


def _table(
    title: str,
    origins: Mapping[str, Origin],
    words: Mapping[str, str],
    ids: Mapping[str, Sequence[str]],
    by_rule: Mapping[str, Sequence[str]],
    page: str,
) -> str:
    """Return a section with one family of reasons; where no row names a reason, those that cite its rule stand."""
    lines = [f"## {title}\n", "| reason | in words | rule | modules | cases |", "|---|---|---|---|---|"]
    for reason, origin in origins.items():
        files = "<br>".join(f"`{file}`" for file in origin.files)
        cases = _shown(ids[reason]) if ids.get(reason) else f"of the rule: {_shown(by_rule[origin.rule])}"
        lines.append(f"| `{reason}` | {words[reason]} | {_link(origin.rule, page)} | {files} | {cases} |")
    return "\n".join((*lines, ""))


def _rules_table(by_rule: Mapping[str, Sequence[str]], page: str) -> str:
    """Return a section with each rule that a row cites, and these rows."""
    order = sorted(by_rule, key=lambda rule: (SECTIONS.index(rule[0].lower()), int(rule[2:])))
    lines = [f"| {_link(rule, page)} | {len(by_rule[rule])} | {_shown(by_rule[rule])} |" for rule in order]
    return "\n".join(("## Rows that cite a rule\n", "| rule | rows | such as |", "|---|---|---|", *lines, ""))


def _link(rule: str, page: str) -> str:
    """Return a link to a rule."""
    return f"[{rule}]({page}#semantics-{rule.lower().replace('.', '-')})"


def _shown(ids: Sequence[str]) -> str:
    """Return the first ids of a list, and how many there are more."""
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(f"`{each.rpartition('/')[2]}`" for each in ids[:SHOWN]) + more


if __name__ == "__main__":
    sys.stdout.write(contributors_map())
