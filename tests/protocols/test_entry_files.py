"""Findings files: JSON Lines, JSON, JSON in a fence, around words, or cut off; all faults at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.errors import DataFileError
from prism.problem.shapes import Id, Text, exact_number, one_of
from prism.protocols.entry_files import AROUND, FENCE, find_values, joined_sha256, of_shape, read_entries

ENTRY = {"id": "a", "points": 4, "level": "HIGH"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """An entry with an id, points and a level."""

    id: Id
    points: Annotated[Fraction, exact_number(0, 10)]
    level: Annotated[str | None, one_of(("LOW", "HIGH"))] = None
    text: Text = ""


read = of_shape(Judgement)


def entries_of(tmp_path: Path, text: str, name: str = "findings.jsonl") -> Any:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_entries(path, read)


LINE = json.dumps(ENTRY)


@pytest.mark.parametrize(("text", "places", "notes"), [
    (f"{LINE}\n\n{LINE}\n", ["line 1", "line 3"], []),
    (json.dumps([ENTRY, ENTRY], indent=1), ["item 1", "item 2"], []),
    (json.dumps(ENTRY, indent=1), ["item 1"], []),
    (f"```json\n{json.dumps(ENTRY, indent=1)}\n```\n", ["line 2"], [FENCE]),
    (f"```json\n{LINE}\n{LINE}\n```\n", ["line 2", "line 3"], [FENCE]),
    (f"My verdict, with {{x}} and [1]:\n{json.dumps([ENTRY, ENTRY], indent=1)}\nThat is all.",
     ["line 2, item 1", "line 2, item 2"], [AROUND]),
    ('Sure! {"id": "a", "points": 4, "level": "HIGH", "text": "and then, {it',
     ["line 1"], [AROUND, "cut off: ended behind character 40, 1 bracket closed"]),
    (f"{LINE}\nHere: {LINE}\n{LINE}", ["line 1", "line 2", "line 3"], [AROUND]),
])  # fmt: skip
def test_entries_are_found_and_repairs_are_told(tmp_path: Path, text: str, places: list[str], notes: list[str]) -> None:
    found = entries_of(tmp_path, text)
    assert [one.place for one in found.entries] == places
    assert {one.value.points for one in found.entries} == {Fraction(4)}
    told = [note for one in found.entries for note in one.notes]
    assert sorted({note.split(": ", 1)[1] for note in told}) == sorted(notes)
    assert all(note.startswith("findings, line ") for note in told)


def test_all_faults_of_all_entries_are_told_at_once(tmp_path: Path) -> None:
    text = '{"points": 11}\n{"id": "b", "points": "4"}\n{"id": 3, "level": "higg", "points": 0.1}\n[1]\n{"id": \n'
    text += '{"id": true, "points": NaN}'
    with pytest.raises(DataFileError) as caught:
        entries_of(tmp_path, text)
    told = [fault.replace("\n", " ") for fault in caught.value.faults]
    assert any("line 1: id: is missing" in each for each in told)
    assert any("line 1: points: 11 is no number from 0 to 10" in each for each in told)
    assert any('line 2: points: "4" is no number' in each for each in told)
    assert any('level: "higg" is none of LOW, HIGH; did you mean HIGH?' in each for each in told)
    assert len(told) >= 5


@pytest.mark.parametrize("text", ["", "no findings here", "[]"])
def test_a_file_without_an_object_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataFileError, match="holds no JSON object"):
        entries_of(tmp_path, text)


def test_a_file_that_is_not_there_is_named_with_its_neighbour(tmp_path: Path) -> None:
    entries_of(tmp_path, LINE, "findings.jsonl")
    with pytest.raises(DataFileError, match=r'findingz\.jsonl: cannot be read.*did you mean "findings\.jsonl"'):
        read_entries(tmp_path / "findingz.jsonl", read)


def test_numbers_are_the_fractions_of_their_digits(tmp_path: Path) -> None:
    assert entries_of(tmp_path, '{"id": "a", "points": 0.1}').entries[0].value.points == Fraction(1, 10)


def test_an_unknown_key_is_a_warning(tmp_path: Path) -> None:
    found = entries_of(tmp_path, '{"id": "a", "points": 1, "lebel": "LOW"}')
    assert found.warnings == ("item 1: lebel: unknown key, ignored; did you mean level?",)


def test_an_entry_has_one_digest_however_its_keys_stand(tmp_path: Path) -> None:
    swapped = {"level": "HIGH", "points": 4, "id": "a"}
    one, other = entries_of(tmp_path, f"{LINE}\n{json.dumps(swapped)}").entries
    assert one.sha256 == other.sha256
    assert joined_sha256([one]) == one.sha256
    assert joined_sha256([]) is None
    third = entries_of(tmp_path, '{"id": "b", "points": 4}').entries[0]
    assert joined_sha256([one, third]) == joined_sha256([third, one]) != one.sha256


# Brackets. ------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=3)


@given(st.lists(OBJECTS, min_size=1, max_size=3), st.sampled_from(["", "text (a] ", "} ] "]))
def test_what_is_whole_is_found_as_it_is(objects: list[dict[str, Any]], between: str) -> None:
    text = between.join(json.dumps(each) for each in objects)
    assert [each.value for each in find_values(between + text + between)] == objects


@given(OBJECTS, st.data())
def test_what_is_cut_off_never_says_what_was_not_there(whole: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(whole)
    found = find_values(text[: data.draw(st.integers(0, len(text) - 1))])
    assert len(found) <= 1
    for one in found:
        assert one.value is not None, one.fault
        assert one.remarks
        assert is_beginning(one.value, whole)


@pytest.mark.parametrize("text", ['{"id": "a", "points": 1e999}', '{"id": "a", "text": 1e999}\n{"id": "b"}', "[1e999"])
def test_a_number_beyond_all_floats_is_a_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "findings.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError):
        read_entries(path, read)


def is_beginning(cut: Any, whole: Any) -> bool:
    """Whether a value is one whose end was cut off: all but its last items are whole."""
    if isinstance(cut, dict) and isinstance(whole, dict):
        pairs = list(zip(cut.items(), whole.items(), strict=False))
        return len(cut) <= len(whole) and all(a[0] == b[0] for a, b in pairs) and are_beginnings(
            [(a[1], b[1]) for a, b in pairs])  # fmt: skip
    if isinstance(cut, list) and isinstance(whole, list):
        return len(cut) <= len(whole) and are_beginnings(list(zip(cut, whole, strict=False)))
    return bool(cut == whole)


def are_beginnings(pairs: list[tuple[Any, Any]]) -> bool:
    return all(a == b for a, b in pairs[:-1]) and all(is_beginning(a, b) for a, b in pairs[-1:])
