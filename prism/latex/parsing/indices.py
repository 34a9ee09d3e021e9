r"""Superscripts that are indices, and no powers: of tensors, of orbitals, of amplitudes.

Some show by themselves (`F^{\mu\nu}`, `t^{ab}_{ij}`), others by what stands elsewhere in the formula: in a formula of
tensors a Greek letter that is met twice is an index; a Latin one is where something is differentiated by it, where one
symbol has it above and below (`\psi_i^i`), in the name of a state (`|\Phi_i^a\rangle`), beside ladder operators or
amplitudes (`f_p^q a_q^\dagger`), and on fields (`A_\mu^a`). Without such
evidence a raised letter is a power: in `\sum_n a_n x^n` it stands above and below too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from prism.latex.parsing.names import DOTS, flat_argument
from prism.latex.parsing.tokens import Fault, Token

_INDICES = frozenset(
    (r"\mu", r"\nu", r"\rho", r"\sigma", r"\alpha", r"\beta", r"\lambda", r"\kappa", r"\gamma", r"\delta")
)
_SURE_INDICES = frozenset((r"\mu", r"\nu"))
_LATIN_INDICES = frozenset("ijkl")
_GAUGE_INDICES = frozenset("abcdijk")  # of fields, beside one of space and time: `A_\mu^a`
_ORBITALS = frozenset("abcdefijklpqrs")
_DERIVING = frozenset(("NABLA", "PARTIAL_SIGN"))
_METRICS = frozenset(("g", r"\Gamma", r"\eta"))  # their lower indices are summed with upper ones


@dataclass(slots=True)
class _Scripts:
    """The scripts of one base: its token, the tokens below and above it, and True if they end the name of a ket."""

    base: Token
    below: Sequence[Token] = ()
    above: Sequence[Token] = ()
    is_label: bool = False


def raised_indices(tokens: list[Token]) -> frozenset[str]:
    """Return the letters that are indices wherever they stand alone above a symbol of the formula."""
    found = _all_scripts(tokens)
    raised: dict[str, list[_Scripts]] = {}
    for each in found:
        if len(each.above) == 1 and each.above[0].type == "letter":
            raised.setdefault(each.above[0].text, []).append(each)
    if not raised:
        return frozenset()
    lowered = Counter(letter for each in found for letter in _letters(each.below))
    everywhere = lowered + Counter(letter for each in found for letter in _letters(each.above))
    summed = {
        letter for each in found if each.base.type in _DERIVING or each.base.text in _METRICS
        for letter in _letters(each.below)
    }  # fmt: skip
    has_ladders = any([part.text for part in each.above] in ([r"\dagger"], [r"\dag"]) for each in found)
    has_ladders = has_ladders or any(map(_is_amplitude, found))
    has_tensors = any(map(_shows_tensors, found))
    by_coordinates = _coordinate_indices(tokens)
    indices = set()
    for letter, places in raised.items():
        if letter in _INDICES:
            is_index = has_tensors and everywhere[letter] > 1
        else:
            is_own = any(letter in _letters(each.below) for each in places)
            is_index = letter in _LATIN_INDICES and (letter in summed or letter in by_coordinates or is_own)
            below = [_letters(each.below) for each in places]
            is_index = is_index or any(each.is_label for each in places)
            is_index = is_index or (has_ladders and everywhere[letter] > 1 and all(len(each) == 1 for each in below))
            is_index = is_index or (
                has_tensors and letter in _GAUGE_INDICES and any(_INDICES.issuperset(each) for each in below if each)
            )
        if is_index:
            indices.add(letter)
    for group in (set(_letters(each.below)) for each in found) if has_tensors else ():
        if group & indices and _GAUGE_INDICES.issuperset(group):  # `f_{abc} A_\mu^b \Phi^c`
            indices |= group & raised.keys()
    return frozenset(indices)


def _letters(script: Sequence[Token]) -> list[str]:
    """Return the letters of a script."""
    return [token.text for token in script if token.type == "letter"]


def _is_amplitude(scripts: _Scripts) -> bool:
    r"""Return True for as many orbitals above as below, `t_{ij}^{ab}`; its upper ones may be written upright."""
    above = [token for token in scripts.above if token.text != r"\mathrm" and token.type not in ("{", "}")]
    letters = {*_letters(above), *_letters(scripts.below)}
    return _ORBITALS.issuperset(letters) and 1 < _number_of_indices(above) == _number_of_indices(scripts.below)


def _shows_tensors(scripts: _Scripts) -> bool:
    r"""Return True for several Greek indices, a derivative by one, or a raised `\mu` or `\nu`."""
    for script, surely in ((scripts.below, frozenset[str]()), (scripts.above, _SURE_INDICES)):
        letters = _letters(script)
        derives = scripts.base.type in _DERIVING or scripts.base.text == "D"
        is_sure = len(letters) > 1 or derives or not surely.isdisjoint(letters)
        if letters and len(letters) == len(script) and _INDICES.issuperset(letters) and is_sure:
            return True
    return False


def _coordinate_indices(tokens: list[Token]) -> set[str]:
    r"""Return the indices of coordinates, i of `\partial q^i`, `dq^i` and `\dot q^i`."""
    found, orders = set(), set()
    texts = [token.text for token in tokens if token.type not in ("{", "}")]
    types = [token.type for token in tokens if token.type not in ("{", "}")]
    for at, kind in enumerate(types[:-3]):
        if kind != "PARTIAL_SIGN" and texts[at] not in DOTS and texts[at] != "d":
            continue
        first = at + 1
        if types[first] == "^":
            orders.add(texts[first + 1])
            first += 2
        first += texts[first] in DOTS
        if types[first : first + 2] == ["letter", "^"]:
            found.add(texts[first + 2])
    return found - orders


def _all_scripts(tokens: list[Token]) -> list[_Scripts]:
    """Return the scripts in flat tokens, those behind one base together; scripts within scripts have their own."""
    found: list[_Scripts] = []
    end = -1  # behind the last script
    for at, token in enumerate(tokens):
        if token.type not in ("_", "^") or not at:
            continue
        try:
            inner, after = flat_argument(tokens, at + 1)
        except Fault:
            continue
        if at != end:
            found.append(_Scripts(tokens[at - 1]))
        if token.type == "_":
            found[-1].below = inner
        else:
            found[-1].above = inner
        end = after
        found[-1].is_label = tokens[end].text == r"\rangle"
        while tokens[end].type in ("{", "}") and tokens[end + 1].type in ("}", "_") and tokens[end].type == "{":
            end += 2  # the braces of `R^a{}_b`
    return found


def is_tensor_index(name: str, tokens: Sequence[Token], below: Sequence[Token], indices: frozenset[str]) -> bool:
    r"""Return True if a superscript of letters is an index: `F^{\mu\nu}`, `T^{ij}`, `t^{ab}_{ij}`; `e^{ik}` is a power.

    Args:
        name: of the symbol that has the superscript.
        tokens: of the superscript.
        below: of the subscript beside it.
        indices: letters that are indices in the formula.
    """
    letters = [token.text for token in tokens]
    if name == "e" or not letters:
        return False
    n_above = _number_of_indices(tokens)
    if n_above > 1 and n_above == _number_of_indices(below):
        return True
    if any(token.type != "letter" or token.gap > 1 for token in tokens):
        return False
    if len(letters) == 1 and (letters[0] in indices or (name.startswith(r"\Gamma") and _number_of_indices(below) > 1)):
        return True
    if _INDICES.issuperset(letters):
        return len(letters) > 1 or letters[0] in _SURE_INDICES
    tensor = name[:1].isupper() or name.startswith(("\\", "g", "h"))
    return len(letters) > 1 and tensor and _LATIN_INDICES.issuperset(letters)


def _number_of_indices(tokens: Sequence[Token]) -> int:
    r"""Return how many letters stand side by side, each maybe with an index, 2 for `a_1 a_2`; 0 beside other signs."""
    count, is_index = 0, False
    for token in tokens:
        if token.type == "letter":
            count += not is_index
            is_index = False
        elif token.type == "_":
            is_index = True
        elif token.type == "number" and is_index:
            is_index = False
        elif token.type != "DOTS":
            return 0
    return count


def listed_indices(lower: list[Token]) -> list[Token]:
    r"""Return letters below a sum, `k\sigma` or `\langle ij\rangle,\sigma`, as one list."""
    parts = [item for item in lower if item.type != "COMMA"]
    pairs = [[letter for arg in item.args for letter in arg] if _is_pair(item) else [] for item in parts]
    letters = [letter for item, pair in zip(parts, pairs, strict=True) for letter in pair or [item]]
    if len(letters) < 2 or not all(item.type == "SYM" and item.sup is None for item in letters):
        return lower
    if len(parts) == 1:
        return [Token("LISTED", "tuple", lower[0].pos, args=[[letter] for letter in letters])]
    spelled = [
        rf"\langle {','.join(letter.text for letter in pair)}\rangle" if pair else item.text
        for item, pair in zip(parts, pairs, strict=True)
    ]
    return [Token("SYM", ",".join(spelled), lower[0].pos)]


def _is_pair(item: Token) -> bool:
    r"""Return True for `\langle ij\rangle` and `\langle i,j\rangle`."""
    return (item.type, item.text) in (("BRACKET", "mean"), ("LISTED", "tuple")) and item.sup is None
