"""Each row of `tests/cases/equivalence` as a problem of one node, and with its sides swapped.

A row says whether a claim says what a reference says. So a problem with the reference as its one node should credit a
solution that holds nothing but the claim where the row expects `equivalent`, and nowhere else; and the two sides
swapped should have the row's status. What differs stands in `rows_as_problems_differ.toml`, each with the reason that
the product gives; a test holds the file to the tree, so that the lists only shrink on purpose.

    python benchmarks/accuracy/rows_as_problems.py [--every N] [--write] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402

CASES = ROOT / "tests" / "cases" / "equivalence"
LISTED = Path(__file__).with_name("rows_as_problems_differ.toml")

_HEADING = """\
# Rows that come out otherwise as a problem of one node, or with their sides swapped, and what the product says.
# Written by `python benchmarks/accuracy/rows_as_problems.py --write`; may only shrink.
"""

Differences = dict[str, str]  # reason for each id of a row


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row of equivalence that is no known gap, with a name that no other row has."""
    for path in sorted(CASES.glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["case"]:
            if not row.get("known_gap"):
                yield f"{path.stem}:{row['id']}", row


def as_problem(row: Mapping[str, Any]) -> str:
    """Grade the claim of a row beside its reference as the one node of a problem.

    Returns:
        Why the grade differs from what the row expects, `""` where it does not.
    """
    node = {"index": 1, "formula": row["a"], "dependency": [], "is_final_answer": True}
    try:
        keys = row.get("context", {})
        problem = prism.load_problem({"id": row["id"], "context": "", "grading_standard": [node], **keys})
    except prism.PrismError as fault:
        return "" if row["expect"] != "equivalent" else f"no problem: {str(fault).rpartition('`')[2].strip()[:100]}"
    grade = prism.grade(problem, f"$$ {row['b']} $$")
    if (grade.matched == (1,)) == (row["expect"] == "equivalent"):
        return ""
    if grade.matched:
        return "credited"
    said = [f"{formula.status}: {formula.reason}" for formula in grade.formulas]
    return ", ".join(dict.fromkeys(said)) or "no formula"


def swapped(row: Mapping[str, Any]) -> str:
    """Decide a row with its sides swapped.

    Returns:
        Status and reason where the status is not the row's, else `""`.
    """
    verdict = prism.equivalent(row["b"], row["a"], context=row.get("context") or None)
    return "" if verdict.status == row["expect"] else f"{verdict.status}: {verdict.reason}"


def differences(every: int = 1) -> tuple[dict[str, Differences], list[str]]:
    """Run each row, or every so many, both ways.

    Returns:
        The rows that differ, `as_problem` and `swapped`; and the names of all rows that were run.
    """
    found: dict[str, Differences] = {"as_problem": {}, "swapped": {}}
    names = []
    for name, row in list(rows())[::every]:
        names.append(name)
        for way, reason in (("as_problem", as_problem(row)), ("swapped", swapped(row))):
            if reason:
                found[way][name] = reason
    return found, names


def listed() -> dict[str, Differences]:
    """Read the committed lists."""
    return tomllib.loads(LISTED.read_text("utf-8"))


def written(found: Mapping[str, Differences]) -> str:
    """Return the lists as TOML, in the order of names."""
    parts = [_HEADING]
    for way, reasons in found.items():
        lines = [f"{json.dumps(name)} = {json.dumps(reason)}" for name, reason in sorted(reasons.items())]
        parts.append("\n".join([f"[{way}]", *lines, ""]))
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="only every so many rows")
    parser.add_argument("--write", action="store_true", help="write the lists anew")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    prism.warm()
    found, names = differences(arguments.every)
    if arguments.write:
        LISTED.write_text(written(found), encoding="utf-8")
    counts = {
        "rows": len(names),
        **{way: len(reasons) for way, reasons in found.items()},
        "reasons": {way: dict(Counter(reasons.values()).most_common()) for way, reasons in found.items()},
    }
    print(json.dumps(counts, indent=None if arguments.json else 1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
