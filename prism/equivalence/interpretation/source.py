"""Numbers that look random and are the same on every machine: digits of a hash of a name and a count."""

from __future__ import annotations

from hashlib import blake2b

_BITS = 53  # of a number between 0 and 1


class Source:
    """A sequence of numbers from a name.

    >>> source = Source("0/number/x")
    >>> source.integer(1, 6), source.sign(), 0.5 <= source.uniform(0.5, 1.9) < 1.9
    (1, 1, True)
    """

    def __init__(self, name: str) -> None:
        """Begin the sequence of a name."""
        self._name = name.encode()
        self._count = 0

    def uniform(self, low: float, high: float) -> float:
        """Return the next number, between two limits."""
        self._count += 1
        digest = blake2b(self._name, digest_size=8, salt=self._count.to_bytes(8, "big")).digest()
        share = (int.from_bytes(digest, "big") >> (64 - _BITS)) / float(1 << _BITS)
        return low + (high - low) * share

    def integer(self, low: int, high: int) -> int:
        """Return the next whole number, both limits included."""
        return low + int(self.uniform(0, 1) * (high - low + 1))

    def sign(self) -> int:
        """Return 1 or -1."""
        return self.integer(0, 1) * 2 - 1
