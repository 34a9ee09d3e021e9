r"""Problems that are nothing but an answer, and final answers that are given without a left side.

`{"answer": "5 m/s"}` is a problem of one final node; a list of answers is one of several. A final answer that its
author gives as a bare number or expression, such as `\frac12 ab`, is an equation for a nameless subject, which no text
can write: a solution states it by what it presents as its answer, under whatever name (semantics F.3, F.5).
"""

from __future__ import annotations

import re
from itertools import takewhile

from prism.algebra.alternatives import REGIONS
from prism.algebra.expr import EQUALITIES, Expr, Formula, formula, symbol, symbols
from prism.algebra.symbols import symbol_of
from prism.equivalence.statements import components_of
from prism.errors import LatexSyntaxError, named_type
from prism.inputs import shown
from prism.latex import extract, parse, write
from prism.latex.extraction.masking import with_decimal_points
from prism.physics.italic_units import with_italic_units
from prism.problem.answers.typed import plain_answer, typed_quantity, typed_value
from prism.problem.answers.worded import is_text, names_option
from prism.problem.answers.words import is_sentence
from prism.problem.source import NODE_LISTS, Table

NAMELESS = r"\answer"  # how the names of nameless subjects begin
ANSWER = "answer"
QUESTION = "question"
_DELIMITERS = ("$", r"\(", r"\[", r"\boxed", r"\begin{a", r"\begin{e", r"\begin{g", r"\begin{mu")
_NONE: frozenset[str] = frozenset()
# A number and letters behind it, apart from it or with a stroke: `5 m/s`, `10\,\mu m`, and not `2m`.
_PLAIN_UNIT = re.compile(r"\d(?:(?:\s|\\[,;:! ]|~)+(?:\\mu\s*)?[A-Za-z]|[A-Za-z]+/)")
_PROSE = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{4,}\s+[A-Za-z]{2,}\s")  # three words outside of a command
_WORDS = re.compile(r"(?i:yes|no|true|false)|[A-Za-z]{4,}(?: [A-Za-z]{2,})*\.?")  # `stable`, `strong decay`
_IN_TEXT = re.compile(
    r"\\text(?:bf|it|rm)?\s*\{\s*(?:\(?[A-J]\)?|[^{}]*[A-Za-z]{3,}\s[^{}]*[A-Za-z]{3}[^{}]*|[A-Za-z]{4,})\.?\s*\}\.?"
)  # `\text{(D)}`
_UNCERTAIN = re.compile(r"\A([-+]?\d+\.\d+)\(\d{1,2}\)")  # `12.3(4)`; nobody records a product
_JOINS = re.compile(r"(?<=[\s\d}])(or|and|where|with)(?=\s)")
_TEXT = re.compile(r"\\text\{(?:[^{}]|\{[^{}]*\})*\}")
_COPIED = ("id", "symbols", "givens", "definitions", "macros", "images")  # keys that a problem of an answer may have


def is_nameless(subject: Expr) -> bool:
    """Return True for the subject of a final answer that is given as a bare number or expression."""
    return subject.op == "sym" and symbol_of(subject.name).base == NAMELESS


def with_nameless_subject(bare: Formula, index: int) -> Formula:
    """Return the equation of a nameless subject for a bare formula of final node `index`; any other as it is."""
    if bare.kind != "expression":
        return bare
    relation = "in" if bare.members[0].op in REGIONS else "="
    return formula((symbol(f"{NAMELESS}_{{{index}}}"), bare.members[0]), (relation,), bare.latex, bare.depends)


def is_answer_only(data: Table) -> bool:
    """Return True for a table that holds an answer instead of nodes."""
    return ANSWER in data and not any(key in data for key in NODE_LISTS)


def with_nodes(data: Table, faults: list[str]) -> Table:
    """Return the problem of a table that holds an answer, or a list of them: a final node for each formula.

    Args:
        data: `answer`, and if there is one `question`, the statement that says what its symbols mean; `id`, `symbols`,
            `givens`, `definitions`, `macros`, `images` as of any problem.
        faults: collects what is wrong.
    """
    value = data[ANSWER]
    written = list(value) if isinstance(value, list | tuple) else [value]
    latex: list[str] = []
    texts: list[str] = []
    for place, each in enumerate(written, start=1):
        where = ANSWER if len(written) == 1 else f"{ANSWER}, entry {place}"
        text = str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each
        if isinstance(text, str):
            text = with_decimal_points(text)
            is_in_text = "$" in text and text.startswith("\\text") and is_sentence(text)
            is_option = is_in_text or names_option(text, str(data.get(QUESTION, "")))
            found = [] if is_option else formulas_of_answer(text)
            in_words = is_text(text) and (text.startswith("\\text") or not any(map(str.isdigit, text)))
            if is_option or (not found and (in_words or is_sentence(text, share=1))):
                texts.append(text)
                found = [text]
            latex += found
            faults += [] if found else [f"{where}: {shown(text)} {_why_unread(text)}"]
        else:
            faults.append(f"{where}: {named_type(each)} is neither text nor number")
    if not written:
        faults.append(f"{ANSWER}: is empty")
    nodes = [
        {"index": index, "formula": each, "dependency": [], "is_final_answer": True}
        | dict({} if each in texts else _value_alone(each))
        for index, each in enumerate(latex, start=1)
    ]
    worded = {"subquestions": [{"letter": "a", "subproblem": "", "final_answer_form": "text-based"}]} if texts else {}
    question = data.get(QUESTION, data.get("context", ""))
    copied = {key: data[key] for key in _COPIED if key in data}
    return {"id": ANSWER, "context": question, NODE_LISTS[0]: nodes, **worded, **copied}


def _why_unread(text: str) -> str:
    """Return in words why a text is no answer: where it cannot be read as a formula."""
    try:
        parse(text)
    except LatexSyntaxError as fault:
        return f"holds no formula: {str(fault).splitlines()[0]}"
    return "holds no formula"


def _value_alone(latex: str) -> Table:
    r"""Return what is accepted beside an answer that is a chain: its first member with the last that equals it.

    >>> _value_alone(r"h = \frac{a}{b} \approx 1.5\unit{km}"), _value_alone("S = a b > 0"), _value_alone("h = 2")
    ({'accept': ['h = 1.5 \\unit{km}']}, {'accept': ['S = a b']}, {})
    """
    try:
        read = parse(latex)
    except LatexSyntaxError:
        return {}
    equal = list(takewhile(EQUALITIES.__contains__, read.relations))
    if read.kind != "chain" or not equal:
        return {}
    value = formula((read.members[0], read.members[len(equal)]), ("=",))
    return {"accept": [write(value)]}


def formulas_of_answer(written: str) -> list[str]:
    r"""Return the formulas of an answer as LaTeX: as it is written, or those between delimiters; several of a system.

    >>> [formulas_of_answer(text) for text in (r"$x = 2$", r"\boxed{75}", "a = 1, b = 2", "5 m/s")]
    [['x = 2'], ['75'], ['a = 1', 'b = 2'], ['5\\unit{m/s}']]
    """
    bare = _UNCERTAIN.sub(r"\1", plain_answer(written).removesuffix("\\"))
    if (quantity := typed_quantity(bare)) is not None:
        return [quantity]
    if (value := typed_value(bare, "")) is not None:
        return [value.partition("=")[0]]
    bare = _JOINS.sub(r"\\text{ \1 }", bare)
    if _WORDS.fullmatch(bare) or _PROSE.search(_TEXT.sub("", bare)) or _IN_TEXT.fullmatch(bare):
        return []
    whole = rf"\[{bare}\]" if "$" in bare else f"${bare}$"  # dollars within its texts part nothing
    if _PROSE.search(bare):  # words in `\text` around formulas
        return [item.latex for item in extract(whole) if "=" in item.latex]
    if any(mark in _TEXT.sub("", bare).replace(r"\$", "") for mark in _DELIMITERS):
        return [item.latex for item in extract(written) if item.kind != "plain"]
    try:
        read = parse(bare)
    except LatexSyntaxError:
        return [item.latex for item in extract(whole if "$" in bare else written)]
    if (components := components_of(read)) is not None:
        return [write(part) for part in components.parts]
    first, *conditions = read.parts if read.kind == "conditional" else (read,)
    if first.kind == "system" or any(member.op == "list" for member in first.members):
        cut = [item.latex for item in extract(rf"\boxed{{{bare}}}")]  # as a solution's box is read
        if len(cut) > 1:
            return cut
    if first.kind == "system":
        return [part.latex for part in (*first.parts, *conditions)]  # what a letter of them is, is asked for too
    if read.kind == "alternatives" and all(part.kind == "expression" for part in read.parts):
        return [rf"\{{{', '.join(write(part) for part in read.parts)}\}}"]
    if "approx" in read.relations and not symbols(*read.members):  # a number, and what comes out
        return [write(read.members[0])]
    return [write(with_italic_units(read, _NONE))] if _PLAIN_UNIT.search(bare) is not None else [bare]
