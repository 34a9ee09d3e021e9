r"""Names of a problem as people type them: `vfx` for `v_{fx}`, `hmax` for `h_{max}`, `pix` for pi times x.

A word of plain text is read so if it is made of names of the problem and of `pi`, the longest first. If it is a product
of letters that the problem has too (`v`, `f`, `x`), it could be meant either way, and is no formula.

Refused: LaTeX between delimiters, where letters side by side are a product.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from prism.latex.extraction.plain_tokens import (
    FUNCTIONS,
    GREEK_NAMES,
    MAX_SYMBOLS,
    OPEN_NAME,
    Mark,
    is_mathematical_name,
)
from prism.latex.words import LONG_UNITS, UNITS, word_set

MAX_TYPED = 300  # characters of one typed formula; a longer text is LaTeX
MAX_WORD = 16  # letters of a word that is taken apart
_INDEXED = re.compile(
    r"(?P<letter>[A-Za-z]|\\[A-Za-z]+)_(?:\{(?:\\text\{)?(?P<index>[A-Za-z0-9]+)\}{1,2}|(?P<one>[A-Za-z0-9]))"
)
# A letter with an index in one word: initial and final, components, friction, zero, and parts of a machine.
_NUMBERED = re.compile(r"(?<![\d.][eE])(?<=[A-Za-zα-ω])\d")  # `m1`, but not `1e5`
_LIKE_AN_INDEX = re.compile(
    "(?P<factor>[mM](?=v))?(?:[vuaFTtxyrpEKUPVLNWCQ][if]|(?:[vap]|[A-Z])[xyz]|[fF][ks]|[vxyr]o|[vaFp][1-9][xyzif]"
    "|(?![MGKR])[A-Z][a-z][1-9])"
)
_COMMON_PRODUCT = re.compile("[A-EG-Z][xyz]|[aFp]x|Fs|[A-Z][vq][1-9]")  # which are more often products than names
_SIGNS_OF_LATEX = frozenset("\\{}$&")
_WORDS = re.compile("[A-Za-z]+[0-9]?")
_EQUAL = frozenset("=≈")
_SUMS = frozenset("Σ∑")
_NEAR = 12  # marks beside a name among which the same in the other case makes it another
_OF_UNITS = word_set("number super")  # kinds of marks before a unit
_JOINING = frozenset("=≈<>≤≥*·×/+^²³)-−")  # signs beside which a word of the language is a name
_OPENING = frozenset("=≈<>≤≥*·×/+(√")


@dataclass(frozen=True, slots=True)
class TypedNames:
    """What words of plain text are made of in a problem.

    Attributes:
        names: LaTeX of names with an index, and of Greek letters, by what is typed: `vfx`, `m2`, `theta`.
        letters: single Latin letters that the problem has.
        symbols: all symbols of the problem.
        other_case: names among `names` with the first letter in the other case, by the name that the problem has.
    """

    names: dict[str, str]
    letters: frozenset[str]
    symbols: frozenset[str] = frozenset()
    other_case: frozenset[tuple[str, str]] = frozenset()

    def latex_of(self, word: str) -> str:
        """Return the product of names that a word is: `OPEN_NAME` if it may be one of letters too, empty for none."""
        if not 1 < len(word) <= MAX_WORD or is_mathematical_name(word):
            return ""
        made: list[list[str] | None] = [None] * len(word) + [[]]  # of the rest of the word behind each letter
        for at in range(len(word) - 1, -1, -1):
            for end in range(len(word), at, -1):
                piece, rest = word[at:end], made[end]
                latex = self.names.get(piece) or (piece if piece in self.letters else "") or self._change(piece)
                if piece in FUNCTIONS and rest is not None and len(rest) == 1 < len(word) - end:
                    latex = f"\\{piece}"  # of the one name that ends the word: `v2costheta`; no letter, as in `sinc`
                if latex and rest is not None:
                    made[at] = [latex, *rest]
                    break
        parts = made[0]
        if parts is None or all(len(part) == 1 for part in parts):
            return ""
        return OPEN_NAME if all(letter in self.letters for letter in word) else " ".join(parts)

    def _change(self, piece: str) -> str:
        r"""Return the LaTeX of a change of a letter that is typed in one word, `deltah`; empty for anything else."""
        before, letter = piece[: len("delta")], piece[len("delta") :]
        known = letter in self.letters and before in ("delta", "Delta") and "delta" not in self.names
        return rf"\Delta {letter}" if known else ""


NO_NAMES = TypedNames({}, frozenset())


@lru_cache(maxsize=256)
def typed_names(symbols: frozenset[str]) -> TypedNames:
    r"""Return what is typed for the symbols of a problem.

    >>> typed_names(frozenset((r"v_{fx}", "m"))).latex_of("mvfx")
    'm v_{fx}'
    """
    names = {name: latex for name, latex in GREEK_NAMES.items() if latex in symbols} | {"pi": r"\pi"}
    others: set[tuple[str, str]] = set()
    for symbol in sorted(symbols):
        if named := _INDEXED.fullmatch(symbol):
            letter = named["letter"]
            for typed in [name for name, latex in GREEK_NAMES.items() if latex == letter] or [letter.lstrip("\\")]:
                index = named["index"] or named["one"]
                names.setdefault(typed + index, symbol)
                if index == "0" and f"{letter}_o" not in symbols:
                    names.setdefault(typed + "o", symbol)  # a zero typed as a letter
                other = letter.swapcase()
                if letter.isalpha() and not any(known.startswith(other) for known in symbols):
                    names |= {f"{other}{index}": symbol, f"{other}_{index}": symbol}  # `Vfx` where the problem has no V
                    others |= {(f"{other}{index}", typed + index), (f"{other}_{index}", f"{typed}_{index}")}
    letters = frozenset(symbol for symbol in symbols if len(symbol) == 1 and symbol.isascii() and symbol.isalpha())
    return TypedNames(names, letters, symbols, frozenset(others)) if symbols else NO_NAMES


def is_typed(text: str) -> bool:
    """Return True for a formula without commands and braces that has a word, or a letter with an index behind it."""
    if not _SIGNS_OF_LATEX.isdisjoint(text):
        return False
    words = _WORDS.findall(text)
    has_name = any(len(word) > MAX_SYMBOLS or _LIKE_AN_INDEX.fullmatch(word) for word in words)
    has_name = has_name or any(len(word) == MAX_SYMBOLS and word in GREEK_NAMES for word in words)
    return has_name or _NUMBERED.search(text) is not None


def typed_as_latex(text: str, symbols: frozenset[str] = frozenset()) -> str:
    r"""Return a formula that is typed without commands as the LaTeX that a solution's would be; other text as it is.

    Args:
        text: a formula; read so if a word of several letters, or a letter with its index, stands in it.
        symbols: of the problem.

    >>> typed_as_latex("F_gravity = mgsin(theta)"), typed_as_latex("vf^2 = vi^2 + 2ad"), typed_as_latex("F = ma")
    ('F_{gravity} = mg\\sin(\\theta)', 'v_f^{2} = v_i^{2} + 2ad', 'F = ma')
    """
    if len(text) > MAX_TYPED or not is_typed(text):
        return text
    from prism.latex.extraction.pipeline import extract  # which a lone formula in LaTeX does not need

    found = extract(text, symbols=symbols)
    is_whole = len(found) == 1 and found[0].kind == "plain" and found[0].span == (0, len(text))
    return found[0].latex if is_whole else text


def with_names(marks: Sequence[Mark], typed: TypedNames) -> list[Mark]:
    """Return the marks of a line with words that are names as marks of kind `name`, with their LaTeX as text.

    A word of English is a name only beside a sign of mathematics.
    """
    marks = _with_indices_of_the_line(marks, typed)
    if not typed.names:
        return list(marks)
    runs: list[tuple[int, int]] = []
    while (at := runs[-1][1] if runs else 0) < len(marks):
        runs.append((at, max(_end_of_run(marks, at), at + 1)))
    words = frozenset("".join(mark.text for mark in marks[at:end]) for at, end in runs)
    kept: list[Mark] = []
    for at, end in runs:
        name = _name_of(marks, at, end, typed, words)
        word = "".join(mark.text for mark in marks[at:end])
        beside = "".join(mark.text for mark in marks[max(0, at - _NEAR) : end + _NEAR]) if name else ""
        if any(other in word and own in beside for other, own in typed.other_case):
            name = None  # `M1 = m1` tells the two cases apart
        kept += [name] if name else marks[at:end]
    return kept


def _with_indices_of_the_line(marks: Sequence[Mark], typed: TypedNames) -> Sequence[Mark]:
    """Return the marks of a line with letters and their indices, typed in one word as `vf` or `v2x`, as marks of names.

    The problem's letters decide first. Else a word alone on a left side is a name, and so are two that differ in the
    index, `vf - vi`; any other may be a product, and is open.
    """
    words = [mark.text for mark in marks if mark.kind == "word"]
    if not any(map(_LIKE_AN_INDEX.fullmatch, words)) and not any(mark.kind == "number" for mark in marks):
        return marks
    runs = [(at, end) for at in range(len(marks)) if (end := _end_of_indexed(marks, at))]
    texts = ["".join(mark.text for mark in marks[at:end]) for at, end in runs]
    indices = {after.text for before, after in pairwise(marks) if before.text == "_"}
    named = {
        word
        for (at, end), word in zip(runs, texts, strict=True)
        if (at == 0 and end < len(marks) and marks[end].text in _EQUAL)
        or (at and marks[at - 1].text in _SUMS)
        or word.endswith("o")
        or (word[-1] in indices and not _COMMON_PRODUCT.fullmatch(word))
        or any(other[:-1] == word[:-1] and other != word for other in texts)
        or any(other[0] == word[0] and other[1] != word[1] and other[2:] == word[2:] != "" for other in texts)
    }
    out = list(marks)
    for (at, end), word in reversed(list(zip(runs, texts, strict=True))):
        is_known = bool(typed.latex_of(word)) or (len(word) == 2 and set(word) <= typed.letters)
        if is_known or (word not in named and _COMMON_PRODUCT.fullmatch(word)):
            continue
        factor = _LIKE_AN_INDEX.fullmatch(word)["factor"] or ""  # type: ignore[index]
        letter, index = word[len(factor)], word[len(factor) + 1 :]
        index = index if len(index) == 1 else f"{{{index}}}"
        latex = f"{factor} {letter}_{index}".strip() if word in named else OPEN_NAME
        out[at:end] = [Mark("name", latex, marks[at].start, marks[end - 1].end, marks[at].is_apart)]
    return out


def _end_of_indexed(marks: Sequence[Mark], at: int) -> int:
    """Return the index behind the marks from an index on that are a letter with its index in one word; 0 for none."""
    first = marks[at]
    before, behind = marks[at - 1] if at else None, marks[at + 1 : at + 3]
    if (
        first.kind != "word"
        or is_mathematical_name(first.text)
        or (before is not None and not first.is_apart and before.text in ("_", "^", "\\"))
    ):
        return 0
    touching = [mark for mark in behind[:1] if not mark.is_apart]
    touching += [mark for mark in behind[1:] if touching and not mark.is_apart]
    kinds = [mark.kind for mark in touching]
    for count in (2, 1, 0):
        text = first.text + "".join(mark.text for mark in touching[:count])
        if len(touching) >= count and set(kinds[:count]) <= {"word", "number"} and _LIKE_AN_INDEX.fullmatch(text):
            follower = marks[at + 1 + count] if at + 1 + count < len(marks) else None
            ends = follower is None or follower.is_apart or follower.kind not in ("word", "number")
            return at + 1 + count if ends and (follower is None or follower.text != "_") else 0
    return 0


def _end_of_run(marks: Sequence[Mark], at: int) -> int:
    """Return the index behind the letters and digits, `m2v2`, that touch each other from an index on."""
    end = at
    while (
        end < len(marks)
        and (marks[end].kind == "word" or (end > at and (marks[end].text.isdigit() or marks[end].text == "_")))
        and (end == at or not marks[end].is_apart)
        and not is_mathematical_name(marks[end].text)
    ):
        end += 1
    return end


def _name_of(
    marks: Sequence[Mark], at: int, end: int, typed: TypedNames, words: frozenset[str] = frozenset()
) -> Mark | None:
    """Return the marks from an index to another as one mark of typed names; None if they are no such names.

    None too for a function, a unit behind a number, an ordinary word that no bracket or sign joins, and what is a part
    of a script. The mark holds OPEN_NAME where two names may be meant.

    Args:
        words: all runs of letters and digits of the line: `Lo` beside `L0` is open, and so is `pi` beside `pf`.
    """
    first, last = marks[at], marks[end - 1]
    if first.text == "pi" and "pf" in words:
        momentum = next((name for name in (r"p_i", r"p_{i}") if name in typed.symbols), OPEN_NAME)
        return Mark("name", momentum, first.start, last.end, first.is_apart)
    if first.kind != "word" or is_mathematical_name(first.text):
        return None
    before = marks[at - 1] if at else None
    after = marks[end] if end < len(marks) else None
    if (before is not None and not first.is_apart and before.text in ("_", "^")) or (
        after is not None and not after.is_apart and (after.text == "_" or after.kind == "number")
    ):
        return None
    word = "".join(mark.text for mark in marks[at:end])
    latex = typed.latex_of(word)
    is_joined = (after is not None and after.text in _JOINING) or (before is not None and before.text in _OPENING)
    if first.is_word and not (is_joined or r"\Delta " in latex):
        return None
    if (
        (word in UNITS or word in LONG_UNITS)
        and before is not None
        and (before.kind in _OF_UNITS or before.text in "/·*")
    ):
        return None
    if word in typed.names and word[-1] == "o":  # a zero typed as a letter, unless both are typed
        latex = "" if first.is_word else OPEN_NAME if f"{word[:-1]}0" in words else latex
    return Mark("name", latex, first.start, last.end, first.is_apart) if latex else None
