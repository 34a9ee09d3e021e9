"""Problem files from a template: the numbers by hand, the variants, the students' labels, and the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.errors import DataFileError, PrismError
from prism.generation.instances import Unsatisfiable, generate
from prism.generation.loading import load_template, template_files
from prism.generation.preparing import prepare_template
from prism.generation.solving import plan_steps
from prism.generation.template import VARIANTS
from prism.generation.values import draw_values
from tests.generation.test_loading import braking

TEMPLATES = [path.stem for path in template_files()]


def formulas(data: Any) -> list[str]:
    return [node["formula"] for node in data["grading_standard"]]


def student(data: Any, name: str) -> Any:
    return next(each for each in data["students"] if each["name"] == name)


def test_the_numbers_by_hand() -> None:
    """a = 0.50 x 9.81, s = 24.0^2 / 9.81, t = 24.0 / 4.905; seed 0: packed snow, v_1 = sqrt(492.84 - 322.95)."""
    original, drawn = generate("braking", variants=("original", "perturbed"))
    assert formulas(original.data)[2] == r"s = 58.7\unit{m}"
    assert formulas(original.data)[4] == r"t = 4.89\unit{s}"
    assert drawn.data["metadata"]["template"]["values"]["v_0"] == "22.2"
    assert drawn.data["metadata"]["template"]["values"]["d"] == "82.3"
    assert drawn.data["metadata"]["template"]["case"] == "hits"
    assert "packed snow" in drawn.question
    assert formulas(drawn.data)[2] == r"s = 126\unit{m}"
    assert formulas(drawn.data)[4] == r"v_1 = 13.0\unit{m/s}"
    assert drawn.answer == "$\\boxed{s = 126\\unit{m}}$\n$\\boxed{v_1 = 13.0\\unit{m/s}}$"


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_abstraction_tells_what_its_answers_need(name: str) -> None:
    """A law that has prerequisites stands in no text without physics, unless it is told: nobody could solve it."""
    prepared = prepare_template(name)
    for case in prepared.cases.values():
        assert case.abstract_nodes is not None
        told = [each for node in case.nodes if node.index in case.abstract_nodes for each in node.relations]
        known = {each.name for each in prepared.template.parameters.values() if each.name} | set(case.constants)
        wanted = {node.required_number.name for node in case.numbers if node.is_final}
        assert plan_steps(told, known, wanted, case.signed, case.domains) is not None
    texts = [each.data["context"] for each in generate(prepared, n=3, variants=("abstract",))]
    assert all("These relations hold" in text for text in texts)


def test_an_abstraction_tells_no_more_than_that() -> None:
    """The impedance follows from a law with prerequisites; the number of the current from what is told already."""
    (drawn,) = generate("series_circuit", variants=("abstract",))
    told = drawn.data["context"].partition("These relations hold: ")[2].rstrip(".").split("; ")
    assert told == [f"${formulas(drawn.data)[k]}$" for k in (0, 1, 2, 4, 6)]


def test_an_abstraction_asks_nothing_of_no_answer() -> None:
    data = braking()
    data["subquestions"].append({"letter": "c", "subproblem": "Sketch it.", "final_answer_form": "numerical"})
    plain, abstract = generate(data, variants=("perturbed", "abstract"))
    assert [part["letter"] for part in plain.data["subquestions"]] == ["a", "b", "c"]
    assert [part["subproblem"] for part in abstract.data["subquestions"]] == [
        "Find the number $y_2$.", "Find the number $y_3$.",
    ]  # fmt: skip


def test_a_formula_that_is_restated_has_no_fault() -> None:
    """Who writes the law has the restated formula too: a fault in one of the two would be labelled wrongly."""
    data = {
        "id": "fall",
        "wording": "A body falls @{h} with @{g}; $v$ is its speed, $K$ its energy at the mass @{m}.",
        "grading_standard": [
            {"index": 1, "formula": r"\frac{1}{2} v^2 = g h", "dependency": []},
            {"index": 2, "formula": r"v = \sqrt{2 g h}", "dependency": [1]},
            {"index": 3, "formula": r"K = \frac{1}{2} m v^2", "dependency": [2]},
            {"index": 4, "number": {"of": "K", "unit": "J"}, "dependency": [3], "is_final_answer": True},
        ],
        "parameters": {
            "h": {"uniform": ["1.00", "9.00"], "unit": "m"},
            "m": {"uniform": ["1.00", "9.00"], "unit": "kg"},
            "g": {"value": "9.81", "unit": "m/s^2"},
        },
    }
    made = list(generate(data, n=4))
    faulty = [each for one in made for each in one.data["students"] if each["name"].startswith("fault-")]
    assert len(faulty) >= 4
    assert all(each["expected"]["matched"] == [1, 2] for each in faulty)


def test_a_percent_sign_begins_no_comment() -> None:
    data = braking()
    data["parameters"]["\\mu"] = {"choice": ["50", "60"], "unit": "%"}
    data["original"]["\\mu"] = "50"
    (made,) = generate(data, variants=("original",))
    assert r"$\mu = 50\unit{\%}$" in made.question
    assert formulas(made.data)[2] == r"s = 58.7\unit{m}"


def test_a_number_beyond_all_magnitudes_is_told() -> None:
    data = braking()
    data["grading_standard"][4] = {**data["grading_standard"][4], "number": {"of": "t", "unit": "s"}}
    data["grading_standard"][3]["formula"] = r"t = \exp(\frac{v_0^2}{a \cdot 0.001\unit{m}}) \unit{s}"
    with pytest.raises(Unsatisfiable, match="node 5: t is beyond all magnitudes"):
        list(generate(data, n=20))


def test_the_sign_of_a_choice_is_drawn() -> None:
    data = braking()
    data["parameters"]["q"] = {"choice": ["2.5", "1.5e3"], "unit": "C", "sign": "either"}
    data["original"]["q"] = "2.5"
    template = load_template(data)
    texts = {draw_values(template, seed, 1)["q"].text for seed in range(40)}
    assert texts == {"2.5", "-2.5", r"1.5\times 10^{3}", r"-1.5\times 10^{3}"}
    data["parameters"]["q"].update(sign="-")
    assert {draw_values(load_template(data), seed, 1)["q"].number for seed in range(40)} == {Fraction(-5, 2), -1500}


def test_variants_share_seed_values_and_edges() -> None:
    drawn = {each.variant: each for each in generate("glass_surface", seed=4, variants=VARIANTS)}
    assert set(drawn) == set(VARIANTS)
    plain, told, abstract = (drawn[name] for name in VARIANTS[1:])
    shared = ("seed", "attempt", "case", "wording", "values", "pair", "sha256")
    for other in (told, abstract):
        for key in shared:
            assert other.data["metadata"]["template"][key] == plain.data["metadata"]["template"][key]
        edges = [[node["dependency"] for node in each.data["grading_standard"]] for each in (plain, other)]
        assert edges[0] == edges[1]
    assert formulas(told.data) == formulas(plain.data)
    assert told.question.startswith(plain.data["context"])
    assert "These relations hold" in told.question
    assert "unit" not in json.dumps([abstract.question, formulas(abstract.data)])
    assert r"\alpha" not in json.dumps([abstract.question, formulas(abstract.data), abstract.data["students"]])


def test_the_relations_of_an_abstract_problem_determine_its_numbers() -> None:
    """Z follows from nodes that have prerequisites: without its relation nobody could find it."""
    told, abstract = generate("series_circuit", variants=("knowledge", "abstract"))
    assert told.question.count("sqrt") == 0
    untold = [node["index"] for node in abstract.data["grading_standard"] if node["formula"] not in abstract.question]
    assert untold == [4, 6, 8]  # the numbers


def test_a_final_formula_is_not_told() -> None:
    data = braking()
    data["grading_standard"][1].update(is_final_answer=True, subquestion="a")
    for variant in ("knowledge", "abstract"):
        (made,) = generate(data, variants=(variant,))
        problem = prism.load_problem(dict(made.data))
        assert prism.grade(problem, problem.students[0].solution).score == 1.0


def test_a_template_with_parameters_more_draws_the_same_values() -> None:
    data = braking()
    data["original"]["w"] = "1.50"
    data["parameters"] = {"w": {"uniform": ["1.00", "2.00"]}, **dict(reversed(data["parameters"].items()))}
    data["wording"] = [f"{text} Rain falls at @{{w}}." for text in data["wording"]]
    for own, other in zip(generate("braking", n=4), generate(data, n=4), strict=True):
        values = other.data["metadata"]["template"]["values"]
        assert {**values, "w": None} == {**own.data["metadata"]["template"]["values"], "w": None}


def test_labels_of_the_original_by_hand() -> None:
    """A fault makes exactly one formula wrong and the numbers that follow from it; a slip one number, and so on."""
    (made,) = generate("braking", variants=("original",))
    every = [1, 2, 3, 4, 5]
    assert student(made.data, "gold")["expected"]["matched"] == every
    finals = student(made.data, "finals")["expected"]
    assert (finals["matched"], finals["credited"], finals["debatable"]) == ([3, 5], every, [1, 2, 4])
    fault = student(made.data, "fault-exponent")
    assert "$$v_0 = 2 a s$$" in fault["solution"]  # for v_0^2 = 2 a s
    assert r"s = 2.45\unit{m}" in fault["solution"]  # 24.0 / 9.81
    assert fault["expected"] == {"matched": [1, 4, 5], "credited": [1, 4, 5], "score": 0.6, "final_correct": False}
    for name in ("slip", "unit"):
        (missed,) = set(every) - set(student(made.data, name)["expected"]["matched"])
        assert missed in (3, 5)
    assert student(made.data, "memorised")["expected"]["matched"] == [1, 2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPLATES)
def test_grades_are_the_labels(name: str) -> None:
    for made in generate(name, n=2, seed=500, variants=VARIANTS):
        problem = prism.load_problem(dict(made.data))
        for each in problem.students:
            assert each.expected is not None
            grade = prism.grade(problem, each.solution)
            differs = set(grade.matched) ^ set(each.expected.matched)
            assert differs <= set(each.expected.debatable), (made.name, each.name)
            assert grade.final_correct == each.expected.final_correct


def test_the_file_loads_as_what_was_made(tmp_path: Path) -> None:
    for made in generate("activity", variants=VARIANTS):
        path = tmp_path / "p.toml"
        path.write_text(made.toml(), "utf-8")
        problem = prism.load_problem(path)
        assert problem.id == made.data["id"]
        assert [node.latex for node in problem.nodes] == formulas(made.data)
        assert len(problem.students) == len(made.data["students"])


SCRIPT = """
import hashlib, sys
from prism.generation.instances import generate
from prism.generation.solving import plan_steps
from prism.generation.template import VARIANTS
from prism.generation.values import draw_values
digest = hashlib.sha256()
for made in generate("braking", "glass_surface", "metal_wire", n=int(sys.argv[1]), variants=VARIANTS):
    digest.update(made.name.encode() + made.toml().encode())
print(digest.hexdigest())
"""


@pytest.mark.slow  # starts processes
def test_the_same_bytes_in_every_process() -> None:
    digest = hashlib.sha256()
    for made in generate("braking", "glass_surface", "metal_wire", n=2, variants=VARIANTS):
        digest.update(made.name.encode() + made.toml().encode())
    for seed, kernels in (("1", "interpreted"), ("77", "compiled")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PRISM_KERNELS": kernels}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, "2"], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout.strip() == digest.hexdigest()


def test_any_instance_alone_is_the_one_of_a_run() -> None:
    prepared = prepare_template("braking")
    run = {each.seed: each.toml() for each in generate(prepared, n=6)}
    (alone,) = generate("braking", n=1, seed=5)
    assert alone.toml() == run[5]


def test_an_instance_that_repeats_numbers_is_skipped() -> None:
    data = braking()
    data["parameters"]["v_0"] = {"choice": ["24.0", "30.0"], "unit": "m/s"}
    data["parameters"]["d"] = {"value": "80.0", "unit": "m"}
    data["original"] = {"v_0": "24.0", "surfaces": "wet asphalt"}
    skipped: list[tuple[str, int, int]] = []
    made = list(generate(data, n=3, on_skip=lambda *told: skipped.append(told)))
    assert len({each.answer for each in made}) == 3
    assert skipped
    assert all(seed > earlier for _, seed, earlier in skipped)
    with pytest.raises(PrismError, match="of 20 instances differ"):
        list(generate(data, n=20))


@pytest.mark.slow
def test_what_cannot_be_made_is_told() -> None:
    data = braking()
    data["constraint"] = [{"formula": r"s > 900\unit{m}"}]
    with pytest.raises(Unsatisfiable, match="seed 0: unsatisfiable"):
        list(generate(data))
    with pytest.raises(DataFileError, match="original: breaks constraint, entry 1"):
        list(generate(data, variants=("original",)))
    with pytest.raises(PrismError, match='did you mean "abstract"'):
        generate("braking", variants=("abstrat",))
    del data["original"]
    with pytest.raises(DataFileError, match="original: is missing"):
        list(generate(data, variants=("original",)))


def test_levels_narrow_the_ranges() -> None:
    data = braking()
    data["parameters"]["v_0"]["levels"] = [["15.0", "20.0"], ["20.0", "35.0"]]
    for level, (low, high) in enumerate([(15, 20), (20, 35)]):
        for made in generate(data, n=5, level=level):
            assert low <= float(made.data["metadata"]["template"]["values"]["v_0"]) <= high
