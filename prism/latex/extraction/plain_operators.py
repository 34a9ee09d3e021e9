r"""Functions, roots, derivatives, integrals and brackets of plain notation, as parts."""

from __future__ import annotations

from collections.abc import Sequence

from prism.latex.extraction.plain_operands import (
    OPENERS,
    SLASHES,
    AmbiguousNotation,
    Part,
    Reader,
    concatenate_latex,
    latex_or_empty,
    read_bracket,
    read_scripts,
    read_sum,
    script_latex,
)
from prism.latex.extraction.plain_tokens import FRACTIONS, FUNCTIONS, GREEK_LETTERS, GREEK_NAMES, QUANTITIES, Mark

_MAX_LABEL = 16  # marks inside a ket; more is no label, and the search for its end stays short
_BIG = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod"}
_LONGEST_SUBJECT = 2  # letters of what is differentiated, as in `dmv/dt`
_SCRIPT_KINDS = frozenset(("super", "sub", "number"))
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
    while at < len(marks) and not marks[at].is_apart and (marks[at].kind in _SCRIPT_KINDS or marks[at].text in "_^'′’"):
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
