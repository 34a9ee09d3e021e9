"""The Jinja environment of the desk: autoescape, visible signs, formulas as MathML, labels in a language.

Templates and style are those of the reports where they can be. What a file, a student or a model says is text
wherever a template writes it; the policy lets nothing run but the two scripts that the desk serves itself.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from prism.desk.words import LANGUAGES, words_of
from prism.errors import count_of
from prism.latex import one_line
from prism.reports.html.markup import prose
from prism.reports.html.mathml import as_mathml
from prism.reports.html.rendering import visible_value

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy: the desk's own files, no inline script or style, no other origin, no form without htmx."""

HEADERS = {
    "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cache-control": "no-store", "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}  # fmt: skip

STATIC = {
    "htmx.min.js": "text/javascript", "desk.js": "text/javascript", "desk.css": "text/css",
}  # fmt: skip
_STYLES = (FOLDER.parent / "reports" / "html" / "page.css", FOLDER / "static" / "desk.css")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the Jinja environment of the templates; cached."""
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined,
        finalize=visible_value, trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    found.filters.update(count=count_of, mathml=as_mathml, prose=prose, one_line=one_line)
    return found


def rendered(template: str, language: str, **values: object) -> str:
    """Render `templates/TEMPLATE.html.jinja` with the labels of a language as `w`."""
    labels = SimpleNamespace(**words_of(language))  # a dictionary would give a template its methods, as `items`
    known = {"w": labels, "language": language, "languages": LANGUAGES}
    return environment().get_template(f"{template}.html.jinja").render(**known, **values)


@lru_cache(maxsize=len(STATIC))
def static_text(name: str) -> str:
    """Return a file of the desk by one of the names of `STATIC`; the style sheet holds that of the reports too."""
    if name == "desk.css":
        return "".join(path.read_text(encoding="utf-8") for path in _STYLES)
    return (FOLDER / "static" / name).read_text(encoding="utf-8")
