r"""Reflection: letters that stand in a modulus may be negative, which points with positive ones do not show.

Where letters are positive, `u_2 = (u_1 - |u_1|)/2` says `u_2 = 0`, and so does any multiple of it. The two are told
apart by the same formulas with `-u_1` in place of `u_1`.
"""

from __future__ import annotations

from prism.algebra.expr import Expr, Formula, substituted, symbol, walk
from prism.equivalence.dispatch import compare
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context

_MOST_LETTERS = 3


def review_by_reflection(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Return the verdict on two formulas; `undecided` if they differ where a letter of a modulus is negative.

    Args:
        a, b: the reference and the claim.
        context: kinds of symbols; those that are declared positive stay so.
        verdict: the one so far. Only `equivalent`, and not proved, is looked at.
    """
    if verdict.status != Status.EQUIVALENT or verdict.proof == "proved" or a.kind != b.kind:
        return verdict
    for name in sorted(_folded_letters(a) & _folded_letters(b))[:_MOST_LETTERS]:
        if name in context.symbols or name in context.givens:
            continue
        reflected = {symbol(name): Expr("neg", (symbol(name),))}
        if compare(substituted(a, reflected), substituted(b, reflected), context).status == Status.DIFFERENT:
            return Verdict(Status.UNDECIDED, "unsupported", detail=f"they differ where {name} is negative")
    return verdict


def _folded_letters(f: Formula) -> set[str]:
    """Return the letters of an equation that stand alone in a modulus, and outside of it too: u of `u - |u|`."""
    nodes = [node for member in f.members for node in walk(member)]
    moduli = [node.args[0].name for node in nodes if node.op == "abs" and node.args[0].op == "sym"]
    names = [node.name for node in nodes if node.op == "sym"]
    return {name for name in moduli if names.count(name) > moduli.count(name)}
