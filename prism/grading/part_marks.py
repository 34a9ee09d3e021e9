r"""Where a solution names a part of the problem, and which of these places open it.

A mark *opens*: a label at the beginning of a line, in a heading, at the beginning of a sentence that turns to it, in a
row of a formula or a table, or as the next of a run in one line (`(a) 2 m/s, (b) 3 N`). A mention inside a sentence
opens nothing. What may stand between the beginning of a line and its label is a closed list of words, below: "Now let
us turn to part (b)" opens it, "Using part (b)" does not. Where the words leave doubt ("In (b) the field is ..."), a
label opens only if its part is the next one, since references point back and solutions go forward.

Refused: `f(a)`, an equation's tag, a figure's letter, a line that continues the sentence above it, `(b)` for a symbol.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from prism.grading.part_labels import MAX_LABELS, NOUNS, ROW_END, Label, Labels, Page, labels_in
from prism.latex.extraction.blocks import Block
from prism.latex.words import word_set

MAX_MARKS = 1_000  # a text with more of them is a flood, and its marking says nothing
_MAX_BEFORE = 160  # characters between the beginning of a line or sentence and a label that it opens with
_MAX_BETWEEN = 400  # characters between two labels of one run
_MAX_HEADING = 240  # characters of a line that may be a heading

_JOINT = re.compile(r"[ \t]{0,8}(?:,?[ \t]{0,4}(?:and|or)\b|[,&/]|(?P<range>to\b|through\b|[–—-]))[ \t]{0,8}")


def _joined(page: Page, found: Sequence[Label], at: int) -> tuple[tuple[int, ...], int]:
    """The letters of labels that stand together, as in `(a) and (b)`, and how many labels they are."""
    letters, count = [found[at].letter], 1
    while at + count < len(found):
        last, label = found[at + count - 1], found[at + count]
        joint = _JOINT.fullmatch(page.plain, last.right, label.left)
        if joint is None or label.letter <= last.letter or label.form == "dot":
            break
        letters += range(last.letter + 1, label.letter) if joint["range"] else ()
        letters.append(label.letter)
        count += 1
    return tuple(letters), count


# Marks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where a part opens, or text that is common to all.

    Attributes:
        start: where it begins, with what stands before its label in the line.
        letters: ordinals; none where common text begins.
        kind: `heading`, `tail` for a heading that ends in `(a)`, `line`, `dot` for `a.`, `number` for `1.`, `prose`,
            `passing`, or `closing` for the beginning of what may be a summary of all parts.
        end: of a passing mark, where the text falls back to what was open before; else 0.
        label_end: behind the label.
        word: of a closing, the word that says so.
    """

    start: int
    letters: tuple[int, ...]
    kind: str
    end: int = 0
    label_end: int = 0
    word: str = ""


def marks_of(page: Page, labels: Labels) -> list[Mark]:
    """All marks in order; none of a text that is flooded with them, or with labels that may be some."""
    found = labels_in(page, labels)
    if len(found) > MAX_LABELS:
        return []
    marks: list[Mark] = []
    for part in (_in_lines(page, labels, found), _in_formulas(page, found)):
        for mark in part:
            marks.append(mark)
            if len(marks) > MAX_MARKS:
                return []
    return sorted(marks, key=lambda mark: mark.start)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the plain text.

    Attributes:
        start, end: offsets, without the line end.
        first: of the first character that is no blank.
        above: the end of the line above, empty if that is blank; above_end: where it ends.
        follows_mark: its paragraph has a mark above it, so that a comma there may belong to a list.
    """

    start: int
    end: int
    first: int
    above: str
    above_end: int
    follows_mark: bool


_SAYS_CLOSING = re.compile(r"[AaRrSsCc](?i:nswer|esult|ummar|onclu)")
_TABLE_HEAD = re.compile(rf"\n[ \t]{{0,8}}\|[ \t*]{{0,8}}(?:{NOUNS})[ \t*]{{0,8}}\|")


def _in_lines(page: Page, labels: Labels, found: Sequence[Label]) -> Iterator[Mark]:
    """Marks outside formulas, in order. Only lines with a label, or a word that closes, or in a table are looked at."""
    rows = {at: head for head in _TABLE_HEAD.finditer("\n" + page.plain) for at in _rows(page, head.start())}
    closings = (mark.start() for mark in _SAYS_CLOSING.finditer(page.plain))
    outside = [label for label in (_outside_formulas(page, label) for label in found) if label is not None]
    lefts = [label.left for label in outside]
    opened: set[int] = set()
    end = -1
    last: Mark | None = None
    for place in sorted({*lefts, *closings, *rows}):
        if place <= end:
            continue
        follows_mark = last is not None and page.end_of_paragraph(last.label_end) >= place
        line = _line(page, end + 1, place, follows_mark)
        end = line.end
        here = outside[bisect_left(lefts, line.start) : bisect_right(lefts, line.end)]
        if page.shown.startswith("|", line.first):
            marks = _of_row(page, labels, line, here, under_head=line.start in rows)
        else:
            marks = _of_line(page, labels, line, here, opened)
        for mark in marks:
            opened.update(mark.letters)
            last = mark if mark.letters else last
            yield mark


def _rows(page: Page, head: int) -> list[int]:
    """Where the rows of a table begin, below its head."""
    end = page.end_of_paragraph(head)
    return [mark.end() for mark in _LINE_END.finditer(page.plain, head, end)][:MAX_MARKS]


_LINE_END = re.compile(r"\n")


def _line(page: Page, low: int, place: int, follows_mark: bool) -> _Line:
    """The line of a place, not before `low`."""
    start = max(page.plain.rfind("\n", low, place) + 1, low)
    end = page.plain.find("\n", place)
    end = len(page.plain) if end < 0 else end
    shown = page.shown[start:end]
    low = max(0, start - 1 - _MAX_BEFORE)
    low = max(page.plain.rfind("\n", low, max(start - 1, 0)) + 1, low)
    above = page.shown[low : max(start - 1, 0)].rstrip()
    return _Line(start, end, start + len(shown) - len(shown.lstrip()), above, low + len(above), follows_mark)


def _of_line(page: Page, labels: Labels, line: _Line, found: list[Label], opened: set[int]) -> list[Mark]:
    is_heading = _is_heading(page, line)
    if found and is_heading:
        return _of_heading(page, labels, line, found)
    marks = _of_prose(page, labels, line, found, opened) if found else []
    return marks or _closing(page, line, is_heading)


def _outside_formulas(page: Page, label: Label) -> Label | None:
    """A label outside formulas, or with an inline formula to itself as in `$(a)$`; else None."""
    block = page.block_at(label.left)
    if block is None:
        return label
    if block.kind != "inline" or block.end - block.start > _MAX_BEFORE:
        return None
    around = page.plain[block.start : label.left] + page.plain[label.right : block.end]
    return None if around.strip(" .,:;") else replace(label, left=block.outer_start, right=block.outer_end)


_CELL = re.compile(r"[ \t]{0,40}\|[ \t]{0,40}([^|\n]{1,60}?)[ \t]{0,40}\|")


def _of_row(page: Page, labels: Labels, line: _Line, found: Sequence[Label], *, under_head: bool) -> list[Mark]:
    """The mark of a table's row, whose first cell is a label; a bare letter is one under the head `Part`."""
    cell = _CELL.match(page.plain, line.start, line.end)
    if cell is None:
        return []
    name = cell[1].casefold() if labels.folds else cell[1]
    letters: tuple[int, ...] = ()
    if under_head and name in labels.index:
        letters = (labels.index[name],)
    elif found and found[0].left == cell.start(1) and found[0].form != "dot":
        letters = _joined(page, found, 0)[0]
    return [Mark(line.start, letters, "passing", line.end + 1, cell.end(1))] if letters else []


# Headings ---------------------------------------------------------------------------------------------------------

_HEADING = re.compile(
    r"[ \t>]{0,8}(?:#{1,6}[ \t]|\\(?:(?:sub){0,2}section|(?:sub)?paragraph|part|question|problem)\*?\s?[\[{]"
    r"|[-+•]?[ \t]{0,4}(?:\*\*|__)[^\n]{1,200}(?:\*\*|__)[ \t]{0,8}[:.]?[ \t]{0,8}$"
    r"|\\(?:textbf|underline)\{[^{}\n]{1,200}\}[:.]?[ \t]{0,8}$|[–—─═\s]{0,80}step[ \t]{1,4}\d{1,2}\b)",
    re.IGNORECASE,
)
_RUN_IN = re.compile(r"\s{0,8}\\(?:sub)?paragraph\*?\{[^{}\n]{0,80}\}[ \t]{0,8}\S")
_REFERS = word_set("from using recall see compare comparing like via given since unlike than after before with by")
_BETWEEN = word_set("the our result results answer of in formula expression relation equation")
_WORD = re.compile(r"[A-Za-z]{1,40}(?:['’][a-z]{1,4})?")


def _is_heading(page: Page, line: _Line) -> bool:
    if line.end - line.start > _MAX_HEADING:
        return False
    shown = page.shown[line.start : line.end]
    return _HEADING.match(shown) is not None and not _RUN_IN.match(shown)


def _of_heading(page: Page, labels: Labels, line: _Line, found: Sequence[Label]) -> list[Mark]:
    """A heading opens the parts that it names first, unless it refers to them."""
    for at, label in enumerate(found):
        before = page.plain[line.start : label.left]
        leads = not _lead(before, labels).strip()
        # `Magnetic field (B)` names no part (b)
        if not (label.noun or leads or (label.form == "round" and label.is_exact)):
            continue
        words = [word.lower() for word in _WORD.findall(before)]
        while words and words[-1] in _BETWEEN:
            words.pop()
        if words and words[-1] in _REFERS:  # `Using the result of (a)`
            return []
        letters, count = _joined(page, found, at)
        counts = labels.are_numbers and not label.noun and label.form != "round"
        kind = "number" if counts else "heading" if label.noun or leads else "tail"
        return [Mark(line.start, letters, kind, 0, found[at + count - 1].right)]
    return []


_CLOSING = re.compile(
    r"[\W\d_]{0,90}(?:step\s\d{1,2}[:.]?\s{0,4})?(?:(?:so|thus|therefore|hence|and|finally|overall)\b[,:]?\s{0,4}){0,3}"
    r"(?:the\s|our\s|my\s)?(?:(?:overall|complete)\s)?(?P<word>final (?:answer|result)s?|answers|results|summary"
    r"|conclusions?|(?:in|to)\s(?:summary|summari[sz]e|conclusion|conclude))(?=\W|$)\s{0,8}(?P<rest>[^\n]{0,200})",
    re.IGNORECASE,
)


def _closing(page: Page, line: _Line, is_heading: bool) -> list[Mark]:
    """A line that begins what may be a summary of all parts: `Final answer: ...`, `In summary, ...`."""
    found = _CLOSING.match(page.plain[line.start : min(line.end, line.start + _MAX_HEADING)])
    if found is None:
        return []
    rest = found["rest"].strip()
    if rest and not is_heading and rest[0] not in ":," and not rest.startswith(("is", "are", "in ", "of ")):
        return []
    return [Mark(line.start, (), "closing", word=found["word"].lower().rstrip("s"))]


# Lines and sentences ----------------------------------------------------------------------------------------------

_BULLET = re.compile(r"[\s>|•·●▪◦‣+–—─═\-\[]{0,100}")
_COUNT = re.compile(r"(?:step|q)?[ \t]{0,4}\d{1,2}[ \t]{0,4}(?:[.):–—-][ \t]{0,4}|(?=\(|$))", re.IGNORECASE)
_SAID = re.compile(r"[\sA-Za-z'’,:!(–—-]{0,160}")
_SENTENCE_END = re.compile(r"[.!?;][\"')\]]?[ \t]{1,20}")
_MAX_SHORTENED = 30  # characters of an abbreviation and the blanks behind it
_SHORTENED = re.compile(r"\b(?:eqs?|figs?|cf|refs?|sec|no|vs|pt|prob|e\.g|i\.e)\.[ \t]{0,20}$", re.IGNORECASE)
_GOES_ON = re.compile(  # the end of a line whose sentence goes on in the next
    r"(?:,|\b(?:of|in|from|by|with|to|and|or|see|using|parts?|cases?|equations?|eqs?\.?|results?|figs?\.?|figures?|as|than"
    r"|that|the|both|for|where|via|into|relations?|conditions?|problem|between|is|are|at|on))$",
    re.IGNORECASE,
)
# The words that may stand before a label which opens; with any other word it is a mention.
_FILLERS = word_set(
    "now next first second third fourth lastly last finally then so okay ok alright all right well great good cool and"
    " also thus therefore hence similarly hmm firstly secondly thirdly"
)
_TRANSITIONS = word_set(
    "start starting begin beginning move moving go going proceed proceeding turn turning continue continuing jump"
    " tackle tackling address addressing consider considering solve solving answer answering do doing handle"
    " handling look looking focus focusing work working come coming attempt attempting"
)
_SMALL = word_set(
    "let let's let’s lets us me we we'll we’ll i i'll i’ll i'm will can need want to must have shall for the as on onto"
    " at with of our up it"
)
_ANSWERS = word_set("answer answers result results solution final ans")
_PAST = re.compile(
    r",?\s{0,4}(?:we|i|it)(?:['’]ve| have| had| already)?\s(?:found|had|got|obtained|derived|showed|shown|saw|seen"
    r"|calculated|computed|have|know|knew|used|was)\b",
    re.IGNORECASE,
)
_NESTED = re.compile(r"\((?:[ivx]{1,4}|\d)\)")


def _lead(before: str, labels: Labels) -> str:
    """What is said before a label in its line or sentence: without bullets, and without the number of an item."""
    bullet = _BULLET.match(before)
    rest = before[bullet.end() :] if bullet else before
    count = None if labels.are_numbers else _COUNT.match(rest)
    return rest[count.end() :] if count else rest


def _said(lead: str) -> str:
    """What the words before a label do; empty if they make it a mention.

    `bare` if there are none; else `filler` ("Now"), `opening`, `for`, `in`, `answer` ("the answer to"), `stated`
    ("Answer:").
    """
    words = [word.lower() for word in _WORD.findall(lead)]
    if not words and not lead.strip(" \t,:!(–—-"):
        return "bare"
    essential = [word for word in words if word not in _FILLERS]
    if not _SAID.fullmatch(lead):
        return ""
    if essential in (["in"], ["in", "the"]):
        return "in"
    if not set(essential) <= _TRANSITIONS | _SMALL | _ANSWERS:
        return ""
    if not essential:
        return "filler"
    if essential in (["the"], ["onto"], ["on", "to"]):
        return "opening"
    if {*essential} <= _ANSWERS:
        return "stated"
    if _ANSWERS.intersection(essential) and essential[-1] in ("for", "to", "of", "the") and essential[0] != "to":
        return "answer"
    if _TRANSITIONS.intersection(essential):
        return "opening"
    return "for" if essential[-1] == "for" else ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Labels that stand together, and what is around them.

    Attributes:
        label: the first; right: behind the last.
        letters: ordinals.
        said: what the words before them do; empty in the middle of a sentence.
        start: of the line or sentence that they begin; at_line: of the line.
        is_new: none of the letters was opened before; is_next: and the one before is open.
        after: text behind them, to the end of the line.
        is_alone: nothing at all follows in the line, not even a formula.
    """

    label: Label
    right: int
    letters: tuple[int, ...]
    said: str
    start: int
    at_line: bool
    is_new: bool
    is_next: bool
    after: str
    is_alone: bool


def _place(
    page: Page, labels: Labels, line: _Line, found: Sequence[Label], at: int, opened: set[int]
) -> tuple[_Place, int]:
    """Labels with what is around them, and how many they are."""
    letters, count = _joined(page, found, at)
    label, right = found[at], found[at + count - 1].right
    block = page.block_at(line.start)
    begin = line.start
    if block and block.outer_start < line.start and block.outer_end <= label.left:
        begin = block.outer_end  # the line begins with the end of a display
    low = max(begin, label.left - _MAX_BEFORE)
    ends = [end.end() for end in _SENTENCE_END.finditer(page.plain, low, label.left)]
    while ends and _SHORTENED.search(page.plain, max(low, ends[-1] - _MAX_SHORTENED), ends[-1]):
        ends.pop()
    start = ends[-1] if ends else low
    said = _said(_lead(page.plain[start : label.left], labels)) if start > low or low == begin else ""
    if start == begin > line.start and (said != "bare" or label.noun):
        said = ""  # `$$...$$ for part (a)` says what the formula was for
    is_new = opened.isdisjoint(letters)
    is_next = is_new and (letters[0] == 0 or letters[0] - 1 in opened)
    behind = slice(right, min(line.end, right + _MAX_BEFORE))
    after = page.plain[behind].strip()
    is_alone = not after and not page.shown[behind].strip(" \t*_}.:#")
    at_line = start == line.start
    return _Place(label, right, letters, said, start, at_line, is_new, is_next, after, is_alone), count


_RUN_BEGINS = re.compile(r"(?::|\b(?:are|is|answers?|results?))[ \t]{0,8}$", re.IGNORECASE)


def _of_prose(page: Page, labels: Labels, line: _Line, found: Sequence[Label], opened: set[int]) -> list[Mark]:
    """The marks of a line that is no heading: at its beginning, at beginnings of sentences, and in runs."""
    marks: list[Mark] = []
    opened = set(opened)
    last: _Place | None = None  # the place before this one, if a run may begin there
    last_kind = ""
    at = 0
    while at < len(found):
        place, count = _place(page, labels, line, found, at, opened)
        kind = _kind(page, labels, line, place)
        if last and _continues(page, last, place) and (kind != "prose" or last_kind == "passing"):
            if last_kind == "line":
                marks.pop()  # the line is a list
            if last_kind in ("", "line"):
                marks.append(_passing(page, last))
            kind = "passing"
        if kind:
            marks.append(_passing(page, place) if kind == "passing" else _lasting(place, kind))
            opened.update(place.letters)
        begins_run = kind or _RUN_BEGINS.search(page.plain, max(line.start, place.label.left - 40), place.label.left)
        last, last_kind = (place, kind) if begins_run else (None, "")
        at += count
    return marks


_SEPARATED = re.compile(r"(?:[,;:.)\]]|\b(?:and|or))[ \t]{0,8}(?:(?:and|or|for|part)\b[ \t]{0,4}){0,3}$", re.IGNORECASE)
_SOMETHING = re.compile(r"\w")


def _continues(page: Page, last: _Place, place: _Place) -> bool:
    """Whether labels are the next of a run: `(a) $v = 2$ m/s, (b) $F = 3$ N`."""
    is_successor = len(last.letters) == 1 and place.letters[0] == last.letters[0] + 1
    is_successor = is_successor and place.label.form == last.label.form
    if not is_successor or not place.after.strip(" .,;") or place.label.left - last.right > _MAX_BETWEEN:
        return False
    between = page.plain[last.right : place.label.left]
    if not _SOMETHING.search(between):
        return False
    ends_formula = page.block_at(last.right + len(between.rstrip()) - 1) or page.block_at(place.label.left - 2)
    return _SEPARATED.search(between) is not None or ends_formula is not None


def _passing(page: Page, place: _Place) -> Mark:
    """A mark that holds to the end of the paragraph, or of what a colon at its end announces."""
    end = page.end_of_paragraph(place.right)
    if page.shown[max(place.right, end - 40) : end].rstrip(" \t*_\n").endswith((":", " is", " are", "=")):
        beyond = page.shown[end : end + _MAX_BEFORE]
        end = page.end_of_paragraph(end + len(beyond) - len(beyond.lstrip()))
    start = place.start if place.said else place.label.left
    return Mark(start, place.letters, "passing", max(end, place.right), place.right)


def _lasting(place: _Place, kind: str) -> Mark:
    return Mark(place.start, place.letters, kind, 0, place.right)


def _kind(page: Page, labels: Labels, line: _Line, place: _Place) -> str:
    """The kind of mark that labels are; empty if they are a mention."""
    label, after = place.label, place.after
    if not place.said or (place.at_line and _is_wrapped(page, line, label)):
        return ""
    if label.form == "square" and r"\item" not in page.shown[max(line.start, label.left - 40) : label.left]:
        return ""
    if place.said == "bare":
        return _kind_of_named(page, line, place) if label.noun else _kind_of_bare(page, labels, line, place)
    if place.said == "in":
        return "prose" if place.is_next and len(place.letters) == 1 and not after.startswith("of ") else ""
    if place.said == "stated":  # with nothing behind it the label is the answer itself
        return "passing" if after.strip(" .,;)") else ""
    if place.said == "answer":
        return "prose" if place.is_new and place.at_line and after in ("", ":") else "passing"
    if place.said == "filler" and not label.noun and after and not after.strip(" .,;)"):
        return ""  # `Therefore (b).`
    if place.is_new or place.said in ("opening", "filler") or (place.at_line and after[:1] in (":", "")):
        return "prose"
    return "passing" if place.at_line and not _PAST.match(after) else ""


def _kind_of_named(page: Page, line: _Line, place: _Place) -> str:
    """The kind of mark that `Part (a)` is, at the beginning of a line or a sentence."""
    label, after = place.label, place.after
    begins = not after or after[0] in ":.)–—-]" or not (after[0].islower() or after[0] in ",;")
    if begins or (page.block_at(place.right + 1) and after[0] not in ",;"):
        if place.at_line:
            return "line"
        return "prose" if place.is_next else "passing" if after[:1] == ":" else ""
    if label.form == "bare" and page.plain[label.right - 1] in "aAiI":
        return ""  # `In this part a charge ...`
    is_item = place.at_line and page.shown[line.first] in "-*+•" and after[0] not in ",;"
    return "prose" if place.is_next else "passing" if is_item else ""


def _kind_of_bare(page: Page, labels: Labels, line: _Line, place: _Place) -> str:
    """The kind of mark that `(a)`, `a)` or `a.` is, at the beginning of a line or a sentence."""
    label, after = place.label, place.after
    is_product = page.plain.startswith("(", place.right) and not _NESTED.match(page.plain, place.right)
    if is_product or after[:1] in tuple("+^_<>/=") or (len(place.letters) == 1 and after[:1] in (",", ";")):
        return ""
    if not place.at_line:
        return "prose" if place.is_next and after.strip(" .") and label.form != "dot" else ""
    if place.is_alone and (labels.are_numbers or not place.is_next) and _ends_display(page, line):
        return ""  # the number of the equation above
    if labels.are_numbers:
        return "number"
    return "dot" if label.form == "dot" else "line"


def _is_wrapped(page: Page, line: _Line, label: Label) -> bool:
    """Whether a line is the rest of a sentence that the line above has begun."""
    first = page.shown[line.first : line.first + 1]
    if not line.above or not (first.isalpha() or first == "("):
        return False
    block = page.block_at(line.above_end - 1)
    if block and block.kind != "inline":  # `$$...$$` and below it `for part (a), as before`
        return first.islower() and line.first < label.left
    if line.follows_mark and line.above.endswith(","):
        return False
    return _GOES_ON.search(line.above) is not None


def _ends_display(page: Page, line: _Line) -> bool:
    """Whether the line above ends a displayed formula, so that a label alone may be its number."""
    block = page.block_at(line.above_end - 1) if line.above else None
    return block is not None and block.kind == "display"


# Formulas ---------------------------------------------------------------------------------------------------------

_WRAPPED = re.compile(
    r"\\(?:text[a-z]{0,8}|math(?:rm|bf|sf)|mbox)\s?\{\s{0,4}(?:\\(?:text|math)[a-z]{0,8}\s?\{\s{0,4})?$"
)
_SPACED = re.compile(r"\s{0,4}(?:&|\\[,;:! ]|\\q?quad|\\text|\\hspace|~|[:.])")


def _in_formulas(page: Page, found: Sequence[Label]) -> Iterator[Mark]:
    r"""Marks at the beginning of rows inside formulas, and runs of them in one row: `\text{(a)} & x = 2 \\ ...`."""
    at = 0
    while at < len(found):
        block = page.block_at(found[at].left)
        end = at + 1
        while block and end < len(found) and found[end].left < block.end:
            end += 1
        if block:
            yield from _of_formula(page, block, found[at:end])
        at = end


def _of_formula(page: Page, block: Block, found: Sequence[Label]) -> Iterator[Mark]:
    """The marks of one formula."""
    starts = [block.start, *(mark.end() for mark in ROW_END.finditer(page.shown, block.start, block.end))]
    rows: list[tuple[Label, int]] = []  # labels that open, and where
    last: Label | None = None
    for label in found:
        start = starts[bisect_right(starts, label.left) - 1]
        last = last if last and last.left >= start else None
        before = page.plain[max(start, label.left - _MAX_BEFORE) : label.left]
        if label.form not in ("round", "half") and not label.noun:
            continue
        is_set = _WRAPPED.search(page.shown, max(0, label.left - 60), label.left) is not None
        is_set = is_set or (not label.noun and _SPACED.match(page.shown, label.right) is not None)
        if not before.strip(" \t\n[") and label.left - start < _MAX_BEFORE:
            opens = start if is_set else -1
        elif last and label.letter == last.letter + 1 and label.left - last.right < _MAX_BETWEEN:
            between = page.plain[last.right : label.left].rstrip()
            is_separate = _SOMETHING.search(between) and (is_set or between.endswith((",", ";")))
            opens = label.left - len(before) + len(before.rstrip()) if is_separate else -1
        else:
            opens = -1
        if opens >= 0:
            rows.append((label, opens))
            last = label
    if not any(_has_content(page, label, block) for label, _ in rows):
        return
    for at, (label, start) in enumerate(rows):
        leads = at == 0 and not page.plain[block.start : start][-_MAX_BEFORE:].strip(" \t\n[")
        yield Mark(block.outer_start if leads else start, (label.letter,), "passing", block.outer_end, label.right)


def _has_content(page: Page, label: Label, block: Block) -> bool:
    return bool(page.plain[label.right : min(block.end, label.right + _MAX_BETWEEN)].strip(" \t\n.,;:]"))
