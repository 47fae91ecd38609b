"""The method `sloms`: classes of generalized quasi-identifiers, buckets of sensitive values.

SLOMS (Han et al. 2013), a baseline for several sensitive columns: associated columns share a table,
every table has separate groups in which values differ (MSB), and quasi-identifiers are
generalized to k-anonymous classes (KACA).

    blocked    (block, rid, c<i>)    records along a Hilbert curve, cut into blocks
    classes    (rid, b0)             the class of every record

    vectors_<r>       the records that round r makes groups of
    buckets<j>_<r>    (rid, b<j+1>)   their groups in table j

A record without a group in one table is left out of all. Otherwise its values in the other tables
would show that it has a frequent value in this one. Without it a group elsewhere may be too small,
so groups are made again from the records with a group in every table, until those are all.

The time of KACA grows with the square of the records, so a class does not reach over the border of
a block. Blocks and classes depend only on quasi-identifiers, and on which records are released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis
from pganon.encode.curve import along_curve, piece_of
from pganon.encode.records import PLACE
from pganon.encode.work import CODED
from pganon.forms.work import GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.bucketization import (
    COMPLETE,
    Bucketization,
    joined,
    leftover_check,
    partition_columns,
    vector_columns,
    vectors,
)
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.search.kaca import Category, Coordinates, Number, kaca
from pganon.methods.buckets.sloms.options import Sloms
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.base import Method
from pganon.methods.common.block_search import (
    Blocks,
    Given,
    block_search,
    given_of_axes,
    grouped_rows,
)
from pganon.methods.common.context import MethodContext
from pganon.methods.common.division import (
    division_steps,
    mixed_scales,
    sensitive_scales,
    sensitive_static,
    sensitive_tables,
)
from pganon.methods.common.eligibility import Eligibility, Frequency
from pganon.methods.common.suppression import RELEASED
from pganon.privacy.frequency import BucketSize, KAnonymity
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, num, query
from pganon.steps import Loop, Rows, Scope, State, Step, table
from pganon.steps.facts import Facts, count
from pganon.steps.tasks import Task, TaskResult


@dataclass(frozen=True)
class SlomsContext(MethodContext[Sloms]):
    """A release with SLOMS."""

    kind = Sloms

    @property
    def k(self) -> int:
        """Fewest records of a class: the k of k-anonymity, or else the largest l."""
        models = [r.model for r in self.spec.requirements]
        return max((m.k for m in models if isinstance(m, KAnonymity)), default=self.l)

    @property
    def minimum_size(self) -> int:
        """Fewest records of a release."""
        return max(self.k, self.spec.minimum_size)

    def least(self, table: Sequence[Sensitive]) -> int:
        """The l of a table: groups have no value twice in any of its columns.

        A table without a requirement has the largest l, since it is unlinked all the same.
        """
        asked = [self.strictest[item.index] for item in table if item.index in self.strictest]
        return max(asked, default=self.l)

    def size(self, table: Sequence[Sensitive]) -> int:
        """Records of a group of a table when it is made."""
        models = [r.model for r in self.spec.requirements]
        sizes = [m.k for m in models if isinstance(m, BucketSize)]
        return max([self.least(table), *sizes])

    @property
    def eligibility(self) -> Eligibility:
        """Necessary conditions, which are not sufficient."""
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work(CODED),
            keep=lambda s: vector_columns(self.spec.sensitive),
            conditions=self._conditions,
            model="slicing_l_diversity",
            minimum=self.minimum_size,
        )

    def _conditions(self, state: State) -> list[Frequency]:
        return [
            self.frequency(item.index, self.least(table))
            for table in sensitive_tables(self.spec, state)
            for item in table
        ]


SEARCHED = 50_000
"""Records of a block of the search."""

ROUNDS = count("bucketize_rounds")


def bucket_steps(context: SlomsContext) -> list[Step]:
    """From the eligible records to their groups in every table."""
    return [
        Loop(
            "bucketize",
            "groups for every sensitive table",
            body=lambda number: _round(context),
            until=COMPLETE,
            rounds=ROUNDS,
            carries=["vectors", *[f"buckets{place}" for place in range(_most(context))]],
        ),
    ]


def _most(context: SlomsContext) -> int:
    """As many sensitive tables as there may be."""
    return len(sensitive_tables(context.spec, State(0)))


def _round(context: SlomsContext) -> list[Step]:
    return [
        table(
            "vectors",
            "sensitive values of the records, in random order",
            lambda s: vectors(context.spec, _records(context, s), SEARCHED),
            later=0,
        ),
        *[
            _bucketization(context, place).step(
                f"buckets{place}",
                when=lambda s, place=place: place < len(sensitive_tables(context.spec, s)),
            )
            for place in range(_most(context))
        ],
        leftover_check(
            context.spec,
            lambda s: joined(_tables(context, s, s.round), first=1),
            least=context.l,
            minimum=context.minimum_size,
        ),
    ]


def _bucketization(context: SlomsContext, place: int) -> Bucketization:
    return Bucketization(
        vectors=lambda s: s.work("vectors", round=s.round),
        table=lambda s: s.work(f"buckets{place}", round=s.round),
        place=place + 1,
        items=lambda s: sensitive_tables(context.spec, s)[place],
        size=lambda s: context.size(sensitive_tables(context.spec, s)[place]),
        block_size=SEARCHED,
        priority=context.options.priority,
    )


def _records(context: SlomsContext, state: State) -> QualifiedName | exp.Select:
    if state.round == 0:
        return context.eligibility.kept(state)
    return query(
        "select v.* from v join p on p.rid = v.rid",
        {
            "v": state.work("vectors", round=state.round - 1),
            "p": joined(_tables(context, state, state.round - 1), first=1),
        },
    )


def _tables(context: SlomsContext, state: State, number: int) -> list[QualifiedName]:
    """The groups that a round made, by sensitive table; the last one's are released."""
    count = len(sensitive_tables(context.spec, state))
    return [state.work(f"buckets{place}", round=number) for place in range(count)]


AT_ONCE = 20_000
"""Records whose blocks are read and divided in one batch."""


def classes(state: State) -> QualifiedName:
    """Work table (rid, b0) with the class of every record."""
    return state.work("classes")


def _blocks(context: SlomsContext, state: State) -> int:
    """Number of blocks: of the size in the policy, but each with at least one class."""
    records = state[RELEASED]
    return max(1, min(-(-records // context.options.block_size), records // context.k))


def _blocked(context: SlomsContext, state: State) -> exp.Expr:
    codes = [axis.code for axis in context.axes]
    records = query(
        "select c.rid from c join b on b.rid = c.rid",
        {"c": state.work(CODED), "b": _tables(context, state, state[ROUNDS] - 1)[0]},
    ).select(*[col(code, "c") for code in codes])
    return query(
        "select :block as block, o.rid from o",
        {"o": along_curve(context.axes, state, records, ["rid", *codes])},
        block=piece_of(col(PLACE, "o"), num(_blocks(context, state)), num(state[RELEASED])),
    ).select(*[col(code, "o") for code in codes])


def _task(context: SlomsContext, state: State, given: Given, block: int, rows: Rows) -> Task:
    _, rids, *codes = zip(*rows, strict=True)
    attributes = [
        _attribute(axis, state, given.get(axis.code) or (), column)
        for axis, column in zip(context.axes, codes, strict=True)
    ]
    return partial(_classes, block, rids, attributes, context.k)


def _attribute(
    axis: Axis, state: State, values: Sequence[Any], codes: Sequence[int]
) -> Coordinates:
    """The values of a block's records as KACA takes them; code 0 is NULL."""
    if isinstance(axis, OrderedAxis):
        return Number([values[code - 1] if code else None for code in codes], width=1.0)
    if isinstance(axis, TreeAxis):
        height = max(axis.levels(state), 1)
        null = (0,) * height
        return Category(
            [tuple(values[(code - 1) * height : code * height]) if code else null for code in codes]
        )
    return Category([(code,) for code in codes])


def _classes(
    block: int, rids: Sequence[int], attributes: Sequence[Coordinates], k: int
) -> TaskResult:
    result = kaca(attributes, k)
    return TaskResult(grouped_rows(block, rids, result.classes))


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One generalized QIT, and STs with separate buckets."""
    return arranged(
        spec,
        [spec.attributes],
        sensitive_tables(spec, state),
        aligned=False,
        generalized=True,
    )


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the tables of the columns."""
    return sensitive_static(spec)


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to classes and the buckets of all sensitive tables."""
    context = SlomsContext(spec)
    steps = [
        *division_steps(
            spec,
            independent=True,
            hint="list them in one of sensitive_tables, or use the method slamsa with profile:"
            " aligned",
        ),
        *context.eligibility.steps(),
        *bucket_steps(context),
        table("blocked", "records on the curve, in blocks", lambda s: _blocked(context, s)),
        block_search(
            "classes",
            "classes of similar quasi-identifiers in every block",
            classes,
            partition_columns(0),
            blocks=Blocks(
                relation=lambda s: s.work("blocked"),
                columns=lambda s: context.codes,
                count=lambda s: _blocks(context, s),
                at_once=lambda s: max(1, AT_ONCE // context.options.block_size),
            ),
            given=lambda s: given_of_axes(context.axes, s),
            task=lambda s, given: partial(_task, context, s, given),
        ),
        table(
            "grouped",
            "the class and the buckets of every record",
            lambda s: joined([classes(s), *_tables(context, s, s[ROUNDS] - 1)]),
            into=GROUPED,
        ),
    ]
    return (Scope("what they were made from", steps, keeps=[GROUPED]),)


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    compared = [] if static_columns(spec) else [sensitive_scales(spec)]
    return mixed_scales(SlomsContext(spec).options.association, compared)


METHOD = Method(
    Sloms,
    anatomized(
        arrangement,
        groups="classes",
        generalized=True,
        static_columns=static_columns,
        warnings=warnings,
    ),
    partition_steps,
)
