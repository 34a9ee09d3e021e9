"""Readers of the commands that few formulas hold, each of which appends what it reads to a list of items.

`RARE` is the table; `tree` looks a command up here when it is none of the common ones. What is not in it is refused,
with the known command that it is nearest to: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr
from prism.algebra.expr import number as exact
from prism.latex.parsing.brackets import angle_bracket_token, split_at_bars
from prism.latex.parsing.leaves import (
    Cursor,
    read_accented,
    read_argument,
    read_degree_unit,
    read_scripts,
    read_symbol,
    read_symbol_scripts,
)
from prism.latex.parsing.names import (
    ACCENTS,
    CONJUGATES,
    DOTS,
    FRACTIONS,
    ONLY_IN_NAMES,
    ROMAN,
    UNWRAPPED,
    brace_script,
    flat_argument,
    spell_name,
)
from prism.latex.parsing.tokens import (
    FUNCTIONS,
    TYPES,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    ends_operand,
    has_type,
    unit_token,
)
from prism.latex.prose import NEGATIONS, WRONG_WORDS, changes_quantity

Handler = Callable[[Cursor, Token, list[Token]], None]

_DIRAC = {r"\bra": "bra", r"\ket": "ket", r"\braket": "braket", r"\expval": "mean", r"\mean": "mean"}
_STACKED = {r"\rightarrow": r"\vec", r"\to": r"\vec", r"\cdot": r"\dot", r"\wedge": r"\hat", "-": r"\bar",
            r"\sim": r"\tilde"}  # fmt: skip
_CROSSES = frozenset((*"?✗✘❌☒✕✖", r"\times", r"\not", r"\neg", r"\lnot", r"\ne", r"\neq", r"\cross", r"\xmark",
                      r"\bot", r"\ding", r"\cancel", r"\otimes", r"\ballotx"))  # fmt: skip
_NEGATED = {"=": "!=", r"\in": r"\notin", r"\equiv": "!=", "<": r"\nless", ">": r"\ngtr", r"\le": r"\nleq",
            r"\leq": r"\nleq", r"\ge": r"\ngeq", r"\geq": r"\ngeq"}  # fmt: skip
_UPRIGHT_SIGNS = frozenset((r"\emptyset", r"\top", r"\bot", r"\square", r"\Box", r"\bullet", r"\star",
                            r"\dagger", r"\uparrow", r"\downarrow", r"\odot", r"\natural", r"\sharp", r"\flat",
                            r"\complement", r"\circledast", r"\diamond", r"\Diamond", r"\clubsuit"))  # fmt: skip
_NO_OPERAND = ROMAN | {r"\right", r"\end"}  # as in `\Box\text{ is ...}`
_FOR = tuple(Token("letter", letter, 0) for letter in "for")
_CORNERS = 3  # capitals that name a triangle; fewer behind the sign are a change: `\triangle V`
_MIN_SIMILARITY = 0.75  # of an unknown command to the one that is proposed
_COMPARED_LETTERS = 24  # letters of an unknown command that are compared


def read_rare_command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read a command by its handler in the table `RARE`, which appends to `items` what the command makes.

    Args:
        token: the command, already passed by the cursor.
        items: what stands before the command at its bracket level.

    Errors:
        Fault: the command is not in the table; the Fault proposes the nearest known one.
    """
    handler = RARE.get(token.text)
    if handler is not None:
        handler(cursor, token, items)
    elif token.text in ONLY_IN_NAMES:
        raise Fault(token.pos, f"the sign {token.text}, which is read only inside a subscript or superscript")
    else:
        raise Fault(token.pos, f"the command {token.text}, which is not read", *suggest_command(token.text))


@lru_cache(maxsize=256)
def suggest_command(command: str) -> tuple[str, ...]:
    r"""Return the known command that an unknown one is closest to, as the text of an error message; empty if none is.

    >>> print(*suggest_command(r"\fracc"))
    `\frac` (did you mean that?)
    """
    from difflib import get_close_matches

    known = [text for text in (*TYPES, *_OTHERS) if text[:1] == "\\" and text[1:].isalpha()]
    known += ["\\" + name for name in FUNCTIONS]
    found = get_close_matches(command[:_COMPARED_LETTERS], known, n=1, cutoff=_MIN_SIMILARITY)
    return tuple(f"`{text}` (did you mean that?)" for text in found)


def _fault_handler(found: str, expected: str, kind: str) -> Handler:
    """Return a handler that raises a Fault of these words and kind, for a command that is no clear mathematics."""

    def handler(cursor: Cursor, token: Token, items: list[Token]) -> None:
        """Raise a Fault at the command, with the words given to the enclosing function."""
        del cursor, items
        raise Fault(token.pos, found, expected, kind=kind)

    return handler


def _construct_handler(text: str, n_argument: int) -> Handler:
    """Return a handler that reads `n_argument` TeX arguments and appends them as one LISTED token named `text`."""

    def handler(cursor: Cursor, token: Token, items: list[Token]) -> None:
        r"""Read the arguments of a command, `\binom{n}{k}`, and append one LISTED token with its scripts to `items`."""
        args = [read_argument(cursor, splits=True) for _ in range(n_argument)]
        items.append(read_scripts(cursor, Token("LISTED", text, token.pos, token.gap, args=args)))

    return handler


def _sign_handler(*signs: tuple[str, str]) -> Handler:
    r"""Return a handler that appends one token for each (type, text), as nabla and cross product for `\curl`."""

    def handler(_: Cursor, token: Token, items: list[Token]) -> None:
        """Append to `items` the tokens given to the enclosing function, at the position of the command."""
        items.extend(Token(kind, text, token.pos, 0 if at else token.gap) for at, (kind, text) in enumerate(signs))

    return handler


def _read_brace_with_note(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the formula of `\underbrace{a + b}_{\text{note}}` as one group; the note is dropped."""
    body = read_argument(cursor)
    if cursor.tokens[cursor.index].type in ("^", "_"):
        note, cursor.index = flat_argument(cursor.tokens, cursor.index + 1)
        _refuse_denying_note(token, [part for part in note if part.type == "letter"])
    items.append(Token("PAREN", "{", token.pos, token.gap, args=[body]))


def _read_negated_relation(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the negated relation of `\not=` or `\not\in`; raise a Fault for `\not` before anything else."""
    after = cursor.tokens[cursor.index]
    if after.type == "letter" or (after.type == "{" and cursor.tokens[cursor.index + 1].type == "letter"):
        items.append(read_accented(cursor, Token("command", r"\slashed", token.pos, token.gap)))  # `\not p`
        return
    if after.text not in _NEGATED:
        raise Fault(token.pos, rf"\not before {after.text}", "=", r"\in")
    cursor.index += 1
    items.append(Token("REL", _NEGATED[after.text], token.pos, token.gap))


def _read_parallel_sign(_: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append `\parallel` as a product sign; raise a Fault if no operand stands before it."""
    if not items or not ends_operand(items[-1]):
        raise Fault(token.pos, r"the sign \parallel with nothing before it", "a number or a symbol")
    items.append(Token("TIMES", r"\|", token.pos, token.gap))


def _skip_decoration(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Append nothing for a tick or the sign at the end of a proof."""
    del cursor, token, items


def _read_sign_as_symbol(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read an upright sign (`\odot`, `\top`) as a symbol with its scripts; a box before an operand is d'Alembert's."""
    after = cursor.tokens[cursor.index]
    if token.text == r"\Box" and (begins_operand(after) or after.type in ("PLUS", "MINUS")):
        items.append(Token("NABLA", token.text, token.pos, token.gap))
        return
    items.append(read_symbol_scripts(cursor, Token("SYM", token.text, token.pos, token.gap)))


def begins_operand(token: Token) -> bool:
    """Return True for a flat token that an operand may begin with, on which an operator before it acts."""
    return token.type in ("letter", "OPEN", "{", "NABLA") or (token.type == "command" and token.text not in _NO_OPERAND)


def _read_arrow_with_note(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the arrow or equals sign of `\xrightarrow{note}`, `\xlongequal{note}`; the note is dropped."""
    if cursor.tokens[cursor.index].text == "[":  # what stands below the arrow
        end = next(
            (at for at, part in enumerate(cursor.tokens) if at > cursor.index and part.text == "]"), cursor.index
        )
        _refuse_denying_note(token, cursor.tokens[cursor.index : end])
        cursor.index = end + 1
    note, cursor.index = flat_argument(cursor.tokens, cursor.index)
    _refuse_denying_note(token, note)
    items.append(Token("REL", "=" if token.text == r"\xlongequal" else r"\to", token.pos, token.gap))


def _read_quantifier(_: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the word `for` in place of `\forall` or `\exists`: `\forall x > 0` is the condition `for x > 0`."""
    items.append(Token("ROMAN", "text", token.pos, token.gap, raw=_FOR))


def _read_degree_sign(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the unit of a degree sign, `30\degree C`; raise a Fault if nothing before it can have a unit."""
    scale = cursor.tokens[cursor.index]
    bare = items and items[-1].type in ("TIMES", "SLASH") and (scale.text in ("C", "F") or scale.text in ROMAN)
    if not bare and (not items or items[-1].type not in ("NUM", "PAREN", "FRAC", "SYM")):
        raise Fault(token.pos, "a degree sign without a number before it")
    items.append(read_degree_unit(cursor, [token], token.pos))


def _append_celsius(_: Cursor, token: Token, items: list[Token]) -> None:
    """Append the unit of a Celsius sign; raise a Fault if no number stands before it."""
    if not items or items[-1].type not in ("NUM", "PAREN", "FRAC", "SYM"):
        raise Fault(token.pos, "a unit without a number before it")
    items.append(unit_token("degC", token.pos))


def _append_angstrom(_: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the unit token of angstrom, for `\AA`."""
    items.append(unit_token("angstrom", token.pos))


def _read_dirac_bracket(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the angle bracket of a command such as `\bra{a}`, `\ket{a}`, `\braket{a|b}` or `\expval{x}`."""
    content, cursor.index = flat_argument(cursor.tokens, cursor.index)
    items.append(read_scripts(cursor, angle_bracket_token(cursor, token, _DIRAC[token.text], split_at_bars(content))))


def _read_absolute_value(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append the absolute value of `\abs{x}` or `\norm{x}`."""
    items.append(read_scripts(cursor, Token("ABS", "|", token.pos, token.gap, args=[read_argument(cursor)])))


# Figures, accents and scripts in front ---------------------------------------------------------------------------


def _read_stacked(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read `\overset{!}{=}` as the relation alone, and `\overset{\rightarrow}{F}` as an accent.

    Raises Fault over anything else.
    """
    over, cursor.index = flat_argument(cursor.tokens, cursor.index)
    sign = over[0].text if len(over) == 1 else ""
    if sign in _STACKED:
        items.append(read_accented(cursor, Token("command", _STACKED[sign], token.pos, token.gap)))
        return
    body = read_argument(cursor)
    if len(body) == 1 and body[0].type == "ROMAN" and spell_name(body[0].raw) == "A" and sign in ("0", "o", r"\circ"):
        items.append(unit_token("angstrom", token.pos))
    elif len(body) != 1 or body[0].type != "REL":
        raise Fault(token.pos, f"{token.text} over something that is no relation")
    else:
        _refuse_denying_note(token, over)
        items.append(body[0])


def _refuse_denying_note(token: Token, note: list[Token]) -> None:
    r"""Raise a Fault if what stands over or under a relation asks, crosses out, denies or changes what it says.

    A number, a label, `!`, `def` or a reason says why it holds.

    Args:
        note: flat tokens of what stands there.
    """
    if any(part.text in _CROSSES for part in note) or [part.text for part in note] == ["/"]:
        raise Fault(token.pos, "a question mark or cross over a relation: it asks, and states nothing")
    words: list[str] = []
    for part in note:
        if part.type == "letter" and words and not part.gap:
            words[-1] += part.text
        else:
            words.append(part.text if part.type == "letter" else "")
    lower = [word.lower() for word in words]
    if not (NEGATIONS | WRONG_WORDS).isdisjoint(lower) or changes_quantity(lower):
        raise Fault(token.pos, "words over a relation that deny or change it", "the formula alone", kind="prose")


def _read_figure_sign(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read `\angle ABC` as a name, `\triangle V` as a change, `10 \angle 30^\circ` as a phasor."""
    tokens = cursor.tokens
    after = tokens[cursor.index]
    if token.text == r"\angle" and items and ends_operand(items[-1]) and items[-1].text != "m":
        items.append(Token("TIMES", r"\angle", token.pos, token.gap))
        if after.type == "{":
            items.append(Token("PAREN", "(", after.pos, args=[read_argument(cursor)]))
        return
    if token.text == r"\angle" and after.type == "letter" and tokens[cursor.index + 1].text == "(":
        items.append(Token("FUNCTION", "Arg", token.pos, token.gap))  # the phase of a value, `\angle G(j\omega)`
        return
    capitals = 0
    while tokens[cursor.index + capitals].type == "letter" and tokens[cursor.index + capitals].text.isupper():
        capitals += 1
    if token.text == r"\triangle" and capitals < _CORNERS and after.type in ("letter", "command"):
        items.append(read_symbol(cursor, Token("letter", r"\Delta", token.pos, token.gap)))
        return
    name = token.text
    if after.type == "{":
        inner, cursor.index = flat_argument(tokens, cursor.index)
        name += " " + spell_name(inner)
    elif after.type in ("letter", "number", "command"):
        count = max(capitals, 1)
        name += " " + "".join(part.text for part in tokens[cursor.index : cursor.index + count])
        cursor.index += count
    items.append(read_symbol_scripts(cursor, Token("SYM", name, token.pos, token.gap)))


def _read_physics_derivative(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read `\dv{f}{x}`, `\pdv[2]{f}{x}` or `\dv{x}` of the physics package as a derivative.

    Raises Fault where the order is not closed.
    """
    tokens = cursor.tokens
    order = "1"
    if tokens[cursor.index].text == "[":
        end = next((at for at in range(cursor.index, len(tokens)) if tokens[at].text == "]"), 0)
        if not end:
            raise Fault(token.pos, "an order of a derivative that is not closed", "the bracket ]")
        order = spell_name(tokens[cursor.index + 1 : end])
        cursor.index = end + 1
    above = read_argument(cursor)
    kind = "PARTIAL" if token.text.startswith(r"\p") else "DERIVATIVE"
    if tokens[cursor.index].type == "{":
        args = [above, read_argument(cursor)]
        if kind == "PARTIAL" and tokens[cursor.index].type == "{":
            args, order = [*args, read_argument(cursor)], "2"
        items.append(read_scripts(cursor, Token(kind, order, token.pos, token.gap, args=args)))
    else:
        raw = (Token("order", order, 0),)
        items.append(Token("DERIVE", kind, token.pos, token.gap, args=[above], raw=raw))


def _read_scripts_of_empty_braces(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read `{}^{3}\mathrm{He}` as a name; the index of `R^a{}_b` belongs to what stands before the braces."""
    sign = cursor.tokens[cursor.index].type
    if items and ends_operand(items[-1]) and not token.gap and items[-1].type != "NUM":
        if sign == "_" and items[-1].type == "SYM":
            inner, cursor.index = flat_argument(cursor.tokens, cursor.index + 1)
            upper = items[-1].sup  # an index too: `R^a{}_b`
            items[-1].text += f"^{{{''.join(part.text for part in upper)}}}" if upper else ""
            items[-1].text += f"{{}}_{brace_script(spell_name(inner))}"
            items[-1].sup = None
            return
        if items[-1].sup is None:
            items[-1] = read_scripts(cursor, items[-1])
            return
    read_leading_scripts(cursor, token, items)


def read_leading_scripts(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read scripts in front of a symbol as a part of its name: `{}^{12}_{6}\mathrm{C}`, `^2H`, `{}^*F`.

    A leading `^\circ` is the unit of an angle or temperature. What is no symbol or roman text becomes an opaque item
    under these scripts. Raises Fault where nothing follows them.
    """
    tokens = cursor.tokens
    name = ""
    while tokens[cursor.index].type in ("^", "_"):
        sign = tokens[cursor.index].text
        inner, cursor.index = flat_argument(tokens, cursor.index + 1)
        if not name and len(inner) == 1 and inner[0].text in (r"\circ", r"\degree"):
            items.append(read_degree_unit(cursor, inner, token.pos))  # the unit in `J/kg \cdot ^\circ C`
            return
        name += sign + brace_script(spell_name(inner))
    head = tokens[cursor.index]
    if head.type not in ("letter", "command", "OPEN"):
        raise Fault(token.pos, f"{describe_token(token)} with nothing before it", "a symbol before it", kind="fragment")
    single: list[Token] = []
    cursor.index += 1
    if head.type == "letter":
        single.append(read_symbol(cursor, head))
    else:
        cursor.construct(cursor, head, single)
    if not single:
        raise Fault(token.pos, f"{describe_token(token)} with nothing before it", "a symbol before it", kind="fragment")
    body = single[0]
    if len(single) == 1 and body.type in ("SYM", "ROMAN"):
        word = body.text if body.type == "SYM" else spell_name(body.raw)
        items.append(Token("SYM", name + word, token.pos, token.gap, sup=body.sup))
    else:
        items.append(Token("LISTED", f"opaque {name}", token.pos, token.gap, args=[single]))


REPEATING = frozenset((r"\overline", r"\bar", r"\dot"))


def read_repeating_digits(cursor: Cursor, items: list[Token]) -> bool:
    r"""Join repeating digits at the cursor to the number that ends `items`, `0.1\overline{6}`; False if there are none.

    The number gets its exact value as a quotient of integers (1/6), which no finite decimal is equal to.
    """
    number = items[-1] if items else None
    if number is None or number.type != "NUM" or number.sup is not None or "e" in number.text:
        return False
    if number.expr is not None:
        return False  # its digits repeat already
    start = cursor.index - (cursor.tokens[cursor.index - 1].text in REPEATING)
    if "." not in number.text and cursor.tokens[start - 1].text != ".":
        return False
    period, after = _repeating_digits(cursor.tokens, start)
    if not period:
        return False
    cursor.index = after
    whole, _, digits = number.text.partition(".")
    value = Fraction(f"{whole}.{digits or 0}") + Fraction(int(period), 10 ** len(digits) * (10 ** len(period) - 1))
    above, below = exact(value.numerator), exact(value.denominator)
    number.expr = Expr("div", (above, below)) if value.denominator > 1 else above
    number.text = str(value)
    return True


def _repeating_digits(tokens: list[Token], index: int) -> tuple[str, int]:
    r"""Return the repeating digits at an index, 6 of `\overline{6}` or 142 of `\dot{1}4\dot{2}`, and the index behind.

    The digits are empty and the index unchanged if none stand there.
    """
    if tokens[index].text not in REPEATING:
        return "", index
    dotted = tokens[index].text == r"\dot"
    inner, after = flat_argument(tokens, index + 1)
    if len(inner) != 1 or inner[0].type != "number" or not inner[0].text.isdigit():
        return "", index
    first = inner[0].text
    if not dotted or len(first) > 1:
        return first, after
    between = tokens[after].text if tokens[after].type == "number" else ""
    behind = after + bool(between)
    if tokens[behind].text == r"\dot" and (not between or between.isdigit()):
        inner, end = flat_argument(tokens, behind + 1)
        if len(inner) == 1 and inner[0].type == "number" and len(inner[0].text) == 1:
            return first + between + inner[0].text, end
    return first, after


def _read_conjugate(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append what `h.c.` or `c.c.` behind a sign stands for: the conjugate of the terms before it in the bracket.

    Errors:
        Ambiguity: several terms outside of brackets, of which the last alone may be meant.
    """
    start = max((at + 1 for at, item in enumerate(items) if item.type in _BEFORE_TERMS), default=0)
    terms = items[start:-1]
    if not terms:
        raise Fault(token.pos, f"{token.text[1:]} with nothing before it", "the terms that it conjugates")
    if cursor.depth == 1 and has_type(terms[1:], "PLUS", "MINUS", "PM"):
        raise Ambiguity(token.pos, f"{token.text[1:]} behind several terms: of the last one, or of all?", "brackets")
    mark = "*" if token.text == CONJUGATES["cc"] else r"\dagger"
    items.append(Token("LISTED", f"opaque {mark}", token.pos, token.gap, args=[deepcopy(terms)]))


_BEFORE_TERMS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "OR"))
_MONEY = {r"\$": "USD", r"\pounds": "GBP", r"\euro": "EUR"}


def _read_money(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Append the unit of a sign of money before or behind a number; raise a Fault elsewhere."""
    if cursor.tokens[cursor.index].type != "number" and not (items and items[-1].type == "NUM"):
        raise Fault(token.pos, "money", "mathematics only", kind="money")
    items.append(unit_token(_MONEY[token.text], token.pos))


RARE: dict[str, Handler] = {
    **dict.fromkeys((r"\overbrace", r"\underbrace"), _read_brace_with_note),
    **dict.fromkeys((r"\overset", r"\underset", r"\stackrel"), _read_stacked),
    **dict.fromkeys((r"\binom", r"\dbinom", r"\tbinom"), _construct_handler("binomial", 2)),
    **dict.fromkeys((r"\angle", r"\measuredangle", r"\triangle", r"\arc"), _read_figure_sign),
    **dict.fromkeys((r"\dv", r"\pdv", r"\derivative", r"\partialderivative", r"\odv"), _read_physics_derivative),
    **dict.fromkeys((r"\comm", r"\commutator"), _construct_handler("commutator", 2)),
    **dict.fromkeys((r"\acomm", r"\anticommutator"), _construct_handler("commutator anti", 2)),
    **dict.fromkeys((r"\xrightarrow", r"\xleftarrow", r"\xleftrightarrow", r"\xlongequal"), _read_arrow_with_note),
    **dict.fromkeys((r"\bmod", r"\mod"), _sign_handler(("TIMES", r"\bmod"))),
    **dict.fromkeys((r"\forall", r"\exists"), _read_quantifier),
    **dict.fromkeys((r"\degree", r"\circ"), _read_degree_sign),
    **dict.fromkeys((r"\abs", r"\norm"), _read_absolute_value),
    **dict.fromkeys(_UPRIGHT_SIGNS, _read_sign_as_symbol),
    **dict.fromkeys((r"\checkmark", r"\blacksquare", r"\qed", r"\qedsymbol"), _skip_decoration),
    **dict.fromkeys(_DIRAC, _read_dirac_bracket),
    r"\pb": _construct_handler("commutator poisson", 2), r"\pmod": _construct_handler("opaque mod", 1),
    r"\curl": _sign_handler(("NABLA", ""), ("TIMES", r"\times")), r"\not": _read_negated_relation,
    r"\AA": _append_angstrom, r"\celsius": _append_celsius, r"\parallel": _read_parallel_sign,
    "{}": _read_scripts_of_empty_braces,
    r"\textcircled": _fault_handler("a number in a circle", "a formula", "fragment"),
    **dict.fromkeys(_MONEY, _read_money),
    **dict.fromkeys(CONJUGATES.values(), _read_conjugate),
    **dict.fromkeys((r"\cancel", r"\bcancel", r"\xcancel", r"\cancelto"),
                    _fault_handler("a part that is struck out", "the formula without it", "syntax")),
    **dict.fromkeys((r"\ce", r"\chemfig", r"\schemestart"),
                    _fault_handler("chemistry", "mathematics only", "chemistry")),
    **dict.fromkeys((r"\(", r"\)", r"\[", r"\]"),
                    _fault_handler("the delimiter of a formula inside a formula", "one formula", "fragment")),
    **dict.fromkeys((r"\&", r"\#", r"\S", r"\P", r"\^"),
                    _fault_handler("a sign of running text", "mathematics only", "prose")),
    **dict.fromkeys((r"\includegraphics", r"\draw", r"\node"),
                    _fault_handler("a figure", "mathematics only", "figure")),
}  # fmt: skip
_OTHERS = (*RARE, *FRACTIONS, *ROMAN, *ACCENTS, *DOTS, *UNWRAPPED, r"\sqrt", r"\left", r"\right", r"\begin", r"\end",
           r"\SI", r"\unit")  # fmt: skip
