r"""Formulas typed in a line, as in AsciiMath and Typst: fractions by `/`, indices, powers, brackets that only group.

What one piece is, a name, a call or a bracket, each format says for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

MAX_DEPTH = 30  # brackets in each other; the formula's reader takes 32
CALLS = {
    "frac": r"\frac{%s}{%s}", "sqrt": r"\sqrt{%s}", "root": r"\sqrt[%s]{%s}", "overline": r"\overline{%s}",
    "cancel": r"\cancel{%s}", "abs": r"\left|%s\right|", "norm": r"\left\|%s\right\|",
    "floor": r"\lfloor %s\rfloor ", "ceil": r"\lceil %s\rceil ",
}  # fmt: skip
"""Names with arguments that both formats have, with a `%s` in the LaTeX for each argument."""
_PARTNERS = {"(": ")", "[": "]", r"\{": r"\}"}


@dataclass(slots=True)
class TypedReader:
    """Reads the tokens of a formula from left to right.

    Attributes:
        read_piece: reads a name, a call, a number, words or a bracket, given the brackets around it, as LaTeX.
        groups: the brackets that only group, where an argument stands in one pair.
        at: number of the next token.
    """

    tokens: Sequence[str]
    read_piece: Callable[[TypedReader, int], str]
    groups: tuple[str, ...]
    at: int = 0

    def peek(self) -> str:
        """Return the next token; empty behind the last."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token, and go on behind it."""
        token = self.peek()
        self.at += 1
        return token

    def skip_blanks(self) -> None:
        """Go on to a token that is no blank."""
        while self.peek().isspace():
            self.at += 1

    def read(self, ends: Container[str], depth: int) -> str:
        """Read up to one of the tokens that end this part, which is left to the caller."""
        parts: list[str] = []
        while (token := self.peek()) and token not in ends:
            if token.isspace():
                parts.append(" ")
                self.at += 1
                continue
            above = self._scripted(depth)
            while self._passes_slash():
                above = rf"\frac{{{self._bare(above)}}}{{{self._bare(self._scripted(depth))}}}"
            parts.append(above)
        return "".join(parts)

    def argument(self, depth: int) -> str:
        """Read one piece, without brackets around it that only group."""
        return self._bare(self.read_piece(self, depth))

    def _passes_slash(self) -> bool:
        """Return True, and go on behind it, if a slash comes next, blanks aside; nothing moves for anything else."""
        at = self.at
        self.skip_blanks()
        if self.peek() != "/":
            self.at = at
            return False
        self.at += 1
        self.skip_blanks()
        return True

    def _scripted(self, depth: int) -> str:
        """Read one piece with its primes, index and power."""
        base = self.read_piece(self, depth)
        scripts = ""
        while self.peek() in ("_", "^", "'"):
            sign = self.take()
            scripts += sign if sign == "'" else f"{sign}{{{self.argument(depth)}}}"
        return base.rstrip() + scripts if scripts else base

    def _bare(self, latex: str) -> str:
        """Return an argument without the one pair of brackets around it, which only groups."""
        plain = latex.strip()
        begin, end = (2 if plain[at : at + 2] in (r"\{", r"\}") else 1 for at in (0, len(plain) - 2))
        if plain[:begin] not in self.groups or plain[-end:] not in map(_PARTNERS.get, self.groups):
            return plain
        depth = 0
        for sign in plain[begin:-end]:
            depth += (sign in self.groups) - (sign in map(_PARTNERS.get, self.groups))
            if depth < 0:
                return plain
        return plain[begin:-end]
