"""The views of an anatomized release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.forms.elements import attribute_columns, exact_column
from pganon.forms.form import Tables
from pganon.forms.shape import PublishedRelation
from pganon.methods.common.arrangement import Arrangement
from pganon.policy.options import CLASS_ID, COUNT, COUNTERFEITS, EXPECTED, GROUP_ID, PROBABILITY
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, render
from pganon.steps.relations import PublishedView, ViewColumn

Shown = Attribute | Carried | Sensitive

_NUMBER = "Number of the bucket, random per release."
_COUNTED = ViewColumn(COUNT, "bigint", "Number of records that have these values.", "count")
_UNAWARE = " (for readers who do not know which values of different tables go together)"


def views(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> tuple[PublishedView, ...]:
    """All tables joined, and the tables."""
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    if len({table.link for table in arrangement.sensitive}) > 1:
        guarantee += _UNAWARE
    how = "Generalized" if arrangement.generalized else "Exact"
    rows = f"{how} quasi-identifiers of an anatomized release, one row per record."
    if arrangement.sliced:
        rows = "Exact quasi-identifiers of a sliced release, with their numbers per bucket."
    values = f"Sensitive values of an anatomized release. Guarantee: {guarantee}."
    return (
        _joined(spec, arrangement, tables, guarantee),
        *[
            _plain(spec, t.part, tables, _located(arrangement, t), comment)
            for shown, comment in ((arrangement.quasi, rows), (arrangement.sensitive, values))
            for t in shown
        ],
        *([_counterfeits(spec, tables)] if arrangement.counterfeits else []),
    )


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


def _links(arrangement: Arrangement, table: PublishedRelation) -> list[ViewColumn]:
    """The numbers of a table; with several partitions, of which table a QIT has each."""
    if arrangement.aligned or table.rows == "value":
        return _numbers(table.groups)
    parts = {sensitive.link: sensitive.part for sensitive in arrangement.sensitive}
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


def _located(arrangement: Arrangement, table: PublishedRelation) -> list[ViewColumn]:
    """The columns of a table with their buckets, unless its values may be nobody's.

    Generalized columns are a part each. So are numbers of buckets of other tables.
    """
    columns = [*_links(arrangement, table), *_columns(table.items)]
    columns += [_COUNTED] if table.count else []
    if arrangement.counterfeits:
        return columns
    found: list[ViewColumn] = []
    for column in columns:
        apart = arrangement.generalized or column.form == "bucket"
        own = (apart and column.part) or table.part
        found.append(column.located(table.groups[0], own) if column.form is not None else column)
    return found


# -- the join ---------------------------------------------------------------------------------


def _joined(
    spec: ReleaseSpec, arrangement: Arrangement, tables: Tables, guarantee: str
) -> PublishedView:
    """Every combination that the buckets allow, weighted by its expected number of records.

    Tables that share a bucket are otherwise unlinked, so the share of a combination is the
    product of the shares of its parts in their tables.
    """
    linking = arrangement.linking
    tree = query("select 1 from q", {"q": tables[linking.part]})
    sources = {"q": linking.items}
    share: exp.Expr = fragment("q.count::numeric" if linking.count else "1.0")
    sized: dict[tuple[str, bool], str] = {}
    for place, table in enumerate((*arrangement.quasi[:-1], *arrangement.sensitive)):
        alias = f"t{place}"
        tree = _join(tree, tables[table.part], alias, table.link)
        sources[alias] = table.items
        # With counterfeits a sensitive table has more values than there are records.
        size = (table.link, arrangement.counterfeits and table.rows == "value")
        if size not in sized:
            sized[size] = f"s{place}"
            counted = query(
                "select u.group_id, sum(u.count) as n from u group by u.group_id",
                {"u": tables[table.part]},
            )
            tree = _join(tree, counted, sized[size], table.link)
        share = fragment(
            ":s * :count / :n", s=share, count=col(COUNT, alias), n=col("n", sized[size])
        )
    return _weighed(spec, arrangement, tree, sources, share, guarantee)


def _join(tree: exp.Select, table: Relation, alias: str, link: str) -> exp.Select:
    on = exp.EQ(this=col(GROUP_ID, alias), expression=col(link, "q"))
    return tree.join(aliased(table, alias), on=on)


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
    groups = arrangement.linking.groups
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
