"""Counts of a set of problems, beside counts by hand and by another way."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.problem.collection import SetCounts, count_problems, is_problem_set, load_problems

ROOT = Path(__file__).resolve().parents[2]
run = CliRunner()


def problem(name: str, edges: list[list[int]], **named: Any) -> dict[str, Any]:
    """A problem whose k-th node has the k-th list of prerequisites; the last one is its answer."""
    return {
        "id": name, "context": "", **named,
        "grading_standard": [
            {"index": k, "formula": f"y_{{{k}}} = {k} x", "dependency": before, "is_final_answer": k == len(edges)}
            for k, before in enumerate(edges, start=1)
        ],
    }  # fmt: skip


CHAIN = problem("chain", [[], [1], [2]], domain="Optics", difficulty={"C1": 1, "C2": 1})
FAN = problem("fan", [[], [], [1], [2], [1, 2], [3, 4, 5]], domain="Mechanics", subtopic="Rigid Bodies")
OTHER = problem("other", [[]])


def counted(*problems: dict[str, Any]) -> SetCounts:
    return count_problems(load_problems(problems).values())


def test_a_chain_and_a_fan_counted_by_hand() -> None:
    """The layers of the fan are {1, 2}, {3, 4, 5}, {6}: its entropy is log 2 + log 3."""
    found = counted(CHAIN, FAN, OTHER).spreads
    assert [(name, one.total, one.low, one.middle, one.high) for name, one in found.items()][:3] == [
        ("nodes", 10, 1, 3, 6), ("edges", 9, 0, 2, 7), ("depth", 7, 1, 3, 3),
    ]  # fmt: skip
    assert found["entropy"].total == pytest.approx(math.log(6))
    assert found["entropy"].high == pytest.approx(math.log(6))
    assert (found["entropy"].middle, found["final answers"].total) == (0, 3)
    assert found["nodes"].mean == pytest.approx(10 / 3)


def test_domains_beside_levels_add_up() -> None:
    found = counted(CHAIN, FAN, OTHER, {**CHAIN, "id": "second"})
    assert found.domains == {
        "(not said)": {"Easy": 0, "Medium": 0, "Hard": 0, "(not rated)": 1},
        "Mechanics": {"Easy": 0, "Medium": 0, "Hard": 0, "(not rated)": 1},
        "Optics": {"Easy": 2, "Medium": 0, "Hard": 0, "(not rated)": 0},
    }
    assert found.subtopics == {("Mechanics", "Rigid Bodies"): 1}
    assert found.forms == {"": 4}


@pytest.mark.slow
def test_counts_of_the_shipped_set_are_those_of_its_problems() -> None:
    loaded = load_problems(ROOT / "dags")
    found = count_problems(loaded.values())
    nodes = [len(one.nodes) for one in loaded.values()]
    assert found.n == len(loaded) == len(list((ROOT / "dags").glob("*.toml")))
    spread = found.spreads["nodes"]
    assert (spread.total, spread.middle) == (sum(nodes), median(nodes))
    assert spread.mean == pytest.approx(mean(nodes))
    assert found.spreads["entropy"].total == pytest.approx(sum(one.difficulty.entropy for one in loaded.values()))
    assert sum(n for row in found.domains.values() for n in row.values()) == found.n
    assert sum(found.forms.values()) == found.spreads["final answers"].total


def test_the_order_of_problems_changes_nothing() -> None:
    assert counted(CHAIN, FAN, OTHER) == counted(OTHER, FAN, CHAIN)


@pytest.mark.slow
def test_show_counts_a_folder_a_file_of_lines_and_a_list(tmp_path: Path) -> None:
    problems = [CHAIN, FAN, OTHER]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, problems)), encoding="utf-8")
    (tmp_path / "set.json").write_text(json.dumps(problems), encoding="utf-8")
    (tmp_path / "set").mkdir()
    for one in problems:
        (tmp_path / "set" / f"{one['id']}.json").write_text(json.dumps(one), encoding="utf-8")
    shown = [run.invoke(app, ["show", str(tmp_path / name)]).stdout for name in ("set.jsonl", "set.json", "set")]
    assert shown[0] == shown[1] == shown[2]
    assert ["nodes", "10", "3.33", "1", "3", "6"] in [line.split() for line in shown[0].splitlines()]
    data = json.loads(run.invoke(app, ["show", str(tmp_path / "set.jsonl"), "--json"]).stdout)
    assert data["measures"]["edges"] == {"total": 9, "mean": 3.0, "lowest": 0, "median": 2, "highest": 7}
    assert (data["problems"], data["domains"]["Optics"]["Easy"]) == (3, 1)
    single = tmp_path / "set" / "chain.json"
    assert not is_problem_set(single)
    assert "nodes" in json.loads(run.invoke(app, ["show", str(single), "--json"]).stdout)


def test_a_set_with_faults_tells_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text('{"id": "x"}\n[1]\n' + json.dumps(CHAIN), encoding="utf-8")
    found = run.invoke(app, ["show", str(tmp_path / "set.jsonl")])
    assert (found.exit_code, found.stdout) == (3, "")
    assert "set.jsonl:1" in found.stderr
    assert "set.jsonl:2" in found.stderr
    assert run.invoke(app, ["show", str(tmp_path), "--dot"]).exit_code == 2


def test_a_subtopic_is_read() -> None:
    assert prism.load_problem(FAN).subtopic == "Rigid Bodies"
    assert prism.load_problem(CHAIN).subtopic == ""


def test_a_folder_without_problems_has_those_of_its_folders(tmp_path: Path) -> None:
    for name in ("a/x.json", "b/y.json", "b/deeper/z.json", ".hidden/h.json"):
        path = tmp_path / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**CHAIN, "id": path.stem}), encoding="utf-8")
    assert list(load_problems(tmp_path / "set")) == ["x", "y"]
    assert "2 files:" in run.invoke(app, ["lint", str(tmp_path / "set")]).output
    with pytest.raises(prism.PrismError, match="no problem file here"):
        load_problems(tmp_path)  # one folder further up
    (tmp_path / "set" / "own.json").write_text(json.dumps(OTHER), encoding="utf-8")
    assert list(load_problems(tmp_path / "set")) == [OTHER["id"]]
