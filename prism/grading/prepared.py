"""A problem prepared for grading: its reference nodes, final answers and rival nodes, computed once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from prism.algebra.expr import Formula, symbols_of
from prism.budget import GIVEN, share
from prism.errors import DataFileError, PrismError
from prism.grading.answers.final_answers import FinalAnswer, final_answer_of
from prism.grading.copies import shown_by
from prism.grading.references import (
    MatchTask,
    ReferenceNode,
    find_dear_formulas,
    is_guessable,
    rival_nodes,
    share_subjects,
)
from prism.grading.stances import quantity_of
from prism.problem.answers.numbers import derive_expected_numbers
from prism.problem.dag import ReferenceDag, ancestor_closure
from prism.problem.given_nodes import find_given_answers, find_given_nodes, stated_formulas
from prism.problem.schema import Problem, ProblemSource, formulas_of, load_problem
from prism.problem.source import first_and_count


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to grade.

    Attributes:
        problem: as loaded.
        task: the nodes that claims are compared with, and how.
        final_answers: those that a box without a subject may state.
        letters: part letter of each final answer that has one, by index. Another node may be stated in any part.
        guessable: nodes that count only where a prerequisite of them is achieved.
        shown: final answers that the problem says itself in solved form; they count only where a prerequisite does.
        showing: what nodes lead to that is to be shown: formulas of the problem, by index.
        rivals: for each node, the other nodes about the same quantity.
        given: nodes that repeat the problem's text; None unless prepared for the policy `training`.
        stated: formulas of the problem's text and of the reference.
        alternatives: the problem prepared with each of its other reference DAGs, in file order (semantics S.1).
    """

    problem: Problem
    task: MatchTask
    final_answers: tuple[FinalAnswer, ...]
    letters: Mapping[int, str]
    guessable: frozenset[int]
    shown: frozenset[int] = frozenset()
    showing: Mapping[int, tuple[Formula, ...]] = field(default_factory=dict, hash=False)
    rivals: Mapping[int, frozenset[int]] = field(default_factory=dict, hash=False)
    given: frozenset[int] | None = None
    stated: tuple[Formula, ...] = field(default=(), hash=False)
    alternatives: tuple[PreparedProblem, ...] = field(default=(), hash=False)

    @property
    def question(self) -> str:
        """The statement with its subquestions."""
        return "\n".join(self.questions.values())

    @property
    def questions(self) -> dict[str, str]:
        """The subquestions by their letter, and the statement by the empty one."""
        texts = {"": self.problem.statement}
        for part in self.problem.subquestions:
            texts[part.letter] = f"{texts[part.letter]}\n{part.text}" if part.letter in texts else part.text
        return texts


def prepare(problem: ProblemSource, *, training: bool = False) -> PreparedProblem:
    """Prepare a problem for grading (loading it first if need be); the result serves for many solutions.

    Args:
        problem: whatever `load_problem` takes; what is prepared already, for `training` if that is asked for, is
            returned as it is.
        training: find the nodes that repeat the problem, so that grades have the policy `training` too, which gives
            nothing for a copy of what was given. It takes about as long as a grade.

    Errors:
        DataFileError: a problem file with faults, or with formulas that cost too much to be compared with.
    """
    if isinstance(problem, PreparedProblem) and (problem.given is not None or not training):
        return problem
    loaded = load_problem(problem)
    ways = [_prepare_reference(each, training=training) for each in (loaded, *loaded.alternatives)]
    known = frozenset[str]().union(*(way.task.known for way in ways))  # a step of one way is no own symbol by another
    first, *others = (replace(way, task=replace(way.task, known=known)) for way in ways)
    return replace(first, alternatives=tuple(others))


def in_alternative(prepared: PreparedProblem, name: str) -> PreparedProblem:
    """Return a prepared problem with the reference DAG that a grade names in `alternative`, alone.

    Errors:
        PrismError: the problem has no alternative of that name.
    """
    for each in (prepared, *prepared.alternatives):
        if each.problem.alternative == name:
            return replace(each, alternatives=())
    raise PrismError(f"problem {prepared.problem.id} has no alternative {name!r}")


def _prepare_reference(loaded: Problem, *, training: bool) -> PreparedProblem:
    """Prepare a problem with its own reference DAG only; arguments and errors as of `prepare`."""
    where = f"alternative {loaded.alternative}, " if loaded.alternative else ""
    if dear := find_dear_formulas(loaded):
        raise DataFileError(loaded.id, first_and_count([f"{where}{each}" for each in dear]))
    given: frozenset[int] | None = None
    if training:
        with share(GIVEN) as account:
            given = frozenset(node.index for node in find_given_nodes(loaded))
        if account.is_exhausted:
            why = f"{where}context: costs more than {GIVEN} operations to be compared with the nodes; state less in it"
            raise DataFileError(loaded.id, (why,))
    return replace(prepare_without(loaded, ()), given=given)


def prepare_without(loaded: Problem, nodes: Collection[int]) -> PreparedProblem:
    """Prepare a problem, without its alternatives, so that claims are not compared with the nodes of these indices."""
    asking = derive_expected_numbers(loaded)
    compared = [node for node in loaded.nodes if not node.is_text and node.index not in nodes]
    given = find_given_answers(loaded, {node.index for node in compared})
    references = share_subjects(
        [
            ReferenceNode(
                node.index, (node.formula, *node.accept), asking.specs[node.index], given=given.get(node.index, ())
            )
            for node in compared
        ],
        loaded.context,
    )
    answers = {
        node.index: answer
        for node in loaded.nodes
        if node.is_final and not node.is_text and (answer := final_answer_of(formulas_of(node), node.subquestion))
    }
    finals = {node.index for node in loaded.nodes if node.is_final}
    references = tuple(
        replace(node, shared_subjects=frozenset((quantity_of(node.formulas[0].members[0]),)))
        if node.index in finals and not node.subjects and node.formulas[0].kind == "equation"
        else node
        for node in references
    )
    shown = {node.index: formulas for node in references if (formulas := shown_by(node))}
    names = frozenset[str]().union(*(symbols_of(f) for each in references for f in each.formulas))
    return PreparedProblem(
        problem=loaded,
        task=MatchTask(references, loaded.context, loaded.context.declared | names, asking.known_values),
        final_answers=tuple(answers.values()),
        letters={node.index: node.subquestion for node in loaded.nodes if node.is_final and node.subquestion},
        guessable=frozenset(node.index for node in loaded.nodes if is_guessable(node)),
        shown=frozenset(shown),
        showing=_showing(shown, loaded.dag),
        rivals=rival_nodes(references),
        stated=(*stated_formulas(loaded), *(f for each in references for f in each.formulas)),
    )


def _showing(shown: Mapping[int, tuple[Formula, ...]], dag: ReferenceDag) -> dict[int, tuple[Formula, ...]]:
    """Map each node that leads to one of those to be shown to the formulas of these."""
    found: dict[int, tuple[Formula, ...]] = {}
    for k, formulas in shown.items():
        for index in ancestor_closure(dag, {k}) - {k}:
            found[index] = (*found.get(index, ()), *formulas)
    return found


def without_definitions(prepared: PreparedProblem) -> PreparedProblem:
    """Return a prepared problem whose grades substitute neither the problem's nor the solution's definitions."""
    context = replace(prepared.task.context, definitions=())
    task = replace(prepared.task, context=context, uses_definitions=False)
    return replace(prepared, task=task, alternatives=tuple(map(without_definitions, prepared.alternatives)))
