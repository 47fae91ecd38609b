"""Groups of records that differ in sensitive columns (MSB), as steps that methods share.

    vectors    (block, rid, s<j>)    records in random order, in blocks of bounded size

The greedy choice may leave records without a group. A run refuses more of them than the policy
allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal, Unbalanced
from pganon.forms.facts import SUPPRESSED
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.search.msb import Priority, msb
from pganon.methods.common.block_search import Blocks, block_search, grouped_rows
from pganon.methods.common.form.grouping import bucket
from pganon.methods.common.suppression import RELEASED, suppression_problem
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, num, query
from pganon.steps import Check, Name, Rows, Search, State
from pganon.steps.facts import RECORDS, count, flag
from pganon.steps.tasks import TaskResult


def partition_columns(place: int) -> tuple[tuple[str, str], ...]:
    """Columns of the work table of a partition, by its place in the arrangement."""
    return (("rid", "bigint"), (bucket(place), "bigint"))


def joined(tables: Sequence[QualifiedName], first: int = 0) -> exp.Select:
    """SELECT rid, b<i>: the records that are in all of these partitions.

    Args:
        tables: their work tables, in the order of the arrangement.
        first: place of the first of them.
    """
    tree = query("select p0.rid from p0", {"p0": tables[0]})
    for number, table in enumerate(tables):
        alias = f"p{number}"
        tree = tree.select(col(bucket(first + number), alias))
        if number:
            tree = tree.join(
                aliased(table, alias),
                on=exp.EQ(this=col("rid", alias), expression=col("rid", "p0")),
            )
    return tree


COMPLETE = flag("complete")
"""Whether every record has a group."""


def vector_columns(items: Sequence[Sensitive]) -> list[str]:
    """Work columns with the codes of sensitive columns."""
    return [f"s{item.index}" for item in items]


def vectors(spec: ReleaseSpec, records: Relation, block_size: int) -> exp.Select:
    """SELECT block, rid, s<j> of these records."""
    tree = query(
        "select ((row_number() over (order by k.rid) - 1) / :size)::int as block, k.rid from k",
        {"k": records},
        size=num(block_size),
    )
    return tree.select(*[col(name, "k") for name in vector_columns(spec.sensitive)])


@dataclass(frozen=True)
class Bucketization:
    """Records that MSB divides into groups, and how.

    Attributes:
        vectors: the table of :func:`vectors`; RELEASED is the number of its rows.
        table: the table of the groups.
        place: of the partition in the arrangement.
        items: sensitive columns in which the records of a group differ.
        size: records of a group when it is made.
    """

    vectors: Name
    table: Name
    place: int
    items: Callable[[State], Sequence[Sensitive]]
    size: Callable[[State], int]
    block_size: int
    priority: Priority

    def step(self, name: str, when: Callable[[State], bool] = lambda state: True) -> Search:
        return block_search(
            name,
            "groups of records that differ in every sensitive column of a table",
            self.table,
            partition_columns(self.place),
            blocks=Blocks(
                relation=self.vectors,
                columns=lambda s: vector_columns(self.items(s)),
                count=lambda s: -(-s[RELEASED] // self.block_size),
                at_once=lambda s: 1,
            ),
            task=lambda s, given: (
                lambda block, rows: partial(_group, block, rows, self.size(s), self.priority)
            ),
            when=when,
        )


def _group(block: int, rows: Rows, size: int, priority: Priority) -> TaskResult:
    result = msb([tuple(row[2:]) for row in rows], size, priority)
    return TaskResult(grouped_rows(block, [row[1] for row in rows], result.groups))


# -- records in no group ----------------------------------------------------------------------


def leftover_check(
    spec: ReleaseSpec,
    placed: Callable[[State], QualifiedName | exp.Select],
    least: int,
    minimum: int = 1,
) -> Check:
    """RELEASED and SUPPRESSED, and COMPLETE if every record has a group.

    Args:
        placed: the records that have a group.
        least: the largest l that is asked for, for messages.
        minimum: fewest records of a release.
    """
    return Check(
        "suppressed",
        "records in no group, held against the limit",
        lambda s: query(
            "select count(*) as released, :records - count(*) as suppressed,"
            " :tried - count(*) as ungrouped, count(*) = :tried as complete from p",
            {"p": placed(s)},
            records=num(s[RECORDS]),
            tried=num(s[RELEASED]),
        ),
        lambda row, state: _too_many(spec, least, row, state) or _too_few(minimum, row, state),
        gives=[RELEASED, SUPPRESSED, count("ungrouped"), COMPLETE],
    )


def _too_many(
    spec: ReleaseSpec, least: int, row: Mapping[str, Any], state: State
) -> PganonError | None:
    if row["ungrouped"] < 0:
        records = state[RELEASED]
        return Unbalanced(f"{records} records are in groups {row['released']} times")
    limit = spec.policy.suppression_limit * state[RECORDS]
    if (row["released"] and row["suppressed"] <= limit) or not row["ungrouped"]:
        return suppression_problem(spec, row, state)
    return PrivacyRefusal(
        f"level: unique found no group for {row['ungrouped']} records; values of a group must"
        " differ in every sensitive column, which may be impossible or missed by a greedy choice",
        model="slicing_l_diversity",
        required=least,
        hint="use the method slamsa, whose frequency condition needs no record to stay out, or"
        " raise suppression_limit",
        code=ErrorCode.NO_GROUPS,
    )


def _too_few(minimum: int, row: Mapping[str, Any], state: State) -> PganonError | None:
    if row["released"] >= minimum:
        return None
    return PrivacyRefusal(
        f"{row['released']} of {state[RECORDS]} records are in groups, a release needs at"
        f" least {minimum}",
        required=minimum,
        observed=row["released"],
        hint="use the method slamsa, or weaker requirements",
        code=ErrorCode.NO_GROUPS,
    )
