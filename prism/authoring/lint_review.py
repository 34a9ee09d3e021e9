"""Check whether a person has looked at all of a drafted reference, and whether a certificate is still of it."""

from __future__ import annotations

from collections.abc import Iterator

from prism.authoring.lint_findings import LintFinding, warning
from prism.errors import count_of
from prism.problem.schema import Problem


def check_review(problem: Problem) -> Iterator[LintFinding]:
    """Yield a warning for what is not reviewed, and one for a certificate that does not hold."""
    found = problem.review
    if found.open:
        counts = [
            count_of(found.count(kind), kind) for kind in ("node", "edge", "question") if found.count(kind)
        ]  # fmt: skip
        nodes = dict.fromkeys(f"{each.node} of {each.way}" if each.way else str(each.node) for each in found.open)
        text = f"{', '.join(counts)} not reviewed, at nodes {', '.join(nodes)}; `prism desk` goes through them"
        yield warning("unreviewed", "", "", text)
    if found.certified_by and found.open:
        yield warning("certificate", "", "certified_by", "certified, and not all of it is reviewed")
    elif found.certified_by and not found.is_current:
        text = f"{found.certified_by} has certified something else: statement, nodes or edges were changed since"
        yield warning("certificate", "", "certified_by", text)
