r"""Blank the text of a solution that is never read: hidden and struck-out text, code, comments, marks of thinking.

A grader that reads what a person does not see can be paid with invisible ink. So what TeX, a page in HTML
(`hidden`) or Markdown hides or strikes out becomes blanks of the same length, before formulas are looked for; offsets
stay true. What a sentence denies is found afterwards, between the formulas (`retractions`).

Decimal commas: `v = 3,57\,\mathrm{m/s}` in a text that writes its numbers so, read as `3.57` (semantics C.6).

One reading holds for a whole text, from signs that leave no doubt: no number has a decimal point, and some number has a
comma where no list and no thousand has one, as `\num{0,72}`, `0,72`, or `3,57` before a unit. Then a comma between the
only two digits of a number is its decimal comma; in an index and in a pair in brackets it parts a list as before. In
braces, `2{,}845`, it is one if another number shows that, as `1{,}84` does.

Refused: reading `3,57` by what would fit, and a lone `1,234 m`, which may be a thousand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.latex.extraction.blocks import Block, blank_spans, has_delimiter
from prism.latex.extraction.hidden import spans_hidden_by_commands, spans_hidden_by_conditionals, spans_hidden_by_html
from prism.latex.extraction.retractions import announces_wrong
from prism.latex.words import UNIT_EXPRESSION, compiled, word_set

# Every repetition in a pattern below is bounded or walks to the next mark, so that no text makes a scan quadratic.
_MAX_MASKED = 400  # characters struck out or set as code in one line; an opener without its closer costs no more

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}  # of pages that were saved as HTML
_FENCE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[A-Za-z]*)[^`\n]*$", re.MULTILINE)
_MARKDOWN_FENCES = frozenset(("markdown", "md"))
_LATEX_FENCES = frozenset(("latex", "tex", "math", "katex"))
_PLAIN_FENCES = frozenset(("", "text", "txt", "plaintext", "plain"))
_CODE_LINE = re.compile(
    r"^[ \t]*(?:def|import|from|class|for|while|if|elif|else|return|print|int|float|double|var|const|let|function|using"
    r"|public|#include|//|#)\b[^\n]*[:;({]|;[ \t]*$|==|\*\*|\+=|:=|[A-Za-z]\([^\n]*\)[ \t]*\{",
    re.MULTILINE,
)
_HIDDEN_PAIRS = (
    ("<!--", "-->"),
    ("<![CDATA[", "]]>"),
    (r"\documentclass", r"\begin{document}"),
    (r"\begin{comment}", r"\end{comment}"),
    (r"\begin{lrbox}", r"\end{lrbox}"),
    *((f"<{name}>", f"</{name}>") for name in ("tool_call", "tool_response", "tool_result", "function_results")),
)
_HIDES_THE_REST = frozenset(("<!--", r"\begin{comment}"))  # if it never ends
_CODE_ENVIRONMENTS = word_set("verbatim lstlisting minted tikzpicture filecontents thebibliography asy")
_ADDRESS = r"https?:|data:|[/#.]|www\.|[\w-]{1,40}\.[a-z]{2,4}(?=[/)])"
_TITLE = r"(?:\n[ \t]{0,40})?(?:\"[^\"]{0,400}\"|'[^']{0,400}'|\([^()]{0,400}(?:\([^()]{0,400}\)[^()]{0,400}){0,20}\))"
_PICTURE = rf"!\[[^\n]{{0,{_MAX_MASKED}}}?\](?:\((?:{_ADDRESS})[^\n()]{{0,{_MAX_MASKED}}}\)|\[[^\[\]\n]{{1,80}}\])"
_LINE_START = "|".join(rf"(?<=^{' ' * n}\[)" for n in range(4))
_LINK_TARGET = (  # on a line of its own, which is how Markdown is given comments: `[//]: # (a comment)`
    rf"\[(?:{_LINE_START})(?!\^)[^\[\]\n]{{1,80}}\]:[ \t]{{0,40}}\n?[ \t]{{0,40}}"
    rf"(?:<[^<>\n]{{0,200}}>|[^\s<]\S{{0,{_MAX_MASKED}}})[ \t]{{0,40}}(?:{_TITLE})?[ \t]{{0,40}}$"
)
_LINK_WITH_TITLE = (
    rf"\((?<=\]\()[ \t]{{0,8}}(?:<[^<>\n]{{0,200}}>|[^\s()<>]{{1,200}})[ \t\n]{{1,8}}{_TITLE}[ \t]{{0,8}}\)"
)
_REMARK = (  # needs a percent sign
    r"^[ \t]*%[^\n]*"  # a comment of LaTeX
    r"|(?:(?<=[.;:,}\]$])(?<![\d$]\$)|(?<=\\\))(?<!\d\\\)))[ \t]{1,40}%[^\n]*"  # behind a sentence or a formula
    r"|(?<![A-Za-z\\])(?!(?:in|the|a|an|as|of|by|per|and|or|this|percent|relative|error)\b)"
    r"[A-Za-z]{2,30}(?P<remark>[ \t]{1,40}%[ \t$\\][^\n]*)"  # behind a word; `in % of $P$` is a percentage
)
_HIDDEN = (  # each begins with a sign, by which it is found fast, and only then looks back
    rf"~(?<!\S~)~(?=[^\s~])(?:[^~\n]|~(?!~)){{1,{_MAX_MASKED}}}~~(?![^\s.,;:!?)])"  # struck out in Markdown
    rf"|<[A-Za-z]{{1,12}}(?:\s{{1,8}}[\w-]{{1,30}}=(?:\"[^\"\n]{{0,200}}\"|'[^'\n]{{0,200}}')){{1,8}}\s{{0,8}}/?>"
    rf"|{_PICTURE}|{_LINK_TARGET}|{_LINK_WITH_TITLE}"
    rf"|\\(?:verb|lstinline)\*?(?P<bar>[^\sA-Za-z*{{])[^\n]{{0,{_MAX_MASKED}}}?(?P=bar)"
    rf"|https?://[^\s)\]}}>]{{1,{_MAX_MASKED}}}"  # addresses; `[i\theta](kr)` is a product
    rf"|\((?<=\]\()(?:{_ADDRESS})[^\s()]{{0,{_MAX_MASKED}}}\)?"
    rf"|`(?<![`\\]`)(?P<tick>`?)(?=[^\s`])(?P<code>[^`\n]{{1,{_MAX_MASKED}}})`(?P=tick)(?!`)"
)
_NOT_READ = re.compile(rf"{_REMARK}|{_HIDDEN}", re.MULTILINE)
_NOT_READ_WITHOUT_PERCENT = re.compile(_HIDDEN, re.MULTILINE)
_TAG = re.compile(  # of a page; `<b>` and `<p>` may be averages
    r"</(?!su[bp]>)[A-Za-z][A-Za-z0-9]{0,12}>|<(?:br|hr|div|li|ul|ol|strong|em|td|tr|th|table|answer|solution|step)\s?/?>"
)
_FORMULA_AS_CODE = re.compile(  # `v = a t` within a sentence: one relation, and no sign that only programs have
    r"(?!.*(?:\*\*|//|\w_\w*_|\b(?:if|for|def|import|print|return|let|var|const|True|False|None)\b))"
    r"[^=<>$'\"`;:{}\[\]#&|!?%]{1,80}(?:=|[<>]=?)[^=<>$'\"`;:{}\[\]#&|!?%]{1,120}"
)
_QUOTE_ENDS = re.compile(r"'[\s.,;:)(\[]")
_THOUGHT = re.compile(  # begins with one of three signs, which are found fast
    r"[<◁\[](?:(?<!\[)(?P<close>/?)(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection|inner_monologue)[>▷]"
    r"|(?<=\[)(?P<shut>/?)THINK\]"
    r"|(?<=<)\|(?:(?:begin|(?P<end>end))_of_thought|(?:START|(?P<done>END))_THINKING)\|>"
    r"|(?<=<)\|?channel\|?>\s{0,8}(?:(?P<final>final)|(?P<channel>analysis|commentary|thought))\b"
    r"|(?<=<)(?P<stop>\|(?:end|return|call|eot_id|im_end)\|>|channel\|>))",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"<\|?(?:start|message|channel|constrain|im_start|begin_of_text|end_of_text|endoftext)\|>", re.IGNORECASE
)
_OTHERS = r"(?:user|human|system|tool|function|ipython)"
_TURN_OF_OTHERS = re.compile(  # from the head of a turn to the head of an assistant's
    rf"(?:<\|(?:im_start|start|start_header_id)\|>\s{{0,4}}{_OTHERS}\b|<\|(?:user|system)\|>|\[INST\])"
    r"(?:[^<\[]|<(?!\|(?:im_start|start|start_header_id)\|>\s{0,4}(?:assistant|model)|\|assistant\|>)"
    r"|\[(?!/INST\]))*"
)
_LABELLED_TURN = re.compile(  # of a dialogue whose turns begin with names
    r"^[ \t*_#]{0,6}(?:user|human)[*_]{0,2}:(?:[^\n]|\n(?![ \t*_#]{0,6}(?:assistant|ai|model)[*_]{0,2}:))*",
    re.IGNORECASE | re.MULTILINE,
)
_ASSISTANT = re.compile(r"^[ \t*_#]{0,6}(?:assistant|ai|model)[*_]{0,2}:", re.IGNORECASE | re.MULTILINE)
_SHORT_TITLE = re.compile(  # for a list of figures, a head line or the other margin
    r"\\(?:caption|chapter|part|(?:sub){0,2}section|(?:sub)?paragraph|marginpar)\*?\s{0,4}(\[[^\[\]]{1,400}\])(?=\s{0,4}\{)"
)
_FOLDED = re.compile(
    r"<details\b[^<>]{0,80}>\s{0,20}<summary\b[^<>]{0,80}>(?P<title>[^<]{1,200})</summary>", re.IGNORECASE
)
_END_OF_DOCUMENT = re.compile(r"\\end\{document\}|\\endinput(?![A-Za-z])")


def mask(text: str) -> tuple[str, list[Block]]:
    """Blank hidden and struck-out text, code, links and comments, offsets unchanged; return LaTeX fences as blocks."""
    text, blocks = _blank_code_fences(text)
    text = blank_spans(text, spans_hidden_by_html(text))
    text = blank_spans(text, [turn.span() for turn in _TURN_OF_OTHERS.finditer(text)])
    if _ASSISTANT.search(text):
        text = blank_spans(text, [turn.span() for turn in _LABELLED_TURN.finditer(text)])
    text = blank_spans(text, [title.span(1) for title in _SHORT_TITLE.finditer(text)])
    text = blank_spans(text, _spans_folded_away(text))
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign.ljust(len(entity)))
    pairs = [*_HIDDEN_PAIRS, *((rf"\begin{{{name}}}", rf"\end{{{name}}}") for name in sorted(_CODE_ENVIRONMENTS))]
    for opener, closer in pairs:
        text = blank_spans(text, _spans_between(text, opener, closer))
    text = blank_spans(text, spans_hidden_by_conditionals(text))
    not_read = _NOT_READ if "%" in text else _NOT_READ_WITHOUT_PERCENT
    spans: list[tuple[int, int]] = []
    for m in not_read.finditer(text):
        if m["code"] and not m["tick"] and _FORMULA_AS_CODE.fullmatch(m["code"]):
            spans += [(m.start(), m.start() + 1), (m.end() - 1, m.end())]  # what stands between is read
        elif not (m["code"] and _is_tex_quotation(m["code"])):
            spans.append(m.span("remark" if m.lastgroup == "remark" else 0))
    text = blank_spans(text, spans)
    marks = [mark for pattern in (_TAG, _THOUGHT, _MARKER) for mark in pattern.finditer(text)]
    text = blank_spans(text, sorted(mark.span() for mark in marks))
    return blank_spans(text, spans_hidden_by_commands(text)), blocks


def _spans_folded_away(text: str) -> list[tuple[int, int]]:
    """Find the folded parts (`<details>`) whose summary announces wrong formulas: `wrong attempts`."""
    spans: list[tuple[int, int]] = []
    for opening in _FOLDED.finditer(text):
        if announces_wrong(opening["title"]) and (not spans or opening.start() >= spans[-1][1]):
            end = text.find("</details>", opening.end())
            spans.append((opening.start(), end if end >= 0 else len(text)))
    return spans


def _is_tex_quotation(code: str) -> bool:
    """Return True if backticks enclose quotations in TeX, ``a word'' and ``another'', and no code."""
    return code[-1] in " \t([" and _QUOTE_ENDS.search(code) is not None


def _spans_between(text: str, opener: str, closer: str) -> list[tuple[int, int]]:
    """Find the spans from each opener to its closer; a comment that never ends reaches to the end of the text."""
    spans: list[tuple[int, int]] = []
    start = text.find(opener)
    while start >= 0:
        end = text.find(closer, start + len(opener))
        if end < 0:
            if opener in _HIDES_THE_REST:
                spans.append((start, len(text)))
            break
        spans.append((start, end + len(closer)))
        start = text.find(opener, end + len(closer))
    return spans


def _blank_code_fences(text: str) -> tuple[str, list[Block]]:
    """Blank code fences with programs and the marks of the others; return fences tagged as LaTeX as blocks."""
    blocks: list[Block] = []
    spans: list[tuple[int, int]] = []
    read: list[tuple[int, int]] = []  # what stands inside fences and is read
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark["fence"].startswith(opened["fence"]) and not mark["info"]:
            info = opened["info"].lower()
            is_plain = info in _PLAIN_FENCES and not _CODE_LINE.search(text, opened.end(), mark.start())
            if is_plain or info in _LATEX_FENCES | _MARKDOWN_FENCES:
                spans += [opened.span(), mark.span()]
                read.append((opened.end(), mark.start()))
            else:
                spans.append((opened.start(), mark.end()))
            if info in _LATEX_FENCES and not has_delimiter(text, opened.end(), mark.start()):
                blocks.append(Block(opened.end(), mark.start(), "display", opened.start(), mark.end()))
            opened = None
    if opened is not None and opened["info"].lower() not in _LATEX_FENCES | _MARKDOWN_FENCES | _PLAIN_FENCES:
        spans.append((opened.start(), len(text)))  # a program that was cut off
    text = blank_spans(text, spans)
    return blank_spans(text, _spans_after_documents(text, read)), blocks


def _spans_after_documents(text: str, fence_contents: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    r"""Find what follows each `\end{document}`, up to the end of the code fence around it, else of the text."""
    spans: list[tuple[int, int]] = []
    stop = 0
    while mark := _END_OF_DOCUMENT.search(text, stop):
        stop = next((hi for lo, hi in fence_contents if lo <= mark.start() < hi), len(text))
        spans.append((mark.start(), stop))
    return spans


def is_in_code_fence(text: str, offset: int) -> bool:
    """Return True if an offset is inside a code fence."""
    return sum(1 for _ in _FENCE.finditer(text, 0, offset)) % 2 == 1


def blank_to_fence_end(text: str) -> str:
    """Blank a text that starts inside a code fence up to the end of that fence; all of it if the fence never ends."""
    fence = _FENCE.search(text)
    return blank_spans(text, [(0, fence.end() if fence else len(text))])


def thinking_spans(text: str) -> list[tuple[int, int]]:
    """Find the thinking blocks: closed ones, one open to the end, and the text before a lone closing tag.

    A channel ends with its message or where another begins; the end of a message alone closes no thought.
    """
    spans: list[tuple[int, int]] = []
    opened: int | None = 0
    is_open = is_channel = False
    is_first = True
    for mark in _THOUGHT.finditer(text):
        if mark["stop"] and not (is_open and is_channel):
            continue
        if not (mark["close"] or mark["end"] or mark["done"] or mark["shut"] or mark["final"] or mark["stop"]):
            if opened is None or is_first:
                opened, is_open, is_channel = mark.start(), True, bool(mark["channel"])
        elif opened is not None:
            spans.append((opened, mark.end()))
            opened, is_open = None, False
        is_first = False
    if is_open and opened is not None:
        spans.append((opened, len(text)))
    return spans


# Comments inside formulas -----------------------------------------------------------------------------------------

_AFTER_PERCENT = re.compile(r"%\s*(?:$|[.,;:)\]}]|\\[\]),;]|\\text|\\\\|\n)")


def blank_comments(text: str, blocks: Sequence[Block]) -> str:
    r"""Blank the comments inside formulas: `%` to the end of the line, where it is no percent of a number.

    `5%` is a percentage, and so is `5 %` with nothing behind it; `x = 2t % no` ends at its comment. TeX reads all three
    as comments, but people and models write the first two in Markdown.
    """
    spans: list[tuple[int, int]] = []
    for block in blocks:
        position = block.start
        while (position := text.find("%", position, block.end)) >= 0:
            before = text[max(block.start, position - 40) : position]
            if before.endswith("\\"):
                position += 1
                continue
            is_touching = before[-1:].isdigit()
            is_alone = before.rstrip(" ~")[-1:].isdigit() and _AFTER_PERCENT.match(text, position, block.end)
            end = text.find("\n", position, block.end)
            end = end if end >= 0 else block.end
            if not (is_touching or is_alone):
                spans.append((position, end))
                position = end
            position += 1
    return blank_spans(text, sorted(spans))


# Decimal commas -----------------------------------------------------------------------------------------------------

_POINT = re.compile(r"\d\.\d")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_ALONE = r"(?<![\d.,])"  # no other comma or point belongs to the number
_UNDOUBTED = re.compile(rf"\\(?:num|SI|qty)\{{\d+,\d+\}}|{_ALONE}(?<![(\[|])(?<!(?<!boxed)\{{)0,\d{{2,}}(?![\d,])")
_BEFORE_UNIT = (
    rf"{_ALONE}\d{{1,9}},(?:\d{{1,2}}|\d{{4,9}})(?![\d,])\s?\$?(?:\\[,;: ]|[ ~])?\s?"
    rf"(?:\\(?:text|mathrm|unit|si|rm)\s?\{{\s?{UNIT_EXPRESSION}|{UNIT_EXPRESSION}(?![A-Za-z]))"
)
_BRACED = re.compile(r"\d\{,\}\d")
_DECIMAL_BRACED = re.compile(r"(?<![\d}.])(?:0\{,\}\d+|\d{1,9}\{,\}(?:\d{1,2}|\d{4,9}))(?![\d{])")  # no thousands
_OPEN_BRACED = re.compile(r"(?<![\d}.])(\d{1,3})\{,\}(\d{3})(?![\d{])")
_DECIMAL = re.compile(r"(?<![\d,])(?<!_\{)(?P<open>[(\[]?)\d{1,20},\d{1,20}(?![\d,])(?P<close>[)\]]?)")


def with_decimal_points(text: str) -> str:
    r"""Return a text with points in place of its decimal commas, offsets unchanged; the same text if it has none.

    >>> with_decimal_points(r"$v = 3,57\,\mathrm{m/s}$ at $n = 1,2,3$")
    '$v = 3.57\\,\\mathrm{m/s}$ at $n = 1,2,3$'
    >>> with_decimal_points("$(x, y) = (3,57)$, 1,234 m")
    '$(x, y) = (3,57)$, 1,234 m'
    >>> with_decimal_points("$a = 2{,}845$, $b = 1{,}84$"), with_decimal_points("$a = 2{,}845$, $b = 12{,}000$")
    ('$a = 2.845  $, $b = 1{,}84$', '$a = 2{,}845$, $b = 12{,}000$')
    """
    if _POINT.search(text):
        return text
    is_decimal = bool(_COMMA.search(text)) and bool(_UNDOUBTED.search(text) or compiled(_BEFORE_UNIT).search(text))
    if _BRACED.search(text) and (is_decimal or _DECIMAL_BRACED.search(text)):
        text = _OPEN_BRACED.sub(r"\1.\2  ", text)  # as long as it was
    return _DECIMAL.sub(_with_point, text) if is_decimal else text


def _with_point(number: re.Match[str]) -> str:
    """Return a number with a point for its comma; a pair in brackets as it stands."""
    return number[0] if number["open"] and number["close"] else number[0].replace(",", ".")
