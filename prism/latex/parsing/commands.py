r"""Commands that few formulas hold: what each of them appends to its siblings.

`RARE` is the table; `tree` looks a command up here when it is none of the common ones. What is not in it is refused,
with the known command that it is nearest to: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr
from prism.algebra.expr import number as exact
from prism.latex.parsing.brackets import angle_parts, split_bars
from prism.latex.parsing.leaves import (
    Cursor,
    accented,
    named,
    read_argument,
    read_degree,
    read_symbol,
    scripted,
)
from prism.latex.parsing.names import (
    ACCENTS,
    DOTS,
    FRACTIONS,
    ONLY_IN_NAMES,
    ROMAN,
    UNWRAPPED,
    argument_at,
    enclosed,
    spell,
)
from prism.latex.parsing.tokens import FUNCTIONS, TYPES, Fault, Token, describe, is_factor, unit_token

Handler = Callable[[Cursor, Token, list[Token]], None]

_DIRAC = {r"\bra": "bra", r"\ket": "ket", r"\braket": "braket", r"\expval": "mean", r"\mean": "mean"}
_STACKED = {r"\rightarrow": r"\vec", r"\to": r"\vec", r"\cdot": r"\dot", r"\wedge": r"\hat", "-": r"\bar",
            r"\sim": r"\tilde"}  # fmt: skip
_NEGATED = {"=": "!=", r"\in": r"\notin", r"\equiv": "!="}
_UPRIGHT_SIGNS = frozenset((r"\emptyset", r"\top", r"\bot", r"\square", r"\Box", r"\bullet", r"\star",
                            r"\dagger", r"\uparrow", r"\downarrow", r"\odot", r"\natural", r"\sharp", r"\flat",
                            r"\complement", r"\circledast", r"\diamond", r"\Diamond", r"\clubsuit"))  # fmt: skip
_FOR = tuple(Token("letter", letter, 0) for letter in "for")
_CORNERS = 3  # capitals that name a triangle; fewer behind the sign are a change: `\triangle V`
_LIKENESS = 0.75  # of an unknown command to the one that is proposed
_LONGEST_COMMAND = 24  # letters of an unknown command that are compared


def rare_command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Append what a command of the table makes; refuse any other.

    Errors:
        Fault: a command that is not read, with the nearest known one.
    """
    handler = RARE.get(token.text)
    if handler is not None:
        handler(cursor, token, items)
    elif token.text in ONLY_IN_NAMES:
        raise Fault(token.pos, f"the sign {token.text}, which is read only inside a subscript or superscript")
    else:
        raise Fault(token.pos, f"the command {token.text}, which is not read", *nearest(token.text))


@lru_cache(maxsize=256)
def nearest(command: str) -> tuple[str, ...]:
    r"""The known command that an unknown one is a slip of, as what was expected.

    >>> print(*nearest(r"\fracc"))
    `\frac` (did you mean that?)
    """
    from difflib import get_close_matches

    known = [text for text in (*TYPES, *_OTHERS) if text[:1] == "\\" and text[1:].isalpha()]
    known += ["\\" + name for name in FUNCTIONS]
    found = get_close_matches(command[:_LONGEST_COMMAND], known, n=1, cutoff=_LIKENESS)
    return tuple(f"`{text}` (did you mean that?)" for text in found)


def _refused(found: str, expected: str, kind: str) -> Handler:
    """What is no mathematics, or may not be read as such."""

    def handler(cursor: Cursor, token: Token, items: list[Token]) -> None:
        del cursor, items
        raise Fault(token.pos, found, expected, kind=kind)

    return handler


def _listed(text: str, n_argument: int) -> Handler:
    """A construct with its arguments in braces."""

    def handler(cursor: Cursor, token: Token, items: list[Token]) -> None:
        args = [read_argument(cursor) for _ in range(n_argument)]
        items.append(scripted(cursor, Token("LISTED", text, token.pos, token.gap, args=args)))

    return handler


def _sign(kind: str, text: str) -> Handler:
    """An operator or a relation under another spelling."""

    def handler(cursor: Cursor, token: Token, items: list[Token]) -> None:
        del cursor
        items.append(Token(kind, text, token.pos, token.gap))

    return handler


def _braced(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A formula over or under a brace; the note that the brace carries is no mathematics."""
    body = read_argument(cursor)
    if cursor.tokens[cursor.index].type in ("^", "_"):
        _, cursor.index = argument_at(cursor.tokens, cursor.index + 1)
    items.append(Token("PAREN", "{", token.pos, token.gap, args=[body]))


def _negated(cursor: Cursor, token: Token, items: list[Token]) -> None:
    after = cursor.tokens[cursor.index]
    if after.text not in _NEGATED:
        raise Fault(token.pos, rf"\not before {after.text}", "=", r"\in")
    cursor.index += 1
    items.append(Token("REL", _NEGATED[after.text], token.pos, token.gap))


def _parallel(cursor: Cursor, token: Token, items: list[Token]) -> None:
    if not items or not is_factor(items[-1]):
        raise Fault(token.pos, r"the sign \parallel with nothing before it", "a number or a symbol")
    _sign("TIMES", r"\|")(cursor, token, items)


def _symbol(cursor: Cursor, token: Token, items: list[Token]) -> None:
    items.append(named(cursor, Token("SYM", token.text, token.pos, token.gap)))


def _arrow_with_note(cursor: Cursor, token: Token, items: list[Token]) -> None:
    _, cursor.index = argument_at(cursor.tokens, cursor.index)
    items.append(Token("REL", "=" if token.text == r"\xlongequal" else r"\to", token.pos, token.gap))


def _quantifier(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\forall x > 0` is a condition, as `for`."""
    del cursor
    items.append(Token("ROMAN", "text", token.pos, token.gap, raw=_FOR))


def _degree(cursor: Cursor, token: Token, items: list[Token]) -> None:
    scale = cursor.tokens[cursor.index]
    bare = items and items[-1].type in ("TIMES", "SLASH") and (scale.text in ("C", "F") or scale.text in ROMAN)
    if not bare and (not items or items[-1].type not in ("NUM", "PAREN", "FRAC", "SYM")):
        raise Fault(token.pos, "a degree sign without a number before it")
    items.append(read_degree(cursor, [token], token.pos))


def _celsius(cursor: Cursor, token: Token, items: list[Token]) -> None:
    del cursor
    if not items or items[-1].type not in ("NUM", "PAREN", "FRAC", "SYM"):
        raise Fault(token.pos, "a unit without a number before it")
    items.append(unit_token("degC", token.pos))


def _angstrom(cursor: Cursor, token: Token, items: list[Token]) -> None:
    del cursor
    items.append(unit_token("angstrom", token.pos))


def _dirac(cursor: Cursor, token: Token, items: list[Token]) -> None:
    content, cursor.index = argument_at(cursor.tokens, cursor.index)
    items.append(scripted(cursor, angle_parts(cursor, token, _DIRAC[token.text], split_bars(content))))


def _curl(cursor: Cursor, token: Token, items: list[Token]) -> None:
    del cursor
    items.extend((Token("NABLA", "", token.pos, token.gap), Token("TIMES", r"\times", token.pos)))


def _absolute(cursor: Cursor, token: Token, items: list[Token]) -> None:
    items.append(scripted(cursor, Token("ABS", "|", token.pos, token.gap, args=[read_argument(cursor)])))


# Figures, accents and scripts in front ---------------------------------------------------------------------------


def _stacked(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\overset{!}{=}`: a relation with its note; `\overset{\rightarrow}{F}`: an accent."""
    over, cursor.index = argument_at(cursor.tokens, cursor.index)
    sign = over[0].text if len(over) == 1 else ""
    if sign in _STACKED:
        items.append(accented(cursor, Token("command", _STACKED[sign], token.pos, token.gap)))
        return
    body = read_argument(cursor)
    if len(body) == 1 and body[0].type == "ROMAN" and spell(body[0].raw) == "A" and sign in ("0", "o", r"\circ"):
        items.append(unit_token("angstrom", token.pos))
    elif len(body) != 1 or body[0].type != "REL":
        raise Fault(token.pos, f"{token.text} over something that is no relation")
    elif "?" in spell(over):
        raise Fault(token.pos, "a question mark over a relation: it asks, and states nothing")
    else:
        items.append(body[0])


def _figure(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\angle ABC` and `\triangle ABC` are names, `\triangle V` is a change, `10 \angle 30^\circ` a phasor."""
    tokens = cursor.tokens
    after = tokens[cursor.index]
    if token.text == r"\angle" and items and is_factor(items[-1]) and items[-1].text != "m":
        items.append(Token("TIMES", r"\angle", token.pos, token.gap))
        if after.type == "{":
            items.append(Token("PAREN", "(", after.pos, args=[read_argument(cursor)]))
        return
    capitals = 0
    while tokens[cursor.index + capitals].type == "letter" and tokens[cursor.index + capitals].text.isupper():
        capitals += 1
    if token.text == r"\triangle" and capitals < _CORNERS and after.type in ("letter", "command"):
        items.append(read_symbol(cursor, Token("letter", r"\Delta", token.pos, token.gap)))
        return
    name = token.text
    if after.type == "{":
        inner, cursor.index = argument_at(tokens, cursor.index)
        name += " " + spell(inner)
    elif after.type in ("letter", "number", "command"):
        count = max(capitals, 1)
        name += " " + "".join(part.text for part in tokens[cursor.index : cursor.index + count])
        cursor.index += count
    items.append(named(cursor, Token("SYM", name, token.pos, token.gap)))


def _physics_derivative(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\dv{f}{x}`, `\pdv[2]{f}{x}`, `\dv{x}` of the physics package."""
    tokens = cursor.tokens
    order = "1"
    if tokens[cursor.index].type == "OPEN" and tokens[cursor.index + 1].type == "number":
        order = tokens[cursor.index + 1].text
        cursor.index += 3
    above = read_argument(cursor)
    kind = "PARTIAL" if token.text.startswith(r"\p") else "DERIVATIVE"
    if tokens[cursor.index].type == "{":
        args = [above, read_argument(cursor)]
        if kind == "PARTIAL" and tokens[cursor.index].type == "{":
            args, order = [*args, read_argument(cursor)], "2"
        items.append(scripted(cursor, Token(kind, order, token.pos, token.gap, args=args)))
    else:
        raw = (Token("order", order, 0),)
        items.append(Token("DERIVE", kind, token.pos, token.gap, args=[above], raw=raw))


def _behind_empty_braces(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`{}^{3}\mathrm{He}` is a name; in `R^a{}_b` the index belongs to what stands before the braces."""
    sign = cursor.tokens[cursor.index].type
    if items and is_factor(items[-1]) and not token.gap and items[-1].type != "NUM":
        if sign == "_" and items[-1].type == "SYM":
            inner, cursor.index = argument_at(cursor.tokens, cursor.index + 1)
            upper = items[-1].sup  # an index too: `R^a{}_b`
            items[-1].text += f"^{{{''.join(part.text for part in upper)}}}" if upper else ""
            items[-1].text += f"{{}}_{enclosed(spell(inner))}"
            items[-1].sup = None
            return
        if items[-1].sup is None:
            items[-1] = scripted(cursor, items[-1])
            return
    leading_scripts(cursor, token, items)


def leading_scripts(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`{}^{12}_{6}\mathrm{C}`, `^2H`, `{}^*F`: scripts in front of a symbol are a part of its name."""
    tokens = cursor.tokens
    name = ""
    while tokens[cursor.index].type in ("^", "_"):
        sign = tokens[cursor.index].text
        inner, cursor.index = argument_at(tokens, cursor.index + 1)
        if not name and len(inner) == 1 and inner[0].text in (r"\circ", r"\degree"):
            items.append(read_degree(cursor, inner, token.pos))  # the unit in `J/kg \cdot ^\circ C`
            return
        name += sign + enclosed(spell(inner))
    head = tokens[cursor.index]
    if head.type not in ("letter", "command", "OPEN"):
        raise Fault(token.pos, f"{describe(token)} with nothing before it", "a symbol before it", kind="fragment")
    single: list[Token] = []
    cursor.index += 1
    if head.type == "letter":
        single.append(read_symbol(cursor, head))
    else:
        cursor.construct(cursor, head, single)
    if not single:
        raise Fault(token.pos, f"{describe(token)} with nothing before it", "a symbol before it", kind="fragment")
    body = single[0]
    if len(single) == 1 and body.type in ("SYM", "ROMAN"):
        word = body.text if body.type == "SYM" else spell(body.raw)
        items.append(Token("SYM", name + word, token.pos, token.gap, sup=body.sup))
    else:
        items.append(Token("LISTED", f"opaque {name}", token.pos, token.gap, args=[single]))


REPEATING = frozenset((r"\overline", r"\bar", r"\dot"))


def repeats(cursor: Cursor, items: list[Token]) -> bool:
    r"""`0.1\overline{6}`, `0.\dot{1}4\dot{2}`: put the digits that repeat into the number before them; False if none.

    The exact value is a quotient of whole numbers: no decimal of a finite length is equal to it.
    """
    number = items[-1] if items else None
    if number is None or number.type != "NUM" or number.sup is not None or "e" in number.text:
        return False
    if number.expr is not None:
        return False  # its digits repeat already
    start = cursor.index - (cursor.tokens[cursor.index - 1].text in REPEATING)
    if "." not in number.text and cursor.tokens[start - 1].text != ".":
        return False
    period, after = _period(cursor.tokens, start)
    if not period:
        return False
    cursor.index = after
    whole, _, digits = number.text.partition(".")
    value = Fraction(f"{whole}.{digits or 0}") + Fraction(int(period), 10 ** len(digits) * (10 ** len(period) - 1))
    above, below = exact(value.numerator), exact(value.denominator)
    number.expr = Expr("div", (above, below)) if value.denominator > 1 else above
    number.text = str(value)
    return True


def _period(tokens: list[Token], index: int) -> tuple[str, int]:
    """Digits under one line, or from the first that has a dot to the last, and the index behind them."""
    if tokens[index].text not in REPEATING:
        return "", index
    dotted = tokens[index].text == r"\dot"
    inner, after = argument_at(tokens, index + 1)
    if len(inner) != 1 or inner[0].type != "number" or not inner[0].text.isdigit():
        return "", index
    first = inner[0].text
    if not dotted or len(first) > 1:
        return first, after
    between = tokens[after].text if tokens[after].type == "number" else ""
    behind = after + bool(between)
    if tokens[behind].text == r"\dot" and (not between or between.isdigit()):
        inner, end = argument_at(tokens, behind + 1)
        if len(inner) == 1 and inner[0].type == "number" and len(inner[0].text) == 1:
            return first + between + inner[0].text, end
    return first, after


RARE: dict[str, Handler] = {
    **dict.fromkeys((r"\overbrace", r"\underbrace"), _braced),
    **dict.fromkeys((r"\overset", r"\underset", r"\stackrel"), _stacked),
    **dict.fromkeys((r"\binom", r"\dbinom", r"\tbinom"), _listed("binomial", 2)),
    **dict.fromkeys((r"\angle", r"\measuredangle", r"\triangle", r"\arc"), _figure),
    **dict.fromkeys((r"\dv", r"\pdv", r"\derivative", r"\partialderivative", r"\odv"), _physics_derivative),
    **dict.fromkeys((r"\comm", r"\commutator"), _listed("commutator", 2)),
    **dict.fromkeys((r"\acomm", r"\anticommutator"), _listed("commutator anti", 2)),
    **dict.fromkeys((r"\xrightarrow", r"\xleftarrow", r"\xlongequal"), _arrow_with_note),
    **dict.fromkeys((r"\bmod", r"\mod"), _sign("TIMES", r"\bmod")),
    **dict.fromkeys((r"\forall", r"\exists"), _quantifier),
    **dict.fromkeys((r"\degree", r"\circ"), _degree),
    **dict.fromkeys((r"\abs", r"\norm"), _absolute),
    **dict.fromkeys(_UPRIGHT_SIGNS, _symbol),
    **dict.fromkeys(_DIRAC, _dirac),
    r"\curl": _curl, r"\pb": _listed("commutator poisson", 2), r"\pmod": _listed("opaque mod", 1),
    r"\not": _negated, r"\parallel": _parallel, r"\AA": _angstrom, r"\celsius": _celsius, "{}": _behind_empty_braces,
    r"\textcircled": _refused("a number in a circle", "a formula", "fragment"),
    **dict.fromkeys((r"\$", r"\pounds", r"\euro"), _refused("money", "mathematics only", "money")),
    **dict.fromkeys((r"\cancel", r"\bcancel", r"\xcancel", r"\cancelto"),
                    _refused("a part that is struck out", "the formula without it", "syntax")),
    **dict.fromkeys((r"\ce", r"\chemfig", r"\schemestart"), _refused("chemistry", "mathematics only", "chemistry")),
    **dict.fromkeys((r"\(", r"\)", r"\[", r"\]"),
                    _refused("the delimiter of a formula inside a formula", "one formula", "fragment")),
    **dict.fromkeys((r"\&", r"\#", r"\S", r"\P", r"\^"),
                    _refused("a sign of running text", "mathematics only", "prose")),
    **dict.fromkeys((r"\includegraphics", r"\draw", r"\node"), _refused("a figure", "mathematics only", "figure")),
}  # fmt: skip
_OTHERS = (*RARE, *FRACTIONS, *ROMAN, *ACCENTS, *DOTS, *UNWRAPPED, r"\sqrt", r"\left", r"\right", r"\begin", r"\end",
           r"\SI", r"\unit")  # fmt: skip
