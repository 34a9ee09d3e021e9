"""`prism protocol engjudge`: rows from rules and findings, presence, conflicts, ablations, and the command itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.grading.result import Incident
from prism.problem.shapes import LoadReport
from prism.protocols.engjudge.findings import SolutionFindings, read_findings
from prism.protocols.engjudge.rows import CHECKS, NO_TAGS, EngJudgeOptions, StageSource, engjudge_row
from prism.protocols.engjudge.rules import RuledPart, RuledSolution
from prism.protocols.engjudge.scoring import Ablation, AbsentStage, ScoringOptions
from prism.protocols.engjudge.topology import NAMES, SHORT_NAMES, TOPOLOGIES, TaggedStages, find_stages
from prism.protocols.rows import Basis, ProtocolRow, Scored

run = CliRunner()
FIXTURES = Path(__file__).with_name("engjudge")
ABOUT = Scored("p", "s")


def tagged(names: Iterable[str]) -> TaggedStages:
    return find_stages("\n".join(f"###### {name} ######\nx\n###### END_STEP ######" for name in names))


ALL_TAGS, NOT_PI = tagged(NAMES), tagged(name for name in NAMES if name != SHORT_NAMES["PI"])
SANE: dict[str, Any] = {"sanity_check_passed": True}
CHECKED = {"coverage": {"violations": []}, "verbosity": {"violations": []}, "sanity": SANE}


def findings(
    stages: Mapping[str, int | None], meta: Mapping[str, Any] | None = None, **more: Any
) -> SolutionFindings:  # fmt: skip
    """A row of findings from the faults of stages, by initials: the sum of their penalties."""
    table = {
        name: None if cost is None else {"errors": [{"penalty": cost}] if cost else []} for name, cost in stages.items()
    }
    row = {"problem_id": "p", "sample_id": "s", "stages": table, "meta": CHECKED if meta is None else meta, **more}
    report = LoadReport([], [])
    found = read_findings(row, report)
    assert not report.faults
    return found


def all_stages(**costs: int | None) -> dict[str, int | None]:
    return dict.fromkeys(SHORT_NAMES, 0) | costs


def options(source: str = "open", *, prefer_rules: bool = False, **scoring: Any) -> EngJudgeOptions:
    return EngJudgeOptions(ScoringOptions(**scoring), StageSource(source), prefer_rules)


def part(row: ProtocolRow, name: str) -> Any:
    return next(each for each in row.parts if each.name == SHORT_NAMES.get(name, name))


def out_of_ten(row: ProtocolRow) -> list[Fraction | None]:
    """Score and bounds."""
    return [None if row.score is None else row.score * 10, row.score_low * 10, row.score_high * 10]


# Rows. --------------------------------------------------------------------------------------------------------------


def test_a_solution_judged_in_full() -> None:
    """ES costs 7: base 55.5/8 (see test_engjudge_scoring), and the score is that tenth."""
    row = engjudge_row(ABOUT, findings(all_stages(ES=7)), None, options())
    assert row.score == Fraction("0.69375")
    assert (row.score_low, row.score_high, row.scale) == (row.score, row.score, 10)
    assert [each.name for each in row.parts] == [*NAMES, *CHECKS]
    assert {each.basis for each in row.parts} == {Basis.FILE}
    assert part(row, "AA").score == 1
    assert part(row, "AA").findings == ("propagated: 4.75",)
    # SinglePass: (7 * 10 + 3)/8 = 9.125; with propagation 55.5/8 = 6.9375
    assert row.policies == {
        "engjudge_single_pass": Fraction("0.9125"), "engjudge_single_pass_dp": Fraction("0.69375"),
    }  # fmt: skip


def test_nobody_looked_is_null_and_not_ten() -> None:
    row = engjudge_row(ABOUT, findings({}, {}), None, options())
    assert out_of_ten(row) == [None, 0, 10]
    assert {each.score for each in row.parts} == {None}
    assert row.status == "undecided"
    assert row.to_dict()["undecided_parts"] == 11
    assert set(row.policies.values()) == {None}


def test_a_null_check_makes_the_score_null_unless_checks_do_not_count() -> None:
    judged = findings(all_stages(), {**CHECKED, "verbosity": None})
    assert out_of_ten(engjudge_row(ABOUT, judged, None, options())) == [None, 5, 10]
    without = engjudge_row(ABOUT, judged, None, options(without=frozenset((Ablation.META,))))
    assert out_of_ten(without) == [10, 10, 10]
    assert (len(without.parts), without.variant) == (8, "without_meta")


def test_each_ablation_by_hand() -> None:
    """ES = 3, PI absent, CS = 3.

    S: PC 10, AS 10, VI 10, ES 3, LR 6.5, AA 4.75, FA 4.75: sum 49, base 7, blend 5, times 0.5: 2.5.
    Without dp: (10 * 6 + 3)/7 = 9, 7, 3.5. Without meta: 5. Without missing: 3.5. Without all: 9.
    """
    judged = findings(all_stages(ES=7, PI=None), {**CHECKED, "coverage": {"violations": [{"severity": "MAJOR"}]}},
                      absent=["PI"])  # fmt: skip
    dp, meta, missing = Ablation

    def score(*without: Ablation, **more: Any) -> Fraction | None:
        return out_of_ten(engjudge_row(ABOUT, judged, None, options(without=frozenset(without), **more)))[0]

    assert score() == Fraction("2.5")
    assert score(dp) == Fraction("3.5")
    assert score(meta) == 5
    assert score(missing) == Fraction("3.5")
    assert score(dp, meta, missing) == 9
    assert score(meta, missing) == 7
    # as a zero in the mean: 49/8 - 2 = 4.125, times 0.5
    assert score(absent=AbsentStage.ZERO) == Fraction("2.0625")


def test_what_says_which_stages_there_are() -> None:
    judged = findings(all_stages(PI=None))
    row = engjudge_row(ABOUT, judged, None, options("open"))
    assert out_of_ten(row) == [None, 8, 10]  # absent: 70/7 - 2; as a zero it would be 8.75
    row = engjudge_row(ABOUT, judged, None, options("none"))
    assert out_of_ten(row) == [None, Fraction("8.75"), 10]
    row = engjudge_row(ABOUT, judged, None, options("file"))
    assert out_of_ten(row) == [8, 8, 8]
    assert part(row, "PI").findings == ("absent: by the findings",)
    row = engjudge_row(ABOUT, judged, RuledSolution(NOT_PI), options("tags"))
    assert out_of_ten(row) == [8, 8, 8]
    assert (part(row, "PI").basis, part(row, "PI").findings) == (Basis.RULES, ("absent: no tag in the solution",))
    row = engjudge_row(ABOUT, judged, RuledSolution(ALL_TAGS), options("tags"))
    assert out_of_ten(row) == [None, Fraction("8.75"), 10]


def test_tags_count_and_what_the_file_says_otherwise_is_told() -> None:
    row = engjudge_row(ABOUT, findings(all_stages()), RuledSolution(NOT_PI), options("tags"))
    assert row.notes == ("presence: PHYSICAL_INTERPRETATION is judged in the file, and has no tag",)
    assert row.score == Fraction("0.8")
    lacking = findings(all_stages(PI=None), absent=["PI"])
    row = engjudge_row(ABOUT, lacking, RuledSolution(ALL_TAGS), options("tags"))
    assert row.notes == ("presence: PHYSICAL_INTERPRETATION is absent in the file, and has a tag",)
    assert row.score is None


def test_a_solution_without_tags_is_refused() -> None:
    untagged = RuledSolution(find_stages("$x = 1$"), {"EQUATION_SELECTION": RuledPart(Fraction(10))})
    row = engjudge_row(ABOUT, findings(all_stages()), untagged, options("tags"))
    assert out_of_ten(row) == [None, 0, 10]
    assert row.notes == (NO_TAGS,)
    row = engjudge_row(ABOUT, findings(all_stages()), untagged, options("none"))
    assert out_of_ten(row) == [10, 10, 10]


def test_rules_and_file_beside_each_other() -> None:
    ruled = RuledSolution(ALL_TAGS, {
        "EQUATION_SELECTION": RuledPart(Fraction(3), ("MAJOR 7: sign at node 1, formula 1",)),
        "ALGEBRAIC_ACCURACY": RuledPart(Fraction(10), ("algebra: node 2 credited",)),
    }, insane=("k: a thermal conductivity of 0 or less",))  # fmt: skip
    judged = findings(all_stages(ES=10, FA=None))
    row = engjudge_row(ABOUT, judged, ruled, options("tags"))
    assert part(row, "ES").basis is Basis.CONFLICT
    assert part(row, "ES").findings[:3] == ("rules: 3", "file: 0", "rules: MAJOR 7: sign at node 1, formula 1")
    assert part(row, "ES").score == 0
    assert part(row, "AA").basis is Basis.BOTH
    assert part(row, "PC").basis is Basis.FILE
    assert part(row, "FA").basis is Basis.NONE
    assert (part(row, "sanity").basis, part(row, "sanity").score) == (Basis.CONFLICT, 1)
    row = engjudge_row(ABOUT, judged, ruled, options("tags", prefer_rules=True))
    assert part(row, "ES").score == Fraction("0.3")
    assert part(row, "sanity").score == 0
    row = engjudge_row(ABOUT, None, ruled, options("tags"))
    assert (part(row, "ES").basis, part(row, "sanity").basis) == (Basis.RULES, Basis.RULES)


def test_a_failure_of_the_grader_has_no_score_whatever_the_file_says() -> None:
    about = Scored("p", "s", status="killed", incidents=(Incident("killed", "rollout", "x"),))
    row = engjudge_row(about, findings(all_stages()), None, options("tags"))
    assert out_of_ten(row) == [None, 0, 10]
    assert row.status == "killed"
    assert not row.parts


def test_the_fingerprint_is_that_of_the_settings() -> None:
    made = {
        engjudge_row(ABOUT, None, None, each).fingerprint
        for each in (
            options(), options("none"), options(prefer_rules=True), options(topology=TOPOLOGIES["flat"]),
            options(absent=AbsentStage.ZERO), options(without=frozenset((Ablation.META,))),
        )
    }  # fmt: skip
    assert len(made) == 6


costs = st.dictionaries(st.sampled_from([*SHORT_NAMES]), st.none() | st.integers(0, 10))


@pytest.mark.slow
@given(costs, st.sampled_from(("open", "file", "none")), st.frozensets(st.sampled_from(Ablation)))
def test_a_row_lies_within_its_bounds(stages, source, without) -> None:
    row = engjudge_row(ABOUT, findings(stages), None, options(source, without=without))
    assert row.score is None or row.score_low == row.score == row.score_high
    assert 0 <= row.score_low <= row.score_high <= 1


@pytest.mark.slow
@given(costs, st.sampled_from([*SHORT_NAMES]), st.integers(0, 10))
def test_a_judged_part_narrows_the_bounds(stages, name, cost) -> None:
    if stages.get(name) is not None:
        return
    before = engjudge_row(ABOUT, findings(stages), None, options())
    after = engjudge_row(ABOUT, findings({**stages, name: cost}), None, options())
    assert before.score_low <= after.score_low <= after.score_high <= before.score_high


# The command. -------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RULES = ("--rules", "wall_loss.json", "rollouts.jsonl", "--workers", "0")


def called(*words: str, code: int = 0) -> dict[str, Any]:
    done = run.invoke(app, ["protocol", "engjudge", *words, "--json"])
    assert done.exit_code == code, done.stderr
    return json.loads(done.stdout)


def test_a_findings_file_alone(folder: Path) -> None:
    """m1: PC 10, AS 8, VI 9, ES 8.5, LR 8.25, AA 8.375, PI 6.6, FA 8.375: 67.1/8 = 8.3875, times 0.8 = 6.71.

    m2 with PI absent: 6 + 1.8 + 3.9 + 0 + 0.9 + 0.45 + 0.135 = 13.185; 13.185/7 - 2 is below 0.
    """
    told = called("findings.jsonl")
    assert told["statuses"] == {"ok": 1, "undecided": 2}
    assert told["rows_by_note"] == {"capped": 1, "raw": 1, "total": 1}
    assert [row["score"] for row in told["rows_list"]] == [0.671, None, None]
    absent = called("findings.jsonl", "--stages", "file")["rows_list"][1]
    assert (absent["score"], absent["policies"]["engjudge_single_pass_dp"]) == (0.0, 0.188357)
    flat = called("findings.jsonl", "--topology", "flat", "--without", "meta")
    assert flat["rows_list"][0]["score"] == 0.95  # (6 * 10 + 8 + 8)/8
    assert flat["variant"] == "without_meta"


@pytest.mark.slow
def test_rules_beside_the_file(folder: Path) -> None:
    told = called("findings.jsonl", *RULES)
    bases = [{part["basis"] for part in row["parts"]} for row in told["rows_list"]]
    assert bases == [{"file", "both"}, {"file", "both", "conflict", "rules"}, {"none", "both", "rules"}, {"none"}]
    first, second, *_ = told["rows_list"]
    assert (first["score"], first["final_correct"], first["meta"]) == (0.671, True, {"model": "large"})
    assert second["score"] == 0.0
    assert len(first["findings_sha256"]) == 64
    preferred = called("findings.jsonl", *RULES, "--prefer", "rules")["rows_list"][1]
    # ES 3 * (1.8 + 3.9)/20 = 0.855; LR (1.8 + 0.855)/2 = 1.3275; AA (0.855 + 1.3275)/2 = 1.09125; FA 0.327375:
    # (6 + 1.8 + 3.9 + 0.855 + 1.3275 + 1.09125 + 0.327375)/7 - 2 = 15.301125/7 - 2 = 0.185875
    assert preferred["score"] == 0.018588  # 0.0185875, a tie: to even


def test_rules_alone_have_bounds_and_no_score(folder: Path) -> None:
    told = called(*RULES, code=5)
    assert told["parts_by_basis"]["rules"] == 13
    assert [row["score"] for row in told["rows_list"]] == [None] * 4
    assert all(row["score_low"] == 0 for row in told["rows_list"])
    assert told["rows_list"][1]["score_high"] < told["rows_list"][0]["score_high"] == 1


@pytest.mark.slow
def test_solutions_without_tags_are_told(folder: Path) -> None:
    done = run.invoke(app, ["protocol", "engjudge", *RULES])
    assert done.exit_code == 5
    assert "1 of 4 solutions have no stage tags and no score; --stages none scores them without" in done.stderr
    done = run.invoke(app, ["protocol", "engjudge", *RULES, "--stages", "none"])
    assert "no stage tags" not in done.stderr


@pytest.mark.slow
def test_rows_are_written_and_read_as_score_rows(folder: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        done = run.invoke(app, ["protocol", "engjudge", "findings.jsonl", *RULES, "-o", name])
        assert done.exit_code == 0, done.stderr
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert run.invoke(app, ["protocol", "engjudge", "findings.jsonl", "-o", "a.jsonl"]).exit_code == 3
    told = json.loads(run.invoke(app, ["compare", "a.jsonl", "b.jsonl", "--json"]).stdout)
    assert (told["compared"], told["same"], len(told["unscored"]), told["passed"]) == (2, 2, 2, True)


@pytest.mark.slow
def test_people_correct_the_scores(folder: Path) -> None:
    """Of parts with a score: AS 8 + 1, 8, PI 8 - 1, ES 0 + 2, 0 + 1, FA 3, coverage 10: |moves| 1 0 1 2 1 0 0 = 5/7.

    m1 corrected: AS (9 + 8)/2 = 8.5, PI 7. PC 10, AS 8.5, VI 9.25, ES 8.875, LR 8.6875, AA 8.78125,
    PI 7 * 0.86875 = 6.08125, FA 8.78125: sum 68.95625, /8 = 8.61953125, times 0.8 = 6.895625.
    """
    told = called("findings.jsonl", *RULES, "--corrections", "corrections.jsonl")
    assert told["corrections"]["mean_absolute_error"] == 0.714286
    assert [told["corrections"][key] for key in ("ratings", "about_right", "unused")] == [7, 3, 1]
    assert told["rows_list"][0]["policies"]["engjudge_corrected"] == 0.689562  # 0.6895625, a tie: to even
    done = run.invoke(app, ["protocol", "engjudge", "findings.jsonl", *RULES, "--corrections", "corrections.jsonl"])
    line = "corrections: 3 of 7 about right (42.9 %); mean absolute error 0.714; Pearson r 0.979; 1 rating of parts"
    assert done.stdout.startswith(line)
    Path("other.jsonl").write_text('{"problem_id": "wall_loss", "sample_id": "m9", "part": "ES", "rating": "too low"}')
    done = run.invoke(app, ["protocol", "engjudge", "findings.jsonl", "--corrections", "other.jsonl"])
    assert (done.exit_code, 'no row of "m9" of problem "wall_loss"' in done.stderr) == (3, True)


def test_a_topology_of_ones_own(folder: Path) -> None:
    Path("mine.json").write_text('{"FA": ["AA", "PI"]}', encoding="utf-8")
    row = called("findings.jsonl", "--topology", "mine.json", "--without", "meta")["rows_list"][0]
    assert row["settings"]["topology"]["FA"] == ["AA", "PI"]
    assert row["score"] == 0.9375  # FA = 10 * (10 + 8)/2/10 = 9: (5 * 10 + 8 + 8 + 9)/8 = 75/8


@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_code(folder: Path) -> None:
    def told(*words: str, code: int) -> str:
        done = run.invoke(app, ["protocol", "engjudge", *words])
        assert done.exit_code == code, done.output
        return " ".join(done.stderr.replace("│", " ").split())

    assert "nothing to score" in told(code=2)
    assert "--stages tags needs the solutions" in told("findings.jsonl", "--stages", "tags", code=2)
    assert "expected some of dp, meta, missing" in told("findings.jsonl", "--without", "dq", code=2)
    assert "expected left_out or zero" in told("findings.jsonl", "--absent", "0", code=2)
    assert "expected one of tags, file, none, open" in told("findings.jsonl", "--stages", "all", code=2)
    assert "no topology and no file" in told("findings.jsonl", "--topology", "deflaut", code=3)
    assert 'did you mean "findings.jsonl"' in told("finding.jsonl", code=3)
    row = '{"problem_id": "wall_loss", "sample_id": "m7"}\n'
    Path("twice.jsonl").write_text(row + row, encoding="utf-8")
    assert 'line 2: "m7" of problem "wall_loss" is in line 1 already' in told("twice.jsonl", code=3)
    Path("other.jsonl").write_text(row, encoding="utf-8")
    assert 'item 1: no rollout "m7" of problem "wall_loss"' in told("other.jsonl", *RULES, code=3)
    Path("bad.jsonl").write_text('{"problem_id": "p", "sample_id": "s", "stages": {"XX": 1}}\n', encoding="utf-8")
    assert '"XX" is no stage' in told("bad.jsonl", code=3)


def test_findings_that_were_repaired_are_told(folder: Path) -> None:
    text = Path("findings.jsonl").read_text(encoding="utf-8").splitlines()[0]
    Path("fenced.md").write_text(f"The verdict:\n```json\n{text}\n```\n", encoding="utf-8")
    row = called("fenced.md")["rows_list"][0]
    assert row["score"] == 0.671
    assert any("code fence" in note for note in row["notes"])
