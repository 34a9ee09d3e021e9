r"""Formulas without LaTeX, as people type them: `v = sqrt(2gh)`, `½mv²`, `ω₀`, `3×10⁻³ J`, rewritten as LaTeX.

`undelimited` decides which marks of a line are a formula; `write` turns one side of it into LaTeX. Spacing carries
meaning here that LaTeX throws away: `ħ²/2m x` divides by 2m, and `ħ/2 σ` could be either. What could be read two ways
is no formula: `write` gives nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from prism.latex.extraction.plain_operands import OPENERS, SLASHES, Doubt, Part, Reader, bracket, scripted, whole
from prism.latex.extraction.plain_operators import (
    average,
    bar,
    big,
    differential_quotient,
    function,
    is_big,
    partial,
    root,
    root_of_bracket,
)
from prism.latex.extraction.plain_tokens import (
    ACCENTS,
    FRACTIONS,
    FUNCTIONS,
    GREEK_LETTERS,
    GREEK_NAMES,
    LETTER_COMMANDS,
    MAX_SYMBOLS,
    QUANTITIES,
    SIGN_COMMANDS,
    Mark,
    is_word,
    relation_latex,
)
from prism.latex.words import UNIT_EXPRESSION, UNITS, unit_latex, word_set

_SIGNS = {
    "*": r"\cdot", "·": r"\cdot", "⋅": r"\cdot", "∙": r"\cdot", "•": r"\cdot", "×": r"\times", "−": "-", "–": "-",
    "±": r"\pm", "∓": r"\mp", "+": "+", "-": "-", "⊗": r"\otimes", "**": "^",
}  # fmt: skip
_SCRIPT_LETTERS = {"ℒ": r"\mathcal{L}", "ℋ": r"\mathcal{H}", "ℰ": r"\mathcal{E}"}
_BOLD = ((0x1D400, 0x1D433), (0x1D468, 0x1D49B), (0x1D5D4, 0x1D607), (0x1D63C, 0x1D66F))  # of the letters of Unicode
_BOLD_GREEK = ((0x1D6A8, 0x1D6E1), (0x1D71C, 0x1D755), (0x1D756, 0x1D7CB))
_FONTS_OF_GREEK = 0x1D6A8
_ROWS = re.compile(r"\[[^\[\]]{1,200}\](?:, ?\[[^\[\]]{1,200}\]){1,8}")  # `[[1, 0], [0, 1]]`
_ROW = re.compile(r"\[([^\[\]]{1,200})\]")
_WAVES = frozenset("ψφϕΨΦχ")  # behind these a star that touches is a conjugate
_SURE_UNITS = word_set(
    "m/s m/s^2 m/s² rad/s N/m N/m² N/C V/m J/K J/s W/m² C/m C/m² C/m³ J·s N·m N/m^2 W/m^2 C/m^2 °C °F"
)
_UNIT_ENDS = re.compile(r"[ \t\u00a0]*(?:$|[=≈<>+−–×*,;)\]]|-[ \t]|[-/][ \t]*[\d(])")
_TOUCHING_UNITS = word_set("kg cm km eV keV MeV GeV Hz kHz MHz kJ kW kPa MPa °C")  # `5kg`; `2mL` may be 2·m·L
_ONLY_UNITS = word_set("kg cm mm nm Hz kHz MHz GHz eV keV MeV GeV TeV Pa kPa MPa kJ kW mol rad rev")
_UNIT_BEHIND = re.compile(rf"[ \u00a0]*({UNIT_EXPRESSION.pattern})(?![\w^²³⁻])")
_PLAIN_FACTORS = frozenset(("1", "2", "3", "4", "0.5", "1.5", "2.5", "0.25"))  # before `m`: a factor or a length
_CROSSED = frozenset("ABEFHJLMSprv")  # behind ` x ` these may be vectors
_OPERANDS = frozenset(("symbol", "product", "group", "number"))
_COMPONENT = re.compile("[A-Z][xyz]")
_INDEXED = re.compile(r"(C(?=[pv]$)|k(?=BT?$))([pvB])(T?)$")  # written without their line below
_KNOWN_PRODUCTS = word_set("mv ma mg kT RT GM nR nC mc")


def write(text: str, side: Sequence[Mark]) -> str:
    r"""One side of a relation as LaTeX, or nothing if it is not surely mathematics.

    >>> from prism.latex.extraction.plain_tokens import marks
    >>> write("2*pi*sqrt(L/g)", marks("2*pi*sqrt(L/g)"))
    '2\\cdot\\pi\\cdot\\sqrt{L/g}'
    """
    if [mark.text for mark in side] in (["constant"], ["const"]):
        return r"\text{constant}"
    return whole(Reader(text, side, _part))


def _part(reader: Reader, before: Sequence[Part]) -> Part:
    """The next operand or sign."""
    mark = reader.peek()
    assert mark is not None
    word, apart = mark.text, mark.is_apart
    last = before[-1].kind if before else ""
    if mark.kind == "number":
        return _number(reader, before)
    if mark.kind == "word":
        return _word(reader, last)
    if mark.kind == "latex":
        return _command(reader, mark, last)
    if (mark.kind == "relation" and word == "<") or word in ("⟨", "〈"):
        return average(reader)
    if mark.kind == "relation" and reader.depth > 1:  # inside brackets: `P(s = 1)`
        reader.at += 1
        return Part(relation_latex(mark), "operator", apart)
    if mark.kind == "dots" and last in ("operator", "comma"):
        reader.at += 1
        return Part(r"\ldots", "symbol", apart)
    if mark.kind != "single":
        raise Doubt
    if word in SLASHES or word == "÷":
        reader.at += 1
        return Part("/", "slash", apart)
    if word in _SIGNS:
        return _sign(reader, mark, last)
    if word in OPENERS:
        reader.at += 1
        inner = bracket(reader, OPENERS[word])
        left, right = ("(", ")") if word == "{" else (word, OPENERS[word])
        if word == "[" and _ROWS.fullmatch(inner):
            rows = r" \\ ".join(row.replace(",", " &") for row in _ROW.findall(inner))
            return scripted(reader, rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}", "group", apart)
        return scripted(reader, f"{left}{inner}{right}", "group", apart)
    if word == "," and reader.depth > 1:
        reader.at += 1
        return Part(",", "comma", False)
    if word == "!" and last in ("symbol", "number", "group") and not apart:
        reader.at += 1
        return Part("!", "symbol", False)
    if word == "%" and last == "number":
        reader.at += 1
        return Part(r"\%", "symbol", False)
    if word == "°" and last == "number":
        return _degree(reader)
    if word in ("|", "∣"):
        return bar(reader)
    if word in ("√", "∛"):
        return root(reader)
    if word == "∂":
        return partial(reader)
    if is_big(reader, mark):
        return big(reader)
    reader.at += 1
    return _letter(reader, mark)


def _command(reader: Reader, mark: Mark, last: str) -> Part:
    """A command of LaTeX that is one letter or sign; any other has its own grammar."""
    if mark.text in SIGN_COMMANDS and last not in ("", "operator", "slash", "comma"):
        reader.at += 1
        return Part(mark.text, "operator", mark.is_apart)
    if mark.text[1:] not in GREEK_NAMES and mark.text not in LETTER_COMMANDS:
        raise Doubt
    reader.at += 1
    return scripted(reader, mark.text, "symbol", mark.is_apart)


def _sign(reader: Reader, mark: Mark, last: str) -> Part:
    """A sign of arithmetic; a star that touches only what stands before it may conjugate."""
    word = mark.text
    reader.at += 1
    following = reader.peek()
    if word == "*":
        if reader.is_next("*") and not following.is_apart:  # type: ignore[union-attr]
            raise Doubt  # a power that follows nothing
        is_wave = reader.at > 1 and reader.marks[reader.at - 2].text in _WAVES and not mark.is_apart
        if following is None or mark.is_apart != following.is_apart or is_wave:
            raise Doubt
    if following is None or (word not in "+-−–±∓" and last in ("", "operator", "slash", "comma")):
        raise Doubt
    if last == "operator" and word in "±∓":
        raise Doubt
    return Part(_SIGNS[word], "operator", mark.is_apart)


# Numbers and letters --------------------------------------------------------------------------------------------


def _number(reader: Reader, before: Sequence[Part]) -> Part:
    """A number with its power of ten, its unit and its exponent."""
    mark = reader.peek()
    assert mark is not None
    if before and before[-1].kind in ("number", "symbol", "ket", "derivative", "root", "group", "function"):
        raise Doubt  # `x 2`, `2 3`: a lost power or sign
    reader.at += 1
    digits, _, power = mark.text.replace(",", "").replace("−", "-").lower().partition("e")
    latex = rf"{digits}\times 10^{{{int(power)}}}" if power else digits
    latex = "0" + latex if latex.startswith(".") else latex
    following, ten = reader.peek(), reader.peek(1)
    if following and following.text in ("x", "X") and ten and ten.text == "10" and reader.is_next("^", ahead=2):
        reader.at += 1  # `2 x 10^5`
        latex += r"\times "
        ten_part = _number(reader, ())
        return Part(latex + ten_part.latex, "number", mark.is_apart)
    if following and following.text in ("x", "X") and ten and ten.text == "10":
        raised = reader.peek(2)
        if raised and raised.kind == "super":
            reader.at += 1
            ten_part = _number(reader, ())
            return Part(latex + r"\times " + ten_part.latex, "number", mark.is_apart)
        raise Doubt
    if power and before and before[-1].kind == "slash":
        latex = f"({latex})"
    number = scripted(reader, latex, "number", mark.is_apart)
    return _with_unit(reader, number, mark, before)


def _with_unit(reader: Reader, number: Part, mark: Mark, before: Sequence[Part]) -> Part:
    """The number, with what is surely its unit; a letter that may be a symbol stays one."""
    following = reader.peek()
    if following is None or not (following.kind == "word" or following.text in ("°", "Å", "µ", "μ", "Ω")):
        return number
    end = reader.marks[-1].end
    unit = _UNIT_BEHIND.match(reader.text, following.start, end)
    if not unit or (before and before[-1].kind == "slash"):
        return number
    letters = re.findall(r"[^\W\d_]+", unit[1])
    if not following.is_apart and unit[1] not in _TOUCHING_UNITS and following.text != "°":
        return number
    is_sure = unit[1] in _SURE_UNITS or any(len(word) > 1 and word != "mg" for word in letters)
    is_long = "." in mark.text or len(mark.text) > 1 or r"\times" in number.latex
    is_ten = bool(before) and before[-1].latex == r"\times" and number.latex.startswith("10^")
    if len(letters) == 1 and (is_long or is_ten) and mark.text not in _PLAIN_FACTORS:
        is_sure = is_sure or (following.is_apart and letters[0] in UNITS)
    is_divided = is_sure and reader.text[unit.end() : unit.end() + 1] == "/" and len(letters) == 1
    if not (is_divided or _UNIT_ENDS.match(reader.text, unit.end(), end)):
        if any(len(word) > 1 and word != "mg" and word in UNITS for word in letters):
            raise Doubt  # `5 mm` is not 5·m·m, and what follows belongs to it
        return number
    if not is_sure:
        return number
    while (ahead := reader.peek()) is not None and ahead.start < unit.end():
        reader.at += 1
    return Part(number.latex + unit_latex(unit[1]), "number", number.is_apart)


def _degree(reader: Reader) -> Part:
    reader.at += 1
    following = reader.tight()
    if following and following.text in ("C", "F"):
        reader.at += 1
        return Part(rf"^{{\circ}}\mathrm{{{following.text}}}", "symbol", False)
    return Part(r"^{\circ}", "symbol", False)


def _word(reader: Reader, last: str) -> Part:
    """A function, a Greek letter, a differential quotient, or a product of up to three symbols."""
    mark = reader.peek()
    assert mark is not None
    word = mark.text
    reader.at += 1
    if word == "sqrt":
        return root_of_bracket(reader, mark, "")
    if word in FUNCTIONS:
        return function(reader, mark)
    if word in GREEK_NAMES:
        return scripted(reader, GREEK_NAMES[word], "symbol", mark.is_apart, is_letter=True)
    if word in QUANTITIES:
        if last == "number":
            raise Doubt  # upright letters behind a number are a unit
        return scripted(reader, rf"\mathrm{{{word}}}", "symbol", mark.is_apart, is_letter=True)
    if word == "h" and reader.is_next("-") and reader.is_next("bar", ahead=1):
        reader.at += 2
        return scripted(reader, r"\hbar", "symbol", mark.is_apart)
    following = reader.peek()
    is_between = mark.is_apart and last in _OPERANDS and following is not None and following.is_apart
    if word == "x" and is_between and following.text in _CROSSED:  # type: ignore[union-attr]
        raise Doubt  # `q v x B`: a cross, or a symbol
    if word[0] == "d" and (quotient := differential_quotient(reader, mark)):
        return quotient
    if len(word) > MAX_SYMBOLS or (is_word(mark) and word != "at"):
        raise Doubt
    if word in _ONLY_UNITS or (last == "number" and len(word) > 1 and word in UNITS - {"mg"}):
        raise Doubt
    following = reader.tight()
    if len(word) > 1 and following and following.kind == "number":
        raise Doubt  # `mc2`: a lost power
    if following and following.text == "_" and len(word) > 1 and word not in _KNOWN_PRODUCTS and word[0] != "d":
        after = reader.peek(1)
        if after and after.kind == "word" and len(after.text) > 1 and word.istitle():
            raise Doubt  # `Vol_max` is one name
    if (named := _INDEXED.search(word)) and not (following and following.text == "_"):
        name = Part(f"{named[1]}_{{{named[2]}}}", "symbol", mark.is_apart)
        name = _powered(reader, name, named[3])
        return Part(word[: named.start()] + name.latex, "product", mark.is_apart, name.is_raised)
    if reader.depth == 1 and reader.at == 1 and _COMPONENT.fullmatch(word) and reader.peek() is None:
        return Part(f"{word[0]}_{word[1]}", "symbol", mark.is_apart)  # `Ex = ...`
    name = scripted(reader, word[-1], "symbol", mark.is_apart, is_letter=True)
    return Part(word[:-1] + name.latex, "symbol" if len(word) == 1 else "product", mark.is_apart, name.is_raised)


def _powered(reader: Reader, name: Part, rest: str) -> Part:
    """`Cp` with what follows it in its word, `kBT`, and the power of the last letter."""
    if rest:
        last = scripted(reader, rest, "symbol", False, is_letter=True)
        return Part(f"{name.latex} {last.latex}", "product", name.is_apart, last.is_raised)
    return scripted(reader, name.latex, "symbol", name.is_apart)


def _letter(reader: Reader, mark: Mark) -> Part:
    """A single sign that is a letter: Greek, accented, bold, a fraction."""
    word = mark.text
    if word in FRACTIONS:
        return Part(FRACTIONS[word], "number", mark.is_apart)
    if word in ("Δ", "δ") and (named := reader.tight()):
        is_name = (named.kind == "word" and len(named.text) <= 2) or named.text in GREEK_LETTERS
        if is_name:
            reader.at += 1
            letters = GREEK_LETTERS.get(named.text, named.text)
            following = reader.tight()
            is_indexed = following is not None and following.kind == "number" and len(named.text) > 1
            if named.kind == "word" and (is_word(named) or is_indexed):
                raise Doubt
            return scripted(reader, f"{GREEK_LETTERS[word]} {letters}", "symbol", mark.is_apart, is_letter=True)
    latex = GREEK_LETTERS.get(word) or _SCRIPT_LETTERS.get(word)
    if not latex:
        latex = _unfolded(word)
    accent = reader.tight()
    if accent and accent.text in ACCENTS:
        reader.at += 1
        latex = f"{ACCENTS[accent.text]}{{{latex}}}"
    return scripted(reader, latex, "symbol", mark.is_apart, is_letter=True)


def _unfolded(word: str) -> str:
    """A letter of Unicode with an accent or a font of its own."""
    code = ord(word)
    plain = unicodedata.normalize("NFKD", word)
    if len(plain) == 1 and plain.isalpha() and plain.isascii():
        is_bold = any(low <= code <= high for low, high in _BOLD)
        return rf"\mathbf{{{plain}}}" if is_bold else plain
    if len(plain) == 1 and plain in GREEK_LETTERS and code >= _FONTS_OF_GREEK:
        is_bold = any(low <= code <= high for low, high in _BOLD_GREEK)
        return rf"\boldsymbol{{{GREEK_LETTERS[plain]}}}" if is_bold else GREEK_LETTERS[plain]
    if len(plain) == 2 and plain[1] in ACCENTS and (plain[0].isascii() or plain[0] in GREEK_LETTERS):
        return f"{ACCENTS[plain[1]]}{{{GREEK_LETTERS.get(plain[0], plain[0])}}}"
    raise Doubt
