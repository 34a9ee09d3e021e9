r"""A block cut into rows, and a row into pieces that are one formula each.

Rows end at `\\`; a row that only continues a sum, a product or a bracket is put to the row before it. Words, `<`, `&`
and `\to` are then settled by what stands beside them. A settled row is cut at commas, wide spaces, arrows and prose,
and segments are put together again where a cut would change the meaning: lists of values, continued sums, units.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from prism.latex.extraction.items import Item, has_relation, is_brace_fence, outside_brackets, relation_indices
from prism.latex.prose import is_remark
from prism.latex.words import ALTERNATIVE, end_of_units, text_kind, word_set

_MAX_OPEN_ROWS = 4  # rows over which one bracket may stay open; each row looks this far ahead
_LONGEST_CONDITION = 12  # characters of the words of one, `for all`; longer ones are prose
_LABEL_REACH = 12  # items at the head of a row in which a label is looked for

EMPTY = word_set("thin drop amp")
_SPACES = EMPTY | {"wide"}
TRIMMED = EMPTY | word_set("wide column comma prose or given")
_CUTS = word_set("arrow prose comma wide column or given")
_CONDITIONS = word_set("for if when whenever unless as at")
_PARTS = word_set("relation comma wide arrow")
_OPEN_ENDED = word_set("relation operator")
_BRACKETS = word_set("open close")
_UNSETTLED = word_set("amp text prose weak")
_RANKS = {
    "start": 0,
    "wide": 1,
    "column": 2,
    "comma": 3,
    "list": 4,
    "or": 4,
    "given": 5,
    "prose": 5,
    "arrow": 6,
}  # of neighbouring cuts
_SPACINGS = frozenset((r"\;", r"\:", r"\>", "\\ "))
_JOINING = word_set("and or to")
_ROW_LABEL = re.compile(r"\(\s*(?:[a-h]|i{1,3}|iv|v)\s*\)")
_NAMED_ROW = re.compile(r"\s*(?:[A-Z][a-z]{3,}|[A-Za-z][a-z]{2,}(?: +[A-Za-z0-9]+)+)\s*:(?!=)(?=[^:]*=[^:]*\Z)")
_EQUATION_NUMBER = re.compile(r"[(\[]\s*(?:\d{1,3}(?:\.\d{1,3}){0,3}[a-z]?'?|[ivx]{1,4}|\*{1,3})\s*[)\]]")
_BRACED_RELATION = re.compile(r"(?:[=<>]|\\(?:approx|le|ge|leq|geq)(?![A-Za-z]))")
_UNIT_COMMAND = re.compile(r"\\(?:text|mathrm|unit|si|SI|rm)(?![A-Za-z])")


class Piece(NamedTuple):  # no dataclass, for speed, as `plain_tokens.Mark`
    r"""The items of one formula, cut from a row.

    Attributes:
        led: it follows an arrow such as `\Rightarrow`.
        is_remark: `(n > 0)` beside a formula; no row below continues it.
        tail: a condition, `\text{ for } r < R`, or an alternative, `\text{ or } x = 2`: part of the formula, and no
            member of its chain.
    """

    items: tuple[Item, ...]
    led: bool
    is_remark: bool = False
    tail: tuple[Item, ...] = ()


def kind_beside(row: Sequence[Item], index: int, step: int) -> str:
    """Return the kind of the nearest item right (step 1) or left (-1) that is not space; empty at the row's end."""
    index += step
    while 0 <= index < len(row) and row[index].kind in EMPTY:
        index += step
    return row[index].kind if 0 <= index < len(row) else ""


def _row_source(row: Sequence[Item]) -> str:
    """Return the source text from the first to the last item of a row."""
    return row[0].text[row[0].start : row[-1].end]


# Rows -----------------------------------------------------------------------------------------------------------


def split_into_rows(items: Iterable[Item]) -> list[list[Item]]:
    """Split a block at its row ends; a row that only continues a sum, product or bracket joins the row before it."""
    rows: list[list[Item]] = [[]]
    for item in items:
        if item.kind == "break":
            rows.append([])
        else:
            rows[-1].append(item)
    rows = [row for row in rows if any(item.kind not in EMPTY and not is_brace_fence(item) for item in row)]
    if len(rows) <= 1:
        return rows
    opened = [_count_open_brackets(row) for row in rows]
    joined: list[list[Item]] = []
    open_rows = 0
    for at, row in enumerate(rows):
        if joined and (open_rows > 0 or _continues_row(joined[-1], row)):
            if open_rows:
                _drop_empty_fences(joined[-1], row)
                open_rows -= 1
            joined[-1] += [Item(row[0].text, "drop", row[0].start, row[0].start), *row]  # in place of the row end
            continue
        joined.append(row)
        still_open = list(accumulate(opened[at : at + _MAX_OPEN_ROWS]))
        if still_open[0] > 0:
            open_rows = next((ahead for ahead, total in enumerate(still_open) if total <= 0), 0)
    return joined


def row_of_groups(row: Sequence[Item]) -> list[Item]:
    """Return the groups of a row that is one braced group, or several with an equation in each; else an empty list."""
    groups: list[Item] = []
    for item in row:
        if item.kind == "group":
            groups.append(item)
        elif item.kind not in TRIMMED:
            return []
    is_row = len(groups) == 1 or all(_BRACED_RELATION.search(item.text, *item.content_span) for item in groups)
    return groups if is_row else []


def _drop_empty_fences(previous_row: list[Item], row: list[Item]) -> None:
    r"""Drop `\right.` and `\left.`, in place, where a bracket runs over the end of a row."""
    for items, places in ((previous_row, range(len(previous_row) - 1, -1, -1)), (row, range(len(row)))):
        at = next((at for at in places if items[at].kind not in EMPTY), None)
        if at is not None and items[at].source.replace(" ", "") in (r"\right.", r"\left."):
            items[at] = items[at]._replace(kind="drop")


def _count_open_brackets(row: Sequence[Item]) -> int:
    r"""Count the round and square brackets left open in a row; negative if too many close."""
    kinds = [item.kind for item in row if item.kind in ("open", "close") and item.source[-1] in "()[]"]
    return kinds.count("open") - kinds.count("close")


def _continues_row(previous_row: Sequence[Item], row: Sequence[Item]) -> bool:
    """Return True if a row continues the sum, product or relation of the row before it."""
    last = next((item for item in reversed(previous_row) if item.kind not in _SPACES), None)
    first = next((item for item in row if item.kind not in _SPACES), None)
    if last is None or first is None:
        return False
    if last.kind in _OPEN_ENDED:
        return first.kind != "relation"
    if first.kind != "operator" or last.kind in ("comma", "arrow", "prose"):
        return False
    return first.source not in ("-", "−", "–") or all(item.kind != "relation" for item in row)


# Settling: what the ambiguous items of a row are ----------------------------------------------------------------


def resolve_ambiguous_items(row: Sequence[Item]) -> list[Item]:
    r"""Decide by their neighbours what words, `<`, `&` and `\to` of a row are; bracketed remarks become prose."""
    kinds = {item.kind for item in row}
    source = _row_source(row)
    row = _drop_row_label(row)
    items = _move_evaluation_fence(row) if "open" in kinds else row
    if "<" in source:
        items = _mark_average_brackets(items)
    if "<" in source or "|" in source or "angle" in source:
        items = _mark_ket_brackets(items)
    if any(spacing in source for spacing in _SPACINGS):
        items = _mark_double_spacings(items)
    if kinds.isdisjoint(_UNSETTLED):
        return list(items)
    items = _collapse_torn_remarks(items)
    kept: list[Item] = []
    follows_relation = False
    for at, item in enumerate(items):
        kind = item.kind
        if kind == "amp" and follows_relation and _separates_equations(items, at):
            kind = "column"
        elif kind == "text":
            before, after = kind_beside(items, at, -1), kind_beside(items, at, 1)
            end = end_of_units(item.text, *item.content_span) if before in ("other", "group", "close") else 0
            if end:
                unit = rf"\text{{{item.text[item.content_span[0] : end]}}}"
                kept.append(item._replace(kind="other", end=end, latex=unit))
                kept.append(item._replace(kind="prose", start=end, content_span=(end, item.content_span[1])))
                continue
            if before == "comma" and after == "close" and _is_last_entry(items, at):
                before = "relation"
            kind = text_kind(item.content, before, after)
        follows_relation = kind == "relation" or (follows_relation and kind not in ("wide", "column"))
        kept.append(item if kind == item.kind else item._replace(kind=kind))
    return _resolve_arrows(_collapse_bracketed_remarks(kept))


def _is_last_entry(row: Sequence[Item], index: int) -> bool:
    r"""Return True for an item in a bracket that stands behind a relation, as in `(J, P) = (0, \text{even})`."""
    depth = 0
    for at in range(index - 1, -1, -1):
        depth += {"close": 1, "open": -1}.get(row[at].kind, 0)
        if depth < 0:
            return kind_beside(row, at, -1) == "relation"
    return False


def _drop_row_label(row: Sequence[Item]) -> Sequence[Item]:
    r"""Drop a label at the head of a row where it is no factor, `(a) \; x = 5`; of words, `Case 1:`, it is prose."""
    if row and (named := _NAMED_ROW.match(row[0].text, row[0].start, row[-1].end)) is not None:
        words = Item(named.string, "prose", named.start(), named.end(), content_span=named.span())
        return [words, *(item for item in row if item.start >= named.end())]
    inner = [at for at, item in enumerate(row[:_LABEL_REACH]) if item.kind not in EMPTY][:4]
    if len(inner) < 4 or row[inner[0]].kind != "open" or inner[2] + 1 == inner[3] or row[inner[3]].kind == "open":
        return row
    return row[inner[2] + 1 :] if _ROW_LABEL.fullmatch(_row_source(row[inner[0] : inner[2] + 1])) else row


def _move_evaluation_fence(row: Sequence[Item]) -> Sequence[Item]:
    r"""Move `\left.` behind the last relation before its bar: `\left.= F = G\right|_a^b` evaluates only G."""
    if not any(item.kind == "open" and item.source[-1] == "." for item in row):
        return row
    opened: list[int] = []
    last_relation: dict[int, int] = {}  # opening bracket: last relation directly inside
    moved: dict[int, int] = {}
    for at, item in enumerate(row):
        if item.kind == "open":
            opened.append(at)
        elif item.kind == "close" and opened:
            opening = opened.pop()
            if opening in last_relation and row[opening].source[-1] == ".":
                moved[last_relation[opening]] = opening
        elif item.kind == "relation" and opened:
            last_relation[opened[-1]] = at
    if not moved:
        return row
    dropped = frozenset(moved.values())
    items: list[Item] = []
    for at, item in enumerate(row):
        items.append(item._replace(kind="drop") if at in dropped else item)
        if at in moved:
            items.append(Item(item.text, "open", item.end, item.end, r"\left."))
    return items


def _mark_average_brackets(row: Sequence[Item]) -> Sequence[Item]:
    """Turn the signs of `<x>` into brackets where `<` begins a term and `>` is the next relation."""
    items = list(row)
    following = dict(pairwise(at for at, item in enumerate(items) if item.kind == "relation"))
    before = ""
    for at, item in enumerate(items):
        close = following.get(at, 0)
        is_pair = close and item.source == "<" and items[close].source == ">"
        if is_pair and before not in ("other", "group", "close", "text", "box"):
            items[at] = item._replace(kind="open", latex=r"\langle ")
            items[close] = items[close]._replace(kind="close", latex=r"\rangle ")
        if item.kind not in EMPTY:
            before = items[at].kind
    return items


def _mark_ket_brackets(row: Sequence[Item]) -> Sequence[Item]:
    r"""Pair the brackets of kets and bras: `|a, b\rangle` opens at its bar, `\langle a|` closes at it."""
    items = list(row)
    opened: list[int] = []
    bars: list[int] = []
    for at, item in enumerate(items):
        source = "" if item.kind == "thin" else item.latex.strip() or item.source
        if source == r"\langle":
            opened.append(at)
        elif source == "|" and item.kind == "other":
            if opened and kind_beside(items, at, 1) in ("", "relation", "operator", "comma"):
                opened.pop()
                items[at] = item._replace(kind="close")
            else:
                bars.append(at)
        elif source == r"\rangle":
            if opened:
                opened.pop()
            elif bars:
                bar = bars.pop()
                items[bar] = items[bar]._replace(kind="open")
            else:
                items[at] = item._replace(kind="other")
    for at in opened:
        items[at] = items[at]._replace(kind="other")
    return items


def _mark_double_spacings(row: Sequence[Item]) -> Sequence[Item]:
    r"""Turn two spacing commands in a row, `x = 3\;\;y = 4`, into a cut if each side has a relation."""
    items = list(row)
    parts = [at for at, item in enumerate(row) if item.kind in _PARTS]
    is_relation_behind, run, last = False, 0, ""
    for at, item in enumerate(row):
        run = run + 1 if item.kind == "thin" and item.source in _SPACINGS else 0
        ahead = bisect_right(parts, at) if run == 2 and is_relation_behind else len(parts)
        is_gap = ahead < len(parts) and row[parts[ahead]].kind == "relation"
        if is_gap and last not in _OPEN_ENDED and kind_beside(items, at, 1) not in _OPEN_ENDED:
            items[at] = item._replace(kind="wide")
            is_relation_behind = False
        if item.kind in _PARTS:
            is_relation_behind = item.kind == "relation"
        last = item.kind if item.kind not in EMPTY else last
    return items


def _separates_equations(row: Sequence[Item], index: int) -> bool:
    """Return True if the `&` at an index separates two equations of a row instead of aligning a relation."""
    beside = (kind_beside(row, index, -1), kind_beside(row, index, 1))
    while index + 1 < len(row) and row[index + 1].kind in ("thin", "drop"):
        index += 1
    if index + 1 < len(row) and row[index + 1].kind == "amp":
        return True  # `= 3 & &= 4`
    return all(beside) and not _OPEN_ENDED.intersection(beside)


def _collapse_torn_remarks(row: Sequence[Item]) -> list[Item]:
    r"""Replace a remark whose bracket opens in a text and closes behind it, `3 \text{ (from } S = 1) + 5`, by one item.

    Before an operator or relation the formula goes on behind it, so nothing stands there; else it is prose.
    """
    kept: list[Item] = []
    at = 0
    while at < len(row):
        item = row[at]
        at += 1
        is_condition = item.kind == "text" and item.content.lstrip(" (~").partition(" ")[0] in _CONDITIONS
        is_torn = item.kind == "text" and not is_condition and item.content.count("(") > item.content.count(")")
        end = next((to for to in range(at, len(row)) if row[to].kind in _BRACKETS or row[to].kind == "text"), len(row))
        if is_torn and end < len(row) and row[end].kind == "close" and row[end].source[-1] == ")":
            is_aside = kind_beside(row, end, 1) in _OPEN_ENDED and is_remark(item.content.strip(" (").split())
            kind = "drop" if is_aside else "prose"
            is_sized = row[end].source.startswith(r"\right")
            fence = max((place for place, each in enumerate(kept) if each.kind == "open"), default=-1)
            if is_sized and fence >= 0 and (kept[fence].latex or kept[fence].source)[-1] == ".":
                kept[fence] = kept[fence]._replace(kind="drop")
            item, at = Item(item.text, kind, item.start, row[end].end, content_span=(item.start, row[end].end)), end + 1
        kept.append(item)
    return kept


def _collapse_bracketed_remarks(row: Sequence[Item]) -> list[Item]:
    r"""Replace a bracket that holds prose, `(\text{since } a = b)`, by one prose item."""
    kept: list[Item] = []
    opened: list[tuple[int, bool, int]] = []  # where in `kept`, whether it stands apart, prose items before it
    prose = 0
    for item in row:
        if item.kind == "open":
            is_apart = not kept or kept[-1].kind in ("thin", "wide", "comma", "prose", "amp")
            opened.append((len(kept), is_apart, prose))
        elif item.kind == "prose":
            prose += 1
        elif item.kind == "close" and opened:
            at, is_apart, before = opened.pop()
            if prose > before and is_apart:
                prose += 1
                start = kept[at].start
                kept[at:] = [Item(item.text, "prose", start, item.end, content_span=(start, item.end))]
                continue
        kept.append(item)
    return kept


def _resolve_arrows(row: Sequence[Item]) -> list[Item]:
    r"""Mark `\to` before a relation, behind one or first in its row, as an arrow; else as a relation (`x \to 0`)."""
    items = list(row)
    follows_relation, is_first = False, True
    pending: list[int] = []
    for at, item in outside_brackets(row):
        if item.kind in _CUTS:
            follows_relation, pending = False, []
        elif item.kind == "relation":
            for place in pending:
                items[place] = row[place]._replace(kind="arrow")
            follows_relation, pending = True, []
        elif item.kind == "weak":
            items[at] = item._replace(kind="relation")
            pending = [*pending[-1:], at] if follows_relation or is_first else []
        is_first = is_first and item.kind in EMPTY
    return items


# Segments, and what is put together again -----------------------------------------------------------------------


class _Segment(NamedTuple):
    """A run of items of a row between two separators."""

    boundary: str  # what stands before it: a key of _RANKS
    lo: int  # its items are `row[lo:hi]`
    hi: int
    is_related: bool = False  # holds a relation
    is_remark: bool = False
    tail: int = 0  # where its condition or alternative begins


def _split_into_segments(row: Sequence[Item]) -> list[_Segment]:
    """Split a row into segments at separators outside brackets."""
    found: list[_Segment] = []
    boundary, lo = "start", 0
    cuts = [(at, item.kind) for at, item in outside_brackets(row) if item.kind in _CUTS]
    for at, kind in [*cuts, (len(row), "start")]:
        cut = kind
        if kind == "prose" and row[at].content.strip(" ~,;\\").lower() in _JOINING:
            cut = "list"
        if kind in ("wide", "column") and kind_beside(row, at, -1) in _OPEN_ENDED:
            continue  # `x =\quad 5`
        if any(item.kind not in EMPTY for item in row[lo:at]):
            found.append(_Segment(boundary, lo, at))
            boundary = cut
        elif _RANKS[cut] > _RANKS[boundary]:
            boundary = cut
        lo = at + 1
    return found


def cut_row(row: Sequence[Item]) -> list[Piece]:
    """Cut a row into formulas; a segment without a relation joins its neighbour if it continues a list or sum."""
    if _CUTS.isdisjoint([item.kind for item in row]):
        whole = tuple(_trim_row(row))
        return [Piece(whole, led=False)] if whole else []
    row = [_mark_joining_word(item) if item.kind == "prose" else item for item in row]
    placed: list[_Segment] = []
    for segment in _split_into_segments(row):
        if items := _trim_row(row[segment.lo : segment.hi]):
            _append_segment(row, segment, items, placed)
    trimmed = ((part, tuple(_trim_row(row[part.lo : part.tail or part.hi]))) for part in placed)
    return [
        Piece(kept, part.boundary == "arrow", part.is_remark, _condition_items(row, part))
        for part, kept in trimmed
        if kept
    ]


def _mark_joining_word(item: Item) -> Item:
    """Turn a prose item `or` into an `or` item, and words of a condition such as `for all` into a `given` item."""
    word = item.content.strip(" ~,;\\").lower()
    if ALTERNATIVE.issuperset(words := word.strip("()[] ").split()) and "or" in words:
        return item._replace(kind="or", latex=r" \text{ or } ")
    first = word.partition(" ")[0]
    if first in _CONDITIONS and len(word) <= _LONGEST_CONDITION:
        return item._replace(kind="given", latex=rf" \text{{ {word} }} ")
    return item


def _condition_items(row: Sequence[Item], segment: _Segment) -> tuple[Item, ...]:
    """Return the items of the condition or alternative behind a segment's formula, its word first; empty if none."""
    if not segment.tail:
        return ()
    return (row[segment.tail], *_trim_row(row[segment.tail + 1 : segment.hi]))


def _append_segment(row: Sequence[Item], segment: _Segment, items: Sequence[Item], placed: list[_Segment]) -> None:
    """Append a segment to `placed` as a formula, extend the last formula by it, or drop it."""
    lo, hi, boundary = segment.lo, segment.hi, segment.boundary
    is_related = bool(relation_indices(items)) or any(item.kind == "box" and has_relation(item) for item in items)
    segment = _Segment(boundary, lo, hi, is_related)
    last = placed[-1] if placed else None
    if last is None:
        is_label = not is_related and hi < len(row) and _ROW_LABEL.fullmatch(_row_source(items))
        if not is_label and (is_related or boundary not in ("prose", "given", "or")):
            placed.append(segment)
    elif items[0].kind in {"wide": ("relation", "operator"), "column": ("operator",)}.get(boundary, ()):
        placed[-1] = last._replace(hi=hi, is_related=last.is_related or is_related)
    elif is_related and boundary in ("given", "or") and last.is_related and _extends_formula(row, last, segment):
        word = max(at for at in range(last.hi, lo) if row[at].kind == boundary)
        placed[-1] = last._replace(hi=hi, tail=last.tail or word)
    elif is_related:
        is_tight = row[lo].kind not in _SPACES
        if boundary == "comma" and not last.is_related and (is_tight or _is_lone_symbol(row[last.lo : last.hi])):
            placed[-1] = last._replace(hi=hi, is_related=True)
        else:
            placed.append(segment)
    elif boundary in ("prose", "given"):
        pass  # what is left of a sentence: `for all n`
    elif boundary in ("wide", "column", "comma") and _EQUATION_NUMBER.fullmatch(_row_source(items)):
        pass
    elif boundary in ("comma", "list", "wide") and _is_bracketed_relation(items):
        first = next(at for at in range(lo, hi) if row[at] is items[0])
        close = next(at for at in range(hi - 1, lo, -1) if row[at] is items[-1])
        placed.append(_Segment(boundary, first + 1, close, is_related=True, is_remark=True))
    elif boundary in ("comma", "list", "or") or (boundary == "wide" and _UNIT_COMMAND.match(items[0].source + "{")):
        placed[-1] = last._replace(hi=hi)
    else:
        placed.append(segment)


def _extends_formula(row: Sequence[Item], last: _Segment, segment: _Segment) -> bool:
    """Return True if a segment extends the formula before it: one condition, or an alternative, same subject."""
    if segment.boundary == "given":
        return not last.tail
    subjects = []
    for part in (row[last.lo : last.tail or last.hi], row[segment.lo : segment.hi]):
        items = _trim_row(part)
        places = relation_indices(items)
        subjects.append("".join(_row_source(items[: places[0]]).split()) if places and places[0] else "")
    return subjects[0] == subjects[1] != ""


def _is_lone_symbol(row: Sequence[Item]) -> bool:
    """Return True if a row is a lone symbol, such as the first of `x, y = 1, 2`."""
    inner = [item for item in row if item.kind not in EMPTY]
    return 0 < len(inner) <= 3 and all(item.kind == "other" for item in inner)


def _is_bracketed_relation(row: Sequence[Item]) -> bool:
    """Return True if a row is a bracket with a relation inside, such as `(n > 0)`."""
    return row[0].kind == "open" and row[-1].kind == "close" and bool(relation_indices(row[1:-1]))


def _unmatched_brackets(row: Sequence[Item]) -> frozenset[int]:
    """Return the indices of the closing brackets of a row that nothing opens, and of the fences that nothing closes."""
    unmatched: set[int] = set()
    opened: list[int] = []
    for at, item in enumerate(row):
        if item.kind == "open":
            opened.append(at)
        elif item.kind == "close":
            if opened:
                opened.pop()
            else:
                unmatched.add(at)
    unmatched.update(at for at in opened if is_brace_fence(row[at]))
    return frozenset(unmatched)


def _trim_row(row: Sequence[Item]) -> list[Item]:
    """Strip separators, full stops and unmatched brackets from both ends of a row."""
    has_brackets = not _BRACKETS.isdisjoint([item.kind for item in row])
    unmatched = _unmatched_brackets(row) if has_brackets else frozenset()
    lo, hi = 0, len(row)
    while lo < hi and (row[lo].kind in TRIMMED or lo in unmatched or _is_punctuation(row[lo], ":")):
        lo += 1
    while hi > lo and (row[hi - 1].kind in TRIMMED or hi - 1 in unmatched or _is_punctuation(row[hi - 1], ".:")):
        last = row[hi - 1]
        if _is_punctuation(last, ".") and last.text[last.start - 1] == ".":
            break  # an ellipsis
        hi -= 1
    return list(row[lo:hi])


def _is_punctuation(item: Item, signs: str) -> bool:
    """Return True if an item is one of these single signs."""
    return item.kind == "other" and item.end - item.start == 1 and item.source in signs
