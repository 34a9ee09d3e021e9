"""Operators with rules of their own: their tables have the commutators that they are known by."""

from __future__ import annotations

import pytest
from flint import acb

from prism.equivalence.interpretation.quantum.quanta import Space, pauli
from prism.equivalence.interpretation.values import (
    Table,
    add,
    compare_to_zero,
    identity,
    multiply,
    plain,
    transpose,
)


def _commutator(a: Table, b: Table) -> Table:
    """Return AB - BA."""
    found = add(multiply(a, b), multiply(b, a), -1)
    assert isinstance(found, Table)
    return found


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_components_of_an_angular_momentum_turn_into_each_other(degree: int) -> None:
    space = Space("spin", degree)
    x, y, z = map(space.spin, "xyz")
    assert compare_to_zero(add(_commutator(x, y), multiply(acb(0, 1), z), -1), 1.0)


def test_the_square_of_an_angular_momentum_is_no_number() -> None:
    space = Space("spin", 2)
    squares = [multiply(each, each) for each in map(space.spin, "xyz")]
    total = add(add(squares[0], squares[1]), squares[2])
    assert isinstance(total, Table)
    assert len({round(float(plain(total.at(k, k)).real.mid()), 6) for k in range(total.rows)}) > 1


def test_ladder_operators_have_their_commutator_before_the_cut() -> None:
    space = Space("ladder", 2)
    lowering = space.lowering(0)
    kept = space.cut(_commutator(lowering, transpose(lowering)), 0)
    unit = space.cut(identity(kept.rows), 0)
    assert compare_to_zero(add(kept, unit, -1), 1.0)


def test_pauli_matrices_have_their_product() -> None:
    assert compare_to_zero(add(multiply(pauli("x"), pauli("y")), multiply(acb(0, 1), pauli("z")), -1), 1.0)


def test_labels_of_number_states_take_all_distances() -> None:
    space = Space("ladder", 1, labels=("m", "n"), is_low=False)
    apart = {space.label("n", draw) - space.label("m", draw) for draw in range(space.draws)}
    assert apart == {-1, 0, 1}
    assert max(space.label("m", draw) for draw in range(4)) > 40
