"""What the linter looks at beside the copies of nodes: names of answers, stated numbers, alternatives.

Find symbols that nothing introduces, and the symbol that was meant where one is a misspelling.

A solution cannot know what a reference calls by a name of its own, so such a node is matched only by a renaming, if at
all. Only subscripts are tested for misspellings: v_t and V_t are two quantities, v_{emtpy} is v_{empty}.

Derive the number of a node from each formula before it; where they disagree with it, one of them is wrong.

`problem.expected_numbers` replaces the number of the author by the one that nodes and givens determine, if the two
agree. Here every formula that a node depends on is evaluated by itself, so that an author learns which one disagrees.

Lint of alternatives: all ways of a problem answer the same questions, and answer them alike (semantics S.1).

Each way is checked by itself as any reference is. What only two of them together can show is looked for here: a final
answer of the first reference that a copy of the other one does not state, and the reverse. Two answers to one question
that differ make a grade wrong for certain: whoever is right by one way is credited with points for what is wrong by the
other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Formula, plain_parts, symbols, symbols_of, walk
from prism.authoring.graded_copies import as_answer, grade_copy
from prism.authoring.lint_findings import LintFinding, warning
from prism.budget import STATED, share
from prism.equivalence.context_facts import may_mean_constant
from prism.equivalence.facts import in_base_units, numeric_of, subject_of
from prism.equivalence.matching import match
from prism.equivalence.numbers.known_values import (
    KnownValues,
    closed_form_number,
    evaluate_with_units,
    root_near,
    symbol_value,
)
from prism.equivalence.numbers.stated import Numeric
from prism.equivalence.verdict import Status, Verdict
from prism.grading.prepared import prepare_without
from prism.latex import one_line
from prism.physics.context import Context, given_values
from prism.physics.dimensions import dimension_text, inconsistency
from prism.problem.answers.numbers import ExpectedNumbers, derive_expected_numbers, in_unit_of
from prism.problem.answers.worded import text_answer
from prism.problem.dag import ancestor_closure
from prism.problem.given_nodes import mentioned_symbols
from prism.problem.schema import Problem, ProblemNode, formulas_of

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


@dataclass(frozen=True, slots=True)
class DerivedNumber:
    """The number of a node as an earlier formula, or the value given by the problem, determines it.

    Attributes:
        origin: index of the node whose formula it is; 0 for the value that the problem gives.
        value: in the unit of the stated number; None where the units do not fit.
        fault: why they do not fit, in words; else empty.
    """

    origin: int
    value: Fraction | None = None
    fault: str = ""


def node_number(f: Formula) -> Numeric | None:
    r"""Return the number that a node states (`v = 3 m/s`, `v = 2 \cdot 9.8`); None if it states none."""
    return numeric_of(f) or closed_form_number(f)


def derive_numbers(node: ProblemNode, problem: Problem, expected: ExpectedNumbers) -> tuple[DerivedNumber, ...]:
    """Return the number of a node by each formula it depends on, direct parents first; empty if none gives it."""
    wanted = node_number(node.formula)
    if wanted is None or wanted.subject.op != "sym" or not wanted.number.value:
        return ()
    name, context = wanted.subject.name, problem.context
    before = ancestor_closure(problem.dag, {node.index}) - {node.index}
    formulas = {index: problem.nodes[problem.dag.positions[index]].formula for index in before}
    settled = {each.name for f in formulas.values() if _is_known(f) for each in f.members} - {name}
    known = {other: value for other, value in expected.known_values.items() if other in settled}
    is_bare = wanted.number.unit is None and numeric_of(node.formula) is None  # values put in without their units
    found = list(_number_by_given(wanted, context, is_bare=is_bare))
    parents = problem.dag.nodes[problem.dag.positions[node.index]].prerequisites
    for index in sorted(before, key=lambda index: (index in parents, index), reverse=True):
        f = formulas[index]
        if f.kind == "equation" and node_number(f) is None and name in symbols(*f.members):
            found += _number_by_formula(f, index, wanted, context, known, is_bare=is_bare)
    return tuple(found)


def _is_known(f: Formula) -> bool:
    """Return True if a node settles a value whose unit is known; of values put in without units nobody knows it."""
    closed = None if numeric_of(f) else closed_form_number(f)
    return closed is None or closed.number.unit is not None


def _number_by_given(wanted: Numeric, context: Context, *, is_bare: bool) -> Iterator[DerivedNumber]:
    """Yield the value that the problem gives for the quantity, or the fault of its unit; nothing if none is given.

    Args:
        is_bare: the number was computed from values without units, so a missing unit is no fault.
    """
    given = given_values(context).get(wanted.subject.name)
    if given is None:
        return
    dimension = given.quantity.dimension
    if dimension == wanted.number.dimension:
        yield DerivedNumber(0, in_unit_of(float(given.quantity.value), wanted.number))
    elif not is_bare:
        stated = dimension_text(wanted.number.dimension)
        yield DerivedNumber(0, None, f"it is given in {dimension_text(dimension)}, and stated in {stated}")


def _number_by_formula(
    f: Formula, index: int, wanted: Numeric, context: Context, known: KnownValues, *, is_bare: bool
) -> Iterator[DerivedNumber]:
    """Yield the number that formula `f` of node `index` gives for the wanted quantity, or the fault of its units.

    The formula is evaluated if it is solved for the quantity; otherwise the root nearest to the stated number is taken.

    Args:
        known: value and dimension of the other symbols.
        is_bare: the number was computed from values without units, so a missing unit is no fault.
    """
    name, number = wanted.subject.name, wanted.number
    values_by_name = {
        other: found for other in symbols_of(f) if (found := symbol_value(other, context, known)) is not None
    }
    others = {other: dimension for other, (_, dimension) in values_by_name.items() if other != name}
    plain = in_base_units(f)
    if inconsistency(plain, others):
        return
    fault = inconsistency(plain, {**others, name: number.dimension})
    if fault and not is_bare:
        yield DerivedNumber(index, None, fault)
        return
    value: float | None = None
    for subject, other in (f.members, f.members[::-1]):
        if value is None and subject == wanted.subject and name not in symbols(other):
            measured = evaluate_with_units(other, context, known)
            value = None if measured is None else float(measured[0])
    if value is None and not fault and wanted.subject not in f.members:
        value = root_near(f, name, float(number.in_si), number.dimension, context, known)
    if value is not None:
        yield DerivedNumber(index, in_unit_of(value, number))


def check_alternative(first: Problem, other: Problem, operations: float) -> Iterator[LintFinding]:
    """Yield what is wrong with an alternative beside the first reference; entries are those of the alternative.

    Args:
        operations: that the grade of each copy may cost.
    """
    told: set[int] = set()
    for node in _unanswered(first, other, operations / 2):
        mine = _answer_in_place(node, other)
        if mine is None:
            text = f"it states no answer for node {node.index} of the first reference, `{one_line(node.latex)}`"
            yield warning("alternatives", "", "", f"{text}; let all ways answer the same questions")
            continue
        told.add(mine.index)
        yield _difference(first, node, mine, other)
    for node in _unanswered(other, first, operations / 2):
        if node.index not in told:
            text = (
                "it is a final answer, and the first reference has none for it; let all ways answer the same questions"
            )
            yield warning("alternatives", f"node {node.index}", "formula", text)


def _unanswered(asked: Problem, copied: Problem, operations: float) -> list[ProblemNode]:
    """Return the final answers of one reference that a copy of the other does not state; words are told apart."""
    finals = [node for node in asked.nodes if node.is_final]
    texts = {node.index: as_answer(node) for node in copied.nodes if not node.is_text}
    copy = grade_copy(prepare_without(asked, ()), texts, operations)
    if copy.is_cut:
        return []
    stated = {index for items in copy.formulas.values() for item in items for index in item.nodes}
    stated |= {index for items in copy.formulas.values() for item in items for index, _ in item.withheld}
    in_words = {
        node.index
        for node in finals
        if node.is_text and (mine := _answer_in_place(node, copied)) and _same_words(asked, node, mine)
    }
    return [node for node in finals if node.index not in stated | in_words]


def _answer_in_place(node: ProblemNode, other: Problem) -> ProblemNode | None:
    """Return the final answer of another reference in the place of one: of its part and quantity, else the only one.

    None where the part has several final answers, or none, and no one of them is of that quantity.
    """
    finals = [each for each in other.nodes if each.is_final and each.subquestion == node.subquestion]
    finals = [each for each in finals if each.is_text == node.is_text]
    subject = None if node.is_text else subject_of(node.formula)
    named = [each for each in finals if subject is not None and subject_of(each.formula) == subject]
    if named:
        return named[-1]
    return finals[0] if len(finals) == 1 else None


def _difference(first: Problem, node: ProblemNode, mine: ProblemNode, other: Problem) -> LintFinding:
    """Return the finding that two final answers to one question are not seen to be the same; a fault if they differ.

    An answer in quantities that nodes of its own way are solved for, `T = t_1 + t_2`, may be the same all the same.
    """
    where, both = f"node {mine.index}", f"`{one_line(mine.latex)}`, and node {node.index} of the first reference"
    is_comparable = not (_worked_out(first) & symbols_of(node.formula) or _worked_out(other) & symbols_of(mine.formula))
    if node.is_text or (is_comparable and _verdict(first, node, mine).status == Status.DIFFERENT):
        text = f"it answers {both} `{one_line(node.latex)}`: whoever is right by one way is wrong by the other"
        return LintFinding("fault", "alternatives", where, "formula", f"{text}; correct one of them")
    text = f"it answers {both} `{one_line(node.latex)}`, which are not seen to be the same; write them in one form"
    return warning("alternatives", where, "formula", text)


def _worked_out(problem: Problem) -> frozenset[str]:
    """Return the symbols that nodes of a reference before its answers are solved for."""
    subjects = (subject_of(node.formula) for node in problem.nodes if not (node.is_final or node.is_text))
    answers = (subject_of(node.formula) for node in problem.nodes if node.is_final and not node.is_text)
    return symbols(*filter(None, subjects)) - symbols(*filter(None, answers))


def _verdict(first: Problem, node: ProblemNode, mine: ProblemNode) -> Verdict:
    """Return how two final answers compare; undecided if one is a number and the other a formula, or both are dear."""
    verdict = Verdict(Status.UNDECIDED, "too_large")
    if (numeric_of(node.formula) is None) != (numeric_of(mine.formula) is None):
        return verdict
    with share(STATED):
        verdict = match(node.formula, mine.formula, first.context, derive_expected_numbers(first).specs[node.index])
    return verdict  # noqa: RET504 - a share may end its block


def _same_words(asked: Problem, node: ProblemNode, mine: ProblemNode) -> bool:
    """Return True if an answer in words of another reference is one that a node accepts."""
    questions = {part.letter: part for part in asked.subquestions}
    question = questions.get(node.subquestion) or asked.subquestions[0]
    accepted = (text_answer(each.latex, question.final_answer_instructions, (mine.latex,)) for each in
                (node.formula, *node.accept))  # fmt: skip
    return any(verdict.status == Status.EQUIVALENT for verdict in accepted)
