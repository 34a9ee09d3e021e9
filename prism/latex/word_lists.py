"""Words of several languages beside formulas, from `vocabulary/words/<language>.toml`, as patterns.

A text is not asked for its language: each list holds only what cannot be meant otherwise beside a formula, in whatever
language it stands.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from prism.errors import DataFileError
from prism.resources import resource

FOLDER = "vocabulary/words"
FIRST_UNPARTED = "\u3040"  # from here on letters of scripts that part no words
KINDS = frozenset((
    "alternatives", "looser", "denials", "instead", "conditions", "conditionals", "ranges", "connectives", "restating",
    "comparisons", "lines",
))  # fmt: skip
MEANINGS = frozenset(
    (
        *("same", "larger", "smaller", "stable", "unstable", "safe", "unsafe", "attractive", "repulsive", "yes", "no"),
        *("true", "false", "left", "right", "up", "down", "clockwise", "counterclockwise", "positive", "negative"),
        *("zero", "bright", "dark", "real", "virtual", "upright", "inverted", "elastic", "inelastic", "bound"),
        "unbound",
    )
)
CLAIMS = frozenset((
    *("wrong", "mistakes", "right", "negators", "stating", "asserting", "refusing", "subjects", "referring", "linking"),
    *("infinitive", "breaks", "contrasting", "harmless", "limiting", "retracting", "undecided", "withdrawing"),
    *("dropping", "struck", "unsure", "supposing", "absurd", "unreal", "ifs", "citing", "others", "formerly"),
    *("disowning", "tasks", "commanding", "obliging", "proving", "done", "asking", "affirming", "doubting", "relative"),
    *("everything", "whole", "plural", "coming", "apart", "former", "latter", "counted", "choosing"),
    *("headline", "preceding", "common"),
))  # fmt: skip
"""Roles of words around a formula that say if it is claimed; see `latex.extraction.denials`."""
ANSWERS = MEANINGS | frozenset(("not", "maybe", "but", "is", "empty"))
"""Meanings of answers in words, and what denies, doubts, turns, asserts or only fills up a sentence with one."""


@cache
def word_lists() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the shipped lists by language and kind.

    Kinds are `KINDS`, those of `ANSWERS` as `answers.same`, and the roles of `CLAIMS` as `claims.wrong`.

    Errors:
        DataFileError: naming all faults of a file.
    """
    return {path.stem: read_word_list(path.read_text(encoding="utf-8"), file=f"{FOLDER}/{path.name}")
            for path in sorted(resource(FOLDER).iterdir()) if path.suffix == ".toml"}  # fmt: skip


def read_word_list(text: str, *, file: str) -> dict[str, tuple[str, ...]]:
    r"""Read the lists of one language.

    Errors:
        DataFileError: naming all faults.

    >>> others = "\n".join(f"{kind} = []" for kind in KINDS - {"alternatives"})
    >>> read_word_list(f'alternatives = ["or"]\n{others}', file="english.toml")["alternatives"]
    ('or',)
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise DataFileError(file, (f"is no TOML: {fault}",)) from fault
    named = {"answers": table.pop("answers", {}), "claims": table.pop("claims", {})}
    for name, lists in named.items():
        if not isinstance(lists, dict):
            raise DataFileError(file, (f"{name}: is no table",))
    faults = [f"{key}: is no list of words; the lists are {', '.join(sorted(KINDS))}" for key in table.keys() - KINDS]
    faults += [f"{key}: is missing" for key in KINDS - table.keys()]
    faults += [f"answers, {key}: is no meaning" for key in named["answers"].keys() - ANSWERS]
    faults += [f"claims, {key}: is no role" for key in named["claims"].keys() - CLAIMS]
    read = {key: table[key] for key in KINDS & table.keys()}
    read |= {f"{name}.{key}": words for name, lists in named.items() for key, words in lists.items()}
    for key, words in read.items():
        is_list = isinstance(words, list) and all(isinstance(each, str) and each.strip() == each for each in words)
        if not is_list or "" in words:
            faults.append(f"{key}: {words!r} is no list of texts without blanks around them")
        elif len(set(words)) < len(words):
            faults.append(f"{key}: a text stands twice")
    if faults:
        raise DataFileError(file, tuple(sorted(faults)))
    return {key: tuple(words) for key, words in read.items()}


def all_words(kind: str, *, without: str = "") -> frozenset[str]:
    """Return the texts of one kind of all languages but `without`; kinds are `KINDS`."""
    return frozenset(each for language, lists in word_lists().items() if language != without for each in lists[kind])


@cache
def any_word(kind: str, *, without: str = "") -> str:
    r"""Return a pattern that matches any text of one kind, of all languages, as whole words; longest first.

    Args:
        kind: one of `KINDS`.
        without: a language that is left out.

    >>> bool(re.search(any_word("alternatives"), "F oder G")), bool(re.search(any_word("alternatives"), "moderate"))
    (True, False)
    """
    ordered = sorted(all_words(kind, without=without), key=lambda word: (-len(word), word))
    gap = r"\s+(?:[^\W\d_]+\s+)?" if kind == "looser" else r"\s+"  # "bis auf einen unbekannten Faktor"
    parts = {word: re.escape(word).replace("'", "['’]").split(r"\ ") for word in ordered}
    spelled = {word: gap.join((r"\s+".join(some[:2]), *some[2:])) for word, some in parts.items()}
    parted = "|".join(pattern for word, pattern in spelled.items() if max(word) < FIRST_UNPARTED)
    unparted = "|".join(pattern for word, pattern in spelled.items() if max(word) >= FIRST_UNPARTED)
    return rf"(?:(?<![^\W\d_])(?:{parted})(?:(?<=\.)|(?![^\W\d_]))|{unparted})"
