"""Records of the source and rows of the release, by the location of each value.

msource       (c<i>, s<j>, n, t<j>)   records of the source by codes, suppressed ones too: a hidden
              value has its place among those that are shown; t<j> are sums of sensitive columns
mrows         (row, n, group_id, <column>_bucket..)   rows of the release
mwhere        see :mod:`pganon.methods.local.metrics`
mvalues<j>    (number, s<j>, n, size, amount)   values of the buckets of a sensitive column, as in
              :mod:`pganon.metrics.parts`; `amount` of numbers, 0 for NULL
mplaced<i>    (code, at)    hidden values of a semi-sensitive column as codes of those that are
              shown; halfway between two of them on a line
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.number_line import place
from pganon.encode.sensitive import sensitive_key
from pganon.encode.work import sensitive_values
from pganon.forms.form import Tables
from pganon.forms.shape import Shape, linking
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.staging import GROUPS
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.methods.local.search.subsets import BUCKET, GENERALIZED, WITHHELD
from pganon.metrics.parts import as_codes, parts
from pganon.metrics.source import coded_records, on_line
from pganon.policy.options import GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive, Shown
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, stacked, text
from pganon.steps import State, Step, table


def always_hidden(spec: ReleaseSpec) -> list[Sensitive]:
    """Sensitive columns that are no attributes."""
    return [item for item in spec.sensitive if item.hidden is None]


def added(spec: ReleaseSpec) -> list[Sensitive]:
    """Columns whose sums are queried."""
    return [item for item in always_hidden(spec) if item.column.is_number]


def steps(
    spec: ReleaseSpec, shape: Callable[[State], Shape], tables: Callable[[State], Tables]
) -> list[Step]:
    """From the source and the release to the work tables of this module."""
    return [
        table(
            "metric_rows",
            "published records by group and buckets",
            lambda s: query(
                "select row_number() over () as row, r.* from r",
                {"r": as_codes(linking(parts(shape(s))), tables(s), s)},
            ),
            into="mrows",
        ),
        *[
            table(
                f"metric_values{item.index}",
                f"values of the buckets of sensitive column {item.index + 1}",
                lambda s, item=item: _values(item, shape(s), tables(s), s),
                into=f"mvalues{item.index}",
            )
            for item in spec.sensitive
        ],
        *[
            table(
                f"metric_placed{axis.index}",
                f"hidden values of attribute {axis.index + 1} among those that are shown",
                lambda s, axis=axis: _placed(spec, axis, s),
                into=f"mplaced{axis.index}",
            )
            for axis in axes(spec.attributes)
            if axis.attribute.hidden is not None
        ],
        table(
            "metric_source", "source records by codes", lambda s: _source(spec, s), into="msource"
        ),
        table(
            "metric_where",
            "where the values of published records are",
            lambda s: stacked([_located(spec, a, tables(s)[GROUPS], s) for a in spec.attributes]),
            into="mwhere",
        ),
    ]


# -- records ----------------------------------------------------------------------------------


def _source(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query("select s.n from s", {"s": coded_records(spec, state)})
    for axis in axes(spec.attributes):
        item, code, alias = (
            Layout(spec).hiding(axis.attribute),
            col(axis.code, "s"),
            f"h{axis.index}",
        )
        if item is not None:
            hidden = col(f"s{item.index}", "s")
            on = exp.EQ(this=col("code", alias), expression=hidden)
            tree = tree.join(
                aliased(state.work(f"mplaced{axis.index}"), alias), on=on, join_type="left"
            )
            code = fragment(
                "case when :hidden > 0 then coalesce(:at, 0) else :code end",
                hidden=hidden,
                at=col("at", alias),
                code=code,
            )
        tree = tree.select(named(code, axis.code))
    for item in spec.sensitive:
        tree = tree.select(col(f"s{item.index}", "s"))
    for item in added(spec):
        alias = f"v{item.index}"
        on = exp.EQ(this=col("code", alias), expression=col(f"s{item.index}", "s"))
        values = aliased(state.work(sensitive_values(item.index)), alias)
        amount = fragment("s.n * :v", v=_amount(item, alias))
        tree = tree.join(values, on=on, join_type="left").select(named(amount, f"t{item.index}"))
    return tree


def _values(item: Sensitive, shape: Shape, tables: Tables, state: State) -> exp.Expr:
    (part,) = (one for one in parts(shape) if item in one.sensitive)
    return query(
        "select v.*, :amount as amount from v left join d on d.code = :code",
        {"v": as_codes(part, tables, state), "d": state.work(sensitive_values(item.index))},
        amount=_amount(item, "d"),
        code=col(f"s{item.index}", "v"),
    )


def _amount(item: Sensitive, values: str) -> exp.Expr:
    """What a value adds to a sum."""
    if not item.column.is_number:
        return num(0)
    return fragment("coalesce(:v::float8, 0)", v=col("value", values))


# -- locations ----------------------------------------------------------------------------------


def _located(spec: ReleaseSpec, attribute: Attribute, groups: Relation, state: State) -> exp.Select:
    """SELECT of mwhere."""
    group, item = col(GROUP_ID, "r"), Layout(spec).hiding(attribute)
    numbers: dict[str, exp.Expr] = {GENERALIZED: group}
    if item is not None:
        numbers |= {BUCKET: col(bucket_column(item.published), "r"), WITHHELD: num(0)}
    parts: list[exp.Select] = []
    for letter, number in numbers.items():
        rows = query(
            "select r.row, :i as attribute, :form as form, :number::bigint as number from r",
            {"r": state.work("mrows")},
            i=num(attribute.index),
            form=text(letter),
            number=number,
        )
        if item is not None:
            form = exp.EQ(this=col(form_column(item.published), "g"), expression=text(letter))
            rows = rows.join(aliased(groups, "g"), on=fragment("g.group_id = r.group_id"))
            rows = rows.where(form)
        parts.append(rows)
    return stacked(parts)


def _placed(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Expr:
    item = Layout(spec).hiding(axis.attribute)
    assert item is not None  # only of semi-sensitive columns
    hidden = query(
        "select h.code, h.value from h where h.value is not null",
        {"h": state.work(sensitive_values(item.index))},
    )
    if on_line(axis) and axis.attribute.form is Shown.RANGE:
        at = query(
            "select h.code, :place as place from h",
            {"h": hidden},
            place=place(axis.attribute, col("value", "h")),
        )
        both = stacked(
            [
                query("select a.code, a.place, true as hidden from a", {"a": at}),
                query(
                    "select p.code, p.place, false as hidden from p where p.code > 0",
                    {"p": state.work(f"mplaces{axis.index}")},
                ),
            ]
        )
        return query(
            "select w.code, case when w.below = w.above then w.below"
            " else coalesce(w.below, 0) + 0.5 end as at from (select b.code, b.hidden,"
            " max(b.code) filter (where not b.hidden) over (order by b.place) as below,"
            " min(b.code) filter (where not b.hidden) over (order by b.place desc) as above"
            " from b) as w where w.hidden",
            {"b": both},
        )
    key = cast(exp.paren(sensitive_key(item, col("value", "d"))), "text")
    return query(
        "select h.code, d.code as at from h join d on d.code > 0"
        ' and (h.value)::text collate "C" = :key collate "C"',
        {"h": hidden, "d": axis.dictionary(state)},
        key=key,
    )
