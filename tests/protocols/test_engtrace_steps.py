"""How traces are read: steps, values and notes, by the paper and as the released script reads."""

from __future__ import annotations

from fractions import Fraction

import pytest

from prism.protocols.engtrace.steps import MAX_STEPS, Variant, numbers_agree, read_trace, stated_value

PAPER, RELEASED = Variant.PAPER, Variant.RELEASED


def fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


@pytest.mark.parametrize(
    ("text", "by_paper", "as_released"),
    [
        ("Re = 4*Q/(pi*D*nu) = 25465", "25465", "25465"),
        ("V = 0.27 / 0.0353 = 7.6487 L", "7.6487", "7.6487"),
        ("V = \\frac{0.27}{0.0353} = 7.65\\,\\text{L}", "7.65", "7.65"),
        ("Re = 4*Q/(pi*D*nu)", None, "4"),  # a factor is no value
        ("The flow is 4.2 W at 300 K.", "300", "300"),
        ("Q = 1,250 W", "1250", "1"),
        ("Q = 25\\,465 W", "25465", "25"),
        ("x = -5 m", "-5", "5"),  # the script asks for the border of a word in front of the sign
        ("x = −5.0e-3 m", "-0.005", "0.005"),
        ("p = 2.5 \\times 10^{4} Pa", "25000", "2.5"),
        ("p = 2.5×10⁴ Pa", "25000", "2.5"),
        ("k = 10^{-3}", "0.001", "10"),
        ("h \\approx \\boxed{0.0413} m", "0.0413", "0.0413"),
        ("q1 and H2O, A_0", None, None),
        ("v = 3.5 m/s^{2}", "3.5", "3.5"),
        ("x = 5 (turbulent)", "5", "5"),
        ("F = 12kN", "12", None),
        ("y = .5", "0.5", "5"),
        ("e = 1e999", None, None),  # beyond any float
        ("a range of 10-20", None, "-20"),
        ("", None, None),
        ("**Answer:** q1 = 3.2 W", "3.2", "1"),
        ("**Answer:** 1,234.5 kPa", "1234.5", "1"),
        ("**Answer:** **25465**", "25465", "25465"),
        ("**Answer:** At a depth of 20 m it is **572.9 kPa**.", "572.9", "20"),
        ("**Answer:** x = 2 m\n**Answer:** y = 3 m", "3", "2"),
        ("b = 7\n**Answer:** see above", "7", "7"),
    ],
)
def test_the_value_of_a_text(text: str, by_paper: str | None, as_released: str | None) -> None:
    assert stated_value(text, PAPER) == fraction(by_paper)
    assert stated_value(text, RELEASED) == fraction(as_released)


MIXED = """## Given
1. m = 3 kg
## Solution
**Step 1:** State a = F/m.
0.5 m is the length
**Step 2**: then a = 6/3 = 2
### Step 3: Title
3.5 x
## Final Answer
**Answer:** 2.0 m/s^2"""


def test_steps_open_at_line_starts() -> None:
    trace = read_trace(MIXED, PAPER)
    assert [step.text.split("\n")[0] for step in trace.steps] == [
        "m = 3 kg",
        "State a = F/m.",
        "then a = 6/3 = 2",
        "Title",
    ]
    assert [step.value for step in trace.steps] == [3, Fraction(1, 2), 2, 2]
    assert [MIXED[slice(*step.span)].strip().split()[0] for step in trace.steps] == ["1.", "**Step", "**Step", "###"]
    assert "format: 1 of 4 steps are lines before the heading Solution" in trace.notes
    assert "format: no heading Find, Formulae" in trace.notes


def test_a_decimal_at_a_line_start_opens_a_step_as_released() -> None:
    trace = read_trace(MIXED, RELEASED)
    assert [step.value for step in trace.steps] == [3, None, Fraction(1, 2), 2, None, 2]
    assert trace.steps[1].text == "** State a = F/m."  # what it leaves of the mark
    assert read_trace("1. Find it.\n2. It is found.", RELEASED).steps[1].value == 2  # its own number


def test_a_text_without_steps_is_one_and_an_empty_one_none() -> None:
    for variant in Variant:
        assert len(read_trace("F = 6 N", variant).steps) == 1
        assert read_trace(" \n ", variant).steps == ()


def test_a_thinking_block_is_not_read_by_the_paper() -> None:
    text = "<think>\nStep 1: x = 1\nStep 2: x = 2\n</think>\n**Step 1:** x = 3\n**Answer:** 3"
    assert [step.value for step in read_trace(text, PAPER).steps] == [3]
    assert len(read_trace(text, RELEASED).steps) == 3


def test_steps_beyond_the_limit_are_one() -> None:
    trace = read_trace("\n".join(f"Step {k}: x = {k}" for k in range(1, MAX_STEPS + 3)), PAPER)
    assert len(trace.steps) == MAX_STEPS
    assert trace.steps[-1].value == MAX_STEPS + 2
    assert f"steps: {MAX_STEPS + 2}, of which the last 3 are read as one" in trace.notes


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize(
    "text",
    [
        "\n \n" * 20000,
        "9" * 40000 + "a",
        "**Answer:**" * 4000,
        "\n#" * 20000,
        "= " * 20000,
        "1,111" * 8000,
        "10^" * 15000,
    ],
)
def test_no_text_takes_the_square_of_its_length(variant: Variant, text: str) -> None:
    """Texts on which a careless pattern takes minutes; that this ends at all is the test."""
    assert len(read_trace(text, variant).steps) <= MAX_STEPS


@pytest.mark.parametrize(
    ("gold", "predicted", "within", "strictly"),
    [
        ("100", "102", True, False), ("100", "98", True, False), ("100", "101.9", True, True),
        ("100", "102.1", False, False),
        ("-100", "-102", True, False), ("-100", "100", False, False),
        ("0", "0", True, True), ("0", "9e-10", True, True), ("0", "1e-9", False, False), ("1e-9", "1.5e-9", True, True),
        ("2e-9", "2.03e-9", True, True), ("2e-9", "2.05e-9", False, False),
    ],
)  # fmt: skip
def test_numbers_agree_by_a_relative_tolerance_with_a_floor(
    gold: str, predicted: str, within: bool, strictly: bool
) -> None:
    numbers = Fraction(gold), Fraction(predicted), Fraction(2, 100)
    assert numbers_agree(*numbers) is within
    assert numbers_agree(*numbers, is_strict=True) is strictly
