"""The SELECT that answers a question, of one partition of the records or of several."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.estimation import alternatives, products
from pganon.estimation.boxes import Fitted
from pganon.estimation.cells import Query, relations
from pganon.estimation.crossed import Crossed, counted, rows, spans, with_all, within
from pganon.estimation.exactly import ExactPart
from pganon.estimation.extremes import ENDS
from pganon.estimation.partitions import Split, split
from pganon.estimation.question import Aggregate, Question
from pganon.estimation.statement import asked, of_totals, written
from pganon.sqltools import col, query


def answered(question: Question, fitted: Mapping[str, Fitted]) -> exp.Select:
    """The columns of :func:`pganon.estimation.statement.written`.

    Args:
        fitted: the generalized columns in it, by name.
    """
    if question.alternatives is not None:
        return alternatives.answered(question, lambda one: answered(one, fitted))
    found = split(question)
    if isinstance(found, Question):
        return written(asked(found, fitted))
    return _written(_crossed(found, fitted))


def _crossed(split: Split, fitted: Mapping[str, Fitted]) -> Crossed:
    question = split.question
    columns = dict.fromkeys(a.column for a in question.aggregates if a.column is not None)
    measured = dict(enumerate(columns))
    elsewhere = {number for side in split.sides for number in side.keys}
    rows = ExactPart(
        split.rows,
        {name: c for name, c in question.release.columns.items() if split.side_of(c) is None},
        0,
        split.condition.condition if split.condition else None,
        {i: key.expression for i, key in enumerate(question.keys) if i not in elsewhere},
        {i: column for i, column in measured.items() if split.side_of(column) is None},
    )
    sides = {side.number: asked(side.question, fitted) for side in split.sides}
    return Crossed(split, rows, sides, measured)


def _written(asked: Crossed) -> exp.Select:
    found: dict[str, exp.Select] = {}
    for number, side in asked.sides.items():
        found[f"side{number}"] = with_all(query("select c.* from cells as c"), relations(side))
    found["rows"] = rows(asked)
    for suffix, own in _counts(asked).items():
        for number in asked.numbers:
            found[f"within{number}{suffix}"] = within(asked, number, own)
        found[f"counted{suffix}"] = counted(asked, suffix)
    for number in asked.measured:
        if asked.measures(number) != {"count"}:
            found |= _spans(asked, number)
    every = [products.term(asked, aggregate) for aggregate in _aggregates(asked)]
    needed = list({term.name: term for term in every}.values())
    found["means"] = products.means(asked)
    found["terms"] = products.terms(asked, needed)
    found["expected"] = products.expected(asked, needed)
    found["varied"] = products.varied(asked, needed)
    found["deviations"] = products.deviations(needed)
    found["totals"] = _totals(asked)
    whole = Query(asked.split.question, {}, dict(asked.measured))
    return with_all(of_totals(whole), found)


def _counts(asked: Crossed) -> dict[str, int | None]:
    """By their endings: counts of all records, and of those with a value in a column."""
    found: dict[str, int | None] = {"": None}
    for number in asked.measured:
        if "count" in asked.measures(number) or asked.place(number) is None:
            found[f"_c{number}"] = number
    return found


def _aggregates(asked: Crossed) -> list[Aggregate]:
    """Those that have variances, and counts behind means."""
    found = [Aggregate("count", None)]
    for aggregate in asked.split.question.aggregates:
        if aggregate.measure == "avg":
            found.append(Aggregate("count", aggregate.column))
        if aggregate.measure not in ("min", "max"):
            found.append(aggregate)
    return found


def _spans(asked: Crossed, number: int) -> dict[str, exp.Select]:
    found = {f"spans{number}": spans(asked, number)}
    if "avg" in asked.measures(number):
        found[f"meanbounds{number}"] = query(
            "select s.grp, s.mean_least as least, s.mean_greatest as greatest"
            f" from spans{number} as s"
        )
    if asked.measures(number) & {"min", "max"}:
        ends = [col(name, "s") for name in ENDS]
        found[f"extremes{number}"] = query(f"select s.grp from spans{number} as s").select(*ends)
    return found


def _totals(asked: Crossed) -> exp.Select:
    """(grp, keys, classes, few, lo, ...): as a query about one partition has it."""
    groups = query("select r.grp from rows as r").distinct() if asked.key_names else None
    tables: dict[str, exp.Select] = {"g": query("select 1::bigint as grp")}
    if groups is not None:
        tables["g"] = groups.select(*[col(name, "r") for name in asked.key_names])
    tables["o"] = query(
        "select w.grp, count(*) filter (where w.lo < w.hi) as classes"
        f" from within{asked.numbers[0]} as w group by w.grp"
    )
    joined = ["o", "means", "expected", "deviations", *[f"counted{end}" for end in _counts(asked)]]
    joined += [f"spans{i}" for i in asked.measured if asked.adds(i)]
    text = "select coalesce(o.classes, 0) as classes, coalesce(deviations.few, false) as few,"
    text += " coalesce(counted.lo, 0) as lo"
    for number, aggregate in enumerate(asked.split.question.aggregates):
        for name, value in _figures(asked, aggregate).items():
            text += f", {value} as {name}{number}"
    joins = "".join(f" left join {name} on {name}.grp = g.grp" for name in joined)
    tree = query(f"{text} from g{joins}", tables)
    keys = [col(name, "g") for name in asked.key_names]
    return tree.select(col("grp", "g"), *keys) if keys else tree


def _figures(asked: Crossed, aggregate: Aggregate) -> dict[str, str]:
    if aggregate.measure in ("min", "max"):
        return {}
    name = products.term(asked, aggregate).name
    number = next((i for i, c in asked.measured.items() if c == aggregate.column), None)
    found = {
        "e": f"coalesce(expected.e_{name}, 0)",
        "v": f"case when deviations.grp is null then 0 else deviations.v_{name} end",
        "d": f"case when deviations.grp is null then 0 else deviations.d_{name} end",
    }
    if aggregate.measure == "avg":
        found["e"] = f"means.r{number}"
        found["count"] = f"nullif(expected.e_count{number}, 0)"
    elif aggregate.measure == "count":
        end = "" if number is None else f"_c{number}"
        found |= _surely(found, f"counted{end}.lo", f"counted{end}.hi", "::bigint")
    else:
        found |= _surely(found, f"spans{number}.least", f"spans{number}.greatest", "")
    if aggregate.measure in ("sum", "avg"):
        found["finite"] = f"coalesce(means.finite{number}, true)"
    return found


def _surely(found: Mapping[str, str], lower: str, upper: str, kind: str) -> dict[str, str]:
    """Bounds; there is no variance where they meet."""
    ends = {"lower": f"coalesce({lower}, 0){kind}", "upper": f"coalesce({upper}, 0){kind}"}
    zero = f"case when {lower} = {upper} then 0 else {{}} end"
    return {**ends, "v": zero.format(found["v"]), "d": zero.format(found["d"])}
