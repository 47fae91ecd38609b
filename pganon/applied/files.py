"""Folders of policies."""

from __future__ import annotations

from pathlib import Path

from pganon.errors import UsageError

SUFFIXES = (".yaml", ".yml", ".json")


def policy_files(path: Path) -> list[Path]:
    """The policies of a folder by name, or the file itself.

    Raises:
        UsageError: a folder without any.
    """
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not found:
        raise UsageError(f"{path} has no policies", hint=f"files end in {', '.join(SUFFIXES)}")
    return found
