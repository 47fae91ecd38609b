"""Groups of whole classes: divided from the top of each tree while both sides are good.

above        (gid, node)          every class with the groups of the tree that have enough people
facts<n>     (gid, person, item, k, n)   rows of a person with the value k of a column of table n
held<n>      (gid, item, k, n)    people of a class with that value
sums<p>      (node, parent, n, h<n>, m<n>_<j>)   people, holders, and the most of a value, which may
                                  be 0 where no value has more than its limit
class_groups<p> (gid, grp)        the group of every class in partition p
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.work import TREE, class_groups
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.suppression import suppressed_check
from pganon.methods.related.links import everybody_released, rows_table
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.periods import LEFT_OUT, TIMED_ROWS
from pganon.resolved.tables import Events, Item, Partition, Related
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar, stacked, text, total
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import Fact, count, measure, or_null


def within(part: exp.Expr, limit: Fraction, whole: exp.Expr) -> exp.Expr:
    """Condition: a number is at most a share of another one; exact."""
    return fragment(
        "(:part)::numeric * :q <= (:whole)::numeric * :p",
        part=part,
        whole=whole,
        p=num(limit.numerator),
        q=num(limit.denominator),
    )


def bounded(events: Events) -> list[tuple[Item, Fraction]]:
    """The sensitive columns of a table, each with the share that may have a value."""
    return [(item, item.limit) for item in events.items if item.limit is not None]


def group_steps(spec: ReleaseSpec, related: Related) -> Iterator[Step]:
    yield table("above", "the groups of the tree that a class is in", lambda s: _above(s, related))
    yield from _fact_steps(related)
    for p in related.partitions:
        yield table(
            f"sums{p.index}",
            f"people and facts of {p.part}",
            lambda s, p=p: _sums(s, p, s.work(TREE), s.work("above")),
        )
        yield Check(
            f"best{p.index}",
            f"whether groups for {p.part} can be reached at all",
            lambda s, p=p: _best(s, related, p),
            lambda row, s, p=p: _unreachable(spec, related, p, row),
            gives=[*_bests(p)],
        )
    if spec.tests_once:
        # Of new individuals: whether another try succeeds would tell of those who came since.
        purpose = "parts of which nobody is released, for good"
        yield table("unfit", purpose, lambda s: _unfit(s, related))
    for p in related.partitions:
        yield table(
            class_groups(p.index),
            f"the group of every class for {p.part}",
            lambda s, p=p: _class_groups(spec, s, related, p),
        )
    if spec.tests_once:
        left = "select t.n from t join g on g.gid = -t.node"
        yield suppressed_check(
            spec,
            lambda s: query(left, {"t": s.work(TREE), "g": s.work(class_groups(0))}),
            fragment("coalesce(sum(t.n), 0)::bigint"),
        )
    yield from _timed(spec, related)


HOLDING = -1
"""The item of which everybody with rows has one value."""


def facts_table(state: State, events: Events) -> QualifiedName:
    return state.work(f"facts{events.index}")


def held_table(state: State, events: Events) -> QualifiedName:
    return state.work(f"held{events.index}")


def _fact_steps(related: Related) -> Iterator[Step]:
    for events in related.events:
        yield table(
            f"facts{events.index}",
            f"what people have in {events.name}",
            lambda s, e=events: _facts(s, e),
        )
        yield table(
            f"held{events.index}",
            f"people of every class with rows of {events.name}, and with a value",
            lambda s, e=events: query(
                "select f.gid, f.item, f.k, count(*) as n from f group by f.gid, f.item, f.k",
                {"f": facts_table(s, e)},
            ),
        )


def grouped_facts(state: State, related: Related, events: Events) -> exp.Select:
    """SELECT grp, person, item, k, n: what people in groups have in columns with views."""
    return query(
        "select g.grp, f.person, f.item, f.k, f.n from f join g on g.gid = f.gid"
        " where f.item = any(:items)",
        {
            "f": facts_table(state, events),
            "g": state.work(class_groups(related.partition_of(events).index)),
        },
        items=exp.array(*[num(item.index) for item in events.slices]),
    )


def _timed(spec: ReleaseSpec, related: Related) -> Iterator[Step]:
    """How many rows are published, or left out with their groups of a period, to count those that
    come late."""
    timed = [events for events in related.events if events.index in related.timed]

    def select(state: State) -> exp.Select:
        each = [
            query(
                "select f.n from f where f.item = :holding"
                " and (:every or f.gid in (select g.gid from g))",
                {
                    "f": facts_table(state, e),
                    "g": state.work(class_groups(related.partition_of(e).index)),
                },
                holding=num(HOLDING),
                every=exp.convert(spec.closes),
            )
            for e in timed
        ]
        rows = fragment("coalesce(sum(r.n), 0)::bigint")
        tree = query("select 1 from r", {"r": stacked(each)})
        return tree.select(named(rows, TIMED_ROWS.column), append=False)

    if timed:
        yield Check("timed", "rows of the periods that are published", select, gives=[TIMED_ROWS])


def _unfit(state: State, related: Related) -> exp.Select:
    """In whatever partition."""
    return stacked(
        [
            query(
                "select s.node from s where s.parent is null and not :good",
                {"s": state.work(f"sums{p.index}")},
                good=_good(related, p, "s"),
            )
            for p in related.partitions
        ]
    )


def _above(state: State, related: Related) -> exp.Select:
    tree = {"t": state.work(TREE)}
    leaves = query("select -t.node as gid, t.node, t.n from t where t.node < 0", tree)
    higher = query(
        "select w.gid, p.node, p.n from walk as w join t on t.node = w.node"
        " join p on p.node = t.parent",
        {**tree, "p": state.work(TREE)},
    )
    size = num(related.group_size)
    return query("select w.gid, w.node from walk as w where w.n >= :size", size=size).with_(
        "walk", as_=exp.union(leaves, higher, distinct=False), recursive=True
    )


def _facts(state: State, events: Events) -> exp.Select:
    item, codes = exp.Case(), list[exp.Expr]()
    for one in events.items:
        if one.limit is not None or one in events.slices:
            codes.append(code := col(f"k{one.index}", "r"))
            item = item.when(fragment(":k is not null", k=code), num(one.index), copy=False)
    each = [exp.Tuple(expressions=[code.copy()]) for code in codes]
    tree = query(
        "select r.gid, r.person, :item as item, :k as k, count(*) as n from r"
        " group by r.gid, r.person",
        {"r": rows_table(state, events)},
        item=item.else_(num(HOLDING)),
        k=exp.func("coalesce", *[code.copy() for code in codes], num(0)),
    )
    return tree.group_by(exp.GroupingSets(expressions=[exp.Tuple(), *each]))


def _sums(
    state: State, partition: Partition, groups: QualifiedName | exp.Select, above: QualifiedName
) -> exp.Select:
    tree = query("select t.node, t.parent, t.n from t", {"t": groups})
    for events in partition.events:
        held = held_table(state, events)
        counted = query(
            "select a.node, f.item, f.k, sum(f.n)::bigint as n from a join f on f.gid = a.gid"
            " where f.item = :holding or (f.item, f.k) in :telling group by a.node, f.item, f.k",
            {"a": above, "f": held},
            holding=num(HOLDING),
            telling=scalar(_telling(held, events)),
        )
        name = f"c{events.index}"
        most = query("select f.node from f group by f.node", {"f": counted})
        columns = [(HOLDING, f"h{events.index}")]
        columns += [(i.index, f"m{events.index}_{i.index}") for i, _ in bounded(events)]
        for item, column in columns:
            greatest = fragment("max(f.n) filter (where f.item = :item)", item=num(item))
            most = most.select(named(greatest, column))
            found = fragment("coalesce(:n, 0)", n=col(column, name))
            tree = tree.select(named(found, column))
        same = exp.EQ(this=col("node", name), expression=col("node", "t"))
        tree = tree.join(aliased(most, name), on=same, join_type="left")
    return tree


def _telling(held: QualifiedName, events: Events) -> exp.Select:
    """Values that more people of some class have than may, or nearly: only they can be too many in
    a group."""
    each = [
        fragment(
            "f.item = :item and f.n > h.n * :limit::float8 - 0.5",
            item=num(item.index),
            limit=text(repr(float(limit))),
        )
        for item, limit in bounded(events)
    ]
    return query(
        "select f.item, f.k from f join h on h.gid = f.gid where h.item = :holding and :many",
        {"f": held, "h": held},
        holding=num(HOLDING),
        many=exp.or_(*each) if each else exp.false(),
    )


def _good(related: Related, partition: Partition, sums: str) -> exp.Expr:
    """Condition: people, holders and facts of a group are enough to be one."""
    conditions = [fragment("s.n >= :m", m=num(related.group_size))]
    for events in partition.events:
        holders = col(f"h{events.index}", sums)
        conditions.append(fragment(":h = 0 or :h >= :k", h=holders, k=num(related.k)))
        for item, limit in bounded(events):
            conditions.append(within(col(f"m{events.index}_{item.index}", sums), limit, holders))
        for limit, whole in _members(partition, events, sums):
            conditions.append(within(holders.copy(), limit, whole))
    return exp.and_(*conditions)


def _members(
    partition: Partition, events: Events, sums: str
) -> Iterator[tuple[Fraction, exp.Expr]]:
    """Of whom at most a share may have rows, where that is sensitive: who could."""
    if events.membership is not None:
        for one in events.candidates:
            yield events.membership, col("n" if one is None else f"h{one}", sums)


# -- a period ------------------------------------------------------------------------------------


def period_steps(spec: ReleaseSpec, related: Related) -> Iterator[Step]:
    """The groups of a version of which the rows of a period are good; the others are left out."""
    yield from _fact_steps(related)
    yield table(
        f"numbers_{CLASS_ID}",
        "numbers of classes are those that they have",
        lambda s: query("select c.class_id as gid, c.class_id from c", {"c": _classes(spec)}),
    )
    for p in related.partitions:
        yield from _period(spec, related, p)
    yield Check(
        "left_out",
        "groups that are left out",
        lambda s: exp.select(
            named(total([_missing(s, p) for p in related.partitions]), LEFT_OUT.column)
        ),
        gives=[LEFT_OUT],
    )
    yield from _timed(spec, related)


def _missing(state: State, partition: Partition) -> exp.Expr:
    tables = {
        "s": state.work(f"sums{partition.index}"),
        "g": state.work(class_groups(partition.index)),
    }
    return scalar(query("select count(*) - (select count(distinct g.grp) from g) from s", tables))


def _period(spec: ReleaseSpec, related: Related, partition: Partition) -> Iterator[Step]:
    p, name = partition.index, class_groups(partition.index).name
    number = col(partition.number, "c")
    yield table(
        f"placed{p}",
        f"groups of classes for {partition.part}",
        lambda s: query(
            "select c.class_id as gid, :n as node from c",
            {"c": _classes(spec, partition.number)},
            n=number,
        ),
    )
    yield table(
        f"sums{p}",
        f"people and facts of {partition.part}",
        lambda s: _sums(
            s,
            partition,
            query(
                "select a.node, null::bigint as parent, count(*) as n from m"
                " join a on a.gid = m.gid group by a.node",
                {"m": everybody_released(spec), "a": s.work(f"placed{p}")},
            ),
            s.work(f"placed{p}"),
        ),
    )
    yield table(
        class_groups(p),
        f"good groups for {partition.part}",
        lambda s: query(
            "select a.gid, a.node as grp from a join s on s.node = a.node where :good",
            {"a": s.work(f"placed{p}"), "s": s.work(f"sums{p}")},
            good=_good(related, partition, "s"),
        ),
    )
    yield table(
        f"numbers_{name}",
        "numbers of groups are those that they have",
        lambda s: query(
            "select g.grp as gid from g group by g.grp", {"g": s.work(class_groups(p))}
        ).select(named(col("grp", "g"), name)),
    )


def _classes(spec: ReleaseSpec, *numbers: str) -> exp.Select:
    assert spec.growth is not None
    columns = [col(name, "t") for name in (CLASS_ID, *numbers)]
    each = [query("select 1 from t", {"t": one}) for one in spec.growth.tables_of("classes")]
    return stacked([one.select(*[c.copy() for c in columns], append=False) for one in each])


# -- whether there are such groups -----------------------------------------------------------------


def _bests(partition: Partition) -> Iterator[Fact[Any]]:
    """Facts of :func:`_best`: people, then holders, shares and members of every table."""
    of = f"groups{partition.index}_"
    yield count("people", of, assumed=1_000_000)
    yield count("tops", of, assumed=1)
    yield count("bad", of, assumed=0)
    for events in partition.events:
        yield or_null(count(f"h{events.index}", of), 1_000_000)
        shares = [f"m{events.index}_{item.index}" for item, _ in bounded(events)]
        members = enumerate(_members(partition, events, "s"))
        for name in (*shares, *[f"in{events.index}_{number}" for number, _ in members]):
            yield or_null(measure(name, of, assumed=0.0), 0.0)


def _best(state: State, related: Related, partition: Partition) -> exp.Select:
    """The best that groups can reach: the conditions hold of a union of groups that they hold of.

    So the tops of the trees are the best ones.
    """
    tree = query(
        "select min(s.n) as people, count(*) as tops,"
        " count(*) filter (where not :good) as bad from s"
        " where s.parent is null",
        {"s": state.work(f"sums{partition.index}")},
        good=_good(related, partition, "s"),
    )
    for events in partition.events:
        holders = col(f"h{events.index}", "s")
        least = fragment("min(:h) filter (where :h > 0)", h=holders)
        tree = tree.select(named(least, f"h{events.index}"))
        for item, _ in bounded(events):
            name = f"m{events.index}_{item.index}"
            tree = tree.select(named(_greatest(col(name, "s"), holders.copy()), name))
        for number, (_, whole) in enumerate(_members(partition, events, "s")):
            most = _greatest(holders.copy(), whole)
            tree = tree.select(named(most, f"in{events.index}_{number}"))
    return tree


def _greatest(part: exp.Expr, whole: exp.Expr) -> exp.Expr:
    return fragment("(max(:part::numeric / nullif(:whole, 0)))::float8", part=part, whole=whole)


def _unreachable(
    spec: ReleaseSpec, related: Related, partition: Partition, row: Mapping[str, Any]
) -> PganonError | None:
    if row["bad"] == 0 or (spec.tests_once and row["bad"] < row["tops"]):
        return None
    if row["people"] < related.group_size:
        return PrivacyRefusal(
            f"groups need {related.group_size} people, and the smallest part that is kept apart has"
            f" {row['people']}",
            model="k_anonymity",
            required=related.group_size,
            observed=row["people"],
            hint="lower group_size, keep fewer columns apart, or release a larger table",
            code=ErrorCode.TOO_FEW_RECORDS,
        )
    shares: list[tuple[str, float | None, Fraction]] = []
    for events in partition.events:
        holders = row[f"h{events.index}"]
        if holders is not None and holders < related.k:
            return PrivacyRefusal(
                f"only {holders} people of a part that is kept apart have rows in"
                f" {quote(events.name)}; whoever knows that somebody has rows is to find at least"
                f" {related.k}",
                model="k_anonymity",
                required=related.k,
                observed=holders,
                hint="lower k, keep fewer columns apart, or leave the table out",
                code=ErrorCode.TOO_FEW_HOLDERS,
            )
        shares += [
            (
                f"values of {quote(item.column.name)} of {quote(events.name)}",
                row[f"m{events.index}_{item.index}"],
                limit,
            )
            for item, limit in bounded(events)
        ]
        shares += [
            (f"rows of {quote(events.name)}", row[f"in{events.index}_{number}"], limit)
            for number, (limit, _) in enumerate(_members(partition, events, "s"))
        ]
    what, reached, limit = max(shares, key=lambda one: (one[1] or 0) - float(one[2]))
    best = float(reached or 0)
    rounded = min(1.0, -(-best * 1000 // 1) / 1000)  # to the side that can be reached
    return PrivacyRefusal(
        f"event_share beta = {float(limit):g} cannot be reached by {what}, whatever groups are"
        f" made; the best reachable is beta = {rounded:g}",
        model="event_share",
        required=float(limit),
        observed=best,
        hint="raise beta, declare the column insensitive, or leave it out",
        code=ErrorCode.EVENT_SHARE,
    )


# -- groups ----------------------------------------------------------------------------------------


def _class_groups(
    spec: ReleaseSpec, state: State, related: Related, partition: Partition
) -> exp.Select:
    """From the tops down, as far as both sides of every cut on the way are good."""
    tree, sums = {"t": state.work(TREE)}, {"s": state.work(f"sums{partition.index}")}
    divided = query(
        "select s.parent as node from s where s.parent is not null group by s.parent"
        " having bool_and(:good) and count(*) = 2",
        sums,
        good=_good(related, partition, "s"),
    )
    tops = query("select t.node from t where t.parent is null", tree)
    if spec.tests_once:
        unfit = query("select u.node from u", {"u": state.work("unfit")})
        tops = tops.where(fragment("t.node not in :unfit", unfit=scalar(unfit)))
    lower = query(
        "select t.node from walk as w join divided as d on d.node = w.node"
        " join t on t.parent = w.node",
        tree,
    )
    ended = query(
        "select w.node from walk as w"
        " where not exists (select from divided as d where d.node = w.node)"
    )
    return (
        query(
            "select a.gid, e.node as grp from a join ended as e on e.node = a.node",
            {"a": state.work("above")},
        )
        .with_("divided", as_=divided, recursive=True)
        .with_("walk", as_=exp.union(tops, lower, distinct=False), recursive=True)
        .with_("ended", as_=ended, recursive=True)
    )
