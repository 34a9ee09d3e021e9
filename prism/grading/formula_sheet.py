"""Texts that recite laws instead of working a problem: sheets of formulas (semantics C.7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prism.algebra.expr import Formula, plain_parts, symbols_of
from prism.budget import charge_steps

FEWEST = 12  # distinct equations of a sheet
FOREIGN = 0.75  # share of them that speak of what the problem does not name, and the text does not work out


def is_formula_sheet(formulas: Sequence[Formula], known: Collection[str]) -> bool:
    r"""Return True if a solution is a list of laws of which three in four are about nothing that the problem names.

    A law is about the problem if each of its letters is known, or is given by such letters elsewhere in the text. Who
    works a problem out writes chains, a sheet has none.

    Args:
        formulas: all that the solution states.
        known: symbols of the problem and its reference, and of its constants.

    >>> from prism.latex import parse
    >>> laws = [parse(rf"Q_{{{k}}} = {k} X Y") for k in range(20)]
    >>> is_formula_sheet(laws, {"v"}), is_formula_sheet([*laws, parse("X = v"), parse("Y = 2 X")], {"v"})
    (True, False)
    """
    if any(f.kind == "chain" for f in formulas):
        return False
    equations = list(dict.fromkeys(part for f in formulas for part in plain_parts(f) if part.kind == "equation"))
    if len(equations) < FEWEST:
        return False
    charge_steps(len(equations))
    settled = _settled(equations, known)
    foreign = sum(not symbols_of(f) <= settled for f in equations)
    return foreign >= FOREIGN * len(equations)


def _settled(equations: Sequence[Formula], known: Collection[str]) -> set[str]:
    """Return the known symbols, and those that some equation gives by such symbols alone."""
    settled = set(known)
    waiting = {(f.members[0].name, symbols_of(f)) for f in equations if f.members[0].op == "sym"}
    while found := {name for name, names in waiting if name not in settled and names - {name} <= settled}:
        settled |= found
    return settled
