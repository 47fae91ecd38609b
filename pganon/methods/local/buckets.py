"""Buckets of the hidden values of every column that shares no buckets.

    plan<j>      (code, first, last, base, shift, modulo)   the buckets of the values; see
                 :class:`pganon.methods.local.search.assignment.Dealt`
    bucketed<j>  (rid, b, v)   or instead `ranges<j>` of :mod:`pganon.methods.local.record_order`

Plans depend only on the histogram. The order of the records with a value is drawn separately for
each column. With the same order for two columns, the places of a person in both would disclose
each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.first import first_of
from pganon.encode.secrets import row_hash, run_secret
from pganon.encode.work import reference
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import QualifiedName, quote
from pganon.methods.local.context import Context
from pganon.methods.local.eligible import histogram
from pganon.methods.local.form import facts
from pganon.methods.local.form.shared_buckets import set_of
from pganon.methods.local.record_order import bucket_of, ordered, plan, ranges_step
from pganon.methods.local.released_records import placed
from pganon.methods.local.search.assignment import Plan, diverse_buckets, divided, evenly
from pganon.methods.local.search.closeness import close_buckets
from pganon.privacy.likeness import TCloseness
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, num, query, scalar, text
from pganon.steps import Check, CreateTable, Rows, Search, State, Step, nothing_given
from pganon.steps.facts import count
from pganon.steps.tasks import Task, TaskResult

_PLAN = (
    ("code", "integer"),
    ("first", "bigint"),
    ("last", "bigint"),
    ("base", "bigint"),
    ("shift", "bigint"),
    ("modulo", "bigint"),
)


def bucketed(item: Sensitive, state: State) -> QualifiedName:
    """Work table (rid, b, v) with the buckets of a column."""
    return state.work(f"bucketed{item.index}")


def bucket_chains(context: Context) -> list[list[Step]]:
    """From `placed` and histograms to the buckets, a chain of steps for every column."""
    return [_Buckets(context, item).steps() for item in context.spec.sensitive]


@dataclass(frozen=True)
class _Buckets:
    context: Context
    item: Sensitive

    @property
    def value(self) -> str:
        return f"s{self.item.index}"

    @property
    def _least(self) -> int:
        return self.context.layout.least(self.item)

    def _independent(self, state: State) -> bool:
        """Whether the column shares no buckets."""
        return len(set_of(self.context.layout, state.facts, self.item)) == 1

    def steps(self) -> list[Step]:
        j, name = self.item.index, quote(self.item.column.name)
        return [
            Search(
                f"plan{j}",
                f"how many of each value of {name} go to which bucket",
                lambda s: plan(self.item, s),
                _PLAN,
                given=self._given,
                rows=lambda s, batch: query(
                    "select h.code, h.n, h.position from h order by h.code",
                    {"h": histogram(self.item, s)},
                ),
                tasks=lambda s, given, rows: [self._task(s, rows, given.get("shares"))],
                when=self._independent,
                gives=[facts.narrow(j)],
            ),
            Check(
                f"planned{j}",
                f"whether values of {name} in every bucket lie apart",
                lambda s: query(
                    "select :narrow as narrow", narrow=num(s.facts.get(facts.narrow(j)) or 0)
                ),
                lambda row, state: self._too_narrow(row),
                gives=[count("narrow", f"planned{j}_", assumed=0)],
            ),
            CreateTable(
                f"bucketed{j}",
                f"the bucket of every hidden value of {name}",
                lambda s: bucketed(self.item, s),
                self._placed,
                when=lambda s: self._independent(s) and not ordered(self.context, self.item, s),
            ),
            ranges_step(self.context, self.item),
        ]

    def _given(self, state: State) -> exp.Select:
        """SELECT one row: `shares` of the first version by code, as the reference of a cohort."""
        if first_of(self.context.spec, self.item) is None:
            return nothing_given(state)
        return query(
            "select array_agg(r.share order by r.position) as shares from r",
            {"r": state.work(reference(self.item.index, "source"))},
        )

    def _task(self, state: State, rows: Rows, shares: Sequence[float] | None) -> Task:
        options, model = self.context.buckets, self.context.layout.principle(self.item)
        if self.context.layout.withheld(self.item, state):
            rows = []
        return partial(
            _plan,
            rows,
            self._least,
            model if isinstance(model, TCloseness) else None,
            shares,
            split=options.split == "median",
            deals=options.assign == "deal",
            least_range=options.min_bucket_range.get(self.item.column.name, 0.0),
        )

    def _too_narrow(self, row: Mapping[str, Any]) -> PganonError | None:
        if not row["narrow"]:
            return None
        name = self.item.column.name
        least = self.context.buckets.min_bucket_range[name]
        deals = self.context.buckets.assign == "deal"
        instead = "" if deals else ", or use assign: deal, which allows larger ranges"
        return PrivacyRefusal(
            f"column {quote(name)}: no l = {self._least} assignment with range >= {least:g}",
            model="local_bucket_diversity",
            required=least,
            hint=f"lower min_bucket_range{instead}",
            code=ErrorCode.INFEASIBLE,
        )

    def _placed(self, state: State) -> exp.Expr:
        seed = scalar(run_secret(state, "partition_seed"))
        record = exp.func("row", cast(text(f"bucket {self.item.index}"), "text"), col("rid", "p"))
        ranked = query(
            "select p.rid, :s as code, :v as v,"
            " row_number() over (partition by :s order by :draw, p.rid) - 1 as rank"
            " from p where :s > 0",
            {"p": placed(self.context, state)},
            s=col(self.value, "p"),
            v=col(f"v{self.item.index}", "p"),
            draw=row_hash(record, seed),
        )
        return query(
            "select r.rid, :b as b, r.v from r"
            " join d on d.code = r.code and r.rank >= d.first and r.rank < d.last",
            {"r": ranked, "d": plan(self.item, state)},
            b=bucket_of(col("rank", "r"), "d"),
        )


def _plan(
    values: Rows,
    least: int,
    closeness: TCloseness | None,
    shares: Sequence[float] | None,
    split: bool,
    deals: bool,
    least_range: float,
) -> TaskResult:
    """The plan of one column.

    Args:
        values: (code, records, position).
        closeness: the requirement on buckets, if it is not that their values differ.
        shares: the reference distribution by code; None: that of all these values.
    """
    histogram = [(int(code), int(n)) for code, n, _ in values]
    if not histogram:
        plan = Plan((), 0)
    elif closeness is not None:
        plan = close_buckets(
            histogram,
            least,
            ordered=closeness.distance == "ordered",
            fits=closeness.satisfied_by,
            reference=shares,
        )
    else:
        positions = {int(code): float(at) for code, _, at in values if at is not None}
        plan = diverse_buckets(
            histogram,
            least,
            split=split,
            assign=evenly if deals else divided,
            positions=positions if least_range > 0 else None,
            least_range=least_range,
        )
    rows = [] if plan is None else [astuple(d) for d in plan.dealt]
    return TaskResult(rows, {"narrow": int(plan is None)})
