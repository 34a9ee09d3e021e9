r"""Problem files from what others have: the dataset's published shape, marking schemes, plain lists of formulas.

*A problem* (its list of nodes says so) is kept as it is: nodes, edges, answers, what its parts ask for. What has no
place in a problem file goes into `metadata`; pictures are named there and dropped.

*A marking scheme* has criteria, each worth points: an entry with `marking`, or a plain list or CSV of `formula`,
`points`, `dependency`. A criterion in words is asked what formulas its first clause states; several share its points,
one behind "or" is accepted in the place of the one before. A criterion without a formula cannot be graded by rule: its
words and points are kept in `metadata` and told, so that nobody takes the rest for the whole. Edges that the list does
not give are those of `derivation`.

Refused: a formula made out of words, and points moved from a criterion that is lost to one that is kept.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from prism.algebra.expr import Formula, symbols, walk
from prism.authoring.candidates import context_of, faulty_nodes, is_same_node, is_step, node_of, pieces_of, place_of
from prism.authoring.dependencies import RULES, derivation_of
from prism.equivalence.numbers import numeric_of
from prism.errors import DataFileError, LatexSyntaxError, PrismError
from prism.latex import extract, one_line
from prism.physics.context import Context, parse
from prism.problem.dag import implied_edges
from prism.problem.schema import load_problem
from prism.problem.toml_writer import problem_toml

NODE_LISTS = ("grading_standard", "dag", "grading", "core_formulas")
SUFFIXES = (".json", ".jsonl", ".toml", ".csv")
_KEPT = (
    "id", "context", "title", "domain", "kind", "origin", "source", "difficulty", "givens", "symbols", "definitions",
    "subquestions", "students", "final_answer_form", "final_answer_instructions", "significant_figures",
)  # fmt: skip
_TEXT_KEYS = ("context", "problem", "question", "statement")
_CRITERION_KEYS = ("formula", "criterion", "text", "description")
_MIN_OPERATIONS = 2  # of an expression that a criterion asks for; a product of two is met by chance
_POINTS = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*-?\s*(?:pts?\b|points?\b|marks?\b|分)", re.IGNORECASE)
_REST = re.compile(  # what of a criterion says what else may be given, or what its symbols are
    r"[.;,，。；]?\s*(?:\b(?:otherwise|partial(?:ly)?\s+(?:points?|credit|marks?)|if any one|where|with)\b"
    r"|否则|则得|说明|其中)|，得", re.IGNORECASE,
)  # fmt: skip
_OR = re.compile(r"\b(?:or|equivalent(?:ly)?|alternatively)\b|或|等价", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:\b(?:for|at|when|if|case|limit|near|with|using|since|because|assuming|given|where|small|large)"
    r"(?:\s+(?:the|that|of|case|values?))*|[在当若])\s*(?:\$|\\\()?\s*$", re.IGNORECASE,
)  # fmt: skip
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")  # characters that a file's name may not have everywhere
_MAX_NAME = 100  # characters of it
_DELIMITERS = re.compile(r"\\[()\[\]]|\$")


@dataclass(frozen=True, slots=True)
class Converted:
    """One problem file.

    Attributes:
        data: its keys, as `load_problem` takes them.
        remarks: what a person should know; also in its `metadata`.
        notes: comment lines by node.
        lost: points of criteria that became no node.
    """

    data: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
    notes: Mapping[int, tuple[str, ...]] | None = None
    lost: Fraction = Fraction(0)

    def toml(self) -> str:
        """The problem file."""
        return problem_toml(self.data, head=[f"Note: {remark}" for remark in self.remarks], notes=self.notes)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a file: its problems, and of those that cannot be converted all faults, by entry and field."""

    problems: tuple[Converted, ...]
    faults: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "problems": [
                {"problem": dict(each.data), "remarks": list(each.remarks), "points_lost": _plain(each.lost)}
                for each in self.problems
            ],
            "faults": list(self.faults),
        }


def texts_of(made: Conversion) -> list[str]:
    """What goes to a terminal: one problem as TOML, several as JSON, one a line."""
    if len(made.problems) == 1:
        return [made.problems[0].toml()]
    return [json.dumps(each.data, ensure_ascii=False) + "\n" for each in made.problems]


def files_of(made: Conversion, out: Path | None) -> list[tuple[Path, str]]:
    """What goes into files: one problem into a file of its name, several into a `.jsonl` or a folder.

    Errors:
        PrismError: several problems for one file.
    """
    if out is None or not made.problems:
        return []
    if out.suffix == ".jsonl":
        return [(out, "".join(json.dumps(each.data, ensure_ascii=False) + "\n" for each in made.problems))]
    if out.suffix in (".toml", ".json"):
        if len(made.problems) > 1:
            raise PrismError(
                f"{out}: {len(made.problems)} problems do not go into one {out.suffix}; give a folder or .jsonl"
            )
        data = made.problems[0].data
        is_json = out.suffix == ".json"
        return [(out, json.dumps(data, ensure_ascii=False, indent=1) + "\n" if is_json else made.problems[0].toml())]
    if out.suffix:
        raise PrismError(f"{out}: give a .toml, .json or .jsonl file, or a folder")
    taken: dict[str, int] = {}
    files = []
    for each in made.problems:
        name = _NO_NAME.sub("_", str(each.data["id"])).strip("._")[:_MAX_NAME] or "problem"
        taken[name.casefold()] = taken.get(name.casefold(), 0) + 1
        count = taken[name.casefold()]
        files.append((out / f"{name if count == 1 else f'{name}~{count}'}.toml", each.toml()))
    return files


def convert(path: Path) -> Conversion:
    """The problems of a file (`.json`, `.jsonl`, `.toml`, `.csv`), each converted by what it looks like.

    Errors:
        DataFileError: the file is not read, or holds nothing to convert.
    """
    problems: list[Converted] = []
    faults: list[str] = []
    for where, entry in _entries(path):
        try:
            problems.append(_converted(entry, path.stem))
        except DataFileError as error:
            faults += [f"{where}{fault}" for fault in error.faults]
    return Conversion(tuple(problems), tuple(faults))


def _fault(text: str) -> DataFileError:
    return DataFileError("<entry>", (text,))


# The file ---------------------------------------------------------------------------------------------------------


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each problem of a file as a table, with words for its place."""
    if path.suffix not in SUFFIXES:
        raise DataFileError(str(path), (f"is named {path.suffix or 'without an ending'}; give {', '.join(SUFFIXES)}",))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(str(path), (f"cannot be read: {error}",)) from error
    if path.suffix == ".toml":
        yield "", _decoded(text, tomllib.loads, str(path))
        return
    if path.suffix == ".csv":
        yield "", {"marking": list(csv.DictReader(io.StringIO(text)))}
        return
    if path.suffix == ".jsonl":
        lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        listed = [(f"line {n}, ", _decoded(line, _json, f"{path}:{n}")) for n, line in lines]
    else:
        found = _decoded(text, _json, str(path))
        listed = [("", found)] if isinstance(found, Mapping) else []
        if isinstance(found, list):
            plain = found and all(isinstance(each, Mapping) and _is_criterion(each) for each in found)
            listed = (
                [("", {"marking": found})] if plain else [(f"entry {n}, ", e) for n, e in enumerate(found, start=1)]
            )
    if not listed:
        raise DataFileError(str(path), ("holds no problem: give a table, a list of them, or one a line",))
    for where, entry in listed:
        if not isinstance(entry, Mapping):
            raise DataFileError(str(path), (f"{where}{str(entry)[:60]!r} is no table",))
        named = entry.get("id")
        yield f"{where}{named}: " if named else where, entry


def _decoded(text: str, reader: Callable[[str], Any], name: str) -> Any:
    try:
        return reader(text)
    except (ValueError, RecursionError) as error:  # of both decoders, and of numbers that JSON does not have
        raise DataFileError(name, (f"cannot be read: {error}",)) from error


def _json(text: str) -> Any:
    def refuse(word: str) -> object:
        raise ValueError(f"{word} is no JSON number")

    return json.loads(text, parse_constant=refuse)


def _is_criterion(entry: Mapping[str, Any]) -> bool:
    return any(key in entry for key in _CRITERION_KEYS) and not any(key in entry for key in (*NODE_LISTS, "marking"))


def _converted(entry: Mapping[str, Any], stem: str) -> Converted:
    if any(entry.get(key) is not None for key in NODE_LISTS):
        return _of_problem(entry)
    if isinstance(entry.get("marking"), list):
        return _of_scheme(entry, stem)
    raise _fault(f"has neither nodes ({', '.join(NODE_LISTS)}) nor a list `marking`")


# Problems in the published shape ----------------------------------------------------------------------------------


def _of_problem(entry: Mapping[str, Any]) -> Converted:
    """The same problem with its nodes under one name, direct edges only, and nothing that the loader does not know."""
    loaded = load_problem(entry)
    remarks: list[str] = []
    data: dict[str, Any] = {key: entry[key] for key in _KEPT if entry.get(key) is not None}
    data["id"] = loaded.id
    name = next(key for key in NODE_LISTS if entry.get(key) is not None)
    implied = set(implied_edges(loaded.dag))
    standard = []
    for node in sorted(entry[name], key=lambda node: int(node["index"])):
        kept = dict(node)
        kept["formula"] = _without_delimiters(kept["formula"])
        drop = {origin for origin, index in implied if index == node["index"]}
        if drop:
            kept["dependency"] = [origin for origin in node["dependency"] if origin not in drop]
            dropped = " and ".join(map(str, sorted(drop)))
            remarks.append(f"node {node['index']}: dependency on {dropped} is implied by the others and left out")
        standard.append(kept)
    data["grading_standard"] = standard
    own = entry.get("metadata")
    metadata: dict[str, Any] = dict(own) if isinstance(own, Mapping) else {} if own is None else {"metadata": own}
    unknown = {key: value for key, value in entry.items() if key not in (*_KEPT, name, "images", "metadata", "$schema")}
    metadata |= {key: value for key, value in unknown.items() if value is not None}
    if entry.get("images"):
        remarks.append("the pictures are left out; their captions stand in metadata")
        metadata["images"] = entry["images"]
    if unknown:
        remarks.append(f"no keys of a problem file, kept in metadata: {', '.join(unknown)}")
    if metadata:
        data["metadata"] = metadata
    _check_loads(data, loaded.sha256)
    return Converted(data, tuple(remarks))


def _check_loads(data: Mapping[str, Any], digest: str) -> None:
    """What is written has to load; anything else is a fault of this room, told as one."""
    try:
        load_problem(data)
    except DataFileError as error:
        raise _fault(f"is lost in the conversion ({digest[:8]}): {error}") from error


def _without_delimiters(latex: object) -> object:
    r"""`$$E = mc^2$$` as `E = mc^2`: the file needs no delimiters."""
    if not isinstance(latex, str):
        return latex
    text = latex.strip()
    for left, right in (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)")):
        inner = text[len(left) : -len(right)]
        if text.startswith(left) and text.endswith(right) and len(text) > len(left + right):
            return inner.strip() if not _DELIMITERS.search(inner) else latex
    return latex


# Marking schemes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Criterion:
    """One line of a scheme: its words, its points, and what it says that it follows from (by line, from 1)."""

    text: str
    points: Fraction
    dependency: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Marked:
    """A formula that criteria pay for; lines count them from 0."""

    formula: Formula
    latex: str
    lines: tuple[int, ...]
    points: Fraction
    accept: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        """Where it stands."""
        return self.lines[0]


def _of_scheme(entry: Mapping[str, Any], stem: str) -> Converted:
    """Nodes from criteria."""
    statement = next((entry[key] for key in _TEXT_KEYS if isinstance(entry.get(key), str)), "")
    context = context_of(statement)
    remarks: list[str] = []
    ways = _ways(entry["marking"])
    if len(ways) > 1:
        remarks.append(f"the scheme has {len(ways)} ways; the first one makes the nodes, the others stand in metadata")
    criteria = ways[0]
    found = [each for line, criterion in enumerate(criteria) for each in _formulas_of(criterion, line, context)]
    marked, lost = _checked(_joined(found, context, remarks), criteria, entry, statement, context, remarks)
    paid = {line for each in marked for line in each.lines}
    in_words = [line for line in range(len(criteria)) if line not in paid]
    kept = sum((each.points for each in marked), Fraction(0))
    if in_words:
        total = sum((each.points for each in criteria), Fraction(0))
        remarks.append(
            f"{len(in_words)} of {len(criteria)} criteria have no formula that a rule can look for; the nodes carry"
            f" {_plain(kept)} of {_plain(total)} points"
        )
    data, notes = _scheme_data(marked, criteria, entry, stem, statement, context, remarks)
    keys = (*_TEXT_KEYS, "id", "marking", "points")
    rest = {key: value for key, value in entry.items() if key not in keys and _says_something(value)}
    words = [{"criterion": criteria[k].text, "points": _plain(criteria[k].points)} for k in in_words]
    others = [[each.text for each in way] for way in ways[1:]]
    told = {"criteria_in_words": words, "other_ways": others, "remarks": list(remarks), **rest}
    data["metadata"] = {
        "converted": "by rule from a marking scheme; not checked by a person",
        **{key: value for key, value in told.items() if value},
    }
    return Converted(data, tuple(remarks), notes, lost)


def _says_something(value: object) -> bool:
    if isinstance(value, list):
        return any(_says_something(each) for each in value)
    return value is not None and value != ""


def _ways(marking: Sequence[object]) -> list[list[_Criterion]]:
    """The criteria of a scheme; several lists in it are several ways to the same answer.

    Errors:
        DataFileError: all criteria that are none, or have no points.
    """
    faults: list[str] = []
    lists = [each for each in marking if isinstance(each, list)]
    ways = lists if len(lists) == len(marking) and lists else [list(marking)]
    found = [
        [
            criterion
            for n, each in enumerate(way, start=1)
            if (criterion := _criterion(each, f"marking, {f'way {k}, ' if len(ways) > 1 else ''}entry {n}", faults))
        ]
        for k, way in enumerate(ways, start=1)
    ]
    if not faults and not (found and found[0]):
        faults.append("marking: holds no criterion")
    if faults:
        raise DataFileError("<entry>", tuple(faults))
    return found


def _criterion(entry: object, where: str, faults: list[str]) -> _Criterion | None:
    """One criterion: words that name their points, or a table of formula, points and dependency."""
    if isinstance(entry, str):
        found = next((Fraction(m[1]) for m in _POINTS.finditer(entry) if Fraction(m[1])), None)
        return _Criterion(entry, Fraction(0) if found is None else found)
    if not isinstance(entry, Mapping):
        faults.append(f"{where}: {str(entry)[:60]!r} is neither words nor a table of formula and points")
        return None
    text = next((entry[key] for key in _CRITERION_KEYS if isinstance(entry.get(key), str) and entry[key].strip()), "")
    if not text:
        faults.append(f"{where}, formula: is missing")
    points = _points(entry.get("points"), f"{where}, points", faults)
    dependency = _dependency(entry.get("dependency"), f"{where}, dependency", faults)
    if "formula" in entry and isinstance(entry["formula"], str) and not _DELIMITERS.search(text):
        text = f"$${text}$$"
    return _Criterion(text, points, dependency)


def _points(value: object, where: str, faults: list[str]) -> Fraction:
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


def _dependency(value: object, where: str, faults: list[str]) -> tuple[int, ...] | None:
    """Lines that a criterion rests on; None where the list does not say."""
    if value is None:
        return None
    items = re.split(r"[\s,;]+", value.strip("[] ")) if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(str(item).isdecimal() for item in items if item != ""):
        faults.append(f"{where}: {value!r} is no list of lines, counted from 1")
        return None
    return tuple(int(item) for item in items if item != "")


def _formulas_of(criterion: _Criterion, line: int, context: Context) -> Iterator[_Marked]:
    """The formulas that the first clause of a criterion states, its points shared among them."""
    found: list[_Marked] = []
    expressions: list[_Marked] = []
    whole = extract(criterion.text)
    text = whole.text
    end = 0
    for item in whole:
        is_cut = any(m.start() < item.span[0] for m in _REST.finditer(text) if not _inside(m.start(), whole))
        if item.span[0] < end or item.kind == "thinking" or (is_cut and found):
            continue
        try:
            read = parse(item.latex, context=context)
        except LatexSyntaxError:
            continue
        if read.kind == "expression" and _is_worth_asking(read):
            expressions.append(_Marked(read, item.latex, (line,), Fraction(0)))
        pieces = [f for f in pieces_of(read) if isinstance(f, Formula)]
        if read.kind == "chain" and pieces:
            pieces = _ends(pieces)
        for f in pieces:
            picked = node_of(f, item.latex, context, is_whole=f is read)
            if picked.why_not or (not is_step(f) and _CONDITION.search(text[: item.span[0]])):
                continue
            if found and _OR.search(text[end : item.span[0]]) and end:
                found[-1] = replace(found[-1], accept=(*found[-1].accept, picked.latex))
            else:
                found.append(_Marked(f, picked.latex, (line,), Fraction(0)))
        end = item.span[1]
    if any(each.formula.kind == "equation" for each in found):  # beside an equation an inequality is its condition
        found = [each for each in found if each.formula.kind == "equation"]
    found = found or expressions[-1:]
    for k, share in enumerate(_shares(criterion.points, len(found))):
        yield replace(found[k], points=share)


def _is_worth_asking(f: Formula) -> bool:
    """Whether an expression without a relation is more than a name or a guess."""
    operations = sum(max(len(node.args) - 1, 1) for node in walk(f.members[0]) if node.args)
    return operations >= _MIN_OPERATIONS and len(symbols(f.members[0])) > 1


def _inside(position: int, items: Sequence[Any]) -> bool:
    return any(item.span[0] <= position < item.span[1] for item in items)


def _ends(pieces: list[Formula]) -> list[Formula]:
    """Of a chain what it ends in: the last formula, and the number that it is worked out to."""
    formulas = [f for f in pieces if numeric_of(f) is None]
    numbers = [f for f in pieces if numeric_of(f) is not None]
    return formulas[-1:] + numbers[-1:]


def _shares(points: Fraction, n: int) -> list[Fraction]:
    """Points in n parts that a file can hold: thousandths, the last part with the rest."""
    if not n:
        return []
    share = Fraction(round(points / n * 1000), 1000)
    return [share] * (n - 1) + [points - share * (n - 1)]


def _joined(marked: Sequence[_Marked], context: Context, remarks: list[str]) -> list[_Marked]:
    """Formulas without repetitions: what two criteria pay for is worth both."""
    kept: list[_Marked] = []
    for each in marked:
        at = next((k for k, other in enumerate(kept) if is_same_node(other.formula, each.formula, context)), None)
        if at is None:
            kept.append(each)
            continue
        other = kept[at]
        if each.line not in other.lines:
            remarks.append(f"criteria {other.line + 1} and {each.line + 1} pay for one formula, {other.latex}")
        kept[at] = replace(
            other, lines=tuple(dict.fromkeys(other.lines + each.lines)), points=other.points + each.points,
            accept=(*other.accept, *each.accept),
        )  # fmt: skip
    return kept


def _checked(
    marked: list[_Marked],
    criteria: Sequence[_Criterion],
    entry: Mapping[str, Any],
    statement: str,
    context: Context,
    remarks: list[str],
) -> tuple[list[_Marked], Fraction]:
    """The formulas without those that the linter faults, and the points of criteria that have none left."""
    while marked:
        if not sum(each.points for each in marked):
            remarks.append("no criterion with a formula has points; each formula has 1")
            marked = [replace(each, points=Fraction(1)) for each in marked]
        data, _notes = _scheme_data(marked, criteria, entry, "scheme", statement, context, [])
        faulty, _problem = faulty_nodes(data)
        if not faulty:
            break
        remarks += [f"no node: {marked[k].latex} ({why})" for k, why in sorted(faulty.items())]
        marked = [each for k, each in enumerate(marked) if k not in faulty]
    if not marked:
        raise _fault("marking: no criterion has a formula that can be a node; " + "; ".join(remarks[:3]))
    total = sum((each.points for each in criteria), Fraction(0))
    return marked, max(total - sum((each.points for each in marked), Fraction(0)), Fraction(0))


def _scheme_data(
    marked: Sequence[_Marked],
    criteria: Sequence[_Criterion],
    entry: Mapping[str, Any],
    stem: str,
    statement: str,
    context: Context,
    remarks: list[str],
) -> tuple[dict[str, Any], dict[int, tuple[str, ...]]]:
    """The keys of a problem file, and comment lines by node."""
    finals = _finals(marked, entry, context, remarks)
    edges, why = _edges(marked, criteria, finals, context)
    standard = []
    notes: dict[int, tuple[str, ...]] = {}
    for k, each in enumerate(marked):
        node: dict[str, Any] = {"index": k + 1, "formula": each.latex, "dependency": [j + 1 for j in sorted(edges[k])]}
        if k in finals:
            node["is_final_answer"] = True
        node["points"] = _plain(each.points)
        if each.accept:
            node["accept"] = list(each.accept)
        standard.append(node)
        origins: dict[str, list[str]] = {}
        for origin in sorted(edges[k]):
            origins.setdefault(why[k][origin], []).append(str(origin + 1))
        told = [f"Edge from {', '.join(mine)}: {reason}" for reason, mine in origins.items()]
        paid = [f"Criterion {line + 1}: {one_line(criteria[line].text)}" for line in each.lines]
        notes[k + 1] = (*paid, *told)
    name = entry.get("id")
    shown = str(name) if name not in (None, "") else stem
    data: dict[str, Any] = {"id": shown, "context": statement, "grading_standard": standard}
    return data, notes


def _finals(marked: Sequence[_Marked], entry: Mapping[str, Any], context: Context, remarks: list[str]) -> set[int]:
    """The last formula, and those that say what the answers say."""
    given = entry.get("answer")
    answers = given if isinstance(given, list) else [given]
    formulas = [each.formula for each in marked]
    finals: set[int] = set()
    missed: list[str] = []
    for answer in answers:
        if not isinstance(answer, str) or not answer.strip():
            continue
        try:
            place = place_of(answer, formulas, context)
        except LatexSyntaxError:
            place = None
        if place is None:
            missed.append(answer)
        else:
            finals.add(place)
    if missed:
        remarks.append(f"answers that no criterion is seen to state: {'; '.join(map(one_line, missed))}")
    return finals | {len(marked) - 1}


def _edges(
    marked: Sequence[_Marked], criteria: Sequence[_Criterion], finals: set[int], context: Context
) -> tuple[list[set[int]], list[dict[int, str]]]:
    """Of each node what it follows from, and why: as the list says, else as the formulas show."""
    made = derivation_of([each.formula for each in marked], finals, context)
    edges: list[set[int]] = []
    why: list[dict[int, str]] = []
    faults: list[str] = []
    for k, each in enumerate(marked):
        said = criteria[each.line].dependency
        if said is None:
            edges.append({edge.origin for edge in made.edges[k] if not edge.is_implied})
            why.append({edge.origin: RULES[edge.rule] for edge in made.edges[k]})
            continue
        if wrong := [line for line in said if not 1 <= line <= each.line]:
            faults.append(f"entry {each.line + 1}, dependency: {wrong[0]} is no earlier line")
        places = {j for j in range(k) if marked[j].line + 1 in said}
        edges.append(places)
        why.append(dict.fromkeys(places, "the list says so"))
    if faults:
        raise DataFileError("<entry>", tuple(faults))
    reached = set(finals)
    for k in range(len(marked) - 1, -1, -1):
        if k not in reached:
            final = min(place for place in finals if place > k)
            edges[final].add(k)
            why[final][k] = RULES["answer"]
        reached |= {k, *edges[k]}
    return edges, why


def _plain(points: Fraction) -> int | float:
    return int(points) if points.denominator == 1 else float(points)
