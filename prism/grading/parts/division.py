r"""Divide a solution into the stretches that answer each subquestion (semantics C.3).

`part_marks` finds where a solution names its parts; here it is decided which of these marks hold, and the text is cut
at them. The rules, in the order in which they are applied:

- A mark holds until the next one. A *passing* mark holds for its row, line or paragraph, and then what was open before
  is open again: a run in one line, a row of a table or of a formula, "The answer to part (a) is ...".
- A part may open again, and in any order: a summary `(a) ... (b) ...` at the end belongs to the named parts.
- Text before the first mark is common to all parts (letter ""), and so is a summary behind the last part that names
  none ("Final answers: ..."), unless every part ends with such a line; and what stands under a letter that the problem
  does not have.
- A list that repeats the questions ends with its own paragraph. Where headings name the parts, a list `(a), (b)` inside
  one of them is a list of that part, but behind the last heading a list of all parts is the summary. A list of some
  letters before a list of all of them is one of cases. `1.` and `2.` are parts only if each stands once and in order,
  not far from the beginning, and nothing else names a part: else they are steps.
- `Part 1` and `Part 2` are (a) and (b) if every part is named so; so are the items of the only numbered list.

*A letter without a mark.* Its answer is looked for where the part before it stands: with marks for (a) and (c) alone,
the stretch of (a) answers (b) as well, and with a mark for (a) alone nothing is scoped. A forgotten mark, or one that
is not read, would else take a right answer away. That pays no attacker: who swaps the answers under marks for (a) and
(b) has both marked, and gets neither; who leaves a mark out gets what a text without marks gets, of whose claims on
one subject the last one counts (semantics C.2). A flood of marks is treated as no marks.

*Common text behind the parts* is for the grader to take with care: it should count for a part only on subjects on which
the part itself states nothing. Then neither swapped answers nor a last line of guesses earns both.

Refused: reading what a paragraph is about. `(a)` says nothing about its content, and a guess would be one more way to
be paid for the wrong answer.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prism import budget
from prism.grading.parts.labels import LETTERS, ROMANS, Page, label_patterns, prepare_page
from prism.grading.parts.marks import Mark, find_marks
from prism.latex.extraction.solution_input import excerpt

_CHARACTER = 200  # operations for each character of a text in which labels are looked for
MAX_LETTERS = 60  # subquestions of one problem; of more the letters are not looked for
_FIRST_NUMBER = 1 / 3  # of the text, before which the first `1.` stands if it names a part; steps begin later
_MAX_QUESTION = 250  # characters of a question that is repeated


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a solution that answers one subquestion.

    Attributes:
        letter: as the problem spells it; empty where the text is common to all parts.
        start, end: offsets in the text. A section that answers two subquestions comes twice.
    """

    letter: str
    start: int
    end: int


def divide_into_parts(text: str, letters: Sequence[str]) -> tuple[Part, ...]:
    r"""Divide a solution into sections by subquestion, ascending; together they cover the text.

    Of a solution longer than the limit the beginning and the end are looked at; the end begins as text common to all.

    Args:
        text: the solution, as `extract(...).text` has it.
        letters: of the problem's subquestions, in order.

    Returns:
        Empty if the text marks no parts, or not clearly. Never raises on a text.

    >>> found = divide_into_parts("Let $g = 10$.\n(a) $v = 2$\n(b) By (a), $v = 3$", "ab")
    >>> [(part.letter, part.start) for part in found]
    [('', 0), ('a', 14), ('b', 26)]
    """
    names = tuple(dict.fromkeys(letter for letter in letters if letter))
    if not 1 < len(names) <= MAX_LETTERS:
        return ()
    read = excerpt(text)
    budget.charge(len(read.text) * _CHARACTER)
    page = prepare_page(read.text)
    marks = _marks_in_force(page, find_marks(page, label_patterns(names)), len(names))
    if not any(mark.letters for mark in marks):
        marks = _marks_by_ordinal(page, names) or _marks_by_list_item(page, len(names))
    marks = [replace(mark, start=read.in_solution(mark.start), end=read.in_solution(mark.end)) for mark in marks]
    if read.n_left_out:  # who knows which part goes on behind the gap
        marks = sorted([*marks, Mark(read.tail_start, (), "common")], key=lambda mark: mark.start)
    return _cut_at_marks(_with_missing(marks, len(names)), names, len(text))


def letters_at(parts: Sequence[Part], position: int) -> tuple[str, ...]:
    """Return the letters of the parts that contain an offset of the text; empty where the text is common to all."""
    at = bisect_right(parts, position, key=lambda part: part.start)
    found: list[str] = []
    while at and parts[at - 1].end > position:
        at -= 1
        found.append(parts[at].letter)
    return tuple(letter for letter in reversed(found) if letter)


# Which marks hold -------------------------------------------------------------------------------------------------


def _marks_in_force(page: Page, marks: list[Mark], n_letters: int) -> list[Mark]:
    """Return the marks that really begin the answer to a part, and marks for common text behind repeated questions.

    Args:
        page: the solution.
        marks: all marks found, ascending.
        n_letters: number of the problem's parts.
    """
    marks = _without_ambiguous_marks(page, marks, n_letters)
    marks = _without_lists_in_sections(marks)
    marks = _without_partial_lists(marks, n_letters)
    known = range(n_letters)
    marks = [
        replace(mark, letters=tuple(letter for letter in mark.letters if letter in known)) for mark in marks
    ]  # under a letter that the problem does not have the text is common
    return _with_one_summary_mark(_with_questions_ended(page, marks))


def _lasting_marks(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks of parts that hold until the next mark: not those with an `end` of their own or of no part."""
    return [mark for mark in marks if mark.letters and not mark.end]


def _without_ambiguous_marks(page: Page, marks: list[Mark], n_letters: int) -> list[Mark]:
    """Drop ambiguous marks: `a.`, `(b)` at the end of a heading (it may be a symbol), and `1.` (it may be a step).

    The first two kinds stay if there are two different letters of the kind. `1.` stays if each part has one number, in
    order, the first not far from the beginning, and no other marks name the parts.
    """
    kept = list(marks)
    for kind in ("dot", "tail"):
        if len({mark.letters for mark in marks if mark.kind == kind}) < 2:
            kept = [mark for mark in kept if mark.kind != kind]
    numbers = [mark for mark in kept if mark.kind == "number"]
    is_named = any(mark.letters and mark.kind not in ("number", "passing") for mark in kept)
    counts = [mark.letters[0] for mark in numbers] == [*range(n_letters)]
    if is_named or not counts or numbers[0].start > len(page.shown) * _FIRST_NUMBER or _are_steps(page, numbers):
        kept = [mark for mark in kept if mark.kind != "number"]
    return [replace(mark, kind="heading") if mark.kind == "tail" else mark for mark in kept]


def _are_steps(page: Page, numbers: Sequence[Mark]) -> bool:
    """Return True if every entry of a numbered list begins with what is to be done: one solution in several steps."""
    return all(_STEP.match(page.shown, mark.label_end) for mark in numbers)


def _without_lists_in_sections(marks: list[Mark]) -> list[Mark]:
    """Drop the marks of lists `(a), (b)` inside the section of one part, where headings name the parts.

    Behind the last heading a list of all these parts is a summary and stays.
    """
    headed = {letter for mark in marks if mark.kind == "heading" for letter in mark.letters}
    if len(headed) < 2:
        return marks
    last = max(at for at, mark in enumerate(marks) if mark.kind == "heading")
    listed = {letter for mark in _lasting_marks(marks[last + 1 :]) for letter in mark.letters}
    kept: list[Mark] = []
    section: set[int] = set()
    for at, mark in enumerate(marks):
        if mark.kind == "heading":
            section = set(mark.letters)
        is_other = bool(mark.letters) and not mark.end and not section.issuperset(mark.letters)
        if not (section and is_other and headed.issuperset(mark.letters)) or (at > last and listed >= headed):
            kept.append(mark)
    return kept


def _marks_by_list(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Group the marks that begin lines into lists; a list ends where letters start over, or at a mark of other kind."""
    lists: list[list[Mark]] = []
    highest = -1  # of the list that goes on; -1 if none does
    for mark in marks:
        if mark.kind in ("line", "dot", "number") and mark.letters:
            if highest < 0 or mark.letters[0] < highest:
                lists.append([])
            lists[-1].append(mark)
            highest = mark.letters[-1]
        elif not mark.end:
            highest = -1
    return lists


def _without_partial_lists(marks: list[Mark], n_letters: int) -> list[Mark]:
    """Drop lists of some letters, `(a), (b)` of four parts, that precede a list of all: they are cases of one part."""
    lists = _marks_by_list(marks)
    sizes = [len({letter for mark in each for letter in mark.letters}) for each in lists]
    dropped = {
        mark
        for at, each in enumerate(lists)
        if 1 < sizes[at] < n_letters and any(size >= n_letters for size in sizes[at + 1 :])
        for mark in each
    }
    return [mark for mark in marks if mark not in dropped]


_STEP = re.compile(
    r"[\s.:)*_]{0,20}(?:apply|check|choose|combine|consider|differentiate|draw|eliminate|identify|insert|integrate|list"
    r"|plug|rearrange|set|simplify|solve|start|substitute|take|use|write)\b",
    re.IGNORECASE,
)
_RELATION = re.compile(r"[=<>≈≤≥∝≃]|\\(?:approx|propto|sim(?:eq)?|leq?|geq?|ll|gg)(?![A-Za-z])")
_ASKS = re.compile(
    r"[\s.:)*_]{0,20}(?:find|calculate|determine|compute|derive|show|what|how|estimate|explain|describe|prove|sketch"
    r"|state|give|write|evaluate|obtain|express|why|which|if|draw|discuss|is|are|does|do)\b",
    re.IGNORECASE,
)


def _with_questions_ended(page: Page, marks: list[Mark]) -> list[Mark]:
    """Add a mark of common text behind a first list that only repeats the questions, so that it names no parts.

    That is a list of single paragraphs which asks or states nothing, or which headings for the same parts follow.
    Without such a list the marks are returned as they are.
    """
    lists, lettered = _marks_by_list(marks), _lasting_marks(marks)
    if not lists or len(lists[0]) < 2 or lettered[0] != lists[0][0]:
        return marks
    first = lists[0]
    entries: list[str] = []
    end, is_long = 0, False
    for mark, until in zip(first, [*(mark.start for mark in first[1:]), len(page.shown)], strict=True):
        end = min(page.end_of_paragraph(mark.label_end), until)
        if mark is not first[-1] and page.shown[end:until].strip():
            return marks
        entries.append(page.shown[mark.label_end : min(end, mark.label_end + _MAX_QUESTION)].strip())
        is_long = is_long or end - mark.label_end >= _MAX_QUESTION
    asks = all(_ASKS.match(entry) or entry.endswith("?") for entry in entries)
    states = is_long or any(_RELATION.search(entry) for entry in entries)
    after = [mark for mark in lettered if mark.start > first[-1].start]
    is_headed = any(mark.kind == "heading" and mark.letters[0] == first[0].letters[0] for mark in after)
    if (states and not (asks or is_headed)) or entries[-1].endswith(":") or any(mark.start <= end for mark in after):
        return marks
    return sorted([*marks, Mark(end, (), "common")], key=lambda mark: mark.start)


def _with_one_summary_mark(marks: list[Mark]) -> list[Mark]:
    """Drop the marks of summaries but the first behind the last part; that too if parts have one of the same word."""
    kept = [mark for mark in marks if mark.kind != "closing"]
    lettered = _lasting_marks(kept)
    if not lettered:
        return kept
    closings = [mark for mark in marks if mark.kind == "closing"]
    inside = {mark.word for mark in closings if lettered[0].start < mark.start < lettered[-1].start}
    last = [mark for mark in closings if mark.start > lettered[-1].start and mark.word not in inside]
    return sorted([*kept, *last[:1]], key=lambda mark: mark.start)


def _with_missing(marks: list[Mark], n_letters: int) -> list[Mark]:
    """Return marks that name also each part without a mark of its own: with (a) and (c), the marks of (a) name (b)."""
    opened = {letter for mark in _lasting_marks(marks) for letter in mark.letters}
    named = {letter for mark in marks for letter in mark.letters}
    also: dict[int, list[int]] = {}
    for letter in range(n_letters):
        before = [other for other in opened if other < letter]
        if letter not in named and before:
            also.setdefault(max(before), []).append(letter)
    both = [{*mark.letters, *(letter for own in mark.letters for letter in also.get(own, ()))} for mark in marks]
    return [
        mark if mark.end else replace(mark, letters=tuple(sorted(letters)))
        for mark, letters in zip(marks, both, strict=True)
    ]


# Marks without the problem's letters ------------------------------------------------------------------------------


def _marks_by_ordinal(page: Page, names: tuple[str, ...]) -> list[Mark]:
    """Return the marks of parts that a solution names by their ordinal, `Part 2` for (b); empty unless all are."""
    n_letters = len(names)
    numbers = tuple(str(number) for number in range(1, n_letters + 1))
    for ordinals in (numbers, ROMANS[:n_letters], LETTERS[:n_letters]):
        if len(ordinals) < n_letters or ordinals == names:
            continue
        marks = find_marks(page, label_patterns(ordinals, named_only=True))
        if any(letter >= n_letters for mark in marks for letter in mark.letters):
            continue
        marks = _marks_in_force(page, marks, n_letters)
        if {letter for mark in _lasting_marks(marks) for letter in mark.letters} == {*range(n_letters)}:
            return marks
    return []


_LIST = re.compile(r"\\(?:(?P<edge>begin|end)\{(?P<name>enumerate|itemize|parts)\}|(?P<item>item|part)(?![A-Za-z]))")


def _marks_by_list_item(page: Page, n_letters: int) -> list[Mark]:
    r"""Return a mark for each `\part`, or for each item of the only numbered LaTeX list.

    Empty unless there are `n_letters` of them, one for each part of the problem.
    """
    depth = n_lists = end = 0
    items: list[int] = []
    parts: list[int] = []
    for mark in _LIST.finditer(page.shown):
        if mark["edge"] == "begin":
            n_lists += depth == 0 and mark["name"] == "enumerate"
            depth += 1
        elif mark["edge"]:
            depth -= 1
            end = mark.end()
        elif mark["item"] == "part":
            parts.append(mark.start())
        elif depth == 1 and n_lists == 1 and _begins_line(page, mark.start()):
            items.append(mark.start())
    if len(parts) == n_letters:
        return [Mark(start, (at,), "line") for at, start in enumerate(parts)]
    if len(items) != n_letters or n_lists != 1 or depth:
        return []
    return [*(Mark(start, (at,), "line") for at, start in enumerate(items)), Mark(end, (), "common")]


def _begins_line(page: Page, position: int) -> bool:
    """Return True if only blanks stand before an offset in its line."""
    low = max(0, position - 40)
    return not page.shown[max(page.shown.rfind("\n", low, position) + 1, low) : position].strip()


# Stretches --------------------------------------------------------------------------------------------------------


def _cut_at_marks(marks: Sequence[Mark], names: tuple[str, ...], end: int) -> tuple[Part, ...]:
    """Return the sections between the marks as parts; empty if every section is common to all parts.

    Args:
        marks: those that begin the answer to a part, or common text.
        names: the letters of the problem.
        end: length of the text.
    """
    every = tuple(range(len(names)))
    cuts: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    open_part: tuple[int, ...] = ()  # the letters of the last mark that was not passing
    until = end  # where the passing mark ends that holds
    for mark in sorted(marks, key=lambda mark: mark.start):
        if until < mark.start:
            cuts.append((until, open_part))
        until = mark.end or end
        open_part = open_part if mark.end else mark.letters
        cuts.append((mark.start, mark.letters))
    cuts.append((until, open_part))
    runs: list[tuple[int, tuple[int, ...]]] = []
    for start, named in cuts:
        letters = () if named == every else named
        if runs and runs[-1][0] == start:
            runs.pop()
        if start < end and not (runs and runs[-1][1] == letters):
            runs.append((start, letters))
    if not any(letters for _, letters in runs):
        return ()
    return tuple(
        Part(name, start, stop)
        for (start, letters), (stop, _) in pairwise([*runs, (end, ())])
        for name in ([names[letter] for letter in letters] or [""])
    )
