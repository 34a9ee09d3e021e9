r"""Formulas without delimiters: where they stand in a line, between the words of a sentence or from end to end.

A line is cut into marks; words of the language, stops and gaps part it into candidates, and a candidate with a relation
is a formula if `plain` can write it and nothing beside it goes on with it. "F = mass × g" is torn, "E = 5 J per
mole" goes on, "for mass m F = ma" may begin with either; all three are left alone. A formula missed costs one
formula; a formula misread may earn or lose a grade.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from prism import budget
from prism.latex.extraction.blocks import Block
from prism.latex.extraction.plain import write_plain_side
from prism.latex.extraction.plain_tokens import (
    Mark,
    is_letter_command,
    is_mathematical_name,
    relation_latex,
    split_into_marks,
)
from prism.latex.extraction.typed_names import NO_NAMES, TypedNames, with_names
from prism.latex.prose import is_remark
from prism.latex.words import CONNECTIVES, LONG_UNITS, UNITS, is_label, unit_after, unit_goes_on, word_set

_CHARACTER = 1_200  # operations for each character of a line with a relation
_MAX_MARKS = 300  # marks of one formula; a longer one is no formula of a person
_MAX_DISPLAY = 4_000  # characters between brackets alone on their lines
_MAX_BULLET_GAP = 400  # characters to the next line, in which its bullet is looked for
_MAX_ANGLE = 32  # marks between `<` and `>` of an average
_MAX_VALUES = 12  # values of a list such as `n = 1, 2, 3`

_LINE = re.compile(r"[^\n]+")
_RELATION = re.compile(r"[=≈<>≤≥≪≫∝≃≅≡∼≠]|\\(?:approx|propto|sim|le|ge|ll|gg|neq?|equiv)")
_HEAD = re.compile(  # what stands before the content of a line: quotation, heading, bullet, number of a step
    r"[ \t\u00a0\u2000-\u200b\u3000>]*(?:#{1,6}[ \t]+)?"
    r"(?:(?P<dash>[-+–])[ \t]+|[*•◦▪‣●○][ \t\u2001-\u2003]+"
    r"|(?:\d{1,2}[.)]|\([a-h1-9]\)|[a-h]\)|\((?:i{1,3}|iv|v)\))[ \t]+(?!\()){0,3}"
)
_NUMBERED = re.compile(r"[ \t]\(\d{1,2}\)[ \t](?![-+*/=])")
_VALUE_AND_NAME = re.compile(
    r"[ \t]*[-+−]?[\d.,]{1,20}(?:[ \t]?[×x*][ \t]?10[-^⁻⁰¹²³⁴-⁹\d]{1,6})?(?:[ \t]?[A-Za-z°µμ/²^\d]{1,6})?"
    r"[ \t]{1,8}(?P<name>[^\W\d]\w{0,20})[ \t]*"
)
_DASH_LINE = re.compile(r"[ \t>]*[-+–][ \t]+\S")
_BEGINS = re.compile(r"(?:^|[:.;!?][ \t*_]{0,8}\n|\n[ \t>]{0,40}\n)\Z")  # no sum goes on behind this
_REACH_ABOVE = 90  # characters above a line in which its paragraph begins
_NAME_FIRST = re.compile(r"\\?[A-Za-zα-ωΔΩ]+(?<![A-Za-z]{3})(?:_\{\w{1,12}\}|_\w{1,12}|\d{1,2})?[ \t]{0,4}[=≈]")
_EMPHASIS = re.compile(
    r"(?<![\w*)\]\\])(?P<mark>\*{1,3})(?=[^\s*])(?P<inner>[^*\n]{1,200})(?<=[^\s*\\])(?P=mark)(?![\w*(])"
)
_NOTHING = "\u2060"  # in place of a mark of emphasis; read as a space, and never as a gap
_TABLE = re.compile(r"[ \t]*\|.*\|[ \t]*")
_ONE_CELL = re.compile(r"[ \t]*\|[ \t][^|]*[ \t]\|[ \t]*")
_CELL = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
_GOES_ON_BELOW = re.compile(r"[ \t\u2000-\u200b]*(?:[+×·⋅][ \t]|[-−–][ \t]+[^\n=]{1,80}$)", re.MULTILINE)
# Marks that may part formulas, or open or close a bracket: words, and these without the signs that never do.
_PARTING_KINDS = word_set("wide arrow latex single")
_NEVER_PART = frozenset("+*/^_|%°±∓×·⋅÷√∛∫∑∏∂∇∞") | frozenset(map(chr, range(0x391, 0x3CA)))  # Greek letters last
_OPERATORS = frozenset("+-−–±∓*/×·⋅÷^_=⁄∕√∫∮∑∏∂∇")
_SHORTEST = 3  # marks of a formula: a name, a relation, a number
_NEXT_WORD = re.compile(r"[ \t]{0,4}([A-Za-z]+)")
_PART_LETTERS = frozenset("abcdefgh")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_CLEAN_LEFT = word_set("start colon stop gap arrow bracket comma")
_CLEAN_RIGHT = word_set("end stop colon gap arrow bracket comma")
_STOPS = frozenset(';."“”—?「」')
_HYPHENS = frozenset("'’-–")  # between the parts of one word
_TAILS = word_set("s m ve ll d re t")  # behind an apostrophe: `it's`, `we'll`
# Words behind which a sum or product of symbols begins afresh; behind any other word, `m F = ma` may begin with F.
_INTRODUCE = CONNECTIVES | word_set(
    "so get gets got have has had find finds obtain obtains yields yield write writes becomes become into means equals"
    " was were be been of in about define defined be only now here thus formula equation expression relation law"
    " condition know need needs consider calculate compute solve solving substituting than simply just therefore both"
)
_NOUNS = word_set("spring string ring thing swing wing spacing")  # end like a verb: `setting m g = T` begins with m
_CONSTANT = word_set("constant const")
_UNLIKE_WORDS = UNITS | LONG_UNITS.keys() | _CONSTANT | {"at"}  # what stands beside these tells if they are words
# Words that go on with a formula, or with what stands before it.
_JOIN = word_set(
    "times plus minus squared cubed divided multiplied over per percent times. half twice double thrice triple root not"
    " of to modulo mod cross dot raised"
)
_JOIN_PAIRS = frozenset(
    f"{noun} of"
    for noun in "integral derivative gradient divergence curl half square root sum average logarithm log exponential"
    " inverse reciprocal fraction product percent sine cosine".split()
) | {"divided by", "multiplied by"}
_JOIN_BEFORE = _JOIN - {"of", "to"}
# Behind a number these are no units: `ΔI = 1/2 rule`, `x = 0 corresponds to`.
_NO_UNITS = word_set(
    "rule law multiplet plane axis will would can could may must has have had does gives corresponds corresponding"
)
_TO_DO = re.compile(r"[ \t]{1,4}to (?!inf|pi\b|the\b|its\b|a\b|an\b)[a-z]{2,}\b(?!\s*[=<>≈])")
_IN_WHAT = re.compile(r"[ \t]{1,4}in (?:both|all|each|this|that|these|the|our|any|equation|case|which)\b")
_NAMED = re.compile(r"[A-Z][a-z]{2,20}(?: [a-z]{2,20}){0,2}")
_ANSWERS = word_set("answer result solution final value values this that it these")
_LIMITING = word_set("from over between")
_LISTING = word_set("and or to through")
_GREEK_OR_SIGN = re.compile(
    r"[\u0370-\u03ff\u2100-\u214f\u1d00-\u1dbf\U0001d400-\U0001d7ff\u0300-\u036f\u20d7\u1e00-\u1effħîĵŷ½⅓⅔¼¾⅕⅛⅜]"
    r"|[∂∇∫∬∭∮∑∏√∛∞°Åµ↑↓%|∣⟨⟩〈〉†″′’'()\[\]{}+\-−–±∓*/×·⋅∙÷^_⁄∕!,⊗…]"
)


class _Candidate(NamedTuple):  # no dataclass, for speed, as `plain_tokens.Mark`
    """Marks between two boundaries of a line, which may be a formula."""

    marks: tuple[Mark, ...]
    relations: list[int]  # indices of the relations outside brackets
    left: str  # kinds of boundary: one of `_CLEAN_LEFT`, `word`, `block`, or `odd`, which a formula may run across
    right: str  # the same of `_CLEAN_RIGHT`
    word_before: str = ""  # the word on the left, or the two words
    word_after: str = ""  # the word on the right


@dataclass(frozen=True, slots=True)
class Unread:
    """Spans of a text whose formulas are not asked for, ascending; those that end before they begin are none."""

    spans: Sequence[tuple[int, int]] = ()

    def holds(self, start: int, end: int) -> bool:
        """Return True if what stands from `start` to `end` lies in one of the spans."""
        at = bisect_right(self.spans, (start, math.inf)) - 1
        return at >= 0 and end <= self.spans[at][1]


def find_plain_formulas(
    text: str, blocks: Sequence[Block], typed: TypedNames = NO_NAMES, unread: Unread = Unread()
) -> Iterator[Block]:
    """Yield the formulas without delimiters outside all blocks, in order; `typed` are names of the problem.

    Lines that lie in `unread` yield none: they are two thirds of the time that an extraction takes.
    """
    starts = sorted((block.outer_start, block.outer_end) for block in blocks)
    ends = [end for _, end in starts]
    for line in _LINE.finditer(text):
        if not _RELATION.search(text, *line.span()) or unread.holds(*line.span()):
            continue
        at = bisect_right(ends, line.start())
        start, left = line.start(), "start"
        while at < len(starts) and starts[at][0] < line.end():
            if starts[at][0] > start:
                yield from _formulas_in_segment(text, start, starts[at][0], (left, "block"), typed)
            start, left = max(start, starts[at][1]), "block"
            at += 1
        if start < line.end():
            yield from _formulas_in_segment(text, start, line.end(), (left, "end"), typed)


def _formulas_in_segment(text: str, start: int, end: int, edges: tuple[str, str], typed: TypedNames) -> Iterator[Block]:
    """Yield the formulas of a line, or of the part of a line between two blocks, given the boundaries beside it."""
    left, right = edges
    if not _RELATION.search(text, start, end):
        return
    if left == "start":
        head = _HEAD.match(text, start, end)
        if head and head["dash"] and not _is_bullet(text, start, head.end(), end):
            left = "odd"  # a bullet, or the sign of what follows
        start = head.end() if head else start
    budget.charge((end - start) * _CHARACTER)
    shown = _blank_markup(text[start:end])
    line = _Line(text, shown, start)
    candidates = _mark_broken_sums(_split_into_candidates(with_names(split_into_marks(shown), typed), left, right))
    skip = 0
    for at, candidate in enumerate(candidates):
        if skip:
            skip -= 1
            continue
        values, skip = _read_listed_values(line, candidates, at)
        block = _formula_block(line, candidate, values)
        if block:
            yield block


def _mark_broken_sums(candidates: list[_Candidate]) -> list[_Candidate]:
    """Mark, in place, both halves of a sum that continues behind a remark in brackets as broken (`odd`)."""
    for at, candidate in enumerate(candidates):
        first = candidate.marks[0]
        if candidate.left == "bracket" and at and (first.text in _OPERATORS or first.kind == "relation"):
            candidates[at] = candidate._replace(left="odd")
            torn = next((back for back in range(at - 1, -1, -1) if candidates[back].right == "bracket"), None)
            for back in range(at) if torn is not None else ():
                if candidates[back].right == "bracket":
                    candidates[back] = candidates[back]._replace(right="odd")
    return candidates


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a solution: the whole text, the line with its markup blanked, and the offset at which that begins."""

    text: str
    shown: str
    start: int

    def side_latex(self, side: Sequence[Mark]) -> str:
        """Write one side of a relation as LaTeX; empty if it is not surely mathematics."""
        return write_plain_side(self.shown, side)


def _blank_markup(line: str) -> str:
    """Blank the marks of emphasis and the table bars of a line, offsets unchanged."""
    if "*" in line:
        line = _EMPHASIS.sub(lambda m: _NOTHING * len(m["mark"]) + m["inner"] + _NOTHING * len(m["mark"]), line)
    if _TABLE.fullmatch(line) and (line.count("|") > 2 or _ONE_CELL.fullmatch(line)):
        line = _CELL.sub("\t", line)
    return line


def _is_bullet(text: str, start: int, after: int, end: int) -> bool:
    """Return True if the dash of a line is its bullet: one of several, or alone before the name that the line is about.

    Args:
        start, end: of the line.
        after: offset behind the dash and the space.
    """
    begins = _BEGINS.search(text, max(0, start - _REACH_ABOVE), start) is not None
    return (begins and _NAME_FIRST.match(text, after, end) is not None) or _is_in_bullet_list(text, start, end)


def _is_in_bullet_list(text: str, start: int, end: int) -> bool:
    """Return True if a neighbouring line has a bullet too, so that this line's dash is no minus sign."""
    below = re.compile(r"\s*").match(text, end, end + _MAX_BULLET_GAP)
    if below and _DASH_LINE.match(text, text.rfind("\n", 0, below.end()) + 1 if below.end() > end else end):
        return True
    above = text[max(0, start - _MAX_BULLET_GAP) : start].rstrip()
    return bool(above) and _DASH_LINE.match(above[above.rfind("\n") + 1 :]) is not None


# Cutting a line -------------------------------------------------------------------------------------------------


def _angle_bracket_indices(marks: Sequence[Mark]) -> frozenset[int]:
    """Return the indices of `<` and `>` that are brackets, as in `<x>` and `|ψ>`."""
    if not any(mark.text == ">" for mark in marks):
        return frozenset()
    places: set[int] = set()
    opening = bar = -1
    for at, mark in enumerate(marks):
        if mark.text == "<":
            before = marks[at - 1] if at else None
            is_start = before is None or before.kind in ("relation", "arrow", "wide") or before.text in _OPERATORS
            is_start = before is None or is_start or before.text in "([{,;:" or _is_word_at(marks, at - 1)
            after = marks[at + 1] if at + 1 < len(marks) else None
            opening = at if is_start and after and not after.is_apart else -1
        elif mark.text in "|∣":
            bar = at
        elif mark.text == ">":
            if 0 <= opening < at <= opening + _MAX_ANGLE:
                places |= {opening, at}
            elif 0 <= bar < at <= bar + _MAX_ANGLE // 2 and not mark.is_apart:
                places.add(at)
            opening = bar = -1
        elif mark.kind == "relation":
            opening = bar = -1
    return frozenset(places)


def _boundary_kind(marks: Sequence[Mark], index: int, depth: int) -> str:
    """Return the kind of boundary that the mark at an index is, inside `depth` brackets; empty if it is mathematics."""
    mark = marks[index]
    kind, word, _, _, is_apart, is_word = mark
    if kind == "number" or kind == "relation":
        return ""
    before = marks[index - 1] if index else None
    after = marks[index + 1] if index + 1 < len(marks) else None
    if is_word and is_apart and word not in _UNLIKE_WORDS and len(word) > 2:
        return "odd" if after is not None and after.text in "([" and not after.is_apart else "word"
    if kind == "wide":
        return "gap"
    if kind == "arrow":
        return "arrow"
    if kind == "word":
        is_raised = index > len("^(7") and (marks[index - 4].text, marks[index - 1].text) == ("^", ")")
        if is_raised and (word in UNITS or word in LONG_UNITS):
            return ""  # `10^(17) Hz`
        if not _is_prose_word(mark, before, after):
            return ""
        return "odd" if after is not None and after.text in "([" and not after.is_apart else "word"
    if kind == "latex":
        return "gap" if word in (r"\quad", r"\qquad") else "odd" if word in (r"\begin", r"\end", r"\item") else ""
    if kind != "single":
        return ""
    if word in ".:" and after is not None and not after.is_apart and after.kind in ("word", "number", "single"):
        return "stop" if after.text in "\"”')" else "odd"
    if word == ",":
        return "" if depth else "comma"
    if word == ":":
        return "colon"
    if word == "!" and (after is None or after.is_apart or before is None or mark.is_apart):
        is_open = before is not None and not mark.is_apart and (before.kind == "number" or before.text == ")")
        return "odd" if is_open else "" if before is not None and before.kind == "word" else "stop"
    if word in ("’", "'", "′"):
        is_index = any(mark.text == "_" for mark in marks[max(0, index - 3) : index])  # the prime of `E_p1'`
        is_named = index > 1 and marks[index - 2].kind == "word" and not marks[index - 1].is_apart  # and of `v1'`
        is_quoted = any(each.text == word and (each.is_apart or each is marks[0]) for each in marks[:index])
        is_index |= is_named and not is_quoted
        is_behind_number = before is not None and before.kind == "number" and not is_index
        is_quote = before is None or mark.is_apart or is_behind_number or _is_word_at(marks, index - 1)
        return "stop" if is_quote else ""
    if word in _STOPS:
        return "stop"
    is_loose = mark.is_apart and (after is None or after.is_apart)
    if word in "–-−" and is_loose and index > 0 and _is_word_at(marks, index - 1):
        return "odd"  # a dash between words, or a minus behind one
    return "" if _GREEK_OR_SIGN.match(word) else "odd"


def _is_word_at(marks: Sequence[Mark], index: int) -> bool:
    """Return True if a word of the sentence stands at an index, and not an index such as that of `F_net`."""
    is_index = index > 0 and not marks[index].is_apart and marks[index - 1].text in ("_", "^")
    return marks[index].is_word and not is_index


def _is_prose_word(mark: Mark, before: Mark | None, after: Mark | None) -> bool:
    """Return True if letters, given their neighbours, are a word of the sentence and no unit, index or symbols."""
    word = mark.text
    if before is not None and not mark.is_apart and before.text in ("_", "^"):
        return False
    if (
        before is not None
        and (before.kind in ("number", "super") or before.text in "/·*°")
        and (word in UNITS or word in LONG_UNITS)
    ):
        return False
    if word in _CONSTANT and before is not None and before.kind == "relation":
        return False
    if word == "at" and before is not None:
        is_operand = before.kind == "relation" or before.text in _OPERATORS or before.text in "½("
        ends = after is None or after.kind in ("super", "relation") or after.text in _OPERATORS or after.text in ".,;)"
        return not (is_operand and ends)
    if len(word) <= 2 and after is not None and after.text in "'’" and not after.is_apart:
        return word in ("I", "it", "he", "we")
    return mark.is_word


def _split_into_candidates(marks: Sequence[Mark], left: str, right: str) -> list[_Candidate]:
    """Split a line at words, stops and gaps; a bracket around words is a boundary, one around mathematics is not."""
    found: list[_Candidate] = []
    lo, before = 0, ""
    opened: list[int] = []
    n_remark = 0  # brackets around words that are open
    braces: list[int] = []  # open braces: how many up to each hold the argument of a command or a script
    parting = [
        at
        for at, (kind, text, _, _, _, is_word) in enumerate(marks)
        if is_word or (kind in _PARTING_KINDS and text not in _NEVER_PART) or text == "I"
    ]
    for at in parting:
        if at < lo:
            continue
        mark = marks[at]
        if mark.text in ("{", "}"):
            _track_braces(marks, at, braces)
        kind = "" if braces and braces[-1] else _boundary_kind(marks, at, len(opened))
        if not kind and mark.text in "([{" and mark.kind == "single":
            opened.append(at)
        elif not kind and mark.text in _CLOSERS and mark.kind == "single":
            if opened and marks[opened[-1]].text == _CLOSERS[mark.text]:
                opened.pop()
            elif not opened and n_remark:
                kind = "bracket"
                n_remark -= 1
            else:
                ends = at > lo and not mark.is_apart and (at + 1 == len(marks) or marks[at + 1].text in ".,;")
                kind = "bracket" if ends and not opened else "odd"  # a bracket too many at the end
        if kind:
            word = mark.text if kind == "word" else ""
            if word and at and lo == at and left == "word":
                word = f"{before.rpartition(' ')[2]} {word}"  # two words tell more: `integral of`
            if lo < at:
                is_torn = kind == "word" and _goes_on_in_word(marks, at)
                edges = (left, "odd" if is_torn else kind)
                _append_between_boundaries(found, marks, lo, at, opened, edges, (before, word))
            n_remark += len(opened)
            opened, braces = [], []
            has_tail = kind == "word" and at + 1 < len(marks) and marks[at + 1].text in _HYPHENS
            last = _last_mark_of_word(marks, at) if has_tail else at
            lo, left, before = last + 1, kind, word
            if kind == "word" and lo < len(marks) and not marks[lo].is_apart and marks[lo].text not in ":,.;)–—-":
                left = "odd"  # `spin-1/2`, `Energy_0`
    _append_between_boundaries(found, marks, lo, len(marks), opened, (left, right), (before, ""))
    return found


def _goes_on_in_word(marks: Sequence[Mark], index: int) -> bool:
    """Return True if the word at an index touches an operand before it, and is no unit of a number: `v2costheta`.

    An operand is a number, name, word, script or closing bracket.
    """
    word, before = marks[index], marks[index - 1]
    is_unit = before.kind == "number" and (word.text in UNITS or word.text in LONG_UNITS)
    is_operand = before.kind in ("number", "name", "word", "super", "sub") or before.text == ")"
    return not word.is_apart and is_operand and not is_unit


def _track_braces(marks: Sequence[Mark], index: int, braces: list[int]) -> None:
    r"""Update `braces`, in place, at a brace; words in an argument such as `\text{max}` are not the sentence's."""
    if marks[index].text == "}":
        del braces[-1:]
        return
    before = marks[index - 1] if index else None
    is_argument = before is not None and (before.kind == "latex" or before.text in "_^}")
    braces.append((braces[-1] if braces else 0) + is_argument)


def _last_mark_of_word(marks: Sequence[Mark], index: int) -> int:
    """Return the index of the last mark of a word with an apostrophe or hyphens."""
    while index + 2 < len(marks) and marks[index + 1].text in _HYPHENS and not marks[index + 1].is_apart:
        following = marks[index + 2]
        is_tail = marks[index + 1].text in "'’" and following.text in _TAILS
        if following.is_apart or following.kind != "word" or not (is_tail or following.is_word):
            break
        index += 2
    return index


def _append_between_boundaries(
    found: list[_Candidate],
    marks: Sequence[Mark],
    lo: int,
    hi: int,
    opened: Sequence[int],
    edges: tuple[str, str],
    words: tuple[str, str],
) -> None:
    """Append the candidates between two boundaries: the marks from `lo` to `hi`, cut at brackets still open."""
    (left, right), (before, after) = edges, words
    if right in ("stop", "end") and len(opened) == 1 and _may_close_at_end(marks, lo, hi, opened[0]):
        end = marks[hi - 1].end
        _append_candidates(found, (*marks[lo:hi], Mark("single", ")", end, end)), left, right, before, after)
        return
    for at in opened:
        is_argument = at > lo and not marks[at].is_apart
        kind = "odd" if is_argument or right not in ("word", "colon", "stop") else "bracket"
        _append_candidates(found, tuple(marks[lo:at]), left, kind, before, "")
        lo, left, before = at + 1, kind, ""
    _append_candidates(found, tuple(marks[lo:hi]), left, right, before, after)


def _may_close_at_end(marks: Sequence[Mark], lo: int, hi: int, opening: int) -> bool:
    """Return True if a bracket that is never closed is closed at the end, behind another: `m g ((a - b)`, no index."""
    is_factor = lo < opening and marks[opening].text == "(" and marks[opening - 1].text not in ("_", "^")
    return is_factor and marks[hi - 1].text == ")" and not any(mark.kind == "relation" for mark in marks[opening:hi])


def _append_candidates(
    found: list[_Candidate], run: tuple[Mark, ...], left: str, right: str, before: str, after: str
) -> None:
    """Append a run of marks as a candidate; `(a = 1, b = 2)` gives each equation, a condition in brackets is apart."""
    if not run or len(run) > _MAX_MARKS:
        return
    relations = _relation_indices(run)
    if not relations and run[0].text in "([{" and _bracket_ends(run).get(0) == len(run) - 1:
        inner = run[1:-1]
        commas = [-1, *(at for at, mark in enumerate(inner) if mark.text == "," and mark.kind == "single"), len(inner)]
        if any(mark.kind == "relation" for mark in inner):
            for one, two in pairwise(commas):
                _append_candidates(found, inner[one + 1 : two], "bracket", "bracket", "", "")
        return
    for start, end in () if relations else _bracket_ends(run).items():
        is_call = start and run[start - 1].text in ("P", "Pr", "Prob")
        if run[start].is_apart and not is_call and any(mark.kind == "relation" for mark in run[start:end]):
            _append_candidates(found, run[start : end + 1], "bracket", "bracket", "", "")
    for start, end in _bracket_ends(run).items() if relations and run[-1].text in _CLOSERS else ():
        is_remark = start and run[start].is_apart and relations[0] < start and end == len(run) - 1
        if is_remark and any(mark.kind == "relation" for mark in run[start:end]):
            found.append(_Candidate(run[:start], _relation_indices(run[:start]), left, "bracket", before, ""))
            _append_candidates(found, run[start:], "bracket", right, "", after)
            return
    found.append(_Candidate(run, relations, left, right, before, after))


def _bracket_ends(run: Sequence[Mark]) -> dict[int, int]:
    """Map the index of each outermost opening bracket to that of its closing one."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, mark in enumerate(run):
        if mark.kind != "single":
            continue
        if mark.text in "([{":
            opened.append(at)
        elif mark.text in _CLOSERS and opened:
            opening = opened.pop()
            if not opened:
                ends[opening] = at
    return ends


def _relation_indices(run: Sequence[Mark]) -> list[int]:
    """Return the indices of the relations of a run of marks that stand outside brackets."""
    kinds = [mark.kind for mark in run]
    if "relation" not in kinds and "latex" not in kinds:
        return []
    depth, places, is_angular = 0, [], False
    for at, (kind, text, *_) in enumerate(run):
        if kind == "single":
            depth += (text in "([{") - (text in _CLOSERS)
        elif depth == 0 and (kind == "relation" or (kind == "latex" and _RELATION.fullmatch(text))):
            places.append(at)
            is_angular = is_angular or text in ("<", ">")
    if is_angular:
        angles = _angle_bracket_indices(run)
        places = [at for at in places if at not in angles]
    return places


# Deciding -------------------------------------------------------------------------------------------------------


def _read_listed_values(line: _Line, candidates: Sequence[_Candidate], at: int) -> tuple[list[str], int]:
    """Return further values of a list as LaTeX (`["?"]` if unclear) and how many candidates they take."""
    values: list[str] = []
    if not candidates[at].relations:
        return values, 0
    while candidates[at].right == "comma" and at + 1 < len(candidates) and len(values) < _MAX_VALUES:
        following = candidates[at + 1]
        if following.left != "comma" or following.relations or following.right == "odd":
            break
        latex = r"\ldots" if [mark.kind for mark in following.marks] == ["dots"] else line.side_latex(following.marks)
        is_number = any(mark.kind in ("number", "dots") for mark in following.marks)
        after = following.word_after.lower()
        if not latex or (
            following.right == "word" and (not is_number or after not in CONNECTIVES or after in _LISTING)
        ):
            return (["?"], len(values)) if is_number else (values, len(values))
        if not is_number and following.right not in ("comma", "stop", "end"):
            break
        values.append(latex)
        at += 1
    return (["?"], len(values)) if _continues_list(candidates, at) else (values, len(values))


def _continues_list(candidates: Sequence[_Candidate], at: int) -> bool:
    """Return True if a word such as "or" behind a candidate continues its list of values, as in `x = 1 or 2`."""
    word = candidates[at].word_after.lower()
    if word not in _LISTING:
        return False
    following = candidates[at + 1] if at + 1 < len(candidates) else None
    if following is None or following.word_before.lower() != word:
        return word == "or"
    return not following.relations and any(mark.kind == "number" for mark in following.marks)


def _without_label(candidate: _Candidate) -> _Candidate:
    """Return a candidate without the label of a part before it, `(b) v = gt` behind a comma or a gap."""
    first = candidate.marks[:4]
    texts = [mark.text for mark in first]
    is_label = len(first) == 4 and texts[0] == "(" and texts[2] == ")" and texts[1] in _PART_LETTERS
    if not is_label or not first[3].is_apart or candidate.left not in ("comma", "gap") or candidate.relations[:1] < [4]:
        return candidate
    return candidate._replace(marks=candidate.marks[3:], relations=[at - 3 for at in candidate.relations])


def _split_unit_in_words(line: _Line, candidate: _Candidate) -> tuple[_Candidate, str, int]:
    """Return a candidate, the unit in words behind its last number, and the end of it: "" and 0 if there is none."""
    marks = candidate.marks
    if len(marks) > _SHORTEST and marks[-1].text in LONG_UNITS and marks[-2].kind == "number":
        marks = marks[:-1]  # `meters` of `4.95 meters per second`
    if candidate.right != "word" or len(marks) < _SHORTEST or marks[-1].kind != "number" or not _ends_in_number(marks):
        return candidate, "", 0
    unit, end = unit_after(line.text, line.start + marks[-1].end)
    behind = _NEXT_WORD.match(line.text, end)
    if not unit or unit_goes_on(line.text, end) or (behind and behind[1].lower() in _JOIN):
        return candidate, "", 0
    return candidate._replace(marks=marks, right="stop", word_after=""), unit, end


def _formula_block(line: _Line, candidate: _Candidate, values: Sequence[str]) -> Block | None:
    """Return the formula of a candidate and its further values as a block; None if it is not surely a formula."""
    candidate, unit, unit_end = _split_unit_in_words(line, _without_label(candidate))
    marks = candidate.marks
    places = candidate.relations
    named = _named_in_words(line, candidate)
    if named:
        candidate = candidate._replace(left="start")
    if not places or "?" in values or places[-1] == len(marks) - 1 or _holds_two_formulas(line, marks, places):
        return None
    if not _is_complete_formula(line, candidate, places):
        return None
    start, end = line.start + (0 if named else marks[0].start), unit_end or line.start + marks[-1].end
    relations = {marks[at] for at in places}
    if any(mark.kind == "latex" and not is_letter_command(mark) for mark in marks if mark not in relations):
        is_headless = places[0] == 0 and candidate.left != "start"
        is_read = not is_headless and _is_complete_latex(line.text[start:end])
        return Block(start, end, "plain", start, end) if is_read else None
    signs = [relation_latex(marks[at]) for at in places]
    bounds = [*places, len(marks)]
    members = [line.side_latex(marks[lo + 1 : hi]) for lo, hi in zip(places, bounds[1:], strict=True)]
    if places[0]:
        members.insert(0, line.side_latex(marks[: places[0]]))
    elif named:
        members.insert(0, rf"\text{{{named}}}")
    elif candidate.left != "start" and candidate.left != "gap":
        return None
    if not all(members) or _has_opposed_orderings(signs):
        return None
    members[-1] = ", ".join([members[-1] + unit, *values])
    return Block(start, end, "plain", start, end, tuple(members), tuple(signs))


def _named_in_words(line: _Line, candidate: _Candidate) -> str:
    """Return the quantity that a line names in words before an equality, `Heat flux = -κ(ΔT/Δx)`; empty if none."""
    name = line.shown[: candidate.marks[0].start].strip()
    is_equality = candidate.relations[:1] == [0] and candidate.marks[0].text == "="
    if candidate.left != "word" or not is_equality or not _NAMED.fullmatch(name) or is_label(name):
        return ""
    words = name.lower().split()
    is_name = is_remark(words) and not any(word in _INTRODUCE or word in _JOIN or word in _ANSWERS for word in words)
    return name if is_name else ""


def _holds_two_formulas(line: _Line, marks: Sequence[Mark], places: Sequence[int]) -> bool:
    """Return True if only a space or a number separates two formulas in the marks: `x = 1 y = 2`."""
    start = line.start
    if _NUMBERED.search(line.text, start + marks[0].start, start + marks[-1].end):
        return True
    between = (line.text[start + marks[lo].end : start + marks[hi].start] for lo, hi in pairwise(places))
    named = (_VALUE_AND_NAME.fullmatch(member) for member in between)
    return any(found["name"] not in UNITS and found["name"] not in LONG_UNITS for found in named if found)


def _is_complete_latex(content: str) -> bool:
    """Return True if a text is LaTeX throughout: braces close, nothing is torn, no function lacks its backslash.

    Names within braces do not count, and other words are not looked for. True of a text without commands too.
    """
    bare = _COMMAND.sub(" ", _IN_BRACES.sub(" ", content))
    depth = 0
    for sign in content:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0 and not _TORN.search(content) and not any(map(is_mathematical_name, _LETTERS.findall(bare)))


def _has_opposed_orderings(signs: Sequence[str]) -> bool:
    """Return True if relations point both ways, as in `a < b > c`, which orders nothing."""
    return any(sign in ("<", r"\le") for sign in signs) and any(sign in (">", r"\ge") for sign in signs)


def _is_complete_formula(line: _Line, candidate: _Candidate, places: Sequence[int]) -> bool:
    """Return True if nothing beside a candidate continues it: no words, operators, or sum on the next line."""
    marks, first = candidate.marks, candidate.marks[: places[0]]
    before, after = candidate.word_before.lower(), candidate.word_after.lower()
    if before in _JOIN_PAIRS:
        return False
    before = before.rpartition(" ")[2]
    if candidate.left not in _CLEAN_LEFT and not (candidate.left == "word" and before not in _JOIN_BEFORE):
        return False
    if candidate.right not in _CLEAN_RIGHT and not (
        candidate.right == "word" and (after not in _JOIN or _TO_DO.match(line.shown, marks[-1].end))
    ):
        return False
    is_introduced = before in _INTRODUCE or (before.endswith("ing") and before not in _NOUNS)
    if candidate.left == "word" and (not first or (_has_spaced_operands(first) and not is_introduced)):
        return False
    if first and first[0].text in ("a", "A", "I") and len(first) > 1 and first[1].is_apart and candidate.left == "word":
        return False  # an article before the symbol
    last = marks[-1]
    if after in _LIMITING and any(mark.text in "∫∮∑∏Σ" for mark in marks):
        return False  # `V = -∫ E dr from a to b`
    if candidate.right == "word":
        is_no_unit = after in CONNECTIVES or after in _NO_UNITS or _IN_WHAT.match(line.shown, last.end)
        if _ends_in_number(marks) and not is_no_unit:
            return False  # `5 particles`
        is_article = last.text in ("a", "A", "I") and last.is_apart and marks[-2].kind != "relation"
        if is_article and after not in CONNECTIVES:
            return False
        if last.text in _OPERATORS:
            return False
    if candidate.right == "bracket" and last.text in _OPERATORS:
        return False
    is_last = candidate.right == "end"
    if is_last and _GOES_ON_BELOW.match(line.text, *_next_line_span(line.text, line.start + last.end)):
        return False
    return not _ends_in_remark(marks)


def _next_line_span(text: str, end: int) -> tuple[int, int]:
    """Return start and end of the line below an offset; both the length of the text if there is none."""
    start = text.find("\n", end) + 1
    if not start:
        return len(text), len(text)
    stop = text.find("\n", start)
    return start, stop if stop >= 0 else len(text)


def _ends_in_number(marks: Sequence[Mark]) -> bool:
    """Return True if marks end in a number that is no index or power: `5`, `10²`, but not `r^2`, `x1`."""
    last, before = marks[-1], marks[-2]
    if last.kind == "super":
        return before.kind == "number"
    if before.text in ("^", "**") and len(marks) > 2:
        return marks[-3].kind == "number"
    return last.kind == "number" and (last.is_apart or not (before.text == "_" or before.kind == "word"))


def _ends_in_remark(marks: Sequence[Mark]) -> bool:
    """Return True if a bracket at the end, as in `x = 5 (2)`, may be an equation number or a factor."""
    if len(marks) < 4 or marks[-1].text != ")" or marks[-3].text != "(" or not marks[-3].is_apart:
        return False
    return marks[-2].kind == "number" or marks[-4].kind == "number"


def _has_spaced_operands(operands: Sequence[Mark]) -> bool:
    """Return True if two operands stand side by side with only a space between, as in `m F`."""
    for one, two in pairwise(operands):
        if two.is_apart and one.text not in _OPERATORS and two.text not in _OPERATORS:
            return True
    return False


# Displays that lost their backslashes ---------------------------------------------------------------------------

_BARE_DISPLAY = re.compile(
    rf"^[ \t>]*\[[ \t]*(?:\n(?P<rows>[^\[\]\n][^\n]*(?:\n[^\n]+){{0,20}}?)\n[ \t>]*\][ \t.,]*$"
    rf"|(?P<row>[^\n]{{1,{_MAX_DISPLAY}}})\][ \t.,]*$)",
    re.MULTILINE,
)
_BARE_INLINE = re.compile(r"\( (?<![\\\w]\( )(?P<inner>[^()\n$]{1,200}(?:\([^()\n$]{0,80}\)[^()\n$]{0,200}){0,4}) \)")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_IN_BRACES = re.compile(r"(?:[_^]|\\(?:text[a-z]*|mathrm|mathbf|operatorname\*?|mbox))\{[^{}]*\}")
_TORN = re.compile(r"\\(?:[dt]?frac|sqrt|text[a-z]*|math[a-z]*|left|right|int|sum)\s*$")
_LETTERS = re.compile("[A-Za-z]+")
_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}(?![}A-Za-z])")


def find_bare_displays(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    r"""Yield `[ ... ]` alone on its lines and `( ... )` with commands: delimiters that lost their backslash."""
    starts = sorted((block.outer_start, block.outer_end) for block in blocks)
    ends = [end for _, end in starts]
    for pattern, kind in ((_BARE_DISPLAY, "display"), (_BARE_INLINE, "inline")):
        for found in pattern.finditer(text):
            group = "inner" if kind == "inline" else "rows" if found["rows"] is not None else "row"
            start, end = found.span(group)
            at = bisect_right(ends, found.start())
            is_free = at >= len(starts) or starts[at][0] >= found.end()
            content = text[start:end]
            has_command = _COMMAND.search(content) is not None
            is_formula = has_command or (group == "rows" and "=" in content)
            if is_free and is_formula and not _PROSE.search(_COMMAND.sub(" ", content)):
                yield Block(start, end, kind, found.start(), found.end())
