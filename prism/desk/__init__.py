"""A desk: a local page where reference DAGs are written and certified, solutions marked, runs compared.

`files` reads and replaces versions of files, `blocks` and `edits` change a problem file and leave the rest of it as it
is, `reference_view`, `checks` and `solution_text` say what a page shows, `author`, `marking` and `compare_routes` what
its forms do; `app` and the routes put them behind the guard of `prism.server`.
"""

from __future__ import annotations

from prism.errors import needs_extra

try:
    import fastapi as _fastapi  # noqa: F401
    import tomlkit as _tomlkit  # noqa: F401 - so that a missing extra is named, whatever imports it first
except ImportError as missing:
    raise ImportError(needs_extra("the desk needs", "desk")) from missing

from prism.desk.app import HOST, PORT, address_of, create_desk, listen, run

__all__ = ["HOST", "PORT", "address_of", "create_desk", "listen", "run"]
