"""Zip archives in which office programs write, read part by part with their sizes bounded before anything is unpacked.

What an archive says of a part's size is not believed: no more is unpacked than may be, whatever it says.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from prism.errors import PrismError

MAX_PART = 16_000_000  # bytes of one part, unpacked
MAX_UNPACKED = 32_000_000  # bytes of all parts that are read of one archive
MAX_PARTS = 5_000  # names in one archive
_MAX_RATIO = 400  # of a part to what it is packed in, above a size that any text may have; XML of formulas has 20 to 60
_ANY_RATIO = 1_000_000  # bytes


class Archive:
    """The parts of a zip archive by their names."""

    def __init__(self, raw: bytes) -> None:
        """Read the list of parts.

        Errors:
            PrismError: no zip archive; more parts than are read.
        """
        try:
            self._file = ZipFile(BytesIO(raw))
        except (BadZipFile, ValueError, OSError, EOFError, NotImplementedError, UnicodeDecodeError) as error:
            raise PrismError(f"is damaged: {error}") from error
        self.names = frozenset(self._file.namelist())
        self._left = MAX_UNPACKED
        if len(self.names) > MAX_PARTS:
            raise PrismError(f"has more than {MAX_PARTS} parts")

    def read(self, name: str) -> bytes:
        """Return a part, unpacked.

        Errors:
            PrismError: no such part; one that is damaged, has a password, or unpacks to more than is read.
        """
        try:
            packed = self._file.getinfo(name).compress_size
            most = min(MAX_PART, self._left, max(_ANY_RATIO, packed * _MAX_RATIO))
            with self._file.open(name) as part:
                found = part.read(most + 1)
        except KeyError:
            raise PrismError(f"has no part {name}") from None
        except (BadZipFile, zlib.error, ValueError, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise PrismError(f"is damaged: {name}: {error}") from error
        if len(found) > most:
            raise PrismError(f"unpacks to more than {most} bytes in its part {name}")
        self._left -= len(found)
        return found
