"""Grades over HTTP: `create_app` makes the application, `run` serves it.

`guard` bounds what comes in before it is parsed, `service` has solutions graded by worker processes, and `app` has the
requests and the routes.
"""

from __future__ import annotations

try:
    import fastapi as _fastapi  # noqa: F401 - so that a missing extra is named, whatever imports it first
except ImportError as missing:
    raise ImportError('the server needs the extra: pip install "prism-dag[serve]"') from missing

from prism.server.app import GRACE, HOST, LEAST_TOKEN, PORT, check_token, create_app, is_loopback, run
from prism.server.guard import InFlight, Limits, RequestGuard
from prism.server.service import GradingService

__all__ = [
    "GRACE", "HOST", "LEAST_TOKEN", "PORT", "GradingService", "InFlight", "Limits", "RequestGuard", "check_token",
    "create_app", "is_loopback", "run",
]  # fmt: skip
