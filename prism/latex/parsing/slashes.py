r"""How far the denominator behind a slash reaches: `1/2 m`, `h/2\pi`, `k/2(x - a)`.

An explicit product sign is put where the denominator ends, so that the grammar has nothing to guess.
"""

from __future__ import annotations

from prism.latex.parsing.tokens import OPERATORS, Ambiguity, Fault, Token, describe_token

SIMPLE = frozenset(("SYM", "NUM", "CONST", "UNIT", "INFINITY", "APPLY", "DERIVATIVE", "PARTIAL", "LISTED", "QUANTITY",
                    "BANG", "ROMAN"))  # fmt: skip


def take_denominator(items: list[Token], start: int) -> tuple[list[Token], int, bool]:
    """Return the items of the denominator at an index, the index behind them, and True if a factor follows.

    Errors:
        Ambiguity: the following factor may belong to the denominator.
    """
    index = start
    if index < len(items) and items[index].type in ("MINUS", "PLUS"):
        index += 1
    if index >= len(items) or items[index].type in OPERATORS:
        found = items[index] if index < len(items) else Token("END", "", items[-1].pos)
        kind = "fragment" if found.type == "END" else "syntax"
        raise Fault(found.pos, describe_token(found), "a denominator", kind=kind)
    first = items[index]
    index += 1
    if first.type in SIMPLE:
        while index < len(items) and items[index].type in SIMPLE and not is_exponential(items[index]):
            index += 1
        if index == start + 1 and first.type == "NUM" and index < len(items) and items[index].type == "FRAC":
            parts = (part for arg in items[index].args for part in arg)
            index += all(part.type in ("UNIT", "NUM") for part in parts)  # 60 s/min
        numeric = all(item.type == "NUM" for item in items[start:index])
        while numeric and index < len(items) and items[index].type == "DIFFERENTIAL":  # dy/2dx
            index += 1
        index = _denominator_end_with_bracket(items, start, index)
    follows = index < len(items) and items[index].type not in OPERATORS
    lone = first.type == "PAREN" and len(first.args[0]) == 1 and first.args[0][0].type == "SYM" and first.sup is None
    if follows and lone and items[index].type == "SYM":
        raise Ambiguity(items[index].pos,
                        "a factor behind a bracket in the denominator of a slash: does it belong there?",
                        "brackets around the denominator")  # fmt: skip
    if follows and first.type == items[index].type == "ABS":
        raise Ambiguity(items[index].pos, "bars behind bars in the denominator of a slash: do they belong there?",
                        "brackets around the denominator")  # fmt: skip
    if follows and first.type in ("SQRT", "ROOT") and items[index].type in SIMPLE:
        raise Ambiguity(items[index].pos, "a factor behind a root in the denominator of a slash: does it belong there?",
                        "brackets around the denominator")  # fmt: skip
    return items[start:index], index, follows


def is_exponential(item: Token) -> bool:
    """Return True for e with a power other than a plain number, `e^{-t}`: no denominator or argument extends to it."""
    plain = item.sup is None or (len(item.sup) == 1 and item.sup[0].type == "NUM")
    return item.type == "SYM" and item.text == "e" and not plain


def _denominator_end_with_bracket(items: list[Token], start: int, index: int) -> int:
    """Return the end of a denominator, moved behind the bracket of `a/2m(b - c)^2`, which everybody means to be below.

    A bracket behind a number alone (`a/2(b + c)`) raises an Ambiguity; behind symbols (`v/g (a + b)`) it is a factor.

    Args:
        start: index of the first item of the denominator.
        index: its end so far.
    """
    if items[start].type != "NUM" or index >= len(items) or items[index].type != "PAREN" or items[index].gap:
        return index
    if index == start + 1:
        raise Ambiguity(items[index].pos, "a bracket behind a number in the denominator: does it belong there?",
                        "brackets around the denominator")  # fmt: skip
    return index + 1


def mark_denominator_ends(items: list[Token]) -> list[Token]:
    """Insert an explicit product sign behind each denominator that a factor follows: `1/2 m` becomes `1/2 * m`."""
    out: list[Token] = []
    index = 0
    numerator = 0  # where the run before the slash begins, in `out`
    while index < len(items):
        item = items[index]
        out.append(item)
        index += 1
        if item.type != "SLASH":
            if item.type in OPERATORS:
                numerator = len(out)
            continue
        if index < len(items) and _is_numeric_factor(out[numerator:-1], items, index):
            out.append(items[index])
            out.append(Token("TIMES", "", items[index].pos))
            index += 1
        else:
            run, index, follows = take_denominator(items, index)
            out.extend(run)
            if follows:
                out.append(Token("TIMES", "", items[index].pos))
        numerator = len(out)
    return out


def _is_numeric_factor(numerator: list[Token], items: list[Token], index: int) -> bool:
    r"""Return True if only the number at an index is the denominator of a slash, as in `1/2 m v^2`, and factors follow.

    Before \pi both are written: `1/4\pi\epsilon_0` has it below, `4/3\pi r^3` above; `3/4\pi` and `1/3\pi` raise an
    Ambiguity.

    Args:
        numerator: items before the slash, back to the sign before.
    """
    below = items[index]
    if below.type != "NUM" or index + 1 >= len(items) or not numerator:
        return False
    after = items[index + 1]
    if after.type in OPERATORS or after.type == "BANG":
        return False
    last = numerator[-1]
    numeric = all(part.type in ("NUM", "CONST") for part in numerator) or (last.type == "NUM" and last.sup is None)
    if not numeric or after.type != "CONST" or below.sup is not None:
        return numeric
    if last.text == "1" and below.text.isdigit() and int(below.text) % 2 == 0:
        return False
    if last.type == "NUM" and last.text.isdigit() and below.text.isdigit() and int(last.text) > int(below.text):
        return True
    raise Ambiguity(after.pos, r"\pi behind a numeric fraction: above or below the slash?", r"\frac, or brackets")
