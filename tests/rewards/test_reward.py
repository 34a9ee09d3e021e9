"""One reward for all frameworks: references in every shape, never an exception, threads, pickling, a bounded cache."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import pickle
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import prism
from prism.grading.scoring import SCALARS
from prism.resources import resource
from prism.rewards import OpenRLHFReward, Reward, TRLReward
from prism.rewards.openrlhf import answer, solution_of
from prism.rewards.verl import compute_score, compute_score_batched

FOLDER = Path(prism.__file__).parent / "rewards"
FIGURE = resource("dags/scoring_figure.toml")
TABLE: dict[str, Any] = tomllib.loads(FIGURE.read_text(encoding="utf-8"))
STUDENTS = {each["name"]: each["solution"] for each in TABLE["students"]}
SMALL = {
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}
RIGHT = r"Newton says $a = \frac{F}{m}$."


def small(name: str) -> dict[str, Any]:
    return {**SMALL, "id": name}


@pytest.fixture(scope="module")
def reward() -> Reward:
    return Reward(problems={"figure": FIGURE, "newton": SMALL, "7": SMALL})


# References. ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param(FIGURE, id="path"),
        pytest.param(str(FIGURE), id="name of a file"),
        pytest.param(TABLE, id="dictionary"),
        pytest.param(json.dumps(TABLE), id="column of JSON"),
        pytest.param("figure", id="id"),
        pytest.param(prism.load_problem(FIGURE), id="problem"),
        pytest.param(prism.prepare(FIGURE), id="prepared"),
    ],
)
def test_a_reference_may_come_in_many_shapes(reward: Reward, reference: Any) -> None:
    found = reward(reference, STUDENTS["figure"], sample_id="s1")
    assert found.value == 0.9
    assert found.grade is not None
    assert found.grade.sample_id == "s1"
    assert found.scalars["closure"] == 0.9
    assert found.fault == ""


def test_an_id_may_be_a_number(reward: Reward) -> None:
    assert reward(7, RIGHT).value == 1.0


@pytest.mark.parametrize(
    "reference",
    [
        None, "", "nowhere", "nowhere.toml", Path("nowhere.json"), "{", "[]", '{"id": "x"}', {}, {"id": object()}, True,
        float("nan"), b"figure", ["figure"], "a\0.toml", "\ud800", {1: "x", "y": 2},
        json.dumps(SMALL).replace("F = m a", "F ="),
    ],
    ids=lambda value: repr(value)[:24],
)  # fmt: skip
def test_a_bad_reference_has_no_value(reward: Reward, reference: Any) -> None:
    found = reward(reference, RIGHT)
    assert found.value is None
    assert found.grade is None
    assert found.fault
    assert found.scalars["bad_reference"] == 1.0
    assert list(found.scalars) == list(SCALARS)


def test_a_stranger_may_not_name_a_file() -> None:
    wary = Reward(problems=[SMALL], paths=False)
    assert wary(str(FIGURE), RIGHT).value is wary(FIGURE, RIGHT).value is None
    assert wary("newton", RIGHT).value == 1.0
    assert pickle.loads(pickle.dumps(wary))(str(FIGURE), RIGHT).value is None


def test_a_folder_and_a_list_are_known_by_their_own_ids(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(small("one")), encoding="utf-8")
    (tmp_path / "problem.schema.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no problem", encoding="utf-8")
    for problems in (
        tmp_path,
        str(tmp_path),
        [tmp_path / "a.json"],
        [small("one")],
        [prism.load_problem(small("one"))],
    ):
        assert Reward(problems=problems)("one", RIGHT).value == 1.0


# Solutions. -----------------------------------------------------------------------------------------------------


def test_chats_and_steps_are_solutions(reward: Reward) -> None:
    chat = [{"role": "user", "content": "$F = m a$?"}, {"role": "assistant", "content": RIGHT}]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": RIGHT}]}]
    asked = [{"role": "assistant", "tool_calls": [{"id": "1"}]}, {"role": "tool", "content": "$F = m a$"}]
    assert [reward("newton", each).value for each in (chat, parts, [RIGHT, "Done."])] == [1.0, 1.0, 1.0]
    assert reward("newton", asked).value == 0.0
    assert reward("newton", chat[:1]).value == 0.0


def test_steps_say_which_formula_earned_what() -> None:
    said = "$s = g t^2/2$, then $t_f = \\sqrt{2h/g}$, $x = 1$, $t_f = \\sqrt{2h/g}$"
    found = Reward(problems=[resource("dags/free_fall.toml")])("free_fall", said)
    assert found.grade is not None
    assert [(said[slice(*step.span)], step.nodes) for step in found.steps] == [
        ("s = g t^2/2", (1, 2, 3)), ("t_f = \\sqrt{2h/g}", (4,)), ("x = 1", ()), ("t_f = \\sqrt{2h/g}", ()),
    ]  # fmt: skip
    assert float(sum(step.credit for step in found.steps)) == pytest.approx(found.grade.score)


@pytest.mark.parametrize("solution", ["", "no formula", r"$\frac{", "x" * 300_000, "\ud800 $F = $", "$" * 999])
def test_whatever_a_model_writes_has_its_honest_value(reward: Reward, solution: str) -> None:
    found = reward("newton", solution)
    assert found.value == 0.0
    assert found.grade is not None


@pytest.mark.parametrize("solution", [None, 3, b"F", {"content": "x"}, [1], [{"content": "x"}]])
def test_a_solution_of_no_shape_is_worth_nothing(reward: Reward, solution: Any) -> None:
    found = reward("newton", solution)
    assert (found.value, found.grade) == (0.0, None)
    assert found.scalars["bad_solution"] == 1.0
    assert found.fault.startswith("solution")


def test_thinking_counts_on_request() -> None:
    text = f"<think>{RIGHT}</think> So be it."
    assert [Reward(thinking=each)(SMALL, text).value for each in (False, True)] == [0.0, 1.0]


def test_a_failure_of_the_grader_pays_nothing_and_is_told(reward: Reward, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("prism.rewards.reward.grade", fail)
    found = reward("newton", RIGHT)
    assert (found.value, found.grade, found.fault) == (0.0, None, "RuntimeError: a fault of ours")
    assert found.scalars["internal"] == 1.0


# Construction. --------------------------------------------------------------------------------------------------


def test_all_wrong_arguments_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(prism.PrismError) as caught:
        Reward("best", problems=[small("one"), small("one"), "nowhere.toml"], thinking=1, kept=0)  # type: ignore[arg-type]
    told = str(caught.value)
    for word in ("'best'", 'the id "one" is that of', "nowhere.toml", "thinking: 1", "kept: 0"):
        assert word in told
    for problems in (tmp_path, 3, [None]):
        with pytest.raises(prism.PrismError, match=r"^problems"):
            Reward(problems=problems)  # type: ignore[arg-type]


def test_training_problems_are_prepared_for_it() -> None:
    training = Reward("training")
    assert training(FIGURE, STUDENTS["right"]).value == 1.0
    assert training(prism.prepare(FIGURE), STUDENTS["right"]).value == 1.0


def test_importing_the_rewards_loads_nothing_else() -> None:
    code = "import sys, prism.rewards; print(sorted(name for name in sys.modules if name.startswith('prism')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['prism', 'prism.rewards', 'prism.version']"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_a_door_imports_no_framework_at_its_top(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    heads = {name.split(".")[0] for name in names}
    assert heads <= {"prism", "numpy", *sys.stdlib_module_names}
    assert not heads & {"multiprocessing", "signal", "subprocess", "time"}
    waiting = {"reward.py": {"concurrent"}, "worker_rows.py": {"concurrent", "threading"}, "verl.py": {"threading"},
               "verifiers.py": {"asyncio"}, "inspect_scorer.py": {"asyncio"}}  # fmt: skip
    assert heads & {"concurrent", "asyncio", "threading"} == waiting.get(path.name, set())


# Pickling, the cache, threads. ----------------------------------------------------------------------------------


def test_a_copy_gives_the_same_rewards() -> None:
    first = Reward({"closure": 0.5, "final": 0.5}, problems=[SMALL], thinking=True, kept=3)
    first("newton", RIGHT)
    for twin in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert len(twin.ready) == 0
        assert (twin.scoring, twin.thinking, twin.ready.size) == (first.scoring, True, 3)
        assert twin("newton", RIGHT) == first("newton", RIGHT)


def test_prepared_problems_are_kept_by_content_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(source: Any, *, training: bool) -> Any:
        found = prism.prepare(source, training=training)
        made.append(found.problem.id)
        return found

    monkeypatch.setattr("prism.grading.prepared_cache.prepare", counted)
    monkeypatch.setattr("prism.grading.prepared_cache.read_made", lambda *_, **__: None)
    reward = Reward(kept=2)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert reward(json.dumps(small(name)), RIGHT).value == 1.0
        assert len(reward.ready) <= 2
    assert made == ["a", "b", "c", "b"]  # `a` was used last when `c` came
    for _ in range(3):
        assert reward('{"id": "broken"}', RIGHT).value is None
    assert len(reward.ready) == 2


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    path, reward = tmp_path / "p.json", Reward()
    values = []
    for formula in ("F = m a", "F = 2 m a"):
        changed = {**SMALL, "grading_standard": [{**SMALL["grading_standard"][0], "formula": formula}]}  # type: ignore[dict-item]
        path.write_text(json.dumps(changed), encoding="utf-8")
        values.append(reward(path, RIGHT).value)
    assert values == [1.0, 0.0]


def test_eight_threads_give_the_rewards_of_one() -> None:
    rows: list[tuple[Any, Any]] = [("figure", text) for text in STUDENTS.values()]
    rows += [(json.dumps(small(f"n{k}")), RIGHT) for k in range(4)]
    rows += [("nowhere", RIGHT), (TABLE, None), (str(FIGURE), STUDENTS["figure"])]
    rows *= 3
    one = Reward(problems={"figure": FIGURE}, kept=2)
    expected = [one(*row) for row in rows]
    shared = Reward(problems={"figure": FIGURE}, kept=2)  # smaller than what is used, so that entries are dropped
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda row: shared(*row), rows))
    assert found == expected
    assert len(shared.ready) <= 2


def test_a_batch_has_one_result_a_row(reward: Reward) -> None:
    found = reward.many(["newton", "nowhere", "figure"], [RIGHT, RIGHT, STUDENTS["right"]])
    assert [each.value for each in found] == [1.0, None, 1.0]
    assert len({tuple(each.scalars) for each in found}) == 1


# TRL. -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trl() -> TRLReward:
    return TRLReward(problems=[SMALL, FIGURE])


def test_trl_gets_a_reward_a_completion(trl: TRLReward) -> None:
    """As `GRPOTrainer._calculate_rewards` calls it, with strings."""
    metrics: dict[str, float] = {}
    extra: dict[str, list[Any]] = {}
    found = trl(
        prompts=["p"] * 4,
        completions=[RIGHT, "$F = 2 m a$", STUDENTS["figure"], RIGHT],
        completion_ids=[[1]] * 4,
        reference=["newton", "newton", "scoring_figure", None],
        difficulty=[1, 1, 2, 1],
        trainer_state=object(),
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
    )
    assert found == [1.0, 0.0, 0.9, None]
    assert list(metrics) == [f"prism/{name}" for name in SCALARS]
    assert metrics["prism/closure"] == pytest.approx(1.9 / 3)  # of the rows that have a reward
    assert metrics["prism/bad_reference"] == 0.25
    assert extra["prism_matched"] == ["1", "", "1, 3, 4", ""]
    assert extra["prism_fault"][3]


def test_trl_hands_over_conversations(trl: TRLReward) -> None:
    asked = [{"role": "user", "content": "Find $a$."}]
    said = [[{"role": "assistant", "content": RIGHT}], [{"role": "assistant", "content": "No idea."}]]
    assert trl(prompts=[asked] * 2, completions=said, reference=["newton"] * 2) == [1.0, 0.0]


def test_trl_names_the_column_that_did_not_come_and_those_that_did(trl: TRLReward) -> None:
    metrics: dict[str, float] = {}
    assert trl(prompts=["p"], completions=[RIGHT], reference=[None], log_metric=metrics.__setitem__) == [None]
    assert metrics == {"prism/bad_reference": 1.0, "prism/bad_solution": 0.0}
    passed = {"completion_ids": [[1]], "trainer_state": object(), "log_metric": metrics.__setitem__}
    with pytest.raises(prism.PrismError) as caught:
        trl(prompts=["p"], completions=[RIGHT], references=["newton"], level=[1], **passed)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "column: no column 'reference' came with the references; those that came: level, references"
    )
    with pytest.raises(prism.PrismError, match=r"none$"):
        trl(prompts=["p"], completions=[RIGHT])
    assert trl(prompts=[], completions=[], reference=[]) == []


def test_trl_takes_no_text_for_a_list_of_completions(trl: TRLReward) -> None:
    with pytest.raises(prism.PrismError, match="completions: found a value of type str; expected a list"):
        trl(prompts=["p"], completions=RIGHT, reference=["newton"])


def test_trl_shows_what_it_is_asked_to() -> None:
    quiet = TRLReward("final", column="problem", metrics=("undecided",), name="final", problems=[SMALL])
    metrics: dict[str, float] = {}
    assert quiet(prompts=["p"], completions=[RIGHT], problem=["newton"], log_metric=metrics.__setitem__) == [1.0]
    assert metrics == {"final/undecided": 0.0}
    twin = pickle.loads(pickle.dumps(quiet))
    assert (twin.__name__, twin.column) == ("final", "problem")
    assert (len(quiet.found), twin.found) == (1, ())
    assert twin(prompts=["p"], completions=[RIGHT], problem=["newton"]) == [1.0]
    for wrong in ({"metrics": ["speed"]}, {"metrics": "closure"}, {"column": ""}, {"name": 3}, {"scoring": "best"},
                  {"scoring": {"closure": 0.7, "final": -1}}):  # fmt: skip
        with pytest.raises(prism.PrismError):
            TRLReward(**wrong)


# verl. ----------------------------------------------------------------------------------------------------------


def test_verl_gets_a_score_and_the_same_keys_in_every_row() -> None:
    problems = {"newton": SMALL}
    rows = [
        compute_score("set", RIGHT, "newton", problems=problems),
        compute_score(data_source="set", solution_str="", ground_truth="newton", extra_info=None, problems=problems),
        compute_score("set", RIGHT, " ", {}, problems=problems, reward_router_address="unused"),
        compute_score("set", RIGHT, "42", {"id": "newton"}, problems=problems, reference_key="id"),
        compute_score("set", RIGHT, "newton", {"id": None}, problems=problems, reference_key="id"),
    ]
    assert [row["score"] for row in rows] == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert [row["bad_reference"] for row in rows] == [0.0, 0.0, 1.0, 0.0, 1.0]
    assert {tuple(row) for row in rows} == {("score", *SCALARS)}
    assert all(type(value) is float for row in rows for value in row.values())
    assert compute_score("set", RIGHT, json.dumps(SMALL))["score"] == 1.0  # three positionals and nothing else


def test_verl_names_the_key_that_the_extra_information_lacks() -> None:
    with pytest.raises(prism.PrismError, match=r"reference_key: no column 'id' .* came: idx, split$"):
        compute_score("set", RIGHT, "newton", {"split": "a", "idx": 1}, problems=[SMALL], reference_key="id")
    with pytest.raises(prism.PrismError, match=r"reference_key: no column 'id' .* came: none$"):
        compute_score_batched(["set"], [RIGHT], ["newton"], problems=[SMALL], reference_key="id")


def test_verl_says_that_no_ground_truth_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.rewards.verl._came", threading.Event())
    with pytest.raises(prism.PrismError, match=r"^reward_model: no column 'ground_truth' .* came: idx \(in extra_info"):
        compute_score("set", RIGHT, None, {"idx": 1}, problems=[SMALL])
    with pytest.raises(prism.PrismError, match="reference_key takes the reference"):
        compute_score_batched(["set"] * 2, [RIGHT] * 2, [None] * 2, problems=[SMALL])
    found = compute_score_batched(["set"] * 2, [RIGHT] * 2, ["newton", None], problems=[SMALL])
    assert [row["score"] for row in found] == [1.0, 0.0]
    assert (
        compute_score("set", RIGHT, None, problems=[SMALL])["bad_reference"] == 1.0
    )  # one bad row of a run that has them


def test_verl_gets_a_batch() -> None:
    found = compute_score_batched(
        data_sources=["set"] * 2, solution_strs=[RIGHT, "$F = 2 m a$"], ground_truths=["newton"] * 2,
        extra_infos=[{"rollout_reward_scores": {}}] * 2, scoring={"closure": 0.5}, problems={"newton": SMALL},
    )  # fmt: skip
    assert [row["score"] for row in found] == [0.5, 0.0]
    assert compute_score_batched(["set"], [RIGHT], [json.dumps(SMALL)])[0]["score"] == 1.0


def test_verl_settings_are_checked_once_and_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(prism.PrismError, match="best"):
        compute_score("set", RIGHT, "newton", scoring="best")
    made: list[Reward] = []

    def counted(*arguments: Any, **named: Any) -> Reward:
        made.append(Reward(*arguments, **named))
        return made[-1]

    monkeypatch.setattr("prism.rewards.verl.Reward", counted)
    for _ in range(3):
        compute_score("set", RIGHT, "newton", scoring={"strict": 0.25}, problems=[SMALL])
    assert len(made) == 1


def test_verl_loads_the_functions_by_the_path_of_the_file() -> None:
    spec = importlib.util.spec_from_file_location("custom_module_1", FOLDER / "verl.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("set", RIGHT, json.dumps(SMALL))["score"] == 1.0


# OpenRLHF. ------------------------------------------------------------------------------------------------------

PROMPT = "<|user|>A force is $F = m a$. Find $a$.<|assistant|>"


@pytest.mark.parametrize(
    ("query", "prompt", "solution"),
    [
        (PROMPT + RIGHT, PROMPT, RIGHT),
        ("<s> " + PROMPT + RIGHT + "<|im_end|>\n</s><pad><pad>", PROMPT, RIGHT),
        (RIGHT, "", RIGHT),
        (RIGHT, None, RIGHT),
        ("y" * 150 + RIGHT, "x" * 500 + "y" * 150, RIGHT),  # the prompt was cut at its left
        ("something else", PROMPT, None),
        (None, PROMPT, None),
    ],
)
def test_the_prompt_is_cut_off(query: Any, prompt: Any, solution: str | None) -> None:
    assert solution_of(query, prompt) == solution


def test_openrlhf_asks_over_http() -> None:
    reward = Reward(problems=[SMALL], paths=False)
    queries = [PROMPT + RIGHT, PROMPT + "I give up.", PROMPT + RIGHT, "no prompt: " + RIGHT]
    request = {"query": queries, "prompts": [PROMPT] * 4, "labels": ["newton", "newton", "nowhere", "newton"]}
    found = answer(reward, request)
    assert found["rewards"] == found["scores"] == [1.0, 0.0, 0.0, 0.0]
    assert list(found["extra_logs"]) == list(SCALARS)
    assert found["extra_logs"]["bad_reference"] == [0.0, 0.0, 1.0, 0.0]
    assert found["extra_logs"]["bad_solution"] == [0.0, 0.0, 0.0, 1.0]
    json.dumps(found, allow_nan=False)
    assert [bool(fault) for fault in found["faults"]] == [False, False, True, True]
    assert "nowhere" in found["faults"][2]
    assert answer(reward, {"query": [RIGHT], "labels": ["newton"]})["rewards"] == [1.0]
    assert answer(reward, {"query": [], "labels": [], "prompts": []})["rewards"] == []


@pytest.mark.parametrize(
    "request_",
    [{}, {"query": "x"}, {"query": ["x"]}, {"query": ["x"], "labels": []}, {"query": [], "labels": [], "prompts": [1]}],
)
def test_a_malformed_request_is_refused(reward: Reward, request_: dict[str, Any]) -> None:
    with pytest.raises(prism.PrismError, match=r"^request"):
        answer(reward, request_)


def test_openrlhf_calls_a_function_and_gets_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch is no dependency: here a stand-in that holds the numbers."""

    class Tensor(list):
        def clone(self) -> Tensor:
            return Tensor(self)

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=Tensor))
    reward_func = pickle.loads(pickle.dumps(OpenRLHFReward(problems=[SMALL])))
    found = reward_func([PROMPT + RIGHT], [PROMPT], ["newton"])
    assert (found["rewards"], found["scores"]) == ([1.0], [1.0])
    assert list(found["extra_logs"]) == list(SCALARS)
    assert {type(each) for each in (found["rewards"], found["scores"], *found["extra_logs"].values())} == {Tensor}


def test_openrlhf_says_that_no_labels_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=lambda _values: SimpleNamespace(clone=list)))
    reward_func = OpenRLHFReward(problems=[SMALL])
    with pytest.raises(prism.PrismError, match=r"no column 'labels' .* came: prompts, queries, reference$"):
        reward_func([RIGHT], [""], reference=["newton"])
    with pytest.raises(prism.PrismError, match="labels: found a value of type str"):
        reward_func([RIGHT], [""], "newton")
    with pytest.raises(prism.PrismError, match=r"labels: each one is empty; .*--data\.label_key"):
        reward_func([RIGHT], [""], [""])  # what OpenRLHF passes where no column of labels was named
    with pytest.warns(UserWarning, match=r"labels: a row has no reference, and so no reward"):
        reward_func([RIGHT, RIGHT], ["", ""], ["newton", ""])
    reward_func([RIGHT], [""], [""])  # one bad row of a run that has labels; it was told


def test_a_request_without_labels_names_what_it_has(reward: Reward) -> None:
    with pytest.raises(prism.PrismError, match=r"^request: labels: no column 'labels' .* came: label, query$"):
        answer(reward, {"query": [RIGHT], "label": ["newton"]})
