"""Worked examples of EngTrace, to the last digit. M gold steps, N predicted ones, S the sum of the best assignment.

paper: precision = S / N, recall = S / M, so F1 = 2 (S/N)(S/M) / (S/N + S/M) = 2 S / (M + N).
released: precision and recall are shares of columns and rows with a verified pair, F1 their harmonic mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prism
from prism.protocols.engtrace.files import CLASS_SCORES, Gold, Place, Prediction, TracePair, Vote
from prism.protocols.engtrace.rows import EngTraceOptions, score_traces
from prism.protocols.engtrace.similarity import Similarity
from prism.protocols.engtrace.steps import Variant
from prism.protocols.rows import ProtocolRow

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)

# Force, work, power: 2.0 kg at 3.0 m/s^2 over 4.0 m in 3.0 s give F = 6.0 N, W = 24 J, P = 8.0 W.
QUESTION = "A cart of $m = 2.0$ kg is pushed at $a = 3.0$ m/s^2 over $d = 4.0$ m in $t = 3.0$ s. Find the power $P$."
GOLD = """**Step 1:** Newton's law gives F = m*a = 6.0 N
**Step 2:** The work is W = F*d = 24 J
**Step 3:** The power is P = W/t = 8.0 W
**Answer:** 8.0 W"""

# The one that most examples share: step 1 right, step 2 about something else, step 3 a wrong formula.
ASTRAY = """**Step 1:** F = m*a = 6.0 N
**Step 2:** K = m*v^2/2 = 36 J
**Step 3:** P = W*t = 72 W
**Answer:** 72 W"""


def scored(
    generation: str, gold: str = GOLD, votes: dict[Place, list[Vote]] | None = None,
    shares: dict[Place, Fraction] | None = None, problem: dict[str, Any] | None = None, **options: Any,
) -> ProtocolRow:  # fmt: skip
    name = "cart", "7"
    pair = TracePair(Gold(name, gold, QUESTION), Prediction(name, "m1", generation), "m1", votes or {}, shares)
    problems = {"cart": prism.load_problem(problem)} if problem else None
    (row,) = score_traces([pair], EngTraceOptions(**options), problems=problems)
    assert not row.about.incidents
    return row


def judged(*classes: str) -> list[Vote]:
    return [Vote(judge, said, CLASS_SCORES.get(said)) for judge, said in zip("ABC", classes, strict=False)]


def partners(row: ProtocolRow) -> list[str]:
    found = [next((each for each in part.findings if each.startswith("partner")), "") for part in row.parts]
    return [each.removeprefix("partner: predicted step ").removeprefix("partner: none") for each in found]


def bases(row: ProtocolRow) -> list[str]:
    return [str(part.basis) for part in row.parts]


def bounds(row: ProtocolRow) -> Any:
    """Score, lower and upper bound."""
    return row.score, row.score_low, row.score_high


def policies(row: ProtocolRow) -> Any:
    """Precision, recall, alignment."""
    return tuple(row.policies[f"engtrace_{name}"] for name in ("precision", "recall", "alignment"))


# The score. -----------------------------------------------------------------------------------------------------


def test_the_gold_beside_itself_is_accepted_with_1() -> None:
    """V is the identity: S = 3, alignment 3/3 > 0.7, answer right: F1 = 2 * 3 / (3 + 3) = 1."""
    row = scored(GOLD)
    assert bounds(row) == (1, 1, 1)
    assert row.final_correct is True
    assert policies(row) == (1, 1, 1)
    assert (partners(row), bases(row)) == (["1", "2", "3"], ["rules"] * 3)


def test_steps_in_another_order_earn_the_same() -> None:
    """The last step holds the answer line, so its value is 8.0 W and not its own 6.0 N.

    So tier 1 verifies 2 of 3 gold steps, and 2/3 < 0.7: escalated. There (1, 3) is the same formula with the same
    number of F, hence 1: S = 3, F1 = 2 * 3 / (3 + 3) = 1.
    """
    row = scored("""**Step 1:** W = F*d = 24 J
**Step 2:** P = W/t = 8.0 W
**Step 3:** F = m*a = 6.0 N
**Answer:** 8.0 W""")
    assert row.score == 1
    assert policies(row) == (1, 1, Fraction(2, 3))
    assert partners(row) == ["3", "1", "2"]
    assert [part.findings[1].split(",")[0] for part in row.parts] == ["tier 2: the same", "tier 1", "tier 1"]


def test_an_accepted_chain_pays_for_steps_too_many() -> None:
    """The gold has a step 4 in words, M = 4; tier 1 verifies 3, and 3/4 > 0.7 with a right answer: accepted, N = 5.

    precision 3/5, recall 3/4, F1 = 2 (3/5)(3/4) / (3/5 + 3/4) = (18/20) / (27/20) = 2/3 = 0.666667.
    """
    row = scored(
        """**Step 1:** F = m*a = 6.0 N
**Step 2:** W = F*d = 24 J
**Step 3:** Now the time is put in.
**Step 4:** P = W/t = 8.0 W
**Step 5:** Nothing is left to do.
**Answer:** 8.0 W""",
        gold=GOLD.replace("**Answer:**", "**Step 4:** Round to two figures.\n**Answer:**"),
    )
    assert policies(row) == (Fraction(3, 5), Fraction(3, 4), Fraction(3, 4))
    assert row.to_dict()["score"] == 0.666667
    assert partners(row) == ["1", "2", "4", ""]
    assert "without partner: predicted step 3, 5" in row.notes


def test_an_open_pair_leaves_bounds() -> None:
    """Step 1 is verified. (3, 3) is proved different: P = W t for P = W/t. K is no letter of the gold: (2, 2) is open.

    S is from 1 to 2: F1 from 2 * 1 / 6 = 0.333333 to 2 * 2 / 6 = 0.666667.
    """
    row = scored(ASTRAY)
    assert bounds(row) == (None, THIRD, Fraction(2, 3))
    assert (row.status, row.final_correct) == ("undecided", False)
    assert policies(row) == (None, None, THIRD)
    assert [part.score for part in row.parts] == [1, None, 0]
    assert bases(row) == ["rules", "none", "rules"]


VOTES = {
    (1, 1): judged("Alternative Correct", "Calculation Error", "Calculation Error"),
    (2, 1): judged("Other", "Conceptual Error", "Conceptual Error"),
    (2, 2): judged("Alternative Correct", "Alternative Correct", "Other"),
}


def test_a_majority_of_judges_decides_what_is_open_and_outvotes_a_rule() -> None:
    """(2, 2): two of three say 1/2. (3, 2): three say 0. (3, 3): the rule says 0, two of three say 1: the file counts.

    S = 1 + 1/2 + 1 = 5/2, F1 = 2 * (5/2) / 6 = 5/6 = 0.833333.
    """
    row = scored(ASTRAY, votes=VOTES)
    assert row.to_dict()["score"] == 0.833333
    assert [part.score for part in row.parts] == [1, HALF, 1]
    assert bases(row) == ["rules", "file", "conflict"]
    assert "rules: 0" in row.parts[2].findings
    assert "vote A: Alternative Correct" in row.parts[2].findings


def test_rules_may_be_preferred() -> None:
    """(3, 3) stays 0: S = 1 + 1/2, F1 = 2 * (3/2) / 6 = 1/2."""
    row = scored(ASTRAY, votes=VOTES, prefers_rules=True)
    assert row.score == HALF
    assert bases(row) == ["rules", "file", "conflict"]


def test_without_a_majority_the_lowest_score_counts() -> None:
    """(2, 2) gets 1, 1/2 and 0: no score has two of three, so 0; (3, 2) has no vote but nulls, and stays open.

    S is from 1 to 2: gold step 3 may still be verified by predicted step 2. F1 from 1/3 to 2/3.
    """
    split = judged("Alternative Correct", "Calculation Error", "Conceptual Error")
    row = scored(ASTRAY, votes={(1, 1): split, (2, 1): judged("Analysis Failed", "Formatting Error")})
    assert bounds(row) == (None, THIRD, Fraction(2, 3))
    assert [part.score for part in row.parts] == [1, 0, None]
    assert bases(row) == ["rules", "file", "none"]


def test_the_right_formula_with_a_wrong_number_is_worth_a_half() -> None:
    """W = F d with 25 J is 4.2 % off, P = W/t with 8.3 W 3.8 %: each 1/2. M = 3, N = 4 with one step in words.

    S = 1 + 1/2 + 1/2 = 2: precision 2/4, recall 2/3, F1 = 2 * 2 / 7 = 4/7 = 0.571429. The spare step is open with
    every gold step, and no matter: V of gold step 2 or 3 would have to exceed 1/2 there, so the upper bound is with a
    1 for one of them: S = 5/2 and F1 = 5/7.
    """
    row = scored("""**Step 1:** F = m*a = 6.0 N
**Step 2:** W = F*d = 25 J
**Step 3:** Now the time is put in.
**Step 4:** P = W/t = 8.3 W
**Answer:** 8.3 W""")
    assert bounds(row) == (None, Fraction(4, 7), Fraction(5, 7))


def test_an_empty_generation_is_0() -> None:
    """N = 0: S = 0, precision and recall 0, F1 0."""
    row = scored("")
    assert bounds(row) == policies(row) == (0, 0, 0)
    assert row.final_correct is False
    assert [part.score for part in row.parts] == [0, 0, 0]


# Texts. ---------------------------------------------------------------------------------------------------------

IN_WORDS = """**Step 1:** Newton's law gives a force of 6.0 N
**Step 2:** The work done is 24 J
**Step 3:** Power: 8.0 W
**Answer:** 8.0 W"""


def test_a_formula_beside_words_is_not_the_same_by_nodes() -> None:
    """The gold states formulas, the prediction none: nothing is verified, and nothing proved different. 0 to 1."""
    row = scored(IN_WORDS)
    assert bounds(row) == (None, 0, 1)
    assert not [note for note in row.notes if note.startswith("lexical")]


def test_lexical_counts_stems() -> None:
    """Stems of three letters and more, function words left out; the threshold is 1/2.

    1: newton, law, giv of the gold; newton, law, giv, force: 3 of 4. 2: work; work, don: 1 of 2. 3: power, answer;
    the same: 2 of 2. So all three are verified: 3/3 > 0.7, answer right, F1 = 1, by three lexical pairs of nine.
    """
    row = scored(IN_WORDS, similarity=Similarity.LEXICAL)
    assert row.score == 1
    assert "lexical: 3 pairs of 9" in row.notes
    assert all("tier 1: lexical" in part.findings for part in row.parts)


def test_a_measure_from_a_file_has_to_be_above_its_threshold() -> None:
    """0.71 and 0.9 are above 0.7, 0.7 itself is not: 2/3 verified, escalated; (3, 3) states the same: 1 by rule.

    S = 3, F1 = 1. The released script has no tier 2: recall 2/3, precision 2/3, F1 2/3.
    """
    shares = {(0, 0): Fraction("0.71"), (1, 1): Fraction("0.9"), (2, 2): Fraction("0.7")}
    row = scored(GOLD, shares=shares, similarity=Similarity.FILE)
    assert row.score == 1
    assert policies(row) == (1, 1, Fraction(2, 3))
    assert bases(row) == ["file", "file", "rules"]
    released = scored(GOLD, shares=shares, similarity=Similarity.FILE, variant=Variant.RELEASED)
    assert (released.score, bases(released)) == (Fraction(2, 3), ["file", "file", "file"])


def test_a_pair_that_the_file_leaves_out_is_open() -> None:
    """(3, 3) alone is missing: the released F1 is from 2/3 to 1."""
    shares = {(0, 0): Fraction(1), (1, 1): Fraction(1)}
    row = scored(GOLD, shares=shares, similarity=Similarity.FILE, variant=Variant.RELEASED)
    assert bounds(row) == (None, Fraction(2, 3), 1)


# The released script. -------------------------------------------------------------------------------------------


def test_one_step_may_verify_several_as_released() -> None:
    """Both gold steps state F = 6.0 N, and the one predicted step verifies both: recall 2/2, precision 1/1, F1 = 1.

    By the paper it has one partner: S = 1, precision 1/1, recall 1/2, F1 = 2 * 1 / (2 + 1) = 2/3.
    """
    gold = "**Step 1:** F = m*a = 6.0 N\n**Step 2:** So the result is F = 6.0 N\n**Answer:** 6.0 N"
    generation = "**Step 1:** F = m*a = 6.0 N\n**Answer:** 6.0 N"
    released = scored(generation, gold=gold, variant=Variant.RELEASED)
    assert released.score == 1
    assert partners(released) == ["1", "1"]
    row = scored(generation, gold=gold)
    assert (row.score, partners(row)) == (Fraction(2, 3), ["1", ""])


@pytest.mark.slow
def test_votes_have_no_effect_as_released() -> None:
    """Row 1 of three and column 1 of three: precision 1/3, recall 1/3, F1 1/3, votes or not."""
    row = scored(ASTRAY, votes=VOTES, variant=Variant.RELEASED)
    assert row.score == THIRD
    assert "votes unused: 9, the released script asks for none" in row.notes


@pytest.mark.parametrize(
    ("answer", "by_paper", "as_released"),
    [
        ("8.16 W", True, False),  # 0.16 / 8.0 is 2 % exactly: within; 1 % is not reached
        ("8.1601 W", False, False),
        ("8.08 W", True, False),  # 1 % exactly is not less than 1 %
        ("8.0799 W", True, True),
        ("-8.0 W", False, False),
        ("8,000 mW", False, True),  # 8000 by the paper; the script stops at the comma, and reads 8
        ("the power P1 is 8.0 W", True, False),  # the script takes the 1 of the name
        ("$8.0$", True, True),
        ("none", False, False),
    ],
)
def test_the_final_answer(answer: str, by_paper: bool, as_released: bool) -> None:
    generation = f"**Step 1:** F = m*a = 6.0 N\n**Answer:** {answer}"
    assert scored(generation).final_correct is by_paper
    assert scored(generation, variant=Variant.RELEASED).final_correct is as_released


def test_settings_are_told() -> None:
    paper = scored(GOLD, accept_share=Fraction(8, 10)).settings
    assert paper == {
        "accept_share": 0.8, "class_scores": {name: float(score) for name, score in CLASS_SCORES.items()},
        "final_tolerance": 0.02, "lexical_threshold": 0.5, "prefer": "file", "similarity": "nodes",
        "step_tolerance": 0.02,
    }  # fmt: skip
    released = scored(GOLD, variant=Variant.RELEASED, similarity=Similarity.FILE).settings
    assert released == {"final_tolerance": 0.01, "similarity": "file", "step_tolerance": 0.02, "threshold": 0.7}


# Nodes and the root cause, with the problem file. -----------------------------------------------------------------

BRAKE = {
    "id": "cart",
    "context": r"A body of mass $m = 2.0\unit{kg}$ is braked by the force $F = 6.0\unit{N}$ from"
    r" $v_0 = 20.0\unit{m/s}$ for $t = 4.0\unit{s}$. Find its deceleration $a$ and its speed $v$.",
    "grading_standard": [
        {"index": 1, "formula": "a = F/m", "dependency": []},
        {"index": 2, "formula": "v = v_0 - a t", "dependency": [1]},
        {"index": 3, "formula": r"v = 8.0\unit{m/s}", "dependency": [2], "is_final_answer": True},
    ],
}
BRAKED = "**Step 1:** a = F/m = 3.0 m/s^2\n**Step 2:** v = v_0 - a*t = 8.0 m/s\n**Answer:** 8.0 m/s"


def test_steps_meet_in_a_node_of_the_problem() -> None:
    """By the problem, m a = F states node 1, whatever it is called: S = 2, F1 = 1."""
    row = scored(BRAKED.replace("a = F/m = 3.0", "$F = m a$, so $a = 3.0$"), gold=BRAKED, problem=BRAKE)
    assert row.score == 1
    assert row.about.matched == (1, 2, 3)


@pytest.mark.parametrize(
    ("steps", "cause"),
    [
        ("a = F/m = 3.0 m/s^2|v = v_0 + a*t = 32 m/s|32 m/s", "Sign/Direction"),
        ("a = F/m = 3.0 m/s^2|v = v_0 - 2*a*t = -4.0 m/s|-4.0 m/s", "Calculation"),
        ("a = F/m = 3.0 m/s^2|v = v_0 - a*t = 9.0 m/s|9.0 m/s", "Calculation"),
        ("a = F/m = 3.0 m/s^2|v = v_0 - a*t = 0.80 m/s|0.80 m/s", "Unit/Dimensional"),  # a power of ten
        ("a = F/m = 3.0 m/s^2|v = v_0 + a*t = 0.80 m/s|0.80 m/s", "Sign/Direction"),  # no number beside the formula
        ("a = F/m = 3.0 m/s^2|v = v_0 - t = 16 m/s|16 m/s", None),  # a quantity is missing: a reader's case
        ("a = F*m = 12 m/s^2|v = v_0 + a*t = 68 m/s|68 m/s", None),  # node 1 is not credited
        ("a = F/m = 3.0 m/s^2|v = v_0 - a*t = 8.0 m/s|8.0 m/s", None),  # nothing is wrong
    ],
)
def test_the_root_cause_is_the_first_that_rules_affirm(steps: str, cause: str | None) -> None:
    first, second, answer = steps.split("|")
    row = scored(f"**Step 1:** {first}\n**Step 2:** {second}\n**Answer:** {answer}", gold=BRAKED, problem=BRAKE)
    assert row.about.meta.get("root_cause") == cause
    assert ("root_cause" in row.about.meta) is (row.final_correct is False)


def test_without_the_problem_there_is_no_root_cause() -> None:
    row = scored(ASTRAY)
    assert row.about.meta["root_cause"] is None
    assert "root cause: null, no rule decides it" in row.notes


def test_what_follows_from_the_gold_is_not_proved_different() -> None:
    """P = m a d / t joins the three formulas of the gold; 9.0 W is a slip. No rule says what its step 2 is worth.

    Step 1 is verified. S is from 1 to 2, M = 3, N = 2: F1 from 2/5 to 4/5.
    """
    generation = "**Step 1:** F = m*a = 6.0 N\n**Step 2:** P = m*a*d/t = 9.0 W\n**Answer:** 9.0 W"
    assert bounds(scored(generation)) == (None, Fraction(2, 5), Fraction(4, 5))
    wrong = generation.replace("m*a*d/t", "m*a*t/d")
    assert bounds(scored(wrong)) == (Fraction(2, 5),) * 3


@pytest.mark.slow
@settings(max_examples=25)
@given(st.permutations(range(5)), st.permutations(range(100)), st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_order_and_the_numbering_of_steps_change_no_score(
    order: list[int], labels: list[int], is_right: list[bool]
) -> None:
    """Five steps with distinct values, of which the prediction has some wrong, and one with the answer line, M = N = 6.

    A wrong number of the right quantity beside no formula is proved different: F1 = 2 S / 12, S the right ones and the
    last step.
    """
    values = [(f"x_{k}", 3 * k + 2, (3 * k + 2) * (1 if right else 10)) for k, right in enumerate(is_right)]
    end = "So the answer is y = 9.0\n**Answer:** 9.0"
    gold = "\n".join((*(f"**Step {k + 1}:** {name} = {value}.0" for k, (name, value, _) in enumerate(values)),))
    steps = [f"**Step {labels[k]}:** {values[k][0]} = {values[k][2]}.0" for k in order]
    row = scored("\n".join((*steps, f"**Step 99:** {end}")), gold=f"{gold}\n**Step 6:** {end}")
    assert row.score == Fraction(2 * (sum(is_right) + 1), 12)


def test_traces_that_cost_too_much_leave_their_formulas_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.protocols.engtrace.formulas.SOLUTION", 0)
    monkeypatch.setattr("prism.protocols.engtrace.formulas.CHARACTER", 1)
    row = scored(GOLD)
    assert bounds(row) == (None, 0, 1)
    assert any(note.startswith("formulas: more than") for note in row.notes)
