"""From a decision to its rule and its code: which section of the semantics each reason follows, which modules give it.

For contributors who hold a wrong verdict and look for the place to mend. Nothing is decided here. A test holds the
tables to the closed lists of reasons, to the headings of the page, and to the modules, in whose functions it looks for
the reasons.

Refused: noting the rule at each verdict while it is made. It would cost every comparison for the sake of a few readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prism.equivalence.chains.links import REASONS as LINK_REASONS
from prism.equivalence.verdict import Stage
from prism.grading.result import Grade
from prism.grading.selection import WithheldReason

PAGE = "explanation/semantics.html"
"""The page of the rules, by its path on the site of the documentation."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a reason comes from.

    Attributes:
        rule: number of the rule in the semantics, such as `Z.1`.
        modules: modules that give the reason, by dotted name; the one to look into first stands first.
    """

    rule: str
    modules: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """The rule's place: path of the page on the site of the documentation, and anchor."""
        return f"{PAGE}#semantics-{self.rule.lower().replace('.', '-')}"

    @property
    def files(self) -> tuple[str, ...]:
        """The modules as paths in the repository."""
        return tuple(f"{module.replace('.', '/')}.py" for module in self.modules)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"rule": self.rule, "anchor": self.anchor, "files": list(self.files)}


_SCREENS, _ZERO_SETS = "prism.equivalence.points.screens", "prism.equivalence.points.zero_sets"
_DISPATCH = "prism.equivalence.dispatch"
_SIDES = "prism.equivalence.inequality_sides"
_MATCHING = "prism.equivalence.matching"
_NUMBERS = "prism.equivalence.numbers.comparison"
_SUBSTITUTIONS = "prism.equivalence.substitutions"
_MATRIX = "prism.grading.match_matrix"
_SELECTION = "prism.grading.selection"
_PIPELINE = "prism.grading.pipeline"
_VERIFYING = "prism.grading.verifying"

VERDICT_ORIGINS: Mapping[str, Origin] = {
    "same_form": Origin("Z.1", (_ZERO_SETS, _DISPATCH)),
    "same_zero_set": Origin("Z.1", (_ZERO_SETS, _DISPATCH)),
    "same_value": Origin("Z.8", (_ZERO_SETS, _DISPATCH)),
    "same_number": Origin("N.2", (_NUMBERS,)),
    "same_option": Origin("N.5", (_PIPELINE,)),
    "other_option": Origin("N.5", (_PIPELINE,)),
    "no_option": Origin("N.5", (_PIPELINE,)),
    "other_number": Origin("N.2", (_NUMBERS, _MATCHING)),
    "unstated": Origin("N.2", (_MATCHING,)),
    "dimension": Origin("U.8", (_MATCHING, _NUMBERS)),
    "opaque_atoms": Origin("Z.9", (_ZERO_SETS,)),
    "witness": Origin("Z.2", (_ZERO_SETS, _SCREENS)),
    "live_variables": Origin("Z.5", (_ZERO_SETS, _DISPATCH)),
    "other_letters": Origin("Z.5", (_MATCHING,)),
    "condition": Origin("X.14", (_MATCHING,)),
    "identity": Origin("Z.7", (_DISPATCH, _SCREENS, _ZERO_SETS)),
    "kind": Origin("Z.8", (_DISPATCH, _MATCHING, _ZERO_SETS)),
    "no_relation": Origin("C.0", (_PIPELINE,)),
    "other_factor": Origin("Z.6", (_ZERO_SETS,)),
    "ratio": Origin("Z.8", (_DISPATCH,)),
    "exact": Origin("Z.1", (_ZERO_SETS,)),
    "opposite_side": Origin("Z.8", (_SIDES,)),
    "parse_error": Origin("Z.12", (_PIPELINE, _MATCHING, _VERIFYING)),
    "unsupported": Origin("Z.9", (_ZERO_SETS, _SCREENS, _DISPATCH, _MATCHING, _SIDES, _MATRIX, _PIPELINE)),
    "too_few_points": Origin("Z.2", (_ZERO_SETS, _SIDES, _MATCHING)),
    "below_rounding": Origin("Z.2", (_ZERO_SETS,)),
    "borderline": Origin("Z.2", (_ZERO_SETS,)),
    "imprecise": Origin("N.1", (_ZERO_SETS,)),
    "too_large": Origin("C.7", (_PIPELINE, _MATRIX, _MATCHING, _ZERO_SETS, _DISPATCH)),
    "no_answer": Origin("F.2", (_VERIFYING,)),
    "taken_back": Origin("F.8", (_VERIFYING,)),
}
"""For each reason of a verdict (`prism.equivalence.verdict.REASONS`) where it comes from."""

STAGE_ORIGINS: Mapping[Stage, Origin] = {
    Stage.NOTATION: Origin("O.1", ("prism.equivalence.notation.readings", "prism.equivalence.plan")),
    Stage.CONSTANTS: Origin("O.2", ("prism.equivalence.notation.constant_readings", "prism.equivalence.plan")),
    Stage.DEFINITIONS: Origin("O.3", (_SUBSTITUTIONS, _MATRIX)),
    Stage.LITERALS: Origin("O.4", (_SUBSTITUTIONS,)),
    Stage.RENAMING: Origin("O.5", (_MATRIX,)),
    Stage.GIVENS: Origin("O.6", (_SUBSTITUTIONS, _MATCHING)),
    Stage.APPROXIMATE: Origin("O.7", (_MATCHING,)),
}
"""For each stage of a match beyond the first, at which nothing is put in, where it comes from."""

WITHHELD_ORIGINS: Mapping[str, Origin] = {
    WithheldReason.BROKEN_CHAIN: Origin("C.1", (_SELECTION,)),
    WithheldReason.CONTRADICTED: Origin("C.2", (_SELECTION,)),
    WithheldReason.ONE_OF_MANY: Origin("C.2", (_SELECTION,)),
    WithheldReason.OTHER_PART: Origin("C.3", (_SELECTION,)),
    WithheldReason.GUESSED: Origin("C.4", (_PIPELINE,)),
    WithheldReason.TOO_LARGE: Origin("C.7", (_PIPELINE,)),
    WithheldReason.UNFINISHED: Origin("F.6", (_SELECTION,)),
    WithheldReason.COPIED: Origin("C.5", (_SELECTION, _PIPELINE)),
    WithheldReason.CONDITIONED: Origin("Z.8", (_SELECTION,)),
    WithheldReason.FAILED: Origin("Z.12", (_PIPELINE,)),
}
"""For each reason why a match earns nothing where it comes from."""

FLAG_ORIGINS: Mapping[str, Origin] = {
    "broken_chain": Origin("C.1", (_PIPELINE,)),
    "formula_sheet": Origin("C.7", (_PIPELINE,)),
    "hedged": Origin("C.2", (_PIPELINE,)),
    "no_formulas": Origin("C.0", (_PIPELINE,)),
    "spam": Origin("C.7", (_PIPELINE,)),
}
"""For each flag of a grade (`prism.grading.result.FLAGS`) where it comes from."""

LINK_ORIGINS: Mapping[str, Origin] = dict.fromkeys(LINK_REASONS, Origin("C.1", ("prism.equivalence.chains.links",)))
"""For each reason of a link of a chain where it comes from: they are all given in one module."""


def trace_line(origin: Origin) -> str:
    """Return an origin in one line: the rule with its place, and the files to look into."""
    return f"rule {origin.rule} ({origin.anchor}), decided in {', '.join(origin.files)}"


def trace_of(grade: Grade) -> dict[str, Any]:
    """Return the origins of all decisions of a grade as plain values for JSON, by family and reason."""
    matches = [match for item in grade.formulas for match in item.matches]
    reasons = {match.reason for match in matches} | {item.reason for item in grade.formulas}
    stages = {Stage(match.stage) for match in matches}
    return {
        "reasons": _origins(VERDICT_ORIGINS, reasons),
        "stages": {str(int(stage)): STAGE_ORIGINS[stage].to_dict() for stage in sorted(stages & STAGE_ORIGINS.keys())},
        "withheld": _origins(WITHHELD_ORIGINS, {reason for item in grade.formulas for _, reason in item.withheld}),
        "flags": _origins(FLAG_ORIGINS, grade.flags),
    }


def _origins(table: Mapping[str, Origin], reasons: Iterable[str]) -> dict[str, Any]:
    """Return the entries of a table for those reasons that it has, as plain values."""
    return {str(reason): table[reason].to_dict() for reason in sorted(reasons) if reason in table}
