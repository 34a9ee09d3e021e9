"""The reference of a problem, written as each style of `prism prompt` asks a model to write a solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prism.problem.prompts import STAGES
from prism.problem.schema import Problem, ProblemNode


def letter_of(problem: Problem, node: ProblemNode) -> str:
    """The part of a node: its own, else that of the first final answer that rests on it."""
    bit = 1 << problem.dag.positions[node.index]
    led_to = (one.subquestion for one in problem.nodes if one.is_final
              and problem.dag.ancestors[problem.dag.positions[one.index]] & bit)  # fmt: skip
    return node.subquestion or next(led_to, "")


def by_part(problem: Problem) -> Iterator[tuple[str, list[ProblemNode]]]:
    for part in problem.subquestions:
        yield part.letter, [node for node in problem.nodes if letter_of(problem, node) == part.letter]


def final(node: ProblemNode) -> str:
    return f"Answer: {node.latex.removeprefix(chr(92) + 'text{').removesuffix('}')}" if node.is_text else (
        rf"$\boxed{{{node.latex}}}$"
    )  # fmt: skip


def laws(problem: Problem) -> list[str]:
    starts = {node.index for node in problem.dag.nodes if not node.prerequisites}
    return [f"${n.latex}$" for n in problem.nodes if n.index in starts and not n.is_text and not n.is_final] or [
        "None."
    ]


def in_prism_style(problem: Problem) -> str:
    lines = []
    for letter, nodes in by_part(problem):
        lines += [f"({letter})"] if letter else []
        lines += [final(node) if node.is_final else f"${node.latex}$" for node in nodes]
    return "\n\n".join(lines)


def in_engtrace_style(problem: Problem) -> str:
    steps = [f"**Step {k}:** ${node.latex}$" for k, node in enumerate((n for n in problem.nodes if not n.is_text), 1)]
    answers = [
        f"({letter}) **Answer:** ${node.latex.partition('=')[2] or node.latex}$"
        for letter, nodes in by_part(problem) for node in nodes if node.is_final
    ]  # fmt: skip
    head = ["## Given", "The values of the problem.", "## Find", "What is asked.", "## Formulae", *laws(problem)]
    return "\n".join([*head, "## Solution", *steps, "## Final Answer", *answers])


def in_engjudge_style(problem: Problem) -> str:
    said = dict.fromkeys(STAGES, "Nothing to add.")
    said["EQUATION_SELECTION"] = "\n".join(laws(problem))
    said["ALGEBRAIC_ACCURACY"] = "\n".join(f"${node.latex}$" for node in problem.nodes if not node.is_text)
    finals = [(letter, node) for letter, nodes in by_part(problem) for node in nodes if node.is_final]
    said["FINAL_ANSWER"] = "\n".join(f"({letter}) {final(node)}" for letter, node in finals)
    return "\n\n".join(f"###### {name} ######\n{text}\n###### END_STEP ######" for name, text in said.items())


def in_prism_physics_style(problem: Problem) -> str:
    lines = []
    for letter, nodes in by_part(problem):
        lines += [f"({letter})"] if letter else []
        lines += [final(node) if node.is_text else f"$${node.latex}$$" for node in nodes]
    return "\n\n".join(lines)


WRITERS: dict[str, Callable[[Problem], str]] = {
    "prism": in_prism_style, "engtrace": in_engtrace_style, "engjudge": in_engjudge_style,
    "prism-physics": in_prism_physics_style,
}  # fmt: skip
