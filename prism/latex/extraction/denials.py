r"""What the words around a formula say of it: denied, taken back, asked or supposed to be refuted, in ten languages.

The words stand in `vocabulary/words/<language>.toml`, table `claims`, each with its role; the rules are the same for
all languages, and no text is asked for its language. A text is cut into sentences, and these into clauses, at
punctuation and at words such as "but", "so" and "because". A formula is denied

- by its own clause: "it is not true that A", "wrongly assume that A", "A does not apply here";
- by a later clause of its sentence, or the next sentence, that refers back: "so this cannot be right", "No wait, ...";
- by a bracket behind it, or a label before it: "(ignore this line)", "Not valid: A";
- in a question that nobody answers, behind "I am not sure whether", and where it is supposed to be refuted.

A clause says that something is wrong by a word of the role `wrong`, or by one of `right` with a negator; with a negator
beside it a word of `wrong` says nothing. What limits the validity ("does not hold for large angles") denies nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import TypeVar

from prism.latex.prose import FORMULA, SENTENCE_END, WRONG_WORDS
from prism.latex.word_lists import CLAIMS, FIRST_UNPARTED, word_lists

T = TypeVar("T")

_TOKEN = re.compile(r"[^\W\d_§]+")
_FORMULA = re.compile(f"{FORMULA}*")
_WITHIN = re.compile(r",?[\s'’\-‑]+")  # between the words of one phrase
_SENTENCE = re.compile(rf"(?:{SENTENCE_END.pattern})|[。！？]|\n[ \t]{{0,8}}(?=[|>*_])")
_HEADING = re.compile(r"^[ \t>]{0,8}#[^\n]*$", re.MULTILINE)
_PUNCTUATION = re.compile(r"[,;:()\[\]|–—，；：（）、]")
_NEAR = 4  # words between a negator and what it negates, before a word that refers back, or behind a verb of stating
_LABEL = 6  # words of a label, at most
_CLAUSES_BEHIND = 3  # of the next sentence in which a formula is taken back
_DENYING = frozenset(("wrong", "mistakes", "negators", "retracting", "struck", "unsure", "supposing", "citing"))
_BEHIND_PREDICATE = frozenset("here since because as by and but so too again now anyway too either".split())


@dataclass(frozen=True, slots=True)
class _Mark:
    """A word or phrase of a text with its roles; `place` is the number of its first word in the text."""

    start: int
    end: int
    roles: frozenset[str]
    place: int


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause from offset `start` to `end`, with what it begins behind, its sentence, and if that is a "but"."""

    start: int
    end: int
    opening: str
    sentence: int
    is_contrary: bool


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of all languages with their roles.

    Attributes:
        parted: by their first word, each as its further words and its roles, longest first.
        unparted: those of scripts that part no words.
        pattern: finds any of these, longest first.
    """

    parted: Mapping[str, Sequence[tuple[tuple[str, ...], frozenset[str]]]]
    unparted: Mapping[str, frozenset[str]]
    pattern: re.Pattern[str]


@cache
def _phrases() -> _Phrases:
    """Return the phrases of the shipped lists."""
    roles: dict[str, set[str]] = {}
    for lists in word_lists().values():
        for role in CLAIMS:
            for text in lists.get(f"claims.{role}", ()):
                roles.setdefault(text.lower(), set()).add(role)
    index: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {}
    unparted = {text: frozenset(found) for text, found in roles.items() if max(text) >= FIRST_UNPARTED}
    for text, found in roles.items():
        if text not in unparted:
            first, *rest = _TOKEN.findall(text)
            index.setdefault(first, []).append((tuple(rest), frozenset(found)))
    for entries in index.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    pattern = re.compile("|".join(map(re.escape, sorted(unparted, key=lambda text: (-len(text), text)))))
    return _Phrases(index, unparted, pattern)


def _from(sequence: Sequence[T], first: int) -> Iterator[T]:
    """Yield the members of a sequence from a place on, without a copy."""
    return (sequence[place] for place in range(first, len(sequence)))


@dataclass(frozen=True, slots=True)
class _Read:
    """A text in lower case with its words, marks, clauses, and the ends of its sentences, all ascending."""

    text: str
    words: Sequence[re.Match[str]]
    marks: Sequence[_Mark]
    clauses: Sequence[_Clause]
    sentence_marks: Sequence[str]
    firsts: Mapping[int, int]  # the number of the first clause of each sentence

    def within(self, low: int, high: int) -> list[_Mark]:
        """Return the marks that lie within two offsets."""
        first = bisect_right(self.marks, low - 1, key=lambda mark: mark.start)
        return list(takewhile(lambda mark: mark.end <= high, _from(self.marks, first)))

    def asks(self, clause: _Clause) -> bool:
        """Return True if the sentence of a clause is a question."""
        return self.sentence_marks[clause.sentence] in ("?", "？")

    def n_words(self, low: int, high: int) -> int:
        """Return the number of words between two offsets; letters of scripts that part none count two for one."""
        first = bisect_right(self.words, low - 1, key=lambda word: word.start())
        found = takewhile(lambda word: word.end() <= high, _from(self.words, first))
        return sum(1 if word[0] < FIRST_UNPARTED else (len(word[0]) + 1) // 2 for word in found)


def denied_starts(lowered: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the offsets of the formulas that the words around them deny.

    Args:
        lowered: a text in lower case with its formulas masked.
        starts: offset of each formula, ascending.
    """
    if not starts:
        return
    read = _read(lowered)
    roles = frozenset[str]().union(*(mark.roles for mark in read.marks))
    if _DENYING.isdisjoint(roles) and {"?", "？"}.isdisjoint(lowered):
        return
    bounds = [clause.start for clause in read.clauses]
    for start in starts:
        end = _FORMULA.match(lowered, start).end()  # type: ignore[union-attr]
        place = bisect_right(bounds, start) - 1
        if place >= 0 and end > start and any(rule(read, _Formula(place, start, end)) for rule in _RULES):
            yield start


def _read(lowered: str) -> _Read:
    """Cut a text into words, marks and clauses."""
    phrases = _phrases()
    words = list(_TOKEN.finditer(lowered))
    marks: list[_Mark] = []
    at = 0
    while at < len(words):
        length = 1
        for rest, roles in phrases.parted.get(words[at][0], ()):
            last = at + len(rest)
            if (
                last < len(words)
                and all(words[at + 1 + k][0] == word for k, word in enumerate(rest))
                and all(_WITHIN.fullmatch(lowered, words[k].end(), words[k + 1].start()) for k in range(at, last))
            ):
                marks.append(_Mark(words[at].start(), words[last].end(), roles, at))
                length = len(rest) + 1
                break
        at += length
    if any(word[0] >= FIRST_UNPARTED for word in words):
        marks += [_Mark(*found.span(), phrases.unparted[found[0]], -1) for found in phrases.pattern.finditer(lowered)]
        marks.sort(key=lambda mark: mark.start)
    clauses, ends = _clauses(lowered, marks)
    firsts: dict[int, int] = {}
    for place, clause in enumerate(clauses):
        firsts.setdefault(clause.sentence, place)
    return _Read(lowered, words, marks, clauses, ends, firsts)


def _clauses(lowered: str, marks: Sequence[_Mark]) -> tuple[list[_Clause], list[str]]:
    """Cut a text into clauses; return them and the mark that ends each sentence."""
    cuts = [(found.start(), found.end(), found[0], True) for found in _SENTENCE.finditer(lowered)]
    cuts += [(at, at, "", True) for found in _HEADING.finditer(lowered) for at in found.span()]
    within = {at for mark in marks for at in range(mark.start, mark.end)}  # the comma of "no, wait"
    punctuation = (found for found in _PUNCTUATION.finditer(lowered) if found.start() not in within)
    cuts += [(found.start(), found.end(), found[0], False) for found in punctuation]
    cuts += [
        (mark.start, mark.end, "but" if "contrasting" in mark.roles else "and", False)
        for mark in marks
        if "breaks" in mark.roles or "contrasting" in mark.roles
    ]
    clauses: list[_Clause] = []
    ends: list[str] = []
    start, opening, is_contrary = 0, "", False
    for low, high, cut, ends_sentence in [*sorted(cuts), (len(lowered), len(lowered), "", True)]:
        if low < start:
            continue
        if lowered[start:low].strip() or cut in "()（）":
            clauses.append(_Clause(start, low, opening, len(ends), is_contrary))
            is_contrary = False
        is_contrary = cut == "but" or (is_contrary and not ends_sentence)
        start, opening = high, cut
        if ends_sentence:
            ends.append(cut.strip()[:1])
    return clauses, ends


# What a clause says -----------------------------------------------------------------------------------------------


def _says_wrong(read: _Read, low: int, high: int, *, is_label: bool = False) -> bool:
    """Return True if the words between two offsets say that something is wrong, and do not limit it to a case."""
    marks = read.within(low, high)
    wrong = [
        mark for mark in marks
        if {"wrong", "mistakes"} & mark.roles and (is_label or not _is_attribute(read, mark))
    ]  # fmt: skip
    right = [mark for mark in marks if "right" in mark.roles]
    negators = [mark for mark in marks if "negators" in mark.roles]
    if not (wrong or (right and negators)) or (wrong and negators):
        return False
    end = max(mark.end for mark in (wrong or [right[-1], *negators]))
    return not any("limiting" in mark.roles and 0 <= mark.start - end <= 2 for mark in marks)


def _is_attribute(read: _Read, mark: _Mark) -> bool:
    """Return True for an English adjective before its noun, "the false vacuum"."""
    if read.text[mark.start : mark.end] not in WRONG_WORDS or mark.place + 1 >= len(read.words):
        return False
    following = read.words[mark.place + 1]
    is_next = read.text[mark.end : following.start()] == " "
    is_marked = any(each.start == following.start() for each in read.within(following.start(), following.end() + 20))
    return is_next and not is_marked and following[0] not in _BEHIND_PREDICATE


def _has(read: _Read, low: int, high: int, role: str) -> bool:
    """Return True if a mark of a role lies within two offsets."""
    return any(role in mark.roles for mark in read.within(low, high))


# Rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula from offset `start` to `end`, in the clause number `place`."""

    place: int
    start: int
    end: int


def _is_denied_before(read: _Read, at: _Formula) -> bool:
    """Return True for "it is not true that A", "we must not write A", "a mistake is to take A"."""
    clause = read.clauses[at.place]
    low = clause.start
    if clause.opening == "," and read.n_words(low, at.start) <= 1 and _has(read, low, at.start, "stating"):
        low = read.clauses[at.place - 1].start  # "nimmt fälschlich an, dass A"
    if FORMULA in read.text[low : at.start]:
        return False
    marks = read.within(low, at.start)
    negators = [mark for mark in marks if "negators" in mark.roles]
    if any("mistakes" in mark.roles for mark in marks):
        return True
    if any("wrong" in mark.roles and not _is_attribute(read, mark) for mark in marks):
        return not negators
    return any(
        {"right", "stating"} & mark.roles
        and any(0 <= read.n_words(negator.end, mark.start) <= 2 and negator.end <= mark.start for negator in negators)
        and read.n_words(mark.end, at.start) <= _NEAR
        for mark in marks
    )


def _is_denied_behind(read: _Read, at: _Formula) -> bool:
    """Return True for "A is wrong here", "A does not apply"."""
    high = read.clauses[at.place].end
    following = read.text.find(FORMULA, at.end, high)
    return _says_wrong(read, at.end, high if following < 0 else following)


def _is_taken_back(read: _Read, at: _Formula) -> bool:
    """Return True if a later clause refers back and says that it is wrong, or takes back what stands before it."""
    own = read.clauses[at.place].sentence
    n_behind, last = 0, own
    for clause in _from(read.clauses, at.place + 1):
        is_same = clause.sentence == own
        n_behind += not is_same
        if FORMULA in read.text[clause.start : clause.end] or n_behind > _CLAUSES_BEHIND:
            return False
        if clause.sentence > own + 1 and read.n_words(read.clauses[at.place].end, clause.start) > _LABEL:
            return False
        if read.text[clause.start : clause.end].lstrip()[:1] == "#" or read.asks(clause):
            return False
        marks = read.within(clause.start, clause.end)
        early = [mark for mark in marks if read.n_words(clause.start, mark.start) <= _NEAR - 1]
        if any("retracting" in mark.roles for mark in early):
            return True
        begins = marks[0].start if marks else clause.end
        is_limited = bool(marks) and "limiting" in marks[0].roles and read.n_words(clause.start, begins) == 0
        refers = any("referring" in mark.roles for mark in early)
        is_first = clause.sentence > last and read.n_words(clause.start, begins) == 0
        is_verdict = is_first and bool(marks) and "wrong" in marks[0].roles  # "Nonsense."
        is_limited = is_limited or any("doubting" in mark.roles for mark in marks)
        if (refers or is_verdict) and not is_limited and _says_wrong(read, clause.start, clause.end):
            return True
        last = clause.sentence
    return False


def _is_bracketed(read: _Read, at: _Formula) -> bool:
    """Return True for "A (ignore this line)"."""
    if at.place + 1 >= len(read.clauses):
        return False
    clause = read.clauses[at.place + 1]
    if not clause.opening or clause.opening not in "(（" or read.text[at.end : clause.start].strip(" .,(（"):
        return False
    marks = read.within(clause.start, clause.end)
    if not marks or read.n_words(clause.start, marks[0].start) > 1:
        return False
    is_struck = any({"retracting", "struck"} & mark.roles for mark in marks)
    return is_struck or _says_wrong(read, clause.start, clause.end)


def _is_labelled(read: _Read, at: _Formula) -> bool:
    """Return True for "Not valid: A"."""
    first = read.clauses[read.firsts[read.clauses[at.place].sentence]].start
    before = read.text[first : at.start].rstrip(" *_\n")
    if before[-1:] not in (":", "："):
        return False
    low = first + before.rfind("\n") + 1
    if read.n_words(low, at.start) > _LABEL or _has(read, low, at.start, "referring"):
        return False
    is_struck = _has(read, low, at.start, "retracting") or _has(read, low, at.start, "struck")
    return is_struck or _says_wrong(read, low, at.start, is_label=True)


def _is_asked(read: _Read, at: _Formula) -> bool:
    """Return True for a question whether A, which nothing affirms; "what is v at A" states A."""
    clause = read.clauses[at.place]
    if _has(read, clause.start, at.start, "unsure"):
        return True
    if not read.asks(clause):
        return False
    answer = next(_from(read.clauses, at.place + 1), None)
    if answer is not None and answer.sentence == clause.sentence:
        return False
    first = read.clauses[read.firsts[clause.sentence]].start
    is_affirmed = answer is not None and any(
        "affirming" in mark.roles and read.n_words(answer.start, mark.start) == 0
        for mark in read.within(answer.start, answer.end)
    )
    return not is_affirmed and not _has(read, first, at.start, "asking")


def _is_supposed(read: _Read, at: _Formula) -> bool:
    """Return True for what is supposed, and leads to a contradiction in its sentence or one of the next two."""
    clause = read.clauses[at.place]
    low = clause.start
    for place in range(at.place - 1, -1, -1):
        earlier = read.clauses[place]
        if earlier.sentence != clause.sentence or read.n_words(low, at.start) > 2:
            break
        low = earlier.start
    if not (_has(read, low, at.start, "supposing") or _has(read, at.end, clause.end, "supposing")):
        return False
    near = takewhile(lambda other: other.sentence <= clause.sentence + 2, _from(read.clauses, at.place))
    return any(_has(read, max(other.start, at.end), other.end, "absurd") for other in near)


def _is_cited(read: _Read, at: _Formula) -> bool:
    """Return True for what somebody claims, "but" he has overlooked something."""
    clause = read.clauses[at.place]
    if not (_has(read, clause.start, at.start, "citing") or _has(read, at.end, clause.end, "citing")):
        return False
    following = read.clauses[at.place + 1] if at.place + 1 < len(read.clauses) else None
    return following is not None and following.sentence == clause.sentence and following.is_contrary


_RULES = (
    _is_denied_before,
    _is_denied_behind,
    _is_bracketed,
    _is_labelled,
    _is_asked,
    _is_taken_back,
    _is_supposed,
    _is_cited,
)
