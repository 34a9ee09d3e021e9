r"""Braces that show: sets, Poisson brackets, anticommutators, normal orderings.

`\{a, b\}` is a set, unless it stands where no set can: among factors or terms, or beside a number, a derivative or a
product. There it is the anticommutator of what is written as operators, else a Poisson bracket; of two capital letters
it may be either and equals only itself. `\{a^\dagger a\}`, a product of ladder operators alone in braces, is ordered
normally. Refused as evidence were the letters alone: `\{q, p\}` also lists coordinates.
"""

from __future__ import annotations

from dataclasses import replace

from prism.latex.parsing.tokens import Token, has_type, split_at

_MARKS_OF_OPERATORS = (r"\hat{", r"\gamma^", r"\sigma_", r"\mathbf{")
_ADJOINT = r"^{\dagger}"
_HAMILTONIANS = frozenset(("H", r"\mathcal{H}"))
_NO_FACTOR_BEFORE = frozenset(("FUNCTION", "ROMAN", "APPLY", "SERIES", "INTEGRAL", "LIMIT", "SETOP"))
_PLAIN_MEMBER = frozenset(("SYM", "ROMAN", "PAREN", "LISTED"))  # what a set may be equal to, alone on its side
_SUMS = ("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "COMMA", "GIVEN", "COLON")


def resolve_braces(items: list[Token]) -> list[Token]:
    r"""Return the items with a commutator for each `\{a, b\}` that is no set, `opaque normal` for `\{a^\dagger a\}`."""
    return [
        _bracket_for_braces(items, index) if item.type == "PAREN" and item.text == r"\{" else item
        for index, item in enumerate(items)
    ]


def _bracket_for_braces(items: list[Token], index: int) -> Token:
    """Return the item at an index, a pair of braces, as what it is among its siblings; a set or bracket unchanged."""
    item = items[index]
    content = item.args[0]
    before = items[index - 1] if index else None
    if before is not None and before.type in _NO_FACTOR_BEFORE:
        return item
    if not has_type(content, *_SUMS) and item.sub is None:
        is_word = len(content) > 1 and all(part.type == "SYM" for part in content)
        is_normal = is_word and any(_ADJOINT in part.text for part in content)
        return replace(item, type="LISTED", text="opaque normal") if is_normal else item
    parts = split_at(content, ("COMMA",))
    if len(parts) != 2 or not all(parts) or has_type(content, "REL", "GIVEN", "COLON"):
        return item
    if not _stands_where_no_set_can(items, index) and not _is_change_in_time(parts):
        return item
    return _as_commutator(item, parts)


def _as_commutator(item: Token, parts: list[list[Token]]) -> Token:
    r"""Return braces around two parts, and those in them, as an anticommutator, a Poisson bracket or what is unclear.

    `\{Q_i, P_j\}`, of new coordinates and momenta, is clear.
    """
    if all(any(_is_written_as_operator(each.text) for each in part) for part in parts):
        kind = "commutator anti"
    else:
        heads = [part[0].text.partition("_")[0] for part in parts]
        unclear = all(head[:1].isupper() for head in heads) and not {"Q", "P"}.issuperset(heads)
        kind = "opaque braces" if unclear else "commutator poisson"
    inner = [[_nested_commutator(each) for each in part] for part in parts]
    return Token("LISTED", kind, item.pos, item.gap, args=inner, sup=item.sup, sub=item.sub, raw=item.raw)


def _nested_commutator(item: Token) -> Token:
    r"""Return the inner braces of `\{f, \{g, h\}\}` as a bracket of their own; any other item unchanged."""
    if item.type != "PAREN" or item.text != r"\{" or has_type(item.args[0], "REL", "GIVEN", "COLON"):
        return item
    parts = split_at(item.args[0], ("COMMA",))
    return _as_commutator(item, parts) if len(parts) == 2 and all(parts) else item


def _is_written_as_operator(name: str) -> bool:
    """Return True for the name of a symbol with a hat or dagger, or of a Dirac or Pauli matrix."""
    return name.startswith(_MARKS_OF_OPERATORS) or _ADJOINT in name


def _is_change_in_time(parts: list[list[Token]]) -> bool:
    """Return True for a quantity with a lower-case letter and a Hamiltonian, or for operators with a dagger."""
    heads = [part[0].text.partition("_")[0] for part in parts]
    quantity = [head for head in heads if head not in _HAMILTONIANS]
    is_motion = len(quantity) == 1 and quantity[0].isalpha() and quantity[0].islower()
    return is_motion or any(_ADJOINT in each.text for part in parts for each in part)


def _stands_where_no_set_can(items: list[Token], index: int) -> bool:
    """Return True if braces at an index have a factor, sign or number beside them, or face what no set is equal to."""
    start = max((at + 1 for at in range(index) if items[at].type == "REL"), default=0)
    end = next((at for at in range(index, len(items)) if items[at].type == "REL"), len(items))
    relations = {item.text for item in items if item.type == "REL"}
    if has_type(items, "SETOP", "COMMA") or not relations <= {"=", r"\equiv", r"\approx", ":=", r"\propto"}:
        return False
    if end - start > 1:
        before = items[index - 1] if index > start else None
        is_call = before is not None and before.type == "SYM" and not (before.text.isalpha() and before.text.islower())
        return not is_call or has_type(items[start:end], "PLUS", "MINUS")
    others = [member for member in split_at(items, ("REL",)) if member != items[start:end]]
    return any(
        len(member) > 1 or member[0].type not in _PLAIN_MEMBER or member[0].text.startswith((r"\delta_", "i"))
        for member in others
        if member
    )
