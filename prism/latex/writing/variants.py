r"""Write variants of Greek letters as a text has them: the parser reads `\varphi` as `\phi`."""

from __future__ import annotations

import re

from prism.latex.parsing.tokens import VARIANTS

_LETTER = {name: re.compile(rf"{re.escape(name)}(?![A-Za-z])") for pair in VARIANTS.items() for name in pair}


def with_variants(latex: str, *sources: str) -> str:
    r"""Return LaTeX with each Greek letter in the variant that the first source with that letter has, if it has one.

    >>> print(with_variants(r"\sin(\phi_1) + \epsilon", r"x = \varphi_1", r"\phi = \varepsilon"))
    \sin(\varphi_1) + \varepsilon
    """
    for variant, letter in VARIANTS.items():
        if letter in latex and any(variant in source for source in sources):
            having = (each for each in sources if _LETTER[variant].search(each) or _LETTER[letter].search(each))
            if not _LETTER[letter].search(next(having, letter)):
                latex = _LETTER[letter].sub(lambda _, name=variant: name, latex)  # type: ignore[misc]
    return latex
