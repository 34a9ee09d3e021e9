r"""Names of the operators of quantum mechanics that have rules of their own, and whether a formula is about them."""

from __future__ import annotations

import string
from collections.abc import Sequence

from prism.algebra.expr import Expr, Formula, symbols, walk
from prism.algebra.symbols import ADJOINT, HAT, VECTOR, Symbol, symbol_of

DAGGER = r"^{\dagger}"
_PLAIN, _AXES = frozenset(("",)), frozenset(("", *"xyzijk123+-"))
_HATS, _ARROWS = frozenset(("", HAT)), frozenset(("", HAT, VECTOR))
_FAMILIES = {  # of operators by letter: with the styles and subscripts that each may have
    **dict.fromkeys("ab", ("ladder", _HATS, _PLAIN)),
    **dict.fromkeys("Nn", ("count", frozenset((HAT,)), _PLAIN)),
    **dict.fromkeys("xqp", ("place", _HATS, frozenset(("", "x")))),
    **dict.fromkeys("JLS", ("spin", _ARROWS, _AXES | {r"\pm"})),
    r"\sigma": ("pauli", _ARROWS, _AXES),
    "c": ("fermion", _HATS, frozenset(("", *string.digits, *string.ascii_lowercase))),
}
_WITH_ADJOINT = frozenset(("ladder", "fermion"))
_PAULI_OF_AXES = frozenset(rf"\sigma_{axis}" for axis in "xyz")


def family_of(name: str) -> str:
    """Return which operator with rules of its own a name may mean, as `ladder` or `spin`; empty for none."""
    read = symbol_of(name)
    family, styles, subscripts = _FAMILIES.get(read.base, ("", _PLAIN, _PLAIN))
    is_adjoint = read.sup == ADJOINT and family in _WITH_ADJOINT
    is_its = read.style in styles and read.sub in subscripts and (is_adjoint or not read.sup)
    return family if is_its and not (read.change or read.primes or read.call) else ""


def may_have_quanta(name: str) -> bool:
    """Return True for the name of a symbol that may be an operator with rules of its own."""
    read, family = symbol_of(name), family_of(name)
    if family in _WITH_ADJOINT:
        return bool(read.sup)
    return family == "pauli" or (family == "place" and read.is_hat) or (
        family == "spin" and (read.is_hat or bool(read.sub))
    )  # fmt: skip


def is_marked(read: Symbol) -> bool:
    r"""Return True for a letter with a hat or a dagger, and for `\vec{\sigma}`."""
    return read.is_hat or read.sup == ADJOINT or read.letter == r"\vec{\sigma}"


def axis_of(name: str) -> str:
    """Return the index of a spin, a Pauli matrix or a fermion, empty for any other."""
    return symbol_of(name).sub if family_of(name) in ("spin", "pauli", "fermion") else ""


def has_quanta(nodes: Sequence[Expr]) -> bool:
    r"""Return True if a formula may have operators with rules of their own: by hats, or by what is beside them.

    Stresses `\sigma_x`, widths and the components of a classical angular momentum are none.
    """
    found = {node.name for node in nodes if node.op == "sym" and may_have_quanta(node.name)}
    return bool(found) and (any(map(is_marked, map(symbol_of, found))) or speaks_of_quanta(nodes))


def speaks_of_quanta(nodes: Sequence[Expr]) -> bool:
    """Return True for a formula with the quantum of action, the imaginary unit, a commutator or a state, or AB + BA."""
    return has_marked_quanta(nodes) or any(node.op == "sym" and node.name == r"\hbar" for node in nodes)


def has_marked_quanta(nodes: Sequence[Expr]) -> bool:
    r"""Return True for a formula with a hat, the imaginary unit, a commutator or a state, or with AB + BA.

    Beside the quantum of action alone the one letter of `\sigma_x^2 = \hbar/(m\omega)` is a width.
    """
    return any(
        (node.op == "sym" and (node.name == "i" or is_marked(symbol_of(node.name))))
        or node.op in ("commutator", "bracket", "set")
        or (node.op == "add" and len(node.args) == 2 and node.args[0].args == node.args[1].args[::-1] != ())
        for node in nodes
    )


def is_anticommutator(node: Expr) -> bool:
    r"""Return True for `\{A, B\}` of two operators with rules of their own, or of two with hats and their means."""
    names = [symbols(arg) for arg in node.args] if node.op == "set" and len(node.args) == 2 else []
    has_mean = any(part.op == "bracket" for arg in node.args for part in walk(arg))
    if names and has_mean and all(any(symbol_of(name).is_hat for name in each) for each in names):
        return True
    return (
        any(may_have_quanta(name) for each in names for name in each)
        and all(any(may_have_quanta(name) or family_of(name) == "fermion" for name in each) for each in names)
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
    return names if is_word and _PAULI_OF_AXES.issuperset(names) else ()
