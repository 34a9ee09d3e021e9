"""The account of cost: what one solution, formula or pair of formulas may spend, counted in operations.

One operation is one kernel operation, ten to twenty-five nanoseconds compiled; a step in Python is charged as STEP of
them. Work is charged to the current account before it is done. A result that is `remembered` has a price: what it costs
by itself, with all that it asks for. An account pays it when it first asks for the result, whether that is worked out
now or known from elsewhere. So a cost is a function of the problem and the text alone: not of batch, order, threads or
caches.

A `share` is an account within an account. What it spends counts for the surrounding one too; when it is exhausted, its
part of the work ends as `too_large`, and the rest goes on.

Refused: clocks and signals (a grade would depend on the machine) and a counter for each kind of work (their sum has no
bound that a user can state).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import wraps
from itertools import islice
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound="_lru_cache_wrapper[Any]")

CELL = 40_000  # of each claim beside each node, in any case: 90 formulas beside 50 nodes are 4500 cells
MATCHING = 97_000_000  # what cells cost beyond that: after it no further one is begun; a hundred sums of sums
SELECTION = 33_000_000  # likewise, for what else the text says of a match, at least; after it all matches are withheld
SOLUTION = 170_000_000  # a solution, beside its cells and characters: what these do not count, as chains of long links
CHARACTER = 200  # each character of a solution: brackets in brackets, tables, thousands of formulas
PAIR = 75_000_000  # one claim beside one formula of the reference, or one link of a chain: integrals in integrals
INTERPRETED = 55_000_000  # of it, what is beyond algebra, under random interpretations: double integrals, roots
PAIR_OF_SOLUTION = 45_000_000  # of one claim beside one node, so that the others of a solution are compared too
INTERPRETED_OF_SOLUTION = 25_000_000  # of it, what is beyond algebra
DIAGNOSIS = 125_000_000  # of a diagnosis, after which no further formula is looked at: 60 dear ones cost 60 times it
LOCATING = 25_000_000  # that the comparison with all nodes leaves at least for finding what is wrong
DIAGNOSED_FORMULA = 40_000_000  # one formula in a diagnosis, or three even shares of what is left
LEAST_DIAGNOSED = 1_000_000  # of a formula, however many are left: 1000 cheap ones
REPAIRS = 18_000_000  # of it, the search for a slip beside all nodes: what is left is for its number and its units
DIAGNOSED_NODE = 18_000_000  # the search for a slip of one formula beside one node: a sum whose bound is a sum
OTHER_LETTERS = 5_000_000  # one formula with a symbol renamed, beside the nodes about the same letter
CONSEQUENCES = 16_000_000  # what follows from the equations of a solution or a wrong one; other letters: 300 equations
STEP = 200  # operations of a step in Python: a node visited, a token read, an instruction requested

# Calls of authors: their files come from whoever may ask a server for a grade.
DEFINITION = 7_000_000  # one definition of a problem's text beside the nodes: two nodes of long sums
KNOWLEDGE = 15_000_000  # all of them: 60 definitions beside 60 nodes are 200 000 pairs
NODE = 15_000_000  # a formula of a node, or a definition, beside itself: each solution would pay for nested integrals
NODES = 50_000_000  # all of them, beside those for each node: 60 formulas that are just cheap enough
EACH_NODE = 600_000  # of a problem: a sum of six terms costs a tenth to half of it, and a problem has up to 1000 nodes
SUBJECTS = 8_000_000  # the nodes beside each other, for the quantities that they share: 30 sums beside 30 equal ones
NUMBER = 1_000_000  # the number that one node has to state: a root of a dear formula is looked for in 60 steps
NUMBERS = 7_000_000  # all of them
STATED = 3_000_000  # one formula of a problem's text beside all nodes, and one pair of a draft
GIVEN = 40_000_000  # all of them: a text of 100 formulas beside 60 nodes
CHECK = 40_000_000  # one check of the linter, but for those that grade copies
LINT = 30_000_000  # all checks of the linter, beside those for each node: 50 accepted forms are graded 50 times
LINTED_NODE = 10_000_000  # of each node: copies of the nodes are graded, each time with a lower budget
READING = 15_000_000  # the formulas of a draft, each tested for saying something: 60 dear ones
MERGING = 25_000_000  # the formulas of a draft beside each other: 64 on one quantity are 2000 pairs
ANSWERS = 8_000_000  # the answers of a draft beside its formulas
ENTAILED = 4_000_000  # one equation of a draft beside those that it may follow from, of which no point is found
ORIGINS = 30_000_000  # all of them: 30 equations with 40 sets of others each
DRAFT = 90_000_000  # a draft, beside those for each character: it is linted and graded until nothing is rejected


class OverBudget(Exception):
    """Raised by `charge` if an account is exhausted. The share that owns the account ends it; no caller sees it."""

    def __init__(self, account: Account) -> None:
        """Keep the exhausted account."""
        super().__init__(f"more than {account.limit} operations")
        self.account = account


_Found = tuple[Any, int]  # a remembered result and its price
_Known = dict[Hashable, _Found]
_Asked = list[tuple[Hashable, _Found]]


class _InParts(NamedTuple):
    """A result with the operations that it costs by itself, and the remembered results that it asks for."""

    result: Any
    own: int
    asked: _Known


class Account:
    """Operations that one piece of work may spend, and what it has spent.

    Attributes:
        limit: operations allowed: at most those that the account around it has left.
        outside: the account around it that has less left than this one's own limit, and is exhausted in its place.
        spent: operations charged so far, at most the limit.
        is_exhausted: a charge went beyond its own limit.
        allowance: once more is spent, no further part of the work is begun (see `may_begin`).
        each: what each part may spend beside the allowance.
        begun: what was spent when the last part was begun.
        allows_extra: dear parts may be begun, while half of the allowance is not spent (see `may_begin_extra`).
        has_extra: whether dear parts of the pair at hand may be begun; None outside of a pair (see `extra_work`).
        is_cut: a part of the work was not begun.
        known: the remembered results that are paid for, by function and arguments; of a property by its own place too.
        asked: each result that a `recalled` one asks for while it is worked out; None at any other time.
        n_asked: how many of these were asked for before the account.
        fresh: the prices of results that were asked for and paid.
        is_settled: whatever had been paid for before, each share would have ended, or not ended, as it did.
    """

    __slots__ = (
        "allowance", "allows_extra", "asked", "begun", "each", "fresh", "has_extra", "is_cut", "is_exhausted",
        "is_settled", "known", "limit", "n_asked", "outside", "spent",
    )  # fmt: skip

    def __init__(self, limit: float, outside: Account | None = None) -> None:
        """Open an account with nothing spent, within the account `outside` (None: an outermost one)."""
        left = math.inf if outside is None else outside.limit - outside.spent
        self.limit: float = min(limit, left)
        self.outside: Account | None = None if outside is None or limit <= left else outside.owner
        self.spent: int = 0
        self.is_exhausted = False
        self.allowance = limit
        self.each = self.begun = 0
        self.allows_extra = True
        self.has_extra: bool | None = None if outside is None else outside.has_extra
        self.is_cut = False
        self.known: _Known = {} if outside is None else outside.known
        self.asked: _Asked | None = None if outside is None else outside.asked
        self.n_asked = 0 if self.asked is None else len(self.asked)
        self.fresh = 0
        self.is_settled = True

    @property
    def owner(self) -> Account:
        """Return the account whose limit ends this one."""
        return self if self.outside is None else self.outside

    def allow(self, operations: float, *, each: int = 0, extra: bool = True) -> None:
        """Set the allowance: parts of the work may be begun until `operations` more are spent; dear ones if `extra`.

        Not counted are the first `each` operations of a part.
        """
        self.allowance = self.spent + operations
        self.begun, self.each = self.spent, each
        self.allows_extra = extra
        self.is_cut = False

    def charge(self, operations: int) -> None:
        """Draw operations; raise OverBudget if there are not enough."""
        self.spent += operations
        if self.spent > self.limit:
            self.spent = int(self.limit)
            self.owner.is_exhausted = True
            raise OverBudget(self.owner)

    def work_out(self, build: Callable[..., Any], args: tuple[Any, ...]) -> _Found:
        """Work out a result that is remembered, with all that it asks for, and pay for it; return it with its price.

        Raises OverBudget where the account cannot pay.
        """
        begun, kept = self.spent, (self.known, self.asked, self.fresh, self.is_settled)
        self.known, self.asked = {}, None
        try:
            result = build(*args)
        finally:
            self.known, self.asked, self.fresh, self.is_settled = kept
        if self.owner.is_exhausted:  # somebody below caught it: the result is not that of the whole work
            raise OverBudget(self.owner)
        return result, self.spent - begun

    def work_out_in_parts(
        self, build: Callable[..., Any], args: tuple[Any, ...], least: int
    ) -> tuple[Any, _InParts | None]:
        """Work out a result and pay for what is not paid for yet; return it, and its parts if they are to be kept.

        Raises OverBudget where the account cannot pay.

        Args:
            build, args: what works the result out.
            least: operations; the parts of what costs less by itself are not kept.
        """
        begun, outer, was_settled = self.spent - self.fresh, self.asked, self.is_settled
        asked: _Asked = []
        self.asked, self.is_settled = asked, True
        try:
            result = build(*args)
            is_kept = self.is_settled
        finally:
            self.asked, self.is_settled = outer, self.is_settled and was_settled
            if outer is not None:
                outer.extend(asked)
        own = self.spent - self.fresh - begun
        return result, _InParts(result, own, dict(asked)) if is_kept and own >= least else None

    def most(self) -> float:
        """Return what would have been spent at most if nothing had been paid before; infinite if it was exhausted."""
        asked = () if self.asked is None else self.asked[self.n_asked :]
        return math.inf if self.is_exhausted else self.spent - self.fresh + sum([found[1] for _, found in asked])

    def pay_in_parts(self, parts: _InParts) -> bool:
        """Pay for what a result costs by itself, and for what it asks for and is not paid for; False if that fails."""
        due = {key: found for key, found in parts.asked.items() if key not in self.known}
        price = sum([found[1] for found in due.values()])
        if parts.own + price > self.limit - self.spent:
            return False
        self.charge(parts.own + price)
        self.known.update(due)
        self.fresh += price
        if self.asked is not None:
            self.asked.extend(parts.asked.items())
        return True


class _TrialOver(BaseException):
    """Raised by `charge` when a trial is over. No handler of failures takes it for one, and no result is kept."""


class trial:  # noqa: N801 - a context manager, used like a function
    """Work that is given up when too much is really done: `with trial(operations) as tried`, then `tried.is_over`.

    What this process remembers counts nothing, so whether a trial is over depends on what was done before. What was
    begun is thrown away, and no cost and no result depends on it: a server tries what it does not want to wait for.

    Attributes:
        is_over: the block was ended.
        done: operations that were really done.
    """

    __slots__ = ("_limit", "_token", "done", "is_over")

    def __init__(self, operations: float) -> None:
        """Allow so many operations."""
        self._limit = operations
        self.done = 0
        self.is_over = False

    def draw(self, operations: int) -> None:
        """Count operations before they are done; end the block if they are too many.

        It ends by _TrialOver, which the block catches.
        """
        if self.done + operations > self._limit:
            self.is_over = True
            raise _TrialOver
        self.done += operations

    def __enter__(self) -> trial:
        """Begin to count what this thread charges."""
        self._token: Token[trial | None] = _trial.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """End the block; True if that is because the trial is over."""
        _trial.reset(self._token)
        return isinstance(error, _TrialOver)


_current: ContextVar[Account | None] = ContextVar("prism_account", default=None)
_trial: ContextVar[trial | None] = ContextVar("prism_trial", default=None)


def _within(account: Account | None, call: Callable[..., T], args: tuple[Any, ...]) -> T:
    """Return `call(*args)`, with another account as the current one."""
    token = _current.set(account)
    try:
        return call(*args)
    finally:
        _current.reset(token)


def charge(operations: int) -> None:
    """Draw operations from the current account, before the work; raise OverBudget if there are not enough."""
    tried = _trial.get()
    if tried is not None:
        tried.draw(operations)
    account = _current.get()
    if account is not None:
        account.charge(operations)


def charge_steps(steps: int) -> None:
    """Draw steps in Python from the current account, before the work; raise OverBudget if there are not enough."""
    charge(steps * STEP)


def may_begin() -> bool:
    """True if the current account has not spent its allowance; else a part of the work is left out, and noted."""
    account = _current.get()
    if account is None:
        return True
    account.allowance += min(account.spent - account.begun, account.each)
    account.begun = account.spent
    if account.spent < account.allowance:
        return True
    account.is_cut = True
    return False


def may_begin_extra() -> bool:
    """True if the current account has spent less than half of its allowance: what is dear must not starve others."""
    account = _current.get()
    if account is None or account.has_extra is not None:
        return account is None or bool(account.has_extra)
    return account.allows_extra and 2 * account.spent < account.allowance


def most_of_pair() -> int:
    """Return how many operations a pair may spend: fewer as one of many in a solution."""
    return PAIR_OF_SOLUTION if _is_of_solution() else PAIR


def most_interpreted() -> int:
    """Return how many of these may be spent on what is beyond algebra."""
    return INTERPRETED_OF_SOLUTION if _is_of_solution() else INTERPRETED


def _is_of_solution() -> bool:
    """Return True within a pair of a claim and a node."""
    account = _current.get()
    return account is not None and account.has_extra is not None


@contextmanager
def extra_work(*, is_allowed: bool) -> Iterator[None]:
    """Set for a block of code if costly extra work may be begun in it, whatever the budget has left.

    So a remembered result does not depend on when it is worked out. Nothing is set where no budget runs.
    """
    account = _current.get()
    before = None if account is None else account.has_extra
    if account is not None:
        account.has_extra = is_allowed
    try:
        yield
    finally:
        if account is not None:
            account.has_extra = before


def uncharged(build: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that reads what belongs to the installation, as its tables: no solution pays for that."""

    @wraps(build)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result, worked out in no account."""
        return _within(None, lambda: build(*args, **kwargs), ())

    return call


class share:  # noqa: N801 - a context manager, used like a function
    """Work with a limit of its own: `with share(limit) as account`, then look at `account.is_exhausted`.

    The block ends where the account is exhausted, without an exception. What was spent is drawn from the surrounding
    account, which is exhausted (OverBudget) where it has less left than the limit.
    """

    __slots__ = ("_account", "_limit", "_outside", "_token")

    def __init__(self, limit: float) -> None:
        """Prepare an account with `limit` operations."""
        self._limit = limit

    def __enter__(self) -> Account:
        """Make the account the current one and return it."""
        self._outside = _current.get()
        self._account = Account(self._limit, self._outside)
        self._token: Token[Account | None] = _current.set(self._account)
        return self._account

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Return to the surrounding account and draw from it; True if the block ended because its own is exhausted."""
        _current.reset(self._token)
        if self._outside is not None:
            self._outside.spent += self._account.spent
            self._outside.fresh += self._account.fresh
            if not self._account.is_settled or self._account.most() > self._limit:
                self._outside.is_settled = False
        return isinstance(error, OverBudget) and error.account is self._account


_emptied: list[Callable[[], None]] = []  # by `forget`


def forget() -> None:
    """Forget all results that this process keeps: no result and no cost depends on it, only how long the next take."""
    for empty in _emptied:
        empty()


def forgettable(cached: C) -> C:
    """Decorate a function with an `lru_cache`, whose results grow with what is asked of them, for `forget`."""
    _emptied.append(cached.cache_clear)
    return cached


class Store:
    """Results that a process keeps, by key, safe for threads; its older half is dropped when it is full.

    Attributes:
        size: results kept at most.
        kept: the results, each with its cost.
    """

    __slots__ = ("kept", "lock", "size")

    def __init__(self, size: int) -> None:
        """Create an empty store."""
        self.size = size
        self.kept: dict[Hashable, Any] = {}
        self.lock = Lock()
        _emptied.append(self.kept.clear)

    def keep(self, key: Hashable, found: tuple[Any, ...]) -> None:
        """Keep a result with its cost; not while another thread does, which a process forked off would wait for."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            if len(self.kept) >= self.size:
                for old in list(islice(self.kept, (self.size + 1) // 2)):
                    self.kept.pop(old, None)  # `forget` may be at it
            self.kept[key] = found
        finally:
            self.lock.release()


def remembered(store: Store | int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function of hashable positional arguments to remember its results; they must not be changed.

    Arguments are compared by value, so that a result has one price, however it came about.

    Args:
        store: where the process keeps results, or how many it keeps in a store of this function's own.
    """
    own_store = Store(store) if isinstance(store, int) else store

    def decorate(build: Callable[P, T]) -> Callable[P, T]:
        """Return the remembering function."""

        @wraps(build)
        def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
            """Return the result for these arguments; charge the current account if it has not paid for it."""
            assert not kwargs
            account = _current.get()
            if account is None:
                return _within(Account(math.inf), look_up, args)
            key = build, args
            found = account.known.get(key)
            if found is None:
                found = own_store.kept.get(key)
                if found is None:
                    found = account.work_out(build, args)
                    own_store.keep(key, found)
                else:
                    account.charge(found[1])
                account.fresh += found[1]
                account.known[key] = found
            if account.asked is not None:
                account.asked.append((key, found))
            return found[0]  # type: ignore[no-any-return]

        look_up.cache_clear = own_store.kept.clear  # type: ignore[attr-defined]
        return look_up

    return decorate


def recalled(size: int, *, least: int = 0) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function as `remembered` does, for results that share most of what they ask for.

    An account pays for what such a result costs by itself, and of what it asks for only for what is not paid for: as if
    it were worked out anew. It is worked out anew where a share of it might end otherwise.

    Args:
        size: how many results the process keeps.
        least: operations that one of them costs at least by itself; cheaper ones are worked out anew.
    """
    store = Store(size)

    def decorate(build: Callable[P, T]) -> Callable[P, T]:
        """Return the recalling function."""

        @wraps(build)
        def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
            """Return the result for these arguments; charge the current account what is not paid for."""
            assert not kwargs
            account = _current.get()
            if account is None:
                return _within(Account(math.inf), look_up, args)
            key = build, args
            found = account.known.get(key)
            if found is None:
                parts: _InParts | None = store.kept.get(key)
                if parts is not None and account.pay_in_parts(parts):
                    result = parts.result
                else:
                    result, parts = account.work_out_in_parts(build, args, least)
                    if parts is not None:
                        store.keep(key, parts)
                account.known[key] = found = result, 0
            return found[0]  # type: ignore[no-any-return]

        look_up.cache_clear = store.kept.clear  # type: ignore[attr-defined]
        return look_up

    return decorate


class free_property(Generic[T]):  # noqa: N801 - a decorator
    """A property that is worked out once for an object, without a charge and from nothing that has a cost."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        """Take the method that works out the value."""
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name of the attribute."""
        self._name = name

    @overload
    def __get__(self, holder: None, owner: type) -> free_property[T]: ...
    @overload
    def __get__(self, holder: object, owner: type) -> T: ...
    def __get__(self, holder: object, owner: type) -> T | free_property[T]:
        """Return the value for `holder`, which is found as an attribute from then on."""
        if holder is None:
            return self
        value = holder.__dict__[self._name] = self._build(holder)
        return value


class remembered_property(Generic[T]):  # noqa: N801 - a decorator
    """A property that is worked out once for an object, as `cached_property`, and paid for by each account.

    Objects are compared by value, as arguments of a `remembered` function.
    """

    def __init__(self, build: Callable[[Any], T]) -> None:
        """Take the method that works out the value."""
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name of the attribute."""
        self._name, self._priced = name, f"{name} and its cost"

    @overload
    def __get__(self, holder: None, owner: type) -> remembered_property[T]: ...
    @overload
    def __get__(self, holder: object, owner: type) -> T: ...
    def __get__(self, holder: object, owner: type) -> T | remembered_property[T]:
        """Return the value for `holder`, paid for; one that costs nothing is found as an attribute from then on."""
        if holder is None:
            return self
        account = _current.get()
        if account is None:
            return _within(Account(math.inf), self.__get__, (holder, owner))
        found: _Found | None = holder.__dict__.get(self._priced)
        if found is not None and id(found) in account.known:
            if account.asked is not None:
                account.asked.append(((self._build, holder), found))
            return found[0]  # type: ignore[no-any-return]
        key = self._build, holder
        paid = account.known.get(key)
        if found is None:
            found = paid or account.work_out(self._build, (holder,))
            if not found[1]:
                holder.__dict__[self._name] = found[0]
                return found[0]  # type: ignore[no-any-return]
            holder.__dict__[self._priced] = found
        elif paid is None:
            account.charge(found[1])
        if paid is None:
            account.fresh += found[1]
        if account.asked is not None:
            account.asked.append((key, found))
        account.known[key] = account.known[id(found)] = found
        return found[0]  # type: ignore[no-any-return]
