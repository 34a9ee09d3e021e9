r"""Where delimited formulas stand in a solution, once `unread` has blanked what is not read.

Blocks are found in one left-to-right scan over the delimiters. An opener that never closes is passed over: what was
cut off may have changed the formula. Dollars do not tell opening from closing, so what reads as prose or money between
two is no block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prism.latex.words import word_set

# Every repetition in a pattern below is bounded or walks to the next mark, so that no text makes a scan quadratic.
MAX_GAP = 40  # characters of space between two blocks of which the second continues the first
_TAIL = 12  # characters at the end of a display in which an open sign is looked for

_DELIMITER = re.compile(r"\$|\\\(|\\\[|\\begin")
_MARK = re.compile(
    r"\\begin\{(?P<begin>[A-Za-z]{1,20})\*?\}|\\end\{(?P<end>[A-Za-z]{1,20})\*?\}"
    r"|\\(?P<box>boxed|fbox|framebox)\s{0,8}(?=\{)|\\\\[()\[\]]|\\[\s\S]|[${}]"
)
LAYOUTS = word_set(
    "equation align aligned alignat alignedat flalign gather gathered multline split eqnarray displaymath math"
    " dmath subequations empheq"
)
MAYBE_LAYOUTS = frozenset(("array", "cases", "dcases", "rcases"))  # also matrices and piecewise definitions
_BRACKETS = {r"\(": (r"\)", "inline"), r"\[": (r"\]", "display")}
_BRACKETS |= {r"\\(": (r"\\)", "inline"), r"\\[": (r"\\]", "display")}  # with the backslash escaped for Markdown
_SHOWN = re.compile(r"[^\n]")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_STOPWORDS_INLINE, _STOPWORDS_DISPLAY = 2, 4  # different ones make prose; a display may hold a remark
_IN_TEXT = re.compile(
    r"\\(?:text[a-z]*|mbox|hbox|intertext|mathrm|mathbf|operatorname\*?)\s{0,8}\{[^{}]*\}|\\[A-Za-z]+"
)
_WORD = re.compile(r"[A-Za-z]{4}")
_INDEX = re.compile(r"_\s*\{[^{}]*\}")  # `v_{empty}` is no word of a sentence
_STOPWORD = re.compile(
    r"(?<![\\A-Za-z_^{])(?:the|is|and|of|to|we|that|for|with|are|this|where|from|by|per|costs?|paid|or|so|has|in|it)"
    r"(?![A-Za-z}])",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*(?:[+×·]|\\(?:times|cdot|pm)(?![A-Za-z]))")
_STAYS_OPEN = re.compile(r"(?:(?<![_^])[-+=×·]|\\(?:times|cdot|approx)) *\s?$")


@dataclass(frozen=True, slots=True)
class Block:
    """One delimited stretch of a solution.

    Attributes:
        start, end: the content.
        kind: `display`, `inline`, `boxed` or `plain`.
        outer_start, outer_end: the content with its delimiters.
        members, signs: of a plain formula, which is written as LaTeX when it is found; as many signs as members if it
            begins with one.
    """

    start: int
    end: int
    kind: str
    outer_start: int
    outer_end: int
    members: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()


def has_delimiter(text: str, start: int, end: int) -> bool:
    """Whether a formula is delimited somewhere in this stretch."""
    return _DELIMITER.search(text, start, end) is not None


# Delimiters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marks:
    """Delimiters of a region in order, and where each kind stands: indices into `marks`, ascending."""

    marks: list[re.Match[str]]
    mate: dict[int, int]  # brace or environment: index of its partner
    places: dict[str, list[int]]  # `$$` stands at the first of its two dollars

    def next(self, word: str, after: int) -> int:
        """Index of the first such delimiter after a mark, or -1."""
        places = self.places[word]
        at = bisect_right(places, after)
        return places[at] if at < len(places) else -1


def _marks(text: str, start: int, end: int) -> _Marks:
    marks = list(_MARK.finditer(text, start, end))
    mate: dict[int, int] = {}
    opened: dict[str, list[int]] = {"{": []}
    places: dict[str, list[int]] = {word: [] for word in ("$", *_BRACKETS, *(close for close, _ in _BRACKETS.values()))}
    for at, mark in enumerate(marks):
        word = mark.group()
        if word in places:
            places[word].append(at)
        elif word == "{" or mark["begin"]:
            opened.setdefault(mark["begin"] or word, []).append(at)
        elif (word == "}" or mark["end"]) and (waiting := opened.get(mark["end"] or "{")):
            mate[waiting.pop()] = at
    places["$$"] = [one for one, two in pairwise(places["$"]) if marks[one].end() == marks[two].start()]
    return _Marks(marks, mate, places)


def delimited(text: str, start: int, end: int) -> list[Block]:
    """Delimited blocks of a region. An opener whose content reads as prose, or that never closes, is passed over."""
    found = _marks(text, start, end)
    pairs = frozenset(found.places["$$"])
    blocks: list[Block] = []
    at = 0
    while at < len(found.marks):
        mark = found.marks[at]
        word = mark.group()
        kind, close, width = "", -1, 1
        if at in pairs:
            kind, close, width = "display", found.next("$$", at + 1), 2
        elif word == "$":
            kind, close = "inline", found.next("$", at)
        elif word in _BRACKETS:
            closer, kind = _BRACKETS[word]
            close = found.next(closer, at)
            if -1 < found.next(word, at) < close:
                close = -1
        elif mark["begin"] in LAYOUTS or mark["begin"] in MAYBE_LAYOUTS:
            kind, close, width = "environment", found.mate.get(at, -1), 0
        elif mark["box"]:
            kind, close = "boxed", found.mate.get(at + 1, -1)
        block = _block(text, found, at, close, kind, width) if close >= 0 else None
        if block:
            blocks.append(block)
            at = close + max(width, 1)
        else:
            at += 2 if at in pairs else 1
    return blocks


def _block(text: str, found: _Marks, at: int, close: int, kind: str, width: int) -> Block | None:
    """The block between two marks, or None if what stands there is prose."""
    first, last = found.marks[at], found.marks[close]
    if kind == "environment":
        return Block(first.start(), last.end(), "display", first.start(), last.end())
    if kind == "boxed":
        return Block(found.marks[at + 1].end(), last.start(), "boxed", first.start(), last.end())
    start, end = found.marks[at + width - 1].end(), last.start()
    if first.group() == "$" and _is_prose(text, start, end, display=width == 2):
        return None
    if kind == "inline" and _BLANK_LINE.search(text, start, end):
        return None
    return Block(start, end, kind, first.start(), found.marks[close + width - 1].end())


def _is_prose(text: str, start: int, end: int, *, display: bool) -> bool:
    """Whether what stands between two dollars is prose or money."""
    content = text[start:end]
    if not content.strip():
        return True
    bare = _IN_TEXT.sub(" ", content)
    words = {word.lower() for word in _STOPWORD.findall(bare)}
    if display:
        return len(words) >= _STOPWORDS_DISPLAY
    if len(words) >= _STOPWORDS_INLINE:
        return True
    money = content[0].isdigit() and (bool(words) or _WORD.search(_INDEX.sub("", bare)) is not None)
    next_price = text[end + 1 : end + 2].isdigit() and (content[-1] in " -–/,(" or content[0].isdigit())
    return money or next_price


def blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with these spans as blanks; line ends stay, for a formula must not run over a blank line unseen."""
    if not spans:
        return text
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], _SHOWN.sub(" ", text[start:end])]
            position = end
    return "".join([*parts, text[position:]])


def merged(text: str, blocks: list[Block]) -> tuple[str, list[Block]]:
    r"""Put displays together where the second goes on with the sum or product of the first: `$$x = a$$ $$+ b$$`."""
    kept: list[Block] = []
    spans: list[tuple[int, int]] = []
    for block in blocks:
        last = kept[-1] if kept else block
        if (
            last.kind == block.kind == "display"
            and last.outer_end <= block.outer_start < last.outer_end + MAX_GAP
            and not text[last.outer_end : block.outer_start].strip()
            and (
                _GOES_ON.match(text, block.start, block.end)
                or _STAYS_OPEN.search(text, max(last.start, last.end - _TAIL), last.end)
            )
        ):
            spans.append((last.end, block.start))
            kept[-1] = replace(last, end=block.end, outer_end=block.outer_end)
        else:
            kept.append(block)
    return blank(text, spans), kept
