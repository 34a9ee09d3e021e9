"""Write solutions to an instance whose grade is known by construction: right ones, and ones with one known fault.

A label is never taken from a grade. A number that a fault has changed a little, so that it may still be within the
tolerance, makes no solution: another fault is taken.

Put a fault into a formula of a template: a sign, a factor, an exponent or a symbol, as a student might.

A changed formula is planned once for a template. That it is wrong for certain is seen at the values of each instance:
there its sides differ, while every formula of the reference holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, walk, with_args, with_members
from prism.equivalence.matching import equivalent
from prism.generation.exact_values import Value, as_ball, as_fraction, compares, digits, evaluate, in_unit, read_digits
from prism.generation.preparing import PreparedCase, PreparedNode, Solved, renamed_latex
from prism.generation.solving import Relation, Step, Unsolved, plan_steps, relations_of, work_out
from prism.generation.values import draw_index, draw_unit
from prism.generation.wording import unit_latex
from prism.grading.references import is_guess
from prism.latex import write
from prism.physics.units import find_unit, find_unit_product
from prism.problem.dag import ancestor_closure, is_final_correct, score

# Faults of formulas. ----------------------------------------------------------------------------------------------


KINDS = ("sign", "factor", "exponent", "symbol")


@dataclass(frozen=True, slots=True, eq=False)
class ChangedFormula:
    """A formula of a node with a fault, and how the numbers follow with it.

    Attributes:
        latex: of the changed formula. renamed: with the symbols of the variant `abstract`.
        relations: of it.
        steps: that work out the quantities with it in place of the node's own formula.
    """

    latex: str
    renamed: str
    relations: tuple[Relation, ...]
    steps: tuple[Step, ...]


def changed_formulas(case: PreparedCase, kind: str) -> tuple[tuple[PreparedNode, ChangedFormula], ...]:
    """Return the nodes of a case whose formula can have a fault of a kind, each with the changed formula."""
    found = []
    for node in case.nodes:
        key = node.index, kind
        if key not in case.changed:
            case.changed[key] = _changed_formula(case, node, kind)
        if case.changed[key] is not None:
            found.append((node, case.changed[key]))
    return tuple(found)


def _changed_formula(case: PreparedCase, node: PreparedNode, kind: str) -> ChangedFormula | None:
    """Return the first changed formula of a node with which all quantities still have a plan; None if there is none."""
    if node.formula is None or node.formula.kind != "equation" or not node.relations or _has_twin(case, node):
        return None
    known = {name for name in case.dimensions if name in case.renamed} - {step.name for step in case.steps}
    wanted = [step.name for step in case.steps]
    for changed in _changes(case, node.formula, kind):
        if changed.members == node.formula.members:
            continue
        relations = relations_of(changed, node.own_index)
        others = [each for other in case.nodes for each in (relations if other is node else other.relations)]
        steps = plan_steps(others, known, wanted, case.signed, case.domains)
        if steps is not None and relations:
            return ChangedFormula(write(changed), renamed_latex(case, changed), relations, steps)
    return None


def _has_twin(case: PreparedCase, node: PreparedNode) -> bool:
    """Return True if another formula of the reference says the same, so that who writes that one has both."""
    assert node.formula is not None
    others = [other.formula for other in case.nodes if other is not node and other.formula is not None]
    return any(equivalent(each, node.formula, context=case.context).status == "equivalent" for each in others)


def _changes(case: PreparedCase, f: Formula, kind: str) -> Iterator[Formula]:
    """Yield an equation with one fault of a kind, the most natural one first."""
    left, right = f.members
    if kind == "factor":
        if right.op == "mul" and right.args[0].op == "num":
            rest = right.args[1:]
            yield with_members(f, (left, rest[0] if len(rest) == 1 else Expr("mul", rest)))
        yield with_members(f, (left, Expr("mul", (number(2), right))))
        return
    for side in (1, 0):
        member = f.members[side]
        for node in walk(member):
            for new in _changes_of_node(case, node, kind, {symbol(name) for name in symbols(left, right)}):
                changed = _with_node(member, node, new)
                yield with_members(f, (left, changed) if side else (changed, right))


def _with_node(root: Expr, node: Expr, new: Expr) -> Expr:
    """Return an expression with the first occurrence of a node replaced."""
    if root is node:
        return new
    args = list(root.args)
    for place, arg in enumerate(args):
        if any(inner is node for inner in walk(arg)):
            args[place] = _with_node(arg, node, new)
            return with_args(root, tuple(args))
    return substitute(root, {node: new})


def _changes_of_node(case: PreparedCase, node: Expr, kind: str, own: set[Expr]) -> Iterator[Expr]:
    """Yield what a fault of a kind makes of one node of an expression."""
    if kind == "sign":
        if node.op == "sub":
            yield Expr("add", node.args)
        elif node.op == "add" and len(node.args) == 2:
            yield Expr("sub", node.args)
    elif kind == "exponent":
        power = node.args[1].value if node.op == "pow" else None
        if power is not None and power.denominator == 1 and power > 1:
            yield node.args[0] if power == 2 else Expr("pow", (node.args[0], number(power - 1)))
        elif node.op == "sqrt":
            yield node.args[0]
    elif kind == "symbol" and node.op == "sym" and node.name in case.dimensions:
        dimension = case.dimensions[node.name]
        for name in case.renamed:
            if case.dimensions.get(name) == dimension and name != node.name and symbol(name) not in own:
                yield symbol(name)


CERTAIN = Fraction(1, 20)  # share by which the sides of a changed formula differ at the true values


# Solutions with labels. -------------------------------------------------------------------------------------------


_FAR = 2  # tolerances: a number farther off is wrong for certain
_NEAR = Fraction(1, 4)  # of a tolerance: a number nearer is right for certain
_TRIES = 20  # draws of a slip that rounding may undo
_SLIP = Fraction(1, 10), Fraction(3, 10)  # range of a slip, relative
_LEAST_SLIP = Fraction(9, 100)  # after rounding
_PREFIXES = ("m", "k", "c")  # of a neighbouring unit, in this order


@dataclass(frozen=True, slots=True)
class Spelling:
    """How formulas and numbers are written in one variant of an instance.

    Attributes:
        formulas: LaTeX of each formula node, by index.
        subjects: LaTeX of the quantity of each number node, by index.
        has_units: False where values are in SI units without units.
    """

    formulas: Mapping[int, str]
    subjects: Mapping[int, str]
    has_units: bool = True

    def number(self, node: PreparedNode, value: Value) -> str:
        r"""Return a number node's text for a value in SI units: `s = 58.7\unit{m}`."""
        number = node.required_number
        own = in_unit(value, number.unit) if self.has_units else value
        return self.stated(node, digits(own, number.figures, scientific=number.is_scientific), number.unit_text)

    def stated(self, node: PreparedNode, text: str, unit: str) -> str:
        """Return a number node's text from its digits and its unit."""
        return f"{self.subjects[node.index]} = {text}{unit_latex(unit if self.has_units else '')}"


def node_texts(solved: Solved, spelling: Spelling) -> dict[int, str]:
    """Return the LaTeX of every node of an instance, by index."""
    return {
        node.index: spelling.formulas[node.index]
        if node.number is None
        else spelling.number(node, solved.values[node.required_number.name])
        for node in solved.case.nodes
    }


def labelled_students(
    template: str, solved: Solved, spelling: Spelling, others: Iterable[Mapping[str, Value]]
) -> list[dict[str, Any]]:
    """Return the solutions of an instance as tables of a problem file, with their labels.

    Args:
        template: id.
        solved: the values of the instance.
        spelling: of its variant.
        others: values of other instances of the same case; the first whose numbers are all wrong here is memorised.
    """
    case = solved.case
    true = node_texts(solved, spelling)
    every = frozenset(node.index for node in case.nodes)
    found = [_student(case, "gold", true, every, "every step, as the reference has it")]
    finals = {node.index: true[node.index] for node in case.nodes if node.is_final}
    if not any(map(is_guess, finals.values())):  # a small number alone may be a guess, and is withheld (semantics C.4)
        why = "the final answers alone; what leads to them is credited"
        found.append(_student(case, "finals", finals, frozenset(finals), why))
    for kind in KINDS:
        found += _with_changed_formula(template, solved, spelling, true, kind)
    found += _with_slip(template, solved, spelling, true)
    found += _memorised(solved, spelling, true, others)
    found += _with_other_unit(template, solved, spelling, true)
    return found


def _student(
    case: PreparedCase, name: str, texts: Mapping[int, str], matched: frozenset[int], why: str
) -> dict[str, Any]:
    """Return one solution with its label.

    A formula that is not written, and whose number is, may count as matched (semantics N.4): that is debatable.
    """
    credited = ancestor_closure(case.dag, matched)
    unwritten = sorted(credited - matched - texts.keys())
    return {
        "name": name,
        "solution": _solution_text(case, texts),
        "expected": {
            "matched": sorted(matched),
            "credited": sorted(credited),
            "score": round(float(score(case.dag, credited)), 6),
            "final_correct": is_final_correct(case.dag, matched),
            **({"debatable": unwritten} if unwritten else {}),
        },
        "why": why,
    }


def _solution_text(case: PreparedCase, texts: Mapping[int, str]) -> str:
    """Return a solution that states formulas one below the other, under the letters of their parts."""
    parts = list(dict.fromkeys(node.part for node in case.nodes))
    blocks = []
    for part in sorted(parts):
        lines = [f"$${texts[node.index]}$$" for node in case.nodes if node.part == part and node.index in texts]
        if lines:
            blocks.append("\n".join([f"({part})"] * bool(part) + lines))
    return "\n\n".join(blocks) + "\n"


def _is_far(node: PreparedNode, value: Value, true: Value) -> bool | None:
    """Return True for a number that is wrong for certain, False for one that is right, None for one between."""
    own, wanted = in_unit(value, node.required_number.unit), in_unit(true, node.required_number.unit)
    gap, size = abs(as_ball(own) - as_ball(wanted)), abs(as_ball(wanted))
    allowed = as_ball(node.tolerance)
    if gap > _FAR * allowed * size:
        return True
    return False if gap <= as_ball(_NEAR) * allowed * size else None


def _with_changed_formula(
    template: str, solved: Solved, spelling: Spelling, true: Mapping[int, str], kind: str
) -> Iterator[dict[str, Any]]:
    """Yield the solution with a fault of one kind in a formula, later numbers worked out with it; or nothing."""
    case = solved.case
    candidates = changed_formulas(case, kind)
    if not candidates:
        return
    first = draw_index(draw_unit(template, solved.seed, 0, f"student fault-{kind}"), len(candidates))
    for node, changed in (*candidates[first:], *candidates[:first]):
        wrong = _wrong_numbers(solved, changed)
        if wrong is None:
            continue
        texts = {**true, node.index: changed.latex if spelling.has_units else changed.renamed}
        texts.update((each.index, spelling.number(each, value)) for each, value in wrong)
        missed = {node.index, *(each.index for each, _ in wrong)}
        later = "".join(f", {each.index}" for each, _ in wrong)
        why = f"a wrong {kind} in {node.index}" + (f"; worked out with it: {later[2:]}" if later else "")
        matched = frozenset(each.index for each in case.nodes) - missed
        yield _student(case, f"fault-{kind}", texts, matched, why)
        return


def _wrong_numbers(solved: Solved, changed: ChangedFormula) -> list[tuple[PreparedNode, Value]] | None:
    """Return the number nodes that a changed formula makes wrong, with their values; None if it cannot be told."""
    case, wrong = solved.case, []
    for each in changed.relations:
        left, right = evaluate(each.left, solved.values), evaluate(each.right, solved.values)
        if left is None or right is None or not compares(left, "!=", right, CERTAIN):
            return None
    given = {name: solved.values[name] for name in case.renamed if name in solved.values}
    for step in changed.steps:
        given.pop(step.name, None)
    try:
        values = work_out(changed.steps, given)
    except Unsolved:
        return None
    for node in case.numbers:
        value, wanted = values[node.required_number.name], solved.values[node.required_number.name]
        is_far = _is_far(node, value, wanted)
        if is_far is None or compares(value, ">", Fraction(0)) != compares(wanted, ">", Fraction(0)):
            return None
        if is_far:
            wrong.append((node, value))
    return wrong


def _with_slip(template: str, solved: Solved, spelling: Spelling, true: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """Yield the solution with one number that is off by 10 to 30 percent; nothing without numbers."""
    case, key = solved.case, "student slip"
    if not case.numbers:
        return
    node = case.numbers[draw_index(draw_unit(template, solved.seed, 0, key), len(case.numbers))]
    number = node.required_number
    wanted = solved.values[number.name]
    low, high = _SLIP
    for attempt in range(1, _TRIES + 1):
        share = low + (high - low) * draw_unit(template, solved.seed, attempt, key)
        sign = 1 - 2 * draw_index(draw_unit(template, solved.seed, attempt, f"{key} sign"), 2)
        own = in_unit(wanted, number.unit) if spelling.has_units else wanted
        value = (1 + sign * share) * as_fraction(own)
        text = digits(value, number.figures, scientific=number.is_scientific)
        gap = abs(_number_of(text) - as_fraction(own))
        if gap > max(_LEAST_SLIP, _FAR * node.tolerance) * abs(as_fraction(own)):
            texts = {**true, node.index: spelling.stated(node, text, number.unit_text)}
            matched = frozenset(each.index for each in case.nodes) - {node.index}
            yield _student(case, "slip", texts, matched, f"the number {node.index} is off by {round(100 * share)} %")
            return


def _number_of(text: str) -> Fraction:
    r"""Return the number that digits such as `1.26\times 10^{5}` state."""
    found = read_digits(text.replace(r"\times 10^{", "e").removesuffix("}"))
    assert found is not None
    return found


def _memorised(
    solved: Solved, spelling: Spelling, true: Mapping[int, str], others: Iterable[Mapping[str, Value]]
) -> Iterator[dict[str, Any]]:
    """Yield the solution with right formulas and the numbers of another instance; nothing without numbers."""
    case = solved.case
    if not case.numbers:
        return
    for values in others:
        if all(
            _is_far(node, values[node.required_number.name], solved.values[node.required_number.name])
            for node in case.numbers
        ):
            told = {node.index: spelling.number(node, values[node.required_number.name]) for node in case.numbers}
            matched = frozenset(each.index for each in case.nodes) - told.keys()
            yield _student(case, "memorised", {**true, **told}, matched, "the numbers of another instance")
            return


def _with_other_unit(
    template: str, solved: Solved, spelling: Spelling, true: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield the solution with one number in a neighbouring unit; nothing if no number has one."""
    case = solved.case
    candidates = [node for node in case.numbers if neighbouring_unit(node.required_number.unit_text)]
    if not candidates or not spelling.has_units:
        return
    node = candidates[draw_index(draw_unit(template, solved.seed, 0, "student unit"), len(candidates))]
    number = node.required_number
    other = neighbouring_unit(number.unit_text)
    text = digits(in_unit(solved.values[number.name], number.unit), number.figures, scientific=number.is_scientific)
    texts = {**true, node.index: spelling.stated(node, text, other)}
    matched = frozenset(each.index for each in case.nodes) - {node.index}
    yield _student(case, "unit", texts, matched, f"the number {node.index} in {other} in place of {number.unit_text}")


def neighbouring_unit(text: str) -> str:
    """Return a unit of the same dimension and another size; empty if none is near.

    >>> [neighbouring_unit(text) for text in ("m", "m/s", "kg", "km", "deg", "")]
    ['mm', 'mm/s', 'g', 'm', 'rad', '']
    """
    unit = (find_unit(text) or find_unit_product(text)) if text else None
    if unit is None or unit.offset:
        return ""
    if unit.pi:
        return "rad" if not any(unit.dimension) and text != "rad" else ""
    others: list[str] = [text[1:]] if text[:1] in _PREFIXES or text[:1] in ("M", "G") else []
    others += [prefix + text for prefix in _PREFIXES]
    for other in others:
        found = (find_unit(other) or find_unit_product(other)) if other else None
        if found is not None and found.dimension == unit.dimension and found.factor != unit.factor:
            return other
    return ""
