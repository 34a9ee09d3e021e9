r"""Why two readings differ: the conventions that, undone on both sides, make their values agree.

A convention is a change of a term that takes back what one of the readers decided: "the prime is part of the name",
"`\Delta x` is one symbol". The smallest set of conventions under which the values agree is the class of the
difference; an empty set means the same value. What no set explains is `unexplained`, and is read by people.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from benchmarks.rivals.readings import (
    Claim,
    Reading,
    Term,
    agree,
    derivative,
    nodes,
    points,
    symbols,
    value,
)

N_POINT = 4
_MIN_POINTS = 2  # fewer defined points decide nothing
_MAX_TOGETHER = 4  # conventions in one explanation; more would explain anything
_MAX_APPLICABLE = 10
_MAX_BEGINNINGS = 120  # beginnings of a text that are tried, one a token
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
SAME = "same"
UNEXPLAINED = "unexplained"
UNDEFINED = "not compared: undefined at the points"
BY_LOOK = " (by its look)"  # ends the name of a class that no value proves

Change = Callable[[Term], Term]


@dataclass(frozen=True, slots=True)
class Convention:
    """One decision that readers take differently.

    Attributes:
        name: of the class, as in the tables.
        ours, theirs: what takes it back in PRISM's reading and in the rival's.
    """

    name: str
    ours: Change | None = None
    theirs: Change | None = None


# What takes a decision back ---------------------------------------------------------------------------------


def _renamed(change: Callable[[str], str]) -> Change:
    def rename(term: Term) -> Term:
        return ("sym", change(term[1])) if term[0] == "sym" else term

    return rename


def _split_head(heads: tuple[str, ...]) -> Change:
    """A name that begins with one of these letters as a product with the rest of it."""

    def split(term: Term) -> Term:
        if term[0] == "sym":
            for head in heads:
                rest = term[1].removeprefix(head)
                if rest != term[1] and rest and rest[0] not in "_'^":
                    return ("mul", ("sym", head), ("sym", rest))
        return term

    return split


def _head_as(operators: tuple[str, ...], other: str) -> Change:
    def change(term: Term) -> Term:
        return (other, *term[1:]) if term[0] in operators else term

    return change


def _call_as_name(term: Term) -> Term:
    return term[1] if term[0] == "apply" and len(term) > 2 else term


def _call_as_product(term: Term) -> Term:
    return ("mul", *term[1:]) if term[0] == "apply" and len(term) == 3 else term


def _without_accent(name: str) -> str:
    for accent in (
        "vec",
        "hat",
        "bar",
        "tilde",
        "mathcal",
        "mathbb",
        "overline",
        "mathbf",
        "underline",
        "boldsymbol",
        "math",
    ):
        name = name.replace(accent, "")
    return name


def _without_subscript(name: str) -> str:
    head, mark, _ = name.partition("_")
    return head if mark and head else name


def _superscript_as_power(term: Term) -> Term:
    if term[0] == "sym" and "^" in term[1]:
        head, _, script = term[1].partition("^")
        script = script.strip("()")
        power: Term = ("num", float(script)) if script.isdigit() else ("sym", script)
        return ("pow", ("sym", head), power) if head and script else term
    return term


def _without_label(name: str) -> str:
    head, mark, _ = name.partition("^")
    return head if mark and head else name


def _bare_prime(term: Term) -> Term:
    r"""No primes: neither in names nor as powers, which is what a rival makes of `^\prime`."""
    if term[0] == "sym" and term[1] != "'":
        return ("sym", term[1].replace("'", ""))
    if term[0] == "derivative" and term[3:] == (("sym", "?"),):
        return term[1]
    return term[1] if term[0] == "pow" and term[2] == ("sym", "'") else term


def _derivative_of_call(term: Term) -> Term:
    return ("apply", term[1], *term[3:]) if term[0] == "derivative" and term[1][0] == "sym" else term


def _derivative_as_quotient(term: Term) -> Term:
    if term[0].startswith("opaque derivative") and len(term) == 2 and term[1][0] == "sym":
        order = float(term[0][-1]) if term[0][-1].isdigit() else 1.0
        return ("div", ("pow", ("sym", "d"), ("num", order)), ("pow", ("sym", f"d{term[1][1]}"), ("num", order)))
    if term[0] != "derivative" or len(term) != 4:
        return term
    _, body, order, variable = term
    name = variable[1] if variable[0] == "sym" else ""
    above: Term = ("sym", f"d{body[1]}") if body[0] == "sym" and order[1] == 1 else (
        "mul", ("pow", ("sym", "d"), order), body)  # fmt: skip
    return ("div", above, ("pow", ("sym", f"d{name}"), order))


def _euler(term: Term) -> Term:
    return ("num", math.e) if term == ("sym", "e") else term


def _e_as_symbol(term: Term) -> Term:
    if term[0] == "exp":
        return ("pow", ("sym", "e"), term[1])
    return ("sym", "e") if term == ("num", math.e) else term


def _imaginary(term: Term) -> Term:
    """A rival reads `I` as the imaginary unit, whatever its subscript."""
    return ("const i",) if term[0] == "sym" and _without_subscript(term[1]) in ("I", "i") else term


def _our_gamma(term: Term) -> Term:
    return ("sym", "gamma") if term[0] == "sym" and _without_subscript(term[1]).lower() == "gamma" else term


def _their_gamma(term: Term) -> Term:
    """Euler's constant and the gamma function back to the symbol, and the product with it."""
    if term == ("const gamma",):
        return ("sym", "gamma")
    if term[0] == "gamma":
        return ("mul", ("sym", "gamma"), term[1])
    if term[0] == "pow" and term[1][0] == "mul" and term[1][1] == ("sym", "gamma"):
        return ("mul", ("pow", ("sym", "gamma"), term[2]), *term[1][2:])
    return _our_gamma(term)


def _last_factor_outside(count: int) -> Change:
    r"""`sin(a b)` as `sin(a) b`: the last factors of an argument stand behind the function."""

    def change(term: Term) -> Term:
        if term[0] == "pow" and term[1][0] == "mul" and term[1][1][0] in _TAKING and len(term[1]) == 2 + count:
            return ("mul", ("pow", term[1][1], term[2]), *term[1][2:])
        if term[0] in _TAKING and term[1][0] == "mul" and len(term[1]) > 1 + count:
            inside = term[1][1:-count]
            argument = inside[0] if len(inside) == 1 else ("mul", *inside)
            return ("mul", (term[0], argument), *term[1][-count:])
        return term

    return change


_TAKING = frozenset("sin cos tan sinh cosh tanh ln exp sec csc cot log10".split())


def _nabla(term: Term) -> Term:
    """Nabla as a factor."""
    if term[0].startswith("opaque nabla"):
        name, _, index = term[0].removeprefix("opaque ").partition("_")
        bare: Term = ("sym", f"nabla_{index}" if index else "nabla")
        return ("pow", bare, ("num", 2.0)) if name.endswith("2") else bare
    if not term[0].startswith("nabla "):
        return term
    return ("mul", ("pow", ("sym", "nabla"), ("num", 2.0 if "laplace" in term[0] else 1.0)), *term[1:])


def _single_set(term: Term) -> Term:
    return term[1] if term[0] == "set" and len(term) == 2 else term


def _measure_first(term: Term) -> Term:
    r"""`\int dx f` as rivals see it: an integral of one, times what follows."""
    if term[0] == "mul":
        for place, factor in enumerate(term[1:], start=1):
            if factor[0] == "integral" and factor[1] == ("num", 1.0) and place + 1 < len(term):
                return ("mul", *term[1:place], ("integral", ("mul", *term[place + 1 :]), *factor[2:]))
    return term


def _without_dots(term: Term) -> Term:
    kept = [part for part in term[1:] if part != ("dots",)]
    if len(kept) == len(term) - 1 or term[0] not in ("add", "mul"):
        return term
    return (term[0], *kept) if len(kept) > 1 else kept[0] if kept else term


def _no_arc(term: Term) -> Term:
    return ("num", 1.0) if term in (("sym", "arcmin"), ("sym", "arcsec")) else term


def _power_of_last_unit(term: Term) -> Term:
    r"""`\text{kg/m}^3` as the rivals read it, back to kg/m^3."""
    if term[0] == "pow" and term[1][0] == "mul" and term[1][-1][0] == "div" and term[1][-1][1] == ("num", 1.0):
        return (*term[1][:-1], ("div", ("num", 1.0), ("pow", term[1][-1][2], term[2])))
    return term


def _common_log(term: Term) -> Term:
    return ("div", term, ("num", math.log(10))) if term[0] == "ln" else term


def _mixed_number(term: Term) -> Term:
    if term[0] == "mul" and len(term) >= 3 and term[1][0] == "num" and term[2][0] == "div":
        _, above, below = term[2]
        if above[0] == below[0] == "num":
            return ("mul", ("add", term[1], term[2]), *term[3:])
    return term


def _no_degree(term: Term) -> Term:
    return ("num", 1.0) if term == ("degree",) else term


def _d_apart(term: Term) -> Term:
    if term[0] == "differential" and len(term) == 2:
        return ("mul", ("sym", "d"), term[1])
    if term[0] == "sym" and term[1].startswith("d") and len(term[1]) > 1 and term[1][1] not in "_'^":
        return ("mul", ("sym", "d"), ("sym", term[1][1:]))
    return term


def _letters(term: Term) -> Term:
    """A name of several Latin letters as their product."""
    if term[0] == "sym" and len(term[1]) > 1 and term[1].isalpha() and term[1].isascii():
        return ("mul", *(("sym", letter) for letter in term[1]))
    return term


def _derivative_plain(term: Term) -> Term:
    return derivative(term[1], "1", term[3:]) if term[0] == "derivative" else term


def _first_of_integral(term: Term) -> Term:
    """An integral without its variable and limits."""
    return ("integral", term[1]) if term[0] in ("integral", "contour") else term


_SIGNS = ("Delta", "delta", "partial")

CONVENTIONS = (
    Convention("primes dropped", _bare_prime, _bare_prime),
    Convention("primed function not derived", _derivative_of_call),
    Convention("call by its variable is the name", _call_as_name, _call_as_name),
    Convention("call read as a product", _call_as_product, _call_as_product),
    Convention("Delta x read as a product", _split_head(_SIGNS), _split_head(_SIGNS)),
    Convention("vector products read as products", _head_as(("cross", "dot"), "mul")),
    Convention("accents and bold dropped", _renamed(_without_accent), _renamed(_without_accent)),
    Convention("e read as Euler's number", _euler, _euler),
    Convention("e read as a symbol", _e_as_symbol, _e_as_symbol),
    Convention("I read as the imaginary unit", _imaginary, _imaginary),
    Convention("gamma read as a constant or function", _our_gamma, _their_gamma),
    Convention("argument takes one factor more", None, _last_factor_outside(1)),
    Convention("argument takes two factors more", None, _last_factor_outside(2)),
    Convention("nabla read as a factor", _nabla),
    Convention("braces read as a set", None, _single_set),
    Convention("measure before the integrand", None, _measure_first),
    Convention("dots dropped", _without_dots),
    Convention("log read to base 10", _common_log),
    Convention("mixed number", _mixed_number),
    Convention("degree sign dropped", _no_degree, _no_degree),
    Convention("arc minutes dropped", _no_arc),
    Convention("power of a text taken for all of it", None, _power_of_last_unit),
    Convention("subscripts dropped", _renamed(_without_subscript), _renamed(_without_subscript)),
    Convention("superscript label read as a power", _superscript_as_power),
    Convention("superscript label dropped", _renamed(_without_label)),
    Convention("derivative read as a quotient", _derivative_as_quotient, _derivative_as_quotient),
    Convention("d read as a factor", _d_apart, _d_apart),
    Convention("upright word read as letters", _letters, _letters),
    Convention("pair read as an interval", _head_as(("tuple",), "interval")),
    Convention("order of a derivative", _derivative_plain, _derivative_plain),
    Convention("measure and limits of an integral", _first_of_integral, _first_of_integral),
)  # fmt: skip


# Comparing --------------------------------------------------------------------------------------------------


def explain(latex: str, ours: Reading, theirs: Reading, read: Callable[[str], Reading | None]) -> str:
    """The class of the difference of two readings of one formula.

    Args:
        read: PRISM's reading of a text, for its beginnings: a rival may stop at the first thing it does not know.
    """
    verdict = _same(ours, theirs)
    if verdict is None:
        return UNDEFINED
    if verdict:
        return verdict
    found = _conventions(ours, theirs, 1)
    if found and "subscripts dropped" not in found:
        return found
    if _is_beginning(latex, theirs, read):
        return "end of the formula dropped"
    if found := found or _conventions(ours, theirs, _MAX_TOGETHER):
        return found
    return next((f"{look.name}{BY_LOOK}" for look in _LOOKS if look.fits(latex, theirs)), UNEXPLAINED)


def _conventions(ours: Reading, theirs: Reading, most: int) -> str:
    """The smallest set of at most so many conventions that explains the difference; empty if none does."""
    applicable = [item for item in CONVENTIONS if _applied((item,), ours, theirs) != (ours, theirs)]
    for size in range(1, most + 1):
        for chosen in combinations(applicable[:_MAX_APPLICABLE], size):
            if verdict := _same(*_applied(chosen, ours, theirs)):
                names = " + ".join(item.name for item in chosen)
                return names if verdict == SAME else f"{verdict} + {names}"
    return ""


def _is_beginning(latex: str, theirs: Reading, read: Callable[[str], Reading | None]) -> bool:
    """Whether the rival's reading is that of a beginning of the text."""
    for cut in list(_TOKEN.finditer(latex))[:_MAX_BEGINNINGS]:
        beginning = read(latex[: cut.start()]) if cut.start() else None
        if beginning and (_same(beginning, theirs) == SAME or _conventions(beginning, theirs, 1)):
            return True
    return False


def _has(theirs: Reading, *heads: str) -> bool:
    sides = [side for claim in theirs.claims for side in (claim.left, claim.right)]
    return any(node[0] in heads for side in sides for node in nodes(side))


@dataclass(frozen=True, slots=True)
class _Look:
    """A class told by what is written and what nodes a rival made of it, where no value can prove it."""

    name: str
    written: re.Pattern[str]
    heads: tuple[str, ...] = ()

    def fits(self, latex: str, theirs: Reading) -> bool:
        return bool(self.written.search(latex)) and (not self.heads or _has(theirs, *self.heads))


_ANY = re.compile("")
_LOOKS = (
    _Look("gamma read as a constant or function", _ANY, ("gamma", "ComplexInfinity", "const gamma")),
    _Look("I read as the imaginary unit", _ANY, ("const i",)),
    _Look("command read in pieces", re.compile(
        r"\\(?:lesssim|gtrsim|lessapprox|gtrapprox|pmb|gg|ll|coth|AA|triangle|angle|cdots|ldots|dots)(?![a-z])|arc[st]")),
    _Look("number in computer notation read with e", re.compile(r"\d[eE][-+]?\d")),
    _Look("number with commas cut", re.compile(r"\d(?:\{,\}|,)\d")),
    _Look("d joined with what follows", re.compile(
        r"d\s?\\(?:sin|cos|tan|dot|ddot|bar|cdot|frac)|_\{?d\}?\s?[a-zA-Z\\]")),
    _Look("integral takes all that follows", re.compile(r"\\int.*\\int", re.DOTALL), ("integral",)),
    _Look("volume element not seen", re.compile(r"d\^\{?[23]")),
    _Look("measure with a space command not seen", re.compile(r"\\mathrm\{~?d\}"), ("integral",)),
    _Look("bar over an expression", re.compile(r"\\(?:overline|bar)")),
    _Look("upright function read as letters", re.compile(r"\\(?:mathrm|text)\{\s?(?:sin|cos|ln|exp|sinc)")),
    _Look("bracketed numbers added", re.compile(r"[\d)]\s?\(\s?[-+]?[\d.]+\)")),
    _Look("bracketed relation", re.compile(r"^\(.*\)$")),
    _Look("E(x) read as a product", re.compile(r"(?<![a-zA-Z\\])E\([a-z\\]")),
    _Look("sign inside a unit not seen", re.compile(r"\\mathrm\{[^{}]{0,20}\\cdot|[²³°⋅]")),
    _Look("call by the look of the bracket", _ANY, ("apply",)),
    _Look("list, set or interval", re.compile(r",|^\{|\[")),
    _Look("chain with approximate members cut", re.compile(r"\\approx")),
    _Look("nabla read as a factor", re.compile(r"\\nabla")),
    _Look("words read as symbols", re.compile(r"\\text\s?\{|\\in(?![a-z])")),
    _Look("primes dropped", re.compile(r"'|\\prime")),
    _Look("extent of an argument", re.compile(r"\\(?:sin|cos|tan|exp|ln|log|sec|csc|cot)(?![a-z])")),
    _Look("power behind a bracket", re.compile(r"[a-zA-Z]\^\d\s?\(|\)_")),
    _Look("extent of a denominator", re.compile("/")),
)  # fmt: skip


def _applied(chosen: tuple[Convention, ...], ours: Reading, theirs: Reading) -> tuple[Reading, Reading]:
    for item in chosen:
        ours = ours.mapped(item.ours) if item.ours else ours
        theirs = theirs.mapped(item.theirs) if item.theirs else theirs
    return ours, theirs


def _same(ours: Reading, theirs: Reading) -> str | None:
    """`SAME`, what of the chain was dropped, an empty string if the values differ, None if nothing is defined."""
    if len(ours.claims) == len(theirs.claims) and "value" not in (ours.claims[0].relation, theirs.claims[0].relation):
        answer = _pairs_agree(theirs.claims, ours.claims)
        return answer if answer is None else SAME if answer else ""
    if theirs.claims[0].relation == "value" == ours.claims[0].relation and len(theirs.claims) == 1:
        answer = _terms_agree(ours.claims[0].left, theirs.claims[0].left)
        return answer if answer is None else SAME if answer else ""
    if theirs.claims[0].relation == "value":
        kept = [side for claim in ours.claims for side in (claim.left, claim.right) if claim.relation != "value"]
        if len(theirs.claims) == 1 and any(_terms_agree(side, theirs.claims[0].left) for side in kept):
            return "one member kept, the rest dropped"
        return ""
    if len(theirs.claims) < len(ours.claims) and _pairs_agree(theirs.claims, ours.claims):
        return "some relations kept, the rest dropped"
    return ""


def _pairs_agree(claims: tuple[Claim, ...], among: tuple[Claim, ...]) -> bool | None:
    """Whether each claim has its like among the others."""
    defined = True
    for claim in claims:
        answers = [_claims_agree(claim, other) for other in among]
        if any(answers):
            continue
        if None not in answers:
            return False
        defined = False
    return True if defined else None


def _claims_agree(a: Claim, b: Claim) -> bool | None:
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if a.relation == b.relation:
        left, right = _terms_agree(a.left, b.left), _terms_agree(a.right, b.right)
        return None if left is None or right is None else left and right
    if mirrored.get(a.relation) == b.relation:
        return _claims_agree(Claim(b.relation, a.right, a.left), b)
    return False


def _terms_agree(a: Term, b: Term) -> bool | None:
    """Whether two terms have the same value at all points where both are defined."""
    keys = symbols(Reading((Claim("value", a), Claim("value", b))))
    compared = 0
    for point in points(keys, N_POINT):
        try:
            if not agree(value(a, point), value(b, point)):
                return False
        except (ArithmeticError, ValueError):
            continue
        compared += 1
    return True if compared >= _MIN_POINTS else None
