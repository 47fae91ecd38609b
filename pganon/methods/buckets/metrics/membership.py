"""Membership: which combinations of quasi-identifiers of a sliced QIT occur in the source."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.methods.buckets.metrics.parts import Part, Parts, PartsOf
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, equal, fragment, named, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import count, measure, or_null

_COMBINATIONS = or_null(measure("combinations", "membership_"), assumed=1.0)

COUNTS = tuple(or_null(count(name, "membership_")) for name in ("originals", "candidates", "fakes"))
"""Combinations of the source, combinations that the release allows, and those of the latter that
are not in the source; None where membership is not measured."""

COMPARED = 10_000_000
"""Most combinations of rows; membership is not measured beyond."""

_NOTHING = "select null::bigint as originals, null::bigint as candidates, null::bigint as fakes"


def steps(spec: ReleaseSpec, parts: PartsOf) -> list[Step]:
    """The checks that observe COUNTS."""
    return [
        Check(
            "membership_combinations",
            "combinations of rows that buckets allow",
            lambda s: _combinations(parts(s), s),
            gives=[_COMBINATIONS],
        ),
        Check(
            "membership",
            "combinations of quasi-identifiers that the release allows",
            lambda s: _membership(spec, parts(s), s),
            gives=COUNTS,
        ),
    ]


def _rows(part: Part, state: State) -> exp.Select:
    """SELECT of buckets and codes, every combination once."""
    names = [*part.groups, *part.codes]
    tree = query("select distinct 1 from t", {"t": state.work(part.work)})
    return tree.select(*[col(name, "t") for name in names], append=False)


def _combinations(parts: Parts, state: State) -> exp.Expr:
    tree = query("select 1 from b", {"b": _rows(parts.linking, state)})
    product: exp.Expr = fragment("1::float8")
    for place, part in enumerate(parts.beside()):
        alias = f"o{place}"
        rows = query(
            "select t.group_id, count(*) as n from t group by t.group_id",
            {"t": _rows(part, state)},
        )
        tree = _joined(tree, part, rows, alias)
        product = fragment(":p * :n", p=product, n=col("n", alias))
    return tree.select(named(exp.Sum(this=product), "combinations"), append=False)


def _joined(tree: exp.Select, part: Part, rows: exp.Select, alias: str) -> exp.Select:
    on = exp.EQ(this=col(GROUP_ID, alias), expression=col(part.link, "b"))
    return tree.join(rows.subquery(alias), on=on)


def _membership(spec: ReleaseSpec, parts: Parts, state: State) -> exp.Expr:
    """One row: `originals` of the source, `candidates`, and how many are not: `fakes`."""
    combinations = state[_COMBINATIONS]
    sliced = parts.beside() and not parts.boxes
    if not sliced or combinations is None or combinations > COMPARED:
        return query(_NOTHING)
    names = [axis.code for axis in axes(spec.attributes)]
    source = query("select distinct 1 from s", {"s": state.work("msource")})
    tree = query("select distinct 1 from b", {"b": _rows(parts.linking, state)})
    columns = [col(name, "b") for name in parts.linking.codes]
    for place, part in enumerate(parts.beside()):
        tree = _joined(tree, part, _rows(part, state), f"o{place}")
        columns += [col(name, f"o{place}") for name in part.codes]
    sets = {
        "o": source.select(*[col(name, "s") for name in names], append=False),
        "k": tree.select(*columns, append=False),
    }
    return query(
        "select (select count(*) from o) as originals, count(*) as candidates,"
        " count(*) filter (where :first is null) as fakes from k left join o on :same",
        sets,
        first=col(names[0], "o"),
        same=equal(names, "o", "k"),
    )
