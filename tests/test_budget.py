"""The account of cost: what is paid once, what is paid again, and where an exhausted share ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from prism.budget import (
    OverBudget,
    Store,
    charge,
    may_begin,
    recalled,
    remembered,
    remembered_property,
    share,
    uncharged,
)

CALLS: list[str] = []


def made(price: int, *parts: Callable[[int], int], store: Store | int = 100) -> Callable[[int], int]:
    """A remembered function of its own price that asks for `parts`."""

    @remembered(store)
    def build(n: int) -> int:
        CALLS.append("built")
        charge(price)
        return n + sum(part(n) for part in parts)

    return build


def cost_of(work: Callable[[], object], limit: float = math.inf) -> int:
    with share(limit) as account:
        work()
    return account.spent


def test_a_charge_draws_from_the_account_and_from_all_around_it() -> None:
    with share(100) as outer:
        charge(10)
        with share(50) as inner:
            charge(20)
        assert (inner.spent, outer.spent) == (20, 30)


def test_a_charge_outside_of_any_account_costs_nobody() -> None:
    charge(10**30)
    assert may_begin()


def test_an_exhausted_share_ends_its_block_only() -> None:
    with share(100) as outer:
        with share(5) as inner:
            charge(6)
            pytest.fail("went on beyond its limit")
        assert (inner.is_exhausted, inner.spent, outer.spent) == (True, 5, 5)
        charge(1)
    assert not outer.is_exhausted


def test_a_share_may_exhaust_what_is_around_it() -> None:
    with share(10) as outer:
        with share(100) as inner:
            charge(50)
        pytest.fail("went on beyond the limit of the outer account")
    assert (outer.is_exhausted, outer.spent, inner.is_exhausted) == (True, 10, False)


def test_an_exhausted_account_stays_exhausted() -> None:
    with share(10) as account:
        for _ in range(3):
            with pytest.raises(OverBudget):
                charge(11)
        with pytest.raises(OverBudget):
            charge(1)
    assert account.is_exhausted


def test_a_result_is_paid_once_and_at_the_same_price_known_or_not() -> None:
    """The price of a result is what it costs by itself, whatever else the account has paid for."""
    leaf = made(10)
    root = made(5, leaf)
    cold = cost_of(lambda: (root(1), leaf(1), root(1)))
    CALLS.clear()
    warm = cost_of(lambda: (root(1), leaf(1), root(1)))
    assert (cold, warm, CALLS) == (25, 25, [])
    assert cost_of(lambda: (leaf(1), root(1))) == 25


def random_graph(random: Random, n: int, most: int, store: Store) -> list[Callable[[int], int]]:
    """`n` remembered functions that charge less than `most` and ask up to three of those before them."""
    functions: list[Callable[[int], int]] = []
    for _ in range(n):
        functions.append(made(random.randrange(most), *random.sample(functions, min(3, len(functions))), store=store))
    return functions


@pytest.mark.parametrize("seed", range(60))
def test_costs_depend_neither_on_order_nor_on_what_is_remembered(seed: int) -> None:
    """A random graph of remembered functions with tiny stores, asked in random orders by accounts and their shares."""
    random = Random(seed)
    store = Store(random.randrange(1, 6))
    functions = random_graph(random, 12, 4, store)
    asked = [(random.choice(functions), random.randrange(2)) for _ in range(30)]

    def work() -> None:
        for function, n in random.sample(asked, len(asked)):
            if random.randrange(2):
                with share(math.inf):
                    function(n)
            else:
                function(n)

    costs = set()
    for _ in range(6):
        if random.randrange(2):
            store.kept.clear()
        costs.add(cost_of(work))
    assert len(costs) == 1


@pytest.mark.parametrize("seed", range(60))
def test_a_limit_ends_a_share_where_it_ended_before(seed: int) -> None:
    """Blocks of work in shares of their own, within accounts that are small or not, with a store that forgets."""
    random = Random(seed)
    store = Store(random.randrange(1, 6))
    functions = random_graph(random, 10, 6, store)
    blocks = [
        (random.randrange(1, 40), [(random.choice(functions), random.randrange(3)) for _ in range(3)])
        for _ in range(12)
    ]

    def spent(limit: float) -> tuple[list[bool], int, bool]:
        over = []
        with share(limit) as account:
            for most, asked in blocks:
                if random.randrange(3) == 0:
                    store.kept.clear()
                with share(most) as work:
                    for function, n in asked:
                        function(n)
                over.append(work.is_exhausted)
        return over, account.spent, account.is_exhausted

    for limit in (math.inf, random.randrange(200)):
        assert spent(limit) == spent(limit)


@pytest.mark.parametrize("seed", range(120))
def test_a_recalled_result_costs_what_working_it_out_anew_would(seed: int) -> None:
    """Blocks of work with shares that may end, asked by accounts that have paid for other things before, or are small.

    The oracle works every block out anew, once for each account.
    """
    random = Random(seed)
    store = Store(random.randrange(1, 8))
    functions = random_graph(random, 8, 6, store)
    plans = [
        [(random.choice((math.inf, random.randrange(1, 40))), random.choice(functions), random.randrange(3))
         for _ in range(random.randrange(1, 4))]
        for _ in range(6)
    ]  # fmt: skip

    def block(n: int) -> tuple[bool, ...]:
        over = []
        for most, function, argument in plans[n]:
            with share(most) as work:
                charge(n)
                function(argument)
            over.append(work.is_exhausted)
        return tuple(over)

    recalling = recalled(random.randrange(1, 8))(block)
    asked = [random.randrange(len(plans)) for _ in range(12)]
    before = [(random.choice(functions), random.randrange(3)) for _ in range(random.randrange(3))]

    def spent(ask: Callable[[int], tuple[bool, ...]], limit: float) -> object:
        found: list[object] = []
        with share(limit) as account:
            for function, argument in before:
                function(argument)
            for n in asked:
                try:
                    found.append(ask(n))
                except OverBudget:
                    found.append("over")
                    break
        return found, account.spent, account.is_exhausted

    for limit in (math.inf, random.randrange(200), math.inf, random.randrange(60)):
        anew: dict[int, tuple[bool, ...]] = {}
        wanted = spent(lambda n: anew[n] if n in anew else anew.setdefault(n, block(n)), limit)  # noqa: B023
        assert spent(recalling, limit) == wanted
        before = [(random.choice(functions), random.randrange(3)) for _ in range(random.randrange(3))]
        random.shuffle(asked)


def test_a_recalled_result_is_worked_out_once() -> None:
    @recalled(10)
    def build(n: int) -> int:
        CALLS.append("recalled")
        charge(n)
        return leaf(n)

    CALLS.clear()
    leaf = made(10)
    assert [cost_of(lambda: build(5)), cost_of(lambda: (leaf(5), build(5), build(5)))] == [15, 15]
    assert CALLS == ["recalled", "built"]


@pytest.mark.parametrize("limit", range(0, 60, 3))
def test_exhaustion_does_not_depend_on_what_is_remembered(limit: int) -> None:
    leaf = made(10)
    middle = made(7, leaf)
    root = made(5, leaf, middle)
    found = []
    for _ in range(2):
        with share(limit) as account:
            middle(1)
            root(1)
        found.append((account.spent, account.is_exhausted))
    assert found == [(min(limit, 49), limit < 49)] * 2


def test_a_result_of_an_exhausted_account_is_not_remembered() -> None:
    @remembered(10)
    def careless(n: int) -> str:
        try:
            charge(n)
        except OverBudget:
            return "half"
        return "whole"

    with share(5) as account:
        careless(7)
    assert account.is_exhausted
    with share(10):
        assert careless(7) == "whole"


def test_what_a_failing_function_has_spent_is_paid() -> None:
    @remembered(10)
    def failing(n: int) -> None:
        charge(n)
        raise ZeroDivisionError

    def work() -> None:
        with pytest.raises(ZeroDivisionError):
            failing(3)

    assert [cost_of(work), cost_of(work)] == [3, 3]


@dataclass(frozen=True)
class Holder:
    n: int

    @remembered_property
    def dear(self) -> int:
        charge(self.n)
        return self.n

    @remembered_property
    def free(self) -> list[int]:
        return [self.n]


def test_a_property_is_paid_once_by_each_account_and_compared_by_value() -> None:
    one, two = Holder(7), Holder(7)
    assert cost_of(lambda: (one.dear, two.dear, one.dear)) == 7
    assert cost_of(lambda: one.dear) == 7
    assert one.free is one.free
    assert Holder.dear.__doc__ is None


def test_an_allowance_leaves_out_what_is_not_begun() -> None:
    with share(100) as account:
        charge(5)
        account.allow(10)
        assert may_begin()
        charge(12)
        assert not may_begin()
        assert account.is_cut
        account.allow(10)
        assert may_begin()
        assert not account.is_cut


def test_each_part_has_operations_of_its_own_beside_the_allowance() -> None:
    with share(1000) as account:
        account.allow(10, each=5)
        for _ in range(50):
            assert may_begin()
            charge(5)
        assert may_begin()
        charge(14)  # of which 9 are of the allowance
        assert may_begin()
        charge(6)
        assert not may_begin()
        assert account.is_cut
        assert account.spent == 270


def test_the_installation_is_nobodys_cost() -> None:
    @uncharged
    def table(n: int) -> int:
        charge(n)
        return n

    with share(1) as account:
        assert table(10) == 10
    assert account.spent == 0


def test_a_full_store_drops_its_older_half() -> None:
    store = Store(4)
    build = made(1, store=store)
    for n in range(20):
        build(n)
        assert len(store.kept) <= 4
