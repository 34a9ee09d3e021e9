r"""LaTeX to MathML for a page: the only user of latex2mathml.

That library hands raw text through, knows `\href`, `\style`, colours and spaces of any width, expands macros, and may
raise anything. So what it makes is never trusted: it gets short texts without macros, its tree is written out here,
and only if each element, attribute and value stands in the lists below. All else has no MathML, and the page shows the
LaTeX alone, which it shows beside the MathML anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_LENGTH = 1_200  # characters; longer formulas are read as LaTeX, if at all
_MAX_DEPTH = 40  # of braces and environments: the library recurses
_MAX_ELEMENTS = 3_000  # of the MathML of one formula; of a longer one the page has the LaTeX alone
_CACHE_SIZE = 4_096  # formulas: a report shows each reference formula in many tables

_MACROS = re.compile(r"\\(?:(?:re)?new|provide|Declare|[gex]?def\b|let\b|unicode|char|verb|input|include)")
_ENVIRONMENTS = re.compile(r"\\(begin|end)\{(?:aligned|gathered|eqnarray\*?|multline\*?)\}")
_UNIT = re.compile(r"\\unit\s*\{")
_ROMAN_LETTER = re.compile(r"\\mathrm\s*\{\s*([A-Za-zµΩ])\s*\}")  # of which the library makes an italic one
_DECIMAL_COMMA = re.compile(r"(?<=\d)\s*\{,\}\s*(?=\d)")  # which the library parts into three elements
_DECIMAL_POINT = re.compile(r"\d\.\d")
_POINT_OF_NUMBER = re.compile(r"(?<=\d)\.(?=\d+</mn>)")
_NUMBERED = re.compile(r"&#x([0-9A-Fa-f]{1,6});")  # how the library writes symbols into its tree
_UNREAD = re.compile(r"[\\&#$]|[\ud800-\udfff]|[^\t\n -~\u00a0-\U0010ffff]")  # what no reader should meet in a formula
_HIDDEN = re.compile("[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]")  # as in `page`: they mislead

_LENGTH = re.compile(r"-?(?:[0-3](?:\.\d+)?|\.\d+)em|0(?:px)?")  # so narrow that a formula stays in its place
_WORD = re.compile(r"[a-z-]{1,20}")
_ATTRIBUTES = {
    **dict.fromkeys(("stretchy", "fence", "form", "accent", "accentunder", "largeop", "movablelimits", "separator",
                     "symmetric", "displaystyle", "mathvariant"), _WORD),
    **dict.fromkeys(("width", "height", "depth", "lspace", "rspace", "minsize", "maxsize", "linethickness"), _LENGTH),
    "scriptlevel": re.compile(r"[+-]?[0-3]"),
}  # fmt: skip
_DROPPED = frozenset(("columnalign", "columnspacing", "rowspacing", "linebreak", "xmlns", "display"))  # looks only
_LEAVES = frozenset(("mi", "mn", "mo", "mtext", "mspace"))
_CHILDREN = {  # how many an element has to have; a browser shows an error for any other number
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
_ELEMENTS = _LEAVES | _CHILDREN.keys() | {"mrow", "msqrt", "mstyle", "mpadded", "mphantom", "mtable", "mtr", "mtd"}


class _Refused(Exception):
    """Raised for an element, attribute or value that is not allowed on a page; `as_mathml` then returns no markup."""


@lru_cache(maxsize=_CACHE_SIZE)
def as_mathml(latex: str) -> Markup:
    r"""Convert LaTeX to a MathML `math` element; empty markup if the formula cannot be converted safely.

    >>> as_mathml("a = b_1")
    Markup('<math><mi>a</mi><mo>=</mo><msub><mi>b</mi><mn>1</mn></msub></math>')
    >>> as_mathml(r"\href{javascript:alert(1)}{x}"), as_mathml(r"\frac{1"), as_mathml(r"\mystery x")
    (Markup(''), Markup(''), Markup(''))
    """
    text = latex.strip().strip("$").strip()
    depth = text.count("{") + text.count(r"\begin") + text.count(r"\left")
    if not text or len(text) > _MAX_LENGTH or depth > 8 * _MAX_DEPTH or _brace_depth(text) > _MAX_DEPTH:
        return Markup("")
    if _MACROS.search(text) or _HIDDEN.search(text):
        return Markup("")
    text = _UNIT.sub(r"\\,\\mathrm{", _ENVIRONMENTS.sub(r"\\\1{split}", text))
    text = _ROMAN_LETTER.sub(r"\\text{\1}", text)
    has_commas = _DECIMAL_COMMA.search(text) is not None and _DECIMAL_POINT.search(text) is None
    text = _DECIMAL_COMMA.sub(".", text) if has_commas else text
    from latex2mathml.converter import Converter

    try:
        tree = Converter().convert_to_element(text)
        if sum(1 for _ in tree.iter()) > _MAX_ELEMENTS:
            return Markup("")
        written = _siblings_text(_unwrapped_children(tree), 0)
        written = _POINT_OF_NUMBER.sub(",", written) if has_commas else written
        return Markup(f"<math>{written}</math>")  # noqa: S704 - all in it is in the lists
    except Exception:  # noqa: BLE001 - the library promises nothing, and there is the LaTeX
        return Markup("")


def _brace_depth(text: str) -> int:
    """Return the maximal nesting depth of braces in a text."""
    depth = deepest = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest


def _unwrapped_children(element: Element) -> list[Element]:
    """Return an element's children; if the only child is an `mrow` without attributes, its children instead."""
    children = list(element)
    while len(children) == 1 and children[0].tag == "mrow" and not children[0].attrib and element.tag != "mstyle":
        children = list(children[0])
    return children


def _element_text(element: Element, depth: int) -> str:
    """Write a MathML element with its content as text; `depth` is the number of elements around it.

    Errors:
        _Refused: it holds an element, attribute or value that is not in the lists.
    """
    tag = element.tag
    if tag == "menclose" and element.attrib == {"notation": "box"}:  # a box marks an answer and is no part of it
        return f"<mrow>{_siblings_text(_unwrapped_children(element), depth + 1)}</mrow>"
    if tag not in _ELEMENTS or depth > 4 * _MAX_DEPTH or (element.tail or "").strip():
        raise _Refused(tag)
    if tag == "mrow" and not element.attrib and len(element) == 1:
        return _element_text(element[0], depth + 1)
    named = "".join(
        _attribute_text(name, value) for name, value in sorted(element.attrib.items()) if name not in _DROPPED
    )
    if tag in _LEAVES:
        if len(element):
            raise _Refused(tag)
        return f"<{tag}{named}>{escape(_leaf_text(element.text or ''))}</{tag}>"
    if (element.text or "").strip() or len(element) != _CHILDREN.get(tag, len(element)):
        raise _Refused(tag)
    children = _unwrapped_children(element) if tag in ("msqrt", "mtd") else list(element)
    within = (
        "".join(_element_text(child, depth + 1) for child in children)
        if tag in _CHILDREN
        else _siblings_text(children, depth + 1)
    )
    return f"<{tag}{named}>{within}</{tag}>"


def _siblings_text(elements: Sequence[Element], depth: int) -> str:
    r"""Write sibling elements as text, with a space after a function name as in LaTeX (`\sin x`)."""
    parts = []
    for k, element in enumerate(elements):
        parts.append(_element_text(element, depth))
        name = element[0] if element.tag in ("msub", "msup", "msubsup") and len(element) else element
        is_function = name.tag == "mi" and re.fullmatch("[a-z]{2,6}", name.text or "")
        if is_function and k + 1 < len(elements) and elements[k + 1].tag not in ("mo", "mspace"):
            parts.append('<mspace width="0.167em"></mspace>')
    return "".join(parts)


def _attribute_text(name: str, value: str) -> str:
    """Write an attribute as ` name="value"`; raises `_Refused` if name or value is not in `_ATTRIBUTES`."""
    allowed = _ATTRIBUTES.get(name)
    if allowed is None or not allowed.fullmatch(value):
        raise _Refused(name)
    return f' {name}="{value}"'


def _leaf_text(text: str) -> str:
    r"""Return a leaf's text with numeric references decoded; raises `_Refused` for a character that is not allowed."""
    plain = _NUMBERED.sub(lambda found: chr(int(found[1], 16)), text)
    if _UNREAD.search(plain) or _HIDDEN.search(plain.replace("\u2061", "")):
        raise _Refused(text)
    return plain
