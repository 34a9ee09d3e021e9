r"""Rows of `tests/cases/equivalence` with their letters renamed throughout: what is the same stays the same.

What a letter means follows from what is written of it, not from its shape: `F = ma` is `a = F/m` under any names. So
a row that expects `equivalent` is decided again with each letter that nobody gives a meaning renamed in both formulas,
by several maps. Letters to which the semantics give a meaning by their shape (`renamed_letters_meanings.toml`) keep
their names. What does not stay `equivalent` stands in `renamed_letters_differ.toml` with its reason; nothing else may
become `equivalent`.

    python benchmarks/accuracy/renamed_letters.py [--every N] [--json]
"""

from __future__ import annotations

import json
import random
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.rows_as_problems import rows  # noqa: E402
from prism.algebra.expr import symbols  # noqa: E402
from prism.physics.constants import constant_table  # noqa: E402

LISTED = Path(__file__).with_name("renamed_letters_differ.toml")
MEANINGS = Path(__file__).with_name("renamed_letters_meanings.toml")
NOT_LETTERS = ("units_", "italic_units", "stated_numbers")  # files of rows about units, which are letters too

POOLS = tuple(  # letters that are renamed among each other: whole numbers and indices stay such
    tuple(pool.split())
    for pool in (
        "a b f g h p q r s t u v w x y z",
        "k l m n",
        "A B C E F G H K L M N P Q R S T U V W X Y Z",
        r"\alpha \beta \mu \nu \lambda \kappa",
        r"\gamma \theta \phi \rho \tau \omega \xi",
    )
)
CONVENTION = dict(zip("apuxqbtsfhgnkmlrwvyz", "puaqbxsthgfknlmwvrzy", strict=True)) | dict(
    zip("EWABCQFPKTLRMNSVUHXYZ", "WEBAQCPFTKRLNMVSHUYZX", strict=True)
)
SEEDS = (1, 2)  # of the other maps

_WORDS = r"sin|cos|tan|sec|csc|cot|exp|ln|log|min|max|sgn|det|tr|arg|ans|and|for|if|odd|even|foo|NA"
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_MARKED = re.compile(
    rf"\\(?:vec|hat|mathbf|boldsymbol|bm) ?(?:{_GROUP}|\\[A-Za-z]+|[A-Za-z])"
)  # names of a kind, and of axes
_TOKEN = re.compile(
    rf"\\\\|\\(?:mathrm|text\w*|operatorname|unit|mbox|rm|begin|end|mathsf|mathcal)\*? ?{_GROUP}"
    rf"|\\mathbb ?{_GROUP}?[A-Z]?|{_MARKED.pattern}|\\[A-Za-z]+"
    rf"|(?<![A-Za-z])(?:{_WORDS}|[A-Za-z]{{4,}})(?![A-Za-z])|[A-Za-z]"
)
COORDINATES = frozenset(("x", "y", "z", "r", "s", r"\theta", r"\phi", r"\rho"))  # name axes beside vectors and fields


@dataclass(frozen=True, slots=True)
class Outcome:
    """One formula of a row beside the reference, as it is and with its letters renamed by one map."""

    name: str
    reference: str
    claim: str
    expected: str
    found: str


def letters(latex: str) -> set[str]:
    """The letters of a formula that could be renamed."""
    return {token for token in _TOKEN.findall(latex) if any(token in pool for pool in POOLS)}


def renamed(latex: str, by: Mapping[str, str]) -> str:
    """Put new letters for old ones."""
    return _TOKEN.sub(lambda token: by.get(token[0], token[0]), latex)


def meaningful(row: Mapping[str, Any]) -> set[str]:
    """Letters with a meaning of their own: in the context, marked as vectors, constants, and those of MEANINGS."""
    texts = [row["a"], row["b"], *row.get("near_misses", ())]
    marked = [found for text in texts for found in _MARKED.findall(text)]
    kept = [json.dumps(row.get("context", {})).replace("\\\\", "\\"), *marked, *(COORDINATES if marked else ())]
    for meaning in meanings():
        found = [match for text in texts for match in re.finditer(meaning["where"], text)]
        kept += meaning["letters"].split() if found and "letters" in meaning else []
        kept += [group for match in found if "letters" not in meaning for group in match.groups("")]
    names = [names_in(text) for text in texts]
    kept += [name for found in names[1:] for name in names[0] ^ found if name in constant_table().by_symbol]
    return set(re.findall(r"\\[A-Za-z]+|[A-Za-z]", " ".join(kept)))


@lru_cache(maxsize=1)
def meanings() -> list[dict[str, str]]:
    """Read the meanings that the semantics give to letters by their shape."""
    return tomllib.loads(MEANINGS.read_text("utf-8"))["meaning"]


def names_in(latex: str) -> frozenset[str]:
    """The symbols of a formula; none of one that is not read."""
    try:
        return symbols(*prism.parse(latex).members)
    except prism.PrismError:
        return frozenset()


def maps_for(row: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield maps of the letters of a row that may be renamed: other usual names, then names by chance.

    Left out are those that rename nothing, or that make two letters one.
    """
    texts = [row["a"], row["b"], *row.get("near_misses", ())]
    written = set().union(*map(letters, texts), *(set(re.findall("[A-Za-z]", text)) for text in texts))
    kept = meaningful(row)
    candidates: list[Mapping[str, str]] = [CONVENTION]
    for seed in SEEDS:
        drawn = random.Random(seed)
        by: dict[str, str] = {}
        for pool in POOLS:
            free = [letter for letter in pool if letter not in kept]
            by |= zip(free, drawn.sample(free, len(free)), strict=True)
        candidates.append(by)
    for each in candidates:
        used = {old: new for old, new in each.items() if old in written - kept and new not in kept and old != new}
        if used and not (written - used.keys()) & set(used.values()):
            yield used


def outcomes(name: str, row: Mapping[str, Any]) -> Iterator[Outcome]:
    """Decide a row and its near-misses under each map."""
    pairs = [(row["b"], row["expect"]), *((each, "different") for each in row.get("near_misses", ()))]
    for by in maps_for(row):
        a = renamed(row["a"], by)
        for claim, expected in pairs:
            b = renamed(claim, by)
            verdict = prism.equivalent(a, b, context=row.get("context") or None)
            yield Outcome(name, a, b, expected, str(verdict.status))


def measured(every: int = 1) -> list[Outcome]:
    """Decide each row, or every so many, but for those about units, which are letters too."""
    kept = [(name, row) for name, row in rows() if not name.startswith(NOT_LETTERS)]
    return [outcome for name, row in kept[::every] for outcome in outcomes(name, row)]


def lost(found: Iterable[Outcome]) -> dict[str, list[str]]:
    """What is no longer `equivalent`, by row."""
    kept: dict[str, list[str]] = {}
    for each in found:
        if each.expected == "equivalent" != each.found:
            kept.setdefault(each.name, []).append(f"{each.reference}  |  {each.claim}  |  {each.found}")
    return kept


def gained(found: Iterable[Outcome]) -> list[Outcome]:
    """What became `equivalent` by its names; there should be none."""
    return [each for each in found if each.expected != "equivalent" == each.found]


def listed() -> dict[str, str]:
    """Read why rows do not stay `equivalent`."""
    return tomllib.loads(LISTED.read_text("utf-8"))["lost"]


def main() -> int:
    parser = script.parser(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many rows")
    arguments = parser.parse_args()
    prism.warm()
    found = measured(arguments.every)
    equal = [each for each in found if each.expected == "equivalent"]
    missed, wrong = lost(found), gained(found)
    result = {
        "rows": len({each.name for each in equal}),
        "renamed": len(equal),
        "stay_equivalent": sum(each.found == "equivalent" for each in equal),
        "lost": missed,
        "others": len(found) - len(equal),
        "gained": [f"{each.name}: {each.reference}  |  {each.claim}" for each in wrong],
    }
    print(json.dumps(result, indent=None if arguments.json else 1, ensure_ascii=False))
    return bool(wrong or missed.keys() != listed().keys()) if arguments.every == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
