"""Where collected material of others is on this machine: `PRISM_DATA` names the folder; none of it is in the project.

Tests and benchmarks that need it skip with a reason where the variable is not set.
"""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("PRISM_DATA") or "PRISM_DATA is not set")
"""The folder; a path that does not exist where the variable is not set."""
