"""Rows of question, answer and solution, the commonest file of the field: read as they are, faults told once."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism import grade, load_problem, load_problems
from prism.authoring.importers.question_rows import FIELDS
from prism.cli import app

QUESTION = "A car moves with the speed $v = {k}$ m/s for $t = 3$ s. How far, $s$, does it move?"


def rows(n: int = 3) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{k}", "question": QUESTION.format(k=k), "answer": f"{3 * k} m", "level": 2,
            "solution": rf"The distance is $s = v t$, so $s = {3 * k}\,\mathrm{{m}}$.",
        }
        for k in range(2, 2 + n)
    ]  # fmt: skip


def written(folder: Path, listed: list[Any], name: str = "set.jsonl") -> str:
    path = folder / name
    if path.suffix == ".csv":
        out = io.StringIO()
        table = csv.DictWriter(out, list(listed[0]))
        table.writeheader()
        table.writerows(listed)
        path.write_text(out.getvalue(), encoding="utf-8")
    else:
        text = json.dumps(listed) if path.suffix == ".json" else "".join(json.dumps(each) + "\n" for each in listed)
        path.write_text(text, encoding="utf-8")
    return str(path)


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["convert", *words])


@pytest.mark.parametrize("name", ["set.jsonl", "set.json", "set.csv"])
def test_the_commonest_file_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    out = tmp_path / "problems"
    done = run(written(tmp_path, rows(), name), "-o", str(out))
    assert done.exit_code == 0, done.output
    assert "3 rows: 3 problems (3 answer); 0 refused" in done.stdout
    assert "id from id, question from question, answer from answer, solution from solution" in done.stderr
    assert "3 problems of answers alone though the row has a solution; --draft drafts a DAG" in done.stderr
    assert f"next: prism lint {out}" in done.stderr
    problem = load_problem(out / "q2.toml")
    assert grade(problem, r"So $\boxed{6\,\mathrm{m}}$.").score == 1
    assert grade(problem, r"So $\boxed{7\,\mathrm{m}}$.").score == 0
    told = tomllib.loads((out / "q2.toml").read_text("utf-8"))
    assert (told["source"], told["metadata"]["dag"]) == ("set.jsonl q2".replace("set.jsonl", name), "answer")
    assert str(told["metadata"]["fields"]["level"]) == "2"


def test_a_draft_takes_the_solutions(tmp_path: Path) -> None:
    out = tmp_path / "drafts"
    done = run(written(tmp_path, rows()), "--draft", "-o", str(out))
    assert done.exit_code == 0, done.output
    assert "3 rows: 3 problems (3 drafted)" in done.stdout
    assert f"next: read 3 drafts through, then: prism lint {out}" in done.stderr
    problem = load_problem(out / "q2.toml")
    assert [node.is_final for node in problem.nodes] == [False, True]
    assert grade(problem, "$s = v t$").score == 0.5


@pytest.mark.parametrize("name", [name for names in FIELDS.values() for name in names if name != "unit"])
def test_the_usual_names_are_known(tmp_path: Path, name: str) -> None:
    key = next(key for key, names in FIELDS.items() if name in names)
    (row,) = rows(1)
    row[name] = row.pop(key)
    done = run(written(tmp_path, [row]))
    assert done.exit_code == 0, done.output
    assert f"{key} from {name}" in done.stderr


def test_the_page_lists_the_names_that_are_known() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/convert_a_data_set.md").read_text("utf-8")
    for key, names in FIELDS.items():
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{key}` |")]
        assert line.startswith(f"| `{key}` | {', '.join(f'`{name}`' for name in names)}")


def test_other_names_are_mapped(tmp_path: Path) -> None:
    path = written(tmp_path, [{"nr": 7, "text": each["question"], "key": 3 * k} for k, each in enumerate(rows())])
    done = run(path, "--map", "question=text,answer=key,id=nr", "-o", str(tmp_path / "set.out.jsonl"))
    assert done.exit_code == 0, done.output
    assert list(load_problems(tmp_path / "set.out.jsonl")) == ["7", "7~2", "7~3"]
    assert f"next: prism lint {tmp_path / 'set.out.jsonl'}" in done.stderr
    wrong = run(path, "--map", "question=txt,answer=keys")
    assert wrong.exit_code == 2
    assert 'did you mean "text"?' in wrong.stderr
    assert 'no row has the field "keys"' in wrong.stderr
    assert "the fields are nr, text, key" in wrong.stderr
    assert 'did you mean "answer"?' in run(path, "--map", "ansr=key").stderr
    assert run(path, "--map", "answer=key", "--from", "scibench").exit_code == 2
    assert "--map question=FIELD" in run(path, "--draft").stderr


def test_equal_faults_are_told_once_with_their_count_and_the_first_ids(tmp_path: Path) -> None:
    listed = [{"id": f"r{k}", "text": each["question"]} for k, each in enumerate(rows(60))]
    done = run(written(tmp_path, listed))
    assert done.exit_code == 3
    (line,) = done.stderr.splitlines()
    assert "60 rows: has neither nodes" in line
    assert "(line 1, r0; line 2, r1; line 3, r2; and 57 more)" in line
    for word in ("--map question=FIELD,answer=FIELD,solution=FIELD", "--from NAME", "its fields are id, text"):
        assert word in line


def test_rows_that_cannot_be_problems_are_told_by_reason(tmp_path: Path) -> None:
    listed = [
        *rows(2),
        *({**each, "answer": "", "solution": ""} for each in rows(4)),
        {"question": "?", "answer": True, "id": {}},
    ]
    done = run(written(tmp_path, listed), "-o", str(tmp_path / "out"))
    assert done.exit_code == 3
    assert "4 rows: it has no answer (set.jsonl, line 3, q2; set.jsonl, line 4, q3;" in done.stderr
    assert (
        "set.jsonl, line 7, set-7: its answer cannot be read as a formula: True is neither text nor number"
        in done.stderr
    )
    assert run(written(tmp_path, listed), "-o", str(tmp_path / "more"), "--partial").exit_code == 0


def test_a_key_that_stands_twice_in_a_row_is_refused_by_its_name(tmp_path: Path) -> None:
    path = Path(written(tmp_path, rows(1)))
    path.write_text(path.read_text("utf-8") + '{"question": "$x$?", "answer": "5", "answer": "6"}\n', encoding="utf-8")
    done = run(str(path))
    assert done.exit_code == 3
    assert 'line 2: the line or the field cannot be read: key "answer" stands twice in one object' in done.stderr


def test_answers_stand_behind_hashes_or_in_the_last_box(tmp_path: Path) -> None:
    (row,) = rows(1)
    hashes = {"question": row["question"], "answer": f"{row['solution']}\n#### 6 m"}
    boxed = {"question": row["question"], "solution": r"First $\boxed{3}$, then $s = v t = \boxed{6\,\mathrm{m}}$."}
    done = run(written(tmp_path, [hashes, boxed, {**hashes, "image": "a.png"}]), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "2 rows: its answer is what stands behind #### (set-1; set-3)" in done.stdout
    assert "set-2: it has no answer; that is what the last box of its solution holds" in done.stdout
    assert "set-3: its image is not read" in done.stdout
    for k in (1, 2, 3):
        assert grade(load_problem(tmp_path / "out" / f"set-{k}.toml"), r"$\boxed{6\,\mathrm{m}}$").score == 1


def test_rows_of_a_published_data_set_are_told(tmp_path: Path) -> None:
    names = ("id", "question", "final_answer", "solution", "unit", "is_multiple_answer", "answer_type", "subfield")
    row = {**dict.fromkeys(names, "5"), "context": "", "error": None, "modality": "Text-only", "language": "English"}
    assert "has the fields of olympiadbench; --from olympiadbench reads" in run(written(tmp_path, [row])).stderr


def test_problems_and_schemes_are_none_of_these(tmp_path: Path) -> None:
    problem = {"id": "p", "context": "", "question": "?", "answer": "5", "grading_standard": [
        {"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}]}  # fmt: skip
    assert "rows of questions" not in run(written(tmp_path, [problem])).stderr
    scheme = {"id": "s", "problem": "Find $F$.", "answer": ["F = m a"], "marking": ["1 pt for $F = m a$"]}
    assert "rows of questions" not in run(written(tmp_path, [scheme])).stderr
