"""The variant `abstract`: the same numbers and relations, with symbols x and y and without units and physics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism.errors import PrismError
from prism.generation.exact_values import digits
from prism.generation.preparing import PreparedCase, Solved, parse_in, renamed_latex, si_text
from prism.generation.students import Spelling
from prism.generation.template import Template
from prism.generation.wording import fill_blanks

_DROPPED = ("title", "subtopic", "kind", "definitions", "final_answer_instructions", "symbols", "source", "macros")
_FIGURES_OF_CONSTANT = 10


def abstract_spelling(case: PreparedCase) -> Spelling:
    """Return how formulas and numbers of a case are written with renamed symbols."""
    return Spelling(
        {node.index: renamed_latex(case, node.formula) for node in case.nodes if node.formula is not None},
        {node.index: case.renamed[node.required_number.name] for node in case.nodes if node.number is not None},
        has_units=False,
    )


def abstract_data(
    template: Template, solved: Solved, data: Mapping[str, Any], texts: Mapping[int, str]
) -> dict[str, Any]:
    """Return the table of a problem file with renamed symbols.

    Args:
        data: of the same instance with its own symbols, its nodes renamed already.
        texts: LaTeX of the nodes, renamed.
    """
    case = solved.case
    new = {key: value for key, value in data.items() if key not in _DROPPED}
    new["context"] = _own_text(template, solved) if template.abstract else _made_text(template, solved, texts)
    if "symbols" in data:
        new["symbols"] = _renamed_keys(case, data["symbols"])
    if "definitions" in data:
        new["definitions"] = [renamed_latex(case, parse_in(case, each)) for each in data["definitions"]]
    if "subquestions" in data:
        parts = [_asked(case, part, texts) for part in data["subquestions"]]
        new["subquestions"] = [part for part in parts if part is not None]
    new["grading_standard"] = [
        {**node, "accept": [renamed_latex(case, parse_in(case, each)) for each in node["accept"]]}
        if "accept" in node
        else node
        for node in data["grading_standard"]
    ]
    return new


def _values(template: Template, solved: Solved) -> dict[str, str]:
    """Return the LaTeX of each given value, `x_1 = 24.0`, by the key of its parameter or the constant's own name."""
    case = solved.case
    found = {
        key: f"{case.renamed[each.name]} = {si_text(solved.drawn[key], solved.values[each.name])}"
        for key, each in template.parameters.items()
        if each.name
    }
    for name, value in sorted(case.constants.items()):
        found[name] = f"{case.renamed[name]} = {digits(value, _FIGURES_OF_CONSTANT)}"
    return found


def _own_text(template: Template, solved: Solved) -> str:
    """Return the author's text of the abstraction, its blanks filled."""
    values = _values(template, solved)

    def filled(key: str, is_value_only: bool) -> str:
        if key not in values:
            raise PrismError(f"{template.file}: abstract: no value {key}")
        return f"${values[key].partition(' = ')[2] if is_value_only else values[key]}$"

    return fill_blanks(template.abstract, filled)


def _made_text(template: Template, solved: Solved, texts: Mapping[int, str]) -> str:
    """Return the text that is made up: the values, and the relations from which the final numbers follow."""
    values = ", ".join(f"${each}$" for each in _values(template, solved).values())
    case = solved.case
    told = "; ".join(
        f"${texts[index]}$" for index in (case.told if case.abstract_nodes is None else case.abstract_nodes)
    )
    relations = f" These relations hold: {told}." if told else ""
    return f"All quantities are numbers. Given are {values}.{relations}"


def _asked(case: PreparedCase, part: Mapping[str, Any], texts: Mapping[int, str]) -> dict[str, Any] | None:
    """Return a subquestion that asks for the final answers of its part by their renamed symbols.

    A part without a final answer asks for its last formula, and None stands for one without any.
    """
    kept = {key: value for key, value in part.items() if key not in _DROPPED}
    if part.get("final_answer_form") == "text-based":
        return {**kept, **({"final_answer_instructions": part["final_answer_instructions"]}
                           if "final_answer_instructions" in part else {})}  # fmt: skip
    own = [node for node in case.nodes if node.part == part.get("letter")]
    finals = [node for node in own if node.is_final] or own[-1:]
    if not finals:
        return None
    names = [f"${texts[node.index].partition('=')[0].strip()}$" for node in finals]
    noun = "number" if all(node.number is not None for node in finals) else "formula for"
    kept["subproblem"] = f"Find the {noun} {' and '.join(names)}."
    return kept


def _renamed_keys(case: PreparedCase, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of symbols with its keys renamed; what no formula has is left out."""
    found = {}
    for key, value in table.items():
        name = parse_in(case, key).members[0].name
        if name in case.renamed:
            found[case.renamed[name]] = value
    return found
