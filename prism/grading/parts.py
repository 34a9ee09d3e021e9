r"""Which stretches of a solution answer which subquestion (semantics C.3).

`part_marks` finds where a solution names its parts; here it is settled which of these marks hold, and the text is cut
at them. What the marks say, in the order in which it is decided:

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

from prism.grading.part_labels import LETTERS, ROMANS, Page, labels_of, page_of
from prism.grading.part_marks import Mark, marks_of

MAX_LETTERS = 60  # subquestions of one problem; of more the letters are not looked for
_FIRST_NUMBER = 1 / 3  # of the text, before which the first `1.` stands if it names a part; steps begin later
_MAX_QUESTION = 250  # characters of a question that is repeated


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a solution that answers one subquestion.

    Attributes:
        letter: as the problem spells it; empty where the text is common to all parts.
        start, end: offsets in the text. Two parts have the same stretch where it answers both.
    """

    letter: str
    start: int
    end: int


def parts_of(text: str, letters: Sequence[str]) -> tuple[Part, ...]:
    r"""The stretches of a solution by subquestion, ascending; together they are the text.

    Args:
        text: the solution, as `extract(...).text` has it.
        letters: of the problem's subquestions, in order.

    Returns:
        Nothing where the text marks no parts, or not so that they can be told. Never raises on a text.

    >>> [(part.letter, part.start) for part in parts_of("Let $g = 10$.\n(a) $v = 2$\n(b) By (a), $v = 3$", "ab")]
    [('', 0), ('a', 14), ('b', 26)]
    """
    names = tuple(dict.fromkeys(letter for letter in letters if letter))
    if not 1 < len(names) <= MAX_LETTERS:
        return ()
    page = page_of(text)
    marks = _settled(page, marks_of(page, labels_of(names)), len(names))
    if not any(mark.letters for mark in marks):
        marks = _by_ordinal(page, names) or _by_order(page, len(names))
    return _stretches(_with_missing(marks, len(names)), names, len(text))


def letters_at(parts: Sequence[Part], position: int) -> tuple[str, ...]:
    """Letters of the parts in which a position lies; none where the text is common to all.

    A formula belongs to where it begins.
    """
    at = bisect_right(parts, position, key=lambda part: part.start)
    found: list[str] = []
    while at and parts[at - 1].end > position:
        at -= 1
        found.append(parts[at].letter)
    return tuple(letter for letter in reversed(found) if letter)


# Which marks hold -------------------------------------------------------------------------------------------------


def _settled(page: Page, marks: list[Mark], n_letters: int) -> list[Mark]:
    """The marks that hold, once what their order says about them is known."""
    marks = _without_weak(page, marks, n_letters)
    marks = _without_lists_in_sections(marks)
    marks = _without_partial_lists(marks, n_letters)
    known = range(n_letters)
    marks = [
        replace(mark, letters=tuple(letter for letter in mark.letters if letter in known)) for mark in marks
    ]  # under a letter that the problem does not have the text is common
    return _with_closing(_with_questions_ended(page, marks))


def _lettered(marks: Sequence[Mark]) -> list[Mark]:
    """Marks of parts that hold until the next one."""
    return [mark for mark in marks if mark.letters and not mark.end]


def _without_weak(page: Page, marks: list[Mark], n_letters: int) -> list[Mark]:
    """Without marks that may mean something else, unless they come as those of parts do.

    `a.`, and `(b)` at the end of a heading, which may be a symbol: with two letters at least. `1.`: each part once, in
    order, not far from the beginning, and nothing else names the parts.
    """
    kept = list(marks)
    for kind in ("dot", "tail"):
        if len({mark.letters for mark in marks if mark.kind == kind}) < 2:
            kept = [mark for mark in kept if mark.kind != kind]
    numbers = [mark for mark in kept if mark.kind == "number"]
    is_named = any(mark.letters and mark.kind not in ("number", "passing") for mark in kept)
    counts = [mark.letters[0] for mark in numbers] == [*range(n_letters)]
    if is_named or not counts or numbers[0].start > len(page.shown) * _FIRST_NUMBER:
        kept = [mark for mark in kept if mark.kind != "number"]
    return [replace(mark, kind="heading") if mark.kind == "tail" else mark for mark in kept]


def _without_lists_in_sections(marks: list[Mark]) -> list[Mark]:
    """Where headings name the parts, a list `(a), (b)` inside one of them is a list; behind the last it sums up."""
    headed = {letter for mark in marks if mark.kind == "heading" for letter in mark.letters}
    if len(headed) < 2:
        return marks
    last = max(at for at, mark in enumerate(marks) if mark.kind == "heading")
    listed = {letter for mark in _lettered(marks[last + 1 :]) for letter in mark.letters}
    kept: list[Mark] = []
    section: set[int] = set()
    for at, mark in enumerate(marks):
        if mark.kind == "heading":
            section = set(mark.letters)
        is_other = bool(mark.letters) and not mark.end and not section.issuperset(mark.letters)
        if not (section and is_other and headed.issuperset(mark.letters)) or (at > last and listed >= headed):
            kept.append(mark)
    return kept


def _lists(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Marks of lines in lists: each begins where the letters begin anew, or behind a mark of another kind."""
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
    """Without lists of some letters before a list of all of them: they are cases of one part."""
    lists = _lists(marks)
    sizes = [len({letter for mark in each for letter in mark.letters}) for each in lists]
    dropped = {
        mark
        for at, each in enumerate(lists)
        if 1 < sizes[at] < n_letters and any(size >= n_letters for size in sizes[at + 1 :])
        for mark in each
    }
    return [mark for mark in marks if mark not in dropped]


_RELATION = re.compile(r"[=<>≈≤≥∝≃]|\\(?:approx|propto|sim(?:eq)?|leq?|geq?|ll|gg)(?![A-Za-z])")
_ASKS = re.compile(
    r"[\s.:)*_]{0,20}(?:find|calculate|determine|compute|derive|show|what|how|estimate|explain|describe|prove|sketch"
    r"|state|give|write|evaluate|obtain|express|why|which|if|draw|discuss|is|are|does|do)\b",
    re.IGNORECASE,
)


def _with_questions_ended(page: Page, marks: list[Mark]) -> list[Mark]:
    """A list of single paragraphs that repeats the questions ends with itself, not where the next mark comes.

    It asks, or states nothing, or headings for the same parts follow.
    """
    lists, lettered = _lists(marks), _lettered(marks)
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


def _with_closing(marks: list[Mark]) -> list[Mark]:
    """A summary begins common text if it stands behind the last part, and not in each of them."""
    kept = [mark for mark in marks if mark.kind != "closing"]
    lettered = _lettered(kept)
    if not lettered:
        return kept
    closings = [mark for mark in marks if mark.kind == "closing"]
    inside = {mark.word for mark in closings if lettered[0].start < mark.start < lettered[-1].start}
    last = [mark for mark in closings if mark.start > lettered[-1].start and mark.word not in inside]
    return sorted([*kept, *last[:1]], key=lambda mark: mark.start)


def _with_missing(marks: list[Mark], n_letters: int) -> list[Mark]:
    """A letter without a mark is looked for where the one before it is: its mark was forgotten, or is not read."""
    opened = {letter for mark in _lettered(marks) for letter in mark.letters}
    named = {letter for mark in marks for letter in mark.letters}
    also: dict[int, list[int]] = {}
    for letter in range(n_letters):
        before = [one for one in opened if one < letter]
        if letter not in named and before:
            also.setdefault(max(before), []).append(letter)
    return [
        mark if mark.end else replace(mark, letters=tuple(sorted({*mark.letters, *_also(mark, also)})))
        for mark in marks
    ]


def _also(mark: Mark, also: dict[int, list[int]]) -> list[int]:
    return [letter for one in mark.letters for letter in also.get(one, ())]


# Marks without the problem's letters ------------------------------------------------------------------------------


def _by_ordinal(page: Page, names: tuple[str, ...]) -> list[Mark]:
    """Marks of parts that are named by their ordinal: `Part 2` is (b), if each part is named so."""
    n_letters = len(names)
    numbers = tuple(str(number) for number in range(1, n_letters + 1))
    for ordinals in (numbers, ROMANS[:n_letters], LETTERS[:n_letters]):
        if len(ordinals) < n_letters or ordinals == names:
            continue
        marks = marks_of(page, labels_of(ordinals, named_only=True))
        if any(letter >= n_letters for mark in marks for letter in mark.letters):
            continue
        marks = _settled(page, marks, n_letters)
        if {letter for mark in _lettered(marks) for letter in mark.letters} == {*range(n_letters)}:
            return marks
    return []


_LIST = re.compile(r"\\(?:(?P<edge>begin|end)\{(?P<name>enumerate|itemize|parts)\}|(?P<item>item|part)(?![A-Za-z]))")


def _by_order(page: Page, n_letters: int) -> list[Mark]:
    r"""Marks of the `\part`s, or of the items of the only numbered list, if there are as many as parts."""
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
    low = max(0, position - 40)
    return not page.shown[max(page.shown.rfind("\n", low, position) + 1, low) : position].strip()


# Stretches --------------------------------------------------------------------------------------------------------


def _stretches(marks: Sequence[Mark], names: tuple[str, ...], end: int) -> tuple[Part, ...]:
    """The text cut at the marks; nothing where every stretch is common to all parts."""
    every = tuple(range(len(names)))
    cuts: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    held: tuple[int, ...] = ()  # what is open but for passing marks
    until = end  # where the passing mark ends that holds
    for mark in sorted(marks, key=lambda mark: mark.start):
        if until < mark.start:
            cuts.append((until, held))
        until = mark.end or end
        held = held if mark.end else mark.letters
        cuts.append((mark.start, mark.letters))
    cuts.append((until, held))
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
