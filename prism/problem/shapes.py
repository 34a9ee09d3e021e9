"""Hold a table of a file to a dataclass: what is missing, unknown or of a wrong type is told, all of it at once.

The annotations of the dataclass say what each value has to be. pydantic compares, and its errors become faults in our
words in `read_shape`, and nowhere else. A harmless value then stands in, so that what no annotation can say (a cycle, a
formula that does not parse) is told beside it. A null is a missing value.

pydantic is loaded by the first table that is read, and never by a comparison of two formulas. Refused: its own class of
models, which everybody who imports a value would load; msgspec, which stops at the first fault.

What readers of files tell: faults and warnings by place, in words that all of them share.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from prism.inputs import MAX_DIGITS, did_you_mean, nearest_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MAX_ID = 200  # characters of an id: it stands in rows, in messages and in names of files
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # categories of Unicode; two ids that look alike are one mistake
_SLASH = re.compile(r"[/\\]")


@dataclass(slots=True)
class LoadReport:
    """The faults and warnings in words; who reads adds to them and goes on with a harmless value."""

    faults: list[str]
    warnings: list[str]

    def tells_of(self, *places: str) -> bool:
        """Return True if a fault is about one of some places, by the beginning of their names."""
        return any(fault.startswith(places) for fault in self.faults)


def field_name(where: str, key: str) -> str:
    """Return the name of a field for messages, such as `node 3, points` for `where` = `node 3`."""
    return f"{where}, {key}" if where else key


def quoted_value(value: object) -> str:
    """Return a value as JSON for a message, cut at `_MAX_SHOWN` characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


def id_fault(text: str) -> str:
    r"""Return why a text is no id; empty if it is one, or empty.

    An id has at most `MAX_ID` characters, all of them visible or blanks, and is no path out of a folder.

    >>> id_fault("../fall")
    '"../fall" leads out of a folder; an id has no part `..` and begins with no slash'
    """
    if len(text) > MAX_ID:
        return f"has {len(text)} characters; an id has at most {MAX_ID}"
    unseen = next((character for character in text if unicodedata.category(character) in _INVISIBLE), "")
    if unseen:
        return (
            f"holds the character U+{ord(unseen):04X}, which nobody sees; an id has letters, digits, signs and blanks"
        )
    parts = _SLASH.split(text)
    if ".." in parts or (len(parts) > 1 and not parts[0]):
        return f"{quoted_value(text)} leads out of a folder; an id has no part `..` and begins with no slash"
    return ""


def is_integer(value: object) -> bool:
    """Return True for an int, but False for True and False."""
    return isinstance(value, int) and not isinstance(value, bool)


T = TypeVar("T")
_CONFIG: Any = {"extra": "forbid", "alias_generator": lambda name: name.rstrip("_")}
PASSES_UNKNOWN: Any = {**_CONFIG, "extra": "ignore"}
"""The `__pydantic_config__` of a class whose tables may hold keys that nobody knows."""
Loc = tuple[int | str, ...]  # of an error: keys, and places in lists from 0, the outermost first

_MAX_UNKNOWN = 20  # unknown keys of a table that are told
_MAX_SHOWN = 60  # characters of a key or a value in a message
_UNKNOWN = "unexpected_keyword_argument"


@dataclass(frozen=True, slots=True)
class Reader:
    """In an annotation: what makes the value; its ValueError says what the value is not, `is no number`.

    Attributes:
        is_last: it makes the value of one that fits the type already.
    """

    read: Callable[[Any], Any]
    is_last: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema that calls `read` (pydantic's protocol)."""
        from pydantic_core import core_schema

        if self.is_last:
            return core_schema.no_info_after_validator_function(self.read, handler(source))
        return core_schema.no_info_plain_validator_function(
            lambda value: value.value if isinstance(value, _Harmless) else self.read(value)
        )


@dataclass(frozen=True, slots=True)
class About:
    """In an annotation: what to do where the value is missing, and what is said of another type than is expected."""

    hint: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class _Harmless:
    """A value that stands in for a faulty one, whatever a `Fit` says of it."""

    value: Any


class WholeSentenceError(ValueError):
    """Raised by a `Fit` for words that need no value before them."""


def read_name(value: Any) -> str:
    """Return a text by which others name a table.

    Errors:
        ValueError: what it is not, in words.
    """
    if not isinstance(value, str):
        raise ValueError("is no text")
    if fault := id_fault(value):
        raise WholeSentenceError(fault)
    return value


def value_if(is_fit: Callable[[Any], bool], fault: str, made: Callable[[Any], Any] = lambda value: value) -> Reader:
    """Return what reads a value that fulfils a condition; `fault` of any other, `made` makes another value of it."""

    def read(value: Any) -> Any:
        if not is_fit(value):
            raise ValueError(fault)
        return made(value)

    return Reader(read)


def text_like(pattern: re.Pattern[str], fault: str) -> Reader:
    """Return what reads a text that a pattern matches whole; `fault` of any other value."""
    return value_if(lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None, fault)


def _may_be_id(value: Any) -> bool:
    """Return True for a text that is not empty, and for a whole number."""
    return bool(value) if isinstance(value, str) else is_integer(value) and abs(value) < 10**MAX_DIGITS


Text = Annotated[str, value_if(lambda value: isinstance(value, str), "is no text")]
Flag = Annotated[bool, value_if(lambda value: isinstance(value, bool), "is neither true nor false")]
Id = Annotated[str, value_if(_may_be_id, "is neither a text nor a whole number", str)]
Name = Annotated[str, Reader(read_name)]
Index = Annotated[int, value_if(is_integer, "is no node index")]
Indices = Annotated[tuple[Index, ...], About("write [] if there are none", "is no list of node indices")]


def whole_number(least: int, most: int = 10**MAX_DIGITS) -> Reader:
    """Return what reads a whole number between bounds, which are allowed."""
    words = f"of {least} or more" if most == 10**MAX_DIGITS else f"{least}..{most}"
    return value_if(lambda value: is_integer(value) and least <= value <= most, f"is no whole number {words}")


def exact_number(least: int | None = None, most: int | None = None, *, fault: str = "is no number") -> Reader:
    """Return what reads a number as the fraction of its decimal digits; bounds are allowed."""
    bounds = f"from {least} to {most}" if most is not None else f"of {least} or more"

    def read(value: Any) -> Fraction:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise ValueError(fault)
        number = Fraction(str(value))
        if (least is not None and number < least) or (most is not None and number > most):
            raise ValueError(f"is no number {bounds}")
        return number

    return Reader(read)


def one_of(choices: Collection[str]) -> Reader:
    """Return what reads one of some texts, whatever its case."""
    known = {each.casefold(): each for each in choices}

    def read(value: Any) -> str:
        if isinstance(value, str) and (found := known.get(value.strip().casefold())):
            return found
        near = nearest_name(value.casefold(), known) if isinstance(value, str) else ""
        raise ValueError(f"is none of {', '.join(choices)}{f'; did you mean {known[near]}?' if near else ''}")

    return Reader(read)


@dataclass(frozen=True, slots=True)
class Style:
    """How messages name an entry of a list and a table.

    Attributes:
        refuses_unknown: a key that nobody knows is a fault, and no warning.
        ignored_keys: keys of the outermost table that are passed over.
        where: name of the outermost table, before all places.
    """

    entry: str = "entry"
    table: str = "table"
    refuses_unknown: bool = False
    ignored_keys: frozenset[str] = frozenset()
    where: str = ""


TOML, JSON = Style(), Style("item", "object")


def read_shape(shape: type[T], table: Mapping[str, Any], report: LoadReport, style: Style = TOML) -> T:
    """Return what a table of a file holds; faults and warnings go to the report, and a harmless value stands in.

    Raises AssertionError where nothing harmless fits.

    Args:
        shape: a dataclass. `CALLED` of a class of entries, as `("node", "index")`, is how messages name an entry.
    """
    from pydantic import ValidationError

    plain = {key: value for key, value in _plain(table).items() if key not in style.ignored_keys}
    for is_told in (False, True, True, True, True):  # a table that is mended may need more, and that again
        try:
            return cast(T, _adapter(cast(Hashable, shape)).validate_python(plain))
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if not is_told:
            _tell(shape, plain, errors, report, style)
        for loc in sorted((each["loc"] for each in errors), key=lambda loc: [str(k).zfill(9) for k in loc])[::-1]:
            _mend(shape, plain, loc)
    raise AssertionError(f"{shape.__name__}: nothing harmless fits {errors}")


def tell_repeated_names(names: Iterable[str], noun: str, key: str, report: LoadReport) -> None:
    """Add a fault for each name of an entry that an earlier one has: `student right, name: stands twice`."""
    earlier: set[str] = {""}
    for name in names:
        if name and name in earlier:
            report.faults.append(f"{noun} {name}, {key}: stands twice")
        earlier.add(name)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Return what reads a dataclass, built on first use.

    Modules whose dataclasses stand in each other give their aliases different names: pydantic 2.7 looks for all of them
    in the outermost module.
    """
    from pydantic import TypeAdapter

    if not hasattr(shape, "__pydantic_config__"):
        shape.__pydantic_config__ = _CONFIG
    return TypeAdapter(shape)


def _plain(value: Any) -> Any:
    """Return a value of nested tables and lists as dictionaries and lists, without nulls in tables."""
    if isinstance(value, Mapping):
        kept = ((str(key), each) for key, each in value.items() if each is not None)
        return {key.encode(errors="replace").decode(): _plain(each) for key, each in kept}  # no half surrogate pairs
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@cache
def _hints(shape: Any) -> dict[str, Any]:
    """Return the annotations of the fields of a dataclass by key, `class_` for `class`; none of anything else."""
    own = get_type_hints(shape, include_extras=True) if is_dataclass(shape) else {}
    return {each.name.rstrip("_"): own[each.name] for each in (fields(shape) if own else ())}


def _bare(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return an annotation without what stands beside the type, and what does: its notes, and None for `| None`."""
    notes: tuple[Any, ...] = ()
    while get_origin(kind) is Annotated or type(None) in get_args(kind):
        notes += getattr(kind, "__metadata__", (None,))
        kind = get_args(kind)[0]
    return kind, notes


def _kinds(shape: Any, loc: Loc) -> list[Any]:
    """Return the annotation of the whole and of each step into it: of a field, of an item, of a value of a table."""
    kinds = [shape]
    for step in loc:
        kind, _ = _bare(kinds[-1])
        inner = [each for each in get_args(kind) if each is not Ellipsis]
        kinds.append(_hints(kind).get(str(step), inner[-1] if inner else Any))
    return kinds


def _place(kinds: list[Any], value: Any, loc: Loc, faulty: Collection[Loc], style: Style) -> str:
    """Return the name of a value in messages, `node 3, points`: an entry's own name, else its place in its list."""
    parts = [style.where] if style.where else []
    for n, step in enumerate(loc, start=1):
        value = value.get(step) if isinstance(value, dict) else value[step]
        if isinstance(step, str):
            parts.append(step[:_MAX_SHOWN])
            continue
        noun, key = getattr(_bare(kinds[n])[0], "CALLED", ("", ""))
        name = value.get(key) if isinstance(value, dict) and (*loc[:n], key) not in faulty else None
        if name in (None, ""):
            parts.append(f"{style.entry} {step + 1}")
        else:
            parts[-1] = f"{noun} {name}"
    return ", ".join(parts)


def _tell(shape: type, table: Any, errors: Iterable[Any], report: LoadReport, style: Style) -> None:
    """Add each error to the report in our words; of a table with very many unknown keys the number."""
    faulty = {each["loc"] for each in errors}
    n_unknown: dict[Loc, int] = {}
    for each in sorted(errors, key=lambda error: len(error["loc"]) > 1):  # those of the outermost table first
        loc = each["loc"]
        is_warning = each["type"] == _UNKNOWN and not style.refuses_unknown
        n_unknown[loc[:-1]] = n_unknown.get(loc[:-1], 0) + is_warning
        if not is_warning or n_unknown[loc[:-1]] <= _MAX_UNKNOWN:
            kinds = _kinds(shape, loc)
            message = f"{_place(kinds, table, loc, faulty, style)}: {_words(each, kinds, style)}"
            (report.warnings if is_warning else report.faults).append(message)
    for loc, n in n_unknown.items():
        if n > _MAX_UNKNOWN:
            where = _place(_kinds(shape, loc), table, loc, faulty, style)
            report.warnings.append(f"{field_name(where, 'unknown keys')}: {n}; they are ignored")


def _words(error: Any, kinds: list[Any], style: Style) -> str:
    """Return what an error of pydantic is called here."""
    kind, value = error["type"], error["input"]
    about = next((note for note in _bare(kinds[-1])[1] if isinstance(note, About)), About())
    key = str(error["loc"][-1])[:_MAX_SHOWN]
    if kind == _UNKNOWN:
        known = sorted({*_hints(_bare(kinds[-2])[0]), *style.ignored_keys})
        if style.refuses_unknown:
            return f"unknown key{did_you_mean(key, known)}"
        near = nearest_name(key, known)
        return f"unknown key, ignored{f'; did you mean {near}?' if near else ''}"
    if kind == "missing":
        own = _hints(_bare(kinds[-2])[0])
        near = nearest_name(key, (str(each)[:_MAX_SHOWN] for each in list(value)[:_MAX_UNKNOWN] if each not in own))
        hint = f"is `{near}` meant for it?" if near else about.hint
        return f"is missing{f'; {hint}' if hint else ''}"
    if kind == "value_error":
        found = error["ctx"]["error"]
        return str(found) if isinstance(found, WholeSentenceError) else f"{quoted_value(value)} {about.fault or found}"
    usual = "is no list" if kind == "tuple_type" else f"is no {style.table}"  # else of a dataclass or a dictionary
    return f"{quoted_value(value)} {about.fault or usual}"


def _mend(shape: type, value: Any, loc: Loc) -> None:
    """Take a faulty value out of a table, or put a harmless one in its place: None, or the empty one of its type."""
    *kinds, kind = _kinds(shape, loc)
    for step in loc[:-1]:
        value = value[step]
    last = loc[-1]
    bare, notes = _bare(kind)
    empty, is_needed = get_origin(bare) or bare, last in _needed(_bare(kinds[-1])[0])
    is_fit = any(isinstance(note, Reader) and not note.is_last for note in notes)
    if isinstance(last, int) and is_dataclass(bare) and not _needed(bare):
        value[last] = {}  # so that those behind it keep their places
    elif is_needed and is_fit:
        value[last] = _Harmless(None if None in notes else next(iter(empty)) if issubclass(empty, Enum) else empty())
    elif empty is tuple and isinstance(last, str) and not is_fit:
        value[last] = []
    elif is_needed:
        value[last] = None if None in notes else {}
    else:
        value.pop(last)


def _needed(shape: Any) -> set[str]:
    """Return the keys that a table needs to have; none for what is no dataclass."""
    own = fields(shape) if is_dataclass(shape) else ()
    return {each.name.rstrip("_") for each in own if each.default is MISSING and each.default_factory is MISSING}
