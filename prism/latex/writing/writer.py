r"""From expressions back to LaTeX: one text for one tree, in the form that the dataset of PRISM-Physics prescribes.

`parse` and `write` are inverse: what is written is read back as the same kind, members, relations and parts, and two
texts of one tree print alike. Nothing is simplified or put in order: that is the business of `expr.canonical`.

The form: every quotient is a `\frac`, every argument of a function stands in brackets, factors stand side by side
where that has one reading and with a `\cdot` where it has not (before a number, between a symbol and a bracket),
units stand in `\unit{...}` behind their number; no `\left`, no fonts but where a name of several letters needs one, no
spacing. Brackets stand where the tree nests and nowhere else: `a(bc)` is no `abc`.

Each operator has one writer in `_WRITERS`, which gives a text and its rank, that is how tightly it holds together; who
puts it into a larger text asks for the rank that the place needs and gets brackets if it has less. Refused: deciding
by trial, that is to write plainly, parse, and add brackets until it agrees; the rules of the reader would then be
nowhere written down from this side, and a text would depend on the limits of the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from prism.algebra.expr import JOINTS, OPS, RELATIONS, Expr, Formula, walk
from prism.latex.parsing.names import PREFIXES, split_name
from prism.latex.writing.spelling import (
    DOT,
    UPRIGHT_D,
    is_index,
    is_plain,
    is_word,
    sign_between,
    written_function,
    written_name,
    written_number,
    written_region,
    written_scripts,
    written_unit,
)

# Ranks: how tightly a text holds together. -------------------------------------------------------------------

_LIST, _SETS, _SUM, _PRODUCT = 0, 1, 2, 3
_OPEN = 4  # a factor that would swallow what stands behind it: a sum, a limit, a nabla
_FACTOR = 5  # stands among other factors
_BASE = 6  # takes a superscript without brackets


@dataclass(frozen=True, slots=True)
class _Text:
    """What one node is written as, and its rank."""

    latex: str
    rank: int


@dataclass(frozen=True, slots=True)
class _Style:
    """What has to be known of the whole formula.

    Attributes:
        d: the sign of a differential outside fractions and integrals: an upright d where an italic one would be read
            as a symbol.
        variables: what a symbol has to be shown with. Beside `u(t - 1)`, which is a value of u and no product only
            where u(t) stands too, the symbol u is written `u(t)`.
    """

    d: str
    variables: dict[str, str]


def write(what: Formula | Expr) -> str:
    r"""The canonical LaTeX of a formula or an expression.

    Args:
        what: as `parse` gives it. A tree that no text stands for (the number -3 as one leaf) is written as the next
            thing that one does (minus three).

    >>> from prism.latex.parsing.parser import parse
    >>> print(write(parse(r"T = 2\pi \left(L/g\right)^{1/2}.")))
    T = 2 \pi (\frac{L}{g})^{\frac{1}{2}}
    >>> print(write(parse(r"\mathrm dv = 9.8\,\mathrm{m/s^2}\,\mathrm dt")))
    dv = 9.8 \unit{m/s^{2}} dt
    """
    if isinstance(what, Expr):
        return _written(_style((what,)), what).latex
    return _formula(_style(_members(what)), what)


# Formulas -------------------------------------------------------------------------------------------------------

_JOINTS = {"alternatives": r" \lor ", "implication": r" \Rightarrow "}


def _formula(style: _Style, whole: Formula) -> str:
    """One formula, or several with the sign that joins them."""
    if not whole.parts:
        words = [_at_least(style, whole.members[0], _LIST)]
        for relation, member in zip(whole.relations, whole.members[1:], strict=True):
            words += [RELATIONS[relation], _at_least(style, member, _LIST)]
        return " ".join(word for word in words if word)
    parts = [_formula(style, part) for part in whole.parts]
    if whole.kind in ("conditional", "restricted"):
        return rf"{parts[0]} \text{{ {JOINTS[whole.kind]} }} {', '.join(parts[1:])}"
    if whole.kind == "system":
        return (", " if all(map(_stands_by_itself, whole.parts)) else r" \text{ and } ").join(parts)
    return _JOINTS[whole.kind].join(parts)


def _stands_by_itself(part: Formula) -> bool:
    """Whether a comma before and behind this formula is read as the end of it, and not as one of a list."""
    return (
        not part.parts and bool(part.relations) and not any(member.op in ("list", "blank") for member in part.members)
    )


_VARIABLES = ("t", "x", "y", "z", "r", r"\theta", r"\phi", r"\tau")  # `u(t)` is u, so it may stand for it


def _members(whole: Formula) -> tuple[Expr, ...]:
    """All members, those of the parts included."""
    return whole.members + tuple(member for part in whole.parts for member in _members(part))


def _style(roots: tuple[Expr, ...]) -> _Style:
    """What has to be known of these members; the evidence for the d is that of `differentials`."""
    own = pairs = 0
    certain = False
    variables: dict[str, str] = {}
    for node in (node for root in roots for node in walk(root)):
        if node.op == "sym":
            own += node.name == "d" or node.name.startswith("d_")
            pairs += node.name.startswith("\\delta ")
        elif node.op == "differential":
            pairs += is_plain(node.args[0])
        elif node.op in ("integral", "contour", "partial", "derivative"):
            certain = certain or node.args[1].name != "?"
        elif node.op == "apply" and len(node.args) == 1 and node.args[0].op in ("add", "sub", "neg"):
            inner = [part.name for part in node.args[0].args if part.name in _VARIABLES and part.name != node.name]
            if inner:
                variables[node.name] = inner[0]
    return _Style("d" if not own and (certain or pairs > 1) else UPRIGHT_D, variables)


# Texts in texts -------------------------------------------------------------------------------------------------


def _written(style: _Style, node: Expr) -> _Text:
    if node.op in _FIXED:
        return _FIXED[node.op]
    if node.op == "sym" and node.name in style.variables:
        return _Text(f"{written_name(node.name)}({style.variables[node.name]})", _FACTOR)
    if node.op in _LEAVES:
        return _LEAVES[node.op](node)
    return _WRITERS[node.op](style, node)


def _at_least(style: _Style, node: Expr, rank: int) -> str:
    """The text of a node, in brackets if it holds together less tightly than the place needs."""
    return _enclosed_below(_written(style, node), rank)


def _enclosed_below(text: _Text, rank: int) -> str:
    return text.latex if text.rank >= rank else f"({text.latex})"


def _listed(style: _Style, nodes: Iterable[Expr]) -> str:
    return ", ".join(_at_least(style, node, _LIST) for node in nodes)


# Leaves ---------------------------------------------------------------------------------------------------------


def _number(node: Expr) -> _Text:
    text = written_number(node)
    plain = text.replace(".", "", 1).isdigit()
    return _Text(text, _BASE if plain else _SUM if text.startswith("-") else _FACTOR)


def _symbol(node: Expr) -> _Text:
    _, scripts = split_name(node.name)
    return _Text(written_name(node.name), _FACTOR if "^" in scripts or is_word(node) else _BASE)


def _constant(node: Expr) -> _Text:
    return _Text("\\" + node.name if len(node.name) > 1 else node.name, _BASE)


def _unit(node: Expr) -> _Text:
    return _Text(rf"\unit{{{written_unit(node)}}}", _FACTOR)


_LEAVES: dict[str, Callable[[Expr], _Text]] = {"num": _number, "sym": _symbol, "const": _constant, "unit": _unit}
_FIXED = {"infinity": _Text(r"\infty", _BASE), "dots": _Text(r"\ldots", _BASE), "blank": _Text("", _BASE)}


# Sums -----------------------------------------------------------------------------------------------------------


def _leading(style: _Style, node: Expr, *free: str) -> str:
    """The first term: a sign of its own needs no brackets."""
    return _at_least(style, node, _SUM if node.op in ("neg", "pm", *free) or _is_negative(node) else _PRODUCT)


def _is_negative(node: Expr) -> bool:
    return node.op == "num" and node.value is not None and node.value < 0


def _add(style: _Style, node: Expr) -> _Text:
    out = _leading(style, node.args[0])
    for arg in node.args[1:]:
        sign, term = ("-", arg.args[0]) if arg.op == "neg" else ("+", arg)
        out += f" {sign} {_at_least(style, term, _PRODUCT)}"
    return _Text(out, _SUM)


def _subtract(style: _Style, node: Expr) -> _Text:
    return _Text(f"{_leading(style, node.args[0])} - {_at_least(style, node.args[1], _PRODUCT)}", _SUM)


def _negate(style: _Style, node: Expr) -> _Text:
    return _Text(f"-{_at_least(style, node.args[0], _PRODUCT)}", _SUM)


def _plus_minus(style: _Style, node: Expr) -> _Text:
    sign = r"\mp" if node.name == "∓" else r"\pm"
    before = [_leading(style, arg, "add", "sub") for arg in node.args[:-1]]
    return _Text(" ".join([*before, sign, _at_least(style, node.args[-1], _PRODUCT)]), _SUM)


# Products -------------------------------------------------------------------------------------------------------

_VECTOR_SIGNS = (r"\vec", r"\hat", r"\nabla")
_TEN = "10"


def _multiply(style: _Style, node: Expr) -> _Text:
    r"""Factors side by side, with a sign between two that would be read as one thing.

    Between vectors a sign would make the product one of vectors; there, brackets around all factors part them.
    """
    pieces = [*_factors(style, node)]
    signs = [sign_between(before, after, text) for (before, _), (after, text) in pairwise(pieces)]
    texts = [text for _, text in pieces]
    vectors = sum(any(sign in text for sign in _VECTOR_SIGNS) for text in texts)
    if vectors > 1 and any(sign != " " for sign in signs):
        texts = [text if text.startswith("(") and text.endswith(")") else f"({text})" for text in texts]
        signs = [" "] * len(signs)
    return _Text(texts[0] + "".join(sign + text for sign, text in zip(signs, texts[1:], strict=True)), _PRODUCT)


def _factors(style: _Style, node: Expr) -> Iterator[tuple[Expr, str]]:
    """Each factor with its text; units side by side are one."""
    units: list[Expr] = []
    count = len(node.args)
    for index, arg in enumerate(node.args):
        unit = written_unit(arg) if arg.op != "mul" else ""
        if unit and arg.op != "div":
            units.append(arg)
        is_last = index + 1 == count
        if units and (is_last or arg is not units[-1] or not _is_unit_factor(node.args[index + 1])):
            yield units[0], rf"\unit{{{DOT.join(map(written_unit, units))}}}"
            units = []
            if unit and arg.op != "div":
                continue
        elif units:
            continue
        text = _at_least(style, arg, _OPEN if is_last else _FACTOR)
        bare = text if not (unit and not is_last and written_unit(node.args[index + 1])) else f"({text})"
        ten = arg.op == "pow" and arg.args[0].name == _TEN and index and node.args[index - 1].op == "num"
        yield arg, f"({bare})" if ten else bare


def _is_unit_factor(node: Expr) -> bool:
    return node.op in ("unit", "pow") and bool(written_unit(node))


def _quotient(style: _Style, node: Expr) -> _Text:
    unit = written_unit(node)
    if unit:
        return _Text(rf"\unit{{{unit}}}", _FACTOR)
    above, below = (_at_least(style, arg, _SETS) for arg in node.args)
    if _starts_with_d(node.args[1]):
        below = f"({below})"  # a derivative
    return _Text(rf"\frac{{{above}}}{{{below}}}", _FACTOR)


def _starts_with_d(node: Expr) -> bool:
    while node.op in ("mul", "pow", "dot", "cross"):
        node = node.args[0]
    return node.op == "differential"


def _power(style: _Style, node: Expr) -> _Text:
    r"""A power; `e^{2}` is one of a symbol, since any other exponent makes it the exponential function."""
    base, exponent = node.args
    unit = written_unit(node)
    if unit:
        return _Text(rf"\unit{{{unit}}}", _FACTOR)
    above = _raised(style, exponent)
    if base.op in _FUNCTIONS and exponent.op == "num" and exponent.name.isdigit() and base.op not in ("exp", "log10"):
        return _Text(f"{OPS[base.op].latex[0]}^{{{above}}}{_argument(style, base.args[0])}", _FACTOR)
    if base.op == "sym" and base.name == "e" and not (exponent.op == "num" and exponent.name.isdigit()):
        return _Text(f"(e)^{{{above}}}", _FACTOR)
    if base.op == "differential" and is_plain(base.args[0]) and "^" not in base.args[0].name:
        return _Text(f"{_written(style, base).latex}^{{{above}}}", _FACTOR)
    return _Text(f"{_at_least(style, base, _BASE)}^{{{above}}}", _FACTOR)


def _raised(style: _Style, node: Expr) -> str:
    """What stands in a superscript; a word needs brackets, or it would be a label."""
    return _at_least(style, node, _SETS if not is_word(node) else _BASE + 1)


def _whole_power(style: _Style, node: Expr) -> _Text:
    """The instruction of the tape: its exponent is its name."""
    return _Text(f"{_at_least(style, node.args[0], _BASE)}^{{{node.name}}}", _FACTOR)


def _vector_product(sign: str) -> Callable[[_Style, Expr], _Text]:
    """A product with a sign of its own; its sides are products only if these hold no sign themselves."""

    def writer(style: _Style, node: Expr) -> _Text:
        sides = []
        for arg in node.args:
            text = _written(style, arg)
            bare = arg.op == "mul" and r"\cdot" not in text.latex and r"\times" not in text.latex
            sides.append(_enclosed_below(text, _PRODUCT if bare else _FACTOR))
        return _Text(f" {sign} ".join(sides), _PRODUCT)

    return writer


def _set_product(sign: str) -> Callable[[_Style, Expr], _Text]:
    return lambda style, node: _Text(f" {sign} ".join(_at_least(style, arg, _SUM) for arg in node.args), _SETS)


# Functions and brackets -----------------------------------------------------------------------------------------

_FUNCTIONS = frozenset(
    name for name, op in OPS.items() if op.opcode is not None and op.arity == 1
    and name not in ("neg", "abs", "sqrt", "ipow", "floor", "factorial", "step")
)  # fmt: skip


def _argument(style: _Style, node: Expr) -> str:
    return f"({_at_least(style, node, _SETS)})"


def _function(style: _Style, node: Expr) -> _Text:
    argument = node.args[0]
    leading = argument.args[0] if argument.op == "pow" else argument
    if node.op == "exp" and not (leading.op == "num" and leading.name.isdigit()):  # `e^{2}` is a power of a symbol
        return _Text(f"e^{{{_raised(style, argument)}}}", _FACTOR)
    return _Text(OPS[node.op].latex[0] + _argument(style, argument), _FACTOR)


def _apply(style: _Style, node: Expr) -> _Text:
    r"""A value at a point, a function by its name; a determinant is the matrix in bars."""
    if node.name == "det" and len(node.args) == 1 and node.args[0].op == "matrix":
        return _Text(_environment(style, node.args[0], "vmatrix"), _BASE)
    head = written_function(node.name)
    return _Text(f"{head}({_listed(style, node.args)})", _FACTOR)


def _enclosed(left: str, right: str, rank: int = _FACTOR) -> Callable[[_Style, Expr], _Text]:
    return lambda style, node: _Text(f"{left}{_listed(style, node.args)}{right}", rank)


def _root(style: _Style, node: Expr) -> _Text:
    body, order = (_at_least(style, arg, _SETS) for arg in node.args)
    return _Text(rf"\sqrt[{order}]{{{body}}}", _FACTOR)


def _square_root(style: _Style, node: Expr) -> _Text:
    return _Text(rf"\sqrt{{{_at_least(style, node.args[0], _SETS)}}}", _FACTOR)


def _factorial(style: _Style, node: Expr) -> _Text:
    return _Text(f"{_at_least(style, node.args[0], _BASE)}!", _FACTOR)


def _binomial(style: _Style, node: Expr) -> _Text:
    above, below = (_at_least(style, arg, _SETS) for arg in node.args)
    return _Text(rf"\binom{{{above}}}{{{below}}}", _FACTOR)


def _interval(style: _Style, node: Expr) -> _Text:
    left, right = node.name[:1] or "[", node.name[1:] or "]"
    bounds = _listed(style, node.args).replace(r" \unit{deg}", r"^{\circ}")  # numbers to the reader, not quantities
    return _Text(f"{left}{bounds}{right}", _FACTOR)


def _commutator(style: _Style, node: Expr) -> _Text:
    bounds = all(arg.op in ("num", "const", "infinity", "dots", "div") for arg in node.args)
    if node.name or bounds:
        sides = "".join(f"{{{_at_least(style, arg, _SETS)}}}" for arg in node.args)
        return _Text(f"\\{node.name or 'comm'}{sides}", _FACTOR)
    return _Text(f"[{_listed(style, node.args)}]", _FACTOR)


def _angle_bracket(style: _Style, node: Expr) -> _Text:
    r"""`\langle x \rangle`, `\langle a | b \rangle`, states; a bra alone needs brackets to end."""
    kind, mark, sub = node.name.partition("_")
    parts = []
    for arg in node.args:
        text = _at_least(style, arg, _SETS)
        parts.append(f"({text})" if "|" in text and arg.op != "sym" else text)
    inner = " | ".join(parts)
    scripts = f"_{{{sub}}}" if mark else ""
    if kind == "ket":
        return _Text(rf"\lvert {inner} \rangle{scripts}", _BASE)
    if kind == "bra":
        return _Text(rf"(\langle {inner} |{scripts})", _BASE)
    return _Text(rf"\langle {inner} \rangle{scripts}", _BASE)


def _environment(style: _Style, node: Expr, name: str) -> str:
    rows = r" \\ ".join(_at_least(style, row, _LIST) for row in node.args)
    return rf"\begin{{{name}}} {rows} \end{{{name}}}"


def _table(name: str) -> Callable[[_Style, Expr], _Text]:
    return lambda style, node: _Text(_environment(style, node, name), _BASE)


def _row(style: _Style, node: Expr) -> _Text:
    return _Text(" & ".join(_without_roman(_at_least(style, arg, _LIST)) for arg in node.args), _LIST)


def _relation(style: _Style, node: Expr) -> _Text:
    words = [_at_least(style, node.args[0], _SETS)]
    for relation, member in zip(node.name.split(), node.args[1:], strict=True):
        words += [RELATIONS[relation], _at_least(style, member, _SETS)]
    return _Text(" ".join(words), _LIST)


def _ratio(style: _Style, node: Expr) -> _Text:
    return _Text(f"({' : '.join(_at_least(style, arg, _PRODUCT) for arg in node.args)})", _BASE)


# Calculus -------------------------------------------------------------------------------------------------------


def _behind_d(style: _Style, node: Expr, order: str = "", *, d: str = "d", labelled: bool = False) -> str:
    """What a d stands before: a plain symbol as it is, anything else in brackets.

    Args:
        labelled: a superscript follows, so that a name with one needs brackets too.
    """
    raised = f"^{{{order}}}" if order else ""
    if not is_plain(node) or (labelled and "^" in node.name):
        return f"{d}{raised}({_at_least(style, node, _SETS)})"
    blank = " " if d[-1:].isalpha() and len(d) > 1 and not raised else ""
    return f"{d}{raised}{blank}{written_name(node.name)}"


def _differential(style: _Style, node: Expr) -> _Text:
    d = UPRIGHT_D if node.name else style.d  # an italic `d^2 x` may be a product
    return _Text(_behind_d(style, node.args[0], node.name, d=d), _FACTOR)


def _derivative(style: _Style, node: Expr) -> _Text:
    r"""`\frac{dy}{dx}`, `\frac{d}{dx}(...)`, and primes where nobody said by what it is derived."""
    body, variable = node.args
    if variable.name == "?":
        bare = is_plain(body) and not any(mark in body.name for mark in "'^ ") and node.name != "1"
        primes = "'" * int(node.name) if node.name.isdigit() else f"^{{({node.name})}}"
        return _Text((written_name(body.name) if bare else _argument(style, body)) + primes, _FACTOR)
    order = "" if node.name == "1" else node.name
    plain = is_plain(variable) and not (order and "^" in variable.name)
    d = "d" if plain else UPRIGHT_D
    below = _behind_d(style, variable, d=d, labelled=bool(order)) + (f"^{{{order}}}" if order else "")
    return _derived(style, body, _behind_d(style, body, order, d=d), f"{d}^{{{order}}}" if order else d, below)


def _derived(style: _Style, body: Expr, above: str, sign: str, below: str) -> _Text:
    """A symbol stands on the fraction, anything else in brackets behind it."""
    if body.op == "sym":
        return _Text(rf"\frac{{{above}}}{{{below}}}", _FACTOR)
    return _Text(rf"\frac{{{sign}}}{{{below}}}{_argument(style, body)}", _FACTOR)


def _partial(style: _Style, node: Expr) -> _Text:
    r"""`\frac{\partial f}{\partial x}`; of several variables each stands as often as its order says."""
    body, *variables = node.args
    if variables[0].name.startswith("^"):
        return _Text(rf"\partial^{{{variables[0].name[1:]}}}{_argument(style, body)}", _FACTOR)
    sign, below = _partial_signs(style, variables, node.name)
    above = _behind_d(style, body, "" if node.name == "1" else node.name, d=r"\partial")
    return _derived(style, body, above, sign, below)


def _partial_signs(style: _Style, variables: list[Expr], order: str) -> tuple[str, str]:
    """The sign above, and the variables below with their orders."""
    below = []
    for variable in dict.fromkeys(variables):
        power = order if len(variables) == 1 else str(variables.count(variable))
        text = _behind_d(style, variable, d=r"\partial", labelled=power != "1")
        below.append(text if power == "1" else f"{text}^{{{power}}}")
    return r"\partial" if order == "1" else rf"\partial^{{{order}}}", " ".join(below)


_NABLAS = {"grad": "", "div": r" \cdot", "curl": r" \times", "laplace": "^{2}"}


def _nabla(style: _Style, node: Expr) -> _Text:
    kind = next((kind for kind in _NABLAS if node.name.startswith(kind)), "")
    sign = rf"\nabla{written_scripts(node.name[len(kind) :])}{_NABLAS.get(kind, '')}"
    body = node.args[0]
    text = written_name(body.name) if body.op == "sym" and not is_word(body) else _argument(style, body)
    return _Text(f"{sign} {text}", _OPEN)


_INTEGRAL_SIGNS = {"integral": (r"\int", r"\iint", r"\iiint"), "contour": (r"\oint", r"\oiint", r"\oint")}


def _integral(style: _Style, node: Expr) -> _Text:
    r"""Signs side by side, the integrand, and the measures from the inside out."""
    signs, measures = [], []
    body = node
    while True:
        names = body.name.split()  # `2 d^3 dot`: signs, order of the measure, product with it
        fold = next((int(name) for name in names if name.isdigit()), 1)
        signs.append(_INTEGRAL_SIGNS[body.op][fold - 1] + _limits(style, *body.args[2:]))
        order = next((name[2:] for name in names if name.startswith("d^")), "")
        variable = body.args[1]
        measures.append(_behind_d(style, variable, order, d="d" if is_plain(variable) else style.d))
        body = body.args[0]
        mark = r"\cdot " if "dot" in names else r"\times " if "cross" in names else ""
        if mark or body.op not in _INTEGRAL_SIGNS:
            break
    integrand = _written(style, body)
    text = _enclosed_below(integrand, _PRODUCT if body.op == "mul" else _OPEN)
    measured = any(part.op in ("differential", "integral", "contour") for part in (body, *body.args))
    if measured or text.endswith(PREFIXES) or measures[-1].startswith(UPRIGHT_D):
        text = f"({integrand.latex})"  # `\Delta d` would be one symbol, `2 \mathrm{d}` two days
    return _Text(f"{' '.join(signs)} {text} {mark}{' '.join(reversed(measures))}", _OPEN)


def _bound(style: _Style, node: Expr, *, raised: bool = False) -> str:
    r"""A limit of an integral or a sum; what is no mathematics stays as it is spelled.

    A word alone below is the name of a region. Beside other things it would make a region of them, above it would be
    a label, so there brackets stand.
    """
    if node.op == "sym" and not (raised and is_word(node)):
        return written_region(node.name)
    return _without_roman(_at_least(style, node, _SETS))


def _without_roman(text: str) -> str:
    """Brackets around what has upright words or units in it, where these would make a name of the whole."""
    return f"({text})" if any(sign in text for sign in (r"\mathrm{", r"\unit{")) else text


def _limits(style: _Style, *bounds: Expr) -> str:
    """Lower and upper limit, as far as there are any."""
    texts = [_bound(style, arg) for arg in bounds[:1]] + [_bound(style, arg, raised=True) for arg in bounds[1:]]
    return "".join(f"{mark}{{{text}}}" for mark, text in zip("_^", texts, strict=False))


def _series(sign: str) -> Callable[[_Style, Expr], _Text]:
    """A sum or product over an index, with its limits."""

    def writer(style: _Style, node: Expr) -> _Text:
        body, *limits = node.args
        out = sign + node.name
        if limits:
            index = _bound(style, limits[0])
            loose = not is_index(limits[0]) or (len(limits) > 1 and limits[1].op == "blank")
            upper = limits[2:]
            lower = f"{index}={_bound(style, limits[1])}" if len(limits) > 1 and not loose else index
            out += f"_{{{lower}}}" + "".join(f"^{{{_bound(style, arg)}}}" for arg in upper)
        return _Text(f"{out} {_operand(style, body)}", _OPEN)

    return writer


def _operand(style: _Style, node: Expr) -> str:
    """What a sum or limit acts on: a product as it is, anything looser in brackets."""
    return _at_least(style, node, _PRODUCT)


def _limit(style: _Style, node: Expr) -> _Text:
    body, variable, target = node.args
    sub = rf"{_bound(style, variable)} \to {_bound(style, target)}"
    return _Text(rf"\lim_{{{sub}}} {_operand(style, body)}", _OPEN)


def _evaluated(style: _Style, node: Expr) -> _Text:
    """`[F]_{a}^{b}` between limits, `f|_{x=0}` at a point, `f|_{V}` with V held."""
    body, *where = node.args
    if node.name == "limits":
        return _Text(f"[{_at_least(style, body, _SETS)}]{_limits(style, *where)}", _FACTOR)
    if where[0].name == "?":
        return _Text(f"{_written(style, body).latex}({_at_least(style, where[1], _LIST)})", _FACTOR)
    text = _at_least(style, body, _BASE)
    sub = "=".join(_bound(style, arg) for arg in where)
    return _Text(f"{text}|_{{{sub}}}", _FACTOR)


# Opaque constructs ----------------------------------------------------------------------------------------------

_ACCENTS = frozenset((r"\bar", r"\tilde", r"\hat", r"\underline"))
_SET_SIGNS = frozenset((r"\setminus", r"\oplus", r"\bigcup", r"\bigcap"))


def _opaque(style: _Style, node: Expr) -> _Text:
    """What the engine looks at from outside only: its name says what it is."""
    name = node.name
    if name.startswith("nabla"):
        squared = name.startswith("nabla2")
        label = written_scripts(name[len("nabla") + squared :])
        return _Text(rf"\nabla{label}{'^{2}' if squared else ''}", _OPEN - 1)
    if name.startswith("derivative"):
        order = name.removeprefix("derivative")
        below = _behind_d(style, node.args[0]) + (f"^{{{order}}}" if order else "")
        return _Text(rf"\frac{{d{f'^{{{order}}}' if order else ''}}}{{{below}}}", _OPEN - 1)
    if name.startswith("partial"):
        if node.args[0].name.startswith("^"):
            return _Text(rf"\partial^{{{node.args[0].name[1:]}}}", _OPEN - 1)
        sign, below = _partial_signs(style, list(node.args), name.removeprefix("partial") or "1")
        return _Text(rf"\frac{{{sign}}}{{{below}}}", _OPEN - 1)
    if name in _SET_SIGNS:
        return _Text(f" {name} ".join(_at_least(style, arg, _SUM) for arg in node.args), _SETS)
    if name in _ACCENTS:
        text = _at_least(style, node.args[0], _SETS if node.args[0].op != "mul" else _FACTOR)
        return _Text(f"{name}{{{text}}}", _FACTOR)  # over letters alone it would be one symbol
    if name == "mod":
        return _Text(rf"\pmod{{{_listed(style, node.args)}}}", _FACTOR)
    if name.startswith("_{") and node.args[0].op != "bracket":
        return _Text(_listed(style, node.args) + name, _FACTOR)
    if name[:1] in ("^", "_"):
        return _Text(f"{{}}{name} ({_listed(style, node.args)})", _FACTOR)
    return _Text(f"({_listed(style, node.args)})^{{{name}}}", _FACTOR)


_WRITERS: dict[str, Callable[[_Style, Expr], _Text]] = {
    "add": _add, "sub": _subtract, "neg": _negate, "pm": _plus_minus,
    "mul": _multiply, "div": _quotient, "pow": _power, "ipow": _whole_power,
    "dot": _vector_product(r"\cdot"), "cross": _vector_product(r"\times"), "tensor": _vector_product(r"\otimes"),
    "wedge": _vector_product(r"\wedge"), "modulo": _vector_product(r"\bmod"), "parallel": _vector_product(r"\parallel"),
    "phasor": _vector_product(r"\angle"), "union": _set_product(r"\cup"), "intersection": _set_product(r"\cap"),
    **dict.fromkeys(_FUNCTIONS, _function),
    "root": _root, "sqrt": _square_root, "abs": _enclosed(r"\lvert ", r" \rvert", _BASE), "apply": _apply,
    "floor": _enclosed(r"\lfloor ", r" \rfloor", _BASE), "ceiling": _enclosed(r"\lceil ", r" \rceil", _BASE),
    "factorial": _factorial, "binomial": _binomial, "tuple": _enclosed("(", ")"), "set": _enclosed(r"\{", r"\}"),
    "interval": _interval, "commutator": _commutator, "bracket": _angle_bracket, "matrix": _table("pmatrix"),
    "cases": _table("cases"), "row": _row, "relation": _relation, "ratio": _ratio,
    "list": _enclosed("", "", _LIST),
    "differential": _differential, "derivative": _derivative, "partial": _partial, "nabla": _nabla,
    "integral": _integral, "contour": _integral, "sum": _series(r"\sum"), "product": _series(r"\prod"),
    "limit": _limit, "at": _evaluated, "opaque": _opaque,
}  # fmt: skip
