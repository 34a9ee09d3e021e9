r"""Find the marks of a solution: the places where the answer to a part of the problem begins.

A label is a mark, and not a mere mention, at the beginning of a line, in a heading, at the beginning of a sentence that
turns to it, in a row of a formula or a table, or as the next of a run in one line (`(a) 2 m/s, (b) 3 N`). What may
stand between the beginning of a line and its label is a closed list of words, below: "Now let us turn to part (b)" is a
mark, "Using part (b)" is not. Where the words leave doubt ("In (b) the field is ..."), a label is a mark only if its
part is the next one, since references point back and solutions go forward.

Refused: `f(a)`, an equation's tag, a figure's letter, a line that continues the sentence above it, `(b)` for a symbol.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from prism import budget
from prism.grading.parts.labels import MAX_LABELS, NOUNS, ROW_END, Label, LabelPatterns, Page, find_labels
from prism.latex.extraction.blocks import Block
from prism.latex.prose import ORDINALS, sentence_start, words
from prism.latex.words import unit_after, word_set

_LABEL = 3_000  # operations to judge one label by what stands around it
MAX_MARKS = 1_000  # a text with more of them is a flood, and its marking says nothing
_MAX_BEFORE = 160  # characters between the beginning of a line or sentence and a label that it opens with
_GAP = 4  # characters between a label and the formula behind it
_MAX_BETWEEN = 400  # characters between two labels of one run
_MAX_WORDED = 3  # words of an answer between two labels of one run
_MAX_HEADING = 240  # characters of a line that may be a heading

_JOINT = re.compile(r"[ \t]{0,8}(?:,?[ \t]{0,4}(?:and|or)\b|[,&/]|(?P<range>to\b|through\b|[–—-]))[ \t]{0,8}")


def _joined_letters(page: Page, labels: Sequence[Label], at: int) -> tuple[tuple[int, ...], int]:
    """Return the part ordinals named by labels that stand together from `labels[at]` on, and how many labels these are.

    `(a) and (b)` gives (0, 1) and 2 labels, `(a)-(c)` gives (0, 1, 2) and 2 labels.
    """
    letters, count = [labels[at].letter], 1
    while at + count < len(labels):
        last, label = labels[at + count - 1], labels[at + count]
        joint = _JOINT.fullmatch(page.plain, last.right, label.left)
        is_dotted = label.form == "dot" and not labels[at].noun  # `Parts b and c.` ends in a full stop
        if joint is None or label.letter <= last.letter or is_dotted:
            break
        letters += range(last.letter + 1, label.letter) if joint["range"] else ()
        letters.append(label.letter)
        count += 1
    return tuple(letters), count


# Marks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a solution where the answer to a part begins, or where text begins that is common to all parts.

    Attributes:
        start: offset, with what stands before its label in the line.
        letters: ordinals of the parts; empty where common text begins.
        kind: `heading`, `tail` for a heading that ends in `(a)`, `line`, `dot` for `a.`, `number` for `1.`, `prose`,
            `passing`, or `closing` for the beginning of what may be a summary of all parts.
        end: of a passing mark, where the part that was open before goes on; else 0.
        label_end: offset behind the label.
        word: of a closing, its word, such as `summary`.
    """

    start: int
    letters: tuple[int, ...]
    kind: str
    end: int = 0
    label_end: int = 0
    word: str = ""


def find_marks(page: Page, patterns: LabelPatterns) -> list[Mark]:
    """Find all marks of a solution, ascending; empty for a text with more than MAX_MARKS marks or MAX_LABELS labels."""
    found = find_labels(page, patterns)
    if len(found) > MAX_LABELS:
        return []
    budget.charge(len(found) * _LABEL)
    marks: list[Mark] = []
    for part in (_line_marks(page, patterns, found), _formula_marks(page, found)):
        for mark in part:
            marks.append(mark)
            if len(marks) > MAX_MARKS:
                return []
    return sorted(marks, key=lambda mark: mark.start)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of `Page.plain`.

    Attributes:
        start, end: offsets, without the line end.
        first: of the first character that is no blank.
        above: the last characters of the line above, empty if that is blank; above_end: where it ends.
        follows_mark: its paragraph has a mark above it, so that a comma there may belong to a list.
    """

    start: int
    end: int
    first: int
    above: str
    above_end: int
    follows_mark: bool


_CLOSING_WORD = re.compile(r"[AaRrSsCc](?i:nswer|esult|ummar|onclu)")
_TABLE_HEAD = re.compile(rf"\n[ \t]{{0,8}}\|[ \t*]{{0,8}}(?:{NOUNS})[ \t*]{{0,8}}\|")


def _line_marks(page: Page, patterns: LabelPatterns, labels: Sequence[Label]) -> Iterator[Mark]:
    """Yield the marks outside formulas, ascending: from lines with a label or "summary", and table rows."""
    rows = {at: head for head in _TABLE_HEAD.finditer("\n" + page.plain) for at in _row_starts(page, head.start())}
    closings = (mark.start() for mark in _CLOSING_WORD.finditer(page.plain))
    outside = [label for label in (_outside_formulas(page, label) for label in labels) if label is not None]
    lefts = [label.left for label in outside]
    opened: set[int] = set()
    end = -1
    last: Mark | None = None
    for place in sorted({*lefts, *closings, *rows}):
        if place <= end:
            continue
        follows_mark = last is not None and page.end_of_paragraph(last.label_end) >= place
        line = _line_at(page, end + 1, place, follows_mark)
        end = line.end
        here = outside[bisect_left(lefts, line.start) : bisect_right(lefts, line.end)]
        if page.shown.startswith("|", line.first):
            marks = _marks_of_row(page, patterns, line, here, under_head=line.start in rows)
        else:
            marks = _marks_of_line(page, patterns, line, here, opened)
        for mark in marks:
            opened.update(mark.letters)
            last = mark if mark.letters else last
            yield mark


def _row_starts(page: Page, head: int) -> list[int]:
    """Return the offsets where the rows of a table begin, below its head at offset `head`."""
    end = page.end_of_paragraph(head)
    return [at + 1 for at in range(head, end) if page.plain[at] == "\n"][:MAX_MARKS]


def _line_at(page: Page, low: int, place: int, follows_mark: bool) -> _Line:
    """Return the line that contains offset `place`, from `low` at the earliest; `follows_mark` is stored in it."""
    start = max(page.plain.rfind("\n", low, place) + 1, low)
    end = page.plain.find("\n", place)
    end = len(page.plain) if end < 0 else end
    shown = page.shown[start:end]
    low = max(0, start - 1 - _MAX_BEFORE)
    low = max(page.plain.rfind("\n", low, max(start - 1, 0)) + 1, low)
    above = page.shown[low : max(start - 1, 0)].rstrip()
    return _Line(start, end, start + len(shown) - len(shown.lstrip()), above, low + len(above), follows_mark)


def _marks_of_line(
    page: Page, patterns: LabelPatterns, line: _Line, labels: list[Label], opened: set[int]
) -> list[Mark]:
    """Return the marks of a line: those of its labels, else that of a summary that begins there; may be empty."""
    is_heading = _is_heading(page, line)
    if labels and is_heading:
        return _marks_of_heading(page, patterns, line, labels)
    marks = _marks_of_prose(page, patterns, line, labels, opened) if labels else []
    return marks or _summary_mark(page, line, is_heading)


def _outside_formulas(page: Page, label: Label) -> Label | None:
    """Return a label if it stands outside formulas or fills one, as in `$(a)$` (then with its dollars); else None."""
    block = page.block_at(label.left)
    if block is None:
        return label
    if block.kind != "inline" or block.end - block.start > _MAX_BEFORE:
        return None
    around = page.plain[block.start : label.left] + page.plain[label.right : block.end]
    return None if around.strip(" .,:;") else replace(label, left=block.outer_start, right=block.outer_end)


_CELL = re.compile(r"[ \t]{0,40}\|[ \t]{0,40}([^|\n]{1,60}?)[ \t]{0,40}\|")


def _marks_of_row(
    page: Page, patterns: LabelPatterns, line: _Line, labels: Sequence[Label], *, under_head: bool
) -> list[Mark]:
    """Return the mark of a table row whose first cell is a label, or (`under_head` Part) a bare letter; else empty."""
    cell = _CELL.match(page.plain, line.start, line.end)
    if cell is None:
        return []
    name = cell[1].casefold() if patterns.folds else cell[1]
    letters: tuple[int, ...] = ()
    if under_head and name in patterns.index:
        letters = (patterns.index[name],)
    elif labels and labels[0].left == cell.start(1) and labels[0].form != "dot":
        letters = _joined_letters(page, labels, 0)[0]
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


def _is_heading(page: Page, line: _Line) -> bool:
    """Return True if a line is a heading of Markdown or LaTeX, a bold line, or begins with `Step 2`."""
    if line.end - line.start > _MAX_HEADING:
        return False
    shown = page.shown[line.start : line.end]
    return _HEADING.match(shown) is not None and not _RUN_IN.match(shown)


def _marks_of_heading(page: Page, patterns: LabelPatterns, line: _Line, labels: Sequence[Label]) -> list[Mark]:
    """Return the mark of the parts that a heading names first, "Part (a)"; empty if it refers to them, "Using (a)"."""
    for at, label in enumerate(labels):
        before = page.plain[line.start : label.left]
        leads = not _words_before(before, patterns).strip()
        # `Magnetic field (B)` names no part (b)
        if not (label.noun or leads or (label.form == "round" and label.is_exact)):
            continue
        lead = words(before)
        while lead and lead[-1] in _BETWEEN:
            lead.pop()
        if lead and lead[-1] in _REFERS:  # `Using the result of (a)`
            return []
        letters, count = _joined_letters(page, labels, at)
        counts = patterns.are_numbers and not label.noun and label.form != "round"
        kind = "number" if counts else "heading" if label.noun or leads else "tail"
        return [Mark(line.start, letters, kind, 0, labels[at + count - 1].right)]
    return []


_CLOSING = re.compile(
    r"[\W\d_]{0,90}(?:step\s\d{1,2}[:.]?\s{0,4})?(?:(?:so|thus|therefore|hence|and|finally|overall)\b[,:]?\s{0,4}){0,3}"
    r"(?:the\s|our\s|my\s)?(?:(?:overall|complete)\s)?(?P<word>final (?:answer|result)s?|answers|results|summary"
    r"|conclusions?|(?:in|to)\s(?:summary|summari[sz]e|conclusion|conclude))(?=\W|$)\s{0,8}(?P<rest>[^\n]{0,200})",
    re.IGNORECASE,
)


def _summary_mark(page: Page, line: _Line, is_heading: bool) -> list[Mark]:
    """Return the mark of a line that may begin a summary of all parts, "Final answer: ..."; empty for other lines."""
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
_LEAD = re.compile(r"[\sA-Za-z'’,:!(–—-]{0,160}")
_GOES_ON = re.compile(  # the end of a line whose sentence goes on in the next
    r"(?:,|\b(?:of|in|from|by|with|to|and|or|see|using|parts?|cases?|equations?|eqs?\.?|results?|figs?\.?|figures?|as|than"
    r"|that|the|both|for|where|via|into|relations?|conditions?|problem|between|is|are|at|on))$",
    re.IGNORECASE,
)
# The words that may stand before a label which opens; with any other word it is a mention.
_FILLERS = ORDINALS | word_set(
    "now next lastly last finally then so okay ok alright all right well great good cool and also thus therefore hence"
    " similarly hmm firstly secondly thirdly"
)
_TRANSITIONS = word_set(
    "start starting begin beginning move moving go going proceed proceeding turn turning continue continuing jump"
    " tackle tackling address addressing consider considering solve solving answer answering do doing handle"
    " handling look looking focus focusing work working come coming attempt attempting"
    " correct correcting redo redoing revise revising revisit revisiting"
)
_SMALL_WORDS = word_set(
    "let let's lets us me we we'll i i'll i'm will can need want to must have shall for the as on onto at with of our"
    " up it"
)
_ANSWERS = word_set("answer answers result results solution final ans")
_PAST = re.compile(
    r",?\s{0,4}(?:we|i|it)(?:['’]ve| have| had| already)?\s(?:found|had|got|obtained|derived|showed|shown|saw|seen"
    r"|calculated|computed|have|know|knew|used|was)\b",
    re.IGNORECASE,
)
_NESTED = re.compile(r"\((?:[ivx]{1,4}|\d)\)")


def _words_before(before: str, patterns: LabelPatterns) -> str:
    """Return the text `before` a label without a bullet or the number of a list item at its beginning."""
    bullet = _BULLET.match(before)
    rest = before[bullet.end() :] if bullet else before
    count = None if patterns.are_numbers else _COUNT.match(rest)
    return rest[count.end() :] if count else rest


def _lead_kind(lead: str) -> str:
    """Classify the words before a label by the kind of mark they may introduce.

    `bare` if there are none; else `filler` ("Now"), `opening` ("Let us turn to"), `for`, `in`, `answer` ("the answer
    to"), `stated` ("Answer:"). Empty for all others ("Using part (b)"), which only mention the part.
    """
    found = words(lead)
    if not found and not lead.strip(" \t,:!(–—-"):
        return "bare"
    essential = [word for word in found if word not in _FILLERS]
    if not _LEAD.fullmatch(lead):
        return ""
    if essential in (["in"], ["in", "the"]):
        return "in"
    if not set(essential) <= _TRANSITIONS | _SMALL_WORDS | _ANSWERS:
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
class _LabelGroup:
    """Labels that stand together, as in `(a) and (b)`, with what is around them.

    Attributes:
        label: the first; right: offset behind the last.
        letters: ordinals of their parts.
        lead: kind of the words before them, as `_lead_kind` names it; empty in the middle of a sentence.
        start: of the line or sentence that they begin; at_line: it is the line.
        is_new: no mark before has opened one of the parts; is_next: and the part before is open.
        after: text behind them, to the end of the line.
        is_alone: nothing at all follows in the line, not even a formula.
    """

    label: Label
    right: int
    letters: tuple[int, ...]
    lead: str
    start: int
    at_line: bool
    is_new: bool
    is_next: bool
    after: str
    is_alone: bool


def _label_group(
    page: Page, patterns: LabelPatterns, line: _Line, labels: Sequence[Label], at: int, opened: set[int]
) -> tuple[_LabelGroup, int]:
    """Return the group of labels that stand together from `labels[at]` on, and how many labels it has.

    Args:
        labels: those of the line.
        opened: ordinals of the parts that earlier marks have opened.
    """
    letters, count = _joined_letters(page, labels, at)
    label, right = labels[at], labels[at + count - 1].right
    block = page.block_at(line.start)
    begin = line.start
    if block and block.outer_start < line.start and block.outer_end <= label.left:
        begin = block.outer_end  # the line begins with the end of a display
    low = max(begin, label.left - _MAX_BEFORE)
    start = sentence_start(page.plain, label.left, low=low)
    if start > low:
        start = label.left - len(page.plain[start : label.left].lstrip())
    lead = _lead_kind(_words_before(page.plain[start : label.left], patterns)) if start > low or low == begin else ""
    if start == begin > line.start and (lead != "bare" or label.noun):
        lead = ""  # `$$...$$ for part (a)` says what the formula was for
    before = labels[at - 1] if at and not page.plain[line.start : labels[at - 1].left].strip() else None
    if before and not lead and _lead_kind(page.plain[before.right : label.left]) == "opening":
        lead, start = "opening", before.right  # `(b) Let me correct part (a)`
    is_new = opened.isdisjoint(letters)
    is_next = is_new and (letters[0] == 0 or letters[0] - 1 in opened)
    behind = slice(right, min(line.end, right + _MAX_BEFORE))
    after = page.plain[behind].strip()
    is_alone = not after and not page.shown[behind].strip(" \t*_}.:#")
    at_line = start == line.start
    return _LabelGroup(label, right, letters, lead, start, at_line, is_new, is_next, after, is_alone), count


_RUN_BEGINS = re.compile(r"(?::|\b(?:are|is|answers?|results?))[ \t]{0,8}$", re.IGNORECASE)


def _marks_of_prose(
    page: Page, patterns: LabelPatterns, line: _Line, labels: Sequence[Label], opened: set[int]
) -> list[Mark]:
    """Return the marks of a line that is no heading: labels that begin it, begin a sentence, or form a run.

    A run is a list in one line: `(a) $v = 2$ m/s, (b) $F = 3$ N`.
    """
    marks: list[Mark] = []
    opened = set(opened)
    last: _LabelGroup | None = None  # the labels before these, if a run may begin there
    last_kind = ""
    at = 0
    while at < len(labels):
        group, count = _label_group(page, patterns, line, labels, at, opened)
        kind = _mark_kind(page, patterns, line, group)
        if last_kind == "passing" and _begins_run_again(page, group):
            kind = "passing"
        elif (
            last
            and _continues_run(page, last, group, is_mark=bool(last_kind))
            and (kind != "prose" or last_kind == "passing")
        ):
            if last_kind == "line":
                marks.pop()  # the line is a list
            if last_kind in ("", "line"):
                marks.append(_passing_mark(page, last))
            kind = "passing"
        if kind:
            marks.append(_passing_mark(page, group) if kind == "passing" else _lasting_mark(group, kind))
            opened.update(group.letters)
        begins_run = kind or _RUN_BEGINS.search(page.plain, max(line.start, group.label.left - 40), group.label.left)
        last, last_kind = (group, kind) if begins_run else (None, "")
        at += count
    return marks


_SEPARATED = re.compile(r"(?:[,;:.)\]]|\b(?:and|or))[ \t]{0,8}(?:(?:and|or|for|part)\b[ \t]{0,4}){0,3}$", re.IGNORECASE)
_SOMETHING = re.compile(r"\w")


def _continues_run(page: Page, last: _LabelGroup, group: _LabelGroup, *, is_mark: bool) -> bool:
    """Return True if the labels `group` follow `last` as items of a list in one line: `(a) $v = 2$, (b) $F = 3$`.

    Behind a label that is a mark itself (`is_mark`) an answer of a few words may stand: `(c) stable (d) $v = 2$`.
    """
    is_successor = len(last.letters) == 1 and group.letters[0] == last.letters[0] + 1
    is_successor = is_successor and group.label.form == last.label.form
    if not is_successor or not group.after.strip(" .,;") or group.label.left - last.right > _MAX_BETWEEN:
        return False
    between = page.plain[last.right : group.label.left]
    if not _SOMETHING.search(between):
        return False
    is_worded = is_mark and len(between.split()) <= _MAX_WORDED and between == page.shown[last.right : group.label.left]
    is_worded = is_worded and not _GOES_ON.search(between.rstrip())
    return is_worded or _SEPARATED.search(between) is not None or _ends_in_formula(page, last.right, group.label.left)


def _ends_in_formula(page: Page, start: int, end: int) -> bool:
    """Return True if the text between two offsets ends in a formula, or in one and the unit of its number in words."""
    before = bisect_left(page.starts, end)
    closing = page.blocks[before - 1].outer_end if before else start
    return closing > start and not page.plain[unit_after(page.shown, closing)[1] : end].strip()


def _begins_run_again(page: Page, group: _LabelGroup) -> bool:
    """Return True if a list in one line goes back to an item, which its formula follows: `(a) $v$ (b) $F$ (a) $v$`."""
    behind = page.shown[group.right : group.right + _GAP]
    is_before_formula = page.block_at(group.right + len(behind) - len(behind.lstrip())) is not None
    return not group.is_new and is_before_formula and page.block_at(group.label.left - 2) is not None


def _passing_mark(page: Page, group: _LabelGroup) -> Mark:
    """Return a mark of labels that holds to the end of its paragraph, or of the next one if a colon announces that."""
    end = page.end_of_paragraph(group.right)
    if page.shown[max(group.right, end - 40) : end].rstrip(" \t*_\n").endswith((":", " is", " are", "=")):
        beyond = page.shown[end : end + _MAX_BEFORE]
        end = page.end_of_paragraph(end + len(beyond) - len(beyond.lstrip()))
    start = group.start if group.lead else group.label.left
    return Mark(start, group.letters, "passing", max(end, group.right), group.right)


def _lasting_mark(group: _LabelGroup, kind: str) -> Mark:
    """Return the mark of labels that holds until the next mark begins."""
    return Mark(group.start, group.letters, kind, 0, group.right)


def _mark_kind(page: Page, patterns: LabelPatterns, line: _Line, group: _LabelGroup) -> str:
    """Return the `Mark.kind` of labels in prose; empty if they only mention a part ("using part (b)")."""
    label, after = group.label, group.after
    if not group.lead or (group.at_line and _is_wrapped(page, line, label)):
        return ""
    if label.form == "square" and r"\item" not in page.shown[max(line.start, label.left - 40) : label.left]:
        return ""
    if group.lead == "bare":
        return _kind_with_noun(page, line, group) if label.noun else _kind_without_noun(page, patterns, line, group)
    if group.lead == "in":
        return "prose" if group.is_next and len(group.letters) == 1 and not after.startswith("of ") else ""
    if group.lead == "stated":  # with nothing behind it the label is the answer itself
        return "passing" if after.strip(" .,;)") else ""
    if group.lead == "answer":
        return "prose" if group.is_new and group.at_line and after in ("", ":") else "passing"
    if group.lead == "filler" and not label.noun and after and not after.strip(" .,;)"):
        return ""  # `Therefore (b).`
    if group.is_new or group.lead in ("opening", "filler") or (group.at_line and after[:1] in (":", "")):
        return "prose"
    return "passing" if group.at_line and not _PAST.match(after) else ""


def _kind_with_noun(page: Page, line: _Line, group: _LabelGroup) -> str:
    """Return the `Mark.kind` of `Part (a)` at the beginning of a line or sentence; empty for a mention of the part."""
    label, after = group.label, group.after
    begins = not after or after[0] in ":.)–—-]" or not (after[0].islower() or after[0] in ",;")
    if begins or (page.block_at(group.right + 1) and after[0] not in ",;"):
        if group.at_line:
            return "line"
        return "prose" if group.is_next else "passing" if after[:1] == ":" else ""
    if label.form == "bare" and page.plain[label.right - 1] in "aAiI":
        return ""  # `In this part a charge ...`
    is_item = group.at_line and page.shown[line.first] in "-*+•" and after[0] not in ",;"
    return "prose" if group.is_next else "passing" if is_item else ""


def _kind_without_noun(page: Page, patterns: LabelPatterns, line: _Line, group: _LabelGroup) -> str:
    """Return the `Mark.kind` of `(a)`, `a)` or `a.` that begins a line or sentence; empty if it begins no part."""
    label, after = group.label, group.after
    is_product = page.plain.startswith("(", group.right) and not _NESTED.match(page.plain, group.right)
    if is_product or after[:1] in tuple("+^_<>/=") or (len(group.letters) == 1 and after[:1] in (",", ";")):
        return ""
    if not group.at_line:
        return "prose" if group.is_next and after.strip(" .") and label.form != "dot" else ""
    if group.is_alone and (patterns.are_numbers or not group.is_next) and _follows_display(page, line):
        return ""  # the number of the equation above
    if patterns.are_numbers:
        return "number"
    return "dot" if label.form == "dot" else "line"


def _is_wrapped(page: Page, line: _Line, label: Label) -> bool:
    """Return True if a line with a label is the rest of a sentence that the line above has begun."""
    first = page.shown[line.first : line.first + 1]
    if not line.above or not (first.isalpha() or first == "("):
        return False
    block = page.block_at(line.above_end - 1)
    if block and block.kind != "inline":  # `$$...$$` and below it `for part (a), as before`
        return first.islower() and line.first < label.left
    if line.follows_mark and line.above.endswith(","):
        return False
    return _GOES_ON.search(line.above) is not None


def _follows_display(page: Page, line: _Line) -> bool:
    """Return True if the line above ends a displayed formula, so that a label alone may be its number."""
    block = page.block_at(line.above_end - 1) if line.above else None
    return block is not None and block.kind == "display"


# Formulas ---------------------------------------------------------------------------------------------------------

_WRAPPED = re.compile(
    r"\\(?:text[a-z]{0,8}|math(?:rm|bf|sf)|mbox)\s?\{\s{0,4}(?:\\(?:text|math)[a-z]{0,8}\s?\{\s{0,4})?$"
)
_SPACED = re.compile(r"\s{0,4}(?:&|\\[,;:! ]|\\q?quad|\\text|\\hspace|~|[:.])")


def _formula_marks(page: Page, labels: Sequence[Label]) -> Iterator[Mark]:
    r"""Yield the marks inside formulas: labels that begin a row, `\text{(a)} & x = 2 \\`, or are listed in a row."""
    at = 0
    while at < len(labels):
        block = page.block_at(labels[at].left)
        end = at + 1
        while block and end < len(labels) and labels[end].left < block.end:
            end += 1
        if block:
            yield from _marks_of_block(page, block, labels[at:end])
        at = end


def _marks_of_block(page: Page, block: Block, labels: Sequence[Label]) -> Iterator[Mark]:
    """Yield the marks inside one formula: labels that begin a row or are listed in a row."""
    starts = [block.start, *(mark.end() for mark in ROW_END.finditer(page.shown, block.start, block.end))]
    rows: list[tuple[Label, int]] = []  # labels that open, and where
    last: Label | None = None
    for label in labels:
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
    """Return True if more than punctuation follows a label within its formula."""
    return bool(page.plain[label.right : min(block.end, label.right + _MAX_BETWEEN)].strip(" \t\n.,;:]"))
