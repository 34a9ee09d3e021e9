r"""How much real LaTeX the reader reads: what is parsed, what is no mathematics, what is refused and why.

Formulas come three ways: the rows of `formulas.jsonl` as they stand, the same rows cut by `extract`, and every formula
that `extract` finds in the solutions of `worked.jsonl` and the responses of `rollouts.jsonl`. Every share is over
distinct formulas; `_all` counts each as often as it stands.

A formula that is not read is *outside mathematics* if one of the rules in `OUTSIDE` holds, in their order: they look
at the LaTeX alone, so that the reader does not mark its own work, and each says in its docstring what it takes.
Everything else that is not read has *failed*. `disputed` counts the failed ones whose fault names a kind outside
mathematics (`LatexSyntaxError.kind`). `share_read` is what is read of what carries mathematics;
`share_read_with_broken` also counts as failed what no TeX would set (braces that do not pair) and what breaks off, and
`share_read_by_kind` takes the reader's word for what is disputed.

The most frequent commands are counted in the delimited formulas of the three files, and each is looked up in every
formula in which it stands: `refused` counts those whose fault names the command, `unknown` those of them that say that
this command is not read at all.

`--save` writes every formula with PRISM's reading as a line of JSON, and `--beside` shows a sample, drawn by seed, of
those that are read now and were not when such a file was saved: to be read by eye. What stays unread on purpose is told
in `docs/explanation/readings.md`.

    python benchmarks/accuracy/reader.py [--data FOLDER] [--verbose] [--json] [--save FILE]
        [--beside FILE [--sample N] [--seed N]]
"""

from __future__ import annotations

import inspect
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, DELIMITED, FIELDS, NO_DATA, missing, texts  # noqa: E402
from prism import LatexSyntaxError  # noqa: E402
from prism.latex import extract, parse  # noqa: E402

COMMANDS = 250
MORE = {"rollouts_more.jsonl": "response", "human/students.jsonl": "solution", "human/mrben_physics.jsonl": "solution"}
"""Further files of texts, where they are there, and the field of each line that holds one."""
REASONS = 15  # fault messages that are listed by source
EXAMPLES = 4  # of each, with --verbose

# What is no mathematics -------------------------------------------------------------------------------------

_ELEMENTS = (
    "He Li Be Ne Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Zr Nb Mo Tc Ru Rh Pd Ag Cd In "
    "Sn Sb Te Xe Cs Ba La Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th "
    "Pa Np Pu Am Cm Bk Cf H B C N O F P S K V Y I W U T"
)
_ELEMENT = rf"(?:{'|'.join(_ELEMENTS.split())})(?![a-z])"
_FONT = r"(?:\\(?:mathrm|text|rm|mathsf|operatorname)\s*\{?\s*|\{\s*)?"
_MASS = r"(?:\{\s*\}\s*)?\^\s*(?:\{\s*\d{1,3}m?\s*\}|\d)\s*(?:_\s*(?:\{\s*-?\d{1,3}\s*\}|\d)\s*)?(?:\\[,!]|~|\s)*"
_NUCLIDE = re.compile(rf"(?:^|[\s({{}},+~]|\\[,;:!]){_MASS}{_FONT}{_ELEMENT}")
_TERM = re.compile(
    r"(?:\{\s*\})?\s*\^\s*(?:\{\s*\d\s*\}|\d)\s*(?:\\(?:mathrm|text|rm)\s*\{?\s*)?[SPDFGH]\s*\}?"
    r"\s*(?:_\s*(?:\{[\d/,\s\\frac{}]{1,20}\}|\d))?\s*\}?"
)
_RELATION = re.compile(
    r"[=<>≈≃≅≡≤≥≪≫≠∝∼]|\\(?:approx|simeq|cong|sim|equiv|propto|leq?|geq?|leqslant|geqslant|ll|gg|neq?|lt|gt|lesssim"
    r"|gtrsim|doteq|in|subset)(?![a-zA-Z])"
)
_TEXT = re.compile(r"\\(?:text(?:rm|bf|it|sf|tt|normal)?|mbox|hbox|mathrm|mathbf|textsc)\s*\{([^{}]{0,2000})\}")
_WORD = re.compile(r"[A-Za-z]{2,}")
_LAYOUT = re.compile(
    r"\\(?:begin|end)\s*\{[a-z*]+\}|\\(?:boxed|fbox)(?![a-z])|\\(?:left|right|[bB]igg?[lr]?)(?![a-z])"
    r"|\\q?quad(?![a-z])|\\[,;:!> ]|\\\\|[{}$&~.\s]"
)
_SIGNS = re.compile(r"\\[a-zA-Z]+|[^\s]")
_NAMED_SIGN = re.compile(r"\\(?:to|rightarrow|leftarrow|Rightarrow|cdot|times|pm|mp|approx|sim|leq?|geq?|equiv|propto)")
_GRAPHICS = re.compile(r"\\includegraphics|\\begin\s*\{(?:tikzpicture|axis|figure|picture)\}|\\draw(?![a-z])")
_TABLE = re.compile(r"\\begin\s*\{(?:tabular|table)\}|\\begin\s*\{array\}\s*\{[^{}]*\|[^{}]*\}|\\hline(?![a-z])")
_LABEL = re.compile(r"\(?\s*(?:[a-zA-Z]|[ivxIVX]{1,4}|\d{1,3}(?:\.\d{1,3}){1,3}[a-z]?)\s*[).:]+")
_SCRIPT = re.compile(r"[\^_]\s*(?:\{[^{}]{0,60}\}|\\[a-zA-Z]+|.)(?:\s*[\^_]\s*(?:\{[^{}]{0,60}\}|.))?")
_TAIL = re.compile(r"(?:\s|[.,;:$]|\\[,;:! ]|\\q?quad(?![a-zA-Z])|\\end\{[a-z*]+\})+$")
_UNFINISHED = re.compile(
    r"(?:(?<!\^)(?<!\^\{)[-+*/=<_^(\\≈]|\\(?:cdot|times|approx|frac|sqrt|left|pm|equiv|le|ge|propto|sim))$"
)
_LONE_NAME = re.compile(r"\\?(?:Delta)?\s*\\?[a-zA-Z]+(?:_\\?\w+)?")


def _bare(latex: str) -> str:
    """Without boxes, environments, sizes, spaces and full stops."""
    return _LAYOUT.sub("", latex)


def empty(latex: str) -> bool:
    """Nothing but layout."""
    return not _bare(latex).strip(",;:")


def graphics(latex: str) -> bool:
    """A figure or a drawing."""
    return bool(_GRAPHICS.search(latex))


def money(latex: str) -> bool:
    r"""An amount: an escaped dollar before digits, behind one relation at most."""
    return bool(re.search(r"\\\$\s*\d", latex)) and len(_RELATION.findall(latex)) < 2


def table(latex: str) -> bool:
    """`tabular`, rules between rows, or rules between columns."""
    return bool(_TABLE.search(latex))


def label(latex: str) -> bool:
    """The number of an equation or a subquestion, and nothing else."""
    return bool(_LABEL.fullmatch(_bare(_TEXT.sub(r"\1", latex.replace(".", "·"))).replace("·", ".")))


def term_symbol(latex: str) -> bool:
    """The name of an atomic state, such as a doublet P one half, alone."""
    return bool(_TERM.fullmatch(latex.strip(" ,.")))


def chemistry(latex: str) -> bool:
    r"""Nuclides or `\ce`, with arrows or plus signs between them perhaps, and no relation."""
    return bool((r"\ce" in latex or _NUCLIDE.search(latex)) and not _RELATION.search(latex))


def bare_sign(latex: str) -> bool:
    """Signs without anything that they stand between: no letter, digit or named quantity."""
    signs: list[str] = _SIGNS.findall(_bare(latex))
    return all(_NAMED_SIGN.fullmatch(sign) or not (sign.isalnum() or sign[0] == "\\") for sign in signs)


def fragment(latex: str) -> bool:
    """A subscript or superscript whose base stands outside the formula."""
    return bool(_SCRIPT.fullmatch(latex.strip(" ,.").removeprefix("{}").strip()))


def prose(latex: str) -> bool:
    r"""Words, and beside them no relation, or none with more than a lone name on its other side.

    Words are a `\text` of two or more, or of one of five letters; or, without `\text`, four behind each other.
    """
    content = [_WORD.findall(text) for text in _TEXT.findall(latex)]
    if any(len(words) > 1 or (words and len(words[0]) > 4) for words in content):
        sides = [_bare(side).strip(",;:()") for side in _RELATION.split(_TEXT.sub(" ", latex))]
        filled = [side for side in sides if side]
        return len(sides) == 1 or not filled or (len(filled) == 1 and bool(_LONE_NAME.fullmatch(filled[0])))
    return bool(re.search(r"(?<![\\A-Za-z])[A-Za-z]{2,}(?: [a-z]{2,}){3}", latex))


def broken(latex: str) -> bool:
    r"""Braces, environments or `\left` and `\right` that do not pair: TeX would stop here."""
    depth = 0
    for sign in re.findall(r"\\.|[{}]", latex, re.DOTALL):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return True
    lefts, rights = len(re.findall(r"\\left(?![a-z])", latex)), len(re.findall(r"\\right(?![a-z])", latex))
    return depth != 0 or lefts != rights or latex.count(r"\begin{") != latex.count(r"\end{")


def truncated(latex: str) -> bool:
    """Breaks off behind an operator, a relation or a command that wants more; what `extract` cut off does not count."""
    return not latex.rstrip().endswith("...") and bool(_UNFINISHED.search(_TAIL.sub("", latex)))


OUTSIDE: tuple[Callable[[str], bool], ...] = (
    empty, graphics, money, table, label, term_symbol, chemistry, bare_sign, fragment, prose, broken, truncated,
)  # fmt: skip
BROKEN = ("broken", "truncated")
INSIDE = ("syntax", "ambiguous", "limit")  # kinds of a fault that do not say that this is no mathematics


def outside(latex: str) -> str:
    """Kind of what is no mathematics, or an empty string."""
    return next((rule.__name__ for rule in OUTSIDE if rule(latex)), "")


_END = re.compile(r"[\s.,;:}*]*(?:\$|\\[)\]]|\\end|\\\\|&|\n|$)")


def cut_short(text: str, end: int) -> bool:
    """Whether a formula that ends here has been cut out of a longer one: neither its block nor its line ends."""
    return not _END.match(text, end)


# Reading ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """What became of one formula.

    Attributes:
        latex: the formula.
        found: what the fault says; empty if it is read.
        outside: kind of what is no mathematics; empty if it is mathematics, or read.
        kind: what the fault says that it is.
        seconds: CPU time of the parse, without any cache of formulas.
    """

    latex: str
    found: str
    outside: str
    kind: str
    seconds: float


@dataclass(slots=True)
class Reader:
    """Reads each formula once; what `extract` has cut short is never outside mathematics for being unfinished."""

    done: dict[str, Read] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    def read(self, latex: str) -> Read:
        """Parse, or remember."""
        if latex not in self.done:
            found = no_mathematics = kind = ""
            uncached = inspect.unwrap(parse)
            start = time.process_time()
            try:
                uncached(latex)
            except LatexSyntaxError as fault:
                seconds = time.process_time() - start
                found, no_mathematics, kind = fault.found, outside(latex), fault.kind
                if no_mathematics in BROKEN and latex in self.cut:
                    no_mathematics = ""
            else:
                seconds = time.process_time() - start
            self.done[latex] = Read(latex, found, no_mathematics, kind, seconds)
        return self.done[latex]


def grouped(found: str) -> str:
    """A message without what is peculiar to one formula: numbers, odd characters, quoted text but for a sign."""
    kept = re.sub(r"`(?!\\[a-zA-Z]+`)[^`]{2,}`|'.'", "...", found)
    return re.sub(r"\d+", "N", kept)


def summary(formulas: Iterable[str], reader: Reader, *, verbose: bool) -> dict[str, Any]:
    """Counts and shares of one source."""
    times = Counter(formulas)
    reads = [reader.read(latex) for latex in times]
    failed = [item for item in reads if item.found and not item.outside]
    kinds = Counter(item.outside for item in reads if item.outside)
    read = sum(not item.found for item in reads)
    disputed = Counter(item.kind for item in failed if item.kind not in INSIDE)
    unfinished = sum(kinds[kind] for kind in BROKEN)
    all_failed = sum(times[item.latex] for item in failed)
    all_read = sum(times[item.latex] for item in reads if not item.found)
    reasons = Counter(grouped(item.found) for item in failed)
    result: dict[str, Any] = {
        "formulas_all": times.total(),
        "formulas": len(reads),
        "read": read,
        "outside": sum(kinds.values()),
        "failed": len(failed),
        "outside_by_kind": dict(kinds.most_common()),
        "share_parsed": share(read, len(reads)),
        "share_outside": share(sum(kinds.values()), len(reads)),
        "share_failed": share(len(failed), len(reads)),
        "share_read": share(read, read + len(failed)),
        "share_read_all": share(all_read, all_read + all_failed),
        "share_read_with_broken": share(read, read + len(failed) + unfinished),
        "share_read_by_kind": share(read, read + len(failed) - disputed.total()),
        "disputed": dict(disputed.most_common()),
        "reasons": [{"found": found, "formulas": count} for found, count in reasons.most_common(REASONS)],
        "reasons_more": sum(count for _, count in reasons.most_common()[REASONS:]),
        "time": timing(reads),
    }
    if verbose:
        examples: dict[str, list[str]] = {}
        for item in reads:
            if item.found:
                examples.setdefault(item.outside or grouped(item.found), []).append(item.latex)
        result["examples"] = {key: sorted(rows, key=len)[:: max(1, len(rows) // EXAMPLES)][:EXAMPLES]
                              for key, rows in examples.items()}  # fmt: skip
    return result


def share(part: int, whole: int) -> float | None:
    """A ratio to five places, or None of nothing."""
    return round(part / whole, 5) if whole else None


def timing(reads: list[Read]) -> dict[str, float]:
    """CPU time of a parse, refused ones too: informational, it depends on the machine."""
    if len(reads) < 2:
        return {}
    micros = [item.seconds * 1e6 for item in reads]
    per_character = [item.seconds * 1e6 / len(item.latex) for item in reads if item.latex]
    return {
        "median_us": round(statistics.median(micros), 1),
        "p99_us": round(statistics.quantiles(micros, n=100)[98], 1),
        "max_us": round(max(micros), 1),
        "median_us_per_character": round(statistics.median(per_character), 3),
    }


# Commands ---------------------------------------------------------------------------------------------------

_COMMAND = re.compile(r"\\(?:[a-zA-Z]+|[^a-zA-Z\s])")


def delimited(texts: Iterable[str]) -> Iterator[str]:
    """What stands between dollars and TeX's brackets."""
    for text in texts:
        for match in DELIMITED.finditer(text):
            yield next(group for group in match.groups() if group is not None)


def commands(formulas: Iterable[str], reader: Reader) -> dict[str, Any]:
    """The most frequent commands, and those that the reader refuses by name in a formula of mathematics."""
    total: Counter[str] = Counter()
    contexts: dict[str, dict[str, None]] = {}
    for latex, times in Counter(formulas).items():
        for command, count in Counter(_COMMAND.findall(latex)).items():
            total[command] += count * times
            contexts.setdefault(command, {})[latex] = None
    cut = {latex: {item.latex for item in extract(f"$$ {latex} $$")} for latex in set().union(*contexts.values())}
    refused: dict[str, dict[str, int]] = {}
    for command, _ in total.most_common(COMMANDS):
        name = re.compile(r"(?:command|sign) " + re.escape(command) + r"(?![a-zA-Z])")
        pieces = sorted({piece for latex in contexts[command] for piece in cut[latex]})
        reads = [reader.read(piece) for piece in pieces if command in _COMMAND.findall(piece)]
        reads = [item for item in reads if not item.outside]
        named = sum(bool(name.search(item.found)) for item in reads)
        unknown = sum(f"the command {command}, which is not read" in item.found for item in reads)
        if named:
            refused[command] = {"rank": 0, "formulas": len(reads), "refused": named, "unknown": unknown}
    ranks = {command: rank for rank, (command, _) in enumerate(total.most_common(COMMANDS), start=1)}
    for command, row in refused.items():
        row["rank"] = ranks[command]
    return {
        "distinct": len(total),
        "looked_up": len(ranks),
        "share_of_occurrences": share(sum(total[command] for command in ranks), total.total()),
        "refused": refused,
        "unknown": sorted(command for command, row in refused.items() if row["unknown"]),
        "never_read": sorted(command for command, row in refused.items() if row["refused"] == row["formulas"]),
    }


# The report -------------------------------------------------------------------------------------------------


def found_in(texts: Iterable[str], reader: Reader) -> list[str]:
    """Every formula that `extract` finds, noting what it cut short."""
    formulas = []
    for text in texts:
        for item in extract(text):
            formulas.append(item.latex)
            if cut_short(text, item.span[1]):
                reader.cut.add(item.latex)
    return formulas


def further(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Those of the further files that are there, with their texts."""
    for file, of_text in MORE.items():
        if (folder / file).is_file():
            yield file, [json.loads(line)[of_text] for line in (folder / file).read_text("utf-8").splitlines()]


def save(reader: Reader, file: Path) -> None:
    """Write each formula with what is read of it, empty if it is not read."""
    rows = ({"latex": latex, "read": "" if item.found else str(parse(latex))} for latex, item in reader.done.items())
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def newly_read(reader: Reader, before: Path, n_shown: int, seed: int) -> Iterator[str]:
    """Lines of a sample of the formulas that are read now and were not, or not found, in a saved run."""
    old = {row["latex"] for row in map(json.loads, before.read_text("utf-8").splitlines()) if row["read"]}
    gained = sorted(latex for latex, item in reader.done.items() if not item.found and latex not in old)
    yield f"{len(gained)} formulas are read now and were not"
    for latex in random.Random(seed).sample(gained, min(n_shown, len(gained))):
        yield f"  {latex!r}\n      {parse(latex)}"


def measure(folder: Path, reader: Reader, *, verbose: bool) -> dict[str, Any]:
    """All figures."""
    parse("x")  # the grammar is loaded before anything is timed
    read = {file: texts(folder, file) for file in FIELDS}
    found = {
        "formulas.jsonl, as they stand": read["formulas.jsonl"],
        "formulas.jsonl, cut": found_in((f"$$ {latex} $$" for latex in read["formulas.jsonl"]), reader),
        "worked.jsonl": found_in(read["worked.jsonl"], reader),
        "rollouts.jsonl": found_in(read["rollouts.jsonl"], reader),
    }
    cut = [latex for source, formulas in found.items() if "stand" not in source for latex in formulas]
    more = {file: found_in(each, reader) for file, each in further(folder)}
    sources = found | {"all but those as they stand": cut} | more
    raw = [*read["formulas.jsonl"], *delimited([*read["worked.jsonl"], *read["rollouts.jsonl"]])]
    return {
        "sources": {source: summary(formulas, reader, verbose=verbose) for source, formulas in sources.items()},
        "commands": commands(raw, reader),
    }


def report(result: dict[str, Any]) -> None:
    for source, row in result["sources"].items():
        print(f"\n{source}: {row['formulas']} distinct of {row['formulas_all']}")
        shares = ", ".join(f"{word} {row[f'share_{word}']:.2%}" for word in ("parsed", "outside", "failed"))
        print(f"  {shares}")
        print(
            f"  of mathematics {row['share_read']:.2%} read (each time it stands {row['share_read_all']:.2%};"
            f" with broken and truncated {row['share_read_with_broken']:.2%};"
            f" by the reader's kinds {row['share_read_by_kind']:.2%}: {row['disputed']})"
        )
        print(f"  outside: {', '.join(f'{kind} {count}' for kind, count in row['outside_by_kind'].items())}")
        print(f"  time: {row['time']}")
        for reason in row["reasons"]:
            print(f"  {reason['formulas']:6}  {reason['found']}")
        print(f"  {row['reasons_more']:6}  other reasons")
        for key, examples in row.get("examples", {}).items():
            print(f"    {key}")
            for latex in examples:
                print(f"        {latex!r}")
    table = result["commands"]
    print(f"\n{table['looked_up']} most frequent commands of {table['distinct']}; refused by name somewhere:")
    for command, row in table["refused"].items():
        print(
            f"  {row['rank']:4} {command}: {row['refused']} of {row['formulas']} formulas, {row['unknown']} as unknown"
        )
    print(f"never read: {', '.join(table['never_read']) or 'none'}")


def main() -> int:
    parser = script.parser("How much real LaTeX is read.", data=DATA)
    parser.add_argument("--verbose", action="store_true", help="with examples; for the terminal only")
    parser.add_argument("--save", type=Path, help="write what is read of each formula")
    parser.add_argument("--beside", type=Path, help="a saved file: show what is read since then")
    parser.add_argument("--sample", type=int, default=100, help="how many of these")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if absent := missing(options.data):
        print(f"{options.data}: no {', '.join(absent)}; nothing measured", file=sys.stderr)
        return NO_DATA
    reader = Reader()
    result = measure(options.data, reader, verbose=options.verbose and not options.json)
    if options.save:
        save(reader, options.save)
    script.tell(result, report, as_json=options.json)
    if options.beside:
        print(*newly_read(reader, options.beside, options.sample, options.seed), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
