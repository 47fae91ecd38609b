"""Whether the columns of a policy can be divided among tables as its method says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pganon.policy.anatomized import Slicing
from pganon.policy.refusals import Refusal, nearest, show

if TYPE_CHECKING:
    from pganon.policy.anatomized import Tables
    from pganon.policy.methods import ANY
    from pganon.policy.model import Column

_DIVIDED = {
    "sensitive_tables": ("sensitive",),
    "quasi_tables": ("quasi_identifying",),
    "columns": ("quasi_identifying", "sensitive"),
}
"""Options that divide the columns of these roles among tables."""


def of_role(columns: Mapping[str, Column | None], role: str) -> list[str]:
    """Names of the columns with a role, in the policy's order."""
    return [name for name, column in columns.items() if column and column.role == role]


def division_refusals(method: ANY, columns: Mapping[str, Column | None]) -> Iterable[Refusal]:
    """Numbers and lists of tables that the columns cannot be divided into."""
    if None in columns.values():
        return
    for key, roles in _DIVIDED.items():
        tables: Tables | None = getattr(method, key, None)
        names = [name for role in roles for name in of_role(columns, role)]
        if isinstance(tables, int) and tables > len(names):
            yield Refusal(
                ("method", key),
                f"{len(names)} columns cannot be divided into {tables}",
                f"write a number up to {len(names)}",
            )
        elif isinstance(tables, tuple):
            yield from _wrong_lists(("method", key), tables, names)
    if isinstance(method, Slicing):
        quasi = len(of_role(columns, "quasi_identifying"))
        yield from _one_table(method, quasi)
        yield from _wrong_alpha(method, quasi)


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


def _one_table(method: Slicing, quasi: int) -> Iterable[Refusal]:
    """Slicing that unlinks nothing, since everything is in one table."""
    columns = method.columns
    auto = columns == "auto" and quasi == 1 and method.alpha is None
    if auto or columns == 1 or (isinstance(columns, tuple) and len(columns) == 1):
        yield Refusal(
            ("method", "columns"),
            "one table would hold all quasi-identifiers together with the sensitive column",
            "write columns: 2",
        )


def _wrong_alpha(method: Slicing, quasi: int) -> Iterable[Refusal]:
    """A sensitive table that takes columns which the other tables need."""
    alpha, columns = method.alpha, method.columns
    if alpha is None or quasi == 0 or columns == 1:
        return
    if isinstance(columns, tuple):
        yield Refusal(
            ("method", "alpha"),
            "the lists of columns already say what stands with the sensitive column",
            "remove alpha",
        )
        return
    others = 1 if columns == "auto" else columns - 1
    left = max(quasi + 1 - alpha, 0)
    if left < others:
        most = quasi + 1 - others
        yield Refusal(
            ("method", "alpha"),
            f"a sensitive table of {alpha} columns leaves {left} of {quasi} quasi-identifiers for"
            f" {others} other table{'s' * (others > 1)}",
            f"write a number up to {most}" if most > 0 else "write fewer columns",
        )
