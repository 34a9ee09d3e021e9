"""The terms of a sum, for modules below the expressions too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prism.algebra.expr import Expr


def terms_of(node: Expr) -> Iterator[Expr]:
    """Yield the terms of nested sums that are not in a function, without their signs."""
    if node.op in ("add", "sub", "neg"):
        for arg in node.args:
            yield from terms_of(arg)
    else:
        yield node
