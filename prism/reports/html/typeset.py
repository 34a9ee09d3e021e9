r"""The marked text of a solution as a reader sees it on paper: its formulas as mathematics, in their places.

What delimits a formula (`$`, `\[`, `\begin{align}`) is taken away where it is, and what stands between two formulas of
one display (`\\`, `\quad`) becomes a line or a blank. A formula that cannot be drawn stays as it was written. All of it
is text or MathML of `mathml`, so what a solution holds is never markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from prism.reports.html.markup import MarkLink, TextPart, visible, with_drawn_formulas
from prism.reports.html.mathml import as_mathml

_OPENER = re.compile(
    r"(\$\$?|\\\[|\\\(|\\boxed\s*\{|\\fbox\s*\{|\\begin\{([A-Za-z]+\*?)\}(?:\[\w*\]|\{[\w|]*\})*)[\s&]*$"
)
_CLOSERS = {"$$": "$$", "$": "$", r"\[": r"\]", r"\(": r"\)"}
_DISPLAYS = ("$$", r"\[", r"\begin")
_BETWEEN = re.compile(r"\\(?:quad|qquad|[,;:! ])|(?<!\\)&|~")
_ALIGNED = re.compile(r"(?<!\\)&")
_NEW_LINE = re.compile(r"\s*\\\\(?:\[[^\]]*\])?\s*")
_SIGNS = re.compile(r"[\s.,;:]*")


@dataclass(frozen=True, slots=True)
class TypesetPart:
    """Consecutive characters of a solution: text with drawn formulas, or a marked formula, drawn if it can be.

    Attributes:
        text: as markup; of a formula that is not drawn the LaTeX, as text.
        css, links: of the mark, as of `TextPart`; empty for unmarked text.
        is_drawn: the formula is mathematics.
        is_display: it has a line of its own.
    """

    text: Markup
    css: str = ""
    links: tuple[MarkLink, ...] = ()
    is_drawn: bool = False
    is_display: bool = False


def typeset(parts: Sequence[TextPart]) -> tuple[TypesetPart, ...]:
    """Return the parts of a marked text, typeset."""
    found: list[TypesetPart] = []
    closers: list[tuple[str, bool]] = []  # of the delimiters that are open, innermost last; whether each is a display
    whole, at = "".join(part.text for part in parts), 0
    for part in parts:
        at += len(part.text)
        if part.css:
            drawn = as_mathml(_ALIGNED.sub(" ", part.text).strip())
            is_display = any(is_display for _, is_display in closers)
            shown = drawn or Markup.escape(visible(part.text))
            found.append(TypesetPart(shown, part.css, part.links, bool(drawn), is_display))
            continue
        inner, rest = _leave(part.text, closers) if closers else (Markup(""), part.text)
        if not closers:
            rest = _enter(rest, closers, whole, at)
        found.append(TypesetPart(inner + with_drawn_formulas(rest)))
    return tuple(found)


def _enter(text: str, closers: list[tuple[str, bool]], whole: str, at: int) -> str:
    """Return text without the delimiters at its end, where the whole closes them behind `at`, and note what does."""
    opened: list[tuple[str, bool]] = []
    while found := _OPENER.search(text):
        mark, name = found[1], found[2]
        closer = rf"\end{{{name}}}" if name else "}" if mark.endswith("{") else _CLOSERS[mark]
        if whole.find(closer, at) < 0:
            break
        opened.append((closer, mark.startswith(_DISPLAYS)))
        text = text[: found.start()]
    closers += reversed(opened)
    return text.removesuffix("\n") if any(is_display for _, is_display in opened) else text


def _leave(text: str, closers: list[tuple[str, bool]]) -> tuple[Markup, str]:
    """Return what of a text still belongs to the open delimiters, drawn, and the text behind those that it closes."""
    inner = Markup("")
    is_display = False
    while closers:
        closer, is_outer = closers[-1]
        at = text.find(closer)
        if at < 0:
            return inner + _between(text), ""
        inner += _between(text[:at])
        text = text[at + len(closer) :]
        is_display |= is_outer
        closers.pop()
    return inner, text.removeprefix("\n") if is_display else text


def _between(text: str) -> Markup:
    """Return what stands between formulas within delimiters: signs as they are, a new row as a line, the rest drawn."""
    rows = [row for each in _NEW_LINE.split(text) if (row := _BETWEEN.sub(" ", each).strip())]
    drawn = [
        Markup.escape(row) if _SIGNS.fullmatch(row) else as_mathml(row) or Markup.escape(visible(row)) for row in rows
    ]
    return Markup(" ").join(drawn) + Markup(" ") * bool(rows)
