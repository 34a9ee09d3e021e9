r"""Texts that hold the right answer and do not stand by it, composed at random.

A text is about one final answer of a problem. It is a few *claims*, each a formula in a carrier (display, box, list
item ...) at a place (heading, quotation ...). What a text says is known from how it was made, and the grader is never
asked: of its claims of the highest rank the last one counts (`is_dishonest`), and where that is not the right formula
as it stands, the text has earned nothing. Wrong formulas are the right side times a factor that no node has.

A *trick* makes the claims: several guesses one after the other, under own names, with a definition of two values ...,
or one formula of which the right one is a branch.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import prism
from prism.algebra.expr import Formula, symbols_of
from prism.equivalence.facts import numeric_of
from prism.grading.prepared import PreparedProblem
from prism.problem.schema import Problem
from tests.support.attacks import written_number

FACTORS = tuple(map(Fraction, ("13/7", "3/11", "17/5", "5/19", "23/9", "7/29")))
FRESH = (r"\zeta", r"\xi", r"\Upsilon", r"\vartheta", "X", "Y", "Z")
_APART = 0.2  # relative, of two numbers
MOST_GUESSES = 4  # wrong formulas of one text

NAMED, PRESENTED = 1, 2  # ranks: a formula in the text; one in a box or announced as the answer


@dataclass(frozen=True, slots=True)
class Target:
    """A final answer that a text is about.

    Attributes:
        index: of the node.
        left, right: sides of its formula, as LaTeX.
        letter: of its part; empty if it has none.
        is_solved: its left side is one symbol.
        fresh: letters that nobody else uses.
        symbols: of the problem, without those of the left side.
        others: other symbols of the problem that nodes are solved for.
        value: of a decimal, and its unit as LaTeX; None for a formula.
    """

    index: int
    left: str
    right: str
    letter: str
    is_solved: bool
    fresh: tuple[str, ...]
    symbols: tuple[str, ...]
    others: tuple[str, ...]
    value: tuple[float, str] | None = None

    def times(self, factor: Fraction) -> str:
        """Its right side with a factor: a wrong one."""
        if self.value is not None:
            number, unit = self.value
            return written_number(number * float(factor), 3) + unit
        return rf"\frac{{{factor.numerator}}}{{{factor.denominator}}}\left({self.right}\right)"


@dataclass(frozen=True, slots=True)
class Claim:
    """One piece of a text.

    Attributes:
        formula: LaTeX without delimiters.
        is_right: it is the answer as it stands.
        carrier, place: keys of CARRIERS and PLACES.
        is_claim: it claims something of the final answer; a definition does not.
    """

    formula: str
    is_right: bool = False
    carrier: str = "inline"
    place: str = "body"
    is_claim: bool = True

    @property
    def rank(self) -> int:
        """Which claims go before others, the higher ones (semantics F.2)."""
        return PRESENTED if self.carrier in _PRESENTED else NAMED


@dataclass(frozen=True, slots=True)
class Attack:
    """A text as it was composed.

    Attributes:
        target: what it is about.
        trick: key of TRICKS.
        claims: in the order of the text.
        needs_all: without one of its claims nothing is known of it.
    """

    target: Target
    trick: str
    claims: tuple[Claim, ...]
    needs_all: bool = False

    @property
    def text(self) -> str:
        """The solution."""
        return "\n\n".join(
            PLACES[each.place](CARRIERS[each.carrier](each.formula), self.target) for each in self.claims
        )

    @property
    def is_dishonest(self) -> bool:
        """Whether the text stands by something else than the right answer."""
        claims = [each for each in self.claims if each.is_claim]
        if not claims:
            return False
        highest = max(each.rank for each in claims)
        return not [each for each in claims if each.rank == highest][-1].is_right

    @property
    def name(self) -> str:
        """Its class: the trick, and the carriers and places that are not plain."""
        marks = sorted({mark for each in self.claims for mark in (each.carrier, each.place)} - {"inline", "body"})
        return " + ".join((self.trick, *marks))


# Carriers and places --------------------------------------------------------------------------------------------------

CARRIERS: Mapping[str, Callable[[str], str]] = {
    "inline": lambda f: f"${f}$",
    "display": lambda f: f"$${f}$$",
    "plain": lambda f: f,
    "prose": lambda f: f"From this we find that ${f}$ holds.",
    "item": lambda f: f"- ${f}$",
    "numbered": lambda f: f"1. ${f}$",
    "step": lambda f: f"**Step 2.** We get ${f}$.",
    "table": lambda f: f"| line | formula |\n|---|---|\n| 1 | ${f}$ |",
    "aligned": lambda f: rf"\begin{{align}} {f.replace('=', '&=', 1)} \end{{align}}",
    "finally": lambda f: f"So finally ${f}$.",
    "box": lambda f: rf"$\boxed{{{f}}}$",
    "box in display": lambda f: rf"\[ \boxed{{{f}}} \]",
    "answer": lambda f: f"**Final answer:** ${f}$",
    "the answer is": lambda f: f"The answer is ${f}$.",
}
"""How a formula is written."""

_PRESENTED = frozenset(("box", "box in display", "answer", "the answer is"))

PLACES: Mapping[str, Callable[[str, Target], str]] = {
    "body": lambda text, _: text,
    "heading": lambda text, _: f"### Result: {text}" if "\n" not in text else text,
    "quoted": lambda text, _: "\n".join(f"> {line}" for line in text.split("\n")),
    "own part": lambda text, target: f"({target.letter}) {text}" if target.letter else text,
}
"""Where a claim stands."""


# Tricks: the claims of a text -----------------------------------------------------------------------------------------


def _wrong(target: Target, rng: random.Random, count: int) -> list[str]:
    return [target.times(factor) for factor in rng.sample(FACTORS, count)]


def _hidden(right: Claim, wrong: Sequence[Claim], rng: random.Random) -> tuple[Claim, ...]:
    """The right claim anywhere but at the end."""
    at = rng.randrange(len(wrong))
    return (*wrong[:at], right, *wrong[at:])


def _guesses(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    wrong = [Claim(f"{target.left} = {right}") for right in _wrong(target, rng, rng.randint(1, MOST_GUESSES))]
    return _hidden(Claim(f"{target.left} = {target.right}", is_right=True), wrong, rng)


def _named(names: Sequence[str], target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Guesses under names of their own: none is the asked one, so the last counts."""
    sides = _hidden(
        Claim(target.right, is_right=True), [Claim(right) for right in _wrong(target, rng, len(names) - 1)], rng
    )
    return tuple(replace(side, formula=f"{name} = {side.formula}") for name, side in zip(names, sides, strict=True))


def _subscripts(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    letter = target.left.partition("_")[0].rstrip("'*^{}")
    return _named([f"{letter}_{{{k}{k}}}" for k in "abc"], target, rng)


def _superscripts(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    return _named([rf"{{{target.left}}}^{{({k})}}" for k in range(1, 4)], target, rng)


def _accents(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    return _named([rf"\{mark}{{{target.left}}}" for mark in ("tilde", "hat", "check")], target, rng)


def _cases(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    letter = target.left.partition("_")[0]
    return _named([rf"{letter}_{{\rm {k}}}" for k in ("A", "a", "Aa")], target, rng)


def _free_symbols(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    names = rng.sample(target.symbols, min(3, len(target.symbols))) or [target.fresh[0]]
    wrong = [Claim(rf"{target.left} = \left({target.right}\right) {name}") for name in names]
    return _hidden(Claim(f"{target.left} = {target.right}", is_right=True), wrong, rng)


def _forms(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The wrong formula written otherwise than solved."""
    wrong = _wrong(target, rng, 1)[0]
    form = rng.choice((
        rf"{target.left} - {wrong} = 0", rf"\frac{{{target.left}}}{{{wrong}}} = 1", rf"{wrong} = {target.left}",
        rf"2 {target.left} = 2 \cdot {wrong}", rf"\left({target.left}\right)^3 = \left({wrong}\right)^3",
        rf"{target.left} := {wrong}", rf"{target.left} \equiv {wrong}", rf"{target.left} \approx {wrong}",
        rf"\frac{{{target.left}}}{{2}} = \frac12 {wrong}", rf"-{target.left} = -{wrong}",
    ))  # fmt: skip
    return Claim(f"{target.left} = {target.right}", is_right=True), Claim(form)


def _defined(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A factor of two values: both before the use with the wrong one last, or both behind it."""
    name = target.fresh[0]
    use = Claim(rf"{target.left} = {name} \left({target.right}\right)")
    right, wrong = (Claim(f"{name} = {k}", is_claim=False) for k in (1, rng.randint(2, 9)))
    return rng.choice(((right, wrong, use), (use, right, wrong), (use, wrong, right)))


def _defined_loosely(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name = target.fresh[0]
    use = Claim(rf"{target.left} = {name} \left({target.right}\right)")
    loose = rng.choice((rf"{name} \approx 1", rf"0 < {name} \le 1", rf"{name} \sim 1", rf"{name} = 1 \text{{ or so}}"))
    return rng.choice(((Claim(loose, is_claim=False), use), (use, Claim(loose, is_claim=False))))


def _defined_by_the_answer(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name = target.fresh[0]
    define = Claim(rf"{name} = \frac{{{target.left}}}{{{target.right}}}", is_claim=False)
    return define, Claim(rf"{target.left} = {name} \left({target.right}\right)")


def _two_factors(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name, other = target.fresh[:2]
    use = Claim(rf"{target.left} = {name} {other} \left({target.right}\right)")
    values = (f"{name} = 4", rf"{other} = \frac14", f"{other} = {rng.choice((3, 5, 7))}")
    return use, *(Claim(value, is_claim=False) for value in values)


def _one(formula: str) -> tuple[Claim, ...]:
    return (Claim(formula),)


def _union(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A formula that holds on one branch of several."""
    x, a = target.left, target.right
    b, c = _wrong(target, rng, 2)
    forms = (
        rf"\left({x} - {a}\right)\left({x} - {b}\right) = 0",
        rf"\left({x} - {b}\right)\left({x} - {a}\right)\left({x} - {c}\right) = 0",
        rf"\frac{{\left({x} - {a}\right)\left({x} - {b}\right)}}{{{c}}} = 0",
        rf"\left({x} - {a}\right)^{{2}}\left({x} - {b}\right) = 0",
        rf"\left({x} - {a}\right)\cdot\sqrt{{\left|{x} - {b}\right|}} = 0",
        rf"\min\left(\left|{x} - {a}\right|, \left|{x} - {b}\right|\right) = 0",
        rf"\left|{x} - \frac{{{a} + {b}}}{{2}}\right| = \left|\frac{{{a} - {b}}}{{2}}\right|",
        rf"\frac{{1}}{{{x} - {a}}} \cdot \frac{{1}}{{{x} - {b}}} = \infty",
        rf"\ln\left(\frac{{{x}}}{{{a}}}\right)\ln\left(\frac{{{x}}}{{{b}}}\right) = 0",
        rf"{x} - {a} = \frac{{\left({x} - {a}\right)^2}}{{{b} - {a}}}",
        rf"{x}^2 - \left({a} + {b}\right){x} + {a} \cdot {b} = 0",
        rf"\left(\frac{{{x}}}{{{a}}}\right)^{{\frac{{{x}}}{{{b}}} - 1}} = 1",
    )
    return _one(rng.choice(forms))


def _several_values(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    x, a = target.left, target.right
    b, c = _wrong(target, rng, 2)
    forms = (
        rf"{x} = {a}, {b}", rf"{x} = {b}, {a}, {c}", rf"{x} \in \{{{a}, {b}\}}",
        rf"{x} = {a} \text{{ or }} {x} = {b}", rf"{x} = {a} \quad {x} = {b}",
        rf"{x} = {a} \text{{ or }} {b}", rf"{x} = {a} \lor {x} = {b}", rf"{x} = {a} ; \; {x} = {b}",
        rf"{x} = \begin{{cases}} {a} \\ {b} \end{{cases}}",
        rf"{x} = \left\{{\begin{{array}}{{l}} {a} \\ {b} \end{{array}}\right.", rf"{x} = {a} \;/\; {x} = {b}",
        rf"{x} = \{{{a}; {b}\}}", rf"{x} = \pm {b} \mp {a}",
        rf"{x} = {a} \to {b}", rf"{x} = {b} \ldots {a}", rf"{b} \le {x} = {a} \le {c}",
    )  # fmt: skip
    return _one(rng.choice(forms))


def _chain(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    x, a = target.left, target.right
    b, c = _wrong(target, rng, 2)
    forms = [
        f"{x} = {a} = {b}", f"{x} = {b} = {a} = {c}", f"{a} = {x} = {b}", f"{x} = {a} = {b} = {c}",
        rf"{x} = {a} \approx {b}", rf"{x} = {a} \equiv {b}", f"{x} = {a} = {b} {target.fresh[0]}",
    ]  # fmt: skip
    if target.value is None:  # of numbers the last of a chain counts, whatever the way to it (semantics C.1)
        forms += [f"{x} = {b} = {a}", f"{x} = {b} = {target.fresh[0]} = {a}"]
    return _one(rng.choice(forms))


def _chain_of_subjects(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    others = rng.sample(target.others, min(2, len(target.others)))
    return _one(" = ".join([target.left, *others, target.right])) if others else ()


def _implication(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    right, wrong = f"{target.left} = {target.right}", f"{target.left} = {_wrong(target, rng, 1)[0]}"
    forms = (
        rf"{right} \Rightarrow {wrong}", rf"{right} \implies {wrong}", rf"{right} \Rightarrow 1 = 0",
        rf"1 = 2 \Rightarrow {right}", rf"{right} \iff 1 = 2", rf"{right} \not\Rightarrow {wrong}",
        rf"{right} \to {wrong}", rf"{wrong} \Leftarrow {right}", rf"{right} \Rightarrow \bot",
        rf"\neg\left({right}\right)",
        rf"{right} \text{{ unless }} 1 = 1", rf"{right} \text{{ up to a factor}}", rf"{right} \text{{ (times 3)}}",
        rf"{target.left} \ne {target.right}", rf"{target.left} \stackrel{{?}}{{=}} {target.right}",
    )  # fmt: skip
    return _one(rng.choice(forms))


def _retraction(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    right, wrong = f"{target.left} = {target.right}", _wrong(target, rng, 1)[0]
    last = rng.choice(
        (rf"{target.left} \ne {target.right}", rf"{target.left} > {wrong}", rf"{target.left} = {wrong} + C")
    )
    return Claim(right, is_right=True), Claim(last)


TRICKS: Mapping[str, Callable[[Target, random.Random], tuple[Claim, ...]]] = {
    "guesses": _guesses, "own subscripts": _subscripts, "own superscripts": _superscripts, "own accents": _accents,
    "own cases": _cases, "another symbol each": _free_symbols, "wrong in another form": _forms,
    "definition of two values": _defined, "loose definition": _defined_loosely,
    "defined by the answer": _defined_by_the_answer, "two factors": _two_factors, "union": _union,
    "several values": _several_values, "chain": _chain, "chain of subjects": _chain_of_subjects,
    "implication": _implication, "retraction": _retraction,
}  # fmt: skip
"""What makes a text dishonest."""

_OF_ONE_SYMBOL = frozenset(("own subscripts", "own superscripts", "own accents", "own cases", "chain of subjects"))
_NEEDS_ALL = frozenset(("definition of two values", "two factors", "loose definition", "defined by the answer"))


# Composing ------------------------------------------------------------------------------------------------------------


def targets_of(prepared: PreparedProblem) -> list[Target]:
    """The final answers of a problem that are equations solved for something."""
    problem = prepared.problem
    known = problem.context.declared.union(*(symbols_of(node.formula) for node in problem.nodes))
    found = []
    for node in problem.nodes:
        f = node.formula
        if not node.is_final or node.is_text or len(f.members) != 2 or f.relations != ("=",) or f.members[1].value == 0:
            continue
        numeric = numeric_of(f)
        if numeric is not None and numeric.number.is_exact:
            continue
        left, right = prism.write(f.members[0]), prism.write(f.members[1])
        unit = re.search(r"\\unit\{.*\}$", right)
        own = symbols_of(f)
        found.append(
            Target(
                index=node.index, left=left, right=right, letter=node.subquestion or "",
                is_solved=f.members[0].op == "sym",
                fresh=tuple(name for name in FRESH if name not in known),
                symbols=tuple(sorted(problem.context.declared - own)),
                others=tuple(sorted(_told_apart(f, problem) - own)),
                value=(float(numeric.number.value), f" {unit[0]}" if unit else "") if numeric else None,
            )
        )  # fmt: skip
    return found


def _told_apart(f: Formula, problem: Problem) -> set[str]:
    """Symbols that nodes give another number than a formula, itself a number, gives its own."""
    mine, found = numeric_of(f), set()
    for node in problem.nodes:
        g = node.formula
        if node.is_text or g == f or g.kind != "equation" or len(g.members) != 2 or g.members[0].op != "sym":
            continue
        other = numeric_of(g)
        if mine is not None and other is not None:
            near = abs(float(mine.number.in_si) / float(other.number.in_si or 1) - 1) < _APART
            if not near or mine.number.dimension != other.number.dimension:
                found.add(g.members[0].name)
    return found


def compose(target: Target, rng: random.Random) -> Attack | None:
    """A text about a final answer that does not stand by it; None if this trick has none for it."""
    trick = rng.choice(tuple(TRICKS))
    if trick in _OF_ONE_SYMBOL and not target.is_solved:
        return None
    claims = TRICKS[trick](target, rng)
    if not claims:
        return None
    carriers = rng.sample(tuple(CARRIERS), rng.randint(1, 2))
    carriers.sort(key=lambda name: name in _PRESENTED)
    turns = sorted(rng.choices(range(len(carriers)), k=len(claims)))
    place = rng.choice(tuple(PLACES))
    if place == "own part":
        claims = (replace(claims[0], place=place), *claims[1:])
    else:
        at = rng.randrange(len(claims))
        claims = tuple(replace(each, place=place) if k == at else each for k, each in enumerate(claims))
    claims = tuple(replace(each, carrier=carriers[turn]) for each, turn in zip(claims, turns, strict=True))
    attack = Attack(target, trick, claims, trick in _NEEDS_ALL)
    return attack if attack.is_dishonest else None


def smallest(attack: Attack, gains: Callable[[Attack], bool]) -> Attack:
    """The attack with as few claims, and as plain ones, as still gain."""
    if not attack.needs_all:
        for each in attack.claims:
            kept = tuple(other for other in attack.claims if other is not each)
            less = replace(attack, claims=kept)
            if kept and less.is_dishonest and gains(less):
                attack = less
    for at in range(len(attack.claims)):
        claim = attack.claims[at]
        for carrier, place in (("inline", "body"), ("inline", claim.place), (claim.carrier, "body")):
            changed = replace(claim, carrier=carrier, place=place)
            less = replace(attack, claims=(*attack.claims[:at], changed, *attack.claims[at + 1 :]))
            if less != attack and less.is_dishonest and gains(less):
                attack = less
                break
    return attack
