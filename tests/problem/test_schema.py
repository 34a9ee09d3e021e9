"""`dags/problem.schema.json` against the loader: the same keys, the same types, the same files refused."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import prism.physics.context as context_room
import prism.problem.images as images_room
import prism.problem.schema as room
from prism.errors import DataFileError
from prism.problem.problem_file import (
    MAX_FIGURES,
    AlternativeEntry,
    EdgeNote,
    Expected,
    NodeEntry,
    PartEntry,
    ProblemFile,
    Student,
)
from prism.problem.schema import load_problem
from prism.problem.source import MAX_ALTERNATIVES, NODE_LISTS
from prism.resources import resource

SCHEMA: dict[str, Any] = json.loads(resource("dags/problem.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
FAULTY = Path(__file__).parents[1] / "cases" / "problems"
SHIPPED = sorted(resource("dags").glob("*.toml"))

# The shape that the dataset publishes, and after it every key of ours.
PUBLISHED: dict[str, Any] = {
    "id": 1001,
    "context": "$A$ is a constant.",
    "source": "",
    "images": [{"caption": "a field", "location": "1001.png"}],
    "subquestions": [
        {"letter": "a", "subproblem": "Find $E$.", "solution": "$$E = 2 A$$", "final_answer_form": "algebraic",
         "final_answer_instructions": "in terms of $A$", "significant_figures": 3},
    ],
    "grading_standard": [
        {"index": 1, "formula": "$$E = 2 A$$", "dependency": []},
        {"index": 2, "formula": "$$E^2 = 4 A^2$$", "dependency": [1], "is_final_answer": True},
    ],
}  # fmt: skip
OURS: dict[str, Any] = PUBLISHED | {
    "$schema": "problem.schema.json", "title": "t", "domain": "Mechanics", "kind": "symbolic", "origin": "ours",
    "metadata": {"any": ["thing"]}, "difficulty": {"C1": 1, "C2": 3}, "symbols": {"u": "angle", "w": {
        "kind": "real", "domain": [-1, 1], "sign": "free"}},
    "givens": {"m": "2.00 kg", "k": 3}, "definitions": ["q = 2 p"], "final_answer_form": "numerical",
    "final_answer_instructions": "in J", "significant_figures": 2,
    "certified_by": "A", "certified_on": "2026-11-30", "certified_digest": "d",
    "grading_standard": [
        {"index": 1, "formula": "$$E = 2 A$$", "dependency": [], "points": 0.5, "accept": ["A = E/2"],
         "subquestion": "a"},
        {"index": 2, "formula": "$$E^2 = 4 A^2$$", "dependency": [1], "is_final_answer": True, "subquestion": "a",
         "reviewed": False, "edges": [{"from": 1, "why": "w", "question": False, "reviewed": False}]},
    ],
    "students": [{"name": "s", "solution": "$E = 2 A$", "why": "half", "expected": {
        "matched": [1], "credited": [1], "score": 0.333333, "final_correct": False, "debatable": [], "renamed": [],
        "needs_definitions": [], "text_only": [], "unevaluated": [], "known_gaps": [2], "without_definitions": {}}}],
}  # fmt: skip
WRONG_TYPE = re.compile(r"is no (text|list|table|number|whole number|node index|kind|value)|is neither|is missing")
NOT_READ = ("$schema", "metadata", "without_definitions")  # by the loader, whatever stands in them


def problems_of(data: object) -> list[str]:
    """Places that the schema finds fault with."""
    return sorted("/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(data))


def findings_of(data: dict[str, Any]) -> tuple[str, ...]:
    try:
        return load_problem(data).warnings
    except DataFileError as error:
        return error.faults


def test_it_is_a_schema_of_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


def keys_of(shape: type[Any]) -> set[str]:
    return {each.name for each in fields(shape)}


def test_it_has_the_keys_of_the_loader() -> None:
    defs = SCHEMA["$defs"]
    assert set(SCHEMA["properties"]) == keys_of(ProblemFile) | {"$schema"}
    assert set(defs["node"]["properties"]) == keys_of(NodeEntry)
    assert set(defs["edge"]["properties"]) == {name.rstrip("_") for name in keys_of(EdgeNote)}
    assert set(defs["alternative"]["properties"]) == keys_of(AlternativeEntry)
    assert SCHEMA["properties"]["alternatives"]["maxItems"] == MAX_ALTERNATIVES
    assert set(defs["subquestion"]["properties"]) == keys_of(PartEntry)
    assert set(defs["image"]["properties"]) == keys_of(images_room._Entry)
    assert set(defs["student"]["properties"]) == keys_of(Student)
    assert set(defs["expected"]["properties"]) == keys_of(Expected)
    assert set(defs["symbol"]["oneOf"][1]["properties"]) == set(context_room._SYMBOL_KEYS)
    assert defs["kind"]["enum"] == list(context_room.SYMBOL_KINDS)
    forms = defs["subquestion"]["properties"]["final_answer_form"]["enum"]
    assert forms == SCHEMA["properties"]["final_answer_form"]["enum"] == [*room._ANSWER_FORMS, "", None]
    assert SCHEMA["properties"]["significant_figures"]["maximum"] == MAX_FIGURES
    assert [branch["required"] for branch in SCHEMA["oneOf"]] == [[name] for name in NODE_LISTS]


def test_every_key_is_described() -> None:
    tables = [
        SCHEMA,
        *SCHEMA["$defs"].values(),
        SCHEMA["$defs"]["symbol"]["oneOf"][1],
        SCHEMA["properties"]["difficulty"],
    ]
    for table in tables:
        for key, value in table.get("properties", {}).items():
            told = SCHEMA["$defs"][value["$ref"].split("/")[-1]] if "$ref" in value else value
            assert told.get("description", "").endswith("."), key
            assert "$ref" not in value or len(value) == 1, f"{key}: older editors read nothing beside a $ref"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_problems_fit(path: Path) -> None:
    assert problems_of(tomllib.loads(path.read_text(encoding="utf-8"))) == []


def test_the_published_shape_and_every_key_of_ours_fit() -> None:
    for data in (PUBLISHED, OURS):
        assert findings_of(data) == ()
        assert problems_of(data) == []
        for name in NODE_LISTS:
            renamed = {**data, name: data["grading_standard"]}
            if name != "grading_standard":
                del renamed["grading_standard"]
            assert problems_of(renamed) == []
            assert problems_of({**renamed, **dict.fromkeys(set(NODE_LISTS) - {name})}) == []


def test_unknown_keys_are_left_to_lint() -> None:
    assert problems_of({**PUBLISHED, "titel": 1}) == []
    assert findings_of({**PUBLISHED, "titel": 1}) == ("titel: unknown key, ignored; did you mean title?",)


def test_the_example_of_the_readme_fits() -> None:
    text = resource("dags/README.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", text, re.S)[0]
    assert problems_of(tomllib.loads(example)) == []
    assert findings_of({**PUBLISHED, "$schema": "problem.schema.json"}) == ()
    assert "#:schema problem.schema.json\n" in text


def test_wrong_types_are_found_where_they_stand() -> None:
    assert problems_of(json.loads((FAULTY / "types.json").read_text(encoding="utf-8"))) == [
        "context", "difficulty/C1", "grading_standard/0/index", "grading_standard/0/points",
        "grading_standard/1/dependency", "grading_standard/1/formula", "grading_standard/2",
        "grading_standard/2/accept", "grading_standard/2/dependency/1", "grading_standard/3", "grading_standard/3",
        "grading_standard/3/is_final_answer", "grading_standard/4", "id", "significant_figures",
        "students/0", "students/1/expected", "students/2/expected", "subquestions/0", "subquestions/1/subproblem",
        "subquestions/2", "symbols", "title",
    ]  # fmt: skip


def test_of_the_faulty_files_it_refuses_those_that_are_out_of_shape() -> None:
    refused: set[str] = set()
    passed: set[str] = set()
    for path in FAULTY.iterdir():
        try:
            text = path.read_text(encoding="utf-8")
            data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except ValueError:
            continue  # no JSON, no TOML
        if path.suffix in (".json", ".toml") and path.name != "faults.toml":
            (refused if problems_of(data) else passed).add(path.name)
    assert refused >= {
        "types.json",
        "six_faults.toml",
        "two_lists.toml",
        "empty.toml",
        "not_a_table.json",
        "edges.json",
    }
    assert passed <= {"gap.toml", "labels.toml", "twice.json", "nan.json"}  # what only PRISM can see


def changed(data: Any) -> Iterator[tuple[str, Any]]:
    """The problem with one value replaced by one of another sort, for every value in it."""
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        kept = data[key]
        if key in NOT_READ:
            continue
        for other in (True, -1, 1.5, 99, "", "what", [], [1], {}, {"x": 1}, None):
            data[key] = other
            yield f"{key} = {other!r}", other
        data[key] = kept
        if isinstance(kept, dict | list):
            yield from ((f"{key}/{name}", other) for name, other in changed(kept))
        if isinstance(data, dict):
            del data[key]
            yield f"without {key}", None
            data[key] = kept


@pytest.mark.slow
def test_it_refuses_nothing_that_lints_and_accepts_no_wrong_type() -> None:
    data = deepcopy(OURS)
    count = 0
    for name, _ in changed(data):
        found = findings_of(data)
        out_of_shape = problems_of(data)
        if not found:
            assert out_of_shape == [], name
        if any(WRONG_TYPE.search(told) for told in found):
            assert out_of_shape, (name, found)
        count += 1
    assert count > 500
    assert data == OURS


def test_a_number_beyond_all_floats_is_a_fault() -> None:
    problem = deepcopy(PUBLISHED)
    problem["grading_standard"][1] |= {"formula": r"E = 2\times 10^{400}\unit{J}", "accept": ["E = 3 J", "1e400"]}
    with pytest.raises(DataFileError) as caught:
        load_problem(problem)
    assert "node 2: 2e+400 is too large a number" in str(caught.value)
    problem["grading_standard"][1] |= {"formula": r"E = 2\times 10^{300}\unit{J}", "accept": []}
    assert load_problem(problem).nodes[1].is_final


def test_decimal_commas_of_formulas_and_values_are_read_as_those_of_solutions() -> None:
    given = r"A sled slides for $0,5\,\mathrm{s}$."
    nodes = [
        {"index": 1, "formula": r"v = 4,95\,\mathrm{m/s}", "dependency": [], "accept": [r"v = 17,8\,\mathrm{km/h}"]},
        {"index": 2, "formula": "n = 1,2,3", "dependency": [1], "is_final_answer": True},
    ]
    problem = {"id": "sled", "context": given, "givens": {"a": r"9,9\,\mathrm{m/s^2}"}, "grading_standard": nodes}
    loaded = load_problem(problem)
    assert loaded.statement == given
    assert [node.latex for node in loaded.nodes] == [r"v = 4.95\,\mathrm{m/s}", "n = 1,2,3"]
    assert loaded.nodes[0].accept[0].latex == r"v = 17.8\,\mathrm{km/h}"
    assert str(loaded.context.givens["a"]).startswith("9.9")
    one_point = {**problem, "givens": {}, "context": r"A sled slides for $0.5\,\mathrm{s}$."}
    assert load_problem(one_point).nodes[0].latex == r"v = 4,95\,\mathrm{m/s}"
