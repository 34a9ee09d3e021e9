"""The decision: properties that hold for every formula, and the slow twin."""

from __future__ import annotations

import json
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prism.algebra.expr import Expr, Formula, formula, number, symbol, symbols
from prism.engine import kernels
from prism.engine.zero_set import ORDINARY, Sampling, draws
from prism.equivalence.dispatch import compare
from prism.equivalence.matching import equivalent
from prism.equivalence.points.zero_sets import compare_with_itself
from prism.equivalence.verdict import REASONS, STAGES, Stage, Status, Verdict
from prism.physics.context import Context, parse
from tests import reference
from tests.support import strategies

CASES = Path(__file__).parents[1] / "cases" / "equivalence"


def renamed(f: Formula, names: dict[str, str]) -> Formula:
    from prism.algebra.expr import substitute

    table = {symbol(old): symbol(new) for old, new in names.items()}
    return formula(tuple(substitute(member, table) for member in f.members), f.relations)


def test_a_reason_that_is_not_listed_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a reason"):
        Verdict(Status.DIFFERENT, "because")


def test_reasons_say_something() -> None:
    assert all(text and text[0].islower() for text in REASONS.values())


@given(strategies.equations)
def test_every_equation_is_itself_or_says_nothing(f: Formula) -> None:
    verdict = compare(f, f)
    excused = ("identity", "too_few_points", "below_rounding", "too_large")
    assert verdict.status == "equivalent" or verdict.reason in excused


@given(strategies.equations, strategies.equations)
def test_the_decision_is_symmetric(a: Formula, b: Formula) -> None:
    one, other = compare(a, b), compare(b, a)
    assert (one.status, one.reason) == (other.status, other.reason)


@given(strategies.equations, st.integers(2, 9))
def test_both_sides_times_a_number_change_nothing(f: Formula, k: int) -> None:
    scaled = formula(tuple(Expr("mul", (number(k), member)) for member in f.members), f.relations)
    whole, part = compare(f, f).status, compare(f, scaled).status
    assert part in (whole, "undecided")  # x = x + x^2 is found equal word for word only: its zero is double


@given(strategies.equations)
def test_renaming_all_symbols_changes_no_status(f: Formula) -> None:
    names = dict(zip(strategies.NAMES, ("p", "q", "r"), strict=True))
    g = renamed(f, names)
    swapped = formula(f.members[::-1], f.relations)
    assert compare(f, swapped).status == compare(g, formula(g.members[::-1], g.relations)).status


@given(strategies.equations, st.sampled_from((2, 3, Fraction(1, 2))))
def test_a_factor_on_one_side_is_never_equivalent(f: Formula, k: Fraction) -> None:
    left, right = f.members
    assume(symbols(left, right))
    wrong = formula((left, Expr("mul", (number(k), right))), f.relations)
    verdict = compare(f, wrong)
    # `x = 0 * y` keeps its zeros under any factor; everything else loses them
    assert verdict.status != "equivalent" or compare(f, formula((left, number(0)), ("=",))).status == "equivalent"


@pytest.mark.slow  # the twin is slow
@settings(max_examples=40)
@given(strategies.equations, strategies.equations)
def test_the_slow_twin_agrees(a: Formula, b: Formula) -> None:
    """Where both decide: the twin sees positive simple roots only, so it may call equal what differs elsewhere."""
    names = tuple(sorted(symbols(*a.members, *b.members)))
    assume(names and symbols(*a.members) == symbols(*b.members))
    points = [{name: 0.3 + 1.7 * k + 0.37 * v for v, name in enumerate(names)} for k in range(2)]
    slow = reference.equivalent(a, b, names, points)
    fast = compare(a, b).status
    if slow is False:
        assert fast != "equivalent"
    if slow is True and fast == "different":
        witness = compare(a, b).witness
        assert witness is None or reference_disagrees(a, b, witness.satisfies, dict(witness.point))


def reference_disagrees(a: Formula, b: Formula, satisfies: str, point: dict[str, float]) -> bool:
    """The witness really satisfies one formula and not the other, in the twin's arithmetic."""
    holds, fails = (a, b) if satisfies == "a" else (b, a)
    zero, nonzero = reference.residual(holds, point), reference.residual(fails, point)
    return zero is not None and (nonzero is None or abs(zero) < abs(nonzero))


def test_draws_depend_on_name_kind_and_problem_only() -> None:
    assert draws("x", ORDINARY, "", 8) == draws("x", ORDINARY, "", 8)
    assert draws("x", ORDINARY, "", 8)[:4] == draws("x", ORDINARY, "", 4)
    assert draws("x", ORDINARY, "", 8) != draws("y", ORDINARY, "", 8)
    assert draws("x", ORDINARY, "", 8) != draws("x", ORDINARY, "other problem", 8)
    assert all(2 <= value <= 20 for value in draws("x", ORDINARY, "", 40)[::2])
    assert all(0.1 <= value <= 1.4 for value in draws("x", ORDINARY, "", 40)[1::2])
    assert {value % 2 for value in draws("n", Sampling("integer"), "", 40)} == {0.0, 1.0}


def test_a_first_draw_is_the_same_on_every_machine() -> None:
    assert draws("x", ORDINARY, "", 1) == (11.9103378668155,)


def rows() -> list[tuple[str, str, str, dict[str, object]]]:
    found = []
    for path in sorted(CASES.glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["case"]:
            claims = (*([row["b"]] if "b" in row else []), *row.get("near_misses", []))
            found += [(row["id"], row["a"], claim, row.get("context", {})) for claim in claims]
    return found


def forget() -> None:
    """Empty what the deciding modules remember: else the second kind of kernels is never asked."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("prism.") and not name.startswith(("prism.latex", "prism.physics.units")):
            for thing in vars(module).values():
                if getattr(thing, "__module__", "") == name and hasattr(thing, "cache_clear"):
                    thing.cache_clear()


PARTS = 8  # so that processes share the rows
MOST = 5_000_000  # operations: what takes more, one row in twenty, is decided by interpretations, which use no kernels


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("part", range(PARTS))
def test_interpreted_and_compiled_give_the_same_verdicts_on_all_cases(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels.warm()
    chosen = rows()[part::PARTS]
    monkeypatch.setenv("PRISM_KERNELS", "compiled")
    forget()
    compiled = [equivalent(a, claim, context=Context.from_dict(context)) for _, a, claim, context in chosen]
    kept = [(row, fast) for row, fast in zip(chosen, compiled, strict=True) if fast.cost <= MOST]
    assert len(kept) > max(100, 0.9 * len(chosen))
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")
    forget()
    for (case, a, claim, context), fast in kept:
        slow = equivalent(a, claim, context=Context.from_dict(context))
        assert (slow.status, slow.reason, slow.cost) == (fast.status, fast.reason, fast.cost), f"{case}: {claim}"
        assert slow is not fast or not slow.cost, f"{case}: {claim}: remembered, not decided"


@pytest.mark.compiled
@given(strategies.equations, strategies.equations)
def test_interpreted_and_compiled_give_the_same_verdicts_on_generated_formulas(a: Formula, b: Formula) -> None:
    outcomes = set()
    for mode in ("interpreted", "compiled"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PRISM_KERNELS", mode)
            verdict = compare(a, b)
            outcomes.add((verdict.status, verdict.reason))
    assert len(outcomes) == 1


@pytest.mark.parametrize(
    ("latex", "status", "reason"),
    [
        ("E = m c^2", "equivalent", "same_zero_set"),
        ("x^2 + a^2 = 0", "undecided", "too_few_points"),  # no positive x: a copy is the same by its form only
        ("x = x", "different", "identity"),
        (r"\int_0^\pi \sin\theta d\theta = 2", "equivalent", "same_form"),
    ],
)
def test_a_formula_against_itself_is_tested_by_points(latex: str, status: str, reason: str) -> None:
    verdict = compare_with_itself(parse(latex))
    assert (verdict.status, verdict.reason) == (status, reason)


def test_status_and_stage_are_saved_as_plain_text_and_number() -> None:
    row = equivalent("s = g t^2/2", "s = 2.5 g t^2/5").to_dict()
    assert json.loads(json.dumps(row)) == row
    assert (type(row["status"]), type(row["stage"])) == (str, int)
    assert repr(Status.EQUIVALENT) == "'equivalent'"
    assert len(STAGES) == len(Stage)
