r"""Make the problem of an entry: its marking scheme, its published steps, a draft of its solution, or only its answers.

`metadata.dag` says which: `marking`, `published`, `steps`, `drafted` or `answer`. Scores of the last are final-answer
scores, whatever else is asked for. Each problem is loaded and linted here: one with a fault is refused with its reason.

Grade what a row itself says is right by the problem that was made of it: its solution, else its recorded answers.

Answers are held beside the final nodes alone, a solution beside all.

A score below 1 is a fault of the conversion, of the grader or of the row, and never of a student: it is told. What it
means that it is 1 depends on the nodes: for answers alone no more than that the answer is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Formula
from prism.authoring.candidates import answer_index, find_faulty_nodes, statement_context
from prism.authoring.conversions import SOLUTION, ConvertedProblem, OwnGold, published_solution, solution_gold
from prism.authoring.converting import convert_entry
from prism.authoring.drafting import draft, question_parts
from prism.authoring.drafts import Draft
from prism.authoring.importers.entries import (
    Dataset,
    DatasetEntry,
    QuestionPart,
    RecordedAnswer,
    RefusedError,
    SourceRow,
)
from prism.authoring.importers.entry_images import images_of
from prism.authoring.importers.recorded_answers import TEXT, AnswerNode, answer_nodes, bare_answer, in_dollars, label_of
from prism.authoring.importers.worked_answers import named_numbers
from prism.authoring.marking_schemes import UNSTATED, convert_scheme
from prism.budget import DRAFT
from prism.errors import DataFileError, LatexSyntaxError, PrismError, count_of
from prism.grading.pipeline import grade
from prism.inputs import shown
from prism.latex import one_line
from prism.physics.context import Context, parse
from prism.problem.given_nodes import find_given_nodes
from prism.problem.schema import Problem, load_problem

ANSWERS = "answers"


def own_gold(data: Mapping[str, Any], entry: DatasetEntry) -> OwnGold | None:
    """Return the grade of an entry's own gold by the problem that was made of it; None if it has none."""
    text, source = gold_of(entry)
    if not text:
        return None
    if source == SOLUTION:
        return solution_gold(data, text)
    problem = load_problem(data)
    graded = grade(problem, text)
    finals = _stating(entry, problem) or {node.index for node in problem.nodes if node.is_final}
    missed = tuple(sorted(finals - set(graded.matched)))
    return OwnGold(float(Fraction(len(finals) - len(missed), len(finals))), source, missed, missed)


def _stating(entry: DatasetEntry, problem: Problem) -> set[int]:
    """Return the indices of the final nodes that state a recorded answer as a formula."""
    finals = [node for node in problem.nodes if node.is_final and not node.is_text]
    found = set()
    for answer in entry.answers:
        with suppress(RefusedError, LatexSyntaxError):
            for node in answer_nodes(answer, entry.question):
                at = answer_index(in_dollars(node.latex), [each.formula for each in finals], problem.context)
                found |= set() if at is None else {finals[at].index}
    return found | {node.index for node in problem.nodes if node.is_final and node.is_text}


def gold_of(entry: DatasetEntry) -> tuple[str, str]:
    """Return the text that an entry says is right and what it is, solution or answers; an empty text if it has none."""
    if entry.published is not None:
        return published_solution(entry.published), SOLUTION
    if entry.solution.strip():
        return entry.solution, SOLUTION
    letters = [answer.letter for answer in entry.answers]
    marks = letters if all(letters) else [chr(ord("a") + k) for k in range(len(letters))]
    stated = [(mark, _stated(answer, entry.question)) for mark, answer in zip(marks, entry.answers, strict=True)]
    if len(stated) == 1:
        return stated[0][1], ANSWERS
    return "\n\n".join(f"({mark}) {text}" for mark, text in stated if text), ANSWERS


def _stated(answer: RecordedAnswer, question: str) -> str:
    """Return an answer as a student would state it: in a box, words in a sentence; empty for one that is left out."""
    try:
        nodes = answer_nodes(answer, question)
    except RefusedError:
        return ""
    if any(node.form == TEXT for node in nodes):
        return f"The answer is {bare_answer(answer.text)}."
    text = bare_answer(answer.text)
    is_as_recorded = len(nodes) == 1 and not answer.unit and "$" not in text
    return " ".join(rf"\boxed{{{text if is_as_recorded else node.latex}}}" for node in nodes)


LETTERS = "abcdefghijklmnopqrstuvwxyz"
NOT_IN_SOLUTION = "answer-not-in-solution"
_MAX_FAULT = 500  # characters of a fault that is told
_ANSWER_KEYS = ("final_answer_form", "final_answer_instructions")


@dataclass(frozen=True, slots=True)
class _Made:
    """A problem of an entry, whether the linter has seen it as it is, and the grade of its gold if that is known."""

    problem: ConvertedProblem
    is_checked: bool = False
    gold: OwnGold | None = None


@dataclass(frozen=True, slots=True)
class _PartAnswer:
    """The final nodes of one recorded answer, with the letter of its part; empty if the problem has only one."""

    letter: str
    nodes: tuple[AnswerNode, ...]
    label: str = ""


def make_problem(entry: DatasetEntry, row: SourceRow, dataset: Dataset, *, is_drafted: bool) -> ConvertedProblem:
    """Return the problem of an entry.

    Args:
        is_drafted: draft a DAG where there is a solution.

    Errors:
        RefusedError: the entry cannot be a problem, with the reason.
    """
    if entry.published is not None:
        return _finished(_published(entry), entry, row, dataset, "published")
    if not entry.question.strip():
        raise RefusedError("no-question")
    remarks = list(entry.remarks)
    for name, maker in _ways(entry, is_drafted=is_drafted):
        try:
            return _finished(maker(entry, remarks), entry, row, dataset, name)
        except RefusedError as error:
            remarks.append(f"{name}: {error}; the answers alone are kept")
        except DataFileError as error:
            remarks.append(f"{name}: {one_line('; '.join(error.faults))[:_MAX_FAULT]}; the answers alone are kept")
        except PrismError as error:
            remarks.append(f"{name}: {one_line(str(error))[:_MAX_FAULT]}; the answers alone are kept")
    return _finished(_answers_best_named(entry, remarks), entry, row, dataset, "answer")


def _published(entry: DatasetEntry) -> _Made:
    """Return a problem that is published in the shape of a problem file; raises RefusedError if it has faults."""
    try:
        return _Made(convert_entry(entry.published or {}, entry.id))
    except DataFileError as error:
        raise RefusedError("faulty", "; ".join(error.faults)) from error


# Answers alone ----------------------------------------------------------------------------------------------------


def _part_answers(entry: DatasetEntry, remarks: list[str]) -> tuple[_PartAnswer, ...]:
    """Return the answers of an entry, each with its letter; one that no rule can compare is left out, and told.

    Errors:
        RefusedError: none of them can be read.
    """
    if not entry.answers:
        hint = "--draft makes a problem of its solution" if entry.solution.strip() else ""
        raise RefusedError("no-answer", remarks[-1] if remarks else hint)
    letters = _letters_of(entry)
    found = []
    refused: list[RefusedError] = []
    for answer, letter in zip(entry.answers, letters, strict=True):
        try:
            found.append(_PartAnswer(letter, answer_nodes(answer, entry.question), answer.label))
        except RefusedError as error:
            refused.append(error)
            remarks.append(f"answer {letter} is left out: {error}")
    if not found:
        raise refused[0]
    return tuple(found)


def _letters_of(entry: DatasetEntry) -> list[str]:
    """Return the letter of each answer: as recorded, else of the question's parts if as many, else in order."""
    answers = entry.answers
    own = [answer.letter or label_of(answer.text) for answer in answers]
    if len(answers) == 1 and not entry.parts:
        return [""]
    if all(own) and len(set(own)) == len(own):
        return own
    asked = [part.letter for part in parts_of(entry)]
    if len(asked) == len(answers):
        return asked
    return [LETTERS[k % len(LETTERS)] * (1 + k // len(LETTERS)) for k in range(len(answers))]


def parts_of(entry: DatasetEntry) -> tuple[QuestionPart, ...]:
    """Return the parts of an entry's question: those that the data set tells apart, else those that the text marks."""
    if entry.parts:
        return entry.parts
    return tuple(
        QuestionPart(part.letter, entry.question[part.start : part.end]) for part in question_parts(entry.question)
    )


def _answers_best_named(entry: DatasetEntry, remarks: list[str]) -> _Made:
    """Return a problem of the answers, with the names of the solution where its own gold needs them.

    Errors:
        RefusedError: no answer can be a node, with the reason for the first.
    """
    answers = _part_answers(entry, remarks)
    plain = _answers_alone(entry, answers, remarks)
    gold = own_gold(plain.problem.data, entry)
    named = _named(answers, entry)
    if gold is None or gold.score == 1 or named == answers:
        return replace(plain, gold=gold)
    other_remarks: list[str] = [*remarks, "values have the names that the solution gives them"]
    other = _answers_alone(entry, named, other_remarks)
    own = own_gold(other.problem.data, entry)
    return replace(other, gold=own) if own is not None and own.score > gold.score else replace(plain, gold=gold)


def _named(answers: tuple[_PartAnswer, ...], entry: DatasetEntry) -> tuple[_PartAnswer, ...]:
    """Return the answers with the names that the worked solution of their entry gives to their numbers."""
    if not entry.solution.strip():
        return answers
    numbers = named_numbers(entry.solution, entry.question, statement_context(entry.question))
    return tuple(
        replace(each, nodes=tuple(replace(n, latex=numbers.named(n.latex) or n.latex) for n in each.nodes))
        for each in answers
    )


def _answers_alone(entry: DatasetEntry, recorded: Sequence[_PartAnswer], remarks: list[str]) -> _Made:
    """Return a problem of one final node for each answer, without any edge; an answer that stands twice counts once.

    Errors:
        RefusedError: no answer can be a node, with the reason for the first.
    """
    answers = list(recorded)
    while True:
        data = _answer_data(entry, answers)
        places = [(answer, node) for answer in answers for node in answer.nodes]
        faulty = _faults_of(data)
        if not faulty:
            break
        for place, why in faulty.items():
            remarks.append(f"answer {places[place][0].letter} is left out: {one_line(places[place][1].latex)}: {why}")
        gone = [id(places[place][1]) for place in faulty]
        answers = [
            replace(each, nodes=left)
            for each in answers
            if (left := tuple(node for node in each.nodes if id(node) not in gone))
        ]
        if not answers:
            raise RefusedError("faulty", next(iter(faulty.values())))
    remarks += [node.remark for answer in answers for node in answer.nodes if node.remark]
    return _Made(ConvertedProblem(data, tuple(remarks)), is_checked=True)


def _answer_data(entry: DatasetEntry, answers: Sequence[_PartAnswer]) -> dict[str, Any]:
    """Return the problem of nothing but the answers."""
    nodes: list[dict[str, Any]] = []
    for answer in answers:
        for each in answer.nodes:
            node: dict[str, Any] = {
                "index": len(nodes) + 1, "formula": each.latex, "dependency": [], "is_final_answer": True,
            }  # fmt: skip
            nodes.append(node | ({"subquestion": answer.letter} if answer.letter else {}))
    return {"id": entry.id, "context": entry.question, **_answer_keys(entry, answers), "grading_standard": nodes}


def _faults_of(data: Mapping[str, Any]) -> dict[int, str]:
    """Return the faults of a problem's nodes by position.

    Errors:
        RefusedError: it has a fault that belongs to no node.
    """
    try:
        return dict(sorted(find_faulty_nodes(data, DRAFT).why.items()))
    except DataFileError as error:
        raise RefusedError("faulty", "; ".join(error.faults)[:_MAX_FAULT]) from error


def _answer_keys(entry: DatasetEntry, answers: Sequence[_PartAnswer]) -> dict[str, Any]:
    """Return what a problem file says of its answers: of the problem for a single one, else of each part."""
    if len(answers) == 1 and not answers[0].letter:
        return _answer_form(answers[0].nodes)
    texts = {each.letter: each.label for each in answers} | {part.letter: part.text for part in entry.parts}
    return {
        "subquestions": [
            {
                "letter": each.letter,
                **({"subproblem": texts[each.letter]} if texts.get(each.letter) else {}),
                **_answer_form(each.nodes),
            }
            for each in answers
        ]
    }


def _answer_form(nodes: Sequence[AnswerNode]) -> dict[str, str]:
    """Return form and instructions of an answer: those of its last node."""
    last = nodes[-1]
    return dict(zip(_ANSWER_KEYS, (last.form, last.instructions), strict=True) if last.instructions else
                [("final_answer_form", last.form)])  # fmt: skip


# Drafts -----------------------------------------------------------------------------------------------------------


def _drafted(entry: DatasetEntry, remarks: list[str]) -> _Made:
    """Return the draft of an entry's solution, with the recorded answers as its finals.

    Errors:
        PrismError: the draft does not state a recorded answer, or there is none.
    """
    return _with_recorded_finals(entry, entry.solution, remarks) if entry.answers else _with_own_finals(entry, remarks)


def _with_own_finals(entry: DatasetEntry, remarks: list[str]) -> _Made:
    """Return the draft of a solution whose row records no answer: its finals are what the solution ends with."""
    made = draft(entry.solution, problem=_question_with_parts(entry), name=entry.id)
    remarks += ["no answer is recorded: the finals are what the solution ends with", *_remarks_of(made)]
    return _Made(ConvertedProblem(dict(made.data), tuple(remarks)))


def _from_steps(entry: DatasetEntry, remarks: list[str]) -> _Made:
    """Return a problem whose nodes are the formulas of published steps; their order alone is no dependency."""
    blocks: list[str] = []
    letter = ""
    for step in entry.steps:
        if step.letter != letter:
            letter = step.letter
            blocks.append(f"({letter})")
        blocks.append(f"$$ {step.latex} $$")
    return _with_recorded_finals(entry, "\n\n".join(blocks), remarks)


def _with_recorded_finals(entry: DatasetEntry, solution: str, remarks: list[str]) -> _Made:
    """Return the draft of a solution in which exactly the recorded answers are final.

    An answer that no node states, or that the solution is not seen to state, is left out and told: as a final of the
    answers alone it would be one that even the solution of the row does not earn.

    Errors:
        PrismError: no recorded answer stays.
    """
    answers = _named(_part_answers(entry, remarks), entry)
    wanted = [in_dollars(node.latex) for each in answers for node in each.nodes if node.form != TEXT]
    made = draft(solution, problem=_question_with_parts(entry), answers=wanted, name=entry.id)
    drafted = _Drafted(made, statement_context(entry.question))
    places = [drafted.places_of(each.nodes) for each in answers]
    kept = [k for k, own in enumerate(places) if own]
    while True:
        if not kept:
            lost = next(each for k, each in enumerate(answers) if k not in kept).nodes[0].latex
            raise PrismError(f"{NOT_IN_SOLUTION}: no node of the draft states {shown(one_line(lost))}")
        finals = {place: answers[k].letter for k in reversed(kept) for place in places[k]}
        data, steps = drafted.data_with(finals), _needed(drafted.standard, finals)
        data["context"] = entry.question
        data |= _answer_keys(entry, [answers[k] for k in kept])
        gold = own_gold(data, replace(entry, solution=entry.solution or solution))
        missed = {steps[index - 1] for index in (gold.missed_finals if gold else ())}
        if not missed:
            break
        kept = [k for k in kept if not missed.intersection(places[k])]
    gone = [node.latex for k, each in enumerate(answers) if k not in kept for node in each.nodes]
    remarks += [f"{NOT_IN_SOLUTION}: {one_line(latex)} is left out" for latex in gone]
    remarks += drafted.remark_on_others(finals) + _remarks_of(made)
    return _Made(ConvertedProblem(data, tuple(remarks)), gold=gold)


class _Drafted:
    """A draft whose finals are chosen anew."""

    def __init__(self, made: Draft, context: Context) -> None:
        """Store the draft with its formulas and nodes."""
        self.made = made
        self.context = context
        self.formulas = [parse(node.latex, context=context) for node in made.nodes]
        self.standard = [dict(node) for node in made.data["grading_standard"]]

    def places_of(self, answers: Sequence[AnswerNode]) -> tuple[int, ...]:
        """Return the places of the nodes that state the parts of an answer; empty if one is not stated.

        An answer in words becomes a node of its own, behind what the draft ends with.
        """
        found = []
        for answer in answers:
            if answer.form == TEXT:
                found.append(self._place_of_words(answer.latex))
                continue
            at = answer_index(in_dollars(answer.latex), self.formulas, self.context)
            if at is None and (merged := _merged_form(answer, self.made, self.formulas, self.context)):
                at, self.standard[merged[0]]["formula"] = merged
            if at is None:
                return ()
            found.append(at)
        return tuple(found)

    def _place_of_words(self, words: str) -> int:
        """Return the place of a new node for an answer in words.

        Errors:
            PrismError: the solution has no step that it could follow from, but what the question says.
        """
        problem = load_problem({key: value for key, value in self.made.data.items() if key != "metadata"})
        if len(find_given_nodes(problem)) == len(problem.nodes):
            raise PrismError("its solution is words: no formula of it is a step")
        ends = [k for k, node in enumerate(self.made.nodes, start=1) if node.is_final]
        self.standard.append({"index": len(self.standard) + 1, "formula": words, "dependency": ends})
        return len(self.standard) - 1

    def data_with(self, finals: Mapping[int, str]) -> dict[str, Any]:
        """Return the content of the problem file with exactly these nodes final, each with the letter of its part."""
        data = {key: value for key, value in self.made.data.items() if key != "subquestions"}
        return data | {"grading_standard": _with_finals(self.standard, finals)}

    def remark_on_others(self, finals: Mapping[int, str]) -> list[str]:
        """Return what is told of nodes that lead to none of the finals."""
        needed = _needed(self.standard, finals)
        gone = [one_line(node["formula"]) for k, node in enumerate(self.standard) if k not in needed]
        return [f"nodes that lead to no recorded answer are left out: {'; '.join(gone)}"] if gone else []


def _merged_form(
    answer: AnswerNode, made: Draft, formulas: Sequence[Formula], context: Context
) -> tuple[int, str] | None:
    r"""Return the place of a node and the formula, merged into it, that states an answer; None if there is none.

    A draft keeps one of `2 n d = \lambda` and `d = \lambda/(2n)`; only the second states the answer `\lambda/(2n)`.
    """
    for gone in made.left_out:
        try:
            if answer_index(in_dollars(answer.latex), [parse(gone.latex, context=context)], context) is None:
                continue
            at = answer_index(in_dollars(gone.latex), formulas, context)
        except LatexSyntaxError:
            continue
        if at is not None:
            return at, gone.latex
    return None


def _question_with_parts(entry: DatasetEntry) -> str:
    """Return the question with its parts, as a draft takes it."""
    return "\n\n".join((entry.question, *(f"({part.letter}) {part.text}" for part in entry.parts if part.text)))


def _needed(standard: Sequence[Mapping[str, Any]], finals: Collection[int]) -> list[int]:
    """Return the places of the final nodes and of all that they follow from, in order."""
    needed = set(finals)
    for k in range(len(standard) - 1, -1, -1):
        if k in needed:
            needed |= {index - 1 for index in standard[k]["dependency"]}
    return sorted(needed)


def _with_finals(standard: Sequence[Mapping[str, Any]], finals: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return the nodes up to the last final one, with exactly these final; a node that leads to none is left out."""
    kept = _needed(standard, finals)
    number = {old + 1: new for new, old in enumerate(kept, start=1)}
    nodes = []
    for k in kept:
        node: dict[str, Any] = {
            "index": number[k + 1], "formula": standard[k]["formula"],
            "dependency": [number[index] for index in standard[k]["dependency"]],
        }  # fmt: skip
        if k in finals:
            node["is_final_answer"] = True
            node |= {"subquestion": finals[k]} if finals[k] else {}
        nodes.append(node)
    return nodes


def _remarks_of(made: Draft) -> list[str]:
    """Return what a person should know of a draft: its remarks, and how many formulas it left out."""
    n = len(made.left_out)
    return [*made.remarks, *([f"{count_of(n, 'formula')} of the solution became no node"] if n else [])]


# Marking schemes --------------------------------------------------------------------------------------------------


def _marked(entry: DatasetEntry, remarks: list[str]) -> _Made:
    """Return the problem of a marking scheme with points, its finals the recorded answers.

    An answer that no criterion states becomes a final node of no points, so that `final_correct` means the answer.
    """
    answers, unread = _readable_answers(entry)
    remarks += unread
    made = convert_scheme(
        {"id": entry.id, "problem": entry.question, "marking": list(entry.marking),
         "answer": [in_dollars(node.latex) for node in answers]}, entry.id,
    )  # fmt: skip
    if made.faults:
        remarks += [f"not read: {fault}" for fault in made.faults]
    data = dict(made.data)
    n_node = len(data["grading_standard"])
    while True:
        more: list[str] = []
        nodes = [dict(node) for node in made.data["grading_standard"]]
        data["grading_standard"] = _with_answers_final(nodes, answers, entry, more)
        faulty = _faults_of(data) if len(data["grading_standard"]) > n_node else {}
        lost = {data["grading_standard"][k]["formula"]: why for k, why in faulty.items() if k >= n_node}
        if not lost:
            break
        remarks += [f"the answer {one_line(latex)} is no final node: {why}" for latex, why in lost.items()]
        answers = [node for node in answers if node.latex not in lost]
    remarks += more
    forms = {node.form for node in answers}
    if len(forms) == 1:
        data["final_answer_form"] = forms.pop()
    of_scheme = [remark for remark in made.remarks if not remark.startswith(UNSTATED)]  # those are final nodes now
    problem = ConvertedProblem(data, (*remarks, *of_scheme), made.notes, made.lost)
    return _Made(problem, is_checked=not faulty)


def _readable_answers(entry: DatasetEntry) -> tuple[list[AnswerNode], list[str]]:
    """Return the recorded answers that are formulas, and what is told of the others."""
    found: list[AnswerNode] = []
    remarks: list[str] = []
    for number, answer in enumerate(entry.answers, start=1):
        try:
            nodes = answer_nodes(answer, entry.question)
        except RefusedError as error:
            remarks.append(f"answer {number} is no final node: {error}")
            continue
        found += [node for node in nodes if node.form != TEXT]
        remarks += [f"answer {number} is no final node: it is words" for node in nodes if node.form == TEXT]
    return found, remarks


def _with_answers_final(
    standard: list[dict[str, Any]], answers: Sequence[AnswerNode], entry: DatasetEntry, remarks: list[str]
) -> list[dict[str, Any]]:
    """Return the nodes of a scheme with the recorded answers as finals, added with no points where none states them."""
    context = statement_context(entry.question)
    formulas = [parse(node["formula"], context=context) for node in standard]
    own = {node["index"] for node in standard if node.get("is_final_answer")}
    stated: set[int] = set()
    missing: list[AnswerNode] = []
    for answer in answers:
        try:
            at = answer_index(in_dollars(answer.latex), formulas, context)
        except LatexSyntaxError:
            at = None
        stated |= set() if at is None else {at + 1}
        missing += [answer] if at is None else []
    for answer in missing:
        index = len(standard) + 1
        ends = sorted(own - stated)
        standard.append(
            {"index": index, "formula": answer.latex, "dependency": ends, "is_final_answer": True, "points": 0}
        )
        remarks.append(f"no criterion states the answer {one_line(answer.latex)}: it is a final node without points")
        for end in ends:
            standard[end - 1].pop("is_final_answer", None)
        own = own & stated
        stated.add(index)
    return standard


# The whole ---------------------------------------------------------------------------------------------------------

_Maker = Callable[[DatasetEntry, list[str]], _Made]


def _ways(entry: DatasetEntry, *, is_drafted: bool) -> Iterator[tuple[str, _Maker]]:
    """Yield the ways to give an entry more than its answers, the best first, each with the name of its DAG."""
    if entry.marking:
        yield "marking", _marked
    if entry.steps:
        yield "steps", _from_steps
    if is_drafted and entry.solution.strip():
        yield "drafted", _drafted


def _finished(found: _Made, entry: DatasetEntry, row: SourceRow, dataset: Dataset, dag: str) -> ConvertedProblem:
    """Return a problem with source, licence, images and metadata, seen to load without a fault.

    Errors:
        RefusedError: it has a fault.
    """
    made = found.problem
    images = images_of(entry.id, entry.images)
    data = dict(made.data)
    own = data.pop("metadata", {})
    data["source"] = data.get("source") or f"{dataset.name} {entry.id}"
    if entry.domain:
        data["domain"] = entry.domain
    if images.entries:
        data["images"] = list(images.entries)
    _check(data, is_linted=found.is_checked)
    gold = found.gold or own_gold(data, entry)
    below = [gold.remark(data)] if gold is not None and gold.score < 1 else []
    remarks = tuple(dict.fromkeys((*below, *made.remarks, *images.remarks)))
    metadata = dict(own) if isinstance(own, Mapping) else {}
    metadata.pop("remarks", None)
    metadata |= {"dag": dag, "dataset": dataset.name, "row": row.number, **entry.metadata}
    metadata |= {"licence": dataset.licence} if dataset.licence else {}
    metadata |= {"needs_image": True} if entry.needs_image else {}
    metadata |= {"recorded_answers": [_recorded(answer) for answer in entry.answers]} if entry.answers else {}
    metadata |= {"remarks": list(remarks)} if remarks else {}
    data["metadata"] = metadata
    return ConvertedProblem(data, remarks, made.notes, made.lost, made.faults, images.files, gold)


def _recorded(answer: RecordedAnswer) -> str:
    """Return an answer as it was recorded, with its label and its unit."""
    return " ".join(filter(None, (f"{answer.label}:" if answer.label else "", answer.text, answer.unit)))


def _check(data: Mapping[str, Any], *, is_linted: bool) -> None:
    """Raise RefusedError for a problem that does not load, or of which the linter faults a node."""
    if is_linted:
        try:
            load_problem(data)
        except DataFileError as error:
            raise RefusedError("faulty", "; ".join(error.faults)[:_MAX_FAULT]) from error
        return
    for place, why in _faults_of(data).items():
        raise RefusedError("faulty", f"node {place + 1}: {why}")


def unknown_answers(texts: Sequence[str], unit: str = "") -> tuple[RecordedAnswer, ...]:
    """Return recorded answers of which the data set says no more than their text, and a unit for all of them."""
    return tuple(RecordedAnswer(text, unit=unit) for text in texts if text.strip())
