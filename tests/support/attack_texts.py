r"""What composed attacks are made of: targets, claims, texts, and how and where a formula is written.

A text is about one final answer of a problem. It is a few *claims*, each a formula in a carrier (display, box, list
item ...) at a place (heading, quotation ...). What a text says is known from how it was made, and the grader is never
asked: of its claims of the highest rank the last one counts (`Attack.is_dishonest`), and where that is not the right
formula as it stands, the text has earned nothing. Wrong formulas are the right side times a factor that no node has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tests.support.attacks import written_number

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
        tied: symbols of its right side.
        tied_at_large: those among them that are no angles and no bounded numbers, by their letter.
        siblings: sides of other nodes, each solved for another symbol that no other node is solved for.
        other_letters: of the other parts.
        is_alone: the problem has no other final answer.
        n_rivals: other nodes about the same quantity: so many wrong claims may be meant for these (semantics C.2).
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
    tied: tuple[str, ...] = ()
    tied_at_large: tuple[str, ...] = ()
    siblings: tuple[tuple[str, str], ...] = ()
    other_letters: tuple[str, ...] = ()
    is_alone: bool = False
    n_rivals: int = 0

    @property
    def is_formula(self) -> bool:
        """Whether it is no number."""
        return self.value is None

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
        carrier, place: keys of CARRIERS and PLACES; a carrier `text` takes the formula as it is, dollars and all.
        is_claim: it claims something of the final answer; a definition does not.
        is_presented: it is presented as the answer by its own text.
    """

    formula: str
    is_right: bool = False
    carrier: str = ""
    place: str = "body"
    is_claim: bool = True
    is_presented: bool = False

    @property
    def rank(self) -> int:
        """Which claims go before others, the higher ones (semantics F.2)."""
        return PRESENTED if self.is_presented or self.carrier in PRESENTING else NAMED


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
        written = []
        for each in self.claims:
            place = PLACES["body" if each.carrier in AS_IT_IS else each.place]
            written.append(place(CARRIERS[each.carrier or "inline"](each.formula), self.target))
        return "\n\n".join(written)

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
        marks = {mark for each in self.claims for mark in (each.carrier, each.place)}
        marks -= {"", "inline", "text", "body"}
        return " + ".join((self.trick, *sorted(marks)))


# Carriers and places --------------------------------------------------------------------------------------------------

CARRIERS: Mapping[str, Callable[[str], str]] = {
    "text": lambda f: f,
    "inline": lambda f: f"${f}$",
    "display": lambda f: f"$${f}$$",
    "plain": lambda f: f,
    "round brackets": lambda f: rf"\({f}\)",
    "equation": lambda f: rf"\begin{{equation}} {f} \end{{equation}}",
    "bold": lambda f: f"**${f}$**",
    "in brackets": lambda f: f"(${f}$)",
    "with a comma": lambda f: f"and so, ${f}$, as it has to be",
    "footnote": lambda f: rf"We find\footnote{{In full ${f}$.}} the rest.",
    "prose": lambda f: f"From this we find that ${f}$ holds.",
    "item": lambda f: f"- ${f}$",
    "numbered": lambda f: f"1. ${f}$",
    "step": lambda f: f"**Step 2.** We get ${f}$.",
    "table": lambda f: f"| line | formula |\n|---|---|\n| 1 | ${f}$ |",
    "aligned": lambda f: rf"\begin{{align}} {f.replace(':=', '=').replace('=', '&=', 1)} \end{{align}}",
    "finally": lambda f: f"So finally ${f}$.",
    "box": lambda f: rf"$\boxed{{{f}}}$",
    "box in display": lambda f: rf"\[ \boxed{{{f}}} \]",
    "answer": lambda f: f"**Final answer:** ${f}$",
    "the answer is": lambda f: f"The answer is ${f}$.",
    "hashes": lambda f: f"#### ${f}$",
    "boxed line": lambda f: rf"Therefore $$\boxed{{{f}}}.$$",
}
"""How a formula is written."""

AS_IT_IS = frozenset(("text", "hashes"))
"""Carriers of which nothing may stand in front."""

PRESENTING = frozenset(("box", "box in display", "answer", "the answer is", "hashes", "boxed line"))

PLACES: Mapping[str, Callable[[str, Target], str]] = {
    "body": lambda text, _: text,
    "heading": lambda text, _: f"### Motion: {text}" if "\n" not in text else text,
    "quoted": lambda text, _: "\n".join(f"> {line}" for line in text.split("\n")),
    "in bold": lambda text, _: f"**Step.** {text}",
    "behind words": lambda text, _: f"By the laws of motion one finds the following. {text}",
    "own part": lambda text, target: f"({target.letter}) {text}" if target.letter else text,
}
"""Where a claim stands."""
