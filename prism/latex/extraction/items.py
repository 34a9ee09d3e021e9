r"""A block as items at its top level, so that what is nested is never split.

One left-to-right scan: a brace group, a matrix or a piecewise definition is one item, however much it holds; a layout
(`aligned`, or an array whose rows are equations) is opened up, and its row ends become `break` items. Refused: regular
expressions over whole blocks, which do not see nesting and which a hundred thousand opening brackets would stop.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

from prism.latex.extraction.blocks import LAYOUTS, MAYBE_LAYOUTS
from prism.latex.word_lists import any_word
from prism.latex.words import BARE_WORDS, word_set

MAX_NESTING = 4  # boxes in boxes and layouts in layouts; each level is scanned again
_LONGEST_RELATION = 20  # characters of a relation in braces, as in `{}={}`; longer groups are not even looked into

_TOKEN = re.compile(  # the bounds on spaces and names keep each token short; what is longer is read sign by sign
    r"(?P<begin>\\begin\s{0,8}\{(?P<env>[A-Za-z]{1,20})\*?\})"
    r"|(?P<finish>\\end\s{0,8}\{[A-Za-z]{1,20}\*?\})"
    r"|(?P<row>\\\\(?:\*?[ \t]{0,8}\[\s{0,8}-?[\d.]{1,8}\s{0,8}[a-z]{2}\s{0,8}\])?"
    r"|\\(?:newline|tabularnewline|cr)(?![A-Za-z]))"
    r"|(?P<command>\\(?:(?:tag|operatorname|hspace|vspace)\*|[A-Za-z]+))"
    r"|(?P<escape>\\[\s\S])|(?P<brace>[{}])|(?P<script>[_^])|(?P<word>[A-Za-z]+)|(?P<space>[\s~]+)"
    r"|(?P<relation>:=|<=|>=|<<|>>|[=<>≈≃≅≡≤≥≪≫≠∝∼])|(?P<operator>[-+−–±∓*/×·÷])|(?P<arrow>[⇒⟹⇔⟺⇐⟸⇏⇎∴∵→⟶])"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<single>[\s\S])"
)
_TOKENS = re.compile(re.sub(r"\(\?P<[a-z]+>", "(?:", _TOKEN.pattern))  # the same without groups, for a fast `findall`
_KNOWN_WORDS = 4096  # words whose kind is kept
_LONGEST_KNOWN = 64  # characters of a word that tell its kind, so that no text fills the memory
_OPTION = re.compile(r"\s{0,8}\[[^\[\]{}]{0,20}\]")


def _kind_by_name(**names_by_kind: str) -> dict[str, str]:
    """Invert a table from kind to space-separated names into a mapping from each name to its kind."""
    return {name: kind for kind, of_kind in names_by_kind.items() for name in of_kind.split()}


_SIMPLE = _kind_by_name(
    relation="approx simeq cong sim equiv le leq leqslant ge geq geqslant ll gg ne neq propto lesssim gtrsim doteq"
    " triangleq coloneqq coloneq lt gt asymp approxeq in notin",
    operator="pm mp cdot vdot times div ast",
    arrow="Rightarrow Longrightarrow implies therefore iff Leftrightarrow Longleftrightarrow because Leftarrow"
    " Longleftarrow impliedby nRightarrow nLeftrightarrow",
    weak="rightarrow to longrightarrow leadsto",  # a consequence, a limit or a transition
    wide="quad qquad hfill enspace",
    drop="nonumber notag displaystyle textstyle scriptstyle hline qedhere limits nolimits",
    open="langle lfloor lceil lbrace lbrack",
    close="rangle rfloor rceil rbrace rbrack",
)
_WITH_ARGUMENT = _kind_by_name(
    drop="tag tag* textcircled label phantom hphantom vphantom sout xout color textcolor footnote vspace vspace*",
    wide="hspace hspace*",
    text="text textrm textbf textit textsf textnormal mbox hbox",
    box="boxed fbox framebox",
)
_WITH_ARGUMENT |= dict.fromkeys(("intertext", "shortintertext"), "break")  # a word of Python, and no keyword argument
_SIGNS = _kind_by_name(amp="&", comma=", ;", open=r"( [ \{", close=r") ] \}", drop="$", other=r"\% \| \& \$ \#")
_KINDS = {"operator": "operator", "row": "break", "space": "thin", "escape": "thin"}  # of groups of `_TOKEN`
_ASCII_RELATIONS = {"<<": r"\ll ", ">>": r"\gg "}
EQUALITIES = word_set(r"= := ≈ ≃ ≅ ≡ ∼ \approx \simeq \cong \sim \equiv \doteq \triangleq \coloneqq \approxeq")
_FONTS = word_set("mathrm mathbf mathit mathsf")
_BRACED_RELATION = re.compile(r"[=<>≈]|\\(?:approx|le|ge|leq|geq|sim|equiv)(?![A-Za-z])")
_DOUBTS = re.compile(  # over or under a relation: it is asked, or denied
    rf"\?|\\(?:times|not|neq|nleftrightarrow)(?![A-Za-z])|[✗✘❌✖🚫☒×]|\b(?:not|no|never|maybe|perhaps|possibly|guess(?:ed)?)\b"
    rf"|{any_word('denials')}"
    r"|(?<=\{)\s{0,4}[xX/]\s{0,4}\Z",
    re.IGNORECASE,
)
_ACCENTS = word_set("hat tilde bar dot ddot vec check breve widehat overline")  # over a relation they mark it
_STACKED = word_set("overset underset stackrel")
_CANCELS = word_set("cancel bcancel xcancel")
_LOOKS_BEHIND = word_set("left right not") | _WITH_ARGUMENT.keys() | _CANCELS | _FONTS | _STACKED
_EDITED = {name for name, kind in (_SIMPLE | _WITH_ARGUMENT).items() if kind in ("drop", "box")} | _CANCELS
_BRACE_FENCES = word_set(r"\{ \} \left\{ \right\} \left. \right. \lbrace \rbrace \left\lbrace \right\rbrace")
_ROW_STARTS = word_set("break arrow text amp comma wide")


class Item(NamedTuple):  # no dataclass, for speed, as `plain_tokens.Mark`
    """One top-level item of a block: a token, a group, a command with its arguments, an environment.

    Attributes:
        kind: relation operator comma wide column arrow weak prose break: may cut; open close: brackets;
            box text group other: content; thin amp drop: space. What `text`, `amp` and `weak` (a single arrow) are
            is settled later, by what stands beside them.
        latex: replaces the source, if not empty.
        content_span: offsets of the content of a box, a text or a group.
    """

    text: str
    kind: str
    start: int
    end: int
    latex: str = ""
    content_span: tuple[int, int] = (0, 0)

    @property
    def source(self) -> str:
        """The item as written in the text."""
        return self.text[self.start : self.end]

    @property
    def content(self) -> str:
        """The text inside the braces of a box, text or group."""
        return self.text[slice(*self.content_span)]


_make_item = partial(tuple.__new__, Item)  # without the call of a function in Python that a named tuple makes


def is_brace_fence(item: Item) -> bool:
    r"""Return True for `\left\{` and the like, which bracket the rows of a layout and mean nothing within one."""
    return item.kind in ("open", "close") and item.source.replace(" ", "") in _BRACE_FENCES


class _Sort(NamedTuple):
    """What a token is by its text alone.

    Attributes:
        group: of `_TOKEN`.
        kind: of its item; empty if that depends on what stands beside it.
        latex: of its item.
        is_mark: it is paired or edited.
    """

    group: str
    kind: str
    latex: str
    is_mark: bool


@lru_cache(maxsize=_KNOWN_WORDS)
def _classify_word(word: str) -> _Sort:
    """Return what a token is by its text."""
    token = _TOKEN.match(word)
    group = token.lastgroup or "" if token else ""
    name = word[1:]
    if group == "command":
        kind = _SIMPLE.get(name) or ("" if name in _LOOKS_BEHIND else "other")
        return _Sort(group, kind, "", name in _EDITED)
    if group in ("begin", "finish", "row", "script") or word in BARE_WORDS or word in ("{", ","):
        return _Sort(group, "", "", group in ("begin", "finish") or word == "{")
    if group == "arrow":
        return _Sort(group, "weak" if word in "→⟶" else "arrow", "", False)
    kind = "relation" if group == "relation" else _SIGNS.get(word) or _KINDS.get(group, "other")
    return _Sort(group, kind, _ASCII_RELATIONS.get(word, ""), word in ("}", "$", "%"))


@dataclass(slots=True)
class Scan:
    """The tokens of a block of text, with paired braces and environments and the edits for the parser."""

    text: str
    start: int
    end: int
    tokens: list[str]
    sorts: list[_Sort]  # what each token is
    places: list[int]  # where each token begins, and the end of the last one
    partner: dict[int, int]  # `{` and `\begin`: index of the partner
    edits: list[tuple[int, int, str]]  # what is dropped or replaced, at any depth, ascending

    def next_visible(self, index: int) -> int:
        """Return the index of the next token that is not space; the number of tokens if there is none."""
        index += 1
        while index < len(self.sorts) and self.sorts[index].group == "space":
            index += 1
        return index

    def argument_brace(self, index: int) -> int:
        """Return the index of the `{` of the argument that follows a token; -1 if none follows or it never closes."""
        brace = self.next_visible(index)
        return brace if brace in self.partner and self.tokens[brace] == "{" else -1

    def inside_braces(self, opening: int) -> tuple[int, int]:
        """Return the offsets of the text between an opening brace, given by token index, and its partner."""
        return self.places[opening + 1], self.places[self.partner[opening]]

    def mentions_relation(self) -> bool:
        """Return True if a relation sign occurs in the block, at any depth."""
        return any(sort.kind == "relation" for sort in self.sorts)

    def make_item(
        self, kind: str, index: int, last: int, latex: str = "", content_span: tuple[int, int] = (0, 0)
    ) -> tuple[Item, int]:
        """Make the item of the tokens from `index` to `last`; return it with `last`, behind which reading continues."""
        return Item(self.text, kind, self.places[index], self.places[last + 1], latex, content_span), last

    def edited_source(self, start: int, end: int) -> str:
        """Return the source between two offsets with the recorded edits applied."""
        if not self.edits:
            return self.text[start:end]
        at = bisect_left(self.edits, (start, start, ""))
        parts: list[str] = []
        while at < len(self.edits) and self.edits[at][0] < end:
            first, last, word = self.edits[at]
            if first >= start:
                parts += [self.text[start:first], word]
                start = last
            at += 1
        return "".join([*parts, self.text[start:end]])


def scan(text: str, start: int, end: int) -> Scan:
    """Tokenize the text between two offsets, pair its braces and environments, and record the edits for the parser."""
    tokens = _TOKENS.findall(text, start, end)
    is_usual = max(map(len, tokens), default=0) <= _LONGEST_KNOWN
    sorts = list(map(_classify_word, tokens if is_usual else [token[:_LONGEST_KNOWN] for token in tokens]))
    scanned = Scan(text, start, end, tokens, sorts, list(accumulate(map(len, tokens), initial=start)), {}, [])
    braces: list[int] = []
    opened: list[int] = []
    marks: list[int] = []
    for at in [at for at, sort in enumerate(sorts) if sort.is_mark]:
        group, word = sorts[at].group, tokens[at]
        if word == "{":
            braces.append(at)
        elif word == "}":
            if braces:
                scanned.partner[braces.pop()] = at
        elif group == "begin":
            opened.append(at)
        elif group != "finish":
            marks.append(at)
        elif opened:
            scanned.partner[opened.pop()] = at
    for at in marks:
        _record_edit(scanned, at)
    if cancels := [at for at in marks if tokens[at][1:] in _CANCELS]:
        _unwrap_cancelled_pairs(scanned, cancels)
    return scanned


def _unwrap_cancelled_pairs(scanned: Scan, cancel_indices: Sequence[int]) -> None:
    r"""Record the unwrapping of cancelled factors that cancel in pairs: `\frac{\cancel{m} p}{\cancel{m}}` is mp/m.

    With both back, the formula says what it said before, whatever the pair was; with both gone, a cancelled term would
    leave a torn sum. What is cancelled alone, or holds a relation, stays as it is, and `parse` refuses it.
    """
    openings = [(at, opening) for at in cancel_indices if (opening := scanned.argument_brace(at)) >= 0]
    contents = ["".join(scanned.text[slice(*scanned.inside_braces(opening))].split()) for _, opening in openings]
    n_same = Counter(contents)
    for (at, opening), content in zip(openings, contents, strict=True):
        if n_same[content] % 2 == 0 and not _BRACED_RELATION.search(content):
            scanned.edits.append((scanned.places[at], scanned.places[opening], ""))
    scanned.edits.sort()


def _record_edit(scanned: Scan, index: int) -> None:
    r"""Record the edit that one token needs: `%` becomes `\%`; `$`, layout, boxes, hidden arguments become space."""
    start, end = scanned.places[index : index + 2]
    name = scanned.tokens[index][1:]
    if scanned.tokens[index] == "%":  # what is no comment is a percent sign
        scanned.edits.append((start, end, r"\%"))
    elif not name or _SIMPLE.get(name) == "drop" or _WITH_ARGUMENT.get(name) == "box":
        scanned.edits.append((start, end, " "))
    elif _WITH_ARGUMENT.get(name) == "drop" and (opening := scanned.argument_brace(index)) >= 0:
        scanned.edits.append((start, scanned.places[scanned.partner[opening] + 1], " "))


def top_level_items(scanned: Scan) -> list[Item]:
    """Return the items of a block at its top level; groups, and environments other than layouts, are one item each."""
    at = 0
    text, sorts, places = scanned.text, scanned.sorts, scanned.places
    items: list[Item] = []
    joined: list[str] = []  # layouts we are in
    has_script = False
    while at < len(sorts):
        group, kind, latex, _ = sorts[at]
        if kind:
            at += 1
            if has_script and kind not in ("thin", "break", "amp"):
                kind, latex, has_script = "other", "", False
            items.append(_make_item((text, kind, places[at - 1], places[at], latex, (0, 0))))
            continue
        if group == "begin":
            item, last = _environment_item(scanned, at, items, len(joined))
            if item.kind == "break":
                joined.append(_environment_name(scanned, at))
        elif group == "finish":
            if joined:
                joined.pop()
            item, last = scanned.make_item("break", at, at)
        elif group == "row":
            item, last = scanned.make_item("drop" if "multline" in joined else "break", at, at)
        elif group == "script":
            items.append(Item(text, "other", places[at], places[at + 1]))
            has_script = True
            at += 1
            continue
        else:
            item, last = _item_at(scanned, at)
        at = last + 1
        if has_script and item.kind not in ("thin", "break", "amp"):
            item = item._replace(kind="other", latex="")
            has_script = False
        items.append(item)
    return items


def _environment_name(scanned: Scan, index: int) -> str:
    r"""Return the name of the environment that a `\begin` opens, without a star."""
    return scanned.tokens[index].partition("{")[2].rstrip("*}")


def _kind_before(items: Sequence[Item]) -> str:
    """Return the kind of the last item that is more than space, or a script sign; `break` if there is none."""
    for item in reversed(items):
        if item.kind not in ("thin", "drop") and item.source not in ("_", "^") and not is_brace_fence(item):
            return item.kind
    return "break"


def _environment_item(scanned: Scan, index: int, items: Sequence[Item], depth: int) -> tuple[Item, int]:
    """Return the item of an environment and its last token: a row break if its rows are read singly, else all.

    Args:
        items: those before it.
        depth: layouts around it.
    """
    name = _environment_name(scanned, index)
    closing = scanned.partner.get(index, -1)
    is_layout = name in LAYOUTS
    if name in MAYBE_LAYOUTS and closing >= 0 and depth < MAX_NESTING:
        is_layout = _kind_before(items) in _ROW_STARTS and _is_equation_array(scanned, index, closing)
    if not is_layout:
        return scanned.make_item("other", index, max(index, closing))
    last = index
    if option := _OPTION.match(scanned.text, scanned.places[index + 1]):
        while last + 1 < len(scanned.tokens) and scanned.places[last + 1] < option.end():
            last += 1
    if name in ("array", "alignat", "alignedat") and (opening := scanned.argument_brace(last)) >= 0:
        last = scanned.partner[opening]
    return scanned.make_item("break", index, last)


def _is_equation_array(scanned: Scan, index: int, closing: int) -> bool:
    """Return True if the rows of an array are equations: a relation in each, `&` only beside one or between two."""
    inner = index + 1
    if _environment_name(scanned, index) == "array" and (opening := scanned.argument_brace(index)) >= 0:
        inner = scanned.partner[opening] + 1
    rows: list[list[str]] = [[]]  # a cell is `=` for each relation, `x` for other content, and its braces
    cell = ""
    while inner <= closing:
        word, (group, kind, _, _) = scanned.tokens[inner], scanned.sorts[inner]
        is_text = group == "command" and _WITH_ARGUMENT.get(word[1:]) == "text"
        if inner == closing or word == "&" or group == "row":
            rows[-1].append(cell.replace("{", "").replace("}", ""))
            cell = ""
            if group == "row":
                rows.append([])
        elif is_text and (opening := scanned.argument_brace(inner)) >= 0:
            inner = scanned.partner[opening]
        elif inner in scanned.partner and (group == "begin" or cell.strip("{")):
            inner = scanned.partner[inner]  # of what stands in groups, only a group that is a whole cell is looked into
            cell += "x"
        elif group != "space":
            cell += "=" if kind == "relation" else word if word in "{}" else "x"
        inner += 1
    filled = [row for row in rows if any(row)]
    return bool(filled) and all(_is_equation_row(row) for row in filled)


def _is_equation_row(row: Sequence[str]) -> bool:
    """Return True if a row of cells such as `["x", "=x"]` has a relation, and each cell holds or adjoins one."""
    for at, cell in enumerate(row):
        follows = at > 0 and row[at - 1].endswith("=")
        precedes = at + 1 < len(row) and row[at + 1].startswith("=")
        if cell and "=" not in cell and not follows and not precedes:
            return False
    return any("=" in cell for cell in row)


def _item_at(scanned: Scan, index: int) -> tuple[Item, int]:
    """Return the item that begins at a token whose kind depends on what stands beside it, and its last token."""
    text, word = scanned.text, scanned.tokens[index]
    start, end = scanned.places[index : index + 2]
    if scanned.sorts[index].group == "command":
        return _command_item(scanned, index)
    if word == "{":
        return _group_item(scanned, index) if index in scanned.partner else scanned.make_item("other", index, index)
    if word == ",":  # `334,000` and `3,5` are numbers; a list stays whole without a cut
        is_digit = text[start - 1 : start].isdigit() and text[end : end + 1].isdigit()
        return scanned.make_item("other" if is_digit else "comma", index, index)
    lone = text[start - 1 : start].isspace() and text[end : end + 1].isspace()  # of `BARE_WORDS`
    return scanned.make_item("prose" if lone else "other", index, index, content_span=(start, end))


def _group_item(scanned: Scan, index: int) -> tuple[Item, int]:
    """Return the item of a braced group, and the index of its last token; `{=}` is a relation and `{}` a space."""
    last = scanned.partner[index]
    inner = scanned.inside_braces(index)
    if inner[1] - inner[0] < _LONGEST_RELATION:
        word = scanned.text[slice(*inner)].strip()
        if _is_relation_sign(word):
            return scanned.make_item("relation", index, last, word)
    if last == index + 1 and scanned.text[inner[1] + 1 : inner[1] + 2] not in ("^", "_"):
        return scanned.make_item("thin", index, last)
    return scanned.make_item("group", index, last, content_span=inner)


def _is_relation_sign(word: str) -> bool:
    """Return True if a text is one relation sign or the command of one."""
    return word in ("=", "<", ">", ":=") or (word[:1] == "\\" and _SIMPLE.get(word[1:]) == "relation")


def _command_item(scanned: Scan, index: int) -> tuple[Item, int]:
    """Return the item of a command with its arguments, and the index of its last token."""
    tokens = scanned.tokens
    name = tokens[index][1:]
    if name in ("left", "right"):
        last = scanned.next_visible(index)
        kind = "open" if name == "left" else "close"
        return scanned.make_item(kind, index, last) if last < len(tokens) else scanned.make_item("other", index, index)
    if name == "not" and index + 1 < len(tokens) and scanned.sorts[index + 1].group == "relation":
        return scanned.make_item("relation", index, index + 1, r"\neq " if tokens[index + 1] == "=" else "")
    if name in _ACCENTS and index + 1 < len(tokens) and scanned.sorts[index + 1].kind == "relation":
        return scanned.make_item("relation", index, index + 1, tokens[index + 1] + " ")
    if name == "not" and index + 1 < len(tokens) and scanned.sorts[index + 1].kind in ("arrow", "weak"):
        return scanned.make_item("arrow", index, index + 1)
    opening = scanned.argument_brace(index)
    if opening < 0:
        return scanned.make_item("other", index, index)
    last, inner = scanned.partner[opening], scanned.inside_braces(opening)
    if name in _ACCENTS and _is_relation_sign(sign := scanned.text[slice(*inner)].strip()):
        return scanned.make_item("relation", index, last, sign + " ")
    if name in _WITH_ARGUMENT:
        return scanned.make_item(_WITH_ARGUMENT[name], index, last, content_span=inner)
    if name in _CANCELS and _BRACED_RELATION.search(scanned.text, *inner):
        return scanned.make_item("drop", index, last)
    if name in _FONTS and scanned.text[slice(*inner)].strip() in BARE_WORDS:
        return scanned.make_item("text", index, last, content_span=inner)
    if name in _STACKED and (second := scanned.argument_brace(last)) >= 0:
        word = scanned.text[slice(*scanned.inside_braces(second))].strip()
        if _is_relation_sign(word):
            if _DOUBTS.search(scanned.text, *inner):
                return scanned.make_item("prose", index, scanned.partner[second], content_span=inner)
            return scanned.make_item("relation", index, scanned.partner[second], word + " ")
    return scanned.make_item("other", index, index)


def has_relation(box: Item) -> bool:
    """Return True if a box holds a relation outside brackets."""
    return bool(relation_indices(top_level_items(scan(box.text, *box.content_span))))


def outside_brackets(row: Iterable[Item]) -> Iterator[tuple[int, Item]]:
    """Yield the items of a row outside brackets with their indices; a closing bracket itself is outside."""
    depth = 0
    for at, item in enumerate(row):
        if item.kind == "open":
            depth += 1
        elif item.kind == "close" and depth:
            depth -= 1
        if not depth:
            yield at, item


def relation_indices(row: Iterable[Item]) -> list[int]:
    """Return the indices of the relations of a row that stand outside brackets."""
    found: list[int] = []
    depth = 0
    for at, item in enumerate(row):
        kind = item.kind
        if kind == "open":
            depth += 1
        elif kind == "close" and depth:
            depth -= 1
        elif kind == "relation" and not depth:
            found.append(at)
    return found
