"""Pages and their documents, as commands write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pganon import files
from pganon.errors import UsageError
from pganon.plain import as_json

ENDINGS = (".html", ".json")


def check_output(output: Path, *, force: bool) -> None:
    """Before anything is computed for the file.

    Raises:
        UsageError: it has another ending, or is there.
    """
    if output.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"{output}: the name of a report ends in .html or .json", hint="for example report.html"
        )
    if output.exists() and not force:
        raise UsageError(f"{output} exists", hint="choose another name, or add --force")


def as_text(
    output: Path, document: Mapping[str, Any], page: Callable[[Mapping[str, Any]], str]
) -> str:
    """The page or the document, as the name of the file says."""
    if output.suffix.lower() == ".html":
        return page(document)
    return f"{as_json(document, kept=True, indent=2, sort_keys=True)}\n"


def write_private(output: Path, text: str) -> None:
    """For its owner alone."""
    with files.writing(output, private=True) as file:
        file.write(text.encode())


def program() -> str:
    """What makes the file."""
    return f"pganon {version('pganon')}"
