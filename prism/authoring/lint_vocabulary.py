"""Lint of domain and subtopic: names that a vocabulary lists, so that reports count one field in one row.

How grave a name of its own is, the vocabulary says (`unknown`): shipped, a warning, since a problem is graded all the
same. A problem without domain has no finding, for many need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from prism.authoring.lint_findings import Kind, LintFinding
from prism.inputs import shown
from prism.problem.schema import Problem
from prism.problem.vocabulary import Vocabulary, nearest_domains, nearest_subtopics


def check_vocabulary(problem: Problem, known: Vocabulary) -> Iterator[LintFinding]:
    """Yield a finding for a domain or subtopic that the vocabulary does not list, with the nearest that it does."""
    kind = cast("Kind", known.unknown)
    domain, subtopic = problem.domain, problem.subtopic
    if domain and domain not in known.schemes:
        near = _suggestion(nearest_domains(domain, known)) or f"; domains are {', '.join(known.schemes)}"
        yield LintFinding(kind, "vocabulary", "", "domain", f"the vocabulary has no domain {shown(domain)}{near}")
    if not subtopic:
        return
    homes = [name for name, listed in known.subtopics.items() if subtopic in (listed or ())]
    if not domain:
        where = f"; {shown(subtopic)} is one of {' and of '.join(homes)}" if homes else ""
        text = f"says nothing without a domain{where}"
        yield LintFinding(kind, "vocabulary", "", "subtopic", text)
        return
    listed = known.subtopics.get(domain)
    if listed is None or subtopic in listed:
        return
    near = f"; it is one of {' and of '.join(homes)}" if homes else _suggestion(nearest_subtopics(subtopic, listed))
    near = near or f"; subtopics are {_by_scheme(known.schemes[domain] or {})}"
    text = f"the vocabulary has no subtopic {shown(subtopic)} of {domain}{near}"
    yield LintFinding(kind, "vocabulary", "", "subtopic", text)


def _by_scheme(schemes: Mapping[str, Sequence[str]]) -> str:
    """Return the names of subtopics, those of a scheme with a name behind it."""
    return "; ".join(", ".join(names) + (f" ({scheme})" if scheme else "") for scheme, names in schemes.items())


def _suggestion(names: Sequence[str]) -> str:
    """Return the question whether one of these names is meant; empty without any."""
    return f"; did you mean {' or '.join(map(shown, names))}?" if names else ""
