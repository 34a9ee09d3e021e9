"""Data sets are checked row by row: each fault that is put into good rows is found under its code, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.authoring.importers.catalogue import NAMES, dataset_of
from prism.authoring.importers.dataset_lint import CODES, check_dataset
from prism.authoring.importers.entries import REFUSALS
from prism.cli import app
from tests.support.dataset_rows import (
    ENGIBENCH,
    ENGTRACE,
    HIPHO,
    LAYOUTS,
    OLYMPIADBENCH,
    PHYBENCH,
    PHYSICS,
    PHYSREASON,
    RUBRIC,
    SCIBENCH,
    TPBENCH,
    UGPHYSICS,
    write_dataset,
)


def codes(folder: Path, name: str, rows: Sequence[Mapping[str, Any]] | None = None) -> Counter[str]:
    """How many findings of each code the rows of a data set have."""
    path = write_dataset(folder, name, rows)
    return Counter(finding.code for finding in check_dataset(path, dataset_of(name)).findings)


def test_every_reason_for_a_refusal_is_a_code() -> None:
    assert set(REFUSALS) - {"no-table"} <= set(CODES)
    assert {code.kind for code in CODES.values()} == {"fault", "warning", "note"}


GOOD: dict[str, list[dict[str, Any]]] = {
    "engtrace": ENGTRACE[:1],
    "engibench": [ENGIBENCH[0] | {"rewritten_converted_problem": "Let p = 4.5 * 115. Compute p.",
                                  "rewritten_converted_problem_llm_answer": "517.5"}],
    "phybench": PHYBENCH[:1],
    "ugphysics": UGPHYSICS[1:2],
    "scibench": [SCIBENCH[0] | {"unit": "J", "answer_number": "3.31e-19", "answer_latex": "3.31e-19"}],
    "tpbench": TPBENCH,
    "physics": [PHYSICS[1] | {"final_answers": ["E = \\frac{p^2}{2m}", "p = m v"]}],
    "hipho": HIPHO[:2],
    "olympiadbench": OLYMPIADBENCH[:1],
    "prism-physics": LAYOUTS["prism-physics"][2][:1],
    "physreason": PHYSREASON[:1],
    "phopile": LAYOUTS["phopile"][2][:1],
    "abench": LAYOUTS["abench"][2][:2],
    "theoremqa": LAYOUTS["theoremqa"][2][1:],
    "engvqa": LAYOUTS["engvqa"][2][:1],
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_good_rows_have_no_fault_and_no_warning(name: str, tmp_path: Path) -> None:
    found = codes(tmp_path, name, GOOD[name])
    assert not [code for code in found if CODES[code].kind != "note"], found


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("phybench", {"tag": None}, "wrong-type"),
        ("phybench", {"content": " "}, "empty-field"),
        ("phybench", {"content": ""}, "no-question"),
        ("phybench", {"answer": ""}, "no-answer"),
        ("phybench", {"answer": "$\\frac{1}{$"}, "answer-unread"),
        ("phybench", {"answer": "$v = 2 \\sqrt{g h}$"}, "answer-not-in-solution"),
        ("phybench", {"answer": "\\sqrt{2 g h}"}, "answer-without-subject"),
        ("phybench", {"weight": 3}, "unknown-field"),
        ("engtrace", {"solution": "q = 720 W"}, "no-answer-tag"),
        ("engtrace", {"solution": "**Answer:** 720 W or 0.72 kW"}, "several-numbers"),
        ("engtrace", {"solution": "**Answer:** 1,720 W"}, "thousands-comma"),
        ("engtrace", {"solution": "**Step 1:** think\n**Step 2:** on\n**Answer:** 720 W"}, "step-without-number"),
        ("engtrace", {"solution": "**Answer:** 900 W"}, "solution-of-other-numbers"),
        ("engibench", {"converted_problem_llm_answer": "720"}, "variants-disagree"),
        ("engibench", {"rewritten_converted_problem": "Let p = 3 * 230."}, "other-numbers"),
        ("engibench", {"converted_problem": ""}, "empty-variant"),
        (
            "engibench",
            {"rewritten_answer": "517.5 N", "rewritten_converted_problem_llm_answer": ""},
            "unit-contradicts",
        ),
        ("ugphysics", {"is_multiple_answer": True}, "flag-disagrees"),
        ("ugphysics", {"answer_type": "XX"}, "unknown-type"),
        ("ugphysics", {"answer_type": "NV, NV"}, "fewer-answers"),
        ("ugphysics", {"language": "ZH"}, "wrong-language"),
        ("scibench", {"unit": "$10^{-19}$ J"}, "power-of-ten-in-unit"),
        ("scibench", {"unit": "ells"}, "unit-unread"),
        ("scibench", {"answer_latex": "6.6e-19"}, "answers-disagree"),
        ("scibench", {"unit": " "}, "number-without-unit"),
        ("scibench", {"problem_text": "Is the energy 3.31e-19 J?"}, "answer-in-question"),
        ("physics", {"questions": "﻿A stone of mass $m$ has the speed $v$. Find $E$ and $p$."}, "byte-order-mark"),
        ("physics", {"questions": "(a) Find $E$. (b) Find $p$. (c) Find $v$."}, "fewer-answers"),
        ("physics", {"final_answers": ["\\text{it moves along}"]}, "answer-in-words"),
        ("olympiadbench", {"error": "a bit"}, "tolerance-unread"),
        ("olympiadbench", {"is_multiple_answer": True}, "flag-disagrees"),
        ("physreason", {"answer": ["$v = \\sqrt{2 g h}$"]}, "fewer-answers"),
    ],
)
def test_a_fault_put_into_good_rows_is_found(name: str, change: dict[str, Any], code: str, tmp_path: Path) -> None:
    before = codes(tmp_path / "good", name, GOOD[name])
    after = codes(tmp_path / "changed", name, [GOOD[name][0] | change, *GOOD[name][1:]])
    assert after[code] > before[code]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"points": [0.9]}, "points-do-not-add-up"),
        ({"answer": ["\\boxed{$v = \\sqrt{2 g h}$}", "\\boxed{$v^2 = 2 g h$}"], "unit": [None]}, "shorter-list"),
        ({"answer": ["$v = \\sqrt{2 g h}$"]}, "no-box"),
    ],
)
def test_faults_of_a_marking_are_found(change: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, "hipho", [HIPHO[0], HIPHO[1] | change])[code] == 1


def test_repeated_rows_are_found(tmp_path: Path) -> None:
    first = PHYBENCH[0]
    found = codes(
        tmp_path, "phybench", [first, first | {"id": 1}, first | {"id": 2, "answer": "$v = \\sqrt{g h}$"}, first]
    )
    assert (found["repeated-text"], found["text-with-other-answer"], found["repeated-id"]) == (2, 1, 1)


def test_a_template_with_one_key_for_all_seeds_is_found(tmp_path: Path) -> None:
    rows = [
        ENGTRACE[0]
        | {"seed": seed, "question": f"A wall of area {seed} m^2 ...", "solution": f"**Answer:** 2 * {seed}"}
        for seed in (21, 22, 23)
    ]
    assert codes(tmp_path, "engtrace", rows)["constant-key"] == 1
    differing = [row | {"solution": f"**Answer:** {row['seed']}"} for row in rows]
    assert codes(tmp_path, "engtrace", differing)["constant-key"] == 0


def test_a_rubric_cell_that_does_not_add_up_is_found(tmp_path: Path) -> None:
    path = tmp_path / "level3_modeling.csv"
    path.write_text(LAYOUTS["engibench"][1](RUBRIC), encoding="utf-8")
    found = Counter(each.code for each in check_dataset(path, dataset_of("engibench")).findings)
    assert (found["points-do-not-add-up"], found["empty-rubric"]) == (1, 1)


def test_a_missing_field_and_a_bad_line_are_told_with_their_place(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "physics", PHYSICS[1:2])
    row = {key: value for key, value in PHYSICS[1].items() if key != "solutions"} | {"id": "other"}
    path.write_text(path.read_text(encoding="utf-8") + json.dumps(row) + "\n{\n", encoding="utf-8")
    checked = check_dataset(path, dataset_of("physics"))
    told = {each.code: (each.row.place if each.row else "", each.id) for each in checked.findings}
    assert told["missing-field"] == ("line 2", "other")
    assert told["not-read"] == ("line 3", "")


def test_the_command_prints_findings_and_counts(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "scibench")
    ran = CliRunner().invoke(app, ["lint", "--dataset", str(path), "--from", "scibench"])
    assert ran.exit_code == 3
    assert "fund.json, entry 2, stat-1.1: fault: unit-unread: its unit cannot be read" in ran.stdout
    assert "4 rows: 2 faults, 1 warning, 0 notes" in ran.stdout
    as_json = CliRunner().invoke(app, ["lint", "--dataset", str(path), "--from", "scibench", "--json"])
    told = json.loads(as_json.stdout)
    assert as_json.exit_code == 3
    assert (told["faults"], told["counts"]["unit-unread"]) == (2, 1)
    finding = next(each for each in told["findings"] if each["code"] == "unit-unread")
    assert (finding["row"], finding["id"], finding["kind"]) == (2, "stat-1.1", "fault")
    good = write_dataset(tmp_path / "good", "tpbench")
    assert CliRunner().invoke(app, ["lint", "--dataset", str(good), "--from", "tpbench"]).exit_code == 0


@pytest.mark.parametrize("args", [["--from", "scibench"], ["--dataset", "x.json"], []])
def test_half_of_the_options_is_a_usage_error(args: list[str]) -> None:
    assert CliRunner().invoke(app, ["lint", *args]).exit_code == 2


def test_two_spellings_of_a_topic_are_told_by_their_likeness(tmp_path: Path) -> None:
    row = LAYOUTS["engvqa"][2][0]
    names = ["Pipe flow", "Pipe flow", "pipe flows", "Fin heat"]
    rows = [row | {"id": str(k), "topic": name, "question": f"{row['question']} ({k})"} for k, name in enumerate(names)]
    found = check_dataset(write_dataset(tmp_path, "engvqa", rows), dataset_of("engvqa")).findings
    assert [(each.id, each.read) for each in found if each.code == "near-topic"] == [("2", "pipe flows")]
