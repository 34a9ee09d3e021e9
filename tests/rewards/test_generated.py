"""Problems without end: entries that depend on run and index alone, scores, levels, and the rows of each door."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Callable
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

import prism
from prism.generation.instances import generate
from prism.rewards import (
    Curriculum,
    GeneratedProblems,
    Reward,
    TRLReward,
    VerifiersReward,
    endless,
    nemo_gym,
    trl,
    verifiers,
)
from prism.rewards.curriculum import RangeAttributeDefinition, ScalarAttributeDefinition

LAMP: dict[str, Any] = {  # two cases of one formula each; levels of one parameter
    "id": "lamp",
    "domain": "Electromagnetism",
    "wording": [r"A lamp with @{R} lies at @{U}. @{case} Find the number."],
    "case": [
        {"name": "current", "when": r"U < 200\unit{V}", "text": "$I$ is the current."},
        {"name": "power", "when": r"U < 200\unit{V}", "text": "$P$ is the power."},
    ],
    "grading_standard": [
        {"index": 1, "case": "current", "formula": "U = R I", "dependency": []},
        {"index": 2, "case": "current", "number": {"of": "I", "unit": "A"}, "dependency": [1], "is_final_answer": True},
        {"index": 3, "case": "power", "formula": "P = U^2/R", "dependency": []},
        {"index": 4, "case": "power", "number": {"of": "P", "unit": "W"}, "dependency": [3], "is_final_answer": True},
    ],
    "parameters": {
        "U": {"uniform": ["10.0", "90.0"], "unit": "V", "levels": [["10.0", "11.0"], ["10.0", "20.0"]]},
        "R": {"uniform": ["20.0", "80.0"], "unit": r"\Omega"},
    },
    "original": {"U": "12.0", "R": "24.0", "wording": 1},
}
# The second case is drawn for half of the seeds, and none of their attempts fulfils its condition.
HALF = {**LAMP, "id": "half", "case": [LAMP["case"][0], {**LAMP["case"][1], "when": r"U > 200\unit{V}"}]}
del HALF["original"]


def values(entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = entry["metadata"]["template"]
    return found


@pytest.fixture(scope="module")
def braking() -> GeneratedProblems:
    return endless("braking", seed=7, size=40)


# Entries. -------------------------------------------------------------------------------------------------------


def test_an_entry_depends_on_run_and_index_alone(braking: GeneratedProblems) -> None:
    again = endless(["braking"], seed=7)
    assert [again[idx] for idx in (31, 3, 12)] == [braking[idx] for idx in (31, 3, 12)]
    assert list(islice(again, 4)) == [again[idx] for idx in range(4)] == list(islice(braking, 4))
    assert again[5] is not again[5]  # a caller may write into it


def test_an_entry_has_the_shape_of_reasoning_gym_and_the_answer_format(braking: GeneratedProblems) -> None:
    entry = braking[17]
    assert list(entry) == ["question", "answer", "metadata"]
    metadata = entry["metadata"]
    assert (metadata["source_dataset"], metadata["source_index"]) == ("prism/braking", 17)
    assert metadata["difficulty"] == {"C3": 1, "case": metadata["template"]["case"]}
    problem = json.loads(metadata["problem"])
    assert entry["question"] == prism.prompt(problem)
    assert "students" not in problem
    finals = [node["formula"] for node in problem["grading_standard"] if node.get("is_final_answer")]
    assert entry["answer"].splitlines() == [rf"$\boxed{{{formula}}}$" for formula in finals]


def test_run_and_index_are_hashed_apart(braking: GeneratedProblems) -> None:
    seed = int.from_bytes(hashlib.sha256(b"7\x003").digest()[:8], "big")
    assert values(braking[3])["seed"] == seed
    (made,) = generate("braking", seed=seed)
    own = {key: value for key, value in made.data.items() if key != "students"}
    assert json.loads(braking[3]["metadata"]["problem"]) == json.loads(json.dumps(own))


@pytest.mark.slow
def test_neighbouring_runs_share_nothing() -> None:
    first, second = ({entry["question"] for entry in endless("braking", seed, size=40)} for seed in (0, 1))
    assert (len(first), len(second), first & second) == (40, 40, set())


def test_only_a_sized_run_has_a_length(braking: GeneratedProblems) -> None:
    without_end = endless("braking")
    with pytest.raises(TypeError, match="no end"):
        len(without_end)
    assert without_end  # though it has no length
    assert without_end[10**9]["metadata"]["source_index"] == 10**9
    assert (len(braking), len(list(endless("braking", size=3)))) == (40, 3)
    assert braking[-1] == braking[39]
    for problems, idx in ((braking, 40), (braking, -41), (without_end, -1)):
        with pytest.raises(IndexError):
            problems[idx]


@pytest.mark.slow  # a search
def test_a_seed_without_values_is_passed_over() -> None:
    problems = endless(HALF, size=12)
    assert {values(entry)["case"] for entry in problems} == {"current"}
    assert len({values(entry)["seed"] for entry in problems}) == 12
    whole = endless(HALF, size=12, cases=1)
    seeds = [int.from_bytes(hashlib.sha256(f"0\0{idx}".encode()).digest()[:8], "big") for idx in range(12)]
    assert [values(entry)["seed"] for entry in whole] == seeds  # where the case is drawn, the first seed has values


@pytest.mark.slow
def test_problems_pickle(braking: GeneratedProblems) -> None:
    mixed = endless(
        ["braking", LAMP], 3, ("perturbed", "knowledge"), weights=[1, 2.5], cases=1, level=0, style="engtrace",
        scoring={"final": 0.5, "strict": 0.5},
    )  # fmt: skip
    for problems in (braking, mixed):
        copy = pickle.loads(pickle.dumps(problems))
        assert [copy[idx] for idx in range(6)] == [problems[idx] for idx in range(6)]
        assert copy.reward.scoring == problems.reward.scoring
        assert (copy.size, repr(copy)) == (problems.size, repr(problems))


# Scores. --------------------------------------------------------------------------------------------------------


def test_an_answer_earns_what_the_scoring_pays(braking: GeneratedProblems) -> None:
    entry, other = braking[0], braking[1]
    steps = "$a = \\mu g$ and $v_0^2 = 2 a s$"
    strict = endless("braking", seed=7, scoring="strict")
    final = endless("braking", seed=7, scoring="final")
    found = [[each.score_answer(text, entry) for text in (entry["answer"], other["answer"], steps, "", None)]
             for each in (braking, strict, final)]  # fmt: skip
    assert found == [[1.0, 0.0, 0.4, 0.0, 0.0], [0.4, 0.0, 0.4, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "entry", [None, {}, 7, {"metadata": None}, {"metadata": {"problem": "{"}}, {"metadata": {"problem": "x.toml"}}]
)
@pytest.mark.parametrize("answer", [None, "$a = 1$", 7, object(), [{"role": "user"}]])
def test_a_score_never_raises(braking: GeneratedProblems, answer: object, entry: object) -> None:
    assert braking.score_answer(answer, entry) == 0.0
    assert braking.score_answer(answer, braking[0]) in (0.0, 0.4)


def test_training_pays_nothing_for_what_the_problem_tells() -> None:
    told = endless(LAMP, 1, ("knowledge",), cases=1)
    training = endless(LAMP, 1, ("knowledge",), cases=1, scoring="training")
    entry = told[0]
    assert "These relations hold: $U = R I$." in entry["question"]
    assert [each.score_answer("$U = R I$", entry) for each in (told, training)] == [0.5, 0.0]
    assert [each.score_answer(entry["answer"], entry) for each in (told, training)] == [1.0, 0.5]


# What is drawn. -------------------------------------------------------------------------------------------------


def cases_of(**settings: Any) -> set[str]:
    return {values(entry)["case"] for entry in endless([LAMP, "braking"], size=24, **settings)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "cases"),
    [
        ({}, {"current", "power", "stops", "hits"}),
        ({"cases": 1}, {"current", "stops"}),
        ({"cases": 2}, {"current", "power", "stops", "hits"}),
        ({"cases": ["power", "hits"]}, {"power", "hits"}),
        ({"cases": ("hits",)}, {"hits"}),
    ],
)
def test_cases_are_drawn_by_number_or_by_name(settings: dict[str, Any], cases: set[str]) -> None:
    assert cases_of(**settings) == cases


@pytest.mark.parametrize(("level", "high"), [(0, 11), (1, 20), (5, 20), (None, 90)])
def test_a_level_bounds_the_ranges(level: int | None, high: int) -> None:
    problems = endless(LAMP, 2, size=20, level=level)
    drawn = [float(values(entry)["values"]["U"]) for entry in problems]
    assert 10 <= min(drawn) <= max(drawn) <= high
    assert max(drawn) > 0.75 * high or level == 0
    assert problems[0]["metadata"]["difficulty"].get("level") == level


def test_a_structure_leaves_templates_out() -> None:
    hard = endless(["braking", "coaxial_cable"], size=8, min_c3=2)
    assert {entry["metadata"]["source_dataset"] for entry in hard} == {"prism/coaxial_cable"}
    assert {entry["metadata"]["difficulty"]["C3"] for entry in hard} == {2}


@pytest.mark.parametrize("weights", [{"lamp": 0}, [1.0, 0.0]])
def test_weights_by_id_or_in_order(weights: Any) -> None:
    found = [entry["metadata"]["source_dataset"] for entry in endless(["braking", LAMP], size=8, weights=weights)]
    assert found == ["prism/braking"] * 8


def test_weights_say_how_often() -> None:
    problems = endless(["braking", LAMP], size=300, weights={"lamp": 3})
    lamps = sum(problems._instance(idx)[0].template == "lamp" for idx in range(300))
    assert 190 < lamps < 260  # 225 expected; 7.5 is its standard deviation


def test_variants_are_drawn_and_the_original_only_in_its_case() -> None:
    several = endless(LAMP, 0, ("abstract", "original"), size=16)
    assert {values(entry)["variant"] for entry in several} == {"abstract", "original"}
    own = values(next(entry for entry in several if values(entry)["variant"] == "original"))["case"]
    other = {"current": "power", "power": "current"}[own]
    left = endless(LAMP, 0, ("abstract", "original"), size=16, cases=[other])
    assert {values(entry)["variant"] for entry in left} == {"abstract"}


@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        (
            {"seed": 1.5, "size": 0, "variants": ("perturbd",), "style": "x", "level": -1, "min_c3": 0},
            ["seed: 1.5", "size: 0", "perturbd", "style", "level: -1", "min_c3: 0"],
        ),
        ({"variants": "perturbed"}, ["variants: 'perturbed' is a text"]),
        ({"min_c3": 3, "max_c3": 2}, ["min_c3: 3 is above max_c3, 2"]),
        ({"min_c3": 3}, ["nothing of them is left"]),
        ({"cases": 0}, ["cases: 0"]),
        ({"cases": "hits"}, ["cases: 'hits'"]),
        ({"cases": ["hit"]}, ["no template has the case 'hit'", "hits"]),
        ({"weights": {"brakin": 1}}, ["no template 'brakin'", "braking"]),
        ({"weights": [1, 1]}, ["2 of them for 1 template"]),
        ({"weights": [-1]}, ["-1 is no finite number"]),
        ({"weights": [0]}, ["none is above 0"]),
        ({"scoring": "follow_through"}, ["no reward pays it"]),
        ({"scoring": Reward(), "thinking": True}, ["thinking"]),
        ({"templates": ["brakin", "pully"]}, ["braking", "pulley"]),
        ({"templates": ["braking", "braking"]}, ["braking stands twice"]),
    ],
)
def test_all_faults_are_told_at_once(settings: dict[str, Any], faults: list[str]) -> None:
    with pytest.raises(prism.PrismError) as told:
        endless(**{"templates": "braking", **settings})
    assert not [fault for fault in faults if fault not in str(told.value)]


# A curriculum. --------------------------------------------------------------------------------------------------


def test_a_curriculum_has_the_levels_that_templates_have() -> None:
    curriculum = Curriculum([LAMP, "coaxial_cable"])
    c3, cases, ranges = curriculum.attributes
    assert isinstance(c3, RangeAttributeDefinition)
    assert isinstance(cases, ScalarAttributeDefinition)
    assert (c3.levels, cases.levels, ranges.levels, curriculum.top) == ((1, 2), (1, 2), (0, 1), 1)
    assert curriculum.settings(0) == {"min_c3": 1, "max_c3": 1, "cases": 1, "level": 0}
    assert curriculum.settings(9) == {"min_c3": 1, "max_c3": 2, "cases": 2, "level": 1}
    assert curriculum.settings({"cases": 1}) == {"min_c3": 1, "max_c3": 1, "cases": 2, "level": 0}
    easy = endless([LAMP, "coaxial_cable"], size=8, **curriculum.settings(0))
    assert {entry["metadata"]["source_dataset"] for entry in easy} == {"prism/lamp"}
    assert Curriculum(["coaxial_cable"]).attributes == ()


@pytest.mark.parametrize(
    ("levels", "fault"), [(-1, "-1"), ({"case": 1}, "cases"), ({"cases": 2}, "0 to 1"), ({"cases": None}, "None")]
)
def test_levels_that_there_are_not(levels: Any, fault: str) -> None:
    with pytest.raises(prism.PrismError, match=fault):
        Curriculum(LAMP).settings(levels)


@pytest.mark.slow
def test_all_shipped_templates_have_an_easy_level() -> None:
    assert len(endless(size=2, **Curriculum().settings(0))) == 2


# Rows of the doors. ---------------------------------------------------------------------------------------------


def test_rows_for_trl(braking: GeneratedProblems) -> None:
    rows = list(trl.generated_rows(braking, 2, start=3))
    assert rows[0]["prompt"] == [{"role": "user", "content": braking[3]["question"]}]
    answers = [braking[3]["answer"], braking[3]["answer"]]
    assert TRLReward()(completions=answers, reference=[row["reference"] for row in rows]) == [1.0, 0.0]
    assert len(list(trl.generated_rows(braking, start=38))) == 2
    assert len(list(islice(trl.generated_rows(endless("braking")), 3))) == 3
    with pytest.raises(prism.PrismError, match="start: -1"):
        trl.generated_rows(braking, start=-1)


def test_rows_for_nemo_gym(braking: GeneratedProblems) -> None:
    (row,) = nemo_gym.generated_rows(braking, 1)
    assert json.loads(json.dumps(row)) == row
    assert row["responses_create_params"]["input"][0]["content"] == braking[0]["question"]
    said = {"type": "output_text", "text": braking[0]["answer"], "annotations": []}
    request = {**row, "response": {"output": [{"type": "message", "role": "assistant", "content": [said]}]}}
    assert nemo_gym.verify(Reward(), request)["reward"] == 1.0


def test_rows_for_verifiers(braking: GeneratedProblems) -> None:
    (row,) = verifiers.generated_rows(braking, 1)
    assert row["question"] == braking[0]["question"]
    assert VerifiersReward()(completion=braking[0]["answer"], answer=row["answer"]) == 1.0
    info = json.loads(row["info"])
    assert info["template"] == values(braking[0])
    assert "problem" not in info
    (task,) = verifiers.generated_rows(braking, 1, column="reference")
    assert task == {"prompt": [{"role": "user", "content": row["question"]}], "reference": row["answer"]}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`verifiers.environment` with stand-ins: an environment is its arguments, a data set a list of rows."""

    def made(*arguments: Any, **settings: Any) -> Any:
        library = SimpleNamespace(SingleTurnEnv=SimpleNamespace, Rubric=SimpleNamespace)
        monkeypatch.setitem(sys.modules, "verifiers", library)
        data = SimpleNamespace(Dataset=SimpleNamespace(from_list=list))
        monkeypatch.setitem(sys.modules, "datasets", data)
        return verifiers.environment(*arguments, **settings)

    return made


def test_an_environment_holds_rows_out(environment: Callable[..., Any]) -> None:
    env = environment("braking", 7, 6, 3, scoring="strict", env_settings={"system_prompt": "Be brief."})
    train, held_out = env.dataset(), env.eval_dataset()
    assert (len(train), len(held_out), env.system_prompt) == (6, 3, "Be brief.")
    assert [row["question"] for row in train] == [entry["question"] for entry in islice(endless("braking", 7), 6)]
    assert not {row["question"] for row in train} & {row["question"] for row in held_out}
    assert environment("braking", 7, 2, 3).eval_dataset() == held_out
    function = env.rubric.funcs[0]
    text = "$a = \\mu g$"
    assert function(completion=text, answer=train[0]["answer"], state={}) == 0.2


@pytest.mark.slow
def test_what_is_held_out_is_not_trained_on(environment: Callable[..., Any]) -> None:
    few = {
        **LAMP, "id": "few",
        "parameters": {"U": {"value": "12", "unit": "V"}, "R": {"integer": [2, 7], "unit": r"\Omega"}},
    }  # fmt: skip
    del few["original"]  # twelve questions in all
    env = environment(few, 0, 8, 4)
    train, held_out = ({row["question"] for row in rows()} for rows in (env.dataset, env.eval_dataset))
    assert (len(train), len(held_out), train & held_out) == (8, 4, set())
    with pytest.raises(prism.PrismError, match="only 8 questions of 9 differ"):
        environment(few, 0, 9, 4).dataset()


def test_an_environment_tells_what_it_cannot_use(environment: Callable[..., Any], monkeypatch: Any) -> None:
    with pytest.raises(prism.PrismError, match=r"num_train: 0.*\nnum_eval: True"):
        environment("braking", 0, 0, True)
    monkeypatch.setitem(sys.modules, "verifiers", SimpleNamespace())
    with pytest.raises(prism.PrismError, match="no SingleTurnEnv"):
        verifiers.environment("braking")
