"""Buckets of the hidden values of every column, each by itself.

    values<j>    (code, n, position)     hidden values that go to buckets
    plan<j>      (code, first, last, base, shift, modulo)   which of them go where; see
                 :class:`pganon.search.local.assignment.Dealt`
    bucketed<j>  (rid, b)

Plans are made from the histogram alone. Which record's value is the first of its kind, the second
and so on is drawn for each column anew: were it the same order for two, the places of a person in
both would tell of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.encode.work import sensitive_values
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.local import facts
from pganon.forms.local.layout import Principle
from pganon.identifiers import QualifiedName, quote
from pganon.methods.local.shape import Shape
from pganon.privacy.frequency import LocalBucketDiversity
from pganon.privacy.likeness import TCloseness
from pganon.search.local.assignment import (
    Plan,
    diverse_buckets,
    divided,
    evenly,
)
from pganon.search.local.closeness import close_buckets
from pganon.search.tasks import TaskResult
from pganon.spec.model import Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, text
from pganon.steps import Check, CreateTable, DropTables, Search, State, Step
from pganon.steps.facts import count

_PLAN = (
    ("code", "integer"),
    ("first", "bigint"),
    ("last", "bigint"),
    ("base", "bigint"),
    ("shift", "bigint"),
    ("modulo", "bigint"),
)


def bucketed(item: Sensitive, state: State) -> QualifiedName:
    return state.work(f"bucketed{item.index}")


def bucket_steps(shape: Shape) -> list[list[Step]]:
    """From `placed` to the buckets, a chain of steps for every column."""
    return [_Buckets(shape, item).steps() for item in shape.spec.sensitive]


@dataclass(frozen=True)
class _Buckets:
    shape: Shape
    item: Sensitive

    @property
    def value(self) -> str:
        return f"s{self.item.index}"

    @property
    def _principle(self) -> Principle:
        return self.shape.layout.principle(self.item)

    @property
    def _least(self) -> int:
        return self.shape.layout.least(self.item)

    def steps(self) -> list[Step]:
        j, name = self.item.index, quote(self.item.column.name)
        return [
            CreateTable(
                f"histogram{j}",
                f"hidden values of {name}",
                lambda s: s.work(f"histogram{j}"),
                self._histogram,
            ),
            Check(
                f"eligible{j}",
                f"whether hidden values of {name} can be in buckets",
                self._sizes,
                self._ineligible,
                gives=facts.eligible(j),
            ),
            Search(
                f"plan{j}",
                f"how many of each value of {name} go to which bucket",
                lambda s: s.work(f"plan{j}"),
                _PLAN,
                given=lambda s: query("select 1 as nothing"),
                batches=lambda s: 1,
                rows=lambda s, batch: query(
                    "select h.code, h.n, h.position from h order by h.code",
                    {"h": s.work(f"histogram{j}")},
                ),
                tasks=lambda s, given, rows: [self._task(s, rows)],
                gives=[facts.narrow(j)],
            ),
            Check(
                f"planned{j}",
                f"whether values of {name} in every bucket lie apart",
                lambda s: query("select :narrow as narrow", narrow=num(s[facts.narrow(j)])),
                lambda row, state: self._too_narrow(row),
                gives=[count("narrow", f"planned{j}_", assumed=0)],
            ),
            CreateTable(
                f"bucketed{j}",
                f"the bucket of every hidden value of {name}",
                lambda s: bucketed(self.item, s),
                self._placed,
            ),
            DropTables(
                "tidy",
                "what the buckets were made from",
                lambda s: [s.work(f"histogram{j}"), s.work(f"plan{j}")],
            ),
        ]

    def _histogram(self, state: State) -> exp.Expr:
        counted = query(
            "select :s as code, count(*) as n from p where :s > 0 group by :s",
            {"p": state.work("placed")},
            s=col(self.value, "p"),
        )
        return query(
            "select h.code, h.n, :position as position from h join d on d.code = h.code",
            {"h": counted, "d": state.work(sensitive_values(self.item.index))},
            position=self._position(),
        )

    def _position(self) -> exp.Expr:
        """How far a value is from the least one; NULL where it does not matter."""
        column = self.item.column
        if column.name not in self.shape.options.min_bucket_range:
            return fragment("null::float8")
        value = col("value", "d")
        # Numbers are texts where several texts are one number.
        number = cast(value, "numeric") if column.is_number else _seconds(value)
        return fragment("(:x - min(:x) over ())::float8", x=number)

    def _sizes(self, state: State) -> exp.Expr:
        j = self.item.index
        tree = query(
            "select coalesce(sum(h.n), 0)::bigint as cells, coalesce(max(h.n), 0) as most,"
            " count(*) as kinds from h",
            {"h": state.work(f"histogram{j}")},
        )
        model, least = self._principle, num(self._least)
        if isinstance(model, LocalBucketDiversity):
            short = fragment("x.most * :l > x.cells", l=least)
        else:
            short = fragment("x.cells > 0 and (x.cells < :least or x.kinds < 2)", least=least)
        withholds = exp.true() if self.shape.options.ineligible == "withhold" else exp.false()
        return query(
            "select x.cells, x.most, x.kinds, :short as short from x", {"x": tree}, short=short
        ).select(
            named(fragment(":short and :withholds", short=short, withholds=withholds), "withheld")
        )  # fmt: skip

    def _ineligible(self, row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["short"] or self.shape.options.ineligible == "withhold":
            return None
        model, name = self._principle, quote(self.item.column.name)
        cells, most = row["cells"], row["most"]
        if isinstance(model, LocalBucketDiversity):
            reachable = cells // most
            return PrivacyRefusal(
                f"column {name}: {cells} sensitive values cannot satisfy l = {model.l}: the most"
                f" frequent value occurs {most} times, at most {cells // model.l} allowed; the"
                f" largest feasible l is {reachable}",
                model=model.name,
                required=model.l,
                observed=reachable,
                hint="lower l, use t_closeness for a column of few values, or withhold all of them"
                " with ineligible: withhold",
                code="infeasible",
            )
        if cells < self._least:
            message = f"column {name}: {cells} sensitive values, min_size is {self._least}"
        else:
            message = f"column {name}: t-closeness needs at least 2 distinct sensitive values"
        return PrivacyRefusal(
            message,
            model=model.name,
            required=model.parameter,
            hint="withhold all of them with ineligible: withhold, or leave the column out",
            code="infeasible",
        )

    def _task(self, state: State, rows: Sequence[Sequence[Any]]) -> _Task:
        options, model = self.shape.options, self._principle
        if state[facts.withheld(self.item.index)]:
            rows = []
        return _Task(
            rows,
            self._least,
            model if isinstance(model, TCloseness) else None,
            split=options.split == "median",
            deals=options.assign == "deal",
            least_range=options.min_bucket_range.get(self.item.column.name, 0.0),
        )

    def _too_narrow(self, row: Mapping[str, Any]) -> PganonError | None:
        if not row["narrow"]:
            return None
        name = self.item.column.name
        least = self.shape.options.min_bucket_range[name]
        return PrivacyRefusal(
            f"column {quote(name)}: no l = {self._least} assignment with range >= {least:g}",
            model="local_bucket_diversity",
            required=least,
            hint="lower min_bucket_range, or use assign: deal, which leaves more room",
            code="infeasible",
        )

    def _placed(self, state: State) -> exp.Expr:
        seed = scalar(run_secret(state, "partition_seed"))
        record = exp.func("row", cast(text(f"bucket {self.item.index}"), "text"), col("rid", "p"))
        ranked = query(
            "select p.rid, :s as code,"
            " row_number() over (partition by :s order by :draw, p.rid) - 1 as rank"
            " from p where :s > 0",
            {"p": state.work("placed")},
            s=col(self.value, "p"),
            draw=row_hash(record, seed),
        )
        return query(
            "select r.rid, d.base + (r.rank - d.first + d.shift) % d.modulo as b from r"
            " join d on d.code = r.code and r.rank >= d.first and r.rank < d.last",
            {"r": ranked, "d": state.work(f"plan{self.item.index}")},
        )


def _seconds(value: exp.Expr) -> exp.Expr:
    return fragment("extract(epoch from :v)", v=value)


@dataclass(frozen=True)
class _Task:
    """The plan of one column.

    Attributes:
        values: (code, records, position).
        closeness: what buckets must satisfy where it is not that their values differ.
    """

    values: Sequence[Sequence[Any]]
    least: int
    closeness: TCloseness | None
    split: bool
    deals: bool
    least_range: float

    def __call__(self) -> TaskResult:
        plan = self._plan()
        rows = [] if plan is None else [astuple(d) for d in plan.dealt]
        return TaskResult(rows, {"narrow": int(plan is None)})

    def _plan(self) -> Plan | None:
        histogram = [(int(code), int(n)) for code, n, _ in self.values]
        if not histogram:
            return Plan((), 0)
        if self.closeness is not None:
            return close_buckets(
                histogram,
                self.least,
                ordered=self.closeness.distance == "ordered",
                fits=self.closeness.satisfied_by,
            )
        positions = {int(code): float(at) for code, _, at in self.values if at is not None}
        return diverse_buckets(
            histogram,
            self.least,
            split=self.split,
            assign=evenly if self.deals else divided,
            positions=positions if self.least_range > 0 else None,
            least_range=self.least_range,
        )
