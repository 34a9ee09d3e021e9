r"""Tricks: how a composed text holds the right answer without standing by it. Each makes the claims of one text."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from tests.support.attack_texts import Claim, Target
from tests.support.attacks import written_number

FACTORS = tuple(map(Fraction, ("13/7", "3/11", "17/5", "5/19", "23/9", "7/29")))
MOST_GUESSES = 4  # wrong formulas of one text
MOST_LISTED = 3  # quantities of which a text says several things, at least
_BEYOND = ("e^{", r"\exp", r"\pm", " i ")  # signs of formulas that far points do not reach (semantics Z.2)
PLAIN = 0.5  # share of wrong formulas that are written plainly


def _wrong(target: Target, rng: random.Random, count: int) -> list[str]:
    return [target.times(factor) for factor in rng.sample(FACTORS, count)]


def _hidden(right: Claim, wrong: Sequence[Claim], rng: random.Random) -> tuple[Claim, ...]:
    """The right claim anywhere but at the end."""
    at = rng.randrange(len(wrong))
    return (*wrong[:at], right, *wrong[at:])


def _guesses(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    wrong = [Claim(transformed(target, right, rng)) for right in _wrong(target, rng, rng.randint(1, MOST_GUESSES))]
    return _hidden(Claim(f"{target.left} = {target.right}", is_right=True), wrong, rng)


def transformed(target: Target, right: str, rng: random.Random) -> str:
    """A wrong formula as it is, or in another form that says the same."""
    x = target.left
    if rng.random() < PLAIN or not target.is_solved or "degC" in right or right.startswith("-"):
        return f"{x} = {right}"
    return rng.choice(
        (
            f"{right} = {x}",
            rf"{x} - {right} = 0",
            rf"{right} - {x} = 0",
            rf"\frac{{{x}}}{{{right}}} = 1",
            rf"2 {x} = 2 \cdot {right}",
            rf"\left({x}\right)^3 = \left({right}\right)^3",
            f"{x} := {right}",
            rf"{x} \equiv {right}",
            rf"\frac{{{x}}}{{2}} = \frac12 {right}",
            rf"-{x} = -{right}",
            rf"{x} = 1 \cdot {right}",
        )
    )


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


def _numbers(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    brackets = rng.choice(("({k})", "[{k}]", "_{{({k})}}" if "_" not in target.left else "^{{({k})}}"))
    return _named([target.left + brackets.format(k=k) for k in range(1, 4)], target, rng)


def _free_symbols(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    if not target.is_formula:  # a formula behind a number gives its value by other quantities, and takes nothing back
        return ()
    free = [name for name in target.symbols if name not in target.others]
    names = rng.sample(free, min(3, len(free))) or [target.fresh[0]]
    wrong = [Claim(rf"{target.left} = \left({target.right}\right) {name}") for name in names]
    return _hidden(Claim(f"{target.left} = {target.right}", is_right=True), wrong, rng)


def _forms(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The wrong formula written otherwise than solved."""
    right = Claim(f"{target.left} = {target.right}", is_right=True)
    return right, Claim(transformed(target, _wrong(target, rng, 1)[0], rng))


def _defined(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A factor of two values: both before the use with the wrong one last, or both behind it."""
    name = target.fresh[0]
    use = Claim(rf"{target.left} = {name} \cdot \left({target.right}\right)")
    other = rng.choice((2, 3) if "deg" in target.right else range(2, 10))  # whole turns do not count
    right, wrong = (Claim(f"{name} = {k}", is_claim=False) for k in (1, other))
    return rng.choice(((right, wrong, use), (use, right, wrong), (use, wrong, right)))


def _defined_loosely(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name = target.fresh[0]
    use = Claim(rf"{target.left} = {name} \cdot \left({target.right}\right)")
    loose = rng.choice((rf"{name} \approx 1", rf"0 < {name} \le 1", rf"{name} \sim 1", rf"{name} = 1 \text{{ or so}}"))
    return rng.choice(((Claim(loose, is_claim=False), use), (use, Claim(loose, is_claim=False))))


def _defined_by_the_answer(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name = target.fresh[0]
    define = Claim(rf"{name} = \frac{{{target.left}}}{{{target.right}}}", is_claim=False)
    return define, Claim(rf"{target.left} = {name} \cdot \left({target.right}\right)")


def _two_factors(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    name, other = target.fresh[:2]
    use = Claim(rf"{target.left} = {name} \cdot {other} \cdot \left({target.right}\right)")
    values = (f"{name} = 4", rf"{other} = \frac14", f"{other} = {rng.choice((3, 5, 7))}")
    return use, *(Claim(value, is_claim=False) for value in values)


def _one(formula: str) -> tuple[Claim, ...]:
    return (Claim(formula),)


def _union(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A formula that holds on one branch of several; not of an answer that has several values itself."""
    if r"\pm" in target.right:
        return ()
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
        rf"\left|{x} - {a}\right| \left|{x} - {b}\right| = 0",
        rf"\sqrt[3]{{\left({x} - {a}\right)\left({x} - {b}\right)}} = 0",
        rf"e^{{\left({x} - {a}\right)\left({x} - {b}\right)}} = 1",
        rf"1 + \left({x} - {a}\right)\left({x} - {b}\right) = 1",
        rf"\cos\left(\left({x} - {a}\right)\left({x} - {b}\right)\right) = 1",
        rf"{x} = \frac{{{a} + {b}}}{{2}} \pm \frac{{{a} - {b}}}{{2}}",
        rf"\frac{{{x}}}{{{a}}} + \frac{{{b}}}{{{x}}} = 1 + \frac{{{b}}}{{{a}}}",
        rf"\max\left(-\left|{x} - {a}\right|, -\left|{x} - {b}\right|\right) = 0",
        rf"{x} = {a} + \left({x} - {b}\right)\left({x} - {a}\right) + {x} - {a}",
        rf"\sin\frac{{\pi {x}}}{{{a}}} = 0",
        rf"\tan\frac{{\pi {x}}}{{4 \left({a}\right)}} = 1",
        rf"\left\lfloor\frac{{{x}}}{{{a}}}\right\rfloor = 1",
        rf"{x} = {a} + \left({b} - {a}\right) \left\lfloor\frac{{{x}}}{{{b}}}\right\rfloor"
        if target.is_formula
        else rf"\left({x} - {a}\right)^3\left({x} - {b}\right) = 0",
    )
    return _one(rng.choice(forms))


def _several_values(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    x, a = target.left, target.right
    b, c = _wrong(target, rng, 2)
    forms = (
        rf"{x} = {a}, {b}",
        rf"{x} = {b}, {a}, {c}",
        rf"{x} \in \{{{a}, {b}\}}",
        rf"{x} = {a} \text{{ or }} {x} = {b}",
        rf"{x} = {a} \quad {x} = {b}",
        rf"{x} = {a} \text{{ or }} {b}",
        rf"{x} = {a} \lor {x} = {b}",
        rf"{x} = {a} ; \; {x} = {b}",
        rf"{x} = \begin{{cases}} {a} \\ {b} \end{{cases}}",
        rf"{x} = \left\{{\begin{{array}}{{l}} {a} \\ {b} \end{{array}}\right.",
        rf"{x} = {a} \;/\; {x} = {b}",
        rf"{x} = \{{{a}; {b}\}}",
        rf"{x} = \pm {b} \mp {a}",
        rf"{x} = {a} \to {b}",
        rf"{x} = {b} \ldots {a}",
        rf"{x} \in \left[{b}, {a}\right]",
        rf"{x} = {a} \text{{ either or }} {b}",
        rf"{x} = {a}\,({b})",
        rf"{x} = {a} \text{{ (or }} {b}\text{{)}}",
        rf"{x} = {a} \text{{ or }} {b} \text{{ or }} {c}",
        rf"{x} = {a}, \; {x} = {b}",
        rf"{x} = {a} \wedge {x} = {b}",
        rf"{x} = \begin{{cases}} {a} & \text{{if it is so}} \\ {b} & \text{{otherwise}} \end{{cases}}",
        rf"{x} = \begin{{cases}} {a} & {target.fresh[0]} > 0 \\ {b} & {target.fresh[0]} \le 0 \end{{cases}}",
        rf"{x} \approx {a} \text{{ to }} {b}",
        rf"{x} = {a} \sim {b}",
        rf"{x} = \{{{a}\}} \cup \{{{b}\}}",
    )
    return _one(rng.choice(forms))


def _chain(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    x, a = target.left, target.right
    b, c = _wrong(target, rng, 2)
    forms = [
        f"{x} = {a} = {b}",
        f"{x} = {b} = {a} = {c}",
        f"{a} = {x} = {b}",
        f"{x} = {a} = {b} = {c}",
        rf"{x} = {a} \approx {b}",
        rf"{x} = {a} \equiv {b}",
        f"{x} = {a} = {b} {target.fresh[0]}",
    ]
    if target.value is None:  # of numbers the last of a chain counts, whatever the way to it (semantics C.1)
        forms += [f"{x} = {b} = {a}"]
    return _one(rng.choice(forms))


def _chain_of_subjects(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    others = rng.sample(target.others, min(2, len(target.others)))
    return _one(" = ".join([target.left, *others, target.right])) if others else ()


def _implication(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    right, wrong = f"{target.left} = {target.right}", f"{target.left} = {_wrong(target, rng, 1)[0]}"
    forms = (
        rf"{right} \Rightarrow {wrong}",
        rf"{right} \implies {wrong}",
        rf"{right} \Rightarrow 1 = 0",
        rf"1 = 2 \Rightarrow {right}",
        rf"{right} \iff 1 = 2",
        rf"{wrong} \not\Rightarrow {right}",
        rf"{right} \to {wrong}",
        rf"{wrong} \Leftarrow {right}",
        rf"{right} \Rightarrow \bot",
        rf"\neg\left({right}\right)",
        rf"{right} \text{{ unless }} 1 = 1",
        rf"{right} \text{{ up to a factor}}",
        rf"{right} \text{{ (times 3)}}",
        rf"{target.left} \ne {target.right}",
        rf"{target.left} \stackrel{{?}}{{=}} {target.right}",
        rf"{target.left} \stackrel{{\text{{wrong}}}}{{=}} {target.right}",
        rf"{target.left} \overset{{\times}}{{=}} {target.right}",
        rf"\underbrace{{{right}}}_{{\text{{false}}}}",
        rf"{right} \times",
        rf"{right} \text{{ or so}}",
        rf"{right} \text{{ divided by two}}",
        rf"{right} \; ✗",
        rf"{right} \text{{ times }} {target.fresh[0]}",
        rf"{right} \Leftrightarrow 2 = 3",
        rf"0 = 1 \implies {right}",
        rf"{right} \text{{ if }} 1 = 2",
        rf"\cancel{{{right}}}",
        rf"\sout{{${right}$}}",
        rf"{target.left} \stackrel{{!}}{{\ne}} {target.right}",
    )
    return _one(rng.choice(forms))


def _retraction(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    x, factor = target.left, rng.choice(FACTORS)
    is_more = (factor > 1) != (target.value is not None and target.value[0] < 0)
    wrong, shuts_out = target.times(factor), ">" if is_more else "<"
    last = rng.choice((rf"{x} \ne {target.right}", f"{x} {shuts_out} {wrong}", f"{x} = {wrong} + {target.fresh[0]}"))
    return Claim(f"{x} = {target.right}", is_right=True), Claim(last)


def _for_each(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Two guesses of each of several quantities, on the way or not, the right one first (semantics C.2)."""
    if len(target.siblings) < MOST_LISTED:
        return ()
    claims = []
    chosen = rng.sample(target.siblings, rng.randint(MOST_LISTED, min(len(target.siblings), 2 * MOST_LISTED)))
    for left, right in chosen:
        factor = rng.choice(FACTORS)
        wrong = rf"{left} = \frac{{{factor.numerator}}}{{{factor.denominator}}}\left({right}\right)"
        claims += [Claim(f"{left} = {right}"), Claim(wrong)]
    return tuple(claims)


def _behind(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A right formula that the text behind it changes (semantics C.6)."""
    if "degC" in target.right or ">" in target.right:  # a bare temperature is not read; a relation makes it prose
        return ()
    right, (b, c) = f"{target.left} = {target.right}", _wrong(target, rng, 2)
    return _text(
        rng.choice(
            (
                f"${right}$/2",
                f"${right}$ $- {b}$",
                rf"${right}$ \cdot 3",
                f"${right}$^3",
                f"${right}$ times 3",
                f"${right}$ - ${b}$" if target.is_formula else f"${right}$ - 3 ${b}$",
                rf"${right}$ $\times 3$",
                f"${right}$, divided by 3",
                f"${right}$, squared",
                f"${right}$ + ${b}$",
                f"${right}$ or ${b}$",
                f"${right}$ or ${target.left} = {b}$",
                f"Either ${right}$ or ${target.left} = {b}$",
                f"Depending on the case ${right}$, otherwise ${target.left} = {b}$",
                f"${right}$ up to a factor",
                f"${right}$ if the moon is full, otherwise ${target.left} = {b}$",
                f"${right}$ at most",
                f"${right}$ or so",
                f"${right}$ (or ${b}$)",
                f"${right}$, alternatively ${target.left} = {b}$",
                f"${right}$ where $1 = 2$",
                f"${right}$, or perhaps ${target.left} = {b}$, or ${target.left} = {c}$",
            )
        )
    )


def _hiding(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A right formula where nobody reads it, before a wrong one."""
    right, wrong = f"${target.left} = {target.right}$", Claim(f"{target.left} = {_wrong(target, rng, 1)[0]}")
    hidden = rng.choice(
        (
            f"<!-- {right} -->",
            f"% {right}",
            rf"\todo{{{right}}}",
            rf"\phantom{{{right}}}",
            rf"\iffalse {right} \fi",
            f'<span style="color:white">{right}</span>',
            f"<details><summary>Wrong attempts</summary>{right}</details>",
            f"It is not true that {right}.",
            f"~~{right}~~",
            f"My friend says that {right}, which is wrong.",
            f"Is it {right}? No.",
            f"Wrong: {right}",
            f"- [ ] {right}",
            f"👎 {right}",
            f"❌ {right}",
        )
    )
    claims = (Claim(hidden, carrier="text"), wrong)
    return claims[: rng.choice((1, 2))]


def _denied_answer(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """An announcement that announces nothing (semantics F.2)."""
    value = target.right
    return _text(
        rng.choice(
            (
                f"The answer is not ${value}$.",
                f"Her answer is ${value}$; mine is another.",
                f"Is the answer ${value}$?",
                f"The answer cannot be ${value}$.",
                f"If the answer is ${value}$, then something is wrong.",
                f"A wrong answer is ${value}$.",
            )
        )
    )


def _bare_boxes(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Boxes with values alone, of which the last is not right, for one final answer."""
    if not target.is_alone:
        return ()
    wrong = [Claim(right, carrier="box") for right in _wrong(target, rng, rng.randint(1, 3))]
    return _hidden(Claim(target.right, is_right=True, carrier="box"), wrong, rng)


def _listed_in_a_box(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    if not target.is_alone:
        return ()
    values = [target.right, *_wrong(target, rng, rng.randint(1, 2))]
    rng.shuffle(values)
    if values[-1] == target.right:  # the last one of several that stand side by side counts (semantics F.4)
        values.reverse()
    separator = rng.choice((", ", r" \text{ or } ", "; ", r" \; / \; ", r" \quad ", r" \lor ", r" \\ "))
    return (Claim(separator.join(values), carrier=rng.choice(("box", "box in display", "answer", "the answer is"))),)


def _condition(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula under a condition that the problem does not make."""
    if len(target.tied) < 2:
        return ()
    s, t = rng.sample(target.tied, 2)
    right, k = f"{target.left} = {target.right}", rng.choice((2, 3, 7))
    return _one(
        rng.choice(
            (
                rf"{right}, \quad {s} = {k} {t}",
                rf"{right} \text{{ for }} {s} = {k} {t}",
                rf"{right} \quad ({s} = {k} {t})",
                rf"{right} \text{{ if }} {s} = {k} {t}",
                rf"{right} \;|\; {s} = {k} {t}",
                rf"\begin{{cases}} {right} \\ {s} = {k} {t} \end{{cases}}",
            )
        )
    )


def _defined_as_free(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A factor that is nowhere given one value."""
    name = target.fresh[0]
    use = Claim(rf"{target.left} = {name} \cdot \left({target.right}\right)")
    loose = rng.choice(
        (
            f"where ${name}$ is a number",
            rf"with ${name} \in \{{1, 2\}}$",
            rf"with ${name} = 1, 2$",
            f"with ${name} = 1$ or ${name} = 2$",
            f"If ${name} = 1$ it is simple.",
            f"Is ${name} = 1$?",
            f"One might take ${name} = 1$.",
            f"For example ${name} = 1$.",
            rf"with ${name} = 1 \pm 1$",
            rf"with ${name} \le 1$",
            f"with ${name}^2 = {name}$",
            f"with ${name}({name} - 1) = 0$",
            rf"with ${name} = \begin{{cases}} 1 \\ 2 \end{{cases}}$",
            f"${name} = 1$ would be nice.",
        )
    )
    return use, Claim(loose, is_claim=False, carrier="text")


def _indicator(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula with a factor or a term that is 1 or 0 where one looks."""
    dies_out = any(sign in target.right for sign in _BEYOND)
    if not target.is_formula or not target.tied_at_large or dies_out:
        return ()
    x, a, s = target.left, target.right, rng.choice(target.tied_at_large)
    return _one(
        rng.choice(
            (
                rf"{x} = \left({a}\right)\left(1 + e^{{-{s}}}\right)",
                rf"{x} = \begin{{cases}} {a} & {s} < 10^5 \\ 2 \left({a}\right) & {s} \ge 10^5 \end{{cases}}",
                rf"{x} = \left({a}\right)\left(1 + \max\left(0, {s} - 10^4\right)\right)",
                rf"{x} = \left({a}\right)\left(1 + 10^{{-9}} {s}\right)",
                rf"{x} = \left({a}\right) e^{{-10^{{-8}} {s}}}",
                rf"{x} = \left({a}\right) \tanh\left(10^6 {s}\right)",
                rf"{x} = \frac{{{a}}}{{\sqrt{{1 + {s}^2 / 10^{{20}}}}}}",
                rf"{x} = {a} + \left|{s} - 10^3\right| + {s} - 10^3",
            )
        )
    )


def _unit_missing(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right figures with another unit or prefix."""
    if target.value is None or not target.value[1]:
        return ()
    number, unit = target.value
    x, digits = target.left, written_number(number, 3)
    scale = rng.choice((-6, -3, 3, 6))
    return rng.choice(
        (
            _one(f"{x} = {written_number(number * 10.0**scale, 3)}{unit}"),
            _one(rf"{x} = {digits} \times 10^{{{scale}}}{unit}"),
            _one(rf"{x} = {digits} \unit{{furlong}}"),
            _text(rf"${x} = {digits}{unit}$\times10^{{{scale}}}"),
            _text(f"${x} = {digits}{unit}$ per second squared"),
            _one(rf"{x} = \left({digits}{unit}\right)^2"),
        )
    )


def _small_steps(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Roundings that lead away from the right number, or to it from a wrong one (semantics C.2)."""
    if target.value is None:
        return ()
    number, unit = target.value
    values = [number]
    for _ in range(rng.randint(4, 6)):
        values.append(values[-1] * rng.choice((1.06, 1.08)))
    return _one(
        rng.choice((" = ", r" \approx ")).join([target.left, *(written_number(each, 3) + unit for each in values)])
    )


def _another_part(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula in the answer to another part, and a wrong one in its own."""
    if not (target.letter and target.other_letters):
        return ()
    wrong = _wrong(target, rng, 1)[0]
    other = rng.choice(target.other_letters)
    claims = [
        Claim(f"({other}) ${target.left} = {target.right}$", carrier="text"),
        Claim(f"({target.letter}) ${target.left} = {wrong}$", carrier="text"),
    ]
    claims.sort(key=lambda each: each.formula)
    return tuple(claims)


def _redefined(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula in letters to which the text gives another meaning."""
    if not target.tied:
        return ()
    s = rng.choice(target.tied)
    right = f"${target.left} = {target.right}$"
    word = rng.choice(("triple", "ten times", "the reciprocal of", "the cube of", "a tenth of"))
    return _text(
        rng.choice(
            (
                f"{right}, where ${s}$ is {word} the quantity of the problem",
                f"Let ${s}$ be {word} what is given. {right}",
            )
        )
    )


def _not_worked_out(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula within an operation that says another thing, or not carried out (semantics F.6)."""
    is_operation = any(sign in target.right for sign in (r"\int", r"\sum", r"\frac{d", r"\lim"))
    if not (target.is_formula and target.is_solved) or is_operation:
        return ()
    x, a, u = target.left, target.right, target.fresh[0]
    return _one(
        rng.choice(
            (
                rf"{x} = \int_0^1 \left({a}\right) d{u}",
                rf"{x} = \sum_{{k=1}}^{{1}} \left({a}\right)",
                rf"{x} = \frac{{d}}{{d{u}}}\left({u} \left({a}\right)\right)",
                rf"{x} = \lim_{{{u} \to 0}} \left({a} + {u}\right)",
                rf"{x} = \prod_{{k=1}}^{{1}} \left({a}\right)",
                rf"{x}^2 = {x} \left({a}\right)",
                rf"{x} = \int_0^2 \left({a}\right) d{u}",
            )
        )
    )


def _fewer_letters(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula, and behind it one by a single letter of it, exactly and in no case."""
    if not (target.is_formula and target.is_solved) or len(target.tied) < 2:
        return ()
    letter, k = rng.choice(target.tied), rng.choice((3, 5, 7, 11))
    last = rng.choice(
        (rf"{k} {letter}", rf"\frac{{{letter}}}{{{k}}}", rf"{k} {letter}^{{2}}", rf"\sqrt{{{k} {letter}}}")
    )
    return Claim(f"{target.left} = {target.right}", is_right=True), Claim(f"{target.left} = {last}")


def _fresh_letters(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """A letter with two values, one of which gives the right formula."""
    name = target.fresh[0]
    factor, tie = rng.choice(
        (
            (rf"\frac{{{name} + 1}}{{2}}", f"{name}^2 = 1"),
            (name, rf"\left|{name}\right| = 1"),
            (name, rf"{name}^3 = {name}"),
            (rf"{name}^3", rf"{name}^2 = 1"),
            (name, rf"{name} = \pm 1"),
            (name, rf"{name}^2 - 3 {name} + 2 = 0"),
            (name, rf"{name} \in \{{1, 5\}}"),
            (rf"\left(2 - {name}\right)", rf"{name}^4 = 1"),
            (name, rf"\sin\left(\pi {name}\right) = 0"),
        )
    )
    claim = Claim(rf"{target.left} = {factor} \cdot \left({target.right}\right)")
    tied = Claim(tie, is_claim=False)
    return rng.choice(((claim, tied), (tied, claim), (Claim(rf"{claim.formula}, \quad {tie}"),)))


def _contradiction(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula in one breath with what cannot be."""
    x, a = target.left, target.right
    right, b = f"{x} = {a}", _wrong(target, rng, 1)[0]
    forms = [
        rf"{right} \ne {a}",
        rf"{right} < {x}",
        rf"{right} > {a}",
        rf"{right}, \quad 0 = 1",
        rf"{right}; \; 1 = 2",
        rf"{right} \land 2 = 3",
        rf"{right} \text{{ and }} {x} = {b}",
        rf"{right} \text{{ and }} {x} \ne {a}",
        rf"{right} \text{{ and }} 0 = 1",
        rf"{right} \iff {x} = {b}",
        rf"{right}, \quad {x} \ne {a}",
    ]
    return _one(rng.choice(forms))


def _says_nothing(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """The right formula under its own condition, or beside all else."""
    right = f"{target.left} = {target.right}"
    turned = f"{target.right} = {target.left}"
    b = f"{target.left} = {_wrong(target, rng, 1)[0]}"
    return _text(
        rng.choice(
            (
                rf"${right} \iff {turned}$",
                f"If ${right}$ then ${right}$.",
                f"If ${right}$, then ${turned}$.",
                f"Either ${right}$ or not.",
                rf"${right} \text{{ or }} 1 = 1$",
                f"${right}$ or ${b}$ or neither.",
                f"${right}$ if and only if ${right}$.",
                f"${right}$ or something else.",
                f"${right}$ holds or it does not.",
            )
        )
    )


_OR = (  # in ten languages
    "oder",
    "bzw.",
    "ou",
    "ou bien",
    "oppure",
    "ofwel",
    "или",
    "或",
    "或者",
    "または",
    "o bien",
    "beziehungsweise",
    "либо",
)
_LOOSER = (
    "bis auf einen Faktor", "à un facteur près", "salvo un factor", "a meno di un fattore", "a menos de um fator",
    "op een factor na", "с точностью до множителя", "相差一个系数", "定数倍を除いて", "give or take a factor",
    "up to factors of two", "modulo a constant",
)  # fmt: skip
_WRONG_IN = (
    "ist falsch",
    "est faux",
    "es falso",
    "è falso",
    "é falso",
    "is fout",
    "неверно",
    "是错的",
    "は間違い",
    "is wrong",
)


def _other_languages(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Alternatives, looser claims and denials in the words of other languages."""
    right, wrong = f"${target.left} = {target.right}$", f"${target.left} = {_wrong(target, rng, 1)[0]}$"
    word = rng.choice(_OR)
    return _text(
        rng.choice(
            (
                f"{right} {word} {wrong}",
                f"{wrong} {word} {right}",
                f"{right} ({word} {wrong})",
                f"{right} {rng.choice(_LOOSER)}.",
                f"{right} {rng.choice(_WRONG_IN)}.",
            )
        )
    )


def _by_position(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Two answers, one of which is chosen by its place or not at all."""
    right, wrong = f"{target.left} = {target.right}", f"{target.left} = {_wrong(target, rng, 1)[0]}"
    one, two = rng.sample((right, wrong), 2)
    former, latter = ("former", "latter") if one == wrong else ("latter", "former")
    return _text(
        rng.choice(
            (
                f"With friction ${wrong}$. Without ${right}$. I take the former.",
                f"(A) ${one}$ (B) ${two}$",
                rf"$\text{{(A) }} {one} \qquad \text{{(B) }} {two}$",
                f"It is ${one}$ or ${two}$; the {former} of them.",
                f"One book has ${one}$, another has ${two}$. The {former} one is right, not the {latter}.",
                f"Choose between ${one}$ and ${two}$.",
            )
        )
    )


def _sweep_on_the_way(target: Target, rng: random.Random) -> tuple[Claim, ...]:
    """Many guesses of a quantity on the way, the right one anywhere but at the end (semantics C.2)."""
    if not target.siblings:
        return ()
    left, right = rng.choice(target.siblings)
    if left == target.left:
        return ()
    factors = [*FACTORS, Fraction(31, 8), Fraction(8, 37)]
    wrong = [Claim(rf"{left} = \frac{{{f.numerator}}}{{{f.denominator}}}\left({right}\right)") for f in factors]
    rng.shuffle(wrong)
    return _hidden(Claim(f"{left} = {right}"), wrong, rng)


def _text(text: str) -> tuple[Claim, ...]:
    return (Claim(text, carrier="text"),)


TRICKS: Mapping[str, Callable[[Target, random.Random], tuple[Claim, ...]]] = {
    "guesses": _guesses,
    "own subscripts": _subscripts,
    "own superscripts": _superscripts,
    "own accents": _accents,
    "own cases": _cases,
    "own numbers": _numbers,
    "another symbol each": _free_symbols,
    "wrong in another form": _forms,
    "definition of two values": _defined,
    "loose definition": _defined_loosely,
    "definition of no value": _defined_as_free,
    "defined by the answer": _defined_by_the_answer,
    "two factors": _two_factors,
    "union": _union,
    "several values": _several_values,
    "chain": _chain,
    "chain of subjects": _chain_of_subjects,
    "implication": _implication,
    "retraction": _retraction,
    "list for each quantity": _for_each,
    "text behind": _behind,
    "hidden": _hiding,
    "denied answer": _denied_answer,
    "bare boxes": _bare_boxes,
    "list in a box": _listed_in_a_box,
    "condition": _condition,
    "indicator": _indicator,
    "other unit": _unit_missing,
    "small steps": _small_steps,
    "another part": _another_part,
    "redefined": _redefined,
    "not worked out": _not_worked_out,
    "fewer letters": _fewer_letters,
    "fresh letters": _fresh_letters,
    "contradiction": _contradiction,
    "says nothing": _says_nothing,
    "other languages": _other_languages,
    "by position": _by_position,
    "sweep on the way": _sweep_on_the_way,
}
"""What makes a text dishonest."""

OF_ONE_SYMBOL = frozenset(
    (
        "own subscripts",
        "own superscripts",
        "own accents",
        "own cases",
        "own numbers",
        "chain of subjects",
    )
)
"""Tricks for answers that are solved for one symbol."""

ON_THE_WAY = frozenset(("list for each quantity", "sweep on the way"))
"""Tricks that list guesses of quantities that are no answers; none of them is presented as one."""

NEEDS_ALL = frozenset(
    (
        "definition of two values",
        "two factors",
        "loose definition",
        "defined by the answer",
        "definition of no value",
        "list for each quantity",
        "another part",
        "hidden",
        "fresh letters",
        "sweep on the way",
    )
)
"""Tricks of whose claims none can be left out."""

NOT_PLAIN = frozenset(("implication", "condition", "several values", "contradiction", "fresh letters"))
"""Tricks with what is not read without delimiters: `\\bot` behind an arrow, a condition in brackets, some lists."""

SAYS_MORE_THAN_ONE = frozenset(
    ("guesses", "retraction", "wrong in another form", "another symbol each", "bare boxes", "fewer letters")
)
"""Tricks whose wrong claims might be meant for another node about the same quantity."""
