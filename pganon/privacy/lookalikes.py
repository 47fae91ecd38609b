"""Sensitive values that differ in spelling alone: models count each, readers take them for one."""

from __future__ import annotations

from pganon.identifiers import quote


def warning(name: str, number: int) -> str:
    """Of a column in which so many values, as `pganon.looks` sees them, have several spellings."""
    return (
        f"{number} values of the sensitive column {quote(name)} are there in several spellings,"
        " which differ in nothing but case, blanks, invisible characters or the composition of"
        " letters, or are empty and NULL; every spelling counts as a value, so that groups may be"
        " less diverse than measured; make them one in a view over the source"
    )
