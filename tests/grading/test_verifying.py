"""Gold answers beside what a solution gives as its final answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import prism
from prism.equivalence.verdict import Status
from prism.errors import DataFileError, PrismError
from prism.rewards import Reward


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("75", r"So $\boxed{75}$."),
        (75, "The answer is 75."),
        ("5 m/s", r"We find $v = \boxed{18\,\mathrm{km/h}}$."),
        (r"\frac{27 I_0}{128}", r"$I = \frac{27}{128} I_0$"),
        (r"$v = \sqrt{2gh}$", r"$v^2 = 2gh$, and $\boxed{\sqrt{2gh}}$"),
        (["2 s", "20 m/s"], r"$\boxed{2.0\,\mathrm{s}}$ and $\boxed{20\,\mathrm{m/s}}$"),
        (r"a = 1, b = 2", "$a = 1$ and $b = 2$"),
        ("4.95 meters per second", r"$\boxed{4.95\,\mathrm{m/s}}$"),
        ("5 kilograms", r"$\boxed{5\,\mathrm{kg}}$"),
        ("0.511 MeV/c^2", r"$\boxed{511\,\mathrm{keV}/c^2}$"),
        (r"\lambda = 400\,\text{nm}, \text{ violet}", r"$\boxed{\lambda = 0.400\,\mu\mathrm{m}}$"),
        ("x = 1 or x = 2", r"$x_1 = 2$, $x_2 = 1$"),
        ("1 or 2", r"$\boxed{1, 2}$"),
        ("5 N", r"$\boxed{F = 5\,\text{N (with } x = 0 \text{ at the end)}}$"),
        ("5 N", r"$\boxed{F = 5\,\text{N}\quad\text{(for }m=1\,{\rm g}\text{)}}$"),
        (r"x = \pm 2", r"$x_{1,2} = \pm 2$"),
        ("[0, 1)", r"$\boxed{[0, 1)}$"),
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"$\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}$"),
        ("0.12", r"$\boxed{12\%}$"),
        (r"h = \frac{a}{b} \approx 1.5\,\text{km}", r"$\boxed{1.5\,\mathrm{km}}$"),
        (r"S = a b > 0", r"$\boxed{S_{tot} = ab > 0 \text{ for } a \ne 0}$"),
        (r"dF = \frac12 E dq", r"$\boxed{\frac12 E dq}$"),
        (r"y = \Phi(\mathbf{r}_1) - \Phi(\mathbf{r}_2)", r"$\boxed{y = \Phi(r_1) - \Phi(r_2)}$"),
    ],
)
def test_an_answer_is_right_under_any_name(gold: Any, text: str) -> None:
    verdict = prism.verify(gold, text)
    assert verdict
    assert verdict.status == Status.EQUIVALENT
    assert verdict.detail


@pytest.mark.parametrize(
    ("gold", "text", "reason"),
    [
        ("75", "I do not know.", "no_answer"),
        ("75", r"$\boxed{74}$", "other_number"),
        ("5 m/s", r"$\boxed{6\,\mathrm{m/s}}$", "other_number"),
        ("x = 75", r"$x = 75$, no: $\boxed{x = 74}$", "taken_back"),
        ("75", r"$\boxed{75}$ or $\boxed{74}$", "other_number"),
        ("1", r"$\boxed{1 \text{ or } 2}$", "witness"),
        ("12%", r"$\boxed{12}$", "other_number"),
        ("h = a b \\approx 1.5 \\text{ km}", r"$\boxed{1.6\,\mathrm{km}}$", "witness"),
        (["2 s", "20 m/s"], r"$\boxed{2.0\,\mathrm{s}}$", "no_answer"),
    ],
)
def test_a_wrong_answer_says_why(gold: Any, text: str, reason: str) -> None:
    verdict = prism.verify(gold, text)
    assert not verdict
    assert verdict.reason == reason


def test_the_question_says_what_letters_mean() -> None:
    question = r"A block of mass $m = 2$ kg rests; find its weight $G$ for $g = 9.81\,\mathrm{m/s^2}$."
    assert prism.verify(r"G = 19.6\,\mathrm{N}", r"$G = mg$, so $\boxed{19.62\,\mathrm{N}}$", question=question)


def test_a_gold_answer_that_is_no_formula_is_refused() -> None:
    with pytest.raises(prism.DataFileError, match=r"answer: .* holds no formula"):
        prism.verify(r"\frac{1}{", "$x = 1$")
    with pytest.raises(prism.DataFileError, match="answer: is empty"):
        prism.verify([], "$x = 1$")


@pytest.mark.parametrize(
    ("gold", "solution", "right"),
    [
        (prism.parse("5"), "5", True),
        (prism.parse("5"), prism.parse("x = 5"), True),
        (prism.parse(r"\frac12 m v^2"), r"So $E = \frac{m v^2}{2}$.", True),
        (prism.parse(r"x = 2 \text{ or } x = -2"), r"$x = \pm 2$", True),
        (prism.parse(r"x = 2 \text{ or } x = -2"), "$x = 2$", False),
        ([prism.parse("2"), "3"], r"$\boxed{2}$, $\boxed{3}$", True),
        ([prism.parse("2"), "3"], r"$\boxed{2}$", False),
        (Fraction(1, 2), "0.5", True),
        (5, 5, True),
        (5, 6.0, False),
        ("yes", "yes", True),
        ("5 m", "**5 m**", True),
        ("5", "So it is\n\n**$5$**.", True),
        ("5 m", "Therefore, the length is $5$ m.", True),
        ("yes", "no", False),
        ("D", "D", True),
        ("5", None, False),
        ("5", [{"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "$5$"}], True),
        ("5", [{"role": "assistant", "content": "$6$"}], False),
        ("5", [{"role": "assistant", "content": "5"}, {"role": "user", "content": "Sure?"}], False),
    ],
)
def test_golds_and_answers_come_as_math_verify_takes_them(gold: Any, solution: Any, right: bool) -> None:
    assert bool(prism.verify(gold, solution)) is right


def test_no_answer_is_undecided_and_no_error() -> None:
    verdict = prism.verify("5", None)
    assert (verdict.status, verdict.reason) == ("undecided", "no_answer")


@pytest.mark.parametrize(
    "gold",
    [None, True, b"5", float("nan"), float("inf"), {"answer": "5"}, object(), "", "[[", [], ["5", None, "{"], [["5"]]],
)
def test_an_error_of_verify_speaks_of_the_gold_answer(gold: Any) -> None:
    with pytest.raises(PrismError, match=r"^gold") as caught:
        prism.verify(gold, "5")
    for word in ("DAG", "node", "<dict>"):
        assert word not in str(caught.value)


def test_all_faults_of_golds_are_told_at_once() -> None:
    with pytest.raises(PrismError, match=r"(?s)entry 1: found nothing.*entry 3: found a value of type bytes"):
        prism.verify([None, "5", b"5"], "5")  # type: ignore[list-item]
    with pytest.raises(DataFileError, match=r"(?s)entry 1: .*holds no formula.*entry 3: .*holds no formula"):
        prism.verify(["[[", "5", r"\frac{1}{"], "5")


def test_an_answer_is_a_reference_wherever_a_problem_is() -> None:
    assert prism.grade({"answer": "75"}, "The answer is 75.").score == 1
    rewarded = Reward("closure")({"answer": "75"}, r"$\boxed{75}$")
    assert rewarded.value == 1
    assert Reward("closure")({"answer": True}, "1").value is None


def test_a_verdict_is_true_where_the_formulas_are_equivalent() -> None:
    assert prism.equivalent("F = ma", "a = F/m")
    assert not prism.equivalent("F = ma", "F = m/a")


@pytest.mark.parametrize(
    ("gold", "text", "right"),
    [
        ("100", r"\boxed{102}", True),  # the ends count
        ("100", r"\boxed{98}", True),
        ("100", r"\boxed{102.0000001}", False),
        ("100", r"\boxed{97.9999999}", False),
        ("5", r"\boxed{5.1}", True),  # an exact count too
        ("5", r"\boxed{\frac{51}{10}}", True),
        ("5", r"\boxed{5.11}", False),
        ("3.1 kW", "The answer is 3162 W", True),
        ("3.1 kW", "The answer is 3163 W", False),
        ("3.1 kW", "The answer is 3.1 W", False),
        ("0", r"\boxed{0.001}", False),
        ("0", r"\boxed{0}", True),
        ("-3", r"\boxed{3}", False),
        ("x = 5", r"\boxed{x = 5.05}", True),
    ],
)
def test_a_relative_tolerance_replaces_that_of_the_figures(gold: str, text: str, right: bool) -> None:
    assert bool(prism.verify(gold, text, within=Fraction(2, 100))) is right


def test_a_tolerance_may_be_narrower_than_that_of_the_figures_too() -> None:
    assert prism.verify("3.1", r"\boxed{3.15}")
    assert not prism.verify("3.1", r"\boxed{3.15}", within=0.001)
    for within in (-0.1, 1, float("nan")):
        with pytest.raises(PrismError, match="within"):
            prism.verify("3.1", "3.1", within=within)


@pytest.mark.parametrize(
    ("gold", "text", "right"),
    [
        ("3.1", "The answer is 3.1 kW", True),
        ("3.1 kW", "The answer is 3.1", True),
        ("3.1 kW", "The answer is 3.1 W", True),
        ("3.1 kW", "The answer is 3100 W", True),  # an equal quantity stays right
        ("25", r"\boxed{25\%}", True),
        ("3.1", "The answer is 3100 W", False),
        ("3.1 kW", "The answer is 31 W", False),
    ],
)
def test_units_may_be_left_out_of_the_comparison(gold: str, text: str, right: bool) -> None:
    assert bool(prism.verify(gold, text, units=False)) is right


def test_who_verifies_may_say_whether_a_whole_number_is_exact() -> None:
    question = "How many turns has the coil?"
    assert not prism.verify("1450", r"$\boxed{1451}$", question=question)
    assert prism.verify("1450", r"$\boxed{1451}$", question=question, exact=False)
    measured = "Estimate the Reynolds number of a swimmer."
    assert prism.verify("145000", r"$\boxed{145100}$", question=measured)
    assert not prism.verify("145000", r"$\boxed{145100}$", question=measured, exact=True)


@pytest.mark.parametrize(
    ("gold", "text", "right"),
    [
        (r"x^2 + 1", "Both terms add up:\n\n$$x^2 + 1$$", True),
        ("(1, 2)", "$(1, 2)$", True),
        (r"7 - \sqrt3", r"7-\sqrt{3}", True),
        ("yes", "yes", True),
        ("5 m/s", "5 metres per second", True),
        ("5 m/s", "The speed is 5 metres per second.", True),
        ("2 h", "It takes $120$ minutes.", True),
        ("2 h", "It takes $120$ seconds.", False),
        ("2 h", "It takes less than $120$ minutes.", False),
        ("2 h", "It does not take $120$ minutes.", False),
        ("2 h", "It takes twice $120$ minutes.", False),
        ("2 h", "We have $t = 3$ h.\n\nIt takes $120$ minutes.", False),
        ("x^2 + 1", "So $x^2 + 1$ is near.\n\nWe stop here.", False),
        ("x^2 + 1", "The answer is $x$.\n\n$x^2 + 1$", False),
        ("x^2 + 1", r"$\boxed{x}$" + "\n\n$x^2 + 1$", False),
        ("x^2 + 1", "$x^2 + 1$ and so on", False),
    ],
)
def test_the_last_line_is_the_answer_where_none_is_presented(gold: str, text: str, right: bool) -> None:
    assert bool(prism.verify(gold, text)) is right
    if r"\boxed" not in text and "answer" not in text:
        assert not prism.verify(gold, text, last_line=False)


OPTIONS = "Which of these grows with the temperature?\n\n(a) the density (b) the pressure (c) the mass"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (r"\boxed{B}", "equivalent"),
        (r"$\boxed{\text{(b) the pressure}}$", "equivalent"),
        ("The answer is (b).", "equivalent"),
        (r"\boxed{\text{(a)}}", "different"),
        ("**Answer:** C", "different"),
        (r"\boxed{\text{(a) or (b)}}", "undecided"),
    ],
)
def test_the_letter_of_an_option_is_an_answer(text: str, status: str) -> None:
    assert prism.verify("(b)", text, question=OPTIONS).status == status


def test_what_is_to_be_shown_is_an_answer_to_its_gold_alone() -> None:
    question = r"Show that the flow is $v = \frac{p(R^2 - r^2)}{4\eta L}$."
    gold = r"v = \frac{p(R^2 - r^2)}{4\eta L}"
    assert prism.verify(gold, r"\boxed{v = \frac{p}{4\eta L}(R^2 - r^2)}", question=question)
    asked = r"A pendulum has the period $T = 2\pi\sqrt{L/g}$. Find $g$."
    assert not prism.verify(r"g = 4\pi^2 L/T^2", r"$T = 2\pi\sqrt{L/g}$", question=asked)
