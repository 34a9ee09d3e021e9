"""Which constructs of a formula an interpretation gives a value, and which the kernels take for something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, is_infinite, symbol, symbols, traits_of, walk
from prism.algebra.noncommutative import letters_of_matrices
from prism.algebra.symbols import labels_of, symbol_of
from prism.algebra.terms import number_of
from prism.budget import charge_steps, remembered
from prism.equivalence.interpretation.names import (
    CHOICES,
    FLOWS,
    INDICES,
    MATERIAL,
    NAMED,
    are_balanced,
    bold_matrices,
    compared_labels,
    covariant_index,
    harmonic_indices,
    has_folds,
    have_indices,
    inequality_of,
    is_harmonic_of_letters,
    is_jacobian,
    is_lone_differential,
    is_plain_algebra,
    is_special,
    is_turned,
    letter_counts,
    letters_of,
    matrices_before_columns,
    may_be_called,
    may_be_steps_below,
    mode_numbers,
    order_of,
    placed_variable,
    shifted_matrices,
    special_factors,
    squared_moduli_of_functions,
    trace_letters,
    up_and_down,
    with_raised_indices,
)
from prism.equivalence.interpretation.quantum.quantum_names import has_quanta, is_anticommutator

_CONSTRUCTS = frozenset(("derivative", "partial", "differential", "integral", "sum", "product", "limit", "nabla",
                         "contour", "cross", "dot", "matrix", "commutator", "bracket", "opaque", "at",
                         "dots"))  # fmt: skip
_CALCULUS = frozenset(("derivative", "partial", "differential", "integral", "nabla", "contour", "at"))
_EXCLUDED = frozenset(("set", "tuple", "interval", "list", "union", "intersection", "tensor",
                       "wedge", "phasor", "ratio", "modulo", "parallel"))  # fmt: skip
_RANGES = frozenset(("sum", "product", "integral", "limit"))
_OF_LIMITS = frozenset(
    (r"\delta", r"\delta'", r"\delta''", "O", r"\mathcal{O}")
)  # calls whose value depends on how a limit is taken
_EVALUATED_CALLS = CHOICES | {"Re", "Im", "det"}
_RATES = frozenset(("derivative", "partial"))
_OF_COMPLEX = frozenset(("Re", "Im", "arg", "tr", "Tr", "det"))
_STARS = frozenset(("*", r"\bar", "^{*}", "T", "^T", "^{T}", r"\top", r"\dagger"))
_NO_QUANTITIES = frozenset(("", "x", "y", "z", "r", "t", "s", r"\theta", r"\phi", r"\varphi", "i", "j", "C", "N", "n",
                            "d", "O", r"\delta", r"\epsilon", r"\varepsilon"))  # fmt: skip
_OF_METRICS = frozenset(("g", r"\eta", "x", "E", r"\rho", r"\omega", "c"))
_OF_QUANTA = frozenset((r"\hbar", r"\omega", "m", "a", "b", "c", "p", "x", "q", "J", "L", "S", r"\sigma", "N", "I",
                        r"\uparrow", r"\downarrow"))  # fmt: skip
_SPINS = symbol(r"\vec{\sigma}")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Constructs:
    """What a formula has beyond algebra; by default nothing.

    Attributes:
        is_excluded: it is no equation or expression, or has a construct that no interpretation gives a value.
        is_beyond: a construct has to be evaluated.
        has_calculus: it has a derivative, a differential, an integral or a nabla.
        has_cases: a construct has cases, which the kernels evaluate where they meet both.
        is_misread: the kernels take a construct for a letter or a product, so that their witness proves nothing.
        is_delicate: it matters if a letter is a number, complex or a matrix, and the kernels may take it for less.
        may_diverge: it has an integral to infinity.
        has_matrices: a bold letter is inverted, or matrices are multiplied, which the kernels take for numbers.
        letters: all letters, without style and index.
        bound: those of bound variables, of limits and of indices, which may drop out.
        called: those of unknown functions that are called, or written with their variable.
        has_rates: it has a derivative.
        is_equation: it has two sides.
        integrated: letters below integrals with limits, and of these limits.
        special: those of names that are special functions where they are called, as `I_0` before a bracket.
        named: all letters, without style and index, those that hardly are quantities too.
        is_plain: it has nothing beyond algebra, see `is_plain_algebra`.
        drawn: the functions and means that have to stand in another formula too for an interpretation to tell the two
            apart; None if none does: it has more beyond algebra than sums, products, integrals and limits.
        single: by letter, the names whose letter stands in one place only: no other place takes its effect away.
    """

    is_excluded: bool
    is_beyond: bool = False
    has_calculus: bool = False
    has_cases: bool = False
    is_misread: bool = False
    is_delicate: bool = False
    may_diverge: bool = False
    has_matrices: bool = False
    letters: frozenset[str]
    bound: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    has_rates: bool = False
    is_equation: bool
    integrated: frozenset[str] = frozenset()
    special: frozenset[str] = frozenset()
    named: frozenset[str]
    is_plain: bool = False
    drawn: frozenset[str | Expr] | None = None
    single: Mapping[str, str]

    def may_say_what(self, other: Constructs) -> bool:
        """Return True if two formulas are about the same letters, in whatever style and with whatever index.

        From an equation with a derivative a letter may drop out: a mass on both sides; from an integral to infinity,
        what its variable is measured in. A number is about the letters of any other formula, which may drop out of it;
        an equation of algebra is about its own letters, even one by which something else may run: `s = 1/2`.
        """
        has_plain = any(each.is_plain and each.is_equation for each in (self, other))
        if has_plain and self.named and other.named and self.named.isdisjoint(other.named):
            return False
        if not (self.letters and other.letters):
            return True
        more, less = sorted(((self.letters, other.letters)), key=len, reverse=True)
        drops = self.has_rates or other.has_rates
        if drops and self.is_equation and other.is_equation and less and len(more - less) == 1 and less <= more:
            return True
        if self.integrated and other.integrated and self.letters & other.letters:  # a substitution brings its own
            return (self.letters ^ other.letters) <= self.bound | other.bound | self.integrated | other.integrated
        scales = frozenset().union(*(each.integrated for each in (self, other) if each.may_diverge))
        drops_out = self.bound | other.bound | self.special | other.special | scales
        return (self.letters ^ other.letters) <= drops_out

    def calls_what_is_not(self, other: Constructs) -> bool:
        """Return True if a letter that one of two formulas calls is none that the other one calls: `f(x)`, `f x`."""
        return bool((self.called & other.letters) - other.called or (other.called & self.letters) - self.called)


@remembered(8192)
def constructs_of(f: Formula) -> Constructs:
    """Return what a formula has beyond algebra."""
    nodes = [node for member in f.members for node in walk(member)]
    charge_steps(len(nodes))
    if is_plain_algebra(f):
        return _of_plain_algebra(f, nodes)
    raised = with_raised_indices(f)
    if raised is not f:
        f, nodes = raised, [node for member in raised.members for node in walk(member)]
    ops = {node.op for node in nodes}
    is_quantum, is_tensor, specials = has_quanta(nodes), _is_tensor(f, nodes), _special_names(f, nodes)
    written = {*specials, *(name for name, variable in f.depends if variable == r"\theta")}
    has_harmonic = any(symbol_of(name).head == "Y" and symbol_of(name).sub for name in written)
    is_delicate = any(map(_is_delicate, nodes)) or has_harmonic or is_lone_differential(f) or "cases" in ops
    is_delicate |= bool(letters_of_matrices(nodes)) or bool(may_be_called(f)) or _has_bends(f)
    is_delicate |= bool(matrices_before_columns(f.members, nodes))
    integrals = [node for node in nodes if node.op == "integral"]
    steps = frozenset().union(*map(may_be_steps_below, integrals))
    has_shift = bool(shifted_matrices(nodes))
    has_own_rules = is_quantum or is_tensor or has_shift or bool(steps)
    is_misread = has_own_rules or bool(specials) or has_harmonic or _is_misread(nodes, ops)
    calls = any(node.op == "apply" and node.name not in _EVALUATED_CALLS for node in nodes)
    called = [node.name for node in nodes if node.op == "apply" and not _is_named(node)]
    names = [*called, *(node.name for node in nodes if node.op == "sym" and node.name not in specials)]
    places = Counter(map(base_letter, names))
    inverted = [node.args[0] for node in nodes if node.op == "pow" and number_of(node.args[1]) == -1]
    bold = [node for node in inverted if _is_bold(node)]
    bound = _bound_letters(nodes) | _letters_of_indices(nodes) | steps
    if is_quantum or not ops.isdisjoint(("commutator", "bracket")):  # constants and powers that their rules bring in
        bound |= _OF_QUANTA | _states(nodes)
    if is_tensor:
        bound |= _OF_METRICS
    if "matrix" in ops or has_shift:
        bound.add("I")  # the unit matrix
    if any(map(covariant_index, nodes)):
        bound |= {r"\Gamma"} | INDICES
    has_others = is_delicate or has_own_rules or bool(specials) or has_harmonic
    fixed = _NO_QUANTITIES | bound | _arguments(nodes)
    bound |= {letter for letter in map(base_letter, symbols(*bold)) if places[letter] > 1}  # a basis may drop out
    return Constructs(
        is_excluded=_is_excluded(f, nodes, is_quantum=is_quantum),
        is_beyond=is_misread or calls or is_delicate or not ops.isdisjoint(_CONSTRUCTS),
        has_calculus=not ops.isdisjoint(_CALCULUS),
        has_cases="cases" in ops,
        is_misread=is_misread,
        is_delicate=is_delicate,
        may_diverge=any(node.op == "integral" and any(map(is_infinite, node.args[2:])) for node in nodes),
        has_matrices=bool(bold) or any(map(_multiplies_matrices, nodes)),
        letters=frozenset((*places, *_letters_of_regions(nodes))) - _NO_QUANTITIES,
        bound=frozenset(bound),
        called=frozenset(map(base_letter, (*called, *(name for name, _ in f.depends)))),
        has_rates=not ops.isdisjoint(_RATES),
        drawn=None if has_others else _drawn_in(f, nodes),
        is_equation=f.kind == "equation",
        integrated=_integrated(nodes),
        special=frozenset(base_letter(name) for name in special_factors(nodes)),
        named=frozenset(base_letter(node.name) for node in nodes if node.op in ("sym", "apply")),
        single={
            letter: name for name in names if places[letter := base_letter(name)] == 1 and letter not in fixed | bound
        },
    )


def _drawn_in(f: Formula, nodes: Sequence[Expr]) -> frozenset[str | Expr] | None:
    """Return the functions and means of a formula; None if it has another construct, or a function named by a word."""
    found: set[str | Expr] = {base_letter(name) for name, _ in f.depends}
    for node in nodes:
        if node.op == "bracket" and node.name == "mean" and node in f.members:
            found.add(node)
        elif node.op in _CONSTRUCTS and (node.op not in _RANGES or (node.op == "integral" and len(node.args) != 4)):
            return None
        elif node.op == "apply" and not _is_named(node):
            base = symbol_of(node.name).base
            if len(base) > 1 and base.isalpha():
                return None
            found.add(base_letter(node.name))
        elif node.name in _OF_LIMITS and (node.op == "apply" or "'" in node.name):
            return None
    return frozenset(found)


def _of_plain_algebra(f: Formula, nodes: Iterable[Expr]) -> Constructs:
    """Return that a formula has nothing beyond algebra, and its letters."""
    names = [node.name for node in nodes if node.op == "sym"]
    places = Counter(map(base_letter, names))
    letters = frozenset(places) - _NO_QUANTITIES
    return Constructs(
        is_excluded=f.kind not in ("equation", "expression"),
        letters=letters,
        is_equation=f.kind == "equation",
        named=frozenset(places),
        is_plain=True,
        drawn=frozenset(),
        single={letter: name for name in names if places[letter := base_letter(name)] == 1 and letter in letters},
    )


def _is_excluded(f: Formula, nodes: Sequence[Expr], *, is_quantum: bool) -> bool:
    """Return True for a formula that is no equation or expression, or has what no interpretation gives a value."""
    is_about_operators = is_quantum or any(node.op == "bracket" for node in nodes)
    excluded = {
        node.op for node in nodes if node.op in _EXCLUDED and not (is_about_operators and is_anticommutator(node))
    }
    tuples = sum(node.op == "tuple" for node in nodes)
    if tuples and tuples == 2 * sum(map(is_jacobian, nodes)):
        excluded.discard("tuple")
    signs = sum(node.op == "pm" for node in nodes) - sum(
        arg.op == "pm" for node in nodes if node.op in ("sum", "product") for arg in node.args[2:3]
    )
    return signs > 0 or f.kind not in ("equation", "expression") or bool(f.parts) or bool(excluded)


def _is_tensor(f: Formula, nodes: Sequence[Expr]) -> bool:
    """Return True for a formula of tensors whose sides balance.

    It has a repeated index and a letter of several or raised ones, or a letter of several and a derivative by one.
    """
    traits = traits_of(f)
    if not have_indices(traits.names, not traits.ops.isdisjoint(_RATES)):
        return False
    pairs = any(
        count > 1
        for node in nodes
        if node.op in ("mul", "div", "dot", "sym", "partial")
        for count in letter_counts(node).values()
    )
    has_tensor = any(
        (node.op == "sym" and len(letters_of(node.name)) > 1)
        or (node.op in ("derivative", "partial") and any(letters_of(arg.name) for arg in node.args[1:]))
        for node in nodes
    )
    by_index = bool(_indices_of_derivatives(nodes))
    has_several = any(node.op == "sym" and len(set(letters_of(node.name))) > 1 for node in nodes)
    is_of_tensors = pairs and (has_tensor or bool(up_and_down(nodes)))
    is_of_tensors = is_of_tensors or (by_index and has_several) or bool(trace_letters(nodes))
    return is_of_tensors and are_balanced(f.members)


def _special_names(f: Formula, nodes: Sequence[Expr]) -> frozenset[str]:
    """Return the names of special functions that are written without a call: of a variable, or before a bracket."""
    written = {name.replace("'_", "_") for name, _ in f.depends}
    harmonics = {node.name for node in nodes if node.op == "sym" and is_harmonic_of_letters(node.name)}
    return frozenset((*filter(is_special, written), *harmonics, *special_factors(nodes)))


def _is_misread(nodes: Sequence[Expr], ops: Set[str]) -> bool:
    r"""Return True for `O(x)`, an ellipsis, a special function, a Kronecker symbol, or a direction in products.

    So it is for an integral over modes, `\sin\frac{n\pi x}{L}`: the kernels take n for any number; and for
    a series or an integral to infinity, whose witness may lie where it diverges or has no usual sign.
    """
    if "dots" in ops or any(node.op == "apply" and node.name in ("O", r"\mathcal{O}") for node in nodes):
        return True
    if any(node.op == "apply" and node.name not in _EVALUATED_CALLS and _is_named(node) for node in nodes):
        return True
    names = {node.name for node in nodes if node.op == "sym"}
    if any(node.op == "integral" and len(node.args) == 4 and mode_numbers(node) for node in nodes):
        return True
    if any(node.op in ("sum", "integral") and any(map(is_infinite, node.args[2:])) for node in nodes):
        return True
    if any(node.op == "sum" and len(node.args) == 4 and symbols(node.args[3]) for node in nodes):
        return True  # of more terms than the kernels unroll
    if any(map(compared_labels, names)) or not names.isdisjoint((r"\delta'", r"\delta''")):
        return True
    has_direction = any(symbol_of(name).is_hat for name in names) and "commutator" not in ops
    return has_direction and not ops.isdisjoint(("cross", "dot", "abs"))


def _bound_letters(nodes: Iterable[Expr]) -> set[str]:
    """Return the letters of bound variables and limits, the T of a transpose, and flows of material derivatives."""
    found = {
        base_letter(name)
        for node in nodes
        if node.op in ("integral", "contour", "sum", "product", "limit") and len(node.args) > 1
        for name in symbols(*node.args[1:])
    }
    found |= {base_letter(name) for node in nodes if node.op == "limit" for name in _scales_in_limit(node)}
    found |= FLOWS if any(node.op == "derivative" and node.name == MATERIAL for node in nodes) else set()
    return found | {"T" for node in nodes if node.op == "pow" and node.args[1].name == "T"}


def _states(nodes: Iterable[Expr]) -> set[str]:
    r"""Return the letters of states, `\psi` of `\langle\psi|A|\psi\rangle`, which a mean does not name."""
    brackets = [node for node in nodes if node.op == "bracket" and node.name == "braket"]
    return {base_letter(name) for node in brackets for name in symbols(node.args[0], node.args[-1])}


def _scales_in_limit(limit: Expr) -> frozenset[str]:
    r"""Return the letters that stand beside the variable of a limit, which may drop out: `\Theta` of `\Theta/T`."""
    body, *variable = limit.args[:2]
    products = (node for node in walk(body) if node.op in ("mul", "div") and not set(variable).isdisjoint(node.args))
    return frozenset().union(*(symbols(*product.args) for product in products))


def _letters_of_indices(nodes: Iterable[Expr]) -> set[str]:
    """Return the letters of indices, of names and of derivatives."""
    found = {letter for node in nodes if node.op == "sym" for letter in letters_of(node.name)}
    return found | _indices_of_derivatives(nodes)


def _indices_of_derivatives(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters of indices by which something is differentiated in part."""
    variables = (arg.name for node in nodes if node.op == "partial" for arg in node.args[1:])
    return INDICES.intersection(placed_variable(name)[0] for name in variables)


def _is_delicate(node: Expr) -> bool:
    """Return True for a node that the kernels may take for a plain number, though an interpretation tells it from one.

    These are functions of complex numbers and matrices (Re, Im, det, tr), products of several matrices or spins,
    adjoints, transposes and stars, and bold letters that are matrices, or are inverted.
    """
    if node.op == "apply":
        return node.name in _OF_COMPLEX
    if node.op == "mul":
        spins = sum(arg.op == "dot" and _SPINS in walk(arg) for arg in node.args)
        if sum(map(_is_table, node.args)) > 1 or spins > 1:
            return True
    if (node.op == "opaque" and node.name in _STARS) or is_turned(node) or bold_matrices(node):
        return True
    return node.op == "pow" and number_of(node.args[1]) == -1 and _is_bold(node.args[0])


def _is_table(node: Expr) -> bool:
    """Return True for a matrix that is written out, or a power of one."""
    return node.op == "matrix" or (node.op == "pow" and node.args[0].op == "matrix")


def _has_bends(f: Formula) -> bool:
    r"""Return True for moduli that count: of what stands outside too, of two sums, of waves, in an extreme.

    So it is for `x + |x|`, `|x - a| + |x + a|` and `|\psi_1 + \psi_2|^2`.
    """
    moduli = {node for member in f.members for node in walk(member) if node.op == "abs"}
    if not moduli:
        return False
    lone = {node.args[0] for node in moduli if node.args[0].op == "sym"}
    bare = {name for member in f.members for name in _bare_names(member)}
    sums = [node for node in moduli if node.args[0].op in ("add", "sub")]
    extremes = [node for m in f.members for node in walk(m) if node.op == "apply" and node.name in ("max", "min")]
    return (
        has_folds(f)
        or any(each.name in bare for each in lone)
        or len(sums) > 1
        or any(not moduli.isdisjoint(walk(node)) for node in extremes)
        or any(symbol_of(name).base in (r"\psi", r"\Psi") for node in moduli for name in symbols(node))
        or bool(squared_moduli_of_functions((node for m in f.members for node in walk(m)), f.depends))
    )


def _bare_names(node: Expr) -> Iterator[str]:
    """Yield the names in an expression that stand below no modulus."""
    if node.op == "sym":
        yield node.name
    for arg in node.args if node.op != "abs" else ():
        yield from _bare_names(arg)


def _multiplies_matrices(node: Expr) -> bool:
    """Return True for a function of a matrix, a product of two written ones, or of a transposed one and others."""
    if node.op != "mul":
        return bool(bold_matrices(node))
    named = [arg for arg in node.args if arg.op == "sym" and symbol_of(arg.name).sup == "T"]
    turned = [arg for arg in node.args if arg.op == "pow" and arg.args[1].name == "T"]
    return sum(arg.op == "matrix" for arg in node.args) > 1 or (bool(named or turned) and len(node.args) > 2)


def _integrated(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters below integrals with limits, and of these limits."""
    integrals = [node for node in nodes if node.op == "integral" and len(node.args) > 2]
    return frozenset(base_letter(name) for name in symbols(*integrals))


def _arguments(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters of arguments of unknown functions, which may be left out: `U(x)` is `U`."""
    calls = [node for node in nodes if node.op == "apply" and not _is_named(node)]
    return frozenset(base_letter(name) for call in calls for name in symbols(*call.args))


def _letters_of_regions(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the letters of inequalities that are written below integrals, as `r \le R`."""
    said = (inequality_of(node.args[2]) for node in nodes if node.op == "integral" and len(node.args) == 3)
    return frozenset(base_letter(name) for each in said if each is not None for name in symbols(*each.members))


def _is_bold(node: Expr) -> bool:
    """Return True for bold letters, alone or multiplied."""
    letters = node.args if node.op == "mul" else (node,)
    return all(each.op == "sym" and symbol_of(each.name).is_vector for each in letters)


def _is_named(node: Expr) -> bool:
    """Return True for a call of a function that has a value of its own, as `J_0` and `Re`."""
    return node.name in NAMED or order_of(node.name) is not None or harmonic_indices(node.name) is not None


@lru_cache(4096)
def base_letter(name: str) -> str:
    """Return the letter of a name, without style, index and prime."""
    read = symbol_of(name)
    if read.style:
        return name if read.is_unit else read.change + base_letter(read.base)
    letters = (symbol_of(label) for label in labels_of(read.base or read.sup))
    return read.change + next((letter.base for letter in letters if letter.is_light), "")
