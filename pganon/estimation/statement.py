"""The SELECT that answers a question from the views of a release.

It is of named relations: what the parts of the query allow, cells of every partition, bounds and
moments of every group, and at the end the figures of the aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.estimation import alternatives, bounds, moments, several_partitions
from pganon.estimation.boxes import Fitted
from pganon.estimation.cells import AnyPart, Query, relations, with_all
from pganon.estimation.events import EventsPart
from pganon.estimation.parts import ExactPart, ListedPart, RangedPart
from pganon.estimation.question import FIGURES, FLAGS, Aggregate, Question, parts_of
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Part
from pganon.estimation.several_partitions import Partitioned, Split, split
from pganon.identifiers import quote
from pganon.sqltools import fragment, named, query


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
        found |= moments.of_rows(asked, needed)
    else:
        found = relations(asked)
        for number in spanned:
            found |= bounds.spans(asked, number, asked.measures(number))
        found |= moments.of_cells(asked, needed)
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
