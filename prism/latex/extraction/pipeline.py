r"""Find the formulas in a solution and cut them into pieces that `parse` reads one by one.

Three passes, each of one left-to-right scan. *Where* (`blocks`, `plain`): the text is masked, and cut into delimited
blocks and undelimited lines. *Items* (`items`): a block becomes items at its top level, so that nothing nested is ever
split. *Pieces* (`pieces`): rows are cut at commas, arrows and prose, and put together again where a cut would change
the meaning. Here the pieces are written out as LaTeX, with what they take from the rows and prose around them.

A row that begins with a relation takes the left side of the row before it. Where only orderings connect the two,
the last member is taken instead: after `a < b`, the row `= c` says `b = c` and nothing about `a`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prism.latex.extraction.blocks import MAX_GAP, Block, delimited, merged
from prism.latex.extraction.items import EQUALITIES, MAX_NESTING, Item, Scan, has_relation, relations, scan, top_level
from prism.latex.extraction.masking import is_in_code, mask, thoughts, without_comments, without_end_of_code
from prism.latex.extraction.pieces import EMPTY, TRIMMED, Piece, cut_row, is_grouped, joined_rows, kind_beside, settled
from prism.latex.extraction.retractions import denied, in_passing
from prism.latex.extraction.solution_text import Solution, solution_text
from prism.latex.extraction.undelimited import bare_displays, plain_formulas
from prism.latex.words import is_label, scale_after, text_kind, unit_after

MAX_TEXT = 200_000  # characters read of one solution, a quarter from its beginning and the rest from its end
MAX_FORMULAS = 2_000  # formulas kept of one solution, the last ones; a text of nothing but `$a$` would give 60,000
_MAX_CARRIED = 1_000  # characters of a left side repeated in each row below it; longer ones would square the text
_MAX_BLOCK = 20_000  # characters of one delimited block; a longer one is handed on whole, for `parse` to refuse

_RELATED = re.compile(r"[=<>≈≤≥≪≫∝≃≅≡∼]|\\(?:approx|propto|sim(?:eq)?|leq?|geq?|ll|gg|neq?|equiv|to|cong)(?![A-Za-z])")
_OR = re.compile(r"[\s$)\]\\,]{0,8}\bor\b(?: else)?[\s$(\[\\]{1,8}")
_CUT_REACH = 2_000  # characters in which a line end is looked for, where a long text is cut
_BELOW = re.compile(  # between a formula without delimiters and a row below it that begins with `=`
    rf"[.,;]?(?:[ \t\u2000-\u200b]{{1,{MAX_GAP}}}(?:\([^()\n]{{0,80}}\)|\[[^\[\]\n]{{0,80}}\]))?[.,;*]{{0,3}}"
    rf"[ \t\u2000-\u200b]{{0,{MAX_GAP}}}(?:\n[ \t>]{{0,{MAX_GAP}}}){{0,2}}[\s*•\u2000-\u200b]{{0,{MAX_GAP}}}"
)
_ADJACENT = re.compile(rf"[\s(]{{0,{MAX_GAP}}}")  # between `$m$` and `($= 5$ kg)`; no words: the second continues
_POWER_OF_TEN = r"10\s*\^\s*(?:\{\s*[-+−]?\s*\d+\s*\}|\d)"
_NUMBER = re.compile(  # the bounds on digits are beyond any number of physics, and keep a match short
    rf"[-+−]?\s*(?:\d[\d.,]{{0,30}}(?:(?:\{{,\}}|\\,)\d{{3}}){{0,6}}"
    rf"(?:\s*(?:\\times|\\cdot|×|·)\s*{_POWER_OF_TEN})?|{_POWER_OF_TEN})"
)
_LONE_SCRIPT = re.compile(  # typography: `m$^3$`, `CO$_2$`
    r"\s*[_^]\s*(?:\{[^{}]{0,40}\}|[-+−]?\w{1,2}|\\[A-Za-z]{1,20})\s*"
)
_DEGREES = re.compile(r"\s*(?:\\[ ,;:]\s*)?(?:\^\s*\{?\s*\\circ\s*\}?|\\degree)\s*$")
_COMPUTER_NUMBER = re.compile(r"([-+]?\d{1,30}(?:\.\d{0,30})?)[eE]([-+]?\d{1,4})")
_REWRITTEN = {"amp": " ", "wide": " ", "column": " ", "drop": " ", "prose": ", "}
_EDGES = (r"\,", r"\;", r"\:", r"\!", r"\>")


@dataclass(frozen=True, slots=True)
class LocatedFormula:
    r"""One formula and where it stands.

    Attributes:
        latex: what `parse` reads; differs from the source by what was carried over, unwrapped or dropped.
        span: offsets with `text[start:end]` the source; a boxed formula may lie inside the chain that it ends.
        kind: `display`, `inline`, `boxed`, `plain` (no delimiters), `thinking` (before the end of a thinking block).
        led: the source begins with a relation or follows an arrow such as `\Rightarrow`.
        block: ordinal of the delimited block, so that rows of one block can be told.
        in_passing: its sentence does not quite assert it: "would be", a rejected root, a condition.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    led: bool = False
    block: int = 0
    in_passing: bool = False


@dataclass(frozen=True, slots=True)
class _Left:
    """What a row that begins with a relation continues: first and last member so far, and whether `=` joins them."""

    first: str
    last: str
    is_equal: bool = True
    is_aligned: bool = False  # holds an alignment mark, so that a row below lines up with it

    @property
    def head(self) -> str:
        return self.first if self.is_equal else self.last


_Found = tuple[list[LocatedFormula], _Left | None]  # formulas, and what a row below them may continue


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a limit kept from being read: characters of the text, and formulas or blocks of them."""

    characters: int = 0
    formulas: int = 0


class Extraction(tuple[LocatedFormula, ...]):
    """The formulas of a solution in order of position.

    Attributes:
        text: what spans refer to; of messages or steps, the joined text.
        left_out: what the limits kept from being read; all zero for a solution of usual length.
    """

    text: str
    left_out: LeftOut

    def __new__(
        cls, found: Iterable[LocatedFormula] = (), text: str = "", left_out: LeftOut | None = None
    ) -> Extraction:
        """The formulas, with the text they come from."""
        self = super().__new__(cls, found)
        self.text = text
        self.left_out = left_out or LeftOut()
        return self

    def __reduce__(self) -> tuple[type[Extraction], tuple[tuple[LocatedFormula, ...], str, LeftOut]]:
        """Pickled with its attributes: workers send it between processes."""
        return type(self), (tuple(self), self.text, self.left_out)


def extract(solution: Solution) -> Extraction:
    r"""All formulas of a solution, in order of position. Never raises on a text; what is malformed is left to `parse`.

    Of a solution longer than the limit the beginning and the end are read, the end the longer, for the result stands
    there; of too many formulas the last are kept. What is left out is counted in `left_out`.

    Args:
        solution: a text, chat messages of which only the assistant's are read, or a list of steps.

    Errors:
        PrismError: a solution of another shape.

    >>> [item.latex for item in extract(r"Then $$v &= at \\ &= 6.$$")]
    ['v = at', 'v = 6']
    """
    joined = solution_text(solution)
    text = joined.text
    thinking = _united([*thoughts(text), *joined.thinking])
    windows = _windows(text)
    found: list[LocatedFormula] = []
    n_left = 0
    for start, end in reversed(windows):
        inner = [(max(lo, start) - start, min(hi, end) - start) for lo, hi in thinking if lo < end and hi > start]
        more, n_more = _read_window(_from_code(text[start:end], start, text), inner, MAX_FORMULAS - len(found))
        found = [*(_moved(item, start) for item in more), *found]
        n_left += n_more
    return Extraction(found, text, LeftOut(windows[-1][0] - windows[0][1] if windows[1:] else 0, n_left))


def _read_window(text: str, thinking: list[tuple[int, int]], n_most: int) -> tuple[list[LocatedFormula], int]:
    """The formulas of a stretch that is read, in order, and how many formulas or blocks of them are left out."""
    text, blocks = mask(text)
    for start, end in pairwise([0, *(edge for span in thinking for edge in span), len(text)]):
        blocks += delimited(text, start, end)
    blocks += list(bare_displays(text, blocks))
    text = without_comments(text, blocks)
    blocks += list(plain_formulas(text, blocks))
    text, blocks = merged(text, sorted(blocks, key=lambda block: (block.outer_start, block.outer_end)))
    found, n_left = _formulas(text, blocks, thinking, n_most)
    return _alternatives(text, sorted(found, key=lambda item: (item.span[0], -item.span[1]))), n_left


def _windows(text: str) -> list[tuple[int, int]]:
    """What is read of a text: all of it, or its beginning and, as the longer part, its end, cut at line ends."""
    end = len(text.rstrip())
    if end <= MAX_TEXT:
        return [(0, end)]
    head = text.rfind("\n", 0, MAX_TEXT // 4) + 1 or MAX_TEXT // 4
    start = max(head, end - MAX_TEXT + head)
    line_end = text.find("\n", start, start + _CUT_REACH)
    return [(0, head), (line_end if line_end >= 0 else start, end)]


def _moved(item: LocatedFormula, by: int) -> LocatedFormula:
    return replace(item, span=(item.span[0] + by, item.span[1] + by), block=item.block + by) if by else item


def _from_code(window: str, start: int, text: str) -> str:
    """The window, without its beginning if that lies inside a code fence which was opened before."""
    return without_end_of_code(window) if start and is_in_code(text, start) else window


def _alternatives(text: str, found: list[LocatedFormula]) -> list[LocatedFormula]:
    """Formulas on one subject with nothing but "or" between them as one: alternatives are one claim, never several."""
    kept: list[LocatedFormula] = []
    for item in found:
        last = kept[-1] if kept else item
        if last.span[1] < item.span[0] and _OR.fullmatch(text, last.span[1], item.span[0]) and _same(last, item):
            latex = rf"{last.latex} \text{{ or }} {item.latex}"
            kept[-1] = replace(last, latex=latex, span=(last.span[0], item.span[1]))
        else:
            kept.append(item)
    return kept


def _same(one: LocatedFormula, two: LocatedFormula) -> bool:
    """Whether two formulas speak about the same subject."""
    subjects = [item.latex.partition("=") for item in (one, two)]
    return one.kind == two.kind and subjects[0][0].split() == subjects[1][0].split() and all(s[1] for s in subjects)


def _united(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Thinking blocks in order, overlapping ones as one."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _formulas(
    text: str, blocks: list[Block], thinking: list[tuple[int, int]], n_most: int
) -> tuple[list[LocatedFormula], int]:
    """The formulas of the blocks, the last ones if they are too many, and how many formulas or blocks are left out."""
    hushed, passing = denied(text, blocks), in_passing(text, blocks)
    found: list[LocatedFormula] = []
    n_left = 0
    for run in reversed(_runs(text, blocks)):
        if len(found) >= n_most:
            n_left += len(run)
            continue
        left: _Left | None = None
        of_run: list[LocatedFormula] = []
        for ordinal in run:
            block = blocks[ordinal]
            if ordinal in hushed or (block.kind == "inline" and _LONE_SCRIPT.fullmatch(text, block.start, block.end)):
                left = None
                continue
            formulas, left = _read_block(text, block, left)
            span = thinking[bisect_right(thinking, (block.start, len(text))) - 1] if thinking else (0, 0)
            is_thought = span[0] <= block.start < span[1]
            of_run += [
                replace(
                    item, kind="thinking" if is_thought else item.kind, block=ordinal, in_passing=ordinal in passing
                )
                for item in formulas
            ]
        n_over = max(0, len(found) + len(of_run) - n_most)
        n_left += n_over
        found += of_run[n_over:]
    return found, n_left


def _runs(text: str, blocks: Sequence[Block]) -> list[list[int]]:
    """Indices of blocks in runs: within one, a block may continue the one before it."""
    runs: list[list[int]] = []
    previous_end = 0
    for ordinal, block in enumerate(blocks):
        is_headless = len(block.signs) == len(block.members) > 0
        adjacent = _BELOW if is_headless else _ADJACENT
        if runs and previous_end <= block.outer_start and adjacent.fullmatch(text, previous_end, block.outer_start):
            runs[-1].append(ordinal)
        else:
            runs.append([ordinal])
        previous_end = block.outer_end
    return runs


def _read_block(text: str, block: Block, left: _Left | None) -> _Found:
    """Formulas of one block, in order, and what a following block may continue."""
    span = (block.start, block.end)
    if block.members:
        return _read_plain(block, left)
    if block.end - block.start > _MAX_BLOCK:
        whole = text[slice(*span)].strip()
        return [LocatedFormula(whole, span, block.kind)] if whole else [], None
    if block.kind == "boxed":
        found, left = _read_box(scan(text, *span), left, False, 0)
    else:
        found, left = _read(scan(text, *span), block.kind, left, 0)
        if block.kind == "plain":  # a piece without a relation is what is left of a sentence
            found = [item for item in found if _RELATED.search(item.latex)]
    number = _DEGREES.sub("", left.last) if left else ""
    if found and left and block.kind in ("inline", "boxed") and _NUMBER.fullmatch(number):
        unit, end = unit_after(text, block.outer_end) if number == left.last else scale_after(text, block.outer_end)
        last = max(item.span[1] for item in found)
        if unit:
            found = [
                replace(item, latex=item.latex + unit, span=(item.span[0], end)) if item.span[1] == last else item
                for item in found
            ]
    return found, left


def _read_plain(block: Block, left: _Left | None) -> _Found:
    """A formula without delimiters, which has been written as LaTeX; without a left side it is none."""
    members = block.members
    is_headless = len(block.signs) == len(members)
    if is_headless:
        if left is None or not left.head or len(left.head) > _MAX_CARRIED:
            return [], None
        members = (left.head, *members)
    latex = members[0] + "".join(f" {sign} {member}" for sign, member in zip(block.signs, members[1:], strict=True))
    is_equal = all(sign in EQUALITIES for sign in block.signs)
    formula = LocatedFormula(latex, (block.start, block.end), "plain", is_headless)
    return [formula], _Left(members[0], members[-1], is_equal)


def _read(found: Scan, kind: str, left: _Left | None, level: int) -> _Found:
    """Formulas of the rows of a block, each row with what it takes from the rows before it."""
    formulas: list[LocatedFormula] = []
    lefts = [left] if left else []  # one for each formula of the last row
    for row in joined_rows(top_level(found)):
        inner = [item for item in row if item.kind not in TRIMMED]
        if level < MAX_NESTING and is_grouped(inner):
            for group in inner:
                more, after = _read(scan(found.text, *group.inner), kind, lefts[-1] if lefts else None, level + 1)
                formulas += more
                lefts = [after] if after else lefts
            continue
        pieces = cut_row(settled(row))
        is_paired = len(pieces) == len(lefts) > 1 and all(piece.items[0].kind == "relation" for piece in pieces)
        aligned = [other for other in lefts if other.is_aligned]
        current = (aligned if len(aligned) == 1 else [None, *lefts])[-1]
        after_row: list[_Left] = []
        for at, piece in enumerate(pieces):
            more, current = _emit(found, piece, lefts[at] if is_paired else current, kind, level)
            formulas += more
            after_row += [current] if current and not piece.is_remark else []
        lefts = after_row or lefts
    return formulas, lefts[-1] if lefts else None


def _emit(found: Scan, piece: Piece, left: _Left | None, kind: str, level: int) -> _Found:
    """Write out one piece, with the left side it continues; a boxed member comes back as a formula of its own."""
    row = piece.items
    if len(row) == 1 and row[0].kind == "box" and level < MAX_NESTING:
        return _read_box(scan(found.text, *row[0].inner), left, piece.led, level + 1)
    places = relations(row)
    members = [_latex(found, row[lo + 1 : hi]) for lo, hi in pairwise([-1, *places, len(row)])]
    signs = [_latex(found, row[at : at + 1]) for at in places]
    latex = _latex(found, row)
    is_headless = places[:1] == [0]
    if is_headless:
        head = left.head if left else ""
        if head and len(head) <= _MAX_CARRIED:
            latex = f"{head} {latex}"
            members[0] = head
        elif signs[0] in EQUALITIES:
            latex = _latex(found, row[1:])
            del members[0], signs[0]
    if not latex:
        return [], left
    if piece.tail:
        latex = f"{latex} {_latex(found, piece.tail)}"
        row = (*row, *piece.tail)
    if row[0].kind == "box" and (not places or has_relation(row[0])):
        kind = "boxed"
    formulas = [LocatedFormula(latex, (row[0].start, row[-1].end), kind, piece.led or is_headless)]
    row = piece.items
    if kind != "boxed" and level < MAX_NESTING:
        formulas += _boxed_members(row, places, members, signs, level)
    is_equal = all(sign in EQUALITIES for sign in signs)
    is_aligned = any(item.kind == "amp" for item in row)
    return formulas, left if piece.is_remark else _Left(members[0], members[-1], is_equal, is_aligned)


def _boxed_members(
    row: Sequence[Item], places: list[int], members: list[str], signs: list[str], level: int
) -> list[LocatedFormula]:
    r"""`x = a = \boxed{b}` commits to `x = b`: the box gets the left side of its chain."""
    formulas: list[LocatedFormula] = []
    missing = len(places) - len(signs)  # a leading relation that was dropped
    equal = next((at for at, sign in enumerate(signs) if sign not in EQUALITIES), len(signs))
    for number, (at, end) in enumerate(pairwise([*places, len(row)]), start=-missing):
        inside = [item for item in row[at + 1 : end] if item.kind not in EMPTY]
        if not inside or inside[0].kind != "box":
            continue
        box, span = inside[0], (inside[0].start, inside[-1].end)
        head = members[0] if number <= equal else members[number]
        if has_relation(box):
            formulas += _read_box(scan(box.text, *box.inner), None, True, level + 1)[0]
        elif number < 0:
            formulas.append(LocatedFormula(members[0], span, "boxed", True))
        elif head and len(head) <= _MAX_CARRIED:
            formulas.append(LocatedFormula(f"{head} {signs[number]} {members[number + 1]}", span, "boxed", True))
    return formulas


def _read_box(found: Scan, left: _Left | None, led: bool, level: int) -> _Found:
    """A box with relations is read like a block; one without is a single value or a sentence, and stays whole."""
    formulas, after = _read(found, "boxed", left, level)
    if len(formulas) == 1:
        latex = _decimal(formulas[0].latex)
        after = _Left(latex, latex) if latex != formulas[0].latex else after
        formulas[0] = replace(formulas[0], latex=latex)
    row = [item for item in top_level(found) if item.kind not in EMPTY]
    is_sentence = any(
        item.kind == "text" and text_kind(item.content) == "prose" and not is_label(item.content) for item in row
    )
    if row and (is_sentence or len(formulas) != 1) and not found.mentions_relation():
        latex = " ".join(found.clean(found.start, found.end).split())
        if not latex:
            return [], left
        return [LocatedFormula(latex, (row[0].start, row[-1].end), "boxed", led)], _Left(latex, latex)
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


def _latex(found: Scan, row: Sequence[Item]) -> str:
    """What `parse` reads: the source of the items, unwrapped, without what is dropped, in single spaces."""
    if row and not any(item.latex or item.kind == "box" or item.kind in _REWRITTEN for item in row):
        return _tidy(found.clean(row[0].start, row[-1].end))
    parts: list[str] = []
    for at, item in enumerate(row):
        if item.kind == "box":
            content = _decimal(found.clean(*item.inner).strip())
            before, after = (kind_beside(row, at, step) in ("", "relation") for step in (-1, 1))
            is_bare = before and (after or has_relation(item) or _NUMBER.fullmatch(content))
            parts.append(f" {content} " if is_bare else f"{{{content}}}")
        else:
            parts.append(_REWRITTEN.get(item.kind) or item.latex or found.clean(item.start, item.end))
    return _tidy("".join(parts))


def _tidy(latex: str) -> str:
    latex = " ".join(latex.split()).replace(" , ", ", ")
    while True:
        shorter = latex.strip(" ~")
        for edge in _EDGES:
            shorter = shorter.removeprefix(edge)
            if shorter.endswith(edge) and not shorter.endswith("\\" + edge):
                shorter = shorter.removesuffix(edge)
        if shorter == latex:
            return latex
        latex = shorter
