"""Calls: which brackets behind a symbol hold arguments.

`x(t)` is x, `v(0)` and `f(a, b)` are named values, `m(g + a)` is a product. LaTeX writes calls and products alike, so
lists of physics usage decide: which letters are the variable of a function, which heads are functions. What is on no
list is a product, the commoner of the two.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, pairwise

from prism.latex.parsing.names import spell_name
from prism.latex.parsing.tokens import Ambiguity, Fault, Token, has_type, split_at
from prism.latex.parsing.units.unit_text import is_numeric

# `x(t)` is x, which depends on t. The list holds the letters that physics uses as the variable of a
# function and hardly ever as a factor alone in brackets: `m(g)` and `k(T)` stay products.
_INDEPENDENT = frozenset(("t", "x", "y", "z", "r", "s", r"\theta", r"\phi", r"\tau", r"\xi", "v", r"\omega", r"\nu",
                          r"\lambda", r"\vec{r}", r"\vec{x}", r"\varphi"))  # fmt: skip
# A value at a point (`x(T)`): capital T is also a temperature and a factor, so only these heads take it.
_PLACES_AND_TIMES = frozenset(("t", "x", "y", "z", "r", "s", r"\tau", r"\vec{r}", r"\vec{x}"))
_DEPENDENT = frozenset(("x", "y", "z", "s", "r", "v", "a", "u", r"\theta", r"\phi", r"\omega", r"\vec{r}", r"\vec{v}",
                        r"\vec{a}", r"\vec{x}", "q", r"\psi", r"\Psi"))  # fmt: skip
_ALWAYS_CALLED = frozenset(
    (r"\delta", r"\delta^{(3)}", r"\Gamma", r"\zeta", r"\Theta", r"\mathcal{O}", "O", "O_p", "o", "o_p")
)
# `f(E)`, `b(R)`: nobody brackets a single letter to multiply by it, except behind these.
_FACTORS = frozenset(
    ("m", "M", "G", "q", "Q", "e", "c", "k", "g", "a", "d", "l", "w", "p", r"\Delta", r"\pi", r"\hbar")
)
_COEFFICIENTS = frozenset(("m", "M", "k", "q", "Q", "e", "c", "g", "G", "h", r"\hbar", "a", "d"))
_GREEK_COEFFICIENTS = frozenset((r"\rho", r"\mu", r"\lambda", r"\alpha", r"\beta", r"\gamma", r"\sigma", r"\kappa",
                                r"\epsilon", r"\varepsilon", r"\eta"))  # fmt: skip
_INVERTED = frozenset(("f", "g", "h", "F", "G", "H"))  # `f^{-1}(x)` is the inverse function, and `1/f(x)` is not
_AT_NUMBERS = frozenset(("y", "f", "u", "x", "z"))  # unknowns, which have a value at 2 and are not multiplied by it
_HEADS = frozenset(("SYM", "DERIVATIVE", "PARTIAL", "ROMAN"))
_TRANSFORMS = frozenset((r"\mathcal{L}", r"\mathcal{F}", r"\mathcal{Z}", r"\mathbb{E}", r"\mathbb{P}", r"\mathbb{V}"))
_OF_FUNCTIONS = (r"\mathcal{L}", r"\mathcal{F}", r"\mathcal{Z}")  # transforms, which are functions again
_STARRED = "a starred bracket before a variable: a convolution, or a product?"
_STEPS = frozenset(("u", "H"))  # of unit size where they are called, and a speed and a height
_STARS = frozenset(("*", r"\ast"))
_ACCENT = re.compile(r"\\(?:hat|tilde|bar)\{(.+)\}")  # `g(\hat\theta)` is a call as `g(\theta)` is
_FREQUENCIES = frozenset((r"\omega", "f", r"\Omega", r"\nu"))
_MULTIPLYING = frozenset(("v", "s", r"\omega", r"\nu", r"\lambda"))  # F(v), L = I(\omega): also factors
_OF_FREQUENCY = frozenset(("f", "n", "N", "u", "S", "E", "B", "A", "J", r"\rho", r"\epsilon", r"\chi", r"\psi", r"\Psi",
                           r"\phi", r"\sigma", r"\alpha", "x", "y", "z", "r"))  # fmt: skip
_RATES = frozenset(("g", "k", "c", "d", "l", "w", "p"))  # g(E), k(T): also functions of these
_GREEK_ARGUMENTS = frozenset((r"\epsilon", r"\omega", r"\nu", r"\lambda", r"\theta", r"\phi", r"\tau"))
_POLYNOMIALS = frozenset(("P", "Y", "L", "T", "H"))  # P_2(cos theta), known by their index
_BESSEL = frozenset(("J", "j", "Y", "H"))  # J_n(kr)
_ORDERS = frozenset("lmn0123456789, -")
_WAVES = frozenset(("f", "F", r"\psi", r"\Psi", "g"))  # f(x - vt) is a wave, k(x - x_0) a spring
_STATES = frozenset(("f", r"\psi", r"\Psi", r"\alpha", r"\beta", r"\chi"))  # psi(1) psi(2): of the two particles
SIGNALS = frozenset(("x", "y", "h", "u", "w", "s", "X", "Y", r"\delta"))  # x[n]: no product, in square brackets
PLACES = frozenset(("n", "k", "m", "i", "l", "N"))
_WAVE_VARIABLES = frozenset(("x", "y", "z", "t"))

ANY_LETTER = frozenset(("any letter",))
"""In place of the names of functions: whatever letter may be one; see `parser.parse`."""


@dataclass(slots=True)
class CallEvidence:
    r"""Evidence of the whole formula for which symbols are functions; one formula uses a symbol in one way.

    Attributes:
        called: symbols called at a value somewhere: `x(0)`, `g(n) = ...`.
        variables: symbols called with variables of functions, as x in `x(t)`, mapped to these variables.
        left: symbols that are the left side of a definition with their variables, `N(t) = ...`.
        folding: symbols whose call with variables, `x(t)`, is certain and can be read as the symbol x: the call has
            several arguments, or symbol or argument stands without brackets too, or two symbols have the same
            arguments, or nothing else stands in the formula. Without such evidence `r(\omega)` may be a product.
        defined: symbols called with different variables (`f(x) + f(y)`), or defined while the bare symbol stands
            somewhere too (`I(r) = I r^2/R^2`): their calls are not read as the bare symbol.
        bare: symbols that stand without a bracket behind them.
        has_rates: a derivative, an integral, an exponential or a ramp stands in the formula, beside which steps are.
    """

    called: set[str] = field(default_factory=set)
    variables: dict[str, set[str]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    folding: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    has_rates: bool = False


def collect_call_evidence(items: list[Token]) -> CallEvidence:
    """Collect the evidence for which symbols are functions from all brackets of a formula, nested ones too.

    Args:
        items: the whole formula at its outer level, in which no call is read yet.
    """
    found = CallEvidence()
    bare = found.bare
    numbers: dict[str, str] = {}
    used: Counter[tuple[str, ...]] = Counter()  # lists of arguments, whatever stands before them
    lists: dict[str, tuple[str, ...]] = {}
    stack = [items]
    while stack:
        siblings = stack.pop()
        for index, item in enumerate(siblings):
            behind_head = index > 0 and siblings[index - 1].type in _HEADS
            if behind_head and item.type == "PAREN" and _are_variables(item.args[0], ""):
                used[tuple(part.text for part in item.args[0])] += 1
            else:
                stack.extend(item.args)
            if item.sup is not None:
                stack.append(item.sup)
            found.has_rates = found.has_rates or _is_rate(item)
            if item.type != "SYM":
                continue
            bracket = siblings[index + 1] if index + 1 < len(siblings) else None
            if bracket is None or bracket.type != "PAREN" or bracket.text != "(":
                bare.add(item.text)
                continue
            content = bracket.args[0]
            if index and siblings[index - 1].type == "PAREN":  # a ramp, `(t - b)u(t - b)`, and no square
                before = [part.text for part in siblings[index - 1].args[0]]
                found.has_rates = found.has_rates or before == [part.text for part in content]
            if _contains_factor(content, item.text):
                bare.add(item.text)
            elif _are_variables(content, item.text):
                names = tuple(part.text for part in content)
                if lists.setdefault(item.text, names) != names:
                    found.defined.add(item.text)  # f(x) + f(y): each is a value of its own
                found.variables.setdefault(item.text, set()).update(names)
            elif item.text != "d" and (
                _is_value_at_point(item.text.split("_")[0], content) or _is_single_symbol_argument(item, bracket)
            ):
                found.called.add(item.text)
            elif len(content) == 1 and content[0].type == "NUM" and content[0].text.isdigit() and not bracket.gap:
                if item.text in numbers and numbers[item.text] != content[0].text:
                    found.called.add(item.text)  # E(4) - E(3)
                numbers[item.text] = content[0].text
    found.folding = {
        name for name, arguments in lists.items()
        if len(arguments) > 1 or name in bare or bare.intersection(arguments) or used[arguments] > 1 or len(items) <= 2
    }  # fmt: skip
    _add_heads_of_whole_formula(found, items)
    return found


def _add_heads_of_whole_formula(found: CallEvidence, items: list[Token]) -> None:
    """Add to the evidence, in place, what the form of a whole formula says: `f(a + b) = f(c)`, `V(R) = kQ/R`."""
    if name := _head_of_every_side(items):
        found.called.add(name)
    if _is_definition(items):
        name = items[0].text
        if name not in found.variables:
            found.called.add(name)
        elif name in found.bare:
            found.defined.add(name)
        else:
            found.left.add(name)


def _is_rate(item: Token) -> bool:
    """Return True for a derivative, an integral or an exponential, which signals and their steps stand beside."""
    if item.type == "SYM":
        return item.text.endswith("'") or (item.text == "e" and item.sup is not None)
    is_quotient = item.type == "FRAC" and bool(item.args[0]) and item.args[0][0].text == "d"
    return is_quotient or item.type in ("INTEGRAL", "DERIVATIVE", "D") or item.text == "exp"


def _head_of_every_side(items: list[Token]) -> str:
    """Return the symbol that stands with a bracket for each side of a relation, f in `f(a + b) = f(c)`; else "".

    Such a symbol is a function, as nobody writes a common factor on both sides; letters of usual factors give "".
    """
    relations = sum(item.type == "REL" for item in items)
    if not relations or len(items) != 3 * relations + 2:
        return ""
    name = items[0].text
    for head, bracket, relation in zip(items[::3], items[1::3], [*items[2::3], None], strict=True):
        if relation is not None and relation.type != "REL":
            return ""
        if head.type != "SYM" or head.text != name or bracket.type != "PAREN" or bracket.text != "(":
            return ""
    return "" if name.split("_")[0].rstrip("'") in _FACTORS | _COEFFICIENTS | _GREEK_COEFFICIENTS else name


def _is_definition(items: list[Token]) -> bool:
    """Return True if a formula begins with the definition of a function: `V(R) = kQ/R`, `g(n + 1) = ...`."""
    if len(items) < 3 or items[0].type != "SYM" or items[1].type != "PAREN" or items[2].type != "REL":
        return False
    content = items[1].args[0]
    if _contains_factor(content, items[0].text):
        return False
    plain = len(content) == 1 and content[0].type in ("SYM", "NUM") and content[0].sup is None
    step = len(content) == 3 and content[1].type in ("PLUS", "MINUS") and content[2].type == "NUM"  # g(n+1) = ...
    return items[1].text == "(" and (plain or step) and items[2].text in ("=", ":=", r"\equiv")


def resolve_calls(items: list[Token], evidence: CallEvidence, functions: frozenset[str] = frozenset()) -> list[Token]:
    """Return the items with calls read: `x(t)` becomes x, `v(0)` and `f(a, b)` one APPLY token each.

    Every other bracket stays a factor. Raises Ambiguity for `f*(x)`, which may be a convolution.

    Args:
        evidence: from the whole formula.
        functions: letters whose bracket holds an argument; see `parser.parse`.
    """
    out: list[Token] = []
    _refuse_convolution(items)
    for index, item in enumerate(items):
        if item.type == "PAREN" and out and out[-1].text == r"\delta" and _is_variation(items, index):
            out[-1] = Token("LISTED", r"opaque \delta", out[-1].pos, out[-1].gap, args=item.args)
            continue
        if item.type == "PAREN" and item.text in ("[", r"\{") and out:
            head = out[-1]
            if item.text == "[" and _is_starred(head) and _is_place_in_sequence(item.args[0]):
                raise Ambiguity(item.pos, _STARRED, r"\cdot")
            if _is_transform(head.text) or _may_call_square(head, item, functions):
                out[-1] = apply_token(_inverse_by_name(head), item)
                continue
        if item.type == "PAREN" and item.text == "[" and out and out[-1].type == "ROMAN" and len(out[-1].raw) > 1:
            called = _read_roman_call(out[-1], item, numeric=len(out) > 1 and is_numeric(out[-2]))
            if called is not None and not item.gap:  # `\mathrm{Var}[aX]`
                out[-1] = called
                continue
        if item.type == "PAREN" and item.text == "(" and out:
            head = out[-1]
            called = None
            if head.type == "NUM":
                _refuse_uncertainty(head, item)
            elif head.type == "ROMAN":
                called = _read_roman_call(head, item, numeric=len(out) > 1 and is_numeric(out[-2]))
            elif head.type == "DERIVATIVE" or (head.type == "SYM" and head.text != "d"):
                called = _read_call(head, item, evidence, functions)
            elif _is_starred(head) and _are_variables(item.args[0], ""):
                raise Ambiguity(item.pos, _STARRED, r"\cdot")
            elif head.type == "APPLY" and head.text.startswith(_OF_FUNCTIONS):
                called = _transform_at(head, item)
            if called is not None:
                out[-1] = called
                continue
        out.append(item)
    return out


def _is_starred(head: Token) -> bool:
    """Return True for a bracket with a star between two letters and nothing else, `(x * h)`."""
    return head.type == "PAREN" and [part.text for part in head.args[0]][1:-1] == ["*"]


def _transform_at(transform: Token, bracket: Token) -> Token | None:
    r"""Return `\mathcal{L}\{h\}(s)`, a transform whose last argument is where it is taken; None for a factor.

    Errors:
        Ambiguity: a sum, `\mathcal{L}\{y\}(s + 1)`, which may be either; with a power, `(s^2 + 4)`, it is a factor.
    """
    (content,) = bracket.args
    if bracket.sup is not None or (not _is_transfer_argument(content) and any(part.sup for part in content)):
        return None
    if has_type(content, "PLUS", "MINUS"):
        raise Ambiguity(bracket.pos, "a sum behind a transform: where it is taken, or a factor?", r"\cdot")
    return Token("APPLY", transform.text, transform.pos, transform.gap, args=[*transform.args, content])


def _is_variation(items: list[Token], index: int) -> bool:
    r"""Return True if `\delta` and the bracket at an index alone are said to be 0, with a quantity in the bracket.

    The delta function of a variable, `\delta(x - a) = 0`, holds no capital letter, integral, sum or matrix element.
    """
    around = [items[at].type if 0 <= at < len(items) else "REL" for at in (index - 2, index + 1)]
    others = [member for member in split_at(items, ("REL",)) if items[index] not in member]
    if around != ["REL", "REL"] or items[index].sup is not None or items[index - 1].sup is not None:
        return False
    holds_quantity = any(
        part.type in ("INTEGRAL", "SERIES", "BRACKET") or (part.type == "SYM" and part.text[:1].isupper())
        for part in items[index].args[0]
    )
    return holds_quantity and any([part.text for part in member] == ["0"] for member in others)


def _refuse_convolution(items: list[Token]) -> None:
    """Raise an Ambiguity for a star between two calls with the same variables, `f(x, y) * h(x, y)`.

    Of one variable it may be typed for a product, unless a factor is a usual response, `x(t) * h(t)`.
    """
    for at in range(2, len(items) - 2):
        (one, left, star, two, right) = items[at - 2 : at + 3]
        if star.type != "TIMES" or star.text not in _STARS or left.type != "PAREN" or right.type != "PAREN":
            continue
        first, second = ([part.text for part in each.args[0] if part.type == "SYM"] for each in (left, right))
        are_heads = one.type == two.type == "SYM"
        common = min(len(first), len(second))
        if not are_heads or not first or not second or first[:common] != second[:common]:
            continue
        if common > 1 or "h" in (one.text.partition("_")[0], two.text.partition("_")[0]):
            raise Ambiguity(star.pos, "a star between functions of the same variables: a convolution, or a product?",
                            r"\cdot")  # fmt: skip


def _is_transform(name: str) -> bool:
    r"""Return True for a transform or mean that takes any bracket behind it as its argument, `\mathbb{E}_\theta[X]`."""
    return name.partition("_")[0] in _TRANSFORMS


def _inverse_by_name(head: Token) -> Token:
    r"""Return a transform with the power -1 as one of its own name: `\mathcal{L}^{-1}\{G\}` is no reciprocal."""
    is_inverse = [part.text for part in head.sup or ()] == ["-", "1"]
    return Token("SYM", rf"{head.text}^{{-1}}", head.pos, head.gap) if is_inverse else head


def _may_call_square(head: Token, bracket: Token, functions: frozenset[str]) -> bool:
    """Return True if a square bracket holds the argument of the letter before it, X of `E[X]`; see `parser.parse`."""
    if head.type != "SYM" or head.sup is not None or bracket.gap or _contains_factor(bracket.args[0], head.text):
        return False
    if head.text.partition("_")[0] in SIGNALS and _is_place_in_sequence(bracket.args[0]):
        return True
    return head.text in functions or (functions is ANY_LETTER and _may_be_function(head.text))


def _is_place_in_sequence(content: list[Token]) -> bool:
    """Return True for the content of the bracket of a discrete signal, `x[n]`, `x[n - k]` or `x[0]`."""
    places = [part for part in content if part.type not in ("PLUS", "MINUS")]
    is_whole = all(part.type == "SYM" or (part.type == "NUM" and part.text.isdigit()) for part in places)
    symbols = {part.text for part in places if part.type == "SYM"}
    signs = len(content) - len(places) + (content[0] in places)
    is_place = len(places) == 1 or bool(symbols)  # `x[2 + 3]` may be a product
    return is_whole and is_place and signs == len(places) and symbols <= PLACES and not any(part.sup for part in places)


def _may_be_function(name: str) -> bool:
    """Return True for the name of a symbol that is no usual factor."""
    return name.split("_", maxsplit=1)[0].rstrip("'") not in _FACTORS | _COEFFICIENTS | _GREEK_COEFFICIENTS


def _refuse_uncertainty(number: Token, bracket: Token) -> None:
    """Raise an Ambiguity for `2.50(5)`, where the bracket may hold the uncertainty of the last digit or a factor."""
    content = bracket.args[0]
    _, _, decimals = number.text.partition(".")
    digits = len(content) == 1 and content[0].type == "NUM" and content[0].sup is None and content[0].text.isdigit()
    if digits and len(content[0].text) <= len(decimals) and len(decimals) > 1 and not bracket.gap:
        raise Ambiguity(bracket.pos, "a number in brackets behind a decimal: its uncertainty, or a factor?", r"\pm",
                        r"\cdot")  # fmt: skip


def _read_roman_call(word: Token, bracket: Token, *, numeric: bool) -> Token | None:
    r"""Return a roman word with the bracket behind it as an APPLY token, `\mathrm{Re}(z)`; None if they are factors.

    A single roman letter is called only with several arguments.

    Args:
        numeric: a number stands before the word, which may be a unit and is not called.
    """
    listed = has_type(bracket.args[0], "COMMA", "REL", "GIVEN", "SETOP")
    if not listed and len(word.raw) == 1:
        return None
    if numeric or word.sup is not None or any(token.type != "letter" for token in word.raw):
        return None
    return Token("APPLY", spell_name(word.raw), word.pos, word.gap, args=bracket.args, sup=bracket.sup)


def _read_call(head: Token, bracket: Token, evidence: CallEvidence, functions: frozenset[str]) -> Token | None:
    """Return the one token of a symbol or derivative called with the bracket behind it, or None if they are factors.

    The token is an APPLY token for `v(0)`, and the symbol alone for `x(t)`.
    """
    content = bracket.args[0]
    if head.type == "DERIVATIVE":
        return _read_derivative_call(head, bracket, evidence)
    name = head.text
    if _contains_factor(content, name):
        return None
    is_function = name in functions or name in _INVERTED or (functions is ANY_LETTER and _may_be_function(name))
    if is_function and (inverse := _inverse_by_name(head)) is not head:
        return apply_token(inverse, bracket)
    is_folded = _are_variables(content, name) and _may_drop_variables(name, bracket, evidence)
    is_indexed = [part.type for part in head.sup or ()] == ["SYM"] and has_type(content, "COMMA")
    if head.sup is not None and is_indexed and not is_folded:  # `c^k(l, m)`: a second index
        return apply_token(Token("SYM", f"{name}^{{{head.sup[0].text}}}", head.pos, head.gap), bracket)
    if name == r"\delta" and head.sup is not None and head.sup[0].text in ("2", "3", "4"):
        head = Token("SYM", rf"\delta^{{({head.sup[0].text})}}", head.pos, head.gap)  # of two, three, four dimensions
        return apply_token(head, bracket)
    if name == r"\delta" and head.sup is None and any(part.text.startswith(r"\vec{") for part in content):
        head = Token("SYM", r"\delta^{(3)}", head.pos, head.gap)  # of a vector: of three dimensions
        return apply_token(head, bracket)
    if _is_transform(name):
        return apply_token(_inverse_by_name(head), bracket)
    if name in _ALWAYS_CALLED or _is_transfer_argument(content):
        return apply_token(head, bracket)
    if _are_variables(content, name):
        if name in evidence.defined:
            return apply_token(head, bracket)
        if name in evidence.left or _may_drop_variables(name, bracket, evidence):
            return _drop_variables(head, bracket, name)
        return None if _is_coefficient_of_speed(name, bracket) else apply_token(head, bracket)
    if bracket.sup is None and _is_inner_call(content):
        return apply_token(head, bracket)  # f(g(x)) is no product, as f(x) g(x) is
    base = name.split("_")[0]
    if name in evidence.called or name.replace("'", "") in evidence.called or _is_value_at_point(base, content):
        return apply_token(head, bracket)
    whole = len(content) == 1 and content[0].type == "NUM" and content[0].text.isdigit() and content[0].sup is None
    if base.rstrip("'") in _AT_NUMBERS and whole and bracket.sup is None and not bracket.gap:
        return apply_token(head, bracket)  # y(2)
    if _is_single_symbol_argument(head, bracket) or _is_shifted_argument(bracket, evidence.variables.get(name)):
        return apply_token(head, bracket)
    if name in _STEPS and head.sup is bracket.sup is None and _is_delay(content) and name not in evidence.bare:
        if not evidence.has_rates and name not in functions:
            raise Ambiguity(bracket.pos, f"`{name}` before a time less another: a step, or a factor?", r"\cdot")
        return apply_token(head, bracket)
    return apply_token(head, bracket) if name in functions or _is_special_function(name, content) else None


def _is_delay(content: list[Token]) -> bool:
    """Return True for the time t less a number or a symbol, `t - 2`."""
    kinds = [part.type for part in content]
    return kinds in (["SYM", "MINUS", "NUM"], ["SYM", "MINUS", "SYM"]) and content[0].text == "t"


def _is_inner_call(content: list[Token]) -> bool:
    """Return True if a bracket holds one function of variables and nothing else, the g(x) of `f(g(x))`."""
    if [part.type for part in content] != ["SYM", "PAREN"] or content[1].sup is not None or content[1].text != "(":
        return False
    if content[0].sup is not None:
        return False
    return _are_variables(content[1].args[0], content[0].text) or has_type(content[1].args[0], "COMMA")


def _is_transfer_argument(content: list[Token]) -> bool:
    r"""Return True if the content of a bracket is the argument of a transfer function: `j\omega`, `e^{j\omega}`."""
    if len(content) == 1 and content[0].text == "e" and content[0].sup is not None:
        return content[0].sup[0].text in ("i", "j")
    plain = all(part.type in ("SYM", "NUM", "CONST") and part.sup is None for part in content)
    return (
        plain
        and len(content) > 1
        and content[0].text in ("i", "j")
        and content[-1].text.partition("_")[0] in _FREQUENCIES
    )


def _may_drop_variables(name: str, bracket: Token, evidence: CallEvidence) -> bool:
    """Return True if the call of `name` with variables may be read as the bare symbol, `x(t)` as x.

    It may not if evidence is lacking, or the name is a usual coefficient, or the argument a usual factor: `F(v)`.
    """
    base = name.split("_", maxsplit=1)[0].rstrip("'")
    if base in _COEFFICIENTS or name not in evidence.folding:
        return False
    arguments = {part.text for part in bracket.args[0] if part.type == "SYM"}
    return base in _OF_FREQUENCY or not arguments & _MULTIPLYING or len(arguments) > 1


def _is_coefficient_of_speed(name: str, bracket: Token) -> bool:
    """Return True for the letter of a coefficient before v in brackets, `m(v)^2`, a product; False for `M(r)`."""
    (single, *more) = bracket.args[0]
    return name.split("_", maxsplit=1)[0].rstrip("'") in _COEFFICIENTS and not more and single.text == "v"


def _is_single_symbol_argument(head: Token, bracket: Token) -> bool:
    """Return True if a bracket holds one symbol which is an argument: `b(R)`, but not behind a usual factor, `m(R)`."""
    content = bracket.args[0]
    if len(content) != 1 or content[0].type != "SYM" or content[0].sup is not None:
        return False
    if bracket.sup is not None or bracket.gap or head.text == "d":
        return False
    base = head.text.split("_")[0].rstrip("'")
    argument = _ACCENT.sub(r"\1", content[0].text)
    if argument.startswith((r"\Delta ", r"\delta ")):
        return False  # P(\Delta V)
    return base not in _FACTORS or (base in _RATES and (argument in ("E", "T") or argument in _GREEK_ARGUMENTS))


def _is_shifted_argument(bracket: Token, variables: set[str] | None) -> bool:
    """Return True for a bracket like that of `u(t - 1)` in a formula that holds `u(t)`.

    Args:
        variables: what the symbol before the bracket is called with elsewhere, t here; None if it is nowhere called.
    """
    content = bracket.args[0]
    if variables is None or bracket.gap or not has_type(content, "PLUS", "MINUS"):
        return False
    return any(part.type == "SYM" and part.text in variables and part.sup is None for part in content)


def _is_special_function(name: str, content: list[Token]) -> bool:
    r"""Return True for a special function with a typical argument, known by its index: `P_2(\cos\theta)`, `J_n(kr)`.

    Args:
        name: of the symbol before the bracket, with its subscript.
        content: items in the bracket.
    """
    head, _, index = name.partition("_")
    orders = index.strip("{}").replace(r"\ell", "l").replace(r"\nu", "n")
    if not orders or not set(orders) <= _ORDERS or has_type(content, "PLUS", "MINUS", "PM"):
        return False
    if content[0].type == "FUNCTION":
        return head in _POLYNOMIALS
    product = all(part.type in ("SYM", "FRAC", "NUM", "SLASH", "CONST") for part in content)
    return product and len(content) > 1 and head in _BESSEL


def _read_derivative_call(head: Token, bracket: Token, evidence: CallEvidence) -> Token | None:
    r"""Return `\dot x(t)` as the derivative alone, `\dot x(0)` as its value at a point (AT); None if they are factors.

    Args:
        head: the DERIVATIVE token before the bracket.
    """
    content = bracket.args[0]
    inner = head.args[0][0] if len(head.args[0]) == 1 else None
    name = inner.text if inner is not None and inner.type == "SYM" else ""
    if _are_variables(content, name):
        return _drop_variables(head, bracket, name)
    if not name or not (name in evidence.called or _is_value_at_point(name.split("_")[0], content)):
        return None
    if head.sup is not None:
        return None
    return Token("AT", "point", head.pos, head.gap, args=[[head], head.args[1], content], sup=bracket.sup)


def _are_variables(content: list[Token], name: str) -> bool:
    """Return True if a bracket holds only variables of a function, other than `name`, with commas between them."""
    return (
        len(content) % 2 == 1
        and all(part.type == "COMMA" for part in content[1::2])
        and all(part.type == "SYM" and part.sup is None and part.text != name for part in content[::2])
        and _INDEPENDENT.issuperset([part.text for part in content[::2]])
    )


def _drop_variables(head: Token, bracket: Token, name: str) -> Token:
    """Return the head of a call without its variables, `x(t)` as x, and `x'(t)` as the derivative of x by t.

    Args:
        name: of the symbol; for the head `dx/dt` it is x.
    """
    power = _single_power(head, bracket)
    content = bracket.args[0]
    if head.type == "SYM" and "'" in name.split("_", maxsplit=1)[0] and len(content) == 1:
        bare = Token("SYM", name.replace("'", "", 1), head.pos)
        return Token("DERIVATIVE", "1", head.pos, head.gap, args=[[bare], list(content)], sup=power)
    if head.type == "DERIVATIVE" and head.args[1][0].text == "?" and len(content) == 1:
        head.args = [head.args[0], list(content)]
    head.sup = power
    return head


def _is_value_at_point(base: str, content: list[Token]) -> bool:
    """Return True if a bracket holds a point or several arguments, so that the symbol is called: `x(0)`, `f(a, b)`.

    Args:
        base: the symbol before the bracket, without its subscript.
        content: items in the bracket.
    """
    if len(content) == 1 and content[0].sup is None:
        single = content[0]
        if single.type == "INFINITY" or (single.type == "NUM" and (single.text == "0" or base in _STATES)):
            return True
        if single.type == "SYM":
            variable, mark, _ = single.text.partition("_")
            if mark and variable in _INDEPENDENT and variable != "v":  # m(v_0) is a momentum
                return True
            if single.text.endswith("'") and single.text.rstrip("'") in _PLACES_AND_TIMES:  # of an integral
                return True
            if single.text.startswith(r"\vec{") or (single.text == "T" and base in _DEPENDENT):
                return True
    if len(content) == 2 and content[0].type in ("MINUS", "PLUS") and content[1].type == "INFINITY":
        return True
    if len(content) == 3 and content[1].type in ("MINUS", "PLUS") and content[2].text == "0":  # f(a + 0)
        return True
    if has_type(content, "COMMA", "REL", "GIVEN", "SETOP"):
        return True
    arguments = (b.args[0] for a, b in pairwise(content) if a.type == "FUNCTION" and b.type == "PAREN")  # f(\ln(x))
    shown = [*content, *chain.from_iterable(arguments)]
    variables = {part.text for part in shown if part.type == "SYM" and part.text in _WAVE_VARIABLES}
    if base == "g" and has_type(content, "PLUS", "MINUS"):  # g(h - y), but a wave g(x - vt)
        return "t" in variables and len(variables) > 1
    return base in _WAVES and bool(variables)


def _contains_factor(content: list[Token], name: str) -> bool:
    """Return True if the content of a bracket holds the symbol `name` itself and not only a call of it.

    `x(x - 1)` is such a product, for a function is not its own argument; `f(f(x))` gives False.
    """
    for place, part in enumerate(content):
        behind = content[place + 1] if place + 1 < len(content) else None
        if part.type == "SYM" and part.text == name and (behind is None or behind.type != "PAREN"):
            return True
        if any(_contains_factor(arg, name) for arg in part.args):
            return True
    return False


def apply_token(head: Token, bracket: Token) -> Token:
    """Make the call token APPLY from a head and the bracket of its arguments; the power may stand behind either."""
    return Token("APPLY", head.text, head.pos, head.gap, args=bracket.args, sup=_single_power(head, bracket))


def _single_power(head: Token, bracket: Token) -> list[Token] | None:
    """Return the power of the call `f^2(x)` or `f(x)^2`, None without one; raise a Fault for `f^2(x)^2`."""
    if head.sup is not None and bracket.sup is not None:
        raise Fault(bracket.pos, "a second superscript", "brackets around the first power")
    return bracket.sup or head.sup
