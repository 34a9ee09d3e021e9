r"""A first reference DAG from a worked solution, by rule and for a person to correct.

Nodes are what the solution claims in its displays and boxes (in its text where it has neither): of a chain
`a = b = c` each member that says something new of a, numbers that are worked out and no sums on the way. Two formulas
that the engine takes for one become one node. Edges are those of `derivation`; finals are the boxes, else the last
formula of each part, or what the author says the answer is.

A draft is graded before it is handed out: a node that the linter faults, that the problem itself states or that the
solution is not seen to state is left out, and the reason is told. So every draft loads, has no fault, and gives its
own solution all points; what it cannot be is right about physics. Refused: guessing at formulas that stand in words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prism.algebra.expr import Formula, formula, symbol
from prism.authoring.candidates import (
    context_of,
    faulty_nodes,
    is_same_node,
    is_step,
    node_of,
    pieces_of,
    place_of,
    with_units_read,
)
from prism.authoring.dependencies import RULES, Derivation, derivation_of
from prism.equivalence.numbers import numeric_of
from prism.equivalence.substitutions import subject_of
from prism.errors import LatexSyntaxError, PrismError
from prism.grading.located_claims import Saying, sayings_of
from prism.grading.parts import Part, parts_of
from prism.grading.pipeline import grade
from prism.grading.selection import REFUSALS
from prism.latex import Solution, extract, one_line
from prism.physics.context import Context
from prism.problem.given_nodes import given_nodes
from prism.problem.schema import Problem
from prism.problem.toml_writer import problem_toml

MAX_NODES = 30  # a reference of more nobody reads; what stands before the last answers is kept
LETTERS = "abcdefgh"  # parts that a problem may mark
ANSWER = "ans"  # the name of an answer that has none


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A formula of the solution that became no node, and why."""

    latex: str
    why: str


@dataclass(frozen=True, slots=True)
class DraftEdge:
    """A node that another was derived from: its index, why in words, and whether another edge leads there too."""

    origin: int
    why: str
    is_implied: bool


@dataclass(frozen=True, slots=True)
class DraftNode:
    """One node of a draft.

    Attributes:
        latex: its formula.
        letter: of the part that it answers, if the solution marks parts.
        is_final: a final answer.
        why: why it is a node, and why it is final, in words.
        edges: the nodes that it was derived from; the file does not list those that are implied.
        doubtful: indices of nodes that it may have been derived from as well.
    """

    latex: str
    letter: str
    is_final: bool
    why: tuple[str, ...]
    edges: tuple[DraftEdge, ...]
    doubtful: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A problem file made by rule.

    Attributes:
        data: the keys of a problem file, as `load_problem` takes them.
        nodes: in index order, from 1.
        left_out: in the order of the text.
        remarks: what a person should know of the whole.
    """

    data: Mapping[str, Any]
    nodes: tuple[DraftNode, ...]
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the problem file, its nodes with reasons, and what was left out."""
        return {
            "problem": dict(self.data),
            "nodes": [
                {
                    "index": k, "formula": node.latex, "subquestion": node.letter, "is_final_answer": node.is_final,
                    "why": list(node.why), "maybe": list(node.doubtful),
                    "edges": [
                        {"from": edge.origin, "why": edge.why, "implied": edge.is_implied} for edge in node.edges
                    ],
                }
                for k, node in enumerate(self.nodes, start=1)
            ],
            "left_out": [{"formula": each.latex, "why": each.why} for each in self.left_out],
            "remarks": list(self.remarks),
        }  # fmt: skip

    def toml(self) -> str:
        """The problem file, with a comment at each node that says how it came about."""
        head = (
            "Drafted by rule from a worked solution. Nobody has checked it: look at each formula and each edge, then",
            "run `prism lint` on this file. Lines that begin with # are for you; the grader does not see them.",
            *(f"Note: {remark}" for remark in self.remarks),
            *(f"Left out: {one_line(each.latex)} ({each.why})" for each in self.left_out),
        )
        return problem_toml(self.data, head=head, notes={k: _told(node) for k, node in enumerate(self.nodes, start=1)})


def draft(solution: Solution, *, problem: str = "", answers: Sequence[str] = (), name: str = "draft") -> Draft:
    """Draft a problem file from a worked solution.

    Args:
        solution: the text of a worked solution, with LaTeX; or messages, or steps, as `grade` takes them.
        problem: its problem statement.
        answers: the final answers, LaTeX, if they are known; otherwise the boxes or the last formulas are.
        name: the id of the problem.

    Errors:
        PrismError: no formula of the solution can be a node.
    """
    extraction = extract(solution)
    setting = _Setting(name, problem, context_of(problem), _parts_told(problem, extraction.text))
    found = [item for item in extraction if item.kind != "thinking"]
    parts = parts_of(extraction.text, [part.letter for part in setting.parts])
    sayings = _read(sayings_of(found, extraction.text, parts, (), setting.context)[0], setting.context)
    left_out: list[_Gone] = []
    found_here = list(_candidates(sayings, left_out, setting))
    if not found_here:  # a solution in sentences: take what they state
        left_out.clear()
        found_here = list(_candidates(sayings, left_out, setting, in_sentences=True))
    candidates = _merged(found_here, setting, left_out)
    remarks: list[str] = []
    steps = _with_finals(candidates, [answer for answer in answers if answer.strip()], setting, remarks, left_out)
    steps = _capped(steps, left_out)
    return _settled(steps, extraction.text, setting, remarks, left_out)


def _read(sayings: Sequence[Saying], context: Context) -> list[Saying]:
    """What is said, with units told from symbols."""
    readable = [saying.formula for saying in sayings if saying.formula is not None]
    read = iter(with_units_read(readable, context))
    return [saying if saying.formula is None else replace(saying, formula=next(read)) for saying in sayings]


@dataclass(frozen=True, slots=True)
class _Setting:
    """What is known of the problem before its nodes are; parts are those of its text."""

    name: str
    problem: str
    context: Context
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A formula that may become a node.

    Attributes:
        formula, latex: what is stated.
        order: of its place in the text, and of its last one.
        is_boxed: a box gives it as an answer.
        letter: of the part that it stands in.
        why: in words.
        is_final: it answers.
    """

    formula: Formula
    latex: str
    order: int
    last: int
    is_boxed: bool
    letter: str
    why: tuple[str, ...]
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class _Gone:
    """What was left out, and where it stood."""

    order: int
    left_out: LeftOut


def _parts_told(problem: str, text: str) -> tuple[Part, ...]:
    """The parts that a problem marks from (a) on, if the solution marks two of them at least."""
    asked: tuple[Part, ...] = ()
    for n in range(2, len(LETTERS) + 1):
        parts = tuple(part for part in parts_of(problem, LETTERS[:n]) if part.letter)
        distinct = {part.start for part in parts}  # a letter that is not marked stands where the one before it does
        if [part.letter for part in parts] == list(LETTERS[:n]) and len(distinct) == n:
            asked = parts
    answered = {part.letter for part in parts_of(text, [part.letter for part in asked]) if part.letter}
    return asked if len(answered) > 1 else ()


# Candidates. ----------------------------------------------------------------------------------------------------


def _candidates(
    sayings: Sequence[Saying], left_out: list[_Gone], setting: _Setting, *, in_sentences: bool = False
) -> Iterator[_Candidate]:
    """What the displays and boxes of a solution state, taken apart into formulas of two members."""
    for saying in sayings:
        is_boxed = saying.located.kind == "boxed"
        is_set_off = is_boxed or saying.located.kind == "display"
        if not (is_set_off or in_sentences) and (saying.formula is None or not is_step(saying.formula)):
            continue
        if saying.formula is None:
            left_out.append(_Gone(saying.order, LeftOut(saying.located.latex, f"not read: {one_line(saying.fault)}")))
            continue
        if saying.located.in_passing and not in_sentences:
            left_out.append(_Gone(saying.order, LeftOut(saying.located.latex, "said in passing")))
            continue
        pieces = list(pieces_of(saying.formula))
        for stated in pieces:
            if isinstance(stated, str):
                left_out.append(_Gone(saying.order, LeftOut(saying.located.latex, stated)))
                continue
            said = _with_subject(stated) if is_boxed else stated
            picked = node_of(said, saying.located.latex, setting.context, is_whole=said is saying.formula)
            if picked.why_not:
                left_out.append(_Gone(saying.order, LeftOut(picked.latex, picked.why_not)))
                continue
            how = {"boxed": "in a box", "display": "displayed"}.get(saying.located.kind, "in the text")
            letter = saying.letters[0] if len(saying.letters) == 1 else ""
            is_end = saying.formula.kind != "chain" or stated is pieces[-1]  # of a chain in a box its end is the answer
            yield _Candidate(said, picked.latex, saying.order, saying.order, is_boxed and is_end, letter, (how,))


def _with_subject(f: Formula) -> Formula:
    """An answer without a name gets one."""
    if f.kind != "expression" or f.members[0].op in ("sym", "list"):
        return f
    return formula((symbol(ANSWER), f.members[0]), ("=",), f.latex, f.depends)


# One node for what is one formula. -------------------------------------------------------------------------------


def _merged(found: Sequence[_Candidate], setting: _Setting, left_out: list[_Gone]) -> list[_Candidate]:
    """Candidates without repetitions.

    The place is that of the first, since what stands between may rest on it; the form is the one that is solved for a
    symbol. To the engine both are one.
    """
    kept: list[_Candidate] = []
    for each in found:
        at = next((k for k, other in enumerate(kept) if _is_same(other, each, setting.context)), None)
        if at is None:
            kept.append(each)
            continue
        other = kept[at]
        better = each if not _is_solved(other.formula) and _is_solved(each.formula) else other
        gone = other if better is each else each
        left_out.append(_Gone(gone.order, LeftOut(gone.latex, f"the same as {better.latex}")))
        kept[at] = replace(
            better, order=other.order, last=each.last, is_boxed=other.is_boxed or each.is_boxed,
            letter=each.letter if each.is_boxed else other.letter, why=tuple(dict.fromkeys(other.why + each.why)),
        )  # fmt: skip
    return kept


def _is_solved(f: Formula) -> bool:
    return numeric_of(f) is not None or subject_of(f) is not None


def _is_same(one: _Candidate, other: _Candidate, context: Context) -> bool:
    """Whether two candidates are one node; a number of one part is none of another."""
    apart = one.letter != other.letter and one.letter and other.letter and numeric_of(one.formula) is not None
    return not apart and is_same_node(one.formula, other.formula, context)


# Answers. ---------------------------------------------------------------------------------------------------------


def _with_finals(
    found: list[_Candidate], answers: Sequence[str], setting: _Setting, remarks: list[str], left_out: list[_Gone]
) -> list[_Candidate]:
    """The candidates up to the last answer, with the answers marked."""
    if not found:
        raise PrismError("no formula of the solution can be a node; " + _reasons(left_out))
    places, why = _answers_told(found, answers, setting, remarks), "it is the answer that was named"
    if not places:
        places, why = {k for k, each in enumerate(found) if each.is_boxed}, "the answer stands in a box"
    if not places:
        last = {each.letter: k for k, each in enumerate(found)}
        places = {k for letter, k in last.items() if letter} | {len(found) - 1}
        why = "nothing is boxed, so the last formula of its part, and of all, is an answer"
    marked = [
        replace(each, is_final=True, why=(*each.why, why)) if k in places else each for k, each in enumerate(found)
    ]
    end = max((each for each in marked if each.is_final), key=lambda each: each.last)
    marked = sorted((replace(each, order=each.last) if each is end else each for each in marked), key=lambda e: e.order)
    at = max(k for k, each in enumerate(marked) if each.is_final)
    left_out += [_Gone(each.order, LeftOut(each.latex, "it stands below the last answer")) for each in marked[at + 1 :]]
    return marked[: at + 1]


def _answers_told(found: list[_Candidate], answers: Sequence[str], setting: _Setting, remarks: list[str]) -> set[int]:
    """The places of the candidates that say what the author says is the answer; of one that none says a remark."""
    places: set[int] = set()
    formulas = [each.formula for each in found]
    for answer in answers:
        try:
            at = place_of(answer, formulas, setting.context)
        except LatexSyntaxError as error:
            remarks.append(f"the answer {one_line(answer)} is not read: {one_line(str(error))}")
            continue
        if at is not None:
            places.add(at)
        else:
            remarks.append(f"no formula of the solution is seen to state the answer {one_line(answer)}")
    return places


def _capped(found: list[_Candidate], left_out: list[_Gone]) -> list[_Candidate]:
    """At most `MAX_NODES`: all answers, and the last formulas before them."""
    finals = [each for each in found if each.is_final]
    n_free = max(MAX_NODES - len(finals), 0)
    others = [each for each in found if not each.is_final]
    dropped = others[: max(len(others) - n_free, 0)]
    why = f"more than {MAX_NODES} nodes"
    left_out += [_Gone(each.order, LeftOut(each.latex, why)) for each in dropped]
    return [each for each in found if each not in dropped]


# The checks. ------------------------------------------------------------------------------------------------------


def _settled(steps: list[_Candidate], text: str, setting: _Setting, remarks: list[str], left_out: list[_Gone]) -> Draft:
    """The draft, once nothing is left that the checks refuse; each round leaves out a node at least."""
    while True:
        derived = derivation_of([each.formula for each in steps], _finals(steps), setting.context)
        data = _data(steps, derived, setting)
        refused = _refused(data, text)
        if not refused:
            break
        left_out += [_Gone(each.order, LeftOut(each.latex, refused[k])) for k, each in enumerate(steps) if k in refused]
        steps = _without(steps, refused, remarks)
        if not steps:
            raise PrismError("no formula of the solution can be a node; " + _reasons(left_out))
    gone = tuple(each.left_out for each in sorted(left_out, key=lambda each: each.order))
    nodes = _nodes(steps, derived)
    told = {"left_out": [{"formula": each.latex, "why": each.why} for each in gone], "remarks": list(remarks)}
    data["metadata"] = {
        "drafted": "by rule from a worked solution; not checked by a person",
        **{key: value for key, value in told.items() if value},
    }
    return Draft(data, nodes, gone, tuple(remarks))


def _without(steps: Sequence[_Candidate], refused: Collection[int], remarks: list[str]) -> list[_Candidate]:
    """The candidates that are left; where an answer is not, the last formula before it in its part stands for it."""
    kept = [each for k, each in enumerate(steps) if k not in refused]
    for k in sorted(refused):
        lost = steps[k]
        if not lost.is_final:
            continue
        before = [each for each in kept if each.letter == lost.letter and each.order <= lost.order]
        remarks.append(f"{lost.latex} seemed to be an answer and is no node; the formula before it stands for it")
        if before and not any(each.is_final and each.letter == lost.letter for each in kept):
            kept[kept.index(before[-1])] = _as_final(before[-1])
    if kept and not kept[-1].is_final:
        kept[-1] = _as_final(kept[-1])
    return kept


def _as_final(each: _Candidate) -> _Candidate:
    return replace(each, is_final=True, why=(*each.why, "it is the last formula"))


def _finals(steps: Sequence[_Candidate]) -> set[int]:
    return {k for k, each in enumerate(steps) if each.is_final}


def _refused(data: Mapping[str, Any], text: str) -> dict[int, str]:
    """Places of nodes that are no good, with the reason: faults, what the problem states, what is not matched."""
    faults, problem = faulty_nodes(data)
    if faults or problem is None:
        return faults
    given = {each.index - 1: f"the problem states it ({each.where})" for each in given_nodes(problem)}
    if given and len(given) < len(problem.nodes):
        return given
    return _not_stated(problem, text)


def _not_stated(problem: Problem, text: str) -> dict[int, str]:
    """Nodes that their own solution is not seen to state, unless that would leave none."""
    result = grade(problem, text)
    missed = [node.index for node in problem.nodes if node.index not in result.matched]
    why = {index: REFUSALS[reason] for item in result.formulas for index, reason in item.withheld if index in missed}
    if len(missed) == len(problem.nodes):
        return {}
    return {index - 1: why.get(index, "the solution is not seen to state it") for index in missed}


# The file. --------------------------------------------------------------------------------------------------------


def _data(steps: Sequence[_Candidate], derived: Derivation, setting: _Setting) -> dict[str, Any]:
    """The keys of a problem file."""
    standard: list[dict[str, Any]] = []
    for k, each in enumerate(steps):
        node: dict[str, Any] = {
            "index": k + 1, "formula": each.latex,
            "dependency": [edge.origin + 1 for edge in derived.edges[k] if not edge.is_implied],
        }  # fmt: skip
        if each.is_final:
            node["is_final_answer"] = True
        standard.append(node)
    data: dict[str, Any] = {"id": setting.name, "context": setting.problem, "grading_standard": standard}
    if setting.parts:
        data["context"] = setting.problem[: setting.parts[0].start]
        data["subquestions"] = [
            {"letter": part.letter, "subproblem": setting.problem[part.start : part.end].strip()}
            for part in setting.parts
        ]
        for node, each in zip(standard, steps, strict=True):
            if each.letter and each.is_final:
                node["subquestion"] = each.letter
    return data


def _nodes(steps: Sequence[_Candidate], derived: Derivation) -> tuple[DraftNode, ...]:
    found = []
    for each, edges, doubtful in zip(steps, derived.edges, derived.doubtful, strict=True):
        told = tuple(DraftEdge(edge.origin + 1, RULES[edge.rule], edge.is_implied) for edge in edges)
        maybe = tuple(place + 1 for place in doubtful)
        found.append(DraftNode(each.latex, each.letter, each.is_final, each.why, told, maybe))
    return tuple(found)


def _told(node: DraftNode) -> tuple[str, ...]:
    """The comment lines above a node."""
    lines = ["Node: " + "; ".join(node.why)]
    by_reason: dict[str, list[str]] = {}
    for edge in node.edges:
        by_reason.setdefault(edge.why, []).append(f"{edge.origin}{' (implied)' if edge.is_implied else ''}")
    lines += [f"Edge from {', '.join(origins)}: {why}" for why, origins in by_reason.items()]
    lines += [f"Maybe from {index}: the same symbols but for what it is solved for" for index in node.doubtful]
    return tuple(lines)


def _reasons(left_out: Sequence[_Gone]) -> str:
    told = dict.fromkeys(each.left_out.why for each in left_out)
    return "; ".join(list(told)[:5]) if told else "it has none that is displayed, boxed or in dollars"
