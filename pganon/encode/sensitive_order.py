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
from pganon.encode.orders import order_steps, order_table
from pganon.encode.sensitive import hidden_values
from pganon.encode.sensitive_trees import leaf, leaves_step
from pganon.encode.trees import downwards
from pganon.encode.work import sensitive_values
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, query
from pganon.steps import CreateTable, State, Step


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
