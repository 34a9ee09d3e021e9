"""Authors' files are bounded as students' texts are, and whatever a problem is, nothing but PrismError comes of it."""

from __future__ import annotations

import copy
import datetime as dt
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prism
from prism.errors import DataFileError, PrismError
from prism.physics.context import Context
from prism.problem.collection import load_problems
from prism.problem.schema import load_problem
from prism.problem.source import MAX_BYTES, MAX_ENTRIES, MAX_FAULTS, MAX_FORMULAS, MAX_STATEMENT
from tests.problem.test_schema import OURS

NODE = {"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}
FALL: dict[str, Any] = {"id": "fall", "context": "A stone falls.", "grading_standard": [NODE]}


def faults_of(source: Any) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as caught:
        load_problem(source)
    return caught.value.faults


# Limits. --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("changed", "told"), [
    ({"metadata": "x" * MAX_BYTES[".json"]}, f"holds more than {MAX_BYTES['.json']} values and characters"),
    ({"grading_standard": [NODE] * (MAX_ENTRIES + 1)}, "grading_standard: 1001 entries; at most 1000 are read"),
    ({"givens": {f"m_{{{k}}}": 1 for k in range(1001)}}, "givens: 1001 entries; at most 1000 are read"),
    ({"symbols": {f"m_{{{k}}}": "real" for k in range(1001)}}, "symbols: 1001 entries; at most 1000 are read"),
    ({"definitions": ["x = y"] * 1001}, "definitions: 1001 entries; at most 1000 are read"),
    ({"students": [{}] * 1001}, "students: 1001 entries; at most 1000 are read"),
    ({"context": "x" * MAX_STATEMENT}, f"context and subquestions: 50004 characters; at most {MAX_STATEMENT} are read"),
    ({"subquestions": [{"letter": "a", "subproblem": "x" * MAX_STATEMENT}]}, "context and subquestions: 500"),
    ({"definitions": ["x" * MAX_FORMULAS]}, "formulas and values: 2000"),
])  # fmt: skip
def test_what_no_honest_file_has_is_a_fault(changed: dict[str, Any], told: str) -> None:
    assert [told in fault for fault in faults_of(FALL | changed)] == [True]


def test_the_unused_solution_of_a_part_is_not_counted() -> None:
    load_problem(FALL | {"subquestions": [{"letter": "a", "solution": "x" * 2 * MAX_STATEMENT}]})


def test_several_limits_are_told_at_once() -> None:
    assert len(faults_of(FALL | {"students": [{}] * 1001, "definitions": [""] * 1001, "context": "x" * 60_000})) == 3


def test_a_file_is_no_longer_than_its_format_allows(tmp_path: Path) -> None:
    for suffix, most in MAX_BYTES.items():
        path = tmp_path / f"p{suffix}"
        path.write_bytes(b" " * (most + 1))
        assert faults_of(path)[0].startswith(f"is longer than {most} bytes")


def test_of_very_many_faults_the_last_are_counted() -> None:
    accept = ["" for _ in range(MAX_FAULTS + 5)]
    told = faults_of(FALL | {"grading_standard": [NODE | {"accept": accept}]})
    assert len(told) == MAX_FAULTS + 1
    assert told[-1] == "and 5 more"
    assert max(map(len, faults_of(FALL | {"grading_standard": [NODE | {"formula": "+" * 9999}]}))) == 1000


def test_an_index_may_be_of_any_size() -> None:
    """It was an OverflowError at 300 digits, and ten gigabytes at ten."""
    nodes = [NODE | {"index": 1}, NODE | {"index": 10**10, "dependency": [7]}]
    assert "7 is not a node; nodes are 1, 10000000000" in faults_of(FALL | {"grading_standard": nodes})[-1]
    nodes[1]["index"] = 10**299
    assert "must run 1..2" in faults_of(FALL | {"grading_standard": nodes})[0]


def test_what_costs_too_much_to_read_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.problem.schema.SOLUTION", 100)
    monkeypatch.setattr("prism.problem.schema.CHARACTER", 0)
    costly = FALL | {"context": "With $V = x^2$.", "grading_standard": [NODE | {"formula": "V = x^2 + y"}]}
    assert faults_of(costly) == ("costs more than 100 operations to read; simplify its longest formulas",)


def test_a_definition_too_large_to_be_compared_is_not_used() -> None:
    """Two sums of 60 symbols each were a traceback."""
    many = {name: " + ".join(f"{name}_{{{k}}}" for k in range(60)) for name in "ax"}
    problem = load_problem(FALL | {"context": f"With $V = {many['a']}$.",
                                   "grading_standard": [NODE | {"formula": f"V = {many['x']}"}]})  # fmt: skip
    assert [(each.name, each.why) for each in problem.given.left_out] == [("V", "node 1 becomes too large with it")]


# Formats. -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".json", ".toml", ".jsonl"])
@pytest.mark.parametrize(("raw", "told"), [
    (b"%PDF-1.7 ...", "is a PDF file"), (b"\xff\xfe{\0}\0", "is text in UTF-16"), (b"PK\x03\x04", "is a zip archive"),
    (b"abc\0def", "is binary: byte 3 is NUL"), (b'{"id":\n"\xe9"}', "is not UTF-8: byte 8 (in line 2)"),
])  # fmt: skip
def test_files_of_other_formats_are_named(tmp_path: Path, suffix: str, raw: bytes, told: str) -> None:
    path = tmp_path / f"p{suffix}"
    path.write_bytes(raw)
    with pytest.raises(DataFileError) as caught:
        load_problems(path)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)


def test_all_faults_of_a_set_are_told_at_once(tmp_path: Path) -> None:
    lines = [json.dumps(FALL), "{", "3", '"free_fall"', '{"id": 1' + "0" * 5000 + "}", "[" * 5000, json.dumps(FALL)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "b.toml").write_text("id = 1" + "0" * 5000, encoding="utf-8")
    (tmp_path / "c.json").write_text('[3, "free_fall", {"id": NaN}]', encoding="utf-8")
    (tmp_path / "d.json").write_text('["free_fall", null]', encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        load_problems(tmp_path)
    places = [fault.removeprefix(f"{tmp_path}/").split(": ", 1) for fault in caught.value.faults]
    assert [place for place, _ in places] == [
        "a.jsonl:2", "a.jsonl:3", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6", "a.jsonl:7", "b.toml", "c.json",
        "d.json[0]", "d.json[1]",
    ]  # fmt: skip
    told = dict(zip(map(str, range(10)), (words for _, words in places), strict=True))
    assert "is not JSON" in told["0"]
    assert "holds no table" in told["2"]
    assert "digits" in told["3"]
    assert "nested too deeply" in told["4"] or "is not JSON" in told["4"]  # from Python 3.12 on: it does not end
    assert "that of" in told["5"]
    assert "digits" in told["6"]
    assert "NaN is no JSON number" in told["7"]


@pytest.mark.parametrize("source", [None, 3, b"{}", ["free_fall"], object(), "x" * 5000, "a\0b", "\ud800", ""])
def test_what_is_no_source_is_a_fault(source: Any) -> None:
    for load in (load_problem, load_problems, prism.prepare):
        if not (load is load_problems and source == ["free_fall"]):
            with pytest.raises(PrismError):
                load(source)


def test_sets_in_each_other_end() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(PrismError, match="more than 64 deep"):
        load_problems(ring)


@pytest.mark.parametrize("data", [
    3, [], {"symbols": {"x": {"domain": [0, 10**400]}}}, {"givens": {"m": 10**5000}}, {"symbols": "x" * 300_000},
])  # fmt: skip
def test_a_context_of_any_shape_is_read_or_refused(data: Any) -> None:
    with pytest.raises(DataFileError):
        Context.from_dict(data)


# Values of any shape. -------------------------------------------------------------------------------------------


def ring() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["a"] = [found] * 3
    return found


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


ODD = [
    None, True, -1, 99, 10**299, -(10**301), 10**5000, 1.5, math.nan, math.inf, 1e308, 5e-324, "", "\0", "\ud800",
    "a\0b", "\u202e", "x" * 5000, "9" * 5000, "{" * 2000, r"$x_{\ud800}$", "1e999999 m", "1e400 kg", "text-based", "b",
    [], {}, [None], [1, [2, [3]]], b"x", {1, 2}, (1, 2), object(), dt.date(2020, 1, 1), 1j, {"\0": 1},
    {"\ud800": "real"}, {1: 2}, {None: 1}, {"a": 1, 1: 2}, {(1, 2): 3}, ring(), nested(60), nested(980), nested(9000),
    "V = " + "+".join(f"a_{{{k}}}" for k in range(70)), "$V = " + "+".join(f"x_{{{k}}}" for k in range(70)) + "$",
]  # fmt: skip
"""Values that an author's program may put anywhere in a problem."""


def places(value: Any, depth: int = 5) -> list[tuple[Any, Any]]:
    """Every list and table of a problem with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    found = [(value, key) for key in keys]
    return found + [place for key in keys if depth for place in places(value[key], depth - 1)]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_nothing_but_a_prism_error_leaves_a_problem_of_any_shape(data: st.DataObject) -> None:
    problem: Any = copy.deepcopy(OURS)
    for odd in data.draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4)):
        holder, key = data.draw(st.sampled_from(places(problem)))
        holder[key] = odd
        if data.draw(st.booleans()) and isinstance(holder, dict):
            holder[data.draw(st.sampled_from(["\0", "\ud800", 3, None, "x" * 300]))] = odd
    try:
        grade = prism.grade(problem, "$E = 2 A$, so $E^2 = 4 A^2$.")
    except PrismError as error:
        assert len(str(error)) < 200_000
    else:
        assert grade.status in ("ok", "too_large")
