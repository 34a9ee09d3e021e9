"""The Jinja environment of the page: how values get into HTML, and by what names templates call.

Autoescape is on, and `visible` is applied to every value that is no markup, so that what a solution, a model or a file
says is text wherever a template writes it. Markup is made by templates, by `svg` and by `mathml` alone. An unknown name
in a template is an error.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from prism.errors import count_of
from prism.latex import one_line
from prism.reports.agreement import LEVEL, REASONS, Estimate
from prism.reports.html.markup import prose, visible
from prism.reports.html.mathml import as_mathml
from prism.reports.ratings import UNALIGNED
from prism.reports.summary import BINS
from prism.reports.table_formats import is_new_group, short_reason, shown_rows

_CACHE_SIZE = 4_096  # results of each: a report shows each reference formula, and each reason, in many tables
_CACHED_MACROS = ("formula", "plain_formula", "node_cells", "status_cells", "match_reason")  # of `elements.html.jinja`


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the Jinja environment of the templates in `templates/`, with autoescape, filters and globals; cached."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True, undefined=StrictUndefined,
        finalize=visible_value, trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    found.filters.update(
        count=count_of, mathml=as_mathml, percent=_percent_text, prose=prose, reason=short_reason, one_line=one_line,
        signed_decimal=_signed_decimal, runs=_runs, shown_rows=shown_rows, is_new_group=is_new_group, px=px,
        joined=_joined,
        **{name: _cached_filter(name) for name in _CACHED_MACROS},
    )  # fmt: skip
    found.globals.update(BINS=BINS, LEVEL=LEVEL, REASONS=REASONS, UNALIGNED=UNALIGNED)
    return found


def page(template: str, *, styles: Iterable[str] = ("page.css",), script: str = "", **values: object) -> str:
    """Render `templates/TEMPLATE.html.jinja` with style sheets, and a script that its policy allows by the hash."""
    return environment().get_template(f"{template}.html.jinja").render(**own_files(styles, script), **values)


def own_files(styles: Iterable[str], script: str = "") -> dict[str, Markup]:
    """Return style and script of a page, and the hash of the script; both are empty without one."""
    folder = Path(__file__).parent
    code = (folder / script).read_text(encoding="utf-8") if script else ""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() if script else ""
    style = "".join((folder / name).read_text(encoding="utf-8") for name in styles)
    return {"script": Markup(code), "script_hash": Markup(digest), "style": Markup(style)}  # noqa: S704 - our files


@lru_cache(maxsize=32)
def macro(template: str, name: str) -> Callable[..., Markup]:
    """Return a macro of `templates/TEMPLATE.html.jinja` as a function of its arguments that returns HTML; cached."""
    found: Callable[..., Markup] = getattr(environment().get_template(f"{template}.html.jinja").module, name)
    return found


def _cached_filter(name: str) -> Callable[..., Markup]:
    """Return the macro `name` of `elements.html.jinja` as a filter of hashable values, with a cache of results."""

    @lru_cache(maxsize=_CACHE_SIZE)
    def render(*values: Hashable) -> Markup:
        """Render the macro with these values."""
        return macro("elements", name)(*values)

    return render


def visible_value(value: object) -> object:
    """Return markup and integers as they are, and anything else as text with invisible characters written out.

    Jinja calls this for each interpolated value, and escapes the result afterwards.
    """
    if type(value) is str:  # most values: 640 rollouts interpolate 200,000
        return visible(value)
    return value if isinstance(value, (Markup, int)) else visible(str(value))


def px(value: float) -> str:
    """Write a length or coordinate of a drawing [px] with at most one decimal: `3`, `2.5`."""
    return f"{value:.1f}".removesuffix(".0")


def _joined(html: Markup) -> Markup:
    """Return markup without the ends of its lines and the blanks around them."""
    return Markup("").join(line.strip() for line in html.split("\n"))


def _percent_text(estimate: Estimate) -> str:
    """Write an estimate as a percentage with one decimal: `12.5%`; a dash without a value."""
    return "–" if estimate.value is None else f"{estimate.value:.1%}"


def _signed_decimal(value: float) -> str:
    """Write a number with three decimals, -0.0004 as `0.000`."""
    return f"{round(value, 3) + 0.0:.3f}"


def _runs(items: Iterable[object], attribute: str) -> list[tuple[object, list[object]]]:
    """Gather neighbours with the same value of an attribute: that value, and the items."""
    return [(value, list(own)) for value, own in groupby(items, key=attrgetter(attribute))]
