"""The leaderboard: who is ranked together, in what order, and what the page shows of it."""

from __future__ import annotations

import hashlib
import json
import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import DataFileError
from prism.grading.row import fingerprint, json_line
from prism.reports.gates import Grader
from prism.reports.html.whole_pages import leaderboard_page
from prism.reports.rankings import Leaderboard, known_grader, make_leaderboard
from prism.version import RULES
from tests.reports.test_group_comparison import ROWS, row, written

run = CliRunner()
OF = {name: [each for each in ROWS if each["meta"]["model"] == name and each["problem_id"] != "d"]
      for name in ("large", "small", "tiny")}  # fmt: skip
OLD = {"version": "0.0.9", "fingerprint": "cd" * 32}


def board(found: Leaderboard, number: int = 0) -> list[tuple[int | None, str]]:
    return [(one.rank, one.model) for one in found.boards[number].entries]


def test_runs_of_one_grader_and_the_same_problems_are_ranked_by_mean() -> None:
    found = make_leaderboard({"b.jsonl": OF["small"] + OF["tiny"], "a.jsonl": OF["large"]})
    assert (len(found.boards), board(found)) == (1, [(1, "large"), (2, "small"), (3, "tiny")])
    first, second, _ = found.boards[0].entries
    assert (first.run, first.to_first) == ("a.jsonl", None)
    assert first.mean.value == pytest.approx(4 / 5)
    assert second.to_first is not None
    assert second.to_first.difference.value == pytest.approx(-0.95 / 3)
    assert first.strict.value == first.mean.value


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"grader": OLD}, "another grader: PRISM 0.0.9, rules and policy of another PRISM, fingerprint cdcdcdcdcdcd"),
        ({"schema": 4}, "another grader: PRISM 0.1.0"),
        ({"problem_sha256": "another"}, "3 problems with another file: a, b, c"),
    ],
)
def test_another_grader_or_another_file_stands_apart(changed: dict[str, Any], reason: str) -> None:
    other = [{**each, **changed} for each in OF["large"]]
    found = make_leaderboard({"new.jsonl": OF["small"] + OF["tiny"], "old.jsonl": other})
    assert [board(found, number) for number in (0, 1)] == [[(1, "small"), (2, "tiny")], [(1, "large")]]
    assert reason in found.boards[1].reasons_apart[0]
    assert not found.boards[0].reasons_apart


def test_another_set_of_problems_stands_apart() -> None:
    rows = [{**each, "problem_id": {"a": "a", "b": "x"}.get(each["problem_id"], "y")} for each in OF["large"]]
    rows = [{**each, "sample_id": str(k), "problem_sha256": f"file of {each['problem_id']}"}
            for k, each in enumerate(rows)]  # fmt: skip
    found = make_leaderboard({"one.jsonl": OF["small"] + OF["tiny"], "two.jsonl": rows})
    assert found.boards[1].reasons_apart == ("2 problems missing: b, c", "2 problems more: x, y")


def test_rows_of_two_graders_in_one_file_are_two_entries() -> None:
    mixed = [{**each, "grader": OLD} if each["problem_id"] == "a" else each for each in OF["large"]]
    found = make_leaderboard({"mixed.jsonl": mixed})
    assert sorted(len(one.problems) for one in found.boards) == [1, 2]


def test_equal_means_share_a_rank_and_no_score_has_none() -> None:
    twin = [{**each, "meta": {"model": "medium"}} for each in OF["small"]]
    failed = [row("zero", name, name, None) for name in "abc"]
    found = make_leaderboard({"r.jsonl": OF["small"] + twin + OF["tiny"] + failed})
    assert board(found) == [(1, "medium"), (1, "small"), (3, "tiny"), (None, "zero")]
    assert make_leaderboard({"r.jsonl": failed}).is_empty


def test_a_run_that_names_no_model_is_named_by_its_file() -> None:
    assert board(make_leaderboard({"runs/mine.jsonl": [row(None, "a", 1)]})) == [(1, "mine")]
    assert [name for _, name in board(make_leaderboard({"r.jsonl": ROWS}, fields=("effort",)))] == ["r"]


def test_neither_the_order_of_runs_nor_of_rows_changes_a_board() -> None:
    runs = {"a.jsonl": OF["large"], "b.jsonl": OF["small"] + OF["tiny"]}
    turned = {name: rows[::-1] for name, rows in reversed(runs.items())}
    assert make_leaderboard(runs).boards == make_leaderboard(turned).boards


def test_faults_of_rows_are_told() -> None:
    with pytest.raises(DataFileError) as caught:
        make_leaderboard({"r.jsonl": [*OF["large"], OF["large"][0], row("x", "a", 1, 7.0)]})
    assert len(caught.value.faults) == 2


def test_the_fingerprint_of_this_prism_is_told_in_words() -> None:
    of = partial(Grader, "0.1.0")
    assert known_grader(of(fingerprint(), "6")) == (RULES, "closure")
    assert known_grader(of(fingerprint("strict"), "6")) == (RULES, "strict")
    assert known_grader(of("ab" * 32, "6", "3")) == (3, "")
    assert known_grader(of("ab" * 32, "5")) == (None, "")
    mine = [{**each, "grader": {"version": "0.1.0", "fingerprint": fingerprint()}} for each in ROWS]
    page = leaderboard_page(make_leaderboard({"r.jsonl": mine}))
    assert f"rules {RULES}, policy closure" in page
    assert fingerprint() in page


class _Texts(HTMLParser):
    """All elements and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_shows_names_as_text_and_loads_nothing() -> None:
    nasty = "</table><script>alert(1)</script>"
    rows = [{**each, "meta": {"model": nasty}} for each in OF["large"]]
    page = leaderboard_page(make_leaderboard({"<img src=x>.jsonl": rows, "b.jsonl": OF["tiny"]}), title="A & <b>")
    seen = _Texts()
    seen.feed(page)
    assert not {"script", "img", "b", "iframe"} & set(seen.tags)
    assert nasty in "".join(seen.texts)
    assert "A & <b>" in "".join(seen.texts)
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", page)
    assert "default-src 'none'" in page


def test_the_command_writes_a_page_and_keeps_it(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.jsonl", OF["large"]), written(tmp_path / "b.jsonl", OF["small"])
    out = tmp_path / "page.html"
    words = ["leaderboard", a, b, "-o", str(out)]
    assert (run.invoke(app, words).exit_code, run.invoke(app, words).exit_code) == (0, 3)
    page = out.read_bytes()
    assert run.invoke(app, [*words, "--force"]).exit_code == 0
    assert out.read_bytes() == page
    digest = hashlib.sha256(Path(a).read_bytes()).hexdigest()
    assert f"a.jsonl</bdi>, sha256 <code>{digest}</code>" in page.decode()
    assert str(tmp_path) not in page.decode()


def test_the_command_prints_tables_or_json(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.jsonl", OF["large"]), written(tmp_path / "b.jsonl", OF["small"])
    lines = [line.split() for line in run.invoke(app, ["leaderboard", a, b]).stdout.splitlines()]
    assert ["1", "large", "a.jsonl", "5", "0.800"] in [line[:5] for line in lines]
    data = json.loads(run.invoke(app, ["leaderboard", b, a, "--json"]).stdout)
    assert [one["model"] for one in data["boards"][0]["entries"]] == ["large", "small"]
    assert data["boards"][0]["grader"]["fingerprint"] == "ab" * 32


def test_the_command_writes_its_tables_in_other_forms(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.jsonl", OF["large"]), written(tmp_path / "b.jsonl", OF["tiny"])
    done = run.invoke(app, ["leaderboard", a, b, "--format", "csv"])
    assert done.stdout.splitlines()[:2] == [
        "rank,model,run,rollouts,score,score low,score high,to first,p (Holm),strict,final",
        "1,large,a.jsonl,5,0.8,0.75,0.9,,,0.8,0.2",
    ]
    out = tmp_path / "board.tex"
    assert run.invoke(app, ["leaderboard", a, b, "-o", str(out)]).exit_code == 0
    latex = out.read_text()
    assert r"\begin{tabular}{rllrrlrrrr}" in latex
    assert r"2 & tiny & b.jsonl & 3 & 0.100 & 0.000 to 0.200 & $-0.717$ & 0.25 & 0.100 & 0.000 \\" in latex
    assert run.invoke(app, ["leaderboard", a, "--table", "apart-9"]).exit_code == 2
    assert "per cent" in run.invoke(app, ["leaderboard", a, "--percent"]).stdout


def test_no_name_can_speak_to_the_terminal(tmp_path: Path) -> None:
    """Colour codes in names of models, problems and versions come out as text."""
    nasty = "a\x1b[31mb"
    rows = [row(nasty, nasty, 1, grader={"version": nasty, "fingerprint": nasty}), row("x", "a", 2)]
    path = written(tmp_path / "a.jsonl", [*rows, row("x", "b", 3), row("y", "a", 2), row("y", "b", 3)])
    for words in (["leaderboard", path], ["compare", path, "--by", "model"]):
        result = run.invoke(app, words)
        assert "\x1b" not in result.stdout + result.stderr


def test_the_command_has_the_exit_codes_of_the_contract(tmp_path: Path) -> None:
    a = written(tmp_path / "a.jsonl", OF["large"])
    none = written(tmp_path / "none.jsonl", [row("x", "a", 1, None)])
    for words, code in (
        ([a, "-o", str(tmp_path / "x.pdf")], 2), ([a, a], 2), ([str(tmp_path / "absent.jsonl")], 3),
        ([a, "-o", str(tmp_path / "no" / "x.html")], 3), ([none], 5),
    ):  # fmt: skip
        assert run.invoke(app, ["leaderboard", *words]).exit_code == code, words


def test_two_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    paths = [written(tmp_path / name / "s.jsonl", OF["large"]) for name in ("one", "two")]
    data = json.loads(run.invoke(app, ["leaderboard", *paths, "--json"]).stdout)
    assert [one["run"] for one in data["boards"][0]["entries"]] == paths
    assert json_line(data)
