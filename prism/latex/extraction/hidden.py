r"""Find the spans of a solution that a typeset page does not show: phantoms, invisible ink, tiny or displaced text.

Styling is read by an allow-list: the `_SHOWN_*` tables name the colours, sizes, places and styles whose text is read.
Any other value of a styling command or attribute hides what it applies to, understood or not: hardly any honest
solution styles a formula, and an attacker finds each value that a deny-list forgets. Conditionals of TeX hide the
branch that is not taken, and both where only TeX could tell which that is. An HTML element that is hidden and never
closed hides the rest.

Refused: computing luminance, mixtures of colours and lengths, which still had to guess what a page looks like.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

from prism.latex.words import word_set

_Span = tuple[int, int]

# What shows. Every repetition in a pattern of this module is bounded, so that no text makes a scan quadratic. ------

_DARK_NAME = (
    "black|(?:dark|dim|slate)?gr[ae]y|(?:dark|medium|navy|royal|midnight|steel|dodger)?blue|navy|cyan|teal|turquoise"
    "|(?:dark|forest|sea|olive|lime)?green|lime|olive|(?:dark|indian|brick|orange|violet)?red|crimson|maroon|tomato"
    "|(?:dark|burnt)?orange|brown|magenta|fuchsia|purple|(?:blue|dark)?violet|indigo|pink|yellow|gold|firebrick"
)
_DARK_HEX = "#?(?:(?![d-f].[d-f].[d-f].)[0-9a-f]{6}|(?![d-f]{3})[0-9a-f]{3})"
_CHANNELS = (
    r"\s{{0,8}}(?:[\d.]{{1,12}}\s{{0,8}},\s{{0,8}}){{0,2}}(?:{})\s{{0,8}}(?:,\s{{0,8}}[\d.]{{1,12}}\s{{0,8}}){{0,2}}"
)
_RGB = _CHANNELS.format(r"\d{1,2}|1\d\d")
_SHOWN_INK = {  # model of xcolor: the values that show on white paper, by one channel that is dark enough
    "": re.compile(f"(?:{_DARK_NAME})(?:!(?:[3-9][0-9]|100)(?:!(?:{_DARK_NAME}))?)?|{_DARK_HEX}"),
    "named": re.compile(_DARK_NAME),
    "rgb": re.compile(_CHANNELS.format(r"0?\.[0-7]\d{0,12}|0(?:\.0{0,12})?")),
    "RGB": re.compile(_RGB),
    "HTML": re.compile(_DARK_HEX),
    "gray": re.compile(r"\s*(?:0?\.[0-7]\d{0,12}|0)\s*"),
}
_SHOWN_BOX = re.compile("white|yellow|lightgr[ae]y|(?:red|green|blue|yellow|gray|orange)!(?:[1-4]?[0-9])")
_SHOWN_CSS_COLOUR = re.compile(rf"(?:{_DARK_NAME}|{_DARK_HEX}|rgb\({_RGB}\))")
_SHOWN_ON_DARK = re.compile(
    r"#[0-5].{0,1}[0-5].{0,1}[0-5].{0,1};(?:white|#fff(?:fff)?)|black;white"
)  # background;color
_LENGTH = r"\s{0,8}=?\s{0,8}[-+]?\s{0,8}(?:\d{0,2}(?:\.\d{0,9})?)\s{0,8}"
_SHOWN_SPACE = re.compile(rf"{_LENGTH}(?:pt|ex|em|mm|cm|in|mu|pc|\\quad|\\fill|\\[a-z]{{0,12}}(?:skip|sep))\s*")
_SHOWN_ARGUMENTS = {  # command with an argument that it applies to: values of the arguments before it that show
    "scalebox": re.compile(r"\s*(?:0?\.[3-9]\d{0,9}|[1-9](?:\.\d{0,9})?)\s*"),
    "resizebox": re.compile(rf"\s*!\s*|\s*(?:0?\.[3-9]\d{{0,9}})?\s*\\(?:text|line|column)width\s*|{_LENGTH}cm"),
    "raisebox": re.compile(rf"{_LENGTH}(?:pt|ex|em|mm|cm|\\height|\\depth)\s*"),
    "colorbox": _SHOWN_BOX,
    "texttransparent": re.compile(r"\s*(?:1|0?\.[5-9]\d{0,9})\s*"),
}
_SHOWN_SIZE = re.compile(r"\s*(?:[5-9]|[1-9]\d)(?:\.\d{0,9})?\s*(?:pt)?\s*")
_SHOWN_OPACITY = _SHOWN_ARGUMENTS["texttransparent"]
_SHOWN_STYLE = {  # property of CSS: its values that show; `color` and `background` are read together
    **dict.fromkeys(word_set("font-weight font-style font-family text-align line-height border"), r".*"),
    "text-decoration": "(?!.*line-through).*",
    "display": r"block|inline(?:-block)?|flex|grid|table(?:-cell|-row)?|list-item",
    "font-size": r"(?:[6-9]|\d\d)(?:\.\d{0,9})?(?:px|pt)|(?:0?\.[5-9]\d{0,9}|[1-9](?:\.\d{0,9})?)r?em|[5-9]\d%|1\d\d%"
    r"|(?:x{1,2}-)?(?:small|large)|medium|smaller|larger",
    **dict.fromkeys(
        word_set("margin margin-left margin-top margin-bottom padding"), r"(?:\d{1,2}(?:px|em|pt)?\s*){1,4}"
    ),
    **dict.fromkeys(word_set("width max-width"), r"\d\d\d?(?:%|px)|auto"),
    "opacity": r"1(?:\.0{0,9})?|0?\.[5-9]\d{0,9}",
    "": "",
}


def _is_allowed(allowed: re.Pattern[str], value: str) -> bool:
    """Return True if a value of a styling command matches an allow-list as a whole."""
    return allowed.fullmatch(value) is not None


def is_shown_style(style: str) -> bool:
    """Return True if every declaration of a CSS style is in the allow-list, so that the styled text is read.

    >>> is_shown_style("color: red"), is_shown_style("color: #fefefe"), is_shown_style("left: -9999px")
    (True, False, False)
    """
    declarations = (each.partition(":") for each in style.lower().split(";"))
    rules = {name.strip(): value.replace("!important", "").strip() for name, _, value in declarations}
    ink = rules.pop("color", "black")
    paper = rules.pop("background-color", rules.pop("background", ""))
    if paper and not (
        _is_allowed(_SHOWN_ON_DARK, f"{paper};{ink}") or (ink == "black" and _is_allowed(_SHOWN_BOX, paper))
    ):
        return False
    if not paper and not _is_allowed(_SHOWN_CSS_COLOUR, ink):
        return False
    return all(re.fullmatch(_SHOWN_STYLE.get(name, "(?!)"), value) for name, value in rules.items())


# Commands of LaTeX. -----------------------------------------------------------------------------------------------

_OPTIONS = re.compile(r"\s{0,8}(?:\[[^\[\]]{0,120}\]\s{0,8}){0,3}")
_MACRO_HEAD = re.compile(
    r"\s{0,8}(?:\{\s*\\?[A-Za-z@]{1,40}\s*\}|\\[A-Za-z@]{1,40})\s{0,8}"
    r"(?:\[\d\]|\[[^\[\]\n]{0,80}\]|#\d|\{(?:[\smoOsdDrRtevbp+\[\]()]|\{[^{}]{0,20}\}){0,40}\}(?=\s{0,8}\{)){0,6}\s{0,8}(?=\{)"
)
_BOX_HEAD = re.compile(
    r"\s{0,8}(?:\{[^{}]{0,40}\}|\\[A-Za-z@]{1,40}|\d{1,4})\s{0,8}=?\s{0,8}"
    r"(?:\\[hv](?:box|top)\s{0,8}(?:(?:to|spread)\s{0,8}[\w.\\]{1,20})?)?\s{0,8}(?:\[[^\[\]]{0,40}\]\s{0,8}){0,2}(?=\{)"
)
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
        " pdfcomment special hypersetup nocite bookmark message typeout input newsavebox graphicspath pdfinfo"
        " todo comment @gobble deleted hyphenation title errmessage wlog".split(),
        (0,),
    ),
    **dict.fromkeys(("pdftooltip", "texttip", "mathtip", "colorlet", "texorpdfstring", "replaced"), (1,)),
    **dict.fromkeys(("pdfbookmark", "@gobbletwo", "PackageWarning", "PackageInfo", "ClassWarning"), (0, 1)),
    **dict.fromkeys(("ifthenelse", "PackageError", "definecolor", "newenvironment", "renewenvironment"), (0, 1, 2)),
}
_MACROS = word_set(
    "newcommand renewcommand providecommand DeclareMathOperator def gdef edef xdef let"
    " NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand DeclareRobustCommand"
)
_LABEL = re.compile(r"[a-z]{1,8}:[\w:.-]{1,40}")
_HEADS = {  # command: what stands before the braces that hold what no page shows
    **dict.fromkeys(_MACROS, _MACRO_HEAD),
    **dict.fromkeys(word_set("sbox savebox setbox toks write"), _BOX_HEAD),
}
_HIDING = word_set(
    "color textcolor transparent texttransparent colorbox fontsize scalebox resizebox raisebox hspace hskip kern style"
    " htmlStyle pgfsetfillopacity pgfsetstrokeopacity"
).union(_HIDDEN_ARGUMENTS, _HEADS)
_NAME = re.compile(r"\\(@?[A-Za-z]+)")
_COMMAND = re.compile(rf"\\(?P<name>{'|'.join(sorted(_HIDING, key=len, reverse=True))})(?![A-Za-z])\*?|\\[\s\S]|[{{}}]")
_DEFINED = re.compile(
    r"\\definecolor\s{0,8}\{(?P<name>[^{}]{1,40})\}\s{0,8}\{(?P<model>[^{}]{1,20})\}\s{0,8}\{(?P<value>[^{}]{1,60})\}"
)
_CONDITIONAL = re.compile(r"\\(?P<word>if(?!f(?![A-Za-z@])|thenelse)[A-Za-z@]{0,30}|else|fi)(?![A-Za-z@])")


@dataclass(frozen=True, slots=True)
class _BracedText:
    """A text with its braces paired and the colours it defines.

    Attributes:
        closing_brace: offset of each opening brace to that of its closing one.
        visible_colours: names that the text defines for colours that show.
    """

    text: str
    closing_brace: dict[int, int]
    visible_colours: frozenset[str]

    def argument_span(self, offset: int) -> _Span | None:
        """Return the span of the braced argument that begins at an offset, after options; None if there is none."""
        options = _OPTIONS.match(self.text, offset)
        opening = options.end() if options else offset
        return (opening, self.closing_brace[opening] + 1) if opening in self.closing_brace else None

    def argument_spans(self, offset: int, limit: int) -> list[_Span]:
        """Return the spans, braces included, of the arguments that follow an offset, at most `limit`."""
        spans: list[_Span] = []
        while len(spans) < limit and (argument_span := self.argument_span(offset)):
            spans.append(argument_span)
            offset = argument_span[1]
        return spans

    def content(self, braces: _Span) -> str:
        """Return the text between a pair of braces."""
        return self.text[braces[0] + 1 : braces[1] - 1]

    def is_visible_colour(self, braces: _Span, model_start: int) -> bool:
        """Return True if the colour in braces shows on white; its model may stand in brackets from `model_start` on."""
        model = self.text[model_start : braces[0]].strip().removeprefix("[").removesuffix("]").strip()
        value = self.content(braces).strip()
        pattern = _SHOWN_INK.get(model)
        return value in self.visible_colours or (
            pattern is not None and _is_allowed(pattern, value if model else value.lower())
        )


def spans_hidden_by_commands(text: str) -> list[_Span]:
    r"""Find the spans that commands hide (`\phantom`, white `\color`), sorted by start; nested ones may be left out."""
    if _HIDING.isdisjoint(_NAME.findall(text)):
        return []
    closing_brace: dict[int, int] = {}
    marks: list[tuple[re.Match[str], int]] = []
    opened: list[int] = []
    for mark in _COMMAND.finditer(text):
        word = mark.group()
        if mark["name"]:
            marks.append((mark, opened[-1] if opened else -1))
        elif word == "{":
            opened.append(mark.start())
        elif word == "}" and opened:
            closing_brace[opened.pop()] = mark.start()
    defined = (
        each
        for each in _DEFINED.finditer(text)
        if (ink := _SHOWN_INK.get(each["model"])) and _is_allowed(ink, each["value"])
    )
    page = _BracedText(text, closing_brace, frozenset(each["name"] for each in defined))
    spans: list[_Span] = []
    for mark, around in marks:
        if not spans or not spans[-1][0] <= mark.start() < spans[-1][1]:
            spans += _spans_hidden_by_command(page, mark, around)
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _spans_hidden_by_command(page: _BracedText, command: re.Match[str], group_start: int) -> list[_Span]:
    """Return the spans that one command hides; `group_start` is the offset of the `{` of its group, or -1."""
    name = command["name"]
    if name in _HIDDEN_ARGUMENTS:
        hidden = _HIDDEN_ARGUMENTS[name]
        arguments = page.argument_spans(command.end(), max(hidden) + 1)
        if name == "label" and arguments and _LABEL.fullmatch(page.content(arguments[0])):
            return []  # the number by which the text speaks of the formula (`struck_lines`)
        if hidden[0] == 0:
            return [(command.start(), arguments[min(hidden[-1], len(arguments) - 1)][1])] if arguments else []
        return [arguments[at] for at in hidden if at < len(arguments)]
    if (head_pattern := _HEADS.get(name)) is not None:
        head = head_pattern.match(page.text, command.end())
        close = page.closing_brace.get(head.end(), -1) if head else -1
        return [(command.start(), close + 1)] if close >= 0 else []
    if name in _SWITCHES:
        is_visible, end = _SWITCHES[name]
        return [] if is_visible(page, command) else [_rest_of_group(page, command, group_start, end)]
    return _invisible_argument_spans(page, command)


def _invisible_argument_spans(page: _BracedText, command: re.Match[str]) -> list[_Span]:
    r"""Return the span of a command whose last argument is invisible by those before it: `\scalebox{0}{...}`."""
    name = command["name"]
    *values, content = page.argument_spans(command.end(), 3 if name == "resizebox" else 2) or [(0, 0)]
    if not values:
        return []
    if name == "textcolor":
        is_shown = page.is_visible_colour(values[0], command.end())
    elif name in ("style", "htmlStyle"):
        is_shown = is_shown_style(page.content(values[0]))
    else:
        is_shown = all(_is_allowed(_SHOWN_ARGUMENTS[name], page.content(each)) for each in values)
    return [] if is_shown else [(command.start(), content[1])]


def _rest_of_group(page: _BracedText, switch: re.Match[str], group_start: int, end_pattern: re.Pattern[str]) -> _Span:
    r"""Return the span from a switch such as `\color` to the end of its group, or to a command that sets it anew."""
    start = switch.start()
    stop = page.closing_brace[group_start] if group_start in page.closing_brace else len(page.text)
    ends = [match.start() for match in [end_pattern.search(page.text, switch.end(), stop)] if match]
    if group_start not in page.closing_brace and is_in_math(page.text, start):
        ends += [match.start() for match in [_END_OF_MATH.search(page.text, switch.end(), stop)] if match]
    return start, min(ends, default=stop)


def is_in_math(text: str, offset: int) -> bool:
    """Return True if an offset is inside mathematics whose delimiter was opened in the same paragraph."""
    start = max(text.rfind("\n\n", max(0, offset - _PARAGRAPH), offset), offset - _PARAGRAPH, 0)
    opened = ""
    for mark in _MATH_MARK.finditer(text, start, offset):
        word = mark.group()
        if word[0] == "$":
            opened = "" if opened == word else opened or word
        elif word in (r"\(", r"\["):
            opened = word
        elif word in (r"\)", r"\]"):
            opened = ""
    return bool(opened)


def _make_argument_rule(pattern: re.Pattern[str]) -> Callable[[_BracedText, re.Match[str]], bool]:
    """Return a rule for `_SWITCHES`: the switch hides nothing if its braced argument is allowed, or it has none."""

    def is_visible(page: _BracedText, switch: re.Match[str]) -> bool:
        """Return True if the text behind the switch shows."""
        braces = page.argument_span(switch.end())
        return braces is None or _is_allowed(pattern, page.content(braces))

    return is_visible


def _sets_visible_colour(page: _BracedText, switch: re.Match[str]) -> bool:
    """Return True if a colour command sets a colour that shows, or has no argument."""
    braces = page.argument_span(switch.end())
    return braces is None or page.is_visible_colour(braces, switch.end())


def _keeps_line_on_page(page: _BracedText, switch: re.Match[str]) -> bool:
    """Return True if a horizontal space is so short that the rest of its line stays on the page."""
    braces = page.argument_span(switch.end())
    if braces:
        return _is_allowed(_SHOWN_SPACE, page.content(braces))
    return _SHOWN_SPACE.match(page.text, switch.end()) is not None or not _BARE_LENGTH.match(page.text, switch.end())


_BARE_LENGTH = re.compile(r"\s{0,8}=?\s{0,8}[-+]?\s{0,8}\d")
_SWITCHES: dict[str, tuple[Callable[[_BracedText, re.Match[str]], bool], re.Pattern[str]]] = {
    "color": (_sets_visible_colour, _END_OF_INK),
    **dict.fromkeys(
        ("transparent", "pgfsetfillopacity", "pgfsetstrokeopacity"),
        (_make_argument_rule(_SHOWN_OPACITY), _END_OF_INK),
    ),
    "fontsize": (_make_argument_rule(_SHOWN_SIZE), _END_OF_SIZE),
    **dict.fromkeys(("hspace", "hskip", "kern"), (_keeps_line_on_page, _END_OF_LINE)),
}
"""Commands that set something up to the end of their group: whether what follows shows, and what sets it anew."""

# Conditionals -----------------------------------------------------------------------------------------------------


def spans_hidden_by_conditionals(text: str) -> list[_Span]:
    r"""Find the branches of `\if...\fi` that TeX does not, or may not, take; an open `\iffalse` hides the rest."""
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


# Elements of HTML, which Markdown passes through. ------------------------------------------------------------------

_ELEMENT = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?P<attributes>(?:\s{1,20}[\w:@.-]{1,40}"
    r"(?:\s{0,8}=\s{0,8}(?:\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s\"'<>=`]{1,200}))?){0,12})\s{0,20}/?>"
)
_ATTRIBUTE = re.compile(r"([\w:@.-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+)))?")
_NEVER_SHOWN = word_set("script style template title head noscript datalist iframe audio video canvas")
_STRUCK = word_set("s del strike")  # only where they close: `<s>` may be an average
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")


def spans_hidden_by_html(text: str) -> list[tuple[int, int]]:
    """Find the HTML elements that a browser does not show, tags included; sorted and disjoint."""
    tags = list(_ELEMENT.finditer(text))
    closes = {(tag["name"].lower(), at) for at, tag in enumerate(tags) if tag["close"]}
    n_closed = {name: sum(1 for other, _ in closes if other == name) for name in _STRUCK}
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(tags):
        tag, name = tags[at], tags[at]["name"].lower()
        at += 1
        is_struck = name in _STRUCK
        if tag["close"] or name in _VOID or not (is_struck or name in _NEVER_SHOWN or _is_hidden_element(name, tag)):
            continue
        if is_struck and not n_closed[name]:
            continue
        depth, last = 1, at
        while last < len(tags) and depth:
            if tags[last]["name"].lower() == name:
                depth += -1 if tags[last]["close"] else not is_struck
            last += 1
        if depth and is_struck:
            n_closed[name] = 0
            continue
        spans.append((tag.start(), len(text) if depth else tags[last - 1].end()))
        at = last
    return spans


def _is_hidden_element(name: str, tag: re.Match[str]) -> bool:
    """Return True if the attributes of an HTML element hide it."""
    if not tag["attributes"]:
        return name == "dialog"
    attributes = {found[0].lower(): "".join(found[1:]) for found in _ATTRIBUTE.findall(tag["attributes"])}
    if "hidden" in attributes or (name == "dialog" and "open" not in attributes):
        return True
    style = html.unescape(attributes.get("style", ""))
    style += "".join(f";{key}:{attributes[old]}" for old, key in _OLD_STYLES.items() if attributes.get(old))
    return not is_shown_style(style)


_OLD_STYLES = {"color": "color", "bgcolor": "background"}
"""Attributes of old HTML and the properties of CSS that they set."""
