"""What a problem gives in all: the tables of its file, and what its text says besides.

The file decides where both speak. A definition of the text that would make two nodes of the reference the same is a
step of the solution and no notation (`f(v) = ...`, put in or not, is what one node says and the next does not); it is
left out, and `prism show` says so. A symbol that the text introduces as a constant of nature (`$R$ is the gas
constant`) is one, although the problem mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prism.algebra.expr import Formula, substituted, symbol, symbols
from prism.equivalence.dispatch import compare
from prism.equivalence.substitutions import resolved
from prism.equivalence.zero_sets import is_identity
from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, extract
from prism.latex import parse as parse_latex
from prism.physics.context import Context, Declaration
from prism.physics.units import constant_table, constants_of, quantity
from prism.problem.statement import ProblemText, read_problem_text

_NEAR = 60  # characters on either side of a symbol in which its constant is named
_LITTLE_WORDS = frozenset(
    ("constant", "of", "the", "in", "vacuum", "molar", "standard", "a", "an", "electric", "magnetic")
)
_WORD = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"-?[\d.]+")
_IN_LIGHT = re.compile(r"eV\s*(?:/\s*c|c\^)")  # masses in MeV/c^2 say what c is
_CLAUSE_END = re.compile(r"[.;,:()]|\band\b")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that the text gives and that is not used, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Given:
    """What is known before the first formula is compared.

    Attributes:
        context: of file and text together.
        statement: what the text gives, used or not.
        constants: symbols that are constants of nature by the words of the text, by their value or as a unit, with the
            name.
        left_out: what is not used.
    """

    context: Context
    statement: ProblemText
    constants: tuple[tuple[str, str], ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def given_of(context: Context, text: str, references: Sequence[Formula]) -> Given:
    """The context of a problem file with what its text says.

    Args:
        context: of the file's tables, with all symbols declared that the text mentions.
        text: the statement and its subquestions.
        references: the formulas of the nodes.
    """
    statement = read_problem_text(text)
    left_out: list[LeftOut] = [LeftOut(name, "has several values or definitions") for name in statement.ambiguous]
    givens = dict(context.givens)
    for stated in statement.givens:
        givens.setdefault(stated.name, stated.text)
    definitions = list(context.definitions)
    own = {name for each in definitions for name in symbols(*each.members)}
    for defined in statement.definitions:
        why = (
            _why_not(defined.formula, defined.name, references, context) if not defined.is_function else "is a function"
        )
        if defined.name in givens:
            why = "has a value"
        if why:
            left_out.append(LeftOut(defined.name, why))
        elif defined.name not in own:
            definitions.append(defined.formula)
    named = {name: constant for name, constant in _constants_named(text) if name not in givens}
    named |= {name: constant for name, text in givens.items() if (constant := _constant_of_value(name, text))}
    if "c" not in givens and any(_IN_LIGHT.search(text) for text in givens.values()):
        named["c"] = "speed of light in vacuum"
    constants = tuple((name, constant) for name, constant in named.items() if name not in context.symbols)
    kinds = {name: Declaration("constant", constant=constant) for name, constant in constants}
    declared = {
        name: replace(said, constant=named[name]) if said.kind == "constant" and name in named else said
        for name, said in context.symbols.items()
    }
    full = replace(context, givens=givens, definitions=tuple(definitions), symbols={**kinds, **declared})
    return Given(full, statement, constants, tuple(left_out))


def _why_not(definition: Formula, name: str, references: Sequence[Formula], context: Context) -> str:
    """Why a definition is no notation: with it a node says nothing, or what another node says; empty if it is one."""
    left, right = definition.members
    expr = right if left == symbol(name) else left
    plain = [resolved(f) for f in references]
    full = [substituted(f, {symbol(name): expr}) for f in plain]
    for k, (one, before) in enumerate(zip(full, plain, strict=True)):
        if one == before:
            continue
        if one.kind == "equation" and is_identity(one, context):
            return f"node {k + 1} says it"
        for j, other in enumerate(full):
            if j == k or symbols(*one.members) != symbols(*other.members):
                continue
            same = compare(one, other, context).status == "equivalent"
            if same and compare(before, plain[j], context).status != "equivalent":
                return f"nodes {min(j, k) + 1} and {max(j, k) + 1} would say the same"
    return ""


def _constants_named(text: str) -> list[tuple[str, str]]:
    """Symbols beside which the text names a constant that they usually stand for."""
    found: dict[str, str] = {}
    items = extract(text)
    for item in items:
        name = _symbol_of(item)
        if not name or name in found:
            continue
        near = _clause_around(items.text, item.span)
        for reading in constant_table().readings(name):
            needed = {word.lower() for word in _WORD.findall(reading.constant)} - _LITTLE_WORDS
            if needed and needed <= near:
                found[name] = reading.constant
                break
    return list(found.items())


def _constant_of_value(name: str, text: str) -> str:
    """The constant that a symbol stands for by its given value: an R of 8.314 J/(mol K) is the gas constant."""
    found = quantity(text)
    digits = _DIGITS.match(text)
    figures = len(digits[0].replace(".", "").lstrip("-0")) if digits else 0
    if found is None or not constants_of(found.value, found.dimension, figures, among=frozenset((name,))):
        return ""
    readings = constant_table().readings(name)
    return next(one.constant for one in readings if one.value is not None and one.value.dimension == found.dimension)


def _symbol_of(item: LocatedFormula) -> str:
    try:
        read = parse_latex(item.latex)
    except LatexSyntaxError:
        return ""
    root = read.members[0] if read.kind == "expression" else None
    return root.name if root is not None and root.op == "sym" else ""


def _clause_around(text: str, span: tuple[int, int]) -> frozenset[str]:
    """The words around a formula up to the marks that end its clause, singular and without `'s`."""
    before = _CLAUSE_END.split(text[max(span[0] - _NEAR, 0) : span[0]])[-1]
    after = _CLAUSE_END.split(text[span[1] : span[1] + _NEAR].replace("$", " ", 1))[0]
    words = {word.lower() for word in _WORD.findall(f"{before} {after}")}
    return frozenset(words | {"gravitational" if word == "gravitation" else word for word in words})
