"""The SELECT that answers a question from the views of a release.

It is of named relations: what the parts of the query allow, cells of every partition, rows of
equal cells, bounds and moments of every group, and at the end the figures of the aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from pganon.estimation import alternatives
from pganon.estimation.asked import Asked, asked
from pganon.estimation.boxes import Fitted
from pganon.estimation.lines import steps, typed
from pganon.estimation.parts import BoxedPart, ExactPart, Relations
from pganon.estimation.question import FIGURES, FLAGS, Aggregate, Question, cut, figures
from pganon.forms.match_counts import call
from pganon.sqltools import cast, col, finished, fragment, materialized, named, query, stacked


def answered(question: Question, fitted: Mapping[str, Fitted]) -> exp.Select:
    """(a<i> with :data:`FIGURES`, keys, :data:`FLAGS`): a row for every group.

    Args:
        fitted: the generalized columns in it, by name.
    """
    if question.alternatives is not None:
        return alternatives.answered(question, lambda one: answered(one, fitted))
    own = asked(question, fitted)
    needed = {"n": Aggregate("count", None)}
    for aggregate in question.aggregates:
        if aggregate.measure == "avg":
            of = [Aggregate(measure, aggregate.column) for measure in ("sum", "count")]
            needed |= {_name(own, one): one for one in of}
        if aggregate.measure != "rows":
            needed[_name(own, aggregate)] = aggregate
    found = dict(own.relations())
    for name, aggregate in needed.items():
        found |= _bounds(own, name, aggregate)
    first = next(iter(own.partitions))
    found["open"] = query(
        "select e.grp, count(*) filter (where e.lo < e.hi) as classes"
        f" from each_n_{first} as e group by e.grp"
    )
    compared = {name for name, a in needed.items() if a.measure in ("min", "max")}
    found |= _moments(own, {name: a for name, a in needed.items() if name not in compared})
    found["totals"] = _totals(own, needed)
    return materialized(_figures(own), **found)


def _name(own: Asked, aggregate: Aggregate) -> str:
    """The name of an aggregate in relations."""
    if aggregate.column is None:
        return "weighted" if aggregate.measure == "weighted" else "n"
    return f"{aggregate.measure}{own.number(aggregate.column)}"


def _totals(own: Asked, needed: Mapping[str, Aggregate]) -> exp.Select:
    """(keys, classes, few, lo, and of every aggregate e, lower, upper, v, d): a row per group.

    Estimate `e`, bounds `lower` and `upper`, variance `v` and sum of deviations `d`.
    """
    keys = [f"k{number}" for number in range(len(own.question.keys))]
    groups = f"select distinct r.grp{''.join(f', r.{key}' for key in keys)} from rows as r"
    text = "select coalesce(open.classes, 0) as classes, coalesce(s_n.few, false) as few,"
    text += " coalesce(ends_n.lower, 0) as lo" + "".join(f", g.{key}" for key in keys)
    for number, aggregate in enumerate(own.question.aggregates):
        name, measure = _name(own, aggregate), aggregate.measure
        of = name.removeprefix(measure)
        lower, upper = f"ends_{name}.lower", f"ends_{name}.upper"
        found: dict[str, str] = {}
        if measure not in ("min", "max"):
            found = {
                x: f"case when s_{name}.grp is null then 0 else s_{name}.{x} end" for x in "vd"
            }
            found["e"] = f"coalesce(s_{name}.e, 0)"
            for x in "vd":
                # There is none where bounds meet; that of a mean may not be known all the same.
                none = f"0 * {found[x]}" if measure == "avg" else "0"
                found[x] = f"case when {lower} = {upper} then {none} else {found[x]} end"
        if found and measure != "avg":
            kind = "::bigint" if measure in ("count", "persons") else ""
            lower, upper = (f"coalesce({end}, 0){kind}" for end in (lower, upper))
        if measure == "rows":
            lower = upper = "null::bigint"
            found |= dict.fromkeys("vd", "null::float8")
        if measure == "avg":
            found["count"] = f"nullif(s_count{of}.e, 0)"
            found["e"] = f"s_sum{of}.e / {found['count']}"
        if measure in ("sum", "avg", "weighted") and of:
            found["finite"] = f"coalesce(s_{name.replace('avg', 'sum')}.finite, true)"
        for x, value in {**found, "lower": lower, "upper": upper}.items():
            text += f", {value} as {x}{number}"
    joins = " left join open on open.grp = g.grp"
    for name, aggregate in needed.items():
        joins += f" left join ends_{name} on ends_{name}.grp = g.grp"
        if aggregate.measure not in ("min", "max"):
            joins += f" left join sums as s_{name} on s_{name}.name = '{name}'"
            joins += f" and s_{name}.grp = g.grp"
    tables = {"g": query(groups if keys else "select 1::bigint as grp")}
    return query(f"{text} from g{joins}", tables)


def _figures(own: Asked) -> exp.Select:
    """Estimate, bounds, likely range and error of every aggregate, from `totals`."""
    columns: list[exp.Expr] = []
    for number, aggregate in enumerate(own.question.aggregates):
        lower, upper = f"t.lower{number}", f"t.upper{number}"
        estimate, error, likely = f"t.e{number}", f"sqrt(t.v{number})", f"2 * t.d{number}"
        if aggregate.measure == "avg":
            error, likely = (f"{value} / t.count{number}" for value in (error, likely))
        middle = cut(estimate, lower, upper)
        ends = (f"{middle} - {likely}", f"{middle} + {likely}")
        texts = figures(aggregate, (estimate, lower, upper, *ends, error))
        if aggregate.measure in ("sum", "avg", "weighted") and aggregate.column is not None:
            texts = [f"case when t.finite{number} then {text} end" for text in texts]
        columns += [
            named(fragment(text), f"a{number}{end}")
            for text, end in zip(texts, FIGURES, strict=True)
        ]
    keys = "".join(f", t.k{number}" for number in range(len(own.question.keys)))
    tree = query(f"select t.classes, t.few, t.lo = 0 as {FLAGS[2]}{keys} from totals as t")
    return tree.select(*columns)


# -- bounds ----------------------------------------------------------------------------------------
#
# A bucket of a partition has at least `lo` and at most `hi` records that match, given what the
# other partitions say of them. Of the bounds that several partitions give the best count.


def _bounds(asked: Asked, name: str, aggregate: Aggregate) -> Relations:
    """Up to `ends_<name>` (grp, lower, upper).

    Of what adds up over buckets, such as the sum of a mean, `each_<name>_<partition>` has (grp,
    cell, lo, hi).
    """
    measure, number = aggregate.measure, asked.number(aggregate.column)
    place = asked.place(number)
    found: list[exp.Select] = []
    for i in asked.partitions if place is None or measure == "count" else (place,):
        each = f"each_{name.replace('avg', 'sum')}_{i}"
        ends = f"select e.grp, sum(e.lo) as lower, sum(e.hi) as upper from {each} as e"
        if measure == "count":
            yield each, _counted(asked, i, number)
        elif number is None:
            yield (
                each,
                query(
                    "select e.grp, e.cell, greatest(e.lo * c.w_lo,"
                    " c.w - c.n * 5e-7 - (c.n - e.lo) * c.w_hi, 0) as lo,"
                    " least(e.hi * c.w_hi, c.w + c.n * 5e-7 - (c.n - e.hi) * c.w_lo) as hi"
                    f" from each_n_1 as e join {asked.cells(1)} as c on c.cell = e.cell"
                ),
            )
        elif measure == "persons":
            # The fewest individuals who have as many records as surely match, and the most.
            part = asked.partitions[1].part_of(number)
            yield (
                each,
                query(
                    "select e.grp, e.cell, count(*) filter (where p.before < e.lo) as lo,"
                    f" least(min(c.persons{number}), min(c.hi_r{number})) as hi"
                    f" from each_n_1 as e join {asked.cells(1)} as c on c.cell = e.cell"
                    f" left join persons{number} as p on {part.same_group('c', 'p')}"
                    " group by e.grp, e.cell"
                ),
            )
        else:
            values = _Values(asked, number, i)
            yield from values.relations()
            if measure in ("min", "max"):
                found.append(values.extreme(measure))
                continue
            yield each, values.sums(weighted=measure == "weighted")
            if measure == "avg":
                yield f"mean{number}_{i}", values.in_means()
                found.append(values.means())
                continue
        found.append(query(f"{ends} group by e.grp"))
    # Where a partition has no values of a group, there are none.
    tree = "select u.grp, max(u.lower) as lower, min(u.upper) as upper from u"
    tree += " where num_nonnulls(u.lower, u.upper) > 0 group by u.grp"
    tree += f" having count(*) = {len(found)}"
    yield f"ends_{name}", found[0] if len(found) == 1 else query(tree, {"u": stacked(found)})


def _counted(asked: Asked, number: int, counted: int | None) -> exp.Select:
    """(grp, cell, bucket, n, fewest, most, lo, hi): what buckets of a partition have of a group.

    Of the records of a bucket that are in its rows, `fewest` to `most` match what other partitions
    say, and `lo` to `hi` match all.

    Args:
        counted: a measured column, of which only records with a value count.
    """
    place = asked.place(counted)
    m = "r.m" if counted is None or place is not None else f"r.m{counted}"
    ends = {i: f"_c{counted}" if i == place else "" for i in asked.partitions}
    c = f"c{number}"
    shown = {"bucket": f"{c}.bucket", "n": f"{c}.n"}
    shown |= {x: f"{c}.{x}{ends[number]}" for x in ("lo", "hi")}
    by, whole = "", m
    if asked.rows is not None:  # else every row is a cell
        by, whole = f" group by r.grp, r.cell{number}", f"sum({m})"
        shown = {x: f"min({value})" for x, value in shown.items()}
    shown["m"] = f"({whole})::bigint"
    columns = ", ".join(f"{value} as {x}" for x, value in shown.items())
    own = f"select r.grp, r.cell{number} as cell, {columns} from {asked.source(number)}{by}"
    tables, joins, least, most = {"o": query(own)}, "", ["o.m"], ["o.m"]
    for i in (i for i in asked.partitions if i != number):
        both = query(
            f"select r.grp, r.cell{number} as cell, sum({m})::bigint as m,"
            f" min(c{i}.lo{ends[i]}) as lo, min(c{i}.hi{ends[i]}) as hi, min(c{i}.n) as n"
            f" from {asked.source(i)}"
            f" group by r.grp, r.cell{number}, r.cell{i}"
        )
        tables[f"j{i}"] = query(
            "select b.grp, b.cell, sum(least(b.m, b.hi))::bigint as most,"
            " sum(greatest(0, b.m - (b.n - b.lo)))::bigint as least from b group by b.grp, b.cell",
            {"b": both},
        )
        joins += f" join j{i} on j{i}.grp = o.grp and j{i}.cell = o.cell"
        most.append(f"j{i}.most")
        least.append(f"(o.m - j{i}.least)")
    inner = query(
        "select o.grp, o.cell, o.bucket, o.n, o.lo, o.hi,"
        f" greatest(0, {' - '.join(least)}) as fewest, least({', '.join(most)}) as most"
        f" from o{joins}",
        tables,
    )
    return query(
        "select i.grp, i.cell, i.bucket, i.n, i.fewest, i.most,"
        " greatest(0, i.lo + i.fewest - i.n) as lo, least(i.hi, i.most) as hi from i",
        {"i": inner},
    )


class _Values:
    """The values of a measured column that buckets of a partition have, or may have.

    `sorted<n>_<partition>` has those of exact columns in order, and `taken<n>_<partition>` of every
    bucket and group how many records match: `lo` to `hi` of the `a` at most that have a value, or
    of a generalized column the ends of the values. All of the others surely match if `lo_r` is `n`.
    """

    def __init__(self, asked: Asked, number: int, partition: int) -> None:
        self.asked, self.number, self.partition = asked, number, partition
        own = asked.rows if asked.place(number) is None else None
        self.part = own or asked.partitions[partition].part_of(number)
        self.own = own
        self.sorted, self.taken = (f"{name}{number}_{partition}" for name in ("sorted", "taken"))

    def relations(self) -> Relations:
        i, number, part = self.partition, self.number, self.part
        if isinstance(part, ExactPart):
            bucket = part.part.bucket if self.own is None else self.asked.partitions[i].link
            yield self.sorted, part.in_order(number, bucket)
        if self.own is not None:
            yield f"each_count{number}_{i}", _counted(self.asked, i, number)
            keys = part.keyed("g")
            tables = {
                "g": query(f"select distinct r.grp{part.keyed('r')} from rows as r"),
                "s": query(
                    f"select g.bucket{keys}, max(g.upto) as a from {self.sorted} as g"
                    f" group by g.bucket{keys}"
                ),
            }
            text = f"select e.grp, e.cell, e.bucket{keys}, e.lo, e.hi, s.a"
            text += f" from each_count{number}_{i} as e"
            same = part.same_group("e", "s", keys="g")
            yield self.taken, query(f"{text} join g on g.grp = e.grp join s on {same}", tables)
            return
        names = ["w_lo", "w_hi"] if self.asked.partitions[i].weighs else []
        shown = [f", c.{name}" for name in (*names, *part.key_names)]
        if isinstance(part, BoxedPart) and part.measured:
            ends = ("xmin", "xmax", "emin", "emax", "more", "less")
            shown += [f", c.{name}{number} as {name}" for name in ends]
        inner = query(
            f"select e.grp, e.cell, e.bucket, e.n, c.lo_x{number} as lo_x, c.hi_x{number} as a,"
            f" greatest(0, c.lo_r{number} + e.fewest - e.n) as lo_r,"
            f" least(c.hi_r{number}, e.most) as hi_r{''.join(shown)}"
            f" from each_n_{i} as e join {self.asked.cells(i)} as c on c.cell = e.cell"
        )
        yield (
            self.taken,
            query(
                "select i.*, greatest(0, i.lo_r + i.lo_x - i.n) as lo, least(i.hi_r, i.a) as hi"
                " from i",
                {"i": inner},
            ),
        )

    def _joined(self, side: str = "") -> str:
        same = self.part.same_group("c", "r")
        return f"{self.taken} as c {side} join {self.sorted} as r on {same}"

    def sums(self, *, weighted: bool) -> exp.Select:
        """(grp, cell, lo, hi): of the sum over every bucket, perhaps of values times weights.

        Of a generalized column: so many times the least value, and attained ones if all match.
        """
        if isinstance(self.part, BoxedPart):
            return query(
                "select c.grp, c.cell, c.xmin * case when c.xmin >= 0 then c.lo else c.hi end"
                " + case when c.lo_r = c.n then c.more else 0 end as lo,"
                " c.xmax * case when c.xmax <= 0 then c.lo else c.hi end"
                " - case when c.lo_r = c.n then c.less else 0 end as hi"
                f" from {self.taken} as c"
            )
        light, heavy = (
            f" * case when r.x {sign} 0 then c.w_hi else c.w_lo end" if weighted else ""
            for sign in "<>"
        )
        return query(
            f"select c.grp, c.cell, sum(r.x{light} * :below) as lo, sum(r.x{heavy} * :above) as hi"
            f" from {self._joined('left')} group by c.grp, c.cell",
            below=_smallest("case when r.x < 0 then c.hi else c.lo end"),
            above=_largest("case when r.x > 0 then c.hi else c.lo end"),
        )

    def in_means(self) -> exp.Select:
        """(grp, low, x, taken, free, more): values that a mean must have, and those that it may.

        Rows with `low` are for the least mean, the others for the greatest. `more` is what attained
        values add.
        """
        sides = ((True, "xmin", "c.more", _smallest), (False, "xmax", "- c.less", _largest))
        found: list[exp.Select] = []
        for low, x, more, ranked in sides:
            given: dict[str, exp.Expr] = {}
            if isinstance(self.part, BoxedPart):
                source = f"{self.taken} as c where c.{x} is not null"
                must, may, x = "c.lo", "c.hi", f"c.{x}"
                more = f"sum(case when c.lo_r = c.n then {more} else 0 end)"
            else:
                source, given = self._joined(), {"must": ranked("c.lo"), "may": ranked("c.hi")}
                must, may, x, more = ":must", ":may", "r.x", "0::numeric"
            text = f"select c.grp, {low} as low, {x} as x, sum({must}) as taken,"
            text += f" sum({may} - {must}) as free, {more} as more from {source}"
            found.append(query(f"{text} group by c.grp, {x}", None, **given))
        return stacked(found)

    def means(self) -> exp.Select:
        """(grp, lower, upper): of the mean of every group.

        Free values are taken as long as they lower the mean, from the least one on; a value does
        that if it is below the mean of those before it. So the least mean is one of the running
        means.
        """
        mean = f"mean{self.number}_{self.partition}"
        base = query(
            "select a.grp, a.low, sum(a.x * a.taken + a.more) as total, sum(a.taken) as count"
            f" from {mean} as a group by a.grp, a.low"
        )
        running = query(
            "select a.grp, a.low, b.total / nullif(b.count, 0) as start,"
            " (b.total + sum(a.x * a.free) over w) / nullif(b.count + sum(a.free) over w, 0)"
            " as mean"
            f" from {mean} as a join b on b.grp = a.grp and b.low = a.low"
            " window w as (partition by a.grp, a.low"
            " order by case when a.low then a.x else - a.x end rows unbounded preceding)",
            {"b": base},
        )
        return query(
            "select r.grp, min(least(r.mean, r.start)) filter (where r.low) as lower,"
            " max(greatest(r.mean, r.start)) filter (where not r.low) as upper from r"
            " group by r.grp",
            {"r": running},
        )

    def extreme(self, measure: str) -> exp.Select:
        """(grp, lower, upper); NULL where no record with a value may, or need, match."""
        if isinstance(self.part, ExactPart):
            # Of so many values that surely match the greatest is at least the one with that rank.
            lower, upper = {
                "min": ("min(r.x)", "min(r.x) filter (where c.a - r.upto < c.lo)"),
                "max": ("max(r.x) filter (where r.upto - r.copies < c.lo)", "max(r.x)"),
            }[measure]
            return query(
                f"select c.grp, {lower} as lower, {upper} as upper from {self._joined()}"
                " group by c.grp"
            )
        # Where all records match but for what the column says, attained values surely do.
        sure, all_match = "filter (where c.lo > 0)", "filter (where c.lo_r = c.n)"
        lower, upper = {
            "min": ("min(c.xmin)", f"least(min(c.xmax) {sure}, min(c.emin) {all_match})"),
            "max": (f"greatest(max(c.xmin) {sure}, max(c.emax) {all_match})", "max(c.xmax)"),
        }[measure]
        found = query(
            f"select c.grp, {lower} as lower, {upper} as upper from {self.taken} as c"
            " where c.hi > 0 group by c.grp"
        )
        column = self.part.fitted.column
        if not column.is_time:
            return found
        numbered = steps(column)
        assert numbered is not None
        tree = query("select e.grp from e", {"e": found})
        for end in ("lower", "upper"):
            value = fragment(numbered.value, p=cast(col(end, "e"), "bigint"))
            tree = tree.select(named(typed(column, value), end))
        return tree


def _smallest(taken: str) -> exp.Expr:
    """How many of the copies of a value are among the smallest values of its bucket."""
    given = {"copies": "r.copies", "upto": "r.upto", "taken": taken}
    return call("ranked", **{name: fragment(text) for name, text in given.items()})


def _largest(taken: str) -> exp.Expr:
    given = {"copies": "r.copies", "upto": "c.a - r.upto + r.copies", "taken": taken}
    return call("ranked", **{name: fragment(text) for name, text in given.items()})


# -- estimates and variances -----------------------------------------------------------------------
#
# A record matches with the product of the probabilities that its buckets give. Two records depend
# on each other where they share a bucket.


@dataclass(frozen=True)
class _Factor:
    """What the buckets of a partition say of what a record adds, as SQL over `Asked.source`.

    Attributes:
        mean, square: expected; of its square.
        pair: expected product of what two records of a bucket add.
    """

    mean: str
    square: str
    pair: str


def _moments(asked: Asked, needed: Mapping[str, Aggregate]) -> Relations:
    """Up to `sums` (name, grp, few, e, finite, v, d): estimates, variances, sums of deviations.

    Those of a mean are of what values differ from it by. `finite` is whether all squares are.

    Args:
        needed: aggregates of counts, sums and means by their names; of a mean those of the sum and
            the count of the same column, too.
    """
    numbers = [*asked.partitions]
    means = {name: aggregate for name, aggregate in needed.items() if aggregate.measure == "avg"}
    yield "terms", _terms(asked, {n: a for n, a in needed.items() if n not in means})
    expected = _product("t.one", [f"t.a{i}" for i in numbers])
    yield (
        "expected",
        query(
            f"select t.name, t.grp, sum({expected}) as e, bool_and(t.finite) as finite"
            " from terms as t group by t.name, t.grp"
        ),
    )
    shown = {"n", *(_name(asked, aggregate) for aggregate in asked.question.aggregates)}
    of = "terms"
    if means:
        of = "varying"
        names = ", ".join(f"'{name}'" for name in sorted(shown))
        others = query(f"select t.* from terms as t where t.name in ({names})")
        yield of, stacked([others, _terms(asked, means)])
    combined = (c for size in range(len(numbers)) for c in combinations(numbers, size + 1))
    varied = stacked([part for shared in combined for part in _varied(of, numbers, shared)])
    yield "sums", _sums(asked, {n: a for n, a in needed.items() if n in shown}, varied)


def _terms(asked: Asked, needed: Mapping[str, Aggregate]) -> exp.Select:
    """(grp, cells, name, finite, one, two, and of every partition a, q, d): what rows add.

    `one` and `two` are sums over the records of a row of what their exact columns add, and of its
    square. Of what a partition says `a` is the mean, `q` that of the square, and `d` the covariance
    of two records of a bucket.
    """
    cells = "".join(f", r.cell{i}" for i in asked.partitions)
    names = ["name", "finite", "one", "two"]
    names += [f"{x}{i}" for i in asked.partitions for x in "aqd"]
    found: list[exp.Select] = []
    for name, aggregate in needed.items():
        joins = ""
        measure, number = aggregate.measure, asked.number(aggregate.column)
        place, mean = asked.place(number), "0"
        if measure == "avg":
            mean = f"coalesce(s{number}.e / nullif(m{number}.e, 0), 0)"
            for alias, of in (("s", "sum"), ("m", "count")):
                known = f"{alias}{number}"
                joins += f" join expected as {known} on {known}.name = '{of}{number}'"
                joins += f" and {known}.grp = r.grp"
        factors = {i: _Factor(f"c{i}.p", f"c{i}.p", f"c{i}.p2") for i in asked.partitions}
        one = two = "r.m" if place or number is None else f"r.m{number}"
        finite = "true"
        if number is not None and measure in ("sum", "avg", "weighted"):
            finite = f"{f'c{place}' if place else 'r'}.e2{number} < 'infinity'"
        if place or number is None:
            factor = _factor(asked, aggregate, place or 1, number, mean)
            factors |= {place or 1: factor} if factor else {}
        elif measure != "count":
            one = f"(r.u{number} - {mean} * r.m{number})"
            two = f"(r.e2{number} - 2 * {mean} * r.u{number} + {mean} ^ 2 * r.m{number})"
        values = [_text(name), finite, f"({one})::float8", f"({two})::float8"]
        for own in factors.values():
            values += [f"({own.mean})::float8", f"({own.square})::float8"]
            values.append(f"(({own.pair}) - ({own.mean}) ^ 2)::float8")
        columns = (f"{value} as {x}" for value, x in zip(values, names, strict=True))
        text = f"select r.grp{cells}, {', '.join(columns)}"
        found.append(query(f"{text} from {asked.source(*asked.partitions)}{joins}"))
    return stacked(found)


def _factor(
    asked: Asked, aggregate: Aggregate, place: int, number: int | None, mean: str
) -> _Factor | None:
    """What a partition says of values, in which a column is; None of records alone."""
    c, measure = f"c{place}", aggregate.measure
    others, spread = f"_r{number}", "0"
    if number is None and measure == "weighted":
        # So many of n values with a mean and ends vary at most as Bhatia and Davis found.
        others, total, squares = "", f"{c}.w", "null"
        if asked.question.release.weights[1] is not None:
            ends = f"({c}.w_hi - {c}.w / {c}.n) * ({c}.w / {c}.n - {c}.w_lo)"
            varies = f"case when {c}.n > 1 then {c}.n * greatest(0, {ends}) else 0 end"
            squares = f"({c}.w ^ 2 / {c}.n + {varies})"
    elif number is None and asked.person is None:
        return None
    elif number is None:
        # All records of an individual match the conditions on generalized columns, or none does.
        others, total, squares = (f"{x}{asked.person}" for x in ("_r", f"{c}.u", f"{c}.e2"))
    elif measure == "count":
        return _Factor(f"{c}.p_c{number}", f"{c}.p_c{number}", f"{c}.p2_c{number}")
    elif measure == "persons":
        total = squares = f"{c}.persons{number}"
    elif measure == "weighted":
        total, squares = f"({c}.w / {c}.n * {c}.u{number})", "null"
    else:
        # Of what the value of a record differs from a mean by.
        u, e2, v0, v1, v2 = (f"{c}.{x}{number}" for x in ("u", "e2", "v0", "v1", "v2"))
        many = f"{c}.n * {c}.p_x{number}"
        total = f"({u} - {mean} * {many})"
        squares = f"({e2} - 2 * {mean} * {u} + {mean} ^ 2 * {many})"
        spread = f"({v0} - 2 * {mean} * {v1} + {mean} ^ 2 * {v2})"
    pairs = f"{c}.p2{others} * ({spread} + {total} ^ 2 - {squares}) / ({c}.n::float8 * ({c}.n - 1))"
    return _Factor(
        f"{c}.p{others} * {total} / {c}.n",
        f"{c}.p{others} * {squares} / {c}.n",
        f"case when {c}.n > 1 then {pairs} else 0 end",
    )


def _product(first: str, factors: Sequence[str]) -> str:
    return " * ".join([first, *factors])


def _known(value: str) -> str:
    """The sum of values; NULL if one is not known."""
    return f"case when count({value}) = count(*) then sum({value}) end"


def _varied(of: str, numbers: Sequence[int], shared: Sequence[int]) -> list[exp.Select]:
    """(name, grp, first, v, e): variances of what pairs of records add that share these buckets,
    by the rows of a relation as :func:`_terms` has them.

    `first` is the bucket in the first partition; none of pairs in different ones. What a record
    adds by itself is with the pairs that share all buckets, and so is what is expected.
    """
    others = [i for i in numbers if i not in shared]
    if not others:
        alone = _product("t.two", [f"t.q{i}" for i in numbers])
        alone += f" - {_product('t.two', [f't.a{i} ^ 2' for i in numbers])}"
        pairs = _product("(t.one ^ 2 - t.two)", [f"t.d{i}" for i in numbers])
        return [
            query(
                f"select t.name, t.grp, t.cell{numbers[0]} as first, {alone} + {pairs} as v,"
                f" {_product('t.one', [f't.a{i}' for i in numbers])} as e from {of} as t"
            )
        ]
    keys = f"t.name, t.grp, t.cell{numbers[0]}"
    cells = "".join(f", t.cell{i}" for i in shared if i != numbers[0])
    tree = finished(
        query(
            f"select {keys} as first{cells},"
            f" sum({_product('t.one', [f't.a{i}' for i in others])}) as o,"
            f" sum({_product('t.two', [f't.a{i} ^ 2' for i in others])}) as oo,"
            f" {_product('1', [f'min(t.d{i})' for i in shared])} as d"
            f" from {of} as t group by {keys}{cells}"
        )
    )
    found = [
        query(
            "select c.name, c.grp, c.first, c.d * (c.o ^ 2 - c.oo) as v, 0 as e from c", {"c": tree}
        )
    ]
    if numbers[0] not in shared:
        across = "min(c.d) * (sum(c.o) ^ 2 - sum(c.o ^ 2)) as v, 0 as e from c"
        text = f"select c.name, c.grp, null::bigint as first, {across}"
        text += f" group by c.name, c.grp{cells.replace('t.', 'c.')}"
        found.append(query(text, {"c": tree}))
    return found


def _sums(asked: Asked, needed: Mapping[str, Aggregate], varied: exp.Select) -> exp.Select:
    """(name, grp, few, e, finite, v, d), of :func:`_varied` and `expected`."""
    if asked.rows is None:
        # Where bounds meet there is no variance, even if that of pairs is not known.
        sure = stacked([_sure(name, a.measure) for name, a in needed.items()])
        tables = {"b": varied, "u": sure}
        same = "u.name = b.name and u.grp = b.grp and u.cell = b.first"
        buckets, certain = f"b join u on {same}", "u.sure"
    else:
        grouped = query(
            f"select v.name, v.grp, v.first, {_known('v.v')} as v, sum(v.e) as e from v"
            " group by v.name, v.grp, v.first",
            {"v": varied},
        )
        tables, buckets, certain = {"b": grouped}, "b", "false"
    # Rounding may leave less than nothing of a difference of two squares, and of numbers of records
    # and of weights, which are not far from 0, a little more.
    noise = "case when b.name in ('n', 'weighted') then 1e-15 * b.e ^ 2 else 0 end"
    known = query(
        f"select b.name, b.grp, b.first, case when {certain} or (b.v < {noise}"
        f" and b.first is not null) then 0 else b.v end as v from {buckets}",
        tables,
    )
    deviation = "case when c.first is null then 0 else sqrt(c.v) end"
    within = "sum(c.v) filter (where c.first is not null)"
    tree = query(
        f"select c.name, c.grp, {_known('c.v')} as v, {_known(deviation)} as d,"
        f" sum({deviation}) ^ 2 < 10 * nullif({within}, 0) as few"
        " from c group by c.name, c.grp",
        {"c": known},
    )
    # Of a mean nothing is expected, and of the sum and the count behind it nothing varies.
    return query(
        "select name, grp, s.few, s.d, case when s.v < 0 then 0 else s.v end as v, e.e, e.finite"
        " from s full join expected as e using (name, grp)",
        {"s": tree},
    )


def _text(name: str) -> str:
    """In a collation that compares bytes, as it is grouped by and joined on."""
    return f"'{name}'::text collate \"C\""


def _sure(name: str, measure: str) -> exp.Select:
    """(name, grp, cell, sure): whether the bounds of a bucket meet."""
    sure, joins = "e.lo is not distinct from e.hi", ""
    if measure == "weighted":
        sure = "false"
    if measure == "avg":
        joins = f" join each_{name.replace('avg', 'count')}_1 as c on c.grp = e.grp"
        joins += " and c.cell = e.cell"
        sure += " and c.lo = c.hi"
    each = f"each_{name.replace('avg', 'sum')}_1 as e{joins}"
    return query(f"select {_text(name)} as name, e.grp, e.cell, {sure} as sure from {each}")
