"""A question ready to be written: its conditions in the partitions of the records.

Every record has a bucket in each partition. What buckets allow of a record is independent between
partitions. A cell is a bucket and a group. It has bounds and probabilities of the conditions, and
for every measured column those of its own part apart from those of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation.boxes import Fitted
from pganon.estimation.events import EventsPart
from pganon.estimation.parts import BoxedPart, ExactPart, ListedPart, RangedPart, Relations
from pganon.estimation.question import Formula, Joined, Leaf, Question, parts_of
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.forms.match_counts import Matched, both, call, either, exact
from pganon.identifiers import quote
from pganon.sqltools import cast, col, fragment, named, num, query

AnyPart = BoxedPart | ExactPart | EventsPart


@dataclass(frozen=True)
class Partition:
    """What a query is about in one partition.

    Attributes:
        number: from 1, in names.
        link: the column of the release's home with its buckets.
        parts: those that are known by its buckets.
        alternatives: conditions on several of them.
        measured: columns that are counted, added up or averaged, by their numbers.
        weighs: whether sample weights are added up.
    """

    number: int
    link: str
    release: AskedRelease
    parts: Mapping[Part, AnyPart]
    alternatives: tuple[Formula, ...]
    measured: Mapping[int, Published]
    weighs: bool

    @property
    def key_names(self) -> list[str]:
        return [name for part in self.parts.values() for name in part.key_names]

    def part_of(self, number: int) -> BoxedPart | ExactPart:
        """The part of a measured column."""
        part = self.parts[self.measured[number].part]
        assert not isinstance(part, EventsPart)
        return part

    def relations(self) -> Relations:
        """Those that :meth:`cells` reads."""
        yield f"buckets{self.number}", self._buckets()
        for part in self.parts.values():
            yield from part.relations()

    def _buckets(self) -> exp.Select:
        """(bucket, n, and of every box its number `b`, values and `z`, ...): every bucket.

        Of sample weights there are the sum `w` and ends `w_lo`, `w_hi`; of individuals `units`.
        """
        home = self.release.home
        boxed = [part for part in self.parts.values() if isinstance(part, BoxedPart)]
        tree = query(
            "select :b as bucket, sum(:w)::bigint as n from t",
            {"t": home.view},
            b=col(self.link, "t"),
            w=col(home.weight, "t") if home.weight else num(1),
        )
        shown = [named(v, name) for part in boxed for name, v in part.published("t").items()]
        tree = tree.select(*shown).group_by(*[num(i) for i in (1, *range(3, 3 + len(shown)))])
        totals: dict[str, exp.Expr] = {}
        if self.weighs:
            mean, around = self.release.weights
            assert mean is not None
            total = fragment("sum(:w)", w=col(mean, "t"))
            totals = {"w": total, "w_lo": num(0), "w_hi": fragment(":w + count(*) * 5e-7", w=total)}
            if around is not None:
                ends = {"w_lo": "min(lower(:r))", "w_hi": "max(upper(:r))"}
                totals |= {name: fragment(end, r=col(around, "t")) for name, end in ends.items()}
        if self.release.person is not None:
            person = col(self.release.person.name, "t")
            totals["units"] = fragment("count(distinct :p)::bigint", p=person)
        tree = tree.select(*[named(value, name) for name, value in totals.items()])
        kept = "".join(f", t.{name}" for name in totals)
        places = query(f"select t.bucket, t.n{kept} from t", {"t": tree})
        # Equal boxes have the same number.
        numbers = ""
        for part in boxed:
            values = part.shown("t")
            places = places.select(*[named(value, name) for name, value in values.items()])
            order = ", ".join(f"i.{name}" for name in values)
            numbers += f", dense_rank() over (order by {order}) as {part.name('b')}"
        return query(f"select i.*{numbers} from i", {"i": places})

    def cells(self) -> exp.Select:
        """(cell, bucket, n, keys, lo, hi, p, p2, ...): one row per bucket and group."""
        n = col("n", "l")
        leaves = {part: _named_leaf(f"_{own.number}") for part, own in self.parts.items()}
        tops = [part for part in self.parts if part not in parts_of(self.alternatives)]
        rest = [_formula(n, other, leaves) for other in self.alternatives]
        whole = both(n, [*[leaves[part] for part in tops], *rest])
        tree = query("select l.* from l", {"l": self._leaves()}).select(*_columns(whole, ""))
        for number, column in self.measured.items():
            apart = both(n, [*[leaves[part] for part in tops if part != column.part], *rest])
            counted = both(n, [apart, _named_leaf(f"_x{number}")])
            tree = tree.select(*_columns(apart, f"_r{number}"), *_columns(counted, f"_c{number}"))
        return query("select c.*, row_number() over () as cell from c where c.hi > 0", {"c": tree})

    def _leaves(self) -> exp.Select:
        """Every bucket with what its parts allow by themselves."""
        joins, columns = "", list[exp.Expr]()
        for part in self.parts.values():
            t = part.name("t")
            if isinstance(part, BoxedPart):
                joins += f" join {part.name('stats')} as {t} on {t}.box = b.{part.name('b')}"
                # Records of an individual are taken to have the same values. If more values are
                # attained than there are individuals, they cannot all be.
                several = self.release.person is not None
                leaf = _in_box(part, f"greatest(b.units, {t}.s)" if several else "b.n")
            else:
                side = "" if part.keys else " left"
                joins += f"{side} join {part.name('exact')} as {t} on {t}.bucket = b.bucket"
                if isinstance(part, EventsPart):
                    leaf = Matched(*[col(end, t) for end in ("lo", "hi", "p", "p2")])
                else:
                    leaf = exact(col("n", "b"), fragment(f"coalesce({t}.m, 0)"))
            columns += [*[col(k, t) for k in part.key_names], *_columns(leaf, f"_{part.number}")]
        for number in self.measured:
            columns += self._measures(number)
        weights = ", b.w, b.w_lo, b.w_hi" if self.weighs else ""
        tree = query(f"select b.bucket, b.n{weights} from buckets{self.number} as b{joins}")
        return tree.select(*columns)

    def _measures(self, number: int) -> list[exp.Expr]:
        """Of a measured column: how many records have it and match; expected sums, their spread.

        `u` is the sum of the values of the records, `e2` of their squares, `v0`, `v1`, `v2` the
        variance of the sum of x - R as v0 - 2 R v1 + v2 R^2. Of a box `more` is what attained
        values exceed `xmin` by, `less` what they miss of `xmax`.
        """
        part, added = self.part_of(number), dict[str, str]()
        t = part.name("t")
        if isinstance(part, ExactPart):
            found = exact(col("n", "b"), fragment(f"coalesce({t}.m{number}, 0)"))
            names = ("u", "e2") if number in part.added else ()
            if self.measured[number].form == "individual":
                names = ("u", "e2", "persons")
            added = {name: f"coalesce({t}.{name}{number}, 0)" for name in names}
            added |= dict.fromkeys(("v0", "v1", "v2"), "0::float8")
        else:
            found = _in_box(part, "b.n", "x")
            r = f"(b.n - {t}.s)"
            spread = f"{r} * (1 + {r} / {t}.extent) / (1 + 1 / {t}.extent) * "
            if part.measured:
                added = {
                    "u": f"{t}.ex::float8 + {r} * {t}.f1",
                    "e2": f"{t}.exx + {r} * {t}.f2",
                    "v0": f"{spread}({t}.f2 - {t}.f1 ^ 2)",
                    "v1": f"{spread}({t}.f1 - {t}.f1 * {t}.xf)",
                    "v2": f"{spread}({t}.xf - {t}.xf ^ 2)",
                    **{name: f"{t}.{name}" for name in ("xmin", "xmax", "emin", "emax")},
                    "more": f"{t}.ex - {t}.xe * {t}.xmin",
                    "less": f"{t}.xe * {t}.xmax - {t}.ex",
                }
        values = [named(fragment(value), f"{name}{number}") for name, value in added.items()]
        return [*_columns(found, f"_x{number}"), *values]


def _formula(n: exp.Expr, formula: Formula, leaves: Mapping[Part, Matched]) -> Matched:
    """A formula of which every leaf is on another part."""
    if isinstance(formula, Leaf):
        return leaves[formula.part]
    assert isinstance(formula, Joined)
    items = [_formula(n, item, leaves) for item in formula.items]
    return both(n, items) if formula.every else either(n, items)


def _named_leaf(suffix: str) -> Matched:
    return Matched(*[col(f"{name}{suffix}", "l") for name in ("lo", "hi", "p", "p2")])


def _columns(item: Matched, suffix: str) -> list[exp.Expr]:
    return [
        named(cast(exp.paren(item.fewest.copy()), "bigint"), f"lo{suffix}"),
        named(cast(exp.paren(item.most.copy()), "bigint"), f"hi{suffix}"),
        named(item.share.copy(), f"p{suffix}"),
        named(item.pair.copy(), f"p2{suffix}"),
    ]


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


_ADDED = {"sum", "avg", "weighted"}


@dataclass(frozen=True)
class Asked:
    """A question with its partitions.

    Attributes:
        partitions: by their numbers.
        rows: exact columns of the view that has a row for every record; None where there is one
            partition, by whose buckets they are known as all others are.
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    question: Question
    partitions: Mapping[int, Partition]
    rows: ExactPart | None
    measured: Mapping[int, Published]

    @property
    def person(self) -> int | None:
        """The number of the column of individuals, if these and not records are independent."""
        return self.number(self.question.release.person)

    def source(self, *partitions: int) -> str:
        """FROM: the relation `rows` as r, and the cells of these partitions as c<number>."""
        if self.rows is None:
            return "rows as r cross join lateral (select r.*) as c1"
        joins = [f" join {self.cells(i)} as c{i} on c{i}.cell = r.cell{i}" for i in partitions]
        return f"rows as r{''.join(joins)}"

    def cells(self, partition: int) -> str:
        """The relation that has the cells of a partition."""
        return "rows" if self.rows is None else f"cells{partition}"

    def number(self, column: Published | None) -> int | None:
        """That of a measured column."""
        return next((i for i, own in self.measured.items() if own == column), None)

    def place(self, number: int | None) -> int | None:
        """The partition of a measured column; None of those of :attr:`rows`."""
        return next((i for i, own in self.partitions.items() if number in own.measured), None)

    def relations(self) -> Relations:
        """Up to `rows`."""
        for i, partition in self.partitions.items():
            yield from partition.relations()
            if self.rows is not None:
                yield f"cells{i}", partition.cells()
        yield "rows", self._rows()

    def _rows(self) -> exp.Select:
        """(grp, keys, m, and of every partition cell<number>): records of equal cells.

        `m` is how many they are. Their exact columns add `m<i>`, how many have a value, and sums
        `u<i>`, `e2<i>` of these and their squares. Those of one partition are its cells, with all
        their columns.
        """
        if self.rows is None:
            (only,) = self.partitions.values()
            tree = query("select c.*, c.n as m, c.cell as cell1 from c", {"c": only.cells()})
        else:
            links = {f"bucket{i}": own.link for i, own in self.partitions.items()}
            cells = [
                f" join cells{i} as c{i} on c{i}.bucket = r.bucket{i}" for i in self.partitions
            ]
            tree = query(f"select r.* from r{''.join(cells)}", {"r": self.rows.grouped(links)})
            for i, partition in self.partitions.items():
                keys = [col(name, f"c{i}") for name in partition.key_names]
                tree = tree.select(named(col("cell", f"c{i}"), f"cell{i}"), *keys)
        order = ", ".join(f"i.k{number}" for number in range(len(self.question.keys)))
        group = f"dense_rank() over (order by {order})" if order else "1"
        return query(f"select i.*, ({group})::bigint as grp from i", {"i": tree})


def asked(question: Question, fitted: Mapping[str, Fitted]) -> Asked:
    """The question with its parts, in their partitions.

    Args:
        fitted: the generalized columns in it, by name.

    Raises:
        EstimateRefused: a column is added up that has ranges without an end.
    """
    release, of = question.release, question.aggregates
    links = {part: release.link(part) for part in question.parts}
    found = list(dict.fromkeys(link for link in links.values() if link is not None))
    found = found or [release.home.bucket]
    if len(found) == 1:
        links = dict.fromkeys(links, found[0])
    columns = [a.column for a in of if a.column is not None]
    if release.person is not None and release.person.part not in parts_of(question.others):
        columns.append(release.person)
    measured = dict(enumerate(dict.fromkeys(columns)))
    added = {a.column for a in of if a.measure in _ADDED}
    places: dict[str | None, dict[Part, AnyPart]] = {link: {} for link in (*found, None)}
    for number, (part, link) in enumerate(links.items()):
        condition = next(iter(question.conditions_on(part)), None)
        keys = {i: k.expression for i, k in enumerate(question.keys) if k.part == part}
        own = {i: column for i, column in measured.items() if column.part == part}
        given = (number, found.index(link) + 1 if link else 0, condition, keys)
        if part.events:
            places[link][part] = EventsPart(*given, part, release.facts, release.tables)
        elif part.exact:
            # A column of the home is known by the buckets of any partition.
            placed = part if release.link(part) or not link else replace(part, bucket=link)
            known = {column.name: column for column in question.columns(part)}
            adds = frozenset(i for i, c in own.items() if (c.is_number if link else c in added))
            places[link][part] = ExactPart(*given, placed, known, own, adds)
        else:
            box = fitted[question.columns(part)[0].name]
            adds = bool(own) and (box.column.is_number or box.column.is_time)
            compared = {a.column for a in of if a.measure != "count"}
            if adds and box.unbounded and not compared.isdisjoint(own.values()):
                raise EstimateRefused(
                    f"{quote(box.column.name)} has ranges without an end: it can be counted,"
                    " but not added up"
                )
            kind = ListedPart if box.line is None else RangedPart
            places[link][part] = kind(*given, box, bool(own), adds)
    partitions = {}
    for number, link in enumerate(found, 1):
        rest = [f for f in question.others if {links[part] for part in parts_of([f])} == {link}]
        own = {i: column for i, column in measured.items() if links[column.part] == link}
        weighs = any(a.measure == "weighted" for a in of)
        parts = places[link]
        partitions[number] = Partition(number, link, release, parts, tuple(rest), own, weighs)
    rows = None
    if len(found) > 1:
        every = ExactPart(0, 0, None, {}, replace(release.home, exact=True), {}, {}, frozenset())
        rows = next((part for part in places[None].values()), every)
        assert isinstance(rows, ExactPart)
    return Asked(question, partitions, rows, measured)
