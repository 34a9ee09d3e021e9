"""A problem made ready to grade: its reference formulas, final answers and rival nodes, gathered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from prism.algebra.expr import Formula, symbols_of
from prism.equivalence.numbers import numeric_of
from prism.equivalence.substitutions import subject_of
from prism.grading.located_claims import Question
from prism.grading.match_matrix import Reference, Setting, kin_of, with_shared_subjects
from prism.grading.selection import is_guessable
from prism.problem.expected_numbers import asking_of
from prism.problem.given_nodes import given_nodes
from prism.problem.schema import Problem, load_problem


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to grade.

    Attributes:
        setting: its nodes, and what claims are compared with them by.
        questions: final answers that a box without a subject may give.
        letters: of each final answer its part, if it has one. Another node is no answer: it may be said anywhere.
        guessable: nodes that count only where something that they follow from is achieved.
        kin: of each node those that say something else of the same.
        given: nodes that repeat what the problem says; None where the policy for training is not asked for.
    """

    problem: Problem
    setting: Setting
    questions: tuple[Question, ...]
    letters: Mapping[int, str]
    guessable: frozenset[int]
    kin: Mapping[int, frozenset[int]] = field(default_factory=dict, hash=False)
    given: frozenset[int] | None = None


def prepare(problem: Problem | Path | str | Mapping[str, object], *, training: bool = False) -> PreparedProblem:
    """Load what is not loaded and gather the reference formulas; do it once for many solutions.

    Args:
        training: find the nodes that repeat the problem, so that grades have the policy `training` too, which gives
            nothing for a copy of what was given. It takes about as long as a grade.

    Errors:
        DataFileError: a problem file with faults.
    """
    loaded = problem if isinstance(problem, Problem) else load_problem(problem)
    asking = asking_of(loaded)
    references = tuple(
        Reference(node.index, (node.formula, *node.accept), asking.nodes[node.index])
        for node in loaded.nodes
        if not node.is_text
    )
    own = frozenset[str]().union(*(symbols_of(f) for each in references for f in each.formulas))
    finals = [
        (node.subquestion, subject_of(node.formula), _has_unit(node.formula))
        for node in loaded.nodes
        if node.is_final and not node.is_text
    ]
    references = with_shared_subjects(references, loaded.context)
    setting = Setting(references, loaded.context, loaded.context.declared | own, asking.worth)
    return PreparedProblem(
        loaded,
        setting,
        tuple(Question(letter, subject, has_unit) for letter, subject, has_unit in finals if subject is not None),
        {node.index: node.subquestion for node in loaded.nodes if node.is_final and node.subquestion},
        frozenset(node.index for node in loaded.nodes if is_guessable(node)),
        kin_of(setting),
        frozenset(given.index for given in given_nodes(loaded, asking)) if training else None,
    )


def _has_unit(f: Formula) -> bool:
    numeric = numeric_of(f)
    return numeric is not None and numeric.number.unit is not None


def without_definitions(prepared: PreparedProblem) -> PreparedProblem:
    """The same problem, for grades that use neither its definitions nor those of the solution."""
    setting = replace(
        prepared.setting, context=replace(prepared.setting.context, definitions=()), uses_definitions=False
    )
    return replace(prepared, setting=setting)
