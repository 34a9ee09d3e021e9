"""Doors of frameworks that are not installed here: their shapes, with stand-ins; benchmarks/frameworks/doors.py runs
each of them with the framework itself."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import prism
from prism.grading.row import score_row
from prism.grading.scoring import SCALARS
from prism.rewards import LightevalScores, LMEvalResults, Reward, VerifiersReward, VerifiersTaskReward
from prism.rewards.inspect_scorer import precomputed_scores_jsonl, score_fields
from prism.rewards.rows import METRICS
from prism.rewards.verifiers import METRICS as RUBRIC_METRICS
from prism.rewards.verifiers import VerifiersMetric, rubric

SMALL = {
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$. Its speed after the time $t$ is $v$.",
    "grading_standard": [
        {"index": 1, "formula": "F = m a", "dependency": []},
        {"index": 2, "formula": "v = F t / m", "dependency": [1], "is_final_answer": True},
    ],
}
RIGHT, HALF = r"Newton says $a = \frac{F}{m}$, so $v = \frac{F t}{m}$.", "$F = m a$"
BAD_REFERENCES = [None, "nowhere", "nowhere.toml", "{", True, [], {"id": "x"}, object()]
BAD_SOLUTIONS = [None, 7, {"role": "user"}, [1, "x"], object()]


@pytest.fixture(scope="module")
def reward() -> Reward:
    return Reward(problems=[SMALL])


def run(awaitable: Any) -> Any:
    return asyncio.run(awaitable)


# verifiers. -----------------------------------------------------------------------------------------------------


class Message:
    """As of a framework whose messages are no dictionaries."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def model_dump(self) -> dict[str, Any]:
        return {"role": "assistant", "content": self.content, "tool_calls": None}


@pytest.mark.parametrize(
    "completion",
    [HALF, [{"role": "assistant", "content": HALF}], [Message(HALF)], [Message([{"type": "text", "text": HALF}])]],
)
def test_a_rubric_s_function_gives_a_float_and_keeps_scalars(reward: Reward, completion: Any) -> None:
    function = VerifiersReward(reward)
    state: dict[str, Any] = {}
    assert function(completion=completion, answer="newton", info={}, state=state, prompt=[], task=None) == 0.5
    assert function.__name__ == "prism"
    assert list(state["prism"]) == list(SCALARS)
    metric = VerifiersMetric(function, "matched")
    assert (metric.__name__, metric(completion="other", answer="newton", state=state)) == ("prism_matched", 0.5)
    assert metric(completion=RIGHT, answer="newton", state={}) == 1.0  # without the reward before it, it grades


@pytest.mark.parametrize(
    ("column", "arguments"),
    [
        ("answer", {"answer": "newton"}),
        ("problem", {"problem": "newton"}),
        ("problem", {"info": {"problem": "newton"}, "answer": "v"}),
    ],
)
def test_a_rubric_s_reference_may_stand_in_three_places(reward: Reward, column: str, arguments: dict[str, Any]) -> None:
    assert VerifiersReward(reward, column=column)(completion=RIGHT, **arguments) == 1.0


def test_a_rubric_s_function_names_the_column_that_did_not_come(reward: Reward) -> None:
    function, state = VerifiersReward(reward, column="problem"), dict[str, Any]()
    with pytest.raises(prism.PrismError, match=r"column: no column 'problem' .* came: answer, level, problems$"):
        function(completion=RIGHT, answer="", info={"level": 1}, state=state, problems="newton")
    assert state["prism"]["bad_reference"] == 1.0  # which the metrics go on to log
    assert function(completion=RIGHT, info={"problem": None}, state=state) == 0.0


def test_a_rubric_has_the_reward_and_metrics_of_weight_0(reward: Reward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "verifiers", SimpleNamespace(Rubric=lambda **given: given))
    found = rubric(reward, weight=2.0, metrics=("final",))
    assert [function.__name__ for function in found["funcs"]] == ["prism", "prism_final"]
    assert found["weights"] == [2.0, 0.0]


class Trace:
    """As of verifiers.v1."""

    def __init__(self, last_reply: Any) -> None:
        self.last_reply = last_reply
        self.metrics: dict[str, float] = {}
        self.info: dict[str, Any] = {}

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = float(value)


def test_a_task_s_reward_records_metrics_and_matched_nodes(reward: Reward) -> None:
    function = VerifiersTaskReward(reward)
    trace = Trace(HALF)
    assert run(function(task=SimpleNamespace(reference="newton"), trace=trace)) == 0.5
    assert list(trace.metrics) == [f"prism_{key}" for key in RUBRIC_METRICS]
    assert trace.info["prism"] == {"matched": [1], "fault": ""}
    trace = Trace(HALF)
    with pytest.raises(prism.PrismError, match=r"field: no column 'reference' .* came: references$"):
        run(function(task=SimpleNamespace(references="newton"), trace=trace))
    assert trace.metrics["prism_bad_reference"] == 1.0
    assert "reference" in trace.info["prism"]["fault"]


# lm-eval and lighteval. -----------------------------------------------------------------------------------------


def test_a_document_has_the_numbers_that_the_metric_list_names(reward: Reward) -> None:
    results = LMEvalResults(reward)
    found = results({"reference": "newton"}, [HALF])
    names = [each["metric"] for each in results.metric_list]
    assert list(found) == names == ["prism", *(f"prism_{key}" for key in METRICS), "prism_bad_reference"]
    assert (found["prism"], found["prism_strict"], found["prism_final"]) == (0.5, 0.5, 0.0)
    gains = [each["metric"] for each in results.metric_list if each["higher_is_better"]]
    assert gains == ["prism", "prism_strict", "prism_final"]


def test_the_page_s_yaml_lists_the_usual_metrics(reward: Reward) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/frameworks/lm_eval.md").read_text("utf-8")
    entry = r"- metric: (\w+)\n    aggregation: mean\n    higher_is_better: (\w+)\n"
    listed = [(each["metric"], str(each["higher_is_better"]).lower()) for each in LMEvalResults(reward).metric_list]
    assert re.findall(entry, page) == listed


@pytest.mark.parametrize("results", [[[HALF, RIGHT]], [HALF, RIGHT], (HALF, RIGHT)])
def test_several_solutions_of_a_document_are_averaged(reward: Reward, results: Any) -> None:
    assert LMEvalResults(reward)({"reference": "newton"}, results)["prism"] == 0.75


@pytest.mark.parametrize("results", [[], [[]], None, [None], *([each] for each in BAD_SOLUTIONS)])
def test_no_solution_is_worth_0_and_not_left_out(reward: Reward, results: Any) -> None:
    assert LMEvalResults(reward)({"reference": "newton"}, results)["prism"] == 0.0


def test_the_function_for_yaml_needs_no_set_up() -> None:
    from prism.rewards.lm_eval import process_results

    doc = {"reference": json.dumps(SMALL)}
    assert process_results(doc, [RIGHT])["prism"] == 1.0
    assert process_results({"reference": None}, [RIGHT]) == {"prism_bad_reference": 1.0}
    for unfit, names in (({"problem": "newton"}, "problem"), ({}, "none"), (None, "none")):
        with pytest.warns(UserWarning, match=f"column: no column 'reference' .* came: {names}$"):
            assert process_results(unfit, [RIGHT]) == {"prism_bad_reference": 1.0}


class Doc:
    """As of lighteval."""

    def __init__(self, specific: Any = None, golds: Any = None) -> None:
        self.specific, self.golds = specific, golds

    def get_golds(self) -> list[Any]:
        return list(self.golds)


def test_a_lighteval_sample_has_its_reference_in_specific_or_as_gold(reward: Reward) -> None:
    scores = LightevalScores(reward)
    response = SimpleNamespace(final_text=[HALF, RIGHT])
    for doc in (Doc({"reference": "newton"}), Doc(None, ["newton"]), Doc({"other": 1}, ["newton"])):
        assert scores.compute(doc=doc, model_response=response)["prism"] == 0.75
    assert scores.compute(Doc({"reference": None}, ["newton"]), response) == {"prism_bad_reference": 1.0}
    for doc in (Doc(), Doc(None, []), Doc({"other": 1}, ["newton", "newton"])):
        with pytest.warns(UserWarning, match="specific: column: no column 'reference' .* nor is there one gold choice"):
            assert scores.compute(doc=doc, model_response=response) == {"prism_bad_reference": 1.0}
    assert scores.compute(Doc(None, ["newton"]), SimpleNamespace())["prism"] == 0.0


@pytest.fixture
def lighteval(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made = {name: ModuleType(name) for name in (
        "lighteval", "lighteval.metrics", "lighteval.metrics.utils", "lighteval.metrics.utils.metric_utils",
        "lighteval.metrics.metrics_sample", "lighteval.tasks", "lighteval.tasks.requests",
    )}  # fmt: skip
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    made["lighteval.metrics.utils.metric_utils"].SampleLevelMetricGrouping = SimpleNamespace  # type: ignore[attr-defined]
    made["lighteval.metrics.metrics_sample"].SampleLevelComputation = type("SampleLevelComputation", (), {})  # type: ignore[attr-defined]
    made["lighteval.tasks.requests"].SamplingMethod = SimpleNamespace(GENERATIVE="GENERATIVE")  # type: ignore[attr-defined]
    yield
    vars(sys.modules["prism.rewards.lighteval"]).pop("Computation", None)


def test_a_lighteval_metric_is_of_lighteval_s_kind_and_can_be_pickled(reward: Reward, lighteval: None) -> None:
    from prism.rewards.lighteval import prism_metric

    metric = prism_metric(reward, metrics=("final", "unread"))
    assert metric.metric_name == ["prism", "prism_final", "prism_unread", "prism_bad_reference"]
    assert metric.higher_is_better == dict(zip(metric.metric_name, (True, True, False, False), strict=True))
    assert set(metric.corpus_level_fn) == set(metric.metric_name)
    kind = sys.modules["lighteval.metrics.metrics_sample"].SampleLevelComputation
    twin = pickle.loads(pickle.dumps(metric.sample_level_fn))
    assert isinstance(twin, kind)
    assert twin.compute(Doc(None, ["newton"]), SimpleNamespace(final_text=[RIGHT]))["prism"] == 1.0
    assert "closure" in str(twin)


# Inspect. -------------------------------------------------------------------------------------------------------


@pytest.fixture
def inspect(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    class Score(SimpleNamespace):
        @classmethod
        def unscored(cls, **fields: Any) -> Score:
            return cls(value=None, **fields)

    asked: list[Any] = []

    def scorer(metrics: Any) -> Any:
        asked.append(metrics)
        return lambda function: function

    made = {"Score": Score, "Target": object, "mean": lambda: "mean", "stderr": lambda: "stderr", "scorer": scorer}
    monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", SimpleNamespace(**made))
    monkeypatch.setitem(sys.modules, "inspect_ai.solver", SimpleNamespace(TaskState=object))
    yield asked
    vars(sys.modules["prism.rewards.inspect_scorer"]).pop("prism_score", None)


def scored(score: Any, target: Any, completion: Any, metadata: Any = None) -> Any:
    state = SimpleNamespace(output=SimpleNamespace(completion=completion), metadata=metadata, sample_id=3)
    return run(score(state, SimpleNamespace(text=target)))


def test_inspect_s_score_has_nodes_scalars_and_a_line_for_each_formula(inspect: list[Any]) -> None:
    from prism.rewards.inspect_scorer import prism_score

    found = scored(prism_score(problems=[SMALL]), "newton", HALF + " and $v = F t$")
    assert inspect == [["mean", "stderr"]]
    assert (found.value, found.reason) == (0.5, None)
    assert (found.metadata["matched"], found.metadata["missing"]) == ([1], [2])
    assert list(found.metadata["scalars"]) == list(SCALARS)
    first, second, third = found.explanation.splitlines()
    assert (first, second) == ("matched 1; missing 2", "equivalent 1 `F = m a`")
    assert third.startswith("different `v = F t`")
    json.dumps(found.metadata, allow_nan=False)


def test_inspect_does_not_score_a_sample_whose_reference_is_bad(inspect: list[Any]) -> None:
    from prism.rewards.inspect_scorer import prism_score

    score = prism_score(problems=[SMALL], reference="problem")
    assert scored(score, "right", RIGHT, {"problem": "newton"}).value == 1.0
    for metadata in (None, {}, {"problem": "nowhere"}):
        found = scored(score, "newton", RIGHT, metadata)
        assert (found.value, found.reason) == (None, "scoring_failed")
        assert "reference" in found.explanation
    assert "no column 'problem' came" in scored(score, "newton", RIGHT, {"id": 3}).explanation
    with pytest.raises(prism.PrismError, match="scoring"):
        prism_score(scoring="nothing")


def test_a_long_explanation_is_cut(reward: Reward) -> None:
    found = reward("newton", " ".join(f"$v = {n} F t$" for n in range(2, 250)))
    assert score_fields(found)["explanation"].splitlines()[-1] == "and 48 more"


def row(sample_id: Any, solution: str = RIGHT, **more: Any) -> dict[str, Any]:
    problem = prism.load_problem(SMALL)
    return {**score_row(problem, solution, prism.grade(problem, solution, sample_id=sample_id)), **more}


def test_score_rows_become_precomputed_scores() -> None:
    rows = [
        row("a"), row("b", HALF, epoch=1), row("b", meta={"epoch": 2}),
        {"sample_id": 7, "status": "killed", "score": None},
    ]  # fmt: skip
    found = [json.loads(line) for line in precomputed_scores_jsonl(rows).splitlines()]
    assert [(each["id"], each.get("epoch"), each["value"]) for each in found] == [
        ("a", None, 1.0), ("b", 1, 0.5), ("b", 2, 1.0), (7, None, 0.0),
    ]  # fmt: skip
    assert found[0]["metadata"]["matched"] == [1, 2]
    assert found[3]["metadata"] == {"status": "killed"}
    for scoring, value in (("final", 0.0), ("strict", 0.5), ("score_strict", 0.5)):
        assert json.loads(precomputed_scores_jsonl([row("b", HALF)], scoring=scoring))["value"] == value


def test_all_faults_of_score_rows_are_told_at_once() -> None:
    rows = [row(None), row("a"), row("a"), row("b", epoch="1"), {"sample_id": "c", "score": None}]
    with pytest.raises(prism.PrismError) as caught:
        precomputed_scores_jsonl(rows)
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == ["row 1", "row 3", "row 4", "row 5"]
    with pytest.raises(prism.PrismError, match="precision"):
        precomputed_scores_jsonl([row("a")], scoring="precision")


# All of them. ---------------------------------------------------------------------------------------------------


def ways(reward: Reward) -> dict[str, Any]:
    """Each door as a function of a reference and a solution."""
    rubric_function, task_reward = VerifiersReward(reward), VerifiersTaskReward(reward)
    results, scores = LMEvalResults(reward), LightevalScores(reward)

    def task(reference: Any, solution: Any) -> Any:
        trace = Trace(solution)
        return run(task_reward(SimpleNamespace(reference=reference), trace)), tuple(trace.metrics)

    return {
        "rubric": lambda reference, solution: rubric_function(completion=solution, answer=reference, state={}),
        "task": task,
        "lm_eval": lambda reference, solution: results({"reference": reference}, [solution]),
        "lighteval": lambda reference, solution: scores.compute(
            Doc({"reference": reference}), SimpleNamespace(final_text=[solution])
        ),
        "inspect": lambda reference, solution: score_fields(reward(reference, solution)),
    }


@pytest.mark.parametrize("name", ["rubric", "task", "lm_eval", "lighteval", "inspect"])
def test_no_solution_raises_and_threads_agree(reward: Reward, name: str) -> None:
    """A reference that cannot be used raises where a model is trained; an evaluation goes on and warns."""
    asked = ways(reward)[name]

    def door(reference: Any, solution: Any) -> Any:
        try:
            return asked(reference, solution)
        except prism.PrismError as error:
            assert name in ("rubric", "task")
            assert reference in BAD_REFERENCES[1:]
            return str(error)

    rows: list[tuple[Any, Any]] = [("newton", RIGHT), ("newton", HALF), ("newton", "")]
    rows += [(reference, RIGHT) for reference in BAD_REFERENCES] + [("newton", each) for each in BAD_SOLUTIONS]
    alone = [door(*each) for each in rows]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda each: door(*each), rows * 8)) == alone * 8


def test_doors_can_be_pickled(reward: Reward) -> None:
    function, task_reward, results = (
        pickle.loads(pickle.dumps(each))
        for each in (VerifiersReward(reward), VerifiersTaskReward(reward), LMEvalResults(reward))
    )
    assert function(completion=HALF, answer="newton") == 0.5
    assert run(task_reward({"reference": "newton"}, Trace(HALF))) == 0.5
    assert results({"reference": "newton"}, [HALF])["prism"] == 0.5
    assert pickle.loads(pickle.dumps(VerifiersMetric(function, "final")))(completion=RIGHT, answer="newton") == 1.0


@pytest.mark.parametrize("make", [VerifiersReward, VerifiersTaskReward, LMEvalResults, LightevalScores])
def test_an_author_s_mistake_raises(make: Any) -> None:
    for given in ({"scoring": "nothing"}, {"problems": 3}, {"name": ""}, {"thinking": "yes"}):
        with pytest.raises(prism.PrismError):
            make(**given)
    if make is not VerifiersReward:
        for metrics in ("final", ("nothing",)):
            with pytest.raises(prism.PrismError, match="metrics"):
                make(metrics=metrics)
    with pytest.raises(prism.PrismError, match="metrics"):
        VerifiersMetric(VerifiersReward(Reward(problems=[SMALL])), "nothing")


def test_doors_have_no_other_names() -> None:
    from prism.rewards import inspect_scorer
    from prism.rewards import lighteval as door

    for module in (inspect_scorer, door):
        with pytest.raises(AttributeError):
            module.nothing  # noqa: B018 - asked for, and not there
