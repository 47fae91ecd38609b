"""Variances of counts, sums and means over the cells of a query."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.cells import Query, table
from pganon.forms.matched import call
from pganon.sqltools import col, fragment, named, num, query


def _numbers(asked: Query, *measures: str) -> list[int]:
    """The columns that have such an aggregate."""
    wanted = {a.column for a in asked.question.aggregates if a.measure in measures}
    return [number for number, column in asked.measured.items() if column in wanted]


def means(asked: Query) -> exp.Select:
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


def moments(asked: Query) -> exp.Select:
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
