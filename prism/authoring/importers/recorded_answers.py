r"""Read an answer as a data set records it into the formula of a final node: `\boxed{$v = 2$}` with the unit `m/s`.

A number with its unit is a quantity; a power of ten that stands in the unit belongs to the number. A choice between
letters and a yes or no become words with their options. Everything else must be one formula that the parser reads;
words, intervals of accepted values and what is not read raise `RefusedError` with the reason.

Refused: guessing a unit that cannot be read (a bare number is another answer), and a formula made out of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase

from prism.algebra.expr import Formula, symbols, symbols_of
from prism.authoring.candidates import statement_context
from prism.authoring.importers.entries import AnswerKind, RecordedAnswer, RefusedError
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.stated import StatedNumber, stated_number
from prism.errors import LatexSyntaxError
from prism.inputs import shown
from prism.latex import one_line, parse
from prism.latex.number_text import NumberText, read_number_text
from prism.latex.unit_grammar import normalize_unit_text
from prism.physics.context import describe_syntax_error
from prism.physics.tables import Unit
from prism.physics.units import find_unit_product
from prism.problem.answers import formulas_of_answer
from prism.problem.answers.worded import boxes_of, is_text, names_option

ALGEBRAIC, NUMERICAL, TEXT = "algebraic", "numerical", "text-based"
_MAX_ANSWER = 20_000  # characters of an answer
_FEWEST_OPTIONS, _MOST_OPTIONS = 4, 10  # of a choice
_APART = Fraction(2, 100)  # relative difference from which two recorded answers disagree
_LEAST_ANSWER = 3  # characters of a formula before its condition
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_LABEL = re.compile(r"\(([a-h])\)\s*(?:\\[,;:! ]|\\q?quad|~|\s)*(?=\S)")
_BEFORE_POWER = re.compile(r"\A(?:\\times|\\cdot|×|x|\*)?\s*(?=10\s*[-+^])")
_PLAIN_POWER = re.compile(r"\A10(?=[-+]\d{1,3}(?!\d))")  # of `10-19 J`
_BEHIND_POWER = re.compile(r"\A(?:\\[,;:! ]|\\times|\\cdot|~|\*|\s)*")
_CONDITION = re.compile(r"(?:\$|\\\)|\s|,|\\text\{)\s*(?:if|for|when|where|provided that)(?![A-Za-z])")
_TRUE = frozenset(("true", "t", "yes", "y", "correct", "right", "正确", "对", "是", "√"))
_FALSE = frozenset(("false", "f", "no", "n", "incorrect", "wrong", "错误", "错", "否", "×"))
_YES_OR_NO = frozenset(("yes", "no", "y", "n"))
_SEVERAL = frozenset(("tuple", "set"))  # operations that make several numbers one expression
_CHOICE = re.compile(r"(?:\\text(?:bf|rm)?\s*\{|\\mathrm\s*\{|\\mathbf\s*\{)?\s*[([]?\s*([A-Za-z])\s*[)\].]?\s*\}?")
_CHOICES = re.compile(r"[A-J](?:[\s,;、]*[A-J]){1,9}")
_OPTION_OF_QUESTION = re.compile(r"(?:^|[\n\s(])\(?([A-Ja-j])[).:：．、](?=[\s\S])")
_INTERVAL = re.compile(r"[\[(]\s*([^,;\[\]()]+)\s*[,;]\s*([^,;\[\]()]+)\s*[\])]")
_RANGE = re.compile(
    r"(?P<low>\d+(?:\.\d+)?)\s*(?:\$\s*)?(?:-{1,2}|–|—|~|\\sim|\bto\b)\s*(?:\$\s*)?(?P<high>\d+(?:\.\d+)?)(?P<unit>[^\d].*)?",
    re.DOTALL,
)
_NOTHING = frozenset(("", "nan", "n/a", "none", "null", "inf", "-inf"))  # what an empty cell is written as
_LINE_END = re.compile(r"(?:\\\\|\\end\s*\{[a-z]+\*?\}|\s)+$")  # in an environment
_PERCENT = re.compile(r"(?<!\\)%")  # begins a comment in LaTeX
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_PLAIN_BRACES = re.compile(r"\{([^{}^]*)\}(?!\s*\^)|(?<!\^)\{([^{}]*)\}")  # of a unit, but those of an exponent
_TEXT_BODY = re.compile(r"\\(?:text[a-z]*|mbox)\s*\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class AnswerNode:
    """The formula of a final node, with what its part says of the answer.

    Attributes:
        latex: of the node; plain words of one in words.
        form: `numerical`, `algebraic` or `text-based`.
        instructions: the options of an answer in words; else empty.
        remark: what a person should know; empty if nothing.
    """

    latex: str
    form: str
    instructions: str = ""
    remark: str = ""


def answer_nodes(answer: RecordedAnswer, question: str) -> tuple[AnswerNode, ...]:
    """Return the final nodes of one recorded answer; several only for a system of equations.

    Errors:
        RefusedError: it cannot be read, or no rule can compare it.
    """
    return tuple(replace(node, latex=_PERCENT.sub(r"\\%", node.latex)) for node in _read_answer(answer, question))


def _read_answer(answer: RecordedAnswer, question: str) -> tuple[AnswerNode, ...]:
    """Return the final nodes of an answer, in which a per cent sign may stand as it was recorded.

    Raises RefusedError for an empty, overlong or worded answer.
    """
    text = bare_answer(answer.text)
    if answer.options:
        return (AnswerNode(text, TEXT, f"'{'/'.join(answer.options)}'"),)
    if text.lower() in _NOTHING:
        raise RefusedError("no-answer", shown(text) if text else "")
    if len(text) > _MAX_ANSWER:
        raise RefusedError("answer-unread", f"{len(text)} characters are too many")
    if answer.kind is AnswerKind.TRUTH:
        return (_truth(text),)
    if answer.kind is AnswerKind.CHOICE or (answer.kind is AnswerKind.UNKNOWN and names_option(text, question)):
        return (_choice(text, question),)
    if answer.kind is AnswerKind.WORDS:
        raise RefusedError("answer-in-words", shown(text))
    if answer.kind is AnswerKind.INTERVAL or _is_range(text, answer.kind):
        raise RefusedError("answer-interval", shown(text))
    number = number_with_unit(text, answer.unit)
    if number is None and answer.kind is AnswerKind.NUMBER:
        number = spelled_quantity(text)
    if number is not None:
        return (AnswerNode(number, NUMERICAL),)
    if text.lower() in _YES_OR_NO or text.lower().rstrip(".") in ("true", "false"):
        return (_truth(text),)
    return _formulas(text, answer, question)


def bare_answer(text: str) -> str:
    r"""Return an answer without box, delimiters, part label and final stop.

    >>> bare_answer(r"\boxed{$v = a t$}."), bare_answer("(a) \\, N = 3"), bare_answer("$$x$$")
    ('v = a t', 'N = 3', 'x')
    """
    before, text = None, text.replace("\ufeff", "").strip()
    while text != before:
        before = text
        text = text.rstrip(" \t\n.。;；,") if not text.endswith((r"\,", r"\;")) else text[:-2].rstrip()
        opened, boxes = _BOX.match(text), boxes_of(text)
        if opened and boxes and opened.end() + len(boxes[0]) == len(text) - 1:
            text = boxes[0].strip()
        for left, right in _DELIMITERS:
            inner = text[len(left) : -len(right)]
            is_framed = text.startswith(left) and text.endswith(right) and len(text) > len(left + right)
            if is_framed and left not in inner and right not in inner:
                text = inner.strip()
        label = _LABEL.match(text)
        text = text[label.end() :].strip() if label else text
    return text


def in_dollars(latex: str) -> str:
    """Return LaTeX between delimiters, as one formula of a text."""
    return f"${latex}$"


def label_of(text: str) -> str:
    """Return the letter of the part that an answer begins with, `(a) N = 3`; empty if with none."""
    label = _LABEL.match(text.replace("\ufeff", "").strip())
    return label[1] if label else ""


def split_at_commas(text: str) -> list[str]:
    r"""Split a text at the commas that stand outside of all brackets.

    >>> split_at_commas(r"2.5, f(x, y), \{1, 2\}")
    ['2.5', 'f(x, y)', '\\{1, 2\\}']
    """
    found, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter in ",，" and depth <= 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [*found, text[begin:].strip()]


def listed_answers(texts: Sequence[str], kinds: Sequence[AnswerKind], unit: str) -> tuple[RecordedAnswer, ...]:
    """Return answers with a kind each; a unit with as many commas between is one for each, else it is that of all."""
    units = split_at_commas(unit) if len(texts) > 1 else [unit]
    units = units if len(units) == len(texts) else [unit] * len(texts)
    return tuple(map(RecordedAnswer, texts, kinds, units))


# Numbers and units ------------------------------------------------------------------------------------------------


def split_power(unit: str) -> tuple[int, str]:
    r"""Return the exponent of a power of ten that stands in a unit, 0 if none, and the unit without it.

    >>> split_power(r"$10^{-19} \mathrm{~J}$"), split_power("m/s"), split_power(r"\times 10^6 Pa")
    ((-19, '\\mathrm{~J}'), (0, 'm/s'), (6, 'Pa'))
    """
    text = bare_answer(unit.replace("$", " ").replace(r"\$", " ") if unit.count("$") > 1 else unit)
    behind = _PLAIN_POWER.sub("10^", _BEFORE_POWER.sub("", text))
    found = read_number_text(behind)
    if found is None or found.mantissa != "1" or not found.power:
        return 0, text
    return found.power, _BEHIND_POWER.sub("", behind[found.end :]).strip()


def spelled_unit(unit: str) -> str:
    r"""Return a unit without power of ten as `\unit{...}` takes it; empty if it cannot be read.

    >>> spelled_unit(r"\mathrm{~kJ} \mathrm{~mol}^{-1}"), spelled_unit("furlongs of cloth")
    ('kJ mol^-1', '')
    """
    if find_unit_product(unit) is None:
        return ""
    return " ".join(_PLAIN_BRACES.sub(r"\1\2", normalize_unit_text(unit)).split())


def number_with_unit(text: str, unit: str) -> str | None:
    r"""Return a number and its recorded unit as LaTeX; None if the text is no number.

    A subject stays: `E = 2.2` with `GeV` is `E = 2.2\unit{GeV}`.

    Errors:
        RefusedError: the unit cannot be read.

    >>> number_with_unit("3.31", r"$10^{-19} \mathrm{~J}$"), number_with_unit("1,250", ""), number_with_unit("m g", "N")
    ('3.31 \\times 10^{-19}\\unit{J}', '1250', None)
    """
    left, relation, written = text.rpartition("=")
    found = _stated(written)
    if found is None or (relation and not _is_name(left)):
        return None
    power, rest = split_power(unit)
    is_asked = bool(rest) and found.unit is None
    spelled = spelled_unit(rest) if is_asked else ""
    if is_asked and not spelled:
        raise RefusedError("unit-unread", shown(rest))
    number = _with_power(written, power)
    whole = f"{number}\\unit{{{spelled}}}" if spelled else number
    return f"{left.strip()} = {whole}" if relation else whole


def _is_name(left: str) -> bool:
    """Return True for what may stand left of a number: one expression without words and without another equals sign."""
    return "=" not in left and "\\text" not in left and not _WORD.search(left) and _parsed(left) is not None


def spelled_quantity(text: str) -> str | None:
    r"""Return a number with the unit behind it in italics or plain text as LaTeX; None for anything else.

    >>> spelled_quantity(r"1.9 \times 10^{-9} m"), spelled_quantity("3 m/s^2"), spelled_quantity("2 x y")
    ('1.9 \\times 10^{-9}\\unit{m}', '3\\unit{m/s^2}', None)
    """
    found = read_number_text(text)
    spelled = spelled_unit(text[found.end :].strip()) if found else ""
    return f"{found.latex}\\unit{{{spelled}}}" if found and spelled else None


def _stated(text: str) -> StatedNumber | None:
    """Return the number that a text states, with or without unit; None if it states none."""
    plain = _decimal(text)
    read = _parsed(plain.latex if plain else text)
    return stated_number(read.members[0]) if read is not None and read.kind == "expression" else None


def _parsed(text: str) -> Formula | None:
    """Return the formula that a text is as LaTeX, or a system; None if it is none."""
    try:
        return parse(text)
    except LatexSyntaxError:
        return None


def _decimal(text: str) -> NumberText | None:
    """Return a decimal number, `1250` of `1,250`; None for any other text."""
    found = read_number_text(text)
    return found if found and "/" not in found.mantissa and not text[found.end :].strip() else None


def _with_power(written: str, power: int) -> str:
    """Return a number as LaTeX, multiplied by a power of ten."""
    if (found := _decimal(written)) is not None:
        return replace(found, power=found.power + power).latex
    return rf"({written.strip()}) \times 10^{{{power}}}" if power else written.strip()


def value_of(text: str) -> Fraction | None:
    """Return the value of a text that is a number, with or without unit, in the unit as written; None for others.

    >>> value_of("1,250"), value_of("$2.5$ m"), value_of("a + b")
    (Fraction(1250, 1), Fraction(5, 2), None)
    """
    bare = bare_answer(text).rpartition("=")[2]
    found = _stated(bare) or read_number_text(bare.replace("$", ""))
    return None if found is None else found.value


def are_apart(text: str, recorded: str) -> bool:
    """Return True for two numbers that are over 2 % of the recorded one apart; False for what is no number."""
    found, wanted = value_of(text), value_of(recorded)
    return found is not None and wanted is not None and abs(found - wanted) > _APART * abs(wanted)


def unit_of(latex: str) -> Unit | None:
    """Return the unit of a number as LaTeX, with or without the quantity that it is of; None if it has none."""
    found = _stated(latex.rpartition("=")[2])
    return None if found is None else found.unit


# Words, choices and formulas --------------------------------------------------------------------------------------


def _truth(text: str) -> AnswerNode:
    """Return the node of a true or false, yes or no; raises RefusedError for other words."""
    word = (_TEXT_BODY.sub(r"\1", text)).strip(" .{}$").lower()
    if word not in _TRUE | _FALSE:
        raise RefusedError("answer-in-words", shown(text))
    names = ("yes", "no") if word in _YES_OR_NO else ("true", "false")
    return AnswerNode(names[word in _FALSE], TEXT, f"'{names[0]}/{names[1]}'")


def _choice(text: str, question: str) -> AnswerNode:
    """Return the node of one chosen letter, with the letters that may be chosen as its options.

    Raises RefusedError for what is none of the letters, and for several.
    """
    plain = _TEXT_BODY.sub(r"\1", text).strip()
    found = _CHOICE.fullmatch(plain)
    if found is None and _CHOICES.fullmatch(plain):
        raise RefusedError("several-choices", shown(plain))
    if found is None:
        raise RefusedError("answer-unread", f"{shown(plain)} is no letter of a choice")
    letter = found[1]
    letters = (ascii_uppercase if letter.isupper() else ascii_lowercase)[:_MOST_OPTIONS]
    options = list(takewhile({each[1] for each in _OPTION_OF_QUESTION.finditer(question)}.__contains__, letters))
    if len(options) < 2:  # the question lists none
        options = list(letters[: max(_FEWEST_OPTIONS, letters.find(letter) + 1)])
    if letter not in options:
        raise RefusedError("answer-unread", f"{shown(letter)} is none of {', '.join(options)}")
    return AnswerNode(letter, TEXT, f"'{'/'.join(options)}'")


def _is_range(text: str, kind: AnswerKind) -> bool:
    """Return True for `[4.96, 4.97]`, where a number is expected, and `4.96-4.97 m`: a range of accepted values."""
    if kind is AnswerKind.FORMULA:
        return False
    found = _RANGE.fullmatch(text)
    if found is not None and float(found["low"]) < float(found["high"]):
        unit = split_power(found["unit"] or "")[1]
        return not unit or bool(spelled_unit(unit))
    return kind is AnswerKind.NUMBER and _INTERVAL.fullmatch(text) is not None


def _formulas(text: str, answer: RecordedAnswer, question: str) -> tuple[AnswerNode, ...]:
    """Return the nodes of an answer that is a formula; raises RefusedError for words."""
    text = _without_condition(text)
    is_words = is_text(text) and _WORD.search(text) and not any(map(str.isdigit, text))
    found = [] if is_words else formulas_of_answer(text)
    if not found:
        _node_of(text)  # raises, with the reason
        raise RefusedError("answer-in-words", shown(one_line(text)))
    is_formula = answer.kind is AnswerKind.FORMULA or _names_symbols(text, question)
    is_whole = (is_formula or text.startswith("\\begin{")) and _parsed(text) is not None
    found = [text] if is_whole else [_with_unit(latex) for latex in found]
    nodes = [node for latex in found for node in _node_of(latex)]
    if answer.unit and any(node.form == ALGEBRAIC for node in nodes):
        nodes = [AnswerNode(n.latex, n.form, remark=f"the unit {answer.unit} stays out of the formula") for n in nodes]
    return tuple(nodes)


def _without_condition(text: str) -> str:
    r"""Return an answer without the condition behind it: `$v = a$ if $r > R$`."""
    found = _CONDITION.search(text)
    if found is None or found.start() < _LEAST_ANSWER:
        return text
    cut = text[: found.start()] + ("$" if found[0].startswith("$") else "")
    cut = bare_answer(cut) if cut.count("$") % 2 == 0 else bare_answer(cut.replace("$", ""))
    return cut.rstrip(" ,\\")


def _names_symbols(text: str, question: str) -> bool:
    """Return True if an answer has a symbol that its question declares, so that `2 m` there is no length."""
    read = _parsed(text)
    return read is not None and bool(symbols(*read.members) & statement_context(question).declared)


def _node_of(latex: str) -> list[AnswerNode]:
    """Return the nodes of one formula as LaTeX; those of its parts for a system.

    Raises RefusedError for words, and for LaTeX that cannot be read.
    """
    try:
        read = parse(latex)
    except LatexSyntaxError as error:
        code = "answer-in-words" if error.kind == "prose" else "answer-unread"
        raise RefusedError(code, one_line(describe_syntax_error(error))) from error
    if read.kind == "text":
        raise RefusedError("answer-in-words", shown(one_line(latex)))
    if read.kind in ("system", "implication"):
        return [node for part in read.parts for node in _node_of(_LINE_END.sub("", part.latex))]
    return [AnswerNode(latex, NUMERICAL if _is_number(read) else ALGEBRAIC)]


def _with_unit(latex: str) -> str:
    r"""Return a formula with the unit behind its number as one: `I = 2\unit{A}` for `I = 2 A`."""
    left, relation, right = latex.rpartition("=")
    return f"{left.strip()} = {quantity}" if relation and (quantity := spelled_quantity(right)) else latex


def _is_number(read: Formula) -> bool:
    """Return True if a formula states a number, with or without the quantity that it is of."""
    if read.kind == "expression" and read.members[0].op in _SEVERAL:
        return False
    if read.kind == "expression":
        return stated_number(read.members[0]) is not None or not symbols_of(read)
    return numeric_of(read) is not None
