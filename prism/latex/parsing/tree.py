"""From flat tokens to a tree: brackets and arguments are nested, and every command gets its meaning.

One loop over siblings, and one dispatch for commands; `leaves` and `brackets` get both by the cursor.
What depends on neighbours (units, calls, differentials, operands) is left to `disambiguate`: a roman text stays a
ROMAN token with its flat tokens, a function has no argument yet unless braces or a power of e give it one.
"""

from __future__ import annotations

from prism import budget
from prism.algebra.expr import Expr
from prism.latex.parsing.brackets import (
    BRACKET_ENDS,
    read_bar,
    read_braces,
    read_bracket,
    read_environment,
    visible_delimiter,
)
from prism.latex.parsing.calls import apply_token
from prism.latex.parsing.commands import (
    REPEATING,
    Handler,
    begins_operand,
    read_leading_scripts,
    read_rare_command,
    read_repeating_digits,
)
from prism.latex.parsing.differentials import MATERIAL
from prism.latex.parsing.indices import raised_indices
from prism.latex.parsing.leaves import (
    FLUX,
    MAX_PRIMES,
    TOP_ENDS,
    Cursor,
    read_accented,
    read_argument,
    read_dotted,
    read_number,
    read_power,
    read_scripts,
    read_symbol,
    read_symbol_scripts,
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
    flat_argument,
    spell_name,
    superscript_label,
)
from prism.latex.parsing.tokens import (
    EXPONENT_READ,
    FUNCTIONS,
    GAP_BLANK,
    GAP_QUAD,
    GREEK,
    OPERATORS,
    ROMAN_FUNCTIONS,
    UNIT_FUNCTIONS,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    ends_operand,
    has_type,
    unit_token,
)
from prism.latex.parsing.units.siunitx import SIUNITX, read_siunitx
from prism.latex.words import UNITS, WITH_SUBSCRIPT

_LOOK_AHEAD = 15  # operations for each token up to the end of a font switch, for each switch
_ABBREVIATIONS = ("lmlm", "lmlmlm")  # capitals, each with its full stop, by the first letters of the types
_DIFFERENTIALS = frozenset((r"\dd", r"\dif", r"\diff", r"\differential"))
_FIELD_OPERATORS = {"div": (r"\cdot",), "rot": (r"\times",), "curl": (r"\times",), "grad": ()}
_COVARIANT = frozenset((r"D_\mu", r"D_\nu", r"D^{\mu}", r"D^{\nu}"))  # derivatives
_BRACKETING = frozenset(("floor", "ceil"))
_DOTS = Expr("dots")
_SHOW_FLUXES = frozenset(("T", "A"))  # letters
_ITALIC = frozenset((r"\textit", r"\mathit"))  # `\mathit{sin}` is a product or a name, no function


def nest_tokens(tokens: list[Token]) -> list[Token]:
    """Nest the flat tokens of a formula into sibling items: brackets, scripts and arguments become children of items.

    Errors:
        Fault: an unpaired bracket, an unknown command, a script without a base.
    """
    seen = frozenset(token.text for token in tokens if token.type == "letter" and token.text in GREEK)
    indices = raised_indices(tokens) if has_type(tokens, "^") else frozenset()
    has_fluxes = _has_fluxes(tokens)
    cursor = Cursor(tokens, read_siblings, _read_construct, seen=seen, indices=indices, has_fluxes=has_fluxes)
    items = read_siblings(cursor, TOP_ENDS)
    while tokens[cursor.index].text == ")" and _closes_bracket_of_text(items):
        cursor.index += 1
        items += read_siblings(cursor, TOP_ENDS)
    if (last := tokens[cursor.index]).type != "END":
        raise Fault(last.pos, describe_token(last), "the end of the formula")
    return items


def _has_fluxes(tokens: list[Token]) -> bool:
    """Return True if all `q` have two primes and more, and a temperature or an area shows that they are fluxes of heat.

    Errors:
        Ambiguity: nothing shows what they are.
    """
    places = [at for at, token in enumerate(tokens) if token.type == "letter" and token.text == FLUX]
    if not places or not all([part.type for part in tokens[at + 1 : at + 3]] == ["PRIME"] * 2 for at in places):
        return False
    if any(token.text in _SHOW_FLUXES for token in tokens) or all(tokens[at + 3].type == "PRIME" for at in places):
        return True
    raise Ambiguity(tokens[places[0]].pos, "primes on `q`: a flux of heat, or a derivative?", r"\ddot q", "q_{flux}")


def _closes_bracket_of_text(items: list[Token]) -> bool:
    r"""Return True if an opening bracket in a text among the items is still open: `\text{(multiplying by } 36)`."""
    in_texts = [token.type for item in items if item.type == "ROMAN" for token in item.raw]
    return in_texts.count("OPEN") > in_texts.count("CLOSE")


def read_siblings(cursor: Cursor, ends: frozenset[str]) -> list[Token]:
    r"""Read items at one nesting level up to a token whose type is in `ends`, which is not consumed.

    Raises Fault for an empty part of `\choose` or `\atop`.
    """
    cursor.descend()
    items: list[Token] = []
    tokens = cursor.tokens
    while True:
        token = tokens[cursor.index]
        kind = token.type
        if kind == "letter":
            cursor.index += 1
            symbol = read_symbol(cursor, token)
            if symbol.text in _COVARIANT and symbol.sup is None and begins_operand(tokens[cursor.index]):
                symbol = Token("NABLA", symbol.text, symbol.pos, symbol.gap)
            items.append(symbol)
        elif kind in OPERATORS and kind not in ends:
            cursor.index += 1
            items.append(token)
        elif kind == "number":
            items.append(read_number(cursor, items))
        elif kind in ends and not (kind in ("BAR", "NORM") and not (items and ends_operand(items[-1]))):
            break
        elif kind == "AMP":
            cursor.index += 1
            if cursor.depth == 1 and _separates_columns(tokens, cursor.index - 1, items):
                items.append(Token("COMMA", ",", token.pos))
        elif kind == "command" and token.text in SWITCHES:
            cursor.index += 1
            _read_font_switch(cursor, token, items, ends)
        elif kind == "OVER":
            cursor.index += 1
            below = read_siblings(cursor, ends)
            if token.text != r"\over" and not (items and below):  # of a fraction the grammar says so
                raise Fault(token.pos, "an empty part", "a number or a symbol")
            kind, text = ("FRAC", r"\over") if token.text == r"\over" else ("LISTED", "binomial")
            items = [Token(kind, text, token.pos, args=[items, below])]
        else:
            _read_rare_token(cursor, token, items)
    cursor.depth -= 1
    return items


def _separates_columns(tokens: list[Token], index: int, items: list[Token]) -> bool:
    """Return True if the `&` at an index separates two equations in a row, not the sides of one; every second `&` does.

    Args:
        items: read so far at this level.
    """
    if not items or items[-1].type in OPERATORS:
        return False
    marks, related = 0, False
    for token in reversed(tokens[:index]):
        if token.type == "ROW":
            break
        marks += token.type == "AMP"
        related = related or token.type == "REL"
    return marks % 2 == 1 and related


def _read_rare_token(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read the item at a token that is no letter, number or plain operator and append it, or raise a Fault."""
    cursor.index += 1
    reader = _RARE_TOKENS.get(token.type)
    if reader is None:
        raise Fault(token.pos, describe_token(token), "a number, a symbol or an operator")
    reader(cursor, token, items)


def _read_group(cursor: Cursor, _: Token, items: list[Token]) -> None:
    """Read braces that show nothing."""
    cursor.index -= 1
    read_braces(cursor, items)


def _read_opening(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read a bracket; of `\left. \right|` only the bar behind it."""
    bar = cursor.tokens[cursor.index]
    if token.text == "." and bar.type == "CLOSE":
        cursor.index += 1
        read_bar(cursor, Token("BAR", bar.text, bar.pos), items)
    else:
        items.append(read_bracket(cursor, token))


def _read_sign_of_calculus(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read the sign of an integral, a sum, a limit or a derivative with its scripts; a nabla may have a name.

    Raises Fault for two primes on a nabla.
    """
    kind = token.type
    if kind == "NABLA" and cursor.tokens[cursor.index].type in ("_", "PRIME"):
        named_nabla = read_symbol_scripts(cursor, Token("NABLA", "", token.pos, token.gap))
        if named_nabla.type != "NABLA":
            raise Fault(token.pos, "two primes on a nabla")
        items.append(named_nabla)
        return
    sign = read_scripts(cursor, Token(kind, "" if kind == "NABLA" else token.text, token.pos, token.gap))
    while kind == "SERIES" and cursor.tokens[cursor.index].type == "PRIME":  # a sum that leaves something out
        cursor.index += 1
        sign.text = token.text + "'"
    items.append(sign if sign.sub is not None or sign.sup is not None else read_scripts(cursor, sign))


def _read_percent(_: Cursor, token: Token, items: list[Token]) -> None:
    """Read the sign of a percentage; raise a Fault if no number stands before it."""
    if not items or items[-1].type not in ("NUM", "PAREN", "FRAC"):
        raise Fault(token.pos, "a percent sign without a number before it")
    items.append(unit_token("‰" if token.text == "‰" else "%", token.pos))


def _read_mark(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read a full stop: the point of `2.` or `.\overline{3}`, or the end of the sentence; raise a Fault elsewhere."""
    is_stop = token.text == "."
    if is_stop and items and items[-1].type == "NUM" and not token.gap:
        _refuse_repeating_decimal(cursor)
    elif is_stop and read_repeating_digits(cursor, [point := Token("NUM", "0.", token.pos, token.gap)]):
        items.append(point)
    elif not (is_stop and _ends_level(cursor.tokens[cursor.index], cursor.depth)):
        raise Fault(token.pos, describe_token(token), "a number, a symbol or an operator")


def _refuse_closing(_: Cursor, token: Token, items: list[Token]) -> None:
    """Raise a Fault for a bracket that nothing opens."""
    del items
    raise Fault(token.pos, f"the closing bracket {visible_delimiter(token.text)} without its opening one")


def _read_foreign_letters(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read letters that formulas have not as a text; raise a Fault for another sign."""
    if not token.text.isalpha():
        raise Fault(token.pos, f"the character {token.text!r}, which is not read")
    start = cursor.index - 1
    while cursor.tokens[cursor.index].type == "unknown" and cursor.tokens[cursor.index].text.isalpha():
        cursor.index += 1
    items.append(Token("ROMAN", "text", token.pos, token.gap, raw=cursor.tokens[start : cursor.index]))


def _refuse_repeating_decimal(cursor: Cursor) -> None:
    """Raise an Ambiguity for `0.(3)`, where the bracket holds repeating digits or a factor."""
    tokens, at = cursor.tokens, cursor.index
    opening = tokens[at]
    if opening.text != "(" or opening.gap:
        return
    if tokens[at + 1].type == "number" and tokens[at + 2].text == ")":
        raise Ambiguity(opening.pos, "a number in brackets behind a decimal point: digits that repeat, or a factor?",
                        r"\overline", r"\cdot")  # fmt: skip


def _ends_level(token: Token, depth: int) -> bool:
    """Return True if a flat token closes a group, row or formula, so that a full stop before it ends the sentence."""
    return (
        token.type in ("}", "FINISH", "ROW", "END")
        or (token.gap == GAP_QUAD and depth == 1)
        or (token.type == "CLOSE" and token.text == ".")
    )


def _read_construct(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read the command or bracket that `token` begins, with the cursor behind it, and append it to the items."""
    if token.type == "OPEN":
        items.append(read_bracket(cursor, token))
    else:
        _read_command(cursor, token, items)


def _read_detached_script(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Read a script apart from its base: into the last item, or into the symbol that follows it (`{}^{14}C`)."""
    if not items or not ends_operand(items[-1]):
        cursor.index -= 1
        read_leading_scripts(cursor, token, items)
        return
    if token.type == "PRIME":
        _read_primes_of_bracket(cursor, token, items)
        return
    cursor.index -= 1
    items[-1] = read_scripts(cursor, items[-1])


def _read_primes_of_bracket(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Replace the last item, a bracket, by its derivative for primes behind it: `(fg)'`, with `?` for the variable.

    Raises Fault on other items.
    """
    body = items[-1]
    count = 1
    while cursor.tokens[cursor.index].type == "PRIME":
        cursor.index += 1
        count += 1
    if body.type != "PAREN" or body.sup is not None or count > MAX_PRIMES:
        raise Fault(token.pos, "a prime on something that is no symbol")
    free = Token("SYM", "?", token.pos)
    items[-1] = read_scripts(cursor, Token("DERIVATIVE", str(count), body.pos, body.gap, args=[[body], [free]]))


# Commands ---------------------------------------------------------------------------------------------------


def _read_command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read a command with its arguments, the cursor behind its name, and append it to the items.

    Raises Fault for an unknown command, and Ambiguity for a fraction right behind a whole number.
    """
    text = token.text
    name = text[1:]
    if name in FUNCTIONS:
        _append_function(cursor, token, FUNCTIONS[name], items, shown=name in _BRACKETING)
    elif text in FRACTIONS:
        args = [read_argument(cursor, splits=True), read_argument(cursor)]
        if _is_mixed_number(token, args, items):
            if cursor.tokens[cursor.index].type != "END" or not _stands_alone(items):
                raise Ambiguity(
                    token.pos, "a fraction behind a whole number: added to it, or a factor?", "a sign between them"
                )
            whole, plus = items.pop(), Token("PLUS", "+", token.pos)
            fraction = Token("FRAC", text, token.pos, token.gap, args=args)
            items.append(Token("PAREN", "(", whole.pos, whole.gap, args=[[whole, plus, fraction]]))
            return
        if _letters_of(args[0][:1]) == "D" and _letters_of(args[1]) == "Dt":
            signs = Token("D", MATERIAL, token.pos, sup=args[0][0].sup), Token("D", "d", token.pos)
            args = [[signs[0], *args[0][1:]], [signs[1], Token("SYM", "t", token.pos, sup=args[1][-1].sup)]]
        items.append(read_scripts(cursor, Token("FRAC", text, token.pos, token.gap, args=args)))
    elif text == r"\sqrt":
        items.append(_read_root(cursor, token))
    elif text in ROMAN and text != r"\text" and _holds_equality(cursor):
        read_braces(cursor, items)  # a whole formula in upright type
    elif text in ROMAN or (text in BOLD and _is_quantity_in_text(flat_argument(cursor.tokens, cursor.index)[0])):
        _read_roman_text(cursor, token, items)
    elif text in REPEATING and read_repeating_digits(cursor, items):
        pass
    elif text in ACCENTS and (ahead := cursor.ahead.pop(cursor.index, None)):
        items.extend(ahead[0])
        cursor.index = ahead[1]
    elif text in ACCENTS:
        made = read_accented(cursor, token)
        items.extend(made.args[0] if made.type == "SPLICE" else [made])
    elif text in DOTS:
        items.append(read_dotted(cursor, token))
    elif text in UNWRAPPED:
        read_braces(cursor, items)
    elif text in SIUNITX:
        read_siunitx(cursor, token, items)
    elif text in _DIFFERENTIALS:
        items.append(read_scripts(cursor, Token("D", "d", token.pos, token.gap)))
    else:
        read_rare_command(cursor, token, items)


def _letters_of(items: list[Token]) -> str:
    """Return the letters of symbols and roman texts, whatever their font."""
    return "".join(spell_name(item.raw) if item.type == "ROMAN" else item.text for item in items)


def _holds_equality(cursor: Cursor) -> bool:
    r"""Return True if the argument in braces at the cursor holds an equality, `\mathrm{v = 3}`."""
    tokens, index = cursor.tokens, cursor.index
    if tokens[index].type != "{" or tokens[index + 1].type == "END":
        return False
    inside, _ = flat_argument(tokens, index)
    budget.charge(len(inside) * _LOOK_AHEAD)
    return any(part.text in ("=", r"\approx") for part in inside)


def _stands_alone(items: list[Token]) -> bool:
    """Return True if the last item, but for a sign, begins the formula or its last member."""
    before = items[-2:-1] if items[-2:-1] == [] or items[-2].type not in ("MINUS", "PLUS") else items[-3:-2]
    return not before or before[0].type == "REL"


def _is_mixed_number(token: Token, args: list[list[Token]], items: list[Token]) -> bool:
    r"""Return True for `2\frac34`: two and three quarters where it stands alone, and elsewhere perhaps a product.

    Args:
        args: numerator and denominator of the fraction.
        items: before the fraction.
    """
    if not items or len(args[0]) != 1 or len(args[1]) != 1 or token.gap > GAP_BLANK:
        return False
    parts = (args[0][0], args[1][0], items[-1])
    are_whole = all(part.type == "NUM" and part.text.isdigit() and part.sup is None for part in parts)
    return are_whole and int(parts[0].text) < int(parts[1].text)


def _append_function(cursor: Cursor, token: Token, name: str, items: list[Token], *, shown: bool = False) -> None:
    r"""Append a function with its scripts, and the braces of `\sin{2x}` as a bracket item behind it.

    Raises Fault for a subscript on exp.

    Args:
        name: canonical name of the function.
        shown: the command prints brackets in place of the braces, as `\floor{x}`.
    """
    item = read_scripts(cursor, Token("FUNCTION", name, token.pos, token.gap))
    if name == "exp" and item.sub is not None:
        raise Fault(token.pos, "a subscript on a function")
    items.append(item)
    braces = cursor.tokens[cursor.index]
    if braces.type == "{":
        bracket = Token("PAREN", "(" if shown else "{", braces.pos, args=[read_argument(cursor)])
        items.append(read_scripts(cursor, bracket))


def _read_root(cursor: Cursor, token: Token) -> Token:
    r"""Read `\sqrt{x}` or `\sqrt[3]{x}`; the power in `\sqrt(x)^2` is one of the root.

    Raises Fault where the degree is not closed.
    """
    after = cursor.tokens[cursor.index]
    if after.type == "OPEN" and after.text == "[" and not token.raw:
        cursor.index += 1
        order = read_siblings(cursor, BRACKET_ENDS)
        if cursor.tokens[cursor.index].text != "]":
            raise Fault(cursor.tokens[cursor.index].pos, describe_token(cursor.tokens[cursor.index]), "the bracket ]")
        cursor.index += 1
        return read_scripts(cursor, Token("ROOT", "", token.pos, token.gap, args=[order, read_argument(cursor)]))
    body = read_argument(cursor)
    bare = after.type == "OPEN"  # in braces, the power is a part of what stands under the root
    if bare and len(body) == 1 and body[0].type == "PAREN" and body[0].text == "(" and body[0].sup is not None:
        bracket = body[0]
        power, bracket.sup = bracket.sup, None
        return Token("SQRT", "", token.pos, token.gap, args=[body], sup=power)
    return read_scripts(cursor, Token("SQRT", "", token.pos, token.gap, args=[body]))


# Roman text -------------------------------------------------------------------------------------------------


def _read_roman_text(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read the argument of a text or roman command and append its item; drops the dollars of `\text{m/s$^2$}`.

    Raises Fault for a principal value.
    """
    inner, cursor.index = flat_argument(cursor.tokens, cursor.index)
    inner = [part for part in inner if part.text not in ("$", r"\(", r"\)", r"\checkmark")]
    if "".join(part.type[:1] for part in inner) in _ABBREVIATIONS and all(part.text.isupper() for part in inner[::2]):
        inner = inner[::2]  # `\text{H.P.}`
    if "".join(part.text for part in inner).lower() == "p.v.":
        raise Fault(token.pos, "a principal value, which is not read")
    if _is_quantity_in_text(inner):
        items.extend(cursor.read_apart(inner[:1], token.pos, depth=cursor.depth))
        items[-1].gap = token.gap
        inner = inner[1:]
    _append_roman_text(cursor, token, inner, items)


def _is_quantity_in_text(inner: list[Token]) -> bool:
    r"""Return True if a text is a number and units alone, as in `\text{5 m/s}`."""
    if len(inner) < 2 or inner[0].type != "number" or not inner[1].gap:
        return False
    words = [""]
    for part in inner[1:]:
        if part.type == "letter" and not part.gap:
            words[-1] += part.text
        else:
            words.append(part.text if part.type == "letter" else "")
    return any(words) and all(word in UNITS for word in words if word)


def _begins_no_operand(cursor: Cursor) -> bool:
    r"""Return True unless a letter or command comes, bare or in brackets: `2\,\mathrm{d}` is two days."""
    after = cursor.tokens[cursor.index]
    if after.type == "OPEN":
        after = cursor.tokens[cursor.index + 1]
    return after.type not in ("letter", "command")


def _append_roman_text(cursor: Cursor, token: Token, inner: list[Token], items: list[Token]) -> None:
    r"""Append a roman text: a function, a field operator (`\mathrm{div}`), a differential, e or i; else a ROMAN item.

    An `e` behind a number and before digits becomes the power of ten of that number, and a text of separators alone is
    dropped. Raises Fault for another sign alone.

    Args:
        token: the font command.
        inner: tokens of its argument.
        items: what the text is appended to.
    """
    letters = "".join(part.text for part in inner if part.type == "letter")
    word = letters if all(part.type == "letter" for part in inner) else ""
    after = cursor.tokens[cursor.index]
    numeric = bool(items) and items[-1].type in ("NUM", "UNIT", "QUANTITY", "ROMAN")
    # No differential has a power: `\mathrm{dm}^3` is a decimetre.
    labelled = after.type in ("_", "PRIME") or (word == "dm" and after.type == "^")
    mantissa = bool(items) and items[-1].type == "NUM" and "e" not in items[-1].text
    operator = word if token.text not in _ITALIC else ""
    if operator in FUNCTIONS and _is_function_here(token, word, cursor, numeric=numeric):
        _append_function(cursor, Token("command", "\\" + word, token.pos, token.gap), FUNCTIONS[word], items)
    elif operator in _FIELD_OPERATORS and after.type not in ("^", "_", "REL", "END"):
        items.append(Token("NABLA", "", token.pos, token.gap))
        items.extend(Token("TIMES", sign, token.pos) for sign in _FIELD_OPERATORS[word])
    elif word in ("Re", "Im") and _is_complex_part(token, after, cursor.tokens[cursor.index + 1 :]):
        _append_function(cursor, Token("command", "\\" + word, token.pos, token.gap), word, items)
    elif word in ("i", "j"):  # behind a number too: no unit has these names
        items.append(read_symbol_scripts(cursor, Token("SYM", word, token.pos, token.gap)))
    elif word == "d" and not (numeric and _begins_no_operand(cursor)):
        items.append(read_scripts(cursor, Token("D", "d", token.pos, token.gap)))
    elif word == "e" and after.type == "^":
        cursor.index += 1
        items.append(Token("FUNCTION", "exp", token.pos, token.gap, args=[read_power(cursor)]))
    elif word in ("e", "E") and mantissa and (exponent := _exponent_behind_e(cursor)):
        items[-1].text += f"e{exponent}"  # 3\mathrm{e}8
        cursor.index += 1 if after.type == "number" else 2
    elif len(word) == len(inner) == 2 and word[0] == "d" and not numeric and not labelled:
        items.append(Token("D", "d", token.pos, token.gap))
        items.append(read_symbol_scripts(cursor, Token("SYM", word[1], inner[1].pos)))
    elif all(part.type in ("mark", "COMMA", "COLON") for part in inner):
        if inner and inner[0].text not in ".,:;":
            raise Fault(token.pos, f"`{inner[0].text}` inside {token.text}")
    else:
        items.append(_read_roman_word(cursor, token, inner, letters, numeric=numeric))


def _is_function_here(token: Token, word: str, cursor: Cursor, *, numeric: bool) -> bool:
    """Return True if an upright word with the name of a function is one here, and no unit or symbol.

    Args:
        token: the font command.
        numeric: a number or unit stands before the word.
    """
    after = cursor.tokens[cursor.index]
    operator = token.text == r"\operatorname"
    if word in ROMAN_FUNCTIONS:
        return word not in UNIT_FUNCTIONS or _starts_operand(_token_behind_scripts(cursor))
    if numeric and word in UNIT_FUNCTIONS and not (operator and after.type == "OPEN"):
        return False
    if word in ("Re", "Im", "Pr"):  # also numbers of a flow
        return False
    operand = _token_behind_scripts(cursor)
    if after.text in ("(", "[", r"\{") or operand.type == "BEGIN":
        return True
    return (operator or word == "tr") and _starts_operand(operand)


def _token_behind_scripts(cursor: Cursor) -> Token:
    """Return the token behind the sub- and superscripts at the cursor."""
    index = cursor.index
    while cursor.tokens[index].type in ("^", "_"):
        _, index = flat_argument(cursor.tokens, index + 1)
    return cursor.tokens[index]


def _starts_operand(token: Token) -> bool:
    """Return True if a flat token begins an operand other than a roman text."""
    return token.type in ("letter", "number", "{", "OPEN") or (token.type == "command" and token.text not in ROMAN)


def _is_complex_part(token: Token, after: Token, rest: list[Token]) -> bool:
    r"""Return True if upright `Re` or `Im` takes a part of a complex number: an operand follows, not `\mathrm{Pr}`.

    Args:
        token: the font command.
        after: the token behind the word.
        rest: the tokens behind `after`.
    """
    if after.type == "OPEN":
        return True
    operand = after.type != "number" and _starts_operand(after)
    return operand and bool(rest) and (token.text == r"\operatorname" or token.text == r"\mathrm")


def _exponent_behind_e(cursor: Cursor) -> str:
    r"""Return the whole number with its sign right behind an upright e (`3\mathrm{e}8`) as text; empty for none."""
    one, two = cursor.tokens[cursor.index : cursor.index + 2] if cursor.index + 1 < len(cursor.tokens) else (None, None)
    if one is not None and one.type == "number" and one.text.isdigit():
        return one.text[:EXPONENT_READ]
    if one is not None and two is not None and one.type in ("MINUS", "PLUS") and two.type == "number" and (
        two.text.isdigit() and not two.gap
    ):  # fmt: skip
        return ("-" if one.type == "MINUS" else "") + two.text[:EXPONENT_READ]
    return ""


def _read_roman_word(cursor: Cursor, token: Token, inner: list[Token], word: str, *, numeric: bool) -> Token:
    """Read an upright word: a symbol if its scripts make it one, else a ROMAN item for `roman_text`.

    Args:
        token: the font command.
        inner: tokens of its argument.
        word: the letters among them.
        numeric: a number or unit stands before the word, so that a superscript is a power and no part of a name.
    """
    after = cursor.tokens[cursor.index]
    if after.type == "_":
        name = read_symbol_scripts(cursor, Token("SYM", spell_name(inner), token.pos, token.gap))
        if numeric and name.type == "SYM" and name.text.replace("{", "").replace("}", "") in WITH_SUBSCRIPT:
            unit = unit_token(name.text.replace("{", "").replace("}", ""), token.pos)
            unit.sup = name.sup
            return unit
        return _read_indexed_call(cursor, name) if token.text == r"\operatorname" and len(word) > 1 else name
    if after.type == "PRIME" and word:
        primes = "'" * sum(part.type == "PRIME" for part in inner)
        return read_symbol_scripts(cursor, Token("SYM", word + primes, token.pos, token.gap))
    mode = "text" if token.text in TEXT_MODE else "math"
    roman = Token("ROMAN", mode, token.pos, max(token.gap, inner[0].gap), raw=inner)
    if after.type == "^":
        exponent, behind = flat_argument(cursor.tokens, cursor.index + 1)
        if numeric and spell_name(inner) == "A" and len(exponent) == 1 and exponent[0].text == r"\circ":
            cursor.index = behind
            return unit_token("angstrom", token.pos)
        label = None if numeric else superscript_label(exponent)
        if label is not None:
            cursor.index = behind
            return Token("SYM", f"{spell_name(inner)}^{{{label}}}", token.pos, token.gap)
        cursor.index += 1
        roman.sup = read_power(cursor)
    return roman


def _read_indexed_call(cursor: Cursor, name: Token) -> Token:
    r"""Return the call of an upright name and the bracket behind, `\operatorname{Li}_2(x)`; without one the name."""
    opening = cursor.tokens[cursor.index]
    if name.type != "SYM" or opening.text != "(" or opening.gap > GAP_BLANK:
        return name
    bracket: list[Token] = []
    cursor.index += 1
    cursor.construct(cursor, opening, bracket)
    return apply_token(name, bracket[0])


def _read_font_switch(cursor: Cursor, token: Token, items: list[Token], ends: frozenset[str]) -> None:
    r"""Read what a font switch such as the `\rm` of `{\rm km}` applies to, up to the end of its group.

    Args:
        ends: token types that end the siblings read now.
    """
    tokens = cursor.tokens
    font = SWITCHES[token.text]
    if tokens[cursor.index].type == "{":  # \rm{km}, used as if it took an argument
        _read_command(cursor, Token("command", font, token.pos, token.gap), items)
        return
    if font == r"\mathit":
        return
    stops = ends | {"}", "END"}
    level, end = 0, cursor.index
    while tokens[end].type != "END" and (level or tokens[end].type not in stops):
        level += (tokens[end].type == "{") - (tokens[end].type == "}")
        end += 1
    budget.charge((end - cursor.index) * _LOOK_AHEAD)
    inside = tokens[cursor.index : end]
    if font == r"\mathbf" and has_type(inside, "REL") and not any(part.text in SWITCHES for part in inside):
        return  # a whole formula in bold type
    if font == r"\mathrm":
        inner = tokens[cursor.index : end]
        cursor.index = end
        _append_roman_text(cursor, Token("command", font, token.pos, token.gap), inner, items)
    elif end == cursor.index + 1:
        _read_command(cursor, Token("command", font, token.pos, token.gap), items)
    else:
        while cursor.index < end and tokens[cursor.index].type == "letter":
            _read_command(cursor, Token("command", font, token.pos, token.gap), items)


_RARE_TOKENS: dict[str, Handler] = {
    "command": _read_command, "{": _read_group, "OPEN": _read_opening, "CLOSE": _refuse_closing, "mark": _read_mark,
    "PERCENT": _read_percent, "unknown": _read_foreign_letters,
    "BEGIN": lambda cursor, token, items: items.append(read_environment(cursor, token)),
    "BANG": lambda _, token, items: items.append(token),
    "DOTS": lambda _, token, items: items.append(Token("INFINITY", "dots", token.pos, token.gap, expr=_DOTS)),
    "INFINITY": lambda cursor, token, items: items.append(
        read_scripts(cursor, Token("INFINITY", "", token.pos, token.gap, expr=Expr("infinity")))
    ),
    **dict.fromkeys(("BAR", "NORM"), read_bar),
    **dict.fromkeys(("^", "_", "PRIME"), _read_detached_script),
    **dict.fromkeys(("INTEGRAL", "SERIES", "LIMIT", "NABLA", "PARTIAL_SIGN"), _read_sign_of_calculus),
}  # fmt: skip
"""Readers of the tokens that few formulas hold, by type; each is called with the cursor behind its token."""
