"""What a solution adds about the problem's own letters earns no node."""

from __future__ import annotations

from itertools import islice

import pytest

from benchmarks.accuracy import added_sentences
from benchmarks.accuracy.added_sentences import Labelled

ADVICE = "read it; a row first, then a fix: python benchmarks/accuracy/added_sentences.py"


def unread(solutions: list[Labelled], count: int = added_sentences.EACH) -> list[added_sentences.Gain]:
    known = added_sentences.read_gains()
    return [gain for each in solutions if each.name not in known for gain in added_sentences.gains(each, count)]


@pytest.mark.slow
@pytest.mark.compiled
def test_no_sentence_earns_a_node() -> None:
    solutions = [*added_sentences.of_cases(), *added_sentences.of_students()]
    assert len(solutions) > 500
    assert not unread(solutions), ADVICE


@pytest.mark.compiled
def test_no_sentence_of_a_sample_earns_a_node() -> None:
    solutions = [*islice(added_sentences.of_cases(), 0, None, 15), *islice(added_sentences.of_students(), 0, None, 25)]
    assert not unread(solutions), ADVICE


def test_a_gain_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    node = {"index": 1, "formula": "x = u t", "dependency": [], "is_final_answer": True}
    problem = {"id": "p", "context": "$x$ is the way.", "grading_standard": [node]}
    monkeypatch.setattr(added_sentences, "SENTENCES", (r"Let $\xi = u t$.", "Let $<a> = 0$."))
    found = list(added_sentences.gains(Labelled("p", problem, r"$x = \xi$")))
    assert [(gain.sentence, gain.nodes) for gain in found] == [(r"Let $\xi = u t$.", (1,))]
