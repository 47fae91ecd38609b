"""What readers see of a release, as data: its relations, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from sqlglot import exp

from pganon.encode.sensitive import sensitive_key
from pganon.forms.elements import text_key, vector_key
from pganon.identifiers import QualifiedName
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import (
    Attribute,
    Averaged,
    Carried,
    Microaggregated,
    ReleaseSpec,
    Sensitive,
    Shown,
)
from pganon.sqltools import aliased, col, fragment, named, num, presorted, query, stacked
from pganon.steps import State

Relations = Mapping[str, QualifiedName | exp.Select]
"""Stored or staged relations of a release by part, or SELECTs in their place."""

Histogram = Callable[[ReleaseSpec, State, Relations, Sensitive], tuple[Sequence[str], exp.Select]]
"""Columns that identify groups, and SELECT (these, value, n): the records of every group by the
key of their sensitive value, from the relations in the tables alone."""


@dataclass(frozen=True)
class PublishedRelation:
    """A stored relation that views show.

    Attributes:
        part: its name in the release.
        rows: whether a row is of a group, of records, or of a value that records of a group have.
        groups: its columns with numbers of groups; rows are ordered by them first.
        attributes, sensitive, carried: whose values it shows, in this order.
        averaged: those of which it shows means of groups.
        microaggregated: those of which it shows means of groups within groups.
        beside: its other columns.
        count: the column with the number of records that a row stands for; None: one, or those of
            the group.
        link: the column of the relation of records that has the numbers of its first column.
    """

    part: str
    rows: Literal["group", "record", "value"]
    groups: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    carried: tuple[Carried, ...] = ()
    beside: tuple[str, ...] = ()
    count: str | None = None
    link: str = ""
    averaged: tuple[Averaged, ...] = ()
    microaggregated: tuple[Microaggregated, ...] = ()

    @property
    def items(self) -> tuple[Attribute | Sensitive | Carried, ...]:
        return (*self.attributes, *self.sensitive, *self.carried)

    @property
    def described(self) -> list[str]:
        """The columns of its attributes."""
        names = [name for a in self.attributes for name in (a.published, a.null_column)]
        return [name for name in names if name is not None]

    @property
    def columns(self) -> list[str]:
        """All but what is insensitive, which nothing is measured of."""
        shown = [*self.described, *[item.published for item in self.sensitive]]
        return [*self.groups, *self.beside, *shown, *([self.count] if self.count else [])]

    def records(self, table: str) -> exp.Expr:
        """The number of records of its rows."""
        if self.count is None:
            return fragment("count(*)")
        return fragment("coalesce(sum(:n), 0)::bigint", n=col(self.count, table))

    def number(self, link: str) -> str:
        """Its column with the numbers of groups that records have in the column `link`."""
        return link if link in self.groups else self.groups[0]


_Relation = TypeVar("_Relation", bound=PublishedRelation)

Shape = tuple[PublishedRelation, ...]
"""The relations of a release. The last one of records says in which groups a record is."""


def linking(shape: Sequence[_Relation]) -> _Relation:
    return [relation for relation in shape if relation.rows == "record"][-1]


def released(shape: Shape, tables: Relations) -> exp.Select:
    """SELECT one row: `published`, the number of released records; 0 where there are none."""
    relation = linking(shape)
    return query(
        "select :n as published from r", {"r": tables[relation.part]}, n=relation.records("r")
    )


def sizes(shape: Shape, link: str, tables: Relations) -> exp.Select:
    """SELECT number, n: the records of every group, by a column of the relation of records."""
    relation = linking(shape)
    return query(
        "select :number as number, :n as n from r group by :number",
        {"r": tables[relation.part]},
        number=col(link, "r"),
        n=relation.records("r"),
    )


def value_histogram(
    relation: QualifiedName | exp.Select,
    by: Mapping[str, str],
    items: Sequence[Sensitive] = (),
    count: str | None = None,
) -> exp.Select:
    """SELECT by.., value, n: the records of every group by the keys of all items in one text.

    Args:
        by: columns that identify groups, by the names that they have in it.
        count: column with the number of records that a row stands for.
    """
    # Columns are named by their places, as one of the source may be called `n`.
    names = [f"key{place}" for place, _ in enumerate(items)]
    groups = [f"by{place}" for place, _ in enumerate(by)]
    keys = [
        named(sensitive_key(item, col(item.published, "t")), name)
        for item, name in zip(items, names, strict=True)
    ]
    rows = query("select 1 from t", {"t": relation})
    shown = [named(col(own, "t"), group) for own, group in zip(by.values(), groups, strict=True)]
    rows = rows.select(*shown, *keys, append=False)
    rows = presorted(rows) if items else rows
    counted = fragment("count(*)")
    if count is not None:
        rows = rows.select(named(col(count, "t"), "n"))
        counted = fragment("sum(r.n)::bigint")
    columns = [col(name, "r") for name in (*groups, *names)]
    tree = query("select 1 from r", {"r": rows}).select(*columns, named(counted, "n"), append=False)
    # Texts are made of values that are counted, not of every record's.
    texts = [text_key(col(name, "h")) for name in names]
    return query(
        "select :value as value, h.n from h",
        {"h": tree.group_by(*[column.copy() for column in columns])},
        value=vector_key(texts) if texts else num(1),
    ).select(*[named(col(group, "h"), name) for name, group in zip(by, groups, strict=True)])


def shown(shape: Shape, tables: Relations) -> exp.Select:
    """SELECT group_id, n and the columns of generalized attributes: a row per group."""
    described, records = next(r for r in shape if r.attributes), linking(shape)
    number = col(described.groups[0], "g")
    columns = [col(name, "g") for name in described.described]
    if described is records:
        tree = query("select count(*) as n from g", {"g": tables[described.part]})
        tree = tree.select(named(number, GROUP_ID), *columns)
        return tree.group_by(number.copy(), *[column.copy() for column in columns])
    counted = sizes(shape, described.groups[0], tables)
    tree = query("select r.n from g", {"g": tables[described.part]})
    tree = tree.join(aliased(counted, "r"), on=fragment("r.number = :g", g=number))
    return tree.select(named(number.copy(), GROUP_ID), *columns)


def values(shape: Shape, tables: Relations) -> exp.Select:
    """SELECT group_id, and what is published unchanged as `v<j>`, `p<j>`: a row per record."""
    relation = linking(shape)
    tree = query(
        "select :number as group_id from r",
        {"r": tables[relation.part]},
        number=col(relation.groups[0], "r"),
    )
    held = [(f"v{item.index}", item) for item in relation.sensitive]
    held += [(f"p{item.index}", item) for item in relation.carried]
    return tree.select(*[named(col(item.published, "r"), name) for name, item in held])


# -- exact values ----------------------------------------------------------------------------------


def links(shape: Shape) -> list[str]:
    """Columns of the relation of records with the groups that values are in."""
    values = [relation.link for relation in shape if relation.rows == "value"]
    return list(dict.fromkeys(values or linking(shape).groups))


def placed_sizes(shape: Shape, tables: Relations) -> exp.Select:
    """SELECT place, number, n: the same of all :func:`links`, by their place."""
    return stacked(
        [
            query(
                "select :place as place, s.number, s.n from s",
                {"s": sizes(shape, link, tables)},
                place=num(place),
            )
            for place, link in enumerate(links(shape))
        ]
    )


def placed_values(shape: Shape, attribute: Attribute, tables: Relations) -> exp.Select:
    """SELECT place, number, value: what rows of a group have, whatever relation shows it."""
    several = attribute.form is Shown.VALUES
    return stacked(
        [
            query(
                "select :place as place, :number as number, :value as value from t",
                {"t": tables[relation.part]},
                place=num(place),
                number=col(relation.number(link), "t"),
                value=fragment("unnest(:v)" if several else ":v", v=col(attribute.published, "t")),
            )
            for relation in shape
            if attribute in relation.attributes
            for place, link in enumerate(links(shape))
        ]
    )
