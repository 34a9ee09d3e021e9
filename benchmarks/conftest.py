"""Benchmarks run in one process, whatever the tests do: pytest-benchmark refuses to time beside others."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Turn off the processes of pytest-xdist, which `pyproject.toml` asks for."""
    config.option.numprocesses = 0
    config.option.dist = "no"
