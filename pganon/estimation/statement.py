"""The SELECT that answers a question from the views of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from pganon.estimation import bounds, moments
from pganon.estimation.boxes import Fitted
from pganon.estimation.cells import Query, relations, table
from pganon.estimation.exactly import ExactPart
from pganon.estimation.extremes import extremes
from pganon.estimation.listed import ListedPart
from pganon.estimation.question import (
    FIGURES,
    FLAGS,
    Aggregate,
    Formula,
    Leaf,
    Question,
    leaves_of,
    parts_of,
)
from pganon.estimation.ranged import RangedPart
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Part, Published
from pganon.estimation.tangles import AnyPart, Tangle, signature
from pganon.identifiers import quote
from pganon.sqltools import col, finished, fragment, named, query


def asked(question: Question, fitted: Mapping[str, Fitted]) -> Query:
    """The question with its parts.

    Args:
        fitted: the generalized columns in it, by name.
    """
    columns = [a.column for a in question.aggregates if a.column is not None]
    person = question.release.person
    if person is not None and person.part not in parts_of(question.others):
        columns.append(person)
    measured = dict(enumerate(dict.fromkeys(columns)))
    added = [a for a in question.aggregates if a.measure != "count"]
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
            adds = bool(own) and (column.column.is_number or column.column.is_time)
            if adds and column.unbounded and any(a.column in own.values() for a in added):
                raise EstimateRefused(
                    f"{quote(column.column.name)} has ranges without an end: it can be counted,"
                    " but not added up"
                )
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


def written(asked: Query) -> exp.Select:
    """(a<i> with :data:`FIGURES`, keys, :data:`FLAGS`): a row for every group."""
    tree = of_totals(asked)
    found = relations(asked)
    for number, column in asked.measured.items():
        found |= _measured(asked, number, column)
    found["means"] = moments.means(asked)
    found["moments"] = moments.moments(asked)
    found["totals"] = _totals(asked)
    for name, part in found.items():
        tree = tree.with_(
            exp.to_identifier(name, quoted=True), as_=finished(part), materialized=True, copy=False
        )
    return tree


def _measured(asked: Query, number: int, column: Published) -> dict[str, exp.Select]:
    """Bounds of sums and means of a measured column."""
    measures = {a.measure for a in asked.question.aggregates if a.column == column}
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


# -- groups -----------------------------------------------------------------------------------


def _totals(asked: Query) -> exp.Select:
    """(grp, keys, ...): estimates, bounds, variance and sum of deviations of every aggregate."""
    tree = query(
        "select count(*) filter (where c.lo < c.hi) as classes,"
        " coalesce(sum(c.lo), 0) as lo, :few as few from moments as c",
        few=_few(),
    )
    figures = [
        named(value, f"{name}{number}")
        for number, aggregate in enumerate(asked.question.aggregates)
        for name, value in _figures(asked, aggregate).items()
    ]
    tree = tree.select(*figures)
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


# -- figures ------------------------------------------------------------------------------------


def of_totals(asked: Query) -> exp.Select:
    """The figures, from common table expressions with totals and bounds by group."""
    question = asked.question
    tree = query("select 1 from totals as t")
    columns: list[exp.Expr] = []
    for number, aggregate in enumerate(question.aggregates):
        joined = _JOINED.get(aggregate.measure)
        if joined is not None:
            of = next(i for i, column in asked.measured.items() if column == aggregate.column)
            alias = f"a{number}"
            on = _same(asked, alias)
            tree = tree.join(table(f"{joined}{of}", alias), on=on, join_type="left")
        values = _aggregate(aggregate, number)
        columns += [named(v, f"a{number}{f}") for f, v in zip(FIGURES, values, strict=True)]
    columns += [col(name, "t") for name in (*asked.key_names, *FLAGS[:2])]
    return tree.select(*columns, named(fragment("t.lo = 0"), FLAGS[2]), append=False)


def _same(asked: Query, alias: str) -> exp.Expr:
    if not asked.question.keys:
        return exp.true()
    return exp.EQ(this=col("grp", alias), expression=col("grp", "t"))


_JOINED = {"avg": "meanbounds", "min": "extremes", "max": "extremes"}
"""Relations with bounds of a group, to which nothing adds up over cells."""


def _extreme(aggregate: Aggregate, alias: str) -> list[str]:
    """Bounds; they are the estimate as well where they meet, else there is none."""
    lower, upper = (f"{alias}.{aggregate.measure}_{end}" for end in ("lower", "upper"))
    meets = f"case when {lower} = {upper} then {{}} end"
    is_time = aggregate.column is not None and aggregate.column.is_time
    estimate = meets.format(lower if is_time else f"{lower}::float8")
    return [estimate, lower, upper, lower, upper, meets.format("0::float8")]


def _aggregate(aggregate: Aggregate, number: int) -> Iterable[exp.Expr]:
    """Estimate, bounds, likely range, error."""
    if aggregate.measure in ("min", "max"):
        return [_parsed(text) for text in _extreme(aggregate, f"a{number}")]
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
