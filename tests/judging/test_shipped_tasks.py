"""Each shipped task, from its prompt to the row of the protocol, or to what else reads its findings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.judging.conversations import ASKED_FOR
from prism.judging.tasks import SHIPPED, load_task, shipped_tasks
from prism.problem.prompts import STAGES
from prism.protocols.engjudge.findings import CAPS
from prism.protocols.engjudge.topology import SHORT_NAMES
from prism.protocols.engtrace.files import CLASS_SCORES
from prism.protocols.psas.findings import LABELS
from tests.support.imitation import Imitation, imitating, prompt_of

FOURTEEN = {
    "engjudge", "engjudge-single", "engtrace-tribunal", "engibench-answer", "engibench-rubric", "engibench-variants",
    "engibench-write-rubric", "psas", "outcome", "error-label", "difficulty", "rewrite", "review", "template-audit",
}  # fmt: skip
FILES: dict[str, list[dict[str, Any]]] = {
    "rollouts.jsonl": [
        {"problem_id": "free_fall", "id": name, "response": f"$v = g t$ by {name}, so $v_f = \\sqrt{{2gh}}$"}
        for name in "ab"
    ],
    "gold.jsonl": [{
        "id": "cart", "seed": 7, "question": "A cart is pushed.",
        "solution": "**Step 1:** F = m*a = 6.0 N\n**Step 2:** W = F*d = 24 J\n**Answer:** 24 J",
    }],
    "predictions.jsonl": [{
        "id": "cart", "seed": 7, "sample_id": "b",
        "generation": "**Step 1:** $F = m a = 6.0$ N\n**Step 2:** Now the work.\n**Step 3:** 27 J\n**Answer:** 27 J",
    }],
    "answers.jsonl": [
        {"row": 1, "sample_id": "a", "response": "455 W"}, {"row": 2, "sample_id": "a", "response": "Yes, they are."},
        {"row": 2, "sample_id": "b", "response": None},
    ],
    "open_answers.jsonl": [{"row": 1, "sample_id": "a", "response": "Keep nine motors."}],
    "worked.jsonl": [{
        "id": "throw", "question": "A stone is thrown up with the speed $v$. How high does it rise, with $g$ given?",
        "solution": "Energy gives $m v^2/2 = m g h$, so $h = v^2/(2g)$.",
    }],
}  # fmt: skip
TABLES = {
    "rows.csv": "problem,answer,difficulty\n\"A heater on 230 V draws 2.0 A. What power?\",460,Level 1\n"
                "Are closer stirrups better in shear?,yes,Level 1\n",
    "open.csv": 'question,information_extraction_score,uncertainty_handling_score\nPlan it.,"(1) Rate (10 points)\n'
                '10 points: by part\n5 points: as a whole","(1) Named (6 points)\n(2) Used (4 points)"\n',
}  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder_with_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in FILES.items():
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, text in TABLES.items():
        Path(name).write_text(text, encoding="utf-8")


def run(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def judged(own: Imitation, task: str, *inputs: str, code: int = 0) -> list[dict[str, Any]]:
    done = run("judge", task, *inputs, "--endpoint", own.url, "--model", "m", "-o", f"{task}.jsonl")
    assert done.exit_code == code, done.output
    return [json.loads(line) for line in Path(f"{task}.jsonl").read_text("utf-8").splitlines()]


def test_there_are_the_fourteen() -> None:
    assert set(shipped_tasks()) == FOURTEEN
    for name in FOURTEEN:
        task = load_task(name)
        assert task.name == name
        assert len(task.about) > 30


DOORS = {
    "engjudge": (["free_fall", "rollouts.jsonl"], ["engjudge", "engjudge.jsonl"]),
    "engjudge-single": (["free_fall", "rollouts.jsonl"],
                        ["engjudge", "engjudge-single.jsonl", "--without", "dp,meta,missing"]),
    "psas": (["free_fall", "rollouts.jsonl"],
             ["psas", "free_fall", "rollouts.jsonl", "--findings", "psas.jsonl", "--workers", "0"]),
    "engtrace-tribunal": (["gold.jsonl", "predictions.jsonl"],
                          ["engtrace", "gold.jsonl", "predictions.jsonl", "--votes", "engtrace-tribunal.jsonl",
                           "--workers", "0"]),
    "engibench-answer": (["rows.csv", "answers.jsonl"],
                         ["engibench", "rows.csv", "answers.jsonl", "--judged", "engibench-answer.jsonl"]),
    "engibench-rubric": (["open.csv", "open_answers.jsonl"],
                         ["engibench", "open.csv", "open_answers.jsonl", "--rubric", "engibench-rubric.jsonl"]),
}  # fmt: skip
"""Inputs of each task, and the protocol that reads its findings."""


@pytest.mark.parametrize("task", DOORS)
def test_findings_are_read_by_their_protocol_without_a_warning(task: str) -> None:
    inputs, door = DOORS[task]
    with imitating() as own:
        judged(own, task, *inputs)
    done = run("protocol", *door, "-o", "rows.jsonl")
    assert done.exit_code == 0, done.output
    assert not done.stderr
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text("utf-8").splitlines()]
    assert any(row["score"] is not None for row in rows)
    assert any(part["basis"] in ("file", "both", "conflict") for row in rows for part in row["parts"])


MAPPED = {
    "error-label": ["--labels", ",".join(LABELS), "--map", "score=label"],
    "template-audit": ["--map", "score=physics,problem_id=template,sample_id=template"],
}


@pytest.mark.parametrize("task", ["outcome", "error-label", "difficulty", "review", "template-audit"])
def test_the_other_findings_are_judgements_that_agree_reads(task: str) -> None:
    source = {"template-audit": "braking"}.get(task, "free_fall")
    inputs = [source, *(["rollouts.jsonl"] if task in ("outcome", "error-label") else [])]
    with imitating() as own:
        rows = judged(own, task, *inputs)
    named = {"template"} if task == "template-audit" else {"problem_id", "sample_id"}
    assert {*named, "judge"} <= rows[0].keys()
    others = [{**row, "judge": "anna", "judged": None} for row in rows]
    Path("people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in others))
    done = run("agree", f"{task}.jsonl", "people.jsonl", "--replicates", "0", "--json", *MAPPED.get(task, []))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


# EngJudge. -----------------------------------------------------------------------------------------------------


def test_engjudge_has_eight_stages_and_three_checks_and_the_caps_of_each() -> None:
    calls = {call.name: call for call in load_task("engjudge").calls}
    assert [*calls] == [*SHORT_NAMES, "coverage", "verbosity", "sanity"]
    for short, name in SHORT_NAMES.items():
        assert calls[short].parameters["stage"] == name
        offered = {cap for cap, (_, stages) in CAPS.items() if short in stages}
        own = set(calls[short].parameters.get("caps", ()))
        flags = {"ES": {"governing_equation_incorrect"}, "FA": {"physically_impossible_answer"}}.get(short, set())
        assert own | flags == offered, short
    assert "governing_equation_correct" in calls["ES"].schema["required"]
    assert "physically_possible" in calls["FA"].schema["required"]
    assert set(load_task("engjudge-single").calls[0].schema["properties"]["stages"]["required"]) == set(STAGES)


def test_a_stage_that_the_tags_lack_is_not_asked_and_listed_as_absent() -> None:
    tagged = "###### ASSUMPTIONS ###### none ###### END_STEP ######\n###### FINAL_ANSWER ###### $v_f = \\sqrt{2gh}$"
    Path("one.jsonl").write_text(json.dumps({"problem_id": "free_fall", "id": "t", "response": tagged}) + "\n")
    with imitating() as own:
        (row,) = judged(own, "engjudge", "free_fall", "one.jsonl")
    assert len(own.asked) == 2 + 3
    assert set(row["stages"]) == {"ASSUMPTIONS", "FINAL_ANSWER"}
    assert set(row["absent"]) == set(STAGES) - set(row["stages"])
    assert run("protocol", "engjudge", "engjudge.jsonl").exit_code == 0


def test_a_stage_whose_reply_cannot_be_used_is_null_and_not_ten() -> None:
    def behave(request: Any) -> str:
        return "prose" if "Judge the stage LOGICAL_REASONING" in prompt_of(request.body) else "good"

    with imitating(behave) as own:
        rows = judged(own, "engjudge", "free_fall", "rollouts.jsonl", code=4)
    assert all("LOGICAL_REASONING" not in row["stages"] and len(row["stages"]) == 7 for row in rows)
    assert rows[0]["judged"]["failed"] == ["LR: there is no JSON object in the reply"]
    done = run("protocol", "engjudge", "engjudge.jsonl", "--json")
    assert json.loads(done.stdout)["rows_list"][0]["score"] is None


# Others, by what they say. -------------------------------------------------------------------------------------


def test_the_words_of_prompts_and_schemas_are_those_of_the_protocols() -> None:
    classes = load_task("engtrace-tribunal").calls[0].schema["properties"]["classes"]["additionalProperties"]["enum"]
    assert set(classes) == CLASS_SCORES.keys()
    text = (SHIPPED / "engtrace-tribunal" / "prompt.jinja").read_text("utf-8")
    assert all(f"- {name}:" in text for name in CLASS_SCORES)
    text = (SHIPPED / "error-label" / "prompt.jinja").read_text("utf-8")
    assert all(f"- {label}:" in text for label in LABELS)
    assert set(load_task("error-label").calls[0].schema["properties"]["primary"]["enum"]) == {*LABELS, "none"}


def test_no_prompt_of_a_solution_shows_it_outside_of_a_fence() -> None:
    shown = [
        (path.name, line)
        for path in SHIPPED.rglob("*.jinja") if path.name != "findings.jinja"
        for line in path.read_text("utf-8").splitlines()
        if any(f"{name} " in line and "{{" in line for name in ("response", "each.text", "record.question"))
        and "fenced" not in line
    ]  # fmt: skip
    assert not shown


def test_a_vote_is_made_of_each_step_that_there_is_and_of_no_other() -> None:
    with imitating() as own:  # it says a class of nine steps, where the candidate has three
        rows = judged(own, "engtrace-tribunal", "gold.jsonl", "predictions.jsonl")
    assert [(row["gold_step"], row["predicted_step"]) for row in rows] == [(g, p) for g in (1, 2) for p in (1, 2, 3)]


def test_an_answer_that_is_null_is_not_asked_and_rules_keep_the_word_where_they_are_preferred() -> None:
    with imitating(say=lambda _body: '{"reason": "as I see it", "correct": true}') as own:
        rows = judged(own, "engibench-answer", "rows.csv", "answers.jsonl")
    assert [(row["row"], row["sample_id"]) for row in rows] == [(1, "a"), (2, "a")]
    scores = {}
    for prefer in ("file", "rules"):
        done = run("protocol", "engibench", "rows.csv", "answers.jsonl", "--judged", "engibench-answer.jsonl",
                   "--prefer", prefer, "--json")  # fmt: skip
        told = json.loads(done.stdout[done.stdout.index("{") :])["rows_list"]
        scores[prefer] = [(row["score"], row["parts"][0]["basis"]) for row in told]
    assert scores["file"] == [(1.0, "both"), (1.0, "file"), (None, "none")] or scores["file"][0][1] == "conflict"
    assert scores["rules"][1:] == [(1.0, "file"), (None, "none")]


# Rewriting with review. ----------------------------------------------------------------------------------------

QUESTION = {
    "context": "A stone is thrown up with the speed $v$; $g$ is the gravity, $h$ its greatest height.",
    "parts": [{"letter": "a", "subproblem": "Find $h$ in terms of $v$ and $g$.", "final_answer_form": "algebraic"}],
}
SOLUTION = {"formulas": [{"formula": "v^2 = 2 g h", "part": "a"}, {"formula": "h = \\frac{v^2}{2 g}", "part": "a"}]}


def graph(*formulas: str) -> dict[str, Any]:
    nodes = [{"index": n, "formula": text, "dependency": list(range(1, n))} for n, text in enumerate(formulas, start=1)]
    nodes[-1] |= {"is_final_answer": True, "subquestion": "a"}
    parts = [{"letter": "a", "subproblem": QUESTION["parts"][0]["subproblem"], "final_answer_form": "algebraic"}]  # type: ignore[index]
    return {"problem": {"context": QUESTION["context"], "subquestions": parts, "grading_standard": nodes}}


def writer(*, reviews: list[bool]) -> Callable[[dict[str, Any]], str]:
    """A model that first writes a problem that lint refuses, and then one that a reviewer sends back."""

    def say(body: dict[str, Any]) -> str:
        prompt = prompt_of(body).partition(ASKED_FOR)[0]
        complaints = sum(message["role"] == "assistant" for message in body["messages"])
        if prompt.startswith("You rewrite a physics problem"):
            return json.dumps(QUESTION)
        if prompt.startswith("You rewrite the solution"):
            return json.dumps(SOLUTION)
        n_sent_back = prompt.count("A reviewer did not accept it")
        if prompt.startswith("You make the reference"):
            if not n_sent_back and not complaints:
                return json.dumps(graph("m v^2/2 = m g h", "h = \\frac{v^2}{2 g"))
            return json.dumps(graph(f"E = {n_sent_back + 1} m g h", "m v^2/2 = m g h", "h = \\frac{v^2}{2 g}"))
        turn = int(prompt.partition("E = ")[2][0]) - 1
        accepted = reviews[min(turn, len(reviews) - 1)]
        return json.dumps({"issues": [] if accepted else ["what is E?"], "accepted": accepted})

    return say


def test_a_problem_is_rewritten_checked_reviewed_and_written_again() -> None:
    with imitating(say=writer(reviews=[False, False, True])) as own:
        (row,) = judged(own, "rewrite", "worked.jsonl")
    assert row["id"] == "throw"
    assert row["metadata"]["accepted"] is True
    assert row["metadata"]["judged"]["calls"] == 2 + 2 + 1 + 2 * 2
    assert row["grading_standard"][0]["formula"] == "E = 3 m g h"
    complained = [body for body in own.bodies.values() if len(body["messages"]) == 3]
    assert len(complained) == 1
    assert "h = \\frac{v^2}{2 g" in complained[0]["messages"][1]["content"].replace("\\\\", "\\")
    sent_back = [prompt_of(body) for body in own.bodies.values() if "did not accept it" in prompt_of(body)]
    assert len(sent_back) == 2
    assert all("- what is E?" in prompt for prompt in sent_back)
    assert run("show", "rewrite.jsonl").exit_code == 0


@pytest.mark.slow
def test_a_problem_that_is_never_accepted_says_so_and_the_loop_ends() -> None:
    with imitating(say=writer(reviews=[False])) as own:
        (row,) = judged(own, "rewrite", "worked.jsonl")
    assert row["metadata"]["accepted"] is False
    assert row["metadata"]["issues"] == ["what is E?"]
    assert len(own.asked) == 2 + 2 + 1 + 2 * 3
