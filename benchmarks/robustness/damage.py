"""Ways in which the parts of an interrupted run may be damaged; each leaves the folder of parts as something else.

What can be resumed after them has to be the bytes of an undisturbed run: a row that cannot be read, or that belongs
elsewhere, is graded again.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.rows"))


def _drawn(folder: Path, generator: random.Random) -> Path:
    return generator.choice(_parts(folder))


def cut(folder: Path, generator: random.Random) -> None:
    """Each part ends somewhere in a row."""
    for path in _parts(folder):
        raw = path.read_bytes()
        path.write_bytes(raw[: generator.randrange(len(raw))])


def emptied(folder: Path, generator: random.Random) -> None:
    """A part is empty."""
    _drawn(folder, generator).write_bytes(b"")


def removed(folder: Path, generator: random.Random) -> None:
    """A part is gone."""
    _drawn(folder, generator).unlink()


def garbage(folder: Path, generator: random.Random) -> None:
    """A part holds chance bytes, another one text with tabs."""
    _drawn(folder, generator).write_bytes(generator.randbytes(5000))
    _drawn(folder, generator).write_bytes(
        b"0\tkey\t00000000\t{}\n\xff\t\xff\t\xff\t\xff\n" + b"9" * 9000 + b"\tk\t\t\n"
    )


def zeros(folder: Path, generator: random.Random) -> None:
    """The end of a part is zeros, as after a loss of power."""
    path = _drawn(folder, generator)
    raw = path.read_bytes()
    at = generator.randrange(len(raw))
    path.write_bytes(raw[:at] + bytes(len(raw) - at))


def bits(folder: Path, generator: random.Random) -> None:
    """In every tenth line or so one bit is another: in a number, a key, a checksum or a row."""
    for path in _parts(folder):
        lines = path.read_bytes().split(b"\n")
        for k, line in enumerate(lines):
            if line and generator.random() < 0.1:
                changed = bytearray(line)
                at = generator.randrange(min(len(changed), 100) if generator.random() < 0.5 else len(changed))
                changed[at] ^= 1 << generator.randrange(8)
                lines[k] = bytes(changed)
        path.write_bytes(b"\n".join(lines))


def shuffled(folder: Path, generator: random.Random) -> None:
    """Lines stand in another order, some of them twice, and in other parts."""
    lines = [line for path in _parts(folder) for line in path.read_bytes().split(b"\n") if line]
    lines += generator.sample(lines, len(lines) // 3)
    generator.shuffle(lines)
    parts = _parts(folder)
    for k, path in enumerate(parts):
        path.write_bytes(b"".join(line + b"\n" for line in lines[k :: len(parts)]))


def exchanged(folder: Path, generator: random.Random) -> None:
    """Rows stand behind the numbers and keys of others."""
    path = _drawn(folder, generator)
    fields = [line.split(b"\t", 3) for line in path.read_bytes().split(b"\n") if line]
    rows = [line[2:] for line in fields]
    moved = zip(fields, rows[1:] + rows[:1], strict=True)
    path.write_bytes(b"".join(b"\t".join([*line[:2], *row]) + b"\n" for line, row in moved))


def renamed(folder: Path, _generator: random.Random) -> None:
    """The first and the last part have each other's name."""
    first, *_, last = [*_parts(folder), *_parts(folder)]
    held = folder / "held"
    first.rename(held)
    if last.exists():
        last.rename(first)
    held.rename(last)


def folders(folder: Path, generator: random.Random) -> None:
    """A part, the lock and the file that becomes the output are folders, with something in them."""
    for path in (_drawn(folder, generator), folder / "lock", folder / "whole"):
        path.unlink(missing_ok=True)
        (path / "inside").mkdir(parents=True)
        (path / "inside" / "file").write_bytes(b"x")


def links(folder: Path, generator: random.Random) -> None:
    """A part is a link that leads nowhere."""
    path = _drawn(folder, generator)
    path.unlink()
    path.symlink_to(folder / "nowhere")


def read_only(folder: Path, _generator: random.Random) -> None:
    """All parts may be read only (for who may write everything, they are as before)."""
    for path in _parts(folder):
        path.chmod(0o444)


def strangers(folder: Path, _generator: random.Random) -> None:
    """Files that no run has written stand beside the parts."""
    (folder / "notes.txt").write_bytes(b"x")
    (folder / "999999.rows").write_bytes(b"x" * 100)
    (folder / "abc.rows").write_bytes(b"0\tx\t0\tx\n")
    (folder / "sub").mkdir()


def nothing(folder: Path, _generator: random.Random) -> None:
    """The folder is empty."""
    shutil.rmtree(folder)
    folder.mkdir()


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    each.__name__: each
    for each in (
        cut, emptied, removed, garbage, zeros, bits, shuffled, exchanged, renamed, folders, links, read_only, strangers,
        nothing,
    )
}  # fmt: skip
