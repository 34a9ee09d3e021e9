r"""What position decides: from the tree to tokens that leave the grammar nothing to guess.

`settled` is the pipeline. The formula as a whole is looked at once: what trails it is dropped, several formulas in
one are refused, and whether d is a differential is asked. Then each bracket is settled from the outside in, always
by the same passes, left to right: calls, derivatives, units, extents, the slash. What comes out are constructs that
say where they end, for `grammar/latex.lark`.

Where the text allows two readings that physicists really use, a pass refuses it and asks for brackets: a formula
that is not read costs a credit, a formula that is read wrongly can give one.
"""

from __future__ import annotations

from dataclasses import dataclass

from prism.latex.parsing.calls import heads, with_calls
from prism.latex.parsing.clauses import Clause, clauses, completed, with_ratios
from prism.latex.parsing.differentials import d_is_differential, with_derivatives
from prism.latex.parsing.flat import joined
from prism.latex.parsing.names import enclosed, spell
from prism.latex.parsing.operands import BIG, State, with_extents, with_slashes
from prism.latex.parsing.roman_text import with_units
from prism.latex.parsing.tokens import (
    FUNCTIONS,
    MAX_DEPTH,
    OPERATORS,
    Fault,
    Token,
    describe,
    scan,
)
from prism.latex.parsing.tree import read

MAX_CHAIN = 24  # slashes, or products of vectors, in one bracket: each nests the ones before it
_MAX_DOUBLED = 40  # arguments written twice, as of `\cot x = \cos x/\sin x`; nested ones would double each time
_MAX_SETTLED = 2 * MAX_DEPTH  # brackets and the functions and integrals around them, which count in the same depth

# Every roman text is a command, every degree sign too, and minutes of arc are primes.
_MAY_BE_UNIT = frozenset(("command", "PRIME", "PERCENT"))
_UNIT_LETTERS = frozenset((r"\Omega", "o"))  # ohm, and a degree sign as in `30^o`
_CONSTRUCTS = {
    "FRAC": "FRAC", "SQRT": "SQRT", "ROOT": "ROOT", "DERIVATIVE": "DERIVATIVE", "PARTIAL": "PARTIAL",
    "DIFFERENTIAL": "DIFFERENTIAL", "INTEGRAL_": "INTEGRAL", "CONTOUR": "CONTOUR", "SERIES_": "SERIES",
    "LIMIT_": "LIMIT", "NABLA_": "NABLA", "AT": "AT", "BRACKET": "BRACKET",
}  # fmt: skip
_SETTLED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "LIMIT_", "NABLA_"))  # their operand was cut from its siblings
_NESTING = frozenset(("SLASH", "PM", "TIMES"))
_PLAIN = frozenset(("NUM", "SYM", "CONST", "UNIT", "INFINITY", "BANG")) | OPERATORS - {"IMPLIES", "ROW", "OR", "COLON"}
_BEFORE_BRACED = frozenset(("PLUS", "REL", "COMMA", "FUNCTION"))
_BEHIND_BRACED = frozenset(("PLUS", "MINUS", "PM", "REL", "COMMA"))
_SHORT = frozenset(("NUM", "SYM", "CONST"))
_OPEN_ENDED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "PARTIAL", "AT", "BRACKET"))  # one group more or less
_DIFFERENTIAL_SIGNS = frozenset(("d", r"\partial", r"\dd", r"\diff"))
_BESIDE_SETS = frozenset((r"\cup", r"\cap", r"\setminus"))
_BEFORE_SETS = _BESIDE_SETS | {r"\in", r"\notin", r"\subset", r"\subseteq"}
_BOUNDS = frozenset(
    ("NUM", "MINUS", "PLUS", "INFINITY", "CONST", "FRAC", "QUANTITY", "UNIT", "ROMAN")
)  # of an interval
_INVERSES = {name: "a" + name for name in "sin cos tan cot sec csc sinh cosh tanh coth sech csch".split()}
_RECIPROCALS = {
    "cot": ("cos", "sin"),
    "sec": ("", "cos"),
    "csc": ("", "sin"),
    "coth": ("cosh", "sinh"),
    "sech": ("", "cosh"),
    "csch": ("", "sinh"),
}
_OF_RECIPROCALS = {"acot": "atan", "asec": "acos", "acsc": "asin", "acoth": "atanh", "asech": "acosh", "acsch": "asinh"}
_COMPOSED = _OF_RECIPROCALS.keys() | _RECIPROCALS.keys() | {"cis"}
_ROUNDED = frozenset(("floor", "ceiling"))
_LOGARITHMS = frozenset(("ln", "log", "log10", "log2"))
_NAMED_LOGARITHMS = {("NUM", "10"): "log10", ("SYM", "e"): "ln"}
_KEPT_FUNCTIONS = frozenset(FUNCTIONS.values()) - frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log10".split()
)


@dataclass(frozen=True, slots=True)
class Settled:
    """What the grammar reads: the tokens of one formula, or several formulas of a kind.

    Attributes:
        kind: as in `Clause`.
        tokens: of one formula.
        parts: of several.
        start, end: offsets in the author's text.
        depends: symbols that fold, with the variable that they depend on.
    """

    kind: str
    tokens: list[Token]
    parts: list[Settled]
    start: int
    end: int
    depends: frozenset[tuple[str, str]]


def settled(latex: str, words: frozenset[str] = frozenset()) -> Settled:
    """Tokens for the grammar: ambiguity is gone, extents are marked.

    Args:
        latex: one formula.
        words: names of several letters that are one symbol, as the `Bi` of a problem that speaks of Bi.

    Errors:
        Fault: what cannot be read, or can be read in two ways.
    """
    raw = joined(scan(latex), latex, words)
    state = State(has_decimal_logs="pH" in latex or "pK" in latex or "pOH" in latex)
    has_brackets = False
    for token in raw:
        if token.text in _DIFFERENTIAL_SIGNS:
            state.has_d = True
        if token.type == "OPEN" and token.text == "(":
            has_brackets = True
        if token.type in _MAY_BE_UNIT or token.text in _UNIT_LETTERS:
            state.has_units = True
    items = read(raw)
    if has_brackets:
        state.heads = heads(items)
    if state.has_d:
        state.d_is_differential = d_is_differential(items)
    return _settled(state, clauses(items, raw[-1].pos))


def _settled(state: State, clause: Clause) -> Settled:
    out: list[Token] = []
    if not clause.kind:
        _emit(state, completed(clause.items), out, fresh=True)
    depends = frozenset((name, other) for name, others in state.heads.variables.items() for other in others)
    parts = [_settled(state, part) for part in clause.parts]
    return Settled(clause.kind, out, parts, clause.start, clause.end, depends)


# One bracket ------------------------------------------------------------------------------------------------


def _emit(state: State, items: list[Token], out: list[Token], *, fresh: bool) -> None:
    """Settle one list of siblings and append its tokens in the order of the grammar.

    Args:
        fresh: the list comes from the reader; an operand that an outer pass has cut out is settled already.
    """
    state.depth += 1
    if state.depth > _MAX_SETTLED:
        raise Fault(items[0].pos if items else 0, f"brackets nested more than {MAX_DEPTH} deep", kind="limit")
    kinds = {item.type for item in items}
    if fresh:
        if "PAREN" in kinds:
            items = with_calls(items, state.heads)
        if state.has_d or "D" in kinds:
            items = _with_places(with_derivatives(items, everywhere=state.d_is_differential))
            kinds = {item.type for item in items}
        if state.has_units:
            items = with_units(items)
    if "FUNCTION" in kinds or not kinds.isdisjoint(BIG):
        items = with_extents(state, items)
    if not kinds.isdisjoint(_NESTING):
        _limit_chains(items)
    if "SLASH" in kinds:
        items = with_slashes(items)
    for index, item in enumerate(items):
        kind = item.type
        if kind in _PLAIN and item.sub is None:
            out.append(item)
            if item.sup is not None and kind not in OPERATORS:
                _emit_power(state, item.sup, out, item)
            continue
        if kind == "BRACED":
            _check_braced(items, index)
        _emit_one(state, _as_set(item) if kind == "PAREN" and _is_among_sets(items, index) else item, out)
    state.depth -= 1


def _with_places(items: list[Token]) -> list[Token]:
    r"""`\frac{dy}{dx}(x)` is the derivative; with a value in its brackets it may be taken there, or multiplied."""
    out: list[Token] = []
    for item in items:
        behind = bool(out) and out[-1].type in ("DERIVATIVE", "PARTIAL") and item.type == "PAREN" and not item.gap
        if not behind or item.text != "(":
            out.append(item)
            continue
        content = item.args[0]
        variables = {part.text for arg in out[-1].args[1:] for part in arg}
        names = [part.text for part in content if part.type == "SYM"]
        if all(part.type in ("SYM", "COMMA") for part in content) and variables.intersection(names):
            continue
        if any(part.type == "COMMA" for part in content) or (len(content) == 1 and content[0].type in ("NUM", "SYM")):
            raise Fault(item.pos, "a bracket behind a derivative: where it is taken, or a factor?",
                        r"\cdot", r"a bar with \_{x=...}", kind="ambiguous")  # fmt: skip
        out.append(item)
    return out


def _limit_chains(items: list[Token]) -> None:
    """Quotients, doubled signs and vector products nest once a sign: `a/a/a/...` would be as deep as it is long."""
    for kind in ("SLASH", "PM"):
        if sum(item.type == kind for item in items) > MAX_CHAIN:
            raise Fault(items[0].pos, f"more than {MAX_CHAIN} of `/` or of `\\pm` in one bracket", kind="limit")
    signs = sum(item.type == "TIMES" for item in items)
    if signs > MAX_CHAIN and any(item.text.startswith((r"\vec", r"\hat")) for item in items if item.type == "SYM"):
        raise Fault(items[0].pos, f"more than {MAX_CHAIN} products of vectors in one bracket", kind="limit")


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
    elif kind == "APPLY" or kind == "LISTED":
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
        bare = Token(item.type, item.text, item.pos, args=item.args, expr=item.expr)
        label = f"opaque _{{{spell(item.raw)}}}"
        return Token("LISTED", label, item.pos, item.gap, args=[[bare]], sup=item.sup)
    lower = item.sub or []
    bare = Token(item.type, item.text, item.pos, args=item.args, raw=() if item.raw is lower else item.raw)
    related = any(part.type in ("REL", "COMMA") for part in lower)
    if item.text == "[" and item.sup is not None and not related:
        return Token("AT", "limits", item.pos, item.gap, args=[[bare], lower, item.sup])
    if len(lower) > 2 and lower[1].text == "=" and not any(part.type in ("REL", "COMMA") for part in lower[2:]):
        return Token("AT", "point", item.pos, item.gap, args=[[bare], lower[:1], lower[2:]], sup=item.sup)
    label = spell(item.raw)
    inner = bare.args[0][0]
    if len(bare.args[0]) == 1 and inner.type == "SYM" and inner.sup is None and item.type == "PAREN":
        name = f"({inner.text})_{enclosed(label)}"  # `(p_\nu)_{max}`: the name of one symbol goes on
        return Token("SYM", name, item.pos, item.gap, sup=item.sup)
    return Token("AT", "held", item.pos, item.gap, args=[[bare], [Token("SYM", label, item.pos)]], sup=item.sup)


def _emit_power(state: State, sup: list[Token], out: list[Token], item: Token) -> None:
    """A power; one of the number e is the function exp, unless it is an integer, as in e^2 for a squared charge."""
    plain = len(sup) == 1 and sup[0].type == "NUM" and sup[0].text.isdigit() and sup[0].sup is None
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
    """Round brackets, or what brackets are called with commas or relations in them."""
    content = item.args[0]
    kinds = {part.type for part in content}
    if item.text == r"\{" and {"COLON", "REL"} <= kinds:  # `\{x : x > 0\}`
        content = [Token("GIVEN", ":", part.pos) if part.type == "COLON" else part for part in content]
        item = Token("PAREN", item.text, item.pos, args=[content])
    if kinds & {"COMMA", "REL", "GIVEN"} and item.text != "{":
        _emit_list(state, Token("LISTED", _bracket_kind(item), item.pos, args=split(content)), out)
        return
    content = _signed_one(content)
    if "COLON" in kinds:
        content = with_ratios(content)
    out.append(Token("LP", "(", item.pos))
    _emit(state, content, out, fresh=True)
    end = item.raw[-1] if item.raw else content[-1]
    out.append(Token("RP", ")", end.pos + len(end.text)))


def _signed_one(content: list[Token]) -> list[Token]:
    """A sign alone is that of one: the parity `(-)^l`, the signature `(+, -, -, -)`."""
    if len(content) == 1 and content[0].type in ("PLUS", "MINUS", "PM"):
        return [*content, Token("NUM", "1", content[0].pos)]
    return content


def _is_among_sets(items: list[Token], index: int) -> bool:
    r"""Whether a bracket stands behind `\in` or beside a set operation."""
    if index and items[index - 1].text in _BEFORE_SETS:
        return True
    return index + 1 < len(items) and items[index + 1].text in _BESIDE_SETS


def _as_set(item: Token) -> Token:
    r"""Among sets, brackets with one comma are an interval, and braces around one thing are the set of it."""
    kinds = [part.type for part in item.args[0]]
    if item.text == r"\{" and not {"COMMA", "REL", "GIVEN", "COLON"}.intersection(kinds):
        return Token("LISTED", "set", item.pos, item.gap, args=item.args, sup=item.sup, sub=item.sub, raw=item.raw)
    if item.text not in ("(", "[") or kinds.count("COMMA") != 1:
        return item
    kind = "interval ()" if item.text == "(" else "interval []"
    return Token("LISTED", kind, item.pos, item.gap, args=item.args, sup=item.sup)


def _bracket_kind(item: Token) -> str:
    """The construct that a bracket with several parts is."""
    content = item.args[0]
    commas = sum(part.type == "COMMA" for part in content)
    if commas == 0 and not any(part.type == "GIVEN" for part in content):
        return "tuple"
    if item.text == r"\{":
        return "set"
    if item.text == "(" and commas == 1 and any(part.text == "" and part.type == "INFINITY" for part in content):
        return "interval ()"
    if item.text == "[" and commas == 1:
        bounds = all(part.type in _BOUNDS for part in content if part.type != "COMMA")
        bounds = bounds and all(part[0].type != "ROMAN" for part in split(content))
        return "interval []" if bounds else "commutator"
    return "tuple"


def split(content: list[Token]) -> list[list[Token]]:
    """What stands between the commas of a bracket."""
    parts: list[list[Token]] = [[]]
    for item in content:
        if item.type in ("COMMA", "GIVEN"):
            parts.append([])
        else:
            parts[-1].append(item)
    if not all(parts):
        raise Fault(content[0].pos, "an empty part of a list", "a number or a symbol")
    return parts


def _emit_list(state: State, item: Token, out: list[Token]) -> None:
    """A call or a list: its parts, with commas between them."""
    out.extend((Token(item.type, item.text, item.pos), Token("LG", "{", item.pos)))
    parts = [part for arg in item.args for part in (split(arg) if arg else [])]
    if any(part.type == "GIVEN" for arg in item.args for part in arg) and len(parts) == 2:
        parts = [[Token("LISTED", "relation given", item.pos, args=parts)]]  # P(A|B) is no P(A, B)
    for index, part in enumerate(parts):
        if index:
            out.append(Token("COMMA", ",", item.pos))
        _emit(state, _signed_one(part), out, fresh=True)
    out.append(Token("RG", "}", item.pos))


# Functions --------------------------------------------------------------------------------------------------


def _emit_function(state: State, item: Token, out: list[Token]) -> None:
    r"""A function with its argument: `\sin^{-1}` is the inverse, `\log_b x` a quotient, cot, sec and csc quotients."""
    name = "ln" if item.text == "log" else item.text
    argument = item.args[0]
    sup = item.sup
    behind = item.sub is None and bool(item.raw)
    if sup is not None and not behind and len(sup) == 2 and sup[0].type == "MINUS" and sup[1].text == "1":
        direct = not (len(argument) == 1 and argument[0].type == "PAREN")
        if name in _INVERSES:
            name, item.sup = _INVERSES[name], None
        elif direct or name in _RECIPROCALS:
            raise Fault(
                item.pos, f"{name} to the power -1: the inverse or one over it?", f"1/\\{name}", kind="ambiguous"
            )
    if item.sub is not None or name == "log2":
        _emit_logarithm(state, item, out)
    elif name in _COMPOSED:
        _emit_composed(state, name, item, out)
    elif name in _KEPT_FUNCTIONS:
        _emit_kept(state, name, item, out)
    else:
        out.append(Token("FUNCTION", name, item.pos))
        _group(state, argument, out, item, fresh=name == "exp")


def _emit_composed(state: State, name: str, item: Token, out: list[Token]) -> None:
    """A function that is written by others: arccot by arctan, cot by cos and sin, cis by both and i."""
    pos = item.pos

    def applied(function: str) -> None:
        out.append(Token("FUNCTION", function, pos))
        _group(state, item.args[0], out, item, fresh=False)

    if name in _OF_RECIPROCALS:
        out.extend((Token("FUNCTION", _OF_RECIPROCALS[name], pos), Token("LG", "{", pos), Token("FRAC", "", pos)))
        out.append(Token("NUM", "1", pos))
        _group(state, item.args[0], out, item, fresh=False)
        out.append(Token("RG", "}", pos))
        return
    state.doubled += 1
    if state.doubled > _MAX_DOUBLED:
        raise Fault(pos, f"more than {_MAX_DOUBLED} of cot, sec and their kin", kind="limit")
    if name == "cis":
        out.append(Token("LP", "(", pos))
        applied("cos")
        out.extend((Token("PLUS", "+", pos), Token("SYM", "i", pos)))
        applied("sin")
        out.append(Token("RP", ")", pos))
        return
    out.append(Token("FRAC", "", pos))
    for part in _RECIPROCALS[name]:
        out.append(Token("LG", "{", pos))
        if part:
            applied(part)
        else:
            out.append(Token("NUM", "1", pos))
        out.append(Token("RG", "}", pos))


def _emit_kept(state: State, name: str, item: Token, out: list[Token]) -> None:
    """A function that is kept by its name, as a call with all that its bracket holds, or as a construct."""
    kind = "LISTED" if name in _ROUNDED else "APPLY"
    argument = item.args[0]
    if len(argument) == 1 and argument[0].type == "PAREN" and argument[0].sup is None:
        content = argument[0].args[0]
        if kind == "LISTED" and any(part.type == "COMMA" for part in content):
            raise Fault(item.pos, f"{name} of a list", "one argument")
        _emit_list(state, Token(kind, name, item.pos, args=[content]), out)
    else:
        out.extend((Token(kind, name, item.pos), Token("LG", "{", item.pos)))
        _emit(state, argument, out, fresh=False)
        out.append(Token("RG", "}", item.pos))


def _emit_logarithm(state: State, item: Token, out: list[Token]) -> None:
    """A logarithm to a base; no other function takes a subscript."""
    if item.text == "log2" and item.sub is not None:
        raise Fault(item.pos, "a subscript on a logarithm that has its base")
    base = item.sub or [Token("NUM", "2", item.pos)]
    if item.text not in _LOGARITHMS:
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
