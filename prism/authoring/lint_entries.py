"""Lint of what stands beside the formulas of a problem: parts and answers, images, review, domain and subtopic.

Parts and answers belong to each other, and an answer is of the form that is asked for. An image is a file beside the
problem file that a page and a model can show. A person has looked at all of a drafted reference, and a certificate is
still of it. A domain is one that a vocabulary lists, so that reports count one field in one row.

How grave a name of its own is, the vocabulary says (`unknown`): shipped, a warning, since a problem is graded all the
same. A problem without domain has no finding, for many need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from prism.algebra.expr import Expr, spell
from prism.authoring.lint_findings import Kind, LintFinding, warning
from prism.equivalence.facts import numeric_of, subject_of
from prism.errors import PrismError, count_of
from prism.inputs import shown
from prism.physics.dimensions import dimension_text
from prism.physics.quantities import read_quantity
from prism.physics.tables import Dimension
from prism.problem.answers.numbers import ExpectedNumbers
from prism.problem.images import image_content, is_beside
from prism.problem.schema import Problem, ProblemNode, Subquestion
from prism.problem.vocabulary import Vocabulary, nearest_domains, nearest_subtopics


def check_final_names(problem: Problem) -> Iterator[LintFinding]:
    """Yield warnings for final answers about one symbol: of several only the last one counts (semantics C.2)."""
    finals = [node for node in problem.nodes if node.is_final and not node.is_text]
    named: dict[tuple[Expr, bool, str], int] = {}
    for node in finals:
        subject = subject_of(node.formula)
        if subject is None:
            continue
        key = subject, numeric_of(node.formula) is not None, node.subquestion
        if key in named:
            text = (
                f"it answers `{spell(subject)}` as node {named[key]} does, and the last of two answers on one quantity"
                " counts; give them names of their own, or the letters of two parts in `subquestion`"
            )
            yield warning("answers", f"node {node.index}", "formula", text)
        named[key] = node.index


def check_parts(problem: Problem) -> Iterator[LintFinding]:
    """Yield findings for parts without a final answer, final answers without a part, and answers of another form."""
    finals = [node for node in problem.nodes if node.is_final]
    lettered = {node.subquestion for node in finals if node.subquestion}
    parts = [part for part in problem.subquestions if part.letter]
    if parts and not lettered and len(finals) != len(parts):
        kind: Kind = "warning" if len(finals) < len(parts) or any(map(_asks_for_more, parts)) else "note"
        text = (
            f"there are {count_of(len(parts), 'part')} and {count_of(len(finals), 'final answer')} without a letter,"
            " so none belongs to a part;"
            " write `subquestion` on each final node"
        )
        yield LintFinding(kind, "unanswered", "", "subquestions", text)
    for part in parts:
        if lettered and part.letter not in lettered:
            text = "no final node answers it; write its letter in `subquestion` of the node that does"
            yield warning("unanswered", f"subquestion {part.letter}", "", text)
    for part in problem.subquestions:
        own = [node for node in finals if node.subquestion == part.letter or len(problem.subquestions) == 1]
        yield from _check_answer_form(part, own)


def _asks_for_more(part: Subquestion) -> bool:
    """Return True if a part sets significant figures or asks for an answer in words."""
    return part.significant_figures is not None or part.final_answer_form == "text-based"


def _check_answer_form(part: Subquestion, finals: list[ProblemNode]) -> Iterator[LintFinding]:
    """Yield findings for final answers of another form or dimension than their part asks for."""
    entry = f"subquestion {part.letter}" if part.letter else ""
    if not finals:
        return
    numbers = [number for node in finals if (number := numeric_of(node.formula)) is not None]
    if part.final_answer_form == "numerical" and not numbers:
        text = "is numerical, and no final node of it states a number; add the node, or write algebraic"
        yield warning("form", entry, "final_answer_form", text)
    if part.final_answer_form == "text-based" and not any(node.is_text for node in finals):
        text = r"is text-based, and no final node of it is in words; write one as `\text{...}`"
        yield LintFinding("note", "form", entry, "final_answer_form", text)
    wanted = _requested_dimension(part.final_answer_instructions)
    if wanted is None or len(numbers) != 1:
        return
    stated = numbers[0].number
    if stated.value and stated.dimension != wanted:
        text = (
            f"asks for an answer in {dimension_text(wanted)}, and the final node states one in"
            f" {dimension_text(stated.dimension)}; write its unit"
        )
        yield warning("dimension", entry, "final_answer_instructions", text)


def _requested_dimension(instructions: str) -> Dimension | None:
    """Return the dimension of answer instructions such as `in N/m`; None if they say anything else."""
    words = instructions.strip().rstrip(".").replace("$", "").removeprefix("in ")
    if words == instructions.strip().rstrip("."):
        return None
    try:
        return read_quantity(f"1 {words}").dimension
    except PrismError:
        return None


def check_figures(problem: Problem, expected: ExpectedNumbers) -> Iterator[LintFinding]:
    """Yield findings for numerical answers with no declared significant figures, or more than the answer shows."""
    for node in problem.nodes:
        number = numeric_of(node.formula)
        if not node.is_final or number is None or expected.specs[node.index].is_exact(number.number):
            continue
        declared = expected.specs[node.index].figures
        entry = f"subquestion {node.subquestion}" if node.subquestion else ""
        shown = number.number.figures
        if declared is None:
            text = (
                f"is missing; the answer of node {node.index} is held to the {count_of(shown, 'figure')} that it shows"
            )
            yield LintFinding("note", "figures", entry, "significant_figures", text)
        elif declared > shown and expected.specs[node.index].recomputed is None:
            text = f"is {declared}, and the answer of node {node.index} shows {shown}; write it with {declared}"
            yield warning("figures", entry, "significant_figures", text)


def check_images(problem: Problem) -> Iterator[LintFinding]:
    """Yield a warning for each image that is not there or cannot be shown, and one that has no caption.

    A location out of the folder is a warning of the load already; without a folder no file is looked for.
    """
    for place, image in enumerate(problem.images, start=1):
        entry = f"images, entry {place}"
        if image.folder is not None and is_beside(image):
            try:
                image_content(image)
            except PrismError as error:
                yield warning("image", entry, "location", str(error))
        if not image.caption:
            text = (
                "has no caption: a model that reads text only, and a reader who sees no pictures, learns nothing of it"
            )
            yield LintFinding("note", "image", entry, "caption", text)


def check_review(problem: Problem) -> Iterator[LintFinding]:
    """Yield a warning for what is not reviewed, and one for a certificate that does not hold."""
    found = problem.review
    if found.open:
        counts = [count_of(found.count(kind), kind) for kind in ("node", "edge", "question") if found.count(kind)]
        nodes = dict.fromkeys(f"{each.node} of {each.way}" if each.way else str(each.node) for each in found.open)
        text = f"{', '.join(counts)} not reviewed, at nodes {', '.join(nodes)}; `prism desk` goes through them"
        yield warning("unreviewed", "", "", text)
    if found.certified_by and found.open:
        yield warning("certificate", "", "certified_by", "certified, and not all of it is reviewed")
    elif found.certified_by and not found.is_current:
        text = f"{found.certified_by} has certified something else: statement, nodes or edges were changed since"
        yield warning("certificate", "", "certified_by", text)


def check_vocabulary(problem: Problem, known: Vocabulary) -> Iterator[LintFinding]:
    """Yield a finding for a domain or subtopic that the vocabulary does not list, with the nearest that it does."""
    kind = cast("Kind", known.unknown)
    domain, subtopic = problem.domain, problem.subtopic
    if domain and domain not in known.schemes:
        near = _suggestion(nearest_domains(domain, known)) or f"; domains are {', '.join(known.schemes)}"
        yield LintFinding(kind, "vocabulary", "", "domain", f"the vocabulary has no domain {shown(domain)}{near}")
    if not subtopic:
        return
    homes = [name for name, listed in known.subtopics.items() if subtopic in (listed or ())]
    if not domain:
        where = f"; {shown(subtopic)} is one of {' and of '.join(homes)}" if homes else ""
        text = f"says nothing without a domain{where}"
        yield LintFinding(kind, "vocabulary", "", "subtopic", text)
        return
    listed = known.subtopics.get(domain)
    if listed is None or subtopic in listed:
        return
    near = f"; it is one of {' and of '.join(homes)}" if homes else _suggestion(nearest_subtopics(subtopic, listed))
    near = near or f"; subtopics are {_by_scheme(known.schemes[domain] or {})}"
    text = f"the vocabulary has no subtopic {shown(subtopic)} of {domain}{near}"
    yield LintFinding(kind, "vocabulary", "", "subtopic", text)


def _by_scheme(schemes: Mapping[str, Sequence[str]]) -> str:
    """Return the names of subtopics, those of a scheme with a name behind it."""
    return "; ".join(", ".join(names) + (f" ({scheme})" if scheme else "") for scheme, names in schemes.items())


def _suggestion(names: Sequence[str]) -> str:
    """Return the question whether one of these names is meant; empty without any."""
    return f"; did you mean {' or '.join(map(shown, names))}?" if names else ""
