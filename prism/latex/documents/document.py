"""What a reader of documents gives, and the writer that all of them write their text with."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from prism.errors import count_of
from prism.latex.extraction.solution_input import Solution

_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_MOST_TOLD = 3  # kinds of things not read that are named; the rest is counted


@dataclass(frozen=True, slots=True)
class Document:
    """A file as a solution.

    Attributes:
        solution: the text in Markdown and LaTeX, or the messages of a chat.
        not_read: what is recognised in the file and not read, each in words: `2 pictures`.
        places: where in the text a piece begins, and where in the file it stands: `(0, "cell 1")`, in this order.
        parts: other files that it is put together from.
    """

    solution: Solution
    not_read: tuple[str, ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    parts: tuple[Path, ...] = ()

    def place_of(self, offset: int) -> str:
        """Return where in the file a character of the text stands, in words; empty where only the text says it."""
        at = bisect_right(self.places, offset, key=lambda place: place[0])
        return self.places[at - 1][1] if at else ""


class DocumentWriter:
    """Collects the text of a document from its pieces, with their places and what is not read."""

    def __init__(self) -> None:
        """Begin without text."""
        self._pieces: list[str] = []
        self._length = 0
        self._places: list[tuple[int, str]] = []
        self._not_read: dict[tuple[str, str], int] = {}
        self._last_mark = ("", 0)

    def add(self, text: str) -> None:
        """Add a piece of text as it stands."""
        if text:
            self._pieces.append(text)
            self._length += len(text)

    def add_inline(self, latex: str) -> None:
        """Add a formula within a line; two in a row are kept apart."""
        if latex := tidy_formula(latex):
            before = self._pieces[-1][-1:] if self._pieces else ""
            self.add(" " if before == "$" else "")
            self.add(rf"\({latex}\)" if "$" in latex else f"${latex}$")

    def add_display(self, latex: str) -> None:
        """Add a formula that stands by itself."""
        if latex := tidy_formula(latex):
            self.end_block()
            self.add(f"\\[\n{latex}\n\\]" if "$" in latex else f"$$\n{latex}\n$$")
            self.end_block()

    def begin_mark(self, mark: str) -> None:
        """Begin what stands between marks, `~~` or `_{`; right behind what has the same marks it goes on there."""
        if mark and self._last_mark == (mark, len(self._pieces)):
            self._length -= len(self._pieces.pop())
        else:
            self.add(mark)

    def end_mark(self, mark: str) -> None:
        """End what `begin_mark` has begun."""
        self.add("}" if mark.endswith("{") else mark)
        self._last_mark = (mark, len(self._pieces))

    def end_line(self) -> None:
        """Begin a new line, unless one has begun."""
        if self._pieces and not self._pieces[-1].endswith("\n"):
            self.add("\n")

    def end_block(self) -> None:
        """End a paragraph with a blank line, unless one has ended."""
        if self._pieces and not self._pieces[-1].endswith("\n\n"):
            self.add("\n" if self._pieces[-1].endswith("\n") else "\n\n")

    def begin_place(self, name: str) -> None:
        """Say where in the file the text stands that is added next."""
        if not self._places or self._places[-1][1] != name:
            self._places.append((self._length, name))

    def leave_out(self, noun: str, n: int = 1, *, of_which: str = "") -> None:
        """Count something that is recognised and not read, by its singular and what else there is to say of it."""
        self._not_read[noun, of_which] = self._not_read.get((noun, of_which), 0) + n

    def document(self) -> Document:
        """Return what was collected."""
        ordered = sorted(self._not_read.items(), key=lambda item: -item[1])
        told = [f"{count_of(n, noun)}{' ' * bool(more)}{more}" for (noun, more), n in ordered[:_MOST_TOLD]]
        if n_more := sum(n for _, n in ordered[_MOST_TOLD:]):
            told.append(f"{count_of(n_more, 'thing')} more")
        return Document("".join(self._pieces), tuple(told), tuple(self._places))


def tidy_formula(latex: str) -> str:
    """Return a formula without blanks around it and without blank lines, over which no formula runs."""
    return _BLANK_LINE.sub("", latex.strip())
