"""A task of a judge: a folder with prompts, JSON Schemas of the replies, and a template of the findings.

`task.toml` says what a call is about and which calls there are; a prompt is a Jinja template; `results.jinja` makes of
the replies the lines that a protocol reads. All of it is data: nothing of a folder is run as code, and its templates
are rendered in Jinja's sandbox. An author's mistake is told when the task is loaded, all mistakes at once.

Refused: a reducer in Python. A folder from a stranger could then do whatever its reader can.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from jinja2 import TemplateError

from prism.errors import DataFileError, PrismError, importing, in_file, needs_extra
from prism.inputs import decode, did_you_mean, near_file, parse_json, parse_toml, read_bytes, shown
from prism.judging.rendering import Templates
from prism.problem.shapes import About, Flag, LoadReport, Style, Text, one_of, read_shape, value_if, whole_number
from prism.protocols.schemas import schema_names, schema_text

SHIPPED = Path(__file__).with_name("shipped")
TASK_FILE, FINDINGS_FILE = "task.toml", "findings.jinja"
MAX_BYTES = 1_000_000  # of a file of a task: prompts are pages
MAX_FILES = 100  # of a folder, all of which go into its digest
MAX_ROUNDS = 10  # times that a call may be sent back: each costs calls
NEEDS_JUDGE = needs_extra("`prism judge` needs", "judge")


class Input(StrEnum):
    """What the calls of a task are about, and so which files it reads."""

    ROLLOUTS = "rollouts"
    PARTS = "parts"
    TRACES = "traces"
    ANSWERS = "answers"
    RUBRICS = "rubrics"
    QUESTIONS = "questions"
    PROBLEMS = "problems"
    TEMPLATES = "templates"
    RECORDS = "records"


WITH_ROLLOUTS = frozenset((Input.ROLLOUTS, Input.PARTS, Input.TRACES, Input.ANSWERS, Input.RUBRICS))
"""Kinds of input that need the argument ROLLOUTS."""

CHECKS = ("problem", "rubric")
"""What a reply can be checked for beyond its schema."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the model.

    Attributes:
        name: within the task.
        prompt: file of the template.
        schema: the JSON Schema of the reply.
        needs: calls whose replies the prompt uses, that of `back_to` among them; it is made behind them.
        condition: a Jinja expression; the call is left out where it is false. Empty: always.
        check: of `CHECKS`: what else a reply has to fulfil.
        back_to: the call that is made anew where this one's reply does not accept; empty for none.
        accepting_key: the key of the reply that accepts.
        parameters: the table `with`, which the prompt sees as `call`.
    """

    name: str
    prompt: str
    schema: Mapping[str, Any] = field(hash=False)
    needs: tuple[str, ...] = ()
    condition: str = ""
    check: str = ""
    back_to: str = ""
    accepting_key: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Task:
    """A task that was loaded.

    Attributes:
        name: of its folder.
        about: what it asks, in a sentence.
        input: what a call is about.
        calls: in the order in which they are made.
        rounds: how often a call is asked again after a check, and sent back by a review.
        is_partial: findings are made though some calls have no reply that can be used; they lack what these would say.
        has_images: figures of the problem go along.
        findings: name of the protocol's schema that each finding has to fit; empty for none.
        templates: its prompts and `results.jinja`.
        sha256: of all its files.
    """

    name: str
    about: str
    input: Input
    calls: tuple[Call, ...]
    rounds: int
    is_partial: bool
    has_images: bool
    findings: str
    templates: Templates = field(compare=False)
    sha256: str = ""


def shipped_tasks() -> tuple[str, ...]:
    """Return the names of the shipped tasks, sorted."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{TASK_FILE}")))


def load_task(name: str) -> Task:
    """Load a shipped task by its name, or a user's own by its folder.

    Errors:
        PrismError: no such name or folder; the extra `judge` is not installed.
        DataFileError: all faults of the folder.
    """
    return _read_task(_folder_of(name))


def _folder_of(name: str) -> Path:
    """Return the folder of a task; raises PrismError if there is none."""
    if name in shipped_tasks():
        return SHIPPED / name
    path = Path(name)
    if name.strip() and (path / TASK_FILE).is_file():
        return path
    near = did_you_mean(name, shipped_tasks())
    what = (
        f"a folder without {TASK_FILE}" if name.strip() and path.is_dir() else "no shipped task, and no folder of one"
    )
    raise PrismError(f"task {shown(name)}: {what}; `prism judge --list` shows the shipped ones{near}")


class _Reader:
    """Reads a folder and collects its faults."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; nothing is read yet."""
        self.folder = folder
        self.faults: list[str] = []

    def text(self, name: str, where: str) -> str:
        """Return the text of a file of the folder; empty, with a fault, where there is none."""
        path = self.folder / name
        if not name or Path(name).name != name:
            self.faults.append(f"{where}: {shown(name)} is no name of a file in the folder")
            return ""
        try:
            return decode(read_bytes(path, MAX_BYTES))
        except PrismError as error:
            self.faults.append(f"{where}: {name} {error}{near_file(path)}")
            return ""

    def schema(self, name: str, where: str) -> Mapping[str, Any]:
        """Return the JSON Schema in a file; empty, with a fault, for what is none."""
        text = self.text(name, where)
        if not text:
            return {}
        try:
            found = parse_json(text)
        except PrismError as error:
            self.faults.append(f"{where}: {name} is no JSON: {error}")
            return {}
        if why := schema_fault(found):
            self.faults.append(f"{where}: {name} is no JSON Schema: {why}")
            return {}
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class _CallEntry:
    """A call as `task.toml` has it."""

    name: Text = ""
    prompt: Text = "prompt.jinja"
    schema: Text = "reply.schema.json"
    needs: tuple[Text, ...] = ()
    when: Text = ""
    check: Annotated[str, value_if(lambda value: value in ("", *CHECKS), f"is none of {', '.join(CHECKS)}")] = ""
    back_to: Text = ""
    unless: Text = ""
    with_: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _TaskFile:
    """`task.toml`."""

    about: Text = ""
    input: Annotated[Input, one_of(Input)] = Input.ROLLOUTS
    findings: Text = ""
    rounds: Annotated[int, whole_number(0, MAX_ROUNDS)] = 0
    partial: Flag = False
    images: Flag = False
    call: Annotated[tuple[_CallEntry, ...], About(fault="is no list; expected tables [[call]]")] = (_CallEntry(),)


def _read_task(folder: Path) -> Task:
    """Read the folder of a task.

    Errors:
        PrismError: the extra is not installed.
        DataFileError: all faults.
    """
    reader = _Reader(folder)
    name = str(folder / TASK_FILE)
    with in_file(name):
        table = parse_toml(decode(read_bytes(folder / TASK_FILE, MAX_BYTES)))
    report = LoadReport(reader.faults, [])
    file = read_shape(_TaskFile, table, report, Style(refuses_unknown=True))
    if file.findings and file.findings not in schema_names():
        near = did_you_mean(file.findings, schema_names())
        reader.faults.append(f"findings: no protocol has the schema {shown(file.findings)}{near}")
    calls: list[Call] = []
    for place, each in enumerate(file.call, start=1):
        calls.append(
            _call(reader, each, f"call, entry {place}", [one.name for one in calls], is_only=len(file.call) == 1)
        )
    if not calls and not report.tells_of("call"):
        reader.faults.append("call: is empty; expected tables [[call]]")
    templates = _read_templates(reader, tuple(calls))
    if reader.faults:
        raise DataFileError(name, tuple(reader.faults))
    return Task(
        folder.resolve().name, " ".join(file.about.split()), file.input, tuple(calls), file.rounds, file.partial,
        file.images, file.findings, templates, _sha256(folder),
    )  # fmt: skip


def _call(reader: _Reader, entry: _CallEntry, where: str, earlier: Sequence[str], *, is_only: bool) -> Call:
    """Return a call.

    Args:
        earlier: names of the calls before it.
        is_only: it may lack a name.
    """
    name, back_to = entry.name or ("reply" if is_only else ""), entry.back_to
    if not name.isidentifier() or name in earlier:
        why = "stands twice" if name in earlier else "is no name of letters, digits and underscores"
        reader.faults.append(f"{where}, name: {shown(name)} {why}")
    for key, names in {"needs": entry.needs, "back_to": (back_to,) if back_to else ()}.items():
        reader.faults += [f"{where}, {key}: {shown(one)} is no earlier call" for one in names if one not in earlier]
    if bool(back_to) != bool(entry.unless):
        reader.faults.append(f"{where}, back_to, unless: one of them is given, and not the other")
    needs = tuple(one for one in earlier if one in (*entry.needs, back_to))
    schema = reader.schema(entry.schema, f"{where}, schema")
    return Call(name, entry.prompt, schema, needs, entry.when, entry.check, back_to, entry.unless, entry.with_)


def _read_templates(reader: _Reader, calls: tuple[Call, ...]) -> Templates:
    """Return the templates of a folder, each of which has been compiled once, so that its faults are known."""
    templates = Templates(reader.folder)
    for name in dict.fromkeys((*(call.prompt for call in calls), FINDINGS_FILE)):
        if reader.text(name, "findings" if name == FINDINGS_FILE else "prompt"):
            try:
                templates.compile(name)
            except TemplateError as error:
                reader.faults.append(f"{name}: line {getattr(error, 'lineno', '?')}: {error.message}")
    for call in calls:
        if call.condition:
            try:
                templates.compile_condition(call.condition)
            except TemplateError as error:
                reader.faults.append(f"call {call.name}, when: {error.message}")
    return templates


def _sha256(folder: Path) -> str:
    """Return a digest of the files of a folder: names and content."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file())[:MAX_FILES]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


# Schemas. -------------------------------------------------------------------------------------------------------


def schema_fault(schema: Any) -> str:
    """Return why a value is no JSON Schema of an object; empty if it is one.

    Errors:
        PrismError: the extra `judge` is not installed.
    """
    with importing(NEEDS_JUDGE):
        from jsonschema import Draft202012Validator, SchemaError
    if not isinstance(schema, Mapping):
        return "it is no object"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return str(error.message)
    for reference in _references(schema):
        if not _is_within(schema, reference):
            return f"{shown(reference)} leads to nothing in this file; nothing else is read"
    if impossible := list(dict.fromkeys(_impossible(schema))):
        named = ", ".join(map(shown, impossible))
        return f"an object requires {named}, which is not among its properties, and allows no others: nothing fits"
    return "" if schema.get("type") == "object" else 'a reply is an object: it needs "type": "object"'


def _references(schema: Any) -> Iterator[Any]:
    """Yield what a schema refers to."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef"):
                yield value
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def _impossible(schema: Any) -> Iterator[str]:
    """Yield the keys that an object has to have, and may not."""
    if isinstance(schema, Mapping):
        required, known = schema.get("required"), schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
        if is_closed and isinstance(required, list):
            yield from (key for key in required if key not in known)
    for each in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from _impossible(each)


def _is_within(schema: Any, reference: Any) -> bool:
    """Return True for a reference `#`, or `#/$defs/name`, to an object that the schema has."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return False
    found = schema
    for key in reference[1:].split("/")[1:]:
        found = found.get(key) if isinstance(found, Mapping) else None
    return isinstance(found, Mapping)


def value_misfits(value: Any, schema: Mapping[str, Any], *, most: int = 5) -> list[str]:
    """Return how a value does not fit a schema, at most so many faults, each with its place; empty if it fits."""
    from jsonschema import Draft202012Validator

    faults = sorted(Draft202012Validator(schema).iter_errors(value), key=lambda each: [str(key) for key in each.path])
    return [f"{'.'.join(map(str, each.path)) or 'the object'}: {shown(each.message, 200)}" for each in faults[:most]]


def protocol_schema(name: str) -> Mapping[str, Any]:
    """Return the JSON Schema of what a protocol reads."""
    found: Mapping[str, Any] = json.loads(schema_text(name))
    return found
