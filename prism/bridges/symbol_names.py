r"""The names of symbols on both sides: sympy's `alpha` and `x1` are PRISM's `\alpha` and `x_1`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from prism.algebra.expr import Expr, symbol
from prism.errors import ConversionError, LatexSyntaxError
from prism.latex.parsing.parser import parse

_KEPT = 1024  # names looked up
_UNIT = r"\unit{"


@lru_cache(maxsize=_KEPT)
def symbol_of(name: str, latex: str) -> Expr:
    r"""Return the symbol that PRISM reads for a name, or for the LaTeX that sympy prints of it; else the name as it is.

    The LaTeX counts where it has a command or an index: sympy prints `Nu` as N, which is another symbol.

    Errors:
        ConversionError: PRISM reads the name as something that is no symbol, such as `\pi`.

    >>> [symbol_of(*names).name for names in (("v_0", "v_{0}"), ("alpha", r"\alpha"), ("x1", "x_{1}"), ("Nu", "N"))]
    ['v_0', '\\alpha', 'x_1', 'Nu']
    """
    if name.startswith(_UNIT) and name.endswith("}"):
        return Expr("unit", name=name[len(_UNIT) : -1])
    for text in (name, latex):
        try:
            read = parse(text)
        except LatexSyntaxError:
            continue
        if read.kind != "expression" or read.members[0].args:
            continue
        leaf = read.members[0]
        if leaf.op != "sym" and text == name:
            raise ConversionError("PRISM", f"symbol {name}", f"which is read as {read}")
        if leaf.op == "sym" and (leaf.name == name or (text == latex and {"\\", "_"} & set(leaf.name))):
            return leaf
    return symbol(name)


def latex_of(name: str, sympy: Any) -> str:
    """Return what sympy prints for a symbol."""
    return str(sympy.latex(sympy.Symbol(name)))
