r"""Operators and states, for which the order of a product counts: their normal form.

Hats, adjoints, Pauli and Dirac matrices, derivatives without an operand, `\vec v\cdot\nabla` and the operands of a
commutator do not commute. Nor do letters that would be nothing but a detour as numbers: those of `PDP^{-1}` and of
`AB - BA`. Products are multiplied out and commutators written out, so that a formula becomes a sum of words of
operators, each with a coefficient. What stands to the right of an operator is what it acts on and belongs to its word,
unless it is surely a number. A word is one opaque atom; what the coefficients have to say is decided as usual.
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
_PAULI = re.compile(r"^\\sigma_\{?[xyz+-]\}?$")  # also stresses: operators only where something else says so
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
class _Reading:
    """What a pair of formulas takes for operators.

    Attributes:
        operators: names of symbols.
        hats_act: whether each hat acts on what is behind it; else some are amplitudes or directions.
    """

    operators: frozenset[str]
    hats_act: bool


def with_ordered_products(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Both formulas with each product of operators or states as one opaque atom, multiplied out.

    What one formula shows to be an operator is one in the other.
    """
    if _marks_of(a) is None and _marks_of(b) is None:
        return a, b  # nothing to see, as in most formulas
    names = traits_of(a).names | traits_of(b).names
    reading = _Reading(operators_of(a, b), any(_QUANTUM.search(name) for name in names))
    return _read(a, reading), _read(b, reading)


def speaks_of_operators(f: Formula) -> bool:
    """Whether something in a formula shows that the order of a product may count."""
    return _marks_of(f) is not None


def operators_of(a: Formula, b: Formula) -> frozenset[str]:
    """Names of the operators of a pair."""
    both = [marks for marks in (_marks_of(a), _marks_of(b)) if marks is not None]
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


def names_kept(a: Formula, b: Formula) -> frozenset[str]:
    """Operators and what they act on: symbols of a pair that no constant of nature may be put in for."""
    if _marks_of(a) is None and _marks_of(b) is None:
        return _NONE
    nodes = [node for f in with_ordered_products(a, b) for member in f.members for node in walk(member)]
    return operators_of(a, b).union(*(symbols(node) for node in nodes if _is_word(node)))


@dataclass(frozen=True, slots=True)
class _Marks:
    """What one formula shows: names of operators, and whether an operator or a state stands in it that is no symbol."""

    operators: frozenset[str]
    is_certain: bool


@lru_cache(maxsize=FORMULAS_KEPT)
def _marks_of(f: Formula) -> _Marks | None:
    """None where nothing speaks of operators."""
    names = traits_of(f).names
    nodes = [node for member in f.members for node in walk(member)]
    operators = {name for name in names if _OPERATOR.search(name)}
    for node in nodes:
        if node.op == "commutator" or (node.op == "opaque" and node.name == r"\dagger"):
            operators |= {name for name in symbols(*node.args) if not _is_number_name(name)}
        elif node.op == "mul":
            operators |= _between_inverses(node) | _before_states(node)
        elif node.op in ("add", "sub"):
            operators |= _in_another_order(node)
    certain = any(_is_operator(node, _NONE) for node in nodes)
    pauli = any(_PAULI.match(name) for name in names)
    return _Marks(frozenset(operators), certain) if operators or certain or pauli else None


@lru_cache(maxsize=FORMULAS_KEPT)
def _read(f: Formula, reading: _Reading) -> Formula:
    if not any(_is_operator(node, reading.operators) for member in f.members for node in walk(member)):
        return f
    return replace(f, members=tuple(_ordered(member, reading) for member in f.members))


# Which letters are operators by where they stand. -------------------------------------------------------------------


def _factors(node: Expr, power: int = 1) -> Iterator[Expr]:
    """The factors of a product in their order, without numbers; a quotient is the product with the inverse."""
    if node.op in ("mul", "neg"):
        for arg in node.args if power > 0 else reversed(node.args):
            yield from _factors(arg, power)
    elif node.op == "div":
        yield from _factors(node.args[0], power)
        yield from _factors(node.args[1], -power)
    elif node.op == "pow" and (times := _whole(node.args[1])) is not None and 1 <= times <= _MAX_POWER:
        for _ in range(times):
            yield from _factors(node.args[0], power)
    elif node.op != "num" and not (node.op == "sym" and _is_number_name(node.name)):
        yield node if power > 0 else Expr("pow", (node, number(-1)))


def _as_written(node: Expr) -> Iterator[Expr]:
    """The factors of a product in their order; quotients and powers are factors, as no matrix is divided by."""
    if node.op in ("mul", "neg"):
        for arg in node.args:
            yield from _as_written(arg)
    else:
        yield node


def _whole(exponent: Expr) -> int | None:
    value = exponent.value
    return int(value) if value is not None and value.denominator == 1 else None


@lru_cache(maxsize=FORMULAS_KEPT)
def _is_number_name(name: str) -> bool:
    return bool(_NUMBERS.match(name) or _NUMBERS_OF_STATES.match(name))


def _between_inverses(node: Expr) -> set[str]:
    r"""Letters of `PDP^{-1}`, `R^TMR`, `e^{-iHt}Ae^{iHt}`: as numbers, the outer ones would say nothing."""
    factors = [factor for factor in _as_written(node) if factor.op != "num" and not _is_of_units(factor)]
    found: set[str] = set()
    for first, one in enumerate(factors):
        for last in range(first + 2, len(factors)):  # something between them
            if _are_inverse(one, factors[last]):
                found |= symbols(*factors[first : last + 1])
    return {name for name in found if not _is_number_name(name)}


def _is_of_units(node: Expr) -> bool:
    """Whether a factor is a base unit or a power of one: metres cancel, and stand around nothing."""
    names = symbols(node)
    return bool(names) and all(name.startswith(r"\unit{") for name in names)


def _before_states(node: Expr) -> set[str]:
    r"""The Hamiltonian of `H\psi = E\psi`, which is nobody's product."""
    factors = list(_as_written(node))
    return {
        one.name
        for one, two in pairwise(factors)
        if one.op == two.op == "sym" and _HAMILTONIAN.match(one.name) and _WAVE_FUNCTION.match(two.name)
    }


def _are_inverse(one: Expr, two: Expr) -> bool:
    """Whether two factors are inverse, adjoint or transposed to each other."""
    if one.op == "exp" and two.op == "exp":
        large = any(name[0].isupper() or name.startswith(_HAT) for name in symbols(one))  # e^{-ax} is a decay
        return large and canonical(Expr("add", (one.args[0], two.args[0]))) == "0"
    for outer, inner in ((one, two), (two, one)):
        if outer.op == "pow" and outer.args[0] == inner:
            exponent = outer.args[1]
            written = exponent.args[0] if exponent.op == "neg" else exponent
            if (exponent.op == "neg" or (written.value or 0) < 0) and abs(_whole(written) or 0) == 1:
                return True
            if exponent == symbol("T") and inner.op == "sym" and inner.name[0].isupper():
                return True
        if outer.op == inner.op == "sym" and outer.name in (inner.name + _DAGGER, inner.name + "^{T}"):
            return True
    return False


def _in_another_order(node: Expr) -> set[str]:
    r"""Letters of `H\rho - \rho H`: as numbers, the two products would cancel; and of `AB + BA` alone.

    Not where a letter like them is divided by, which no matrix is: `T\frac{R}{V - b} - \frac{RT}{V - b}` is 0.
    """
    below = [inner.args[1] for inner in walk(node) if inner.op == "div"]
    if any(_MATRIX.match(name) for name in symbols(*below)):
        return set()
    terms = [(sign, list(_factors(arg))) for sign, arg in _signed(node)]
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


def _signed(node: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    """The terms of a sum with their signs."""
    if node.op in ("add", "sub", "neg"):
        for position, arg in enumerate(node.args):
            turned = node.op == "neg" or (node.op == "sub" and position)
            yield from _signed(arg, -sign if turned else sign)
    else:
        yield sign, node


def _is_operator(node: Expr, operators: frozenset[str]) -> bool:
    """Whether this node itself is an operator or a state."""
    if node.op == "sym":
        return node.name in operators
    if node.op == "dot":
        return node.args[1] == _DEL
    if node.op == "opaque":
        return bool(_LEFT_OPEN.match(node.name)) and all(not arg.args for arg in node.args)
    return node.op in ("tensor", "commutator") or (node.op == "bracket" and node.name in ("ket", "bra"))


# Words. -------------------------------------------------------------------------------------------------------------


def _ordered(member: Expr, reading: _Reading) -> Expr:
    """A side as the sum of its words; where that takes too many terms, one atom as it is written."""
    terms = _terms(member, reading)
    if terms is None:
        return Expr("opaque", (member,), name=f"{_WORD} {spell(member)}")
    if all(len(word) < 2 and not any(map(_holds_word, (*factors, *word))) for factors, word in terms):
        return member
    parts = []
    for factors, word in terms:
        letters = _sorted_functions(word, reading)
        atom = (letters[0],) if len(letters) == 1 else (Expr("opaque", letters, name=_WORD),) if letters else ()
        whole = (*factors, *atom)
        parts.append(whole[0] if len(whole) == 1 else Expr("mul", whole) if whole else _ONE)
    return parts[0] if len(parts) == 1 else Expr("add", tuple(parts))


def _holds_word(node: Expr) -> bool:
    return any(map(_is_word, walk(node)))


def _is_word(node: Expr) -> bool:
    return node.op == "opaque" and node.name.startswith(_WORD)


def _sorted_functions(word: tuple[Expr, ...], reading: _Reading) -> tuple[Expr, ...]:
    r"""A word whose functions of place stand in one order where only they are neighbours: `\hat p x\psi`, `\psi x`."""
    out: list[Expr] = []
    run: list[Expr] = []
    for letter in word:
        if _holds_operator(letter, reading) or any(_MATRIX.match(name) for name in symbols(letter)):
            out += [*sorted(run, key=canonical), letter]
            run = []
        else:
            run.append(letter)
    return (*out, *sorted(run, key=canonical))


def _holds_operator(node: Expr, reading: _Reading) -> bool:
    return any(_is_operator(inner, reading.operators) for inner in walk(node))


def _terms(node: Expr, reading: _Reading) -> list[_Term] | None:
    """An expression as a sum of words; None where it has too many."""
    if node.op == "commutator":
        a, b = (_terms(arg, reading) for arg in node.args)
        forward, backward = _multiplied([a, b], reading), _multiplied([b, a], reading)
        return None if forward is None or backward is None else forward + _negated(backward)
    if _is_operator(node, reading.operators):
        return [((), (node,))]
    if not _holds_operator(node, reading):
        return [((node,), ())]
    if node.op in _SCALARS_OF_OPERATORS:
        return [((_inside(node, reading),), ())]
    if node.op == "apply" and node.name in _TRACES and len(node.args) == 1:
        return _trace(node, reading)
    if node.op in ("add", "sub", "neg"):
        total: list[_Term] = []
        for position, arg in enumerate(node.args):
            terms = _terms(arg, reading)
            if terms is None:
                return None
            total += terms if node.op == "add" or (node.op == "sub" and not position) else _negated(terms)
        return total
    if node.op == "mul":
        return _multiplied([_terms(arg, reading) for arg in node.args], reading)
    if node.op == "div" and not _holds_operator(node.args[1], reading):
        inverse: list[_Term] = [((Expr("div", (_ONE, node.args[1])),), ())]
        return _multiplied([inverse, _terms(node.args[0], reading)], reading)
    exponent = node.args[1].value if node.op == "pow" else None
    if exponent is not None and exponent.denominator == 1 and 1 <= exponent <= _MAX_POWER:
        return _multiplied([_terms(node.args[0], reading)] * int(exponent), reading)
    return [((), (_inside(node, reading),))]  # a function of operators is one


def _inside(node: Expr, reading: _Reading) -> Expr:
    """A node with its operands in their normal form."""
    args = tuple(_ordered(arg, reading) for arg in node.args)
    return node if args == node.args else Expr(node.op, args, node.name, node.value)


def _trace(node: Expr, reading: _Reading) -> list[_Term] | None:
    """The trace of a sum of words: a number, whichever letter of a word is the first."""
    terms = _terms(node.args[0], reading)
    if terms is None:
        return None
    turned: list[_Term] = []
    for factors, word in terms:
        turns = [(*word[k:], *word[:k]) for k in range(len(word))] or [word]
        first = min(turns, key=lambda letters: [canonical(letter) for letter in letters])
        atom = (first[0],) if len(first) == 1 else (Expr("opaque", first, name=_WORD),) if first else (_ONE,)
        turned.append(((*factors, Expr("apply", atom, name=node.name)), ()))
    return turned


def _negated(terms: list[_Term]) -> list[_Term]:
    return [((number(-1), *factors), word) for factors, word in terms]


def _multiplied(factors: Iterable[list[_Term] | None], reading: _Reading) -> list[_Term] | None:
    product: list[_Term] = [((), ())]
    for terms in factors:
        if terms is None:
            return None
        longer: list[_Term] = []
        for one, left in product:
            for two, right in terms:
                for kept, taken in _taken_in(left, two, reading):
                    longer.append(((*one, *kept), (*left, *taken, *right)))
                    if len(longer) > MAX_TERMS:
                        return None
        product = longer
    return product


def _taken_in(word: tuple[Expr, ...], factors: tuple[Expr, ...], reading: _Reading) -> list[_Term]:
    """What stands behind a word, as a sum: factors that commute with it, and those that it acts on."""
    terms: list[_Term] = [((), ())]
    if not any(_acts_on(word, name, reading) for factor in factors for name in symbols(factor)):
        return [(factors, ())]
    for factor in factors:
        terms = [
            ((*kept, *more), (*taken, *behind))
            for kept, taken in terms
            for more, behind in _split((*word, *taken), factor, reading)
        ]
    return terms


def _split(word: tuple[Expr, ...], factor: Expr, reading: _Reading) -> list[_Term]:
    """One factor behind a word, as `_taken_in`."""
    if not any(_acts_on(word, name, reading) for name in symbols(factor)):
        return [((factor,), ())]
    if factor.op in ("add", "sub", "neg"):
        return [
            ((*((number(-1),) if sign < 0 else ()), *kept), taken)
            for sign, term in _signed(factor)
            for kept, taken in _taken_in(word, (term,), reading)
        ]
    if factor.op == "mul":
        return _taken_in(word, factor.args, reading)
    if factor.op == "div":
        below = factor.args[1].args if factor.args[1].op == "mul" else (factor.args[1],)
        inverses = tuple(Expr("div", (_ONE, part)) for part in below)
        if factor.args[0] != _ONE or len(below) > 1:
            return _taken_in(word, (factor.args[0], *inverses), reading)
    times = _whole(factor.args[1]) if factor.op == "pow" else None
    if times is not None and 2 <= times <= _MAX_POWER:
        return _taken_in(word, (factor.args[0],) * times, reading)
    return [((), (factor,))]


def _acts_on(word: tuple[Expr, ...], name: str, reading: _Reading) -> bool:
    """Whether a symbol behind a word is more than a number to it."""
    if _NUMBERS.match(name):
        return False
    for letter in reversed(word):
        if letter.op == "bracket":
            return False  # a state is complete
        names = symbols(letter)
        if letter.op == "dot" or any(inner.op == "opaque" for inner in walk(letter)):
            return True
        if _STATE.match(name) and _is_operator(letter, reading.operators):
            return True
        hats = [inner for inner in names if inner.startswith(_HAT) and inner in reading.operators]
        if any(map(_SPIN.match, hats)) and _STATE_OF_SPIN.match(name):
            return True
        hats = [hat for hat in hats if not _SPIN.match(hat)]
        acting = any(reading.hats_act or not _HATS_OF_NUMBERS.match(hat) for hat in hats)
        if acting and not _NUMBERS_OF_STATES.match(name):
            return True
        rotating = any(inner in reading.operators and not inner.startswith((r"\gamma", r"\sigma", _HAT))
                       for inner in names)  # fmt: skip
        if rotating and _MATRIX.match(name) and not _NUMBERS_OF_STATES.match(name):
            return True
    return False
