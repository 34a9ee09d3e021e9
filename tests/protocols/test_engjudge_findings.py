"""Findings of EngJudge: recomputed, never trusted; all faults at once; the JSON Schema says what the reader takes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.problem.shapes import LoadReport
from prism.protocols.engjudge.corrections import Rating, corrected, corrected_mean, read_correction
from prism.protocols.engjudge.findings import CAPS, JudgedPart, SolutionFindings, read_findings, stage_cap
from prism.protocols.engjudge.scoring import PENALTIES
from prism.protocols.engjudge.topology import NAMES, SHORT_NAMES
from prism.protocols.schemas import schema_text

FIXTURES = Path(__file__).with_name("engjudge")
ROWS = [json.loads(line) for line in (FIXTURES / "findings.jsonl").read_text("utf-8").splitlines()]
RATINGS = [json.loads(line) for line in (FIXTURES / "corrections.jsonl").read_text("utf-8").splitlines()]


def read(row: dict[str, Any]) -> tuple[SolutionFindings, LoadReport]:
    report = LoadReport([], [])
    return read_findings(row, report), report


def stage(name: str, **table: Any) -> JudgedPart:
    """One stage, by initials, as the only one of a row."""
    found, report = read({"problem_id": "p", "sample_id": "s", "stages": {name: table}})
    assert not report.faults
    return found.stages[SHORT_NAMES[name]]


def error(severity: str | None, **more: Any) -> dict[str, Any]:
    return {"severity": severity, **more}


def test_rows_of_real_shape() -> None:
    found = [read(row) for row in ROWS]
    assert not any(report.faults or report.warnings for _, report in found)
    first, second, third = (
        {short: one.stages[name].score for short, name in SHORT_NAMES.items() if name in one.stages} for one, _ in found
    )
    assert first == {"PC": 10, "AS": 8, "VI": 10, "ES": 10, "LR": 10, "AA": 10, "PI": 8, "FA": 10}
    assert second == {"PC": 6, "AS": 3, "VI": 10, "ES": 0, "LR": 10, "AA": 10, "FA": 3}
    assert third == {"AA": 3, "FA": 0}
    assert [one.notes for one, _ in found] == [
        (),
        (
            "total: 2 in the file, 4 from its penalties (PROBLEM_CHARACTERIZATION)",
            "raw: 8 in the file, 6 from its penalties (PROBLEM_CHARACTERIZATION)",
            "capped: 8 in the file, 6 from its penalties and caps (PROBLEM_CHARACTERIZATION)",
        ),
        (),
    ]
    last = found[2][0]
    assert last.sanity is not None
    assert last.coverage is not None
    assert last.coverage.score == 3
    assert last.verbosity is None
    assert not last.sanity.is_sane
    assert last.sanity.findings == ("CRITICAL 10: k -1.20 W/(m K) a conductivity is positive",)


def test_the_total_is_told_as_the_file_has_it_and_as_it_is() -> None:
    found = stage("AA", errors=[error("MAJOR"), error("MODERATE", penalty=4)], total_penalties=7, capped_score=3)
    assert found.score == 0
    assert found.notes == (
        "total: 7 in the file, 11 from its penalties (ALGEBRAIC_ACCURACY)",
        "capped: 3 in the file, 0 from its penalties and caps (ALGEBRAIC_ACCURACY)",
    )


def test_the_severity_says_what_a_fault_costs() -> None:
    found = stage("AA", errors=[error("MAJOR", penalty=5)])
    assert found.score == 3
    assert found.notes == ("penalty: 5 in the file, 7 for MAJOR (ALGEBRAIC_ACCURACY, errors, item 1)",)
    assert stage("AA", errors=[error("minor")]).score == 8
    unnamed = stage("AA", errors=[{"penalty": 2.5}])
    assert unnamed.score == Fraction("7.5")
    assert unnamed.findings == ("penalty 2.5",)


@pytest.mark.parametrize(("name", "kind", "cap"), [
    ("PC", "governing_equation_incorrect", 3), ("VI", "governing_equation_incorrect", 3),
    ("ES", "governing_equation_incorrect", 0), ("PC", "physical_model_invalid", 4), ("AS", "physical_model_invalid", 4),
    ("VI", "physical_model_invalid", 4), ("AS", "boundary_conditions_invalid", 4),
    ("ES", "boundary_conditions_invalid", 4), ("AA", "boundary_conditions_invalid", 4),
    ("ES", "dimensionally_inconsistent", 2), ("AA", "dimensionally_inconsistent", 2),
])  # fmt: skip
def test_each_cap_in_each_stage_that_offers_it(name: str, kind: str, cap: int) -> None:
    found = stage(name, fatal_errors=[{"type": kind, "score_cap": cap}], errors=[error("MINOR")])
    assert found.score == cap
    assert not found.notes


def test_caps_that_do_not_fit_are_told() -> None:
    elsewhere = stage("LR", fatal_errors=[{"type": "dimensionally_inconsistent"}])
    assert elsewhere.score == 2
    assert "no prompt offers dimensionally_inconsistent in LOGICAL_REASONING" in elsewhere.notes[0]
    other = stage("ES", fatal_errors=[{"type": "governing_equation_incorrect", "score_cap": 3}])
    assert other.score == 0
    assert other.notes[0].startswith("cap: 3 in the file, 0 for governing_equation_incorrect")
    own = stage("ES", fatal_errors=[{"type": "wrong_century", "score_cap": 5}])
    assert own.score == 5
    assert 'cap: "wrong_century" is none of the protocol; its score_cap counts' in own.notes[0]


def test_the_two_flags_that_are_caps() -> None:
    assert stage("ES", governing_equation_correct=False, errors=[]).score == 0
    assert stage("ES", governing_equation_correct=True, errors=[]).score == 10
    beside = stage("ES", governing_equation_correct=True, fatal_errors=[{"type": "governing_equation_incorrect"}])
    assert beside.notes[0].startswith("governing_equation_correct: true in the file, beside the fatal error")
    impossible = stage("FA", physically_possible=False, errors=[error("MODERATE")])
    assert impossible.score == 2
    assert impossible.findings == ("cap 2: physically_possible is false", "MODERATE 4")


def test_a_score_alone_is_taken_at_its_word_and_told() -> None:
    found = stage("PI", capped_score=6)
    assert found.score == 6
    assert found.notes == ("capped: 6 in the file, and no errors to work it out from (PHYSICAL_INTERPRETATION)",)
    assert stage("PI", capped_score=6, errors=[]).score == 10


@pytest.mark.parametrize(
    ("numbers", "notes"),
    [
        # 3/44 = 0.06818..., of which 0.0682, 0.068 and 0.07 are roundings and 0.0681 is none
        ({"predicted": 41.0, "ground_truth": 44.0, "numerical_error": 0.0682, "error_band": "moderate"}, []),
        ({"predicted": 41.0, "ground_truth": 44.0, "numerical_error": 0.07, "error_band": "Moderate"}, []),
        ({"predicted": 41, "ground_truth": 44, "numerical_error": 0.0681},
         ["numerical_error: 0.0681 in the file, 0.0681818 from its numbers"]),
        ({"predicted": 41, "ground_truth": 44, "error_band": "correct"},
         ["error_band: correct in the file, moderate from its numbers"]),
        ({"predicted": "41", "ground_truth": 44, "error_band": "correct"}, []),
        ({"predicted": None, "ground_truth": 44}, []),
    ],
)  # fmt: skip
def test_numbers_of_the_final_answer_are_compared_again(numbers: dict[str, Any], notes: list[str]) -> None:
    found = stage("FA", predicted_values=[numbers], errors=[error("MODERATE", category="Numerical Correctness")])
    assert [note.partition(" (FINAL_ANSWER")[0] for note in found.notes] == notes
    assert found.findings == ("MODERATE 4 (Numerical Correctness)",)


def test_flags_without_a_fault_are_told() -> None:
    assert stage("FA", errors=[], units_correct=False).notes == (
        "units_correct: false in the file, and no error costs anything (FINAL_ANSWER)",
    )
    meta = {
        "coverage": {"violations": [], "all_parts_covered": False},
        "sanity": {"sanity_check_passed": True, "violations": [error("CRITICAL")]},
    }
    found, _ = read({"problem_id": "p", "sample_id": 1, "meta": meta})
    assert found.notes == (
        "all_parts_covered: false in the file, beside 0 violations (coverage)",
        "sanity_check_passed: true in the file, beside 1 violation (sanity)",
    )


@pytest.mark.parametrize(("sanity", "is_sane"), [
    ({"sanity_check_passed": True}, True), ({"sanity_check_passed": False}, False), ({"violations": []}, True),
    ({"violations": [error("CRITICAL")]}, False), ({}, None), (None, None),
])  # fmt: skip
def test_sanity(sanity: dict[str, Any] | None, is_sane: bool | None) -> None:
    found, report = read({"problem_id": "p", "sample_id": "s", "meta": {"sanity": sanity}})
    assert not report.faults
    assert (found.sanity and found.sanity.is_sane) == is_sane


def test_a_stage_that_nobody_judged_is_not_there() -> None:
    found, report = read(
        {"problem_id": "p", "sample_id": "s", "stages": {"PC": None, "AS": {"errors": []}}, "meta": None}
    )
    assert not report.faults
    assert [*found.stages] == ["ASSUMPTIONS"]
    assert (found.coverage, found.verbosity, found.sanity) == (None, None, None)


def test_all_faults_of_a_row_at_once() -> None:
    _, report = read({
        "sample_id": [], "stages": {"ESS": {}, "AA": [], "ES": {"errors": [{"severity": "HUGE"}, {}, 3]},
                                    "EQUATION_SELECTION": {}, "VI": {"fatal_errors": [{"type": "?"}]},
                                    "PI": {"capped_score": 11}, "LR": {"errors": [{"penalty": -1}]}},
        "absent": ["PI", "XX"], "meta": {"coverage": 3},
    })  # fmt: skip
    told = "\n".join(report.faults)
    for words in (
        "problem_id: is missing", "sample_id", '"ESS" is no stage; did you mean "ES"', "stages, AA: [] is no object",
        "EQUATION_SELECTION, errors, item 1, severity", "item 2: has neither severity nor penalty", "item 3: 3 is no",
        "is there twice", '"?" is no known cap', "PHYSICAL_INTERPRETATION, capped_score", '"XX" is no stage',
        "absent, PHYSICAL_INTERPRETATION: is judged", "LOGICAL_REASONING, errors, item 1, penalty", "meta, coverage",
    ):  # fmt: skip
        assert words in told, words


def test_unknown_keys_are_warnings() -> None:
    _, report = read({"problem_id": "p", "sample_id": "s", "stage": {}, "stages": {"AA": {"error": []}}})
    assert report.warnings == [
        "stage: unknown key, ignored; did you mean stages?",
        "ALGEBRAIC_ACCURACY, error: unknown key, ignored; did you mean errors?",
    ]
    report = LoadReport([], [])
    kept = read_findings({"problem_id": "p", "sample_id": "s", "model": "m"}, report, keep=["model"]).kept_fields
    assert (kept, report.warnings) == ({"model": "m"}, [])


# Schemas. -----------------------------------------------------------------------------------------------------------

SCHEMA = json.loads(schema_text("engjudge"))


def test_the_schema_is_one_and_takes_the_rows_of_real_shape() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for row in ROWS:
        jsonschema.validate(row, SCHEMA)
    assert {*SCHEMA["properties"]["stages"]["propertyNames"]["enum"]} == {*NAMES, *SHORT_NAMES}
    known = SCHEMA["$defs"]
    assert [*PENALTIES, None] == known["fault"]["properties"]["severity"]["enum"]
    assert known["fatal_error"]["anyOf"][0]["properties"]["type"]["enum"] == [*CAPS]


def spoil(path: list[Any], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(row: dict[str, Any]) -> None:
        place: Any = row
        for key in path[:-1]:
            place = place[key]
        if value is Ellipsis:
            del place[path[-1]]
        else:
            place[path[-1]] = value

    return change


ES, AA, FA = (["stages", name] for name in ("EQUATION_SELECTION", "ALGEBRAIC_ACCURACY", "FINAL_ANSWER"))


@pytest.mark.parametrize("change", [
    spoil(["problem_id"], ...), spoil(["sample_id"], 1.5), spoil(["stages"], []), spoil(["stages", "XX"], {}),
    spoil(AA, 3), spoil(ES, "bad"), spoil([*ES, "errors"], {}), spoil([*ES, "errors", 0], "bad"),
    spoil([*ES, "errors", 0], {}), spoil([*ES, "errors", 0, "severity"], "HUGE"),
    spoil([*ES, "errors", 0, "penalty"], 11), spoil([*ES, "errors", 0, "description"], 3),
    spoil([*ES, "fatal_errors", 0], {"type": "new"}), spoil([*ES, "fatal_errors", 0, "score_cap"], -1),
    spoil([*ES, "governing_equation_correct"], "no"), spoil([*FA, "physically_possible"], 0),
    spoil([*FA, "predicted_values"], 3), spoil([*FA, "predicted_values", 0, "numerical_error"], "small"),
    spoil(["meta"], []), spoil(["meta", "coverage"], 3), spoil(["meta", "coverage", "violations"], 3),
    spoil(["meta", "coverage", "all_parts_covered"], 1), spoil(["meta", "sanity", "sanity_check_passed"], "yes"),
    spoil(["absent"], "PI"), spoil(["absent"], ["XX"]), spoil([*ES, "total_penalties"], "7"),
])  # fmt: skip
def test_reader_and_schema_refuse_the_same(change: Callable[[dict[str, Any]], None]) -> None:
    row = copy.deepcopy(ROWS[1])
    change(row)
    _, report = read(row)
    assert report.faults
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(row, SCHEMA)


@pytest.mark.parametrize("change", [
    spoil(["stages"], None), spoil(AA, None), spoil(["meta"], ...), spoil(["meta", "verbosity"], None),
    spoil(["absent"], ["PI"]), spoil([*ES, "errors", 0, "severity"], ...), spoil([*ES, "errors", 0, "penalty"], ...),
    spoil([*ES, "fatal_errors", 0], {"type": "new", "score_cap": 5}), spoil(["sample_id"], 7), spoil(["note"], "mine"),
    spoil([*ES, "errors", 0, "penalty"], None), spoil([*FA, "predicted_values", 0, "predicted"], "about 9"),
])  # fmt: skip
def test_reader_and_schema_take_the_same(change: Callable[[dict[str, Any]], None]) -> None:
    row = copy.deepcopy(ROWS[1])
    change(row)
    _, report = read(row)
    assert not report.faults
    jsonschema.validate(row, SCHEMA)


# For all rows. ------------------------------------------------------------------------------------------------------

one_error = st.fixed_dictionaries({"severity": st.sampled_from([*PENALTIES]), "description": st.sampled_from("abc")})
errors = st.lists(one_error, max_size=5)
fatal = st.lists(st.fixed_dictionaries({"type": st.sampled_from([*CAPS])}), max_size=3)
short_names = st.sampled_from([*SHORT_NAMES])


@given(short_names, errors, fatal, st.randoms(use_true_random=False))
def test_the_order_of_findings_changes_nothing(name, faults, caps, random) -> None:
    one = stage(name, errors=faults, fatal_errors=caps)
    other = stage(name, errors=random.sample(faults, len(faults)), fatal_errors=random.sample(caps, len(caps)))
    assert (one.score, one.findings) == (other.score, other.findings)


@given(short_names, errors, fatal, st.sampled_from([*CAPS]))
def test_a_fatal_error_never_raises_a_stage(name, faults, caps, kind) -> None:
    before = stage(name, errors=faults, fatal_errors=caps).score
    after = stage(name, errors=faults, fatal_errors=[*caps, {"type": kind}]).score
    cap = stage_cap(kind, SHORT_NAMES[name])
    assert cap is not None
    assert after == min(before, cap)


# Corrections. -------------------------------------------------------------------------------------------------------


def test_ratings_add_at_most_two_points_and_stay_on_the_scale() -> None:
    """9 + 2 = 11 is clipped to 10; 1 - 2 to 0; (9 + 8)/2 = 8.5 of two people who rate 8."""
    assert [corrected(Fraction(score), Rating(said)) for score, said in (
        (9, "much too low"), (8, "too low"), (8, "about right"), (3, "too high"), (1, "much too high"),
    )] == [10, 9, 8, 2, 0]  # fmt: skip
    assert corrected_mean(Fraction(8), [Rating.TOO_LOW, Rating.ABOUT_RIGHT]) == Fraction("8.5")
    assert corrected_mean(Fraction(8), []) == 8
    assert corrected_mean(None, [Rating.TOO_LOW]) is None


def test_ratings_and_their_schema() -> None:
    schema = json.loads(schema_text("engjudge_corrections"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for row in RATINGS:
        report = LoadReport([], [])
        found = read_correction(row, report)
        jsonschema.validate(row, schema)
        assert (report.faults, report.warnings) == ([], [])
        assert found.part in (*NAMES, "coverage", "verbosity")
    for key, value in (("rating", "bad"), ("part", "XX"), ("problem_id", None), ("part", None), ("rating", None)):
        report = LoadReport([], [])
        read_correction({**RATINGS[0], key: value}, report)
        assert report.faults
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**RATINGS[0], key: value}, schema)
