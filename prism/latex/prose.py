r"""English prose around formulas: sentences, words, negation, hedges, number words and visible text, each defined once.

Four readers stand on it: `latex.extraction.retractions` (what a solution takes back), `problem.statement` (what a
problem gives), `problem.worded_answers` (answers in words) and `grading.part_marks` (where a part begins). A list of
words that one of them alone needs stands there.

Refused: a tagger or parser from a library. Its mistakes cannot be listed, whereas a word that is missing below is one
row in `tests/cases/`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from prism.latex.word_lists import any_word
from prism.latex.words import ALTERNATIVE, word_set

MAX_SENTENCE = 600  # characters searched for the other end of a sentence, so that no text costs quadratic time
FORMULA = "§"  # stands for each character of a formula in masked text

# Sentences --------------------------------------------------------------------------------------------------------

_SHORTENED = "".join(rf"(?<!\b{word}\.)" for word in r"eq eqs fig figs cf ref refs vs sec pt prob e\.g i\.e".split())
_STOP = rf"(?:[!?]|\.(?i:{_SHORTENED}))[)\]*_\"'”’]{{0,4}}(?=\s|$)"  # a full stop, but of no abbreviation
_ITEM = r"\n[ \t]{0,40}(?:[-*+•]|\d{1,2}[.)])[ \t]"  # the start of a list item
SENTENCE_END = re.compile(rf"{_STOP}|\n[ \t]{{0,40}}\n|{_ITEM}")
# Ends at a colon and a semicolon too, but goes on over the blank line before a displayed formula.
CLAUSE_END = re.compile(rf"[;:](?=\s|$)|{_STOP}|\n[ \t]{{0,40}}\n(?!\s{{0,40}}(?:{FORMULA}|\\begin))|{_ITEM}")


def sentence_start(text: str, end: int, *, ends: re.Pattern[str] = SENTENCE_END, low: int = 0) -> int:
    """Return where the sentence that goes on at `end` begins: behind the last sentence end at or before that offset.

    Args:
        text: prose, usually masked.
        end: an offset in the text; only `MAX_SENTENCE` characters before it are searched.
        ends: `SENTENCE_END` or `CLAUSE_END`.
        low: the earliest offset that is returned.

    >>> sentence_start("See Fig. 2. It moves.", 20)
    11
    """
    start = max(low, end - MAX_SENTENCE)
    return max((mark.end() for mark in ends.finditer(text, start, end + 1) if mark.end() <= end), default=start)


def line_end(text: str, at: int) -> int:
    """Return the offset of the end of the line that contains an offset."""
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def sentence_end(text: str, start: int) -> int:
    """Return where the sentence that contains `start` ends: at its final mark."""
    stop = min(len(text), start + MAX_SENTENCE)
    mark = SENTENCE_END.search(text, start, stop)
    return mark.start() if mark else stop


# Words ------------------------------------------------------------------------------------------------------------

ORDINALS = word_set("zeroth first second third fourth fifth sixth seventh eighth ninth tenth")
NEGATIONS = word_set("not never cannot neither nor no un non isnt arent wasnt doesnt dont cant wont")
WRONG_WORDS = word_set("wrong incorrect false untrue invalid mistaken erroneous flawed")
HEDGES = word_set(
    "may might could maybe perhaps possibly probably if unless provided whether either assuming assume assumes suppose"
    " supposing supposedly only would apparently depends depending sometimes unclear unknown uncertain"
)
# Words beside a quantity that make another one of it: the formula alone is then not what the text says.
CHANGES = word_set(
    "times twice half halve halved double doubled doubling triple tripled divided inverse inverted reciprocal opposite"
    " negative minus percent multiplied more less"
)
_SQUARED = word_set("squared cubed")  # also ends a unit: `meters per second squared`
_CHANGING_PAIRS = frozenset((("up", "to"), ("at", "least"), ("at", "most"), ("or", "so")))
_WORD = r"[^\W_]+(?:['’\-‐‑][^\W_]+)*"
_TOKEN = re.compile(rf"{_WORD}|[.,;:!?()/\n–—]")
MARKS = frozenset(".,;:!?()/\n–—")  # the tokens that are no words


def tokenize(text: str) -> list[str]:
    """Split prose into lower-case words and the punctuation of `MARKS`.

    >>> tokenize("It isn’t stable, is it?")
    ['it', "isn't", 'stable', ',', 'is', 'it', '?']
    """
    return _TOKEN.findall(text.casefold().replace("’", "'").replace("‐", "-").replace("‑", "-"))


def words(text: str) -> list[str]:
    """Split prose into lower-case words, without punctuation."""
    return [token for token in tokenize(text) if token not in MARKS]


def is_negation(word: str) -> bool:
    """Return True for `not`, `never`, `isn't` and other words that negate."""
    return word in NEGATIONS or word.endswith("n't")


def changes_quantity(words: Sequence[str]) -> bool:
    """Return True if words beside a formula change its quantity: `times 2`, `up to a factor`, `or so`, `squared`.

    >>> changes_quantity("divided by two".split()), changes_quantity("at the top".split())
    (True, False)
    """
    lower = [word.lower() for word in words]
    return not (CHANGES | _SQUARED).isdisjoint(lower) or any(pair in _CHANGING_PAIRS for pair in pairwise(lower))


# Words that make another number of the one before them.
_MULTIPLES = word_set(
    "hundred hundreds thousand thousands million millions billion billions trillion dozen dozens score scores gross"
    " pair pairs couple couples fold third thirds quarter quarters percent per and plus over"
)
_NO_REMARK = NEGATIONS | WRONG_WORDS | HEDGES | ALTERNATIVE | _MULTIPLES


def is_remark(words: Sequence[str]) -> bool:
    """Return True if words behind a number say nothing about its value: none denies, doubts, changes or replaces it.

    >>> [is_remark(text.split()) for text in ("above the ground", "or more", "if at rest", "thousand", "oder so")]
    [True, False, False, False, False]
    """
    lower = [word.lower() for word in words]
    if not lower or not _NO_REMARK.isdisjoint(lower) or any(map(is_negation, lower)) or changes_quantity(lower):
        return False
    return re.search(_doubts(), " ".join(lower)) is None


@cache
def _doubts() -> str:
    """Return a pattern of the words that deny, replace or loosen what is beside them, in any language."""
    return "|".join(map(any_word, ("alternatives", "looser", "denials", "conditionals")))


# What a reader sees -----------------------------------------------------------------------------------------------


def mask_formulas(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace each character of the spans of formulas by `FORMULA`; offsets stay as they are.

    >>> mask_formulas("so $v$ is", [(3, 6)])
    'so §§§ is'
    """
    text = text.replace(FORMULA, " ")
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            parts += [text[position:start], FORMULA * (end - max(start, position))]
            position = end
    return "".join([*parts, text[position:]])


BROKEN_WORD = re.compile(r"(?<=[A-Za-z])-[ \t]*\n[ \t]*(?=[a-z])")  # a hyphen at the end of a line
_OVERSTRUCK = re.compile(r".[\u0335-\u0338]", re.DOTALL)
_CANCELLED = re.compile(
    r"\\(?:[bx]?cancel|sout|st|xout|[hv]?phantom)(?![A-Za-z])\s*\{(?:[^{}]|\{[^{}]{0,80}\}){0,400}\}"
)
_NEGATION_SIGNS = re.compile(r"[¬✗✘❌☒]|!(?=[A-Za-z])|\\(?:neg|lnot|not)(?![A-Za-z])")
_FONTS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|sc|normal|up)?|math(?:rm|bf|it|sf|tt)|operatorname\*?|emph|underline|mbox|boxed|fbox"
    r"|framebox|hbox|bf|it|rm|boldsymbol|pmb|left|right)(?![A-Za-z])\s*"
)
_COMMANDS = re.compile(r"\\[A-Za-z]+\s*|\\.|~")
_TAGS = re.compile(r"</?[A-Za-z][^<>\n]{0,100}>")


def visible_text(text: str, *, keep: str = "") -> str:
    r"""Return the words that a reader sees: without commands, marks of Markdown, and invisible or struck-out text.

    Args:
        text: LaTeX or Markdown.
        keep: marks of Markdown that stay, such as a backtick that quotes.

    >>> visible_text(r"\textbf{not} *stable*, \cancel{no} ✗ unstable").split()
    ['not', 'stable,', 'not', 'unstable']
    """
    text = unicodedata.normalize("NFKC", _OVERSTRUCK.sub("", unicodedata.normalize("NFC", text)))
    text = "".join(mark for mark in text if unicodedata.category(mark) not in ("Cf", "Mn"))
    text = _NEGATION_SIGNS.sub(" not ", BROKEN_WORD.sub("", _CANCELLED.sub(" ", text)))
    text = _TAGS.sub("", _COMMANDS.sub(" ", _FONTS.sub("", text.replace(r"\!", ""))))
    return "".join(mark for mark in text if mark not in "{}$*_`#" or mark in keep).replace("^", " ")
