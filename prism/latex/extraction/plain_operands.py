r"""Operands and signs of plain notation: their scripts, and how they are put together as LaTeX.

The stroke of a division is what plain notation leaves open most often. Letters that touch stand below it together,
`p²/2m`; a number over a number before anything else is a factor, `1/2 m`; what else could be meant either way is
refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prism.latex.extraction.plain_tokens import ACCENTS, GREEK_LETTERS, GREEK_NAMES, Mark

_MAX_DEPTH = 12  # brackets in brackets; deeper ones nobody wrote by hand

_DOTS = {"dot": r"\dot", "ddot": r"\ddot", "hat": r"\hat", "bar": r"\bar", "vec": r"\vec"}
_INDEX_SIGNS = {"+": "+", "-": "-", "−": "-", "±": r"\pm"}
SLASHES = frozenset("/⁄∕")
OPENERS = {"(": ")", "[": "]", "{": "}"}
_PRIMES = frozenset("'′’")


class Doubt(Exception):
    """The marks are no formula, or could be read two ways."""


@dataclass(frozen=True, slots=True)
class Part:
    """One operand or sign; kinds: number symbol group function root derivative ket big operator slash comma."""

    latex: str
    kind: str
    is_apart: bool
    is_raised: bool = False  # has a power


@dataclass(slots=True)
class Reader:
    """Marks that are read from left to right; not frozen, for the place in them moves.

    Attributes:
        text: what the offsets of the marks refer to.
        read_part: reads the next operand or sign, given those before it.
        at: index of the mark that comes next.
        depth: of brackets around it.
    """

    text: str
    marks: Sequence[Mark]
    read_part: Callable[[Reader, Sequence[Part]], Part]
    at: int = 0
    depth: int = 0

    def peek(self, ahead: int = 0) -> Mark | None:
        """The mark that comes next, or one behind it."""
        at = self.at + ahead
        return self.marks[at] if at < len(self.marks) else None

    def is_next(self, *texts: str, ahead: int = 0) -> bool:
        """Whether one of these signs comes next."""
        mark = self.peek(ahead)
        return mark is not None and mark.text in texts

    def tight(self, ahead: int = 0) -> Mark | None:
        """The next mark if no space stands before it."""
        mark = self.peek(ahead)
        return None if mark is None or mark.is_apart else mark


def sum_up(reader: Reader, closers: frozenset[str]) -> str:
    """Everything up to a closing sign, which is left standing."""
    if reader.depth > _MAX_DEPTH:
        raise Doubt
    reader.depth += 1
    parts: list[Part] = []
    while (mark := reader.peek()) is not None and mark.text not in closers:
        parts.append(reader.read_part(reader, parts))
    reader.depth -= 1
    return _composed(parts)


def whole(reader: Reader) -> str:
    """All marks of a reader as LaTeX; nothing if they are not surely mathematics."""
    try:
        latex = sum_up(reader, frozenset())
    except Doubt:
        return ""
    return latex if reader.at == len(reader.marks) else ""


def bracket(reader: Reader, closer: str) -> str:
    """What stands before a closing bracket, which is passed."""
    inner = sum_up(reader, frozenset((closer,)))
    if not reader.is_next(closer) or not inner:
        raise Doubt
    reader.at += 1
    return inner


# Scripts --------------------------------------------------------------------------------------------------------


def scripted(reader: Reader, latex: str, kind: str, apart: bool, *, is_letter: bool = False) -> Part:
    """An operand with the indices and powers that follow it without a space."""
    below: list[str] = []
    above: list[str] = []
    primes = ""
    while (mark := reader.tight()) is not None:
        word = mark.text
        if is_letter and word in ACCENTS:
            reader.at += 1
            latex = f"{ACCENTS[word]}{{{latex}}}"
        elif word in _PRIMES and kind != "number" and not above:
            reader.at += 1
            primes += "'"
        elif word in ("″",):
            reader.at += 1
            primes += "''"
        elif mark.kind == "super":
            reader.at += 1
            above.append(normal(word))
        elif word == "†" and kind != "number":
            reader.at += 1
            above.append(r"\dagger")
        elif mark.kind == "sub":
            reader.at += 1
            below.append(normal(word))
        elif is_letter and mark.kind == "number" and not below and not above:
            reader.at += 1
            below.append(_index(reader, mark))
        elif word == "_" and kind != "number":
            reader.at += 1
            index = _script(reader, "_")
            if index in _DOTS and is_letter and not below and not above:
                latex = f"{_DOTS[index]}{{{latex}}}"
            else:
                below.append(index)
        elif word in ("^", "**") or (word == "*" and reader.is_next("*", ahead=1)):
            reader.at += 1 if word != "*" else 2
            above.append(
                _script(reader, "^", has_index=bool(below) or kind == "ket", base=kind if kind == "number" else latex)
            )
        elif mark.kind == "tag" and word in ("<sub>", "<sup>"):
            (below if word == "<sub>" else above).append(_tagged(reader, word))
        else:
            break
    if len(above) > 1:
        raise Doubt
    latex += primes + (f"_{{{','.join(below)}}}" if below else "") + (f"^{{{above[0]}}}" if above else "")
    return Part(latex, kind, apart, bool(above))


def normal(word: str) -> str:
    """Raised and lowered signs as ordinary ones; the brackets around a lowered word are dropped."""
    plain = unicodedata.normalize("NFKC", word).replace("−", "-")
    if word[0] == "₍":
        plain = plain[1:-1]
    return "".join(GREEK_LETTERS.get(sign, sign) for sign in plain)


def _index(reader: Reader, mark: Mark) -> str:
    """The `1` of `x1`; not that of `v2y`, where a power may have been lost."""
    following, after = reader.tight(), reader.tight(1)
    if not mark.text.isdigit() or len(mark.text) > 2:
        raise Doubt
    if following and following.kind == "word" and not (len(following.text) == 1 and after and after.kind == "number"):
        raise Doubt
    return mark.text


def _script(reader: Reader, script: str, *, has_index: bool = False, base: str = "") -> str:
    """What stands behind `^` or `_`: a bracket, a number, a sign with a number, a letter, or a word below."""
    mark = reader.tight()
    if mark is None:
        raise Doubt
    reader.at += 1
    word = mark.text
    if word in OPENERS:
        number, closing = reader.peek(), reader.peek(1)
        if script == "^" and word == "(" and number and number.text.isdigit() and closing and closing.text == ")":
            if not has_index:
                raise Doubt  # `H^(1)`: a power, or an order
            reader.at += 2
            return f"({number.text})"
        return (script == "_" and _index_words(reader, OPENERS[word])) or bracket(reader, OPENERS[word])
    if script == "^" and word in ("-", "−", "–", "+"):
        number = reader.tight()
        if number is None or not (number.kind == "number" or (number.kind == "word" and len(number.text) == 1)):
            raise Doubt
        reader.at += 1
        _check_power_end(reader, number, base, is_open=True)
        return ("" if word == "+" else "-") + number.text
    if mark.kind == "number":
        if script == "^":
            _check_power_end(reader, mark, base, is_open=base == "e")
        elif not word.isdigit():
            raise Doubt
        return word
    if word in GREEK_LETTERS:
        return GREEK_LETTERS[word]
    if script == "_" and word in _INDEX_SIGNS and (reader.tight() is None or reader.tight().text in ")|]"):  # type: ignore[union-attr]
        return _INDEX_SIGNS[word]
    if script == "^" and word in ("*", "†"):
        return "*" if word == "*" else r"\dagger"
    if mark.kind != "word" or (script == "^" and len(word) > 1):
        raise Doubt
    if script == "^":
        _check_power_end(reader, mark, base, is_open=base == "e")
        return word
    index = GREEK_NAMES.get(word, word)
    number = reader.tight()
    if number and number.kind == "number" and number.text.isdigit():
        reader.at += 1
        index += number.text
    return index


def _index_words(reader: Reader, closer: str) -> str:
    """The words of an index in brackets, `_{net}` or `_(max,1)`; nothing if it holds more than words."""
    at = reader.at
    words: list[str] = []
    while (mark := reader.peek()) is not None and mark.text != closer:
        if mark.kind not in ("word", "number") and mark.text not in (",", "+", "-", "−"):
            break
        words.append(GREEK_NAMES.get(mark.text, mark.text))
        reader.at += 1
    if mark is None or mark.text != closer or not words:
        reader.at = at
        return ""
    reader.at += 1
    return "".join(words)


def _check_power_end(reader: Reader, power: Mark, base: str, *, is_open: bool) -> None:
    """Refuse a power of which it is open where it ends: `e^-r/a`, `x^1/2`, `e^iωt`."""
    following = reader.tight()
    if following is None:
        return
    is_operand = following.kind == "word" or following.text in GREEK_LETTERS
    if is_operand and power.kind == "word":
        raise Doubt
    if following.text in SLASHES and base != "number":
        below = reader.peek(1)
        if below is None or (power.kind == "word" and is_open):
            raise Doubt
        is_whole = power.text in ("2", "4", "6") or power.text == below.text
        if power.text == "1" or (below.kind == "number" and (is_open or not is_whole)):
            raise Doubt


def _tagged(reader: Reader, tag: str) -> str:
    """`<sub>net</sub>`."""
    reader.at += 1
    word = ""
    while (mark := reader.peek()) is not None and mark.text != "</" + tag[1:]:
        if mark.kind not in ("word", "number") and mark.text not in ("-", "+", ",") and mark.text not in GREEK_LETTERS:
            raise Doubt
        word += GREEK_LETTERS.get(mark.text, mark.text)
        reader.at += 1
    if mark is None or not word:
        raise Doubt
    reader.at += 1
    return word


# Putting parts together -----------------------------------------------------------------------------------------

_SIGN_KINDS = frozenset(("operator", "slash", "comma"))


def _composed(parts: Sequence[Part]) -> str:
    """The parts of a sum as LaTeX, with brackets where a slash needs them."""
    if not parts or parts[-1].kind in ("operator", "slash", "comma", "big") or parts[0].kind in ("slash", "comma"):
        raise Doubt
    written: list[Part] = []
    at = 0
    while at < len(parts):
        if parts[at].kind == "slash":
            at = _divide(parts, at, written)
        else:
            written.append(parts[at])
            at += 1
    return joined(written)


def _divide(parts: Sequence[Part], at: int, written: list[Part]) -> int:
    """Write a slash and what it divides by; refuse where that is open. Returns where the parts go on."""
    first = parts[at + 1]
    if not written or written[-1].kind in _SIGN_KINDS or first.kind in _SIGN_KINDS:
        raise Doubt
    end = at + 2
    if first.kind in ("group", "root", "derivative", "ket"):
        written += [Part("/", "slash", parts[at].is_apart), first]
        return end
    after = parts[end] if end < len(parts) else None
    if first.kind == "function":
        if after is not None and after.kind not in _SIGN_KINDS:
            raise Doubt
        written += [Part("/", "slash", parts[at].is_apart), first]
        return end
    if first.kind == "big":
        raise Doubt
    run = [first]
    while end < len(parts) and parts[end].kind in ("symbol", "product", "number") and not parts[end].is_apart:
        run.append(parts[end])
        end += 1
    after = parts[end] if end < len(parts) else None
    above = written[-1]
    is_coefficient = first.kind == above.kind == "number" and above.latex.isdigit() and first.latex.isdigit()
    is_coefficient = is_coefficient and (len(written) < 2 or written[-2].kind in _SIGN_KINDS or above.is_apart)
    is_open = after is not None and after.kind not in _SIGN_KINDS
    if is_open and not after.is_apart and not (is_coefficient and len(run) == 1 and after.kind == "group"):  # type: ignore[union-attr]
        raise Doubt
    if is_coefficient and (is_open or len(run) > 1):
        return _coefficient(written, run, at + 2, end)
    if len(run) == 1 and first.kind != "product":
        if is_open and after.kind in ("symbol", "product", "number") and not after.latex.startswith("e^{"):  # type: ignore[union-attr]
            raise Doubt
        written += [Part("/", "slash", parts[at].is_apart), first]
    else:
        written += [Part("/", "slash", parts[at].is_apart), Part(f"({joined(run)})", "group", first.is_apart)]
    return end


def _coefficient(written: list[Part], run: Sequence[Part], one: int, end: int) -> int:
    """`1/2 m`, `1/2mv²` and `4/3πr³` begin with a fraction, `1/4πε₀` is one over all of it; `1/2m` is refused."""
    above = written.pop()
    fraction = Part(rf"\frac{{{above.latex}}}{{{run[0].latex}}}", "number", above.is_apart)
    if len(run) == 1:
        written.append(fraction)
        return end
    if run[1].latex == r"\pi" or run[1].latex.startswith(r"\pi "):
        if above.latex == "1" and int(run[0].latex) % 2 == 0:
            whole = Part(rf"\frac{{1}}{{{joined(run)}}}", "group", above.is_apart)
            written.append(whole)
            return end
        if (above.latex, run[0].latex) == ("4", "3"):
            written.append(fraction)
            return one
        raise Doubt
    if run[0].latex != "2" or not any(part.is_raised for part in run[1:]):
        raise Doubt
    written.append(fraction)
    return one


def joined(parts: Sequence[Part]) -> str:
    """The parts one behind the other, with the spaces of the text and those that LaTeX needs."""
    latex = ""
    for at, part in enumerate(parts):
        needs_space = re.search(r"\\[A-Za-z]+$", latex) is not None and part.latex[:1].isalpha()
        is_first = at == 0 or parts[at - 1].kind == "comma"
        if (part.is_apart and at) or needs_space or (is_first and at):
            latex += " "
        latex += part.latex
    return latex
