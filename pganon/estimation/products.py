"""Estimates and variances of queries about several partitions.

A row matches with the product of the probabilities of its buckets. Two rows depend on each other
where they share a bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from pganon.estimation.crossed import Crossed
from pganon.estimation.question import Aggregate
from pganon.sqltools import query, union_all


@dataclass(frozen=True)
class Factor:
    """What the conditions on a side say of what a record adds, as SQL over `rows` r and `means` m.

    Attributes:
        mean, square: expected; of its square.
        pair: expected product of what two records of a bucket add.
    """

    mean: str
    square: str
    pair: str


@dataclass(frozen=True)
class Term:
    """What the records of a row of `rows` add to a total.

    Attributes:
        one, two: the sum over the records of what their exact columns add, and of its square.
        factors: by side.
    """

    name: str
    one: str
    two: str
    factors: dict[int, Factor]


def term(asked: Crossed, aggregate: Aggregate) -> Term:
    """Of an aggregate; the term of a mean is that of the differences from it."""
    plain = {i: Factor(f"r.p_{i}", f"r.p_{i}", f"r.p2_{i}") for i in asked.numbers}
    if aggregate.column is None:
        return Term("", "r.m", "r.m", plain)
    number = next(i for i, column in asked.measured.items() if column == aggregate.column)
    name = f"{aggregate.measure}{number}"
    place = asked.place(number)
    mean = f"coalesce(m.r{number}, 0)" if aggregate.measure == "avg" else "0"
    if place is None and aggregate.measure == "count":
        return Term(name, f"r.m{number}", f"r.m{number}", plain)
    if place is None:
        one = f"(r.sx{number} - {mean} * r.m{number})"
        two = f"(r.sxx{number} - 2 * {mean} * r.sx{number} + {mean} ^ 2 * r.m{number})"
        return Term(name, one, two, plain)
    side, own = place
    end = f"{own}_{side}"
    if aggregate.measure == "count":
        factor = Factor(f"r.p_c{end}", f"r.p_c{end}", f"r.p2_c{end}")
    else:
        factor = _added(end, f"r.n_{side}", mean)
    return Term(name, "r.m", "r.m", {**plain, side: factor})


def _added(end: str, n: str, mean: str) -> Factor:
    """Of what the value of a record differs from a mean by."""
    total = f"(r.u{end} - {mean} * {n} * r.p_x{end})"
    squares = f"(r.e2{end} - 2 * {mean} * r.u{end} + {mean} ^ 2 * {n} * r.p_x{end})"
    spread = f"(r.v0{end} - 2 * {mean} * r.v1{end} + {mean} ^ 2 * r.v2{end})"
    pairs = f"r.p2_r{end} * ({spread} + {total} ^ 2 - {squares}) / ({n}::float8 * ({n} - 1))"
    return Factor(
        f"r.p_r{end} * {total} / {n}",
        f"r.p_r{end} * {squares} / {n}",
        f"case when {n} > 1 then {pairs} else 0 end",
    )


def means(asked: Crossed) -> exp.Select:
    """(grp, r): estimated means of averaged columns."""
    found = "".join(
        f", {_sum(term_of_sum)} / nullif({_sum(term_of_count)}, 0) as r{number}"
        for number in asked.measured
        if "avg" in asked.measures(number)
        for column in [asked.measured[number]]
        for term_of_sum in [term(asked, Aggregate("sum", column))]
        for term_of_count in [term(asked, Aggregate("count", column))]
    )
    return query(f"select r.grp{found}{_finite(asked)} from rows as r group by r.grp")


def _finite(asked: Crossed) -> str:
    """Whether what is added up has neither NaN nor infinity."""
    found = ""
    for number in asked.measured:
        if asked.adds(number):
            place = asked.place(number)
            squares = f"r.sxx{number}" if place is None else f"r.e2{place[1]}_{place[0]}"
            found += f", bool_and({squares} < 'infinity') as finite{number}"
    return found


def _sum(item: Term) -> str:
    return f"sum({_product([item.one, *[factor.mean for factor in item.factors.values()]])})"


def _product(factors: list[str]) -> str:
    return " * ".join(f"({factor})" for factor in factors)


def terms(asked: Crossed, needed: list[Term]) -> exp.Select:
    """`cell`s of every row with its terms: one, two, and of every side mean a, square q, pair d."""
    first, *_ = asked.numbers
    cells = "".join(f", r.cell_{number}" for number in asked.numbers)
    found = f"r.grp{cells}, r.cell_{first} as first"
    for item in needed:
        found += f", {item.one} as one_{item.name}, {item.two} as two_{item.name}"
        for side, factor in item.factors.items():
            end = f"{side}_{item.name}"
            found += f", ({factor.mean})::float8 as a{end}, ({factor.square})::float8 as q{end}"
            found += f", ({factor.pair}) - ({factor.mean}) ^ 2 as d{end}"
    return query(f"select {found} from rows as r join means as m on m.grp = r.grp")


def expected(asked: Crossed, needed: list[Term]) -> exp.Select:
    """(grp, e): estimates."""
    found = "".join(
        f", sum({_product([f'w.one_{t.name}', *[f'w.a{i}_{t.name}' for i in t.factors]])})"
        f" as e_{t.name}"
        for t in needed
    )
    return query(f"select w.grp{found} from terms as w group by w.grp")


def varied(asked: Crossed, needed: list[Term]) -> exp.Select:
    """(grp, first, v, d): variances of the rows of every bucket of the first side, and of all.

    In rows with `bucket` the variance is that within a bucket of the first side, in those with
    `whole` it belongs to the variance of the group.
    """
    numbers = asked.numbers
    parts = [_alone(needed)]
    for size in range(1, len(numbers) + 1):
        for sides in combinations(numbers, size):
            inside = numbers[0] in sides
            parts.append(_shared(needed, sides, numbers, whole=True, bucket=inside))
            if not inside:
                parts.append(_shared(needed, sides, numbers, whole=False, bucket=True))
    return query("select v.* from v", {"v": union_all(parts)})  # pyright: ignore[reportArgumentType]


def _known(value: str) -> str:
    return f"case when count({value}) = count(*) then sum({value}) end"


def _alone(needed: list[Term]) -> exp.Select:
    """Of what every record adds by itself."""
    found = ""
    for t in needed:
        square = _product([f"w.two_{t.name}", *[f"w.q{i}_{t.name}" for i in t.factors]])
        both = _product([f"w.two_{t.name}", *[f"w.a{i}_{t.name} ^ 2" for i in t.factors]])
        found += f", {_known(f'({square} - {both})')} as v_{t.name}"
    return query(
        f"select w.grp, w.first, true as whole, true as bucket{found} from terms as w"
        " group by w.grp, w.first"
    )


def _shared(
    needed: list[Term], sides: tuple[int, ...], numbers: list[int], *, whole: bool, bucket: bool
) -> exp.Select:
    """Of pairs of records that share a bucket of just these sides."""
    inner, found = "", ""
    others = [number for number in numbers if number not in sides]
    for t in needed:
        means = [f"w.a{i}_{t.name}" for i in others]
        squares = [f"w.a{i}_{t.name} ^ 2" for i in others]
        pairs = _product([f"min(w.d{i}_{t.name})" for i in sides])
        inner += f", sum({_product([f'w.one_{t.name}', *means])}) as o_{t.name}"
        inner += f", sum({_product([f'w.two_{t.name}', *squares])}) as oo_{t.name}"
        inner += f", {pairs} as d_{t.name}"
        value = f"(c.d_{t.name} * (c.o_{t.name} ^ 2 - c.oo_{t.name}))"
        found += f", {_known(value)} as v_{t.name}"
    cells = "".join(f", w.cell_{number}" for number in sides)
    first = "w.first" if bucket else "null::bigint"
    group = f"w.grp{cells}" + (", w.first" if bucket else "")
    tree = query(f"select w.grp, {first} as first{inner} from terms as w group by {group}")
    return query(
        f"select c.grp, c.first, {whole} as whole, {bucket} as bucket{found} from c"
        " group by c.grp, c.first",
        {"c": tree},
    )


def deviations(needed: list[Term]) -> exp.Select:
    """(grp, few, v, d): variance of every term, and sum of deviations over the first side."""
    names = [t.name for t in needed]
    sums = "".join(f", {_known(f'v.v_{name}')} as v_{name}" for name in names)
    whole = query(f"select v.grp{sums} from varied as v where v.whole group by v.grp")
    buckets = query(
        f"select v.grp, v.first{sums} from varied as v where v.bucket group by v.grp, v.first"
    )
    roots = "".join(f", {_known(_root(name))} as d_{name}" for name in names)
    own = _least("b.v_")
    within = query(
        f"select b.grp, coalesce(sum(sqrt({own})) ^ 2 < 10 * nullif(sum({own}), 0), false) as few"
        f"{roots} from b group by b.grp",
        {"b": buckets},
    )
    found = "".join(f", {_least(f'w.v_{name}')} as v_{name}, d.d_{name}" for name in names)
    return query(
        f"select w.grp, d.few{found} from w join d on d.grp = w.grp", {"w": whole, "d": within}
    )


def _root(name: str) -> str:
    return f"sqrt({_least(f'b.v_{name}')})"


def _least(value: str) -> str:
    """A variance that rounding may have made negative; one that is not known stays so."""
    return f"case when {value} < 0 then 0 else {value} end"
