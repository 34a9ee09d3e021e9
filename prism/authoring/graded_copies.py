"""Made-up solutions that copy the formulas of a reference, graded: what the linter asks the grader.

Before anything is graded by a reference, `find_unmatchable` asks whether it can be: each node has to match a copy of
its own formula. A formula of the plain kind, `v = ...`, that is read out of a text as it stands in the file needs no
grade for that; the others are graded, each by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from prism.algebra.expr import Formula, spell, symbols, symbols_of
from prism.authoring.lint_findings import LintFinding
from prism.budget import CHARACTER, SOLUTION
from prism.equivalence.facts import subject_of
from prism.errors import LatexSyntaxError
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare_without
from prism.grading.prepared_files import keep_made, read_made
from prism.grading.result import GradedFormula, reason_in_words
from prism.grading.selection import WITHHELD_REASONS
from prism.latex import LeftOut, extract, one_line, parse
from prism.physics import context as in_context
from prism.problem.answers import is_nameless
from prism.problem.schema import Problem, ProblemNode, formulas_of

_BETWEEN = "We write "  # words between two formulas, so that the second does not continue the first


@dataclass(frozen=True, slots=True)
class GradedCopy:
    """The grade of a made-up solution that copies one formula of every node.

    Attributes:
        formulas: graded formulas of the copy of each node, by index; several if it was split, empty if not extracted.
        failed: where the grader failed, with the error.
        is_cut: the operations did not suffice to grade all of it.
    """

    formulas: Mapping[int, tuple[GradedFormula, ...]]
    failed: tuple[str, ...]
    is_cut: bool = False


def as_answer(node: ProblemNode) -> str:
    r"""Return the LaTeX of a node, in a box if it is a final answer that its author gives bare."""
    is_bare = node.formula.kind == "equation" and is_nameless(node.formula.members[0])
    return rf"\boxed{{{node.latex}}}" if is_bare else node.latex


def accepted_text(accepted: Formula) -> str:
    """Return the LaTeX of what is accepted in place of a node, behind its quantity where its author gives it bare."""
    if parse(accepted.latex).kind != "expression":
        return accepted.latex
    if is_nameless(accepted.members[0]):
        return rf"\boxed{{{accepted.latex}}}"
    subject = subject_of(accepted)
    return accepted.latex if subject is None else f"{spell(subject)} = {accepted.latex}"


def grade_copy(problem: PreparedProblem, texts: Mapping[int, str], operations: float) -> GradedCopy:
    """Grade a made-up solution that states these formulas (by node index) one after the other."""
    if operations < 1:
        return GradedCopy({}, (), is_cut=True)
    solution = ""
    spans: dict[int, tuple[int, int]] = {}
    for index, latex in texts.items():
        start = len(solution)
        solution += f"{_BETWEEN}{_displayed(latex)}\n\n"
        spans[index] = (start, len(solution))
    result = grade(problem, solution, budget=int(min(operations, SOLUTION + CHARACTER * len(solution))))
    formulas = {
        index: tuple(item for item in result.formulas if start <= item.span[0] < end and item.kind != "text")
        for index, (start, end) in spans.items()
    }
    failed = tuple(f"{incident.where}: {incident.detail}" for incident in result.incidents)
    return GradedCopy(formulas, failed, result.status == "too_large" and result.left_out == LeftOut())


def _displayed(latex: str) -> str:
    """Return LaTeX between `$$`, unless it has delimiters already."""
    inner = latex.strip()
    return inner if inner.startswith(("$", r"\[", r"\(")) else f"$$ {inner} $$"


def reason_unmatched(index: int, copy: GradedCopy) -> str:
    """Return why a copy of node `index` does not match it, with advice; empty if it does, or if that is not known."""
    items = copy.formulas.get(index, ())
    refusals = [reason for item in items for node, reason in item.withheld if node == index]
    if any(index in item.nodes for item in items) or "guessed" in refusals:
        return ""  # a guessed formula waits for a prerequisite, which has a finding of its own
    if copy.is_cut:
        return ""
    if refusals:
        is_chain = refusals[0] == "broken_chain"
        advice = (
            "correct the chain, or give its links their own nodes" if is_chain else "give each quantity its own name"
        )
        return f"a copy of the whole reference does not match it ({WITHHELD_REASONS[refusals[0]]}); {advice}"
    if not items:
        return "it is not found as a formula in a text, so no solution matches it; write it as one equation in LaTeX"
    item = items[0]
    if item.status == "mention":
        return (
            "a lone symbol or number states nothing: a copy earns nothing, any equation with it does; write an equation"
        )
    if item.reason == "identity":
        return "it says nothing about any variable, so no formula matches it; write what it follows from"
    reason = one_line(reason_in_words(item))
    return f"a copy of it does not match it ({reason}); write it in another form, or as several nodes"


def find_unmatched_words(problem: PreparedProblem, node: ProblemNode, operations: float) -> Iterator[LintFinding]:
    """Yield a fault for each form of an answer in words that a solution made of the same words does not match."""
    for place, words in enumerate((node.formula, *node.accept)):
        result = grade(problem, f"Answer: {words.latex}", budget=int(min(operations, SOLUTION)))
        items = [item for item in result.formulas if item.kind == "text"]
        if not any(node.index in (*item.nodes, *(other for other, _ in item.withheld)) for item in items):
            detail = next((item.detail for item in items), "")
            text = (
                f"its own words do not match it ({detail}); list the options in final_answer_instructions, as in "
                "\"should be 'stable/unstable'\", and state one of them"
            )
            key = f"accept, entry {place}" if place else "formula"
            yield LintFinding("fault", "unmatched", f"node {node.index}", key, text)


# Can a reference be graded with? ----------------------------------------------------------------------------------


def find_unmatchable(problem: Problem) -> tuple[LintFinding, ...]:
    """Return a fault for each node that no solution matches, since not even a copy of its formula does.

    All of them are faults of `lint`, which looks for more: nodes that take each other's credit, forms to accept.
    """
    found: list[LintFinding] = []
    for way in (problem, *problem.alternatives):
        where = f"alternative {way.alternative}, " if way.alternative else ""
        found += [replace(each, entry=f"{where}{each.entry}") for each in _unmatchable_nodes(way)]
    return tuple(found)


def kept_unmatchable(problem: Problem) -> tuple[LintFinding, ...]:
    """Return what `find_unmatchable` does, found once for what a file holds and kept on disk."""
    if isinstance(kept := read_made(problem.sha256, "unmatchable"), tuple):
        return kept
    found = find_unmatchable(problem)
    if not problem.images:
        keep_made(problem.sha256, "unmatchable", found)
    return found


def unmatchable_of_prepared(prepared: PreparedProblem, _: object) -> tuple[LintFinding, ...]:
    """Return what `kept_unmatchable` does for the problem of a task: a job of the workers of a run."""
    return kept_unmatchable(prepared.problem)


def _unmatchable_nodes(way: Problem) -> Iterator[LintFinding]:
    """Yield a fault for each node of one reference DAG that a copy of it does not match."""
    known = way.context.declared.union(*(symbols_of(f) for node in way.nodes for f in formulas_of(node)))
    for node in way.nodes:
        if not node.is_text and _is_read_as_written(node, way, known):
            continue
        alone = prepare_without(way, {other.index for other in way.nodes if other is not node})
        if node.is_text:
            yield from (each for each in find_unmatched_words(alone, node, SOLUTION) if each.field == "formula")
            continue
        copy = grade_copy(alone, {node.index: as_answer(node)}, math.inf)
        if why := reason_unmatched(node.index, copy):
            yield LintFinding("fault", "unmatched", f"node {node.index}", "formula", why)


def _is_read_as_written(node: ProblemNode, way: Problem, known: frozenset[str]) -> bool:
    """Return True if a formula, which says what one symbol is, comes out of a text as the one that the file states."""
    f = node.formula
    if f.kind != "equation" or len(f.members) != 2 or not _names_one_side(f):
        return False
    text = f"{_BETWEEN}{_displayed(as_answer(node))}"
    items = list(extract(text, macros=way.context.macros, symbols=known))
    try:
        read = [in_context.parse(item.latex, context=way.context) for item in items]
    except LatexSyntaxError:
        return False
    return len(read) == 1 and (read[0].kind, read[0].members) == (f.kind, f.members)


def _names_one_side(f: Formula) -> bool:
    """Return True if one side of an equation is a symbol that the other one does not have: then it says something."""
    return any(side.op == "sym" and not symbols(side) & symbols(other) for side, other in (f.members, f.members[::-1]))
