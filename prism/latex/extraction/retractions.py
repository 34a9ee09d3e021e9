r"""Formulas that a solution states without asserting: denied, asked, contrary to fact, or taken back (semantics C.6).

They are found between the formulas, once those are known. What the clauses around a formula say of it, in any language,
is read by `denials`; here stands what layout adds.

- Suppositions as solutions make them ("suppose that A", "if A then B") are claims, and so is "the time would be A":
  many state their results so.
- A heading over wrong answers (`_TITLE`: "## Wrong answers", "Common mistakes"), up to the next heading of its level or
  above it, or of any level that announces what is right (`_RIGHT`). A bold line is the lowest heading.
- A cross, a thumb down, an empty tick box or a word of it beside a formula (`_MARKED`: "(wrong)", "(retracted)", "Oops,
  no"), and a footnote that says so.
- Words inside a formula that change it (`_CHANGED`: `\text{(times 2)}`); those that deny it are read as a text is.
- A table: a row with "no" or "wrong" in a cell of its own, and the column under "wrong". A "no" or a cross under
  another question ("Conserved?") is none.
- A clause about what stands above or below (`denials.clauses_on_others`): "all of this" is its section; "these" the
  list or paragraph before it, and formulas that stand alone before that; "the following" those behind it.

Weaker than these (`_WEAK`): what *would* be, what is measured or rejected, the other root, and the condition behind
"for", "if" and "when" is a claim only where nothing else is stated about the same quantity, and takes nothing back.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from prism.latex.extraction.blocks import Block
from prism.latex.extraction.denials import clauses_on_others, denied_starts, says_it_is_wrong
from prism.latex.extraction.worded_clauses import WordedText, read_worded
from prism.latex.prose import (
    FORMULA,
    WRONG_WORDS,
    line_end,
    mask_formulas,
    sentence_end,
    sentence_start,
)
from prism.latex.word_lists import FIRST_UNPARTED, any_word

Span = tuple[int, int]  # offsets in the masked text

_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WRONG_WORD = "|".join(sorted(WRONG_WORDS))
_WRONG = (
    rf"(?:{_WRONG_WORD}|impossible|a mistake|an error|the opposite of (?:the truth|true|what is true)|a contradiction"
    "|contradictory|absurd|an absurdity|nonsense|nonsensical|not (?:true|correct|right|valid|the case))"
)
_ADJECTIVE = rf"(?:{_WRONG_WORD}|not (?:true|correct|right))"
_NOUN = (
    r"(?:formula[se]?|equations?|expressions?|results?|answers?|statements?|claims?|relations?|solutions?|values?"
    r"|steps?|lines?|options?|approach(?:es)?|methods?|attempts?|guess(?:es)?|ideas?|derivations?|calculations?"
    r"|computations?|reasoning|arguments?|assumptions?|conclusions?|work|way|ways|ones?|things?)"
)
_CROSS = "[✗✘❌✖🚫👎☒]\ufe0f?"
_ARROW = r"(?:\\(?:Rightarrow|Longrightarrow|implies|to|rightarrow)(?![A-Za-z])|[⇒⟹→]|[=-]>)"
_NEW_SENTENCE = re.compile(rf"\s+[¿¡]?[A-ZÀ-ÖØ-Þ][^\W\d_]*[ ,'’]|\s*\n\s*[{FIRST_UNPARTED}-\U0010ffff]")
_ARROW_ALONE = re.compile(rf"\s*{_ARROW}\s*")  # between dollars it is a sign of the prose


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A solution with its formulas masked and zero-width characters dropped.

    Attributes:
        shown: the text.
        lowered: the same in lower case, character by character, for patterns that are then faster.
        starts: offset in it of each delimited formula, ascending.
        worded: the clauses of `lowered`; none without a formula.
    """

    shown: str
    lowered: str
    starts: Sequence[int]
    worded: WordedText


def mask_blocks(text: str, blocks: Sequence[Block]) -> MaskedText:
    """Mask the formulas of a solution.

    Args:
        text: a solution, without what is hidden.
        blocks: its delimited formulas, ascending.
    """
    stating = (block for block in blocks if not _ARROW_ALONE.fullmatch(text, block.start, block.end))
    shown = mask_formulas(text, ((block.outer_start, block.outer_end) for block in stating))
    displays = (block.outer_end for block in blocks if block.kind == "display")
    ends = [end for end in displays if _NEW_SENTENCE.match(text, end)]
    signs = list(shown) if ends else []
    for end in ends:  # a display before a new sentence ends one, as with a full stop
        signs[end - 1] = "."
    shown = "".join(signs) or shown
    dropped = [mark.start() for mark in _NO_WIDTH.finditer(shown)]
    starts = [block.outer_start - bisect_left(dropped, block.outer_start) for block in blocks]
    shown = _NO_WIDTH.sub("", shown) if dropped else shown
    # The letters that `re.IGNORECASE` takes for an i or s, and `lower` does not; `İ` alone would become two characters.
    lowered = shown.replace("İ", "i").replace("ı", "i").replace("ſ", "s").lower()
    return MaskedText(shown, lowered, starts, read_worded(lowered if FORMULA in shown else ""))


def denied_blocks(masked: MaskedText, *, is_statement: bool) -> frozenset[int]:
    """Return the indices of the delimited formulas that the text denies, takes back or only asks about or to show."""
    if FORMULA not in masked.shown:
        return frozenset()
    denied = denied_starts(masked.worded, masked.starts, is_statement=is_statement)
    denials = ((start, start + 1) for start in denied)
    return blocks_in(masked.starts, chain(denials, _spans_taken_back(masked)))


def unasserted_blocks(masked: MaskedText) -> frozenset[int]:
    """Return the indices of the formulas (blocks) that the text mentions without asserting: "would be", "rejected"."""
    conditions = (mark.span() for mark in _CONTRARY.finditer(masked.lowered))
    elsewhere = (
        (mark.end(), sentence_end(masked.shown, mark.end())) for mark in _WOULD_ELSEWHERE.finditer(masked.lowered)
    )
    return blocks_in(masked.starts, chain(_spans_of_weak(masked), conditions, elsewhere))


def blocks_in(starts: Sequence[int], regions: Iterable[Span]) -> frozenset[int]:
    """Return the indices of the formulas whose start lies in one of the spans.

    Args:
        starts: offset at which each formula begins, ascending.
        regions: spans of the text, as (start, end).
    """
    spans = ((bisect_left(starts, low), bisect_left(starts, high)) for low, high in regions)
    return frozenset(index for low, high in spans for index in range(low, high))


_ADVERB = r"(?:(?:also|clearly|simply|certainly|obviously|therefore|thus|then|just|actually|definitely) ){0,2}"
_CHANGED = re.compile(  # words in a formula that make it another one, or deny it
    rf"\btimes (?:two|three|four|ten|\d)|\b(?:divided|multiplied) by\b"
    r"|\b(?:squared|cubed|halved|doubled|inverted)\b|\bor (?:so|more|less)\b"
    r"|\bplus an? (?:constant|arbitrary)\b|\bto the power\b|\bwithin an? (?:factor|order)\b"
    r"|\bup to (?:an? |some |the )?(?:constant|numerical|overall|sign|factor|power|multiplicative)\b"
    rf"|{any_word('looser')}|\bopposite sign\b|\bat (?:least|most)\b|^\s*per\s|^\W*(?:not(?: so)?|no|maybe|perhaps)\W*$"
    rf"|^\W*(?:(?:which|this|that|it) )?(?:is|was) {_ADVERB}{_WRONG}\b",
    re.IGNORECASE,
)


def is_changed_by(words_beside: str) -> bool:
    """Return True if words in a formula change or deny it: `(times 2)`, `up to a factor`, `(false!)`."""
    return _CHANGED.search(words_beside) is not None


_NAMED_WRONG = re.compile(rf"[_^]\s*\{{?\s*(?:\\[A-Za-z]+\s*\{{?\s*)?(?:{_WRONG_WORD})\s*\}}")


def is_named_wrong(latex: str) -> bool:
    r"""Return True if a name in a formula says that it is wrong: `v^{\text{wrong}} = gt`."""
    return _NAMED_WRONG.search(latex) is not None


# Clauses ----------------------------------------------------------------------------------------------------------

_BEFORE_TURN = re.compile(r"[;:,–—]|\s(?:but|so|hence|therefore|thus|while|whereas|and)\s", re.IGNORECASE)
_FIRST_OF_WEAK = (
    "at|initially|previously|would|could|might|may|had|doubling|halving|tripling|other|second|negative|extraneous|spurious|measured|experimental|tabulated|literature"
    "|accepted|for|if|when|whenever|unless|provided|rejected|discarded|unphysical|not|excluded|to"
)
_WEAK = re.compile(  # of a text in lower case
    rf"(?=[acdefhilmnoprstuw])\b(?=(?:{_FIRST_OF_WEAK})\b)"
    rf"(?:(?P<before>(?<={FORMULA} )would\b|\b(?:rejected|discarded|unphysical|extraneous|not physical(?:ly)?|excluded"
    r"|to be rejected)\b)"
    r"|(?P<behind>\b(?:would|could have|might have|doubling|halving|tripling|for (?:example|instance))\b"
    r"|\b(?:might|could|may) (?:take|choose|set|pick|guess)\b|\bhad (?:we|it|the|there)\b"
    r"|\b(?:other|second|negative|extraneous|spurious) (?:root|solution)\b"
    r"|\b(?:measured|experimental|tabulated|literature|accepted) (?:value|result)s?\b)"
    r"|(?P<next>\b(?:(?:for|if|when|whenever|unless|provided(?: that)?)[\s*(]{1,4}"
    rf"|(?:at first|initially|previously),? \()(?={FORMULA})))"
)

_WOULD_ELSEWHERE = re.compile(any_word("conditionals", without="english"))
_CONTRARY = re.compile(  # a condition contrary to fact, `At § K it would be`, of a text in lower case
    r"(?:(?<=[.;,(\n] )|(?<=\n)|^)(?:at|with|for|below|above)\b[^.;:\n]{0,80}?\bwould\b"
)


def _spans_of_weak(masked: MaskedText) -> Iterator[Span]:
    """Yield what each match of `_WEAK` refers to: the sentence behind, the next formula, or the clause before."""
    shown = masked.shown
    for mark in _WEAK.finditer(masked.lowered):
        if mark["behind"]:
            yield mark.end(), sentence_end(shown, mark.end())
        elif mark["next"]:
            yield mark.end(), mark.end() + 1
        else:
            yield _clause_start(shown, mark.start()), mark.start()


def _clause_start(shown: str, end: int) -> int:
    """Return the offset where the clause begins that ends at `end`.

    That is behind the last comma or conjunction of the sentence that a formula follows, else its beginning.
    """
    low = sentence_start(shown, end)
    turns = (mark.end() for mark in _BEFORE_TURN.finditer(shown, low, end))
    return max((turn for turn in turns if FORMULA in shown[turn:end]), default=low)


# Layout -----------------------------------------------------------------------------------------------------------

_MOST_PARAGRAPHS = 100  # of a list or of lone formulas that one sentence denies
_NEAR = 3  # paragraphs back in which "these" finds its formulas
_BULLET = re.compile(r"[ \t>]*(?:[-*+•|]|\(?\d{1,2}[.)]|\(?[a-z][.)])")
_WORDS = re.compile(r"[A-Za-z]{2,}")
_BLANK_LINES = re.compile(r"\n[ \t>]*(?:\n[ \t>]*)+")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph of the masked text: lines between blank lines, from offset `start` to `end`.

    Attributes:
        has_formula: contains a formula.
        is_bare: holds formulas and no words.
        is_list: begins with a bullet or a number.
    """

    start: int
    end: int
    has_formula: bool
    is_bare: bool
    is_list: bool


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading at offsets `start` to `end`; level 1 is the highest, `_BOLD` (the lowest) a bold line."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _StructuredText:
    """The text with its formulas masked, and its paragraphs and headings, both ascending."""

    text: str
    paragraphs: Sequence[_Paragraph]
    headings: Sequence[_Heading]

    def paragraph_at(self, position: int) -> int:
        """Return the index of the paragraph that contains an offset of the text."""
        return bisect_right(self.paragraphs, position, key=lambda paragraph: paragraph.start) - 1


def _spans_taken_back(masked: MaskedText) -> Iterator[Span]:
    """Yield the spans that a heading, a label, a table or another sentence calls wrong, ascending and disjoint."""
    shown = masked.shown
    found = list(_spans_in_tables(shown)) if "|" in shown else []
    layout = _StructuredText(shown, _paragraphs(shown), _headings(shown))
    found += chain(
        _spans_under_headings(layout), _spans_beside_labels(layout), _spans_called_wrong(layout, masked.worded)
    )
    reach = 0
    for low, high in sorted(found):  # overlaps are merged, so that no text makes this quadratic
        if high > reach:
            yield max(low, reach), high
            reach = high


def _paragraphs(shown: str) -> list[_Paragraph]:
    """Divide a text with masked formulas into its paragraphs at blank lines."""
    found = []
    start = 0
    for end, following in [*(gap.span() for gap in _BLANK_LINES.finditer(shown)), (len(shown), len(shown))]:
        content = shown[start:end]
        has_formula = FORMULA in content
        is_bare = has_formula and not _WORDS.search(content)
        found.append(_Paragraph(start, end, has_formula, is_bare, _BULLET.match(content) is not None))
        start = following
    return found


def _formula_ending(shown: str, last: int) -> Span:
    """Return the span of the masked formula whose last character stands at offset `last`."""
    start = last
    while start and shown[start - 1] == FORMULA:
        start -= 1
    return start, last + 1


def _end_of_text_below(layout: _StructuredText, at: int) -> int:
    """Return the end of the list or paragraph behind offset `at`, or of a row of paragraphs that are formulas alone.

    A line such as "Correct:" ends it earlier.
    """
    paragraphs = layout.paragraphs
    first = layout.paragraph_at(at)
    if layout.text.find(FORMULA, at, paragraphs[first].end) < 0:
        first += 1
    if first >= len(paragraphs):
        return len(layout.text)
    start = max(at, paragraphs[first].start)
    is_list = _BULLET.match(layout.text[start : paragraphs[first].end].lstrip("\n")) is not None
    end = paragraphs[first].end
    for paragraph in paragraphs[first + 1 : first + _MOST_PARAGRAPHS]:
        if not (paragraph.is_list if is_list else paragraph.is_bare):
            break
        end = paragraph.end
    right = _RIGHT.search(layout.text, start, end)
    return right.start() if right else end


def _start_of_text_above(layout: _StructuredText, at: int) -> int:
    """Return the start of the list or paragraph with a formula before offset `at`, or of a row of formulas alone.

    `at` itself if there is none in the same paragraph or the `_NEAR` paragraphs before.
    """
    paragraphs = layout.paragraphs
    own = layout.paragraph_at(at)
    if layout.text.find(FORMULA, paragraphs[own].start, at) >= 0:
        first, is_list = own, paragraphs[own].is_list
        is_bare = not _WORDS.search(layout.text, paragraphs[own].start, layout.text.rfind("\n", 0, at) + 1)
    else:
        near = [n for n in range(own - 1, max(own - 1 - _NEAR, -1), -1) if paragraphs[n].has_formula]
        if not near:
            return at
        first, is_bare, is_list = near[0], paragraphs[near[0]].is_bare, paragraphs[near[0]].is_list
    if is_bare or is_list:
        for n in range(first - 1, max(first - _MOST_PARAGRAPHS, -1), -1):
            if not (paragraphs[n].is_bare or (is_list and paragraphs[n].is_list)):
                break
            first = n
    return paragraphs[first].start


# Headings ---------------------------------------------------------------------------------------------------------

_HEADING = re.compile(
    r"^[ \t>]{0,8}(?:(?P<marks>\#{1,6})[ \t]{1,8}(?P<a>[^\n]{1,200})"
    r"|\\(?P<section>chapter|section|subsection|subsubsection|paragraph)\*?\{(?P<b>[^\n{}]{1,200})\}"
    r"|<h(?P<tag>[1-6])>(?P<c>[^\n<]{1,200})"
    r"|(?P<d>[^\n\#*|>\\ \t-][^\n]{0,100})\n[ \t]{0,3}(?P<line>={3,80}|-{3,80})[ \t]{0,8}"
    r"|(?:\*\*|__|\\textbf\{)(?P<e>[^\n*{}]{1,120})(?:\*\*|__|\})[:.]?[ \t]{0,8})$",
    re.MULTILINE,
)
_BOLD_WORDS = re.compile(r"^[ \t>]{0,8}(?:\*\*|__)[^\n*]{0,40}[A-Za-z]{4}[^\n*]{0,80}(?:\*\*|__)", re.MULTILINE)
_SECTIONS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4}
_BOLD = 7
_QUALIFIER = (
    r"(?:the|an?|some|my|our|your|other|common|typical|frequent|usual|popular|possible|plausible|tempting|naive|first"
    r"|initial|previous|earlier|several|all|two|three|list of|examples? of)\s"
)
_TITLE = re.compile(
    rf"(?:{_QUALIFIER}){{0,4}}(?:{_ADJECTIVE}(?:\s{_NOUN}(?P<more>[\s:,(–—-].{{0,80}})?)?"
    r"|(?:mistakes?|misconceptions?|pitfalls?|fallac(?:y|ies)|(?:common|typical|frequent|usual)\serrors?|what not to"
    r" (?:do|write))(?P<also>[\s:,(–—-].{0,80})?)"
    rf"|.{{1,60}}[(:–—]\s?{_ADJECTIVE}\)?",
    re.IGNORECASE,
)
_RIGHT_AFTER_ALL = re.compile(r"\b(?:correct(?:ed|ion|ions|ing|ly)?|right|fix(?:ed|es)?|repaired|resolved)\b", re.I)
_NUMBERING = re.compile(rf"[\s*_#]*(?:(?:\d{{1,2}}(?:\.\d{{1,2}})*[.):]?|\(?[a-z][.)]|{_CROSS})\s+)?", re.IGNORECASE)
_RIGHT = re.compile(
    r"^[ \t>\#*_✓✔✅\ufe0f-]{0,12}(?:the )?(?:correct|right|proper|actual|true|corrected)"
    r"(?:\s[a-z]{2,20}){0,2}[*_]{0,3}(?::|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)


def _headings(shown: str) -> list[_Heading]:
    """Find the headings of Markdown, LaTeX and HTML, and bold lines, in a text with masked formulas."""
    found = []
    for mark in _HEADING.finditer(shown):
        title = next(filter(None, (mark[name] for name in "abcde")))
        level = (
            len(mark["marks"]) if mark["marks"]
            else _SECTIONS[mark["section"]] if mark["section"]
            else int(mark["tag"]) if mark["tag"]
            else (1 if mark["line"][0] == "=" else 2) if mark["line"]
            else _BOLD
        )  # fmt: skip
        found.append(_Heading(mark.start(), mark.end(), level, title))
    return found


def _spans_under_headings(layout: _StructuredText) -> Iterator[Span]:
    """Yield the spans of sections whose headings announce wrong formulas, such as "Common mistakes"."""
    shown, reach = layout.text, 0
    for at, heading in enumerate(layout.headings):
        if heading.start < reach or not announces_wrong(heading.title):
            continue
        behind = (layout.headings[k] for k in range(at + 1, len(layout.headings)))
        reach = next((other.start for other in behind if other.level <= heading.level), len(shown))
        if heading.level == _BOLD and (bold := _BOLD_WORDS.search(shown, heading.end, reach)):
            reach = bold.start()
        if right := _RIGHT.search(shown, heading.end, reach):
            reach = right.start()
        yield heading.end, reach


def announces_wrong(title: str) -> bool:
    """Return True if a title announces wrong formulas: `Common mistakes`, but not `Common mistakes, corrected`."""
    content = title[_NUMBERING.match(title).end() :].strip(" \t*_:.!#}")  # type: ignore[union-attr]
    if not (found := _TITLE.fullmatch(content)):
        return False
    return not _RIGHT_AFTER_ALL.search((found["more"] or "") + (found["also"] or ""))


# Labels and marks -------------------------------------------------------------------------------------------------

_FOOTNOTE = re.compile(
    r"^[ \t]{0,3}(?:\[\^(?P<name>[\w-]{1,20})\]:|<sup>(?P<raised>\w{1,3}|\*{1,3})</sup>|(?P<tex>\\footnotetext)\{)"
    r"[ \t]*(?P<note>[^\n}]{1,300})",
    re.MULTILINE,
)
_WITH_FOOTNOTE = re.compile(rf"{FORMULA}(?!{FORMULA})[ .,;:]{{0,3}}\\footnote\{{(?P<note>[^{{}}]{{1,300}})\}}")
_TO_FOOTNOTE = re.compile(
    rf"(?P<formula>{FORMULA}(?!{FORMULA})[ .,;:]{{0,3}})?(?:\[\^(?P<name>[\w-]{{1,20}})\](?!:)"
    r"|<sup>(?P<raised>\w{1,3}|\*{1,3})</sup>|(?P<tex>\\footnotemark)(?![A-Za-z]))"
)
_MARKED = re.compile(
    rf"(?P<before>^[ \t>*+•-]{{0,8}}(?:\d{{1,2}}[.)][ \t])?(?:{_CROSS}|☐|(?<=[-*+][ ])\[[ ]\]))"
    rf"|(?<={FORMULA})(?!{FORMULA})[ \t*_.,–—-]{{0,4}}(?P<behind>{_CROSS}|(?:\$?{_ARROW}\$?)?[ \t]?(?:a )?contradiction"
    rf"(?=[.,;!]|$)|{_ARROW}[ \t]?(?:\\bot(?![A-Za-z])|⊥)|(?::|[–—]|-{{1,2}}|<?->?|→|←)[ \t]{{0,2}}[*_]{{0,3}}"
    rf"{_ADJECTIVE}[*_]{{0,3}}(?=[ \t]*(?:[.,;!|]|$)))",
    re.IGNORECASE | re.MULTILINE,
)
_CHECK = re.compile("[✓✔✅]")


def _spans_beside_labels(layout: _StructuredText) -> Iterator[Span]:
    """Yield the spans of formulas beside ✗ or `(wrong)`, or with a footnote that says so."""
    shown = layout.text
    for mark in _MARKED.finditer(shown):
        if mark["before"]:
            check = _CHECK.search(shown, mark.end(), line_end(shown, mark.end()))
            yield mark.end(), check.start() if check else line_end(shown, mark.end())
        else:
            yield _formula_ending(shown, mark.start() - 1)
    yield from _spans_with_footnotes(shown)


def _spans_with_footnotes(shown: str) -> Iterator[Span]:
    r"""Yield the spans of formulas whose footnote calls them wrong, `[^1]: This is false` or `\footnote{...}`."""
    for mark in _WITH_FOOTNOTE.finditer(shown):
        if says_it_is_wrong(mark["note"]):
            yield _formula_ending(shown, mark.start())
    denied = {name for name, note in _named_marks(_FOOTNOTE.finditer(shown)) if says_it_is_wrong(note["note"])}
    for name, mark in _named_marks(_TO_FOOTNOTE.finditer(shown)) if denied else ():
        if name in denied and mark["formula"]:
            yield _formula_ending(shown, mark.start())


def _named_marks(marks: Iterable[re.Match[str]]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield marks of footnotes, or their notes, each after its name; those of TeX are told by their order."""
    n_of_tex = 0
    for mark in marks:
        n_of_tex += mark["tex"] is not None
        yield mark["name"] or mark["raised"] or f"tex {n_of_tex}", mark


# Tables -----------------------------------------------------------------------------------------------------------

_ROW = re.compile(r"^[^\n]*\|[^\n]*$", re.MULTILINE)
_OF_RULES = frozenset(" \t>|:-")
_REFUSED = re.compile(rf"{_ADJECTIVE}|not valid|(?:does|do) not hold|doesn't hold", re.IGNORECASE)
_NO = re.compile(rf"no|nope|never|fails?|n|{_CROSS}", re.IGNORECASE)
_ASKS_FOR_TRUTH = re.compile(
    r"\b(?:holds?|true|truth|correct|right|valid|validity|ok|okay|verdict|works?|status|wrong|false|check(?:ed)?)\b"
    r"|^[^A-Za-z]*$",
    re.IGNORECASE,
)


def _spans_in_tables(shown: str) -> Iterator[Span]:
    """Yield the spans of table rows that one of their cells calls wrong, and of cells below the head `Wrong`."""
    heads: list[str] = []
    wrong_columns: set[int] = set()
    previous = -1
    above: list[Span] = []
    for line in _ROW.finditer(shown):
        if line.start() != previous + 1:
            heads, wrong_columns, above = [], set(), []
        previous = line.end()
        cells = _cells(shown, *line.span())
        if "-" in line[0] and _OF_RULES.issuperset(line[0]):
            heads = [_cell_text(shown, cell) for cell in above]
            wrong_columns = {at for at, head in enumerate(heads) if announces_wrong(head)}
            continue
        above = cells
        if FORMULA not in line[0]:
            continue
        for at, cell in enumerate(cells):
            content, head = _cell_text(shown, cell), heads[at] if at < len(heads) else ""
            if _REFUSED.fullmatch(content) or (_NO.fullmatch(content) and _ASKS_FOR_TRUTH.search(head)):
                yield line.span()
            elif at in wrong_columns:
                yield cell


def _cells(shown: str, start: int, end: int) -> list[Span]:
    """Return the spans of the cells of the table row from offset `start` to `end`, which `|` separates."""
    bars = [start - 1, *(at for at in range(start, end) if shown[at] == "|"), end]
    spans = [(low + 1, high) for low, high in pairwise(bars)]
    if spans and not shown[slice(*spans[0])].strip(" \t>"):
        spans = spans[1:]
    if spans and not shown[slice(*spans[-1])].strip():
        spans = spans[:-1]
    return spans


def _cell_text(shown: str, cell: Span) -> str:
    """Return the text of a table's cell without the blanks, asterisks and punctuation around it."""
    return shown[slice(*cell)].strip(" \t*_.!()")


# Sentences about other places -------------------------------------------------------------------------------------


def _spans_called_wrong(layout: _StructuredText, read: WordedText) -> Iterator[Span]:
    """Yield the spans that sentences elsewhere call wrong, such as "all of the above is wrong"."""
    shown = layout.text
    starts = [heading.start for heading in layout.headings]
    reach = 0
    for kind, low, high in clauses_on_others(read):
        if kind == "whole":
            yield 0, len(shown)
        elif kind in ("everything", "preceding"):
            at = bisect_left(starts, low) if kind == "everything" else 0
            own = starts[at - 1] if at else 0
            yield own if shown.find(FORMULA, own, low) >= 0 else 0, low
        elif kind == "plural":
            yield _start_of_text_above(layout, low), low
        elif high >= reach:
            end = line_end(shown, high)
            is_here = shown.find(FORMULA, high, end) >= 0
            reach = sentence_end(shown, high) if is_here else _end_of_text_below(layout, end)
            if is_here and FORMULA not in shown[high:reach]:
                reach = _end_of_text_below(layout, high)
            yield high, reach
