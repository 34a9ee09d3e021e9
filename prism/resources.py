"""Find the shipped data (`grammar/`, `constants/`, `dags/`) in a wheel and in a checkout.

The data folders stand at the root of the repository, where people who do not program find them. A wheel
carries them as `prism/data/...`; an editable install and a checkout read them where they stand.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """Return the path of a shipped file or folder.

    Args:
        name: path below the data root, with forward slashes, e.g. `constants/units.toml`.

    Errors:
        FileNotFoundError: the installation lacks it (a broken wheel, never a user's mistake).

    >>> resource("grammar").is_dir()
    True
    """
    for root in (_PACKAGE / "data", _PACKAGE.parent):
        path = root / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name}: not in {_PACKAGE / 'data'} nor in {_PACKAGE.parent}; reinstall prism-dag")
