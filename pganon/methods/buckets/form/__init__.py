"""The published form of anatomy and slicing: exact values in tables that only buckets link.

Stored are the quasi-identifier tables (QIT) and sensitive tables (ST) of an arrangement and the
steward's `members`. The view of the release joins the tables without linking records: it has every
combination that a bucket allows, with its probability.

Bucket numbers are a random permutation under the run's secret key, another one for every
partition. The order of the rows of a relation depends only on its published columns, so no order
shows which value belongs to which record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.forms import sentences as sentences
from pganon.forms.elements import attribute_columns, exact_column
from pganon.forms.form import (
    Evidence,
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
)
from pganon.forms.links import Linked, LinkedColumn, LinkedRows, part_number
from pganon.forms.sentences import Told, number, share, told
from pganon.forms.shape import Histogram, PublishedRelation, Relations
from pganon.forms.utility import AnatomyUtility, Utility
from pganon.methods.buckets.form import inference, statistics, verification
from pganon.methods.buckets.form.statistics import extents, whole_of
from pganon.methods.buckets.form.verification import histogram, histogram_of
from pganon.methods.buckets.metrics.report import BucketMetrics, measure_steps, metrics_of
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form import bucket_staging as staging
from pganon.methods.common.form.bucket_staging import link_of
from pganon.methods.common.form.grouping import NUMBERED, Grouping
from pganon.metrics.evidence.candidates import evidence_of_values
from pganon.metrics.evidence.classes import evidence_of
from pganon.policy.options import CLASS_ID, COUNT, COUNTERFEITS, EXPECTED, GROUP_ID, PROBABILITY
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, render
from pganon.steps import State
from pganon.steps.facts import Facts
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


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, AnatomyUtility)
    return list(_told(utility, members))


def _told(utility: AnatomyUtility, members: str) -> Iterator[Told]:
    for name, found in utility.sensitive.items():
        yield told(
            f"guessing {name}",
            "In every bucket at most one of ",
            number(found.degree),
            f" {members} has the most common value in the column {name} (its degree), so a guess is"
            " right with a chance of at most ",
            share(1 / found.degree),
            ".",
        )
        if found.informed is not None:
            yield told(
                f"guessing {name}, informed",
                "Who knows which values of different tables go together is right with a chance of"
                " at most ",
                share(found.informed),
                ".",
            )
    if utility.inferred:
        yield from sentences.learned(utility.inferred, members, "learning {}", "the release itself")
    else:
        yield told(
            "learning",
            "What can be learned from the release itself was not measured of this version: values"
            " of people who came with earlier ones may have changed.",
        )
    if utility.related:
        parts = [
            part
            for place, one in enumerate(utility.related)
            for part in (
                f"{', ' if place else ''}the columns {one.column} and {one.sensitive} ",
                number(round(one.association, 3)),
            )
        ]
        yield told(
            "associations",
            "How closely a column goes with what is hidden, from 0 to 1: ",
            *parts,
            ".",
        )


def evidence(
    arrange: Arrange, buckets: Grouping, histogram: Histogram, *, generalized: bool
) -> Evidence:
    """Of an arrangement.

    Args:
        generalized: whether classes share generalized quasi-identifiers.
    """
    if not generalized:
        return evidence_of_values(histogram)

    return evidence_of(
        lambda spec, state: arrange(spec, state).shape,
        histogram,
        extents=lambda spec, axis, state: extents(
            spec, arrange(spec, state), buckets.all_records(state), state
        ),
    )


def linked(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> Linked:
    """The links of records and sensitive values, by bucket.

    A sensitive table may have quasi-identifiers, too. A reader who knows those of a person can
    limit the bucket to the rows that show them.
    """
    columns = []
    for item in spec.sensitive:
        table = arrangement.table_of(item.index)
        by, counted = histogram_of(arrangement, tables, item)
        group, *shown = (col(name, "h") for name in by)
        number = part_number(group, shown) if shown else group
        found = query(
            "select :link as link, h.value, sum(h.n)::bigint as n from h group by 1, 2",
            {"h": counted},
            link=number,
        )
        names = tuple(other.column.name for other in table.sensitive)
        columns.append(
            LinkedColumn(
                item.column.name, link_of(table), found, not arrangement.counterfeits, names
            )
        )
    parts = [link_of(table) for table in arrangement.sensitive if table.attributes]
    rows = _rows(arrangement, tables) if arrangement.counterfeits else ()
    return Linked((*arrangement.partitions, *parts), tuple(columns), tuple(rows))


def _rows(arrangement: Arrangement, tables: Tables) -> Iterator[LinkedRows]:
    for table in arrangement.sensitive:
        if len(table.sensitive) == 1:
            continue
        counted = histogram(tables, table, {GROUP_ID: GROUP_ID}, table.sensitive)
        rows = query(
            "select :link as link, h.value from h", {"h": counted}, link=col(GROUP_ID, "h")
        )
        yield LinkedRows(tuple(item.column.name for item in table.sensitive), rows)


def anatomized(
    arrange: Arrange,
    *,
    groups: str,
    buckets: Grouping = NUMBERED,
    generalized: bool = False,
    static_columns: Callable[[ReleaseSpec], bool] = lambda spec: True,
    warnings: Callable[[ReleaseSpec, Facts], Sequence[str]] = lambda spec, facts: (),
) -> PublishedForm:
    """The form of an arrangement.

    Args:
        groups: the method's word for its groups, in the plural.
        buckets: where the buckets of the records are read.
        generalized: whether classes share generalized quasi-identifiers.
        static_columns: whether the policy alone decides the columns of every view.
        warnings: warnings of the method, beside those about inference.
    """
    metrics = OnRequest(
        steps=lambda spec, tables, request: measure_steps(spec, arrange, tables, request),
        report=metrics_of,
        figures=BucketMetrics,
        restricts="always",
    )

    def of_values(
        spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
    ) -> tuple[Sequence[str], exp.Select]:
        return histogram_of(arrange(spec, state), tables, item)

    return PublishedForm(
        lambda spec, state: arrange(spec, state).shape,
        Staging(
            lambda spec, state: staging.relations(arrange(spec, state), state),
            lambda spec: staging.staging_steps(spec, arrange, buckets),
        ),
        Verification(
            lambda spec, state, tables: verification.checks(spec, arrange(spec, state), tables),
            lambda spec, state: staging.duplicate_keys(spec, arrange(spec, state), buckets, state),
            verification.MESSAGES,
        ),
        Publication(
            lambda spec, state, tables: views(spec, arrange(spec, state), tables),
            groups,
            static_columns,
            (PROBABILITY, EXPECTED),
            lambda spec, facts: [*inference.warnings(spec, facts), *warnings(spec, facts)],
        ),
        Statistics(
            lambda spec: statistics.measures(spec, arrange, buckets),
            statistics.utility,
            AnatomyUtility,
            whole_of(arrange, static_columns),
            histogram=of_values,
            on_request=metrics,
            evidence=evidence(arrange, buckets, of_values, generalized=generalized),
            tells=tell,
        ),
        Linkage(
            lambda spec, state, tables: linked(spec, arrange(spec, state), tables),
            shows=lambda spec, state: "exact" if arrange(spec, state).aligned else "several",
        ),
    )
