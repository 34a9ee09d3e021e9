r"""The leaves of the tree: numbers and symbols with all that belongs to them, and the arguments of LaTeX.

A leaf takes its scripts at once: a number its power of ten or its degrees, a symbol its primes, subscript, label,
accent and power. So `x_{1}'^{2}` is one token with a power for everything that follows.

Arguments can hold anything, so reading is recursive. `Cursor` carries the two readers of `tree` that leaves and
brackets need, instead of an import back into it: data flows one way, and a nested reading is a cursor of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from prism import budget
from prism.algebra.expr import Expr
from prism.latex.parsing.indices import is_tensor_index
from prism.latex.parsing.names import (
    ACCENTS,
    DOTS,
    PREFIXES,
    ROMAN,
    brace_script,
    flat_argument,
    spell_name,
    split_name,
    superscript_label,
)
from prism.latex.parsing.tokens import (
    EXPONENT_READ,
    GAP_QUAD,
    MAX_DEPTH,
    MAX_TEN_EXPONENT,
    VARIANTS,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    has_type,
    unit_token,
)

MAX_PRIMES = 6  # more is a slip
FLUX = "q"  # of heat, by its primes on a length, an area or a volume; also a charge, which is differentiated
_ROMAN_ORDERS = {"ii": 2, "iii": 3, "iv": 4}
_OF_DEFLECTIONS = frozenset(("x", "y", "z", "s", "t"))  # variables of what has derivatives in Roman numerals

TOP_ENDS = frozenset(("END", "}", "CLOSE", "FINISH"))
BRACE_ENDS = frozenset(("}", "END", "FINISH"))
# The change of a state function in a process, `\Delta_r G` for `\Delta G_r` (IUPAC Green Book, section 2.11.1).
_CHANGES = frozenset(
    rf"\Delta_{index if len(index) == 1 else f'{{{index}}}'}"
    for index in "r f rxn vap fus sub sol mix comb at ads dil trs rf soln reac".split()
)
_STATE_FUNCTIONS = frozenset("GHSU")
SCRIPT_STARTS = frozenset(("^", "_", "PRIME"))
_ON_A_MATRIX = {"T": "T", "H": r"\dagger"}  # superscripts that are no powers of it
_LABEL_STARS = frozenset(("*", r"\ast", r"\star"))
_TAKES_LABEL = frozenset(("PAREN", "ABS", "FRAC", "BRACKET", "LISTED"))  # (a + b)^* is no power
_PARTICLES = frozenset((r"\pi", r"\mu", r"\tau", "K", "W", r"\Sigma", r"\Lambda", r"\Xi", "D", "B"))
# Words that stand as subscripts; `v_xt` is v_x times t.
_WORD_SUBSCRIPTS = frozenset(
    "net max min rms avg ave tot total eff com ext int kin pot rel esc hot cold sys env gas air water rot trans vib "
    "obs ref crit rad abs final initial left right top bottom low high sun earth moon orbit mean out".split()
)
_PI = Expr("const", name="pi")


@dataclass(slots=True)
class Cursor:
    r"""Reading position in flat tokens, with the two readers of `tree`.

    Attributes:
        tokens: flat tokens, END last.
        siblings: reads the items of one bracket level up to a token of a given type, where the cursor stops.
        construct: reads the command or bracket that the given token begins, and appends it to the items.
        index: of the next token.
        depth: number of brackets and arguments around the next token.
        seen: Greek letters of the whole formula; `\varepsilon` is `\epsilon` unless both stand in it.
        has_fluxes: the primes of `q''` tell a flux, on an area, and no derivative.
        indices: letters of the formula that are indices where they stand alone above a symbol.
        ahead: what was read behind a `\Delta` and is no part of its name, by the index behind its first token, with the
            index behind it; read again, it would be read twice on each level of `\Delta e^{\Delta e^{...}}`.
    """

    tokens: list[Token]
    siblings: Callable[[Cursor, frozenset[str]], list[Token]]
    construct: Callable[[Cursor, Token, list[Token]], None]
    index: int = 0
    depth: int = 0
    seen: frozenset[str] = frozenset()
    has_fluxes: bool = False
    indices: frozenset[str] = frozenset()
    ahead: dict[int, tuple[list[Token], int]] = field(default_factory=dict)

    def descend(self) -> None:
        """Add 1 to the depth at the start of a bracket or argument; raise a Fault beyond MAX_DEPTH."""
        budget.charge_steps(1)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            pos = self.tokens[self.index].pos
            raise Fault(pos, f"brackets or arguments nested more than {MAX_DEPTH} deep", kind="limit")

    def read_apart(self, tokens: Sequence[Token], end: int, *, depth: int) -> list[Token]:
        """Nest flat tokens that were cut out of the formula and return the items; this cursor does not move.

        Args:
            end: offset in the text behind the last token.
            depth: number of brackets and arguments around the tokens.
        """
        inner = Cursor(
            [*tokens, Token("END", "", end)], self.siblings, self.construct, depth=depth, indices=self.indices
        )
        return self.siblings(inner, TOP_ENDS)


# Arguments and scripts --------------------------------------------------------------------------------------


def read_argument(cursor: Cursor, *, splits: bool = False) -> list[Token]:
    r"""Read one TeX argument at the cursor, a group `{...}` or one token, and return the items in it.

    Args:
        splits: take the first of two digits and leave the second, as in `\frac12`; else two digits raise a Fault.
    """
    token = cursor.tokens[cursor.index]
    if token.type == "{":
        cursor.index += 1
        items = cursor.siblings(cursor, BRACE_ENDS)
        skip_closing_brace(cursor)
        if not items:
            raise Fault(token.pos, "empty braces", "a number or a symbol in them")
        return items
    if token.type == "number" and len(token.text) > 1:
        if splits and len(token.text) == 2 and token.text.isdigit():
            cursor.tokens[cursor.index] = Token("number", token.text[1], token.pos + 1)
            return [Token("NUM", token.text[0], token.pos)]
        raise Fault(token.pos, f"`{token.text}` without braces where one digit is taken", "braces around it")
    if token.type in ("letter", "number"):
        cursor.index += 1
        if token.type == "number":
            return [Token("NUM", token.text, token.pos)]
        return [_symbol_without_scripts(cursor, token)]
    if token.type == "command" or token.type == "OPEN":
        cursor.descend()
        cursor.index += 1
        single: list[Token] = []
        cursor.construct(cursor, token, single)
        cursor.depth -= 1
        return single
    if token.type == "NABLA":
        cursor.index += 1
        return [Token("NABLA", "", token.pos, token.gap)]
    if token.type in ("REL", "INFINITY"):
        cursor.index += 1
        return [token if token.type == "REL" else Token("INFINITY", "", token.pos, expr=Expr("infinity"))]
    raise Fault(token.pos, describe_token(token), "an argument in braces")


def skip_closing_brace(cursor: Cursor) -> None:
    """Move the cursor past the closing brace of a group; raise a Fault if none stands there."""
    token = cursor.tokens[cursor.index]
    if token.type != "}":
        raise Fault(token.pos, describe_token(token), "a closing brace")
    cursor.index += 1


def read_power(cursor: Cursor) -> list[Token]:
    """Read the exponent behind `^` and return its items; raise a Fault for `x^12` or `x^-a` without braces."""
    token = cursor.tokens[cursor.index]
    if token.type == "number" and len(token.text) > 1:
        raise Fault(token.pos, f"an exponent of several digits `{token.text}` without braces", "braces around it")
    if token.type == "MINUS" and cursor.tokens[cursor.index + 1].type in ("number", "letter"):
        after = cursor.tokens[cursor.index + 1]
        if after.type == "letter" or len(after.text) > 1:
            raise Fault(token.pos, "a minus sign as exponent", "braces around the exponent")
        cursor.index += 1
        return [token, *read_argument(cursor)]
    return read_argument(cursor)


def read_scripts(cursor: Cursor, item: Token) -> Token:
    """Attach the scripts at the cursor to an item that is no symbol, `(a + b)_1^2`, and return the item.

    A superscript that is no power (primes, `T` on a matrix, `*`) wraps the item in an opaque LISTED token. Raises Fault
    for a second power or subscript.
    """
    tokens = cursor.tokens
    while (token := tokens[cursor.index]).type in ("^", "_"):
        cursor.index += 1
        if _skip_empty_script(cursor):
            continue
        if token.type == "^":
            if item.sup is not None:
                raise Fault(token.pos, "a second superscript", "brackets around the first power")
            inner, after = flat_argument(tokens, cursor.index)
            if item.type == "PAREN" and inner and all(part.type == "PRIME" for part in inner):
                cursor.index = after
                item = Token("LISTED", "opaque " + "'" * len(inner), item.pos, item.gap, args=[[item]])
            elif item.text == "matrix" and len(inner) == 1 and (turned := _ON_A_MATRIX.get(inner[0].text)):
                cursor.index = after
                item = Token("LISTED", f"opaque {turned}", item.pos, item.gap, args=[[item]])
            elif item.type in _TAKES_LABEL and (
                label := superscript_label(inner) or _index_alone(inner, cursor.indices)
            ):
                cursor.index = after
                item = Token("LISTED", f"opaque {label}", item.pos, item.gap, args=[[item]])
            else:
                item.sup = read_power(cursor)
        else:
            if item.sub is not None:
                raise Fault(token.pos, "a second subscript")
            inner, _ = flat_argument(tokens, cursor.index)
            item.raw = inner
            item.sub = _read_subscript_or_name(cursor, inner)
    return item


def _index_alone(inner: list[Token], indices: frozenset[str]) -> str:
    r"""Return the letter that is all of a superscript and an index, as in `(D_\mu\Phi)^a`; else nothing."""
    return inner[0].text if len(inner) == 1 and inner[0].text in indices else ""


def _skip_empty_script(cursor: Cursor) -> bool:
    """Return True and move the cursor past an empty script, the braces of `x^{}`; return False for any other script."""
    one, two = cursor.tokens[cursor.index], cursor.tokens[min(cursor.index + 1, len(cursor.tokens) - 1)]
    if one.type == "{" and two.type == "}":
        cursor.index += 2
        return True
    return False


def _read_subscript_or_name(cursor: Cursor, inner: list[Token]) -> list[Token]:
    r"""Read a subscript as items, `_{n+1}`, or as one symbol of that name if it is no mathematics (`_{\partial V}`).

    Args:
        inner: the flat tokens of the subscript, for the name.
    """
    start = cursor.index
    try:
        return read_argument(cursor)
    except Fault:
        _, cursor.index = flat_argument(cursor.tokens, start)
        return [Token("SYM", spell_name(inner), cursor.tokens[start].pos)]


# Numbers ----------------------------------------------------------------------------------------------------


_IN_NUMBERS = frozenset(("number", "mark", "OPEN", "CLOSE", "END"))
_BASES = frozenset("23456789")  # a base of one digit: what has letters for digits is no number here


def read_number(cursor: Cursor, items: list[Token]) -> Token:
    r"""Read a number with its power of ten (`3 \times 10^8`), exponent (`2^3`) or marks of an angle (`5^\circ 30'`).

    Raises Fault for two numbers side by side, and Ambiguity for a digit right behind a letter or a power of ten that a
    slash may end.

    Args:
        items: what stands before the number; degrees that it continues are taken from them.
    """
    tokens = cursor.tokens
    token = tokens[cursor.index]
    cursor.index += 1
    if items and items[-1].type == "NUM" and items[-1].sup is None and not items[-1].args:
        is_number_of_formula = all(part.type in _IN_NUMBERS for part in tokens)  # `(25.2.1)`
        kind = "fragment" if is_number_of_formula else "syntax"
        raise Fault(token.pos, "two numbers side by side", "one number", "an operator between them", kind=kind)
    text = token.text
    glued = not token.gap and cursor.index > 1 and tokens[cursor.index - 2].type == "letter"
    if glued and items and items[-1].type == "SYM" and items[-1].sup is None and items[-1].text not in ("i", "j"):
        raise Ambiguity(token.pos, "a digit right behind a letter: an index, a power, or a factor?", "_", "^")
    sign = tokens[cursor.index]
    if sign.text in ("x", "X") and [part.text for part in tokens[cursor.index + 1 : cursor.index + 3]] == ["10", "^"]:
        sign = tokens[cursor.index] = Token("TIMES", r"\times", sign.pos, sign.gap)  # 3 x 10^8
    point = sign.type == "mark" and sign.text == "." and tokens[cursor.index + 1].type == "TIMES"
    if point:
        sign = tokens[cursor.index + 1]
    if sign.type == "TIMES" and "e" not in text:
        start = cursor.index + point
        ten = tokens[start + 1] if tokens[start + 1].type != "{" else tokens[start + 2]
        if ten.type == "number" and ten.text == "10":
            power = _read_power_of_ten(cursor, start + 1)
            if power is not None:
                if items and items[-1].type == "SLASH" and "." not in text:
                    raise Ambiguity(ten.pos, "a power of ten after a slash and a number: is it in the denominator?",
                                    "brackets around the number")  # fmt: skip
                text = f"{text}e{power}"
    if "." in text and tokens[cursor.index].type == "DOTS" and not tokens[cursor.index].gap:
        cursor.index += 1  # `3.0303\ldots`: the digits go on
    number = Token("NUM", text, token.pos, token.gap, raw=token.raw)
    if tokens[cursor.index].type not in SCRIPT_STARTS:
        return number
    return read_number_scripts(cursor, number)


def _read_power_of_ten(cursor: Cursor, index: int) -> int | None:
    """Return n of the `10^{n}` at an index and move the cursor behind it; None if n is no integer: nothing moves.

    Raises Fault beyond MAX_TEN_EXPONENT, and for several digits without braces.
    """
    tokens = cursor.tokens
    braced = tokens[index].type == "{"  # `\times {10}^{3}`
    if braced and tokens[index + 2].type != "}":
        return None
    after = index + (3 if braced else 1)
    if tokens[after].type != "^":
        return None
    inner, after = flat_argument(tokens, after + 1)
    if len(inner) == 3 and inner[0].type == "OPEN" and inner[2].type == "CLOSE":
        inner = inner[1:2]
    sign = 1
    if len(inner) == 2 and inner[0].type in ("MINUS", "PLUS"):
        sign = -1 if inner[0].type == "MINUS" else 1
        inner = inner[1:]
    if len(inner) == 1 and inner[0].type == "MINUS" and tokens[after].type == "number":  # 10^-3
        sign, inner, after = -1, [tokens[after]], after + 1
    elif len(inner) == 1 and tokens[after - 1].type != "}" and len(inner[0].text) > 1:
        raise Fault(inner[0].pos, f"an exponent of several digits `{inner[0].text}` without braces", "braces around it")
    if len(inner) != 1 or inner[0].type != "number" or not inner[0].text.isdigit():
        return None
    power = int(inner[0].text[:EXPONENT_READ])
    if power > MAX_TEN_EXPONENT:
        raise Fault(inner[0].pos, f"the power of ten 10^{power}; at most {MAX_TEN_EXPONENT} is read", kind="limit")
    cursor.index = after
    return sign * power


def read_number_scripts(cursor: Cursor, number: Token) -> Token:
    r"""Read the script at the cursor and return the number with it: a power, `30^\circ`, `5'` or an ion's `2^+`.

    Angles become a QUANTITY token, charges a symbol; a subscript is the base, `52_8`, or raises a Fault.
    """
    tokens = cursor.tokens
    token = tokens[cursor.index]
    if token.type == "_":
        return _read_base(cursor, number)
    if token.type == "PRIME":
        inner = list(takewhile(lambda part: part.type == "PRIME", tokens[cursor.index :]))
        after = cursor.index + len(inner)
    else:
        inner, after = flat_argument(tokens, cursor.index + 1)
    if inner and all(part.type == "PRIME" for part in inner):
        cursor.index = after
        unit = unit_token(("arcmin", "arcsec")[min(len(inner), 2) - 1], token.pos)
        return Token("QUANTITY", "", number.pos, number.gap, args=[[number, unit]])
    if [part.text for part in inner if part.type not in ("{", "}") and part.text not in ROMAN] == ["o"]:
        inner = [Token("command", r"\degree", token.pos)]  # the letter in place of the sign: `30^o`
    if inner and inner[0].text in (r"\circ", r"\degree"):
        cursor.index = after
        unit = read_degree_unit(cursor, inner, token.pos)
        return Token("QUANTITY", "", number.pos, number.gap, args=[[number, unit]])
    if len(inner) == 1 and inner[0].type in ("PLUS", "MINUS") and tokens[after].type != "number":
        cursor.index = after
        return Token("SYM", f"{number.text}^{{{inner[0].text}}}", number.pos, number.gap)
    cursor.index += 1
    number.sup = read_power(cursor)
    return number


def _read_base(cursor: Cursor, number: Token) -> Token:
    """Return a whole number whose base stands in the subscript at the cursor, with its value in digits of ten.

    Errors:
        Fault: no whole number, no base from 2 to 9, or a digit that the base has not.
    """
    token = cursor.tokens[cursor.index]
    inner, after = flat_argument(cursor.tokens, cursor.index + 1)
    base = [part.text for part in inner if part.type not in ("{", "}") and part.text not in (*ROMAN, "(", ")")]
    if len(base) != 1 or base[0] not in _BASES or not number.text.isdigit() or max(number.text) >= base[0]:
        raise Fault(token.pos, "a subscript on a number", "a symbol before it")
    cursor.index = after
    return Token("NUM", str(int(number.text, int(base[0]))), number.pos, number.gap, raw=number.raw)


def read_degree_unit(cursor: Cursor, inner: list[Token], pos: int) -> Token:
    r"""Read the unit of a degree sign: `^\circ`, `^\circ C`, `^{\circ}\mathrm{C}`, `^{\circ \mathrm{C}}`.

    Raises Fault for others.

    Args:
        inner: flat tokens of the superscript, the degree sign first.
        pos: offset of the unit.
    """
    letters = [token for token in inner[1:] if token.type == "letter"]
    if not letters:
        tokens = cursor.tokens
        index = cursor.index
        if tokens[index].type == "command" and tokens[index].text in ROMAN:
            piece, after = flat_argument(tokens, index + 1)
            if len(piece) == 1 and piece[0].text in ("C", "F", "K"):
                letters, cursor.index = list(piece), after
        elif tokens[index].text in ("C", "F") and tokens[index + 1].type not in SCRIPT_STARTS:
            letters, cursor.index = [tokens[index]], index + 1
    name = "".join(token.text for token in letters)
    if name not in ("", "C", "F", "K"):
        raise Fault(pos, f"the degree unit {name}", "C", "F")
    unit = unit_token("deg" + name, pos)
    if cursor.tokens[cursor.index].type == "^" and name:
        cursor.index += 1
        unit.sup = read_power(cursor)  # `^\circ\mathrm{C}^{-1}`
    return unit


# Symbols ----------------------------------------------------------------------------------------------------


def _symbol_without_scripts(cursor: Cursor, token: Token) -> Token:
    r"""Return the token of a letter without its scripts: a symbol, or the constant `\pi`."""
    head = token.text
    if head in VARIANTS and VARIANTS[head] not in cursor.seen:
        head = VARIANTS[head]
    if head == r"\pi":
        return Token("CONST", head, token.pos, token.gap, expr=_PI)
    return Token("SYM", head, token.pos, token.gap)


def read_symbol(cursor: Cursor, token: Token) -> Token:
    r"""Return the symbol of a letter with all that belongs to its name (`\Delta x`, `x_1'`) and with its power.

    Raises Fault for a `\Delta x` with two indices.

    Args:
        token: the letter, already passed by the cursor.
    """
    if cursor.ahead and (ahead := cursor.ahead.pop(cursor.index, None)):
        (symbol,), cursor.index = ahead
        return symbol
    symbol = _symbol_without_scripts(cursor, token)
    after = cursor.tokens[cursor.index]
    if symbol.text in PREFIXES and after.type in ("letter", "command"):
        cursor.descend()
        prefixed = _read_prefixed_symbol(cursor, symbol.text, after)
        cursor.depth -= 1
        if prefixed is not None:
            prefixed.pos, prefixed.gap = token.pos, token.gap
            return prefixed
    if after.type not in SCRIPT_STARTS:
        return symbol
    named = read_symbol_scripts(cursor, Token("SYM", symbol.text, token.pos, token.gap))
    after = cursor.tokens[cursor.index]
    if symbol.text == r"\Delta" and named.text in _CHANGES and named.sup is None and after.text in _STATE_FUNCTIONS:
        cursor.index += 1
        changed = read_symbol(cursor, after)
        if changed.type == "SYM" and changed.text[1:2] != "_":
            text = rf"\Delta {changed.text[0]}{named.text.removeprefix(symbol.text)}{changed.text[1:]}"
            return Token("SYM", text, token.pos, token.gap, sup=changed.sup)
        raise Fault(after.pos, "a change with two indices", r"one index, `\Delta G_{r}`")
    return named


def _read_prefixed_symbol(cursor: Cursor, head: str, after: Token) -> Token | None:
    r"""Return one symbol for `\Delta` and the symbol behind it, `\Delta x_0`; None if they are two: nothing is read.

    Raises Fault before a dotted expression that is no symbol.

    Args:
        head: the prefix, `\Delta`.
        after: the token behind it, at the cursor.
    """
    if after.gap >= GAP_QUAD:
        return None
    start = cursor.index
    cursor.index += 1
    items: list[Token] = []
    if after.type == "letter" and after.text not in (r"\Delta", r"\pi"):
        inner = read_symbol(cursor, after)
        exponential = inner.text == "e" and inner.sup is not None
        if inner.type == "SYM" and not exponential:
            return Token("SYM", f"{head} {inner.text}", after.pos, sup=inner.sup)
        cursor.ahead[start + 1] = [inner], cursor.index
    elif after.text in DOTS:
        cursor.construct(cursor, after, items)
        body = items[0].args[0]
        if len(body) != 1 or body[0].type != "SYM":
            raise Fault(after.pos, f"{head} before a dotted expression", "a dotted symbol")
        body[0].text = f"{head} {body[0].text}"  # delta and d/dt change places
        return items[0]
    elif after.text in ACCENTS or after.text in ROMAN:
        cursor.construct(cursor, after, items)
        if len(items) == 1 and items[0].type in ("SYM", "ROMAN"):
            inner = items[0]
            name = spell_name(inner.raw) if inner.type == "ROMAN" else inner.text
            product = inner.text == "math" and len(name) > 1 and name.islower()  # \Delta\mathrm{mc}^2
            if inner.type == "SYM" or (name.isalnum() and not product and name not in ("or", "and")):
                return Token("SYM", f"{head} {name}", after.pos, sup=inner.sup)
        if after.text in ACCENTS:
            cursor.ahead[start + 1] = items, cursor.index
    cursor.index = start
    return None


def read_symbol_scripts(cursor: Cursor, item: Token) -> Token:
    """Attach primes, subscript, label (a superscript such as `*` that is no power) and power at the cursor to a symbol.

    The name has one order: letter, primes, subscript, label. Two primes and more give a DERIVATIVE token by an unnamed
    variable, `?`. Raises Fault for a second power or subscript, and for more than MAX_PRIMES primes.
    """
    tokens = cursor.tokens
    base_name = item.text.rstrip("'")
    primes, sub, label = len(item.text) - len(base_name), "", ""
    sup: list[Token] | None = None
    below: list[Token] = []
    while (kind := tokens[_skip_braces_before_prime(tokens, cursor.index)].type) in SCRIPT_STARTS:
        cursor.index = _skip_braces_before_prime(tokens, cursor.index)
        here = tokens[cursor.index]
        cursor.index += 1
        if kind == "PRIME":
            primes += 1
            continue
        if _skip_empty_script(cursor):
            continue
        if kind == "_":
            if sub:
                raise Fault(here.pos, "a second subscript on one symbol")
            start, sub = cursor.index, _read_subscript(cursor)
            below = [part for part in tokens[start : cursor.index] if part.type not in ("{", "}")]
            continue
        inner, after = flat_argument(tokens, cursor.index)
        if order := _roman_order(item.text, inner, tokens[after : after + 3]):
            primes, cursor.index = order, after
            continue
        _refuse_lone_sign(item.text, tokens[cursor.index], tokens[cursor.index + 1])
        count = sum(1 for _ in takewhile(lambda token: token.type == "PRIME", inner))
        rest = inner[count:]
        is_index = is_tensor_index(item.text, rest, below or _subscript_at(tokens, after), cursor.indices)
        written = superscript_label(rest) or (spell_name(rest) if is_index else None)
        if rest and (sup is not None or label):
            raise Fault(here.pos, "a second superscript on one symbol", "brackets around the first power")
        primes += count
        if len(rest) == 2 and rest[0].text in _LABEL_STARS and rest[1].type == "number":  # `p^{*2}`: the square of p*
            label, cursor.index = spell_name(rest[:1]), after
            sup = cursor.read_apart(rest[1:], here.pos, depth=cursor.depth)
        elif written:
            label, cursor.index = written, after
        elif count:
            sup = cursor.read_apart(rest, here.pos, depth=cursor.depth) if rest else sup
            cursor.index = after
        else:
            sup = read_power(cursor)
    is_flux = cursor.has_fluxes and base_name == FLUX
    name = base_name + "'" * (primes if primes < 2 or is_flux else 0) + (f"_{sub}" if sub else "")
    name += f"^{{{label}}}" if label else ""
    if primes > MAX_PRIMES:
        raise Fault(item.pos, f"{primes} primes on one symbol; at most {MAX_PRIMES} are read", kind="limit")
    if primes >= 2 and not is_flux:
        base, free = Token("SYM", name, item.pos), Token("SYM", "?", item.pos)
        return Token("DERIVATIVE", str(primes), item.pos, item.gap, args=[[base], [free]], sup=sup)
    item.text, item.sup = name, sup
    if name == r"\pi":
        item.type, item.expr = "CONST", _PI
    return item


def _roman_order(name: str, inner: Sequence[Token], behind: Sequence[Token]) -> int:
    """Return the order of a derivative in Roman numerals, 2 for `v^{ii}(z)`; 0 for any other superscript.

    Args:
        name: of the symbol; `inner`: flat tokens of its superscript; `behind`: the tokens behind that.
    """
    is_called = [token.text for token in behind[::2]] == ["(", ")"] and behind[1].text in _OF_DEFLECTIONS
    return _ROMAN_ORDERS.get("".join(token.text for token in inner), 0) if is_called and name != "e" else 0


def _subscript_at(tokens: list[Token], index: int) -> list[Token]:
    """Return the flat tokens of the subscript at an index; none if none stands there."""
    return flat_argument(tokens, index + 1)[0] if tokens[index].type == "_" else []


def _skip_braces_before_prime(tokens: list[Token], index: int) -> int:
    """Return the index past empty braces that only set a prime apart, `p_1{}'`; those of `R^a{}_b` stay."""
    is_empty = tokens[index].type == "{" and tokens[index + 1].type == "}"
    return index + 2 if is_empty and tokens[index + 2].type == "PRIME" else index


def _refuse_lone_sign(head: str, token: Token, follower: Token) -> None:
    r"""Raise a Fault for `x^-1` without braces: TeX raises the minus sign alone, and the author means the number too.

    Behind the letter of a particle the sign is its charge: `\pi^-\Sigma^+`.

    Args:
        head: the symbol before the superscript.
        token: first token of the superscript.
        follower: the token behind that one.
    """
    if token.type == "PLUS" and follower.type == "letter":
        return
    charged = head in _PARTICLES and follower.type == "letter"
    if token.type in ("MINUS", "PLUS") and follower.type in ("number", "letter") and not (follower.gap or charged):
        raise Fault(token.pos, f"the sign `{token.text}` as exponent", "braces around the exponent")


def _read_subscript(cursor: Cursor) -> str:
    """Read the subscript at the cursor and return its text for a name: `1`, or `{max}` for several characters.

    Raises Fault for an empty one, and for several digits without braces.
    """
    token = cursor.tokens[cursor.index]
    if token.type == "number" and len(token.text) > 1:
        raise Fault(token.pos, f"a subscript of several digits `{token.text}` without braces", "braces around it")
    if token.type in ("END", "}", "AMP", "ROW"):
        raise Fault(token.pos, describe_token(token), "a subscript")
    word = _latin_word_at(cursor.tokens, cursor.index)
    if word in _WORD_SUBSCRIPTS:  # F_net, typed without its braces
        cursor.index += len(word)
        return brace_script(word)
    inner, cursor.index = flat_argument(cursor.tokens, cursor.index)
    text = spell_name(inner, folds=cursor.seen)
    if not text:
        raise Fault(token.pos, "an empty subscript")
    return brace_script(text)


def _latin_word_at(tokens: Sequence[Token], index: int) -> str:
    """Return the word that Latin letters without blanks between them form at an index; empty if there are none."""
    word = ""
    while tokens[index].type == "letter" and len(tokens[index].text) == 1 and not (word and tokens[index].gap):
        word += tokens[index].text
        index += 1
    return word


def read_accented(cursor: Cursor, token: Token) -> Token:
    r"""Read the argument of an accent: a symbol becomes one with the accent in its name, `\vec{F_1}` like `\vec{F}_1`.

    An accent over anything else becomes an opaque LISTED token, is dropped (bold type) or raises a Fault.

    Args:
        token: the accent command, already passed by the cursor.
    """
    mark = ACCENTS[token.text]
    start = cursor.index
    inner_tokens, after = flat_argument(cursor.tokens, start)
    if len(inner_tokens) > 1 and all(part.type == "number" for part in inner_tokens):  # \mathbf{7 9 8 6}
        cursor.index = after
        return read_scripts(cursor, Token("NUM", "".join(part.text for part in inner_tokens), token.pos, token.gap))
    body = read_argument(cursor)
    if len(body) == 1 and body[0].type in ("SYM", "CONST") and body[0].sup is None:
        inner = body[0].text
        if mark == r"\hat" and inner.startswith(r"\vec{"):
            return read_symbol_scripts(cursor, Token("SYM", r"\hat{" + inner[5:], token.pos, token.gap))
        if mark == r"\vec" and inner[:1] == "\\" and "{" in inner and not inner.startswith((r"\math", r"\Delta")):
            return read_symbol_scripts(cursor, Token("SYM", inner, token.pos, token.gap))
        head, scripts = split_name(inner)
        return read_outer_scripts(cursor, Token("SYM", f"{mark}{{{head}}}", token.pos, token.gap), scripts)
    if len(body) == 1 and body[0].type == "DERIVATIVE" and body[0].sup is None and len(body[0].args[0]) == 1:
        (moving,) = body[0].args[0]
        if moving.type == "SYM" and moving.sup is None:  # `\vec{\dot r}`: the marks change places
            head, scripts = split_name(moving.text)
            named = read_outer_scripts(cursor, Token("SYM", f"{mark}{{{head}}}", moving.pos), scripts)
            if named.type == "SYM":
                power, named.sup = named.sup, None
                return replace(body[0], args=[[named], body[0].args[1]], sup=power)
    if len(body) == 1 and body[0].type == "REL":  # `\hat=` corresponds, `\dot=` approaches: a relation with a mark
        return body[0]
    if len(body) == 1 and body[0].type == "NABLA":
        return read_scripts(cursor, body[0])
    is_unit = mark == r"\mathbb" and body[0].text == "1" and cursor.tokens[cursor.index].type != "_"
    if len(body) == 1 and body[0].type == "NUM" and (mark == r"\vec" or is_unit):  # \mathbb 1: a unit matrix
        return read_scripts(cursor, body[0])
    if mark == r"\vec" and [item.text for item in body[:1]] == ["d"] and len(body) == 2 and body[1].type == "SYM":
        vector = Token("SYM", rf"\vec{{{body[1].text}}}", body[1].pos)  # \vec{ds} is d of a vector
        return Token(
            "SPLICE", "", token.pos, token.gap, args=[[Token("D", "d", token.pos), read_symbol_scripts(cursor, vector)]]
        )
    if all(item.type in ("SYM", "ROMAN") and item.sup is None for item in body):
        return read_symbol_scripts(cursor, Token("SYM", f"{mark}{{{spell_name(inner_tokens)}}}", token.pos, token.gap))
    if mark == r"\vec" and token.text != r"\vec":
        if has_type(body, "REL"):  # a whole formula in bold type
            return Token("SPLICE", "", token.pos, token.gap, args=[body])
        return read_scripts(cursor, Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if mark not in (r"\bar", r"\tilde", r"\hat", r"\underline"):
        raise Fault(token.pos, f"{token.text} over something that is no symbol")
    return read_scripts(cursor, Token("LISTED", f"opaque {mark}", token.pos, token.gap, args=[body]))


def read_outer_scripts(cursor: Cursor, item: Token, inner: str) -> Token:
    r"""Append scripts from under an accent to the name of a symbol, then those behind it: `\vec{F_1}'` has both.

    Args:
        item: the symbol with its accent, `\vec{F}`.
        inner: spelling of the scripts under the accent, `_1`; a second subscript behind it raises a Fault.
    """
    if inner:
        outer = cursor.tokens[cursor.index]
        if outer.type in ("_", "PRIME") and (outer.type == "_") == ("_" in inner) and inner.strip("'"):
            raise Fault(outer.pos, "a second subscript on one symbol")
        if outer.type == "PRIME" and "_" in inner:
            cursor.index += 1
            inner = "'" + inner
        item.text += inner
    return read_symbol_scripts(cursor, item)


def read_dotted(cursor: Cursor, token: Token) -> Token:
    r"""Read the argument of `\dot` or `\ddot` as a derivative by time t: `\dot{x}_1` is the derivative of `x_1`.

    Raises Fault for a dot and two primes on one symbol.
    """
    order = DOTS[token.text]
    time = Token("SYM", "t", token.pos)
    body = read_argument(cursor)
    if len(body) != 1 or body[0].type != "SYM" or body[0].sup is not None:
        return read_scripts(cursor, Token("DERIVATIVE", order, token.pos, token.gap, args=[body, [time]]))
    head, scripts = split_name(body[0].text)
    inner = read_outer_scripts(cursor, Token("SYM", head, token.pos), scripts)
    if inner.type != "SYM":
        raise Fault(token.pos, "a dot and two primes on one symbol")
    power, inner.sup = inner.sup, None
    return Token("DERIVATIVE", order, token.pos, token.gap, args=[[inner], [time]], sup=power)
