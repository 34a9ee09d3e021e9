r"""Decide pairs of formulas with one judge: a JSON list `[gold, answer]` a line in, `[status, reason]` a line out.

A status is `equivalent`, `different` or `undecided` (the judge does not read one of them, or gives up). Runs in the
environment of the judge, which its first argument names. A line that takes more than five seconds of processor time
ends the process, and whoever started it starts it anew; a busy machine changes nothing.

Each rival in its best documented configuration. What only reads LaTeX is completed to a judge by `same`, which asks
sympy for what a physicist means: symbols positive, `i` the imaginary unit where it is alone, decimals exact, two
equations the same if the quotient of their residuals simplifies to something that has a sign, or if solving both for
one symbol gives the same.

    .venv-bench/bin/python -I benchmarks/rivals/judge.py math-verify
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

TIME_LIMIT = 5.0  # seconds of processor time a pair
PATIENCE = 60  # seconds by the clock; given to the rival that has alarms of its own, so that the limit above decides
_MAX_REASON = 200
_NEARLY = 1e-9  # relative, between numbers: a suite writes 0.0833333333333333 for 1/12

Outcome = tuple[str, str]  # status and reason
Judge = Callable[[str, str], Outcome]


# PRISM --------------------------------------------------------------------------------------------------------


def prism() -> Judge:
    """Ours, compiled kernels, nothing told about the problem."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import prism

    prism.warm()

    def decide(gold: str, answer: str) -> Outcome:
        verdict = prism.equivalent(gold, answer)
        detail = verdict.detail.partition("\n")[0]
        return verdict.status, f"{verdict.reason}: {detail}" if detail else verdict.reason

    return decide


# Math-Verify --------------------------------------------------------------------------------------------------


def math_verify(*, strict: bool = True, gold_first: bool = True) -> Callable[[], Judge]:
    """Its `parse` for LaTeX and expressions on formulas between dollars, its `verify`: as its documentation says."""

    def make() -> Judge:
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

        wanted = (LatexExtractionConfig(), ExprExtractionConfig())

        def decide(gold: str, answer: str) -> Outcome:
            found = [parse(f"${latex}$", wanted, parsing_timeout=PATIENCE) for latex in (gold, answer)]
            one, two = found if gold_first else found[::-1]
            if verify(one, two, strict=strict, timeout_seconds=PATIENCE):
                return "equivalent", ""
            if not all(any(not isinstance(item, str) for item in items) for items in found):
                return "undecided", "not read"
            return "different", ""

        return decide

    return make


# Readers of LaTeX, completed by sympy -------------------------------------------------------------------------

Read = Callable[[str], Sequence[Any]]  # all readings of a formula, one but where it is ambiguous


def extended() -> Read:
    """latex2sympy2_extended, set for physics: capitals kept apart, degrees counted."""
    from latex2sympy2_extended import NormalizationConfig, latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    config = ConversionConfig(lowercase_symbols=False)
    repaired = NormalizationConfig(basic_latex=True, malformed_operators=True, nits=True)

    def read(latex: str) -> Sequence[Any]:
        try:
            return (latex2sympy(latex, convert_degrees=True, conversion_config=config),)
        except Exception:  # noqa: BLE001 - repairing reads `\\frac12`, and breaks `\\frac{\\sqrt\\pi}2`: second
            return (latex2sympy(latex, convert_degrees=True, normalization_config=repaired, conversion_config=config),)

    return read


def original() -> Read:
    """latex2sympy2: an equality is written `==`, since it solves `a = b` and remembers it."""
    import latex2sympy2 as reader

    def read(latex: str) -> Sequence[Any]:
        reader.set_variances({})
        return (reader.latex2sympy(_LONE_EQUALS.sub("==", latex)),)

    return read


_LONE_EQUALS = re.compile(r"(?<![=!<>:_{,])=(?!=)(?![^{}]*\})")  # not those in braces: limits of sums, labels


def lark() -> Read:
    """The newer parser of sympy; where a formula has several readings it gives them all."""
    import lark
    from sympy.parsing.latex import parse_latex

    def read(latex: str) -> Sequence[Any]:
        found = parse_latex(latex, backend="lark")
        return found.children if isinstance(found, lark.Tree) else (found,)

    return read


def simplified(reader: Callable[[], Read]) -> Callable[[], Judge]:
    """A reader with `same`."""

    def make() -> Judge:
        read = reader()

        def decide(gold: str, answer: str) -> Outcome:
            try:
                golds, answers = read(gold), read(answer)
            except Exception as error:  # noqa: BLE001 - whatever a rival raises is a formula it does not read
                return "undecided", f"not read: {type(error).__name__}: {error}"
            try:
                found = any(same(prepared(a), prepared(b)) for a in golds for b in answers)
            except Exception as error:  # noqa: BLE001 - the same
                return "undecided", f"{type(error).__name__}: {error}"
            return ("equivalent" if found else "different"), ""

        return decide

    return make


def prepared(node: Any) -> Any:
    """What a reader gave, evaluated; several formulas in one as a list."""
    import sympy

    if isinstance(node, list | tuple | set | frozenset | sympy.FiniteSet | sympy.Tuple | sympy.And):
        return [prepared(item) for item in (node.args if isinstance(node, sympy.Basic) else node)]
    if isinstance(node, sympy.Eq) and isinstance(node.rhs, sympy.FiniteSet):  # x = \pm y
        return [prepared(sympy.Eq(node.lhs, value, evaluate=False)) for value in node.rhs.args]
    if isinstance(node, bool | sympy.logic.boolalg.BooleanAtom) or not isinstance(node, sympy.Basic | sympy.MatrixBase):
        raise TypeError(f"no formula: {node}")  # `False` is what sympy makes of a matrix that a letter equals
    if isinstance(node, sympy.core.relational.Relational):
        return type(node)(prepared(node.lhs), prepared(node.rhs), evaluate=False)
    meant = {sign: sympy.Symbol(sign.name, positive=True) for sign in node.free_symbols}
    meant |= {sign: sympy.I for sign in meant if sign.name == "i"}
    node = sympy.nsimplify(node.subs(meant), rational=True)  # 1.3^2 is 1.69, and not nearly
    if isinstance(node, sympy.MatrixBase):
        return node.doit()
    euler = sympy.Symbol("e", positive=True)
    node = node.replace(
        lambda part: isinstance(part, sympy.Pow) and part.base == euler and not part.exp.is_Integer,
        lambda part: sympy.exp(part.exp),
    )
    # a derivative of a symbol is no zero: x depends on t
    node = node.replace(
        lambda part: isinstance(part, sympy.Derivative) and not part.expr.free_symbols & set(part.variables),
        lambda part: sympy.Symbol(str(part), real=True),
    )
    return node.doit()


def same(a: Any, b: Any) -> bool:
    """Whether two formulas say the same, by sympy."""
    import sympy

    if isinstance(a, list) or isinstance(b, list):
        return _same_lists(a if isinstance(a, list) else [a], b if isinstance(b, list) else [b])
    one, two = (isinstance(node, sympy.core.relational.Relational) for node in (a, b))
    if one and two:
        return _same_relations(a, b)
    if two and isinstance(b, sympy.Eq) and b.lhs.is_Symbol:
        return same(a, b.rhs)
    if one and isinstance(a, sympy.Eq) and a.lhs.is_Symbol:
        return same(a.rhs, b)
    if one or two:
        return False
    return bool(a == b) or _is_zero(a, b)


def _same_lists(a: list[Any], b: list[Any]) -> bool:
    """The same formulas, in any order."""
    left = list(b)
    for item in a:
        partner = next((other for other in left if same(item, other)), None)
        if partner is None:
            return False
        left.remove(partner)
    return not left


def _is_zero(a: Any, b: Any) -> bool:
    """Whether a difference simplifies to zero; of two numbers, to nearly zero."""
    import sympy

    matrices = [isinstance(node, sympy.MatrixBase) for node in (a, b)]
    if any(matrices):
        return all(matrices) and a.shape == b.shape and sympy.simplify(a - b).is_zero_matrix is True
    difference = sympy.simplify(a - b)
    if difference.is_number and difference != 0:
        return bool(abs(sympy.N(difference)) <= _NEARLY * abs(sympy.N(a)))
    return bool(difference == 0)


def _same_relations(a: Any, b: Any) -> bool:
    """Equations, inequalities, inequations: their residuals have the same zeros or the same sign."""
    import sympy

    if isinstance(a, sympy.Lt | sympy.Le):
        a = a.reversed
    if isinstance(b, sympy.Lt | sympy.Le):
        b = b.reversed
    if type(a) is not type(b):
        return False
    if a.lhs == b.lhs and same(a.rhs, b.rhs):
        return True
    if any(isinstance(side, sympy.MatrixBase) for relation in (a, b) for side in relation.args):
        return False
    one, two = a.lhs - a.rhs, b.lhs - b.rhs
    if one.free_symbols != two.free_symbols:
        return False
    ratio = sympy.simplify(one / two)
    if one.is_real and one.is_zero is False and not ratio.is_number:
        return False  # no zero among positive numbers: the sign of the quotient says nothing
    if isinstance(a, sympy.Gt | sympy.Ge):
        return bool(ratio.is_positive)
    return bool(ratio.is_positive or ratio.is_negative) or _same_solutions(one, two, a.lhs)


def _same_solutions(one: Any, two: Any, subject: Any) -> bool:
    """Both solved for one symbol: the reference's subject, else the first by name."""
    import sympy

    target = min(one.free_symbols, key=lambda name: (name != subject, str(name)))
    if one.has(sympy.I) or two.has(sympy.I):
        one, two = one.subs(target, plain := sympy.Dummy(target.name)), two.subs(target, plain)
        target = plain
    found = [sympy.solve(residual, target) for residual in (one, two)]
    return bool(found[0]) and _same_lists(*found)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who can be asked.

    Attributes:
        make: loads it, in its own process.
        packages: whose versions it names.
        environment: the reader whose environment it runs in; empty for PRISM's own.
    """

    make: Callable[[], Judge]
    packages: tuple[str, ...]
    environment: str = "latex2sympy2_extended"


_VERIFIED = ("math-verify", "latex2sympy2_extended", "sympy")
JUDGES = {
    "prism": Candidate(prism, ("numba", "numpy"), ""),
    "math-verify": Candidate(math_verify(), _VERIFIED),
    "math-verify, answer first": Candidate(math_verify(gold_first=False), _VERIFIED),
    "math-verify, not strict": Candidate(math_verify(strict=False), _VERIFIED),
    "math-verify, not strict, answer first": Candidate(math_verify(strict=False, gold_first=False), _VERIFIED),
    "latex2sympy2_extended + simplify": Candidate(simplified(extended), ("latex2sympy2_extended", "sympy")),
    "latex2sympy2 + simplify": Candidate(simplified(original), ("latex2sympy2", "sympy"), "latex2sympy2"),
    "sympy's parser + simplify": Candidate(simplified(lark), ("sympy", "lark")),
}


def main() -> int:
    chosen = JUDGES[sys.argv[1]]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what a judge itself prints is no answer
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    decide = chosen.make()
    print(json.dumps({package: metadata.version(package) for package in chosen.packages}), file=out, flush=True)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)  # nobody handles its signal, so it ends the process
        with contextlib.redirect_stderr(None):
            status, reason = decide(*json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([status, reason[:_MAX_REASON]]), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
