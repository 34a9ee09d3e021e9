"""What comes from outside: bytes that should be text, JSON and TOML, and values of any shape, checked before use.

Every reader of other people's files goes through here, so that a PDF, a number of ten thousand digits or ten thousand
nested brackets is a fault in words everywhere, and a traceback nowhere. A fault names what was found; who reads the
file adds its name.

Refused: guessing an encoding. A wrong guess changes Greek letters in silence; UTF-8 is what everybody can save.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from prism.errors import PrismError, named_type

MAX_DIGITS = 300  # of a whole number: more do not fit a float, and reading them takes a time that grows as their square
MAX_NESTING = 64  # lists and tables in each other: every recursion over a value from outside is bounded by it
_MAX_KEY_PARTS = 32  # of a dotted key in TOML: the standard reader's time grows as their square
_LOOKED_AT = 8000  # bytes at the start of a file in which a NUL byte is looked for
_MOSTLY = 0.3  # share of NUL bytes in UTF-16 text of Latin letters is a half

_FORMATS = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a zip archive, as .docx and .xlsx files are",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\xfd7zXZ": "compressed by xz",
    b"BZh": "compressed by bzip2",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"\xd0\xcf\x11\xe0": "an Office document of the old kind",
    b"{\\rtf": "a document in Rich Text Format",
    b"\xff\xfe\x00\x00": "text in UTF-32",
    b"\x00\x00\xfe\xff": "text in UTF-32",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}  # the longer beginnings stand before those that they contain
_COMPARED = 80  # characters of a word for which a near one is looked for, among so many
_MOST_COMPARED = 1000
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{_MAX_KEY_PARTS}}}", re.ASCII)


# Bytes. ---------------------------------------------------------------------------------------------------------


def foreign_format(raw: bytes) -> str:
    """Name what bytes are by how they begin, if they are no text in UTF-8: `a PDF file`; empty if they may be.

    >>> foreign_format(b"%PDF-1.7"), foreign_format("$v = gt$".encode())
    ('a PDF file', '')
    """
    if raw.startswith(tuple(_FORMATS)):
        return next(name for start, name in _FORMATS.items() if raw.startswith(start))
    head = raw[:_LOOKED_AT]
    at = head.find(0)
    if at < 0:
        return ""
    return "text in UTF-16" if head.count(0) > _MOSTLY * len(head) else f"binary: byte {at} is NUL"


def decode(raw: bytes) -> str:
    """Decode UTF-8, with or without a mark at its start.

    Errors:
        PrismError: another format, by name; another encoding, with the place of the first byte that is no UTF-8,
            counted from 0.
    """
    if found := foreign_format(raw):
        raise PrismError(f"is {found}; text in UTF-8 is read")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        where = f" (in line {line})" if line > 1 else ""
        raise PrismError(f"is not UTF-8: byte {error.start}{where} cannot be read") from None


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file.

    Errors:
        PrismError: it cannot be read, or is longer than `most` bytes.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise PrismError(f"cannot be read: {why_failed(error)}") from error
    if len(raw) > most:
        raise PrismError(f"is longer than {most} bytes")
    return raw


def nearest_file_name(path: Path) -> str:
    """Return the nearest name in the folder of a file that is not there; empty if it is there, or none is near.

    Of a large folder a thousand names are compared.
    """
    try:
        if path.exists() or not path.name:
            return ""
        return nearest_name(path.name, sorted(each.name for each in islice(path.parent.iterdir(), _MOST_COMPARED)))
    except (OSError, ValueError):  # no folder either, or no name that a file can have
        return ""


def near_file(path: Path) -> str:
    """Return `; did you mean "answer.md"?` for the nearest name beside a file that is not there; else nothing."""
    near = nearest_file_name(path)
    return f"; did you mean {shown(near)}?" if near else ""


def why_failed(error: BaseException) -> str:
    """Return why a file could not be read or written, without the number and the path that Python and pyarrow add.

    >>> why_failed(FileNotFoundError(2, "Failed to open local file 'a'. Detail: [errno 2] No such file or directory"))
    'No such file or directory'
    """
    if not (isinstance(error, OSError) and error.errno):
        return str(error)
    return os.strerror(error.errno) if error.errno > 0 else error.strerror or str(error)  # below 0: of a name server


# JSON and TOML. -------------------------------------------------------------------------------------------------


def parse_json(
    text: str,
    *,
    table: Callable[[list[tuple[str, Any]]], Any] | None = None,
    constant: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON; `table` builds an object from its pairs, `constant` a value from NaN or an infinity.

    Args:
        table: by default a key that stands twice is refused; `dict` keeps its last value, for what a model wrote.

    Errors:
        PrismError: no JSON; a key that stands twice in one object; a whole number of too many digits; nested too
            deeply; with a `constant` also a decimal beyond all floats, such as 1e999, which Python reads as infinite.
    """
    decoder = DECODER
    if table is not None or constant is not None:
        decoder = json.JSONDecoder(
            object_pairs_hook=table or distinct_keys, parse_constant=constant, parse_int=parse_int,
            parse_float=None if constant is None else _parse_finite,
        )  # fmt: skip
    return _parse(decoder.decode, text)


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its pairs: two readers of one that has a key twice may take two values of it.

    Errors:
        PrismError: names each key that stands twice.
    """
    built = dict(pairs)
    if len(built) < len(pairs):
        times = Counter(key for key, _ in pairs)
        keys = ", ".join(shown(key) for key in sorted(times) if times[key] > 1)
        raise PrismError(f"key {keys} stands twice in one object")
    return built


def _parse_finite(digits: str) -> float:
    """Parse a decimal as the JSON reader finds it.

    Errors:
        PrismError: it is beyond all floats.
    """
    found = float(digits)
    if not isfinite(found):
        raise PrismError(f"{digits[:40]} is too large a number")
    return found


def refuse_constant(word: str) -> Any:
    """Refuse NaN and infinities, which Python writes and no JSON has (a `constant` of `parse_json`).

    Errors:
        PrismError: always.
    """
    raise PrismError(f"{word} is no JSON number")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Errors:
        PrismError: no TOML; a whole number of too many digits; a key of too many parts; nested too deeply.
    """
    if found := _LONG_KEY.search(text):
        raise PrismError(f"a dotted key has more than {_MAX_KEY_PARTS} parts: {found[0][:40]}...")
    parsed: dict[str, Any] = _parse(tomllib.loads, text)
    if faults := value_faults(parsed):
        raise PrismError("; ".join(faults))
    return parsed


def _parse(read: Callable[[str], Any], text: str) -> Any:
    """Return what a reader of the standard library reads; its exceptions become a PrismError with their words."""
    try:
        return read(text)
    except PrismError:
        raise
    except RecursionError:
        raise PrismError("nested too deeply") from None
    except ValueError as error:  # of both readers; of TOML also a number of thousands of digits, or a date that is none
        raise PrismError(str(error)) from error


def parse_int(digits: str) -> int:
    """Parse a whole number as the JSON reader finds it.

    Errors:
        PrismError: more than `MAX_DIGITS` digits.
    """
    if len(digits) > MAX_DIGITS:
        raise PrismError(f"a whole number of {len(digits)} digits; at most {MAX_DIGITS} are read")
    return int(digits)


DECODER = json.JSONDecoder(object_pairs_hook=distinct_keys, parse_int=parse_int)
"""Of all JSON of others, for readers that find where a value ends."""


# Arguments. -----------------------------------------------------------------------------------------------------


def require_text(value: object, name: str, expected: str) -> None:
    """Refuse an argument that is no text.

    Errors:
        PrismError: names the argument, what was found and what is expected.
    """
    if not isinstance(value, str):
        raise PrismError(f"{name}: found {named_type(value)}; expected {expected}")


# Values. --------------------------------------------------------------------------------------------------------


def value_faults(value: object, *, most: int | None = None) -> list[str]:
    """Return why a value of nested lists and tables is too large to be looked at: nesting, digits, and extent.

    Args:
        most: values and characters that it may hold in all; None for any number.
    """
    level: list[object] = [value]
    size = 0
    faults: dict[str, None] = {}
    for _ in range(MAX_NESTING + 1):
        below: list[object] = []
        for each in level:
            if isinstance(each, Mapping):
                below += each.keys()
                below += each.values()
            elif isinstance(each, list | tuple):
                below += each
            elif isinstance(each, str):
                size += len(each)
            elif isinstance(each, int) and abs(each) >= _TOO_LARGE:
                faults[f"holds a whole number of more than {MAX_DIGITS} digits"] = None
            if most is not None and size + len(below) > most:
                return [*faults, f"holds more than {most} values and characters"]
        size += len(below)
        if not below:
            return list(faults)
        level = below
    return [*faults, f"is nested more than {MAX_NESTING} deep"]


_TOO_LARGE = 10**MAX_DIGITS


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "free_fall"?` for the nearest of the known words, of the first thousand; else nothing.

    >>> did_you_mean("free_fal", ["compton", "free_fall"]), did_you_mean("pendulum", ["compton", "free_fall"])
    ('; did you mean "free_fall"?', '')
    """
    near = nearest_name(word, known)
    return f"; did you mean {shown(near)}?" if near else ""


def nearest_name(word: str, known: Iterable[str]) -> str:
    """Return the known word that another one is most like, of the first thousand; empty if none is near.

    Only the beginnings of long words are compared, so that the work is bounded whatever a file holds.

    >>> nearest_name("free_fal", ["compton", "free_fall"]), nearest_name("pendulum", ["compton", "free_fall"])
    ('free_fall', '')
    """
    beginnings = [each[:_COMPARED] for each in islice(known, _MOST_COMPARED)]
    return next(iter(get_close_matches(word[:_COMPARED], beginnings, n=1)), "")


def shown(value: object, most: int = 60) -> str:
    r"""Return a value for a message: cut at `most` characters, and what a terminal would obey escaped.

    >>> print(shown("fall"), shown("a\x1b[2Jb" + 99 * "c", 12))
    "fall" "a\x1b[2Jb..."
    """
    text = value if isinstance(value, str) else repr(value)
    text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text[: most + 1])
    text = text if len(text) <= most else f"{text[: most - 3]}..."
    return f'"{text}"' if isinstance(value, str) else text
