r"""What each letter of two formulas is: a number, a function of which variables, a vector, a matrix, an operator.

What the problem declares counts, else what either formula shows; a letter is the same in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise

from prism.algebra.calculus import letters_beside_rates, possible_unknowns, usually_varies
from prism.algebra.expr import Expr, Formula, canonical, index_letters, is_infinite, symbol, symbols, walk
from prism.algebra.noncommutative import letters_of_matrices, operator_names
from prism.algebra.symbols import ADJOINT, LETTERS_OF_STATES, TURNED, spelled, symbol_of
from prism.algebra.terms import number_of, terms_of
from prism.budget import charge_steps, free_property
from prism.engine.lowering import Notation, conjugation_base
from prism.equivalence.interpretation.held import States, states_of
from prism.equivalence.interpretation.integrals.boundaries import region_letters
from prism.equivalence.interpretation.names import (
    CHOICES,
    COUNTED,
    NAMED,
    are_balanced,
    bold_matrices,
    capitals_among_columns,
    harmonic_indices,
    is_coordinate,
    kronecker_letters,
    letter_counts,
    letters_of,
    matrices_before_columns,
    mode_numbers,
    order_letter,
    order_of,
    placed_variable,
    shifted_matrices,
    squared_moduli_of_functions,
    up_and_down,
)
from prism.equivalence.interpretation.quantum.quanta import Space, space_of
from prism.equivalence.interpretation.values import Value
from prism.equivalence.notation.choice import notation_of
from prism.latex.parsing.marks import condition_in
from prism.physics.context import Context

PLACE = "#place"  # the variable of fields
COORDINATES = {
    "cartesian": ("x", "y", "z"), "cylindrical": (r"\rho", r"\phi", "z"), "spherical": ("r", r"\theta", r"\phi"),
}  # fmt: skip
"""Names of the coordinates of a place, by system."""

_DERIVATIVES = ("derivative", "partial")
_TRANSPOSES = TURNED | {ADJOINT}
_MATRIX_FUNCTIONS = frozenset(("det", "tr", "Tr"))
_COORDINATES = frozenset(("x", "y", "z", "r", r"\theta", r"\vec{r}", r"\vec{x}", r"\hat{x}", r"\hat{y}", r"\hat{z}",
                          r"\hat{r}", r"\hat{\rho}", r"\hat{\phi}", r"\hat{\theta}"))  # fmt: skip
_PLACE_VECTORS = frozenset((r"\vec{r}", r"\vec{x}"))
_CONSTANTS = frozenset(
    ("m", "M", "g", "c", "k", "k_B", r"\hbar", "h", "e", "q", "G", "R", r"\epsilon_0", r"\mu_0", "i", "j")
)
_OF_NATURE = frozenset((r"\epsilon_0", r"\mu_0", r"\hbar", "k_B", "m_e"))  # constants everywhere
_MAY_BE_COMPLEX = LETTERS_OF_STATES | {"z", "w"}
_REAL_ORDERS = (r"\nu", r"\alpha", r"\mu")  # letters of orders that may be no whole numbers
_ESTIMATES = frozenset((r"\hat{x}", r"\hat{y}", r"\hat{b}", r"\hat{\beta}", r"\hat{\theta}", r"\hat{\mu}"))
_GREEK = (r"\rho", r"\sigma", r"\tau", r"\gamma")  # small letters of square matrices
_DIRECTIONS = ((r"\hat{i}", 0), (r"\hat{j}", 1), (r"\hat{k}", 2))
_RUNNING = frozenset(("x", "y", "z", "t", "s", "u", "v", r"\xi", r"\tau"))


@dataclass(frozen=True, slots=True)
class Role:
    """What a letter is that stands for one number, or for the value of a function, wherever no index has a value.

    Attributes:
        name: with the ends of a distance in order.
        variables: of a function; none of a number.
        kind: of a number that is drawn.
        is_complex: the number, or the values of the function, may be complex.
        is_coordinate: of the place, which no differential varies.
    """

    name: str
    variables: tuple[str, ...]
    kind: str
    is_complex: bool
    is_coordinate: bool = False


@dataclass(frozen=True)
class Signature:
    r"""What the letters of two formulas are.

    Attributes:
        notation: vectors, complex numbers, the imaginary unit.
        functions: letters that vary, each with its variables: symbols, or derivatives that a formula differentiates by.
        tensors: letters of indices over which a product is summed.
        operators: letters of operators, whose order counts.
        states: letters of states, on which operators act.
        matrices: letters of matrices.
        has_nabla: letters under a nabla are fields.
        system: `cartesian`, `cylindrical` or `spherical` coordinates.
        differentials: a formula has differentials.
        declared: kinds of symbols that the problem declares.
        whole: letters of whole numbers.
        fields: letters that vary from place to place.
        signed: letters that are drawn with either sign, for a case depends on it.
        varied: letters that a formula has the differential of, so that they are no constants.
        integrable: letters of functions that are integrated to infinity, and never differentiated.
        constants: values of integrals without a letter, the same in each draw.
        states_space: the quantities of state, if a derivative holds some constant.
        series: letters of coefficients of infinite sums, which fall so fast that these converge.
        keys: the derivatives by which a formula differentiates, by their names as variables.
        space: of operators with rules of their own.
        has_kets: a formula has states in brackets.
        shapes: rows and columns of matrices that are not all square.
        roles: of letters that were met, by their names as written.
        carried: (letter, variable) of the partial derivatives of letters: the variable carries the letter along.
    """

    notation: Notation
    functions: Mapping[str, tuple[str, ...]]
    tensors: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    matrices: frozenset[str] = frozenset()
    has_nabla: bool = False
    system: str = "cartesian"
    differentials: bool = False
    declared: Mapping[str, str] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    signed: frozenset[str] = frozenset()
    varied: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()
    keys: Mapping[str, Expr] = field(default_factory=dict)
    integrable: frozenset[str] = frozenset()
    states_space: States | None = None
    constants: dict[tuple[Expr, ...], Value] = field(default_factory=dict, compare=False)
    space: Space | None = None
    has_kets: bool = False
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    carried: frozenset[tuple[str, str]] = frozenset()
    roles: dict[str, Role] = field(default_factory=dict, init=False, compare=False, repr=False)

    @free_property
    def varying_heads(self) -> frozenset[str]:
        """What letters of functions are without their scripts."""
        return frozenset(symbol_of(name).head for name in self.functions)

    @free_property
    def tensor_variables(self) -> Mapping[str, tuple[str, ...]]:
        """What the components of each tensor depend on, by its letter: the place, and letters such as the time."""
        found: dict[str, set[str]] = {}
        for name, variables in self.functions.items():
            if (head := symbol_of(name).head) != name:
                found.setdefault(head, set()).update(each for each in variables if not is_coordinate(each))
        return {head: tuple(sorted(each)) for head, each in found.items()}

    def is_number(self, name: str) -> bool:
        """Return True for a letter of one number: no function, vector, matrix, operator, field or state."""
        others = self.matrices | self.operators | self.fields | self.states | self.notation.vectors
        return not (symbol_of(name).is_accented or name in others or self.functions.get(name))


def variable_key(node: Expr) -> str:
    """Return what names a variable of differentiation: a symbol's name, else its canonical form."""
    return node.name if node.op == "sym" else canonical(node)


def signatures_of(a: Formula, b: Formula, context: Context, *, systems: Iterable[str]) -> list[Signature]:
    """Return all that the letters of two formulas may be: in each system of coordinates, constant or varying."""
    found = [signature_of(a, b, context, system=system) for system in systems]
    if any(signature.states_space is not None for signature in found):
        return found
    open_letters = _that_may_vary(a, b, context)
    placed = frozenset(name for name, variables in open_letters.items() if PLACE in variables)
    for signature in list(found):
        more = {name: frozenset(variables) - {name, PLACE} for name, variables in open_letters.items()}
        functions = {
            name: tuple(sorted({*signature.functions.get(name, ()), *more.get(name, ())}))
            for name in {*signature.functions, *more}
        }
        functions = {name: variables for name, variables in functions.items() if variables}
        if functions != dict(signature.functions) or not placed <= signature.fields:
            found.append(replace(signature, functions=functions, fields=signature.fields | placed))
    return found


def _that_may_vary(a: Formula, b: Formula, context: Context) -> dict[str, set[str]]:
    r"""Return the letters that a formula does not show to be constant, each with the variables it may depend on.

    The force in `\int_0^L F\,dx` is one, since an integrand without its variable would hardly be written as an
    integral, and a free energy in `\partial(\beta F)/\partial\beta`; not what the problem gives a value.
    """
    found: dict[str, set[str]] = {}
    kept = _CONSTANTS | context.givens.keys()
    for name, variable in possible_unknowns(a) | possible_unknowns(b):
        if name not in context.givens:
            found.setdefault(name, set()).add(variable)
    for member in (*a.members, *b.members):
        for node, bound in _integrals(member):
            inside = symbols(node.args[0])
            written = {name for name, variable in a.depends | b.depends if variable in bound}
            if inside.isdisjoint(bound) and inside.isdisjoint(written):
                for name in inside - kept:
                    if "_" not in name or symbol_of(name).is_vector:
                        found.setdefault(name, set()).update(bound)
        for node in walk(member):
            if node.op in _DERIVATIVES and len(node.args) > 1:
                _add_beside_usual(found, node, kept)
                factors = _bare_factors(node.args[0])
                for variable in (arg.name for arg in node.args[1:] if arg.op == "sym" and arg.name in factors):
                    for name in factors - kept - set(_COORDINATES):
                        if usually_varies(name, variable):
                            found.setdefault(name, set()).add(variable)
            elif node.op == "nabla":
                settled = kept | _COORDINATES | _of_coordinates(a.depends | b.depends)
                for name in _bare_factors(node.args[0]) - settled:
                    if "_" not in name or any(usually_varies(name, each) for each in ("r", "x")):
                        found.setdefault(name, set()).add(PLACE)
    return found


def _add_beside_usual(found: dict[str, set[str]], node: Expr, kept: Set[str]) -> None:
    r"""Add to `found` what multiplies a letter that varies, in a derivative without its variable: m of `d(mv)/dt`."""
    variable = variable_key(node.args[1])
    if node.op != "derivative" or variable in symbols(node.args[0]) or _has_rest_mass(node.args[0]):
        return
    for term in terms_of(node.args[0]):
        inside = symbols(term)
        if any(usually_varies(name, variable) for name in inside):
            for name in inside - (kept - {"m", "M"}):
                found.setdefault(name, set()).add(variable)


def _has_rest_mass(node: Expr) -> bool:
    r"""Return True for an operand with `\sqrt{1 - v^2/c^2}`, in which m is a mass at rest."""
    return any(
        part.op == "sub" and part.args[0].value == 1 and "c" in symbols(part) and "c" not in lone_names(part)
        for part in walk(node)
    )


def _bare_factors(node: Expr) -> frozenset[str]:
    """Return the symbols of a product or quotient of nothing but symbols, vectors included; else nothing."""
    if node.op == "sym":
        return frozenset((node.name,))
    if node.op not in ("mul", "div"):
        return frozenset()
    found = [_bare_factors(arg) for arg in node.args]
    return frozenset().union(*found) if all(found) else frozenset()


def _integrals(node: Expr, bound: frozenset[str] = frozenset()) -> Iterable[tuple[Expr, frozenset[str]]]:
    """Yield the innermost integrals in an expression, each with all variables that are integrated over around it."""
    own = bound
    if node.op == "integral" and len(node.args) > 1:
        own = bound | symbols(node.args[1])
        if not any(part.op == "integral" for part in walk(node.args[0])):
            yield node, own
    for arg in node.args:
        yield from _integrals(arg, own)


def signature_of(a: Formula, b: Formula, context: Context, *, system: str = "cartesian") -> Signature:
    """Return what the letters of two formulas are, as they show it."""
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    charge_steps(2 * len(nodes))
    functions_in_moduli = squared_moduli_of_functions(nodes, a.depends | b.depends) - context.kinds.keys()
    notation = _with_waves(_with_complex_partners(notation_of(a, b, context), nodes), nodes, functions_in_moduli)
    has_nabla = any(node.op == "nabla" or (node.op == "opaque" and "nabla" in node.name) for node in nodes)
    operators = operator_names(a, b) - (_COORDINATES if has_nabla else frozenset())
    operators |= {base for name in operators if (base := base_of_transposed(name))}
    space = space_of(nodes, (*a.members, *b.members), operators)
    if space is not None:
        operators -= space.numbers_among(operators)
    if _has_directions(nodes):
        operators = frozenset(name for name in operators if not symbol_of(name).is_hat)
        notation = _with_basis(notation, nodes)
    matrices = _matrix_names(nodes, operators, a, b)
    tensors = _tensor_letters((*a.members, *b.members))
    if space is not None and space.kind in ("pauli", "spin"):
        tensors |= {letter for name in space.names for letter in letters_of(name)}
    functions = _functions(a, b, nodes, tensors)
    states_space = states_of(nodes)
    if states_space is not None:
        functions = dict.fromkeys(sorted(states_space.names), states_space.variables)
    keys = {
        variable_key(variable): variable
        for node in nodes if node.op in _DERIVATIVES for variable in node.args[1:] if variable.op != "sym"
    }  # fmt: skip
    written = a.depends | b.depends
    of_place = frozenset(name for name, variable in written if has_nabla and variable in _PLACE_VECTORS)
    functions = {
        name: tuple(each for each in own if not symbol_of(each).is_vector) if name in of_place else own
        for name, own in functions.items()
    }
    return Signature(
        notation=notation,
        functions=functions,
        tensors=tensors,
        operators=operators - matrices - notation.vectors,
        states=_states(nodes, operators),
        matrices=matrices,
        has_nabla=has_nabla,
        system=system,
        differentials=any(node.op == "differential" for node in nodes) or any(map(_is_ratio, keys.values())),
        declared=context.kinds,
        whole=_whole_letters(nodes, context),
        fields=(of_place | _fields(nodes, system) | _fields_in_regions(nodes)) - _of_coordinates(written) - _OF_NATURE
        if has_nabla
        else frozenset(),
        signed=_signed_letters(nodes),
        varied=_varied(nodes),
        series=_series(nodes),
        keys=keys,
        integrable=_integrable(nodes, functions),
        states_space=states_space,
        space=space,
        has_kets=any(node.op == "bracket" for node in nodes),
        carried=frozenset(
            (node.args[0].name, variable_key(each)) for node in nodes
            if node.op == "partial" and node.args[0].op == "sym" for each in node.args[1:]
        ),
    )  # fmt: skip


def _with_basis(notation: Notation, nodes: Sequence[Expr]) -> Notation:
    """Return a notation with a basis: if it has none, the usual directions, and letters with hats as vectors."""
    if notation.basis:
        return notation
    hats = frozenset(node.name for node in nodes if node.op == "sym" and symbol_of(node.name).is_hat)
    return replace(notation, basis=_DIRECTIONS, dimension=3, vectors=notation.vectors | hats)


def _varied(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the letters that are no constants: a formula has `dg`, or a differential of nothing else, as `d\ln g`."""
    inside = [symbols(node.args[0]) for node in nodes if node.op == "differential"]
    return frozenset(name for names in inside if len(names) == 1 for name in names)


def _whole_letters(nodes: Sequence[Expr], context: Context) -> frozenset[str]:
    """Return the letters of whole numbers: declared, in factorials and bounds of sums, orders and powers of tables."""
    whole = {name for name, kind in context.kinds.items() if kind == "integer"}
    whole |= {
        name
        for node in nodes
        if node.op in ("factorial", "binomial") or (node.op in ("sum", "product") and len(node.args) == 4)
        for name in symbols(*(node.args[2:] if node.op in ("sum", "product") else node.args))
    }
    compared = kronecker_letters(nodes)
    for node in nodes:
        if node.op == "pow" and node.args[0].op == "matrix" and node.args[1].name != "T":
            whole |= symbols(node.args[1])
        if node.op == "apply":
            found = map(order_letter, (order_of(node.name) or ())[1:])
            whole |= {each[0] for each in found if each is not None and each[0] not in _REAL_ORDERS}
            said = (condition_in(symbol(index)) for index in harmonic_indices(node.name) or ())
            whole |= symbols(*(each.members[0] for each in said if each is not None))
        if node.op == "pow" and node.args[0].op == "neg" and node.args[0].args[0].value == 1:
            whole |= symbols(node.args[1]) & COUNTED  # of a sign `(-1)^n`; not of a distance, `(-1)^d`
        if node.op == "integral" and len(node.args) == 4:
            whole |= mode_numbers(node) | (symbols(node.args[0]) & compared)
    return frozenset(whole)


def _series(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters that have the index of an infinite sum in their subscript."""
    return frozenset(
        symbol_of(name).head
        for node in nodes if node.op == "sum" and len(node.args) == 4 and node.args[3].op == "infinity"
        for name in symbols(node.args[0]) if node.args[1].name in letters_of(name)
    )  # fmt: skip


def _has_directions(nodes: Sequence[Expr]) -> bool:
    r"""Return True for two formulas with `\hat{i}` and `\hat{j}`, and nothing of quantum mechanics."""
    names = {node.name for node in nodes if node.op == "sym"}
    has_two = sum(name in names for name, _ in _DIRECTIONS) > 1
    return has_two and not any(node.op in ("commutator", "bracket") for node in nodes) and r"\hbar" not in names


def _with_complex_partners(notation: Notation, nodes: Sequence[Expr]) -> Notation:
    r"""Return the notation in which letters beside a starred one in a real part are complex: E of `Re(E H^*)`."""
    called = frozenset(
        node.args[0].name for node in nodes if node.op == "opaque" and node.name == "*" and node.args[0].op == "apply"
    )  # fmt: skip
    if called:
        notation = replace(notation, complexes=notation.complexes | called)
    found: set[str] = set()
    for node in nodes:
        if node.op == "apply" and node.name in ("Re", "Im"):
            inside = symbols(node)
            starred = {symbol_of(conjugation_base(name)).head for name in inside if conjugation_base(name) != name}
            if starred or any(part.op == "opaque" for part in walk(node)):
                phases = frozenset().union(*(symbols(part) for part in walk(node) if part.op == "exp"))
                inside -= phases - {conjugation_base(name) for name in phases if conjugation_base(name) != name}
                found |= {name for name in inside if _may_be_complex(name) or symbol_of(name).head in starred}
        elif node.op == "abs" and node.args[0].op == "sym" and notation.is_complex and not node.args[0].name.isupper():
            found.add(node.args[0].name)  # the modulus of a real letter would hardly be written beside complex ones
    found -= _turning_letters(nodes)
    if not found or not notation.is_complex:
        return notation
    return replace(notation, complexes=notation.complexes | found)


def _may_be_complex(name: str) -> bool:
    """Return True for a vector, a capital letter and letters that complex numbers usually have."""
    read = symbol_of(name)
    return read.is_vector or read.letter[:1].isupper() or read.letter in _MAY_BE_COMPLEX


def _with_waves(notation: Notation, nodes: Iterable[Expr], functions: Set[str]) -> Notation:
    r"""Return a notation in which the wave functions below a modulus are complex, and so are these functions."""
    inside = {name for node in nodes if node.op == "abs" for name in symbols(node)}
    waves = {name for name in inside if symbol_of(name).letter in (r"\psi", r"\Psi")} | functions
    return replace(notation, complexes=notation.complexes | waves) if waves else notation


def _states(nodes: Iterable[Expr], operators: frozenset[str]) -> frozenset[str]:
    """Return the letters of states: wave functions right behind an operator."""
    found = set()
    for node in nodes if operators else ():
        for left, right in zip(node.args, node.args[1:], strict=False) if node.op == "mul" else ():
            base = left.args[0] if left.op == "pow" else left
            is_wave = right.op == "sym" and symbol_of(right.name).letter in LETTERS_OF_STATES
            if base.op == "sym" and base.name in operators and is_wave:
                found.add(right.name)
    return frozenset(found)


def _is_ratio(variable: Expr) -> bool:
    r"""Return True for a variable of differentiation that is neither letter nor derivative: `d\ln p/d\ln V`."""
    return variable.op not in ("sym", *_DERIVATIVES)


def _fields(nodes: Iterable[Expr], system: str) -> frozenset[str]:
    """Return the letters that a nabla acts on, unless a coordinate stands beside them."""
    found: set[str] = set()
    coordinates = _COORDINATES | {r"\rho", r"\phi"} if system == "cylindrical" else _COORDINATES
    for node in nodes:
        if node.op == "nabla":
            inside = symbols(node.args[0])
            if inside.isdisjoint(coordinates):
                found |= inside
        elif node.op == "mul":
            opened = [k for k, arg in enumerate(node.args) if arg.op == "dot" and arg.args[1].op == "opaque"]
            found |= symbols(*node.args[opened[0] + 1 :]) if opened else set()
    return frozenset(found)


def _of_coordinates(written: Set[tuple[str, str]]) -> frozenset[str]:
    """Return the letters that are written as functions of coordinates only, as `f(r)`."""
    own: dict[str, set[str]] = {}
    for name, variable in written:
        own.setdefault(name, set()).add(variable)
    coordinates = {"r", ",", *(name for names in COORDINATES.values() for name in names)}
    return frozenset(name for name, variables in own.items() if variables <= coordinates)


def _fields_in_regions(nodes: Sequence[Expr]) -> frozenset[str]:
    """Return the letters of fields below integrals over a region: all but constants, and letters with the index 0."""
    return frozenset(name for name in region_letters(nodes) - _CONSTANTS - _COORDINATES if symbol_of(name).sub != "0")


def _signed_letters(nodes: Sequence[Expr]) -> frozenset[str]:
    """Return the letters whose sign decides: alone in an absolute value or a step, or compared with 0 or less."""
    found: set[str] = set()
    for node in nodes:
        is_step = node.op == "apply" and node.name in CHOICES
        args = node.args if node.op == "abs" or is_step else ()
        if node.op == "relation":
            zeros = [k for k, arg in enumerate(node.args) if arg.value == 0]
            args = tuple(node.args[k] for zero in zeros for k in (zero - 1, zero + 1) if 0 <= k < len(node.args))
            pairs = [*pairwise(node.args), *pairwise(node.args[::-1])]
            found |= symbols(*(side for side, other in pairs if other.op == "neg" and side.op in ("sym", "mul")))
        found |= {arg.name for arg in args if arg.op == "sym"}
        found |= {arg.args[0].name for arg in args if arg.op == "neg" and arg.args[0].op == "sym"}
    waves = [part for node in nodes if node.op == "abs" for part in walk(node) if part.op in ("sin", "cos")]
    found |= symbols(*waves) & _RUNNING  # t of `|\sin\omega t|`
    sums = [symbols(node.args[0]) for node in nodes if node.op == "abs" and node.args[0].op in ("add", "sub")]
    if len(set(sums)) < len(sums) or len(sums) > 1:
        found |= frozenset.intersection(*map(frozenset, sums))  # x and a of `|x - a| + |x + a|`
    return frozenset(found | _turning_letters(nodes))


def _turning_letters(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters of waves that are integrated over all x, which are real."""
    return frozenset(
        name for node in nodes
        if node.op == "integral" and len(node.args) == 4 and all(map(is_infinite, node.args[2:]))
        for part in walk(node.args[0]) if part.op == "exp" for name in _turning(part, node.args[1])
    )  # fmt: skip


def _turning(wave: Expr, variable: Expr) -> Iterable[str]:
    r"""Yield the letters beside i and a variable in an exponent: k of `e^{ikx}` over all x has either sign."""
    for node in walk(wave):
        if node.op == "mul" and variable in node.args and any(arg.name in ("i", "j") for arg in node.args):
            yield from (arg.name for arg in node.args if arg.op == "sym" and arg != variable)


def _functions(a: Formula, b: Formula, nodes: Sequence[Expr], tensors: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the letters that vary, each with its variables in alphabetical order."""
    found: dict[str, set[str]] = {}
    written = a.depends | b.depends
    called = {node.name for node in nodes if node.op == "apply"}
    for name, argument in written:
        if argument != "," and not symbol_of(name).primes:
            found.setdefault(name, set()).add(argument)
    for node in nodes:
        if node.op == "sym" and "," in node.name and tensors:  # `g_{ij,k}` is a derivative
            read = symbol_of(node.name)
            found.setdefault(spelled(read.head, read.sub.split(",")[0], read.sup.split(",")[0]), set()).add("#place")
        if node.op not in _DERIVATIVES or len(node.args) < 2:
            continue
        for variable in node.args[1:]:
            key = variable_key(variable)
            if placed_variable(key)[0] in tensors or any(part in tensors for part in letters_of(key)):
                for name in symbols(node.args[0]):
                    found.setdefault(name, set()).add("#place")
                continue
            operand = node.args[0]
            inside = symbols(operand) - _bound_variables(operand) - _never_varying(operand)
            lone = operand.op == "sym"
            explicit = key in symbols(operand) or (variable.op != "sym" and variable in walk(operand))
            explicit |= any((name, key) in written for name in inside)
            if _is_ratio(variable):
                continue
            constant = _phases(operand, key) if node.op == "derivative" else inside
            has_usual = node.op == "derivative" and any(usually_varies(name, key) for name in inside)
            for name in inside:
                shown = lone or not (explicit or has_usual) or (name not in constant and usually_varies(name, key))
                if shown and name != key:
                    found.setdefault(name, set()).add(key)
    _add_beside_rates(found, nodes)
    for name, variables in found.items():
        variables.discard(name)
    known = called & NAMED
    return {name: tuple(sorted(variables)) for name, variables in found.items() if variables and name not in known}


def _add_beside_rates(found: dict[str, set[str]], nodes: Iterable[Expr]) -> None:
    """Add to `found` what varies since nothing else does in its term, beside rates: V beside the rate of x."""
    for node in nodes:
        if node.op == "derivative" and len(node.args) == 2 and node.args[1].op == "sym":
            operand, variable = node.args
            varying = {name for name, variables in found.items() if variable.name in variables}
            for name in letters_beside_rates(operand, variable, varying.__contains__):
                found.setdefault(name, set()).add(variable.name)


def _integrable(nodes: Sequence[Expr], functions: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the unknown functions below an integral to infinity, or over all space, none of which is differentiated.

    With a derivative, a boundary term could be dropped that nobody calls 0.
    """
    found: set[str] = set()
    for node in nodes:
        if node.op in (*_DERIVATIVES, "nabla", "differential") or (node.op == "apply" and symbol_of(node.name).primes):
            return frozenset()
        if node.op != "integral" or not (any(map(is_infinite, node.args[2:])) or node.name == "d^3"):
            continue
        found |= {name for name in symbols(node.args[0]) if functions.get(name)}
        found |= {part.name for part in walk(node.args[0]) if part.op == "apply" and part.name not in NAMED}
    return frozenset(found)


def _bound_variables(node: Expr) -> frozenset[str]:
    """Return the variables of the integrals in an expression that have limits."""
    return frozenset(
        part.args[1].name for part in walk(node)
        if part.op == "integral" and len(part.args) > 2 and part.args[1].op == "sym"
    )  # fmt: skip


def _never_varying(node: Expr) -> frozenset[str]:
    r"""Return the letters of constants in an operand.

    They are c where it only stands squared, E of a stiffness `EI(x)`, B of coefficients `A/r^{12} - B/r^6`.
    """
    found: set[str] = set()
    if not lone_names(node) & {"c"} and symbols(node) != {"c"}:
        found.add("c")
    for part in walk(node):
        if part.op == "mul":
            found |= {"E" for left, right in zip(part.args, part.args[1:], strict=False) if (
                left.name, right.name) == ("E", "I")}  # fmt: skip
        elif part.op in ("add", "sub"):
            terms = [symbols(term) & {"A", "B"} for term in part.args]
            found |= {"B"} if {"A"} in terms and {"B"} in terms else set()
    return frozenset(found)


def lone_names(node: Expr) -> frozenset[str]:
    """Return the symbols of an expression that stand there without a whole exponent above 1."""
    if node.op == "sym":
        return frozenset((node.name,))
    if node.op == "pow" and node.args[0].op == "sym" and (number_of(node.args[1]) or 0) > 1:
        return frozenset()
    return frozenset().union(*map(lone_names, node.args))


def _phases(operand: Expr, variable: str) -> frozenset[str]:
    r"""Return the letters that stand alone beside the variable in a function: \phi of `\cos(\omega t + \phi)`."""
    found: set[str] = set()
    for node in walk(operand):
        if node.op in ("sin", "cos", "exp") and node.args[0].op in ("add", "sub"):
            found |= {arg.name for arg in node.args[0].args if arg.op == "sym" and arg.name != variable}
    return frozenset(found)


def _matrix_names(nodes: Sequence[Expr], operators: frozenset[str], *formulas: Formula) -> frozenset[str]:
    """Return the letters of matrices: what is transposed, inverted in bold, or has a determinant or a trace."""
    found = set(shifted_matrices(nodes)).union(*(matrices_before_columns(f.members, nodes) for f in formulas))
    for node in nodes:
        is_adjoint = node.op == "opaque" and node.name in ("T", "^T", r"\dagger", r"\top", "^{T}")
        if is_adjoint or (node.op == "apply" and node.name in _MATRIX_FUNCTIONS):
            found |= symbols(*node.args)
        elif node.op == "pow" and node.args[0].op == "sym" and symbol_of(node.args[0].name).is_vector:
            if number_of(node.args[1]) == -1:
                found.add(node.args[0].name)
        elif node.op == "pow" and node.args[0].op == "mul" and number_of(node.args[1]) == -1:
            inner = symbols(node.args[0])
            if all(symbol_of(name).is_vector for name in inner):
                found |= inner
        elif bold := bold_matrices(node):
            found |= bold
        elif node.op == "sym" and (base := base_of_transposed(node.name)):
            found.add(base)
    transposed = letters_of_matrices(nodes) | capitals_among_columns(nodes)
    columns = _columns_behind(transposed, nodes)
    if transposed and not columns:  # what a product of matrices is
        sides = (member.name for f in formulas for member in f.members if member.op == "sym")
        transposed |= {name for name in sides if name[:1].isupper()}
    found |= transposed | columns
    if not found:
        return frozenset()
    named = {node.name for node in nodes if node.op == "sym"}
    if any(symbol_of(name).is_vector for name in found):  # estimates of them, as of the coefficients of a regression
        found |= named & _ESTIMATES
    found |= {base_of_transposed(name) or name for name in named if symbol_of(name).is_vector}
    kept = transposed | columns | _ESTIMATES
    return frozenset(
        name
        for name in found
        if symbol_of(name).is_vector or name in kept or (name not in operators and name[:1].isupper())
    )


def _columns_behind(matrices: Set[str], nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the small letters that end a product behind a matrix, x of `A^T A x`, and those that are transposed."""
    found: set[str] = set()
    for node in nodes if matrices else ():
        if node.op == "mul" and node.args[-1].op == "sym" and symbols(node.args[-2]) & matrices:
            found.add(node.args[-1].name)
        elif node.op == "sym" and (base := base_of_transposed(node.name)):
            found.add(base)
    return frozenset(name for name in found if is_column(name))


def is_column(name: str) -> bool:
    """Return True for a matrix of one column: a small letter."""
    letter = symbol_of(name).base
    return letter.replace("\\", "")[:1].islower() and letter not in _GREEK


def base_of_transposed(name: str) -> str:
    """Return `A` for the name of its transposed or adjoint, `A^{T}`; empty for another name."""
    read = symbol_of(name)
    return read.body if read.sup in _TRANSPOSES else ""


# Indices of tensors. --------------------------------------------------------------------------------------------------


def _tensor_letters(members: tuple[Expr, ...]) -> frozenset[str]:
    r"""Return the letters over which a product is summed.

    So if a product or a tensor has one twice, and a formula has a symbol of two indices, or a derivative by one.
    """
    bound = {
        letter for member in members for node in walk(member) if node.op in ("sum", "product") and len(node.args) > 1
        for letter in index_letters(node.args[1])
    }  # fmt: skip
    repeated: set[str] = set()
    every: set[str] = set()
    has_tensor = by_index = False
    written = {
        letter for member in members for node in walk(member) if node.op == "sym" for letter in letters_of(node.name)
    }
    for node in (node for member in members for node in walk(member)):
        counts = letter_counts(node)
        repeated |= {letter for letter, count in counts.items() if count >= 2}
        every |= counts.keys()
        has_tensor |= node.op == "sym" and len(letters_of(node.name)) > 1
        by_index |= (
            node.op in _DERIVATIVES
            and any(
                arg.op == "sym"
                and (placed_variable(arg.name)[0] in written or letters_of(arg.name))
                and arg.name not in symbols(node.args[0])  # the r of `F_r = -\frac{d}{dr}\frac{A}{r^2}` is a distance
                for arg in node.args[1:]
            )
        )
        by_index |= node.op == "sym" and "," in node.name and len(letters_of(node.name)) > 1
    has_tensor |= bool(up_and_down(node for member in members for node in walk(member)))
    if not (repeated or by_index) or not (has_tensor or by_index) or bound & repeated or not are_balanced(members):
        return frozenset()
    return frozenset(every)
