"""Runs the rows of `tests/cases/`; the keys stand in `tests/cases/README.md`. One pytest id a row."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import pytest

from tests.support import case_rows
from tests.support.case_rows import told, told_grade, told_verdict, wanted

CASES = Path(__file__).parent / "cases"
ROUNDED = Fraction(1, 10**6)  # a score is rounded once, to six digits

# What a row may leave out: with these reasons the status needs no further word.
PLAIN_REASONS = {
    "equivalent": ("same_form", "same_zero_set", "same_value", "same_number"),
    "different": (
        "witness",
        "live_variables",
        "condition",
        "identity",
        "exact",
        "ratio",
        "other_factor",
        "kind",
        "other_number",
        "unstated",
        "dimension",
    ),
    "undecided": (),
}


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys that every row may have; a key that no class below names is refused."""

    id: str
    source: str
    about: str = ""
    known_gap: str = ""


class ParseRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    latex: str
    canonical: str | None = None
    error: str | None = None


class ExtractRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    formulas: list[str]
    kinds: list[str] | None = None
    announced: list[str] | None = None


class QuantityRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    value: float | None = None
    unit: str | None = None
    error: str | None = None


class EquivalenceRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    a: str
    b: str
    expect: Literal["equivalent", "different", "undecided"]
    reason: str | list[str] = []
    context: dict[str, Any] = {}
    near_misses: list[str] = []

    @property
    def reasons(self) -> tuple[str, ...]:
        named = (self.reason,) if isinstance(self.reason, str) else tuple(self.reason)
        return named or PLAIN_REASONS[self.expect]


class StatementRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    givens: list[str] = []
    conditions: list[str] = []
    definitions: list[str] = []
    functions: list[str] = []
    ambiguous: list[str] = []


class AnswerRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    instructions: str
    options: list[str] | None = None
    reference: str = ""
    question: str = ""
    solution: str = ""
    expect: Literal["equivalent", "different", "undecided"] | None = None
    near_misses: list[str] = []


class VerifyRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    gold: str
    box: str
    question: str = ""
    exact: bool | None = None
    expect: Literal["equivalent", "different", "undecided"] = "equivalent"
    near_misses: list[str] = []


class LinkRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chain: str
    expect: Literal["confirmed", "refuted", "approximate", "undecided"]
    reason: str
    context: dict[str, Any] = {}


class PartsRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    parts: list[str]
    letters: tuple[str, ...] = ("a", "b")
    near_misses: list[str] = []


class GradingRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    problem: str | dict[str, Any]
    solution: str
    matched: list[int]
    credited: list[int]
    score: str
    flags: list[str] | None = None
    alternative: str = ""


class RuleRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    problem: str = ""
    statement: str = ""
    steps: list[str] = []
    answers: list[str] = []
    keys: dict[str, Any] = {}
    alternative: str | None = None
    looked_at: list[int] = []
    counts: list[str] = []
    earns_nothing: list[str] = []

    @property
    def source_of_problem(self) -> Any:
        """The shipped problem, or one of the row's own: each step rests on the one before, the answers on all steps."""
        from prism.resources import resource

        if self.problem:
            return resource(f"dags/{self.problem}")
        steps = [
            {"index": k, "formula": each, "dependency": [k - 1] if k > 1 else []}
            for k, each in enumerate(self.steps, start=1)
        ]
        rest = [len(steps)] if steps else []
        answers = [
            {"index": k, "formula": each, "dependency": rest, "is_final_answer": True}
            for k, each in enumerate(self.answers, start=len(steps) + 1)
        ]
        return {"id": self.id, "context": self.statement, "grading_standard": steps + answers, **self.keys}

    @property
    def nodes_looked_at(self) -> set[int]:
        """The nodes that a text is to match, or not: the answers, unless the row names others."""
        return set(self.looked_at or range(len(self.steps) + 1, len(self.steps) + len(self.answers) + 1))


class DiagnosisRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    problem: str | dict[str, Any]
    solution: str
    found: list[str]


class LintRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    problem: dict[str, Any]
    faults: list[tuple[str, str]] = []
    warnings: list[tuple[str, str]] = []
    notes: list[tuple[str, str]] | None = None
    near_misses: list[dict[str, Any]] = []


R = TypeVar("R", bound=Row)


def load(path: Path, kind: type[R]) -> list[R]:
    """Rows of one file, checked whole."""
    shape = msgspec.defstruct("File", [("case", list[kind])], forbid_unknown_fields=True)  # type: ignore[valid-type]
    try:
        rows: list[R] = msgspec.toml.decode(path.read_bytes(), type=shape).case  # type: ignore[attr-defined]
    except msgspec.MsgspecError as fault:
        faults = case_rows.row_faults(path.read_text("utf-8"), kind) or [str(fault)]
        raise ValueError("\n".join(f"{path.parent.name}/{path.name}: {each}" for each in faults)) from None
    ids = [row.id for row in rows]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise ValueError(f"{path.parent.name}/{path.name}: two rows have the id {', '.join(twice)}")
    for row in rows:
        if isinstance(row, EquivalenceRow) and not row.reasons:
            raise ValueError(f"{path.name}: row {row.id} expects `undecided` and needs a reason")
        if isinstance(row, ParseRow) and (row.canonical is None) == (row.error is None):
            raise ValueError(f"{path.name}: row {row.id} needs `canonical` or `error`, and not both")
        if isinstance(row, QuantityRow) and len({row.value is None, row.unit is None, row.error is not None}) > 1:
            raise ValueError(f"{path.name}: row {row.id} needs `value` and `unit`, or `error`")
        if isinstance(row, AnswerRow) and (row.options is None) != (row.expect is not None and bool(row.reference)):
            raise ValueError(f"{path.name}: row {row.id} needs `options`, or `reference`, `solution` and `expect`")
    return rows


def sound_rows(path: Path, kind: type[R]) -> list[R]:
    """Rows of one file; none of a file with faults, which `test_every_file_of_rows_is_sound` tells.

    The faults of a file that this run asks for by the id of a row are raised at once: all other tests are left out.
    """
    try:
        return load(path, kind)
    except ValueError as fault:
        if case_rows.asked_files is not None:
            raise
        case_rows.unsound[path] = str(fault)
        return []


def cases(folder: str, kind: type[R]) -> Iterator[tuple[str, R]]:
    for path in sorted((CASES / folder).glob("*.toml")):
        for row in sound_rows(path, kind) if case_rows.asked_files is None or path in case_rows.asked_files else ():
            yield f"{path.stem}:{row.id}", row


def params(folder: str, kind: type[R]) -> list[Any]:
    return [pytest.param(row, id=name, marks=gap(row)) for name, row in cases(folder, kind)]


def gap(row: Row) -> tuple[pytest.MarkDecorator, ...]:
    """A known wrong row may fail by its assertion only, and must fail."""
    return (pytest.mark.xfail(reason=row.known_gap, raises=AssertionError, strict=True),) if row.known_gap else ()


def near_misses() -> list[Any]:
    return [
        pytest.param(row, b, id=f"{name}~{count}")
        for name, row in cases("equivalence", EquivalenceRow)
        for count, b in enumerate(row.near_misses, start=1)
    ]


def prepared(source: Any) -> Any:
    """The problem of a row, loaded and prepared once for texts that stand together; a dictionary, or a file."""
    return _prepared(json.dumps(source) if isinstance(source, dict) else source)


@lru_cache(maxsize=32)
def _prepared(source: str | Path) -> Any:
    import prism

    return prism.prepare(prism.load_problem(source))


def context_of(row: EquivalenceRow | LinkRow) -> Any:
    import prism

    return prism.Context.from_dict(row.context) if row.context else None


def test_every_file_of_rows_is_sound() -> None:
    assert not case_rows.unsound, "\n".join(case_rows.unsound.values())


@pytest.mark.compiled
@pytest.mark.parametrize("row", params("parse", ParseRow))
def test_parse(row: ParseRow) -> None:
    import prism

    if row.error is None:
        assert str(prism.parse(row.latex)) == row.canonical
        return
    try:
        said = str(prism.parse(row.latex))
    except prism.LatexSyntaxError as fault:
        said = str(fault)
        assert fault.position <= len(row.latex)
    else:
        raise AssertionError(f"read as {said}")
    assert row.error in said, told(latex=row.latex, expected=row.error, got=said)


@pytest.mark.compiled
@pytest.mark.parametrize("row", params("extract", ExtractRow))
def test_extract(row: ExtractRow) -> None:
    import prism

    found = prism.extract(row.text)
    assert [item.latex for item in found] == row.formulas
    assert all(0 <= item.span[0] < item.span[1] <= len(row.text) for item in found)
    if row.kinds is not None:
        assert [item.kind for item in found] == row.kinds
    if row.announced is not None:
        assert [item.latex for item in found if item.is_announced] == row.announced


@pytest.mark.compiled
@pytest.mark.parametrize("row", params("quantities", QuantityRow))
def test_quantity(row: QuantityRow) -> None:
    from prism.physics.quantities import parse_quantity, read_quantity

    found = parse_quantity(row.text)
    if row.error is not None:
        assert found is None, found
        with pytest.raises(ValueError, match=re.escape(row.error)):
            read_quantity(row.text)
        return
    assert row.value is not None
    assert found is not None
    assert math.isclose(found.value, row.value, rel_tol=1e-11, abs_tol=1e-300), found
    assert found.dimension == read_quantity(f"1 {row.unit}").dimension, found


def check_verdict(row: EquivalenceRow, claim: str, verdict: Any, status: str, reasons: tuple[str, ...]) -> None:
    """Fail with the row in words unless a verdict has the status and one of the reasons, and its witness."""
    __tracebackhide__ = True
    has_witness = verdict.witness or verdict.reason != "witness"
    if (verdict.status, verdict.reason in reasons, bool(has_witness)) != (status, True, True):
        expected = f"{status} ({', '.join(reasons)})"
        raise AssertionError(
            told_verdict(verdict, row=row.id, reference=row.a, claim=claim, context=row.context, expected=expected)
        )


@pytest.mark.parametrize("row", params("equivalence", EquivalenceRow))
def test_equivalence(row: EquivalenceRow) -> None:
    import prism

    verdict = prism.equivalent(row.a, row.b, context=context_of(row))
    check_verdict(row, row.b, verdict, row.expect, row.reasons)


@pytest.mark.compiled
@pytest.mark.parametrize(("row", "b"), near_misses())
def test_near_miss(row: EquivalenceRow, b: str) -> None:
    import prism

    verdict = prism.equivalent(row.a, b, context=context_of(row))
    check_verdict(row, b, verdict, "different", PLAIN_REASONS["different"])


@pytest.mark.parametrize("row", params("statements", StatementRow))
def test_statement(row: StatementRow) -> None:
    from prism.physics.quantities import read_quantity
    from prism.problem.statement import read_problem_text

    found = read_problem_text(row.text)
    assert [f"{value.name} = {value.text}" for value in found.givens] == row.givens
    assert [f"{value.name} = {value.text}" for value in found.conditions] == row.conditions
    assert [str(one.formula) for one in found.definitions] == row.definitions
    assert [one.name for one in found.definitions if one.is_function] == row.functions
    assert list(found.ambiguous) == row.ambiguous
    for value in (*found.givens, *found.conditions):
        assert read_quantity(value.text).value or value not in found.givens
        assert 0 <= value.span[0] < value.span[1] <= len(row.text)


@pytest.mark.parametrize("row", params("answers", AnswerRow))
def test_answer(row: AnswerRow) -> None:
    from prism.problem.answers.worded import options_of, stated_answers, text_answer

    if row.options is not None:
        assert list(options_of(row.instructions)) == row.options
        return
    question = row.question or None
    verdict = text_answer(row.reference, row.instructions, stated_answers(row.solution), question=question)
    assert verdict.status == row.expect, told(**wanted(row), got=verdict.status, detail=verdict.detail)
    for other in row.near_misses:
        verdict = text_answer(row.reference, row.instructions, stated_answers(other), question=question)
        assert verdict.status != "equivalent", told(**wanted(row), near_miss=other, detail=verdict.detail)


@pytest.mark.parametrize("row", params("verify", VerifyRow))
def test_verify(row: VerifyRow) -> None:
    import prism

    verdict = prism.verify(row.gold, rf"\boxed{{{row.box}}}", question=row.question, exact=row.exact)
    assert verdict.status == row.expect, told(**wanted(row), got=verdict.status, detail=verdict.detail)
    for other in row.near_misses:
        verdict = prism.verify(row.gold, rf"\boxed{{{other}}}", question=row.question, exact=row.exact)
        assert verdict.status != "equivalent", told(**wanted(row), near_miss=other, detail=verdict.detail)


@pytest.mark.parametrize("row", params("links", LinkRow))
def test_link(row: LinkRow) -> None:
    import prism
    from prism.equivalence.chains.links import check_link

    left, right = prism.parse(row.chain).members
    found = check_link(left, right, context_of(row) or prism.Context())
    shown = told(**wanted(row), got=f"{found.status}, {found.reason}", witness=found.witness)
    assert (found.status, found.reason) == (row.expect, row.reason), shown


@pytest.mark.parametrize("row", params("parts", PartsRow))
def test_parts(row: PartsRow) -> None:
    from prism.grading.parts.division import divide_into_parts

    found = divide_into_parts(row.text, row.letters)
    stretches: dict[tuple[int, int], list[str]] = {}
    for part in found:
        stretches.setdefault((part.start, part.end), []).append(part.letter)
    said = [f"{' '.join(letters)}: {row.text[slice(*span)].strip()}" for span, letters in stretches.items()]
    assert len(said) == len(row.parts), said
    assert all(mine.startswith(wanted) for mine, wanted in zip(said, row.parts, strict=True)), said
    for other in row.near_misses:
        assert divide_into_parts(other, row.letters) == (), other


@pytest.mark.compiled
@pytest.mark.parametrize("row", params("grading", GradingRow))
def test_grading(row: GradingRow) -> None:
    import prism
    from prism.resources import resource

    source = resource(f"dags/{row.problem}") if isinstance(row.problem, str) else row.problem
    grade = prism.grade(prepared(source), row.solution)
    assert list(grade.matched) == row.matched, told_grade(grade, **wanted(row))
    assert list(grade.credited) == row.credited, told_grade(grade, **wanted(row))
    assert grade.score is not None
    assert abs(Fraction(grade.score) - Fraction(row.score)) <= ROUNDED, told_grade(grade, **wanted(row))
    assert row.flags is None or list(grade.flags) == row.flags, told_grade(grade, **wanted(row))
    assert grade.alternative == row.alternative, told_grade(grade, **wanted(row))


def rule_params() -> list[Any]:
    return [
        pytest.param(row, text, counts, id=f"{name}~{'yes' if counts else 'no'}{count}", marks=gap(row))
        for name, row in cases("rules", RuleRow)
        for counts, texts in ((True, row.counts), (False, row.earns_nothing))
        for count, text in enumerate(texts, start=1)
    ]


@pytest.mark.compiled
@pytest.mark.parametrize(("row", "text", "counts"), rule_params())
def test_rule(row: RuleRow, text: str, *, counts: bool) -> None:
    import prism

    grade = prism.grade(prepared(row.source_of_problem), text)
    found = set(grade.matched) & row.nodes_looked_at
    expected = row.nodes_looked_at if counts else set()
    assert found == expected, told_grade(grade, **wanted(row), text=text, expected=sorted(expected))
    if counts and row.alternative is not None:
        assert grade.alternative == row.alternative, told_grade(grade, **wanted(row), text=text)


@pytest.mark.parametrize("row", params("diagnosis", DiagnosisRow))
def test_diagnosis(row: DiagnosisRow) -> None:
    import prism
    from prism.resources import resource

    source = resource(f"dags/{row.problem}") if isinstance(row.problem, str) else {"id": row.id, **row.problem}
    problem = prism.load_problem(source)
    grade = prism.grade(problem, row.solution)
    diagnosis = prism.diagnose(problem, grade)
    said = []
    for each in diagnosis.findings:
        words = [each.status]
        if each.difference:
            words += [each.difference.kind, each.difference.label, str(each.difference.node or 0)]
        if each.source is not None:
            words.append(grade.formulas[each.source].latex)
        said.append(f"{each.latex}: {', '.join(words)}")
    assert said == row.found, told_grade(grade, **wanted(row), said="\n".join(said))
    wrong = [each for each in diagnosis.findings if each.status == "wrong"]
    assert diagnosis.first_wrong == (wrong[0].position if wrong else None)


def problem_of(row: LintRow, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The problem of a row, or of a near-miss: `node 2` replaces a formula, any other key stands for its own."""
    changes = changes or {}
    problem = {"id": row.id, **row.problem, **{key: changes[key] for key in changes if not key.startswith("node ")}}
    nodes = [
        {**node, "formula": changes.get(f"node {node['index']}", node["formula"])}
        for node in problem["grading_standard"]
    ]
    return {**problem, "grading_standard": nodes}


def said(problem: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    """Where and what, of all findings of one kind."""
    import prism

    found = [finding for finding in prism.lint(problem) if finding.kind == kind]
    return [(", ".join(filter(None, (finding.entry, finding.field))), finding.code) for finding in found]


@pytest.mark.compiled
@pytest.mark.parametrize("row", params("lint", LintRow))
def test_lint(row: LintRow) -> None:
    problem = problem_of(row)
    assert sorted(said(problem, "fault")) == sorted(row.faults)
    assert sorted(said(problem, "warning")) == sorted(row.warnings)
    assert row.notes is None or sorted(said(problem, "note")) == sorted(row.notes)


@pytest.mark.parametrize(
    ("row", "changes"),
    [
        pytest.param(row, changes, id=f"{name}~{count}")
        for name, row in cases("lint", LintRow)
        for count, changes in enumerate(row.near_misses, start=1)
    ],
)
def test_lint_lets_pass(row: LintRow, changes: dict[str, Any]) -> None:
    import prism

    assert [str(finding) for finding in prism.lint(problem_of(row, changes)) if finding.kind != "note"] == []


# --- the loader itself --------------------------------------------------------------------------------------

ROW = "[[case]]\nid = 'x'\nsource = 's'\na = 'y = x'\nb = 'x = y'\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            ROW + "expect = 'equivalent'\nexpects = 'different'\n",
            r'row "x": unknown key `expects`; the keys are a, about, b, context, expect, id, ',
        ),
        (ROW + "expect = 'maybe'\n", "maybe"),
        (ROW + "expect = 'undecided'\n", "needs a reason"),
        ((ROW + "expect = 'equivalent'\n") * 2, "two rows have the id x"),
        (ROW.replace("source = 's'\n", "") + "expect = 'equivalent'\n", "source"),
    ],
    ids=["unknown key", "unknown status", "no reason", "id twice", "no source"],
)
def test_loader_refuses(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        load(path, EquivalenceRow)


def test_loader_tells_all_faults_by_id_with_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    sound = ROW + "expect = 'equivalent'\n"
    twice = sound.replace("id = 'x'", "id = 'y'").replace("a = ", "reference = ")
    path.write_text(sound + twice + sound.replace("id = 'x'\n", ""), encoding="utf-8")
    with pytest.raises(ValueError, match="unknown key") as told_faults:
        load(path, EquivalenceRow)
    keys = "the keys are a, about, b, context, expect, id, known_gap, near_misses, reason, source"
    place = f"{tmp_path.name}/bad.toml"
    assert str(told_faults.value).splitlines() == [
        f'{place}: row "y": unknown key `reference`; {keys}',
        f'{place}: row "y": Object missing required field `a`; {keys}',
        f"{place}: row 3, which has no id: Object missing required field `id`; {keys}",
    ]


def test_a_misspelt_key_breaks_its_own_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kind").mkdir()
    sound = ROW + "expect = 'equivalent'\n"
    (tmp_path / "kind/a.toml").write_text(sound, encoding="utf-8")
    (tmp_path / "kind/b.toml").write_text(sound + "expects = 'different'\n", encoding="utf-8")
    monkeypatch.setattr(f"{__name__}.CASES", tmp_path)
    monkeypatch.setattr(case_rows, "unsound", {})
    monkeypatch.setattr(case_rows, "asked_files", None)
    assert [name for name, _ in cases("kind", EquivalenceRow)] == ["a:x"]
    assert list(case_rows.unsound) == [tmp_path / "kind/b.toml"]
    with pytest.raises(AssertionError, match=r'kind/b\.toml: row "x": unknown key `expects`; the keys are a, '):
        test_every_file_of_rows_is_sound()
    monkeypatch.setattr(case_rows, "asked_files", frozenset((tmp_path / "kind/b.toml",)))
    with pytest.raises(ValueError, match="unknown key `expects`"):
        list(cases("kind", EquivalenceRow))


def test_a_failing_row_is_told_in_lines() -> None:
    import prism

    row = EquivalenceRow(id="x", source="s", a="F = m a", b="F = 2 m a", expect="equivalent")
    with pytest.raises(AssertionError) as failed:
        check_verdict(row, row.b, prism.equivalent(row.a, row.b), "equivalent", row.reasons)
    shown = dict(line.split("  ", 1) for line in str(failed.value).splitlines() if line)
    shown = {name.strip(): text.strip() for name, text in shown.items()}
    assert list(shown) == ["row", "reference", "claim", "expected", "got", "reason", "witness", "trace"]
    assert (shown["row"], shown["reference"], shown["claim"]) == ("x", "F = m a", "F = 2 m a")
    assert shown["expected"] == "equivalent (same_form, same_zero_set, same_value, same_number)"
    assert (shown["got"], shown["reason"]) == (
        "different", "witness: a point that satisfies one does not satisfy the other"
    )  # fmt: skip
    assert "prism/equivalence/points/zero_sets.py" in shown["trace"]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("case_id", "file"), [
    ("acceleration-is-zero", "tests/cases/equivalence/identities_and_zeros.toml"),
    ("ten-boxes", "tests/cases/attacks/sweeps.toml"),
], ids=["a row of equivalence", "an attack"])  # fmt: skip
def test_an_id_runs_its_row_alone(case_id: str, file: str) -> None:
    assert case_rows.files_with(case_id) == [CASES.parent.parent / file]
    command = [sys.executable, "-m", "pytest", "-k", case_id, "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=CASES.parent.parent, capture_output=True, text=True, check=True)
    assert f"row {case_id} of {file}" in done.stderr
    found = [line for line in done.stdout.splitlines() if "::" in line]
    assert found
    assert all(case_id in line for line in found)


def test_no_positive_topic_without_near_misses() -> None:
    """A topic whose rows are all `equivalent` would be passed by a grader that accepts everything."""
    for path in sorted((CASES / "equivalence").glob("*.toml")):
        rows = load(path, EquivalenceRow)
        assert any(row.near_misses or row.expect != "equivalent" for row in rows), path.name
