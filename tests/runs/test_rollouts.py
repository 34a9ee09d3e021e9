import csv
import gzip
import json
from pathlib import Path
from typing import Any

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


def test_a_field_that_one_record_lacks_is_no_field_of_it_in_parquet_either(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [ROWS[0], {key: value for key, value in ROWS[1].items() if key != "model"}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet")
    assert [one.meta for one in _all(tmp_path / "r.jsonl")] == [{"model": ROWS[0]["model"]}, {}]
    assert _all(tmp_path / "r.parquet") == _all(tmp_path / "r.jsonl")


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


def test_texts_to_a_single_problem_may_have_any_names(tmp_path):
    for name in ("ann", "ben"):
        (tmp_path / f"{name}.md").write_text("$v = gt$", encoding="utf-8")
    found = read(tmp_path, scan(tmp_path, ("fall",)).fields, ("fall",))
    assert [(one.problem_id, one.sample_id) for one in found] == [("fall", "ann.md"), ("fall", "ben.md")]
    (tmp_path / "spring").mkdir()
    (tmp_path / "spring" / "cid.md").write_text("$F = -kx$", encoding="utf-8")
    with pytest.raises(DataFileError, match=r'"spring" \(field problem_id\); the one problem is "fall"'):
        scan(tmp_path, ("fall",))


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
        'line 2: no problem has the id "fell"; did you mean "fall"?',
        "line 3: no field text; the fields are id",
        "line 4: no problem id in the field id; the fields are text",
    ]
    assert told[3].startswith("line 5: solution: found")


def test_of_many_faults_some_are_told_and_the_rest_counted(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(
        "\n".join([json.dumps({"id": f"{k}" + "x" * 900, "text": "x"}) for k in range(30)]), encoding="utf-8"
    )
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
        ("r.jsonl", b"3", "line 1: no object, but int"),
        ("r.jsonl", b"\xff\xfe", "is text in UTF-16"),
        ("r.jsonl", b"", "no rollouts"),
        ("r.jsonl", b'{"id": "fall"}', "say `--map response=FIELD`"),
        ("r.jsonl", b'{"text": "x"}', "say `--map problem_id=FIELD`"),
        ("r.json", b'[{"id": "fall", "text": "x"} {"id": "fall"}]', "no comma or end of the list"),
        ("r.json", b'[{"id": "fall", "text": "x"},', "Expecting value"),
        ("r.json", b"[1]", "item 1: no object, but int"),
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


# Faults. --------------------------------------------------------------------------------------------------------


def _faults(path: Path, ids=IDS, **options) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as caught:
        scan(path, ids, **options)
    return caught.value.faults


def _lines(folder: Path, *lines: object) -> Path:
    path = folder / "r.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return path


def test_each_broken_line_is_told_beside_faults_of_records(tmp_path):
    good = {"id": "fall", "text": "x"}
    path = _lines(
        tmp_path, good, b'{"id": ', b"", b'{"id": "fall", "text": "\xe9"}', {"id": "fell", "text": "x"},
        b'{"id": ' + b"9" * 10_000 + b', "text": "x"}', b"[" * 5000, b"3", good, {"id": "fall"}, b'"\xff\xfe"',
        b'{"id": "fall", "text": "x", "meta": {}, "text": "y", "meta": {}}',
    )  # fmt: skip
    assert [fault[:60] for fault in _faults(path)] == [
        "line 2: no JSON: Expecting value: column 8 (char 7)",
        "line 4: is not UTF-8: byte 24 of the line cannot be read",
        'line 5: no problem has the id "fell"; did you mean "fall"?',
        "line 6: no JSON: a whole number of 10000 digits; at most 300",
        "line 7: no JSON: nested too deeply",
        "line 8: no object, but int",
        "line 10: no field text; the fields are id",
        "line 11: is not UTF-8: byte 1 of the line cannot be read",
        'line 12: no JSON: key "meta", "text" stands twice in one obj',
    ]


def test_broken_lines_are_told_where_no_field_is_found(tmp_path):
    told = _faults(_lines(tmp_path, {"a": 1}, b"{", {"b": 2}, b"}"))
    assert told[0].startswith("line 1: no solution among the fields a")
    assert [fault[:7] for fault in told] == ["line 1:", "line 1:", "line 2:", "line 3:", "line 3:", "line 4:"]
    assert told[4] == "line 3: no problem id among the fields b; say `--map problem_id=FIELD`"


def test_of_many_broken_lines_the_rest_is_counted(tmp_path):
    assert _faults(_lines(tmp_path, *(b"{" + b" " * k for k in range(1000))))[-1] == "and 980 more"


def test_equal_faults_are_one(tmp_path):
    rows = [b"", *[{"id": "fall", "answer": "x"}] * 400, {"id": "fell", "answer": "x"}]
    assert _faults(_lines(tmp_path, *rows), mapping={"response": "text"}) == (
        "line 2: no field text; the fields are id, answer; 400 more like it, the last in line 402",
        'line 402: no problem has the id "fell"; did you mean "fall"?',
    )


def test_a_place_is_the_first_line_of_a_record_or_its_item(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'id,text\n\nfall,"$v = gt$\nand so on"\nfell,"a\nb"\n')
    (tmp_path / "b.json").write_bytes(b'[{"id": "fall", "text": "x"},\n\n{"id": "fell", "text": "x"}]')
    told = 'no problem has the id "fell"; did you mean "fall"?'
    assert _faults(tmp_path / "a.csv") == (f"line 5: {told}",)
    assert _faults(tmp_path / "b.json") == (f"item 2: {told}",)


def test_solutions_that_are_null_are_counted_and_fields_of_no_record_named(tmp_path):
    rows = [b"", {"id": "fall", "text": "x", "level": 3}, {"id": "fall", "text": None}, {"id": "fall", "text": None}]
    found = scan(_lines(tmp_path, *rows), IDS, keep=("model", "modle", "level"))
    assert (found.n, found.n_null, found.first_null, found.absent) == (3, 2, "line 3", ("modle",))


def test_values_of_a_caller_are_answered_without_options_of_the_command_line():
    for record, told in (
        ({"id": "fall"}, "no solution among the fields id; name that field response"),
        ({"text": "x"}, "no problem id among the fields text; name that field problem_id"),
        ({"id": "sprin", "text": "x"}, 'no problem has the id "sprin"; did you mean "spring"?'),
        (Rollout("sprin", "x", "1"), 'no problem has the id "sprin"; did you mean "spring"?'),
    ):
        with pytest.raises(PrismError) as caught:
            list(rollouts_of(iter([record]), IDS))
        assert str(caught.value) == f"rollout 1: {told}"


def test_all_files_of_a_folder_are_looked_at(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"{")
    (tmp_path / "b.csv").write_bytes(b"id,text\nfall\nfell,x\n")
    (tmp_path / "c.json").write_bytes(b'[{"id": "fall", "text": "x"}, 3, {"id": "fall" "text"}]')
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(b'{"id": "fall", "text": "x"}')[:-9])
    (tmp_path / "e.parquet").write_bytes(b"PAR1")
    told = [fault.split(": ") for fault in _faults(tmp_path)]
    assert [each[0] for each in told] == ["a.jsonl", "b.csv", "b.csv", "c.json", "c.json", "d.jsonl.gz", "e.parquet"]
    assert [each[1] for each in told[1:5]] == ["line 2", "line 3", "item 2", "item 3"]


def test_texts_that_are_none_are_named(tmp_path):
    (tmp_path / "fall").mkdir()
    for name, raw in (
        ("a", b"%PDF-1.4"),
        ("b", b"$v = gt$"),
        ("c", b"\xff\xfe$\0"),
        ("d", b"x\n\xe9"),
        ("e", b"a b c\0"),
    ):
        (tmp_path / "fall" / f"{name}.md").write_bytes(raw)
    scanned = scan(tmp_path, IDS)
    assert scanned.n == 1
    assert tuple(f"{file.place}: {file.reason}" for file in scanned.left_out) == (
        "fall/a.md: is a PDF file; text in UTF-8 is read",
        "fall/c.md: is text in UTF-16; text in UTF-8 is read",
        "fall/d.md: is not UTF-8: byte 2 (in line 2) cannot be read",
        "fall/e.md: is binary: byte 5 is NUL; text in UTF-8 is read",
    )


@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.csv", "r.tsv", "r.jsonl.gz"])
@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"%PDF-1.4", "is a PDF file; its name says"),
        ('{"id": "fall"}'.encode("utf-16"), "is text in UTF-16"),
        ('{"id": "fall"}'.encode("utf-16-le"), "is text in UTF-16"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"id,text\0", "is binary: byte 7 is NUL"),
    ],
)
def test_files_of_other_formats_are_named(tmp_path, name, raw, told):
    path = tmp_path / name
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    (fault,) = _faults(path)
    assert told in fault


@pytest.mark.parametrize("name", ["r.json", "r.csv"])
def test_the_first_byte_that_is_no_utf_8_is_named(tmp_path, name):
    good = b'[{"id": "fall",\n "text": "' if name == "r.json" else b'id,text\nfall,"'
    path = tmp_path / name
    path.write_bytes(good + "\u00b5".encode() * 50_000 + b"\n\xe9")
    (fault,) = _faults(path)
    line = good.count(b"\n") + 2
    assert fault == f"line {line}: is not UTF-8: byte {len(good) + 100_001} of the file cannot be read"
    for raw, at in ((b"\xe9 x", 0), (b"x" * 90_000 + b"x\xff x", 90_001), (b"\xc2\xb5" * 40_000 + b"\xc2", 80_000)):
        path.write_bytes(good + raw)
        assert f"byte {len(good) + at} of the file" in _faults(path)[0]


def test_a_compressed_file_without_end_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr("prism.runs.records.MAX_RECORD", 1000)
    long = b'{"id": "fall", "text": "' + b"x" * 10_000
    cases = {"r.jsonl.gz": b'\n{"id": "fall", "text": "x"}', "r.json.gz": b"", "s.json.gz": b""}
    for (name, tail), head in zip(cases.items(), (b"", b"", b"["), strict=True):
        path = tmp_path / name
        path.write_bytes(gzip.compress(head + long + tail))
        assert "1000 " in _faults(path)[0] or "too long" in _faults(path)[0]


# Ids. -----------------------------------------------------------------------------------------------------------


def test_rollouts_with_the_same_ids_are_told(tmp_path):
    rows = [("fall", "a"), ("spring", "a"), ("fall", "b"), ("fall", "a"), ("fall", "b"), ("fall", "a")]
    path = _lines(tmp_path, *({"problem_id": p, "sample_id": s, "text": "x"} for p, s in rows))
    hint, *told = _faults(path)
    assert hint.startswith("the sample ids are those of the field sample_id: `--map sample_id=FIELD` names another")
    assert told == [
        'line 4: problem "fall", sample "a" stands in line 1 too; 1 more like it, the last in line 6',
        'line 5: problem "fall", sample "b" stands in line 3 too',
    ]
    assert scan(path, IDS, mapping={"sample_id": "none"}).n == 6


def test_numbers_of_records_are_no_ids_twice(tmp_path):
    rows = [{"id": "fall", "text": "x"}] * 5
    assert [one.sample_id for one in _all(_lines(tmp_path, *rows))] == ["1", "2", "3", "4", "5"]
    several = [{"problem_id": "fall", "completions": ["x", "x"]}] * 2
    assert [one.sample_id for one in _all(_lines(tmp_path, *several))] == ["1/1", "1/2", "2/1", "2/2"]
    mixed = [{"problem_id": "fall", "sample_id": 2, "text": "x"}, {"problem_id": "fall", "text": "x"}]
    assert "line 2: problem" in _faults(_lines(tmp_path, *mixed))[1]


def test_two_ids_with_one_hash_are_two_ids(tmp_path, monkeypatch):
    monkeypatch.setattr("prism.runs.rollouts.hash", lambda _: 7, raising=False)
    rows = [{"problem_id": "fall", "sample_id": name, "text": "x"} for name in "abc"]
    assert scan(_lines(tmp_path, *rows), IDS).n == 3


@pytest.mark.parametrize("field", ["problem_id", "task_id", "question_id", "doc_id"])
def test_records_of_another_problem_than_the_one_are_refused(tmp_path, field):
    path = _lines(tmp_path, *({field: name, "text": "x"} for name in ("spring", "fall", "7")))
    assert _faults(path, ("fall",)) == (
        f'line 1: no problem has the id "spring" (field {field}); the one problem is "fall"',
        f'line 3: no problem has the id "7" (field {field}); the one problem is "fall"',
    )
    with pytest.raises(PrismError, match='the one problem is "fall"'):
        list(rollouts_of(iter([{field: "spring", "text": "x"}]), ("fall",)))
    assert scan(path, ("fall",), mapping={"sample_id": field}).n == 3


def test_records_of_one_problem_may_have_other_fields(tmp_path):
    rows = [{"problem": "A stone falls.", "custom_id": f"request-{k}", "id": k, "text": "x"} for k in range(3)]
    found = list(read(path := _lines(tmp_path, *rows), scan(path, ("fall",)).fields, ("fall",)))
    assert [(one.problem_id, one.sample_id) for one in found] == [("fall", f"request-{k}") for k in range(3)]


def test_what_json_cannot_hold_is_a_fault_of_its_record():
    ring: list[object] = []
    ring.append(ring)
    for value in (ring, {(1, 2): 3}):
        with pytest.raises(PrismError, match="rollout 1: field model: holds what JSON cannot hold"):
            list(rollouts_of(iter([{"text": "x", "model": value}]), ("fall",)))


def test_an_id_cannot_speak_to_the_terminal(tmp_path):
    (fault,) = _faults(_lines(tmp_path, {"id": "\x1b[2J\ud800", "text": "x"}))
    assert fault == r'line 1: no problem has the id "\x1b[2J\ud800"'


MIXED: list[dict[str, Any]] = [
    {"id": "pulley", "problem": "A pulley ...", "uid": "1", "response": "$a = g/3$"},
    {"id": "fall", "problem": "A stone ...", "uid": "2", "response": "$v = gt$"},
    {"id": "pulley", "problem": "A pulley ...", "uid": "2", "response": 7},
    {"id": "sprin", "problem": "A spring ...", "uid": "2", "response": ""},
    {"id": "spring", "problem": "A spring ...", "response": "$F = -kx$"},
]


@pytest.mark.parametrize("ids", [IDS, ("fall",)])
def test_records_of_unknown_problems_can_be_skipped(tmp_path, ids):
    """The first record names no known problem, and so does not tell in which field the ids stand; the second does."""
    path = _lines(tmp_path, *MIXED)
    scanned = scan(path, ids, skip_unknown=True)
    found = [(one.problem_id, one.sample_id) for one in read(path, scanned.fields, ids)]
    assert found == [("fall", "2"), ("spring", "5")][: len(ids)]
    assert scanned.n == len(found)
    assert scanned.skipped == {"pulley": 2, "sprin": 1} | ({} if len(ids) == 2 else {"spring": 1})
    with pytest.raises(DataFileError, match="A pulley"):
        scan(path, IDS)


def test_skipping_hides_no_other_fault(tmp_path):
    rows = [MIXED[0], MIXED[1], {**MIXED[1], "id": None}, {**MIXED[1], "response": 7}, MIXED[1]]
    with pytest.raises(DataFileError) as caught:
        scan(_lines(tmp_path, *rows), IDS, skip_unknown=True)
    told = "\n".join(caught.value.faults)
    assert ("line 3: no problem id" in told, "line 4" in told, "stands in line 2 too" in told) == (True, True, True)
    assert "pulley" not in told


def test_an_input_of_unknown_problems_only_is_a_fault(tmp_path):
    with pytest.raises(DataFileError, match=r'the id of any of 2 records, the first "falll"; did you mean "fall"\?'):
        scan(_lines(tmp_path, {"problem_id": "falll", "response": ""}, {"problem_id": "x", "response": ""}), IDS,
             skip_unknown=True)  # fmt: skip


def test_without_ids_nothing_can_be_skipped(tmp_path):
    with pytest.raises(DataFileError, match="--map problem_id=FIELD"):
        scan(_lines(tmp_path, {"response": "$v = gt$"}), ("fall",), skip_unknown=True)
