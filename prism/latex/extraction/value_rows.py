r"""Values in rows of one box: `\boxed{\begin{array}{l} 2\,\mathrm s \\ 3\,\mathrm m \end{array}}` lists two answers.

Only rows that begin with a number are taken for a list, without brackets around them, which make a vector. Letters of
the parts, `\text{(a) }`, have to stand before all rows, in order: a member's place says which answer it is.
"""

from __future__ import annotations

import re

_ENVIRONMENT = re.compile(
    r"\\begin\{(?P<name>array|aligned|align\*?|gathered|split|matrix)\}\s*(?:\[[a-z]\])?\s*(?:\{[lcr| ]{1,8}\})?"
    r"(?P<rows>.*)\\end\{(?P=name)\}",
    re.DOTALL,
)
_BREAK = re.compile(r"\\\\(?:\[[^\]]{0,12}\])?")
_EDGES = " \t\n&~,;."
_ROW = re.compile(
    r"(?:\\(?:text|textbf|mathrm)\{ ?\(?(?P<letter>[a-h])[).]:? ?\}|\((?P<bare>[a-h])\))?[\s&~:]{0,8}"
    r"(?P<value>[-+−]?[.\d][^&]*)"
)


def values_in_rows(latex: str) -> str:
    r"""Return the values of the rows of a box as a list, `2\,\mathrm s, 3\,\mathrm m`; empty if these are no such rows.

    >>> values_in_rows(r"\begin{aligned} &\text{(a) } 2 \\ &\text{(b) } 3 \end{aligned}")
    '2, 3'
    """
    found = _ENVIRONMENT.fullmatch(latex)
    written = [row.strip(_EDGES) for row in _BREAK.split(found["rows"] if found else latex)]
    rows = [_ROW.fullmatch(row) for row in written if row]
    read = [row for row in rows if row is not None]
    letters = [row["letter"] or row["bare"] or "" for row in read]
    if not 1 < len(read) == len(rows) or "".join(letters) not in ("", "abcdefgh"[: len(read)]):
        return ""
    return ", ".join(row["value"] for row in read)
