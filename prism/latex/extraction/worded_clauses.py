r"""Clauses of a text with the roles of their words: what the rules on denials read (semantics C.6).

A text is cut into sentences, and these into clauses, at punctuation and at words such as "but", "so" and "because"; a
word counts in the languages that its sentence is in.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import TypeVar

from prism.latex.prose import FORMULA, SENTENCE_END
from prism.latex.word_lists import CLAIMS, FIRST_UNPARTED, word_lists

T = TypeVar("T")


_TOKEN = re.compile(rf"[^\W\d_§{FIRST_UNPARTED}-\U0010ffff]+|[{FIRST_UNPARTED}-\U0010ffff]")
_WITHIN = re.compile(r",?[\s'’\-‑]+")  # between the words of one phrase
_SENTENCE = re.compile(rf"(?:{SENTENCE_END.pattern})|[。！？]|\n[ \t]{{0,8}}(?=[|>*_<])")
HEADING = re.compile(r"^[ \t>]{0,8}#[^\n]*$", re.MULTILINE)
_PIECE = re.compile(
    rf"{FORMULA}+|[{FIRST_UNPARTED}-\U0010ffff]{{1,2}}|[^\s{FORMULA},;:()–—{FIRST_UNPARTED}-\U0010ffff]+"
)
_BLANKS = 20  # between a sign and the word behind it, at most
_MOST_PIECES = 160  # words, numbers and formulas of a sentence: behind these another begins, so that none costs more
_PUNCTUATION = re.compile(r"[,;:()\[\]|–—，；：（）、]|(?<=\S )-(?= )")
_BEFORE_CLAUSE = frozenset(("", *".!?,;:()–—-，；：。！？"))
INSTEAD = "instead"  # the list of words that deny the formula right behind them
_PHRASE_WORD = re.compile(r"[^\W\d_]+\*?")
_Phrase = tuple[tuple[str, ...], frozenset[str]]  # further words, and roles
_STEM = "*"  # at the end of a word in the lists: the word may go on
_GAP = " … "  # in the lists, between two words of one phrase that others may part: "ziehe … zurück"
_STANDING = frozenset(("negators", "harmless", "doubting"))  # a phrase with one of these in it does not say wrong
_MOST_BETWEEN = 8  # words in such a gap


@dataclass(frozen=True, slots=True)
class Mark:
    """A word or phrase of a text with its roles; `place` is the number of its first word in the text."""

    start: int
    end: int
    roles: frozenset[str]
    place: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause from offset `start` to `end`, with what it begins behind, its sentence, and if that is a "but"."""

    start: int
    end: int
    opening: str
    sentence: int
    is_contrary: bool


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The phrases of a language: their words behind the first two, and their roles.

    Attributes:
        pairs: those of several words by the first and then the second, longest first.
        single: those of one word.
        stems: words that may go on, by their first two letters.
        torn: those of two words that others may part, by the first: the second, and their roles.
    """

    pairs: Mapping[str, Mapping[str, Sequence[_Phrase]]]
    single: Mapping[str, frozenset[str]]
    stems: Mapping[str, tuple[str, ...]]
    torn: Mapping[str, Mapping[str, frozenset[str]]]

    def longest(self, words: Sequence[str], at: int) -> tuple[int, frozenset[str]] | None:
        """Return the number of words of the longest phrase at word number `at`, and its roles; None without one."""
        word = words[at]
        if (seconds := self.pairs.get(word)) and at + 1 < len(words):
            for rest, roles in seconds.get(words[at + 1], ()):
                if not rest or rest == tuple(words[at + 2 : at + 2 + len(rest)]):
                    return 2 + len(rest), roles
        alone = self.single.get(word)
        if alone is None and word.startswith(stems := self.stems.get(word[:2], ())):
            alone = next(self.single[f"{stem}{_STEM}"] for stem in stems if word.startswith(stem))
        return (1, alone) if alone else None


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of all languages.

    Attributes:
        lexicons: of the languages that part their words.
        common: the most frequent words of these, with their languages.
        unparted: the phrases of the others, with their roles.
        pattern: finds any of the last, longest first.
    """

    lexicons: Mapping[str, _Lexicon]
    common: Mapping[str, Sequence[str]]
    unparted: Mapping[str, frozenset[str]]
    pattern: re.Pattern[str]


@cache
def _phrases() -> _Phrases:
    """Return the phrases of the shipped lists."""
    lexicons: dict[str, _Lexicon] = {}
    common: dict[str, list[str]] = {}
    unparted: dict[str, set[str]] = {}
    for language, lists in word_lists().items():
        roles: dict[str, set[str]] = {}
        for role in (INSTEAD, *CLAIMS):
            for text in map(str.lower, lists.get(role if role == INSTEAD else f"claims.{role}", ())):
                is_unparted = max(text) >= FIRST_UNPARTED
                (unparted if is_unparted else roles).setdefault(text, set()).add(role)
        for (
            text,
            found,
        ) in roles.items():  # "no es" negates as "no" does, "klopt niet" says wrong, "foi um erro" as "um erro"
            tail = text.partition(" ")[2]
            within = set[str]().union(*(roles.get(word, ()) for word in (*text.split(), tail)))
            if {"retracting", "disowning"} & found and {"wrong", "mistakes"} & within and not _STANDING & within:
                found.add("faulty")
            if "retracting" in found and "withdrawing" in roles.get(text.partition(" ")[0], ()):
                found.add("withdrawing")
            if "negators" in within and found.isdisjoint(("negators", "harmless")):
                if {INSTEAD, "obliging", "coming", "everything", "plural", "preceding"} & found:
                    found.add("negators")
                elif "right" in within and " " in text:
                    found.add("wrong")
        shared = {each: each for each in map(frozenset, roles.values())}  # few of them differ
        pairs: dict[str, dict[str, list[_Phrase]]] = {}
        single: dict[str, frozenset[str]] = {}
        torn: dict[str, dict[str, frozenset[str]]] = {}
        for text, found in sorted(roles.items(), key=lambda each: -len(_PHRASE_WORD.findall(each[0]))):
            meant = shared[frozenset(found)]
            if _GAP in text:
                verb, particle = text.split(_GAP)
                torn.setdefault(verb, {})[particle] = meant
                continue
            first, *others = _PHRASE_WORD.findall(text)
            if others:
                pairs.setdefault(first, {}).setdefault(others[0], []).append((tuple(others[1:]), meant))
            else:
                single[first] = meant
            if "common" in found and not others:
                common.setdefault(first, []).append(language)
        stems: dict[str, tuple[str, ...]] = {}
        for stem in (text.removesuffix(_STEM) for text in single if text.endswith(_STEM)):
            stems[stem[:2]] = (*stems.get(stem[:2], ()), stem)
        lexicons[language] = _Lexicon(pairs, single, stems, torn)
    pattern = re.compile("|".join(map(re.escape, sorted(unparted, key=lambda text: (-len(text), text)))))
    return _Phrases(lexicons, common, {text: frozenset(found) for text, found in unparted.items()}, pattern)


def starting_from(sequence: Sequence[T], first: int) -> Iterator[T]:
    """Yield the members of a sequence from a place on, without a copy."""
    return (sequence[place] for place in range(first, len(sequence)))


@dataclass(frozen=True, slots=True)
class WordedText:
    """A text in lower case with its words, marks, clauses, and the ends of its sentences, all ascending."""

    text: str
    words: Sequence[re.Match[str]]
    word_starts: Sequence[int]
    word_ends: Sequence[int]
    n_unparted: Sequence[int]  # before each word, of scripts that part none
    marks: Sequence[Mark]
    mark_starts: Sequence[int]
    clauses: Sequence[Clause]
    sentence_marks: Sequence[str]
    firsts: Mapping[int, int]  # the number of the first clause of each sentence
    done: int  # offset of the last clause that says that something has been shown, or -1

    def within(self, low: int, high: int) -> list[Mark]:
        """Return the marks that lie within two offsets."""
        first = bisect_left(self.mark_starts, low)
        behind = bisect_left(self.mark_starts, high, first)
        while behind > first and self.marks[behind - 1].end > high:
            behind -= 1
        return list(self.marks[first:behind])

    def asks(self, clause: Clause) -> bool:
        """Return True if the sentence of a clause is a question."""
        return self.sentence_marks[clause.sentence] in ("?", "？")

    def n_words(self, low: int, high: int) -> int:
        """Return the number of words between two offsets; of scripts that part none two letters are one."""
        first, behind = bisect_left(self.word_starts, low), bisect_right(self.word_ends, high)
        n_unparted = self.n_unparted[behind] - self.n_unparted[first] if behind > first else 0
        return max(0, behind - first) - n_unparted + (n_unparted + 1) // 2


def has_role(read: WordedText, low: int, high: int, *roles: str) -> bool:
    """Return True if a mark with one of the roles lies within two offsets."""
    return any(not mark.roles.isdisjoint(roles) for mark in read.within(low, high))


def read_worded(lowered: str) -> WordedText:
    """Cut a text into words, marks and clauses."""
    phrases = _phrases()
    words = list(_TOKEN.finditer(lowered))
    cuts = [(found.start(), found.end(), found[0], True) for found in _SENTENCE.finditer(lowered)]
    cuts += [(at, at, "", True) for found in HEADING.finditer(lowered) for at in found.span()]
    cuts += [(at, at, "", True) for at in _ends_of_long_sentences(lowered, sorted(cut[1] for cut in cuts))]
    ends_of_sentences = sorted(cut[1] for cut in cuts)
    spoken = _languages(words, ends_of_sentences, phrases)
    plain, starts = [word[0] for word in words], [word.start() for word in words]
    marks: list[Mark] = []
    at = 0
    while at < len(words):
        found = [each for lexicon in spoken[at] if (each := lexicon.longest(plain, at))]
        torn = [lexicon.torn[plain[at]] for lexicon in spoken[at] if plain[at] in lexicon.torn]
        if found or torn:
            last = at + max((n for n, _ in found), default=1) - 1
            if any(not _WITHIN.fullmatch(lowered, words[k].end(), words[k + 1].start()) for k in range(at, last)):
                found = [(1, lexicon.single[plain[at]]) for lexicon in spoken[at] if plain[at] in lexicon.single]
                last = at
            roles = frozenset[str]().union(*(each for n, each in found if at + n - 1 == last))
            if torn:
                end = next(starting_from(ends_of_sentences, bisect_right(ends_of_sentences, starts[at])), len(lowered))
                behind = plain[at + 1 : min(at + 2 + _MOST_BETWEEN, bisect_left(starts, end))]
                roles = roles.union(*(seconds[word] for seconds in torn for word in behind if word in seconds))
            if roles:
                marks.append(Mark(words[at].start(), words[last].end(), roles, at))
                at = last
        at += 1
    if any(word[0] >= FIRST_UNPARTED for word in words):
        marks += [Mark(*found.span(), phrases.unparted[found[0]], -1) for found in phrases.pattern.finditer(lowered)]
        marks.sort(key=lambda mark: mark.start)
    clauses, ends = _clauses(lowered, marks, cuts)
    firsts: dict[int, int] = {}
    for place, clause in enumerate(clauses):
        firsts.setdefault(clause.sentence, place)
    word_ends = [word.end() for word in words]
    n_unparted = [0, *accumulate(word[0] >= FIRST_UNPARTED for word in words)]
    mark_starts = [mark.start for mark in marks]
    read = WordedText(lowered, words, starts, word_ends, n_unparted, marks, mark_starts, clauses, ends, firsts, -1)
    starts_of_clauses = [clause.start for clause in clauses]
    said = (clauses[bisect_right(starts_of_clauses, mark.start) - 1] for mark in marks if "done" in mark.roles)
    shown = (clause.start for clause in said if not has_role(read, clause.start, clause.end, "negators"))
    return replace(read, done=max(shown, default=-1))


def _ends_of_long_sentences(lowered: str, ends: Sequence[int]) -> Iterator[int]:
    """Yield where a sentence is cut that has more than `_MOST_PIECES`, given where the sentences end."""
    pieces = [found.start() for found in _PIECE.finditer(lowered)]
    first = 0
    for end in (*ends, len(lowered)):
        behind = bisect_left(pieces, end)
        yield from (pieces[place] for place in range(first + _MOST_PIECES, behind, _MOST_PIECES))
        first = behind


def _languages(words: Sequence[re.Match[str]], ends: Sequence[int], phrases: _Phrases) -> list[Sequence[_Lexicon]]:
    """Return for each word the languages that its sentence may be in, by its most frequent words, or by the text's."""
    sentences = [bisect_right(ends, word.start()) for word in words]
    counts: dict[int, Counter[str]] = {}
    total = Counter[str]()
    for word, sentence in zip(words, sentences, strict=True):
        count = counts.setdefault(sentence, Counter())
        for language in phrases.common.get(word[0], ()):
            count[language] += 1
            total[language] += 1
    spoken: dict[int, Sequence[_Lexicon]] = {}
    for sentence, count in counts.items():
        told = count or total
        most = max(told.values(), default=0)
        names = [language for language, n in told.items() if n == most]
        spoken[sentence] = [phrases.lexicons[name] for name in names or phrases.lexicons]
    return [spoken[sentence] for sentence in sentences]


def _clauses(
    lowered: str, marks: Sequence[Mark], sentence_cuts: Sequence[tuple[int, int, str, bool]]
) -> tuple[list[Clause], list[str]]:
    """Cut a text into clauses; return them and the mark that ends each sentence.

    A word of contrast that is no word of `breaks` cuts only where a clause begins: "das stimmt aber nicht" is one.
    """
    cuts = list(sentence_cuts)
    within = {at for mark in marks for at in range(mark.start, mark.end)}  # the comma of "no, wait"
    punctuation = (found for found in _PUNCTUATION.finditer(lowered) if found.start() not in within)
    cuts += [(found.start(), found.end(), found[0], False) for found in punctuation]
    cuts += [
        (mark.start, mark.end, "but" if "contrasting" in mark.roles else "and", False)
        for mark in marks
        if "breaks" in mark.roles
        or (
            "contrasting" in mark.roles
            and lowered[max(0, mark.start - _BLANKS) : mark.start].rstrip()[-1:] in _BEFORE_CLAUSE
        )
    ]
    clauses: list[Clause] = []
    ends: list[str] = []
    start, opening, is_contrary = 0, "", False
    for low, high, cut, ends_sentence in [*sorted(cuts), (len(lowered), len(lowered), "", True)]:
        if low < start:
            continue
        if lowered[start:low].strip() or cut in "()（）":
            clauses.append(Clause(start, low, opening, len(ends), is_contrary))
            is_contrary = False
        is_contrary = cut == "but" or (is_contrary and not ends_sentence)
        start, opening = high, cut
        if ends_sentence:
            ends.append(cut.strip()[:1])
    return clauses, ends
