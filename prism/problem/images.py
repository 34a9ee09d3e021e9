r"""The figures of a problem: which files its entry `images` names, and their content.

An entry has the shape that the dataset publishes, `{ location = "1.png", caption = "the ramp" }`. A location is the
path of a file beside the problem file or below it; nothing else is ever opened, neither through `..` nor through a
link, so that a problem from a stranger shows no file of the reader's. A grade never looks at an image: what is wrong
with one is a warning of the load, or told by `prism lint`.

Refused: addresses of the network (nothing is fetched), SVG (a document that may hold scripts, which no model reads),
and the ending of a name as the kind of an image: the first bytes say it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath

from prism.errors import PrismError
from prism.inputs import read_bytes, shown
from prism.problem.shapes import TOML, LoadReport, Text, quoted_value, read_shape
from prism.problem.source import Table

MAX_IMAGES = 32  # of a problem; a prompt with more would hold nothing else
MAX_BYTES = 8_000_000  # of a file; as data URL a third more, which most endpoints still take
_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_NO_FOLDER = "the problem was read from no file, so there is no folder to find it in"


@dataclass(frozen=True, slots=True)
class ProblemImage:
    """A figure of a problem.

    Attributes:
        location: as the problem file names it: a path relative to its own folder.
        caption: empty where the file has none.
        folder: of the problem file; None if the problem was read from no file.
    """

    location: str
    caption: str = ""
    folder: Path | None = field(default=None, compare=False)  # where a problem stands is no part of what it says


@dataclass(frozen=True, slots=True)
class _Entry:
    """An image in a problem file."""

    location: Text
    caption: Text = ""


@dataclass(frozen=True, slots=True)
class ImageContent:
    """The bytes of an image and their media type, such as `image/png`."""

    raw: bytes
    media_type: str

    @property
    def data_url(self) -> str:
        """The image as a `data:` URL, which pages and chat messages hold in place of a file."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.raw).decode('ascii')}"


def read_images(data: Table, folder: Path | None, report: LoadReport) -> tuple[ProblemImage, ...]:
    """Return the images that a problem names, in file order; an entry that names none is left out with a warning.

    Args:
        data: the table of the problem.
        folder: of its file; None if there is none.
    """
    listed = data.get("images")
    if listed is None:
        return ()
    if not isinstance(listed, list | tuple):
        report.warnings.append(f"images: {quoted_value(listed)} is no list; no image is shown")
        return ()
    found: list[ProblemImage] = []
    for place, entry in enumerate(listed[:MAX_IMAGES], start=1):
        where = f"images, entry {place}"
        location = entry.get("location") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(location, str) or not location.strip():
            report.warnings.append(f'{where}: names no file; write {{ location = "1.png", caption = "..." }}')
            continue
        own = LoadReport([], [])
        caption = read_shape(_Entry, entry, own, replace(TOML, where=where)).caption
        report.warnings += own.warnings + own.faults
        if fault := _location_fault(location):
            report.warnings.append(f"{where}, location: {shown(location)} {fault}")
        found.append(ProblemImage(location, caption.strip(), folder))
    if len(listed) > MAX_IMAGES:
        report.warnings.append(f"images: {len(listed)} entries; at most {MAX_IMAGES} are shown")
    return tuple(found)


def is_beside(image: ProblemImage) -> bool:
    """Return True if the location of an image names a file beside the problem file or below it, there or not."""
    return not _location_fault(image.location)


def image_path(image: ProblemImage) -> Path:
    """Return the path of an image: its location, below the folder of its problem file.

    Errors:
        PrismError: the problem has no folder, the location leads out of it, or no file is there.
    """
    if fault := _location_fault(image.location):
        raise PrismError(f"image {shown(image.location)} {fault}")
    if image.folder is None:
        raise PrismError(f"image {shown(image.location)}: {_NO_FOLDER}")
    path = image.folder / image.location
    try:
        is_inside = path.resolve().is_relative_to(image.folder.resolve())
        is_there = path.is_file()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have; links in a circle
        is_inside, is_there = True, False
    if not is_inside:
        raise PrismError(f"image {shown(image.location)} is a link out of the folder of the problem file")
    if not is_there:
        raise PrismError(f"image {shown(image.location)}: no such file beside the problem file")
    return path


def image_content(image: ProblemImage) -> ImageContent:
    """Read an image.

    Errors:
        PrismError: as of `image_path`; a file that is too long, or no PNG, JPEG, GIF or WebP.
    """
    path = image_path(image)
    try:
        raw = read_bytes(path, MAX_BYTES)
    except PrismError as error:
        raise PrismError(f"image {shown(image.location)} {error}") from error
    kind = media_type_of(raw)
    if not kind:
        raise PrismError(f"image {shown(image.location)} is no PNG, JPEG, GIF or WebP")
    return ImageContent(raw, kind)


def media_type_of(raw: bytes) -> str:
    """Return the media type of an image by its first bytes; empty if it is no PNG, JPEG, GIF or WebP.

    >>> media_type_of(b"GIF89a"), media_type_of(b"<svg>")
    ('image/gif', '')
    """
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS.items() if raw.startswith(start)), "")


def _location_fault(location: str) -> str:
    """Return why a location names no file below the folder of its problem file; empty if it may."""
    is_absolute = PurePosixPath(location).is_absolute() or bool(PureWindowsPath(location).anchor)
    if "://" in location or location.startswith("data:"):
        return "is an address, and nothing is fetched; put the file beside the problem file"
    if is_absolute or ".." in PurePosixPath(location.replace("\\", "/")).parts:
        return "leads out of the folder of the problem file, and is not read"
    return "holds a null character" if "\0" in location else ""
