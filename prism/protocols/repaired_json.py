r"""Find JSON in text that is not only JSON: a code fence, sentences around it, an answer that was cut off.

Brackets are matched, strings skipped; nothing inside a value is changed. What begins like an object (`{` and a quote)
or like a list of objects (`[` and `{`) and closes is a value. What does not close was cut off: it ends behind its last
whole item, and the open brackets are closed there. Every repair is told.

Refused: mending what stands inside (lacking quotes, comments, commas too many, backslashes that no escape has). Each
such mend has two readings, and a finding that is misread moves a score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from prism.errors import PrismError
from prism.inputs import parse_json, refuse_constant

_OPENING = re.compile(r"\{(?=\s*[\"}])|\[(?=\s*\{)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|"|[{}\[\],]', re.DOTALL)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_CLOSING = {"{": "}", "[": "]"}
FENCE, AROUND = "read out of a code fence", "read out of the text around it"


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A JSON value found in a text.

    Attributes:
        line: where it begins, from 1.
        remarks: what had to be repaired; empty if nothing had to.
        fault: why the value cannot be read; then `value` is None.
    """

    value: Any
    line: int
    remarks: tuple[str, ...] = ()
    fault: str = ""


def find_values(text: str) -> tuple[FoundValue, ...]:
    r"""Return the objects and lists of objects that stand in a text, in order.

    >>> find_values('Here it is:\n```json\n{"a": 1}\n```')[0].remarks
    ('read out of a code fence', 'read out of the text around it')
    >>> (found := find_values('{"a": [1, 2], "b": [3, 4')[0]).value
    {'a': [1, 2], 'b': [3]}
    >>> found.remarks
    ('cut off: ended behind character 21, 2 brackets closed',)
    """
    spans = tuple(_spans(text))
    outside = _outside(text, spans)
    remarks = [FENCE] if _FENCE.search(outside) else []
    remarks += [AROUND] if _FENCE.sub("", outside).strip(" \t\r\n,") else []
    found = []
    for span in spans:
        line = text.count("\n", 0, span.start) + 1
        try:
            value = parse_json(text[span.start : span.end] + span.closing, table=dict, constant=refuse_constant)
        except PrismError as error:
            found.append(FoundValue(None, line, (), f"no JSON: {error}"))
            continue
        found.append(FoundValue(value, line, (*remarks, *span.remarks)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a value stands, up to its last whole item, and the brackets that it lacks."""

    start: int
    end: int
    closing: str = ""
    remarks: tuple[str, ...] = ()


def _spans(text: str) -> Iterator[_Span]:
    """Yield the span of each value of a text; one that was cut off is the last one."""
    position = 0
    while opening := _OPENING.search(text, position):
        span = _span_at(text, opening.start())
        if span is None:  # cut off within its first item
            yield _Span(opening.start(), opening.start() + 1, _CLOSING[opening[0]], (_cut_remark(1, 1),))
            return
        yield span
        if span.remarks:
            return
        position = span.end


def _span_at(text: str, start: int) -> _Span | None:
    """Return the span of the value that begins at `start`; None if it is cut off before its first item ends."""
    open_brackets: list[str] = []
    last: tuple[int, str] | None = None
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSING:
            open_brackets.append(_CLOSING[mark])
        elif mark in ("}", "]"):
            if open_brackets.pop() != mark:
                return _Span(start, token.end())  # what it is not, the reader of JSON says
            if not open_brackets:
                return _Span(start, token.end())
            last = token.end(), "".join(reversed(open_brackets))
        elif mark == ",":
            last = token.start(), "".join(reversed(open_brackets))
        elif mark == '"':  # of a string without end
            break
    if last is None:
        return None
    end, closing = last
    return _Span(start, end, closing, (_cut_remark(end - start, len(closing)),))


def _cut_remark(n: int, n_closed: int) -> str:
    """Say where a value was cut off: behind its `n`-th character."""
    return f"cut off: ended behind character {n}, {n_closed} {'bracket' if n_closed == 1 else 'brackets'} closed"


def _outside(text: str, spans: tuple[_Span, ...]) -> str:
    """Return the text without its values; what is lost of one that was cut off belongs to it."""
    kept, position = [], 0
    for span in spans:
        kept.append(text[position : span.start])
        position = len(text) if span.remarks else span.end
    return "".join((*kept, text[position:]))
