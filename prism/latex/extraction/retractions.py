r"""What a sentence says without asserting it: denials, questions, and what is contrary to fact (semantics C.6).

They are found between the formulas, once those are known: "it is not true that A" takes A away, "the false vacuum has
A" does not. The lists are short on purpose, and complete. What a heading, a table or another
sentence says of a formula is found in `overruled`.

- Denials: `_BEHIND`, `_NEXT` and `_BEFORE` by which formulas they deny.
- Questions that may be answered by yes or no: "Is $v = gt$?" claims nothing, unless "yes" stands behind it. "What is v
  at $t = 2$ s?" states its formulas, and so does what is stated before the question: "With $a = 1$, is $b = 2$?".
- Contrary to fact: "if the answer were A, ...", "were it true that A", "this would give A, but ...". Suppositions as
  solutions make them ("suppose that A", "if A then B") are claims, and so is "the time would be A": many state their
  results so.

What is said in passing is a claim only where nothing else is said of the same, and takes nothing back: what *would* be,
what is measured or rejected, the other root, and the condition behind "for", "if" and "when" (`_PASSING`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prism.latex.extraction.blocks import Block
from prism.latex.extraction.overruled import FORMULA, SENTENCE_END, WRONG, overruled

_MAX_SENTENCE = 600  # characters on either side of a denial in which its sentence ends

_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_STATED = "answer|result|formula|equation|expression|solution|claim|statement|it|this|that"
_ADVERB = r"(?:(?:also|clearly|simply|certainly|obviously|therefore|thus|then|just|actually|definitely) ){0,2}"
_BEHIND = (  # denies the formulas behind it
    rf"\b(?:is|was|'s|be) {_ADVERB}{WRONG} (?:that|to)\b|\b(?:isn't|wasn't) (?:true|correct|right) (?:that|to)\b"
    r"|\b(?:incorrectly|mistakenly|wrongly|erroneously|falsely)\b|\btempted to (?:write|say|think|use)\b"
    r"|\b(?:might|may|could) (?:wrongly |naively )?think\b|\bwere it (?:true|the case|so) that\b"
    rf"|\bif (?:the |this |that |our |your )?(?:{_STATED}) were\b"
    r"|\b(?:this|that|it|which) would (?:give|mean|imply|yield|lead to)\b(?=[^.;]{0,200}\b(?:but|however|contradict\w*"
    r"|absurd|nonsens\w*|unphysical)\b)"
)
_NEXT = (  # denies the one right behind it
    r"(?:\b(?:is|are|was|does|do|did) not(?: simply| just)?(?: be| equal(?: to)?| give| imply| mean)?"
    r"|\b(?:isn't|aren't|doesn't|don't)(?: equal| give| imply| mean)?|\bnot equal to"
    r"|\bcan(?:not|'t| not) (?:be|equal|have)|\binstead of|\brather than|\b(?:and|but) not|, not"
    r"|\bif\b[^.;:]{0,80}\bwere(?: equal to| given by)?)"
    rf"\s{{1,3}}(?:that\s)?[\s*({{]{{0,6}}(?={FORMULA})"
)
_BEFORE = (  # denies those before it
    rf"\b(?:is|was|are|were|be|seems|looks|'s) {_ADVERB}{WRONG}\b(?! (?:that|to|for|if|unless|when|only)\b)"
    r"|\b(?:isn't|wasn't|aren't) (?:true|correct|right|valid)\b"
    r"|\b(?:does|do|did)(?: not|n't) hold\b(?! (?:for|if|unless|when)\b)"
    r"|\bcan(?:not|'t| not) be (?:true|right|correct)\b"
)
# Every branch begins with a word, a quote or a comma: asked first, that spares the others most of the text.
_DENIAL = re.compile(
    rf"(?:\b(?=[a-z'])|(?=,))(?:(?P<behind>{_BEHIND})|(?P<next>{_NEXT})|(?P<before>{_BEFORE}))", re.IGNORECASE
)
_TURN = re.compile(
    r";|:\s|[–—]|,?\s(?:but|however|instead|so|hence|therefore|thus|whereas|because|in fact|actually|rather)\b"
    r"|\bthe correct|\bcorrectly\b",
    re.IGNORECASE,
)
_BEFORE_TURN = re.compile(r"[;:,–—]|\s(?:but|so|hence|therefore|thus|while|whereas|and)\s", re.IGNORECASE)


_PASSING = re.compile(
    r"\b(?=[a-z])(?:(?P<behind>\b(?:would|could have|might have)\b|\bhad (?:we|it|the|there)\b"
    r"|\b(?:other|second|negative|extraneous|spurious) (?:root|solution)\b"
    r"|\b(?:measured|experimental|tabulated|literature|accepted) (?:value|result)s?\b)"
    rf"|(?P<next>\b(?:for|if|when|whenever|unless|provided(?: that)?)[\s*(]{{1,4}}(?={FORMULA}))"
    r"|(?P<before>\b(?:rejected|discarded|unphysical|extraneous|not physical(?:ly)?|excluded|to be rejected)\b))",
    re.IGNORECASE,
)
_NO_TURN = re.compile(r"(?!)")


# Questions --------------------------------------------------------------------------------------------------------

_ASKED = re.compile(r"\?(?=[\s*_)\"'”»]|$)")
_ASKS = re.compile(  # a verb where a clause begins
    r"(?:^[\s#>*_(\"“]*|[,:;.]\s{1,3}|\b(?:so|then|but|and|or|now|thus|hence)\s)\s{0,3}(?:is|are|was|were|does|do|did|can|could|would"
    r"|should|will|must|might|may|has|have|isn't|aren't|wasn't|doesn't|don't|didn't|can't|couldn't|wouldn't)\b",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN_QUESTION = re.compile(r"\b(?:what|which|who|where|when|why|how|whose|find)\b", re.IGNORECASE)
_ENDS_IN_FORMULA = re.compile(rf"{FORMULA}[\s)*_]{{0,4}}$")
_AFFIRMED = re.compile(
    r"[\s*_)\"'”»-]{0,12}(?:yes|yeah|yep|indeed|correct|right|true|certainly|of course|exactly"
    r"|it (?:is|does|has|can))\b",
    re.IGNORECASE,
)


def denied(text: str, blocks: Sequence[Block]) -> frozenset[int]:
    """Indices of the blocks, ascending in the text, that the text denies or only asks about."""
    shown = _shown(text, blocks)
    found: set[int] = set()
    for lo, hi in (*_denials(shown.text), *_questions(shown.text), *overruled(shown.text)):
        found.update(range(bisect_left(shown.starts, lo), bisect_left(shown.starts, hi)))
    return frozenset(found)


def in_passing(text: str, blocks: Sequence[Block]) -> frozenset[int]:
    """Indices of the blocks, ascending in the text, that their own sentence says in passing."""
    shown = _shown(text, blocks)
    found: set[int] = set()
    for mark in _PASSING.finditer(shown.text):
        if mark["behind"]:
            lo, hi = mark.end(), _end(shown.text, mark.end(), _NO_TURN)
        elif mark["next"]:
            lo, hi = mark.end(), mark.end() + 1
        else:
            lo, hi = _start(shown.text, mark.start()), mark.start()
        found.update(range(bisect_left(shown.starts, lo), bisect_left(shown.starts, hi)))
    return frozenset(found)


def _denials(shown: str) -> Iterator[tuple[int, int]]:
    """Stretches whose formulas are denied."""
    for mark in _DENIAL.finditer(shown):
        if mark["behind"]:
            yield mark.end(), _end(shown, mark.end(), _TURN)
        elif mark["next"]:
            yield mark.end(), mark.end() + 1
        else:
            yield _start(shown, mark.start()), mark.start()


def _questions(shown: str) -> Iterator[tuple[int, int]]:
    """Stretches of questions that may be answered by yes or no, and are not answered by yes."""
    ends = [mark.end() for mark in SENTENCE_END.finditer(shown)]
    for mark in _ASKED.finditer(shown):
        end = mark.start()
        before = bisect_right(ends, end)
        start = max(ends[before - 1] if before else 0, end - _MAX_SENTENCE)
        if FORMULA not in shown[start:end] or _AFFIRMED.match(shown, mark.end()):
            continue
        sentence = shown[start:end]
        if asks := _ASKS.search(sentence):
            yield start + asks.end(), end
        elif _ENDS_IN_FORMULA.search(sentence) and not _OPEN_QUESTION.search(sentence):
            yield start, end


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text with each character of a formula as one mark, without what has no width; where each block begins in it."""

    text: str
    starts: list[int]  # ascending


def _shown(text: str, blocks: Sequence[Block]) -> _Shown:
    parts: list[str] = []
    starts: list[int] = []
    position = length = 0
    for block in blocks:
        if block.outer_start >= position:
            before = _NO_WIDTH.sub("", text[position : block.outer_start])
            parts += [before, FORMULA * (block.outer_end - block.outer_start)]
            starts.append(length + len(before))
            length = starts[-1] + block.outer_end - block.outer_start
            position = block.outer_end
        else:  # inside the one before it
            starts.append(length - (position - block.outer_start))
    return _Shown("".join([*parts, _NO_WIDTH.sub("", text[position:])]), starts)


def _end(shown: str, start: int, turn: re.Pattern[str]) -> int:
    """Where the clause ends that begins here."""
    stop = min(len(shown), start + _MAX_SENTENCE)
    ends = [mark.start() for pattern in (SENTENCE_END, turn) if (mark := pattern.search(shown, start, stop))]
    return min(ends, default=stop)


def _start(shown: str, end: int) -> int:
    """Where the clause begins that ends here: behind the last turn that has a formula behind it."""
    lo = max(0, end - _MAX_SENTENCE)
    for mark in SENTENCE_END.finditer(shown, lo, end):
        lo = mark.end()
    for mark in _BEFORE_TURN.finditer(shown, lo, end):
        if FORMULA in shown[mark.end() : end]:
            lo = mark.end()
    return lo
