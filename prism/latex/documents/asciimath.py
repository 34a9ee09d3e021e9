r"""AsciiMath as LaTeX, by the grammar of its page: simple expressions, fractions by `/`, indices and powers.

S = constant | "(" E ")" | unary S | binary S S | "text" | number;  I = S_S^S;  E = I E | I / I
"""

from __future__ import annotations

import re

from prism.latex.documents.typed_formulas import CALLS, MAX_DEPTH, TypedReader
from prism.latex.documents.written_signs import FUNCTIONS

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
_CALLS = {
    **CALLS, "hat": r"\hat{%s}", "bar": r"\bar{%s}", "vec": r"\vec{%s}", "dot": r"\dot{%s}", "ddot": r"\ddot{%s}",
    "tilde": r"\tilde{%s}", "ul": r"\underline{%s}", "bb": r"\mathbf{%s}", "cc": r"\mathcal{%s}",
    "rm": r"\mathrm{%s}", "text": r"\text{%s}", "mbox": r"\text{%s}", "stackrel": r"\overset{%s}{%s}",
    "overset": r"\overset{%s}{%s}", "underset": r"\underset{%s}{%s}",
}  # fmt: skip
_LEFT = {"(": "(", "[": "[", "{": r"\{", "(:": r"\langle ", "<<": r"\langle ", "{:": ""}
_RIGHT = {")": ")", "]": "]", "}": r"\}", ":)": r"\rangle ", ">>": r"\rangle ", ":}": ""}
_WORDS = sorted((*_CONSTANTS, *_CALLS, *_LEFT, *_RIGHT), key=len, reverse=True)
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
    return " ".join(TypedReader(_TOKEN.findall(text), _read_piece, ("(", "[", r"\{")).read((), 0).split())


def _read_piece(reader: TypedReader, depth: int) -> str:
    """Read one simple expression; empty behind the last token."""
    token = reader.take()
    if token[:1] == '"' and len(token) > 1:
        return rf"\text{{{_plain(token[1:-1])}}}"
    if token.startswith(("text(", "mbox(")):
        return rf"\text{{{_plain(token[5:-1])}}}"
    if token in _LEFT and depth < MAX_DEPTH:
        inside = reader.read(_RIGHT, depth + 1)
        return f"{_LEFT[token]}{inside}{_RIGHT.get(reader.take(), '')}"
    if token in _CALLS and depth < MAX_DEPTH:
        form = _CALLS[token]
        return form % tuple(reader.argument(depth + 1) for _ in range(form.count("%s")))
    return _CONSTANTS.get(token, _LEFT.get(token, _RIGHT.get(token, token)))


def _plain(text: str) -> str:
    """Return words without signs that LaTeX obeys."""
    return re.sub(r"[{}\\$%#&_^~]", " ", text)
