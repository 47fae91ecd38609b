"""Pages and their documents, as commands write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pganon import files
from pganon.errors import UsageError
from pganon.report.template import as_json, is_page


def check_output(output: Path, *, force: bool) -> None:
    """Before anything is computed for the file.

    Raises:
        UsageError: it has another ending, or is there.
    """
    is_page(output)
    if output.exists() and not force:
        raise UsageError(f"{output} exists", hint="choose another name, or add --force")


def as_text(
    output: Path, document: Mapping[str, Any], page: Callable[[Mapping[str, Any]], str]
) -> str:
    """The page or the document, as the name of the file says."""
    return page(document) if is_page(output) else as_json(document)


def write_private(output: Path, text: str) -> None:
    """For its owner alone."""
    with files.writing(output, private=True) as file:
        file.write(text.encode())


def program() -> str:
    """What makes the file."""
    return f"pganon {version('pganon')}"
