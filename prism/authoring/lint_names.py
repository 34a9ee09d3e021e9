"""Find symbols that nothing introduces, and the symbol that was meant where one is a misspelling.

A solution cannot know what a reference calls by a name of its own, so such a node is matched only by a renaming, if at
all. Only subscripts are tested for misspellings: v_t and V_t are two quantities, v_{emtpy} is v_{empty}.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from prism.algebra.expr import Formula, plain_parts, symbols, symbols_of, walk
from prism.authoring.lint_findings import LintFinding, warning
from prism.equivalence.context_facts import may_mean_constant
from prism.problem.given_nodes import mentioned_symbols
from prism.problem.schema import Problem, formulas_of

MIN_NAME, MIN_WORD = 3, 4  # letters of a name, and of a word in it, that may be a slip: shorter ones are like others
_BINDING = ("integral", "contour", "sum", "product", "limit", "derivative", "partial")
_NO_QUANTITY = re.compile(r"i|\\mathbb\{.*\}|.*_\{[a-z][+-]\d\}")  # the imaginary unit, a set, a neighbour in a chain
_WORDS = re.compile(r"([A-Za-z]+)")


def check_names(problem: Problem) -> Iterator[LintFinding]:
    """Yield findings for symbols that nothing introduces: a likely misspelling is a warning, any other a note."""
    yield from _undefined_names(problem)
    yield from _unused_names(problem)


def _undefined_names(problem: Problem) -> Iterator[LintFinding]:
    """Yield findings for symbols that neither the text nor a table nor another node introduces.

    A symbol that occurs twice in a node may be its own, as the a of an integral that a table gives.
    """
    context = problem.context
    if not context.declared:
        return  # a problem without a text introduces nothing
    written = {
        node.index: [name for f in formulas_of(node)[:1] for name in _symbol_occurrences(f)] for node in problem.nodes
    }
    count = Counter(name for names in written.values() for name in names)
    known = context.declared.union(*(_symbols_introduced_by(f) for node in problem.nodes for f in formulas_of(node)))
    for index, names in written.items():
        lonely = [name for name in names if count[name] == 1 and name not in known]
        lonely = [name for name in lonely if not (may_mean_constant(name, context) or _NO_QUANTITY.fullmatch(name))]
        meant = {name: _similar_name(name, (known | count.keys()) - {name}) for name in lonely}
        where = f"node {index}", "formula"
        for name, near in meant.items():
            if near:
                text = f"`{name}` stands in no other node and nowhere in the problem; is it `{near}`?"
                yield warning("undefined", *where, text)
        if others := [f"`{name}`" for name in lonely if not meant[name]]:
            stand = f"{' and '.join(others)} {'stands' if len(others) == 1 else 'stand'}"
            text = f"{stand} in no other node and nowhere in the problem: a solution may call it otherwise"
            yield LintFinding("note", "undefined", *where, text)


def _unused_names(problem: Problem) -> Iterator[LintFinding]:
    """Yield findings for givens and declared symbols that occur in no formula and nowhere in the text."""
    context = problem.context
    ways = (problem, *problem.alternatives)
    spoken = [f for each in ways for node in each.nodes for f in formulas_of(node)]
    used = mentioned_symbols(problem).union(*(symbols_of(f) for f in (*spoken, *context.definitions)))
    text = "stands in no node and nowhere in the text"
    for table, names in (("givens", context.givens), ("symbols", context.symbols)):
        for name in names:
            if name not in used:
                near = _similar_name(name, used)
                told = f"{text}; is it `{near}`?" if near else text
                yield LintFinding("warning" if near else "note", "undefined", table, name, told)


def _symbol_occurrences(f: Formula) -> Iterator[str]:
    """Yield the symbols of a formula, each as often as it occurs."""
    nodes = (inner for part in plain_parts(f) for member in part.members for inner in walk(member))
    return (inner.name for inner in nodes if inner.op == "sym")


def _symbols_introduced_by(f: Formula) -> frozenset[str]:
    r"""Return the symbols that a formula defines: bound variables, and the only symbol of a side: `\omega^2 = g/l`."""
    nodes = [inner for part in plain_parts(f) for member in part.members for inner in walk(member)]
    bound = symbols(*(inner.args[1] for inner in nodes if inner.op in _BINDING and len(inner.args) > 1))
    sides = (symbols(member) for part in plain_parts(f) if len(part.members) > 1 for member in part.members)
    return bound.union(*(side for side in sides if len(side) == 1))


def _similar_name(name: str, others: Iterable[str]) -> str:
    """Return a name that differs from `name` in case only, or by one letter of a word; empty if there is none."""
    if len(name) < MIN_NAME:
        return ""
    head = name.partition("_")[0]
    alike = (other for other in sorted(others) if other.partition("_")[0] == head)
    return next((other for other in alike if other.casefold() == name.casefold() or _is_misspelt(name, other)), "")


def _is_misspelt(name: str, other: str) -> bool:
    """Return True if two names differ in one word only, by one letter missing, added or wrong, or two swapped."""
    one, two = _WORDS.split(name), _WORDS.split(other)
    apart = [(a, b) for a, b in zip(one, two, strict=False) if a != b]
    if len(one) != len(two) or len(apart) != 1:
        return False
    a, b = sorted(apart[0], key=len)
    if not (a.isalpha() and b.isalpha() and MIN_WORD <= len(b) <= len(a) + 1):
        return False
    at = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[at:] == b[at + 1 :]
    return a[at + 1 :] == b[at + 1 :] or (a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :])
