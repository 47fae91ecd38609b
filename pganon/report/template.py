"""How pages are made of documents: one file that loads and runs nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pganon import plain
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.report import words

if TYPE_CHECKING:
    from jinja2 import Environment

Document = Mapping[str, Any]

KINDS = {
    "count": words.count,
    "percent": words.percent,
    "number": words.number,
    "points": words.points,
}
"""How figures of the document are written."""

FONTS = {"Report Sans": ("inter", "400 600"), "Report Serif": ("source-serif", "400")}
"""By the name that the style uses: the file, a subset of Inter and of Source Serif 4, and the
weights in it. Letters that are not in it are those of the reader's own fonts."""


def render(name: str, document: Document, drawings: Mapping[str, Any], **texts: Any) -> str:
    """A page from a document alone.

    Args:
        name: of the template.
        drawings: charts, which escape their texts themselves.
        texts: what the template needs beside the document.

    Raises:
        PreconditionError: no_jinja2.
    """
    environment, from_markup = _environment()
    template = environment.get_template(name)

    def fig(path: str, kind: str) -> str:
        shown = KINDS[kind](at(document, path))
        return from_markup('<span data-figure="{}" data-kind="{}">{}</span>').format(
            path, kind, shown
        )

    def said(path: str) -> Any:
        """A sentence of texts and figures."""
        shown = from_markup()
        for place, part in enumerate(at(document, path)):
            if isinstance(part, str):
                shown += words.plain(part, 2000)
            else:
                shown += fig(f"{path}.{place}.value", part["kind"])
        return shown

    return template.render(
        {**document, "fig": fig, "said": said, **texts},
        drawings={name: _marked(found, from_markup) for name, found in drawings.items()},
        css=from_markup(_style()),
        json=from_markup(as_script(document)),
    )


@cache
def _style() -> str:
    """The style with its fonts, as nothing is loaded."""
    folder = files("pganon.report")
    faces = [
        f'@font-face{{font-family:"{name}";font-weight:{weights};src:url(data:font/woff2;base64,'
        f"{b64encode(folder.joinpath(f'fonts/{file}.woff2').read_bytes()).decode()}"
        ') format("woff2")}\n'
        for name, (file, weights) in FONTS.items()
    ]
    return "".join(faces) + folder.joinpath("page.css").read_text("utf-8")


def at(document: Document, path: str) -> Any:
    """The figure at a path such as `risk.release.highest`."""
    found: Any = document
    for part in path.split("."):
        found = found[int(part)] if isinstance(found, list | tuple) else found[part]
    return found


def is_page(output: Path) -> bool:
    """Whether the file is a page, or JSON, which its name alone says.

    Raises:
        UsageError: it has another ending.
    """
    match output.suffix.lower():
        case ".html":
            return True
        case ".json":
            return False
        case _:
            raise UsageError(
                f"{output}: the name of a report ends in .html or .json",
                hint="for example report.html",
            )


def as_json(document: Document) -> str:
    """The document as a file."""
    return f"{plain.as_json(document, kept=True, indent=2, sort_keys=True)}\n"


def as_script(document: Document) -> str:
    """The document as JSON that no browser takes for the end of a script."""
    text = plain.as_json(document, kept=True, sort_keys=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _marked(found: Any, from_markup: Any) -> Any:
    if isinstance(found, list):
        return [_marked(one, from_markup) for one in found]
    if isinstance(found, dict):
        return {name: _marked(one, from_markup) for name, one in found.items()}
    return found and from_markup(found)


def _environment() -> tuple[Environment, Any]:
    """And what marks texts as HTML."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise PreconditionError(
            "the page of a report needs the package jinja2, which is not installed",
            hint="pip install 'pganon[report]', or write the report as .json",
            code=ErrorCode.NO_JINJA2,
        ) from None
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
    return environment, Markup
