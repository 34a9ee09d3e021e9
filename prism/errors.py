"""What an author can get wrong, and the one thing a reader of LaTeX can: every exception PRISM raises on purpose.

Exceptions hold typed attributes and survive pickling, because workers and RL actors send them between
processes. A student's text never raises: see `prism.grading.pipeline`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from fractions import Fraction


class PrismError(ValueError):
    """Base of all errors that PRISM raises on purpose; also a ValueError."""


def raise_faults(faults: Iterable[str], file: str = "") -> None:
    """Raise all faults, if there are any, as one PrismError with one a line; of a file as a DataFileError."""
    if told := (*faults,):
        raise DataFileError(file, told) if file else PrismError("\n".join(told))


@contextmanager
def noted(faults: list[str], about: str = "") -> Iterator[None]:
    """Add a PrismError that is raised within to the faults, behind what it is about, and go on."""
    try:
        yield
    except PrismError as error:
        faults.append(f"{about}{error}")


@contextmanager
def in_file(file: str, about: str = "") -> Iterator[None]:
    """Turn a PrismError that is raised within into a DataFileError, with what it is about before its words."""
    try:
        yield
    except PrismError as error:
        raise DataFileError(file, (f"{about}{error}",)) from error


@contextmanager
def importing(needs: str) -> Iterator[None]:
    """Turn an import within that fails into a PrismError: what is to be installed, in words as of `needs_extra`."""
    try:
        yield
    except ImportError as error:
        raise PrismError(needs) from error


class DataFileError(PrismError):
    """Raised for a data file (problem, constants table, units table) that cannot be used.

    Attributes:
        file: name of the file or `<dict>`, `<string>`.
        faults: all faults found, each naming entry and field.
    """

    def __init__(self, file: str, faults: tuple[str, ...]) -> None:
        """Store file and faults; the message has one line per fault."""
        self.file = file
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{file}: {fault}" for fault in self.faults))

    def __reduce__(self) -> tuple[type[DataFileError], tuple[str, tuple[str, ...]]]:
        """Pickle by the constructor's arguments, since the message alone would not rebuild the error."""
        return type(self), (self.file, self.faults)


class DagError(PrismError):
    """Raised for a reference DAG with a cycle, an unknown prerequisite, or a node that reaches no final answer.

    Attributes:
        faults: all faults found, each naming the node.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        """Store the faults; the message has one line per fault."""
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))

    def __reduce__(self) -> tuple[type[DagError], tuple[tuple[str, ...]]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.faults,)


class LatexSyntaxError(PrismError):
    """Raised for LaTeX that the grammar cannot parse.

    Attributes:
        latex: the text that was read.
        position: offset of the fault in `latex`, counted in characters from 0.
        found: what stands there, in a reader's words.
        expected: what could have stood there, in a reader's words; may be empty.
        kind: `syntax` (not read), `ambiguous` (two readings), `limit` (too long or too deep), `contradiction` (joined
            to a false statement), or what it is instead of mathematics: `prose`, `table`, `chemistry`, `figure`,
            `fragment` (a piece of a word or formula).
    """

    def __init__(
        self, latex: str, position: int, found: str, expected: tuple[str, ...] = (), kind: str = "syntax"
    ) -> None:
        """Store the arguments and build a message with line, column and a caret under the fault."""
        self.latex = latex
        self.position = position
        self.found = found
        self.expected = tuple(expected)
        self.kind = kind
        super().__init__(self._message())

    def _message(self) -> str:
        """Return the message: line and column, what is wrong, the text around it and a caret below the fault."""
        before = self.latex[: self.position]
        line = before.count("\n") + 1
        column = self.position - (before.rfind("\n") + 1) + 1
        start = max(0, self.position - 30)
        window = self.latex[start : self.position + 30].replace("\n", " ")
        caret = " " * (self.position - start) + "^"
        tail = f"; expected {' or '.join(self.expected)}" if self.expected else ""
        return f"line {line}, column {column}: {self.found}{tail}\n  {window}\n  {caret}"

    def __reduce__(self) -> tuple[type[LatexSyntaxError], tuple[str, int, str, tuple[str, ...], str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.latex, self.position, self.found, self.expected, self.kind)


class ConversionError(PrismError):
    """Raised for a formula or quantity that another library, or PRISM, has no object for; nothing is changed silently.

    Attributes:
        library: where it was to be carried: `sympy`, `symengine`, `pint` or `PRISM`.
        construct: what has no counterpart there, such as `commutator`.
        detail: the part of the formula, or why; may be empty.
    """

    def __init__(self, library: str, construct: str, detail: str = "") -> None:
        """Store the arguments and build a message of one line."""
        self.library = library
        self.construct = construct
        self.detail = detail
        super().__init__(f"{library} cannot carry: {construct}{f' ({detail})' if detail else ''}")

    def __reduce__(self) -> tuple[type[ConversionError], tuple[str, str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.library, self.construct, self.detail)


def count_of(n: int | Fraction, noun: str) -> str:
    """Write a count with its noun, which takes an s in the plural.

    >>> count_of(1, "rollout"), count_of(0, "rollout")
    ('1 rollout', '0 rollouts')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def needs_extra(what: str, extra: str) -> str:
    """Say that something needs an extra that is not installed, and how to install it: PRISM is on no index.

    >>> needs_extra("Parquet files need", "parquet")[:71]
    'Parquet files need the extra parquet: pip install ".[parquet]" in the c'
    """
    wheel = f"prism_dag-VERSION-py3-none-any.whl[{extra}]"
    return f'{what} the extra {extra}: pip install ".[{extra}]" in the checkout, or its wheel as "{wheel}"'


def named_type(value: object) -> str:
    """Name the type of a value for an error message: `nothing` for None."""
    return "nothing" if value is None else f"a value of type {type(value).__name__}"
