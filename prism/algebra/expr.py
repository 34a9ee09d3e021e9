r"""Formulas as values, and the one op-table.

An `Expr` is a tree of frozen nodes; sums and products are n-ary, so depth is bounded by the nesting that the
author wrote and never by the number of terms. A `Formula` is one or more expressions joined by relations.

`OPS` is the only place where an operator is defined. Adding one means: a row here, a branch in
`kernels/source.py`, a row in `tests/reference.py`, and a case in `tests/cases/parse/`; a test fails if any of
the four is missing. A row whose opcode is None is a construct that the engine does not evaluate: it becomes
one opaque atom, keyed by `canonical` (semantics Z.9).

Refused: one class per operator (dispatch by class spreads an operator over the house) and a third-party
expression type (its automatic rewriting changes what the student wrote before anybody has looked at it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Op:
    """One operator.

    Attributes:
        name: key in `OPS`.
        opcode: instruction of the tape; None if the engine does not evaluate it.
        arity: number of operands; -1 is two or more.
        latex: spellings that the grammar reads, without arguments; none of an instruction of the tape only.
        dimension: `same` (operands and result share it), `product`, `quotient`, `power`, `pure` (operand and
            result are numbers), `free` (nothing is known).
        domain: where it is defined on the reals, in words.
    """

    name: str
    opcode: int | None
    arity: int
    latex: tuple[str, ...]
    dimension: str
    domain: str


_ROWS = (
    # leaves ------------------------------------------------------------------------------------------------
    Op("num", 0, 0, ("2", "0.5", r"6.02\times 10^{23}"), "pure", "all"),
    Op("sym", 1, 0, ("x", r"\alpha", "v_0", "m'", r"\Delta E"), "free", "all"),
    Op("const", 0, 0, (r"\pi", r"\mathrm{e}"), "pure", "all"),
    Op("unit", None, 0, (r"\unit{m}", r"\mathrm{m}"), "free", "all"),
    # arithmetic --------------------------------------------------------------------------------------------
    Op("add", 2, -1, ("a + b",), "same", "all"),
    Op("sub", 3, 2, ("a - b",), "same", "all"),
    Op("mul", 4, -1, ("a b", r"a \cdot b", r"a \times b"), "product", "all"),
    Op("div", 5, 2, (r"\frac{a}{b}", "a / b"), "quotient", "b != 0"),
    Op("neg", 6, 1, ("-a",), "same", "all"),
    Op("pow", 7, 2, ("a^b",), "power", "a > 0, or b an integer and not (a = 0 and b < 0)"),
    Op("root", 8, 2, (r"\sqrt[n]{a}",), "power", "a >= 0, or n odd"),
    Op("sqrt", 9, 1, (r"\sqrt{a}",), "power", "a >= 0"),
    Op("abs", 10, 1, ("|a|",), "same", "all"),
    # exponentials ------------------------------------------------------------------------------------------
    Op("exp", 11, 1, (r"\exp", "e^{a}"), "pure", "all"),
    Op("ln", 12, 1, (r"\ln", r"\log"), "pure", "a > 0"),
    Op("log10", 13, 1, (r"\log_{10}", r"\lg"), "pure", "a > 0"),
    # trigonometry ------------------------------------------------------------------------------------------
    Op("sin", 14, 1, (r"\sin",), "pure", "all"),
    Op("cos", 15, 1, (r"\cos",), "pure", "all"),
    Op("tan", 16, 1, (r"\tan", r"\tg"), "pure", "cos a != 0"),
    Op("asin", 17, 1, (r"\arcsin", r"\sin^{-1}"), "pure", "|a| <= 1"),
    Op("acos", 18, 1, (r"\arccos", r"\cos^{-1}"), "pure", "|a| <= 1"),
    Op("atan", 19, 1, (r"\arctan", r"\tan^{-1}"), "pure", "all"),
    Op("sinh", 20, 1, (r"\sinh",), "pure", "all"),
    Op("cosh", 21, 1, (r"\cosh",), "pure", "all"),
    Op("tanh", 22, 1, (r"\tanh",), "pure", "all"),
    Op("asinh", 23, 1, (r"\operatorname{arsinh}", r"\sinh^{-1}"), "pure", "all"),
    Op("acosh", 24, 1, (r"\operatorname{arcosh}", r"\cosh^{-1}"), "pure", "a >= 1"),
    Op("atanh", 25, 1, (r"\operatorname{artanh}", r"\tanh^{-1}"), "pure", "|a| < 1"),
    # an instruction of the tape only: the exponent is an immediate integer, so x^2 is defined for negative x
    Op("ipow", 26, 1, ("a^2", "a^{-1}"), "power", "a != 0 if the exponent is negative"),
    # whole numbers -------------------------------------------------------------------------------------------
    Op("floor", 27, 1, (r"\lfloor x \rfloor",), "same", "all"),
    Op("factorial", 28, 1, ("n!",), "pure", "a > -1/2"),
    # instructions of the tape only: which of two cases holds, the angle of a complex number, an estimate a of known
    # error b (the value of a quadrature or of an infinite sum)
    Op("step", 29, 1, (), "pure", "all"),
    Op("atan2", 30, 2, (), "pure", "not (a = 0 and b = 0)"),
    Op("widen", 31, 2, (), "same", "all"),
    # constructs without an instruction of their own: lowered to others, or kept as atoms -----------------------
    Op("differential", None, 1, ("dx",), "same", ""),
    Op("derivative", None, 2, (r"\frac{dy}{dx}", r"\dot{x}", r"\ddot{x}", "f'(x)"), "free", ""),
    Op("partial", None, -1, (r"\frac{\partial y}{\partial x}",), "free", ""),
    Op("integral", None, -1, (r"\int",), "free", ""),
    Op("contour", None, -1, (r"\oint",), "free", ""),
    Op("sum", None, -1, (r"\sum",), "free", ""),
    Op("product", None, -1, (r"\prod",), "free", ""),
    Op("limit", None, -1, (r"\lim",), "free", ""),
    Op("apply", None, -1, ("f(a)", "v(0)"), "free", ""),
    Op("cross", None, 2, (r"\vec a \times \vec b",), "product", ""),
    Op("dot", None, 2, (r"\vec a \cdot \vec b",), "product", ""),
    Op("nabla", None, 1, (r"\nabla f", r"\nabla\cdot\vec E", r"\nabla\times\vec E", r"\nabla^2 f"), "free", ""),
    Op("bracket", None, -1, (r"\langle x \rangle", r"\langle a | b \rangle"), "free", ""),
    Op("pm", None, -1, (r"a \pm b", r"\mp a"), "same", ""),
    Op("at", None, -1, (r"\left. f \right|_{x=0}",), "same", ""),
    Op("infinity", None, 0, (r"\infty",), "free", ""),
    Op("list", None, -1, (r"n = 1, 2, \ldots",), "same", ""),
    Op("tuple", None, -1, ("(x, y)",), "free", ""),
    Op("set", None, -1, (r"\{1, 2\}",), "free", ""),
    Op("interval", None, 2, ("[0, L)", r"(0, \infty]"), "same", ""),
    Op("commutator", None, 2, ("[A, B]",), "product", ""),
    Op(
        "matrix",
        None,
        -1,
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", r"\begin{vmatrix} a & b \end{vmatrix}"),
        "free",
        "",
    ),
    Op("cases", None, -1, (r"\begin{cases} a & x > 0 \\ b & x < 0 \end{cases}",), "same", ""),
    Op("row", None, -1, ("a & b",), "free", ""),
    Op("binomial", None, 2, (r"\binom{n}{k}", r"{n \choose k}"), "pure", ""),
    Op("relation", None, -1, ("(x > 0)",), "free", ""),
    Op("union", None, -1, (r"A \cup B",), "free", ""),
    Op("intersection", None, -1, (r"A \cap B",), "free", ""),
    Op("parallel", None, -1, (r"R_1 \parallel R_2", r"R_1 \| R_2"), "same", ""),
    Op("tensor", None, -1, (r"A \otimes B",), "product", ""),
    Op("wedge", None, -1, (r"A \wedge B",), "product", ""),
    Op("modulo", None, 2, (r"a \bmod b",), "same", ""),
    Op("phasor", None, 2, (r"10 \angle 30^\circ",), "free", ""),
    Op("ratio", None, -1, ("a : b : c",), "free", ""),
    Op("ceiling", None, 1, (r"\lceil x \rceil",), "same", ""),
    Op("dots", None, 0, (r"\ldots",), "free", ""),
    Op("blank", None, 0, (r"\ge 2",), "free", ""),
    Op("opaque", None, -1, (r"\overline{a + b}", r"(a + b)^\dagger"), "free", ""),
)

OPS: dict[str, Op] = {row.name: row for row in _ROWS}

RELATIONS = {
    "=": r"=", "approx": r"\approx", "equiv": r"\equiv", "sim": r"\sim", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge",
    "<<": r"\ll", ">>": r"\gg", "!=": r"\neq", "propto": r"\propto", "to": r"\to", "<~": r"\lesssim",
    ">~": r"\gtrsim", "in": r"\in", "notin": r"\notin", "subset": r"\subset", "perp": r"\perp",
    "divides": r"\mid", "given": "|",
}  # fmt: skip
_FORMULAS_KEPT = 8192  # whose traits are remembered in a process
EQUALITIES = frozenset(("=", "approx", "equiv", "sim"))
ORDERINGS = frozenset(("<", "<=", ">", ">="))
JOINTS = {"system": "and", "alternatives": "or", "implication": "=>", "conditional": "where", "restricted": "if"}
"""Kinds of formula that hold several, and the word between their parts."""


@dataclass(frozen=True, slots=True)
class Expr:
    """One node of a formula.

    Attributes:
        op: key of `OPS`.
        args: operands. Bound constructs keep a fixed order: integral (integrand, variable[, lower, upper]), sum
            and product (term, index[, lower, upper]), limit (body, variable, target), derivative (body, variable).
        name: symbol or unit in its one spelling; digits of a number as written (`2.00e-3`); order of a
            derivative; kind of an opaque construct.
        value: exact value of a number, else None.
    """

    op: str
    args: tuple[Expr, ...] = ()
    name: str = ""
    value: Fraction | None = None
    _hash: int = field(init=False, repr=False, compare=False, default=0)
    _names: frozenset[str] | None = field(init=False, repr=False, compare=False, default=None)
    _ops: frozenset[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        # computed once, from the hashes of the operands: every cache asks for it, and a tree is walked otherwise
        object.__setattr__(self, "_hash", hash((self.op, self.name, self.args)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Expr):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.op == other.op
            and self.name == other.name
            and self.args == other.args
            and self.value == other.value
        )

    def __reduce__(self) -> tuple[type[Expr], tuple[str, tuple[Expr, ...], str, Fraction | None]]:
        return Expr, (self.op, self.args, self.name, self.value)  # the hash of a string differs between processes

    def __str__(self) -> str:
        return spell(self)


@dataclass(frozen=True, slots=True)
class Formula:
    r"""Expressions joined by relations, or several such formulas written as one.

    Attributes:
        kind: `equation` (two members, an equality), `inequality` (two members, an ordering), `chain` (three
            members or more), `expression` (one member), `statement` (any other relation). Of several formulas:
            `system` (all of them: `a = b, c = d`), `alternatives` (`x = 1 \lor x = 2`), `implication` (`a = b
            \Rightarrow c = d`), `conditional` (what the others say holds beside the first: `p = \gamma m v
            \text{ where } \gamma = ...`), `restricted` (the first holds where the others do: `E = 0 \text{
            for } r < R`).
        members: the expressions, left to right; none of several formulas.
        relations: keys of `RELATIONS`, one fewer than members.
        latex: the text it was read from.
        parts: the formulas of one of the last five kinds, in order; else empty.
        depends: symbols that the text writes as functions, with their variable: `\rho(r)` is \rho, and depends on r.
    """

    kind: str
    members: tuple[Expr, ...]
    relations: tuple[str, ...]
    latex: str = ""
    parts: tuple[Formula, ...] = ()
    depends: frozenset[tuple[str, str]] = frozenset()
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        own = self.kind, self.members, self.relations, self.latex, self.parts, self.depends
        object.__setattr__(self, "_hash", hash(own))  # once, as in `Expr`

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Formula):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.members == other.members
            and self.kind == other.kind
            and self.relations == other.relations
            and self.latex == other.latex
            and self.parts == other.parts
            and self.depends == other.depends
        )

    def __reduce__(self) -> tuple[type[Formula], tuple[object, ...]]:
        return Formula, (self.kind, self.members, self.relations, self.latex, self.parts, self.depends)

    def __str__(self) -> str:
        if self.parts:
            joint = f" {JOINTS[self.kind]} "
            return joint.join(f"({part})" if part.parts else str(part) for part in self.parts)
        words = [spell(self.members[0])]
        for relation, member in zip(self.relations, self.members[1:], strict=True):
            words += [relation, spell(member)]
        return " ".join(words)


def unwritten(f: Formula) -> Formula:
    """A formula without the text it was read from: `F = ma` and `F=m a` are one object, to be compared once."""
    return _one_of(_without_text(f))


@lru_cache(maxsize=_FORMULAS_KEPT)
def _without_text(f: Formula) -> Formula:
    return Formula(f.kind, f.members, f.relations, "", tuple(map(_without_text, f.parts)), f.depends)


@lru_cache(maxsize=_FORMULAS_KEPT)
def _one_of(f: Formula) -> Formula:
    return f


def formula(
    members: tuple[Expr, ...],
    relations: tuple[str, ...],
    latex: str = "",
    depends: frozenset[tuple[str, str]] = frozenset(),
) -> Formula:
    """Formula of these members, with the kind that its relations give it.

    >>> formula((symbol("a"), number(1)), ("<",)).kind
    'inequality'
    """
    if len(members) != len(relations) + 1:
        raise ValueError(f"{len(members)} members need {len(members) - 1} relations, got {len(relations)}")
    if not relations:
        kind = "expression"
    elif len(relations) > 1:
        kind = "chain"
    elif relations[0] in EQUALITIES:
        kind = "equation"
    elif relations[0] in ORDERINGS:
        kind = "inequality"
    else:
        kind = "statement"
    return Formula(kind, members, relations, latex, depends=depends)


def number(value: int | Fraction, *, written: str = "") -> Expr:
    """A number; `written` keeps the digits that the author wrote."""
    exact = Fraction(value)
    return Expr("num", name=written or str(exact), value=exact)


@lru_cache(maxsize=_FORMULAS_KEPT)
def symbol(name: str) -> Expr:
    """A symbol in its one spelling."""
    return Expr("sym", name=name)


def is_infinite(node: Expr) -> bool:
    """Whether this is infinity, of either sign."""
    return node.op == "infinity" or (node.op == "neg" and node.args[0].op == "infinity")


def plain_parts(written: Formula) -> Iterator[Formula]:
    """The formulas without parts that a formula holds, itself if it has none, left to right."""
    if not written.parts:
        yield written
    for part in written.parts:
        yield from plain_parts(part)


def walk(root: Expr) -> Iterator[Expr]:
    """Every node of the tree, parents before children, left to right. Iterative: depth is the author's."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.args))


def symbols(*roots: Expr) -> frozenset[str]:
    """Names of all symbols below these nodes, bound variables included."""
    return _names_of(roots[0]) if len(roots) == 1 else _NOTHING.union(*map(_names_of, roots))


def ops_of(*roots: Expr) -> frozenset[str]:
    """What these trees are made of: keys of `OPS`."""
    return _ops_of(roots[0]) if len(roots) == 1 else _NOTHING.union(*map(_ops_of, roots))


_NOTHING: frozenset[str] = frozenset()


def _names_of(node: Expr) -> frozenset[str]:
    """Found once a node and kept with it: no question is asked more often. Depth is bounded by the parser's limit."""
    names = node._names
    if names is None:
        names = _shared(frozenset((node.name,)) if node.op == "sym" else _NOTHING.union(*map(_names_of, node.args)))
        object.__setattr__(node, "_names", names)
    return names


@lru_cache(maxsize=_FORMULAS_KEPT)
def _shared(names: frozenset[str]) -> frozenset[str]:
    """One object for equal sets: a set takes more room than the node that it belongs to."""
    return names


def _ops_of(node: Expr) -> frozenset[str]:
    ops = node._ops
    if ops is None:
        ops = _shared(frozenset((node.op,)).union(*map(_ops_of, node.args)))
        object.__setattr__(node, "_ops", ops)
    return ops


def symbols_of(written: Formula) -> frozenset[str]:
    """Names of all symbols of a formula and its parts."""
    if not written.parts:
        return traits_of(written).names
    return symbols(*(member for part in plain_parts(written) for member in part.members))


@dataclass(frozen=True, slots=True)
class Traits:
    """What occurs in a formula: keys of `OPS`, and names of symbols."""

    ops: frozenset[str]
    names: frozenset[str]


@lru_cache(maxsize=_FORMULAS_KEPT)
def traits_of(f: Formula) -> Traits:
    """What occurs in a formula, looked up once: most passes ask for constructs that most formulas have not."""
    return Traits(ops_of(*f.members), symbols(*f.members))


def substitute(root: Expr, replacement: dict[Expr, Expr]) -> Expr:
    """Replace leaves, in one pass: what is put in is not looked into again.

    >>> str(substitute(Expr("add", (symbol("x"), number(1))), {symbol("x"): symbol("y")}))
    'y + 1'
    """
    if root in replacement:
        return replacement[root]
    if not root.args:
        return root
    args = tuple(substitute(arg, replacement) for arg in root.args)
    return root if args == root.args else Expr(root.op, args, root.name, root.value)


def substituted(f: Formula, replacement: dict[Expr, Expr]) -> Formula:
    """As `substitute`, in every member of a formula and of its parts."""
    if f.parts:
        return replace(f, parts=tuple(substituted(part, replacement) for part in f.parts))
    members = tuple(substitute(member, replacement) for member in f.members)
    return f if members == f.members else replace(f, members=members)


_SUBSCRIPT = re.compile(r"(?<=_)(?:\{([^{}]*)\}|(\\[A-Za-z]+|[^\\{}^']))")
_PARTS_OF_SUBSCRIPT = re.compile(r"\\[A-Za-z]+|[A-Za-z]+|\d+|.")
_INDICES = frozenset("ijklmnpqrst")
_WORDS_OF_INDICES = frozenset(
    ("min", "in", "lim", "kin", "lin", "mil", "nil", "tr", "st", "int", "rms", "net", "sp", "kr")
)


def at_index(name: str, index: str, value: str) -> str:
    """A symbol with another value for an index in its subscript; the symbol itself if it has not that index.

    >>> [at_index(name, "i", "2") for name in ("m_i", "r_{ij}", "x_{i+1}", "v_{min}")]
    ['m_2', 'r_{2j}', 'x_3', 'v_{min}']
    """
    if "_" not in name:
        return name

    def put_in(found: re.Match[str]) -> str:
        parts = _PARTS_OF_SUBSCRIPT.findall(found[1] or found[2])
        new = [value if part == index else _within(part, index, value) for part in parts]
        if new == parts:
            return found[0]
        text = "".join(new)
        if value.isdigit() and len(parts) == 3 and parts[0] == index and parts[1] in "+-" and parts[2].isdigit():
            text = str(int(value) + int(parts[1] + parts[2]))
        return text if len(text) == 1 else f"{{{text}}}"

    return _SUBSCRIPT.sub(put_in, name)


def _within(part: str, index: str, value: str) -> str:
    """Indices run together, as in `a_{ij}`; longer words and known ones are labels."""
    together = len(part) <= 3 and _INDICES.issuperset(part) and part not in _WORDS_OF_INDICES
    return part.replace(index, value) if together else part


def indices_of(bound: Expr) -> tuple[str, ...]:
    r"""The letters that a sum runs over: `i`, or all of `i,j`, `i < j`, `i \neq j`."""
    if bound.op != "sym":
        return ()
    whole = _PARTS_OF_SUBSCRIPT.findall(bound.name)
    if len(whole) == 1:
        return (bound.name,)
    return tuple(dict.fromkeys(part for part in whole if len(part) == 1 and part.isalpha()))


# Spelling: as written, for people and for the rows of tests/cases/parse. --------------------------------------

_INFIX = {"add": (" + ", 1), "sub": (" - ", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("^", 4)}


def spell(node: Expr, *, above: int = 0) -> str:
    """The structure as it was read, with every operator written out.

    >>> spell(Expr("div", (number(1), Expr("mul", (number(2), symbol("m"))))))
    '1/(2*m)'
    """
    if node.op in ("num", "sym", "unit"):
        text = f"[{node.name}]" if node.op == "unit" else node.name
        compound = node.op == "num" and ("/" in text or text.startswith("-"))
        return f"({text})" if compound and above else text
    if node.op in ("const", "infinity"):
        return node.name or node.op
    if node.op == "neg":
        inner = f"-{spell(node.args[0], above=3)}"
        return f"({inner})" if above > 1 else inner
    if node.op in _INFIX:
        sign, level = _INFIX[node.op]
        inner = spell(node.args[0], above=level + (node.op == "pow"))
        for arg in node.args[1:]:
            if node.op == "add" and arg.op == "neg":
                inner += f" - {spell(arg.args[0], above=2)}"
            else:
                inner += sign + spell(arg, above=level + (node.op != "pow"))
        return f"({inner})" if above > level else inner
    head = f"{node.op}[{node.name}]" if node.name else node.op
    return f"{head}({', '.join(spell(arg) for arg in node.args)})"


# Canonical form: one spelling for what is the same by commutation, exact arithmetic and laws of powers that
# hold wherever both sides are defined. It keys opaque atoms and settles `same_form`; it decides nothing else.

_MAX_FOLD_EXPONENT = 64  # numbers like 9^(9^9) stay unevaluated: folding them is an attack on memory
_MAX_FOLD_BITS = 2048

_MEMO = 16_384  # sub-expressions remembered: without, nested exponents are worked out twice a level

Terms = dict[str, Fraction]  # a sum: canonical term -> coefficient; never changed once returned
# Bound variables, and what they are called in the canonical form; `_i` is an index that also stands in subscripts.
Renamed = tuple[tuple[str, str], ...]
_ONE = Fraction(1)
_UNITY = Expr("num", name="1", value=_ONE)


def canonical(node: Expr) -> str:
    r"""One spelling for expressions that differ by order, exact arithmetic or the laws of integer powers.

    >>> canonical(Expr("sub", (symbol("b"), symbol("a")))) == canonical(
    ...     Expr("add", (Expr("neg", (symbol("a"),)), symbol("b"))))
    True
    """
    return _spell_terms(_terms(node, ()))


def canonical_zero(node: Expr) -> str:
    """As `canonical`, for what is set to zero: scaled so that the coefficient of its first term is 1."""
    terms = _terms(node, ())
    if not terms:
        return "0"
    lead = terms[min(terms)]
    return _spell_terms({term: value / lead for term, value in terms.items()})


def multiple_by_form(one: Expr, other: Expr) -> Fraction | None:
    """How many times the other an expression is, whatever its symbols and constructs are; None if it is not seen.

    >>> multiple_by_form(Expr("mul", (number(2), symbol("a"))), Expr("neg", (symbol("a"),)))
    Fraction(-2, 1)
    """
    ones, others = _terms(one, ()), _terms(other, ())
    if not ones or ones.keys() != others.keys():
        return None
    factors = {ones[term] / others[term] for term in ones}
    return factors.pop() if len(factors) == 1 else None


@lru_cache(maxsize=_MEMO)
def _terms(node: Expr, bound: Renamed) -> Terms:
    """A node as a sum: coefficient of each product of powers."""
    if node.op in ("add", "sub", "neg"):
        total: Terms = {}
        for position, arg in enumerate(node.args):
            sign = -1 if node.op == "neg" or (node.op == "sub" and position == 1) else 1
            for term, coefficient in _terms(arg, bound).items():
                total[term] = total.get(term, Fraction(0)) + sign * coefficient
        return {term: coefficient for term, coefficient in total.items() if coefficient}
    numbers = [arg for arg in node.args if arg.op == "num"]
    if node.op in ("mul", "div") and len(numbers) == len(node.args) - 1 and node.args[-1].value != 0:
        (sum_or_product,) = (arg for arg in node.args if arg.op != "num")
        if node.op == "mul" or sum_or_product is node.args[0]:  # 2(a + b) is 2a + 2b
            factor = _powers(Expr(node.op, tuple(_UNITY if arg is sum_or_product else arg for arg in node.args)), ())[0]
            return {term: factor * value for term, value in _terms(sum_or_product, bound).items() if factor}
    coefficient, powers = _powers(node, bound)
    if not coefficient:
        return {}
    return {_spell_powers(powers): coefficient}


@lru_cache(maxsize=_MEMO)
def _powers(node: Expr, bound: Renamed) -> tuple[Fraction, dict[str, Fraction]]:
    """A node as a product: rational coefficient, and the exponent of each base."""
    if node.op == "num" and node.value is not None:
        return node.value, {}
    if node.op == "neg":
        coefficient, powers = _powers(node.args[0], bound)
        return -coefficient, powers
    if node.op in ("mul", "div"):
        coefficient, powers = _ONE, {}
        for position, arg in enumerate(node.args):
            exponent = -1 if node.op == "div" and position == 1 else 1
            factor, inner = _powers(arg, bound)
            if exponent < 0 and not factor:
                return _ONE, {f"({_atom(node, bound)})": _ONE}
            coefficient *= factor**exponent
            if max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()) > _MAX_FOLD_BITS:
                return _ONE, {_atom(node, bound): _ONE}
            for base, power in inner.items():
                powers[base] = powers.get(base, Fraction(0)) + exponent * power
        return coefficient, {base: power for base, power in powers.items() if power}
    if node.op in ("pow", "sqrt", "root"):
        return _power(node, bound)
    if node.op in ("add", "sub"):
        terms = _terms(node, bound)
        if not terms:
            return Fraction(0), {}
        if len(terms) == 1:
            ((term, coefficient),) = terms.items()
            return (coefficient, {}) if term == "1" else (coefficient, {term: _ONE})
        return _primitive(terms)
    return _ONE, {_atom(node, bound): _ONE}


def _primitive(terms: Terms) -> tuple[Fraction, dict[str, Fraction]]:
    """Take the coefficient of the first term out of a sum, so that 2a + 2b and a + b share a base."""
    lead = terms[min(terms)]
    return lead, {f"({_spell_terms({term: value / lead for term, value in terms.items()})})": _ONE}


def _power(node: Expr, bound: Renamed) -> tuple[Fraction, dict[str, Fraction]]:
    base = node.args[0]
    exponent = Fraction(1, 2)
    if node.op != "sqrt":
        coefficient, symbols_in_exponent = _powers(node.args[1], bound)
        if symbols_in_exponent or not coefficient:
            return _ONE, {_atom(node, bound): _ONE}
        exponent = 1 / coefficient if node.op == "root" else coefficient
    factor, powers = _powers(base, bound)
    whole = exponent.denominator == 1
    length = max(factor.numerator.bit_length(), factor.denominator.bit_length())
    small = abs(exponent) <= _MAX_FOLD_EXPONENT and length * abs(exponent) <= _MAX_FOLD_BITS
    if whole and small and (factor or exponent > 0):
        return factor ** int(exponent), {name: power * exponent for name, power in powers.items()}
    if factor == 1 and len(powers) == 1:
        ((name, power),) = powers.items()
        if power == 1:  # (x^2)^(1/2) is not x where x may be negative
            return _ONE, {name: exponent}
    return _ONE, {f"({_spell_terms(_terms(base, bound))})": exponent}


_BINDERS = frozenset(("integral", "contour", "sum", "product", "limit"))


def _atom(node: Expr, bound: Renamed) -> str:
    """A node that canonical arithmetic does not look through; bound variables are renamed by depth."""
    if node.op == "sym":
        return _renamed(node.name, bound)
    if not node.args:
        return f"{node.op}:{node.name}"
    args = node.args
    if node.op in ("sum", "product") and len(args) > 1 and (indices := indices_of(args[1])):
        named = tuple((index, f"#{len(bound) + k}") for k, index in enumerate(indices))
        inner = (*bound, *named, *(("_" + index, new) for index, new in named))
        range_of = args[1].name
        for k, index in enumerate(indices):
            range_of = range_of.replace(index, f"#{k}")
        parts = [_spell_terms(_terms(args[0], inner)), range_of]
        parts += [_spell_terms(_terms(arg, bound)) for arg in args[2:]]
    elif node.op in _BINDERS and len(args) > 1 and args[1].op == "sym":
        # the variable is bound where the integrand is written in it: in `\int P dV` it says what P depends on
        is_bound = node.op in ("integral", "limit") and len(args) > (3 if node.op == "integral" else 2)
        is_bound = is_bound and not node.name and any(part == args[1] for part in walk(args[0]))
        inner = (*bound, (args[1].name, f"#{len(bound)}")) if is_bound else bound
        parts = [_spell_terms(_terms(args[0], inner)), _spell_terms(_terms(args[1], inner))]
        parts += [_spell_terms(_terms(arg, bound)) for arg in args[2:]]
    else:
        parts = [_spell_terms(_terms(arg, bound)) for arg in args]
    return f"{node.op}[{node.name}]({','.join(parts)})"


def _renamed(name: str, bound: Renamed) -> str:
    """A symbol in the canonical form: bound variables by depth, those of a sum in subscripts too."""
    for old, new in reversed(bound):
        if name == old:
            return new
        if old.startswith("_"):
            name = at_index(name, old[1:], new)
    return name


def _spell_powers(powers: dict[str, Fraction]) -> str:
    if not powers:
        return "1"
    return "*".join(base if power == 1 else f"{base}^{{{power}}}" for base, power in sorted(powers.items()))


def _spell_terms(terms: Terms) -> str:
    if not terms:
        return "0"
    return "+".join(
        (str(value) if term == "1" else term if value == 1 else f"{value}*{term}")
        for term, value in sorted(terms.items())
    )
