r"""From characters to token trees: what each piece of LaTeX is, before position gives it a meaning.

Two steps. `scan` cuts the text into flat tokens and gives Unicode its LaTeX spelling. `read` nests them: brackets
hold their content, `\frac` its two lists, a symbol its subscript, primes and labels, a number its power of ten.
What depends on neighbours (units, calls, differentials, extents) is left to `settle`.

A tree of tokens, not a flat stream, because every rule of `settle` speaks about siblings ("up to the next plus"),
and a flat stream would have to find the matching bracket again in each of them. Tokens are mutable, unlike the
values that leave this package: freezing them tripled the time of a parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prism.expr import Expr

MAX_LENGTH = 4000  # characters; a formula of a person stays below 1,500
MAX_TOKENS = 2000  # stops `a+a+a+...` that fits the length but not the later rooms
MAX_DEPTH = 32  # nesting of brackets, braces and unbraced arguments; stops recursion (deepest of 21,858 real ones: 10)
MAX_CHAIN = 24  # slashes, or products of vectors, in one bracket: each nests the ones before it
MAX_DIGITS = 60  # digits of one number; longer ones only cost time
MAX_PRIMES = 4  # a fourth derivative bends a beam; more is a slip
MAX_TEN_EXPONENT = 400  # |n| in 10^n of one number; floats end at 308

GAP_NONE, GAP_BLANK, GAP_SPACE, GAP_QUAD = 0, 1, 2, 3  # what stands before a token


class Fault(Exception):
    """A place that is not read; `parse` turns it into LatexSyntaxError with the author's text."""

    def __init__(self, position: int, found: str, *expected: str) -> None:
        super().__init__(found)
        self.position = position
        self.found = found
        self.expected = expected


@dataclass(slots=True)
class Token:
    """One token, or one tree of tokens.

    Attributes:
        type: kind while reading, a terminal of the grammar after `settle`.
        text: spelling, name of a symbol, or digits of a number.
        pos: offset in the author's text.
        gap: what blank stands before it.
        args: content, one list an argument.
        sup: superscript that is a power, or None.
        sub: subscript of what is not a symbol, or None.
        raw: flat tokens of a roman text, a subscript or a bracket, as they were scanned.
        expr: value of a leaf.
    """

    type: str
    text: str
    pos: int
    gap: int = 0
    args: Sequence[list[Token]] = ()
    sup: list[Token] | None = None
    sub: list[Token] | None = None
    raw: Sequence[Token] = ()
    expr: Expr | None = None

    # lark copies these from the last token when it makes its own end token
    line = column = end_line = end_column = start_pos = end_pos = None


# What the characters are ------------------------------------------------------------------------------------

GREEK = frozenset(
    "\\" + name
    for name in (
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi pi "
        "varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
    ).split()
)
_OTHER_LETTERS = frozenset((r"\hbar", r"\ell", r"\imath", r"\jmath", r"\Re", r"\Im", r"\aleph", r"\wp"))
LETTERS = GREEK | _OTHER_LETTERS
VARIANTS = {r"\varepsilon": r"\epsilon", r"\varphi": r"\phi", r"\vartheta": r"\theta", r"\varrho": r"\rho",
            r"\varsigma": r"\sigma", r"\varkappa": r"\kappa"}  # fmt: skip

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "tg": "tan", "cot": "cot", "ctg": "cot", "sec": "sec", "csc": "csc",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctg": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth", "sh": "sinh", "ch": "cosh", "th": "tanh", "arsinh": "asinh", "arcosh": "acosh",
    "artanh": "atanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "exp": "exp", "ln": "ln",
    "log": "ln", "lg": "log10", "max": "max", "min": "min", "det": "det", "arg": "arg", "sgn": "sgn", "sign": "sgn",
    "erf": "erf", "erfc": "erfc", "Tr": "Tr", "tr": "Tr", "sinc": "sinc", "gcd": "gcd", "dim": "dim", "ker": "ker",
}  # fmt: skip
ROMAN_FUNCTIONS = frozenset(FUNCTIONS) - {"min", "max", "th", "sh", "ch", "tr", "dim", "ker"}  # min is also a unit
PLAIN_FUNCTIONS = ("arcsinh arccosh arctanh arcsin arccos arctan sinh cosh tanh sin cos tan exp ln log sqrt").split()

RELATION_TEXT = {
    "=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", ":=": "equiv",
    r"\approx": "approx", r"\simeq": "approx", r"\cong": "approx", r"\sim": "approx", r"\equiv": "equiv",
    r"\triangleq": "equiv", r"\doteq": "equiv", r"\coloneqq": "equiv", r"\approxeq": "approx",
    r"\lt": "<", r"\gt": ">", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\leqq": "<=",
    r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\geqq": ">=", r"\ll": "<<", r"\gg": ">>", r"\ne": "!=",
    r"\neq": "!=", r"\propto": "propto", r"\to": "to", r"\rightarrow": "to", r"\longrightarrow": "to",
}  # fmt: skip
IMPLICATIONS = frozenset((r"\Rightarrow", r"\implies", r"\therefore", r"\because", r"\Longrightarrow",
                          r"\Leftrightarrow", r"\iff", r"\Longleftrightarrow"))  # fmt: skip

_TYPES = {
    "+": "PLUS", "-": "MINUS", r"\pm": "PM", r"\mp": "PM", "*": "TIMES", r"\cdot": "TIMES", r"\times": "TIMES",
    r"\ast": "TIMES", "/": "SLASH", r"\div": "SLASH", ",": "COMMA", ";": "COMMA", "!": "BANG", "'": "PRIME",
    "^": "^", "_": "_", "{": "{", "}": "}", "&": "AMP", "\\\\": "ROW", r"\cr": "ROW", r"\newline": "ROW",
    "(": "OPEN", "[": "OPEN", r"\{": "OPEN", r"\lbrace": "OPEN", r"\langle": "OPEN", r"\lvert": "OPEN",
    r"\lbrack": "OPEN", r"\lVert": "OPEN", ")": "CLOSE", "]": "CLOSE", r"\}": "CLOSE", r"\rbrace": "CLOSE",
    r"\rangle": "CLOSE", r"\rvert": "CLOSE", r"\rbrack": "CLOSE", r"\rVert": "CLOSE", "|": "BAR", r"\vert": "BAR",
    r"\mid": "BAR", r"\|": "NORM", r"\Vert": "NORM", r"\lfloor": "OPEN", r"\rfloor": "CLOSE",
    r"\%": "PERCENT", "%": "PERCENT", r"\infty": "INFINITY", r"\partial": "PARTIAL_SIGN",
    r"\nabla": "NABLA", r"\int": "INTEGRAL", r"\iint": "INTEGRAL", r"\iiint": "INTEGRAL", r"\oint": "INTEGRAL",
    r"\oiint": "INTEGRAL", r"\sum": "SERIES", r"\prod": "SERIES", r"\lim": "LIMIT", r"\dots": "DOTS",
    r"\ldots": "DOTS", r"\cdots": "DOTS", r"\prime": "PRIME", r"\over": "OVER",
    **dict.fromkeys(RELATION_TEXT, "REL"), **dict.fromkeys(IMPLICATIONS, "IMPLIES"), **dict.fromkeys(LETTERS, "letter"),
}  # fmt: skip
_PARTNER = {"(": ")", "[": "]", r"\{": r"\}", r"\langle": r"\rangle", "|": "|", r"\|": r"\|", ".": ".",
            r"\lfloor": r"\rfloor"}  # fmt: skip
_SAME_DELIMITER = {r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lvert": "|", r"\rvert": "|", r"\vert": "|", r"\mid": "|",
                   r"\lVert": r"\|", r"\rVert": r"\|", r"\Vert": r"\|", r"\lbrack": "[", r"\rbrack": "]",
                   "<": r"\langle", ">": r"\rangle"}  # fmt: skip

_SPACES = {r"\,": 2, r"\;": 2, r"\:": 2, r"\>": 2, r"\!": 0, r"\ ": 2, "~": 2, r"\quad": 3, r"\qquad": 3,
           r"\enspace": 2, r"\thinspace": 2, r"\enskip": 2, r"\medspace": 2}  # fmt: skip
_SILENT = frozenset((r"\displaystyle", r"\textstyle", r"\scriptstyle", r"\limits", r"\nolimits", r"\displaylimits",
                     r"\nonumber", r"\notag", r"\allowbreak", r"\relax", r"\middle", r"\mathop", r"\ensuremath",
                     r"\mathstrut", r"\strut", r"\hline", r"\centering", r"\mathrel", r"\mathbin", r"\mathord",
                     r"\nobreak", r"\hfill", r"\hfil", r"\smash", r"\scriptscriptstyle", r"\small", r"\large",
                     r"\normalsize", r"\footnotesize", r"\tiny"))  # fmt: skip

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
_UNICODE = {
    **dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
               (r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho "
                r"\sigma \tau \upsilon \phi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon "
                r"\Phi \Psi \Omega").split(), strict=True)),
    "ϵ": r"\epsilon", "ϕ": r"\phi", "ϑ": r"\theta", "µ": r"\mu", "∆": r"\Delta", "Ω": r"\Omega", "ħ": r"\hbar",
    "ℏ": r"\hbar", "ℓ": r"\ell", "·": r"\cdot", "⋅": r"\cdot", "∙": r"\cdot", "•": r"\cdot", "×": r"\times",
    "−": "-", "–": "-", "÷": r"\div", "∞": r"\infty", "≈": r"\approx", "≃": r"\simeq", "≅": r"\cong",
    "≡": r"\equiv", "≤": r"\le", "≥": r"\ge", "⩽": r"\le", "⩾": r"\ge", "≪": r"\ll", "≫": r"\gg", "≠": r"\ne",
    "∝": r"\propto", "→": r"\to", "⇒": r"\Rightarrow", "⟹": r"\Rightarrow", "∴": r"\therefore", "±": r"\pm",
    "∓": r"\mp", "∂": r"\partial", "∇": r"\nabla", "∫": r"\int", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod",
    "°": r"\degree", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "∣": "|", "′": "'", "’": "'", "‘": "'", "∗": "*",
    "√": r"\sqrt", "\u00c5": r"\AA", "\u212b": r"\AA", "″": "''", "…": r"\dots", "†": r"\dagger",
    "⟶": r"\to", "∥": r"\parallel", "⊥": r"\perp", "⊙": r"\odot",
}  # fmt: skip
_FRACTION_SIGNS = {"½": (1, 2), "¼": (1, 4), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3), "⅛": (1, 8)}

_SCAN = re.compile(
    r"""
    (?P<alone>[A-Za-z](?![A-Za-z])|[-+(){}^_/'\[\]])
  | (?P<space>[\s~\u2009\u202f\u00a0\u2002\u2003\u200b]+|\\[,;:!>\ ]
        |\\(?:q?quad|enspace|thinspace|enskip|medspace)(?![a-zA-Z]))
  | (?P<number>(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3}(?:(?:\{,\}|\\,|\\\ |~)\d{3})+
            |\d{1,3}(?:(?:\\,\s|\s\\,|\u2009|\u202f)\d{3})+|\d+)
        (?:(?:\.|\{,\})\d+(?:(?:\\,|\{,\}|\u2009|\u202f)\d{3})*(?!\d))?(?:[eE][+-]?\d+(?![\d.]))?|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<plain>(?<![A-Za-z\\])(?:PLAIN)(?=\s*(?:\\left\s*)?[({]))
  | (?P<drop>\\(?:label|tag\*?|eqref|vspace\*?|hspace\*?|vphantom|hphantom|textcolor|color)\s*\{[^{}]*\}
        |\\end\s*\{(?:ROWS)\*?\}|\\begin\s*\{(?:ROWS)\*?\}(?:\s*\{\d+\})?)
  | (?P<begin>\\begin\s*\{(?:array|tabular)\}\s*(?:\[[a-z]\])?\s*\{[^{}]*\}|\\begin\s*\{[a-zA-Z]+\*?\})
  | (?P<end>\\end\s*\{[a-zA-Z]+\*?\})
  | (?P<sized>\\(?:left|right|[bB]igg?[lrm]?)(?![a-zA-Z])\s*(?:\\[a-zA-Z]+|\\[{}|]|[()\[\]|./<>]))
  | (?P<command>\\[a-zA-Z]+|\\\\(?:\[[^\]]*\])?|\\.)
  | (?P<letter>[A-Za-z])
  | (?P<up>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+)
  | (?P<down>[₀₁₂₃₄₅₆₇₈₉₊₋]+)
  | (?P<other><=|>=|!=|:=|==|.)
    """.replace("PLAIN", "|".join(PLAIN_FUNCTIONS)).replace(
        "ROWS", "aligned|align|split|gathered|gather|equation|eqnarray|alignat|alignedat|multline|flalign|displaymath"
    ),
    re.VERBOSE | re.DOTALL,
)
_GROUPING = re.compile(r"\{,\}|\\[, ]|[,~\s\u2009\u202f]")
_ENVIRONMENT = re.compile(r"\{\s*([a-zA-Z]+\*?)\s*\}")


def scan(latex: str) -> list[Token]:
    """Cut the text into flat tokens, with an END token at the end.

    Errors:
        Fault: a limit is passed, or a character stands outside the accepted set.
    """
    start, stop = _bounds(latex)
    if stop - start > MAX_LENGTH:
        raise Fault(start, f"a formula of {stop - start} characters; at most {MAX_LENGTH} are read")
    tokens: list[Token] = []
    add = tokens.append
    gap = 0
    for match in _SCAN.finditer(latex, start, stop):
        kind = match.lastgroup
        text = match.group()
        pos = match.start()
        if kind == "alone" or kind == "letter":
            add(Token(_TYPES.get(text, "letter"), text, pos, gap))
        elif kind == "number":
            add(Token("number", _digits(text, pos), pos, gap, raw=(Token("COMMA", ",", pos),) if "," in text else ()))
        elif kind == "space":
            gap = max(gap, _SPACES.get(text, 1 if "~" not in text else 2))
            continue
        elif kind == "command" or kind == "other":
            text = _UNICODE.get(text, text)
            known = _TYPES.get(text)
            if known is not None:
                add(Token(known, _SAME_DELIMITER.get(text, text) if known in _DELIMITERS else text, pos, gap))
            elif text in _SILENT:
                continue
            else:
                _scan_rare(tokens, text, pos, gap)
        elif kind == "drop":
            continue
        else:
            _scan_compound(tokens, kind or "", text, pos, gap)
        gap = 0
    if len(tokens) > MAX_TOKENS:
        raise Fault(tokens[MAX_TOKENS].pos, f"a formula of {len(tokens)} tokens; at most {MAX_TOKENS} are read")
    add(Token("END", "", stop))
    return tokens


_DELIMITERS = frozenset(("OPEN", "CLOSE", "BAR", "NORM"))


def _bounds(latex: str) -> tuple[int, int]:
    """Where the formula starts and stops, without its dollars and the punctuation of the sentence around it."""
    start, stop = 0, len(latex)
    while start < stop:
        while start < stop and latex[start].isspace():
            start += 1
        kept = stop
        while start < stop:
            last = latex[stop - 1]
            escaped = stop - start > 1 and latex[stop - 2] == "\\"
            if escaped and last in ",;:! \\":
                stop -= 2
            elif last.isspace() or (last in ".,;~" and not latex.endswith(r"\right.", start, stop)):
                stop -= 1
            else:
                break
        for left, right in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
            wide = len(left) + len(right)
            if stop - start >= wide and latex.startswith(left, start) and latex.endswith(right, start, stop):
                start, stop = start + len(left), stop - len(right)
                break
        else:
            if kept == stop:
                break
    return start, stop


def _digits(text: str, pos: int) -> str:
    """Digits as written, without what only groups them; a comma in braces before other than three digits is decimal."""
    if not text.isdigit():
        if "{,}" in text and (text.startswith("0{,}") or not re.search(r"\{,\}\d{3}(?!\d)", text)):
            text = text.replace("{,}", ".", 1)
        text = _GROUPING.sub("", text)
        if text[0] == ".":
            text = "0" + text
        mantissa, _, exponent = text.lower().partition("e")
        if exponent and abs(int(exponent[:8])) > MAX_TEN_EXPONENT:
            raise Fault(pos, f"the power of ten 10^{exponent[:8]}; at most {MAX_TEN_EXPONENT} is read")
        text = f"{mantissa}e{int(exponent)}" if exponent else mantissa
    if len(text) > MAX_DIGITS:
        raise Fault(pos, f"a number of {len(text)} digits; at most {MAX_DIGITS} are read")
    return text


def _scan_rare(tokens: list[Token], text: str, pos: int, gap: int) -> None:
    """Characters and commands outside the common table."""
    if text in _FRACTION_SIGNS:
        top, bottom = _FRACTION_SIGNS[text]
        pieces = [r"\frac", "{", str(top), "}", "{", str(bottom), "}"]
        kinds = ["command", "{", "number", "}", "{", "number", "}"]
        tokens.extend(Token(kind, piece, pos, gap) for kind, piece in zip(kinds, pieces, strict=True))
    elif text == "''":
        tokens.extend((Token("PRIME", "'", pos, gap), Token("PRIME", "'", pos)))
    elif text[0] == "\\" and len(text) > 1 and not text.startswith("\\\\"):
        tokens.append(Token("command", text, pos, gap))
    elif text.startswith("\\\\"):
        tokens.append(Token("ROW", "\\\\", pos, gap))
    elif text in '.:?"@#`$' or text == "\\":
        tokens.append(Token("mark", text, pos, gap))
    else:
        tokens.append(Token("unknown", text, pos, gap))


def _scan_compound(tokens: list[Token], kind: str, text: str, pos: int, gap: int) -> None:
    """Matches that stand for more than one token, or that carry a name."""
    if kind == "up" or kind == "down":
        plain = text.translate(_SUPERSCRIPTS if kind == "up" else _SUBSCRIPTS)
        tokens.extend((Token("^" if kind == "up" else "_", "^" if kind == "up" else "_", pos), Token("{", "{", pos)))
        for piece in re.findall(r"\d+|\D", plain):
            shape = "number" if piece.isdigit() else _TYPES.get(piece, "letter")
            tokens.append(Token(shape, piece, pos))
        tokens.append(Token("}", "}", pos))
    elif kind == "sized":
        size = re.match(r"\\[a-zA-Z]+", text)
        word = size.group() if size else ""
        delimiter = text[len(word) :].strip()
        delimiter = _SAME_DELIMITER.get(_UNICODE.get(delimiter, delimiter), delimiter)
        side = "OPEN" if word == r"\left" or word.endswith("l") else "CLOSE" if word[-1] in "rt" else ""
        known = _TYPES.get(delimiter, "")
        if delimiter == "/" and word not in (r"\left", r"\right"):
            tokens.append(Token("SLASH", delimiter, pos, gap))
        elif delimiter == "." and word in (r"\left", r"\right"):
            tokens.append(Token(side, delimiter, pos, gap))
        elif known in ("BAR", "NORM"):
            tokens.append(Token(side or known, delimiter, pos, gap))
        elif known in ("OPEN", "CLOSE"):
            tokens.append(Token(known, delimiter, pos, gap))
        else:
            raise Fault(pos, f"the size {word} before {delimiter}", "a bracket")
    elif kind == "plain":
        tokens.append(Token("command", "\\" + text, pos, gap, raw=(Token("plain", text, pos),)))
    else:
        name = _ENVIRONMENT.search(text)
        tokens.append(Token("BEGIN" if kind == "begin" else "FINISH", name.group(1) if name else "", pos, gap))


# Reading: nesting, names, numbers ---------------------------------------------------------------------------

ROMAN = frozenset((r"\mathrm", r"\text", r"\textrm", r"\textnormal", r"\operatorname", r"\mathsf", r"\mathtt", r"\mbox",
                   r"\hbox", r"\textit", r"\mathit", r"\mathnormal", r"\textsf"))  # fmt: skip
TEXT_MODE = frozenset((r"\text", r"\textrm", r"\textnormal", r"\mbox", r"\hbox", r"\textit", r"\textsf"))
_VECTORS = frozenset((r"\vec", r"\mathbf", r"\boldsymbol", r"\bm", r"\overrightarrow", r"\pmb", r"\textbf",
                      r"\overset{\to}", r"\mathbfit"))  # fmt: skip
_ACCENTS = {**dict.fromkeys(_VECTORS, r"\vec"), r"\bar": r"\bar", r"\overline": r"\bar", r"\hat": r"\hat",
            r"\widehat": r"\hat", r"\tilde": r"\tilde", r"\widetilde": r"\tilde", r"\mathcal": r"\mathcal",
            r"\mathbb": r"\mathbb", r"\mathscr": r"\mathscr", r"\mathfrak": r"\mathfrak", r"\check": r"\check",
            r"\breve": r"\breve", r"\underline": r"\underline", r"\mathring": r"\mathring"}  # fmt: skip
_DOTS = {r"\dot": "1", r"\ddot": "2", r"\dddot": "3"}
_SWITCHES = {r"\rm": r"\mathrm", r"\bf": r"\mathbf", r"\it": r"\mathit", r"\cal": r"\mathcal", r"\sf": r"\mathsf",
             r"\bfseries": r"\mathbf", r"\em": r"\mathit"}  # fmt: skip
_FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"))
_UNWRAPPED = frozenset((r"\boxed", r"\fbox", r"\mathclose", r"\mathopen", r"\framebox"))
_SIUNITX = frozenset((r"\SI", r"\qty", r"\si", r"\unit", r"\num", r"\ang"))
_DIFFERENTIALS = frozenset((r"\dd", r"\diff", r"\differential"))
_LABELS = frozenset((r"\ast", r"\star", r"\dagger", r"\dag", r"\ddagger", r"\top", r"\perp", r"\parallel", "*", "+",
                     "-", r"\pm", r"\circ", r"\degree", r"\intercal", r"\oplus", r"\ominus", r"\|",
                     r"\odot"))  # fmt: skip
_SUBSCRIPT_ONLY = frozenset((r"\perp", r"\parallel", r"\odot", r"\oplus", r"\ominus", r"\star", r"\dagger", r"\dag",
                             r"\uparrow", r"\downarrow", r"\leftarrow", r"\circ", r"\bullet", r"\degree", r"\bot",
                             r"\leftrightarrow", r"\otimes", r"\AA", r"\sun", r"\earth", r"\triangle", r"\square",
                             r"\colon", r"\lor", r"\land", r"\cup", r"\cap", r"\_", r"\#", r"\nearrow",
                             r"\searrow", r"\emptyset", r"\top"))  # fmt: skip

OPERATORS = frozenset(("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "COMMA", "IMPLIES", "ROW"))


@dataclass(slots=True)
class Cursor:
    """Where reading stands in the flat tokens."""

    tokens: list[Token]
    index: int = 0
    depth: int = 0
    folds: bool = True  # \varepsilon is \epsilon, and so on, unless the formula uses both
    seen: frozenset[str] = frozenset()

    def descend(self) -> None:
        """Enter a bracket or an argument."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Fault(self.tokens[self.index].pos, f"brackets or arguments nested more than {MAX_DEPTH} deep")


def read(tokens: list[Token]) -> list[Token]:
    """Nest flat tokens into the list of the whole formula."""
    seen = frozenset(token.text for token in tokens if token.type == "letter" and token.text in GREEK)
    cursor = Cursor(tokens, seen=seen)
    items = read_list(cursor, _TOP_ENDS)
    if (last := tokens[cursor.index]).type != "END":
        raise Fault(last.pos, describe(last), "the end of the formula")
    return items


_TOP_ENDS = frozenset(("END", "}", "CLOSE", "FINISH"))
_BRACE_ENDS = frozenset(("}", "END", "FINISH"))
_BRACKET_ENDS = frozenset(("CLOSE", "END", "}", "FINISH"))
_BAR_ENDS = frozenset(("BAR", "END", "}", "CLOSE", "FINISH"))
_NORM_ENDS = frozenset(("NORM", "END", "}", "CLOSE", "FINISH"))
_ANGLE_ENDS = frozenset(("CLOSE", "BAR", "END", "}", "FINISH"))
_CELL_ENDS = frozenset(("AMP", "ROW", "FINISH", "END", "}"))


def describe(token: Token) -> str:
    """A token in a reader's words."""
    return _WORDS.get(token.type) or (f"`{token.text}`" if token.text else "nothing")


_WORDS = {"END": "the end of the formula", "}": "a closing brace", "{": "an opening brace", "FINISH": r"an \end"}


def read_list(cursor: Cursor, ends: frozenset[str]) -> list[Token]:
    """Siblings up to a token whose type is in `ends`, which is left for the caller."""
    cursor.descend()
    items: list[Token] = []
    tokens = cursor.tokens
    while True:
        token = tokens[cursor.index]
        kind = token.type
        if kind == "letter":
            cursor.index += 1
            items.append(_symbol(cursor, token, token.text))
        elif kind in OPERATORS and kind not in ends:
            cursor.index += 1
            items.append(token)
        elif kind == "number":
            items.append(_number(cursor, items))
        elif kind in ends and not (kind in ("BAR", "NORM") and not (items and is_factor(items[-1]))):
            break
        elif kind == "AMP":
            cursor.index += 1
        elif kind == "command" and token.text in _SWITCHES:
            cursor.index += 1
            _switch(cursor, token, items, ends)
        elif kind == "OVER":
            cursor.index += 1
            below = read_list(cursor, ends)
            if any(item.type == "OVER" for item in below):
                raise Fault(token.pos, r"a second \over in one group")
            items = [Token("FRAC", r"\over", token.pos, args=[items, below])]
        else:
            _read_other(cursor, token, items)
    cursor.depth -= 1
    return items


def is_factor(token: Token) -> bool:
    """Whether a token can end an operand."""
    return token.type not in OPERATORS and token.type not in ("FUNCTION", "INTEGRAL", "SERIES", "LIMIT")


def _read_other(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Everything but letters, numbers and plain operators."""
    kind = token.type
    cursor.index += 1
    if kind == "command":
        _command(cursor, token, items)
    elif kind == "{":
        cursor.index -= 1
        _bare_group(cursor, items)
    elif kind == "OPEN" and token.text == "." and cursor.tokens[cursor.index].type == "CLOSE":
        bar = cursor.tokens[cursor.index]
        cursor.index += 1
        _bar(cursor, Token("BAR", bar.text, bar.pos), items)
    elif kind == "OPEN":
        items.append(_bracket(cursor, token))
    elif kind in ("BAR", "NORM"):
        _bar(cursor, token, items)
    elif kind == "^" or kind == "_" or kind == "PRIME":
        _late_script(cursor, token, items)
    elif kind == "NABLA" and cursor.tokens[cursor.index].type in ("_", "PRIME"):
        named_nabla = named(cursor, Token("NABLA", "", token.pos, token.gap))
        if named_nabla.type != "NABLA":
            raise Fault(token.pos, "two primes on a nabla")
        items.append(named_nabla)
    elif kind in ("INTEGRAL", "SERIES", "LIMIT", "NABLA", "PARTIAL_SIGN"):
        items.append(_scripts(cursor, Token(kind, "" if kind == "NABLA" else token.text, token.pos, token.gap)))
    elif kind == "INFINITY":
        items.append(_scripts(cursor, Token("INFINITY", "", token.pos, token.gap, expr=Expr("infinity"))))
    elif kind == "DOTS":
        items.append(Token("OPAQUE", "dots", token.pos, token.gap))
    elif kind == "BANG":
        items.append(token)
    elif kind == "PERCENT":
        if not items or items[-1].type not in ("NUM", "PAREN", "FRAC"):
            raise Fault(token.pos, "a percent sign without a number before it")
        items.append(unit_token("%", token.pos))
    elif kind == "BEGIN":
        items.append(_environment(cursor, token))
    elif kind == "mark" and token.text == "." and items and items[-1].type == "NUM" and not token.gap:
        pass  # `2.` is a number with its decimal point
    elif kind == "mark" and token.text == "." and cursor.tokens[cursor.index].type in ("}", "FINISH", "ROW", "END"):
        pass  # the full stop of the sentence, inside the last bracket
    elif kind == "CLOSE":
        raise Fault(token.pos, f"the closing bracket {_written(token.text)} without its opening one")
    elif kind == "unknown":
        raise Fault(token.pos, f"the character {token.text!r}, which is not read")
    else:
        raise Fault(token.pos, describe(token), "a number, a symbol or an operator")


def unit_token(name: str, pos: int) -> Token:
    """A leaf that is a unit."""
    return Token("UNIT", name, pos, expr=Expr("unit", name=name))


# Numbers ----------------------------------------------------------------------------------------------------


def _number(cursor: Cursor, items: list[Token]) -> Token:
    """A number with its power of ten, its exponent, or the marks of an angle."""
    tokens = cursor.tokens
    token = tokens[cursor.index]
    cursor.index += 1
    if items and items[-1].type == "NUM" and items[-1].sup is None and not items[-1].args:
        raise Fault(token.pos, "two numbers side by side", "one number", "an operator between them")
    text = token.text
    sign = tokens[cursor.index]
    point = sign.type == "mark" and sign.text == "." and tokens[cursor.index + 1].type == "TIMES"
    if point:
        sign = tokens[cursor.index + 1]
    if sign.type == "TIMES" and "e" not in text:
        start = cursor.index + point
        ten = tokens[start + 1] if tokens[start + 1].type != "{" else tokens[start + 2]
        if ten.type == "number" and ten.text == "10":
            power = _ten_power(cursor, start + 1)
            if power is not None:
                if items and items[-1].type == "SLASH":
                    raise Fault(ten.pos, "a power of ten after a slash and a number: is it in the denominator?",
                                "brackets around the number")  # fmt: skip
                text = f"{text}e{power}"
    number = Token("NUM", text, token.pos, token.gap, raw=token.raw)
    if tokens[cursor.index].type in _SCRIPT_STARTS:
        return _numeric_scripts(cursor, number)
    return number


_SCRIPT_STARTS = frozenset(("^", "_", "PRIME"))


def _ten_power(cursor: Cursor, index: int) -> int | None:
    """Exponent of `10^{n}` at this index, and move behind it; None if n is not an integer."""
    tokens = cursor.tokens
    braced = tokens[index].type == "{"  # `\times {10}^{3}`
    after = index + (3 if braced else 1)
    if tokens[after].type != "^":
        return None
    inner, after = _slice(tokens, after + 1)
    if len(inner) == 3 and inner[0].type == "OPEN" and inner[2].type == "CLOSE":
        inner = inner[1:2]
    sign = 1
    if len(inner) == 2 and inner[0].type in ("MINUS", "PLUS"):
        sign = -1 if inner[0].type == "MINUS" else 1
        inner = inner[1:]
    if len(inner) == 1 and inner[0].type == "MINUS" and tokens[after].type == "number":  # 10^-3
        sign, inner, after = -1, [tokens[after]], after + 1
    elif len(inner) == 1 and tokens[after - 1].type != "}" and len(inner[0].text) > 1:
        raise Fault(inner[0].pos, f"an exponent of several digits `{inner[0].text}` without braces", "braces around it")
    if len(inner) != 1 or inner[0].type != "number" or not inner[0].text.isdigit():
        return None
    power = int(inner[0].text[:8])
    if power > MAX_TEN_EXPONENT:
        raise Fault(inner[0].pos, f"the power of ten 10^{power}; at most {MAX_TEN_EXPONENT} is read")
    cursor.index = after
    return sign * power


_NO_ARGUMENT = frozenset(("END", "}", "AMP", "ROW", "FINISH", "CLOSE", "^", "_"))


def _slice(tokens: list[Token], index: int) -> tuple[list[Token], int]:
    """Flat tokens of one TeX argument, without its braces, and the index behind it."""
    token = tokens[index]
    if token.type == "command" and token.text in ROMAN | _ACCENTS.keys() | _UNWRAPPED:
        inner, after = _slice(tokens, index + 1)
        return [token, *inner], after
    if token.type in _NO_ARGUMENT:
        raise Fault(token.pos, describe(token), "an argument")
    if token.type != "{":
        return [token], index + 1
    level, after = 1, index + 1
    while level:
        kind = tokens[after].type
        if kind == "END":
            raise Fault(tokens[after].pos, "the end of the formula", "a closing brace")
        level += (kind == "{") - (kind == "}")
        after += 1
    return tokens[index + 1 : after - 1], after


def _numeric_scripts(cursor: Cursor, number: Token) -> Token:
    """What may stand after a number: a power, a degree sign, minutes and seconds of arc."""
    tokens = cursor.tokens
    token = tokens[cursor.index]
    if token.type == "_":
        raise Fault(token.pos, "a subscript on a number", "a symbol before it")
    if token.type == "PRIME":
        count = 0
        while tokens[cursor.index].type == "PRIME":
            cursor.index += 1
            count += 1
        unit = unit_token(("arcmin", "arcsec")[min(count, 2) - 1], token.pos)
        return Token("QUANTITY", "", number.pos, number.gap, args=[[number, unit]])
    inner, after = _slice(tokens, cursor.index + 1)
    if inner and inner[0].text in (r"\circ", r"\degree"):
        cursor.index = after
        return Token("QUANTITY", "", number.pos, number.gap, args=[[number, _degree(cursor, inner, token.pos)]])
    if len(inner) == 1 and inner[0].type in ("PLUS", "MINUS") and tokens[after].type != "number":
        cursor.index = after
        return Token("SYM", f"{number.text}^{{{inner[0].text}}}", number.pos, number.gap)
    cursor.index += 1
    number.sup = _power(cursor)
    return number


def _degree(cursor: Cursor, inner: list[Token], pos: int) -> Token:
    r"""`^\circ`, `^\circ C`, `^{\circ}\mathrm{C}`, `^{\circ \mathrm{C}}`: the unit that follows a number."""
    letters = [token for token in inner[1:] if token.type == "letter"]
    if not letters:
        tokens = cursor.tokens
        index = cursor.index
        if tokens[index].type == "command" and tokens[index].text in ROMAN:
            piece, after = _slice(tokens, index + 1)
            if len(piece) == 1 and piece[0].text in ("C", "F"):
                letters, cursor.index = list(piece), after
        elif tokens[index].text in ("C", "F") and tokens[index + 1].type not in _SCRIPT_STARTS:
            letters, cursor.index = [tokens[index]], index + 1
    name = "".join(token.text for token in letters)
    if name not in ("", "C", "F"):
        raise Fault(pos, f"the degree unit {name}", "C", "F")
    return unit_token("deg" + name, pos)


# Names ------------------------------------------------------------------------------------------------------


def _symbol(cursor: Cursor, token: Token, head: str) -> Token:
    """A letter with everything that belongs to its name, and its power."""
    if token.text in VARIANTS and VARIANTS[token.text] not in cursor.seen:
        head = VARIANTS[token.text]
    after = cursor.tokens[cursor.index]
    if head in (r"\Delta", r"\delta") and after.type in ("letter", "command"):
        prefixed = _prefixed(cursor, head, after)
        if prefixed is not None:
            prefixed.pos, prefixed.gap = token.pos, token.gap
            return prefixed
    if after.type not in _SCRIPT_STARTS:
        if head == r"\pi":
            return Token("CONST", head, token.pos, token.gap, expr=PI)
        return Token("SYM", head, token.pos, token.gap)
    return named(cursor, Token("SYM", head, token.pos, token.gap))


PI = Expr("const", name="pi")


def _prefixed(cursor: Cursor, head: str, after: Token) -> Token | None:
    r"""The symbol behind `\Delta`, if it makes one symbol with it: `\Delta x_0`."""
    start = cursor.index
    if after.type == "letter" and after.text not in (r"\Delta", r"\pi"):
        cursor.index += 1
        inner = _symbol(cursor, after, after.text)
    elif after.text in _DOTS:
        dotted: list[Token] = []
        cursor.index += 1
        _command(cursor, after, dotted)
        if dotted[0].args[0][0].type != "SYM" or len(dotted[0].args[0]) > 1:
            raise Fault(after.pos, f"{head} before a dotted expression", "a dotted symbol")
        dotted[0].args[0][0].text = f"{head} {dotted[0].args[0][0].text}"  # delta and d/dt change places
        return dotted[0]
    elif after.text in _ACCENTS or after.text in ROMAN:
        items: list[Token] = []
        cursor.index += 1
        _command(cursor, after, items)
        if len(items) != 1 or items[0].type not in ("SYM", "ROMAN"):
            cursor.index = start
            return None
        inner = items[0]
        if inner.type == "ROMAN":
            inner.text = spell(inner.raw)
            if not inner.text.isalnum():
                cursor.index = start
                return None
    else:
        return None
    if inner.type == "CALL" or inner.type not in ("SYM", "ROMAN"):
        cursor.index = start
        return None
    return Token("SYM", f"{head} {inner.text}", after.pos, sup=inner.sup)


def named(cursor: Cursor, item: Token) -> Token:
    """Attach primes, subscript, label and power to a symbol; the name has one order: head, primes, subscript, label.

    Two primes and more are a derivative by an unnamed variable, `?`.
    """
    tokens = cursor.tokens
    primes, sub, label = 0, "", ""
    sup: list[Token] | None = None
    while (kind := tokens[cursor.index].type) in _SCRIPT_STARTS:
        here = tokens[cursor.index]
        cursor.index += 1
        if kind == "PRIME":
            primes += 1
        elif kind == "_":
            if sub:
                raise Fault(here.pos, "a second subscript on one symbol")
            sub = _subscript(cursor)
        else:
            inner, after = _slice(tokens, cursor.index)
            count = sum(1 for _ in _leading_primes(inner))
            written = _label(inner[count:]) if count < len(inner) else ""
            if (sup is not None or label) and (count < len(inner)):
                raise Fault(here.pos, "a second superscript on one symbol", "brackets around the first power")
            primes += count
            if count == len(inner) and count:
                cursor.index = after
            elif written is not None and (written or count):
                label, cursor.index = written or label, after
                if not written:
                    sup = read_list(Cursor([*inner[count:], Token("END", "", here.pos)], depth=cursor.depth), _TOP_ENDS)
            elif count:
                sup = read_list(Cursor([*inner[count:], Token("END", "", here.pos)], depth=cursor.depth), _TOP_ENDS)
                cursor.index = after
            else:
                sup = _power(cursor)
    name = item.text + "'" * (primes if primes < 2 else 0) + (f"_{sub}" if sub else "")
    name += f"^{{{label}}}" if label else ""
    if primes > MAX_PRIMES:
        raise Fault(item.pos, f"{primes} primes on one symbol; at most {MAX_PRIMES} are read")
    if primes >= 2:
        base, free = Token("SYM", name, item.pos), Token("SYM", "?", item.pos)
        return Token("DERIVATIVE", str(primes), item.pos, item.gap, args=[[base], [free]], sup=sup)
    item.text, item.sup = name, sup
    if name == r"\pi":
        item.type, item.expr = "CONST", PI
    return item


def _leading_primes(tokens: Sequence[Token]) -> Sequence[Token]:
    count = 0
    while count < len(tokens) and tokens[count].type == "PRIME":
        count += 1
    return tokens[:count]


def _label(tokens: Sequence[Token]) -> str | None:
    r"""The spelling of a superscript that is a label (`*`, `(1)`, `\dagger`), None if it is a power."""
    if not tokens:
        return None
    first, last = tokens[0], tokens[-1]
    if len(tokens) == 2 and first.type == "number" and last.type in ("PLUS", "MINUS"):
        return spell(tokens)  # an ion
    if all(token.text in _LABELS for token in tokens):
        return spell(tokens)
    if first.type == "OPEN" and first.text == "(" and last.type == "CLOSE" and _closes_at_end(tokens):
        inside = tokens[1:-1]
        if inside and all(token.type in ("number", "letter", "COMMA") for token in inside) and len(inside) <= 3:
            return f"({spell(inside)})"
        return None
    if first.type == "command" and first.text in ROMAN:
        inner, after = _slice([*tokens, Token("END", "", last.pos)], 1)
        if after == len(tokens) and all(token.type in ("letter", "mark", "MINUS") for token in inner):
            word = spell(inner)
            return word if len(word) > 1 or word == "T" else None
    return None


def _closes_at_end(tokens: Sequence[Token]) -> bool:
    level = 0
    for index, token in enumerate(tokens):
        level += (token.type == "OPEN") - (token.type == "CLOSE")
        if level == 0:
            return index == len(tokens) - 1
    return False


def _subscript(cursor: Cursor) -> str:
    """Spelling of the subscript at the cursor, in braces unless it is one character or one command."""
    token = cursor.tokens[cursor.index]
    if token.type == "number" and len(token.text) > 1:
        raise Fault(token.pos, f"a subscript of several digits `{token.text}` without braces", "braces around it")
    if token.type in ("END", "}", "AMP", "ROW"):
        raise Fault(token.pos, describe(token), "a subscript")
    inner, cursor.index = _slice(cursor.tokens, cursor.index)
    text = spell(inner, folds=cursor.seen)
    if not text:
        raise Fault(token.pos, "an empty subscript")
    single = len(text) == 1 or (text[0] == "\\" and text[1:].isalpha())
    return text if single else f"{{{text}}}"


def spell(tokens: Sequence[Token], *, folds: frozenset[str] = frozenset()) -> str:
    r"""One spelling of flat tokens inside a name: without blanks and fonts, commands kept.

    Errors:
        Fault: a command that has no place in a name.
    """
    out = ""
    index = 0
    flat = [*tokens, Token("END", "", tokens[-1].pos if tokens else 0)]
    while index < len(tokens):
        token = flat[index]
        index += 1
        text = token.text
        if token.type in ("{", "}"):
            continue
        if token.type in ("_", "^"):
            inner, index = _slice(flat, index)
            part = spell(inner, folds=folds)
            out += token.text + (part if len(part) == 1 or (part[:1] == "\\" and part[1:].isalpha()) else f"{{{part}}}")
            continue
        if token.type == "PRIME":
            text = "'"
        elif text[:1] == "\\" and text[1:].isalpha():
            text, index = _spell_command(flat, index, text, token.pos, folds)
        if out and text[:1].isalpha() and (match := re.search(r"\\[a-zA-Z]+$", out)) and match:
            out += " "
        out += text
    return out


def _spell_command(flat: list[Token], index: int, text: str, pos: int, folds: frozenset[str]) -> tuple[str, int]:
    """Spelling of one command inside a name, and the index behind its arguments."""
    if text in ROMAN or text in _SWITCHES or text in _UNWRAPPED:
        return "", index
    if text in VARIANTS and VARIANTS[text] not in folds:
        return VARIANTS[text], index
    if text in _ACCENTS or text in _DOTS:
        inner, index = _slice(flat, index)
        part = spell(inner, folds=folds)
        return f"{_ACCENTS.get(text, text)}{{{part}}}", index
    if text in _FRACTIONS:
        top, index = _slice(flat, index)
        below, index = _slice(flat, index)
        return f"{spell(top, folds=folds)}/{spell(below, folds=folds)}", index
    if text[1:] in FUNCTIONS:
        return text[1:], index
    if text in _TYPES or text in _SUBSCRIPT_ONLY:
        return text, index
    raise Fault(pos, f"the command {text} inside a name, which is not read")


# Commands ---------------------------------------------------------------------------------------------------


def _command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A command with its arguments; the cursor stands behind its name."""
    text = token.text
    name = text[1:]
    if name in FUNCTIONS:
        items.append(_function(cursor, token, FUNCTIONS[name]))
        _braced_argument(cursor, items)
    elif text in _FRACTIONS:
        args = [_argument(cursor, splits=True), _argument(cursor)]
        items.append(_scripts(cursor, Token("FRAC", text, token.pos, token.gap, args=args)))
    elif text == r"\sqrt":
        items.append(_root(cursor, token))
    elif text in ROMAN:
        _roman(cursor, token, items)
    elif text in _ACCENTS:
        items.append(_accent(cursor, token))
    elif text in _DOTS:
        body = _argument(cursor)
        _dotted(cursor, token, body, items)
    elif text in _UNWRAPPED:
        _bare_group(cursor, items)
    elif text in _SIUNITX:
        _siunitx(cursor, token, items)
    elif text in _DIFFERENTIALS:
        items.append(_scripts(cursor, Token("D", "d", token.pos, token.gap)))
    else:
        _rare_command(cursor, token, items)


def _rare_command(cursor: Cursor, token: Token, items: list[Token]) -> None:
    text = token.text
    if text in (r"\overbrace", r"\underbrace"):
        body = _argument(cursor)
        if cursor.tokens[cursor.index].type in ("^", "_"):  # the note that a brace carries is no mathematics
            _, cursor.index = _slice(cursor.tokens, cursor.index + 1)
        items.append(Token("PAREN", "{", token.pos, token.gap, args=[body]))
    elif text in (r"\overset", r"\underset", r"\stackrel"):
        _argument(cursor)
        body = _argument(cursor)
        if len(body) != 1 or body[0].type != "REL":
            raise Fault(token.pos, f"{text} over something that is no relation")
        items.append(body[0])
    elif text in (r"\binom", r"\dbinom", r"\tbinom"):
        args = [_argument(cursor), _argument(cursor)]
        items.append(_scripts(cursor, Token("OPAQUE", "binom", token.pos, token.gap, args=args)))
    elif text == r"\not":
        after = cursor.tokens[cursor.index]
        if after.text != "=":
            raise Fault(token.pos, r"\not before something other than =")
        cursor.index += 1
        items.append(Token("REL", "!=", token.pos, token.gap))
    elif text in (r"\degree", r"\circ"):
        if not items or items[-1].type not in ("NUM", "PAREN", "FRAC", "SYM"):
            raise Fault(token.pos, "a degree sign without a number before it")
        items.append(_degree(cursor, [token], token.pos))
    elif text == r"\AA":
        items.append(unit_token("angstrom", token.pos))
    elif text in (r"\bra", r"\ket", r"\braket", r"\expval", r"\mean"):
        content, cursor.index = _slice(cursor.tokens, cursor.index)
        kind = {r"\bra": "bra", r"\ket": "ket", r"\braket": "braket"}.get(text, "mean")
        items.append(_scripts(cursor, _angle_parts(token, kind, _split_bars(content))))
    elif text in (r"\abs", r"\norm"):
        items.append(_scripts(cursor, Token("ABS", "|", token.pos, token.gap, args=[_argument(cursor)])))
    elif text in _SUBSCRIPT_ONLY and text not in (r"\cup", r"\cap", r"\lor", r"\land"):
        raise Fault(token.pos, f"the sign {text}, which is read only inside a subscript or superscript")
    else:
        raise Fault(token.pos, f"the command {text}, which is not read")


def _argument(cursor: Cursor, *, splits: bool = False) -> list[Token]:
    r"""One TeX argument: a group, or one token.

    Args:
        splits: `\frac12` takes the first digit and leaves the second; elsewhere two digits are a fault.
    """
    token = cursor.tokens[cursor.index]
    if token.type == "{":
        cursor.index += 1
        items = read_list(cursor, _BRACE_ENDS)
        _expect_brace(cursor)
        if not items:
            raise Fault(token.pos, "empty braces", "a number or a symbol in them")
        return items
    if token.type == "number" and len(token.text) > 1:
        if splits and len(token.text) == 2 and token.text.isdigit():
            cursor.tokens[cursor.index] = Token("number", token.text[1], token.pos + 1)
            return [Token("NUM", token.text[0], token.pos)]
        raise Fault(token.pos, f"`{token.text}` without braces where one digit is taken", "braces around it")
    if token.type in ("letter", "number"):
        cursor.index += 1
        if token.type == "number":
            return [Token("NUM", token.text, token.pos)]
        head = token.text
        if head in VARIANTS and VARIANTS[head] not in cursor.seen:
            head = VARIANTS[head]
        return [Token("CONST", head, token.pos, expr=PI) if head == r"\pi" else Token("SYM", head, token.pos)]
    if token.type == "command" or token.type == "OPEN":
        cursor.descend()
        cursor.index += 1
        single: list[Token] = []
        if token.type == "OPEN":
            single.append(_bracket(cursor, token))
        else:
            _command(cursor, token, single)
        cursor.depth -= 1
        return single
    if token.type in ("REL", "INFINITY"):
        cursor.index += 1
        infinity = Expr("infinity")
        return [token if token.type == "REL" else Token("INFINITY", "", token.pos, expr=infinity)]
    raise Fault(token.pos, describe(token), "an argument in braces")


def _expect_brace(cursor: Cursor) -> None:
    token = cursor.tokens[cursor.index]
    if token.type != "}":
        raise Fault(token.pos, describe(token), "a closing brace")
    cursor.index += 1


def _power(cursor: Cursor) -> list[Token]:
    """Content of a superscript that is a power; several digits without braces are a fault."""
    token = cursor.tokens[cursor.index]
    if token.type == "number" and len(token.text) > 1:
        raise Fault(token.pos, f"an exponent of several digits `{token.text}` without braces", "braces around it")
    if token.type == "MINUS" and cursor.tokens[cursor.index + 1].type in ("number", "letter"):
        after = cursor.tokens[cursor.index + 1]
        if after.type == "letter" or len(after.text) > 1:
            raise Fault(token.pos, "a minus sign as exponent", "braces around the exponent")
        cursor.index += 1
        return [token, *_argument(cursor)]
    return _argument(cursor)


def _scripts(cursor: Cursor, item: Token) -> Token:
    """Sub- and superscript, in both orders, of what is not a symbol."""
    tokens = cursor.tokens
    while (token := tokens[cursor.index]).type in ("^", "_"):
        cursor.index += 1
        if token.type == "^":
            if item.sup is not None:
                raise Fault(token.pos, "a second superscript", "brackets around the first power")
            inner, after = _slice(tokens, cursor.index)
            if item.type in _LABELLED and (label := _label(inner)):
                cursor.index = after
                item = Token("OPAQUE", label, item.pos, item.gap, args=[[item]])
            else:
                item.sup = _power(cursor)
        else:
            if item.sub is not None:
                raise Fault(token.pos, "a second subscript")
            inner, _ = _slice(tokens, cursor.index)
            item.raw = inner
            item.sub = _loose_argument(cursor, inner)
    return item


_LABELLED = frozenset(("PAREN", "ABS", "FRAC", "BRACKET", "OPAQUE"))  # (a + b)^* is no power


def _loose_argument(cursor: Cursor, inner: list[Token]) -> list[Token]:
    r"""Content of a subscript, or one symbol of its spelling where it is no mathematics (`\partial V`)."""
    start = cursor.index
    try:
        return _argument(cursor)
    except Fault:
        _, cursor.index = _slice(cursor.tokens, start)
        return [Token("SYM", spell(inner), cursor.tokens[start].pos)]


def _late_script(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A script behind something that did not take it itself."""
    if not items or not is_factor(items[-1]):
        raise Fault(token.pos, f"{describe(token)} with nothing before it", "a symbol before it")
    last = items[-1]
    cursor.index -= 1
    if token.type == "PRIME":
        raise Fault(token.pos, "a prime on something that is no symbol")
    if last.type == "UNIT":
        items[-1] = _scripts(cursor, last)
        return
    if last.sup is not None and token.type == "^":
        raise Fault(token.pos, "a second superscript", "brackets around the first power")
    items[-1] = _scripts(cursor, last)


def _function(cursor: Cursor, token: Token, name: str) -> Token:
    item = _scripts(cursor, Token("FUNCTION", name, token.pos, token.gap))
    if name == "exp" and item.sub is not None:
        raise Fault(token.pos, "a subscript on a function")
    if token.text == r"\sqrt":
        item.type = "SQRT"
    return item


def _braced_argument(cursor: Cursor, items: list[Token]) -> None:
    r"""`\sin{2x}`: the braces are kept apart from the factors behind them."""
    token = cursor.tokens[cursor.index]
    if token.type == "{":
        items.append(_scripts(cursor, Token("PAREN", "{", token.pos, args=[_argument(cursor)])))


def _root(cursor: Cursor, token: Token) -> Token:
    after = cursor.tokens[cursor.index]
    if after.type == "OPEN" and after.text == "[" and not token.raw:
        cursor.index += 1
        order = read_list(cursor, _BRACKET_ENDS)
        if cursor.tokens[cursor.index].text != "]":
            raise Fault(cursor.tokens[cursor.index].pos, describe(cursor.tokens[cursor.index]), "the bracket ]")
        cursor.index += 1
        return _scripts(cursor, Token("ROOT", "", token.pos, token.gap, args=[order, _argument(cursor)]))
    body = _argument(cursor)
    if len(body) == 1 and body[0].type == "PAREN" and body[0].text == "(" and body[0].sup is not None:
        bracket = body[0]
        power, bracket.sup = bracket.sup, None
        return Token("SQRT", "", token.pos, token.gap, args=[body], sup=power)
    return _scripts(cursor, Token("SQRT", "", token.pos, token.gap, args=[body]))


def _accent(cursor: Cursor, token: Token) -> Token:
    r"""A decorated symbol: `\vec{F_1}` and `\vec{F}_1` are one name; what is no symbol stays an opaque construct."""
    mark = _ACCENTS[token.text]
    start = cursor.index
    body = _argument(cursor)
    if len(body) == 1 and body[0].type in ("SYM", "CONST") and body[0].sup is None:
        inner = body[0].text
        if mark == r"\hat" and inner.startswith(r"\vec{"):
            return named(cursor, Token("SYM", r"\hat{" + inner[5:], token.pos, token.gap))
        if mark == r"\vec" and inner[:1] == "\\" and "{" in inner and not inner.startswith((r"\math", r"\Delta")):
            return named(cursor, Token("SYM", inner, token.pos, token.gap))
        head, scripts = _split_name(inner)
        return named(cursor, _rejoined(Token("SYM", f"{mark}{{{head}}}", token.pos, token.gap), scripts, cursor))
    if len(body) == 1 and body[0].type == "NABLA":
        return _scripts(cursor, body[0])
    if len(body) == 1 and body[0].type == "NUM" and mark == r"\vec":
        return _scripts(cursor, body[0])
    if all(item.type in ("SYM", "ROMAN") and item.sup is None for item in body):
        inner_tokens, _ = _slice(cursor.tokens, start)
        return named(cursor, Token("SYM", f"{mark}{{{spell(inner_tokens)}}}", token.pos, token.gap))
    if mark == r"\vec" and token.text != r"\vec":
        return _scripts(cursor, Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if mark not in (r"\bar", r"\tilde", r"\hat", r"\underline"):
        raise Fault(token.pos, f"{token.text} over something that is no symbol")
    return _scripts(cursor, Token("OPAQUE", mark, token.pos, token.gap, args=[body]))


def _split_name(name: str) -> tuple[str, str]:
    """Head of a symbol's name, and its primes and subscript."""
    level = 0
    for index, char in enumerate(name):
        level += (char == "{") - (char == "}")
        if level == 0 and char in "_'^":
            return name[:index], name[index:]
    return name, ""


def _rejoined(item: Token, scripts: str, cursor: Cursor) -> Token:
    """Put the scripts of an inner name behind the decorated head, unless more scripts follow outside."""
    if not scripts:
        return item
    outer = cursor.tokens[cursor.index]
    if outer.type in ("_", "PRIME") and (outer.type == "_") == ("_" in scripts):
        raise Fault(outer.pos, "a second subscript on one symbol")
    if outer.type == "PRIME":
        cursor.index += 1
        scripts = "'" + scripts
    item.text += scripts
    return item


def _dotted(cursor: Cursor, token: Token, body: list[Token], items: list[Token]) -> None:
    r"""`\dot{x}_1`: the derivative of x_1 by time; the scripts belong to the symbol under the dot."""
    order = _DOTS[token.text]
    time = Token("SYM", "t", token.pos)
    if len(body) == 1 and body[0].type == "SYM" and body[0].sup is None:
        head, scripts = _split_name(body[0].text)
        inner = named(cursor, _rejoined(Token("SYM", head, token.pos), scripts, cursor))
        if inner.type != "SYM":
            raise Fault(token.pos, "a dot and two primes on one symbol")
        power, inner.sup = inner.sup, None
        items.append(Token("DERIVATIVE", order, token.pos, token.gap, args=[[inner], [time]], sup=power))
    else:
        items.append(_scripts(cursor, Token("DERIVATIVE", order, token.pos, token.gap, args=[body, [time]])))


def _roman(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """Roman text: a function, a differential, e, or a word that `settle` reads as unit or symbol."""
    inner, cursor.index = _slice(cursor.tokens, cursor.index)
    _place_roman(cursor, token, list(inner), items)


def _place_roman(cursor: Cursor, token: Token, inner: list[Token], items: list[Token]) -> None:
    mode = "text" if token.text in TEXT_MODE else "math"
    word = "".join(part.text for part in inner if part.type == "letter")
    pure = len(inner) == len([part for part in inner if part.type == "letter"]) and inner
    after = cursor.tokens[cursor.index]
    numeric = bool(items) and items[-1].type in ("NUM", "UNIT", "QUANTITY", "ROMAN")
    if pure and word in ROMAN_FUNCTIONS and token.text not in (r"\textit", r"\mathit"):
        items.append(_function(cursor, Token("command", "\\" + word, token.pos, token.gap), FUNCTIONS[word]))
        _braced_argument(cursor, items)
    elif pure and word == "d" and not (numeric and after.type not in ("letter", "command")):
        items.append(_scripts(cursor, Token("D", "d", token.pos, token.gap)))
    elif pure and word == "e" and after.type == "^":
        cursor.index += 1
        power = _power(cursor)
        items.append(Token("FUNCTION", "exp", token.pos, token.gap, args=[power]))
    elif pure and len(word) == 2 and word[0] == "d" and not numeric and after.type not in ("_", "PRIME"):
        items.append(Token("D", "d", token.pos, token.gap))
        items.append(named(cursor, Token("SYM", word[1], inner[1].pos)))
    elif pure and len(word) == 1 and after.type in ("_", "PRIME"):
        items.append(named(cursor, Token("SYM", word, token.pos, token.gap)))
    elif not inner or all(part.type in ("mark", "COMMA") for part in inner):
        if inner and inner[0].text not in ".,":
            raise Fault(token.pos, f"`{inner[0].text}` inside {token.text}")
    else:
        roman = Token("ROMAN", mode, token.pos, max(token.gap, inner[0].gap), raw=inner)
        if after.type == "_":
            name = spell(inner)
            items.append(named(cursor, Token("SYM", name, token.pos, token.gap)))
            return
        if after.type == "PRIME" and len(word) > 0:
            items.append(named(cursor, Token("SYM", word, token.pos, token.gap)))
            return
        if after.type == "^":
            cursor.index += 1
            exponent, _ = _slice(cursor.tokens, cursor.index)
            label = _label(exponent) if not numeric else None
            if label is not None:
                _, cursor.index = _slice(cursor.tokens, cursor.index)
                items.append(Token("SYM", f"{spell(inner)}^{{{label}}}", token.pos, token.gap))
                return
            roman.sup = _power(cursor)
        items.append(roman)


def _switch(cursor: Cursor, token: Token, items: list[Token], ends: frozenset[str]) -> None:
    r"""`{\rm km}`: a font that holds to the end of its group."""
    tokens = cursor.tokens
    font = _SWITCHES[token.text]
    if tokens[cursor.index].type == "{":  # \rm{km}, used as if it took an argument
        _command(cursor, Token("command", font, token.pos, token.gap), items)
        return
    start = cursor.index
    level = 0
    index = start
    while level or tokens[index].type not in ends | {"}", "END"}:
        if tokens[index].type == "END":
            break
        level += (tokens[index].type == "{") - (tokens[index].type == "}")
        index += 1
    inner = tokens[start:index]
    if font == r"\mathrm":
        cursor.index = index
        _place_roman(cursor, Token("command", font, token.pos, token.gap), list(inner), items)
    elif font == r"\mathit":
        return
    elif inner and len(inner) == 1:
        _command(cursor, Token("command", font, token.pos, token.gap), items)
    else:
        while cursor.index < index and tokens[cursor.index].type == "letter":
            _command(cursor, Token("command", font, token.pos, token.gap), items)


def _siunitx(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""`\SI{2.5e3}{m/s}`, `\qty`, `\num`, `\ang`, `\unit`, `\si`."""
    name = token.text
    if name in (r"\SI", r"\qty", r"\num", r"\ang"):
        inner, cursor.index = _slice(cursor.tokens, cursor.index)
        number = [part for part in inner if not (part.type == "letter" and part.text == "x")]
        if len(number) < len(inner):  # siunitx writes 3 x 10^4
            number = [Token("TIMES", r"\times", part.pos) if part.text == "x" else part for part in inner]
        body = read_list(Cursor([*number, Token("END", "", token.pos)], depth=cursor.depth), _TOP_ENDS)
        if not body:
            raise Fault(token.pos, f"{name} without a number")
        items.append(body[0] if len(body) == 1 else Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if name == r"\ang":
        items.append(unit_token("deg", token.pos))
    elif name != r"\num":
        inner, cursor.index = _slice(cursor.tokens, cursor.index)
        items.append(Token("ROMAN", "unit", token.pos, token.gap, raw=inner))
        if cursor.tokens[cursor.index].type == "^":
            cursor.index += 1
            items[-1].sup = _power(cursor)


# Brackets ---------------------------------------------------------------------------------------------------


def _bare_group(cursor: Cursor, items: list[Token]) -> None:
    """Braces that are nobody's argument: what they show is their content, without brackets.

    A single item takes the scripts behind the braces. A sum beside a factor would be read otherwise than it
    is shown, so `settle` refuses it.
    """
    tokens = cursor.tokens
    opening = tokens[cursor.index]
    if opening.type != "{":
        body = _argument(cursor)
    else:
        cursor.index += 1
        body = read_list(cursor, _BRACE_ENDS)
        _expect_brace(cursor)
    while body and body[-1].type == "COMMA":
        body.pop()
    if not body:
        return
    body[0].gap = max(body[0].gap, opening.gap)
    after = tokens[cursor.index].type
    sums = any(item.type in ("PLUS", "MINUS", "PM") for item in body) and len(body) > 1
    relation = any(item.type in ("REL", "COMMA", "ROW", "IMPLIES") for item in body)
    if after in _SCRIPT_STARTS and (after != "PRIME" or len(body) == 1):
        if len(body) == 1 and body[0].type == "SYM" and body[0].sup is None:
            head, scripts = _split_name(body[0].text)
            items.append(named(cursor, _rejoined(Token("SYM", head, opening.pos, opening.gap), scripts, cursor)))
        elif len(body) == 1 and body[0].type == "NUM" and body[0].sup is None:
            items.append(_numeric_scripts(cursor, body[0]))
        elif len(body) == 1 and body[0].sup is None and body[0].sub is None:
            items.append(_scripts(cursor, body[0]))
        else:
            items.append(_scripts(cursor, Token("PAREN", "{", opening.pos, opening.gap, args=[body])))
    elif sums and not relation:
        items.append(Token("BRACED", "{", opening.pos, opening.gap, args=[body]))
    else:
        items.extend(body)


def _bracket(cursor: Cursor, opening: Token) -> Token:
    """A bracket with its content; the kinds of its two ends must agree."""
    text = opening.text
    if text == r"\langle":
        return _angle(cursor, opening)
    start = cursor.index
    body = read_list(cursor, _BRACKET_ENDS)
    closing = cursor.tokens[cursor.index]
    if closing.type != "CLOSE":
        raise Fault(closing.pos, describe(closing), f"the closing bracket {_written(_PARTNER[text])}")
    if text == "." and (closing.text == "|" or cursor.tokens[cursor.index + 1].type == "_"):
        cursor.index += 1
        return evaluated(cursor, body, opening)
    if text == "|" and closing.text == r"\rangle":
        inner = cursor.tokens[start : cursor.index]
        cursor.index += 1
        return _scripts(cursor, _angle_parts(opening, "ket", _split_bars(inner)))
    if closing.text != _PARTNER[text] and not (
        text == r"\{" and closing.text == "." and len(body) == 1 and body[0].type == "OPAQUE"
    ):
        raise Fault(closing.pos, f"the bracket {_written(closing.text)} that closes {_written(text)}",
                    f"the closing bracket {_written(_PARTNER[text])}")  # fmt: skip
    if not body:
        raise Fault(closing.pos, "empty brackets")
    raw = cursor.tokens[start : cursor.index]
    cursor.index += 1
    if text in ("|", r"\|"):
        return _scripts(cursor, Token("ABS", text, opening.pos, opening.gap, args=[body]))
    if len(raw) == 1 and raw[0].type == "number" and raw[0].raw:
        raise Fault(raw[0].pos, "digits with a comma in brackets: one number or a list?", "1{,}000 or a blank after it")
    if text == r"\lfloor":
        return _scripts(cursor, Token("OPAQUE", "floor", opening.pos, opening.gap, args=[body]))
    return _scripts(cursor, Token("PAREN", text, opening.pos, opening.gap, args=[body], raw=raw))


def _written(delimiter: str) -> str:
    return delimiter.replace("\\", "", 1) if delimiter in (r"\{", r"\}") else delimiter


def _bar(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A vertical bar that opens: an absolute value, a ket, or `|_{x=0}` behind a factor."""
    after = cursor.tokens[cursor.index]
    if items and is_factor(items[-1]) and after.type in ("_", "^") and token.type == "BAR":
        holder = evaluated(cursor, [], items[-1])
        start = len(items) - 1
        if holder.text == "limits":  # a primitive: the whole run of factors before the bar
            while start and items[start - 1].type not in OPERATORS:
                start -= 1
        elif start and items[start - 1].type == "FUNCTION":
            start -= 1
        holder.args = [items[start:], *holder.args[1:]]
        items[start:] = [holder]
        return
    if token.type == "BAR" and _closed_by_angle(cursor):
        start = cursor.index
        while cursor.tokens[cursor.index].text != r"\rangle":
            cursor.index += 1
        parts = _split_bars(cursor.tokens[start : cursor.index])
        cursor.index += 1
        items.append(_scripts(cursor, _angle_parts(token, "ket", parts)))
        return
    body = read_list(cursor, _BAR_ENDS if token.type == "BAR" else _NORM_ENDS)
    closing = cursor.tokens[cursor.index]
    if closing.type != token.type:
        raise Fault(closing.pos, describe(closing), "the closing bar |")
    cursor.index += 1
    items.append(_scripts(cursor, Token("ABS", "|", token.pos, token.gap, args=[body])))


def _closed_by_angle(cursor: Cursor) -> bool:
    r"""Whether the next of bar and `\rangle`, at this level, is `\rangle`."""
    level = 0
    for token in cursor.tokens[cursor.index :]:
        if token.type in ("{", "OPEN"):
            level += 1
        elif token.text == r"\rangle" and level == 0:
            return True
        elif token.type in ("}", "CLOSE"):
            level -= 1
        if level < 0 or (level == 0 and (token.type in ("BAR", "END") or (token.type == "REL" and token.text != "="))):
            return False
    return False


def evaluated(cursor: Cursor, body: list[Token], opening: Token) -> Token:
    """`f |_{x=0}`, `F |_a^b`: the construct `at`."""
    holder = _scripts(cursor, Token("AT", "", opening.pos, opening.gap, args=[body]))
    if holder.sub is None:
        raise Fault(opening.pos, "a bar without its partner", "a subscript that says where")
    upper, holder.sup = holder.sup, None
    lower = holder.sub
    if upper is not None:
        holder.args, holder.text = [body, lower, upper], "limits"
    elif len(lower) > 2 and lower[1].text == "=" and not any(item.type in ("REL", "COMMA") for item in lower[2:]):
        holder.args, holder.text = [body, lower[:1], lower[2:]], "point"
    else:
        holder.args, holder.text = [body, [Token("SYM", spell(holder.raw), opening.pos)]], "held"
    holder.sub = None
    return holder


def _angle(cursor: Cursor, opening: Token) -> Token:
    r"""`\langle x \rangle`, `\langle a | b \rangle`, `\langle a |`."""
    tokens = cursor.tokens
    level, index = 1, cursor.index
    while tokens[index].type != "END":
        kind = tokens[index].type
        level += (kind == "OPEN") - (kind == "CLOSE")
        if level == 0:
            break
        index += 1
    inner = tokens[cursor.index : index]
    if tokens[index].text == r"\rangle" and level == 0:
        cursor.index = index + 1
        bars = any(token.type == "BAR" for token in inner)
        kind = "braket" if bars else "mean"
        return _scripts(cursor, _angle_parts(opening, kind, _split_bars(inner)))
    bar = next((at for at in range(cursor.index, index) if tokens[at].type in ("BAR", "CLOSE")), None)
    if bar is None or tokens[bar].text != "|":
        raise Fault(opening.pos, r"the bracket \langle without its partner", r"\rangle")
    inner = tokens[cursor.index : bar]
    cursor.index = bar + 1
    return _scripts(cursor, _angle_parts(opening, "bra", _split_bars(inner)))


def _split_bars(inner: Sequence[Token]) -> list[list[Token]]:
    """Content of an angle bracket, cut at its bars, as flat tokens."""
    parts: list[list[Token]] = [[]]
    level = 0
    for token in inner:
        level += (token.type in ("{", "OPEN")) - (token.type in ("}", "CLOSE"))
        if token.type == "BAR" and level == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _angle_parts(opening: Token, kind: str, parts: list[list[Token]]) -> Token:
    """The construct `bracket`: an average is read as mathematics; a label such as `1, 2` stays a name."""
    args: list[list[Token]] = []
    for part in parts:
        if not part:
            raise Fault(opening.pos, "an empty part of an angle bracket")
        if any(token.type in ("COMMA", "REL", "mark") or token.text in _SUBSCRIPT_ONLY for token in part) or (
            part[-1].type in OPERATORS
        ):
            args.append([Token("SYM", spell(part), part[0].pos)])
        else:
            args.append(read_list(Cursor([*part, Token("END", "", part[-1].pos)]), _TOP_ENDS))
    return Token("BRACKET", kind, opening.pos, opening.gap, args=args)


def _environment(cursor: Cursor, opening: Token) -> Token:
    """A matrix or a case distinction: cells that are expressions are read, others stay as they are spelled."""
    args: list[list[Token]] = []
    tokens = cursor.tokens
    while True:
        start = cursor.index
        depth = cursor.depth
        try:
            body = read_list(cursor, _CELL_ENDS)
        except Fault as fault:
            cursor.index, cursor.depth = _cell_end(tokens, start), depth
            if depth >= MAX_DEPTH - 1:
                raise fault from None
            body = [Token("ROMAN", "text", tokens[start].pos)]
        cell = tokens[start : cursor.index]
        while body and body[-1].type == "COMMA":
            body.pop()
        odd = any(item.type in ("REL", "COMMA", "IMPLIES", "ROMAN") for item in body)
        if body:
            args.append([Token("SYM", _loose_spelling(cell), cell[0].pos)] if odd else body)
        end = tokens[cursor.index]
        cursor.index += 1
        if end.type == "FINISH":
            break
        if end.type in ("END", "}"):
            raise Fault(end.pos, describe(end), rf"\end{{{opening.text}}}")
    if end.text != opening.text:
        raise Fault(end.pos, rf"\end{{{end.text}}}", rf"\end{{{opening.text}}}")
    if not args:
        raise Fault(opening.pos, rf"an empty {opening.text}")
    return _scripts(cursor, Token("OPAQUE", opening.text, opening.pos, opening.gap, args=args))


def _cell_end(tokens: list[Token], index: int) -> int:
    """Index of the token that ends the cell at this index."""
    level = 0
    while tokens[index].type != "END":
        kind = tokens[index].type
        if level == 0 and kind in _CELL_ENDS:
            break
        level += (kind in ("{", "BEGIN")) - (kind in ("}", "FINISH"))
        index += 1
    return index


def _loose_spelling(tokens: Sequence[Token]) -> str:
    """What a cell says, without blanks: it only has to be equal to itself."""
    return "".join(token.text + (" " if token.text[:1] == "\\" else "") for token in tokens)
