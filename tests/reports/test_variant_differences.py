"""Paired differences between variants of generated problems: by hand, against scipy, from `generate` to `report`."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.problem.schema import TemplateOrigin, load_problem
from prism.reports.cross_tables import Crossing, VariantDifferences, sign_test
from prism.reports.summary import build_report
from tests.support.made_rows import made_row, write_rows

VARIANTS = ("original", "perturbed", "knowledge", "abstract")


def variant_row(template: str, variant: str, seed: int, score: float, *, final: bool = False, sample="1", **kept):
    """Return a row whose kept fields say which variant it is of, as those of a generated problem do."""
    origin = {"template": template, "variant": variant, "pair": f"{template}-{seed}"}
    name = f"{template}-{variant}-{seed}"
    return made_row(name, f"{name} {sample} {kept}", score, final=final, **origin, **kept)


def differences(path: Path, rows, **options) -> VariantDifferences | None:
    crossing = Crossing(**{"by": ("variant",), **options})
    return build_report(write_rows(path / "rows.jsonl", rows), crossing=crossing, replicates=50).variants


def by_name(found: VariantDifferences | None) -> dict:
    assert found is not None
    return {(*one.key, str(one.contrast), one.measure.name): one for one in found.differences}


# By hand. -------------------------------------------------------------------------------------------------------


def test_differences_are_those_that_one_works_out_by_hand(tmp_path):
    rows = [
        variant_row("a", "original", 0, 1.0, final=True),
        variant_row("a", "perturbed", 0, 0.5), variant_row("a", "perturbed", 1, 0.7, final=True),
        variant_row("a", "knowledge", 0, 1.0, final=True), variant_row("a", "knowledge", 1, 1.0, final=True),
        # The mean over the rollouts of a problem, 0.4, then that over the problems of a template, 0.6.
        variant_row("b", "original", 0, 0.5),
        variant_row("b", "perturbed", 0, 0.2), variant_row("b", "perturbed", 0, 0.6, sample="2", final=True),
        variant_row("b", "perturbed", 1, 0.8),
        variant_row("b", "abstract", 0, 0.9), variant_row("b", "knowledge", 7, 0.9),  # 7 has no other variant
        variant_row("c", "perturbed", 0, 0.1),  # without an original
    ]  # fmt: skip
    found = by_name(differences(tmp_path, rows))
    assert list(found) == [
        ("original - perturbed", "score"), ("original - perturbed", "final"), ("knowledge - perturbed", "final"),
        ("abstract - perturbed", "final"),
    ]  # fmt: skip

    drop = found["original - perturbed", "score"]  # a: 1 - 0.6; b: 0.5 - 0.6
    assert (drop.mean.value, drop.mean.n, drop.n_template) == (pytest.approx(0.15), 2, 2)
    assert (drop.n_above, drop.n_below, drop.p) == (1, 1, 1.0)
    assert (drop.mean.low, drop.mean.high) == (pytest.approx(-0.1), pytest.approx(0.4))

    finals = found["original - perturbed", "final"]  # a: 1 - 1/2; b: 0 - (1/2 + 0)/2
    assert finals.mean.value == pytest.approx((0.5 - 0.25) / 2)

    told = found["knowledge - perturbed", "final"]  # of template a only: 1 - 0 and 1 - 1
    assert (told.mean.value, told.mean.n, told.n_template, told.n_above) == (0.5, 2, 1, 1)
    assert (told.mean.low, told.mean.reason, told.p) == (None, "one_template", 1.0)

    bare = found["abstract - perturbed", "final"]  # b, seed 0: 0 - 1/2
    assert (bare.mean.value, bare.n_above, bare.n_below) == (-0.5, 0, 1)


def test_the_interval_draws_templates_and_the_sign_test_counts_them(tmp_path):
    """Of 6 templates with 4 pairs each, whose pairs differ alike, there are 6 things to draw and 6 signs, not 24."""
    rows = [
        variant_row(f"t{k}", kind, seed, 0.5, final=kind == "knowledge")
        for k in range(6) for kind in ("perturbed", "knowledge") for seed in range(4)
    ]  # fmt: skip
    told = by_name(differences(tmp_path, rows))["knowledge - perturbed", "final"]
    assert (told.mean.value, told.mean.n, told.n_template) == (1.0, 24, 6)
    assert (told.n_above, told.p) == (6, 2 / 2**6)
    assert (told.mean.low, told.mean.high) == (1.0, 1.0)


def test_differences_that_cancel_have_no_sign(tmp_path):
    """The sum of 0.1, 0.2 and -0.3 as floats is not 0."""
    rows = [
        variant_row("a", kind, seed, 0.5, seconds=seconds)
        for kind, times in (("knowledge", (0.1, 0.2, 0.0)), ("perturbed", (0.0, 0.0, 0.3)))
        for seed, seconds in enumerate(times)
    ]
    found = by_name(differences(tmp_path, rows, measures=("time",)))["knowledge - perturbed", "time"]
    assert (found.mean.n, found.n_above, found.n_below) == (3, 0, 0)


def test_what_is_told_is_compared_by_no_score_of_steps(tmp_path):
    rows = [variant_row("a", kind, 0, 0.5, seconds=n) for n, kind in enumerate(VARIANTS)]
    measures = ("score", "strict", "policies.final", "best@1", "pass@1", "time")
    found = by_name(differences(tmp_path, rows, measures=measures))
    told = [name for contrast, name in found if contrast == "knowledge - perturbed"]
    assert told == ["policies.final", "pass@1", "time"]
    assert [name for contrast, name in found if contrast == "original - perturbed"] == list(measures)
    assert found["abstract - perturbed", "time"].mean.value == 2.0


def test_differences_stay_within_the_other_fields_and_totals_are_over_all(tmp_path):
    rows = [
        variant_row("a", kind, 0, score, model=model)
        for model, scores in (("new", (1.0, 0.0)), ("old", (0.5, 0.5)))
        for kind, score in zip(("original", "perturbed"), scores, strict=True)
    ]
    for options in ({"by": ("model", "variant")}, {"by": ("variant",), "across": ("model",)}):
        found = by_name(differences(tmp_path, rows, measures=("score",), **options))
        assert {key[0]: one.mean.value for key, one in found.items()} == {"new": 1.0, "old": 0.0}
    found = by_name(differences(tmp_path, rows, by=("model", "variant"), measures=("score",), has_totals=True))
    assert {key[0]: one.mean.value for key, one in found.items()} == {"new": 1.0, "old": 0.0, None: 0.5}


def test_other_rows_have_no_differences(tmp_path):
    made = [variant_row("a", kind, 0, 0.5, model="m") for kind in VARIANTS]
    assert differences(tmp_path, made, by=("model",)) is None
    assert differences(tmp_path, [made_row("p", "1", 0.5, variant="original")]) is None  # no template, no pair
    assert differences(tmp_path, made[1:2]) is None  # nothing to pair
    alien = [*made, made_row("p", "1", 0.0, variant="perturbed"), variant_row("a", "harder", 0, 0.0)]
    found = differences(tmp_path, alien)
    assert found is not None
    assert found.n_left_out == 2
    assert by_name(found)["original - perturbed", "score"].mean.value == 0.0
    unscored = variant_row("a", "perturbed", 1, 0.0) | {"score": None, "status": "killed"}
    assert by_name(differences(tmp_path, [*made, unscored]))["original - perturbed", "score"].mean.value == 0.0


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_binomial_one(above: int, below: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(above, above + below).pvalue if above + below else 1.0
    assert sign_test(above, below) == pytest.approx(expected, rel=1e-9)


# Where the fields come from. ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"template": {"id": "t", "seed": 3, "variant": "perturbed", "pair": "t-3", "case": "hits", "values": {}}},
         TemplateOrigin("t", "perturbed", "t-3", "3", "hits")),
        ({"template": {"id": "t", "seed": 4}}, TemplateOrigin("t", seed="4")),
        ({"template": {"id": "t", "variant": ["perturbed"], "seed": True}}, TemplateOrigin("t")),
        ({"template": {"variant": "perturbed"}}, None),
        ({"template": "chat"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_a_problem_says_what_it_was_made_from(metadata, expected):
    node = {"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}
    data = {"id": "p", "context": "A stone falls for $t$ with $g$, to $v$.", "grading_standard": [node]}
    assert load_problem({**data, "metadata": metadata}).template == expected


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return a folder with generated problems, and the scores of who reasons and who remembers the original."""
    folder = tmp_path_factory.mktemp("generated")
    run = CliRunner()
    call = [
        "generate",
        "braking",
        "pulley",
        "-n",
        "3",
        "--variants",
        ",".join(VARIANTS),
        "-o",
        str(folder / "problems"),
    ]
    assert run.invoke(app, call).exit_code == 0
    rollouts = []
    for path in sorted((folder / "problems").rglob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        own = {each["name"]: each["solution"] for each in data["students"]}
        for model, student in (("reasons", "gold"), ("remembers", "gold" if "original" in path.name else "memorised")):
            rollouts.append({"problem_id": data["id"], "id": f"{model} {data['id']}", "model": model,
                             "response": own[student]})  # fmt: skip
    source = folder / "rollouts.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in rollouts), "utf-8")
    done = run.invoke(app, ["run", str(folder / "problems"), str(source), "-o", str(folder / "scores.jsonl"),
                            "--workers", "0"])  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def told(folder: Path, *words: str):
    call = ["report", str(folder / "scores.jsonl"), "--problems", str(folder / "problems"), *words]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_from_generated_problems_to_the_drop_of_who_remembers(generated):
    found = json.loads(told(generated, "--by", "model,variant", "--json"))
    assert found["crossed"]["clusters"] == found["variant_differences"]["clusters"] == "template"
    listed = {
        (one["values"]["model"], one["first"], one["measure"]): one
        for one in found["variant_differences"]["differences"]
    }
    assert {key: one["difference"]["value"] for key, one in listed.items() if key[0] == "reasons"} == {
        ("reasons", "original", "score"): 0.0, ("reasons", "original", "final"): 0.0,
        ("reasons", "knowledge", "final"): 0.0, ("reasons", "abstract", "final"): 0.0,
    }  # fmt: skip
    # The formulas of braking are 3 of 5 nodes (2 of 5 numbers wrong), those of pulley 2 of 4.
    drop = listed["remembers", "original", "score"]
    assert (drop["difference"]["value"], drop["difference"]["n"], drop["above"], drop["p"]) == (0.45, 2, 2, 0.5)
    assert (drop["difference"]["low"], drop["difference"]["high"]) == (0.4, 0.5)
    assert listed["remembers", "original", "final"]["difference"]["value"] == 1.0
    assert listed["remembers", "abstract", "final"]["difference"]["n"] == 6


@pytest.mark.slow
def test_the_table_stands_in_every_format(generated):
    words = ("--by", "model,variant", "--table", "variant-differences", "--format")
    rows = list(csv.DictReader(io.StringIO(told(generated, *words, "csv"))))
    assert len(rows) == 8
    assert {key: rows[4][key] for key in ("model", "difference", "figure", "n", "mean", "mean low", "above", "p")} == {
        "model": "remembers", "difference": "original - perturbed", "figure": "score", "n": "2", "mean": "0.45",
        "mean low": "0.4", "above": "2", "p": "0.5",
    }  # fmt: skip
    assert r"| remembers | original \- perturbed | score | 2 | +0.450 |" in told(generated, *words, "markdown")
    assert r"remembers & original - perturbed & score & 2 & $+45.00$ &" in told(generated, *words, "latex", "--percent")
    shown = told(generated, "--by", "model,variant")
    assert shown.index("By model and variant") < shown.index("Paired differences between variants")
    page = generated / "page.html"
    told(generated, "--by", "model,variant", "-o", str(page))
    assert "Paired differences between variants" in page.read_text("utf-8")


@pytest.mark.slow
def test_intervals_of_means_draw_templates_too(generated):
    found = json.loads(told(generated, "--by", "template,case,variant,seed", "--measure", "final", "--json"))["crossed"]
    assert {cell["values"]["template"] for cell in found["cells"]} == {"braking", "pulley"}
    assert {cell["values"]["case"] for cell in found["cells"]} == {"stops", "hits", "(not said)"}
    assert {cell["final"]["reason"] for cell in found["cells"]} == {"one_template"}
    assert "Intervals draw the problems of a template together." in told(generated, "--by", "variant")
    assert "Intervals draw" not in told(generated, "--by", "model", "--across", "variant", "--table", "crossed")
