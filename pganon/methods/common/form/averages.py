"""Means that classes show of the weights of their records, and a range around these.

They depend on the class alone, so whoever knows weights finds no fewer records by them. A mean is
exact to six decimals; the range reaches from the least to the greatest weight, each rounded outward
to one significant digit, since exact ends would be those of single records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.weights import DEFF, OF_RELEASE, PRESENCE, WEIGHTED
from pganon.encode.work import WEIGHT
from pganon.errors import PganonError, PreconditionError, Unbalanced
from pganon.forms.facts import withheld_values
from pganon.forms.shape import Relations, Shape
from pganon.identifiers import quote
from pganon.methods.common.form.class_records import classes_of_cells, encoded_records, same_cell
from pganon.methods.common.form.flat import FlatColumn
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import Averaged, Microaggregated, ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, render
from pganon.steps import Check, State
from pganon.steps.facts import count
from pganon.steps.relations import CheckQuery, ViewColumn

_MOST = 1e15
"""Sums below keep the decimals of means, also as floats."""

MEANS = "microaggregation"
"""Name of the check of means of groups."""

_ASTRAY = count("astray_means", assumed=0)


def with_averages(spec: ReleaseSpec, state: State, classes: exp.Select) -> exp.Select:
    """A SELECT of `class_id` and other columns of classes, with those of means."""
    if not spec.averaged:
        return classes
    tree = query(
        "select t.* from t join a on a.class_id = t.class_id",
        {"t": classes, "a": _sums(spec, state)},
    ).order_by(col(CLASS_ID, "t"))
    for item in spec.averaged:
        i = item.index
        mean = fragment(
            "div(:sum * 2000000 + a.n, 2 * a.n) * 0.000001", sum=col(f"s{i}", "a")
        )  # rounded as it is, not as a quotient of 16 digits
        tree = tree.select(named(mean, item.published))
        if item.ranged:
            least, most = col(f"least{i}", "a"), col(f"most{i}", "a")
            around = fragment(
                "numrange(:low, :high + case when :high < :most then"
                " ('1e' || floor(log(:most))::integer)::numeric else 0 end, '[]')",
                low=_one_digit(least),
                high=_one_digit(most),
                most=most,
            )
            tree = tree.select(named(around, item.range_name))
    return tree


def _one_digit(value: exp.Expr) -> exp.Expr:
    return fragment("trunc(:v, - floor(log(:v))::integer)", v=value)


def _sums(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT class_id, n, and of every column its sum `s<i>`, that of squares `q<i>`, and ends."""
    records = _records(spec, state, WEIGHT)
    tree = query("select r.class_id, count(*) as n from r group by r.class_id", {"r": records})
    for item in spec.averaged:
        found = {"s": "sum(:m)", "q": "sum(:m * :m)", "least": "min(:m)", "most": "max(:m)"}
        for name, text in found.items():
            value = fragment(text, m=col("v", "r"))
            tree = tree.select(named(value, f"{name}{item.index}"))
    return tree


def _records(spec: ReleaseSpec, state: State, column: str) -> exp.Select:
    """SELECT class_id, v: the values of a column of the encoded records."""
    records = {"c": encoded_records(spec, state)}
    tree = query("select g.class_id, :v as v from c", records, v=col(column, "c"))
    classes = aliased(classes_of_cells(spec, state), "g")
    return tree.join(classes, on=same_cell(spec, state, "g", "c"))


def average_steps(spec: ReleaseSpec) -> list[Check]:
    """Once `classes` are staged: their means against the records, and what is told of them."""
    return [
        Check(
            f"means{item.index}",
            f"the means of {quote(item.published)} against the records of the classes",
            lambda s, item=item: _measured(spec, item, s),
            lambda row, state, item=item: _problem(item, row),
            gives=(_ASTRAY, *OF_RELEASE),
        )
        for item in spec.averaged
    ]


def _measured(spec: ReleaseSpec, item: Averaged, state: State) -> exp.Select:
    i = item.index
    wrong = fragment(
        "(abs(:mean * e.n - :s) <= e.n * 0.0000005) is not true",
        mean=col(item.published, "c"),
        s=col(f"s{i}", "e"),
    )
    if item.ranged:
        ends = fragment(
            ":r @> :least and :r @> :most",
            r=col(item.range_name, "c"),
            least=col(f"least{i}", "e"),
            most=col(f"most{i}", "e"),
        )
        wrong = exp.or_(wrong, fragment("(:ends) is not true", ends=ends))
    return query(
        "select count(*) filter (where :wrong) as astray_means, sum(:s) as weighted,"
        " sum(e.n) * sum(:q) / (sum(:s) * sum(:s)) as deff,"
        " 1 / greatest(min(:mean), 0.0000005) as presence"
        " from e full join c on c.class_id = e.class_id",
        {"e": _sums(spec, state), "c": state.stage("classes")},
        wrong=wrong,
        s=col(f"s{i}", "e"),
        q=col(f"q{i}", "e"),
        mean=col(item.published, "c"),
    )


def _problem(item: Averaged, row: Mapping[str, Any]) -> PganonError | None:
    if row[WEIGHTED.column] >= _MOST or row[PRESENCE.column] > 1e6:
        return PreconditionError(
            f"weights of column {quote(item.column.name)} are too large or too small: a mean has 6"
            " decimals, and the sum of all must be below 1e15",
            hint="a weight is how many people a record stands for; scale the column in a view",
        )
    if row[_ASTRAY.column]:
        return Unbalanced(f"{row[_ASTRAY.column]} classes show other means than their records have")
    return None


def mean_column(spec: ReleaseSpec, item: Microaggregated, number: str | None) -> ViewColumn:
    """A column of means of groups of records; `number` is that of the number of a class."""
    of = "all values" if item.whole else f"{item.least} or more similar values"
    said = f"Number. Mean of {of} of the class; NULL where there are fewer, or none of the record."
    column = ViewColumn(item.published, "numeric", said, "mean", "numeric", part=item.published)
    return column if number is None else column.located(number)


def mean_checks(shape: Shape, spec: ReleaseSpec, tables: Relations) -> list[CheckQuery]:
    """Every mean that is shown is one of enough records of a class, and the only one where it is of
    the whole."""
    _, records, *_ = shape
    found: list[CheckQuery] = []
    for item in records.microaggregated:
        least = item.least_in(spec)
        groups = query(
            "select r.class_id, count(*) as n from r where :v is not null group by r.class_id, :v",
            {"r": tables[records.part]},
            v=col(item.published, "r"),
        )
        worst = query(
            "select coalesce(min(c.n), :least) as measured,"
            " count(*) filter (where c.n < :least or :whole and c.groups > 1) as failing"
            " from (select min(g.n) as n, count(*) as groups from g group by g.class_id) as c",
            {"g": groups},
            least=num(least),
            whole=exp.Boolean(this=item.whole),
        )
        name = item.column.name
        found.append(CheckQuery(MEANS, "g", name, least, ">=", "", render(worst)))
    return found


def group_steps(spec: ReleaseSpec) -> list[Check]:
    """Once `records` are staged: their means against the values of their classes."""
    return [
        Check(
            f"groups{item.index}",
            f"the means of {quote(item.published)} against the values of the classes",
            lambda s, item=item: _grouped(spec, item, s),
            lambda row, state: (
                Unbalanced(f"{row['astray']} classes show other means than their records have")
                if row["astray"]
                else None
            ),
            gives=(count("astray", f"groups{item.index}_", assumed=0), withheld_values(item)),
        )
        for item in spec.microaggregated
    ]


def _grouped(spec: ReleaseSpec, item: Microaggregated, state: State) -> exp.Select:
    """Sums of classes are equal, but for rounding, or nothing is shown of too few values."""
    own = _records(spec, state, f"g{item.index}")
    shown = query(
        "select r.class_id, :v as v from r",
        {"r": state.stage("records")},
        v=col(item.published, "r"),
    )
    sums = (
        "select r.class_id, count(r.v) as n, coalesce(sum(r.v), 0) as v from r group by r.class_id"
    )
    return query(
        "select count(*) filter (where (case when s.n = 0 then o.n < :least"
        " else s.n = o.n and abs(s.v - o.v) <= o.n * 0.0000005 end) is not true) as astray,"
        " coalesce(sum(o.n) filter (where s.n = 0), 0) as withheld_values"
        " from o full join s on s.class_id = o.class_id",
        {"o": query(sums, {"r": own}), "s": query(sums, {"r": shown})},
        least=num(item.least_in(spec)),
    )


def average_columns(
    spec: ReleaseSpec, state: State, number: str, *, flat: bool
) -> Iterator[FlatColumn]:
    """The columns of means; `number` is that of the number of a class."""
    deff = state.facts.get(DEFF) if spec.growth is None else None
    effect = "" if deff is None else f" Design effect by weights {deff:.2f} (Kish)."
    for item in spec.averaged:
        said = f"Sample weight. Mean of the class.{effect} It gives no standard errors."
        shown = ViewColumn(item.published, "numeric", said, "weight", "numeric")
        yield FlatColumn(shown if flat else shown.located(number), col(item.published, "c"))
        if not item.ranged:
            continue
        around = col(item.range_name, "c")
        for name, end, which in zip(
            item.flat_names, ("lower(:r)", "upper(:r)"), ("above or at", "below or at"), strict=True
        ):
            if flat:
                said = f"Sample weights of the class are {which} this, rounded to one digit."
                yield FlatColumn(ViewColumn(name, "numeric", said), fragment(end, r=around))
        if not flat:
            said = "Sample weight. Least to greatest of the class, rounded outward to one digit."
            ranged = ViewColumn(item.range_name, "numrange", said, "weight_range", "numeric")
            yield FlatColumn(ranged.located(number), around)
