"""Distributions of single attributes: published against source.

mdist<i>   (code, p, q, at)   share of the value among all source records, and among the released
           ones where every record is spread evenly over the source's values that it may have
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.metrics.coverage import members
from pganon.metrics.source import labelled, on_line
from pganon.resolved.model import Shown
from pganon.sqltools import col, fragment, named, query, stacked
from pganon.steps import Check, CreateTable, State, Step, table
from pganon.steps.facts import Fact, measure, or_null

DISTANCES = ("kl", "uncovered", "difference", "absolute", "half_width", "emd")


def distance(index: int, name: str) -> Fact[float | None]:
    """One of :data:`DISTANCES` of a quasi-identifier; None where it cannot be measured."""
    return or_null(measure(name, f"metric{index}_"))


def table_step(axis: Axis, select: Callable[[Axis, State], exp.Expr] | None = None) -> CreateTable:
    """From `mshown`, `mcover<i>` and `mplaces<i>`; or `select`, of forms without these."""
    return table(
        f"metric_distribution{axis.index}",
        f"source and published distribution of attribute {axis.index + 1}",
        lambda s: (select or _distribution)(axis, s),
        into=f"mdist{axis.index}",
        inline=True,
    )


def steps(axes: tuple[Axis, ...]) -> list[Step]:
    made: list[Step] = []
    for axis in axes:
        made.append(table_step(axis))
        made.append(
            Check(
                f"metric_distance{axis.index}",
                f"distances between the distributions of attribute {axis.index + 1}",
                lambda s, axis=axis: _distances(axis, s),
                gives=[distance(axis.index, name) for name in DISTANCES],
            )
        )
    return made


def weights(axis: Axis, state: State) -> exp.Select:
    """Published values as in mcover<i>, with `n` records, and the `share` on each value that it
    covers of all records that show one."""
    i = axis.index
    rows = query("select b.n from b", {"b": state.work("mshown")}).select(
        named(col(f"id{i}", "b"), "id")
    )
    if axis.attribute.hidden is not None:
        rows = rows.where(fragment(":z is not null", z=col(f"z{i}", "b")))
    return query(
        "select c.*, w.n, w.n / nullif(c.covers, 0) / sum(w.n) over () as share from c join"
        " (select b.id, sum(b.n)::float8 as n from b group by b.id) as w on w.id = c.id",
        {
            "c": state.work(f"mcover{i}"),
            "b": rows,
        },
    )


def _distribution(axis: Axis, state: State) -> exp.Expr:
    i, weighed = axis.index, weights(axis, state)
    # Leaves of a hierarchy are numbered from left to right, so a label covers neighbours.
    in_order = on_line(axis) or labelled(axis)
    published = _by_line(axis, state, weighed) if in_order else _by_set(axis, state, weighed)
    return query(
        "select v.code, v.at, v.n::float8 / sum(v.n) over () as p,"
        " coalesce(s.share, 0) as q from v left join s on s.code = v.code",
        {"v": state.work(f"mplaces{i}"), "s": published},
    )


def _by_line(axis: Axis, state: State, weights: exp.Select) -> exp.Select:
    """(code, share) by adding up where covers begin and end.

    Whole numbers count the covers beside the shares: sums of shares do not come back to 0.
    """
    ends = stacked(
        [
            query(
                "select w.lo as code, w.share, 1 as one from w where w.lo <= w.hi", {"w": weights}
            ),
            query(
                "select w.hi + 1 as code, -w.share as share, -1 as one from w where w.lo <= w.hi",
                {"w": weights},
            ),
            query(
                "select p.code, 0::float8 as share, 0 as one from p where p.code > 0",
                {"p": state.work(f"mplaces{axis.index}")},
            ),
        ]
    )
    running = query(
        "select e.code, sum(sum(e.share)) over (order by e.code) as share,"
        " sum(sum(e.one)) over (order by e.code) as covers from e group by e.code",
        {"e": ends},
    )
    return stacked(
        [
            query(
                "select r.code, case when r.covers > 0 then greatest(r.share, 0) else 0 end"
                " as share from r",
                {"r": running},
            ),
            query(
                "select 0 as code, sum(w.share) filter (where w.z) as share from w", {"w": weights}
            ),
        ]
    )


def _by_set(axis: Axis, state: State, weights: exp.Select) -> exp.Select:
    return query(
        "select m.code, sum(w.share) as share from m join w on w.id = m.id group by m.code",
        {"m": members(axis, state), "w": weights},
    )


def _distances(axis: Axis, state: State) -> exp.Expr:
    distribution = {"d": state.work(f"mdist{axis.index}")}
    logs = query(
        "select sum(d.p * ln(d.p / d.q)) filter (where d.q > 0) as kl,"
        " coalesce(sum(d.p) filter (where d.q = 0), 0) as uncovered from d",
        distribution,
    )
    histogram = query("select d.* from d", distribution)
    if on_line(axis):
        # NULL has no place on the line: both sides leave it out.
        histogram = query(
            "select d.code, d.at, d.p / sum(d.p) over () as p,"
            " d.q / nullif(sum(d.q) over (), 0) as q from d where d.code > 0",
            distribution,
        )
    relative = query(
        "select avg((k.q - k.p) / k.p) as difference, avg(abs(k.q - k.p) / k.p) as absolute,"
        " coalesce(1.96 * stddev_samp((k.q - k.p) / k.p) / sqrt(count(*)), 0) as half_width from k",
        {"k": histogram},
    )
    return query(
        "select l.kl, l.uncovered, r.difference, r.absolute, r.half_width, e.emd"
        " from l cross join r cross join e",
        {"l": logs, "r": relative, "e": _earth(axis, state, histogram)},
    )


def _earth(axis: Axis, state: State, histogram: exp.Select) -> exp.Select:
    if not on_line(axis):
        return query("select sum(abs(k.p - k.q)) / 2 as emd from k", {"k": histogram})
    if axis.attribute.form is Shown.MEAN:
        # (at, p, q) where published means are at their own place, not at the nearest value.
        means = query(
            "select w.start as at, 0::float8 as p, w.share / sum(w.share) over () as q from w"
            " where w.start is not null",
            {"w": weights(axis, state)},
        )
        values = query("select k.at, k.p, k.q - k.q as q from k", {"k": histogram})
        histogram = stacked([values, means])
    moved = query(
        "select sum(sum(k.p - k.q)) over (order by k.at) as earth,"
        " lead(k.at) over (order by k.at) - k.at as far from k group by k.at",
        {"k": histogram},
    )
    return query(
        "select case when count(m.earth) = count(*) then"
        " coalesce(sum(abs(m.earth) * m.far), 0) end as emd from m",
        {"m": moved},
    )
