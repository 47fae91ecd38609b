"""The SELECT that answers a question from the views of a release.

It is of named relations: what the parts of the query allow, cells of every partition, bounds and
moments of every group, and at the end the figures of the aggregates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from pganon.estimation import alternatives, bounds, several_partitions
from pganon.estimation.boxes import Fitted
from pganon.estimation.cells import AnyPart, Query, relations, table, with_all
from pganon.estimation.events import EventsPart
from pganon.estimation.parts import ExactPart, ListedPart, RangedPart
from pganon.estimation.question import FIGURES, FLAGS, Aggregate, Question, parts_of
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Part
from pganon.estimation.several_partitions import Partitioned, Split, split
from pganon.forms.match_counts import call
from pganon.identifiers import quote
from pganon.sqltools import fragment, named, query, stacked


def answered(question: Question, fitted: Mapping[str, Fitted]) -> exp.Select:
    """(a<i> with :data:`FIGURES`, keys, :data:`FLAGS`): a row for every group.

    Args:
        fitted: the generalized columns in it, by name.
    """
    if question.alternatives is not None:
        return alternatives.answered(question, lambda one: answered(one, fitted))
    found = split(question)
    if isinstance(found, Question):
        return _written(_asked(found, fitted))
    return _written(_partitioned(found, fitted))


def _asked(question: Question, fitted: Mapping[str, Fitted]) -> Query:
    """The question with its parts, all in one partition."""
    columns = [a.column for a in question.aggregates if a.column is not None]
    person = question.release.person
    if person is not None and person.part not in parts_of(question.others):
        columns.append(person)
    measured = dict(enumerate(dict.fromkeys(columns)))
    added = [a.column for a in question.aggregates if a.measure != "count"]
    parts: dict[Part, AnyPart] = {}
    for number, part in enumerate(question.parts):
        keys = {i: k.expression for i, k in enumerate(question.keys) if k.part == part}
        condition = next(iter(question.conditions_on(part)), None)
        own = {i: column for i, column in measured.items() if column.part == part}
        if part.events:
            facts, tables = question.release.facts, question.release.tables
            parts[part] = EventsPart(number, condition, keys, part, facts, tables)
            continue
        if part.exact:
            known = {column.name: column for column in question.columns(part)}
            parts[part] = ExactPart(number, condition, keys, part, known, own)
            continue
        box = fitted[question.columns(part)[0].name]
        adds = bool(own) and (box.column.is_number or box.column.is_time)
        if adds and box.unbounded and any(column in own.values() for column in added):
            raise EstimateRefused(
                f"{quote(box.column.name)} has ranges without an end: it can be counted,"
                " but not added up"
            )
        kind = ListedPart if box.line is None else RangedPart
        parts[part] = kind(number, condition, keys, box, bool(own), adds)
    return Query(question, parts, measured)


def _partitioned(split: Split, fitted: Mapping[str, Fitted]) -> Partitioned:
    question = split.question
    columns = dict.fromkeys(a.column for a in question.aggregates if a.column is not None)
    measured = dict(enumerate(columns))
    elsewhere = {number for side in split.sides for number in side.keys}
    rows = ExactPart(
        0,
        split.condition.condition if split.condition else None,
        {i: key.expression for i, key in enumerate(question.keys) if i not in elsewhere},
        split.rows,
        {name: c for name, c in question.release.columns.items() if split.side_of(c) is None},
        {i: column for i, column in measured.items() if split.side_of(column) is None},
    )
    sides = {side.number: _asked(side.question, fitted) for side in split.sides}
    return Partitioned(question, {}, measured, split, rows, sides)


def _written(asked: Query) -> exp.Select:
    needed = {"n": Aggregate("count", None)}
    for aggregate in asked.question.aggregates:
        if aggregate.measure == "avg":
            counted = Aggregate("count", aggregate.column)
            needed[_name(asked, counted)] = counted
        if aggregate.measure not in ("min", "max", "rows"):
            needed[_name(asked, aggregate)] = aggregate
    spans = {"sum", "avg", "min", "max", "weighted"}
    spanned = [i for i in asked.measured if asked.measures(i) & spans]
    joined = ["means", "sums"]
    if isinstance(asked, Partitioned):
        found = {
            f"side{number}": with_all(query("select c.* from cells as c"), relations(side))
            for number, side in asked.sides.items()
        }
        found["rows"] = several_partitions.rows(asked)
        counts: dict[str, int | None] = {"n": None}
        for number in asked.measured:
            if "count" in asked.measures(number) or asked.place(number) is None:
                counts[f"count{number}"] = number
        for name, number in counts.items():
            for side in asked.sides:
                found[f"within{side}_{name}"] = several_partitions.within(asked, side, number)
            found[f"counted_{name}"] = several_partitions.counted(asked, name)
            joined.append(f"counted_{name}")
        found["open"] = query(
            "select w.grp, count(*) filter (where w.lo < w.hi) as classes"
            f" from within{next(iter(asked.sides))}_n as w group by w.grp"
        )
        joined.append("open")
        found |= {f"spans{number}": several_partitions.spans(asked, number) for number in spanned}
        found |= of_rows(asked, needed)
    else:
        found = relations(asked)
        for number in spanned:
            found |= bounds.spans(asked, number, asked.measures(number))
        found |= of_cells(asked, needed)
    joined += [f"spans{number}" for number in spanned]
    found["totals"] = _totals(asked, joined)
    return with_all(_figures(asked), found)


def _name(asked: Query, aggregate: Aggregate) -> str:
    """The name of an aggregate in relations."""
    if aggregate.column is None:
        return "weighted" if aggregate.measure == "weighted" else "n"
    number = next(i for i, column in asked.measured.items() if column == aggregate.column)
    return f"{aggregate.measure}{number}"


def _totals(asked: Query, joined: list[str]) -> exp.Select:
    """(keys, classes, few, lo, and of every aggregate e, lower, upper, v, d): a row per group.

    Estimate `e`, bounds `lower` and `upper`, variance `v` and sum of deviations `d`.
    """
    keys = [f"k{number}" for number in range(len(asked.question.keys))]
    source = "rows" if isinstance(asked, Partitioned) else "cells"
    groups = f"select distinct c.grp{''.join(f', c.{key}' for key in keys)} from {source} as c"
    tables = {"g": query(groups if keys else "select 1::bigint as grp")}
    text = "select coalesce(classes, 0) as classes, coalesce(sums.few, false) as few,"
    text += " coalesce(lo_n, 0) as lo" + "".join(f", g.{key}" for key in keys)
    for number, aggregate in enumerate(asked.question.aggregates):
        name, measure = _name(asked, aggregate), aggregate.measure
        of = name.removeprefix(measure)
        found = {
            "e": f"coalesce(sums.e_{name}, 0)",
            **{x: f"case when sums.grp is null then 0 else sums.{x}_{name} end" for x in "vd"},
        }
        ends = {
            "avg": ("mean_least", "mean_greatest"),
            "sum": ("least", "greatest"),
            "weighted": ("w_least", "w_greatest"),
        }.get(measure, (f"{measure}_lower", f"{measure}_upper"))
        lower, upper = (f"spans{of}.{end}" for end in ends)
        if measure in ("count", "persons", "sum", "weighted"):
            counts = measure in ("count", "persons")
            if counts or not of:
                lower, upper = f"lo_{name}", f"hi_{name}"
            # There is no variance where they meet.
            for x in "vd":
                found[x] = f"case when {lower} = {upper} then 0 else {found[x]} end"
            kind = "::bigint" if counts else ""
            lower, upper = (f"coalesce({end}, 0){kind}" for end in (lower, upper))
        if measure == "rows":
            lower = upper = "null::bigint"
            found |= dict.fromkeys("vd", "null::float8")
        if measure == "avg":
            found |= {"e": f"means.r{of}", "count": f"nullif(sums.e_count{of}, 0)"}
        if measure in ("sum", "avg", "weighted") and of:
            found["finite"] = f"coalesce(means.finite{of}, true)"
        found = {} if measure in ("min", "max") else found
        for x, value in {**found, "lower": lower, "upper": upper}.items():
            text += f", {value} as {x}{number}"
    joins = "".join(f" left join {name} on {name}.grp = g.grp" for name in joined)
    return query(f"{text} from g{joins}", tables)


def _figures(asked: Query) -> exp.Select:
    """Estimate, bounds, likely range and error of every aggregate, from `totals`."""
    columns: list[exp.Expr] = []
    for number, aggregate in enumerate(asked.question.aggregates):
        lower, upper = f"t.lower{number}", f"t.upper{number}"
        if aggregate.measure in ("min", "max"):
            # Bounds are the estimate as well where they meet, else there is none.
            meets = f"case when {lower} = {upper} then {{}} end"
            is_time = aggregate.column is not None and aggregate.column.is_time
            estimate = meets.format(lower if is_time else f"{lower}::float8")
            texts = [estimate, lower, upper, lower, upper, meets.format("0::float8")]
        else:
            error, likely = f"sqrt(t.v{number})", f"2 * t.d{number}"
            if aggregate.measure == "avg":
                error, likely = (f"{value} / t.count{number}" for value in (error, likely))
            # Rounding must not take the estimate beyond its bounds.
            estimate = f"least({upper}::float8, greatest({lower}::float8, t.e{number}))"
            low = f"greatest({lower}::float8, {estimate} - {likely})"
            high = f"least({upper}::float8, {estimate} + {likely})"
            texts = [estimate, lower, upper, low, high, error]
        if aggregate.measure in ("sum", "avg", "weighted") and aggregate.column is not None:
            texts = [f"case when t.finite{number} then {text} end" for text in texts]
        columns += [
            named(fragment(text), f"a{number}{end}")
            for text, end in zip(texts, FIGURES, strict=True)
        ]
    keys = "".join(f", t.k{number}" for number in range(len(asked.question.keys)))
    tree = query(f"select t.classes, t.few, t.lo = 0 as {FLAGS[2]}{keys} from totals as t")
    return tree.select(*columns)


# -- estimates and variances ----------------------------------------------------------------------
#
# A row in several partitions matches with the product of the probabilities of its buckets. Two rows
# depend on each other where they share a bucket.


def _known(value: str) -> str:
    """The sum of values; NULL if one is not known."""
    return f"case when count({value}) = count(*) then sum({value}) end"


def _few(variance: str) -> str:
    return f"coalesce(sum(sqrt({variance})) ^ 2 < 10 * nullif(sum({variance}), 0), false) as few"


# -- one partition --------------------------------------------------------------------------------


def of_cells(asked: Query, needed: Mapping[str, Aggregate]) -> dict[str, exp.Select]:
    """Relations up to `sums`: estimates, bounds of counts and variances, of every group.

    Args:
        needed: aggregates of counts, sums and means by their names.
    """
    numbers = {name: _number(asked, aggregate) for name, aggregate in needed.items()}
    found: dict[str, exp.Select] = {}
    means = ""
    for number in asked.measured:
        if asked.measures(number) & {"sum", "avg", "weighted"}:
            means += f", bool_and(c.e2{number} < 'infinity') as finite{number}"
            if "avg" in asked.measures(number):
                means += f", sum(c.p_r{number} * c.u{number})"
                means += f" / nullif(sum(c.p_c{number} * c.n), 0) as r{number}"
    found["means"] = query(f"select c.grp{means} from cells as c group by c.grp")
    tree = query("select c.* from cells as c join means as m on m.grp = c.grp")
    for number in asked.measured:
        part = asked.part_of(number)
        if number == asked.persons and isinstance(part, ExactPart):
            found[f"rows{number}"] = part.persons_in_order()
            found[f"fewest{number}"] = bounds.fewest(part, number)
            joined = f"fewest{number}"
        elif asked.measures(number) & {"sum", "avg"}:
            joined = f"bounds{number}"
        else:
            continue
        on = fragment(f"b{number}.cell = c.cell")
        tree = tree.join(table(joined, f"b{number}"), on=on, join_type="left")
    sums = f"select c.grp, count(*) filter (where c.lo < c.hi) as classes, {_few('c.v_n')}"
    for name, aggregate in needed.items():
        expected, ends, variance = _of_cell(asked, aggregate, numbers[name])
        tree = tree.select(named(variance, f"v_{name}"), named(fragment(expected), f"e_{name}"))
        sums += f", coalesce(sum(c.e_{name}), 0) as e_{name}, {_known(f'c.v_{name}')} as v_{name}"
        sums += f", {_known(f'sqrt(c.v_{name})')} as d_{name}"
        for end, value in zip(("lo", "hi"), ends, strict=False):
            tree = tree.select(named(fragment(value), f"{end}_{name}"))
            sums += f", sum(c.{end}_{name}) as {end}_{name}"
    found["moments"] = tree
    found["sums"] = query(f"{sums} from moments as c group by c.grp")
    return found


def _number(asked: Query, aggregate: Aggregate) -> int | None:
    return next((i for i, column in asked.measured.items() if column == aggregate.column), None)


def _of_cell(
    asked: Query, aggregate: Aggregate, number: int | None
) -> tuple[str, tuple[str, ...], exp.Expr]:
    """What a cell adds to an estimate, the bounds of its count, its variance."""
    # All records of an individual match the conditions on generalized columns, or none does.
    own = asked.persons if number is None and asked.persons is not None else number
    total, squares = f"c.u{own}", f"c.e2{own}"
    measure = aggregate.measure
    if measure == "count" and (own is None or own == number):
        suffix = "" if number is None else f"_c{number}"
        names = {"fewest": "lo", "most": "hi", "share": "p", "pair": "p2"}
        given = {name: fragment(f"c.{column}{suffix}") for name, column in names.items()}
        variance = call("count_variance", n=fragment("c.n"), **given)
        return f"c.p{suffix} * c.n", (f"c.lo{suffix}", f"c.hi{suffix}"), variance
    if measure == "weighted":
        if number is not None:
            return f"c.w / c.n * c.p_r{own} * c.u{own}", (), fragment("null::float8")
        return _weighted(known=asked.question.release.weights[1] is not None)
    ends, spread = ("c.lo", "c.hi"), "0"
    if measure == "count":
        expected, certain = "c.p * c.n", "c.lo = c.hi"
    elif measure == "persons":
        total = squares = f"c.persons{own}"
        expected = f"c.p_r{own} * c.persons{own}"
        ends = (f"coalesce(b{own}.fewest, 0)", f"least(c.persons{own}, c.hi_r{own})")
        certain = f"{ends[0]} = {ends[1]}"
    else:
        expected, ends, spread = f"c.p_r{own} * c.u{own}", (), f"c.v0{own}"
        certain = f"b{own}.least is not distinct from b{own}.greatest"
    if measure == "avg":
        # Of what values differ from the estimated mean by.
        mean, many = f"m.r{own}", f"c.n * c.p_x{own}"
        certain = f"c.lo_c{own} = c.hi_c{own} and {certain}"
        squares = f"{squares} - 2 * {mean} * {total} + {mean} ^ 2 * {many}"
        total = f"{total} - {mean} * {many}"
        spread = f"{spread} - 2 * {mean} * c.v1{own} + {mean} ^ 2 * c.v2{own}"
    given = {"total": total, "squares": squares, "spread": spread}
    given |= {"share": f"c.p_r{own}", "pair": f"c.p2_r{own}"}
    variance = call("sum_variance", **{name: fragment(text) for name, text in given.items()})
    return expected, ends, fragment(f"case when {certain} then 0 else :v end", v=variance)


def _weighted(*, known: bool) -> tuple[str, tuple[str, ...], exp.Expr]:
    """The same of the sum of sample weights, of which a cell shows the sum and perhaps ends.

    So many of n values with a mean and ends have at most a variance that Bhatia and Davis found.
    """
    ends = (
        "greatest(c.lo * c.w_lo, c.w - c.n * 5e-7 - (c.n - c.lo) * c.w_hi, 0)",
        "least(c.hi * c.w_hi, c.w + c.n * 5e-7 - (c.n - c.hi) * c.w_lo)",
    )
    if not known:
        return "c.w * c.p", ends, fragment("null::float8")
    given = {"n": "c.n", "fewest": "c.lo", "most": "c.hi", "share": "c.p", "pair": "c.p2"}
    counted = call("count_variance", **{name: fragment(text) for name, text in given.items()})
    variance = fragment(
        "(c.w / c.n) ^ 2 * :v + greatest(0, (c.n * c.p) * (c.n - c.n * c.p) - :v)"
        " / greatest(c.n - 1, 1) * greatest(0, (c.w_hi - c.w / c.n) * (c.w / c.n - c.w_lo))",
        v=counted,
    )
    return "c.w * c.p", ends, variance


# -- several partitions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Factor:
    """What the conditions on a side say of what a record adds, as SQL over `rows` r and `means` m.

    Attributes:
        mean, square: expected; of its square.
        pair: expected product of what two records of a bucket add.
    """

    mean: str
    square: str
    pair: str


@dataclass(frozen=True)
class _Term:
    """What the records of a row of `rows` add to a total.

    Attributes:
        one, two: the sum over the records of what their exact columns add, and of its square.
        factors: by side.
    """

    one: str
    two: str
    factors: dict[int, _Factor]


def of_rows(asked: Partitioned, needed: Mapping[str, Aggregate]) -> dict[str, exp.Select]:
    """Relations up to `sums`: estimates and variances of every group.

    Args:
        needed: aggregates of counts, sums and means by their names.
    """
    terms = {name: _term(asked, aggregate) for name, aggregate in needed.items()}
    numbers = list(asked.sides)
    parts = [_alone(terms)]
    for size in range(1, len(numbers) + 1):
        for sides in combinations(numbers, size):
            inside = numbers[0] in sides
            parts.append(_shared(terms, sides, numbers, whole=True, bucket=inside))
            if not inside:
                parts.append(_shared(terms, sides, numbers, whole=False, bucket=True))
    return {
        "means": _means(asked),
        "terms": _terms(asked, terms),
        "varied": stacked(parts),
        "sums": _deviations(terms),
    }


def _term(asked: Partitioned, aggregate: Aggregate) -> _Term:
    """Of an aggregate; the term of a mean is that of the differences from it."""
    plain = {i: _Factor(f"r.p_{i}", f"r.p_{i}", f"r.p2_{i}") for i in asked.sides}
    if aggregate.column is None:
        return _Term("r.m", "r.m", plain)
    number = next(i for i, column in asked.measured.items() if column == aggregate.column)
    place = asked.place(number)
    mean = f"coalesce(m.r{number}, 0)" if aggregate.measure == "avg" else "0"
    if place is None and aggregate.measure == "count":
        return _Term(f"r.m{number}", f"r.m{number}", plain)
    if place is None:
        one = f"(r.sx{number} - {mean} * r.m{number})"
        two = f"(r.sxx{number} - 2 * {mean} * r.sx{number} + {mean} ^ 2 * r.m{number})"
        return _Term(one, two, plain)
    side, own = place
    end, n = f"{own}_{side}", f"r.n_{side}"
    if aggregate.measure == "count":
        factor = _Factor(f"r.p_c{end}", f"r.p_c{end}", f"r.p2_c{end}")
    else:
        # Of what the value of a record differs from a mean by.
        total = f"(r.u{end} - {mean} * {n} * r.p_x{end})"
        squares = f"(r.e2{end} - 2 * {mean} * r.u{end} + {mean} ^ 2 * {n} * r.p_x{end})"
        spread = f"(r.v0{end} - 2 * {mean} * r.v1{end} + {mean} ^ 2 * r.v2{end})"
        pairs = f"r.p2_r{end} * ({spread} + {total} ^ 2 - {squares}) / ({n}::float8 * ({n} - 1))"
        factor = _Factor(
            f"r.p_r{end} * {total} / {n}",
            f"r.p_r{end} * {squares} / {n}",
            f"case when {n} > 1 then {pairs} else 0 end",
        )
    return _Term("r.m", "r.m", {**plain, side: factor})


def _product(factors: Sequence[str]) -> str:
    return " * ".join(f"({factor})" for factor in factors)


def _means(asked: Partitioned) -> exp.Select:
    """(grp, r, finite): estimated means of averaged columns; whether all squares are finite."""
    found = ""
    for number, column in asked.measured.items():
        measures = asked.measures(number)
        if "avg" in measures:
            added, many = (
                f"sum({_product([term.one, *[factor.mean for factor in term.factors.values()]])})"
                for measure in ("sum", "count")
                for term in [_term(asked, Aggregate(measure, column))]
            )
            found += f", {added} / nullif({many}, 0) as r{number}"
        if measures & {"sum", "avg"}:
            place = asked.place(number)
            squares = f"r.sxx{number}" if place is None else f"r.e2{place[1]}_{place[0]}"
            found += f", bool_and({squares} < 'infinity') as finite{number}"
    return query(f"select r.grp{found} from rows as r group by r.grp")


def _terms(asked: Partitioned, terms: Mapping[str, _Term]) -> exp.Select:
    """`cell`s of every row with its terms: one, two, and of every side mean a, square q, pair d."""
    cells = "".join(f", r.cell_{number}" for number in asked.sides)
    found = f"r.grp{cells}, r.cell_{next(iter(asked.sides))} as first"
    for name, term in terms.items():
        found += f", {term.one} as one_{name}, {term.two} as two_{name}"
        for side, factor in term.factors.items():
            end = f"{side}_{name}"
            found += f", ({factor.mean})::float8 as a{end}, ({factor.square})::float8 as q{end}"
            found += f", ({factor.pair}) - ({factor.mean}) ^ 2 as d{end}"
    return query(f"select {found} from rows as r join means as m on m.grp = r.grp")


def _alone(terms: Mapping[str, _Term]) -> exp.Select:
    """(grp, first, whole, bucket, v): of what every record adds by itself.

    In rows with `bucket` the variance is that within a bucket of the first side, in those with
    `whole` it belongs to the variance of the group.
    """
    found = ""
    for name, term in terms.items():
        square = _product([f"w.two_{name}", *[f"w.q{i}_{name}" for i in term.factors]])
        both = _product([f"w.two_{name}", *[f"w.a{i}_{name} ^ 2" for i in term.factors]])
        found += f", {_known(f'({square} - {both})')} as v_{name}"
    return query(
        f"select w.grp, w.first, true as whole, true as bucket{found} from terms as w"
        " group by w.grp, w.first"
    )


def _shared(
    names: Iterable[str],
    sides: Sequence[int],
    numbers: Sequence[int],
    *,
    whole: bool,
    bucket: bool,
) -> exp.Select:
    """The same of pairs of records that share a bucket of just these sides."""
    inner, found = "", ""
    others = [number for number in numbers if number not in sides]
    for name in names:
        means = [f"w.a{i}_{name}" for i in others]
        squares = [f"w.a{i}_{name} ^ 2" for i in others]
        pairs = _product([f"min(w.d{i}_{name})" for i in sides])
        inner += f", sum({_product([f'w.one_{name}', *means])}) as o_{name}"
        inner += f", sum({_product([f'w.two_{name}', *squares])}) as oo_{name}"
        inner += f", {pairs} as d_{name}"
        found += f", {_known(f'(c.d_{name} * (c.o_{name} ^ 2 - c.oo_{name}))')} as v_{name}"
    cells = "".join(f", w.cell_{number}" for number in sides)
    first = "w.first" if bucket else "null::bigint"
    group = f"w.grp{cells}" + (", w.first" if bucket else "")
    tree = query(f"select w.grp, {first} as first{inner} from terms as w group by {group}")
    return query(
        f"select c.grp, c.first, {whole} as whole, {bucket} as bucket{found} from c"
        " group by c.grp, c.first",
        {"c": tree},
    )


def _deviations(terms: Mapping[str, _Term]) -> exp.Select:
    """(grp, few, e, v, d): estimates, variances, and sums of deviations over the first side."""

    def least(value: str) -> str:
        """A variance that rounding may have made negative; one that is not known stays so."""
        return f"case when {value} < 0 then 0 else {value} end"

    sums = "".join(f", {_known(f'v.v_{name}')} as v_{name}" for name in terms)
    expected = "".join(
        f", sum({_product([f'w.one_{name}', *[f'w.a{i}_{name}' for i in term.factors]])})"
        f" as e_{name}"
        for name, term in terms.items()
    )
    roots = "".join(
        f", {_known('sqrt(' + least('b.v_' + name) + ')')} as d_{name}" for name in terms
    )
    found = "".join(
        f", e.e_{name}, {least(f'w.v_{name}')} as v_{name}, d.d_{name}" for name in terms
    )
    buckets = f"select v.grp, v.first{sums} from varied as v where v.bucket group by v.grp, v.first"
    within = query(
        f"select b.grp, {_few(least('b.v_n'))}{roots} from b group by b.grp", {"b": query(buckets)}
    )
    return query(
        f"select w.grp, d.few{found} from w join d on d.grp = w.grp join e on e.grp = w.grp",
        {
            "w": query(f"select v.grp{sums} from varied as v where v.whole group by v.grp"),
            "d": within,
            "e": query(f"select w.grp{expected} from terms as w group by w.grp"),
        },
    )
