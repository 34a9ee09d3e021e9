"""Notebooks of Jupyter: the texts of their cells, and what their code has printed; the code itself states nothing.

Of an output in several forms the one nearest to LaTeX is read; a picture is told. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prism.errors import PrismError
from prism.inputs import decode, parse_json, value_faults
from prism.latex.documents.document import Document, DocumentWriter
from prism.latex.documents.markup import read_html
from prism.latex.documents.myst import with_myst_formulas
from prism.latex.documents.web_pages import document_of

_FORMS = ("text/latex", "text/markdown", "text/html", "text/plain")  # of an output, the best first
_PICTURE = "image/"


def read_notebook(raw: bytes) -> Document:
    """Read a notebook, of the third version of its format or later.

    Errors:
        PrismError: no text in UTF-8, no JSON, or no notebook.
    """
    data = parse_notebook(decode(raw))
    writer = DocumentWriter()
    for number, cell in enumerate(_cells(data), start=1):
        writer.end_block()
        writer.begin_place(f"cell {number}")
        _write_cell(cell, writer)
    return writer.document()


def parse_notebook(text: str) -> Mapping[str, Any]:
    """Return the JSON of a notebook.

    Errors:
        PrismError: no JSON, no notebook, or one that is nested too deeply.
    """
    try:
        data = parse_json(text, table=dict)
    except PrismError as error:
        raise PrismError(f"holds no JSON: {error}") from error
    if not isinstance(data, Mapping) or not isinstance(data.get("cells", data.get("worksheets")), list):
        raise PrismError("holds no list of cells")
    if faults := value_faults(data):
        raise PrismError("; ".join(faults))
    return data


def _cells(data: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Yield the cells of a notebook; in its third version they stand in sheets."""
    sheets = [data] if "cells" in data else [_mapping(sheet) for sheet in data["worksheets"]]
    for sheet in sheets:
        for cell in _list(sheet.get("cells")):
            yield _mapping(cell)


def _write_cell(cell: Mapping[str, Any], writer: DocumentWriter) -> None:
    """Write the text of a cell, or what its code has printed."""
    source = _text(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "code":
        for output in _list(cell.get("outputs")):
            _write_output(_mapping(output), writer)
        return
    writer.add("# " if kind == "heading" else "")
    writer.add(with_myst_formulas(source))
    n_picture = sum(any(str(form).startswith(_PICTURE) for form in _mapping(each))
                    for each in _mapping(cell.get("attachments")).values())  # fmt: skip
    if n_picture:
        writer.leave_out("picture", n_picture)


def _write_output(output: Mapping[str, Any], writer: DocumentWriter) -> None:
    """Write what code has printed, in the form nearest to LaTeX."""
    kind = output.get("output_type")
    if kind in ("error", "pyerr"):
        return
    if kind == "stream":
        writer.add(f"{_text(output.get('text'))}\n\n")
        return
    data = _mapping(output.get("data")) or {f"text/{key}": value for key, value in output.items() if key in
                                            ("latex", "html")} | {"text/plain": output.get("text")}  # fmt: skip
    forms = [form for form in _FORMS if _text(data.get(form)).strip()]
    if any(str(form).startswith(_PICTURE) for form in data) or "png" in output:
        forms = [form for form in forms if form != "text/plain"]  # it names the picture
        if not forms:
            writer.leave_out("picture")
    if not forms:
        return
    text = _text(data[forms[0]])
    if forms[0] == "text/html":
        page = document_of(read_html(text))
        text = str(page.solution)
        for what in page.not_read:
            writer.leave_out("output", of_which=f"with {what}")
    writer.add(f"{text}\n\n")


def _text(value: object) -> str:
    """Return a text of a notebook, which may be a list of lines; empty for anything else."""
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a table; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}
