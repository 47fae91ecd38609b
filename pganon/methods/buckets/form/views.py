"""The views of an anatomized release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.forms.elements import attribute_columns, exact_column
from pganon.forms.form import Tables
from pganon.methods.common.arrangement import Arrangement, QuasiTable, SensitiveTable
from pganon.policy.options import CLASS_ID, COUNT, COUNTERFEITS, EXPECTED, GROUP_ID, PROBABILITY
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, render
from pganon.steps.relations import PublishedView, ViewColumn

Shown = Attribute | Carried | Sensitive
Columns = tuple[ViewColumn, ...]

_NUMBER = "Number of the bucket, random per release."
_COUNTED = ViewColumn(COUNT, "bigint", "Number of records that have these values.", "count")
_UNAWARE = " (for readers who do not know which values of different tables go together)"


def views(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> tuple[PublishedView, ...]:
    """All tables joined, and the tables."""
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    if len({table.partition for table in arrangement.sensitive}) > 1:
        guarantee += _UNAWARE
    return (
        _joined(spec, arrangement, tables, guarantee),
        *[_quasi(spec, arrangement, table, tables) for table in arrangement.quasi],
        *[
            _sensitive(spec, arrangement, table, tables, guarantee)
            for table in arrangement.sensitive
        ],
        *([_counterfeits(spec, tables)] if arrangement.counterfeits else []),
    )


def _quasi(
    spec: ReleaseSpec, arrangement: Arrangement, table: QuasiTable, tables: Tables
) -> PublishedView:
    columns = [*_links(arrangement, table), *_columns((*table.attributes, *table.carried))]
    if table.counted:
        columns.append(_COUNTED)
        comment = "Exact quasi-identifiers of a sliced release, with their numbers per bucket."
    else:
        how = "Generalized" if arrangement.generalized else "Exact"
        comment = f"{how} quasi-identifiers of an anatomized release, one row per record."
    columns = _located(arrangement, table.part, columns, table.groups[0])
    return _plain(spec, table.part, tables, columns, comment)


def _sensitive(
    spec: ReleaseSpec,
    arrangement: Arrangement,
    table: SensitiveTable,
    tables: Tables,
    guarantee: str,
) -> PublishedView:
    columns = [*_numbers([GROUP_ID]), *_columns((*table.quasi, *table.sensitive))]
    columns.append(_COUNTED)
    comment = f"Sensitive values of an anatomized release. Guarantee: {guarantee}."
    columns = _located(arrangement, table.part, columns, GROUP_ID)
    return _plain(spec, table.part, tables, columns, comment)


def _counterfeits(spec: ReleaseSpec, tables: Tables) -> PublishedView:
    count = ViewColumn(COUNT, "bigint", "Number of values of the bucket that nobody has.")
    comment = "Counterfeits: values of an anatomized release that belong to no record, per bucket."
    return _plain(spec, COUNTERFEITS, tables, [*_numbers([GROUP_ID]), count], comment)


def _plain(
    spec: ReleaseSpec, part: str, tables: Tables, columns: Sequence[ViewColumn], comment: str
) -> PublishedView:
    tree = query("select 1 from t", {"t": tables[part]})
    tree = tree.select(*[col(column.name, "t") for column in columns], append=False)
    return PublishedView(spec.view_of(part), render(tree), tuple(columns), comment)


def _numbers(groups: Sequence[str]) -> list[ViewColumn]:
    said = {CLASS_ID: "Number of the equivalence class, random per release."}
    return [ViewColumn(name, "integer", said.get(name, _NUMBER)) for name in groups]


def _links(arrangement: Arrangement, table: QuasiTable) -> list[ViewColumn]:
    """The numbers of a QIT; with several partitions, of which sensitive table each has buckets."""
    if arrangement.aligned:
        return _numbers(table.groups)
    parts = {sensitive.partition: sensitive.part for sensitive in arrangement.sensitive}
    return [
        replace(column, form="bucket", part=parts[column.name]) if column.name in parts else column
        for column in _numbers(table.groups)
    ]


def _columns(items: Sequence[Shown]) -> list[ViewColumn]:
    columns: list[ViewColumn] = []
    for item in items:
        match item:
            case Attribute():
                columns += attribute_columns(item)
            case Carried():
                columns.append(exact_column(item.published, item.column, "Insensitive, unchanged."))
            case Sensitive():
                said = "Sensitive, of some of the bucket."
                columns.append(exact_column(item.published, item.column, said))
    return columns


def _located(
    arrangement: Arrangement, part: str, columns: Sequence[ViewColumn], bucket: str
) -> Columns:
    """The columns of a table with their buckets, unless its values may be nobody's.

    Generalized columns are a part each. So are numbers of buckets of other tables.
    """
    if arrangement.counterfeits:
        return tuple(columns)
    found: list[ViewColumn] = []
    for column in columns:
        apart = arrangement.generalized or column.form == "bucket"
        own = (apart and column.part) or part
        found.append(column.located(bucket, own) if column.form is not None else column)
    return tuple(found)


# -- the join ---------------------------------------------------------------------------------


def _joined(
    spec: ReleaseSpec, arrangement: Arrangement, tables: Tables, guarantee: str
) -> PublishedView:
    """Every combination that the buckets allow, weighted by its expected number of records.

    Tables that share a bucket are otherwise unlinked, so the share of a combination is the
    product of the shares of its parts in their tables.
    """
    bearing = arrangement.bearing
    tree = query("select 1 from q", {"q": tables[bearing.part]})
    others = [
        *[(table, GROUP_ID, table.attributes) for table in arrangement.quasi[:-1]],
        *[(t, t.partition, (*t.quasi, *t.sensitive)) for t in arrangement.sensitive],
    ]
    sources: dict[str, tuple[Shown, ...]] = {"q": (*bearing.attributes, *bearing.carried)}
    share: exp.Expr = fragment("q.count::numeric") if bearing.counted else fragment("1.0")
    sized: dict[tuple[str, bool], str] = {}
    for place, (table, link, items) in enumerate(others):
        alias = f"t{place}"
        tree = _join(tree, tables[table.part], alias, link)
        sources[alias] = tuple(items)
        # With counterfeits a sensitive table has more values than there are records.
        size = (link, arrangement.counterfeits and isinstance(table, SensitiveTable))
        if size not in sized:
            sized[size] = f"s{place}"
            tree = _join(tree, _sizes(tables, table.part), sized[size], link)
        share = fragment(":s * t.count / n.n", s=share)
        share = _renamed(share, {"t": alias, "n": sized[size]})
    return _weighed(spec, arrangement, tree, sources, share, guarantee)


def _join(tree: exp.Select, table: Relation, alias: str, link: str) -> exp.Select:
    on = exp.EQ(this=col(GROUP_ID, alias), expression=col(link, "q"))
    return tree.join(aliased(table, alias), on=on)


def _sizes(tables: Tables, part: str) -> exp.Select:
    return query(
        "select u.group_id, sum(u.count) as n from u group by u.group_id", {"u": tables[part]}
    )


def _renamed(tree: exp.Expr, names: dict[str, str]) -> exp.Expr:
    for column in tree.find_all(exp.Column):
        if column.table in names:
            column.set("table", exp.to_identifier(names[column.table]))
    return tree


def _weighed(
    spec: ReleaseSpec,
    arrangement: Arrangement,
    tree: exp.Select,
    sources: dict[str, tuple[Shown, ...]],
    share: exp.Expr,
    guarantee: str,
) -> PublishedView:
    """Columns in the order of the policy, whichever table they are in."""
    alias_of = {item.published: alias for alias, items in sources.items() for item in items}
    items = (*spec.attributes, *spec.carried, *spec.sensitive)
    groups = arrangement.bearing.groups
    weight, said = (
        (
            EXPECTED,
            "Expected number of records of this combination."
            " Count with sum(expected), not count(*).",
        )
        if arrangement.sliced
        else (
            PROBABILITY,
            "Probability that the record has these sensitive values: its rows add up to 1."
            " Count with sum(probability), not count(*).",
        )
    )
    columns = [
        *_numbers(groups),
        *_columns(items),
        ViewColumn(weight, "numeric", said),
    ]
    shown = [col(name, "q") for name in groups]
    shown += [
        col(column.name, alias_of[item.published]) for item in items for column in _columns([item])
    ]
    tree = tree.select(*shown, named(share, weight), append=False)
    return PublishedView(
        spec.view,
        render(tree),
        tuple(columns),
        f"Every combination that the buckets allow; add {weight} up to count."
        f" Guarantee: {guarantee}.",
    )
