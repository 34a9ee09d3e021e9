"""What lies in a folder of solutions: texts and tables that are read, and every other file, each with the reason.

One inventory for all commands that are given a folder or files of solutions, so that no student's file is left out in
silence: what is not read needs a person, and is told as such. Hidden files, and those that systems and editors leave
behind, are nobody's work; they are named and passed over.

Refused: reading a text out of a PDF or a Word document here. Formulas rarely survive it, and a wrong one is graded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

TEXTS = (".md", ".tex", ".txt")
TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")

_NAMES = {
    "a PDF file": (".pdf",),
    "a Word document": (".doc", ".docx"),
    "an OpenDocument text": (".odt",),
    "a document in Rich Text Format": (".rtf",),
    "a Pages document": (".pages",),
    "a spreadsheet": (".numbers", ".ods", ".xls", ".xlsx"),
    "a file of slides": (".key", ".odp", ".ppt", ".pptx"),
    "a picture": (".bmp", ".gif", ".heic", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp"),
    "an archive": (".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zip"),
    "a notebook": (".ipynb",),
    "a web page": (".htm", ".html"),
    "a recording": (".m4a", ".mov", ".mp3", ".mp4", ".wav"),
}
_KNOWN = {ending: name for name, endings in _NAMES.items() for ending in endings}
_OF_SYSTEMS = ("Thumbs.db", "desktop.ini", "__MACOSX")


class InputKind(StrEnum):
    """What becomes of a file: it is read as a text or a table, needs a person, or is nobody's work."""

    TEXT = "text"
    TABLE = "table"
    UNREAD = "needs_a_person"
    HIDDEN = "passed_over"


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of an input.

    Attributes:
        place: below the folder, with slashes; of a file that was named itself its path.
        reason: why it is not read, to be said behind its name; empty for what is read.
    """

    path: Path
    place: str
    kind: InputKind
    reason: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return plain values for JSON."""
        return {"file": self.place, "status": self.kind.value, "reason": self.reason}


def files_in(folder: Path) -> Iterator[InputFile]:
    """Yield every file in a folder and those below it, in the order of their paths, told apart by their names alone."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder).as_posix()
        yield InputFile(path, place, *_kind_by_name(place))


def _kind_by_name(place: str) -> tuple[InputKind, str]:
    """Return what a file in a folder is by its place, with the reason if it is not read."""
    ending = format_ending(Path(place))
    if any(_is_hidden(part) for part in PurePosixPath(place).parts):
        return InputKind.HIDDEN, "is hidden, or of the system"
    if ending in TEXTS:
        return InputKind.TEXT, ""
    if ending in TABLES:
        return InputKind.TABLE, ""
    known = why_unread(Path(place))
    return InputKind.UNREAD, known or f"has {f'the ending {ending}' if ending else 'no ending'}; {_texts()} are read"


def _texts() -> str:
    """Return the endings of texts in words."""
    return f"{', '.join(TEXTS[:-1])} and {TEXTS[-1]}"


def _is_hidden(name: str) -> bool:
    """Return True for a file or folder that a system or an editor hides or leaves behind."""
    return name.startswith((".", "~$")) or name.endswith("~") or name in _OF_SYSTEMS


def why_unread(path: Path) -> str:
    """Return why a file that was named itself is not read as a text; empty if its name says nothing against it.

    >>> why_unread(Path("anna.docx")), why_unread(Path("anna"))
    ('is a Word document, which is not read', '')
    """
    name = _KNOWN.get(path.suffix.lower())
    return f"is {name}, which is not read" if name else ""


def format_ending(path: Path) -> str:
    """Return the file ending that names the format, without `.gz`: `.jsonl` for `a.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def of_kind(files: Iterable[InputFile], kind: InputKind) -> tuple[InputFile, ...]:
    """Return the files of one kind."""
    return tuple(file for file in files if file.kind is kind)
