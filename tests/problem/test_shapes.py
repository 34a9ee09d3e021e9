"""A table is held to a dataclass: all faults at once, each with its place, and a harmless value in place of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.problem.shapes import (
    JSON,
    TOML,
    Flag,
    Id,
    Indices,
    LoadReport,
    Text,
    exact_number,
    one_of,
    read_shape,
    tell_repeated_names,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An entry of a list, named by its id."""

    CALLED: ClassVar = ("step", "id")
    id: Id
    after: Indices = ()
    kind: Annotated[str, one_of(("sum", "product"))] = "sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A whole file."""

    title: Text
    points: Annotated[Fraction, exact_number(0, 10)]
    is_open: Flag | None = None
    steps: tuple[Step, ...] = ()
    class_: Text = ""


GOOD = {"title": "t", "points": 0.1, "steps": [{"id": "a", "after": (1, 2)}, {"id": 2}], "class": "c", "is_open": None}


def told(data: dict[str, Any], **style: Any) -> tuple[Sheet, list[str], list[str]]:
    report = LoadReport([], [])
    return read_shape(Sheet, data, report, replace(TOML, **style)), report.faults, report.warnings


def test_a_table_that_fits_is_read() -> None:
    found, faults, warnings = told(GOOD)
    assert found == Sheet(
        title="t", points=Fraction(1, 10), steps=(Step(id="a", after=(1, 2)), Step(id="2")), class_="c"
    )
    assert (faults, warnings) == ([], [])


def test_the_six_commonest_slips_are_told_at_once_and_what_is_right_stays() -> None:
    steps = [{"id": "a", "kind": "sun"}, 3, {"id": "", "after": "1"}, {"id": "d", "after": [1, "x"]}, {"id": "a"}]
    found, faults, warnings = told({"titel": "t", "points": 11, "is_open": 1, "steps": steps, "zzz": 1})
    assert faults == [
        "title: is missing; is `titel` meant for it?",
        "points: 11 is no number from 0 to 10",
        "is_open: 1 is neither true nor false",
        'step a, kind: "sun" is none of sum, product; did you mean sum?',
        "steps, entry 2: 3 is no table",
        'steps, entry 3, id: "" is neither a text nor a whole number',
        'steps, entry 3, after: "1" is no list of node indices',
        'step d, after, entry 2: "x" is no node index',
    ]
    assert warnings == ["titel: unknown key, ignored; did you mean title?", "zzz: unknown key, ignored"]
    assert (found.title, found.points, found.steps[2]) == ("", Fraction(0), Step(id="d", after=(1,)))
    report = LoadReport([], [])
    tell_repeated_names([step.id for step in found.steps], "step", "id", report)
    assert report.faults == ["step a, id: stands twice"]


def test_a_style_names_entries_and_refuses_what_nobody_knows() -> None:
    style = {"entry": JSON.entry, "table": JSON.table, "refuses_unknown": True, "where": "sheet 1"}
    assert told({**GOOD, "titles": 1, "steps": [4]}, **style)[1] == [
        'sheet 1, titles: unknown key; did you mean "title"?',
        "sheet 1, steps, item 1: 4 is no object",
    ]
    assert told({**GOOD, "titles": 1}, ignored_keys=frozenset(("titles",)))[1:] == ([], [])


def test_very_many_unknown_keys_are_counted() -> None:
    warnings = told({**GOOD, **{f"x{n}": n for n in range(99)}})[2]
    assert len(warnings) == 21
    assert warnings[-1] == "unknown keys: 99; they are ignored"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "after", "kind"]), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["title", "points", "is_open", "steps", "class", "class_", "\ud800"]), VALUES))
def test_whatever_stands_in_a_table_a_value_is_returned(table: dict[str, Any]) -> None:
    assert isinstance(told(table)[0], Sheet)


@pytest.mark.parametrize("points", [True, "1", float("nan"), float("inf"), -1, [], {}])
def test_a_number_is_no_other_thing(points: object) -> None:
    assert len(told({**GOOD, "points": points})[1]) == 1
