"""Rows of `tests/cases/`: found by id before anything is collected; told in words where they fail or are misspelt."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

TESTS = Path(__file__).resolve().parents[1]
CASES = TESTS / "cases"
RUN_BY = {"attacks": "grading/test_attacks.py", "costs": "grading/test_costs.py"}  # by folder; others: test_cases.py

asked_files: frozenset[Path] | None = None
"""Files of rows that this run asks for by an id; None for all. The hook in `tests/conftest.py` sets it."""

unsound: dict[Path, str] = {}
"""The faults of each file of rows that could not be used: one test tells them, and all others are collected."""


def files_with(case_id: str) -> list[Path]:
    """Files that have a row of this id."""
    line = re.compile(rf"""(?m)^id\s*=\s*["']{re.escape(case_id)}["']""")
    return [path for path in sorted(CASES.rglob("*.toml")) if line.search(path.read_text("utf-8"))] if case_id else []


def tests_of(files: Iterable[Path]) -> list[str]:
    """Test files that run the rows of these files."""
    return sorted({str(TESTS / RUN_BY.get(path.parent.name, "test_cases.py")) for path in files})


def row_faults(text: str, kind: type[msgspec.Struct]) -> list[str]:
    """What is wrong with rows of a file, each with the row's id, and with the keys that it may have.

    Empty for rows that are sound one by one, and for a text that is no TOML.
    """
    keys = ", ".join(sorted(kind.__struct_fields__))
    try:
        rows = tomllib.loads(text).get("case", [])
    except tomllib.TOMLDecodeError:
        return []
    faults = []
    for n, row in enumerate(rows, start=1):
        named = f'row "{row["id"]}"' if "id" in row else f"row {n}, which has no id"
        unknown = sorted(row.keys() - set(kind.__struct_fields__))
        faults += [f"{named}: unknown key `{key}`; the keys are {keys}" for key in unknown]
        try:
            msgspec.convert({key: value for key, value in row.items() if key not in unknown}, kind)
        except msgspec.ValidationError as fault:
            faults.append(f"{named}: {fault}; the keys are {keys}")
    return faults


# What a failing row shows. --------------------------------------------------------------------------------------


def told(**lines: object) -> str:
    """Return values under each other with their names before them; what is empty is left out."""
    shown = {name.replace("_", " "): value for name, value in lines.items() if value not in ("", None, [], (), {})}
    width = max(map(len, shown))
    texts = {name: str(value).replace("\n", f"\n{'':{width + 2}}") for name, value in shown.items()}
    return "\n" + "\n".join(f"{name:<{width}}  {text}" for name, text in texts.items())


def told_verdict(verdict: Any, **row: object) -> str:
    """Return a row beside the verdict that it got: status, reason, detail, witness, and where the reason comes from."""
    from prism.diagnosis.rule_map import VERDICT_ORIGINS, trace_line
    from prism.equivalence.verdict import REASONS

    return told(
        **row, got=verdict.status, reason=f"{verdict.reason}: {REASONS[verdict.reason]}", detail=verdict.detail,
        readings="; ".join(verdict.readings), stage=int(verdict.stage) or "", witness=verdict.witness or "",
        trace=trace_line(VERDICT_ORIGINS[verdict.reason]),
    )  # fmt: skip


def told_grade(grade: Any, **row: object) -> str:
    """Return a row beside the grade that it got, with a line for each formula that asserts something."""
    from prism.grading.result import reason_in_words

    formulas = [
        f"{item.latex}: {item.status}, nodes {list(item.nodes)}, {reason_in_words(item)}"
        for item in grade.formulas
        if item.status != "mention"
    ]
    return told(
        **row, got=f"matched {list(grade.matched)}, credited {list(grade.credited)}, score {grade.score}",
        got_flags=list(grade.flags), incidents=list(grade.incidents), formulas="\n".join(formulas),
    )  # fmt: skip


def wanted(row: Mapping[str, object] | msgspec.Struct) -> dict[str, object]:
    """Return the keys of a row for `told`, without those that say where it comes from."""
    values = row if isinstance(row, Mapping) else msgspec.structs.asdict(row)
    return {key: value for key, value in values.items() if key not in ("source", "about", "known_gap")}
