r"""LaTeX files that are put together from others by `\input`, `\include`, `\subfile` or `\import`, as on Overleaf.

A file is put in only from within the folder: no absolute path, no way out of it by `..` or a link, no file twice in
itself. A text without such a command stays as it is, byte for byte; so does a command whose file is not put in, and
that is told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from prism.errors import PrismError
from prism.inputs import decode, read_bytes, shown
from prism.latex.documents.document import Document, DocumentWriter

MAX_FILES = 100  # that are put in, all in all
MAX_SIZE = 4_000_000  # characters of the text that comes out, far above what is read of a solution
MAX_NESTING = 10  # files in each other
_MAX_COMMANDS = 10 * MAX_FILES  # of one file that are looked at
_MAX_NAME = 200  # characters

_COMMAND = re.compile(
    r"\\(?:(?:input|include|subfile|subfileinclude)\s*\{([^{}\n]+)\}"
    r"|(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{([^{}\n]*)\}\s*\{([^{}\n]+)\}|input\s+([^\s{}\\%]+))"
)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_BEGIN, _END = r"\begin{document}", r"\end{document}"
_NO_TEXT = (
    ".tikz",
    ".pgf",
    ".bbl",
    ".sty",
    ".cls",
    ".pdf_tex",
    ".eps_tex",
)  # what is put in, and is no text of a solution


@dataclass(frozen=True, slots=True)
class Included:
    """A command that puts a file in: its span, the name it gives, and the file if it may be put in, else the reason."""

    start: int
    end: int
    name: str
    path: Path | None
    why: str = ""


def included_files(text: str, main: Path, root: Path) -> list[Included]:
    """Return what a text puts in, in order; not what a comment or the text behind the document would put in.

    Args:
        main: the file that is typeset: names are taken from its folder.
        root: the folder out of which none may lead.
    """
    found: list[Included] = []
    end = text.find(_END)
    for command in islice(_COMMAND.finditer(text, 0, end if end >= 0 else len(text)), _MAX_COMMANDS):
        line = text.rfind("\n", 0, command.start()) + 1
        if _COMMENT.search(text, line, command.start()):
            continue
        name = (command[1] or command[4] or f"{command[2]}/{command[3]}").strip().strip('"')
        if PurePosixPath(name).suffix in _NO_TEXT:
            continue
        path, why = _inside(name, main, root)
        found.append(Included(*command.span(), name, path, why))
    return found


def _inside(name: str, main: Path, root: Path) -> tuple[Path | None, str]:
    """Return the file of a name, or None and why it is not put in."""
    if len(name) > _MAX_NAME or "\0" in name or "\\" in name:
        return None, "is no name of a file"
    try:
        base = root.resolve()
        for ending in ("", ".tex") if PurePosixPath(name).suffix else (".tex", ""):
            path = (main.parent / f"{name}{ending}").resolve()
            if not path.is_relative_to(base) or PurePosixPath(name).is_absolute():
                return None, "is not in the folder"
            if path.is_file():
                return path, ""
    except (OSError, ValueError, RuntimeError):  # too long a name; links that lead to each other
        return None, "cannot be looked up"
    return None, "is not there"


def read_latex_project(path: Path, text: str, *, root: Path | None = None) -> Document:
    """Return a LaTeX file with the files that it puts in, as one text.

    Args:
        path: of the file.
        text: what it holds.
        root: the folder out of which no file is read; by default that of the file.
    """
    writer = _Project(path, root or path.parent)
    if not included_files(text, path, writer.root):
        return Document(text)
    writer.write(text, path, (path.resolve(),))
    return replace(writer.writer.document(), parts=tuple(writer.parts))


class _Project:
    """Puts the text of a LaTeX file together."""

    def __init__(self, main: Path, root: Path) -> None:
        """Begin without text."""
        self._main, self.root = main, root
        self.writer = DocumentWriter()
        self.parts: list[Path] = []
        self._size = 0

    def write(self, text: str, path: Path, above: tuple[Path, ...]) -> None:
        """Write a text with what it puts in.

        Args:
            above: the files that it stands in, itself among them.
        """
        line_of = _line_finder(text)
        at = 0
        for each in included_files(text, self._main, self.root):
            self._write_plain(text[at : each.start], path, line_of(at))
            at = each.end
            inner = self._content(each, above)
            if inner is None or each.path is None:
                at = each.start
                continue
            self.write(_body(inner), each.path, (*above, each.path))
        self._write_plain(text[at:], path, line_of(at))

    def _write_plain(self, text: str, path: Path, line: int) -> None:
        """Write a piece of a file with its place."""
        name = path.resolve().relative_to(self._main.parent.resolve()).as_posix()
        self.writer.begin_place(f"{name}, from line {line} on")
        self.writer.add(text)
        self._size += len(text)

    def _content(self, each: Included, above: tuple[Path, ...]) -> str | None:
        """Return what a file holds that is put in; None, and it is told, if it is not."""
        why = each.why
        if each.path in above:
            why = "holds itself"
        elif len(self.parts) >= MAX_FILES or len(above) > MAX_NESTING or self._size > MAX_SIZE:
            why = "is one too many"
        if not why and each.path is not None:
            try:
                inner = decode(read_bytes(each.path, MAX_SIZE))
                self.parts.append(each.path)
                return inner
            except PrismError as error:
                why = str(error)
        self.writer.leave_out("file", of_which=f"that it puts in: {shown(each.name)} {why}")
        return None


def _body(text: str) -> str:
    r"""Return what a file puts in: up to `\endinput`; of one with a preamble, as for subfiles, its document."""
    text = text.partition(r"\endinput")[0]
    begin = text.find(_BEGIN)
    end = text.find(_END, begin + 1)
    return text[begin + len(_BEGIN) : end if end >= 0 else len(text)] if begin >= 0 else text


def _line_finder(text: str) -> Callable[[int], int]:
    """Return the function that numbers the lines of a text, from 1, by offset."""
    breaks = [at for at, sign in enumerate(text) if sign == "\n"]
    return lambda offset: bisect_right(breaks, offset - 1) + 1
