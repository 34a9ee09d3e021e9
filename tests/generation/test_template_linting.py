"""The linter of templates: what passes, and a template for each finding."""

from __future__ import annotations

from typing import Any

import pytest

from prism.generation.linting import CODES, lint_template
from tests.generation.test_loading import braking


@pytest.mark.slow
def test_a_template_that_passes() -> None:
    report = lint_template("braking", n_seeds=12)
    assert report.findings == ()
    assert report.n_seeds == 12
    assert sum(n for _, n in report.cases) == 12
    assert report.n_students > 100


def _unused(data: Any) -> None:
    data["original"]["m"] = "900"
    data["parameters"]["m"] = {"uniform": ["700", "1500"], "unit": "kg"}
    data["wording"] = [f"{text} It has @{{m}}." for text in data["wording"]]


def _few(data: Any) -> None:
    data["parameters"]["v_0"] = {"choice": ["24.0", "24.1"], "unit": "m/s"}
    data["parameters"]["d"] = {"choice": ["80.0", "80.1"], "unit": "m"}
    data["original"] = {"v_0": "24.0", "d": "80.0", "surfaces": "wet asphalt"}


def _untold(data: Any) -> None:
    data["wording"] = [data["wording"][0].replace(r"@{\mu}", "small"), data["wording"][1]]


def _twice(data: Any) -> None:
    data["wording"] = [f"{data['wording'][0]} Again: @{{d}}.", data["wording"][1]]


def _broken_original(data: Any) -> None:
    data["original"].update(v_0="35.0", d="100", surfaces="packed snow")


def _heavy(data: Any) -> None:
    data["constraint"].append({"formula": r"a > 99\unit{m/s^2}"})


def _rare(data: Any) -> None:
    data["case"][0].update(weight=0.0001)


def _copied(data: Any) -> None:
    data["case"][0].update(text="Then $v_0 = a t$ holds for the time $t$.")


def _unusual(data: Any) -> None:
    data["tables"]["surfaces"]["usual"].update(mu=["0.3", "1.2"])


def _narrow(data: Any) -> None:
    data["constraint"].append({"formula": r"d < 22\unit{m}"})


def _nameless(data: Any) -> None:
    del data["id"]


def _too_little(data: Any) -> None:
    final = {"index": 3, "formula": r"s = \frac{v_0^2}{2 a}", "dependency": [1, 2], "is_final_answer": True}
    data["grading_standard"][1].update(formula=r"E = \frac{v_0^2}{2 a} \unit{J/m}")
    data["grading_standard"][2] = {**final, "subquestion": "a"}


CHANGES = {
    _too_little: ("warning", "abstract", "the final answers do not follow"),
    _untold: ("fault", "blank", r"wording 1, case stops: \mu is not told"),
    _twice: ("fault", "blank", "wording 1, case hits: d is told 2 times"),
    _broken_original: ("fault", "original", "constraint"),
    _heavy: ("fault", "unsatisfiable", "seed 0"),
    _rare: ("fault", "case", "no seed reaches it"),
    _copied: ("warning", "instance", "says it itself"),
    _unused: ("warning", "unused", "m: changes no final number"),
    _few: ("warning", "sibling", "all final numbers meet"),
    _unusual: ("warning", "usual", "packed snow"),
    _narrow: ("warning", "acceptance", "attempts"),
    _nameless: ("fault", "file", "id: is missing"),
}


def test_a_file_with_faults_has_its_blanks_checked() -> None:
    data = braking()
    data["grading_standard"][2]["number"]["unit"] = "s"
    _untold(data)
    assert {(each.kind, each.code) for each in lint_template(data).findings} == {("fault", "file"), ("fault", "blank")}


@pytest.mark.slow
def test_what_is_everywhere_is_told_once() -> None:
    data = {**braking(), "domain": "Classical Mechanics"}
    (finding,) = lint_template(data, n_seeds=12).findings
    assert (finding.code, finding.entry, finding.seeds) == ("instance", "", tuple(range(12)))


@pytest.mark.parametrize("change", CHANGES)
def test_findings(change: Any) -> None:
    kind, code, text = CHANGES[change]
    data = braking()
    change(data)
    report = lint_template(data, n_seeds=12)
    found = [str(each) for each in report.findings if (each.kind, each.code) == (kind, code)]
    assert any(text in each for each in found), report.findings
    assert {each.code for each in report.findings} <= CODES.keys()
