"""Screens against the comparison that looks at both formulas: where a screen settles a pair, both say the same."""

from __future__ import annotations

import math
import tomllib
from itertools import groupby
from typing import Any

import pytest

from prism.algebra.expr import Formula, without_text
from prism.budget import share
from prism.equivalence.dispatch import compare
from prism.equivalence.facts import in_base_units
from prism.equivalence.points.screens import Screen, refute, screen_of
from prism.equivalence.statements import statements_of
from prism.errors import LatexSyntaxError
from prism.physics.context import Context, parse
from tests.support.case_rows import CASES

NEIGHBOURS = 3  # rows of one context with which each one is crossed


def _rows_by_context() -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the rows about equivalence by their context, as text."""
    files = sorted((CASES / "equivalence").glob("*.toml"))
    rows = [row for path in files for row in tomllib.loads(path.read_text("utf-8")).get("case", ())]
    rows.sort(key=lambda row: repr(row.get("context", {})))
    return [(key, list(group)) for key, group in groupby(rows, key=lambda row: repr(row.get("context", {})))]


def _statements(latex: str, context: Context) -> list[Formula]:
    """Return what a formula states, each in base units; empty if it cannot be read."""
    try:
        written = without_text(parse(latex, context=context))
    except LatexSyntaxError:
        return []
    return [in_base_units(each.formula) for each in statements_of(written)]


@pytest.mark.slow  # compares all rows once more
@pytest.mark.compiled
def test_a_screen_gives_the_verdict_of_the_comparison_of_both_formulas() -> None:
    settled = asked = 0
    for _, rows in _rows_by_context():
        context = Context.from_dict(rows[0].get("context", {}))
        stated = [
            [f for latex in (row["a"], row["b"], *row.get("near_misses", ())) for f in _statements(latex, context)]
            for row in rows
        ]
        for n, own in enumerate(stated):
            others = [f for near in stated[n : n + NEIGHBOURS + 1] for f in near]
            for b in others:
                for approximate in (False, True):
                    with share(math.inf):
                        one, two = screen_of(own[0], context) if own else None, screen_of(b, context)
                        told = refute(one, two, approximate=approximate)
                    asked += 1
                    if told is not None:
                        settled += 1
                        assert told == compare(own[0], b, context, approximate=approximate), (str(own[0]), str(b))
    assert settled > asked / 3


def test_a_screen_leaves_open_what_may_be_equivalent() -> None:
    context = Context()
    one, two, other = (screen_of(parse(f), context) for f in ("F = m a", "a = F/m", "F = 2 m a"))
    assert isinstance(one, Screen)
    assert refute(one, two) is None
    assert refute(one, one) is None
    told = refute(one, other)
    assert told is not None
    assert (told.status, told.reason) == ("different", "witness")
    assert told.witness is not None
    assert told.witness.left != told.witness.right


@pytest.mark.parametrize("latex", [r"\vec F = m \vec a", "z = x + i y", r"[\hat x, \hat p] = i\hbar", "a = b = c"])
def test_what_only_both_formulas_tell_has_no_screen(latex: str) -> None:
    assert screen_of(parse(latex), Context()) is None
