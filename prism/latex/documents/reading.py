"""Read one file as a solution, by its type."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from prism.errors import PrismError
from prism.inputs import decode, read_bytes
from prism.latex.documents.document import Document
from prism.latex.documents.kinds import CHAT, MARKDOWN, NOT_READ, PLAIN, FileKind, kind_of
from prism.latex.documents.latex_projects import read_latex_project
from prism.latex.documents.myst import with_myst_formulas

MAX_TEXT = 1 << 28  # bytes of a text, of which far fewer are read as a solution
MAX_DOCUMENT = 16_000_000  # bytes of a file of any other type, which is read whole before its text is known
_LATEX = (".tex", ".latex", ".ltx")
_MARKDOWN = (".md", *MARKDOWN.endings)


def read_document(path: Path, *, root: Path | None = None) -> Document:
    r"""Return a file as a solution; one whose ending says nothing is read as a text.

    Args:
        path: of the file.
        root: the folder out of which `\input` may not lead; by default that of the file.

    Errors:
        PrismError: what cannot be read, said so that it goes on behind the name of the file: `is a PDF file, ...`.
    """
    kind = kind_of(path) or PLAIN
    if why := why_not_read(kind):
        raise PrismError(why)
    if not kind.reader:
        text = decode(read_bytes(path, MAX_TEXT))
        if path.suffix.lower() in _LATEX:
            return read_latex_project(path, text, root=root)
        return Document(with_myst_formulas(text) if path.suffix.lower() in _MARKDOWN else text)
    raw = read_bytes(path, MAX_TEXT if kind is CHAT else MAX_DOCUMENT)
    return read_raw(raw, kind)


def read_raw(raw: bytes, kind: FileKind) -> Document:
    """Return the content of a file as a solution, by its type.

    Errors:
        PrismError: what cannot be read.
    """
    if not raw.strip():
        return Document("")
    module, _, function = kind.reader.partition(":")
    read: Callable[[bytes], Document] = getattr(import_module(f"prism.latex.documents.{module}"), function)
    try:
        return read(raw)
    except PrismError as error:
        raise PrismError(f"is {kind.name}, and {error}") from error


def why_not_read(kind: FileKind | None) -> str:
    """Return why files of a type are not read, and what to do; empty for a type that is read, and for None."""
    if kind is None or kind not in NOT_READ:
        return ""
    return f"is {kind.name}, which is not read" + (f"; {kind.advice}" if kind.advice else "")
