"""Which matches stand: the rules on plain values, without a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.algebra.expr import formula, symbol
from prism.equivalence.statements import Statement
from prism.grading.selection import (
    LATEST,
    LATEST_OF_CLASS,
    LATEST_ON_SUBJECT,
    OUT_OF_SCOPE,
    WITHHELD_REASONS,
    WithheldReason,
    nearest_assertions,
    withheld_reasons,
)
from prism.grading.stances import Assertion, Stance

STANCES = {"same": Stance.SUPPORTS, "other": Stance.CONTRADICTS, "apart": Stance.NEUTRAL}


def said(place: int, what: str, text: str = "", **more: bool) -> Assertion:
    """An assertion with a key of STANCES, solved for the quantity unless `more` sets it."""
    statement = Statement(formula((symbol(text or f"{what} {place}"),), ()))
    assertion = Assertion(statement, STANCES[what], is_solved=True, place=(place, 0))
    return replace(assertion, **more)  # type: ignore[arg-type]


def stands(*assertions: Assertion, final: bool, number: bool = False) -> bool:
    reasons = withheld_reasons(assertions, is_final=final, is_number=number)
    assert set(reasons.values()) <= {*WITHHELD_REASONS, None}
    return None in reasons.values()


def test_every_reason_has_a_sentence() -> None:
    assert set(WithheldReason) == WITHHELD_REASONS.keys()


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (["same"], True), (["same", "other"], False), (["other", "same"], True), (["same", "other", "same"], True),
        (["same", *["apart"] * (LATEST_ON_SUBJECT - 1)], True), (["same", *["apart"] * LATEST_ON_SUBJECT], False),
    ],
)  # fmt: skip
def test_a_final_answer_is_the_last_of_its_class(what: list[str], expected: bool) -> None:
    assert stands(*(said(place, each) for place, each in enumerate(what)), final=True) is expected


def test_a_box_decides_a_final_answer() -> None:
    assert stands(said(0, "same", is_presented=True), said(1, "other"), final=True)
    assert not stands(said(0, "other", is_presented=True), said(1, "same"), final=True)
    assert not stands(said(0, "same", is_presented=True), said(1, "other", is_presented=True), final=True)


def test_what_is_solved_decides_before_what_is_not() -> None:
    assert not stands(said(0, "other"), said(1, "same", is_solved=False), final=True)
    assert stands(said(0, "same"), said(1, "other", is_solved=False), final=True)


def test_an_approximation_does_not_take_back_what_is_exact() -> None:
    assert stands(said(0, "same"), said(1, "other", is_approximate=True), final=True)
    assert not stands(said(0, "same", is_approximate=True), said(1, "other", is_approximate=True), final=True)


def test_numbers_and_formulas_do_not_contradict_each_other() -> None:
    assert stands(said(0, "same"), said(1, "other", is_number=True), final=True)
    assert not stands(said(0, "other"), said(1, "same", is_number=True), final=True)
    assert stands(said(0, "other"), said(1, "same", is_number=True), final=True, number=True)


@pytest.mark.parametrize(("n_later", "expected"), [(LATEST - 1, True), (LATEST, False)])
def test_other_nodes_see_the_latest_of_a_class(n_later: int, expected: bool) -> None:
    later = [said(1 + k, "other") for k in range(n_later)]
    assert stands(said(0, "same"), *later, final=False) is expected
    repeated = [said(1 + k, "other", text="one") for k in range(n_later)]
    assert stands(said(0, "same"), *repeated, final=False)


@pytest.mark.parametrize(("n_later", "expected"), [(LATEST_OF_CLASS - 1, True), (LATEST_OF_CLASS, False)])
def test_laws_in_the_same_symbols_have_a_wider_window(n_later: int, expected: bool) -> None:
    later = [said(1 + k, "other", is_solved=False) for k in range(n_later)]
    assert stands(said(0, "same", is_solved=False), *later, final=False) is expected


def test_what_is_broken_neither_stands_nor_contradicts() -> None:
    assert withheld_reasons([said(0, "same", is_broken=True)], is_final=True, is_number=False) == {0: "broken_chain"}
    assert stands(said(0, "same"), said(1, "other", is_broken=True), final=True)


@given(st.lists(st.sampled_from(["same", "other", "apart"]), max_size=20), st.booleans())
def test_more_that_is_otherwise_never_helps(what: list[str], final: bool) -> None:
    told = [said(place, each) for place, each in enumerate(what)]
    more = said(len(what), "other")
    assert stands(*told, final=final) or not stands(*told, more, final=final)


def test_what_may_be_meant_for_another_node_takes_nothing_back() -> None:
    told = [said(0, "same"), said(1, "other"), said(2, "other")]
    assert [
        None in withheld_reasons(told, is_final=True, is_number=False, n_rivals=n).values() for n in range(3)
    ] == [False, False, True]  # fmt: skip


def test_the_nearest_part_that_speaks_of_it_decides() -> None:
    own, common, far = said(3, "other"), said(0, "same"), said(5, "same")
    assert nearest_assertions([(0, own), (1, common), (OUT_OF_SCOPE, far)]) == [own]
    assert nearest_assertions([(1, common), (OUT_OF_SCOPE, far)]) == [common]
    aside = said(4, "apart")
    assert nearest_assertions([(0, aside), (1, common)]) == [common]
    assert nearest_assertions([(0, said(1, "other", is_number=True)), (1, common)])[1:] == [common]
