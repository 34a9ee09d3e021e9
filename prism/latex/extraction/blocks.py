r"""Where delimited formulas stand in a solution, once `masking` has blanked what is not read.

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
    r"|\\(?P<box>boxed|fbox|framebox)\s{0,8}(?=\{)|\\\\[()\[\]]|\\[\\${}()\[\]]|[${}]"
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
_TWO_LETTERS = re.compile(r"[A-Za-z\u017f\u0130\u0131]{2}")  # with the letters that `re.IGNORECASE` takes for s and i
_WORD = re.compile(r"[A-Za-z]{4}")
_INDEX = re.compile(r"_\s*\{[^{}]*\}")  # `v_{empty}` is no word of a sentence
_STOPWORD = re.compile(
    r"(?<![\\A-Za-z_^{])(?:the|is|and|of|to|we|that|for|with|are|this|where|from|by|per|costs?|paid|or|so|has|in|it)"
    r"(?![A-Za-z}])",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*(?:[+×·]|\\(?:times|cdot|pm)(?![A-Za-z]))")
_SUBTRACTS = re.compile(r"\s*[-−–](?:[^=<>≈≤≥\\]|\\(?!(?:approx|sim|simeq|propto|[lg]eq?|[lg]t|to)(?![A-Za-z])))*")
_GROUP_OF_TEXT = re.compile(r"\\(?:fbox|boxed|framebox|text[a-z]{0,8}|mbox|hbox)\s{0,8}\{\s{0,8}\Z")
_STAYS_OPEN = re.compile(r"(?:(?<![_^])[-+=×·]|\\(?:times|cdot|approx)) *\s?$")


@dataclass(frozen=True, slots=True)
class Block:
    """The place of one formula in a solution, with or without delimiters.

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
    r"""Return True if a delimiter that can open a formula stands between two offsets: `$`, `\(`, `\[` or `\begin`."""
    return _DELIMITER.search(text, start, end) is not None


# Delimiters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Delimiters:
    """The delimiters of a region of text, with their partners; `indices` maps each kind to its places in `marks`."""

    marks: list[re.Match[str]]
    partner: dict[int, int]  # brace or environment: index of its partner
    indices: dict[str, list[int]]  # `$$` stands at the first of its two dollars

    def next_index(self, delimiter: str, after: int) -> int:
        """Return the index of the first `delimiter` behind the mark with index `after`, or -1."""
        indices = self.indices[delimiter]
        at = bisect_right(indices, after)
        return indices[at] if at < len(indices) else -1


def _find_delimiters(text: str, start: int, end: int) -> _Delimiters:
    """Collect the delimiters between two offsets and pair the braces and environments among them."""
    marks = list(_MARK.finditer(text, start, end))
    partner: dict[int, int] = {}
    opened: dict[str, list[int]] = {"{": []}
    indices: dict[str, list[int]] = {
        word: [] for word in ("$", *_BRACKETS, *(close for close, _ in _BRACKETS.values()))
    }
    for at, mark in enumerate(marks):
        word = mark.group()
        if word in indices:
            indices[word].append(at)
        elif word == "{" or mark["begin"]:
            opened.setdefault(mark["begin"] or word, []).append(at)
        elif (word == "}" or mark["end"]) and (waiting := opened.get(mark["end"] or "{")):
            partner[waiting.pop()] = at
    if (waiting := opened["{"]) and marks[-1].group() == r"\}":  # `\boxed{185\}`, whose brace is escaped by mistake
        escaped = [mark.group() for mark in marks[waiting[-1] :]]
        if marks[waiting[-1] - 1]["box"] and escaped.count(r"\}") > escaped.count(r"\{"):
            partner[waiting[-1]] = len(marks) - 1
    indices["$$"] = [one for one, two in pairwise(indices["$"]) if marks[one].end() == marks[two].start()]
    return _Delimiters(marks, partner, indices)


def find_delimited_blocks(text: str, start: int, end: int) -> list[Block]:
    """Find the delimited formulas between two offsets; an opener that never closes, or encloses prose, is skipped."""
    delimiters = _find_delimiters(text, start, end)
    pairs = frozenset(delimiters.indices["$$"])
    blocks: list[Block] = []
    at = 0
    while at < len(delimiters.marks):
        mark = delimiters.marks[at]
        word = mark.group()
        kind, close, width = "", -1, 1
        if at in pairs:
            kind, close, width = "display", delimiters.next_index("$$", at + 1), 2
        elif word == "$":
            kind, close = "inline", _closing_dollar(delimiters, at)
        elif word in _BRACKETS:
            closer, kind = _BRACKETS[word]
            close = delimiters.next_index(closer, at)
            if -1 < delimiters.next_index(word, at) < close:
                close = -1
        elif mark["begin"] in LAYOUTS or mark["begin"] in MAYBE_LAYOUTS:
            kind, close, width = "environment", delimiters.partner.get(at, -1), 0
        elif mark["box"]:
            kind, close = "boxed", delimiters.partner.get(at + 1, -1)
        block = _make_block(text, delimiters, at, close, kind, width) if close >= 0 else None
        if block:
            blocks.append(block)
            at = close + max(width, 1)
        else:
            at += 2 if at in pairs else 1
    return blocks


def _closing_dollar(delimiters: _Delimiters, opening: int) -> int:
    r"""Return the index of the dollar that closes one, or -1; not that of a group inside: `$\fbox{$v = gt$}$`."""
    close = delimiters.next_index("$", opening)
    if close - opening <= 1 or delimiters.marks[close - 1].group() != "{":
        return close
    partner = delimiters.partner.get(close - 1, -1)
    inner = delimiters.next_index("$", close)
    is_inside = close < inner < partner and _GROUP_OF_TEXT.search(
        delimiters.marks[close].string, delimiters.marks[opening].end(), delimiters.marks[close].start()
    )
    return delimiters.next_index("$", partner) if is_inside else close


def _make_block(text: str, delimiters: _Delimiters, opening: int, closing: int, kind: str, width: int) -> Block | None:
    """Make the block between two delimiters, given by index; None if they enclose prose, or inline a blank line."""
    first, last = delimiters.marks[opening], delimiters.marks[closing]
    if kind == "environment":
        return Block(first.start(), last.end(), "display", first.start(), last.end())
    if kind == "boxed":
        return Block(delimiters.marks[opening + 1].end(), last.start(), "boxed", first.start(), last.end())
    start, end = delimiters.marks[opening + width - 1].end(), last.start()
    if first.group() == "$" and _is_prose_or_money(text, start, end, display=width == 2):
        return None
    if kind == "inline" and _BLANK_LINE.search(text, start, end):
        return None
    return Block(start, end, kind, first.start(), delimiters.marks[closing + width - 1].end())


def _is_prose_or_money(text: str, start: int, end: int, *, display: bool) -> bool:
    """Return True if the text between two dollar signs is blank, prose or an amount of money, and so no formula."""
    content = text[start:end]
    if not content.strip():
        return True
    bare = _IN_TEXT.sub(" ", content) if "\\" in content else content
    words = {word.lower() for word in _STOPWORD.findall(bare)} if _TWO_LETTERS.search(bare) else set()
    if display:
        return len(words) >= _STOPWORDS_DISPLAY
    if len(words) >= _STOPWORDS_INLINE:
        return True
    money = content[0].isdigit() and (bool(words) or _WORD.search(_INDEX.sub("", bare)) is not None)
    next_price = text[end + 1 : end + 2].isdigit() and (content[-1] in " -–/,(" or content[0].isdigit())
    return money or next_price


def blank_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace ascending spans by spaces, offsets unchanged; line ends stay: no formula runs over a blank line."""
    if not spans:
        return text
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], _SHOWN.sub(" ", text[start:end])]
            position = end
    return "".join([*parts, text[position:]])


def merge_continued_displays(text: str, blocks: list[Block]) -> tuple[str, list[Block]]:
    r"""Merge displays of which the second continues a sum or product of the first: `$$x = a$$ $$+ b$$`.

    With a minus only where it states nothing by itself: `$$-b = c$$` does.
    """
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
                or _SUBTRACTS.fullmatch(text, block.start, block.end)
                or _STAYS_OPEN.search(text, max(last.start, last.end - _TAIL), last.end)
            )
        ):
            spans.append((last.end, block.start))
            kept[-1] = replace(last, end=block.end, outer_end=block.outer_end)
        else:
            kept.append(block)
    return blank_spans(text, spans), kept
