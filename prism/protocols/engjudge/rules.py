r"""What the rules of PRISM decide of EngJudge's stages and checks, from a grade and its diagnosis.

- Which stages are there: from the tags of the text.
- ES, from the nodes without prerequisites. All matched: 10. One shown to be wrong by its repair: MAJOR. Units that
  cannot agree: cap 2.
- AA, from all other formulas. A refuted link; a repair of sign, factor, exponent or relation; a wrong number: MAJOR. A
  conversion: MODERATE. A number off by its last figure, or by 5 % at most: MINOR. A wrong number counts where all that
  it follows from is credited; a wrong law may have made it otherwise. Units that cannot agree: cap 2. All other nodes
  credited: 10.
- FA. Numbers: bands, unit, figures, missing. Formulas: matched, or shown to be others: MAJOR. A value that sanity
  refuses: cap 2.
- Coverage: MAJOR for each asked quantity of which no formula speaks.
- Sanity fails for a value that `engjudge_sanity` refuses.

Everything else is left undecided, and so is a part where a formula that could not be read or decided, or a letter that
the problem does not have, may be what is looked for. A slip counts once, in the formula that makes it: what follows
from it costs nothing more. CRITICAL is given for an order of magnitude only: how grave a wrong law is, is a judgement.

Source: EngVQA / EngJudge, arXiv 2606.10833; which rule decides what is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import EQUALITIES, Formula, symbols_of, walk
from prism.budget import CONSEQUENCES, share
from prism.diagnosis.findings import Diagnosis, FormulaDiagnosis, diagnose
from prism.diagnosis.wording import Difference
from prism.equivalence.chains.links import check_link
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.features import claimed_number
from prism.equivalence.numbers.stated import Numeric, StatedNumber, stated_number
from prism.equivalence.statements import statements_of
from prism.errors import LatexSyntaxError
from prism.grading.claims.own_symbols import letter_of
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula
from prism.latex import solution_text
from prism.physics.context import parse
from prism.physics.quantities import single_unit
from prism.physics.tables import Unit
from prism.protocols.engjudge.findings import (
    CAPS,
    CORRECT_WITHIN,
    DIMENSION,
    IMPOSSIBLE,
    SEVERITIES,
    Band,
    error_band,
    overall_band,
    relative_error,
)
from prism.protocols.engjudge.sanity import ImpossibleValue, StatedValue, find_impossible
from prism.protocols.engjudge.scoring import FULL, PENALTIES, stage_totals
from prism.protocols.engjudge.topology import TaggedStages, stages_of
from prism.runs.rollouts import Rollout

REPAIRED = frozenset(
    ("sign", "relation", "factor", "exponent", "function", "symbol", "quantity_missing", "quantity_extra",
     "term_missing", "term_extra")
)  # fmt: skip
"""Kinds of difference that a repair shows in an equation."""

ALGEBRA = {
    "sign": "MAJOR", "relation": "MAJOR", "factor": "MAJOR", "exponent": "MAJOR", "arithmetic": "MAJOR",
    "value": "MAJOR", "unit": "MODERATE",
}  # fmt: skip
"""What a difference costs in ALGEBRAIC_ACCURACY, by its kind; a number that is off as by rounding is MINOR."""

SAME_DIGITS = Fraction(1, 100)  # relative: within it two numbers are the same one, in another unit
_CHAIN = 3  # members of the shortest chain
_CANNOT_AGREE = "dimension"  # the kind of difference that is a cap
_DIFFERENCE_NAMES = (r"\Delta ", r"\delta ")  # zero points of units cancel in them


@dataclass(frozen=True, slots=True)
class RuledPart:
    """A stage or check that rules decided: its score, 0 to 10, and what was found."""

    score: Fraction
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuledSolution:
    """What rules decide of a solution.

    Attributes:
        tags: the stages of its text.
        stages: those that are decided, by full name.
        coverage: None where it is not decided.
        insane: values that cannot be; sanity fails if there are any, and is not decided otherwise.
        final_correct: as in the grade.
    """

    tags: TaggedStages
    stages: Mapping[str, RuledPart] = field(default_factory=dict, hash=False)
    coverage: RuledPart | None = None
    insane: tuple[str, ...] = ()
    final_correct: bool = False


@dataclass(frozen=True, slots=True)
class _ReadItem:
    """A formula of the solution that states something.

    Attributes:
        position: its place in `Grade.formulas`. graded: the formula there. written: as it was read.
        statements: what it states. numbers: those of them that give a quantity a number.
        bare: the number of an answer in a box that names no quantity.
    """

    position: int
    graded: GradedFormula
    written: Formula
    statements: tuple[Formula, ...]
    numbers: tuple[Numeric, ...]
    bare: StatedNumber | None = None

    def numbers_of(self, node: ReferenceNode) -> tuple[StatedNumber, ...]:
        """Return the numbers that it gives for what a node is solved for."""
        named = tuple(each.number for each in self.numbers if each.subject in node.subjects)
        is_meant = node.index in (*self.graded.nodes, self.graded.nearest)
        return named if self.bare is None or not is_meant else (*named, self.bare)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A graded and diagnosed solution, with the reference DAG that counts.

    Attributes:
        items: its formulas that state something. diagnosed: findings by position.
        impossible: values that cannot be.
        is_open: something that could not be read or decided, or a letter that the problem does not have, may be
            whatever is looked for.
    """

    prepared: PreparedProblem
    grade: Grade
    diagnosis: Diagnosis
    items: tuple[_ReadItem, ...]
    diagnosed: Mapping[int, FormulaDiagnosis]
    impossible: tuple[ImpossibleValue, ...]
    is_open: bool

    @property
    def sources(self) -> frozenset[int]:
        """Nodes without prerequisites."""
        return frozenset(node.index for node in self.prepared.problem.dag.nodes if not node.prerequisites)


def apply_rules(prepared: PreparedProblem, rollout: Rollout, grade: Grade) -> RuledSolution:
    """Return what rules decide of a graded rollout (called beside its grade, see `graded_rollouts`)."""
    tags = stages_of(solution_text(rollout.solution))
    if "no_formulas" in grade.flags:  # nothing could be read: a person has to look
        return RuledSolution(tags, final_correct=grade.final_correct)
    diagnosis = diagnose(prepared, grade)
    evidence = _collect(in_alternative(prepared, grade.alternative), grade, diagnosis)
    decided = {
        "EQUATION_SELECTION": _rule_equations(evidence),
        "ALGEBRAIC_ACCURACY": _rule_algebra(evidence),
        "FINAL_ANSWER": _rule_answer(evidence),
    }
    return RuledSolution(
        tags,
        {name: part for name, part in decided.items() if part is not None},
        _rule_coverage(evidence),
        tuple(f"{each.value.name}: {each.why}" for each in evidence.impossible),
        grade.final_correct,
    )


def _collect(prepared: PreparedProblem, grade: Grade, diagnosis: Diagnosis) -> _Evidence:
    """Read the formulas of a grade once more, for the symbols and numbers that they state."""
    task = prepared.task
    items = []
    is_open = grade.status != "ok" or bool(grade.unread or grade.undecided)
    for position, item in enumerate(grade.formulas):
        if item.status in ("mention", "unread") or item.kind == "text":
            continue
        try:
            written = parse(item.latex, context=task.context)
        except LatexSyntaxError:  # a bare answer that was read as a formula of its quantity
            is_open = True
            continue
        statements = tuple(each.formula for each in statements_of(written))
        numbers = tuple(found for f in statements if (found := claimed_number(f, task.context)) is not None)
        is_bare = item.kind == "boxed" and any(f.kind == "expression" for f in statements)
        bare = stated_number(written.members[0]) if is_bare and len(written.members) == 1 else None
        items.append(_ReadItem(position, item, written, statements, numbers, bare))
        is_bare = is_bare and (bare is None or item.nearest is None)
        own = any(not name.startswith(r"\unit{") for name in symbols_of(written) - task.known)
        is_open = is_open or item.reason == "too_large" or (item.status == "different" and (is_bare or own))
    values = [
        StatedValue(each.subject.name, each.number, item.position, is_result=item.graded.kind in ("display", "boxed"))
        for item in items
        if item.graded.status == "different" and not _is_right(diagnosis, item.position)
        for each in item.numbers
        if each.subject.op == "sym"
    ]
    return _Evidence(
        prepared, grade, diagnosis, tuple(items), {each.position: each for each in diagnosis.findings},
        find_impossible(values, prepared.question, task.context), is_open,
    )  # fmt: skip


def _is_right(diagnosis: Diagnosis, position: int) -> bool:
    """Return True if a formula that matches no node is right, as a given is."""
    return any(each.position == position and each.status == "right" for each in diagnosis.findings)


def _decide(penalties: Sequence[tuple[str, str]], caps: Iterable[tuple[str, str]] = ()) -> RuledPart:
    """Return a part from (severity, why) of its faults and (key of CAPS, why) of its caps."""
    listed = [(CAPS[kind][0], kind, why) for kind, why in caps]
    totals = stage_totals((PENALTIES[severity] for severity, _ in penalties), (points for points, _, _ in listed))
    told = [f"cap {points}: {kind}: {why}" for points, kind, why in listed]
    return RuledPart(totals.capped, (*told, *(f"{word} {PENALTIES[word]}: {why}" for word, why in penalties)))


# Equations and algebra. ---------------------------------------------------------------------------------------------


def _wrong(evidence: _Evidence) -> Iterator[tuple[Difference, int]]:
    """Yield the difference and position of each formula that is surely wrong by itself.

    Units that cannot agree within a formula are the fault of no node; they count at the node that it was most likely
    meant for. Left out: another name for what a formula is solved for, and degrees Celsius that are added to kelvins.
    """
    items = {item.position: item for item in evidence.items}
    for each in evidence.diagnosis.findings:
        item = items.get(each.position)
        if each.status != "wrong" or each.difference is None or item is None:
            continue
        difference = each.difference
        is_renamed = difference.kind == "symbol" and _is_subject(difference.has, item, evidence)
        if not is_renamed and not (difference.kind == _CANNOT_AGREE and _has_zero_point(item.written)):
            is_placed = difference.node is not None or difference.kind != _CANNOT_AGREE
            yield difference if is_placed else replace(difference, node=item.graded.nearest), each.position


def _is_subject(latex: str, item: _ReadItem, evidence: _Evidence) -> bool:
    """Return True if a part of a formula is what it is solved for."""
    subjects = [subject_of(f) for f in item.statements]
    try:
        part = parse(latex, context=evidence.prepared.task.context).members[0]
    except LatexSyntaxError:
        return False
    return part in subjects


def _has_zero_point(f: Formula) -> bool:
    """Return True if a unit of a formula has a zero point of its own, as degrees Celsius."""
    units = (single_unit(node) for member in f.members for node in walk(member) if node.op == "unit")
    return any(unit is not None and unit.offset for unit in units)


def _in_place(difference: Difference, position: int) -> str:
    """Return what differs and where: `sign at node 3, formula 5`, formulas counted from 1."""
    node = "" if difference.node is None else f" at node {difference.node}"
    return f"{difference.kind}{node}, formula {position + 1}"


def _rule_equations(evidence: _Evidence) -> RuledPart | None:
    """Decide EQUATION_SELECTION by the nodes without prerequisites; None where some are neither right nor wrong."""
    sources = evidence.sources
    numbers = {item.position for item in evidence.items if item.numbers}
    faults = [(each, at) for each, at in _wrong(evidence) if each.node in sources]
    repaired = [("MAJOR", each, at) for each, at in faults if each.kind in REPAIRED and at not in numbers]
    caps = [(DIMENSION, each, at) for each, at in faults if each.kind == _CANNOT_AGREE]
    if repaired or caps:
        return _decide(_once(repaired), _once(caps))
    if sources <= set(evidence.grade.matched):
        return RuledPart(FULL, (f"equations: {_nodes(sources)} matched",))
    return None


def _once(slips: Iterable[tuple[str, Difference, int]]) -> list[tuple[str, str]]:
    """Return (what it costs, where it is) of each slip, the first of those that are the same: one that is repeated.

    Slips of one kind at one node are the same, and two members of a chain that are not equal, wherever they stand.
    """
    first: dict[tuple[object, ...], tuple[str, str]] = {}
    for cost, each, at in sorted(slips, key=lambda slip: slip[2]):
        key = (each.kind, each.node) if each.node is not None else (each.kind, each.has, each.should)
        first.setdefault(key, (cost, _in_place(each, at)))
    return list(first.values())


def _rule_algebra(evidence: _Evidence) -> RuledPart | None:
    """Decide ALGEBRAIC_ACCURACY by slips that are shown, or by all nodes with prerequisites being credited.

    None where neither is so.
    """
    later = set(evidence.prepared.problem.dag.indices) - evidence.sources
    slips, unfit = [], []
    for each, at in _wrong(evidence):
        if each.node in evidence.sources:
            continue
        if each.kind == _CANNOT_AGREE:
            unfit.append((DIMENSION, each, at))
        elif each.label != "undetermined" and each.kind in ALGEBRA and _has_known_origin(each, at, evidence):
            severity = _severity(each, evidence)
            slips += [(severity, each, at)] if severity else []
    penalties, caps = _once(slips), _once(unfit)
    penalties += [("MAJOR", f"arithmetic, formula {at + 1}") for at in _broken_chains(evidence)]
    if penalties or caps:
        return _decide(penalties, caps)
    if later and later <= set(evidence.grade.credited) and evidence.diagnosis.is_complete:
        return RuledPart(FULL, (f"algebra: {_nodes(later)} credited",))
    return None


def _has_known_origin(difference: Difference, position: int, evidence: _Evidence) -> bool:
    """Return False for a number of a node whose prerequisites are not all credited: a wrong law may have made it."""
    if difference.node is None:
        return True
    nodes = {each.index: each for each in evidence.prepared.problem.dag.nodes}
    is_number = any(item.position == position and item.numbers for item in evidence.items)
    return not is_number or set(nodes[difference.node].prerequisites) <= set(evidence.grade.credited)


def _broken_chains(evidence: _Evidence) -> list[int]:
    """Return the position of each chain with a refuted link that no diagnosis looked at: it says what a node says."""
    found: list[int] = []
    with share(CONSEQUENCES):
        for item in evidence.items:
            f = item.written
            if item.position in evidence.diagnosed or len(f.members) < _CHAIN or not EQUALITIES.issuperset(f.relations):
                continue
            links = [check_link(*pair, evidence.prepared.task.context) for pair in pairwise(f.members)]
            found += [item.position] if any(link.status == "refuted" for link in links) else []
    return found


def _severity(difference: Difference, evidence: _Evidence) -> str:
    """Return what a slip in the algebra costs; empty for a number whose unit is missing: FINAL_ANSWER says that."""
    has, should = (_number_in(text, evidence) for text in (difference.has, difference.should))
    if has is None or should is None:
        return ALGEBRA[difference.kind]
    if difference.kind == "unit" and has.unit is None:
        return ""
    if difference.kind == "value" and has.dimension == should.dimension and has.in_si * should.in_si > 0:
        gap, figure = abs(has.in_si - should.in_si), has.ulp * (has.unit.factor if has.unit else 1)
        return "MINOR" if gap <= max(figure, CORRECT_WITHIN * abs(should.in_si)) else ALGEBRA["value"]
    return ALGEBRA[difference.kind]


def _number_in(text: str, evidence: _Evidence) -> StatedNumber | None:
    """Return the number that a part of a difference is; None for anything else."""
    try:
        return stated_number(parse(text, context=evidence.prepared.task.context).members[0]) if text else None
    except LatexSyntaxError:
        return None


def _nodes(indices: Iterable[int]) -> str:
    """Return `node 4` or `nodes 1, 2`."""
    listed = sorted(indices)
    return f"node{'s' * (len(listed) > 1)} {', '.join(map(str, listed))}"


# The final answer. --------------------------------------------------------------------------------------------------


class _AnswerState(StrEnum):
    """Where the answer to one question stands, beyond the band of its value."""

    MISSING = "missing"
    UNDECIDED = "undecided"
    JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class _JudgedAnswer:
    """The answer to one question: node, state and band, `why` it has this band, faults of unit and figures in words.

    All three texts are empty where there is nothing to say.
    """

    node: int
    state: _AnswerState
    band: Band = Band.CORRECT
    why: str = ""
    unit: str = ""
    figures: str = ""


def _rule_answer(evidence: _Evidence) -> RuledPart | None:
    """Decide FINAL_ANSWER from all final nodes; None where one of them is not decided."""
    answers = [_judge_answer(index, evidence) for index in sorted(evidence.prepared.problem.dag.finals)]
    if any(each.state is _AnswerState.UNDECIDED for each in answers):
        return None
    judged = [each for each in answers if each.state is _AnswerState.JUDGED]
    band = overall_band(each.band for each in judged)
    penalties: list[tuple[str, str]] = []
    if band is not Band.CORRECT:
        penalties.append((SEVERITIES[band], "; ".join(each.why for each in judged if each.band is not Band.CORRECT)))
    penalties += [("MAJOR", f"missing: node {each.node}") for each in answers if each.state is _AnswerState.MISSING]
    if units := [each.unit for each in judged if each.unit]:
        penalties.append(("MODERATE", "; ".join(units)))
    if figures := [each.figures for each in judged if each.figures]:
        penalties.append(("MINOR", "; ".join(figures)))
    finals = {name for index in evidence.prepared.problem.dag.finals for name in _names_of(_reference(index, evidence))}
    caps = [(IMPOSSIBLE, f"{each.value.name}: {each.why}") for each in evidence.impossible if each.value.name in finals]
    if not penalties and not caps:
        return RuledPart(FULL, (f"answers: {_nodes(each.node for each in judged)} right",))
    return _decide(penalties, caps)


def _reference(index: int, evidence: _Evidence) -> ReferenceNode | None:
    """Return a node as claims are compared with it; None for an answer in words."""
    return next((each for each in evidence.prepared.task.references if each.index == index), None)


def _names_of(node: ReferenceNode | None) -> frozenset[str]:
    """Return the symbols that a node is solved for."""
    if node is None:
        return frozenset()
    return frozenset(each.name for each in node.subjects if each.op == "sym")


def _judge_answer(index: int, evidence: _Evidence) -> _JudgedAnswer:
    """Judge the answer to one question: matched, another formula or number, missing, or undecided."""
    node = _reference(index, evidence)
    is_matched = index in evidence.grade.matched
    open_answer = _JudgedAnswer(index, _AnswerState.UNDECIDED)
    if node is None:
        return _JudgedAnswer(index, _AnswerState.JUDGED) if is_matched else open_answer
    wanted = next((found for f in node.formulas if (found := numeric_of(f)) is not None), None)
    if is_matched:
        stated = _matching_number(node, evidence)
        if wanted is None or stated is None:
            return _JudgedAnswer(index, _AnswerState.JUDGED)
        unit, figures = _unit_fault(wanted, stated, node), _figure_fault(wanted, stated, node)
        return _JudgedAnswer(index, _AnswerState.JUDGED, unit=unit, figures=figures)
    if any(index == found for item in evidence.grade.formulas for found, _ in item.withheld):
        return open_answer
    if wanted is not None and (stated := _last_number(node, evidence)) is not None:
        return _judge_number(node, wanted, stated)
    if _is_shown_to_differ(node, evidence):
        return _JudgedAnswer(index, _AnswerState.JUDGED, Band.MAJOR, f"different: node {index}")
    return _JudgedAnswer(index, _AnswerState.MISSING) if _is_not_claimed(node, evidence) else open_answer


def _matching_number(node: ReferenceNode, evidence: _Evidence) -> StatedNumber | None:
    """Return the last number of a formula that matches a node; None if there is none."""
    found = [each for item in evidence.items if node.index in item.graded.nodes for each in item.numbers_of(node)]
    return found[-1] if found else None


def _last_number(node: ReferenceNode, evidence: _Evidence) -> StatedNumber | None:
    """Return the number that a solution states for what a node is solved for: the last one in a box, else the last.

    Only numbers of formulas that differ from the node count; None if there is none.
    """
    found = [
        (item.graded.kind == "boxed", item.position, each)
        for item in evidence.items
        if item.graded.status == "different"
        for each in item.numbers_of(node)
    ]
    return max(found, key=lambda each: each[:2])[2] if found else None


def _judge_number(node: ReferenceNode, wanted: Numeric, stated: StatedNumber) -> _JudgedAnswer:
    """Judge a number that is not the node's: its band, its unit, its figures.

    Where the digits are the right ones as they are written, or in coherent units for a number without any, only the
    unit is wrong.
    """
    target = wanted.number.value if node.number_spec.recomputed is None else node.number_spec.recomputed
    readings = [_in_wanted_unit(wanted, stated, in_unit) for in_unit in (stated.unit, wanted.number.unit, None)]
    values = [value for value in readings if value is not None]
    band = error_band(values[0], target)
    if band is None:
        return _JudgedAnswer(node.index, _AnswerState.UNDECIDED)
    unit, figures = _unit_fault(wanted, stated, node), _figure_fault(wanted, stated, node)
    is_same = any((relative_error(value, target) or Fraction(0)) <= SAME_DIGITS for value in values[1:])
    if band is not Band.CORRECT and is_same:
        wrong = unit or f"unit: node {node.index}"
        return _JudgedAnswer(node.index, _AnswerState.JUDGED, unit=wrong, figures=figures)
    error = relative_error(values[0], target) or Fraction(0)
    why = f"{float(100 * error):.3g} % off: node {node.index}"
    return _JudgedAnswer(node.index, _AnswerState.JUDGED, band, why, unit, figures)


def _in_wanted_unit(wanted: Numeric, stated: StatedNumber, unit: Unit | None) -> Fraction | None:
    """Return a stated value, read in a unit, in the unit of the wanted one; None for another dimension.

    Args:
        unit: None for the coherent unit, where the number has none itself.
    """
    own = wanted.number.unit
    if unit == own:
        return stated.value
    if unit is None:
        if stated.unit is not None or own is None:
            return None
        return (stated.value - own.offset) / _size_of(own)
    if unit.dimension != wanted.number.dimension:
        return None
    is_difference = wanted.subject.op == "sym" and wanted.subject.name.startswith(_DIFFERENCE_NAMES)
    in_si = replace(stated, unit=unit).in_si - (unit.offset if is_difference else 0)
    return in_si if own is None else (in_si - (0 if is_difference else own.offset)) / _size_of(own)


def _size_of(unit: Unit) -> Fraction:
    """Return a unit as a multiple of the coherent one."""
    return StatedNumber(Fraction(1), unit, 0, Fraction(0)).in_si - unit.offset


def _unit_fault(wanted: Numeric, stated: StatedNumber, node: ReferenceNode) -> str:
    """Say that a unit is missing, or of another dimension; empty where it fits, or the question names it."""
    unit = wanted.number.unit
    if stated.unit is None:
        needs_one = unit is not None and any(unit.dimension) and wanted.number.value
        return f"no unit: node {node.index}" if needs_one and node.number_spec.asked is None else ""
    return f"unit: node {node.index}" if stated.dimension != wanted.number.dimension else ""


def _figure_fault(wanted: Numeric, stated: StatedNumber, node: ReferenceNode) -> str:
    """Say that a decimal shows fewer figures than are asked for; empty if it does not."""
    asked = node.number_spec.figures or wanted.number.figures
    is_short = not stated.is_exact and 0 < stated.figures < asked
    return f"{stated.figures} of {asked} figures: node {node.index}" if is_short else ""


def _is_shown_to_differ(node: ReferenceNode, evidence: _Evidence) -> bool:
    """Return True if a formula that is solved for what a node is solved for is wrong, or has the node's symbols."""
    wanted = {frozenset(symbols_of(f)) for f in node.formulas}
    for item in evidence.items:
        if item.graded.status != "different":
            continue
        found = evidence.diagnosed.get(item.position)
        for f in item.statements:
            if f.kind != "equation" or not any(member in node.subjects for member in f.members):
                continue
            if found is not None and found.status in ("wrong", "follows"):
                return True
            is_about_it = frozenset(symbols_of(f)) in wanted and not node.is_number
            if is_about_it and (found is None or (found.status == "undetermined" and not found.detail)):
                return True
    return False


# Coverage. ----------------------------------------------------------------------------------------------------------


def _is_not_claimed(node: ReferenceNode, evidence: _Evidence) -> bool:
    """Return True if surely no formula of a solution speaks of what a node is solved for, under any index."""
    names = _names_of(node)
    if not names or evidence.is_open:
        return False
    letters = {letter_of(name) for name in names}
    said = {letter_of(name) for item in evidence.items for f in item.statements for name in symbols_of(f)}
    return letters.isdisjoint(said)


def _rule_coverage(evidence: _Evidence) -> RuledPart | None:
    """Decide coverage: MAJOR for each asked quantity of which no formula speaks; None where that is not sure."""
    missing, covered = [], []
    for index in sorted(evidence.prepared.problem.dag.finals):
        node = _reference(index, evidence)
        names = _names_of(node)
        is_claimed = any(names & symbols_of(f) for item in evidence.items for f in item.statements)
        if index in evidence.grade.matched or is_claimed:
            covered.append(index)
        elif node is not None and _is_not_claimed(node, evidence):
            missing.append(index)
        else:
            return None
    if missing:
        return _decide([("MAJOR", f"no claim: node {index}") for index in missing])
    return RuledPart(FULL, (f"covered: {_nodes(covered)}",))
