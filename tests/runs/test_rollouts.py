import csv
import gzip
import json
from pathlib import Path

import pytest

from prism.errors import DataFileError, PrismError
from prism.runs.rollouts import Rollout, fields_of, read, rollouts_of, scan

IDS = ("fall", "spring")
ROWS = [
    {"problem_id": "fall", "response": '$v = gt$\r\nso \u2028 "it", falls', "sample_id": "a", "model": "m"},
    {"problem_id": "spring", "response": "", "sample_id": "b", "model": "m"},
    {"problem_id": "fall", "response": "$x = 1$", "sample_id": "c", "model": "n"},
]


def _all(path: Path, **options) -> list[Rollout]:
    scanned = scan(path, IDS, **options)
    found = list(read(path, scanned.fields, IDS))
    assert len(found) == scanned.n
    return found


def _written(folder: Path, kind: str) -> Path:
    path = folder / f"rollouts.{kind}"
    lines = "\n".join(json.dumps(row) for row in ROWS)
    if kind == "jsonl":
        path.write_text("\ufeff" + lines + "\n\n", encoding="utf-8")
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "json":
        path.write_text(json.dumps(ROWS, indent=1), encoding="utf-8")
    elif kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, list(ROWS[0]))
            rows.writeheader()
            rows.writerows(ROWS)
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "json", "csv", "parquet"])
def test_every_format_says_the_same(tmp_path, kind):
    found = _all(_written(tmp_path, kind))
    assert [(one.problem_id, one.sample_id, one.meta) for one in found] == [
        (row["problem_id"], row["sample_id"], {"model": row["model"]}) for row in ROWS
    ]
    assert [one.solution for one in found] == [row["response"] for row in ROWS]


def test_a_long_list_is_read_in_windows(tmp_path):
    rows = [{"id": "fall", "answer": "ab," * (k * 997 % 50_000)} for k in range(60)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert [one.solution for one in _all(path)] == [row["answer"] for row in rows]


def test_texts_in_folders(tmp_path):
    (tmp_path / "fall").mkdir()
    (tmp_path / "fall" / "ann.md").write_text("$v = gt$", encoding="utf-8")
    (tmp_path / "fall" / "ben.tex").write_text("$v = 2gt$", encoding="utf-8")
    (tmp_path / "spring.txt").write_text("$F = -kx$", encoding="utf-8")
    found = [(one.problem_id, one.sample_id, one.solution) for one in _all(tmp_path)]
    assert found == [
        ("fall", "fall/ann.md", "$v = gt$"), ("fall", "fall/ben.tex", "$v = 2gt$"),
        ("spring", "spring.txt", "$F = -kx$"),
    ]  # fmt: skip


def test_tables_in_a_folder_follow_one_another_by_name(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "fall", "text": name}), encoding="utf-8")
    assert [(one.solution, one.sample_id) for one in _all(tmp_path)] == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    ("record", "solution", "problem_id", "sample_id"),
    [
        ({"problem_id": "fall", "completion": "x", "answer": "gold"}, "completion", "problem_id", None),
        ({"id": 7, "problem_id": "fall", "solution": "x"}, "solution", "problem_id", "id"),
        ({"id": "fall", "problem": "A stone falls.", "response": "x"}, "response", "id", None),
        ({"custom_id": "spring", "response": {"body": {"choices": [{"message": {"content": "x"}}]}}},
         "response.body.choices.0.message.content", "custom_id", None),
        ({"doc_id": 3, "doc": {"id": "fall"}, "resps": [["x", "y"]]}, "resps.0", "doc.id", None),
        ({"messages": [{"role": "assistant", "content": "x"}], "task_id": "fall"}, "messages", "task_id", None),
    ],
)  # fmt: skip
def test_fields_are_found(record, solution, problem_id, sample_id):
    found = fields_of(record, {}, (), IDS)
    named = [path and ".".join(path) for path in (found.solution, found.problem_id, found.sample_id)]
    assert named == [solution, problem_id, sample_id]


def test_a_map_goes_before_what_is_usual(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"response": "no", "raw": {"text": "yes"}, "doc": {"key": "fall"}}), encoding="utf-8")
    (one,) = _all(path, mapping={"response": "raw.text", "problem_id": "doc.key"})
    assert (one.solution, one.problem_id) == ("yes", "fall")
    with pytest.raises(PrismError, match="no field reply"):
        scan(path, IDS, mapping={"reply": "raw.text"})


def test_several_completions_of_one_record_are_several_rollouts():
    record = {"problem_id": "fall", "sample_id": "s", "completions": ["x", "y"]}
    assert [(one.solution, one.sample_id) for one in rollouts_of(iter([record]), IDS)] == [("x", "s/1"), ("y", "s/2")]
    steps = {"problem_id": "fall", "solution": ["x", "y"]}
    assert [one.solution for one in rollouts_of(iter([steps]), IDS)] == [["x", "y"]]


def test_of_a_single_problem_no_id_is_needed():
    found = rollouts_of(iter([{"response": "x"}, {"id": 3, "response": None}]), ("fall",))
    assert [(one.problem_id, one.sample_id, one.solution) for one in found] == [("fall", "1", "x"), ("fall", "3", "")]


def test_kept_fields_are_values_of_json():
    record = {"id": "fall", "text": "x", "model": float("nan"), "at": Path("p")}
    (one,) = rollouts_of(iter([record]), IDS, keep=("model", "at", "absent"))
    assert one.meta == {"model": "NaN", "at": "p"}


def test_all_faults_of_a_file_are_told_at_once(tmp_path):
    rows = [
        {"id": "fall", "text": "x"},
        {"id": "fell", "text": "x"},
        {"id": "fall"},
        {"text": "x"},
        {"id": "fall", "text": 3},
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        scan(path, IDS)
    told = caught.value.faults
    assert list(told[:3]) == [
        'record 2: no problem has the id "fell"',
        "record 3: no field text",
        "record 4: no problem id in the field id",
    ]
    assert told[3].startswith("record 5: solution: found")


def test_of_many_faults_some_are_told_and_the_rest_counted(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([json.dumps({"id": "x" * 900, "text": "x"})] * 30), encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        scan(path, IDS)
    assert len(caught.value.faults) == 21
    assert caught.value.faults[-1] == "and 10 more"
    assert len(str(caught.value)) < 21 * 300


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.jsonl", b'{"id": "fall", "text": "x"}\n{"id": ', "line 2: no JSON"),
        ("r.jsonl", b"[" * 200_000, "line 1: no JSON"),
        ("r.jsonl", b"3", "record 1: no object, but int"),
        ("r.jsonl", b"\xff\xfe", "codec can't decode"),
        ("r.jsonl", b"", "no rollouts"),
        ("r.jsonl", b'{"id": "fall"}', "say `--map response=FIELD`"),
        ("r.jsonl", b'{"text": "x"}', "say `--map problem_id=FIELD`"),
        ("r.json", b'[{"id": "fall", "text": "x"} {"id": "fall"}]', "no comma or end of the list"),
        ("r.json", b'[{"id": "fall", "text": "x"},', "Expecting value"),
        ("r.json", b"[1]", "an item of the list is no object"),
        ("r.csv", b"id,text\nfall\n", "line 2: not as many fields"),
        ("r.parquet", b"PAR1", "record|Parquet|parquet|magic"),
        ("r.jsonl.gz", b"\x1f\x8b", "Compressed file ended"),
        ("r.xml", b"", "ending '.xml'; expected"),
    ],
)
def test_a_broken_file_names_its_fault(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=told) as caught:
        scan(path, IDS)
    assert name in str(caught.value)


def test_a_missing_file_is_a_fault(tmp_path):
    with pytest.raises(DataFileError, match="No such file"):
        scan(tmp_path / "none.jsonl", IDS)
