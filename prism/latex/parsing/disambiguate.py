r"""Disambiguation: from nested tokens to tokens that leave the grammar nothing to guess.

`disambiguate_formula` is the pipeline. The formula as a whole is looked at once: text behind it is dropped, several
formulas are split, and one decision is made whether an italic d is a differential. Then each bracket is resolved from
the outside in, always by the same passes, left to right: calls, derivatives, units, operands, the slash. What comes
out are constructs that say where they end, for `grammar/latex.lark`.

Where the text allows two readings that physicists really use, a pass refuses it and asks for brackets: a formula
that is not read costs a credit, a formula that is read wrongly can give one.

Braces that show: sets, Poisson brackets, anticommutators, normal orderings.

`\{a, b\}` is a set, unless it stands where no set can: among factors or terms, or beside a number, a derivative or a
product. There it is the anticommutator of what is written as operators, else a Poisson bracket; of two capital letters
it may be either and equals only itself. `\{a^\dagger a\}`, a product of ladder operators alone in braces, is ordered
normally. Refused as evidence were the letters alone: `\{q, p\}` also lists coordinates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from prism import budget
from prism.latex.parsing.calls import collect_call_evidence, resolve_calls
from prism.latex.parsing.clauses import Clause, complete_sides, resolve_ratios, split_formulas
from prism.latex.parsing.differentials import is_italic_d_differential, resolve_derivatives
from prism.latex.parsing.names import FRACTIONS, brace_script, rewrite_flat_tokens, spell_name
from prism.latex.parsing.operands import BIG, FormulaState, attach_operands
from prism.latex.parsing.slashes import mark_denominator_ends
from prism.latex.parsing.tokens import (
    FUNCTIONS,
    MAX_DEPTH,
    OPERATORS,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    has_type,
    split_at,
    tokenize,
)
from prism.latex.parsing.tree import nest_tokens
from prism.latex.parsing.units.roman_text import resolve_roman_texts
from prism.latex.words import word_set

MAX_CHAIN = 24  # slashes, or products of vectors, in one bracket: each nests the ones before it
_MAX_DOUBLED = 40  # arguments written twice, as of `\cot x = \cos x/\sin x`; nested ones would double each time
_TOKEN = 100  # operations for each flat token, beside those for each character
_MAX_EMIT_DEPTH = 2 * MAX_DEPTH  # brackets and the functions and integrals around them, which count in the same depth

# Every roman text is a command, every degree sign too, and minutes of arc are primes.
_MAY_BE_UNIT = frozenset(("command", "PRIME", "PERCENT", "unknown"))
_NEVER_UNIT = FRACTIONS | word_set(r"\sqrt \vec \hat \dot \ddot \sin \cos \tan \ln \log")  # the most frequent of them
_UNIT_LETTERS = frozenset((r"\Omega", "o"))  # ohm, and a degree sign as in `30^o`
_CONSTRUCTS = {
    "FRAC": "FRAC", "SQRT": "SQRT", "ROOT": "ROOT", "DERIVATIVE": "DERIVATIVE", "PARTIAL": "PARTIAL",
    "DIFFERENTIAL": "DIFFERENTIAL", "INTEGRAL_": "INTEGRAL", "CONTOUR": "CONTOUR", "SERIES_": "SERIES",
    "LIMIT_": "LIMIT", "NABLA_": "NABLA", "AT": "AT", "BRACKET": "BRACKET",
}  # fmt: skip
# Constructs whose operand was cut from their siblings, which are resolved already.
_OPERAND_ATTACHED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "LIMIT_", "NABLA_"))
_NESTING = frozenset(("SLASH", "PM", "TIMES"))
_PLAIN = frozenset(("NUM", "SYM", "CONST", "UNIT", "INFINITY", "BANG")) | OPERATORS - {"IMPLIES", "ROW", "OR", "COLON"}
_BEFORE_BRACED = frozenset(("PLUS", "REL", "COMMA", "FUNCTION"))
_BEHIND_BRACED = frozenset(("PLUS", "MINUS", "PM", "REL", "COMMA"))
_SHORT = frozenset(("NUM", "SYM", "CONST"))
_OPEN_ENDED = frozenset(("INTEGRAL_", "CONTOUR", "SERIES_", "PARTIAL", "AT", "BRACKET"))  # one group more or less
_DIFFERENTIAL_SIGNS = frozenset(("d", "D", r"\partial", r"\dd", r"\diff"))
_BESIDE_SETS = frozenset((r"\cup", r"\cap", r"\setminus"))
_BEFORE_SETS = _BESIDE_SETS | {r"\in", r"\notin", r"\subset", r"\subseteq", r"\supset", r"\supseteq"}
# Types of items in the bounds of an interval.
_BOUNDS = frozenset(
    ("NUM", "MINUS", "PLUS", "SLASH", "TIMES", "INFINITY", "CONST", "FRAC", "QUANTITY", "UNIT", "ROMAN")
)
_INVERSES = {name: "a" + name for name in "sin cos tan cot sec csc sinh cosh tanh coth sech csch".split()}
_RECIPROCALS = {"cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin"),
                "coth": ("cosh", "sinh"), "sech": ("", "cosh"), "csch": ("", "sinh")}  # fmt: skip
_OF_RECIPROCALS = {"acot": "atan", "asec": "acos", "acsc": "asin", "acoth": "atanh", "asech": "acosh", "acsch": "asinh"}
_COMPOSED = _OF_RECIPROCALS.keys() | _RECIPROCALS.keys() | {"cis"}
_ROUNDED = frozenset(("floor", "ceiling"))
_NORMS = frozenset(("1", "2", "p", "q", "F"))  # subscripts
# The laws of acids, and of friction in pipes (Colebrook and White 1937), have decimal logarithms.
_DECIMAL_LOGS = re.compile(r"pH|pK|pOH|1\}?\s*(?:\{|/)\s*\\sqrt\s*\{?\s*(?:f|\\lambda)(?:_\w|_\{\w+\})?\s*\}")
_LOGARITHMS = frozenset(("ln", "log", "log10", "log2"))
_NAMED_LOGARITHMS = {("NUM", "10"): "log10", ("SYM", "e"): "ln"}
_NAMED_FUNCTIONS = frozenset((*FUNCTIONS.values(), "lim")) - frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log10 factorial".split()
)


@dataclass(frozen=True, slots=True)
class DisambiguatedFormula:
    """Input of the grammar: the tokens of one formula, or several formulas of a kind.

    Attributes:
        kind: `system`, `alternatives`, ... as in `Clause`; empty for one formula.
        tokens: terminals of the grammar for one formula; empty for several.
        parts: the several formulas; empty for one.
        start, end: offsets in the author's text.
        depends: (symbol, variable) pairs of calls that were read as the bare symbol, as `x(t)`.
    """

    kind: str
    tokens: list[Token]
    parts: list[DisambiguatedFormula]
    start: int
    end: int
    depends: frozenset[tuple[str, str]]


def disambiguate_formula(
    latex: str, words: frozenset[str] = frozenset(), functions: frozenset[str] = frozenset()
) -> DisambiguatedFormula:
    """Turn LaTeX into tokens that have one reading in the grammar, by all passes from `tokenize` on.

    Args:
        latex: the formula.
        words: names of several letters that are one symbol, as the `Bi` of a problem that speaks of Bi.
        functions: letters whose bracket holds an argument; see `parser.parse`.

    Errors:
        Fault: what cannot be read, or can be read in two ways.
    """
    raw = rewrite_flat_tokens(tokenize(latex), latex, words)
    budget.charge(len(raw) * _TOKEN)
    state = FormulaState(functions=functions, has_decimal_logs=_DECIMAL_LOGS.search(latex) is not None)
    has_brackets = False
    for token in raw:
        if token.text in _DIFFERENTIAL_SIGNS:
            state.has_d = True
        if token.type == "OPEN" and token.text == "(":
            has_brackets = True
        if (token.type in _MAY_BE_UNIT and token.text not in _NEVER_UNIT) or token.text in _UNIT_LETTERS:
            state.has_units = True
    items = nest_tokens(raw)
    if has_brackets:
        state.calls = collect_call_evidence(items)
    if state.has_d:
        state.d_is_differential = is_italic_d_differential(items)
    return _disambiguate_clause(state, split_formulas(items, raw[-1].pos))


def _disambiguate_clause(state: FormulaState, clause: Clause) -> DisambiguatedFormula:
    """Turn a clause, and each of its parts, into tokens for the grammar."""
    out: list[Token] = []
    if not clause.kind:
        _emit_siblings(state, complete_sides(clause.items), out, fresh=True)
    depends = frozenset((name, other) for name, others in state.calls.variables.items() for other in others)
    parts = [_disambiguate_clause(state, part) for part in clause.parts]
    return DisambiguatedFormula(clause.kind, out, parts, clause.start, clause.end, depends)


# One bracket ------------------------------------------------------------------------------------------------


def _emit_siblings(state: FormulaState, items: list[Token], out: list[Token], *, fresh: bool) -> None:
    """Run all passes over the items of one bracket, and append its tokens to `out` in the order of the grammar.

    Raises Fault beyond MAX_DEPTH.

    Args:
        fresh: no pass has seen the items; False for an operand cut from items whose calls, derivatives and units are
            resolved already.
    """
    budget.charge_steps(len(items) + 1)
    state.depth += 1
    if state.depth > _MAX_EMIT_DEPTH:
        raise Fault(items[0].pos if items else 0, f"brackets nested more than {MAX_DEPTH} deep", kind="limit")
    kinds = {item.type for item in items}
    if fresh:
        if "PAREN" in kinds:
            items = resolve_calls(_resolve_lone_dots(resolve_braces(items)), state.calls, state.functions)
        if state.has_d or "D" in kinds:
            items = _resolve_evaluation_points(resolve_derivatives(items, everywhere=state.d_is_differential))
            kinds = {item.type for item in items}
        if state.has_units:
            items = resolve_roman_texts(items)
    if "FUNCTION" in kinds or not kinds.isdisjoint(BIG):
        items = attach_operands(state, items)
    if not kinds.isdisjoint(_NESTING):
        _refuse_long_chains(items)
    if "SLASH" in kinds:
        items = mark_denominator_ends(items)
    for index, item in enumerate(items):
        kind = item.type
        if kind in _PLAIN and item.sub is None:
            out.append(item)
            if item.sup is not None and kind not in OPERATORS:
                _emit_power(state, item.sup, out, item)
            continue
        if kind == "BRACED":
            _refuse_braced_sum_in_product(items, index)
        _emit_item(state, _set_or_interval(item) if kind == "PAREN" and _stands_among_sets(items, index) else item, out)
    state.depth -= 1


def _resolve_evaluation_points(items: list[Token]) -> list[Token]:
    r"""Return the items without the `(x)` of `\frac{dy}{dx}(x)`.

    A value in brackets behind a derivative, `\frac{dy}{dx}(2)`, may be a point or a factor: it raises an Ambiguity.
    """
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
        if has_type(content, "COMMA") or (len(content) == 1 and content[0].type in ("NUM", "SYM")):
            raise Ambiguity(item.pos, "a bracket behind a derivative: where it is taken, or a factor?", r"\cdot",
                            r"a bar with \_{x=...}")  # fmt: skip
        out.append(item)
    return out


def _refuse_long_chains(items: list[Token]) -> None:
    r"""Raise a Fault if the items hold more than MAX_CHAIN slashes, `\pm` or products of vectors, which nest deeply."""
    for kind in ("SLASH", "PM"):
        if sum(item.type == kind for item in items) > MAX_CHAIN:
            raise Fault(items[0].pos, f"more than {MAX_CHAIN} of `/` or of `\\pm` in one bracket", kind="limit")
    signs = sum(item.type == "TIMES" for item in items)
    if signs > MAX_CHAIN and any(item.text.startswith((r"\vec", r"\hat")) for item in items if item.type == "SYM"):
        raise Fault(items[0].pos, f"more than {MAX_CHAIN} products of vectors in one bracket", kind="limit")


def _refuse_braced_sum_in_product(items: list[Token], index: int) -> None:
    """Raise a Fault if the sum in braces at an index stands beside a factor, `a{b + c}`: LaTeX prints no braces."""
    before = items[index - 1].type if index else "PLUS"
    after = items[index + 1].type if index + 1 < len(items) else "PLUS"
    if before not in _BEFORE_BRACED or after not in _BEHIND_BRACED:
        raise Fault(items[index].pos, "a sum in braces beside a factor: the braces do not show", "round brackets")


# One token --------------------------------------------------------------------------------------------------


def _emit_item(state: FormulaState, item: Token, out: list[Token]) -> None:
    """Append the tokens of one resolved item: its terminal, its arguments and its power.

    Raises Fault for one without a terminal.
    """
    kind = item.type
    if item.sub is not None and kind != "FUNCTION":
        item = _construct_of_subscript(item)
        kind = item.type
    if kind in _CONSTRUCTS:
        out.append(Token(_CONSTRUCTS[kind], item.text, item.pos))
        for arg in item.args:
            _emit_operand(state, arg, out, item, fresh=kind not in _OPERAND_ATTACHED or arg is not item.args[0])
    elif kind == "PAREN" or kind == "BRACED":
        _emit_bracket(state, item, out)
    elif kind == "FUNCTION":
        _emit_function(state, item, out)
    elif kind == "ABS" and has_type(item.args[0], "SETOP"):
        _emit_list(state, Token("LISTED", "opaque |", item.pos, args=item.args), out)  # how many elements a set has
    elif kind == "ABS":
        out.append(Token("LBAR", "|", item.pos))
        _emit_siblings(state, item.args[0], out, fresh=True)
        out.append(Token("RBAR", "|", item.pos))
    elif kind == "APPLY" or kind == "LISTED":
        _emit_list(state, item, out)
    elif kind in _PLAIN:
        out.append(item)
    else:
        raise Fault(item.pos, describe_token(item), "a number, a symbol or an operator")
    if item.sup is not None and kind not in OPERATORS:
        _emit_power(state, item.sup, out, item)


def _construct_of_subscript(item: Token) -> Token:
    r"""Return the construct that replaces an item with a subscript which is no symbol: a bracket, a fraction, a mean.

    `[F]_a^b` and `|F|_a^b` are AT between limits, but for a norm, `|x - y|_2^2`; `(\partial U/\partial T)_V` is AT with
    V held constant, `(p)_{max}` one symbol, `|v|_{max}` the modulus of one.
    A mean `\langle x \rangle_t` keeps the subscript in its name; anything else is an opaque LISTED construct.
    """
    if item.type == "BRACKET":
        return Token("BRACKET", f"{item.text}_{spell_name(item.raw)}", item.pos, item.gap, args=item.args, sup=item.sup)
    if item.type not in ("PAREN", "ABS"):
        bare = Token(item.type, item.text, item.pos, args=item.args, expr=item.expr)
        label = f"opaque _{{{spell_name(item.raw)}}}"
        return Token("LISTED", label, item.pos, item.gap, args=[[bare]], sup=item.sup)
    lower = item.sub or []
    bare = Token(item.type, item.text, item.pos, args=item.args, raw=() if item.raw is lower else item.raw)
    related = has_type(lower, "REL", "COMMA")
    if item.text == "[" and item.sup is not None and not related:
        return Token("AT", "limits", item.pos, item.gap, args=[[bare], lower, item.sup])
    if item.type == "ABS" and item.sup is not None and not related and _may_be_evaluated(item.args[0], lower):
        return Token("AT", "limits", item.pos, item.gap, args=[item.args[0], lower, item.sup])
    if item.text == r"\{" and related and item.sup is not None:
        return Token("LISTED", "opaque sequence", item.pos, item.gap, args=[[bare], lower, item.sup])
    if len(lower) > 2 and lower[1].text == "=" and not has_type(lower[2:], "REL", "COMMA"):
        return Token("AT", "point", item.pos, item.gap, args=[[bare], lower[:1], lower[2:]], sup=item.sup)
    label = spell_name(item.raw)
    inner = bare.args[0][0]
    if len(bare.args[0]) == 1 and inner.type == "SYM" and inner.sup is None and item.type == "PAREN":
        name = f"({inner.text})_{brace_script(label)}"  # `(p_\nu)_{max}`: the name of one symbol goes on
        return Token("SYM", name, item.pos, item.gap, sup=item.sup)
    is_name = inner.type == "SYM" and inner.sup is None and "_" not in inner.text and label.isalpha() and len(label) > 1
    if item.type == "ABS" and len(bare.args[0]) == 1 and is_name:
        named = Token("SYM", f"{inner.text}_{brace_script(label)}", inner.pos)
        return Token("ABS", item.text, item.pos, item.gap, args=[[named], *bare.args[1:]], sup=item.sup)
    return Token("AT", "held", item.pos, item.gap, args=[[bare], [Token("SYM", label, item.pos)]], sup=item.sup)


def _may_be_evaluated(body: list[Token], subscript: list[Token]) -> bool:
    r"""Return True if bars with scripts hold more than a symbol, and below is a bound: no word, no number of a norm."""
    is_symbol = len(body) == 1 and body[0].type == "SYM" and body[0].sup is None
    label = spell_name(tuple(subscript))
    is_label = label in _NORMS or subscript[0].type == "INFINITY" or (label.isalpha() and len(label) > 1)
    return not is_symbol and not is_label


def _emit_power(state: FormulaState, sup: list[Token], out: list[Token], item: Token) -> None:
    """Append the tokens of a power; `e^{x}` becomes the function exp, but not `e^2`, a squared charge.

    Args:
        sup: items of the exponent.
        out: tokens so far, the last of them the base.
        item: the base.
    """
    plain = len(sup) == 1 and sup[0].type == "NUM" and sup[0].text.isdigit() and sup[0].sup is None
    if item.type == "SYM" and item.text == "e" and not plain:
        out[-1] = Token("FUNCTION", "exp", item.pos)
        _emit_operand(state, sup, out, item, fresh=True)
        return
    if item.type == "UNIT" and not sup:
        return
    out.append(Token("CARET", "^", item.pos))
    _emit_operand(state, sup, out, item, fresh=True)


def _emit_operand(state: FormulaState, items: list[Token], out: list[Token], owner: Token, *, fresh: bool) -> None:
    """Append one operand of a construct: a lone number or symbol as it is, anything else between LG and RG.

    Args:
        owner: item of the construct; an empty operand raises a Fault at its position.
        fresh: no pass has seen the items yet; False if their calls, derivatives and units are resolved.
    """
    if len(items) == 1 and owner.type not in _OPEN_ENDED:
        leaf = items[0]
        if leaf.type in _SHORT and leaf.sup is None and leaf.sub is None:
            out.append(leaf)
            return
    out.append(Token("LG", "{", items[0].pos if items else owner.pos))
    before = len(out)
    _emit_siblings(state, items, out, fresh=fresh)
    if len(out) == before:
        raise Fault(owner.pos, "an empty part", "a number or a symbol")
    out.append(Token("RG", "}", items[-1].pos + len(items[-1].text)))


def _emit_bracket(state: FormulaState, item: Token, out: list[Token]) -> None:
    """Append the tokens of a bracket: LP, content and RP, or a list if commas, relations or a `|` stand in it.

    Raises Fault for empty ones.
    """
    content = item.args[0]
    if not content:
        raise Fault(item.pos, "empty brackets")
    kinds = {part.type for part in content}
    if item.text == r"\{" and {"COLON", "REL"} <= kinds:  # `\{x : x > 0\}`
        content = [Token("GIVEN", ":", part.pos) if part.type == "COLON" else part for part in content]
        item = Token("PAREN", item.text, item.pos, args=[content])
    if kinds & {"COMMA", "REL", "GIVEN"} and item.text != "{":
        _emit_list(state, Token("LISTED", _list_kind(item), item.pos, args=split_list(content)), out)
        return
    content = _complete_lone_sign(content)
    if "COLON" in kinds:
        content = resolve_ratios(content)
    out.append(Token("LP", "(", item.pos))
    _emit_siblings(state, content, out, fresh=True)
    end = item.raw[-1] if item.raw else content[-1]
    out.append(Token("RP", ")", end.pos + len(end.text)))


def _resolve_lone_dots(items: list[Token]) -> list[Token]:
    r"""Return the items with a scalar product for each `(P \cdot \hat r) \hat r`, which is a number times the vector.

    Errors:
        Ambiguity: no such vector stands beside it, `(\omega \cdot \mathbf n)`: the dot may be that of a factor.
    """
    out = list(items)
    for at, item in enumerate(items):
        content = item.args[0] if item.type == "PAREN" and item.text == "(" else []
        if [part.type for part in content] != ["SYM", "TIMES", "SYM"] or content[1].text != r"\cdot":
            continue
        vectors = [part for part in content[::2] if part.text.startswith((r"\vec{", r"\hat{"))]
        if len(vectors) != 1 or any(part.sup is not None for part in content):
            continue
        beside = [place for place in (at - 1, at + 1) if 0 <= place < len(items)]
        vector = next((place for place in beside if _bare(items[place]).text.startswith(vectors[0].text)), None)
        if vector is None:
            raise Ambiguity(content[1].pos, "a dot between a vector and a plain letter: a scalar product, or a factor?",
                            r"\vec on both", "no dot")  # fmt: skip
        sides = sorted((content[:1], content[2:]), key=lambda side: side[0] is vectors[0])  # in one order
        first, second = min(at, vector), max(at, vector)
        product = Token("LISTED", "dot", item.pos, item.gap, args=sides, sup=item.sup)
        out[first : second + 1] = [product, items[vector]]  # the number before the vector
    return out


def _bare(item: Token) -> Token:
    r"""Return the symbol in brackets around nothing else, `(\hat r)`; any other item as it is."""
    is_around_one = item.type == "PAREN" and item.sup is None and len(item.args[0]) == 1
    return item.args[0][0] if is_around_one and item.args[0][0].type == "SYM" else item


def _complete_lone_sign(content: list[Token]) -> list[Token]:
    """Return the items, with a 1 behind a lone sign: in the parity `(-)^l`, the signature `(+, -, -, -)`."""
    if len(content) == 1 and content[0].type in ("PLUS", "MINUS", "PM"):
        return [*content, Token("NUM", "1", content[0].pos)]
    return content


def _stands_among_sets(items: list[Token], index: int) -> bool:
    r"""Return True if the item at an index stands behind `\in` or `\subset`, or beside a set operation (`\cup`)."""
    if index and items[index - 1].text in _BEFORE_SETS:
        return True
    return index + 1 < len(items) and items[index + 1].text in _BESIDE_SETS


def _set_or_interval(item: Token) -> Token:
    r"""Return the interval `(0, L)` or the set `\{a\}` that a bracket among sets is; any other bracket unchanged."""
    kinds = [part.type for part in item.args[0]]
    if item.text == r"\{" and not {"COMMA", "REL", "GIVEN", "COLON"}.intersection(kinds):
        return Token("LISTED", "set", item.pos, item.gap, args=item.args, sup=item.sup, sub=item.sub, raw=item.raw)
    if item.text not in ("(", "[") or kinds.count("COMMA") != 1:
        return item
    kind = "interval ()" if item.text == "(" else "interval []"
    return Token("LISTED", kind, item.pos, item.gap, args=item.args, sup=item.sup)


def _list_kind(item: Token) -> str:
    """Return the name of the construct that a bracket with several parts is: tuple, set, interval or commutator."""
    content = item.args[0]
    commas = sum(part.type == "COMMA" for part in content)
    if commas == 0 and not has_type(content, "GIVEN"):
        return "tuple"
    if item.text == r"\{":
        return "set"
    if item.text == "(" and commas == 1 and any(part.text == "" and part.type == "INFINITY" for part in content):
        return "interval ()"
    if item.text == "[" and commas == 1 and not (item.sup and item.sup[0].text == "T"):  # `[x, \dot x]^T` is a column
        bounds = all(_is_bound(part) for part in content if part.type != "COMMA")
        bounds = bounds and all(part[0].type != "ROMAN" for part in split_list(content))
        return "interval []" if bounds else "commutator"
    return "tuple"


def _is_bound(part: Token) -> bool:
    r"""Return True for a token that the end of an interval may have: of a number, or a root of one."""
    if part.type == "SQRT":
        return all(_is_bound(inner) for arg in part.args for inner in arg)
    return part.type in _BOUNDS


def split_list(content: list[Token]) -> list[list[Token]]:
    """Split the content of a bracket at its commas and at the bar of `P(A|B)`; an empty part raises a Fault."""
    parts = split_at(content, ("COMMA", "GIVEN"))
    if not all(parts):
        raise Fault(content[0].pos, "an empty part of a list", "a number or a symbol")
    return parts


def _emit_list(state: FormulaState, item: Token, out: list[Token]) -> None:
    """Append the tokens of a call (APPLY) or list (LISTED): its name, then its parts with commas, between LG and RG."""
    out.extend((Token(item.type, item.text, item.pos), Token("LG", "{", item.pos)))
    parts = [part for arg in item.args for part in (split_list(arg) if arg else [])]
    if len(sides := split_at(item.args[0], ("GIVEN",)) if item.args else []) == 2 and item.text != "set":
        listed = [[Token("PAREN", "(", item.pos, args=[side])] if has_type(side, "COMMA") else side for side in sides]
        parts = [[Token("LISTED", "relation given", item.pos, args=listed)]]  # P(A|B, C) is no P(A, B, C)
    for index, part in enumerate(parts):
        if index:
            out.append(Token("COMMA", ",", item.pos))
        _emit_siblings(state, _complete_lone_sign(part), out, fresh=True)
    out.append(Token("RG", "}", item.pos))


# Functions --------------------------------------------------------------------------------------------------


def _emit_function(state: FormulaState, item: Token, out: list[Token]) -> None:
    r"""Append the tokens of a function with its argument; `\log_b x`, cot, sec and csc are written by other functions.

    `\sin^{-1}` is the inverse function; `\ln^{-1} x`, which may be the inverse or 1/ln x, raises an Ambiguity.
    """
    name = "ln" if item.text == "log" else item.text
    argument = item.args[0]
    sup = item.sup
    behind = item.sub is None and bool(item.raw)
    if sup is not None and not behind and len(sup) == 2 and sup[0].type == "MINUS" and sup[1].text == "1":
        direct = not (len(argument) == 1 and argument[0].type == "PAREN")
        if name in _INVERSES:
            name, item.sup = _INVERSES[name], None
        elif direct or name in _RECIPROCALS:
            raise Ambiguity(item.pos, f"{name} to the power -1: the inverse or one over it?", f"1/\\{name}")
    if item.sub is not None and name in _NAMED_FUNCTIONS and name not in _ROUNDED and name not in _LOGARITHMS:
        _emit_named_function(state, f"{name}_{brace_script(spell_name(item.raw))}", item, out)
    elif item.sub is not None or name == "log2":
        _emit_logarithm(state, item, out)
    elif name in _COMPOSED:
        _emit_composed(state, name, item, out)
    elif name in _NAMED_FUNCTIONS:
        _emit_named_function(state, name, item, out)
    else:
        out.append(Token("FUNCTION", name, item.pos))
        _emit_operand(state, argument, out, item, fresh=name == "exp")


def _emit_composed(state: FormulaState, name: str, item: Token, out: list[Token]) -> None:
    """Append a function written by others: arccot x as arctan(1/x), cot x as cos x/sin x, cis x as cos x + i sin x.

    Raises Fault for more than _MAX_DOUBLED of them in a formula.
    """
    pos = item.pos

    def append_function(function: str) -> None:
        """Append a function, such as `cos`, of the argument of `item`."""
        out.append(Token("FUNCTION", function, pos))
        _emit_operand(state, item.args[0], out, item, fresh=False)

    if name in _OF_RECIPROCALS:
        out.extend((Token("FUNCTION", _OF_RECIPROCALS[name], pos), Token("LG", "{", pos), Token("FRAC", "", pos)))
        out.append(Token("NUM", "1", pos))
        _emit_operand(state, item.args[0], out, item, fresh=False)
        out.append(Token("RG", "}", pos))
        return
    state.doubled += 1
    if state.doubled > _MAX_DOUBLED:
        raise Fault(pos, f"more than {_MAX_DOUBLED} of cot, sec and their kin", kind="limit")
    if name == "cis":
        out.append(Token("LP", "(", pos))
        append_function("cos")
        out.extend((Token("PLUS", "+", pos), Token("SYM", "i", pos)))
        append_function("sin")
        out.append(Token("RP", ")", pos))
        return
    out.append(Token("FRAC", "", pos))
    for part in _RECIPROCALS[name]:
        out.append(Token("LG", "{", pos))
        if part:
            append_function(part)
        else:
            out.append(Token("NUM", "1", pos))
        out.append(Token("RG", "}", pos))


def _emit_named_function(state: FormulaState, name: str, item: Token, out: list[Token]) -> None:
    """Append a function that algebra has no operation for (`det`, `erf`) as a call with all its arguments.

    Raises Fault for a list where one argument is due.
    """
    kind = "LISTED" if name in _ROUNDED else "APPLY"
    argument = item.args[0]
    if len(argument) == 1 and argument[0].type == "PAREN" and argument[0].sup is None:
        content = argument[0].args[0]
        if kind == "LISTED" and has_type(content, "COMMA"):
            raise Fault(item.pos, f"{name} of a list", "one argument")
        _emit_list(state, Token(kind, name, item.pos, args=[content]), out)
    else:
        out.extend((Token(kind, name, item.pos), Token("LG", "{", item.pos)))
        _emit_siblings(state, argument, out, fresh=False)
        out.append(Token("RG", "}", item.pos))


def _emit_logarithm(state: FormulaState, item: Token, out: list[Token]) -> None:
    r"""Append `\log_b x` as the quotient ln x / ln b; raise a Fault for a subscript on a function that is no logarithm.

    The bases 10 and e give the functions log10 and ln; log2 is written as a quotient too.
    """
    if item.text == "log2" and item.sub is not None:
        raise Fault(item.pos, "a subscript on a logarithm that has its base")
    base = item.sub or [Token("NUM", "2", item.pos)]
    if item.text not in _LOGARITHMS:
        raise Fault(item.pos, f"a subscript on the function {item.text}")
    named = _NAMED_LOGARITHMS.get((base[0].type, base[0].text)) if len(base) == 1 and base[0].sup is None else None
    if named is not None:
        out.append(Token("FUNCTION", named, item.pos))
        _emit_operand(state, item.args[0], out, item, fresh=False)
        return
    out.append(Token("FRAC", "", item.pos))
    for part, fresh in ((item.args[0], False), (base, True)):
        out.extend((Token("LG", "{", item.pos), Token("FUNCTION", "ln", item.pos)))
        _emit_operand(state, part, out, item, fresh=fresh)
        out.append(Token("RG", "}", item.pos))


# Braces that show ---------------------------------------------------------------------------------------------------

_MARKS_OF_OPERATORS = (r"\hat{", r"\gamma^", r"\sigma_", r"\mathbf{")
_ADJOINT = r"^{\dagger}"
_HAMILTONIANS = frozenset(("H", r"\mathcal{H}"))
_NO_FACTOR_BEFORE = frozenset(("FUNCTION", "ROMAN", "APPLY", "SERIES", "INTEGRAL", "LIMIT", "SETOP"))
_PLAIN_MEMBER = frozenset(("SYM", "ROMAN", "PAREN", "LISTED"))  # what a set may be equal to, alone on its side
_SUMS = ("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "COMMA", "GIVEN", "COLON")


def resolve_braces(items: list[Token]) -> list[Token]:
    r"""Return the items with a commutator for each `\{a, b\}` that is no set, `opaque normal` for `\{a^\dagger a\}`."""
    return [
        _bracket_for_braces(items, index) if item.type == "PAREN" and item.text == r"\{" else item
        for index, item in enumerate(items)
    ]


def _bracket_for_braces(items: list[Token], index: int) -> Token:
    """Return the item at an index, a pair of braces, as what it is among its siblings; a set or bracket unchanged."""
    item = items[index]
    content = item.args[0]
    before = items[index - 1] if index else None
    if before is not None and before.type in _NO_FACTOR_BEFORE:
        return item
    if not has_type(content, *_SUMS) and item.sub is None:
        is_word = len(content) > 1 and all(part.type == "SYM" for part in content)
        is_normal = is_word and any(_ADJOINT in part.text for part in content)
        return replace(item, type="LISTED", text="opaque normal") if is_normal else item
    parts = split_at(content, ("COMMA",))
    if len(parts) != 2 or not all(parts) or has_type(content, "REL", "GIVEN", "COLON"):
        return item
    if not _stands_where_no_set_can(items, index) and not _is_change_in_time(parts):
        return item
    return _as_commutator(item, parts)


def _as_commutator(item: Token, parts: list[list[Token]]) -> Token:
    r"""Return braces around two parts, and those in them, as an anticommutator, a Poisson bracket or what is unclear.

    `\{Q_i, P_j\}`, of new coordinates and momenta, is clear.
    """
    has_adjoint = any(_ADJOINT in each.text for part in parts for each in part)
    if has_adjoint or all(any(_is_written_as_operator(each.text) for each in part) for part in parts):
        kind = "commutator anti"
    else:
        heads = [part[0].text.partition("_")[0] for part in parts]
        unclear = all(head[:1].isupper() for head in heads) and not {"Q", "P"}.issuperset(heads)
        kind = "opaque braces" if unclear else "commutator poisson"
    inner = [[_nested_commutator(each) for each in part] for part in parts]
    return Token("LISTED", kind, item.pos, item.gap, args=inner, sup=item.sup, sub=item.sub, raw=item.raw)


def _nested_commutator(item: Token) -> Token:
    r"""Return the inner braces of `\{f, \{g, h\}\}` as a bracket of their own; any other item unchanged."""
    if item.type != "PAREN" or item.text != r"\{" or has_type(item.args[0], "REL", "GIVEN", "COLON"):
        return item
    parts = split_at(item.args[0], ("COMMA",))
    return _as_commutator(item, parts) if len(parts) == 2 and all(parts) else item


def _is_written_as_operator(name: str) -> bool:
    """Return True for the name of a symbol with a hat or dagger, or of a Dirac or Pauli matrix."""
    return name.startswith(_MARKS_OF_OPERATORS) or _ADJOINT in name


def _is_change_in_time(parts: list[list[Token]]) -> bool:
    """Return True for a quantity with a lower-case letter and a Hamiltonian, or for operators with a dagger."""
    heads = [part[0].text.partition("_")[0] for part in parts]
    quantity = [head for head in heads if head not in _HAMILTONIANS]
    is_motion = len(quantity) == 1 and quantity[0].isalpha() and quantity[0].islower()
    return is_motion or any(_ADJOINT in each.text for part in parts for each in part)


def _stands_where_no_set_can(items: list[Token], index: int) -> bool:
    """Return True if braces at an index have a factor, sign or number beside them, or face what no set is equal to."""
    start = max((at + 1 for at in range(index) if items[at].type == "REL"), default=0)
    end = next((at for at in range(index, len(items)) if items[at].type == "REL"), len(items))
    relations = {item.text for item in items if item.type == "REL"}
    if has_type(items, "SETOP", "COMMA") or not relations <= {"=", r"\equiv", r"\approx", ":=", r"\propto"}:
        return False
    if end - start > 1:
        before = items[index - 1] if index > start else None
        is_call = before is not None and before.type == "SYM" and not (before.text.isalpha() and before.text.islower())
        return not is_call or has_type(items[start:end], "PLUS", "MINUS")
    others = [member for member in split_at(items, ("REL",)) if member != items[start:end]]
    return any(
        len(member) > 1 or member[0].type not in _PLAIN_MEMBER or member[0].text.startswith((r"\delta_", "i"))
        for member in others
        if member
    )
