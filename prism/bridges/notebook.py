r"""What a notebook shows of formulas, verdicts and grades: LaTeX, and tables of HTML.

MathJax knows no `\unit`, and a student's text may hold HTML: only LaTeX that PRISM has written itself is typeset, all
else is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from prism.algebra.expr import Formula
from prism.errors import LatexSyntaxError
from prism.latex.parsing.parser import parse
from prism.latex.writing.writer import write

_UNIT = re.compile(r"\\unit\s*\{")


def typeset(written: Formula) -> str:
    r"""Return a formula's canonical LaTeX between dollar signs.

    >>> print(typeset(parse(r"g = 9.8\,\mathrm{m/s^2}")))
    $\displaystyle g = 9.8 \,\mathrm{m/s^{2}}$
    """
    return r"$\displaystyle " + _UNIT.sub(r"\\,\\mathrm{", write(written)) + "$"


def formula_html(latex: str) -> str:
    """Return the HTML of a formula as somebody wrote it: typeset if PRISM reads it, else its text as code."""
    try:
        return escape(typeset(parse(latex)))
    except LatexSyntaxError:
        return f"<code>{escape(latex)}</code>"


def text_html(text: str) -> str:
    """Return escaped HTML of plain text, in which no dollar sign starts a formula."""
    return escape(text).replace("$", '<span class="tex2jax_ignore">$</span>')


def table_html(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Args:
        title: plain text above the table. heads: plain text above each column, or none.
        rows: cells as HTML.
    """
    head = f"<thead><tr>{''.join(f'<th>{text_html(name)}</th>' for name in heads)}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<p><b>{text_html(title)}</b></p><table>{head}<tbody>{body}</tbody></table>"
