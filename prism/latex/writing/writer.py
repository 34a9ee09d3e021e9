r"""`write`: an expression to LaTeX, one text for one tree, in the form that the dataset of PRISM-Physics prescribes.

`parse` and `write` are inverse: what is written is read back as the same kind, members, relations and parts, and two
texts of one tree print alike. Nothing is simplified or put in order: that is the business of `expr.canonical`.

The form: every quotient is a `\frac`, every argument of a function stands in brackets, factors stand side by side
where that has one reading and with a `\cdot` where it has not (before a number, between a symbol and a bracket),
units stand in `\unit{...}` behind their number; no `\left`, no fonts but where a name of several letters needs one, no
spacing. Brackets stand where the tree nests and nowhere else: `a(bc)` is no `abc`.

Each operator has one writer in `_WRITERS`, which returns a text and its rank; the writer of the larger text asks for
the rank that the place needs and gets brackets if the text has less. Refused: deciding by trial, that is to write
plainly, parse, and add brackets until it agrees; the rules of the reader would then be nowhere written down from this
side, and a text would depend on the limits of the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from prism import budget
from prism.algebra.expr import JOINTS, RELATIONS, Expr, Formula, ops_of, symbols, walk
from prism.algebra.operators import OPS
from prism.errors import PrismError, named_type
from prism.latex.parsing.calls import PLACES, SIGNALS
from prism.latex.parsing.names import PREFIXES, split_name
from prism.latex.parsing.operands import OTHER_NABLAS
from prism.latex.writing.spelling import (
    DOT,
    UPRIGHT_D,
    can_follow_d,
    function_head_latex,
    is_index_variable,
    is_upright_word,
    name_latex,
    number_latex,
    region_latex,
    scripts_latex,
    sign_between_factors,
    unit_content_latex,
)

# Ranks: how tightly a text holds together; where a place asks for more than the text has, brackets are put.

_NODE = 1_000  # operations for each node that is written
_LIST, _SETS, _SUM, _PRODUCT = 0, 1, 2, 3
_OPEN = 4  # a factor that would swallow what stands behind it: a sum, a limit, a nabla
_FACTOR = 5  # stands among other factors
_BASE = 6  # takes a superscript without brackets


@dataclass(frozen=True, slots=True)
class _RankedText:
    """The LaTeX of one node, with its rank: how tightly it binds, from `_LIST` (comma lists) to `_BASE` (a symbol)."""

    latex: str
    rank: int


@dataclass(frozen=True, slots=True)
class _FormulaStyle:
    """Choices of spelling that depend on the whole formula.

    Attributes:
        d: the sign of a differential outside fractions and integrals: an upright d where an italic one would be read
            as a symbol.
        variables: symbols mapped to the variable that they are written with: where `u(t - 1)` stands, u is written
            `u(t)`, so that the reader takes `u(t - 1)` as a value of u and not as a product.
    """

    d: str
    variables: dict[str, str]


_Writer = Callable[[_FormulaStyle, Expr], _RankedText]


def write(what: Formula | Expr) -> str:
    r"""Write a formula or an expression as its canonical LaTeX.

    Args:
        what: as `parse` returns it. A tree that no text is parsed into (the number -3 as one leaf) is written as the
            closest tree with a text (minus three).

    Errors:
        PrismError: neither, such as LaTeX that is not parsed yet.

    >>> from prism.latex.parsing.parser import parse
    >>> print(write(parse(r"T = 2\pi \left(L/g\right)^{1/2}.")))
    T = 2 \pi (\frac{L}{g})^{\frac{1}{2}}
    >>> print(write(parse(r"\mathrm dv = 9.8\,\mathrm{m/s^2}\,\mathrm dt")))
    dv = 9.8 \unit{m/s^{2}} dt
    """
    if not isinstance(what, Formula | Expr):
        raise PrismError(f"write: found {named_type(what)}; expected a formula, as prism.parse returns it")
    members = (what,) if isinstance(what, Expr) else _all_members(what)
    budget.charge(sum(member.size for member in members) * _NODE)
    if isinstance(what, Expr):
        return _write_node(_formula_style(members), what).latex
    return _formula_latex(_formula_style(members), what)


# Formulas -------------------------------------------------------------------------------------------------------

_JOINTS = {"alternatives": r" \lor ", "implication": r" \Rightarrow "}


def _formula_latex(style: _FormulaStyle, whole: Formula) -> str:
    """Write one formula, or several joined formulas with the sign or words that join them."""
    if not whole.parts:
        words = [_node_latex(style, whole.members[0], _LIST)]
        for relation, member in zip(whole.relations, whole.members[1:], strict=True):
            words += [RELATIONS[relation], _node_latex(style, member, _LIST)]
        return " ".join(word for word in words if word)
    parts = [_formula_latex(style, part) for part in whole.parts]
    if whole.kind in ("conditional", "restricted"):
        return rf"{parts[0]} \text{{ {JOINTS[whole.kind]} }} {', '.join(parts[1:])}"
    if whole.kind == "system":
        return (", " if all(map(_can_end_at_comma, whole.parts)) else r" \text{ and } ").join(parts)
    return _JOINTS[whole.kind].join(parts)


def _can_end_at_comma(part: Formula) -> bool:
    """Return True if a comma behind this formula separates formulas: it has a relation and no list as a member."""
    return (
        not part.parts and bool(part.relations) and not any(member.op in ("list", "blank") for member in part.members)
    )


_VARIABLES = ("t", "x", "y", "z", "r", r"\theta", r"\phi", r"\tau")  # `u(t)` is u, so it may stand for it


def _all_members(whole: Formula) -> tuple[Expr, ...]:
    """Return the members of a formula (`a`, `b` of `a = b`) and of all its parts."""
    return whole.members + tuple(member for part in whole.parts for member in _all_members(part))


def _formula_style(roots: tuple[Expr, ...]) -> _FormulaStyle:
    """Choose the style for the expressions of one formula: an italic d where derivatives, integrals or `dx` occur."""
    own = pairs = 0
    certain = False
    variables: dict[str, str] = {}
    for node in (node for root in roots for node in walk(root)):
        if node.op == "sym":
            own += node.name == "d" or node.name.startswith("d_")
            pairs += node.name.startswith("\\delta ")
        elif node.op == "differential":
            pairs += can_follow_d(node.args[0])
        elif node.op in ("integral", "contour", "partial", "derivative"):
            certain = certain or node.args[1].name != "?"
        elif node.op == "apply" and len(node.args) == 1 and node.args[0].op in ("add", "sub", "neg"):
            inner = [part.name for part in node.args[0].args if part.name in _VARIABLES and part.name != node.name]
            if inner:
                variables[node.name] = inner[0]
    return _FormulaStyle("d" if not own and (certain or pairs > 1) else UPRIGHT_D, variables)


# Texts in texts -------------------------------------------------------------------------------------------------


def _write_node(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write one node; return its LaTeX with its rank (how tightly it binds)."""
    if node.op in _FIXED:
        return _FIXED[node.op]
    if node.op == "sym" and node.name in style.variables:
        return _RankedText(f"{name_latex(node.name)}({style.variables[node.name]})", _FACTOR)
    if node.op in _LEAVES:
        return _LEAVES[node.op](node)
    return _WRITERS[node.op](style, node)


def _node_latex(style: _FormulaStyle, node: Expr, rank: int) -> str:
    """Write a node, in brackets if it binds less tightly than `rank` asks, as a sum that is a factor does."""
    return _bracket_below_rank(_write_node(style, node), rank)


def _template_writer(template: str, rank_inside: int, rank: int = _FACTOR) -> _Writer:
    """Return a writer that puts the LaTeX of the arguments and the node's name into a format string.

    Args:
        template: such as `{0}!`.
        rank_inside: arguments that bind less tightly than this rank stand in brackets.
        rank: of the result.
    """
    return lambda style, node: _RankedText(
        template.format(*(_node_latex(style, arg, rank_inside) for arg in node.args), name=node.name), rank
    )


def _bracket_below_rank(text: _RankedText, rank: int) -> str:
    """Return the LaTeX of a text, in brackets if it binds less tightly than `rank` asks."""
    return text.latex if text.rank >= rank else f"({text.latex})"


def _comma_latex(style: _FormulaStyle, nodes: Iterable[Expr]) -> str:
    """Write nodes with commas between them: `a, b, c`."""
    return ", ".join(_node_latex(style, node, _LIST) for node in nodes)


# Leaves ---------------------------------------------------------------------------------------------------------


def _write_number(node: Expr) -> _RankedText:
    """Write a number; a fraction or power of ten ranks below `_BASE`, so that it gets brackets under a superscript."""
    text = number_latex(node)
    plain = text.replace(".", "", 1).isdigit()
    return _RankedText(text, _BASE if plain else _SUM if text.startswith("-") else _FACTOR)


def _write_symbol(node: Expr) -> _RankedText:
    """Write a symbol; one with a superscript in its name (`A^{*}`) or an upright word is bracketed under a power."""
    _, scripts = split_name(node.name)
    return _RankedText(name_latex(node.name), _FACTOR if "^" in scripts or is_upright_word(node) else _BASE)


_LEAVES: dict[str, Callable[[Expr], _RankedText]] = {
    "num": _write_number,
    "sym": _write_symbol,
    "const": lambda node: _RankedText("\\" + node.name if len(node.name) > 1 else node.name, _BASE),
    "unit": lambda node: _RankedText(rf"\unit{{{unit_content_latex(node)}}}", _FACTOR),
}
_FIXED = {
    "infinity": _RankedText(r"\infty", _BASE),
    "dots": _RankedText(r"\ldots", _BASE),
    "blank": _RankedText("", _BASE),
}


# Sums -----------------------------------------------------------------------------------------------------------


def _leading_term_latex(style: _FormulaStyle, node: Expr, *free: str) -> str:
    """Write the first term of a sum, without brackets if it has a sign of its own or its operator is in `free`.

    Args:
        free: names of operators, such as `add`.
    """
    signed = node.op in ("neg", "pm", *free) or (node.op == "num" and node.value is not None and node.value < 0)
    return _node_latex(style, node, _SUM if signed else _PRODUCT)


def _write_sum(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a sum or a difference; a negative term of a sum follows a minus sign, `a - b + c`."""
    out = _leading_term_latex(style, node.args[0])
    for arg in node.args[1:]:
        is_negative = node.op == "sub" or arg.op == "neg"
        sign, term = "-" if is_negative else "+", arg.args[0] if is_negative and node.op != "sub" else arg
        out += f" {sign} {_node_latex(style, term, _PRODUCT)}"
    return _RankedText(out, _SUM)


def _write_plus_minus(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write a term behind `\pm` or `\mp`, with the node's first argument before the sign if it has two."""
    sign = r"\mp" if node.name == "∓" else r"\pm"
    before = [_leading_term_latex(style, arg, "add", "sub") for arg in node.args[:-1]]
    return _RankedText(" ".join([*before, sign, _node_latex(style, node.args[-1], _PRODUCT)]), _SUM)


# Products -------------------------------------------------------------------------------------------------------

_VECTOR_SIGNS = (r"\vec", r"\hat", r"\nabla")
_TEN = "10"


def _write_product(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write factors side by side, with a sign between two that would otherwise be read as one thing.

    A sign between vectors would make a dot or cross product; there, each factor stands in brackets instead.
    """
    pieces = [*_factor_texts(style, node)]
    signs = [sign_between_factors(before, after, text) for (before, _), (after, text) in pairwise(pieces)]
    texts = [text for _, text in pieces]
    vectors = sum(any(sign in text for sign in _VECTOR_SIGNS) for text in texts)
    if vectors > 1 and any(sign != " " for sign in signs):
        texts = [text if text.startswith("(") and text.endswith(")") else f"({text})" for text in texts]
        signs = [" "] * len(signs)
    return _RankedText(texts[0] + "".join(sign + text for sign, text in zip(signs, texts[1:], strict=True)), _PRODUCT)


def _factor_texts(style: _FormulaStyle, node: Expr) -> Iterator[tuple[Expr, str]]:
    r"""Yield each factor of a product with its LaTeX; adjacent units are joined into one `\unit{...}`."""
    units: list[Expr] = []
    count = len(node.args)
    for index, arg in enumerate(node.args):
        unit = unit_content_latex(arg) if arg.op != "mul" else ""
        if unit and arg.op != "div":
            units.append(arg)
        is_last = index + 1 == count
        if units and (is_last or arg is not units[-1] or not _is_unit_factor(node.args[index + 1])):
            yield units[0], rf"\unit{{{DOT.join(map(unit_content_latex, units))}}}"
            units = []
            if unit and arg.op != "div":
                continue
        elif units:
            continue
        text = _node_latex(style, arg, _OPEN if is_last else _FACTOR)
        bare = text if not (unit and not is_last and unit_content_latex(node.args[index + 1])) else f"({text})"
        ten = arg.op == "pow" and arg.args[0].name == _TEN and index and node.args[index - 1].op == "num"
        yield arg, f"({bare})" if ten else bare


def _is_unit_factor(node: Expr) -> bool:
    r"""Return True for a unit or its power, which joins a `\unit{...}` before it."""
    return node.op in ("unit", "pow") and bool(unit_content_latex(node))


def _write_quotient(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a fraction, or a quotient of units as one unit."""
    unit = unit_content_latex(node)
    if unit:
        return _RankedText(rf"\unit{{{unit}}}", _FACTOR)
    above, below = (_node_latex(style, arg, _SETS) for arg in node.args)
    if _starts_with_d(node.args[1]):
        below = f"({below})"  # a derivative
    return _RankedText(rf"\frac{{{above}}}{{{below}}}", _FACTOR)


def _starts_with_d(node: Expr) -> bool:
    """Return True if a node begins with a differential: bare in a denominator it would be read as a derivative."""
    while node.op in ("mul", "pow", "dot", "cross"):
        node = node.args[0]
    return node.op == "differential"


def _write_power(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a power; the symbol e gets brackets, `(e)^{x}`, where `e^{x}` would be read as the exponential."""
    base, exponent = node.args
    unit = unit_content_latex(node)
    if unit:
        return _RankedText(rf"\unit{{{unit}}}", _FACTOR)
    above = _superscript_latex(style, exponent)
    if base.op in _FUNCTIONS and exponent.op == "num" and exponent.name.isdigit() and base.op not in ("exp", "log10"):
        return _RankedText(f"{OPS[base.op].latex[0]}^{{{above}}}{_bracketed_argument(style, base.args[0])}", _FACTOR)
    if base.op == "sym" and base.name == "e" and not (exponent.op == "num" and exponent.name.isdigit()):
        return _RankedText(f"(e)^{{{above}}}", _FACTOR)
    if base.op == "differential" and can_follow_d(base.args[0]) and "^" not in base.args[0].name:
        return _RankedText(f"{_write_node(style, base).latex}^{{{above}}}", _FACTOR)
    return _RankedText(f"{_node_latex(style, base, _BASE)}^{{{above}}}", _FACTOR)


def _superscript_latex(style: _FormulaStyle, node: Expr) -> str:
    """Write the content of a superscript; an upright word stands in brackets, or it would be part of the name."""
    return _node_latex(style, node, _SETS if not is_upright_word(node) else _BASE + 1)


def _product_writer(sign: str) -> _Writer:
    """Return a writer of products with this sign; a side that is a product with a sign in it stands in brackets."""

    def writer(style: _FormulaStyle, node: Expr) -> _RankedText:
        """Write the arguments with the sign between them."""
        sides = []
        for arg in node.args:
            text = _write_node(style, arg)
            bare = arg.op == "mul" and r"\cdot" not in text.latex and r"\times" not in text.latex
            sides.append(_bracket_below_rank(text, _PRODUCT if bare else _FACTOR))
        return _RankedText(f" {sign} ".join(sides), _PRODUCT)

    return writer


def _joined_writer(sign: str, rank_inside: int, rank: int, *, left: str = "", right: str = "") -> _Writer:
    r"""Return a writer of the arguments with a sign between them, `A \cup B`, and perhaps delimiters around them.

    Args:
        rank_inside: arguments that bind less tightly than this rank stand in brackets.
        rank: of the result.
    """
    return lambda style, node: _RankedText(
        f"{left}{sign.join(_node_latex(style, arg, rank_inside) for arg in node.args)}{right}", rank
    )


def _delimited_writer(left: str, right: str, rank: int = _FACTOR) -> _Writer:
    r"""Return a writer of the arguments with commas between two delimiters, as `\{a, b\}`."""
    return _joined_writer(", ", _LIST, rank, left=left, right=right)


# Functions and brackets -----------------------------------------------------------------------------------------

_FUNCTIONS = frozenset(
    name for name, op in OPS.items() if op.opcode is not None and op.arity == 1
    and name not in ("neg", "abs", "sqrt", "ipow", "floor", "factorial", "step")
)  # fmt: skip


def _bracketed_argument(style: _FormulaStyle, node: Expr) -> str:
    """Write an argument in round brackets."""
    return f"({_node_latex(style, node, _SETS)})"


def _write_function(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a known function with its argument in brackets, exp as a power of e where it is read as one."""
    argument = node.args[0]
    leading = argument.args[0] if argument.op == "pow" else argument
    if node.op == "exp" and not (leading.op == "num" and leading.name.isdigit()):  # `e^{2}` is a power of a symbol
        return _RankedText(f"e^{{{_superscript_latex(style, argument)}}}", _FACTOR)
    return _RankedText(OPS[node.op].latex[0] + _bracketed_argument(style, argument), _FACTOR)


_OF_PLACES = frozenset(("sym", "num", "neg", "add", "sub"))


def _write_call(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a call such as `f(x)`; a determinant of a matrix as the matrix between bars."""
    if node.name == "det" and len(node.args) == 1 and node.args[0].op == "matrix":
        return _RankedText(_environment_latex(style, node.args[0], "vmatrix"), _BASE)
    head = function_head_latex(node.name)
    left, right = "[]" if _is_term_of_sequence(node) else "()"
    return _RankedText(f"{head}{left}{_comma_latex(style, node.args)}{right}", _FACTOR)


def _is_term_of_sequence(node: Expr) -> bool:
    """Return True for a call of a discrete signal that only square brackets are read as: `x[n - 1]`, `x[-1]`."""
    place = node.args[0]
    is_place = len(node.args) == 1 and ops_of(place) <= _OF_PLACES and symbols(place) <= PLACES
    is_negative = place.op == "neg" or (place.op == "num" and (place.value or 0) < 0)
    return is_place and (is_negative or bool(symbols(place))) and node.name.partition("_")[0] in SIGNALS


def _write_interval(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write an interval between the two delimiters of its name; degrees in its bounds as `^{\circ}`."""
    left, right = node.name[:1] or "[", node.name[1:] or "]"
    bounds = _comma_latex(style, node.args).replace(r" \unit{deg}", r"^{\circ}")  # `parse` reads plain numbers here
    return _RankedText(f"{left}{bounds}{right}", _FACTOR)


_COMMUTATORS = {"": r"\comm", "anti": r"\acomm", "poisson": r"\pb"}


def _write_commutator(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write a commutator in square brackets, or as `\comm{a}{b}` where brackets would be read as an interval."""
    bounds = all(arg.op in ("num", "const", "infinity", "dots", "div") for arg in node.args)
    if node.name or bounds:
        sides = "".join(f"{{{_node_latex(style, arg, _SETS)}}}" for arg in node.args)
        return _RankedText(f"{_COMMUTATORS[node.name]}{sides}", _FACTOR)
    return _RankedText(f"[{_comma_latex(style, node.args)}]", _FACTOR)


def _write_angle_bracket(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write a mean `\langle x \rangle`, a product `\langle a | b \rangle`, or a ket; a bra stands in brackets."""
    kind, mark, sub = node.name.partition("_")
    parts = []
    for arg in node.args:
        text = _node_latex(style, arg, _SETS)
        parts.append(f"({text})" if "|" in text and arg.op != "sym" else text)
    inner = (" || " if kind == "antisymmetrized" else " | ").join(parts)
    scripts = f"_{{{sub}}}" if mark else ""
    if kind == "ket":
        return _RankedText(rf"\lvert {inner} \rangle{scripts}", _BASE)
    if kind == "bra":
        return _RankedText(rf"(\langle {inner} |{scripts})", _BASE)
    return _RankedText(rf"\langle {inner} \rangle{scripts}", _BASE)


def _environment_latex(style: _FormulaStyle, node: Expr, name: str) -> str:
    """Write the rows of a matrix or of cases in a LaTeX environment of this name."""
    rows = r" \\ ".join(_node_latex(style, row, _LIST) for row in node.args)
    return rf"\begin{{{name}}} {rows} \end{{{name}}}"


def _environment_writer(name: str) -> _Writer:
    """Return a writer of an environment such as `pmatrix`."""
    return lambda style, node: _RankedText(_environment_latex(style, node, name), _BASE)


def _write_row(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write the cells of one row of a matrix, with `&` between."""
    return _RankedText(" & ".join(_bracketed_if_upright(_node_latex(style, arg, _LIST)) for arg in node.args), _LIST)


def _write_relation(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a relation that stands inside an expression, such as `x < 2` in `P(x < 2)`."""
    words = [_node_latex(style, node.args[0], _SETS)]
    for relation, member in zip(node.name.split(), node.args[1:], strict=True):
        words += [RELATIONS[relation], _node_latex(style, member, _SETS)]
    return _RankedText(" ".join(words), _LIST)


# Calculus -------------------------------------------------------------------------------------------------------


def _differential_latex(
    style: _FormulaStyle, node: Expr, order: str = "", *, d: str = "d", labelled: bool = False
) -> str:
    r"""Write a d with its operand: a plain symbol behind it (`dx`), anything else in brackets (`d(x + y)`).

    Args:
        order: superscript of the d, as in `d^{2}x`; empty for none.
        d: the sign: d, an upright d or `\partial`.
        labelled: a superscript follows, so that a name that has one needs brackets too.
    """
    raised = f"^{{{order}}}" if order else ""
    if not can_follow_d(node) or (labelled and "^" in node.name):
        return f"{d}{raised}({_node_latex(style, node, _SETS)})"
    blank = " " if d[-1:].isalpha() and len(d) > 1 and not raised else ""
    return f"{d}{raised}{blank}{name_latex(node.name)}"


def _write_differential(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a differential with the d of the formula's style, or an upright d if it has an order (`d^{2}x`)."""
    d = UPRIGHT_D if node.name else style.d  # an italic `d^2 x` may be a product
    return _RankedText(_differential_latex(style, node.args[0], node.name, d=d), _FACTOR)


def _write_derivative(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write `\frac{dy}{dx}` or `\frac{d}{dx}(...)`; with primes, `y''`, where the variable is not named."""
    body, variable = node.args
    if variable.name == "?":
        bare = can_follow_d(body) and not any(mark in body.name for mark in "'^ ") and node.name != "1"
        primes = "'" * int(node.name) if node.name.isdigit() else f"^{{({node.name})}}"
        return _RankedText((name_latex(body.name) if bare else _bracketed_argument(style, body)) + primes, _FACTOR)
    order = "" if node.name == "1" else node.name
    plain = can_follow_d(variable) and not (order and "^" in variable.name)
    d = "d" if plain else UPRIGHT_D
    below = _differential_latex(style, variable, d=d, labelled=bool(order)) + (f"^{{{order}}}" if order else "")
    sign = f"{d}^{{{order}}}" if order else d
    return _derivative_fraction(style, body, order, d=d, sign=sign, below=below)


def _derivative_fraction(style: _FormulaStyle, body: Expr, order: str, *, d: str, sign: str, below: str) -> _RankedText:
    r"""Write a derivative as one fraction if its operand is a symbol, else as `\frac{d}{dx}(...)`.

    The operand is written once: twice, the work would double with every derivative in a derivative.

    Args:
        body: the operand.
        order, d: as in `_differential_latex`, for the numerator with the operand in it.
        sign: numerator without the operand.
        below: denominator.
    """
    if body.op == "sym":
        above = _differential_latex(style, body, order, d=d)
        return _RankedText(rf"\frac{{{above}}}{{{below}}}", _FACTOR)
    return _RankedText(rf"\frac{{{sign}}}{{{below}}}{_bracketed_argument(style, body)}", _FACTOR)


def _write_partial(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write `\frac{\partial f}{\partial x}`; of several variables each stands as often as its order says."""
    body, *variables = node.args
    if variables[0].name.startswith("^"):
        return _RankedText(rf"\partial^{{{variables[0].name[1:]}}}{_bracketed_argument(style, body)}", _FACTOR)
    sign, below = _partial_signs(style, variables, node.name)
    order = "" if node.name == "1" else node.name
    return _derivative_fraction(style, body, order, d=r"\partial", sign=sign, below=below)


def _partial_signs(style: _FormulaStyle, variables: list[Expr], order: str) -> tuple[str, str]:
    r"""Return the `\partial` above a fraction with its order, and the variables below with theirs.

    Args:
        variables: one repeated as often as its order says, or a single one.
        order: total order, `1` for a first derivative.
    """
    below = []
    for variable in dict.fromkeys(variables):
        power = order if len(variables) == 1 else str(variables.count(variable))
        text = _differential_latex(style, variable, d=r"\partial", labelled=power != "1")
        below.append(text if power == "1" else f"{text}^{{{power}}}")
    return r"\partial" if order == "1" else rf"\partial^{{{order}}}", " ".join(below)


_NABLAS = {"grad": "", "div": r" \cdot", "curl": r" \times", "laplace": "^{2}"}


def _write_nabla(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write a gradient, divergence, curl or Laplacian with its operand, bracketed unless a symbol or call."""
    kind = next((kind for kind in _NABLAS if node.name.startswith(kind)), "")
    sign = (
        node.name
        if node.name.startswith(OTHER_NABLAS)
        else rf"\nabla{scripts_latex(node.name[len(kind) :])}{_NABLAS.get(kind, '')}"
    )
    body = node.args[0]
    if body.op == "apply":
        return _RankedText(f"{sign} {_node_latex(style, body, _SETS)}", _OPEN)
    text = name_latex(body.name) if body.op == "sym" and not is_upright_word(body) else _bracketed_argument(style, body)
    return _RankedText(f"{sign} {text}", _OPEN)


_INTEGRAL_SIGNS = {"integral": (r"\int", r"\iint", r"\iiint"), "contour": (r"\oint", r"\oiint", r"\oint")}


def _write_integral(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write the signs of nested integrals side by side, the integrand, and the measures from the inside out."""
    signs, measures = [], []
    body = node
    while True:
        names = body.name.split()  # `2 d^3 dot`: signs, order of the measure, product with it
        fold = next((int(name) for name in names if name.isdigit()), 1)
        signs.append(_INTEGRAL_SIGNS[body.op][fold - 1] + _limits_latex(style, *body.args[2:]))
        order = next((name[2:] for name in names if name.startswith("d^")), "")
        variable = body.args[1]
        measures.append(_differential_latex(style, variable, order, d="d" if can_follow_d(variable) else style.d))
        body = body.args[0]
        mark = r"\cdot " if "dot" in names else r"\times " if "cross" in names else ""
        if mark or body.op not in _INTEGRAL_SIGNS:
            break
    integrand = _write_node(style, body)
    text = _bracket_below_rank(integrand, _PRODUCT if body.op == "mul" else _OPEN)
    measured = any(part.op in ("differential", "integral", "contour") for part in (body, *body.args))
    if measured or text.endswith(PREFIXES) or measures[-1].startswith(UPRIGHT_D):
        text = f"({integrand.latex})"  # `\Delta d` would be one symbol, `2 \mathrm{d}` two days
    return _RankedText(f"{' '.join(signs)} {text} {mark}{' '.join(reversed(measures))}", _OPEN)


def _limit_latex(style: _FormulaStyle, node: Expr, *, raised: bool = False) -> str:
    """Write one limit of an integral or a sum; a region such as `r<R`, which is no expression, as it is spelled.

    An upright word alone as lower limit is the name of a region. With other things around it, or as upper limit, it
    would change how the limit is read, so there brackets stand.

    Args:
        raised: the limit is the upper one.
    """
    if node.op == "sym" and not (raised and is_upright_word(node)):
        return region_latex(node.name)
    return _bracketed_if_upright(_node_latex(style, node, _SETS))


def _bracketed_if_upright(text: str) -> str:
    """Return a text, in brackets if it holds an upright word or unit, which would make one name of the whole."""
    return f"({text})" if any(sign in text for sign in (r"\mathrm{", r"\unit{")) else text


def _limits_latex(style: _FormulaStyle, *bounds: Expr) -> str:
    """Write the lower limit as a subscript and the upper as a superscript, as far as they are given."""
    texts = [_limit_latex(style, arg) for arg in bounds[:1]] + [
        _limit_latex(style, arg, raised=True) for arg in bounds[1:]
    ]
    return "".join(f"{mark}{{{text}}}" for mark, text in zip("_^", texts, strict=False))


def _series_writer(sign: str) -> _Writer:
    """Return a writer of sums or products over an index, with this sign and their limits."""

    def writer(style: _FormulaStyle, node: Expr) -> _RankedText:
        """Write the sign with its limits and its term."""
        body, *limits = node.args
        out = sign + node.name
        if limits:
            index = _limit_latex(style, limits[0])
            loose = not is_index_variable(limits[0]) or (len(limits) > 1 and limits[1].op == "blank")
            upper = limits[2:]
            lower = f"{index}={_limit_latex(style, limits[1])}" if len(limits) > 1 and not loose else index
            out += f"_{{{lower}}}" + "".join(f"^{{{_limit_latex(style, arg)}}}" for arg in upper)
        return _RankedText(f"{out} {_node_latex(style, body, _PRODUCT)}", _OPEN)

    return writer


def _write_limit(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write a limit with its variable, target and expression: `\lim_{x \to a} f(x)`."""
    body, variable, target = node.args
    sub = rf"{_limit_latex(style, variable)} \to {_limit_latex(style, target)}"
    return _RankedText(rf"\lim_{{{sub}}} {_node_latex(style, body, _PRODUCT)}", _OPEN)


def _write_evaluation(style: _FormulaStyle, node: Expr) -> _RankedText:
    """Write `[F]_{a}^{b}` between limits, `f|_{x=0}` at a point, `f|_{V}` at constant V, `f'(0)` for primes."""
    body, *where = node.args
    if node.name == "limits":
        return _RankedText(f"[{_node_latex(style, body, _SETS)}]{_limits_latex(style, *where)}", _FACTOR)
    if where[0].name == "?":
        return _RankedText(f"{_write_node(style, body).latex}({_node_latex(style, where[1], _LIST)})", _FACTOR)
    text = _node_latex(style, body, _BASE)
    sub = "=".join(_limit_latex(style, arg) for arg in where)
    return _RankedText(f"{text}|_{{{sub}}}", _FACTOR)


# Opaque constructs ----------------------------------------------------------------------------------------------

_ACCENTS = frozenset((r"\bar", r"\tilde", r"\hat", r"\underline"))
_OPAQUE: dict[str, _Writer] = {
    **{sign: _joined_writer(f" {sign} ", _SUM, _SETS) for sign in (r"\setminus", r"\oplus")},
    **dict.fromkeys((r"\bigcup", r"\bigcap", r"\bigoplus"), _series_writer("")),
    **dict.fromkeys(("braces", "normal"), _delimited_writer(r"\{", r"\}")),
    "|": _delimited_writer(r"\lvert ", r" \rvert"), "state": _joined_writer(" ", _FACTOR, _PRODUCT),
    r"\delta": _delimited_writer(r"\delta(", ")"), "mod": _delimited_writer(r"\pmod{", "}"),
}  # fmt: skip


def _write_opaque(style: _FormulaStyle, node: Expr) -> _RankedText:
    r"""Write a construct that the engine does not evaluate, such as a bare nabla or `\bar{a + b}`, by its name."""
    name = node.name
    if name.startswith("nabla"):
        squared = name.startswith("nabla2")
        if name.startswith(tuple(f"nabla{sign}" for sign in OTHER_NABLAS)):
            return _RankedText(name.removeprefix("nabla"), _OPEN - 1)
        label = scripts_latex(name[len("nabla") + squared :])
        return _RankedText(rf"\nabla{label}{'^{2}' if squared else ''}", _OPEN - 1)
    if name.startswith("derivative"):
        order = name.removeprefix("derivative")
        below = _differential_latex(style, node.args[0]) + (f"^{{{order}}}" if order else "")
        return _RankedText(rf"\frac{{d{f'^{{{order}}}' if order else ''}}}{{{below}}}", _OPEN - 1)
    if name.startswith("partial"):
        if node.args[0].name.startswith("^"):
            return _RankedText(rf"\partial^{{{node.args[0].name[1:]}}}", _OPEN - 1)
        sign, below = _partial_signs(style, list(node.args), name.removeprefix("partial") or "1")
        return _RankedText(rf"\frac{{{sign}}}{{{below}}}", _OPEN - 1)
    if (writer := _OPAQUE.get(name)) is not None:
        return writer(style, node)
    if name == "sequence":
        body, lower, upper = (_comma_latex(style, (arg,)) for arg in node.args)
        return _RankedText(rf"\{{{body}\}}_{{{lower}}}^{{{upper}}}", _FACTOR)
    if name in _ACCENTS:
        text = _node_latex(style, node.args[0], _SETS if node.args[0].op != "mul" else _FACTOR)
        return _RankedText(f"{name}{{{text}}}", _FACTOR)  # over letters alone it would be one symbol
    if name.startswith("_{") and node.args[0].op != "bracket":
        return _RankedText(_comma_latex(style, node.args) + name, _FACTOR)
    if name[:1] in ("^", "_"):
        return _RankedText(f"{{}}{name} ({_comma_latex(style, node.args)})", _FACTOR)
    return _RankedText(f"({_comma_latex(style, node.args)})^{{{name}}}", _FACTOR)


_WRITERS: dict[str, _Writer] = {
    "add": _write_sum, "sub": _write_sum, "neg": _template_writer("-{0}", _PRODUCT, _SUM),
    "pm": _write_plus_minus, "mul": _write_product, "div": _write_quotient, "pow": _write_power,
    "ipow": _template_writer("{0}^{{{name}}}", _BASE),
    "dot": _product_writer(r"\cdot"), "cross": _product_writer(r"\times"), "tensor": _product_writer(r"\otimes"),
    "wedge": _product_writer(r"\wedge"), "modulo": _product_writer(r"\bmod"), "parallel": _product_writer(r"\parallel"),
    "phasor": _product_writer(r"\angle"), "union": _joined_writer(r" \cup ", _SUM, _SETS),
    "intersection": _joined_writer(r" \cap ", _SUM, _SETS),
    **dict.fromkeys(_FUNCTIONS, _write_function), "apply": _write_call,
    "root": _template_writer(r"\sqrt[{1}]{{{0}}}", _SETS), "sqrt": _template_writer(r"\sqrt{{{0}}}", _SETS),
    "factorial": _template_writer("{0}!", _BASE), "binomial": _template_writer(r"\binom{{{0}}}{{{1}}}", _SETS),
    "abs": _delimited_writer(r"\lvert ", r" \rvert", _BASE), "list": _delimited_writer("", "", _LIST),
    "floor": _delimited_writer(r"\lfloor ", r" \rfloor", _BASE), "set": _delimited_writer(r"\{", r"\}"),
    "ceiling": _delimited_writer(r"\lceil ", r" \rceil", _BASE), "tuple": _delimited_writer("(", ")"),
    "interval": _write_interval, "commutator": _write_commutator, "bracket": _write_angle_bracket,
    "matrix": _environment_writer("pmatrix"), "cases": _environment_writer("cases"), "row": _write_row,
    "relation": _write_relation, "ratio": _joined_writer(" : ", _PRODUCT, _BASE, left="(", right=")"),
    "derivative": _write_derivative, "partial": _write_partial,
    "differential": _write_differential, "nabla": _write_nabla, "integral": _write_integral, "contour": _write_integral,
    "sum": _series_writer(r"\sum"), "product": _series_writer(r"\prod"), "limit": _write_limit, "at": _write_evaluation,
    "opaque": _write_opaque,
}  # fmt: skip
