"""Facts about a single formula, whatever problem it belongs to and whichever formula it is compared with.

Every comparison, rule and reading asks for some of them. They stand in one record, each is computed when it is first
asked for, and one bounded cache keeps the records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, canonical_zero, number, substituted, symbol, symbols, traits_of, walk
from prism.algebra.noncommutative import shows_operators
from prism.algebra.symbols import symbol_of
from prism.budget import forgettable, free_property, remembered, remembered_property
from prism.engine.lowering import CONJUGATE, PLAIN, Mismatch, decimal_uncertainty, is_known_function
from prism.engine.tape import Tape, TapeTooLarge
from prism.engine.zero_set import tape_or_error
from prism.equivalence.numbers.stated import Numeric, is_subject, stated_number
from prism.physics.quantities import Quantity, is_unit_product, parse_quantity, resolve_units

FORMULAS_KEPT = 4096  # formulas with records in the cache of a process
VECTOR = r"\vec{"  # how the name of a vector begins
HAT = r"\hat{"  # how the name of a unit vector or an operator begins
VALUE_NAME = r"\value"  # the symbol for the value of a bare expression; no LaTeX spells a symbol like this
UNNAMED = symbol("?")  # the variable of a derivative that is written with primes

_MARKS = (VECTOR, HAT, CONJUGATE, r"\bar{")  # in names of symbols that may be more than one real number
_REWRITTEN = frozenset(  # operations that are worked out, and alternatives that are joined, before a comparison
    ("derivative", "partial", "integral", "contour", "sum", "product", "limit", "at", "pm", "set", "list")
)
_MIN_DIGITS = 3  # of a whole number without unit that may stand for a value
# Functions with a fixed meaning, though they are not evaluated: `erf`, the delta function, `J_0`, `P_2`.
_SPECIAL_FUNCTIONS = frozenset((r"\delta", r"\zeta", "O"))
_WITH_ORDER = frozenset("PYLTHJj")

Literal = tuple[Expr, ...]
"""A number in a product, followed by its units."""


@dataclass(frozen=True)
class FormulaFacts:
    """Facts about one formula, each computed on first use; get the record from `facts_of`."""

    formula: Formula

    def __hash__(self) -> int:
        """Return the hash of the formula."""
        return hash(self.formula)

    @free_property
    def names(self) -> frozenset[str]:
        """Return the names of all symbols in the formula."""
        return traits_of(self.formula).names

    @free_property
    def ops(self) -> frozenset[str]:
        """Return the operators that occur in the formula, keys of `OPS`."""
        return traits_of(self.formula).ops

    @free_property
    def in_base_units(self) -> Formula:
        r"""Return the formula with every unit as a factor times base units: `\unit{km}` is `1000 \unit{m}`.

        A number of °C is converted with its zero point (20 °C is 293.15 K), but not where a difference is stated.
        """
        f = self.formula
        if f.parts:
            return replace(f, parts=tuple(facts_of(part).in_base_units for part in f.parts))
        if "unit" not in self.ops:
            return f
        is_difference = any(
            member.op == "sub" or (member.op == "sym" and symbol_of(member.name).change) for member in f.members
        )
        return replace(f, members=tuple(resolve_units(member, difference=is_difference) for member in f.members))

    # The residual: an expression that is zero where the formula holds.

    @free_property
    def _sides(self) -> tuple[Expr, Expr, tuple[Expr, ...]]:
        """Return the two sides whose difference is the residual, and the factors of a product that is set to zero.

        The factors are empty if the formula does not set a product to zero.
        """
        f = self.formula
        if len(f.members) == 1:
            return symbol(VALUE_NAME), f.members[0], ()
        left, right = f.members[:2]
        if f.kind != "equation" or number(0) not in (left, right):
            return left, right, ()
        product = right if left == number(0) else left
        factors = tuple(dict.fromkeys(zero_factors(product)))
        product = factors[0] if len(factors) == 1 else Expr("mul", factors) if factors else product
        return product, number(0), factors

    @free_property
    def residual(self) -> Expr:
        """Return left side minus right side, an expression that is 0 where the formula holds.

        For a bare expression the left side is a symbol for its value, `VALUE_NAME`.
        """
        return Expr("sub", self._sides[:2])

    @free_property
    def factors(self) -> tuple[Expr, ...]:
        """Return the factors of a product set to zero, as `(x - 1)(x - 2) = 0`; empty if fewer than two."""
        factors = self._sides[2]
        return factors if len(factors) > 1 else ()

    @property
    def plain_tape(self) -> Tape | TapeTooLarge | Mismatch:
        """Return the tape of the residual with every symbol a real number, or the exception that says why none is."""
        return tape_or_error(self.residual, PLAIN)

    @property
    def form(self) -> str:
        """Return the canonical text of the residual; formulas with the same text state the same."""
        return canonical_zero(self.residual)

    @remembered_property
    def is_trivial(self) -> bool:
        """Return True if the formula is true or false whatever its symbols are: `2 = 3`, `x = x`, `x = x + 1`."""
        if len(self.formula.members) == 1 or self.subject is not None:
            return False
        called = {node.name for node in self._nodes if node.op == "apply"} if "apply" in self.ops else set()
        # without the index of a name: it may be bound by a sum
        return not any(symbol_of(name).head in self.form for name in self.names | called)

    @free_property
    def subject(self) -> Expr | None:
        """Return the symbol that stands alone on one side of the formula and not on the other; None without one."""
        return subject_of(self.formula)

    def may_have_form_of(self, other: FormulaFacts) -> bool:
        """Return True if the canonical forms of two formulas may be equal: a subject is never lost from one."""
        return (self.subject is None or self.subject.name in other.names) and (
            other.subject is None or other.subject.name in self.names
        )

    # What is written in it.

    @free_property
    def n_nodes(self) -> int:
        """Return the number of nodes of all members."""
        return sum(member.size for member in self.formula.members)

    @property
    def _nodes(self) -> list[Expr]:
        """Return all nodes of all members."""
        return [node for member in self.formula.members for node in walk(member)]

    @free_property
    def is_to_work_out(self) -> bool:
        """Return True for a formula with derivatives, limits or alternatives, which are worked out or joined."""
        return not self.ops.isdisjoint(_REWRITTEN)

    @remembered_property
    def is_plain(self) -> bool:
        """Return True for a formula with nothing to work out, and no operators to order."""
        return not self.is_to_work_out and not shows_operators(self.formula)

    @free_property
    def _units(self) -> frozenset[str]:
        """Return the names of all units in the formula."""
        return frozenset(node.name for node in self._nodes if node.op == "unit") if "unit" in self.ops else frozenset()

    @free_property
    def is_in_hertz(self) -> bool:
        """Return True if the formula has a unit of hertz, such as kHz."""
        return any(name.endswith("Hz") for name in self._units)

    @free_property
    def is_in_radians(self) -> bool:
        """Return True if the formula has the unit radian."""
        return "rad" in self._units

    @free_property
    def has_vector(self) -> bool:
        """Return True if a symbol of the formula has an arrow."""
        return any(VECTOR in name for name in self.names)

    @free_property
    def has_prime(self) -> bool:
        """Return True if the formula has a symbol with a prime, or a derivative by a variable that is not named."""
        return UNNAMED.name in self.names or any(symbol_of(name).primes for name in self.names)

    @free_property
    def decimal_uncertainty(self) -> float:
        """Return the relative uncertainty of the least precise decimal in the formula; 0 if all numbers are exact."""
        return max((decimal_uncertainty(node) for node in self._nodes if node.op == "num"), default=0.0)

    @remembered_property
    def literals(self) -> dict[Literal, Quantity]:
        """Map each number in the formula with its units, where it may be the value of a symbol, to its quantity."""
        if "num" not in self.ops:
            return {}
        found: dict[Literal, None] = {}
        stack = list(self.formula.members)
        while stack:
            node = stack.pop()
            if node.op == "num":
                found[node,] = None
            elif node.op == "mul":
                for run in literals_in(node):
                    if run[0].op == "num":
                        found[run] = None
                    if len(run) == 1:
                        stack.append(run[0])
            else:
                stack.extend(node.args[:1] if node.op == "pow" else node.args)
        amounts = ((literal, _quantity_of(literal)) for literal in found)
        return {literal: amount for literal, amount in amounts if amount is not None}

    # How its letters can be read.

    @free_property
    def has_one_reading(self) -> bool:
        """Return True if every symbol surely is a real number: no vectors, matrices, functions, imaginary units."""
        if self.formula.depends or not self.ops.isdisjoint(("matrix", "apply", "tuple")):
            return False
        return self.names.isdisjoint("ij") and not any(mark in name for name in self.names for mark in _MARKS)

    @free_property
    def called_letters(self) -> frozenset[str]:
        """Return letters that are applied to one argument and have no fixed meaning as a function, as `f` in `f(x)`."""
        calls = (node.name for node in self._nodes if node.op == "apply" and len(node.args) == 1)
        return frozenset(name for name in calls if is_free_function(name)) if "apply" in self.ops else frozenset()

    @free_property
    def integration_variables(self) -> frozenset[str]:
        """Return the names of the variables of the formula's integrals."""
        return frozenset(node.args[1].name for node in self._nodes if node.op == "integral" and len(node.args) > 1)


@forgettable
@lru_cache(maxsize=FORMULAS_KEPT)
def facts_of(f: Formula) -> FormulaFacts:
    """Return the cached record of facts about a formula."""
    return FormulaFacts(f)


def in_base_units(f: Formula) -> Formula:
    """Return a formula with every unit as a factor times base units; see `FormulaFacts.in_base_units`."""
    return facts_of(f).in_base_units


@remembered(FORMULAS_KEPT)
def numeric_of(f: Formula) -> Numeric | None:
    """Return the quantity and its number if a formula is `quantity = number` or the reverse, else None."""
    if f.kind != "equation":
        return None
    for subject, other in (f.members, f.members[::-1]):
        if is_subject(subject) and (found := stated_number(other)) is not None:
            return Numeric(subject, found)
    return None


def is_free_function(name: str) -> bool:
    """Return True if a function's name has no fixed meaning, as `f`; False for `sin` or `erf`."""
    read = symbol_of(name)
    is_special = read.base in _SPECIAL_FUNCTIONS or read.style == "mathcal" or (read.sub and read.head in _WITH_ORDER)
    return not (is_known_function(name) or is_special or (len(name) > 1 and name.isalpha()))


def literals_in(product: Expr) -> list[Literal]:
    """Split a product into factors, each number as one group with the units that directly follow it."""
    runs: list[Literal] = []
    for arg in product.args:
        if runs and runs[-1][0].op == "num" and is_unit_product(arg):
            runs[-1] = (*runs[-1], arg)
        else:
            runs.append((arg,))
    return runs


def _quantity_of(literal: Literal) -> Quantity | None:
    """Convert a number with its units to a quantity; None for a number like 2, of few figures and no unit."""
    if len(literal) > 1:
        return parse_quantity(Expr("mul", literal))
    name = literal[0].name
    has_figures = "e" in name or ("." in name and "/" not in name) or len(name) >= _MIN_DIGITS
    return parse_quantity(literal[0]) if has_figures else None


def zero_factors(node: Expr) -> tuple[Expr, ...]:
    """Return the factors of a product that is set to zero, without powers, roots, signs and denominators."""
    if node.op in ("sqrt", "abs", "neg", "div") or (node.op == "pow" and (node.args[1].value or 0) > 0):
        return zero_factors(node.args[0])
    if node.op == "mul":
        return tuple(factor for arg in node.args for factor in zero_factors(arg) if not factor.value)
    return (node,)


def subject_of(f: Formula) -> Expr | None:
    """Return the symbol that stands alone on one side of a formula and not on the other; None if there is none."""
    if len(f.members) != 2:
        return None
    for side, other in (f.members, f.members[::-1]):
        if side.op == "sym" and side.name not in symbols(other):
            return side
    return None


def both_in_base_units(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas in base units; if one has hertz and the other radians, the radian stays a unit of its own.

    Hertz and radians per second are both 1/s in the table, but 50 Hz is not 50 rad/s.
    """
    one, two = facts_of(a), facts_of(b)
    if one.is_in_hertz != two.is_in_hertz and (two if one.is_in_hertz else one).is_in_radians:
        radian = {Expr("unit", name="rad"): symbol(r"\unit{rad}")}
        a, b = substituted(a, radian), substituted(b, radian)
    return in_base_units(a), in_base_units(b)
