r"""The name of a symbol, taken apart once: style, letter, primes, subscript and superscript.

An expression names a symbol by its LaTeX as the reader wrote it: `\vec{E}'_x`, `\psi^{*}`, `\Delta T`. What such a
name says is read here; tests/algebra/test_symbols.py counts what other modules still take apart by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

VECTOR = "vec"
HAT = "hat"
CHANGES = frozenset((r"\Delta", r"\delta"))  # with a letter behind it, the name of a change
ADJOINT = r"\dagger"  # superscripts
STAR = "*"
TURNED = frozenset(("T", r"\top", r"\mathsf{T}"))
LETTERS_OF_STATES = frozenset((r"\psi", r"\Psi", r"\phi", r"\Phi", r"\varphi", r"\chi"))
_MAX_REMEMBERED = 8192  # names

_GROUP = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_SCRIPT = re.compile(rf"(?:\{{\}})?([_^])(?:\{{({_GROUP})\}}|(\\[A-Za-z]+|[^{{}}]))")  # `{}` before one that is set off
_NAME = re.compile(
    rf"(?P<change>\\(?:Delta|delta|partial)(?: |(?=\\)))?"
    rf"(?:\\(?P<style>[A-Za-z]+)\{{(?P<inner>{_GROUP})\}}|(?P<letter>\\?[A-Za-z]+|(?=\^)))(?P<primes>'*)"
    rf"(?P<scripts>(?:{_SCRIPT.pattern})*)(?P<call>\(.*\))?"
)
_INDEXED = re.compile(r"(?<=_)(?:\{([^{}]*)\}|(\\[A-Za-z]+|[^\\{}^']))")
_PARTS = re.compile(r"\\[A-Za-z]+|[A-Za-z]+|\d+|.")
_LABEL = re.compile(r"-?(?:\\[A-Za-z]+|[A-Za-z\d])(?: ?'+)?(?: ?(?:[+-]\d|/2))?|[^, ]")
_INDICES = frozenset("ijklmnpqrst")
_WORDS_OF_INDICES = frozenset("min in lim kin lin mil nil tr st int rms net sp kr".split())


@dataclass(frozen=True, slots=True)
class Symbol:
    r"""What the name of a symbol consists of; `\vec{E}'_{xy}` is E in the style `vec`, primed once, with subscript xy.

    Attributes:
        name: the whole name.
        base: the letter or word without style and scripts; a name that is built otherwise, as a text, is all base.
            Empty for a raised index by which something is differentiated, `^\mu`.
        style: the command of the outermost accent or font, without backslash: `vec` (bold type too), `hat`, `bar`.
        change: `\Delta `, `\delta ` or `\partial ` before it.
        primes: how many.
        sub, sup: subscript and superscript without their braces; of several, `R^{a}{}_{b}{}^{c}`, together.
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
    def is_unit(self) -> bool:
        r"""Return True for a base unit as a symbol, `\unit{kg}`."""
        return self.style == "unit"

    @property
    def is_light(self) -> bool:
        """Return True for a letter or a word without style and change, whatever its primes and scripts."""
        return not self.style and not self.change and self.base.replace("\\", "", 1).isalpha()

    @property
    def unstyled(self) -> str:
        r"""Return the name without its style: `E'_x` of `\vec{E}'_x`."""
        return self.name.replace(self.letter, self.base, 1)

    @property
    def unprimed(self) -> str:
        """Return the name without the primes of its letter."""
        return self.name.replace(self.head, self.change + self.letter, 1)

    @property
    def scripts(self) -> tuple[tuple[str, bool], ...]:
        """Return what stands below and above in the order of the name, each with True if it stands above."""
        scripts = _SCRIPT.findall(self.name[len(self.head) :])
        return tuple((braced or alone, mark == "^") for mark, braced, alone in scripts)


@lru_cache(maxsize=_MAX_REMEMBERED)
def symbol_of(name: str) -> Symbol:
    r"""Take the name of a symbol apart.

    >>> symbol_of(r"\vec{E}'_{xy}").base, symbol_of(r"\hat{a}^{\dagger}").sup, symbol_of(r"\Delta T").change
    ('E', '\\dagger', '\\Delta ')
    """
    read = _NAME.fullmatch(name)
    if read is None:
        return Symbol(name, name, body=name)
    scripts = list(_SCRIPT.finditer(read["scripts"]))
    below, above = (["".join(filter(None, (each[2], each[3]))) for each in scripts if each[1] == mark] for mark in "_^")
    return Symbol(
        name,
        read["letter"] if read["inner"] is None else read["inner"],
        read["style"] or "",
        read["change"] or "",
        len(read["primes"]),
        "".join(below),
        "".join(above),
        read["call"] or "",
        name[: read.start("scripts")] + "".join(each[0] for each in scripts if each[1] == "_") + (read["call"] or ""),
    )


def spelled(head: str, sub: str = "", sup: str = "") -> str:
    r"""Return the name with a head, a subscript and a superscript.

    >>> spelled("E", "x"), spelled(r"\hat{a}", "12", r"\dagger")
    ('E_x', '\\hat{a}_{12}^{\\dagger}')
    """
    is_one = len(sub) == 1 or (sub[:1] == "\\" and sub[1:].isalpha())
    below = f"_{sub}" if is_one else f"_{{{sub}}}" if sub else ""
    return head + below + (f"^{{{sup}}}" if sup else "")


@lru_cache(maxsize=_MAX_REMEMBERED)
def labels_of(script: str) -> tuple[str, ...]:
    r"""Return the letters and digits in a subscript or superscript, with primes and with what is added to them.

    Any other sign is one by itself; spaces and commas are left out.

    >>> labels_of(r"\mu\nu"), labels_of("i+1,j"), labels_of("l,-m'"), labels_of("12*")
    (('\\mu', '\\nu'), ('i+1', 'j'), ('l', "-m'"), ('1', '2', '*'))
    """
    return tuple(label.replace(" ", "") for label in _LABEL.findall(script))


def relabelled(name: str, labels: Mapping[str, str]) -> str:
    """Return a name with other labels in its scripts."""
    head = symbol_of(name).head
    return head + _LABEL.sub(lambda label: labels.get(label[0], label[0]), name[len(head) :])


def replace_index(name: str, index: str, value: str) -> str:
    """Replace an index letter in the subscript of a symbol's name by a value; a name without this index is kept.

    >>> [replace_index(name, "i", "2") for name in ("m_i", "r_{ij}", "x_{i+1}", "v_{min}")]
    ['m_2', 'r_{2j}', 'x_3', 'v_{min}']
    """
    if "_" not in name:
        return name

    def replaced(subscript: re.Match[str]) -> str:
        """Return one matched subscript with the index replaced, in braces if it is longer than a character."""
        parts = _PARTS.findall(subscript[1] or subscript[2])
        new = [value if part == index else _replace_adjacent_index(part, index, value) for part in parts]
        if new == parts:
            return subscript[0]
        text = "".join(new)
        if value.isdigit() and len(parts) == 3 and parts[0] == index and parts[1] in "+-" and parts[2].isdigit():
            text = str(int(value) + int(parts[1] + parts[2]))
        return text if len(text) == 1 else f"{{{text}}}"

    return _INDEXED.sub(replaced, name)


def _replace_adjacent_index(part: str, index: str, value: str) -> str:
    """Replace an index among adjacent letters of a subscript, as `i` in `ij`; words such as `min` stay as they are."""
    together = len(part) <= 3 and _INDICES.issuperset(part) and part not in _WORDS_OF_INDICES
    return part.replace(index, value) if together else part


@lru_cache(maxsize=_MAX_REMEMBERED)
def letters_of_range(text: str) -> tuple[str, ...]:
    r"""Return the letters in what stands below a sum: i and j of `i < j` and `i \neq j`; one name is itself."""
    parts = _PARTS.findall(text)
    if len(parts) == 1:
        return (text,)
    return tuple(dict.fromkeys(part for part in parts if len(part) == 1 and part.isalpha()))
