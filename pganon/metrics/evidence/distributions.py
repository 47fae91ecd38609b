"""Distributions of quasi-identifiers in the source and in the release, in few bins.

Numbers and times are counted in steps of 1, 2 or 5 times a power of ten (of years, months or days),
between the points that 5 % of the records are below and above. Other columns are shown by value.
Bins are bounded by such steps or named by values that many people have, so that no least or
greatest value shows. Shares of steps are of the records that have a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.encode.people import has_several
from pganon.metrics.evidence import exactness
from pganon.metrics.evidence.merging import merged
from pganon.metrics.evidence.people import attribute_steps, of_attribute
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, num, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import Fact, Facts, count, label, measure, rows

WANTED = 14
"""Steps between the two points, at most."""

_TIMES = (
    "select case when max(d.value)::date - min(d.value)::date >= 5 * 366 then 'year'"
    " when max(d.value)::date - min(d.value)::date >= 5 * 31 then 'month' else 'day' end as unit"
    " from d where d.code > 0"
)
"""The unit in which times are counted: the values span five of them at least."""

_PLACES = (
    "case u.unit when 'year' then extract(year from d.value)::numeric"
    " when 'month' then"
    " (extract(year from d.value) * 12 + extract(month from d.value) - 1)::numeric"
    " else (d.value::date - date '2000-01-01')::numeric end"
)
"""Years, months since the year 0, and days since 2000-01-01."""


def in_steps(axis: Axis) -> bool:
    """Whether values are numbers or times, which are counted in steps."""
    column = axis.attribute.column
    return not isinstance(axis, TreeAxis) and (
        axis.attribute.order is None and (column.is_number or column.is_time)
    )


def steps(spec: ReleaseSpec, axis: Axis) -> list[Step]:
    """From `mdist<i>`, see :mod:`pganon.metrics.distribution`."""
    return [*attribute_steps(spec, axis.attribute), _check(spec, axis)]


def _check(spec: ReleaseSpec, axis: Axis) -> Check:
    select = _in_steps if in_steps(axis) else _by_value
    return Check(
        f"distribution{axis.index}",
        f"distribution of attribute {axis.index + 1} in the source and in the release",
        lambda s: select(spec, axis, s),
        gives=_facts(axis),
    )


def _facts(axis: Axis) -> list[Fact[Any]]:
    of = f"distribution{axis.index}_"
    if in_steps(axis):
        return [rows("bins", of), label("unit", of)]
    others = [measure(f"others_{name}", of) for name in ("source", "release")]
    return [rows("values", of), count("others", of), *others]


def documents(
    axes: Sequence[Axis], facts: Facts, smallest: int, *, whole: bool
) -> list[dict[str, Any]]:
    """How attributes are shown as JSON; of a run also their distributions."""
    found: list[dict[str, Any]] = []
    for axis in axes:
        one = {"column": axis.attribute.published, **exactness.document(axis, facts)}
        found.append(one if whole else {**one, "distribution": document(axis, facts, smallest)})
    return found


def document(axis: Axis, facts: Facts, smallest: int) -> dict[str, Any]:
    """As JSON: bins with `source` and `release`, shares that add up to 1."""
    read = [facts[fact] for fact in _facts(axis)]
    found = _stepped(smallest, *read) if in_steps(axis) else _named(*read)
    bins = [*found["bins"], *([found["others"]] if found.get("others") else [])]
    error = max((abs(one["source"] - one["release"]) for one in bins), default=None)
    return {**found, "largest_error": None if error is None else round(error, 4)}


def _stepped(smallest: int, every: Sequence[Any], unit: str) -> dict[str, Any]:
    """A bin reaches to the edge of the next one; the first and the last have no end."""
    # Without those before and after all people.
    held = [place for place, (_, _, share, _) in enumerate(every) if share]
    read = every[held[0] : held[-1] + 1] if held else []
    people, empty = [n for _, n, _, _ in read], [not share for _, _, share, _ in read]
    bins: list[dict[str, Any]] = []
    for first, last in merged(people, smallest, empty):
        inside = read[first : last + 1]
        bins.append(
            {
                "from": None if first == 0 else read[first][0],
                "below": None if last == len(read) - 1 else read[last + 1][0],
                "source": round(sum(p for _, _, p, _ in inside), 4),
                "release": round(sum(q for _, _, _, q in inside), 4),
            }
        )
    return {"kind": "steps", "unit": unit, "bins": bins}


def _named(values: Sequence[Any], hidden: int, source: float, release: float) -> dict[str, Any]:
    # Others alone are everybody, and perhaps few.
    others = hidden if values else 0
    return {
        "kind": "values",
        "bins": [
            {"value": value, "source": round(p, 4), "release": round(q, 4)}
            for value, p, q in values
        ],
        "others": {
            "values": others,
            "source": round(source, 4),
            "release": round(release, 4),
        }
        if others
        else None,
    }


# -- numbers and times --------------------------------------------------------------------------


def _in_steps(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Expr:
    placed = _placed(spec, axis, state)
    points = query(
        "select min(k.x) filter (where k.upto >= 0.05) as low,"
        " min(k.x) filter (where k.upto >= 0.95) as high from k",
        {"k": query("select c.x, sum(c.p) over (order by c.x) as upto from c", {"c": placed})},
    )
    raw = query(
        "select t.low, t.high, (t.high - t.low) / :wanted as raw,"
        " power(10::numeric, floor(log(nullif(t.high - t.low, 0) / :wanted))) as ten from t",
        {"t": points},
        wanted=num(WANTED),
    )
    step = query(
        "select u.low, u.high, coalesce(nullif(greatest(case when u.raw <= u.ten then u.ten"
        " when u.raw <= 2 * u.ten then 2 * u.ten when u.raw <= 5 * u.ten then 5 * u.ten"
        " else 10 * u.ten end, :least), 0), 1) as step from u",
        {"u": raw},
        least=num(0 if axis.attribute.column.kind in ("numeric", "float") else 1),
    )
    binned = query(
        "select least(greatest(floor(c.x / s.step), floor(s.low / s.step) - 1),"
        " floor(s.high / s.step) + 1) as bin, c.n, c.p, c.q, c.unit from c cross join s",
        {"c": placed, "s": step},
    )
    bins = query(
        "select b.bin, sum(b.n)::bigint as n, max(b.unit) as unit, sum(b.p) as p,"
        " coalesce(sum(b.q) / nullif(sum(sum(b.q)) over (), 0), 0) as q from b group by b.bin",
        {"b": binned},
    )
    every = query(
        "select b.n, b.unit, b.p / sum(b.p) over () as p, b.q, trim_scale(g.bin * s.step) as edge"
        " from s cross join lateral generate_series("
        "floor(s.low / s.step) - 1, floor(s.high / s.step) + 1) as g(bin)"
        " left join b on b.bin = g.bin",
        {"s": step, "b": bins},
    )
    return query(
        "select coalesce(jsonb_agg(jsonb_build_array(e.edge, coalesce(e.n, 0), coalesce(e.p, 0),"
        " coalesce(e.q, 0)) order by e.edge), '[]') as bins, coalesce(max(e.unit), '') as unit"
        " from e",
        {"e": every},
    )


def _placed(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    """SELECT x, n, p, q, unit of every value: where it lies, in the unit of its bins."""
    tree = query(
        "select m.p, m.q, :people as n, u.unit from m join d on d.code = m.code cross join u"
        " where d.code > 0",
        {
            "m": state.work(f"mdist{axis.index}"),
            "d": axis.dictionary(state),
            "u": query("select '' as unit")
            if axis.attribute.column.is_number
            else query(_TIMES, {"d": axis.dictionary(state)}),
        },
        people=_PEOPLE["first"].copy() if has_several(spec) else col("n", "d"),
    )
    tree = _with_holders(tree, spec, axis, state)
    number = axis.attribute.column.is_number
    return tree.select(named(fragment("d.value::numeric" if number else _PLACES), "x"))


# -- other columns ------------------------------------------------------------------------------


def _by_value(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Expr:
    several = has_several(spec)
    counted = query(
        "select :label as label, d.code, d.code as key, :n as n, :first as first, m.p, m.q"
        " from m join d on d.code = m.code",
        {"m": state.work(f"mdist{axis.index}"), "d": axis.dictionary(state)},
        label=fragment("left(:v, 80)", v=cast(col("value", "d"), "text")),
        **{name: f.copy() if several else col("n", "d") for name, f in _PEOPLE.items()},
    )
    counted = _with_holders(counted, spec, axis, state)
    return query(
        "select coalesce(jsonb_agg(jsonb_build_array(r.label, r.p, r.q) order by :order)"
        " filter (where not r.hidden), '[]') as values,"
        " count(*) filter (where r.hidden) as others,"
        " coalesce(sum(r.p) filter (where r.hidden), 0)::float8 as others_source,"
        " coalesce(sum(r.q) filter (where r.hidden), 0)::float8 as others_release from r",
        {"r": hidden_first(counted, spec.policy.report.smallest, SHOWN)},
        order=fragment("r.code" if axis.attribute.order is not None else "- r.place"),
    )


_PEOPLE = {name: fragment(f"coalesce(h.{name}, 0)") for name in ("n", "first")}
"""Of a value that somebody has who has several records."""


def _with_holders(tree: exp.Select, spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    """With `h`, the people who have a value, where they may have several records."""
    if not has_several(spec):
        return tree
    held = aliased(of_attribute(axis.attribute, state), "h")
    return tree.join(held, on=fragment("h.key = d.code"), join_type="left")
