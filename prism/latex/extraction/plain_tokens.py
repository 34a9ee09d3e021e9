r"""Plain notation as marks: numbers, letters, signs, scripts; and which letters are words of the language.

Marks are cut from a line of prose, before anybody knows which of them are a formula (`undelimited`) and what they say
(`plain`). So every character becomes one, and nothing is judged here but what a run of letters can be.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

from prism.latex.words import word_set

OPEN_NAME = r"\open"  # text of a name that may be a product of letters too
MAX_SYMBOLS = 3  # letters that may be a product of symbols, as `mgh`; more are a word

_GLUED = r"(?!arc)[A-Za-z]{1,2}(?=(?:sin|cos|tan|ln|log|exp|sqrt)(?![A-Za-z]))"  # `mgsinθ`, `Rln2`
MARK = re.compile(  # the most frequent first
    rf"(?P<word>{_GLUED}|[A-Za-z]+)"
    r"|(?P<wide>[ \u00a0]*(?:\t|[\u2001-\u2003])[\s\u2001-\u2003]*|[ \u00a0]{3,}|-{2,}(?!>)|—+)"
    r"|(?P<space>[ \u00a0\u2004-\u200b\u202f\u2060]+)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?:\d+(?:\.\d+)?|(?<![\w)])\.\d+)(?:[eE][-+−]?\d{1,4}(?![\w.]))?)"
    r"|(?P<dots>\.{3,}|…)"
    r"|(?P<super>⁽[\w,=+−–-]{1,12}⁾|[⁰¹²³⁴-⁹⁺⁻⁼⁽⁾ⁿⁱᴬ-ᵡʰʲʳʷʸˡˢˣ]+)|(?P<sub>[₀-₉₊₋₌ₐ-ₜᵢ-ᵪ]+|₍[\w,=+−–₊₋-]{1,12}₎)"
    r"|(?P<latex>\\(?:[A-Za-z]+|[,;:!|{}]))|(?P<escaped>\\[_*=+<>.~-])"
    r"|(?P<tag></?su[bp]>)"
    r"|(?P<arrow>[⇒⟹⇔⟺∴→⟶]|[-=]{1,2}>)"
    r"|(?P<relation><=|>=|!=|:=|<<|>>|[=<>≈≃≅≡≤≥≪≫≠∝∼~])|(?P<single>[\s\S])"
)
# The same without groups, for a fast `findall`; what is nothing else whatever stands beside it is looked for first.
_MARKS = re.compile(
    rf"{_GLUED}|[A-Za-z]+|[(),^_/+*;|{{}}]| (?=[\w(=+*/-])|" + re.sub(r"\(\?P<[a-z]+>", "(?:", MARK.pattern)
)
_KNOWN_MARKS = 4096  # texts of marks whose kind is kept
_LONGEST_KNOWN = 64  # characters of one that are kept; no word or number that is read is longer
FUNCTIONS = word_set("sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan ln log exp")
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
    " omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega phi epsilon theta sigma ell hbar hbar"
).split()
GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵϑςℓℏħ", ("\\" + name for name in _GREEK), strict=True))
GREEK_LETTERS |= {"µ": "\\mu", "Ω": "\\Omega", "∞": "\\infty", "∇": "\\nabla", "…": "\\ldots", "†": "\\dagger"}
GREEK_NAMES = {name: "\\" + name for name in {*_GREEK} - {"iota", "upsilon", "ell"}}  # too rare, or words of prose
GREEK_NAMES |= {"eps": "\\epsilon", "infinity": "\\infty", "inf": "\\infty", "varphi": "\\varphi", "nabla": "\\nabla"}
LETTER_COMMANDS = frozenset((r"\varepsilon", r"\varphi", r"\infty", r"\hbar", r"\ell", r"\nabla", r"\vartheta"))
SIGN_COMMANDS = frozenset((r"\cdot", r"\times", r"\pm", r"\mp"))
QUANTITIES = word_set("KE PE GPE EPE COP EMF emf")  # names, where two letters would be a product
# Short words and abbreviations that a product of one-letter symbols would be confused with.
_WORDS = word_set(
    "am an as at be by do go he if in is it me my no of on or so to up us we ok vs eq eg ie th st nd rd cm si ac"
    " dc em qm act add age ago aid aim air all and any are arm art ask avg bad bar bat bed bet big bit bot box but"
    " buy can cap car cup cut day did die dot due ear eat egg end eom eye far few fig fit fix fly for fps gap gas"
    " get got had has hat her hey hit hot how ice its job key lab law lay led leg let lhs lie lot low mad man map"
    " max may men met mid min mix net new nil nor not now nth odd off oil old one our out own pay pdf per pin put"
    " ran raw red ref rhs rms row run saw say sea see set she shm sit six sky son sub sum sun ten the tie tip too"
    " top try two use van vec via war was way wet who why win yes yet you eqn eqs hz lbs hrs yrs sec mod div arg"
    " det"
)
_CAPITAL_WORDS = word_set("CM SI AC DC OK LHS RHS")
_FRACTION_SIGNS = {"½": "12", "⅓": "13", "⅔": "23", "¼": "14", "¾": "34", "⅕": "15", "⅛": "18", "⅜": "38"}
FRACTIONS = {sign: rf"\frac{{{two[0]}}}{{{two[1]}}}" for sign, two in _FRACTION_SIGNS.items()}
ACCENTS = {"\u0302": r"\hat", "\u0307": r"\dot", "\u0308": r"\ddot", "\u0304": r"\bar", "\u0305": r"\bar",
            "\u0303": r"\tilde", "\u20d7": r"\vec"}  # fmt: skip
_RELATIONS = {
    "≈": r"\approx", "≃": r"\simeq", "≅": r"\cong", "≡": r"\equiv", "<=": r"\le", ">=": r"\ge", "≤": r"\le",
    "≥": r"\ge", "≪": r"\ll", "≫": r"\gg", "<<": r"\ll", ">>": r"\gg", "≠": r"\neq", "!=": r"\neq", "∝": r"\propto",
    "∼": r"\sim", "~": r"\sim", "→": r"\to",
}  # fmt: skip


class Mark(NamedTuple):  # no dataclass: a frozen one takes thrice as long to make, and a text has thousands
    """One mark (token) of plain-text mathematics.

    Attributes:
        kind: number word super sub latex tag arrow relation single, or wide: a gap that parts formulas; or name:
            letters that are names of the problem, with their LaTeX as text.
        text: as it reads; an escaped sign without its backslash.
        start, end: offsets.
        is_apart: a space stands before it.
        is_word: it is a word of English and no product of symbols, function or Greek letter.
    """

    kind: str
    text: str
    start: int
    end: int
    is_apart: bool = False
    is_word: bool = False


_Sort = tuple[str, str, bool]  # kind and text of a mark, and if it is a word of English
_SPACE: _Sort = ("space", " ", False)
_make_mark = partial(tuple.__new__, Mark)  # without the call of a function in Python that a named tuple makes


def split_into_marks(text: str) -> list[Mark]:
    """Split a line of text, or a part of one, into marks."""
    written = _MARKS.findall(text)
    ends = list(accumulate(map(len, written)))
    is_usual = not written or max(map(len, written)) <= _LONGEST_KNOWN
    sorts = list(map(_classify if is_usual else _classify.__wrapped__, written))
    return [
        _make_mark((kind, word, start, end, before is _SPACE, is_english and not _is_product(word, before)))
        for (kind, word, is_english), start, end, before in zip(sorts, [0, *ends], ends, [None, *sorts], strict=False)
        if kind != "space"
    ]


@lru_cache(maxsize=_KNOWN_MARKS)
def _classify(written: str) -> _Sort:
    """Return what a mark is by what is written alone."""
    match = MARK.match(written)
    kind = (match and match.lastgroup) or "single"
    if kind == "space":
        return _SPACE
    if kind == "escaped":
        return "relation" if written[1] in "=<>~" else "single", written[1], False
    return kind, written, kind == "word" and _is_english(written)


def _is_product(word: str, before: _Sort | None) -> bool:
    """Return True for a word that a number touches and that is hardly ever one there, in `b^2 - 4ac`, `2as`."""
    return word in ("ac", "as") and before is not None and before[0] == "number"


def _is_english(word: str) -> bool:
    """Return True if letters are a word of English and no product of symbols, function or Greek letter."""
    if len(word) == 1 or is_mathematical_name(word):
        return False
    if len(word) > MAX_SYMBOLS:
        return True
    return word.lower() in _WORDS and (word.islower() or word.istitle() or word in _CAPITAL_WORDS)


def is_mathematical_name(word: str) -> bool:
    """Return True if a word names one thing in mathematics: a function, a Greek letter, an energy."""
    return word in FUNCTIONS or word in GREEK_NAMES or word in QUANTITIES or word in ("sqrt", "hbar")


def is_letter_command(mark: Mark) -> bool:
    """Return True if a mark is the LaTeX command of one letter or sign that plain notation has too."""
    word = mark.text
    return word[1:] in GREEK_NAMES or word in LETTER_COMMANDS or word in SIGN_COMMANDS


def relation_latex(mark: Mark) -> str:
    """Return the LaTeX of a relation sign, which is the sign itself if it needs no command."""
    return _RELATIONS.get(mark.text, mark.text)
