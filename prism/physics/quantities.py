"""Numbers with units: parsed from text or found in an expression, and units of expressions resolved to base units."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Expr, number, ops_of, substitute, symbol, symbols, walk
from prism.algebra.terms import whole_number
from prism.errors import PrismError
from prism.inputs import require_text
from prism.latex.unit_grammar import MAX_TEXT, NoReadingError, normalize_unit_text
from prism.physics.tables import DIMENSIONLESS, PI, Dimension, Unit
from prism.physics.units import (
    MAX_BITS,
    MAX_UNIT_POWER,
    base_unit_product,
    find_unit,
    find_unit_product,
    read_unit_product,
    unit_as_expr,
)

MAX_TEN_POWER = 400  # beyond floating point, and a fraction of a billion digits is an attack on memory


@dataclass(frozen=True, slots=True)
class Quantity:
    """A physical value in coherent SI units, zero point included: 20 degC is 293.15 K.

    Attributes:
        value: exact, but for a factor of pi (50 digits).
        dimension: exponents of m, kg, s, A, K, mol, cd.
    """

    value: Fraction
    dimension: Dimension

    def to_pint(self, registry: Any = None) -> Any:
        """Return the quantity in pint's base units, its magnitude exact: an int or a Fraction.

        Args:
            registry: a `pint.UnitRegistry`; None is pint's application registry. `prism.from_pint` is the way back.

        Errors:
            PrismError: pint is not installed.

        >>> print(read_quantity("36 km/h").to_pint())
        10 meter / second
        """
        from prism.bridges.pint_quantities import to_pint

        return to_pint(self, registry)


def resolve_units(expr: Expr, *, difference: bool = False) -> Expr:
    r"""Replace every unit in an expression by its factor times base units: `\unit{km}` by `1000 \unit{m}`.

    A unit that the table lacks becomes a symbol `\unit{xyz}`: it has to occur on the other side too. A number
    of degrees Celsius or Fahrenheit that is the whole expression is a temperature (20 degC is 293.15 K). Within a sum
    it cannot be told from a difference (`T_0 - 20 °C`), and its unit is left as a symbol, unless the sum has only such
    terms and their zeros cancel. Within a product it is a difference.

    Args:
        expr: one member of a formula.
        difference: the expression is known to be a difference of temperatures (`\Delta T = ...`).
    """
    if "unit" not in ops_of(expr):
        return expr
    if not difference:
        product = _read_product(expr)
        if product is not None and product.offset and product.has_number:
            value = _si_value(product)
            return Expr("mul", (number(value), symbol(r"\unit{K}")))
    return _resolve_units_in_node(expr)


def italic_units_as_quantity(expr: Expr, taken: frozenset[str], text: str = "") -> Expr | None:
    r"""Read a number followed by italic letters that spell units (`50 Hz`, `9.8 m s^{-2}`) as a number with units.

    Of a quotient of two such numbers, `10 V/(100 m\Omega)`, both are read. A guess, and made as one: only for a whole
    member, only where no letter is a symbol of the problem, but in a word
    (semantics U.4).

    Args:
        expr: one member of a formula.
        taken: names that are symbols.
        text: the formula as it is written; then a prefix binds only to the letter that it touches there, `m K` is no
            millikelvin, and a hyphen between letters joins units, `N-m`.

    Returns:
        The member with unit leaves, or None if it is nothing of this kind.

    >>> from prism.latex import parse
    >>> str(italic_units_as_quantity(parse("36 km/h").members[0], frozenset()))
    '36*[km]*[h]^(-1)'
    >>> texts = "3 m K", "3 mK", "3 N-m"
    >>> [str(italic_units_as_quantity(parse(text).members[0], frozenset(), text)) for text in texts]
    ['3*[m]*[K]', '3*[mK]', '3*[N]*[m]']
    """
    if expr.op == "sub" and text:
        expr = _hyphenated_units(expr, text)
    if not _OPS_OF_LETTERS <= ops_of(expr) <= _ITALIC_OPS:
        return None
    if expr.op == "neg" or (expr.op == "div" and all("num" in ops_of(each) for each in expr.args)):
        parts = [italic_units_as_quantity(each, taken, text) for each in expr.args]
        return None if None in parts else Expr(expr.op, tuple(part for part in parts if part is not None))
    factors = _italic_factors(expr, 1)
    if not factors or factors[0][0].op != "num" or any(base.op == "num" for base, _ in factors[1:]):
        return None
    letters = [
        (f" {base.name}" if base.op == "unit" else _UNIT_LETTERS.get(base.name, base.name), power)
        for base, power in factors[1:]
    ]
    if not letters:
        return None
    long = [name for name, _ in letters if len(name) > 1 and name not in _UNIT_LETTERS.values()]
    if any(name[0] != " " and (name not in text or find_unit(name) is None) for name in long):
        return None
    read: list[Expr] = [factors[0][0]]
    start = 0
    while start < len(letters):
        stop = _italic_unit_end(letters, start, text)
        if stop is None:
            return None
        name = "".join(name for name, _ in letters[start:stop]).strip()
        is_word = len(name) >= _SHORTEST_WORD and name in text
        if not is_word and any(base.name in taken for base, _ in factors[1 + start : 1 + stop] if base.op == "sym"):
            return None
        leaf = Expr("unit", name=name)
        power = letters[stop - 1][1]
        read.append(leaf if power == 1 else Expr("pow", (leaf, number(power))))
        start = stop
    return Expr("mul", tuple(read))


_UNIT_LETTERS = {r"\mu": "µ", r"\Omega": "ohm"}  # Greek letters in units, and their names in the table

_OPS_OF_LETTERS = frozenset(("num", "sym"))
_ITALIC_OPS = frozenset(("num", "sym", "unit", "mul", "div", "pow", "neg"))
_SHORTEST_WORD = 5  # letters; who writes `0.05 kilograms` in a row means no product
_MAX_ITALIC = 12  # letters; a longer run is a product


def _italic_factors(node: Expr, sign: int) -> list[tuple[Expr, int]]:
    """Return the factors of a product in order, each with its integer exponent.

    Empty if the node is no product of numbers and powers of symbols.

    Args:
        sign: 1, or -1 if the node is in a denominator.
    """
    if node.op in ("num", "sym", "unit"):
        return [(node, sign)]
    if node.op in ("mul", "div"):
        signs = [sign] * len(node.args) if node.op == "mul" else [sign, -sign]
        parts = [_italic_factors(arg, each) for arg, each in zip(node.args, signs, strict=True)]
        return [factor for part in parts for factor in part] if all(parts) else []
    if node.op == "pow" and node.args[0].op in ("sym", "unit"):
        value = whole_number(node.args[1])
        if value and abs(value) <= MAX_UNIT_POWER:
            return [(node.args[0], value * sign)]
    return []


def _hyphenated_units(node: Expr, text: str) -> Expr:
    """Return `5 N - m` as the product that `5 N-m` means; any other difference as it is."""
    above, below = node.args
    if "num" in ops_of(below) or _HYPHEN.search(text) is None:
        return node
    if above.op == "neg":
        return Expr("neg", (_hyphenated_units(Expr("sub", (above.args[0], below)), text),))
    factors = _hyphenated_units(above, text) if above.op == "sub" else above
    return Expr("mul", (*factors.args, below)) if factors.op == "mul" else node


_HYPHEN = re.compile("[A-Za-z]-[A-Za-z]")


def _italic_unit_end(letters: list[tuple[str, int]], start: int, text: str) -> int | None:
    """Return the index after the longest unit that letters spell from index `start`; None if they spell none.

    Args:
        letters: (letter, exponent) pairs; only the last letter of a unit may have an exponent of its own, and a unit
            that is one already, with a blank before its name, stands alone.
        text: in which the letters of a unit touch each other; empty if it is not known.
    """
    for stop in range(min(len(letters), start + _MAX_ITALIC), start, -1):
        same = all(power in (1, letters[stop - 1][1]) for _, power in letters[start : stop - 1])
        negative = letters[stop - 1][1] < 0 and any(power > 0 for _, power in letters[start : stop - 1])
        name = "".join(name for name, _ in letters[start:stop])
        if " " in name:
            if stop == start + 1:
                return stop
            continue
        is_written = stop == start + 1 or not text or not name.isascii() or "ohm" in name or name in text
        if same and not negative and is_written and find_unit(name) is not None:
            return stop
    return None


def _resolve_units_in_node(node: Expr) -> Expr:
    """Replace every unit in a node and below by its factor times base units; see `resolve_units`."""
    if node.op == "unit":
        return unit_as_expr(node.name) or symbol(rf"\unit{{{node.name}}}")
    if "unit" not in ops_of(node):
        return node
    args = node.args
    if node.op in ("add", "sub"):
        degrees = [bool(_temperature_offset(arg)) for arg in args]
        if any(degrees) and not (all(degrees) and node.op == "sub"):
            args = tuple(
                _with_units_as_symbols(arg) if is_degrees else arg
                for arg, is_degrees in zip(args, degrees, strict=True)
            )
    return Expr(node.op, tuple(_resolve_units_in_node(arg) for arg in args), node.name, node.value)


def _temperature_offset(node: Expr) -> Fraction:
    """Return the zero point [K] of a number of °C or °F; 0 for anything else."""
    product = _read_product(node)
    return Fraction(0) if product is None else product.offset


def _with_units_as_symbols(node: Expr) -> Expr:
    r"""Replace every unit in an expression by a symbol of its own, `\unit{degC}`, which stays open."""
    if node.op == "unit":
        return symbol(rf"\unit{{{node.name}}}")
    return (
        Expr(node.op, tuple(_with_units_as_symbols(arg) for arg in node.args), node.name, node.value)
        if node.args
        else node
    )


_NUMBER = re.compile(
    r"\s*(?P<sign>[+-]?)\s*(?:(?P<over>\d+)/(?P<under>\d+)(?![\d.]*[A-Za-z^])"
    r"|(?P<digits>\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d+))?"
    r"(?:\s*[*xX]\s*10\s*\^\s*(?P<tens>[+-]?\d+|\{\s*[+-]?\d+\s*\}|\(\s*[+-]?\d+\s*\)))?)"
)

_TENS_ONLY = re.compile(r"\s*(?P<sign>[+-]?)\s*10\s*\^\s*(?P<tens>[+-]?\d+|\{\s*[+-]?\d+\s*\}|\(\s*[+-]?\d+\s*\))")


def parse_quantity(source: str | Expr) -> Quantity | None:
    r"""Parse a number with its unit into coherent SI units; None if it is not one, or can be read in two ways.

    Args:
        source: plain text as in a problem's `givens` (`9.8 m/s^2`, `2.8e6 kg`, `55°`), text with `\unit{}`,
            or an expression that is a product of numbers and units.

    >>> parse_quantity("36 km/h").value, parse_quantity("90.0 degC").value, parse_quantity("8.31 J/mol K")
    (Fraction(10, 1), Fraction(7263, 20), None)
    """
    if isinstance(source, Expr):
        product = _read_product(with_speed_of_light(source))
        if product is None or not product.has_number:
            return None
        return Quantity(_si_value(product), product.dimension)
    try:
        return read_quantity(source)
    except PrismError:
        return None


def is_unit_product(node: Expr) -> bool:
    """Return True if an expression consists of units only: `m`, `s^{-1}`, `J/(mol K)`, `1/s`."""
    if node.op == "pow":
        return is_unit_product(node.args[0])
    if node.op == "div" and node.args[0].value == 1:
        return is_unit_product(node.args[1])
    return node.op == "unit" or (node.op in ("mul", "div") and all(map(is_unit_product, node.args)))


def single_unit(node: Expr) -> Unit | None:
    """Return a product of units as one unit; None if a unit is not known or the expression has a number."""
    found = _read_product(node)
    if found is None or found.has_number:
        return None
    return Unit("", found.factor, found.dimension, found.offset, found.pi)


_ELECTRONVOLTS = frozenset(("eV", "meV", "keV", "MeV", "GeV", "TeV"))
_SPEED_OF_LIGHT = Expr("unit", name="speed of light")
_LIGHT = {symbol("c"): _SPEED_OF_LIGHT, Expr("unit", name="c"): _SPEED_OF_LIGHT}
_OF_QUANTITIES = frozenset(("num", "unit", "sym", "mul", "div", "pow", "neg"))


def with_speed_of_light(expr: Expr) -> Expr:
    """Replace the `c` of a number with electronvolts by the speed of light: 938 MeV/c^2 is a mass, whatever c is.

    A product with other symbols, as `938 MeV c/v`, is a formula, and stays.
    """
    if not expr.args or _ELECTRONVOLTS.isdisjoint(node.name for node in walk(expr) if node.op in ("unit", "sym")):
        return expr
    if ops_of(expr) <= _OF_QUANTITIES and symbols(expr) <= _ELECTRONVOLTS | {"c"}:
        units = {symbol(name): Expr("unit", name=name) for name in symbols(expr) & _ELECTRONVOLTS}
        read = substitute(expr, units | _LIGHT)
        return read if _SPEED_OF_LIGHT in walk(read) else expr
    if expr.op in ("mul", "div", "pow"):
        return expr
    args = tuple(map(with_speed_of_light, expr.args))
    return expr if args == expr.args else Expr(expr.op, args, expr.name, expr.value)


def read_quantity(text: str) -> Quantity:
    """Parse a text such as `9.8 m/s^2` as a number with its unit; raise PrismError if it is not one.

    Errors:
        PrismError: no text, no number, an unknown unit, or two readings.
    """
    require_text(text, "quantity", "a number with its unit as text, such as `9.8 m/s^2`")
    value, found = _split_number_and_unit(text)
    return Quantity(value * found.factor * PI**found.pi + found.offset, found.dimension)


def quantity_as_expr(text: str) -> Expr:
    r"""Parse a text such as `2.5 km` as an expression, a number times base units; pi stays pi: 45° is `\pi/4`.

    >>> str(quantity_as_expr("45 deg")), str(quantity_as_expr("2.5 km"))
    ('pi/4', '2500*\\unit{m}')
    """
    value, found = _split_number_and_unit(text)
    if found.offset:
        value, found = value * found.factor + found.offset, replace(found, factor=Fraction(1))
    return base_unit_product(value * found.factor, found.pi, found.dimension)


def _split_number_and_unit(text: str) -> tuple[Fraction, Unit]:
    """Split a text into its number and unit; raise PrismError if it does not consist of these."""
    if len(text) > MAX_TEXT:
        raise PrismError(f"{len(text)} characters are too many for a number with its unit; {MAX_TEXT} are read")
    clean = normalize_unit_text(text)
    head = _TENS_ONLY.match(clean) or _NUMBER.match(clean)
    if head is None:
        raise PrismError(f"{text!r} does not start with a number; write it as in '9.8 m/s^2'")
    rest = clean[head.end() :].lstrip()
    if re.match(r"(?!1/[A-Za-z(])[\d.,^+-]", rest):  # `3 1/min`
        raise PrismError(f"{text!r} goes on with {rest[:10]!r} after its number; write it as in '9.8e3 m/s^2'")
    value = _value_of_match(head)
    if not rest.strip():
        return value, Unit("", Fraction(1), DIMENSIONLESS)
    try:
        return value, read_unit_product(rest.removeprefix("*"))
    except NoReadingError as fault:
        raise PrismError(f"{text!r}: {fault}") from fault


def _value_of_match(match: re.Match[str]) -> Fraction:
    """Return the number that `_NUMBER` or `_TENS_ONLY` matched; raise PrismError if that cannot be."""
    parts = match.groupdict()
    power = int(parts.get("exponent") or 0) + int((parts.get("tens") or "0").strip("{}() "))
    if abs(power) > MAX_TEN_POWER:
        raise PrismError(f"10^{power} is beyond what can be computed with")
    if parts.get("over"):
        if not int(parts["under"]):
            raise PrismError(f"{match[0].strip()!r} divides by zero")
        value = Fraction(int(parts["over"]), int(parts["under"]))
    else:
        value = Fraction(parts.get("digits") or 1)
    return (-value if parts["sign"] == "-" else value) * Fraction(10) ** power


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of numbers and units, converted to coherent SI units.

    Attributes:
        factor, dimension, pi: as in `Unit`.
        offset: zero point [K] of a plain number of degC or degF, else 0.
        has_number: a number is among the factors; without one it is no quantity.
    """

    factor: Fraction
    dimension: Dimension = DIMENSIONLESS
    offset: Fraction = Fraction(0)
    pi: int = 0
    has_number: bool = True


def _si_value(product: _Product) -> Fraction:
    """Return the value of a product in coherent SI units, with pi to 50 digits."""
    return product.factor * PI**product.pi + product.offset


def _read_product(node: Expr) -> _Product | None:
    """Read an expression as a product of numbers and units; None if it is none, or its numbers too long."""
    if node.op == "num" and node.value is not None:
        return _within_max_bits(_Product(node.value))
    if node.op == "const" and node.name == "pi":
        return _Product(Fraction(1), pi=1)
    if node.op == "unit":
        found = find_unit(node.name) or find_unit_product(node.name)
        if found is None:
            return None
        return _Product(found.factor, found.dimension, found.offset, found.pi, has_number=False)
    if node.op == "neg":
        return _multiply_products(_Product(Fraction(-1)), _read_product(node.args[0]))
    if node.op == "mul":
        total: _Product | None = _Product(Fraction(1), has_number=False)
        for arg in node.args:
            total = None if total is None else _multiply_products(total, _read_product(arg))
        return total
    if node.op == "div":
        above, below = _read_product(node.args[0]), _read_product(node.args[1])
        quotient = (
            None if above is None or below is None else _multiply_products(above, _raise_product(below, Fraction(-1)))
        )
        return None if quotient is None else replace(quotient, offset=Fraction(0))
    if node.op == "pow":
        base, exponent = _read_product(node.args[0]), _read_product(node.args[1])
        if base is None or exponent is None or exponent.pi or any(exponent.dimension):
            return None
        return _raise_product(base, exponent.factor)
    return None


def _within_max_bits(product: _Product) -> _Product | None:
    """Return the product itself; None if its factor has more than MAX_BITS bits."""
    bits = max(product.factor.numerator.bit_length(), product.factor.denominator.bit_length())
    return product if bits <= MAX_BITS else None


def _multiply_products(left: _Product, right: _Product | None) -> _Product | None:
    """Return left * right; None if `right` is None or the result too long.

    A zero point of degrees remains only beside plain numbers: in `-5 degC`, not in `J/(kg degC)`.
    """
    if right is None:
        return None
    bare = not (any(left.dimension) and any(right.dimension)) and not (left.pi or right.pi)
    return _within_max_bits(
        _Product(
            left.factor * right.factor,
            tuple(a + b for a, b in zip(left.dimension, right.dimension, strict=True)),
            left.offset + right.offset if bare else Fraction(0),
            left.pi + right.pi,
            left.has_number or right.has_number,
        )
    )


def _raise_product(base: _Product, exponent: Fraction) -> _Product | None:
    """Return a product raised to a power; None if the result is too large or not exact."""
    limit = MAX_UNIT_POWER if any(base.dimension) or base.pi else MAX_TEN_POWER
    if abs(exponent) > limit or (not base.factor and exponent <= 0):
        return None
    if exponent.denominator != 1 and (base.factor != 1 or base.pi):
        return None
    bits = max(base.factor.numerator.bit_length(), base.factor.denominator.bit_length())
    if base.factor != 1 and bits * abs(exponent) > MAX_BITS:
        return None
    factor = Fraction(1) if base.factor == 1 else base.factor ** int(exponent)
    dimension = tuple(power * exponent for power in base.dimension)
    offset = base.offset if exponent == 1 else Fraction(0)
    return _Product(factor, dimension, offset, int(base.pi * exponent), base.has_number)
