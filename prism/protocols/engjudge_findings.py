"""Read a row of findings of EngJudge: the faults that a judge or a person saw in each stage, and the three checks.

Nothing that the row adds up itself is trusted. A penalty follows from its severity, a cap from its type and stage, and
totals and scores from these; where the row says otherwise, a note tells both numbers. Only a row that has a score and
no list of faults is taken at its word, which a note tells too.

| cap | points | stages whose prompts offer it |
|---|---|---|
| `governing_equation_incorrect` | 3 | PC, VI; in ES it is 0, as `governing_equation_correct: false` |
| `physical_model_invalid` | 4 | PC, AS, VI |
| `boundary_conditions_invalid` | 4 | AS, ES, AA |
| `dimensionally_inconsistent` | 2 | ES, AA |
| `physically_possible: false` | 2 | FA |

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from prism.equivalence.numbers.stated import six_figures
from prism.errors import count_of
from prism.inputs import did_you_mean
from prism.problem.fields import LoadReport, quoted_value, read_flag, read_text, warn_unknown
from prism.protocols.engjudge_answers import error_band, relative_error
from prism.protocols.engjudge_scoring import FULL, PENALTIES, stage_totals
from prism.protocols.engjudge_topology import NAMES, SHORT_NAMES, stage_name
from prism.protocols.entry_files import JUDGED, Table, read_choice, read_id, read_list, read_number, read_table

EQUATION, DIMENSION, IMPOSSIBLE = (
    "governing_equation_incorrect", "dimensionally_inconsistent", "physically_impossible_answer"
)  # fmt: skip
CAPS = {
    EQUATION: (3, ("PC", "VI", "ES")),
    "physical_model_invalid": (4, ("PC", "AS", "VI")),
    "boundary_conditions_invalid": (4, ("AS", "ES", "AA")),
    DIMENSION: (2, ("ES", "AA")),
    IMPOSSIBLE: (2, ("FA",)),
}  # fmt: skip
"""Each cap with its points and the stages, by initials, whose prompts offer it."""

EQUATION_IN_SELECTION = 0  # points of that cap in ES: 0 in its prompt, F.3.4, and 3 in the text, C.2

ROW_KEYS = frozenset(("problem_id", "sample_id", "stages", "absent", "meta", JUDGED))
CHECK_KEYS = ("coverage", "verbosity", "sanity")
_EXPLAINED = frozenset(("justification", "total_penalties", "raw_score", "capped_score"))
_STAGE_KEYS = _EXPLAINED | {"errors", "fatal_errors"}
_ANSWER_KEYS = _STAGE_KEYS | {"predicted_values", "units_correct", "physically_possible", "all_parts_answered"}
_SELECTION_KEYS = _STAGE_KEYS | {"governing_equation_correct"}
_VIOLATION_KEYS = _EXPLAINED | {"violations"}


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A stage or a check that somebody judged, recomputed.

    Attributes:
        score: 0 to 10.
        findings: what was found, the gravest first, in words.
        notes: what the row says otherwise, each with the place where it does.
        raw: 10 less the penalties, before caps; None where only the score is known.
    """

    score: Fraction
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    raw: Fraction | None = None


@dataclass(frozen=True, slots=True)
class JudgedSanity:
    """The check of values that cannot be: whether it was passed, and what was found."""

    is_sane: bool
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SolutionFindings:
    """A row of findings.

    Attributes:
        problem_id, sample_id: of the solution.
        stages: by full name; one that nobody judged is not among them.
        absent: stages that the row says the solution lacks.
        coverage, verbosity, sanity: None where nobody made the check.
        kept: fields of the row that go beside its score.
    """

    problem_id: str
    sample_id: str
    stages: Mapping[str, JudgedPart]
    absent: frozenset[str] = frozenset()
    coverage: JudgedPart | None = None
    verbosity: JudgedPart | None = None
    sanity: JudgedSanity | None = None
    kept: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parts, in order."""
        parts = (*(self.stages[name] for name in NAMES if name in self.stages), self.coverage, self.verbosity)
        judged = (*(part.notes for part in parts if part), self.sanity.notes if self.sanity else ())
        return tuple(note for notes in judged for note in notes)


def read_findings(table: Table, report: LoadReport, *, keep: Collection[str] = ()) -> SolutionFindings:
    """Read one row of findings; faults and warnings go to the report.

    Args:
        keep: further fields of the row that go beside its score.
    """
    warn_unknown(table, ROW_KEYS.union(keep), "", report)
    problem_id, sample_id = (read_id(table, key, report) for key in ("problem_id", "sample_id"))
    stages: dict[str, JudgedPart] = {}
    for key, value in (read_table(table, "stages", "", report) or {}).items():
        name = stage_name(str(key))
        if name is None:
            report.faults.append(_no_stage("stages", key))
        elif name in stages:
            report.faults.append(f"stages, {key}: is there twice, by its name and by its initials")
        elif isinstance(value, Mapping):
            stages[name] = _read_stage(value, name, report)
        elif value is not None:
            report.faults.append(f"stages, {key}: {quoted_value(value)} is no object")
    absent = _read_absent(table, report)
    for name in sorted(absent & stages.keys()):
        report.faults.append(f"absent, {name}: is judged in `stages` too")
    meta = read_table(table, "meta", "", report) or {}
    warn_unknown(meta, frozenset(CHECK_KEYS), "meta", report)
    checks = {key: read_table(meta, key, "meta", report) for key in CHECK_KEYS}
    coverage, verbosity, sanity = checks.values()
    return SolutionFindings(
        problem_id, sample_id, stages, absent,
        None if coverage is None else _read_check(coverage, "coverage", report),
        None if verbosity is None else _read_check(verbosity, "verbosity", report),
        None if sanity is None else _read_sanity(sanity, report),
        {key: table[key] for key in keep if key in table},
    )  # fmt: skip


def _no_stage(where: str, key: object) -> str:
    """Say that a key names no stage, with the nearest one."""
    return f"{where}: {quoted_value(key)} is no stage{did_you_mean(str(key), (*NAMES, *SHORT_NAMES))}"


def _read_absent(table: Table, report: LoadReport) -> frozenset[str]:
    """Return the stages that a row lists as absent from the solution."""
    listed = table.get("absent")
    if listed is None:
        return frozenset()
    if not isinstance(listed, list):
        report.faults.append(f"absent: {quoted_value(listed)} is no list of stages")
        return frozenset()
    names = [(each, stage_name(each) if isinstance(each, str) else None) for each in listed]
    report.faults += [_no_stage("absent", each) for each, name in names if name is None]
    return frozenset(name for _, name in names if name is not None)


# Stages. ------------------------------------------------------------------------------------------------------------


def _read_stage(table: Table, name: str, report: LoadReport) -> JudgedPart:
    """Recompute a stage from its errors and caps."""
    keys = {"FINAL_ANSWER": _ANSWER_KEYS, "EQUATION_SELECTION": _SELECTION_KEYS}.get(name, _STAGE_KEYS)
    warn_unknown(table, keys, name, report)
    if _has_only_score(table, "errors", "fatal_errors"):
        return _at_its_word(table, name, report)
    notes: list[str] = []
    faults = _read_faults(table, "errors", name, report, notes)
    caps = _read_caps(table, name, report, notes)
    if name == "FINAL_ANSWER":
        notes += _answer_notes(table, faults, report)
    return _judged(table, name, faults, caps, notes, report)


def _has_only_score(table: Table, *lists: str) -> bool:
    """Return True if a part has a score and none of the lists that it would follow from."""
    return table.get("capped_score") is not None and all(table.get(key) is None for key in lists)


def _at_its_word(table: Table, name: str, report: LoadReport) -> JudgedPart:
    """Return a part of which only the score is known."""
    score = read_number(table, "capped_score", name, report, least=0, most=int(FULL))
    note = f"capped: {_text(score or Fraction(0))} in the file, and no errors to work it out from ({name})"
    return JudgedPart(score or Fraction(0), (), (note,))


def _judged(
    table: Table, name: str, faults: Sequence[_Priced], caps: Sequence[_Priced], notes: Sequence[str],
    report: LoadReport,
) -> JudgedPart:  # fmt: skip
    """Return a part from its faults and caps, with a note for each total of the table that does not follow."""
    totals = stage_totals((each.points for each in faults), (each.points for each in caps))
    stated = (
        ("total_penalties", "total", totals.penalties, "from its penalties"),
        ("raw_score", "raw", totals.raw, "from its penalties"),
        ("capped_score", "capped", totals.capped, "from its penalties and caps"),
    )
    told = list(notes)
    for key, word, right, source in stated:
        number = read_number(table, key, name, report)
        if number is not None and number != right:
            told.append(f"{word}: {_text(number)} in the file, {_text(right)} {source} ({name})")
    ordered = [*sorted(caps, key=lambda each: (each.points, each.text))]
    ordered += sorted(faults, key=lambda each: (-each.points, each.text))
    return JudgedPart(totals.capped, tuple(each.text for each in ordered), tuple(told), totals.raw)


@dataclass(frozen=True, slots=True)
class _Priced:
    """A fault with the points that it costs, or a cap with the points that it leaves; in words."""

    points: Fraction
    text: str


def _read_faults(table: Table, key: str, name: str, report: LoadReport, notes: list[str]) -> list[_Priced]:
    """Return the faults of a list; the severity says what one costs, and the penalty only where there is none."""
    found = []
    for place, each in enumerate(read_list(table, key, name, report), start=1):
        where = f"{name}, {key}, item {place}"
        severity = read_choice(each, "severity", where, report, PENALTIES)
        penalty = read_number(each, "penalty", where, report, least=0, most=int(FULL))
        if severity is None:
            if each.get("severity") is None and each.get("penalty") is None:
                report.faults.append(f"{where}: has neither severity nor penalty")
            points, word = penalty or Fraction(0), "penalty"
        else:
            points, word = Fraction(PENALTIES[severity]), severity
            if penalty is not None and penalty != points:
                notes.append(f"penalty: {_text(penalty)} in the file, {_text(points)} for {severity} ({where})")
        words = _described(each, where, report)
        found.append(_Priced(points, f"{word} {_text(points)}{words}"))
    return found


def _described(table: Table, where: str, report: LoadReport) -> str:
    """Return `: what was found (criterion)` of a fault; sanity has quantity, value and reason for a description."""
    text = read_text(table, "description", where, report)
    if not text:
        known = [quoted_value(table[key]).strip('"') for key in ("quantity", "value", "reason") if key in table]
        text = " ".join(known)
    about = read_text(table, "criterion", where, report) or read_text(table, "category", where, report)
    return f"{f': {text}' if text else ''}{f' ({about})' if about else ''}"


def _read_caps(table: Table, name: str, report: LoadReport, notes: list[str]) -> list[_Priced]:
    """Return the caps of a stage: of its fatal errors, and of the two flags that are caps."""
    found = []
    types: set[str] = set()
    for place, each in enumerate(read_list(table, "fatal_errors", name, report), start=1):
        where = f"{name}, fatal_errors, item {place}"
        kind = read_text(each, "type", where, report)
        stated = read_number(each, "score_cap", where, report, least=0, most=int(FULL))
        points = stage_cap(kind, name)
        if points is None:
            if stated is None:
                report.faults.append(f"{where}: {quoted_value(kind)} is no known cap, and has no score_cap")
            points = stated if stated is not None else FULL
            notes.append(f"cap: {quoted_value(kind)} is none of the protocol; its score_cap counts ({where})")
        else:
            if stated is not None and stated != points:
                notes.append(f"cap: {_text(stated)} in the file, {_text(points)} for {kind} ({where})")
            if not is_offered(kind, name):
                notes.append(f"cap: no prompt offers {kind} in {name} ({where})")
        types.add(kind)
        found.append(_Priced(points, f"cap {_text(points)}: {kind}{_described(each, where, report)}"))
    flags = {"EQUATION_SELECTION": ("governing_equation_correct", EQUATION)}
    flags["FINAL_ANSWER"] = ("physically_possible", IMPOSSIBLE)
    key, kind = flags.get(name, ("", ""))
    if key and table.get(key) is not None:
        is_right = read_flag(table, key, name, report)
        if is_right and kind in types:
            notes.append(f"{key}: true in the file, beside the fatal error {kind} ({name})")
        if not is_right and kind not in types:
            points = stage_cap(kind, name) or Fraction(0)
            found.append(_Priced(points, f"cap {_text(points)}: {key} is false"))
    return found


def stage_cap(kind: str, name: str) -> Fraction | None:
    """Return the points of a cap in a stage; None for a cap that the protocol does not have.

    >>> stage_cap("governing_equation_incorrect", "EQUATION_SELECTION"), stage_cap("bad_day", "ASSUMPTIONS")
    (Fraction(0, 1), None)
    """
    if kind == EQUATION and name == "EQUATION_SELECTION":
        return Fraction(EQUATION_IN_SELECTION)
    return Fraction(CAPS[kind][0]) if kind in CAPS else None


def is_offered(kind: str, name: str) -> bool:
    """Return True if the prompt of a stage offers a cap."""
    return name in {SHORT_NAMES[each] for each in CAPS[kind][1]}


def _answer_notes(table: Table, faults: Sequence[_Priced], report: LoadReport) -> list[str]:
    """Return what FINAL_ANSWER says otherwise than its own numbers: relative errors, bands, flags without a fault."""
    notes = []
    for place, each in enumerate(read_list(table, "predicted_values", "FINAL_ANSWER", report), start=1):
        where = f"FINAL_ANSWER, predicted_values, item {place}"
        stated, wanted = (_number(each.get(key)) for key in ("predicted", "ground_truth"))
        if stated is None or wanted is None:
            continue
        error, band = relative_error(stated, wanted), error_band(stated, wanted)
        told = read_number(each, "numerical_error", where, report)
        if told is not None and error is not None and not _rounds_to(error, told):
            notes.append(f"numerical_error: {_text(told)} in the file, {_text(error)} from its numbers ({where})")
        named = read_text(each, "error_band", where, report).casefold()
        if named and band is not None and named != band:
            notes.append(f"error_band: {named} in the file, {band} from its numbers ({where})")
    flags = [key for key in ("units_correct", "all_parts_answered") if table.get(key) is not None]
    unmet = [key for key in flags if not read_flag(table, key, "FINAL_ANSWER", report)]
    return notes + [
        f"{key}: false in the file, and no error costs anything (FINAL_ANSWER)" for key in unmet if not faults
    ]


def _number(value: Any) -> Fraction | None:
    """Return a JSON number as the fraction of its digits; None for anything else, a text too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Fraction(str(value))


def _rounds_to(exact: Fraction, told: Fraction) -> bool:
    """Return True if an exact number rounds to the digits that another one shows, or lies on its edge."""
    exponent = Decimal(str(float(told))).normalize().as_tuple().exponent
    unit = Fraction(10) ** min(int(exponent), 0)
    return abs(exact - told) <= unit / 2


# Checks. ------------------------------------------------------------------------------------------------------------


def _read_check(table: Table, name: str, report: LoadReport) -> JudgedPart:
    """Recompute coverage or verbosity from its violations."""
    flag = {"coverage": "all_parts_covered"}.get(name, "")
    warn_unknown(table, _VIOLATION_KEYS | ({flag} if flag else set()), name, report)
    if _has_only_score(table, "violations"):
        return _at_its_word(table, name, report)
    notes: list[str] = []
    faults = _read_faults(table, "violations", name, report, notes)
    if flag and table.get(flag) is not None and read_flag(table, flag, name, report) == bool(faults):
        notes.append(
            f"{flag}: {str(bool(faults)).lower()} in the file, beside {count_of(len(faults), 'violation')} ({name})"
        )
    return _judged(table, name, faults, (), notes, report)


def _read_sanity(table: Table, report: LoadReport) -> JudgedSanity | None:
    """Return whether values are sane: what the flag says, else whether no violation is listed; None of neither."""
    warn_unknown(table, _VIOLATION_KEYS | {"sanity_check_passed", "fatal_errors"}, "sanity", report)
    notes: list[str] = []
    listed = table.get("violations")
    faults = _read_faults(table, "violations", "sanity", report, notes)
    if table.get("sanity_check_passed") is None:
        if listed is None:
            return None
        is_sane = not faults
    else:
        is_sane = read_flag(table, "sanity_check_passed", "sanity", report)
        if is_sane and faults:
            notes.append(f"sanity_check_passed: true in the file, beside {count_of(len(faults), 'violation')} (sanity)")
    ordered = sorted(faults, key=lambda each: (-each.points, each.text))
    return JudgedSanity(is_sane, tuple(each.text for each in ordered), tuple(notes))


def _text(value: Fraction) -> str:
    """Write a number: whole ones without a point, others with at most six figures."""
    return str(value.numerator) if value.denominator == 1 else six_figures(value)
