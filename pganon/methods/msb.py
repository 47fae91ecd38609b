"""The method `msb`: groups of records that differ in every sensitive column.

Multi-sensitive bucketization (Yang et al. 2008), the baseline for several sensitive columns. It
does not look at quasi-identifiers, and its greedy choice may leave records over.

    vectors    (block, rid, s<j>)    records in random order, in blocks of bounded size
    grouped    (rid, b0)             the group of every record that has one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp

from pganon.errors import PganonError, PrivacyRefusal
from pganon.methods.arrangement import Arrangement, arranged
from pganon.methods.cells import suppression_problem
from pganon.methods.eligible import ASSUMED, Eligibility, Frequency
from pganon.plan.sqltools import col, num, query
from pganon.plan.steps import Check, CreateTable, DropTables, Found, Search, State, Step
from pganon.policy.anatomized import Msb
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.search.msb import Priority, msb
from pganon.spec.model import ReleaseSpec

_LABEL_BITS = 32


@dataclass(frozen=True)
class Shape:
    spec: ReleaseSpec

    @property
    def options(self) -> Msb:
        options = self.spec.policy.method
        assert isinstance(options, Msb)
        return options

    @property
    def columns(self) -> list[str]:
        return [f"s{item.index}" for item in self.spec.sensitive]

    @property
    def l(self) -> int:  # noqa: E743 (the field's own letter)
        """Groups have no value twice in any column, so the strictest column decides."""
        models = [r.model for r in self.spec.requirements]
        return max(m.l for m in models if isinstance(m, AnatomyLDiversity))

    @property
    def size(self) -> int:
        """Records of a group when it is made."""
        return max(self.l, self.spec.minimum_size)

    @property
    def eligibility(self) -> Eligibility:
        """Necessary, not sufficient."""
        found = [Frequency(f"s{item.index}", (item.index,), self.l) for item in self.spec.sensitive]
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work("coded"),
            keep=lambda s: self.columns,
            conditions=lambda s: found,
            model="slicing_l_diversity",
            minimum=self.size,
        )


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One QIT, and one ST with all sensitive columns."""
    return arranged(spec, [spec.attributes], [spec.sensitive])


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = Shape(spec)
    return (
        *shape.eligibility.steps(),
        CreateTable(
            "vectors",
            "sensitive values of the records, in random order",
            lambda s: s.work("vectors"),
            lambda s: _vectors(shape, s),
        ),
        Search(
            "groups",
            "groups of records that differ in every sensitive column",
            lambda s: s.work("grouped"),
            (("rid", "bigint"), ("b0", "bigint")),
            given=lambda s: query("select 1 as nothing"),
            batches=lambda s: -(-s.count("released") // shape.options.block_size),
            rows=lambda s, batch: _rows(shape, s, batch),
            tasks=lambda s, given, rows: _tasks(shape, rows),
        ),
        Check(
            "suppressed",
            "records in no group, held against the limit",
            lambda s: query(
                "select count(*) as released, :records - count(*) as suppressed,"
                " :eligible - count(*) as ungrouped from g",
                {"g": s.work("grouped")},
                records=num(s.count("records")),
                eligible=num(s.count("released")),
            ),
            lambda row, state: _problem(shape, row, state),
        ),
        DropTables(
            "tidy",
            "what the groups were made from",
            lambda s: [s.work("vectors"), *shape.eligibility.leftovers(s)],
        ),
    )


def assumed(spec: ReleaseSpec) -> dict[str, int]:
    """What `explain` supposes of a run."""
    return dict(ASSUMED)


def _vectors(shape: Shape, state: State) -> exp.Expr:
    tree = query(
        "select ((row_number() over (order by k.rid) - 1) / :size)::int as block, k.rid from k",
        {"k": shape.eligibility.kept(state)},
        size=num(shape.options.block_size),
    )
    return tree.select(*[col(name, "k") for name in shape.columns])


def _rows(shape: Shape, state: State, batch: int) -> exp.Select:
    tree = query(
        "select v.block, v.rid from v where v.block = :batch order by v.rid",
        {"v": state.work("vectors")},
        batch=num(batch),
    )
    return tree.select(*[col(name, "v") for name in shape.columns])


def _tasks(shape: Shape, rows: Sequence[tuple[Any, ...]]) -> list[_Group]:
    return [
        _Group(block, tuple(found), shape.size, shape.options.priority)
        for block, found in groupby(rows, key=lambda row: row[0])
    ]


@dataclass(frozen=True)
class _Group:
    block: int
    rows: Sequence[tuple[Any, ...]]
    size: int
    priority: Priority

    def __call__(self) -> Found:
        found = msb([tuple(row[2:]) for row in self.rows], self.size, self.priority)
        first = self.block << _LABEL_BITS
        return Found(
            [
                (self.rows[place][1], first + number)
                for number, group in enumerate(found.groups)
                for place in group
            ]
        )


def _problem(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    limit = shape.spec.policy.suppression_limit * state.count("records")
    if (row["released"] and row["suppressed"] <= limit) or not row["ungrouped"]:
        return suppression_problem(shape.spec, row, state)
    return PrivacyRefusal(
        f"level: unique found no group for {row['ungrouped']} records; values of a group must"
        " differ in every sensitive column, which may be impossible or missed by a greedy choice",
        model="slicing_l_diversity",
        required=shape.l,
        hint="use the method slamsa, whose frequency condition needs no record to stay out, or"
        " raise suppression_limit",
        code="no_groups",
    )
