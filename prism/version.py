"""The version of PRISM: it stands here once, and `pyproject.toml` reads it."""

__version__ = "0.1.0"
