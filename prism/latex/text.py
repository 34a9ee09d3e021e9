r"""Find the formulas in a solution and cut them into pieces that `parse` reads one by one.

Three passes, each of one left-to-right scan. *Where*: the text is masked (comments, code, struck-out parts become
blanks of the same length, so offsets stay true) and cut into delimited blocks. *Lexing*: a block becomes items at
its top level; brace groups, matrices and piecewise definitions are one item each, so nothing inside is ever split.
*Pieces*: rows are cut at `\\`, rows into segments at commas, wide spaces, arrows and prose, and segments are put
together again where a cut would change the meaning (lists of values, continued sums, units).

A row that begins with a relation takes the left side of the row before it. Where only orderings connect the two,
the last member is taken instead: after `a < b`, the row `= c` says `b = c` and nothing about `a`.

Refused: regular expressions over whole blocks (they do not see nesting, and a text of one hundred thousand opening
brackets stops them), and reading a formula whose delimiter never closes (what was cut off may have changed it).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

MAX_TEXT = 200_000  # characters read of one solution; what follows is not looked at
MAX_FORMULAS = 2_000  # formulas of one solution; a text of nothing but `$a$` would give 60,000
_MAX_CARRIED = (
    1_000  # characters of a left side that is repeated in each row below it; longer ones would square the text
)
_MAX_NESTING = 4  # boxes in boxes and layouts in layouts; each level is scanned again
_MAX_BLOCK = 20_000  # characters of one delimited block; a longer one is handed on whole, for `parse` to refuse
_MAX_LINE = 200  # characters of an undelimited line that may be a formula
_MAX_OPEN_ROWS = 4  # rows over which one bracket may stay open


@dataclass(frozen=True, slots=True)
class LocatedFormula:
    r"""One formula and where it stands.

    Attributes:
        latex: what `parse` reads; differs from the source by what was carried over, unwrapped or dropped.
        span: offsets with `text[start:end]` the source; a boxed formula may lie inside the chain that it ends.
        kind: `display`, `inline`, `boxed`, `plain` (no delimiters), `thinking` (before the end of a thinking block).
        led: the source begins with a relation or follows an arrow such as `\Rightarrow`.
        block: ordinal of the delimited block, so that rows of one block can be told.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    led: bool = False
    block: int = 0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class _Block:
    start: int  # of the content
    end: int
    kind: str
    outer_start: int  # with the delimiters
    outer_end: int
    latex: str = ""  # of a plain line, already rewritten


@dataclass(frozen=True, slots=True)
class _Item:
    # relation operator comma wide column arrow weak prose break: may cut; open close: brackets; box text group other:
    # content; thin amp drop: space. `text`, `amp` and `weak` (a single arrow) are settled by what stands beside them.
    kind: str
    start: int
    end: int
    latex: str = ""  # replaces the source, if not empty
    inner: tuple[int, int] = (0, 0)  # content of a box, a text or a group


@dataclass(frozen=True, slots=True)
class _Left:
    """What a row that begins with a relation continues: first and last member so far, and whether `=` joins them."""

    first: str
    last: str
    is_equal: bool = True
    is_aligned: bool = False  # holds an alignment mark, so that a row below lines up with it


@dataclass(frozen=True, slots=True)
class _Piece:
    items: tuple[_Item, ...]
    led: bool
    is_remark: bool = False  # `(n > 0)` beside a formula; no row below continues it


def extract(text: str) -> tuple[LocatedFormula, ...]:
    r"""All formulas of a solution, in order of position. Never raises; what is malformed is left to `parse`.

    >>> [item.latex for item in extract(r"Then $$v &= at \\ &= 6.$$")]
    ['v = at', 'v = 6']
    """
    text, blocks = _mask(text[:MAX_TEXT])
    thoughts = _thoughts(text)
    cuts = [0, *(edge for thought in thoughts for edge in thought), len(text)]
    for start, end in pairwise(cuts):
        blocks += _blocks(text, start, end)
    blocks += _plain_lines(text, blocks)
    text, blocks = _merged(text, sorted(blocks, key=lambda block: (block.outer_start, block.outer_end)))
    found: list[LocatedFormula] = []
    left: _Left | None = None
    previous_end = 0
    for ordinal, block in enumerate(blocks):
        if len(found) >= MAX_FORMULAS:
            break
        if not _ADJACENT.fullmatch(text, previous_end, block.outer_start):
            left = None
        thought = thoughts[bisect_right(thoughts, (block.start, len(text))) - 1] if thoughts else (0, 0)
        is_thought = thought[0] <= block.start < thought[1]
        formulas, left = _read_block(text, block, left)
        found += [replace(item, kind="thinking" if is_thought else item.kind, block=ordinal) for item in formulas]
        previous_end = block.outer_end
    return tuple(sorted(found[:MAX_FORMULAS], key=lambda item: (item.span[0], -item.span[1])))


# Where: masking, thinking blocks, delimited blocks -------------------------------------------------------------

_ADJACENT = re.compile(r"[\s(]{0,40}")  # between `$m$` and `($= 5$ kg)`; no words, so the second continues the first
_NOT_READ = re.compile(
    r"^[ \t]*%[^\n]*"  # a comment of LaTeX
    r"|(?<!\S)~~(?=[^\s~])(?:[^~\n]|~(?!~)){1,400}~~(?![^\s.,;:!?)])"  # struck out in Markdown
    r"|(?<![`\\])(?P<tick>`{1,2})(?=[^\s`])(?P<code>[^`\n]{1,400})(?P=tick)(?!`)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[A-Za-z]*)[^`\n]*$", re.MULTILINE)
_READ_FENCES = _words("latex tex math markdown md")
_DELIMITER = re.compile(r"\$|\\\(|\\\[|\\begin")
_THOUGHT = re.compile(r"<(?P<close>/?)think(?:ing)?>", re.IGNORECASE)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}  # of pages that were saved as HTML
_QUOTED = re.compile(r"'(?:[\s.,;:)]|$)")  # ``a word'' in TeX quotes is no code


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with these spans as blanks; line ends stay, for a formula must not run over a blank line unseen."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], re.sub(r"[^\n]", " ", text[start:end])]
            position = end
    return "".join([*parts, text[position:]])


def _mask(text: str) -> tuple[str, list[_Block]]:
    """Blank what is not read; code fences that hold nothing but LaTeX come back as blocks."""
    blocks: list[_Block] = []
    spans: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark["fence"].startswith(opened["fence"]) and not mark["info"]:
            info = opened["info"].lower()
            if info in _READ_FENCES:
                spans += [opened.span(), mark.span()]
                if info not in ("markdown", "md") and not _DELIMITER.search(text, opened.end(), mark.start()):
                    blocks.append(_Block(opened.end(), mark.start(), "display", opened.start(), mark.end()))
            else:
                spans.append((opened.start(), mark.end()))
            opened = None
    text = _blank(text, spans)
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign.ljust(len(entity)))
    spans = []
    start = text.find("<!--")
    while start >= 0 and (end := text.find("-->", start + 4)) >= 0:
        spans.append((start, end + 3))
        start = text.find("<!--", end + 3)
    text = _blank(text, spans)
    spans = [m.span() for m in _NOT_READ.finditer(text) if not (m["code"] and _QUOTED.search(m["code"]))]
    return _blank(text, spans), blocks


def _thoughts(text: str) -> list[tuple[int, int]]:
    """Thinking blocks: closed ones, one left open to the end, and what stands before a lone closing tag."""
    spans: list[tuple[int, int]] = []
    opened: int | None = 0
    for count, mark in enumerate(_THOUGHT.finditer(text)):
        if not mark["close"]:
            if opened is None or count == 0:
                opened = mark.start()
        elif opened is not None:
            spans.append((opened, mark.end()))
            opened = None
    if opened is not None and (opened or _THOUGHT.match(text)):
        spans.append((opened, len(text)))
    return spans


_MARK = re.compile(
    r"\\begin\{(?P<begin>[A-Za-z]{1,20})\*?\}|\\end\{(?P<end>[A-Za-z]{1,20})\*?\}"
    r"|\\(?P<wrap>boxed|fbox|framebox|sout|xout)\s{0,8}(?=\{)|\\[\s\S]|[${}]"
)
_LAYOUTS = _words(
    "equation align aligned alignat alignedat flalign gather gathered multline split eqnarray displaymath math"
    " dmath subequations empheq"
)
_MAYBE_LAYOUTS = frozenset(("array", "cases", "dcases", "rcases"))  # also matrices and piecewise definitions
_CODE_ENVIRONMENTS = _words("comment verbatim lstlisting minted tikzpicture filecontents")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_IN_TEXT = re.compile(
    r"\\(?:text[a-z]*|mbox|hbox|intertext|mathrm|mathbf|operatorname\*?)\s{0,8}\{[^{}]*\}|\\[A-Za-z]+"
)
_STOPWORD = re.compile(
    r"(?<![\\A-Za-z_^{])(?:the|is|and|of|to|we|that|for|with|are|this|where|from|by|per|costs?|paid|or|so|has|in|it)"
    r"(?![A-Za-z}])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Marks:
    """Delimiters of a region in order, and where each kind of closer stands (indices into `marks`, ascending)."""

    marks: list[re.Match[str]]
    mate: dict[int, int]  # brace or environment: index of its partner
    dollars: list[int]
    pairs: list[int]  # first of two adjacent dollars
    places: dict[str, list[int]]

    def next(self, places: list[int], after: int) -> int:
        """Index of the first of `places` after a mark, or -1."""
        at = bisect_right(places, after)
        return places[at] if at < len(places) else -1


def _marks(text: str, start: int, end: int) -> _Marks:
    marks = list(_MARK.finditer(text, start, end))
    mate: dict[int, int] = {}
    braces: list[int] = []
    opened: dict[str, list[int]] = {}
    dollars: list[int] = []
    places: dict[str, list[int]] = {r"\(": [], r"\)": [], r"\[": [], r"\]": []}
    for at, mark in enumerate(marks):
        word = mark.group()
        if word == "{":
            braces.append(at)
        elif word == "}" and braces:
            mate[braces.pop()] = at
        elif word == "$":
            dollars.append(at)
        elif word in places:
            places[word].append(at)
        elif mark["begin"]:
            opened.setdefault(mark["begin"], []).append(at)
        elif mark["end"] and opened.get(mark["end"]):
            mate[opened[mark["end"]].pop()] = at
    pairs = [one for one, two in pairwise(dollars) if two == one + 1 and _touch(marks[one], marks[two])]
    return _Marks(marks, mate, dollars, pairs, places)


def _touch(one: re.Match[str], two: re.Match[str]) -> bool:
    return one.end() == two.start()


def _blocks(text: str, start: int, end: int) -> list[_Block]:
    """Delimited blocks of a region. An opener whose content reads as prose, or that never closes, is passed over."""
    found = _marks(text, start, end)
    pairs = frozenset(found.pairs)
    blocks: list[_Block] = []
    at = 0
    while at < len(found.marks):
        mark = found.marks[at]
        word = mark.group()
        kind, close, width = "", -1, 1
        if at in pairs:
            kind, close, width = "display", found.next(found.pairs, at + 1), 2
        elif word == "$":
            kind, close = "inline", found.next(found.dollars, at)
        elif word == r"\(":
            kind, close = "inline", found.next(found.places[r"\)"], at)
            if -1 < found.next(found.places[r"\("], at) < close:
                close = -1
        elif word == r"\[":
            kind, close = "display", found.next(found.places[r"\]"], at)
            if -1 < found.next(found.places[r"\["], at) < close:
                close = -1
        elif mark["begin"] in _LAYOUTS or mark["begin"] in _MAYBE_LAYOUTS:
            kind, close, width = "environment", found.mate.get(at, -1), 0
        elif mark["begin"] in _CODE_ENVIRONMENTS:
            at = found.mate.get(at, at)
        elif mark["wrap"]:
            close = found.mate.get(at + 1, -1)
            kind = "boxed" if mark["wrap"] in ("boxed", "fbox", "framebox") else ""
            if close >= 0 and not kind:
                at = close
        block = _block(text, found, at, close, kind, width) if kind and close >= 0 else None
        if block is None:
            at += 2 if at in pairs else 1
            continue
        blocks.append(block)
        at = close + max(width, 1)
    return blocks


_GOES_ON = re.compile(r"\s*(?:[+×·]|\\(?:times|cdot|pm)(?![A-Za-z]))")
_STAYS_OPEN = re.compile(r"(?:[-+=×·]|\\(?:times|cdot|approx)) *\s?$")


def _merged(text: str, blocks: list[_Block]) -> tuple[str, list[_Block]]:
    r"""Put displays together where the second goes on with the sum or product of the first: `$$x = a$$ $$+ b$$`."""
    merged: list[_Block] = []
    spans: list[tuple[int, int]] = []
    for block in blocks:
        last = merged[-1] if merged else block
        if (
            last.kind == block.kind == "display"
            and last.outer_end <= block.outer_start
            and block.outer_start - last.outer_end < 40
            and not text[last.outer_end : block.outer_start].strip()
            and (
                _GOES_ON.match(text, block.start, block.end)
                or _STAYS_OPEN.search(text, max(last.start, last.end - 12), last.end)
            )
        ):
            spans.append((last.end, block.start))
            merged[-1] = replace(last, end=block.end, outer_end=block.outer_end)
        else:
            merged.append(block)
    return _blank(text, spans), merged


def _block(text: str, found: _Marks, at: int, close: int, kind: str, width: int) -> _Block | None:
    """The block between two marks, or None if what stands there is prose."""
    first, last = found.marks[at], found.marks[close]
    if kind == "environment":
        return _Block(first.start(), last.end(), "display", first.start(), last.end())
    if kind == "boxed":
        return _Block(found.marks[at + 1].end(), last.start(), "boxed", first.start(), last.end())
    start = found.marks[at + width - 1].end()
    end = last.start()
    outer_end = found.marks[close + width - 1].end() if width == 2 else last.end()
    if first.group() == "$" and _is_prose(text, start, end, display=width == 2):
        return None
    if kind == "inline" and _BLANK_LINE.search(text, start, end):
        return None
    return _Block(start, end, kind, first.start(), outer_end)


def _is_prose(text: str, start: int, end: int, *, display: bool) -> bool:
    """Whether what stands between two dollars is prose or money: dollars do not tell opening from closing."""
    content = text[start:end]
    if not content.strip():
        return True
    words = {word.lower() for word in _STOPWORD.findall(_IN_TEXT.sub(" ", content))}
    if display:
        return len(words) >= 4
    if _BLANK_LINE.search(content) or len(words) >= 2:
        return True
    money = content[0].isdigit() and (bool(words) or re.search(r"[A-Za-z]{4}", _IN_TEXT.sub(" ", content)) is not None)
    next_price = text[end + 1 : end + 2].isdigit() and (content[-1] in " -–/,(" or content[0].isdigit())
    return money or next_price


# Lexing: a block as items at its top level ---------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<begin>\\begin\s{0,8}\{(?P<env>[A-Za-z]{1,20})\*?\})"
    r"|(?P<finish>\\end\s{0,8}\{[A-Za-z]{1,20}\*?\})"
    r"|(?P<row>\\\\(?:\*?[ \t]{0,8}\[\s{0,8}-?[\d.]{1,8}\s{0,8}[a-z]{2}\s{0,8}\])?"
    r"|\\(?:newline|tabularnewline|cr)(?![A-Za-z]))"
    r"|(?P<command>\\(?:(?:tag|operatorname|hspace|vspace)\*|[A-Za-z]+))"
    r"|(?P<escape>\\[\s\S])|(?P<brace>[{}])|(?P<script>[_^])|(?P<word>[A-Za-z]+)|(?P<space>[\s~]+)"
    r"|(?P<relation>:=|<=|>=|<<|>>|[=<>≈≃≅≡≤≥≪≫≠∝∼])|(?P<operator>[-+−–±∓*/×·÷])|(?P<arrow>[⇒⟹⇔⟺∴→⟶])"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<single>[\s\S])"
)
_OPTION = re.compile(r"\s{0,8}\[[^\[\]{}]{0,20}\]")

_RELATIONS = _words(
    "approx simeq cong sim equiv le leq leqslant ge geq geqslant ll gg ne neq propto lesssim gtrsim doteq"
    " triangleq coloneqq lt gt asymp approxeq in notin"
)
_EQUALITIES = frozenset(("=", ":=", "≈", "≃", "≅", "≡", "∼")) | {
    "\\" + name for name in ("approx", "simeq", "cong", "sim", "equiv", "doteq", "triangleq", "coloneqq", "approxeq")
}
_ARROWS = _words("Rightarrow Longrightarrow implies therefore iff Leftrightarrow Longleftrightarrow because")
_WEAK_ARROWS = frozenset(("rightarrow", "to", "longrightarrow", "leadsto"))  # a consequence, a limit or a transition
_WIDE = _words("quad qquad hfill enspace enskip")
_OPERATORS = _words("pm mp cdot times div ast")
_DROPPED = _words("nonumber notag displaystyle textstyle scriptstyle hline qedhere limits nolimits")
_DROPPED_WITH_ARGUMENT = _words(
    "tag tag* label phantom hphantom vphantom cancel bcancel xcancel sout xout color textcolor footnote vspace"
    " vspace* cancelto"
)
_WIDE_WITH_ARGUMENT = _words("hspace hspace*")
_BREAKS_WITH_ARGUMENT = _words("intertext shortintertext")
_BOXES = _words("boxed fbox framebox")
_TEXTS = _words("text textrm textbf textit textsf textnormal mbox hbox")
_FONTS = _words("mathrm mathbf mathit mathsf")
_STACKED = _words("overset underset stackrel")
_OPENERS = _words("langle lfloor lceil lbrace lbrack")
_CLOSERS = _words("rangle rfloor rceil rbrace rbrack")
_FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac"))


@dataclass(frozen=True, slots=True)
class _Tokens:
    tokens: list[re.Match[str]]
    mate: dict[int, int]  # `{` and `\begin`: index of the partner
    edits: list[tuple[int, int, str]]  # what is dropped or replaced, at any depth, ascending

    def argument(self, at: int) -> int:
        """Index of the `{` of the argument that follows, or -1 if it has none that closes."""
        following = at + 1
        while following < len(self.tokens) and self.tokens[following]["space"]:
            following += 1
        return following if following in self.mate and self.tokens[following]["brace"] else -1


def _tokens(text: str, start: int, end: int) -> _Tokens:
    tokens = list(_TOKEN.finditer(text, start, end))
    mate: dict[int, int] = {}
    braces: list[int] = []
    opened: list[int] = []
    marks: list[int] = []
    for at, token in enumerate(tokens):
        group = token.lastgroup
        if group == "brace":
            if token.group() == "{":
                braces.append(at)
            elif braces:
                mate[braces.pop()] = at
        elif group == "begin":
            opened.append(at)
        elif group == "finish" and opened:
            mate[opened.pop()] = at
        elif group == "command" or (group == "single" and token.group() == "$"):
            marks.append(at)
    found = _Tokens(tokens, mate, [])
    for at in marks:
        _edit(found, at, tokens[at])
    return found


def _edit(found: _Tokens, at: int, token: re.Match[str]) -> None:
    """Note what must not reach the parser from this token on: marks, what is hidden or cancelled, boxes."""
    name = token.group()[1:]
    if name in _DROPPED or name in _BOXES or not name:
        found.edits.append((token.start(), token.end(), " "))
    elif name in _DROPPED_WITH_ARGUMENT and (opening := found.argument(at)) >= 0:
        closing = found.mate[opening]
        end = found.tokens[closing].end()
        found.edits.append((token.start(), end, "1" if _fills_fraction(found, at, closing) else " "))


def _fills_fraction(found: _Tokens, at: int, closing: int) -> bool:
    """Whether what is dropped is all of a numerator or denominator, where a cancelled factor leaves 1."""
    tokens = found.tokens
    if at < 2 or closing + 1 >= len(tokens) or tokens[at - 1].group() != "{" or tokens[closing + 1].group() != "}":
        return False
    return tokens[at - 2].group() in _FRACTIONS or tokens[at - 2].group() == "}"


def _clean(text: str, start: int, end: int, edits: list[tuple[int, int, str]]) -> str:
    at = bisect_left(edits, (start, start, ""))
    if at == len(edits) or edits[at][0] >= end:
        return text[start:end]
    parts: list[str] = []
    while at < len(edits) and edits[at][0] < end:
        first, last, word = edits[at]
        if first >= start:
            parts += [text[start:first], word]
            start = last
        at += 1
    return "".join([*parts, text[start:end]])


def _items(text: str, found: _Tokens) -> Iterator[_Item]:
    """Top-level items; `_` and `^` with their argument, groups, and environments that are no layout are one item."""
    tokens = found.tokens
    at = 0
    joined: list[str] = []  # layouts we are in
    previous = _Item("break", 0, 0)
    has_script = False
    while at < len(tokens):
        token = tokens[at]
        if token["script"]:
            yield _Item("other", token.start(), token.end())
            has_script, at = True, at + 1
            continue
        if token["begin"]:
            item, last = _environment(text, found, at, previous, len(joined))
            if item.kind == "break":
                joined.append(token["env"])
        elif token["finish"]:
            if joined:
                joined.pop()
            item, last = _Item("break", token.start(), token.end()), at
        elif token["row"] and "multline" in joined:
            item, last = _Item("drop", token.start(), token.end()), at
        else:
            item, last = _item(text, found, at)
        if has_script and item.kind not in ("thin", "break", "amp"):
            item = replace(item, kind="other", latex="")
            has_script = False
        if item.kind not in ("thin", "drop") and not _is_brace_fence(text, item):
            previous = item
        yield item
        at = last + 1


def _environment(text: str, found: _Tokens, at: int, previous: _Item, depth: int) -> tuple[_Item, int]:
    """A layout is a row break, its rows being read as rows; any other environment is one item."""
    token = found.tokens[at]
    name = token["env"]
    closing = found.mate.get(at, -1)
    is_layout = name in _LAYOUTS
    if name in _MAYBE_LAYOUTS and closing >= 0 and depth < _MAX_NESTING:
        is_layout = previous.kind in _ROW_STARTS and _is_system(found, at, closing)
    if not is_layout:
        last = closing if closing >= 0 else at
        return _Item("other", token.start(), found.tokens[last].end()), last
    end = token.end()
    option = _OPTION.match(text, end)
    if option:
        end = option.end()
    last = at
    while last + 1 < len(found.tokens) and found.tokens[last + 1].start() < end:
        last += 1
    if name in ("array", "alignat", "alignedat") and (opening := found.argument(last)) >= 0:
        last = found.mate[opening]
    return _Item("break", token.start(), found.tokens[last].end()), last


_ROW_STARTS = _words("break arrow text amp comma wide")


@dataclass(frozen=True, slots=True)
class _Cell:
    has_relation: bool
    begins: bool  # with a relation
    ends: bool
    is_blank: bool  # nothing, or only words


def _is_system(found: _Tokens, at: int, closing: int) -> bool:
    """Whether the rows of an array are equations: a relation in each, and `&` only beside one or between two."""
    inner = at + 1
    if found.tokens[at]["env"] == "array" and (opening := found.argument(at)) >= 0:
        inner = found.mate[opening] + 1
    rows: list[list[_Cell]] = [[]]
    words: list[str] = []
    while inner <= closing:
        token = found.tokens[inner]
        word = token.group()
        name = word[1:] if token.lastgroup == "command" else ""
        if inner == closing or word == "&" or token.lastgroup == "row":
            marks = [mark for mark in words if mark not in "{}"] or [""]
            rows[-1].append(_Cell("=" in marks, marks[0] == "=", marks[-1] == "=", marks == [""]))
            words = []
            if token.lastgroup == "row":
                rows.append([])
        elif name in _TEXTS and (opening := found.argument(inner)) >= 0:
            inner = found.mate[opening]
        elif inner in found.mate and (token["begin"] or words.count("{") < len(words)):
            inner = found.mate[inner]  # of what stands in groups, only a group that is a whole cell is looked into
            words.append("x")
        elif token.lastgroup != "space":
            words.append("=" if token["relation"] or name in _RELATIONS else word if word in "{}" else "x")
        inner += 1
    filled = [row for row in rows if not all(cell.is_blank for cell in row)]
    return bool(filled) and all(_is_equation_row(row) for row in filled)


def _is_equation_row(row: Sequence[_Cell]) -> bool:
    for at, cell in enumerate(row):
        follows = at > 0 and row[at - 1].ends
        precedes = at + 1 < len(row) and row[at + 1].begins
        if not (cell.has_relation or cell.is_blank or follows or precedes):
            return False
    return any(cell.has_relation for cell in row)


def _item(text: str, found: _Tokens, at: int) -> tuple[_Item, int]:
    """The item that begins at a token, and the index of its last token."""
    token = found.tokens[at]
    start, end = token.span()
    group, word = token.lastgroup, token.group()
    if group == "command":
        return _command(text, found, at)
    if word == "{" and at in found.mate:
        last = found.mate[at]
        inner = (end, found.tokens[last].start())
        if inner[1] - inner[0] < _LONGEST_RELATION and _is_relation(text[slice(*inner)].strip()):
            return _Item("relation", start, found.tokens[last].end(), text[slice(*inner)].strip()), last
        if last == at + 1 and text[inner[1] + 1 : inner[1] + 2] not in ("^", "_"):
            return _Item("thin", start, found.tokens[last].end()), last
        return _Item("group", start, found.tokens[last].end(), inner=inner), last
    if group == "word":
        lone = word in _BARE_WORDS and text[start - 1 : start].isspace() and text[end : end + 1].isspace()
        return _Item("prose" if lone else "other", start, end, inner=(start, end)), at
    if group == "relation":
        return _Item(group, start, end, _ASCII_RELATIONS.get(word, "")), at
    if group == "arrow":
        return _Item("weak" if word in "→⟶" else "arrow", start, end), at
    if word == "," and text[start - 1 : start].isdigit() and text[end : end + 1].isdigit():
        return _Item("other", start, end), at  # `334,000` and `3,5`; a list stays whole without a cut
    return _Item(
        _KINDS.get(group or "") or _SINGLES.get(word, "thin" if group == "escape" else "other"), start, end
    ), at


_KINDS = {"operator": "operator", "row": "break", "space": "thin"}
_LONGEST_RELATION = 20
_ASCII_RELATIONS = {"<<": r"\ll ", ">>": r"\gg ", "<=": r"\le ", ">=": r"\ge "}
_SINGLES = {
    "&": "amp",
    ",": "comma",
    ";": "comma",
    "(": "open",
    "[": "open",
    ")": "close",
    "]": "close",
    "$": "drop",
} | {r"\{": "open", r"\}": "close", r"\%": "other", r"\|": "other", r"\&": "other", r"\$": "other", r"\#": "other"}


def _is_relation(word: str) -> bool:
    return word in ("=", "<", ">", ":=") or (word[:1] == "\\" and word[1:] in _RELATIONS)


def _command(text: str, found: _Tokens, at: int) -> tuple[_Item, int]:
    token = found.tokens[at]
    name = token["command"][1:]
    start, end = token.span()
    simple = _SIMPLE.get(name)
    if simple:
        return _Item(simple, start, end), at
    if name in ("left", "right"):
        return _fence(found, at, "open" if name == "left" else "close")
    if name == "not" and at + 1 < len(found.tokens) and found.tokens[at + 1]["relation"]:
        word = r"\neq " if found.tokens[at + 1].group() == "=" else ""
        return _Item("relation", start, found.tokens[at + 1].end(), word), at + 1
    opening = found.argument(at)
    if opening < 0:
        return _Item("other", start, end), at
    last = found.mate[opening]
    inner = (found.tokens[opening].end(), found.tokens[last].start())
    whole = found.tokens[last].end()
    if name in _DROPPED_WITH_ARGUMENT:
        return _Item("drop", start, whole), last
    if name in _WIDE_WITH_ARGUMENT:
        return _Item("wide", start, whole), last
    if name in _BREAKS_WITH_ARGUMENT:
        return _Item("break", start, whole), last
    if name in _BOXES:
        return _Item("box", start, whole, inner=inner), last
    if name in _TEXTS or (name in _FONTS and text[slice(*inner)].strip() in _BARE_WORDS):
        return _Item("text", start, whole, inner=inner), last
    if name in _STACKED and (second := found.argument(last)) >= 0:
        word = text[found.tokens[second].end() : found.tokens[found.mate[second]].start()].strip()
        if _is_relation(word) and "?" not in text[slice(*inner)]:
            return _Item("relation", start, found.tokens[found.mate[second]].end(), word + " "), found.mate[second]
    return _Item("other", start, end), at


_SIMPLE = {
    name: kind
    for kind, names in {
        "relation": _RELATIONS,
        "operator": _OPERATORS,
        "arrow": _ARROWS,
        "weak": _WEAK_ARROWS,
        "wide": _WIDE,
        "drop": _DROPPED,
        "open": _OPENERS,
        "close": _CLOSERS,
    }.items()
    for name in names
}


def _fence(found: _Tokens, at: int, kind: str) -> tuple[_Item, int]:
    r"""`\left` or `\right` with its delimiter."""
    last = at + 1
    while last < len(found.tokens) and found.tokens[last]["space"]:
        last += 1
    if last >= len(found.tokens):
        return _Item("other", *found.tokens[at].span()), at
    return _Item(kind, found.tokens[at].start(), found.tokens[last].end()), last


# Pieces: rows, segments, and what is put together again --------------------------------------------------------

_CONNECTIVES = _words(
    "and or where for with when if then hence thus therefore since because so gives giving implies while but that which"
    " using from at as i.e. i.e., i.e is are say say. otherwise otherwise. whereas let we to on by also both note"
)
# In mathematics, without `\\text`, only words that no product of symbols spells: `v = at` is one.
_BARE_WORDS = _words("and or where for with when then hence thus therefore since because while")
_JOINING = _words("and or to")
_QUALIFIERS = _words(
    "constant const const. even odd integer integers large small only respectively approximately approx approx. given"
    " any all always yes no above below"
)
_LABEL = re.compile(
    r"(?:(?:part|case|answer|final answer|step|eq|question)\b)?[\s.]*"
    r"(?:\(\s*[A-Za-z0-9]{1,4}\s*\)|[A-Za-z0-9]{1,4}\s*[):]|[:.])[\s:.]*"
    r"|(?:part|case|answer|final answer)[\s:.]*",
    re.IGNORECASE,
)
_EQUATION_NUMBER = re.compile(r"[(\[]\s*(?:\d{1,3}(?:\.\d{1,3}){0,3}[a-z]?'?|[ivx]{1,4}|\*{1,3})\s*[)\]]")
_UNITS = _words(
    "m s g kg N J W K Pa V A C Hz T F H Wb S L h min rad sr mol eV cm mm km nm pm fm µm μm um ms µs μs us ns ps mg kN"
    " MN mN kJ MJ mJ kW MW mW GW kV mV mA kHz MHz GHz THz kPa MPa GPa hPa keV MeV GeV TeV meV nC pC nF pF mH mT mmol"
    " kmol kcal cal erg dyn ft mi lb psi Torr hp Nm Js Ns rpm atm bar kWh Wh Ω kΩ MΩ Å °C °F dB u amu mL rev deg"
    " % \\%"
)
_LONG_NAMES = _words(
    "meter:m metre:m second:s newton:N joule:J watt:W kelvin:K pascal:Pa volt:V ampere:A coulomb:C tesla:T ohm:Ω"
    " kilogram:kg gram:g hour:h minute:min radian:rad kilometer:km kilometre:km centimeter:cm millimeter:mm"
    " nanometer:nm degree:deg day:day"
)
_LONG_UNITS = {name.partition(":")[0] + ending: name.partition(":")[2] for name in _LONG_NAMES for ending in ("", "s")}
_UNIT = "(?:" + "|".join(map(re.escape, sorted((*_UNITS, *_LONG_UNITS), key=lambda name: (-len(name), name)))) + ")"
_UNIT_EXPRESSION = re.compile(
    rf"(?:1(?=/))?{_UNIT}(?:\^?\{{?[-−]?\d\}}?|[²³]|⁻[¹²³])?(?:[/·⋅.]{_UNIT}(?:\^?\{{?[-−]?\d\}}?|[²³]|⁻[¹²³])?){{0,4}}"
)
_UNIT_AFTER = re.compile(
    rf"(?:[ ~]|\\,|\\ |(?=%|°|[A-Za-zμµ]{{2}}|[a-z]/)){_UNIT_EXPRESSION.pattern}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])"
)
_LETTER_OR_UNIT = frozenset("ACFHLSTu")  # alone these are units only before a stop: `$n = 2$ A charge ...`
_POWER_OF_TEN = r"10\s*\^\s*(?:\{\s*[-+−]?\s*\d+\s*\}|\d)"
_ROW_LABEL = re.compile(r"\(\s*(?:[a-h]|i{1,3}|iv|v)\s*\)")
_SPACINGS = frozenset((r"\;", r"\:", r"\>", "\\ "))
_WORD = re.compile(r"[^\s~]+")
_NUMBER = re.compile(
    rf"[-+−]?\s*(?:\d[\d.,]{{0,30}}(?:\{{,\}}\d{{3}}){{0,6}}"
    rf"(?:\s*(?:\\times|\\cdot|×|·)\s*{_POWER_OF_TEN})?|{_POWER_OF_TEN})"
)
_RAISED = re.compile("⁻?[¹²³]")
_RAISED_DIGITS = str.maketrans("¹²³⁻", "123-")
_EMPTY = _words("thin drop amp")
_SPACES = _EMPTY | {"wide"}
_TRIMMED = _EMPTY | {"wide", "column", "comma", "prose"}


def _read_block(text: str, block: _Block, left: _Left | None) -> tuple[list[LocatedFormula], _Left | None]:
    """Formulas of one block, in order, and what a following block may continue."""
    if block.latex:
        return [LocatedFormula(block.latex, (block.start, block.end), "plain")], None
    if block.end - block.start > _MAX_BLOCK:
        whole = text[block.start : block.end].strip()
        return [LocatedFormula(whole, (block.start, block.end), block.kind)] if whole else [], None
    if block.kind == "boxed":
        found, left = _read_box(text, block.start, block.end, left, False, 0)
    else:
        found, left = _read(text, block.start, block.end, block.kind, left, 0)
    if found and left and block.kind in ("inline", "boxed") and _NUMBER.fullmatch(left.last):
        return _with_unit(text, block.outer_end, found), left
    return found, left


def _with_unit(text: str, end: int, found: list[LocatedFormula]) -> list[LocatedFormula]:
    r"""Add the unit that stands after the delimiter, as in `$T = 242$ s`."""
    after = _UNIT_AFTER.match(text, end)
    if not after:
        return found
    word = after.group().removeprefix("\\,").strip(" ~\\")
    follows = text[after.end() : after.end() + 1]
    if word in _LETTER_OR_UNIT and follows and follows not in ".,;:)\n":
        return found
    unit = _unit_latex(word)
    last = max(item.span[1] for item in found)
    return [
        replace(item, latex=item.latex + unit, span=(item.span[0], after.end())) if item.span[1] == last else item
        for item in found
    ]


def _unit_latex(word: str) -> str:
    r"""A unit as it stands in prose, in LaTeX: by its symbol, with powers as `^{-1}`.

    >>> print(_unit_latex("kg·m⁻³"), _unit_latex("meters"), _unit_latex("°C"))
    \,\unit{kg·m^{-3}} \,\unit{m} ^{\circ}\mathrm{C}
    """
    if word in ("%", r"\%"):
        return r"\%"
    if word in ("°C", "°F"):
        return rf"^{{\circ}}\mathrm{{{word[1]}}}"
    symbol = _RAISED.sub(lambda power: f"^{{{power.group().translate(_RAISED_DIGITS)}}}", _LONG_UNITS.get(word, word))
    return rf"\,\unit{{{symbol}}}"


def _read(
    text: str, start: int, end: int, kind: str, left: _Left | None, level: int
) -> tuple[list[LocatedFormula], _Left | None]:
    found = _tokens(text, start, end)
    formulas: list[LocatedFormula] = []
    lefts = [left] if left else []
    for row in _joined_rows(text, list(_items(text, found))):
        inner = [item for item in row if item.kind not in _TRIMMED]
        if level < _MAX_NESTING and _is_grouped(text, inner):
            for group in inner:
                more, after = _read(text, *group.inner, kind, lefts[-1] if lefts else None, level + 1)
                formulas += more
                lefts = [after] if after else lefts
            continue
        pieces = _pieces(text, _settled(text, row))
        if not pieces:
            continue
        paired = len(pieces) == len(lefts) > 1 and all(piece.items[0].kind == "relation" for piece in pieces)
        aligned = [other for other in lefts if other.is_aligned]
        current = (aligned if len(aligned) == 1 else [None, *lefts])[-1]
        after_row: list[_Left] = []
        for at, piece in enumerate(pieces):
            more, current = _emit(text, found, piece, lefts[at] if paired else current, kind, level)
            formulas += more
            after_row += [current] if current and not piece.is_remark else []
        lefts = after_row or lefts
        if len(formulas) >= MAX_FORMULAS:
            break
    return formulas, lefts[-1] if lefts else None


_BRACED_RELATION = re.compile(r"(?:[=<>]|\\(?:approx|le|ge|leq|geq)(?![A-Za-z]))")


def _is_grouped(text: str, items: Sequence[_Item]) -> bool:
    """Whether a row is one pair of braces, or one after the other with an equation in each."""
    if not items or any(item.kind != "group" for item in items):
        return False
    return len(items) == 1 or all(_BRACED_RELATION.search(text, *item.inner) for item in items)


def _joined_rows(text: str, items: Sequence[_Item]) -> list[list[_Item]]:
    """Rows of a block; a row that only continues a sum, a product or a bracket is put to the row before it."""
    rows: list[list[_Item]] = [[]]
    for item in items:
        if item.kind == "break":
            rows.append([])
        else:
            rows[-1].append(item)
    rows = [row for row in rows if any(item.kind not in _EMPTY and not _is_brace_fence(text, item) for item in row)]
    opened = [_open_brackets(text, row) for row in rows]
    joined: list[list[_Item]] = []
    open_rows = 0
    for at, row in enumerate(rows):
        if joined and (open_rows > 0 or _continues(text, joined[-1], row)):
            if open_rows:
                _drop_empty_fences(text, joined[-1], row)
            joined[-1] += [_Item("drop", row[0].start, row[0].start), *row]  # in place of the row end
            open_rows = max(0, open_rows - 1)
            continue
        joined.append(row)
        total = 0
        for ahead in range(at, min(at + _MAX_OPEN_ROWS, len(rows))):
            total += opened[ahead]
            if ahead > at and total <= 0 < opened[at]:
                open_rows = ahead - at
                break
    return joined


def _drop_empty_fences(text: str, before: list[_Item], row: list[_Item]) -> None:
    r"""Where a bracket runs over a row end, `\right.` and `\left.` pair with nothing; both are dropped in place."""
    for items, step in ((before, -1), (row, 1)):
        at = len(items) - 1 if step < 0 else 0
        while 0 <= at < len(items) and items[at].kind in _EMPTY:
            at += step
        if 0 <= at < len(items) and text[items[at].start : items[at].end].replace(" ", "") in (r"\right.", r"\left."):
            items[at] = replace(items[at], kind="drop")


def _is_brace_fence(text: str, item: _Item) -> bool:
    r"""`\left\{` and its like: around a layout they bracket rows and mean nothing in a row."""
    if item.kind not in ("open", "close"):
        return False
    return text[item.start : item.end].replace(" ", "") in _BRACE_FENCES


_BRACE_FENCES = _words(r"\{ \} \left\{ \right\} \left. \right. \lbrace \rbrace \left\lbrace \right\rbrace")


def _open_brackets(text: str, row: Sequence[_Item]) -> int:
    r"""Round and square brackets left open (or closed too often, negative)."""
    total = 0
    for item in row:
        if item.kind in ("open", "close") and text[item.end - 1] in "()[]":
            total += 1 if item.kind == "open" else -1
    return total


def _continues(text: str, before: Sequence[_Item], row: Sequence[_Item]) -> bool:
    last = next((item for item in reversed(before) if item.kind not in _SPACES), None)
    first = next((item for item in row if item.kind not in _SPACES), None)
    if last is None or first is None:
        return False
    if last.kind in ("relation", "operator"):
        return first.kind != "relation"
    if first.kind != "operator" or last.kind in ("comma", "arrow", "prose"):
        return False
    is_minus = text[first.start : first.end] in ("-", "−", "–")
    return not (is_minus and any(item.kind == "relation" for item in row))


def _settled(text: str, row: Sequence[_Item]) -> list[_Item]:
    """Decide by their neighbours what words, `<`, `&` and `→` of a row are; turn remarks in brackets into prose."""
    items = _gaps(text, _brackets(text, _averages(text, _evaluated(text, _without_label(text, row)))))
    settled: list[_Item] = []
    has_relation = False
    for at, item in enumerate(items):
        kind = item.kind
        if kind in ("text", "amp"):
            before, after = _neighbour(items, at, -1), _neighbour(items, at, 1)
            if kind == "amp" and has_relation and _separates(items, at, before, after):
                kind = "column"
            elif kind == "text":
                end = _end_of_units(text, item) if before and before.kind in ("other", "group", "close") else 0
                if end:
                    settled.append(_Item("other", item.start, end, rf"\text{{{text[item.inner[0] : end]}}}"))
                    settled.append(_Item("prose", end, item.end, inner=(end, item.inner[1])))
                    continue
                kind = _text_kind(text[slice(*item.inner)], before, after)
        has_relation = kind == "relation" or (has_relation and kind not in ("wide", "column"))
        settled.append(item if kind == item.kind else replace(item, kind=kind))
    return _arrows(_without_remarks(settled))


def _end_of_units(text: str, item: _Item) -> int:
    r"""Where the units of `5 \text{ m and }` end, if words follow them; else 0."""
    end = 0
    for word in _WORD.finditer(text, *item.inner):
        if not _UNIT_EXPRESSION.fullmatch(word.group().rstrip(".,;")):
            return end
        end = word.start() + len(word.group().rstrip(".,;"))
    return 0


def _without_label(text: str, row: Sequence[_Item]) -> Sequence[_Item]:
    r"""Drop `(a)` at the head of a row, where it is no factor: `(a) \; x = 5`."""
    inner = [at for at, item in enumerate(row[:12]) if item.kind not in _EMPTY][:4]
    if len(inner) < 4 or inner[2] + 1 == inner[3] or row[inner[3]].kind == "open":
        return row
    is_label = _ROW_LABEL.fullmatch(text[row[inner[0]].start : row[inner[2]].end])
    return row[inner[2] + 1 :] if is_label else row


def _evaluated(text: str, row: Sequence[_Item]) -> Sequence[_Item]:
    r"""Move a `\left.` that stands before relations behind the last: `\left.= F = G\right|_a^b` evaluates only G."""
    if not any(item.kind == "open" and text[item.end - 1] == "." for item in row):
        return row
    items = list(row)
    opened: list[int] = []
    relations: dict[int, int] = {}  # opening bracket: last relation directly inside
    moved: dict[int, int] = {}
    for at, item in enumerate(items):
        if item.kind == "open":
            opened.append(at)
        elif item.kind == "close" and opened:
            opening = opened.pop()
            if opening in relations and text[items[opening].end - 1] == ".":
                moved[relations[opening]] = opening
        elif item.kind == "relation" and opened:
            relations[opened[-1]] = at
    for relation, opening in moved.items():
        items[opening] = replace(items[opening], kind="drop")
        items[relation] = replace(items[relation], kind="moved")
    settled: list[_Item] = []
    for item in items:
        settled.append(replace(item, kind="relation") if item.kind == "moved" else item)
        if item.kind == "moved":
            settled.append(_Item("open", item.end, item.end, r"\left."))
    return settled


def _gaps(text: str, row: Sequence[_Item]) -> list[_Item]:
    r"""Two spacing commands, as in `x = 3\;\;y = 4`, part two formulas if each has a relation."""
    items = list(row)
    ahead = False  # a relation comes before the next separator
    relation_follows = [False] * len(items)
    for at in range(len(items) - 1, -1, -1):
        relation_follows[at] = ahead
        if items[at].kind in ("relation", "comma", "wide", "arrow"):
            ahead = items[at].kind == "relation"
    behind, run, last = False, 0, ""
    for at, item in enumerate(items):
        run = run + 1 if item.kind == "thin" and text[item.start : item.end] in _SPACINGS else 0
        after = _neighbour(items, at, 1) if run == 2 and behind and relation_follows[at] else None
        if after and last not in ("relation", "operator") and after.kind not in ("relation", "operator"):
            items[at] = replace(item, kind="wide")
            behind = False
        if item.kind in ("relation", "comma", "wide", "arrow"):
            behind = item.kind == "relation"
        last = item.kind if item.kind not in _EMPTY else last
    return items


def _separates(items: Sequence[_Item], at: int, before: _Item | None, after: _Item | None) -> bool:
    """Whether `&` stands between two equations of one row, and not beside the relation that it aligns."""
    while at + 1 < len(items) and items[at + 1].kind in ("thin", "drop"):
        at += 1
    if at + 1 < len(items) and items[at + 1].kind == "amp":
        return True  # `= 3 & &= 4`
    beside = [other.kind for other in (before, after) if other is not None]
    return len(beside) == 2 and not {"relation", "operator"} & set(beside)


def _neighbour(items: Sequence[_Item], at: int, step: int) -> _Item | None:
    """The next item that is more than space, to the right or to the left."""
    at += step
    while 0 <= at < len(items) and items[at].kind in _EMPTY:
        at += step
    return items[at] if 0 <= at < len(items) else None


def _text_kind(content: str, before: _Item | None, after: _Item | None) -> str:
    r"""`prose`, or `other` for an operand or a unit."""
    words = content.replace("~", " ").replace("\\,", " ").split()
    if not content.strip(" ~.,;:()\\"):
        return "prose"
    if all(_UNIT_EXPRESSION.fullmatch(word.rstrip(".,;")) for word in words):
        return "other"
    lower = [word.strip("(),;").lower() for word in words]
    if ":" in content or _LABEL.fullmatch(content.strip()) or (words[0][0] == "(" and words[-1][-1] == ")"):
        return "prose"
    if lower[0] in _CONNECTIVES or lower[-1] in _CONNECTIVES or words[0][0] == "(":
        return "prose"
    follows_relation = before is not None and before.kind == "relation"
    if len(words) == 1:
        return "prose" if lower[0] in _QUALIFIERS and not follows_relation else "other"
    beside = follows_relation or (before is not None and before.kind == "operator")
    beside = beside or (after is not None and after.kind in ("relation", "operator"))
    return "other" if beside else "prose"


def _averages(text: str, row: Sequence[_Item]) -> list[_Item]:
    """`<x>` is an average where `<` has nothing before it and `>` is the next relation."""
    items = list(row)
    following = -1  # index of the next relation to the right
    nexts: dict[int, int] = {}
    for at in range(len(items) - 1, -1, -1):
        if items[at].kind == "relation":
            nexts[at] = following
            following = at
    before = ""
    for at, item in enumerate(items):
        close = nexts.get(at, -1)
        is_pair = (
            close >= 0 and text[item.start : item.end] == "<" and text[items[close].start : items[close].end] == ">"
        )
        if is_pair and before not in ("other", "group", "close", "text", "box"):
            items[at] = replace(item, kind="open", latex=r"\langle ")
            items[close] = replace(items[close], kind="close", latex=r"\rangle ")
        if item.kind not in _EMPTY:
            before = items[at].kind
    return items


def _brackets(text: str, row: Sequence[_Item]) -> list[_Item]:
    r"""Pair kets and bras: `|a, b\rangle` opens at its bar, `\langle a| =` closes at it; what is unpaired, nowhere."""
    items = list(row)
    opened: list[int] = []
    bars: list[int] = []
    for at, item in enumerate(items):
        source = text[item.start : item.end]
        if source == r"\langle" or item.latex == r"\langle ":
            opened.append(at)
        elif source == "|" and item.kind == "other":
            following = _neighbour(items, at, 1)
            if opened and (following is None or following.kind in ("relation", "operator", "comma")):
                opened.pop()
                items[at] = replace(item, kind="close")
            else:
                bars.append(at)
        elif source == r"\rangle" or item.latex == r"\rangle ":
            if opened:
                opened.pop()
            elif bars:
                bar = bars.pop()
                items[bar] = replace(items[bar], kind="open")
            else:
                items[at] = replace(item, kind="other")
    for at in opened:
        items[at] = replace(items[at], kind="other")
    return items


def _without_remarks(items: Sequence[_Item]) -> list[_Item]:
    r"""A bracket that stands apart and holds prose, `(\text{since } a = b)`, becomes one prose item."""
    kept: list[_Item] = []
    opened: list[tuple[int, bool]] = []  # where in `kept`, and whether it stands apart
    prose = 0
    counts: list[int] = []
    for item in items:
        if item.kind == "open":
            opened.append((len(kept), not kept or kept[-1].kind in ("thin", "wide", "comma", "prose", "amp")))
            counts.append(prose)
        elif item.kind == "prose":
            prose += 1
        elif item.kind == "close" and opened:
            at, is_apart = opened.pop()
            if prose > counts.pop() and is_apart:
                prose += 1
                kept[at:] = [_Item("prose", kept[at].start, item.end, inner=(kept[at].start, item.end))]
                continue
        kept.append(item)
    return kept


def _arrows(items: Sequence[_Item]) -> list[_Item]:
    r"""`\to` between two relations of one segment is a consequence; otherwise it relates (`x \to 0`)."""
    settled = list(items)
    depth = 0
    has_relation, is_first = False, True
    pending: list[int] = []
    for at, item in enumerate(items):
        if item.kind == "open":
            depth += 1
        elif item.kind == "close" and depth:
            depth -= 1
        if depth:
            continue
        if item.kind in ("comma", "wide", "column", "arrow", "prose"):
            has_relation, pending = False, []
        elif item.kind == "relation":
            for place in pending:
                settled[place] = replace(items[place], kind="arrow")
            has_relation, pending = True, []
        elif item.kind == "weak":
            settled[at] = replace(item, kind="relation")
            pending = [*pending[-1:], at] if has_relation or is_first else []
        is_first = is_first and item.kind in _EMPTY
    return settled


_RANKS = {"start": 0, "wide": 1, "column": 2, "comma": 3, "list": 4, "prose": 5, "arrow": 6}


@dataclass(frozen=True, slots=True)
class _Segment:
    boundary: str  # what stands before it: a key of _RANKS
    lo: int
    hi: int


def _segments(text: str, row: Sequence[_Item]) -> list[_Segment]:
    """Cut a row at separators outside brackets."""
    found: list[_Segment] = []
    boundary, lo, depth = "start", 0, 0
    for at, item in enumerate(row):
        if item.kind == "open":
            depth += 1
        elif item.kind == "close" and depth:
            depth -= 1
        cut = item.kind if item.kind in ("arrow", "prose", "comma", "wide", "column") and not depth else ""
        if cut == "prose" and text[slice(*item.inner)].strip(" ~,;\\").lower() in _JOINING:
            cut = "list"
        if (
            cut in ("wide", "column")
            and (before := _neighbour(row, at, -1))
            and before.kind in ("relation", "operator")
        ):
            cut = ""  # `x =\quad 5`
        if not cut:
            continue
        if any(other.kind not in _EMPTY for other in row[lo:at]):
            found.append(_Segment(boundary, lo, at))
            boundary = cut
        elif _RANKS[cut] > _RANKS[boundary]:
            boundary = cut
        lo = at + 1
    if any(other.kind not in _EMPTY for other in row[lo:]):
        found.append(_Segment(boundary, lo, len(row)))
    return found


def _relations(items: Sequence[_Item]) -> list[int]:
    """Indices of the relations outside brackets."""
    depth = 0
    found = []
    for at, item in enumerate(items):
        if item.kind == "open":
            depth += 1
        elif item.kind == "close" and depth:
            depth -= 1
        if item.kind == "relation" and not depth:
            found.append(at)
    return found


def _pieces(text: str, row: list[_Item]) -> list[_Piece]:
    """Formulas of a row. A segment without a relation belongs to its neighbour if it goes on with a list or a sum."""
    ranges: list[tuple[int, int, bool, bool]] = []  # first, last, led, has a relation
    remarks: set[int] = set()
    for segment in _segments(text, row):
        lo, hi, boundary = segment.lo, segment.hi, segment.boundary
        items = _trimmed(text, row[lo:hi])
        if not items:
            continue
        source = text[items[0].start : items[-1].end]
        has_relation = bool(_relations(items)) or any(
            item.kind == "box" and _box_has_relation(text, item) for item in items
        )
        led = boundary == "arrow"
        is_number = bool(ranges) and boundary in ("wide", "column", "comma") and _EQUATION_NUMBER.fullmatch(source)
        last = ranges[-1] if ranges else None
        if last and items[0].kind in {"wide": ("relation", "operator"), "column": ("operator",)}.get(boundary, ()):
            ranges[-1] = (last[0], hi, last[2], last[3] or has_relation)
        elif has_relation:
            is_tight = boundary == "comma" and row[lo].kind not in _SPACES
            if last and not last[3] and boundary == "comma" and (is_tight or _is_name(row[last[0] : last[1]])):
                ranges[-1] = (last[0], hi, last[2], True)
            else:
                ranges.append((lo, hi, led, True))
        elif is_number or (not last and hi < len(row) and _ROW_LABEL.fullmatch(source)):
            continue
        elif boundary == "prose" and last:
            continue  # what is left of a sentence: `for all n`
        elif last and boundary in ("comma", "list", "wide") and _is_condition(items):
            first = next(at for at in range(lo, hi) if row[at] is items[0])
            close = next(at for at in range(hi - 1, lo, -1) if row[at] is items[-1])
            remarks.add(len(ranges))
            ranges.append((first + 1, close, False, True))
        elif last and (boundary in ("comma", "list") or (boundary == "wide" and _is_unit(text, items))):
            ranges[-1] = (last[0], hi, last[2], last[3])
        elif boundary != "prose":
            ranges.append((lo, hi, led, False))
    pieces = (
        _Piece(tuple(_trimmed(text, row[lo:hi])), led, at in remarks) for at, (lo, hi, led, _) in enumerate(ranges)
    )
    return [piece for piece in pieces if piece.items]


def _is_name(items: Sequence[_Item]) -> bool:
    """A lone symbol, as the first of `x, y = 1, 2`."""
    inner = [item for item in items if item.kind not in _EMPTY]
    return 0 < len(inner) <= 3 and all(item.kind == "other" for item in inner)


def _is_condition(items: Sequence[_Item]) -> bool:
    """`(n > 0)`: all of it in one bracket, with a relation inside."""
    return items[0].kind == "open" and items[-1].kind == "close" and bool(_relations(items[1:-1]))


def _is_unit(text: str, items: Sequence[_Item]) -> bool:
    return bool(re.match(r"\\(?:text|mathrm|unit|si|SI|rm)(?![A-Za-z])", text[items[0].start : items[0].end] + "{"))


def _trimmed(text: str, items: Sequence[_Item]) -> list[_Item]:
    """Without separators, full stops and unmatched brackets at either end."""
    unmatched: set[int] = set()
    opened: list[int] = []
    for at, item in enumerate(items):
        if item.kind == "open":
            opened.append(at)
        elif item.kind == "close":
            if opened:
                opened.pop()
            else:
                unmatched.add(at)
    unmatched.update(at for at in opened if _is_brace_fence(text, items[at]))
    lo, hi = 0, len(items)
    while lo < hi and (items[lo].kind in _TRIMMED or lo in unmatched or _is_stop(text, items[lo], ":")):
        lo += 1
    while hi > lo and (items[hi - 1].kind in _TRIMMED or hi - 1 in unmatched or _is_stop(text, items[hi - 1], ".:")):
        if _is_stop(text, items[hi - 1], ".") and text[items[hi - 1].start - 1] == ".":
            break  # an ellipsis
        hi -= 1
    return list(items[lo:hi])


def _is_stop(text: str, item: _Item, stops: str) -> bool:
    return item.kind == "other" and item.end - item.start == 1 and text[item.start] in stops


# Emitting: left sides and boxes --------------------------------------------------------------------------------


def _emit(
    text: str, found: _Tokens, piece: _Piece, left: _Left | None, kind: str, level: int
) -> tuple[list[LocatedFormula], _Left | None]:
    items = piece.items
    span = (items[0].start, items[-1].end)
    if len(items) == 1 and items[0].kind == "box" and level < _MAX_NESTING:
        return _read_box(text, *items[0].inner, left, piece.led, level + 1)
    relations = _relations(items)
    members = [
        _latex(text, found, items[lo:hi])
        for lo, hi in zip([0, *(at + 1 for at in relations)], [*relations, len(items)], strict=True)
    ]
    signs = [_latex(text, found, items[at : at + 1]) for at in relations]
    led = piece.led or relations[:1] == [0]
    latex = _latex(text, found, items)
    if relations[:1] == [0]:
        head = (left.first if left.is_equal else left.last) if left else ""
        if head and len(head) <= _MAX_CARRIED:
            latex = f"{head} {latex}"
            members[0] = head
        elif signs[0] in _EQUALITIES:
            latex = _latex(text, found, items[1:])
            del members[0], signs[0]
    if not latex:
        return [], left
    if items[0].kind == "box" and kind != "boxed" and (not relations or _box_has_relation(text, items[0])):
        kind = "boxed"
    formulas = [LocatedFormula(latex, span, kind, led)]
    if kind != "boxed":
        formulas += _boxed_members(text, items, relations, members, signs, level)
    is_equal = all(sign in _EQUALITIES for sign in signs)
    is_aligned = any(item.kind == "amp" for item in items)
    return formulas, left if piece.is_remark else _Left(members[0], members[-1], is_equal, is_aligned)


def _boxed_members(
    text: str,
    items: Sequence[_Item],
    relations: list[int],
    members: list[str],
    signs: list[str],
    level: int,
) -> list[LocatedFormula]:
    r"""`x = a = \boxed{b}` commits to `x = b`: the box gets the left side of its chain."""
    formulas: list[LocatedFormula] = []
    if level >= _MAX_NESTING:
        return formulas
    missing = len(relations) - len(signs)  # a leading relation that was dropped
    equal = next((at for at, sign in enumerate(signs) if sign not in _EQUALITIES), len(signs))
    for count, at in enumerate(relations):
        end = relations[count + 1] if count + 1 < len(relations) else len(items)
        inside = [item for item in items[at + 1 : end] if item.kind not in _EMPTY]
        if not inside or inside[0].kind != "box":
            continue
        if _box_has_relation(text, inside[0]):
            formulas += _read_box(text, *inside[0].inner, None, True, level + 1)[0]
            continue
        number = count - missing
        span = (inside[0].start, inside[-1].end)
        if number < 0:
            formulas.append(LocatedFormula(members[0], span, "boxed", True))
            continue
        head = members[0] if number <= equal else members[number]
        if head and len(head) <= _MAX_CARRIED:
            formulas.append(LocatedFormula(f"{head} {signs[number]} {members[number + 1]}", span, "boxed", True))
    return formulas


def _box_has_relation(text: str, box: _Item) -> bool:
    return bool(_relations(list(_items(text, _tokens(text, *box.inner)))))


def _read_box(
    text: str, start: int, end: int, left: _Left | None, led: bool, level: int
) -> tuple[list[LocatedFormula], _Left | None]:
    """A box with relations is read like a block; one without is a single value or a sentence, and stays whole."""
    found = _tokens(text, start, end)
    formulas, after = _read(text, start, end, "boxed", left, level)
    if len(formulas) == 1:
        latex = _decimal(formulas[0].latex)
        after = _Left(latex, latex) if latex != formulas[0].latex else after
        formulas[0] = replace(formulas[0], latex=latex)
    has_relation = any(token["relation"] or (token["command"] or "")[1:] in _RELATIONS for token in found.tokens)
    items = [item for item in _items(text, found) if item.kind not in _EMPTY]
    is_sentence = any(
        item.kind == "text"
        and _text_kind(text[slice(*item.inner)], None, None) == "prose"
        and not _LABEL.fullmatch(text[slice(*item.inner)].strip())
        for item in items
    )
    if items and not has_relation and (is_sentence or len(formulas) != 1):
        latex = " ".join(_clean(text, start, end, found.edits).split())
        if not latex:
            return [], left
        whole = LocatedFormula(latex, (items[0].start, items[-1].end), "boxed", led)
        return [whole], _Left(latex, latex)
    if led and formulas:
        formulas[0] = replace(formulas[0], led=True)
    return formulas, after


def _decimal(content: str) -> str:
    r"""A number in the notation of computers, which LaTeX would read as a product with Euler's number.

    >>> print(_decimal("7.4e-14"))
    7.4\times 10^{-14}
    """
    number = _COMPUTER_NUMBER.fullmatch(content)
    return rf"{number[1]}\times 10^{{{int(number[2])}}}" if number else content


_COMPUTER_NUMBER = re.compile(r"([-+]?\d{1,30}(?:\.\d{0,30})?)[eE]([-+]?\d{1,4})")
_REWRITTEN = _words("amp wide column drop prose box")


def _latex(text: str, found: _Tokens, items: Sequence[_Item]) -> str:
    """What `parse` reads: the source of the items, unwrapped, without what is dropped, in single spaces."""
    if not any(item.latex or item.kind in _REWRITTEN for item in items):
        return _tidy(_clean(text, items[0].start, items[-1].end, found.edits)) if items else ""
    parts: list[str] = []
    for at, item in enumerate(items):
        if item.kind in ("amp", "wide", "column", "drop"):
            parts.append(" ")
        elif item.kind == "prose":
            parts.append(", ")
        elif item.kind == "box":
            content = _decimal(_clean(text, *item.inner, found.edits).strip())
            beside = (_neighbour(items, at, -1), _neighbour(items, at, 1))
            sides = [other is None or other.kind == "relation" for other in beside]
            is_bare = sides[0] and (sides[1] or _box_has_relation(text, item) or _NUMBER.fullmatch(content))
            parts.append(f" {content} " if is_bare else f"{{{content}}}")
        else:
            parts.append(item.latex or _clean(text, item.start, item.end, found.edits))
    return _tidy("".join(parts))


def _tidy(latex: str) -> str:
    latex = " ".join(latex.split()).replace(" , ", ", ")
    while True:
        shorter = latex.strip(" ~")
        for edge in (r"\,", r"\;", r"\:", r"\!", r"\>"):
            shorter = shorter.removeprefix(edge)
            if shorter.endswith(edge) and not shorter.endswith("\\" + edge):
                shorter = shorter.removesuffix(edge)
        if shorter == latex:
            return latex
        latex = shorter


# Plain lines: a whole undelimited line that is a formula --------------------------------------------------------

_LINE = re.compile(r"^[^\n]+$", re.MULTILINE)
_PLAIN_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z]+)|(?P<greek>[\u0391-\u03c9ϕϵ])"
    r"|(?P<super>[⁰¹²³⁴-⁹⁺⁻ⁿ]+)|(?P<sub>[₀-₉]+)|(?P<space>[ \t]+)|(?P<sign>\*\*|<=|>=|[-+*/^_=<>()√×·⋅−–±≈≤≥½¼¾°ℏ'′])"
)
_FUNCTIONS = _words("sin cos tan cot sinh cosh tanh arcsin arccos arctan ln log exp")
_GREEK_NAMES = _words(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
) | _words("Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega")
_GREEK_COMMANDS = (
    r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho \sigma \tau"
    r" \upsilon \phi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Phi \Psi \Omega \phi \epsilon"
)
_GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵ", _GREEK_COMMANDS.split(), strict=True))
# Short words and abbreviations that a product of one-letter symbols would be confused with.
_WORDS = _CONNECTIVES | _words(
    "an the of in it its by be we us our if no not was has can get let now net new use via per all any one two end max"
    " min avg ans eq fig see say set put bar hat dot vec ke pe gpe epe te me emf vs ok hz old too out"
)
_PLAIN_SIGNS = {
    "*": r"\cdot ", "·": r"\cdot ", "⋅": r"\cdot ", "×": r"\times ", "−": "-", "–": "-", "±": r"\pm ", "≈": r"\approx ",
    "<=": r"\le ", ">=": r"\ge ", "≤": r"\le ", "≥": r"\ge ",
    "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "°": r"^{\circ}", "ℏ": r"\hbar ", "′": "'",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_PLAIN_SPLIT = re.compile(r"<=|>=|[=<>≈≤≥]")
_AMBIGUOUS_PLAIN = re.compile(
    r"^\(\w+\)[ \t]"  # an enumerator: `(a) x = 5`
    r"|^[-+–−][ \t]"  # a bullet or a sign
    r"|[ \t]\(\d+\)$"  # the number of the equation, or a factor
    r"|[ \t]{3}|\t"  # two formulas in columns
    r"|^[*/^)]|[-+*/^(·×−–]$"  # torn off
    r"|<.*>"  # an average, or two orderings that point apart
    r"|(?<![\d)])\^\(\d\)"  # a label in brackets: `H^(1)`
    r"|[=<>≈≤≥]{3}|==|=>|[-+*/]=|<-|->|\d[xX]\d|\d[ \t]+\d|[A-Za-z]\d+[A-Za-z]"
)
_PLAIN_UNIT = re.compile(rf"(?<=[\d)⁰²³¹⁴-⁹])(?:[ \t]+|(?=°))({_UNIT_EXPRESSION.pattern})$")
_SURE_UNITS = frozenset(("m/s", "m/s^2", "m/s²", "rad/s", "°C", "°F"))  # of one letter each, but hardly symbols


def _plain_lines(text: str, blocks: Sequence[_Block]) -> list[_Block]:
    """Lines that lie outside every block and are a formula from end to end; any doubt, and the line is prose."""
    starts = sorted((block.outer_start, block.outer_end) for block in blocks)
    ends = [end for _, end in starts]
    lines: list[_Block] = []
    for line in _LINE.finditer(text):
        if len(lines) >= MAX_FORMULAS:
            break
        if line.end() - line.start() > _MAX_LINE or not _PLAIN_SPLIT.search(text, *line.span()):
            continue
        at = bisect_right(ends, line.start())
        if at < len(starts) and starts[at][0] < line.end():
            continue
        source = line.group()
        inner = source.strip().removeprefix("* ").removeprefix("• ").rstrip(" \t.,;\r")
        if inner.startswith("**") and inner.endswith("**") and inner.count("**") == 2:
            inner = inner[2:-2]
        elif inner.startswith("*") and inner.endswith("*") and inner.count("*") == 2:
            inner = inner[1:-1]  # set in italics
        inner = inner.strip()
        latex = _plain_latex(inner)
        if latex:
            start = line.start() + source.index(inner)
            lines.append(_Block(start, start + len(inner), "plain", start, start + len(inner), latex))
    return lines


def _plain_latex(line: str) -> str:
    r"""The line as LaTeX, or nothing if it is not surely a formula.

    >>> _plain_latex("T = 2*pi*sqrt(L/g)")
    'T = 2\\cdot \\pi \\cdot \\sqrt{L/g}'
    >>> _plain_latex("so v = 3")
    ''
    """
    members = _PLAIN_SPLIT.split(line)
    if not ("=" in line or "≈" in line) or _AMBIGUOUS_PLAIN.search(line) or not all(map(str.strip, members)):
        return ""
    if any(re.search(r"\d[ \t]+[A-Za-z]\w*$", member.strip()) for member in members[:-1]):
        return ""  # `x = 1 y = 2`
    parts: list[str] = []
    signs = [*_PLAIN_SPLIT.findall(line), ""]
    for member, sign in zip(members, signs, strict=True):
        latex = _plain_member(member.strip())
        if not latex:
            return ""
        parts += [latex, _PLAIN_SIGNS.get(sign, sign)]
    return _tidy(" ".join(parts))


def _plain_member(member: str) -> str:
    unit = _PLAIN_UNIT.search(member)
    tail = ""
    if unit and (unit[1] in _SURE_UNITS or any(len(word) > 1 for word in re.findall(r"[^\W\d_]+", unit[1]))):
        member, tail = member[: unit.start()], _unit_latex(unit[1])
    member = re.sub(r"(?<![A-Za-z])sqrt[ \t]?(?=\()", "√", member)
    tokens = list(_PLAIN_TOKEN.finditer(member))
    if not tokens or sum(token.end() - token.start() for token in tokens) < len(member) or _is_doubtful(tokens):
        return ""
    parts: list[str] = []
    brackets: list[str] = []
    at = 0
    while at < len(tokens):
        word, step = _plain_token(tokens, at, brackets)
        if not step:
            return ""
        parts.append(word)
        at += step
    return "" if brackets else "".join(parts).strip() + tail


_OPERANDS = _words("number word greek")
_DIFFERENTIAL = re.compile("d[A-Za-zα-ω]")


def _is_doubtful(tokens: Sequence[re.Match[str]]) -> bool:
    """Whether a person could read it two ways: `1/2mv` and `1/4πε` group differently, `5 mm` is not 5·m·m."""
    for at, token in enumerate(tokens):
        before = tokens[at - 2] if at > 1 and tokens[at - 1]["space"] else tokens[at - 1] if at else None
        is_number = before is not None and bool(before["number"] or before["super"])
        if token["word"] and is_number and len(token.group()) > 1 and token.group() in _UNITS - {"mg"}:
            return True
        is_exponent = at > 1 and tokens[at - 2].group() in ("^", "_")
        if token.group() == "/" and _is_doubtful_below(tokens[at + 1 : at + 14], is_number and not is_exponent):
            return True
    return False


def _is_doubtful_below(rest: Sequence[re.Match[str]], above_is_number: bool) -> bool:
    """Whether it is open how far a denominator without brackets reaches."""
    rest = rest[1:] if rest and rest[0]["space"] else rest
    if len(rest) > 1 and rest[0].group() in ("Δ", "δ", "d") and rest[1]["greek"]:
        rest = rest[1:]
    if not rest:
        return True
    first = rest[0]
    if first["word"] and len(first.group()) > 1:
        if first.group() not in _GREEK_NAMES and not _DIFFERENTIAL.fullmatch(first.group()):
            return first.group() not in _FUNCTIONS or len(rest) < 2 or rest[1].group() != "("
    elif first.lastgroup not in _OPERANDS:
        return False
    after = 1
    while after < len(rest) and _is_script(rest, after):
        after += 1
    is_apart = after < len(rest) and bool(rest[after]["space"])
    after += is_apart
    if after >= len(rest) or (rest[after].lastgroup not in _OPERANDS and (is_apart or rest[after].group() != "(")):
        return False
    return not (is_apart and ((above_is_number and first["number"]) or first.group().startswith("d")))


def _is_script(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """A sub- or superscript on what stands before: `₀`, `²`, `_max`, `^2`, and the `1` of `x1`."""
    token, before = tokens[at], tokens[at - 1]
    if token["super"] or token["sub"] or token.group() in ("'", "′", "_", "^"):
        return True
    return before.group() in ("_", "^") or bool(token["number"] and before["word"])


def _plain_token(tokens: list[re.Match[str]], at: int, brackets: list[str]) -> tuple[str, int]:
    """LaTeX of the tokens from `at` on, and how many were used; 0 if they cannot be read."""
    token = tokens[at]
    word = token.group()
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if token["number"]:
        digits, _, power = word.lower().partition("e")
        before = tokens[at - 1].group() if at else ""
        if before in _FUNCTIONS:  # `ln2`, `log10(x)`; `log2` may be a base
            return ("", 0) if before == "log" and word == "2" else (f"_{{{word}}}" if before == "log" else word, 1)
        if at and (tokens[at - 1]["word"] or tokens[at - 1]["greek"]):
            return (f"_{{{word}}}", 1) if word.isdigit() else ("", 0)
        return (rf"{digits}\times 10^{{{int(power)}}}" if power else word), 1
    if token["word"]:
        last = next((other for other in tokens[at - 1 :: -1] if not other["space"]), None) if at else None
        is_tight = last is not None and last["sign"] and last.end() == token.start() and last.group() != "("
        if word == "at" and (is_tight or (not following and (last is None or last["sign"]))):
            return word, 1  # `v = u + at`, `½at²`; elsewhere it is the English word
        return _plain_word(word)
    if token["greek"]:
        return (f"{_GREEK_LETTERS[word]} ", 1) if word in _GREEK_LETTERS else ("", 0)
    if token["super"]:
        return f"^{{{word.translate(_SUPERSCRIPTS)}}}", 1
    if token["sub"]:
        return f"_{{{word.translate(_SUBSCRIPTS)}}}", 1
    if word in ("^", "**", "_"):
        return _plain_script(tokens, at, brackets, "_" if word == "_" else "^")
    if word == "√":
        if following and following.group() == "(":
            brackets.append("}")
            return r"\sqrt{", 2
        inner, used = _plain_token(tokens, at + 1, brackets) if following and not following["sign"] else ("", 0)
        return (rf"\sqrt{{{inner.strip()}}}", used + 1) if used else ("", 0)
    if word == "(":
        brackets.append(")")
        return "(", 1
    if word == ")":
        return (brackets.pop(), 1) if brackets else ("", 0)
    return (" " if token["space"] else _PLAIN_SIGNS.get(word, word)), 1


def _plain_word(word: str) -> tuple[str, int]:
    if word in _GREEK_NAMES or word in _FUNCTIONS:
        return f"\\{word} ", 1
    if len(word) > 3 or word.lower() in _WORDS:
        return "", 0
    return word, 1


def _plain_script(tokens: list[re.Match[str]], at: int, brackets: list[str], script: str) -> tuple[str, int]:
    """`^(...)`, `^-6`, `^x`, `_max`: the argument of a script, braced."""
    rest = [token.group() for token in tokens[at + 1 : at + 3]]
    if not rest:
        return "", 0
    if rest[0] == "(":
        brackets.append("}")
        return script + "{", 2
    if script == "^" and rest[0] in ("-", "−", "+") and len(rest) == 2 and tokens[at + 2]["number"]:
        return f"^{{{'-' if rest[0] != '+' else ''}{rest[1]}}}", 3
    first = tokens[at + 1]
    if first["number"] and first.group().replace(".", "").isdigit():
        return f"{script}{{{rest[0]}}}", 2
    if first["word"] and script == "_":
        return f"_{{{rest[0]}}}", 2
    if first["greek"] or (first["word"] and len(rest[0]) == 1):
        return f"{script}{{{_GREEK_LETTERS.get(rest[0], rest[0]).strip()}}}", 2
    return "", 0
