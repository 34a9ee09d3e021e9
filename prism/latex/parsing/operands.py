r"""How far a function, an integral, a sum and an operator reach among their siblings.

`\sin 2x y`, `\int x dx`, `\sum_i a_i b_i + c`: LaTeX shows where these begin, and convention where they end. Each
becomes one token that holds its operand, so that the grammar has no precedence to guess. Where convention and authors
part (`\cos\theta c`, `\sin\omega(t - t_0)`), brackets are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from prism.algebra.expr import Expr
from prism.algebra.symbols import labels_of, symbol_of
from prism.latex.parsing.calls import CallEvidence
from prism.latex.parsing.differentials import derivative_order
from prism.latex.parsing.indices import listed_indices
from prism.latex.parsing.names import spell_name
from prism.latex.parsing.slashes import is_exponential, take_denominator
from prism.latex.parsing.tokens import (
    GAP_QUAD,
    MAX_DEPTH,
    OPERATORS,
    RELATION_TEXT,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    has_type,
    split_at,
)
from prism.latex.parsing.units.unit_text import is_numeric

OTHER_NABLAS = (r"\Box", "D_", "D^")  # operators written by other signs, which act as a nabla does
BIG = frozenset(("INTEGRAL", "SERIES", "LIMIT", "NABLA", "DERIVE"))
# Types that end the run of factors behind a function.
_ARGUMENT_STOPS = OPERATORS | BIG | {"FUNCTION", "DIFFERENTIAL", "D", "PARTIAL_SIGN", "AT", "BRACKET"}
_BRACKETS = frozenset(("PAREN", "ABS", "BRACED"))
_FORMULA_ENDS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "SETOP", "OR", "COLON"))
_TERM_ENDS = _FORMULA_ENDS | {"PLUS", "MINUS", "PM"}
_FACTOR_ENDS = _TERM_ENDS | {"TIMES", "SLASH"}
_ANGLES = (r"\theta", r"\phi", r"\varphi", r"\vartheta")
_PLAIN_ANGLES = (*_ANGLES, r"\alpha", r"\beta", r"\gamma", r"\delta", r"\psi")
_VARIABLES = frozenset(("x", "y", "z", "r", "s", "t", r"\tau", r"\xi"))
_UNCLEAR_BEHIND_BRACES = frozenset(("SYM", "NUM", "FRAC", "SQRT", "CONST"))  # behind the braces of an argument
_NEAR_FACTORS = 4  # factors before a logarithm that are looked at
_TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_DECIMAL_FACTORS = frozenset(("2.303", "2.3026", "0.059", "0.0591", "0.0592", "0.05916"))  # ln 10 and what holds it
_SIDES = ("^{+}", "^{-}")
_LEVEL_FACTORS = frozenset(("10", "20", "2.5", "2.50"))
_COORDINATES = frozenset(("r", "x", "y", "z", r"\theta", r"\phi", r"\rho"))
_PHASE_FACTORS = frozenset((r"\omega", "k", r"\omega_0", "n", r"\Omega"))
_ARROWS = frozenset((r"\Rightarrow", r"\Longrightarrow", r"\implies", "=>"))  # in a limit, an arrow as any other
_SIDED_ARROWS = {r"\downarrow": "+", r"\searrow": "+", r"\uparrow": "-", r"\nearrow": "-"}  # the side of the limit
_EXTREMA = frozenset(("max", "min", "sup", "inf", "argmax", "argmin"))
_FOLD = {r"\int": 1, r"\iint": 2, r"\iiint": 3, r"\oint": 1, r"\oiint": 2}


@dataclass(slots=True)
class FormulaState:
    r"""Facts about the whole formula and counters, shared by the passes while its parts are disambiguated.

    Attributes:
        has_d: the letter d or a partial sign stands somewhere in the formula.
        has_units: something that can be a unit stands somewhere in the formula.
        d_is_differential: italic `dx` is a differential everywhere in the formula.
        depth: nesting depth of the part that is processed now.
        waiting: number of enclosing integrals whose measure (`dx`) is not yet found.
        calls: evidence for which symbols are functions.
        functions: letters whose bracket holds an argument; see `parser.parse`.
        has_decimal_logs: `\log` is the decimal logarithm, by pH or pK in the text or in a law of friction in pipes.
        doubled: number of functions so far whose argument is written out twice, as `\cot x = \cos x/\sin x`.
    """

    has_d: bool = False
    has_units: bool = False
    d_is_differential: bool = False
    depth: int = 0
    waiting: int = 0
    calls: CallEvidence = field(default_factory=CallEvidence)
    functions: frozenset[str] = frozenset()
    has_decimal_logs: bool = False
    doubled: int = 0


def attach_operands(state: FormulaState, items: list[Token]) -> list[Token]:
    r"""Give each function, integral, sum, limit, nabla and `d/dx` among siblings the items behind it as its operand.

    A function takes the bracket or the plain factors behind it (`2x` of `\sin 2x + 1`), a sum or limit everything up to
    the next plus, minus or relation, `d/dx` or a nabla everything up to the next operator sign, an integral everything
    up to its `dx`.
    """
    out: list[Token] = []
    index = 0
    while index < len(items):
        item = items[index]
        if item.type == "FUNCTION" or item.type in BIG:
            item, index = _attach_operand(state, items, index)
        else:
            index += 1
        out.append(item)
    return out


def _attach_operand(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    r"""Return what takes an operand (`\sin`, `\int`, `d/dx`) with it, and the index behind; Fault beyond MAX_DEPTH."""
    item = items[index]
    kind = item.type
    if kind == "FUNCTION" and item.args:
        return item, index + 1
    state.depth += 1
    if state.depth > MAX_DEPTH:
        raise Fault(item.pos, f"functions or integrals nested more than {MAX_DEPTH} deep", kind="limit")
    if kind == "FUNCTION":
        found = _attach_function_argument(state, items, index)
    elif kind == "INTEGRAL":
        found = _attach_integrand(state, items, index)
    elif kind == "SERIES":
        found = _attach_series_term(state, items, index)
    elif kind == "LIMIT":
        found = _attach_limit_expression(state, items, index)
    else:
        found = _attach_derivative_operand(state, items, index)
    state.depth -= 1
    return found


# Functions --------------------------------------------------------------------------------------------------


def _attach_function_argument(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    r"""Return the function at an index with its argument (bracket, function or plain factors), and the index behind.

    A bare `log` is read as the natural or decimal logarithm here. Raises Fault without an argument, and Ambiguity for
    `\sin[2](x)`; `\det =` alone becomes a symbol.
    """
    item = items[index]
    if item.text == "log" and item.sub is None:
        item.text = "log10" if state.has_decimal_logs else _logarithm_name(items[:index])
    start = index + 1
    signed = start < len(items) and items[start].type in ("MINUS", "PLUS")
    first = start + signed
    if first >= len(items):
        raise Fault(item.pos, f"the function {item.text} without an argument", "an argument")
    head = items[first]
    if item.text == "det" and head.type == "REL" and item.sup is None and item.sub is None:
        return Token("SYM", "det", item.pos, item.gap), start  # the determinant of a matrix that stands elsewhere
    if item.text in _EXTREMA and item.sub is not None and head.type not in _BRACKETS:
        body, after = _take_operand(state, items, start, products=True)  # as a sum with an index
        return _function_with_argument(item, body), after
    if (head.type == "LISTED" and head.text == "matrix") or head.type == "BRACKET":
        after = first + 1
    elif head.type in _BRACKETS:
        after = first + 1
        if head.text == "{":
            _refuse_unclear_braces(item, head, items[after] if after < len(items) else None)
        is_number = head.text == "[" and [part.type for part in head.args[0]] == ["NUM"]
        if is_number and after < len(items) and items[after].type == "PAREN" and not items[after].gap:  # of physics.sty
            raise Ambiguity(head.pos, f"a number in square brackets behind {item.text}: a power, or the argument?", "^")
        if head.sup is not None and item.sup is None and not signed and (head.text != "{" or len(head.args[0]) == 1):
            return _function_with_outer_power(item, head), after
    elif head.type == "FUNCTION" or head.type in BIG:
        inner, after = _attach_operand(state, items, first)
        return _function_with_argument(item, [*items[start:first], inner]), after
    else:
        after = _argument_end(item, items, start, first)
    if first == after:
        raise Fault(head.pos, describe_token(head), f"an argument of {item.text}")
    return _function_with_argument(item, items[start:after]), after


def _function_with_argument(function: Token, argument: list[Token]) -> Token:
    """Return a copy of a function item with these items as its argument."""
    made = replace(function, args=[argument])
    made.raw = function.raw if function.sub is not None else ()
    return made


def _function_with_outer_power(function: Token, bracket: Token) -> Token:
    r"""Return a function of a bracket with the bracket's power as a power of the value: `\sin(x)^{-1}` is 1/sin(x)."""
    bare = Token(bracket.type, bracket.text, bracket.pos, args=bracket.args, raw=bracket.raw)
    made = _function_with_argument(function, bracket.args[0] if bracket.text == "{" else [bare])
    made.sup = bracket.sup
    if function.sub is None:
        made.raw = (Token("power", "", bracket.pos),)
    return made


def _refuse_unclear_braces(function: Token, braces: Token, follower: Token | None) -> None:
    r"""Raise an Ambiguity for `\sin{x} y` or `\sin{x}^2`: braces do not show, so the argument could end elsewhere.

    Args:
        braces: the bracket item of the braces.
        follower: the item behind the braces; None at the end.
    """
    whole = len(braces.args[0]) == 1 and braces.args[0][0].type == "PAREN"
    if braces.sup is not None and function.sup is None and len(braces.args[0]) == 1 and not whole:
        found = f"a power behind the braces of {function.text}: of the argument or of the function?"
        raise Ambiguity(braces.pos, found, "brackets around one of them")
    if not whole and braces.sup is None and follower is not None and follower.type in _UNCLEAR_BEHIND_BRACES:
        raise Ambiguity(follower.pos, f"a factor behind the braced argument of {function.text}: does it belong to it?",
                        "brackets around the argument")  # fmt: skip


def _argument_end(function: Token, items: list[Token], argument_start: int, first_factor: int) -> int:
    r"""Return the index behind the argument of a function without brackets: the plain factors `2x` of `\sin 2x + 1`.

    Args:
        items: the function and its siblings.
        argument_start: index of the argument, at its sign if there is one (`\sin -x`).
        first_factor: index of the first factor, behind the sign.

    Errors:
        Ambiguity: authors mean different arguments by this text.
    """
    after = first_factor
    while after < len(items) and items[after].type not in _ARGUMENT_STOPS:
        if after > first_factor:
            if items[after].type in _BRACKETS or items[after].gap == GAP_QUAD:
                break
            if _ends_argument(items[after]):
                break
            if items[after - 1].type == "UNIT" and items[after].type != "UNIT":  # `\sin 60^\circ x`
                break
            lone_angle = (
                after == first_factor + 1
                and items[first_factor].type == "SYM"
                and items[first_factor].text.startswith(_ANGLES)
            )
            if lone_angle and items[after].type in ("FRAC", "SQRT", "ROOT"):
                break
            _refuse_unclear_factor(function, items, first_factor, after)
        after += 1
    if after < len(items) and _argument_includes_bracket(function, items[first_factor:after], items[after]):
        after += 1
    argument = items[argument_start:after]
    quotient = after < len(items) and items[after].type == "SLASH" and has_type(argument, "SYM")
    if quotient and not _is_angle_before_divisor(argument, items, after + 1):
        found = f"a slash behind the argument of {function.text}: is the quotient the argument?"
        raise Ambiguity(items[after].pos, found, "brackets around the argument")
    if function.text == "exp" and argument[-1:] and argument[-1].text == "i" and after < len(items):
        after += items[after].type == "PAREN"  # `\exp i(kx - \omega t)`
        argument = items[argument_start:after]
    _refuse_unclear_phase(function, argument, items[after] if after < len(items) else None)
    return after


def _logarithm_name(before: list[Token]) -> str:
    r"""Return the function that `\log` is: `log10` near a level or magnitude (`10 \log`, `-2.5 \log`, dB), else `ln`.

    Args:
        before: items before the `\log`.

    Errors:
        Ambiguity: `5 \log`, which can be either.
    """
    if any("dB" in (part.text, "".join(raw.text for raw in part.raw)) for part in _with_contents(before[-2:])):
        return "log10"
    if any(part.type == "NUM" and part.text in _DECIMAL_FACTORS for part in _with_contents(before[-_NEAR_FACTORS:])):
        return "log10"
    factor = before[-1].text if before and before[-1].type == "NUM" and before[-1].sup is None else ""
    if factor == "5":
        raise Ambiguity(before[-1].pos, r"five times \log: natural, or the decimal one of a magnitude?", r"\ln",
                        r"\log_{10}")  # fmt: skip
    return "log10" if factor in _LEVEL_FACTORS else "ln"


def _with_contents(items: list[Token]) -> list[Token]:
    """Return items together with the items directly inside their brackets or arguments."""
    return [part for item in items for part in (item, *(inner for arg in item.args for inner in arg))]


def _argument_includes_bracket(function: Token, factors: list[Token], follower: Token) -> bool:
    r"""Return True if a bracket behind the argument belongs to it: `\sin 2\pi(t - x)`; `\ln 2 (a + b)` is a product.

    Args:
        factors: of the argument before the bracket.
        follower: the item behind these factors.

    Errors:
        Ambiguity: a bracket with a plus or minus behind a fraction.
    """
    if follower.type != "PAREN" or not factors or function.text in ("exp", "max", "min"):
        return False
    numeric = all(is_numeric(part) and part.type != "UNIT" for part in factors)
    turned = any(part.type == "CONST" for part in _with_contents(factors))
    if numeric:
        return turned or function.text in _TRIGONOMETRIC
    if factors[-1].type == "FRAC" and has_type(follower.args[0], "PLUS", "MINUS"):
        raise Ambiguity(follower.pos, f"a bracket behind the argument of {function.text}: does it belong to it?",
                        "brackets around the whole argument")  # fmt: skip
    return False


def _refuse_unclear_factor(function: Token, items: list[Token], first: int, index: int) -> None:
    r"""Raise an Ambiguity for a factor that may belong to the argument before it: `\ln 2 \frac{a}{b}`, `\sin x dx`.

    Args:
        first: index of the first factor of the argument.
        index: of the factor in question.
    """
    item, before = items[index], items[index - 1]
    complete = before.type == "FRAC" or (before.type == "NUM" and function.text in ("ln", "log10"))
    if item.type == "FRAC" and complete:
        raise Ambiguity(item.pos, f"a fraction behind the argument of {function.text}: does it belong to it?",
                        "brackets around the argument")  # fmt: skip
    behind = items[index + 1] if index + 1 < len(items) else None
    own = behind is not None and any(part.type == "SYM" and part.text == behind.text for part in items[first:index])
    if item.text == "d" and item.type == "SYM" and own:
        raise Ambiguity(item.pos, f"a differential behind the argument of {function.text}, or a factor of it?",
                        "an upright d, or brackets around the argument")  # fmt: skip


def _is_angle_before_divisor(argument: list[Token], items: list[Token], divisor: int) -> bool:
    r"""Return True if a slash divides the value of a function, not its argument: `\sin\theta / \lambda`, `\sin x / x`.

    Args:
        argument: items between the function and the slash.
        divisor: index of the first item behind the slash.
    """
    if len(argument) != 1 or argument[0].type != "SYM" or divisor >= len(items):
        return False
    head = items[divisor]
    if head.text == argument[0].text:  # `\sin\beta / \beta`
        return True
    if not argument[0].text.startswith(_PLAIN_ANGLES):
        return False
    return head.type in ("SYM", "PAREN", "FUNCTION") and not (head.type == "SYM" and head.text.startswith(_ANGLES))


def _ends_argument(item: Token) -> bool:
    """Return True for an item that ends an argument without brackets: a vector, column, derivative, exponential."""
    if is_exponential(item) or (item.type == "LISTED" and item.text in ("matrix", "binomial")):
        return True
    if item.type == "SYM" and item.text[0] == "e" and item.text[1:2] == "_":
        return item.text.strip("e_{}") in _COORDINATES  # the unit vector e_r
    return item.type in ("DERIVATIVE", "PARTIAL") or (item.type == "SYM" and item.text.startswith((r"\vec{", r"\hat{")))


def _may_be_coefficient(function: Token, letter: str, content: list[Token]) -> bool:
    r"""Return True if a letter may multiply the bracket behind it in an argument: `\sin k(a - b)`, `\cosh m(L - x)`.

    A usual frequency always may; another letter where the bracket holds a variable to no power, unless the letter is a
    variable itself, or an angle behind a trigonometric function: `\ln x(1 + x)` and `\sin\alpha(t - t_0)` are products.
    """
    is_own = letter in _VARIABLES or (function.text in _TRIGONOMETRIC and letter.startswith(_PLAIN_ANGLES))
    has_variable = any(part.type == "SYM" and part.text in _VARIABLES and part.sup is None for part in content)
    return letter in _PHASE_FACTORS or (has_variable and not is_own)


def _refuse_unclear_phase(function: Token, argument: list[Token], follower: Token | None) -> None:
    r"""Raise an Ambiguity for `\sin\omega(t - t_0)` and `\cos\theta c`: does the last factor belong to the argument?

    Args:
        argument: the argument that the rules give the function.
        follower: the item behind the argument; None at the end.
    """
    if (
        follower is not None
        and follower.type == "PAREN"
        and argument
        and argument[-1].type in ("SYM", "CONST")
        and _may_be_coefficient(function, argument[-1].text, follower.args[0])
        and has_type(follower.args[0], "PLUS", "MINUS")
    ):
        raise Ambiguity(follower.pos, f"a bracket behind the argument of {function.text}: does it belong to it?",
                        "brackets around the whole argument")  # fmt: skip
    if len(argument) > 1 and argument[0].type == "SYM" and argument[0].text.startswith(_ANGLES):
        second = argument[1]
        if second.type in ("NUM", "FRAC", "SQRT", "ROOT") or (second.type == "SYM" and second.text[0] != "\\"):
            found = f"a factor behind the angle of {function.text}: does it belong to the argument?"
            raise Ambiguity(second.pos, found, "brackets around the argument")


# Operators, sums and limits ---------------------------------------------------------------------------------


def _take_operand(state: FormulaState, items: list[Token], start: int, *, products: bool) -> tuple[list[Token], int]:
    """Return the operand of a sum sign, limit, nabla or `d/dx` that begins at an index, and the index behind it.

    The operand ends before the next plus, minus or relation.

    Args:
        products: the operand also includes a leading minus, product signs and slashes (sums, limits); otherwise product
            signs and slashes end it (`d/dx`).
    """
    out: list[Token] = []
    index = start
    ends = _TERM_ENDS if products else _FACTOR_ENDS
    if products and index < len(items) and items[index].type == "MINUS":
        out.append(items[index])
        index += 1
    while index < len(items):
        item = items[index]
        if item.type in ends or (item.gap == GAP_QUAD and index > start):
            break
        if out and not products and item.type == "DERIVE" and len(item.raw) > 1:
            break  # \partial_\mu\phi \partial^\mu\phi is a product
        if item.type == "FUNCTION" or item.type in BIG:
            item, index = _attach_operand(state, items, index)
        else:
            index += 1
        out.append(item)
        if not products and len(out) == 1 and out[0].type in _BRACKETS:
            break
    return out, index


def _attach_derivative_operand(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    """Return the `d/dx` or nabla at an index with its operand, or bare if it has none, and the index behind.

    A bare one becomes an item that the engine does not evaluate.

    Errors:
        Ambiguity: a product or quotient behind, which the operator may or may not act on.
    """
    item = items[index]
    name, start = item.text, index + 1
    scripts = "" if item.text.startswith(OTHER_NABLAS) else item.text
    if item.type == "NABLA":
        name, start = _nabla_kind(items, index) if scripts == item.text else (item.text, index + 1)
    body, after = _take_operand(state, items, start, products=False)
    clear = bool(body) and (body[0].type in _BRACKETS or (len(body) == 1 and body[0].type in ("DERIVATIVE", "PARTIAL")))
    if item.type == "NABLA" and name == "grad" and after + 1 < len(items) and len(body) == 1:
        follower = items[after + 1]
        over = follower.args[0] if follower.type == "FRAC" else [follower]
        is_vector = follower.type == "NABLA" or (  # a vector, or one over a number: `\frac{\mathbf{e}_r}{r^2}`
            len(over) == 1 and over[0].type == "SYM" and over[0].text.startswith((r"\vec{", r"\hat{"))
        )
        clear = clear or (items[after].type == "TIMES" and is_vector and not body[0].text.startswith(r"\vec{"))
    if (
        item.type == "NABLA"
        and name not in ("div", "curl", "laplace")
        and len(body) > 1
        and all(part.type == "SYM" for part in body)
    ):
        raise Ambiguity(body[1].pos, "a product behind a nabla: does it act on all of it?", "brackets")
    if body and not clear and after < len(items) and items[after].type in ("TIMES", "SLASH"):
        raise Ambiguity(items[after].pos, "a product or quotient behind an operator: does the operator act on it?",
                        "brackets around what it acts on")  # fmt: skip
    if item.type == "NABLA":
        if not body:
            if name in ("div", "curl"):
                raise Fault(item.pos, "a nabla without anything to act on")
            bare = f"nabla{'2' if name == 'laplace' else '' if name == 'grad' else name}{scripts}"
            return Token("LISTED", f"opaque {bare}", item.pos, item.gap), index + 1
        return Token("NABLA_", name + scripts, item.pos, item.gap, args=[body]), after
    order = item.raw[0].text
    if not body:
        bare = "derivative" if item.text == "DERIVATIVE" else "partial"
        bare += order if order != "1" else ""
        return Token("LISTED", f"opaque {bare}", item.pos, item.gap, args=item.args), index + 1
    return Token(item.text, order, item.pos, item.gap, args=[body, *item.args]), after


def _nabla_kind(items: list[Token], index: int) -> tuple[str, int]:
    """Return `grad`, `div`, `curl` or `laplace` of a nabla, and the index of its operand; Fault for powers except 2."""
    item = items[index]
    if item.sup is not None:
        if derivative_order(item.sup) != "2":
            raise Fault(item.pos, "a power of nabla other than 2")
        return "laplace", index + 1
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "TIMES":
        if after.text == r"\cdot" and index + 2 < len(items) and items[index + 2].type == "NABLA":
            return "div", index + 2
        return ("curl" if after.text == r"\times" else "div"), index + 2
    return "grad", index + 1


def _attach_series_term(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    r"""Return the `\sum` or `\prod` at an index as an item with its term, and the index behind that.

    The arguments of the item are the term, the index variable (or the condition below the sign), the lower and the
    upper limit, as far as they are written. Raises Fault without a term, and for an upper limit alone.
    """
    item = items[index]
    body, after = _take_operand(state, items, index + 1, products=True)
    if not body:
        raise Fault(item.pos, f"{item.text} without a term", "a term")
    lower = item.sub
    if (
        item.text == r"\prod"
        and len(body) > 1
        and body[-1].type == "BRACKET"
        and not _holds_letter(body[-1], lower or [])
    ):
        body, after = body[:-1], after - 1  # the state on which the product acts
    _refuse_escaped_index(items, index, after)
    args = [body]
    if lower is not None:
        bound = len(lower) > 2 and lower[0].type == "SYM" and lower[1].text == "="
        lower = lower if bound or item.sup is not None else listed_indices(lower)
        plain = not has_type(lower[2 if bound else 0 :], "REL", "COMMA", "ROW")
        if bound and plain and item.sup is not None:
            args += [lower[:1], lower[2:], item.sup]
        elif bound and plain:
            args += [lower[:1], lower[2:]]
        elif plain and item.sup is None:
            args.append(lower)
        elif (
            plain
            and len(upper := item.sup or []) > 1
            and all(part.text == "dots" or part.type == "SYM" for part in (*lower, *upper))
        ):
            rows = ([part.text if part.type == "SYM" else r"\ldots" for part in row] for row in (lower, upper))
            args.append([Token("SYM", ",".join(name for row in rows for name in row), item.pos)])  # a second list
        else:
            args.append([Token("SYM", spell_name(item.raw), item.pos)])
            if item.sup is not None:  # an index without its first value
                args += [[Token("INFINITY", "blank", item.pos, expr=Expr("blank"))], item.sup]
    elif item.sup is not None:
        raise Fault(item.pos, f"{item.text} with an upper limit alone", "a lower limit")
    name = {r"\sum": "sum", r"\prod": "product"}.get(item.text.rstrip("'"), f"opaque {item.text}")
    if item.text.endswith("'"):
        name += " '"
    return Token("SERIES_", name, item.pos, item.gap, args=args), after


def _holds_letter(item: Token, lower: list[Token]) -> bool:
    """Return True if one of the indices below a sum or product stands in an item, also in its scripts."""
    first = next((at for at, part in enumerate(lower) if part.text == "="), len(lower))
    names = {part.text for part in lower[:first] if part.type == "SYM"}
    parts = [item]
    while parts:
        part = parts.pop()
        groups = [group for group in (*part.args, part.sup or [], part.sub or []) if not has_type(group, "SERIES")]
        parts += [each for group in groups for each in group]  # a sum within binds its own index
        if part.type == "SYM" and (part.text in names or not names.isdisjoint(labels_of(symbol_of(part.text).sub))):
            return True
    return False


def _refuse_escaped_index(items: list[Token], index: int, after: int) -> None:
    r"""Raise an Ambiguity if only the term behind that of a sum has its index too, `\sum_j 2J_j - K_j`.

    Args:
        after: index behind the term of the sum at `index`.
    """
    lower = items[index].sub
    if lower is None or after >= len(items) or items[after].type not in ("PLUS", "MINUS"):
        return
    end = next((at for at in range(after, len(items)) if items[at].type in _FORMULA_ENDS), len(items))
    behind = items[after:end]
    terms = split_at([*items[:index], *items[end:]], ("REL", "PLUS", "MINUS", "COMMA"))
    outside = [item for term in terms if not has_type(term, "SERIES") for item in term]
    if has_type(behind, "SERIES", "SERIES_", "INTEGRAL") or not any(_holds_letter(item, lower) for item in behind):
        return
    if not any(_holds_letter(item, lower) for item in outside):
        raise Ambiguity(behind[0].pos, "the index of a sum in the term behind it: does the sum hold that term?",
                        "brackets")  # fmt: skip


def _attach_limit_expression(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    r"""Return the `\lim` at an index with expression, variable, target, and the index behind; Fault if one lacks."""
    item = items[index]
    sub = item.sub
    if sub is not None and sub and sub[0].type == "ROMAN":
        sub = [Token("SYM", spell_name(sub[0].raw), sub[0].pos), *sub[1:]]
    arrow = sub[1].text if sub is not None and len(sub) > 2 and sub[0].type == "SYM" else ""
    if sub is None:  # its variable is told in words, or by the letter
        body, after = _take_operand(state, items, index + 1, products=True)
        if not body:
            raise Fault(item.pos, r"\lim without an expression", "an expression")
        return Token("FUNCTION", "lim", item.pos, item.gap, args=[body], sup=item.sup), after
    if not (RELATION_TEXT.get(arrow) == "to" or arrow in _ARROWS or arrow in _SIDED_ARROWS):
        raise Fault(item.pos, r"\lim without its variable", r"\lim_{x \to a}")
    body, after = _take_operand(state, items, index + 1, products=True)
    if not body:
        raise Fault(item.pos, r"\lim without an expression", "an expression")
    target = _target_with_side(sub[2:], _SIDED_ARROWS.get(arrow, ""))
    return Token("LIMIT_", "", item.pos, item.gap, args=[body, sub[:1], target]), after


def _target_with_side(target: list[Token], side: str) -> list[Token]:
    r"""Return the target of a one-sided limit (`0+`, `a - 0`, `-1^+`) with the side as superscript, others unchanged.

    Args:
        target: items behind the arrow.
        side: `+` or `-` of a slanted arrow (`x \downarrow 0`); empty for a plain arrow.
    """
    last = target[-1]
    if len(target) > 1 and last.type in ("PLUS", "MINUS"):
        target, side = target[:-1], last.text
    elif len(target) > 2 and target[-2].type in ("PLUS", "MINUS") and last.text == "0" and last.sup is None:
        target, side = target[:-2], target[-2].text
    elif len(target) == 2 and target[0].type == "MINUS" and last.type == "SYM" and last.text.endswith(_SIDES):
        value = last.text[: -len("^{+}")]
        side = last.text[-2]
        target = [target[0], Token("NUM" if value[0].isdigit() else "SYM", value, last.pos)]
    if not side or last.type == "INFINITY":
        return target
    single = target[0]
    if len(target) == 1 and single.type in ("SYM", "NUM") and single.sup is None and "^" not in single.text:
        return [Token("SYM", f"{single.text}^{{{side}}}", single.pos)]
    return [Token("LISTED", f"opaque {side}", single.pos, args=[target])]


# Integrals --------------------------------------------------------------------------------------------------


def _attach_integrand(state: FormulaState, items: list[Token], index: int) -> tuple[Token, int]:
    """Return the integral at an index with integrand and measure (`dx`), and the index behind.

    Adjacent signs become nested integrals: the innermost takes the first measure. Raises Fault without a measure.
    """
    item = items[index]
    body: list[Token] = []
    measures: list[Token] = []
    at = index + 1
    while at < len(items) and items[at].type == "INTEGRAL":
        at += 1
    signs, leads = items[index:at], False
    while at < len(items) and not measures:
        token = items[at]
        if token.type in _FORMULA_ENDS:
            break
        if token.type == "INTEGRAL":
            state.waiting += 1
            token, at = _attach_operand(state, items, at)
            state.waiting -= 1
            body.append(token)
        elif token.type == "DIFFERENTIAL":
            at = _take_measures(items, at, measures, state.waiting)
            leads = not body
        elif token.type == "FRAC" and (found := _take_fraction_measures(token)):
            measures.extend(found)
            at += 1
            body.append(token)
            tail, at = _take_operand(state, items, at, products=True)
            body.extend(tail)
        else:
            body.append(token)
            at += 1
    measures = measures or _take_inexact_measure(body)
    if not measures:
        raise Fault(item.pos, "an integral without its differential", "a measure such as dx")
    over_integral = at + 1 < len(items) and items[at + 1].type in BIG  # a quotient of two integrals
    if at < len(items) and items[at].type == "SLASH" and not over_integral:
        denominator, at, _ = take_denominator(items, at + 1)
        body = [Token("FRAC", "", item.pos, args=[body or [Token("NUM", "1", item.pos)], denominator])]
    elif not body:
        if at + 1 < len(items) and items[at].type == "TIMES":
            at += 1
        body, at = _take_operand(state, items, at, products=True)
    whole = _nested_integrals(signs, body, measures, leads)
    if len(signs) > 1 or leads or state.waiting or has_type(items[:index], "DIFFERENTIAL"):
        return whole, at
    return _with_further_terms(state, items, at, item, whole)


def _with_further_terms(
    state: FormulaState, items: list[Token], at: int, sign: Token, whole: Token
) -> tuple[Token, int]:
    r"""Return an integral with the further terms of its form, `\oint P\,dx + Q\,dy`, and the index behind them.

    Each term ends in a measure of its own, which nothing else on that side of the formula has.

    Args:
        at: index behind the first term, whose integral is `whole`.
    """
    parts = [whole]
    while at < len(items) and items[at].type in ("PLUS", "MINUS"):
        end = next((k for k in range(at + 1, len(items)) if items[k].type in _TERM_ENDS), len(items))
        term = items[at + 1 : end]
        if len(term) < 2 or term[-1].type != "DIFFERENTIAL" or has_type(term[:-1], "DIFFERENTIAL", "INTEGRAL"):
            break
        body = attach_operands(state, term[:-1])
        parts += [items[at], _integral_token(replace(sign), body, term[-1:])]
        at = end
    return (whole if len(parts) == 1 else Token("PAREN", "(", sign.pos, sign.gap, args=[parts])), at


def _take_inexact_measure(body: list[Token]) -> list[Token]:
    r"""Remove the measure `\delta Q` from an integrand such as `\frac{\delta Q}{T}` and return it; empty if none."""
    above = body[0].args[0] if len(body) == 1 and body[0].type == "FRAC" else body
    for index, part in enumerate(above):
        if part.type == "SYM" and part.text.startswith(r"\delta ") and part.sup is None:
            above[index : index + 1] = [Token("NUM", "1", part.pos)] if len(above) == 1 else []
            return [Token("DIFFERENTIAL", "", part.pos, args=[[part]])]
    return []


def _take_measures(items: list[Token], start: int, measures: list[Token], waiting: int) -> int:
    """Append the adjacent differentials from an index on to `measures`, and return the index behind those taken.

    Args:
        waiting: number of enclosing integrals without a measure; one differential is left for each, at least one taken.
    """
    end = start
    while end < len(items) and items[end].type == "DIFFERENTIAL":
        end += 1
    end = max(start + 1, end - waiting)
    measures.extend(items[start:end])
    return end


def _take_fraction_measures(item: Token) -> list[Token]:
    r"""Remove the differentials from the numerator of `\frac{x\,dx}{...}` and return them; empty if none or in sums."""
    above = item.args[0]
    found = [part for part in above if part.type == "DIFFERENTIAL"]
    if found and not has_type(above, "PLUS", "MINUS", "PM", "INTEGRAL"):
        kept = [part for part in above if part.type != "DIFFERENTIAL"]
        while kept and kept[-1].type == "TIMES":
            kept.pop()
        item.args = [kept or [Token("NUM", "1", item.pos)], item.args[1]]
        return found
    return []


def _nested_integrals(signs: list[Token], body: list[Token], measures: list[Token], leads: bool) -> Token:
    r"""Make nested integrals of adjacent integral signs: the last sign takes the first measure.

    Args:
        body: the integrand.
        leads: the measures stand before the integrand, `\int\int dx\,dy f`.

    Errors:
        Fault: the numbers of signs and measures differ, or leading measures could belong to different limits.
    """
    if len(signs) == 1:
        return _integral_token(signs[0], body, measures)
    if len(measures) != len(signs):
        raise Fault(signs[0].pos, f"{len(signs)} integral signs with {len(measures)} measures", "one measure each")
    limits = {(spell_name(sign.raw), "".join(part.text for part in sign.sup or ())) for sign in signs}
    if leads and len(limits) > 1:
        found = "measures before the integrand: which belongs to which limits?"
        raise Fault(signs[0].pos, found, "each behind its sign")
    for sign, measure in zip(reversed(signs), measures, strict=True):
        body = [_integral_token(sign, body, [measure])]
    return body[0]


def _integral_token(sign: Token, body: list[Token], measures: list[Token]) -> Token:
    """Make the item of one integral sign with integrand, measures and limits; several measures make nested items.

    Raises Fault for more measures than the sign has, an upper limit alone, and a power behind a measure.
    """
    name = ""
    if body and body[-1].type == "TIMES":
        mark = body[-1].text
        body = body[:-1]
        if any(part.text.startswith(r"\vec") for part in measures[0].args[0]):
            name = "cross" if mark == r"\times" else "dot"
    if not body:
        body = [Token("NUM", "1", sign.pos)]
    fold = _FOLD[sign.text]
    if fold > 1 and len(measures) not in (1, fold):
        raise Fault(sign.pos, f"{sign.text} with {len(measures)} measures", f"one or {fold} measures")
    limits: list[list[Token]] = []
    variable = measures[-1].args[0]
    if sign.sub is not None:
        limits.append(_integration_limit(sign.sub, variable, sign))
        if sign.sup is not None:
            limits.append(_integration_limit(sign.sup, variable, sign))
    elif sign.sup is not None:
        raise Fault(sign.pos, "an integral with an upper limit alone", "a lower limit")
    kind = "CONTOUR" if sign.text.startswith(r"\o") else "INTEGRAL_"
    for position, measure in enumerate(measures):
        if measure.sup is not None and has_type(measure.sup, "NUM"):
            raise Fault(measure.pos, "a power behind the measure of an integral", "brackets around what is raised")
        label = " ".join(part for part in (name, f"d^{measure.text}" if measure.text else "") if part)
        if fold > 1 and len(measures) == 1:
            label = f"{fold} {label}".strip()
        last = position == len(measures) - 1
        body = [Token(kind, label, sign.pos, sign.gap, args=[body, measure.args[0], *(limits if last else ())])]
        name = ""
    return body[0]


def _integration_limit(items: list[Token], variable: list[Token], sign: Token) -> list[Token]:
    """Return the items of one limit of integration: `a` for `x = a`, and one name for a region that is no expression.

    Args:
        items: the limit as written.
        variable: of the measure.
        sign: the integral sign.
    """
    if len(items) > 2 and items[1].text == "=" and items[0].type == "SYM" and items[0].text == variable[0].text:
        items = items[2:]
    worded = any(part.type == "ROMAN" and part.raw and any(token.gap for token in part.raw[1:]) for part in items)
    if worded or has_type(items, "REL", "COMMA", "PARTIAL_SIGN", "ROW"):
        region = " ".join(spell_name(part.raw) if part.type == "ROMAN" else part.text for part in items)
        return [Token("SYM", spell_name(sign.raw) if items is sign.sub else region, sign.pos)]
    return items
