"""The images of a row: data URLs are decoded, and files that a data set brings are read, for the folder of a problem.

What an image is, its first bytes say. One that cannot be had is told; that the problem needs one stays in its metadata.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism.authoring.importers.entries import EntryImage
from prism.errors import PrismError
from prism.inputs import read_bytes, shown
from prism.problem.images import MAX_BYTES, MAX_IMAGES, media_type_of

_DATA_URL = re.compile(r"data:[\w/+.-]*(?:;[\w=-]+)*;base64,")
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 80  # characters of a file name


@dataclass(frozen=True, slots=True)
class WrittenImages:
    """The images of a problem: entries of its key `images`, bytes by location, and remarks on the others."""

    entries: tuple[dict[str, str], ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    remarks: tuple[str, ...] = ()


def images_of(name: str, images: Sequence[EntryImage]) -> WrittenImages:
    """Return the images of a problem with a location each: the one they have, else one made from the problem's id.

    Images beyond MAX_IMAGES, without readable content or of an unknown kind have no file; a remark says so of each
    case.
    """
    entries: list[dict[str, str]] = []
    files: list[tuple[str, bytes]] = []
    remarks: list[str] = []
    stem = _NO_NAME.sub("_", name).strip("_")[:_MAX_NAME] or "problem"
    for number, image in enumerate(images[:MAX_IMAGES], start=1):
        try:
            raw = _content(image)
        except PrismError as error:
            remarks.append(f"image {number}: {error}")
            if image.location:
                entries.append(_entry(image.location, image))
            continue
        if not (kind := media_type_of(raw)):
            remarks.append(f"image {number}: is no PNG, JPEG, GIF or WebP")
            continue
        location = image.location or f"{stem}_{number}.{_ENDINGS[kind]}"
        entries.append(_entry(location, image))
        files.append((location, raw))
    if len(images) > MAX_IMAGES:
        remarks.append(f"images {MAX_IMAGES + 1} to {len(images)} are left out: a problem has at most {MAX_IMAGES}")
    return WrittenImages(tuple(entries), tuple(files), tuple(remarks))


def _entry(location: str, image: EntryImage) -> dict[str, str]:
    """Return the entry of a problem's key `images`."""
    return {"location": location, **({"caption": image.caption} if image.caption else {})}


def _content(image: EntryImage) -> bytes:
    """Return the bytes of an image.

    Errors:
        PrismError: no data URL in base64, no such file, or one that is too long.
    """
    if image.url:
        opened = _DATA_URL.match(image.url)
        if opened is None:
            raise PrismError(f"{shown(image.url[:60])} is no data URL in base64, and nothing is fetched")
        if len(image.url) > 2 * MAX_BYTES:
            raise PrismError(f"is longer than {MAX_BYTES} bytes")
        try:
            return base64.b64decode(image.url[opened.end() :], validate=False)
        except (binascii.Error, ValueError) as error:
            raise PrismError(f"its data URL cannot be decoded: {error}") from error
    if image.path is None:
        raise PrismError(f"{shown(image.name)} is not among the files that were fetched")
    return read_bytes(image.path, MAX_BYTES)


def named_images(names: Any, file: Path) -> tuple[EntryImage, ...]:
    """Return the images of a row: data URLs, and files looked for beside its own, in `images/` and the folder above."""
    if isinstance(names, str):
        names = [names] if names.strip() else []
    if not isinstance(names, list | tuple):
        return ()
    return tuple(
        EntryImage(url=name) if str(name).startswith("data:") else _named_image(str(name), file)
        for name in names
        if name
    )


def _named_image(name: str, file: Path) -> EntryImage:
    """Return an image by its name; its path only if the file lies inside of a folder that was fetched."""
    folders = (file.parent, file.parent / "images", file.parent.parent, file.parent.parent / "images")
    for folder in folders:
        path = folder / name
        try:
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return EntryImage(name=name, path=path)
        except (OSError, ValueError):  # a name that no file can have
            break
    return EntryImage(name=name)
