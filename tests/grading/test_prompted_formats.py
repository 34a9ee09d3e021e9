"""A solution written as a prompt asks for is graded as the right one that it is: in each style, for each problem.

The solutions are made from the reference: its formulas, in the marks of the format, in the order of the nodes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import prism
from prism.problem.prompts import STYLES
from prism.problem.schema import load_problem
from prism.problem.source import shipped_files
from tests.support.prompted_solutions import WRITERS

SHIPPED = pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)


@SHIPPED
def test_who_writes_what_is_asked_for_earns_everything(path: Path) -> None:
    problem = load_problem(path)
    prepared = prism.prepare(problem)
    for style in STYLES:
        found = prism.grade(prepared, WRITERS[style](problem))
        assert (found.score, found.final_correct, found.unread) == (1.0, True, 0), style
        assert set(found.matched) == set(problem.dag.indices), style


def test_the_answer_lines_alone_are_read_as_answers() -> None:
    """Of the last section of each style, with no step before it: what it states counts, and a wrong one does not."""
    fall = prism.prepare("free_fall")
    for lines, is_right in (
        (["(a) **Answer:** $\\sqrt{2h/g}$", "(b) **Answer:** $\\sqrt{2gh}$"], True),
        (["(a) **Answer:** $\\sqrt{h/g}$", "(b) **Answer:** $\\sqrt{2gh}$"], False),
        (["(a) $\\boxed{t_f = \\sqrt{2h/g}}$", "(b) $\\boxed{v_f = \\sqrt{2gh}}$"], True),
        (["(a) $\\boxed{v_f = \\sqrt{2gh}}$", "(b) $\\boxed{t_f = \\sqrt{2h/g}}$"], False),
    ):
        for head, end in (("## Final Answer\n", ""), ("###### FINAL_ANSWER ######\n", "\n###### END_STEP ######")):
            assert prism.grade(fall, head + "\n".join(lines) + end).final_correct == is_right, lines
