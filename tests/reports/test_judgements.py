"""Judges' files: each make is read, nothing that is missing becomes a 0, and items find each other."""

from __future__ import annotations

import json
import re
import zipfile

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.grading.row import json_line
from prism.problem.plain_values import plain
from prism.reports.agreement import REASONS
from prism.reports.judgements import read_judgements, read_score, score_in_text
from prism.reports.ratings import UNALIGNED, agreement_of, rating_table


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path, **options):
    return [
        (one.problem_id, one.sample_id, one.rater, one.score, one.dropped) for one in read_judgements(path, **options)
    ]  # fmt: skip


def score_row(problem, sample, score, **more):
    return {
        "problem_id": problem, "sample_id": sample, "status": "ok" if score is not None else "internal", "score": score,
        "matched": [1], "credited": [1], "missing": [2], "incidents": [], "grader": {}, "final_correct": False, **more,
    }  # fmt: skip


@pytest.mark.parametrize(("given", "score", "dropped"), [
    (True, 1, ""), (0, 0, ""), (0.25, 0.25, ""), ("0.5", 0.5, ""), ("3/4", 0.75, ""), ("**Correct**", 1, ""),
    ("incorrect", 0, ""), ("no", 0, ""), ("partially correct", 0.5, ""), (None, None, "no_score"),
    ("", None, "no_score"), (float("nan"), None, "no_score"), ("N/A", None, "no_score"), ("fine", None, "unreadable"),
    ("C", None, "unreadable"), ([1], None, "unreadable"), ("1/0", None, "unreadable"),
])  # fmt: skip
def test_a_value_is_a_score_or_says_why_not(given, score, dropped):
    found = read_score(given)
    assert (found.score, found.dropped) == (score, dropped)


@pytest.mark.parametrize(("text", "score"), [
    ('{"reason": "sign", "score": 0.5}', 0.5), ('```json\n{"verdict": "incorrect"}\n```', 0), ("7", 7), ("[[8]]", 8),
    ("Rating: [[3]], no: [[4.5]]", 4.5), ("**Score:** 3/4", 0.75), ("The final score is 2 out of 5.", 0.4),
    ("Steps are right.\nVerdict: INCORRECT.", 0), ("Grade: correct", 1), ("It is 90 % right.", None), ("", None),
    ("Step 3 scores well", None), ("Grade: fine", None), ('{"a": 1}', None), ("[" * 100_000, None),
])  # fmt: skip
def test_an_answer_holds_a_score_or_none(text, score):
    assert score_in_text(text).score == score


def test_lm_eval(tmp_path):
    path = write(tmp_path / "samples_task.jsonl", [
        {"doc_id": 0, "doc": {"problem_id": "fall"}, "target": "1", "resps": [["x"]], "filtered_resps": ["x"],
         "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0},
        {"doc_id": 1, "doc": {}, "resps": [["x"]], "filter": "strict-match", "exact_match": 0.0, "acc": None},
    ])  # fmt: skip
    assert read(path) == [("fall", None, "exact_match", 1, ""), ("1", None, "exact_match,strict-match", 0, "")]


SAMPLES = [
    {"id": "fall", "epoch": 1, "scores": {"judge": {"value": "C", "explanation": "right"}, "rules": {"value": 0.5}}},
    {"id": "fall", "epoch": 2, "scores": {"judge": {"value": {"steps": 0.25, "final": "I"}}}},
    {"id": "braking", "epoch": 1, "metadata": {"problem_id": "b", "sample_id": "s"},
     "scores": {"judge": {"value": None}}},
    {"id": "lens", "epoch": 1, "error": {"message": "none"}, "scores": {}},
]  # fmt: skip
INSPECTED = [
    ("fall", None, "judge", 1, ""), ("fall", None, "rules", 0.5, ""), ("fall", "2", "judge/steps", 0.25, ""),
    ("fall", "2", "judge/final", 0, ""), ("b", "s", "judge", None, "no_score"), ("lens", None, "", None, "failed"),
]  # fmt: skip


def test_inspect(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t"}, "samples": SAMPLES}), encoding="utf-8")
    assert read(path) == INSPECTED
    archive = tmp_path / "log.eval"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("header.json", "{}")
        for k, sample in enumerate(SAMPLES):
            file.writestr(f"samples/{k}_epoch_1.json", json.dumps(sample))
    assert read(archive) == INSPECTED
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"no zip")
    with pytest.raises(DataFileError):
        read(broken)


def test_promptfoo(tmp_path):
    results = [
        {"testIdx": 0, "promptIdx": 0, "vars": {"problem_id": "fall", "sample_id": "s1"}, "provider": {"id": "m"},
         "score": 1, "gradingResult": {"pass": True, "score": 0.75, "reason": "mostly"}},
        {"testIdx": 1, "promptIdx": 0, "vars": {}, "provider": {"id": "m"}, "score": 0, "error": "timeout",
         "gradingResult": None, "failureReason": 2},
    ]  # fmt: skip
    expected = [("fall", "s1", "", 0.75, ""), ("1", None, "", None, "failed")]
    for data in ({"evalId": "e", "results": {"version": 3, "results": results}}, {"results": results}):
        path = tmp_path / "out.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        assert read(path) == expected
    assert read(write(tmp_path / "out.jsonl", results)) == expected


def test_fastchat(tmp_path):
    single = {"question_id": 81, "model": "m1", "judge": ["gpt-4", "single-v1"], "judgment": "[[7]]", "score": 7}
    path = write(tmp_path / "gpt-4_single.jsonl", [
        {**single, "turn": 1}, {**single, "turn": 2, "score": 5.5}, {**single, "turn": 1, "score": -1},
    ])  # fmt: skip
    assert read(path) == [
        ("81", "m1", "gpt-4", 7, ""), ("81", "m1/2", "gpt-4", 5.5, ""), ("81", "m1", "gpt-4", None, "unreadable"),
    ]  # fmt: skip


def test_fastchat_pairs_show_what_order_does(tmp_path):
    pair = {"model_1": "a", "model_2": "b", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    games = [("model_1", "model_1"), ("model_1", "model_2"), ("model_1", "tie"), ("error", "model_2")]
    rows = [{**pair, "question_id": k, "g1_winner": g1, "g2_winner": g2} for k, (g1, g2) in enumerate(games)]
    path = write(tmp_path / "pairs.jsonl", rows)
    results = write(tmp_path / "rows.jsonl", [score_row("0", "a", 1.0)])
    found = agreement_of(rating_table(results, [path]))
    assert found.alignment[1].dropped == {"pairwise": 7, "unreadable": 1}
    (judge,) = found.reliability
    assert judge.order_flip_rate.value == pytest.approx(2 / 3)
    assert judge.order_shift.value == pytest.approx((0 + 1 + 0.5) / 3)
    assert (judge.flip_rate.value, judge.flip_rate.reason, judge.orders) == (None, "no_items", ("1", "2"))


def test_openai_batches(tmp_path):
    def answer(text):
        return {"status_code": 200, "body": {"model": "gpt", "choices": [{"message": {"content": text}}]}}

    parts = {"model": "gpt", "output": [{"type": "reasoning"}, {"content": [{"type": "output_text", "text": "[[2]]"}]}]}
    path = write(tmp_path / "batch.jsonl", [
        {"id": "b1", "custom_id": "fall/s1", "response": answer('{"score": 1}'), "error": None},
        {"id": "b2", "custom_id": "fall/s2", "response": answer("I cannot say."), "error": None},
        {"id": "b3", "custom_id": "fall/s3", "response": None, "error": {"message": "expired"}},
        {"id": "b4", "custom_id": "fall/s4", "response": {"status_code": 200, "body": parts}, "error": None},
    ])  # fmt: skip
    assert [one[1:] for one in read(path)] == [
        ("fall/s1", "gpt", 1, ""), ("fall/s2", "gpt", None, "unreadable"), ("fall/s3", "", None, "failed"),
        ("fall/s4", "gpt", 2, ""),
    ]  # fmt: skip
    results = write(tmp_path / "rows.jsonl", [score_row("fall", f"s{k}", 0.5) for k in (1, 2, 3)])
    found = rating_table(results, [path], scale=(0, 2))
    assert plain(found.alignment[1]) == {
        "rater": "gpt", "judgements": 4, "aligned": 1, "unrated": 2,
        "dropped": {"failed": 1, "not_in_results": 1, "unreadable": 1},
    }  # fmt: skip


def test_tables(tmp_path):
    csv = tmp_path / "people.csv"
    csv.write_text("problem,uid,annotator,grade,comment\nfall,s1,Ann,1,fine\nfall,s2,Ann,,none\n", encoding="utf-8")
    assert read(csv) == [("fall", "s1", "Ann", 1, ""), ("fall", "s2", "Ann", None, "no_score")]
    rows = [{"id": "x", "marks": {"ann": [1, 0], "bob": [1, None]}}]
    path = write(tmp_path / "wide.jsonl", rows)
    assert read(path, mapping={"score": "marks"}) == [
        ("x", "1", "ann", 1, ""), ("x", "2", "ann", 0, ""), ("x", "1", "bob", 1, ""),
        ("x", "2", "bob", None, "no_score"),
    ]  # fmt: skip
    pq = pytest.importorskip("pyarrow.parquet")
    table = tmp_path / "table.parquet"
    pq.write_table(__import__("pyarrow").Table.from_pylist([{"problem_id": "p", "score": 0.5}]), table)
    assert read(table) == [("p", None, "", 0.5, "")]
    with pytest.raises(DataFileError, match="say `--map score=FIELD`"):
        read(write(tmp_path / "none.jsonl", [{"id": 1, "text": "x"}]))
    with pytest.raises(DataFileError, match="which solution"):
        read(write(tmp_path / "no_id.jsonl", [{"score": 1}]))
    with pytest.raises(PrismError, match="no field points"):
        read(csv, mapping={"points": "grade"})


def test_items_are_found_by_what_the_file_names(tmp_path):
    rows = [
        score_row("fall", "s1", 1.0, meta={"model": "m1"}), score_row("fall", "s2", 0.5, meta={"model": "m2"}),
        score_row("lens", "s3", 0.0, meta={"model": "m1"}), score_row("lens", "s4", None),
    ]  # fmt: skip
    results = write(tmp_path / "rows.jsonl", rows)
    judge = write(tmp_path / "judge.jsonl", [
        {"problem_id": "fall", "model": "m1", "score": 1}, {"problem_id": "fall", "score": 0},
        {"sample_id": "s3", "score": 0.5}, {"sample_id": "s2", "score": None}, {"sample_id": "s3", "score": 1},
        {"problem_id": "fall", "sample_id": "s9", "score": 1}, {"sample_id": "s4", "score": 1},
    ])  # fmt: skip
    found = rating_table(results, [judge], mapping={"problem_id": "problem_id", "sample_id": "sample_id"})
    assert plain(found.alignment) == [
        {"rater": "rules", "judgements": 4, "aligned": 3, "dropped": {"not_graded": 1}, "unrated": 1},
        {"rater": "judge", "judgements": 7, "aligned": 3, "unrated": 1,
         "dropped": {"ambiguous": 1, "no_score": 1, "not_in_results": 1, "repeated": 1}},
    ]  # fmt: skip
    agreed = agreement_of(found)
    (pair,) = agreed.pairs
    assert (pair.n, pair.n_problem, agreed.n_item) == (2, 2, 4)
    assert [(item.sample_id, item.scores) for item in pair.disagreements] == [("s3", (0.0, 0.5))]
    assert "final answers not right" in pair.disagreements[0].reasons[0]
    assert agreed.reliability[0].flip_rate.value == 1
    assert json_line(agreed.to_dict())
    assert all(name in UNALIGNED for each in agreed.alignment for name in each.dropped)


def test_the_field_of_the_problem_is_the_one_with_known_ids(tmp_path):
    """As in published rollouts: the statement stands in `problem`, and the file begins with other problems."""
    rows = [score_row("id7", f"id7 | {model}", 1.0, meta={"model": model}) for model in ("a", "b")]
    judged = [{"id": f"id{k // 2}", "model": "ab"[k % 2], "problem": "A stone falls.", "graded_correct": k % 2}
              for k in range(20)]  # fmt: skip
    found = rating_table(write(tmp_path / "rows.jsonl", rows), [write(tmp_path / "judge.jsonl", judged)])
    assert found.ratings[:, 1].tolist() == [0, 1]
    assert found.alignment[1].dropped == {"not_in_results": 18}
    assert agreement_of(found).reliability == ()
    other = write(
        tmp_path / "other.jsonl", [{"id": "id7", "model": "c", "score": 0}, {"id": "id7", "model": "a", "score": 1}]
    )
    alone = rating_table(write(tmp_path / "row.jsonl", rows[:1]), [other])
    assert (alone.ratings.tolist(), alone.alignment[1].dropped) == ([[1, 1]], {"not_in_results": 1})
    bare = write(tmp_path / "bare.jsonl", [{"id": "id7", "score": 0}, {"id": "id7", "score": 1}])
    assert rating_table(tmp_path / "row.jsonl", [bare]).alignment[1].dropped == {"ambiguous": 2}
    apart = write(tmp_path / "apart.jsonl", [{"id": "id1", "score": 1}])
    assert CliRunner().invoke(app, ["agree", str(tmp_path / "rows.jsonl"), str(apart)]).exit_code == 5


def test_scale_and_cut(tmp_path):
    results = write(tmp_path / "rows.jsonl", [score_row("p", str(k), k / 4) for k in range(5)])
    judge = write(
        tmp_path / "judge.jsonl", [{"problem_id": "p", "sample_id": str(k), "score": 2 * k} for k in range(5)]
    )
    (pair,) = agreement_of(rating_table(results, [judge], scale=(0, 8))).pairs
    assert pair.coefficients["mae"].value == 0
    (pair,) = agreement_of(rating_table(results, [judge], scale=(0, 16), cut=0.5)).pairs
    assert pair.coefficients["percent_agreement"].value == pytest.approx(3 / 5)
    assert pair.coefficients["mae"].reason == "one_problem"
    with pytest.raises(PrismError, match="LOW below HIGH"):
        rating_table(results, [judge], scale=(1, 1))
    with pytest.raises(DataFileError, match=r"no score 'policies\.none'"):
        rating_table(results, [judge], score="policies.none")
    with pytest.raises(DataFileError, match="one rater only"):
        rating_table(results)


@pytest.mark.parametrize(("cut", "scale", "told"), [
    (3, (1, 5), "cut 3: scores are compared from 0 to 1; 3 of 1:5 is 0.5"),
    (9, (1, 5), "cut 9: scores are compared from 0 to 1"), (-1, None, "cut -1: scores are compared from 0 to 1"),
    (1, (1, 5), None), (0.75, None, None),
])  # fmt: skip
def test_a_cut_beyond_the_scale_is_refused(tmp_path, cut, scale, told):
    results = write(tmp_path / "rows.jsonl", [score_row("p", str(n), 1) for n in (0, 1)])
    judge = write(tmp_path / "j.jsonl", [{"problem_id": "p", "sample_id": str(n), "score": 1} for n in (0, 1)])
    if told is None:
        assert rating_table(results, [judge], scale=scale, cut=cut).ratings.max() <= 1
        return
    with pytest.raises(PrismError, match=rf"^{re.escape(told)}$"):
        rating_table(results, [judge], scale=scale, cut=cut)
    options = ["--cut", str(cut), *(["--scale", "{}:{}".format(*scale)] if scale else [])]
    assert CliRunner().invoke(app, ["agree", str(results), str(judge), *options]).exit_code == 3


@pytest.mark.parametrize(("scores", "scale", "told"), [
    ((5, 10), None, "scores from 5 to 10 do not fit 0:1; say --scale LOW:HIGH"),
    ((1, 7), (0, 5), "scores from 1 to 7 do not fit 0:5"), ((0.1, 0.7), (0.1, 0.7), ""), ((0, 1), None, ""),
])  # fmt: skip
def test_scores_beyond_the_scale_are_a_fault_beside_score_rows(tmp_path, scores, scale, told):
    results = write(tmp_path / "rows.jsonl", [score_row("fall", f"s{k}", 0.5) for k in (1, 2)])
    judged = [{"problem_id": "fall", "sample_id": f"s{k}", "score": one} for k, one in enumerate(scores, start=1)]
    path = write(tmp_path / "judge.jsonl", judged)
    if not told:
        assert rating_table(results, [path], scale=scale).ratings.max() <= 1
        return
    with pytest.raises(PrismError, match=re.escape(told)):
        rating_table(results, [path], scale=scale)
    others = write(tmp_path / "other.jsonl", judged)
    if scale is None:  # people with people: any scale that both use
        assert rating_table(path, [others]).ratings.max() == max(scores)


def test_a_field_that_no_record_has_is_a_fault_with_the_fields_there_are(tmp_path):
    results = write(tmp_path / "rows.jsonl", [score_row("fall", "s1", 0.5)])
    path = write(tmp_path / "judge.jsonl", [{"problem_id": "fall", "sample_id": "s1", "score": 1}])
    with pytest.raises(DataFileError, match="no record has a field points; there are problem_id, sample_id, score"):
        rating_table(results, [path], mapping={"score": "points"})


@pytest.mark.slow
def test_the_command(tmp_path):
    marks = [{"a": [1, 1], "b": [1, 0], "c": [1, 1]}, {"a": [0, 1], "b": [0, 1], "c": [0, 0]}, {"a": [1], "b": [1]}]
    path = write(tmp_path / "people.jsonl", [{"id": str(k), "marks": each} for k, each in enumerate(marks)])
    done = CliRunner().invoke(app, ["agree", str(path), "--map", "score=marks", "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert [pair["raters"] for pair in data["pairs"]] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert data["pairs"][0]["n"] == 5
    assert data["together"]["krippendorff_alpha_nominal"]["n"] == 5
    for each in data["together"].values():
        assert set(each) == {"value", "low", "high", "n", "reason"}
        assert each["reason"] is None or each["reason"] in REASONS
    table = CliRunner().invoke(app, ["agree", str(path), "--map", "score=marks", "--replicates", "50"])
    assert table.exit_code == 0
    assert "a and b" in table.stdout
    assert "All raters" in table.stdout
    assert CliRunner().invoke(app, ["agree", str(tmp_path / "none.jsonl")]).exit_code == 3
    assert CliRunner().invoke(app, ["agree", str(path), "--scale", "low"]).exit_code == 2
