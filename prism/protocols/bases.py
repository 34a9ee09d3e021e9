"""Who decides a part where rules and a findings file may both say something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from prism.protocols.rows import Basis

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """What counts for a part.

    Attributes:
        value: None where nobody decided.
        findings: `rules: 1`, `file: 0.5` where the two are in conflict; else empty.
    """

    value: T | None
    basis: Basis
    findings: tuple[str, ...] = ()


def settle(by_rules: T | None, by_file: T | None, *, prefer_rules: bool = False) -> Settled[T]:
    """Settle a part: None means that a side says nothing; in a conflict the file counts, unless the rules are to.

    >>> settle(1, None).basis, settle(1, 1).basis, settle(1, 0).value, settle(1, 0, prefer_rules=True).value
    (<Basis.RULES: 'rules'>, <Basis.BOTH: 'both'>, 0, 1)
    """
    if by_file is None:
        return Settled(by_rules, Basis.NONE if by_rules is None else Basis.RULES)
    if by_rules is None:
        return Settled(by_file, Basis.FILE)
    if by_rules == by_file:
        return Settled(by_file, Basis.BOTH)
    both = (f"rules: {by_rules}", f"file: {by_file}")
    return Settled(by_rules if prefer_rules else by_file, Basis.CONFLICT, both)
