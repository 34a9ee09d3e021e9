r"""What rules decide of EngJudge's parts, and what they leave open, on one small problem of heat conduction.

The wall: A = 4.50 m^2, L = 0.250 m, k = 1.20 W/(m K), 850 K and 430 K. q = 1.20 * 420 / 0.250 = 2016 W/m^2,
Q = 2016 * 4.50 = 9072 W = 9.07 kW, R = 0.250 / (1.20 * 4.50) = 0.046296 K/W.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from prism.equivalence.features import claimed_number
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.physics.context import Context, parse
from prism.problem.schema import load_problem
from prism.protocols.engjudge.rules import RuledSolution, apply_rules
from prism.protocols.engjudge.sanity import StatedValue, find_impossible
from prism.runs.rollouts import Rollout

WALL = Path(__file__).with_name("engjudge") / "wall_loss.json"
TEN = Fraction(10)
LAWS = r"$q = k(T_1 - T_2)/L$. $Q = qA$. $R = L/(kA)$. "
Q, R = r"(a) $Q = 9.07\,\mathrm{kW}$ ", r"(b) $R = 0.0463\,\mathrm{K/W}$"


@pytest.fixture(scope="module")
def wall() -> PreparedProblem:
    return prepare(load_problem(WALL))


def ruled(problem: PreparedProblem, text: str) -> RuledSolution:
    return apply_rules(problem, Rollout(problem.problem.id, text, "s"), grade(problem, text, sample_id="s"))


def decided(problem: PreparedProblem, text: str) -> dict[str, tuple[Fraction, tuple[str, ...]]]:
    """The decided parts by initials, coverage among them: score and findings."""
    found = ruled(problem, text)
    names = {"EQUATION_SELECTION": "ES", "ALGEBRAIC_ACCURACY": "AA", "FINAL_ANSWER": "FA"}
    parts = {names[name]: (part.score, part.findings) for name, part in found.stages.items()}
    if found.coverage is not None:
        parts["coverage"] = (found.coverage.score, found.coverage.findings)
    return parts


def test_a_right_solution_is_ten_where_rules_can_see_it(wall) -> None:
    assert decided(wall, LAWS + Q + R) == {
        "ES": (TEN, ("equations: node 1 matched",)),
        "AA": (TEN, ("algebra: nodes 2, 3, 4, 5 credited",)),
        "FA": (TEN, ("answers: nodes 3, 5 right",)),
        "coverage": (TEN, ("covered: nodes 3, 5",)),
    }


@pytest.mark.parametrize(
    ("stage", "text", "score", "finding"),
    [
        # one equation shown to be wrong by its repair, at a node without prerequisites
        ("ES", r"$q = k(T_1 + T_2)/L$. $Q = qA$.", 3, "MAJOR 7: sign at node 1, formula 1"),
        ("ES", r"$q = k(T_1 - T_2)/A$. $Q = qA$.", 3, "MAJOR 7: symbol at node 1, formula 1"),
        # units that cannot agree within a formula: a law, or algebra, by the node that it was meant for
        ("ES", r"$q = k(T_1 - L)$. $Q = qA$.", 2, "cap 2: dimensionally_inconsistent: dimension at node 1, formula 1"),
        ("AA", LAWS.replace("L/(kA)", "L + kA"), 2, "cap 2: dimensionally_inconsistent: dimension at node 4"),
        # the same at a later node is algebra; two of them are 14, so 0
        ("AA", r"$q = k(T_1 - T_2)/L$. $Q = 2qA$.", 3, "MAJOR 7: factor at node 2, formula 2"),
        ("AA", r"$q = k(T_1 - T_2)/L$. $Q = 2qA$. $R = L/(3kA)$.", 0, "MAJOR 7: factor at node 4, formula 3"),
        # a chain with a refuted link
        ("AA", r"$q = k(T_1 - T_2)/L$. $Q = qA = 3qA$.", 3, "MAJOR 7: arithmetic, formula 2"),
        ("AA", r"$q = k(T_1 - T_2)/L$. $Q = qA$. $T_1 - T_2 = 850 - 430 = 520$.", 3, "MAJOR 7: arithmetic, formula 3"),
        # a conversion; a number off by 23 %; off by 2.5 %, which rounding may do; units that cannot agree
        ("AA", LAWS + r"(a) $Q = 90.7\,\mathrm{kW}$ " + R, 6, "MODERATE 4: unit at node 3, formula 4"),
        ("AA", LAWS + r"(a) $Q = 11.2\,\mathrm{kW}$ " + R, 3, "MAJOR 7: value at node 3, formula 4"),
        ("AA", LAWS + r"(a) $Q = 9.30\,\mathrm{kW}$ " + R, 8, "MINOR 2: value at node 3, formula 4"),
        ("AA", LAWS + r"(a) $Q = -9.07\,\mathrm{kW}$ " + R, 3, "MAJOR 7: sign at node 3, formula 4"),
        ("AA", LAWS + r"(a) $Q = 9.07\,\mathrm{J}$ " + R, 2, "cap 2: dimensionally_inconsistent: dimension at node 3"),
        # the final answer: (9.70 - 9.072)/9.072 = 6.9 %; 23 %; a decade beside a right one, and both a decade off
        ("FA", LAWS + r"(a) $Q = 9.70\,\mathrm{kW}$ " + R, 6, "MODERATE 4: 6.92 % off: node 3"),
        ("FA", LAWS + r"(a) $\boxed{9.70\,\mathrm{kW}}$ (b) $\boxed{0.0463\,\mathrm{K/W}}$", 6, "MODERATE 4: 6.92 %"),
        ("FA", LAWS + r"(a) $Q = 11.2\,\mathrm{kW}$ " + R, 3, "MAJOR 7: 23.5 % off: node 3"),
        ("FA", LAWS + r"(a) $Q = 90.7\,\mathrm{kW}$ " + R, 3, "MAJOR 7: 900 % off: node 3"),
        ("FA", LAWS + r"(a) $Q = 90.7\,\mathrm{kW}$ (b) $R = 0.463\,\mathrm{K/W}$", 0, "CRITICAL 10: 900 % off"),
        ("FA", LAWS + r"(a) $Q = 9.30\,\mathrm{kW}$ " + R, 10, "answers: nodes 3, 5 right"),
        ("FA", LAWS + r"(a) $Q = -9.07\,\mathrm{kW}$ " + R, 3, "MAJOR 7: 200 % off: node 3"),
        # units: another one, none, none with the coherent number; figures; both
        ("FA", LAWS + r"(a) $Q = 9.07\,\mathrm{W}$ " + R, 6, "MODERATE 4: unit: node 3"),
        ("FA", LAWS + r"(a) $Q = 9.07\,\mathrm{J}$ " + R, 6, "MODERATE 4: unit: node 3"),
        ("FA", LAWS + r"(a) $Q = 9.07$ " + R, 6, "MODERATE 4: no unit: node 3"),
        ("FA", LAWS + r"(a) $Q = 9072$ " + R, 6, "MODERATE 4: no unit: node 3"),
        # 9.30 W has other digits too, so it is not only another unit: 99.9 % off, beside a right one
        ("FA", LAWS + r"(a) $Q = 9.30\,\mathrm{W}$ " + R, 3, "MAJOR 7: 99.9 % off: node 3"),
        ("FA", LAWS + r"(a) $Q = 9.1\,\mathrm{kW}$ " + R, 8, "MINOR 2: 2 of 3 figures: node 3"),
        ("FA", LAWS + r"(a) $Q = 9.1\,\mathrm{kW}$ (b) $R = 0.0463$", 4, "MODERATE 4: no unit: node 5"),
        # missing: one, and both
        ("FA", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q, 3, "MAJOR 7: missing: node 5"),
        ("FA", r"$q = k(T_1 - T_2)/L$.", 0, "MAJOR 7: missing: node 3"),
        ("coverage", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q, 3, "MAJOR 7: no claim: node 5"),
        ("coverage", r"$q = k(T_1 - T_2)/L$.", 0, "MAJOR 7: no claim: node 3"),
        ("coverage", r"$q = k(T_1 - T_2)/L$. $Q = 3qA$. $R = L/k$.", 10, "covered: nodes 3, 5"),
    ],
)  # fmt: skip
def test_what_a_rule_decides(wall, stage: str, text: str, score: int, finding: str) -> None:
    found = decided(wall, text)
    assert found[stage][0] == score
    assert any(each.startswith(finding) for each in found[stage][1]), found[stage]


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        # no node without prerequisites is matched, and no formula is shown to be wrong
        ("ES", "$Q = qA$. " + Q),
        # a node is not credited, and nothing is wrong
        ("AA", r"$q = k(T_1 - T_2)/L$. $Q = qA$."),
        # a wrong number, and what it follows from is not there: a wrong law may have made it
        ("AA", r"$Q = 11.2\,\mathrm{kW}$"),
        # a letter of the answer under another index may be meant for it
        ("FA", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q + r"(b) $R_w = 0.05\,\mathrm{K/W}$"),
        ("coverage", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q + r"(b) $R_w = 0.05\,\mathrm{K/W}$"),
        # another name for what the formula is solved for is no wrong law
        ("ES", r"$R = k(T_1 - T_2)/L$. $Q = qA$."),
        # degrees and kelvins in one line are a way of writing
        ("AA", r"$q = k(T_1 - T_2)/L$. $T_2 = 156.85\,^\circ\mathrm{C} + 273.15 = 430\,\mathrm{K}$."),
        # a value that is given for a symbol is no equation
        ("ES", r"$q = 0$. $Q = qA$."),
        # a missing unit is no slip of the algebra
        ("AA", LAWS + r"(a) $Q = 9072$ " + R),
        # one answer is there as a formula only: it may be meant as the answer
        ("FA", LAWS + Q),
        # a value is taken back
        ("FA", LAWS + r"(a) $Q = 9072\,\mathrm{W} = 12.07\,\mathrm{kW}$ " + R),
        # a letter that the problem does not have may be what is looked for; so may what cannot be read
        ("FA", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q + r"(b) $Z = 0.05\,\mathrm{K/W}$"),
        ("coverage", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q + r"(b) $Z = 0.05\,\mathrm{K/W}$"),
        ("coverage", r"$q = k(T_1 - T_2)/L$. $Q = qA$. " + Q + r"(b) $\frac{{L}{$"),
        # nothing is read at all
        ("FA", "I cannot do this."),
        ("coverage", "I cannot do this."),
    ],
)
def test_what_no_rule_decides_is_open(wall, stage: str, text: str) -> None:
    assert stage not in decided(wall, text)


def test_stages_of_judgement_are_never_decided(wall) -> None:
    for text in (LAWS + Q + R, "$q = 3$", ""):
        assert ruled(wall, text).stages.keys() <= {"EQUATION_SELECTION", "ALGEBRAIC_ACCURACY", "FINAL_ANSWER"}


def test_a_slip_counts_once(wall) -> None:
    """`Q = 2qA` is wrong; `Q = 2kA(T_1 - T_2)/L` follows from it."""
    found = decided(wall, r"$q = k(T_1 - T_2)/L$. $Q = 2qA$. $Q = 2kA(T_1 - T_2)/L$.")
    assert found["AA"] == (Fraction(3), ("MAJOR 7: factor at node 2, formula 2",))


def test_a_slip_that_is_repeated_counts_once(wall) -> None:
    found = decided(wall, LAWS + r"(a) $Q = 90.7\,\mathrm{kW}$, $Q = 90.72\,\mathrm{kW}$ " + R)
    assert found["AA"] == (Fraction(6), ("MODERATE 4: unit at node 3, formula 4",))


def test_tags_of_the_text_are_read(wall) -> None:
    found = ruled(wall, f"###### EQUATION_SELECTION ######\n{LAWS}\n###### END_STEP ######\n")
    assert [*found.tags.spans] == ["EQUATION_SELECTION"]


def test_tags_in_a_thinking_block_are_none(wall) -> None:
    tag = "###### {} ######\nx\n###### END_STEP ######\n"
    text = f"<think>{tag.format('ASSUMPTIONS')}</think>{tag.format('FINAL_ANSWER')}"
    assert [*ruled(wall, text).tags.spans] == ["FINAL_ANSWER"]


# Sanity. ------------------------------------------------------------------------------------------------------------

ENGINE = Context.from_dict({"givens": {"T_H": "600 K", "T_C": "300 K"}})


def refused(latex: str, question: str = "", context: Context | None = None) -> list[str]:
    stated = claimed_number(parse(latex), Context())
    assert stated is not None
    found = find_impossible([StatedValue(stated.subject.name, stated.number, 0)], question, context or Context())
    return [each.why for each in found]


@pytest.mark.parametrize(
    ("latex", "why"),
    [
        (r"m = -2\,\mathrm{kg}", "a mass of 0 or less"), (r"m_2 = 0\,\mathrm{g}", "a mass of 0 or less"),
        (r"\rho = -3\,\mathrm{kg/m^3}", "a density of 0 or less"),
        (r"T_s = -5\,\mathrm{K}", "an absolute temperature of 0 or less"),
        (r"T = -300\,^\circ\mathrm{C}", "an absolute temperature of 0 or less"),
        (r"k = -1\,\mathrm{W/(m\,K)}", "a thermal conductivity of 0 or less"),
        (r"\sigma = -5\,\mathrm{S/m}", "an electrical conductivity of 0 or less"),
        (r"\mu = -1\,\mathrm{Pa\,s}", "a viscosity of 0 or less"),
        (r"v = 4\times 10^8\,\mathrm{m/s}", "faster than light"),
        (r"\vec{v}_2 = -3.1\times 10^5\,\mathrm{km/s}", "faster than light"),
    ],
)  # fmt: skip
def test_values_that_no_physics_allows(latex: str, why: str) -> None:
    assert refused(latex) == [why]


@pytest.mark.parametrize("latex", [
    r"m = 2\,\mathrm{kg}", "m = -2", r"\Delta m = -2\,\mathrm{kg}", r"T = -20\,^\circ\mathrm{C}",
    r"\Delta T = -20\,\mathrm{K}", r"\sigma = -5\,\mathrm{N/m^2}", r"v = -30\,\mathrm{m/s}",
    r"v = 2.9\times 10^8\,\mathrm{m/s}", r"v_p = 4\times 10^8\,\mathrm{m/s}", r"\eta = 1.2", r"x = -2\,\mathrm{kg}",
])  # fmt: skip
def test_values_that_may_be(latex: str) -> None:
    assert not refused(latex)


@pytest.mark.parametrize(
    ("latex", "question", "why"),
    [
        (r"\eta = 1.2", "Find the efficiency.", "an efficiency of more than 1"),
        (r"\eta = 120\%", "Find the efficiency.", "an efficiency of more than 1"),
        (r"\eta = 0.6", "The efficiency of a heat engine.", "an efficiency of more than that of a Carnot engine, 0.5"),
        (r"\eta = 0.5", "The efficiency of a heat engine.", ""),
        (r"\eta = 0.6", "Find the efficiency of the pump.", ""),
        (r"\eta_s = 0.6", "Find the isentropic efficiency in the heat engine.", ""),
        (r"\eta = 3", "The similarity variable.", ""),
    ],
)  # fmt: skip
def test_efficiencies(latex: str, question: str, why: str) -> None:
    assert refused(latex, question, ENGINE) == ([why] if why else [])


def test_nought_in_running_text_is_a_limiting_case(wall) -> None:
    steps = LAWS + Q + R
    assert not ruled(wall, steps + r" At $T_1 = 0\,\mathrm{K}$ nothing flows in.").insane
    assert ruled(wall, steps + r" $$T_1 = 0\,\mathrm{K}$$").insane == ("T_1: an absolute temperature of 0 or less",)


def test_an_impossible_answer_is_a_cap(wall) -> None:
    """A resistance may be anything, a conductivity not: as an answer it caps FA, as a step it fails sanity alone."""
    negative = r"$k = -1.20\,\mathrm{W/(m K)}$"
    found = ruled(wall, LAWS + Q + R + negative)
    assert found.insane == ("k: a thermal conductivity of 0 or less",)
    assert found.stages["FINAL_ANSWER"].score == 10
    asked = prepare(load_problem({
        "id": "k", "context": r"A wall lets the heat flow $Q$ through. Its area is $A$, its thickness $L$, and the "
        r"temperatures differ by $D$. Measured is $Q L/(A D) = 1.20\unit{W/(m K)}$.",
        "subquestions": [{"letter": "a", "subproblem": "Find its conductivity $k$.", "final_answer_form": "numerical",
                          "significant_figures": 3}],
        "grading_standard": [
            {"index": 1, "formula": r"k = \frac{Q L}{A D}", "dependency": []},
            {"index": 2, "formula": r"k = 1.20\unit{W/(m K)}", "dependency": [1], "is_final_answer": True},
        ],
    }))  # fmt: skip
    found = ruled(asked, rf"$k = QL/(AD)$, so {negative}")
    assert found.stages["FINAL_ANSWER"].score == 2  # 10 - 7 for the sign is 3, and the cap is lower
    assert found.stages["FINAL_ANSWER"].findings[0].startswith("cap 2: physically_impossible_answer: k:")
