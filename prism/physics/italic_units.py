r"""Units typed in italics, `V = 5.0 mA * 2.2 kΩ = 11 V`: letters behind a number, read in the parsed expression.

Letters behind a number may be units or symbols. `with_typed_units` reads them where they can hardly be symbols: two
sides of a chain come to the same as quantities, or a side has a sure unit, such as `9.8m/s^2`, beside others. Everybody
else asks `italic_units_as_quantity` for a whole member, and decides by what the problem says of the letters.

Refused: one side that is a number with its unit alone, `v = 5 m/s`, and a chain with the same single letters on all
sides, `3 m g = 2 m g + m g`; what the problem says of the letters decides there (semantics U.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, number, ops_of, symbols, walk, with_members
from prism.algebra.terms import factors_with_powers, terms_of
from prism.errors import LatexSyntaxError
from prism.latex.unit_grammar import product_of
from prism.latex.words import PLAIN_FACTORS, SURE_UNITS, word_set
from prism.physics.quantities import read_product
from prism.physics.units import MAX_UNIT_POWER, find_unit

_Factors = list[tuple[Expr, int]]
_Typed = Mapping[tuple[str, ...], re.Match[str]]  # by the number and the letters

_SHORTEST_WORD = 5  # letters; who writes `0.05 kilograms` in a row means no product
_MAX_ITALIC = 12  # letters; a longer run is a product
_LETTERS = {r"\mu": "µ", r"\Omega": "ohm"}  # Greek letters in units, and their names in the table
_SIGNS = {"µ": r"\mu", "Ω": r"\Omega"}
_ITALIC_OPS = frozenset(("num", "sym", "unit", "mul", "div", "pow", "neg"))
_SURE_WORDS = word_set("kg cm mm km Hz kHz MHz GHz eV keV MeV GeV TeV Pa kPa MPa kJ kW mol rad rev")
_LETTER = r"(?:[A-Za-zµΩ]|\\(?:Omega|mu)(?![a-z]))"
_TYPED = re.compile(  # letters behind a number that touch each other, and the sign before it
    r"(?P<sign>(?:\\cdot|\\times|\*)\s*)?(?<![\d.,])(?:10\^\{?(?P<power>-?\d+)\}?|(?P<number>\d*\.?\d+))(?:\s|\\,|~)?"
    rf"(?P<unit>(?:{_LETTER}|\^(?:-?\d|\{{-?\d\}})|/|\([A-Za-z]+\))+)(?![A-Za-z_'^(])"
    r"(?=\s*(?:\Z|[-+=<>*/)\]},;&$|]|\\(?:cdot|times|right|approx|sim|[\\,;.]|q?quad)(?![a-z])|\s[A-Za-z](?![A-Za-z])))"
)
_Found = tuple[Expr, re.Match[str]]


def with_typed_units(f: Formula) -> Formula:
    r"""Return a formula with letters behind numbers as units, where they can hardly be symbols.

    Errors:
        LatexSyntaxError: letters behind a number beside a unit that may be another unit or symbols,
            `0.5kg\cdot4186J/(kgC)`.

    >>> from prism.latex import parse
    >>> [str(with_typed_units(parse(each))) for each in ("v = 72 km/h = 20 m/s", "d = 18.0m/s * 2s + 5m")]
    ['v = 72*[km]*[h]^(-1) = 20*[m]*[s]^(-1)', 'd = 18.0*[m]*[s]^(-1)*(2*[s]) + 5*[m]']
    """
    if f.parts:
        return replace(f, parts=tuple(map(with_typed_units, f.parts)))
    typed = {
        (each["number"] or f"e{each['power']}", *_letters(each["unit"])): each for each in _TYPED.finditer(f.latex)
    }
    if not typed:
        return f
    return with_members(f, _as_one_quantity(f) or tuple(_with_sure_units(member, f, typed) for member in f.members))


def _letters(unit: str) -> list[str]:
    """Return the letters of a typed unit as names of symbols."""
    return [_SIGNS.get(each, each) for each in re.findall(_LETTER, unit)]


def _as_one_quantity(f: Formula) -> tuple[Expr, ...] | None:
    """Return the members of a chain with units where two of them have one dimension in other units; None without."""
    read = with_italic_units(f, frozenset()).members
    units = [read_product(each) for each in read]
    named = {(unit.dimension, _unit_names(each)) for each, unit in zip(read, units, strict=True) if unit is not None}
    dimensions = [dimension for dimension, names in named if names]
    shown = {each for each in dimensions if dimensions.count(each) > 1}
    if len(f.members) < 3 or not shown:
        return None
    pairs = zip(f.members, read, units, strict=True)
    return tuple([new if unit is not None and unit.dimension in shown else old for old, new, unit in pairs])


def _unit_names(node: Expr) -> frozenset[str]:
    """Return the names of the units of a product."""
    return frozenset(base.name for base, _ in factors_with_powers(node, 1) if base.op == "unit")


def _with_sure_units(member: Expr, f: Formula, typed: _Typed) -> Expr:
    """Return a member with its typed units, if one is sure, or upright, and the member is no quantity alone."""
    found: list[_Found] = []
    shown = _with_quantities(member, typed, found.append)
    has_sure = any(map(_is_sure, found))
    upright = {node.name for node in walk(member) if node.op == "unit"}
    if not found or not (has_sure or upright) or list(terms_of(shown)) == [found[0][0]]:
        return member
    others = symbols(*(_with_quantities(each, typed, lambda _: True) for each in f.members))

    def is_unit(one: _Found) -> bool:
        node, at = one
        letters, is_beside = _letters(at["unit"]), "(" not in at["unit"] and (has_sure or at["sign"])
        is_free = (has_sure and not symbols(shown)) or others.isdisjoint(letters)
        if _is_sure(one) or _unit_names(node) <= upright or (is_beside and is_free):
            return True
        if at["sign"] and len(letters) > 1:
            what = "letters behind a number beside a unit: a unit, or symbols?"
            raise LatexSyntaxError(f.latex, at.start("unit"), what, (r"\mathrm",), "ambiguous")
        return False

    return _with_quantities(member, typed, is_unit)


def _is_sure(one: _Found) -> bool:
    """Return True if letters behind a number can hardly be symbols: a speed, a mass, a known unit of a decimal."""
    names, digits, unit = _unit_names(one[0]), one[1]["number"] or "10", re.sub("[{}]", "", one[1]["unit"])
    is_known = digits not in PLAIN_FACTORS and (unit in SURE_UNITS or not _SURE_WORDS.isdisjoint(names))
    is_long = len(digits) > 1 or digits == "0" or "/" in unit
    return "(" not in unit and ("kg" in names or (is_known and is_long))


def _with_quantities(node: Expr, typed: _Typed, is_unit: Callable[[_Found], bool | None]) -> Expr:
    """Return an expression with typed numbers and units as quantities, but for those of which `is_unit` is False."""
    factors = list(factors_with_powers(node, 1)) if node.op in ("mul", "div", "pow") else []
    if len(factors) < 2:
        args = tuple([_with_quantities(arg, typed, is_unit) for arg in node.args])
        return node if args == node.args else replace(node, args=args)
    read: _Factors = []
    for run in _runs(factors):
        digits, *names = [base.name for base, _ in run]
        keys = [(digits[max(digits.find("e"), 0) :], *names[:size]) for size in range(len(names), 0, -1)]
        own = next((key for key in keys if key in typed), ())
        quantity = _as_quantity(run[: len(own)], typed[own]["unit"]) if own else None
        if quantity is not None and is_unit((quantity, typed[own])) is not False:
            read.append((quantity, 1))
            del run[: len(own)]
        read += [(_with_quantities(base, typed, is_unit), power) for base, power in run]
    return node if read == factors else product_of([_to_power(*factor) for factor in read])


# Numbers with letters ------------------------------------------------------------------------------------------


def with_italic_units(f: Formula, taken: frozenset[str]) -> Formula:
    """Return a formula with `italic_units_as_quantity` of each member that has one; names in `taken` are symbols."""
    return with_members(f, tuple([italic_units_as_quantity(each, taken, f.latex) or each for each in f.members]))


def symbols_beside_units(formulas: Iterable[Formula], taken: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the symbols in the members of formulas that are no numbers with italic units."""
    pairs = [(each, f.latex) for f in formulas for each in f.members]
    return symbols(*[each for each, text in pairs if italic_units_as_quantity(each, taken, text) is None])


def italic_units_as_quantity(expr: Expr, taken: frozenset[str], text: str = "") -> Expr | None:
    r"""Read numbers followed by italic letters that spell units (`50 Hz`, `9.8 m s^{-2}`) as a number with units.

    A guess, and made as one: only for a whole member, only where no letter is a symbol of the problem, but in a word
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
    >>> texts = "3 m K", "3 mK", "3 N-m", "5 mA * 2 V"
    >>> [str(italic_units_as_quantity(parse(text).members[0], frozenset(), text)) for text in texts]
    ['3*[m]*[K]', '3*[mK]', '3*[N]*[m]', '5*[mA]*(2*[V])']
    """
    expr = _hyphenated_units(expr, text)
    if not {"num", "sym"} <= ops_of(expr) <= _ITALIC_OPS:
        return None
    if expr.op == "neg":
        inner = italic_units_as_quantity(expr.args[0], taken, text)
        return None if inner is None else Expr("neg", (inner,))
    read = [_as_quantity(run, text, taken) for run in _runs(factors_with_powers(expr, 1))]
    found = tuple([each for each in read if each is not None])
    return None if len(found) < len(read) else product_of(found)


def _runs(factors: Iterable[tuple[Expr, int]]) -> list[_Factors]:
    """Return the factors of a product in runs that begin at a number each, but for those before the first number."""
    runs: list[_Factors] = []
    for factor in factors:
        if factor[0].op == "num" or not runs:
            runs.append([])
        runs[-1].append(factor)
    return runs


def _as_quantity(run: _Factors, text: str, taken: frozenset[str] = frozenset()) -> Expr | None:
    """Return a number and letters as a number with units; None if the letters spell none, or are `taken`."""
    (head, scale), *letters = run
    if not scale:
        return None
    left = [(base, power // scale) for base, power in letters if base.op in ("sym", "unit") and power % scale == 0]
    if head.op != "num" or len(left) < max(len(letters), 1) or max(abs(each) for _, each in left) > MAX_UNIT_POWER:
        return None
    read = [head]
    while left:
        size = next((n for n in range(min(len(left), _MAX_ITALIC), 0, -1) if _is_one_unit(left[:n], text, taken)), 0)
        if not size:
            return None
        read.append(_to_power(Expr("unit", name=_joined(left[:size])), left[size - 1][1]))
        left = left[size:]
    return _to_power(product_of(read), scale)


def _joined(letters: _Factors) -> str:
    """Return the name that letters spell, `kohm`."""
    return "".join([_LETTERS.get(base.name, base.name) for base, _ in letters])


def _is_one_unit(letters: _Factors, text: str, taken: frozenset[str]) -> bool:
    """Return True if letters spell a unit, of which only the last has a power of its own, and touch each other."""
    names, name, last = [base.name for base, _ in letters], _joined(letters), letters[-1][1]
    if any(base.op == "unit" for base, _ in letters):
        return len(letters) == 1
    is_alike = all(power in (last, 1 if last > 0 else -1) for _, power in letters)
    is_apart = name not in text and name.isascii() and "ohm" not in name
    if not is_alike or (is_apart and (text if len(letters) > 1 else len(name) > 1)) or find_unit(name) is None:
        return False
    return taken.isdisjoint(names) or (len(name) >= _SHORTEST_WORD and name in text)


def _to_power(base: Expr, power: int) -> Expr:
    """Return a factor to its power."""
    return base if power == 1 else Expr("pow", (base, number(power)))


def _first_letter(node: Expr) -> str:
    """Return the character with which an expression begins, without spelling it, which costs."""
    return _first_letter(node.args[0]) if node.args else node.name[:1]


def _hyphenated_units(node: Expr, text: str) -> Expr:
    """Return `5 N - m` as the product that `5 N-m` means; any other difference as it is."""
    if node.op != "sub" or not text or not re.search(f"[A-Za-z]-{re.escape(_first_letter(node.args[1]))}", text):
        return node
    above, below = _hyphenated_units(node.args[0], text), node.args[1]
    is_negative = above.op == "neg"
    product = Expr("mul", (above.args[0] if is_negative else above, below))
    return Expr("neg", (product,)) if is_negative else product
