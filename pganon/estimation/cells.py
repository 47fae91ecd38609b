"""The cells of a query: what every bucket allows of each group.

A cell has bounds and probabilities of the conditions, and for every measured column those of its
own part apart from those of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.estimation import formulas
from pganon.estimation.boxed import BUCKETS, BoxedPart, numbered
from pganon.estimation.exactly import ExactPart
from pganon.estimation.question import Question, parts_of
from pganon.estimation.release import Part, Published
from pganon.estimation.tangles import AnyPart, Tangle
from pganon.forms.matched import Matched, both, call, exact
from pganon.sqltools import cast, col, fragment, named, num, query


@dataclass(frozen=True)
class Query:
    """A question with its parts, ready to be written.

    Attributes:
        parts: but for those in tangles.
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    question: Question
    parts: dict[Part, AnyPart]
    measured: dict[int, Published]
    tangles: tuple[Tangle, ...] = ()

    @property
    def persons(self) -> int | None:
        """The number of the column of individuals, if these and not records are independent."""
        person = self.question.release.person
        return next((i for i, column in self.measured.items() if column == person), None)

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in range(len(self.question.keys))]

    def part_of(self, number: int) -> AnyPart:
        return self.parts[self.measured[number].part]

    def in_home(self, part: AnyPart) -> bool:
        """Whether one row per bucket is enough, which the scan of the first view gives."""
        if isinstance(part, BoxedPart) or part.person is not None:
            return False
        same = part.part.view == self.question.release.home.view
        return same and not part.keys and not part.part.array


def buckets(asked: Query) -> exp.Select:
    """(bucket, n, boxes, totals): every bucket with its records."""
    home = asked.question.release.home
    weight = col(home.weight, "t") if home.weight else num(1)
    tree = query(
        "select :b as bucket, sum(:w)::bigint as n from t",
        {"t": home.view},
        b=col(home.bucket, "t"),
        w=weight,
    )
    inside = [part for tangle in asked.tangles for part in tangle.parts.values()]
    boxed = [p for p in (*asked.parts.values(), *inside) if isinstance(p, BoxedPart)]
    shown = [named(item, name) for part in boxed for name, item in part.published("t").items()]
    tree = tree.select(*shown).group_by(*[num(i) for i in (1, *range(3, 3 + len(shown)))])
    totals: list[str] = []
    for part in asked.parts.values():
        if isinstance(part, ExactPart) and asked.in_home(part):
            tree = tree.select(*part.totals())
            totals += [item.alias for item in part.totals()]
    person = asked.question.release.person
    if person is not None:
        units = fragment("count(distinct :p)::bigint", p=col(person.name, "t"))
        tree = tree.select(named(units, "units"))
        totals.append("units")
    kept = [col(name, "t") for name in totals]
    places = query("select t.bucket, t.n from t", {"t": tree})
    places = places.select(
        *[named(item, name) for part in boxed for name, item in part.shown("t").items()], *kept
    )
    outer = query("select i.bucket, i.n from i", {"i": places})
    return outer.select(*numbered(boxed, "i"), *[col(name, "i") for name in totals])


def cells(asked: Query) -> exp.Select:
    """(cell, grp, bucket, n, keys, lo, hi, p, p2, ...): one row per bucket and group."""
    found = query("select c.* from c where c.hi > 0", {"c": _counted(asked)})
    order = [exp.Ordered(this=col(name, "c"), nulls_first=False) for name in asked.key_names]
    group: exp.Expr = num(1)
    if order:
        group = exp.Window(
            this=exp.Anonymous(this="dense_rank"), order=exp.Order(expressions=order)
        )
    number = exp.Window(this=exp.RowNumber())
    return found.select(named(number, "cell"), named(cast(group, "bigint"), "grp"))


def _counted(asked: Query) -> exp.Select:
    """What formulas give, over columns of :func:`_leaves`."""
    question, n = asked.question, col("n", "l")
    leaves = {part: _named_leaf("l", f"_{p.number}") for part, p in asked.parts.items()}
    tops = [part for part in asked.parts if not _in_others(question, part)]
    rest = [formulas.matched(n, other, lambda leaf: leaves[leaf.part]) for other in question.others]
    rest += [tangle.matched("l") for tangle in asked.tangles]
    whole = both(n, [*[leaves[part] for part in tops], *rest])
    tree = query("select l.* from l", {"l": _leaves(asked)}).select(*_columns(whole, ""))
    for number, column in asked.measured.items():
        others = [leaves[part] for part in tops if part != column.part]
        apart = both(n, [*others, *rest])
        own = _named_leaf("l", f"_x{number}")
        counted = both(n, [apart, own])
        tree = tree.select(*_columns(apart, f"_r{number}"), *_columns(counted, f"_c{number}"))
    return tree


def _in_others(question: Question, part: Part) -> bool:
    return part in parts_of(question.others)


def _named_leaf(table: str, suffix: str) -> Matched:
    return Matched(*[col(f"{name}{suffix}", table) for name in ("lo", "hi", "p", "p2")])


def _columns(item: Matched, suffix: str) -> list[exp.Expr]:
    return [
        named(cast(exp.paren(item.fewest.copy()), "bigint"), f"lo{suffix}"),
        named(cast(exp.paren(item.most.copy()), "bigint"), f"hi{suffix}"),
        named(item.share.copy(), f"p{suffix}"),
        named(item.pair.copy(), f"p2{suffix}"),
    ]


def _leaves(asked: Query) -> exp.Select:
    """Every bucket with what its parts allow by themselves."""
    tree = query(f"select b.bucket, b.n from {BUCKETS} as b")
    for part in asked.parts.values():
        tree = _joined(asked, tree, part)
        tree = tree.select(*[col(name, _table(asked, part)) for name in part.key_names])
        leaf = _box_leaf(asked, part) if isinstance(part, BoxedPart) else _exact_leaf(asked, part)
        tree = tree.select(*_columns(leaf, f"_{part.number}"))
    for tangle in asked.tangles:
        alias = tangle.name("t")
        on = exp.EQ(this=col("bucket", alias), expression=col("bucket", "b"))
        tree = tree.join(table(tangle.name("tangle"), alias), on=on)
        found = Matched(*[col(name, alias) for name in ("lo", "hi", "p", "p2")])
        tree = tree.select(*_columns(found, f"_t_{tangle.number}"))
    for number in asked.measured:
        part = asked.part_of(number)
        if isinstance(part, BoxedPart):
            tree = tree.select(*_box_measures(part, number))
        else:
            tree = tree.select(*_exact_measures(asked, part, number))
    return tree


def _table(asked: Query, part: AnyPart) -> str:
    return "b" if asked.in_home(part) else part.name("t")


def _joined(asked: Query, tree: exp.Select, part: AnyPart) -> exp.Select:
    alias = part.name("t")
    if isinstance(part, BoxedPart):
        on = exp.EQ(this=col("box", alias), expression=col(part.name("b"), "b"))
        return tree.join(table(part.name("stats"), alias), on=on)
    if asked.in_home(part):
        return tree
    on = exp.EQ(this=col("bucket", alias), expression=col("bucket", "b"))
    side = "" if part.keys else "left"
    return tree.join(table(part.name("exact"), alias), on=on, join_type=side)


def table(name: str, alias: str) -> exp.Expr:
    """A common table expression under another name."""
    return exp.alias_(exp.table_(name, quoted=True), alias, table=True, quoted=True)


def _box_leaf(asked: Query, part: BoxedPart) -> Matched:
    n = col("n", "b")
    if asked.question.release.person is None:
        return _in_box(part, n)
    # Records of an individual are taken to have the same values. If more values are attained
    # than there are individuals, they cannot all be.
    units = fragment("greatest(b.units, :s)", s=col("s", part.name("t")))
    return _in_box(part, units)


def _in_box(part: BoxedPart, units: exp.Expr, suffix: str = "") -> Matched:
    """Values of a box that match; with the suffix `x` but for missing ones.

    Args:
        units: records, or individuals, with values of their own.
    """
    n, t = col("n", "b"), part.name("t")
    s = col("s", t)
    least, most, e, f = (col(suffix + name, t) for name in ("ql", "qh", "e", "f"))
    pair = call("box_pair", n=units, attained=s, certain=e, share=f, size=col("extent", t))
    if part.fitted.labels:
        known = fragment(":l = :h", l=least.copy(), h=most.copy())
        pair = fragment("case when :k then :p end", k=known, p=pair)
    return Matched(
        call("box_lower", n=n, size=col("size", t), matching=least, certain=e),
        call("box_upper", n=n, matching=most, attained=s, certain=e),
        call("box_share", n=units, attained=s, certain=e, share=f),
        pair,
    )


def _exact_leaf(asked: Query, part: ExactPart) -> Matched:
    return exact(col("n", "b"), _known(asked, part, part.name("a")))


def _known(asked: Query, part: ExactPart, name: str) -> exp.Expr:
    """A total of a bucket; 0 where none of its rows match."""
    return fragment("coalesce(:v, 0)", v=col(name, _table(asked, part)))


def _box_measures(part: BoxedPart, number: int) -> list[exp.Expr]:
    """Of a measured column: how many records have it and match; expected sums, their spread.

    `u` is the sum of the values of the records, `e2` of their squares, `v0`, `v1`, `v2` the
    variance of the sum of x - R as v0 - 2 R v1 + v2 R^2. `more` is what attained values exceed
    `xmin` by, `less` what they miss of `xmax`.
    """
    n, t = col("n", "b"), part.name("t")
    own = _in_box(part, n, "x")
    if not part.measured:
        return _columns(own, f"_x{number}")
    values = {name: col(name, t) for name in ("f1", "f2", "xmin", "xmax", "ex", "exx", "xe")}
    values |= {"r": fragment(":n - :s", n=n.copy(), s=col("s", t))}
    values |= {"f": col("xf", t), "size": col("extent", t)}

    def some(text: str) -> exp.Expr:
        return fragment(text, **{k: v.copy() for k, v in values.items() if f":{k}" in text})

    spread = ":r * (1 + :r / :size) / (1 + 1 / :size) * "
    return [
        *_columns(own, f"_x{number}"),
        named(some(":ex::float8 + :r * :f1"), f"u{number}"),
        named(some(":exx + :r * :f2"), f"e2{number}"),
        named(some(spread + "(:f2 - :f1 ^ 2)"), f"v0{number}"),
        named(some(spread + "(:f1 - :f1 * :f)"), f"v1{number}"),
        named(some(spread + "(:f - :f ^ 2)"), f"v2{number}"),
        named(col("xmin", t), f"xmin{number}"),
        named(col("xmax", t), f"xmax{number}"),
        *[named(col(name, t), f"{name}{number}") for name in ("emin", "emax")],
        named(some(":ex - :xe * :xmin"), f"more{number}"),
        named(some(":xe * :xmax - :ex"), f"less{number}"),
    ]


def _exact_measures(asked: Query, part: ExactPart, number: int) -> list[exp.Expr]:
    own = exact(col("n", "b"), _known(asked, part, f"xa{number}"))
    found = _columns(own, f"_x{number}")
    if asked.measured[number].is_number:
        zero = fragment("0::float8")
        found += [
            named(_known(asked, part, f"total{number}"), f"u{number}"),
            named(_known(asked, part, f"squares{number}"), f"e2{number}"),
            *[named(zero.copy(), f"v{power}{number}") for power in range(3)],
        ]
    if number == asked.persons:
        found.append(named(_known(asked, part, f"persons{number}"), f"persons{number}"))
    return found


def relations(asked: Query) -> dict[str, exp.Select]:
    """The common table expressions up to `cells`, by name, in order."""
    found = {BUCKETS: buckets(asked)}
    for part in asked.parts.values():
        if isinstance(part, BoxedPart):
            found |= part.relations()
        elif not asked.in_home(part):
            found[part.name("exact")] = part.grouped()
    for tangle in asked.tangles:
        found |= tangle.relations()
    return {**found, "cells": cells(asked)}
