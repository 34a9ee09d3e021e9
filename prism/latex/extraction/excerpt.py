"""What is read of a long solution: its beginning and, longer, its end, for the result stands there.

What lies between is not scanned: a text of ten million characters costs what the limit costs. Only the marks that
decide how the end is to be read, of thoughts and of code, are counted in it, by searches for fixed words.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 200_000  # characters read of one solution, a quarter from its beginning and the rest from its end
_CUT_REACH = 2_000  # characters in which a line end is looked for, where a long text is cut
_BREAK = "\n\n"  # between beginning and end: no formula runs over a blank line
_THOUGHT_MARKS = (
    "<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷",
    "<|begin_of_thought|>", "<|end_of_thought|>",
)  # fmt: skip
_FENCES = ("\n```", "\n~~~")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a solution that is read; the solution itself if that is no longer than the limit.

    Attributes:
        text: the beginning, marks that stand for what is left out, and the end.
        head_end: where the beginning ends, in the solution and in `text`.
        tail_start: where the end begins in the solution; tail_at: where it begins in `text`.
    """

    text: str
    head_end: int
    tail_start: int
    tail_at: int

    @property
    def n_left_out(self) -> int:
        """Number of characters of the solution that are not read."""
        return self.tail_start - self.head_end

    @property
    def windows(self) -> list[tuple[int, int]]:
        """The spans of the solution that are read: one, or its beginning and its end."""
        end = self.tail_start + len(self.text.rstrip()) - self.tail_at
        return [(0, self.head_end), (self.tail_start, end)] if self.n_left_out else [(0, end)]

    def in_solution(self, offset: int) -> int:
        """Return the offset in the solution of an offset in `text`."""
        if offset >= self.tail_at:
            return offset - self.tail_at + self.tail_start
        return min(offset, self.head_end)


def excerpt(solution: str) -> Excerpt:
    """Return what is read of the text of a solution."""
    end = len(solution.rstrip())
    if end <= MAX_TEXT:
        return Excerpt(solution[: max(end, MAX_TEXT)], end, end, end)
    head_end = solution.rfind("\n", 0, MAX_TEXT // 4) + 1 or MAX_TEXT // 4
    start = max(head_end, end - MAX_TEXT + head_end)
    line_end = solution.find("\n", start, start + _CUT_REACH)
    start = line_end if line_end >= 0 else start
    head = f"{solution[:head_end]}{_BREAK}{_stand_in(solution, head_end, start)}"
    return Excerpt(head + solution[start:end], head_end, start, len(head))


def _stand_in(solution: str, start: int, end: int) -> str:
    """Return marks of thoughts and of code that leave a reader in the state in which the text left out leaves one."""
    first = [(at, mark) for mark in _THOUGHT_MARKS if (at := solution.find(mark, start, end)) >= 0]
    last = [(solution.rfind(mark, start, end), mark) for _, mark in first]
    thoughts = dict.fromkeys((min(first)[1], max(last)[1])) if first else ()
    n_fences = sum(solution.count(fence, start, end) for fence in _FENCES)
    return "\n".join((*thoughts, *(_FENCES[0] if n_fences % 2 else "", "")))
