"""Which constructs of a formula an interpretation gives a value, and which the kernels take for something else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prism.algebra.expr import Expr, Formula, symbols, walk
from prism.budget import charge_steps, remembered
from prism.equivalence.interpretation.names import (
    CHOICES,
    NAMED,
    are_balanced,
    bold_neighbours,
    exponent_of,
    harmonic_indices,
    is_lone_differential,
    letter_counts,
    letters_of,
    order_of,
)
from prism.equivalence.interpretation.quanta import has_quanta, is_anticommutator

_CONSTRUCTS = frozenset(("derivative", "partial", "differential", "integral", "sum", "product", "limit", "nabla",
                         "cross", "dot", "matrix", "commutator", "bracket", "opaque", "at", "dots"))  # fmt: skip
_CALCULUS = frozenset(("derivative", "partial", "differential", "integral", "nabla", "contour", "at"))
_EXCLUDED = frozenset(("contour", "set", "tuple", "interval", "list", "union", "intersection", "tensor",
                       "wedge", "phasor", "ratio", "modulo", "parallel"))  # fmt: skip
_EVALUATED_CALLS = CHOICES | {"Re", "Im", "det"}
_OF_COMPLEX = frozenset(("Re", "Im", "arg", "tr", "Tr", "det"))
_STARS = frozenset(("*", r"\bar", "^{*}", "T", "^T", "^{T}", r"\top", r"\dagger"))
_NO_QUANTITIES = frozenset(("", "x", "y", "z", "r", "t", "s", r"\theta", r"\phi", r"\varphi", "i", "j", "C", "N", "n",
                            "d", "O", r"\delta", r"\epsilon", r"\varepsilon"))  # fmt: skip
_OF_QUANTA = frozenset((r"\hbar", r"\omega", "m", "a", "b", "c", "p", "x", "q", "J", "L", "S", r"\sigma", "N", "I",
                        r"\uparrow", r"\downarrow"))  # fmt: skip
_STYLES = re.compile(r"\\(?:vec|hat|bar|overline|tilde|dot|ddot|mean|mathbf|mathrm|mathcal|operatorname)\b|[{}^*'\s]")
_LETTER = re.compile(r"\\[A-Za-z]+|[A-Za-z]")


@dataclass(frozen=True, slots=True, eq=False)
class Constructs:
    """What a formula has beyond algebra.

    Attributes:
        is_excluded: it is no equation or expression, or has a construct that no interpretation gives a value.
        is_beyond: a construct has to be evaluated.
        has_calculus: it has a derivative, a differential, an integral or a nabla.
        has_cases: a construct has cases, which the kernels evaluate where they meet both.
        is_misread: the kernels take a construct for a letter or a product, so that their witness proves nothing.
        is_delicate: it matters if a letter is a number, complex or a matrix, and the kernels may take it for less.
        has_matrices: a bold letter is inverted, so that the kernels take a matrix for a number.
        letters: all letters, without style and index.
        bound: those of bound variables, of limits and of indices, which may drop out.
        single: by letter, the names whose letter stands in one place only: no other place takes its effect away.
    """

    is_excluded: bool
    is_beyond: bool
    has_calculus: bool
    has_cases: bool
    is_misread: bool
    is_delicate: bool
    has_matrices: bool
    letters: frozenset[str]
    bound: frozenset[str]
    single: Mapping[str, str]

    def may_say_what(self, other: Constructs) -> bool:
        """Return True if two formulas are about the same letters, in whatever style and with whatever index."""
        return (self.letters ^ other.letters) <= self.bound | other.bound


@remembered(8192)
def constructs_of(f: Formula) -> Constructs:
    """Return what a formula has beyond algebra."""
    nodes = [node for member in f.members for node in walk(member)]
    charge_steps(len(nodes))
    ops = {node.op for node in nodes}
    is_quantum = has_quanta(nodes)
    excluded = {node.op for node in nodes if node.op in _EXCLUDED and not (is_quantum and is_anticommutator(node))}
    is_excluded = f.kind not in ("equation", "expression") or bool(f.parts) or bool(excluded)
    pairs = any(
        count > 1 for node in nodes if node.op in ("mul", "div", "dot", "sym") for count in letter_counts(node).values()
    )
    is_called = any(node.op == "apply" and node.name not in _EVALUATED_CALLS and _is_named(node) for node in nodes)
    has_tensor = any(
        (node.op == "sym" and len(letters_of(node.name)) > 1)
        or (node.op in ("derivative", "partial") and any(letters_of(arg.name) for arg in node.args[1:]))
        for node in nodes
    )
    is_tensor = pairs and has_tensor and are_balanced(f.members)
    is_delicate = any(
        (node.op == "apply" and node.name in _OF_COMPLEX)
        or (node.op == "opaque" and node.name in _STARS)
        or (node.op == "pow" and exponent_of(node) == -1 and _is_bold(node.args[0]))
        or (node.op == "pow" and node.args[1].name == "T" and any(map(_is_bold, walk(node.args[0]))))
        or (node.op == "mul" and bold_neighbours(node))
        or (node.op == "mul" and sum(arg.op == "matrix" for arg in node.args) > 1)
        for node in nodes
    )
    has_direction = (
        any(node.op == "sym" and node.name.startswith(r"\hat{") for node in nodes) and "commutator" not in ops
    )
    has_harmonic = any(name.startswith("Y_") and variable == r"\theta" for name, variable in f.depends)
    is_called = is_called or has_harmonic
    is_delicate = is_delicate or has_harmonic or is_lone_differential(f) or "cases" in ops
    has_order = any(node.op == "apply" and node.name in ("O", r"\mathcal{O}") for node in nodes)
    is_misread = has_order or "dots" in ops or is_tensor or is_called or is_quantum
    is_misread = is_misread or (has_direction and not ops.isdisjoint(("cross", "dot", "abs")))
    calls = any(node.op == "apply" and node.name not in _EVALUATED_CALLS for node in nodes)
    is_beyond = is_misread or calls or is_delicate or not ops.isdisjoint(_CONSTRUCTS)
    names = [node.name for node in nodes if node.op == "sym" or (node.op == "apply" and not _is_named(node))]
    places = Counter(map(base_letter, names))
    letters = frozenset(places) - _NO_QUANTITIES
    bound = {
        base_letter(name)
        for node in nodes
        if node.op in ("integral", "sum", "product", "limit") and len(node.args) > 1
        for name in symbols(*node.args[1:])
    }
    if is_quantum or not ops.isdisjoint(("commutator", "bracket")):  # constants and powers that their rules bring in
        bound |= _OF_QUANTA
    if any(node.op == "pow" and node.args[1].name == "T" for node in nodes):
        bound.add("T")  # of a transposed matrix
    inverted = (
        node.args[0] for node in nodes if node.op == "pow" and exponent_of(node) == -1 and _is_bold(node.args[0])
    )
    turned = {base_letter(name) for name in symbols(*inverted)}
    bound |= {letter for letter in turned if places[letter] > 1}  # a change of basis may drop out
    arguments = _arguments(nodes)
    indices = {letter for node in nodes if node.op == "sym" for letter in letters_of(node.name)}
    return Constructs(
        is_excluded,
        is_beyond,
        not ops.isdisjoint(_CALCULUS),
        "cases" in ops,
        is_misread,
        is_delicate,
        any(node.op == "pow" and exponent_of(node) == -1 and _is_bold(node.args[0]) for node in nodes),
        letters,
        frozenset(bound | indices),
        {
            letter: name
            for name in names
            if places[letter := base_letter(name)] == 1 and letter not in _NO_QUANTITIES | bound | indices | arguments
        },
    )


def _arguments(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters of arguments of unknown functions, which may be left out: `U(x)` is `U`."""
    calls = [node for node in nodes if node.op == "apply" and not _is_named(node)]
    return frozenset(base_letter(name) for call in calls for name in symbols(*call.args))


def _is_bold(node: Expr) -> bool:
    """Return True for bold letters, alone or multiplied."""
    return all(
        each.op == "sym" and each.name.startswith(r"\vec{") for each in (node.args if node.op == "mul" else (node,))
    )


def _is_named(node: Expr) -> bool:
    """Return True for a call of a function that has a value of its own, as `J_0` and `Re`."""
    return node.name in NAMED or order_of(node.name) is not None or harmonic_indices(node.name) is not None


def base_letter(name: str) -> str:
    """Return the letter of a name, without style, index and prime."""
    found = _LETTER.search(_STYLES.sub("", name))
    return "" if found is None else found[0]
