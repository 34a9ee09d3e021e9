"""The folder of caches: where it is, and who may have written there."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from prism import resources
from prism.resources import cache_folder, private_folder, why_not_private

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {"XDG_CACHE_HOME": "/var/tmp/xdg"}, "/var/tmp/xdg/prism"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/prism"),
        ("linux", {"PRISM_CACHE_DIR": "/here"}, "/here"),
        ("linux", {"PRISM_CACHE_DIR": ""}, "/home/me/.cache/prism"),
        ("darwin", {"XDG_CACHE_HOME": "/var/tmp/xdg"}, "/home/me/Library/Caches/prism"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/prism/Cache"),
    ],
)
def test_where_it_is(platform: str, variables: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRISM_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(wanted)


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    for name in ("PRISM_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder() is None
    monkeypatch.setattr(sys, "platform", "win32")
    assert cache_folder() is None
    assert private_folder(None) is None
    assert private_folder(tmp_path / "chosen") == (tmp_path / "chosen").resolve()


def test_it_is_made_for_its_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "new" / "cache")
    finally:
        os.umask(before)
    assert made == (tmp_path / "new" / "cache").resolve()
    assert made is not None
    assert [stat.S_IMODE(place.stat().st_mode) for place in (made.parent, made)] == [0o700, 0o700]


@pytest.mark.parametrize(
    ("folder", "above", "is_safe"),
    [
        (0o700, 0o755, True), (0o755, 0o755, True), (0o770, 0o755, False), (0o757, 0o755, False),
        (0o1777, 0o755, False),  # others may have put a file there that we have not
        (0o755, 0o777, False), (0o755, 0o757, False),  # others can put another folder in its place
        (0o755, 0o1777, True),  # as in /tmp, they cannot
    ],
)  # fmt: skip
def test_mode_of_the_folder_and_above(
    folder: int, above: int, is_safe: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "above" / "cache"
    place.mkdir(parents=True)
    place.chmod(folder)
    place.parent.chmod(above)
    assert (private_folder(place) == place.resolve()) == is_safe
    assert private_folder(place) is None or is_safe
    told = capsys.readouterr().err.splitlines()
    assert len(told) == (0 if is_safe else 1)
    assert all(str(place) in line and "can be written by others (mode" in line for line in told)


def test_a_group_with_one_member_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "above" / "cache"
    place.mkdir(parents=True)
    place.chmod(0o755)
    place.parent.chmod(0o775)
    for is_alone in (True, False):
        monkeypatch.setattr(resources, "_is_alone_in_group", lambda _, answer=is_alone: answer)
        assert (why_not_private(place.resolve()) is None) == is_alone


def test_the_owner_counts_whatever_the_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    own = place.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: own + 4711)
    if own == 0:  # what root has written is trusted
        assert why_not_private(place.resolve()) is None
        os.chown(place, 4712, -1)
        own = 4712
    assert why_not_private(place.resolve()) == f"{place.resolve()} belongs to another user ({own})"


def test_a_link_is_followed_to_where_the_files_are(tmp_path: Path) -> None:
    there = tmp_path / "open" / "cache"
    there.mkdir(parents=True)
    (tmp_path / "link").symlink_to(there)
    assert private_folder(tmp_path / "link") == there.resolve()
    there.parent.chmod(0o777)
    assert private_folder(tmp_path / "link") is None


def test_above_the_home_nothing_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many containers what is above belongs to nobody that exists inside."""
    place = tmp_path / "above" / "home" / "cache"
    place.mkdir(parents=True)
    place.parent.parent.chmod(0o777)
    assert why_not_private(place.resolve())
    monkeypatch.setenv("HOME", str(place.parent))
    assert why_not_private(place.resolve()) is None


def test_without_stderr_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    tmp_path.chmod(0o777)
    assert private_folder(tmp_path) is None


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert private_folder(tmp_path / "file" / "below") is None
