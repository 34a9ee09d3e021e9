r"""Integrals over closed surfaces and round closed curves, as those over what they enclose, by Gauss and Stokes.

`\oint_{\partial V}\vec E\cdot d\vec A` becomes `\int_V\nabla\cdot\vec E\,dV`. A region is any region: an integral over
it is drawn as a sum over random places with random weights, the same for each integrand; over a surface with random
normal vectors. So two integrals over one region are equal only if their integrands are, and no field has a symmetry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prism.algebra.expr import Expr, Formula, symbol, walk, with_args, with_members
from prism.algebra.symbols import symbol_of
from prism.equivalence.interpretation.values import Unvalued, Value, add, dot, multiply

if TYPE_CHECKING:
    from prism.equivalence.interpretation.evaluation import Evaluator
    from prism.equivalence.interpretation.letters import Scope

VOLUME, SURFACE = "#volume", "#surface"
"""Names of integrals over a region."""
_AREAS = frozenset((r"\vec{A}", r"\vec{S}", r"\vec{a}", r"\vec{\sigma}", r"\vec{\Sigma}", r"\vec{f}"))
_LINES = frozenset((r"\vec{l}", r"\vec{\ell}", r"\vec{r}", r"\vec{s}", r"\vec{x}"))
_VOLUMES = frozenset(("V", r"\tau", r"\Omega"))
_POINTS = 3  # at which an integrand is looked at in each draw


def with_interiors(formulas: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """Return formulas in which closed integrals go over what is enclosed, if either has one."""
    nodes = [node for f in formulas for member in f.members for node in walk(member)]
    if not any(map(_is_closed, nodes)):
        return formulas
    regions = {
        _kind_of(node): node.args[2].name for node in nodes
        if node.op == "integral" and len(node.args) == 3 and _kind_of(node) and not _is_closed(node)
    }  # fmt: skip
    return tuple(with_members(f, tuple(_opened(member, regions) for member in f.members)) for f in formulas)


def _is_closed(node: Expr) -> bool:
    """Return True for an integral over a closed surface or round a closed curve, or over a boundary."""
    return node.op == "contour" or (node.op == "integral" and len(node.args) == 3 and bool(_inside(node.args[2])))


def _inside(boundary: Expr) -> str:
    r"""Return the region that a boundary encloses, V of `\partial V`; empty for what is no boundary."""
    read = symbol_of(boundary.name)
    return read.base if "partial" in read.change and boundary.name == read.change + read.base else ""


def _kind_of(node: Expr) -> str:
    """Return over what an integral goes: a volume, a surface, or neither."""
    if len(node.args) < 2 or node.args[1].op != "sym":
        return ""
    element = node.args[1].name
    if "dot" in node.name and element in _AREAS:
        return SURFACE
    return VOLUME if element in _VOLUMES and "dot" not in node.name else ""


def _opened(node: Expr, regions: dict[str, str]) -> Expr:
    """Return an expression in which integrals over regions are named, and closed ones are opened.

    Raises Unvalued for a boundary that is turned round, multiplied or of another kind.
    """
    args = tuple(_opened(arg, regions) for arg in node.args[:1]) + node.args[1:] if node.op in (
        "integral", "contour") else tuple(_opened(arg, regions) for arg in node.args)  # fmt: skip
    is_word = len(node.args) == 3 and node.args[2].name.replace("\\", "").isalpha()
    if not _is_closed(node):
        kind = _kind_of(node) if node.op == "integral" and is_word else ""
        if not kind:
            return with_args(node, args)
        _refuse_field_as_element(node)
        return Expr("integral", (args[0], symbol(node.args[2].name)), kind)
    inside = _inside(node.args[2]) if len(node.args) == 3 else ""
    if len(node.args) == 3 and not (inside or is_word):
        raise Unvalued("a boundary that is turned round or multiplied")
    element = node.args[1].name
    _refuse_field_as_element(node)
    is_area = element in _AREAS and not (inside in ("S", r"\Sigma") and element in _LINES)
    kind = VOLUME if is_area else SURFACE
    region = symbol(inside or regions.get(kind, "V" if is_area else "S"))
    if "dot" in node.name and is_area:
        field = Expr("nabla", (args[0],), "div")
    elif "dot" in node.name and element in _LINES:
        field = Expr("nabla", (args[0],), "curl")
    elif "dot" not in node.name and is_area:
        field = Expr("nabla", (args[0],), "grad")
    else:
        raise Unvalued("an integral over this boundary")
    return Expr("integral", (field, region), kind)


def _refuse_field_as_element(node: Expr) -> None:
    r"""Raise Unvalued for an element with the letter of the field, as `d\vec A` below a field `\vec A`."""
    if node.args[1] in walk(node.args[0]):
        raise Unvalued("an element with the letter of the field")


def region_letters(nodes: Iterable[Expr]) -> frozenset[str]:
    """Return the letters below integrals over a region, which may vary from place to place."""
    return frozenset(
        part.name for node in nodes if node.op == "integral" and node.name in (VOLUME, SURFACE)
        for part in walk(node.args[0]) if part.op == "sym"
    )  # fmt: skip


def region_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return an integral over a region."""
    integrand, region = node.args[:2]
    draw = evaluator.draw
    total: Value | None = None
    for k in range(_POINTS):
        inner = scope
        for name in evaluator.coordinates():
            place = draw.number_of(f"{region.name}#{k}#{name}", "positive")
            inner = inner.with_value(name, place)
        value = evaluator.value(integrand, inner)
        if node.name == SURFACE:
            part: Value = dot(draw.vector(f"normal of {region.name}#{k}"), value)
        else:
            part = multiply(draw.number_of(f"weight of {region.name}#{k}", "positive"), value)
        total = part if total is None else add(total, part)
    assert total is not None
    return total
