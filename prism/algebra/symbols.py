r"""The name of a symbol, taken apart once: style, letter, primes, subscript and superscript.

An expression names a symbol by its LaTeX as the reader wrote it: `\vec{E}'_x`, `\psi^{*}`, `\Delta T`. What such a
name says is read here; no other module has a pattern over names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

VECTOR = "vec"
HAT = "hat"
ADJOINT = r"\dagger"  # superscripts
STAR = "*"
TURNED = frozenset(("T", r"\top", r"\mathsf{T}"))
LETTERS_OF_STATES = frozenset((r"\psi", r"\Psi", r"\phi", r"\Phi", r"\varphi", r"\chi"))
_MAX_REMEMBERED = 8192  # names

_GROUP = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_NAME = re.compile(
    rf"(?P<change>\\(?:Delta|delta|partial)(?: |(?=\\)))?"
    rf"(?:\\(?P<style>[A-Za-z]+)\{{(?P<inner>{_GROUP})\}}|(?P<letter>\\?[A-Za-z]+))(?P<primes>'*)"
    rf"(?:_(?:\{{(?P<sub>{_GROUP})\}}|(?P<low>\\[A-Za-z]+|[^{{}}])))?"
    rf"(?P<top>\^(?:\{{(?P<sup>{_GROUP})\}}|(?P<high>\\[A-Za-z]+|[^{{}}])))?(?P<call>\(.*\))?"
)


@dataclass(frozen=True, slots=True)
class Symbol:
    r"""What the name of a symbol consists of; `\vec{E}'_{xy}` is E in the style `vec`, primed once, with subscript xy.

    Attributes:
        name: the whole name.
        base: the letter or word without style and scripts; a name that is built otherwise, as a text, is all base.
        style: the command of the outermost accent or font, without backslash: `vec` (bold type too), `hat`, `bar`.
        change: `\Delta `, `\delta ` or `\partial ` before it.
        primes: how many.
        sub, sup: subscript and superscript without their braces.
        call: the brackets behind it, as those of a time.
        body: the name without its superscript.
    """

    name: str
    base: str
    style: str = ""
    change: str = ""
    primes: int = 0
    sub: str = ""
    sup: str = ""
    call: str = ""
    body: str = field(default="", compare=False)

    @property
    def letter(self) -> str:
        r"""Return the base with its style: `\vec{E}` of `\vec{E}'_x`."""
        return rf"\{self.style}{{{self.base}}}" if self.style else self.base

    @property
    def head(self) -> str:
        r"""Return the name up to its scripts: `\vec{E}'` of `\vec{E}'_x`."""
        return f"{self.change}{self.letter}{self.primes * chr(39)}"

    @property
    def is_vector(self) -> bool:
        """Return True for a letter with an arrow or in bold type."""
        return self.style == VECTOR and not self.change

    @property
    def is_hat(self) -> bool:
        """Return True for a letter with a hat."""
        return self.style == HAT and not self.change

    @property
    def is_accented(self) -> bool:
        """Return True for a letter with an arrow or a hat, or in bold type."""
        return self.is_vector or self.is_hat

    @property
    def bare(self) -> str:
        r"""Return the name without its style: `F_1` of `\vec{F}_1`."""
        return self.name.replace(self.letter, self.base, 1)


@lru_cache(maxsize=_MAX_REMEMBERED)
def symbol_of(name: str) -> Symbol:
    r"""Take the name of a symbol apart.

    >>> symbol_of(r"\vec{E}'_{xy}").base, symbol_of(r"\hat{a}^{\dagger}").sup, symbol_of(r"\Delta T").change
    ('E', '\\dagger', '\\Delta ')
    """
    read = _NAME.fullmatch(name)
    if read is None:
        return Symbol(name, name, body=name)
    return Symbol(
        name,
        read["letter"] if read["inner"] is None else read["inner"],
        read["style"] or "",
        read["change"] or "",
        len(read["primes"]),
        read["sub"] or read["low"] or "",
        read["sup"] or read["high"] or "",
        read["call"] or "",
        name[: read.start("top")] + name[read.end("top") :] if read["top"] else name,
    )
