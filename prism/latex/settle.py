r"""What position decides: from the tree to tokens that leave the grammar nothing to guess.

`settled` is the pipeline. The formula as a whole is looked at once: what trails it is dropped, several formulas in
one are refused, and whether d is a differential is asked. Then each bracket is settled from the outside in, always
by the same passes, left to right: calls, derivatives, units, extents, the slash. What comes out are constructs that
say where they end, for `grammar/latex.lark`.

Where the text allows two readings that physicists really use, a pass refuses it and asks for brackets: a formula
that is not read costs a credit, a formula that is read wrongly can give one.
"""

from __future__ import annotations

from prism.latex.calls import with_calls
from prism.latex.differentials import d_is_differential, with_derivatives
from prism.latex.extents import BIG, State, with_extents, with_slashes
from prism.latex.names import spell
from prism.latex.romans import PROSE, shown, with_units, words_of
from prism.latex.tokens import (
    FUNCTIONS,
    GAP_QUAD,
    MAX_DEPTH,
    OPERATORS,
    Fault,
    Token,
    describe,
    scan,
)
from prism.latex.tree import read

MAX_CHAIN = 24  # slashes, or products of vectors, in one bracket: each nests the ones before it
_MAX_SETTLED = 2 * MAX_DEPTH  # brackets and the functions and integrals around them, which count in the same depth

# Every roman text is a command, every degree sign too, and minutes of arc are primes.
_MAY_BE_UNIT = frozenset(("command", "PRIME", "PERCENT"))
_CONTINUING = frozenset(("REL", "PLUS", "MINUS", "TIMES", "PM", "SLASH"))
_LEADING = frozenset(("=", r"\approx", r"\equiv", ":=", r"\simeq", r"\sim"))
_CONSTRUCTS = {
    "FRAC": "FRAC", "SQRT": "SQRT", "ROOT": "ROOT", "DERIVATIVE": "DERIVATIVE", "PARTIAL": "PARTIAL",
    "DIFFERENTIAL": "DIFFERENTIAL", "INTEGRAL_": "INTEGRAL", "CONTOUR": "CONTOUR", "SERIES_": "SERIES",
    "LIMIT_": "LIMIT", "NABLA_": "NABLA", "AT": "AT", "BRACKET": "BRACKET",
}  # fmt: skip
_SETTLED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "LIMIT_", "NABLA_"))  # their operand was cut from its siblings
_NESTING = frozenset(("SLASH", "PM", "TIMES"))
_PLAIN = frozenset(("NUM", "SYM", "CONST", "UNIT", "INFINITY", "BANG")) | OPERATORS - {"IMPLIES", "ROW"}
_BEFORE_BRACED = frozenset(("PLUS", "REL", "COMMA", "FUNCTION"))
_BEHIND_BRACED = frozenset(("PLUS", "MINUS", "PM", "REL", "COMMA"))
_SHORT = frozenset(("NUM", "SYM", "CONST"))
_OPEN_ENDED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "PARTIAL", "AT", "BRACKET"))  # one group more or less
_INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "sinh": "asinh", "cosh": "acosh", "tanh": "atanh"}
_RECIPROCALS = {
    "cot": ("cos", "sin"),
    "sec": ("", "cos"),
    "csc": ("", "sin"),
    "coth": ("cosh", "sinh"),
    "sech": ("", "cosh"),
    "csch": ("", "sinh"),
}
_NAMED_LOGARITHMS = {("NUM", "10"): "log10", ("SYM", "e"): "ln"}
_KEPT_FUNCTIONS = frozenset(FUNCTIONS.values()) - frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log10".split()
)


def settled(latex: str, words: frozenset[str] = frozenset()) -> list[Token]:
    """Tokens for the grammar: ambiguity is gone, extents are marked.

    Args:
        latex: one formula.
        words: names of several letters that are one symbol, as the `Bi` of a problem that speaks of Bi.

    Errors:
        Fault: what cannot be read, or can be read in two ways.
    """
    raw = scan(latex)
    if words:
        raw = _joined(raw, words)
    state = State()
    for token in raw:
        if (token.text == "d" and token.type == "letter") or token.text in (r"\partial", r"\dd", r"\diff"):
            state.has_d = True
        if token.type in _MAY_BE_UNIT or token.text == r"\Omega":
            state.has_units = True
    items = read(raw)
    if not items:
        raise Fault(0, "an empty formula", "a number or a symbol")
    items = _whole(items)
    if state.has_d:
        state.d_is_differential = d_is_differential(items)
    out: list[Token] = []
    _emit(state, items, out, fresh=True)
    return out


def _joined(tokens: list[Token], words: frozenset[str]) -> list[Token]:
    """Letters side by side that spell a word, as one letter; a longer run of letters is left alone."""
    out: list[Token] = []
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and _is_latin(tokens[end - 1]) and _is_latin(tokens[end]) and not tokens[end].gap:
            end += 1
        word = "".join(token.text for token in tokens[start:end])
        first = tokens[start]
        out += [Token("letter", word, first.pos, first.gap)] if word in words else tokens[start:end]
        start = end
    return out


def _is_latin(token: Token) -> bool:
    return token.type == "letter" and len(token.text) == 1 and token.text.isascii()


# The formula as a whole -------------------------------------------------------------------------------------


def _whole(items: list[Token]) -> list[Token]:
    """Drop what leads or trails the formula, and refuse several formulas in one."""
    while items and (items[0].type in ("IMPLIES", "ROW") or (items[0].type == "REL" and items[0].text in _LEADING)):
        items = items[1:]
    items = _without_tail(items)
    if not items:
        raise Fault(0, "an empty formula", "a number or a symbol")
    out: list[Token] = []
    related = False
    for index, item in enumerate(items):
        if item.type == "COMMA":
            raise _several(item)
        if item.type == "IMPLIES":
            raise _several(item, f" joined by {item.text}")
        if item.type == "ROW":
            following = items[index + 1] if index + 1 < len(items) else None
            goes_on = following is not None and following.type in _CONTINUING
            if not goes_on and (not out or out[-1].type not in OPERATORS):
                raise _several(item)
            continue
        if item.type == "REL":
            related = True
        elif item.gap == GAP_QUAD and related and out and out[-1].type not in OPERATORS and item.type not in OPERATORS:
            if item.type == "ROMAN":
                raise Fault(item.pos, f"prose inside the formula: {shown(item)}", "mathematics only")
            raise _several(item)
        out.append(item)
    return out


def _several(item: Token, how: str = "") -> Fault:
    return Fault(item.pos, f"several formulas{how}; split at position {item.pos}", "one formula")


def _without_tail(items: list[Token]) -> list[Token]:
    """Without a remark or an equation number that stands behind the end of the formula."""
    end = len(items)
    while end and items[end - 1].type in ("COMMA", "ROW"):
        end -= 1
    if end > 1 and (last := items[end - 1]).type == "ROMAN" and last.text == "text" and last.sup is None:
        words = words_of(last)
        remark = words and (words[0].lower() in PROSE or last.raw[0].text == "(")
        before = items[end - 2]
        unit_like = before.type in ("NUM", "ROMAN", "UNIT", "QUANTITY") and len(words) == 1 and last.raw[0].text != "("
        if remark and not unit_like and (last.gap or before.type == "COMMA"):
            return _without_tail(items[: end - 1])
    if end > 1 and (last := items[end - 1]).type == "PAREN" and last.gap == GAP_QUAD and last.text == "(":
        inside = last.args[0]
        if len(inside) == 1 and inside[0].type == "NUM" and inside[0].sup is None:
            return _without_tail(items[: end - 1])
    return items[:end]


# One bracket ------------------------------------------------------------------------------------------------


def _emit(state: State, items: list[Token], out: list[Token], *, fresh: bool) -> None:
    """Settle one list of siblings and append its tokens in the order of the grammar.

    Args:
        fresh: the list comes from the reader; an operand that an outer pass has cut out is settled already.
    """
    state.depth += 1
    if state.depth > _MAX_SETTLED:
        raise Fault(items[0].pos if items else 0, f"brackets nested more than {MAX_DEPTH} deep")
    kinds = {item.type for item in items}
    if fresh:
        if "PAREN" in kinds:
            items = with_calls(items)
        if state.has_d or "D" in kinds:
            items = with_derivatives(items, everywhere=state.d_is_differential)
            kinds = {item.type for item in items}
        if state.has_units:
            items = with_units(items)
    if "FUNCTION" in kinds or kinds & BIG:
        items = with_extents(state, items)
    if kinds & _NESTING:
        _limit_chains(items)
    if "SLASH" in kinds:
        items = with_slashes(items)
    for index, item in enumerate(items):
        if item.type == "BRACED":
            _check_braced(items, index)
        _emit_one(state, item, out)
    state.depth -= 1


def _limit_chains(items: list[Token]) -> None:
    """Quotients, doubled signs and vector products nest once a sign: `a/a/a/...` would be as deep as it is long."""
    for kind in ("SLASH", "PM"):
        if sum(item.type == kind for item in items) > MAX_CHAIN:
            raise Fault(items[0].pos, f"more than {MAX_CHAIN} of `/` or of `\\pm` in one bracket")
    signs = sum(item.type == "TIMES" for item in items)
    if signs > MAX_CHAIN and any(item.text.startswith((r"\vec", r"\hat")) for item in items if item.type == "SYM"):
        raise Fault(items[0].pos, f"more than {MAX_CHAIN} products of vectors in one bracket")


def _check_braced(items: list[Token], index: int) -> None:
    """A sum in bare braces is shown without brackets, so beside a factor it has two readings."""
    before = items[index - 1].type if index else "PLUS"
    after = items[index + 1].type if index + 1 < len(items) else "PLUS"
    if before not in _BEFORE_BRACED or after not in _BEHIND_BRACED:
        raise Fault(items[index].pos, "a sum in braces beside a factor: the braces do not show", "round brackets")


# One token --------------------------------------------------------------------------------------------------


def _emit_one(state: State, item: Token, out: list[Token]) -> None:
    """Append one settled token: its mark, its parts and its power."""
    kind = item.type
    if item.sub is not None and kind != "FUNCTION":
        item = _held(item)
        kind = item.type
    if kind in _CONSTRUCTS:
        out.append(Token(_CONSTRUCTS[kind], item.text, item.pos))
        for arg in item.args:
            _group(state, arg, out, item, fresh=kind not in _SETTLED or arg is not item.args[0])
    elif kind == "PAREN" or kind == "BRACED":
        _emit_bracket(state, item, out)
    elif kind == "FUNCTION":
        _emit_function(state, item, out)
    elif kind == "ABS":
        out.append(Token("LBAR", "|", item.pos))
        _emit(state, item.args[0], out, fresh=True)
        out.append(Token("RBAR", "|", item.pos))
    elif kind == "APPLY" or kind == "OPAQUE":
        _emit_list(state, item, out)
    elif kind in _PLAIN:
        out.append(item)
    else:
        raise Fault(item.pos, describe(item), "a number, a symbol or an operator")
    if item.sup is not None and kind not in OPERATORS:
        _emit_power(state, item.sup, out, item)


def _held(item: Token) -> Token:
    r"""A bracket with a subscript: `[F]_a^b` between limits, `(\partial U/\partial T)_V` with V held."""
    if item.type == "BRACKET":
        return Token("BRACKET", f"{item.text}_{spell(item.raw)}", item.pos, item.gap, args=item.args, sup=item.sup)
    if item.type not in ("PAREN", "ABS"):
        raise Fault(item.pos, "a subscript on something that is no symbol", "a symbol before it")
    lower = item.sub or []
    bare = Token(item.type, item.text, item.pos, args=item.args, raw=() if item.raw is lower else item.raw)
    related = any(part.type in ("REL", "COMMA") for part in lower)
    if item.text == "[" and item.sup is not None and not related:
        return Token("AT", "limits", item.pos, item.gap, args=[[bare], lower, item.sup])
    if len(lower) > 2 and lower[1].text == "=" and not any(part.type in ("REL", "COMMA") for part in lower[2:]):
        return Token("AT", "point", item.pos, item.gap, args=[[bare], lower[:1], lower[2:]], sup=item.sup)
    held = Token("SYM", "".join(part.text for part in lower), item.pos)
    return Token("AT", "held", item.pos, item.gap, args=[[bare], [held]], sup=item.sup)


def _emit_power(state: State, sup: list[Token], out: list[Token], item: Token) -> None:
    """A power; one of the number e is the function exp, unless it is an integer, as in e^2 for a squared charge."""
    plain = len(sup) == 1 and sup[0].type == "NUM" and sup[0].text.isdigit()
    if item.type == "SYM" and item.text == "e" and not plain:
        out[-1] = Token("FUNCTION", "exp", item.pos)
        _group(state, sup, out, item, fresh=True)
        return
    if item.type == "UNIT" and not sup:
        return
    out.append(Token("CARET", "^", item.pos))
    _group(state, sup, out, item, fresh=True)


def _group(state: State, items: list[Token], out: list[Token], owner: Token, *, fresh: bool) -> None:
    """One operand: a leaf as it is, anything else in braces."""
    if len(items) == 1 and owner.type not in _OPEN_ENDED:
        leaf = items[0]
        if leaf.type in _SHORT and leaf.sup is None and leaf.sub is None:
            out.append(leaf)
            return
    out.append(Token("LG", "{", items[0].pos if items else owner.pos))
    before = len(out)
    _emit(state, items, out, fresh=fresh)
    if len(out) == before:
        raise Fault(owner.pos, "an empty part", "a number or a symbol")
    out.append(Token("RG", "}", items[-1].pos + len(items[-1].text)))


def _emit_bracket(state: State, item: Token, out: list[Token]) -> None:
    """Round brackets, or a list if there are commas or relations in them."""
    content = item.args[0]
    if any(part.type in ("COMMA", "REL") for part in content) and item.text != "{":
        kind = {"(": "tuple", "[": "commutator", r"\{": "set"}.get(item.text, "list")
        _emit_list(state, Token("OPAQUE", kind, item.pos, args=[content]), out)
        return
    out.append(Token("LP", "(", item.pos))
    _emit(state, content, out, fresh=True)
    end = item.raw[-1] if item.raw else content[-1]
    out.append(Token("RP", ")", end.pos + len(end.text)))


def _emit_list(state: State, item: Token, out: list[Token]) -> None:
    """A call or an opaque construct: its parts, with commas between them."""
    out.extend((Token(item.type, item.text, item.pos), Token("LG", "{", item.pos)))
    for index, arg in enumerate(item.args):
        if index:
            out.append(Token("COMMA", ",", item.pos))
        _emit(state, arg, out, fresh=True)
    out.append(Token("RG", "}", item.pos))


# Functions --------------------------------------------------------------------------------------------------


def _emit_function(state: State, item: Token, out: list[Token]) -> None:
    r"""A function with its argument: `\sin^{-1}` is the inverse, `\log_b x` a quotient, cot, sec and csc quotients."""
    name = item.text
    argument = item.args[0]
    sup = item.sup
    if sup is not None and len(sup) == 2 and sup[0].type == "MINUS" and sup[1].text == "1":
        direct = not (len(argument) == 1 and argument[0].type == "PAREN")
        if name in _INVERSES:
            name, item.sup = _INVERSES[name], None
        elif direct or name in _RECIPROCALS:
            raise Fault(item.pos, f"{name} to the power -1: the inverse or one over it?", f"1/\\{name}")
    if item.sub is not None:
        _emit_logarithm(state, item, out)
    elif name in _RECIPROCALS:
        out.append(Token("FRAC", "", item.pos))
        for part in _RECIPROCALS[name]:
            out.append(Token("LG", "{", item.pos))
            if part:
                out.append(Token("FUNCTION", part, item.pos))
                _group(state, argument, out, item, fresh=False)
            else:
                out.append(Token("NUM", "1", item.pos))
            out.append(Token("RG", "}", item.pos))
    elif name in _KEPT_FUNCTIONS:
        out.extend((Token("APPLY", name, item.pos), Token("LG", "{", item.pos)))
        content = argument[0].args[0] if len(argument) == 1 and argument[0].type == "PAREN" else argument
        _emit(state, content, out, fresh=content is not argument)
        out.append(Token("RG", "}", item.pos))
    else:
        out.append(Token("FUNCTION", name, item.pos))
        _group(state, argument, out, item, fresh=name == "exp")


def _emit_logarithm(state: State, item: Token, out: list[Token]) -> None:
    """A logarithm to a base; no other function takes a subscript."""
    base = item.sub or []
    if item.text != "ln":
        if item.text in _KEPT_FUNCTIONS:
            raise Fault(item.pos, f"a subscript on {item.text}, which is not read")
        raise Fault(item.pos, f"a subscript on the function {item.text}")
    named = _NAMED_LOGARITHMS.get((base[0].type, base[0].text)) if len(base) == 1 else None
    if named is not None:
        out.append(Token("FUNCTION", named, item.pos))
        _group(state, item.args[0], out, item, fresh=False)
        return
    out.append(Token("FRAC", "", item.pos))
    for part, fresh in ((item.args[0], False), (base, True)):
        out.extend((Token("LG", "{", item.pos), Token("FUNCTION", "ln", item.pos)))
        _group(state, part, out, item, fresh=fresh)
        out.append(Token("RG", "}", item.pos))
