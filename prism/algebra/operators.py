r"""The one table of operators.

`OPS` is the only place where an operator is defined. Adding one means: a row here, a branch in
`kernels/source/`, a row in `tests/reference.py`, and a case in `tests/cases/parse/`; a test fails if any of
the four is missing. A row whose opcode is None is a construct that the engine does not evaluate: it becomes
one opaque atom, keyed by `expr.canonical` (semantics Z.9).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Op:
    """One operator of the table `OPS`: its opcode, arity, spellings, dimension rule and real domain.

    Attributes:
        name: key in `OPS`.
        opcode: instruction of the tape; None if the engine does not evaluate it.
        arity: number of operands; -1 is two or more.
        latex: spellings that the grammar reads, without arguments; empty for an instruction of the tape only.
        dimension: `same` (operands and result share it), `product`, `quotient`, `power`, `pure` (operand and
            result are numbers), `free` (not known).
        domain: where it is defined on the reals, in words.
    """

    name: str
    opcode: int | None
    arity: int
    latex: tuple[str, ...]
    dimension: str
    domain: str


_ROWS = (
    # leaves ------------------------------------------------------------------------------------------------
    Op("num", 0, 0, ("2", "0.5", r"6.02\times 10^{23}"), "pure", "all"),
    Op("sym", 1, 0, ("x", r"\alpha", "v_0", "m'", r"\Delta E"), "free", "all"),
    Op("const", 0, 0, (r"\pi", r"\mathrm{e}"), "pure", "all"),
    Op("unit", None, 0, (r"\unit{m}", r"\mathrm{m}"), "free", "all"),
    # arithmetic --------------------------------------------------------------------------------------------
    Op("add", 2, -1, ("a + b",), "same", "all"),
    Op("sub", 3, 2, ("a - b",), "same", "all"),
    Op("mul", 4, -1, ("a b", r"a \cdot b", r"a \times b"), "product", "all"),
    Op("div", 5, 2, (r"\frac{a}{b}", "a / b"), "quotient", "b != 0"),
    Op("neg", 6, 1, ("-a",), "same", "all"),
    Op("pow", 7, 2, ("a^b",), "power", "a > 0, or b an integer and not (a = 0 and b < 0)"),
    Op("root", 8, 2, (r"\sqrt[n]{a}",), "power", "a >= 0, or n odd"),
    Op("sqrt", 9, 1, (r"\sqrt{a}",), "power", "a >= 0"),
    Op("abs", 10, 1, ("|a|",), "same", "all"),
    # exponentials ------------------------------------------------------------------------------------------
    Op("exp", 11, 1, (r"\exp", "e^{a}"), "pure", "all"),
    Op("ln", 12, 1, (r"\ln", r"\log"), "pure", "a > 0"),
    Op("log10", 13, 1, (r"\log_{10}", r"\lg"), "pure", "a > 0"),
    # trigonometry ------------------------------------------------------------------------------------------
    Op("sin", 14, 1, (r"\sin",), "pure", "all"),
    Op("cos", 15, 1, (r"\cos",), "pure", "all"),
    Op("tan", 16, 1, (r"\tan", r"\tg"), "pure", "cos a != 0"),
    Op("asin", 17, 1, (r"\arcsin", r"\sin^{-1}"), "pure", "|a| <= 1"),
    Op("acos", 18, 1, (r"\arccos", r"\cos^{-1}"), "pure", "|a| <= 1"),
    Op("atan", 19, 1, (r"\arctan", r"\tan^{-1}"), "pure", "all"),
    Op("sinh", 20, 1, (r"\sinh",), "pure", "all"),
    Op("cosh", 21, 1, (r"\cosh",), "pure", "all"),
    Op("tanh", 22, 1, (r"\tanh",), "pure", "all"),
    Op("asinh", 23, 1, (r"\operatorname{arsinh}", r"\sinh^{-1}"), "pure", "all"),
    Op("acosh", 24, 1, (r"\operatorname{arcosh}", r"\cosh^{-1}"), "pure", "a >= 1"),
    Op("atanh", 25, 1, (r"\operatorname{artanh}", r"\tanh^{-1}"), "pure", "|a| < 1"),
    # an instruction of the tape only: the exponent is an immediate integer, so x^2 is defined for negative x
    Op("ipow", 26, 1, ("a^2", "a^{-1}"), "power", "a != 0 if the exponent is negative"),
    # whole numbers -------------------------------------------------------------------------------------------
    Op("floor", 27, 1, (r"\lfloor x \rfloor",), "same", "all"),
    Op("factorial", 28, 1, ("n!",), "pure", "a > -1/2"),
    # instructions of the tape only: which of two cases holds, the angle of a complex number, an estimate a of known
    # error b (the value of a quadrature or of an infinite sum)
    Op("step", 29, 1, (), "pure", "all"),
    Op("atan2", 30, 2, (), "pure", "not (a = 0 and b = 0)"),
    Op("widen", 31, 2, (), "same", "all"),
    # constructs without an instruction of their own: lowered to others, or kept as atoms -----------------------
    Op("differential", None, 1, ("dx",), "same", ""),
    Op("derivative", None, 2, (r"\frac{dy}{dx}", r"\dot{x}", r"\ddot{x}", "f'(x)"), "free", ""),
    Op("partial", None, -1, (r"\frac{\partial y}{\partial x}",), "free", ""),
    Op("integral", None, -1, (r"\int",), "free", ""),
    Op("contour", None, -1, (r"\oint",), "free", ""),
    Op("sum", None, -1, (r"\sum",), "free", ""),
    Op("product", None, -1, (r"\prod",), "free", ""),
    Op("limit", None, -1, (r"\lim",), "free", ""),
    Op("apply", None, -1, ("f(a)", "v(0)"), "free", ""),
    Op("cross", None, 2, (r"\vec a \times \vec b",), "product", ""),
    Op("dot", None, 2, (r"\vec a \cdot \vec b",), "product", ""),
    Op("nabla", None, 1, (r"\nabla f", r"\nabla\cdot\vec E", r"\nabla\times\vec E", r"\nabla^2 f"), "free", ""),
    Op("bracket", None, -1, (r"\langle x \rangle", r"\langle a | b \rangle"), "free", ""),
    Op("pm", None, -1, (r"a \pm b", r"\mp a"), "same", ""),
    Op("at", None, -1, (r"\left. f \right|_{x=0}",), "same", ""),
    Op("infinity", None, 0, (r"\infty",), "free", ""),
    Op("list", None, -1, (r"n = 1, 2, \ldots",), "same", ""),
    Op("tuple", None, -1, ("(x, y)",), "free", ""),
    Op("set", None, -1, (r"\{1, 2\}",), "free", ""),
    Op("interval", None, 2, ("[0, L)", r"(0, \infty]"), "same", ""),
    Op("commutator", None, 2, ("[A, B]",), "product", ""),
    Op(
        "matrix",
        None,
        -1,
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", r"\begin{vmatrix} a & b \end{vmatrix}"),
        "free",
        "",
    ),
    Op("cases", None, -1, (r"\begin{cases} a & x > 0 \\ b & x < 0 \end{cases}",), "same", ""),
    Op("row", None, -1, ("a & b",), "free", ""),
    Op("binomial", None, 2, (r"\binom{n}{k}", r"{n \choose k}"), "pure", ""),
    Op("relation", None, -1, ("(x > 0)",), "free", ""),
    Op("union", None, -1, (r"A \cup B",), "free", ""),
    Op("intersection", None, -1, (r"A \cap B",), "free", ""),
    Op("parallel", None, -1, (r"R_1 \parallel R_2", r"R_1 \| R_2"), "same", ""),
    Op("tensor", None, -1, (r"A \otimes B",), "product", ""),
    Op("wedge", None, -1, (r"A \wedge B",), "product", ""),
    Op("modulo", None, 2, (r"a \bmod b",), "same", ""),
    Op("phasor", None, 2, (r"10 \angle 30^\circ",), "free", ""),
    Op("ratio", None, -1, ("a : b : c",), "free", ""),
    Op("ceiling", None, 1, (r"\lceil x \rceil",), "same", ""),
    Op("dots", None, 0, (r"\ldots",), "free", ""),
    Op("blank", None, 0, (r"\ge 2",), "free", ""),
    Op("opaque", None, -1, (r"\overline{a + b}", r"(a + b)^\dagger"), "free", ""),
)

OPS: dict[str, Op] = {row.name: row for row in _ROWS}
