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
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from prism import budget
from prism.latex.extraction.announced import announced_blocks, answer_tags, find_announced_values, values_in_rows
from prism.latex.extraction.blocks import MAX_GAP, Block, find_delimited_blocks, merge_continued_displays
from prism.latex.extraction.denials import denied_starts, says_it_is_wrong
from prism.latex.extraction.items import (
    EQUALITIES,
    MAX_NESTING,
    Item,
    Scan,
    has_relation,
    relation_indices,
    scan,
    top_level_items,
)
from prism.latex.extraction.joined import find_named_values, find_second_values, join_split_formulas, torn_blocks
from prism.latex.extraction.joints import Joint, joints_of
from prism.latex.extraction.masking import (
    blank_comments,
    blank_to_fence_end,
    is_in_code_fence,
    mask,
    thinking_spans,
    with_decimal_points,
)
from prism.latex.extraction.pieces import (
    EMPTY,
    Piece,
    cut_row,
    kind_beside,
    resolve_ambiguous_items,
    row_of_groups,
    split_into_rows,
)
from prism.latex.extraction.retractions import (
    denied_blocks,
    is_changed_by,
    is_named_wrong,
    mask_blocks,
    unasserted_blocks,
)
from prism.latex.extraction.solution_input import Solution, excerpt, solution_text
from prism.latex.extraction.struck_lines import disowned_blocks, passed_over_blocks, struck_blocks
from prism.latex.extraction.typed_names import TypedNames, typed_names
from prism.latex.extraction.undelimited import Unread, find_bare_displays, find_plain_formulas
from prism.latex.extraction.worded_clauses import read_worded
from prism.latex.macros import (
    NO_MACROS,
    Macros,
    defined_macros,
    defines_macros,
    expand,
    merged,
    package_macros,
    uses_packages,
)
from prism.latex.prose import FORMULA, MAX_SENTENCE
from prism.latex.words import is_label, temperature_scale_after, text_kind, unit_after, unit_goes_on

MAX_FORMULAS = 2_000  # formulas kept of one solution, the last ones; a text of nothing but `$a$` would give 60,000
_MAX_CARRIED = 1_000  # characters of a left side repeated in each row below it; longer ones would square the text
_MAX_REPEATED = 50_000  # characters that all formulas of a solution repeat of others; 2,685 are the most of 1,040
_CHARACTER = 350  # operations for each character of a text: to find its formulas
_BLOCK, _OF_BLOCK = 10_000, 800  # operations for each formula that is cut into rows, and for each character of it
_KNOWN_CONTENTS, _LONGEST_KNOWN = 4096, 400  # contents of blocks whose formulas are kept, and characters of one
_MAX_BLOCK = 20_000  # characters of one delimited block; a longer one is handed on whole, for `parse` to refuse

_RELATED = re.compile(r"[=<>≈≤≥≪≫∝≃≅≡∼]|\\(?:approx|propto|sim(?:eq)?|leq?|geq?|ll|gg|neq?|equiv|to|cong)(?![A-Za-z])")
_MASK = 3 * FORMULA  # of each item of a row beside its words
_SAYS_NOTHING = re.compile(
    r"(?:[^\w\\∞⊥∅(\[]|\\(?:[,;:!> |]|(?:(?:long)?rightarrow|to|[cl]?dots|pm|times)(?![A-Za-z])))*"
)
_FALSUM = re.compile(r"\\bot|⊥")
_AND = re.compile(r"\s?\$\s?(?:[,;~]|,? and)\s?\$\s?")  # between two numbers that are a list
_OR = re.compile(
    r"[\s$(\[)\]\\,.;]{0,8}\b(?:or|[Oo]therwise|alternatively|maybe|perhaps|possibly)\b"
    r"(?: else| perhaps| maybe| possibly)?(?: about| roughly| around| even)?,?"
    r"[\s$(\[\\]{1,8}(?:(?:it is|we have|by) )?[\s$(\[\\]{0,8}"
)
_SYMBOL = re.compile(r"\\?[A-Za-z]+'*(?:_(?:\{[^{}]*\}|\w))?")  # `$v = gt$ or $v$` names one thing more
_SPLIT_SIGN = re.compile(r":&(\s?)=")  # `:=` with its column mark inside
_GROUPING = str.maketrans("", "", "{} \t\n")
_BELOW = re.compile(  # between a formula without delimiters and a row below it that begins with `=`
    rf"[.,;]?(?:[ \t\u2000-\u200b]{{1,{MAX_GAP}}}(?:\([^()\n]{{0,80}}\)|\[[^\[\]\n]{{0,80}}\]))?[.,;*]{{0,3}}"
    rf"[ \t\u2000-\u200b]{{0,{MAX_GAP}}}(?:\n[ \t>]{{0,{MAX_GAP}}}){{0,2}}[\s*•\u2000-\u200b]{{0,{MAX_GAP}}}"
)
_ADJACENT = re.compile(rf"[\s(]{{0,{MAX_GAP}}}")  # between `$m$` and `($= 5$ kg)`; no words: the second continues
_POWER_OF_TEN = r"10\s*\^\s*(?:\{\s*[-+−]?\s*\d+\s*\}|\d)"
_NUMBER = re.compile(  # the bounds on digits are beyond any number of physics, and keep a match short
    rf"[-+−]?\s*(?:\d[\d.,]{{0,30}}(?:\{{,\}}\d{{1,9}}|(?:\{{,\}}|\\,)\d{{3}}){{0,6}}"
    rf"(?:\s*(?:\\times|\\cdot|×|·)\s*{_POWER_OF_TEN})?|{_POWER_OF_TEN})"
)
_LONE_SCRIPT = re.compile(  # typography: `m$^3$`, `CO$_2$`
    r"\s*[_^]\s*(?:\{[^{}]{0,40}\}|[-+−]?\w{1,2}|\\[A-Za-z]{1,20})\s*"
)
_SPECIES = r"(?:[A-Z][A-Za-z0-9_^{}+-]*|\\(?:mathrm|text|ce)\b[^\[\]]*)"  # whose concentration `[A]` is
_DIMENSIONS = re.compile(  # `[v] = [\sqrt{gh}]` compares dimensions
    rf"\s*(?!(?:\\left)?\[\s*{_SPECIES}\s*(?:\\right)?\]\s*=\s*(?:\\left)?\[\s*{_SPECIES}\s*(?:\\right)?\])"
    r"(?:\\left)?\[[^\[\]]+\]\s*(?:=|\\equiv|\\sim)\s*(?:\\left)?\[[^\[\]]+\]\s*"
)
_REFERENCE = re.compile(  # to an equation, a figure or a book between the delimiters of a formula: it states nothing
    r"[\s(~]*(?:\\(?:eqref|ref|pageref|autoref|nameref|[cC]ref|cite[pt]?)\*?\s*(?:\[[^\[\]]*\]\s*)?\{[^{}]*\}[\s,;.)~]*)+"
)
_DEGREES = re.compile(r"\s*(?:\\[ ,;:]\s*)?(?:\^\s*\{?\s*\\circ\s*\}?|\\degree)\s*$")
_COMPUTER_NUMBER = re.compile(r"([-+]?\d{1,30}(?:\.\d{0,30})?)[eE]([-+]?\d{1,4})")
_REWRITTEN = {"amp": " ", "wide": " ", "column": " ", "drop": " ", "prose": ", "}
_WRITTEN_ANEW = _REWRITTEN.keys() | {"box"}  # kinds of items that are not written as they stand in the text
_NOTHING_BEFORE = "\0"  # stands before a block that begins the text
_EDGES = (r"\,", r"\;", r"\:", r"\!", r"\>")


@dataclass(frozen=True, slots=True)
class LocatedFormula:
    r"""One formula of a solution, with its position and kind.

    Attributes:
        latex: what `parse` reads; differs from the source by what was carried over, unwrapped or dropped.
        span: offsets with `text[start:end]` the source; a boxed formula may lie inside the chain that it ends.
        kind: `display`, `inline`, `boxed`, `plain` (no delimiters), `thinking` (before the end of a thinking block).
        led: the source begins with a relation or follows an arrow such as `\Rightarrow`.
        block: ordinal of the delimited block, shared by the rows of one block.
        in_passing: its sentence does not quite assert it: "would be", a rejected root, a condition.
        is_announced: it is announced as the answer: "the answer is", a heading "Final answer", `####`, `<answer>`.
        joint: how it is joined to the formula before it.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    led: bool = False
    block: int = 0
    in_passing: bool = False
    is_announced: bool = False
    joint: Joint = Joint.NONE


class _ContinuedSide(NamedTuple):  # no dataclass, for speed, as `plain_tokens.Mark`
    """The left side that a row beginning with a relation takes over: the first and last member of the row before it."""

    first: str
    last: str
    is_equal: bool = True
    is_aligned: bool = False  # holds an alignment mark, so that a row below lines up with it

    @property
    def carried_member(self) -> str:
        """The left side that the next row takes: the first member if only equalities join the row, else the last."""
        return self.first if self.is_equal else self.last


class _Reading(NamedTuple):
    """A formula as it is read from its block; attributes as of `LocatedFormula`."""

    latex: str
    span: tuple[int, int]
    kind: str
    led: bool = False


# formulas, and what a row below them may continue
_FormulasAndLeft = tuple[list[_Reading], _ContinuedSide | None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Counts of what the limits kept from being read: characters of the text, and formulas."""

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
        cls, formulas: Iterable[LocatedFormula] = (), text: str = "", left_out: LeftOut | None = None
    ) -> Extraction:
        """Make the tuple of formulas with the text that their spans refer to."""
        self = super().__new__(cls, formulas)
        self.text = text
        self.left_out = left_out or LeftOut()
        return self

    def __reduce__(self) -> tuple[type[Extraction], tuple[tuple[LocatedFormula, ...], str, LeftOut]]:
        """Pickle the tuple with its attributes: workers send it between processes."""
        return type(self), (tuple(self), self.text, self.left_out)


def extract(
    solution: Solution,
    *,
    macros: Macros | None = None,
    symbols: frozenset[str] = frozenset(),
    thinking: bool = True,
    is_statement: bool = False,
) -> Extraction:
    r"""Find all formulas of a solution, in order of position. Never raises on a text; `parse` refuses malformed ones.

    Of a solution longer than the limit the beginning and the end are read, the end the longer, for the result stands
    there; of too many formulas the last are kept. What is left out is counted in `left_out`.

    Args:
        solution: a text, chat messages of which only the assistant's are read, or a list of steps.
        macros: known beside those that the text itself defines, which go before them: `{"vc": Macro(...)}`, as
            `prism.latex.macros.read_macros` and the `macros` of a Context give them.
        symbols: of the problem; formulas without delimiters may be typed in them: `vfx` for `v_{fx}`.
        thinking: read thinking blocks. Without, of their formulas only those within a sentence's reach of the rest are
            given, for they may say how that is meant; the others count towards no limit.
        is_statement: the text is a problem's, which gives what it asks to show.

    Errors:
        PrismError: a solution of another shape.

    >>> [item.latex for item in extract(r"Then $$v &= at \\ &= 6.$$")]
    ['v = at', 'v = 6']
    """
    joined = solution_text(solution)
    text, read = joined.text, excerpt(joined.text)
    thoughts = [(read.in_solution(start), read.in_solution(end)) for start, end in thinking_spans(read.text)]
    thoughts = _merge_spans([*thoughts, *joined.thinking])
    found: list[LocatedFormula] = []
    n_left = 0
    known = _known_macros(text, read.windows, macros or NO_MACROS)
    for start, end in reversed(read.windows):
        inner = [(max(lo, start) - start, min(hi, end) - start) for lo, hi in thoughts if lo < end and hi > start]
        is_code = start > 0 and is_in_code_fence(read.text, read.tail_at)
        window = blank_to_fence_end(text[start:end]) if is_code else text[start:end]
        page = expand(window, known, start)
        inner = [(page.offset_in_text(lo), page.offset_in_text(hi)) for lo, hi in inner] if page.uses else inner
        unread = [] if thinking else [(lo + MAX_SENTENCE, hi - MAX_SENTENCE) for lo, hi in inner]
        limit = MAX_FORMULAS - len(found)
        more, n_more = _window_formulas(page.text, inner, Unread(unread), limit, typed_names(symbols), is_statement)
        more = [replace(item, span=page.span_in_original(item.span)) for item in more] if page.uses else more
        found = [*(_shift_offsets(item, start) for item in more), *found]
        n_left += n_more
    kept = _without_repetition(found)
    return Extraction(kept, text, LeftOut(read.n_left_out, n_left + len(found) - len(kept)))


def _known_macros(text: str, windows: Sequence[tuple[int, int]], given: Macros) -> Macros:
    """Return the macros of a text: those it defines, those given for it, and commands of packages where it has any."""
    own: Macros = NO_MACROS
    for start, end in windows if defines_macros(text) else ():
        own = merged(own, defined_macros(text[start:end], start))
    return {**(package_macros() if uses_packages(text) else NO_MACROS), **given, **own}


def _without_repetition(found: list[LocatedFormula]) -> list[LocatedFormula]:
    """Return the last formulas that repeat `_MAX_REPEATED` characters of others, as rows do that take a left side."""
    n_repeated = 0
    for at in range(len(found) - 1, -1, -1):
        start, end = found[at].span
        n_repeated += max(0, len(found[at].latex) - (end - start))
        if n_repeated > _MAX_REPEATED:
            return found[at + 1 :]
    return found


def _window_formulas(
    text: str, thinking: list[tuple[int, int]], unread: Unread, limit: int, typed: TypedNames, is_statement: bool
) -> tuple[list[LocatedFormula], int]:
    """Extract the formulas of one window of the text, the last `limit`, in order; also return the number left out."""
    budget.charge(len(text) * _CHARACTER)
    text = _SPLIT_SIGN.sub(r"&\1:=", with_decimal_points(text))
    tags = answer_tags(text)
    text, blocks = mask(text)
    for start, end in pairwise([0, *(edge for span in thinking for edge in span), len(text)]):
        blocks += find_delimited_blocks(text, start, end)
    blocks += list(find_bare_displays(text, blocks))
    text = blank_comments(text, blocks)
    text, blocks = join_split_formulas(text, sorted(blocks, key=lambda block: (block.outer_start, block.outer_end)))
    blocks = _with_named_values(blocks, [*find_named_values(text, blocks), *find_second_values(text, blocks)])
    blocks += list(find_plain_formulas(text, blocks, typed, unread))
    blocks.sort(key=lambda block: (block.outer_start, block.outer_end))
    blocks += find_announced_values(text, blocks, tags)
    blocks.sort(key=lambda block: (block.outer_start, block.outer_end))
    text, blocks = merge_continued_displays(text, blocks)
    found, n_left = _read_blocks(text, blocks, thinking, unread, limit, tags, is_statement)
    in_order = sorted(found, key=lambda item: (item.span[0], -item.span[1]))
    return _with_joints(text, _join_alternatives(text, in_order)), n_left


def _with_joints(text: str, formulas: list[LocatedFormula]) -> list[LocatedFormula]:
    """Return the formulas with how each is joined to the one before it, without what a struck arrow leads to."""
    joints = joints_of(text, [item.span for item in formulas])
    pairs = zip(formulas, joints, strict=True)
    return [replace(item, joint=joint) if joint else item for item, joint in pairs if joint != Joint.STRUCK]


def _with_named_values(blocks: list[Block], equations: list[Block]) -> list[Block]:
    """Return the blocks with equations in the place of those that they cover; both ascend, the equations by row."""
    taken: list[Block] = []
    for equation in sorted(equations, key=lambda block: block.outer_start):
        if not taken or equation.outer_start >= taken[-1].outer_end:
            taken.append(equation)
    ends = [each.outer_end for each in taken]
    free = []
    for block in blocks:
        at = bisect_right(ends, block.outer_start)
        if at >= len(taken) or taken[at].outer_start >= block.outer_end:
            free.append(block)
    return [*free, *taken]


def _shift_offsets(item: LocatedFormula, shift: int) -> LocatedFormula:
    """Shift the offsets of a formula by a number of characters."""
    return replace(item, span=(item.span[0] + shift, item.span[1] + shift), block=item.block + shift) if shift else item


def _join_alternatives(text: str, formulas: list[LocatedFormula]) -> list[LocatedFormula]:
    """Join neighbouring formulas on one subject with only "or" or "otherwise" between them, and lists of numbers."""
    kept: list[LocatedFormula] = []
    for item in formulas:
        previous = kept[-1] if kept else item
        start, end = previous.span[1], item.span[0]
        joint = ""
        if start < end and _OR.fullmatch(text, start, end) and _have_same_subject(previous, item):
            joint = r" \text{ or } "
        elif start < end and _AND.fullmatch(text, start, end) and _lists_on(previous, item):
            joint = ", "
        if joint:
            span = previous.span[0], item.span[1]
            kept[-1] = replace(previous, latex=f"{previous.latex}{joint}{item.latex}", span=span)
        else:
            kept.append(item)
    return kept


def _lists_on(first: LocatedFormula, second: LocatedFormula) -> bool:
    """Return True if a second number follows an equation that gives one: `$x = 2$ and $3$`."""
    value = first.latex.rpartition("=")[2].partition(r"\,\unit")[0]
    numbers = (value.strip(), second.latex.partition(r"\,\unit")[0].strip())
    is_inline = first.kind == second.kind == "inline"
    return is_inline and "=" in first.latex and all(_NUMBER.fullmatch(each) for each in numbers)


def _have_same_subject(first: LocatedFormula, second: LocatedFormula) -> bool:
    """Return True if two formulas are of one kind and equal up to their first `=`, or the second is a value alone."""
    (left, sign, _), (other_left, other_sign, _) = (item.latex.partition("=") for item in (first, second))
    if not sign and not other_sign:
        return first.is_announced and second.is_announced
    if sign and not _RELATED.search(second.latex) and not _SYMBOL.fullmatch(second.latex):
        return first.kind == "inline" and second.kind in ("inline", "plain")
    is_same = left.translate(_GROUPING) == other_left.translate(_GROUPING)
    return first.kind == second.kind and is_same and bool(sign and other_sign)


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort spans and merge overlapping ones."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _read_blocks(
    text: str,
    blocks: list[Block],
    thinking: list[tuple[int, int]],
    unread: Unread,
    limit: int,
    tags: Sequence[int],
    is_statement: bool,
) -> tuple[list[LocatedFormula], int]:
    """Read the formulas of the blocks, the last `limit`, in no order; also return the number left out."""
    masked = mask_blocks(text, blocks)
    hushed = denied_blocks(masked, is_statement=is_statement) | passed_over_blocks(masked) | torn_blocks(text, blocks)
    hushed |= struck_blocks(text, blocks, masked) | disowned_blocks(text, blocks, masked)
    passing = unasserted_blocks(masked)
    announced = announced_blocks(text, blocks, tags)
    found: list[LocatedFormula] = []
    n_left = 0
    for run in reversed(_group_continued_blocks(text, blocks)):
        if unread.holds(blocks[run[0]].start, blocks[run[-1]].end):
            continue
        if len(found) >= limit:
            n_left += len(run)
            continue
        left: _ContinuedSide | None = None
        of_run: list[LocatedFormula] = []
        for ordinal in run:
            block = blocks[ordinal]
            if ordinal in hushed or (block.kind == "inline" and _LONE_SCRIPT.fullmatch(text, block.start, block.end)):
                left = None
                continue
            formulas, left = _read_block(text, block, left)
            span = thinking[bisect_right(thinking, (block.start, len(text))) - 1] if thinking else (0, 0)
            is_thought = span[0] <= block.start < span[1]
            is_passing = ordinal in passing
            of_run += [
                LocatedFormula(
                    item.latex,
                    item.span,
                    "thinking" if is_thought else item.kind,
                    item.led,
                    ordinal,
                    is_passing,
                    ordinal in announced,
                )
                for at, item in enumerate(formulas)
                if not (
                    _REFERENCE.fullmatch(item.latex) or is_named_wrong(item.latex) or _DIMENSIONS.fullmatch(item.latex)
                )
            ]
        n_over = max(0, len(found) + len(of_run) - limit)
        n_left += n_over
        found += of_run[n_over:]
    return found, n_left


def _group_continued_blocks(text: str, blocks: Sequence[Block]) -> list[list[int]]:
    """Group the indices of blocks into runs, of MAX_FORMULAS at most, in which a block may continue the one before."""
    runs: list[list[int]] = []
    previous_end = 0
    for ordinal, block in enumerate(blocks):
        is_headless = len(block.signs) == len(block.members) > 0
        adjacent = _BELOW if is_headless else _ADJACENT
        is_open = bool(runs) and previous_end <= block.outer_start and len(runs[-1]) < MAX_FORMULAS
        if is_open and adjacent.fullmatch(text, previous_end, block.outer_start):
            runs[-1].append(ordinal)
        else:
            runs.append([ordinal])
        previous_end = block.outer_end
    return runs


def _read_block(text: str, block: Block, left: _ContinuedSide | None) -> _FormulasAndLeft:
    """Read the formulas of one block, in order, and the left side that a following block may continue."""
    span = (block.start, block.end)
    budget.charge(_BLOCK + (block.end - block.start) * _OF_BLOCK)
    if block.members:
        return _read_plain_block(block, left)
    if block.end - block.start > _MAX_BLOCK:
        whole = text[slice(*span)].strip()
        return [_Reading(whole, span, block.kind)] if whole else [], None
    found, left = _read_delimited(text, block, left)
    if not found or not left or block.kind not in ("inline", "boxed"):
        return found, left
    number = _DEGREES.sub("", left.last) if "circ" in left.last or "degree" in left.last else left.last
    if _NUMBER.fullmatch(number):
        unit, end = (
            unit_after(text, block.outer_end) if number == left.last else temperature_scale_after(text, block.outer_end)
        )
        last = max(item.span[1] for item in found)
        if unit_goes_on(text, end):
            return [item for item in found if item.span[1] != last], None
        if unit:
            found = [
                item._replace(latex=item.latex + unit, span=(item.span[0], end)) if item.span[1] == last else item
                for item in found
            ]
    return found, left


def _read_delimited(text: str, block: Block, left: _ContinuedSide | None) -> _FormulasAndLeft:
    """Read the formulas of a block with delimiters; what is short is read once, as samples of a group repeat it."""
    start = block.start
    content = (text[start - 1 : start] or _NOTHING_BEFORE) + text[start : block.end + 1]
    is_short = len(content) + (len(left.first) + len(left.last) if left else 0) <= _LONGEST_KNOWN
    read = _read_content if is_short else _read_content.__wrapped__
    found, left = read(content, 1 + block.end - start, block.kind, left)
    shift = start - 1
    return [_Reading(latex, (lo + shift, hi + shift), kind, led) for latex, (lo, hi), kind, led in found], left


@lru_cache(maxsize=_KNOWN_CONTENTS)
def _read_content(content: str, end: int, kind: str, left: _ContinuedSide | None) -> _FormulasAndLeft:
    """Read the formulas of a block's content, which the caller does not change.

    Args:
        content: the character before it, what stands from offset 1 to `end`, and the character behind it: beside a
            digit a comma is no separator.
        kind: of the block.
        left: what a row that begins with a relation continues.
    """
    scanned = scan(content, 1, end)
    if kind == "boxed":
        return _read_box(scanned, left, False, 0)
    found, left = _read_rows(scanned, kind, left, 0)
    if kind == "plain":  # a piece without a relation is what is left of a sentence, but for a falsehood
        found = [item for item in found if _RELATED.search(item.latex) or _FALSUM.fullmatch(item.latex)]
    return found, left


def _read_plain_block(block: Block, left: _ContinuedSide | None) -> _FormulasAndLeft:
    """Read the formula of a block without delimiters; empty if it lacks a left side and has none to take."""
    members = block.members
    is_headless = len(block.signs) == len(members)
    if is_headless:
        if left is None or not left.carried_member or len(left.carried_member) > _MAX_CARRIED:
            return [], None
        members = (left.carried_member, *members)
    latex = members[0] + "".join(f" {sign} {member}" for sign, member in zip(block.signs, members[1:], strict=True))
    is_equal = all(sign in EQUALITIES for sign in block.signs)
    formula = _Reading(latex, (block.start, block.end), "plain", is_headless)
    return [formula], _ContinuedSide(members[0], members[-1], is_equal)


def _read_rows(scanned: Scan, kind: str, left: _ContinuedSide | None, depth: int) -> _FormulasAndLeft:
    """Read the rows of a block; a row that begins with a relation takes its left side from `left` or above."""
    formulas: list[_Reading] = []
    lefts = [left] if left else []  # one for each formula of the last row
    for row in split_into_rows(top_level_items(scanned)):
        if depth < MAX_NESTING and (groups := row_of_groups(row)):
            for group in groups:
                inside = scan(scanned.text, *group.content_span)
                more, after = _read_rows(inside, kind, lefts[-1] if lefts else None, depth + 1)
                formulas += more
                lefts = [after] if after else lefts
            continue
        items = resolve_ambiguous_items(row)
        if any(_changes_row(item) for item in items):
            continue
        denied = _denied_in_words(items)
        pieces = [piece for piece in cut_row(items) if piece.items[0].start not in denied]
        is_paired = len(pieces) == len(lefts) > 1 and all(piece.items[0].kind == "relation" for piece in pieces)
        aligned = [other for other in lefts if other.is_aligned]
        current = (aligned if len(aligned) == 1 else [None, *lefts])[-1]
        after_row: list[_ContinuedSide] = []
        for at, piece in enumerate(pieces):
            more, current = _read_piece(scanned, piece, lefts[at] if is_paired else current, kind, depth)
            formulas += more
            after_row += [current] if current and not piece.is_remark else []
        lefts = after_row or lefts
    return formulas, lefts[-1] if lefts else None


def _changes_row(item: Item) -> bool:
    """Return True if words or a footnote in a row change what it says, or deny it."""
    if item.kind == "drop" and item.source.startswith((r"\footnote", r"\tag")):
        return says_it_is_wrong(item.content)
    return item.kind == "prose" and is_changed_by(item.content)


def _denied_in_words(row: Sequence[Item]) -> frozenset[int]:
    r"""Return the offsets of the items of a row that its words deny: `\text{It is not true that } x = 5`."""
    if not any(item.kind == "prose" and item.content for item in row):
        return frozenset()
    shown, runs = "", dict[int, list[int]]()
    first = 0
    for item in row:
        if item.kind == "prose":
            shown += item.content
        elif item.kind not in EMPTY:
            first = first if shown.endswith(_MASK) else len(shown)
            runs.setdefault(first, []).append(item.start)
            shown += _MASK
    denied = denied_starts(read_worded(shown.lower()), list(runs), is_statement=True)
    return frozenset(start for first in denied for start in runs[first])


def _read_piece(scanned: Scan, piece: Piece, left: _ContinuedSide | None, kind: str, depth: int) -> _FormulasAndLeft:
    """Write one piece of a row as a formula with the left side it continues; boxed members become formulas too."""
    row = piece.items
    if len(row) == 1 and row[0].kind == "box" and depth < MAX_NESTING:
        return _read_box(scan(scanned.text, *row[0].content_span), left, piece.led, depth + 1)
    kinds = {item.kind for item in row}
    places = relation_indices(row) if "relation" in kinds else []
    write = _source_latex if _reads_as_source(row) else _items_latex
    latex = write(scanned, row)
    members = [write(scanned, row[lo + 1 : hi]) for lo, hi in pairwise([-1, *places, len(row)])] if places else [latex]
    signs = [write(scanned, row[at : at + 1]) for at in places]
    is_headless = places[:1] == [0]
    if is_headless:
        left_side = left.carried_member if left else ""
        if left_side and len(left_side) <= _MAX_CARRIED:
            latex = f"{left_side} {latex}"
            members[0] = left_side
        elif signs[0] in EQUALITIES:
            latex = write(scanned, row[1:])
            del members[0], signs[0]
    if _SAYS_NOTHING.fullmatch(latex):
        return [], left
    if piece.tail:
        latex = f"{latex} {_items_latex(scanned, piece.tail)}"
        row = (*row, *piece.tail)
    if row[0].kind == "box" and (not places or has_relation(row[0])):
        kind = "boxed"
    formulas = [_Reading(latex, (row[0].start, row[-1].end), kind, piece.led or is_headless)]
    row = piece.items
    if "box" in kinds and kind != "boxed" and depth < MAX_NESTING:
        formulas += _boxed_members(row, places, members, signs, depth)
    is_equal = all(sign in EQUALITIES for sign in signs)
    return formulas, left if piece.is_remark else _ContinuedSide(members[0], members[-1], is_equal, "amp" in kinds)


def _boxed_members(
    row: Sequence[Item], relation_places: list[int], members: list[str], signs: list[str], depth: int
) -> list[_Reading]:
    r"""Make the formulas of boxed members of a chain: `x = a = \boxed{b}` gives `x = b`."""
    formulas: list[_Reading] = []
    missing = len(relation_places) - len(signs)  # a leading relation that was dropped
    equal = next((at for at, sign in enumerate(signs) if sign not in EQUALITIES), len(signs))
    for number, (at, end) in enumerate(pairwise([*relation_places, len(row)]), start=-missing):
        inside = [item for item in row[at + 1 : end] if item.kind not in EMPTY]
        if not inside or inside[0].kind != "box":
            continue
        box, span = inside[0], (inside[0].start, inside[-1].end)
        left_side = members[0] if number <= equal else members[number]
        if has_relation(box):
            formulas += _read_box(scan(box.text, *box.content_span), None, True, depth + 1)[0]
        elif number < 0:
            formulas.append(_Reading(members[0], span, "boxed", True))
        elif left_side and len(left_side) <= _MAX_CARRIED:
            formulas.append(_Reading(f"{left_side} {signs[number]} {members[number + 1]}", span, "boxed", True))
    return formulas


def _read_box(scanned: Scan, left: _ContinuedSide | None, led: bool, depth: int) -> _FormulasAndLeft:
    """Read a box: with relations or words in front of its rows like a block, else as one formula, value or sentence."""
    formulas, after = _read_rows(scanned, "boxed", left, depth)
    if len(formulas) == 1:
        latex = _computer_number_latex(formulas[0].latex)
        after = _ContinuedSide(latex, latex) if latex != formulas[0].latex else after
        formulas[0] = formulas[0]._replace(latex=latex)
    row = [item for item in top_level_items(scanned) if item.kind not in EMPTY]
    is_sentence = any(
        item.kind == "text" and text_kind(item.content) == "prose" and not is_label(item.content) for item in row
    )
    words = [item._replace(kind="prose") if item.kind == "text" else item for item in row]
    stating = {item.start for item in words if item.kind != "prose"}
    if any(_changes_row(item) for item in words) or (stating and stating <= _denied_in_words(words)):
        return [], left
    rows = split_into_rows(row) if len(formulas) > 1 else []
    is_named = len(rows) > 1 and all(any(item.kind in ("text", "prose") for item in each) for each in rows)
    is_bare = bool(row) and not scanned.mentions_relation() and not is_named
    content = " ".join(scanned.edited_source(scanned.start, scanned.end).split()) if is_bare else ""
    listed = values_in_rows(content)
    if is_bare and (is_sentence or listed or len(formulas) != 1):
        latex = listed or content
        if not latex:
            return [], left
        return [_Reading(latex, (row[0].start, row[-1].end), "boxed", led)], _ContinuedSide(latex, latex)
    if led and formulas:
        formulas[0] = formulas[0]._replace(led=True)
    return formulas, after


def _computer_number_latex(content: str) -> str:
    r"""Rewrite computer notation such as `1e-3` as a power of ten; LaTeX would read Euler's number.

    >>> print(_computer_number_latex("7.4e-14"))
    7.4\times 10^{-14}
    """
    number = _COMPUTER_NUMBER.fullmatch(content)
    return rf"{number[1]}\times 10^{{{int(number[2])}}}" if number else content


def _reads_as_source(items: Sequence[Item]) -> bool:
    """Return True if items are written as LaTeX as they stand in the text, but for recorded edits."""
    return _WRITTEN_ANEW.isdisjoint([item.kind for item in items]) and not any(item.latex for item in items)


def _source_latex(scanned: Scan, items: Sequence[Item]) -> str:
    """Write items that read as their source: edits applied, single spaces."""
    return _tidy_spaces(scanned.edited_source(items[0].start, items[-1].end)) if items else ""


def _items_latex(scanned: Scan, items: Sequence[Item]) -> str:
    """Write items as LaTeX for the parser: boxes unwrapped, edits applied, single spaces."""
    if _reads_as_source(items):
        return _source_latex(scanned, items)
    parts: list[str] = []
    for at, item in enumerate(items):
        if item.kind == "box":
            content = _computer_number_latex(scanned.edited_source(*item.content_span).strip())
            before, after = (kind_beside(items, at, step) in ("", "relation") for step in (-1, 1))
            is_bare = before and (after or has_relation(item) or _NUMBER.fullmatch(content))
            parts.append(f" {content} " if is_bare else f"{{{content}}}")
        else:
            parts.append(_REWRITTEN.get(item.kind) or item.latex or scanned.edited_source(item.start, item.end))
    return _tidy_spaces("".join(parts))


def _tidy_spaces(latex: str) -> str:
    """Collapse spaces, and strip spacing commands from both ends."""
    latex = " ".join(latex.split()).replace(" , ", ", ")
    while True:
        shorter = latex.strip(" ~")
        for edge in _EDGES if shorter[:1] == "\\" or shorter[-2:-1] == "\\" else ():
            shorter = shorter.removeprefix(edge)
            if shorter.endswith(edge) and not shorter.endswith("\\" + edge):
                shorter = shorter.removesuffix(edge)
        if shorter == latex:
            return latex
        latex = shorter
