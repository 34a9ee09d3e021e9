"""A solution as one text: a string, chat messages, or a list of steps.

What is joined is joined by a blank line, and spans of formulas refer to the joined text; `solution_text` gives that
text to whoever wants to look the spans up. Only what the assistant says is the solution. What an interface marks as
reasoning (`reasoning_content`, parts of type `thinking` or `reasoning`) is kept as thinking, like a `<think>` block.

What is read of a long solution: its beginning and, longer, its end, for the result stands there.

What lies between is not scanned: a text of ten million characters costs what the limit costs. Only the marks that
decide how the end is to be read, of thoughts and of code, are counted in it, by searches for fixed words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from prism.errors import PrismError, named_type

SEPARATOR = "\n\n"  # between messages, parts and steps: no formula runs over a blank line

Solution = str | Sequence[str | Mapping[str, Any]]

_ASSISTANT = frozenset(("assistant", "model"))
_REASONING = frozenset(("thinking", "reasoning", "redacted_thinking"))
_SHAPES = "expected a string, a list of chat messages or a list of steps (strings)"


@dataclass(frozen=True, slots=True)
class SolutionText:
    """The joined text of a solution, with the spans of reasoning in it.

    Attributes:
        text: what spans refer to.
        thinking: offsets of what the interface marked as reasoning.
    """

    text: str
    thinking: tuple[tuple[int, int], ...] = ()


def solution_text(solution: Solution) -> SolutionText:
    r"""Join a solution (text, chat messages or steps) into one text.

    Errors:
        PrismError: another type, a list of both strings and messages, a message without role or text.

    >>> solution_text([{"role": "user", "content": "Find v."}, {"role": "assistant", "content": "$v = at$"}]).text
    '$v = at$'
    >>> solution_text(["First $v = at$.", "Then $x = 1$."]).text
    'First $v = at$.\n\nThen $x = 1$.'
    """
    if isinstance(solution, str):
        return SolutionText(solution)
    if isinstance(solution, (bytes, Mapping)) or not isinstance(solution, Sequence):
        raise PrismError(f"solution: found {named_type(solution)}; {_SHAPES}")
    if all(isinstance(item, str) for item in solution):
        return SolutionText(SEPARATOR.join(cast("Sequence[str]", solution)))
    pieces: list[tuple[str, bool]] = []
    for at, item in enumerate(solution):
        if isinstance(item, Mapping):
            pieces += _assistant_texts(item, f"solution: message {at + 1}")
        else:
            raise PrismError(f"solution: item {at + 1} is {named_type(item)} among others; {_SHAPES}")
    return _join_pieces(pieces)


def _join_pieces(pieces: Sequence[tuple[str, bool]]) -> SolutionText:
    """Join texts, each with True if it is reasoning, by blank lines, and note the spans of reasoning."""
    thinking: list[tuple[int, int]] = []
    position = 0
    for text, is_thought in pieces:
        if is_thought and text:
            thinking.append((position, position + len(text)))
        position += len(text) + len(SEPARATOR)
    return SolutionText(SEPARATOR.join(text for text, _ in pieces), tuple(thinking))


def _assistant_texts(message: Mapping[str, Any], where: str) -> list[tuple[str, bool]]:
    """Return the texts of a message by the assistant, each with True if it is reasoning; empty for other roles.

    Raises PrismError for a message without role or content.
    """
    role = message.get("role")
    if not isinstance(role, str):
        raise PrismError(f'{where} has no "role"; expected {{"role": "assistant", "content": "..."}}')
    if role not in _ASSISTANT:
        return []
    pieces: list[tuple[str, bool]] = []
    reasoning = message.get("reasoning_content", message.get("reasoning"))
    if reasoning is not None:
        if not isinstance(reasoning, str):
            raise PrismError(f"{where}: its reasoning is {named_type(reasoning)}; expected a string")
        pieces.append((reasoning, True))
    if "content" not in message:
        if message.get("tool_calls"):
            return pieces  # some interfaces leave out an empty content
        raise PrismError(f'{where} has no "content"')
    content = message["content"]
    if content is None or isinstance(content, str):
        return [*pieces, (content, False)] if content else pieces
    if isinstance(content, Mapping) or not isinstance(content, Sequence):
        raise PrismError(f"{where}: its content is {named_type(content)}; expected a string or a list of parts")
    for at, part in enumerate(content):
        pieces += _part_texts(part, f"{where}, part {at + 1}")
    return pieces


def _part_texts(part: object, where: str) -> list[tuple[str, bool]]:
    """Return the text of one part of a message, with True if it is reasoning; empty for pictures and tool calls.

    Raises PrismError for a part that is no object, or has no type or text.
    """
    if isinstance(part, str):
        return [(part, False)]
    if not isinstance(part, Mapping):
        raise PrismError(f"{where} is {named_type(part)}; expected an object with a type and a text")
    kind = part.get("type")
    if not isinstance(kind, str):
        raise PrismError(f'{where} has no "type"; expected {{"type": "text", "text": "..."}}')
    is_thought = kind in _REASONING
    if not is_thought and kind not in ("text", "output_text"):
        return []
    text = part.get("text", part.get(kind)) if is_thought else part.get("text")
    if text is None and is_thought:
        return []  # reasoning that the interface keeps to itself
    if not isinstance(text, str):
        raise PrismError(f"{where}: its text is {named_type(text)}; expected a string")
    return [(text, is_thought)]


# What is read of a long solution ------------------------------------------------------------------------------------

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
