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

What a stated number costs in EngJudge's FINAL_ANSWER: relative error, band, and one band for several values.

| relative error | band | costs |
|---|---|---|
| at most 5 % | `correct` | nothing |
| more than 5 %, at most 10 % | `moderate` | MODERATE |
| more than 10 % | `major` | MAJOR |
| wrong order of magnitude | `critical` | CRITICAL |

The paper does not say what a wrong order of magnitude is. Here it is a number at least ten times as large as the right
one, or at most a tenth of it, whatever its sign; zero has no order of magnitude, so it is `major`.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from prism.equivalence.numbers.stated import six_figures
from prism.errors import count_of
from prism.inputs import did_you_mean
from prism.problem.shapes import (
    PASSES_UNKNOWN,
    About,
    Flag,
    Id,
    LoadReport,
    Reader,
    Text,
    exact_number,
    one_of,
    quoted_value,
    read_shape,
)
from prism.protocols.engjudge.scoring import FULL, PENALTIES, stage_totals
from prism.protocols.engjudge.topology import NAMES, SHORT_NAMES, stage_name
from prism.protocols.entry_files import ENTRY, Table

CORRECT_WITHIN = Fraction(5, 100)  # relative error, ends included
MODERATE_WITHIN = Fraction(10, 100)
MAGNITUDE = 10  # times as large or as small is another order of magnitude


class Band(StrEnum):
    """How far a number is from the right one, as `error_band` of a findings row names it."""

    CORRECT = "correct"
    MODERATE = "moderate"
    MAJOR = "major"
    CRITICAL = "critical"


SEVERITIES = {Band.MODERATE: "MODERATE", Band.MAJOR: "MAJOR", Band.CRITICAL: "CRITICAL"}
"""The severity of each band that costs points, as a key of `engjudge_scoring.PENALTIES`."""


def relative_error(stated: Fraction, reference: Fraction) -> Fraction | None:
    """Return how far a number is from the reference, as a share of it; None beside 0, unless both are 0.

    >>> relative_error(Fraction(500), Fraction(520))
    Fraction(1, 26)
    """
    if not reference:
        return None if stated else Fraction(0)
    return abs(stated - reference) / abs(reference)


def error_band(stated: Fraction, reference: Fraction) -> Band | None:
    """Return the band of a number; None where the relative error is not defined.

    >>> [str(error_band(Fraction(value), Fraction(100))) for value in (105, 110, 111, 1000, 10, 0)]
    ['correct', 'moderate', 'major', 'critical', 'critical', 'major']
    """
    error = relative_error(stated, reference)
    if error is None:
        return None
    if error <= CORRECT_WITHIN:
        return Band.CORRECT
    if error <= MODERATE_WITHIN:
        return Band.MODERATE
    if stated and not Fraction(1, MAGNITUDE) < abs(stated / reference) < MAGNITUDE:
        return Band.CRITICAL
    return Band.MAJOR


def overall_band(bands: Iterable[Band]) -> Band:
    """Return the one band of several values: the worst of them, and at most `major` if any value is right.

    The paper has one penalty for all values by overall accuracy, and "5 to 7" for one right and one fundamentally
    wrong.

    >>> str(overall_band([Band.CORRECT, Band.CRITICAL])), str(overall_band([Band.MODERATE, Band.CRITICAL]))
    ('major', 'critical')
    """
    order = list(Band)
    listed = sorted(bands, key=order.index)
    if not listed:
        return Band.CORRECT
    worst = listed[-1]
    return Band.MAJOR if worst is Band.CRITICAL and listed[0] is Band.CORRECT else worst


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

Number = Annotated[Fraction | None, exact_number()]
Points = Annotated[Fraction | None, exact_number(0, int(FULL))]


def _stage(value: Any) -> str:
    """Return the full name of a stage; raises ValueError for another text."""
    if isinstance(value, str) and (name := stage_name(value)):
        return name
    raise ValueError(f"is no stage{did_you_mean(str(value), (*NAMES, *SHORT_NAMES))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """A fault or a cap in words; sanity has quantity, value and reason for a description."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    description: Text = ""
    criterion: Text = ""
    category: Text = ""
    quantity: Any = None
    value: Any = None
    reason: Any = None

    def __str__(self) -> str:
        """Return `: what was found (criterion)`."""
        known = (self.quantity, self.value, self.reason)
        text = self.description or " ".join(quoted_value(each).strip('"') for each in known if each is not None)
        about = self.criterion or self.category
        return f"{f': {text}' if text else ''}{f' ({about})' if about else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault(_Described):
    """A fault of a stage or a check."""

    severity: Annotated[str | None, one_of(PENALTIES)] = None
    penalty: Points = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fatal(_Described):
    """A fatal error, which is a cap."""

    type: Text = ""
    score_cap: Points = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Predicted:
    """A number of the solution beside the right one."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    predicted: Any = None
    ground_truth: Any = None
    numerical_error: Number = None
    error_band: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a stage or a check adds up itself."""

    justification: Any = None
    total_penalties: Number = None
    raw_score: Number = None
    capped_score: Number = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage(_Part):
    """A stage."""

    errors: tuple[_Fault, ...] | None = None
    fatal_errors: tuple[_Fatal, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selection(_Stage):
    """EQUATION_SELECTION."""

    governing_equation_correct: Flag | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer(_Stage):
    """FINAL_ANSWER."""

    predicted_values: tuple[_Predicted, ...] = ()
    units_correct: Flag | None = None
    physically_possible: Flag | None = None
    all_parts_answered: Flag | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check(_Part):
    """Coverage, verbosity or sanity."""

    violations: tuple[_Fault, ...] | None = None
    all_parts_covered: Flag | None = None
    sanity_check_passed: Flag | None = None
    fatal_errors: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meta:
    """The three checks."""

    coverage: dict[str, Any] | None = None
    verbosity: dict[str, Any] | None = None
    sanity: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of findings."""

    problem_id: Id
    sample_id: Id
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: Annotated[tuple[Annotated[str, Reader(_stage)], ...], About(fault="is no list of stages")] = ()
    meta: _Meta = _Meta()


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
        kept_fields: fields of the row that go beside its score.
    """

    problem_id: str
    sample_id: str
    stages: Mapping[str, JudgedPart]
    absent: frozenset[str] = frozenset()
    coverage: JudgedPart | None = None
    verbosity: JudgedPart | None = None
    sanity: JudgedSanity | None = None
    kept_fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

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
    row = read_shape(_Row, table, report, replace(ENTRY, ignored_keys=ENTRY.ignored_keys.union(keep)))
    stages: dict[str, JudgedPart] = {}
    listed = table.get("stages")
    for key in map(str, listed if isinstance(listed, Mapping) else ()):
        name = stage_name(key)
        if name is None:
            near = did_you_mean(key, (*NAMES, *SHORT_NAMES))
            report.faults.append(f"stages: {quoted_value(key)} is no stage{near}")
        elif name in stages:
            report.faults.append(f"stages, {key}: is there twice, by its name and by its initials")
        elif key in row.stages:
            stages[name] = _read_stage(row.stages[key], name, report)
    absent = frozenset(row.absent)
    for name in sorted(absent & stages.keys()):
        report.faults.append(f"absent, {name}: is judged in `stages` too")
    meta = row.meta
    return SolutionFindings(
        row.problem_id, row.sample_id, stages, absent,
        None if meta.coverage is None else _read_check(meta.coverage, "coverage", report),
        None if meta.verbosity is None else _read_check(meta.verbosity, "verbosity", report),
        None if meta.sanity is None else _read_sanity(meta.sanity, report),
        {key: table[key] for key in keep if key in table},
    )  # fmt: skip


# Stages. ------------------------------------------------------------------------------------------------------------


def _read_stage(table: Table, name: str, report: LoadReport) -> JudgedPart:
    """Recompute a stage from its errors and caps."""
    shape = {"FINAL_ANSWER": _Answer, "EQUATION_SELECTION": _Selection}.get(name, _Stage)
    stage: _Stage = read_shape(shape, table, report, replace(ENTRY, where=name))
    if stage.capped_score is not None and stage.errors is None and stage.fatal_errors is None:
        return _at_its_word(stage.capped_score, name, report)
    notes: list[str] = []
    faults = _priced_faults(stage.errors or (), f"{name}, errors", report, notes)
    caps = _priced_caps(stage, name, report, notes)
    if isinstance(stage, _Answer):
        notes += _answer_notes(stage, faults)
    return _judged(stage, name, faults, caps, notes)


def _at_its_word(score: Fraction, name: str, report: LoadReport) -> JudgedPart:
    """Return a part of which only the score is known."""
    if not 0 <= score <= FULL:
        report.faults.append(f"{name}, capped_score: {_text(score)} is no number from 0 to {FULL}")
    note = f"capped: {_text(score)} in the file, and no errors to work it out from ({name})"
    return JudgedPart(score, (), (note,))


def _judged(
    part: _Part, name: str, faults: Sequence[_Priced], caps: Sequence[_Priced], notes: Sequence[str]
) -> JudgedPart:
    """Return a part from its faults and caps, with a note for each total of the table that does not follow."""
    totals = stage_totals((each.points for each in faults), (each.points for each in caps))
    stated = (
        (part.total_penalties, "total", totals.penalties, "from its penalties"),
        (part.raw_score, "raw", totals.raw, "from its penalties"),
        (part.capped_score, "capped", totals.capped, "from its penalties and caps"),
    )
    told = list(notes)
    for number, word, right, source in stated:
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


def _priced_faults(listed: Sequence[_Fault], name: str, report: LoadReport, notes: list[str]) -> list[_Priced]:
    """Return the faults of a list; the severity says what one costs, and the penalty only where there is none."""
    found = []
    for place, each in enumerate(listed, start=1):
        where = f"{name}, item {place}"
        if each.severity is None:
            if each.penalty is None and not report.tells_of(f"{where}, ", f"{where}: "):
                report.faults.append(f"{where}: has neither severity nor penalty")
            points, word = each.penalty or Fraction(0), "penalty"
        else:
            points, word = Fraction(PENALTIES[each.severity]), each.severity
            if each.penalty is not None and each.penalty != points:
                notes.append(f"penalty: {_text(each.penalty)} in the file, {_text(points)} for {word} ({where})")
        found.append(_Priced(points, f"{word} {_text(points)}{each}"))
    return found


def _priced_caps(stage: _Stage, name: str, report: LoadReport, notes: list[str]) -> list[_Priced]:
    """Return the caps of a stage: of its fatal errors, and of the two flags that are caps."""
    found = []
    for place, each in enumerate(stage.fatal_errors or (), start=1):
        where, kind, stated = f"{name}, fatal_errors, item {place}", each.type, each.score_cap
        points = stage_cap(kind, name)
        if points is None:
            if stated is None and not report.tells_of(f"{where}, ", f"{where}: "):
                report.faults.append(f"{where}: {quoted_value(kind)} is no known cap, and has no score_cap")
            points = stated if stated is not None else FULL
            notes.append(f"cap: {quoted_value(kind)} is none of the protocol; its score_cap counts ({where})")
        else:
            if stated is not None and stated != points:
                notes.append(f"cap: {_text(stated)} in the file, {_text(points)} for {kind} ({where})")
            if not is_offered(kind, name):
                notes.append(f"cap: no prompt offers {kind} in {name} ({where})")
        found.append(_Priced(points, f"cap {_text(points)}: {kind}{each}"))
    flags = {_Selection: ("governing_equation_correct", EQUATION), _Answer: ("physically_possible", IMPOSSIBLE)}
    key, kind = flags.get(type(stage), ("justification", ""))
    is_told = any(each.type == kind for each in stage.fatal_errors or ())
    if kind and getattr(stage, key) and is_told:
        notes.append(f"{key}: true in the file, beside the fatal error {kind} ({name})")
    if kind and getattr(stage, key) is False and not is_told:
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


def _answer_notes(stage: _Answer, faults: Sequence[_Priced]) -> list[str]:
    """Return what FINAL_ANSWER says otherwise than its own numbers: relative errors, bands, flags without a fault."""
    notes = []
    for place, each in enumerate(stage.predicted_values, start=1):
        where = f"FINAL_ANSWER, predicted_values, item {place}"
        stated, wanted = _number(each.predicted), _number(each.ground_truth)
        if stated is None or wanted is None:
            continue
        error, band, told = relative_error(stated, wanted), error_band(stated, wanted), each.numerical_error
        if told is not None and error is not None and not _rounds_to(error, told):
            notes.append(f"numerical_error: {_text(told)} in the file, {_text(error)} from its numbers ({where})")
        named = each.error_band.casefold()
        if named and band is not None and named != band:
            notes.append(f"error_band: {named} in the file, {band} from its numbers ({where})")
    unmet = [key for key in ("units_correct", "all_parts_answered") if getattr(stage, key) is False]
    return notes + [
        f"{key}: false in the file, and no error costs anything (FINAL_ANSWER)" for key in unmet if not faults
    ]


def _number(value: Any) -> Fraction | None:
    """Return a JSON number as the fraction of its digits; None for anything else, a text too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Fraction(str(value))


def _rounds_to(exact: Fraction, stated: Fraction) -> bool:
    """Return True if an exact number rounds to the digits that another one shows, or lies on its edge."""
    exponent = Decimal(str(float(stated))).normalize().as_tuple().exponent
    unit = Fraction(10) ** min(int(exponent), 0)
    return abs(exact - stated) <= unit / 2


# Checks. ------------------------------------------------------------------------------------------------------------


def _read_check(table: Table, name: str, report: LoadReport) -> JudgedPart:
    """Recompute coverage or verbosity from its violations."""
    check = read_shape(_Check, table, report, replace(ENTRY, where=name))
    if check.capped_score is not None and check.violations is None:
        return _at_its_word(check.capped_score, name, report)
    notes: list[str] = []
    faults = _priced_faults(check.violations or (), f"{name}, violations", report, notes)
    if check.all_parts_covered is not None and check.all_parts_covered == bool(faults):
        said = f"{str(bool(faults)).lower()} in the file, beside {count_of(len(faults), 'violation')}"
        notes.append(f"all_parts_covered: {said} ({name})")
    return _judged(check, name, faults, (), notes)


def _read_sanity(table: Table, report: LoadReport) -> JudgedSanity | None:
    """Return whether values are sane: what the flag says, else whether no violation is listed; None of neither."""
    check = read_shape(_Check, table, report, replace(ENTRY, where="sanity"))
    notes: list[str] = []
    faults = _priced_faults(check.violations or (), "sanity, violations", report, notes)
    is_sane = check.sanity_check_passed
    if is_sane is None and check.violations is None:
        return None
    if is_sane and faults:
        notes.append(f"sanity_check_passed: true in the file, beside {count_of(len(faults), 'violation')} (sanity)")
    ordered = sorted(faults, key=lambda each: (-each.points, each.text))
    return JudgedSanity(not faults if is_sane is None else is_sane, tuple(each.text for each in ordered), tuple(notes))


def _text(value: Fraction) -> str:
    """Write a number: whole ones without a point, others with at most six figures."""
    return str(value.numerator) if value.denominator == 1 else six_figures(value)
