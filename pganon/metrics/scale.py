"""The scale of a version that grows: all values that the source has and groups show."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.semi_sensitive import applies
from pganon.encode.snapshot import infinite
from pganon.identifiers import quote
from pganon.resolved.increments import WHOLE
from pganon.resolved.model import Attribute
from pganon.sqltools import cast, col, fragment, query, stacked
from pganon.steps import CreateTable, State, table


def values_step(attribute: Attribute, shown: Callable[[State], exp.Select | None]) -> CreateTable:
    """Step that makes `values<i>`, as :mod:`pganon.encode.dictionaries` has it.

    Args:
        shown: SELECT value: what groups show, by :func:`in_type`; None where that says nothing.
    """
    i = attribute.index
    return table(
        f"values{i}",
        f"all values of {quote(attribute.column.name)}, of the source and of groups",
        lambda s: _values(attribute, shown(s), s),
    )


def in_type(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """A published value in the type of those of the source."""
    if attribute.column.kind == "float":
        value = cast(value, "text")  # with all digits, as in the snapshot
    value = cast(value, attribute.value_type)
    return fragment(':v collate "C"', v=value) if attribute.value_type == "text" else value


def _values(attribute: Attribute, shown: exp.Select | None, state: State) -> exp.Select:
    """SELECT value, n."""
    source = query(
        "select :q as value from t",
        {"t": state.outer.work(WHOLE)},
        q=col(f"q{attribute.index}", "t"),
    )
    open_ = applies(attribute, "t")
    if open_ is not None:
        source = source.where(open_)
    nowhere = infinite(attribute.column, f"q{attribute.index}")
    if nowhere is not None:
        source = source.where(fragment("(:nowhere) is not true", nowhere=nowhere))
    values = stacked([source, *([] if shown is None else [shown])])
    return query("select v.value, count(*) as n from v group by v.value", {"v": values})
