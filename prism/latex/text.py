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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from prism.latex.blocks import MAX_GAP, Block, delimited, mask, merged, thoughts
from prism.latex.items import EQUALITIES, MAX_NESTING, Item, Scan, has_relation, relations, scan, top_level
from prism.latex.pieces import EMPTY, TRIMMED, Piece, cut_row, is_grouped, joined_rows, kind_beside, settled
from prism.latex.plain import plain_lines
from prism.latex.words import is_label, text_kind, unit_after

MAX_TEXT = 200_000  # characters read of one solution; what follows is not looked at
MAX_FORMULAS = 2_000  # formulas of one solution; a text of nothing but `$a$` would give 60,000
_MAX_CARRIED = 1_000  # characters of a left side repeated in each row below it; longer ones would square the text
_MAX_BLOCK = 20_000  # characters of one delimited block; a longer one is handed on whole, for `parse` to refuse

_ADJACENT = re.compile(rf"[\s(]{{0,{MAX_GAP}}}")  # between `$m$` and `($= 5$ kg)`; no words: the second continues
_POWER_OF_TEN = r"10\s*\^\s*(?:\{\s*[-+−]?\s*\d+\s*\}|\d)"
_NUMBER = re.compile(  # the bounds on digits are beyond any number of physics, and keep a match short
    rf"[-+−]?\s*(?:\d[\d.,]{{0,30}}(?:\{{,\}}\d{{3}}){{0,6}}"
    rf"(?:\s*(?:\\times|\\cdot|×|·)\s*{_POWER_OF_TEN})?|{_POWER_OF_TEN})"
)
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
    """

    latex: str
    span: tuple[int, int]
    kind: str
    led: bool = False
    block: int = 0


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


def extract(text: str) -> tuple[LocatedFormula, ...]:
    r"""All formulas of a solution, in order of position. Never raises; what is malformed is left to `parse`.

    >>> [item.latex for item in extract(r"Then $$v &= at \\ &= 6.$$")]
    ['v = at', 'v = 6']
    """
    text, blocks = mask(text[:MAX_TEXT])
    thinking = thoughts(text)
    for start, end in pairwise([0, *(edge for span in thinking for edge in span), len(text)]):
        blocks += delimited(text, start, end)
    blocks += islice(plain_lines(text, blocks), MAX_FORMULAS)
    text, blocks = merged(text, sorted(blocks, key=lambda block: (block.outer_start, block.outer_end)))
    found: list[LocatedFormula] = []
    left: _Left | None = None
    previous_end = 0
    for ordinal, block in enumerate(blocks):
        if len(found) >= MAX_FORMULAS:
            break
        if not _ADJACENT.fullmatch(text, previous_end, block.outer_start):
            left = None
        formulas, left = _read_block(text, block, left)
        span = thinking[bisect_right(thinking, (block.start, len(text))) - 1] if thinking else (0, 0)
        is_thought = span[0] <= block.start < span[1]
        found += [replace(item, kind="thinking" if is_thought else item.kind, block=ordinal) for item in formulas]
        previous_end = block.outer_end
    return tuple(sorted(found[:MAX_FORMULAS], key=lambda item: (item.span[0], -item.span[1])))


def _read_block(text: str, block: Block, left: _Left | None) -> _Found:
    """Formulas of one block, in order, and what a following block may continue."""
    span = (block.start, block.end)
    if block.latex:
        return [LocatedFormula(block.latex, span, "plain")], None
    if block.end - block.start > _MAX_BLOCK:
        whole = text[slice(*span)].strip()
        return [LocatedFormula(whole, span, block.kind)] if whole else [], None
    if block.kind == "boxed":
        found, left = _read_box(scan(text, *span), left, False, 0)
    else:
        found, left = _read(scan(text, *span), block.kind, left, 0)
    if found and left and block.kind in ("inline", "boxed") and _NUMBER.fullmatch(left.last):
        unit, end = unit_after(text, block.outer_end)
        last = max(item.span[1] for item in found)
        if unit:
            found = [
                replace(item, latex=item.latex + unit, span=(item.span[0], end)) if item.span[1] == last else item
                for item in found
            ]
    return found, left


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
        if len(formulas) >= MAX_FORMULAS:
            break
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
    if row[0].kind == "box" and (not places or has_relation(row[0])):
        kind = "boxed"
    formulas = [LocatedFormula(latex, (row[0].start, row[-1].end), kind, piece.led or is_headless)]
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
