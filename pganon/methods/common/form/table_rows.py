"""Rows of a QIT or ST, in an order that depends on its columns alone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.lookups import joined
from pganon.encode.records import ties
from pganon.forms.elements import attribute_columns, element
from pganon.methods.common.form.recode import GENERALIZED
from pganon.policy.options import CLASS_ID, COUNT
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, Carried, Sensitive
from pganon.sqltools import aliased, col, fragment, named, presorted, query
from pganon.steps import State


class Rows:
    """A SELECT over the records that is ordered only by its own columns."""

    def __init__(self, records: Relation, state: State) -> None:
        self.state = state
        self.tree = query("select 1 from r", {"r": records})
        self.shown: list[exp.Expr] = []
        self.order: list[exp.Expr] = []

    def group(self, number: exp.Expr, name: str) -> None:
        self.shown.append(named(number.copy(), name))
        self.order.append(number)

    def exact(self, attributes: tuple[Attribute, ...]) -> None:
        for lookup in joined(axes(attributes), self.state):
            self.tree = lookup.decode(self.tree, self.state, "r")
            self.order.append(lookup.combination(self.state))
            for axis in lookup.axes:
                value = element(axis.attribute, lookup.column(axis, "value"))
                self.shown.append(named(value, axis.attribute.published))

    def generalized(self, attributes: Sequence[Attribute], number: exp.Expr) -> None:
        """Generalized values of a class, the same for all rows with its number."""
        on = exp.EQ(this=col(CLASS_ID, "e"), expression=number.copy())
        table = aliased(self.state.work(GENERALIZED), "e")
        self.tree = self.tree.join(table, on=on)
        names = [column.name for a in attributes for column in attribute_columns(a)]
        self.shown += [named(col(name, "e"), name) for name in names]

    def unchanged(self, item: Sensitive | Carried, column: str) -> None:
        """Values that compare equal but look different are different."""
        value = col(column, "r")
        self.shown.append(named(value.copy(), item.published))
        self.order += [value, *ties(item, value)]

    def select(self, *, counted: bool) -> exp.Select:
        if not counted:
            tree = self.tree.select(*self.shown, append=False)
            return tree.order_by(*[key.copy() for key in self.order])
        values = [*self.order, *[item.this for item in self.shown]]
        inner = {value: f"x{place}" for place, value in enumerate(dict.fromkeys(values))}
        rows = self.tree.select(*[named(v, name) for v, name in inner.items()], append=False)
        tree = query("select 1 from x", {"x": presorted(rows)}).select(
            *[named(col(inner[item.this], "x"), item.alias) for item in self.shown],
            named(fragment("count(*)"), COUNT),
            append=False,
        )
        tree = tree.group_by(*[col(name, "x") for name in inner.values()])
        return tree.order_by(*[col(inner[key], "x") for key in self.order])
