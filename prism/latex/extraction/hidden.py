r"""What TeX does not show: phantoms, white ink, text of no size or off the page, boxes and branches that are not used.

A command either hides its arguments, or sets the ink or the size up to the end of its group; a conditional hides the
branch that is not taken, and both where only TeX could tell which that is. What a page shows after all (a box that is
used later, white on a dark page) is left out too: nobody writes an answer that way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from prism.latex.extraction.colours import Rgb, is_faint, of_latex
from prism.latex.extraction.pages import is_hidden_style
from prism.latex.words import word_set

# Every repetition in a pattern below is bounded, so that no text makes a scan quadratic.
_OPTIONS = re.compile(r"\s{0,8}(?:\[[^\[\]]{0,120}\]\s{0,8}){0,3}")
_MACRO_HEAD = re.compile(
    r"\s{0,8}(?:\{\s*\\?[A-Za-z@]{1,40}\s*\}|\\[A-Za-z@]{1,40})\s{0,8}"
    r"(?:\[\d\]|\[[^\[\]\n]{0,80}\]|#\d|\{(?:[\smoOsdDrRtevbp+\[\]()]|\{[^{}]{0,20}\}){0,40}\}(?=\s{0,8}\{)){0,6}\s{0,8}(?=\{)"
)
_BOX_HEAD = re.compile(
    r"\s{0,8}(?:\{[^{}]{0,40}\}|\\[A-Za-z@]{1,40}|\d{1,4})\s{0,8}=?\s{0,8}"
    r"(?:\\[hv](?:box|top)\s{0,8}(?:(?:to|spread)\s{0,8}[\w.\\]{1,20})?)?\s{0,8}(?:\[[^\[\]]{0,40}\]\s{0,8}){0,2}(?=\{)"
)
_LENGTH = re.compile(
    r"\s{0,8}([-+]?\s{0,4}(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})?)\s{0,4}"
    r"(cm|mm|in|pt|bp|pc|em|ex|sp|\\[a-z]{0,12}(?:width|height))"
)
_IN_POINTS = {"cm": 28.45, "mm": 2.845, "in": 72.27, "pt": 1, "bp": 1, "pc": 12, "em": 10, "ex": 4, "sp": 1e-5}
_PAPER = 600.0  # points: the width of a page
_SMALLEST = 1.0  # points: type that can be seen
_LEAST_SCALE = 0.1
_LEAST_INK = 0.1  # one is opaque
_NUMBER = re.compile(r"\s*[-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*")
_END_OF_MATH = re.compile(r"\$|\\[\])]|\n[ \t]*\n")
_END_OF_INK = re.compile(r"\\(?:color|normalcolor|transparent)(?![A-Za-z])")
_END_OF_SIZE = re.compile(
    r"\\(?:fontsize|normalsize|small|footnotesize|large|Large|LARGE|huge|Huge|normalfont)(?![A-Za-z])"
)
_END_OF_LINE = re.compile(r"\n[ \t]*\n|\\\\|\\(?:newline|par)(?![A-Za-z])")
_PARAGRAPH = 2_000  # characters in which the beginning of a paragraph is looked for
_MATH_MARK = re.compile(r"\\[\s\S]|\$\$?")

_HIDDEN_ARGUMENTS = {  # command: which of its arguments are not shown
    **dict.fromkeys(
        "phantom hphantom vphantom sout xout st index label glossary hypertarget hyperlink href url includegraphics"
        " pdfcomment special hypersetup nocite bookmark message typeout input newsavebox graphicspath pdfinfo".split(),
        (0,),
    ),
    **dict.fromkeys(("pdftooltip", "texttip", "mathtip", "colorlet"), (1,)),
    "ifthenelse": (0, 1, 2),
    "definecolor": (0, 1, 2),
}
_MACROS = word_set(
    "newcommand renewcommand providecommand DeclareMathOperator newenvironment renewenvironment def gdef edef xdef let"
    " NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand DeclareRobustCommand"
)
_BOXES = word_set("sbox savebox setbox toks")
_COMMAND = re.compile(
    r"\\(?P<name>"
    + "|".join(
        sorted(
            {*_HIDDEN_ARGUMENTS, *_MACROS, *_BOXES}
            | set(
                "color textcolor transparent texttransparent colorbox fontsize scalebox resizebox raisebox hspace hskip"
                " kern style htmlStyle".split()
            ),
            key=len,
            reverse=True,
        )
    )
    + r")(?![A-Za-z])\*?|\\[\s\S]|[{}]"
)
_DEFINED = re.compile(
    r"\\(?:definecolor\s{0,8}\{([^{}]{1,40})\}\s{0,8}\{([^{}]{1,20})\}|colorlet\s{0,8}\{([^{}]{1,40})\}())"
    r"\s{0,8}\{([^{}]{1,60})\}"
)
_CONDITIONAL = re.compile(r"\\(?P<word>if(?!f(?![A-Za-z@])|thenelse)[A-Za-z@]{0,30}|else|fi)(?![A-Za-z@])")

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Page:
    """A text with its braces paired, and the names that it gives to colours."""

    text: str
    mate: dict[int, int]
    colours: dict[str, Rgb]

    def argument(self, at: int) -> _Span | None:
        """The braces of the argument that begins here, options passed over; None if there is none that closes."""
        options = _OPTIONS.match(self.text, at)
        opening = options.end() if options else at
        return (opening, self.mate[opening] + 1) if opening in self.mate else None

    def arguments(self, at: int, most: int) -> list[_Span]:
        """The braces of the arguments that follow."""
        found: list[_Span] = []
        while len(found) < most and (argument := self.argument(at)):
            found.append(argument)
            at = argument[1]
        return found

    def content(self, braces: _Span) -> str:
        """What stands in braces."""
        return self.text[braces[0] + 1 : braces[1] - 1]


def hidden_commands(text: str) -> list[_Span]:
    """Spans that are not shown because of a command, ascending."""
    mate: dict[int, int] = {}
    found: list[tuple[re.Match[str], int]] = []
    opened: list[int] = []
    for mark in _COMMAND.finditer(text):
        word = mark.group()
        if mark["name"]:
            found.append((mark, opened[-1] if opened else -1))
        elif word == "{":
            opened.append(mark.start())
        elif word == "}" and opened:
            mate[opened.pop()] = mark.start()
    page = _Page(text, mate, _colours(text))
    spans: list[_Span] = []
    for mark, around in found:
        if not spans or not spans[-1][0] <= mark.start() < spans[-1][1]:
            spans += _hidden_by(page, mark, around)
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _colours(text: str) -> dict[str, Rgb]:
    """Names that the text gives to colours which are understood."""
    defined: dict[str, Rgb] = {}
    for name, model, other, none, value in _DEFINED.findall(text):
        if colour := of_latex(model or none, value, defined):
            defined[name or other] = colour
    return defined


def _hidden_by(page: _Page, mark: re.Match[str], around: int) -> list[_Span]:
    """What one command hides, from itself on."""
    name = mark["name"]
    if name in _HIDDEN_ARGUMENTS:
        hidden = _HIDDEN_ARGUMENTS[name]
        arguments = page.arguments(mark.end(), max(hidden) + 1)
        if hidden[0] == 0:
            return [(mark.start(), arguments[min(hidden[-1], len(arguments) - 1)][1])] if arguments else []
        return [arguments[at] for at in hidden if at < len(arguments)]
    if name in _MACROS:
        return _body(page, mark)
    if name in _BOXES:
        head = _BOX_HEAD.match(page.text, mark.end())
        return [(mark.start(), page.mate[head.end()] + 1)] if head and head.end() in page.mate else []
    return _RULES[name](page, mark, around)


def _body(page: _Page, mark: re.Match[str]) -> list[_Span]:
    """The body of a macro, which is shown where the macro is used, with what stands in it put in."""
    head = _MACRO_HEAD.match(page.text, mark.end())
    if not head or head.end() not in page.mate:
        return []
    close = page.mate[head.end()] + 1
    if mark["name"].endswith("newenvironment") and (second := page.argument(close)):
        close = second[1]
    return [(mark.start(), close)]


# Ink, size and place ----------------------------------------------------------------------------------------------


def _to_end_of_group(page: _Page, mark: re.Match[str], around: int, end: re.Pattern[str]) -> list[_Span]:
    """From a command that sets something to the end of its group, or to where it is set anew."""
    start = mark.start()
    stop = page.mate[around] if around in page.mate else len(page.text)
    ends = [found.start() for found in [end.search(page.text, mark.end(), stop)] if found]
    if around not in page.mate and _is_in_math(page.text, start):
        ends += [found.start() for found in [_END_OF_MATH.search(page.text, mark.end(), stop)] if found]
    return [(start, min(ends, default=stop))]


def _is_in_math(text: str, at: int) -> bool:
    """Whether a place stands inside delimiters of mathematics that were opened in its paragraph."""
    start = max(text.rfind("\n\n", max(0, at - _PARAGRAPH), at), at - _PARAGRAPH, 0)
    opened = ""
    for mark in _MATH_MARK.finditer(text, start, at):
        word = mark.group()
        if word[0] == "$":
            opened = "" if opened == word else opened or word
        elif word in (r"\(", r"\["):
            opened = word
        elif word in (r"\)", r"\]"):
            opened = ""
    return bool(opened)


def _is_white(page: _Page, mark: re.Match[str]) -> _Span | None:
    """The braces of the colour, if it is one that does not show."""
    braces = page.argument(mark.end())
    if not braces:
        return None
    option = page.text[mark.end() : braces[0]].strip()
    model = option[1:-1].strip() if option else ""
    return braces if is_faint(of_latex(model, page.content(braces), page.colours)) else None


def _color(page: _Page, mark: re.Match[str], around: int) -> list[_Span]:
    return _to_end_of_group(page, mark, around, _END_OF_INK) if _is_white(page, mark) else []


def _textcolor(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
    colour = _is_white(page, mark)
    shown = page.argument(colour[1]) if colour else None
    return [(mark.start(), shown[1])] if shown else []


def _colorbox(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
    """Black ink on black."""
    arguments = page.arguments(mark.end(), 2)
    is_black = len(arguments) == 2 and page.content(arguments[0]).strip() == "black"
    return [(mark.start(), arguments[1][1])] if is_black else []


def _is_less(page: _Page, braces: _Span | None, least: float) -> bool:
    """Whether an argument is a number of a smaller amount."""
    number = _NUMBER.fullmatch(page.content(braces)) if braces else None
    return number is not None and abs(float(number.group())) < least


def _transparent(page: _Page, mark: re.Match[str], around: int) -> list[_Span]:
    is_clear = _is_less(page, page.argument(mark.end()), _LEAST_INK)
    return _to_end_of_group(page, mark, around, _END_OF_INK) if is_clear else []


def _scaled(least: float) -> Callable[[_Page, re.Match[str], int], list[_Span]]:
    """The rule of a command whose first argument is a factor: by less than that, nothing is seen."""

    def hidden(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
        arguments = page.arguments(mark.end(), 2)
        return [(mark.start(), arguments[1][1])] if len(arguments) > 1 and _is_less(page, arguments[0], least) else []

    return hidden


def _points(length: str) -> float | None:
    """A length [pt]; None if it is none."""
    found = _LENGTH.match(length)
    if not found:
        return 0.0 if _is_zero(length) else None
    number = found[1].replace(" ", "")
    amount = float(number + "1" if number in ("", "-", "+") else number)
    return amount * _IN_POINTS.get(found[2], _PAPER)


def _is_zero(length: str) -> bool:
    number = _NUMBER.fullmatch(length)
    return number is not None and float(number.group()) == 0


def _fontsize(page: _Page, mark: re.Match[str], around: int) -> list[_Span]:
    braces = page.argument(mark.end())
    if not braces:
        return []
    content = page.content(braces)
    size = float(content) if _NUMBER.fullmatch(content) else _points(content)
    is_small = size is not None and size < _SMALLEST
    return _to_end_of_group(page, mark, around, _END_OF_SIZE) if is_small else []


def _resizebox(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
    arguments = page.arguments(mark.end(), 3)
    sizes = [_points(page.content(braces)) for braces in arguments[:2]]
    is_small = any(size is not None and abs(size) < _SMALLEST for size in sizes)
    return [(mark.start(), arguments[2][1])] if len(arguments) == 3 and is_small else []


def _raisebox(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
    arguments = page.arguments(mark.end(), 2)
    by = _points(page.content(arguments[0])) if len(arguments) == 2 else None
    return [(mark.start(), arguments[1][1])] if by is not None and abs(by) >= _PAPER else []


def _hspace(page: _Page, mark: re.Match[str], around: int) -> list[_Span]:
    """What a space of more than the page pushes off it: the rest of the line."""
    braces = page.argument(mark.end())
    by = _points(page.content(braces) if braces else page.text[mark.end() : mark.end() + 40])
    is_off = by is not None and abs(by) >= _PAPER
    return _to_end_of_group(page, mark, around, _END_OF_LINE) if is_off else []


def _style(page: _Page, mark: re.Match[str], _: int) -> list[_Span]:
    arguments = page.arguments(mark.end(), 2)
    is_hidden = len(arguments) == 2 and is_hidden_style(page.content(arguments[0]))
    return [(mark.start(), arguments[1][1])] if is_hidden else []


_RULES: dict[str, Callable[[_Page, re.Match[str], int], list[_Span]]] = {
    "color": _color,
    "textcolor": _textcolor,
    "colorbox": _colorbox,
    "transparent": _transparent,
    "texttransparent": _scaled(_LEAST_INK),
    "scalebox": _scaled(_LEAST_SCALE),
    "fontsize": _fontsize,
    "resizebox": _resizebox,
    "raisebox": _raisebox,
    "hspace": _hspace,
    "hskip": _hspace,
    "kern": _hspace,
    "style": _style,
    "htmlStyle": _style,
}

# Conditionals -----------------------------------------------------------------------------------------------------


def hidden_branches(text: str) -> list[_Span]:
    r"""Spans of the branches that TeX does not take, with what cannot be told; an open `\iffalse` hides the rest."""
    spans: list[_Span] = []
    opened: list[tuple[str, int]] = []  # conditionals, and from where each hides, or -1
    for mark in _CONDITIONAL.finditer(text):
        word = mark["word"]
        if word not in ("else", "fi"):
            opened.append((word, -1 if word == "iftrue" else mark.start()))
        elif not opened:
            continue
        elif word == "fi":
            start = opened.pop()[1]
            spans.append((start if start >= 0 else mark.start(), mark.end()))
        elif opened[-1][0] == "iffalse":
            spans.append((opened[-1][1], mark.end()))
            opened[-1] = ("iffalse", -1)
        elif opened[-1][0] == "iftrue":
            opened[-1] = ("iftrue", mark.start())
    spans += [(start, len(text)) for word, start in opened if word == "iffalse" and start >= 0]
    return sorted(spans, key=lambda span: (span[0], -span[1]))
