r"""From flat tokens to a tree: `read` nests brackets and arguments, and gives every command its meaning.

One loop over siblings, and one dispatch for commands. Both are handed to the readers of `leaves` and `brackets` in
the cursor. What depends on neighbours (units, calls, differentials, extents) is left to `settle`: a roman text stays
a ROMAN token with its flat tokens, a function has no argument yet unless braces or a power of e give it one.
"""

from __future__ import annotations

from prism.algebra.expr import Expr
from prism.latex.parsing.brackets import (
    BRACKET_ENDS,
    read_bar,
    read_braces,
    read_bracket,
    read_environment,
    written,
)
from prism.latex.parsing.commands import REPEATING, leading_scripts, rare_command, repeats
from prism.latex.parsing.leaves import (
    MAX_PRIMES,
    TOP_ENDS,
    Cursor,
    accented,
    dotted,
    named,
    read_argument,
    read_number,
    read_power,
    read_symbol,
    scripted,
)
from prism.latex.parsing.names import (
    ACCENTS,
    BOLD,
    DOTS,
    FRACTIONS,
    ROMAN,
    SWITCHES,
    TEXT_MODE,
    UNWRAPPED,
    argument_at,
    label_of,
    spell,
)
from prism.latex.parsing.tokens import (
    EXPONENT_READ,
    FUNCTIONS,
    GAP_BLANK,
    GREEK,
    OPERATORS,
    ROMAN_FUNCTIONS,
    UNIT_FUNCTIONS,
    Fault,
    Token,
    describe,
    is_factor,
    unit_token,
)
from prism.latex.words import UNITS, WITH_SUBSCRIPT

_ARC = ("deg", "arcmin", "arcsec")
_NUMBERED = frozenset((r"\SI", r"\qty", r"\num", r"\ang"))  # of siunitx: a number comes first
_SIUNITX = _NUMBERED | {r"\si", r"\unit"}
_DIFFERENTIALS = frozenset((r"\dd", r"\diff", r"\differential"))
_FIELD_OPERATORS = {"div": (r"\cdot",), "rot": (r"\times",), "curl": (r"\times",), "grad": ()}
_BRACKETING = frozenset(("floor", "ceil"))
_DOTS = Expr("dots")
_ITALIC = frozenset((r"\textit", r"\mathit"))  # `\mathit{sin}` is a product or a name, no function


def read(tokens: list[Token]) -> list[Token]:
    """Nest flat tokens into the list of the whole formula."""
    seen = frozenset(token.text for token in tokens if token.type == "letter" and token.text in GREEK)
    cursor = Cursor(tokens, read_list, _construct, seen=seen)
    items = read_list(cursor, TOP_ENDS)
    while tokens[cursor.index].text == ")" and _closes_a_remark(items):
        cursor.index += 1
        items += read_list(cursor, TOP_ENDS)
    if (last := tokens[cursor.index]).type != "END":
        raise Fault(last.pos, describe(last), "the end of the formula")
    return items


def _closes_a_remark(items: list[Token]) -> bool:
    r"""Whether a text has opened the bracket that closes here: `\text{(multiplying by } 36)`."""
    open_texts = sum(
        sum((token.type == "OPEN") - (token.type == "CLOSE") for token in item.raw)
        for item in items
        if item.type == "ROMAN"
    )
    return open_texts > 0 and not any(item.type == "REMARK" for item in items)


def read_list(cursor: Cursor, ends: frozenset[str]) -> list[Token]:
    """Siblings up to a token whose type is in `ends`, which is left for the caller."""
    cursor.descend()
    items: list[Token] = []
    tokens = cursor.tokens
    while True:
        token = tokens[cursor.index]
        kind = token.type
        if kind == "letter":
            cursor.index += 1
            items.append(read_symbol(cursor, token))
        elif kind in OPERATORS and kind not in ends:
            cursor.index += 1
            items.append(token)
        elif kind == "number":
            items.append(read_number(cursor, items))
        elif kind in ends and not (kind in ("BAR", "NORM") and not (items and is_factor(items[-1]))):
            break
        elif kind == "AMP":
            cursor.index += 1
            if cursor.depth == 1 and _parts_columns(tokens, cursor.index - 1, items):
                items.append(Token("COMMA", ",", token.pos))
        elif kind == "command" and token.text in SWITCHES:
            cursor.index += 1
            _switch(cursor, token, items, ends)
        elif kind == "OVER":
            cursor.index += 1
            below = read_list(cursor, ends)
            kind, text = ("FRAC", r"\over") if token.text == r"\over" else ("LISTED", "binomial")
            items = [Token(kind, text, token.pos, args=[items, below])]
        else:
            _read_other(cursor, token, items)
    cursor.depth -= 1
    return items


def _parts_columns(tokens: list[Token], index: int, items: list[Token]) -> bool:
    """Whether the mark at this index parts two columns of equations: every second one in a row does."""
    if not items or items[-1].type in OPERATORS:
        return False
    marks, related = 0, False
    for token in reversed(tokens[:index]):
        if token.type == "ROW":
            break
        marks += token.type == "AMP"
        related = related or token.type == "REL"
    return marks % 2 == 1 and related


def _read_other(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Everything but letters, numbers and plain operators."""
    kind = token.type
    cursor.index += 1
    if kind == "command":
        _command(cursor, token, items)
    elif kind == "{":
        cursor.index -= 1
        read_braces(cursor, items)
    elif kind == "OPEN" and token.text == "." and cursor.tokens[cursor.index].type == "CLOSE":
        bar = cursor.tokens[cursor.index]
        cursor.index += 1
        read_bar(cursor, Token("BAR", bar.text, bar.pos), items)
    elif kind == "OPEN":
        items.append(read_bracket(cursor, token))
    elif kind in ("BAR", "NORM"):
        read_bar(cursor, token, items)
    elif kind == "^" or kind == "_" or kind == "PRIME":
        _late_script(cursor, token, items)
    elif kind == "NABLA" and cursor.tokens[cursor.index].type in ("_", "PRIME"):
        named_nabla = named(cursor, Token("NABLA", "", token.pos, token.gap))
        if named_nabla.type != "NABLA":
            raise Fault(token.pos, "two primes on a nabla")
        items.append(named_nabla)
    elif kind in ("INTEGRAL", "SERIES", "LIMIT", "NABLA", "PARTIAL_SIGN"):
        sign = scripted(cursor, Token(kind, "" if kind == "NABLA" else token.text, token.pos, token.gap))
        while kind == "SERIES" and cursor.tokens[cursor.index].type == "PRIME":  # a sum that leaves something out
            cursor.index += 1
            sign.text = token.text + "'"
        items.append(sign if sign.sub is not None or sign.sup is not None else scripted(cursor, sign))
    elif kind == "INFINITY":
        items.append(scripted(cursor, Token("INFINITY", "", token.pos, token.gap, expr=Expr("infinity"))))
    elif kind == "DOTS":
        items.append(Token("INFINITY", "dots", token.pos, token.gap, expr=_DOTS))
    elif kind == "BANG":
        items.append(token)
    elif kind == "PERCENT":
        if not items or items[-1].type not in ("NUM", "PAREN", "FRAC"):
            raise Fault(token.pos, "a percent sign without a number before it")
        items.append(unit_token("‰" if token.text == "‰" else "%", token.pos))
    elif kind == "BEGIN":
        items.append(read_environment(cursor, token))
    elif kind == "mark" and token.text == "." and items and items[-1].type == "NUM" and not token.gap:
        _refuse_repeating(cursor)  # `2.` is a number with its decimal point
    elif kind == "mark" and token.text == "." and repeats(cursor, [point := Token("NUM", "0.", token.pos, token.gap)]):
        items.append(point)  # .\overline{3}
    elif kind == "mark" and token.text == "." and _ends_here(cursor.tokens[cursor.index]):
        pass  # the full stop of the sentence, inside the last bracket
    elif kind == "CLOSE":
        raise Fault(token.pos, f"the closing bracket {written(token.text)} without its opening one")
    elif kind == "unknown":
        raise Fault(token.pos, f"the character {token.text!r}, which is not read")
    else:
        raise Fault(token.pos, describe(token), "a number, a symbol or an operator")


def _refuse_repeating(cursor: Cursor) -> None:
    """`0.(3)`: digits that repeat, or a factor?"""
    tokens, at = cursor.tokens, cursor.index
    opening = tokens[at]
    if opening.text != "(" or opening.gap:
        return
    if tokens[at + 1].type == "number" and tokens[at + 2].text == ")":
        raise Fault(opening.pos, "a number in brackets behind a decimal point: digits that repeat, or a factor?",
                    r"\overline", r"\cdot", kind="ambiguous")  # fmt: skip


def _ends_here(token: Token) -> bool:
    """Whether nothing of the formula follows at this level: its full stop may stand before."""
    return token.type in ("}", "FINISH", "ROW", "END") or (token.type == "CLOSE" and token.text == ".")


def _construct(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """What begins with a command or an opening bracket, behind which the cursor stands."""
    if token.type == "OPEN":
        items.append(read_bracket(cursor, token))
    else:
        _command(cursor, token, items)


def _late_script(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A script behind something that did not take it itself."""
    if not items or not is_factor(items[-1]):
        cursor.index -= 1
        leading_scripts(cursor, token, items)
        return
    if token.type == "PRIME":
        _primed(cursor, token, items)
        return
    cursor.index -= 1
    items[-1] = scripted(cursor, items[-1])


def _primed(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """`(fg)'`: the derivative of a bracket by its unnamed variable."""
    body = items[-1]
    count = 1
    while cursor.tokens[cursor.index].type == "PRIME":
        cursor.index += 1
        count += 1
    if body.type != "PAREN" or body.sup is not None or count > MAX_PRIMES:
        raise Fault(token.pos, "a prime on something that is no symbol")
    free = Token("SYM", "?", token.pos)
    items[-1] = scripted(cursor, Token("DERIVATIVE", str(count), body.pos, body.gap, args=[[body], [free]]))


# Commands ---------------------------------------------------------------------------------------------------


def _command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A command with its arguments; the cursor stands behind its name."""
    text = token.text
    name = text[1:]
    if name in FUNCTIONS:
        items.append(_function(cursor, token, FUNCTIONS[name]))
        _braced_argument(cursor, items, shown=name in _BRACKETING)
    elif text in FRACTIONS:
        args = [read_argument(cursor, splits=True), read_argument(cursor)]
        _refuse_mixed_number(token, args, items)
        if [part.text for part in args[0][:1]] == ["D"] and [part.text for part in args[1]] == ["D", "t"]:
            raise Fault(token.pos, "a material derivative, which is not read", "its terms written out")
        items.append(scripted(cursor, Token("FRAC", text, token.pos, token.gap, args=args)))
    elif text == r"\sqrt":
        items.append(_root(cursor, token))
    elif text in ROMAN or (text in BOLD and _is_quantity_in_text(argument_at(cursor.tokens, cursor.index)[0])):
        _roman(cursor, token, items)
    elif text in REPEATING and repeats(cursor, items):
        pass
    elif text in ACCENTS:
        made = accented(cursor, token)
        items.extend(made.args[0] if made.type == "SPLICE" else [made])
    elif text in DOTS:
        items.append(dotted(cursor, token))
    elif text in UNWRAPPED:
        read_braces(cursor, items)
    elif text in _SIUNITX:
        _siunitx(cursor, token, items)
    elif text in _DIFFERENTIALS:
        items.append(scripted(cursor, Token("D", "d", token.pos, token.gap)))
    else:
        rare_command(cursor, token, items)


def _refuse_mixed_number(token: Token, args: list[list[Token]], items: list[Token]) -> None:
    r"""`2\frac34` is two and three quarters, or a product."""
    if not items or len(args[0]) != 1 or len(args[1]) != 1 or token.gap > GAP_BLANK:
        return
    parts = (args[0][0], args[1][0], items[-1])
    if not all(part.type == "NUM" and part.text.isdigit() and part.sup is None for part in parts):
        return
    if int(parts[0].text) < int(parts[1].text):
        raise Fault(
            token.pos,
            "a fraction behind a whole number: added to it, or a factor?",
            "a sign between them",
            kind="ambiguous",
        )


def _function(cursor: Cursor, token: Token, name: str) -> Token:
    item = scripted(cursor, Token("FUNCTION", name, token.pos, token.gap))
    if name == "exp" and item.sub is not None:
        raise Fault(token.pos, "a subscript on a function")
    return item


def _braced_argument(cursor: Cursor, items: list[Token], *, shown: bool = False) -> None:
    r"""`\sin{2x}`: the braces are kept apart from the factors behind them.

    Args:
        shown: the command prints brackets in their place, as `\floor{x}`.
    """
    token = cursor.tokens[cursor.index]
    if token.type == "{":
        text = "(" if shown else "{"
        items.append(scripted(cursor, Token("PAREN", text, token.pos, args=[read_argument(cursor)])))


def _root(cursor: Cursor, token: Token) -> Token:
    r"""A root; a power behind the brackets of `\sqrt(x)^2` is one of the root."""
    after = cursor.tokens[cursor.index]
    if after.type == "OPEN" and after.text == "[" and not token.raw:
        cursor.index += 1
        order = read_list(cursor, BRACKET_ENDS)
        if cursor.tokens[cursor.index].text != "]":
            raise Fault(cursor.tokens[cursor.index].pos, describe(cursor.tokens[cursor.index]), "the bracket ]")
        cursor.index += 1
        return scripted(cursor, Token("ROOT", "", token.pos, token.gap, args=[order, read_argument(cursor)]))
    body = read_argument(cursor)
    bare = after.type == "OPEN"  # in braces, the power is a part of what stands under the root
    if bare and len(body) == 1 and body[0].type == "PAREN" and body[0].text == "(" and body[0].sup is not None:
        bracket = body[0]
        power, bracket.sup = bracket.sup, None
        return Token("SQRT", "", token.pos, token.gap, args=[body], sup=power)
    return scripted(cursor, Token("SQRT", "", token.pos, token.gap, args=[body]))


def _siunitx(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\SI{2.5e3}{m/s}`, `\qty`, `\num`, `\ang`, `\unit`, `\si`."""
    name = token.text
    option = _option(cursor)
    if name == r"\unit" and option:
        items.extend(cursor.apart(option, token.pos, depth=cursor.depth))  # `\unit[5]{m}` of the package units
    if name in _NUMBERED:
        inner, cursor.index = argument_at(cursor.tokens, cursor.index)
        number = [part for part in inner if not (part.type == "letter" and part.text == "x")]
        if len(number) < len(inner):  # siunitx writes 3 x 10^4
            number = [Token("TIMES", r"\times", part.pos) if part.text == "x" else part for part in inner]
        if name == r"\ang" and any(part.text == ";" for part in number):
            items.append(_angle_in_parts(cursor, token, number))
            return
        body = cursor.apart(number, token.pos, depth=cursor.depth)
        if not body:
            raise Fault(token.pos, f"{name} without a number")
        items.append(body[0] if len(body) == 1 else Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if name == r"\ang":
        items.append(unit_token("deg", token.pos))
    elif name != r"\num":
        inner, cursor.index = argument_at(cursor.tokens, cursor.index)
        items.append(Token("ROMAN", "unit", token.pos, token.gap, raw=inner))
        if cursor.tokens[cursor.index].type == "^":
            cursor.index += 1
            items[-1].sup = read_power(cursor)


def _option(cursor: Cursor) -> list[Token]:
    """The number in the square brackets that stand here; any other option says nothing, and is passed over."""
    start = cursor.index
    if cursor.tokens[start].text != "[":
        return []
    end = start + 1
    while cursor.tokens[end].text != "]":
        if cursor.tokens[end].type == "END":
            return []
        end += 1
    cursor.index = end + 1
    option = list(cursor.tokens[start + 1 : end])
    return option if option and option[0].type == "number" else []


def _angle_in_parts(cursor: Cursor, token: Token, inner: list[Token]) -> Token:
    r"""`\ang{30;15;36}`: degrees, minutes and seconds of arc."""
    numbers: list[list[Token]] = [[]]
    for part in inner:
        if part.text == ";":
            numbers.append([])
        else:
            numbers[-1].append(part)
    if len(numbers) > len(_ARC) or any([part.type for part in digits] not in ([], ["number"]) for digits in numbers):
        raise Fault(token.pos, "an angle in parts that are no plain numbers", "degrees;minutes;seconds")
    body: list[Token] = []
    for name, digits in zip(_ARC, numbers, strict=False):
        if digits:
            body += [Token("PLUS", "+", digits[0].pos)] * bool(body)
            body += [*cursor.apart(digits, token.pos, depth=cursor.depth), unit_token(name, digits[0].pos)]
    if not body:
        raise Fault(token.pos, "an angle without a number")
    return Token("PAREN", "(", token.pos, token.gap, args=[body])


# Roman text -------------------------------------------------------------------------------------------------


def _roman(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""The roman text that is the argument of a command; the dollars of `\text{m/s$^2$}` say nothing."""
    inner, cursor.index = argument_at(cursor.tokens, cursor.index)
    inner = [part for part in inner if part.text != "$"]
    if _is_quantity_in_text(inner):
        items.extend(cursor.apart(inner[:1], token.pos, depth=cursor.depth))
        items[-1].gap = token.gap
        inner = inner[1:]
    _place_roman(cursor, token, inner, items)


def _is_quantity_in_text(inner: list[Token]) -> bool:
    r"""`\text{5 m/s}`: a number, and apart from it nothing but units."""
    if len(inner) < 2 or inner[0].type != "number" or not inner[1].gap:
        return False
    words = [""]
    for part in inner[1:]:
        if part.type == "letter" and not part.gap:
            words[-1] += part.text
        else:
            words.append(part.text if part.type == "letter" else "")
    return any(words) and all(word in UNITS for word in words if word)


def _place_roman(cursor: Cursor, token: Token, inner: list[Token], items: list[Token]) -> None:
    """Roman text: a function, a differential, e, or a word that `settle` reads as unit or symbol."""
    word = "".join(part.text for part in inner if part.type == "letter")
    pure = bool(inner) and all(part.type == "letter" for part in inner)
    after = cursor.tokens[cursor.index]
    numeric = bool(items) and items[-1].type in ("NUM", "UNIT", "QUANTITY", "ROMAN")
    if pure and word in FUNCTIONS and token.text not in _ITALIC and _is_function(token, word, cursor, numeric=numeric):
        items.append(_function(cursor, Token("command", "\\" + word, token.pos, token.gap), FUNCTIONS[word]))
        _braced_argument(cursor, items)
    elif pure and word in _FIELD_OPERATORS and token.text not in _ITALIC and after.type not in ("^", "_", "REL", "END"):
        items.append(Token("NABLA", "", token.pos, token.gap))
        items.extend(Token("TIMES", sign, token.pos) for sign in _FIELD_OPERATORS[word])
    elif pure and word in ("Re", "Im") and _is_part_of(token, after, cursor.tokens[cursor.index + 1 :]):
        items.append(_function(cursor, Token("command", "\\" + word, token.pos, token.gap), word))
        _braced_argument(cursor, items)
    elif pure and word in ("i", "j"):  # behind a number too: no unit has these names
        items.append(named(cursor, Token("SYM", word, token.pos, token.gap)))
    elif pure and word == "d" and not (numeric and after.type not in ("letter", "command")):
        items.append(scripted(cursor, Token("D", "d", token.pos, token.gap)))
    elif pure and word == "e" and after.type == "^":
        cursor.index += 1
        items.append(Token("FUNCTION", "exp", token.pos, token.gap, args=[read_power(cursor)]))
    elif (
        pure
        and word in ("e", "E")
        and items
        and items[-1].type == "NUM"
        and "e" not in items[-1].text
        and _exponent(cursor)
    ):
        items[-1].text += f"e{_exponent(cursor)}"  # 3\mathrm{e}8
        cursor.index += 1 if after.type == "number" else 2
    elif (
        pure
        and len(word) == 2
        and word[0] == "d"
        and not numeric
        and after.type not in ("_", "PRIME")
        and not (word == "dm" and after.type == "^")  # a decimetre: no differential has a power
    ):
        items.append(Token("D", "d", token.pos, token.gap))
        items.append(named(cursor, Token("SYM", word[1], inner[1].pos)))
    elif all(part.type in ("mark", "COMMA", "COLON") for part in inner):
        if inner and inner[0].text not in ".,:;":
            raise Fault(token.pos, f"`{inner[0].text}` inside {token.text}")
    else:
        items.append(_roman_word(cursor, token, inner, word, numeric=numeric))


def _is_function(token: Token, word: str, cursor: Cursor, *, numeric: bool) -> bool:
    """Whether an upright word that is the name of a function is one here, and no unit or symbol.

    Args:
        numeric: a number or unit stands before it.
    """
    after = cursor.tokens[cursor.index]
    operator = token.text == r"\operatorname"
    if word in ROMAN_FUNCTIONS:
        return word not in UNIT_FUNCTIONS or _starts_operand(_behind_scripts(cursor))
    if numeric and word in UNIT_FUNCTIONS and not (operator and after.type == "OPEN"):
        return False
    if word in ("Re", "Im", "Pr"):  # also numbers of a flow
        return False
    operand = _behind_scripts(cursor)
    return after.text in ("(", "[", r"\{") or (operator and (operand.type == "BEGIN" or _starts_operand(operand)))


def _behind_scripts(cursor: Cursor) -> Token:
    """The token behind the sub- and superscripts that stand at the cursor."""
    index = cursor.index
    while cursor.tokens[index].type in ("^", "_"):
        _, index = argument_at(cursor.tokens, index + 1)
    return cursor.tokens[index]


def _starts_operand(token: Token) -> bool:
    return token.type in ("letter", "number", "{", "OPEN") or (token.type == "command" and token.text not in ROMAN)


def _is_part_of(token: Token, after: Token, rest: list[Token]) -> bool:
    r"""Whether `Re` or `Im` is the part of a complex number: before an operand, not in `\mathrm{Re}\,\mathrm{Pr}`."""
    if after.type == "OPEN":
        return True
    operand = after.type != "number" and _starts_operand(after)
    return operand and bool(rest) and (token.text == r"\operatorname" or token.text == r"\mathrm")


def _exponent(cursor: Cursor) -> str:
    r"""The whole number that stands right behind an upright e, with its sign; empty if none does."""
    one, two = cursor.tokens[cursor.index : cursor.index + 2] if cursor.index + 1 < len(cursor.tokens) else (None, None)
    if one is not None and one.type == "number" and one.text.isdigit():
        return one.text[:EXPONENT_READ]
    if one is not None and two is not None and one.type in ("MINUS", "PLUS") and two.type == "number" and (
        two.text.isdigit() and not two.gap
    ):  # fmt: skip
        return ("-" if one.type == "MINUS" else "") + two.text[:EXPONENT_READ]
    return ""


def _roman_word(cursor: Cursor, token: Token, inner: list[Token], word: str, *, numeric: bool) -> Token:
    """A word whose scripts make it a symbol, or else a ROMAN token for `settle`.

    Args:
        word: the letters of it alone.
        numeric: a number or unit stands before it, so that a superscript is a power and no label.
    """
    after = cursor.tokens[cursor.index]
    if after.type == "_":
        name = named(cursor, Token("SYM", spell(inner), token.pos, token.gap))
        if numeric and name.type == "SYM" and name.text.replace("{", "").replace("}", "") in WITH_SUBSCRIPT:
            unit = unit_token(name.text.replace("{", "").replace("}", ""), token.pos)
            unit.sup = name.sup
            return unit
        return _indexed_call(cursor, name) if token.text == r"\operatorname" and len(word) > 1 else name
    if after.type == "PRIME" and word:
        return named(cursor, Token("SYM", word, token.pos, token.gap))
    mode = "text" if token.text in TEXT_MODE else "math"
    roman = Token("ROMAN", mode, token.pos, max(token.gap, inner[0].gap), raw=inner)
    if after.type == "^":
        exponent, behind = argument_at(cursor.tokens, cursor.index + 1)
        if numeric and spell(inner) == "A" and len(exponent) == 1 and exponent[0].text == r"\circ":
            cursor.index = behind
            return unit_token("angstrom", token.pos)
        label = None if numeric else label_of(exponent)
        if label is not None:
            cursor.index = behind
            return Token("SYM", f"{spell(inner)}^{{{label}}}", token.pos, token.gap)
        cursor.index += 1
        roman.sup = read_power(cursor)
    return roman


def _indexed_call(cursor: Cursor, name: Token) -> Token:
    r"""`\operatorname{Li}_2(x)`: an operator with its index takes the bracket, whatever variable stands in it."""
    opening = cursor.tokens[cursor.index]
    if name.type != "SYM" or opening.text != "(" or opening.gap > GAP_BLANK:
        return name
    bracket: list[Token] = []
    cursor.index += 1
    cursor.construct(cursor, opening, bracket)
    if name.sup is not None and bracket[0].sup is not None:
        raise Fault(opening.pos, "a second superscript", "brackets around the first power")
    power = bracket[0].sup or name.sup
    return Token("APPLY", name.text, name.pos, name.gap, args=bracket[0].args, sup=power)


def _switch(cursor: Cursor, token: Token, items: list[Token], ends: frozenset[str]) -> None:
    r"""`{\rm km}`: a font that holds to the end of its group."""
    tokens = cursor.tokens
    font = SWITCHES[token.text]
    if tokens[cursor.index].type == "{":  # \rm{km}, used as if it took an argument
        _command(cursor, Token("command", font, token.pos, token.gap), items)
        return
    if font == r"\mathit":
        return
    stops = ends | {"}", "END"}
    level, end = 0, cursor.index
    while tokens[end].type != "END" and (level or tokens[end].type not in stops):
        level += (tokens[end].type == "{") - (tokens[end].type == "}")
        end += 1
    if font == r"\mathrm":
        inner = tokens[cursor.index : end]
        cursor.index = end
        _place_roman(cursor, Token("command", font, token.pos, token.gap), inner, items)
    elif end == cursor.index + 1:
        _command(cursor, Token("command", font, token.pos, token.gap), items)
    else:
        while cursor.index < end and tokens[cursor.index].type == "letter":
            _command(cursor, Token("command", font, token.pos, token.gap), items)
