r"""Functions, roots, derivatives, integrals and brackets of plain notation, as parts."""

from __future__ import annotations

from collections.abc import Sequence

from prism.latex.extraction.plain_operands import (
    OPENERS,
    SLASHES,
    Doubt,
    Part,
    Reader,
    bracket,
    joined,
    normal,
    scripted,
    sum_up,
    whole,
)
from prism.latex.extraction.plain_tokens import FRACTIONS, FUNCTIONS, GREEK_LETTERS, GREEK_NAMES, QUANTITIES, Mark

_MAX_LABEL = 16  # marks inside a ket; more is no label, and the search for its end stays short
_BIG = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod"}
_LONGEST_SUBJECT = 2  # letters of what is differentiated, as in `dmv/dt`
_SCRIPT_KINDS = frozenset(("super", "sub", "number"))
_BARS = frozenset("|∣")
_KET_ENDS = frozenset("⟩〉>")
_LABEL_SIGNS = {"↑": r"\uparrow", "↓": r"\downarrow", "−": "-", "–": "-", "…": r"\ldots", "±": r"\pm"}


def function(reader: Reader, mark: Mark) -> Part:
    r"""A function with its argument; what touches its name is in the argument, and gets brackets if more follows."""
    latex = "\\" + mark.text
    scripts = Part("", "", False)
    following = reader.tight()
    if mark.text == "log" and following and following.kind == "number":
        if following.text == "2":
            raise Doubt
        reader.at += 1
        scripts = Part(f"_{{{following.text}}}", "", False)
    elif following and (following.kind in ("super", "sub") or following.text in ("^", "_")):
        scripts = scripted(reader, "", "symbol", False)
    latex += scripts.latex
    following = reader.peek()
    if following is None:
        raise Doubt
    if following.text in OPENERS:
        reader.at += 1
        opener = "[" if following.text == "[" else "("
        inner = bracket(reader, OPENERS[following.text])
        if reader.tight() and (reader.is_next("^") or reader.tight().kind == "super"):  # type: ignore[union-attr]
            raise Doubt  # `sin(x)^2`: of the sine or of x?
        return Part(f"{latex}{opener}{inner}{']' if opener == '[' else ')'}", "function", mark.is_apart)
    is_glued = not following.is_apart
    run = [_argument(reader)]
    while (more := reader.tight()) is not None and _is_factor(more):
        run.append(_argument(reader))
    argument = joined(run)
    after = reader.peek()
    if after is None or not (_is_factor(after) or after.text in OPENERS or after.text in ("|", "∂", "⟨")):
        return Part(f"{latex} {argument}", "function", mark.is_apart)
    if after.text in OPENERS and not after.is_apart:
        raise Doubt  # `cosω(t - 1)`
    is_other = after.text in FUNCTIONS or after.text in OPENERS or after.text in ("|", "∂", "⟨")
    is_other = is_other or (after.kind == "word" and len(after.text) > 1 and after.text[0] == "d") or after.text == "d"
    if is_glued or is_other:
        return Part(f"{latex}({argument})", "function", mark.is_apart)
    return Part(f"{latex} {argument}", "function", mark.is_apart)


def _is_factor(mark: Mark) -> bool:
    if mark.kind == "word":
        return mark.text not in FUNCTIONS and mark.text != "sqrt"
    return mark.kind == "number" or mark.text in GREEK_LETTERS or mark.text in FRACTIONS


def _argument(reader: Reader) -> Part:
    """One factor of an argument without brackets."""
    mark = reader.peek()
    if mark is None or not (_is_factor(mark) or mark.text in ("|", "√")) or mark.text in QUANTITIES:
        raise Doubt
    return reader.read_part(reader, ())


def root(reader: Reader) -> Part:
    """`√x`, `√(...)`; of `√2gh` nobody knows how far it reaches."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    degree = "[3]" if mark.text == "∛" else ""
    if reader.is_next("(", "[", "{"):
        return root_of_bracket(reader, mark, degree)
    following = reader.tight()
    if following is None or not _is_factor(following):
        raise Doubt
    inner = reader.read_part(reader, ())
    if inner.kind == "product" or (inner.kind == "number" and (more := reader.tight()) and _is_factor(more)):
        raise Doubt  # `√2gh`, `√gh`: how far does the root reach?
    more = reader.tight()
    if more and _is_factor(more):
        raise Doubt
    return Part(rf"\sqrt{degree}{{{inner.latex}}}", "root", mark.is_apart)


def root_of_bracket(reader: Reader, mark: Mark, degree: str) -> Part:
    """The root of what stands in the brackets that follow."""
    if not reader.is_next("(", "[", "{"):
        raise Doubt
    closer = OPENERS[reader.marks[reader.at].text]
    reader.at += 1
    return scripted(reader, rf"\sqrt{degree}{{{bracket(reader, closer)}}}", "root", mark.is_apart)


def differential_quotient(reader: Reader, mark: Mark) -> Part | None:
    """`dx/dt`, `d²x/dt²`, `dθ/dt`, `d/dt`, `d(mv)/dt`; the `d` has been read. Nothing if it is none.

    Whether it is one is seen before anything in it is read: to try and to fall back would read a nest of brackets twice
    at every level.
    """
    if not _is_quotient(reader, mark):
        return None
    above = mark.text
    if above == "d":
        order = reader.tight()
        if order and (order.kind == "super" or order.text == "^"):
            above = scripted(reader, "d", "symbol", False).latex
        subject = reader.tight()
        if subject and subject.text == "(":
            reader.at += 1
            above += f"({bracket(reader, ')')})"
        elif subject and subject.text not in SLASHES:
            reader.at += 1
            named = GREEK_LETTERS.get(subject.text, subject.text)
            above += " " + scripted(reader, named, "symbol", False, is_letter=True).latex
    else:
        above = "d" + scripted(reader, above[1:], "symbol", False, is_letter=True).latex
    if not reader.is_next(*SLASHES):
        raise Doubt
    reader.at += 1
    named = reader.marks[reader.at].text[1:]
    reader.at += 1
    if not named:
        letter = reader.tight()
        if letter is None or letter.text not in GREEK_LETTERS:
            raise Doubt
        reader.at += 1
        named = GREEK_LETTERS[letter.text]
    variable = scripted(reader, named, "symbol", False, is_letter=True).latex
    more = reader.tight()
    if more and (_is_factor(more) or more.text in SLASHES):
        raise Doubt
    space = "" if variable[0] == "\\" else " "
    return Part(rf"\frac{{{above}}}{{d{space}{variable}}}", "derivative", mark.is_apart)


def _is_quotient(reader: Reader, mark: Mark) -> bool:
    """Whether one operand, its scripts, a stroke and another `d` follow without a space."""
    at = reader.at
    marks = reader.marks
    is_bare = mark.text == "d"
    if is_bare and at < len(marks) and marks[at].kind == "super":
        at += 1
    elif is_bare and at + 1 < len(marks) and marks[at].text == "^":
        at += 2
    if is_bare and at < len(marks) and not marks[at].is_apart and marks[at].text == "(":
        at = _behind_bracket(marks, at)
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
            at = _behind_bracket(marks, at - 1)
    if at + 1 >= len(marks) or marks[at].text not in SLASHES:
        return False
    below = marks[at + 1]
    return below.kind == "word" and below.text[0] == "d" and len(below.text) <= _LONGEST_SUBJECT


def _behind_bracket(marks: Sequence[Mark], at: int) -> int:
    """Index behind the bracket that closes the one at this index, or the end."""
    depth = 0
    for index in range(at, len(marks)):
        depth += (marks[index].text in OPENERS) - (marks[index].text in OPENERS.values())
        if depth == 0:
            return index + 1
    return len(marks)


def partial(reader: Reader) -> Part:
    """`∂U/∂V`, `∂²S/∂T∂V`, `∂/∂x`."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    above = scripted(reader, r"\partial", "symbol", False).latex
    subject = reader.peek()
    if subject and subject.text not in SLASHES:
        if subject.text == "(":
            reader.at += 1
            above += f"({bracket(reader, ')')})"
        elif subject.kind == "word" or subject.text in GREEK_LETTERS:
            if len(subject.text) > 1 and subject.text not in FUNCTIONS:
                raise Doubt
            above += " " + reader.read_part(reader, ()).latex
            if reader.is_next("(") and reader.tight():
                reader.at += 1
                above += f"({bracket(reader, ')')})"
        else:
            raise Doubt
    if not reader.is_next(*SLASHES):
        raise Doubt
    reader.at += 1
    is_grouped = reader.is_next("(") and reader.is_next("∂", ahead=1)
    reader.at += is_grouped
    below = ""
    while reader.is_next("∂"):
        reader.at += 1
        letter = reader.peek()
        if letter is None or not ((letter.kind == "word" and len(letter.text) == 1) or letter.text in GREEK_LETTERS):
            raise Doubt
        below += r"\partial " + reader.read_part(reader, ()).latex
    if not below or (is_grouped and not reader.is_next(")")):
        raise Doubt
    reader.at += is_grouped
    return Part(rf"\frac{{{above}}}{{{below}}}", "derivative", mark.is_apart)


def is_big(reader: Reader, mark: Mark) -> bool:
    """Whether an integral or a sum begins; Σ is one where an index or what is summed follows it."""
    if mark.text != "Σ":
        return mark.text in _BIG
    following = reader.peek(1)
    if following is None or following.kind == "relation":
        return False
    return following.text == "_" or following.kind == "sub" or following.is_apart or following.text in OPENERS


def big(reader: Reader) -> Part:
    """An integral, a sum or a product with its limits."""
    mark = reader.peek()
    assert mark is not None
    reader.at += 1
    below = above = ""
    while (script := reader.tight()) is not None:
        if script.kind in ("sub", "super"):
            reader.at += 1
            is_below, limit = script.kind == "sub", normal(script.text)
            if limit in "+-":
                limit += _limit(reader)  # `∫₋∞`
        elif script.kind == "number" and not below and script.text.isdigit() and reader.is_next("^", ahead=1):
            reader.at += 1
            is_below, limit = True, script.text  # `∫0^b`
        elif script.text == "∞" and below and not above:
            is_below, limit = False, _limit(reader)  # `∫₀∞`
        elif script.text in ("_", "^"):
            reader.at += 1
            is_below, limit = script.text == "_", _limit(reader)
        else:
            break
        if is_below:
            below = limit
        else:
            above = limit
    latex = _BIG.get(mark.text, r"\sum") + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return Part(latex, "big", mark.is_apart)


def _limit(reader: Reader) -> str:
    """A limit of an integral: a bracket, a number, a letter, each with a sign."""
    mark = reader.tight()
    if mark is None:
        raise Doubt
    if mark.text in OPENERS:
        reader.at += 1
        return bracket(reader, OPENERS[mark.text])
    sign = ""
    if mark.text in ("-", "−", "–"):
        sign = "-"
        reader.at += 1
        mark = reader.tight()
    if mark is None or not (mark.kind == "number" or mark.text in GREEK_LETTERS or mark.kind == "word"):
        raise Doubt
    if mark.kind == "word" and len(mark.text) > 1 and mark.text not in GREEK_NAMES:
        raise Doubt
    reader.at += 1
    return sign + GREEK_LETTERS.get(mark.text, GREEK_NAMES.get(mark.text, mark.text))


def bar(reader: Reader) -> Part:
    """A ket if the next bracket closes one, else an absolute value."""
    mark = reader.peek()
    assert mark is not None
    for ahead in range(1, _MAX_LABEL):
        closing = reader.peek(ahead)
        if closing is None or closing.text == "=" or closing.text in _BARS:
            break
        if closing.text in _KET_ENDS:
            label = _label(reader, reader.at + 1, reader.at + ahead)
            reader.at += ahead + 1
            return scripted(reader, rf"|{label}\rangle", "ket", mark.is_apart)
    reader.at += 1
    inner = sum_up(reader, _BARS)
    if not reader.is_next(*_BARS) or not inner:
        raise Doubt
    reader.at += 1
    return scripted(reader, f"|{inner}|", "group", mark.is_apart)


def average(reader: Reader) -> Part:
    """`⟨x⟩`, `⟨ψ|H|ψ⟩`, and a bra `⟨ψ|`."""
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
            pieces = [_piece(reader, start, end) for start, end in zip(starts, ends, strict=True)]
            reader.at = ends[-1] + 1
            return scripted(reader, rf"\langle {'|'.join(pieces)}\rangle", "ket", mark.is_apart)
    if bars and mark.text != "<":
        label = _label(reader, reader.at + 1, bars[0])
        reader.at = bars[0] + 1
        return Part(rf"\langle {label}|", "ket", mark.is_apart)
    raise Doubt


def _piece(reader: Reader, start: int, end: int) -> str:
    """What stands between the signs of an average: a formula if it is one, else a label."""
    inner = whole(Reader(reader.text, reader.marks[start:end], reader.read_part))
    return inner or _label(reader, start, end)


def _label(reader: Reader, start: int, end: int) -> str:
    """The label of a ket, sign by sign; it only has to be equal to itself."""
    parts: list[str] = []
    for mark in reader.marks[start:end]:
        word = mark.text
        if mark.kind in ("super", "sub"):
            word = ("^" if mark.kind == "super" else "_") + f"{{{normal(word)}}}"
        elif mark.kind == "single":
            word = _LABEL_SIGNS.get(word) or GREEK_LETTERS.get(word) or word
            if not word.startswith("\\") and word not in "+-,()_^'/.=;":
                raise Doubt
        elif mark.kind not in ("word", "number"):
            raise Doubt
        is_command = bool(parts) and parts[-1].startswith("\\") and word[:1].isalpha()
        parts += [" ", word] if is_command else [word]
    if not parts:
        raise Doubt
    return "".join(parts)
