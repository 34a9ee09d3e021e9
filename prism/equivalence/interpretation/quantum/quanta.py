r"""Operators of quantum mechanics that are known by name: what commutes with what is theirs, and no property beyond.

Ladder operators, and place and momentum made of them, are tables between number states, of which only those columns
count that the cut cannot reach. An angular momentum is a sum of several spins, so that the square of none is a number.
Pauli matrices are themselves; fermions are refused.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from flint import acb

from prism.algebra.expr import Expr, symbols, walk
from prism.algebra.symbols import LETTERS_OF_STATES, STAR, symbol_of
from prism.equivalence.interpretation.quantum.quantum_names import (
    DAGGER,
    axis_of,
    family_of,
    has_marked_quanta,
    is_marked,
    speaks_of_quanta,
)
from prism.equivalence.interpretation.source import Source
from prism.equivalence.interpretation.values import Table, Unvalued

_MATRIX_FUNCTIONS = frozenset(("tr", "Tr", "det", "Re", "Im"))
_GREEK = (r"\alpha", r"\beta", r"\gamma", r"\theta", r"\lambda", r"\tau", r"\omega", r"\epsilon", r"\xi")
_COMMUTE_WITH_PLACE = frozenset((
    *"abcdehiklmntCDELN", *_GREEK, r"\hbar", r"\pi", r"\Omega", r"\mu", r"\kappa", r"\Delta", r"\delta",
))  # fmt: skip
_DEPEND_ON_PLACE = LETTERS_OF_STATES.union("xyzrpqfVU", (r"\theta",))
_NUMBERS = frozenset((*string.ascii_lowercase, *_GREEK, r"\phi", r"\varphi"))
_NUMBERS_OF_STATES = frozenset("nmkl")
_UNITS = frozenset((r"\hat{I}", r"\vec{I}", r"\vec{1}", r"\hat{1}", "I", r"\mathbb{1}", r"\mathbb{I}", r"\mathbb{I}"))
_WHOLE = ((2, 5), (41, 47), (3, 9), (12, 23))  # numbers of states, draw by draw
_MOST_DEGREE = 6  # of a formula in ladder operators
_MOST_OF_SPIN = 4  # of a formula in angular momenta
_LETTER_POWER = 6  # counted for the power of an operator that is a letter
FUNCTION_DEGREE = 4  # of what stands for an unknown function of an operator
LABEL_DRAWS = 2  # rounds of all distances between two number states


@dataclass(frozen=True)
class Space:
    """The space that the operators of two formulas act on.

    Attributes:
        kind: `ladder`, `spin` or `pauli`; `states` for numbered states alone.
        degree: of the formulas in the operators; with the distances between numbered states.
        labels: letters of number states.
        numbers: the largest written number of a state; -1 if there is none.
        names: of the operators.
        is_low: number states are those from the lowest, for one is written or a power is a letter.
        letters: names of the quantum of action, the mass and the frequency; the first is empty if no formula has it.
    """

    kind: str
    degree: int
    labels: tuple[str, ...] = ()
    numbers: int = -1
    names: frozenset[str] = frozenset()
    is_low: bool = True
    letters: tuple[str, str, str] = ("", "m", r"\omega")

    @property
    def draws(self) -> int:
        """How many draws are needed at least, for all distances between the labels."""
        return 0 if len(self.labels) < 2 else LABEL_DRAWS * (2 * self.degree + 1)

    def numbers_among(self, operators: frozenset[str]) -> frozenset[str]:
        """Return the letters that are no operators beside those with hats."""
        has_hats = any(symbol_of(name).is_hat for name in self.names)
        return frozenset(name for name in operators - self.names if has_hats and _is_one_of(name, _NUMBERS))

    # Number states. -----------------------------------------------------------------------------------------------

    def label(self, name: str, draw: int) -> int:
        """Return the number of a state that a letter stands for."""
        k = self.labels.index(name)
        apart = (draw + k - 1) % (2 * self.degree + 1) - self.degree if k else 0
        centre = Source(f"{draw}/state").integer(0, 4) + draw % 2 if self.is_low else self._centre(draw)
        return max(0, centre + apart)

    def _centre(self, draw: int) -> int:
        """Return the number of the first label."""
        return Source(f"{draw}/state").integer(*_WHOLE[draw % len(_WHOLE)])

    def lowest(self, draw: int) -> int:
        """Return the number of the first state that is kept."""
        return 0 if self.is_low else max(0, self._centre(draw) - 2 * self.degree - 1)

    def size(self, draw: int) -> int:
        """Return how many states there are."""
        if self.kind == "spin":
            return sum(self._rows())
        if self.kind == "pauli":
            return 2
        if self.is_low:
            highest = self.degree + 5 if self.labels else self.numbers
            return max(10, 2 * self.degree + 3, highest + self.degree + 2)
        return self._centre(draw) + 2 * self.degree + 2 - self.lowest(draw)

    def _rows(self) -> list[int]:
        """Return how many states each of the spins has, for the degree of the formulas."""
        return [self.degree + 1 + k for k in range(self.degree // 2 + 1)]

    def cut(self, table: Table, draw: int) -> Table:
        """Return the columns of an operator between number states that no product has carried out of the table."""
        size = self.size(draw)
        if self.kind != "ladder" or table.columns != size or table.rows != size:
            return table
        first = self.degree if self.lowest(draw) else 0
        kept = range(first, size - self.degree)
        return Table(size, len(kept), tuple(table.at(row, col) for row in range(size) for col in kept))

    def within(self, table: Table, draw: int) -> Table:
        """Return a state without its parts near the cut."""
        if self.kind != "ladder":
            return table
        kept = range(self.degree if self.lowest(draw) else 0, table.rows - self.degree)
        return Table(table.rows, 1, tuple(entry if k in kept else acb(0) for k, entry in enumerate(table.entries)))

    def state(self, number: int, draw: int) -> Table:
        """Return a numbered state; raises Unvalued for one beyond those that are kept."""
        place, size = number - self.lowest(draw), self.size(draw)
        if place >= size or (number >= 0 > place):
            raise Unvalued("a state that is not kept")
        return Table(size, 1, tuple(acb(int(k == place)) for k in range(size)))

    # Operators. -----------------------------------------------------------------------------------------------------

    def lowering(self, draw: int) -> Table:
        """Return the operator a between number states."""
        low, size = self.lowest(draw), self.size(draw)
        return Table(
            size, size,
            tuple(acb(low + c).sqrt() if r == c - 1 else acb(0) for r in range(size) for c in range(size)),
        )  # fmt: skip

    def spin(self, axis: str) -> Table:
        """Return a component of an angular momentum in units of the quantum of action."""
        size = sum(self._rows())
        entries = [acb(0)] * (size * size)
        start = 0
        for rows in self._rows():
            for k in range(rows):
                top = acb(rows - 1) / acb(2)
                if axis == "z":
                    entries[(start + k) * (size + 1)] = top - acb(k)
                if k + 1 < rows:
                    raised = acb((k + 1) * (rows - 1 - k)).sqrt()  # from the state k + 1 to k
                    above, below = (start + k) * size + start + k + 1, (start + k + 1) * size + start + k
                    if axis == "+":
                        entries[above] = raised
                    elif axis == "-":
                        entries[below] = raised
                    elif axis == "x":
                        entries[above] = entries[below] = raised / acb(2)
                    elif axis == "y":
                        entries[above], entries[below] = raised * acb(0, -0.5), raised * acb(0, 0.5)
            start += rows
        return Table(size, size, tuple(entries))


def pauli(axis: str) -> Table:
    """Return a Pauli matrix; those of + and - are raising and lowering."""
    none, one, turn = acb(0), acb(1), acb(0, 1)
    rows = {"x": (none, one, one, none), "y": (none, -turn, turn, none), "z": (one, none, none, -one),
            "+": (none, one, none, none), "-": (none, none, one, none)}  # fmt: skip
    return Table(2, 2, rows[axis])


# Which operators two formulas are about. ------------------------------------------------------------------------------


def is_vector_of_operators(node: Expr, space: Space | None) -> bool:
    r"""Return True for `\vec{\sigma}` and `\hat{L}` without an index."""
    is_known = space is not None and space.kind in ("spin", "pauli") and node.name in space.names
    return is_known and node.op == "sym" and not axis_of(node.name)


def space_of(nodes: Sequence[Expr], members: Iterable[Expr], operators: frozenset[str]) -> Space | None:
    """Return the space of the operators of two formulas; None if they have none with rules of their own, or others."""
    members = tuple(members)
    names = {node.name for node in nodes if node.op == "sym"} - {
        member.name for member in members if member.op == "sym" and sum(member == node for node in nodes) ==
        sum(member == other for other in members)
    }  # fmt: skip
    ends = [end for node in nodes for end in _ends(node)]
    labels = sorted(frozenset().union(*(symbols(end) for end in ends if is_number_of_state(end))))
    has_numbers = bool(ends) and all(map(is_number_of_state, ends))
    found = _kinds(names, operators, nodes, has_numbers=has_numbers)
    if set(found) == {"pauli", "spin"} and all(symbol_of(n).letter in ("S", r"\hat{S}") for n in found["spin"]):
        found = {"pauli": found["pauli"] | found["spin"]}
    are_marked = any(is_marked(symbol_of(name)) for each in found.values() for name in each) or speaks_of_quanta(nodes)
    is_width = "pauli" in found and (
        any(symbol_of(name).letter == r"\sigma" and family_of(name) != "pauli" for name in names)
        or (len(found["pauli"]) == 1 and not has_marked_quanta(nodes))
    )
    if len(found) != 1 or not are_marked or is_width:
        return None
    ((kind, own),) = found.items()
    means = {name for name in names if symbol_of(name).style == "mean"}
    bare = frozenset().union(*(_outside_labels(member) for member in members)) & names
    if kind == "ladder" and any(family_of(name) == "place" for name in own):
        own |= {name for name in bare if family_of(name) == "place"}
        if not all(_is_one_of(name, _COMMUTE_WITH_PLACE) for name in bare - own - _UNITS - means):
            return Space("refused", 0, names=frozenset(own))  # what may depend on the place
    elif kind == "spin" and any(symbol_of(name).base in _DEPEND_ON_PLACE for name in bare):
        return Space("refused", 0, names=frozenset(own))
    others = operators & names - own - _UNITS - {name + DAGGER for name in own}
    has_hats = any(symbol_of(name).is_hat for name in own)
    if any(not (has_hats and _is_one_of(name, _NUMBERS)) for name in others - means):
        return None
    return _made(kind, frozenset(own), nodes, members, ends, labels)


def _kinds(
    names: set[str], operators: frozenset[str], nodes: Sequence[Expr], *, has_numbers: bool
) -> dict[str, set[str]]:
    """Return the operators with rules of their own, by the kind of their space."""
    found: dict[str, set[str]] = {}
    families = {name: family_of(name) for name in names}
    for name in names:
        read, family = symbol_of(name), families[name]
        base = read.body
        has_partner = base + DAGGER in names
        has_count = read.is_hat and "count" in families.values()
        if family == "ladder" and (has_partner or has_count or (has_numbers and _acts(base, nodes))):
            found.setdefault("ladder", set()).update((base, base + DAGGER))
        elif family == "place" and (name in operators or (has_numbers and _acts(name, nodes))):
            found.setdefault("ladder", set()).add(name)
        elif family == "pauli" or (family == "spin" and (name in operators or read.is_accented or read.sub)):
            found.setdefault(family, set()).add(name)
        elif family == "fermion" and read.sup:
            found["fermions"] = {each for each in names if families[each] == family}
    if "ladder" in found:
        bases = {symbol_of(name).body for name in found["ladder"] if family_of(name) == "ladder"}
        found["ladder"] |= {name for name in names if bases and families[name] == "count"}
        places = {symbol_of(name).base for name in found["ladder"] if family_of(name) == "place"}
        are_directions = not bases and not has_numbers and "p" not in places
        if len(bases) > 1 or {"x", "q"} <= places or are_directions:
            del found["ladder"]
    if "spin" in found and len({symbol_of(name).base for name in found["spin"]}) > 1:
        found["others"] = set()
    return found


def _acts(name: str, nodes: Sequence[Expr]) -> bool:
    """Return True if a letter stands before a state, or between two."""
    for node in nodes:
        if node.op == "bracket" and node.name == "braket" and any(name in symbols(arg) for arg in node.args[1:-1]):
            return True
        if node.op == "mul":
            for left, right in pairwise(node.args):
                if name in symbols(left) and right.op == "bracket" and right.name == "ket":
                    return True
    return False


def _outside_labels(node: Expr) -> frozenset[str]:
    """Return the symbols of an expression that are not in the names of states."""
    if node.op == "sym":
        return frozenset((node.name,))
    ends = _ends(node)
    return frozenset().union(*(_outside_labels(arg) for arg in node.args if not any(arg is end for end in ends)))


def _is_one_of(name: str, letters: Set[str]) -> bool:
    """Return True for one of some letters with any index, starred or not."""
    read = symbol_of(name)
    return read.head in letters and read.sup in ("", STAR) and not read.call


def _ends(node: Expr) -> tuple[Expr, ...]:
    """Return what names the states of a bracket."""
    if node.op != "bracket":
        return ()
    if node.name in ("ket", "bra"):
        return node.args
    return (node.args[0], node.args[-1]) if node.name == "braket" else ()


def is_number_of_state(end: Expr) -> bool:
    """Return True for the number of a state: 0, n, m + 1."""
    return end.op in ("sym", "num", "add", "sub") and symbols(end) <= _NUMBERS_OF_STATES and all(
        part.op in ("sym", "num", "add", "sub") for part in walk(end)
    )  # fmt: skip


def _made(
    kind: str, own: frozenset[str], nodes: Sequence[Expr], members: Sequence[Expr], ends: Sequence[Expr],
    labels: Sequence[str],
) -> Space | None:  # fmt: skip
    """Return the space of operators of one kind; None for a formula of too high a degree."""
    degree = max(_degree(member, own) for member in members)
    every = {node.name for node in nodes if node.op == "sym"}
    mass = next((name for name in ("m", r"\mu", "m_e") if name in every), "m")
    letters = (
        r"\hbar" if r"\hbar" in every else "",
        mass,
        next((name for name in (r"\omega", r"\omega_0", r"\Omega") if name in every), r"\omega"),
    )
    refused = Space("refused", degree, names=own)
    if kind == "spin":
        return Space(kind, max(degree, 2), names=own, letters=letters) if degree <= _MOST_OF_SPIN else refused
    if kind == "pauli":
        return Space(kind, degree, names=own, letters=letters)
    if kind == "fermions":
        return refused
    if mass in labels and any(family_of(name) == "place" for name in own):
        return refused  # a mass, or the number of a state
    written = [int(part.value) for end in ends for part in walk(end) if part.op == "num" and part.value is not None]
    has_letter_power = any(node.op == "pow" and node.args[1].value is None for node in nodes if symbols(node) & own)
    degree += max((abs(int(p.value)) for e in ends if e.op != "num" for p in walk(e) if p.value is not None), default=0)
    labels = [*labels, *sorted(_letter_powers(nodes, own) - set(labels))]
    is_low = not labels or has_letter_power or any(end.op == "num" for end in ends)
    if degree > _MOST_DEGREE + (_LETTER_POWER if has_letter_power else 0) or max(written, default=0) > _MOST_DEGREE:
        return refused
    return Space(kind, degree, tuple(labels), max(written, default=-1), own, is_low, letters)


def _letter_powers(nodes: Sequence[Expr], own: frozenset[str]) -> frozenset[str]:
    """Return the letters of whole numbers in the exponents of operators."""
    powers = [node.args[1] for node in nodes if node.op == "pow" and symbols(node.args[0]) & own]
    return frozenset().union(*(symbols(power) for power in powers)) & _NUMBERS_OF_STATES


def _degree(node: Expr, names: frozenset[str]) -> int:
    """Return how many operators a product in an expression has at most."""
    if node.op == "sym":
        return 2 if family_of(node.name) == "count" else int(node.name in names)
    inner = [_degree(arg, names) for arg in node.args]
    if node.op == "pow":
        exponent = node.args[1].value
        return inner[0] * (int(exponent) if exponent is not None and exponent > 0 else _LETTER_POWER)
    if node.op in ("mul", "div", "commutator", "bracket", "dot", "cross", "set"):
        return sum(inner)
    if node.op == "apply" and node.name not in _MATRIX_FUNCTIONS:
        return max(inner, default=0) * FUNCTION_DEGREE
    if node.op == "exp":
        return 0
    return max(inner, default=0)
