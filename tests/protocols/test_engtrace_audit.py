"""ROUGE, root causes by file and the tribunal of templates, worked by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.protocols.engtrace.causes import RootCause, with_cause_of_file
from prism.protocols.engtrace.similarity import common_subsequence, rouge
from prism.protocols.rows import ProtocolRow, Scored

FOLDER = Path(__file__).with_name("engtrace")
GOLD, PREDICTIONS = (FOLDER / f"{name}.jsonl" for name in ("gold", "predictions"))
run = CliRunner()


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


# ROUGE. ---------------------------------------------------------------------------------------------------------


def test_rouge_counts_pairs_of_words_and_the_longest_run_in_order() -> None:
    """Pairs: the-cat, cat-sat beside the-cat, cat-ate: 1 of 2 and 2. Longest: the cat ... : 2 of 3 and 3."""
    found = rouge("The cat sat", "the cat ate")
    assert (found.pairs, found.longest) == (Fraction(1, 2), Fraction(2, 3))
    assert rouge("a b a b", "a b") == rouge("a b", "a b a b")
    assert rouge("a b a b", "a b").pairs == Fraction(2, 4)  # clipped: 1 of 3 and 1
    assert rouge("", "a b") == rouge("a", "")


def slow_subsequence(first: str, second: str) -> int:
    """The table of the textbook: one more where letters are equal, else the larger neighbour."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, j in product(range(len(first)), range(len(second))):
        table[i + 1][j + 1] = table[i][j] + 1 if first[i] == second[j] else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_longest_subsequence_is_that_of_the_table(first: str, second: str) -> None:
    assert common_subsequence(first, second) == slow_subsequence(first, second)


def test_rouge_stands_beside_the_score_of_a_trace() -> None:
    ran = run.invoke(app, ["protocol", "engtrace", str(GOLD), str(PREDICTIONS), "--workers", "0", "--json"])
    rows = json.loads(ran.stdout)["rows_list"]
    assert all(0 <= row["policies"][name] <= 1 for row in rows for name in ("engtrace_rouge2", "engtrace_rougeL"))
    assert rows[0]["policies"]["engtrace_rougeL"] > 0.3


# Root causes by file. ---------------------------------------------------------------------------------------------


def wrong_row(by_rule: str | None) -> ProtocolRow:
    about = Scored("p-1", "a", meta={"root_cause": by_rule}, problem_sha256="", solution_sha256="")
    return ProtocolRow("engtrace", "paper", about, Fraction(0), Fraction(0), Fraction(0), (), final_correct=False)


@pytest.mark.parametrize(
    ("by_rule", "said", "prefers", "counts", "basis"),
    [
        (None, RootCause.SETUP, False, "Setup/Assumption", "file"),
        ("Sign/Direction", RootCause.SIGN, False, "Sign/Direction", "both"),
        ("Sign/Direction", RootCause.UNIT, False, "Unit/Dimensional", "conflict"),
        ("Sign/Direction", RootCause.UNIT, True, "Sign/Direction", "conflict"),
    ],
)
def test_a_cause_of_a_file_counts_unless_rules_are_preferred(
    by_rule: str | None, said: RootCause, prefers: bool, counts: str, basis: str
) -> None:
    row = with_cause_of_file(wrong_row(by_rule), said, prefers_rules=prefers)
    assert (row.about.meta["root_cause"], row.about.meta["root_cause_basis"]) == (counts, basis)


def test_the_command_counts_causes_of_a_file_and_keeps_failures_alone(tmp_path: Path) -> None:
    causes = written(
        tmp_path / "causes.jsonl",
        {"id": "first_order_batch", "seed": 5, "sample_id": "beta", "cause": "setup/assumption"},
        {"id": "nobody", "sample_id": "x", "cause": "Calculation"},
    )
    words = ["protocol", "engtrace", str(GOLD), str(PREDICTIONS), "--workers", "0", "--json", "--causes", str(causes)]
    ran = run.invoke(app, [*words, "--failed"])
    made = json.loads(ran.stdout)
    assert made["root_causes"] == {"Setup/Assumption": 1}
    assert {row["final_correct"] for row in made["rows_list"]} == {False}
    assert "no prediction is nobody" in ran.stderr
    bad = written(tmp_path / "bad.jsonl", {"id": "a", "sample_id": "b", "cause": "Bad luck"})
    ran = run.invoke(app, [*words[:-1], str(bad)])
    assert (ran.exit_code, "cause" in ran.stderr) == (3, True)


# The tribunal. ----------------------------------------------------------------------------------------------------


def ratings(path: Path) -> Path:
    """`good`: medians 4 and 5. `low`: the median of clarity is 3. `flagged`: two flags. `once`: one flag passes."""
    scores = {
        "good": [(4, 5), (4, 5), (2, 5)], "low": [(5, 3), (5, 3), (5, 5)], "flagged": [(5, 5), (5, 5), (5, 5)],
        "once": [(4, 4), (5, 4), (4, 4)],
    }  # fmt: skip
    flags = {"flagged": 2, "once": 1}
    return written(path, *(
        {"template": name, "judge": f"j{k}", "physics": one, "clarity": two, "flag": k < flags.get(name, 0)}
        for name, given in scores.items() for k, (one, two) in enumerate(given)
    ))  # fmt: skip


def test_a_template_passes_by_its_medians_and_at_most_one_flag(tmp_path: Path) -> None:
    experts = written(tmp_path / "e.jsonl", *({"template": name, "accepted": name == "once"} for name in
                                             ("good", "low", "flagged", "once")))  # fmt: skip
    words = ["protocol", "tribunal", str(ratings(tmp_path / "r.jsonl")), "--experts", str(experts)]
    made = json.loads(run.invoke(app, [*words, "--json"]).stdout)
    found = {each["template"]: each for each in made["templates"]}
    assert {name: each["passes"] for name, each in found.items()} == {
        "good": True, "low": False, "flagged": False, "once": True,
    }  # fmt: skip
    assert found["good"]["disagreement"] == pytest.approx(math.sqrt(8 / 9), abs=1e-6)  # of 4, 4, 2 about 10/3
    assert made["false_positives"] == {"passed": 1, "rejected_by_experts": 3}
    assert "2 of 4 pass; of 3 that the experts reject 1 pass" in run.invoke(app, words).stdout


def test_faults_of_ratings_are_all_told(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.jsonl", {"template": "a", "judge": "j"}, {"template": "a", "judge": "k", "clarity": "high"},
        {"template": "b", "judge": "j", "clarity": 4}, {"template": "b", "judge": "j", "clarity": 5},
    )  # fmt: skip
    ran = run.invoke(app, ["protocol", "tribunal", str(path)])
    assert ran.exit_code == 3
    assert ["no dimension" in ran.stderr, "is no number" in ran.stderr, "the same judge" in ran.stderr] == [True] * 3
