"""The vocabulary of domains and subtopics: a table in `vocabulary/`, read whole and checked, and its nearest names.

No grade depends on it. `authoring.lint_vocabulary` holds problem files to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from prism.errors import in_file, raise_faults
from prism.inputs import decode, parse_toml, read_bytes
from prism.physics.tables import read_string, read_strings
from prism.resources import resource

_FILE = "vocabulary/domains.toml"
_MAX_BYTES = 1_000_000  # of a vocabulary: reading a megabyte of TOML takes up to 4 s
_KINDS = ("fault", "warning", "note")
_KEYS = frozenset(("name", "other_names", "subtopics", "source"))
_NEAREST = 3  # names that are suggested
_COMPARED = 80  # characters of a name

_Schemes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that a problem's domain and subtopic may have.

    Attributes:
        schemes: by domain, in file order: names of subtopics by the scheme that has them; None for a domain that takes
            any. A plain list is one scheme without a name.
        other_names: domain by what else it is called, in small letters.
        unknown: kind of lint's finding about a name that is not listed: `fault`, `warning` or `note`.
    """

    schemes: Mapping[str, _Schemes | None] = field(hash=False)
    other_names: Mapping[str, str] = field(hash=False)
    unknown: str = "warning"

    @property
    def subtopics(self) -> Mapping[str, tuple[str, ...] | None]:
        """Names of subtopics by domain, of all schemes, without repetitions; None for a domain that takes any."""
        return {
            domain: None if named is None else tuple(dict.fromkeys(chain.from_iterable(named.values())))
            for domain, named in self.schemes.items()
        }


@cache
def shipped_vocabulary() -> Vocabulary:
    """Return the vocabulary that ships with PRISM, read on first use."""
    return read_vocabulary(resource(_FILE))


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a vocabulary in TOML and check all of it; `vocabulary/README.md` explains the keys.

    Errors:
        DataFileError: all faults at once, each naming row and field.
    """
    faults: list[str] = []
    with in_file(str(path)):
        table: Mapping[str, Any] = parse_toml(decode(read_bytes(path, _MAX_BYTES)))
    if extra := sorted(table.keys() - {"unknown", "domain"}):
        faults.append(f"unknown key {', '.join(extra)}; keys are domain, unknown")
    if (kind := table.get("unknown", "warning")) not in _KINDS:
        faults.append(f"unknown: {kind!r} is none of {', '.join(_KINDS)}")
    rows = table.get("domain")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        faults.append("domain: expected a list of tables, [[domain]]")
        rows = []
    schemes: dict[str, _Schemes | None] = {}
    others: dict[str, str] = {}
    for place, row in enumerate(rows, start=1):
        _read_domain(row, f"domain {place} ({row.get('name', 'without name')})", schemes, others, faults)
    faults += [f"other_names: {name!r} of {whose} is the name of a domain itself"
               for name, whose in others.items() if name in {each.casefold() for each in schemes}]  # fmt: skip
    raise_faults(faults, str(path))
    return Vocabulary(schemes, others, str(kind))


def _read_domain(
    row: Mapping[str, Any], where: str, schemes: dict[str, _Schemes | None], others: dict[str, str], faults: list[str]
) -> None:  # fmt: skip
    """Read one domain into `schemes` and `others`; what is wrong is added to `faults`, named by the words `where`."""
    if extra := sorted(row.keys() - _KEYS):
        faults.append(f"{where}: unknown key {', '.join(extra)}; keys are {', '.join(sorted(_KEYS))}")
    name = read_string(row, "name", where, faults)
    if not name.strip():
        faults.append(f"{where}, name: is missing")
    if name.casefold() in {each.casefold() for each in schemes}:
        faults.append(f"{where}, name: stands twice")
    read_string(row, "source", where, faults)
    schemes[name] = _read_schemes(row, where, faults) if "subtopics" in row else None
    faults.extend(
        f"{where}, other_names: {other!r} is one of {others[other.casefold()]} too"
        for other in read_strings(row, "other_names", where, faults)
        if others.setdefault(other.casefold(), name) != name
    )


def _read_schemes(row: Mapping[str, Any], where: str, faults: list[str]) -> _Schemes:
    """Return the names of each scheme of a domain's subtopics: a table of lists, or one list without a name."""
    told = row["subtopics"]
    named = {f"subtopics.{scheme}": names for scheme, names in told.items()} if isinstance(told, Mapping) else None
    lists = {"subtopics": told} if named is None else named
    found: dict[str, tuple[str, ...]] = {}
    for key in lists:
        listed = read_strings(lists, key, where, faults)
        small = [each.casefold() for each in listed]
        twice = sorted({each for each in listed if small.count(each.casefold()) > 1})
        faults += [f"{where}, {key}: {each!r} stands twice" for each in twice]
        found[key.removeprefix("subtopics").removeprefix(".")] = tuple(listed)
    return found


def nearest_domains(word: str, known: Vocabulary) -> tuple[str, ...]:
    """Return up to three domains that a word may mean, the nearest first, by their names and other names.

    >>> nearest_domains("statistical mechanics", shipped_vocabulary())[0]
    'Thermodynamics and Statistical Physics'
    """
    names = {**known.other_names, **{name.casefold(): name for name in known.schemes}}
    return (names[word.casefold()],) if word.casefold() in names else _nearest(word, names)


def nearest_subtopics(word: str, listed: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of the listed subtopics that a word may mean, the nearest first.

    >>> nearest_subtopics("rigid body", ["Rigid Bodies", "Particle Dynamics"])
    ('Rigid Bodies',)
    """
    return _nearest(word, {name.casefold(): name for name in listed})


def _nearest(word: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of up to three names that a word is most like, in any letters, without repetitions."""
    near = get_close_matches(word.casefold()[:_COMPARED], list(names), n=2 * _NEAREST)
    return tuple(dict.fromkeys(names[each] for each in near))[:_NEAREST]
