r"""Signs of formulas in other formats as LaTeX: operators, names of functions, accents, words within a formula.

What the grammar reads as it stands, Greek letters and most operators in Unicode, stays as it is.
"""

from __future__ import annotations

import re
from unicodedata import name, normalize

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth ln log exp lim max min sup inf det arg "
    "deg dim gcd ker".split()
)
"""Names that stand upright, and are commands of LaTeX."""

LARGE_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "∯": r"\oiint",
    "⋃": r"\bigcup", "⋂": r"\bigcap",
}  # fmt: skip

ACCENTS = {
    "^": r"\hat", "ˆ": r"\hat", "\u0302": r"\hat", "~": r"\tilde", "˜": r"\tilde", "\u0303": r"\tilde",
    "¯": r"\bar", "‾": r"\bar", "ˉ": r"\bar", "\u0304": r"\bar", "\u0305": r"\bar", "_": r"\underline",
    "→": r"\vec", "⃗": r"\vec", "\u20d1": r"\vec", "⇀": r"\vec", "˙": r"\dot", ".": r"\dot", "\u0307": r"\dot",
    "¨": r"\ddot", "\u0308": r"\ddot", "\u20db": r"\dddot", "\u0332": r"\underline",
}  # fmt: skip
_WITH_LIMITS = (r"\sum", r"\int", r"\prod", r"\underbrace", r"\overbrace")
BRACES = {"⏞": r"\overbrace", "⏟": r"\underbrace", "︷": r"\overbrace", "︸": r"\underbrace"}

_SIGNS = {
    **LARGE_OPERATORS,
    "\u2061": "", "\u2062": " ", "\u2063": ",", "\u2064": "+", "\u200b": "", "\u2060": "", "\ufeff": "",
    "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "$": r"\$", "&": r"\&", "\\": r"\backslash ", "_": r"\_",
    "~": r"\sim ",
    "∗": "*", "ⅆ": "d", "ⅇ": "e", "ⅈ": "i", "ⅉ": "j", "″": "''", "‴": "'''", "∣": "|", "∥": r"\|",
    "\u2009": " ", "\u200a": " ", "\u2003": r"\quad ", "\u2002": " ", "\u205f": " ", "\u00a0": " ",
    **dict.fromkeys("\u27e8\u2329\u3008", r"\langle "), **dict.fromkeys("\u27e9\u232a\u3009", r"\rangle "),
    "⟹": r"\Rightarrow ", "⟶": r"\to ", "⟺": r"\Leftrightarrow ", "□": "",
}  # fmt: skip
_FIRST_STYLED, _LAST_STYLED = "\U0001d400", "\U0001d7ff"
_NOT_IN_TEXT = str.maketrans({**dict.fromkeys("{}\\$~^", " "), "%": r"\%", "#": r"\#", "&": r"\&", "_": r"\_"})
_UPRIGHT_ROW = re.compile(r"\\mathrm\{[^{}]+\}(?:\\mathrm\{[^{}]+\})+")
_SINGLE = re.compile(r"[^\\{}^_\s]|\\[A-Za-z]+\s*|\\[A-Za-z]+\{[^{}]*\}|\([^()]*\)", re.ASCII)
_OPEN_ROWS = re.compile(
    r"(?:\\left)?\\\{\s*\\begin\{(matrix|aligned)\}(.*?)\\end\{\1\}(?!\s*(?:\\right)?\\\})(?:\s*\\right\.)?", re.DOTALL
)
_LETTERS = re.compile(r"[^\W\d_]+")
_OPERATORS = re.compile(r"\s*[-+*/=<>±×÷·−≤≥≠≈]\s*")


def signs_latex(text: str) -> str:
    """Return signs and letters as LaTeX, each for itself."""
    return "".join(
        f"{latex} " if latex[:1] == "\\" and latex[-1:].isalpha() else latex for latex in map(_sign_latex, text)
    )


def _sign_latex(sign: str) -> str:
    """Return one sign as LaTeX; of a letter in one of the styles of Unicode the letter, set bold if it is bold."""
    if (latex := _SIGNS.get(sign)) is not None:
        return latex
    if not (_FIRST_STYLED <= sign <= _LAST_STYLED or sign in "ℎℯℊℴ"):
        return sign
    letter = normalize("NFKC", sign)
    is_bold = letter.isascii() and letter.isalpha() and "BOLD" in name(sign, "")
    return rf"\mathbf{{{letter}}}" if is_bold else letter


def words_latex(text: str) -> str:
    r"""Return words within a formula as `\text{...}`; blanks alone stay a blank, and one operator is that."""
    if _OPERATORS.fullmatch(text):
        return signs_latex(text)
    plain = text.replace("\u00a0", " ").translate(_NOT_IN_TEXT)
    return rf"\text{{{plain}}}" if plain.strip() else " " * bool(plain)


def name_latex(written: str, *, is_upright: bool = False) -> str:
    r"""Return a name as LaTeX: a function as its command, several letters or an upright one as `\mathrm{...}`."""
    plain = written.strip()
    if plain in FUNCTIONS:
        return rf"\{plain} "
    if _LETTERS.fullmatch(plain) and plain.isascii() and (is_upright or len(plain) > 1):
        return rf"\mathrm{{{plain}}}"
    return signs_latex(plain)


def with_cases(latex: str) -> str:
    """Return LaTeX in which rows behind a brace that nothing closes are cases."""
    return _OPEN_ROWS.sub(r"\\begin{cases}\2\\end{cases}", latex)


def join_upright(latex: str) -> str:
    r"""Return LaTeX with names in a row as one: `\mathrm{k}\mathrm{g}` as `\mathrm{kg}`."""
    return _UPRIGHT_ROW.sub(lambda row: row[0].replace(r"}\mathrm{", ""), latex)


def scripted(base: str, below: str, above: str) -> str:
    """Return a base with its index and power, each empty if it has none; what is no single sign is grouped."""
    plain = base.strip()
    written = f"{plain} " if _SINGLE.fullmatch(plain) else f"{{{base}}}"
    primes = above.strip()
    if primes and not primes.strip("'′"):
        return f"{written.rstrip()}{primes}" + (f"_{{{below}}}" if below.strip() else "")
    return written.rstrip() + (f"_{{{below}}}" if below.strip() else "") + (f"^{{{above}}}" if above.strip() else "")


def accented(sign: str, base: str, *, is_below: bool = False) -> str | None:
    """Return a base with an accent or brace, by its sign; None for a sign that is none."""
    plain = sign.strip()
    if is_below and plain in ("_", "¯", "‾", "\u0332", "\u0331"):
        return rf"\underline{{{base}}}"
    if (command := BRACES.get(plain) or ACCENTS.get(plain)) is None or (is_below and plain not in BRACES):
        return None
    if command in (r"\bar", r"\hat", r"\vec", r"\tilde") and len(base.strip()) > 1 and base.strip().isalnum():
        command = {r"\bar": r"\overline", r"\hat": r"\widehat", r"\vec": r"\overrightarrow", r"\tilde": r"\widetilde"}[
            command
        ]
    return rf"{command}{{{base}}}"


def takes_limits(base: str) -> bool:
    """Return True for a sum, an integral, a limit and their kind."""
    plain = base.strip().removeprefix(r"\mathrm{").removesuffix("}").removeprefix("\\")
    return plain in FUNCTIONS or base.strip() in LARGE_OPERATORS.values()


def stacked(base: str, sign: str, latex: str, *, is_below: bool) -> str:
    """Return a base with what stands below or above it: an accent or a brace by its sign, a limit, or anything else."""
    if marked := accented(sign, base, is_below=is_below):
        return marked
    if takes_limits(base) or base.strip().startswith(_WITH_LIMITS):
        name = base.strip().removeprefix(r"\mathrm{").removesuffix("}").removeprefix("\\")
        written = f"\\{name}" if name in FUNCTIONS else base.strip()
        return f"{written}{'_' if is_below else '^'}{{{latex}}} "
    return rf"\{'underset' if is_below else 'overset'}{{{latex}}}{{{base}}}"


def fenced(begin: str, content: str, end: str) -> str:
    r"""Return content between delimiters that grow with it; `.` stands for one that is missing."""
    if begin.strip() in ("", "(", "[") and end.strip() in ("", ")", "]") and begin.strip() and end.strip():
        return f"{begin.strip()}{content}{end.strip()}"
    left, right = (signs_latex(sign.strip()).strip() or "." for sign in (begin, end))
    return rf"\left{left} {content}\right{right} "


def rows_latex(rows: list[list[str]], environment: str) -> str:
    """Return rows of cells in an environment; what looks like a matrix and has relations is formulas in lines."""
    if environment == "matrix" and any(_has_relation(cell) for row in rows for cell in row):
        environment = "aligned"
    body = r" \\ ".join(" & ".join(cell.strip() for cell in row) for row in rows)
    return rf"\begin{{{environment}}} {body} \end{{{environment}}}"


def _has_relation(cell: str) -> bool:
    r"""Return True for a cell with one of `=<>≤≥≈∝≡` outside all brackets; no command such as `\le` counts."""
    depth = 0
    for sign in cell:
        depth += (sign in "{([") - (sign in "})]")
        if depth == 0 and sign in "=<>≤≥≈∝≡":
            return True
    return False
