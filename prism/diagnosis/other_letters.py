r"""Find the node that a formula would be if one symbol of it had the letter of the node: `v = \sqrt{2gh}` for `v_f`.

Such a formula is no wrong step, and it earns nothing: whether the student means that quantity only a reader can tell.
The symbol is renamed to what the node is solved for. It is either unknown to the problem, and then the only such symbol
of the formula, or it is the letter of the node's symbol without the index. Beside a node of no other symbol it has the
letter of the node's symbol, for a number fits whatever its name is taken for.

Refused: renaming one symbol of the problem to any other one. `U` for `K`, and `T_1` for `T_2`, is the mistake itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prism.algebra.expr import Formula, symbol, symbols_of
from prism.algebra.symbols import symbol_of
from prism.budget import CONSEQUENCES, OTHER_LETTERS, share
from prism.diagnosis.consequences import are_equivalent
from prism.equivalence.facts import subject_of
from prism.equivalence.statements import statements_of
from prism.errors import LatexSyntaxError
from prism.grading.claims.own_symbols import letter_of, may_denote, with_names
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.references import MatchTask, ReferenceNode
from prism.grading.result import Grade
from prism.latex import write
from prism.latex.writing.variants import with_variants
from prism.physics.context import given_values, parse
from prism.problem.schema import Problem


@dataclass(frozen=True, slots=True)
class OtherLetter:
    """A node that a formula would be if its symbol `has` were the node's symbol `should`, both in LaTeX."""

    node: int
    has: str
    should: str

    def __str__(self) -> str:
        """Return `would be node 6 if $v$ were $v_f$`."""
        return f"would be node {self.node} if ${self.has}$ were ${self.should}$"


def other_letters(problem: PreparedProblem | Problem, grade: Grade) -> dict[int, OtherLetter]:
    """Map the position in `Grade.formulas` of each formula that differs from all nodes to its `OtherLetter`, if any.

    Formulas that the operations of a diagnosis do not suffice for have none.
    """
    task = (problem if isinstance(problem, PreparedProblem) else prepare(problem)).task
    found: dict[int, OtherLetter] = {}
    with share(CONSEQUENCES):
        for position, item in enumerate(grade.formulas):
            if item.status == "different" and item.kind != "text":
                try:
                    other = find_other_letter(parse(item.latex, context=task.context), task)
                except LatexSyntaxError:  # a grade that was made elsewhere
                    continue
                found |= {} if other is None else {position: other}
    return found


def find_other_letter(f: Formula, task: MatchTask) -> OtherLetter | None:
    """Return the node that a formula would be under one other letter, the first of them; None if there is none."""
    with share(OTHER_LETTERS):
        for node, old, new in _renamings(f, task):
            for wanted in node.formulas:
                if are_equivalent(wanted, with_names(f, {symbol(old): new}), task.context, node.number_spec):
                    return OtherLetter(
                        node.index,
                        with_variants(write(symbol(old)), f.latex),
                        with_variants(write(symbol(new)), wanted.latex),
                    )
    return None


def _renamings(f: Formula, task: MatchTask) -> Iterator[tuple[ReferenceNode, str, str]]:
    """Yield (node, symbol of the formula, symbol that the node is solved for) for each renaming to be tried."""
    own = sorted(symbols_of(f))
    unknown = [name for name in own if name not in task.known and not symbol_of(name).is_unit]
    for node in task.references:
        subject = subject_of(node.formulas[0])
        if subject is None or subject.name in own:
            continue
        is_lone = symbols_of(node.formulas[0]) == {subject.name}
        for name in own:
            is_new = unknown == [name] and (not is_lone or may_denote(symbol(name), subject.name))
            may_mean = is_new or _is_without_index(name, subject.name)
            if may_mean and _may_match(f, node, name, subject.name, task):
                yield node, name, subject.name


def _is_without_index(name: str, other: str) -> bool:
    """Return True for `v` beside `v_f`: the letter of another symbol that has an index."""
    return name != other and name == letter_of(name) == letter_of(other) and "'" not in other


def _may_match(f: Formula, node: ReferenceNode, old: str, new: str, task: MatchTask) -> bool:
    """Return True if a statement of the formula, renamed, has the symbols of the node, but for givens."""
    wanted = symbols_of(node.formulas[0]) - {new}
    stated = [symbols_of(each.formula) for each in statements_of(f)]
    givens = given_values(task.context).keys()
    return any(old in names and ((names - {old}) ^ wanted) <= givens for names in stated)
