r"""Solutions that aim at the score without solving: what the rows of `tests/cases/attacks/` write for a problem.

A row is a policy: what is written once for each item of a problem (a node, a final answer, a given, a part ...), with
the item's words put in for `@lhs@`, `@rhs@` and the like. A policy may know the statement and, as a policy that was
trained on the score ends up doing, the reference; it does not say so by a committed claim. What of a solution is
honest, a row says too: an attack must not earn more than that part of it alone.

Wrong formulas come from `tests/support/faults.py`. One that is another node of the same problem after all is left
out.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from pathlib import Path
from zlib import crc32

import msgspec

import prism
from prism.algebra.expr import EQUALITIES, Expr, Formula, formula, number, substituted, symbol, symbols, symbols_of
from prism.equivalence.facts import numeric_of
from prism.grading.pipeline import BASE_FORMULAS, FORMULAS_PER_NODE, grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.latex import extract
from prism.physics.quantities import parse_quantity
from prism.problem.answers.worded import options_of
from prism.problem.schema import Problem, ProblemNode
from prism.resources import resource
from tests.support.external_data import DATA
from tests.support.faults import FAULTS, exchanged, places, put
from tests.test_cases import Row, sound_rows

FOLDER = Path(__file__).parents[1] / "cases" / "attacks"
LISTS, GAPS = FOLDER / "lists.toml", FOLDER / "gaps.toml"
DEV = DATA / "cases" / "dev"
SAME_SCORE = 1e-6  # scores are rounded to six digits
FRESH = (r"\zeta", r"\xi", "Y", r"\chi", r"\Upsilon", "Z", r"\vartheta", "X")  # for what no problem speaks of

Words = dict[str, str]


class PolicyRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy; the keys are explained in `tests/cases/README.md`."""

    per: str
    line: str
    most: int = 2
    variants: str = ""
    count: int = 0
    behind: int = -1
    values: dict[str, str | list[str]] = msgspec.field(default_factory=dict)
    join: str = "\n"
    open: str = ""
    close: str = ""
    between: str = "\n\n"
    before: str = ""
    after: str = ""
    honest: str = ""
    permitted: str = ""


class Exceptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Policies that gain on one problem, and why."""

    problem: str
    policies: list[str]
    why: str


@dataclass(frozen=True, slots=True)
class Attack:
    """What a policy writes for a problem, and what of it is honest. Both are empty where it has nothing to write."""

    text: str
    honest: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attack earned.

    Attributes:
        gain: its score above that of its honest part.
        finals: final answers that it matched and its honest part does not.
        grade: of the attack.
        honest: grade of its honest part.
    """

    gain: float
    finals: tuple[int, ...]
    grade: Grade
    honest: Grade

    def earned(self) -> Iterator[str]:
        """Which formulas earned which nodes, for a person; nodes that the honest part earns too are left out."""
        for item in self.grade.formulas:
            if new := sorted(set(item.nodes) - set(self.honest.matched)):
                yield f"node {', '.join(map(str, new))}: {item.latex}"


@dataclass(frozen=True, slots=True)
class Item:
    """What one line is written about: its words, and the node they come from, if they come from one."""

    words: Words
    node: ProblemNode | None = None


# Rows and problems --------------------------------------------------------------------------------------------------


@cache
def policies() -> dict[str, PolicyRow]:
    """All rows by file and id."""
    paths = [path for path in sorted(FOLDER.glob("*.toml")) if path not in (LISTS, GAPS)]
    return {f"{path.stem}:{row.id}": row for path in paths for row in sound_rows(path, PolicyRow)}


@cache
def lists() -> dict[str, list[str]]:
    """Lists of words that rows name."""
    return tomllib.loads(LISTS.read_text(encoding="utf-8"))


@cache
def exceptions(kind: str) -> dict[tuple[str, str], str]:
    """Why a policy gains on a problem, by the problem and the policy: where it should not (`gap`), or `permitted`."""
    keys = [(key, list[Exceptions], ()) for key in ("gap", "permitted")]
    read = msgspec.toml.decode(GAPS.read_bytes(), type=msgspec.defstruct("File", keys, forbid_unknown_fields=True))
    if (
        unknown := {name for key, *_ in keys for each in getattr(read, key) for name in each.policies}
        - policies().keys()
    ):
        raise ValueError(f"{GAPS.name}: no policy {', '.join(sorted(unknown))}")
    return {(each.problem, name): each.why for each in getattr(read, kind) for name in each.policies}


def shipped() -> list[Path]:
    """The problem files that every policy is tried on: the shipped ones, and small ones with other kinds of nodes."""
    return [*sorted(resource("dags").glob("*.toml")), *sorted((FOLDER / "problems").glob("*.toml"))]


@cache
def prepared(path: Path) -> PreparedProblem:
    """A problem file, loaded once."""
    return prepare(path)


def outcome(policy: PolicyRow, path: Path) -> Outcome:
    """What a policy earns on a problem."""
    problem = prepared(path)
    attack = attack_of(policy, path)
    result, honest = grade(problem, attack.text), grade(problem, attack.honest)
    finals = problem.problem.dag.finals
    new = tuple(sorted((set(result.matched) - set(honest.matched)) & set(finals)))
    return Outcome((result.score or 0.0) - (honest.score or 0.0), new, result, honest)


# Writing a solution -------------------------------------------------------------------------------------------------

_SLOT = re.compile(r"@([A-Za-z][A-Za-z0-9_ ]*?)(?:([*^])([\w.+-]+))?@")


def attack_of(policy: PolicyRow, path: Path) -> Attack:
    """What a policy writes for a problem."""
    every = _every(path)
    blocks, honest = [], []
    for item in _chosen(list(items_of(path, policy.per)), policy.most):
        block = _block(policy, path, item)
        if block:
            blocks.append(block)
            honest.append(_filled(policy.honest, {**every, **item.words}))
    before, after = _filled(policy.before, every), _filled(policy.after, every)
    if not blocks or before is None or after is None or None in honest:
        return Attack("", "")
    return Attack(before + policy.between.join(blocks) + after, "\n\n".join(dict.fromkeys(filter(None, honest))))


def _block(policy: PolicyRow, path: Path, item: Item) -> str:
    """What is written about one item; empty if it lacks a word."""
    more = _more_words_of(path, item.node.index) if item.node and not item.node.is_text else {}
    base = {**_every(path), **item.words, **more}
    named = [(key, lists()[given] if isinstance(given, str) else given) for key, given in policy.values.items()]
    lines: list[str] = []
    for written in _candidates(policy, path, item):
        for picked in product(*(choices for _, choices in named)):
            chosen = {name: value for (name, _), value in zip(named, picked, strict=True)}
            line = _filled(policy.line, {**base, **written, **chosen, "n": str(len(lines) + 1)})
            if line is None:
                return ""
            lines.append(line)
    opening, closing = _filled(policy.open, base), _filled(policy.close, base)
    return "" if opening is None or closing is None or not lines else opening + policy.join.join(lines) + closing


def _filled(template: str, words: Mapping[str, str]) -> str | None:
    """A template with its words put in; None if there is none for a slot."""
    parts: list[str] = []
    position = 0
    for slot in _SLOT.finditer(template):
        word = words.get(slot[1])
        if word is None:
            return None
        if slot[2] == "*":
            word = written_number(float(words["value"]) * float(words.get(slot[3], slot[3])), int(words["figures"]))
        elif slot[2] == "^":
            word = written_number(float(words["value"]), int(slot[3]), is_scientific=True)
        parts += [template[position : slot.start()], word]
        position = slot.end()
    return "".join([*parts, template[position:]])


def written_number(value: float, figures: int, *, is_scientific: bool = False) -> str:
    r"""A number with so many significant figures, as LaTeX.

    >>> written_number(202.4, 3), written_number(-1.5e-7, 2)
    ('202', '-1.5\\times 10^{-7}')
    """
    digits, _, power = f"{value:.{max(figures, 1) - 1}e}".partition("e")
    if is_scientific or not -3 <= int(power) <= 4:
        return rf"{digits}\times 10^{{{int(power)}}}"
    return f"{float(digits + 'e' + power):.{max(figures - 1 - int(power), 0)}f}"


def _chosen(items: list[Item], most: int) -> list[Item]:
    """At most so many, spread evenly and with the last one."""
    if len(items) <= most:
        return items
    return [items[-1 - at * len(items) // most] for at in reversed(range(most))]


# Items --------------------------------------------------------------------------------------------------------------


NODE_KINDS = ("node", "formula", "number", "zero", "inequality")
"""Nodes that state something of something; all of them, or of one kind."""


def items_of(path: Path, per: str) -> Iterator[Item]:
    """What lines are written about, in the order of the problem file."""
    problem = prepared(path).problem
    kind = "node" if per == "final" else per.removeprefix("final ")
    if kind in NODE_KINDS:
        for node in problem.nodes:
            words = words_of(path, node.index)
            if words and kind in ("node", words["kind"]) and (node.is_final or not per.startswith("final")):
                yield Item(words, node)
        return
    match per:
        case "once":
            yield Item({})
        case "words":
            yield from _words_items(problem)
        case "symbol":
            yield from (Item({"symbol": name}) for name in sorted(_mentioned(problem)))
        case "given":
            given = problem.context.givens.items()
            yield from (Item({"symbol": name, "given": _latex_of_value(text)}) for name, text in given)
        case "statement":
            found = chain.from_iterable(extract(text) for text in _texts(problem))
            with_relation = (item.latex for item in found if re.search(r"[=<>]|\\(?:le|ge|approx)", item.latex))
            yield from (Item({"formula": latex}) for latex in dict.fromkeys(with_relation))
        case "part":
            yield from _part_items(problem)
        case "foreign":
            nodes = chain.from_iterable(prepared(other).problem.nodes for other in shipped() if other != path)
            yield from (Item({"formula": node.latex.strip("$ ")}) for node in nodes if not node.is_text)
        case _:
            raise ValueError(f"per = {per!r} is no kind of item")


@cache
def _every(path: Path) -> Words:
    """Words that every item of a problem has."""
    problem = prepared(path).problem
    cap = BASE_FORMULAS + FORMULAS_PER_NODE * len(problem.nodes)
    many = " ".join(f"$x_{{{k}}}$" for k in range(cap))
    return {
        **_fresh_letters(path), "many": many, "blank": "and so on\n" * 100, "statement": problem.statement,
        "questions": "\n".join(part.text for part in problem.subquestions), **_last_words(path),
    }  # fmt: skip


def _last_words(path: Path) -> Words:
    """The left side of the last answer that has one, and a wrong right side for it."""
    for node in reversed(prepared(path).problem.nodes):
        words = words_of(path, node.index) if node.is_final else {}
        if words and words["kind"] != "inequality":
            wrong = wrong_formulas(path, node.index, "factors", 3)
            names = ("last wrong", "last wrong b", "last wrong c")
            texts = (prism.write(other.members[1]) for other in wrong)
            return {"last lhs": words["lhs"], **dict(zip(names, texts, strict=False))}
    return {}


def _fresh_letters(path: Path) -> Words:
    """Letters that neither statement nor reference has."""
    heads = {name.partition("_")[0] for name in known_symbols(path)}
    return dict(zip(("fresh", "fresh b", "fresh c"), (name for name in FRESH if name not in heads), strict=False))


@cache
def known_symbols(path: Path) -> frozenset[str]:
    """Symbols of a problem and of its reference; all others are a solution's own."""
    problem = prepared(path).problem
    return problem.context.declared.union(*(symbols_of(node.formula) for node in problem.nodes))


def _texts(problem: Problem) -> list[str]:
    return [problem.statement, *(part.text for part in problem.subquestions)]


def _mentioned(problem: Problem) -> frozenset[str]:
    return problem.context.declared & frozenset().union(*(symbols_of(node.formula) for node in problem.nodes))


UNIT_AT_END = re.compile(r"(?:\\frac\{)?\\unit\{.*\}$")  # `\frac{\unit{MeV}}{c}` too


@cache
def words_of(path: Path, index: int) -> Words:
    """The words of a node: its formula, and of two members also its sides and what they are."""
    problem = prepared(path).problem
    node = problem.nodes[index - 1]
    f = node.formula
    if node.is_text or len(f.members) != 2 or f.parts:
        return {}
    words = {
        "formula": node.latex.strip("$ "),
        "lhs": prism.write(f.members[0]),
        "rhs": prism.write(f.members[1]),
        "index": str(node.index),
        "kind": "inequality" if f.relations[0] not in EQUALITIES else "zero" if _is_zero(f.members[1]) else "formula",
    }
    if node.subquestion:
        words["letter"] = node.subquestion
    if f.members[0].op == "sym":
        words["head"] = f.members[0].name.partition("_")[0]
    numeric = numeric_of(f)
    if numeric is not None and not numeric.number.is_exact:
        unit = UNIT_AT_END.search(words["rhs"])
        given = numeric.number
        words |= {
            "kind": "number", "value": repr(float(given.value)), "figures": str(max(given.figures, 3)),
            "number": words["rhs"][: unit.start()].strip() if unit else words["rhs"], "unit": unit[0] if unit else "",
        }  # fmt: skip
        scaled = unit[0].removeprefix(r"\unit{").removesuffix("}") if unit else ""
        if scaled and all(parse_quantity(f"1 {prefix}{scaled}") is not None for prefix in lists()["prefixes"]):
            words["scaled unit"] = scaled
        if given.figures >= 3:
            words["precise"] = words["number"]
    return words


@cache
def _more_words_of(path: Path, index: int) -> Words:
    """Words that take decisions: wrong right sides, and the formula with other symbols, if that makes it wrong."""
    problem = prepared(path).problem
    f = problem.nodes[index - 1].formula
    fresh = {name: f"{letter}_{{{index}}}" for name, letter in _fresh_letters(path).items()}
    wrong = [prism.write(other.members[1]) for other in wrong_formulas(path, index, "factors", 3)]
    words = {**fresh, **dict(zip(("wrong", "wrong b", "wrong c"), wrong, strict=False))}
    own = [name for name in sorted(symbols(f.members[1])) if name not in symbols(f.members[0])]
    if own:
        words["s"] = own[0]
        others = {
            "formula in fresh": substituted(f, {symbol(own[0]): symbol(fresh["fresh"])}),
            "formula in 2s": substituted(f, {symbol(own[0]): Expr("mul", (number(2), symbol(own[0])))}),
        }
        if len(own) > 1:
            words["t"] = own[1]
            others["formula with s and t swapped"] = formula(
                (f.members[0], exchanged(f.members[1], *own[:2])), f.relations
            )
        for name, other in others.items():
            if prism.equivalent(f, other, context=problem.context).status != "equivalent" and not says_a_node(
                other, problem
            ):
                words[name] = prism.write(other)
    return words


def _is_zero(node: Expr) -> bool:
    return node.op == "num" and not node.value


def _words_items(problem: Problem) -> Iterator[Item]:
    parts = {part.letter: part for part in problem.subquestions}
    worded = [part for part in problem.subquestions if part.final_answer_form == "text-based"]
    for node in problem.nodes:
        if node.is_text:
            asked = (parts.get(node.subquestion) or worded[0]).final_answer_instructions
            said = node.latex.strip("$ ")
            options = options_of(asked)
            right = max((option for option in options if option in said), key=len, default="")
            others = [option for option in options if option != right]
            if right and others:
                yield Item({"right": right, "wrong": others[0], "options": "/".join(options), "asked": asked}, node)


def _part_items(problem: Problem) -> Iterator[Item]:
    """The parts that have answers, each with its own and with those of the part behind it."""
    answers: dict[str, list[str]] = {}
    for node in problem.nodes:
        if node.is_final and node.subquestion and not node.is_text:
            answers.setdefault(node.subquestion, []).append(f"${node.latex.strip('$ ')}$")
    letters = sorted(answers)
    if len(letters) < 2:
        return
    for at, letter in enumerate(letters):
        other = letters[(at + 1) % len(letters)]
        words = {"letter": letter, "answers": " and ".join(answers[letter]), "others": " and ".join(answers[other])}
        yield Item(words)


_VALUE = re.compile(r"(?P<digits>[-+]?[\d.]+)(?:[eE](?P<power>[-+]?\d+))?\s*(?P<unit>.*)")


def _latex_of_value(text: str) -> str:
    found = _VALUE.fullmatch(text.strip())
    if not found:
        return text
    power = rf"\times 10^{{{int(found['power'])}}}" if found["power"] else ""
    return found["digits"] + power + (rf"\unit{{{found['unit']}}}" if found["unit"] else "")


# Wrong formulas -----------------------------------------------------------------------------------------------------

FACTORS = ("2", "1/2", "3", "1/3", "4", "1/4", "3/2", "2/3", "5", "1/5", "6", "1/6", "8", "1/8", "7", "1/7")
KINDS: dict[str, tuple[str, ...]] = {
    "signs": ("sign",),
    "exponents": ("exponent", "root_lost", "exponent_sign"),
    "symbols": ("other_symbol", "index", "swapped"),
    "functions": ("other_function", "argument", "other_base"),
    "terms": ("lost_term", "lost_factor", "inverted", "doubled_factor"),
    "mixed": (
        "sign", "factor_two", "exponent", "root_lost", "other_symbol", "swapped", "other_function", "lost_term",
        "lost_factor", "inverted", "term_by_term", "one_summand",
    ),
}  # fmt: skip
NUMERIC = {
    "steps": [0.5, 0.6, 0.7, 1.2, 0.8, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8],
    "fine": [1.04**k for k in range(-9, 9)],
}


def _candidates(policy: PolicyRow, path: Path, item: Item) -> list[Words]:
    """The formulas that a line is written for: wrong ones, with the right one before the last `behind` of them."""
    if not policy.variants:
        return [{}]
    if item.node is None:
        raise ValueError(f"{policy.id}: variants need a node")
    wrong = [_words(f) for f in wrong_formulas(path, item.node.index, policy.variants, policy.count)]
    if policy.behind < 0:
        return wrong
    if len(wrong) < policy.behind:
        return []  # too few wrong ones to hide it among
    at = len(wrong) - policy.behind
    return [*wrong[:at], _words(item.node.formula, right=True), *wrong[at:]]


def _words(f: Formula, *, right: bool = False) -> Words:
    wrong = [prism.write(member) for member in f.members]
    return {"variant": prism.write(f), "variant rhs": wrong[1], "is right": str(right)}


@cache
def wrong_formulas(path: Path, index: int, variants: str, count: int) -> Sequence[Formula]:
    """So many near-misses of a node, the ones with the node's own symbols last: these contradict it."""
    problem = prepared(path).problem
    f = problem.nodes[index - 1].formula
    if words_of(path, index)["kind"] == "number":
        found = _numbers(f, variants)
    elif variants in PRODUCTS:
        found = chain(PRODUCTS[variants](f, sorted(_mentioned(problem))), _multiples(f))
    elif f.relations[0] not in EQUALITIES:
        found = _orderings(f)
    else:
        found = chain(_faulty(f, variants), _multiples(f))
    kept: list[Formula] = []
    written: set[str] = {prism.write(f)}
    for wrong in found:
        text = prism.write(wrong)
        if len(kept) < count and text not in written and not says_a_node(wrong, problem):
            kept.append(wrong)
        written.add(text)
    own = symbols_of(f)
    return sorted(kept, key=lambda wrong: symbols_of(wrong) == own)


def _faulty(f: Formula, variants: str) -> Iterator[Formula]:
    """Right sides with one fault, the kinds taking turns, places in an order of chance that never changes."""
    if variants == "factors":
        return
    names = tuple(sorted(symbols(*f.members)))
    rng = random.Random(crc32(str(f).encode()))
    waiting = []
    for kind in KINDS[variants]:
        new = [(path, other) for path, node in places(f.members[1]) for other in FAULTS[kind](node, names)]
        rng.shuffle(new)
        waiting.append(new)
    while any(waiting):
        for new in waiting:
            if new:
                path, other = new.pop()
                yield formula((f.members[0], put(f.members[1], path, other)), f.relations)


def _monomials(f: Formula, names: Sequence[str]) -> Iterator[Formula]:
    """Products of the node's own symbols with every choice of exponents."""
    own = sorted(symbols(f.members[1]) - symbols(f.members[0]))[:4]
    for powers in product((1, 2, -1, -2), repeat=len(own)):
        yield formula((f.members[0], _monomial(dict(zip(own, powers, strict=True)))), f.relations)


def _subsets(f: Formula, names: Sequence[str]) -> Iterator[Formula]:
    """Products of some of the problem's symbols: each says something else about the same subject."""
    others = [name for name in names if name not in symbols(f.members[0])]
    for size in (1, 2, 3):
        for picked in combinations(others, size):
            yield formula((f.members[0], _monomial(dict.fromkeys(picked, 1))), f.relations)


def _scattered(f: Formula, names: Sequence[str]) -> Iterator[Formula]:
    """Products about other subjects."""
    for subject in names:
        for picked in combinations([name for name in names if name != subject][:4], 2):
            yield formula((symbol(subject), _monomial(dict.fromkeys(picked, 1))), f.relations)


PRODUCTS: dict[str, Callable[[Formula, Sequence[str]], Iterator[Formula]]] = {
    "monomials": _monomials, "subsets": _subsets, "scattered": _scattered,
}  # fmt: skip


def _monomial(powers: Mapping[str, int]) -> Expr:
    factors = [
        symbol(name) if power == 1 else Expr("pow", (symbol(name), number(power))) for name, power in powers.items()
    ]
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors)) if factors else number(1)


def _multiples(f: Formula) -> Iterator[Formula]:
    """The right side times a factor; for zero, the factor."""
    for factor in FACTORS:
        k = number(Fraction(factor))
        yield formula((f.members[0], k if _is_zero(f.members[1]) else Expr("mul", (k, f.members[1]))), f.relations)


def _orderings(f: Formula) -> Iterator[Formula]:
    """The other orderings of the same sides, and the same ordering with another bound."""
    for relation in ("<", ">", "="):
        if relation != f.relations[0]:
            yield formula(f.members, (relation,))
    for factor in FACTORS:
        yield formula((f.members[0], Expr("add", (f.members[1], number(Fraction(factor))))), f.relations)


def _numbers(f: Formula, variants: str) -> Iterator[Formula]:
    """Other numbers for a stated one, in its own unit."""
    stated = numeric_of(f)
    assert stated is not None
    unit = UNIT_AT_END.search(prism.write(f.members[1]))
    for factor in NUMERIC.get(variants, NUMERIC["steps"]):
        text = written_number(float(stated.number.value) * factor, max(stated.number.figures, 3))
        yield prism.parse(f"{prism.write(stated.subject)} = {text}{unit[0] if unit else ''}")


def says_a_node(f: Formula, problem: Problem) -> bool:
    """Whether a formula that is meant to be wrong is one of the nodes after all, as it stands."""
    own = symbols_of(f)
    nodes = (node for node in problem.nodes if not node.is_text and symbols_of(node.formula) == own)
    return any(prism.equivalent(node.formula, f, context=problem.context).status == "equivalent" for node in nodes)
