"""What the scripts have alike: the options that all of them take, data that is not here, and how a result is told."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

NO_DATA = 77  # exit code of a script whose data is not on this machine


def parser(about: str | None, *, data: Path | None = None) -> argparse.ArgumentParser:
    """Return the parser of a script: `--json`, and `--data` where it reads a folder."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", action="store_true", help="one JSON object instead of a report")
    if data is not None:
        made.add_argument("--data", type=Path, default=data, help="folder with the material that is measured on")
    return made


def require(*paths: Path) -> None:
    """Exit with `NO_DATA` unless all files and folders are here."""
    if absent := [str(path) for path in paths if not path.exists()]:
        print(f"{', '.join(absent)}: not here; nothing measured", file=sys.stderr)
        raise SystemExit(NO_DATA)


def tell(result: dict[str, Any], show: Callable[[dict[str, Any]], None], *, as_json: bool) -> None:
    """Print a result as one line of JSON, or as the script shows it."""
    if as_json:
        print(json.dumps(result, sort_keys=True))
    else:
        show(result)
