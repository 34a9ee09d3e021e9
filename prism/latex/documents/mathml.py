r"""Presentation MathML as LaTeX.

What a page brings along as LaTeX goes before: an annotation `application/x-tex`, or the `alttext` that LaTeXML writes.
Content MathML, which says what is meant and not what is seen, is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prism.errors import PrismError
from prism.latex.documents.markup import Element
from prism.latex.documents.written_signs import (
    fenced,
    join_upright,
    name_latex,
    rows_latex,
    scripted,
    signs_latex,
    stacked,
    takes_limits,
    with_cases,
    words_latex,
)

_TEX = ("application/x-tex", "TeX", "LaTeX", "text/x-tex", "application/x-latex")
_CONTENT = frozenset("apply bind ci cn csymbol".split())


def mathml_latex(math: Element) -> str:
    """Return a `math` element as LaTeX; one that holds a text alone, as those of a wiki, is LaTeX already.

    Errors:
        PrismError: content MathML.
    """
    if not any(math.elements()):
        return math.text().strip()
    if (annotation := _annotation(math)) is not None:
        return annotation
    if "ltx_Math" in math.classes() and (written := math.attributes.get("alttext", "").strip()):
        return written
    return with_cases(join_upright(_row(math))).strip()


def _annotation(element: Element) -> str | None:
    """Return the LaTeX that a formula has beside it; None if it has none."""
    for each in element.elements():
        if each.name == "annotation" and each.attributes.get("encoding") in _TEX:
            return each.text().strip()
        if each.name in ("semantics", "mrow", "mstyle") and (found := _annotation(each)) is not None:
            return found
    return None


def _row(element: Element) -> str:
    """Return the elements in another one as LaTeX, one behind the other."""
    return "".join(_latex(each) for each in element.elements())


def _latex(element: Element) -> str:
    """Return one element as LaTeX; of an unknown one what is in it.

    Errors:
        PrismError: content MathML.
    """
    if element.name in _CONTENT:
        raise PrismError("content MathML")
    return _WRITERS.get(element.name, _row)(element)


def _arguments(element: Element, n: int) -> Iterator[str]:
    """Yield the first n elements as LaTeX, empty texts for those that are missing."""
    children = list(element.elements())[:n]
    yield from map(_latex, children)
    yield from [""] * (n - len(children))


def _identifier(element: Element) -> str:
    """Return a name: of one letter italic, of several or in normal style upright."""
    name = signs_latex(element.text()).strip()
    style = element.attributes.get("mathvariant", "")
    if name.startswith("\\"):
        return f"{name} "
    written = name_latex(name, is_upright=style == "normal")
    return rf"\mathbf{{{name}}}" if style.startswith("bold") and name.isalpha() and name.isascii() else written


def _operator(element: Element) -> str:
    """Return an operator; one that is spelled is a function or words."""
    text = element.text().strip()
    if len(text) > 1 and text.isalpha():
        return name_latex(text)
    return f" {signs_latex(text)} " if text in ("=", "<", ">", "≤", "≥") else signs_latex(text)


def _fraction(element: Element) -> str:
    """Return a fraction; one without a line is a binomial coefficient."""
    above, below = _arguments(element, 2)
    line = element.attributes.get("linethickness", "")
    command = r"\binom" if line[:1] == "0" and not line.strip("0.pxemt%") else r"\frac"
    return f"{command}{{{above}}}{{{below}}}"


def _root(element: Element) -> str:
    """Return a root with its degree."""
    inside, degree = _arguments(element, 2)
    return rf"\sqrt[{degree}]{{{inside}}}"


def _under_and_over(element: Element) -> str:
    """Return something with what stands below it, above it, or both: limits, a line, an accent or a brace."""
    base, *scripts = _arguments(element, 2 if element.name in ("munder", "mover") else 3)
    below = scripts[0] if element.name != "mover" else ""
    above = scripts[-1] if element.name != "munder" else ""
    if takes_limits(base):
        return scripted(base, below, above)
    if element.name != "munder":
        base = stacked(base, _sign(element, len(scripts)), above, is_below=False)
    return base if element.name == "mover" else stacked(base, _sign(element, 1), below, is_below=True)


def _sign(element: Element, at: int) -> str:
    """Return the text of the element at a place in another one."""
    children = list(element.elements())
    return children[at].text() if at < len(children) else ""


def _index_and_power(element: Element) -> str:
    """Return a base with its index, its power, or both."""
    base, below, above = _arguments(element, 3)
    return scripted(base, "", below) if element.name == "msup" else scripted(base, below, above)


def _fences(element: Element) -> str:
    """Return what stands between the fences of `mfenced`, with its separators."""
    marks = element.attributes.get("separators", ",").replace(" ", "")
    parts = [_latex(each) for each in element.elements()]
    joined = "".join(
        part + (marks[min(at, len(marks) - 1)] if marks and at < len(parts) - 1 else "")
        for at, part in enumerate(parts)
    )
    return fenced(element.attributes.get("open", "("), joined, element.attributes.get("close", ")"))


def _table(element: Element) -> str:
    """Return a table: lines of a display below each other, or a matrix."""
    rows = [[_latex(cell) for cell in row.elements()] for row in element.elements()]
    return rows_latex(rows, "aligned" if element.attributes.get("displaystyle") == "true" else "matrix")


def _enclosed(element: Element) -> str:
    """Return what is boxed or struck out."""
    notation = element.attributes.get("notation", "").split()
    inside = _row(element)
    if "box" in notation or "roundedbox" in notation:
        return rf"\boxed{{{inside}}}"
    struck = any(each.endswith("strike") for each in notation)
    return rf"\cancel{{{inside}}}" if struck else rf"\sqrt{{{inside}}}" if "radical" in notation else inside


def _scripts_on_both_sides(element: Element) -> str:
    """Return a base with scripts before and behind it."""
    children = list(element.elements())
    names = [each.name for each in children]
    cut = names.index("mprescripts") if "mprescripts" in names else len(children)
    base = _latex(children[0]) if children else ""
    behind = [_latex(each) for each in children[1:cut]]
    before = [_latex(each) for each in children[cut + 1 :]]
    prefix = scripted("{}", "".join(before[::2]), "".join(before[1::2])) if before else ""
    return prefix + scripted(base, "".join(behind[::2]), "".join(behind[1::2]))


_WRITERS: dict[str, Callable[[Element], str]] = {
    "mi": _identifier,
    "mo": _operator,
    "mn": lambda element: signs_latex(element.text().strip()),
    **dict.fromkeys(("mtext", "ms"), lambda element: words_latex(element.text())),
    "mspace": lambda _: " ",
    **dict.fromkeys(("none", "mphantom", "annotation", "annotation-xml"), lambda _: ""),
    **dict.fromkeys(("maction", "semantics"), lambda element: next(_arguments(element, 1))),
    "mfrac": _fraction,
    "msqrt": lambda element: rf"\sqrt{{{_row(element)}}}",
    "mroot": _root,
    **dict.fromkeys(("munder", "mover", "munderover"), _under_and_over),
    **dict.fromkeys(("msub", "msup", "msubsup"), _index_and_power),
    "mmultiscripts": _scripts_on_both_sides,
    "mfenced": _fences,
    "mtable": _table,
    "menclose": _enclosed,
}
