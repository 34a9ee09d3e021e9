"""Formulas of physics to measure on: of the case files, the shipped problems, a written list, and collected material.

Each is an equation that is taken to be right; `near_misses.py` changes it. `srsd_feynman.jsonl`, if it is on this
machine, holds formulas as Python expressions: `y = ` is put before them, declared kinds become a context, and the
values of constants of nature become their letters, as people write them.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import prism
from prism.algebra.expr import Expr, Formula, formula, number, symbol, symbols, walk
from prism.algebra.noncommutative import order_operator_products
from prism.algebra.operators import OPS
from prism.equivalence.notation.choice import notation_of
from prism.physics.context import Context, Declaration

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = Path(__file__).resolve().parent / "physics_formulas.toml"
COLLECTED = "srsd_feynman.jsonl"
KNOWS_NOTHING = Context()
OPERATOR = re.compile(r"\\hat\{|\\dagger|^i$")  # operators, and the imaginary unit


@dataclass(frozen=True, slots=True)
class Known:
    """A formula that is taken to be right.

    Attributes:
        source: `cases`, `problems`, `written` or `collected`.
        formula: an equation between two expressions.
        context: what is declared of its symbols.
        is_evaluated: False with operators, and with complex numbers or vectors, which the faults, the rewrites (a cube
            has three roots) and the check of `zero_sets.py` know nothing of.
    """

    source: str
    formula: Formula
    context: Context
    is_evaluated: bool


def known_formulas(folder: Path) -> Iterator[Known]:
    """Equations with at least two symbols and no construct that the engine, or the oracle, leaves unevaluated."""
    seen = set()
    for source, parsed, context in _all(folder):
        ops = {node.op for member in parsed.members for node in walk(member)}
        evaluated = all(OPS[op].opcode is not None for op in ops) and ops.isdisjoint(("floor", "factorial"))
        evaluated = evaluated and not any(map(_asks_for_whole_numbers, parsed.members))
        evaluated = evaluated and order_operator_products(parsed, parsed) == (parsed, parsed)  # no matrices
        names = symbols(*parsed.members)
        if parsed.kind == "equation" and evaluated and len(names) > 1 and str(parsed) not in seen:
            seen.add(str(parsed))
            notation = notation_of(parsed, parsed, context)
            components = notation.is_complex or notation.vectors or notation.matrices
            yield Known(source, parsed, context, not components and not any(OPERATOR.search(name) for name in names))


def _asks_for_whole_numbers(member: Expr) -> bool:
    """Whether there is a power of a negative number, as `(-1)^n`."""
    bases = (node.args[0] for node in walk(member) if node.op == "pow")
    return any(base.op == "neg" and base.args[0].op == "num" for base in bases)


def _all(folder: Path) -> Iterator[tuple[str, Formula, Context]]:
    texts = []
    for path in sorted((ROOT / "tests/cases/equivalence").glob("*.toml")):
        rows = tomllib.loads(path.read_text("utf-8"))["case"]
        texts += [("cases", row["a"]) for row in rows if "context" not in row]
    for path in sorted((ROOT / "dags").glob("*.toml")):
        texts += [("problems", node.latex) for node in prism.load_problem(path).nodes]
    for source, text in texts:
        try:
            yield source, prism.parse(text), KNOWS_NOTHING
        except prism.LatexSyntaxError:
            continue  # some cases are there because they cannot be read
    for domain in tomllib.loads(WRITTEN.read_text("utf-8")).values():
        for latex in domain.values():
            yield "written", prism.parse(latex), KNOWS_NOTHING
    if (folder / COLLECTED).is_file():
        for line in (folder / COLLECTED).read_text("utf-8").splitlines():
            yield ("collected", *collected(json.loads(line)))


# Python expressions -----------------------------------------------------------------------------------------------

CONSTANTS = {
    "2.99792458e8": "c", "6.6743e-11": "G", "6.67430e-11": "G", "8.854e-12": r"\epsilon_0", "6.626e-34": "h",
    "1.054571817e-34": r"\hbar", "1.380649e-23": "k_B", "9.80665": "g", "9.8066": "g", "9.2740100783e-24": r"\mu_B",
    "9.10938356e-31": "m_e", "7.2973525693e-3": r"\alpha_e",
}  # fmt: skip
"""Values as the collected formulas write them, and the letter of the constant."""

GREEK = frozenset("alpha beta gamma delta epsilon theta kappa lambda mu rho sigma chi omega".split())
SUBJECTS = ("y", "Y", "w")  # what a collected formula is the value of: the first that it does not use
FUNCTIONS = {"exp": "exp", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tanh": "tanh", "ln": "ln"}
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
}  # fmt: skip


def collected(row: dict[str, str]) -> tuple[Formula, Context]:
    """One row: `formula` is a Python expression, `variables` says of each name `(float, positive)` or the like."""
    text = re.sub(r"\blambda\b", "lambda_", row["formula"])  # a keyword of Python
    right = from_python(ast.parse(text, mode="eval").body, text)
    subject = next(name for name in SUBJECTS if name not in symbols(right))
    samplings = re.findall(r"\w+Sampling\([^()]*\)", row["sampling"])
    declared = {}
    for said, sampling in zip(row["variables"], samplings, strict=True):
        name, _, kind = said.partition(" ")
        declared[symbol_name(name)] = Declaration(_kind(kind, sampling))
    return formula((symbol(subject), right), ("=",)), Context(declared)


def _kind(said: str, sampling: str) -> str:
    if "uses_positive=False" in sampling:
        return "negative"
    if "integer" in said.lower() and "real" not in said:
        return "integer"
    return "positive" if "positive" in said or "uses_negative=False" in sampling else "real"


def symbol_name(name: str) -> str:
    r"""The parser's spelling of a Python name: `theta1` is \theta_1, `k_spring` k_{spring}.

    >>> symbol_name("theta1"), symbol_name("omega_0"), symbol_name("k_spring"), symbol_name("Volt")
    ('\\theta_1', '\\omega_0', 'k_{spring}', 'V_{olt}')
    """
    parts = re.fullmatch(r"([A-Za-z]+?)_?(\d*|_\w+)", name)
    assert parts
    head, label = parts[1], parts[2].strip("_")
    if head not in GREEK and len(head) > 1:
        head, label = head[0], head[1:] + label
    head = f"\\{head}" if head in GREEK else head
    return head if not label else f"{head}_{label}" if len(label) == 1 else f"{head}_{{{label}}}"


def from_python(node: ast.expr, text: str) -> Expr:
    """An arithmetic expression of Python as a tree; products and sums of several operands are one node.

    >>> str(from_python(ast.parse("-2 * x1 / sqrt(pi)", mode="eval").body, "-2 * x1 / sqrt(pi)"))
    '(-2)*x_1/sqrt(pi)'
    """
    if isinstance(node, ast.BinOp):
        op, left, right = BINARY[type(node.op)], from_python(node.left, text), from_python(node.right, text)
        return Expr(op, (*left.args, right) if op in ("add", "mul") and left.op == op else (left, right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return Expr("neg", (from_python(node.operand, text),))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return Expr(FUNCTIONS[node.func.id], tuple(from_python(arg, text) for arg in node.args))
    if isinstance(node, ast.Name):
        return Expr("const", name="pi") if node.id == "pi" else symbol(symbol_name(node.id))
    if isinstance(node, ast.Constant):
        digits = ast.get_source_segment(text, node) or ""
        return symbol(CONSTANTS[digits]) if digits in CONSTANTS else number(Fraction(digits))
    raise ValueError(f"{text}: {type(node).__name__} is no arithmetic")
