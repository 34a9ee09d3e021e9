r"""LaTeX of the leaves of an expression (numbers, names, units) and of the signs between factors, for `writer`.

The other side of `parsing.names`: there a name gets one spelling without fonts and blanks, here that spelling becomes
LaTeX that is read as the same name. A name of several letters stands in `\mathrm`, since letters side by side are a
product.
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
_INDEXED_WORD = re.compile(r"^\\mathrm\{\{?([A-Za-z]{2,80})\}?\}_")
_CHANGES = ("\\Delta ", "\\delta ")
_NAMES_OF_FUNCTIONS = {value: "\\" + word for word, value in reversed(FUNCTIONS.items())}
_DIFFERENTIAL_LENGTH = 2  # letters of `dx`


def number_latex(node: Expr) -> str:
    """Return the digits of a number as the author wrote them; a computed value, which has none, as a fraction."""
    digits = _DIGITS.fullmatch(node.name)
    if digits is not None:
        return digits[1] if digits[2] is None else rf"{digits[1]} \times 10^{{{int(digits[2])}}}"
    if node.value is None:
        return node.name
    above, below = abs(node.value.numerator), node.value.denominator
    text = str(above) if below == 1 else rf"\frac{{{above}}}{{{below}}}"
    return f"-{text}" if node.value < 0 else text


def name_latex(name: str) -> str:
    r"""Return the name of a symbol as LaTeX that is parsed into this name.

    Text that names no symbol (a region of integration such as `r<R`, a cell with words in it) is returned unchanged.

    >>> print(name_latex("KE_1"), name_latex(r"\Delta x_0"), name_latex("E_kin^{max}"))
    \mathrm{KE}_1 \Delta x_0 E_kin^{\mathrm{max}}
    """
    for change in _CHANGES:
        if name.startswith(change):
            return change + name_latex(name[len(change) :])
    if name[:1] in ("^", "_") and (leading := _LEADING_SCRIPT.match(name)):
        return f"{{}}{leading[0]} {name_latex(name[leading.end() :])}"
    head, scripts = split_name(name)
    if _WORD.fullmatch(head):
        head = _upright_word(head)
    bare, mark, label = scripts.rpartition("^")
    if mark and _LABEL_WORD.fullmatch(label):
        return rf"{head}{scripts_latex(bare)}^{{\mathrm{{{label[1:-1]}}}}}"
    return head + scripts_latex(scripts)


def scripts_latex(scripts: str) -> str:
    """Return the scripts of a name, with a subscript that is a sign or command in braces: `_+` as `_{+}`."""
    return _BARE_SCRIPT.sub(r"_{\1}", scripts)


def region_latex(name: str) -> str:
    r"""Return LaTeX of a named limit of integration: `cross-section` in `\mathrm`, as bare it is a difference."""
    return rf"\mathrm{{{name}}}" if _REGION.fullmatch(name) else name_latex(name)


def function_head_latex(name: str) -> str:
    r"""Return LaTeX for the name of a called function, without brackets: `\sin`, or the symbol `f`."""
    written = _NAMES_OF_FUNCTIONS.get(name) or name_latex(name)
    return _INDEXED_WORD.sub(r"\\operatorname{\1}_", written)


def _upright_word(word: str) -> str:
    r"""Return a word in `\mathrm`; inner braces keep `\mathrm{dx}` from being read as a differential.

    They keep the number `Re` from being read as a real part before a root.
    """
    special = word in ROMAN_FUNCTIONS or word in ("Re", "Im") or (word[0] == "d" and len(word) == _DIFFERENTIAL_LENGTH)
    return rf"\mathrm{{{{{word}}}}}" if special else rf"\mathrm{{{word}}}"


def is_upright_word(node: Expr) -> bool:
    """Return True if a symbol or call is written upright, so that behind a number it would be read as a unit."""
    return node.op in ("sym", "apply") and name_latex(node.name).startswith((r"\mathrm{", r"\text{"))


def can_follow_d(node: Expr) -> bool:
    """Return True if a node can stand right behind a d, as in `dx_0`: a one-letter or Greek symbol other than d."""
    if node.op != "sym" or node.name == "d":
        return False
    head, _ = split_name(node.name)
    return _ONE_LETTER.fullmatch(head) is not None or head[:1] == "\\"


def is_index_variable(node: Expr) -> bool:
    """Return True if a limit of a sum is a plain variable such as `i`, not a condition such as `i<j`."""
    return (
        node.op == "sym"
        and _ONE_LETTER.fullmatch(split_name(node.name)[0]) is not None
        and not ({",", "="}.intersection(node.name))
    )


# Units ----------------------------------------------------------------------------------------------------------


_UNIT_SIGNS = {"%": r"\%", "speed of light": "c"}


def unit_content_latex(node: Expr) -> str:
    r"""Return the content of `\unit{...}` for a unit, its power, a product or quotient of units; else an empty text."""
    if node.op == "unit":
        return _UNIT_SIGNS.get(node.name, node.name)
    if node.op == "pow" and node.args[0].op == "unit" and (exponent := _exponent_latex(node.args[1])):
        return f"{unit_content_latex(node.args[0])}^{{{exponent}}}"
    if node.op == "mul":
        factors = [unit_content_latex(arg) if arg.op in ("unit", "pow") else "" for arg in node.args]
        return DOT.join(factors) if all(factors) else ""
    if node.op == "div":
        above, below = (unit_content_latex(arg) if arg.op != "div" else "" for arg in node.args)
        above = "1" if node.args[0].op == "num" and node.args[0].name == "1" else above
        if above and below:
            return f"{above}/({below})" if node.args[1].op == "mul" else f"{above}/{below}"
    return ""


def _exponent_latex(node: Expr) -> str:
    """Return a whole exponent or a quotient of whole numbers, such as `-2` or `1/2`; empty for other nodes."""
    if node.op == "num" and node.name.isdigit():
        return node.name
    if node.op == "neg" and (inner := _exponent_latex(node.args[0])):
        return "" if inner.startswith("-") else f"-{inner}"
    if node.op == "div":
        above, below = map(_exponent_latex, node.args)
        return f"{above}/{below}" if above.isdigit() and below.isdigit() else ""
    return ""


# Neighbours -----------------------------------------------------------------------------------------------------

UPRIGHT_D = r"\mathrm{d}"
_GREEK_UNITS = (r"\mu", r"\Omega")  # before a unit, a part of it


def sign_between_factors(before: Expr, after: Expr, text: str) -> str:
    r"""Return `\cdot` or `\times` if two factors side by side would be misread, as the call `x (a + b)`; else a blank.

    Args:
        text: LaTeX of the second factor.
    """
    if text.startswith("(") and _takes_bracket_as_argument(before):
        return DOT  # a call
    if text.startswith(("[", r"\{")) and is_upright_word(before):
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
    if (is_upright_word(named) and not text.startswith("(")) or head.name.startswith(r"\text"):
        return r" \times "  # behind a number and a dot, a unit
    return " "


def _takes_bracket_as_argument(node: Expr) -> bool:
    """Return True if the LaTeX of a factor ends in a symbol or unit, which makes a bracket behind its argument."""
    if node.op == "derivative":
        return node.args[1].name == "?"
    head = node.args[0] if node.op == "pow" else node
    return head.op in ("sym", "unit", "exp", "differential") or bool(unit_content_latex(node))


def _is_numeric(node: Expr) -> bool:
    """Return True if an expression holds only numbers and constants in products and quotients."""
    return all(part.op in ("num", "div", "mul", "const") for part in walk(node))
