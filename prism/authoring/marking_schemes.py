"""Convert a marking scheme into a problem: criteria with points become nodes.

For a criterion in words, the formulas that its first clause states become nodes and share its points; a formula after
"or" is accepted in place of the one before. A criterion without a formula cannot be graded by rule: its words and
points are kept in `metadata` and reported, so that nobody takes the rest for the whole. So is one whose formula is not
read, which is a fault of its row besides: the author meant a node. Edges that the scheme does not give are inferred
(`dependencies`).

Refused: a formula made out of words, and points moved from a criterion that is lost to one that is kept.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Formula, symbols, walk
from prism.authoring.candidates import (
    answer_index,
    find_faulty_nodes,
    is_same_node,
    is_step,
    node_candidate,
    split_statement,
    statement_context,
)
from prism.authoring.conversions import ConvertedProblem, entry_fault, plain_number
from prism.authoring.dependencies import RULES, infer_dependencies
from prism.budget import DRAFT, MERGING, READING, share
from prism.equivalence.facts import numeric_of
from prism.errors import DataFileError, LatexSyntaxError, raise_faults
from prism.inputs import nearest_name
from prism.latex import extract, one_line
from prism.physics.context import Context, describe_syntax_error, parse

_TEXT_KEYS = ("context", "problem", "question", "statement")
CRITERION_KEYS = ("formula", "criterion", "text", "description")
_MIN_OPERATIONS = 2  # fewest operations of an expression as a node; a product of two is matched by chance
_POINTS = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*-?\s*(?:pts?\b|points?\b|marks?\b|分)", re.IGNORECASE)
_REST = re.compile(  # begins the rest of a criterion: other credit, or what its symbols mean
    r"[.;,，。；]?\s*(?:\b(?:otherwise|partial(?:ly)?\s+(?:points?|credit|marks?)|if any one|where|with)\b"
    r"|否则|则得|说明|其中)|，得", re.IGNORECASE,
)  # fmt: skip
_OR = re.compile(r"\b(?:or|equivalent(?:ly)?|alternatively)\b|或|等价", re.IGNORECASE)
CONDITION = re.compile(
    r"(?:\b(?:for|at|when|if|case|limit|near|with|using|since|because|assuming|given|where|small|large)"
    r"(?:\s+(?:the|that|of|case|values?))*|[在当若])\s*(?:\$|\\\()?\s*$", re.IGNORECASE,
)  # fmt: skip
UNSTATED = "answers that no criterion is seen to state"
_CUT = "the operations of a conversion did not suffice"
_OTHERWISE = ("prose", "table", "chemistry", "figure")  # kinds of what is unread, and meant as no mathematics
_NAMES = re.compile(r"(?:\\[A-Za-z]+|[_^])\s*\{[^{}]*\}|\\[A-Za-z]+")  # words in these are names, or stand beside
_WORD = re.compile(r"(?<![A-Za-z])[a-z]{4}")  # a shorter one may be a product: `mgh`
_PHRASE = re.compile(
    r"(?=.*[A-Za-z]{3})\s*[A-Za-z]+(?:[ ,;:.'-]+[A-Za-z]+)+[.!]?\s*"
)  # `Say it`: words, no sign between
DELIMITERS = re.compile(r"\\[()\[\]]|\$")


@dataclass(frozen=True, slots=True)
class _Criterion:
    """One criterion of a marking scheme: words, points, and the lines (from 1) it depends on, None if not stated.

    Attributes:
        field: key of the words, `formula` or `criterion`; empty if the criterion is nothing but words.
    """

    text: str
    points: Fraction
    dependency: tuple[int, ...] | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class _PaidFormula:
    """A formula that a marking scheme gives points for; `lines` are the indices (from 0) of its criteria."""

    formula: Formula
    latex: str
    lines: tuple[int, ...]
    points: Fraction
    accept: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        """Index (from 0) of the first criterion that states the formula."""
        return self.lines[0]


@dataclass(frozen=True, slots=True)
class _Scheme:
    """A marking scheme while it is converted: its entry, statement with context, and criteria; remarks are added."""

    entry: Mapping[str, Any]
    statement: str
    context: Context
    criteria: Sequence[_Criterion]
    remarks: list[str]

    @property
    def points(self) -> Fraction:
        """Return the points of all criteria."""
        return sum((each.points for each in self.criteria), Fraction(0))


def convert_scheme(entry: Mapping[str, Any], stem: str) -> ConvertedProblem:
    """Return the problem for an entry with `marking`; criteria without a formula are kept in its `metadata`.

    Errors:
        DataFileError: no criterion can be a node, or some are no criteria at all.
    """
    statement = next((entry[key] for key in _TEXT_KEYS if isinstance(entry.get(key), str)), "")
    ways = _read_ways(entry["marking"])
    remarks = _unread_keys(entry["marking"])
    scheme = _Scheme(entry, statement, statement_context(statement), ways[0], remarks)
    if len(ways) > 1:
        remarks.append(f"the scheme has {len(ways)} ways; the first one makes the nodes, the others stand in metadata")
    criteria = scheme.criteria
    found: list[_PaidFormula] = []
    faults: list[str] = []
    with share(READING) as reading:
        for line, criterion in enumerate(criteria):
            where = ", ".join(("marking", *(["way 1"] if len(ways) > 1 else []), f"entry {line + 1}"))
            unread: list[str] = []
            stated = list(_formulas_of_criterion(criterion, line, scheme.context, unread))
            found += stated
            told = [f"{', '.join(filter(None, (where, criterion.field)))}: {why}" for why in unread]
            faults += [] if stated else told
            remarks += told if stated else []
    if reading.is_exhausted:
        remarks.append(f"{_CUT} to look at the formulas of all criteria: the last ones are missing")
    merged = _merge_duplicates(found, scheme)
    if not merged and faults:
        raise DataFileError("<entry>", tuple(faults))
    marked, lost = _drop_faulty(merged, scheme)
    paid = {line for each in marked for line in each.lines}
    in_words = [line for line in range(len(criteria)) if line not in paid]
    carried = sum((each.points for each in marked), Fraction(0))
    if in_words:
        remarks.append(
            f"{len(in_words)} of {len(criteria)} criteria have no formula that a rule can look for; the nodes carry"
            f" {plain_number(carried)} of {plain_number(scheme.points)} points"
        )
    data, notes = _scheme_data(marked, scheme, stem, remarks)
    keys = (*_TEXT_KEYS, "id", "marking", "points")
    rest = {key: value for key, value in entry.items() if key not in keys and _has_content(value)}
    words = [{"criterion": criteria[k].text, "points": plain_number(criteria[k].points)} for k in in_words]
    others = [[each.text for each in way] for way in ways[1:]]
    extra = {"criteria_in_words": words, "other_ways": others, "remarks": list(remarks), **rest}
    data["metadata"] = {
        "converted": "by rule from a marking scheme; not checked by a person",
        **{key: value for key, value in extra.items() if value},
    }
    return ConvertedProblem(data, tuple(remarks), notes, lost, tuple(faults))


def _has_content(value: object) -> bool:
    """Return True if a value is not None, not an empty text, and not a list of such values."""
    if isinstance(value, list):
        return any(_has_content(each) for each in value)
    return value is not None and value != ""


def _read_ways(marking: Sequence[object]) -> list[list[_Criterion]]:
    """Return the criteria of a scheme, one list for each alternative way of solving the problem.

    Errors:
        DataFileError: all entries that are no criterion or have unreadable points.
    """
    faults: list[str] = []
    lists = [each for each in marking if isinstance(each, list)]
    ways = lists if len(lists) == len(marking) and lists else [list(marking)]
    found = [
        [
            criterion
            for n, each in enumerate(way, start=1)
            if (
                criterion := _read_criterion(
                    each, n, f"marking, {f'way {k}, ' if len(ways) > 1 else ''}entry {n}", faults
                )
            )
        ]
        for k, way in enumerate(ways, start=1)
    ]
    if not faults and not (found and found[0]):
        faults.append("marking: holds no criterion")
    raise_faults(faults, "<entry>")
    return found


def _unread_keys(marking: Sequence[object]) -> list[str]:
    """Return a remark for each key of a scheme's criteria that no criterion has: `pts`."""
    known = (*CRITERION_KEYS, "points", "dependency")
    criteria = [one for each in marking for one in (each if isinstance(each, list) else [each])]
    keys = dict.fromkeys(key for one in criteria if isinstance(one, Mapping) for key in one)
    unread = [key for key in keys if key is not None and key not in known]
    near = {key: nearest_name(key, known) for key in unread}
    return [f"`{key}` is not read{f'; did you mean {near[key]}?' if near[key] else ''}" for key in unread]


def _read_criterion(entry: object, n: int, where: str, faults: list[str]) -> _Criterion | None:
    """Return criterion n from words that name points, or from a table; None if it is neither, with a fault added."""
    if isinstance(entry, str):
        found = next((Fraction(m[1]) for m in _POINTS.finditer(entry) if Fraction(m[1])), None)
        return _Criterion(entry, Fraction(0) if found is None else found)
    if not isinstance(entry, Mapping):
        faults.append(f"{where}: {str(entry)[:60]!r} is neither words nor a table of formula and points")
        return None
    field = next((key for key in CRITERION_KEYS if isinstance(entry.get(key), str) and entry[key].strip()), "")
    text = entry[field] if field else ""
    if not text:
        faults.append(f"{where}, formula: is missing")
    points = _read_points(entry.get("points"), f"{where}, points", faults)
    dependency = _read_dependency(entry.get("dependency"), n, f"{where}, dependency", faults)
    if field == "formula" and not (DELIMITERS.search(text) or _is_words(text)):
        text = f"$${text}$$"
    return _Criterion(text, points, dependency, field)


def _is_words(text: str) -> bool:
    """Return True if a text without delimiters is words and no formula, which products of letters look like."""
    return bool(_WORD.search(_NAMES.sub(" ", text)) or _PHRASE.fullmatch(text))


def _read_points(value: object, where: str, faults: list[str]) -> Fraction:
    """Return the points of a criterion, 1 if none are given; an unreadable value gives 0 and adds a fault."""
    if value in (None, ""):
        return Fraction(1)
    try:
        found = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if found < 0 or isinstance(value, bool):
        faults.append(f"{where}: {value!r} is no number of points")
        return Fraction(0)
    return found


def _read_dependency(value: object, n: int, where: str, faults: list[str]) -> tuple[int, ...] | None:
    """Return the lines (from 1) that criterion n depends on; None if it does not say, or if it is unreadable."""
    if value is None:
        return None
    items = re.split(r"[\s,;]+", value.strip("[] ")) if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(str(item).isdecimal() for item in items if item != ""):
        faults.append(f"{where}: {value!r} is no list of lines, counted from 1")
        return None
    lines = tuple(int(item) for item in items if item != "")
    faults += [f"{where}: {line} is no earlier line" for line in lines if not 1 <= line < n]
    return lines


def _formulas_of_criterion(
    criterion: _Criterion, line: int, context: Context, unread: list[str]
) -> Iterator[_PaidFormula]:
    """Yield the formulas that the first clause of a criterion states, each with an equal share of its points.

    Args:
        unread: gets why, for each formula that cannot be read.
    """
    found: list[_PaidFormula] = []
    expressions: list[_PaidFormula] = []
    whole = extract(criterion.text)
    text = whole.text
    end = 0
    for item in whole:
        is_cut = any(m.start() < item.span[0] for m in _REST.finditer(text) if not _is_inside_formula(m.start(), whole))
        if item.span[0] < end or item.kind == "thinking" or (is_cut and found):
            continue
        try:
            read = parse(item.latex, context=context)
        except LatexSyntaxError as error:
            if error.kind not in _OTHERWISE:
                unread.append(one_line(describe_syntax_error(error)))
            continue
        if read.kind == "expression" and _is_substantial(read):
            expressions.append(_PaidFormula(read, item.latex, (line,), Fraction(0)))
        pieces = [f for f in split_statement(read) if isinstance(f, Formula)]
        if read.kind == "chain" and pieces:
            pieces = _chain_ends(pieces)
        for f in pieces:
            picked = node_candidate(f, item.latex, context, is_whole=f is read)
            if picked.why_not or (not is_step(f) and CONDITION.search(text[: item.span[0]])):
                continue
            if found and _OR.search(text[end : item.span[0]]) and end:
                found[-1] = replace(found[-1], accept=(*found[-1].accept, picked.latex))
            else:
                found.append(_PaidFormula(f, picked.latex, (line,), Fraction(0)))
        end = item.span[1]
    if any(each.formula.kind == "equation" for each in found):  # beside an equation an inequality is its condition
        found = [each for each in found if each.formula.kind == "equation"]
    found = found or expressions[-1:]
    for k, points in enumerate(_share_points(criterion.points, len(found))):
        yield replace(found[k], points=points)


def _is_substantial(f: Formula) -> bool:
    """Return True if a bare expression has two operations and two symbols at least; others match by chance."""
    operations = sum(max(len(node.args) - 1, 1) for node in walk(f.members[0]) if node.args)
    return operations >= _MIN_OPERATIONS and len(symbols(f.members[0])) > 1


def _is_inside_formula(position: int, items: Sequence[Any]) -> bool:
    """Return True if a text position lies within one of the extracted formulas."""
    return any(item.span[0] <= position < item.span[1] for item in items)


def _chain_ends(pieces: list[Formula]) -> list[Formula]:
    """Return the last formula and the last stated number among the pieces of a chain."""
    formulas = [f for f in pieces if numeric_of(f) is None]
    numbers = [f for f in pieces if numeric_of(f) is not None]
    return formulas[-1:] + numbers[-1:]


def _share_points(points: Fraction, n: int) -> list[Fraction]:
    """Return points as n shares of whole thousandths, the last one with the remainder; empty if n is 0."""
    if not n:
        return []
    share = Fraction(round(points / n * 1000), 1000)
    return [share] * (n - 1) + [points - share * (n - 1)]


def _merge_duplicates(marked: Sequence[_PaidFormula], scheme: _Scheme) -> list[_PaidFormula]:
    """Return the formulas with equivalent ones merged; a formula that two criteria state has the points of both."""
    merged: list[_PaidFormula] = []
    dear: Counter[Formula] = Counter()
    n_compared = 0
    with share(MERGING) as merging:
        for each in marked:
            same = (is_same_node(other.formula, each.formula, scheme.context, dear) for other in merged)
            at = next((k for k, is_same in enumerate(same) if is_same), None)
            n_compared += 1
            if at is None:
                merged.append(each)
                continue
            other = merged[at]
            if each.line not in other.lines:
                scheme.remarks.append(
                    f"criteria {other.line + 1} and {each.line + 1} pay for one formula, {other.latex}"
                )
            merged[at] = replace(
                other, lines=tuple(dict.fromkeys(other.lines + each.lines)), points=other.points + each.points,
                accept=(*other.accept, *each.accept),
            )  # fmt: skip
    if merging.is_exhausted or dear:
        scheme.remarks.append(f"{_CUT} to compare all formulas with each other: look for two nodes that say the same")
    return [*merged, *marked[n_compared:]]


def _drop_faulty(marked: list[_PaidFormula], scheme: _Scheme) -> tuple[list[_PaidFormula], Fraction]:
    """Return the formulas that make nodes without fault, and the points of all others; a dropped one is a remark.

    Errors:
        DataFileError: no formula is left.
    """
    left: float = DRAFT
    remarks = scheme.remarks
    while marked:
        if not sum(each.points for each in marked):
            remarks.append("no criterion with a formula has points; each formula has 1")
            marked = [replace(each, points=Fraction(1)) for each in marked]
        data, _notes = _scheme_data(marked, scheme, "scheme", [])
        with share(math.inf) as account:
            found = find_faulty_nodes(data, left)
        left = max(left - account.spent, 0)
        if not found.why:
            if found.is_cut:
                remarks.append(f"{_CUT} to check all nodes: run `prism lint`")
            break
        remarks += [f"no node: {marked[k].latex} ({why})" for k, why in sorted(found.why.items())]
        marked = [each for k, each in enumerate(marked) if k not in found.why]
    if not marked:
        raise entry_fault("; ".join(("marking: no criterion has a formula that can be a node", *remarks[:3])))
    return marked, max(scheme.points - sum((each.points for each in marked), Fraction(0)), Fraction(0))


def _scheme_data(
    marked: Sequence[_PaidFormula], scheme: _Scheme, stem: str, remarks: list[str]
) -> tuple[dict[str, Any], dict[int, tuple[str, ...]]]:
    """Return the content of a problem file as a dictionary, and the comment lines of each node by index.

    Args:
        stem: name of the converted file, the problem's id if the entry has none.
        remarks: gets a line for answers that no formula states.
    """
    finals = _final_positions(marked, scheme, remarks)
    edges, why = _scheme_edges(marked, scheme, finals)
    standard = []
    notes: dict[int, tuple[str, ...]] = {}
    for k, each in enumerate(marked):
        node: dict[str, Any] = {"index": k + 1, "formula": each.latex, "dependency": [j + 1 for j in sorted(edges[k])]}
        if k in finals:
            node["is_final_answer"] = True
        node["points"] = plain_number(each.points)
        if each.accept:
            node["accept"] = list(each.accept)
        standard.append(node)
        origins: dict[str, list[str]] = {}
        for origin in sorted(edges[k]):
            origins.setdefault(why[k][origin], []).append(str(origin + 1))
        edge_lines = [f"Edge from {', '.join(numbers)}: {reason}" for reason, numbers in origins.items()]
        paid = [f"Criterion {line + 1}: {one_line(scheme.criteria[line].text)}" for line in each.lines]
        notes[k + 1] = (*paid, *edge_lines)
    name = scheme.entry.get("id")
    shown = str(name) if name not in (None, "") else stem
    data: dict[str, Any] = {"id": shown, "context": scheme.statement, "grading_standard": standard}
    return data, notes


def _final_positions(marked: Sequence[_PaidFormula], scheme: _Scheme, remarks: list[str]) -> set[int]:
    """Return the indices of the formulas that state the answers of the entry, and of the last formula."""
    given = scheme.entry.get("answer")
    answers = given if isinstance(given, list) else [given]
    formulas = [each.formula for each in marked]
    finals: set[int] = set()
    missed: list[str] = []
    for answer in answers:
        if not isinstance(answer, str) or not answer.strip():
            continue
        try:
            place = answer_index(answer, formulas, scheme.context)
        except LatexSyntaxError:
            place = None
        if place is None:
            missed.append(answer)
        else:
            finals.add(place)
    if missed:
        remarks.append(f"{UNSTATED}: {'; '.join(map(one_line, missed))}")
    return finals | {len(marked) - 1}


def _scheme_edges(
    marked: Sequence[_PaidFormula], scheme: _Scheme, finals: set[int]
) -> tuple[list[set[int]], list[dict[int, str]]]:
    """Return for each node the indices it depends on, and the reasons by index: as the scheme says, else inferred."""
    made = infer_dependencies([each.formula for each in marked], finals, scheme.context)
    edges: list[set[int]] = []
    why: list[dict[int, str]] = []
    for k, each in enumerate(marked):
        lines_named = scheme.criteria[each.line].dependency
        if lines_named is None:
            edges.append({edge.origin for edge in made.edges[k] if not edge.is_implied})
            why.append({edge.origin: RULES[edge.rule] for edge in made.edges[k]})
            continue
        places = {j for j in range(k) if marked[j].line + 1 in lines_named}
        edges.append(places)
        why.append(dict.fromkeys(places, "the list says so"))
    reached = set(finals)
    for k in range(len(marked) - 1, -1, -1):
        if k not in reached:
            final = min(place for place in finals if place > k)
            edges[final].add(k)
            why[final][k] = RULES["answer"]
        reached |= {k, *edges[k]}
    return edges, why
