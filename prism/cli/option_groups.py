"""Options as fields of a frozen dataclass: a command takes one value for many options, and hands it on as it is.

`option`, `switch` and `names` declare a field, `with_options` makes options of them. Refused: a parameter for each
option, which a command of twenty hands on one by one to whoever uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer

from prism.cli.options import names_option

_OPTION = "option"  # of the metadata of a field


def option(help_text: str, default: Any = None, *flags: str, **shown: Any) -> Any:
    """Return a field that is an option.

    Args:
        help_text: what `--help` says of it.
        default: a value that cannot be changed.
        flags: `--min-mean`; without any, the name of the field.
        shown: as of `typer.Option`.
    """
    return field(default=default, metadata={_OPTION: typer.Option(*flags, help=help_text, **shown)})


def switch(help_text: str, *flags: str, **shown: Any) -> Any:
    """Return a field that is True where one of the flags is given."""
    return option(help_text, False, *flags, **shown)


def names(help_text: str, *flags: str, **shown: Any) -> Any:
    """Return a field that is an option of a list of names, as `names_option` has it."""
    return field(default_factory=list, metadata={_OPTION: names_option(*flags, help=help_text, **shown)})


def with_options(command: Callable[..., None], *, without: Collection[str] = ()) -> Callable[..., None]:
    """Return a command that has an option for each field of a parameter that is a dataclass, in its place.

    Args:
        without: fields that are no options of this command, and keep their defaults.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    taken: list[Parameter] = []
    for one in signature(command).parameters.values():
        kind = hints[one.name]
        taken += _options_of(kind, without) if one.name in groups else [one.replace(annotation=kind)]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind) if each.name in given})
        command(**given)

    run.__signature__ = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in taken])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in taken}
    return run


def _options_of(kind: Any, without: Collection[str]) -> Iterator[Parameter]:
    """Yield a parameter for each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        if each.name not in without:
            said = each.metadata.get(_OPTION)
            default = each.default if each.default_factory is MISSING else each.default_factory()
            annotation = hints[each.name] if said is None else Annotated[hints[each.name], said]
            given = Parameter.empty if default is MISSING else default
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=given, annotation=annotation)
