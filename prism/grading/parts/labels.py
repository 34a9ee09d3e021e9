r"""Find the labels of parts in a solution: `(a)`, `a)`, `a.`, `Part a`; and prepare its text for that search.

Whether a label begins a part or only mentions it is decided in `part_marks`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from prism.latex.extraction.blocks import Block, blank_spans, find_delimited_blocks
from prism.latex.extraction.masking import mask, thinking_spans

# Every repetition in a pattern of these modules is bounded, and every search has its end: no text is quadratic.
MAX_LABELS = 10_000  # labels that are looked at; a solution has some hundred
_MAX_EXTRA = 4  # letters after the last one of the problem that are known, for labels of parts that it does not have


# The text as it is read -------------------------------------------------------------------------------------------

_MARKUP = re.compile(  # what may stand between a label and the beginning of its line without saying anything
    r"\\(?:(?:sub){0,2}section|(?:sub)?paragraph|part|question|problem)\*?(?:\s?\[[^\[\]\n]{0,40}\])?\s?\{"
    r"|\\(?:text[a-z]{0,8}|math(?:bf|rm|it|sf)|emph|underline|mbox|boxed|fbox|bf|rm|it|bfseries|itshape|noindent|item"
    r"|par|medskip|bigskip|smallskip|newline|linebreak|q?quad|hfill|[hv]space\*?\{[^{}\n]{0,20}\}|displaystyle|left|right"
    r"|hline|centering|large|Large|begin\{[A-Za-z]{1,20}\*?\}(?:\{[^{}\n]{0,40}\})?|end\{[A-Za-z]{1,20}\*?\})(?![A-Za-z])"
    r"|\\[,;:! ()\[\]]|[{}$&~*`#>]|_{2}|(?<![\w}])_|_(?![\w{\\])|\ufeff|</?[a-z]{1,8}/?>"
)
ROW_END = re.compile(r"\\\\(?:\[[^\[\]\n]{0,10}\])?")
_PARAGRAPH_END = re.compile(r"\n(?=[ \t>]{0,20}\n)")
_SPACES = "\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u3000"
_WIDE = str.maketrans(f"（）：．，；{_SPACES}", f"():.,;{' ' * len(_SPACES)}")


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a solution, prepared for the search for labels such as `(a)`; offsets are those of the original.

    Attributes:
        shown: with blanks for hidden text, code and thinking.
        plain: with blanks for markup too.
        blocks: delimited formulas, ascending; starts: where they begin.
        gaps: where a paragraph ends before a blank line, ascending.
    """

    shown: str
    plain: str
    blocks: tuple[Block, ...]
    starts: tuple[int, ...]
    gaps: tuple[int, ...]

    def block_at(self, position: int) -> Block | None:
        """Return the delimited formula that contains an offset, or None."""
        at = bisect_right(self.starts, position)
        return self.blocks[at - 1] if at and position < self.blocks[at - 1].outer_end else None

    def end_of_paragraph(self, position: int) -> int:
        """Return the offset of the end of the paragraph that contains an offset."""
        at = bisect_right(self.gaps, position)
        return self.gaps[at] if at < len(self.gaps) else len(self.shown)


def prepare_page(text: str) -> Page:
    """Prepare the text of a solution for the search for labels: hidden text and markup blanked, formulas located."""
    shown = blank_spans(mask(text)[0], sorted(thinking_spans(text))).translate(_WIDE)
    blocks = tuple(find_delimited_blocks(shown, 0, len(shown)))
    plain = ROW_END.sub(lambda mark: "\n".rjust(len(mark[0])), shown)
    plain = _MARKUP.sub(lambda mark: " " * len(mark[0]), plain)
    gaps = tuple(mark.start() for mark in _PARAGRAPH_END.finditer(shown))
    return Page(shown, plain, blocks, tuple(block.outer_start for block in blocks), gaps)


# Labels -----------------------------------------------------------------------------------------------------------

# Each noun begins with its own letters, so that a search stops only where one of them stands.
NOUNS = (
    r"[Pp](?i:arts?|roblems?)|[Ss](?i:ub-?(?:part|question|problem)s?)|[Qq](?i:uestions?)?|[Ee](?i:xercises?)"
    r"|[Tt](?i:asks?)"
)
_ROUND_NOUNS = (  # behind these only `(a)` is a label
    r"[Ss](?i:teps?|tatements?|olutions?)|[Cc](?i:ases?|onditions?)|[Ii](?i:tems?)|[Pp](?i:oints?)|[Aa](?i:nswers?|ns)"
)
ROMANS = tuple("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split())
LETTERS = tuple("abcdefgh")


@dataclass(frozen=True, slots=True)
class LabelPatterns:
    """Patterns that find the labels of a problem's subquestions, such as `(a)` or `Part a`, in a solution.

    Attributes:
        named: matches a label with its noun; unnamed: one without, None if those are not searched for.
        names: the letters, and those after the last one; index: their ordinals, by spelling.
        folds: True if the letters differ by more than case.
        are_numbers: True if the letters are numbers, which also count steps and equations.
    """

    named: re.Pattern[str]
    unnamed: re.Pattern[str] | None
    names: tuple[str, ...]
    index: dict[str, int]
    folds: bool
    are_numbers: bool


@lru_cache(maxsize=64)
def label_patterns(letters: tuple[str, ...], *, named_only: bool = False) -> LabelPatterns:
    """Build the patterns that find labels such as `(a)`, `a.` or `Part a` for the letters of a problem's parts.

    Args:
        letters: names of the parts, in order.
        named_only: search only for labels with a noun, `Part 1`.
    """
    names = (*letters, *_next_letters(letters))
    folds = len({name.casefold() for name in names}) == len(names)
    spelt = {
        form for name in names for form in ((name, name.lower(), name.upper(), name.title()) if folds else (name,))
    }
    one = "|".join(re.escape(form) for form in sorted(spelt, key=lambda form: (-len(form), form)))
    sub = r"(?:[.-]?(?:[1-9]|i{1,3}|iv|v))?" if set(names) <= {*LETTERS} else ""  # `(a1)`, `(a.ii)`
    rounded = rf"\([ \t]?(?P<round>{one}){sub}[ \t]?\)"
    short = rf"(?P<half>{one})\)|(?P<dot>{one})\.\)?(?!\w)"
    named = (
        rf"(?:{NOUNS}|(?P<few>{_ROUND_NOUNS}))(?:\.?[ \t]{{0,12}}{rounded}"
        rf"|(?(few)(?!))[ \t]{{1,12}}(?:{short}|(?P<bare>{one})(?![\w'’^)]|\.\w)))"
    )
    unnamed = rf"{rounded}|\[(?P<square>{one})\]|{short}"
    return LabelPatterns(
        re.compile(named),
        None if named_only else re.compile(unnamed),
        names,
        {name.casefold() if folds else name: at for at, name in enumerate(names)},
        folds,
        all(name.isdigit() for name in names),
    )


def _next_letters(letters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the next few letters of the sequence (a, b, c or i, ii, iii) that the letters begin; empty if none."""
    numbers = tuple(str(number) for number in range(1, len(letters) + _MAX_EXTRA + 1))
    for sequence in (LETTERS, tuple(letter.upper() for letter in LETTERS), ROMANS, numbers):
        if letters == sequence[: len(letters)]:
            return sequence[len(letters) : len(letters) + _MAX_EXTRA]
    return ()


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a part in the text, such as `(a)` or `Part a`.

    Attributes:
        left, right: offsets, with its noun.
        letter: ordinal of the part, from 0.
        form: `round` for `(a)`, `half` for `a)`, `dot` for `a.`, `square` for `[a]`, `bare` for the letter of `Part a`.
        noun: True if a noun such as `Part` stands before the letter.
        is_exact: True if the letter is spelt as in the problem.
    """

    left: int
    right: int
    letter: int
    form: str
    noun: bool
    is_exact: bool


_BEFORE = {  # what does not stand before a label of each form
    "named": re.compile(r"[A-Za-z\\]"),
    "round": re.compile(r"[A-Za-z\\_^)]"),
    "half": re.compile(r"[\w(^\\.-]"),
    "dot": re.compile(r"[\w(^\\.-]"),
}
_FORMS = ("round", "square", "half", "dot", "bare")


def find_labels(page: Page, patterns: LabelPatterns) -> list[Label]:
    """Find the labels of a text, ascending; the search stops a little beyond `MAX_LABELS` of them."""
    named = [_label(page, patterns, mark) for mark in islice(patterns.named.finditer(page.plain), MAX_LABELS + 1)]
    found = [label for label in named if label is not None]
    if patterns.unnamed is not None:
        ends = {label.right for label in found}
        short = (_label(page, patterns, mark) for mark in islice(patterns.unnamed.finditer(page.plain), MAX_LABELS + 1))
        found += [label for label in short if label is not None and label.right not in ends]
    return sorted(found, key=lambda label: label.left)


def _label(page: Page, patterns: LabelPatterns, mark: re.Match[str]) -> Label | None:
    """Return the label that a pattern matched, or None if it is part of a word or of a product such as `f(a)`."""
    groups = mark.groupdict()
    form = next(form for form in _FORMS if groups.get(form))
    noun = mark.re is patterns.named
    refused = _BEFORE.get("named" if noun else form)
    name = mark[form].casefold() if patterns.folds else mark[form]
    if name not in patterns.index or (refused and mark.start() and refused.match(page.plain, mark.start() - 1)):
        return None
    letter = patterns.index[name]
    return Label(mark.start(), mark.end(), letter, form, noun, mark[form] == patterns.names[letter])
