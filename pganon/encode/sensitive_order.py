"""Hidden values of semi-sensitive columns in the order that the policy declares for the column.

svalues<j>   (code, value, n)   distinct hidden values in their natural order, before they are
                                put in the declared one as `sdict<j>`
sleaves<j>   (value, n)         those that are not NULL, in the type of the leaves
"""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from pganon.catalog.types import canonical_type
from pganon.catalog.values import order_label
from pganon.encode.dictionaries import order_steps, order_table
from pganon.encode.sensitive import hidden_values
from pganon.encode.trees import downwards
from pganon.encode.work import sensitive_values
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, query, union_all
from pganon.steps import CreateTable, Name, State, Step


def ordered_dictionary(spec: ReleaseSpec, item: Sensitive) -> list[Step]:
    """From `snap` to `sdict<j>`; NULL is the last value."""
    name = quote(item.column.name)
    return [
        CreateTable(
            f"hidden_values{item.index}",
            f"hidden values of {name}",
            lambda s: _values(item, s),
            lambda s: hidden_values(spec, item, s),
        ),
        *_place_steps(item, spec.base_dir),
        CreateTable(
            f"sensitive{item.index}",
            f"hidden values of {name} in their order",
            lambda s: s.work(sensitive_values(item.index)),
            lambda s: _ordered(spec, item, s),
        ),
    ]


def _values(item: Sensitive, state: State) -> QualifiedName:
    return state.work(f"svalues{item.index}")


def _name(item: Sensitive) -> str:
    return f"s{item.index}"


def _place_steps(item: Sensitive, base_dir: Path) -> list[Step]:
    if item.order is not None:
        folded = item.column.kind == "citext"  # the dictionary has one text for all spellings
        labels = [label.lower() if folded else label for label in item.order]
        return order_steps(
            _name(item),
            item.column.name,
            labels,
            lambda s: _values(item, s),
            canonical_type(item.column),
        )
    assert item.leaves is not None
    return [
        leaves_step(item, lambda s: _values(item, s)),
        *hierarchy_steps(
            _name(item),
            item.leaves,
            lambda s: s.work(f"sleaves{item.index}"),
            item.leaf_type,
            base_dir,
            quote(item.column.name),
        ),
    ]


def _ordered(spec: ReleaseSpec, item: Sensitive, state: State) -> exp.Expr:
    if item.order is not None:
        place, table = col("place", "o"), order_table(state, _name(item))
        label = order_label(canonical_type(item.column), col("value", "v"))
        on = exp.EQ(this=col("value", "o"), expression=label)
    else:
        place, table = downwards("o"), state.work(f"tree_{_name(item)}")
        on = exp.EQ(this=col("value", "o"), expression=leaf(item, "v"))
    tree = query(
        "select row_number() over (order by :place nulls last, v.code)::int as code from v",
        {"v": _values(item, state)},
        place=place,
    )
    kept = (name for name in sensitive_values(item.index).columns(spec, state) if name != "code")
    tree = tree.select(*[col(name, "v") for name in kept])
    return tree.join(exp.alias_(table.table, "o", table=True, quoted=True), on=on, join_type="left")


# Hierarchies over sensitive values, which the hierarchical distance is taken in.
#
# sleaves<j>   (value, n)      distinct values that are not NULL, in the type of the leaves
# spath<j>     (code, path)    keys of every value and its ancestors, lowest first, without the root
#
# The key of an ancestor is the lowest code below it, so keys are unique within a level. NULL is a
# child of the root of its own: its own ancestor on every level below the root.


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
