r"""From LaTeX text to flat tokens: the type of each piece of text, before nesting and position give it a meaning.

`tokenize` cuts the text and gives Unicode signs their LaTeX spelling; the tables map each command to a type of token.
The later passes work on these tokens and never on text again: `names` spells names, `leaves`, `brackets` and `tree`
nest them (`\frac` holds its two lists, a symbol its subscript), and `disambiguate` decides what depends on neighbours.

A tree of tokens, not a flat stream, because every rule of `disambiguate` speaks about siblings ("up to the next plus"),
and a flat stream would have to find the matching bracket again in each of them. Tokens are mutable, unlike the
values that leave this package: freezing them tripled the time of a parse.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from prism.algebra.expr import Expr

MAX_LENGTH = 4000  # characters; a formula of a person stays below 1,500
MAX_TOKENS = 2000  # stops `a+a+a+...`, which fits the length but is slow to read
MAX_DEPTH = 32  # nesting of brackets, braces and unbraced arguments; stops recursion (deepest of 21,858 real ones: 10)
MAX_NESTING = 2 * MAX_DEPTH  # of brackets and braces in the text, counted before anything is read
MAX_DIGITS = 60  # digits of one number; longer ones only cost time
MAX_TEN_EXPONENT = 400  # |n| in 10^n of one number; floats end at 308
EXPONENT_READ = 8  # digits of an exponent that are converted: enough to see that it is too large

GAP_NONE, GAP_BLANK, GAP_SPACE, GAP_QUAD = 0, 1, 2, 3  # width of the blank before a token


class Fault(Exception):
    """A place in a formula that is not read; `parse` turns it into a LatexSyntaxError that shows the author's text.

    Attributes:
        position: offset in the author's text.
        found: what stands there, in a reader's words.
        expected: what could stand there instead, or what would remove the ambiguity; may be empty.
        kind: class of the fault, as in `LatexSyntaxError.kind`: `syntax`, `ambiguous`, `limit`, `prose`, ...
    """

    def __init__(self, position: int, found: str, *expected: str, kind: str = "syntax") -> None:
        """Store the place and what is wrong with it."""
        super().__init__(found)
        self.position = position
        self.found = found
        self.expected = expected
        self.kind = kind


class Ambiguity(Fault):
    """A Fault for a place with two readings that authors really use; `expected` says how to write either of them."""

    def __init__(self, position: int, found: str, *expected: str) -> None:
        """Make a Fault of kind `ambiguous`."""
        super().__init__(position, found, *expected, kind="ambiguous")


@dataclass(slots=True)
class Token:
    """One token, flat as it was cut from the text, or an item of the nested tree with children in args, sup and sub.

    Attributes:
        type: kind of token; a terminal of the grammar once ambiguities are resolved.
        text: spelling, name of a symbol, digits of a number, or name of a construct.
        pos: offset in the author's text.
        gap: width of the blank before it, one of the GAP constants.
        args: content of a construct: one list of siblings an argument.
        sup: superscript that is a power, as siblings; None without one.
        sub: subscript of what is not a symbol, as siblings; None without one.
        raw: flat tokens of a roman text, a subscript or a bracket, as they were cut.
        expr: value of a leaf that is no plain number or symbol; else None.
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


OPERATORS = frozenset(("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "COMMA", "IMPLIES", "ROW", "SETOP", "OR",
                       "COLON"))  # fmt: skip
_NO_FACTORS = OPERATORS | {"FUNCTION", "INTEGRAL", "SERIES", "LIMIT"}
_WORDS = {"END": "the end of the formula", "}": "a closing brace", "{": "an opening brace", "FINISH": r"an \end"}


def ends_operand(token: Token) -> bool:
    """Return True if an operand may end in this item: no operator, function, or sign of an integral, sum or limit."""
    return token.type not in _NO_FACTORS


def describe_token(token: Token) -> str:
    """Name a token in a reader's words, for an error message: `a closing brace`, `the end of the formula`."""
    return _WORDS.get(token.type) or (f"`{token.text}`" if token.text else "nothing")


def unit_token(name: str, pos: int, sup: list[Token] | None = None) -> Token:
    """Make the token of a unit, with its power `sup`; the name is not checked against the table of units."""
    return Token("UNIT", name, pos, sup=sup, expr=Expr("unit", name=name))


def has_type(items: Iterable[Token], *types: str) -> bool:
    """Return True if an item of one of these types stands among the items."""
    return any(item.type in types for item in items)


def nesting_change(token: Token) -> int:
    """Return 1 for a flat token that opens a brace or bracket, -1 for one that closes one, else 0."""
    return (token.type in ("{", "OPEN")) - (token.type in ("}", "CLOSE"))


def split_at(items: Iterable[Token], kinds: Container[str]) -> list[list[Token]]:
    """Split items at the tokens whose type is in `kinds`, which are dropped; n separators give n + 1 lists."""
    parts: list[list[Token]] = [[]]
    for item in items:
        if item.type in kinds:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


# What the characters are ------------------------------------------------------------------------------------

GREEK = frozenset(f"\\{name}" for name in (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi pi varpi "
    "rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi "
    "Psi Omega"
).split())  # fmt: skip
LETTERS = GREEK.union(r"\hbar \ell \hslash \lambdabar \digamma \beth \imath \jmath \aleph \wp".split())
VARIANTS = {r"\varepsilon": r"\epsilon", r"\varphi": r"\phi", r"\vartheta": r"\theta", r"\varrho": r"\rho",
            r"\varsigma": r"\sigma", r"\varkappa": r"\kappa", r"\hslash": r"\hbar",
            r"\dag": r"\dagger", r"\ddag": r"\ddagger", r"\ast": "*"}  # fmt: skip

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "tg": "tan", "cot": "cot", "ctg": "cot", "sec": "sec", "csc": "csc",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctg": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth", "sh": "sinh", "ch": "cosh", "th": "tanh", "arsinh": "asinh", "arcosh": "acosh",
    "artanh": "atanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "exp": "exp", "ln": "ln",
    "log": "log", "lg": "log10", "max": "max", "min": "min", "det": "det", "arg": "arg", "sgn": "sgn", "sign": "sgn",
    "sech": "sech", "csch": "csch", "asin": "asin", "acos": "acos", "atan": "atan", "erf": "erf", "erfc": "erfc",
    "Tr": "Tr", "tr": "Tr", "sinc": "sinc", "gcd": "gcd", "dim": "dim", "ker": "ker", "sup": "sup",
    "inf": "inf", "lcm": "lcm", "argmax": "argmax", "argmin": "argmin", "rank": "rank", "diag": "diag", "trace": "Tr",
    "limsup": "limsup", "liminf": "liminf", "Pr": "Pr", "hom": "hom", "deg": "deg", "cosec": "csc", "cosech": "csch",
    "arccot": "acot", "arcctg": "acot", "acot": "acot", "arcsec": "asec", "asec": "asec", "arccsc": "acsc",
    "arccosec": "acsc", "acsc": "acsc", "arcoth": "acoth", "arccoth": "acoth", "acoth": "acoth", "arsech": "asech",
    "arcsech": "asech", "asech": "asech", "arcsch": "acsch", "arccsch": "acsch", "acsch": "acsch",
    "Arcsin": "asin", "Arccos": "acos", "Arctan": "atan", "Ln": "ln", "lb": "log2", "ld": "log2",
    "acosh": "acosh", "asinh": "asinh", "atanh": "atanh", "tgh": "tanh", "cth": "coth",
    "Re": "Re", "Im": "Im", "sn": "sn", "cn": "cn", "dn": "dn", "cis": "cis", "Arg": "Arg", "Log": "Log",
    "floor": "floor", "ceil": "ceiling", "adj": "adj", "span": "span", "factorial": "factorial",
}  # fmt: skip
# Words that are also names or units; upright, they are functions where `\operatorname` or a bracket says so.
_ALSO_WORDS = frozenset(
    "min max th sh ch tr dim ker deg Pr inf sup sn cn dn hom rank Re Im arcsec asec lb ld Log floor span adj".split()
)
ROMAN_FUNCTIONS = frozenset(FUNCTIONS) - _ALSO_WORDS
UNIT_FUNCTIONS = frozenset(("sec", "min", "deg", "arcsec", "asec", "lb"))  # behind a number they are units
PLAIN_FUNCTIONS = ("arcsinh arccosh arctanh arcsin arccos arctan sinh cosh tanh sin cos tan exp ln log sqrt").split()
_SHORTEST_CALLED = 3  # letters of a plain name that is a function where a bracket follows; fewer are a product
_CALLED = sorted((name for name in (*FUNCTIONS, "abs") if len(name) >= _SHORTEST_CALLED), key=len, reverse=True)

UNIT_VECTORS = frozenset((
    *(rf"\{style}{{{axis}}}" for style in ("hat", "vec") for axis in (*"ijk", r"\imath", r"\jmath")),
    *(rf"\{style}{{e}}_{axis}" for style in ("hat", "vec") for axis in "xyz123"), r"\hat{x}", r"\hat{y}", r"\hat{z}",
))  # fmt: skip
RELATION_TEXT = {
    "=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", ":=": "equiv",
    r"\approx": "approx", r"\simeq": "approx", r"\cong": "approx", r"\sim": "sim", r"\equiv": "equiv",
    r"\triangleq": "equiv", r"\doteq": "equiv", r"\coloneqq": "equiv", r"\approxeq": "approx",
    r"\lt": "<", r"\gt": ">", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\leqq": "<=",
    r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\geqq": ">=", r"\ll": "<<", r"\gg": ">>", r"\ne": "!=",
    r"\neq": "!=", r"\propto": "propto", r"\to": "to", r"\rightarrow": "to", r"\longrightarrow": "to",
    r"\asymp": "sim", r"\thickapprox": "approx", r"\thicksim": "sim", r"\eqsim": "approx",
    r"\lll": "<<", r"\ggg": ">>", r"\gtrsim": ">~", r"\gtrapprox": ">~", r"\lesssim": "<~", r"\lessapprox": "<~",
    r"\varpropto": "propto", r"\mapsto": "to", r"\leftrightarrow": "to", r"\longleftrightarrow": "to",
    r"\leftarrow": "to", r"\longmapsto": "to", r"\rightleftharpoons": "to", r"\searrow": "to", r"\nearrow": "to",
    r"\in": "in", r"\notin": "notin", r"\subset": "subset", r"\subseteq": "subset", r"\perp": "perp",
    r"\mid": "divides", "->": "to", r"\supset": "supset", r"\supseteq": "supset", r"\ni": "ni",
    r"\subsetneq": "subset", r"\supsetneq": "supset",
    r"\eqqcolon": "equiv", r"\eqcolon": "equiv", r"\defeq": "equiv", r"\eqdef": "equiv",
    r"\leftrightarrows": "to", r"\rightleftarrows": "to", r"\hookrightarrow": "to",
    r"\nless": ">=", r"\ngtr": "<=", r"\nleq": ">", r"\nleqslant": ">", r"\ngeq": "<", r"\ngeqslant": "<",
    r"\lneq": "<", r"\lneqq": "<", r"\gneq": ">", r"\gneqq": ">",
}  # fmt: skip
IMPLICATIONS = frozenset((r"\Rightarrow", r"\implies", r"\therefore", r"\because", r"\Longrightarrow",
                          r"\Leftrightarrow", r"\iff", r"\Longleftrightarrow", r"\Leftarrow",
                          r"\Longleftarrow", r"\impliedby", "=>"))  # fmt: skip

TYPES = {
    "+": "PLUS", "-": "MINUS", r"\pm": "PM", r"\mp": "PM", "*": "TIMES", r"\cdot": "TIMES", r"\times": "TIMES",
    r"\ast": "TIMES", "/": "SLASH", r"\div": "SLASH", ",": "COMMA", ";": "COMMA", "!": "BANG", "'": "PRIME",
    "^": "^", "_": "_", r"\_": "_", "{": "{", "}": "}", "&": "AMP", "\\\\": "ROW", r"\cr": "ROW", r"\newline": "ROW",
    "(": "OPEN", "[": "OPEN", r"\{": "OPEN", r"\lbrace": "OPEN", r"\langle": "OPEN", r"\lvert": "OPEN",
    r"\lbrack": "OPEN", r"\lVert": "OPEN", ")": "CLOSE", "]": "CLOSE", r"\}": "CLOSE", r"\rbrace": "CLOSE",
    r"\rangle": "CLOSE", r"\rvert": "CLOSE", r"\rbrack": "CLOSE", r"\rVert": "CLOSE", "|": "BAR", r"\vert": "BAR",
    r"\mid": "BAR", r"\|": "NORM", r"\Vert": "NORM", r"\lfloor": "OPEN", r"\rfloor": "CLOSE",
    r"\lceil": "OPEN", r"\rceil": "CLOSE", r"\lor": "OR", r"\vee": "OR", r"\cup": "SETOP", r"\cap": "SETOP",
    r"\setminus": "SETOP", r"\oplus": "SETOP", r"\bigcup": "SERIES", r"\bigcap": "SERIES", r"\bigoplus": "SERIES",
    r"\otimes": "TIMES",
    r"\wedge": "TIMES", "//": "TIMES", r"\land": "ROW", r"\choose": "OVER", r"\atop": "OVER", r"\cdotp": "TIMES",
    r"\ddots": "DOTS", r"\vdots": "DOTS", r"\dotsc": "DOTS", r"\dotsb": "DOTS", r"\hdots": "DOTS", "...": "DOTS",
    r"\bigtriangledown": "NABLA", r"\triangledown": "NABLA", r"\grad": "NABLA", ":": "COLON", r"\colon": "COLON",
    r"\%": "PERCENT", "%": "PERCENT", "‰": "PERCENT", r"\infty": "INFINITY", r"\partial": "PARTIAL_SIGN",
    r"\nabla": "NABLA", r"\int": "INTEGRAL", r"\iint": "INTEGRAL", r"\iiint": "INTEGRAL", r"\oint": "INTEGRAL",
    r"\oiint": "INTEGRAL", r"\sum": "SERIES", r"\prod": "SERIES", r"\lim": "LIMIT", r"\dots": "DOTS",
    r"\ldots": "DOTS", r"\cdots": "DOTS", r"\prime": "PRIME", r"\over": "OVER",
    **dict.fromkeys([sign for sign in RELATION_TEXT if sign != r"\mid"], "REL"),
    **dict.fromkeys(IMPLICATIONS, "IMPLIES"), **dict.fromkeys(LETTERS, "letter"),
}  # fmt: skip
_SAME_DELIMITER = {r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
                   r"\lVert": r"\|", r"\rVert": r"\|", r"\Vert": r"\|", r"\lbrack": "[", r"\rbrack": "]",
                   "<": r"\langle", ">": r"\rangle", "{": r"\{", "}": r"\}"}  # fmt: skip

_DELIMITERS = frozenset(("OPEN", "CLOSE", "BAR", "NORM"))

_SPACES = {
    **dict.fromkeys((r"\,", r"\;", r"\:", r"\>", r"\ ", "~"), GAP_SPACE),
    **dict.fromkeys((r"\thinspace", r"\enskip", r"\medspace", r"\thickspace", r"\nobreakspace"), GAP_SPACE),
    **dict.fromkeys((r"\!", r"\negthinspace", r"\negmedspace", r"\negthickspace"), GAP_NONE), r"\enspace": GAP_QUAD,
    r"\eqquad": GAP_QUAD, r"\quad": GAP_QUAD, r"\qquad": GAP_QUAD,
}  # fmt: skip
_SILENT = frozenset((r"\displaystyle", r"\textstyle", r"\scriptstyle", r"\limits", r"\nolimits", r"\displaylimits",
                     r"\nonumber", r"\notag", r"\allowbreak", r"\relax", r"\middle", r"\mathop", r"\ensuremath",
                     r"\mathstrut", r"\strut", r"\hline", r"\centering", r"\mathrel", r"\mathbin", r"\mathord",
                     r"\nobreak", r"\hfill", r"\hfil", r"\smash", r"\scriptscriptstyle", r"\small", r"\large",
                     r"\normalsize", r"\footnotesize", r"\tiny", r"\Large", r"\LARGE", r"\huge", r"\Huge",
                     r"\noindent", r"\par", r"\bgroup", r"\egroup", r"\rmfamily", r"\upshape", r"\mathsurround",
                     r"\medskip", r"\smallskip", r"\bigskip", r"\hskip", r"\unboldmath", r"\null",
                     r"\protect"))  # fmt: skip

_SPACING = ("quad", "space", "skip")  # ends of the names of commands that only space

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
_UNICODE = {
    **dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
               (r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho "
                r"\sigma \tau \upsilon \phi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon "
                r"\Phi \Psi \Omega").split(), strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True)),
    "ϵ": r"\epsilon", "ϕ": r"\phi", "ϑ": r"\theta", "µ": r"\mu", "∆": r"\Delta", "ħ": r"\hbar",
    "ℏ": r"\hbar", "ℓ": r"\ell", "·": r"\cdot", "⋅": r"\cdot", "∙": r"\cdot", "•": r"\cdot", "×": r"\times",
    "−": "-", "–": "-", "÷": r"\div", "∞": r"\infty", "≈": r"\approx", "≃": r"\simeq", "≅": r"\cong",
    "≡": r"\equiv", "≤": r"\le", "≥": r"\ge", "⩽": r"\le", "⩾": r"\ge", "≪": r"\ll", "≫": r"\gg", "≠": r"\ne",
    "∝": r"\propto", "→": r"\to", "⇒": r"\Rightarrow", "⟹": r"\Rightarrow", "∴": r"\therefore", "±": r"\pm",
    "∓": r"\mp", "∂": r"\partial", "∇": r"\nabla", "∫": r"\int", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod",
    "**": "^", "£": r"\pounds", "€": r"\euro",
    "°": r"\degree", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "∣": "|", "′": "'", "’": "'", "‘": "'", "∗": "*",
    "√": r"\sqrt", "\u00c5": r"\AA", "\u212b": r"\AA", "″": "''", "…": r"\dots", "†": r"\dagger",
    "⟶": r"\to", "∥": r"\|", "⊥": r"\perp", "⊙": r"\odot", "⇔": r"\iff",
    "⟺": r"\iff", "⇐": r"\Leftarrow", "∈": r"\in", "∉": r"\notin", "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset",
    "⊆": r"\subseteq", "⊗": r"\otimes", "⊕": r"\oplus", "∧": r"\wedge", "∨": r"\lor", "∼": r"\sim", "∽": r"\sim",
    "≳": r"\gtrsim", "≲": r"\lesssim", "↦": r"\mapsto", "↔": r"\leftrightarrow", "⟷": r"\leftrightarrow",
    "∠": r"\angle", "△": r"\triangle", "▽": r"\nabla", "∅": r"\emptyset", "⌊": r"\lfloor", "⌋": r"\rfloor",
    "⌈": r"\lceil", "⌉": r"\rceil", "⋯": r"\cdots", "↑": r"\uparrow", "↓": r"\downarrow", "ı": r"\imath",
    "⟂": r"\perp", "≔": ":=", "≜": r"\triangleq", "≐": r"\doteq", "⁄": "/", "∕": "/", "⨯": r"\times",
    "⋆": r"\star", "‐": "-", "‑": "-", "—": "-", "＝": "=", "（": "(", "）": ")", "，": ",", "＋": "+", "＜": "<",
    "＞": ">", "：": ":", "；": ";", "、": ",", "／": "/", "－": "-",
    "ℎ": "h", "ⅇ": "e", "ⅈ": "i", "ϱ": r"\rho", "ς": r"\sigma", "ϰ": r"\kappa", "ϖ": r"\varpi",
    "\u2126": r"\Omega", "∬": r"\iint", "∭": r"\iiint", "∯": r"\oiint", "⇌": r"\rightleftharpoons",
    "←": r"\leftarrow", "⟵": r"\leftarrow", **dict.fromkeys("✓✔☑✅■∎", r"\checkmark"), "□": r"\square",
}  # fmt: skip
_COMBINING = {"\u0302": r"\hat", "\u0304": r"\bar", "\u0305": r"\bar", "\u0303": r"\tilde", "\u0307": r"\dot",
              "\u0308": r"\ddot", "\u20d7": r"\vec", "\u0301": r"\acute", "\u0300": r"\grave"}  # fmt: skip
_FRACTION_SIGNS = {"½": "12", "¼": "14", "¾": "34", "⅓": "13", "⅔": "23", "⅛": "18"}

# Commands under another name.
_SAME_COMMAND = {r"\operatorname*": r"\operatorname", r"\textdegree": r"\degree", r"\varnothing": r"\emptyset",
                 r"\degreeCelsius": r"\celsius", "℃": r"\celsius"}  # fmt: skip
_SAME_SIGN = {r"\upmu": r"\mu", r"\textmu": r"\mu", r"\backslash": r"\setminus", r"\smallsetminus": r"\setminus",
              r"\vdot": r"\cdot", r"\coloneq": ":=", r"\dbar": r"\delta", "đ": r"\delta",
              r"\imaginaryunit": "i", r"\exponentialE": "e",
              **dict.fromkeys((r"\permil", r"\perthousand", r"\textperthousand"), "‰")}  # fmt: skip

# Words of plain text that no author writes as products: Greek letters (`mu`, `nu` and `xi` are also products), and
# quantities that are written like a word, as in `KE + PE = E`.
_GREEK_WORDS = ("pi theta omega alpha beta gamma delta epsilon lambda sigma phi rho hbar Theta Omega Delta Sigma "
                "Phi").split()  # fmt: skip
NAMES = frozenset(("KE", "PE", "GPE", "EPE", "SPE", "emf", "EMF", "const", "constant", "rpm", "ans", "Ans"))
_WORDS_OF_TEXT = {**{word: "\\" + word for word in (*_GREEK_WORDS, "infty")}, **{word: word for word in NAMES},
                  "infinity": r"\infty"}  # fmt: skip

# Commands that a later line of `_SCAN` may read with what follows them; any other is cut at once, by the first line.
_LONGER = (
    "left|right|[bB]ig|begin|end|q?quad|thin|med|ensk|label|tag|eqref|ref|cite|eqno|rule|[vh]space|[hm]skip|m?kern|[vh]?phantom"
    r"|(?:text)?color|cdot\s*\\cdot|operatorname\*"
)
# Environments that only lay a formula out.
_LAYOUTS = "aligned|align|split|gathered|gather|equation|eqnarray|alignat|alignedat|multline|flalign|displaymath"
_SCAN = re.compile(
    r"""
    (?P<alone>[A-Za-z](?![A-Za-z])|[+(){}^_'\[\]|,]|-(?!>)|=(?![=>])|/(?!/)|[0-9](?=[])}+\-^_=/*|a-df-zA-DF-Z])|\\(?!LONGER)[a-zA-Z]+)
  | (?P<space>[\s~\u2009\u202f\u00a0\u2002\u2003\u200b]+|\\[,;:!>\ ]
        |\\(?:q?quad|enspace|thinspace|enskip|medspace)(?![a-zA-Z]))
  | (?P<number>(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3}(?:(?:\{,\}|\\,|\\\ |~|,\\!\s*)\d{3})+(?!\d)
            |\d{1,3}(?:(?:\\,\s|\s\\,|\u2009|\u202f)\d{3})+|\d+)
        (?:(?:\.|\{,\})\d+(?:(?:\\,|\{,\}|\u2009|\u202f)\d{3})*(?!\d))?(?:[eE][+-]?\d+(?![\d.]))?|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<word>(?:(?<![A-Za-z\\])|(?<=(?<![A-Za-z\\])(?:sin|cos|tan)))(?:WORDS)(?:(?![A-Za-z])|(?<=pi)(?=sqrt\()))
  | (?P<plain>(?<![A-Za-z\\])(?:(?:Re|Im)(?=\s*(?:\\left\s*)?[(\[{])|(?:CALLED)(?=\()|(?:o?int|sum|prod)(?=_)
        |(?:PLAIN)(?=\s*(?:\\left\s*)?[({^]|\s+[A-Za-z0-9\\]|\s*[α-ωΑ-Ω]|\\?(?:[A-Z]|GREEK)(?![A-Za-z])|\\d?frac\b))
        |GLUED(?:PLAIN)(?=\(|\\left\s*\(|[α-ω]|\\(?:GREEK)(?![A-Za-z])))
  | (?P<drop>\\(?:label|tag\*?|eqref|ref|cite[pt]?|vspace\*?|hspace\*?|textcolor|color)\s*\{[^{}]*\}
        |\\[vh]?phantom\s*(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[A-Za-z0-9]|\\[A-Za-z]+)
        |\\eqno\s*(?:\{[^{}]*\}|\([^()]*\))|\\rule\s*\{[^{}]*\}\s*\{[^{}]*\}
        |\\(?:[hm]skip|m?kern)\s*-?\s*\.?\d[\d.]*\s*(?:e[mx]|p[tc]|[mc]m|mu|in|sp|bp)(?![a-zA-Z])
        |\\end\s*\{(?:ROWS)\*?\}|\\begin\s*\{(?:ROWS)\*?\}(?:\s*\{\d+\})?)
  | (?P<begin>\\begin\s*\{(?:array|tabular)\}\s*(?:\[[a-z]\])?\s*\{[^{}]*\}|\\begin\s*\{[a-zA-Z]+\*?\})
  | (?P<end>\\end\s*\{[a-zA-Z]+\*?\})
  | (?P<sized>\\(?:left|right|[bB]igg?[lrm]?)(?![a-zA-Z])\s*(?:\\[a-zA-Z]+|\\[{}|]|[()\[\]|./<>])
        |\\left\s*\{|\\right\s*\}|\\[bB]igg?[lrm]?\s*\{\s*(?:\\[a-zA-Z]+|\\[{}|]|[()\[\]|./<>])\s*\})
  | (?P<dots>\\cdot\s*\\cdot\s*\\cdot(?![a-zA-Z])|\.\s\.\s\.)
  | (?P<command>\\operatorname\*|\\[a-zA-Z]+|\\\\(?:\[[^\]]*\])?|\\.)
  | (?P<up>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+)
  | (?P<down>[₀₁₂₃₄₅₆₇₈₉₊₋]+)
  | (?P<other>\*\*(?=\s*[\w({\\-])|<=|>=|!=|:=|==|=>|->|\.\.\.|//|.)
    """.replace("GLUED", r"(?:(?<=(?<![A-Za-z\\])[A-Za-z])|(?<=(?<![A-Za-z\\])[A-Za-z]{2}))")  # `mgsin(theta)`
    .replace("PLAIN", "|".join(PLAIN_FUNCTIONS))
    .replace("CALLED", "|".join(_CALLED))
    .replace("LONGER", _LONGER)
    .replace("WORDS", "|".join(_WORDS_OF_TEXT))
    .replace("GREEK", "|".join(_GREEK_WORDS))
    .replace("ROWS", _LAYOUTS),
    re.VERBOSE | re.DOTALL,
)
# The same without names of groups: most pieces tell what they are by their text, and a bare `findall` is faster.
_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character
_PIECES = re.compile(re.sub(r"\(\?P<[a-z]+>", "(?:", _SCAN.pattern), _SCAN.flags)
# What is one token whatever stands around it: its type and its text.
_SIMPLE = {
    **{letter: ("letter", letter) for letter in string.ascii_letters},
    **{digit: ("number", digit) for digit in string.digits},
    **{text: (kind, _SAME_DELIMITER.get(text, text) if kind in _DELIMITERS else text) for text, kind in TYPES.items()},
}
_SIMPLE |= {word: _SIMPLE.get(name, ("letter", name)) for word, name in _WORDS_OF_TEXT.items()}
_SIMPLE |= {sign: _SIMPLE[text] for sign, text in (_UNICODE | _SAME_SIGN).items() if text in _SIMPLE}
_SIMPLE |= {command: ("command", same) for command, same in _SAME_COMMAND.items()}
_GROUPING = re.compile(r"\{,\}|,\\!|\\[, ]|[,~\s\u2009\u202f]")
_SIZE = re.compile(r"\\[a-zA-Z]+")
_ENVIRONMENT = re.compile(r"\{\s*([a-zA-Z]+\*?)\s*\}")


def is_spacing(command: str) -> bool:
    """Return True for a command of LaTeX that spaces, sizes or lays out, and says nothing."""
    return command in _SPACES or command in _SILENT


def tokenize(latex: str) -> list[Token]:
    """Cut LaTeX into flat tokens, with an END token last.

    Errors:
        Fault: the length, a number or the nesting exceeds a limit, or half a character stands there. Signs outside
            the accepted set become `unknown` tokens, which `tree` refuses.
    """
    start, stop = _formula_span(latex)
    if stop - start > MAX_LENGTH:
        raise Fault(start, f"a formula of {stop - start} characters; at most {MAX_LENGTH} are read", kind="limit")
    if (half := _SURROGATE.search(latex, start, stop)) is not None:
        raise Fault(half.start(), f"the character {half[0]!r}, which is not read")
    tokens: list[Token] = []
    add = tokens.append
    gap = 0
    behind = start
    for text in _PIECES.findall(latex, start, stop):
        pos = behind
        behind += len(text)
        simple = _SIMPLE.get(text)
        if simple is not None:
            add(Token(simple[0], simple[1], pos, gap))
            gap = 0
            continue
        if text == " ":
            gap = gap or GAP_BLANK
            continue
        match = _SCAN.match(latex, pos, stop)
        kind = match.lastgroup if match else None
        if kind == "space":
            gap = max(gap, _SPACES.get(text, GAP_SPACE if "~" in text else GAP_BLANK))
            continue
        if kind == "number":
            commas = (Token("COMMA", ",", pos),) if "," in text else ()
            add(Token("number", _normalize_digits(text, pos), pos, gap, raw=commas))
        elif kind == "alone" or kind == "command" or kind == "other":
            spelled = _UNICODE.get(text, text)
            if spelled in _SILENT:
                continue
            if spelled.endswith(_SPACING) and spelled[0] == "\\":
                gap = max(gap, _SPACES.get(spelled, GAP_QUAD))  # an author's own spacing, `\myquad`
                continue
            _append_rare_sign(tokens, spelled, pos, gap)
        elif kind == "drop":
            continue
        else:
            _append_compound_match(tokens, kind or "", text, pos, gap)
        gap = 0
    if len(tokens) > MAX_TOKENS:
        pos = tokens[MAX_TOKENS].pos
        raise Fault(pos, f"a formula of {len(tokens)} tokens; at most {MAX_TOKENS} are read", kind="limit")
    add(Token("END", "", stop))
    if len(tokens) > MAX_NESTING:
        _refuse_deep_nesting(tokens)
    return tokens


def _refuse_deep_nesting(tokens: list[Token]) -> None:
    """Raise a Fault if brackets and braces nest too deep: every later pass recurses into them."""
    depth = 0
    for token in tokens:
        depth = max(depth + nesting_change(token), 0)
        if depth > MAX_NESTING:
            raise Fault(token.pos, f"brackets and braces nested more than {MAX_NESTING} deep", kind="limit")


def _formula_span(latex: str) -> tuple[int, int]:
    """Return start and end offset of the formula without its dollars and the punctuation of the sentence around it."""
    start, stop = 0, len(latex)
    if latex[:1] == "$" and latex.count("$") == 1 and latex[1:2].isspace():
        start = 1  # of a display whose end is lost; before a digit it would be money
    while start < stop:
        while start < stop and latex[start].isspace():
            start += 1
        kept = stop
        while start < stop:
            last = latex[stop - 1]
            escaped = stop - start > 1 and latex[stop - 2] == "\\"
            if escaped and last in ",;:! \\":
                stop -= 2
            elif last.isspace() or (last in ".,;~" and not _is_final_stop_significant(latex, start, stop)):
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


def _is_final_stop_significant(latex: str, start: int, stop: int) -> bool:
    r"""Return True if `latex[start:stop]` ends in a full stop of the formula, of `\right.` or of an ellipsis."""
    if latex.endswith(r"\right.", start, stop):
        return True
    return latex.endswith("...", start, stop) and not latex.endswith("....", start, stop)


def _normalize_digits(text: str, pos: int) -> str:
    """Return a number without separators of thousands and with a decimal point; raise a Fault beyond the limits.

    A comma in braces, `1{,}5`, is decimal unless three digits follow.
    """
    if not text.isdigit():
        if "{,}" in text and (text.startswith("0{,}") or not re.search(r"\{,\}\d{3}(?!\d)", text)):
            text = text.replace("{,}", ".", 1)
        text = _GROUPING.sub("", text)
        if text[0] == ".":
            text = "0" + text
        mantissa, _, exponent = text.lower().partition("e")
        if exponent and abs(int(exponent[:EXPONENT_READ])) > MAX_TEN_EXPONENT:
            power = f"the power of ten 10^{exponent[:EXPONENT_READ]}"
            raise Fault(pos, f"{power}; at most {MAX_TEN_EXPONENT} is read", kind="limit")
        text = f"{mantissa}e{int(exponent)}" if exponent else mantissa
    if len(text) > MAX_DIGITS:
        raise Fault(pos, f"a number of {len(text)} digits; at most {MAX_DIGITS} are read", kind="limit")
    return text


def _append_rare_sign(tokens: list[Token], text: str, pos: int, gap: int) -> None:
    """Append the tokens of a sign or command outside the common table: `½`, `''`, row ends, `unknown` for other signs.

    Args:
        pos: offset of the sign.
        gap: width of the blank before it.
    """
    if text in _FRACTION_SIGNS:
        tokens.append(Token("command", r"\frac", pos, gap))
        for digit in _FRACTION_SIGNS[text]:
            tokens.extend((Token("{", "{", pos, gap), Token("number", digit, pos, gap), Token("}", "}", pos, gap)))
    elif text == "''":
        tokens.extend((Token("PRIME", "'", pos, gap), Token("PRIME", "'", pos)))
    elif text[0] == "\\" and len(text) > 1 and not text.startswith("\\\\"):
        tokens.append(Token("command", text, pos, gap))
    elif text.startswith("\\\\"):
        tokens.append(Token("ROW", "\\\\", pos, gap))
    elif text in _COMBINING and tokens and tokens[-1].type == "letter":
        letter = tokens.pop()  # the mark stands behind its letter
        tokens.extend((Token("command", _COMBINING[text], letter.pos, letter.gap), letter))
    elif not text.isascii() and (plain := unicodedata.normalize("NFKD", text)) != text:
        _append_decomposed_letter(tokens, plain, text, pos, gap)
    elif text in '.?"@#`$' or text == "\\":
        tokens.append(Token("mark", text, pos, gap))
    else:
        tokens.append(Token("unknown", text, pos, gap))


def _append_decomposed_letter(tokens: list[Token], plain: str, text: str, pos: int, gap: int) -> None:
    """Append a letter of a mathematical alphabet or with an accent (`𝑑`, `ẑ`) as accent commands and a plain letter.

    Args:
        plain: the letter and its combining accents, the Unicode decomposition of `text`.
    """
    letter = _UNICODE.get(plain[0], plain[0])
    kind = TYPES.get(letter, "letter" if letter.isascii() and letter.isalpha() else "")
    if kind != "letter" or any(mark not in _COMBINING for mark in plain[1:]):
        tokens.append(Token("unknown", text, pos, gap))
        return
    tokens.extend(Token("command", _COMBINING[mark], pos, gap) for mark in reversed(plain[1:]))
    tokens.append(Token("letter", letter, pos, 0 if len(plain) > 1 else gap))


def _append_compound_match(tokens: list[Token], kind: str, text: str, pos: int, gap: int) -> None:
    r"""Append the tokens of a match that is several tokens or holds a name: `x²`, `\begin{array}`, `\left(`, `sin`.

    Args:
        kind: name of the group of `_SCAN` that matched.
    """
    if kind == "up" or kind == "down":
        sign, digits = ("^", _SUPERSCRIPTS) if kind == "up" else ("_", _SUBSCRIPTS)
        tokens.extend((Token(sign, sign, pos), Token("{", "{", pos)))
        pieces = re.findall(r"\d+|\D", text.translate(digits))
        tokens.extend(Token("number" if part.isdigit() else TYPES.get(part, "letter"), part, pos) for part in pieces)
        tokens.append(Token("}", "}", pos))
    elif kind == "sized":
        tokens.append(_sized_delimiter(text, pos, gap))
    elif kind == "dots":
        tokens.append(Token("DOTS", r"\dots", pos, gap))
    elif kind == "plain":
        sort, sign = _SIMPLE.get("\\" + text, ("command", "\\" + text))  # `int_0^T` as `sin`
        tokens.append(Token(sort, sign, pos, gap, raw=(Token("plain", text, pos),)))
    else:
        name = _ENVIRONMENT.search(text)
        tokens.append(Token("BEGIN" if kind == "begin" else "FINISH", name.group(1) if name else "", pos, gap))


def _sized_delimiter(text: str, pos: int, gap: int) -> Token:
    r"""Return the token of a sized delimiter; `\left`, `\right` and the `l`, `r` of `\bigl`, `\bigr` tell its side.

    Errors:
        Fault: no bracket or bar stands behind the size.
    """
    size = _SIZE.match(text)
    word = size.group() if size else ""
    delimiter = text[len(word) :].strip()
    if len(delimiter) > 1 and delimiter[0] == "{":  # `\Big{(}`
        delimiter = delimiter[1:-1].strip()
    delimiter = _SAME_DELIMITER.get(delimiter, delimiter)
    side = "OPEN" if word == r"\left" or word.endswith("l") else "CLOSE" if word[-1] in "rt" else ""
    paired = word in (r"\left", r"\right")
    known = TYPES.get(delimiter, "")
    if delimiter == "/" and not paired:
        return Token("SLASH", delimiter, pos, gap)
    sized = () if paired else (Token("sized", word, pos),)
    if delimiter == "." and side:
        return Token(side, delimiter, pos, gap, raw=sized)
    if known in ("BAR", "NORM"):
        return Token(side or known, delimiter, pos, gap, raw=sized)
    if known in ("OPEN", "CLOSE"):
        return Token(known, delimiter, pos, gap)
    raise Fault(pos, f"the size {word} before {delimiter}", "a bracket")
