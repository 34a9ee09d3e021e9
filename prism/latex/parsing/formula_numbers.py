r"""Numbers of formulas, which are no part of them: `(2) F = ma`, `E = h\nu \quad (ii)`, `E = h\nu \cdots (1)`.

A number in brackets right behind a formula may be a factor too, so something has to set it apart: a wide space, dots,
an arrow, or a font for words.
"""

from __future__ import annotations

from prism.latex.parsing.roman_text import words_in_text
from prism.latex.parsing.tokens import GAP_QUAD, OPERATORS, RELATION_TEXT, Token, has_type

_NUMERALS = frozenset(("a", "b", "c", "d", "e", "f", "i", "ii", "iii", "iv", "v", "vi", "vii"))
_ARROWS = frozenset(sign for sign, relation in RELATION_TEXT.items() if relation == "to")
_SIGNS = frozenset((r"\star", r"\ast", r"\dagger"))


def starts_with_formula_number(items: list[Token]) -> bool:
    """Return True if the items begin with a formula's number and a blank: `(2) F = ma`, `(b) F = ma`."""
    if len(items) < 3 or items[0].type != "PAREN" or items[0].text != "(" or items[0].sup is not None:
        return False
    content = items[0].args[0]
    numeral = "".join(part.text for part in content if part.sup is None)
    apart = items[1].gap and items[1].type not in OPERATORS and has_type(items, "REL")
    return bool(apart) and len(content) <= len("iii") and (numeral in _NUMERALS or numeral.isdigit())


def start_of_formula_number(items: list[Token]) -> int:
    r"""Return the index of a formula's number at its end, with the dots or arrow that lead to it; the length for none.

    It stands behind a wide space, dots or as a text: `\quad (ii)`, `\cdots (1)`, `\text{ (3a)}`.
    """
    end = len(items)
    if end < 2 or not is_formula_number(items[-1]) or not has_type(items[:-1], "REL"):
        return end
    start = end - 1
    while start > 1 and items[start - 1].text == "dots":
        start -= 1
    is_led = start < end - 1 and items[start - 1].type not in OPERATORS | {"NUM"}
    if not is_led and start == end - 1 and items[start - 1].text in _ARROWS and items[start - 1].gap == GAP_QUAD:
        start, is_led = start - 1, True
    apart = items[end - 1].gap == GAP_QUAD or items[start].gap == GAP_QUAD
    return start if is_led or apart or items[-1].type == "ROMAN" else end


def is_formula_number(item: Token) -> bool:
    r"""Return True for a number or letter in brackets, `(1)`, `(2a)`, `(iv)`, `[3]`, `(*)`, also as a text."""
    if item.sup is not None or item.sub is not None:
        return False
    if item.type == "ROMAN":
        kinds = [token.type for token in item.raw if token.type not in ("MINUS", "mark")]
        return kinds in (["OPEN", "number", "CLOSE"], ["OPEN", "number", "letter", "CLOSE"])
    if item.type != "PAREN" or item.text not in ("(", "["):
        return False
    parts = item.args[0]
    texts = [part.text if part.type != "ROMAN" else "".join(words_in_text(part)) for part in parts]
    if any(part.sup is not None for part in parts) or len(parts) > len("iii"):
        return False
    return "".join(texts) in _NUMERALS | _SIGNS or (
        parts[0].type == "NUM" and texts[0].replace(".", "").isdigit() and texts[1:] in ([], *([x] for x in "abcdef"))
    )
