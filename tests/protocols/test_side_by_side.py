"""Six scores at once are those that each command gives by itself."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.grading.pipeline import grade
from prism.problem.schema import load_problem
from prism.protocols.graded_rollouts import grade_rollouts
from prism.protocols.side_by_side import find_beside, gold_of, rows_side_by_side
from prism.runs.rollouts import Rollout
from prism.runs.score_files import score_rows

run = CliRunner()
PROBLEM = {
    "id": "sled", "context": "A sled of mass $m$ is pulled with the force $F$ from rest, for a time $t$.",
    "givens": {"m": "20 kg", "F": "30 N", "t": "4 s"},
    "subquestions": [
        {"letter": "a", "subproblem": "Find its acceleration $a$.", "final_answer_form": "numerical"},
        {"letter": "b", "subproblem": "Find its way $s$.", "final_answer_form": "numerical"},
    ],
    "grading_standard": [
        {"index": 1, "formula": "F = m a", "dependency": []},
        {"index": 2, "formula": r"a = 1.5\unit{m/s^2}", "dependency": [1], "is_final_answer": True, "subquestion": "a"},
        {"index": 3, "formula": r"s = \frac{1}{2} a t^2", "dependency": [2]},
        {"index": 4, "formula": r"s = 12\unit{m}", "dependency": [3], "is_final_answer": True, "subquestion": "b"},
    ],
}  # fmt: skip
TEXTS = {
    "m1": r"(a) $F = m a$, $a = 1.5\,\mathrm{m/s^2}$ (b) $s = \frac{1}{2} a t^2 = 12\,\mathrm{m}$",
    "m2": "sub_question_1:\n$a = 1.5\\,\\mathrm{m/s^2}$\nsub_question_2:\n$s = 20\\,\\mathrm{m}$",
    "m3": "It is 12 metres or so.",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("sled")
    problem, rollouts = folder / "sled.json", folder / "rollouts.jsonl"
    problem.write_text(json.dumps(PROBLEM), encoding="utf-8")
    rollouts.write_text("".join(
        json.dumps({"problem_id": "sled", "sample_id": name, "model": name, "response": text}) + "\n"
        for name, text in TEXTS.items()
    ), encoding="utf-8")  # fmt: skip
    return problem, rollouts


@pytest.fixture(scope="module")
def together(files: tuple[Path, Path]) -> Path:
    folder = files[0].parent / "rows"
    words = ["protocol", "compare", "--rules", *map(str, files), "--workers", "0", "--rows", str(folder), "--json"]
    result = run.invoke(app, [*words, "--replicates", "0", "-o", str(files[0].parent / "page.html")])
    assert result.exit_code == 0, result.stderr
    names = [one["score"] for one in json.loads(result.stdout)["scores"]]
    assert names == ["closure", "strict", "prefix", "psas", "engtrace", "engjudge", "engjudge_decided"]
    return folder


@pytest.mark.parametrize(("name", "words"), [
    ("psas", ["protocol", "psas", "PROBLEM", "ROLLOUTS", "--workers", "0"]),
    ("engjudge", ["protocol", "engjudge", "--rules", "PROBLEM", "ROLLOUTS", "--workers", "0", "--stages", "none"]),
    ("scores", ["run", "PROBLEM", "ROLLOUTS", "--workers", "0", "--compact"]),
])  # fmt: skip
def test_each_score_is_that_of_its_own_command(
    files: tuple[Path, Path], together: Path, tmp_path: Path, name: str, words: list[str]
) -> None:
    out = tmp_path / "alone.jsonl"
    named = {"PROBLEM": str(files[0]), "ROLLOUTS": str(files[1])}
    run.invoke(app, [*(named.get(word, word) for word in words), "-o", str(out)])
    alone, beside = list(score_rows(out)), list(score_rows(together / f"{name}.jsonl"))
    for row in beside:
        row["policies"].pop("engjudge_decided", None)
    assert beside == alone


@pytest.mark.slow
def test_the_trace_of_a_problem_is_its_nodes(files: tuple[Path, Path], together: Path, tmp_path: Path) -> None:
    """The same as by the command, whose gold is written by hand."""
    gold, predictions, out = (tmp_path / name for name in ("gold.jsonl", "predictions.jsonl", "alone.jsonl"))
    made = gold_of(load_problem(PROBLEM))
    assert made.solution.splitlines()[0] == "**Step 1:** $F = m a$"
    assert made.solution.splitlines()[-1] == r"**Answer:** $s = 12\unit{m}$"
    gold.write_text(json.dumps({"id": "sled", "question": made.question, "solution": made.solution}) + "\n")
    predictions.write_text("".join(
        json.dumps({"id": "sled", "sample_id": name, "generation": text, "model": name}) + "\n"
        for name, text in TEXTS.items()
    ))  # fmt: skip
    words = ["protocol", "engtrace", str(gold), str(predictions), "--problems", str(files[0]), "-o", str(out)]
    run.invoke(app, words)
    assert list(score_rows(together / "engtrace.jsonl")) == list(score_rows(out))


def test_what_rules_decide_of_engjudge_is_their_mean(together: Path) -> None:
    for row in score_rows(together / "engjudge.jsonl"):
        stages = [part["score"] for part in row["parts"][:8] if part["score"] is not None]
        mean = sum((Fraction(str(each)) for each in stages), Fraction(0)) / len(stages) if stages else None
        assert row["policies"]["engjudge_decided"] == (None if mean is None else float(round(mean, 6)))
        assert row["score"] is None


def test_a_failure_of_one_is_a_failure_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("prism.protocols.side_by_side.apply_rules", broken)
    problem = load_problem(PROBLEM)
    graded = grade_rollouts({"sled": problem}, [Rollout("sled", TEXTS["m1"], "m1")], then=find_beside)
    rows = rows_side_by_side(graded, {"sled": problem})
    assert [rows.scores[0]["status"], *(each[0].status for each in rows.protocols.values())] == ["internal"] * 4
    assert grade(problem, TEXTS["m1"]).score == 1.0
