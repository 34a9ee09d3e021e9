r"""AsciiMath as LaTeX, by the grammar of its page: simple expressions, fractions by `/`, indices and powers.

S = constant | "(" E ")" | unary S | binary S S | "text" | number;  I = S_S^S;  E = I E | I / I
"""

from __future__ import annotations

import re

from prism.latex.documents.written_signs import FUNCTIONS

_MAX_DEPTH = 30  # brackets in each other; the formula's reader takes 32
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
_SAME = (
    "sum prod int oint times div cdot pm mp ne le ge lt gt approx equiv cong propto sim infty partial nabla grad to "
    "rightarrow Rightarrow ldots cdots quad angle perp parallel hbar in forall exists therefore because"
).split()
_CONSTANTS = {
    **{name: f"\\{name} " for name in (*_GREEK, *_SAME)},
    **{name: f"\\{name} " for name in FUNCTIONS},
    "xx": r"\times ", "-:": r"\div ", "*": r"\cdot ", "**": "*", "+-": r"\pm ", "-+": r"\mp ", "!=": r"\ne ",
    "<=": r"\le ",
    ">=": r"\ge ", "~~": r"\approx ", "-=": r"\equiv ", "~=": r"\cong ", "prop": r"\propto ", "oo": r"\infty ",
    "del": r"\partial ", "grad": r"\nabla ", "->": r"\to ", "=>": r"\Rightarrow ", "<=>": r"\Leftrightarrow ",
    "iff": r"\Leftrightarrow ", "...": r"\ldots ", "and": r"\text{ and }", "or": r"\text{ or }", "if": r"\text{ if }",
    ":.": r"\therefore ", "'": "'", "|": "|", ",": ", ", ";": "; ", "=": " = ", "<": " < ", ">": " > ",
    "_|_": r"\perp ",
    "dt": "dt", "dx": "dx", "dy": "dy", "dz": "dz", "%": r"\%", "&": "", "#": "", "$": "", "~": r"\sim ", "\\": r"\ ",
}  # fmt: skip
_UNARY = {
    "sqrt": r"\sqrt{%s}", "hat": r"\hat{%s}", "bar": r"\bar{%s}", "vec": r"\vec{%s}", "dot": r"\dot{%s}",
    "ddot": r"\ddot{%s}",
    "tilde": r"\tilde{%s}", "ul": r"\underline{%s}", "overline": r"\overline{%s}", "abs": r"\left|%s\right|",
    "norm": r"\left\|%s\right\|", "floor": r"\lfloor %s\rfloor ", "ceil": r"\lceil %s\rceil ", "bb": r"\mathbf{%s}",
    "cc": r"\mathcal{%s}", "rm": r"\mathrm{%s}", "cancel": r"\cancel{%s}", "text": r"\text{%s}", "mbox": r"\text{%s}",
}  # fmt: skip
_BINARY = {
    "frac": r"\frac{%s}{%s}", "root": r"\sqrt[%s]{%s}", "stackrel": r"\overset{%s}{%s}", "overset": r"\overset{%s}{%s}",
    "underset": r"\underset{%s}{%s}",
}  # fmt: skip
_LEFT = {"(": "(", "[": "[", "{": r"\{", "(:": r"\langle ", "<<": r"\langle ", "{:": ""}
_RIGHT = {")": ")", "]": "]", "}": r"\}", ":)": r"\rangle ", ">>": r"\rangle ", ":}": ""}
_WORDS = sorted((*_CONSTANTS, *_UNARY, *_BINARY, *_LEFT, *_RIGHT), key=len, reverse=True)
_TOKEN = re.compile(
    r'"[^"]*"|d[A-Za-z](?=\s*/\s*d[A-Za-z])|(?<=/)d[A-Za-z](?![A-Za-z])|(?:text|mbox)\([^()]*\)|\d+(?:\.\d+)?|//|'
    + "|".join(map(re.escape, _WORDS))
    + r"|\S",
    re.ASCII,
)


def asciimath_latex(text: str) -> str:
    r"""Return a formula in AsciiMath as LaTeX.

    >>> asciimath_latex("t_f = sqrt((2h)/g)")
    't_{f} = \\sqrt{\\frac{2h}{g}}'
    """
    return " ".join(_Reader(_TOKEN.findall(text)).expression(0, ends=False).split())


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        """Begin at the first token."""
        self._tokens, self._at = tokens, 0

    def _peek(self) -> str:
        """Return the next token; empty behind the last."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def expression(self, depth: int, *, ends: bool) -> str:
        """Read up to a closing bracket if it `ends` there, else up to the end."""
        parts: list[str] = []
        while (token := self._peek()) and not (ends and token in _RIGHT):
            above = self._scripted(depth)
            if self._peek() == "/":
                self._at += 1
                above = rf"\frac{{{_bare(above)}}}{{{_bare(self._scripted(depth))}}}"
            parts.append(above)
        return "".join(parts)

    def _scripted(self, depth: int) -> str:
        """Read a simple expression with its index and power."""
        base = self._simple(depth)
        below = above = ""
        if self._peek() == "_":
            self._at += 1
            below = f"_{{{_bare(self._simple(depth))}}}"
        if self._peek() == "^":
            self._at += 1
            above = f"^{{{_bare(self._simple(depth))}}}"
        return (base.rstrip() if below or above else base) + below + above

    def _simple(self, depth: int) -> str:
        """Read one simple expression; empty behind the last token."""
        token = self._peek()
        self._at += 1
        if not token:
            return ""
        if token[0] == '"' and len(token) > 1:
            return rf"\text{{{_plain(token[1:-1])}}}"
        if token.startswith(("text(", "mbox(")):
            return rf"\text{{{_plain(token[5:-1])}}}"
        if token in _LEFT and depth < _MAX_DEPTH:
            inside = self.expression(depth + 1, ends=True)
            end = self._peek()
            self._at += bool(end)
            return f"{_LEFT[token]}{inside}{_RIGHT.get(end, '')}"
        if token in _UNARY and depth < _MAX_DEPTH:
            return _UNARY[token] % _bare(self._simple(depth + 1))
        if token in _BINARY and depth < _MAX_DEPTH:
            return _BINARY[token] % (_bare(self._simple(depth + 1)), _bare(self._simple(depth + 1)))
        return _CONSTANTS.get(token, _LEFT.get(token, _RIGHT.get(token, token)))


def _bare(latex: str) -> str:
    """Return an argument without the one pair of brackets around it, which only groups."""
    begin, end = (2 if latex[at : at + 2] in (r"\{", r"\}") else 1 for at in (0, len(latex) - 2))
    if latex[:begin] not in ("(", "[", r"\{") or latex[-end:] not in (")", "]", r"\}"):
        return latex
    inner = latex[begin:-end]
    depth = 0
    for sign in inner:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return latex
    return inner


def _plain(text: str) -> str:
    """Return words without signs that LaTeX obeys."""
    return re.sub(r"[{}\\$%#&_^~]", " ", text)
