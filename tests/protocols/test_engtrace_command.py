"""`prism protocol engtrace`: its files and their faults, its rows as other commands read them, its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from prism.cli import app
from prism.protocols.engtrace import rows as engtrace
from prism.protocols.engtrace.formulas import pair_steps
from prism.protocols.schemas import schema_text

run = CliRunner()
FOLDER = Path(__file__).with_name("engtrace")
GOLD, PREDICTIONS, VOTES = (FOLDER / f"{name}.jsonl" for name in ("gold", "predictions", "votes"))
Row = dict[str, Any]


def called(*words: object, code: int = 0) -> Result:
    result = run.invoke(app, ["protocol", "engtrace", "--workers", "0", *map(str, words)])
    assert result.exit_code == code, result.stderr
    return result


def rows_of(*words: object, code: int = 0) -> list[Row]:
    return json.loads(called(*words, "--json", code=code).stdout)["rows_list"]


def lines_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, *rows: object) -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return path

    return write


def test_the_fixture_scores_as_worked_by_hand() -> None:
    """Six predictions on three golds; S, M and N as counted in the traces.

    pipe alpha: 4 of 4 and 4: 1. pipe beta: three of M = 4 are verified, 3/4 > 0.7 and the answer is right, N = 5 with
    the list under Formulae: 6/9. batch alpha: 2 of 2 and 2: 1. batch beta: M = 2, N = 1, judges 1/2, 1/2, 0 make 1/2 of
    (1, 1), and 0, 0, 1 make 0 of (2, 1): 2 (1/2) / 3 = 1/3. rc alpha: 1 of 2 and 2: 1/2. rc beta: no text: 0.
    """
    rows = rows_of(GOLD, PREDICTIONS, "--votes", VOTES)
    assert [(row["problem_id"], row["sample_id"], row["score"], row["final_correct"]) for row in rows] == [
        ("pipe_head_loss-11", "alpha", 1.0, True), ("pipe_head_loss-11", "beta", 0.666667, True),
        ("first_order_batch-5", "alpha", 1.0, True), ("first_order_batch-5", "beta", 0.333333, False),
        ("rc_discharge-2", "alpha", 0.5, False), ("rc_discharge-2", "beta", 0.0, False),
    ]  # fmt: skip
    assert rows[0]["meta"] == {
        "area": "pipes", "branch": "mechanical_engineering", "domain": "fluid_mechanics", "level": "Intermediate",
        "model": "alpha", "seed": "11", "template": "pipe_head_loss",
    }  # fmt: skip
    assert rows[3]["findings_sha256"]


@pytest.mark.slow
def test_the_released_script_reads_less() -> None:
    """pipe alpha: 2.55 for 2.55e4, and 50.0 for the answer of the gold: rows 1 and 3 of 4, columns 1 and 3: 1/2.

    batch alpha: the first gold step has no number: 1 of 2 and 2: 1/2. rc alpha: 1/2.
    """
    rows = rows_of(GOLD, PREDICTIONS, "--variant", "released")
    assert [row["score"] for row in rows] == [0.5, 0.444444, 0.5, 0.0, 0.5, 0.0]
    assert [row["final_correct"] for row in rows] == [False, False, True, False, False, False]


@pytest.mark.slow
def test_one_file_with_both_gives_the_same_rows(written: Callable[..., Path]) -> None:
    golds = {row["id"]: row for row in lines_of(GOLD)}
    both = written("both.jsonl", *({**golds[row["id"]], **row} for row in lines_of(PREDICTIONS)))
    assert rows_of(both, "--votes", VOTES) == rows_of(GOLD, PREDICTIONS, "--votes", VOTES)


@pytest.mark.slow
def test_the_order_of_votes_and_of_golds_changes_no_byte(written: Callable[..., Path], tmp_path: Path) -> None:
    votes, golds = written("v.jsonl", *reversed(lines_of(VOTES))), written("g.jsonl", *reversed(lines_of(GOLD)))
    called(GOLD, PREDICTIONS, "--votes", VOTES, "-o", tmp_path / "a.jsonl")
    called(golds, PREDICTIONS, "--votes", votes, "-o", tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.slow
def test_workers_change_no_byte(tmp_path: Path) -> None:
    called(GOLD, PREDICTIONS, "--votes", VOTES, "-o", tmp_path / "a.jsonl")
    called(GOLD, PREDICTIONS, "--votes", VOTES, "-o", tmp_path / "b.jsonl", "--workers", "2")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_prediction_without_sample_id_is_named_by_its_place(written: Callable[..., Path]) -> None:
    rows = [{key: value for key, value in row.items() if key != "sample_id"} for row in lines_of(PREDICTIONS)[:2]]
    assert [row["sample_id"] for row in rows_of(GOLD, written("p.jsonl", *rows))] == ["1", "2"]


def test_a_gold_without_a_prediction_is_told(written: Callable[..., Path]) -> None:
    told = called(GOLD, written("p.jsonl", lines_of(PREDICTIONS)[0])).stderr
    assert told == f"prism: {GOLD}: 2 golds without a prediction\n"


@pytest.mark.slow
def test_other_commands_read_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    said = called(GOLD, PREDICTIONS, "--votes", VOTES, "-o", path).stdout
    assert "6 rows (6 ok); mean score 0.583" in said  # (1 + 2/3 + 1 + 1/3 + 1/2 + 0) / 6 = 3.5 / 6
    for words in (["report", path, "--by", "level", "--format", "csv"], ["compare", path, "--by", "model"]):
        result = run.invoke(app, list(map(str, words)))
        assert result.exit_code == 0, result.stderr
    called(GOLD, PREDICTIONS, "-o", tmp_path / "rows.parquet", "--votes", VOTES)


# Faults. --------------------------------------------------------------------------------------------------------


def test_all_faults_of_the_traces_are_told(written: Callable[..., Path]) -> None:
    gold = lines_of(GOLD)[0]
    golds = written("gold.jsonl", {"seed": 1, "solution": "x = 1"}, {"id": "a", "solution": " "}, {**gold, "seed": [1]})
    told = called(golds, PREDICTIONS, code=3).stderr
    for fault in ("line 1: id: is missing", "line 2: solution: is empty", "line 3: seed: [1] is neither a text nor"):
        assert f"gold.jsonl: {fault}" in told

    predictions = written("p.jsonl", {"id": "pipe_head_loss", "seed": 11}, {"id": "x", "generation": 7})
    told = called(GOLD, predictions, code=3).stderr
    for fault in ("line 1: generation: is missing", "line 2: generation: 7 is no text"):
        assert f"p.jsonl: {fault}" in told

    first = lines_of(PREDICTIONS)[0]
    told = called(GOLD, written("p.jsonl", first, first, {**first, "seed": 12}), code=3).stderr
    assert 'line 2: sample_id: "alpha" of id "pipe_head_loss", seed 11 stands in line 1 too' in told
    assert 'line 3: no gold has id "pipe_head_loss", seed 12' in told

    told = called(written("g.jsonl", gold, {**gold, "solution": "x = 1"}), PREDICTIONS, code=3).stderr
    assert 'line 2: another solution than in line 1, for id "pipe_head_loss", seed 11' in told


def test_all_faults_of_votes_are_told(written: Callable[..., Path]) -> None:
    good = lines_of(VOTES)[0]
    votes = written(
        "votes.jsonl", {**good, "class": "Alternativ Correct"}, {**good, "score": 1}, {**good, "gold_step": 0},
        {key: value for key, value in good.items() if key != "judge"}, {**good, "class": None, "score": 1.5},
    )  # fmt: skip
    told = called(GOLD, PREDICTIONS, "--votes", votes, code=3).stderr
    for fault in (
        'line 1: class: "Alternativ Correct" is none of', "did you mean Alternative Correct?",
        "line 2: class, score: one of them is needed, and not both",
        "line 3: gold_step: 0 is no whole number of 1 or more",
        "line 4: judge: is missing", "line 5: score: 1.5 is no number from 0 to 1",
    ):  # fmt: skip
        assert fault in told

    votes = written("votes.jsonl", good, good, {**good, "sample_id": "gamma"}, {**good, "id": "none"})
    told = called(GOLD, PREDICTIONS, "--votes", votes, code=3).stderr
    assert "line 2: stands in line 1 too: the same steps, the same judge" in told
    assert 'line 3: no one prediction has id "first_order_batch", seed 5, sample_id "gamma"' in told
    assert 'line 4: no one prediction has id "none", seed 5' in told

    votes = written("votes.jsonl", {**good, "gold_step": 3}, {**good, "predicted_step": 4, "judge": "judge-9"})
    told = called(GOLD, PREDICTIONS, "--votes", votes, code=3).stderr
    assert "votes.jsonl: line 1: gold_step: 3, but the trace of first_order_batch-5 has 2 steps" in told
    assert "votes.jsonl: line 2: predicted_step: 4, but the trace of first_order_batch-5 has 1 step" in told


def test_a_vote_without_sample_id_is_on_the_only_prediction(written: Callable[..., Path]) -> None:
    votes = [{key: value for key, value in row.items() if key != "sample_id"} for row in lines_of(VOTES)]
    alone = written("p.jsonl", lines_of(PREDICTIONS)[3])
    assert rows_of(GOLD, alone, "--votes", written("v.jsonl", *votes))[0]["score"] == 0.333333
    told = called(GOLD, PREDICTIONS, "--votes", written("v.jsonl", *votes), code=3).stderr
    assert 'no one prediction has id "first_order_batch", seed 5' in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--variant", "january"), "expected paper or released"),
        (("--accept-share", "2"), "expected a number from 0 to 1"),
        (("--step-tolerance", "x"), "expected a number from 0 to 1"),
        (("--threshold", "0.8"), "name one with --similarity"),
        (("--variant", "released", "--accept-share", "0.8"), "fixed in the released script"),
        (("--prefer", "votes"), "expected rules, or file"),
    ],
)
def test_a_wrong_option_is_a_fault_of_usage(words: tuple[str, ...], said: str) -> None:
    assert said in " ".join(called(GOLD, PREDICTIONS, *words, code=2).stderr.replace("│", " ").split())


def test_options_move_what_they_name(written: Callable[..., Path]) -> None:
    """0.75 is not above 0.75: pipe beta is escalated, where Re = V D / nu with 2546 is worth 1/2: 2 (7/2) / 9 = 7/9.

    A tolerance of 0.001 leaves step 1 in tier 1: 0.0251 and 0.0415 are 0.4 and 0.5 % off. 64/Re is proved different,
    the head loss has the right formula: 1/2. What the line under Formulae is worth, which states that formula without a
    number, no rule decides: S is from 1 + 1/2 + 0 + 1/2 = 2 to 5/2, F1 from 4/9 to 5/9.
    """
    beta = written("p.jsonl", lines_of(PREDICTIONS)[1])
    (row,) = rows_of(GOLD, beta, "--accept-share", "0.75")
    assert (row["score"], row["settings"]["accept_share"]) == (0.777778, 0.75)
    (row,) = rows_of(GOLD, beta, "--step-tolerance", "0.001", code=5)
    assert (row["score_low"], row["score_high"], row["settings"]["step_tolerance"]) == (0.444444, 0.555556, 0.001)
    assert row["policies"]["engtrace_alignment"] == 0.25


def test_a_measure_is_read_from_a_file(written: Callable[..., Path]) -> None:
    alpha = written("p.jsonl", lines_of(PREDICTIONS)[4])
    rows = [
        {"id": "rc_discharge", "seed": 2, "gold_step": k, "predicted_step": k, "similarity": s}
        for k, s in ((1, 0.81), (2, -0.1))
    ]
    (row,) = rows_of(GOLD, alpha, "--variant", "released", "--similarity", written("s.jsonl", *rows))
    assert row["score"] == 0.5
    assert [part["basis"] for part in row["parts"]] == ["file", "rules"]
    (row,) = rows_of(GOLD, alpha, "--similarity", written("s.jsonl", *rows), "--threshold", "0.81")
    assert row["policies"]["engtrace_alignment"] == 0.0
    assert row["settings"]["threshold"] == 0.81
    told = called(GOLD, alpha, "--similarity", written("s.jsonl", {**rows[0], "similarity": "high"}), code=3).stderr
    assert 'similarity: "high" is no number' in told


def test_nothing_scored_is_exit_code_5(written: Callable[..., Path]) -> None:
    (row,) = rows_of(GOLD, written("p.jsonl", lines_of(PREDICTIONS)[3]), code=5)
    assert (row["status"], row["score"], row["score_low"], row["score_high"]) == ("undecided", None, 0.0, 0.666667)


def test_a_failure_is_an_incident_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pair_steps

    def fail_on_rc(gold: Any, *rest: Any, **more: Any) -> Any:
        if "tau" in gold.text:
            raise ZeroDivisionError("made")
        return whole(gold, *rest, **more)

    monkeypatch.setattr(engtrace, "pair_steps", fail_on_rc)
    rows = rows_of(GOLD, PREDICTIONS, "--votes", VOTES, code=4)
    assert [row["status"] for row in rows] == ["ok"] * 4 + ["internal"] * 2
    assert (rows[4]["score_low"], rows[4]["score_high"], rows[4]["parts"]) == (0.0, 1.0, [])
    assert rows[4]["incidents"][0]["detail"] == "ZeroDivisionError: made"


# With problems, and schemas. ------------------------------------------------------------------------------------

RC = {
    "id": "rc_discharge",
    "context": r"A capacitor $C = 1.0\times10^{-6}\unit{F}$ is charged to $U_0 = 12.0\unit{V}$ and discharged through"
    r" $R = 47000\unit{\ohm}$. $\tau$ is the time constant. Find the voltage $U$ at $t = 0.0200\unit{s}$.",
    "grading_standard": [
        {"index": 1, "formula": r"\tau = R C", "dependency": []},
        {"index": 2, "formula": r"U = U_0 e^{-t/\tau}", "dependency": [1]},
        {"index": 3, "formula": r"U = 7.84\unit{V}", "dependency": [2], "is_final_answer": True},
    ],
}


@pytest.mark.parametrize("problem_id", ["rc_discharge", "rc_discharge-2"])
def test_the_problem_of_the_same_id_gives_nodes_and_the_root_cause(
    written: Callable[..., Path], problem_id: str
) -> None:
    problems = written("problems.jsonl", {**RC, "id": problem_id})
    printed = called(GOLD, PREDICTIONS, "--votes", VOTES, "--problems", problems, "--json").stdout
    assert json.loads(printed)["root_causes"] == {"Sign/Direction": 1}
    row = json.loads(printed)["rows_list"][4]
    assert (row["meta"]["root_cause"], row["matched"], row["missing"]) == ("Sign/Direction", [1], [2, 3])
    assert "node 1" in " ".join(row["parts"][0]["findings"]) or row["parts"][0]["findings"][1] == "tier 1"


def test_a_problem_by_template_is_not_used_for_several_seeds(written: Callable[..., Path]) -> None:
    golds, alpha = lines_of(GOLD), lines_of(PREDICTIONS)[4]
    two = written("gold.jsonl", *golds, {**golds[2], "seed": 3})
    predictions = written("p.jsonl", alpha, {**alpha, "seed": 3})
    problems = written("problems.jsonl", RC)
    assert [row["matched"] for row in rows_of(two, predictions, "--problems", problems)] == [[], []]


def test_the_schemas_take_what_the_reader_takes() -> None:
    traces, votes = (json.loads(schema_text(name)) for name in ("engtrace", "engtrace_votes"))
    for path, schema in ((GOLD, traces), (PREDICTIONS, traces), (VOTES, votes)):
        for row in lines_of(path):
            jsonschema.validate(row, schema)


@pytest.mark.parametrize(
    ("schema", "row"),
    [
        ("engtrace", {"solution": "x = 1"}), ("engtrace", {"id": "a", "solution": " "}), ("engtrace", {"id": "a"}),
        ("engtrace", {"id": "a", "generation": 7}), ("engtrace", {"id": "", "generation": "x"}),
        ("engtrace", {"id": "a", "generation": "x", "seed": [1]}),
        ("engtrace_votes", {"id": "a", "gold_step": 1, "predicted_step": 1, "judge": "A"}),
        ("engtrace_votes", {"id": "a", "gold_step": 1, "predicted_step": 1, "judge": 1, "class": "Other", "score": 1}),
        ("engtrace_votes", {"id": "a", "gold_step": 0, "predicted_step": 1, "judge": "A", "class": "Other"}),
        ("engtrace_votes", {"id": "a", "gold_step": 1, "predicted_step": 1, "judge": "A", "class": "Good"}),
        ("engtrace_votes", {"id": "a", "gold_step": 1, "predicted_step": 1, "judge": "A", "score": 2}),
        ("engtrace_votes", {"id": "a", "gold_step": 1, "predicted_step": 1, "class": "Other"}),
        ("engtrace_similarity", {"id": "a", "gold_step": 1, "predicted_step": 1}),
        ("engtrace_similarity", {"id": "a", "gold_step": 1, "predicted_step": 1, "similarity": "1"}),
    ],
)  # fmt: skip
def test_the_schemas_refuse_what_the_reader_refuses(schema: str, row: Row, written: Callable[..., Path]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(row, json.loads(schema_text(schema)))
    trace = {"id": "a", "solution": "x = 1", "generation": "x = 1"}
    path = written("row.jsonl", row)
    words: tuple[object, ...] = (path, *([written("p.jsonl", trace)] * ("generation" not in row)))
    if schema != "engtrace":
        option = "--votes" if schema == "engtrace_votes" else "--similarity"
        words = (written("both.jsonl", trace), option, path)
    elif "generation" in row:
        words = (written("gold.jsonl", trace), path)
    assert "row.jsonl: item 1: " in called(*words, code=3).stderr


def test_the_command_prints_its_schemas() -> None:
    for name in ("engtrace", "engtrace_votes", "engtrace_similarity"):
        result = run.invoke(app, ["protocol", "schema", name])
        assert json.loads(result.stdout)["title"].startswith("EngTrace")


def test_numbers_beyond_all_floats_are_told(written: Callable[..., Path]) -> None:
    one = {"id": "a", "solution": "1. x = 6\n**Answer:** 1e350", "generation": "1. x = 7\n**Answer:** 2e399"}
    (row,) = rows_of(written("both.jsonl", one))
    assert (row["score"], row["incidents"]) == (0, [])
    assert "final answer: 2e+399, the gold 1e+350" in row["notes"]


def test_faults_of_entries_and_between_them_are_told_at_once(written: Callable[..., Path]) -> None:
    gold = {"id": "a", "solution": "1. x = 6\n**Answer:** 6"}
    one = {"id": "a", "sample_id": "m", "generation": "x = 6"}
    said = called(
        written("gold.jsonl", gold), written("p.jsonl", one, one, {**one, "id": "b"}, {**one, "generation": 7}), code=3
    ).stderr
    for each in ("line 2: sample_id", "line 3: no gold", "line 4: generation: 7 is no text"):
        assert each in said
    vote = {"id": "a", "gold_step": 1, "predicted_step": 1, "judge": "A", "class": "Other"}
    votes = written("v.jsonl", vote, vote, {**vote, "id": "b"}, {**vote, "class": "Othr"})
    said = called(written("gold.jsonl", gold), written("p.jsonl", one), "--votes", votes, code=3).stderr
    for each in ("line 2: stands in line 1 too", "line 3: no one prediction", "line 4: class"):
        assert each in said
