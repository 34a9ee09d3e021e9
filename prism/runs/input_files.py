"""What lies in a folder of solutions: texts and tables that are read, and every other file, each with the reason.

One inventory for all commands that are given a folder or files of solutions, so that no student's file is left out in
silence: what is not read needs a person, and is told as such. Hidden files, and those that systems and editors leave
behind, are nobody's work; they are named and passed over.

What type a file is, and whether it is read, says `prism.latex.documents.kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from prism.errors import PrismError
from prism.latex.documents.kinds import CHAT, NOT_READ, PLAIN, READ, kind_of
from prism.latex.documents.reading import read_document, why_not_read

PLAIN_TEXTS = PLAIN.endings
TEXTS = tuple(ending for kind in READ if kind is not CHAT for ending in kind.endings)
TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")

_SOME = ".md, .tex, .txt, .docx, .html and others"
_OF_SYSTEMS = ("Thumbs.db", "desktop.ini", "__MACOSX")


class InputKind(StrEnum):
    """What becomes of a file: it is read, alone, as a table or with another one; needs a person; is nobody's work."""

    TEXT = "text"
    TABLE = "table"
    PART = "part_of_another"
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
    kind = kind_of(PurePosixPath(place))
    if any(_is_hidden(part) for part in PurePosixPath(place).parts):
        return InputKind.HIDDEN, "is hidden, or of the system"
    if ending in TABLES:
        return InputKind.TABLE, ""
    if kind in READ and kind is not CHAT:
        return InputKind.TEXT, ""
    known = why_unread(Path(place))
    return InputKind.UNREAD, known or f"has {f'the ending {ending}' if ending else 'no ending'}; {_SOME} are read"


def _is_hidden(name: str) -> bool:
    """Return True for a file or folder that a system or an editor hides or leaves behind."""
    return name.startswith((".", "~$")) or name.endswith("~") or name in _OF_SYSTEMS


def why_unread(path: Path) -> str:
    """Return why a file that was named itself is not read as a text; empty if its name says nothing against it.

    >>> why_unread(Path("anna.pdf")), why_unread(Path("anna"))
    ('is a PDF file, which is not read', '')
    """
    return why_not_read(kind_of(path)).partition(";")[0]


def advice_for(path: Path) -> str:
    """Return what to do with a file that is not read: `save it as .docx`; empty where there is nothing to say."""
    kind = kind_of(path)
    return kind.advice if kind in NOT_READ and kind is not None else ""


def without_parts(files: Iterable[InputFile]) -> list[InputFile]:
    r"""Return files with those that another one puts in by `\input` marked as parts of it.

    In a folder of solutions each file may be another student's, so one puts in only what stands in the folder of its
    own name: `anna.tex` what stands in `anna/`.
    """
    known = list(files)
    wholes: dict[Path, str] = {}
    for file in known:
        if file.kind is InputKind.TEXT and own_folder(file.path).is_dir():
            try:
                document = read_document(file.path, root=own_folder(file.path))
            except PrismError:  # it is told where the file is read
                continue
            wholes |= dict.fromkeys(document.parts, file.place)
    if not wholes:
        return known
    return [
        replace(file, kind=InputKind.PART, reason=f"is part of {wholes[file.path.resolve()]}")
        if file.path.resolve() in wholes else file
        for file in known
    ]  # fmt: skip


def own_folder(path: Path) -> Path:
    """Return the folder that has the name of a file without its ending."""
    return path.with_suffix("")


def format_ending(path: Path) -> str:
    """Return the file ending that names the format, without `.gz`: `.jsonl` for `a.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def of_kind(files: Iterable[InputFile], kind: InputKind) -> tuple[InputFile, ...]:
    """Return the files of one kind."""
    return tuple(file for file in files if file.kind is kind)
