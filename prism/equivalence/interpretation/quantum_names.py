r"""Names of the operators of quantum mechanics that have rules of their own, and whether a formula is about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.algebra.expr import Expr, Formula, symbols, walk

DAGGER = r"^{\dagger}"
LADDER = re.compile(r"(?:[ab]|\\hat\{[ab]\})$")
COUNT = re.compile(r"\\hat\{[Nn]\}$")
PLACE = re.compile(r"(?:\\hat\{)?([xqp])\}?(?:_x)?$")
SPIN = re.compile(r"(?:\\hat\{|\\vec\{)?([JLS])\}?(?:_\{?([xyzijk123+-]|\\pm)\}?)?$")
PAULI = re.compile(r"(?:\\hat\{|\\vec\{)?(\\sigma)\}?(?:_\{?([xyzijk123+-])\}?)?$")
FERMION = re.compile(r"(?:c|\\hat\{c\})(?:_\{?(\d|[a-z])\}?)?$")
_PAULI_OF_AXES = re.compile(r"\\sigma_\{?[xyz]\}?$")
MARKED = re.compile(r"\\hat\{|\\vec\{\\sigma|\^\{\\dagger")


def may_have_quanta(name: str) -> bool:
    """Return True for the name of a symbol that may be an operator with rules of its own."""
    base = name.removesuffix(DAGGER)
    if base != name:
        return LADDER.match(base) is not None or FERMION.match(base) is not None
    match = SPIN.match(name)
    if match is not None:
        return bool(match[2]) or name.startswith("\\hat")
    return PAULI.match(name) is not None or (name.startswith(r"\hat{") and PLACE.match(name) is not None)


def axis_of(name: str) -> str:
    """Return the index of an operator with rules of its own, empty without one."""
    match = SPIN.match(name) or PAULI.match(name)
    if match is not None:
        return match[2] or ""
    fermion = FERMION.match(name)
    return (fermion[1] or "") if fermion is not None else ""


def kind_of(name: str) -> str:
    """Return which operator a name without dagger means: a, N, x, p, or the letter of an angular momentum."""
    if LADDER.match(name):
        return "a"
    if COUNT.match(name):
        return "N"
    if match := PLACE.match(name):
        return "p" if match[1] == "p" else "x"
    found = SPIN.match(name) or PAULI.match(name)
    return "" if found is None else found[1]


def has_quanta(nodes: Sequence[Expr]) -> bool:
    r"""Return True if a formula may have operators with rules of their own: by hats, or by what is beside them.

    Stresses `\sigma_x`, widths and the components of a classical angular momentum are none.
    """
    found = {node.name for node in nodes if node.op == "sym" and may_have_quanta(node.name)}
    return bool(found) and (any(map(MARKED.search, found)) or speaks_of_quanta(nodes))


def speaks_of_quanta(nodes: Sequence[Expr]) -> bool:
    """Return True for a formula with the quantum of action, the imaginary unit, a commutator or a state, or AB + BA."""
    return has_marked_quanta(nodes) or any(node.op == "sym" and node.name == r"\hbar" for node in nodes)


def has_marked_quanta(nodes: Sequence[Expr]) -> bool:
    r"""Return True for a formula with a hat, the imaginary unit, a commutator or a state, or with AB + BA.

    Beside the quantum of action alone the one letter of `\sigma_x^2 = \hbar/(m\omega)` is a width.
    """
    return any(
        (node.op == "sym" and (node.name == "i" or MARKED.search(node.name) is not None))
        or node.op in ("commutator", "bracket", "set")
        or (node.op == "add" and len(node.args) == 2 and node.args[0].args == node.args[1].args[::-1] != ())
        for node in nodes
    )


def is_anticommutator(node: Expr) -> bool:
    r"""Return True for `\{A, B\}` of two operators with rules of their own, or of two with hats and their means."""
    names = [symbols(arg) for arg in node.args] if node.op == "set" and len(node.args) == 2 else []
    has_mean = any(part.op == "bracket" for arg in node.args for part in walk(arg))
    if names and has_mean and all(any(name.startswith(r"\hat{") for name in each) for each in names):
        return True
    return (
        any(may_have_quanta(name) for each in names for name in each)
        and all(any(may_have_quanta(name) or FERMION.match(name) for name in each) for each in names)
    )  # fmt: skip


def may_be_matrices_reordered(a: Formula, b: Formula) -> bool:
    r"""Return True for `\sigma_x\sigma_y` beside `\sigma_y\sigma_x`, alone or as what one letter is.

    They may be Pauli matrices as well as widths or stresses. Where anything else is beside them, a root, a square, a
    quotient, another letter or several terms, they are numbers, unless the formula speaks of operators.
    """
    words = [[_lone_word(member) for member in f.members if member.op != "sym"] for f in (a, b)]
    return all(words) and all(word for each in words for word in each) and words[0] != words[1]


def _lone_word(node: Expr) -> tuple[str, ...]:
    """Return the names in a product of at least two Pauli matrices and of numbers; empty for anything else."""
    if node.op == "neg":
        return _lone_word(node.args[0])
    if node.op != "mul":
        return ()
    names = tuple(arg.name for arg in node.args if arg.op != "num")
    is_word = len(set(names)) > 1 and all(arg.op in ("sym", "num") for arg in node.args)
    return names if is_word and all(map(_PAULI_OF_AXES.match, names)) else ()
