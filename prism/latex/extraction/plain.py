r"""Formulas without LaTeX, as people type them: `v = sqrt(2gh)`, `½mv²`, `ω₀`, `3×10⁻³ J`, rewritten as LaTeX.

`undelimited` decides which marks of a line are a formula; `write_plain_side` turns one side of it into LaTeX. Spacing
carries meaning here that LaTeX throws away: `ħ²/2m x` divides by 2m, and `ħ/2 σ` could be either. What could be read
two ways is no formula: `write_plain_side` returns an empty text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from prism.latex.extraction.plain_operands import (
    OPENERS,
    SLASHES,
    AmbiguousNotation,
    Part,
    Reader,
    is_big_operator,
    latex_or_empty,
    read_angle_brackets,
    read_bar,
    read_big_operator,
    read_bracket,
    read_differential_quotient,
    read_function,
    read_partial_derivative,
    read_root,
    read_root_of_bracket,
    read_scripts,
)
from prism.latex.extraction.plain_tokens import (
    ACCENTS,
    FRACTIONS,
    FUNCTIONS,
    GREEK_LETTERS,
    GREEK_NAMES,
    LETTER_COMMANDS,
    MAX_SYMBOLS,
    OPEN_NAME,
    QUANTITIES,
    SIGN_COMMANDS,
    Mark,
    relation_latex,
    split_into_marks,
)
from prism.latex.words import PLAIN_FACTORS, SURE_UNITS, UNIT_EXPRESSION, UNITS, compiled, unit_latex, word_set

_SIGNS = {
    "*": r"\cdot", "·": r"\cdot", "⋅": r"\cdot", "∙": r"\cdot", "•": r"\cdot", "×": r"\times", "−": "-", "–": "-",
    "±": r"\pm", "∓": r"\mp", "+": "+", "-": "-", "⊗": r"\otimes", "**": "^",
}  # fmt: skip
_ONE_SYMBOL = re.compile(r"[A-Za-z]|\\[A-Za-z]+")
_FRICTION = frozenset("μµ")  # with an index, of a body that slides or rests
_SCRIPT_LETTERS = {"ℒ": r"\mathcal{L}", "ℋ": r"\mathcal{H}", "ℰ": r"\mathcal{E}"}
_BOLD = ((0x1D400, 0x1D433), (0x1D468, 0x1D49B), (0x1D5D4, 0x1D607), (0x1D63C, 0x1D66F))  # of the letters of Unicode
_BOLD_GREEK = ((0x1D6A8, 0x1D6E1), (0x1D71C, 0x1D755), (0x1D756, 0x1D7CB))
_FONTS_OF_GREEK = 0x1D6A8
_ROWS = re.compile(r"\[[^\[\]]{1,200}\](?:, ?\[[^\[\]]{1,200}\]){1,8}")  # `[[1, 0], [0, 1]]`
_ROW = re.compile(r"\[([^\[\]]{1,200})\]")
_WAVES = frozenset("ψφϕΨΦχ")  # behind these a star that touches is a conjugate
_UNIT_ENDS = re.compile(r"[ \t\u00a0]*(?:$|[=≈<>+−–×*,;)\]]|-[ \t]|[-/][ \t]*[\d(])")
_TOUCHING_UNITS = word_set("kg cm km eV keV MeV GeV Hz kHz MHz kJ kW kPa MPa °C")  # `5kg`; `2mL` may be 2·m·L
_ONLY_UNITS = word_set("kg cm mm nm Hz kHz MHz GHz eV keV MeV GeV TeV Pa kPa MPa kJ kW mol rad rev")
_UNIT_BEHIND = rf"[ \u00a0]*({UNIT_EXPRESSION})(?![\w^²³⁻])"
_CROSSED = frozenset("ABEFHJLMSprv")  # behind ` x ` these may be vectors
_OPERANDS = frozenset(("symbol", "product", "group", "number"))
_NO_NUMBER_BEHIND = word_set("number symbol ket derivative root group function")
_INDEXED = re.compile(r"(C(?=[pv]$)|k(?=BT?$))([pvB])(T?)$")  # written without their line below
_KNOWN_PRODUCTS = word_set("mv ma mg kT RT GM nR nC mc")


def write_plain_side(text: str, side: Sequence[Mark]) -> str:
    r"""Write one side of a plain-text relation as LaTeX; empty if it is not surely mathematics.

    >>> from prism.latex.extraction.plain_tokens import split_into_marks
    >>> write_plain_side("2*pi*sqrt(L/g)", split_into_marks("2*pi*sqrt(L/g)"))
    '2\\cdot\\pi\\cdot\\sqrt{L/g}'
    """
    if [mark.text for mark in side] in (["constant"], ["const"]):
        return r"\text{constant}"
    return latex_or_empty(Reader(text, side, _read_part))


def plain_latex(text: str) -> str:
    """Write a value or a name in plain notation as LaTeX; empty if it is not surely mathematics."""
    return write_plain_side(text, split_into_marks(text))


def _read_part(reader: Reader, previous_parts: Sequence[Part]) -> Part:
    """Read the next operand or sign, given those before it in the sum; raises AmbiguousNotation for any other mark."""
    mark = reader.peek()
    assert mark is not None
    word, apart = mark.text, mark.is_apart
    last = previous_parts[-1].kind if previous_parts else ""
    if mark.kind == "number":
        return _read_number(reader, previous_parts)
    if mark.kind == "word":
        return _read_word(reader, last)
    if mark.kind == "name" and word != OPEN_NAME:
        reader.at += 1
        return read_scripts(reader, word, "product" if " " in word else "symbol", apart)
    if mark.kind == "latex":
        return _read_letter_command(reader, mark, last)
    if (mark.kind == "relation" and word == "<") or word in ("⟨", "〈"):
        return read_angle_brackets(reader)
    if mark.kind == "relation" and reader.depth > 1:  # inside brackets: `P(s = 1)`
        reader.at += 1
        return Part(relation_latex(mark), "operator", apart)
    if mark.kind == "dots" and last in ("operator", "comma"):
        reader.at += 1
        return Part(r"\ldots", "symbol", apart)
    if mark.kind != "single":
        raise AmbiguousNotation
    if word in SLASHES or word == "÷":
        reader.at += 1
        return Part("/", "slash", apart)
    if word in _SIGNS:
        return _read_sign(reader, mark, last)
    if word in OPENERS:
        reader.at += 1
        inner = read_bracket(reader, OPENERS[word])
        is_group = word == "{" and _ONE_SYMBOL.fullmatch(inner)  # `{\Lambda}^{(3)}` is no power of a bracket
        left, right = ("(", ")") if word == "{" and not is_group else (word, OPENERS[word])
        if word == "[" and _ROWS.fullmatch(inner):
            rows = r" \\ ".join(row.replace(",", " &") for row in _ROW.findall(inner))
            return read_scripts(reader, rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}", "group", apart)
        return read_scripts(reader, f"{left}{inner}{right}", "group", apart)
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
        return _read_degree(reader)
    if word in ("|", "∣"):
        return read_bar(reader)
    if word in ("√", "∛"):
        return read_root(reader)
    if word == "∂":
        return read_partial_derivative(reader)
    if is_big_operator(reader, mark):
        return read_big_operator(reader)
    reader.at += 1
    return _read_letter(reader, mark)


def _read_letter_command(reader: Reader, mark: Mark, previous_kind: str) -> Part:
    """Read a LaTeX command that stands for one letter or sign, given the kind of the part before it.

    Raises AmbiguousNotation for other commands.
    """
    if mark.text in SIGN_COMMANDS and previous_kind not in ("", "operator", "slash", "comma"):
        reader.at += 1
        return Part(mark.text, "operator", mark.is_apart)
    if mark.text[1:] not in GREEK_NAMES and mark.text not in LETTER_COMMANDS:
        raise AmbiguousNotation
    reader.at += 1
    return read_scripts(reader, mark.text, "symbol", mark.is_apart)


def _read_sign(reader: Reader, mark: Mark, previous_kind: str) -> Part:
    """Read a sign of arithmetic; refuse a star that touches on one side only, which may be a conjugate."""
    word = mark.text
    reader.at += 1
    following = reader.peek()
    if word == "+" and mark.is_apart and following is not None and following.text == "-" and not following.is_apart:
        after = reader.peek(1)
        if after is not None and after.is_apart:  # ` +- ` as a sign of its own
            reader.at += 1
            return Part(r"\pm", "operator", True)
    if word == "*":
        if reader.is_next("*") and not following.is_apart:  # type: ignore[union-attr]
            raise AmbiguousNotation  # a power that follows nothing
        is_wave = reader.at > 1 and reader.marks[reader.at - 2].text in _WAVES and not mark.is_apart
        is_factor = following is not None and previous_kind == following.kind == "number"  # `2 *3`
        is_factor = is_factor or (following is not None and mark.is_apart and following.text in OPENERS)  # `C *(a + b)`
        if following is None or (mark.is_apart != following.is_apart and not is_factor) or is_wave:
            raise AmbiguousNotation
    if following is None or (word not in "+-−–±∓" and previous_kind in ("", "operator", "slash", "comma")):
        raise AmbiguousNotation
    if previous_kind == "operator" and word in "±∓":
        raise AmbiguousNotation
    return Part(_SIGNS[word], "operator", mark.is_apart)


# Numbers and letters --------------------------------------------------------------------------------------------


def _read_number(reader: Reader, previous_parts: Sequence[Part]) -> Part:
    """Read a number with its power of ten, unit and exponent.

    Raises AmbiguousNotation behind an operand, where a power or sign may be lost.
    """
    mark = reader.peek()
    assert mark is not None
    if previous_parts and previous_parts[-1].kind in _NO_NUMBER_BEHIND:
        raise AmbiguousNotation  # `x 2`, `2 3`: a lost power or sign
    reader.at += 1
    digits, _, power = mark.text.replace(",", "").replace("−", "-").lower().partition("e")
    latex = rf"{digits}\times 10^{{{int(power)}}}" if power else digits
    latex = "0" + latex if latex.startswith(".") else latex
    following, ten = reader.peek(), reader.peek(1)
    if following and following.text in ("x", "X") and ten and ten.text == "10" and reader.is_next("^", ahead=2):
        reader.at += 1  # `2 x 10^5`
        latex += r"\times "
        ten_part = _read_number(reader, ())
        return Part(latex + ten_part.latex, "number", mark.is_apart)
    if following and following.text in ("x", "X") and ten and ten.text == "10":
        raised = reader.peek(2)
        if raised and raised.kind == "super":
            reader.at += 1
            ten_part = _read_number(reader, ())
            return Part(latex + r"\times " + ten_part.latex, "number", mark.is_apart)
        raise AmbiguousNotation
    if power and previous_parts and previous_parts[-1].kind == "slash":
        latex = f"({latex})"
    number = read_scripts(reader, latex, "number", mark.is_apart)
    return _attach_unit(reader, number, mark, previous_parts)


def _attach_unit(reader: Reader, number: Part, mark: Mark, previous_parts: Sequence[Part]) -> Part:
    """Attach the unit behind a number if it surely is one; a letter that may be a symbol is left.

    Raises AmbiguousNotation where it may be either.
    """
    following = reader.peek()
    if following is None or not (following.kind == "word" or following.text in ("°", "Å", "µ", "μ", "Ω")):
        return number
    end = reader.marks[-1].end
    unit = compiled(_UNIT_BEHIND).match(reader.text, following.start, end)
    if not unit or (previous_parts and previous_parts[-1].kind == "slash"):
        return number
    letters = re.findall(r"[^\W\d_]+", unit[1])
    if not following.is_apart and unit[1] not in _TOUCHING_UNITS and following.text != "°":
        return number
    is_sure = unit[1] in SURE_UNITS or any(len(word) > 1 and word != "mg" for word in letters)
    is_long = "." in mark.text or len(mark.text) > 1 or r"\times" in number.latex
    is_ten = bool(previous_parts) and previous_parts[-1].latex == r"\times" and number.latex.startswith("10^")
    if len(letters) == 1 and (is_long or is_ten) and mark.text not in PLAIN_FACTORS:
        is_sure = is_sure or (following.is_apart and letters[0] in UNITS)
    is_divided = is_sure and reader.text[unit.end() : unit.end() + 1] == "/" and len(letters) == 1
    if not (is_divided or _UNIT_ENDS.match(reader.text, unit.end(), end)):
        if any(len(word) > 1 and word != "mg" and word in UNITS for word in letters):
            raise AmbiguousNotation  # `5 mm` is not 5·m·m, and what follows belongs to it
        return number
    if not is_sure:
        return number
    while (ahead := reader.peek()) is not None and ahead.start < unit.end():
        reader.at += 1
    return Part(number.latex + unit_latex(unit[1]), "number", number.is_apart)


def _read_degree(reader: Reader) -> Part:
    """Read a degree sign, with `C` or `F` if it touches."""
    reader.at += 1
    following = reader.peek_touching()
    if following and following.text in ("C", "F"):
        reader.at += 1
        return Part(rf"^{{\circ}}\mathrm{{{following.text}}}", "symbol", False)
    return Part(r"^{\circ}", "symbol", False)


def _read_word(reader: Reader, previous_kind: str) -> Part:
    """Read a function, a Greek letter, a differential quotient, or a product of up to three symbols.

    Raises AmbiguousNotation for ordinary words, units, and what may have lost a power.
    """
    mark = reader.peek()
    assert mark is not None
    word = mark.text
    reader.at += 1
    if word == "sqrt":
        return read_root_of_bracket(reader, mark, "")
    if word in FUNCTIONS:
        return read_function(reader, mark)
    if word in GREEK_NAMES:
        return read_scripts(reader, GREEK_NAMES[word], "symbol", mark.is_apart, is_letter=True)
    if word in QUANTITIES:
        if previous_kind == "number":
            raise AmbiguousNotation  # upright letters behind a number are a unit
        return read_scripts(reader, rf"\mathrm{{{word}}}", "symbol", mark.is_apart, is_letter=True)
    if word == "h" and reader.is_next("-") and reader.is_next("bar", ahead=1):
        reader.at += 2
        return read_scripts(reader, r"\hbar", "symbol", mark.is_apart)
    following = reader.peek()
    is_between = mark.is_apart and previous_kind in _OPERANDS and following is not None and following.is_apart
    if word == "x" and is_between and following.text in _CROSSED:  # type: ignore[union-attr]
        raise AmbiguousNotation  # `q v x B`: a cross, or a symbol
    if word[0] == "d" and (quotient := read_differential_quotient(reader, mark)):
        return quotient
    if len(word) > MAX_SYMBOLS or (mark.is_word and word != "at"):
        raise AmbiguousNotation
    if word in _ONLY_UNITS or (previous_kind == "number" and len(word) > 1 and word in UNITS - {"mg"}):
        raise AmbiguousNotation
    following = reader.peek_touching()
    if len(word) > 1 and following and following.kind == "number" and not reader.is_next("^", "**", ahead=1):
        behind = reader.peek_touching(1)
        if behind is None or behind.text != word[-1]:  # `kq1q2` counts its letters
            raise AmbiguousNotation  # `mc2`: a lost power; `mv1^2` has its power
    if following and following.text == "_" and len(word) > 1 and word not in _KNOWN_PRODUCTS and word[0] != "d":
        after = reader.peek(1)
        if after and after.kind == "word" and len(after.text) > 1 and word.istitle():
            raise AmbiguousNotation  # `Vol_max` is one name
    if (named := _INDEXED.search(word)) and not (following and following.text == "_"):
        name = Part(f"{named[1]}_{{{named[2]}}}", "symbol", mark.is_apart)
        name = _read_indexed_symbol(reader, name, named[3])
        return Part(word[: named.start()] + name.latex, "product", mark.is_apart, name.is_raised)
    name = read_scripts(reader, word[-1], "symbol", mark.is_apart, is_letter=True)
    return Part(word[:-1] + name.latex, "symbol" if len(word) == 1 else "product", mark.is_apart, name.is_raised)


def _read_indexed_symbol(reader: Reader, name: Part, last_letter: str) -> Part:
    """Read the scripts of a symbol whose index is in its word, as `Cp`, or `kBT` with `T` as `last_letter`."""
    if last_letter:
        last = read_scripts(reader, last_letter, "symbol", False, is_letter=True)
        return Part(f"{name.latex} {last.latex}", "product", name.is_apart, last.is_raised)
    return read_scripts(reader, name.latex, "symbol", name.is_apart)


def _read_letter(reader: Reader, mark: Mark) -> Part:
    """Read a single sign that is a letter (Greek, accented, bold, `Δx`) or a fraction such as `½`.

    Raises AmbiguousNotation where letters may join.
    """
    word = mark.text
    if word in FRACTIONS:
        return Part(FRACTIONS[word], "number", mark.is_apart)
    if word in ("Δ", "δ") and (named := reader.peek_touching()):
        is_name = (named.kind == "word" and len(named.text) <= 2) or named.text in GREEK_LETTERS
        if is_name:
            reader.at += 1
            letters = GREEK_LETTERS.get(named.text, named.text)
            following = reader.peek_touching()
            is_indexed = following is not None and following.kind == "number" and len(named.text) > 1
            if named.kind == "word" and (named.is_word or is_indexed):
                raise AmbiguousNotation
            return read_scripts(reader, f"{GREEK_LETTERS[word]} {letters}", "symbol", mark.is_apart, is_letter=True)
    latex = GREEK_LETTERS.get(word) or _SCRIPT_LETTERS.get(word)
    friction = reader.peek_touching() if word in _FRICTION and reader.marks[reader.at - 2].kind != "number" else None
    if friction is not None and friction.text in ("k", "s", "kN", "sN"):  # `μk`, and not `5μs`
        reader.at += 1
        index, force = friction.text[0], friction.text[1:]
        name = read_scripts(reader, force or rf"\mu_{{{index}}}", "symbol", mark.is_apart)
        return Part(rf"\mu_{{{index}}} {name.latex}", "product", mark.is_apart) if force else name
    if not latex:
        latex = _decompose_letter(word)
    accent = reader.peek_touching()
    if accent and accent.text in ACCENTS:
        reader.at += 1
        latex = f"{ACCENTS[accent.text]}{{{latex}}}"
    return read_scripts(reader, latex, "symbol", mark.is_apart, is_letter=True)


def _decompose_letter(letter: str) -> str:
    r"""Write a Unicode letter that has an accent or font of its own as LaTeX: `ê` as `\hat{e}`.

    Raises AmbiguousNotation for other signs.
    """
    code = ord(letter)
    plain = unicodedata.normalize("NFKD", letter)
    if len(plain) == 1 and plain.isalpha() and plain.isascii():
        is_bold = any(low <= code <= high for low, high in _BOLD)
        return rf"\mathbf{{{plain}}}" if is_bold else plain
    if len(plain) == 1 and plain in GREEK_LETTERS and code >= _FONTS_OF_GREEK:
        is_bold = any(low <= code <= high for low, high in _BOLD_GREEK)
        return rf"\boldsymbol{{{GREEK_LETTERS[plain]}}}" if is_bold else GREEK_LETTERS[plain]
    if len(plain) == 2 and plain[1] in ACCENTS and (plain[0].isascii() or plain[0] in GREEK_LETTERS):
        return f"{ACCENTS[plain[1]]}{{{GREEK_LETTERS.get(plain[0], plain[0])}}}"
    raise AmbiguousNotation
