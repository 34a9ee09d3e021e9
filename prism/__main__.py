"""`python -m prism`: the console script under a name that no other installed program can take."""

from __future__ import annotations

from prism.cli import main

if __name__ == "__main__":
    main()
