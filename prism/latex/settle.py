r"""What position decides: calls, differentials, units, extents of functions and integrals, and the slash.

Each pass takes the siblings of one bracket, left to right, and leaves constructs that say where they end, so that
the grammar in `grammar/latex.lark` has nothing left to guess. Where the text allows two readings that physicists
really use, the pass refuses it and asks for brackets: a formula that is not read costs a credit, a formula that is
read wrongly can give one.
"""

from __future__ import annotations

from dataclasses import dataclass

from prism.latex.tokens import (
    FUNCTIONS,
    GAP_QUAD,
    GAP_SPACE,
    MAX_CHAIN,
    MAX_DEPTH,
    OPERATORS,
    RELATION_TEXT,
    Fault,
    Token,
    describe,
    read,
    scan,
    spell,
    unit_token,
)
from prism.latex.unit_text import UnitText, read_unit, unit_items

# `x(t)` says that x depends on t, and is x. The list holds the letters that physics uses as the variable of a
# function and hardly ever as a factor alone in brackets: `m(g)` and `k(T)` stay products.
INDEPENDENT = frozenset(("t", "x", "y", "z", "r", "s", r"\theta", r"\phi", r"\tau", r"\xi", "v", r"\omega", r"\nu",
                         r"\lambda", r"\vec{r}", r"\vec{x}", r"\varphi", "t'", "x'", r"\vec{r}'"))  # fmt: skip
# A value at a point (`x(T)`): capital T is also a temperature and a factor, so only these heads take it.
_DEPENDENT = frozenset(("x", "y", "z", "s", "r", "v", "a", "u", r"\theta", r"\phi", r"\omega", r"\vec{r}", r"\vec{v}",
                        r"\vec{a}", r"\vec{x}", "q", r"\psi", r"\Psi"))  # fmt: skip
_ALWAYS_CALLED = frozenset((r"\delta", r"\delta^{(3)}", r"\Gamma", r"\zeta", r"\Theta"))  # delta(x) is not delta
_WAVES = frozenset(("f", "F", r"\psi", r"\Psi", "g"))  # f(x - vt) is a wave, k(x - x_0) a spring
_STATES = frozenset(("f", r"\psi", r"\Psi"))  # psi(1) psi(2): the state of particle 1 and of particle 2
_WAVE_VARIABLES = frozenset(("x", "y", "z", "t"))

# Words that show that a roman text is a sentence and no unit or symbol.
_PROSE = frozenset(
    "and or where if for with when so at thus since is are the of from by to as that then which hence because than "
    "in on we get let all any each given both per else otherwise otherwise, constant. here not let's it this has have "
    "be an a but while into out using only case also after before above below between through".split()
)
_TRAILING_PROSE = _PROSE | frozenset(("(as", "(since", "(for", "(by", "(from", "(if", "(when", "(where", "(because"))

_SIMPLE = frozenset(("SYM", "NUM", "CONST", "UNIT", "INFINITY", "APPLY", "DERIVATIVE", "PARTIAL", "OPAQUE", "QUANTITY",
                     "BANG", "ROMAN"))  # fmt: skip
_BIG = frozenset(("INTEGRAL", "SERIES", "LIMIT", "NABLA", "DERIVE"))
_FUNCTION_STOPS = frozenset(("FUNCTION", "DIFFERENTIAL", "D", "PARTIAL_SIGN", "AT", "BRACKET")) | _BIG
_BRACKETS = frozenset(("PAREN", "ABS", "BRACED"))


@dataclass(slots=True)
class _State:
    """What is known of the whole formula while its parts are settled.

    Attributes:
        has_d: the letter d or a partial sign stands in it.
        has_units: something stands in it that can be a unit.
        d_is_differential: italic `dx` is a differential everywhere in it.
        depth: nesting of what is settled now.
        waiting: integrals around this one that still look for their measure.
    """

    has_d: bool = False
    has_units: bool = False
    d_is_differential: bool = False
    depth: int = 0
    waiting: int = 0


# Every roman text is a command, every degree sign too, and minutes of arc are primes.
_MAY_BE_UNIT = frozenset(("command", "PRIME", "PERCENT"))


def settled(latex: str, words: frozenset[str] = frozenset()) -> list[Token]:
    """Tokens for the grammar: ambiguity is gone, extents are marked.

    Args:
        latex: one formula.
        words: names of several letters that are one symbol, as the `Bi` of a problem that speaks of Bi.

    Errors:
        Fault: what cannot be read, or can be read in two ways.
    """
    raw = _joined(scan(latex), words) if words else scan(latex)
    state = _State()
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
        state.d_is_differential = _survey(items)
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
            raise Fault(item.pos, f"several formulas; split at position {item.pos}", "one formula")
        if item.type == "IMPLIES":
            found = f"several formulas joined by {item.text}; split at position {item.pos}"
            raise Fault(item.pos, found, "one formula")
        if item.type == "ROW":
            following = items[index + 1] if index + 1 < len(items) else None
            goes_on = following is not None and following.type in _CONTINUING
            if not goes_on and (not out or out[-1].type not in OPERATORS):
                raise Fault(item.pos, f"several formulas; split at position {item.pos}", "one formula")
            continue
        if item.type == "REL":
            related = True
        elif item.gap == GAP_QUAD and related and out and out[-1].type not in OPERATORS and item.type not in OPERATORS:
            if item.type == "ROMAN":
                raise Fault(item.pos, f"prose inside the formula: {_shown(item)}", "mathematics only")
            raise Fault(item.pos, f"several formulas; split at position {item.pos}", "one formula")
        out.append(item)
    return out


_CONTINUING = frozenset(("REL", "PLUS", "MINUS", "TIMES", "PM", "SLASH"))
_LEADING = frozenset(("=", r"\approx", r"\equiv", ":=", r"\simeq", r"\sim"))


def _without_tail(items: list[Token]) -> list[Token]:
    """Without a remark or an equation number that stands behind the end of the formula."""
    end = len(items)
    while end and items[end - 1].type in ("COMMA", "ROW"):
        end -= 1
    if end > 1 and (last := items[end - 1]).type == "ROMAN" and last.text == "text" and last.sup is None:
        words = _words(last)
        remark = words and (words[0].lower() in _TRAILING_PROSE or last.raw[0].text == "(")
        before = items[end - 2]
        unit_like = before.type in ("NUM", "ROMAN", "UNIT", "QUANTITY") and len(words) == 1 and last.raw[0].text != "("
        if remark and not unit_like and (last.gap or before.type == "COMMA"):
            return _without_tail(items[: end - 1])
    if end > 1 and (last := items[end - 1]).type == "PAREN" and last.gap == GAP_QUAD and last.text == "(":
        inside = last.args[0]
        if len(inside) == 1 and inside[0].type == "NUM" and inside[0].sup is None:
            return _without_tail(items[: end - 1])
    return items[:end]


def _words(item: Token) -> list[str]:
    """Words of a roman text."""
    while item.raw and (item.raw[-1].type == "COMMA" or item.raw[-1].text == "."):
        item.raw = item.raw[:-1]  # the punctuation of the sentence around the formula
    words: list[str] = []
    fresh = True
    for token in item.raw:
        if token.type != "letter" and not (token.type == "PRIME" and words):
            fresh = True
            if token.text in "()" and token.text:
                continue
            continue
        if fresh or token.gap:
            words.append("")
        words[-1] += token.text
        fresh = False
    return words


def _shown(item: Token) -> str:
    words = _words(item)
    text = " ".join(words[:4]) + (" ..." if len(words) > 4 else "")
    return f"`{text}`"


# Is d a differential? ---------------------------------------------------------------------------------------


def is_d(item: Token) -> bool:
    """A head of a differential: an upright d, or the letter d without subscript."""
    return item.type == "D" or (item.type == "SYM" and item.text == "d")


def _survey(items: list[Token]) -> bool:
    """Whether italic `dx` is a differential: two such pairs, a derivative or an integral, and no d of its own.

    A single pair without any of these (`F = dm`) may be a product and stays one.
    """
    pairs = own = strong = weak = 0
    stack = [items]
    while stack:
        siblings = stack.pop()
        count = len(siblings)
        for index, item in enumerate(siblings):
            stack.extend(item.args)
            if item.sup is not None:
                stack.append(item.sup)
            if item.type == "INTEGRAL":
                strong += 1
            elif item.type == "FRAC" and _derivative_shape(item) is not None:
                strong += 1
                own -= _shape_count(item)[0]
                pairs -= _shape_count(item)[1]
            elif item.type == "SYM" and item.text.startswith("d_"):
                own += 1
            elif item.type == "SYM" and item.text.startswith("\\delta "):
                pairs += 1  # an inexact differential
            elif item.type == "SYM" and item.text == "d":
                after = siblings[index + 1] if index + 1 < count else None
                if after is not None and after.type in ("SYM", "DERIVATIVE") and not is_d(after):
                    pairs += 1
                elif after is not None and after.type in ("FUNCTION", "PAREN"):
                    weak += 1
                elif after is not None and after.type == "SLASH" and index + 2 < count and is_d(siblings[index + 2]):
                    strong += 1
                else:
                    own += 1
            elif item.type == "D":
                strong += 1
    if own > 0:
        return False
    return pairs >= 2 or strong > 0


def _shape_count(item: Token) -> tuple[int, int]:
    """Lone d and d-pairs inside a fraction that is a derivative: they are no evidence of their own."""
    lone = pairs = 0
    for siblings in item.args:
        for index, token in enumerate(siblings):
            if token.type == "SYM" and token.text == "d":
                after = siblings[index + 1] if index + 1 < len(siblings) else None
                if after is not None and after.type in ("SYM", "DERIVATIVE") and not is_d(after):
                    pairs += 1
                elif after is None or after.type not in ("FUNCTION", "PAREN"):
                    lone += 1
    return lone, pairs


# Derivatives and differentials ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Shape:
    """A fraction that is a derivative.

    Attributes:
        kind: DERIVATIVE or PARTIAL.
        order: as written, `1` if nothing is written.
        body: what is derived; empty for the operator alone.
        variables: one list a variable, repeated variables once.
    """

    kind: str
    order: str
    body: list[Token]
    variables: list[list[Token]]


def _order_of(sup: list[Token] | None) -> str | None:
    """Order of a derivative from a superscript; None if it is no order."""
    if sup is None:
        return "1"
    if len(sup) == 1 and sup[0].sup is None and sup[0].type in ("NUM", "SYM"):
        return sup[0].text
    return None


def _derivative_shape(item: Token) -> _Shape | None:
    r"""The derivative that a \frac is, or None."""
    above, below = item.args
    if not above or not below:
        return None
    head = above[0]
    partial = head.type == "PARTIAL_SIGN"
    if not (partial or is_d(head)) or head.sub is not None:
        return None
    order = _order_of(head.sup)
    variables = _variables(below, partial)
    if order is None or variables is None:
        return None
    total = _total_order([power for _, power in variables])
    if total != order:
        strict = partial or head.type == "D" or (head.sup is not None)
        if strict:
            raise Fault(item.pos, f"a derivative of order {order} above and {total} below", "the same order in both")
        return None
    kept = [single for single, _ in variables]
    return _Shape("PARTIAL" if partial else "DERIVATIVE", order, above[1:], kept)


def _total_order(powers: list[str]) -> str:
    if len(powers) == 1:
        return powers[0]
    return str(sum(int(power) if power.isdigit() else 99 for power in powers))


def _variables(below: list[Token], partial: bool) -> list[tuple[list[Token], str]] | None:
    r"""Variables of a denominator such as `dx^2` or `\partial x \partial y`, with their orders; None if it is none."""
    found: list[tuple[list[Token], str]] = []
    index = 0
    while index < len(below):
        head = below[index]
        if not (head.type == "PARTIAL_SIGN" if partial else is_d(head)) or head.sup is not None:
            return None
        index += 1
        start = index
        while index < len(below) and not (below[index].type == "PARTIAL_SIGN" if partial else is_d(below[index])):
            index += 1
        segment = below[start:index]
        single = len(segment) == 1 and segment[0].type in ("SYM", "DERIVATIVE", "PAREN")
        function = len(segment) == 2 and segment[0].type == "FUNCTION" and segment[1].type in ("SYM", "PAREN")
        if not (single or function):
            return None
        if single and segment[0].type == "PAREN" and head.type == "SYM" and len(segment[0].args[0]) == 1:
            return None  # d(x) below a fraction may be a product
        last = segment[-1]
        power = _order_of(last.sup)
        if power is None:
            return None
        if last.sup is not None:
            segment = [*segment[:-1], Token(last.type, last.text, last.pos, args=last.args, expr=last.expr)]
        found.append((segment, power))
    return found or None


def _derived(shape: _Shape, item: Token) -> Token:
    """The construct of a shape: a finished derivative, or an operator that still looks for its operand."""
    if not shape.body:
        order = (Token("order", shape.order, 0),)
        return Token("DERIVE", shape.kind, item.pos, item.gap, args=shape.variables, raw=order)
    return Token(shape.kind, shape.order, item.pos, item.gap, args=[shape.body, *shape.variables], sup=item.sup)


def _differentials(state: _State, items: list[Token], inside: bool) -> list[Token]:
    """Fractions and quotients of differentials to derivatives, and `dx` to a differential where it is one.

    Args:
        inside: the list stands under an integral sign.
    """
    out: list[Token] = []
    count = len(items)
    index = 0
    while index < count:
        item = items[index]
        kind = item.type
        if kind == "INTEGRAL":
            inside = True
        elif kind in ("REL", "COMMA"):
            inside = False
        if kind == "FRAC":
            shape = _derivative_shape(item)
            if shape is not None:
                out.append(_derived(shape, item))
            else:
                _refuse_half_derivative(item)
                if inside:
                    item.args = [_differentials(state, item.args[0], True), item.args[1]]
                out.append(item)
            index += 1
        elif kind == "PARTIAL_SIGN" or is_d(item):
            taken = _inline(state, items, index, inside, out)
            index += taken
        else:
            out.append(item)
            index += 1
    return out


def _refuse_half_derivative(item: Token) -> None:
    r"""`\frac{\partial f}{x}` and the like have no reading."""
    if any(token.type == "PARTIAL_SIGN" and token.sub is None for siblings in item.args for token in siblings):
        raise Fault(item.pos, "a fraction with a partial sign that is no derivative", r"\frac{\partial f}{\partial x}")


def _inline(state: _State, items: list[Token], index: int, inside: bool, out: list[Token]) -> int:
    r"""`dy/dx`, `d/dx`, `\partial_x f`, `dx`: append what stands here, and say how many siblings it takes."""
    head = items[index]
    partial = head.type == "PARTIAL_SIGN"
    rest = items[index + 1 :]
    slash = next((at for at in (0, 1) if len(rest) > at and rest[at].type == "SLASH"), None)
    if slash is not None and len(rest) > slash + 2:
        body, below = rest[:slash], rest[slash + 1 : slash + 3]
        plain = not body or body[0].type in ("SYM", "DERIVATIVE", "PAREN")
        if plain and (below[0].type == "PARTIAL_SIGN" if partial else is_d(below[0])):
            shape = _derivative_shape(Token("FRAC", "", head.pos, head.gap, args=[[head, *body], below]))
            if shape is not None:
                out.append(_derived(shape, Token("FRAC", "", head.pos, head.gap)))
                return slash + 4
    if partial:
        if head.sub is None:
            raise Fault(head.pos, r"the sign \partial outside a derivative", r"\frac{\partial f}{\partial x}")
        variable = [Token("SYM", spell(head.raw), head.pos)]
        order = _order_of(head.sup)
        if order is None:
            raise Fault(head.pos, "a power of a partial sign that is no order")
        raw = (Token("order", order, 0),)
        out.append(Token("DERIVE", "PARTIAL", head.pos, head.gap, args=[variable], raw=raw))
        return 1
    after = rest[0] if rest else None
    roman = head.type == "D"
    if after is not None and (roman or inside or state.d_is_differential):
        taken = _differential(head, rest, roman or state.d_is_differential, out)
        if taken:
            return taken
    if roman:
        out.append(Token("ROMAN", "math", head.pos, head.gap, sup=head.sup, raw=(Token("letter", "d", head.pos),)))
    else:
        out.append(head)
    return 1


def _differential(head: Token, rest: list[Token], certain: bool, out: list[Token]) -> int:
    """A differential of a symbol, a bracket or a function; 0 if none stands here."""
    after = rest[0]
    order = _order_of(head.sup)
    if order is None:
        return 0
    text = "" if order == "1" else order
    if after.type in ("SYM", "DERIVATIVE") and not is_d(after):
        power = after.sup
        bare = Token(after.type, after.text, after.pos, args=after.args, expr=after.expr)
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[bare]], sup=power))
        return 2
    if certain and after.type == "PAREN":
        bare = Token("PAREN", after.text, after.pos, args=after.args, raw=after.raw)
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[bare]], sup=after.sup))
        return 2
    if certain and after.type == "FUNCTION" and len(rest) > 1 and rest[1].type in ("SYM", "PAREN"):
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[after, rest[1]]]))
        return 3
    return 0


# Calls ------------------------------------------------------------------------------------------------------


def _calls(items: list[Token]) -> list[Token]:
    """`x(t)` to x, `v(0)` and `f(a, b)` to a named value, everything else stays a product."""
    out: list[Token] = []
    for item in items:
        if item.type == "PAREN" and item.text == "(" and out and out[-1].type == "ROMAN":
            named = out[-1]
            word = all(token.type == "letter" for token in named.raw) and not (len(out) > 1 and is_numeric(out[-2]))
            if word and named.sup is None and any(part.type in ("COMMA", "REL") for part in item.args[0]):
                out[-1] = Token("APPLY", spell(named.raw), named.pos, named.gap, args=item.args, sup=item.sup)
                continue
        if item.type == "PAREN" and item.text == "(" and out and out[-1].type in ("SYM", "DERIVATIVE"):
            head = out[-1]
            if not (head.type == "SYM" and head.text == "d"):
                called = _call(head, item)
                if called is not None:
                    out[-1] = called
                    continue
        out.append(item)
    return out


def _call(head: Token, bracket: Token) -> Token | None:
    """The head with its bracket taken in, or None if the two are factors."""
    content = bracket.args[0]
    name = head.text if head.type == "SYM" else head.args[0][0].text if head.args[0] else ""
    if head.type == "SYM" and name in _ALWAYS_CALLED:
        return _applied(head, bracket, name)
    if (
        all(
            (part.type == "SYM" and part.sup is None and part.text in INDEPENDENT and part.text != name)
            if at % 2 == 0
            else part.type == "COMMA"
            for at, part in enumerate(content)
        )
        and len(content) % 2
    ):
        if bracket.sup is not None and head.sup is not None:
            raise Fault(bracket.pos, "a second superscript", "brackets around the first power")
        primed = head.type == "SYM" and "'" in name and "'" in name.split("_")[0] and len(content) == 1
        if primed:
            bare = Token("SYM", name.replace("'", "", 1), head.pos)
            power = bracket.sup or head.sup
            return Token("DERIVATIVE", "1", head.pos, head.gap, args=[[bare], list(content)], sup=power)
        if head.type == "DERIVATIVE" and head.args[1][0].text == "?" and len(content) == 1:
            head.args = [head.args[0], list(content)]
        head.sup = bracket.sup or head.sup
        return head
    if head.type != "SYM":
        return None
    single = content[0] if len(content) == 1 and content[0].sup is None else None
    if single is not None:
        base, mark, _ = single.text.partition("_")
        if (single.type == "NUM" and single.text == "0") or single.type == "INFINITY":
            return _applied(head, bracket, name)
        if single.type == "NUM" and name.split("_")[0] in _STATES:
            return _applied(head, bracket, name)
        if single.type == "SYM" and single.text.startswith(r"\vec{"):
            return _applied(head, bracket, name)
        if single.type == "SYM" and mark and base in INDEPENDENT and base != "v":  # m(v_0) is a momentum
            return _applied(head, bracket, name)
        if single.type == "SYM" and single.text == "T" and name.split("_")[0] in _DEPENDENT:
            return _applied(head, bracket, name)
    if len(content) == 2 and content[0].type in ("MINUS", "PLUS") and content[1].type == "INFINITY":
        return _applied(head, bracket, name)
    if any(part.type in ("COMMA", "REL") for part in content):
        return _applied(head, bracket, name)
    if name.split("_")[0] in _WAVES and any(part.type == "SYM" and part.text in _WAVE_VARIABLES for part in content):
        return _applied(head, bracket, name)
    return None


def _applied(head: Token, bracket: Token, name: str) -> Token:
    if head.sup is not None and bracket.sup is not None:
        raise Fault(bracket.pos, "a second superscript", "brackets around the first power")
    return Token("APPLY", name, head.pos, head.gap, args=bracket.args, sup=bracket.sup or head.sup)


# Units ------------------------------------------------------------------------------------------------------


def is_numeric(item: Token) -> bool:
    """Whether an item holds only numbers and units, so that a unit can stand behind it."""
    if item.type in ("NUM", "CONST", "UNIT", "QUANTITY"):
        return True
    if item.type in ("PAREN", "FRAC", "SQRT", "BRACED", "ROOT"):
        return all(is_numeric(part) or part.type in _ARITHMETIC for siblings in item.args for part in siblings)
    return False


_ARITHMETIC = frozenset(("PLUS", "MINUS", "TIMES", "SLASH", "ROMAN", "PM"))


def _units(items: list[Token]) -> list[Token]:
    """Roman words to units where a unit can stand, to symbols elsewhere; sentences are refused."""
    out: list[Token] = []
    index = 0
    count = len(items)
    while index < count:
        item = items[index]
        if item.type == "QUANTITY":
            out.extend(item.args[0])
            index += 1
        elif item.type == "ROMAN":
            place = item.text == "unit" or _stands_behind_number(out, item)
            index = _unit_run(items, index, out) if place else index + _roman_symbol(item, out)
        elif (
            item.type == "SYM"
            and item.text in (r"\mu", r"\Omega")
            and out
            and is_numeric(out[-1])
            and (_greek_unit(items, index))
        ):
            if item.text == r"\Omega":
                ohm = unit_token("ohm", item.pos)
                ohm.sup = item.sup
                out.append(ohm)
            else:
                piece = items[index + 1]
                raw = (Token("letter", r"\mu", item.pos), *piece.raw)
                items[index + 1] = Token("ROMAN", piece.text, item.pos, sup=piece.sup, raw=raw)
            index += 1
        elif item.type == "FRAC" and out and is_numeric(out[-1]) and _all_roman(item):
            out.append(Token("FRAC", "", item.pos, item.gap, args=[_as_units(item.args[0]), _as_units(item.args[1])]))
            index += 1
        else:
            out.append(item)
            index += 1
    return out


def _greek_unit(items: list[Token], index: int) -> bool:
    r"""Whether \mu or \Omega behind a number is micro or ohm: before a roman unit, or \Omega set apart at the end."""
    item = items[index]
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "ROMAN":
        return item.text == r"\Omega" or item.sup is None
    ends = after is None or after.type in ("REL", "COMMA", "PLUS", "MINUS")
    return item.text == r"\Omega" and item.gap >= GAP_SPACE and ends


def _stands_behind_number(out: list[Token], item: Token) -> bool:
    """Whether the text so far ends in a number or unit, or in one with a dot or slash behind it."""
    if not out:
        return False
    last = out[-1]
    if is_numeric(last):
        return not (last.type == "CONST" and len(out) == 1 and len(_words(item)[:1]) == 0)
    if last.type == "TIMES" and last.text != r"\times" and len(out) > 1:
        before = out[-2]
        return before.type in ("UNIT", "NUM") or (before.type == "FRAC" and not before.text and is_numeric(before))
    if last.type == "SLASH" and len(out) > 1:
        return is_numeric(out[-2])
    return False


def _all_roman(item: Token) -> bool:
    return all(siblings and all(part.type in ("ROMAN", "TIMES") for part in siblings) for siblings in item.args)


def _as_units(items: list[Token]) -> list[Token]:
    out: list[Token] = []
    for item in items:
        if item.type == "TIMES":
            continue
        piece = read_unit(item.raw)
        if piece is None:
            raise Fault(item.pos, f"the unit {_shown(item)}", "a unit")
        factors = unit_items(piece, item.pos)
        if item.sup is not None:
            factors[-1].sup = item.sup
        out.extend(factors)
    return out


def _unit_run(items: list[Token], index: int, out: list[Token]) -> int:
    """Append the unit that begins here, over dots, slashes and further roman words; return the index behind it."""
    pos = items[index].pos
    begins_below = bool(out) and out[-1].type == "SLASH" and len(out) > 1 and items[index].text != "unit"
    begins_dotted = bool(out) and out[-1].type == "TIMES"
    whole = UnitText()
    side = whole.above
    if begins_below and len(out) > 1 and is_numeric(out[-2]):
        out.pop()
        side = whole.below
    elif begins_dotted and out[-1].type == "TIMES":
        out.pop()
    count = len(items)
    while index < count:
        item = items[index]
        if item.type == "ROMAN":
            if not _add_piece(item, whole, side):
                return index + _prose_or_symbol(item, out, whole, pos)
        elif item.type == "UNIT":
            side.append(item)
        elif item.type == "SLASH" and index + 1 < count and items[index + 1].type == "ROMAN":
            if whole.below and side is whole.above:
                raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
            side = whole.below
        elif item.type == "SLASH" and index + 1 < count and _is_unit_bracket(items[index + 1]):
            bracket = items[index + 1]
            whole.below.append(Token("PAREN", "(", bracket.pos, args=[_as_units(bracket.args[0])], sup=bracket.sup))
            index += 1
        elif item.type == "TIMES" and item.text != r"\times" and index + 1 < count and items[index + 1].type == "ROMAN":
            pass
        else:
            break
        index += 1
    out.extend(unit_items(whole, pos))
    return index


def _is_unit_bracket(item: Token) -> bool:
    return item.type == "PAREN" and all(part.type in ("ROMAN", "TIMES") for part in item.args[0])


def _is_prose(word: str) -> bool:
    """Whether a word belongs to a sentence; a capital A is the ampere."""
    return word != "A" and word.lower() in _PROSE


def _add_piece(item: Token, whole: UnitText, side: list[Token]) -> bool:
    """Add one roman text to the unit that is being read; False if it is none."""
    words = _words(item)
    short = len(words) == 1 and words[0] in ("in", "a", "as", "at")  # inch, year, attosecond, technical atmosphere
    if any(_is_prose(word) and word != "per" for word in words) and not short and item.text != "unit":
        return False
    structured = any(token.type in ("SLASH", "^", "TIMES") for token in item.raw) or "per" in words
    if item.text == "text" and len(words) > 1 and not structured and any(len(word) > 4 for word in words):
        return False
    piece = read_unit(item.raw)
    if piece is None:
        return False
    if item.sup is not None:
        factors = piece.below or piece.above
        factors[-1].sup = item.sup
    if piece.below and side is whole.below:
        raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
    if piece.below and not whole.above and not whole.below:
        whole.above.extend(piece.above or [])
        whole.below.extend(piece.below)
        return True
    side.extend(unit_items(piece, item.pos))
    return True


def _prose_or_symbol(item: Token, out: list[Token], whole: UnitText, pos: int) -> int:
    """A roman text in the place of a unit that is none."""
    if whole.above or whole.below:
        out.extend(unit_items(whole, pos))
    return _roman_symbol(item, out)


def _roman_symbol(item: Token, out: list[Token]) -> int:
    """A roman word where no unit can stand: one word is a symbol, several are a sentence."""
    words = _words(item)
    structured = [token for token in item.raw if token.type not in ("letter", "number", "{", "}", "mark", "MINUS", "_")]
    if item.text == "text" and (len(words) > 1 or (words and _is_prose(words[0]) and len(words[0]) > 1)):
        unit = read_unit(item.raw) if structured and all(len(word) <= 4 for word in words) else None
        if unit is None or any(_is_prose(word) for word in words):
            raise Fault(item.pos, f"prose inside the formula: {_shown(item)}", "mathematics only")
        out.extend(unit_items(unit, item.pos))
        return 1
    if structured:
        if item.text == "text" or "SLASH" in [token.type for token in structured]:
            unit = read_unit(item.raw)
            if unit is not None and out and out[-1].type not in OPERATORS:
                factors = unit_items(unit, item.pos)
                if item.sup is not None:
                    (unit.below or unit.above)[-1].sup = item.sup
                out.extend(factors)
                return 1
            if item.text == "text":
                raise Fault(item.pos, f"the text {_shown(item)}, which is no unit here", "a symbol or a unit")
        out.extend(_as_mathematics(item))
        return 1
    name = spell(item.raw)
    if not name:
        raise Fault(item.pos, "an empty roman text")
    if not any(char.isalnum() for char in name):
        raise Fault(item.pos, f"the text `{name}`", "a symbol or a unit")
    out.append(Token("SYM", name, item.pos, item.gap, sup=item.sup))
    return 1


def _as_mathematics(item: Token) -> list[Token]:
    r"""`\mathrm{A+B}`: a font around a formula changes nothing."""
    body = read([*item.raw, Token("END", "", item.pos)])
    if not body:
        raise Fault(item.pos, "an empty roman text")
    return [Token("PAREN", "{", item.pos, item.gap, args=[body], sup=item.sup)]


# Extents ----------------------------------------------------------------------------------------------------


def _extents(state: _State, items: list[Token]) -> list[Token]:
    """Give each function, integral, sum and operator the siblings that are its operand."""
    out: list[Token] = []
    index = 0
    while index < len(items):
        kind = items[index].type
        if (kind == "FUNCTION" and not items[index].args) or kind in _BIG:
            taken, index = _extended(state, items, index)
            out.append(taken)
        else:
            out.append(items[index])
            index += 1
    return out


def _extended(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    """One construct with its operand, and the index behind it."""
    item = items[index]
    kind = item.type
    if (kind == "FUNCTION" and item.args) or kind in ("INTEGRAL_", "SERIES_"):
        return item, index + 1
    state.depth += 1
    if state.depth > MAX_DEPTH:
        raise Fault(item.pos, f"functions or integrals nested more than {MAX_DEPTH} deep")
    if kind == "FUNCTION":
        found = _function_extent(state, items, index)
    elif kind == "INTEGRAL":
        found = _integral(state, items, index)
    elif kind == "SERIES":
        found = _series(state, items, index)
    elif kind == "LIMIT":
        found = _limit(state, items, index)
    else:
        found = _operator(state, items, index)
    state.depth -= 1
    return found


def _function_extent(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    """A bracket right behind a function is its argument; otherwise the run of plain factors is."""
    item = items[index]
    start = index + 1
    signed = start < len(items) and items[start].type in ("MINUS", "PLUS")
    first = start + signed
    if first >= len(items):
        raise Fault(item.pos, f"the function {item.text} without an argument", "an argument")
    head = items[first]
    if head.type in _BRACKETS:
        after = first + 1
        follower = items[after] if after < len(items) else None
        if head.text == "{" and follower is not None and follower.type in ("SYM", "NUM", "FRAC", "SQRT", "CONST"):
            raise Fault(follower.pos, f"a factor behind the braced argument of {item.text}: does it belong to it?",
                        "brackets around the argument")  # fmt: skip
        if head.text != "{" and head.sup is not None and not signed and item.sup is None:
            bare = Token(head.type, head.text, head.pos, args=head.args, raw=head.raw)
            return Token("FUNCTION", item.text, item.pos, item.gap, args=[[bare]], sup=head.sup, sub=item.sub), after
        argument = items[start:after]
    elif head.type == "FUNCTION" or head.type in _BIG:
        inner, after = _extended(state, items, first)
        argument = [*items[start:first], inner]
    else:
        after = first
        while after < len(items) and items[after].type not in OPERATORS | _FUNCTION_STOPS:
            if after > first and (items[after].type in _BRACKETS or items[after].gap == GAP_QUAD):
                break
            if after > first and _ends_argument(items[after]):
                break
            after += 1
        argument = items[start:after]
        _refuse_phase(item, argument, items[after] if after < len(items) else None)
    if first == after:
        raise Fault(head.pos, describe(head), f"an argument of {item.text}")
    extended = Token("FUNCTION", item.text, item.pos, item.gap, args=[argument], sup=item.sup, sub=item.sub)
    return extended, after


def _ends_argument(item: Token) -> bool:
    """Vectors, unit vectors and dotted symbols stand behind an argument, not in it."""
    return item.type == "DERIVATIVE" or (item.type == "SYM" and item.text.startswith((r"\vec{", r"\hat{")))


_ANGLES = (r"\theta", r"\phi", r"\varphi", r"\vartheta")
_PHASES = frozenset((r"\omega", "k", r"\omega_0", "n", r"\Omega"))


def _refuse_phase(item: Token, argument: list[Token], follower: Token | None) -> None:
    r"""`\sin\omega(t - t_0)`, `\cos\theta c`: the rule says one thing, and authors mean the other."""
    if (
        follower is not None
        and follower.type == "PAREN"
        and argument
        and argument[-1].type == "SYM"
        and argument[-1].text in _PHASES
        and any(part.type in ("PLUS", "MINUS") for part in follower.args[0])
    ):
        raise Fault(follower.pos, f"a bracket behind the argument of {item.text}: does it belong to it?",
                    "brackets around the whole argument")  # fmt: skip
    if len(argument) > 1 and argument[0].type == "SYM" and argument[0].text.startswith(_ANGLES):
        second = argument[1]
        if second.type in ("NUM", "FRAC", "SQRT", "ROOT") or (second.type == "SYM" and second.text[0] != "\\"):
            raise Fault(second.pos, f"a factor behind the angle of {item.text}: does it belong to the argument?",
                        "brackets around the argument")  # fmt: skip


def _operand(state: _State, items: list[Token], start: int, *, products: bool) -> tuple[list[Token], int]:
    """Operand of a sum or an operator: the factors up to the next plus, minus or relation.

    Args:
        products: explicit products and slashes belong to it (sums, limits); otherwise they end it (d/dx).
    """
    out: list[Token] = []
    index = start
    stops = {"PLUS", "MINUS", "PM", "REL", "COMMA", "ROW", "IMPLIES"}
    if products and index < len(items) and items[index].type == "MINUS":
        out.append(items[index])
        index += 1
    while index < len(items):
        item = items[index]
        if item.type in stops or (not products and item.type in ("TIMES", "SLASH")):
            break
        if item.gap == GAP_QUAD and index > start:
            break
        if (item.type == "FUNCTION" and not item.args) or item.type in _BIG:
            item, index = _extended(state, items, index)
            out.append(item)
        else:
            out.append(item)
            index += 1
        if not products and len(out) == 1 and out[0].type in _BRACKETS:
            break
    return out, index


def _operator(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    """d/dx and nabla with what they act on; alone they are kept as they are."""
    item = items[index]
    name, start = item.text, index + 1
    if item.type == "NABLA":
        name, start = _nabla_kind(items, index)
    body, after = _operand(state, items, start, products=False)
    clear = bool(body) and (body[0].type in _BRACKETS or (len(body) == 1 and body[0].type in ("DERIVATIVE", "PARTIAL")))
    if body and not clear and after < len(items) and items[after].type in ("TIMES", "SLASH"):
        raise Fault(items[after].pos, "a product or quotient behind an operator: does the operator act on it?",
                    "brackets around what it acts on")  # fmt: skip
    if item.type == "NABLA":
        if not body:
            if name not in ("grad", "laplace"):
                raise Fault(item.pos, "a nabla without anything to act on")
            bare = "nabla" + ("2" if name == "laplace" else "") + item.text
            return Token("OPAQUE", bare, item.pos, item.gap), index + 1
        return Token("NABLA_", name + item.text, item.pos, item.gap, args=[body]), after
    order = item.raw[0].text
    if not body:
        bare = "derivative" if item.text == "DERIVATIVE" else "partial"
        bare += order if order != "1" else ""
        return Token("OPAQUE", bare, item.pos, item.gap, args=item.args), index + 1
    return Token(item.text, order, item.pos, item.gap, args=[body, *item.args]), after


def _nabla_kind(items: list[Token], index: int) -> tuple[str, int]:
    item = items[index]
    if item.sup is not None:
        if _order_of(item.sup) != "2":
            raise Fault(item.pos, "a power of nabla other than 2")
        return "laplace", index + 1
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "TIMES":
        if after.text == r"\cdot" and index + 2 < len(items) and items[index + 2].type == "NABLA":
            return "div", index + 2
        return ("curl" if after.text == r"\times" else "div"), index + 2
    return "grad", index + 1


def _series(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    """A sum or product with its limits: (term, index, lower, upper), or (term, index), or (term)."""
    item = items[index]
    body, after = _operand(state, items, index + 1, products=True)
    if not body:
        raise Fault(item.pos, f"{item.text} without a term", "a term")
    args = [body]
    lower = item.sub
    if lower is not None:
        bound = len(lower) > 2 and lower[0].type == "SYM" and lower[1].text == "="
        plain = not any(part.type in ("REL", "COMMA", "ROW") for part in lower[2 if bound else 0 :])
        if bound and plain and item.sup is not None:
            args += [lower[:1], lower[2:], item.sup]
        elif bound and plain:
            args += [lower[:1], lower[2:]]
        elif plain and item.sup is None:
            args.append(lower)
        else:
            args.append([Token("SYM", spell(item.raw), item.pos)])
            if item.sup is not None:
                args.append(item.sup)
    elif item.sup is not None:
        raise Fault(item.pos, f"{item.text} with an upper limit alone", "a lower limit")
    name = "sum" if item.text == r"\sum" else "product"
    return Token("SERIES_", name, item.pos, item.gap, args=args), after


def _limit(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    item = items[index]
    sub = item.sub
    if sub is None or len(sub) < 3 or sub[0].type != "SYM" or RELATION_TEXT.get(sub[1].text) != "to":
        raise Fault(item.pos, r"\lim without its variable", r"\lim_{x \to a}")
    body, after = _operand(state, items, index + 1, products=True)
    if not body:
        raise Fault(item.pos, r"\lim without an expression", "an expression")
    return Token("LIMIT_", "", item.pos, item.gap, args=[body, sub[:1], sub[2:]]), after


# Integrals --------------------------------------------------------------------------------------------------

_FOLD = {r"\int": 1, r"\iint": 2, r"\iiint": 3, r"\oint": 1, r"\oiint": 2}


def _integral(state: _State, items: list[Token], index: int) -> tuple[Token, int]:
    """An integral from its sign to its measure; nested ones take the nearest measure first."""
    item = items[index]
    body: list[Token] = []
    measures: list[Token] = []
    at = index + 1
    while at < len(items) and items[at].type == "INTEGRAL":
        at += 1
    signs = items[index:at]
    leads = False
    while at < len(items) and not measures:
        token = items[at]
        if token.type in ("REL", "COMMA", "ROW", "IMPLIES"):
            break
        if token.type == "INTEGRAL":
            state.waiting += 1
            token, at = _extended(state, items, at)
            state.waiting -= 1
            body.append(token)
        elif token.type == "DIFFERENTIAL":
            at = _measures(items, at, measures, state.waiting)
            leads = not body
        elif token.type == "FRAC" and (found := _fraction_measure(token)):
            measures.extend(found)
            at += 1
            body.append(token)
            tail, at = _operand(state, items, at, products=True)
            body.extend(tail)
        else:
            body.append(token)
            at += 1
    if not measures:
        raise Fault(item.pos, "an integral without its differential", "a measure such as dx")
    if at < len(items) and items[at].type == "SLASH":
        denominator, at, _ = _denominator(items, at + 1)
        body = [Token("FRAC", "", item.pos, args=[body or [Token("NUM", "1", item.pos)], denominator])]
    elif not body:
        if at + 1 < len(items) and items[at].type == "TIMES":
            at += 1
        body, at = _operand(state, items, at, products=True)
    return _built_integrals(signs, body, measures, leads), at


def _measures(items: list[Token], at: int, measures: list[Token], waiting: int) -> int:
    """Take the differentials that stand here, and leave one for each integral around."""
    end = at
    while end < len(items) and items[end].type == "DIFFERENTIAL":
        end += 1
    end = max(at + 1, end - waiting)
    measures.extend(items[at:end])
    return end


def _fraction_measure(item: Token) -> list[Token]:
    r"""Measures in the numerator of `\frac{x\,dx}{...}`; they are taken out of it."""
    above = item.args[0]
    found = [part for part in above if part.type == "DIFFERENTIAL"]
    if found and not any(part.type in ("PLUS", "MINUS", "PM", "INTEGRAL") for part in above):
        kept = [part for part in above if part.type != "DIFFERENTIAL"]
        while kept and kept[-1].type == "TIMES":
            kept.pop()
        item.args = [kept or [Token("NUM", "1", item.pos)], item.args[1]]
        return found
    return []


def _built_integrals(signs: list[Token], body: list[Token], measures: list[Token], leads: bool) -> Token:
    """Signs side by side with their measures: the last sign takes the first measure."""
    if len(signs) == 1:
        return _built_integral(signs[0], body, measures)
    if len(measures) != len(signs):
        raise Fault(signs[0].pos, f"{len(signs)} integral signs with {len(measures)} measures", "one measure each")
    limits = {(spell(sign.raw), "".join(part.text for part in sign.sup or ())) for sign in signs}
    if leads and len(limits) > 1:
        found = "measures before the integrand: which belongs to which limits?"
        raise Fault(signs[0].pos, found, "each behind its sign")
    for sign, measure in zip(reversed(signs), measures, strict=True):
        body = [_built_integral(sign, body, [measure])]
    return body[0]


def _built_integral(item: Token, body: list[Token], measures: list[Token]) -> Token:
    name = ""
    if body and body[-1].type == "TIMES":
        mark = body[-1].text
        body = body[:-1]
        if any(part.text.startswith(r"\vec") for part in measures[0].args[0]):
            name = "cross" if mark == r"\times" else "dot"
    if not body:
        body = [Token("NUM", "1", item.pos)]
    fold = _FOLD[item.text]
    if fold > 1 and len(measures) not in (1, fold):
        raise Fault(item.pos, f"{item.text} with {len(measures)} measures", f"one or {fold} measures")
    limits: list[list[Token]] = []
    variable = measures[-1].args[0]
    if item.sub is not None:
        limits.append(_bound(item.sub, variable, item))
        if item.sup is not None:
            limits.append(_bound(item.sup, variable, item))
    elif item.sup is not None:
        raise Fault(item.pos, "an integral with an upper limit alone", "a lower limit")
    kind = "CONTOUR" if item.text.startswith(r"\o") else "INTEGRAL_"
    for position, measure in enumerate(measures):
        label = " ".join(part for part in (name, f"d^{measure.text}" if measure.text else "") if part)
        if fold > 1 and len(measures) == 1:
            label = f"{fold} {label}".strip()
        last = position == len(measures) - 1
        body = [Token(kind, label, item.pos, item.gap, args=[body, measure.args[0], *(limits if last else ())])]
        name = ""
    return body[0]


def _bound(items: list[Token], variable: list[Token], item: Token) -> list[Token]:
    """A limit of integration; `x = a` is a, and a region that is no expression is a name."""
    if len(items) > 2 and items[1].text == "=" and items[0].type == "SYM" and items[0].text == variable[0].text:
        items = items[2:]
    if any(part.type in ("REL", "COMMA", "PARTIAL_SIGN", "ROMAN", "ROW") for part in items):
        region = " ".join(part.text or "text" for part in items)
        return [Token("SYM", spell(item.raw) if items is item.sub else region, item.pos)]
    return items


# The slash --------------------------------------------------------------------------------------------------


def _denominator(items: list[Token], start: int) -> tuple[list[Token], int, bool]:
    """Denominator of a slash: its siblings, the index behind them, and whether a factor follows."""
    index = start
    if index < len(items) and items[index].type in ("MINUS", "PLUS"):
        index += 1
    if index >= len(items) or items[index].type in OPERATORS:
        found = items[index] if index < len(items) else Token("END", "", items[-1].pos)
        raise Fault(found.pos, describe(found), "a denominator")
    first = items[index]
    index += 1
    if first.type in _SIMPLE:
        while index < len(items) and items[index].type in _SIMPLE:
            index += 1
    follows = index < len(items) and items[index].type not in OPERATORS
    if follows and first.type in ("SQRT", "ROOT") and items[index].type in _SIMPLE:
        raise Fault(items[index].pos, "a factor behind a root in the denominator of a slash: does it belong there?",
                    "brackets around the denominator")  # fmt: skip
    return items[start:index], index, follows


def _slashes(items: list[Token]) -> list[Token]:
    """Mark where the denominator of each slash ends, by an explicit product sign."""
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
        if index < len(items) and _is_numeric_fraction(out[numerator:-1], items, index):
            out.append(items[index])
            out.append(Token("TIMES", "", items[index].pos))
            index += 1
        else:
            run, index, follows = _denominator(items, index)
            out.extend(run)
            if follows:
                out.append(Token("TIMES", "", items[index].pos))
        numerator = len(out)
    return out


def _is_numeric_fraction(above: list[Token], items: list[Token], index: int) -> bool:
    r"""`1/2 m v^2`: number over number, and more factors, of which the first is not \pi."""
    below = items[index]
    if below.type != "NUM" or index + 1 >= len(items) or not above:
        return False
    after = items[index + 1]
    if after.type in OPERATORS or after.type == "BANG" or (after.type == "CONST" and below.sup is None):
        return False
    last = above[-1]
    numeric = all(part.type in ("NUM", "CONST") for part in above)
    return numeric or (last.type == "NUM" and last.sup is None)


# Emission ---------------------------------------------------------------------------------------------------

_OPEN, _SHUT = ("LG", "RG")
_CONSTRUCTS = {
    "FRAC": "FRAC", "SQRT": "SQRT", "ROOT": "ROOT", "DERIVATIVE": "DERIVATIVE", "PARTIAL": "PARTIAL",
    "DIFFERENTIAL": "DIFFERENTIAL", "INTEGRAL_": "INTEGRAL", "CONTOUR": "CONTOUR", "SERIES_": "SERIES",
    "LIMIT_": "LIMIT", "NABLA_": "NABLA", "AT": "AT", "BRACKET": "BRACKET",
}  # fmt: skip


def _emit(state: _State, items: list[Token], out: list[Token], *, fresh: bool, inside: bool = False) -> None:
    """Settle one list of siblings and append its tokens in the order of the grammar.

    Args:
        fresh: the list comes from the reader; an operand that an outer pass has cut out is settled already.
        inside: the list stands under an integral sign.
    """
    state.depth += 1
    if state.depth > 2 * MAX_DEPTH:
        raise Fault(items[0].pos if items else 0, f"brackets nested more than {MAX_DEPTH} deep")
    kinds = {item.type for item in items}
    if fresh:
        if "PAREN" in kinds:
            items = _calls(items)
        if state.has_d or "D" in kinds:
            items = _differentials(state, items, inside)
            kinds = {item.type for item in items}
        if state.has_units:
            items = _units(items)
    if "FUNCTION" in kinds or kinds & _BIG:
        items = _extents(state, items)
    if kinds & _NESTING:
        _limit_chains(items)
    if "SLASH" in kinds:
        items = _slashes(items)
    previous: Token | None = None
    for index, item in enumerate(items):
        if item.type == "BRACED":
            _check_braced(item, previous, items[index + 1] if index + 1 < len(items) else None)
        _emit_one(state, item, out)
        previous = item
    state.depth -= 1


_NESTING = frozenset(("SLASH", "PM", "TIMES"))


def _limit_chains(items: list[Token]) -> None:
    """Quotients, doubled signs and vector products nest once a sign: `a/a/a/...` would be as deep as it is long."""
    for kind in ("SLASH", "PM"):
        if sum(item.type == kind for item in items) > MAX_CHAIN:
            raise Fault(items[0].pos, f"more than {MAX_CHAIN} of `/` or of `\\pm` in one bracket")
    signs = sum(item.type == "TIMES" for item in items)
    if signs > MAX_CHAIN and any(item.text.startswith((r"\vec", r"\hat")) for item in items if item.type == "SYM"):
        raise Fault(items[0].pos, f"more than {MAX_CHAIN} products of vectors in one bracket")


def _check_braced(item: Token, before: Token | None, after: Token | None) -> None:
    """A sum in bare braces is shown without brackets, so beside a factor it has two readings."""
    if (before is not None and before.type not in ("PLUS", "REL", "COMMA", "FUNCTION")) or (
        after is not None and after.type not in ("PLUS", "MINUS", "PM", "REL", "COMMA")
    ):
        raise Fault(item.pos, "a sum in braces beside a factor: the braces do not show", "round brackets")


def _emit_one(state: _State, item: Token, out: list[Token]) -> None:
    kind = item.type
    if item.sub is not None and kind != "FUNCTION":
        item = _held(item)
        kind = item.type
    if kind in _CONSTRUCTS:
        out.append(Token(_CONSTRUCTS[kind], item.text, item.pos))
        whole = kind in ("FRAC", "SQRT", "ROOT", "AT", "BRACKET", "DERIVATIVE", "PARTIAL", "DIFFERENTIAL")
        for arg in item.args:
            _group(state, arg, out, item, fresh=whole or arg is not item.args[0])
    elif kind == "PAREN" or kind == "BRACED":
        _emit_bracket(state, item, out)
    elif kind == "FUNCTION":
        _emit_function(state, item, out)
        if item.text in ("asin", "acos", "atan", "asinh", "acosh", "atanh") and item.sup is None:
            return
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


_PLAIN = frozenset(("NUM", "SYM", "CONST", "UNIT", "INFINITY", "BANG")) | OPERATORS - {"IMPLIES", "ROW"}


def _emit_power(state: _State, sup: list[Token], out: list[Token], item: Token) -> None:
    plain = len(sup) == 1 and sup[0].type == "NUM" and sup[0].text.isdigit()
    if item.type == "SYM" and item.text == "e" and not plain:
        out[-1] = Token("FUNCTION", "exp", item.pos)
        _group(state, sup, out, item, fresh=True)
        return
    if item.type == "UNIT" and not sup:
        return
    out.append(Token("CARET", "^", item.pos))
    _group(state, sup, out, item, fresh=True)


_SHORT = frozenset(("NUM", "SYM", "CONST"))
_OPEN_ENDED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "PARTIAL", "AT", "BRACKET"))  # one group more or less


def _group(state: _State, items: list[Token], out: list[Token], owner: Token, *, fresh: bool) -> None:
    """One operand: a leaf as it is, anything else in braces."""
    if len(items) == 1 and owner.type not in _OPEN_ENDED:
        leaf = items[0]
        if leaf.type in _SHORT and leaf.sup is None and leaf.sub is None:
            out.append(leaf)
            return
    out.append(Token(_OPEN, "{", items[0].pos if items else owner.pos))
    before = len(out)
    _emit(state, items, out, fresh=fresh)
    if len(out) == before:
        raise Fault(owner.pos, "an empty part", "a number or a symbol")
    out.append(Token(_SHUT, "}", items[-1].pos + len(items[-1].text)))


def _emit_bracket(state: _State, item: Token, out: list[Token]) -> None:
    content = item.args[0]
    if any(part.type in ("COMMA", "REL") for part in content) and item.text != "{":
        kind = {"(": "tuple", "[": "commutator", r"\{": "set"}.get(item.text, "list")
        _emit_list(state, Token("OPAQUE", kind, item.pos, args=[content]), out)
        return
    out.append(Token("LP", "(", item.pos))
    _emit(state, content, out, fresh=True)
    end = item.raw[-1] if item.raw else content[-1]
    out.append(Token("RP", ")", end.pos + len(end.text)))


def _emit_list(state: _State, item: Token, out: list[Token]) -> None:
    """A call or an opaque construct: its parts, with commas between them."""
    out.append(Token(item.type, item.text, item.pos))
    if not item.args:
        out.append(Token("LG", "{", item.pos))
        out.append(Token("RG", "}", item.pos))
        return
    out.append(Token("LG", "{", item.pos))
    for index, arg in enumerate(item.args):
        if index:
            out.append(Token("COMMA", ",", item.pos))
        _emit(state, arg, out, fresh=True)
    out.append(Token("RG", "}", item.pos))


_INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "sinh": "asinh", "cosh": "acosh", "tanh": "atanh"}
_RECIPROCALS = {"cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin"), "coth": ("cosh", "sinh")}
KEPT_FUNCTIONS = frozenset(FUNCTIONS.values()) - frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log10".split()
)


def _emit_function(state: _State, item: Token, out: list[Token]) -> None:
    r"""A function with its argument: `\sin^{-1}` is the inverse, `\log_b x` a quotient, cot, sec and csc quotients."""
    name = item.text
    argument = item.args[0]
    sup = item.sup
    if sup is not None and len(sup) == 2 and sup[0].type == "MINUS" and sup[1].text == "1" and item.expr is None:
        direct = not (len(argument) == 1 and argument[0].type == "PAREN")
        if name in _INVERSES:
            name, item.sup = _INVERSES[name], None
        elif direct or name in _RECIPROCALS:
            raise Fault(item.pos, f"{name} to the power -1: the inverse or one over it?", f"1/\\{name}")
    if item.sub is not None:
        _emit_logarithm(state, item, out)
    elif name in _RECIPROCALS:
        above, below = _RECIPROCALS[name]
        out.append(Token("FRAC", "", item.pos))
        out.append(Token("LG", "{", item.pos))
        if above:
            out.append(Token("FUNCTION", above, item.pos))
            _group(state, argument, out, item, fresh=False)
        else:
            out.append(Token("NUM", "1", item.pos))
        out.extend((Token("RG", "}", item.pos), Token("LG", "{", item.pos), Token("FUNCTION", below, item.pos)))
        _group(state, argument, out, item, fresh=False)
        out.append(Token("RG", "}", item.pos))
    elif name in KEPT_FUNCTIONS:
        out.append(Token("APPLY", name, item.pos))
        out.append(Token("LG", "{", item.pos))
        content = argument[0].args[0] if len(argument) == 1 and argument[0].type == "PAREN" else argument
        _emit(state, content, out, fresh=content is not argument)
        out.append(Token("RG", "}", item.pos))
    else:
        out.append(Token("FUNCTION", name, item.pos))
        _group(state, argument, out, item, fresh=name == "exp" and item.expr is None and not item.raw)


def _emit_logarithm(state: _State, item: Token, out: list[Token]) -> None:
    base = item.sub or []
    if item.text != "ln":
        if item.text in KEPT_FUNCTIONS:
            raise Fault(item.pos, f"a subscript on {item.text}, which is not read")
        raise Fault(item.pos, f"a subscript on the function {item.text}")
    if len(base) == 1 and base[0].type == "NUM" and base[0].text == "10":
        out.append(Token("FUNCTION", "log10", item.pos))
        _group(state, item.args[0], out, item, fresh=False)
        return
    if len(base) == 1 and base[0].type == "SYM" and base[0].text == "e":
        out.append(Token("FUNCTION", "ln", item.pos))
        _group(state, item.args[0], out, item, fresh=False)
        return
    out.append(Token("FRAC", "", item.pos))
    for part, fresh in ((item.args[0], False), (base, True)):
        out.extend((Token("LG", "{", item.pos), Token("FUNCTION", "ln", item.pos)))
        _group(state, part, out, item, fresh=fresh)
        out.append(Token("RG", "}", item.pos))
