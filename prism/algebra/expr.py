r"""Formulas as values.

An `Expr` is a tree of frozen nodes; sums and products are n-ary, so depth is bounded by the nesting that the
author wrote and never by the number of terms. A `Formula` is one or more expressions joined by relations.

Refused: one class per operator (dispatch by class spreads an operator over the house) and a third-party
expression type (its automatic rewriting changes what the student wrote before anybody has looked at it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

from prism import budget
from prism.algebra.macaulay import is_step
from prism.algebra.operators import OPS
from prism.algebra.symbols import letters_of_range, replace_index

RELATIONS = {
    "=": r"=", "approx": r"\approx", "equiv": r"\equiv", "sim": r"\sim", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge",
    "<<": r"\ll", ">>": r"\gg", "!=": r"\neq", "propto": r"\propto", "to": r"\to", "<~": r"\lesssim",
    ">~": r"\gtrsim", "in": r"\in", "notin": r"\notin", "subset": r"\subset", "perp": r"\perp",
    "divides": r"\mid", "given": "|",
}  # fmt: skip
_SYMBOLS_KEPT = 8192  # symbols of which one object serves a process
MAX_SIZE = 2**60  # nodes that a tree tells of itself; operands that are shared double a tree at each level
_LARGE = 50_000  # nodes of a tree that no text has: one that substitution has grown is charged before it is walked
_KEPT = 500  # nodes of a tree that keeps a list of them
_SUBSTITUTION = 200  # operations for each node that a substitution visits
_SPELLING = 50  # for each node that is spelled
_CANONICAL, _CANONICAL_LEVEL = 400, 20  # for each node of a canonical form, and for each level above it
_MAX_SHOWN = 60  # nodes of an expression that a `repr` spells
_MAX_INDEX_LETTERS = 8  # of one sum; each is renamed in every name under it
EQUALITIES = frozenset(("=", "approx", "equiv", "sim"))
ORDERINGS = frozenset(("<", "<=", ">", ">="))
JOINTS = {"system": "and", "alternatives": "or", "implication": "=>", "conditional": "where", "restricted": "if"}
"""Kinds of formula that hold several, and the word between their parts."""


@dataclass(frozen=True, slots=True, init=False)
class Expr:
    """An immutable expression tree: an operator with its operands.

    Attributes:
        op: key of `OPS`.
        args: operands. Bound constructs keep a fixed order: integral (integrand, variable[, lower, upper]), sum
            and product (term, index[, lower, upper]), limit (body, variable, target), derivative (body, variable).
        name: symbol or unit in its one spelling; digits of a number as written (`2.00e-3`); order of a
            derivative; kind of an opaque construct.
        value: exact value of a number, else None.
        size: nodes of the tree, at most `MAX_SIZE`: one that operands share counts each time, as a walk meets it.
        depth: nodes on the longest way down.
    """

    op: str
    args: tuple[Expr, ...] = ()
    name: str = ""
    value: Fraction | None = None
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    _names: frozenset[str] | None = field(init=False, repr=False, compare=False)
    _ops: frozenset[str] | None = field(init=False, repr=False, compare=False)
    _below: tuple[Expr, ...] | None = field(init=False, repr=False, compare=False)

    def __init__(self, op: str, args: tuple[Expr, ...] = (), name: str = "", value: Fraction | None = None) -> None:
        """Make a node, with its hash, size and depth from those of its operands: a tree is walked otherwise."""
        size, depth = 1, 0
        for arg in args:
            size += arg.size
            if arg.depth > depth:
                depth = arg.depth
        _set_op(self, op)
        _set_args(self, args)
        _set_name(self, name)
        _set_value(self, value)
        _set_size(self, size if size < MAX_SIZE else MAX_SIZE)
        _set_depth(self, depth + 1)
        _set_hash(self, hash((op, name, args)))
        _set_names(self, None)
        _set_ops(self, None)
        _set_below(self, None if args else args)

    def __hash__(self) -> int:
        """Return the hash computed at construction."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return True if the trees are the same node by node: operators, names and values.

        Trees that are the same have the same operands from then on, so that they are compared once.
        """
        if self is other:
            return True
        if not isinstance(other, Expr):
            return NotImplemented
        if self._hash != other._hash or self.op != other.op or self.name != other.name or self.value != other.value:
            return False
        if self.args is not other.args:
            if self.args != other.args:
                return False
            _set_args(self, other.args)
        return True

    def __reduce__(self) -> tuple[type[Expr], tuple[str, tuple[Expr, ...], str, Fraction | None]]:
        """Pickle the node by its arguments: hashes of strings differ between processes."""
        return Expr, (self.op, self.args, self.name, self.value)  # the hash of a string differs between processes

    def __str__(self) -> str:
        """Spell the expression; see `spell`."""
        return spell(self)

    def __repr__(self) -> str:
        """Return the spelling in angle brackets, `<Expr m*a>`; of a large expression only its operator and size."""
        return f"<Expr {_short_spelling(self)}>"


# Setters of the slots: a frozen dataclass writes its own by name, which takes half as long again for each node.
_set_op, _set_args, _set_name, _set_value, _set_size, _set_depth, _set_hash, _set_names, _set_ops, _set_below = (
    getattr(Expr, slot).__set__
    for slot in ("op", "args", "name", "value", "size", "depth", "_hash", "_names", "_ops", "_below")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Traits:
    """The kinds of parts that occur in a formula.

    Attributes:
        ops: operators, keys of `OPS`.
        names: names of symbols.
    """

    ops: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Formula:
    r"""One formula: expressions joined by relations, or several formulas (its parts) written as one.

    Attributes:
        kind: `equation` (two members, an equality), `inequality` (two members, an ordering), `chain` (three
            members or more), `expression` (one member), `statement` (any other relation). With parts:
            `system` (all of them: `a = b, c = d`), `alternatives` (`x = 1 \lor x = 2`), `implication` (`a = b
            \Rightarrow c = d`), `conditional` (the other parts explain the first: `p = \gamma m v
            \text{ where } \gamma = ...`), `restricted` (the first holds where the others do: `E = 0 \text{
            for } r < R`).
        members: the expressions, left to right, as a, b and c of `a = b = c`; empty with parts.
        relations: keys of `RELATIONS`, one fewer than members.
        latex: the text that was parsed.
        parts: the formulas of one of the last five kinds, in order; else empty.
        depends: (symbol, variable) pairs for symbols written as functions: (`\rho`, `r`) for `\rho(r)`.
    """

    kind: str
    members: tuple[Expr, ...]
    relations: tuple[str, ...]
    latex: str = ""
    parts: tuple[Formula, ...] = ()
    depends: frozenset[tuple[str, str]] = frozenset()
    _hash: int = field(init=False, repr=False, compare=False, default=0)
    _traits: Traits | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        """Compute the hash of the formula once."""
        own = self.kind, self.members, self.relations, self.latex, self.parts, self.depends
        object.__setattr__(self, "_hash", hash(own))  # once, as in `Expr`

    def __hash__(self) -> int:
        """Return the hash computed at construction."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return True if all attributes are equal, the LaTeX text included; see `without_text`."""
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
        """Pickle the formula by its arguments: hashes of strings differ between processes."""
        return Formula, (self.kind, self.members, self.relations, self.latex, self.parts, self.depends)

    def __repr__(self) -> str:
        """Return the kind and the spelling in angle brackets, `<Formula equation: F = m*a>`."""
        large = sum(member.size for part in plain_parts(self) for member in part.members) > _MAX_SHOWN
        return f"<Formula {self.kind}: {'large' if large else self}>"

    def _repr_latex_(self) -> str:
        """Return the canonical LaTeX between dollar signs, as notebooks show it."""
        from prism.bridges.notebook import typeset

        return typeset(self)

    def to_sympy(self, *, evaluate: bool = False) -> Any:
        r"""Return the formula as a sympy object: a relation, an expression, or a `Tuple` of the relations of a chain.

        Symbols are plain, without assumptions, and have PRISM's names (`v_0`, `\theta`; a unit is `\unit{km}`). An
        odd root is the real one, as sign(a) |a|^(1/n). Digits as written (`2.00`) are not carried. The way back is
        `prism.from_sympy`.

        Args:
            evaluate: let sympy cancel, fold numbers and sort terms, as its own constructors do; else all stays as it
                is written.

        Errors:
            ConversionError: naming the construct that sympy has nothing for; nothing is changed silently.
            PrismError: sympy is not installed.
        """
        from prism.bridges.to_symbolic import to_sympy

        return to_sympy(self, evaluate=evaluate)

    def to_symengine(self) -> Any:
        """Return the formula as a symengine object, which sorts terms and folds numbers as it is built.

        As `to_sympy`, but for decimals, which are doubles, and what symengine lacks: systems, chains, integrals, sums.

        Errors:
            ConversionError: naming the construct that symengine has nothing for.
            PrismError: symengine is not installed.
        """
        from prism.bridges.to_symbolic import to_symengine

        return to_symengine(self)

    def __str__(self) -> str:
        """Spell the members with their relations, or the parts joined by words, as `a = b and c = d`."""
        if self.parts:
            joint = f" {JOINTS[self.kind]} "
            return joint.join(f"({part})" if part.parts else str(part) for part in self.parts)
        words = [spell(self.members[0])]
        for relation, member in zip(self.relations, self.members[1:], strict=True):
            words += [relation, spell(member)]
        return " ".join(words)


MAY_CALL = ("[", r"\{", "^{-1}")
"""What the text of a formula has in which a letter may be a function that is read as a factor."""


def without_text(f: Formula) -> Formula:
    """Return a formula without the text it was read from, so that `F = ma` and `F=m a` are equal.

    It stays where it may be read in another way too (semantics X.2), `E[X]` and `f^{-1}(x)`.
    """
    text = f.latex if any(mark in f.latex for mark in MAY_CALL) else ""
    return Formula(f.kind, f.members, f.relations, text, tuple(map(without_text, f.parts)), f.depends)


def formula(
    members: tuple[Expr, ...],
    relations: tuple[str, ...],
    latex: str = "",
    depends: frozenset[tuple[str, str]] = frozenset(),
) -> Formula:
    """Build a formula from members (`a` and `b` of `a = b`) and the relations between them, which determine its kind.

    Errors:
        ValueError: the numbers of members and relations do not fit.

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
    """Return a number as an expression; `written` are its digits as an author wrote them, such as `2.00`."""
    exact = Fraction(value)
    return Expr("num", name=written or str(exact), value=exact)


@lru_cache(maxsize=_SYMBOLS_KEPT)
def symbol(name: str) -> Expr:
    """Return the symbol of this name as an expression; the same object each time."""
    return Expr("sym", name=name)


def is_infinite(node: Expr) -> bool:
    """Return True if an expression is plus or minus infinity."""
    return node.op == "infinity" or (node.op == "neg" and node.args[0].op == "infinity")


def plain_parts(written: Formula) -> Iterator[Formula]:
    """Yield the formulas that a system or other formula with parts is made of; a formula without: itself."""
    if not written.parts:
        yield written
    for part in written.parts:
        yield from plain_parts(part)


def walk(root: Expr) -> Iterator[Expr]:
    """Return every node of an expression tree, parents before children, left to right, without recursion."""
    if root.size > _LARGE:
        budget.charge_steps(root.size)
    if root._below is None and root.size > _KEPT:
        return chain((root,), _nodes_below(root))
    if root._below is None:
        _set_below(root, tuple(_nodes_below(root)))
    return chain((root,), root._below or ())


def _nodes_below(root: Expr) -> Iterator[Expr]:
    """Yield every node of a tree but its root."""
    stack = list(reversed(root.args))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.args))


def nodes_with(root: Expr, *ops: str) -> Iterator[Expr]:
    """Return the nodes of a tree that have one of the operators `ops`, as `walk`; not looking where there is none."""
    if (root._ops or _stored_ops(root)).isdisjoint(ops):
        return iter(())
    return (node for node in walk(root) if node.op in ops)


def symbols(*roots: Expr) -> frozenset[str]:
    """Return the names of all symbols in the expressions, including variables of integrals and indices of sums."""
    if len(roots) == 1:
        return roots[0]._names or _stored_names(roots[0])
    return _NOTHING.union(*[root._names or _stored_names(root) for root in roots])


def ops_of(*roots: Expr) -> frozenset[str]:
    """Return the operators, keys of `OPS`, that occur in the expressions."""
    if len(roots) == 1:
        return roots[0]._ops or _stored_ops(roots[0])
    return _NOTHING.union(*[root._ops or _stored_ops(root) for root in roots])


_NOTHING: frozenset[str] = frozenset()


def _stored_names(node: Expr) -> frozenset[str]:
    """Return the names of all symbols in an expression, collected on the first call and stored in its node."""
    names = node._names
    if names is None:
        own = frozenset((node.name,)) if node.op == "sym" else _NOTHING
        names = _union([arg._names or _stored_names(arg) for arg in node.args]) if node.args else own
        _set_names(node, names)
    return names


def _union(sets: list[frozenset[str]]) -> frozenset[str]:
    """Return the union of one or more sets; if one of the sets is the union already, that object, to save memory."""
    union = sets[0]
    for each in sets:
        if each is not union and not each <= union:
            union = union.union(*sets)
            return next((one for one in sets if len(one) == len(union)), union)
    return union


def _stored_ops(node: Expr) -> frozenset[str]:
    """Return the operators that occur in an expression, collected on the first call and stored in its node."""
    ops = node._ops
    if ops is None:
        ops = _union([*[arg._ops or _stored_ops(arg) for arg in node.args], _OP_SETS[node.op]])
        _set_ops(node, ops)
    return ops


_OP_SETS = {name: frozenset((name,)) for name in OPS}  # the set of each leaf


def symbols_of(written: Formula) -> frozenset[str]:
    """Return the names of all symbols of a formula, including those of its parts."""
    if not written.parts:
        return traits_of(written).names
    return symbols(*(member for part in plain_parts(written) for member in part.members))


def traits_of(f: Formula) -> Traits:
    """Return the operators and symbol names in a formula's members, collected once and stored in the formula."""
    traits = f._traits
    if traits is None:
        traits = Traits(ops_of(*f.members), symbols(*f.members))
        object.__setattr__(f, "_traits", traits)
    return traits


def rewritten(f: Formula, change: Callable[[Expr], Expr]) -> Formula:
    """Return a formula with each node of its members changed, inner ones first."""

    def changed(node: Expr) -> Expr:
        """Return a changed node."""
        return change(with_args(node, tuple([changed(arg) for arg in node.args])))

    return with_members(f, tuple(map(changed, f.members)))


def substitute(root: Expr, replacement: dict[Expr, Expr]) -> Expr:
    """Replace subexpressions (keys of `replacement`) by others in one pass: the new ones are not searched again.

    >>> str(substitute(Expr("add", (symbol("x"), number(1))), {symbol("x"): symbol("y")}))
    'y + 1'
    """
    budget.charge(root.size * _SUBSTITUTION)
    if all(node.op == "sym" for node in replacement):
        new = _substitute_symbols(root, frozenset(node.name for node in replacement), replacement)
    else:
        new = _substitute(root, replacement)
    if new.size > _LARGE:
        budget.charge_steps(new.size)
    return new


def _substitute(root: Expr, replacement: dict[Expr, Expr]) -> Expr:
    """Replace subexpressions as `substitute` does, without a charge."""
    if root in replacement:
        return replacement[root]
    return with_args(root, tuple([_substitute(arg, replacement) for arg in root.args]))


def _substitute_symbols(root: Expr, names: frozenset[str], replacement: dict[Expr, Expr]) -> Expr:
    """Replace symbols, those of `names`, as `substitute` does; what has none of them is not searched."""
    if names.isdisjoint(_stored_names(root)):
        return root
    if not root.args:
        return replacement[root]
    return with_args(root, tuple([_substitute_symbols(arg, names, replacement) for arg in root.args]))


def substituted(f: Formula, replacement: dict[Expr, Expr]) -> Formula:
    """Replace subexpressions (keys of `replacement`) by others in all members of a formula and of its parts."""
    if f.parts:
        return replace(f, parts=tuple(substituted(part, replacement) for part in f.parts))
    return with_members(f, tuple([substitute(member, replacement) for member in f.members]))


def with_args(node: Expr, args: tuple[Expr, ...]) -> Expr:
    """Return a node with other operands; the node itself if they are its own."""
    return node if args == node.args else Expr(node.op, args, node.name, node.value)


def with_members(f: Formula, members: tuple[Expr, ...]) -> Formula:
    """Return a formula with other members, as many; the formula itself if they are equal to its own."""
    return f if members == f.members else Formula(f.kind, members, f.relations, f.latex, f.parts, f.depends)


def index_letters(bound: Expr) -> tuple[str, ...]:
    r"""Return the letters in a sum's index expression `i`, `i,j`, `i < j` or `i \neq j`; empty if it is no symbol."""
    letters = letters_of_range(bound.name) if bound.op == "sym" else ()
    return letters if len(letters) <= _MAX_INDEX_LETTERS else ()


# Spelling: as written, for people and for the rows of tests/cases/parse. --------------------------------------

_INFIX = {"add": (" + ", 1), "sub": (" - ", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("^", 4)}


def spell(node: Expr) -> str:
    """Spell an expression as plain text with every operator written out, operands in the order in which they were read.

    >>> spell(Expr("div", (number(1), Expr("mul", (number(2), symbol("m"))))))
    '1/(2*m)'
    """
    budget.charge(node.size * _SPELLING)
    return _spell(node)


def _short_spelling(node: Expr) -> str:
    """Spell an expression for a `repr`, free of charge; of a large one, its operator and size."""
    return _spell(node) if node.size <= _MAX_SHOWN else f"{node.op} of {node.size} nodes"


def _spell(node: Expr, *, above: int = 0) -> str:
    """Spell an expression as `spell` does.

    Args:
        above: binding strength of the operator outside, which decides about brackets; 0 is none.
    """
    if node.op in ("num", "sym", "unit"):
        text = f"[{node.name}]" if node.op == "unit" else node.name
        compound = node.value is not None and ("/" in text or node.value < 0)
        return f"({text})" if compound and above else text
    if node.op in ("const", "infinity"):
        return node.name or node.op
    if node.op == "neg":
        inner = f"-{_spell(node.args[0], above=3)}"
        return f"({inner})" if above > 1 else inner
    if node.op in _INFIX:
        sign, level = _INFIX[node.op]
        inner = _spell(node.args[0], above=level + (node.op == "pow"))
        for arg in node.args[1:]:
            if node.op == "add" and arg.op == "neg":
                inner += f" - {_spell(arg.args[0], above=2)}"
            else:
                inner += sign + _spell(arg, above=level + (node.op != "pow"))
        return f"({inner})" if above > level else inner
    head = f"{node.op}[{node.name}]" if node.name else node.op
    return f"{head}({', '.join(_spell(arg) for arg in node.args)})"


# Canonical form: one spelling for what is the same by commutation, exact arithmetic and laws of powers that
# hold wherever both sides are defined. It keys opaque atoms and settles `same_form`; it decides nothing else.

_MAX_FOLD_EXPONENT = 64  # numbers like 9^(9^9) stay unevaluated: folding them is an attack on memory
_SHORT = 2**60  # integers that are not long at a glance
_MAX_FOLD_BITS = 2048  # of an exact number that is folded; a longer one stays as it is written

_MAX_KEPT = 40  # nodes of a tree that is kept with its canonical form; as many large ones would fill gigabytes
_FORMS_KEPT = 16_384  # canonical forms
_MEMO = 2_048  # sub-expressions in each cache: without it nested exponents are computed twice a level

Exact = int | Fraction  # a whole one mostly as an integer, whose arithmetic takes a tenth of the time
Terms = dict[str, Exact]  # a sum: canonical term -> coefficient; never changed once returned
# Bound variables and their names in the canonical form; `_i` is an index that also occurs in subscripts.
Renamed = tuple[tuple[str, str], ...]
_UNITY = Expr("num", name="1", value=Fraction(1))


class _SmallTrees(budget.Store):
    """The canonical forms of small trees that a process has worked out; another is remembered for its account alone."""

    def keep(self, key: Any, found: Any) -> None:
        """Keep a form, by function and arguments, if its tree is small: the store holds the tree too."""
        if key[1][0].size <= _MAX_KEPT:
            super().keep(key, found)


_remembered_form = budget.remembered(_SmallTrees(_FORMS_KEPT))


@_remembered_form
def canonical(node: Expr) -> str:
    """Return one text for all expressions that differ only by order, exact arithmetic or the laws of integer powers.

    >>> canonical(Expr("sub", (symbol("b"), symbol("a")))) == canonical(
    ...     Expr("add", (Expr("neg", (symbol("a"),)), symbol("b"))))
    True
    """
    _charge_canonical(node)
    return _spell_terms(_canonical_terms(node, ()))


def _charge_canonical(*nodes: Expr) -> None:
    """Charge the canonical forms of expressions, as if nothing of them were known: a sum is spelled on each level."""
    budget.charge(sum(node.size * (_CANONICAL + _CANONICAL_LEVEL * node.depth) for node in nodes))


@_remembered_form
def canonical_zero(node: Expr) -> str:
    """Return the canonical text of an expression that is set to zero, its first term scaled to coefficient 1.

    So `2a - 2b` and `b - a` have the same text.
    """
    _charge_canonical(node)
    terms = _canonical_terms(node, ())
    if not terms:
        return "0"
    lead = terms[min(terms)]
    return _spell_terms({term: _quotient(value, lead) for term, value in terms.items()})


def formal_ratio(a: Expr, b: Expr) -> Fraction | None:
    """Return the number c with a = c * b for all values of the symbols; None if the canonical forms show none.

    >>> formal_ratio(Expr("mul", (number(2), symbol("a"))), Expr("neg", (symbol("a"),)))
    Fraction(-2, 1)
    """
    _charge_canonical(a, b)
    ones, others = _canonical_terms(a, ()), _canonical_terms(b, ())
    if not ones or ones.keys() != others.keys():
        return None
    factors = {Fraction(ones[term]) / others[term] for term in ones}
    return factors.pop() if len(factors) == 1 else None


def _quotient(a: Exact, b: Exact) -> Exact:
    """Return a / b exactly, for b not 0."""
    if b == 1:
        return a
    return -a if b == -1 else Fraction(a) / b


_INFINITE = "infinity:"  # as `_spell_atom` writes it


@lru_cache(maxsize=_MEMO)
def _canonical_terms(node: Expr, bound: Renamed) -> Terms:
    """Return an expression as a sum in canonical form: the coefficient of each product of powers, by its text.

    Args:
        bound: variables of the enclosing integrals and sums, each with its name in the canonical form.
    """
    op, args = node.op, node.args
    if op == "sym":
        return {_canonical_name(node.name, bound) if bound else node.name: 1}
    if op in ("add", "sub", "neg"):
        total: Terms = {}
        for position, arg in enumerate(args):
            is_taken = op == "neg" or (op == "sub" and position == 1)
            for term, coefficient in _canonical_terms(arg, bound).items():
                value = total.get(term, 0) + (-coefficient if is_taken else coefficient)
                if _is_long(value):
                    return {_spell_atom(node, bound): 1}
                total[term] = value
        if _INFINITE in total:
            if not total[_INFINITE]:  # what infinity less infinity is nobody knows
                return {_spell_atom(node, bound): 1}
            total.pop("1", None)  # no number adds to it
        return {term: coefficient for term, coefficient in total.items() if coefficient}
    if op in ("mul", "div"):
        rest = [arg for arg in args if arg.op != "num"]
        if len(rest) == 1 and args[-1].value != 0 and (op == "mul" or rest[0] is args[0]):  # 2(a + b) is 2a + 2b
            numbers = tuple([_UNITY if arg is rest[0] else arg for arg in args])
            factor = _canonical_powers(Expr(op, numbers), ())[0]
            terms = _canonical_terms(rest[0], bound)
            new = terms if factor == 1 else {term: factor * value for term, value in terms.items() if factor}
            return {_spell_atom(node, bound): 1} if any(map(_is_long, new.values())) else new
    coefficient, powers = _canonical_powers(node, bound)
    return {_spell_powers(powers): coefficient} if coefficient else {}


@lru_cache(maxsize=_MEMO)
def _canonical_powers(node: Expr, bound: Renamed) -> tuple[Exact, dict[str, Exact]]:
    """Return an expression as a product in canonical form: a rational coefficient, and the exponent of each base.

    Args:
        bound: as in `_canonical_terms`.
    """
    op = node.op
    if op == "sym":
        return 1, {_canonical_name(node.name, bound) if bound else node.name: 1}
    if op == "num" and node.value is not None:
        return node.value.numerator if node.value.denominator == 1 else node.value, {}
    if op == "neg":
        coefficient, powers = _canonical_powers(node.args[0], bound)
        return -coefficient, powers
    if op in ("mul", "div"):
        return _canonical_product(node, bound)
    if op in ("pow", "sqrt", "root"):
        return _canonical_power(node, bound)
    if op in ("add", "sub"):
        terms = _canonical_terms(node, bound)
        if not terms:
            return 0, {}
        if len(terms) == 1:
            ((term, coefficient),) = terms.items()
            return (coefficient, {}) if term == "1" else (coefficient, {term: 1})
        return _factor_out_first_coefficient(terms)
    return 1, {_spell_atom(node, bound): 1}


def _canonical_product(node: Expr, bound: Renamed) -> tuple[Exact, dict[str, Exact]]:
    """Return a product or a quotient as `_canonical_powers` does."""
    coefficient: Exact = 1
    powers: dict[str, Exact] = {}
    for position, arg in enumerate(node.args):
        is_below = node.op == "div" and position == 1
        factor, inner = _canonical_powers(arg, bound)
        if is_below and not factor:
            return 1, {f"({_spell_atom(node, bound)})": 1}
        coefficient = _quotient(coefficient, factor) if is_below else coefficient * factor
        for base, power in inner.items():
            powers[base] = powers.get(base, 0) + (-power if is_below else power)
        if _is_long(coefficient) or any(map(_is_long, powers.values())):
            return 1, {_spell_atom(node, bound): 1}
    return coefficient, {base: power for base, power in powers.items() if power}


def _is_long(value: Exact) -> bool:
    """Return True if an exact number is too long to be folded: Python spells no integer of more than 4,300 digits."""
    if value.__class__ is int and -_SHORT < value < _SHORT:
        return False
    return max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_FOLD_BITS


def _factor_out_first_coefficient(terms: Terms) -> tuple[Exact, dict[str, Exact]]:
    """Split a sum into its first term's coefficient and the scaled rest: 2a + 2b gives 2 and the base (a + b)."""
    lead = terms[min(terms)]
    return lead, {f"({_spell_terms({term: _quotient(value, lead) for term, value in terms.items()})})": 1}


def _canonical_power(node: Expr, bound: Renamed) -> tuple[Exact, dict[str, Exact]]:
    """Return a power, square root or root as `_canonical_powers` does.

    The base is not multiplied out where a law of powers may fail: `(x^2)^{1/2}` is not `x` for negative x.
    """
    base = node.args[0]
    exponent: Exact = Fraction(1, 2)
    if node.op != "sqrt":
        coefficient, symbols_in_exponent = _canonical_powers(node.args[1], bound)
        if symbols_in_exponent or not coefficient or is_step(node):
            return 1, {_spell_atom(node, bound): 1}
        exponent = _quotient(1, coefficient) if node.op == "root" else coefficient
    factor, powers = _canonical_powers(base, bound)
    whole = exponent.denominator == 1
    length = max(factor.numerator.bit_length(), factor.denominator.bit_length())
    size = exponent if exponent > 0 else -exponent
    small = size <= _MAX_FOLD_EXPONENT and length * size <= _MAX_FOLD_BITS
    if whole and small and (factor or exponent > 0):
        folded = _quotient(1, factor ** int(-exponent)) if exponent < 0 else factor ** int(exponent)
        return folded, {name: power * exponent for name, power in powers.items()}
    if factor == 1 and len(powers) == 1:
        ((name, power),) = powers.items()
        if power == 1:  # (x^2)^(1/2) is not x where x may be negative
            return 1, {name: exponent}
    return 1, {f"({_spell_terms(_canonical_terms(base, bound))})": exponent}


_BINDERS = frozenset(("integral", "contour", "sum", "product", "limit"))


def _spell_atom(node: Expr, bound: Renamed) -> str:
    """Return the canonical text of a node that is no sum, product or power: a symbol, function, integral, ...

    Args:
        bound: as in `_canonical_terms`; a variable is named by the depth at which it is bound.
    """
    if node.op == "sym":
        return _canonical_name(node.name, bound)
    if not node.args:
        return f"{node.op}:{node.name}"
    args = node.args
    if node.op in ("sum", "product") and len(args) > 1 and (indices := index_letters(args[1])):
        names = dict(bound) if len(indices) > 1 else {}  # in `\sum_{j \ne i}` below a sum over i, only j is bound
        named = tuple((index, f"#{len(bound) + k}") for k, index in enumerate(indices) if "_" + index not in names)
        inner = (*bound, *named, *(("_" + index, new) for index, new in named))
        range_of, names = args[1].name, names | dict(named)
        for index in indices:
            range_of = range_of.replace(index, names[index])
        parts = [_spell_terms(_canonical_terms(args[0], inner)), range_of]
        parts += [_spell_terms(_canonical_terms(arg, bound)) for arg in args[2:]]
    elif node.op in _BINDERS and len(args) > 1 and args[1].op == "sym":
        # the variable is bound where the integrand contains it: in `\int P dV` it names what P depends on
        is_bound = node.op in ("integral", "limit") and len(args) > (3 if node.op == "integral" else 2)
        is_bound = is_bound and not node.name and args[1].name in symbols(args[0])
        inner = (*bound, (args[1].name, f"#{len(bound)}")) if is_bound else bound
        parts = [_spell_terms(_canonical_terms(args[0], inner)), _spell_terms(_canonical_terms(args[1], inner))]
        parts += [_spell_terms(_canonical_terms(arg, bound)) for arg in args[2:]]
    else:
        parts = [_spell_terms(_canonical_terms(arg, bound)) for arg in args]
    return f"{node.op}[{node.name}]({','.join(parts)})"


def _canonical_name(name: str, bound: Renamed) -> str:
    """Return a symbol's name with the variables and indices of the enclosing integrals and sums (`bound`) renamed."""
    for old, new in reversed(bound):
        if name == old:
            return new
        if old.startswith("_"):
            name = replace_index(name, old[1:], new)
    return name


def _spell_powers(powers: dict[str, Exact]) -> str:
    """Spell a product of powers, given as the exponent of each base, in alphabetical order; `1` if empty."""
    if not powers:
        return "1"
    return "*".join(base if power == 1 else f"{base}^{{{power}}}" for base, power in sorted(powers.items()))


def _spell_terms(terms: Terms) -> str:
    """Spell a sum, given as the coefficient of each term, in alphabetical order; `0` if empty."""
    if not terms:
        return "0"
    return "+".join(
        (str(value) if term == "1" else term if value == 1 else f"{value}*{term}")
        for term, value in sorted(terms.items())
    )
