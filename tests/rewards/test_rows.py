"""The rows of a batch: golds, ids, dictionaries, JSON and problems mixed; what cannot be used is told."""

from __future__ import annotations

import json
import pickle
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

import prism
from prism.rewards import LMEvalResults, Reward, TRLReward, VerifiersReward
from prism.rewards.openrlhf import answer
from prism.rewards.references import gold_problem, is_like_an_id
from prism.rewards.rows import MOST_TOLD, reward_rows
from prism.rewards.verl import compute_score, compute_score_batched
from prism.server import create_app

NEWTON = {
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}
LAW = r"$a = \frac{F}{m}$"


@pytest.fixture(scope="module")
def trl() -> TRLReward:
    return TRLReward("final", problems=[NEWTON])


def test_golds_are_references_of_trl() -> None:
    """The first thing that a user of a data set with answers types."""
    assert TRLReward("final")(completions=[r"So $\boxed{5}$.", "6"], reference=["5", "5"]) == [1.0, 0.0]


def test_references_of_every_kind_stand_in_one_batch(trl: TRLReward) -> None:
    rows = [
        ("newton", LAW), (NEWTON, LAW), (json.dumps(NEWTON), LAW), (prism.load_problem(NEWTON), LAW),
        (prism.prepare(NEWTON), LAW), ({"answer": "5"}, r"\boxed{5}"), ("5", r"\boxed{5}"), (5, "5"),
        (9.8, "$v = 9.8$"),
        (r"\frac12 m v^2", r"$E = \frac{m v^2}{2}$"), ("D", r"So $\boxed{D}$."),
        ("9.8 m/s^2", r"$9.8\,\mathrm{m/s^2}$"),
        ("yes", "yes"), ("mgh", "$m g h$"), ("[0, 1)", "$[0, 1)$"), (r"\{1, 2\}", r"$\boxed{\{2, 1\}}$"),
        (prism.parse("5"), "5"), (["2 s", "20 m/s"], r"$\boxed{2\,\mathrm{s}}$, $\boxed{20\,\mathrm{m/s}}$"),
        ('["2 s", "20 m/s"]', r"$\boxed{2\,\mathrm{s}}$, $\boxed{20\,\mathrm{m/s}}$"),
    ]  # fmt: skip
    references, right = [row[0] for row in rows], [row[1] for row in rows]
    assert trl(completions=right, reference=references) == [1.0] * len(rows)
    assert trl(completions=[r"$\boxed{77 x}$"] * len(rows), reference=references) == [0.0] * len(rows)


@pytest.mark.parametrize(
    "solution", ["5", "So\n\n$5$", "$x = 5$", "It is $6$.", "", [{"role": "assistant", "content": "$5$"}]]
)
def test_a_gold_is_met_by_what_verify_takes_for_the_answer(solution: Any) -> None:
    right = float(bool(prism.verify("5", solution)))
    for scoring in ("final", "closure", "strict", "training", "precision"):
        assert Reward(scoring)("5", solution).value == right


def test_workers_take_golds_too() -> None:
    rows = ["5", "D", NEWTON, None, "{"], [r"\boxed{5}", "D", LAW, LAW, LAW]
    with Reward("final", workers=1) as reward:
        assert [each.value for each in reward.many(*rows)] == [1.0, 1.0, 1.0, None, None]


# What cannot be used. -------------------------------------------------------------------------------------------


def test_all_faults_of_a_batch_are_raised_at_once_with_column_and_row(trl: TRLReward) -> None:
    references = ["newton", "newtom", "{", "5", r"\frac{1}{", "newtom", True, "nowhere.toml", None, "set_one"]
    with pytest.raises(prism.PrismError) as caught:
        trl(completions=[LAW] * len(references), reference=references)
    told = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in told] == [
        "reference, row 2 and 1 more", "reference, row 3", "reference, row 5", "reference, row 7", "reference, row 8",
        "reference, row 10",
    ]  # fmt: skip
    assert 'did you mean "newton"?' in told[0]
    assert '{"answer": "..."}' in told[0]
    assert "holds no formula" in told[2]
    assert "DAG" not in told[2]


def test_of_many_faults_ten_are_told_and_the_rest_counted(trl: TRLReward) -> None:
    with pytest.raises(prism.PrismError) as caught:
        trl(completions=[LAW] * 14, reference=[f"row-{k}" for k in (*range(13), 12)])
    told = str(caught.value).splitlines()
    assert len(told) == MOST_TOLD + 1
    assert told[-1] == "and 4 rows more"


@pytest.mark.parametrize("missing", [None, "", "  ", float("nan"), "nan", "None", "N/A"])
def test_a_row_without_a_reference_has_no_reward_which_is_told_once(missing: Any) -> None:
    trl = TRLReward("final")
    with pytest.warns(UserWarning, match=r"^reference: a row has no reference, and so no reward") as told:
        assert trl(completions=["5", "5", "5"], reference=["5", missing, missing]) == [1.0, None, None]
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trl(completions=["5"], reference=[missing]) == [None]
    with pytest.warns(UserWarning, match="has no reference"):
        pickle.loads(pickle.dumps(trl))(completions=["5"], reference=[missing])


def test_lengths_that_differ_raise_with_both(trl: TRLReward) -> None:
    with pytest.raises(prism.PrismError, match=r"^reference: 1 entries, and completions: 2; expected as many$"):
        trl(completions=["5", "5"], reference=["5"])
    with pytest.raises(prism.PrismError, match=r"^ground_truth: 3 entries, and solution_strs: 2; expected as many$"):
        compute_score_batched(["s"] * 2, ["5", "5"], ["5"] * 3)
    with pytest.raises(prism.PrismError, match=r"^ground_truths: 2 entries, and extra_infos: 1; expected as many$"):
        compute_score_batched(["s"] * 2, ["5", "5"], ["5"] * 2, [{}])
    with pytest.raises(prism.PrismError, match=r"^column: 1 entries, and texts: 0"):
        reward_rows(Reward(), ["5"], [], column="column", solved="texts")


def test_doors_of_one_row_name_the_column() -> None:
    with pytest.raises(prism.PrismError, match=r"^ground_truth: .*did you mean .newton"):
        compute_score("s", LAW, "newtom", problems=[NEWTON])
    with pytest.raises(prism.PrismError, match=r"^extra_info, id: "):
        compute_score("s", LAW, None, {"id": "newtom"}, problems=[NEWTON], reference_key="id")
    with pytest.raises(prism.PrismError, match=r"^answer: "):
        VerifiersReward(problems=[NEWTON])(completion=LAW, answer="newtom")


def test_an_evaluation_warns_and_keeps_what_was_written() -> None:
    results = LMEvalResults("final", problems=[NEWTON])
    with pytest.warns(UserWarning, match=r"^reference: .*did you mean .newton"):
        assert results({"reference": "newtom"}, [LAW]) == {"prism_bad_reference": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results({"reference": "newtom"}, [LAW])  # told already
    assert results({"reference": "5"}, ["5"])["prism"] == 1.0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(2 * MOST_TOLD):
            results({"reference": f"row-{k}"}, [LAW])
    assert len(told) == MOST_TOLD - 1


# Golds and ids. -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["free_fall", "no_such_problem", "train-17", "gsm8k/12", "row 3", "set:one", "p.toml", '{"a": 1', "[]"]
)
def test_what_is_written_like_an_id_a_path_or_json_is_no_gold(text: str) -> None:
    assert gold_problem(text) is None
    assert Reward("final")(text, "5").value in (None, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "E_kin",
        "v_0",
        "x_{max}",
        "km/h",
        "m/s",
        "stable",
        "mgh",
        "F = ma",
        "1/2",
        "a-b",
        "12%",
        "sin2x",
        "log 2",
        "non-zero",
    ],
)
def test_formulas_units_and_words_are_golds(text: str) -> None:
    assert gold_problem(text) is not None


def test_a_column_of_questions_holds_no_golds() -> None:
    question = "A stone is dropped from rest at the height $h$; find its speed $v$ at the ground."
    with pytest.raises(prism.PrismError, match=r"^reference, row 1: .*\{\"answer\": \"...\"\}$"):
        TRLReward("final")(completions=[LAW], reference=[question])
    assert gold_problem(r"$v = 3$ m/s for the first stone and $w = 2\,\text{metres per second}$") is not None


def test_beside_a_problem_set_a_word_is_an_id() -> None:
    assert is_like_an_id("stable", ["newton"])
    assert not is_like_an_id("stable")
    assert is_like_an_id("61", ["1", "2"])
    assert not is_like_an_id("61", ["newton"])
    assert not is_like_an_id("D", ["D1", "D2"])
    assert not is_like_an_id("true", ["newton"])
    reward = Reward("final", problems=[NEWTON])
    assert '{"answer": "..."}' in reward("stable", "stable").fault
    assert reward({"answer": "stable"}, "The answer is stable.").value == 1.0


# HTTP. ----------------------------------------------------------------------------------------------------------


def test_requests_hold_golds() -> None:
    rows = {"query": ["5", r"\boxed{D}", LAW, LAW], "labels": ["5", "D", "newton", "newtom"]}
    found = answer(Reward("final", problems=[NEWTON], paths=False), rows)
    assert (found["rewards"], found["extra_logs"]["bad_reference"]) == ([1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "$5$"}]}]
    with TestClient(create_app([NEWTON], scoring="final")) as client:
        asked = client.post("/get_reward", json=rows).json()
        assert (asked["rewards"], [bool(each) for each in asked["faults"]]) == (found["rewards"], [False] * 3 + [True])
        row = {"response": {"output": said}, "expected_answer": "5"}
        assert client.post("/verify", json=row).json()["reward"] == 1.0
        row = {"response": {"output": said}, "problem_id": "newtom"}
        assert client.post("/verify", json=row).status_code == 404
        assert client.post("/grade", json={"problem": "5", "solution": "5"}).status_code == 404


def test_openrlhf_raises_all_labels_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from prism.rewards import OpenRLHFReward

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=lambda values: SimpleNamespace(clone=values.copy)))
    reward_func = OpenRLHFReward("final", problems=[NEWTON])
    with pytest.raises(prism.PrismError, match=r"(?s)^labels, row 2: .*\nlabels, row 3: "):
        reward_func(["5", LAW, LAW], ["", "", ""], ["5", "newtom", "{"])
    with pytest.raises(prism.PrismError, match=r"^prompts: 1 entries, and queries: 2"):
        reward_func(["5", "5"], [""], ["5", "5"])


def test_a_batch_of_two_lengths_is_refused_by_the_reward_itself() -> None:
    with pytest.raises(prism.PrismError, match="references: 2; solutions: 1"):
        Reward("closure").many(["5", "5"], ["$5$"])
