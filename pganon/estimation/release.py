"""A release as estimates see it: which columns are known together, in which buckets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlglot import exp

from pganon.estimation.refusals import EstimateRefused
from pganon.identifiers import QualifiedName, quote
from pganon.install import access
from pganon.publish import listing
from pganon.sqlfiles import Connection, dicts
from pganon.sqltools import col, named, query

_WHOLE = ("smallint", "integer", "bigint")
FLOATS = ("real", "double precision")
_NUMBERS = ("numeric", *FLOATS)
_BOXES = ("range", "set", "ordinal", "label", "listed")
_EXACT = ("exact", "multiset")


@dataclass(frozen=True)
class Published:
    """A column that queries may use.

    Attributes:
        form: as :class:`pganon.steps.relations.ViewColumn` has it.
        kind: type of its values, as format_type() writes it.
        collation: of the source column, quoted where SQL needs it.
        attained: whether records have the ends of its ranges, or the elements of its sets.
        null_column: the column that says whether values are missing.
        null_attained: whether records lack a value where that column says so.
        part: what it is known together with.
        labels: the view (column_name, label, value) with the values below labels, where the view of
            the release shows these in place of sets.
        display: the column that says how records show it, if not all show it alike.
    """

    name: str
    form: str
    kind: str
    collation: str | None
    attained: bool
    part: Part
    null_column: str | None = None
    null_attained: bool = True
    labels: QualifiedName | None = None
    display: str | None = None

    @property
    def whole(self) -> bool:
        return self.kind in _WHOLE

    @property
    def is_number(self) -> bool:
        return self.whole or self.kind.split("(")[0] in _NUMBERS

    @property
    def is_time(self) -> bool:
        return self.kind == "date" or self.kind.startswith("timestamp")

    @property
    def is_enum(self) -> bool:
        """Whether it is an enum, which is published as a text; those of the source are sorted."""
        return self.kind == "text" and self.collation is None

    @property
    def is_caseless(self) -> bool:
        """Whether it is citext. Its operators are not found where only pg_catalog is looked in."""
        return self.kind.split(".")[-1].strip('"') == "citext"


@dataclass(frozen=True)
class Part:
    """Columns whose values are known together within a bucket (a slice).

    Attributes:
        exact: whether all rows of a bucket are published; else it is one generalized column.
        view: where they are published.
        bucket: column of the view with the number of the bucket.
        weight: column with the number of records that a row stands for; None: one.
        array: whether it is a column with the values of all records of a bucket.
        events: whether it is which rows of related tables people of a group have.
    """

    name: str
    exact: bool
    view: QualifiedName
    bucket: str
    weight: str | None
    array: bool = False
    events: bool = False

    @property
    def rows(self) -> QualifiedName | exp.Select:
        """Rows that each stand for :attr:`weight` records."""
        if not self.array:
            return self.view
        tree = query(
            "select :b from v cross join lateral unnest(:a) as u(el)",
            {"v": self.view},
            b=col(self.bucket, "v"),
            a=col(self.name, "v"),
        )
        return tree.select(named(col("el", "u"), self.name))


class Slice(NamedTuple):
    """How many people of groups have the values of a column, or of two columns of one row."""

    view: QualifiedName
    columns: tuple[str, ...]


class Reference(NamedTuple):
    """Columns that name rows of another table by its key."""

    columns: Sequence[str]
    table: str
    key: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table beside the root.

    Attributes:
        view, key: of a lookup; others are tables of events.
        part: of the groups of their people.
        holders: column of these with how many have rows.
        slices: the values; `rows` says of frequent ones how many rows have them.
        path: itself, and tables of the same groups in which whoever has rows here has rows, too.
    """

    name: str
    columns: Mapping[str, Published]
    view: QualifiedName | None = None
    key: str = ""
    part: Part | None = None
    holders: str = ""
    references: tuple[Reference, ...] = ()
    slices: tuple[Slice, ...] = ()
    rows: QualifiedName | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """That somebody has a row of a table.

    Attributes:
        slice: where the values of its condition are; None: any row will do.
        views: what is read beside the groups.
        counted: whether rows are counted, and not people.
        listed: whether it was written as IN, which may be NULL.
    """

    table: Table
    slice: Slice | None
    condition: exp.Expr | None
    views: tuple[QualifiedName, ...]
    counted: bool
    listed: bool


@dataclass(frozen=True)
class AskedRelease:
    """A release that can be asked.

    Attributes:
        home: a part in whose view the numbers of records of all buckets can be counted.
        person: the column with the number of the individual, if several records may be of one.
        weights: the column of the view of `home` with the mean of sample weights, and the one with
            a range around them; perhaps none.
        root: of related tables, the table with a row per person; `tables` are the others, by name.
        facts: conditions of a query on their rows, by names that no column has.
        links: where tables have buckets of their own: by part, the column of the view of `home`
            with its buckets.
    """

    name: str
    version: int
    view: QualifiedName
    home: Part
    person: Published | None
    columns: Mapping[str, Published] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    weights: tuple[str | None, str | None] = (None, None)
    root: str | None = None
    tables: Mapping[str, Table] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def link(self, part: Part) -> str | None:
        """The column of the view of `home` with the buckets by which a part is known.

        None where tables have buckets of their own and it is a column of that view itself, of which
        every row is published: it is known together with the buckets of any of them.
        """
        if not self.links:
            return self.home.bucket
        if part.view != self.home.view:
            # A further QIT has the buckets of a column of the last one that is named as its own.
            return self.links.get(part.name, part.bucket)
        return None if part.exact else part.bucket


def hidden_name(name: str) -> str:
    """The name among columns of what a column is in buckets; no query can have it."""
    return f"{name}\0"


def read_release(conn: Connection, name: str) -> AskedRelease:
    """Read what the release says of its columns; in the transaction that asks it.

    Raises:
        LedgerError: unknown_release.
        EstimateRefused: it has a form that cannot be estimated from, or no description.
        InstallError: objects of others in pganon's schemas, or in place of its views.
    """
    access.admit_reader(conn)
    rows = dicts(conn, "estimate", "columns", release=name)
    if not rows:
        raise listing.unknown(conn, name)
    located = [row for row in rows if row["bucket"] is not None]
    if not located:
        raise EstimateRefused(
            f"the release {quote(name)} has a form that cannot be estimated from yet",
            hint="releases of classes, of clusters and of buckets can be asked",
        )
    below = next((QualifiedName.of(row["view"]) for row in rows if row["form"] == "below"), None)
    found = _release(name, rows[0]["view"], located, below)
    root = next((row["part"] for row in rows if row["form"] == "people"), None)
    tables = _tables(rows)
    groups = {t.part.name: t.part.bucket for t in tables.values() if t.part is not None}
    return replace(found, root=root, tables=tables, links={**found.links, **groups})


def _tables(rows: Sequence[dict[str, Any]]) -> dict[str, Table]:
    """The tables beside the root, by name."""
    views: dict[QualifiedName, list[dict[str, Any]]] = {}
    for row in rows:
        views.setdefault(QualifiedName.of(row["view"]), []).append(row)
    tables: dict[str, Table] = {}
    for view, own in views.items():
        forms = {row["form"]: row["column_name"] for row in own}
        for row in own:
            table = Table(row["part"], {})
            if row["form"] == "holders":
                group = forms["group"]
                part = Part(group, False, view, group, forms["people"], events=True)
                ways = tuple(Reference(*way) for way in json.loads(row["kind"]))
                table = replace(table, part=part, holders=row["column_name"], references=ways)
                tables[table.name] = table
            elif row["form"] == "key":
                tables[table.name] = replace(table, view=view, key=row["column_name"])
    for view, own in views.items():
        values = {r["column_name"]: r for r in own if r["form"] in ("fact", "lookup", "key")}
        for row in own:
            table = tables.get(row["part"])
            if table is not None and row["form"] == "rows":
                tables[table.name] = replace(table, rows=view)
            elif table is not None and row["column_name"] in values:
                part = table.part or Part(table.name, True, view, "", None)
                shown = Published(
                    row["column_name"], "exact", row["kind"], row["collation"], False, part
                )
                columns = {**table.columns, shown.name: shown}
                slices = dict.fromkeys([*table.slices, Slice(view, tuple(values))])
                tables[table.name] = replace(table, columns=columns, slices=tuple(slices))
    for name, table in tables.items():
        path = [table]
        while len(path[-1].references) == 1 and path[-1].references[0].table in tables:
            path.append(tables[path[-1].references[0].table])
        inside = tuple(one.name for one in path if one.part == table.part)
        tables[name] = replace(table, path=inside)
    return tables


def _release(
    name: str, first_view: str, rows: Sequence[dict[str, Any]], below: QualifiedName | None
) -> AskedRelease:
    links = {row["part"]: row["column_name"] for row in rows if row["form"] == "bucket"}
    displays = {row["kind"]: row["column_name"] for row in rows if row["form"] == "display"}
    rows = [
        {**row, "form": "exact", "kind": "text"} if row["form"] == "display" else row
        for row in rows
    ]
    # Of several QITs the last says in which buckets of other tables its rows are.
    start = next((row for row in rows if row["form"] == "bucket"), rows[0])
    home, (first,) = start["view"], _parts([start]).values()
    forms = {row["form"]: row["column_name"] for row in rows}
    rows = [row for row in rows if row["form"] not in ("bucket", "weight", "weight_range")]
    parts = _parts(rows)
    nulls = {row["part"]: row for row in rows if row["form"] == "null"}
    columns: dict[str, Published] = {}
    person = None
    for row in rows:
        if row["form"] == "individual":
            part = parts[_key(row)]
            person = Published(row["column_name"], "individual", row["type"], None, False, part)
        if row["form"] in (*_BOXES, *_EXACT, "mean", "mode"):
            part, name_of = parts[_key(row)], row["column_name"]
            null = None if part.exact else nulls.get(row["part"])
            columns[hidden_name(name_of) if name_of in columns else name_of] = Published(
                name=name_of,
                form="set" if row["form"] == "listed" else row["form"],
                kind=row["kind"],
                collation=row["collation"],
                attained=row["attained"],
                part=part,
                null_column=null["column_name"] if null else None,
                null_attained=null["attained"] if null else True,
                labels=below if row["form"] == "listed" else None,
                display=displays.get(name_of),
            )
    for name_of in displays:
        columns.setdefault(hidden_name(name_of), columns[name_of])
    return AskedRelease(
        name,
        rows[0]["version"],
        QualifiedName.of(first_view),
        # It may have nothing to ask for but numbers of buckets.
        home=next((parts[_key(row)] for row in rows if row["view"] == home), first),
        person=person,
        columns=columns,
        links=links,
        weights=(forms.get("weight"), forms.get("weight_range")),
    )


def _parts(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, bool], Part]:
    weights = {row["view"]: row["column_name"] for row in rows if row["form"] == "count"}
    return {
        _key(row): Part(
            row["part"],
            _key(row)[1],
            QualifiedName.of(row["view"]),
            row["bucket"],
            weights.get(row["view"]) if row["form"] != "multiset" else None,
            row["form"] == "multiset",
        )
        for row in rows
    }


def _key(row: dict[str, Any]) -> tuple[str, bool]:
    """A quasi-identifier may have the name of a part of exact columns."""
    return row["part"], row["form"] not in (*_BOXES, "null", "mean", "mode")
