r"""Colours that nobody sees on white paper, as LaTeX and style sheets write them.

Paper is white, so what is nearly white, or transparent, is not read. A colour that is not understood is taken for
ink: a student's own name for one is far more often red than white.
"""

from __future__ import annotations

import re

Rgb = tuple[float, float, float]  # each from 0 to 1
_FAINT = 0.9  # every channel of at least this much: nearly white
_CLOSE = 0.05  # in each channel: the colour of the background

WHITE: Rgb = (1.0, 1.0, 1.0)
_NAMES: dict[str, Rgb] = {
    **dict.fromkeys("white snow ivory ghostwhite whitesmoke floralwhite mintcream azure aliceblue".split(), WHITE),
    "black": (0, 0, 0), "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0),
    "cyan": (0, 1, 1), "magenta": (1, 0, 1), "gray": (0.5, 0.5, 0.5), "grey": (0.5, 0.5, 0.5),
    "lightgray": (0.75, 0.75, 0.75), "darkgray": (0.25, 0.25, 0.25),
}  # fmt: skip
_TRANSPARENT = frozenset(("transparent", "none"))
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_NUMBER = re.compile(r"[-+]?(?:\d{1,6}(?:\.\d{0,12})?|\.\d{1,12})%?")


def is_faint(colour: Rgb | None, background: Rgb = WHITE) -> bool:
    """Whether ink of this colour does not show; None is a colour that is not understood, which does."""
    if colour is None:
        return False
    if background == WHITE and min(colour) >= _FAINT:
        return True
    return all(abs(one - two) <= _CLOSE for one, two in zip(colour, background, strict=True))


def _numbers(value: str) -> list[float]:
    """The numbers of a colour; a percentage is a part of one."""
    found = _NUMBER.findall(value)
    return [float(each[:-1]) / 100 if each.endswith("%") else float(each) for each in found]


def _of_hex(value: str) -> Rgb | None:
    digits = _HEX.fullmatch(value)
    if not digits:
        return None
    width = 1 if len(digits[1]) < 6 else 2
    full = (1 << 4 * width) - 1
    channels = [int(digits[1][at : at + width], 16) / full for at in range(0, len(digits[1]), width)]
    if len(channels) == 4 and channels[3] < 1 - _FAINT:
        return WHITE
    return channels[0], channels[1], channels[2]


def of_latex(model: str, value: str, defined: dict[str, Rgb]) -> Rgb | None:
    r"""The colour that `\color[model]{value}` sets; None if it is not understood.

    Args:
        model: as in xcolor; empty for a name or a mixture such as `black!10`.
        value: what stands in the braces.
        defined: names that the solution gave to colours.

    >>> of_latex("", "black!0", {})
    (1.0, 1.0, 1.0)
    """
    if not model or model == "named":
        return _mixture(value.strip(), defined)
    numbers = _numbers(value)
    if model == "HTML":
        return _of_hex(value.strip().lower())
    if model == "gray" and len(numbers) == 1:
        return numbers[0], numbers[0], numbers[0]
    if model in ("rgb", "RGB") and len(numbers) == 3:
        scale = 255 if model == "RGB" else 1
        return numbers[0] / scale, numbers[1] / scale, numbers[2] / scale
    if model == "cmy" and len(numbers) == 3:
        numbers.append(0)
    if model in ("cmyk", "cmy") and len(numbers) == 4:
        red, green, blue = (1 - min(1.0, each + numbers[3]) for each in numbers[:3])
        return red, green, blue
    if model in ("hsb", "HSB") and len(numbers) == 3:
        return WHITE if numbers[1] <= 1 - _FAINT and numbers[2] >= _FAINT else None
    return None


def _mixture(value: str, defined: dict[str, Rgb]) -> Rgb | None:
    """`red!20!black`: twenty parts of a hundred of the one, the rest of the other, which is white if left out."""
    parts = value.split("!")
    colour = _named(parts[0], defined)
    for at in range(1, len(parts), 2):
        numbers = _numbers(parts[at])
        other = _named(parts[at + 1], defined) if at + 1 < len(parts) else WHITE
        if len(numbers) != 1:
            return None
        share = numbers[0] / 100
        if share <= 0 or colour is None or other is None:
            colour = other if share <= 0 else None
        else:
            red, green, blue = (share * one + (1 - share) * two for one, two in zip(colour, other, strict=True))
            colour = (red, green, blue)
    return colour


def _named(name: str, defined: dict[str, Rgb]) -> Rgb | None:
    name = name.strip()
    if name in defined:
        return defined[name]
    lower = name.lower()
    if lower in _TRANSPARENT:
        return WHITE
    if lower in _NAMES:
        return _NAMES[lower]
    if lower.startswith("#") or lower in ("fff", "ffffff"):
        return _of_hex(lower)
    numbers = _numbers(name)
    return (numbers[0], numbers[1], numbers[2]) if name.count(",") == 2 and len(numbers) == 3 else None


def of_style(value: str) -> Rgb | None:
    """The colour that a style sheet sets; None if it is not understood. Transparent ink is white on paper.

    >>> of_style("rgba(0, 0, 0, 0)")
    (1.0, 1.0, 1.0)
    """
    value = value.strip().lower()
    numbers = _numbers(value)
    if value.startswith("rgb") and len(numbers) >= 3:
        if len(numbers) > 3 and numbers[3] < 1 - _FAINT:
            return WHITE
        scale = 1 if "%" in value else 255
        return numbers[0] / scale, numbers[1] / scale, numbers[2] / scale
    if value.startswith("hsl") and len(numbers) >= 3:
        return WHITE if numbers[2] >= _FAINT or (len(numbers) > 3 and numbers[3] < 1 - _FAINT) else None
    return _named(value.removesuffix("!important").strip(), {})
