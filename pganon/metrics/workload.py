"""Random queries: answered from the published relations alone, compared with exact answers.

mqueries    see :mod:`pganon.metrics.queries`
mshares     (query, group_id, share, fewest, most)   of the records of a group, those that match,
            as far as it shows
mtotals     (group_id, size, n, t<j>)     published records and sums of every group
mestimate   (query, n, t<j>, lower, upper)   answers from what is published, and bounds of n

Where queries restrict a sensitive column:

mrecords    (c<i>, s<j>, n, t<j>)   records of the source
mtotals     (group_id, size, item, value, n, t<j>)   by value; `size` are all records of the group
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.sensitive import with_code
from pganon.forms.form import Description, Tables
from pganon.forms.match_counts import Matched, both, call, exact
from pganon.forms.request import Workload
from pganon.forms.shape import values
from pganon.metrics import queries
from pganon.metrics.answers import bounds_step, error_step
from pganon.metrics.draws import holds, predicates
from pganon.metrics.keys import Cells
from pganon.metrics.source import discrete, on_line, records, summed
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query
from pganon.steps import CreateTable, State, Step, table


def steps(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    workload: Workload,
) -> list[Step]:
    attributes, places = axes(spec.attributes), predicates(len(spec.attributes), workload)
    sums = [f"t{item.number}" for item in summed(spec)]
    restricts = bool(workload.sensitive)
    first: list[Step] = []
    if restricts:
        held = [f"v{item.index}" for item in spec.sensitive] + [item.work for item in summed(spec)]
        names = [*[axis.code for axis in attributes], *dict.fromkeys(held)]

        def every(state: State) -> exp.Select:
            return records(spec, description, names, state)

        first = [
            *queries.dictionary_steps(spec, every),
            table(
                "workload_records",
                "source records by codes and sensitive values",
                lambda s: _coded(spec, every(s), [axis.code for axis in attributes], s),
                into="mrecords",
            ),
        ]

    def totals(state: State) -> exp.Expr:
        published = values(description.shape(spec, state), tables(state))
        if restricts:
            rows = _coded(spec, published, ["group_id"], state)
            cells, asking = Cells((), spec.sensitive, places), state.work("mqueries")
            return query(
                "select h.*, sum(h.n) over (partition by h.item, h.group_id) as size from h",
                {"h": cells.select(rows, asking, ["group_id"], ["n", *sums])},
            )
        sizes = "select x.group_id, count(*) as size, count(*) as n from x group by x.group_id"
        return _added(query(sizes, {"x": published}), spec)

    proved = all(attribute.covers for attribute in spec.attributes)
    return [
        *first,
        *queries.query_steps(spec, workload, placed=True),
        queries.exact_step(spec, workload, "mrecords" if restricts else "msource", sums),
        table("workload_totals", "published records and sums by group", totals, into="mtotals"),
        share_step(attributes, places),
        table(
            "workload_estimate",
            "answers from the published relations",
            lambda s: _estimate(sums, s, restricts=restricts),
            into="mestimate",
        ),
        *[error_step(name) for name in ("n", *sums)],
        bounds_step(lambda s: s.work("mestimate") if proved else None),
    ]


# -- answers ------------------------------------------------------------------------------------


def _added(tree: exp.Select, spec: ReleaseSpec) -> exp.Select:
    """With sums of the columns of `x`, as t<j>."""
    for item in summed(spec):
        added = fragment("coalesce(sum(:v), 0)", v=cast(col(item.work, "x"), "float8"))
        tree = tree.select(named(added, f"t{item.number}"))
    return tree


def _coded(spec: ReleaseSpec, rows: exp.Select, names: Sequence[str], state: State) -> exp.Select:
    """SELECT (names.., s<j>, n, t<j>) of rows that have sensitive values as `v<j>`."""
    tree = query("select t.* from t", {"t": rows})
    for item in spec.sensitive:
        tree = with_code(tree, item, col(f"v{item.index}", "t"), state)
    columns = [col(name, "x") for name in (*names, *[f"s{item.index}" for item in spec.sensitive])]
    counted = query("select count(*) as n from x", {"x": tree}).select(*columns)
    return _added(counted, spec).group_by(*[column.copy() for column in columns])


def _estimate(sums: Sequence[str], state: State, *, restricts: bool) -> exp.Expr:
    """The sum over groups of their content, times the matching shares of their published values."""
    same: exp.Expr = fragment("t.group_id = p.group_id")
    if restricts:
        same = exp.and_(same, fragment("t.item = q.item"), holds("", col("value", "t")))
    # With a sensitive column several of its values may match.
    groups = query(
        "select q.query, p.share, p.fewest, p.most, t.size from q join p on p.query = q.query"
        " join t on :same",
        {
            "q": state.work("mqueries"),
            "p": state.work("mshares"),
            "t": state.work("mtotals"),
        },
        same=same,
    )
    for name in ("n", *sums):
        value = col(name, "t")
        groups = groups.select(named(exp.Sum(this=value) if restricts else value, name))
    if restricts:
        groups = groups.group_by("q.query", "p.group_id", "p.share", "p.fewest", "p.most", "t.size")
    leaves = Matched(col("fewest", "g"), col("most", "g"), col("share", "g"), exp.null())
    size = col("size", "g")
    found = both(size, [leaves, exact(size, col("n", "g"))])
    return query(
        "select g.query, sum(:fewest) as lower, sum(:most) as upper from g group by g.query",
        {"g": groups},
        fewest=found.fewest,
        most=found.most,
    ).select(*[named(fragment("sum(g.share * :t)", t=col(t, "g")), t) for t in ("n", *sums)])


@dataclass(frozen=True)
class Asked:
    """What a predicate asks of the values that a published value may stand for.

    Attributes:
        size, matching: how many these are, NULL among them, and how many of them match. Of other
            numbers than whole ones there are two: those that match, and the others.
        share: of values that match, if all are equally likely; NULL if nothing is covered.
        attained, certain: values that some record surely has, and those of them that match.
    """

    size: exp.Expr
    matching: exp.Expr
    share: exp.Expr
    attained: exp.Expr
    certain: exp.Expr


def asked_on_line(axis: Axis, below: exp.Expr, above: exp.Expr, table: str) -> Asked:
    """Of the values between two distances from the source's lowest, as `away` of mplaces<i>."""
    i = axis.index
    parts = {name: col(f"{name}{i}", table) for name in ("low", "high", "z")}
    parts |= {"below": below, "above": above}

    def read(text: str) -> exp.Expr:
        return fragment(text, **{k: v.copy() for k, v in parts.items() if f":{k}" in text})

    nothing = "case when :low is null or :below is null then 0 else {} end"
    inside = "greatest(0, least(:high, :above) - greatest(:low, :below){})"
    ends, hold = "0", "0"
    if axis.attribute.attained:
        ends = "case when :low is null then 0 when :low = :high then 1 else 2 end"
        hold = nothing.format(
            "(:low between :below and :above)::int"
            " + (:high > :low and :high between :below and :above)::int"
        )
    if discrete(axis):
        size, matching = "coalesce(:high - :low + 1, 0) + :z::int", inside.format(" + 1")
        share = fragment(":m / :n", m=read(nothing.format(matching)), n=exp.paren(read(size)))
    else:
        size = "2 + :z::int"
        matching = "(:low <= :above and :high >= :below)::int"
        matching += " + (:low >= :below and :high <= :above)::int"
        one = "(:low between :below and :above)::int::float8 / (1 + :z::int)"
        length = f"{inside.format('')} / (:high - :low)"
        share = read(nothing.format(f"case when :low = :high then {one} else {length} end"))
    ends = _and_null(axis, read(ends), table)
    return Asked(read(size), read(nothing.format(matching)), share, ends, read(hold))


def _and_null(axis: Axis, attained: exp.Expr, table: str) -> exp.Expr:
    """Some record lacks the value where NULL is shown, unless a region is."""
    if axis.attribute.in_regions:
        return attained
    return fragment(":s + :z::int", s=attained, z=col(f"z{axis.index}", table))


def asked_of_set(axis: Axis, bits: exp.Expr, table: str) -> Asked:
    """Of the values whose bit is set."""
    size = col(f"covers{axis.index}", table)
    matching = fragment("bit_count(:q & :b)", q=bits, b=col(f"bits{axis.index}", table))
    share = fragment(":m::float8 / nullif(:n, 0)", m=matching, n=size)
    if axis.attribute.attained:
        return Asked(size, matching, share, size, matching)
    return Asked(size, matching, share, _and_null(axis, num(0), table), num(0))


def leaf(n: exp.Expr, asked: Asked) -> Matched:
    """Bounds of how many of the n records of a group match, and their share.

    As in the papers that ask random queries, no value is taken as attained in the share.
    """
    return Matched(
        call("box_lower", n=n, size=asked.size, matching=asked.matching, certain=asked.certain),
        call(
            "box_upper",
            n=n,
            matching=asked.matching,
            attained=asked.attained,
            certain=asked.certain,
        ),
        asked.share,
        exp.null(),
    )


def asked_of(axis: Axis, place: int) -> Asked:
    """What a query `q` that asks this attribute in a place asks of a row `b` of mboxes."""
    if on_line(axis):
        return asked_on_line(axis, col(f"low{place}", "q"), col(f"high{place}", "q"), "b")
    return asked_of_set(axis, col(f"bits{place}", "q"), "b")


def share_step(attributes: Sequence[Axis], places: int) -> CreateTable:
    """The step that makes `mshares`: what is asked in each place is a condition of an estimate."""

    def select(state: State) -> exp.Expr:
        found = query(
            "select q.query, b.group_id, b.n from q cross join b",
            {"q": state.work("mqueries"), "b": state.work("mboxes")},
        )
        leaves: list[Matched] = []
        for place in range(places):
            asked = {axis.index: asdict(asked_of(axis, place)) for axis in attributes}
            for name in _FIELDS:
                case = exp.Case(this=col(f"a{place}", "q"))
                for index, one in asked.items():
                    case = case.when(num(index), one[name])
                found = found.select(named(case, f"{name}{place}"))
                if name == "matching":
                    # Most groups miss one of the predicates.
                    found = found.where(fragment(":m > 0", m=case.copy()))
            shown = Asked(**{name: col(f"{name}{place}", "x") for name in _FIELDS})
            leaves.append(leaf(col("n", "x"), shown))
        return query(
            "select x.query, x.group_id, :share as share, :fewest as fewest, :most as most from x",
            {"x": computed_once(found)},
            **{k: v for k, v in vars(both(col("n", "x"), leaves)).items() if k != "pair"},
        )

    return table("workload_shares", "shares of groups that match", select, into="mshares")


_FIELDS = [field.name for field in fields(Asked)]
