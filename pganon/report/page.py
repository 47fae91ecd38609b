"""The page of a report: one file that loads and runs nothing, made from the document alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.report import words
from pganon.report.charts import bars, errors, risk, values, versions
from pganon.report.sentences import sentences

if TYPE_CHECKING:
    from jinja2 import Environment

Document = Mapping[str, Any]

KINDS = {
    "count": words.count,
    "percent": words.percent,
    "number": words.number,
}
"""How figures of the document are written."""


def page(report: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    from_markup = _markup()
    template = _environment().get_template("page.html.j2")

    def fig(path: str, kind: str) -> str:
        shown = KINDS[kind](at(report, path))
        return from_markup('<span data-figure="{}" data-kind="{}">{}</span>').format(
            path, kind, shown
        )

    return template.render(
        {**report, "fig": fig},
        words=sentences(report),
        drawings={name: _marked(found, from_markup) for name, found in _drawings(report).items()},
        css=from_markup(files("pganon.report").joinpath("page.css").read_text()),
        json=from_markup(as_script(report)),
    )


def at(report: Document, path: str) -> Any:
    """The figure at a path such as `risk.release.highest`."""
    found: Any = report
    for part in path.split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found


def as_script(report: Document) -> str:
    """The document as JSON that no browser takes for the end of a script."""
    text = json.dumps(report, sort_keys=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _drawings(report: Document) -> dict[str, Any]:
    sizes = report["risk"]["sizes"]
    return {
        "risk": risk.risk(report["risk"]),
        "sizes": bars.sizes(sizes["release"], sizes["source"]) if sizes["release"] else None,
        "by_value": [values.values(item) for item in report["sensitive"]],
        "commonest": [bars.commonest(item) for item in report["sensitive"]],
        "distributions": [
            bars.distribution(item["distribution"]) if "distribution" in item else None
            for item in report["attributes"]
        ],
        "queries": errors.errors(report["queries"]),
        "versions": versions.versions(report["versions"]["versions"]),
    }


def _marked(found: Any, from_markup: Any) -> Any:
    """Charts escape their texts themselves."""
    if isinstance(found, list):
        return [_marked(one, from_markup) for one in found]
    return found and from_markup(found)


def _markup() -> Any:
    try:
        from markupsafe import Markup
    except ImportError:
        raise _missing() from None
    return Markup


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise _missing() from None
    environment = Environment(
        loader=PackageLoader("pganon.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=False,
    )
    environment.filters |= {
        "name": words.plain,
        "text": lambda text: words.plain(" ".join(text.split()), 2000),
        "sentence": words.sentence,
        "minute": lambda text: words.minute(datetime.fromisoformat(text)),
    }
    return environment


def _missing() -> PreconditionError:
    return PreconditionError(
        "the page of a report needs the package jinja2, which is not installed",
        hint="pip install 'pganon[report]', or write the report as .json",
        code=ErrorCode.NO_JINJA2,
    )
