r"""Operands and signs of plain notation: their scripts, and how they are put together as LaTeX.

The stroke of a division is what plain notation leaves open most often. Letters that touch stand below it together,
`p²/2m`; a number over a number before anything else is a factor, `1/2 m`; what else could be meant either way is
refused.

Functions, roots, derivatives, integrals and brackets of plain notation, as parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prism.latex.extraction.plain_tokens import (
    ACCENTS,
    FRACTIONS,
    FUNCTIONS,
    GREEK_LETTERS,
    GREEK_NAMES,
    QUANTITIES,
    Mark,
)
from prism.latex.words import word_set

_MAX_DEPTH = 12  # brackets in brackets; deeper ones nobody wrote by hand

_DOTS = {"dot": r"\dot", "ddot": r"\ddot", "hat": r"\hat", "bar": r"\bar", "vec": r"\vec"}
_INDEX_SIGNS = {"+": "+", "-": "-", "−": "-", "±": r"\pm"}
SLASHES = frozenset("/⁄∕")
OPENERS = {"(": ")", "[": "]", "{": "}"}
_PRIMES = frozenset("'′’")
_SCRIPT_KINDS = word_set("super sub number tag")
_SCRIPT_SIGNS = _PRIMES | ACCENTS.keys() | word_set("″ † _ ^ ** *")  # what may belong to the operand before it


class AmbiguousNotation(Exception):
    """Raised where plain marks are no formula or could be read in two ways."""


class Part(NamedTuple):  # no dataclass, for speed, as `plain_tokens.Mark`
    """One operand or sign as LaTeX."""

    latex: str
    kind: str  # number symbol product group function root derivative ket big operator slash comma
    is_apart: bool  # a space stands before it
    is_raised: bool = False  # has a power


@dataclass(slots=True)
class Reader:
    """A cursor over plain-text marks, read from left to right.

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
        """Return the next mark, or the one `ahead` marks behind it, without consuming it; None at the end."""
        at = self.at + ahead
        return self.marks[at] if at < len(self.marks) else None

    def is_next(self, *texts: str, ahead: int = 0) -> bool:
        """Return True if the next mark, or the one `ahead` marks behind it, is one of these texts."""
        mark = self.peek(ahead)
        return mark is not None and mark.text in texts

    def peek_touching(self, ahead: int = 0) -> Mark | None:
        """Return the mark that `peek` returns if no space stands before it, else None."""
        mark = self.peek(ahead)
        return None if mark is None or mark.is_apart else mark


def read_sum(reader: Reader, closers: frozenset[str]) -> str:
    """Read a sum up to one of the closing signs, which is not consumed, and write it as LaTeX.

    Raises AmbiguousNotation beyond _MAX_DEPTH.
    """
    if reader.depth > _MAX_DEPTH:
        raise AmbiguousNotation
    reader.depth += 1
    parts: list[Part] = []
    marks, read_part = reader.marks, reader.read_part
    while reader.at < len(marks) and marks[reader.at].text not in closers:
        parts.append(read_part(reader, parts))
    reader.depth -= 1
    return _compose_sum(parts)


def latex_or_empty(reader: Reader) -> str:
    """Read all marks and write them as LaTeX; empty if they are not surely mathematics."""
    try:
        latex = read_sum(reader, frozenset())
    except AmbiguousNotation:
        return ""
    return latex if reader.at == len(reader.marks) else ""


def read_bracket(reader: Reader, closer: str) -> str:
    """Read up to a closing bracket, consume it, and write the content as LaTeX.

    Raises AmbiguousNotation if it is empty or none closes it.
    """
    inner = read_sum(reader, frozenset((closer,)))
    if not reader.is_next(closer) or not inner:
        raise AmbiguousNotation
    reader.at += 1
    return inner


# Scripts --------------------------------------------------------------------------------------------------------


def read_scripts(reader: Reader, latex: str, kind: str, apart: bool, *, is_letter: bool = False) -> Part:
    """Read the indices, powers and accents that touch an operand, and return the operand with them.

    Raises AmbiguousNotation for several powers.
    """
    below: list[str] = []
    above: list[str] = []
    primes = ""
    marks = reader.marks
    while reader.at < len(marks):
        mark = marks[reader.at]
        word = mark.text
        if mark.is_apart or (mark.kind not in _SCRIPT_KINDS and word not in _SCRIPT_SIGNS):
            break
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
            above.append(script_latex(word))
        elif word == "†" and kind != "number":
            reader.at += 1
            above.append(r"\dagger")
        elif mark.kind == "sub":
            reader.at += 1
            below.append(script_latex(word))
        elif is_letter and mark.kind == "number" and not below and not above:
            reader.at += 1
            below.append(_read_digit_index(reader, mark))
        elif word == "_" and kind != "number":
            reader.at += 1
            index = _read_script(reader, "_")
            if index in _DOTS and is_letter and not below and not above:
                latex = f"{_DOTS[index]}{{{latex}}}"
            else:
                below.append(index)
        elif word in ("^", "**") or (word == "*" and reader.is_next("*", ahead=1)):
            reader.at += 1 if word != "*" else 2
            base = kind if kind == "number" else latex
            above.append(_read_script(reader, "^", has_index=bool(below) or kind == "ket", base=base))
        elif mark.kind == "tag" and word in ("<sub>", "<sup>"):
            (below if word == "<sub>" else above).append(_read_html_script(reader, word))
        else:
            break
    if len(above) > 1:
        raise AmbiguousNotation
    if primes or below or above:
        latex += primes + (f"_{{{','.join(below)}}}" if below else "") + (f"^{{{above[0]}}}" if above else "")
    return Part(latex, kind, apart, bool(above))


def script_latex(word: str) -> str:
    """Convert raised or lowered Unicode signs to LaTeX on the line: `⁻³` to `-3`."""
    plain = unicodedata.normalize("NFKC", word).replace("−", "-")
    if word[0] == "₍" or (word[0] == "⁽" and any(sign.isascii() for sign in word)):  # `∫₍a₎⁽b⁾`, and not `E⁽⁰⁾`
        plain = plain[1:-1]
    return "".join(GREEK_LETTERS.get(sign, sign) for sign in plain)


def _read_digit_index(reader: Reader, mark: Mark) -> str:
    """Read a digit index such as the `1` of `x1`; refuse that of `v2y`, where a power may have been lost."""
    following, after = reader.peek_touching(), reader.peek_touching(1)
    if not mark.text.isdigit() or len(mark.text) > 2:
        raise AmbiguousNotation
    if following and following.kind == "word" and not (len(following.text) == 1 and after and after.kind == "number"):
        raise AmbiguousNotation
    return mark.text


def _read_script(reader: Reader, script: str, *, has_index: bool = False, base: str = "") -> str:
    """Read what follows `^` or `_` (`script`): a bracket, a number, a sign with a number, a letter, or a word below.

    Raises AmbiguousNotation for anything else.
    """
    mark = reader.peek_touching()
    if mark is None:
        raise AmbiguousNotation
    reader.at += 1
    word = mark.text
    if word in OPENERS:
        number, closing = reader.peek(), reader.peek(1)
        if script == "^" and word == "(" and number and number.text.isdigit() and closing and closing.text == ")":
            if not has_index and base != "number":
                raise AmbiguousNotation  # `H^(1)`: a power, or an order
            reader.at += 2
            return f"({number.text})" if has_index else number.text
        return (script == "_" and _read_index_words(reader, OPENERS[word])) or read_bracket(reader, OPENERS[word])
    if script == "^" and word in ("-", "−", "–", "+"):
        number = reader.peek_touching()
        if number is None or not (number.kind == "number" or (number.kind == "word" and len(number.text) == 1)):
            raise AmbiguousNotation
        reader.at += 1
        _check_power_end(reader, number, base, is_open=True)
        return ("" if word == "+" else "-") + number.text
    if mark.kind == "number":
        if script == "^" and base[:1] in ("(", "[") and _is_half(reader, mark):
            reader.at += 2
            return "1/2"  # of a bracket nobody writes the power 1
        if script == "^":
            _check_power_end(reader, mark, base, is_open=base == "e")
        elif not word.isdigit():
            raise AmbiguousNotation
        return word
    if word in GREEK_LETTERS:
        return GREEK_LETTERS[word]
    if script == "_" and word in _INDEX_SIGNS and (not (after := reader.peek_touching()) or after.text in ")|]"):
        return _INDEX_SIGNS[word]
    if script == "^" and word in ("*", "†"):
        return "*" if word == "*" else r"\dagger"
    if mark.kind != "word" or (script == "^" and len(word) > 1):
        raise AmbiguousNotation
    if script == "^":
        _check_power_end(reader, mark, base, is_open=base == "e")
        return word
    index = GREEK_NAMES.get(word, word) if word != "xi" else word  # of x at the start, `p_xi`
    number = reader.peek_touching()
    if number and number.kind == "number" and number.text.isdigit():
        reader.at += 1
        index += number.text
    return index


def _read_index_words(reader: Reader, closer: str) -> str:
    """Read the words of a bracketed index, `_{net}` or `_(max,1)`; empty, nothing consumed, if there is more in it."""
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


def _is_half(reader: Reader, number: Mark) -> bool:
    """Return True if a slash and a 2 touch the 1 that was read, and no operand touches them: `(2gh)^1/2`."""
    slash, two, behind = (reader.peek_touching(ahead) for ahead in range(3))
    is_half = number.text == "1" and slash is not None and slash.text == "/" and two is not None and two.text == "2"
    return is_half and (behind is None or (behind.kind not in ("word", "number", "name") and behind.text not in "(["))


def _check_power_end(reader: Reader, power: Mark, base: str, *, is_open: bool) -> None:
    """Refuse a power whose end is ambiguous: `e^-r/a`, `x^1/2`, `e^iωt`; `is_open`: it has a sign, or its base is e."""
    following = reader.peek_touching()
    if following is None:
        return
    is_operand = following.kind == "word" or following.text in GREEK_LETTERS
    if is_operand and power.kind == "word":
        raise AmbiguousNotation
    if following.text in SLASHES and base != "number":
        denominator = reader.peek(1)
        if denominator is None or (power.kind == "word" and is_open):
            raise AmbiguousNotation
        is_whole = power.text in ("2", "4", "6") or power.text == denominator.text
        if power.text == "1" or (denominator.kind == "number" and (is_open or not is_whole)):
            raise AmbiguousNotation


def _read_html_script(reader: Reader, tag: str) -> str:
    """Read an HTML index or power such as `<sub>net</sub>`.

    Raises AmbiguousNotation if it is empty or holds other signs.
    """
    reader.at += 1
    word = ""
    while (mark := reader.peek()) is not None and mark.text != "</" + tag[1:]:
        if mark.kind not in ("word", "number") and mark.text not in ("-", "+", ",") and mark.text not in GREEK_LETTERS:
            raise AmbiguousNotation
        word += GREEK_LETTERS.get(mark.text, mark.text)
        reader.at += 1
    if mark is None or not word:
        raise AmbiguousNotation
    reader.at += 1
    return word


# Putting parts together -----------------------------------------------------------------------------------------

_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+$")
_ARGUMENTS = frozenset(("(r)", "(x)", "(y)", "(z)", "(t)"))
_SIGN_KINDS = frozenset(("operator", "slash", "comma"))


def _compose_sum(parts: Sequence[Part]) -> str:
    """Write the parts of a sum as LaTeX, with brackets around what stands below a slash; refuse an incomplete sum."""
    if not parts or parts[-1].kind in ("operator", "slash", "comma", "big") or parts[0].kind in ("slash", "comma"):
        raise AmbiguousNotation
    written: list[Part] = []
    at = 0
    while at < len(parts):
        if parts[at].kind == "slash":
            at = _write_quotient(parts, at, written)
        else:
            written.append(parts[at])
            at += 1
    return concatenate_latex(written)


def _write_quotient(parts: Sequence[Part], slash_index: int, written: list[Part]) -> int:
    """Append the quotient at a slash to `written` and return the index behind it; refuse an ambiguous denominator."""
    first = parts[slash_index + 1]
    if not written or written[-1].kind in _SIGN_KINDS or first.kind in _SIGN_KINDS:
        raise AmbiguousNotation
    end = slash_index + 2
    slash = Part("/", "slash", parts[slash_index].is_apart)
    if first.kind in ("group", "root", "derivative", "ket"):
        written += [slash, first]
        return end
    after = parts[end] if end < len(parts) else None
    if first.kind == "function":
        if after is not None and after.kind not in _SIGN_KINDS:
            raise AmbiguousNotation
        written += [slash, first]
        return end
    if first.kind == "big":
        raise AmbiguousNotation
    run = [first]
    while end < len(parts) and parts[end].kind in ("symbol", "product", "number") and not parts[end].is_apart:
        run.append(parts[end])
        end += 1
    after = parts[end] if end < len(parts) else None
    above = written[-1]
    is_coefficient = first.kind == above.kind == "number" and above.latex.isdigit() and first.latex.isdigit()
    is_coefficient = is_coefficient and (len(written) < 2 or written[-2].kind in _SIGN_KINDS or above.is_apart)
    is_open = after is not None and after.kind not in _SIGN_KINDS
    if len(run) == 1 and first.kind == "symbol" and after is not None and after.latex in _ARGUMENTS:
        written += [slash, first, after]  # `D/ε(r)`: a variable alone in brackets is no factor
        return end + 1
    if is_coefficient and (above.latex, first.latex) == ("1", "2") and _is_raised_group(after, len(run)):
        return _write_fraction(written, run[:1], slash_index + 2, slash_index + 2)  # `1/2k(L-x)^2`
    if is_open and not after.is_apart and not (is_coefficient and len(run) == 1 and after.kind == "group"):  # type: ignore[union-attr]
        raise AmbiguousNotation
    if is_coefficient and (is_open or len(run) > 1):
        return _write_fraction(written, run, slash_index + 2, end)
    if len(run) == 1 and first.kind != "product":
        if is_open and after.kind in ("symbol", "product", "number") and not after.latex.startswith("e^{"):  # type: ignore[union-attr]
            raise AmbiguousNotation
        written += [slash, first]
    else:
        written += [slash, Part(f"({concatenate_latex(run)})", "group", first.is_apart)]
    return end


def _is_raised_group(part: Part | None, run_length: int) -> bool:
    """Return True if a bracket with a power touches the factors before it, of which the first is the number below."""
    return part is not None and run_length > 1 and part.kind == "group" and part.is_raised and not part.is_apart


def _write_fraction(written: list[Part], denominator: Sequence[Part], after_first: int, after_last: int) -> int:
    """Append the fraction in `1/2 m`, `4/3πr³` or `1/4πε₀` to `written`, return the index behind it; refuse `1/2m`."""
    above = written.pop()
    fraction = Part(rf"\frac{{{above.latex}}}{{{denominator[0].latex}}}", "number", above.is_apart)
    if len(denominator) == 1:
        written.append(fraction)
        return after_last
    if denominator[1].latex == r"\pi" or denominator[1].latex.startswith(r"\pi "):
        if above.latex == "1" and int(denominator[0].latex) % 2 == 0:
            unit_fraction = Part(rf"\frac{{1}}{{{concatenate_latex(denominator)}}}", "group", above.is_apart)
            written.append(unit_fraction)
            return after_last
        if (above.latex, denominator[0].latex) == ("4", "3"):
            written.append(fraction)
            return after_first
        raise AmbiguousNotation
    if denominator[0].latex != "2" or not any(part.is_raised for part in denominator[1:]):
        raise AmbiguousNotation
    written.append(fraction)
    return after_first


def concatenate_latex(parts: Sequence[Part]) -> str:
    """Concatenate parts with the spaces of the text and those that LaTeX needs."""
    latex = ""
    for at, part in enumerate(parts):
        needs_space = part.latex[:1].isalpha() and _ENDS_IN_COMMAND.search(latex) is not None
        is_first = at == 0 or parts[at - 1].kind == "comma"
        if (part.is_apart and at) or needs_space or (is_first and at):
            latex += " "
        latex += part.latex
    return latex


# Functions, roots, derivatives, integrals and brackets --------------------------------------------------------------

_MAX_LABEL = 16  # marks inside a ket; more is no label, and the search for its end stays short
_BIG = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod"}
_LONGEST_SUBJECT = 2  # letters of what is differentiated, as in `dmv/dt`
_KINDS_BEHIND_SUBJECT = frozenset(("super", "sub", "number"))
_BARS = frozenset("|∣")
_KET_ENDS = frozenset("⟩〉>")
_LABEL_SIGNS = {"↑": r"\uparrow", "↓": r"\downarrow", "−": "-", "–": "-", "…": r"\ldots", "±": r"\pm"}


def read_function(reader: Reader, mark: Mark) -> Part:
    """Read a function with its argument: what touches its name, bracketed if more follows.

    Raises AmbiguousNotation without an argument, and where its end is open.
    """
    latex = "\\" + mark.text
    scripts = Part("", "", False)
    following = reader.peek_touching()
    if mark.text == "log" and following and following.kind == "number":
        if following.text == "2":
            raise AmbiguousNotation
        reader.at += 1
        scripts = Part(f"_{{{following.text}}}", "", False)
    elif following and (following.kind in ("super", "sub") or following.text in ("^", "_")):
        scripts = read_scripts(reader, "", "symbol", False)
    latex += scripts.latex
    following = reader.peek()
    if following is None:
        raise AmbiguousNotation
    if following.text in OPENERS:
        reader.at += 1
        opener = "[" if following.text == "[" else "("
        inner = read_bracket(reader, OPENERS[following.text])
        if reader.peek_touching() and (reader.is_next("^") or reader.peek_touching().kind == "super"):  # type: ignore[union-attr]
            raise AmbiguousNotation  # `sin(x)^2`: of the sine or of x?
        return Part(f"{latex}{opener}{inner}{']' if opener == '[' else ')'}", "function", mark.is_apart)
    is_glued = not following.is_apart
    run = [_read_bare_argument(reader)]
    while (more := reader.peek_touching()) is not None and _can_begin_factor(more):
        run.append(_read_bare_argument(reader))
    argument = concatenate_latex(run)
    after = reader.peek()
    if after is None or not (_can_begin_factor(after) or after.text in OPENERS or after.text in ("|", "∂", "⟨")):
        return Part(f"{latex} {argument}", "function", mark.is_apart)
    if after.text in OPENERS and not after.is_apart:
        raise AmbiguousNotation  # `cosω(t - 1)`
    is_other = after.text in FUNCTIONS or after.text in OPENERS or after.text in ("|", "∂", "⟨")
    is_other = is_other or (after.kind == "word" and len(after.text) > 1 and after.text[0] == "d") or after.text == "d"
    if is_glued or is_other:
        return Part(f"{latex}({argument})", "function", mark.is_apart)
    return Part(f"{latex} {argument}", "function", mark.is_apart)


def _can_begin_factor(mark: Mark) -> bool:
    """Return True if a mark can begin a factor that is no function or root."""
    if mark.kind == "word":
        return mark.text not in FUNCTIONS and mark.text != "sqrt"
    return mark.kind == "number" or mark.text in GREEK_LETTERS or mark.text in FRACTIONS


def _read_bare_argument(reader: Reader) -> Part:
    """Read one factor of a function's argument that has no brackets; raises AmbiguousNotation if there is none."""
    mark = reader.peek()
    if mark is None or not (_can_begin_factor(mark) or mark.text in ("|", "√")) or mark.text in QUANTITIES:
        raise AmbiguousNotation
    return reader.read_part(reader, ())


def read_root(reader: Reader) -> Part:
    """Read `√x` or `√(...)`; `√2gh` is refused, since its radicand may be 2, 2g or 2gh."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    degree = "[3]" if mark.text == "∛" else ""
    if reader.is_next("(", "[", "{"):
        return read_root_of_bracket(reader, mark, degree)
    following = reader.peek_touching()
    if following is None or not _can_begin_factor(following):
        raise AmbiguousNotation
    inner = reader.read_part(reader, ())
    if inner.kind == "product" or (
        inner.kind == "number" and (more := reader.peek_touching()) and _can_begin_factor(more)
    ):
        raise AmbiguousNotation  # `√2gh`, `√gh`: how far does the root reach?
    more = reader.peek_touching()
    if more and _can_begin_factor(more):
        raise AmbiguousNotation
    return Part(rf"\sqrt{degree}{{{inner.latex}}}", "root", mark.is_apart)


def read_root_of_bracket(reader: Reader, mark: Mark, degree: str) -> Part:
    """Read the bracket that follows a root; `degree` is `[3]` for a cube root, else empty.

    Raises AmbiguousNotation if none follows.
    """
    if not reader.is_next("(", "[", "{"):
        raise AmbiguousNotation
    closer = OPENERS[reader.marks[reader.at].text]
    reader.at += 1
    return read_scripts(reader, rf"\sqrt{degree}{{{read_bracket(reader, closer)}}}", "root", mark.is_apart)


def read_differential_quotient(reader: Reader, mark: Mark) -> Part | None:
    """Read `dx/dt`, `d²x/dt²`, `d/dt` or `d(mv)/dt` behind its first word; None if there is no such quotient.

    Whether it is one is seen before anything in it is read: to try and to fall back would read a nest of brackets twice
    at every level. Raises AmbiguousNotation where it is not whole.
    """
    if not _begins_differential_quotient(reader, mark):
        return None
    above = mark.text
    if above == "d":
        order = reader.peek_touching()
        if order and (order.kind == "super" or order.text == "^"):
            above = read_scripts(reader, "d", "symbol", False).latex
        subject = reader.peek_touching()
        if subject and subject.text == "(":
            reader.at += 1
            above += f"({read_bracket(reader, ')')})"
        elif subject and subject.text not in SLASHES:
            reader.at += 1
            named = GREEK_LETTERS.get(subject.text, subject.text)
            above += " " + read_scripts(reader, named, "symbol", False, is_letter=True).latex
    else:
        above = "d" + read_scripts(reader, above[1:], "symbol", False, is_letter=True).latex
    if not reader.is_next(*SLASHES):
        raise AmbiguousNotation
    reader.at += 1
    named = reader.marks[reader.at].text[1:]
    reader.at += 1
    if not named:
        letter = reader.peek_touching()
        if letter is None or letter.text not in GREEK_LETTERS:
            raise AmbiguousNotation
        reader.at += 1
        named = GREEK_LETTERS[letter.text]
    variable = read_scripts(reader, named, "symbol", False, is_letter=True).latex
    more = reader.peek_touching()
    if more and (_can_begin_factor(more) or more.text in SLASHES):
        raise AmbiguousNotation
    space = "" if variable[0] == "\\" else " "
    return Part(rf"\frac{{{above}}}{{d{space}{variable}}}", "derivative", mark.is_apart)


def _begins_differential_quotient(reader: Reader, mark: Mark) -> bool:
    """Return True if what follows a word such as `d` or `dx` makes it the numerator of a differential quotient."""
    at = reader.at
    marks = reader.marks
    is_bare = mark.text == "d"
    if is_bare and at < len(marks) and marks[at].kind == "super":
        at += 1
    elif is_bare and at + 1 < len(marks) and marks[at].text == "^":
        at += 2
    if is_bare and at < len(marks) and not marks[at].is_apart and marks[at].text == "(":
        at = _index_after_bracket(marks, at)
    elif is_bare and at < len(marks) and marks[at].text not in SLASHES:
        subject = marks[at]
        is_letter = subject.text in GREEK_LETTERS or (subject.kind == "word" and len(subject.text) <= _LONGEST_SUBJECT)
        if subject.is_apart or not is_letter:
            return False
        at += 1
    elif len(mark.text) > _LONGEST_SUBJECT + 1:
        return False
    while (
        at < len(marks)
        and not marks[at].is_apart
        and (marks[at].kind in _KINDS_BEHIND_SUBJECT or marks[at].text in "_^'′’")
    ):
        at += 2 if marks[at].text in "_^" else 1
        if at < len(marks) and marks[at - 1].text in OPENERS:
            at = _index_after_bracket(marks, at - 1)
    if at + 1 >= len(marks) or marks[at].text not in SLASHES:
        return False
    below = marks[at + 1]
    return below.kind == "word" and below.text[0] == "d" and len(below.text) <= _LONGEST_SUBJECT


def _index_after_bracket(marks: Sequence[Mark], opening: int) -> int:
    """Return the index behind the bracket that closes the one at index `opening`, or the number of marks."""
    depth = 0
    for index in range(opening, len(marks)):
        depth += (marks[index].text in OPENERS) - (marks[index].text in OPENERS.values())
        if depth == 0:
            return index + 1
    return len(marks)


def read_partial_derivative(reader: Reader) -> Part:
    """Read a partial derivative: `∂U/∂V`, `∂²S/∂T∂V`, `∂/∂x`; raises AmbiguousNotation where it is not whole."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    above = read_scripts(reader, r"\partial", "symbol", False).latex
    subject = reader.peek()
    if subject and subject.text not in SLASHES:
        if subject.text == "(":
            reader.at += 1
            above += f"({read_bracket(reader, ')')})"
        elif subject.kind == "word" or subject.text in GREEK_LETTERS:
            if len(subject.text) > 1 and subject.text not in FUNCTIONS:
                raise AmbiguousNotation
            above += " " + reader.read_part(reader, ()).latex
            if reader.is_next("(") and reader.peek_touching():
                reader.at += 1
                above += f"({read_bracket(reader, ')')})"
        else:
            raise AmbiguousNotation
    if not reader.is_next(*SLASHES):
        raise AmbiguousNotation
    reader.at += 1
    is_grouped = reader.is_next("(") and reader.is_next("∂", ahead=1)
    reader.at += is_grouped
    below = ""
    while reader.is_next("∂"):
        reader.at += 1
        letter = reader.peek()
        if letter is None or not ((letter.kind == "word" and len(letter.text) == 1) or letter.text in GREEK_LETTERS):
            raise AmbiguousNotation
        below += r"\partial " + reader.read_part(reader, ()).latex
    if not below or (is_grouped and not reader.is_next(")")):
        raise AmbiguousNotation
    reader.at += is_grouped
    return Part(rf"\frac{{{above}}}{{{below}}}", "derivative", mark.is_apart)


def is_big_operator(reader: Reader, mark: Mark) -> bool:
    """Return True if a mark begins an integral, sum or product; Σ is a sum if an index or a summand follows."""
    if mark.text != "Σ":
        return mark.text in _BIG
    following = reader.peek(1)
    if following is None or following.kind == "relation":
        return False
    begins = following.kind in ("word", "name", "sub") or following.text in GREEK_LETTERS or following.text in OPENERS
    return begins or following.text == "_" or following.is_apart


def read_big_operator(reader: Reader) -> Part:
    """Read the sign of an integral, sum or product with its limits."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    below = above = ""
    while (script := reader.peek_touching()) is not None:
        if script.kind in ("sub", "super"):
            reader.at += 1
            is_below, limit = script.kind == "sub", script_latex(script.text)
            if limit in "+-":
                limit += _read_limit(reader)  # `∫₋∞`
        elif script.kind == "number" and not below and script.text.isdigit() and reader.is_next("^", ahead=1):
            reader.at += 1
            is_below, limit = True, script.text  # `∫0^b`
        elif script.text == "∞" and below and not above:
            is_below, limit = False, _read_limit(reader)  # `∫₀∞`
        elif script.text in ("_", "^"):
            reader.at += 1
            is_below, limit = script.text == "_", _read_limit(reader)
        else:
            break
        if is_below:
            below = limit
        else:
            above = limit
    latex = _BIG.get(mark.text, r"\sum") + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return Part(latex, "big", mark.is_apart)


def _read_limit(reader: Reader) -> str:
    """Read one limit of an integral: a bracket, or a number or letter with its sign.

    Raises AmbiguousNotation for others.
    """
    mark = reader.peek_touching()
    if mark is None:
        raise AmbiguousNotation
    if mark.text in OPENERS:
        reader.at += 1
        return read_bracket(reader, OPENERS[mark.text])
    sign = ""
    if mark.text in ("-", "−", "–"):
        sign = "-"
        reader.at += 1
        mark = reader.peek_touching()
    if mark is None or not (mark.kind == "number" or mark.text in GREEK_LETTERS or mark.kind == "word"):
        raise AmbiguousNotation
    if mark.kind == "word" and len(mark.text) > 1 and mark.text not in GREEK_NAMES:
        raise AmbiguousNotation
    reader.at += 1
    limit = sign + GREEK_LETTERS.get(mark.text, GREEK_NAMES.get(mark.text, mark.text))
    if reader.is_next("/") and reader.is_next("^", ahead=2):  # `∫₋b/2^(b/2)`
        reader.at += 2
        limit += f"/{reader.marks[reader.at - 1].text}"
    return limit


def read_bar(reader: Reader) -> Part:
    """Read what begins with a bar: a ket if the next bracket closes one, else an absolute value.

    Raises AmbiguousNotation if it is empty or none closes it.
    """
    mark = reader.peek()
    assert mark is not None
    for ahead in range(1, _MAX_LABEL):
        closing = reader.peek(ahead)
        if closing is None or closing.text == "=" or closing.text in _BARS:
            break
        if closing.text in _KET_ENDS:
            label = _ket_label(reader, reader.at + 1, reader.at + ahead)
            reader.at += ahead + 1
            return read_scripts(reader, rf"|{label}\rangle", "ket", mark.is_apart)
    reader.at += 1
    inner = read_sum(reader, _BARS)
    if not reader.is_next(*_BARS) or not inner:
        raise AmbiguousNotation
    reader.at += 1
    return read_scripts(reader, f"|{inner}|", "group", mark.is_apart)


def read_angle_brackets(reader: Reader) -> Part:
    """Read an average `⟨x⟩`, a matrix element `⟨ψ|H|ψ⟩` or a bra `⟨ψ|`.

    Raises AmbiguousNotation where they are not closed.
    """
    mark = reader.peek()
    assert mark is not None
    bars: list[int] = []
    for ahead in range(1, 2 * _MAX_LABEL):
        closing = reader.peek(ahead)
        if closing is None or (closing.kind == "relation" and closing.text != ">"):
            break
        if closing.text in _BARS:
            bars.append(reader.at + ahead)
        if closing.text in _KET_ENDS:
            ends = [*bars, reader.at + ahead]
            starts = [reader.at + 1, *(end + 1 for end in bars)]
            pieces = [_formula_or_label(reader, start, end) for start, end in zip(starts, ends, strict=True)]
            reader.at = ends[-1] + 1
            return read_scripts(reader, rf"\langle {'|'.join(pieces)}\rangle", "ket", mark.is_apart)
    if bars and mark.text != "<":
        label = _ket_label(reader, reader.at + 1, bars[0])
        reader.at = bars[0] + 1
        return Part(rf"\langle {label}|", "ket", mark.is_apart)
    raise AmbiguousNotation


def _formula_or_label(reader: Reader, start: int, end: int) -> str:
    """Write the marks between two signs of an average as a formula if they are one, else as a label."""
    inner = latex_or_empty(Reader(reader.text, reader.marks[start:end], reader.read_part))
    return inner or _ket_label(reader, start, end)


def _ket_label(reader: Reader, start: int, end: int) -> str:
    """Write the marks from `start` to `end` as the label of a ket, sign by sign; it only has to equal itself.

    Raises AmbiguousNotation for an empty label, and for signs that none has.
    """
    parts: list[str] = []
    for mark in reader.marks[start:end]:
        word = mark.text
        if mark.kind in ("super", "sub"):
            word = ("^" if mark.kind == "super" else "_") + f"{{{script_latex(word)}}}"
        elif mark.kind == "single":
            word = _LABEL_SIGNS.get(word) or GREEK_LETTERS.get(word) or word
            if not word.startswith("\\") and word not in "+-,()_^'/.=;":
                raise AmbiguousNotation
        elif mark.kind not in ("word", "number"):
            raise AmbiguousNotation
        is_command = bool(parts) and parts[-1].startswith("\\") and word[:1].isalpha()
        parts += [" ", word] if is_command else [word]
    if not parts:
        raise AmbiguousNotation
    return "".join(parts)
