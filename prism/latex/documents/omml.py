r"""OMML, the formulas of Word, as LaTeX: a writer for each of its elements.

Word keeps letters in a row in one run, `gt`; as in LaTeX each is a symbol. A run that is set upright is a name or a
unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prism.latex.documents.markup import Element
from prism.latex.documents.written_signs import (
    FUNCTIONS,
    LARGE_OPERATORS,
    accented,
    fenced,
    join_upright,
    rows_latex,
    scripted,
    signs_latex,
    stacked,
    with_cases,
    words_latex,
)

_UPRIGHT_LETTERS = re.compile(r"([A-Za-z]+)")


def omml_latex(formula: Element) -> str:
    """Return an `m:oMath` as LaTeX."""
    return with_cases(join_upright(_row(formula))).strip()


def _row(element: Element | None) -> str:
    """Return the elements in another one, one behind the other; empty for None."""
    return "" if element is None else "".join(_latex(each) for each in element.elements())


def _latex(element: Element) -> str:
    """Return one element as LaTeX; of an unknown one what is in it, and nothing of properties and what was deleted."""
    if element.name.endswith("Pr") or element.name in ("w:del", "w:moveFrom"):
        return ""
    return _WRITERS.get(element.name, _row)(element)


def _property(element: Element, name: str, default: str) -> str:
    """Return the value of a property such as `m:chr`; the default if the element has none."""
    properties = element.first(f"{element.name}Pr")
    found = properties.first(name) if properties else None
    return default if found is None else found.attributes.get("m:val", "")


def _is_on(element: Element, name: str) -> bool:
    """Return True for a property that stands there, and is not switched off."""
    return _property(element, name, "0") not in ("0", "off", "false")


def _run(element: Element) -> str:
    """Return a run of signs: words, upright names, or letters that are symbols each."""
    properties = element.first("m:rPr")
    text = "".join(each.text() for each in element.elements() if each.name in ("m:t", "w:t"))
    if properties is not None and properties.first("m:nor") is not None:
        return words_latex(text)
    style = properties.first("m:sty") if properties is not None else None
    value = style.attributes.get("m:val", "") if style is not None else ""
    if value == "p":
        parts = _UPRIGHT_LETTERS.split(text)
        return "".join(_upright(part) if at % 2 else _signs(part) for at, part in enumerate(parts))
    if value in ("b", "bi") and text.strip().isascii() and text.strip().isalpha():
        return rf"\mathbf{{{text.strip()}}}"
    return _signs(text)


def _signs(text: str) -> str:
    """Return signs as LaTeX; `&` is where lines of a display line up."""
    return "&".join(signs_latex(part) for part in text.split("&"))


def _upright(name: str) -> str:
    """Return letters that are set upright."""
    return rf"\{name} " if name in FUNCTIONS else rf"\mathrm{{{name}}}"


def _fraction(element: Element) -> str:
    """Return a fraction; one without a line is a binomial coefficient."""
    above, below = _row(element.first("m:num")), _row(element.first("m:den"))
    kind = _property(element, "m:type", "bar")
    return rf"\binom{{{above}}}{{{below}}}" if kind == "noBar" else rf"\frac{{{above}}}{{{below}}}"


def _delimited(element: Element) -> str:
    """Return what stands between brackets; those around a binomial coefficient are its own."""
    begin, end = _property(element, "m:begChr", "("), _property(element, "m:endChr", ")")
    inside = _property(element, "m:sepChr", "|").join(_row(each) for each in element.elements("m:e"))
    if inside.startswith(r"\binom{") and (begin, end) == ("(", ")"):
        return inside
    return fenced(begin, inside, end)


def _large_operator(element: Element) -> str:
    """Return a sum, an integral or another large operator with its limits."""
    sign = _property(element, "m:chr", "∫")
    base = LARGE_OPERATORS.get(sign) or signs_latex(sign)
    below = "" if _is_on(element, "m:subHide") else _row(element.first("m:sub"))
    above = "" if _is_on(element, "m:supHide") else _row(element.first("m:sup"))
    return f"{scripted(base, below, above)} {_row(element.first('m:e'))} "


def _root(element: Element) -> str:
    """Return a root, with its degree if it shows one."""
    degree = "" if _is_on(element, "m:degHide") else _row(element.first("m:deg")).strip()
    return (rf"\sqrt[{degree}]" if degree else r"\sqrt") + f"{{{_row(element.first('m:e'))}}}"


def _function(element: Element) -> str:
    """Return a function with its argument."""
    name = _row(element.first("m:fName")).strip()
    if name in FUNCTIONS:
        name = f"\\{name}"
    return f"{name} {_row(element.first('m:e'))} "


def _accent(element: Element) -> str:
    """Return something with an accent."""
    sign = _property(element, "m:chr", "\u0302")
    return stacked(_row(element.first("m:e")), sign, signs_latex(sign), is_below=False)


def _bar(element: Element) -> str:
    """Return something with a line above or below it."""
    command = r"\overline" if _property(element, "m:pos", "bot") == "top" else r"\underline"
    return f"{command}{{{_row(element.first('m:e'))}}}"


def _group(element: Element) -> str:
    """Return something with a brace above or below it."""
    base = _row(element.first("m:e"))
    is_above = _property(element, "m:pos", "bot") == "top"
    return accented(_property(element, "m:chr", "⏟"), base, is_below=not is_above) or base


def _limit(element: Element) -> str:
    """Return something with what stands below or above it."""
    limit = _row(element.first("m:lim"))
    return stacked(_row(element.first("m:e")), limit, limit, is_below=element.name == "m:limLow")


def _scripts(element: Element) -> str:
    """Return a base with its index and power; those of `m:sPre` stand before it."""
    below, above = _row(element.first("m:sub")), _row(element.first("m:sup"))
    base = _row(element.first("m:e"))
    return scripted("{}", below, above) + base if element.name == "m:sPre" else scripted(base, below, above)


def _matrix(element: Element) -> str:
    """Return a matrix."""
    rows = [[_row(cell) for cell in row.elements("m:e")] for row in element.elements("m:mr")]
    return rows_latex(rows, "matrix")


def _lines(element: Element) -> str:
    """Return formulas below each other."""
    return rows_latex([[_row(line)] for line in element.elements("m:e")], "aligned")


_WRITERS: dict[str, Callable[[Element], str]] = {
    "m:r": _run,
    "m:f": _fraction,
    **dict.fromkeys(("m:sSup", "m:sSub", "m:sSubSup", "m:sPre"), _scripts),
    "m:rad": _root,
    "m:nary": _large_operator,
    "m:d": _delimited,
    "m:func": _function,
    "m:acc": _accent,
    "m:bar": _bar,
    "m:groupChr": _group,
    **dict.fromkeys(("m:limLow", "m:limUpp"), _limit),
    "m:m": _matrix,
    "m:eqArr": _lines,
    "m:borderBox": lambda element: rf"\boxed{{{_row(element.first('m:e'))}}}",
    "m:phant": lambda _: "",
}
