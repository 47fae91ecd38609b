"""Records of classes, in an order that depends on published columns alone."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.combination import cell_columns
from pganon.encode.records import ties
from pganon.encode.work import CODED
from pganon.forms.work import GROUPED_CLASSES
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, equal, named
from pganon.steps import State


def cell_keys(spec: ReleaseSpec, state: State) -> list[str]:
    """Columns that say which cell a record is in."""
    return ["rid"] if spec.numbers_records else cell_columns(spec, state)


def same_cell(spec: ReleaseSpec, state: State, left: str, right: str) -> exp.Expr:
    return equal(cell_keys(spec, state), left, right)


def unchanged(spec: ReleaseSpec) -> list[tuple[str, Sensitive | Carried]]:
    """Work column and declaration of every column that is published unchanged."""
    sensitive: list[tuple[str, Sensitive | Carried]] = [
        (f"v{item.index}", item) for item in spec.sensitive
    ]
    return sensitive + [(f"p{item.index}", item) for item in spec.carried]


Owned = tuple[exp.Select, exp.Expr]


def records_of_classes(
    spec: ReleaseSpec, state: State, owned: Callable[[exp.Select], Owned] | None = None
) -> exp.Select:
    """SELECT class_id and the columns that are published unchanged, ordered by published values.

    `owned` adds to the records `c` a column after the class: it returns the SELECT with its joins,
    and the column.
    """
    tree = exp.select(col("class_id", "g")).from_(aliased(state.work(CODED), "c"))
    tree = tree.join(
        aliased(state.work(GROUPED_CLASSES), "g"),
        on=same_cell(spec, state, "g", "c"),
    )
    order: list[exp.Expr] = [col("class_id", "g")]
    if owned is not None:
        tree, owner = owned(tree)
        tree = tree.select(owner)
        order.append(owner.copy())
    for name, item in unchanged(spec):
        tree = tree.select(named(col(name, "c"), item.published))
    order += [col(name, "c") for name, _ in unchanged(spec)]
    order += [tie for name, item in unchanged(spec) for tie in ties(item, col(name, "c"))]
    return tree.order_by(*order)
