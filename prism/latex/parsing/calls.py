r"""Which brackets behind a symbol are a call: `x(t)` is x, `v(0)` and `f(a, b)` are named values, `m(g + a)` a product.

LaTeX writes calls and products alike, so lists of what physics does decide: which letters are the variable of a
function, which heads are functions. What is on no list is a product, the commoner of the two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from prism.latex.parsing.names import spell
from prism.latex.parsing.tokens import Fault, Token
from prism.latex.parsing.unit_text import is_numeric

# `x(t)` says that x depends on t, and is x. The list holds the letters that physics uses as the variable of a
# function and hardly ever as a factor alone in brackets: `m(g)` and `k(T)` stay products.
_INDEPENDENT = frozenset(("t", "x", "y", "z", "r", "s", r"\theta", r"\phi", r"\tau", r"\xi", "v", r"\omega", r"\nu",
                          r"\lambda", r"\vec{r}", r"\vec{x}", r"\varphi"))  # fmt: skip
# A value at a point (`x(T)`): capital T is also a temperature and a factor, so only these heads take it.
_PLACES_AND_TIMES = frozenset(("t", "x", "y", "z", "r", "s", r"\tau", r"\vec{r}", r"\vec{x}"))
_DEPENDENT = frozenset(("x", "y", "z", "s", "r", "v", "a", "u", r"\theta", r"\phi", r"\omega", r"\vec{r}", r"\vec{v}",
                        r"\vec{a}", r"\vec{x}", "q", r"\psi", r"\Psi"))  # fmt: skip
_ALWAYS_CALLED = frozenset((r"\delta", r"\delta^{(3)}", r"\Gamma", r"\zeta", r"\Theta", r"\mathcal{O}", "O"))
# `f(E)`, `b(R)`: nobody brackets a single letter to multiply by it, except behind these.
_FACTORS = frozenset(
    ("m", "M", "G", "q", "Q", "e", "c", "k", "g", "a", "d", "l", "w", "p", r"\Delta", r"\pi", r"\hbar")
)
_COEFFICIENTS = frozenset(("m", "M", "k", "q", "Q", "e", "c", "g", "G", "h", r"\hbar", "a", "d"))
_GREEK_COEFFICIENTS = frozenset((r"\rho", r"\mu", r"\lambda", r"\alpha", r"\beta", r"\gamma", r"\sigma", r"\kappa",
                                r"\epsilon", r"\varepsilon", r"\eta"))  # fmt: skip
_AT_NUMBERS = frozenset(("y", "f", "u", "x", "z"))  # unknowns, which have a value at 2 and are not multiplied by it
_HEADS = frozenset(("SYM", "DERIVATIVE", "PARTIAL", "ROMAN"))
_TRANSFORMS = frozenset((r"\mathcal{L}", r"\mathcal{F}", r"\mathcal{Z}", r"\mathbb{E}"))
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
_WAVE_VARIABLES = frozenset(("x", "y", "z", "t"))


@dataclass(slots=True)
class Heads:
    r"""Which symbols of a formula stand before brackets as functions; one formula uses a symbol in one way.

    Attributes:
        called: by a value, somewhere in it: `x(0)`, `g(n) = ...`.
        variables: by their variables, which fold: name to variables.
        left: a whole left side, called by its variables: `N(t) = ...`; nobody defines a product.
        folding: called by variables that stand elsewhere too, or are the arguments of others: a call for certain, where
            a lone `r(\omega)` may be a product.
        defined: called by other variables elsewhere (`f(x) + f(y)`), or on the left side of a definition while the bare
            symbol stands somewhere too (`I(r) = I r^2/R^2`): it does not fold.
    """

    called: set[str] = field(default_factory=set)
    variables: dict[str, set[str]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    folding: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)


def heads(items: list[Token]) -> Heads:
    """Look at every bracket of the formula before any is read."""
    found = Heads()
    bare: set[str] = set()
    numbers: dict[str, str] = {}
    used: Counter[tuple[str, ...]] = Counter()  # lists of arguments, whatever stands before them
    lists: dict[str, tuple[str, ...]] = {}
    stack = [items]
    while stack:
        siblings = stack.pop()
        for index, item in enumerate(siblings):
            if (
                item.type == "PAREN"
                and index
                and siblings[index - 1].type in _HEADS
                and _are_variables(item.args[0], "")
            ):
                used[tuple(part.text for part in item.args[0])] += 1
            else:
                stack.extend(item.args)
            if item.sup is not None:
                stack.append(item.sup)
            if item.type != "SYM":
                continue
            bracket = siblings[index + 1] if index + 1 < len(siblings) else None
            if bracket is None or bracket.type != "PAREN" or bracket.text != "(":
                bare.add(item.text)
                continue
            content = bracket.args[0]
            if _holds(content, item.text):
                bare.add(item.text)
            elif _are_variables(content, item.text):
                names = tuple(part.text for part in content)
                if lists.setdefault(item.text, names) != names:
                    found.defined.add(item.text)  # f(x) + f(y): each is a value of its own
                found.variables.setdefault(item.text, set()).update(names)
            elif item.text != "d" and (_is_value(item.text.split("_")[0], content) or _is_alone(item, bracket)):
                found.called.add(item.text)
            elif len(content) == 1 and content[0].type == "NUM" and content[0].text.isdigit() and not bracket.gap:
                if item.text in numbers and numbers[item.text] != content[0].text:
                    found.called.add(item.text)  # E(4) - E(3)
                numbers[item.text] = content[0].text
    found.folding = {
        name for name, arguments in lists.items()
        if len(arguments) > 1 or name in bare or bare.intersection(arguments) or used[arguments] > 1 or len(items) <= 2
    }  # fmt: skip
    if name := _same_call(items):
        found.called.add(name)
    if _is_definition(items):
        name = items[0].text
        if name not in found.variables:
            found.called.add(name)
        elif name in bare:
            found.defined.add(name)
        else:
            found.left.add(name)
    return found


def _same_call(items: list[Token]) -> str:
    r"""The letter of `f(a + b) = f(c)`: a factor that stands before each whole side would be left out."""
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
    """`V(R) = kQ/R`: nobody defines a product."""
    if len(items) < 3 or items[0].type != "SYM" or items[1].type != "PAREN" or items[2].type != "REL":
        return False
    content = items[1].args[0]
    if _holds(content, items[0].text):
        return False
    plain = len(content) == 1 and content[0].type in ("SYM", "NUM") and content[0].sup is None
    step = len(content) == 3 and content[1].type in ("PLUS", "MINUS") and content[2].type == "NUM"  # g(n+1) = ...
    return items[1].text == "(" and (plain or step) and items[2].text in ("=", ":=", r"\equiv")


def with_calls(items: list[Token], known: Heads) -> list[Token]:
    """`x(t)` to x, `v(0)` and `f(a, b)` to a named value, everything else stays a product."""
    out: list[Token] = []
    for item in items:
        if item.type == "PAREN" and item.text in ("[", r"\{") and out and out[-1].text in _TRANSFORMS:
            out[-1] = _applied(out[-1], item)
            continue
        if item.type == "PAREN" and item.text == "(" and out:
            head = out[-1]
            called = None
            if head.type == "NUM":
                _refuse_uncertainty(head, item)
            elif head.type == "ROMAN":
                called = _called_word(head, item, numeric=len(out) > 1 and is_numeric(out[-2]))
            elif head.type == "DERIVATIVE" or (head.type == "SYM" and head.text != "d"):
                called = _called(head, item, known)
            if called is not None:
                out[-1] = called
                continue
        out.append(item)
    return out


def _refuse_uncertainty(number: Token, bracket: Token) -> None:
    """`2.50(5)`: five in the last digit, or times five."""
    content = bracket.args[0]
    _, _, decimals = number.text.partition(".")
    digits = len(content) == 1 and content[0].type == "NUM" and content[0].sup is None and content[0].text.isdigit()
    if digits and len(content[0].text) <= len(decimals) and len(decimals) > 1 and not bracket.gap:
        raise Fault(bracket.pos, "a number in brackets behind a decimal: its uncertainty, or a factor?",
                    r"\pm", r"\cdot", kind="ambiguous")  # fmt: skip


def _called_word(word: Token, bracket: Token, *, numeric: bool) -> Token | None:
    r"""`\mathrm{Re}(a, b)`, `\operatorname{Re}(z)`: a roman word takes the bracket; a roman letter only a list.

    Args:
        numeric: a number stands before the word, which may be a unit.
    """
    listed = any(part.type in ("COMMA", "REL", "GIVEN", "SETOP") for part in bracket.args[0])
    if not listed and len(word.raw) == 1:
        return None
    if numeric or word.sup is not None or any(token.type != "letter" for token in word.raw):
        return None
    return Token("APPLY", spell(word.raw), word.pos, word.gap, args=bracket.args, sup=bracket.sup)


def _called(head: Token, bracket: Token, known: Heads) -> Token | None:
    """The head with its bracket taken in, or None if the two are factors."""
    content = bracket.args[0]
    if head.type == "DERIVATIVE":
        return _derivative_called(head, bracket, known)
    name = head.text
    if _holds(content, name):
        return None
    if name == r"\delta" and head.sup is not None and head.sup[0].text in ("2", "3", "4"):
        head = Token("SYM", rf"\delta^{{({head.sup[0].text})}}", head.pos, head.gap)  # of two, three, four dimensions
        return _applied(head, bracket)
    if name == r"\delta" and head.sup is None and any(part.text.startswith(r"\vec{") for part in content):
        head = Token("SYM", r"\delta^{(3)}", head.pos, head.gap)  # of a vector: of three dimensions, if nobody says
        return _applied(head, bracket)
    if name in _ALWAYS_CALLED or name in _TRANSFORMS or _is_frequency(content):
        return _applied(head, bracket)
    if _are_variables(content, name):
        if name in known.defined:
            return _applied(head, bracket)
        if name in known.left or _folds(name, bracket, known):
            return _depending(head, bracket, name)
        return None if _multiplies(name, bracket) else _applied(head, bracket)
    base = name.split("_")[0]
    if name in known.called or name.replace("'", "") in known.called or _is_value(base, content):
        return _applied(head, bracket)
    whole = len(content) == 1 and content[0].type == "NUM" and content[0].text.isdigit() and content[0].sup is None
    if base.rstrip("'") in _AT_NUMBERS and whole and bracket.sup is None and not bracket.gap:
        return _applied(head, bracket)  # y(2)
    if _is_alone(head, bracket) or _is_shifted(bracket, known.variables.get(name)):
        return _applied(head, bracket)
    return _applied(head, bracket) if _is_special(name, content) else None


def _is_frequency(content: list[Token]) -> bool:
    r"""`H(j\omega)`: the argument of a transfer function, which nobody writes in brackets to multiply by it."""
    if len(content) == 1 and content[0].text == "e" and content[0].sup is not None:
        return content[0].sup[0].text in ("i", "j")
    plain = all(part.type in ("SYM", "NUM", "CONST") and part.sup is None for part in content)
    return plain and len(content) > 1 and content[0].text in ("i", "j") and content[-1].text in _FREQUENCIES


def _folds(name: str, bracket: Token, known: Heads) -> bool:
    """Whether `x(t)` is x: not for the letters of coefficients, nor at a speed or a frequency, which also multiply."""
    base = name.split("_", maxsplit=1)[0].rstrip("'")
    if base in _COEFFICIENTS or name not in known.folding:
        return False
    arguments = {part.text for part in bracket.args[0] if part.type == "SYM"}
    return base in _OF_FREQUENCY or not arguments & _MULTIPLYING or len(arguments) > 1


def _multiplies(name: str, bracket: Token) -> bool:
    """`m(v)^2`: a coefficient before a speed in brackets; `M(r)`, `q(x)` are values of their own."""
    (single, *more) = bracket.args[0]
    return name.split("_", maxsplit=1)[0].rstrip("'") in _COEFFICIENTS and not more and single.text == "v"


def _is_alone(head: Token, bracket: Token) -> bool:
    """`b(R)`: nobody brackets a single symbol to multiply by it, but behind the letters of usual factors."""
    content = bracket.args[0]
    if len(content) != 1 or content[0].type != "SYM" or content[0].sup is not None:
        return False
    if bracket.sup is not None or bracket.gap or head.text == "d":
        return False
    base = head.text.split("_")[0].rstrip("'")
    argument = content[0].text
    if argument.startswith((r"\Delta ", r"\delta ")):
        return False  # P(\Delta V)
    return base not in _FACTORS or (base in _RATES and (argument in ("E", "T") or argument in _GREEK_ARGUMENTS))


def _is_shifted(bracket: Token, variables: set[str] | None) -> bool:
    """`u(t - 1)` in a formula that holds `u(t)`."""
    content = bracket.args[0]
    if variables is None or bracket.gap or not any(part.type in ("PLUS", "MINUS") for part in content):
        return False
    return any(part.type == "SYM" and part.text in variables and part.sup is None for part in content)


def _is_special(name: str, content: list[Token]) -> bool:
    r"""Functions of mathematical physics, known by their index: `P_2(\cos\theta)`, `J_n(kr)`, `Y_{lm}(\theta)`."""
    head, _, index = name.partition("_")
    orders = index.strip("{}").replace(r"\ell", "l").replace(r"\nu", "n")
    if not orders or not set(orders) <= _ORDERS or any(part.type in ("PLUS", "MINUS", "PM") for part in content):
        return False
    if content[0].type == "FUNCTION":
        return head in _POLYNOMIALS
    product = all(part.type in ("SYM", "FRAC", "NUM", "SLASH", "CONST") for part in content)
    return product and len(content) > 1 and head in _BESSEL


def _derivative_called(head: Token, bracket: Token, known: Heads) -> Token | None:
    r"""`\dot x(t)` is the derivative, `\dot x(0)` its value at a point."""
    content = bracket.args[0]
    inner = head.args[0][0] if len(head.args[0]) == 1 else None
    name = inner.text if inner is not None and inner.type == "SYM" else ""
    if _are_variables(content, name):
        return _depending(head, bracket, name)
    if not name or not (name in known.called or _is_value(name.split("_")[0], content)):
        return None
    if head.sup is not None:
        return None
    return Token("AT", "point", head.pos, head.gap, args=[[head], head.args[1], content], sup=bracket.sup)


def _are_variables(content: list[Token], name: str) -> bool:
    """Whether a bracket holds only variables of a function, with commas between them."""
    return len(content) % 2 == 1 and all(
        part.type == "COMMA"
        if at % 2
        else part.type == "SYM" and part.sup is None and part.text in _INDEPENDENT and part.text != name
        for at, part in enumerate(content)
    )


def _depending(head: Token, bracket: Token, name: str) -> Token:
    """`x(t)` is x, and `x'(t)` its derivative by t."""
    power = _one_power(head, bracket)
    content = bracket.args[0]
    if head.type == "SYM" and "'" in name.split("_", maxsplit=1)[0] and len(content) == 1:
        bare = Token("SYM", name.replace("'", "", 1), head.pos)
        return Token("DERIVATIVE", "1", head.pos, head.gap, args=[[bare], list(content)], sup=power)
    if head.type == "DERIVATIVE" and head.args[1][0].text == "?" and len(content) == 1:
        head.args = [head.args[0], list(content)]
    head.sup = power
    return head


def _is_value(base: str, content: list[Token]) -> bool:
    """Whether a symbol, given without its subscript, takes this bracket as the point of a value."""
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
    if any(part.type in ("COMMA", "REL", "GIVEN", "SETOP") for part in content):
        return True
    variables = {part.text for part in content if part.type == "SYM" and part.text in _WAVE_VARIABLES}
    if base == "g" and any(part.type in ("PLUS", "MINUS") for part in content):  # g(h - y), but a wave g(x - vt)
        return "t" in variables and len(variables) > 1
    return base in _WAVES and bool(variables)


def _holds(content: list[Token], name: str) -> bool:
    """Whether a symbol stands in its own bracket, as in `x(x - 1)`: a factor, where `f(f(x))` is a call of a call."""
    for place, part in enumerate(content):
        behind = content[place + 1] if place + 1 < len(content) else None
        if part.type == "SYM" and part.text == name and (behind is None or behind.type != "PAREN"):
            return True
        if any(_holds(arg, name) for arg in part.args):
            return True
    return False


def _applied(head: Token, bracket: Token) -> Token:
    return Token("APPLY", head.text, head.pos, head.gap, args=bracket.args, sup=_one_power(head, bracket))


def _one_power(head: Token, bracket: Token) -> list[Token] | None:
    """`f^2(x)` and `f(x)^2` are one power."""
    if head.sup is not None and bracket.sup is not None:
        raise Fault(bracket.pos, "a second superscript", "brackets around the first power")
    return bracket.sup or head.sup
