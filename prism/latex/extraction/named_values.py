r"""Values that stand beside their name without an equals sign: rows of tables, items `v_1: 4.95 m/s`, "v1 is 4.95 m/s".

A row of a table is an equation if one of its cells is a name, one a value, and the others are words (semantics C.6).
Rows that compare ("method A", "method B") say nothing. A name is a formula without a relation, or a letter with an
index; a value is read to the end of its cell or line, or not at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from prism.latex.extraction.announced import value_at
from prism.latex.extraction.blocks import Block
from prism.latex.extraction.joined import LAYOUT, LONGEST_HEAD, RELATED, is_of_another
from prism.latex.extraction.plain import write_plain_side
from prism.latex.extraction.plain_tokens import split_into_marks
from prism.latex.words import unit_after, unit_goes_on

_MOST_CELLS = 6  # of a row; a wider one is a table of data
_PLAIN_NAME = re.compile(r"(?:[A-Za-z]|[α-ωΔΩΣΦΨ])(?:_\{\w{1,12}\}|_\w{1,12}|\d{1,2}|[₀-₉]{1,2})'?")
_ROW = re.compile(r"^[ \t>]{0,8}\|(?P<cells>[^\n]{1,400})\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[ \t:|-]+")
_ITEM = re.compile(
    r"^[ \t>]{0,8}(?:[-*+•][ \t]{1,4}|\d{1,2}[.)][ \t]{1,4}|\([a-h]\)[ \t]{1,4})?[*_]{0,3}(?=[A-Za-zα-ωΔΩΣΦΨ$\\])",
    re.MULTILINE,
)
_COLON = re.compile(r"[*_]{0,3}[ ]?:[*_]{0,3}[ \t]{1,4}")
_IS = re.compile(r"[ ](?:is|equals)[ ]")
_SAID = re.compile(
    r"(?<![\w$\\^_{}/*.-])(?P<name>[A-Za-z](?:_\{\w{1,8}\}|_\w{1,8}|\d{1,2}))(?=[ ](?:is|equals)[ ][-+−\d.])"
)
_END_OF_CELL = re.compile(r"[ \t*_.,;}]{0,20}\Z")
_OPERAND = re.compile(r"\w")  # a lone `+` is a parity, and no value
_DIGIT = re.compile(r"[\d=]")
_SIDES = re.compile(
    r"\b(?:method|case|option|student|model|trial|run|attempt|approach|version|variant)\b", re.IGNORECASE
)


def find_named_values(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the equations of names and values beside them; each takes the place of the blocks that it covers.

    Args:
        text: the solution, with what is not read blanked.
        blocks: its delimited formulas, ascending.
    """
    starts = [block.outer_start for block in blocks]
    for row in _ROW.finditer(text):
        if equation := _equation_of_row(text, blocks, starts, row):
            yield equation
    for item in _ITEM.finditer(text):
        name = _name_at(text, blocks, starts, item.end())
        colon = _COLON.match(text, name[1]) if name else None
        if name and colon:
            yield from _equation(text, blocks, starts, (item.end(), name[0]), colon.end(), _line_end(text, colon.end()))
    for said in _SAID.finditer(text):
        at = bisect_left(starts, said.start())
        is_free = at == 0 or blocks[at - 1].outer_end <= said.start()
        verb = _IS.match(text, said.end())
        if is_free and verb and not is_of_another(text, Block(*said.span(), "plain", *said.span())):
            latex = write_plain_side(said["name"], split_into_marks(said["name"]))
            value = value_at(text, verb.end())
            if value and latex and not any(verb.end() <= start < value.end for start in starts[at : at + 1]):
                span = (said.start(), value.end)
                yield Block(*span, "plain", *span, (latex, *value.members), ("=",))


def _line_end(text: str, start: int) -> int:
    """Return the offset of the end of the line that contains an offset."""
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _name_at(text: str, blocks: Sequence[Block], starts: Sequence[int], start: int) -> tuple[str, int] | None:
    """Return the name at an offset as LaTeX, and its end; None if no name stands there."""
    at = bisect_left(starts, start)
    if at < len(starts) and starts[at] == start and blocks[at].kind == "inline":
        content = text[blocks[at].start : blocks[at].end].strip()
        is_name = len(content) <= LONGEST_HEAD and not RELATED.search(content) and not LAYOUT.search(content)
        return (content, blocks[at].outer_end) if is_name and not content[:1].isdigit() else None
    name = _PLAIN_NAME.match(text, start)
    latex = write_plain_side(name[0], split_into_marks(name[0])) if name else ""
    return (latex, name.end()) if name and latex else None


def _definition_at(text: str, blocks: Sequence[Block], starts: Sequence[int], start: int) -> tuple[str, int] | None:
    r"""Return the equation `\Omega = 2\pi f` at an offset as LaTeX, and its end: a value beside it goes on with it.

    None where no formula in the line starts there, or it is no single equation.
    """
    at = bisect_left(starts, start)
    if at == len(starts) or starts[at] != start or blocks[at].kind != "inline":
        return None
    content = text[blocks[at].start : blocks[at].end].strip()
    is_one = [sign[0] for sign in RELATED.finditer(content)] == ["="] and not LAYOUT.search(content)
    return (content, blocks[at].outer_end) if is_one and not content.endswith("=") else None


def _equation(
    text: str, blocks: Sequence[Block], starts: Sequence[int], name: tuple[int, str], start: int, end: int
) -> Iterator[Block]:
    """Yield the equation of a name, given with its offset, and the value that fills the text between two offsets."""
    at = bisect_left(starts, start)
    latex, stop = "", start
    if at < len(starts) and starts[at] == start and blocks[at].kind == "inline":
        content = text[blocks[at].start : blocks[at].end].strip()
        if _OPERAND.search(content) and not RELATED.search(content) and not LAYOUT.search(content):
            unit, stop = unit_after(text, blocks[at].outer_end)
            latex = "" if unit_goes_on(text, stop) else content + unit
    elif value := value_at(text, start):
        latex, stop = value.members[0], value.end
    if latex and stop <= end and _END_OF_CELL.match(text[stop:end]):
        yield Block(name[0], stop, "plain", name[0], stop, (name[1], latex), ("=",))


def _equation_of_row(text: str, blocks: Sequence[Block], starts: Sequence[int], row: re.Match[str]) -> Block | None:
    """Return the equation of a table's row with one name and one value; None of any other row."""
    edges = [at for at in range(row.start("cells") - 1, row.end("cells") + 1) if text[at] == "|"]
    if not 3 <= len(edges) <= _MOST_CELLS + 1 or _RULE.fullmatch(row[0]) or _SIDES.search(_heads(text, row.start())):
        return None
    names: list[tuple[int, str]] = []
    values: list[tuple[int, int]] = []
    for low, high in pairwise(edges):
        start = low + 1 + len(text[low + 1 : high]) - len(text[low + 1 : high].lstrip(" \t*_"))
        name = _name_at(text, blocks, starts, start) or _definition_at(text, blocks, starts, start)
        if name and _END_OF_CELL.match(text[name[1] : high]) and not names:
            names.append((start, name[0]))
        elif _DIGIT.search(text, start, high) or any(start <= each < high for each in _starts_in(starts, start, high)):
            values.append((start, high))
    if len(names) != 1 or len(values) != 1 or values[0][0] < names[0][0]:
        return None
    below = text[row.end() + 1 : _line_end(text, row.end() + 1)]
    if "|" in below and _RULE.fullmatch(below) and not _DIGIT.search(text, *values[0]):
        return None  # the heads of two columns
    return next(_equation(text, blocks, starts, names[0], *values[0]), None)


def _starts_in(starts: Sequence[int], low: int, high: int) -> Sequence[int]:
    """Return the ascending starts between two offsets."""
    return starts[bisect_left(starts, low) : bisect_left(starts, high)]


def _heads(text: str, start: int) -> str:
    """Return the heads of the columns above the table's row at an offset; an empty text if there are none."""
    line_start = start
    for _ in range(20):  # rows above are looked at, no more
        above = text.rfind("\n", 0, max(0, line_start - 1)) + 1
        line = text[above : max(0, line_start - 1)]
        if above >= line_start or "|" not in line:
            return ""
        if _RULE.fullmatch(line):
            return text[text.rfind("\n", 0, max(0, above - 1)) + 1 : max(0, above - 1)]
        line_start = above
    return ""
