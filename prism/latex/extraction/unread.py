r"""What of a solution is never read as a statement: hidden and struck-out text, code, and what a sentence denies.

A grader that reads what a person does not see can be paid with invisible ink. So what TeX or Markdown hides or strikes
out becomes blanks of the same length, before formulas are looked for; offsets stay true. A denial is found
afterwards, between the formulas: "it is not true that A" takes A away, "the false vacuum has A" does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.latex.extraction.blocks import Block, blank, has_delimiter
from prism.latex.words import word_set

# Every repetition in a pattern below is bounded or walks to the next mark, so that no text makes a scan quadratic.
_MAX_MASKED = 400  # characters struck out or set as code in one line; an opener without its closer costs no more
_MAX_SENTENCE = 600  # characters on either side of a denial in which its sentence ends

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
_HIDDEN_PAIRS = (("<!--", "-->"), (r"\iffalse", r"\fi"), (r"\begin{comment}", r"\end{comment}"))
_CODE_ENVIRONMENTS = word_set("verbatim lstlisting minted tikzpicture filecontents thebibliography asy")
_NOT_READ = re.compile(
    r"^[ \t]*%[^\n]*"  # a comment of LaTeX
    r"|(?<=[.;:,}\]$])(?<![\d$]\$)[ \t]{1,40}(?<!\\)%[^\n]*"  # behind the end of a sentence or of a formula
    rf"|(?<!\S)~~(?=[^\s~])(?:[^~\n]|~(?!~)){{1,{_MAX_MASKED}}}~~(?![^\s.,;:!?)])"  # struck out in Markdown
    rf"|<(?P<struck>s|del|strike)>(?:[^<]|<(?!/)){{0,{_MAX_MASKED}}}</(?P=struck)>"
    rf"|<[a-z]{{1,12}}(?:\s{{1,8}}[\w-]{{1,30}}=(?:\"[^\"<>\n]{{0,200}}\"|'[^'<>\n]{{0,200}}')){{1,8}}\s{{0,8}}/?>"
    rf"|\\(?:verb|lstinline)\*?(?P<bar>[^\sA-Za-z*{{])[^\n]{{0,{_MAX_MASKED}}}?(?P=bar)"
    rf"|https?://[^\s)\]}}>]{{1,{_MAX_MASKED}}}"  # addresses; `[i\theta](kr)` is a product
    rf"|(?<=\])\((?:[/#.]|www\.|[\w-]{{1,40}}\.[a-z]{{2,4}}[/)])[^\s()]{{0,{_MAX_MASKED}}}\)?"
    rf"|(?<![`\\])(?P<tick>`{{1,2}})(?=[^\s`])(?P<code>[^`\n]{{1,{_MAX_MASKED}}})(?P=tick)(?!`)",
    re.MULTILINE,
)
_TAG = re.compile(  # of a page; `<b>` and `<p>` may be averages
    r"</(?!su[bp]>)[A-Za-z][A-Za-z0-9]{0,12}>|<(?:br|hr|div|li|ul|ol|strong|em|td|tr|th|table|answer|solution|step)\s?/?>"
)
_QUOTED = re.compile(r"'(?:[\s.,;:)]|$)")  # ``a word'' in TeX quotes is no code
_THOUGHT = re.compile(
    r"<(?P<close>/?)(?:think(?:ing)?|thought|reasoning|scratchpad)>|<\|(?:begin|(?P<end>end))_of_thought\|>"
    r"|\[(?P<shut>/?)THINK\]",
    re.IGNORECASE,
)

# Commands ---------------------------------------------------------------------------------------------------------

_BRACES = re.compile(
    r"\\(?P<hide>[hv]?phantom|sout|xout|st|textcolor|color|(?:re|provide)?newcommand|renewcommand|providecommand"
    r"|DeclareMathOperator|newenvironment|def|gdef|let)(?![A-Za-z])\*?|\\[\s\S]|[{}]"
)
_INVISIBLE = re.compile(
    r"\s*(?:\[[A-Za-z]{1,8}\]\s*)?\{\s*(?:white|transparent|#?f{3}(?:f{3})?|1\s*,\s*1\s*,\s*1)\s*\}", re.I
)
_MACRO_HEAD = re.compile(
    r"\s{0,8}(?:\{\s*\\?[A-Za-z@]{1,40}\s*\}|\\[A-Za-z@]{1,40})\s{0,8}(?:\[\d\]|\[[^\[\]\n]{0,80}\]|#\d){0,6}\s{0,8}(?=\{)"
)
_PHANTOMS = word_set("phantom hphantom vphantom sout xout st")
_END_OF_COLOUR = re.compile(r"\\color(?![A-Za-z])|\$|\\[\])]|\n[ \t]*\n")


def mask(text: str) -> tuple[str, list[Block]]:
    """Blank what is not read; code fences that hold nothing but LaTeX come back as blocks."""
    text, blocks = _without_fences(text)
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign.ljust(len(entity)))
    pairs = [*_HIDDEN_PAIRS, *((rf"\begin{{{name}}}", rf"\end{{{name}}}") for name in sorted(_CODE_ENVIRONMENTS))]
    for opener, closer in pairs:
        text = blank(text, _between(text, opener, closer))
    spans = [m.span() for m in _NOT_READ.finditer(text) if not (m["code"] and _QUOTED.search(m["code"]))]
    text = blank(text, spans)
    text = blank(text, sorted(mark.span() for pattern in (_TAG, _THOUGHT) for mark in pattern.finditer(text)))
    return blank(text, _hidden(text)), blocks


def _between(text: str, opener: str, closer: str) -> list[tuple[int, int]]:
    r"""What stands between two marks; an `\iffalse` that never ends hides the rest."""
    spans: list[tuple[int, int]] = []
    start = text.find(opener)
    while start >= 0:
        end = text.find(closer, start + len(opener))
        if end < 0:
            if opener == r"\iffalse":
                spans.append((start, len(text)))
            break
        spans.append((start, end + len(closer)))
        start = text.find(opener, end + len(closer))
    return spans


def _without_fences(text: str) -> tuple[str, list[Block]]:
    blocks: list[Block] = []
    spans: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark["fence"].startswith(opened["fence"]) and not mark["info"]:
            info = opened["info"].lower()
            is_plain = info in _PLAIN_FENCES and not _CODE_LINE.search(text, opened.end(), mark.start())
            if is_plain or info in _LATEX_FENCES | _MARKDOWN_FENCES:
                spans += [opened.span(), mark.span()]
            else:
                spans.append((opened.start(), mark.end()))
            if info in _LATEX_FENCES and not has_delimiter(text, opened.end(), mark.start()):
                blocks.append(Block(opened.end(), mark.start(), "display", opened.start(), mark.end()))
            opened = None
    if opened is not None and opened["info"].lower() not in _LATEX_FENCES | _MARKDOWN_FENCES | _PLAIN_FENCES:
        spans.append((opened.start(), len(text)))  # a program that was cut off
    return blank(text, spans), blocks


def is_in_code(text: str, at: int) -> bool:
    """Whether a place lies inside a code fence."""
    return sum(1 for _ in _FENCE.finditer(text, 0, at)) % 2 == 1


def without_end_of_code(text: str) -> str:
    """A text that begins inside a code fence, with blanks up to where that closes."""
    fence = _FENCE.search(text)
    return blank(text, [(0, fence.end() if fence else len(text))])


def _hidden(text: str) -> list[tuple[int, int]]:
    """Spans of commands whose argument is not shown: phantoms, struck-out text, white ink, bodies of macros."""
    mate: dict[int, int] = {}
    found: list[tuple[re.Match[str], int]] = []
    opened: list[int] = []
    for mark in _BRACES.finditer(text):
        word = mark.group()
        if mark["hide"]:
            found.append((mark, opened[-1] if opened else -1))
        elif word == "{":
            opened.append(mark.start())
        elif word == "}" and opened:
            mate[opened.pop()] = mark.start()
    spans = (_hidden_by(text, mark, around, mate) for mark, around in found)
    return sorted(span for span in spans if span)


def _hidden_by(text: str, mark: re.Match[str], around: int, mate: dict[int, int]) -> tuple[int, int] | None:
    """What one command hides, from itself to its end; None if nothing."""
    name, end = mark["hide"], mark.end()
    if name in _PHANTOMS:
        opening = end + len(text[end : end + 8]) - len(text[end : end + 8].lstrip())
        return (mark.start(), mate[opening] + 1) if opening in mate else None
    if name in ("color", "textcolor"):
        colour = _INVISIBLE.match(text, end)
        if not colour:
            return None
        if name == "textcolor":
            opening = colour.end()
            return (mark.start(), mate[opening] + 1) if opening in mate else None
        if around in mate:
            return mark.start(), mate[around]
        stop = _END_OF_COLOUR.search(text, colour.end())
        return mark.start(), stop.start() if stop else len(text)
    head = _MACRO_HEAD.match(text, end)
    if not head or head.end() not in mate:
        return None
    close = mate[head.end()] + 1
    if name == "newenvironment" and text[close : close + 1] == "{" and close in mate:
        close = mate[close] + 1
    return mark.start(), close


def thoughts(text: str) -> list[tuple[int, int]]:
    """Thinking blocks: closed ones, one left open to the end, and what stands before a lone closing tag."""
    spans: list[tuple[int, int]] = []
    opened: int | None = 0
    is_open = False
    for count, mark in enumerate(_THOUGHT.finditer(text)):
        if not (mark["close"] or mark["end"] or mark["shut"]):
            if opened is None or count == 0:
                opened, is_open = mark.start(), True
        elif opened is not None:
            spans.append((opened, mark.end()))
            opened, is_open = None, False
    if is_open and opened is not None:
        spans.append((opened, len(text)))
    return spans


# Comments inside formulas -----------------------------------------------------------------------------------------

_AFTER_PERCENT = re.compile(r"%\s*(?:$|[.,;:)\]}]|\\[\]),;]|\\text|\\\\|\n)")


def without_comments(text: str, blocks: Sequence[Block]) -> str:
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
    return blank(text, sorted(spans))


# Denials ----------------------------------------------------------------------------------------------------------

_FORMULA = "\x00"  # stands for each character of a formula while sentences are read
_WRONG = (
    r"(?:wrong|incorrect|false|untrue|invalid|impossible|mistaken|a mistake|an error"
    r"|not (?:true|correct|right|valid|the case))"
)
_ADVERB = r"(?:(?:also|clearly|simply|certainly|obviously|therefore|thus|then|just|actually|definitely) ){0,2}"
_BEHIND = (  # denies the formulas behind it
    rf"\b(?:is|was|'s|be) {_ADVERB}{_WRONG} (?:that|to)\b|\b(?:isn't|wasn't) (?:true|correct|right) (?:that|to)\b"
    r"|\b(?:incorrectly|mistakenly|wrongly|erroneously|falsely)\b|\btempted to (?:write|say|think|use)\b"
    r"|\b(?:might|may|could) (?:wrongly |naively )?think\b"
)
_NEXT = (  # denies the one right behind it
    r"(?:\b(?:is|are|was|does|do|did) not(?: simply| just)?(?: be| equal(?: to)?| give| imply| mean)?"
    r"|\b(?:isn't|aren't|doesn't|don't)(?: equal| give| imply| mean)?|\bnot equal to"
    r"|\bcan(?:not|'t| not) (?:be|equal|have)|\binstead of|\brather than|\b(?:and|but) not|, not)"
    rf"\s{{1,3}}(?:that\s)?[\s*({{]{{0,6}}(?={_FORMULA})"
)
_BEFORE = (  # denies those before it
    rf"\b(?:is|was|are|were|be|seems|looks|'s) {_ADVERB}{_WRONG}\b(?! (?:that|to|for|if|unless|when|only)\b)"
    r"|\b(?:isn't|wasn't|aren't) (?:true|correct|right|valid)\b"
    r"|\b(?:does|do|did)(?: not|n't) hold\b(?! (?:for|if|unless|when)\b)"
    r"|\bcan(?:not|'t| not) be (?:true|right|correct)\b"
)
_DENIAL = re.compile(rf"(?P<behind>{_BEHIND})|(?P<next>{_NEXT})|(?P<before>{_BEFORE})", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n[ \t]*\n|\n[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]")
_TURN = re.compile(
    r";|:\s|[–—]|,?\s(?:but|however|instead|so|hence|therefore|thus|whereas|because|in fact|actually|rather)\b"
    r"|\bthe correct|\bcorrectly\b",
    re.IGNORECASE,
)
_BEFORE_TURN = re.compile(r"[;:,–—]|\s(?:but|so|hence|therefore|thus|while|whereas|and)\s", re.IGNORECASE)


def denied(text: str, blocks: Sequence[Block]) -> frozenset[int]:
    """Indices of the blocks, ascending in the text, that their own sentence denies."""
    shown = _with_formulas_marked(text, blocks)
    found: set[int] = set()
    starts = [block.outer_start for block in blocks]
    for mark in _DENIAL.finditer(shown):
        if mark["behind"]:
            lo, hi = mark.end(), _end(shown, mark.end(), _TURN)
        elif mark["next"]:
            lo, hi = mark.end(), mark.end() + 1
        else:
            lo, hi = _start(shown, mark.start()), mark.start()
        found.update(at for at, start in enumerate(starts) if lo <= start < hi)
    return frozenset(found)


def _with_formulas_marked(text: str, blocks: Sequence[Block]) -> str:
    parts: list[str] = []
    position = 0
    for block in blocks:
        if block.outer_start >= position:
            parts += [text[position : block.outer_start], _FORMULA * (block.outer_end - block.outer_start)]
            position = block.outer_end
    return "".join([*parts, text[position:]])


def _end(shown: str, start: int, turn: re.Pattern[str]) -> int:
    """Where the clause ends that begins here."""
    stop = min(len(shown), start + _MAX_SENTENCE)
    ends = [mark.start() for pattern in (_SENTENCE_END, turn) if (mark := pattern.search(shown, start, stop))]
    return min(ends, default=stop)


def _start(shown: str, end: int) -> int:
    """Where the clause begins that ends here: behind the last turn that has a formula behind it."""
    lo = max(0, end - _MAX_SENTENCE)
    for mark in _SENTENCE_END.finditer(shown, lo, end):
        lo = mark.end()
    for mark in _BEFORE_TURN.finditer(shown, lo, end):
        if _FORMULA in shown[mark.end() : end]:
            lo = mark.end()
    return lo
