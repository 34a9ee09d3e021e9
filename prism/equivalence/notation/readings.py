r"""Readings of notation that need a guess, which the other formula of a pair supports (semantics O.1).

Each rule reads one kind of notation: letters behind a number as units, an arrow as a length, a prime as a derivative,
brackets as a call or a product. It yields the pair as it reads then, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from itertools import chain

from prism.algebra.expr import Expr, Formula, nodes_with, ops_of, substitute, substituted, symbol, symbols, walk
from prism.engine.lowering import conjugation_base
from prism.equivalence.context_facts import facts_of_context
from prism.equivalence.facts import UNNAMED, VECTOR, both_in_base_units, facts_of
from prism.equivalence.notation.choice import magnitude_name
from prism.equivalence.notation.marks import bars_without_conjugation, marks_of
from prism.equivalence.notation.means import with_means_of_draws
from prism.equivalence.notation.primes import is_integrated_over, may_be_by
from prism.equivalence.notation.spellings import respelled
from prism.equivalence.substitutions import Attempt, Forms
from prism.equivalence.verdict import Stage
from prism.physics.context import Context
from prism.physics.dimensions import Inconsistent, dimension_of
from prism.physics.italic_units import symbols_beside_units, with_italic_units
from prism.physics.quantities import is_unit_product, single_unit

_PRODUCT_OPS = frozenset(("sym", "num", "const", "mul", "div", "pow", "sqrt", "unit"))


def _notation_attempt(a: Formula, b: Formula, reading: str) -> Attempt:
    """Return two formulas as an attempt of the stage NOTATION; `reading` says in words what was read."""
    return Attempt(a, b, (f"notation: {reading}",), Stage.NOTATION)


def read_italic_units(forms: Forms) -> Iterator[Attempt]:
    """Yield both formulas with italic letters after a number as units, `f = 50 Hz`, if no letter is a symbol there."""
    a, b, context = forms.written.reference, forms.written.claim, forms.context
    vocabulary = context.declared | symbols_beside_units((a, b), context.declared)
    first, second = with_italic_units(a, vocabulary), with_italic_units(b, vocabulary)
    for one, two in dict.fromkeys(((first, second), (first, b), (a, second))):
        if (one, two) != (a, b):
            yield _notation_attempt(*both_in_base_units(one, two), "letters behind a number are units")


def read_magnitudes(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with vectors replaced by magnitudes: `\vec F = m\vec a` as `F = ma`.

    Only where the other formula has these lengths: `A = \lambda` is not `A\vec v = \lambda\vec v`.
    """
    a, b = forms.plain.reference, forms.plain.claim
    moduli = _with_moduli(a), _with_moduli(b)
    if moduli != (a, b):
        yield _notation_attempt(*moduli, "the length of a vector by its letter")
    is_vector = [facts_of(f).has_vector for f in (a, b)]
    if is_vector[0] == is_vector[1]:
        return
    names, others = (facts_of(f).names for f in ((a, b) if is_vector[0] else (b, a)))
    if not {magnitude_name(name) for name in names if VECTOR in name} <= others:
        return
    one, two = (_with_magnitudes(f) if has_vector else f for f, has_vector in zip((a, b), is_vector, strict=True))
    if one is not None and two is not None:
        yield _notation_attempt(one, two, "vectors by their length")


def _with_moduli(f: Formula) -> Formula:
    r"""Write `|\vec v|` as v in a formula whose vectors stand nowhere else than within such bars."""
    vectors = [symbol(name) for name in facts_of(f).names if VECTOR in name]
    moduli = {Expr("abs", (vector,)): symbol(magnitude_name(vector.name)) for vector in vectors}
    read = substituted(f, moduli) if moduli and "abs" in facts_of(f).ops else f
    return f if facts_of(read).has_vector else read


def _with_magnitudes(f: Formula) -> Formula | None:
    """Replace vectors in an equation by their magnitudes; None if a side is not one vector times positive numbers."""
    if f.kind != "equation":
        return None
    members = []
    for member in f.members:
        names = [node.name for node in walk(member) if node.op == "sym" and VECTOR in node.name]
        is_product = all(node.op in _PRODUCT_OPS for node in walk(member))
        has_minus = any(node.op == "num" and (node.value or 0) < 0 for node in walk(member))
        if len(names) != 1 or not is_product or has_minus:
            return None
        members.append(substitute(member, {symbol(names[0]): symbol(magnitude_name(names[0]))}))
    return replace(f, members=tuple(members))


def read_primes(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with primes as derivatives if one has these: `y' = ky` beside `\frac{dy}{dx} = ky`.

    Where one formula has both, or both have the prime, the prime is a label: in `x' = x + v\frac{dx}{dt}` it is the
    place in another frame. No primes are read that show another variable, or that name a variable of integration.
    """
    a, b = forms.plain.reference, forms.plain.claim
    if not (facts_of(a).has_prime or facts_of(b).has_prime):
        return
    variables = {
        subject.name: by for subject, by in dict.fromkeys(chain(_total_derivatives(a), _total_derivatives(b)))
        if by != UNNAMED and not is_integrated_over(subject, (a, b)) and may_be_by(by, subject.name, (a, b))
    }  # fmt: skip
    labels = {name for name in variables if _is_prime_label(name, a, b)}
    one, two = (_with_primes_read(f, variables, labels) for f in (a, b))
    if (one, two) != (a, b):
        yield _notation_attempt(one, two, "primes are derivatives")


def _total_derivatives(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Yield a (symbol, variable) pair for each total derivative of a symbol in a formula."""
    for member in f.members:
        for node in nodes_with(member, "derivative"):
            if len(node.args) == 2 and node.args[0].op == "sym":
                yield node.args[0], node.args[1]


def _is_prime_label(name: str, a: Formula, b: Formula) -> bool:
    """Return True if the prime of x' is a mere label: both formulas have x', or one has x' and a derivative of x."""
    primed = [f for f in (a, b) if name + "'" in facts_of(f).names]
    beside = (pair for f in primed for pair in _total_derivatives(f))
    return len(primed) > 1 or any(subject.name == name and by != UNNAMED for subject, by in beside)


def _with_primes_read(f: Formula, variables: Mapping[str, Expr], labels: Set[str]) -> Formula:
    """Replace symbols with a prime by derivatives of the symbols without.

    Args:
        variables: the variable of each differentiated symbol.
        labels: symbols whose prime is a mere label, which stays.
    """
    replacement = {
        symbol(f"{name}'"): Expr("derivative", (symbol(name), variables[name]), "1")
        for name in variables.keys() - labels if f"{name}'" in facts_of(f).names
    }  # fmt: skip
    named = {subject.name for subject, by in _total_derivatives(f) if by == UNNAMED} & variables.keys()
    if len({variables[name] for name in named}) == 1:
        replacement[UNNAMED] = variables[named.pop()]
    return substituted(f, replacement) if replacement else f


def read_calls(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with calls as the other one writes the letter: `E(\alpha)` as E, `f(n - 1)` as a product.

    Only where the other formula has the letter and calls it nowhere; `x(T)` beside `x = vt` stays a value at T, and
    `f(c)` beside an f of v, or beside `df/dv`, the value at c.
    """
    a, b = forms.plain.reference, forms.plain.claim
    if "apply" not in facts_of(a).ops | facts_of(b).ops:
        return
    one, two = _with_calls_read(a, b, forms.context), _with_calls_read(b, a, forms.context)
    if (one, two) != (a, b):
        yield _notation_attempt(one, two, "brackets behind a letter as in the other formula")


def _with_calls_read(f: Formula, partner: Formula, context: Context) -> Formula:
    """Replace calls of letters that the formula `partner` has but never calls: by the letter, or by a product."""
    called = {node.name for member in partner.members for node in nodes_with(member, "apply")}
    uncalled = facts_of(partner).names - called
    variables = {name: {by for subject, by in partner.depends if subject == name} for name, _ in partner.depends}
    for subject, variable in _total_derivatives(partner):
        if variable != UNNAMED:
            variables.setdefault(subject.name, set()).add(variable.name)
    replacement: dict[Expr, Expr] = {}
    for member in f.members:
        for node in nodes_with(member, "apply"):
            if len(node.args) != 1 or node.name not in uncalled:
                continue
            (argument,) = node.args
            if argument.op == "sym" and argument.name in variables.get(node.name, uncalled):
                replacement[node] = symbol(node.name)
            elif argument.op in ("add", "sub") and node.name in context.declared:
                replacement[node] = Expr("mul", (symbol(node.name), argument))
    if not replacement:
        return f
    shown = {(node.name, node.args[0].name) for node, new in replacement.items() if new.op == "sym"}
    return replace(substituted(f, replacement), depends=f.depends | shown)  # as the reader does with `D(x)`


def read_total_derivatives(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with the claim's `\partial U/\partial T` as `dU/dT`, if the reference only has that."""
    a, b = forms.plain.reference, forms.plain.claim
    if "partial" not in facts_of(b).ops or "derivative" not in facts_of(a).ops or "partial" in facts_of(a).ops:
        return
    totals = {node for member in a.members for node in nodes_with(member, "derivative")}
    partials = (node for member in b.members for node in nodes_with(member, "partial"))
    replacement = {node: total for node in partials if (total := Expr("derivative", node.args, node.name)) in totals}
    if replacement:
        yield _notation_attempt(a, substituted(b, replacement), "a partial derivative is the reference's total one")


def read_real_symbols(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with the claim's `|\psi|^2` or `\psi^*\psi` as `\psi^2`, if the reference has just this.

    Not of a letter that the problem declares complex.
    """
    a, b = forms.plain.reference, forms.plain.claim
    names = frozenset(name for name in facts_of(a).names if forms.context.kinds.get(name) != "complex")
    if not {"abs", "mul"} & facts_of(b).ops:
        return
    both = names & facts_of(b).names  # alone, `\bar v` may be a mean and `T^*` a critical value
    named = bars_without_conjugation(marks_of(a), marks_of(b))
    written = facts_of(b).names - named
    conjugates = {name: conjugation_base(name) for name in written if conjugation_base(name) in both - {name}}
    moduli = [
        node for member in b.members if "abs" in ops_of(member) for node in nodes_with(member, "pow")
        if node.args[1].value == 2 and node.args[0].op == "abs"
        and node.args[0].args[0].op == "sym" and node.args[0].args[0].name in names
    ]  # fmt: skip
    real = {*conjugates.values(), *(node.args[0].args[0].name for node in moduli)}
    if not real or any(conjugation_base(name) in real for name in names if conjugation_base(name) != name):
        return
    if any(symbols(node) & real for member in a.members for node in nodes_with(member, "abs")):
        return
    replacement = {symbol(name): symbol(base) for name, base in conjugates.items()}
    replacement |= {node: Expr("pow", (node.args[0].args[0], node.args[1])) for node in moduli}
    yield _notation_attempt(a, substituted(b, replacement), f"{', '.join(sorted(real))} is real, as in the reference")


def read_units_behind_formulas(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas without the claim's unit behind a formula of symbols: `v = \sqrt{2gh}\ \text{m/s}`.

    Such a unit only says what the value will be in. It has to be a coherent SI one, of the dimension of the formula as
    far as that is known, and no measured number stands before it.
    """
    a, b, context = forms.written.reference, forms.written.claim, forms.context
    members = tuple(_without_unit_behind(member, context) for member in b.members)
    if members != b.members and "unit" not in ops_of(*members, *a.members):
        yield _notation_attempt(a, replace(b, members=members), "the unit behind a formula says what it comes out in")


def _without_unit_behind(member: Expr, context: Context) -> Expr:
    """Return a product of symbols and exact numbers without its coherent unit of the right dimension, if it has one."""
    units = [factor for factor in member.args if is_unit_product(factor)] if member.op == "mul" else []
    rest = tuple(factor for factor in member.args if factor not in units)
    if not units or not rest or not symbols(*rest):
        return member
    if any(node.op == "num" and ("." in node.name or "e" in node.name) for factor in rest for node in walk(factor)):
        return member
    unit = single_unit(units[0] if len(units) == 1 else Expr("mul", tuple(units)))
    bare = rest[0] if len(rest) == 1 else Expr("mul", rest)
    if unit is None or unit.factor != 1 or unit.offset or unit.pi:
        return member
    try:
        dimension = dimension_of(bare, facts_of_context(context).given_dimensions)
    except Inconsistent:
        return member
    return bare if dimension in (None, unit.dimension) else member


def read_spellings(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with the claim's letters spelled as the reference's: `\mathbf e_r` as `\hat r`, j as i."""
    a, b = forms.plain.reference, forms.plain.claim
    letters = respelled(a, b, forms.context.declared)
    if letters:
        read = ", ".join(f"{old} is {new}" for old, new in letters.items())
        yield _notation_attempt(a, substituted(b, {symbol(old): symbol(new) for old, new in letters.items()}), read)


def average_over_draws(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with their means as averages: `\langle (x - \langle x\rangle)^2\rangle` over values of x."""
    a, b = forms.plain.reference, forms.plain.claim
    if (averaged := with_means_of_draws(a, b, forms.context.givens.keys())) is not None:
        yield _notation_attempt(*averaged, "means as averages over any values")
