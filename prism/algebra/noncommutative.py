r"""Normal form of products of operators and states, whose order counts.

Hats, adjoints, Pauli and Dirac matrices, derivatives without an operand, `\vec v\cdot\nabla` and the operands of a
commutator do not commute. Nor do letters that would be nothing but a detour as numbers: those of `PDP^{-1}` and of
`AB - BA`. Products are multiplied out and commutators written out, so that a formula becomes a sum of words of
operators, each with a coefficient. Whatever stands to the right of an operator is what it acts on and belongs to its
word, unless it is surely a number. A word is one opaque atom; the coefficients are compared as usual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise

from prism.algebra.expr import Expr, Formula, canonical, number, spell, symbol, symbols, traits_of, walk

FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_TERMS = 64  # of a product that is multiplied out
_MAX_POWER = 6

_HAT = r"\hat{"
_DAGGER = r"^{\dagger}"
_OPERATOR = re.compile(r"\\hat\{|\^\{\\dagger\}|^\\gamma\^\{")  # hats, adjoints, Dirac matrices
_PAULI = re.compile(r"^\\sigma_\{?[xyz+-]\}?$")  # also stresses: operators only beside other operators
_SCALARS_OF_OPERATORS = ("abs", "bracket")  # a mean or a matrix element of operators is a number
_OF_OPERATORS = frozenset(("commutator", "tensor", "bracket"))
_TRACES = ("Tr", "tr")
_LEFT_OPEN = re.compile(r"partial|derivative|nabla")  # opaque nodes: derivatives that wait for what they act on
_DEL = Expr("opaque", name="nabla")
_WORD = "ordered product"
_NONE: frozenset[str] = frozenset()
_ONE = number(1)

# Amplitudes, estimates, unit vectors: they act on what is behind them only where a formula speaks of quantum mechanics.
_HATS_OF_NUMBERS = re.compile(r"\\hat\{(?:[c-lnq-z]|m|[UIEBVFkR]|\\(?!rho|sigma|mathcal|Pi|Pi)[A-Za-z]+)\}")
_QUANTUM = re.compile(r"^\\hbar$|^\\[pP]si|^\\hat\{[Hp]\}|\^\{\\dagger\}")
# Numbers that commute with everything: of quantum mechanics, and those that also no place depends on.
_NUMBERS = re.compile(r"^(i|\\hbar|\\pi|k_B|\\epsilon_0|\\mu_0|m(_.*)?)$")
_NUMBERS_OF_STATES = re.compile(r"^(e|c|t|\\omega(_.*)?|\\mu_B|E_(\d|[i-n]|\{[i-n\d,]+\}))$")
_HAMILTONIAN = re.compile(r"^(\\mathcal\{H\}|H)(_.*)?$")
_WAVE_FUNCTION = re.compile(r"^\\[pP]si(_|'|$)")
_SPIN = re.compile(r"^\\hat\{(\\sigma|S|s)\}")  # matrices of numbers: a function of place commutes with them
_STATE_OF_SPIN = re.compile(r"^\\(alpha|beta)(_|$)")
_STATE = re.compile(r"^\\(psi|Psi|phi|Phi|varphi|chi)\b")
_MATRIX = re.compile(
    r"^(?:\\(?:mathbf|boldsymbol|mathcal|mathrm)\{)?[A-Z]|^\\(rho|sigma|varrho|Lambda|Sigma|Omega|Pi)\b"
)

_Term = tuple[tuple[Expr, ...], tuple[Expr, ...]]  # coefficient as factors, word


@dataclass(frozen=True, slots=True)
class _OperatorNotation:
    r"""Which symbols of two compared formulas are operators, and whether all hats act.

    Attributes:
        operators: names of the symbols that are operators.
        hats_act: a formula speaks of quantum mechanics (`\hbar`, `\psi`, ...), so every operator with a hat acts on
            what follows. Otherwise hats that are often just marks of numbers, as in the amplitude `\hat{U}`, do not.
    """

    operators: frozenset[str]
    hats_act: bool


def order_operator_products(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Replace each product of operators or quantum states in two formulas, multiplied out, by one `opaque` node.

    Such a node keeps the order of the factors, so AB and BA differ. A symbol that one formula shows to be an operator
    is one in the other too. Formulas without operators are returned as they are.
    """
    if _operator_evidence(a) is None and _operator_evidence(b) is None:
        return a, b  # nothing to see, as in most formulas
    names = traits_of(a).names | traits_of(b).names
    notation = _OperatorNotation(operator_names(a, b), any(_QUANTUM.search(name) for name in names))
    return _order_operator_products_in(a, notation), _order_operator_products_in(b, notation)


def shows_operators(f: Formula) -> bool:
    """Return True if something in a formula may be an operator, so that the order of factors may count."""
    return _operator_evidence(f) is not None


def operator_names(a: Formula, b: Formula) -> frozenset[str]:
    """Return the names of the symbols that are operators in either of two compared formulas; empty if none are."""
    both = [marks for marks in (_operator_evidence(a), _operator_evidence(b)) if marks is not None]
    if not both:
        return _NONE
    names = traits_of(a).names | traits_of(b).names
    operators = frozenset(name for marks in both for name in marks.operators)
    operators |= {name for name in names if name + _DAGGER in operators}
    if any(name.startswith(r"\vec{") for name in names):
        operators = frozenset(name for name in operators if not name.startswith(_HAT))  # directions
    if operators or "i" in names or any(marks.is_certain for marks in both):
        operators |= {name for name in names if _PAULI.match(name)}
    return operators


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
        is_certain: it has a commutator, a quantum state (ket, bra), or an open derivative such as `\vec v\cdot\nabla`.
    """

    operators: frozenset[str]
    is_certain: bool


@lru_cache(maxsize=FORMULAS_KEPT)
def _operator_evidence(f: Formula) -> _OperatorEvidence | None:
    """Return what in a formula shows that it contains operators; None if nothing does."""
    names = traits_of(f).names
    nodes = [node for member in f.members for node in walk(member)]
    operators = {name for name in names if _OPERATOR.search(name)}
    for node in nodes:
        if node.op == "commutator" or (node.op == "opaque" and node.name == r"\dagger"):
            operators |= {name for name in symbols(*node.args) if not _is_number_name(name)}
        elif node.op == "mul":
            operators |= _letters_between_inverses(node) | _hamiltonians_before_states(node)
        elif node.op in ("add", "sub"):
            operators |= _letters_in_another_order(node)
    certain = any(_is_operator(node, _NONE) for node in nodes)
    pauli = any(_PAULI.match(name) for name in names)
    return _OperatorEvidence(frozenset(operators), certain) if operators or certain or pauli else None


def _order_operator_products_in(f: Formula, notation: _OperatorNotation) -> Formula:
    """Replace the products of operators in every member of a formula, as `order_operator_products` does."""
    if not any(_is_operator(node, notation.operators) for member in f.members for node in walk(member)):
        return f
    return replace(f, members=tuple(_normal_form(member, notation) for member in f.members))


# Letters that are operators by their position. -------------------------------------------------------------------


def _expanded_factors(node: Expr, power: int = 1) -> Iterator[Expr]:
    """Yield the factors of a product in order, numbers left out: `AB^2/C` gives A, B, B and C^{-1}.

    Args:
        power: 1, or -1 if the node stands in a denominator: then its factors come reversed and inverted.
    """
    if node.op in ("mul", "neg"):
        for arg in node.args if power > 0 else reversed(node.args):
            yield from _expanded_factors(arg, power)
    elif node.op == "div":
        yield from _expanded_factors(node.args[0], power)
        yield from _expanded_factors(node.args[1], -power)
    elif node.op == "pow" and (times := _integer_exponent(node.args[1])) is not None and 1 <= times <= _MAX_POWER:
        for _ in range(times):
            yield from _expanded_factors(node.args[0], power)
    elif node.op != "num" and not (node.op == "sym" and _is_number_name(node.name)):
        yield node if power > 0 else Expr("pow", (node, number(-1)))


def _factors_as_written(node: Expr) -> Iterator[Expr]:
    """Yield the factors of nested products in order, without signs; a quotient or a power is one factor.

    So `A(B/c)^2` has two factors, and A is none of the factors of `B/A`.
    """
    if node.op in ("mul", "neg"):
        for arg in node.args:
            yield from _factors_as_written(arg)
    else:
        yield node


def _integer_exponent(exponent: Expr) -> int | None:
    """Return the value of an exponent that is an integer literal; None for anything else."""
    value = exponent.value
    return int(value) if value is not None and value.denominator == 1 else None


def _is_number_name(name: str) -> bool:
    r"""Return True if a symbol of this name is surely a number that commutes with operators: `i`, `\hbar`, `m`."""
    return bool(_NUMBERS.match(name) or _NUMBERS_OF_STATES.match(name))


def _letters_between_inverses(node: Expr) -> set[str]:
    """Return the symbols of `PDP^{-1}`, `R^TMR` or `e^{-iHt}Ae^{iHt}` in a product, from factor to inverse factor.

    They must be operators: as numbers, the outer factors would just cancel.
    """
    factors = [factor for factor in _factors_as_written(node) if factor.op != "num" and not _is_unit_power(factor)]
    found: set[str] = set()
    for first, one in enumerate(factors):
        for last in range(first + 2, len(factors)):  # something between them
            if _are_inverse_or_adjoint(one, factors[last]):
                found |= symbols(*factors[first : last + 1])
    return {name for name in found if not _is_number_name(name)}


def _is_unit_power(node: Expr) -> bool:
    r"""Return True for a base unit or a power of one (`\unit{m}^2`); units do cancel."""
    names = symbols(node)
    return bool(names) and all(name.startswith(r"\unit{") for name in names)


def _hamiltonians_before_states(node: Expr) -> set[str]:
    r"""Return the names of Hamiltonians in a product: `H` directly before a wave function, as in `H\psi = E\psi`."""
    factors = list(_factors_as_written(node))
    return {
        one.name
        for one, two in pairwise(factors)
        if one.op == two.op == "sym" and _HAMILTONIAN.match(one.name) and _WAVE_FUNCTION.match(two.name)
    }


def _are_inverse_or_adjoint(left: Expr, right: Expr) -> bool:
    """Return True if one factor is the inverse, adjoint or transpose of the other: `P` and `P^{-1}`, `A` and `A^T`.

    Exponentials count if their exponents add up to 0 and contain a capital letter or a hat: `e^{-iHt}` and `e^{iHt}`.
    """
    if left.op == "exp" and right.op == "exp":
        large = any(name[0].isupper() or name.startswith(_HAT) for name in symbols(left))  # e^{-ax} is a decay
        return large and canonical(Expr("add", (left.args[0], right.args[0]))) == "0"
    for outer, inner in ((left, right), (right, left)):
        if outer.op == "pow" and outer.args[0] == inner:
            exponent = outer.args[1]
            written = exponent.args[0] if exponent.op == "neg" else exponent
            if (exponent.op == "neg" or (written.value or 0) < 0) and abs(_integer_exponent(written) or 0) == 1:
                return True
            if exponent == symbol("T") and inner.op == "sym" and inner.name[0].isupper():
                return True
        if outer.op == inner.op == "sym" and outer.name in (inner.name + _DAGGER, inner.name + "^{T}"):
            return True
    return False


def _letters_in_another_order(node: Expr) -> set[str]:
    r"""Return the operators of a sum: letters that only their order tells apart, as in `H\rho - \rho H` or `AB + BA`.

    Empty if a letter of matrices is in a denominator: in `T\frac{R}{V - b} - \frac{RT}{V - b}`, which is 0, R and T are
    numbers.
    """
    below = [inner.args[1] for inner in walk(node) if inner.op == "div"]
    if any(_MATRIX.match(name) for name in symbols(*below)):
        return set()
    terms = [(sign, list(_expanded_factors(arg))) for sign, arg in _signed_terms(node)]
    spelled = [sorted(map(canonical, factors)) if len(factors) > 1 else [] for _, factors in terms]
    found: set[str] = set()
    for (one_at, (sign, one)), (two_at, (other, two)) in combinations(enumerate(terms), 2):
        if len(one) < 2 or spelled[one_at] != spelled[two_at] or one == two:
            continue
        moved = [x for x, y in zip(one, two, strict=True) if x != y]
        large = all(inner.op == "sym" and _MATRIX.match(inner.name) for inner in moved)
        alone = len(terms) == 2 and (sign != other or (large and len(one) == 2))
        if alone or (sign != other and large):
            found |= symbols(*moved)
    return {name for name in found if not _is_number_name(name)}


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
        return bool(_LEFT_OPEN.match(node.name)) and all(not arg.args for arg in node.args)
    return node.op in ("tensor", "commutator") or (node.op == "bracket" and node.name in ("ket", "bra"))


# Words. -------------------------------------------------------------------------------------------------------------


def _normal_form(member: Expr, notation: _OperatorNotation) -> Expr:
    """Write an expression as a sum of numbers times ordered products of operators, each of these an `opaque` node.

    An expression with too many terms becomes one `opaque` node as it is written; one without products is unchanged.
    """
    terms = _operator_terms(member, notation)
    if terms is None:
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
    return any(map(_is_ordered_product, walk(node)))


def _is_ordered_product(node: Expr) -> bool:
    """Return True if a node is the `opaque` node that stands for an ordered product of operators."""
    return node.op == "opaque" and node.name.startswith(_WORD)


def _sorted_functions(word: tuple[Expr, ...], notation: _OperatorNotation) -> tuple[Expr, ...]:
    r"""Sort neighbouring functions in an ordered product (`word`) that commute: `\hat p x\psi` as `\hat p \psi x`."""
    out: list[Expr] = []
    run: list[Expr] = []
    for letter in word:
        if _contains_operator(letter, notation) or any(_MATRIX.match(name) for name in symbols(letter)):
            out += [*sorted(run, key=canonical), letter]
            run = []
        else:
            run.append(letter)
    return (*out, *sorted(run, key=canonical))


def _contains_operator(node: Expr, notation: _OperatorNotation) -> bool:
    """Return True if an expression contains an operator or a quantum state."""
    return any(_is_operator(inner, notation.operators) for inner in walk(node))


def _operator_terms(node: Expr, notation: _OperatorNotation) -> list[_Term] | None:
    """Multiply an expression out into terms: (commuting factors, ordered product of operators) pairs.

    Returns None if there are more than MAX_TERMS terms.
    """
    if node.op == "commutator":
        a, b = (_operator_terms(arg, notation) for arg in node.args)
        forward, backward = _multiply_terms([a, b], notation), _multiply_terms([b, a], notation)
        return None if forward is None or backward is None else forward + _negate_terms(backward)
    if _is_operator(node, notation.operators):
        return [((), (node,))]
    if not _contains_operator(node, notation):
        return [((node,), ())]
    if node.op in _SCALARS_OF_OPERATORS:
        return [((_with_normalized_operands(node, notation),), ())]
    if node.op == "apply" and node.name in _TRACES and len(node.args) == 1:
        return _normalized_trace(node, notation)
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
    return node if args == node.args else Expr(node.op, args, node.name, node.value)


def _normalized_trace(node: Expr, notation: _OperatorNotation) -> list[_Term] | None:
    """Return the trace of a sum of operator products as terms that are numbers; None if there are too many.

    Cyclic orders are the same: Tr(ABC) = Tr(BCA).
    """
    terms = _operator_terms(node.args[0], notation)
    if terms is None:
        return None
    turned: list[_Term] = []
    for factors, word in terms:
        turns = [(*word[k:], *word[:k]) for k in range(len(word))] or [word]
        first = min(turns, key=lambda letters: [canonical(letter) for letter in letters])
        atom = (first[0],) if len(first) == 1 else (Expr("opaque", first, name=_WORD),) if first else (_ONE,)
        turned.append(((*factors, Expr("apply", atom, name=node.name)), ()))
    return turned


def _negate_terms(terms: list[_Term]) -> list[_Term]:
    """Return the terms of a sum with the opposite sign."""
    return [((number(-1), *factors), word) for factors, word in terms]


def _multiply_terms(factors: Iterable[list[_Term] | None], notation: _OperatorNotation) -> list[_Term] | None:
    """Multiply out factors that are sums of terms; None if a factor is None or there are more than MAX_TERMS terms."""
    product: list[_Term] = [((), ())]
    for terms in factors:
        if terms is None:
            return None
        longer: list[_Term] = []
        for one, left in product:
            for two, right in terms:
                for kept, taken in _split_commuting(left, two, notation):
                    longer.append(((*one, *kept), (*left, *taken, *right)))
                    if len(longer) > MAX_TERMS:
                        return None
        product = longer
    return product


def _split_commuting(word: tuple[Expr, ...], factors: tuple[Expr, ...], notation: _OperatorNotation) -> list[_Term]:
    """Split factors to the right of an operator product `word` into those that commute and those it acts on.

    Sums are multiplied out: there is one (commuting factors, factors acted on) pair for each term.
    """
    terms: list[_Term] = [((), ())]
    if not any(_acts_on(word, name, notation) for factor in factors for name in symbols(factor)):
        return [(factors, ())]
    for factor in factors:
        terms = [
            ((*kept, *more), (*taken, *behind))
            for kept, taken in terms
            for more, behind in _split_commuting_factor((*word, *taken), factor, notation)
        ]
    return terms


def _split_commuting_factor(word: tuple[Expr, ...], factor: Expr, notation: _OperatorNotation) -> list[_Term]:
    """Split one factor to the right of an operator product `word`, as `_split_commuting` does for several."""
    if not any(_acts_on(word, name, notation) for name in symbols(factor)):
        return [((factor,), ())]
    if factor.op in ("add", "sub", "neg"):
        return [
            ((*((number(-1),) if sign < 0 else ()), *kept), taken)
            for sign, term in _signed_terms(factor)
            for kept, taken in _split_commuting(word, (term,), notation)
        ]
    if factor.op == "mul":
        return _split_commuting(word, factor.args, notation)
    if factor.op == "div":
        below = factor.args[1].args if factor.args[1].op == "mul" else (factor.args[1],)
        inverses = tuple(Expr("div", (_ONE, part)) for part in below)
        if factor.args[0] != _ONE or len(below) > 1:
            return _split_commuting(word, (factor.args[0], *inverses), notation)
    times = _integer_exponent(factor.args[1]) if factor.op == "pow" else None
    if times is not None and 2 <= times <= _MAX_POWER:
        return _split_commuting(word, (factor.args[0],) * times, notation)
    return [((), (factor,))]


def _acts_on(word: tuple[Expr, ...], name: str, notation: _OperatorNotation) -> bool:
    """Return True if the operator product `word` acts on the symbol `name` to its right; False if they commute."""
    if _NUMBERS.match(name):
        return False
    for letter in reversed(word):
        if letter.op == "bracket":
            return False  # a state is complete
        names = symbols(letter)
        if letter.op == "dot" or any(inner.op == "opaque" for inner in walk(letter)):
            return True
        if _STATE.match(name) and _is_operator(letter, notation.operators):
            return True
        hats = [inner for inner in names if inner.startswith(_HAT) and inner in notation.operators]
        if any(map(_SPIN.match, hats)) and _STATE_OF_SPIN.match(name):
            return True
        hats = [hat for hat in hats if not _SPIN.match(hat)]
        acting = any(notation.hats_act or not _HATS_OF_NUMBERS.match(hat) for hat in hats)
        if acting and not _NUMBERS_OF_STATES.match(name):
            return True
        rotating = any(inner in notation.operators and not inner.startswith((r"\gamma", r"\sigma", _HAT))
                       for inner in names)  # fmt: skip
        if rotating and _MATRIX.match(name) and not _NUMBERS_OF_STATES.match(name):
            return True
    return False
