"""Which problems are too dear to grade with: long ones of ordinary formulas are not, and a dear node is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from prism import DataFileError, budget, prepare

N_NODE, N_TERM = 100, 6
TERMS: tuple[Callable[[Iterator[str]], str], ...] = (  # each of symbols that no other term of its node has
    lambda new: f"{next(new)} {next(new)}",
    lambda new: rf"\frac{{1}}{{2}} {next(new)} {next(new)}^2",
    lambda new: f"{next(new)}^2 {next(new)} {next(new)}",
    lambda new: rf"\frac{{{next(new)}}}{{{next(new)}}}",
    lambda new: rf"\frac{{{next(new)} {next(new)}}}{{{next(new)}^2}}",
    lambda new: rf"\sqrt{{{next(new)}^2 + {next(new)}^2}}",
    lambda new: rf"{next(new)} \cos({next(new)} t)",
    lambda new: f"{next(new)} e^{{-{next(new)}}}",
)
DEEP = r"\int_0^1 \int_0^1 " + "e^{(" * 12 + "x y q" + " - 1)}" * 12 + " dx dy"


def long_problem(**formulas: str) -> dict[str, Any]:
    """100 nodes, each a sum of six terms of one form, or with a formula that is given for it (`node_7`)."""
    new = (f"{'abcdfghjklmnpqrsuvwyz'[k % 21]}_{{{k}}}" for k in count())
    sums = (" + ".join(TERMS[k % len(TERMS)](new) for _ in range(N_TERM)) for k in range(N_NODE))
    stated = {k: formulas.get(f"node_{k}", f"X_{{{k}}} = {each}") for k, each in enumerate(sums, start=1)}
    nodes = [{"index": k, "formula": f, "dependency": [k - 1] if k > 1 else []} for k, f in stated.items()]
    return {"id": "long", "context": "", "grading_standard": [*nodes[:-1], {**nodes[-1], "is_final_answer": True}]}


@pytest.mark.slow
@pytest.mark.compiled
def test_a_hundred_ordinary_nodes_of_six_terms_are_prepared() -> None:
    prepared = prepare(long_problem())
    assert len(prepared.task.references) == N_NODE
    assert prepare(prepared, training=True).given == frozenset()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_dear_node_among_them_is_named() -> None:
    with pytest.raises(DataFileError) as caught:
        prepare(long_problem(node_57=f"X_{{57}} = {DEEP} = r {DEEP}"))
    (fault,) = caught.value.faults
    assert fault.startswith(f"node 57, formula: costs more than {budget.NODE} operations to be compared with a copy")


def test_of_formulas_that_are_too_dear_together_the_dearest_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.grading.references.NODES", 0)
    monkeypatch.setattr("prism.grading.references.EACH_NODE", 2_000)
    with pytest.raises(DataFileError, match=r"node 2, formula: costs \d+ operations .* than 200000 together"):
        prepare(long_problem())
