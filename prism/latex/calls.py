r"""Which brackets behind a symbol are a call: `x(t)` is x, `v(0)` and `f(a, b)` are named values, `m(g + a)` a product.

LaTeX writes calls and products alike, so lists of what physics does decide: which letters are the variable of a
function, which heads are functions. What is on no list is a product, the commoner of the two.
"""

from __future__ import annotations

from prism.latex.names import spell
from prism.latex.tokens import Fault, Token
from prism.latex.unit_text import is_numeric

# `x(t)` says that x depends on t, and is x. The list holds the letters that physics uses as the variable of a
# function and hardly ever as a factor alone in brackets: `m(g)` and `k(T)` stay products.
_INDEPENDENT = frozenset(("t", "x", "y", "z", "r", "s", r"\theta", r"\phi", r"\tau", r"\xi", "v", r"\omega", r"\nu",
                          r"\lambda", r"\vec{r}", r"\vec{x}", r"\varphi", "t'", "x'", r"\vec{r}'"))  # fmt: skip
# A value at a point (`x(T)`): capital T is also a temperature and a factor, so only these heads take it.
_DEPENDENT = frozenset(("x", "y", "z", "s", "r", "v", "a", "u", r"\theta", r"\phi", r"\omega", r"\vec{r}", r"\vec{v}",
                        r"\vec{a}", r"\vec{x}", "q", r"\psi", r"\Psi"))  # fmt: skip
_ALWAYS_CALLED = frozenset((r"\delta", r"\delta^{(3)}", r"\Gamma", r"\zeta", r"\Theta"))  # delta(x) is not delta
_WAVES = frozenset(("f", "F", r"\psi", r"\Psi", "g"))  # f(x - vt) is a wave, k(x - x_0) a spring
_STATES = frozenset(("f", r"\psi", r"\Psi"))  # psi(1) psi(2): the state of particle 1 and of particle 2
_WAVE_VARIABLES = frozenset(("x", "y", "z", "t"))


def with_calls(items: list[Token]) -> list[Token]:
    """`x(t)` to x, `v(0)` and `f(a, b)` to a named value, everything else stays a product."""
    out: list[Token] = []
    for item in items:
        if item.type == "PAREN" and item.text == "(" and out:
            head = out[-1]
            called = None
            if head.type == "ROMAN":
                called = _called_word(head, item, numeric=len(out) > 1 and is_numeric(out[-2]))
            elif head.type == "DERIVATIVE" or (head.type == "SYM" and head.text != "d"):
                called = _called(head, item)
            if called is not None:
                out[-1] = called
                continue
        out.append(item)
    if len(out) > 2 and out[0].type == "SYM" and out[1].type == "PAREN" and out[2].type == "REL":
        content = out[1].args[0]
        if out[1].text == "(" and len(content) == 1 and content[0].type in ("SYM", "NUM") and content[0].sup is None:
            out[:2] = [_applied(out[0], out[1])]  # nobody defines a product: `V(R) = kQ/R` is the value at R
    return out


def _called_word(word: Token, bracket: Token, *, numeric: bool) -> Token | None:
    r"""`\mathrm{Re}(a, b)`, `\operatorname{Re}(z)`: a roman word takes the bracket; a roman letter only a list.

    Args:
        numeric: a number stands before the word, which may be a unit.
    """
    listed = any(part.type in ("COMMA", "REL") for part in bracket.args[0])
    if not listed and len(word.raw) == 1:
        return None
    if numeric or word.sup is not None or any(token.type != "letter" for token in word.raw):
        return None
    return Token("APPLY", spell(word.raw), word.pos, word.gap, args=bracket.args, sup=bracket.sup)


def _called(head: Token, bracket: Token) -> Token | None:
    """The head with its bracket taken in, or None if the two are factors."""
    content = bracket.args[0]
    name = head.text if head.type == "SYM" else head.args[0][0].text if head.args[0] else ""
    if head.type == "SYM" and name in _ALWAYS_CALLED:
        return _applied(head, bracket)
    if _are_variables(content, name):
        return _depending(head, bracket, name)
    if head.type == "SYM" and _is_value(name.split("_")[0], content):
        return _applied(head, bracket)
    return None


def _are_variables(content: list[Token], name: str) -> bool:
    """Whether a bracket holds only variables of a function, with commas between them."""
    return len(content) % 2 == 1 and all(
        part.type == "COMMA"
        if at % 2
        else part.type == "SYM" and part.sup is None and part.text in _INDEPENDENT and part.text != name
        for at, part in enumerate(content)
    )


def _depending(head: Token, bracket: Token, name: str) -> Token:
    """`x(t)` is x, and `x'(t)` its derivative by t."""
    power = _one_power(head, bracket)
    content = bracket.args[0]
    if head.type == "SYM" and "'" in name.split("_", maxsplit=1)[0] and len(content) == 1:
        bare = Token("SYM", name.replace("'", "", 1), head.pos)
        return Token("DERIVATIVE", "1", head.pos, head.gap, args=[[bare], list(content)], sup=power)
    if head.type == "DERIVATIVE" and head.args[1][0].text == "?" and len(content) == 1:
        head.args = [head.args[0], list(content)]
    head.sup = power
    return head


def _is_value(base: str, content: list[Token]) -> bool:
    """Whether a symbol, given without its subscript, takes this bracket as the point of a value."""
    if len(content) == 1 and content[0].sup is None:
        single = content[0]
        if single.type == "INFINITY" or (single.type == "NUM" and (single.text == "0" or base in _STATES)):
            return True
        if single.type == "SYM":
            variable, mark, _ = single.text.partition("_")
            if mark and variable in _INDEPENDENT and variable != "v":  # m(v_0) is a momentum
                return True
            if single.text.startswith(r"\vec{") or (single.text == "T" and base in _DEPENDENT):
                return True
    if len(content) == 2 and content[0].type in ("MINUS", "PLUS") and content[1].type == "INFINITY":
        return True
    if any(part.type in ("COMMA", "REL") for part in content):
        return True
    return base in _WAVES and any(part.type == "SYM" and part.text in _WAVE_VARIABLES for part in content)


def _applied(head: Token, bracket: Token) -> Token:
    return Token("APPLY", head.text, head.pos, head.gap, args=bracket.args, sup=_one_power(head, bracket))


def _one_power(head: Token, bracket: Token) -> list[Token] | None:
    """`f^2(x)` and `f(x)^2` are one power."""
    if head.sup is not None and bracket.sup is not None:
        raise Fault(bracket.pos, "a second superscript", "brackets around the first power")
    return bracket.sup or head.sup
