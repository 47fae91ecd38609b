"""The one SELECT that answers a question from the views of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from pganon.errors import UsageError
from pganon.estimation import bounds
from pganon.estimation.algebra import call
from pganon.estimation.boxes import Fitted
from pganon.estimation.cells import Query, relations, table
from pganon.estimation.exactly import ExactPart
from pganon.estimation.extremes import extremes
from pganon.estimation.listed import ListedPart
from pganon.estimation.question import Aggregate, Formula, Leaf, Question, leaves_of, parts_of
from pganon.estimation.ranged import RangedPart
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Part, Published
from pganon.estimation.tangles import AnyPart, Tangle, signature
from pganon.estimation.values import over
from pganon.identifiers import quote
from pganon.sqltools import col, finished, fragment, named, num, query

MAX_GROUPS = 100_000
FIGURES = ("", "_lower", "_upper", "_low", "_high", "_error")
"""Of an aggregate: estimate, sure bounds, likely range, error of the model."""

FLAGS = ("classes", "few", "maybe_empty")


def asked(question: Question, fitted: Mapping[str, Fitted]) -> Query:
    """The question with its parts.

    Args:
        fitted: the generalized columns in it, by name.
    """
    _check_names(question)
    columns = [a.column for _, a in question.aggregates if a.column is not None]
    person = question.release.person
    if person is not None and person.part not in parts_of(question.others):
        columns.append(person)
    measured = dict(enumerate(dict.fromkeys(columns)))
    parts: dict[Part, AnyPart] = {}
    tangles = [_leaves_by_part(formula) for formula in question.tangles]
    tangled = {part: leaves for found in tangles for part, leaves in found.items()}
    for number, part in enumerate(question.parts):
        if part in tangled:
            keys = {number: signature(tangled[part])}
            condition = None
        else:
            keys = {i: k.expression for i, k in enumerate(question.keys) if k.part == part}
            condition = next(iter(question.conditions(part)), None)
        own = {i: column for i, column in measured.items() if column.part == part}
        if part.exact:
            known = {column.name: column for column in question.columns(part)}
            parts[part] = ExactPart(part, known, number, condition, keys, own)
        else:
            column = fitted[next(iter(question.columns(part))).name]
            adds = bool(own) and column.column.is_number
            kind = ListedPart if column.line is None else RangedPart
            parts[part] = kind(column, number, condition, keys, bool(own), adds)
    return Query(
        question,
        {part: own for part, own in parts.items() if part not in tangled},
        measured,
        tuple(
            Tangle(number, formula, {part: parts[part] for part in leaves}, leaves)
            for number, (formula, leaves) in enumerate(zip(question.tangles, tangles, strict=True))
        ),
    )


def _leaves_by_part(formula: Formula) -> dict[Part, tuple[Leaf, ...]]:
    found: dict[Part, tuple[Leaf, ...]] = {}
    for leaf in dict.fromkeys(leaves_of(formula)):
        found[leaf.part] = (*found.get(leaf.part, ()), leaf)
    return found


def _check_names(question: Question) -> None:
    names = [name for item in question.items for name in _names(item.name, item.what)]
    names += FLAGS
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EstimateRefused(
            f"two columns of the answer would be named {quote(twice[0])}",
            hint="give the columns of the list other aliases",
        )
    if any(len(name.encode()) > 63 for name in names):
        raise UsageError("an alias is too long: names of columns have 63 bytes, with endings")


def _names(name: str, what: int | Aggregate) -> list[str]:
    return [name + figure for figure in FIGURES] if isinstance(what, Aggregate) else [name]


def written(asked: Query) -> exp.Select:
    """The statement."""
    tree = _answer(asked)
    found = relations(asked)
    for number, column in asked.measured.items():
        found |= _measured(asked, number, column)
    found["means"] = _means(asked)
    found["moments"] = _moments(asked)
    found["totals"] = _totals(asked)
    for name, part in found.items():
        tree = tree.with_(
            exp.to_identifier(name, quoted=True), as_=finished(part), materialized=True, copy=False
        )
    return tree


def _measured(asked: Query, number: int, column: Published) -> dict[str, exp.Select]:
    """Bounds of sums and means of a measured column."""
    measures = {a.measure for _, a in asked.question.aggregates if a.column == column}
    part = asked.part_of(number)
    if number == asked.persons and isinstance(part, ExactPart):
        return {
            f"rows{number}": part.persons_in_order(),
            f"fewest{number}": bounds.fewest(asked, number),
        }
    if measures == {"count"}:
        return {}
    found = {f"rows{number}": part.rows(number)} if isinstance(part, ExactPart) else {}
    if measures & {"min", "max"}:
        found[f"extremes{number}"] = extremes(asked, number)
    if measures & {"sum", "avg"}:
        found[f"bounds{number}"] = bounds.sum_bounds(asked, number)
    if "avg" in measures:
        found[f"mean{number}"] = bounds.average_rows(asked, number)
        found[f"meanbounds{number}"] = bounds.average_bounds(number)
    return found


def _numbers(asked: Query, *measures: str) -> list[int]:
    """The columns that have such an aggregate."""
    wanted = {a.column for _, a in asked.question.aggregates if a.measure in measures}
    return [number for number, column in asked.measured.items() if column in wanted]


def _means(asked: Query) -> exp.Select:
    """(grp, r, c): estimated means, and numbers of records, of averaged columns."""
    tree = query("select c.grp from cells as c group by c.grp")
    for number in _numbers(asked, "avg"):
        parts = _columns_of("c", number)
        tree = tree.select(
            named(fragment("sum(:p_r * :u) / nullif(sum(:p_c * c.n), 0)", **parts), f"r{number}"),
            named(fragment("sum(:p_c * c.n)", p_c=parts["p_c"].copy()), f"c{number}"),
        )
    return tree


def _columns_of(table: str, number: int) -> dict[str, exp.Expr]:
    """Columns of a measured column in `cells`; those that the text does not name are left out."""
    names = ("p_r", "u", "p_c")
    return {name: col(f"{name}{number}", table) for name in names}


def _moments(asked: Query) -> exp.Select:
    """`cells` with the variance of every aggregate, and bounds of sums."""
    tree = query("select c.* from cells as c join means as m on m.grp = c.grp")
    if asked.persons is None:
        tree = tree.select(named(_count_variance(""), "var"))
    else:
        tree = _of_persons(tree, asked.persons)
    for number in asked.measured:
        if number != asked.persons:
            tree = tree.select(named(_count_variance(f"_c{number}"), f"var_c{number}"))
    for number in _numbers(asked, "sum", "avg"):
        alias = f"b{number}"
        on = exp.EQ(this=col("cell", alias), expression=col("cell", "c"))
        tree = tree.join(table(f"bounds{number}", alias), on=on, join_type="left")
        for name in ("least", "greatest"):
            bound = fragment("coalesce(:v, 0)", v=col(name, alias))
            tree = tree.select(named(bound, f"{name}{number}"))
    for number in _numbers(asked, "sum"):
        tree = tree.select(named(_sum_variance(number), f"var_s{number}"))
    for number in _numbers(asked, "avg"):
        tree = tree.select(named(_mean_variance(number), f"var_m{number}"))
    return tree


def _of_persons(tree: exp.Select, number: int) -> exp.Select:
    """Bounds of the number of individuals; its variance and that of the number of records.

    All records of an individual match the conditions on generalized columns, or none does.
    """
    alias = f"b{number}"
    on = exp.EQ(this=col("cell", alias), expression=col("cell", "c"))
    tree = tree.join(table(f"fewest{number}", alias), on=on, join_type="left")
    least = fragment("coalesce(:f, 0)", f=col("fewest", alias))
    most = fragment("least(:p, :h)", p=col(f"persons{number}", "c"), h=col(f"hi_r{number}", "c"))
    one = {name: col(f"persons{number}", "c") for name in ("total", "squares")}
    records = {"total": col(f"u{number}", "c"), "squares": col(f"e2{number}", "c")}
    bounds_of = {
        "": (col("lo", "c"), col("hi", "c"), records),
        f"_d{number}": (least, most, one),
    }
    for suffix, (low, high, expected) in bounds_of.items():
        variance = call(
            "sum_variance",
            **expected,
            spread=num(0),
            share=col(f"p_r{number}", "c"),
            pair=col(f"p2_r{number}", "c"),
        )
        known = fragment("case when :l = :h then 0 else :v end", l=low, h=high, v=variance)
        tree = tree.select(named(known, f"var{suffix}"))
    return tree.select(named(least.copy(), f"lo_d{number}"), named(most.copy(), f"hi_d{number}"))


def _count_variance(suffix: str) -> exp.Expr:
    return call(
        "count_variance",
        n=col("n", "c"),
        fewest=col(f"lo{suffix}", "c"),
        most=col(f"hi{suffix}", "c"),
        share=col(f"p{suffix}", "c"),
        pair=col(f"p2{suffix}", "c"),
    )


def _sum_variance(number: int) -> exp.Expr:
    bound = {name: col(name, f"b{number}") for name in ("least", "greatest")}
    variance = call(
        "sum_variance",
        total=col(f"u{number}", "c"),
        squares=col(f"e2{number}", "c"),
        spread=col(f"v0{number}", "c"),
        share=col(f"p_r{number}", "c"),
        pair=col(f"p2_r{number}", "c"),
    )
    return fragment(
        "case when :least is not distinct from :greatest then 0 else :v end", v=variance, **bound
    )


def _mean_variance(number: int) -> exp.Expr:
    """The variance of the sum of what values differ from the estimated mean by."""
    names = {"u": "c", "e2": "c", "v0": "c", "v1": "c", "v2": "c", "p_x": "c", "r": "m"}
    parts = {name: col(f"{name}{number}", table) for name, table in names.items()}

    def some(text: str) -> exp.Expr:
        return fragment(text, **{k: v.copy() for k, v in parts.items() if f":{k}" in text})

    variance = call(
        "sum_variance",
        total=some(":u - :r * c.n * :p_x"),
        squares=some(":e2 - 2 * :r * :u + :r ^ 2 * c.n * :p_x"),
        spread=some(":v0 - 2 * :r * :v1 + :r ^ 2 * :v2"),
        share=col(f"p_r{number}", "c"),
        pair=col(f"p2_r{number}", "c"),
    )
    return fragment(
        "case when :lo = :hi and :a is not distinct from :b then 0 else :v end",
        lo=col(f"lo_c{number}", "c"),
        hi=col(f"hi_c{number}", "c"),
        a=col("least", f"b{number}"),
        b=col("greatest", f"b{number}"),
        v=variance,
    )


# -- groups -----------------------------------------------------------------------------------


def _totals(asked: Query) -> exp.Select:
    """(grp, keys, ...): estimates, bounds, variance and sum of deviations of every aggregate."""
    tree = query(
        "select count(*) filter (where c.lo < c.hi) as classes,"
        " coalesce(sum(c.lo), 0) as lo, :few as few from moments as c",
        few=_few(),
    )
    for number, (_, aggregate) in enumerate(asked.question.aggregates):
        for name, value in _figures(asked, aggregate).items():
            tree = tree.select(named(value, f"{name}{number}"))
    if not asked.question.keys:
        return tree
    keys = [col(name, "c") for name in asked.key_names]
    tree = tree.select(col("grp", "c"), *keys)
    return tree.group_by(col("grp", "c"), *[key.copy() for key in keys])


def _few() -> exp.Expr:
    return fragment("coalesce(sum(sqrt(c.var)) ^ 2 < 10 * nullif(sum(c.var), 0), false)")


def _figures(asked: Query, aggregate: Aggregate) -> dict[str, exp.Expr]:
    """Estimate `e`, bounds `lower` and `upper`, variance `v` and sum of deviations `d`."""
    if aggregate.column is None:
        return _count_figures("")
    number = next(i for i, column in asked.measured.items() if column == aggregate.column)
    if aggregate.measure == "count":
        return _count_figures(f"_c{number}")
    if aggregate.measure in ("min", "max"):
        return {}
    if aggregate.measure == "persons":
        found = _count_figures(f"_d{number}")
        return {**found, "e": _parsed(f"coalesce(sum(c.p_r{number} * c.persons{number}), 0)")}
    finite = f"bool_and(c.e2{number} < 'infinity')"
    if aggregate.measure == "sum":
        return {
            "e": _parsed(f"coalesce(sum(c.p_r{number} * c.u{number}), 0)"),
            "lower": _parsed(f"coalesce(sum(c.least{number}), 0)"),
            "upper": _parsed(f"coalesce(sum(c.greatest{number}), 0)"),
            **_deviations(f"_s{number}"),
            "finite": _parsed(f"coalesce({finite}, true)"),
        }
    return {
        "e": _parsed(f"sum(c.p_r{number} * c.u{number}) / nullif(sum(c.p_c{number} * c.n), 0)"),
        "count": _parsed(f"nullif(sum(c.p_c{number} * c.n), 0)"),
        **_deviations(f"_m{number}"),
        "finite": _parsed(f"coalesce({finite}, true)"),
    }


def _count_figures(suffix: str) -> dict[str, exp.Expr]:
    return {
        "e": _parsed(f"coalesce(sum(c.p{suffix} * c.n), 0)"),
        "lower": _parsed(f"coalesce(sum(c.lo{suffix}), 0)::bigint"),
        "upper": _parsed(f"coalesce(sum(c.hi{suffix}), 0)::bigint"),
        **_deviations(suffix),
    }


def _deviations(suffix: str) -> dict[str, exp.Expr]:
    known = f"case when count(c.var{suffix}) = count(*) then coalesce({{}}, 0) end"
    return {
        "v": _parsed(known.format(f"sum(c.var{suffix})")),
        "d": _parsed(known.format(f"sum(sqrt(c.var{suffix}))")),
    }


def _parsed(text: str) -> exp.Expr:
    return fragment(text)


# -- the answer ---------------------------------------------------------------------------------


def _answer(asked: Query) -> exp.Select:
    question = asked.question
    tree = query("select 1 from totals as t")
    columns: list[exp.Expr] = []
    known: dict[str, exp.Expr] = {name: col(name, "t") for name in asked.key_names}
    numbers = iter(range(len(question.aggregates)))
    for item in question.items:
        if isinstance(item.what, Aggregate):
            number = next(numbers)
            joined = _JOINED.get(item.what.measure)
            if joined is not None:
                of = next(i for i, column in asked.measured.items() if column == item.what.column)
                alias = f"a{number}"
                tree = tree.join(
                    table(f"{joined}{of}", alias), on=_same(asked, alias), join_type="left"
                )
            values = list(_aggregate(item.what, number))
            known[f"a{number}"] = values[0]
            columns += [named(v, item.name + f) for f, v in zip(FIGURES, values, strict=True)]
        else:
            columns.append(named(col(f"k{item.what}", "t"), item.name))
    columns += [named(col(name, "t"), name) for name in FLAGS[:2]]
    columns.append(named(fragment("t.lo = 0"), FLAGS[2]))
    tree = tree.select(*columns, append=False)
    if question.having is not None:
        tree = tree.where(over(question.having, lambda name: known[name].copy()))
    if order := _order(asked):
        tree = tree.order_by(*order)
    limit = MAX_GROUPS + 1 if question.limit is None else min(question.limit, MAX_GROUPS + 1)
    return tree.limit(num(limit))


def _same(asked: Query, alias: str) -> exp.Expr:
    if not asked.question.keys:
        return exp.true()
    return exp.EQ(this=col("grp", alias), expression=col("grp", "t"))


_JOINED = {"avg": "meanbounds", "min": "extremes", "max": "extremes"}
"""Relations with bounds of a group, to which nothing adds up over cells."""


def _extreme(measure: str, alias: str) -> list[str]:
    """Bounds; they are the estimate as well where they meet, else there is none."""
    lower, upper = (f"{alias}.{measure}_{end}" for end in ("lower", "upper"))
    meets = f"case when {lower} = {upper} then {{}} end"
    return [meets.format(f"{lower}::float8"), lower, upper, lower, upper, meets.format("0::float8")]


def _aggregate(aggregate: Aggregate, number: int) -> Iterable[exp.Expr]:
    """Estimate, bounds, likely range, error."""
    if aggregate.measure in ("min", "max"):
        return [_parsed(text) for text in _extreme(aggregate.measure, f"a{number}")]
    means = f"a{number}" if aggregate.measure == "avg" else ""
    estimate, lower, upper = (f"t.{name}{number}" for name in ("e", "lower", "upper"))
    error, likely = f"sqrt(t.v{number})", f"2 * t.d{number}"
    if means:
        lower, upper = f"{means}.least", f"{means}.greatest"
        error, likely = f"{error} / t.count{number}", f"{likely} / t.count{number}"
    # Rounding must not take the estimate beyond its bounds.
    estimate = f"least({upper}::float8, greatest({lower}::float8, {estimate}))"
    low = f"greatest({lower}::float8, {estimate} - {likely})"
    high = f"least({upper}::float8, {estimate} + {likely})"
    texts = [estimate, lower, upper, low, high, error]
    if aggregate.measure in ("sum", "avg"):
        texts = [f"case when t.finite{number} then {text} end" for text in texts]
    return [_parsed(text) for text in texts]


def _order(asked: Query) -> list[exp.Expr]:
    given = [
        exp.Ordered(
            this=exp.column(exp.to_identifier(name, quoted=True)), desc=desc, nulls_first=first
        )
        for name, desc, first in asked.question.order
    ]
    by_key = [exp.Ordered(this=col(name, "t"), nulls_first=False) for name in asked.key_names]
    return [*given, *by_key]
