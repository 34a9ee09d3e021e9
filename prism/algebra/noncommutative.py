r"""Normal form of products of operators and states, whose order counts.

Hats, adjoints, Pauli and Dirac matrices, derivatives without an operand, `\vec v\cdot\nabla` and the operands of a
commutator do not commute. Nor do letters that would be nothing but a detour as numbers: those of `PDP^{-1}` and of
`AB - BA`. Products are multiplied out and commutators written out, so that a formula becomes a sum of words of
operators, each with a coefficient. Whatever stands to the right of an operator is what it acts on and belongs to its
word, unless it is surely a number. A word is one opaque atom; the coefficients are compared as usual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from operator import or_
from typing import NamedTuple

from prism import budget
from prism.algebra.expr import (
    Expr,
    Formula,
    canonical,
    nodes_with,
    number,
    ops_of,
    spell,
    substituted,
    symbol,
    symbols,
    traits_of,
    walk,
    with_args,
)
from prism.algebra.macaulay import is_mean
from prism.algebra.poisson import with_elementary_brackets
from prism.algebra.symbols import ADJOINT, LETTERS_OF_STATES, TURNED, spelled, symbol_of
from prism.algebra.terms import whole_number

FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_TERMS = 64  # of a product that is multiplied out
_MAX_POWER = 6  # of operators that is multiplied out in their order
_MAX_NODES = 5_000  # of all terms; with operators in exponents they would double on each level
_MAX_LETTERS = 200  # of an ordered product; `((AB)^6)^6` would multiply its length on each level
_MAX_FACTORS = 2_000  # of a product that is written out, for the same reason; a power beyond them is one factor
_EVIDENCE = 400  # operations for each node that is searched for signs of operators
_NORMAL_FORM = 500  # for each node that is multiplied out
_LETTER = 60  # for each factor that is moved through a product

_PAULI = frozenset(rf"\sigma_{axis}" for axis in "xyz+-")  # also stresses: operators only beside other operators
_SCALARS_OF_OPERATORS = ("abs", "bracket")  # a mean or a matrix element of operators is a number
_MAY_BE_OPERATORS = frozenset(("commutator", "tensor", "bracket", "dot", "opaque"))
_TIMES = frozenset(("t", r"\tau"))
_OF_CALCULUS = frozenset(
    ("derivative", "partial", "differential", "integral", "nabla", "contour", "at", "sum", "limit")
)
_OF_FACTORS = frozenset(("mul", "div", "pow"))
_WITH_EVIDENCE = _MAY_BE_OPERATORS | {"mul", "add", "sub"}  # nodes that may show operators
_LEFT_OPEN = ("partial", "derivative", "nabla")  # opaque nodes: derivatives that wait for what they act on
_DEL = Expr("opaque", name="nabla")
_WORD = "ordered product"
_NONE: frozenset[str] = frozenset()
_ONE = number(1)

# Other hats, of amplitudes, estimates, unit vectors, act on what is behind them only in a formula about quanta.
_HATS_OF_OPERATORS = frozenset((*"abopACDGHJKLMNOPQSTWXYZ", r"\rho", r"\sigma", r"\Pi"))
_WAVE_FUNCTIONS = frozenset((r"\psi", r"\Psi"))
_QUANTUM = _WAVE_FUNCTIONS | {r"\hbar", r"\hat{H}", r"\hat{p}"}
# Numbers that commute with everything: of quantum mechanics, and those that also no place depends on.
_NUMBERS = frozenset(("i", r"\hbar", r"\pi", "k_B", r"\epsilon_0", r"\mu_0"))
_NUMBERS_OF_STATES = frozenset(("e", "c", "t", r"\mu_B"))
_NUMBERS_OF_LEVELS = frozenset("ijklmn0123456789,")
_HAMILTONIANS = frozenset((r"\mathcal{H}", "H"))
_SPINS = frozenset((r"\sigma", "S", "s"))  # matrices of numbers: a function of place commutes with them
_MATRICES_OF_SPIN = frozenset((r"\gamma", r"\sigma"))
_STATES_OF_SPIN = frozenset((r"\alpha", r"\beta"))
_MATRICES = frozenset((r"\rho", r"\sigma", r"\varrho", r"\Lambda", r"\Sigma", r"\Omega", r"\Pi"))
_STYLES_OF_MATRICES = frozenset(("", "mathbf", "boldsymbol", "mathcal", "mathrm"))

_Term = tuple[tuple[Expr, ...], tuple[Expr, ...]]  # coefficient as factors, word


@dataclass(frozen=True, slots=True)
class _OperatorNotation:
    r"""Which symbols of two compared formulas are operators, and whether all hats act.

    Attributes:
        operators: names of the symbols that are operators.
        hats_act: a formula speaks of quantum mechanics (`\hbar`, `\psi`, ...), so every operator with a hat acts on
            what follows. Otherwise hats that are often just marks of numbers, as in the amplitude `\hat{U}`, do not.
        actions: what letters of products act on, as far as it has been found.
    """

    operators: frozenset[str]
    hats_act: bool
    actions: dict[Expr, _Action] = field(default_factory=dict, compare=False)


def order_operator_products(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Replace each product of operators or quantum states in two formulas, multiplied out, by one `opaque` node.

    Such a node keeps the order of the factors, so AB and BA differ. A symbol that one formula shows to be an operator
    is one in the other too. Formulas without operators are returned as they are.
    """
    a, b = with_operators_at_times(with_elementary_brackets(a), with_elementary_brackets(b))
    if _operator_evidence(a) is None and _operator_evidence(b) is None:
        return a, b  # nothing to see, as in most formulas
    names = traits_of(a).names | traits_of(b).names
    operators, hats_act = operator_names(a, b), any(map(_speaks_of_quanta, names))
    one, two = (_ordered(f, operators & traits_of(f).names, hats_act) for f in (a, b))
    return one, two


def shows_operators(f: Formula) -> bool:
    """Return True if something in a formula may be an operator, so that the order of factors may count."""
    return _operator_evidence(f) is not None or (
        "apply" in traits_of(f).ops and _operator_evidence(_with_calls_as_letters(f)) is not None
    )


def with_operators_at_times(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    r"""Return two formulas with `\hat x(t)` as one letter, if such letters are operators; else as they are."""
    if "apply" not in traits_of(a).ops | traits_of(b).ops:
        return a, b
    one, two = _with_calls_as_letters(a), _with_calls_as_letters(b)
    return (a, b) if _operator_evidence(one) is None and _operator_evidence(two) is None else (one, two)


@budget.remembered(FORMULAS_KEPT)
def _with_calls_as_letters(f: Formula) -> Formula:
    r"""Return a formula with an operator at a time, `\hat x(t)`, as one letter, so that its order counts.

    So are letters at a time, `A(t)`, within means and commutators; `V(x)` is a function of an operator. A formula is
    left as it is where something is differentiated or integrated.
    """
    if not traits_of(f).ops.isdisjoint(_OF_CALCULUS):
        return f
    within = {
        node
        for member in f.members
        for bracket in nodes_with(member, "bracket", "commutator")
        for node in nodes_with(bracket, "apply")
        if {symbol_of(name).letter for name in symbols(*node.args)} <= _TIMES
    }
    hats = {node for member in f.members for node in nodes_with(member, "apply") if _is_written_as_operator(node.name)}
    letters = {node: symbol(f"{node.name}({', '.join(map(canonical, node.args))})") for node in within | hats}
    return substituted(f, letters) if letters else f


def operator_names(a: Formula, b: Formula) -> frozenset[str]:
    """Return the names of the symbols that are operators in either of two compared formulas; empty if none are."""
    both = [marks for marks in (_operator_evidence(a), _operator_evidence(b)) if marks is not None]
    if not both:
        return _NONE
    names = traits_of(a).names | traits_of(b).names
    operators = frozenset(name for marks in both for name in marks.operators)
    adjoints = {read for read in map(symbol_of, operators) if read.sup == ADJOINT}
    ladders = {read.head for read in adjoints if read.sub}
    operators |= names & {read.body for read in adjoints}
    operators |= {name for name in names if (read := symbol_of(name)).sub and read.head in ladders}
    if any(symbol_of(name).is_vector for name in names):
        placed = frozenset(name for marks in both for name in marks.placed)
        operators = frozenset(name for name in operators if name in placed or not symbol_of(name).is_hat)  # directions
    if operators or "i" in names or any(marks.is_certain for marks in both):
        operators |= names & _PAULI
    return operators


def adjoint_of(node: Expr, operators: Set[str]) -> Expr | None:
    """Return the adjoint of sums and products of numbers and operators; None if anything else stands in them."""
    if node.op == "num":
        return node
    if node.op == "sym":
        turned = _adjoint_name(node.name)
        return symbol(turned) if {node.name, turned} & operators else None
    args = [adjoint_of(arg, operators) for arg in node.args]
    if node.op not in ("mul", "add", "sub", "neg") or None in args:
        return None
    known = tuple(arg for arg in args if arg is not None)
    return Expr(node.op, known[::-1] if node.op == "mul" else known)


def _adjoint_name(name: str) -> str:
    """Return the name of the adjoint of an operator: with a dagger, or without the one that it has."""
    read = symbol_of(name)
    return spelled(read.head, read.sub, "" if read.sup == ADJOINT else ADJOINT)


def names_of_operators_and_operands(a: Formula, b: Formula) -> frozenset[str]:
    """Return the names of the operators in two compared formulas and of the symbols that they act on.

    No value of a constant is substituted for these. Empty if there are no operators.
    """
    if _operator_evidence(a) is None and _operator_evidence(b) is None:
        return _NONE
    nodes = [node for f in order_operator_products(a, b) for member in f.members for node in walk(member)]
    return operator_names(a, b).union(*(symbols(node) for node in nodes if _is_ordered_product(node)))


@dataclass(frozen=True, slots=True)
class _OperatorEvidence:
    r"""What in one formula shows that it contains operators.

    Attributes:
        operators: names of the symbols that are shown to be operators.
        placed: those of them that their places show, not a hat, which a unit vector has too.
        is_certain: it has a commutator, a quantum state (ket, bra), or an open derivative such as `\vec v\cdot\nabla`.
    """

    operators: frozenset[str]
    placed: frozenset[str]
    is_certain: bool


@budget.remembered(FORMULAS_KEPT)
def _operator_evidence(f: Formula) -> _OperatorEvidence | None:
    """Return what in a formula shows that it contains operators; None if nothing does."""
    budget.charge(sum(member.size for member in f.members) * _EVIDENCE)
    names = traits_of(f).names
    nodes = [node for member in f.members for node in nodes_with(member, *_WITH_EVIDENCE)]
    operators = set[str]()
    has_hamiltonian = any(symbol_of(name).head in _HAMILTONIANS for name in names)
    for node in nodes:
        if node.op == "commutator" or (node.op == "opaque" and node.name == r"\dagger"):
            operators |= {name for name in symbols(*node.args) if not _is_number_name(name)}
        elif node.op == "bracket" and node.name == "braket":
            operators |= {name for name in _last_factors(node.args[1:-1]) if not _is_number_name(name)}
        elif node.op == "mul":
            factors = _factors_as_written(node)
            operators |= _letters_between_inverses(factors)
            if has_hamiltonian:
                operators |= _hamiltonians_before_states(factors)
        elif node.op in ("add", "sub"):
            operators |= _letters_in_another_order(node)
    matrices = letters_of_matrices(nodes)
    placed = frozenset(operators | matrices | {name for name in names if symbol_of(name).body in matrices})
    written = placed.union(filter(_is_written_as_operator, names))
    certain = any(_is_operator(node, _NONE) for node in nodes)
    return _OperatorEvidence(written, placed, certain) if written or certain or names & _PAULI else None


def _is_written_as_operator(name: str) -> bool:
    """Return True for the name of a symbol with a hat or a dagger, or of a Dirac matrix."""
    read = symbol_of(name)
    return read.is_hat or read.sup == ADJOINT or (read.base == r"\gamma" and bool(read.sup))


def _speaks_of_quanta(name: str) -> bool:
    """Return True for the name of a symbol that only quantum mechanics has."""
    read = symbol_of(name)
    return read.sup == ADJOINT or (read.letter in _QUANTUM and not read.change)


def _is_matrix_letter(name: str) -> bool:
    """Return True for the name of a symbol that may be a matrix."""
    read = symbol_of(name)
    is_capital = read.base[:1].isupper() and read.style in _STYLES_OF_MATRICES and not read.change
    return is_capital or (read.letter in _MATRICES and not read.sub and not read.change)


@budget.remembered(FORMULAS_KEPT)
def _ordered(f: Formula, operators: frozenset[str], hats_act: bool) -> Formula:
    """Replace the products of operators in a formula; `operators` are those of its symbols that are operators."""
    if any(node.name == ADJOINT for member in f.members for node in nodes_with(member, "opaque")):
        operators |= {_adjoint_name(name) for name in operators}
    notation = _OperatorNotation(operators, hats_act)
    if not any(_contains_operator(member, notation) for member in f.members):
        return f
    budget.charge(sum(member.size for member in f.members) * _NORMAL_FORM)
    return replace(f, members=tuple([_normal_form(member, notation) for member in f.members]))


# Letters that are operators by their position. -------------------------------------------------------------------


def _expanded_factors(node: Expr) -> list[Expr]:
    """Return the factors of a product in order, numbers left out: `AB^2/C` gives A, B, B and C^{-1}.

    What stands in a denominator comes reversed and inverted. Powers beyond `_MAX_FACTORS` factors are one factor.
    """
    factors: list[Expr] = []
    waiting = [(node, 1)]
    while waiting:
        part, power = waiting.pop()
        if part.op in ("mul", "neg"):
            waiting += [(arg, power) for arg in (reversed(part.args) if power > 0 else part.args)]
        elif part.op == "div":
            waiting += [(part.args[1], -power), (part.args[0], power)]
        elif (
            part.op == "pow"
            and (times := whole_number(part.args[1])) is not None
            and 1 <= times <= _MAX_POWER
            and len(factors) + len(waiting) < _MAX_FACTORS
        ):
            waiting += [(part.args[0], power)] * times
        elif part.op != "num" and not (part.op == "sym" and _is_number_name(part.name)):
            factors.append(part if power > 0 else Expr("pow", (part, number(-1))))
    return factors


def _factors_as_written(product: Expr) -> list[Expr]:
    """Return the factors of nested products in order, without signs; a quotient or a power is one factor.

    So `A(B/c)^2` has two factors, and A is none of the factors of `B/A`.
    """
    factors: list[Expr] = []
    waiting = [product]
    while waiting:
        node = waiting.pop()
        if node.op in ("mul", "neg"):
            waiting += reversed(node.args)
        else:
            factors.append(node)
    return factors


def _is_number_name(name: str) -> bool:
    r"""Return True if a symbol of this name is surely a number that commutes with operators: `i`, `\hbar`, `m`."""
    return _is_number_of_all(name) or _is_number_of_states(name)


def _is_number_of_all(name: str) -> bool:
    """Return True for the name of a number that commutes with everything."""
    return name in _NUMBERS or symbol_of(name).head == "m"


def _is_number_of_states(name: str) -> bool:
    """Return True for the name of a number that no place depends on: a frequency, the energy of a numbered state."""
    read = symbol_of(name)
    is_level = read.head == "E" and bool(read.sub) and _NUMBERS_OF_LEVELS.issuperset(read.sub)
    return name in _NUMBERS_OF_STATES or read.head == r"\omega" or is_level


def _letters_between_inverses(product: list[Expr]) -> set[str]:
    """Return the symbols of `PDP^{-1}`, `R^TMR` or `e^{-iHt}Ae^{iHt}` in factors, from factor to inverse factor.

    They must be operators: as numbers, the outer factors would just cancel. Exponentials count if their exponents add
    up to 0 and contain a capital letter or a hat.
    """
    if not any(factor.op == "exp" or _inverted_or_adjoint(factor) is not None for factor in product):
        return set()
    factors = [factor for factor in product if factor.op != "num" and not _is_unit_power(factor)]
    inverses = [_inverted_or_adjoint(factor) for factor in factors]
    last = {factor: at for at, factor in enumerate(factors)}  # where each stands last
    last_inverse = {inner: at for at, inner in enumerate(inverses) if inner is not None}
    last_exponent = {canonical(each.args[0]): at for at, each in enumerate(factors) if each.op == "exp"}
    found: set[str] = set()
    for at, (factor, inner) in enumerate(zip(factors, inverses, strict=True)):
        partner = max(last_inverse.get(factor, -1), last.get(inner, -1) if inner is not None else -1)
        if factor.op == "exp" and any(name[0].isupper() or symbol_of(name).is_hat for name in symbols(factor)):
            opposite = canonical(Expr("neg", factor.args))  # e^{-ax} is a decay
            partner = max(partner, last_exponent.get(opposite, -1))
        if partner >= at + 2:  # something between them
            found |= symbols(*factors[at : partner + 1])
    return {name for name in found if not _is_number_name(name)}


def letters_of_matrices(nodes: Iterable[Expr]) -> set[str]:
    """Return the capital letters of products that show matrices: with `A^T`, or with the inverse of `sI - A`.

    A superscript alone may be a name, as that of a total: A is a factor of a product too, or another capital letter
    stands beside its transpose, and T is no factor.
    """
    products = [_factors_as_written(node) for node in nodes if node.op == "mul"]
    factors = {factor.name for product in products for factor in product if factor.op == "sym"}
    found: set[str] = set()
    for product in products:
        transposed = {base.name for factor in product if (base := _transposed(factor)) is not None}
        bases = [_transposed(factor) or _inverted_or_adjoint(factor) or factor for factor in product]
        letters = {base.name for base in bases if base.op == "sym" and base.name[:1].isupper()}
        is_shown = len(letters) > 1 and "T" not in factors and any(name[:1].isupper() for name in transposed)
        inverses = filter(None, map(_inverted_or_adjoint, product))
        shifted = set().union(*map(_shifted_by_unit, inverses))
        if is_shown or shifted or any(name in factors for name in transposed & letters):
            found |= letters | shifted
    return found


def _shifted_by_unit(node: Expr) -> set[str]:
    """Return A of `sI - A`: the capital letters that are terms beside a unit matrix times something."""
    terms = node.args if node.op in ("add", "sub") else ()
    has_unit = any(term.op == "mul" and term.args[-1] == symbol("I") for term in terms)
    return {term.name for term in terms if term.op == "sym" and term.name[:1].isupper()} if has_unit else set()


def _transposed(node: Expr) -> Expr | None:
    """Return A of `A^T`; None for other factors."""
    is_power = node.op == "pow" and node.args[1] == symbol("T")
    if is_power or (node.op == "sym" and symbol_of(node.name).sup in TURNED):
        return _inverted_or_adjoint(node)
    return node.args[0] if node.op == "opaque" and node.name in ("T", "^T") else None


def _last_factors(nodes: Iterable[Expr]) -> Iterator[str]:
    r"""Yield the letters that end terms: H of `\langle\psi|H|\psi\rangle`, x of `e E x^2`; numbers stand before."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node.op == "sym":
            yield node.name
        elif node.op in ("add", "sub", "neg"):
            waiting += node.args
        elif node.op in ("mul", "div", "pow"):
            waiting.append(node.args[-1 if node.op == "mul" else 0])


def _is_unit_power(node: Expr) -> bool:
    r"""Return True for a base unit or a power of one (`\unit{m}^2`); units do cancel."""
    names = symbols(node)
    return bool(names) and all(symbol_of(name).style == "unit" for name in names)


def _hamiltonians_before_states(factors: list[Expr]) -> set[str]:
    r"""Return the names of Hamiltonians in factors: `H` directly before a wave function, as in `H\psi = E\psi`."""
    return {
        one.name
        for one, two in pairwise(factors)
        if one.op == two.op == "sym"
        and symbol_of(one.name).head in _HAMILTONIANS
        and symbol_of(two.name).letter in _WAVE_FUNCTIONS
    }


def _inverted_or_adjoint(node: Expr) -> Expr | None:
    """Return what a factor is the inverse, adjoint or transpose of: A of `A^{-1}` and `A^T`; None for other factors."""
    if node.op == "pow":
        inner, exponent = node.args
        if whole_number(exponent) == -1:
            return inner
        return inner if exponent == symbol("T") and inner.op == "sym" and inner.name[0].isupper() else None
    read = symbol_of(node.name)
    return symbol(read.body) if node.op == "sym" and read.sup in {ADJOINT, *TURNED} else None


def _letters_in_another_order(node: Expr) -> set[str]:
    r"""Return the operators of a sum: letters that only their order tells apart, as in `H\rho - \rho H` or `AB + BA`.

    Empty if a letter of matrices is in a denominator: in `T\frac{R}{V - b} - \frac{RT}{V - b}`, which is 0, R and T are
    numbers.
    """
    written = list(_signed_terms(node))
    if not any(term.op in _OF_FACTORS or is_mean(term) for _, term in written):
        return set()
    below = [inner.args[1] for inner in nodes_with(node, "div")]
    if any(map(_is_matrix_letter, symbols(*below))):
        return set()
    terms = [(sign, tuple(_expanded_factors(term.args[0] if is_mean(term) else term))) for sign, term in written]
    lengths = Counter([len(factors) for _, factors in terms])
    groups: dict[tuple[str, ...], dict[tuple[int, tuple[Expr, ...]], None]] = {}  # terms of the same factors
    for sign, factors in terms:
        if len(factors) > 1 < lengths[len(factors)]:
            groups.setdefault(tuple(sorted(map(_canonical_factor, factors))), {})[sign, factors] = None
    found: set[str] = set()
    for written_alike, group in groups.items():
        if len(group) < 2:
            continue
        budget.charge(len(group) ** 2 * len(written_alike) * _LETTER)
        names = symbols(*(factor for _, factors in group for factor in factors))
        for (sign, one), (other, two) in combinations(group, 2):
            if one == two or not (len(terms) == 2 or sign != other) or found >= names:
                continue
            moved = [x for x, y in zip(one, two, strict=True) if x != y]
            large = all(inner.op == "sym" and _is_matrix_letter(inner.name) for inner in moved)
            alone = len(terms) == 2 and (sign != other or (large and len(one) == 2))
            if alone or (sign != other and large):
                found |= symbols(*moved)
    return {name for name in found if not _is_number_name(name)}


def _canonical_factor(factor: Expr) -> str:
    """Return the canonical form of a factor: its name if it is a symbol."""
    return factor.name if factor.op == "sym" else canonical(factor)


def _signed_terms(node: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    """Yield the terms of nested sums, each with its sign 1 or -1: `a - (b - c)` gives a, -b and c.

    Args:
        sign: the sign of the whole sum.
    """
    if node.op in ("add", "sub", "neg"):
        for position, arg in enumerate(node.args):
            turned = node.op == "neg" or (node.op == "sub" and position)
            yield from _signed_terms(arg, -sign if turned else sign)
    else:
        yield sign, node


def _is_operator(node: Expr, operators: frozenset[str]) -> bool:
    """Return True if a node itself is an operator or a quantum state: a commutator, a ket, a symbol of `operators`."""
    if node.op == "sym":
        return node.name in operators
    if node.op == "dot":
        return node.args[1] == _DEL
    if node.op == "opaque":
        return node.name.startswith(_LEFT_OPEN) and all(not arg.args for arg in node.args)
    return node.op in ("tensor", "commutator") or (node.op == "bracket" and node.name in ("ket", "bra"))


# Words. -------------------------------------------------------------------------------------------------------------


def _normal_form(member: Expr, notation: _OperatorNotation) -> Expr:
    """Write an expression as a sum of numbers times ordered products of operators, each of these an `opaque` node.

    An expression with too many terms becomes one `opaque` node as it is written; one without products is unchanged.
    """
    terms = _operator_terms(member, notation)
    if terms is None or sum(letter.size for term in terms for part in term for letter in part) > _MAX_NODES:
        return Expr("opaque", (member,), name=f"{_WORD} {spell(member)}")
    if all(len(word) < 2 and not any(map(_contains_ordered_product, (*factors, *word))) for factors, word in terms):
        return member
    parts = []
    for factors, word in terms:
        letters = _sorted_functions(word, notation)
        atom = (letters[0],) if len(letters) == 1 else (Expr("opaque", letters, name=_WORD),) if letters else ()
        whole = (*factors, *atom)
        parts.append(whole[0] if len(whole) == 1 else Expr("mul", whole) if whole else _ONE)
    return parts[0] if len(parts) == 1 else Expr("add", tuple(parts))


def _contains_ordered_product(node: Expr) -> bool:
    """Return True if an expression contains an ordered product of operators (an `opaque` node)."""
    return any(map(_is_ordered_product, nodes_with(node, "opaque")))


def _is_ordered_product(node: Expr) -> bool:
    """Return True if a node is the `opaque` node that stands for an ordered product of operators."""
    return node.op == "opaque" and node.name.startswith(_WORD)


def _sorted_functions(word: tuple[Expr, ...], notation: _OperatorNotation) -> tuple[Expr, ...]:
    r"""Sort neighbouring functions in an ordered product (`word`) that commute: `\hat p x\psi` as `\hat p \psi x`."""
    out: list[Expr] = []
    run: list[Expr] = []
    for letter in word:
        if _contains_operator(letter, notation) or any(map(_is_matrix_letter, symbols(letter))):
            out += [*sorted(run, key=canonical), letter]
            run = []
        else:
            run.append(letter)
    return (*out, *sorted(run, key=canonical))


def _contains_operator(node: Expr, notation: _OperatorNotation) -> bool:
    """Return True if an expression contains an operator or a quantum state."""
    if not symbols(node).isdisjoint(notation.operators):
        return True
    return any(_is_operator(inner, _NONE) for inner in nodes_with(node, *_MAY_BE_OPERATORS))


def _operator_terms(node: Expr, notation: _OperatorNotation) -> list[_Term] | None:
    """Multiply an expression out into terms: (commuting factors, ordered product of operators) pairs.

    Returns None if there are more than MAX_TERMS terms.
    """
    if node.op == "commutator":
        a, b = (_operator_terms(arg, notation) for arg in node.args)
        forward, backward = _multiply_terms([a, b], notation), _multiply_terms([b, a], notation)
        return (
            None
            if forward is None or backward is None
            else (forward + (backward if node.name == "anti" else _negate_terms(backward)))
        )
    if _is_operator(node, notation.operators):
        return [((), (node,))]
    if not _contains_operator(node, notation):
        return [((node,), ())]
    if node.op == "opaque" and node.name == ADJOINT and (turned := adjoint_of(node.args[0], notation.operators)):
        return _operator_terms(turned, notation)
    if node.op in _SCALARS_OF_OPERATORS:
        return [((_with_normalized_operands(node, notation),), ())]
    if node.op in ("add", "sub", "neg"):
        total: list[_Term] = []
        for position, arg in enumerate(node.args):
            terms = _operator_terms(arg, notation)
            if terms is None:
                return None
            total += terms if node.op == "add" or (node.op == "sub" and not position) else _negate_terms(terms)
        return total
    if node.op == "mul":
        return _multiply_terms([_operator_terms(arg, notation) for arg in node.args], notation)
    if node.op == "div" and not _contains_operator(node.args[1], notation):
        inverse: list[_Term] = [((Expr("div", (_ONE, node.args[1])),), ())]
        return _multiply_terms([inverse, _operator_terms(node.args[0], notation)], notation)
    exponent = node.args[1].value if node.op == "pow" else None
    if exponent is not None and exponent.denominator == 1 and 1 <= exponent <= _MAX_POWER:
        return _multiply_terms([_operator_terms(node.args[0], notation)] * int(exponent), notation)
    return [((), (_with_normalized_operands(node, notation),))]  # a function of operators is one


def _with_normalized_operands(node: Expr, notation: _OperatorNotation) -> Expr:
    """Return a node with each operand in the normal form of `_normal_form`."""
    args = tuple(_normal_form(arg, notation) for arg in node.args)
    return with_args(node, args)


def _negate_terms(terms: list[_Term]) -> list[_Term]:
    """Return the terms of a sum with the opposite sign."""
    return [((number(-1), *factors), word) for factors, word in terms]


def _multiply_terms(factors: Iterable[list[_Term] | None], notation: _OperatorNotation) -> list[_Term] | None:
    """Multiply out factors that are sums of terms; None if a factor is None, or for too many or too long terms."""
    product: list[_Term] = [((), ())]
    for terms in factors:
        if terms is None:
            return None
        longer: list[_Term] = []
        for one, left in product:
            budget.charge((len(one) + len(left)) * _LETTER)
            action = _extended_action(_NO_ACTION, left, notation)
            for two, right in terms:
                moved = _split_commuting(action, two, notation)
                if moved is None or len(longer) + len(moved) > MAX_TERMS:
                    return None
                longer += [((*one, *kept), (*left, *taken, *right)) for kept, taken in moved]
        if any(len(word) > _MAX_LETTERS for _, word in longer):
            return None
        product = longer
    return product


def _split_commuting(action: _Action, factors: tuple[Expr, ...], notation: _OperatorNotation) -> list[_Term] | None:
    """Split factors to the right of operators into those that commute and those that the operators act on.

    Sums are multiplied out: there is one (commuting factors, factors acted on) pair for each term; None if there are
    more than MAX_TERMS.

    Args:
        action: what the operators on the left act on.
    """
    budget.charge(len(factors) * _LETTER)
    terms: list[_Term] = [((), ())]
    if not any(_acts_on(action, name) for factor in factors for name in symbols(factor)):
        return [(factors, ())]
    for factor in factors:
        longer: list[_Term] = []
        for kept, taken in terms:
            split = _split_commuting_factor(_extended_action(action, taken, notation), factor, notation)
            if split is None or len(longer) + len(split) > MAX_TERMS:
                return None
            longer += [((*kept, *more), (*taken, *behind)) for more, behind in split]
        if any(len(taken) > _MAX_LETTERS for _, taken in longer):
            return None
        terms = longer
    return terms


def _split_commuting_factor(action: _Action, factor: Expr, notation: _OperatorNotation) -> list[_Term] | None:
    """Split one factor to the right of operators, as `_split_commuting` does for several.

    None where there would be more terms than MAX_TERMS.
    """
    if not any(_acts_on(action, name) for name in symbols(factor)):
        return [((factor,), ())]
    if factor.op in ("add", "sub", "neg"):
        return _split_commuting_terms(action, factor, notation)
    if factor.op == "mul":
        return _split_commuting(action, factor.args, notation)
    if factor.op == "div":
        below = factor.args[1].args if factor.args[1].op == "mul" else (factor.args[1],)
        inverses = tuple(Expr("div", (_ONE, part)) for part in below)
        if factor.args[0] != _ONE or len(below) > 1:
            return _split_commuting(action, (factor.args[0], *inverses), notation)
    times = whole_number(factor.args[1]) if factor.op == "pow" else None
    if times is not None and 2 <= times <= _MAX_POWER:
        return _split_commuting(action, (factor.args[0],) * times, notation)
    return [((), (factor,))]


def _split_commuting_terms(action: _Action, total: Expr, notation: _OperatorNotation) -> list[_Term] | None:
    """Split the terms of a sum to the right of operators, as `_split_commuting` does for factors.

    None for more than MAX_TERMS.
    """
    found: list[_Term] = []
    for sign, term in _signed_terms(total):
        split = _split_commuting(action, (term,), notation)
        if split is None or len(found) + len(split) > MAX_TERMS:
            return None
        found += [((*((number(-1),) if sign < 0 else ()), *kept), taken) for kept, taken in split]
    return found


class _Action(NamedTuple):
    """What an ordered product of operators acts on to its right.

    Attributes:
        on_all: everything but numbers.
        on_states, on_spins, on_places, on_matrices: wave functions; states of a spin; what a place or a time may be in;
            letters of matrices.
    """

    on_all: bool = False
    on_states: bool = False
    on_spins: bool = False
    on_places: bool = False
    on_matrices: bool = False


_NO_ACTION = _Action()


def _extended_action(action: _Action, letters: Iterable[Expr], notation: _OperatorNotation) -> _Action:
    """Return what a product of operators acts on when letters are put behind it: a state is complete, and ends it."""
    for letter in letters:
        own = notation.actions.get(letter)
        if own is None:
            own = notation.actions[letter] = _letter_action(letter, notation)
        action = _NO_ACTION if letter.op == "bracket" else _Action(*map(or_, action, own))
    return action


def _letter_action(letter: Expr, notation: _OperatorNotation) -> _Action:
    """Return what one letter of a product of operators acts on to its right."""
    own = [symbol_of(name) for name in symbols(letter) & notation.operators]
    hats = [read.base for read in own if read.is_hat]
    of_places = [hat for hat in hats if hat not in _SPINS]
    return _Action(
        letter.op == "dot" or "opaque" in ops_of(letter),
        _is_operator(letter, notation.operators),
        len(of_places) < len(hats),
        any(notation.hats_act or hat in _HATS_OF_OPERATORS or "{" in hat for hat in of_places),
        any(not read.is_hat and read.letter not in _MATRICES_OF_SPIN for read in own),
    )


def _acts_on(action: _Action, name: str) -> bool:
    """Return True if a product of operators acts on the symbol `name` to its right; False if they commute."""
    if action is _NO_ACTION or _is_number_of_all(name):
        return False
    read = symbol_of(name)
    is_state = read.letter in LETTERS_OF_STATES and not read.sub and not read.change
    if action.on_all or (action.on_states and is_state) or (action.on_spins and read.head in _STATES_OF_SPIN):
        return True
    if not (action.on_places or (action.on_matrices and _is_matrix_letter(name))):
        return False
    return not _is_number_of_states(name)
