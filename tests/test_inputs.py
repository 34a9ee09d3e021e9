"""What comes from outside: other formats are named, numbers and nesting bounded, and nothing but PrismError comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism.errors import PrismError
from prism.inputs import (
    MAX_DIGITS,
    MAX_NESTING,
    decode,
    foreign_format,
    parse_json,
    parse_toml,
    read_bytes,
    refuse_constant,
    shown,
    value_faults,
)


def fault(read: object, *args: object) -> str:
    with pytest.raises(PrismError) as caught:
        read(*args)  # type: ignore[operator]
    return str(caught.value)


# Bytes. ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("raw", "name"), [
    (b"%PDF-1.7\n%\xe2\xe3", "a PDF file"),
    (b"PK\x03\x04\x14\0", "a zip archive, as .docx and .xlsx files are"),
    (b"\x1f\x8b\x08", "compressed by gzip"),
    (b"\x89PNG\r\n", "a picture (PNG)"),
    ("$v = gt$".encode("utf-16"), "text in UTF-16"),
    ("$v = gt$".encode("utf-16-le"), "text in UTF-16"),
    ("$v = gt$".encode("utf-16-be"), "text in UTF-16"),
    ("$v = gt$".encode("utf-32"), "text in UTF-32"),
    (b"$v = gt$ and so on \0", "binary: byte 19 is NUL"),
    (b"", ""), (b"$v = gt$", ""), ("% α PDF".encode(), ""), (b"x" * 10_000 + b"\0", ""),
])  # fmt: skip
def test_other_formats_are_named_by_how_they_begin(raw: bytes, name: str) -> None:
    assert foreign_format(raw) == name
    if name:
        assert fault(decode, raw) == f"is {name}; text in UTF-8 is read"


def test_the_first_byte_that_is_no_utf_8_is_named() -> None:
    assert fault(decode, b"ab\xffc") == "is not UTF-8: byte 2 cannot be read"
    assert fault(decode, b"a\nb\n\xe9c") == "is not UTF-8: byte 4 (in line 3) cannot be read"
    assert decode(b"\xef\xbb\xbfx") == "x"


def test_a_file_is_read_up_to_a_length(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert read_bytes(tmp_path / "a", 3) == b"abc"
    assert fault(read_bytes, tmp_path / "a", 2) == "is longer than 2 bytes"
    assert fault(read_bytes, tmp_path, 9).startswith("cannot be read: Is a directory")
    assert fault(read_bytes, Path("a\0b"), 9).startswith("cannot be read: ")
    assert fault(read_bytes, Path("x" * 5000), 9).startswith("cannot be read: ")


# JSON and TOML. -------------------------------------------------------------------------------------------------


def test_a_key_that_stands_twice_is_named_unless_a_model_wrote_it() -> None:
    assert fault(parse_json, '{"a": {"b": 1, "c": 2, "b": 3}}') == 'key "b" stands twice in one object'
    assert fault(parse_json, '[{"a": 1}, {"a": 1, "a": 1}]') == 'key "a" stands twice in one object'
    assert parse_json('{"b": 1, "b": 3}', table=dict) == {"b": 3}


@pytest.mark.parametrize("reader", [parse_json, lambda text: parse_toml(f"a = {text}")])
def test_numbers_and_nesting_are_bounded(reader: object) -> None:
    assert "whole number" in fault(reader, "9" * (MAX_DIGITS + 1))
    assert "digits" in fault(reader, "-" + "9" * 10_000)
    assert "nested" in fault(reader, "[" * 100_000 if reader is parse_json else "[" * 2000)
    reader("9" * MAX_DIGITS)  # type: ignore[operator]


def test_a_long_dotted_key_is_refused_before_it_is_read() -> None:
    """The standard reader takes 10 s for 5,000 parts and a day for the 500,000 of a megabyte."""
    for key in (".".join("a" * 500_000), " . ".join(['"a"'] * 100_000), "[" + ".".join("a" * 1000) + "]"):
        assert "dotted key" in fault(parse_toml, f"{key} = 1")
    assert parse_toml(".".join("a" * 20) + " = 'a.b.c'")["a"]["a"]


@pytest.mark.slow
@given(st.text(st.sampled_from("[]{}=\".'\n\\ a1-+:T#e,_"), max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    for reader in (parse_json, parse_toml):
        try:
            reader(text)
        except PrismError:
            continue


# Values. --------------------------------------------------------------------------------------------------------


def test_values_that_are_too_large_are_told() -> None:
    deep: object = 0
    for _ in range(MAX_NESTING):
        deep = [deep]
    assert value_faults(deep) == []
    assert value_faults([deep]) == value_faults({"a": [deep]}) == [f"is nested more than {MAX_NESTING} deep"]
    assert value_faults([1, {"a": 10**MAX_DIGITS}]) == [f"holds a whole number of more than {MAX_DIGITS} digits"]
    assert value_faults(["abc", {"de": 1}], most=9) == []
    assert value_faults(["abc", {"de": 1}], most=8) == ["holds more than 8 values and characters"]


def takes_nothing() -> dict[str, Callable[[], object]]:
    """Public calls with nothing in place of an argument."""
    wrong: Any = None
    return {
        "a": lambda: prism.equivalent(wrong, "F = m a"),
        "b": lambda: prism.equivalent("F = m a", wrong),
        "latex": lambda: prism.parse(wrong),
        "gold": lambda: prism.verify(wrong, "$F = m a$"),
        "rollouts": lambda: list(prism.grade_many("free_fall", wrong)),
        "<problem>": lambda: prism.grade(wrong, "x"),
        "solution": lambda: prism.grade("free_fall", wrong),
        "problems": lambda: prism.load_problems(wrong),
        "grade": lambda: prism.step_credits("free_fall", wrong),
    }


@pytest.mark.parametrize("name", takes_nothing())
def test_an_argument_that_is_nothing_is_named_with_what_is_taken(name: str) -> None:
    with pytest.raises(PrismError, match=rf"^{name}: found nothing; (expected|give) ."):
        takes_nothing()[name]()


def test_a_value_that_holds_itself_ends() -> None:
    ring: dict[str, object] = {}
    ring["a"] = [ring] * 10
    assert value_faults(ring, most=10_000) == ["holds more than 10000 values and characters"]
    one: list[object] = []
    one.append(one)
    assert value_faults(one) == [f"is nested more than {MAX_NESTING} deep"]


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert shown("\x1b[2J\x9b\u202e\ud800é") == r'"\x1b[2J\x9b\u202e\ud800é"'
    assert shown("x" * 100, 10) == '"xxxxxxx..."'
    assert json.loads(shown("fall")) == "fall"


def test_a_decimal_beyond_all_floats_is_refused_where_infinities_are() -> None:
    strict = partial(parse_json, constant=refuse_constant)
    assert fault(strict, '{"a": -1e999}') == "-1e999 is too large a number"
    assert strict('{"a": 1e300}') == {"a": 1e300}
