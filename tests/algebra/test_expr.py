"""Formulas as values: kinds, spelling, the canonical form, substitution."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given

import prism
from prism import budget
from prism.algebra.expr import (
    MAX_SIZE,
    Expr,
    Formula,
    canonical,
    canonical_zero,
    formal_ratio,
    formula,
    number,
    spell,
    substitute,
    symbol,
    symbols,
    walk,
)
from prism.errors import DagError, DataFileError, LatexSyntaxError
from prism.latex import parse
from tests import reference
from tests.support import strategies


@pytest.mark.parametrize(("relations", "kind"), [
    ((), "expression"), (("=",), "equation"), (("approx",), "equation"), (("<",), "inequality"), (("!=",), "statement"),
    (("=", "="), "chain"),
])  # fmt: skip
def test_kind_follows_from_the_relations(relations: tuple[str, ...], kind: str) -> None:
    assert formula((symbol("x"),) * (len(relations) + 1), relations).kind == kind


def test_a_formula_needs_one_relation_fewer_than_members() -> None:
    with pytest.raises(ValueError, match="need 1 relations"):
        formula((symbol("x"), symbol("y")), ())


SAME = [
    ("a + b", "b + a"), (r"\frac12 m v^2", "m v^2 / 2"), ("x x", "x^2"), ("2(a + b)", "(b + a) 2"),
    ("a - b", "-(b - a)"),
    (r"\sqrt{x}", "x^{1/2}"), (r"\frac{a}{b c}", r"\frac{a}{b} \cdot \frac{1}{c}"), ("0.5 x", r"\frac{x}{2}"),
    (r"\int_0^1 f x\, dx", r"\int_0^1 f u\, du"), (r"\sum_{i=1}^n a i", r"\sum_{k=1}^n a k"), ("x - x + y", "y"),
]  # fmt: skip
OTHER = [
    ("a - b", "b - a"), ("x^2", "x^3"), (r"\sin a b", r"\sin b"), ("v_0", "v_1"), ("M", "m"), ("x'", "x"),
    (r"\sqrt{x^2}", "x"), ("(x^2)^{1/2}", "x"), (r"\int_0^1 f x\, dx", r"\int_0^2 f x\, dx"), ("a^b", "b^a"),
    (r"\Delta x", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SAME)
def test_canonical_spells_the_same_what_is_the_same(a: str, b: str) -> None:
    assert canonical(prism.parse(a).members[0]) == canonical(prism.parse(b).members[0])


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_canonical_keeps_apart_what_may_differ(a: str, b: str) -> None:
    assert canonical(prism.parse(a).members[0]) != canonical(prism.parse(b).members[0])


@given(strategies.expressions, strategies.points)
def test_terms_that_cancel_have_no_value(expr: Expr, point: dict[str, float]) -> None:
    """What canonical form calls zero is zero: it may not fold what is not so."""
    doubled = Expr("sub", (Expr("add", (expr, expr)), Expr("mul", (number(2), expr))))
    assert canonical_zero(doubled) == "0"
    value = reference.value(doubled, point)
    assert value is None or abs(value) < 1e-20 * max(1, abs(reference.value(expr, point) or 0))


def test_a_huge_power_is_not_worked_out() -> None:
    tower = Expr("pow", (number(9), Expr("pow", (number(9), number(9)))))
    assert len(canonical(tower)) < 100


def test_a_node_knows_its_size_and_depth() -> None:
    whole = parse(r"\frac{x + y}{2} + x^2").members[0]
    assert (whole.size, whole.depth) == (sum(1 for _ in walk(whole)), 4)


def test_a_tree_of_shared_operands_is_charged_before_it_is_walked() -> None:
    tree = symbol("x")
    for _ in range(200):
        tree = Expr("add", (tree, tree))
    assert (tree.size, tree.depth) == (MAX_SIZE, 201)
    works = (
        lambda: list(walk(tree)), lambda: substitute(tree, {symbol("x"): symbol("y")}), lambda: spell(tree),
        lambda: canonical(tree), lambda: canonical_zero(tree), lambda: formal_ratio(tree, tree),
    )  # fmt: skip
    for work in works:
        with budget.share(10**9) as account:
            work()
        assert account.is_exhausted


def test_what_a_canonical_form_costs_does_not_depend_on_what_is_known() -> None:
    node = parse(r"\sin(a + b c) + \frac{a}{b}").members[0]
    spent = []
    for _ in range(2):
        with budget.share(10**9) as account:
            canonical(node)
        spent.append(account.spent)
    assert spent[0] == spent[1] > 0


def test_substitution_is_one_pass() -> None:
    x, y = symbol("x"), symbol("y")
    swapped = substitute(Expr("sub", (x, y)), {x: y, y: x})
    assert str(swapped) == "y - x"


@given(strategies.equations)
def test_values_survive_pickling(f: Formula) -> None:
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert hash(again) == hash(f)
    assert symbols(*again.members) == symbols(*f.members)


@pytest.mark.parametrize("error", [
    DataFileError("a.toml", ("node 1: bad", "node 2: worse")), DagError(("node 3: no final",)),
    LatexSyntaxError(r"\frac{1", 7, "the formula ends", ("a closing brace",)),
])  # fmt: skip
def test_errors_survive_pickling(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert type(again) is type(error)
    assert vars(again) == vars(error)


def test_numbers_keep_the_digits_that_were_written() -> None:
    assert number(Fraction(202), written="2.02e2").name == "2.02e2"
    assert number(Fraction(1, 3)).name == "1/3"
