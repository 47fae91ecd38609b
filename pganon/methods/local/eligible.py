"""Eligibility of the hidden values of a column for buckets.

hidden        (s<j>, w)               how many records have these codes of hidden values
histogram<j>  (code, n, position)     hidden values that go to buckets
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.first import first_of
from pganon.encode.work import reference, sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import QualifiedName, quote
from pganon.methods.local.context import Context
from pganon.methods.local.form import facts
from pganon.methods.local.released_records import placed
from pganon.privacy.frequency import LocalBucketDiversity
from pganon.privacy.likeness import TCloseness
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, scalar
from pganon.steps import Check, CreateTable, Parallel, State, Step


def histogram(item: Sensitive, state: State) -> QualifiedName:
    """Work table (code, n, position) with the hidden values of a column."""
    return state.work(f"histogram{item.index}")


def hidden_values(state: State) -> QualifiedName:
    """Work table (s<j>, w) of hidden values of all columns together."""
    return state.work("hidden")


def eligible_steps(context: Context) -> list[Step]:
    """From `placed` to the histograms, a chain of steps for every column."""
    chains = [_Eligible(context, item).steps() for item in context.spec.sensitive]
    return [
        CreateTable(
            "hidden",
            "hidden values of all columns together",
            hidden_values,
            lambda s: _hidden(context, s),
        ),
        Parallel("eligible", "hidden values of every column", chains),
    ]


def _hidden(context: Context, state: State) -> exp.Select:
    codes = [col(f"s{item.index}", "p") for item in context.spec.sensitive]
    tree = query("select count(*) as w from p", {"p": placed(context, state)}).select(*codes)
    return tree.group_by(*[code.copy() for code in codes])


def too_frequent(
    name: str,
    l: int,  # noqa: E741 (the field's own letter)
    cells: int,
    most: int,
    hint: str,
    where: str = "",
) -> PrivacyRefusal:
    """The refusal where no buckets of l different values exist; it does not name the value."""
    reachable = cells // most
    return PrivacyRefusal(
        f"column {quote(name)}: {cells} sensitive values{where} cannot satisfy l = {l}: the most"
        f" frequent value occurs {most} times, at most {cells // l} allowed; the largest feasible"
        f" l is {reachable}",
        model=LocalBucketDiversity.name,
        required=l,
        observed=reachable,
        hint=hint,
        code=ErrorCode.INFEASIBLE,
    )


@dataclass(frozen=True)
class _Eligible:
    context: Context
    item: Sensitive

    def steps(self) -> list[Step]:
        j, name = self.item.index, quote(self.item.column.name)
        return [
            CreateTable(
                f"histogram{j}",
                f"hidden values of {name}",
                lambda s: histogram(self.item, s),
                self._histogram,
            ),
            Check(
                f"eligible{j}",
                f"whether hidden values of {name} can be in buckets",
                self._sizes,
                lambda row, state: self._ineligible(row),
                gives=facts.eligible(j),
            ),
        ]

    @property
    def _least(self) -> int:
        return self.context.layout.least(self.item)

    def _histogram(self, state: State) -> exp.Expr:
        counted = query(
            "select :s as code, sum(p.w)::bigint as n from p where :s > 0 group by :s",
            {"p": hidden_values(state)},
            s=col(f"s{self.item.index}", "p"),
        )
        return query(
            "select h.code, h.n, :position as position from h join d on d.code = h.code",
            {"h": counted, "d": state.work(sensitive_values(self.item.index))},
            position=self._position(),
        )

    def _position(self) -> exp.Expr:
        """Distance of a value from the least one; NULL where distances do not matter."""
        column = self.item.column
        if column.name not in self.context.buckets.min_bucket_range:
            return fragment("null::float8")
        value = col("value", "d")
        # Numbers are texts where several texts are one number.
        number = cast(value, "numeric") if column.is_number else _seconds(value)
        return fragment("(:x - min(:x) over ())::float8", x=number)

    def _sizes(self, state: State) -> exp.Expr:
        tree = query(
            "select coalesce(sum(h.n), 0)::bigint as cells, coalesce(max(h.n), 0) as most,"
            " count(*) as kinds from h",
            {"h": histogram(self.item, state)},
        )
        least = num(self._least)
        if isinstance(self.context.layout.principle(self.item), LocalBucketDiversity):
            short = fragment("x.most * :l > x.cells", l=least)
        else:
            short = fragment("x.cells > 0 and (x.cells < :least or x.kinds < 2)", least=least)
        short = self._or_too_far(short, state)
        withholds = exp.true() if self.context.buckets.ineligible == "withhold" else exp.false()
        return query(
            "select x.cells, x.most, x.kinds, :short as short from x", {"x": tree}, short=short
        ).select(
            named(fragment(":short and :withholds", short=short, withholds=withholds), "withheld")
        )  # fmt: skip

    def _or_too_far(self, short: exp.Expr, state: State) -> exp.Expr:
        """`short`, or one bucket of all values, the closest one, is too far from the reference."""
        model = self.context.layout.principle(self.item)
        if first_of(self.context.spec, self.item) is None or not isinstance(model, TCloseness):
            return short
        values = query("select h.code as value, h.n from h", {"h": histogram(self.item, state)})
        measured = model.measure(values, [], state.work(reference(self.item.index, "source")))
        far = query(
            "select not coalesce(:satisfied, true) from m",
            {"m": measured},
            satisfied=model.holds(col("measure", "m")),
        )
        return fragment("(:short or :far)", short=short, far=scalar(far))

    def _ineligible(self, row: Mapping[str, Any]) -> PganonError | None:
        if not row["short"] or self.context.buckets.ineligible == "withhold":
            return None
        model, name = self.context.layout.principle(self.item), self.item.column.name
        cells = row["cells"]
        if isinstance(model, LocalBucketDiversity):
            hint = (
                "lower l, use t_closeness for a column of few values, or withhold all of them with"
                " ineligible: withhold"
            )
            return too_frequent(name, model.l, cells, row["most"], hint)
        if cells < self._least:
            message = f"{cells} sensitive values, min_size is {self._least}"
        elif row["kinds"] < 2:
            message = "t-closeness needs at least 2 distinct sensitive values"
        else:
            message = (
                f"all {cells} sensitive values together are too far from those of the first version"
            )
        return PrivacyRefusal(
            f"column {quote(name)}: {message}",
            model=model.name,
            required=model.parameter,
            hint="withhold all of them with ineligible: withhold, or leave the column out",
            code=ErrorCode.INFEASIBLE,
        )


def _seconds(value: exp.Expr) -> exp.Expr:
    return fragment("extract(epoch from :v)", v=value)
