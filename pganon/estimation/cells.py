"""The cells of a query: what every bucket allows of each group.

A cell has bounds and probabilities of the conditions, and for every measured column those of its
own part apart from those of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from pganon.estimation.events import ENDS, EventsPart
from pganon.estimation.parts import BUCKETS, BoxedPart, ExactPart, numbered
from pganon.estimation.question import Formula, Leaf, Question, parts_of
from pganon.estimation.release import Part, Published
from pganon.forms.match_counts import Matched, both, call, either, exact
from pganon.sqltools import cast, col, finished, fragment, named, num, query

AnyPart = BoxedPart | ExactPart | EventsPart


@dataclass(frozen=True)
class Query:
    """A question with its parts, ready to be written.

    Attributes:
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    question: Question
    parts: Mapping[Part, AnyPart]
    measured: Mapping[int, Published]

    @property
    def persons(self) -> int | None:
        """The number of the column of individuals, if these and not records are independent."""
        person = self.question.release.person
        return next((i for i, column in self.measured.items() if column == person), None)

    def part_of(self, number: int) -> BoxedPart | ExactPart:
        part = self.parts[self.measured[number].part]
        assert not isinstance(part, EventsPart)
        return part

    def measures(self, number: int) -> set[str]:
        """What is asked of a measured column."""
        own = self.measured[number]
        return {a.measure for a in self.question.aggregates if a.column == own}

    @property
    def weighs(self) -> bool:
        """Whether sample weights are added up."""
        return any(a.measure == "weighted" for a in self.question.aggregates)

    def in_home(self, part: AnyPart) -> bool:
        """Whether one row per bucket is enough, which the scan of the first view gives."""
        if not isinstance(part, ExactPart) or part.person is not None:
            return False
        same = part.part.view == self.question.release.home.view
        return same and not part.keys and not part.part.array


def table(name: str, alias: str) -> exp.Expr:
    """A common table expression under another name."""
    return exp.alias_(exp.table_(name, quoted=True), alias, table=True, quoted=True)


def with_all(tree: exp.Select, found: Mapping[str, exp.Select]) -> exp.Select:
    """A SELECT over common table expressions, in order."""
    for name, part in found.items():
        tree = tree.with_(
            exp.to_identifier(name, quoted=True), as_=finished(part), materialized=True, copy=False
        )
    return tree


def grouped(key_names: Iterable[str], alias: str) -> exp.Expr:
    """The number of the group of a row, from its keys."""
    order = ", ".join(f"{alias}.{name}" for name in key_names)
    text = f"dense_rank() over (order by {order})" if order else "1"
    return named(fragment(f"({text})::bigint"), "grp")


def relations(asked: Query) -> dict[str, exp.Select]:
    """The common table expressions up to `cells`, by name, in order."""
    found = {BUCKETS: _buckets(asked)}
    for part in asked.parts.values():
        if isinstance(part, BoxedPart):
            found |= part.relations()
        elif not asked.in_home(part):
            found[part.name("exact")] = part.grouped()
    return {**found, "cells": _cells(asked)}


def _buckets(asked: Query) -> exp.Select:
    """(bucket, n, boxes, totals): every bucket with its records."""
    home = asked.question.release.home
    tree = query(
        "select :b as bucket, sum(:w)::bigint as n from t",
        {"t": home.view},
        b=col(home.bucket, "t"),
        w=col(home.weight, "t") if home.weight else num(1),
    )
    boxed = [part for part in asked.parts.values() if isinstance(part, BoxedPart)]
    shown = [named(item, name) for part in boxed for name, item in part.published("t").items()]
    tree = tree.select(*shown).group_by(*[num(i) for i in (1, *range(3, 3 + len(shown)))])
    totals: dict[str, exp.Expr] = {}
    for part in asked.parts.values():
        if isinstance(part, ExactPart) and asked.in_home(part):
            totals |= part.totals()
    if asked.weighs:
        mean, around = asked.question.release.weights
        assert mean is not None
        total = fragment("sum(:w)", w=col(mean, "t"))
        found = {"w": total, "w_lo": num(0), "w_hi": fragment(":w + count(*) * 5e-7", w=total)}
        if around is not None:
            ends = {"w_lo": "min(lower(:r))", "w_hi": "max(upper(:r))"}
            found |= {name: fragment(end, r=col(around, "t")) for name, end in ends.items()}
        totals |= found
    person = asked.question.release.person
    if person is not None:
        totals["units"] = fragment("count(distinct :p)::bigint", p=col(person.name, "t"))
    tree = tree.select(*[named(value, name) for name, value in totals.items()])
    kept = "".join(f", t.{name}" for name in totals)
    places = query(f"select t.bucket, t.n{kept} from t", {"t": tree})
    places = places.select(
        *[named(item, name) for part in boxed for name, item in part.shown("t").items()]
    )
    outer = query("select i.bucket, i.n from i", {"i": places})
    return outer.select(*numbered(boxed, "i"), *[col(name, "i") for name in totals])


def _cells(asked: Query) -> exp.Select:
    """(cell, grp, bucket, n, keys, lo, hi, p, p2, ...): one row per bucket and group."""
    question, n = asked.question, col("n", "l")
    leaves = {part: _named_leaf(f"_{own.number}") for part, own in asked.parts.items()}
    tops = [part for part in asked.parts if part not in parts_of(question.others)]
    rest = [_formula(n, other, leaves) for other in question.others]
    whole = both(n, [*[leaves[part] for part in tops], *rest])
    tree = query("select l.* from l", {"l": _leaves(asked)}).select(*_columns(whole, ""))
    for number, column in asked.measured.items():
        apart = both(n, [*[leaves[part] for part in tops if part != column.part], *rest])
        counted = both(n, [apart, _named_leaf(f"_x{number}")])
        tree = tree.select(*_columns(apart, f"_r{number}"), *_columns(counted, f"_c{number}"))
    found = query("select c.*, row_number() over () as cell from c where c.hi > 0", {"c": tree})
    return found.select(grouped([f"k{number}" for number in range(len(question.keys))], "c"))


def _formula(n: exp.Expr, formula: Formula, leaves: Mapping[Part, Matched]) -> Matched:
    """A formula of which every leaf is on another part."""
    if isinstance(formula, Leaf):
        return leaves[formula.part]
    items = [_formula(n, item, leaves) for item in formula.items]  # pyright: ignore[reportAttributeAccessIssue]
    return both(n, items) if formula.every else either(n, items)  # pyright: ignore[reportAttributeAccessIssue]


def _named_leaf(suffix: str) -> Matched:
    return Matched(*[col(f"{name}{suffix}", "l") for name in ("lo", "hi", "p", "p2")])


def _columns(item: Matched, suffix: str) -> list[exp.Expr]:
    return [
        named(cast(exp.paren(item.fewest.copy()), "bigint"), f"lo{suffix}"),
        named(cast(exp.paren(item.most.copy()), "bigint"), f"hi{suffix}"),
        named(item.share.copy(), f"p{suffix}"),
        named(item.pair.copy(), f"p2{suffix}"),
    ]


def _leaves(asked: Query) -> exp.Select:
    """Every bucket with what its parts allow by themselves."""
    weights = ", b.w, b.w_lo, b.w_hi" if asked.weighs else ""
    tree = query(f"select b.bucket, b.n{weights} from {BUCKETS} as b")
    for part in asked.parts.values():
        alias = part.name("t")
        if isinstance(part, BoxedPart):
            on = fragment(f"{alias}.box = b.{part.name('b')}")
            tree = tree.join(table(part.name("stats"), alias), on=on)
            # Records of an individual are taken to have the same values. If more values are
            # attained than there are individuals, they cannot all be.
            several = asked.question.release.person is not None
            leaf = _in_box(part, f"greatest(b.units, {alias}.s)" if several else "b.n")
        else:
            if not asked.in_home(part):
                on = fragment(f"{alias}.bucket = b.bucket")
                side = "" if part.keys else "left"
                tree = tree.join(table(part.name("exact"), alias), on=on, join_type=side)
            if isinstance(part, EventsPart):
                leaf = Matched(*[col(end, alias) for end in ENDS])
            else:
                leaf = exact(col("n", "b"), _known(asked, part, part.name("a")))
        tree = tree.select(
            *[col(name, alias) for name in part.key_names], *_columns(leaf, f"_{part.number}")
        )
    for number in asked.measured:
        part = asked.part_of(number)
        if isinstance(part, BoxedPart):
            tree = tree.select(*_box_measures(part, number))
        else:
            tree = tree.select(*_exact_measures(asked, part, number))
    return tree


def _in_box(part: BoxedPart, units: str, suffix: str = "") -> Matched:
    """Values of a box that match; with the suffix `x` but for missing ones.

    Args:
        units: records, or individuals, with values of their own.
    """
    n, t = col("n", "b"), part.name("t")
    size, s, extent = (col(name, t) for name in ("size", "s", "extent"))
    least, most, e, f = (col(suffix + name, t) for name in ("ql", "qh", "e", "f"))
    of = fragment(units)
    pair = call("box_pair", n=of, attained=s, certain=e, share=f, size=extent)
    if part.fitted.labels:
        pair = fragment("case when :l = :h then :p end", l=least, h=most, p=pair)
    return Matched(
        call("box_lower", n=n, size=size, matching=least, certain=e),
        call("box_upper", n=n, matching=most, attained=s, certain=e),
        call("box_share", n=of, attained=s, certain=e, share=f),
        pair,
    )


def _known(asked: Query, part: ExactPart, name: str) -> exp.Expr:
    """A total of a bucket; 0 where none of its rows match."""
    return fragment(f"coalesce({'b' if asked.in_home(part) else part.name('t')}.{name}, 0)")


def _box_measures(part: BoxedPart, number: int) -> list[exp.Expr]:
    """Of a measured column: how many records have it and match; expected sums, their spread.

    `u` is the sum of the values of the records, `e2` of their squares, `v0`, `v1`, `v2` the
    variance of the sum of x - R as v0 - 2 R v1 + v2 R^2. `more` is what attained values exceed
    `xmin` by, `less` what they miss of `xmax`.
    """
    found = _columns(_in_box(part, "b.n", "x"), f"_x{number}")
    if not part.measured:
        return found
    r = "(b.n - @.s)"
    spread = f"{r} * (1 + {r} / @.extent) / (1 + 1 / @.extent) * "
    added = {
        "u": f"@.ex::float8 + {r} * @.f1",
        "e2": f"@.exx + {r} * @.f2",
        "v0": spread + "(@.f2 - @.f1 ^ 2)",
        "v1": spread + "(@.f1 - @.f1 * @.xf)",
        "v2": spread + "(@.xf - @.xf ^ 2)",
        **{name: f"@.{name}" for name in ("xmin", "xmax", "emin", "emax")},
        "more": "@.ex - @.xe * @.xmin",
        "less": "@.xe * @.xmax - @.ex",
    }
    for name, text in added.items():
        found.append(named(fragment(text.replace("@", part.name("t"))), f"{name}{number}"))
    return found


def _exact_measures(asked: Query, part: ExactPart, number: int) -> list[exp.Expr]:
    found = _columns(exact(col("n", "b"), _known(asked, part, f"xa{number}")), f"_x{number}")
    names: dict[str, str] = {}
    if asked.measured[number].is_number:
        names = {"u": "total", "e2": "squares"}
        found += [named(fragment("0::float8"), f"v{power}{number}") for power in range(3)]
    if number == asked.persons:
        names["persons"] = "persons"
    return found + [
        named(_known(asked, part, f"{of}{number}"), f"{name}{number}") for name, of in names.items()
    ]
