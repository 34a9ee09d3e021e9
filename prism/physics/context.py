r"""The problem's context: symbols with their kinds and domains, given values, and definitions.

A `Context` is plain data with one spelling for every name: keys go through the parser, so `\theta`, `{\theta}`
and `\bar{c}` against `\bar c` cannot come apart from the formulas. Everything an author can get wrong is found at
once.

Refused: a registry of known symbols (`k` is Coulomb's constant in one problem and a spring in the next; only the
problem knows), and warnings inside a context: what cannot be used is a fault.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, canonical, plain_parts, substituted, symbol, symbols, symbols_of, walk
from prism.algebra.symbols import CHANGES, symbol_of
from prism.errors import DataFileError, LatexSyntaxError, PrismError, count_of, named_type
from prism.inputs import require_text, value_faults
from prism.latex import parse as parse_latex
from prism.latex.macros import Macro, expand, expanded_values, read_macros
from prism.latex.parsing.marks import written_marks
from prism.physics.constants import Reading, constant_table
from prism.physics.implications import false_part, turns_into_another, without_superseded
from prism.physics.italic_units import with_typed_units
from prism.physics.quantities import Quantity, quantity_as_expr, read_quantity

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
_CONTEXT_KEYS = ("symbols", "givens", "definitions", "macros")
_EXAMPLE = """Context.from_dict({"symbols": {"x": "real"}, "givens": {"m": "2 kg"}, "definitions": ["p = m v"]})"""
_MAX_SIZE = 200_000  # characters and values of a context: each of its formulas is parsed


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the problem declares about one symbol.

    Attributes:
        kind: key of `SYMBOL_KINDS`.
        domain: lowest and highest value to draw, both finite, or None for the usual range of the kind.
        is_sign_free: the sign is a convention: a student may flip it, in all formulas or in none.
        constant: name in the table of the constant that the symbol is; empty leaves all constants that have the letter.
    """

    kind: str = _DEFAULT_KIND
    domain: tuple[float, float] | None = None
    is_sign_free: bool = False
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a problem declares about its symbols: kinds, given values, definitions. `Context()` declares nothing.

    `Context.from_dict({"symbols": {"x": "real"}})` builds one from plain values. The dictionaries are never
    changed after construction.

    Attributes:
        symbols: declared symbols by name, in the parser's spelling.
        givens: values as the author wrote them (`2.00 kg`), by name; each is readable by `read_quantity`.
        definitions: equations that hold by convention and may be used on both sides.
        declared: names that belong to the problem: those above and all that its statement mentions.
        macros: by name without backslash; they hold for formulas that are parsed with the context, and for solutions.
        digest: sha256 of the content; keys the random generator, so equal contexts draw equal points.
    """

    symbols: dict[str, Declaration] = field(default_factory=dict, hash=False)
    givens: dict[str, str] = field(default_factory=dict, hash=False)
    definitions: tuple[Formula, ...] = ()
    declared: frozenset[str] = frozenset()
    macros: dict[str, Macro] = field(default_factory=dict, hash=False)
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Add names that the context itself mentions to the declared ones, and compute the digest.

        Errors:
            PrismError: plain values, which `from_dict` takes.
        """
        if (
            not all(isinstance(each, Declaration) for each in self.symbols.values())
            or not all(isinstance(each, str) for each in self.givens.values())
            or not all(isinstance(each, Formula) for each in self.definitions)
            or not all(isinstance(each, Macro) for each in self.macros.values())
        ):
            raise PrismError(f"Context: takes declarations and formulas; of plain values it is made by {_EXAMPLE}")
        own = symbols(*(member for formula in self.definitions for member in formula.members))
        object.__setattr__(self, "declared", frozenset((*self.declared, *own, *self.symbols, *self.givens)))
        object.__setattr__(self, "digest", _digest(self))

    def __repr__(self) -> str:
        """Return how much the context declares, `<Context: 2 symbols, 3 givens, 0 definitions>`."""
        held = ("symbol", self.symbols), ("given", self.givens), ("definition", self.definitions)
        return f"<Context: {', '.join(count_of(len(each), noun) for noun, each in held)}>"

    def __hash__(self) -> int:
        """Return a hash of the digest."""
        return hash(self.digest)  # contexts are part of cache keys

    @property
    def words(self) -> frozenset[str]:
        """Return the declared names of several letters, such as `Bi`; the parser has to read each as one symbol."""
        return frozenset(name for name in self.declared if len(name) > 1 and name.isalpha())

    @property
    def functions(self) -> frozenset[str]:
        """Return the letters declared as functions, whose bracket holds an argument."""
        return frozenset(name for name, declaration in self.symbols.items() if declaration.kind == "function")

    @property
    def dotted(self) -> frozenset[str]:
        r"""Return the declared names with a dot, such as `\dot{m}`, which are symbols here and no derivatives."""
        return frozenset(name for name in self.declared if symbol_of(name).style == "dot")

    @property
    def factors(self) -> frozenset[str]:
        r"""Return the declared letters of `\delta` and `\Delta`, which are factors here and no changes, `\delta t`."""
        return CHANGES & self.declared

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each declared symbol by name."""
        return {name: declaration.kind for name, declaration in self.symbols.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Context:
        r"""Build a context from a mapping with `symbols`, `givens`, `definitions` and `macros`, all optional.

        Macros are a table of LaTeX (`{"vc": r"\vec{#1}"}`), and hold in the rest of the mapping too.
        A symbol is a kind (`"x": "real"`) or a table (`"x": {"kind": "real", "domain": [-1, 1], "sign": "free"}`).

        Errors:
            DataFileError: all faults at once, each naming the entry.

        >>> Context.from_dict({"symbols": {"\\theta": "angle"}}).symbols
        {'\\theta': Declaration(kind='angle', domain=None, is_sign_free=False, constant='')}
        """
        if not isinstance(data, Mapping):
            raise DataFileError("<context>", (f"found {named_type(data)}; expected a table, as in {_EXAMPLE}",))
        if faults := value_faults(data, most=_MAX_SIZE):
            raise DataFileError("<context>", tuple(faults))
        faults += [
            f"{key}: unknown key; keys are {', '.join(_CONTEXT_KEYS)}" for key in data if key not in _CONTEXT_KEYS
        ]
        macros = read_macros(data.get("macros", {}), faults)
        read = {key: expanded_values(data[key], macros) for key in data} if macros else data
        context = cls(
            _read_symbols(read.get("symbols", {}), faults),
            _read_givens(read.get("givens", {}), faults),
            _read_definitions(read.get("definitions", ()), faults),
            macros=macros,
        )
        if faults:
            raise DataFileError("<context>", tuple(faults))
        return context


def context_of(source: Context | Mapping[str, object] | None) -> Context:
    """Return a context as it is, that of a mapping as `Context.from_dict` takes it, or for None an empty one.

    Errors:
        DataFileError: all faults of the mapping.
    """
    if source is None:
        return EMPTY_CONTEXT
    return source if isinstance(source, Context) else Context.from_dict(source)


def parse(latex: str, *, context: Context | Mapping[str, object] | None = None) -> Formula:
    """Parse one formula; names of several letters that the context declares are one symbol, its macros are expanded.

    Args:
        latex: the formula.
        context: of the problem, or the mapping that `Context.from_dict` takes.

    Errors:
        DataFileError: faults of a mapping as context.
        LatexSyntaxError: what is not read, with its position; nothing is dropped in silence.
        PrismError: what is no text.

    >>> str(parse("Lo = h L/k")), str(parse("Lo = h L/k", context=Context(declared=frozenset(("Lo",)))))
    ('L*o = h*L/k', 'Lo = h*L/k')
    """
    require_text(latex, "latex", "LaTeX as text")
    context = context_of(context)
    if not context.macros or not (page := expand(latex, context.macros)).uses:
        return _parse_expanded(latex, context)
    try:
        return _parse_expanded(page.text, context)
    except LatexSyntaxError as error:
        at = page.span_in_original((error.position, error.position))[0]
        raise LatexSyntaxError(latex, at, error.found, error.expected, error.kind) from None


def with_written_names(context: Context, formulas: Iterable[Formula]) -> Context:
    r"""Return the context with each name of several letters declared that a formula writes upright, `\text{foo}`.

    Elsewhere the same letters in italics are that name too. A name whose letters are all symbols stays a product there.

    >>> with_written_names(Context(), [parse(r"\text{foo} = 3 m")]).words
    frozenset({'foo'})
    """
    used = context.declared.union(*map(symbols_of, formulas))
    bases = {read.base for read in map(symbol_of, used) if read.is_light} - context.words
    names = {name for name in bases if len(name) > 1 and name.isalpha() and name.isascii()}
    new = frozenset(name for name in names if not used.issuperset(name))
    return replace(context, declared=context.declared | new) if new else context


def with_defined_names(context: Context, formulas: Iterable[Formula], known: Collection[str]) -> Context:
    r"""Return the context with each letter declared that formulas define and would else read as something else.

    So is `\delta` where `\delta = \sqrt{K/m}` defines it: `\delta t` is a product then. So is `\dot m` behind
    `\dot m = \rho q`, unless m stands elsewhere: then it is a rate.

    Args:
        formulas: of a solution, as read so far.
        known: symbols of the problem, of which none gets another meaning.
    """
    formulas = tuple(formulas)
    defining = [f for f in formulas if f.kind in ("equation", "chain")]
    changes = {change for change in CHANGES for name in known if change in symbol_of(name).change}
    new = CHANGES.intersection(f.members[0].name for f in defining if f.members[0].op == "sym") - changes
    rates = {
        name: letter for f in defining if (name := _dotted_name(f.members[0]))
        and (letter := f.members[0].args[0]).name in written_marks(f.latex).dotted
    }  # fmt: skip
    if rates:
        meant = {symbol_of(name).unprimed for name in known}
        nodes = {node for f in formulas for member in f.members for node in _outside_rates(member)}
        new |= {name for name, letter in rates.items() if letter.name not in meant and letter not in nodes}
    return replace(context, declared=context.declared | new) if new - context.declared else context


def _outside_rates(node: Expr) -> Iterator[Expr]:
    """Yield the nodes of an expression but those below a first derivative by time of a letter."""
    yield node
    for arg in () if _dotted_name(node) else node.args:
        yield from _outside_rates(arg)


def _parse_expanded(latex: str, context: Context) -> Formula:
    """Parse a formula without macros; see `parse`."""
    read = with_typed_units(parse_latex(latex, context.words, context.functions))
    written = _without_what_falls(read, latex)
    written = _with_words_as_factors(written, context.words) if context.words else written
    written = _with_changes_as_products(written, context.factors) if context.factors else written
    written = _with_dots_as_names(written, context.dotted) if context.dotted else written
    return _with_functions_varying(written, context.functions) if context.functions else written


def _with_functions_varying(written: Formula, functions: frozenset[str]) -> Formula:
    """Let the declared functions of a formula, if it gives them no argument, depend on what it differentiates by."""
    nodes = [node for member in written.members for node in walk(member) if node.op in ("derivative", "partial")]
    variables = {variable.name for node in nodes for variable in node.args[1:] if variable.op == "sym"}
    bare = (functions & symbols_of(written)) - {name for name, _ in written.depends}
    pairs = {(name, variable) for name in bare for variable in variables - {"?"}}
    parts = tuple(_with_functions_varying(part, functions) for part in written.parts)
    return replace(written, parts=parts, depends=written.depends | pairs) if pairs or parts else written


def _without_what_falls(written: Formula, latex: str) -> Formula:
    r"""Return joined formulas without those that the others replace; see `implications`.

    Errors:
        LatexSyntaxError: a statement of literals among them is false, `F \Rightarrow 1 = 0`.
    """
    if "to" in written.relations and turns_into_another(written):
        raise LatexSyntaxError(latex, 0, "a value that turns into another one", ("one value",), "contradiction")
    if not written.parts:
        return written
    if (false := false_part(written)) is not None:
        found = f"the false statement {false}, which withdraws what it is joined to"
        raise LatexSyntaxError(latex, max(latex.find(false.latex), 0), found, (), "contradiction")
    return without_superseded(written)


def _with_words_as_factors(written: Formula, words: frozenset[str]) -> Formula:
    """Replace calls of declared words in a formula by products: if `Re` is declared, `Re (f/0.3)^4` is no real part."""
    if written.parts:
        return replace(written, parts=tuple(_with_words_as_factors(part, words) for part in written.parts))
    if not any(node.op == "apply" and node.name in words for member in written.members for node in walk(member)):
        return written
    return replace(written, members=tuple(_word_as_factor(member, words) for member in written.members))


def _word_as_factor(node: Expr, words: frozenset[str]) -> Expr:
    """Replace calls of the declared `words` by products in one expression; see `_with_words_as_factors`."""
    args = tuple(_word_as_factor(arg, words) for arg in node.args)
    called, power = (node.args[0], args[1:]) if node.op == "pow" else (node, ())
    if called.op == "apply" and called.name in words and len(called.args) == 1:
        inner = _word_as_factor(called.args[0], words)
        return Expr("mul", (symbol(called.name), Expr("pow", (inner, *power)) if power else inner))
    return Expr(node.op, args, node.name, node.value) if args != node.args else node


def _with_dots_as_names(written: Formula, dotted: frozenset[str]) -> Formula:
    r"""Replace derivatives written with a dot by symbols in a formula, where such a name (`\dot{m}`) is in `dotted`."""
    found = {
        node: symbol(name) for part in plain_parts(written) for member in part.members for node in walk(member)
        if node.op == "derivative" and (name := _dotted_name(node)) in dotted
    }  # fmt: skip
    return substituted(written, found) if found else written


def _with_changes_as_products(written: Formula, factors: frozenset[str]) -> Formula:
    r"""Replace changes by products in a formula, `\delta t` by `\delta` times t, where the letter is in `factors`."""
    found = {
        symbol(read.name): Expr("mul", (symbol(factor), symbol(read.name[len(read.change) :])))
        for read in map(symbol_of, symbols_of(written)) for factor in factors if factor in read.change
    }  # fmt: skip
    return substituted(written, found) if found else written


def _dotted_name(node: Expr) -> str:
    r"""Return the name `\dot{x}` if a node is the first derivative of x by time; empty for anything else."""
    is_rate = node.op == "derivative" and node.name == "1" and node.args[1:] == (symbol("t"),)
    return rf"\dot{{{node.args[0].name}}}" if is_rate and node.args[0].op == "sym" else ""


def kind_of(context: Context, name: str) -> str:
    """Return the declared kind of a symbol; `positive` if the problem does not declare it."""
    declaration = context.symbols.get(name)
    return declaration.kind if declaration else _DEFAULT_KIND


@dataclass(frozen=True, slots=True)
class Value:
    """The given value of a symbol.

    Attributes:
        text: as the author wrote it.
        quantity: in coherent SI units.
        expr: the same as a number times base units.
    """

    text: str
    quantity: Quantity
    expr: Expr


@lru_cache(maxsize=256)
def given_values(context: Context) -> Mapping[str, Value]:
    """Return the given values of a problem by symbol, parsed; the mapping is never changed."""
    return {name: Value(text, read_quantity(text), quantity_as_expr(text)) for name, text in context.givens.items()}


def may_be_constant(context: Context, name: str) -> bool:
    """Return True if a symbol may be read as a constant of nature: undeclared, or declared as a constant."""
    return name not in context.declared or kind_of(context, name) == "constant"


def constant_readings(context: Context, name: str) -> tuple[Reading, ...]:
    """Return the constants of nature that a symbol may stand for; only the declared one if the problem names it."""
    declaration = context.symbols.get(name)
    readings = constant_table().readings(name)
    if declaration is None or not declaration.constant:
        return readings
    return tuple(reading for reading in readings if reading.constant == declaration.constant)


def _digest(context: Context) -> str:
    """Return the sha256 of a context's content, whatever order and spelling its author used."""
    content = {
        "symbols": {
            name: [
                declared.kind,
                list(declared.domain) if declared.domain else None,
                declared.is_sign_free,
                *([declared.constant] if declared.constant else []),
            ]
            for name, declared in context.symbols.items()
        },
        "givens": context.givens,
        "definitions": [[canonical(member) for member in formula.members] for formula in context.definitions],
        "declared": sorted(context.declared),
    }
    if context.macros:
        content["macros"] = {name: [macro.body, macro.n_arguments] for name, macro in context.macros.items()}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# Reading and checking -----------------------------------------------------------------------------------------


def describe_syntax_error(error: LatexSyntaxError) -> str:
    """Describe a LaTeX syntax error in one line."""
    expected = f"; expected {' or '.join(error.expected)}" if error.expected else ""
    return f"`{error.latex}` does not parse: {error.found}, at character {error.position + 1}{expected}"


def _read_entries(table: object, where: str, faults: list[str]) -> dict[str, tuple[str, object]]:
    """Map the names of a table's keys, as the parser spells them, to (key as written, value).

    Args:
        table: a mapping; anything else is a fault.
        where: words that name the table in a fault.
        faults: collects what is wrong; such entries are left out.
    """
    if not isinstance(table, Mapping):
        faults.append(f"{where}: {_quote_value(table)} is no table of names; write name = value")
        return {}
    entries: dict[str, tuple[str, object]] = {}
    for key, value in table.items():
        try:
            name = parse_symbol_name(str(key))
        except LatexSyntaxError as error:
            faults.append(f"{where}, {key}: {describe_syntax_error(error)}")
            continue
        if name is None:
            faults.append(f"{where}, {key}: is no single symbol")
        elif name in entries:
            faults.append(f"{where}, {key}: the same symbol as {entries[name][0]}; keep one")
        else:
            entries[name] = (str(key), value)
    return entries


def parse_symbol_name(latex: str) -> str | None:
    """Return the name of a symbol written in LaTeX; None if the text is no single symbol."""
    parsed = parse_latex(latex, frozenset((latex,)) if latex.isalpha() and latex.isascii() else frozenset())
    root: Expr | None = parsed.members[0] if parsed.kind == "expression" else None
    if root is None:
        return None
    return root.name if root.op == "sym" else _dotted_name(root) or None


def _read_symbols(table: object, faults: list[str]) -> dict[str, Declaration]:
    """Read the declarations of a table by symbol; what is wrong is added to `faults`."""
    declarations = {}
    for name, (key, value) in _read_entries(table, "symbols", faults).items():
        where = f"symbols, {key}"
        entry: object = {"kind": value} if isinstance(value, str) else value
        if not isinstance(entry, Mapping):
            faults.append(f"{where}: {_quote_value(value)} is no kind; kinds are {', '.join(SYMBOL_KINDS)}")
            continue
        faults += [
            f"{where}, {other}: unknown key; keys are {', '.join(_SYMBOL_KEYS)}"
            for other in entry
            if other not in _SYMBOL_KEYS
        ]
        domain = _read_domain(entry.get("domain"), where, faults)
        kind = entry.get("kind", "real" if domain and domain[0] < 0 else _DEFAULT_KIND)
        if not isinstance(kind, str) or kind not in SYMBOL_KINDS:
            faults.append(f"{where}: unknown kind {_quote_value(kind)}; kinds are {', '.join(SYMBOL_KINDS)}")
            continue
        if domain and (
            kind not in _BOUNDED_KINDS
            or (kind in ("positive", "integer") and domain[0] < 0)
            or (kind == "negative" and domain[1] > 0)
        ):
            faults.append(f"{where}, domain: [{domain[0]:g}, {domain[1]:g}] does not fit the kind {kind}")
        sign = entry.get("sign")
        if sign not in (None, "free"):
            faults.append(f"{where}, sign: {_quote_value(sign)} is unknown; the only value is free")
        declarations[name] = Declaration(kind, domain, sign == "free")
    return declarations


def _read_domain(value: object, where: str, faults: list[str]) -> tuple[float, float] | None:
    """Read a domain as (lowest, highest); None if `value` is None, or if it is wrong, which is added to `faults`.

    Args:
        where: words that name the entry in a fault.
    """
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2 and all(_is_number(bound) for bound in value):
        low, high = float(value[0]), float(value[1])
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
    faults.append(f"{where}, domain: {_quote_value(value)} is no pair of finite numbers, the lower one first")
    return None


def _is_number(value: object) -> bool:
    """Return True for an int or a float that is no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_givens(table: object, faults: list[str]) -> dict[str, str]:
    """Read given values as text by symbol; those that are no quantity are left out and added to `faults`."""
    givens = {}
    for name, (key, value) in _read_entries(table, "givens", faults).items():
        text = str(value) if _is_number(value) else value
        if not isinstance(text, str):
            faults.append(f"givens, {key}: {_quote_value(value)} is no value; write it as text, e.g. '2.00 kg'")
            continue
        try:
            read_quantity(text)
        except PrismError as error:
            faults.append(f"givens, {key}: {error}")
            continue
        givens[name] = text
    return givens


def _read_definitions(items: object, faults: list[str]) -> tuple[Formula, ...]:
    """Read a list of equations in LaTeX; those that do not parse, or are no equation, are added to `faults`."""
    if not isinstance(items, list | tuple):
        faults.append(f"definitions: {_quote_value(items)} is no list of equations")
        return ()
    definitions = []
    for place, item in enumerate(items, start=1):
        where = f"definitions, entry {place}"
        if not isinstance(item, str):
            faults.append(f"{where}: {_quote_value(item)} is no LaTeX text")
            continue
        try:
            parsed = parse_latex(item)
        except LatexSyntaxError as error:
            faults.append(f"{where}: {describe_syntax_error(error)}")
            continue
        if parsed.kind != "equation":
            faults.append(f"{where}: `{item}` is no equation; write symbol = expression")
            continue
        definitions.append(parsed)
    return tuple(definitions)


def _quote_value(value: object) -> str:
    """Return a value as JSON, cut to 60 characters, for the text of a fault."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


EMPTY_CONTEXT = Context()
"""A context that declares nothing: every symbol is a positive real number."""
