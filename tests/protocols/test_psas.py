"""PSAS-S: hand-worked examples to the last digit, properties, findings, the published shape, and the command."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.problem.schema import load_problem
from prism.protocols.graded_rollouts import grade_rollouts
from prism.protocols.psas.findings import LABELS, by_response, read_findings
from prism.protocols.psas.rows import (
    PROTOCOL,
    Marked,
    Stated,
    Variant,
    marks_by_rules,
    psas_row,
)
from prism.protocols.psas.rules import load_references, psas_rows, stated_nodes, with_part_labels
from prism.protocols.psas.steps import UNREADABLE, PsasReference, ReferencePart, ReferenceStep, parts_of
from prism.protocols.rows import Basis, ProtocolRow, Scored
from prism.protocols.schemas import schema_names, schema_text
from prism.runs.rollouts import Rollout

HERE = Path(__file__).parent
PUBLISHED = HERE / "files" / "published.json"
run = CliRunner()

BRAKING = {
    "id": "braking", "context": "A car of mass $m$ brakes with friction $\\mu$ from the speed $v_0$; $g$ is known.",
    "subquestions": [{"letter": "a", "subproblem": "Find its way $s$.", "final_answer_form": "numerical"}],
    "grading_standard": [
        {"index": 1, "formula": r"F = \mu m g", "dependency": []},
        {"index": 2, "formula": "a = F/m", "dependency": [1]},
        {"index": 3, "formula": "T = v_0/a", "dependency": [2]},
        {"index": 4, "formula": r"T = 5\unit{s}", "dependency": [3]},
        {"index": 5, "formula": "s = v_0 T/2", "dependency": [3, 4]},
        {"index": 6, "formula": r"s = 50\unit{m}", "dependency": [5], "is_final_answer": True},
    ],
}  # fmt: skip
TWO_PARTS = {
    "id": "throw", "context": "A ball is thrown up with the speed $v_0$; $g$ is known.",
    "subquestions": [
        {"letter": "a", "subproblem": "Find the time $T$ of its rise.", "final_answer_form": "algebraic"},
        {"letter": "b", "subproblem": "Find the height $h$ and the energy $E$.", "final_answer_form": "algebraic"},
    ],
    "grading_standard": [
        {"index": 1, "formula": "T = v_0/g", "dependency": [], "is_final_answer": True, "subquestion": "a"},
        {"index": 2, "formula": "v_0^2 = 2 g h", "dependency": []},
        {"index": 3, "formula": "h = v_0^2/(2 g)", "dependency": [2], "is_final_answer": True, "subquestion": "b"},
        {"index": 4, "formula": "E = m v_0^2/2", "dependency": [2], "is_final_answer": True, "subquestion": "b"},
    ],
}  # fmt: skip


def rows_of(
    problem: Mapping[str, Any], *texts: str, variant: str = "released", units: str = "count"
) -> list[ProtocolRow]:
    loaded = load_problem(problem)
    references = {loaded.id: PsasReference(loaded, parts_of(loaded))}
    return rows_by(references, loaded.id, texts, variant, units)


def rows_by(
    references: Mapping[str, PsasReference], name: str, texts: Sequence[str], variant: str = "released",
    units: str = "count",
) -> list[ProtocolRow]:  # fmt: skip
    problem = references[name].problem
    rollouts = [with_part_labels(problem, Rollout(name, text, str(n))) for n, text in enumerate(texts, start=1)]
    then = partial(stated_nodes, ignores_units=units == "ignore")
    graded = grade_rollouts({name: problem}, rollouts, then=then)
    return psas_rows(graded, references, variant=Variant(variant), units=units)


def ends(row: ProtocolRow) -> tuple[Any, ...]:
    return row.score, row.score_low, row.score_high


def scores(row: ProtocolRow) -> dict[str, Any]:
    return {part.name: part.score for part in row.parts}


# Steps. ---------------------------------------------------------------------------------------------------------


def test_a_number_shares_the_step_of_the_one_formula_that_it_follows_from() -> None:
    (part,) = parts_of(load_problem(BRAKING))
    assert [(step.name, step.equations, step.values) for step in part.steps] == [
        ("a/1", (1,), ()), ("a/2", (2,), ()), ("a/3", (3,), (4,)), ("a/4", (5,), (6,)),
    ]  # fmt: skip
    assert part.finals == (6,)


def test_a_number_that_follows_from_two_formulas_or_none_is_a_step_of_its_own() -> None:
    nodes = [
        {"index": 1, "formula": r"m = 2\unit{kg}", "dependency": []},
        {"index": 2, "formula": "p = m v", "dependency": [1]},
        {"index": 3, "formula": "E = p^2/(2 m)", "dependency": [1]},
        {"index": 4, "formula": r"E = 4\unit{J}", "dependency": [1, 3]},
        {"index": 5, "formula": r"p = 4\unit{kg m/s}", "dependency": [2, 3], "is_final_answer": True},
        {"index": 6, "formula": r"v = 2\unit{m/s}", "dependency": [4], "is_final_answer": True},
    ]
    (part,) = parts_of(load_problem({"id": "p", "context": "", "grading_standard": nodes}))
    assert [(step.name, step.equations, step.values) for step in part.steps] == [
        ("1", (), (1,)), ("2", (2,), ()), ("3", (3,), (4,)), ("4", (), (5,)), ("5", (), (6,)),
    ]  # fmt: skip


def test_a_step_belongs_to_the_first_part_whose_answer_rests_on_it() -> None:
    first, second = parts_of(load_problem(TWO_PARTS))
    assert (first.letter, [step.nodes for step in first.steps]) == ("a", [(1,)])
    assert (second.letter, [step.nodes for step in second.steps]) == ("b", [(2,), (3,), (4,)])
    assert second.finals == (3, 4)


# Worked by hand. ------------------------------------------------------------------------------------------------


def test_two_equations_without_a_value_and_one_step_by_its_number() -> None:
    """The example of the specification.

    The answer 100 m is wrong, so the four steps count. Steps 1 and 2 have an equation only, and it is stated:
    released 0.5 * 1 + 0.5 * 0 = 0.5 each, judged 1 each. Step 3 has its value, T = 5 s; then its equation holds too:
    0.5 + 0.5 = 1. Step 4 has neither: 0. Released (0.5 + 0.5 + 1 + 0)/4 = 0.5, judged (1 + 1 + 1 + 0)/4 = 0.75.
    """
    text = r"$F = \mu m g$, $a = F/m$, so $T = 5\,\mathrm{s}$ and $s = 100\,\mathrm{m}$."
    (released,), (judged,) = (rows_of(BRAKING, text, variant=variant) for variant in Variant)
    assert (released.score, judged.score) == (Fraction(1, 2), Fraction(3, 4))
    assert scores(released) == {"a/1": Fraction(1, 2), "a/2": Fraction(1, 2), "a/3": 1, "a/4": 0}
    assert scores(judged) == {"a/1": 1, "a/2": 1, "a/3": 1, "a/4": 0}
    assert released.to_dict()["score"] == 0.5
    assert released.parts[2].findings == ("no equation: node 3", "value: node 4")


def test_a_right_answer_is_the_whole_part() -> None:
    """Nothing but s = 50 m: the part scores 1, and no step is looked at."""
    (row,) = rows_of(BRAKING, r"It takes $s = 50\,\mathrm{m}$.")
    assert (row.score, scores(row)) == (Fraction(1), {"a": 1})
    assert row.final_correct is True


def test_an_equation_whose_value_is_missing_is_half_in_both_variants() -> None:
    """s = 60 m is wrong. Step 4 has both; only its equation s = v_0 T/2 is stated: 0.5 in either variant.

    Steps 1 to 3 are not stated: (0 + 0 + 0 + 0.5)/4 = 0.125.
    """
    text = r"$s = v_0 T/2$, and so $s = 60\,\mathrm{m}$."
    for variant in Variant:
        (row,) = rows_of(BRAKING, text, variant=variant)
        assert (row.score, row.to_dict()["score"]) == (Fraction(1, 8), 0.125)


def test_parts_are_weighted_by_their_steps() -> None:
    """Part a (one step) is right: 1. Part b has three steps, none with a value; h is right, E is wrong.

    The answer of b is h and E, so it is wrong. Its steps: v_0^2 = 2 g h is the same as h = v_0^2/(2 g), so stating h
    states both: released 0.5, 0.5, 0, judged 1, 1, 0. Released: b = 1/3, weighted (1 * 1 + 3 * 1/3)/4 = 1/2, plain
    (1 + 1/3)/2 = 2/3. Judged: b = 2/3, weighted (1 + 2)/4 = 3/4, plain (1 + 2/3)/2 = 5/6.
    """
    text = "(a) $T = v_0/g$\n\n(b) $h = v_0^2/(2 g)$ and $E = m v_0^2$"
    (released,), (judged,) = (rows_of(TWO_PARTS, text, variant=variant) for variant in Variant)
    assert (released.score, released.policies["psas_unweighted"]) == (Fraction(1, 2), Fraction(2, 3))
    assert (judged.score, judged.policies["psas_unweighted"]) == (Fraction(3, 4), Fraction(5, 6))
    assert released.to_dict()["policies"] == {
        "psas": 0.5, "psas_released": 0.5, "psas_judged": 0.75, "psas_unweighted": 0.666667,
    }  # fmt: skip
    assert released.final_correct is False


def test_what_stands_in_another_part_does_not_count() -> None:
    """h and v_0^2 = 2 g h stand under (a) only. Part a: T is missing, its one step 0. Part b: nothing: 0."""
    (row,) = rows_of(TWO_PARTS, "(a) $v_0^2 = 2 g h$, $h = v_0^2/(2 g)$\n\n(b) I do not know; $E = 7 m$.")
    assert (row.score, row.about.matched) == (Fraction(0), (2,))  # matched in the text, and not in that of its part


def test_a_part_that_the_response_lacks_has_no_steps() -> None:
    """Part b alone, whole: h and E right, so 1; of part a nothing. Weighted (1 * 0 + 3 * 1)/4 = 3/4, plain 1/2."""
    (row,) = rows_of(TWO_PARTS, "(a) I skip it.\n\n(b) $h = v_0^2/(2 g)$, $E = m v_0^2/2$.")
    assert (row.score, row.policies["psas_unweighted"]) == (Fraction(3, 4), Fraction(1, 2))


def test_nothing_is_stated_by_closure() -> None:
    """T = 5 s rests on nodes 1, 2 and 3; closure credits them, PSAS does not: (0 + 0 + 1 + 0)/4 = 0.25."""
    (row,) = rows_of(BRAKING, r"$T = 5\,\mathrm{s}$")
    assert row.score == Fraction(1, 4)


@pytest.mark.parametrize(("units", "score"), [("count", Fraction(0)), ("ignore", Fraction(1))])
def test_a_wrong_unit_is_wrong_unless_units_are_ignored(units: str, score: Fraction) -> None:
    """s = 50 km: the number is that of the answer, the unit is not."""
    (row,) = rows_of(BRAKING, r"$s = 50\,\mathrm{km}$", units=units)
    assert (row.score, row.settings["units"]) == (score, units)


@pytest.mark.parametrize("text", [r"$s = 51\,\mathrm{km}$", r"$x = 50\,\mathrm{km}$", r"$T = 50\,\mathrm{km}$"])
def test_ignored_units_change_no_number_and_no_quantity(text: str) -> None:
    assert rows_of(BRAKING, text, units="ignore")[0].score == 0


# What is undecided. ---------------------------------------------------------------------------------------------

STEPS = (ReferenceStep("a/1", (1,)), ReferenceStep("a/2", (2,), (3,)), ReferenceStep("a/3", (), (4,)))
PART = ReferencePart("a", (4,), STEPS)


def row_of(found: Stated, variant: Variant = Variant.RELEASED, parts: Sequence[ReferencePart] = (PART,)) -> ProtocolRow:
    marks = tuple(marks_by_rules(part, found) for part in parts)
    return psas_row(Marked(Scored("p", "s"), tuple(parts), marks), variant=variant, settings={"units": "count"})


def test_an_undecided_value_is_null_and_between_its_bounds() -> None:
    """Node 2 is stated, 3 undecided, the others not. Step 2 is 0.5 at worst and 1 at best.

    So the part is between (0 + 0.5 + 0)/3 = 1/6 and (0 + 1 + 0)/3 = 1/3, and null.
    """
    row = row_of(Stated(frozenset({2}), frozenset({3})))
    assert ends(row) == (None, Fraction(1, 6), Fraction(1, 3))
    assert (row.to_dict()["status"], row.to_dict()["score_low"], row.to_dict()["score_high"]) == (
        "undecided", 0.166667, 0.333333)  # fmt: skip
    assert scores(row) == {"a/1": 0, "a/2": None, "a/3": 0}
    assert [part.basis for part in row.parts] == [Basis.RULES, Basis.NONE, Basis.RULES]


def test_an_undecided_equation_does_not_matter_where_the_value_holds() -> None:
    row = row_of(Stated(frozenset({3}), frozenset({2})))
    assert (row.score, scores(row)["a/2"]) == (Fraction(1, 3), 1)


def test_an_undecided_answer_may_be_worth_the_whole_part() -> None:
    """Node 4 is the answer and the value of step 3. At worst nothing: 0. At best the answer is right: 1."""
    row = row_of(Stated(frozenset(), frozenset({4})))
    assert (*ends(row), row.final_correct) == (None, 0, 1, None)
    assert [part.name for part in row.parts] == ["a", "a/1", "a/2", "a/3"]


def test_what_the_reference_does_not_let_read_is_undecided() -> None:
    part = ReferencePart("a", (UNREADABLE,), (ReferenceStep("a/1", (1,)),))
    row = row_of(Stated(frozenset({1})), parts=[part])
    assert ends(row) == (None, Fraction(1, 2), 1)


def test_a_response_of_which_nothing_can_be_read_is_null() -> None:
    (row,) = rows_of(BRAKING, "The car stops after a while.")
    assert ends(row) == (None, 0, 1)
    assert row.notes == ("no formula could be read, so nothing is decided",)


@pytest.mark.parametrize("variant", ["released", "judged"])
def test_an_empty_response_lacks_every_part_and_has_0(variant: str) -> None:
    for row in rows_of(TWO_PARTS, "", " \n", variant=variant):
        assert ends(row) == (0, 0, 0)
        assert set(scores(row).values()) == {0}
        assert row.notes == ("the response is empty",)
        assert row.final_correct is False


@pytest.mark.parametrize(("said", "low", "high"), [
    (r"Z = \beta\langle E_n^2 \rangle", Fraction(0), Fraction(1, 4)),  # may be node 1, at best 0.5 of it
    (r"N = \gamma\langle A_n^2 \rangle", Fraction(0), Fraction(0)),  # undecided too, and of other symbols
])  # fmt: skip
def test_an_undecided_formula_leaves_a_node_open_whose_symbols_it_has(said: str, low: Fraction, high: Fraction) -> None:
    nodes = [
        {"index": 1, "formula": r"Z = \beta\langle E_n \rangle", "dependency": []},
        {"index": 2, "formula": "v = a t", "dependency": [1], "is_final_answer": True},
    ]
    (row,) = rows_of({"id": "p", "context": "", "grading_standard": nodes}, f"${said}$, $v = 2 a t$")
    assert (row.score_low, row.score_high, row.score is None) == (low, high, low != high)


# Properties. ----------------------------------------------------------------------------------------------------

INDICES = st.integers(1, 8)
SETS = st.frozensets(INDICES, max_size=8)


@st.composite
def references(draw: st.DrawFn) -> list[ReferencePart]:
    parts = []
    for letter in "abc"[: draw(st.integers(1, 3))]:
        sides = draw(st.lists(st.tuples(SETS.map(sorted), SETS.map(sorted)), min_size=1, max_size=4))
        steps = [
            ReferenceStep(f"{letter}/{n}", tuple(one[:2]), tuple(other[:2])) for n, (one, other) in enumerate(sides, 1)
        ]
        parts.append(ReferencePart(letter, tuple(sorted(draw(SETS)))[:2], tuple(steps)))
    return parts


VARIANTS = st.sampled_from(list(Variant))


@given(references(), SETS, SETS, VARIANTS)
def test_bounds_hold_the_score_of_every_way_to_decide(
    parts: list[ReferencePart], stated: frozenset[int], undecided: frozenset[int], variant: Variant
) -> None:
    undecided -= stated
    row = row_of(Stated(stated, undecided), variant, parts)
    for drawn in (frozenset[int](), undecided, frozenset(sorted(undecided)[::2])):
        decided = row_of(Stated(stated | drawn), variant, parts).score
        assert decided is not None
        assert row.score_low <= decided <= row.score_high
        assert row.score is None or decided == row.score


@given(references(), SETS, SETS, VARIANTS)
def test_to_state_more_never_lowers_a_score(
    parts: list[ReferencePart], stated: frozenset[int], more: frozenset[int], variant: Variant
) -> None:
    one, other = (row_of(Stated(found), variant, parts).score for found in (stated, stated | more))
    assert one is not None
    assert other is not None
    assert one <= other


@given(references(), SETS)
def test_judged_is_never_below_released_where_each_step_has_something(
    parts: list[ReferencePart], stated: frozenset[int]
) -> None:
    whole = [
        ReferencePart(part.letter, part.finals, tuple(step for step in part.steps if step.nodes)) for part in parts
    ]
    policies = row_of(Stated(stated), parts=[part for part in whole if part.steps] or [PART]).policies
    assert (policies["psas_released"] or 0) <= (policies["psas_judged"] or 0)


@given(references(), SETS, VARIANTS, st.randoms(use_true_random=False))
def test_the_order_of_steps_and_parts_changes_nothing(
    parts: list[ReferencePart], stated: frozenset[int], variant: Variant, drawn: random.Random
) -> None:
    shuffled = [
        ReferencePart(part.letter, part.finals, tuple(drawn.sample(part.steps, len(part.steps))))
        for part in drawn.sample(parts, len(parts))
    ]
    one, other = (row_of(Stated(stated), variant, each) for each in (parts, shuffled))
    assert (one.score, one.policies) == (other.score, other.policies)
    assert scores(one) == scores(other)


@given(references(), SETS, VARIANTS)
def test_all_stated_is_one_and_nothing_stated_is_none(
    parts: list[ReferencePart], stated: frozenset[int], variant: Variant
) -> None:
    whole = [ReferencePart(part.letter, (1,), part.steps) for part in parts]
    assert row_of(Stated(frozenset(range(1, 9))), variant, whole).score == 1
    assert row_of(Stated(), variant, whole).score == 0


# Findings. ------------------------------------------------------------------------------------------------------

SCHEMA = json.loads(schema_text("psas_findings"))


def findings_file(tmp_path: Path, *entries: Mapping[str, Any]) -> Path:
    path = tmp_path / "findings.jsonl"
    lines = ({"problem_id": "braking", "sample_id": "1", **entry} for entry in entries)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rows_with(path: Path, text: str, *, prefer_rules: bool = False, variant: str = "released") -> ProtocolRow:
    loaded = load_problem(BRAKING)
    references = {"braking": PsasReference(loaded, parts_of(loaded))}
    findings = by_response(read_findings(path), {"braking": references["braking"].parts})
    graded = grade_rollouts({"braking": loaded}, [Rollout("braking", text, "1")], then=stated_nodes)
    (row,) = psas_rows(graded, references, variant=Variant(variant), findings=findings, prefer_rules=prefer_rules)
    return row


def test_a_finding_counts_where_rules_say_something_else(tmp_path: Path) -> None:
    """T = 5 s: step 3 by rule 1. The file says its value is false and its equation true: 0.5; part 0.5/4 = 0.125."""
    path = findings_file(tmp_path, {"step": "a/3", "value": False, "equation": True, "label": "dce"})
    row = rows_with(path, r"$T = 5\,\mathrm{s}$")
    assert (row.score, row.parts[2].basis) == (Fraction(1, 8), Basis.CONFLICT)
    assert row.parts[2].findings[-1] == "label: DCE"
    assert rows_with(path, r"$T = 5\,\mathrm{s}$", prefer_rules=True).score == Fraction(1, 4)


def test_a_conflict_about_an_answer_is_told_where_its_part_has_no_entry(tmp_path: Path) -> None:
    """The answer is right by rule, and 1; the file denies it, so that step 4 counts alone, by its value: 1/4."""
    path = findings_file(tmp_path, {"part": "a", "answer": False})
    row = rows_with(path, r"$s = 50\,\mathrm{m}$")
    assert row.score == Fraction(1, 4)
    assert row.notes == ("conflict: a, final answer: node 6, rules: True, file: False",)
    preferred = rows_with(path, r"$s = 50\,\mathrm{m}$", prefer_rules=True)
    assert (preferred.score, preferred.parts[0].basis) == (Fraction(1), Basis.CONFLICT)
    assert not preferred.notes


def test_a_finding_settles_what_is_undecided(tmp_path: Path) -> None:
    path = findings_file(
        tmp_path, {"part": "a", "answer": False}, {"part": "a", "step": 1, "equation": True},
        *({"step": f"a/{n}", "equation": False, "value": False} for n in (1, 2, 3, 4) if n != 1),
        {"step": "a/1", "value": True},  # which the reference does not have: nothing is said
    )  # fmt: skip
    row = rows_with(path, "Nothing to read here.")
    assert (row.score, {part.basis for part in row.parts}) == (Fraction(1, 8), {Basis.FILE})


def test_two_who_agree_are_both(tmp_path: Path) -> None:
    path = findings_file(tmp_path, {"step": "a/3", "value": True})
    assert rows_with(path, r"$T = 5\,\mathrm{s}$").parts[2].basis == Basis.BOTH


def test_the_order_of_findings_changes_nothing(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [
        {"step": "a/1", "equation": True},
        {"step": "a/2", "label": "CAE"},
        {"part": "a", "answer": False},
    ]
    rows = [rows_with(findings_file(tmp_path, *order), r"$T = 5\,\mathrm{s}$").to_dict()
            for order in (entries, entries[::-1], entries[1:] + entries[:1])]  # fmt: skip
    assert rows[0] == rows[1] == rows[2]


def test_findings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    path = findings_file(tmp_path, {"step": "a/1", "equation": True}, {"step": "a/1", "equation": False})
    with pytest.raises(PrismError, match="a/1: equation is both true and false"):
        rows_with(path, r"$T = 5\,\mathrm{s}$")


def test_all_faults_of_findings_are_told_at_once(tmp_path: Path) -> None:
    path = findings_file(
        tmp_path, {"step": "a/9", "equation": True}, {"part": "z", "answer": True},
        {"problem_id": "else", "step": "a/1", "value": True}, {"step": "a/1", "value": "yes"},
    )  # fmt: skip
    with pytest.raises(DataFileError) as caught:
        rows_with(path, "$T = 5$")
    assert sorted(fault.split(": ")[1] for fault in caught.value.faults) == ["part", "problem_id", "step", "value"]


@pytest.mark.parametrize(("entry", "is_right"), [
    ({"step": "a/1", "equation": True}, True), ({"part": "a", "step": 1, "value": None, "label": "UDE"}, True),
    ({"part": "a", "answer": False}, True), ({"answer": True, "comment": "clear"}, True), ({"step": "a/1"}, False),
    ({"equation": True}, False), ({"answer": True, "step": "a/1"}, False), ({"step": "a/1", "label": "XYZ"}, False),
    ({"step": "a/1", "equation": "yes"}, False), ({"step": "a/1", "equation": True, "problem_id": None}, False),
    ({"answer": True, "label": "DCE"}, False), ({"step": [1], "equation": True}, False),
])  # fmt: skip
def test_the_schema_and_the_reader_agree(tmp_path: Path, entry: dict[str, Any], is_right: bool) -> None:
    path = findings_file(tmp_path, entry)
    whole = {"problem_id": "braking", "sample_id": "1", **entry}
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(whole) == is_right
    assert (not read_findings(path).faults) == is_right


def test_the_labels_of_the_schema_are_those_of_the_reader() -> None:
    assert SCHEMA["properties"]["label"]["enum"] == [*LABELS, None]


# The published shape. -------------------------------------------------------------------------------------------


def test_the_fixture_has_the_published_shape() -> None:
    schema = json.loads(schema_text("psas_problem"))
    assert set(schema_names()) >= {"psas_findings", "psas_problem"}
    jsonschema.validate(json.loads(PUBLISHED.read_text("utf-8")), schema)


def test_steps_are_read_as_they_are_numbered() -> None:
    reference = load_references(str(PUBLISHED))["sled"]
    first, second = reference.parts
    assert [step.name for part in reference.parts for step in part.steps] == ["a/1", "a/2", "b/3", "b/4", "b/5"]
    assert [node.latex for node in reference.problem.nodes] == [
        "F = m a", "a = F/m", r"a = 1.5\unit{m/s^2}", "v = a t", r"v = 6\unit{m/s}", r"s = \frac{1}{2} a t^2",
        r"s = 12\unit{m}",
    ]  # fmt: skip
    assert (first.finals, second.finals, second.steps[2].nodes, reference.n_unreadable) == ((3,), (7,), (), 0)


def test_a_response_in_the_published_format() -> None:
    """Part a is right: 1, of two steps. Part b: s = 13 m is wrong; three steps.

    Step 3, v = 6 m/s: its value holds: 1. Step 4: neither: 0. Step 5 has N/A in both: released 0, judged left out.
    Released b = 1/3, weighted (2 * 1 + 3 * 1/3)/5 = 3/5. Judged b = 1/2, weighted (2 * 1 + 2 * 1/2)/4 = 3/4.
    """
    text = (
        "sub_question_1:\nstep_1: $F = m a$\nsub_question_1_answer: $a = 1.5\\,\\mathrm{m/s^2}$\n"
        "sub_question_2:\nstep_3: $v = a t$, so $v = 6\\,\\mathrm{m/s}$\n"
        "sub_question_2_answer: $s = 13\\,\\mathrm{m}$\n"
    )
    references = load_references(str(PUBLISHED))
    released, judged = (rows_by(references, "sled", [text], variant)[0] for variant in Variant)
    assert (released.score, judged.score) == (Fraction(3, 5), Fraction(3, 4))
    assert scores(released) == {"a": 1, "b/3": 1, "b/4": 0, "b/5": 0}
    assert scores(judged) == {"a": 1, "b/3": 1, "b/4": 0}


def test_all_faults_of_a_published_problem_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    data = json.loads(PUBLISHED.read_text("utf-8"))
    data["answer"] = ["a = 1"]
    del data["explanation_steps"]["sub_question_2"], data["id"]
    path.write_text(json.dumps(data))
    with pytest.raises(DataFileError) as caught:
        load_references(str(path))
    assert len(caught.value.faults) == 3


def test_what_cannot_be_read_in_a_published_problem_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    data = json.loads(PUBLISHED.read_text("utf-8"))
    data["steps_analysis"]["step_1"]["result_quantity"][0]["equation"] = "F = ((m a"
    path.write_text(json.dumps(data))
    references = load_references(str(path))
    assert references["sled"].n_unreadable == 1
    (row,) = rows_by(references, "sled", ["(a) $a = 7\\,\\mathrm{m/s^2}$ (b) $s = 1\\,\\mathrm{m}$"])
    assert ends(row) == (None, 0, Fraction(1, 10))  # half of one of five steps
    assert row.notes == ("unreadable in the reference, so undecided: 1",)


# The command. ---------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    problem, rollouts = tmp_path / "braking.json", tmp_path / "rollouts.jsonl"
    problem.write_text(json.dumps(BRAKING), encoding="utf-8")
    texts = {"m1": r"$F = \mu m g$, $a = F/m$, $T = 5\,\mathrm{s}$, $s = 100\,\mathrm{m}$", "m2": "Nothing."}
    rollouts.write_text(
        "".join(json.dumps({"problem_id": "braking", "sample_id": name, "model": name[0], "response": text}) + "\n"
                for name, text in texts.items())
    )  # fmt: skip
    return problem, rollouts


def test_the_command_prints_one_object_and_writes_rows(files: tuple[Path, Path], tmp_path: Path) -> None:
    words = ["protocol", "psas", *map(str, files), "--workers", "0", "--json"]
    found = json.loads(run.invoke(app, words).stdout)
    assert (found["rows"], found["scored"], found["mean_score"], found["mean_high"]) == (2, 1, 0.5, 0.75)
    assert found["rows_list"][0]["policies"]["psas_judged"] == 0.75
    out = tmp_path / "rows.parquet"
    result = run.invoke(app, [*words, "-o", str(out)])
    assert (result.exit_code, "rows_list" in json.loads(result.stdout)) == (0, False)
    again = run.invoke(app, [*words, "-o", str(out)])
    assert (again.exit_code, "--force" in again.stderr) == (3, True)


def test_the_command_shows_a_table(files: tuple[Path, Path]) -> None:
    result = run.invoke(app, ["protocol", "psas", *map(str, files), "--workers", "0", "--variant", "judged"])
    assert result.exit_code == 0
    assert "0.750" in result.stdout
    assert "null" in result.stdout
    assert f"{PROTOCOL} (judged): 2 rows (1 ok, 1 undecided)" in result.stdout


def test_nothing_that_has_a_score_is_exit_code_5(files: tuple[Path, Path]) -> None:
    lines = files[1].read_text().splitlines(keepends=True)
    files[1].write_text(lines[1])
    assert run.invoke(app, ["protocol", "psas", *map(str, files), "--workers", "0"]).exit_code == 5


@pytest.mark.parametrize(("option", "code"), [
    (["--variant", "other"], 2), (["--units", "si"], 2), (["--prefer", "me"], 2), (["-o", "rows.csv"], 3),
    (["--findings", "nowhere.jsonl"], 3),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(files: tuple[Path, Path], option: list[str], code: int) -> None:
    assert run.invoke(app, ["protocol", "psas", *map(str, files), "--workers", "0", *option]).exit_code == code
