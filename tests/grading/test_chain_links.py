"""Links of chains beyond the rows of `tests/cases/links/`: what holds for every pair of members."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from prism.algebra.expr import Expr
from prism.equivalence.chains.links import REASONS, Link, check_link
from prism.physics.context import Context, parse

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = (
    "x", "2 x", "-x", "x^2", "3", "0", "3.0", r"3\unit{m}", r"3\unit{furlongs}", r"20\unit{degC}", r"10^{400}",
    r"\infty", r"1, 2", r"\{1, 2\}", r"1 \pm 0.1", r"\vec a", r"2\vec a", r"\begin{pmatrix} 1 & 2 \end{pmatrix}",
    "f(0)", r"\frac10",
    r"\int f dx", r"\sum_{i=1}^{N} x_i", r"e^{i x}", r"\langle a | b \rangle", "x!", "9^{9^{9}}", r"\frac{dx}{dt}",
    r"10^{300}", r"10^{-300}\unit{m}", r"10^{290}x", r"10^{-290}x", r"1\times 10^{400}",
    r"10^{-310}", r"3 - 10\unit{m}",
    r"\sqrt{-1}", r"\nabla \phi", r"1 + 2 + \cdots", r"\log x", r"\sin 30", "12 N",
)  # fmt: skip
KNOWN = Context.from_dict({"symbols": {"x": "real"}, "givens": {"x": "2 m", "f": "3"}})


def member(latex: str) -> Expr:
    return parse(latex).members[0]


@pytest.mark.slow
@pytest.mark.parametrize("left", MEMBERS)
def test_nothing_raises_and_a_member_is_never_refuted_by_itself(left: str) -> None:
    for right in MEMBERS:
        for context in (Context(), KNOWN):
            found = check_link(member(left), member(right), context)
            assert found.status in ("confirmed", "refuted", "approximate", "undecided")
            assert found.reason in REASONS
            if left == right:
                assert found == Link("confirmed", "same_form")


@pytest.mark.slow  # a search
def test_the_two_sides_of_a_link_are_alike() -> None:
    for left, right in product(MEMBERS, MEMBERS):
        one, other = (check_link(member(a), member(b), Context()) for a, b in ((left, right), (right, left)))
        assert one.status == other.status, (left, right)


def test_a_reason_outside_the_list_is_refused() -> None:
    with pytest.raises(ValueError, match="hunch"):
        Link("refuted", "hunch")


def test_a_factor_is_found_whatever_it_multiplies() -> None:
    for latex in ("m v^2", r"\frac{q}{4\pi\epsilon_0 r}", r"A e^{-kx}\sin\theta", r"\vec F", r"\sqrt{2gh}", "a + b"):
        for factor in ("2", r"\frac12", r"\pi", "-1", "1.1"):
            written = parse(rf"{factor} \left({latex}\right)").members[0]
            assert check_link(written, member(latex), Context()).status == "refuted", (factor, latex)


CODE = """
from itertools import product
from prism.physics.context import Context
from prism.equivalence.chains.links import check_link
from tests.grading.test_chain_links import MEMBERS, member
print([check_link(member(a), member(b), Context()) for a, b in product(MEMBERS[::3], MEMBERS[::3])])
"""


def said(**environment: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return run.stdout


@pytest.mark.slow
def test_a_link_does_not_depend_on_the_process() -> None:
    assert said(PYTHONHASHSEED="1") == said(PYTHONHASHSEED="2") != ""


@pytest.mark.slow  # checks all rows once more
@pytest.mark.compiled
def test_a_link_does_not_depend_on_the_kernels() -> None:
    assert said(PRISM_KERNELS="interpreted") == said(PRISM_KERNELS="compiled")
