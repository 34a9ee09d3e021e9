r"""How far a function, an integral, a sum, an operator and a slash reach among their siblings.

`\sin 2x y`, `\int x dx`, `\sum_i a_i b_i + c`, `1/2 m`: LaTeX shows where these begin, and convention where they
end. Each becomes one token that holds its operand, or gets an explicit product sign behind it, so that the grammar
has no precedence to guess. Where convention and authors part (`\cos\theta c`, `\sin\omega(t - t_0)`), brackets are
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from prism.algebra.expr import Expr
from prism.latex.parsing.calls import Heads
from prism.latex.parsing.differentials import order_of
from prism.latex.parsing.names import spell
from prism.latex.parsing.tokens import GAP_QUAD, MAX_DEPTH, OPERATORS, RELATION_TEXT, Fault, Token, describe
from prism.latex.parsing.unit_text import is_numeric

_SIMPLE = frozenset(("SYM", "NUM", "CONST", "UNIT", "INFINITY", "APPLY", "DERIVATIVE", "PARTIAL", "LISTED", "QUANTITY",
                     "BANG", "ROMAN"))  # fmt: skip
BIG = frozenset(("INTEGRAL", "SERIES", "LIMIT", "NABLA", "DERIVE"))
_STOPS = OPERATORS | BIG | {"FUNCTION", "DIFFERENTIAL", "D", "PARTIAL_SIGN", "AT", "BRACKET"}  # end the run of factors
_BRACKETS = frozenset(("PAREN", "ABS", "BRACED"))
_ENDS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "SETOP", "OR", "COLON"))
_TERM_ENDS = _ENDS | {"PLUS", "MINUS", "PM"}
_FACTOR_ENDS = _TERM_ENDS | {"TIMES", "SLASH"}
_ANGLES = (r"\theta", r"\phi", r"\varphi", r"\vartheta")
_UNCLEAR = frozenset(("SYM", "NUM", "FRAC", "SQRT", "CONST"))  # behind the braces of an argument
_NEAR = 4  # factors before a logarithm that are looked at
_TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_DECIMAL_FACTORS = frozenset(("2.303", "2.3026", "0.059", "0.0591", "0.0592", "0.05916"))  # ln 10 and what holds it
_SIDES = ("^{+}", "^{-}")
_DECIBELS = frozenset(("10", "20", "2.5", "2.50"))
_COORDINATES = frozenset(("r", "x", "y", "z", r"\theta", r"\phi", r"\rho"))
_PHASES = frozenset((r"\omega", "k", r"\omega_0", "n", r"\Omega"))
_ARROWS = frozenset((r"\Rightarrow", r"\Longrightarrow", r"\implies", "=>"))  # in a limit, an arrow as any other
_SIDED_ARROWS = {r"\downarrow": "+", r"\searrow": "+", r"\uparrow": "-", r"\nearrow": "-"}  # the side of the limit
_FOLD = {r"\int": 1, r"\iint": 2, r"\iiint": 3, r"\oint": 1, r"\oiint": 2}


@dataclass(slots=True)
class State:
    """What is known of the whole formula while its parts are settled.

    Attributes:
        has_d: the letter d or a partial sign stands in it.
        has_units: something stands in it that can be a unit.
        d_is_differential: italic `dx` is a differential everywhere in it.
        depth: nesting of what is settled now.
        waiting: integrals around this one that still look for their measure.
        heads: which symbols are functions.
        doubled: functions so far whose argument is written twice.
        has_decimal_logs: it speaks of pH or pK.
    """

    has_d: bool = False
    has_units: bool = False
    d_is_differential: bool = False
    depth: int = 0
    waiting: int = 0
    heads: Heads = field(default_factory=Heads)
    has_decimal_logs: bool = False
    doubled: int = 0


def with_extents(state: State, items: list[Token]) -> list[Token]:
    """Give each function, integral, sum and operator the siblings that are its operand."""
    out: list[Token] = []
    index = 0
    while index < len(items):
        item = items[index]
        if item.type == "FUNCTION" or item.type in BIG:
            item, index = _extended(state, items, index)
        else:
            index += 1
        out.append(item)
    return out


def _extended(state: State, items: list[Token], index: int) -> tuple[Token, int]:
    """One construct with its operand, and the index behind it."""
    item = items[index]
    kind = item.type
    if kind == "FUNCTION" and item.args:
        return item, index + 1
    state.depth += 1
    if state.depth > MAX_DEPTH:
        raise Fault(item.pos, f"functions or integrals nested more than {MAX_DEPTH} deep", kind="limit")
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


# Functions --------------------------------------------------------------------------------------------------


def _function_extent(state: State, items: list[Token], index: int) -> tuple[Token, int]:
    """A bracket right behind a function is its argument; otherwise the run of plain factors is."""
    item = items[index]
    if item.text == "log":
        item.text = "log10" if state.has_decimal_logs else _logarithm(items[:index])
    start = index + 1
    signed = start < len(items) and items[start].type in ("MINUS", "PLUS")
    first = start + signed
    if first >= len(items):
        raise Fault(item.pos, f"the function {item.text} without an argument", "an argument")
    head = items[first]
    if head.type == "LISTED" and head.text == "matrix":
        after = first + 1
    elif head.type in _BRACKETS:
        after = first + 1
        if head.text == "{":
            _refuse_braces(item, head, items[after] if after < len(items) else None)
        if head.sup is not None and item.sup is None and not signed and (head.text != "{" or len(head.args[0]) == 1):
            return _powered(item, head), after
    elif head.type == "FUNCTION" or head.type in BIG:
        inner, after = _extended(state, items, first)
        return _with_argument(item, [*items[start:first], inner]), after
    else:
        after = _end_of_run(item, items, start, first)
    if first == after:
        raise Fault(head.pos, describe(head), f"an argument of {item.text}")
    return _with_argument(item, items[start:after]), after


def _with_argument(item: Token, argument: list[Token]) -> Token:
    return Token("FUNCTION", item.text, item.pos, item.gap, args=[argument], sup=item.sup, sub=item.sub)


def _powered(item: Token, bracket: Token) -> Token:
    r"""A function with a power behind its bracket, which is one of its value: `\sin(x)^{-1}` is no inverse."""
    bare = Token(bracket.type, bracket.text, bracket.pos, args=bracket.args, raw=bracket.raw)
    made = Token("FUNCTION", item.text, item.pos, item.gap, args=[[bare]], sup=bracket.sup, sub=item.sub)
    if bracket.text == "{":
        made.args = bracket.args
    if item.sub is None:
        made.raw = (Token("power", "", bracket.pos),)
    return made


def _refuse_braces(item: Token, head: Token, follower: Token | None) -> None:
    """Braces do not show: what stands behind them may belong to the argument, unless they hold one whole bracket."""
    whole = len(head.args[0]) == 1 and head.args[0][0].type == "PAREN"
    if head.sup is not None and item.sup is None and len(head.args[0]) == 1 and not whole:
        raise Fault(head.pos, f"a power behind the braces of {item.text}: of the argument or of the function?",
                    "brackets around one of them", kind="ambiguous")  # fmt: skip
    if not whole and head.sup is None and follower is not None and follower.type in _UNCLEAR:
        raise Fault(follower.pos, f"a factor behind the braced argument of {item.text}: does it belong to it?",
                    "brackets around the argument", kind="ambiguous")  # fmt: skip


def _end_of_run(item: Token, items: list[Token], start: int, first: int) -> int:
    """Index behind the run of factors that is the argument of a function without brackets."""
    after = first
    while after < len(items) and items[after].type not in _STOPS:
        if after > first:
            if items[after].type in _BRACKETS or items[after].gap == GAP_QUAD:
                break
            if _ends_argument(items[after]) or _ends_in_degrees(items, after):
                break
            if after == first + 1 and _is_angle(items[first]) and items[after].type in ("FRAC", "SQRT", "ROOT"):
                break
            _refuse_run(item, items, first, after)
        after += 1
    if after < len(items) and _takes_bracket(item, items[first:after], items[after]):
        after += 1
    argument = items[start:after]
    quotient = after < len(items) and items[after].type == "SLASH" and any(part.type == "SYM" for part in argument)
    if quotient and not _is_angle_over(argument, items, after + 1):
        raise Fault(items[after].pos, f"a slash behind the argument of {item.text}: is the quotient the argument?",
                    "brackets around the argument", kind="ambiguous")  # fmt: skip
    if item.text == "exp" and argument[-1:] and argument[-1].text == "i" and after < len(items):
        after += items[after].type == "PAREN"  # `\exp i(kx - \omega t)`
        argument = items[start:after]
    _refuse_phase(item, argument, items[after] if after < len(items) else None)
    return after


def _logarithm(before: list[Token]) -> str:
    r"""`\log` is natural, but behind the factor of a level or a magnitude: `10 \log`, `-2.5 \log`."""
    if any("dB" in (part.text, "".join(raw.text for raw in part.raw)) for part in _flat(before[-2:])):
        return "log10"
    if any(part.type == "NUM" and part.text in _DECIMAL_FACTORS for part in _flat(before[-_NEAR:])):
        return "log10"
    factor = before[-1].text if before and before[-1].type == "NUM" and before[-1].sup is None else ""
    if factor == "5":
        raise Fault(before[-1].pos, r"five times \log: natural, or the decimal one of a magnitude?",
                    r"\ln", r"\log_{10}", kind="ambiguous")  # fmt: skip
    return "log10" if factor in _DECIBELS else "ln"


def _flat(items: list[Token]) -> list[Token]:
    """Items and what stands in their brackets."""
    return [part for item in items for part in (item, *(inner for arg in item.args for inner in arg))]


def _ends_in_degrees(items: list[Token], after: int) -> bool:
    r"""`\sin 60^\circ x`: a number with its unit is the whole argument."""
    return items[after - 1].type == "UNIT" and items[after].type != "UNIT"


def _is_angle(item: Token) -> bool:
    return item.type == "SYM" and item.text.startswith(_ANGLES)


def _takes_bracket(function: Token, run: list[Token], follower: Token) -> bool:
    r"""`\sin 2\pi(t - x)`: a bracket behind nothing but numbers is argument too; `\ln 2 (a + b)` is a product."""
    if follower.type != "PAREN" or not run or function.text in ("exp", "max", "min"):
        return False
    numeric = all(is_numeric(part) and part.type != "UNIT" for part in run)
    turned = any(part.type == "CONST" for part in _flat(run))
    if numeric:
        return turned or function.text in _TRIGONOMETRIC
    if run[-1].type == "FRAC" and any(part.type in ("PLUS", "MINUS") for part in follower.args[0]):
        raise Fault(follower.pos, f"a bracket behind the argument of {function.text}: does it belong to it?",
                    "brackets around the whole argument", kind="ambiguous")  # fmt: skip
    return False


def _refuse_run(function: Token, items: list[Token], first: int, after: int) -> None:
    """A fraction behind a complete one, or a differential of the argument itself: part of the argument, or not?"""
    item, before = items[after], items[after - 1]
    complete = before.type == "FRAC" or (before.type == "NUM" and function.text in ("ln", "log10"))
    if item.type == "FRAC" and complete:
        raise Fault(item.pos, f"a fraction behind the argument of {function.text}: does it belong to it?",
                    "brackets around the argument", kind="ambiguous")  # fmt: skip
    behind = items[after + 1] if after + 1 < len(items) else None
    own = behind is not None and any(part.type == "SYM" and part.text == behind.text for part in items[first:after])
    if item.text == "d" and item.type == "SYM" and own:
        raise Fault(item.pos, f"a differential behind the argument of {function.text}, or a factor of it?",
                    "an upright d, or brackets around the argument", kind="ambiguous")  # fmt: skip


def _is_angle_over(argument: list[Token], items: list[Token], below: int) -> bool:
    r"""`\sin\theta / \lambda`: an angle alone is the argument, unless the slash halves it or makes it another angle."""
    if len(argument) != 1 or argument[0].type != "SYM" or below >= len(items):
        return False
    head = items[below]
    if head.text == argument[0].text:  # `\sin\beta / \beta`
        return True
    if not argument[0].text.startswith((*_ANGLES, r"\alpha", r"\beta", r"\gamma", r"\delta", r"\psi")):
        return False
    return head.type in ("SYM", "PAREN", "FUNCTION") and not (head.type == "SYM" and head.text.startswith(_ANGLES))


def _ends_argument(item: Token) -> bool:
    """Vectors, unit vectors, dotted symbols and exponentials stand behind an argument, not in it."""
    if item.type == "SYM" and item.text == "e" and item.sup is not None:
        return not (len(item.sup) == 1 and item.sup[0].type == "NUM")
    if item.type == "SYM" and item.text[0] == "e" and item.text[1:2] == "_":
        return item.text.strip("e_{}") in _COORDINATES  # the unit vector e_r
    return item.type in ("DERIVATIVE", "PARTIAL") or (item.type == "SYM" and item.text.startswith((r"\vec{", r"\hat{")))


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
                    "brackets around the whole argument", kind="ambiguous")  # fmt: skip
    if len(argument) > 1 and argument[0].type == "SYM" and argument[0].text.startswith(_ANGLES):
        second = argument[1]
        if second.type in ("NUM", "FRAC", "SQRT", "ROOT") or (second.type == "SYM" and second.text[0] != "\\"):
            raise Fault(second.pos, f"a factor behind the angle of {item.text}: does it belong to the argument?",
                        "brackets around the argument", kind="ambiguous")  # fmt: skip


# Operators, sums and limits ---------------------------------------------------------------------------------


def _operand(state: State, items: list[Token], start: int, *, products: bool) -> tuple[list[Token], int]:
    """Operand of a sum or an operator: the factors up to the next plus, minus or relation.

    Args:
        products: explicit products and slashes belong to it (sums, limits); otherwise they end it (d/dx).
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
            item, index = _extended(state, items, index)
        else:
            index += 1
        out.append(item)
        if not products and len(out) == 1 and out[0].type in _BRACKETS:
            break
    return out, index


def _operator(state: State, items: list[Token], index: int) -> tuple[Token, int]:
    """d/dx and nabla with what they act on; alone they are kept as they are."""
    item = items[index]
    name, start = item.text, index + 1
    if item.type == "NABLA":
        name, start = _nabla_kind(items, index)
    body, after = _operand(state, items, start, products=False)
    clear = bool(body) and (body[0].type in _BRACKETS or (len(body) == 1 and body[0].type in ("DERIVATIVE", "PARTIAL")))
    if item.type == "NABLA" and name == "grad" and after + 1 < len(items) and len(body) == 1:
        follower = items[after + 1]
        over = follower.args[0] if follower.type == "FRAC" else [follower]
        is_vector = follower.type == "NABLA" or (  # a vector, or one over a number: `\frac{\mathbf{e}_r}{r^2}`
            len(over) == 1 and over[0].type == "SYM" and over[0].text.startswith((r"\vec{", r"\hat{"))
        )
        clear = clear or (items[after].type == "TIMES" and is_vector and not body[0].text.startswith(r"\vec{"))
    if item.type == "NABLA" and name == "grad" and len(body) > 1 and all(part.type == "SYM" for part in body):
        raise Fault(body[1].pos, "a product behind a nabla: does it act on all of it?", "brackets", kind="ambiguous")
    if body and not clear and after < len(items) and items[after].type in ("TIMES", "SLASH"):
        raise Fault(items[after].pos, "a product or quotient behind an operator: does the operator act on it?",
                    "brackets around what it acts on", kind="ambiguous")  # fmt: skip
    if item.type == "NABLA":
        if not body:
            if name not in ("grad", "laplace"):
                raise Fault(item.pos, "a nabla without anything to act on")
            bare = "nabla" + ("2" if name == "laplace" else "") + item.text
            return Token("LISTED", f"opaque {bare}", item.pos, item.gap), index + 1
        return Token("NABLA_", name + item.text, item.pos, item.gap, args=[body]), after
    order = item.raw[0].text
    if not body:
        bare = "derivative" if item.text == "DERIVATIVE" else "partial"
        bare += order if order != "1" else ""
        return Token("LISTED", f"opaque {bare}", item.pos, item.gap, args=item.args), index + 1
    return Token(item.text, order, item.pos, item.gap, args=[body, *item.args]), after


def _nabla_kind(items: list[Token], index: int) -> tuple[str, int]:
    item = items[index]
    if item.sup is not None:
        if order_of(item.sup) != "2":
            raise Fault(item.pos, "a power of nabla other than 2")
        return "laplace", index + 1
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "TIMES":
        if after.text == r"\cdot" and index + 2 < len(items) and items[index + 2].type == "NABLA":
            return "div", index + 2
        return ("curl" if after.text == r"\times" else "div"), index + 2
    return "grad", index + 1


def _series(state: State, items: list[Token], index: int) -> tuple[Token, int]:
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
            if item.sup is not None:  # an index without its first value
                args += [[Token("INFINITY", "blank", item.pos, expr=Expr("blank"))], item.sup]
    elif item.sup is not None:
        raise Fault(item.pos, f"{item.text} with an upper limit alone", "a lower limit")
    name = "sum" if item.text.startswith(r"\sum") else "product"
    if item.text.endswith("'"):
        name += " '"
    return Token("SERIES_", name, item.pos, item.gap, args=args), after


def _limit(state: State, items: list[Token], index: int) -> tuple[Token, int]:
    item = items[index]
    sub = item.sub
    if sub is not None and sub and sub[0].type == "ROMAN":
        sub = [Token("SYM", spell(sub[0].raw), sub[0].pos), *sub[1:]]
    arrow = sub[1].text if sub is not None and len(sub) > 2 and sub[0].type == "SYM" else ""
    if sub is None or not (RELATION_TEXT.get(arrow) == "to" or arrow in _ARROWS or arrow in _SIDED_ARROWS):
        raise Fault(item.pos, r"\lim without its variable", r"\lim_{x \to a}")
    body, after = _operand(state, items, index + 1, products=True)
    if not body:
        raise Fault(item.pos, r"\lim without an expression", "an expression")
    target = _sided(sub[2:], _SIDED_ARROWS.get(arrow, ""))
    return Token("LIMIT_", "", item.pos, item.gap, args=[body, sub[:1], target]), after


def _sided(target: list[Token], side: str) -> list[Token]:
    """The side from which a limit is taken, as the label of the whole target: `0+`, `a - 0` and `-1^+` too."""
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


def _integral(state: State, items: list[Token], index: int) -> tuple[Token, int]:
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
        if token.type in _ENDS:
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
        measures = _inexact(body)
    if not measures:
        raise Fault(item.pos, "an integral without its differential", "a measure such as dx")
    over_integral = at + 1 < len(items) and items[at + 1].type in BIG  # a quotient of two integrals
    if at < len(items) and items[at].type == "SLASH" and not over_integral:
        denominator, at, _ = _denominator(items, at + 1)
        body = [Token("FRAC", "", item.pos, args=[body or [Token("NUM", "1", item.pos)], denominator])]
    elif not body:
        if at + 1 < len(items) and items[at].type == "TIMES":
            at += 1
        body, at = _operand(state, items, at, products=True)
    return _built_integrals(signs, body, measures, leads), at


def _inexact(body: list[Token]) -> list[Token]:
    r"""The measure of `\oint \frac{\delta Q}{T}`, taken out of the integrand; empty if there is none."""
    above = body[0].args[0] if len(body) == 1 and body[0].type == "FRAC" else body
    for index, part in enumerate(above):
        if part.type == "SYM" and part.text.startswith(r"\delta ") and part.sup is None:
            above[index : index + 1] = [Token("NUM", "1", part.pos)] if len(above) == 1 else []
            return [Token("DIFFERENTIAL", "", part.pos, args=[[part]])]
    return []


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
        if measure.sup is not None and any(part.type == "NUM" for part in measure.sup):
            raise Fault(measure.pos, "a power behind the measure of an integral", "brackets around what is raised")
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
    worded = any(part.type == "ROMAN" and part.raw and any(token.gap for token in part.raw[1:]) for part in items)
    if worded or any(part.type in ("REL", "COMMA", "PARTIAL_SIGN", "ROW") for part in items):
        region = " ".join(spell(part.raw) if part.type == "ROMAN" else part.text for part in items)
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
        while index < len(items) and items[index].type in _SIMPLE and not _is_exponential(items[index]):
            index += 1
        if index == start + 1 and first.type == "NUM" and index < len(items) and _is_unit_quotient(items[index]):
            index += 1  # 60 s/min
        numeric = all(item.type == "NUM" for item in items[start:index])
        while numeric and index < len(items) and items[index].type == "DIFFERENTIAL":  # dy/2dx
            index += 1
        index = _bracket_below(items, start, index)
    follows = index < len(items) and items[index].type not in OPERATORS
    lone = first.type == "PAREN" and len(first.args[0]) == 1 and first.args[0][0].type == "SYM" and first.sup is None
    if follows and lone and items[index].type == "SYM":
        raise Fault(items[index].pos, "a factor behind a bracket in the denominator of a slash: does it belong there?",
                    "brackets around the denominator", kind="ambiguous")  # fmt: skip
    if follows and first.type == items[index].type == "ABS":
        raise Fault(items[index].pos, "bars behind bars in the denominator of a slash: do they belong there?",
                    "brackets around the denominator", kind="ambiguous")  # fmt: skip
    if follows and first.type in ("SQRT", "ROOT") and items[index].type in _SIMPLE:
        raise Fault(items[index].pos, "a factor behind a root in the denominator of a slash: does it belong there?",
                    "brackets around the denominator", kind="ambiguous")  # fmt: skip
    return items[start:index], index, follows


def _is_exponential(item: Token) -> bool:
    """A power of e is a function, which ends a denominator."""
    plain = item.sup is None or (len(item.sup) == 1 and item.sup[0].type == "NUM")
    return item.type == "SYM" and item.text == "e" and not plain


def _is_unit_quotient(item: Token) -> bool:
    return item.type == "FRAC" and all(part.type in ("UNIT", "NUM") for arg in item.args for part in arg)


def _bracket_below(items: list[Token], start: int, index: int) -> int:
    r"""`a/2m(b - c)^2`: a bracket right behind a number and symbols stands below too, as everybody means it.

    Behind a number alone (`a/2(b + c)`) both are meant, and behind symbols alone (`v/g (a + b)`) it is a factor.
    """
    if items[start].type != "NUM" or index >= len(items) or items[index].type != "PAREN" or items[index].gap:
        return index
    if index == start + 1:
        raise Fault(items[index].pos, "a bracket behind a number in the denominator: does it belong there?",
                    "brackets around the denominator", kind="ambiguous")  # fmt: skip
    return index + 1


def with_slashes(items: list[Token]) -> list[Token]:
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
    r"""`1/2 m v^2`: number over number, and more factors.

    Before \pi both are written: `1/4\pi\epsilon_0` has it below, `4/3\pi r^3` above; `3/4\pi` and `1/3\pi` are refused.
    """
    below = items[index]
    if below.type != "NUM" or index + 1 >= len(items) or not above:
        return False
    after = items[index + 1]
    if after.type in OPERATORS or after.type == "BANG":
        return False
    last = above[-1]
    numeric = all(part.type in ("NUM", "CONST") for part in above) or (last.type == "NUM" and last.sup is None)
    if not numeric or after.type != "CONST" or below.sup is not None:
        return numeric
    if last.text == "1" and below.text.isdigit() and int(below.text) % 2 == 0:
        return False
    if last.type == "NUM" and last.text.isdigit() and below.text.isdigit() and int(last.text) > int(below.text):
        return True
    raise Fault(
        after.pos, r"\pi behind a numeric fraction: above or below the slash?", r"\frac, or brackets", kind="ambiguous"
    )
