"""Answers in words of other languages: "bleibt gleich", where the instructions ask for 'stays the same'.

An option has a meaning if its own words are those of one in `vocabulary/words/english.toml`, table `answers`. A text is
put into the words of the options, with what denies, doubts or turns it ("nicht", "si", "mais") in English, and is then
read as an English one: how an answer is settled on stands once, in `worded_answers`.

Refused: asking a text for its language (a box has one word), and English synonyms of other meanings than "the same",
which say it of another quantity as often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from prism.latex.prose import visible_text, words
from prism.latex.word_lists import FIRST_UNPARTED, MEANINGS, word_lists

_MAX_TEXT = 4_000  # characters of a place that states an answer
_OPTIONS_KEPT = 256  # lists of options that a process remembers
_IN_ENGLISH = {word: word for word in ("not", "maybe", "but", "is")} | {
    "empty": "",
    "denials": "wrong",
    "false": "wrong",
}
# They say nothing of the language of a text.
_ALSO_ENGLISH = frozenset("a as car da die do i is links no pas so un want".split())
_STOPS = str.maketrans({"。": ".", "，": ",", "、": ",", "；": ";", "？": "?", "！": "!", "’": "'"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A text in the words of options.

    Attributes:
        text: the text.
        before: what stood before the words of the first option.
        is_sure: it has other words of the language that it is read in than those of an option.
    """

    text: str
    before: str = ""
    is_sure: bool = True


def in_words_of_options(text: str, options: Sequence[str]) -> tuple[Reading, ...]:
    """Return a text in the words of the options, for each language that most of its words may be of.

    >>> [reading.text.split() for reading in in_words_of_options("Die Bahn ist nicht stabil.", ("stable", "unstable"))]
    [['bahn', 'is', 'not', 'stable', '.']]
    """
    spelled = _options_by_meaning(tuple(options))
    shown = visible_text(text[:_MAX_TEXT]).translate(_STOPS).casefold()
    found: list[tuple[int, Reading]] = []
    for language in sorted(word_lists().keys() - {"english"}) if spelled else ():
        marks = [mark for mark in _pattern(language).finditer(shown) if mark[0] not in _ALSO_ENGLISH]
        is_sure = any(_kind(mark, language) in _IN_ENGLISH for mark in marks)
        own = [mark for mark in marks if is_sure or mark[0] not in _meanings("english")]
        if any(_kind(mark, language) in spelled for mark in own):
            found.append((len(own), Reading(_put_into(shown, language, _IN_ENGLISH | spelled), is_sure=is_sure)))
    most = max((count for count, _ in found), default=0)
    return tuple(dict.fromkeys(reading for count, reading in found if count == most))


def _put_into(shown: str, language: str, told: Mapping[str, str]) -> str:
    """Return a text with the words of answers in a language as `told` has them; those that it has not stay."""
    return _pattern(language).sub(lambda mark: f" {told.get(_kind(mark, language), mark[0])} ", shown)


def as_unchanged(text: str, options: Sequence[str]) -> Reading | None:
    """Return a text that says that something "is unchanged" in the words of the option for it; None if it does not."""
    option = _options_by_meaning(tuple(options)).get("same")
    shown = visible_text(text[:_MAX_TEXT]).casefold()
    mark = _same_in_english().search(shown) if option else None
    return Reading(_same_in_english().sub(f" {option} ", shown), shown[: mark.start()]) if mark else None


def _kind(mark: re.Match[str], language: str) -> str:
    """Return what words of an answer mean, for a match of a language's pattern."""
    return _meanings(language)[" ".join(mark[0].split())]


@lru_cache(maxsize=_OPTIONS_KEPT)
def _options_by_meaning(options: tuple[str, ...]) -> dict[str, str]:
    """Map each meaning to the option that has it; an option has one if all its other words stand in every option."""
    common = set.intersection(*({*words(option)} for option in options)) if options else set()
    found: dict[str, list[str]] = {}
    for option in options:
        marks = list(_pattern("english").finditer(option.casefold()))
        rest = {*words(_pattern("english").sub(" ", option.casefold()))} - common - _FILLING
        if len(marks) == 1 and not rest:
            found.setdefault(_kind(marks[0], "english"), []).append(option)
    return {meaning: each[0] for meaning, each in found.items() if len(each) == 1 and meaning in MEANINGS}


_FILLING = frozenset("a an the is are it its be becomes remains remain stays stay to of".split())


@cache
def _meanings(language: str) -> dict[str, str]:
    """Map the words of answers in a language to what they mean: a meaning, or a key of `_IN_ENGLISH`."""
    lists = word_lists()[language]
    kinds = {kind.removeprefix("answers."): texts for kind, texts in lists.items() if kind.startswith("answers.")}
    denials = dict.fromkeys(map(str.casefold, lists["denials"]), "denials") if kinds else {}
    return denials | {text.casefold(): kind for kind, texts in kinds.items() for text in texts}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return a pattern of all words of answers in a language, the longest first."""
    return _any_of(_meanings(language))


@cache
def _same_in_english() -> re.Pattern[str]:
    """Return a pattern of the clauses that say in English that something does not change."""
    same = word_lists()["english"]["answers.same"]
    return _any_of(text for text in same if " " in text and not text.startswith("no"))


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of any text, the longest first, as whole words where its script parts them."""
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    groups: list[list[str]] = [[], [], []]  # whole words, elided ones such as "l'", scripts that part no words
    for text in ordered:
        group = 2 if max(text) >= FIRST_UNPARTED else int(text.endswith("'"))
        groups[group].append(re.escape(text).replace(r"\ ", r"\s+"))
    whole, elided, unparted = ("|".join(group) or r"(?!)" for group in groups)
    return re.compile(rf"(?<![^\W\d_])(?<!\w-)(?:(?:{whole})(?![^\W\d_]|\)\w)|{elided})|{unparted}")


# Sentences with formulas among their words ----------------------------------------------------------------------

_TEXT_BODY = re.compile(r"\\(?:text[a-z]*|mbox|mathrm)\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)?)\}")
_IN_DOLLARS = re.compile(r"\$[^$]*\$")
_NO_LETTERS = re.compile(r"\\(?:begin|end)\s*\{[a-z]*\*?\}|\\[A-Za-z]+|\W|_")
_PROSE_WORD = re.compile("[A-Za-z]{2,}")
_LAYOUT = re.compile(r"\\(?:text[a-z]*|mbox|mathrm|quad|qquad|[,;:! ])(?![A-Za-z])|[\s{}$~]")


def is_sentence(latex: str, *, share: int = 2) -> bool:
    r"""Return True for words with formulas among them, `\text{The parity of } \pi^0 \text{ is odd.}`, most of it words.

    Args:
        latex: an answer.
        share: letters of words for each one of a formula.

    >>> is_sentence(r"\text{The parity of } \pi^0 \text{ is odd.}"), is_sentence(r"E = 2\,\text{J per mole}")
    (True, False)
    """
    beside = _TEXT_BODY.sub("", latex)
    if latex.count("{") != latex.count("}") or (share > 1 and "=" in beside):
        return False
    said = _PROSE_WORD.findall(_IN_DOLLARS.sub(" ", " ".join(_TEXT_BODY.findall(latex))))
    return len(said) > 1 and sum(map(len, said)) > share * len(_NO_LETTERS.sub("", beside))


def is_same_sentence(one: str, two: str) -> bool:
    """Return True if two texts are the same, but for layout and a full stop."""
    first, second = (_LAYOUT.sub("", each).rstrip(".") for each in (one, two))
    return first == second
