r"""What the problem gives: symbols with their kinds and domains, values, and definitions.

A `Context` is plain data with one spelling for every name: keys go through the parser, so `\theta`, `{\theta}`
and `\bar{c}` against `\bar c` cannot come apart from the formulas. Everything an author can get wrong is found at
once. Refused: a registry of known symbols (`k` is Coulomb's constant in one problem and a spring in the next; only
the problem knows), and warnings inside a context: what cannot be used is a fault.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, canonical, substitute, symbol, symbols, walk
from prism.errors import DataFileError, LatexSyntaxError, PrismError
from prism.latex import parse as parse_latex
from prism.physics.units import Quantity, Reading, constant_table, quantity_expr, read_quantity

SYMBOL_KINDS = {
    "positive": "a positive real number; what every undeclared symbol is",
    "real": "a real number of either sign",
    "negative": "a negative real number",
    "integer": "a whole number from 1 on",
    "angle": "an angle, sampled between 0 and a right angle",
    "complex": "a complex number",
    "vector": "a vector of three components",
    "constant": "a constant of nature, read by its usual letter although the problem mentions it",
    "function": "a function: f(x) applies it and is no product",
}
_DEFAULT_KIND = "positive"
_BOUNDED_KINDS = frozenset(("positive", "real", "negative", "integer", "angle"))
_SYMBOL_KEYS = ("kind", "domain", "sign")
_CONTEXT_KEYS = ("symbols", "givens", "definitions")


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the problem says of one symbol.

    Attributes:
        kind: key of `SYMBOL_KINDS`.
        domain: lowest and highest value to sample, both finite, or None for the usual range of its kind.
        is_sign_free: its sign is a convention; a student may flip it, in all formulas or in none.
        constant: of a constant of nature which one it is, as the table calls it; empty leaves all that have the letter.
    """

    kind: str = _DEFAULT_KIND
    domain: tuple[float, float] | None = None
    is_sign_free: bool = False
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known before the first formula is compared. `Context()` knows nothing: all symbols are positive.

    The dictionaries are never changed after construction.

    Attributes:
        symbols: declared symbols by name, in the parser's spelling.
        givens: values as the author wrote them (`2.00 kg`), by name; each is readable by `read_quantity`.
        definitions: equations that hold by convention and may be used on both sides.
        declared: names that belong to the problem: those above and all that its statement mentions.
        digest: sha256 of the content; keys the random generator, so equal contexts draw equal points.
    """

    symbols: dict[str, Declaration] = field(default_factory=dict, hash=False)
    givens: dict[str, str] = field(default_factory=dict, hash=False)
    definitions: tuple[Formula, ...] = ()
    declared: frozenset[str] = frozenset()
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Names that the context itself mentions are declared; the digest follows the content."""
        own = symbols(*(member for formula in self.definitions for member in formula.members))
        object.__setattr__(self, "declared", frozenset((*self.declared, *own, *self.symbols, *self.givens)))
        object.__setattr__(self, "digest", _digest(self))

    def __hash__(self) -> int:
        return hash(self.digest)  # it stands in the key of every cache

    @property
    def words(self) -> frozenset[str]:
        """Declared names of several letters, such as `Bi`: the parser reads each as one symbol."""
        return frozenset(name for name in self.declared if len(name) > 1 and name.isalpha())

    @property
    def dotted(self) -> frozenset[str]:
        r"""Declared flows such as `\dot{m}`, which are read as one symbol."""
        return frozenset(name for name in (*self.symbols, *self.givens) if name.startswith(r"\dot{"))

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each declared symbol, by name; every other symbol is positive."""
        return {name: said.kind for name, said in self.symbols.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Context:
        r"""Context of `symbols`, `givens` and `definitions`, all optional.

        A symbol is a kind (`"x": "real"`) or a table (`"x": {"kind": "real", "domain": [-1, 1], "sign": "free"}`).

        Errors:
            DataFileError: all faults at once, each naming the entry.

        >>> Context.from_dict({"symbols": {"\\theta": "angle"}}).symbols
        {'\\theta': Declaration(kind='angle', domain=None, is_sign_free=False, constant='')}
        """
        faults = [
            f"{key}: unknown key; keys are {', '.join(_CONTEXT_KEYS)}" for key in data if key not in _CONTEXT_KEYS
        ]
        context = cls(
            _read_symbols(data.get("symbols", {}), faults),
            _read_givens(data.get("givens", {}), faults),
            _read_definitions(data.get("definitions", ()), faults),
        )
        if faults:
            raise DataFileError("<context>", tuple(faults))
        return context


def parse(latex: str, *, context: Context | None = None) -> Formula:
    r"""Read one formula, as the problem would: names of several letters that it declares are one symbol.

    Errors:
        LatexSyntaxError: what is not read, with its position; nothing is dropped in silence.

    >>> str(parse("Lo = h L/k")), str(parse("Lo = h L/k", context=Context(declared=frozenset(("Lo",)))))
    ('L*o = h*L/k', 'Lo = h*L/k')
    """
    written = parse_latex(latex, context.words if context else frozenset())
    if context is None:
        return written
    written = _with_words_as_factors(written, context.words) if context.words else written
    return _with_dots_as_names(written, context.dotted) if context.dotted else written


def _with_words_as_factors(written: Formula, words: frozenset[str]) -> Formula:
    r"""A declared `\mathrm{Re}` is a symbol, so that `Re (f/0.3)^4` is a product and no real part."""
    if written.parts:
        return replace(written, parts=tuple(_with_words_as_factors(part, words) for part in written.parts))
    if not any(node.op == "apply" and node.name in words for member in written.members for node in walk(member)):
        return written
    return replace(written, members=tuple(_word_as_factor(member, words) for member in written.members))


def _word_as_factor(node: Expr, words: frozenset[str]) -> Expr:
    """One node, and what is below it: the parser's depth limit bounds the recursion."""
    args = tuple(_word_as_factor(arg, words) for arg in node.args)
    called, power = (node.args[0], args[1:]) if node.op == "pow" else (node, ())
    if called.op == "apply" and called.name in words and len(called.args) == 1:
        inner = _word_as_factor(called.args[0], words)
        return Expr("mul", (symbol(called.name), Expr("pow", (inner, *power)) if power else inner))
    return Expr(node.op, args, node.name, node.value) if args != node.args else node


def _with_dots_as_names(written: Formula, dotted: frozenset[str]) -> Formula:
    r"""A flow `\dot m` that the problem declares is a quantity of its own, and no derivative of a mass."""
    if written.parts:
        return replace(written, parts=tuple(_with_dots_as_names(part, dotted) for part in written.parts))
    found = {
        node: symbol(name)
        for member in written.members
        for node in walk(member)
        if node.op == "derivative" and (name := _dotted_name(node)) in dotted
    }
    return (
        replace(written, members=tuple(substitute(member, found) for member in written.members)) if found else written
    )


def _dotted_name(node: Expr) -> str:
    """The name of a first derivative by time as a quantity of its own; empty for anything else."""
    is_rate = node.op == "derivative" and node.name == "1" and node.args[1:] == (symbol("t"),)
    return rf"\dot{{{node.args[0].name}}}" if is_rate and node.args[0].op == "sym" else ""


def kind_of(context: Context, name: str) -> str:
    """Kind of a symbol; `positive` if the problem says nothing."""
    declaration = context.symbols.get(name)
    return declaration.kind if declaration else _DEFAULT_KIND


@dataclass(frozen=True, slots=True)
class Value:
    """What a symbol is given to be.

    Attributes:
        text: as the author wrote it.
        quantity: in coherent SI.
        expr: the same as number times base units.
    """

    text: str
    quantity: Quantity
    expr: Expr


@lru_cache(maxsize=256)
def values_of(context: Context) -> Mapping[str, Value]:
    """The values of a problem by name. The dictionary is never changed."""
    return {name: Value(text, read_quantity(text), quantity_expr(text)) for name, text in context.givens.items()}


def may_be_constant(context: Context, name: str) -> bool:
    """Whether a symbol may be read as a constant of nature: not the problem's own, or declared a constant."""
    return name not in context.declared or kind_of(context, name) == "constant"


def readings_of(context: Context, name: str) -> tuple[Reading, ...]:
    """What a letter may stand for as a constant of nature: where the problem says which one, only that."""
    declaration = context.symbols.get(name)
    readings = constant_table().readings(name)
    if declaration is None or not declaration.constant:
        return readings
    return tuple(reading for reading in readings if reading.constant == declaration.constant)


def _digest(context: Context) -> str:
    """Digest of the content, whatever order and spelling the author chose."""
    content = {
        "symbols": {
            name: [
                said.kind,
                list(said.domain) if said.domain else None,
                said.is_sign_free,
                *([said.constant] if said.constant else []),
            ]
            for name, said in context.symbols.items()
        },
        "givens": context.givens,
        "definitions": [[canonical(member) for member in formula.members] for formula in context.definitions],
        "declared": sorted(context.declared),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# Reading and checking -----------------------------------------------------------------------------------------


def syntax_fault(error: LatexSyntaxError) -> str:
    """The parser's reason in one line, without the caret that a list of faults has no room for."""
    expected = f"; expected {' or '.join(error.expected)}" if error.expected else ""
    return f"`{error.latex}` does not parse: {error.found}, at character {error.position + 1}{expected}"


def _entries(table: object, where: str, faults: list[str]) -> dict[str, tuple[str, object]]:
    """Entries of a table by the parser's name of their key, with the key as written."""
    if not isinstance(table, Mapping):
        faults.append(f"{where}: {_named(table)} is no table of names; write name = value")
        return {}
    entries: dict[str, tuple[str, object]] = {}
    for key, value in table.items():
        try:
            name = _symbol_name(str(key))
        except LatexSyntaxError as error:
            faults.append(f"{where}, {key}: {syntax_fault(error)}")
            continue
        if name is None:
            faults.append(f"{where}, {key}: is no single symbol")
        elif name in entries:
            faults.append(f"{where}, {key}: the same symbol as {entries[name][0]}; keep one")
        else:
            entries[name] = (str(key), value)
    return entries


def _symbol_name(latex: str) -> str | None:
    """Name of the one symbol that this LaTeX is, or None."""
    parsed = parse_latex(latex)
    root: Expr | None = parsed.members[0] if parsed.kind == "expression" else None
    if root is None:
        return None
    return root.name if root.op == "sym" else _dotted_name(root) or None


def _read_symbols(table: object, faults: list[str]) -> dict[str, Declaration]:
    declarations = {}
    for name, (key, value) in _entries(table, "symbols", faults).items():
        where = f"symbols, {key}"
        said: object = {"kind": value} if isinstance(value, str) else value
        if not isinstance(said, Mapping):
            faults.append(f"{where}: {_named(value)} is no kind; kinds are {', '.join(SYMBOL_KINDS)}")
            continue
        faults += [
            f"{where}, {other}: unknown key; keys are {', '.join(_SYMBOL_KEYS)}"
            for other in said
            if other not in _SYMBOL_KEYS
        ]
        domain = _read_domain(said.get("domain"), where, faults)
        kind = said.get("kind", "real" if domain and domain[0] < 0 else _DEFAULT_KIND)
        if not isinstance(kind, str) or kind not in SYMBOL_KINDS:
            faults.append(f"{where}: unknown kind {_named(kind)}; kinds are {', '.join(SYMBOL_KINDS)}")
            continue
        if domain and (
            kind not in _BOUNDED_KINDS
            or (kind in ("positive", "integer") and domain[0] < 0)
            or (kind == "negative" and domain[1] > 0)
        ):
            faults.append(f"{where}, domain: [{domain[0]:g}, {domain[1]:g}] does not fit the kind {kind}")
        sign = said.get("sign")
        if sign not in (None, "free"):
            faults.append(f"{where}, sign: {_named(sign)} is unknown; the only value is free")
        declarations[name] = Declaration(kind, domain, sign == "free")
    return declarations


def _read_domain(value: object, where: str, faults: list[str]) -> tuple[float, float] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2 and all(_is_number(bound) for bound in value):
        low, high = float(value[0]), float(value[1])
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
    faults.append(f"{where}, domain: {_named(value)} is no pair of finite numbers, the lower one first")
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_givens(table: object, faults: list[str]) -> dict[str, str]:
    givens = {}
    for name, (key, value) in _entries(table, "givens", faults).items():
        text = str(value) if _is_number(value) else value
        if not isinstance(text, str):
            faults.append(f"givens, {key}: {_named(value)} is no value; write it as text, e.g. '2.00 kg'")
            continue
        try:
            read_quantity(text)
        except PrismError as error:
            faults.append(f"givens, {key}: {error}")
            continue
        givens[name] = text
    return givens


def _read_definitions(items: object, faults: list[str]) -> tuple[Formula, ...]:
    if not isinstance(items, list | tuple):
        faults.append(f"definitions: {_named(items)} is no list of equations")
        return ()
    definitions = []
    for place, item in enumerate(items, start=1):
        where = f"definitions, entry {place}"
        if not isinstance(item, str):
            faults.append(f"{where}: {_named(item)} is no LaTeX text")
            continue
        try:
            parsed = parse_latex(item)
        except LatexSyntaxError as error:
            faults.append(f"{where}: {syntax_fault(error)}")
            continue
        if parsed.kind != "equation":
            faults.append(f"{where}: `{item}` is no equation; write symbol = expression")
            continue
        definitions.append(parsed)
    return tuple(definitions)


def _named(value: object) -> str:
    """A wrong value as a reader recognises it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
