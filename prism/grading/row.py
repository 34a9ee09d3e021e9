"""The score row: what `prism grade --json` prints, and one line of what a bulk run writes."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from prism.grading.result import Grade
from prism.latex import Solution, solution_text
from prism.problem.schema import Problem
from prism.problem.source import PlainProblem
from prism.resources import resource
from prism.version import RULES, __version__

SCHEMA = 6  # of the score row; from 5 on it has `alternative` and `given_answers`, from 6 on the number of the rules

POLICY = "closure"


@cache
def fingerprint(policy: str = POLICY) -> str:
    """Return the SHA-256 of what grades depend on besides their input: version, rules, grammar, tables, policy."""
    digest = hashlib.sha256(f"{__version__}\0{RULES}\0{policy}\0".encode())
    for folder, endings in (
        ("grammar", (".lark", ".toml")),
        ("constants", (".toml",)),
        ("vocabulary/words", (".toml",)),
    ):
        for path in sorted(resource(folder).iterdir()):
            if path.suffix in endings:
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def score_row(problem: Problem, solution: Solution, result: Grade) -> dict[str, Any]:
    """Return one line of a result file: the grade, and digests of what it was computed from."""
    return {**result.to_dict(), **row_digests(problem, solution)}


def row_digests(problem: Problem | PlainProblem, solution: Solution) -> dict[str, Any]:
    """Return what a row says of its input: schema, grader, and digests of problem and solution."""
    return {
        "schema": SCHEMA,
        "grader": {"version": __version__, "rules": RULES, "fingerprint": fingerprint()},
        "problem_sha256": problem.sha256,
        "solution_sha256": hashlib.sha256(solution_text(solution).text.encode("utf-8", "surrogatepass")).hexdigest(),
    }


def json_line(data: object) -> bytes:
    r"""Encode data as one line of JSON in UTF-8, keys sorted: the same bytes on every machine.

    Half a surrogate pair, which JSON may hold and UTF-8 may not, stays the escape that it is in JSON.

    >>> json_line({"b": 1, "a": "α \ud800"})
    b'{"a": "\xce\xb1 \\ud800", "b": 1}'
    """
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
