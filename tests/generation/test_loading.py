"""A template file is checked whole: every fault is told at once, with entry and field, and the nearest name."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from prism.errors import DataFileError
from prism.generation.loading import is_template, load_template, template_files
from prism.generation.preparing import prepare_template

BRAKING = next(path for path in template_files() if path.stem == "braking")


def braking() -> dict[str, Any]:
    return tomllib.loads(BRAKING.read_text("utf-8"))


def faults_of(data: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as told:
        prepare_template(data)
    return told.value.faults


def test_all_faults_at_once(tmp_path: Path) -> None:
    text = BRAKING.read_text("utf-8")
    for old, new in [
        ('uniform = ["15.0", "35.0"]', 'unifrom = ["15.0", "35.0"]'),
        ('uniform = ["20.0", "100"]', 'uniform = ["100", "20.0"]'),
        ('table = "surfaces", column = "mu"', 'table = "surface", column = "mu"'),
        ("when = 's < d'", "when = 's = d'"),
        ('case = "stops", formula', 'case = "stop", formula'),
        ("dependency = [1, 6]", "dependency = [1, 9]"),
        ('unit = "m/s^2"', 'unit = "m/s^"'),
        ("formula = 'v_0^2 = 2 a s'", r"formula = 'v_0^2 = 2 a \frac{s'"),
        ('surfaces = "wet asphalt"', 'surfaces = "wet asfalt"'),
    ]:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "bad.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(DataFileError) as told:
        load_template(path)
    error = told.value
    assert error.file == str(path)
    for start in (
        'parameters, v_0, unifrom: unknown key; did you mean "uniform"?',
        "parameters, v_0: says not how it is drawn",
        'parameters, d, uniform: ["100", "20.0"]: the lower bound comes first',
        'parameters, \\mu, table: no table "surface"; did you mean "surfaces"?',
        "case stops, when: `s = d` is no inequality",
        'node 4, case: no case "stop"; did you mean "stops"?',
        "node 7, dependency: 9 is not a node",
        'parameters, g, unit: "m/s^"',
        "node 2, formula: `v_0^2 = 2 a \\frac{s` does not parse",
        'original, surfaces: "wet asfalt" begins no row; did you mean "wet asphalt"?',
    ):
        assert any(fault.startswith(start) for fault in error.faults), (start, error.faults)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda d: d.pop("wording"), "wording: is missing"),
        (lambda d: d.pop("id"), "id: is missing"),
        (lambda d: d.update(id="a/b"), 'id: "a/b" is no name'),
        (lambda d: d.pop("parameters"), "parameters: is missing"),
        (lambda d: d.update(figures=0), "figures: 0 is no whole number 1..15"),
        (lambda d: d.update(alternatives=[]), "alternatives: unknown key"),
        (lambda d: d["parameters"]["v_0"].update(figures=1), "parameters, v_0, uniform:"),
        (lambda d: d["parameters"]["g"].update(value=9.81), "parameters, g, value: 9.81 is no text"),
        (lambda d: d["parameters"].update(ab={"value": "1"}), "parameters, ab: `ab` is no single symbol"),
        (lambda d: d["parameters"].update({"v_{0}": {"value": "1"}}), "parameters, v_{0}: the same symbol"),
        (lambda d: d["grading_standard"][0].update(number={"of": "a"}), "node 1: has formula and number; keep one"),
        (lambda d: d["grading_standard"][0].pop("formula"), "node 1: has neither formula nor number"),
        (lambda d: d["grading_standard"][2]["number"].update(unit="q"), "node 3, number, unit:"),
        (lambda d: d["grading_standard"][2].update(dependency=[1, 4]), "node 3, dependency: 4 does not come before"),
        (lambda d: d["grading_standard"][6].update(dependency=[1, 4]), "node 7, dependency: node 4 is of"),
        (lambda d: d["grading_standard"][1].update(index=1), "node 1, index: stands twice"),
        (lambda d: d["tables"]["surfaces"]["rows"].append(["mud"]), "tables, surfaces, rows, entry 5:"),
        (lambda d: d["original"].pop("v_0"), "original, v_0: is missing"),
        (lambda d: d["original"].update(wording=3), "original, wording: 3 is no whole number 1..2"),
        (lambda d: d.update(knowledge=[3]), "knowledge: 3 is no node with a formula"),
    ],
)  # fmt: skip
def test_a_fault_names_its_place(change: Any, fault: str) -> None:
    data = copy.deepcopy(braking())
    change(data)
    assert any(each.startswith(fault) for each in faults_of(data)), faults_of(data)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda d: d["wording"].append("At @{v_1}."), "wording, entry 3: no parameter fills @{v_1}"),
        (lambda d: d["grading_standard"][2].update(dependency=[2]), "node 3, number: nothing before it determines s"),
        (lambda d: d["grading_standard"][2]["number"].update(unit="s"), "node 3, number, unit: s is in m"),
        (lambda d: d["grading_standard"][0].update(formula=r"a = \mu + g"), "node 1, formula:"),
        (lambda d: d["constraint"].append({"formula": "q < 3"}), "constraint, entry 2, formula: nothing determines q"),
        (lambda d: d["grading_standard"][4].pop("is_final_answer"), "node 5, is_final_answer:"),
    ],
)  # fmt: skip
def test_faults_that_need_the_whole(change: Any, fault: str) -> None:
    data = copy.deepcopy(braking())
    change(data)
    assert any(each.startswith(fault) for each in faults_of(data)), faults_of(data)


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(DataFileError, match='did you mean "braking"'):
        load_template("braking.tml")


def test_what_is_a_template(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("id = 'p'\n", "utf-8")
    assert is_template("braking")
    assert is_template(BRAKING)
    assert not is_template(tmp_path / "p.toml")
    assert not is_template("free_fall")
