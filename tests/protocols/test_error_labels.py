"""Labels of first errors: what rules tell in the shape of a judge's findings, and both beside each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.errors import DataFileError
from prism.protocols.error_labels import ErrorFinding, LabelTable, finding_by_rule, label_tables, read_error_findings
from prism.protocols.graded_rollouts import diagnosed, grade_rollouts
from prism.protocols.psas.findings import LABELS
from prism.protocols.schemas import schema_text
from prism.runs.rollouts import Rollout

run = CliRunner()
SCHEMA = json.loads(schema_text("error_findings"))
RESPONSES = {
    "lost-half": r"$v = g t$, $s = g t^2$, $t_f = \sqrt{h/g}$ and $v_f = \sqrt{g h}$",
    "right": r"$v = g t$, $s = \frac12 g t^2$, $t_f = \sqrt{2h/g}$ and $v_f = \sqrt{2 g h}$",
    "two": r"$v = 2 g t$, $s = \frac12 g t^2 + 3\unit{s}$",
    "another-law": r"$v_f = \sqrt{2 g m}$",
    "nothing": "I do not know.",
}


def by_rule(text: str) -> ErrorFinding:
    problem = prism.load_problem("free_fall")
    (one,) = grade_rollouts({problem.id: problem}, [Rollout(problem.id, text, "1")], then=diagnosed)
    return finding_by_rule(one)


def written(path: Path, *entries: Mapping[str, Any]) -> Path:
    lines = ({"problem_id": "free_fall", "sample_id": "right", "primary": "DCE", **entry} for entry in entries)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_rules_name_label_expression_and_node() -> None:
    found = by_rule(RESPONSES["lost-half"])
    assert (found.judge, found.primary, found.secondary, found.confidence) == ("rules", "DCE", (), None)
    assert found.incorrect == ("s = g t^2",)  # what follows from it is no error of its own
    assert found.correct == (r"s = \frac{1}{2} g t^2",)
    assert r"\frac{1}{2}" in found.rationale


@pytest.mark.parametrize(("name", "label"), [("right", "none"), ("another-law", None), ("nothing", None)])
def test_rules_say_none_only_where_all_is_told(name: str, label: str | None) -> None:
    found = by_rule(RESPONSES[name])
    assert (found.primary, found.secondary, found.incorrect) == (label, (), ())


def test_what_rules_say_is_read_as_what_a_judge_says(tmp_path: Path) -> None:
    own = [by_rule(text) for text in RESPONSES.values()]
    rows = [{**one.to_dict(), "sample_id": name} for one, name in zip(own, RESPONSES, strict=True)]
    for row in rows:
        jsonschema.validate(row, SCHEMA)
    entries = read_error_findings(written(tmp_path / "f.jsonl", *rows)).entries
    assert [one.value.to_dict() for one in entries] == rows


@pytest.mark.parametrize(("entry", "is_right"), [
    ({}, True), ({"primary": None}, True), ({"primary": "none", "confidence": 1}, True),
    ({"secondary": "VRE"}, True), ({"secondary": ["VRE", "UDE"], "label": "DCE", "judge": "a"}, True),
    ({"incorrect": ["x = 1"], "correct": [], "rationale": "why"}, True), ({"primary": "XYZ"}, False),
    ({"secondary": ["none"]}, False), ({"confidence": 2}, False), ({"incorrect": "x = 1"}, False),
    ({"sample_id": None}, False),
])  # fmt: skip
def test_the_schema_and_the_reader_agree(tmp_path: Path, entry: dict[str, Any], is_right: bool) -> None:
    whole = {"problem_id": "free_fall", "sample_id": "right", "primary": "DCE", **entry}
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(whole) == is_right
    if is_right:
        assert len(read_error_findings(written(tmp_path / "f.jsonl", entry)).entries) == 1
    else:
        with pytest.raises(DataFileError):
            read_error_findings(written(tmp_path / "f.jsonl", entry))


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = written(
        tmp_path / "f.jsonl", {"primary": "DCE"}, {"primary": "VRE"}, {"sample_id": "b", "label": "UDE"},
        {"sample_id": "c", "primary": "none", "secondary": "UDE"}, {"sample_id": "d", "secondary": ["DCE"]},
    )  # fmt: skip
    with pytest.raises(DataFileError) as caught:
        read_error_findings(path)
    told = "\n".join(caught.value.faults)
    for words in (
        "line 2",
        "on line 1 already",
        "line 3: label",
        "line 4: secondary: stands without",
        "DCE is the primary",
    ):
        assert words in told


def test_the_labels_of_the_schema_are_those_of_the_reader() -> None:
    assert SCHEMA["properties"]["primary"]["enum"] == [*LABELS, "none", None]


def test_each_rater_has_a_table_beside_the_rules() -> None:
    def said(judge: str, sample: str, label: str | None) -> ErrorFinding:
        return ErrorFinding("p", sample, judge, label)

    rules = [said("rules", "1", "DCE"), said("rules", "2", None), said("rules", "3", "none"), said("rules", "4", "UDE")]
    told = [
        said("a", "1", "DCE"),
        said("a", "2", "PTAE"),
        said("a", "3", "VRE"),
        said("a", "9", "DAE"),
        said("b", "4", None),
    ]
    one, two = label_tables(told, rules)
    assert one == LabelTable("a", {("DCE", "DCE"): 1, ("PTAE", "open"): 1, ("VRE", "none"): 1}, 1, 1)
    assert (one.n, one.n_decided, one.n_same) == (3, 2, 1)
    assert (two.judge, dict(two.counts), two.n_decided, two.n_same) == ("b", {("open", "UDE"): 1}, 0, 0)
    with pytest.raises(prism.PrismError, match="none of these responses"):
        label_tables([said("a", "9", "DCE")], rules)


def test_the_command_writes_findings_that_agree_reads(tmp_path: Path) -> None:
    rollouts, out = tmp_path / "r.jsonl", tmp_path / "rules.jsonl"
    rows = [{"problem_id": "free_fall", "sample_id": name, "response": text} for name, text in RESPONSES.items()]
    rollouts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judge = written(tmp_path / "judge.jsonl", {"sample_id": "lost-half", "judge": "j"},
                    {"sample_id": "right", "primary": "VRE", "judge": "j"})  # fmt: skip
    command = ["protocol", "errors", "free_fall", str(rollouts), "--workers", "0", "--findings", str(judge)]
    shown = run.invoke(app, command)
    assert shown.exit_code == 0
    assert "2 responses; both say something of 2, the same of 1" in " ".join(shown.stdout.split())
    told = json.loads(run.invoke(app, [*command, "--json"]).stdout)
    assert (told["responses"], told["beside"][0]["same"], len(told["findings"])) == (5, 1, 5)
    assert run.invoke(app, [*command, "-o", str(out)]).exit_code == 0
    agreed = run.invoke(app, ["agree", str(out), str(judge), "--labels", ",".join((*LABELS, "none")), "--map",
                              "score=primary,rater=judge", "--replicates", "0", "--json"])  # fmt: skip
    assert agreed.exit_code == 0, agreed.stderr
    assert run.invoke(app, [*command, "-o", str(out)]).exit_code == 3  # it is there
    assert run.invoke(app, [*command, "-o", str(tmp_path / "x.csv")]).exit_code == 2
