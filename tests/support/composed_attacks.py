r"""Texts that hold the right answer and do not stand by it, composed at random.

A *trick* (`attack_tricks`) makes the claims of a text: several guesses one after the other, under own names, with a
definition of two values, or one formula of which the right one is a branch. Each claim is put into a carrier and at a
place (`attack_texts`). What the text says is known from how it was made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import prism
from prism.algebra.expr import Expr, Formula, number, symbol, symbols_of
from prism.equivalence.facts import numeric_of
from prism.grading.prepared import PreparedProblem
from prism.physics.context import given_values
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.quantities import parse_quantity
from prism.problem.schema import Problem
from tests.support.attack_texts import CARRIERS, PLACES, PRESENTING, Attack, Claim, Target
from tests.support.attack_tricks import NEEDS_ALL, NOT_PLAIN, OF_ONE_SYMBOL, ON_THE_WAY, SAYS_MORE_THAN_ONE, TRICKS
from tests.support.attacks import UNIT_AT_END

__all__ = ["CARRIERS", "TRICKS", "Attack", "Claim", "Target", "compose", "smallest", "targets_of"]

FRESH = (r"\zeta", r"\xi", r"\Upsilon", r"\vartheta", "X", "Y", "Z")
_HAS_FUNCTION = re.compile(r"(?<![A-Za-z\\])[a-zA-Z]\((?:r|x|t)\)")  # not known: what is wrong of it stays undecided
_APART = 0.2  # relative, of two numbers

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
        if _HAS_FUNCTION.search(node.latex):
            continue
        numeric = numeric_of(f)
        if numeric is None and not symbols_of(Formula("expression", f.members[1:], ())):
            continue  # a number of a construct
        if numeric is not None and numeric.number.is_exact:
            continue
        left, right = prism.write(f.members[0]), prism.write(f.members[1])
        unit = UNIT_AT_END.search(right)
        own = symbols_of(f)
        tied = symbols_of(Formula("expression", f.members[1:], ())) & problem.context.declared - {"i", "e"}
        tied = frozenset(name for name in tied if not _is_a_unit_too(name, problem))
        solved = {each.formula.members[0].name for each in problem.nodes if each.formula.members}
        found.append(
            Target(
                index=node.index, left=left, right=right, letter=node.subquestion or "",
                is_solved=f.members[0].op == "sym",
                fresh=tuple(name for name in FRESH if name not in known),
                symbols=tuple(sorted(problem.context.declared - own - solved)),
                others=tuple(sorted(_told_apart(f, problem) - own)),
                value=(float(numeric.number.value), f" {unit[0]}" if unit else "") if numeric else None,
                tied=tuple(sorted(tied)),
                tied_at_large=tuple(sorted(name for name in tied if name[0].isalpha() and name[0] not in "nNjkAbLEUV")),
                siblings=_siblings(problem), n_rivals=len(prepared.rivals[node.index]),
                other_letters=tuple(
                    part.letter for part in problem.subquestions if part.letter not in ("", node.subquestion)
                ),
                is_alone=sum(each.is_final for each in problem.nodes) == 1,
            )
        )  # fmt: skip
    return found


def _is_a_unit_too(name: str, problem: Problem) -> bool:
    """True if `2 m` may be two metres, m being a mass: whoever writes so of a given length may mean the unit."""
    quantity = italic_units_as_quantity(Expr("mul", (number(2), symbol(name))), frozenset())
    value = None if quantity is None else parse_quantity(quantity)
    return value is not None and any(
        value.dimension == given.quantity.dimension for given in given_values(problem.context).values()
    )


def _siblings(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Sides of the nodes that are formulas, each solved for a symbol that no other node is solved for."""
    solved = [
        node for node in problem.nodes
        if not node.is_text and node.formula.relations == ("=",) and node.formula.members[0].op == "sym"
    ]  # fmt: skip
    names = [node.formula.members[0].name for node in solved]
    return tuple(
        (prism.write(node.formula.members[0]), prism.write(node.formula.members[1]))
        for node in solved
        if names.count(node.formula.members[0].name) == 1
        and "cases" not in node.latex
        and not _HAS_FUNCTION.search(node.latex)
        and numeric_of(node.formula) is None
        and symbols_of(node.formula) != {node.formula.members[0].name}
    )


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
    if trick in OF_ONE_SYMBOL and not target.is_solved:
        return None
    claims = TRICKS[trick](target, rng)
    is_excused = trick in SAYS_MORE_THAN_ONE and sum(not each.is_right for each in claims) <= target.n_rivals
    if not claims or is_excused:
        return None
    carriers = rng.sample([name for name in CARRIERS if name != "text"], rng.randint(1, 2))
    if trick in ON_THE_WAY:
        carriers = [name for name in carriers if name not in PRESENTING] or ["inline"]
    if trick in NOT_PLAIN:
        carriers = [name for name in carriers if name != "plain"] or ["inline"]
    carriers.sort(key=lambda name: name in PRESENTING)
    turns = sorted(rng.choices(range(len(carriers)), k=len(claims)))
    place = "body" if trick in ON_THE_WAY else rng.choice(tuple(PLACES))
    if place == "own part" and trick != "another part":
        claims = (replace(claims[0], place=place), *claims[1:])
    else:
        at = rng.randrange(len(claims))
        claims = tuple(replace(each, place=place) if k == at else each for k, each in enumerate(claims))
    claims = tuple(
        each if each.carrier else replace(each, carrier=carriers[turn])
        for each, turn in zip(claims, turns, strict=True)
    )
    attack = Attack(target, trick, claims, trick in NEEDS_ALL)
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
        if claim.carrier == "text":
            continue
        for carrier, place in (("inline", "body"), ("inline", claim.place), (claim.carrier, "body")):
            changed = replace(claim, carrier=carrier, place=place)
            less = replace(attack, claims=(*attack.claims[:at], changed, *attack.claims[at + 1 :]))
            if less != attack and less.is_dishonest and gains(less):
                attack = less
                break
    return attack
