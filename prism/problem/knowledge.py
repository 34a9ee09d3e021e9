"""Collect what a problem gives: the tables of its file, and the values, definitions and constants of its text.

Where both state something, the file decides. A definition of the text that would make two reference nodes the same is
a step of the solution and no notation; it is left out, and `prism show` reports it. A symbol that the text introduces
as a constant of nature (`$R$ is the gas constant`) is one, although the problem mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from prism.algebra.expr import Formula, substituted, symbol, symbols, walk
from prism.budget import DEFINITION, KNOWLEDGE, share
from prism.engine.tape import TapeTooLarge
from prism.equivalence.dispatch import compare
from prism.equivalence.facts import in_base_units
from prism.equivalence.points.zero_sets import compare_with_itself, is_identity
from prism.errors import LatexSyntaxError
from prism.latex import Extraction, LocatedFormula, extract
from prism.latex import parse as parse_latex
from prism.latex.number_text import read_number_text
from prism.physics.constants import constant_table, constants_with_value
from prism.physics.context import Context, Declaration
from prism.physics.quantities import parse_quantity
from prism.physics.units import find_unit
from prism.problem.statement import WORDS_AFTER_NUMBER, ProblemText, read_problem_text

_NEAR = 60  # characters on either side of a symbol in which its constant is named
_LITTLE_WORDS = frozenset(
    ("constant", "of", "the", "in", "vacuum", "molar", "standard", "a", "an", "electric", "magnetic")
)
_IN_LIGHT = re.compile(r"eV\s*(?:/\s*c|c\^)")  # masses in MeV/c^2 say what c is
_OF_NUMBERS = frozenset(("num", "neg", "mul", "div", "pow"))  # what a number without a unit consists of
_WORD_AFTER = re.compile(r"\s*(?:\$\$?|\\\))[^\S\n]+([^\W\d_][^\s.,;:!?()$\\]*)")  # behind a formula that ends there
_PHRASE_END = re.compile(r"[.;,:()]|\band\b")


@dataclass(frozen=True, slots=True)
class UnusedStatement:
    """A symbol whose value or definition in the problem's text is not used, with the reason in words (`why`)."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ProblemKnowledge:
    """All that a problem gives, from its file and its text.

    Attributes:
        context: of file and text together.
        statement: what the text gives, used or not.
        constants: symbols that are constants of nature by the words of the text, by their value or as a unit, each
            with the name of its constant.
        left_out: what of the text is not used.
    """

    context: Context
    statement: ProblemText
    constants: tuple[tuple[str, str], ...] = ()
    left_out: tuple[UnusedStatement, ...] = ()


def collect_knowledge(context: Context, text: str, references: Sequence[Formula]) -> ProblemKnowledge:
    """Collect what a problem gives: the context of its file, completed by what its text states.

    Args:
        context: of the file's tables, with all symbols declared that the text mentions.
        text: the statement and its subquestions.
        references: the formulas of the nodes.
    """
    statement = read_problem_text(text)
    left_out: list[UnusedStatement] = [
        UnusedStatement(name, "has several values or definitions") for name in statement.ambiguous
    ]
    givens = dict(context.givens)
    for stated in statement.givens:
        givens.setdefault(stated.name, stated.text)
    definitions = list(context.definitions)
    own = {name for each in definitions for name in symbols(*each.members)}
    left = KNOWLEDGE
    for defined in statement.definitions:
        if defined.name in givens:
            why = "has a value"
        elif defined.is_function:
            why = "is a function"
        else:
            with share(min(DEFINITION, left)) as account:
                compare_with_itself(in_base_units(defined.formula), context)  # as `find_dear_formulas` will
                why = _reason_unused(defined.formula, defined.name, references, context)
            left -= account.spent
            if account.is_exhausted:
                why = "costs too much to be compared with the nodes"
        if why:
            left_out.append(UnusedStatement(defined.name, why))
        elif defined.name not in own:
            definitions.append(defined.formula)
    found = extract(text)
    told = {*givens, *statement.ambiguous, *(each.name for each in statement.definitions)}
    told.update(each.name for each in statement.conditions)
    left_out += _values_in_unknown_units(found, told)
    named = {name: constant for name, constant in _constants_named(found) if name not in givens}
    named |= {name: constant for name, text in givens.items() if (constant := _constant_of_value(name, text))}
    if "c" not in givens and any(_IN_LIGHT.search(text) for text in givens.values()):
        named["c"] = "speed of light in vacuum"
    constants = tuple((name, constant) for name, constant in named.items() if name not in context.symbols)
    kinds = {name: Declaration("constant", constant=constant) for name, constant in constants}
    declared = {
        name: replace(each, constant=named[name]) if each.kind == "constant" and name in named else each
        for name, each in context.symbols.items()
    }
    full = replace(context, givens=givens, definitions=tuple(definitions), symbols={**kinds, **declared})
    return ProblemKnowledge(full, statement, constants, tuple(left_out))


def _reason_unused(definition: Formula, name: str, references: Sequence[Formula], context: Context) -> str:
    """Return why a definition of the text must not be substituted, in words; empty if it may be.

    It must not if it is a step of the solution: substituting it makes a node an identity, or two nodes equivalent.

    Args:
        definition: equation with the symbol `name` alone on one side.
        references: the formulas of the nodes.
    """
    left, right = definition.members
    expr = right if left == symbol(name) else left
    plain = [in_base_units(f) for f in references]
    full = [substituted(f, {symbol(name): expr}) for f in plain]
    for k, (one, before) in enumerate(zip(full, plain, strict=True)):
        if one == before:
            continue
        try:
            if one.kind == "equation" and is_identity(one, context):
                return f"node {k + 1} says it"
        except TapeTooLarge:
            return f"node {k + 1} becomes too large with it"
        for j, other in enumerate(full):
            if j == k or symbols(*one.members) != symbols(*other.members):
                continue
            same = compare(one, other, context).status == "equivalent"
            if same and compare(before, plain[j], context).status != "equivalent":
                return f"nodes {min(j, k) + 1} and {max(j, k) + 1} would say the same"
    return ""


def _values_in_unknown_units(found: Extraction, told: Container[str]) -> Iterator[UnusedStatement]:
    r"""Yield the symbols whose number stands before a word that is no unit: `$C = 10.0$ uX`, `C = 10.0\unit{uX}`.

    Args:
        found: the formulas of the problem's text.
        told: symbols that the problem knows, or leaves out for another reason.
    """
    for item in found:
        try:
            read = parse_latex(item.latex)
        except LatexSyntaxError:
            continue
        if read.kind != "equation" or read.members[0].op != "sym" or symbols(read.members[1]):
            continue
        parts = list(walk(read.members[1]))
        units = [node.name for node in parts if node.op == "unit"]
        is_bare = any(node.value for node in parts) and _OF_NUMBERS.issuperset(node.op for node in parts)
        after = _WORD_AFTER.match(found.text, item.span[1]) if is_bare else None
        if after and after[1].lower() not in WORDS_AFTER_NUMBER:
            units.append(after[1])
        unknown = next((name for name in units if find_unit(name) is None), "")
        if unknown and read.members[0].name not in told:
            why = f"'{unknown}' behind its number is no unit that the table knows"
            yield UnusedStatement(read.members[0].name, why)


def _constants_named(items: Extraction) -> list[tuple[str, str]]:
    """Return (symbol, constant) where the words beside a symbol name a constant: "Boltzmann's constant `$k$`"."""
    found: dict[str, str] = {}
    for item in items:
        name = _lone_symbol(item)
        if not name or name in found:
            continue
        near = _phrase_around(items.text, item.span)
        for reading in constant_table().readings(name):
            needed = _letter_runs(reading.constant) - _LITTLE_WORDS
            if needed and needed <= near:
                found[name] = reading.constant
                break
    return list(found.items())


def _constant_of_value(name: str, text: str) -> str:
    """Return the name of the constant that symbol `name` means by its given value `text`; empty if none.

    An R of `8.314 J/(mol K)` is the gas constant.
    """
    found, number = parse_quantity(text), read_number_text(text)
    figures = len(number.mantissa.replace(".", "").lstrip("-0")) if number else 0
    if found is None or not constants_with_value(found.value, found.dimension, figures, among=frozenset((name,))):
        return ""
    readings = constant_table().readings(name)
    return next(one.constant for one in readings if one.value is not None and one.value.dimension == found.dimension)


def _lone_symbol(item: LocatedFormula) -> str:
    """Return the name of the symbol that a located formula consists of; empty if it is anything else."""
    try:
        read = parse_latex(item.latex)
    except LatexSyntaxError:
        return ""
    root = read.members[0] if read.kind == "expression" else None
    return root.name if root is not None and root.op == "sym" else ""


def _phrase_around(text: str, span: tuple[int, int]) -> frozenset[str]:
    """Return the lower-case words around a formula at `span`, within its phrase and `_NEAR` characters."""
    before = _PHRASE_END.split(text[max(span[0] - _NEAR, 0) : span[0]])[-1]
    after = _PHRASE_END.split(text[span[1] : span[1] + _NEAR].replace("$", " ", 1))[0]
    return frozenset("gravitational" if word == "gravitation" else word for word in _letter_runs(f"{before} {after}"))


def _letter_runs(text: str) -> frozenset[str]:
    """Return the sequences of letters in a text, in lower case: `Boltzmann's` gives `boltzmann` and `s`."""
    return frozenset(word.lower() for word in re.findall("[A-Za-z]+", text))
