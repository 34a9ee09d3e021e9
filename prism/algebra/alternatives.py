r"""Formulas that list alternatives: `\pm`, lists, sets. Each is one claim, their union (semantics Z.8).

An equation becomes a product that is set to zero: `x = \pm 3` is `(x - 3)(x + 3) = 0`. The signs of one formula
belong together. A bare expression becomes a set.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from prism.algebra.expr import EQUALITIES, Expr, Formula, number, traits_of

MAX_BRANCHES = 6  # alternatives; more are a list of guesses
_FORMULAS_KEPT = 4096  # formulas remembered in a process
_SEVERAL = ("set", "list")
_BRANCHING = frozenset(("pm", *_SEVERAL))
REGIONS = frozenset(("interval", "union", "intersection"))
"""Operations whose result is a set that a value is a member of, and no value."""


def as_product(f: Formula) -> Formula:
    r"""Replace the alternatives of a formula (`\pm`, a list, a set) by one equation that sets a product to zero.

    >>> from prism.algebra.expr import formula, symbol
    >>> str(as_product(formula((symbol("x"), Expr("pm", (number(3),), name="±")), ("=",))))
    '(x - 3)*(x - (-3)) = 0'
    """
    return f if traits_of(f).ops.isdisjoint(_BRANCHING) else _joined(f)


@lru_cache(maxsize=_FORMULAS_KEPT)
def _joined(f: Formula) -> Formula:
    """Replace the alternatives of a formula that has some, as `as_product` does."""
    if f.kind not in ("equation", "expression", "statement"):
        return f
    signed = "pm" in traits_of(f).ops
    members = [tuple(_with_sign(member, sign) for member in f.members) for sign in (1, -1)] if signed else [f.members]
    if f.kind == "expression":
        return replace(f, members=(Expr("set", tuple(own[0] for own in members)),)) if signed else f
    belongs = f.relations == ("in",) and f.members[1].op == "set"
    if f.kind == "statement" and not belongs:
        return f
    if not (f.relations[0] in EQUALITIES or belongs):
        return f
    pairs = [pair for left, right in members for pair in _split_right_side(left, right)]
    if len(pairs) == 1 or len(pairs) > MAX_BRANCHES:
        return f
    factors = tuple(Expr("sub", pair) for pair in pairs)
    depends = frozenset(
        (_name_with_sign(name, sign), _name_with_sign(by, sign))
        for name, by in f.depends
        for sign in ((1, -1) if signed else (0,))
    )
    members_of_union = Expr("mul", factors), number(0)
    return replace(f, kind="equation", members=members_of_union, relations=("=",), depends=depends)


def _name_with_sign(name: str, sign: int) -> str:
    r"""Replace `\pm` in a symbol's name by + or -, and `\mp` by the reverse: `E_\pm` becomes `E_+`.

    Args:
        sign: 1 for the upper signs, -1 for the lower ones, 0 to keep the name.
    """
    if not sign or ("\\pm" not in name and "\\mp" not in name):
        return name
    return name.replace(r"\pm", "+" if sign > 0 else "-").replace(r"\mp", "-" if sign > 0 else "+")


def _with_sign(node: Expr, sign: int) -> Expr:
    r"""Replace every `\pm` and `\mp` in an expression by its upper sign (`sign` 1) or lower sign (-1), in names too."""
    name = _name_with_sign(node.name, sign) if node.op in ("sym", "apply") else node.name
    if not node.args:
        return node if name == node.name else Expr(node.op, (), name, node.value)
    args = tuple(_with_sign(arg, sign) for arg in node.args)
    if node.op != "pm":
        return node if (args, name) == (node.args, node.name) else Expr(node.op, args, name, node.value)
    own = sign if node.name == "±" else -sign
    if len(args) == 1:
        return args[0] if own > 0 else Expr("neg", args)
    return Expr("add" if own > 0 else "sub", args)


def signed_branches(f: Formula) -> tuple[Formula, Formula]:
    """Return a formula with its upper signs, and with its lower ones, in its parts too."""
    return _branch(f, 1), _branch(f, -1)


def _branch(f: Formula, sign: int) -> Formula:
    """Return a formula with its upper signs (`sign` 1) or lower signs (-1)."""
    members = tuple(_with_sign(member, sign) for member in f.members)
    return replace(f, members=members, parts=tuple(_branch(part, sign) for part in f.parts))


def has_several_values(f: Formula) -> bool:
    r"""Return True for alternatives, and for an equation with `\pm`, a list or a set."""
    return f.kind == "alternatives" or (f.kind == "equation" and not traits_of(f).ops.isdisjoint(_BRANCHING))


def _split_right_side(left: Expr, right: Expr) -> list[tuple[Expr, Expr]]:
    """Return a (left, value) pair for each value of a list or set on the right; else the one pair (left, right)."""
    return [(left, value) for value in right.args] if right.op in _SEVERAL else [(left, right)]
