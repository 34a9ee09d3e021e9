"""The solver of symengine, in the place of sympy's in Algorithm 1 (`tests/reference.py`).

symengine solves polynomials up to the fourth degree, and some equations that become one. It is faster than sympy and
knows less: a root or a logarithm of the target is beyond it, and of some (`sqrt(x) = 3`) it says that there is no
solution.
"""

from __future__ import annotations

from typing import Any

from tests.reference import TOLERANCE


def positive_solutions(zero: Any, target: Any) -> list[float]:
    """Positive solutions for a symbol, as `tests.reference.positive_solutions` gives those of sympy.

    Errors:
        NotImplementedError: an equation that symengine does not solve.
    """
    import symengine
    from symengine.lib.symengine_wrapper import EmptySet, FiniteSet, solve

    try:
        found = solve(symengine.sympify(zero), symengine.Symbol(target.name))
        if isinstance(found, EmptySet):
            return []
        if not isinstance(found, FiniteSet):
            raise NotImplementedError(type(found).__name__)
        numbers = [complex(each.n(53)) for each in found.args]
    except (RuntimeError, TypeError, ValueError) as fault:
        raise NotImplementedError(str(fault)) from fault
    return [each.real for each in numbers if each.real > 0 and abs(each.imag) <= TOLERANCE * each.real]
