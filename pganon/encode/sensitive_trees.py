"""Hierarchies over sensitive values, which the hierarchical distance is taken in.

sleaves<j>   (value, n)      distinct values that are not NULL, in the type of the leaves
spath<j>     (code, path)    keys of every value and its ancestors, lowest first, without the root

The key of an ancestor is the lowest code below it, so keys are unique within a level. NULL is a
child of the root of its own: its own ancestor on every level below the root.
"""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from pganon.encode.work import sensitive_values
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import quote
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, query, union_all
from pganon.steps import CreateTable, Name, State, Step


def sensitive_tree_steps(item: Sensitive, base_dir: Path) -> list[Step]:
    """From `sdict<j>` to `spath<j>`; nothing where the column has no hierarchy."""
    if item.hierarchy is None:
        return []
    j = item.index
    name = quote(item.column.name)
    return [
        leaves_step(item, lambda s: s.work(sensitive_values(j))),
        *hierarchy_steps(
            f"s{j}", item.hierarchy, lambda s: s.work(f"sleaves{j}"), item.leaf_type, base_dir, name
        ),
        CreateTable(
            f"sensitive_paths{j}",
            f"ancestors of every value of {name}",
            lambda s: s.work(f"spath{j}"),
            lambda s: _paths(item, s),
        ),
    ]


def leaves_step(item: Sensitive, values: Name) -> CreateTable:
    """`sleaves<j>` from the values of a dictionary."""
    return CreateTable(
        f"sensitive_leaves{item.index}",
        f"values of {quote(item.column.name)} that need an ancestor",
        lambda s: s.work(f"sleaves{item.index}"),
        lambda s: query(
            "select :value as value, d.n from d where d.value is not null",
            {"d": values(s)},
            value=leaf(item, "d"),
        ),
    )


def leaf(item: Sensitive, table: str) -> exp.Expr:
    """A value of the dictionary, where numbers with fractions are texts, as a leaf."""
    value = col("value", table)
    if item.leaf_type == "numeric" and item.column.kind in ("numeric", "float"):
        return cast(value, "numeric")
    return value


def _paths(item: Sensitive, state: State) -> exp.Expr:
    tables = {"d": state.work(sensitive_values(item.index)), "t": state.work(f"tree_s{item.index}")}
    flat = query(
        "select d.code, x.level, x.label from d join t on t.value = :leaf"
        " cross join lateral unnest(t.labels) with ordinality as x(label, level)"
        " where x.level < cardinality(t.labels)",
        tables,
        leaf=leaf(item, "d"),
    )
    keyed = query(
        "select f.code, f.level,"
        ' min(f.code) over (partition by f.level, f.label collate "C") as node from f',
        {"f": flat},
    )
    valued = query(
        "select k.code, array_agg(k.node order by k.level) as path from k group by k.code",
        {"k": keyed},
    )
    missing = query(
        "select d.code, array_fill(d.code, array[(select coalesce(max(cardinality(t.labels)), 2)"
        " - 1 from t)]) as path from d where d.value is null",
        tables,
    )
    return union_all([valued, missing])
