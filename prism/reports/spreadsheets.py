r"""CSV that people open in a spreadsheet: every file of that kind is written here, and no cell of it is a formula.

What a model, a student or a file is called is text of others. A spreadsheet works out a cell that begins with one of
`=+-@`, a tabulator or a carriage return, unless it is a number; in front of such a text stands an apostrophe, which
spreadsheets do not show. The page of a marking sheet saves CSV by a script of its own, by the same pattern.

>>> print(csv_text([("model", "gain"), ('=HYPERLINK("http://x.y")', "-0.25"), ("@SUM(1)", "+1+1")]), end="")
model,gain
"'=HYPERLINK(""http://x.y"")",-0.25
'@SUM(1),'+1+1
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

FORMULA = r"^(?:[=@\t\r](?!$)|[+\-](?!$|[\d.]+(?:[eE][+\-]?\d+)?$))"
"""What a spreadsheet would work out, for the expressions of Python and browsers: a sign alone and a number are not."""

_FORMULA = re.compile(FORMULA)


def csv_text(rows: Iterable[Sequence[str]], *, separator: str = ",") -> str:
    """Write rows as CSV (RFC 4180, with line feeds), each cell as text or number and never as a formula.

    Args:
        separator: between cells; a semicolon where numbers have a comma.
    """
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(
        [_guarded(cell) for cell in row] for row in rows
    )
    return out.getvalue()


def plain_cell(cell: str) -> str:
    """Return what a cell held before it was written: without the apostrophe in front of a formula.

    >>> plain_cell("'=1+1"), plain_cell("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


def _guarded(cell: str) -> str:
    """Return a cell, behind an apostrophe if a spreadsheet would work it out."""
    return f"'{cell}" if _FORMULA.match(cell) else cell
