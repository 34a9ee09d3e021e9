r"""Tables as plain data, and as CSV, Markdown and LaTeX: what a paper, a spreadsheet or a pull request takes.

Every table of a report is a `DataTable`, so that terminal, page and file show the same figures. A cell keeps its number
until it is written: people are shown three decimals, or what the column says, and a program gets four.

LaTeX is a `table` with the rules of booktabs. Whatever a model, a problem or a file says is text there: what TeX reads
as a command is escaped, an accented letter is spelled with its accent, and a sign that pdfLaTeX has no glyph for
becomes its code point, so that the table compiles. Refused: formulas as mathematics (those of a problem may use macros
that the paper does not have); the writers of pandas and tabulate (they round, escape and fold in their own ways, and a
paper would have other figures than the terminal).

CSV that people open in a spreadsheet: every file of that kind is written here, and no cell of it is a formula.

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
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any

from prism.latex import one_line
from prism.reports.agreement import REASONS, Estimate
from prism.reports.formats import Format
from prism.reports.html.markup import visible

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
        [f"'{cell}" if _FORMULA.match(cell) else cell for cell in row] for row in rows
    )
    return out.getvalue()


def plain_cell(cell: str) -> str:
    """Return what a cell held before it was written: without the apostrophe in front of a formula.

    >>> plain_cell("'=1+1"), plain_cell("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


FILE_DIGITS = 4  # decimals of a number for a program, so that the last one does not depend on the machine
_NOTHING = "–"  # of a cell without a value
_SHORT_REASONS = {"one_problem": "one problem", "one_template": "one template", "no_items": "no score",
                  "too_few_rollouts": "too few rollouts", "not_known": "not known"}  # fmt: skip


class Kind(StrEnum):
    """What the cells of a column are: text, LaTeX, a whole number, a number or estimate, its interval, a p-value."""

    TEXT = "text"
    FORMULA = "formula"
    COUNT = "count"
    VALUE = "value"
    INTERVAL = "interval"
    P_VALUE = "p_value"


Cell = str | int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        head: what its cells are.
        group: what stands over the heads of neighbouring columns with the same group; mostly empty.
        digits: decimals that people are shown.
        is_share: its numbers lie in [0, 1], and `in_percent` multiplies them by 100.
        scale: what numbers are multiplied by when they are written.
        absent: what people are shown for an estimate without a value.
        is_signed: its numbers are differences, and people are shown their signs: `+0.250`.
    """

    head: str
    kind: Kind = Kind.TEXT
    group: str = ""
    digits: int = 3
    is_share: bool = False
    scale: int = 1
    absent: str = "none"
    is_signed: bool = False

    @property
    def is_number(self) -> bool:
        """Return True if its cells are numbers, which stand at the right of a column."""
        return self.kind in (Kind.COUNT, Kind.VALUE, Kind.P_VALUE)

    @property
    def whole_head(self) -> str:
        """Return the head behind that of its group: `large: final`."""
        head = f"{self.group}: {self.head}" if self.group and self.head else self.group or self.head
        return in_one_line(head)


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table as plain data.

    Attributes:
        id: its name for `--table` and for files: `by-model`.
        title: for people.
        rows: a cell for each column.
        n_keys: leading columns that name the rows; in a column of them a name is shown once for neighbours that share
            it.
        shown: rows that a terminal shows; None for all.
        notes: sentences that stand below it.
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_keys: int = 1
    shown: int | None = None
    notes: tuple[str, ...] = ()


Part = DataTable | str
"""What is shown one below the other: tables, and the lines between them."""


def in_one_line(text: str) -> str:
    """Return text on one line, with control and invisible characters written out as `⟨U+202E⟩`."""
    return visible(one_line(text))


_SHARE = {"is_share": True}
_CHANGE = {"is_share": True, "is_signed": True}
_COLUMNS: dict[str, tuple[Kind, dict[str, Any], bool]] = {
    "text": (Kind.TEXT, {}, False), "formula": (Kind.FORMULA, {}, False), "count": (Kind.COUNT, {}, False),
    "value": (Kind.VALUE, {}, False), "values": (Kind.VALUE, {}, True), "share": (Kind.VALUE, _SHARE, False),
    "shares": (Kind.VALUE, _SHARE, True), "change": (Kind.VALUE, _CHANGE, False),
    "changes": (Kind.VALUE, _CHANGE, True), "p": (Kind.P_VALUE, {}, False),
    "estimate": (Kind.VALUE, {"absent": "undefined"}, True),
}  # fmt: skip
"""Of a sort of columns, as `columns` names it: the kind, attributes, and True if the interval stands beside it."""


def columns(*named: str | tuple[str, str], **attributes: Any) -> tuple[Column, ...]:
    """Return columns: a head alone is one of text, a head with a key of `_COLUMNS` one of that sort.

    >>> [column.head for column in columns("model", ("n", "count"), ("score", "shares"))]
    ['model', 'n', 'score', 'interval']
    """
    found: list[Column] = []
    for one in named:
        head, sort = (one, "text") if isinstance(one, str) else one
        kind, own, has_interval = _COLUMNS[sort]
        found.append(Column(head, kind, **own, **attributes))
        found += [Column("interval", Kind.INTERVAL, **own, **attributes)] if has_interval else []
    return tuple(found)


def counts(*heads: str) -> tuple[tuple[str, str], ...]:
    """Return the arguments for columns of counts."""
    return tuple((head, "count") for head in heads)


def with_intervals(*estimates: Estimate | None) -> tuple[Cell, ...]:
    """Return the cells of estimates in such columns: each one for its value, and again for its interval."""
    return tuple(each for each in estimates for _ in ("value", "interval"))


def in_percent(table: DataTable) -> DataTable:
    """Return a table with its shares multiplied by 100, shown with two decimals, and a title that says so."""
    if not any(column.is_share for column in table.columns):
        return table
    columns = tuple(replace(one, scale=100, digits=2) if one.is_share else one for one in table.columns)
    return replace(table, title=f"{table.title} (per cent)", columns=columns)


def short_reason(key: str) -> str:
    """Return why an estimate has no interval in a few words for a cell; an unknown key as it is."""
    return _SHORT_REASONS.get(key) or REASONS.get(key, key)


def is_new_group(table: DataTable, number: int) -> bool:
    """Return True if the row `number`, from 0, begins a new group: another first name in a table with several."""
    return table.n_keys > 1 and number > 0 and table.rows[number][0] != table.rows[number - 1][0]


def shown_rows(table: DataTable, limit: int | None = None) -> Iterator[list[str]]:
    """Yield the cells of each row as people are shown them; names that the row above shares are left out.

    Args:
        limit: rows at most; None for all.
    """
    before: tuple[Cell, ...] = ()
    for row in table.rows[:limit]:
        cells = [cell_text(column, cell) for column, cell in zip(table.columns, row, strict=True)]
        for k in range(table.n_keys - 1):  # the last name of a row is always shown
            if row[: k + 1] == before[: k + 1]:
                cells[k] = ""
        before = row
        yield cells


def cell_text(column: Column, cell: Cell) -> str:
    """Return a cell as people are shown it: on one line, numbers with the decimals of the column."""
    if isinstance(cell, Estimate):
        if column.kind is Kind.INTERVAL:
            if cell.low is None or cell.high is None:
                return short_reason(cell.reason) or _NOTHING
            return f"{_decimal(column, cell.low)} to {_decimal(column, cell.high)}"
        return column.absent if cell.value is None else _decimal(column, cell.value)
    if cell is None:
        return "" if column.kind in (Kind.TEXT, Kind.FORMULA) else _NOTHING
    if isinstance(cell, str):
        return in_one_line(cell)
    if column.kind is Kind.P_VALUE:
        return f"{cell:.{column.digits}g}"
    return str(cell) if column.kind is Kind.COUNT else _decimal(column, cell)


def _decimal(column: Column, value: float) -> str:
    """Write a number with the scale and the decimals of its column; what rounds to 0 has no sign."""
    shown = round(value * column.scale, column.digits) + 0.0
    return f"{shown:{'+' if column.is_signed and shown else ''}.{column.digits}f}"


# CSV. -----------------------------------------------------------------------------------------------------------


def as_csv(table: DataTable) -> str:
    """Write a table as CSV (RFC 4180, with line feeds): a line of heads, all names in each row, four decimals.

    An interval is two columns, its low and its high end; what has no value is empty.
    """
    heads: list[str] = []
    for place, column in enumerate(table.columns):
        of = table.columns[place - 1].whole_head  # an interval stands behind its value
        heads += [f"{of} low", f"{of} high"] if column.kind is Kind.INTERVAL else [column.whole_head]
    rows = (zip(table.columns, row, strict=True) for row in table.rows)
    return csv_text([heads, *([text for each in row for text in _csv_cells(*each)] for row in rows)])


def _csv_cells(column: Column, cell: Cell) -> tuple[str, ...]:
    """Return the cells of a column in CSV: of an interval two."""
    if column.kind is Kind.INTERVAL:
        ends = (cell.low, cell.high) if isinstance(cell, Estimate) else (None, None)
        return tuple(_csv_number(column, end) for end in ends)
    value = cell.value if isinstance(cell, Estimate) else cell
    if value is None or isinstance(value, str):
        return (in_one_line(value or ""),)
    return (str(value) if column.kind is Kind.COUNT else _csv_number(column, value),)


def _csv_number(column: Column, value: float | None) -> str:
    """Write a number for a program, rounded to four decimals; empty for None."""
    if value is None:
        return ""
    if column.kind is Kind.P_VALUE:
        return f"{value:.{FILE_DIGITS}g}"
    return f"{round(value * column.scale, FILE_DIGITS) + 0.0:.{FILE_DIGITS}f}".rstrip("0").rstrip(".")


# Markdown. ------------------------------------------------------------------------------------------------------

_MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]()#+\-!|~$^<>&])")


def as_markdown(table: DataTable) -> str:
    """Write a table as Markdown of GitHub's kind, its title in bold above and its notes below."""
    heads = [_markdown_text(column.whole_head) for column in table.columns]
    rules = ["---:" if column.is_number else "---" for column in table.columns]
    lines = [f"**{_markdown_text(table.title)}**", "", _markdown_row(heads), _markdown_row(rules)]
    for cells in shown_rows(table):
        pairs = zip(table.columns, cells, strict=True)
        lines.append(_markdown_row([_markdown_cell(column, cell) for column, cell in pairs]))
    lines += [line for note in table.notes for line in ("", _markdown_text(note))]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Iterable[str]) -> str:
    """Join the cells of a row."""
    return f"| {' | '.join(cells)} |"


def _markdown_cell(column: Column, text: str) -> str:
    """Return a cell in Markdown: a formula as code, a number as it is, other text escaped."""
    if column.kind is Kind.FORMULA and text:
        fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
        return f"{fence} {text.replace('|', chr(92) + '|')} {fence}"
    return text if column.is_number or column.kind is Kind.INTERVAL else _markdown_text(text)


def _markdown_text(text: str) -> str:
    r"""Escape the signs that mean something in Markdown or HTML.

    >>> _markdown_text("a_b|<c>")
    'a\\_b\\|\\<c\\>'
    """
    return _MARKDOWN_SIGNS.sub(r"\\\1", in_one_line(text))


# LaTeX. ---------------------------------------------------------------------------------------------------------

_LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\char34}", "`": "{`}", "[": "{[}", "]": "{]}", "*": "{*}",
    "–": r"\textendash{}", "—": r"\textemdash{}", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "ø": r"\o{}", "Ø": r"\O{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}",
    "Ł": r"\L{}", "ı": r"\i{}", "§": r"\S{}", "©": r"\copyright{}", "\u00a0": "~",
    **{sign: rf"\ensuremath{{\{name}}}" for sign, name in {
        "×": "times", "·": "cdot", "±": "pm", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "→": "to",
        "∞": "infty", "⟨": "langle", "⟩": "rangle", "√": "surd", "∂": "partial", "∇": "nabla", "∝": "propto",
        "ħ": "hbar",
    }.items()},
    "°": r"\ensuremath{^\circ}", "µ": r"\ensuremath{\mu}", "−": r"\ensuremath{-}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
_LIGATURE = re.compile(r"([-'!?,])(?=\1|{?`)")  # which TeX would make a dash, a quotation mark or a mark upside down
_SIGNED_NUMBER = re.compile(r"(?<![\w.])[-+][\d.]+")  # whose minus would be a hyphen in text
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)")
_AS_LATIN = {
    "OMICRON": "o", "ALPHA": "A", "BETA": "B", "EPSILON": "E", "ZETA": "Z", "ETA": "H", "IOTA": "I", "KAPPA": "K",
    "MU": "M", "NU": "N", "RHO": "P", "TAU": "T", "CHI": "X",
}  # fmt: skip
"""Greek letters that TeX has no command for, since they look like Latin ones: omicron, and capitals of others."""


def as_latex(table: DataTable) -> str:
    r"""Write a table as a LaTeX `table` with booktabs' rules; its notes are comments. `\input` it into a paper."""
    indent = " " * 4
    letters = "".join("r" if column.is_number else "l" for column in table.columns)
    body = []
    for number, cells in enumerate(shown_rows(table)):
        body += [rf"{indent}\addlinespace"] if is_new_group(table, number) else []
        pairs = zip(table.columns, cells, strict=True)
        body.append(f"{indent}{' & '.join(_latex_cell(column, cell) for column, cell in pairs)} \\\\")
    heads = " & ".join(latex_text(column.head) for column in table.columns)
    return "\n".join((
        r"% \usepackage{booktabs} in the preamble",
        r"\begin{table}", r"  \centering", rf"  \caption{{{latex_text(table.title)}}}", rf"  \label{{tab:{table.id}}}",
        rf"  \begin{{tabular}}{{{letters}}}", rf"{indent}\toprule",
        *(f"{indent}{line}" for line in _latex_groups(table.columns)),
        f"{indent}{heads} \\\\", rf"{indent}\midrule", *body, rf"{indent}\bottomrule",
        r"  \end{tabular}", r"\end{table}", *(f"% {in_one_line(note)}" for note in table.notes),
    )) + "\n"  # fmt: skip


def _latex_groups(columns: Sequence[Column]) -> list[str]:
    """Return the lines of the heads over several columns, and the rules below them; none without groups."""
    if not any(column.group for column in columns):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        n = len(list(members))
        cells.append(rf"\multicolumn{{{n}}}{{c}}{{{latex_text(group)}}}" if group else " & ".join([""] * n))
        rules += [rf"\cmidrule(lr){{{at}-{at + n - 1}}}"] if group else []
        at += n
    return [f"{' & '.join(cells)} \\\\", " ".join(rules)]


def _latex_cell(column: Column, text: str) -> str:
    """Return a cell in LaTeX: a formula as typewriter text, numbers with signs as mathematics, other text escaped."""
    if column.kind is Kind.FORMULA and text:
        return rf"\texttt{{{latex_text(text)}}}"
    if column.is_number or column.kind is Kind.INTERVAL:
        return _SIGNED_NUMBER.sub(r"$\g<0>$", latex_text(text))
    return latex_text(text)


def latex_text(text: str) -> str:
    r"""Write text so that LaTeX shows it as it is, on one line.

    >>> latex_text(r"50% of a_b & \c"), latex_text("Schrödinger α")
    ('50\\% of a\\_b \\& \\textbackslash{}c', 'Schr\\"{o}dinger \\ensuremath{\\alpha}')
    """
    return _LIGATURE.sub(r"\1{}", "".join(map(_latex_sign, in_one_line(text))))


def _latex_sign(sign: str) -> str:
    """Return one sign as LaTeX: itself, an escape, a letter with its accent, a Greek letter, or its code point."""
    if sign in _LATEX_SIGNS:
        return _LATEX_SIGNS[sign]
    if sign.isascii():
        return sign
    parts = unicodedata.normalize("NFD", sign)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    greek = _GREEK.fullmatch(unicodedata.name(sign, ""))
    if greek:
        latin = _AS_LATIN.get(greek[2], "")
        is_small = greek[1] == "SMALL"
        if latin and (latin.islower() or not is_small):
            return latin if is_small else latin.upper()
        name = {"LAMDA": "lambda"}.get(greek[2], greek[2].lower())
        if name in _GREEK_COMMANDS and (is_small or name in _GREEK_CAPITALS):
            return rf"\ensuremath{{\{name if is_small else name.capitalize()}}}"
    return rf"\texttt{{U+{ord(sign):04X}}}"


_GREEK_CAPITALS = frozenset("gamma delta theta lambda xi pi sigma upsilon phi psi omega".split())
_GREEK_COMMANDS = _GREEK_CAPITALS | frozenset("alpha beta epsilon zeta eta iota kappa mu nu rho tau chi".split())


# All of them. ---------------------------------------------------------------------------------------------------

_WRITERS = {Format.CSV: as_csv, Format.MARKDOWN: as_markdown, Format.LATEX: as_latex}


def written(table: DataTable, form: Format) -> str:
    """Write a table in a format other than text, which `tables.rich_parts` lays out for a terminal."""
    return _WRITERS[form](table)


def written_parts(parts: Iterable[DataTable | str], form: Format) -> str:
    """Write tables and the lines between them as Markdown or LaTeX, where a line is a paragraph or a comment."""
    texts = []
    for part in parts:
        if isinstance(part, DataTable):
            texts.append(written(part, form))
        elif part:
            texts.append(f"{_markdown_text(part)}\n" if form is Format.MARKDOWN else f"% {in_one_line(part)}\n")
    return "\n".join(texts)
