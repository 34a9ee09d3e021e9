"""EngJudge's arithmetic: examples worked by hand to the last digit, and what holds for all numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.errors import DataFileError
from prism.protocols.engjudge.findings import Band, error_band, overall_band, relative_error
from prism.protocols.engjudge.scoring import (
    PENALTIES,
    Ablation,
    AbsentStage,
    Checks,
    Presence,
    ScoringOptions,
    StageValue,
    decided_score,
    final_score,
    propagate,
    propagated_scores,
    score_bounds,
    single_pass,
    single_pass_with_propagation,
    stage_totals,
)
from prism.protocols.engjudge.topology import (
    NAMES,
    SHORT_NAMES,
    TOPOLOGIES,
    Topology,
    find_stages,
    load_topology,
    read_topology,
)

FLAT, LINEAR, DEFAULT = (TOPOLOGIES[name] for name in ("flat", "linear", "default"))
EVERYTHING = frozenset(Ablation)


def stages(**scores: int | Fraction | None) -> dict[str, Fraction | None]:
    """Stages by initials; 10 for what is not named."""
    points = {name: scores.get(short, 10) for short, name in SHORT_NAMES.items()}
    return {name: None if value is None else Fraction(value) for name, value in points.items()}


def values(**scores: int | None) -> dict[str, StageValue]:
    """Stages that are there, by initials; None for one that nobody decided, 10 for what is not named."""
    points = stages(**scores)
    return {name: StageValue(Presence.PRESENT, value) for name, value in points.items()}


def exact(*numbers: int | str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def short(scores: dict[str, Fraction] | None) -> dict[str, Fraction]:
    initials = {name: each for each, name in SHORT_NAMES.items()}
    return {initials[name]: value for name, value in (scores or {}).items()}


# By hand. -----------------------------------------------------------------------------------------------------------


def test_penalties_and_caps_by_hand() -> None:
    # MODERATE 4 + MINOR 2 = 6, 10 - 6 = 4, and the cap 3 is lower: 3
    totals = stage_totals([4, 2], [3])
    assert (totals.penalties, totals.raw, totals.capped) == exact(6, 4, 3)
    # MAJOR 7 + MODERATE 4 = 11; 10 - 11 is below 0: 0, and no cap of 4 lifts it
    totals = stage_totals([7, 4], [4])
    assert (totals.penalties, totals.raw, totals.capped) == exact(11, 0, 0)
    # nothing wrong, but two caps: the lower one
    assert stage_totals([], [4, 2]).capped == 2
    assert stage_totals([]).capped == 10


def test_one_wrong_equation_by_hand() -> None:
    """Y = 10 but for ES = 3, over the default graph.

    PC = 10; AS = 10 * 10/10 = 10; VI = 10 * (10 + 10)/2 / 10 = 10; ES = 3 * (10 + 10)/2 / 10 = 3;
    LR = 10 * (AS 10 + ES 3)/2 / 10 = 6.5; AA = 10 * (ES 3 + LR 6.5)/2 / 10 = 4.75; PI = 10 * (10 + 3)/2 / 10 = 6.5;
    FA = 10 * 4.75/10 = 4.75. Sum 10 + 10 + 10 + 3 + 6.5 + 4.75 + 6.5 + 4.75 = 55.5; base = 55.5 / 8 = 6.9375.
    """
    found = final_score(stages(ES=3), Checks())
    assert short(dict(found.propagated)) == {
        "PC": 10, "AS": 10, "VI": 10, "ES": 3, "LR": Fraction(13, 2), "AA": Fraction(19, 4), "PI": Fraction(13, 2),
        "FA": Fraction(19, 4),
    }  # fmt: skip
    assert found.base == found.final == Fraction("6.9375")


def test_the_linear_chain_by_hand() -> None:
    """Y: PC 8, AS 5, the rest 10. The chain multiplies: 8, 8 * 5/10 = 4, and then 4 six times.

    base = (8 + 7 * 4) / 8 = 36 / 8 = 4.5. Flat: (8 + 5 + 60) / 8 = 73 / 8 = 9.125.
    """
    judged = stages(PC=8, AS=5)
    assert final_score(judged, Checks(), ScoringOptions(LINEAR)).final == Fraction("4.5")
    assert final_score(judged, Checks(), ScoringOptions(FLAT)).final == Fraction("9.125")


def test_absent_stages_by_hand() -> None:
    """ES and VI absent, AA = 4, all else 10.

    Left out: PC 10, AS 10, LR = 10 * AS/10 = 10 (ES is no parent), AA = 4 * LR/10 = 4, PI = 10, FA = 10 * 4/10 = 4:
    base = (10 + 10 + 10 + 4 + 10 + 4) / 6 = 48/6 = 8; blend = 8 - 2 * 2 = 4.
    As zeros: PC 10, AS 10, VI 0, ES 0, LR = 10 * (10 + 0)/2/10 = 5, AA = 4 * (0 + 5)/2/10 = 1,
    PI = 10 * (10 + 0)/2/10 = 5, FA = 10 * 1/10 = 1: base = 32/8 = 4; blend = 4 - 4 = 0.
    """
    judged = stages(ES=None, VI=None, AA=4)
    left_out = final_score(judged, Checks())
    assert (left_out.base, left_out.blend, left_out.final) == exact(8, 4, 4)
    zeros = final_score(judged, Checks(), ScoringOptions(absent=AbsentStage.ZERO))
    assert (zeros.base, zeros.blend, zeros.final) == exact(4, 0, 0)
    unpunished = ScoringOptions(absent=AbsentStage.ZERO, without=frozenset((Ablation.MISSING,)))
    assert final_score(judged, Checks(), unpunished).final == 4


def test_the_checks_by_hand() -> None:
    """All stages 10; CS = 3: min(0.5, 7 * 0.1) = 0.5; VS = 8: min(0.5, 2 * 0.1) = 0.2; sanity fails: 0.9.

    10 * 0.5 * 0.8 * 0.9 = 3.6.
    """
    checks = Checks(Fraction(3), Fraction(8), False)
    found = final_score(stages(), checks)
    assert (found.coverage, found.verbosity, found.sanity) == (Fraction(1, 2), Fraction(1, 5), Fraction(9, 10))
    assert found.final == Fraction("3.6")
    assert final_score(stages(), checks, ScoringOptions(without=frozenset((Ablation.META,)))).final == 10


def test_everything_together_by_hand() -> None:
    """Y: PC 6, ES 3, FA 6, PI absent, the rest 10; CS = 6, VS = 10, sane.

    PC 6; AS = 10 * 0.6 = 6; VI = 10 * (6 + 6)/2/10 = 6; ES = 3 * (6 + 6)/2/10 = 1.8; LR = 10 * (6 + 1.8)/2/10 = 3.9;
    AA = 10 * (1.8 + 3.9)/2/10 = 2.85; FA = 6 * 2.85/10 = 1.71.
    Sum 6 + 6 + 6 + 1.8 + 3.9 + 2.85 + 1.71 = 28.26; base = 28.26/7; blend = 28.26/7 - 2 = 14.26/7;
    final = 14.26/7 * (1 - 0.4) = 8.556/7 = 2139/1750 = 1.22228...
    SinglePass = (6 + 10 + 10 + 3 + 10 + 10 + 6)/7 = 55/7; SinglePass + DP = 28.26/7 = 1413/350.
    """
    judged = stages(PC=6, ES=3, FA=6, PI=None)
    found = final_score(judged, Checks(coverage=Fraction(6)))
    assert found.final == Fraction(2139, 1750)
    known = {
        name: StageValue(Presence.ABSENT if value is None else Presence.PRESENT, value)
        for name, value in judged.items()
    }
    assert single_pass(known, ScoringOptions()) == Fraction(55, 7)
    assert single_pass_with_propagation(known, ScoringOptions()) == Fraction(1413, 350)


def test_bounds_by_hand() -> None:
    """PI null, verbosity null, all else 10: PI is a leaf.

    Low: PI = 0, so base = 70/8 = 8.75, and verbosity takes a half: 4.375. High: 10.
    Where PI may be absent: 70/7 - 2 = 8 is less than 8.75, so low = 8 * 0.5 = 4.
    """
    judged = values(PI=None)
    checks = Checks(verbosity=None)
    assert decided_score(judged, checks) is None
    bounds = score_bounds(judged, checks)
    assert (bounds.low, bounds.high) == exact("4.375", 10)
    judged["PHYSICAL_INTERPRETATION"] = StageValue()
    bounds = score_bounds(judged, checks)
    assert (bounds.low, bounds.high) == exact(4, 10)
    without = ScoringOptions(without=frozenset((Ablation.META,)))
    assert score_bounds(judged, checks, without).low == 8
    # an unmade check of sanity takes a tenth at most
    assert score_bounds(values(), Checks(is_sane=None)).low == 9


def test_a_null_is_no_zero_and_no_ten() -> None:
    """PC = 0 settles every stage after it, but a part that nobody decided leaves the score null."""
    judged = values(PC=0, FA=None)
    assert decided_score(judged, Checks()) is None
    assert score_bounds(judged, Checks()) == score_bounds(values(PC=0), Checks())
    assert "FA" not in short(propagated_scores(judged, ScoringOptions()))
    assert single_pass(judged, ScoringOptions()) is None


def test_propagated_scores_stop_at_what_is_open() -> None:
    found = short(propagated_scores(values(ES=None, AS=5), ScoringOptions()))
    assert found == {"PC": 10, "AS": 5, "VI": Fraction(15, 2)}
    flat = ScoringOptions(without=frozenset((Ablation.PROPAGATION,)))
    assert len(propagated_scores(values(ES=None), flat)) == 7


@pytest.mark.parametrize(
    ("stated", "reference", "band"),
    [
        ("105", "100", "correct"), ("105.01", "100", "moderate"), ("110", "100", "moderate"), ("89.9", "100", "major"),
        ("-100", "100", "major"), ("999", "100", "major"), ("1000", "100", "critical"), ("10.1", "100", "major"),
        ("10", "100", "critical"), ("-1000", "100", "critical"), ("0", "100", "major"), ("0", "0", "correct"),
        ("-95", "-100", "correct"), ("500", "520", "correct"),
    ],
)  # fmt: skip
def test_bands_at_their_edges(stated: str, reference: str, band: str) -> None:
    assert error_band(Fraction(stated), Fraction(reference)) == band


def test_a_reference_of_zero_has_no_relative_error() -> None:
    assert relative_error(Fraction(1), Fraction(0)) is None
    assert error_band(Fraction(1), Fraction(0)) is None


def test_one_band_for_several_values() -> None:
    right, near, off, far = Band
    assert overall_band([right, far]) is off
    assert overall_band([right, near]) is near
    assert overall_band([off, far]) is far
    assert overall_band([right, right]) is right
    assert overall_band([]) is right


# Topologies. --------------------------------------------------------------------------------------------------------


def test_the_default_graph_says_what_the_text_says() -> None:
    parents = {child: {*of} for child, of in DEFAULT.to_dict().items()}
    assert [child for child, of in parents.items() if not of] == ["PC"]
    assert "VI" in parents["ES"]
    assert parents["AA"] == {"ES", "LR"}
    assert parents["FA"] == {"AA"}
    assert not any("PI" in of for of in parents.values())
    assert "AA" not in parents["PI"]
    later = set(SHORT_NAMES) - {"PC", "AS"}
    for first in ("PC", "AS"):  # both affect all later stages
        reached = {first}
        for child in SHORT_NAMES:
            reached |= {child} if parents[child] & reached else set()
        assert later <= reached


def test_a_topology_from_a_file(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('FA = ["AA", "PHYSICAL_INTERPRETATION"]\nAA = ["ES"]\n', encoding="utf-8")
    found = load_topology(str(path))
    assert found.parents["FINAL_ANSWER"] == ("ALGEBRAIC_ACCURACY", "PHYSICAL_INTERPRETATION")
    assert found.parents["ASSUMPTIONS"] == ()
    again = tmp_path / "mine.json"
    again.write_text('{"FA": ["AA", "PI"], "AA": ["ES"]}', encoding="utf-8")
    assert load_topology(str(again)).parents == found.parents


def test_all_faults_of_a_topology_at_once(tmp_path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"AX": [], "ES": "VI", "AA": ["ZZ"], "LR": ["PI"], "PI": ["LR"]}', encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        load_topology(str(path))
    told = str(caught.value)
    assert "AX" in told
    assert "ES: found a value of type str; expected a list of stages" in told
    assert '"ZZ" is no stage' in told
    assert "follow from each other" in told
    with pytest.raises(DataFileError, match='did you mean "linear"'):
        load_topology("linaer")
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(DataFileError, match="expected lists of stages by stage"):
        load_topology(str(path))


# Tags. --------------------------------------------------------------------------------------------------------------


def test_tags_of_both_spellings_and_without_blanks() -> None:
    text = (
        "###### PROBLEM_CHARACTERIZATION ###### a wall ###### END_STEP ######\n"
        "######ASSUMPTIONS######\nsteady\n######END_STAGE######\n"
        "###### FINAL_ANSWER ######\n$Q = 3$"
    )
    found = find_stages(text)
    assert [*found.spans] == ["PROBLEM_CHARACTERIZATION", "ASSUMPTIONS", "FINAL_ANSWER"]
    start, end = found.spans["ASSUMPTIONS"][0]
    assert text[start:end].strip() == "steady"
    assert found.notes == ("tags: FINAL_ANSWER has no end tag; it ends with the text",)


def test_tags_that_do_not_fit_are_told() -> None:
    text = (
        "###### ASUMPTIONS ###### x ###### END_STEP ###### ###### FINAL_ANSWER ###### ###### END_STEP ######"
        "###### LOGICAL_REASONING ###### a ###### FINAL_ANSWER ###### b ###### END_STEP ######"
    )
    assert find_stages(text).notes == (
        "tags: LOGICAL_REASONING has no end tag; it ends where FINAL_ANSWER begins",
        'tags: "ASUMPTIONS" is no stage; ASSUMPTIONS is near',
        "tags: FINAL_ANSWER is opened 2 times",
    )
    assert not find_stages("# Final answer\n\n###### Note ######").spans
    empty = find_stages("###### FINAL_ANSWER ###### ###### END_STEP ######")
    assert empty.spans
    assert empty.notes == ("tags: FINAL_ANSWER has no text",)


# For all numbers. ---------------------------------------------------------------------------------------------------

points = st.integers(0, 100).map(lambda tenths: Fraction(tenths, 10))
penalties = st.lists(st.sampled_from(sorted(PENALTIES.values())), max_size=5)
caps = st.lists(st.integers(0, 10), max_size=3)
judged_stages = st.fixed_dictionaries(dict.fromkeys(NAMES, points))
maybe_absent = st.fixed_dictionaries(dict.fromkeys(NAMES, st.none() | points))
checks = st.builds(Checks, points, points, st.booleans())
made_checks = st.builds(Checks, st.none() | points, st.none() | points, st.none() | st.booleans())
ablations = st.frozensets(st.sampled_from(Ablation))
stage_values = st.fixed_dictionaries(
    dict.fromkeys(
        NAMES,
        st.one_of(
            st.builds(StageValue, st.just(Presence.PRESENT), st.none() | points),
            st.just(StageValue(Presence.ABSENT)),
            st.just(StageValue()),
        ),
    )
)


@st.composite
def topologies(draw) -> Topology:
    """Any graph over the stages: a random order, and parents from those before."""
    order = draw(st.permutations([*SHORT_NAMES]))
    parents = {
        name: draw(st.lists(st.sampled_from(order[:at]), unique=True)) if at else [] for at, name in enumerate(order)
    }
    return read_topology(parents, "drawn")


options = st.builds(ScoringOptions, topologies(), ablations, st.sampled_from(AbsentStage))


@given(penalties, caps, st.integers(0, 10))
def test_a_cap_never_raises_a_score(costs, limits, cap) -> None:
    assert stage_totals(costs, [*limits, cap]).capped <= stage_totals(costs, limits).capped


@given(penalties, caps, st.randoms(use_true_random=False))
def test_the_order_of_faults_changes_nothing(costs, limits, random) -> None:
    shuffled = random.sample(costs, len(costs))
    assert stage_totals(shuffled, reversed(limits)) == stage_totals(costs, limits)


@given(maybe_absent, topologies())
def test_no_stage_is_raised_by_those_before_it(judged, topology) -> None:
    known = {name: value for name, value in judged.items() if value is not None}
    found = propagate(known, topology)
    assert found.keys() == known.keys()
    assert all(0 <= found[name] <= known[name] for name in known)


@given(maybe_absent, st.sampled_from(NAMES), points, checks, options)
def test_a_worse_stage_never_helps(judged, name, lower, made, chosen) -> None:
    if judged[name] is None or judged[name] < lower:
        return
    before, after = (final_score(each, made, chosen) for each in (judged, {**judged, name: lower}))
    assert after.final <= before.final
    assert all(after.propagated[each] <= before.propagated[each] for each in before.propagated)


@given(judged_stages, ablations)
def test_without_edges_the_base_is_the_mean(judged, without) -> None:
    mean = sum(judged.values()) / 8
    assert final_score(judged, Checks(), ScoringOptions(FLAT, without)).final == mean
    assert final_score(judged, Checks(), ScoringOptions(DEFAULT, without | {Ablation.PROPAGATION})).final == mean


@given(maybe_absent, checks, st.sampled_from(AbsentStage))
def test_flat_is_never_below_the_chain(judged, made, absent) -> None:
    flat, dag, linear = (
        final_score(judged, made, ScoringOptions(topology, absent=absent)).final for topology in (FLAT, DEFAULT, LINEAR)
    )
    assert flat >= dag
    assert flat >= linear


@given(maybe_absent, checks, options)
def test_a_score_lies_between_nought_and_ten(judged, made, chosen) -> None:
    found = final_score(judged, made, chosen)
    assert 0 <= found.final <= found.blend <= found.base <= 10


@given(stage_values, made_checks, options, st.data())
def test_the_bounds_contain_every_completion(judged, made, chosen, data) -> None:
    bounds = score_bounds(judged, made, chosen)
    full = {}
    for name, value in judged.items():
        if value.presence is Presence.ABSENT or value.score is not None:
            full[name] = value.score
        else:
            unknown = points if value.presence is Presence.PRESENT else st.none() | points
            full[name] = data.draw(unknown)
    complete = Checks(
        data.draw(points) if made.coverage is None else made.coverage,
        data.draw(points) if made.verbosity is None else made.verbosity,
        data.draw(st.booleans()) if made.is_sane is None else made.is_sane,
    )
    assert bounds.low <= final_score(full, complete, chosen).final <= bounds.high
    found = decided_score(judged, made, chosen)
    if found is not None:
        assert bounds.low == found.final == bounds.high


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_the_bounds_are_reached(topology) -> None:
    """The slow twin: every completion with 0, 5 and 10, present and absent."""
    judged = values(PC=7, ES=None, PI=None)
    judged["LOGICAL_REASONING"] = StageValue()
    open_stages = [name for name in NAMES if not judged[name].is_decided]
    found = []
    for way in product((0, 5, 10, None), repeat=len(open_stages)):
        chosen = dict(zip(open_stages, way, strict=True))
        if any(chosen[name] is None and judged[name].presence is Presence.PRESENT for name in open_stages):
            continue
        filled = {name: chosen.get(name, judged[name].score) for name in NAMES}
        full = {name: None if value is None else Fraction(value) for name, value in filled.items()}
        for coverage, is_sane in product((0, 5, 10), (True, False)):
            found.append(final_score(full, Checks(Fraction(coverage), Fraction(10), is_sane), ScoringOptions(topology)))
    bounds = score_bounds(judged, Checks(None, Fraction(10), None), ScoringOptions(topology))
    assert bounds.low == min(each.final for each in found)
    assert bounds.high == max(each.final for each in found)
