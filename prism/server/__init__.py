"""Grades over HTTP: `create_app` makes the application, `run` serves it.

`connections` bounds what a connection may do, `guard` what comes in before it is parsed; `app` has the requests and the
routes, `service` finds problems and makes rows, and `scheduler` with `fair_queue` says which solution a worker process
grades next; `metrics` counts, and `page` shows the routes.
"""

from __future__ import annotations

from prism.errors import needs_extra

try:
    import fastapi as _fastapi  # noqa: F401 - so that a missing extra is named, whatever imports it first
except ImportError as missing:
    raise ImportError(needs_extra("the server needs", "serve")) from missing

from prism.server.app import GRACE, HOST, LEAST_TOKEN, PORT, check_token, create_app, run
from prism.server.guard import InFlight, Limits, RequestGuard, is_loopback
from prism.server.service import GradingService

__all__ = [
    "GRACE", "HOST", "LEAST_TOKEN", "PORT", "GradingService", "InFlight", "Limits", "RequestGuard", "check_token",
    "create_app", "is_loopback", "run",
]  # fmt: skip
