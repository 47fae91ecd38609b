"""Whether columns of a policy can be divided among tables as its method says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pganon.policy.refusals import Refusal, nearest, show

if TYPE_CHECKING:
    from pganon.methods.common.bucket_options import Tables


def division_refusals(
    option: str, tables: Tables | None, names: Sequence[str]
) -> Iterable[Refusal]:
    """Numbers and lists of tables, given as an option, that the columns cannot be divided into."""
    if isinstance(tables, int) and tables > len(names):
        yield Refusal(
            ("method", option),
            f"{len(names)} columns cannot be divided into {tables}",
            f"write a number up to {len(names)}",
        )
    elif isinstance(tables, tuple):
        yield from _wrong_lists(("method", option), tables, names)


def _wrong_lists(
    at: tuple[str, ...], tables: Sequence[Sequence[str]], names: Sequence[str]
) -> Iterable[Refusal]:
    listed = [name for table in tables for name in table]
    for name in dict.fromkeys(listed):
        if name not in names:
            yield Refusal(at, f"{show(name)} is not one of the columns", nearest(name, names))
        elif listed.count(name) > 1:
            yield Refusal(at, f"column {show(name)} is listed twice", "keep it in one list")
    for name in names:
        if name not in listed:
            yield Refusal(at, f"column {show(name)} is in no list", "add it to one")
