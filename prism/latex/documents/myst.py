"""MyST, the Markdown of Jupyter Books: its formulas, a role and a directive of the name `math`, between dollars."""

from __future__ import annotations

import re

_SIGN = "{math}"
_ROLE = re.compile(r"\{math\}`([^`]{1,4000})`")
_DIRECTIVE = re.compile(r"[ \t]*(`{3,}|:{3,}|~{3,})\{math\}[ \t]*(.*)")
_OPTION = re.compile(r"[ \t]*(?::[\w-]+:.*|---[ \t]*|[\w-]+:[ \t].*)")


def with_myst_formulas(text: str) -> str:
    r"""Return Markdown with the formulas of MyST, as in a Jupyter Book, between dollars; any other text as it is.

    >>> with_myst_formulas("so {math}`v = g t`")
    'so $v = g t$'
    """
    if _SIGN not in text:
        return text
    lines: list[str] = []
    fence = ""
    is_begin = False
    for line in _ROLE.sub(r"$\1$", text).splitlines(keepends=True):
        if not fence and (begun := _DIRECTIVE.fullmatch(line.rstrip())):
            fence, is_begin = begun[1], True
            lines.append(f"$$\n{begun[2]}\n" if begun[2] else "$$\n")
        elif fence and line.strip() == fence:
            fence = ""
            lines.append("$$\n")
        elif not (is_begin and (_OPTION.fullmatch(line.rstrip()) or not line.strip())):
            is_begin = False
            lines.append(line)
    return "".join((*lines, "\n$$\n" if fence else ""))
