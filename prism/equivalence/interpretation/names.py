r"""Names of functions and letters of indices: what can be told of a formula without evaluating anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from prism.algebra.columns import has_vectors
from prism.algebra.expr import (
    Expr,
    Formula,
    index_letters,
    is_infinite,
    nodes_with,
    ops_of,
    rewritten,
    substitute,
    symbol,
    symbols,
    traits_of,
    walk,
    with_args,
)
from prism.algebra.symbols import HAT, TURNED, VECTOR, labels_of, replace_index, symbol_of
from prism.algebra.terms import number_of, terms_of
from prism.equivalence.interpretation.quantum.quantum_names import may_have_quanta
from prism.latex.parsing.marks import condition_in, written_marks

_NAMES_KEPT = 4096  # names, and sets of them, of which is kept what their indices are
FUNCTIONS = (
    "exp", "ln", "log10", "sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "abs", "sgn", "step", "erf", "erfc", r"\Gamma", "digamma", r"\zeta", "K",
    "E", "Si", "Ci", "Ei", "Ai",
)  # fmt: skip
"""Functions of one argument that have a value of their own."""
STEPS = frozenset(("sgn", "sign", r"\Theta", r"\theta", "u", "H"))
"""Names of functions with a step at 0."""
CHOICES = STEPS | {"max", "min"}
"""Names of functions that have cases."""
_DELTAS = (r"\delta", r"\delta'", r"\delta''", *(rf"\delta^{{({n})}}" for n in (2, 3, 4)))
NAMED = frozenset((*FUNCTIONS, *CHOICES, *_DELTAS, "Re", "Im", "arg", "det", "tr", "Tr", "O", "sinc"))
"""Names of functions that have a value of their own; the other names that are called are unknown functions."""

INDICES = frozenset(("i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "a", "b", r"\mu", r"\nu", r"\alpha", r"\beta",
                      r"\rho", r"\sigma", r"\lambda", r"\kappa", r"\gamma", r"\tau"))  # fmt: skip
MATERIAL = "D"  # the order of a material derivative
FLOWS = frozenset("uvUV")  # along which it is taken
UNIT_MATRICES = frozenset((r"\hat{I}", r"\vec{I}", r"\vec{1}", r"\hat{1}", "I", r"\mathbb{1}", r"\mathbb{I}"))
"""Names of unit matrices and unit operators, where a formula has matrices or operators."""
COUNTED = frozenset(("n", "m", "k", "j", "l", r"\ell", "N", "M"))
"""Letters that are whole numbers where a formula shows it."""
_FUNCTIONS = frozenset(("sqrt", "exp", "ln", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                        "tanh", "asinh", "acosh", "atanh"))  # fmt: skip
_ALGEBRA = _FUNCTIONS | {"num", "sym", "const", "unit", "add", "sub", "mul", "div", "neg", "pow", "root"}
_SHIFT = frozenset((r"\lambda", "I"))  # of a matrix, by a multiple of the unit matrix
_BRACKETED = frozenset(("mul", "add", "sub", "div", "sqrt", "neg", "pow"))
_DERIVATIVES = ("derivative", "partial")
_WITH_ORDER = frozenset("JYNIKPHLTjn")
_ORDERS = frozenset((r"\ell", r"\nu", r"\alpha", r"\mu"))  # beside the letters that are no commands
_IDENTITIES = frozenset(("P_1", "P_{1}", "T_1", "T_{1}"))
_PI = Expr("const", name="pi")
_MODES = frozenset(("n", "m", "j", r"\ell"))  # letters of whole numbers beside pi
_OPEN_SUMS = frozenset(("add", "sub"))
_OPEN_FUNCTIONS = frozenset(("sin", "cos", "tan", "asin", "acos", "atan", "exp", "ln", "div"))
_OF_MOTION = frozenset(("x", "y", "v", "r", "s", "p", "q", r"\theta", r"\omega"))
_OF_PULSES = frozenset(("u", "H"))


def _is_bold_capital(node: Expr) -> bool:
    """Return True for a bold capital letter, a matrix, whatever its scripts."""
    read = symbol_of(node.name)
    return node.op == "sym" and read.is_vector and len(read.base) == 1 and read.base.isupper()


def _is_bold_small(node: Expr) -> bool:
    """Return True for a bold small letter, a column."""
    read = symbol_of(node.name)
    return node.op == "sym" and read.is_vector and read.base.islower() and not (read.primes or read.sup)


def bold_matrices(node: Expr) -> frozenset[str]:
    """Return the bold capitals that a node shows to be matrices.

    They stand side by side in a product, without a sign between, or a function is taken of them: a vector has none.
    """
    if node.op in _FUNCTIONS:
        return _bold_terms(node.args[0])
    pairs = zip(node.args, node.args[1:], strict=False) if node.op == "mul" else ()
    side_by_side = [pair for pair in pairs if all(map(_is_bold_capital, pair))]
    return frozenset(each.name for pair in side_by_side for each in pair)


def _bold_terms(node: Expr) -> frozenset[str]:
    """Return the bold capitals that are terms of an expression, alone or with numbers before and below them.

    A product with two parts that hold vectors gives none; an operator such as a power or a function is not looked into.
    """
    if _is_bold_capital(node):
        return frozenset((node.name,))
    args = node.args if node.op in ("add", "sub", "neg", "mul") else node.args[:1] if node.op == "div" else ()
    bold = [arg for arg in args if has_vectors(arg)] if node.op == "mul" else args
    return frozenset() if node.op == "mul" and len(bold) > 1 else frozenset().union(*map(_bold_terms, bold))


def is_turned(node: Expr) -> bool:
    r"""Return True for a bold letter that is transposed, or something bold in brackets that is: `\vec v^T`."""
    if node.op == "sym":
        return symbol_of(node.name).is_vector and symbol_of(node.name).sup in TURNED
    is_power = node.op == "pow" and node.args[1] == symbol("T")
    is_opaque = node.op == "opaque" and node.name in ("T", "^T", "^{T}", r"\top")
    return (is_power or is_opaque) and has_vectors(node.args[0])


def capitals_among_columns(nodes: Sequence[Expr]) -> frozenset[str]:
    r"""Return the capitals in light type that are matrices because of the bold columns and rows beside them.

    So is A between both, `\vec v^T A\vec u`, beside a product of a column and a row, `A + \vec u\vec v^T`, and
    where its inverse stands beside either in a formula with rows.
    """
    if not any(map(is_turned, nodes)):
        return frozenset()
    found: set[str] = set()
    for node in nodes:
        if node.op in ("add", "sub") and any(map(_has_outer_product, node.args)):
            found |= {arg.name for arg in node.args if _is_capital(arg)}
        elif node.op == "mul":
            sides = [_is_side(arg) for arg in node.args]
            for k, arg in enumerate(node.args):
                is_inverse = arg.op == "pow" and number_of(arg.args[1]) == -1
                base = arg.args[0] if is_inverse else arg
                before, behind = (sides[k - 1] if k else ""), (sides[k + 1] if k + 1 < len(sides) else "")
                if _is_capital(base) and ((before, behind) == ("row", "column") or (is_inverse and before + behind)):
                    found.add(base.name)
    return frozenset(found)


def matrices_before_columns(members: Sequence[Expr], nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the bold capitals right before a bold small letter in what is added or equal to a column: A of `Ax = b`.

    Two vectors side by side have no product that is a vector.

    Args:
        members: both sides of an equation, or an expression alone; `nodes`: in them.
    """
    found: set[str] = set()
    for group in (members, *(node.args for node in nodes if node.op in ("add", "sub"))):
        bold = [_bold_factors(term) for member in group for term in terms_of(member)]
        if any(len(letters) == 1 and _is_bold_small(letters[0]) for letters in bold):
            pairs = [letters for letters in bold if len(letters) == 2]
            found |= {one.name for one, two in pairs if _is_bold_capital(one) and _is_bold_small(two)}
    return frozenset(found)


def _bold_factors(term: Expr) -> list[Expr]:
    """Return the bold letters among the factors of a term, in order, those that are differentiated too."""
    factors = _flat(term) if term.op == "mul" else [term]
    letters = [factor.args[0] if factor.op in _DERIVATIVES else factor for factor in factors]
    return [letter for letter in letters if letter.op == "sym" and symbol_of(letter.name).is_vector]


def _is_side(node: Expr) -> str:
    """Return `column` for a bold small letter, its derivative and sums of such, `row` for what is bold and transposed.

    Return an empty string for anything else.
    """
    if is_turned(node):
        return "row"
    if node.op in ("add", "sub"):
        return "column" if any(_is_side(term) == "column" for term in node.args) else ""
    letter = node.args[0] if node.op in _DERIVATIVES else node
    return "column" if _is_bold_small(letter) else ""


def _is_capital(node: Expr) -> bool:
    """Return True for a capital letter in light type."""
    read = symbol_of(node.name)
    return node.op == "sym" and read.is_light and len(read.base) == 1 and read.base.isupper() and not read.sup


def _has_outer_product(node: Expr) -> bool:
    """Return True for a term with a column right before a row."""
    sides = [_is_side(arg) for arg in node.args] if node.op == "mul" else []
    return ("column", "row") in pairwise(sides)


def shifted_matrices(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the matrices A of products `(A - \lambda I) v`, in which I is the unit matrix.

    In light type lambda has to be the eigenvalue: `(L - \omega I) t` has a moment of inertia.
    """
    found: set[str] = set()
    for node in (node for node in nodes if node.op == "mul"):
        for factor in (arg for arg in node.args if arg.op in ("add", "sub") and len(arg.args) == 2):
            one, two = factor.args
            is_shift = two.op == "mul" and len(two.args) == 2 and all(arg.op == "sym" for arg in (one, *two.args))
            if is_shift and (
                (_is_bold_capital(one) and two.args[1].name == r"\vec{I}")
                or (two.args == (symbol(r"\lambda"), symbol("I")) and one.name[:1].isupper())
            ):
                found.add(one.name)
    return frozenset(found)


def is_plain_algebra(f: Formula) -> bool:
    """Return True for sums, products, powers and elementary functions of letters that can only be numbers.

    Neither of two such formulas has anything beyond algebra (`constructs_of`), which is asked of the others.
    """
    traits = traits_of(f)
    if f.parts or f.depends or not traits.ops <= _ALGEBRA or ("T" in traits.names and "pow" in traits.ops):
        return False
    return all(map(_is_name_of_number, traits.names)) and not traits.names >= _SHIFT


@lru_cache(_NAMES_KEPT)
def _is_name_of_number(name: str) -> bool:
    r"""Return True for a name that no rule beyond algebra looks at: no style, prime, upper index or letters as indices.

    `\Delta x` and subscripts of one word are such names. No such names are d, K, deltas with a subscript, special
    functions and numbers that may be quantum numbers.
    """
    read = symbol_of(name)
    is_bare = read.change in ("", r"\Delta ") and symbol_of(read.letter).is_light and not (read.primes or read.sup)
    if not is_bare or name in ("d", "K") or (read.base == r"\delta" and read.sub):
        return False
    has_word = not read.sub or read.sub.replace("\\", "", 1).isalnum()
    return has_word and not (letters_of(name) or is_special(name) or may_have_quanta(name))


def is_lone_differential(f: Formula) -> bool:
    r"""Return True for `d(pV) = 0`, where d hardly is a factor."""
    sides = [member for member in f.members if member.value != 0]
    return f.kind == "equation" and len(sides) == 1 and sides[0].op == "mul" and sides[0].args[0] == symbol("d")


def has_bare_differentials(f: Formula, other: Formula) -> bool:
    r"""Return True for `d(\rho a^3) = -p\,d(a^3)` beside a formula of rates without a letter d."""
    terms = [term for member in f.members for term in terms_of(member)]
    has_rates = any(node.op in _DERIVATIVES for member in other.members for node in walk(member))
    if f.kind != "equation" or not has_rates or symbol("d") in {n for m in other.members for n in walk(m)}:
        return False
    return all(
        term.value == 0 or (term.op == "mul" and any(
            left == symbol("d") and (right.op != "num") for left, right in pairwise(_flat(term)))) for term in terms
    )  # fmt: skip


def _flat(node: Expr) -> list[Expr]:
    """Return the factors of a product, those of its first factors too."""
    return [part for arg in node.args for part in (_flat(arg) if arg.op == "mul" else [arg])]


def order_of(name: str) -> tuple[str, str] | None:
    """Split the name of a special function with an order into letter and order, as `J_0`; None for another name."""
    read = symbol_of(name)
    labels = labels_of(read.sub) if read.head in _WITH_ORDER and not read.sup else ()
    order = order_letter(labels[0].replace("/2", "")) if len(labels) == 1 else None
    is_order = "".join(labels).replace("/2", "").isdigit() or (order is not None and _is_latin(order[0], _ORDERS))
    return (read.head, "".join(labels)) if is_order else None


def special_factors(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the names of special functions that stand right before a bracket, as `H_2` of `H_2(\sqrt a\,x)`.

    K before a sine may be an elliptic integral. P_1 and T_1, which give back their argument, are none.
    """
    return frozenset(
        left.name
        for node in nodes if node.op == "mul"
        for left, right in zip(node.args, node.args[1:], strict=False)
        if left.name not in _IDENTITIES
        if (left.op == "sym" and right.op in _BRACKETED and order_of(left.name) is not None)
        or (left.name == "K" and right.op in ("sin", "cos"))
    )  # fmt: skip


def order_letter(order: str) -> tuple[str, int] | None:
    """Split an order as `n+1` into letter and shift; None for a number."""
    has_shift = len(order) > 2 and order[-2] in "+-"
    letter = order[:-2] if has_shift else order
    return (letter, int(order[-2:]) if has_shift else 0) if symbol_of(letter).is_light else None


def is_special(name: str) -> bool:
    """Return True for the name of a special function with an order, or of a spherical harmonic."""
    return order_of(name) is not None or (symbol_of(name).head == "Y" and bool(symbol_of(name).sub))


def harmonic_indices(name: str) -> tuple[str, str] | None:
    """Return the indices l and m in the name of a spherical harmonic, `Y_{lm}`, `Y_l^{m*}`; None for another name."""
    read = symbol_of(name)
    labels = (*labels_of(read.sub), *labels_of(read.sup.replace("*", ""))) if read.head == "Y" else ()
    if len(labels) != 2 or not all(_is_latin(label, {r"\ell"}) for label in (labels[0], labels[1].replace("-", ""))):
        return None
    return labels


def _is_latin(label: str, others: Set[str]) -> bool:
    """Return True for a Latin letter or a digit, primed or not, and for some other letters."""
    base = symbol_of(label).base
    return base.isalnum() or base in others


def is_harmonic_of_letters(name: str) -> bool:
    r"""Return True for `Y_{lm}` and `Y_{\ell m}`, which hardly are anything else; `Y_{12}` is an admittance."""
    degree, order = (symbol_of(index).base for index in harmonic_indices(name) or ("", ""))
    return degree in ("l", r"\ell") and order == "m"


@lru_cache(_NAMES_KEPT)
def letters_of(name: str) -> tuple[str, ...]:
    r"""Return the letters of indices in a name, each as often as it stands there: i, j of `T_{ij}`.

    >>> letters_of(r"F^{\mu\nu}"), letters_of("v_{max}"), letters_of("u_{i,j}")
    (('\\mu', '\\nu'), (), ('i', 'j'))
    """
    return tuple(letter for letter, _ in placed_letters(name))


@lru_cache(_NAMES_KEPT)
def placed_letters(name: str) -> tuple[tuple[str, bool], ...]:
    r"""Return the letters of indices in a name, each with True if it stands above.

    >>> placed_letters(r"T^{\lambda}{}_\lambda")
    (('\\lambda', True), ('\\lambda', False))
    """
    found: list[tuple[str, bool]] = []
    for script, is_above in symbol_of(name).scripts:
        labels = labels_of(script)
        letters = [label for label in labels if not label.isdigit()]
        if not labels or not INDICES.issuperset(letters) or len(labels) > 4:
            return ()
        found += [(letter, is_above) for letter in letters]
    return tuple(found)


def placed_variable(name: str) -> tuple[str, bool]:
    r"""Return the name of what something is differentiated by, and True if it is a raised index, `^\mu`."""
    read = symbol_of(name)
    return (read.sup, True) if read.sup and not read.base else (name, False)


def is_coordinate(name: str) -> bool:
    """Return True for a coordinate of the place of fields, `x_2`."""
    return symbol_of(name).head == "x" and bool(symbol_of(name).sub)


def joined(product: Expr, join: Callable[[Expr, Expr], Expr | None]) -> Expr:
    """Return a product in which neighbours are one factor where `join` makes one of them; any other node as it is."""
    if product.op != "mul":
        return product
    factors = list(product.args[:1])
    for factor in product.args[1:]:
        made = join(factors[-1], factor)
        factors[len(factors) - (made is not None) :] = [factor if made is None else made]
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


def with_called(product: Expr, names: Set[str]) -> Expr:
    """Return a product in which the letters `names` are called with the factor behind them; any other node as it is."""
    calls = {symbol(name) for name in names}
    return joined(product, lambda left, right: Expr("apply", (right,), left.name) if left in calls else None)


def renamed(node: Expr, letter: str, value: Expr) -> Expr:
    """Return an expression with a letter replaced by another or by a number, in subscripts too."""
    spelled = value.name if value.op == "sym" else str(value)
    names = {symbol(name): symbol(replace_index(name, letter, spelled)) for name in symbols(node)}
    return substitute(node, {**names, symbol(letter): value})


def trace_letters(nodes: Sequence[Expr]) -> frozenset[str]:
    r"""Return the letters that are traces of tensors: R of `R\,g_{\mu\nu}` beside `R_{\mu\nu}`, and T.

    A letter that stands elsewhere too is none.
    """
    pairs = {
        symbol_of(node.name).head for node in nodes
        if node.op == "sym" and len(letters_of(node.name)) == 2 and all(map(is_greek, letters_of(node.name)))
    }  # fmt: skip
    beside: Counter[str] = Counter()
    for node in nodes:
        factors = node.args if node.op == "mul" else ()
        if any(arg.op == "sym" and symbol_of(arg.name).head == "g" != arg.name for arg in factors) and "g" in pairs:
            beside.update(arg.name for arg in factors if arg.op == "sym" and arg.name in ("R", "T"))
    every = Counter(node.name for node in nodes if node.op == "sym")
    return frozenset(name for name, count in beside.items() if name in pairs and every[name] == count)


def is_greek(letter: str) -> bool:
    """Return True for a Greek letter of an index."""
    return letter[:1] == "\\"


def covariant_index(node: Expr) -> str:
    r"""Return the index of a covariant derivative, \mu of `\nabla_\mu V^\nu`; empty for another node."""
    read = symbol_of(node.name)
    return read.sub if node.op == "nabla" and read.head == "grad" and read.sub in INDICES else ""


def with_raised_indices(f: Formula) -> Formula:
    r"""Return a formula with an exponent as an index that stands below elsewhere in it: `A_\alpha B^\alpha`."""
    nodes = [node for member in f.members for node in walk(member)]
    raised = {node.args[1].name for node in nodes if _has_raised(node)}
    if raised:
        below = {letter for node in nodes if node.op == "sym" for letter in letters_of(node.name)}
        raised &= below | set(map(covariant_index, nodes))
    if not raised:
        return f
    return rewritten(f, lambda node: _raised(node, raised))


def _has_raised(node: Expr) -> bool:
    r"""Return True for a letter with a Greek index as its exponent, or a differential with any: `B^\alpha`, `dx^i`."""
    if node.op != "pow" or node.args[1].op != "sym" or node.args[1].name not in INDICES:
        return False
    base = node.args[0]
    is_differential = base.op == "differential" and base.args[0].op == "sym"
    return is_differential or (base.op == "sym" and is_greek(node.args[1].name))


def _raised(node: Expr, letters: Set[str]) -> Expr:
    """Return a power as a letter with an index, or its differential, if the exponent is one."""
    if not _has_raised(node) or node.args[1].name not in letters:
        return node
    base, index = node.args
    letter = base if base.op == "sym" else base.args[0]
    if "^" in letter.name:
        return node
    named = symbol(f"{letter.name}^{{{index.name}}}")
    return named if base.op == "sym" else with_args(base, (named,))


def up_and_down(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the Greek letters that stand as an index once above and once below: \mu of `p^\mu p_\mu`."""
    found: tuple[set[str], set[str]] = set(), set()
    for node in nodes:
        if node.op == "sym":
            for letter, is_above in placed_letters(node.name):
                found[is_above].add(letter)
        elif node.op in _DERIVATIVES:
            for letter, is_above in (placed_variable(arg.name) for arg in node.args[1:] if arg.op == "sym"):
                found[is_above].add(letter)
    return frozenset(letter for letter in found[0] & found[1] & INDICES if is_greek(letter))


def free_letters(node: Expr, tensors: frozenset[str] | None = None) -> Counter[str]:
    """Return the letters of indices that are free in an expression, after pairs in products are summed over."""
    counts = letter_counts(node)
    kept = {letter for letter, count in counts.items() if count == 1}
    return Counter({letter: 1 for letter in kept if tensors is None or letter in tensors})


@lru_cache(4096)
def paired_letters(node: Expr) -> tuple[str, ...]:
    """Return the letters of indices that stand twice in a term; none of a sum, whose terms have their own."""
    if node.op in ("add", "sub", "neg", "sum"):
        return ()
    return tuple(letter for letter, count in letter_counts(node).items() if count == 2)


@lru_cache(4096)
def factors_by_index(product: Expr, letters: tuple[str, ...]) -> Expr:
    r"""Return a product of numbers with the factors of each of some paired indices together, fewest free indices first.

    So `T_{ij}A_{jk}B_{ki}` is summed over j for each i and k, and then over these: chains of n tensors in n steps.
    """
    factors = list(product.args)
    while True:
        groups = (
            [arg for arg in factors if letter in letter_counts(arg)]
            for letter in letters if letter in paired_letters(Expr("mul", tuple(factors)))
        )  # fmt: skip
        inner = [Expr("mul", tuple(group)) for group in groups if 1 < len(group) < len(factors)]
        if not inner:
            return Expr("mul", tuple(factors))
        together = min(inner, key=lambda each: len(free_letters(each)))
        factors = [together, *(arg for arg in factors if arg not in together.args)]


def letter_counts(node: Expr) -> Counter[str]:
    """Return how often each letter of an index stands in a term: twice is a pair."""
    if not have_indices(symbols(node), not ops_of(node).isdisjoint(_DERIVATIVES)):
        return Counter()
    if node.op == "sym":
        return Counter(letters_of(node.name))
    if node.op in ("add", "sub", "neg", "relation"):
        total: Counter[str] = Counter()
        for arg in node.args:
            total |= free_letters(arg)
        return total
    if node.op in _DERIVATIVES:
        total = Counter(free_letters(node.args[0]))
        for variable in node.args[1:]:
            name, _ = placed_variable(variable.name) if variable.op == "sym" else ("", False)
            total.update([name] if name in INDICES else letters_of(name))
        return total
    if node.op in ("mul", "div", "dot"):
        total = Counter()
        for arg in node.args:
            total.update(free_letters(arg))
        return total
    if node.op == "pow" and node.args[1].value == 2:
        inner = free_letters(node.args[0])
        return inner + inner
    if node.op in ("sum", "product", "integral"):
        bound = index_letters(node.args[1]) if len(node.args) > 1 else ()
        return Counter({key: count for key, count in free_letters(node.args[0]).items() if key not in bound})
    total = Counter()
    for arg in node.args:
        total |= free_letters(arg)
    return total


@lru_cache(_NAMES_KEPT)
def have_indices(names: frozenset[str], may_be_variables: bool) -> bool:
    """Return True if a name has letters of indices, or may be one by which something is differentiated."""
    return any(letters_of(name) or (may_be_variables and placed_variable(name)[0] in INDICES) for name in names)


def are_balanced(members: Iterable[Expr]) -> bool:
    """Return True if all terms of all members have the same free indices, but for terms that have none at all.

    A Greek one stands above in all of them or below in all.
    """
    terms = [term for member in members for term in terms_of(member)]
    found = {frozenset(free_letters(term)) for term in terms}
    if len(found - {frozenset()}) > 1:
        return False
    places: dict[str, set[bool]] = {}
    for term in terms:
        free = free_letters(term)
        for name in _tensor_names(term):
            for letter, is_above in placed_letters(name):
                if letter in free and is_greek(letter):
                    places.setdefault(letter, set()).add(is_above)
    return all(len(above) == 1 for above in places.values())


def _tensor_names(node: Expr) -> Iterator[str]:
    """Yield the names of an expression, but for the variables of its derivatives: one above counts as one below."""
    if node.op == "sym":
        yield node.name
    for arg in node.args[:1] if node.op in _DERIVATIVES else node.args:
        yield from _tensor_names(arg)


def index_range(letter: str) -> range:
    """Return the values of an index: 1 to 3, and 0 to 3 for Greek letters."""
    return range(4) if is_greek(letter) else range(1, 4)


def has_choice(f: Formula) -> bool:
    """Return True if a formula, or a part of it, has cases, a step, a modulus or an extreme."""
    if f.parts:
        return any(map(has_choice, f.parts))
    ops = traits_of(f).ops
    calls = (node for member in f.members for node in nodes_with(member, "apply"))
    return "cases" in ops or "abs" in ops or any(node.name in CHOICES for node in calls)


def has_folds(f: Formula) -> bool:
    r"""Return True if the number in a modulus stands outside of it too, so that both may cancel: `\sin x+|\sin x|`."""
    nodes = [node for member in f.members for node in walk(member)]
    moduli = (node.args[0] for node in nodes if node.op == "abs" and node.args[0].op != "sym")
    inside = Counter(arg for arg in moduli if not has_vectors(arg))
    every = Counter(node for node in nodes if node in inside)
    return any(every[node] > count for node, count in inside.items())


def squared_moduli_of_functions(nodes: Iterable[Expr], depends: Set[tuple[str, str]]) -> frozenset[str]:
    r"""Return the names of unknown functions whose modulus is squared somewhere: f of `|f(\theta)|^2`.

    They are complex unless the problem says what they are. Left out are quantities of motion, which are real (v of
    `|v(t)|^2`), and what is differentiated. It is not looked up here whether the problem says anything.

    Args:
        nodes: of one or two formulas.
        depends: letters that they write as functions, each with its variable.
    """
    written = {name for name, variable in depends if variable != ","}
    squares = (node.args[0] for node in nodes if node.op == "pow" and node.args[1].value == 2)
    moduli = (square.args[0] for square in squares if square.op == "abs")
    found = {name for inside in moduli for name in _functions_in(inside, written)}
    return frozenset(name for name in found if symbol_of(name).head not in _OF_MOTION)


def _functions_in(node: Expr, written: Set[str]) -> Iterator[str]:
    """Yield the unknown functions in an expression but for those in derivatives and integrals, and no vectors."""
    if node.op == "apply" and node.name not in NAMED and not is_special(node.name):
        yield node.name
    if node.op == "sym" and node.name in written and symbol_of(node.name).style not in (VECTOR, HAT):
        yield node.name
    for arg in node.args if node.op not in (*_DERIVATIVES, "integral", "differential") else ():
        yield from _functions_in(arg, written)


def is_jacobian(node: Expr) -> bool:
    r"""Return True for `\partial(S,T)/\partial(V,T)`."""
    return (
        node.name == "1"
        and node.op == "partial"
        and len(node.args) == 2
        and all(arg.op == "tuple" for arg in node.args)
    )


def mode_numbers(integral: Expr) -> frozenset[str]:
    r"""Return the letters of whole numbers that number the modes of an integrand: n of `\sin\frac{n\pi x}{L}`."""
    waves = [node for node in walk(integral.args[0]) if node.op in ("sin", "cos")]
    products = [part for wave in waves for part in walk(wave) if part.op == "mul" and _PI in part.args]
    return frozenset(arg.name for product in products for arg in product.args if arg.name in _MODES)


def kronecker_letters(nodes: Iterable[Expr]) -> frozenset[str]:
    r"""Return the letters that a Kronecker symbol compares: m and n of `\delta_{mn}`."""
    found = [compared_labels(node.name) for node in nodes if node.op == "sym"]
    return frozenset(label for labels in found if INDICES.issuperset(labels) for label in labels)


def compared_labels(name: str) -> tuple[str, ...]:
    r"""Return the labels with letters that a Kronecker symbol compares, `m` and `n+1` of `\delta_{m,n+1}`, or none."""
    read = symbol_of(name)
    labels = labels_of(read.sub) if read.head == r"\delta" and not read.sup else ()
    return labels if len(labels) == 2 and not any(label[0].isdigit() for label in labels) else ()


def may_be_called(f: Formula) -> frozenset[str]:
    r"""Return the letters that may be functions or factors: f of `\int f(\cos\theta)\,d\theta`, x of `x(t+h) - x(t)`.

    They stand before a bracket with nothing but a function or a quotient of the variable of an integral, or a sum of
    the variable of a limit and another letter.
    """
    found: set[str] = set()
    for node in (node for member in f.members for node in walk(member)):
        if node.op in ("integral", "limit") and len(node.args) > 2 and node.args[1].op == "sym":
            found |= set(_letters_before(node.args[0], node.args[1].name, is_limit=node.op == "limit"))
    return written_marks(f.latex).called.intersection(found) if found else frozenset()


def _letters_before(body: Expr, variable: str, *, is_limit: bool) -> Iterator[str]:
    """Yield the letters before factors that may be arguments, with the variable of an integral or a limit in them."""
    open_ones = _OPEN_SUMS if is_limit else _OPEN_FUNCTIONS
    for part in (part for part in walk(body) if part.op == "mul"):
        for left, right in zip(part.args, part.args[1:], strict=False):
            inside = symbols(right)
            if left.op == "sym" and right.op in open_ones and variable in inside and len(inside) > is_limit:
                yield left.name


def inequality_of(region: Expr) -> Formula | None:
    r"""Return the inequality that is written as a region below an integral, `r \le R`; None for another region."""
    said = condition_in(region)
    return said if said is not None and said.relations in (("<",), ("<=",)) else None


def may_be_steps_below(integral: Expr) -> frozenset[str]:
    """Return the letters in an integrand that may be steps: to infinity any of them, between other limits u and H."""
    is_to_infinity = any(map(is_infinite, integral.args[2:]))
    letters = STEPS - {"sgn", "sign"} if is_to_infinity else _OF_PULSES if len(integral.args) == 4 else frozenset()
    return letters & symbols(integral.args[0])
