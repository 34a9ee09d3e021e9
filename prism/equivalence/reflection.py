r"""Reflection: letters that stand in a modulus may be negative, which points with positive ones do not show.

Where letters are positive, `u_2 = (u_1 - |u_1|)/2` says `u_2 = 0`, and so does any multiple of it. The two are told
apart by the same formulas with `-u_1` in place of `u_1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prism.algebra.expr import Expr, Formula, substituted, symbol, walk
from prism.physics.context import Context

_MOST_LETTERS = 3


def reflections(a: Formula, b: Formula, context: Context) -> Iterator[tuple[str, Formula, Formula]]:
    """Yield each letter that both formulas have in a modulus and outside of it, and both with its negative instead.

    A letter that the problem declares or gives a value keeps its sign.
    """
    for name in sorted(_folded_letters(a) & _folded_letters(b))[:_MOST_LETTERS]:
        if name not in context.symbols and name not in context.givens:
            reflected = {symbol(name): Expr("neg", (symbol(name),))}
            yield name, substituted(a, reflected), substituted(b, reflected)


def _folded_letters(f: Formula) -> set[str]:
    """Return the letters of an equation that stand alone in a modulus, and outside of it too: u of `u - |u|`."""
    nodes = [node for member in f.members for node in walk(member)]
    moduli = [node.args[0].name for node in nodes if node.op == "abs" and node.args[0].op == "sym"]
    names = [node.name for node in nodes if node.op == "sym"]
    return {name for name in moduli if names.count(name) > moduli.count(name)}
