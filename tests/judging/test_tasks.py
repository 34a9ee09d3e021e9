"""Tasks of a user's own: what an author can get wrong is told at once, and nothing of a folder is run as code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.judging.conversations import ASKED_FOR
from prism.judging.imitation import imitated_reply
from prism.judging.tasks import load_task
from tests.support.imitation import imitating, prompt_of

GOOD = {
    "task.toml": 'about = "Is it polite?"\ninput = "records"\n',
    "prompt.jinja": "Is this polite?\n{{ record.text | fenced }}",
    "reply.schema.json": '{"type": "object", "required": ["polite"], "properties": {"polite": {"type": "boolean"}}}',
    "findings.jinja": '{{ {"id": id, "polite": reply.polite} | tojson }}',
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("records.jsonl").write_text('{"id": "r1", "text": "Thank you."}\n{"id": "r2", "text": "No."}\n')


def write_task(**changed: str) -> Path:
    folder = Path("polite")
    folder.mkdir(exist_ok=True)
    for name, text in {**GOOD, **{key.replace("__", "."): text for key, text in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def judge(*more: str) -> Any:
    with imitating() as own:
        words = ["judge", "polite", "records.jsonl", "--endpoint", own.url, "--model", "m", "-o", "out.jsonl", *more]
        done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done, own


def test_a_folder_is_a_task() -> None:
    write_task()
    done, own = judge()
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["r1", "r2"]
    assert rows[0]["judged"]["task"] == "polite"
    start = "Is this polite?\n```\nThank you.\n```\n\nReply with one JSON"
    assert any(prompt_of(body).startswith(start) for body in own.bodies.values())


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("task.toml", "about = ", "Invalid value"),
        ("task.toml", 'input = "record"', "did you mean records"),
        ("task.toml", 'finding = "psas_findings"', 'did you mean "findings"'),
        ("task.toml", 'findings = "psas_finding"', 'did you mean "psas_findings"'),
        ("task.toml", "rounds = 99", "is no whole number 0..10"),
        ("task.toml", 'rounds = "3"', "is no whole number"),
        ("task.toml", "call = 3", "expected tables [[call]]"),
        ("task.toml", '[[call]]\nname = "a b"', "is no name"),
        ("task.toml", '[[call]]\nname = "a"\n[[call]]\nname = "a"', "stands twice"),
        ("task.toml", '[[call]]\nname = "a"\nneeds = ["b"]', '"b" is no earlier call'),
        ("task.toml", '[[call]]\nname = "a"\ncheck = "poem"', "is none of problem"),
        ("task.toml", '[[call]]\nname = "a"\n[[call]]\nname = "b"\nback_to = "a"', "back_to, unless"),
        ("task.toml", '[[call]]\nname = "a"\nwhen = "1 +"', "call a, when"),
        ("task.toml", '[[call]]\nname = "a"\nprompt = "../prompt.jinja"', "is no name of a file in the folder"),
        ("task.toml", '[[call]]\nname = "a"\nprompt = "promt.jinja"', 'did you mean "prompt.jinja"'),
        ("prompt.jinja", "{% if x %}", "prompt.jinja: line"),
        ("findings.jinja", "{{ a b }}", "findings.jinja: line 1"),
        ("reply.schema.json", "{", "is no JSON"),
        ("reply.schema.json", '{"type": "objekt"}', "is no JSON Schema"),
        ("reply.schema.json", '{"type": "array"}', "a reply is an object"),
        ("reply.schema.json", '{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}', "leads to nothing"),
        ("reply.schema.json", '{"type": "object", "allOf": [{"$ref": "http://127.0.0.1:9/a"}]}', "leads to nothing"),
        ("task.toml", '[[call]]\nname = "a"\nneeds = [["b"], 3]', "is no text"),
        (
            "reply.schema.json",
            '{"type": "object", "required": ["a", "why"], "additionalProperties": false, "properties": {"a": {}}}',
            'requires "why", which is not among its properties, and allows no others: nothing fits',
        ),
        (
            "reply.schema.json",
            '{"type": "object", "properties": {"a": {"items": {"required": ["b"], "additionalProperties": false}}}}',
            'requires "b"',
        ),
    ],
)
def test_a_fault_of_a_task_is_told_before_anything_is_asked(file: str, text: str, told: str) -> None:
    write_task(**{file.replace(".", "__"): text})
    done, own = judge()
    assert done.exit_code == 3
    assert told in done.stderr
    assert not own.asked


def test_a_required_entry_that_a_schema_allows_otherwise_is_no_fault() -> None:
    schemas = (
        '{"type": "object", "required": ["polite"]}',
        '{"type": "object", "required": ["p1"], "patternProperties": {"^p": {}}, "additionalProperties": false}',
        '{"type": "object", "properties": {"required": {"enum": [1]}, "additionalProperties": {}}}',
    )
    for schema in schemas:
        write_task(reply__schema__json=schema)
        assert load_task("polite").calls


def test_all_faults_of_a_task_are_told_at_once() -> None:
    write_task(task__toml='input = "x"\nrounds = -1\nabot = 1', reply__schema__json="[]", prompt__jinja="{{")
    with pytest.raises(DataFileError) as told:
        load_task("polite")
    assert len(told.value.faults) == 5


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("prompt.jinja", "{{ record.txt }}", "polite/prompt.jinja: line 1: 'dict object' has no attribute 'txt'"),
        ("prompt.jinja", "{{ nothing }}", "'nothing' is undefined"),
        ("prompt.jinja", "{{ ''.__class__.__mro__ }}", "polite/prompt.jinja"),
        ("prompt.jinja", "{{ record.update({'a': 1}) }}", "polite/prompt.jinja"),
        ("prompt.jinja", "{% include '../records.jsonl' %}", "polite/prompt.jinja"),
        ("findings.jinja", "polite: {{ reply.polite }}", "a line is no JSON"),
        ("findings.jinja", "[1]", "a line is no JSON object"),
        ("findings.jinja", "{{ {'a': 1 / 0} | tojson }}", "polite/findings.jinja: line 1: division by zero"),
    ],
)
def test_what_a_template_cannot_say_is_told_with_its_file(file: str, text: str, told: str) -> None:
    write_task(**{file.replace(".", "__"): text})
    done, own = judge()
    assert done.exit_code == 3
    assert told in done.stderr
    assert not Path("out.jsonl").exists()
    assert bool(own.asked) == (file != "prompt.jinja")
    told_on = "kept in out.jsonl.replies.jsonl; mend findings.jinja, and the same command makes findings of them"
    assert (told_on in done.stderr) == bool(own.asked)


def test_findings_that_a_protocol_does_not_read_are_told() -> None:
    write_task(task__toml='input = "records"\nfindings = "psas_findings"')
    done, _ = judge()
    assert done.exit_code == 3
    assert "a finding that the protocol does not read" in done.stderr


def test_a_changed_prompt_is_asked_anew_and_changed_findings_are_not() -> None:
    write_task()
    assert len(judge()[1].asked) == 2
    write_task(findings__jinja='{{ {"id": id, "rude": not reply.polite} | tojson }}')
    done, own = judge()
    assert (done.exit_code, len(own.asked)) == (0, 0)
    assert '"rude"' in Path("out.jsonl").read_text()
    write_task(prompt__jinja="Is that polite?\n{{ record.text }}")
    assert len(judge("--force")[1].asked) == 2


def test_a_call_may_need_another_and_is_left_out_where_it_does_not_apply() -> None:
    write_task(
        task__toml="""
            input = "records"
            [[call]]
            name = "first"
            [[call]]
            name = "second"
            needs = ["first"]
            when = "record.text != 'No.'"
            [[call]]
            name = "third"
            needs = ["second"]
        """,
        prompt__jinja="{{ call.name }} {{ record.text }} {{ replies | tojson }}",
        findings__jinja='{{ {"id": id, "made": replies | list} | tojson }}',
    )
    done, own = judge()
    assert done.exit_code == 0, done.output
    made = {row["id"]: row["made"] for row in map(json.loads, Path("out.jsonl").read_text().splitlines())}
    assert made == {"r1": ["first", "second", "third"], "r2": ["first"]}
    assert len(own.asked) == 4
    assert any('second Thank you. {"first": {"polite"' in prompt_of(body) for body in own.bodies.values())
    assert any('third Thank you. {"second": {"polite"' in prompt_of(body) for body in own.bodies.values())


def test_a_prompt_does_not_depend_on_which_reply_came_first() -> None:
    write_task(
        task__toml='input = "records"\n[[call]]\nname = "a"\n[[call]]\nname = "b"',
        prompt__jinja="{{ call.name }} {{ record.text }} {{ replies | tojson }}",
        findings__jinja='{{ {"id": id} | tojson }}',
    )
    assert len(judge("--at-once", "1")[1].asked) == 2 * 2
    assert not judge()[1].asked


def test_records_are_named_by_their_ids() -> None:
    write_task()
    Path("records.jsonl").write_text('{"id": "a", "text": ""}\n{"id": "a", "text": ""}\n{"text": ""}\n')
    done, own = judge()
    assert done.exit_code == 3
    assert 'id "a" stands in line 1 too' in done.stderr
    assert "id: is missing" in done.stderr
    assert not own.asked


def test_a_name_that_is_no_task_is_told_with_the_nearest_one() -> None:
    Path("empty").mkdir()
    with pytest.raises(PrismError, match=r"a folder without task\.toml"):
        load_task("empty")
    with pytest.raises(PrismError, match='did you mean "engjudge"'):
        load_task("engjudg")


def test_shipped_tasks_are_listed() -> None:
    done = CliRunner().invoke(app, ["judge", "--list"])
    assert done.exit_code == 0
    assert "engtrace-tribunal" in done.stdout


def test_the_imitation_gives_marks_over_their_whole_range() -> None:
    schema = {
        "type": "object",
        "required": ["mark", "share", "count"],
        "properties": {
            "mark": {"type": "integer", "minimum": 1, "maximum": 5},
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "count": {"type": "integer", "minimum": 3},
        },
    }
    said = [json.loads(imitated_reply(f"{n}{ASKED_FOR}{json.dumps(schema)}")) for n in range(60)]
    assert {each["mark"] for each in said} == {1, 2, 3, 4, 5}
    assert {each["share"] for each in said} == {0}
    assert {each["count"] for each in said} == {3}
    assert said[0] == json.loads(imitated_reply(f"0{ASKED_FOR}{json.dumps(schema)}"))


LAWS = {
    "reply__schema__json": json.dumps({
        "type": "object", "required": ["laws"], "additionalProperties": False,
        "properties": {"laws": {"type": "array", "items": {
            "type": "object", "required": ["law"], "properties": {"law": {"type": "string"}}}}},
    }),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ {'a': reply.lwas} | tojson }}", "polite/findings.jinja: line 1: 'dict object' has no attribute 'lwas'"),
        ("{# one #}\n{% for each in reply.laws %}\n{{ each.name }}\n{% endfor %}", "line 3: 'dict object' has no"),
        ("{{ {'a': problem_id} | tojson }}", "line 1: 'problem_id' is undefined"),
        ("{{ {'a': replies.other.laws} | tojson }}", "no attribute 'other'"),
        ("{% include 'more.jinja' %}", "polite/more.jinja: line 2: 'wrong' is undefined"),
    ],
)
@pytest.mark.parametrize("door", ["--dry-run", "--force"])
def test_a_wrong_name_in_findings_is_told_before_anything_is_asked(text: str, told: str, door: str) -> None:
    folder = write_task(findings__jinja=text, **LAWS)
    (folder / "more.jinja").write_text("\n{{ wrong }}")
    done, own = judge(door)
    assert done.exit_code == 3
    assert told in done.stderr
    assert not own.asked
    assert not done.stdout


def test_a_wrong_name_in_the_prompt_of_a_later_call_is_told_before_anything_is_asked() -> None:
    write_task(
        task__toml='input = "records"\n[[call]]\nname = "a"\n[[call]]\nname = "b"\nneeds = ["a"]\nprompt = "b.jinja"',
        b__jinja="{{ replies.a.polit }}",
        findings__jinja="{}",
    )
    done, own = judge()
    assert done.exit_code == 3
    assert "polite/b.jinja: line 1: 'dict object' has no attribute 'polit'" in done.stderr
    assert not own.asked


def test_a_schema_that_the_imitation_does_not_know_is_told() -> None:
    write_task(reply__schema__json='{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}')
    done = CliRunner().invoke(app, ["judge", "polite", "records.jsonl", "--endpoint", "imitation", "-o", "out.jsonl"])
    assert done.exit_code == 3, done.output
    assert "knows only a part of JSON Schema" in done.stderr


@pytest.mark.parametrize(
    ("schema", "findings"),
    [
        ('"properties": {"laws": {"type": "array"}}', "{{ {'a': 1 / (reply.laws | length)} | tojson }}"),
        ('"properties": {"laws": {"$ref": "#/definitions/laws"}}, "definitions": {"laws": {}}', "{{ reply | tojson }}"),
        ('"properties": {"laws": {"$ref": "#"}}', "{{ reply | tojson }}"),
        ('"properties": {"laws": true}', "{{ reply | tojson }}"),
        ('"properties": {"laws": {"type": "string", "pattern": "^[a-d]$"}}', "{{ {'a': reply.laws} | tojson }}"),
    ],
)
def test_what_only_an_imitation_cannot_say_is_no_fault(schema: str, findings: str) -> None:
    write_task(reply__schema__json=f'{{"type": "object", "required": ["laws"], {schema}}}', findings__jinja=findings)
    done, _ = judge("--dry-run")
    assert done.exit_code == 0, done.output
