r"""How the leaves of a formula are written: numbers, names and units, and what parts them. `writer` nests them.

The other side of `names`: there a name gets one spelling without fonts and blanks, here that spelling becomes LaTeX
that is read as the same name. A name of several letters stands in `\mathrm`, since letters side by side are a product.
"""

from __future__ import annotations

import re

from prism.algebra.expr import Expr, walk
from prism.latex.parsing.names import PREFIXES, split_name
from prism.latex.parsing.tokens import FUNCTIONS, MAX_DIGITS, ROMAN_FUNCTIONS

DOT = r" \cdot "

_DIGITS = re.compile(rf"(\d{{1,{MAX_DIGITS}}}(?:\.\d{{0,{MAX_DIGITS}}})?)(?:e([+-]?\d{{1,8}}))?")
_ONE_LETTER = re.compile(r"[A-Za-z]|\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_LABEL_WORD = re.compile(r"\{(?:T|[A-Za-z(.-]{2,80}[)]?)\}")  # behind `^`: a label that is a word, and no power
_BARE_SCRIPT = re.compile(r"_(\\[A-Za-z]{1,20}|[^A-Za-z0-9{])")
_LEADING_SCRIPT = re.compile(r"(?:[_^](?:\{[^{}]{0,40}\}|\\[A-Za-z]{1,20}|.)){1,4}")
_REGION = re.compile(r"[A-Za-z0-9]{1,40}(?:-[A-Za-z0-9]{1,40}){1,4}|\d[A-Za-z0-9]{0,40}[A-Za-z][A-Za-z0-9]{0,40}")
_INDEXED_WORD = re.compile(r"^\\mathrm\{([A-Za-z]{2,80})\}_")
_CHANGES = ("\\Delta ", "\\delta ")
_NAMES_OF_FUNCTIONS = {value: "\\" + word for word, value in reversed(FUNCTIONS.items())}
_PAIR = 2  # letters of `dx`


def written_number(node: Expr) -> str:
    """Digits as the author wrote them; a value that has no digits of its own as a fraction."""
    digits = _DIGITS.fullmatch(node.name)
    if digits is not None:
        return digits[1] if digits[2] is None else rf"{digits[1]} \times 10^{{{int(digits[2])}}}"
    if node.value is None:
        return node.name
    above, below = abs(node.value.numerator), node.value.denominator
    text = str(above) if below == 1 else rf"\frac{{{above}}}{{{below}}}"
    return f"-{text}" if node.value < 0 else text


def written_name(name: str) -> str:
    r"""A name as LaTeX that is read as this name.

    What is no symbol (a region of integration such as `r<R`, a cell with words in it) stays as it is spelled.

    >>> print(written_name("KE_1"), written_name(r"\Delta x_0"), written_name("E_kin^{max}"))
    \mathrm{KE}_1 \Delta x_0 E_kin^{\mathrm{max}}
    """
    for change in _CHANGES:
        if name.startswith(change):
            return change + written_name(name[len(change) :])
    if name[:1] in ("^", "_") and (leading := _LEADING_SCRIPT.match(name)):
        return f"{{}}{leading[0]} {written_name(name[leading.end() :])}"
    head, scripts = split_name(name)
    if _WORD.fullmatch(head):
        head = _upright(head)
    bare, mark, label = scripts.rpartition("^")
    if mark and _LABEL_WORD.fullmatch(label):
        return rf"{head}{written_scripts(bare)}^{{\mathrm{{{label[1:-1]}}}}}"
    return head + written_scripts(scripts)


def written_scripts(scripts: str) -> str:
    """Scripts of a name; a sign or a command in braces, so that it is nobody's operator."""
    return _BARE_SCRIPT.sub(r"_{\1}", scripts)


def written_region(name: str) -> str:
    """A limit of integration that is a name: `cross-section` is no difference."""
    return rf"\mathrm{{{name}}}" if _REGION.fullmatch(name) else written_name(name)


def written_function(name: str) -> str:
    """What stands before the brackets of a call: a function of LaTeX, or a symbol."""
    written = _NAMES_OF_FUNCTIONS.get(name) or written_name(name)
    return _INDEXED_WORD.sub(r"\\operatorname{\1}_", written)


def _upright(word: str) -> str:
    r"""A word as a symbol; inner braces keep `\mathrm{dx}` from a differential, and `\mathrm{arg}` from a function."""
    special = word in ROMAN_FUNCTIONS or (word[0] == "d" and len(word) == _PAIR)
    return rf"\mathrm{{{{{word}}}}}" if special else rf"\mathrm{{{word}}}"


def is_word(node: Expr) -> bool:
    """Whether a symbol is written upright, so that behind a number it would be a unit."""
    return node.op in ("sym", "apply") and written_name(node.name).startswith((r"\mathrm{", r"\text{"))


def is_plain(node: Expr) -> bool:
    """Whether a node can stand right behind a d: one letter with its scripts, and no d itself."""
    if node.op != "sym" or node.name == "d":
        return False
    head, _ = split_name(node.name)
    return _ONE_LETTER.fullmatch(head) is not None or head[:1] == "\\"


def is_index(node: Expr) -> bool:
    """Whether a node is the variable of a sum, and not a condition that stands in its place (`i<j`)."""
    return (
        node.op == "sym"
        and _ONE_LETTER.fullmatch(split_name(node.name)[0]) is not None
        and not ({",", "="}.intersection(node.name))
    )


# Units ----------------------------------------------------------------------------------------------------------


def written_unit(node: Expr) -> str:
    r"""What stands in `\unit{...}` for a unit, its power, a product or a quotient of these; empty if it is none."""
    if node.op == "unit":
        return r"\%" if node.name == "%" else node.name
    if node.op == "pow" and node.args[0].op == "unit" and (exponent := _exponent(node.args[1])):
        return f"{written_unit(node.args[0])}^{{{exponent}}}"
    if node.op == "mul":
        factors = [written_unit(arg) if arg.op in ("unit", "pow") else "" for arg in node.args]
        return DOT.join(factors) if all(factors) else ""
    if node.op == "div":
        above, below = (written_unit(arg) if arg.op != "div" else "" for arg in node.args)
        above = "1" if node.args[0].op == "num" and node.args[0].name == "1" else above
        if above and below:
            return f"{above}/({below})" if node.args[1].op == "mul" else f"{above}/{below}"
    return ""


def _exponent(node: Expr) -> str:
    """A whole exponent, or a quotient of whole numbers; empty if it is another."""
    if node.op == "num" and node.name.isdigit():
        return node.name
    if node.op == "neg" and (inner := _exponent(node.args[0])):
        return "" if inner.startswith("-") else f"-{inner}"
    if node.op == "div":
        above, below = map(_exponent, node.args)
        return f"{above}/{below}" if above.isdigit() and below.isdigit() else ""
    return ""


# Neighbours -----------------------------------------------------------------------------------------------------

UPRIGHT_D = r"\mathrm{d}"
_GREEK_UNITS = (r"\mu", r"\Omega")  # before a unit, a part of it


def sign_between(before: Expr, after: Expr, text: str) -> str:
    r"""The sign that parts two factors, or a blank where they stand side by side.

    Args:
        text: of the second.
    """
    if text.startswith("(") and _ends_in_name(before):
        return DOT  # a call
    if text.startswith(("[", r"\{")) and is_word(before):
        return DOT  # a call of an upright word
    if text.startswith(UPRIGHT_D):
        return DOT  # behind a number, a day
    if text[:1].isdigit() or (text.startswith(r"\frac") and _is_numeric(before) and _is_numeric(after)):
        return DOT  # two numbers that become one
    head = before.args[0] if before.op == "pow" else before
    if head.op == "sym" and (head.name == "d" or before.name in PREFIXES):
        return DOT  # a differential, a change
    if head.op == "sym" and head.name in _GREEK_UNITS and text.startswith(r"\unit"):
        return DOT
    named = after.args[0] if after.op == "pow" else after
    if (is_word(named) and not text.startswith("(")) or head.name.startswith(r"\text"):
        return r" \times "  # behind a number and a dot, a unit
    return " "


def _ends_in_name(node: Expr) -> bool:
    """Whether the text of a factor ends in a symbol, which takes a bracket behind it for its argument."""
    if node.op == "derivative":
        return node.args[1].name == "?"
    head = node.args[0] if node.op == "pow" else node
    return head.op in ("sym", "unit", "exp", "differential") or bool(written_unit(node))


def _is_numeric(node: Expr) -> bool:
    return all(part.op in ("num", "div", "mul", "const") for part in walk(node))
