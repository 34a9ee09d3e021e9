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
        (lambda d: d["parameters"].update({"a b": {"value": "1"}}), "parameters, a b: `a b` is no single symbol"),
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
        (
            lambda d: (d.update(knowledge=[2]), d["grading_standard"][1].update(is_final_answer=True)),
            "knowledge: 2 is a final answer, which is never told",
        ),
        (lambda d: d["case"][0].update(weight=float("inf")), "case stops, weight: Infinity is no positive number"),
        (lambda d: d["case"][0].update(margin=float("nan")), "case stops, margin: NaN is no share"),
        (lambda d: d["grading_standard"][0].update(formula=r"\text{It stops}"), "node 1, formula: `\\text{It s"),
        (lambda d: d.update(metadata="mine"), 'metadata: "mine" is no table'),
        (lambda d: d.update(grading_standard=[]), "grading_standard: holds no nodes"),
        (lambda d: d["parameters"]["g"].update(figures=4), "parameters, g, figures: changes nothing of value"),
        (lambda d: d["parameters"]["g"].update(value=["9.81", "9.8"]), 'parameters, g, value: ["9.81", "9.8"] is no'),
        (lambda d: d["parameters"]["d"].update(column="mu"), "parameters, d, column: changes nothing of uniform"),
        (lambda d: d["parameters"]["surface"].update(sign="-"), "parameters, surface, sign:"),
        (lambda d: d["parameters"].update(k={"choice": ["a", "b"], "sign": "-"}), "parameters, k, sign: a word has no"),
        (lambda d: d["tables"]["surfaces"].update(usual=[1]), "tables, surfaces, usual: [1] is no table"),
        (lambda d: d["original"].update(v_0=24.0), "original, v_0: 24.0 is no text; write it in quotes"),
        (lambda d: d.update(abstract="Given are @{surface} and @{d}."), "abstract: @{surface} is a word"),
        (lambda d: d["wording"].append("$v = @{v_0:value}$."), "wording, entry 3: @{v_0} stands between dollar signs"),
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
        (lambda d: d["constraint"][0].update(formula="s < 250"), "constraint, entry 1, formula: one side is in m"),
        (lambda d: d["case"][0].update(when="s < v_0"), "case stops, when: one side is in m, the other in m s^-1"),
        (
            lambda d: d["grading_standard"][0].update(formula=r"a = \int_0^g \mu dx"),
            "node 3, number: nothing before it determines s; node 1 gives no value: integrals",
        ),
        (
            lambda d: d["grading_standard"][0].update(formula=r"a = \mu g \cos|a|"),
            "node 3, number: nothing before it determines s; node 1 has no solution for a that is found",
        ),
        (lambda d: d["grading_standard"][4].pop("is_final_answer"), "node 5, is_final_answer:"),
    ],
)  # fmt: skip
def test_faults_that_need_the_whole(change: Any, fault: str) -> None:
    data = copy.deepcopy(braking())
    change(data)
    assert any(each.startswith(fault) for each in faults_of(data)), faults_of(data)


def test_one_fault_is_told_once() -> None:
    """What rests on a parameter, table or bound that has a fault says nothing more."""
    for change, fault in (
        (
            lambda d: d["parameters"]["v_0"].update(uniform=[15.0, "35.0"]),
            "parameters, v_0, uniform, entry 1: 15.0 is no text",
        ),
        (lambda d: d["parameters"]["v_0"].pop("uniform"), "parameters, v_0: says not how it is drawn"),
        (lambda d: d["parameters"]["surface"].update(column="name"), "parameters, surface, column: surfaces has no"),
    ):
        data = braking()
        change(data)
        assert [each.startswith(fault) for each in faults_of(data)] == [True], faults_of(data)


def test_blanks_are_told_with_the_rest() -> None:
    data = braking()
    data["wording"][0] += " It has @{m}."
    data["parameters"]["d"]["unit"] = "zz"
    assert [each.partition(":")[0] for each in faults_of(data)] == ["parameters, d, unit", "wording, entry 1"]


def test_the_file_of_a_table_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text('columns = ["surface", "mu"]\nrow = [["ice", "0.1"]]\n', "utf-8")
    data = braking()
    path = tmp_path / "b.toml"
    text = BRAKING.read_text("utf-8")
    start, end = text.index("[tables.surfaces]"), text.index("[original]")
    path.write_text(f'{text[:start]}[tables.surfaces]\nfile = "rows.toml"\n\n{text[end:]}', "utf-8")
    with pytest.raises(DataFileError, match='tables, surfaces, row: unknown key; did you mean "rows"'):
        load_template(path)
    data["tables"]["surfaces"] = {"file": str(tmp_path / "none.toml")}
    assert any(each.startswith("tables, surfaces, file:") for each in faults_of(data))


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(DataFileError, match='did you mean "braking"'):
        load_template("braking.tml")


def test_what_is_a_template(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("id = 'p'\n", "utf-8")
    assert is_template("braking")
    assert is_template(BRAKING)
    assert not is_template(tmp_path / "p.toml")
    (tmp_path / "t.toml").write_text("id = 't'\nwording = 'A text without parameters.'\n", "utf-8")
    assert is_template(tmp_path / "t.toml")
    assert not is_template("free_fall")
